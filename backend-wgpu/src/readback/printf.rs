//! Buffers for `printf`. Each region of a launch that prints has one such buffer, from its recording until its text is
//! delivered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use wgcl_api::backend::BackendResult;
use wgcl_compiler::printf::{BUFFER_SIZE, Table};

use crate::buffer;
use crate::gpu::open_device::Gpu;
use crate::memory::device_memory::WgpuMemory;
use crate::memory::staging_buffer::{Direction, HostBuffer};

/// Maximum number of buffers in use at the same time.
pub(crate) const MAX_IN_FLIGHT: usize = 16;

/// Offset and size in bytes of the record counter.
pub(crate) const COUNTER: (u64, u64) = (0, 4);

#[derive(Debug)]
struct Buffer {
    memory: Arc<WgpuMemory>,
    /// Staging memory for the host, if it cannot read `memory`.
    down: Option<HostBuffer>,
}

#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<Vec<Buffer>>,
    in_use: AtomicUsize,
}

impl Pool {
    pub(crate) fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Acquire)
    }
}

/// The output of a region of a launch.
#[derive(Debug)]
pub(crate) struct Output {
    /// `None` once it was returned to the pool.
    buffer: Option<Buffer>,
    table: Arc<Table>,
    pool: Arc<Pool>,
}

impl Output {
    /// Takes a buffer from the pool for a launch, or creates one. The caller must clear its counter ([`COUNTER`]).
    pub(crate) fn new(gpu: &Arc<Gpu>, pool: &Arc<Pool>, table: &Arc<Table>) -> BackendResult<Self> {
        let free = pool.free.lock().pop();
        let buffer = match free {
            Some(buffer) => buffer,
            None => {
                let size = u64::from(BUFFER_SIZE);
                let memory = WgpuMemory::new(gpu, size, None)?;
                let down = if memory.mapping().is_some() { None } else { Some(HostBuffer::new(gpu, size, Direction::Down)?) };
                Buffer { memory, down }
            }
        };
        pool.in_use.fetch_add(1, Ordering::AcqRel);
        Ok(Self { buffer: Some(buffer), table: Arc::clone(table), pool: Arc::clone(pool) })
    }

    pub(crate) fn memory(&self) -> Option<&Arc<WgpuMemory>> {
        self.buffer.as_ref().map(|buffer| &buffer.memory)
    }

    /// Returns source and destination of the copy after the launch. `None` if the host can read the buffer in place.
    pub(crate) fn copy(&self) -> Option<(&buffer::Buffer, &buffer::Buffer)> {
        let buffer = self.buffer.as_ref()?;
        Some((buffer.memory.buffer(), &buffer.down.as_ref()?.buffer))
    }

    /// Returns the text. The launch must be complete.
    pub(crate) fn text(&self, gpu: &Gpu) -> BackendResult<Vec<u8>> {
        let Some(buffer) = &self.buffer else { return Ok(Vec::new()) };
        let size = u64::from(BUFFER_SIZE);
        if let Some(mapping) = buffer.memory.mapping() {
            // SAFETY: the buffer has that size. The launch that wrote it is complete, and no other launch uses it
            // until it is returned to the pool.
            return Ok(self.table.text(unsafe { mapping.bytes_mut(0, size) }));
        }
        let mut text = Vec::new();
        if let Some(down) = &buffer.down {
            down.read(gpu, 0, size, &mut |bytes| text = self.table.text(bytes))?;
        }
        Ok(text)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.free.lock().push(buffer);
            self.pool.in_use.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
