//! The interface to the Vulkan device below a `wgpu::Device`.

use std::fmt::Debug;
use std::ptr::NonNull;
use std::sync::Arc;

use wgcl_api::backend::{BackendResult, ExternalMemory};

use crate::buffer::Buffer;
use crate::host::mapping::Mapping;
use crate::vulkan::device_facts::DeviceFacts;
use crate::vulkan::queue::VulkanQueue;

/// A Vulkan device below wgpu. The only implementation is in `hal_device`. Apple's systems have none, because wgpu has
/// no Vulkan on these systems.
///
/// Sizes must not be zero, and must be within the device's limits.
pub(crate) trait VulkanDevice: Debug + Send + Sync {
    /// Creates a buffer with undefined contents, unlike wgpu, which clears its buffers on first use. With `mapped`,
    /// also returns a host address that is valid for the buffer's lifetime.
    fn buffer(&self, size: u64, usage: wgpu::BufferUsages, mapped: bool) -> BackendResult<(Buffer, Option<Mapping>)>;

    /// Creates a buffer with a [dedicated allocation](crate::vulkan::dedicated_allocation). Returns `None` if the
    /// device has no memory type for such a buffer.
    fn dedicated_buffer(&self, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Option<Buffer>>;

    /// Creates a buffer of at least `size` bytes on memory that another API exported. If it succeeds, the buffer owns
    /// `fd`.
    fn import_fd(&self, kind: ExternalMemory, fd: i32, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Buffer>;

    /// Creates a buffer of `size` bytes on memory that other APIs can import. Also returns an opaque file descriptor of
    /// this memory, which the caller owns, and the size of the memory in bytes.
    fn exportable_buffer(&self, size: u64, usage: wgpu::BufferUsages) -> BackendResult<(Buffer, i32, u64)>;

    /// Creates a buffer on `size` bytes of host memory at `start` ([`crate::vulkan::host_memory_import`]).
    ///
    /// # Safety
    /// `start` and `size` must be multiples of the device's [`DeviceFacts::host_import_alignment`]. The memory must
    /// stay valid while the buffer exists.
    unsafe fn import_host(&self, start: NonNull<u8>, size: u64, usage: wgpu::BufferUsages) -> BackendResult<Buffer>;

    /// Creates the [`VulkanQueue`] that submits to `queue`'s Vulkan queue. The device must have timeline semaphores.
    fn queue(&self, queue: &wgpu::Queue, facts: &DeviceFacts, is_cpu: bool) -> BackendResult<Arc<VulkanQueue>>;
}
