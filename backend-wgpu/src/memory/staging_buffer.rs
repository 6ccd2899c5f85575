//! Buffers that the host fills or reads: through a mapping that lasts where the device has one, else through wgpu's portable means.
//!
//! # Soundness
//! A mapping is plain memory that the device may access at the same time. References into it are made only here, for the time of a copy, by
//! code that holds that the device does not touch those bytes then: the submission thread, after waiting for the work that does.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use wgcl_api::backend::{BackendError, BackendResult, HostSource, HostTarget, Memory};
use wgcl_api::types::host_memory::HostRegion;
use wgpu::BufferUsages;

use crate::buffer::Buffer;
use crate::gpu::open_device::Gpu;
use crate::memory::device_memory::WgpuMemory;
use crate::vulkan::hal::Mapping;

impl Mapping {
    /// The address.
    pub(crate) fn address(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// The range lies inside the buffer, the buffer lives as long as the result, nobody else accesses those bytes meanwhile.
    pub(crate) unsafe fn bytes_mut<'a>(self, offset: u64, size: u64) -> &'a mut [u8] {
        // SAFETY: the caller's promise; mapped memory is initialised as far as the abstract machine is concerned, for the driver wrote it.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_ptr().add(offset as usize), size as usize) }
    }
}

/// What a [`HostBuffer`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The host writes little, and shaders read it as uniforms: best in the device's memory.
    Arguments,
    /// The host writes much; copies and shaders read it once: best in the host's memory.
    Up,
    /// Copies write it, the host reads.
    Down,
}

/// A buffer for traffic with the host.
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
            // Said to be read by the host: cached, and not across the bus. Only where the usage is not the portable interface's to check.
            Direction::Up if gpu.capabilities.vulkan_buffers => {
                BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST | BufferUsages::MAP_READ
            }
            Direction::Up => BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            Direction::Down => BufferUsages::COPY_DST | BufferUsages::MAP_READ,
        };
        let (buffer, mapping) = gpu.buffer(size, usage, true)?;
        Ok(Self { id: gpu.fresh_id(), buffer, size, mapping })
    }

    /// Puts bytes into a place that no submission still uses. `offset` is a multiple of 4.
    pub(crate) fn write(&self, gpu: &Gpu, offset: u64, bytes: &[u8]) -> BackendResult<()> {
        if offset.saturating_add(bytes.len() as u64) > self.size {
            return Err(BackendError::Other("a write beyond the staging memory".to_owned()));
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
        // SAFETY: the range was checked; the caller says that the device does not use it, and only the submission thread writes here.
        let target = unsafe { mapping.bytes_mut(offset, bytes.len() as u64) };
        gpu.copy_threads.copy(target, bytes);
        Ok(())
    }

    /// Hands bytes to `f` that a complete submission wrote. `offset` is a multiple of 8.
    pub(crate) fn read(&self, gpu: &Gpu, offset: u64, size: u64, f: &mut dyn FnMut(&[u8])) -> BackendResult<()> {
        if offset.saturating_add(size) > self.size {
            return Err(BackendError::Other("a read beyond the staging memory".to_owned()));
        }
        if size == 0 {
            return Ok(());
        }
        if let Some(mapping) = self.mapping {
            // SAFETY: the range was checked, and the submission that wrote it is complete; nothing writes it before the caller is done.
            f(unsafe { mapping.bytes_mut(offset, size) });
            return Ok(());
        }
        let slice = self.buffer.wgpu.slice(offset..offset + size.next_multiple_of(4));
        let (sender, receiver) = channel();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            // The receiver waits below; it is gone only where polling failed.
            let _ = sender.send(result);
        });
        loop {
            gpu.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| BackendError::DeviceLost(error.to_string()))?;
            // The other thread may have polled at the same time and be about to call back.
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

/// Host memory that the device reads and writes by itself.
#[derive(Debug)]
pub(crate) struct Pinned {
    memory: Arc<WgpuMemory>,
    mapping: Mapping,
}

impl Pinned {
    pub(crate) fn new(memory: Arc<WgpuMemory>) -> Option<Self> {
        Some(Self { mapping: memory.mapping()?, memory })
    }
}

impl HostRegion for Pinned {
    fn address(&self) -> usize {
        self.mapping.address()
    }

    fn source(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostSource> {
        Arc::new(PinnedBytes { region: self, offset, size })
    }

    fn target(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostTarget> {
        Arc::new(PinnedBytes { region: self, offset, size })
    }
}

/// Some of its bytes.
#[derive(Debug)]
struct PinnedBytes {
    region: Arc<Pinned>,
    offset: u64,
    size: u64,
}

impl PinnedBytes {
    fn memory(&self) -> (Arc<dyn Memory>, u64) {
        (Arc::<WgpuMemory>::clone(&self.region.memory), self.offset)
    }

    /// Hands the bytes to `f`, where they lie inside the memory.
    fn visit(&self, f: &mut dyn FnMut(&mut [u8])) {
        if self.offset.checked_add(self.size).is_some_and(|end| end <= self.region.memory.size()) {
            // SAFETY: the range is the memory's, which the region keeps. Maps and unmaps are commands: the host has the bytes while the device
            // does not, if the application does as it must.
            f(unsafe { self.region.mapping.bytes_mut(self.offset, self.size) });
        }
    }
}

impl HostSource for PinnedBytes {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        self.visit(&mut |bytes| f(bytes));
    }

    fn memory(&self) -> Option<(Arc<dyn Memory>, u64)> {
        Some(self.memory())
    }
}

impl HostTarget for PinnedBytes {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        self.visit(f);
    }

    fn memory(&self) -> Option<(Arc<dyn Memory>, u64)> {
        Some(self.memory())
    }
}
