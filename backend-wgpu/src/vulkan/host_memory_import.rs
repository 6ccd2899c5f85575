//! Buffers on host memory, which the device accesses in place (VK_EXT_external_memory_host).

use std::ptr::NonNull;

use ash::vk;

use crate::vulkan::dedicated_allocation;

const KIND: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Whether storage buffers can be created on host memory.
///
/// # Safety
/// The physical device must be the instance's, have the extension, and support Vulkan 1.2.
pub(crate) unsafe fn is_supported(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(dedicated_allocation::usage(false)).handle_type(KIND);
    let mut found = vk::ExternalBufferProperties::default();
    // SAFETY: the caller ensures the requirements.
    unsafe { instance.get_physical_device_external_buffer_properties(physical, &info, &mut found) };
    found.external_memory_properties.external_memory_features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
}

/// Creates a buffer on the `size` bytes at `start`. With `addressed` the buffer has an address.
///
/// # Safety
/// `start` and `size` must be multiples of minImportedHostPointerAlignment. The size must not be zero, and must be
/// within the device's limit. `properties` must be those of the device. The extension must be enabled. `addressed`
/// requires that buffer addresses are enabled. The memory must stay valid while the buffer exists.
pub(crate) unsafe fn create(
    instance: &ash::Instance,
    device: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    (start, size): (NonNull<u8>, u64),
    addressed: bool,
) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
    let functions = ash::ext::external_memory_host::Device::new(instance, device);
    let mut pointer_properties = vk::MemoryHostPointerPropertiesEXT::default();
    // SAFETY: the caller ensures the requirements.
    unsafe {
        (functions.fp().get_memory_host_pointer_properties_ext)(functions.device(), KIND, start.as_ptr().cast(), &mut pointer_properties)
            .result()
    }?;
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(KIND);
    let info = vk::BufferCreateInfo::default().size(size).usage(dedicated_allocation::usage(addressed)).push_next(&mut external);
    // SAFETY: the caller ensures the requirements.
    let buffer = unsafe { device.create_buffer(&info, None) }?;
    // SAFETY: the buffer was just created.
    let requirements = unsafe { device.get_buffer_memory_requirements(buffer) };
    let host_visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let types = requirements.memory_type_bits & pointer_properties.memory_type_bits;
    let is_usable = |(ty, index): &(&vk::MemoryType, u32)| types & (1 << index) != 0 && ty.property_flags.contains(host_visible);
    let found = properties.memory_types_as_slice().iter().zip(0_u32..).find(is_usable).filter(|_| requirements.size <= size);
    let allocated = match found {
        Some((_, index)) => {
            let mut source = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(KIND).host_pointer(start.as_ptr().cast());
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let mut info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index).push_next(&mut source);
            if addressed {
                info = info.push_next(&mut flags);
            }
            // SAFETY: the device, the buffer and the host memory support the memory type.
            unsafe { device.allocate_memory(&info, None) }
        }
        None => Err(vk::Result::ERROR_FEATURE_NOT_PRESENT),
    };
    // SAFETY: nothing uses the buffer yet, here and below.
    let memory = allocated.inspect_err(|_| unsafe { device.destroy_buffer(buffer, None) })?;
    // SAFETY: the memory has a type that the buffer supports, and the size that it requires.
    unsafe { dedicated_allocation::bind(device, buffer, memory) }.map(|()| (buffer, memory))
}
