//! What commands come to when a device takes them.

use wgcl_api::backend::Times;

use crate::submit::completion::{PostWork, Timing};
use crate::submit::timestamps::CommandTimestamps;

/// What a command came to when it was taken.
pub(crate) enum Handled {
    /// It was recorded in the open batch.
    Recorded(Option<CommandTimestamps>),
    /// The same, and something is left to do when it is complete.
    Followed(Option<CommandTimestamps>, Box<PostWork>),
    /// It is several.
    CommandList(Box<CommandList>),
    /// It is done.
    Done(Times),
    /// It has no work of its own.
    Nothing,
}

/// What became of commands that are one to the application.
#[derive(Default)]
pub(crate) struct CommandList {
    /// The first batch that has one of them.
    pub(crate) since: Option<u64>,
    /// What tells when the first of them ran.
    pub(crate) first: Option<Timing>,
    /// What tells when the last one ran, if there are more.
    pub(crate) last: Option<Timing>,
    pub(crate) post_work: PostWork,
}

impl CommandList {
    /// Adds the next one, which was recorded in the batch of that number if it was recorded.
    pub(crate) fn add(&mut self, handled: Handled, serial: u64) {
        let moment = match handled {
            Handled::Nothing | Handled::CommandList(_) => return,
            Handled::Done(times) => Timing::Times(times),
            Handled::Recorded(timestamps) => Timing::timestamps(timestamps),
            Handled::Followed(timestamps, post_work) => {
                self.post_work.append(*post_work);
                Timing::timestamps(timestamps)
            }
        };
        if !matches!(moment, Timing::Times(_)) {
            self.since.get_or_insert(serial);
        }
        *(if self.first.is_none() { &mut self.first } else { &mut self.last }) = Some(moment);
    }
}
