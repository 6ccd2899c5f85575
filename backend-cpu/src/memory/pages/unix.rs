//! Mapped pages on Unix.

use std::ptr::NonNull;

use super::{HUGE_PAGE, rounded};

/// Mapped pages, which are huge pages if the system has them. With small pages, a kernel that streams through memory
/// has a page fault every 4 KiB.
#[derive(Debug)]
pub(in crate::memory) struct Pages {
    /// The first byte of the allocation.
    start: NonNull<u8>,
    /// The mapped pages.
    pages: NonNull<u8>,
    size: usize,
}

impl Pages {
    /// Maps pages for `size` bytes that begin `offset` bytes after the start of a huge page. Returns `None` if the
    /// system has not enough memory.
    pub(in crate::memory) fn new(offset: usize, size: usize) -> Option<Self> {
        let size = rounded(offset.checked_add(size)?)?;
        let asked = size.checked_add(HUGE_PAGE)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: maps new pages at an address that the system chooses.
        let mapped = unsafe { libc::mmap(std::ptr::null_mut(), asked, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        let before = mapped.addr().next_multiple_of(HUGE_PAGE) - mapped.addr();
        // SAFETY: the two ranges are the mapped bytes before and after `start..start + size`, and nothing has accessed
        // them.
        let start = unsafe {
            let start = mapped.byte_add(before);
            for (part, size) in [(mapped, before), (start.byte_add(size), asked - before - size)] {
                if size > 0 {
                    libc::munmap(part, size);
                }
            }
            start
        };
        #[cfg(target_os = "linux")]
        // SAFETY: the call only gives advice about the pages that are mapped above.
        unsafe {
            libc::madvise(start, size, libc::MADV_HUGEPAGE)
        };
        let pages = NonNull::new(start)?.cast();
        // SAFETY: the pages hold `offset` bytes and the allocation.
        Some(Self { start: unsafe { pages.add(offset) }, pages, size })
    }

    /// The first byte.
    pub(in crate::memory) const fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped with this size, and unmapped once.
        unsafe { libc::munmap(self.pages.as_ptr().cast(), self.size) };
    }
}
