//! Buffers of memory that another API, another process or another driver has made (VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf).

use ash::vk;

use crate::vulkan::dedicated_allocation;

/// What an import is made of.
pub(crate) struct Handle {
    pub(crate) kind: vk::ExternalMemoryHandleTypeFlags,
    /// Belongs to the memory once that is made.
    pub(crate) fd: i32,
    /// Types of memory, a bit each, that it may be taken for.
    pub(crate) types: u32,
}

/// A buffer of at least `size` bytes of that memory, how many it has, and the memory; with an address where `addressed`.
///
/// # Safety
/// The size is not zero and within the device's limit, `properties` are the device's, the handle is of a kind that can be imported, and addresses are on where they are asked for.
pub(crate) unsafe fn make(
    device: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    handle: &Handle,
    size: u64,
    addressed: bool,
) -> Result<(vk::Buffer, vk::DeviceMemory, u64), vk::Result> {
    // What memory for a buffer is rounded up to is there, whatever the buffer was whose memory it is.
    // SAFETY: as the caller promises.
    let (buffer, needs) = unsafe { buffer(device, handle, size, addressed) }?;
    let (buffer, needs, size) = if needs.size > size {
        // SAFETY: nothing uses the buffer yet; the rest as above.
        unsafe {
            device.destroy_buffer(buffer, None);
            let (buffer, again) = self::buffer(device, handle, needs.size, addressed)?;
            (buffer, again, needs.size)
        }
    } else {
        (buffer, needs, size)
    };
    // SAFETY: as the caller promises; the buffer was made for such memory.
    let memory = match unsafe { import(device, properties, handle, needs, addressed) } {
        Ok(memory) => memory,
        Err(result) => {
            // SAFETY: nothing uses the buffer yet.
            unsafe { device.destroy_buffer(buffer, None) };
            return Err(result);
        }
    };
    // SAFETY: the memory is of one of the buffer's types, and as large as it needs.
    unsafe { dedicated_allocation::bind(device, buffer, memory) }.map(|()| (buffer, memory, size))
}

/// # Safety
/// As [`make`].
unsafe fn buffer(
    device: &ash::Device,
    handle: &Handle,
    size: u64,
    addressed: bool,
) -> Result<(vk::Buffer, vk::MemoryRequirements), vk::Result> {
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(handle.kind);
    let info = vk::BufferCreateInfo::default().size(size).usage(dedicated_allocation::usage(addressed)).push_next(&mut external);
    // SAFETY: as the caller promises.
    let buffer = unsafe { device.create_buffer(&info, None) }?;
    // SAFETY: the buffer was just made.
    Ok((buffer, unsafe { device.get_buffer_memory_requirements(buffer) }))
}

/// The memory, by the type that it is of: that is not told for handles that only drivers understand, so types are tried.
///
/// # Safety
/// As [`make`].
unsafe fn import(
    device: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    handle: &Handle,
    needs: vk::MemoryRequirements,
    addressed: bool,
) -> Result<vk::DeviceMemory, vk::Result> {
    let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let types = properties.memory_types_as_slice().iter().zip(0_u32..);
    let mut usable: Vec<_> = types.filter(|(_, index)| needs.memory_type_bits & handle.types & (1 << index) != 0).collect();
    // What others export is the device's own memory as a rule, which the host does not see.
    usable.sort_by_key(|(ty, _)| (!ty.property_flags.contains(local), ty.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)));
    let import = |fd: i32, index: u32| {
        let mut source = vk::ImportMemoryFdInfoKHR::default().handle_type(handle.kind).fd(fd);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index).push_next(&mut source);
        if addressed {
            info = info.push_next(&mut flags);
        }
        // SAFETY: the type is one of the device's, and the buffer's; a handle that is not what it says is an error.
        unsafe { device.allocate_memory(&info, None) }
    };
    // NVIDIA's driver has no descriptor to try again with after the wrong type, though it would still be the caller's: further tries have some of their own.
    let mut spare = None;
    let mut last = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
    for (number, (_, index)) in usable.iter().enumerate() {
        let fd = if number == 0 { Some(handle.fd) } else { spare.take() };
        let Some(fd) = fd else { break };
        if number + 1 < usable.len() {
            // SAFETY: the descriptor is the caller's or ours, and open.
            spare = unsafe { another(fd) };
        }
        match import(fd, *index) {
            Ok(memory) => {
                // SAFETY: it is ours, and nobody has it.
                spare.into_iter().for_each(|fd| unsafe { close(fd) });
                return Ok(memory);
            }
            Err(result) => {
                tracing::debug!("memory of others is not of type {index}: {result}");
                last = result;
            }
        }
    }
    Err(last)
}

/// Another descriptor of the same file.
///
/// # Safety
/// Nobody closes it meanwhile.
#[cfg(unix)]
unsafe fn another(fd: i32) -> Option<i32> {
    use std::os::fd::{BorrowedFd, IntoRawFd};
    // SAFETY: as the caller promises; of one that is not open there is no other.
    let given = (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })?;
    given.try_clone_to_owned().ok().map(IntoRawFd::into_raw_fd)
}

/// # Safety
/// It is open, and nobody has it.
#[cfg(unix)]
unsafe fn close(fd: i32) {
    use std::os::fd::{FromRawFd, OwnedFd};
    // SAFETY: as the caller promises.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
}

/// Only Unix has any.
#[cfg(not(unix))]
unsafe fn another(_: i32) -> Option<i32> {
    None
}

#[cfg(not(unix))]
unsafe fn close(_: i32) {}
