//! Host memory for buffers, arenas and the variables of programs.
//!
//! An allocation is aligned for every type of OpenCL C, and is followed by padding that vector loads may read. A large
//! allocation has its own pages, which the system provides at the first access and reclaims on drop. Large allocations
//! use huge pages, because three buffers of 4 MiB in small pages exceed a core's TLB. Large allocations start at
//! different offsets in a page. Otherwise, a kernel that accesses twenty buffers at one index would use a single set of
//! each cache.

use std::alloc::{Layout, alloc, dealloc};
use std::arch::asm;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::memory::pages::{HUGE_PAGE, Pages};

/// Alignment of every allocation, in bytes: that of `long16`.
pub(crate) const ALIGN: usize = 128;
/// Bytes of padding after every allocation. They can be read and written.
pub(crate) const PADDING: usize = 128;
/// Minimum size of an allocation with its own pages, in bytes.
const LARGE: usize = HUGE_PAGE;
/// Difference between the start offsets of consecutive large allocations, in bytes. It is not a multiple of 4 KiB,
/// because a store delays loads from addresses with equal or slightly higher low 12 bits (4K aliasing).
const OFFSET_STEP: usize = 5 << 10;
/// Exclusive limit of start offsets, in bytes.
const OFFSET_LIMIT: usize = 64 << 10;

/// The start offset in bytes of the large allocation with this number.
const fn start_offset(number: usize) -> usize {
    number.wrapping_mul(OFFSET_STEP) % OFFSET_LIMIT
}

/// The allocator that provided the memory.
#[derive(Debug)]
enum Origin {
    Heap(Layout),
    Pages(#[expect(dead_code, reason = "dropping it unmaps the pages")] Pages),
}

/// Memory of the host with unspecified contents.
#[derive(Debug)]
pub(crate) struct HostAllocation {
    start: NonNull<u8>,
    size: usize,
    origin: Origin,
}

// SAFETY: the value is an address. The code that accesses the memory at the address states why the access is sound.
unsafe impl Send for HostAllocation {}
// SAFETY: the reason for `Send` also applies to `Sync`.
unsafe impl Sync for HostAllocation {}

impl HostAllocation {
    /// Allocates `size` bytes, possibly zero. Returns `None` if there is not enough memory.
    pub(crate) fn new(size: u64) -> Option<Self> {
        let size = usize::try_from(size).ok()?;
        let whole = size.checked_add(PADDING)?;
        if whole >= LARGE {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let before = start_offset(COUNT.fetch_add(1, Ordering::Relaxed));
            let pages = Pages::new(before, whole)?;
            return Some(Self { start: pages.start(), size, origin: Origin::Pages(pages) });
        }
        let layout = Layout::from_size_align(whole, ALIGN).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        // SAFETY: the asm block contains no instruction. The compiler must assume that it initialised the memory.
        unsafe { asm!("/* {0} */", in(reg) start.as_ptr(), options(nostack, preserves_flags)) };
        Some(Self { start, size, origin: Origin::Heap(layout) })
    }

    /// Allocates `size` zero bytes. Returns `None` if there is not enough memory. Programs that read uninitialised
    /// buffers get zeros, as on other devices.
    pub(crate) fn zeroed(size: u64) -> Option<Self> {
        let mut allocation = Self::new(size)?;
        if let Origin::Heap(_) = allocation.origin {
            allocation.bytes_mut().fill(0);
        }
        Some(allocation)
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    /// The first byte.
    pub(crate) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Number of bytes, without the padding.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// The bytes, for the exclusive owner.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the allocation has `size` initialised bytes, and the exclusive reference permits writes: generated
        // code has the address only while the owner waits for it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }
}

impl Drop for HostAllocation {
    fn drop(&mut self) {
        // `Pages` unmaps itself.
        if let Origin::Heap(layout) = self.origin {
            // SAFETY: allocated with this layout, and freed once.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ALIGN, HostAllocation, LARGE, OFFSET_LIMIT, start_offset};
    use crate::memory::pages::HUGE_PAGE;

    #[test]
    fn allocations_of_all_sizes_are_aligned_and_writable() {
        for size in [0, 1, 127, 128, 4096, LARGE as u64, LARGE as u64 + 1] {
            let mut allocation = HostAllocation::new(size).expect("memory");
            assert!(allocation.address().is_multiple_of(ALIGN), "{size}");
            assert_eq!(allocation.bytes_mut().len() as u64, size);
            allocation.bytes_mut().fill(7);
            assert!(allocation.bytes_mut().iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn large_allocations_start_at_different_offsets_of_huge_pages() {
        let offsets: BTreeSet<_> = (0..OFFSET_LIMIT / 1024).map(start_offset).collect();
        assert_eq!(offsets.len(), OFFSET_LIMIT / 1024);
        assert!(offsets.iter().all(|offset| offset.is_multiple_of(1024) && *offset < OFFSET_LIMIT));
        let allocation = HostAllocation::new(LARGE as u64).expect("memory");
        assert!(offsets.contains(&(allocation.address() % HUGE_PAGE)));
    }

    #[test]
    fn zeroed_allocations_have_no_old_contents() {
        for size in [64, 5000, LARGE as u64] {
            for _ in 0..4 {
                let mut allocation = HostAllocation::zeroed(size).expect("memory");
                assert!(allocation.bytes_mut().iter().all(|&byte| byte == 0), "{size}");
                allocation.bytes_mut().fill(7);
            }
        }
    }

    #[test]
    fn an_allocation_as_large_as_the_address_space_fails() {
        assert!(HostAllocation::new(u64::MAX).is_none() && HostAllocation::new(1 << 62).is_none());
    }
}
