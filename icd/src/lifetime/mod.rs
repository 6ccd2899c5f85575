//! The life of the library in its process: it stays loaded, knows forked children, and runs code at the end.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{STAYS_LOADED, watch};
#[cfg(windows)]
pub(crate) use windows::{STAYS_LOADED, library_folder, watch};

/// Returns the folder that contains the library. Only Windows needs it.
#[cfg(unix)]
pub(crate) const fn library_folder() -> Option<std::path::PathBuf> {
    None
}

/// Calls a function at the end of the process.
pub(crate) fn at_exit(function: extern "C" fn()) {
    // SAFETY: the function may be called at the end of the process: it does not wait for locks of threads that were
    // ended, and the library is never unloaded before.
    let _ = unsafe { libc::atexit(function) };
}
