//! Replaces `subgroups.rs` on systems for which the crate corosensei cannot switch stacks: Windows on ARM64. The device
//! reports no independent progress of subgroups there, so no kernel has a scheduler.

use std::ops::Range;

use wgcl_compiler::vectorize::abi::{LaunchContext, WorkerContext};

use crate::program::Variant;

/// Whether subgroups can wait for each other.
pub(crate) const IS_AVAILABLE: bool = false;

/// The places of stacks, of which there are none.
pub(crate) struct Places;

impl Places {
    pub(crate) const fn of(_variant: &Variant) -> Self {
        Self
    }

    /// A size that no memory has, so that the launch fails.
    pub(crate) const fn size(&self) -> u64 {
        u64::MAX
    }
}

pub(crate) struct Scheduler;

impl Scheduler {
    /// Never called, because no kernel has a scheduler.
    ///
    /// # Safety
    /// There are no conditions.
    pub(crate) const unsafe fn run(_variant: &Variant, _launch: &LaunchContext, _memory: u64, _groups: Range<u64>) {}
}

generated_code_abi! {
    /// Never called, because no kernel has a scheduler.
    pub(crate) fn schedule(_worker: *const WorkerContext, _request: u64, _group: u64) -> u64 {
        0
    }
}
