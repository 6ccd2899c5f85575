//! Keeps the library loaded until the process ends, detects forked children, and registers exit handlers.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{STAYS_LOADED, has_elevated_rights, watch};
#[cfg(windows)]
pub(crate) use windows::{STAYS_LOADED, has_elevated_rights, library_folder, watch};

/// Returns the folder that contains the library. Only Windows needs it.
#[cfg(unix)]
pub(crate) const fn library_folder() -> Option<std::path::PathBuf> {
    None
}

/// Registers a function that the C library calls when the process ends.
pub(crate) fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function may be called at the end of the process, because it does not wait for locks of threads that
    // were ended. The library is not unloaded before then.
    let _ = unsafe { libc::atexit(function) };
}
