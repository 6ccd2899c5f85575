//! The submission thread of a device: takes commands in order, records or performs them, submits batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use wgcl_api::backend::{Action, BackendError, BackendResult, Command, HostWork, Progress, Times};

use crate::batch::Batch;
use crate::builtin::Builtins;
use crate::clock;
use crate::exit;
use crate::gpu::Gpu;
use crate::host::Direction;
use crate::launch::BindGroups;
use crate::memory::WgpuMemory;
use crate::printf::{Output, Pool};
use crate::retire::{Entry, Moment, Outcome, Retirer};
use crate::ring::{Ring, Slot, Taken};
use crate::stamps::{Stamp, StampPool};

/// Commands a batch while the device has nothing else to do: it may as well begin.
const EAGER_BATCH: u32 = 64;
/// Commands a batch at most.
const LARGEST_BATCH: u32 = 1024;
/// Bytes of arguments a segment of their ring holds.
const ARGUMENT_SEGMENT: u64 = 1 << 18;
/// Bytes a segment of staging memory holds.
const STAGING_SEGMENT: u64 = 8 << 20;

/// What a device's thread is told.
pub(crate) enum Message {
    /// A command.
    Command { command: Command, profile: bool, progress: Arc<dyn Progress> },
    /// Submit what was recorded.
    Flush,
    /// That memory is gone.
    Forget(u64),
    /// End.
    Quit,
}

/// What a command came to when it was taken.
pub(crate) enum Taking {
    /// It was recorded in the open batch.
    Recorded(Option<Stamp>),
    /// The same, and it prints.
    Printing(Option<Stamp>, Vec<Output>),
    /// It is several.
    Several(Box<Several>),
    /// It is done.
    Done(Times),
    /// It has no work of its own.
    Nothing,
}

/// What became of commands that are one to the application.
#[derive(Default)]
pub(crate) struct Several {
    /// The first batch that has one of them.
    since: Option<u64>,
    /// What tells when the first of them ran.
    first: Option<Moment>,
    /// What tells when the last one ran, if there are more.
    last: Option<Moment>,
    outputs: Vec<Output>,
}

impl Several {
    /// Adds the next one, which was recorded in the batch of that number if it was recorded.
    fn add(&mut self, taking: Taking, serial: u64) {
        let moment = match taking {
            Taking::Nothing | Taking::Several(_) => return,
            Taking::Done(times) => Moment::Times(times),
            Taking::Recorded(stamp) => Moment::stamp(stamp),
            Taking::Printing(stamp, mut outputs) => {
                self.outputs.append(&mut outputs);
                Moment::stamp(stamp)
            }
        };
        if !matches!(moment, Moment::Times(_)) {
            self.since.get_or_insert(serial);
        }
        *(if self.first.is_none() { &mut self.first } else { &mut self.last }) = Some(moment);
    }
}

/// The state of the thread.
pub(crate) struct Engine {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) retirer: Arc<Retirer>,
    batches: Sender<u64>,
    pub(crate) max_groups: [u32; 3],
    pub(crate) batch: Batch,
    /// Number of the open batch; the ones before it were submitted.
    pub(crate) serial: u64,
    pub(crate) arguments: Ring,
    pub(crate) up: Ring,
    pub(crate) down: Ring,
    pub(crate) bind_groups: BindGroups,
    pub(crate) builtins: Option<Builtins>,
    pub(crate) scratch: Option<Arc<WgpuMemory>>,
    /// Where arguments are folded into one.
    pub(crate) folded: Option<Arc<WgpuMemory>>,
    /// Bound where the application passed a null pointer: as uniform and as storage, which one buffer cannot be at once.
    pub(crate) nulls: [Option<Arc<WgpuMemory>>; 2],
    stamps: StampPool,
    pub(crate) printf: Arc<Pool>,
}

impl Engine {
    pub(crate) fn new(gpu: Arc<Gpu>, retirer: Arc<Retirer>, batches: Sender<u64>, max_groups: [u32; 3]) -> Self {
        Self {
            gpu,
            retirer,
            batches,
            max_groups,
            batch: Batch::default(),
            serial: 1,
            arguments: Ring::new(Direction::Arguments, ARGUMENT_SEGMENT, 64),
            up: Ring::new(Direction::Up, STAGING_SEGMENT, 4),
            down: Ring::new(Direction::Down, STAGING_SEGMENT, 2),
            bind_groups: BindGroups::default(),
            builtins: None,
            scratch: None,
            folded: None,
            nulls: [None, None],
            stamps: StampPool::default(),
            printf: Arc::default(),
        }
    }

    /// Serves until told to end.
    pub(crate) fn run(mut self, messages: &Receiver<Message>) {
        while let Ok(message) = messages.recv() {
            match message {
                Message::Command { command, profile, progress } => self.take(command, profile, progress),
                Message::Flush => self.submit(),
                Message::Forget(id) => self.bind_groups.forget(id),
                Message::Quit => break,
            }
            if self.batch.commands >= LARGEST_BATCH || (self.batch.commands >= EAGER_BATCH && self.retirer.completed() + 1 == self.serial) {
                self.submit();
            }
        }
        if !exit::leaving() {
            self.submit();
        }
        // Nothing here may be freed while the device uses it, and the driver's exit handlers come next.
        if let Err(error) = self.retirer.wait(self.serial - 1) {
            tracing::debug!("at the end: {error}");
        }
        if exit::leaving() {
            // The completion thread ends with its sender, and the process's end waits for that thread.
            self.batches = std::sync::mpsc::channel().0;
            exit::leave(self);
        } else {
            self.retirer.retire();
        }
    }

    /// Takes one command.
    fn take(&mut self, command: Command, profile: bool, progress: Arc<dyn Progress>) {
        let recorded = clock::now();
        let taken = catch_unwind(AssertUnwindSafe(|| self.perform(command, profile, &progress)));
        let taken = taken.unwrap_or_else(|_| {
            // What the panic left half recorded cannot be submitted.
            self.abandon(&BackendError::Other("a panic while a command was recorded".to_owned()));
            Err(BackendError::Other("a panic while the command was recorded".to_owned()))
        });
        let last = if self.batch.is_empty() { self.serial - 1 } else { self.serial };
        let (taken, outputs) = match taken {
            Ok(Taking::Printing(stamp, outputs)) => (Ok(Taking::Recorded(stamp)), outputs),
            taken => (taken, Vec::new()),
        };
        let entry = match taken {
            Ok(Taking::Recorded(stamp) | Taking::Printing(stamp, _)) => {
                if stamp.is_none() {
                    self.batch.last_stamp = None;
                }
                self.batch.waiting.push(Arc::clone(&progress));
                self.batch.commands += 1;
                Entry { since: self.serial, serial: self.serial, progress, outcome: Outcome::Batch { recorded, stamp }, outputs }
            }
            Ok(Taking::Several(several)) => {
                let Several { since, first, last: end, outputs } = *several;
                if self.batch.is_empty() {
                    progress.submitted(recorded);
                } else {
                    self.batch.waiting.push(Arc::clone(&progress));
                }
                Entry {
                    since: since.unwrap_or(last),
                    serial: last,
                    progress,
                    outcome: Outcome::Several { recorded, first, last: end },
                    outputs,
                }
            }
            Ok(Taking::Nothing) if self.batch.is_empty() => {
                progress.submitted(recorded);
                Entry { since: last, serial: last, progress, outcome: Outcome::Turn { recorded }, outputs }
            }
            Ok(Taking::Nothing) => {
                self.batch.waiting.push(Arc::clone(&progress));
                Entry { since: last, serial: last, progress, outcome: Outcome::Turn { recorded }, outputs }
            }
            Ok(Taking::Done(times)) => Entry { since: last, serial: last, progress, outcome: Outcome::Ended(Ok(times)), outputs },
            Err(error) => {
                progress.submitted(recorded);
                Entry { since: last, serial: last, progress, outcome: Outcome::Ended(Err(error)), outputs }
            }
        };
        self.retirer.push(entry);
        if last <= self.retirer.completed() {
            self.retirer.retire();
        }
    }

    fn perform(&mut self, command: Command, profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Taking> {
        self.gpu.check_alive()?;
        match command {
            Command::Once(action) => self.act(&action, profile, progress),
            Command::Replay(actions) => self.replay(&actions, profile, progress),
            Command::Nop => Ok(Taking::Nothing),
            Command::Host(HostWork(work)) => {
                self.finish_all()?;
                progress.submitted(clock::now());
                progress.running();
                let start = clock::now();
                work()?;
                Ok(Taking::Done(Times { start, end: clock::now() }))
            }
        }
    }

    /// Records or performs an action.
    fn act(&mut self, action: &Action, profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Taking> {
        match action {
            Action::Launch(launch) => self.launch(launch, profile),
            Action::Write { dst, src, regions } => self.write(dst, &**src, regions, progress),
            Action::Read { src, dst, regions } => self.read(src, &**dst, regions, progress),
            Action::Copy { src, dst, regions } => self.copy(src, dst, regions, (profile, progress)),
            Action::Fill { dst, pattern, offset, size } => self.fill(dst, pattern, *offset, *size, (profile, progress)),
        }
    }

    /// Records or performs the actions of a list. Only the ends of it are timed.
    fn replay(&mut self, actions: &[Action], profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Taking> {
        let mut several = Box::<Several>::default();
        for (index, action) in actions.iter().enumerate() {
            let timed = profile && (index == 0 || index + 1 == actions.len());
            let taking = self.act(action, timed, progress)?;
            if let Taking::Recorded(stamp) | Taking::Printing(stamp, _) = &taking {
                if stamp.is_none() {
                    self.batch.last_stamp = None;
                }
                self.batch.commands += 1;
            }
            several.add(taking, self.serial);
            if self.batch.commands >= LARGEST_BATCH {
                self.submit();
            }
        }
        Ok(Taking::Several(several))
    }

    /// Submits the open batch, if there is one.
    pub(crate) fn submit(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let now = clock::now();
        for progress in self.batch.waiting.drain(..) {
            progress.submitted(now);
        }
        let gpu = Arc::clone(&self.gpu);
        let submitted = gpu.scoped(|| self.batch.finish().map(|commands| gpu.queue.submit([commands])));
        match submitted {
            Ok(Some(index)) => self.retirer.submitted(self.serial, index),
            Ok(None) => {}
            Err(error) => self.retirer.failed(self.serial, error),
        }
        self.next_batch();
    }

    /// Gives up the open batch: its commands end with the error.
    fn abandon(&mut self, error: &BackendError) {
        if !self.batch.is_empty() || !self.batch.waiting.is_empty() {
            let now = clock::now();
            for progress in self.batch.waiting.drain(..) {
                progress.submitted(now);
            }
            self.retirer.failed(self.serial, error.clone());
            self.next_batch();
        }
    }

    fn next_batch(&mut self) {
        self.batch.discard();
        // The completion thread lives as long as this one.
        let _ = self.batches.send(self.serial);
        self.serial += 1;
    }

    /// Waits until a batch is complete; submits it first if it is the open one.
    pub(crate) fn wait(&mut self, serial: u64) -> BackendResult<()> {
        if serial == 0 {
            return Ok(());
        }
        if serial >= self.serial {
            self.submit();
        }
        self.retirer.wait(serial.min(self.serial - 1))?;
        self.retirer.retire();
        Ok(())
    }

    /// Waits until everything so far is complete.
    pub(crate) fn finish_all(&mut self) -> BackendResult<()> {
        self.submit();
        self.wait(self.serial - 1)
    }

    /// A slot of a ring, after waiting for one if need be.
    pub(crate) fn slot(&mut self, which: fn(&mut Self) -> &mut Ring, size: u64, align: u64) -> BackendResult<Slot> {
        loop {
            let gpu = Arc::clone(&self.gpu);
            let (serial, completed) = (self.serial, self.retirer.completed());
            match which(self).take(&gpu, size, align, serial, completed)? {
                Taken::Slot(slot) => return Ok(slot),
                Taken::After(busy) => self.wait(busy)?,
            }
        }
    }

    /// Timestamps for one command, if they are wanted and the device has them. May submit the open batch: ask before recording.
    pub(crate) fn stamp(&mut self, wanted: bool) -> BackendResult<Option<Stamp>> {
        if !wanted || !StampPool::supported(&self.gpu) {
            return Ok(None);
        }
        let previous = self.batch.last_stamp.take();
        if let Some(set) = &self.batch.stamps
            && let Some((start, end)) = set.take(previous)
        {
            return Ok(Some(Stamp { set: Arc::clone(set), start, end, follows: previous.is_some() }));
        }
        if self.batch.stamps.is_some() {
            self.submit();
        }
        let set = self.stamps.get(&self.gpu)?;
        let queries = set.take(None);
        self.batch.stamps = Some(Arc::clone(&set));
        Ok(queries.map(|(start, end)| Stamp { set, start, end, follows: false }))
    }
}
