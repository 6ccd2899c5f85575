//! Error reports to applications: each error that a call returns is passed to the context's pfn_notify, on the thread
//! of the call.
//!
//! "This callback function will be used by the OpenCL implementation to report information on errors during context
//! creation as well as errors that occur at runtime in this context" (OpenCL API 4.4). The context is that of the first
//! object that the call received. If a command fails, its event reports the failure immediately. A call that returns
//! this failure later does not report it again.

use std::cell::RefCell;

use wgcl_api::commands::failure;
use wgcl_api::types::callback::Notify;
use wgcl_api::types::error::Error;

thread_local! {
    /// The callback that receives the errors of the current call on this thread.
    static LISTENER: RefCell<Option<Notify>> = const { RefCell::new(None) };
}

/// Sets the listener of the current call: the callback of the context of an object of the call. Does nothing if the
/// call already has a listener.
pub(crate) fn set_listener(listener: &Notify) {
    // The access fails only while the thread ends. OpenCL calls in destructors of thread-local values then have no
    // listener.
    let _ = LISTENER.try_with(|current| {
        current.borrow_mut().get_or_insert_with(|| listener.clone());
    });
}

/// Reports the error of a call to its listener, which calls the application's function. The caller must hold no lock.
pub(crate) fn report(name: &str, error: &Error) {
    let listener = LISTENER.try_with(RefCell::take).ok().flatten();
    if failure::take_returned() {
        return;
    }
    if let Some(listener) = listener {
        listener(&format!("{name}: {error}"), error.code());
    }
}

/// Ends the current call: removes its listener.
pub(crate) fn end_call() {
    let _ = LISTENER.try_with(RefCell::take);
    failure::take_returned();
}
