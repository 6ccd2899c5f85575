//! Pages on Windows.

use std::ffi::c_void;
use std::ptr::NonNull;

use windows_sys::Win32::System::Memory::{MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree};

/// Allocates zeroed pages. If `wanted` is set, the pages start at this address. Returns `None` if an address of the
/// range is in use, or if the allocation fails.
pub(super) fn map(wanted: Option<usize>, size: usize) -> Option<NonNull<u8>> {
    let wanted = std::ptr::without_provenance_mut::<c_void>(wanted.unwrap_or(0));
    // SAFETY: allocates pages at unused addresses only.
    NonNull::new(unsafe { VirtualAlloc(wanted, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) }.cast())
}

/// Frees pages.
///
/// # Safety
/// [`map`] returned the pages, and no code uses them.
pub(super) unsafe fn unmap(start: NonNull<u8>, _: usize) {
    // SAFETY: the caller guarantees that no code uses the pages.
    unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
}
