//! Copies between host memory and mapped buffers. Functions on host memory check its bounds. Callers check the bounds
//! of the mapped buffer.

use wgcl_api::backend::{BackendError, BackendResult, CopyRegion};

use crate::host::copy_threads::CopyThreads;
use crate::host::mapping::Mapping;
use crate::host::uncached_read;

fn out_of_bounds() -> BackendError {
    BackendError::Other("internal error: a transfer ends beyond the host memory".to_owned())
}

fn host_range(region: CopyRegion) -> BackendResult<std::ops::Range<usize>> {
    let start = usize::try_from(region.host).map_err(|_| out_of_bounds())?;
    let size = usize::try_from(region.size).map_err(|_| out_of_bounds())?;
    Ok(start..start.checked_add(size).ok_or_else(out_of_bounds)?)
}

/// Returns the host memory of a region. Fails if it is outside of `bytes`.
pub(crate) fn host_part(bytes: &[u8], region: CopyRegion) -> BackendResult<&[u8]> {
    bytes.get(host_range(region)?).ok_or_else(out_of_bounds)
}

pub(crate) fn host_part_mut(bytes: &mut [u8], region: CopyRegion) -> BackendResult<&mut [u8]> {
    bytes.get_mut(host_range(region)?).ok_or_else(out_of_bounds)
}

/// Whether the application's memory overlaps the region of the mapped buffer.
fn overlaps(mapping: Mapping, region: CopyRegion, host: &[u8]) -> bool {
    let device = mapping.address() + region.buffer as usize;
    let host_start = host.as_ptr() as usize;
    host_start < device + host.len() && device < host_start + host.len()
}

/// Writes host memory to a mapped buffer that the device does not use.
pub(crate) fn write_mapped(copy_threads: &CopyThreads, mapping: Mapping, bytes: &[u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let source = host_part(bytes, *region)?;
        if overlaps(mapping, *region, source) {
            // SAFETY: the caller checked that the region lies inside the buffer, and the device does not use it. No
            // reference to the destination exists, because it overlaps the source.
            unsafe { std::ptr::copy(source.as_ptr(), mapping.0.as_ptr().add(region.buffer as usize), source.len()) };
        } else {
            // SAFETY: the caller checked that the region lies inside the buffer, and the device does not use it. In
            // OpenCL, an application must not access mapped memory while a command uses it.
            copy_threads.copy(unsafe { mapping.bytes_mut(region.buffer, region.size) }, source);
        }
    }
    Ok(())
}

/// Copies between two mapped buffers, which may be the same. `region.host` is the offset in the target.
pub(crate) fn copy_mapped(source: Mapping, target: Mapping, region: CopyRegion) {
    // SAFETY: the reasons of `write_mapped` hold for the target, and those of `read_mapped` for the source.
    unsafe {
        let from = source.0.as_ptr().add(region.buffer as usize);
        std::ptr::copy(from, target.0.as_ptr().add(region.host as usize), region.size as usize);
    }
}

/// Fills a range with a pattern.
pub(crate) fn fill_mapped(mapping: Mapping, offset: u64, size: u64, pattern: &[u8]) {
    // SAFETY: the reasons of `write_mapped` hold.
    let bytes = unsafe { mapping.bytes_mut(offset, size) };
    let first = pattern.len().min(bytes.len());
    bytes[..first].copy_from_slice(&pattern[..first]);
    // Each copy doubles the size of the filled part, until a copy has 32 KiB, which the first-level cache can hold.
    let mut done = first;
    while done < bytes.len() {
        let next = done.min(1 << 15).min(bytes.len() - done);
        let step = if next == 1 << 15 { next - next % pattern.len() } else { next };
        bytes.copy_within(..step, done);
        done += step;
    }
}

/// Reads device memory across the bus.
pub(crate) fn read_bar(bar: Mapping, bytes: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let target = host_part_mut(bytes, *region)?;
        // SAFETY: the reasons of `read_mapped` hold. The application has no address of the device's memory.
        uncached_read::read(target, unsafe { bar.bytes_mut(region.buffer, region.size) });
    }
    Ok(())
}

/// Reads a mapped buffer to host memory.
pub(crate) fn read_mapped(copy_threads: &CopyThreads, mapping: Mapping, bytes: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        let target = host_part_mut(bytes, *region)?;
        if overlaps(mapping, *region, target) {
            // SAFETY: the caller checked that the region lies inside the buffer, and the device does not write it. No
            // reference to the source exists, because it overlaps the destination.
            unsafe { std::ptr::copy(mapping.0.as_ptr().add(region.buffer as usize), target.as_mut_ptr(), target.len()) };
        } else {
            // SAFETY: the caller checked that the region lies inside the buffer, and the device does not write it. In
            // OpenCL, an application must not access mapped memory while a command uses it.
            copy_threads.copy(target, unsafe { mapping.bytes_mut(region.buffer, region.size) });
        }
    }
    Ok(())
}
