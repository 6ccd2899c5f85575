//! The open batch, its submission, and the completion of commands.

pub(crate) mod batch_encoder;
pub(crate) mod completion;
pub(crate) mod open_batch;
pub(crate) mod timestamps;
