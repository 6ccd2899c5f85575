//! The batch that is being recorded: one encoder, with a compute pass open as long as only launches come.

use std::sync::Arc;

use wgcl_api::backend::Progress;

use crate::gpu::Gpu;
use crate::stamps::{Stamp, StampSet};

/// Commands recorded and not yet submitted.
#[derive(Default)]
pub(crate) struct Batch {
    encoder: Option<wgpu::CommandEncoder>,
    pass: Option<wgpu::ComputePass<'static>>,
    /// The pipeline set in the pass.
    pipeline: u64,
    /// Commands so far.
    pub(crate) commands: u32,
    /// The query of the end of a command that has begun.
    open_stamp: Option<u32>,
    /// The query of the end of the last command, if nothing was recorded since.
    pub(crate) last_stamp: Option<u32>,
    /// Timestamps, where a command asked for them.
    pub(crate) stamps: Option<Arc<StampSet>>,
    /// Who is to hear of the submission.
    pub(crate) waiting: Vec<Arc<dyn Progress>>,
}

impl Batch {
    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.encoder.is_none()
    }

    /// The encoder, outside of a pass.
    pub(crate) fn encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        self.raw_encoder(gpu)
    }

    fn raw_encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        self.encoder.get_or_insert_with(|| gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()))
    }

    /// The pass.
    pub(crate) fn pass(&mut self, gpu: &Gpu) -> &mut wgpu::ComputePass<'static> {
        if self.pass.is_none() {
            let pass = self.raw_encoder(gpu).begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime();
            self.pass = Some(pass);
            self.pipeline = 0;
        }
        // Just made if it was not there.
        self.pass.get_or_insert_with(|| unreachable!("the pass was begun above"))
    }

    /// The pass with a pipeline set. Number 0 names none.
    pub(crate) fn pass_with(&mut self, gpu: &Gpu, id: u64, pipeline: &wgpu::ComputePipeline) -> &mut wgpu::ComputePass<'static> {
        self.pass(gpu);
        let known = std::mem::replace(&mut self.pipeline, id);
        let pass = self.pass(gpu);
        if known != id || id == 0 {
            pass.set_pipeline(pipeline);
        }
        pass
    }

    /// Writes the first timestamp of a command, outside of the pass unless `in_pass`.
    pub(crate) fn begin_stamp(&mut self, gpu: &Gpu, stamp: Option<&Stamp>, in_pass: bool) {
        if let (Some(end), Some(stamps)) = (self.open_stamp.take(), self.stamps.clone()) {
            // A command that failed after it had begun: what is never written cannot be resolved.
            self.write_stamp(gpu, &stamps.queries, end, in_pass);
        }
        if let Some(stamp) = stamp {
            if !stamp.follows {
                self.write_stamp(gpu, &stamp.set.queries, stamp.start, in_pass);
            }
            self.open_stamp = Some(stamp.end);
        }
    }

    /// Writes the second timestamp of a command.
    pub(crate) fn end_stamp(&mut self, gpu: &Gpu, stamp: Option<&Stamp>, in_pass: bool) {
        if let (Some(stamp), Some(end)) = (stamp, self.open_stamp.take()) {
            self.write_stamp(gpu, &stamp.set.queries, end, in_pass);
            self.last_stamp = Some(end);
        }
    }

    fn write_stamp(&mut self, gpu: &Gpu, queries: &wgpu::QuerySet, query: u32, in_pass: bool) {
        if in_pass {
            self.pass(gpu).write_timestamp(queries, query);
        } else {
            self.encoder(gpu).write_timestamp(queries, query);
        }
    }

    /// Ends the recording. `None` where there was none.
    pub(crate) fn finish(&mut self) -> Option<wgpu::CommandBuffer> {
        self.pass = None;
        let mut encoder = self.encoder.take()?;
        if let Some(stamps) = &self.stamps {
            // A command that goes on in the next batch: what was never written could not be resolved.
            if let Some(end) = self.open_stamp.take() {
                encoder.write_timestamp(&stamps.queries, end);
            }
            stamps.resolve(&mut encoder);
        }
        Some(encoder.finish())
    }

    /// Forgets what was recorded.
    pub(crate) fn discard(&mut self) {
        self.pass = None;
        self.encoder = None;
        self.commands = 0;
        self.open_stamp = None;
        self.last_stamp = None;
        self.stamps = None;
    }
}
