//! Pages on Unix.

use std::ptr::NonNull;

/// Maps zeroed pages. If `wanted` is set, the pages start at this address. Returns `None` if an address of the range is
/// in use, or if mapping fails.
pub(super) fn map(wanted: Option<usize>, size: usize) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let hint = std::ptr::without_provenance_mut::<libc::c_void>(wanted.unwrap_or(0));
    // SAFETY: without MAP_FIXED the address is a hint, so the call does not replace existing mappings.
    let got = unsafe { libc::mmap(hint, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if got == libc::MAP_FAILED {
        return None;
    }
    let got = NonNull::new(got.cast::<u8>())?;
    if wanted.is_some_and(|wanted| got.addr().get() != wanted) {
        // SAFETY: these pages were just mapped, and no other code has their address.
        unsafe { unmap(got, size) };
        return None;
    }
    Some(got)
}

/// Unmaps pages.
///
/// # Safety
/// [`map`] returned the pages with this size, and no code uses them.
pub(super) unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller guarantees that no code uses the pages.
    unsafe { libc::munmap(start.as_ptr().cast(), size) };
}
