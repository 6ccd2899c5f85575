//! The end of commands: waiting for submissions, and telling the commands' progress in their order.
//!
//! Commands stand in one list in the order of `enqueue`. Each names the batch (by its serial number) that must be complete first; a command
//! done by the host names the last batch before it. Whoever learns that a batch is complete, the completion thread or the submission thread
//! that needed it, takes the finished commands off the front; one thread at a time does so, holding no lock while it calls back.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendError, BackendResult, Progress, Times};

use crate::gpu::open_device::{Gpu, Submission};
use crate::host::clock;
use crate::host::process_exit;
use crate::readback::pending_read::PendingRead;
use crate::readback::printf::Output;
use crate::readback::watchdog::WatchedLaunch;
use crate::submit::timestamps::CommandTimestamps;

/// How a command ends.
pub(crate) enum Outcome {
    /// With its batch.
    Batch {
        /// When it was handed to the driver at the earliest.
        recorded: u64,
        /// The timestamps around it, where they were asked for.
        timestamps: Option<CommandTimestamps>,
    },
    /// Of several parts, with the batch of the last one.
    CommandList {
        /// When the first of them was recorded.
        recorded: u64,
        /// The first part.
        first: Option<Timing>,
        /// The last one, if there are more.
        last: Option<Timing>,
    },
    /// It has ended already; only its turn is awaited.
    EndedBuffer(BackendResult<Times>),
    /// With everything before it: it does nothing itself.
    Turn {
        /// When it was recorded.
        recorded: u64,
    },
}

/// What tells when a part of a command ran.
pub(crate) enum Timing {
    /// Nothing does: nobody asked.
    None,
    /// Timestamps of the device.
    CommandTimestamps(CommandTimestamps),
    /// The host did it.
    Times(Times),
}

impl Timing {
    pub(crate) fn timestamps(timestamps: Option<CommandTimestamps>) -> Self {
        timestamps.map_or(Self::None, Self::CommandTimestamps)
    }

    fn times(&self, gpu: &Gpu) -> BackendResult<Option<Times>> {
        match self {
            Self::None => Ok(None),
            Self::CommandTimestamps(timestamps) => timestamps.times(gpu).map(Some),
            Self::Times(times) => Ok(Some(*times)),
        }
    }
}

/// A command that is not complete, or whose turn has not come.
pub(crate) struct PendingCommand {
    /// The first batch that it needs.
    pub(crate) since: u64,
    /// The batch to wait for.
    pub(crate) serial: u64,
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) outcome: Outcome,
    pub(crate) post_work: PostWork,
}

/// What is left to do when a command's dispatches are complete.
#[derive(Default)]
pub(crate) struct PostWork {
    /// What they print, in their order.
    pub(crate) outputs: Vec<Output>,
    /// Those whose loops the driver may have stopped.
    pub(crate) watched_launches: Vec<WatchedLaunch>,
    /// Bytes that the application wants.
    pub(crate) pending_reads: Vec<PendingRead>,
}

impl PostWork {
    pub(crate) fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.watched_launches.is_empty() && self.pending_reads.is_empty()
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.outputs.append(&mut other.outputs);
        self.watched_launches.append(&mut other.watched_launches);
        self.pending_reads.append(&mut other.pending_reads);
    }

    /// Whether what they have computed is right.
    fn check(&self) -> BackendResult<()> {
        self.watched_launches.iter().try_for_each(WatchedLaunch::check)
    }
}

#[derive(Default)]
struct State {
    entries: VecDeque<PendingCommand>,
    /// Somebody is calling back.
    busy: bool,
    /// What to wait for, by serial number, rising.
    submissions: VecDeque<(u64, Submission)>,
    /// Batches that did not run, until their commands have been told.
    failed: FxHashMap<u64, BackendError>,
    /// When the last command ended, for estimates.
    last_end: u64,
}

/// The list of commands in flight.
pub(crate) struct CompletionQueue {
    gpu: Arc<Gpu>,
    state: Mutex<State>,
}

impl CompletionQueue {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Self {
        Self { gpu, state: Mutex::default() }
    }

    /// The last batch that is known to be complete.
    pub(crate) fn completed(&self) -> u64 {
        self.gpu.completed()
    }

    /// Appends a command.
    pub(crate) fn push(&self, entry: PendingCommand) {
        self.state.lock().entries.push_back(entry);
    }

    /// A batch was submitted.
    pub(crate) fn submitted(&self, serial: u64, index: Submission) {
        process_exit::batch_submitted();
        self.state.lock().submissions.push_back((serial, index));
    }

    /// A batch, and nothing post_work it yet, could not be submitted. Batches before it may still run.
    pub(crate) fn failed(&self, serial: u64, error: BackendError) {
        self.state.lock().failed.insert(serial, error);
    }

    /// Waits until a batch is complete, however that ends.
    pub(crate) fn wait(&self, serial: u64) -> BackendResult<()> {
        if self.completed() >= serial {
            return self.gpu.check_alive();
        }
        let index = {
            let state = self.state.lock();
            state.submissions.iter().rev().find(|(number, _)| *number <= serial).map(|(_, index)| index.clone())
        };
        let result = index.map_or(Ok(()), |index| self.gpu.wait(index));
        let mut state = self.state.lock();
        if let Err(error) = &result {
            let completed = self.completed();
            for entry in state
                .entries
                .iter()
                .filter(|entry| entry.serial > completed && entry.serial <= serial)
                .map(|e| e.serial)
                .collect::<Vec<_>>()
            {
                state.failed.entry(entry).or_insert_with(|| error.clone());
            }
        }
        let before = state.submissions.len();
        while state.submissions.front().is_some_and(|(number, _)| *number <= serial) {
            state.submissions.pop_front();
        }
        process_exit::batches_complete(before - state.submissions.len());
        drop(state);
        self.gpu.set_completed(serial);
        result
    }

    /// Waits until the oldest batch that was submitted and is not known to be complete is; whether there was one.
    pub(crate) fn wait_for_next(&self) -> bool {
        let completed = self.completed();
        let next = self.state.lock().submissions.iter().map(|(serial, _)| *serial).find(|serial| *serial > completed);
        if let Some(serial) = next
            && let Err(error) = self.wait(serial)
        {
            tracing::error!("batch {serial}: {error}");
        }
        next.is_some()
    }

    /// Tells the progress of every command at the front whose turn has come.
    pub(crate) fn retire(&self) {
        let mut holding = false;
        loop {
            let (entry, failure, last_end) = {
                let mut state = self.state.lock();
                if state.busy && !holding {
                    return;
                }
                let completed = self.completed();
                let ready = state.entries.front().is_some_and(|entry| entry.serial <= completed);
                let Some(entry) = (if ready { state.entries.pop_front() } else { None }) else {
                    state.busy = false;
                    if state.entries.is_empty() {
                        state.failed.clear();
                    }
                    return;
                };
                state.busy = true;
                holding = true;
                let failure = (entry.since..=entry.serial).find_map(|serial| state.failed.get(&serial)).cloned();
                (entry, failure, state.last_end)
            };
            let ran = self.result(entry.outcome, failure, last_end);
            let has_run = ran.is_ok();
            let mut result = ran.and_then(|times| entry.post_work.check().map(|()| times));
            if let Ok(times) = &result {
                self.state.lock().last_end = times.end;
            }
            // Our callers' code: a panic in it must not stop the others' completion.
            let told = catch_unwind(AssertUnwindSafe(|| {
                entry.progress.running();
                if result.is_ok()
                    && let Err(error) = entry.post_work.pending_reads.iter().try_for_each(|fetch| fetch.deliver(&self.gpu))
                {
                    result = Err(error);
                }
                // What a kernel has printed is worth reading above all where it went wrong.
                if has_run {
                    entry.post_work.outputs.iter().for_each(|output| self.print(output, &*entry.progress));
                }
                drop(entry.post_work);
                entry.progress.complete(result);
            }));
            if told.is_err() {
                tracing::error!("a progress callback panicked");
            }
        }
    }

    /// Hands on what a complete command printed.
    fn print(&self, output: &Output, progress: &dyn Progress) {
        match output.text(&self.gpu) {
            Ok(text) if text.is_empty() => {}
            Ok(text) => progress.print(&text),
            Err(error) => tracing::error!("what a kernel printed is lost: {error}"),
        }
    }

    fn result(&self, outcome: Outcome, failure: Option<BackendError>, last_end: u64) -> BackendResult<Times> {
        match (outcome, failure) {
            // The host may have been done before the device was with what came earlier: commands are seen to begin and end in order.
            (Outcome::EndedBuffer(result), _) => {
                result.map(|Times { start, end }| Times { start: start.max(last_end), end: end.max(last_end) })
            }
            (Outcome::Batch { .. } | Outcome::CommandList { .. }, Some(error)) => Err(error),
            (Outcome::CommandList { recorded, first, last }, None) => {
                let latest = clock::now();
                let times = |moment: Option<&Timing>| moment.map_or(Ok(None), |moment| moment.times(&self.gpu));
                let (began, ended) = (times(first.as_ref())?, times(last.as_ref().or(first.as_ref()))?);
                let end = ended.map_or(latest, |times| times.end).clamp(recorded, latest.max(recorded));
                let start = began.map_or(recorded.max(last_end), |times| times.start).clamp(recorded, end);
                Ok(Times { start, end })
            }
            (Outcome::Batch { recorded, timestamps: None }, None) => {
                let end = clock::now();
                Ok(Times { start: recorded.max(last_end).min(end), end })
            }
            (Outcome::Batch { recorded, timestamps: Some(timestamps) }, None) => {
                let latest = clock::now();
                let times = timestamps.times(&self.gpu)?;
                let end = times.end.clamp(recorded, latest);
                Ok(Times { start: times.start.clamp(recorded, end), end })
            }
            (Outcome::Turn { recorded }, _) => {
                let time = last_end.max(recorded);
                Ok(Times { start: time, end: time })
            }
        }
    }
}

/// The completion thread: waits for the batches whose numbers arrive, until the sender is gone.
pub(crate) fn run(completions: &CompletionQueue, batches: &Receiver<u64>) {
    while let Ok(serial) = batches.recv() {
        if let Err(error) = completions.wait(serial) {
            tracing::error!("batch {serial}: {error}");
        }
        completions.retire();
    }
}
