//! Limits of a device that launch keys depend on.

use std::sync::Arc;

use crate::gpu::open_device::Gpu;

/// The device of a launch, and the limits that are the same for all its launches.
#[derive(Clone, Debug)]
pub(crate) struct LaunchLimits {
    pub(crate) gpu: Arc<Gpu>,
    /// Maximum number of work-groups of a dispatch, per dimension.
    pub(crate) max_groups: [u32; 3],
    /// Minimum number of invocations that keeps the device busy.
    pub(crate) busy_invocations: u64,
}
