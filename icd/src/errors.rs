//! Error reports to applications: each error that a call returns is passed to the context's pfn_notify, on the thread
//! of the call.
//!
//! "This callback function will be used by the OpenCL implementation to report information on errors during context
//! creation as well as errors that occur at runtime in this context" (OpenCL API 4.4). The context is that of the
//! first object that the call received. The event reports a failure of a command when it happens; a call that returns
//! such a failure does not report it again.

use std::cell::RefCell;

use wgcl_api::commands::failure;
use wgcl_api::types::callback::Notify;
use wgcl_api::types::error::Error;

thread_local! {
    /// The callback that receives the errors of the current call on this thread.
    static CONCERNED: RefCell<Option<Notify>> = const { RefCell::new(None) };
}

/// Records the listener of the context of an object in the current call. Only the first object counts.
pub(crate) fn concern(listener: &Notify) {
    // A thread that exits makes no further calls.
    let _ = CONCERNED.try_with(|concerned| {
        concerned.borrow_mut().get_or_insert_with(|| listener.clone());
    });
}

/// Reports the error of a call. No lock may be held, because this calls the application's function.
pub(crate) fn returned(name: &str, error: &Error) {
    let listener = CONCERNED.try_with(RefCell::take).ok().flatten();
    if failure::has_returned() {
        return;
    }
    if let Some(listener) = listener {
        listener(&format!("{name}: {error}"), error.code());
    }
}

/// Ends the current call.
pub(crate) fn end() {
    let _ = CONCERNED.try_with(RefCell::take);
    failure::has_returned();
}
