//! Events without a command of a queue: user events, and events that are linked to sync objects of OpenGL or EGL.

use std::sync::Arc;

use super::{Event, Termination, Transition, run};
use crate::commands::command::CommandType;
use crate::commands::failure::{Failure, QueuePosition};
use crate::objects::context::Context;
use crate::types::callback;
use crate::types::error::{Result, ensure};
use crate::types::status::Status;

impl Event {
    /// clCreateUserEvent
    pub fn user(context: &Arc<Context>) -> Arc<Self> {
        context.add_user_event();
        Self::make(context.clone(), (None, QueuePosition::default()), CommandType::User, Status::SUBMITTED, None)
    }

    /// clSetUserEventStatus
    ///
    /// # Errors
    /// If this is not a user event, if the status is not final, or if the status was set before.
    pub fn set_user_status(self: &Arc<Self>, status: Status) -> Result<()> {
        ensure!(self.command == CommandType::User, InvalidEvent, "the event is not a user event");
        ensure!(status.is_done(), InvalidValue, "execution status {} is neither CL_COMPLETE nor negative", status.0);
        ensure!(!std::mem::replace(&mut self.state.lock().issued, true), InvalidOperation, "the status of this user event is already set");
        self.context.remove_user_event();
        self.end_without_command(status);
        Ok(())
    }

    /// clCreateEventFromGLsyncKHR, clCreateEventFromEGLSyncKHR: creates an event that [`Event::complete_sync`] ends.
    pub fn of_sync(context: &Arc<Context>, command: CommandType) -> Arc<Self> {
        Self::make(context.clone(), (None, QueuePosition::default()), command, Status::SUBMITTED, None)
    }

    /// Whether the event is linked to a sync object of OpenGL or EGL.
    pub fn is_of_sync(&self) -> bool {
        matches!(self.command, CommandType::GlFenceSync | CommandType::EglFenceSync)
    }

    /// Records that the sync object of the event was signalled, or that the wait for it failed. Ends the event on
    /// another thread. Commands that wait for the event may run there, and need the thread that polls sync objects.
    pub fn complete_sync(self: &Arc<Self>, status: Status) {
        if self.is_of_sync() {
            let event = self.clone();
            callback::schedule(Box::new(move || event.end_without_command(status)));
        }
    }

    /// Ends an event that has no command.
    pub(super) fn end_without_command(self: &Arc<Self>, status: Status) {
        let outcome = if status.is_failed() { Err(Termination::first(Failure::new(status))) } else { Ok(None) };
        run(Transition::Finish(self.clone(), outcome, Vec::new()), true);
    }

    /// Flushes the command and waits until it is done. Returns earlier if the command may wait for a user event, which
    /// the calling thread may want to complete afterwards.
    pub fn wait_unless_blocked_by_application(self: &Arc<Self>) {
        self.request_flush();
        if self.status() == Status::QUEUED && self.context.has_open_user_events() {
            return;
        }
        self.wait();
    }
}
