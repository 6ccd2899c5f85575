//! The thread that runs the application's callbacks.
//!
//! Callbacks do not run on a device's thread, because a callback that blocks would stop the device that it waits for.
//! The specification forbids blocking calls in callbacks, but applications make them. One thread runs all callbacks in
//! the order in which they were scheduled. If that thread cannot be created, callbacks run on the threads that schedule
//! them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use parking_lot::Mutex;

use crate::types::process::PerProcess;

/// A callback with its arguments.
pub type Job = Box<dyn FnOnce() + Send>;

/// Reports an error to the application, as text and code: the Rust form of pfn_notify. It is called without a lock
/// held.
pub type Notify = Arc<dyn Fn(&str, i32) + Send + Sync>;

/// The queue of the thread; `None` if the system refused to create it.
static THREAD: Mutex<PerProcess<Option<Sender<Job>>>> = Mutex::new(PerProcess::new());

thread_local! {
    /// Whether this thread runs a callback.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling code runs in a callback.
pub(crate) fn is_in_callback() -> bool {
    IN_CALLBACK.get()
}

fn run(job: Job) {
    let previous = IN_CALLBACK.replace(true);
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("a callback panicked");
    }
    IN_CALLBACK.set(previous);
}

fn start() -> Option<Sender<Job>> {
    let (sender, receiver) = channel::<Job>();
    let thread = std::thread::Builder::new().name("wgcl-callbacks".to_owned()).spawn(move || receiver.into_iter().for_each(run));
    match thread {
        Ok(_) => Some(sender),
        Err(error) => {
            tracing::error!("cannot start the callback thread: {error}; callbacks run on the threads that complete events");
            None
        }
    }
}

/// Schedules a callback after the callbacks that were scheduled before. Runs it on the calling thread if there is no
/// callback thread.
pub fn schedule(job: Job) {
    let refused = match THREAD.lock().get_or_insert_with(start) {
        Some(jobs) => jobs.send(job).err().map(|refused| refused.0),
        None => Some(job),
    };
    if let Some(job) = refused {
        run(job);
    }
}
