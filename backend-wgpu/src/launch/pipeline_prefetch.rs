//! Creates pipelines before they are needed.
//!
//! If the kernel of a launch is not compiled yet, the submission thread creates its pipeline and records the launch.
//! Meanwhile other threads create the pipelines of the launches that follow in the queue. All properties of a launch
//! are known when it is enqueued, so no unused pipeline is created.

use std::sync::Arc;

use wgcl_api::backend::{Action, Command, Launch};
use wgcl_runtime::workers::{self, Urgency};

use crate::launch::limits::LaunchLimits;
use crate::launch::plan::LaunchPlan;
use crate::launch::program::WgpuProgram;

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
        if kernel.is_ready() || !kernel.claim_background_compilation() {
            return;
        }
        // Errors are reported when the launch is recorded.
        let Ok(Some(plan)) = LaunchPlan::new(launch, kernel, self) else { return };
        let limits = self.clone();
        let (code, kernel) = (Arc::downgrade(code), Arc::clone(kernel));
        workers::spawn(Urgency::Awaited, move || {
            let Some(code) = code.upgrade() else { return };
            match plan.coarsened(&code, &kernel, &limits) {
                Ok(Some(coarse)) => drop(code.compile_for_later(&kernel, &coarse.key)),
                Ok(None) => plan.regions(limits.max_groups).for_each(|(_, key)| drop(code.compile_for_later(&kernel, &key))),
                Err(_) => {}
            }
        });
    }
}
