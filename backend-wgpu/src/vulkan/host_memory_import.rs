//! Buffers of the host's own memory, which the device reads and writes where it is (VK_EXT_external_memory_host).

use std::ptr::NonNull;

use ash::vk;

use crate::vulkan::dedicated_allocation;

const KIND: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Whether storage buffers can be made of the host's memory.
///
/// # Safety
/// The physical device is the instance's, has the extension, and is of Vulkan 1.2.
pub(crate) unsafe fn is_possible(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(dedicated_allocation::usage(false)).handle_type(KIND);
    let mut found = vk::ExternalBufferProperties::default();
    // SAFETY: as the caller promises.
    unsafe { instance.get_physical_device_external_buffer_properties(physical, &info, &mut found) };
    found.external_memory_properties.external_memory_features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
}

/// A buffer of the `size` bytes at `start`; with an address where `addressed`.
///
/// # Safety
/// Both are multiples of what the device asks for (minImportedHostPointerAlignment), the size is not zero and within the device's limit, `properties` are the device's, the extension is
/// on, and addresses where they are asked for. The bytes stay where they are for as long as the buffer.
pub(crate) unsafe fn make(
    instance: &ash::Instance,
    device: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    (start, size): (NonNull<u8>, u64),
    addressed: bool,
) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
    let functions = ash::ext::external_memory_host::Device::new(instance, device);
    let mut told = vk::MemoryHostPointerPropertiesEXT::default();
    // SAFETY: the extension is on; the rest as the caller promises.
    unsafe {
        (functions.fp().get_memory_host_pointer_properties_ext)(functions.device(), KIND, start.as_ptr().cast(), &mut told).result()
    }?;
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(KIND);
    let info = vk::BufferCreateInfo::default().size(size).usage(dedicated_allocation::usage(addressed)).push_next(&mut external);
    // SAFETY: as the caller promises.
    let buffer = unsafe { device.create_buffer(&info, None) }?;
    // SAFETY: the buffer was just made.
    let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
    let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let types = needs.memory_type_bits & told.memory_type_bits;
    let is_usable = |(ty, index): &(&vk::MemoryType, u32)| types & (1 << index) != 0 && ty.property_flags.contains(seen);
    let found = properties.memory_types_as_slice().iter().zip(0_u32..).find(is_usable).filter(|_| needs.size <= size);
    let allocated = match found {
        Some((_, index)) => {
            let mut source = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(KIND).host_pointer(start.as_ptr().cast());
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let mut info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index).push_next(&mut source);
            if addressed {
                info = info.push_next(&mut flags);
            }
            // SAFETY: the type is one of the device's, the buffer's, and one that such memory can be taken for.
            unsafe { device.allocate_memory(&info, None) }
        }
        None => Err(vk::Result::ERROR_FEATURE_NOT_PRESENT),
    };
    // SAFETY: nothing uses the buffer yet, here and below.
    let memory = allocated.inspect_err(|_| unsafe { device.destroy_buffer(buffer, None) })?;
    // SAFETY: the memory is of one of the buffer's types, and as large as it needs.
    unsafe { dedicated_allocation::bind(device, buffer, memory) }.map(|()| (buffer, memory))
}
