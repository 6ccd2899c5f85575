//! The plan of a launch: its regions and launch keys, without pipelines. The recording of a launch and the prefetch of
//! its pipelines use the same plan.

use smallvec::SmallVec;
use wgcl_api::backend::{BackendResult, Launch};
use wgcl_compiler::launch::LaunchKey;
use wgcl_runtime::Program;

use crate::gpu::open_device::Gpu;
use crate::launch::kernel::Kernel;
use crate::launch::key::{launch_key, region_key};
use crate::launch::limits::LaunchLimits;
use crate::launch::ndrange::{GroupGrid, Region, group_counts, local_size, regions};
use crate::launch::thread_coarsening::{CoarsenedLaunch, LaunchSizes, coarsened_launch};

pub(crate) struct LaunchPlan {
    /// Work-groups of the launch per dimension, including remainder groups.
    pub(crate) groups: [u32; 3],
    /// Regions of a launch without coarsening.
    regions: SmallVec<[Region; 1]>,
    /// The dimensions in which groups may extend beyond the NDRange.
    guard: [bool; 3],
    /// The key without the fields that differ between regions.
    common: LaunchKey,
    sizes: LaunchSizes,
}

impl LaunchPlan {
    /// Plans a launch. Returns `None` if the launch has no work-items.
    pub(crate) fn new(launch: &Launch, kernel: &Kernel, limits: &LaunchLimits) -> BackendResult<Option<Self>> {
        let local_size = local_size(launch, kernel, limits.busy_invocations);
        let groups = group_counts(launch, local_size)?;
        if groups.contains(&0) {
            return Ok(None);
        }
        let common = launch_key(launch, kernel, &limits.gpu, local_size)?;
        let (regions, guard) = regions(launch, GroupGrid { local_size, counts: groups }, kernel);
        Ok(Some(Self { groups, regions, guard, common, sizes: LaunchSizes::of(launch) }))
    }

    /// Returns the regions of a launch without coarsening, each with its launch key. `max_groups` is the maximum number
    /// of work-groups of a dispatch, per dimension.
    pub(crate) fn regions(&self, max_groups: [u32; 3]) -> impl Iterator<Item = (Region, LaunchKey)> {
        self.regions.iter().map(move |region| (*region, region_key(&self.common, region, self.guard, max_groups)))
    }

    /// Returns the key and groups of a coarsened launch, or `None` if the launch is not coarsened.
    pub(crate) fn coarsened(&self, code: &Program<Gpu>, kernel: &Kernel, limits: &LaunchLimits) -> BackendResult<Option<CoarsenedLaunch>> {
        coarsened_launch(code, kernel, &self.sizes, &self.common, limits)
    }
}
