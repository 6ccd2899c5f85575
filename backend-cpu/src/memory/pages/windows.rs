//! Pages on Windows.
//!
//! Large pages require the privilege `SeLockMemoryPrivilege`, which no user has by default. An administrator who
//! assigns it accepts that programs lock physical memory: the system never swaps large pages, and provides all of them
//! at the allocation. wgcl therefore uses them only if the process has the privilege. Windows does not join small pages
//! to large ones.

use std::ffi::c_void;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_SUCCESS, GetLastError, LUID};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_LOCK_MEMORY_NAME, SE_PRIVILEGE_ENABLED, TOKEN_ADJUST_PRIVILEGES,
    TOKEN_PRIVILEGES,
};
use windows_sys::Win32::System::Memory::{
    GetLargePageMinimum, MEM_COMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::{HUGE_PAGE, rounded};

/// Returns the physical memory of the machine in bytes. Returns `None` if the call fails.
pub(crate) fn physical_memory() -> Option<u64> {
    let mut status = MEMORYSTATUSEX { dwLength: mem::size_of::<MEMORYSTATUSEX>() as u32, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure contains its own size, and the call writes no more than that.
    (unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0).then_some(status.ullTotalPhys)
}

/// Enables the privilege for large pages in this process. Returns false if the user does not have the privilege.
fn enable_privilege() -> bool {
    let mut token = ptr::null_mut();
    // SAFETY: the call writes the handle.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &raw mut token) } == 0 {
        return false;
    }
    let mut luid = LUID::default();
    // SAFETY: the name ends in a zero, and the call writes the identifier.
    let is_known = unsafe { LookupPrivilegeValueW(ptr::null(), SE_LOCK_MEMORY_NAME, &raw mut luid) } != 0;
    let privileges =
        TOKEN_PRIVILEGES { PrivilegeCount: 1, Privileges: [LUID_AND_ATTRIBUTES { Luid: luid, Attributes: SE_PRIVILEGE_ENABLED }] };
    // SAFETY: the structure has one privilege, as its count says. The call also succeeds if the user does not have the
    // privilege, and then sets an error code.
    let is_enabled = is_known
        && unsafe { AdjustTokenPrivileges(token, 0, &raw const privileges, 0, ptr::null_mut(), ptr::null_mut()) } != 0
        // SAFETY: the call reads the error code of this thread.
        && unsafe { GetLastError() } == ERROR_SUCCESS;
    // SAFETY: this function opened the handle.
    unsafe { CloseHandle(token) };
    is_enabled
}

/// The size of a large page in bytes. `None` if this process cannot have large pages.
fn large_page() -> Option<usize> {
    static SIZE: OnceLock<Option<usize>> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: the call has no arguments. It returns 0 if the processor has no large pages.
        let size = unsafe { GetLargePageMinimum() };
        let size = (size > 0 && HUGE_PAGE.is_multiple_of(size) && enable_privilege()).then_some(size);
        if size.is_some() {
            tracing::info!("large buffers use large pages, because the process has SeLockMemoryPrivilege");
        }
        size
    })
}

/// Pages, and the address range that contains them.
#[derive(Debug)]
pub(in crate::memory) struct Pages {
    /// The first byte of the allocation.
    start: NonNull<u8>,
    /// The first reserved address.
    reserved: NonNull<u8>,
}

impl Pages {
    /// Commits pages for `size` bytes that begin `offset` bytes after the start of a huge page. Returns `None` if the
    /// system has not enough memory.
    pub(in crate::memory) fn new(offset: usize, size: usize) -> Option<Self> {
        // The allocation of large pages fails if the physical memory is fragmented.
        large_page().and_then(|_| Self::large(offset, size)).or_else(|| Self::small(offset, size))
    }

    /// Allocates large pages. Returns `None` if they would exceed the size by more than an eighth.
    fn large(offset: usize, size: usize) -> Option<Self> {
        let whole = rounded(offset.checked_add(size)?).filter(|whole| whole.is_multiple_of(HUGE_PAGE))?;
        let reserved = allocated(ptr::null(), whole, MEM_RESERVE | MEM_COMMIT | MEM_LARGE_PAGES)?;
        // SAFETY: the pages hold `offset` bytes and the allocation.
        Some(Self { start: unsafe { reserved.add(offset) }, reserved })
    }

    /// Commits small pages in a larger range of reserved addresses. The system counts committed pages even if they are
    /// not used. Only the pages of the allocation are therefore committed.
    fn small(offset: usize, size: usize) -> Option<Self> {
        let asked = size.checked_add(offset)?.checked_add(HUGE_PAGE)?;
        let reserved = allocated(ptr::null(), asked, MEM_RESERVE)?;
        let before = reserved.as_ptr().addr().next_multiple_of(HUGE_PAGE) - reserved.as_ptr().addr();
        // SAFETY: `before` is less than `HUGE_PAGE`, so the range is reserved.
        let start = unsafe { reserved.add(before + offset) };
        // If the system has not enough memory, the drop of `pages` releases the range.
        let pages = Self { start, reserved };
        allocated(start.as_ptr().cast(), size, MEM_COMMIT).map(|_| pages)
    }

    /// The first byte.
    pub(in crate::memory) const fn start(&self) -> NonNull<u8> {
        self.start
    }
}

/// Calls `VirtualAlloc` for data. Returns `None` if it fails.
fn allocated(address: *const c_void, size: usize, kind: u32) -> Option<NonNull<u8>> {
    // SAFETY: the address is null, or in a range that the caller has reserved.
    NonNull::new(unsafe { VirtualAlloc(address, size, kind, PAGE_READWRITE) }).map(NonNull::cast)
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: reserved at this address, and released once.
        unsafe { VirtualFree(self.reserved.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}

#[cfg(test)]
mod tests {
    use super::{HUGE_PAGE, Pages, enable_privilege, large_page};

    /// Writes to the first and the last byte, and checks the alignment.
    fn use_pages(pages: &Pages, offset: usize, size: usize) {
        assert_eq!(pages.start().as_ptr().addr() % HUGE_PAGE, offset);
        // SAFETY: the pages have this size, and only this function uses them.
        unsafe {
            assert_eq!((pages.start().read(), pages.start().add(size - 1).read()), (0, 0));
            pages.start().add(size - 1).write(7);
            assert_eq!(pages.start().add(size - 1).read(), 7);
        }
    }

    #[test]
    fn both_kinds_of_pages_can_be_used() {
        let sizes = [(0, 2 * HUGE_PAGE), (5 << 10, 2 * HUGE_PAGE - (5 << 10)), (60 << 10, 2 * HUGE_PAGE + 128)];
        for (offset, size) in sizes {
            use_pages(&Pages::small(offset, size).expect("small pages"), offset, size);
            use_pages(&Pages::new(offset, size).expect("pages"), offset, size);
        }
        // The kind of pages depends on the privileges of the user who runs the test.
        assert_eq!(large_page().is_some(), enable_privilege());
        if large_page().is_some() {
            for (offset, size) in sizes {
                Pages::large(offset, size).into_iter().for_each(|pages| use_pages(&pages, offset, size));
            }
        }
    }
}
