//! Detects launches with wrong results because a loop ended early. lavapipe stops the loops of a work-item after 65,535
//! iterations in total. With lock-based 64-bit atomics, a work-item may give up waiting for a lock
//! ([`wgcl_compiler::passes::locks`]). Such launches fail.
//!
//! Kernels report such a loop in one word, which all launches share. If the host reads the word in place, it does not
//! know which launch in flight wrote the word. So all launches in flight fail. Otherwise each launch clears the word
//! before it begins, and copies it to staging memory at its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::passes::locks::{GAVE_UP, TABLE_BYTES};

use crate::buffer::Buffer;
use crate::gpu::open_device::Gpu;
use crate::host::mapping::Mapping;
use crate::memory::device_memory::WgpuMemory;
use crate::memory::staging_buffer::{Direction, HostBuffer};

/// Size in bytes of the word's memory, including the locks of 64-bit atomics ([`wgcl_compiler::passes::locks`]).
pub(crate) const BYTES: u64 = TABLE_BYTES as u64;

/// Number of bytes that are copied for the host.
pub(crate) const COPIED: u64 = 16;

/// The word in which the kernels of a device report loops that ended early.
#[derive(Debug)]
pub(crate) struct FailureWord {
    gpu: Arc<Gpu>,
    memory: Arc<WgpuMemory>,
    in_flight: Mutex<usize>,
    /// Staging memory for later launches, if the host cannot read the word in place.
    spare_copies: Mutex<Vec<HostBuffer>>,
}

impl FailureWord {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> BackendResult<Arc<Self>> {
        let memory = WgpuMemory::new(gpu, BYTES, None)?;
        let word = Self { gpu: Arc::clone(gpu), memory, in_flight: Mutex::new(0), spare_copies: Mutex::default() };
        word.clear();
        Ok(Arc::new(word))
    }

    pub(crate) const fn memory(&self) -> &Arc<WgpuMemory> {
        &self.memory
    }

    /// Returns the word if the host can read it in place, and otherwise 0.
    fn value(&self) -> u32 {
        // SAFETY: the memory has that size, and the start of a mapping is aligned for a word. Launches in flight may
        // set the word, so no reference to the word may exist. The result of the atomic load is an old or a new value.
        let load = |mapping: Mapping| unsafe { AtomicU32::from_ptr(mapping.0.as_ptr().cast()).load(Ordering::Acquire) };
        self.memory.mapping().map_or(0, |mapping| u32::from_le(load(mapping)))
    }

    fn clear(&self) {
        if let Some(mapping) = self.memory.mapping() {
            // SAFETY: the memory has that size, and no launch that uses it is in flight.
            unsafe { mapping.bytes_mut(0, BYTES) }.fill(0);
        }
    }

    /// Returns staging memory for a launch's copy, or `None` if the host can read the word in place.
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

/// A launch that may write the word, from its recording until its completion is reported.
#[derive(Debug)]
pub(crate) struct WatchedLaunch {
    word: Arc<FailureWord>,
    kernel: Arc<str>,
    /// Staging memory for the word, if the host cannot read it in place.
    copy: Option<HostBuffer>,
}

impl WatchedLaunch {
    pub(crate) fn new(word: &Arc<FailureWord>, kernel: &Arc<str>) -> BackendResult<Self> {
        let copy = word.take_copy()?;
        *word.in_flight.lock() += 1;
        Ok(Self { word: Arc::clone(word), kernel: Arc::clone(kernel), copy })
    }

    /// Returns the memory to clear before the launch. `None` if the host clears the word.
    pub(crate) fn memory_to_clear(&self) -> Option<&WgpuMemory> {
        self.copy.as_ref().map(|_| &**self.word.memory())
    }

    /// Returns source and destination of the copy after the launch. `None` if the host reads the word in place.
    pub(crate) fn copy(&self) -> Option<(&Buffer, &Buffer)> {
        Some((self.word.memory().buffer(), &self.copy.as_ref()?.buffer))
    }

    /// Fails if a loop ended early. The launch must be complete.
    pub(crate) fn check(&self) -> BackendResult<()> {
        let mut value = 0;
        match &self.copy {
            Some(copy) => copy.read(&self.word.gpu, 0, 4, &mut |bytes| value = first_word(bytes))?,
            None => value = self.word.value(),
        }
        let what = match value {
            0 => return Ok(()),
            GAVE_UP => "a work-item gave up waiting for the lock of an emulated 64-bit atomic operation",
            _ => "the driver stopped the loops of a work-item after 65,535 iterations in total",
        };
        Err(BackendError::Other(format!(
            "kernel `{}`: {what}; its results, or those of a kernel that ran at the same time, are wrong: use wgcl's CPU device",
            self.kernel
        )))
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
