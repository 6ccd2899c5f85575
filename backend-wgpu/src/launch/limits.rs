//! What the keys of launches depend upon besides the launch.

use std::sync::Arc;

use crate::gpu::open_device::Gpu;

/// What is the same for all launches of a device.
#[derive(Clone, Debug)]
pub(crate) struct LaunchLimits {
    pub(crate) gpu: Arc<Gpu>,
    /// Groups that a dispatch may have in each dimension.
    pub(crate) max_groups: [u32; 3],
    /// Invocations that keep the device busy.
    pub(crate) busy_invocations: u64,
}
