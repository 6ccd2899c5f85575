//! Executable memory for machine code.
//!
//! Memory is written first and made executable afterwards, never both at once. Some systems refuse to make written
//! memory executable. On these systems, an anonymous file is mapped twice: once writable, once executable.
//!
//! AArch64 processors need not keep the instruction cache coherent with stores. [`cache`] makes new code visible.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use crate::mach::code::Code;

/// The reason why code cannot be made executable.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The system cannot allocate memory.
    #[error("cannot allocate memory for machine code: {0}")]
    Memory(#[source] io::Error),
    /// The system refuses every method to create executable memory, or there is no implementation for the system.
    #[error("cannot make memory executable: {0}")]
    Refused(#[source] io::Error),
}

/// Machine code in executable memory.
#[derive(Debug)]
pub struct Executable {
    start: NonNull<c_void>,
    bytes: usize,
    entries: Vec<u32>,
}

// SAFETY: the memory is never written again, and only `Drop` unmaps it.
unsafe impl Send for Executable {}
// SAFETY: no method writes to the memory, and only `Drop` unmaps it.
unsafe impl Sync for Executable {}

impl Executable {
    /// Copies code into executable memory.
    ///
    /// # Errors
    /// The system cannot allocate memory, or refuses to make it executable.
    pub fn new(code: &Code) -> Result<Self, ExecError> {
        Self::of_bytes(&code.bytes, &code.entries)
    }

    /// Copies code from its bytes. `entries` are the offsets of its functions in bytes.
    ///
    /// # Errors
    /// Fails under the same conditions as [`Executable::new`].
    pub fn of_bytes(code: &[u8], entries: &[u32]) -> Result<Self, ExecError> {
        let (start, bytes) = pages::place(code)?;
        Ok(Self { start, bytes, entries: entries.to_vec() })
    }

    /// The address of a function of the module, or `None` if the index is out of range.
    pub fn entry(&self, function: usize) -> Option<*const u8> {
        let offset = *self.entries.get(function)?;
        Some(self.start.as_ptr().cast::<u8>().cast_const().wrapping_add(offset as usize))
    }

    /// The first byte of the code, and the number of mapped bytes.
    pub fn range(&self) -> (*const u8, usize) {
        (self.start.as_ptr().cast::<u8>().cast_const(), self.bytes)
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: `place` created this mapping, and callers of the code keep `self` alive.
        unsafe { pages::release(self.start, self.bytes) };
    }
}

/// Coherence of instruction caches.
#[cfg(unix)]
mod cache {
    use std::ffi::c_void;
    use std::ptr::NonNull;

    /// Makes new code visible to the instruction caches of all processors. `written` and `executed` are addresses of
    /// the same memory.
    ///
    /// # Safety
    /// Both ranges must be readable.
    #[cfg(all(target_arch = "aarch64", not(target_vendor = "apple")))]
    pub(super) unsafe fn publish(written: NonNull<c_void>, executed: NonNull<c_void>, bytes: usize) {
        use std::arch::asm;
        // Fields of CTR_EL0, the cache type register of the Arm Architecture Reference Manual.
        const NO_DATA_CLEAN: u64 = 1 << 28;
        const NO_INSTRUCTION_INVALIDATION: u64 = 1 << 29;
        let types: u64;
        // SAFETY: the instruction only reads a register that user code may read.
        unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
        let lines = |start: NonNull<c_void>, log2_words: u64| {
            let size = 4_usize << log2_words;
            let start = start.as_ptr().addr();
            (start & !(size - 1)..start + bytes).step_by(size)
        };
        if types & NO_DATA_CLEAN == 0 {
            for line in lines(written, types >> 16 & 15) {
                // SAFETY: the caller guarantees that the memory is readable. Its contents do not change.
                unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
            }
        }
        // SAFETY: barriers change no memory.
        unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
        if types & NO_INSTRUCTION_INVALIDATION == 0 {
            for line in lines(executed, types & 15) {
                // SAFETY: the caller guarantees that the memory is readable. Its contents do not change.
                unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
            }
        }
        // SAFETY: barriers change no memory.
        unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
    }

    /// Makes written code visible to the instruction caches of all processors.
    ///
    /// # Safety
    /// The range must be readable.
    #[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
    pub(super) unsafe fn publish(_: NonNull<c_void>, executed: NonNull<c_void>, bytes: usize) {
        unsafe extern "C" {
            fn sys_icache_invalidate(start: *mut c_void, bytes: usize);
        }
        // SAFETY: the caller guarantees that the memory is readable.
        unsafe { sys_icache_invalidate(executed.as_ptr(), bytes) };
    }

    /// Does nothing: the instruction caches of x86-64 processors are coherent with stores.
    ///
    /// # Safety
    /// Always safe.
    #[cfg(not(target_arch = "aarch64"))]
    pub(super) unsafe fn publish(_: NonNull<c_void>, _: NonNull<c_void>, _: usize) {}
}

/// Executable mappings on Unix.
#[cfg(unix)]
mod pages {
    use std::ffi::c_void;
    use std::io;
    use std::ptr::{self, NonNull};

    use super::ExecError;

    /// Copies code into a new executable mapping. Returns its address and its size in bytes.
    pub(super) fn place(code: &[u8]) -> Result<(NonNull<c_void>, usize), ExecError> {
        // SAFETY: the call only queries the page size.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let bytes = code.len().max(1).next_multiple_of(page);
        let start = protected(code, bytes).or_else(|error| match error {
            ExecError::Refused(_) => double_mapped(code, bytes),
            error => Err(error),
        })?;
        Ok((start, bytes))
    }

    /// Unmaps memory.
    ///
    /// # Safety
    /// The mapping must come from [`place`], and no code in it may run now or later.
    pub(super) unsafe fn release(start: NonNull<c_void>, bytes: usize) {
        // SAFETY: the caller guarantees it.
        unsafe { libc::munmap(start.as_ptr(), bytes) };
    }

    fn map(bytes: usize, protection: i32, flags: i32, file: i32) -> io::Result<NonNull<c_void>> {
        // SAFETY: the system chooses the address of the new mapping.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start).ok_or_else(io::Error::last_os_error)
    }

    /// Writes the code into an anonymous mapping, and then makes the mapping executable.
    fn protected(code: &[u8], bytes: usize) -> Result<NonNull<c_void>, ExecError> {
        let start =
            map(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).map_err(ExecError::Memory)?;
        // SAFETY: the mapping is new, writable, and at least as large as the code.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), start.as_ptr().cast(), code.len()) };
        // SAFETY: this function created the mapping and has not shared its address.
        if unsafe { libc::mprotect(start.as_ptr(), bytes, libc::PROT_READ | libc::PROT_EXEC) } == 0 {
            // SAFETY: the range is mapped and readable.
            unsafe { super::cache::publish(start, start, code.len()) };
            return Ok(start);
        }
        let error = io::Error::last_os_error();
        // SAFETY: this function created the mapping and has not shared its address.
        unsafe { libc::munmap(start.as_ptr(), bytes) };
        Err(ExecError::Refused(error))
    }

    /// Maps an anonymous file twice: writable for the copy, and executable.
    #[cfg(target_os = "linux")]
    fn double_mapped(code: &[u8], bytes: usize) -> Result<NonNull<c_void>, ExecError> {
        use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
        // SAFETY: the name ends in a zero byte.
        let file = unsafe { libc::memfd_create(c"code".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(ExecError::Refused(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and has no other owner.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        let size = libc::off_t::try_from(bytes).map_err(|error| ExecError::Memory(io::Error::other(error)))?;
        // SAFETY: the call sets the size of a file that this function owns.
        if unsafe { libc::ftruncate(file.as_raw_fd(), size) } != 0 {
            return Err(ExecError::Memory(io::Error::last_os_error()));
        }
        let written = map(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd()).map_err(ExecError::Memory)?;
        // SAFETY: the mapping is new, writable, and at least as large as the code.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), written.as_ptr().cast(), code.len()) };
        let start = map(bytes, libc::PROT_READ | libc::PROT_EXEC, libc::MAP_SHARED, file.as_raw_fd()).map_err(ExecError::Refused);
        if let Ok(start) = start {
            // SAFETY: both ranges are mapped and readable.
            unsafe { super::cache::publish(written, start, code.len()) };
        }
        // SAFETY: this function created the mapping, and no other code has its address.
        unsafe { libc::munmap(written.as_ptr(), bytes) };
        start
    }

    #[cfg(not(target_os = "linux"))]
    fn double_mapped(_: &[u8], _: usize) -> Result<NonNull<c_void>, ExecError> {
        Err(ExecError::Refused(io::ErrorKind::Unsupported.into()))
    }

    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    mod tests {
        use super::super::ExecError;
        use super::{double_mapped, protected};

        /// `mov eax, 42; ret`
        #[cfg(target_arch = "x86_64")]
        const CODE: [u8; 6] = [0xB8, 42, 0, 0, 0, 0xC3];
        /// `mov w0, #42; ret`
        #[cfg(target_arch = "aarch64")]
        const CODE: [u8; 8] = [0x40, 0x05, 0x80, 0x52, 0xC0, 0x03, 0x5F, 0xD6];

        #[test]
        fn both_mapping_methods_create_executable_memory() -> Result<(), ExecError> {
            for map in [protected, double_mapped] {
                let start = map(&CODE, 4096)?;
                // SAFETY: the code is mapped, takes no parameters and returns an `i32`.
                let function: extern "C" fn() -> i32 = unsafe { std::mem::transmute(start.as_ptr()) };
                assert_eq!(function(), 42);
                // SAFETY: `map` created the mapping, and it is not used again.
                unsafe { libc::munmap(start.as_ptr(), 4096) };
            }
            Ok(())
        }
    }
}

/// Systems other than Unix have no implementation yet.
#[cfg(not(unix))]
mod pages {
    use std::ffi::c_void;
    use std::io;
    use std::ptr::NonNull;

    use super::ExecError;

    pub(super) fn place(_: &[u8]) -> Result<(NonNull<c_void>, usize), ExecError> {
        Err(ExecError::Refused(io::ErrorKind::Unsupported.into()))
    }

    /// Never called, as `place` always fails.
    ///
    /// # Safety
    /// Always safe.
    pub(super) unsafe fn release(_: NonNull<c_void>, _: usize) {}
}
