//! The copies of printf buffers to the host, after the launches that write them ([`crate::readback::printf`]).

use std::sync::Arc;

use wgcl_api::backend::BackendResult;

use crate::readback::printf::{HEAD, Output, SIZE};
use crate::submit::batch_encoder::Dispatch;
use crate::submit::open_batch::OpenBatch;
use crate::transfer::builtin_kernels::{Builtin, Builtins, PARAMETERS};

/// Records the copies.
#[derive(Debug, Default)]
pub(crate) struct PrintfCopy(Builtins);

impl PrintfCopy {
    /// Records the copy of a buffer after the launch that writes it. Does nothing if the host can read the buffer in
    /// place.
    pub(crate) fn record(&mut self, batch: &mut OpenBatch, output: &Output) -> BackendResult<()> {
        let Some((from, to)) = output.copy() else { return Ok(()) };
        let gpu = Arc::clone(batch.gpu());
        if gpu.vulkan_queue.is_none() {
            return batch.copy((from, 0), (to, 0), HEAD);
        }
        let (groups, stride) = Builtin::CopyCounted.groups(SIZE, u32::MAX);
        let words = (SIZE / 4) as u32;
        let mut bytes = [0; PARAMETERS as usize];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([0, 0, words, stride]) {
            *place = word.to_le_bytes();
        }
        let slot = batch.place_parameters(&bytes)?;
        let compute = &self.0.get(&gpu, Builtin::CopyCounted)?;
        let group = compute.group(&gpu, &[(0, &slot.memory.buffer, 0, PARAMETERS), (1, to, 0, SIZE), (2, from, 0, SIZE)])?;
        let (uses, offset) = ([to.used(true), from.used(false)], Some(slot.offset as u32));
        batch.dispatch(&Dispatch { id: 0, compute, group: &group, offset, uses: &uses, groups: [groups, 1, 1] })
    }
}
