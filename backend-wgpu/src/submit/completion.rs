//! Waits for submissions, and reports the completion of commands in order.
//!
//! Commands in flight are in one list, in the order of `enqueue`. Each has the serial number of the batch that must be
//! complete first. For a command that the host executes, this is the last batch before the command. The completion
//! thread, or another thread that waited for a batch, then removes complete commands from the front of the list and
//! runs their callbacks. Only one thread at a time does so, without holding a lock.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use wgcl_api::backend::{BackendError, BackendResult, Progress, Times};

use crate::gpu::open_device::{Gpu, Submission};
use crate::host::clock;
use crate::host::process_exit;
use crate::readback::failure_word::WatchedLaunch;
use crate::readback::pending_read::PendingRead;
use crate::readback::printf::Output;
use crate::submit::timestamps::CommandTimestamps;

/// How a command completes.
pub(crate) enum Completion {
    /// The command completes with the batch in which it was recorded.
    Batch { timestamps: Option<CommandTimestamps>, post_work: Option<Box<PostWork>> },
    /// A command buffer. It completes with the last batch that contains one of its commands.
    List(Box<CommandList>),
    /// The host has executed the command.
    Done(Times),
    /// A command without work. It completes when all earlier commands are complete.
    Marker,
}

impl Completion {
    /// Whether the command was recorded in the open batch.
    pub(crate) const fn is_recorded(&self) -> bool {
        matches!(self, Self::Batch { .. })
    }

    /// Returns the first batch with commands of a command buffer. Returns `None` for other commands, and if the host
    /// executed all commands of the command buffer.
    pub(crate) fn first_batch(&self) -> Option<u64> {
        match self {
            Self::List(list) => list.first_batch,
            _ => None,
        }
    }

    fn take_post_work(&mut self) -> PostWork {
        match self {
            Self::Batch { post_work, .. } => post_work.take().map(|post_work| *post_work).unwrap_or_default(),
            Self::List(list) => std::mem::take(&mut list.post_work),
            Self::Done(_) | Self::Marker => PostWork::default(),
        }
    }
}

/// The commands of a command buffer, which are one command to the application.
#[derive(Default)]
pub(crate) struct CommandList {
    /// The first batch that contains one of the commands. `None` if the host executed all of them.
    first_batch: Option<u64>,
    first: Option<Timing>,
    /// `None` if there are fewer than two commands.
    last: Option<Timing>,
    post_work: PostWork,
}

impl CommandList {
    /// Adds a command. `serial` is the serial number of the open batch.
    pub(crate) fn add(&mut self, completion: Completion, serial: u64) {
        let timing = match completion {
            Completion::Marker | Completion::List(_) => return,
            Completion::Done(times) => Timing::Times(times),
            Completion::Batch { timestamps, post_work } => {
                if let Some(post_work) = post_work {
                    self.post_work.append(*post_work);
                }
                timestamps.map_or(Timing::Unknown, Timing::Timestamps)
            }
        };
        if !matches!(timing, Timing::Times(_)) {
            self.first_batch.get_or_insert(serial);
        }
        *(if self.first.is_none() { &mut self.first } else { &mut self.last }) = Some(timing);
    }
}

/// The source of a command's times.
enum Timing {
    /// The command was not profiled.
    Unknown,
    Timestamps(CommandTimestamps),
    /// The host has executed the command.
    Times(Times),
}

impl Timing {
    fn times(&self, gpu: &Gpu) -> BackendResult<Option<Times>> {
        match self {
            Self::Unknown => Ok(None),
            Self::Timestamps(timestamps) => timestamps.times(gpu).map(Some),
            Self::Times(times) => Ok(Some(*times)),
        }
    }
}

/// A command whose completion was not reported yet.
pub(crate) struct PendingCommand {
    /// Serial number of the first batch whose failure is a failure of this command.
    pub(crate) first_batch: u64,
    /// Serial number of the batch that must be complete.
    pub(crate) last_batch: u64,
    /// Host time in nanoseconds at which the command was dequeued. The device cannot have started the command earlier.
    pub(crate) dequeued: u64,
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) completion: BackendResult<Completion>,
}

/// Work that the host does once a command is complete.
#[derive(Default)]
pub(crate) struct PostWork {
    /// `printf` output, in order.
    pub(crate) outputs: Vec<Output>,
    /// Launches whose loops may have been stopped.
    pub(crate) watched_launches: Vec<WatchedLaunch>,
    pub(crate) pending_reads: Vec<PendingRead>,
}

impl PostWork {
    pub(crate) fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.watched_launches.is_empty() && self.pending_reads.is_empty()
    }

    fn append(&mut self, mut other: Self) {
        self.outputs.append(&mut other.outputs);
        self.watched_launches.append(&mut other.watched_launches);
        self.pending_reads.append(&mut other.pending_reads);
    }

    /// Fails if a loop of a launch ended early, which makes the results wrong.
    fn check(&self) -> BackendResult<()> {
        self.watched_launches.iter().try_for_each(WatchedLaunch::check)
    }
}

#[derive(Default)]
struct State {
    entries: VecDeque<PendingCommand>,
    /// Whether a thread runs callbacks.
    busy: bool,
    /// Submissions in flight, in the order of their serial numbers.
    submissions: VecDeque<(u64, Submission)>,
    /// Batches that failed and whose commands are not all reported.
    failed: FxHashMap<u64, BackendError>,
    /// The end time of the last command that was reported without an error, for estimated times.
    last_end: u64,
}

/// The commands in flight.
pub(crate) struct CompletionQueue {
    gpu: Arc<Gpu>,
    state: Mutex<State>,
}

impl CompletionQueue {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Self {
        Self { gpu, state: Mutex::default() }
    }

    /// Returns the serial number of the last batch that is known to be complete.
    pub(crate) fn completed(&self) -> u64 {
        self.gpu.completed()
    }

    pub(crate) fn push(&self, entry: PendingCommand) {
        self.state.lock().entries.push_back(entry);
    }

    /// Adds a submitted batch.
    pub(crate) fn submitted(&self, serial: u64, index: Submission) {
        process_exit::batch_submitted();
        self.state.lock().submissions.push_back((serial, index));
    }

    /// Records that a batch could not be submitted. Earlier batches may still run.
    pub(crate) fn failed(&self, serial: u64, error: BackendError) {
        self.state.lock().failed.insert(serial, error);
    }

    /// Waits until a batch is complete. Fails if the device is lost.
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
                .filter(|entry| entry.last_batch > completed && entry.last_batch <= serial)
                .map(|entry| entry.last_batch)
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

    /// Waits for the oldest batch in flight. Returns false if no batch is in flight.
    pub(crate) fn wait_for_next(&self) -> bool {
        let completed = self.completed();
        let next = self.state.lock().submissions.iter().map(|(serial, _)| *serial).find(|serial| *serial > completed);
        if let Some(serial) = next
            && let Err(error) = self.wait(serial)
        {
            tracing::error!("a submission to the device failed: {error}");
        }
        next.is_some()
    }

    /// Reports all complete commands at the front of the list, and waits for another thread that is reporting. No
    /// command may be added meanwhile.
    pub(crate) fn wait_until_reported(&self) {
        /// Time between two checks whether the other thread has ended its reports. It delivers data or runs callbacks
        /// of the application.
        const INTERVAL: Duration = Duration::from_micros(20);
        loop {
            self.retire();
            if !self.state.lock().busy {
                return;
            }
            std::thread::sleep(INTERVAL);
        }
    }

    /// Reports all complete commands at the front of the list. Returns at once if another thread is reporting: that
    /// thread reports them.
    pub(crate) fn retire(&self) {
        let mut holding = false;
        loop {
            let (entry, failure, last_end) = {
                let mut state = self.state.lock();
                if state.busy && !holding {
                    return;
                }
                let completed = self.completed();
                let ready = state.entries.front().is_some_and(|entry| entry.last_batch <= completed);
                let Some(entry) = (if ready { state.entries.pop_front() } else { None }) else {
                    state.busy = false;
                    if state.entries.is_empty() {
                        state.failed.clear();
                    }
                    return;
                };
                state.busy = true;
                holding = true;
                let failure = (entry.first_batch..=entry.last_batch).find_map(|serial| state.failed.get(&serial)).cloned();
                (entry, failure, state.last_end)
            };
            let PendingCommand { dequeued, progress, mut completion, .. } = entry;
            let post_work = completion.as_mut().map(Completion::take_post_work).unwrap_or_default();
            let ran = self.times(completion, failure, dequeued, last_end);
            let has_run = ran.is_ok();
            let mut result = ran.and_then(|times| post_work.check().map(|()| times));
            if let Ok(times) = &result {
                self.state.lock().last_end = times.end;
            }
            // A panic in the application's callback must not stop the completion of other commands.
            let reported = catch_unwind(AssertUnwindSafe(|| {
                progress.running();
                if result.is_ok()
                    && let Err(error) = post_work.pending_reads.iter().try_for_each(|read| read.deliver(&self.gpu))
                {
                    result = Err(error);
                }
                // The output of a kernel that failed helps to find the cause.
                if has_run {
                    post_work.outputs.iter().for_each(|output| self.print(output, &*progress));
                }
                drop(post_work);
                progress.complete(result);
            }));
            if reported.is_err() {
                tracing::error!("internal error: reporting the completion of a command panicked");
            }
        }
    }

    /// Delivers the `printf` output of a complete command.
    fn print(&self, output: &Output, progress: &dyn Progress) {
        match output.text(&self.gpu) {
            Ok(text) if text.is_empty() => {}
            Ok(text) => progress.print(&text),
            Err(error) => tracing::error!("the printf output of a kernel is lost: {error}"),
        }
    }

    fn times(
        &self,
        completion: BackendResult<Completion>,
        failure: Option<BackendError>,
        dequeued: u64,
        last_end: u64,
    ) -> BackendResult<Times> {
        match (completion?, failure) {
            // The host may finish this command before the device has finished earlier commands. Reported times must be
            // in order, so they are at least `last_end`.
            (Completion::Done(Times { start, end }), _) => Ok(Times { start: start.max(last_end), end: end.max(last_end) }),
            (Completion::Batch { .. } | Completion::List(_), Some(error)) => Err(error),
            (Completion::List(list), None) => {
                let now = clock::now();
                let times = |timing: Option<&Timing>| timing.map_or(Ok(None), |timing| timing.times(&self.gpu));
                let (first, last) = (times(list.first.as_ref())?, times(list.last.as_ref().or(list.first.as_ref()))?);
                let end = last.map_or(now, |times| times.end).clamp(dequeued, now.max(dequeued));
                let start = first.map_or(dequeued.max(last_end), |times| times.start).clamp(dequeued, end);
                Ok(Times { start, end })
            }
            (Completion::Batch { timestamps: None, .. }, None) => {
                let end = clock::now();
                Ok(Times { start: dequeued.max(last_end).min(end), end })
            }
            (Completion::Batch { timestamps: Some(timestamps), .. }, None) => {
                let now = clock::now();
                let times = timestamps.times(&self.gpu)?;
                let end = times.end.clamp(dequeued, now);
                Ok(Times { start: times.start.clamp(dequeued, end), end })
            }
            (Completion::Marker, _) => {
                let time = last_end.max(dequeued);
                Ok(Times { start: time, end: time })
            }
        }
    }
}

/// Runs the completion thread. It waits for each batch that it receives, until the sender is dropped.
pub(crate) fn run(completions: &CompletionQueue, batches: &Receiver<u64>) {
    while let Ok(serial) = batches.recv() {
        if let Err(error) = completions.wait(serial) {
            tracing::error!("a submission to the device failed: {error}");
        }
        completions.retire();
    }
}
