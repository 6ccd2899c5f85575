//! What a device's thread is told.

use std::sync::Arc;

use wgcl_api::backend::{Command, Progress};

/// What a device's thread is told.
pub(crate) enum Message {
    /// A command.
    Command { command: Command, profile: bool, progress: Arc<dyn Progress> },
    /// Submit what was recorded.
    Flush,
    /// That memory is gone.
    Forget(u64),
    /// End.
    Quit,
}
