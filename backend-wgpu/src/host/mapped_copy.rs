//! What the host does with bytes of its own and of memory that it sees: every function here checks that they are inside.

use wgcl_api::backend::{BackendError, BackendResult, CopyRegion};

use crate::host::copy_threads::CopyThreads;
use crate::host::uncached_read;
use crate::memory::device_memory::WgpuMemory;
use crate::vulkan::hal::Mapping;

/// Fails where a piece does not lie inside the memory: the API has checked it, this is what soundness rests upon.
pub(crate) fn check(mut pieces: impl Iterator<Item = (u64, u64)>, memory: &WgpuMemory) -> BackendResult<()> {
    if pieces.all(|(offset, size)| offset.checked_add(size).is_some_and(|end| end <= memory.allocated)) {
        Ok(())
    } else {
        Err(BackendError::Other("a transfer beyond the end of a buffer".to_owned()))
    }
}

fn outside() -> BackendError {
    BackendError::Other("a transfer beyond the end of the host's memory".to_owned())
}

fn host_range(region: CopyRegion) -> BackendResult<std::ops::Range<usize>> {
    let start = usize::try_from(region.host).map_err(|_| outside())?;
    let size = usize::try_from(region.size).map_err(|_| outside())?;
    Ok(start..start.checked_add(size).ok_or_else(outside)?)
}

/// The host's bytes of a piece.
pub(crate) fn host_part(bytes: &[u8], region: CopyRegion) -> BackendResult<&[u8]> {
    bytes.get(host_range(region)?).ok_or_else(outside)
}

/// The same, to be written.
pub(crate) fn host_part_mut(bytes: &mut [u8], region: CopyRegion) -> BackendResult<&mut [u8]> {
    bytes.get_mut(host_range(region)?).ok_or_else(outside)
}

/// Whether the application's memory is the mapped memory itself, or overlaps it.
fn overlaps(mapping: Mapping, region: CopyRegion, host: &[u8]) -> bool {
    let device = mapping.address() + region.buffer as usize;
    let host_start = host.as_ptr() as usize;
    host_start < device + host.len() && device < host_start + host.len()
}

/// Host to device: bytes into memory with which the device has done.
pub(crate) fn write_mapped(copy_threads: &CopyThreads, mapping: Mapping, bytes: &[u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let source = host_part(bytes, *region)?;
        if overlaps(mapping, *region, source) {
            // SAFETY: the region lies inside the buffer, as `check` saw, and the device has done with it. No reference is made to the
            // destination, for it is the source's memory too.
            unsafe { std::ptr::copy(source.as_ptr(), mapping.0.as_ptr().add(region.buffer as usize), source.len()) };
        } else {
            // SAFETY: the region lies inside the buffer, as `check` saw; the device has done with it, and the application's own accesses
            // to mapped memory during a command on it are undefined in OpenCL.
            copy_threads.copy(unsafe { mapping.bytes_mut(region.buffer, region.size) }, source);
        }
    }
    Ok(())
}

/// Within what the host sees, from one memory to another or to itself.
pub(crate) fn copy_mapped(source: Mapping, target: Mapping, region: CopyRegion) {
    // SAFETY: as in `write_mapped`, for both ends.
    unsafe {
        let from = source.0.as_ptr().add(region.buffer as usize);
        std::ptr::copy(from, target.0.as_ptr().add(region.host as usize), region.size as usize);
    }
}

/// Repeats a pattern.
pub(crate) fn fill_mapped(mapping: Mapping, offset: u64, size: u64, pattern: &[u8]) {
    // SAFETY: as in `write_mapped`.
    let bytes = unsafe { mapping.bytes_mut(offset, size) };
    let first = pattern.len().min(bytes.len());
    bytes[..first].copy_from_slice(&pattern[..first]);
    // Twice as much each time, up to what the caches hold.
    let mut done = first;
    while done < bytes.len() {
        let next = done.min(1 << 15).min(bytes.len() - done);
        let step = if next == 1 << 15 { next - next % pattern.len() } else { next };
        bytes.copy_within(..step, done);
        done += step;
    }
}

/// Device to host, across the bus.
pub(crate) fn read_window(window: Mapping, bytes: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let target = host_part_mut(bytes, *region)?;
        // SAFETY: as in `write_mapped`; the device's memory is nobody's on the host.
        uncached_read::read(target, unsafe { window.bytes_mut(region.buffer, region.size) });
    }
    Ok(())
}

/// Device to host.
pub(crate) fn read_mapped(copy_threads: &CopyThreads, mapping: Mapping, bytes: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let target = host_part_mut(bytes, *region)?;
        if overlaps(mapping, *region, target) {
            // SAFETY: as in `write_mapped`.
            unsafe { std::ptr::copy(mapping.0.as_ptr().add(region.buffer as usize), target.as_mut_ptr(), target.len()) };
        } else {
            // SAFETY: as in `write_mapped`.
            copy_threads.copy(target, unsafe { mapping.bytes_mut(region.buffer, region.size) });
        }
    }
    Ok(())
}
