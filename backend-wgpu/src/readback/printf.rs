//! Buffers for `printf`: one for each launch that prints, from the launch until its text was handed on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use wgcl_api::backend::BackendResult;
use wgcl_compiler::printf::{BUFFER_SIZE, Table};

use crate::buffer;
use crate::gpu::open_device::Gpu;
use crate::memory::device_memory::WgpuMemory;
use crate::memory::staging_buffer::{Direction, HostBuffer};

/// Launches that print, in flight at the same time: what waits to be read takes memory.
pub(crate) const MAX_IN_FLIGHT: usize = 16;

/// Where a buffer counts its records: the first byte, and how many.
pub(crate) const COUNTER: (u64, u64) = (0, 4);

#[derive(Debug)]
struct Buffer {
    memory: Arc<WgpuMemory>,
    /// Where the host reads it, if not in place.
    down: Option<HostBuffer>,
}

/// The buffers of a device.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<Vec<Buffer>>,
    in_use: AtomicUsize,
}

impl Pool {
    /// Buffers in use.
    pub(crate) fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Acquire)
    }
}

/// What a launch prints.
#[derive(Debug)]
pub(crate) struct Output {
    /// `None` once it was given back.
    buffer: Option<Buffer>,
    table: Arc<Table>,
    pool: Arc<Pool>,
}

impl Output {
    /// A buffer for a launch; what it counts in begins at [`COUNTER`] and is to be zeroed first.
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

    /// The memory to bind.
    pub(crate) fn memory(&self) -> Option<&Arc<WgpuMemory>> {
        self.buffer.as_ref().map(|buffer| &buffer.memory)
    }

    /// From where to where the records are copied after the launch, if the host does not read them in place.
    pub(crate) fn copy(&self) -> Option<(&buffer::Buffer, &buffer::Buffer)> {
        let buffer = self.buffer.as_ref()?;
        Some((buffer.memory.buffer(), &buffer.down.as_ref()?.buffer))
    }

    /// The text, once the launch is complete.
    pub(crate) fn text(&self, gpu: &Gpu) -> BackendResult<Vec<u8>> {
        let Some(buffer) = &self.buffer else { return Ok(Vec::new()) };
        let size = u64::from(BUFFER_SIZE);
        if let Some(mapping) = buffer.memory.mapping() {
            // SAFETY: the buffer has that size, the launch that wrote it is complete, and no other uses it before it is given back.
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
