//! Warnings about undefined or suspicious use of the API. They are printed on standard error if `WGCL_CHECK` is set,
//! each kind once.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::at_exit;
use crate::options::Options;
use crate::types::callback;

/// Reports a call that waits for commands in a callback. Callbacks must not do that: "The behavior of calling expensive
/// system routines, OpenCL APIs to create contexts or command-queues, or blocking OpenCL APIs in a callback is
/// undefined" (clSetEventCallback, OpenCL API 3.0, 5.11). The call delays other callbacks, and may wait for one of
/// them.
pub(crate) fn check_blocking_call() {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if callback::is_in_callback() && Options::get().is_checked() && !REPORTED.swap(true, Ordering::Relaxed) {
        eprintln!("wgcl: a callback calls a blocking OpenCL function: the behaviour is undefined");
    }
}

/// Reports a buffer that loses its last reference before the commands that use it are complete. The commands keep the
/// buffer alive, but not the application's memory that it may wrap (CL_MEM_USE_HOST_PTR).
pub(crate) fn check_release(users: &BufferUsers, size: u64) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if Options::get().is_checked() && users.has_incomplete_commands() && !REPORTED.swap(true, Ordering::Relaxed) {
        eprintln!("wgcl: a buffer of {} bytes was released before the commands that use it were complete", size);
    }
}

/// A command that this module checks for completion. Events implement it.
pub(crate) trait TrackedCommand: std::fmt::Debug + Send + Sync {
    fn is_done(&self) -> bool;
}

/// The commands that use a buffer's memory, if they are tracked.
#[derive(Debug, Default)]
pub(crate) struct BufferUsers(Mutex<Vec<Weak<dyn TrackedCommand>>>);

impl BufferUsers {
    pub(crate) fn add(&self, event: &Arc<impl TrackedCommand + 'static>) {
        let mut events = self.0.lock();
        // Removes completed commands periodically, so that adding a command has constant amortised cost.
        if events.len().is_power_of_two() {
            events.retain(|event| event.upgrade().is_some_and(|event| !event.is_done()));
        }
        events.push(Arc::downgrade(event) as Weak<dyn TrackedCommand>);
    }

    fn has_incomplete_commands(&self) -> bool {
        self.0.lock().iter().any(|event| event.upgrade().is_some_and(|event| !event.is_done()))
    }
}

/// The numbers of a queue's last enqueued command and of the last command that the application has waited for. They are
/// kept even without `WGCL_CHECK`: the cost is one atomic store per command and one atomic maximum per wait.
#[derive(Debug, Default)]
pub(crate) struct WaitProgress {
    last_enqueued: AtomicU64,
    last_awaited: AtomicU64,
}

/// The number of released queues whose last commands were never waited for.
static UNAWAITED: AtomicUsize = AtomicUsize::new(0);
/// The existing queues.
static QUEUES: Mutex<Vec<Weak<WaitProgress>>> = Mutex::new(Vec::new());

impl WaitProgress {
    /// Records that a command with this number was enqueued.
    pub(crate) fn record_enqueued(&self, number: u64) {
        self.last_enqueued.store(number, Ordering::Relaxed);
    }

    /// Records that the application waits for the command with this number, or receives its status.
    pub(crate) fn record_wait(&self, number: u64) {
        self.last_awaited.fetch_max(number, Ordering::Relaxed);
    }

    /// Records that the application waits for all commands.
    pub(crate) fn record_wait_for_all(&self) {
        self.record_wait(self.last_enqueued.load(Ordering::Relaxed));
    }

    /// Whether the application has not waited for the last command with results.
    pub(crate) fn has_unawaited(&self) -> bool {
        self.last_awaited.load(Ordering::Relaxed) < self.last_enqueued.load(Ordering::Relaxed)
    }
}

impl Drop for WaitProgress {
    fn drop(&mut self) {
        if self.has_unawaited() {
            UNAWAITED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Registers a queue for the check at process exit.
pub(crate) fn register_queue(queue: &Arc<WaitProgress>) {
    if Options::get().is_checked() {
        let mut queues = QUEUES.lock();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Arc::downgrade(queue));
    }
}

/// Called at process exit: reports queues with commands that the application did not wait for. The
/// results of these commands are unknown.
pub fn report_unawaited_queues() {
    let Some(queues) = at_exit::lock(&QUEUES) else {
        return at_exit::print_lost("the number of queues that the application did not wait for");
    };
    let queues_without_wait = queues.iter().filter_map(Weak::upgrade).filter(|queue| queue.has_unawaited()).count();
    let count = queues_without_wait + UNAWAITED.load(Ordering::Relaxed);
    if count > 0 {
        let queues = if count == 1 { "queue" } else { "queues" };
        at_exit::print(format_args!(
            "wgcl: the application did not wait for the last commands of {count} {queues}: the results of these commands are unknown\n"
        ));
    }
}
