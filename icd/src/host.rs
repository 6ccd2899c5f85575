//! Host memory for maps: allocated here, because its address goes to the application.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use wgcl_api::backend::{HostSource, HostTarget};
use wgcl_api::host::{HostAllocator, HostRegion};

/// Alignment of all memory for maps: that of `long16`, and that of pages where the memory is large.
const fn alignment(size: usize) -> usize {
    if size >= 4096 { 4096 } else { 128 }
}

/// Makes memory for maps.
pub struct Allocator;

impl HostAllocator for Allocator {
    fn allocate(&self, size: u64) -> Option<Arc<dyn HostRegion>> {
        let size = usize::try_from(size).ok().filter(|&size| size != 0)?;
        let layout = Layout::from_size_align(size, alignment(size)).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Arc::new(Allocation { start, layout }))
    }
}

struct Allocation {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the allocation is owned by this value; commands and the application use it in the order that maps give.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} mapped bytes at {:p}", self.layout.size(), self.start)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl HostRegion for Allocation {
    fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    fn source(self: Arc<Self>, offset: u64, size: u64) -> Box<dyn HostSource> {
        Box::new(Part::new(self, offset, size))
    }

    fn target(self: Arc<Self>, offset: u64, size: u64) -> Box<dyn HostTarget> {
        Box::new(Part::new(self, offset, size))
    }
}

/// A part of an allocation, which it keeps alive.
#[derive(Debug)]
struct Part {
    allocation: Arc<Allocation>,
    offset: usize,
    size: usize,
}

impl Part {
    fn new(allocation: Arc<Allocation>, offset: u64, size: u64) -> Self {
        let whole = allocation.layout.size();
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(whole);
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(whole - offset);
        Self { allocation, offset, size }
    }
}

impl HostSource for Part {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        // SAFETY: offset and size lie within the allocation, which lives as long as `self`. The application writes only while it has mapped the part.
        f(unsafe { std::slice::from_raw_parts(self.allocation.start.as_ptr().add(self.offset), self.size) });
    }
}

impl HostTarget for Part {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        // SAFETY: as in `with`; only one command writes a part at a time.
        f(unsafe { std::slice::from_raw_parts_mut(self.allocation.start.as_ptr().add(self.offset), self.size) });
    }
}
