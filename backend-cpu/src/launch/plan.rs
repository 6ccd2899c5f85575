//! The launch plan: regions and variant keys, computed once when a launch is enqueued.
//!
//! The command contains the plan. The background compilation (at enqueue) and the execution (afterwards) use the same
//! plan, so both request the same variants.

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch};

use crate::memory::ObjectSizes;
use crate::ndrange::{self, Grouping, Region, RegionList};
use crate::program::key::VariantKey;
use crate::program::{CpuProgram, Regroup};

/// The device properties that a plan depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanContext {
    /// Number of threads that run work-groups.
    pub(crate) threads: usize,
    pub(crate) objects: ObjectSizes,
}

/// A region, and the kernel variant that runs it.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRegion {
    pub(crate) region: Region,
    pub(crate) key: VariantKey,
}

/// The sizes of a launch, its regions, and the variants that run them.
#[derive(Clone, Debug)]
pub(crate) struct LaunchPlan {
    pub(crate) num_groups: [u32; 3],
    pub(crate) global_size: [u32; 3],
    pub(crate) global_offset: [u32; 3],
    pub(crate) regions: SmallVec<[PlannedRegion; 1]>,
}

impl LaunchPlan {
    /// Plans a launch.
    ///
    /// # Errors
    /// Fails if the program belongs to another back end or lacks the kernel. Also fails if the arguments do not match
    /// the kernel, or if a size or an offset exceeds 32 bits.
    pub(crate) fn new(launch: &Launch, context: PlanContext) -> BackendResult<Self> {
        let program = program_of(launch)?;
        let kernel = program.code.kernel(&launch.kernel)?;
        let style = program.code.machine().style;
        // The sanitizer reports group ids, which must be those of the launch.
        let may_regroup = kernel.can_regroup() && !style.checked;
        let grouping = if may_regroup { Grouping::Regrouped { threads: context.threads } } else { Grouping::Requested };
        let RegionList { num_groups, regions } = ndrange::split(launch, grouping)?;
        let common = VariantKey::of_launch(launch, kernel.params(), style, context.objects)?;
        let planned = |region: Region| PlannedRegion { region, key: common.clone().with_region(&region) };
        Ok(Self {
            num_groups,
            global_size: ndrange::to_u32("global size", launch.global_size)?,
            global_offset: ndrange::to_u32("global offset", launch.global_offset)?,
            regions: regions.into_iter().map(planned).collect(),
        })
    }
}

/// The program of a launch.
///
/// # Errors
/// Fails if the program belongs to another backend.
pub(crate) fn program_of(launch: &Launch) -> BackendResult<&CpuProgram> {
    launch
        .program
        .as_any()
        .downcast_ref()
        .ok_or_else(|| BackendError::Other("internal error: the program of the launch belongs to another backend".to_owned()))
}
