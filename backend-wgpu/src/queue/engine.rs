//! The engine of a device: records or performs commands in order, for [`crate::queue::device_queue`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use wgcl_api::backend::{Action, BackendError, BackendResult, Command, HostWork, Progress, Times};
use wgcl_compiler::project::internal_error;

use crate::host::clock;
use crate::launch::launches::Launches;
use crate::launch::limits::LaunchLimits;
use crate::submit::completion::{CommandList, Completion, CompletionQueue};
use crate::submit::open_batch::OpenBatch;
use crate::transfer::path::{Effort, TransferPath};
use crate::transfer::transfers::{TransferRequest, Transfers};

/// How a command is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandPath {
    /// A marker, or a wait for or signal of semaphores. It records nothing in the open batch, and completes after all
    /// earlier commands.
    Marker,
    /// A launch, or the commands of a command buffer.
    Launches(Effort),
    /// The host runs a function once all earlier commands are complete.
    HostWork,
    Transfer(TransferPath),
}

impl CommandPath {
    /// Whether the enqueuing thread may execute the command itself.
    pub(crate) fn is_short(self) -> bool {
        match self {
            Self::Marker => true,
            Self::HostWork => false,
            Self::Launches(effort) => effort == Effort::Short,
            Self::Transfer(path) => path.is_short(),
        }
    }
}

/// Maximum number of commands of a command buffer that the enqueuing thread records.
const MAX_SHORT_REPLAY: usize = 256;

pub(crate) struct Engine {
    batch: OpenBatch,
    transfers: Transfers,
    launches: Launches,
}

impl Engine {
    /// Creates the engine of an open device. `batches` sends to the completion thread. `eager`: whether to submit small
    /// batches early.
    pub(crate) fn new(completions: Arc<CompletionQueue>, batches: Sender<u64>, limits: LaunchLimits, eager: bool) -> Self {
        Self {
            batch: OpenBatch::new(Arc::clone(&limits.gpu), completions, batches, eager),
            transfers: Transfers::new(limits.max_groups[0]),
            launches: Launches::new(limits),
        }
    }

    pub(crate) const fn batch(&mut self) -> &mut OpenBatch {
        &mut self.batch
    }

    /// The commands in flight.
    pub(crate) const fn completions(&self) -> &Arc<CompletionQueue> {
        self.batch.completions()
    }

    pub(crate) const fn limits(&self) -> &LaunchLimits {
        self.launches.limits()
    }

    /// Drops all state that refers to a freed memory object.
    pub(crate) fn forget(&mut self, id: u64) {
        self.launches.forget(id);
    }

    /// Completes submitted work at the end of the submission thread.
    pub(crate) fn end(self) {
        self.batch.end((self.transfers, self.launches));
    }

    /// Chooses the path of a command.
    pub(crate) fn path(&self, command: &Command) -> BackendResult<CommandPath> {
        match command {
            Command::Once(action) => self.action_path(action),
            Command::Replay(actions) => {
                let is_ready = |action: &Arc<Action>| matches!(&**action, Action::Launch(launch) if Launches::is_ready(launch));
                Ok(CommandPath::Launches(Effort::short_if(actions.len() <= MAX_SHORT_REPLAY && actions.iter().all(is_ready))))
            }
            Command::Nop | Command::Wait(_) | Command::Signal(_) => Ok(CommandPath::Marker),
            Command::Host(_) => Ok(CommandPath::HostWork),
        }
    }

    fn action_path(&self, action: &Action) -> BackendResult<CommandPath> {
        match action {
            Action::Launch(launch) => Ok(CommandPath::Launches(Effort::short_if(Launches::is_ready(launch)))),
            transfer => self.transfers.path(&self.batch, transfer).map(CommandPath::Transfer),
        }
    }

    /// Records or performs a command. Returns true if commands may be complete, so that [`CompletionQueue::retire`]
    /// should be called.
    pub(crate) fn execute(
        &mut self,
        command: Command,
        path: BackendResult<CommandPath>,
        profile: bool,
        progress: Arc<dyn Progress>,
    ) -> bool {
        let dequeued = clock::now();
        let is_read = matches!(&command, Command::Once(Action::Read { .. }));
        let completion = catch_unwind(AssertUnwindSafe(|| self.perform(command, path, profile, &progress)));
        let completion = completion.unwrap_or_else(|_| {
            // The panic may have left a command half recorded, so the batch cannot be submitted.
            let panicked = |command: &str| BackendError::Other(internal_error(&format!("panic while recording {command}")));
            self.batch.abandon(&panicked("a command of the same batch"));
            Err(panicked("the command"))
        });
        let may_retire = self.batch.add_command(completion, dequeued, progress);
        if is_read {
            self.batch.submit_read();
        }
        may_retire
    }

    fn perform(
        &mut self,
        command: Command,
        path: BackendResult<CommandPath>,
        profile: bool,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Completion> {
        self.batch.gpu().check_alive()?;
        let path = path?;
        match command {
            Command::Once(action) => self.execute_action(&action, path, profile, progress),
            Command::Replay(actions) => self.replay(&actions, profile, progress),
            Command::Nop => Ok(Completion::Marker),
            Command::Wait(payloads) => self.batch.submit_semaphores(&payloads, &[]).map(|()| Completion::Marker),
            Command::Signal(payloads) => self.batch.submit_semaphores(&[], &payloads).map(|()| Completion::Marker),
            Command::Host(HostWork(work)) => {
                self.batch.finish_all()?;
                // Another thread may still deliver the results of earlier reads, which the host work can access.
                self.batch.completions().wait_until_reported();
                progress.submitted(clock::now());
                progress.running();
                let start = clock::now();
                work()?;
                Ok(Completion::Done(Times { start, end: clock::now() }))
            }
        }
    }

    fn execute_action(
        &mut self,
        action: &Action,
        path: CommandPath,
        profile: bool,
        progress: &Arc<dyn Progress>,
    ) -> BackendResult<Completion> {
        match (action, path) {
            (Action::Launch(launch), _) => self.launches.perform(&mut self.batch, launch, profile),
            (transfer, CommandPath::Transfer(path)) => {
                self.transfers.perform(&mut self.batch, transfer, path, TransferRequest { profile, progress })
            }
            _ => Err(BackendError::Other("internal error: no transfer path was chosen for a transfer".to_owned())),
        }
    }

    /// Records or performs the actions of a command buffer. With `profile`, the first and the last action are timed.
    fn replay(&mut self, actions: &[Arc<Action>], profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Completion> {
        let mut list = Box::<CommandList>::default();
        for (index, action) in actions.iter().enumerate() {
            let timed = profile && (index == 0 || index + 1 == actions.len());
            let path = self.action_path(action)?;
            let completion = self.execute_action(action, path, timed, progress)?;
            self.batch.count(&completion);
            list.add(completion, self.batch.serial());
            if self.batch.is_largest() {
                self.batch.submit();
            }
        }
        Ok(Completion::List(list))
    }
}

#[cfg(test)]
mod tests {
    use super::CommandPath;
    use crate::transfer::path::{Effort, TransferPath};

    #[test]
    fn commands_without_waits_are_short() {
        let short = [CommandPath::Marker, CommandPath::Launches(Effort::Short), CommandPath::Transfer(TransferPath::Pinned)];
        let long = [CommandPath::HostWork, CommandPath::Launches(Effort::Long), CommandPath::Transfer(TransferPath::Device(Effort::Long))];
        assert!(short.into_iter().all(CommandPath::is_short) && !long.into_iter().any(CommandPath::is_short));
    }
}
