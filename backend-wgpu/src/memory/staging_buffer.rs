//! Buffers that the host fills or reads. On Vulkan, they stay mapped ([`crate::host::mapping`]). With other APIs, wgpu
//! copies or maps them.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use wgcl_api::backend::{BackendError, BackendResult};
use wgpu::BufferUsages;

use crate::buffer::Buffer;
use crate::gpu::open_device::Gpu;
use crate::host::mapping::Mapping;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The host writes few bytes, and shaders read them as uniforms. Device memory is fastest.
    Arguments,
    /// The host writes many bytes, and copies and shaders read them once. Host memory is fastest.
    Up,
    /// Copies write the buffer, and the host reads it.
    Down,
    /// Built-in kernels write the buffer, and the host reads it. Only for devices with a Vulkan queue.
    DownByKernel,
}

#[derive(Debug)]
pub(crate) struct HostBuffer {
    pub(crate) id: u64,
    pub(crate) buffer: Buffer,
    pub(crate) size: u64,
    mapping: Option<Mapping>,
}

impl HostBuffer {
    pub(crate) fn new(gpu: &Gpu, size: u64, direction: Direction) -> BackendResult<Self> {
        let usage = match direction {
            Direction::Arguments => BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            // MAP_READ selects cached host memory. wgpu's portable interface does not allow this combination of
            // usages.
            Direction::Up if gpu.capabilities.vulkan_buffers => {
                BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | BufferUsages::MAP_READ
            }
            Direction::Up => BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            Direction::Down => BufferUsages::COPY_DST | BufferUsages::MAP_READ,
            Direction::DownByKernel => BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::MAP_READ,
        };
        let (buffer, mapping) = gpu.buffer(size, usage, true)?;
        Ok(Self { id: gpu.fresh_id(), buffer, size, mapping })
    }

    /// Writes bytes that no submission uses. `offset` must be a multiple of 4.
    pub(crate) fn write(&self, gpu: &Gpu, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        if offset.saturating_add(bytes.len() as u64) > self.size {
            return Err(BackendError::Other("internal error: a write ends beyond the staging buffer".to_owned()));
        }
        let Some(mapping) = self.mapping else {
            let whole = bytes.len() & !3;
            let (words, rest) = bytes.split_at(whole);
            return gpu.scoped(|| {
                if !words.is_empty() {
                    gpu.queue.write_buffer(&self.buffer.wgpu, offset, words);
                }
                if !rest.is_empty() {
                    let mut word = [0; 4];
                    word[..rest.len()].copy_from_slice(rest);
                    gpu.queue.write_buffer(&self.buffer.wgpu, offset + whole as u64, &word);
                }
            });
        };
        // SAFETY: the range was checked. The caller ensures that the device does not use it, and only the thread that
        // runs the engine writes this buffer.
        let target = unsafe { mapping.bytes_mut(offset, bytes.len() as u64) };
        gpu.copy_threads.copy(target, bytes);
        Ok(())
    }

    /// Calls `f` with bytes that a complete submission wrote. `offset` must be a multiple of 8.
    pub(crate) fn read(&self, gpu: &Gpu, offset: u64, size: u64, f: &mut dyn FnMut(&[u8])) -> BackendResult<()> {
        if offset.saturating_add(size) > self.size {
            return Err(BackendError::Other("internal error: a read ends beyond the staging buffer".to_owned()));
        }
        if size == 0 {
            return Ok(());
        }
        if let Some(mapping) = self.mapping {
            // SAFETY: the range was checked, and the submission that wrote it is complete. Nothing writes it during
            // the call.
            f(unsafe { mapping.bytes_mut(offset, size) });
            return Ok(());
        }
        let _context = gpu.context_lock.lock();
        let slice = self.buffer.wgpu.slice(offset..offset + size.next_multiple_of(4));
        let (sender, receiver) = channel();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            // The receiver waits in the loop below, unless polling failed.
            let _ = sender.send(result);
        });
        loop {
            gpu.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| BackendError::DeviceLost(error.to_string()))?;
            // Another thread may have polled at the same time, and may not have run the callback yet.
            match receiver.recv_timeout(Duration::from_millis(10)) {
                Ok(Ok(())) => break,
                Ok(Err(error)) => return Err(BackendError::Other(error.to_string())),
                Err(RecvTimeoutError::Timeout) => gpu.check_alive()?,
                Err(RecvTimeoutError::Disconnected) => return Err(BackendError::Other("the buffer could not be mapped".to_owned())),
            }
        }
        let view = slice.get_mapped_range().map_err(|error| BackendError::Other(error.to_string()))?;
        f(&view[..size as usize]);
        drop(view);
        self.buffer.wgpu.unmap();
        Ok(())
    }
}
