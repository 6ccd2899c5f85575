//! The device extensions that wgcl enables besides wgpu's.

use std::ffi::CStr;

/// Compares the device clock with the host's.
pub(super) const CALIBRATED_TIMESTAMPS: &CStr = ash::ext::calibrated_timestamps::NAME;
/// Lets shaders access buffers by address. If the extension is in the list, wgpu-hal enables the feature and allocates
/// memory with addresses.
pub(super) const BUFFER_ADDRESSES: &CStr = ash::khr::buffer_device_address::NAME;
/// Reports register counts of pipelines.
pub(super) const PIPELINE_EXECUTABLES: &CStr = ash::khr::pipeline_executable_properties::NAME;
/// Lets shaders read clocks.
pub(super) const SHADER_CLOCK: &CStr = ash::khr::shader_clock::NAME;
/// Imports memory from file descriptors.
pub(super) const MEMORY_FD: &CStr = ash::khr::external_memory_fd::NAME;
pub(super) const DMA_BUF: &CStr = ash::ext::external_memory_dma_buf::NAME;
/// Imports memory of the host.
pub(super) const HOST_MEMORY: &CStr = ash::ext::external_memory_host::NAME;
/// Shares semaphores by file descriptors.
pub(super) const SEMAPHORE_FD: &CStr = ash::khr::external_semaphore_fd::NAME;
