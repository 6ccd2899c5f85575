//! Creates pipelines before they are needed.
//!
//! If the kernel of a launch is not compiled yet, the submission thread creates its pipeline and records the launch.
//! Meanwhile other threads create the pipelines of the launches that follow in the queue. All properties of a launch
//! are known when it is enqueued, so no unused pipeline is created.
//!
//! A program may also choose another group size, for example after it has measured several. [`prefetch_group_size`]
//! then assumes that its other kernels are launched with this size as well.

use std::sync::Arc;

use wgcl_api::backend::{Action, Command, Launch};
use wgcl_compiler::launch::LaunchKey;
use wgcl_runtime::Program;
use wgcl_runtime::workers::{self, Urgency};

use crate::gpu::open_device::Gpu;
use crate::launch::kernel::Kernel;
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

/// Starts creating pipelines in the background if the kernel's group size has changed: those of the program's other
/// kernels that were last launched with the kernel's previous size. `key` is the key of the launch with the new size.
/// hashcat tests kernels with groups of one work-item, and then measures its speed in one batch with another size. On
/// an H200, one of its kernels for md5crypt was compiled for 19 to 37 ms during the 116 to 137 ms of this batch.
///
/// A device with unified memory creates no such pipelines, because an unneeded one takes CPU time from other work.
pub(crate) fn prefetch_group_size(code: &Arc<Program<Gpu>>, kernel: &Kernel, key: &LaunchKey) {
    // Remainder groups at the edges of an NDRange are smaller, but the program has not changed its group size.
    let size = key.kernel.enqueued_local_size;
    if code.machine().capabilities.unified || key.kernel.local_size != size {
        return;
    }
    let keys = code.last_keys();
    let Some((_, previous)) = keys.iter().find(|(known, _)| known.name() == kernel.name()) else { return };
    let old = previous.kernel.enqueued_local_size;
    if old == size {
        return;
    }
    for (other, known) in &keys {
        let follows = other.name() != kernel.name() && known.kernel.enqueued_local_size == old && !other.is_long();
        if follows && other.group_independent() == kernel.group_independent() {
            code.compile_in_background(other, with_groups_of(known, key), Urgency::Hint);
        }
    }
}

/// Returns a launch key with the work-groups of another key.
fn with_groups_of(known: &LaunchKey, key: &LaunchKey) -> LaunchKey {
    known.clone().changed(|changed| {
        changed.kernel.local_size = key.kernel.local_size;
        changed.kernel.enqueued_local_size = key.kernel.enqueued_local_size;
        changed.kernel.guard = key.kernel.guard;
        changed.binding.single_dispatch = key.binding.single_dispatch;
        changed.binding.two_dimensional_dispatch = key.binding.two_dimensional_dispatch;
    })
}
