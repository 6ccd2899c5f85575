//! The handle that a device receives with a command, through which it reports the progress of the command's event.

use std::sync::Arc;

use super::{Event, Outcome, Status, Termination, Transition, run};
use crate::backend::{BackendResult, Progress, Times};
use crate::commands::command::RetainedObject;
use crate::commands::device_enqueue::TreeHandle;
use crate::types::error::Error;
use crate::types::lock::{Mutex, Rank};
use crate::types::thread;

/// The device's reference to an event. If it is dropped without completion (the device was lost), the event fails.
pub(crate) struct CommandHandle {
    event: Arc<Event>,
    /// Objects that must outlive the command.
    retained: Mutex<Vec<RetainedObject>>,
    /// If set, the command is not executed: after its predecessors complete, its event gets this error status.
    failed: Option<Termination>,
}

impl CommandHandle {
    pub(super) fn new(event: &Arc<Event>, retained: Vec<RetainedObject>, failed: Option<Termination>) -> Arc<Self> {
        Arc::new(Self { event: event.clone(), retained: Mutex::new(Rank::Callbacks, retained), failed })
    }

    fn finish(&self, outcome: Outcome) {
        let retained = std::mem::take(&mut *self.retained.lock());
        run(Transition::Finish(self.event.clone(), outcome, retained), true);
    }
}

impl TreeHandle for CommandHandle {
    fn is_timed(&self) -> bool {
        self.event.is_timed()
    }

    fn complete_with(&self, result: BackendResult<Times>, complete: u64) {
        self.event.state.lock().profile.complete = complete;
        self.complete(result);
    }
}

impl Progress for CommandHandle {
    fn submitted(&self, now: u64) {
        if self.failed.is_none() {
            self.event.advance(Status::SUBMITTED, Some(now));
        }
    }

    fn running(&self) {
        if self.failed.is_none() {
            self.event.advance(Status::RUNNING, None);
        }
    }

    fn is_awaited_by_this_thread(&self) -> bool {
        self.event.awaiting == Some(thread::token())
    }

    fn print(&self, text: &[u8]) {
        self.event.context().print(text);
    }

    fn complete(&self, result: BackendResult<Times>) {
        let outcome = match (&self.failed, result) {
            (Some(failed), _) => Err(failed.clone()),
            (None, Ok(times)) => Ok(Some(times)),
            (None, Err(error)) => Err(Termination::first(self.event.report(error.into()))),
        };
        if outcome.is_ok() && self.event.status() > Status::RUNNING {
            // Callbacks for the earlier states must run first, even if the device has completed the command already.
            self.event.advance(Status::SUBMITTED, None);
            self.event.advance(Status::RUNNING, None);
        }
        self.finish(outcome);
    }
}

impl Drop for CommandHandle {
    fn drop(&mut self) {
        if !self.event.status().is_done() {
            self.finish(Err(Termination::first(
                self.event.report(Error::OutOfResources("the device was lost before the command completed".into())),
            )));
        }
    }
}
