//! Records commands into the open batch, and submits it.
//!
//! Batches have serial numbers. All batches before the open one are submitted, and those up to
//! [`OpenBatch::completed`] are complete. Memory objects store the serial numbers of the batches that use them.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use wgcl_api::backend::{BackendError, BackendResult, Progress, SharedPayload};
use wgcl_runtime::shutdown;

use crate::buffer::Buffer;
use crate::gpu::open_device::{Gpu, Submission};
use crate::host::clock;
use crate::host::process_exit;
use crate::memory::argument_ring::{ArgumentBytes, Arguments};
use crate::memory::ring::{Allocation, Ring, Slot};
use crate::submit::batch_encoder::{BatchEncoder, Dispatch};
use crate::submit::completion::{Completion, CompletionQueue, PendingCommand};
use crate::submit::timestamps::{CommandTimestamps, TimestampPool};
use crate::vulkan::semaphores;

/// The open batch is submitted to an idle device once it has this many commands.
const IDLE_BATCH: u32 = 64;
/// The open batch is submitted to an idle Vulkan GPU once it has this many commands. The number doubles after each such
/// submission, up to [`IDLE_BATCH`], because submissions take longer than short kernels. A wait for the device resets
/// the number.
const EARLY_BATCH: u32 = 4;
/// The open batch is submitted to a Vulkan GPU with at most one incomplete batch if the last submission was this many
/// nanoseconds ago. A program that enqueues more slowly than kernels run otherwise leaves the device idle: on an H200,
/// 20 convolutions of 0.40 ms, enqueued every 0.1 ms, took 0.49 ms each. They take 0.42 ms now.
const SUBMISSION_INTERVAL: u64 = 50_000;
/// Maximum number of commands in a batch.
const LARGEST_BATCH: u32 = 1024;

pub(crate) struct OpenBatch {
    gpu: Arc<Gpu>,
    completions: Arc<CompletionQueue>,
    /// Sends serial numbers of submitted batches to the completion thread.
    batches: Sender<u64>,
    encoder: BatchEncoder,
    /// Serial number of the open batch.
    serial: u64,
    /// The last serial number that was sent to the completion thread.
    notified_serial: u64,
    /// Whether to submit small batches: after each read, and, if the device is idle, after the first command that
    /// follows a wait and after `early_batch` commands. Not set for CPU devices, where a submission takes processor
    /// time from kernels.
    eager: bool,
    /// Whether a thread has waited for the device, and no command has followed.
    awaited: bool,
    /// The number of commands after which an idle device gets the open batch.
    early_batch: u32,
    /// The time of the last submission, in nanoseconds of [`clock::now`].
    last_submission: u64,
    arguments: Arguments,
    timestamp_pool: TimestampPool,
}

impl OpenBatch {
    /// Creates an empty open batch. `batches` sends to the completion thread. `eager` sets the field of this name.
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
            early_batch: EARLY_BATCH,
            last_submission: 0,
            arguments: Arguments::default(),
            timestamp_pool: TimestampPool::default(),
        }
    }

    pub(crate) const fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The commands in flight.
    pub(crate) const fn completions(&self) -> &Arc<CompletionQueue> {
        &self.completions
    }

    /// Serial number of the open batch.
    pub(crate) const fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the serial number of the last batch that is known to be complete.
    pub(crate) fn completed(&self) -> u64 {
        self.completions.completed()
    }

    /// Whether all submitted batches are complete.
    fn is_idle(&self) -> bool {
        self.completed() + 1 == self.serial
    }

    /// Whether the open batch has the maximum number of commands, or [`IDLE_BATCH`] commands for an idle device.
    pub(crate) fn is_full(&self) -> bool {
        self.is_largest() || (self.encoder.commands >= IDLE_BATCH && self.is_idle())
    }

    /// Whether the open batch has the maximum number of commands.
    pub(crate) const fn is_largest(&self) -> bool {
        self.encoder.commands >= LARGEST_BATCH
    }

    /// Whether the calling thread can submit without waiting. Some drivers block a submission until the previous one is
    /// complete.
    pub(crate) fn can_submit_without_wait(&self) -> bool {
        self.gpu.vulkan_queue.is_some() || self.encoder.is_empty() || self.is_idle()
    }

    /// Records that a thread has waited for the device. If the device is still idle and `eager` is set, the next
    /// command is submitted immediately.
    pub(crate) fn note_wait(&mut self) {
        self.awaited = true;
        self.early_batch = EARLY_BATCH;
    }

    /// Submits the open batch, unless the process is ending, and waits for all submitted work. The submission thread
    /// calls this at its end. At the end of the process, this leaks `self` and `rest`.
    pub(crate) fn end<T: Send + 'static>(mut self, rest: T) {
        if !shutdown::is_ending() {
            self.submit();
        }
        // Nothing may be freed while the device uses it, and the driver's exit handlers run next.
        if let Err(error) = self.completions.wait(self.serial - 1) {
            tracing::debug!("waiting for the last batch failed: {error}");
        }
        self.encoder.idle();
        if shutdown::is_ending() {
            // Dropping the sender ends the completion thread. The exit handler waits for the end of this thread.
            self.batches = std::sync::mpsc::channel().0;
            process_exit::leak((self, rest));
        } else {
            self.completions.retire();
        }
    }

    /// Submits the open batch, and makes the completion thread wait for it.
    pub(crate) fn submit(&mut self) {
        self.submit_unnotified();
        if self.notified_serial + 1 < self.serial {
            self.notified_serial = self.serial - 1;
            // The message can be sent, because the completion thread lives as long as `batches`.
            let _ = self.batches.send(self.notified_serial);
        }
    }

    /// Submits the open batch. The completion thread waits for it only after the next [`OpenBatch::submit`].
    pub(crate) fn submit_unnotified(&mut self) {
        if self.encoder.is_empty() {
            return;
        }
        self.report_submitted();
        self.last_submission = clock::now();
        match self.encoder.submit(&self.gpu, self.serial) {
            Ok(Some(index)) => self.completions.submitted(self.serial, index),
            Ok(None) => {}
            Err(error) => self.completions.failed(self.serial, error),
        }
        self.next_batch();
    }

    /// Submits the open batch, and after it an empty batch that waits for and signals semaphores. Later commands are
    /// ordered after the empty batch.
    pub(crate) fn submit_semaphores(&mut self, waits: &[Arc<dyn SharedPayload>], signals: &[Arc<dyn SharedPayload>]) -> BackendResult<()> {
        self.submit_unnotified();
        let (waits, signals) = (semaphores::downcast_all(waits)?, semaphores::downcast_all(signals)?);
        self.encoder.submit_semaphores(&self.gpu, self.serial, &waits, &signals)?;
        self.completions.submitted(self.serial, Submission::Vulkan(self.serial));
        self.next_batch();
        self.submit();
        Ok(())
    }

    /// Discards the open batch. Its commands fail with the error.
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
        self.encoder.discard(&self.gpu);
        self.serial += 1;
    }

    /// Waits until a batch is complete. First submits the batch if it is the open one.
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

    /// Waits until all commands are complete.
    pub(crate) fn finish_all(&mut self) -> BackendResult<()> {
        self.submit();
        self.wait(self.serial - 1)
    }

    /// Allocates a slot of a ring, and waits for one if necessary.
    pub(crate) fn slot(&mut self, ring: &mut Ring, size: u64, align: u64) -> BackendResult<Slot> {
        loop {
            match ring.take(&self.gpu, size, align, self.serial, self.completed())? {
                Allocation::Slot(slot) => return Ok(slot),
                Allocation::WaitFor(busy) => self.wait(busy)?,
            }
        }
    }

    /// Writes arguments to the argument ring. Reuses the slot of the last launch if it had the same arguments.
    pub(crate) fn place_arguments(&mut self, bytes: ArgumentBytes) -> BackendResult<Slot> {
        if let Some(slot) = self.arguments.find(&bytes, self.serial) {
            return Ok(slot);
        }
        let slot = self.place_parameters(&bytes)?;
        self.arguments.set_last(bytes, &slot);
        Ok(slot)
    }

    /// Writes arguments, or the parameters of a built-in kernel, to the argument ring. If the ring is full, this waits
    /// for a batch, and may submit the open one.
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

    /// Allocates timestamps for a command, if `wanted` and supported. May submit the open batch, so call this before
    /// recording the command.
    pub(crate) fn timestamps(&mut self, wanted: bool) -> BackendResult<Option<CommandTimestamps>> {
        if !wanted || !TimestampPool::is_supported(&self.gpu) {
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
        let set = self.timestamp_pool.get(&self.gpu)?;
        let queries = set.take(None);
        self.encoder.timestamp_set = Some(Arc::clone(&set));
        Ok(queries.map(|(start, end)| CommandTimestamps { set, start, end, follows: false }))
    }

    /// Writes the first timestamp of a command. With `in_pass` the compute pass stays open.
    pub(crate) fn begin_timestamps(&mut self, timestamps: Option<&CommandTimestamps>, in_pass: bool) -> BackendResult<()> {
        self.encoder.begin_timestamps(&self.gpu, timestamps, in_pass)
    }

    /// Writes the second timestamp of a command.
    pub(crate) fn end_timestamps(&mut self, timestamps: Option<&CommandTimestamps>, in_pass: bool) -> BackendResult<()> {
        self.encoder.end_timestamps(&self.gpu, timestamps, in_pass)
    }

    /// Copies bytes between buffers. Offsets and size must be multiples of 4.
    pub(crate) fn copy(&mut self, from: (&Buffer, u64), to: (&Buffer, u64), size: u64) -> BackendResult<()> {
        self.encoder.copy(&self.gpu, from, to, size)
    }

    /// Clears bytes. Offset and size must be multiples of 4.
    pub(crate) fn clear(&mut self, buffer: &Buffer, at: u64, size: u64) -> BackendResult<()> {
        self.encoder.clear(&self.gpu, buffer, at, size)
    }

    /// Fills a range with a word. Offset and size must be multiples of 4. Returns false if wgpu records the batch,
    /// because wgpu has no such command.
    pub(crate) fn fill(&mut self, buffer: &Buffer, range: (u64, u64), word: u32) -> BackendResult<bool> {
        self.encoder.fill(&self.gpu, buffer, range, word)
    }

    pub(crate) fn dispatch(&mut self, dispatch: &Dispatch<'_>) -> BackendResult<()> {
        self.encoder.dispatch(&self.gpu, dispatch)
    }

    /// Reports that the host starts a command, and returns the time. If earlier commands still run on other memory, the
    /// command is only reported as submitted. [`crate::submit::completion`] then reports it as running, in order.
    pub(crate) fn begin(&self, progress: &Arc<dyn Progress>) -> u64 {
        let now = clock::now();
        progress.submitted(now);
        if self.encoder.is_empty() && self.completed() + 1 >= self.serial {
            progress.running();
        }
        now
    }

    /// Counts a command of the open batch. Does nothing for commands that are not recorded in it.
    pub(crate) fn count(&mut self, completion: &Completion) {
        if let Completion::Batch { timestamps, .. } = completion {
            if timestamps.is_none() {
                self.encoder.last_query = None;
            }
            self.encoder.commands += 1;
        }
    }

    /// Adds a command to the commands in flight. `dequeued` is the time at which it was dequeued. Returns true if
    /// commands may be complete, so that [`CompletionQueue::retire`] should be called.
    pub(crate) fn add_command(&mut self, completion: BackendResult<Completion>, dequeued: u64, progress: Arc<dyn Progress>) -> bool {
        let last = if self.encoder.is_empty() { self.serial - 1 } else { self.serial };
        if let Ok(completion) = &completion {
            self.count(completion);
        }
        // A command is reported as submitted now, or together with the open batch. Commands that the host executed have
        // already been reported.
        let (now, later) = match &completion {
            Ok(Completion::Batch { .. }) => (false, true),
            Ok(Completion::List(_) | Completion::Marker) => (self.encoder.is_empty(), !self.encoder.is_empty()),
            Ok(Completion::Done(_)) => (false, false),
            Err(_) => (true, false),
        };
        if now {
            progress.submitted(dequeued);
        } else if later {
            self.encoder.waiting.push(Arc::clone(&progress));
        }
        let is_recorded = completion.as_ref().is_ok_and(Completion::is_recorded);
        let last_batch = if is_recorded { self.serial } else { last };
        let first_batch = completion.as_ref().ok().and_then(Completion::first_batch).unwrap_or(last_batch);
        self.completions.push(PendingCommand { first_batch, last_batch, dequeued, progress, completion });
        if self.eager && self.encoder.commands > 0 && self.is_early() {
            self.submit_unnotified();
        }
        last <= self.completed()
    }

    /// Whether to submit the open batch although it is small, because the device is idle or will be idle soon. (OpenMM
    /// enqueues 29 kernels of 8 us per step, and then waits. Without this, only the first kernel began before the wait
    /// on an H100.)
    fn is_early(&mut self) -> bool {
        if std::mem::take(&mut self.awaited) && self.is_idle() {
            return true;
        }
        let is_due = clock::now().saturating_sub(self.last_submission) >= SUBMISSION_INTERVAL;
        let is_multiple = self.encoder.commands.is_multiple_of(self.early_batch);
        if !is_due && !is_multiple {
            return false;
        }
        let Some(incomplete) = self.incomplete_batches() else { return false };
        if is_due && incomplete < 2 {
            return true;
        }
        let is_early = is_multiple && incomplete == 0;
        if is_early {
            self.early_batch = (self.early_batch * 2).min(IDLE_BATCH);
        }
        is_early
    }

    /// Returns the number of submitted batches that the device has not completed. `None` without a Vulkan queue, or if
    /// the number is unknown. Querying the timeline semaphore takes less than 1 us.
    fn incomplete_batches(&self) -> Option<u64> {
        let completed = self.gpu.vulkan_queue.as_ref()?.completed().ok()?;
        Some((self.serial - 1).saturating_sub(completed))
    }

    /// Submits the open batch after a read by the host, which will probably wait for it. In a batch with later
    /// commands, the read would complete only with them.
    pub(crate) fn submit_read(&mut self) {
        if self.eager && self.gpu.vulkan_queue.is_some() {
            self.submit_unnotified();
        }
    }
}
