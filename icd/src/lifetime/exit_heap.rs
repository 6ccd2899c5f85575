//! The memory that exit handlers allocate on Windows.
//!
//! Windows ends all other threads before it runs exit handlers. It may end a thread that is changing the heap of the
//! process. The lock of the heap is then never released, and its lists may be inconsistent. Exit handlers therefore
//! allocate from an array, and free nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The size of the array, in bytes. A larger request is served from the heap.
const SIZE: usize = 1 << 20;

/// The array. Each byte belongs to at most one allocation.
struct Array(UnsafeCell<[u8; SIZE]>);

// SAFETY: `Allocator` returns each byte at most once.
unsafe impl Sync for Array {}

static ARRAY: Array = Array(UnsafeCell::new([0; SIZE]));
static USED: AtomicUsize = AtomicUsize::new(0);
static IS_EXITING: AtomicBool = AtomicBool::new(false);

/// Makes all later allocations of the library use the array.
pub(crate) fn begin_exit() {
    IS_EXITING.store(true, Ordering::Relaxed);
}

/// Returns bytes of the array that are zero, or `None` if the array has too few.
fn from_array(layout: Layout) -> Option<*mut u8> {
    let base = ARRAY.0.get().cast::<u8>();
    let start = |used: usize| (base.addr() + used).checked_next_multiple_of(layout.align()).map(|address| address - base.addr());
    let end = |used: usize| start(used)?.checked_add(layout.size()).filter(|&end| end <= SIZE);
    let used = USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end).ok()?;
    start(used).map(|start| base.wrapping_add(start))
}

/// The heap of the process, or the array after [`begin_exit`].
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: an allocation is one of `System`, or bytes of the array that no other allocation has. Allocations of the
// array are never freed, and those of `System` are not freed after `begin_exit`.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_EXITING.load(Ordering::Relaxed)
            && let Some(bytes) = from_array(layout)
        {
            return bytes;
        }
        // SAFETY: the caller ensures the conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if IS_EXITING.load(Ordering::Relaxed)
            && let Some(bytes) = from_array(layout)
        {
            return bytes;
        }
        // SAFETY: the caller ensures the conditions.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !IS_EXITING.load(Ordering::Relaxed) {
            // SAFETY: before `begin_exit`, all allocations are those of `System`.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !IS_EXITING.load(Ordering::Relaxed) {
            // SAFETY: before `begin_exit`, all allocations are those of `System`.
            return unsafe { System.realloc(pointer, layout, size) };
        }
        // SAFETY: the caller ensures that the new size is valid for the alignment, and that the allocation has the old
        // size. The new allocation is another one, of at least the copied size.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                pointer.copy_to_nonoverlapping(new, size.min(layout.size()));
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::{SIZE, from_array};

    #[test]
    fn allocations_are_aligned_and_do_not_overlap() {
        let mut end = 0;
        for (size, align) in [(1, 1), (3, 16), (100, 64), (8, 8), (4096, 4096)] {
            let bytes = from_array(Layout::from_size_align(size, align).expect("a layout")).expect("bytes").addr();
            assert!(bytes >= end && bytes.is_multiple_of(align), "{size} bytes at {bytes:#x}, the previous ones end at {end:#x}");
            end = bytes + size;
        }
        assert!(from_array(Layout::from_size_align(SIZE, 1).expect("a layout")).is_none());
    }
}
