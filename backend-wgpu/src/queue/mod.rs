//! The way of a command from `clEnqueue...` to the device: the device's queue and the engine that it runs.

pub(crate) mod device_queue;
pub(crate) mod engine;
