//! Serialises the launches of one program that enqueue kernels. The kernels of these launches share the program's
//! variables, which contain the records of enqueued kernels.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// A launch that waits for its predecessor.
pub(crate) trait Serialized: fmt::Debug + Send + Sync {
    /// Starts the launch; called once, when its predecessor has ended.
    fn begin(self: Arc<Self>);
}

/// The queue of launches of one program: at most one of them runs.
#[derive(Debug, Default)]
pub(crate) struct TreeQueue(Mutex<QueueState>);

#[derive(Debug, Default)]
struct QueueState {
    is_busy: bool,
    waiting: VecDeque<Arc<dyn Serialized>>,
}

impl TreeQueue {
    /// Starts a launch now, or when its predecessors have ended.
    pub(crate) fn submit(&self, launch: Arc<dyn Serialized>) {
        {
            let mut state = self.0.lock();
            if std::mem::replace(&mut state.is_busy, true) {
                state.waiting.push_back(launch);
                return;
            }
        }
        launch.begin();
    }

    /// Removes the launch that has ended. Returns its successor, which the caller begins.
    pub(crate) fn end(&self) -> Option<Arc<dyn Serialized>> {
        let mut state = self.0.lock();
        let next = state.waiting.pop_front();
        state.is_busy = next.is_some();
        next
    }
}
