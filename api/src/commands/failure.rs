//! Failures of commands: which commands they affect, and for how long (OpenCL API 3.2.1, 5.11 to 5.15).
//!
//! "Unsuccessful completion results in abnormal termination of the command which is indicated by setting the event
//! status to a negative value. In this case, the command-queue associated with the abnormally terminated command and
//! all other command-queues in the same context may no longer be available and their behavior is
//! implementation-defined." Here queues stay usable, but commands that depend on a failed command fail:
//!
//! 1. A command whose wait list has a failed event is terminated, whenever it was enqueued. Its status is
//!    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, as for every command that depends on a failure.
//! 2. A command that follows in the order of the queue ("implicit dependencies", 3.2.1) depends on the failed command
//!    too. In an in-order queue these are all later commands. In an out-of-order queue they are markers and barriers
//!    without a wait list, and the commands after such a barrier. A command of any queue that reads memory which the
//!    failed command should have written depends on the failed command as well. If a dependent command is not yet
//!    submitted to the device, it is terminated, except for unmaps and clEnqueueSVMFree, which release memory. If it is
//!    already submitted, it runs and then fails.
//!
//! The second rule ends when the failure is reported to the application ([`Failure::mark_reported`]). Commands that are
//! enqueued later are not affected, so that programs can continue after an error. A failure is reported by
//!
//! * a call that returns the error: clFinish, a blocking call, clWaitForEvents;
//! * a negative status that clGetEventInfo returns, or that an event's callback receives. Many programs ignore both, so
//!   blocking calls and clFinish still return a failure that no call has returned ([`ReportedVia`]).
//!
//! A blocking call whose own command did not fail returns CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, not
//! CL_OUT_OF_RESOURCES. After CL_OUT_OF_RESOURCES, programs such as pyopencl free memory and repeat the call. The
//! repeated call would succeed with wrong contents. clFinish returns CL_OUT_OF_RESOURCES if the device failed.
//! Failures of the device are also reported to pfn_notify. A call that returns such a failure does not report it to
//! pfn_notify again, but sets a flag ([`take_returned`]).

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::types::error::Error;
use crate::types::status::Status;

thread_local! {
    /// Whether the current call on this thread returns a failure.
    static RETURNED: Cell<bool> = const { Cell::new(false) };
}

/// Returns the flag of this thread, and clears it. The flag means that a call has returned the error of failed
/// commands, which pfn_notify has already received.
pub fn take_returned() -> bool {
    RETURNED.replace(false)
}

/// How the application has observed a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ReportedVia {
    /// No call has returned the failure. The application has at most received a negative status.
    Status,
    /// A call with an event argument returned an error.
    Events,
    /// A call with a queue argument returned an error.
    Queue,
}

/// The cause of failed commands: a device error, or a failed user event.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The status of the event with which the failure began.
    status: Status,
    /// The device error. `None` if a user event failed, or if a command waited for an event whose failure was already
    /// reported.
    error: Option<Error>,
    /// Commands from this number on were enqueued after the application was notified. The failure does not affect them
    /// through queue order or memory.
    end: AtomicU64,
    via: AtomicU8,
}

impl Failure {
    /// Creates a failure that begins with an event of this status.
    pub(crate) fn new(status: Status) -> Arc<Self> {
        Self::make(status, None)
    }

    /// Creates a failure of the device.
    pub(crate) fn of_device(error: Error) -> Arc<Self> {
        Self::make(Status(error.code()), Some(error))
    }

    fn make(status: Status, error: Option<Error>) -> Arc<Self> {
        Arc::new(Self { status, error, end: AtomicU64::new(u64::MAX), via: AtomicU8::new(ReportedVia::Status as u8) })
    }

    /// The status of the event with which the failure began.
    pub(crate) fn status(&self) -> Status {
        self.status
    }

    /// Whether the failure is a device error.
    pub(crate) fn is_of_device(&self) -> bool {
        self.error.is_some()
    }

    /// Whether the failure affects a later command with this number.
    pub(crate) fn affects(&self, number: u64) -> bool {
        number < self.end.load(Ordering::Acquire)
    }

    /// Whether no call has returned the failure yet.
    pub(crate) fn is_not_returned(&self) -> bool {
        self.via.load(Ordering::Acquire) == ReportedVia::Status as u8
    }

    /// Whether the application knows of the failure, so that clFinish need not return it. clWaitForEvents covers only
    /// some events. clFinish therefore returns a failure of the device even if clWaitForEvents has returned it.
    pub(crate) fn is_fully_reported(&self) -> bool {
        let enough = if self.is_of_device() { ReportedVia::Queue } else { ReportedVia::Events };
        self.via.load(Ordering::Acquire) >= enough as u8
    }

    /// Records that the application is notified now. The failure does not affect commands from `next_number` on.
    pub(crate) fn mark_reported(&self, next_number: u64, via: ReportedVia) {
        RETURNED.set(RETURNED.get() || via > ReportedVia::Status);
        self.end.fetch_min(next_number, Ordering::AcqRel);
        self.via.fetch_max(via as u8, Ordering::AcqRel);
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            Some(error) => error.fmt(f),
            None => write!(f, "an event ended with the status {}", self.status.0),
        }
    }
}

/// The position of a command in its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueuePosition {
    /// The position among all commands of the context, in enqueue order.
    pub(crate) number: u64,
    /// Whether every later command in the queue depends on this one.
    pub(crate) is_barrier: bool,
    /// Whether this command depends on every earlier one in the queue.
    pub(crate) follows_all: bool,
}

/// A failure in a queue.
#[derive(Debug)]
struct QueuedFailure {
    from: QueuePosition,
    failure: Arc<Failure>,
}

impl QueuedFailure {
    fn is_before(&self, position: QueuePosition) -> bool {
        self.from.number < position.number && (self.from.is_barrier || position.follows_all)
    }
}

/// The maximum number of recorded failures of a queue.
const MAX_FAILURES: usize = 16;

/// The unreported failures of a queue.
#[derive(Debug, Default)]
pub(crate) struct Failures(Vec<QueuedFailure>);

impl Failures {
    /// Whether there are no failures.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records the failure of a command of the queue, and returns the recorded failure. If the list is full, the last
    /// recorded failure represents the new failure. For this, it must be unreported and affect the same later commands.
    /// Otherwise, the new failure replaces the last one.
    pub(crate) fn add(&mut self, from: QueuePosition, failure: Arc<Failure>) -> Arc<Failure> {
        // Commands of an out-of-order queue can fail in any order. The lowest number is recorded.
        let include = |queued: &mut QueuedFailure| queued.from.number = queued.from.number.min(from.number);
        let is_same = |queued: &&mut QueuedFailure| Arc::ptr_eq(&queued.failure, &failure) && queued.from.is_barrier == from.is_barrier;
        if let Some(known) = self.0.iter_mut().find(is_same) {
            include(known);
            return failure;
        }
        if self.0.len() >= MAX_FAILURES
            && let Some(last) = self.0.last_mut()
        {
            if last.failure.affects(from.number) && (last.from.is_barrier || !from.is_barrier) {
                include(last);
                return last.failure.clone();
            }
            *last = QueuedFailure { from, failure: failure.clone() };
        } else {
            self.0.push(QueuedFailure { from, failure: failure.clone() });
        }
        failure
    }

    /// The failure of an earlier command in the queue that affects the command at `position`.
    pub(crate) fn failure_at(&self, position: QueuePosition) -> Option<Arc<Failure>> {
        self.0
            .iter()
            .find(|queued| queued.is_before(position) && queued.failure.affects(position.number))
            .map(|queued| queued.failure.clone())
    }

    /// A failure that no call has returned, of a command before `position`.
    pub(crate) fn not_returned(&self, position: QueuePosition) -> Option<Arc<Failure>> {
        self.0.iter().find(|queued| queued.is_before(position) && queued.failure.is_not_returned()).map(|queued| queued.failure.clone())
    }

    /// A failure that clFinish has to return.
    pub(crate) fn not_fully_reported(&self) -> Option<Arc<Failure>> {
        self.0.iter().find(|queued| !queued.failure.is_fully_reported()).map(|queued| queued.failure.clone())
    }

    /// Records that the application has observed the failures before `position`, or all failures if it is `None`.
    pub(crate) fn mark_reported(&self, next_number: u64, position: Option<QueuePosition>, via: ReportedVia) {
        for queued in &self.0 {
            if position.is_none_or(|position| queued.is_before(position)) {
                queued.failure.mark_reported(next_number, via);
            }
        }
    }

    /// Removes fully reported failures, after every command of the queue has ended.
    pub(crate) fn remove_reported(&mut self) {
        self.0.retain(|queued| !queued.failure.is_fully_reported());
    }
}
