//! An open device, which all other modules share.

pub(crate) mod compute_pipeline;
pub(crate) mod open_device;
