//! Messages to a device's submission thread.

use std::sync::Arc;

use wgcl_api::backend::{Command, Progress};

pub(crate) enum Message {
    Command {
        command: Command,
        profile: bool,
        progress: Arc<dyn Progress>,
    },
    /// Submit the open batch.
    Flush,
    /// The memory object with this ID was freed.
    Forget(u64),
    /// End the thread.
    Quit,
}
