//! Pages on Windows.
//!
//! The pages are small. Large pages require a privilege that users do not have by default.

use std::mem;
use std::ptr::{self, NonNull};

use windows_sys::Win32::System::Memory::{MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

use super::{HUGE_PAGE, rounded};

/// Returns the physical memory of the machine in bytes. Returns `None` if the call fails.
pub(crate) fn physical_memory() -> Option<u64> {
    let mut status = MEMORYSTATUSEX { dwLength: mem::size_of::<MEMORYSTATUSEX>() as u32, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure contains its own size, and the call writes no more than that.
    (unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0).then_some(status.ullTotalPhys)
}

/// Committed pages in a larger range of reserved addresses.
#[derive(Debug)]
pub(in crate::memory) struct Pages {
    start: NonNull<u8>,
    /// The first reserved address.
    reserved: NonNull<u8>,
}

impl Pages {
    /// Commits pages for `size` bytes, aligned to a huge page. Returns `None` if the system has not enough memory.
    pub(in crate::memory) fn new(size: usize) -> Option<Self> {
        let size = rounded(size)?;
        let asked = size.checked_add(HUGE_PAGE)?;
        // SAFETY: reserves addresses that the system chooses.
        let reserved = NonNull::new(unsafe { VirtualAlloc(ptr::null(), asked, MEM_RESERVE, PAGE_READWRITE) })?.cast::<u8>();
        let before = reserved.as_ptr().addr().next_multiple_of(HUGE_PAGE) - reserved.as_ptr().addr();
        // SAFETY: `before` is at most `HUGE_PAGE`, so the range is reserved.
        let start = unsafe { reserved.add(before) };
        let pages = Self { start, reserved };
        // SAFETY: commits pages of the reserved range. `pages` releases the range if this fails.
        let committed = unsafe { VirtualAlloc(start.as_ptr().cast(), size, MEM_COMMIT, PAGE_READWRITE) };
        (!committed.is_null()).then_some(pages)
    }

    /// The first byte.
    pub(in crate::memory) const fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: reserved at this address, and released once.
        unsafe { VirtualFree(self.reserved.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}
