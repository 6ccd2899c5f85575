//! Direct use of Vulkan below wgpu.
//!
//! wgpu finds and opens devices ([`hal_adapter`]) and owns the memory of buffers ([`hal_device`]). Commands go to the
//! driver through [`queue`] and [`command_buffer`]. Only the two `hal_*` modules use wgpu-hal's Vulkan types, which
//! do not exist on Apple's systems.

pub(crate) mod command_buffer;
pub(crate) mod dedicated_allocation;
pub(crate) mod device;
pub(crate) mod device_facts;
pub(crate) mod error;
#[cfg(not(target_vendor = "apple"))]
mod extensions;
#[cfg(not(target_vendor = "apple"))]
mod external_memory;
#[cfg(not(target_vendor = "apple"))]
pub(crate) mod hal_adapter;
#[cfg(not(target_vendor = "apple"))]
pub(crate) mod hal_device;
#[cfg(not(target_vendor = "apple"))]
mod host_memory_import;
pub(crate) mod pipeline_statistics;
pub(crate) mod queue;
pub(crate) mod semaphores;

impl device_facts::DeviceFacts {
    #[cfg(not(target_vendor = "apple"))]
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Self {
        hal_adapter::device_facts(adapter).unwrap_or_default()
    }

    #[cfg(target_vendor = "apple")]
    pub(crate) fn of(_: &wgpu::Adapter) -> Self {
        Self::default()
    }
}
