//! The life of the library on Unix.

use wgcl_api::types::process;

/// Whether a loader may close the library: on these targets its code stays mapped for its threads, because of a linker
/// option (`build.rs`).
pub(crate) const STAYS_LOADED: bool = cfg!(not(target_vendor = "apple"));

/// Registers a fork handler, so that forked children start their own threads.
pub(crate) fn watch() {
    unsafe extern "C" fn begin_child() {
        process::begin_child();
    }

    // SAFETY: the function may be called in a forked child: it writes an atomic. The library is never unloaded before.
    let result = unsafe { libc::pthread_atfork(None, None, Some(begin_child)) };
    if result != 0 {
        tracing::warn!("cannot register a fork handler (error {result}): OpenCL does not work in forked children");
    }
}
