//! The objects of the API: platform, devices, contexts, queues, memory, programs, kernels, events.

pub mod context;
pub mod device;
pub mod device_address;
pub mod event;
pub mod external_memory;
pub mod external_semaphore;
pub mod graphics;
pub mod kernel;
pub mod memory;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod queue;
pub mod sampler;
pub mod semaphore;
pub(crate) mod semaphore_payload;
