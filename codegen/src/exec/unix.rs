//! Executable mappings on Unix.

use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};

use super::{ExecError, FunctionFrame, cache};

/// A mapping with machine code.
#[derive(Debug)]
pub(super) struct Pages {
    start: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: the memory is never written again, and only `Drop` unmaps it.
unsafe impl Send for Pages {}
// SAFETY: no method writes to the memory, and only `Drop` unmaps it.
unsafe impl Sync for Pages {}

impl Pages {
    /// Copies code into a new executable mapping. The frames have no use on Unix.
    pub(super) fn new(code: &[u8], _: &[FunctionFrame]) -> Result<Self, ExecError> {
        // SAFETY: the call only queries the page size.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let bytes = code.len().max(1).next_multiple_of(page);
        let start = protected(code, bytes).or_else(|error| match error {
            ExecError::Refused(_) => fallback_mapping(code, bytes),
            error => Err(error),
        })?;
        Ok(Self { start, bytes })
    }

    /// Returns the address of the first byte of the code, and the number of mapped bytes.
    pub(super) fn range(&self) -> (*const u8, usize) {
        (self.start.as_ptr().cast::<u8>().cast_const(), self.bytes)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `new` created this mapping, and callers of the code keep `self` alive.
        unsafe { libc::munmap(self.start.as_ptr(), self.bytes) };
    }
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
    let start = map(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).map_err(ExecError::Memory)?;
    // SAFETY: the mapping is new, writable, and at least as large as the code.
    unsafe { ptr::copy_nonoverlapping(code.as_ptr(), start.as_ptr().cast(), code.len()) };
    // SAFETY: this function created the mapping and has not shared its address.
    if unsafe { libc::mprotect(start.as_ptr(), bytes, libc::PROT_READ | libc::PROT_EXEC) } == 0 {
        // SAFETY: the range is mapped and readable.
        unsafe { cache::publish(start, start, code.len()) };
        return Ok(start);
    }
    let error = io::Error::last_os_error();
    // SAFETY: this function created the mapping and has not shared its address.
    unsafe { libc::munmap(start.as_ptr(), bytes) };
    Err(ExecError::Refused(error))
}

/// Maps an anonymous file twice: writable for the copy, and executable.
#[cfg(target_os = "linux")]
fn fallback_mapping(code: &[u8], bytes: usize) -> Result<NonNull<c_void>, ExecError> {
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
        unsafe { cache::publish(written, start, code.len()) };
    }
    // SAFETY: this function created the mapping, and no other code has its address.
    unsafe { libc::munmap(written.as_ptr(), bytes) };
    start
}

/// Writes the code into a mapping with `MAP_JIT`. A process with the hardened runtime may only execute such mappings,
/// and needs the entitlement com.apple.security.cs.allow-jit. On AArch64, the calling thread sees these mappings
/// either as writable or as executable.
#[cfg(target_os = "macos")]
fn fallback_mapping(code: &[u8], bytes: usize) -> Result<NonNull<c_void>, ExecError> {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_JIT;
    let start = map(bytes, protection, flags, -1).map_err(ExecError::Refused)?;
    // SAFETY: the thread executes no code in `MAP_JIT` mappings before the second call. The mapping is new, and at
    // least as large as the code.
    unsafe {
        #[cfg(target_arch = "aarch64")]
        libc::pthread_jit_write_protect_np(0);
        ptr::copy_nonoverlapping(code.as_ptr(), start.as_ptr().cast(), code.len());
        #[cfg(target_arch = "aarch64")]
        libc::pthread_jit_write_protect_np(1);
        cache::publish(start, start, code.len());
    }
    Ok(start)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn fallback_mapping(_: &[u8], _: usize) -> Result<NonNull<c_void>, ExecError> {
    Err(ExecError::Refused(io::ErrorKind::Unsupported.into()))
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::{ExecError, fallback_mapping, protected};

    /// `mov eax, 42; ret`
    #[cfg(target_arch = "x86_64")]
    const CODE: [u8; 6] = [0xB8, 42, 0, 0, 0, 0xC3];
    /// `mov w0, #42; ret`
    #[cfg(target_arch = "aarch64")]
    const CODE: [u8; 8] = [0x40, 0x05, 0x80, 0x52, 0xC0, 0x03, 0x5F, 0xD6];

    #[test]
    fn both_mapping_methods_create_executable_memory() -> Result<(), ExecError> {
        for map in [protected, fallback_mapping] {
            let start = map(&CODE, 4096)?;
            // SAFETY: the code is mapped, takes no parameters and returns an `i32`.
            let function: extern "C" fn() -> i32 = unsafe { std::mem::transmute(start.as_ptr()) };
            assert_eq!(function(), 42);
            // SAFETY: this test created the mapping, and it is not used again.
            unsafe { libc::munmap(start.as_ptr(), 4096) };
        }
        Ok(())
    }
}
