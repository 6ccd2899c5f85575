//! Limits of a device that launch keys depend on.

use std::sync::Arc;

use crate::gpu::open_device::Gpu;

/// Properties that are the same for all launches of a device.
#[derive(Clone, Debug)]
pub(crate) struct LaunchLimits {
    pub(crate) gpu: Arc<Gpu>,
    /// Work-groups of a dispatch, per dimension.
    pub(crate) max_groups: [u32; 3],
    /// Invocations that keep the device busy.
    pub(crate) busy_invocations: u64,
}
