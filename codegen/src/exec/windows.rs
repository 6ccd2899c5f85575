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
use windows_sys::core::BOOL;

mod unwind;

use super::{ExecError, FunctionFrame};

/// Pages with machine code.
#[derive(Debug)]
pub(super) struct Pages {
    start: NonNull<c_void>,
    /// Bytes of the allocation.
    bytes: usize,
    /// The function table of the code. `None` if the code has no unwind information.
    table: Option<unwind::Table>,
}

// SAFETY: the memory is never written again, and only `Drop` frees it.
unsafe impl Send for Pages {}
// SAFETY: no method writes to the memory, and only `Drop` frees it.
unsafe impl Sync for Pages {}

impl Pages {
    /// Copies code into new executable memory, and registers the unwind information of its functions.
    pub(super) fn new(code: &[u8], frames: &[FunctionFrame]) -> Result<Self, ExecError> {
        Self::protected_by(code, frames, |start, bytes| {
            let mut old = 0;
            // SAFETY: the caller allocated the memory and has not shared its address.
            unsafe { VirtualProtect(start.as_ptr(), bytes, PAGE_EXECUTE_READ, &raw mut old) }
        })
    }

    /// Does the same with a function that makes memory executable. The function returns 0 if it fails. A test replaces
    /// it, because a process cannot leave Arbitrary Code Guard.
    fn protected_by(
        code: &[u8],
        frames: &[FunctionFrame],
        protect: impl FnOnce(NonNull<c_void>, usize) -> BOOL,
    ) -> Result<Self, ExecError> {
        let (image, table) = unwind::append(code, frames);
        let bytes = image.len().max(1);
        // SAFETY: the system chooses the address of the new memory.
        let start = unsafe { VirtualAlloc(ptr::null(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
        let start = NonNull::new(start).ok_or_else(|| ExecError::Memory(io::Error::last_os_error()))?;
        let mut pages = Self { start, bytes, table: None };
        // SAFETY: the memory is new, writable, and at least as large as the image.
        unsafe { ptr::copy_nonoverlapping(image.as_ptr(), start.as_ptr().cast(), image.len()) };
        if protect(start, bytes) == 0 {
            return Err(ExecError::Refused(io::Error::last_os_error()));
        }
        // SAFETY: the range is allocated.
        unsafe { FlushInstructionCache(GetCurrentProcess(), start.as_ptr(), bytes) };
        // SAFETY: the memory holds the image with this table, and `Drop` removes the table before it frees them.
        pages.table = unsafe { unwind::Table::register(start, &table) };
        Ok(pages)
    }

    /// Returns the address of the first byte of the code, and the number of allocated bytes.
    pub(super) fn range(&self) -> (*const u8, usize) {
        (self.start.as_ptr().cast::<u8>().cast_const(), self.bytes)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        drop(self.table.take());
        // SAFETY: `new` allocated this memory, and callers of the code keep `self` alive.
        unsafe { VirtualFree(self.start.as_ptr(), 0, MEM_RELEASE) };
    }
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::Foundation::{ERROR_DYNAMIC_CODE_BLOCKED, SetLastError};

    use super::super::ExecError;
    use super::Pages;

    #[test]
    fn arbitrary_code_guard_refuses_executable_memory() {
        let refused = Pages::protected_by(&[0xC3], &[], |_, _| {
            // SAFETY: the call sets the error code of this thread.
            unsafe { SetLastError(ERROR_DYNAMIC_CODE_BLOCKED) };
            0
        });
        let Err(ExecError::Refused(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(error.raw_os_error(), Some(ERROR_DYNAMIC_CODE_BLOCKED as i32));
    }
}
