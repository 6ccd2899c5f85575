//! Executable memory on Windows.
//!
//! Code, unwind information and the function table share one allocation, because the addresses in the function table
//! are 32-bit offsets. A process with Arbitrary Code Guard refuses to make memory executable.

use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};

use windows_sys::Win32::System::Diagnostics::Debug::FlushInstructionCache;
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_EXECUTE_READ, PAGE_READWRITE, VirtualAlloc, VirtualFree, VirtualProtect,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

#[cfg(target_arch = "x86_64")]
mod unwind;

use super::{ExecError, FunctionFrame};

/// Pages with machine code.
#[derive(Debug)]
pub(super) struct Pages {
    start: NonNull<c_void>,
    /// Bytes of the allocation.
    bytes: usize,
    /// The function table of the code. `None` if the code has no unwind information.
    #[cfg(target_arch = "x86_64")]
    table: Option<unwind::Table>,
}

// SAFETY: the memory is never written again, and only `Drop` frees it.
unsafe impl Send for Pages {}
// SAFETY: no method writes to the memory, and only `Drop` frees it.
unsafe impl Sync for Pages {}

impl Pages {
    /// Copies code into new executable memory, and registers the unwind information of its functions.
    pub(super) fn new(code: &[u8], frames: &[FunctionFrame]) -> Result<Self, ExecError> {
        #[cfg(target_arch = "x86_64")]
        let (image, table) = unwind::append(code, frames);
        #[cfg(not(target_arch = "x86_64"))]
        let (image, _) = (code, frames);
        let bytes = image.len().max(1);
        // SAFETY: the system chooses the address of the new memory.
        let start = unsafe { VirtualAlloc(ptr::null(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
        let start = NonNull::new(start).ok_or_else(|| ExecError::Memory(io::Error::last_os_error()))?;
        let mut pages = Self {
            start,
            bytes,
            #[cfg(target_arch = "x86_64")]
            table: None,
        };
        // SAFETY: the memory is new, writable, and at least as large as the image.
        unsafe { ptr::copy_nonoverlapping(image.as_ptr(), start.as_ptr().cast(), image.len()) };
        let mut old = 0;
        // SAFETY: this function allocated the memory and has not shared its address.
        if unsafe { VirtualProtect(start.as_ptr(), bytes, PAGE_EXECUTE_READ, &raw mut old) } == 0 {
            return Err(ExecError::Refused(io::Error::last_os_error()));
        }
        // SAFETY: the range is allocated.
        unsafe { FlushInstructionCache(GetCurrentProcess(), start.as_ptr(), bytes) };
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the memory holds the image with this table, and `Drop` removes the table before it frees them.
            pages.table = unsafe { unwind::Table::register(start, &table) };
        }
        Ok(pages)
    }

    /// Returns the address of the first byte of the code, and the number of allocated bytes.
    pub(super) fn range(&self) -> (*const u8, usize) {
        (self.start.as_ptr().cast::<u8>().cast_const(), self.bytes)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        drop(self.table.take());
        // SAFETY: `new` allocated this memory, and callers of the code keep `self` alive.
        unsafe { VirtualFree(self.start.as_ptr(), 0, MEM_RELEASE) };
    }
}
