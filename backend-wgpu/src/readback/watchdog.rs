//! Launches whose loops the driver may stop before they end (lavapipe, after 65,535 turns of a work-item), or in which a work-item may wait for a lock too long
//! ([`wgcl_compiler::passes::locks`]): they fail then, for what they leave is wrong.
//!
//! Their kernels say so in one word, the same for all. Where the host sees the word all the time, it looks there: while launches with such kernels are in
//! flight it is not known which of them wrote it, and all of them fail. Elsewhere each launch clears the word before it begins, and copies it for the host
//! when it has ended.

use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::passes::locks::{GAVE_UP, TABLE_BYTES};

use crate::buffer::Buffer;
use crate::gpu::open_device::Gpu;
use crate::memory::device_memory::WgpuMemory;
use crate::memory::staging_buffer::{Direction, HostBuffer};

/// Bytes of the word's memory: behind it are the locks of atomic operations that the device has not ([`wgcl_compiler::passes::locks`]).
pub(crate) const BYTES: u64 = TABLE_BYTES as u64;

/// Bytes that are copied for the host.
pub(crate) const COPIED: u64 = 16;

/// The word of a device.
#[derive(Debug)]
pub(crate) struct LoopWatchdog {
    gpu: Arc<Gpu>,
    memory: Arc<WgpuMemory>,
    in_flight: Mutex<usize>,
    /// Copies that no launch uses, where the host does not see the word itself.
    spare_copies: Mutex<Vec<HostBuffer>>,
}

impl LoopWatchdog {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> BackendResult<Arc<Self>> {
        let memory = WgpuMemory::new(gpu, BYTES, None)?;
        let word = Self { gpu: Arc::clone(gpu), memory, in_flight: Mutex::new(0), spare_copies: Mutex::default() };
        word.clear();
        Ok(Arc::new(word))
    }

    /// The memory to bind.
    pub(crate) const fn memory(&self) -> &Arc<WgpuMemory> {
        &self.memory
    }

    /// What the host sees, where it does.
    fn value(&self) -> u32 {
        // SAFETY: the memory has that size, and is only ever read as bytes here; whoever wrote the word is complete when it counts.
        self.memory.mapping().map_or(0, |mapping| first_word(unsafe { mapping.bytes_mut(0, COPIED) }))
    }

    fn clear(&self) {
        if let Some(mapping) = self.memory.mapping() {
            // SAFETY: the memory has that size, and no launch that uses it is in flight.
            unsafe { mapping.bytes_mut(0, BYTES) }.fill(0);
        }
    }

    /// Memory for a launch's copy, where the host does not see the word itself.
    fn take_copy(&self) -> BackendResult<Option<HostBuffer>> {
        if self.memory.mapping().is_some() {
            return Ok(None);
        }
        let spare = self.spare_copies.lock().pop();
        spare.map_or_else(|| HostBuffer::new(&self.gpu, COPIED, Direction::Down), Ok).map(Some)
    }
}

fn first_word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&word| u32::from_le_bytes(word))
}

/// A launch that is watched, from when it is recorded until it is told of.
#[derive(Debug)]
pub(crate) struct WatchedLaunch {
    word: Arc<LoopWatchdog>,
    kernel: Arc<str>,
    /// Where the word is copied when the launch has ended.
    copy: Option<HostBuffer>,
}

impl WatchedLaunch {
    pub(crate) fn new(word: &Arc<LoopWatchdog>, kernel: &Arc<str>) -> BackendResult<Self> {
        let copy = word.take_copy()?;
        *word.in_flight.lock() += 1;
        Ok(Self { word: Arc::clone(word), kernel: Arc::clone(kernel), copy })
    }

    /// What is to be cleared before the launch, if something is.
    pub(crate) fn to_clear(&self) -> Option<&WgpuMemory> {
        self.copy.as_ref().map(|_| &**self.word.memory())
    }

    /// From where to where the word is copied after the launch, if it is.
    pub(crate) fn copy(&self) -> Option<(&Buffer, &Buffer)> {
        Some((self.word.memory().buffer(), &self.copy.as_ref()?.buffer))
    }

    /// Whether all loops have ended by themselves, once the launch is complete.
    pub(crate) fn check(&self) -> BackendResult<()> {
        let mut value = 0;
        match &self.copy {
            Some(copy) => copy.read(&self.word.gpu, 0, 4, &mut |bytes| value = first_word(bytes))?,
            None => value = self.word.value(),
        }
        let what = match value {
            0 => return Ok(()),
            GAVE_UP => "the device has no atomic operations of 64 bits, and a work-item has waited too long for the lock in their place",
            _ => "the driver stops loops after 65,535 turns in one work-item, and has stopped one",
        };
        Err(BackendError::Other(format!("{what}: what {} has computed, or a kernel beside it, is wrong", self.kernel)))
    }
}

impl Drop for WatchedLaunch {
    fn drop(&mut self) {
        if let Some(copy) = self.copy.take() {
            self.word.spare_copies.lock().push(copy);
        }
        let mut in_flight = self.word.in_flight.lock();
        *in_flight -= 1;
        if *in_flight == 0 && self.word.value() != 0 {
            self.word.clear();
        }
    }
}
