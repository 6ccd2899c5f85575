//! Large buffers with a dedicated allocation, in the largest pages.
//!
//! wgpu-hal allocates memory in blocks that several buffers share. If the host can write all device memory, the blocks
//! are host-visible. NVIDIA's driver maps host-visible memory in pages of 64 KiB. A kernel that accesses gigabytes then
//! misses the TLB: on an H100, a copy of 8 GiB ran at 2.17 TB/s instead of 2.9 TB/s. Dedicated memory that the host
//! cannot access has pages of 2 MiB.

use ash::vk;

/// Buffers of this size in bytes and above have a dedicated allocation. The host can write smaller ones through the
/// [BAR](crate::adapter::capabilities::Capabilities::bar). Through the BAR, writes of up to 1 MiB are twice as fast as
/// staged writes. Writes of the whole buffer are 1.5 times as fast. Creating and freeing a host-visible buffer takes as
/// long as three writes of the whole buffer: 3.4 ms for 64 MiB. With a dedicated allocation, it takes 0.25 ms. Programs
/// that probe the memory size create a thousand buffers.
pub(crate) const MIN_SIZE: u64 = 64 << 20;

/// Creates a buffer in device memory that the host cannot access. With `addressed` it has an address. Fails with
/// ERROR_FEATURE_NOT_PRESENT if there is no such memory type.
///
/// # Safety
/// The size must not be zero, and must be within the device's limit. `properties` must be those of the device.
/// `addressed` requires that buffer addresses are enabled.
pub(crate) unsafe fn create(
    device: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    size: u64,
    addressed: bool,
) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
    let usage = usage(addressed);
    let mut flags = vk::MemoryAllocateFlagsInfo::default();
    if addressed {
        flags = flags.flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    }
    // SAFETY: the caller ensures the requirements.
    let buffer = unsafe { device.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None) }?;
    // SAFETY: the buffer was just created.
    let requirements = unsafe { device.get_buffer_memory_requirements(buffer) };
    let types = properties.memory_types_as_slice().iter().zip(0_u32..);
    let of_device = |flags: vk::MemoryPropertyFlags| {
        flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL) && !flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
    };
    let found = types.into_iter().find(|(ty, index)| requirements.memory_type_bits & (1 << index) != 0 && of_device(ty.property_flags));
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(buffer);
    let allocated = match found {
        Some((_, index)) => {
            let mut info =
                vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index).push_next(&mut dedicated);
            if addressed {
                info = info.push_next(&mut flags);
            }
            // SAFETY: the device and the buffer support the memory type.
            unsafe { device.allocate_memory(&info, None) }
        }
        None => Err(vk::Result::ERROR_FEATURE_NOT_PRESENT),
    };
    // SAFETY: nothing uses the buffer yet, here and below.
    let memory = allocated.inspect_err(|_| unsafe { device.destroy_buffer(buffer, None) })?;
    // SAFETY: the memory was allocated for the buffer.
    unsafe { bind(device, buffer, memory) }.map(|()| (buffer, memory))
}

/// Returns the usage flags of every buffer. With `addressed`, they include the usage for an address.
pub(crate) fn usage(addressed: bool) -> vk::BufferUsageFlags {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::UNIFORM_BUFFER
        | vk::BufferUsageFlags::STORAGE_BUFFER;
    if addressed { usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS } else { usage }
}

/// Binds memory to a buffer, or destroys both if that fails.
///
/// # Safety
/// No command may use either of them yet. The memory must have the size that the buffer requires, and a type that
/// it supports.
pub(crate) unsafe fn bind(device: &ash::Device, buffer: vk::Buffer, memory: vk::DeviceMemory) -> Result<(), vk::Result> {
    // SAFETY: the caller ensures the requirements, here and below.
    unsafe { device.bind_buffer_memory(buffer, memory, 0) }.inspect_err(|_| unsafe {
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    })
}
