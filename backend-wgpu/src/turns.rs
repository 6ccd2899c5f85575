//! Launches whose loops the driver may stop before they end (lavapipe, after 65,535 turns of a work-item): they fail then, for what they leave is wrong.
//!
//! Their kernels say so in one word, the same for all. While launches with such kernels are in flight it is not known which of them wrote it: all of them fail.

use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult};

use crate::gpu::Gpu;
use crate::memory::WgpuMemory;

/// Bytes of the word's memory.
pub(crate) const BYTES: u64 = 16;

/// The word of a device.
#[derive(Debug)]
pub(crate) struct Word {
    memory: Arc<WgpuMemory>,
    in_flight: Mutex<usize>,
}

impl Word {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> BackendResult<Arc<Self>> {
        let word = Self { memory: WgpuMemory::new(gpu, BYTES, None)?, in_flight: Mutex::new(0) };
        word.clear();
        Ok(Arc::new(word))
    }

    /// The memory to bind.
    pub(crate) const fn memory(&self) -> &Arc<WgpuMemory> {
        &self.memory
    }

    fn is_set(&self) -> bool {
        // SAFETY: the memory has that size, and is only ever read as bytes here; whoever wrote the word is complete when it counts.
        self.memory.mapping().is_some_and(|mapping| unsafe { mapping.bytes_mut(0, 4) }.iter().any(|&byte| byte != 0))
    }

    fn clear(&self) {
        if let Some(mapping) = self.memory.mapping() {
            // SAFETY: the memory has that size, and no launch that uses it is in flight.
            unsafe { mapping.bytes_mut(0, BYTES) }.fill(0);
        }
    }
}

/// A launch that is watched, from when it is recorded until it is told of.
#[derive(Debug)]
pub(crate) struct Watch {
    word: Arc<Word>,
    kernel: Arc<str>,
}

impl Watch {
    pub(crate) fn new(word: &Arc<Word>, kernel: &Arc<str>) -> Self {
        *word.in_flight.lock() += 1;
        Self { word: Arc::clone(word), kernel: Arc::clone(kernel) }
    }

    /// Whether all loops have ended by themselves, once the launch is complete.
    pub(crate) fn check(&self) -> BackendResult<()> {
        if self.word.is_set() {
            return Err(BackendError::Other(format!(
                "the driver stops loops after 65,535 turns in one work-item, and has stopped one: what {} has computed, or a kernel beside it, is wrong",
                self.kernel
            )));
        }
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut in_flight = self.word.in_flight.lock();
        *in_flight -= 1;
        if *in_flight == 0 && self.word.is_set() {
            self.word.clear();
        }
    }
}
