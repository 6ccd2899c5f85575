//! Encodes the open batch: with a Vulkan command buffer, or with wgpu's encoder, whose compute pass stays open across
//! launches.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Progress};

use crate::buffer::{Buffer, Use};
use crate::gpu::compute_pipeline::{BindGroup, ComputePipeline};
use crate::gpu::open_device::{Gpu, Submission};
use crate::submit::timestamps::{CommandTimestamps, Queries, TimestampSet};
use crate::vulkan::command_buffer::{CommandRecorder, Location};
use crate::vulkan::semaphores::Semaphore;

#[derive(Default)]
pub(crate) struct BatchEncoder {
    /// The recorder of a device that submits directly to Vulkan.
    recorder: Option<CommandRecorder>,
    encoder: Option<wgpu::CommandEncoder>,
    pass: Option<wgpu::ComputePass<'static>>,
    /// ID of the pipeline that is set in the pass. 0 if no pipeline is set, or that of a built-in kernel.
    pipeline_id: u64,
    /// Number of commands in the batch.
    pub(crate) commands: u32,
    /// The end query of a command that has begun.
    open_query: Option<u32>,
    /// The end query of the last profiled command. `None` if other commands were recorded after this command.
    pub(crate) last_query: Option<u32>,
    /// The timestamps of the batch, if a command of the batch is timed.
    pub(crate) timestamp_set: Option<Arc<TimestampSet>>,
    /// Commands to notify of the submission.
    pub(crate) waiting: Vec<Arc<dyn Progress>>,
}

/// The buffers that a dispatch uses, without its argument buffer.
pub(crate) type Uses = SmallVec<[Use; 8]>;

pub(crate) struct Dispatch<'a> {
    /// Identifies the pipeline. 0 for built-in kernels.
    pub(crate) id: u64,
    pub(crate) compute: &'a ComputePipeline,
    pub(crate) group: &'a BindGroup,
    /// Dynamic offset of the arguments, if the kernel has any.
    pub(crate) offset: Option<u32>,
    pub(crate) uses: &'a [Use],
    pub(crate) groups: [u32; 3],
}

impl BatchEncoder {
    pub(crate) fn is_empty(&self) -> bool {
        self.encoder.is_none() && self.recorder.as_ref().is_none_or(CommandRecorder::is_empty)
    }

    fn recorder(&mut self, gpu: &Gpu) -> BackendResult<Option<&mut CommandRecorder>> {
        if let (None, Some(queue)) = (&self.recorder, &gpu.vulkan_queue) {
            self.recorder = Some(CommandRecorder::new(queue)?);
        }
        Ok(self.recorder.as_mut())
    }

    /// Ends the compute pass, and returns the encoder.
    fn encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        self.raw_encoder(gpu)
    }

    fn raw_encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        self.encoder.get_or_insert_with(|| gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()))
    }

    /// Returns the compute pass, and begins it if necessary.
    fn pass(&mut self, gpu: &Gpu) -> &mut wgpu::ComputePass<'static> {
        if self.pass.is_none() {
            let pass = self.raw_encoder(gpu).begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime();
            self.pass = Some(pass);
            self.pipeline_id = 0;
        }
        self.pass.get_or_insert_with(|| unreachable!("the compute pass was begun above"))
    }

    /// Copies bytes between buffers. Offsets and size must be multiples of 4.
    pub(crate) fn copy(
        &mut self,
        gpu: &Gpu,
        (from, from_offset): (&Buffer, u64),
        (to, to_offset): (&Buffer, u64),
        size: u64,
    ) -> BackendResult<()> {
        check(from, from_offset, size)?;
        check(to, to_offset, size)?;
        if let Some(recorder) = self.recorder(gpu)? {
            // SAFETY: the ranges were just checked.
            return unsafe { recorder.copy(Location::new(from, from_offset), Location::new(to, to_offset), size) };
        }
        self.encoder(gpu).copy_buffer_to_buffer(&from.wgpu, from_offset, &to.wgpu, to_offset, size);
        Ok(())
    }

    /// Clears bytes. Offset and size must be multiples of 4.
    pub(crate) fn clear(&mut self, gpu: &Gpu, buffer: &Buffer, offset: u64, size: u64) -> BackendResult<()> {
        check(buffer, offset, size)?;
        if let Some(recorder) = self.recorder(gpu)? {
            // SAFETY: the range was just checked.
            return unsafe { recorder.fill(Location::new(buffer, offset), size, 0) };
        }
        self.encoder(gpu).clear_buffer(&buffer.wgpu, offset, Some(size));
        Ok(())
    }

    /// Fills a range with a word. Offset and size must be multiples of 4. Returns false if wgpu records the batch,
    /// because wgpu has no such command.
    pub(crate) fn fill(&mut self, gpu: &Gpu, buffer: &Buffer, (offset, size): (u64, u64), word: u32) -> BackendResult<bool> {
        check(buffer, offset, size)?;
        match self.recorder(gpu)? {
            // SAFETY: the range was just checked.
            Some(recorder) => unsafe { recorder.fill(Location::new(buffer, offset), size, word) }.map(|()| true),
            None => Ok(false),
        }
    }

    pub(crate) fn dispatch(&mut self, gpu: &Gpu, dispatch: &Dispatch<'_>) -> BackendResult<()> {
        let Dispatch { id, compute, group, offset, uses, groups } = *dispatch;
        let (pipeline, group) = match (compute, group) {
            (ComputePipeline::Wgpu { pipeline, .. }, BindGroup::Wgpu(group)) => (pipeline, group),
            (ComputePipeline::Vulkan(pipeline), BindGroup::Vulkan(set)) => {
                let Some(recorder) = self.recorder(gpu)? else {
                    return Err(BackendError::Other("internal error: a Vulkan pipeline on a device without a Vulkan queue".to_owned()));
                };
                // SAFETY: the descriptor set was created for the pipeline, and the offset is that of a slot of the
                // argument ring.
                return unsafe { recorder.dispatch(pipeline, set, offset, uses, groups) };
            }
            _ => return Err(BackendError::Other("internal error: a pipeline and a bind group of different APIs".to_owned())),
        };
        self.pass(gpu);
        let previous = std::mem::replace(&mut self.pipeline_id, id);
        let pass = self.pass(gpu);
        if previous != id || id == 0 {
            pass.set_pipeline(pipeline);
        }
        pass.set_bind_group(0, &**group, offset.as_slice());
        let [x, y, z] = groups;
        pass.dispatch_workgroups(x, y, z);
        Ok(())
    }

    /// Writes the first timestamp of a command. With `in_pass` the compute pass stays open.
    pub(crate) fn begin_timestamps(&mut self, gpu: &Gpu, timestamps: Option<&CommandTimestamps>, in_pass: bool) -> BackendResult<()> {
        if let (Some(end), Some(timestamp_set)) = (self.open_query.take(), self.timestamp_set.clone()) {
            // The query is open because the previous command failed after it had begun. It must be written, because
            // wgpu cannot resolve a query that was never written.
            self.write_timestamp_query(gpu, &timestamp_set.queries, end, in_pass)?;
        }
        if let Some(timestamps) = timestamps {
            if !timestamps.follows {
                self.write_timestamp_query(gpu, &timestamps.set.queries, timestamps.start, in_pass)?;
            }
            self.open_query = Some(timestamps.end);
            // The barrier keeps other commands out of the measured time.
            if let Some(recorder) = &mut self.recorder {
                recorder.separate_commands()?;
            }
        }
        Ok(())
    }

    /// Writes the second timestamp of a command.
    pub(crate) fn end_timestamps(&mut self, gpu: &Gpu, timestamps: Option<&CommandTimestamps>, in_pass: bool) -> BackendResult<()> {
        if let (Some(timestamps), Some(end)) = (timestamps, self.open_query.take()) {
            self.write_timestamp_query(gpu, &timestamps.set.queries, end, in_pass)?;
            self.last_query = Some(end);
        }
        Ok(())
    }

    fn write_timestamp_query(&mut self, gpu: &Gpu, queries: &Queries, query: u32, in_pass: bool) -> BackendResult<()> {
        match queries {
            Queries::Vulkan(queries) => {
                if let Some(recorder) = self.recorder(gpu)? {
                    recorder.timestamp(queries, query)?;
                }
            }
            Queries::Wgpu { set, .. } if in_pass => self.pass(gpu).write_timestamp(set, query),
            Queries::Wgpu { set, .. } => self.encoder(gpu).write_timestamp(set, query),
        }
        Ok(())
    }

    /// Ends the batch and submits it. Returns `None` if it is empty.
    pub(crate) fn submit(&mut self, gpu: &Gpu, serial: u64) -> BackendResult<Option<Submission>> {
        if let (Some(timestamp_set), Some(end)) = (self.timestamp_set.clone(), self.open_query.take()) {
            // A command with an open query continues in the next batch. The query must be written in this batch,
            // because wgpu cannot resolve a query that was never written.
            self.write_timestamp_query(gpu, &timestamp_set.queries, end, false)?;
        }
        gpu.request_high_clocks();
        if let Some(recorder) = &mut self.recorder {
            return Ok(recorder.submit(serial)?.then_some(Submission::Vulkan(serial)));
        }
        self.pass = None;
        let Some(mut encoder) = self.encoder.take() else { return Ok(None) };
        let timestamp_set = self.timestamp_set.clone();
        gpu.scoped(|| {
            if let Some(timestamp_set) = timestamp_set {
                timestamp_set.resolve(&mut encoder);
            }
            Some(Submission::Wgpu(gpu.queue.submit([encoder.finish()])))
        })
    }

    /// Submits an empty batch that waits for and signals semaphores.
    pub(crate) fn submit_semaphores(
        &mut self,
        gpu: &Gpu,
        serial: u64,
        waits: &[Arc<Semaphore>],
        signals: &[Arc<Semaphore>],
    ) -> BackendResult<()> {
        match self.recorder(gpu)? {
            Some(recorder) => recorder.submit_semaphores(serial, waits, signals),
            None => Err(BackendError::Other("semaphores can be shared only on devices with a Vulkan driver".to_owned())),
        }
    }

    /// Waits until the queue is idle.
    pub(crate) fn idle(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.idle();
        }
    }

    /// Discards the recorded commands.
    pub(crate) fn discard(&mut self, gpu: &Gpu) {
        let _context = gpu.context_lock.lock();
        if let Some(recorder) = &mut self.recorder {
            recorder.discard();
        }
        self.pass = None;
        self.encoder = None;
        self.commands = 0;
        self.open_query = None;
        self.last_query = None;
        self.timestamp_set = None;
    }
}

/// Fails if a range is not inside the buffer. The recorder and wgpu-hal do not check this.
fn check(buffer: &Buffer, offset: u64, size: u64) -> BackendResult<()> {
    if offset.checked_add(size).is_some_and(|end| end <= buffer.size()) {
        Ok(())
    } else {
        Err(BackendError::Other("internal error: a command accesses bytes beyond its buffer".to_owned()))
    }
}
