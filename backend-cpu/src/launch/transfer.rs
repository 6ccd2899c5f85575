//! Transfers between the host and memory objects.

use wgcl_api::backend::{BackendResult, CopyRegion};
use wgcl_api::host_commands::{HostBytes, range};

use crate::launch::shared_copy::{self, Segment};
use crate::memory::CpuMemory;
use crate::threads::thread_pool::ThreadPool;

/// Writes regions of `host` on `threads`, or on the calling thread only.
///
/// # Errors
/// Fails if a region extends beyond the end of the source or of the memory.
pub(crate) fn write(memory: &CpuMemory, threads: Option<&ThreadPool>, host: &[u8], regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        range(host.len(), region.host, region.size)?;
        memory.mark_initialized(&range(memory.length(), region.buffer, region.size)?);
    }
    let segments = regions.iter().map(|region| Segment {
        from: host.as_ptr().wrapping_add(region.host as usize),
        to: memory.start().as_ptr().wrapping_add(region.buffer as usize),
        size: region.size as usize,
    });
    // SAFETY: both ranges of each segment are within their memory. They may overlap if the application has mapped
    // the object.
    unsafe { shared_copy::copy(threads, segments) };
    Ok(())
}

impl HostBytes for CpuMemory {
    type Threads = ThreadPool;

    fn with_bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T {
        self.mark_all_initialized();
        self.bytes(f)
    }

    fn write(&self, threads: &ThreadPool, host: &[u8], regions: &[CopyRegion]) -> BackendResult<()> {
        write(self, Some(threads), host, regions)
    }

    fn read(&self, threads: &ThreadPool, host: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
        for region in regions {
            range(host.len(), region.host, region.size)?;
            range(self.length(), region.buffer, region.size)?;
        }
        let target = host.as_mut_ptr();
        let segments = regions.iter().map(|region| Segment {
            from: self.start().as_ptr().wrapping_add(region.buffer as usize),
            to: target.wrapping_add(region.host as usize),
            size: region.size as usize,
        });
        // SAFETY: both ranges of each segment are within their memory. They may overlap if the application has mapped
        // the object.
        unsafe { shared_copy::copy(Some(threads), segments) };
        Ok(())
    }

    fn copy(&self, threads: &ThreadPool, target: &Self, regions: &[CopyRegion]) -> BackendResult<()> {
        for region in regions {
            range(self.length(), region.buffer, region.size)?;
            target.mark_initialized(&range(target.length(), region.host, region.size)?);
        }
        let segments = regions.iter().map(|region| Segment {
            from: self.start().as_ptr().wrapping_add(region.buffer as usize),
            to: target.start().as_ptr().wrapping_add(region.host as usize),
            size: region.size as usize,
        });
        // SAFETY: both ranges of each segment are within their memory. They may overlap.
        unsafe { shared_copy::copy(Some(threads), segments) };
        Ok(())
    }

    fn fill(&self, threads: &ThreadPool, pattern: &[u8], offset: u64, size: u64) -> BackendResult<()> {
        let place = range(self.length(), offset, size)?;
        self.mark_initialized(&place);
        // SAFETY: the range is within the memory. The API checks that the size is a multiple of the pattern's size.
        unsafe { shared_copy::fill(threads, self.start().as_ptr().wrapping_add(place.start), place.len(), pattern) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wgcl_api::backend::{CopyRegion, Memory};
    use wgcl_api::host_commands::HostBytes;

    use crate::memory::{CpuMemory, MemoryTracker};
    use crate::threads::thread_pool::ThreadPool;

    fn memory(bytes: &[u8]) -> CpuMemory {
        let memory = CpuMemory::new(&MemoryTracker::new(1 << 30), bytes.len() as u64).expect("memory");
        memory.with_bytes(|place| place.copy_from_slice(bytes));
        memory
    }

    fn bytes(memory: &CpuMemory) -> Vec<u8> {
        memory.with_bytes(|bytes| bytes.to_vec())
    }

    #[test]
    fn transfers_change_exactly_their_regions() {
        let memory = memory(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let region = |buffer, host, size| CopyRegion { buffer, host, size };
        let threads = &ThreadPool::new(1, None);
        assert_eq!(memory.write(threads, &[1, 2, 3, 4], &[region(6, 1, 2)]), Ok(()));
        assert_eq!(bytes(&memory), [0, 1, 2, 3, 4, 5, 2, 3]);
        let mut host = [9; 4];
        assert_eq!(memory.read(threads, &mut host, &[region(5, 1, 3)]), Ok(()));
        assert_eq!(host, [9, 5, 2, 3]);
        assert_eq!(memory.copy(threads, &memory, &[region(4, 0, 4)]), Ok(()));
        assert_eq!(bytes(&memory), [4, 5, 2, 3, 4, 5, 2, 3]);
        for (buffer, host, size) in [(7, 0, 2), (0, 3, 2), (u64::MAX, 0, 2), (0, u64::MAX, 1)] {
            assert!(memory.write(threads, &[1; 4], &[region(buffer, host, size)]).is_err());
            assert!(memory.read(threads, &mut [1; 4], &[region(buffer, host, size)]).is_err());
        }
        assert!(memory.copy(threads, &memory, &[region(0, 7, 2)]).is_err() && memory.copy(threads, &memory, &[region(7, 0, 2)]).is_err());
        assert_eq!(bytes(&memory), [4, 5, 2, 3, 4, 5, 2, 3]);
    }

    #[test]
    fn a_write_may_read_from_the_object_itself() {
        let memory = memory(&[1, 2, 3, 4]);
        let address = memory.host_address().expect("an address");
        assert_eq!(address as u64, memory.address());
        // SAFETY: the memory has four bytes and outlives the slice.
        let own = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), 4) };
        assert_eq!(memory.write(&ThreadPool::new(1, None), own, &[CopyRegion { buffer: 1, host: 0, size: 3 }]), Ok(()));
        assert_eq!(bytes(&memory), [1, 1, 2, 3]);
    }

    #[test]
    fn fills_repeat_patterns_of_all_sizes() {
        let threads = ThreadPool::new(1, None);
        for width in [1, 2, 3, 4, 12, 16, 24, 48, 128] {
            let pattern: Vec<u8> = (1..=width).collect();
            let count = 40_000 / usize::from(width);
            let size = count * usize::from(width);
            let memory = Arc::new(memory(&vec![0; size + 2]));
            assert_eq!(memory.fill(&threads, &pattern, 1, size as u64), Ok(()));
            let bytes = bytes(&memory);
            assert_eq!((bytes[0], bytes[size + 1]), (0, 0));
            assert!(bytes[1..=size].chunks(usize::from(width)).all(|chunk| chunk == pattern), "{width}");
            assert!(memory.fill(&threads, &pattern, 3, size as u64).is_err());
        }
    }
}
