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

/// The call that this thread is in is about an object of this listener's context. The first counts.
pub(crate) fn concern(listener: &Notify) {
    // A thread that exits makes no further calls.
    let _ = CONCERNED.try_with(|concerned| {
        concerned.borrow_mut().get_or_insert_with(|| listener.clone());
    });
}

/// The call returns an error. Nothing may be locked: the application's function is called.
pub(crate) fn returned(name: &str, error: &Error) {
    let listener = CONCERNED.try_with(RefCell::take).ok().flatten();
    if failure::has_returned() {
        return;
    }
    if let Some(listener) = listener {
        listener(&format!("{name}: {error}"), error.code());
    }
}

/// The call is at its end.
pub(crate) fn end() {
    let _ = CONCERNED.try_with(RefCell::take);
    failure::has_returned();
}
