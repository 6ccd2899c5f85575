//! Memory that can be executed.
//!
//! Memory is written and then made executable, never both at once. Where the system refuses to make written memory
//! executable, an anonymous file is mapped twice: once to be written, once to be executed.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use crate::mach::code::Code;

/// Why code cannot be made executable.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// There is no memory.
    #[error("no memory for code: {0}")]
    Memory(#[source] io::Error),
    /// Neither way to executable memory is allowed.
    #[error("the system refuses executable memory: {0}")]
    Refused(#[source] io::Error),
}

/// Code in memory that can be executed.
#[derive(Debug)]
pub struct Executable {
    start: NonNull<c_void>,
    bytes: usize,
    entries: Vec<u32>,
}

// SAFETY: the memory is never written again and nobody else unmaps it.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    /// Puts code into memory.
    ///
    /// # Errors
    /// The system has no memory, or lets none be executed.
    pub fn new(code: &Code) -> Result<Self, ExecError> {
        Self::of_bytes(&code.bytes, &code.entries)
    }

    /// The same for code that was kept as bytes; `entries` are those at which its functions begin.
    ///
    /// # Errors
    /// As [`Executable::new`].
    pub fn of_bytes(code: &[u8], entries: &[u32]) -> Result<Self, ExecError> {
        let (start, bytes) = pages::place(code)?;
        Ok(Self { start, bytes, entries: entries.to_vec() })
    }

    /// Where a function of the module begins.
    pub fn entry(&self, function: usize) -> Option<*const u8> {
        let offset = *self.entries.get(function)?;
        Some(self.start.as_ptr().cast::<u8>().cast_const().wrapping_add(offset as usize))
    }

    /// The first byte of the code, and how many bytes are mapped.
    pub fn range(&self) -> (*const u8, usize) {
        (self.start.as_ptr().cast::<u8>().cast_const(), self.bytes)
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and who calls into it keeps it alive.
        unsafe { pages::release(self.start, self.bytes) };
    }
}

/// Mappings of Unix.
#[cfg(unix)]
mod pages {
    use std::ffi::c_void;
    use std::io;
    use std::ptr::{self, NonNull};

    use super::ExecError;

    /// Puts code into a mapping of its own that may be executed: where, and how many bytes.
    pub(super) fn place(code: &[u8]) -> Result<(NonNull<c_void>, usize), ExecError> {
        // SAFETY: asks for the size of a page only.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let bytes = code.len().max(1).next_multiple_of(page);
        let start = protected(code, bytes).or_else(|error| match error {
            ExecError::Refused(_) => twice(code, bytes),
            error => Err(error),
        })?;
        Ok((start, bytes))
    }

    /// Gives a mapping back.
    ///
    /// # Safety
    /// It was made by [`place`], and nothing runs in it or will.
    pub(super) unsafe fn release(start: NonNull<c_void>, bytes: usize) {
        // SAFETY: what the caller promises.
        unsafe { libc::munmap(start.as_ptr(), bytes) };
    }

    fn map(bytes: usize, protection: i32, flags: i32, file: i32) -> io::Result<NonNull<c_void>> {
        // SAFETY: a new mapping at an address that the system chooses.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start).ok_or_else(io::Error::last_os_error)
    }

    /// Written, then made executable.
    fn protected(code: &[u8], bytes: usize) -> Result<NonNull<c_void>, ExecError> {
        let start =
            map(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).map_err(ExecError::Memory)?;
        // SAFETY: the mapping is new, has so many bytes and may be written.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), start.as_ptr().cast(), code.len()) };
        // SAFETY: the mapping is ours and nobody knows it yet.
        if unsafe { libc::mprotect(start.as_ptr(), bytes, libc::PROT_READ | libc::PROT_EXEC) } == 0 {
            return Ok(start);
        }
        let error = io::Error::last_os_error();
        // SAFETY: the mapping is ours and nobody knows it.
        unsafe { libc::munmap(start.as_ptr(), bytes) };
        Err(ExecError::Refused(error))
    }

    /// A file without name, mapped to be written and mapped to be executed.
    #[cfg(target_os = "linux")]
    fn twice(code: &[u8], bytes: usize) -> Result<NonNull<c_void>, ExecError> {
        use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
        // SAFETY: the name is a string that ends in a zero.
        let file = unsafe { libc::memfd_create(c"code".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(ExecError::Refused(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and nobody else closes it.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        let size = libc::off_t::try_from(bytes).map_err(|error| ExecError::Memory(io::Error::other(error)))?;
        // SAFETY: sets the size of a file that is ours.
        if unsafe { libc::ftruncate(file.as_raw_fd(), size) } != 0 {
            return Err(ExecError::Memory(io::Error::last_os_error()));
        }
        let written = map(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd()).map_err(ExecError::Memory)?;
        // SAFETY: the mapping is new, has so many bytes and may be written; then it is unmapped, before anybody knows
        // it.
        unsafe {
            ptr::copy_nonoverlapping(code.as_ptr(), written.as_ptr().cast(), code.len());
            libc::munmap(written.as_ptr(), bytes);
        }
        map(bytes, libc::PROT_READ | libc::PROT_EXEC, libc::MAP_SHARED, file.as_raw_fd()).map_err(ExecError::Refused)
    }

    #[cfg(not(target_os = "linux"))]
    fn twice(_: &[u8], _: usize) -> Result<NonNull<c_void>, ExecError> {
        Err(ExecError::Refused(io::ErrorKind::Unsupported.into()))
    }

    #[cfg(test)]
    mod tests {
        use super::super::ExecError;
        use super::{protected, twice};

        /// `mov eax, 42; ret`
        const CODE: [u8; 6] = [0xB8, 42, 0, 0, 0, 0xC3];

        #[test]
        fn both_ways_give_memory_that_runs() -> Result<(), ExecError> {
            for way in [protected, twice] {
                let start = way(&CODE, 4096)?;
                // SAFETY: the code takes nothing, gives a number and is mapped.
                let function: extern "C" fn() -> i32 = unsafe { std::mem::transmute(start.as_ptr()) };
                assert_eq!(function(), 42);
                // SAFETY: the mapping is ours and not used any more.
                unsafe { libc::munmap(start.as_ptr(), 4096) };
            }
            Ok(())
        }
    }
}

/// Elsewhere there is no way yet.
#[cfg(not(unix))]
mod pages {
    use std::ffi::c_void;
    use std::io;
    use std::ptr::NonNull;

    use super::ExecError;

    /// Refuses.
    pub(super) fn place(_: &[u8]) -> Result<(NonNull<c_void>, usize), ExecError> {
        Err(ExecError::Refused(io::ErrorKind::Unsupported.into()))
    }

    /// Nothing was placed.
    ///
    /// # Safety
    /// None.
    pub(super) unsafe fn release(_: NonNull<c_void>, _: usize) {}
}
