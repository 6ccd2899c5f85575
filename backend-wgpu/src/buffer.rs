//! A buffer and its two handles.

use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;

/// A buffer, as wgpu and the layer below know it.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) wgpu: wgpu::Buffer,
    /// Null where there is no [`Gpu::vulkan_queue`](crate::gpu::open_device::Gpu::vulkan_queue).
    pub(crate) handle: vk::Buffer,
    /// Where shaders find it; 0 where they cannot.
    pub(crate) address: u64,
    /// Tells it from all that were made before, whose handle it may have.
    pub(crate) id: u64,
    /// Whether the host, or somebody else, reads it where it lies: what commands write there is made visible to them.
    pub(crate) host_visible: bool,
}

/// A buffer that a command uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) buffer: vk::Buffer,
    pub(crate) writes: bool,
    /// See [`Buffer::host_visible`].
    pub(crate) host_visible: bool,
}

impl Buffer {
    pub(crate) fn new(wgpu: wgpu::Buffer, handle: vk::Buffer, address: u64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { wgpu, handle, address, id: NEXT.fetch_add(1, Ordering::Relaxed), host_visible: true }
    }

    /// What a command has of it.
    pub(crate) const fn used(&self, writes: bool) -> Use {
        Use { buffer: self.handle, writes, host_visible: self.host_visible }
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        self.wgpu.size()
    }
}
