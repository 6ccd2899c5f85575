//! Buffers that have a piece of the device's memory of their own, in the largest pages.
//!
//! wgpu's layer takes memory in blocks that several buffers share, and where the host can write all of the device's memory it takes such memory. NVIDIA's driver maps
//! that in pages of 64 KiB, and a kernel that goes through gigabytes misses its translations: on an H100 a copy of 8 GiB ran at 2.17 TB/s in place of 2.9. Memory of
//! one buffer that the host does not see lies in pages of 2 MiB.

use ash::vk;

/// Bytes from which on a buffer is large. Smaller ones keep the [window](crate::adapter::capabilities::Capabilities::window) through which the host writes them: it makes writes of up to
/// 1 MiB twice as quick and those of all of the buffer 1.5 times, but takes as long to make and to drop as three such writes (64 MiB: 3.4 ms in place of 0.25), and
/// programs that try how much memory there is make a thousand buffers.
pub(crate) const LARGE: u64 = 64 << 20;

/// A buffer of the device's own memory, which the host does not see; with an address where `addressed`.
///
/// # Safety
/// The size is not zero and within the device's limit, `properties` are the device's, and addresses are on where they are asked for.
pub(crate) unsafe fn make(
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
    // SAFETY: as the caller promises.
    let buffer = unsafe { device.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None) }?;
    // SAFETY: the buffer was just made.
    let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
    let types = properties.memory_types_as_slice().iter().zip(0_u32..);
    let of_device = |flags: vk::MemoryPropertyFlags| {
        flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL) && !flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
    };
    let found = types.into_iter().find(|(ty, index)| needs.memory_type_bits & (1 << index) != 0 && of_device(ty.property_flags));
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(buffer);
    let allocated = match found {
        Some((_, index)) => {
            let mut info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index).push_next(&mut dedicated);
            if addressed {
                info = info.push_next(&mut flags);
            }
            // SAFETY: the type is one of the device's, and the buffer's.
            unsafe { device.allocate_memory(&info, None) }
        }
        None => Err(vk::Result::ERROR_FEATURE_NOT_PRESENT),
    };
    // SAFETY: nothing uses the buffer yet, here and below.
    let memory = allocated.inspect_err(|_| unsafe { device.destroy_buffer(buffer, None) })?;
    // SAFETY: the memory was made for the buffer.
    unsafe { bind(device, buffer, memory) }.map(|()| (buffer, memory))
}

/// What every buffer of ours is used for; with an address where `addressed`.
pub(crate) fn usage(addressed: bool) -> vk::BufferUsageFlags {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::UNIFORM_BUFFER
        | vk::BufferUsageFlags::STORAGE_BUFFER;
    if addressed { usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS } else { usage }
}

/// Gives a buffer its memory; neither is left where that fails.
///
/// # Safety
/// Nothing uses either yet, and the memory is of one of the buffer's types, and as large as it needs.
pub(crate) unsafe fn bind(device: &ash::Device, buffer: vk::Buffer, memory: vk::DeviceMemory) -> Result<(), vk::Result> {
    // SAFETY: as the caller promises, here and below.
    unsafe { device.bind_buffer_memory(buffer, memory, 0) }.inspect_err(|_| unsafe {
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    })
}
