//! The interface to the Vulkan device below a `wgpu::Device`.

use std::fmt::Debug;
use std::ptr::NonNull;
use std::sync::Arc;

use wgcl_api::backend::{BackendResult, ExternalMemory};

use crate::buffer::Buffer;
use crate::host::mapping::Mapping;
use crate::vulkan::device_facts::DeviceFacts;
use crate::vulkan::queue::VulkanQueue;

/// A Vulkan device below wgpu. `hal_device` has the only implementation; on Apple's systems, where wgpu has no
/// Vulkan, there is none.
///
/// Sizes are not zero and within the device's limits.
pub(crate) trait VulkanDevice: Debug + Send + Sync {
    /// Creates a buffer with undefined contents; wgpu clears its own buffers on first use. With `mapped` the host
    /// gets an address that is valid for the buffer's lifetime.
    fn buffer(&self, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> BackendResult<(Buffer, Option<Mapping>)>;

    /// Creates a buffer with a [dedicated allocation](crate::vulkan::dedicated_allocation). `None` if the device has
    /// no memory type for it.
    fn dedicated_buffer(&self, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Option<Buffer>>;

    /// Creates a buffer on memory that another API exported. The buffer owns `fd` afterwards, unless creation fails.
    /// It may be larger than `size`.
    fn import_fd(&self, kind: ExternalMemory, fd: i32, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Buffer>;

    /// Creates a buffer on `size` bytes of host memory at `start` ([`crate::vulkan::host_memory_import`]).
    ///
    /// # Safety
    /// The device has [`DeviceFacts::host_import_alignment`]; `start` and `size` are multiples of it. The memory
    /// stays valid while the buffer exists.
    unsafe fn import_host(&self, start: NonNull<u8>, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Buffer>;

    /// Creates the [`VulkanQueue`] that submits to `queue`'s Vulkan queue. The device has timeline semaphores.
    fn queue(&self, queue: &wgpu::Queue, facts: &DeviceFacts, is_cpu: bool) -> BackendResult<Arc<VulkanQueue>>;
}
