//! Families of one program run one after the other: what their kernels enqueue lies in the same memory.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Family;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// A family runs.
    busy: bool,
    /// Those behind it.
    families: VecDeque<Arc<Family>>,
}

impl Turns {
    /// Gives the family back if it may begin; otherwise it gets its turn later.
    pub(super) fn begin(&self, family: Arc<Family>) -> Option<Arc<Family>> {
        let mut waiting = self.0.lock();
        if std::mem::replace(&mut waiting.busy, true) {
            waiting.families.push_back(family);
            return None;
        }
        Some(family)
    }

    /// The family that runs has ended: the one whose turn it is.
    pub(super) fn end(&self) -> Option<Arc<Family>> {
        let mut waiting = self.0.lock();
        let next = waiting.families.pop_front();
        waiting.busy = next.is_some();
        next
    }
}
