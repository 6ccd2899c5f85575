//! Direct use of Vulkan below wgpu: commands, memory and queries about a device.

pub(crate) mod command_buffer;
pub(crate) mod dedicated_allocation;
pub(crate) mod external_memory;
pub(crate) mod hal;
pub(crate) mod host_memory_import;
pub(crate) mod pipeline_statistics;
pub(crate) mod queue;
pub(crate) mod semaphores;
