//! The batch that is being recorded: wgpu's encoder, with a compute pass open as long as only launches come, or a command buffer of Vulkan's.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Progress};

use crate::buffer::{Buffer, Use};
use crate::gpu::open_device::{Gpu, Submission};
use crate::launch::pipeline::{BindGroup, ComputePipeline};
use crate::submit::timestamps::{CommandTimestamps, Queries, TimestampSet};
use crate::vulkan::command_buffer::{CommandRecorder, Location};
use crate::vulkan::semaphores::Semaphore;

/// Commands recorded and not yet submitted.
#[derive(Default)]
pub(crate) struct BatchEncoder {
    /// Where commands go directly to Vulkan.
    recorder: Option<CommandRecorder>,
    encoder: Option<wgpu::CommandEncoder>,
    pass: Option<wgpu::ComputePass<'static>>,
    /// The pipeline set in the pass.
    pipeline: u64,
    /// Commands so far.
    pub(crate) commands: u32,
    /// The query of the end of a command that has begun.
    open_query: Option<u32>,
    /// The query of the end of the last command, if nothing was recorded since.
    pub(crate) last_query: Option<u32>,
    /// Timestamps, where a command asked for them.
    pub(crate) timestamp_set: Option<Arc<TimestampSet>>,
    /// Who is to hear of the submission.
    pub(crate) waiting: Vec<Arc<dyn Progress>>,
}

/// The buffers that a dispatch uses, without arguments.
pub(crate) type Uses = SmallVec<[Use; 8]>;

/// What a dispatch runs and binds.
pub(crate) struct Dispatch<'a> {
    /// A number that names the pipeline, or 0.
    pub(crate) id: u64,
    pub(crate) compute: &'a Arc<ComputePipeline>,
    pub(crate) group: &'a Arc<BindGroup>,
    /// Where the arguments are in their buffer, if there are any.
    pub(crate) offset: Option<u32>,
    /// See [`Uses`].
    pub(crate) uses: &'a [Use],
    pub(crate) groups: [u32; 3],
}

impl BatchEncoder {
    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.encoder.is_none() && self.recorder.as_ref().is_none_or(CommandRecorder::is_empty)
    }

    /// The recorder, where there is one.
    fn recorder(&mut self, gpu: &Gpu) -> BackendResult<Option<&mut CommandRecorder>> {
        if let (None, Some(queue)) = (&self.recorder, &gpu.vulkan_queue) {
            self.recorder = Some(CommandRecorder::new(queue)?);
        }
        Ok(self.recorder.as_mut())
    }

    /// The encoder, outside of a pass.
    fn encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        self.raw_encoder(gpu)
    }

    fn raw_encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        self.encoder.get_or_insert_with(|| gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()))
    }

    /// The pass.
    fn pass(&mut self, gpu: &Gpu) -> &mut wgpu::ComputePass<'static> {
        if self.pass.is_none() {
            let pass = self.raw_encoder(gpu).begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime();
            self.pass = Some(pass);
            self.pipeline = 0;
        }
        // Just made if it was not there.
        self.pass.get_or_insert_with(|| unreachable!("the pass was begun above"))
    }

    /// Copies bytes between buffers; everything is a multiple of 4 and inside of them.
    pub(crate) fn copy(&mut self, gpu: &Gpu, (from, at): (&Buffer, u64), (to, place): (&Buffer, u64), size: u64) -> BackendResult<()> {
        check(from, at, size)?;
        check(to, place, size)?;
        if let Some(recorder) = self.recorder(gpu)? {
            // SAFETY: just checked.
            return unsafe { recorder.copy(Location::new(from, at), Location::new(to, place), size) };
        }
        self.encoder(gpu).copy_buffer_to_buffer(&from.wgpu, at, &to.wgpu, place, size);
        Ok(())
    }

    /// Zeroes bytes; both numbers are multiples of 4.
    pub(crate) fn clear(&mut self, gpu: &Gpu, buffer: &Buffer, at: u64, size: u64) -> BackendResult<()> {
        check(buffer, at, size)?;
        if let Some(recorder) = self.recorder(gpu)? {
            // SAFETY: just checked.
            return unsafe { recorder.fill(Location::new(buffer, at), size, 0) };
        }
        self.encoder(gpu).clear_buffer(&buffer.wgpu, at, Some(size));
        Ok(())
    }

    /// Repeats a word, where there is a command for that.
    pub(crate) fn fill(&mut self, gpu: &Gpu, buffer: &Buffer, (at, size): (u64, u64), word: u32) -> BackendResult<bool> {
        check(buffer, at, size)?;
        match self.recorder(gpu)? {
            // SAFETY: just checked.
            Some(recorder) => unsafe { recorder.fill(Location::new(buffer, at), size, word) }.map(|()| true),
            None => Ok(false),
        }
    }

    /// Runs a pipeline.
    pub(crate) fn dispatch(&mut self, gpu: &Gpu, dispatch: &Dispatch<'_>) -> BackendResult<()> {
        let Dispatch { id, compute, group, offset, uses, groups } = *dispatch;
        if let Some(recorder) = self.recorder(gpu)? {
            // SAFETY: the group was made for the pipeline, and the offset is that of a slot of the arguments' ring.
            return unsafe { recorder.dispatch(compute, group, offset, uses, groups) };
        }
        let (ComputePipeline::Wgpu { pipeline, .. }, BindGroup::Wgpu(group)) = (&**compute, &**group) else {
            return Err(BackendError::Other("a pipeline of Vulkan's".to_owned()));
        };
        self.pass(gpu);
        let known = std::mem::replace(&mut self.pipeline, id);
        let pass = self.pass(gpu);
        if known != id || id == 0 {
            pass.set_pipeline(pipeline);
        }
        pass.set_bind_group(0, group, offset.as_slice());
        let [x, y, z] = groups;
        pass.dispatch_workgroups(x, y, z);
        Ok(())
    }

    /// Writes the first timestamp of a command, outside of the pass unless `in_pass`.
    pub(crate) fn begin_timestamps(&mut self, gpu: &Gpu, timestamps: Option<&CommandTimestamps>, in_pass: bool) -> BackendResult<()> {
        if let (Some(end), Some(timestamp_set)) = (self.open_query.take(), self.timestamp_set.clone()) {
            // A command that failed after it had begun: what is never written cannot be resolved.
            self.write_timestamp_query(gpu, &timestamp_set.queries, end, in_pass)?;
        }
        if let Some(timestamps) = timestamps {
            if !timestamps.follows {
                self.write_timestamp_query(gpu, &timestamps.set.queries, timestamps.start, in_pass)?;
            }
            self.open_query = Some(timestamps.end);
            // What runs between two timestamps is what they are to measure.
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

    /// Ends the recording and submits it as the batch of that number. `None` where there was none.
    pub(crate) fn submit(&mut self, gpu: &Gpu, serial: u64) -> BackendResult<Option<Submission>> {
        if let (Some(timestamp_set), Some(end)) = (self.timestamp_set.clone(), self.open_query.take()) {
            // A command that goes on in the next batch: what was never written could not be resolved.
            self.write_timestamp_query(gpu, &timestamp_set.queries, end, false)?;
        }
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

    /// Submits nothing but waits and signals as the batch of that number.
    pub(crate) fn submit_semaphores(
        &mut self,
        gpu: &Gpu,
        serial: u64,
        waits: &[Arc<Semaphore>],
        signals: &[Arc<Semaphore>],
    ) -> BackendResult<()> {
        match self.recorder(gpu)? {
            Some(recorder) => recorder.submit_semaphores(serial, waits, signals),
            None => Err(BackendError::Other("semaphores of others".to_owned())),
        }
    }

    /// Waits until the driver has nothing more to do.
    pub(crate) fn idle(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.idle();
        }
    }

    /// Forgets what was recorded.
    pub(crate) fn discard(&mut self) {
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

/// Fails where bytes do not lie inside a buffer: nobody below checks it.
fn check(buffer: &Buffer, at: u64, size: u64) -> BackendResult<()> {
    if at.checked_add(size).is_some_and(|end| end <= buffer.size()) {
        Ok(())
    } else {
        Err(BackendError::Other("a command beyond the end of a buffer".to_owned()))
    }
}
