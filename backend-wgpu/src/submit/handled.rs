//! What commands come to when a device takes them.

use wgcl_api::backend::Times;

use crate::submit::completion::{After, Moment};
use crate::submit::timestamps::Stamp;

/// What a command came to when it was taken.
pub(crate) enum Handled {
    /// It was recorded in the open batch.
    Recorded(Option<Stamp>),
    /// The same, and something is left to do when it is complete.
    Followed(Option<Stamp>, Box<After>),
    /// It is several.
    Several(Box<Several>),
    /// It is done.
    Done(Times),
    /// It has no work of its own.
    Nothing,
}

/// What became of commands that are one to the application.
#[derive(Default)]
pub(crate) struct Several {
    /// The first batch that has one of them.
    pub(crate) since: Option<u64>,
    /// What tells when the first of them ran.
    pub(crate) first: Option<Moment>,
    /// What tells when the last one ran, if there are more.
    pub(crate) last: Option<Moment>,
    pub(crate) after: After,
}

impl Several {
    /// Adds the next one, which was recorded in the batch of that number if it was recorded.
    pub(crate) fn add(&mut self, handled: Handled, serial: u64) {
        let moment = match handled {
            Handled::Nothing | Handled::Several(_) => return,
            Handled::Done(times) => Moment::Times(times),
            Handled::Recorded(stamp) => Moment::stamp(stamp),
            Handled::Followed(stamp, after) => {
                self.after.append(*after);
                Moment::stamp(stamp)
            }
        };
        if !matches!(moment, Moment::Times(_)) {
            self.since.get_or_insert(serial);
        }
        *(if self.first.is_none() { &mut self.first } else { &mut self.last }) = Some(moment);
    }
}
