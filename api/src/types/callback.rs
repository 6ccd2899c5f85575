//! The thread that runs the application's callbacks.
//!
//! Callbacks never run on a device's thread: a callback that blocks would stop the device that it waits for. The
//! specification forbids that, but applications do it. One thread runs them in the order of their events.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

/// A callback with everything that it needs.
pub type Job = Box<dyn FnOnce() + Send>;

/// Reports an error to the application, as text and code: the Rust form of pfn_notify. It is called without a lock
/// held.
pub type Notify = Arc<dyn Fn(&str, i32) + Send + Sync>;

static THREAD: OnceLock<Option<Mutex<Sender<Job>>>> = OnceLock::new();

thread_local! {
    /// Whether this thread runs a callback.
    static HERE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the caller is called by a callback.
pub(crate) fn is_here() -> bool {
    HERE.get()
}

fn run(job: Job) {
    let before = HERE.replace(true);
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("a callback panicked");
    }
    HERE.set(before);
}

/// Runs a callback soon, after those that were scheduled before it.
pub fn schedule(job: Job) {
    let thread = THREAD.get_or_init(|| {
        let (sender, receiver) = channel::<Job>();
        std::thread::Builder::new()
            .name("wgcl-callbacks".to_owned())
            .spawn(move || receiver.into_iter().for_each(run))
            .map_err(|error| {
                tracing::error!("cannot start the callback thread: {error}; callbacks run on the threads that complete events")
            })
            .ok()
            .map(|_| Mutex::new(sender))
    });
    match thread {
        Some(sender) => {
            if let Err(refused) = sender.lock().send(job) {
                run(refused.0);
            }
        }
        None => run(job),
    }
}
