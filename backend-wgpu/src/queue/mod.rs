//! The queue of a device, from `clEnqueue...` to recorded commands.

pub(crate) mod device_queue;
pub(crate) mod engine;
