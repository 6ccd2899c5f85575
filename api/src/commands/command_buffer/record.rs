//! Recorded commands and their positions.

use std::sync::Arc;

use crate::backend::Action;
use crate::commands::command::BufferAccess;
use crate::objects::program::executable::Executable;

/// A synchronisation point (cl_sync_point_khr).
pub type SyncPoint = u32;

/// The position of a command to record: its queue and its dependencies.
#[derive(Clone, Copy, Debug)]
pub struct RecordAt<'a> {
    /// The index of the command's queue in the command buffer.
    pub queue: usize,
    /// The synchronisation points that the command waits for.
    pub points: &'a [SyncPoint],
}

/// The work of a recorded command, prepared for the device of its queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedCommand {
    /// `None` for barriers and for launches without work-items.
    pub(crate) action: Option<Arc<Action>>,
    /// The program of a launch that may enqueue kernels.
    pub(crate) enqueues_from: Option<Arc<Executable>>,
    /// The memory accesses of the command.
    pub(crate) accesses: Vec<BufferAccess>,
}

/// The position of a recorded command: its queue and its dependencies.
#[derive(Clone, Debug)]
pub(crate) struct RecordPosition {
    pub(crate) queue: usize,
    pub(crate) waits: Vec<SyncPoint>,
    pub(crate) is_barrier: bool,
}

impl RecordPosition {
    /// The position of a command that is not a barrier.
    pub(crate) fn of(at: &RecordAt<'_>) -> Self {
        Self { queue: at.queue, waits: at.points.to_vec(), is_barrier: false }
    }

    /// The position of a barrier. A barrier without synchronisation points waits for all earlier commands. Later
    /// commands wait for every barrier.
    pub(crate) fn barrier(at: &RecordAt<'_>) -> Self {
        Self { is_barrier: true, ..Self::of(at) }
    }
}
