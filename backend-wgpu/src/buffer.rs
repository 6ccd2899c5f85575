//! A buffer and its two handles.

use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;

/// A buffer, as wgpu and the layer below know it.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) wgpu: wgpu::Buffer,
    /// Null where there is no [`Gpu::raw`](crate::gpu::open_device::Gpu::raw).
    pub(crate) raw: vk::Buffer,
    /// Where shaders find it; 0 where they cannot.
    pub(crate) address: u64,
    /// Tells it from all that were made before, whose handle it may have.
    pub(crate) id: u64,
    /// Whether the host, or somebody else, reads it where it lies: what commands write there is made visible to them.
    pub(crate) seen: bool,
}

/// A buffer that a command uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) buffer: vk::Buffer,
    pub(crate) writes: bool,
    /// See [`Buffer::seen`].
    pub(crate) seen: bool,
}

impl Buffer {
    pub(crate) fn new(wgpu: wgpu::Buffer, raw: vk::Buffer, address: u64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { wgpu, raw, address, id: NEXT.fetch_add(1, Ordering::Relaxed), seen: true }
    }

    /// What a command has of it.
    pub(crate) const fn used(&self, writes: bool) -> Use {
        Use { buffer: self.raw, writes, seen: self.seen }
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        self.wgpu.size()
    }
}
