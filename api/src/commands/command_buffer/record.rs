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
    /// No work, for barriers and for launches without work-items.
    pub(crate) action: Option<Arc<Action>>,
    /// The program of a launch that may enqueue kernels.
    pub(crate) enqueues_from: Option<Arc<Executable>>,
    /// The memory that it uses.
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
    /// The record of a command.
    pub(crate) fn of(at: &RecordAt<'_>) -> Self {
        Self { queue: at.queue, waits: at.points.to_vec(), is_barrier: false }
    }

    /// The record of a barrier. Without synchronisation points it waits for all earlier commands, and later commands
    /// wait for it.
    pub(crate) fn barrier(at: &RecordAt<'_>) -> Self {
        Self { is_barrier: true, ..Self::of(at) }
    }
}
