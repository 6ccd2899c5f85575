//! Buffers on memory that another API, process or driver exported (VK_KHR_external_memory_fd,
//! VK_EXT_external_memory_dma_buf).

use ash::vk;

use crate::vulkan::dedicated_allocation;

pub(crate) struct ExportedMemory {
    pub(crate) handle_type: vk::ExternalMemoryHandleTypeFlags,
    /// The file descriptor. The imported memory owns it.
    pub(crate) fd: i32,
    /// Bit mask of the memory types as which the memory can be imported.
    pub(crate) memory_types: u32,
}

/// Creates a buffer of at least `size` bytes on exported memory. Also returns the size of the buffer. With `addressed`
/// the buffer has an address.
///
/// # Safety
/// The size must not be zero, and be within the device's limit. `properties` must be those of the device. The handle
/// type must be importable. `addressed` requires that buffer addresses are enabled.
pub(crate) unsafe fn import(
    device: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    exported: &ExportedMemory,
    size: u64,
    addressed: bool,
) -> Result<(vk::Buffer, vk::DeviceMemory, u64), vk::Result> {
    // The driver may require more than `size` bytes for the buffer. The exporter's allocation was rounded up in the
    // same way, so a buffer of the rounded size fits.
    // SAFETY: the caller ensures the requirements.
    let (buffer, requirements) = unsafe { buffer(device, exported, size, addressed) }?;
    let (buffer, requirements, size) = if requirements.size > size {
        // SAFETY: nothing uses the buffer yet; the rest as above.
        unsafe {
            device.destroy_buffer(buffer, None);
            let (buffer, requirements) = self::buffer(device, exported, requirements.size, addressed)?;
            (buffer, requirements, requirements.size)
        }
    } else {
        (buffer, requirements, size)
    };
    // SAFETY: the caller ensures the requirements; the buffer was created for such memory.
    let memory = match unsafe { allocate(device, properties, exported, requirements, addressed) } {
        Ok(memory) => memory,
        Err(result) => {
            // SAFETY: nothing uses the buffer yet.
            unsafe { device.destroy_buffer(buffer, None) };
            return Err(result);
        }
    };
    // SAFETY: the memory has a type that the buffer supports, and the size that it requires.
    unsafe { dedicated_allocation::bind(device, buffer, memory) }.map(|()| (buffer, memory, size))
}

/// # Safety
/// The requirements of [`import`] apply.
unsafe fn buffer(
    device: &ash::Device,
    exported: &ExportedMemory,
    size: u64,
    addressed: bool,
) -> Result<(vk::Buffer, vk::MemoryRequirements), vk::Result> {
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(exported.handle_type);
    let info = vk::BufferCreateInfo::default().size(size).usage(dedicated_allocation::usage(addressed)).push_next(&mut external);
    // SAFETY: the caller ensures the requirements.
    let buffer = unsafe { device.create_buffer(&info, None) }?;
    // SAFETY: the buffer was just created.
    Ok((buffer, unsafe { device.get_buffer_memory_requirements(buffer) }))
}

/// Imports the memory. Vulkan does not report the memory type of an opaque handle, so this tries the possible types.
///
/// # Safety
/// The requirements of [`import`] apply.
unsafe fn allocate(
    device: &ash::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    exported: &ExportedMemory,
    requirements: vk::MemoryRequirements,
    addressed: bool,
) -> Result<vk::DeviceMemory, vk::Result> {
    let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let types = properties.memory_types_as_slice().iter().zip(0_u32..);
    let mut usable: Vec<_> = types.filter(|(_, index)| requirements.memory_type_bits & exported.memory_types & (1 << index) != 0).collect();
    // Device memory that the host cannot access is tried first: exported memory usually has such a type.
    usable.sort_by_key(|(ty, _)| (!ty.property_flags.contains(local), ty.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)));
    let import = |fd: i32, index: u32| {
        let mut source = vk::ImportMemoryFdInfoKHR::default().handle_type(exported.handle_type).fd(fd);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index).push_next(&mut source);
        if addressed {
            info = info.push_next(&mut flags);
        }
        // SAFETY: the device and the buffer support the memory type; a handle of another kind is an error.
        unsafe { device.allocate_memory(&info, None) }
    };
    // If the type is wrong, NVIDIA's driver closes the file descriptor, although the caller should still own it. Each
    // further attempt therefore uses a duplicate.
    let mut spare = None;
    let mut last = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
    for (number, (_, index)) in usable.iter().enumerate() {
        let fd = if number == 0 { Some(exported.fd) } else { spare.take() };
        let Some(fd) = fd else { break };
        if number + 1 < usable.len() {
            // SAFETY: the file descriptor is open, and no thread closes it meanwhile.
            spare = unsafe { duplicate(fd) };
        }
        match import(fd, *index) {
            Ok(memory) => {
                // SAFETY: this function created the duplicate, which has no other owner.
                spare.into_iter().for_each(|fd| unsafe { close(fd) });
                return Ok(memory);
            }
            Err(result) => {
                tracing::debug!("external memory cannot be imported as memory type {index}: {result}");
                last = result;
            }
        }
    }
    Err(last)
}

/// Duplicates a file descriptor.
///
/// # Safety
/// No thread may close it meanwhile.
#[cfg(unix)]
unsafe fn duplicate(fd: i32) -> Option<i32> {
    use std::os::fd::{BorrowedFd, IntoRawFd};
    // SAFETY: the caller ensures the requirements. A negative descriptor cannot be borrowed.
    let given = (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })?;
    given.try_clone_to_owned().ok().map(IntoRawFd::into_raw_fd)
}

/// # Safety
/// The descriptor must be open and have no other owner.
#[cfg(unix)]
unsafe fn close(fd: i32) {
    use std::os::fd::{FromRawFd, OwnedFd};
    // SAFETY: the caller ensures the requirements.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
}

/// File descriptors exist on Unix only.
#[cfg(not(unix))]
unsafe fn duplicate(_: i32) -> Option<i32> {
    None
}

#[cfg(not(unix))]
unsafe fn close(_: i32) {}
