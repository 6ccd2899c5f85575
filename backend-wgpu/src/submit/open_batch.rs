//! The batch that is being recorded, and those that were submitted: what commands are recorded with, whatever they do.
//!
//! Batches have serial numbers. The open one has the next; all before it were submitted, and those up to [`OpenBatch::completed`] are complete. Memory
//! notes the serial numbers of the batches that use it.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use wgcl_api::backend::{BackendError, BackendResult, Progress, SharedPayload};
use wgcl_runtime::shutdown;

use crate::buffer::Buffer;
use crate::gpu::open_device::{Gpu, Submission};
use crate::host::clock;
use crate::host::process_exit;
use crate::memory::argument_ring::{ArgumentBytes, Arguments};
use crate::memory::staging_ring::{Allocation, Ring, Slot};
use crate::submit::batch_encoder::{BatchEncoder, Dispatch};
use crate::submit::completion::{CompletionQueue, Outcome, PendingCommand, PostWork};
use crate::submit::handled::{CommandList, Handled};
use crate::submit::timestamps::{CommandTimestamps, TimestampPool};
use crate::vulkan::semaphores;

/// Commands a batch while the device has nothing else to do: it may as well begin.
const EAGER_BATCH: u32 = 64;
/// Commands a batch at most.
const LARGEST_BATCH: u32 = 1024;

/// The open batch and its predecessors.
pub(crate) struct OpenBatch {
    gpu: Arc<Gpu>,
    completions: Arc<CompletionQueue>,
    /// Leads to the completion thread.
    batches: Sender<u64>,
    encoder: BatchEncoder,
    /// Number of the open batch; the ones before it were submitted.
    serial: u64,
    /// The last batch of which the completion thread knows.
    notified_serial: u64,
    /// Whether an idle device gets the first command post_work a wait at once, and not with the next ones: submitting is quick and does not wait.
    eager: bool,
    /// A thread has waited for the device, and no command has come since.
    awaited: bool,
    arguments: Arguments,
    timestamp_set: TimestampPool,
}

impl OpenBatch {
    /// `batches` leads to the completion thread. `eager`: see there.
    pub(crate) fn new(gpu: Arc<Gpu>, completions: Arc<CompletionQueue>, batches: Sender<u64>, eager: bool) -> Self {
        Self {
            gpu,
            completions,
            batches,
            encoder: BatchEncoder::default(),
            serial: 1,
            notified_serial: 0,
            eager,
            awaited: false,
            arguments: Arguments::default(),
            timestamp_set: TimestampPool::default(),
        }
    }

    /// The device.
    pub(crate) const fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The list of commands in flight.
    pub(crate) const fn completions(&self) -> &Arc<CompletionQueue> {
        &self.completions
    }

    /// The number of the open batch.
    pub(crate) const fn serial(&self) -> u64 {
        self.serial
    }

    /// The last batch that is known to be complete.
    pub(crate) fn completed(&self) -> u64 {
        self.completions.completed()
    }

    /// Whether everything that was submitted is complete.
    fn is_idle(&self) -> bool {
        self.completed() + 1 == self.serial
    }

    /// Whether the open batch should be submitted without being asked for.
    pub(crate) fn is_full(&self) -> bool {
        self.is_largest() || (self.encoder.commands >= EAGER_BATCH && self.is_idle())
    }

    /// Whether the open batch must not grow.
    pub(crate) const fn is_largest(&self) -> bool {
        self.encoder.commands >= LARGEST_BATCH
    }

    /// Whether a submission by the calling thread does not make it wait: some drivers run one post_work the other.
    pub(crate) fn submits_at_once(&self) -> bool {
        self.gpu.vulkan_queue.is_some() || self.encoder.is_empty() || self.is_idle()
    }

    /// A thread has waited for the device: the next command should start at once.
    pub(crate) fn was_awaited(&mut self) {
        self.awaited = true;
    }

    /// Ends the thread's work: finishes what was submitted. Where the process ends, everything is left as it is, `rest` too.
    pub(crate) fn end<T: Send + 'static>(mut self, rest: T) {
        if !shutdown::is_ending() {
            self.submit();
        }
        // Nothing here may be freed while the device uses it, and the driver's exit handlers come next.
        if let Err(error) = self.completions.wait(self.serial - 1) {
            tracing::debug!("at the end: {error}");
        }
        self.encoder.idle();
        if shutdown::is_ending() {
            // The completion thread ends with its sender, and the process's end waits for that thread.
            self.batches = std::sync::mpsc::channel().0;
            process_exit::leak((self, rest));
        } else {
            self.completions.retire();
        }
    }

    /// Submits the open batch, if there is one, and has the completion thread wait for it.
    pub(crate) fn submit(&mut self) {
        self.submit_unnotified();
        if self.notified_serial + 1 < self.serial {
            self.notified_serial = self.serial - 1;
            // The completion thread lives as long as this one.
            let _ = self.batches.send(self.notified_serial);
        }
    }

    /// Submits the open batch, if there is one. Nobody waits for it until the next [`OpenBatch::submit`] but who has asked for it.
    pub(crate) fn submit_unnotified(&mut self) {
        if self.encoder.is_empty() {
            return;
        }
        self.report_submitted();
        match self.encoder.submit(&self.gpu, self.serial) {
            Ok(Some(index)) => self.completions.submitted(self.serial, index),
            Ok(None) => {}
            Err(error) => self.completions.failed(self.serial, error),
        }
        self.next_batch();
    }

    /// Submits the open batch, and behind it one that waits for semaphores or signals them and does nothing else: what comes later is ordered by it.
    pub(crate) fn submit_semaphores(&mut self, waits: &[Arc<dyn SharedPayload>], signals: &[Arc<dyn SharedPayload>]) -> BackendResult<()> {
        self.submit_unnotified();
        let (waits, signals) = (semaphores::downcast_all(waits)?, semaphores::downcast_all(signals)?);
        self.encoder.submit_semaphores(&self.gpu, self.serial, &waits, &signals)?;
        self.completions.submitted(self.serial, Submission::Vulkan(self.serial));
        self.next_batch();
        self.submit();
        Ok(())
    }

    /// Gives up the open batch: its commands end with the error.
    pub(crate) fn abandon(&mut self, error: &BackendError) {
        if !self.encoder.is_empty() || !self.encoder.waiting.is_empty() {
            self.report_submitted();
            self.completions.failed(self.serial, error.clone());
            self.next_batch();
            self.submit();
        }
    }

    fn report_submitted(&mut self) {
        let now = clock::now();
        for progress in self.encoder.waiting.drain(..) {
            progress.submitted(now);
        }
    }

    fn next_batch(&mut self) {
        self.encoder.discard();
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
        self.completions.wait(serial.min(self.serial - 1))?;
        self.completions.retire();
        Ok(())
    }

    /// Waits until everything so far is complete.
    pub(crate) fn finish_all(&mut self) -> BackendResult<()> {
        self.submit();
        self.wait(self.serial - 1)
    }

    /// A slot of a ring, post_work waiting for one if need be.
    pub(crate) fn slot(&mut self, ring: &mut Ring, size: u64, align: u64) -> BackendResult<Slot> {
        loop {
            match ring.take(&self.gpu, size, align, self.serial, self.completed())? {
                Allocation::Slot(slot) => return Ok(slot),
                Allocation::WaitFor(busy) => self.wait(busy)?,
            }
        }
    }

    /// Puts arguments where the device finds them: where those of the last launch are, if they are the same.
    pub(crate) fn place_arguments(&mut self, bytes: ArgumentBytes) -> BackendResult<Slot> {
        if let Some(slot) = self.arguments.find(&bytes, self.serial) {
            return Ok(slot);
        }
        let slot = self.place_parameters(&bytes)?;
        self.arguments.set_last(bytes, &slot);
        Ok(slot)
    }

    /// The same for what comes but once. A wait in here leaves the open batch's commands where they belong: ahead of what is recorded next.
    pub(crate) fn place_parameters(&mut self, bytes: &[u8]) -> BackendResult<Slot> {
        let align = u64::from(self.gpu.limits.min_uniform_buffer_offset_alignment);
        loop {
            let (serial, completed) = (self.serial, self.completed());
            match self.arguments.take(&self.gpu, bytes.len() as u64, align, serial, completed)? {
                Allocation::Slot(slot) => {
                    slot.memory.write(&self.gpu, slot.offset, bytes)?;
                    return Ok(slot);
                }
                Allocation::WaitFor(busy) => self.wait(busy)?,
            }
        }
    }

    /// Timestamps for one command, if they are wanted and the device has them. May submit the open batch: ask before recording.
    pub(crate) fn timestamps(&mut self, wanted: bool) -> BackendResult<Option<CommandTimestamps>> {
        if !wanted || !TimestampPool::supported(&self.gpu) {
            return Ok(None);
        }
        let previous = self.encoder.last_query.take();
        if let Some(set) = &self.encoder.timestamp_set
            && let Some((start, end)) = set.take(previous)
        {
            return Ok(Some(CommandTimestamps { set: Arc::clone(set), start, end, follows: previous.is_some() }));
        }
        if self.encoder.timestamp_set.is_some() {
            self.submit();
        }
        let set = self.timestamp_set.get(&self.gpu)?;
        let queries = set.take(None);
        self.encoder.timestamp_set = Some(Arc::clone(&set));
        Ok(queries.map(|(start, end)| CommandTimestamps { set, start, end, follows: false }))
    }

    /// Writes the first timestamp of a command, outside of the pass of dispatches unless `in_pass`.
    pub(crate) fn begin_timestamps(&mut self, timestamps: Option<&CommandTimestamps>, in_pass: bool) -> BackendResult<()> {
        self.encoder.begin_timestamps(&self.gpu, timestamps, in_pass)
    }

    /// Writes the second timestamp of a command.
    pub(crate) fn end_timestamps(&mut self, timestamps: Option<&CommandTimestamps>, in_pass: bool) -> BackendResult<()> {
        self.encoder.end_timestamps(&self.gpu, timestamps, in_pass)
    }

    /// Copies bytes between buffers; everything is a multiple of 4 and inside of them.
    pub(crate) fn copy(&mut self, from: (&Buffer, u64), to: (&Buffer, u64), size: u64) -> BackendResult<()> {
        self.encoder.copy(&self.gpu, from, to, size)
    }

    /// Zeroes bytes; both numbers are multiples of 4.
    pub(crate) fn clear(&mut self, buffer: &Buffer, at: u64, size: u64) -> BackendResult<()> {
        self.encoder.clear(&self.gpu, buffer, at, size)
    }

    /// Repeats a word, where there is a command for that.
    pub(crate) fn fill(&mut self, buffer: &Buffer, range: (u64, u64), word: u32) -> BackendResult<bool> {
        self.encoder.fill(&self.gpu, buffer, range, word)
    }

    /// Runs a pipeline.
    pub(crate) fn dispatch(&mut self, dispatch: &Dispatch<'_>) -> BackendResult<()> {
        self.encoder.dispatch(&self.gpu, dispatch)
    }

    /// Tells that a command of the host's begins, and when. Its memory is free, but what it was told to wait for may still run on other memory: it is
    /// not running then as far as anybody can see, and [`crate::submit::completion`] reports it in its turn.
    pub(crate) fn begin(&self, progress: &Arc<dyn Progress>) -> u64 {
        let now = clock::now();
        progress.submitted(now);
        if self.encoder.is_empty() && self.completed() + 1 >= self.serial {
            progress.running();
        }
        now
    }

    /// Counts a command that was recorded, if it was.
    pub(crate) fn count(&mut self, handled: &Handled) {
        if let Handled::Recorded(timestamps) | Handled::Followed(timestamps, _) = handled {
            if timestamps.is_none() {
                self.encoder.last_query = None;
            }
            self.encoder.commands += 1;
        }
    }

    /// Enters a command that was taken, at the time `recorded`, into the list of commands in flight. Whether it may be complete now, so that
    /// [`CompletionQueue::retire`] should be called.
    pub(crate) fn enter(&mut self, handled: BackendResult<Handled>, recorded: u64, progress: Arc<dyn Progress>) -> bool {
        let last = if self.encoder.is_empty() { self.serial - 1 } else { self.serial };
        if let Ok(handled) = &handled {
            self.count(handled);
        }
        // Whether it is told now that it was submitted, or with the open batch.
        let (now, later) = match &handled {
            Ok(Handled::Recorded(_) | Handled::Followed(..)) => (false, true),
            Ok(Handled::CommandList(_) | Handled::Nothing) => (self.encoder.is_empty(), !self.encoder.is_empty()),
            Ok(Handled::Done(_)) => (false, false),
            Err(_) => (true, false),
        };
        if now {
            progress.submitted(recorded);
        } else if later {
            self.encoder.waiting.push(Arc::clone(&progress));
        }
        let (since, serial, outcome, post_work) = match handled {
            Ok(Handled::Recorded(timestamps)) => (self.serial, self.serial, Outcome::Batch { recorded, timestamps }, PostWork::default()),
            Ok(Handled::Followed(timestamps, post_work)) => (self.serial, self.serial, Outcome::Batch { recorded, timestamps }, *post_work),
            Ok(Handled::CommandList(list)) => {
                let CommandList { since, first, last: end, post_work } = *list;
                (since.unwrap_or(last), last, Outcome::CommandList { recorded, first, last: end }, post_work)
            }
            Ok(Handled::Nothing) => (last, last, Outcome::Turn { recorded }, PostWork::default()),
            Ok(Handled::Done(times)) => (last, last, Outcome::EndedBuffer(Ok(times)), PostWork::default()),
            Err(error) => (last, last, Outcome::EndedBuffer(Err(error)), PostWork::default()),
        };
        self.completions.push(PendingCommand { since, serial, progress, outcome, post_work });
        if std::mem::take(&mut self.awaited) && self.eager && self.encoder.commands > 0 && self.is_idle() {
            self.submit_unnotified();
        }
        last <= self.completed()
    }
}
