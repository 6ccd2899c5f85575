//! What applications do that OpenCL leaves undefined, or that they will want to know of: told on standard error where kernels are checked (`WGCL_CHECK`), once each.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::callback;
use crate::options::Options;

/// A call waits for commands. Callbacks must not: "The behavior of calling expensive system routines, OpenCL APIs to create contexts or command-queues, or blocking OpenCL APIs in a
/// callback is undefined" (clSetEventCallback, OpenCL API 3.0, 5.11). Here it keeps other callbacks waiting, which may be what it waits for.
pub(crate) fn waits() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if callback::is_here() && Options::get().is_checked() && !TOLD.swap(true, Ordering::Relaxed) {
        eprintln!("wgcl: a callback makes a call that waits for commands, which OpenCL leaves undefined");
    }
}
