//! What runs a device: takes commands in order, and hands them to who records or performs them. [`crate::queue::device_queue`] leads to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use wgcl_api::backend::{Action, BackendError, BackendResult, Command, HostWork, Progress, Times};

use crate::host::clock;
use crate::launch::launches::Launches;
use crate::launch::limits::Planner;
use crate::submit::completion::Retirer;
use crate::submit::handled::{Handled, Several};
use crate::submit::open_batch::Recording;
use crate::transfer::path::{Effort, Route};
use crate::transfer::transfers::Transfers;

/// Commands of a command buffer that the enqueuing thread records itself.
const QUICK_REPLAY: usize = 256;

/// What runs a device.
pub(crate) struct Engine {
    recording: Recording,
    transfers: Transfers,
    launches: Launches,
}

impl Engine {
    /// `batches` leads to the completion thread; `eager`: whether an idle device gets the first command after a wait at once.
    pub(crate) fn new(retirer: Arc<Retirer>, batches: Sender<u64>, planner: Planner, eager: bool) -> Self {
        Self {
            recording: Recording::new(Arc::clone(&planner.gpu), retirer, batches, eager),
            transfers: Transfers::new(planner.max_groups[0]),
            launches: Launches::new(planner),
        }
    }

    /// The batch that is being recorded.
    pub(crate) const fn recording(&mut self) -> &mut Recording {
        &mut self.recording
    }

    /// The list of commands in flight.
    pub(crate) const fn retirer(&self) -> &Arc<Retirer> {
        self.recording.retirer()
    }

    /// What the keys of launches depend upon.
    pub(crate) const fn planner(&self) -> &Planner {
        self.launches.planner()
    }

    /// That memory is gone.
    pub(crate) fn forget(&mut self, id: u64) {
        self.launches.forget(id);
    }

    /// Ends the thread's work: finishes what was submitted.
    pub(crate) fn end(self) {
        self.recording.end((self.transfers, self.launches));
    }

    /// The way of a command that is taken now.
    pub(crate) fn route(&self, command: &Command) -> BackendResult<Route> {
        match command {
            Command::Once(action) => self.route_of(action),
            Command::Replay(actions) => {
                let is_ready = |action: &Arc<Action>| matches!(&**action, Action::Launch(launch) if Launches::is_ready(launch));
                Ok(Route::Launch(Effort::little_if(actions.len() <= QUICK_REPLAY && actions.iter().all(is_ready))))
            }
            Command::Nop | Command::Wait(_) | Command::Signal(_) => Ok(Route::Nothing),
            Command::Host(_) => Ok(Route::Host),
        }
    }

    fn route_of(&self, action: &Action) -> BackendResult<Route> {
        match action {
            Action::Launch(launch) => Ok(Route::Launch(Effort::little_if(Launches::is_ready(launch)))),
            transfer => self.transfers.route(&self.recording, transfer),
        }
    }

    /// Takes one command, that way. Whether a command may be complete now, so that [`Retirer::retire`] should be called.
    pub(crate) fn take(&mut self, command: Command, route: BackendResult<Route>, profile: bool, progress: Arc<dyn Progress>) -> bool {
        let recorded = clock::now();
        let handled = catch_unwind(AssertUnwindSafe(|| self.perform(command, route, profile, &progress)));
        let handled = handled.unwrap_or_else(|_| {
            // What the panic left half recorded cannot be submitted.
            self.recording.abandon(&BackendError::Other("a panic while a command was recorded".to_owned()));
            Err(BackendError::Other("a panic while the command was recorded".to_owned()))
        });
        self.recording.enter(handled, recorded, progress)
    }

    fn perform(
        &mut self,
        command: Command,
        route: BackendResult<Route>,
        profile: bool,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Handled> {
        self.recording.gpu().check_alive()?;
        let route = route?;
        match command {
            Command::Once(action) => self.act(&action, route, profile, progress),
            Command::Replay(actions) => self.replay(&actions, profile, progress),
            Command::Nop => Ok(Handled::Nothing),
            Command::Wait(payloads) => self.recording.take_turns(&payloads, &[]).map(|()| Handled::Nothing),
            Command::Signal(payloads) => self.recording.take_turns(&[], &payloads).map(|()| Handled::Nothing),
            Command::Host(HostWork(work)) => {
                self.recording.finish_all()?;
                progress.submitted(clock::now());
                progress.running();
                let start = clock::now();
                work()?;
                Ok(Handled::Done(Times { start, end: clock::now() }))
            }
        }
    }

    /// Records or performs an action.
    fn act(&mut self, action: &Action, route: Route, profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Handled> {
        match action {
            Action::Launch(launch) => self.launches.perform(&mut self.recording, launch, profile),
            transfer => self.transfers.perform(&mut self.recording, transfer, route, (profile, progress)),
        }
    }

    /// Records or performs the actions of a list. Only the ends of it are timed.
    fn replay(&mut self, actions: &[Arc<Action>], profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Handled> {
        let mut several = Box::<Several>::default();
        for (index, action) in actions.iter().enumerate() {
            let timed = profile && (index == 0 || index + 1 == actions.len());
            let route = self.route_of(action)?;
            let handled = self.act(action, route, timed, progress)?;
            self.recording.count(&handled);
            several.add(handled, self.recording.serial());
            if self.recording.is_largest() {
                self.recording.submit();
            }
        }
        Ok(Handled::Several(several))
    }
}
