//! Allocates host memory: for maps and shared virtual memory, whose addresses are passed to the application, and for
//! memory that several devices share.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as pages;
#[cfg(windows)]
use windows as pages;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use wgcl_api::backend::{HostSource, HostTarget};
use wgcl_api::types::host_memory::{HostAllocator, HostRegion};

/// Returns the alignment of heap memory: 4,096 bytes (a page) for at least 4,096 bytes, otherwise the size of `long16`.
const fn alignment(size: usize) -> usize {
    if size >= 4096 { 4096 } else { 128 }
}

/// Minimum size in bytes of memory that is mapped as pages. The system zeroes pages at their first access.
const LARGE: usize = 1 << 20;

/// The allocator that all contexts use.
pub(crate) struct Allocator;

impl HostAllocator for Allocator {
    fn allocate(&self, size: u64) -> Option<Arc<dyn HostRegion>> {
        let size = usize::try_from(size).ok().filter(|&size| size != 0)?;
        if size >= LARGE {
            return Some(Arc::new(Allocation { start: pages::map(None, size)?, size, origin: Origin::Pages }));
        }
        let layout = Layout::from_size_align(size, alignment(size)).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Arc::new(Allocation { start, size, origin: Origin::Heap(layout) }))
    }

    #[cfg(target_pointer_width = "64")]
    fn allocate_shared(&self, size: u64) -> Option<Arc<dyn HostRegion>> {
        let size = usize::try_from(size).ok().filter(|&size| size != 0)?;
        Some(Arc::new(Allocation { start: shared_pages(size)?, size, origin: Origin::Pages }))
    }
}

/// Maps pages at an unused multiple of 4 GiB. Returns `None` if all attempts fail.
#[cfg(target_pointer_width = "64")]
fn shared_pages(size: usize) -> Option<NonNull<u8>> {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The range of the upper 32 bits of addresses. Libraries and stacks are at higher addresses. A
    /// position-independent program and its heap can be in the range. `pages::map` does not replace their pages.
    const FIRST: usize = 0x1000;
    const COUNT: usize = 0x6000;
    /// Number of addresses to try before the allocation fails.
    const TRIES: usize = 4096;
    static NEXT: AtomicUsize = AtomicUsize::new(0);

    for _ in 0..TRIES {
        let high = FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
        if let Some(got) = pages::map(Some(high << 32), size) {
            return Some(got);
        }
    }
    None
}

/// The allocator that provided the memory.
enum Origin {
    Heap(Layout),
    Pages,
}

struct Allocation {
    start: NonNull<u8>,
    size: usize,
    origin: Origin,
}

// SAFETY: this value owns the allocation. Map and unmap commands order the accesses of commands and of the application.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} mapped bytes at {:p}", self.size, self.start)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match self.origin {
            // SAFETY: allocated with this layout, and freed once.
            Origin::Heap(layout) => unsafe { dealloc(self.start.as_ptr(), layout) },
            // SAFETY: mapped with this size, and unmapped once.
            Origin::Pages => unsafe { pages::unmap(self.start, self.size) },
        }
    }
}

impl HostRegion for Allocation {
    fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    fn source(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostSource> {
        Arc::new(Part::new(self, offset, size))
    }

    fn target(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostTarget> {
        Arc::new(Part::new(self, offset, size))
    }
}

/// A range of an allocation. Keeps the allocation alive.
#[derive(Debug)]
struct Part {
    allocation: Arc<Allocation>,
    offset: usize,
    size: usize,
}

impl Part {
    fn new(allocation: Arc<Allocation>, offset: u64, size: u64) -> Self {
        let whole = allocation.size;
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(whole);
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(whole - offset);
        Self { allocation, offset, size }
    }
}

impl HostSource for Part {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        // SAFETY: offset and size are within the allocation, which lives as long as `self`. The application writes
        // only while it has mapped the part.
        f(unsafe { std::slice::from_raw_parts(self.allocation.start.as_ptr().add(self.offset), self.size) });
    }
}

impl HostTarget for Part {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        // SAFETY: offset and size are within the allocation, as in `with`. Only one command writes a part at a time.
        f(unsafe { std::slice::from_raw_parts_mut(self.allocation.start.as_ptr().add(self.offset), self.size) });
    }
}
