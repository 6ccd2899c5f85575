//! Creates pipelines before they are needed.
//!
//! If the kernel of a launch is not compiled yet, the submission thread creates its pipeline and records the launch.
//! Meanwhile other threads create the pipelines of the launches that follow in the queue. All properties of a launch
//! are known when it is enqueued, so no pipeline is created in vain.

use std::sync::Arc;

use smallvec::SmallVec;
use wgcl_api::backend::{Action, BackendResult, Command, Launch};
use wgcl_compiler::launch::LaunchKey;
use wgcl_runtime::workers::{self, Urgency};

use crate::launch::kernel::Kernel;
use crate::launch::key::{launch_key, region_key};
use crate::launch::limits::LaunchLimits;
use crate::launch::ndrange::{GroupGrid, group_counts, local_size, regions};
use crate::launch::program::WgpuProgram;
use crate::launch::thread_coarsening::{LaunchSizes, coarsened_launch};

/// One key per region.
type Keys = SmallVec<[LaunchKey; 1]>;

impl LaunchLimits {
    /// Starts creating the pipelines of the command's launches in the background, except for the first `skipped`
    /// launches.
    pub(crate) fn prefetch(&self, command: &Command, skipped: usize) {
        match command {
            Command::Once(Action::Launch(launch)) if skipped == 0 => self.prefetch_launch(launch),
            Command::Replay(actions) => {
                let launches = actions.iter().filter_map(|action| match &**action {
                    Action::Launch(launch) => Some(launch),
                    _ => None,
                });
                launches.skip(skipped).for_each(|launch| self.prefetch_launch(launch));
            }
            _ => {}
        }
    }

    fn prefetch_launch(&self, launch: &Launch) {
        let Some(WgpuProgram { code, .. }) = launch.program.as_any().downcast_ref() else { return };
        let Ok(kernel) = code.kernel(&launch.kernel) else { return };
        if kernel.is_ready() || !kernel.is_first_to_begin() {
            return;
        }
        // Errors are reported when the launch is recorded.
        let Ok(Some((common, keys))) = self.keys(launch, kernel) else { return };
        let (limits, sizes) = (self.clone(), LaunchSizes::of(launch));
        let (code, kernel) = (Arc::downgrade(code), Arc::clone(kernel));
        workers::spawn(Urgency::Awaited, move || {
            let Some(code) = code.upgrade() else { return };
            let keys = match coarsened_launch(&code, &kernel, &sizes, &common, &limits) {
                Ok(Some(coarse)) => smallvec::smallvec![coarse.key],
                Ok(None) => keys,
                Err(_) => return,
            };
            for key in keys {
                let _ = code.make_ahead(&kernel, &key);
            }
        });
    }

    /// The common part of the launch's keys, and one key per region for a launch without coarsening.
    fn keys(&self, launch: &Launch, kernel: &Kernel) -> BackendResult<Option<(LaunchKey, Keys)>> {
        let local_size = local_size(launch, kernel, self.busy_invocations);
        let groups = group_counts(launch, local_size)?;
        if groups.contains(&0) {
            return Ok(None);
        }
        let common = launch_key(launch, kernel, &self.gpu, local_size)?;
        let (regions, guard) = regions(launch, GroupGrid { local_size, counts: groups }, kernel);
        let keys = regions.iter().map(|region| region_key(&common, region, guard, self.max_groups)).collect();
        Ok(Some((common, keys)))
    }
}
