//! An open device, which all other modules share, and a test of a device before it is offered.

pub(crate) mod compute_pipeline;
pub(crate) mod open_device;
pub(crate) mod self_test;
