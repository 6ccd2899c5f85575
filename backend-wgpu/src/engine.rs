//! What runs a device: takes commands in order, records or performs them, submits batches. [`crate::port`] leads to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use wgcl_api::backend::{Action, BackendError, BackendResult, Command, CopyRegion, HostWork, Launch, Memory, Progress, Times};
use wgcl_runtime::process;

use crate::batch::Batch;
use crate::builtin::Builtins;
use crate::clock;
use crate::exit;
use crate::fetch::Fetches;
use crate::gpu::Gpu;
use crate::host::Direction;
use crate::launch::{BindGroups, LastArguments};
use crate::memory::{WgpuMemory, downcast};
use crate::prepare::Planner;
use crate::printf::Pool;
use crate::program::WgpuProgram;
use crate::retire::{After, Entry, Moment, Outcome, Retirer};
use crate::ring::{Ring, Slot, Taken};
use crate::stamps::{Stamp, StampPool};
use crate::turns::Word;

/// Commands a batch while the device has nothing else to do: it may as well begin.
const EAGER_BATCH: u32 = 64;
/// Commands a batch at most.
const LARGEST_BATCH: u32 = 1024;
/// Bytes of a transfer that the enqueuing thread does itself.
const QUICK_BYTES: u64 = 1 << 16;
/// Commands of a command buffer that the enqueuing thread records itself.
const QUICK_REPLAY: usize = 256;
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
    /// The same, and something is left to do when it is complete.
    Followed(Option<Stamp>, Box<After>),
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
    after: After,
}

impl Several {
    /// Adds the next one, which was recorded in the batch of that number if it was recorded.
    fn add(&mut self, taking: Taking, serial: u64) {
        let moment = match taking {
            Taking::Nothing | Taking::Several(_) => return,
            Taking::Done(times) => Moment::Times(times),
            Taking::Recorded(stamp) => Moment::stamp(stamp),
            Taking::Followed(stamp, after) => {
                self.after.append(*after);
                Moment::stamp(stamp)
            }
        };
        if !matches!(moment, Moment::Times(_)) {
            self.since.get_or_insert(serial);
        }
        *(if self.first.is_none() { &mut self.first } else { &mut self.last }) = Some(moment);
    }
}

/// What runs a device.
pub(crate) struct Engine {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) retirer: Arc<Retirer>,
    batches: Sender<u64>,
    pub(crate) planner: Planner,
    pub(crate) batch: Batch,
    /// Number of the open batch; the ones before it were submitted.
    pub(crate) serial: u64,
    /// The last batch of which the completion thread knows.
    heard: u64,
    /// Whether an idle device gets the first command after a wait at once, and not with the next ones: submitting is quick and does not wait.
    eager: bool,
    /// A thread has waited for the device, and no command has come since.
    awaited: bool,
    pub(crate) arguments: Ring,
    pub(crate) last_arguments: Option<LastArguments>,
    pub(crate) up: Ring,
    pub(crate) down: Ring,
    pub(crate) fetches: Fetches,
    pub(crate) bind_groups: BindGroups,
    pub(crate) builtins: Builtins,
    pub(crate) scratch: Option<Arc<WgpuMemory>>,
    /// Where arguments are folded into one.
    pub(crate) folded: Option<Arc<WgpuMemory>>,
    /// Bound where the application passed a null pointer: as uniform and as storage, which one buffer cannot be at once.
    pub(crate) nulls: [Option<Arc<WgpuMemory>>; 2],
    stamps: StampPool,
    pub(crate) printf: Arc<Pool>,
    pub(crate) turns: Option<Arc<Word>>,
}

impl Engine {
    /// `batches` leads to the completion thread. `eager`: see there.
    pub(crate) fn new(retirer: Arc<Retirer>, batches: Sender<u64>, planner: Planner, eager: bool) -> Self {
        Self {
            gpu: Arc::clone(&planner.gpu),
            retirer,
            batches,
            planner,
            batch: Batch::default(),
            serial: 1,
            heard: 0,
            eager,
            awaited: false,
            arguments: Ring::new(Direction::Arguments, ARGUMENT_SEGMENT, 64),
            last_arguments: None,
            up: Ring::new(Direction::Up, STAGING_SEGMENT, 4),
            down: Ring::new(Direction::Down, STAGING_SEGMENT, 2),
            fetches: Fetches::default(),
            bind_groups: BindGroups::default(),
            builtins: Builtins::default(),
            scratch: None,
            folded: None,
            nulls: [None, None],
            stamps: StampPool::default(),
            printf: Arc::default(),
            turns: None,
        }
    }

    /// Whether a command can be taken without waiting for anything and without much work.
    pub(crate) fn is_quick(&self, command: &Command) -> bool {
        let is_free = |memory: &Arc<dyn Memory>, writes: bool| {
            downcast(memory).is_ok_and(|memory| memory.mapping().is_none() || memory.busy_until(writes) <= self.retirer.completed())
        };
        let is_mapped = |memory: &Arc<dyn Memory>| downcast(memory).is_ok_and(|memory| memory.mapping().is_some());
        let is_ready = |launch: &Launch| {
            let program: Option<&WgpuProgram> = launch.program.as_any().downcast_ref();
            program.and_then(|program| program.code.kernel(&launch.kernel).ok()).is_some_and(|kernel| kernel.is_ready())
        };
        match command {
            Command::Once(Action::Launch(launch)) => is_ready(launch),
            Command::Once(Action::Write { dst, src, regions }) => {
                self.pinned(src.memory(), dst).is_some() || (few(regions) && is_free(dst, true))
            }
            Command::Once(Action::Read { src, dst, regions }) => {
                self.pinned(dst.memory(), src).is_some()
                    || (few(regions) && is_free(src, false) && (is_mapped(src) || self.can_fetch(regions)))
            }
            Command::Once(Action::Copy { src, dst, regions }) => few(regions) && is_free(src, false) && is_free(dst, true),
            Command::Once(Action::Fill { dst, size, .. }) => *size <= QUICK_BYTES && is_free(dst, true),
            Command::Replay(actions) => {
                actions.len() <= QUICK_REPLAY
                    && actions.iter().all(|action| matches!(&**action, Action::Launch(launch) if is_ready(launch)))
            }
            Command::Nop => true,
            Command::Host(_) => false,
        }
    }

    /// The memory behind bytes of the host's, if it is this device's, whose copies then reach it, and the other memory is not the host's anyway.
    fn pinned(&self, found: Option<(Arc<dyn Memory>, u64)>, other: &Arc<dyn Memory>) -> Option<(Arc<dyn Memory>, u64)> {
        let (memory, at) = found?;
        let is_ours = downcast(&memory).is_ok_and(|memory| memory.is_of(&self.gpu));
        (is_ours && downcast(other).is_ok_and(|other| other.mapping().is_none())).then_some((memory, at))
    }

    /// Ends the thread's work: finishes what was submitted.
    pub(crate) fn end(mut self) {
        if !process::is_ending() {
            self.submit();
        }
        // Nothing here may be freed while the device uses it, and the driver's exit handlers come next.
        if let Err(error) = self.retirer.wait(self.serial - 1) {
            tracing::debug!("at the end: {error}");
        }
        self.batch.idle();
        if process::is_ending() {
            // The completion thread ends with its sender, and the process's end waits for that thread.
            self.batches = std::sync::mpsc::channel().0;
            exit::leave(self);
        } else {
            self.retirer.retire();
        }
    }

    /// Takes one command. Whether a command may be complete now, so that [`Retirer::retire`] should be called.
    pub(crate) fn take(&mut self, command: Command, profile: bool, progress: Arc<dyn Progress>) -> bool {
        let recorded = clock::now();
        let taken = catch_unwind(AssertUnwindSafe(|| self.perform(command, profile, &progress)));
        let taken = taken.unwrap_or_else(|_| {
            // What the panic left half recorded cannot be submitted.
            self.abandon(&BackendError::Other("a panic while a command was recorded".to_owned()));
            Err(BackendError::Other("a panic while the command was recorded".to_owned()))
        });
        let last = if self.batch.is_empty() { self.serial - 1 } else { self.serial };
        let (taken, after) = match taken {
            Ok(Taking::Followed(stamp, after)) => (Ok(Taking::Recorded(stamp)), *after),
            taken => (taken, After::default()),
        };
        let entry = match taken {
            Ok(Taking::Recorded(stamp) | Taking::Followed(stamp, _)) => {
                if stamp.is_none() {
                    self.batch.last_stamp = None;
                }
                self.batch.waiting.push(Arc::clone(&progress));
                self.batch.commands += 1;
                Entry { since: self.serial, serial: self.serial, progress, outcome: Outcome::Batch { recorded, stamp }, after }
            }
            Ok(Taking::Several(several)) => {
                let Several { since, first, last: end, after } = *several;
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
                    after,
                }
            }
            Ok(Taking::Nothing) if self.batch.is_empty() => {
                progress.submitted(recorded);
                Entry { since: last, serial: last, progress, outcome: Outcome::Turn { recorded }, after }
            }
            Ok(Taking::Nothing) => {
                self.batch.waiting.push(Arc::clone(&progress));
                Entry { since: last, serial: last, progress, outcome: Outcome::Turn { recorded }, after }
            }
            Ok(Taking::Done(times)) => Entry { since: last, serial: last, progress, outcome: Outcome::Ended(Ok(times)), after },
            Err(error) => {
                progress.submitted(recorded);
                Entry { since: last, serial: last, progress, outcome: Outcome::Ended(Err(error)), after }
            }
        };
        self.retirer.push(entry);
        if std::mem::take(&mut self.awaited) && self.eager && self.batch.commands > 0 && self.is_idle() {
            self.submit_unheard();
        }
        last <= self.retirer.completed()
    }

    /// Whether everything that was submitted is complete.
    fn is_idle(&self) -> bool {
        self.retirer.completed() + 1 == self.serial
    }

    /// Whether the open batch should be submitted without being asked for.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.commands >= LARGEST_BATCH || (self.batch.commands >= EAGER_BATCH && self.is_idle())
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
            Action::Write { dst, src, regions } => match self.pinned(src.memory(), dst) {
                Some((memory, at)) if !(few(regions) && self.free_window(downcast(dst)?).is_some()) => {
                    let swapped: Vec<_> =
                        regions.iter().map(|region| CopyRegion { buffer: at + region.host, host: region.buffer, ..*region }).collect();
                    self.copy(&memory, dst, &swapped, (profile, progress))
                }
                _ => self.write(dst, &**src, regions, progress),
            },
            Action::Read { src, dst, regions } => match self.pinned(dst.memory(), src) {
                Some((memory, at)) if self.quick_window(downcast(src)?, regions).is_none() => {
                    let moved: Vec<_> = regions.iter().map(|region| CopyRegion { host: at + region.host, ..*region }).collect();
                    self.copy(src, &memory, &moved, (profile, progress))
                }
                _ => self.read(src, dst, regions, progress),
            },
            Action::Copy { src, dst, regions } => self.copy(src, dst, regions, (profile, progress)),
            Action::Fill { dst, pattern, offset, size } => self.fill(dst, pattern, *offset, *size, (profile, progress)),
        }
    }

    /// Records or performs the actions of a list. Only the ends of it are timed.
    fn replay(&mut self, actions: &[Arc<Action>], profile: bool, progress: &Arc<dyn Progress>) -> BackendResult<Taking> {
        let mut several = Box::<Several>::default();
        for (index, action) in actions.iter().enumerate() {
            let timed = profile && (index == 0 || index + 1 == actions.len());
            let taking = self.act(action, timed, progress)?;
            if let Taking::Recorded(stamp) | Taking::Followed(stamp, _) = &taking {
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

    /// Whether a submission by the calling thread does not make it wait: some drivers run one after the other.
    pub(crate) fn submits_at_once(&self) -> bool {
        self.gpu.raw.is_some() || self.batch.is_empty() || self.is_idle()
    }

    /// A thread has waited for the device: the next command should start at once.
    pub(crate) fn was_awaited(&mut self) {
        self.awaited = true;
    }

    /// Submits the open batch, if there is one, and has the completion thread wait for it.
    pub(crate) fn submit(&mut self) {
        self.submit_unheard();
        if self.heard + 1 < self.serial {
            self.heard = self.serial - 1;
            // The completion thread lives as long as this one.
            let _ = self.batches.send(self.heard);
        }
    }

    /// Submits the open batch, if there is one. Nobody waits for it until the next [`Engine::submit`] but who has asked for it.
    pub(crate) fn submit_unheard(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let now = clock::now();
        for progress in self.batch.waiting.drain(..) {
            progress.submitted(now);
        }
        let gpu = Arc::clone(&self.gpu);
        match self.batch.submit(&gpu, self.serial) {
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
            self.submit();
        }
    }

    fn next_batch(&mut self) {
        self.batch.discard();
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

/// Whether a transfer is soon done.
fn few(regions: &[CopyRegion]) -> bool {
    regions.iter().map(|region| region.size).sum::<u64>() <= QUICK_BYTES
}
