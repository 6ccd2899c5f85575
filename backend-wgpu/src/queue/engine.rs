//! What runs a device: takes commands in order, and hands them to who records or performs them. [`crate::queue::device_queue`] leads to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use wgcl_api::backend::{Action, BackendError, BackendResult, Command, HostWork, Progress, Times};

use crate::host::clock;
use crate::launch::launches::Launches;
use crate::launch::limits::LaunchLimits;
use crate::submit::completion::CompletionQueue;
use crate::submit::handled::{CommandList, Handled};
use crate::submit::open_batch::OpenBatch;
use crate::transfer::path::{Effort, TransferPath};
use crate::transfer::transfers::Transfers;

/// Commands of a command buffer that the enqueuing thread records itself.
const QUICK_REPLAY: usize = 256;

/// What runs a device.
pub(crate) struct Engine {
    batch: OpenBatch,
    transfers: Transfers,
    launches: Launches,
}

impl Engine {
    /// `batches` leads to the completion thread; `eager`: whether an idle device gets the first command after a wait at once.
    pub(crate) fn new(completions: Arc<CompletionQueue>, batches: Sender<u64>, limits: LaunchLimits, eager: bool) -> Self {
        Self {
            batch: OpenBatch::new(Arc::clone(&limits.gpu), completions, batches, eager),
            transfers: Transfers::new(limits.max_groups[0]),
            launches: Launches::new(limits),
        }
    }

    /// The batch that is being recorded.
    pub(crate) const fn batch(&mut self) -> &mut OpenBatch {
        &mut self.batch
    }

    /// The list of commands in flight.
    pub(crate) const fn completions(&self) -> &Arc<CompletionQueue> {
        self.batch.completions()
    }

    /// What the keys of launches depend upon.
    pub(crate) const fn limits(&self) -> &LaunchLimits {
        self.launches.limits()
    }

    /// That memory is gone.
    pub(crate) fn forget(&mut self, id: u64) {
        self.launches.forget(id);
    }

    /// Ends the thread's work: finishes what was submitted.
    pub(crate) fn end(self) {
        self.batch.end((self.transfers, self.launches));
    }

    /// The way of a command that is taken now.
    pub(crate) fn route(&self, command: &Command) -> BackendResult<TransferPath> {
        match command {
            Command::Once(action) => self.route_of(action),
            Command::Replay(actions) => {
                let is_ready = |action: &Arc<Action>| matches!(&**action, Action::Launch(launch) if Launches::is_ready(launch));
                Ok(TransferPath::Launch(Effort::short_if(actions.len() <= QUICK_REPLAY && actions.iter().all(is_ready))))
            }
            Command::Nop | Command::Wait(_) | Command::Signal(_) => Ok(TransferPath::Nothing),
            Command::Host(_) => Ok(TransferPath::Host),
        }
    }

    fn route_of(&self, action: &Action) -> BackendResult<TransferPath> {
        match action {
            Action::Launch(launch) => Ok(TransferPath::Launch(Effort::short_if(Launches::is_ready(launch)))),
            transfer => self.transfers.route(&self.batch, transfer),
        }
    }

    /// Takes one command, that way. Whether a command may be complete now, so that [`CompletionQueue::retire`] should be called.
    pub(crate) fn take(
        &mut self,
        command: Command,
        route: BackendResult<TransferPath>,
        profile: bool,
        progress: Arc<dyn Progress>,
    ) -> bool {
        let recorded = clock::now();
        let handled = catch_unwind(AssertUnwindSafe(|| self.perform(command, route, profile, &progress)));
        let handled = handled.unwrap_or_else(|_| {
            // What the panic left half recorded cannot be submitted.
            self.batch.abandon(&BackendError::Other("a panic while a command was recorded".to_owned()));
            Err(BackendError::Other("a panic while the command was recorded".to_owned()))
        });
        self.batch.enter(handled, recorded, progress)
    }

    fn perform(
        &mut self,
        command: Command,
        route: BackendResult<TransferPath>,
        profile: bool,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Handled> {
        self.batch.gpu().check_alive()?;
        let route = route?;
        match command {
            Command::Once(action) => self.act(&action, route, profile, progress),
            Command::Replay(actions) => self.replay(&actions, profile, progress),
            Command::Nop => Ok(Handled::Nothing),
            Command::Wait(payloads) => self.batch.submit_semaphores(&payloads, &[]).map(|()| Handled::Nothing),
            Command::Signal(payloads) => self.batch.submit_semaphores(&[], &payloads).map(|()| Handled::Nothing),
            Command::Host(HostWork(work)) => {
                self.batch.finish_all()?;
                progress.submitted(clock::now());
                progress.running();
                let start = clock::now();
                work()?;
                Ok(Handled::Done(Times { start, end: clock::now() }))
            }
        }
    }

    /// Records or performs an action.
    fn act(&mut self, action: &Action, route: TransferPath, profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Handled> {
        match action {
            Action::Launch(launch) => self.launches.perform(&mut self.batch, launch, profile),
            transfer => self.transfers.perform(&mut self.batch, transfer, route, (profile, progress)),
        }
    }

    /// Records or performs the actions of a list. Only the ends of it are timed.
    fn replay(&mut self, actions: &[Arc<Action>], profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Handled> {
        let mut list = Box::<CommandList>::default();
        for (index, action) in actions.iter().enumerate() {
            let timed = profile && (index == 0 || index + 1 == actions.len());
            let route = self.route_of(action)?;
            let handled = self.act(action, route, timed, progress)?;
            self.batch.count(&handled);
            list.add(handled, self.batch.serial());
            if self.batch.is_largest() {
                self.batch.submit();
            }
        }
        Ok(Handled::CommandList(list))
    }
}
