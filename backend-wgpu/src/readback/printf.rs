//! Buffers for `printf`. Each region of a launch that prints has one such buffer, from its recording until its text is
//! delivered.
//!
//! Most launches print little, so the buffer is not copied to the host as a whole. If the host cannot read it in place:
//! - On a Vulkan queue, a built-in kernel copies as many words as were printed. Only the recorder may submit to the
//!   queue, so the host cannot copy later.
//! - With wgpu's encoders, the launch copies the first [`HEAD`] bytes. If more was printed, the host copies the rest
//!   after the launch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use wgcl_api::backend::BackendResult;
use wgcl_compiler::printf::{BUFFER_SIZE, Table, used_bytes};

use crate::buffer;
use crate::gpu::open_device::{Gpu, Submission};
use crate::memory::device_memory::WgpuMemory;
use crate::memory::staging_buffer::{Direction, HostBuffer};

/// Maximum number of buffers in use at the same time.
pub(crate) const MAX_IN_FLIGHT: usize = 8;

/// Offset and size in bytes of the record counter.
pub(crate) const COUNTER: (u64, u64) = (0, 4);

/// Number of bytes that wgpu's encoders copy with each launch.
pub(crate) const HEAD: u64 = 64 << 10;
/// Size of the buffer in bytes.
pub(crate) const SIZE: u64 = BUFFER_SIZE as u64;

#[derive(Debug)]
struct Buffer {
    memory: Arc<WgpuMemory>,
    /// Staging memory for the host, if it cannot read `memory`: [`SIZE`] bytes on a Vulkan queue, otherwise [`HEAD`].
    down: Option<HostBuffer>,
}

impl Buffer {
    fn new(gpu: &Arc<Gpu>) -> BackendResult<Self> {
        let memory = WgpuMemory::new(gpu, SIZE, None)?;
        let down = match (memory.mapping(), &gpu.vulkan_queue) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(HostBuffer::new(gpu, SIZE, Direction::DownByKernel)?),
            (None, None) => Some(HostBuffer::new(gpu, HEAD, Direction::Down)?),
        };
        Ok(Self { memory, down })
    }

    /// Copies the first `size` bytes to the host with a separate submission, and calls `f` with them. Only for devices
    /// without a Vulkan queue.
    fn read_again(&self, gpu: &Gpu, size: u64, f: &mut dyn FnMut(&[u8])) -> BackendResult<()> {
        let down = HostBuffer::new(gpu, size, Direction::Down)?;
        let context = gpu.context_lock.lock();
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&self.memory.buffer().wgpu, 0, &down.buffer.wgpu, 0, size);
        let index = gpu.scoped(|| gpu.queue.submit([encoder.finish()]))?;
        drop(context);
        gpu.wait(Submission::Wgpu(index))?;
        down.read(gpu, 0, size, f)
    }
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
            None => Buffer::new(gpu)?,
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
        if let Some(mapping) = buffer.memory.mapping() {
            // SAFETY: the buffer has that size. The launch that wrote it is complete, and no other launch uses it
            // until it is returned to the pool.
            return Ok(self.table.text(unsafe { mapping.bytes_mut(0, SIZE) }));
        }
        let Some(down) = &buffer.down else { return Ok(Vec::new()) };
        let (mut text, mut used) = (Vec::new(), 0);
        down.read(gpu, 0, down.size, &mut |bytes| {
            used = used_bytes(bytes);
            if used <= bytes.len() as u64 {
                text = self.table.text(bytes);
            }
        })?;
        if used > down.size {
            buffer.read_again(gpu, used, &mut |bytes| text = self.table.text(bytes))?;
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
