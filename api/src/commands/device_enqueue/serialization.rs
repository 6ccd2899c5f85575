//! Families of one program run one after the other: what their kernels enqueue lies in the same memory.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::KernelTree;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct TreeQueue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// A family runs.
    busy: bool,
    /// Those behind it.
    trees: VecDeque<Arc<KernelTree>>,
}

impl TreeQueue {
    /// Gives the family back if it may begin; otherwise it gets its turn later.
    pub(super) fn begin(&self, tree: Arc<KernelTree>) -> Option<Arc<KernelTree>> {
        let mut waiting = self.0.lock();
        if std::mem::replace(&mut waiting.busy, true) {
            waiting.trees.push_back(tree);
            return None;
        }
        Some(tree)
    }

    /// The family that runs has ended: the one whose turn it is.
    pub(super) fn end(&self) -> Option<Arc<KernelTree>> {
        let mut waiting = self.0.lock();
        let next = waiting.trees.pop_front();
        waiting.busy = next.is_some();
        next
    }
}
