//! A buffer with its wgpu handle and its Vulkan handle.

use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk;

use crate::context_lock::Guarded;
use crate::host_visibility::HostVisibility;

/// Offsets and sizes of Vulkan's and wgpu's copy commands are multiples of this number of bytes.
pub(crate) const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) wgpu: Guarded<wgpu::Buffer>,
    /// Null if the device has no [`Gpu::vulkan_queue`](crate::gpu::open_device::Gpu::vulkan_queue).
    pub(crate) handle: vk::Buffer,
    /// The address for shaders, or 0 if the buffer has no address.
    pub(crate) address: u64,
    /// Unique. A new buffer may get the Vulkan handle of a destroyed one.
    pub(crate) id: u64,
    /// Whether writes of commands become visible to the host or to another API, which read the buffer without a copy.
    pub(crate) visibility: HostVisibility,
}

/// One use of a buffer by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) buffer: vk::Buffer,
    pub(crate) writes: bool,
    pub(crate) host_visible: bool,
}

impl Buffer {
    pub(crate) fn new(wgpu: Guarded<wgpu::Buffer>, handle: vk::Buffer, address: u64) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { wgpu, handle, address, id: NEXT.fetch_add(1, Ordering::Relaxed), visibility: HostVisibility::new(true) }
    }

    pub(crate) fn used(&self, writes: bool) -> Use {
        Use { buffer: self.handle, writes, host_visible: self.visibility.has_barriers() }
    }

    pub(crate) fn size(&self) -> u64 {
        self.wgpu.size()
    }
}
