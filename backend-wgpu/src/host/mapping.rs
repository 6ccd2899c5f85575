//! Buffers at addresses of the host.
//!
//! # Soundness
//! The device may access mapped memory at the same time as the host. References into it exist only for the duration of
//! a copy. The host writes bytes only after all submitted batches that use them are complete. It reads bytes only after
//! all submitted batches that write them are complete.

use std::ptr::NonNull;

/// The host's address of a buffer, valid while the buffer exists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping(pub(crate) NonNull<u8>);

// SAFETY: this value is only an address. The comment of each access through it says why the access is sound.
unsafe impl Send for Mapping {}
// SAFETY: this value is only an address. The comment of each access through it says why the access is sound.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn address(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Returns the bytes of a range.
    ///
    /// # Safety
    /// The range must lie inside the buffer, and the buffer must outlive the result. No other thread and no command may
    /// access the bytes meanwhile. If the caller only reads them, commands may read them, too.
    pub(crate) unsafe fn bytes_mut<'a>(self, offset: u64, size: u64) -> &'a mut [u8] {
        // SAFETY: the caller ensures the requirements. Mapped memory counts as initialised, because the driver wrote
        // it.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr().add(offset as usize), size as usize) }
    }
}
