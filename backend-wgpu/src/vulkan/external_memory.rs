//! Buffers on memory that another API, process or driver exported (VK_KHR_external_memory_fd,
//! VK_EXT_external_memory_dma_buf), and on memory that other APIs can import.

use ash::vk;

use crate::vulkan::dedicated_allocation;

pub(crate) struct ExportedMemory {
    pub(crate) handle_type: vk::ExternalMemoryHandleTypeFlags,
    /// The file descriptor. The imported memory owns it.
    pub(crate) fd: i32,
    /// Whether the driver closes the descriptor if the import fails ([`closes_rejected`]).
    pub(crate) closes_rejected: bool,
    /// Bit mask of the memory types as which the memory can be imported.
    pub(crate) memory_types: u32,
}

/// A buffer on memory that another API can import.
pub(crate) struct Exportable {
    pub(crate) buffer: vk::Buffer,
    pub(crate) memory: vk::DeviceMemory,
    /// The size of the memory in bytes.
    pub(crate) allocated: u64,
    /// An opaque file descriptor of the memory, which the caller owns.
    pub(crate) fd: i32,
}

/// Creates a buffer of `size` bytes on memory that other APIs can import by an opaque file descriptor. With `addressed`
/// the buffer has an address.
///
/// # Safety
/// The size must not be zero, and must be within the device's limit. `properties` must be those of the device, and
/// `functions` its functions. The device must be able to export opaque file descriptors without a dedicated allocation.
/// `addressed` requires that buffer addresses are enabled.
pub(crate) unsafe fn create_exportable(
    device: &ash::Device,
    functions: &ash::khr::external_memory_fd::Device,
    properties: &vk::PhysicalDeviceMemoryProperties,
    size: u64,
    addressed: bool,
) -> Result<Exportable, vk::Result> {
    let handle_type = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    // SAFETY: the caller ensures the requirements.
    let (buffer, requirements) = unsafe { buffer(device, handle_type, size, addressed) }?;
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    let mut result = Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    for index in memory_types(properties, requirements.memory_type_bits) {
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(handle_type);
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index).push_next(&mut export);
        if addressed {
            info = info.push_next(&mut flags);
        }
        // SAFETY: the device and the buffer support the memory type.
        result = unsafe { device.allocate_memory(&info, None) };
        if result.is_ok() {
            break;
        }
    }
    // SAFETY: nothing uses the buffer yet.
    let memory = result.inspect_err(|_| unsafe { device.destroy_buffer(buffer, None) })?;
    // SAFETY: the memory has a type that the buffer supports, and the size that it requires.
    unsafe { dedicated_allocation::bind(device, buffer, memory) }?;
    // SAFETY: the memory was allocated for this handle type.
    let fd = unsafe { functions.get_memory_fd(&vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(handle_type)) };
    // SAFETY: nothing uses the buffer and the memory yet.
    let fd = fd.inspect_err(|_| unsafe {
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    })?;
    Ok(Exportable { buffer, memory, allocated: requirements.size, fd })
}

/// Returns the indices of the memory types in a bit mask. Device memory that the host cannot access is first.
fn memory_types(properties: &vk::PhysicalDeviceMemoryProperties, bits: u32) -> Vec<u32> {
    let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let types = properties.memory_types_as_slice().iter().zip(0_u32..);
    let mut usable: Vec<_> = types.filter(|(_, index)| bits & (1 << index) != 0).collect();
    usable.sort_by_key(|(ty, _)| (!ty.property_flags.contains(local), ty.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)));
    usable.into_iter().map(|(_, index)| index).collect()
}

/// Whether the driver closes the descriptor if vkAllocateMemory fails because of the memory type. NVIDIA's driver
/// closes it, although the application should still own it. Mesa's drivers for the same GPUs do not close it.
///
/// # Safety
/// The physical device must be the instance's.
pub(crate) unsafe fn closes_rejected(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
    // SAFETY: the caller ensures the requirement.
    let version = unsafe { instance.get_physical_device_properties(physical) }.api_version;
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    if version >= vk::API_VERSION_1_2 {
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: the caller ensures the requirement, and the structure is part of this version.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    }
    driver.driver_id == vk::DriverId::NVIDIA_PROPRIETARY
}

/// Creates a buffer of at least `size` bytes on exported memory. Also returns the size of the buffer. With `addressed`
/// the buffer has an address.
///
/// # Safety
/// The size must not be zero, and must be within the device's limit. `properties` must be those of the device. The
/// handle type must be importable. `addressed` requires that buffer addresses are enabled.
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
    let (buffer, requirements) = unsafe { buffer(device, exported.handle_type, size, addressed) }?;
    let (buffer, requirements, size) = if requirements.size > size {
        // SAFETY: nothing uses the buffer yet. The caller ensures the other requirements.
        unsafe {
            device.destroy_buffer(buffer, None);
            let (buffer, requirements) = self::buffer(device, exported.handle_type, requirements.size, addressed)?;
            (buffer, requirements, requirements.size)
        }
    } else {
        (buffer, requirements, size)
    };
    // SAFETY: the caller ensures the requirements, and the buffer was created for such memory.
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
    handle_type: vk::ExternalMemoryHandleTypeFlags,
    size: u64,
    addressed: bool,
) -> Result<(vk::Buffer, vk::MemoryRequirements), vk::Result> {
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(handle_type);
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
    // Exported memory usually has the first of these types.
    let types = memory_types(properties, requirements.memory_type_bits & exported.memory_types);
    let import = |fd: i32, index: u32| {
        let mut source = vk::ImportMemoryFdInfoKHR::default().handle_type(exported.handle_type).fd(fd);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index).push_next(&mut source);
        if addressed {
            info = info.push_next(&mut flags);
        }
        // SAFETY: the device and the buffer support the memory type. For a handle of another kind, the driver returns
        // an error.
        unsafe { device.allocate_memory(&info, None) }
    };
    // SAFETY: the caller passes an open descriptor.
    unsafe { import_as_first(&types, exported.fd, exported.closes_rejected, import) }
}

/// Imports a file descriptor as the first possible memory type. The imported memory owns the descriptor. After an
/// error, the caller still owns the descriptor.
///
/// # Safety
/// The descriptor must be open, and no thread may close it meanwhile. `import` must own the descriptor that it gets if
/// it succeeds. If it fails, it must have closed the descriptor if and only if `closes_rejected` is true.
unsafe fn import_as_first<T>(
    types: &[u32],
    fd: i32,
    closes_rejected: bool,
    mut import: impl FnMut(i32, u32) -> Result<T, vk::Result>,
) -> Result<T, vk::Result> {
    let mut last = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
    for &index in types {
        // SAFETY: the caller ensures the requirements.
        let attempt = if closes_rejected { unsafe { duplicate(fd) } } else { Some(fd) };
        let Some(attempt) = attempt else { break };
        match import(attempt, index) {
            Ok(memory) => {
                if attempt != fd {
                    // SAFETY: this function owns the original now, as the memory owns the duplicate.
                    unsafe { close(fd) };
                }
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
/// No thread may close the descriptor meanwhile.
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

/// Returns `None`, because file descriptors exist on Unix only.
#[cfg(not(unix))]
unsafe fn duplicate(_: i32) -> Option<i32> {
    None
}

#[cfg(not(unix))]
unsafe fn close(_: i32) {}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::{Read, Write};
    use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use ash::vk;

    use super::import_as_first;

    /// Imports one end of a connection with a driver that accepts only memory type 7.
    fn import(types: &[u32], closes_rejected: bool) -> (Result<OwnedFd, vk::Result>, i32, UnixStream) {
        let (given, other) = UnixStream::pair().unwrap();
        other.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let fd = given.into_raw_fd();
        let driver = |fd: i32, index: u32| {
            if index == 7 {
                // SAFETY: the result owns the descriptor of a successful import.
                return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
            }
            if closes_rejected {
                // SAFETY: the descriptor has no other owner.
                drop(unsafe { OwnedFd::from_raw_fd(fd) });
            }
            Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)
        };
        // SAFETY: the descriptor is open, and only this function uses it.
        (unsafe { import_as_first(types, fd, closes_rejected, driver) }, fd, other)
    }

    /// Whether all descriptors of the other end are closed.
    fn is_closed(mut end: &UnixStream) -> bool {
        matches!(end.read(&mut [0]), Ok(0))
    }

    #[test]
    fn the_memory_owns_the_only_descriptor() {
        for closes_rejected in [false, true] {
            for types in [&[7][..], &[7, 1], &[1, 7], &[1, 2, 7, 3]] {
                let (imported, _, other) = import(types, closes_rejected);
                let memory = imported.unwrap();
                assert!(!is_closed(&other), "{types:?}");
                drop(memory);
                assert!(is_closed(&other), "a descriptor is still open: {types:?}, {closes_rejected}");
            }
        }
    }

    #[test]
    fn after_an_error_the_caller_owns_the_descriptor() {
        for closes_rejected in [false, true] {
            let (imported, fd, other) = import(&[1, 2], closes_rejected);
            assert_eq!(imported.err(), Some(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
            // SAFETY: the descriptor has no other owner.
            let mut given = UnixStream::from(unsafe { OwnedFd::from_raw_fd(fd) });
            given.write_all(&[1]).unwrap();
            drop(given);
            assert_eq!((&other).read(&mut [0]).unwrap(), 1);
            assert!(is_closed(&other));
        }
    }
}
