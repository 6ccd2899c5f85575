//! Lifetime of the library on Unix.

use wgcl_api::types::process;

/// Whether a loader may close the library. If true, a linker option (`icd/build/main.rs`) keeps the code mapped for the
/// threads of the library.
pub(crate) const STAYS_LOADED: bool = cfg!(not(target_vendor = "apple"));

/// Whether the process has more rights than the user who started it, as a program with the setuid bit has.
pub(crate) fn has_elevated_rights() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: the call reads a value that the kernel passed to the process.
    let is_elevated = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: the calls have no preconditions.
    let is_elevated = unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() };
    is_elevated
}

/// Registers a fork handler, so that forked children start their own threads.
pub(crate) fn watch() {
    unsafe extern "C" fn begin_child() {
        process::begin_child();
    }

    // SAFETY: `begin_child` may be called in a forked child, because it only writes an atomic. The library is never
    // unloaded.
    let result = unsafe { libc::pthread_atfork(None, None, Some(begin_child)) };
    if result != 0 {
        tracing::warn!("cannot register a fork handler (error {result}): OpenCL does not work in forked children");
    }
}
