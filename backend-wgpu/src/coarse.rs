//! Launches whose invocations stand for several work-items (`passes::coarsen` of the compiler): when, and in which groups.

use wgcl_api::backend::{BackendResult, DeviceKind, DeviceProperties, Launch};
use wgcl_api::options::Options;
use wgcl_compiler::launch::LaunchKey;

use crate::engine::Engine;
use crate::launch::{Part, Stage, split_or_rows};
use crate::prepare::Planner;
use crate::program::{Kernel, WgpuProgram};

/// Most work-items an invocation: 16 bytes of single ones.
const MOST: u32 = 16;
/// Invocations that a launch must leave for each compute unit of a GPU: half of what it holds at a time.
const PER_UNIT: u64 = 1024;
/// The same of a CPU, which takes them in turn: enough groups for all threads.
const PER_THREAD: u64 = 512;
/// Invocations of a group.
const GROUP: u64 = 256;

/// What `WGCL_COARSEN` asks for: never, or however small a launch is.
fn asked() -> Option<bool> {
    match Options::get().coarsen.as_deref() {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    }
}

/// Invocations that keep a device busy.
pub(crate) fn enough(properties: &DeviceProperties) -> u64 {
    let each = if properties.kind == DeviceKind::Cpu { PER_THREAD } else { PER_UNIT };
    each * u64::from(properties.compute_units)
}

/// How many work-items an invocation may stand for: a power of two.
fn most(launch: &Launch, kernel: &Kernel, least: u64) -> u32 {
    if !kernel.group_blind || launch.global_offset != [0; 3] {
        return 1;
    }
    let items = launch.global_size.iter().fold(1u64, |product, &n| product.saturating_mul(n));
    let mut most = MOST;
    while most > 1 && (!launch.global_size[0].is_multiple_of(u64::from(most)) || items / u64::from(most) < least) {
        most /= 2;
    }
    most
}

/// A local size for invocations of which there are so many: the application's where it is large enough, longer in the first dimension where it is not.
fn local_size(local: [u32; 3], invocations: [u64; 3]) -> [u32; 3] {
    let others = u64::from(local[1]) * u64::from(local[2]);
    let first = u64::from(local[0]).max(GROUP / others.max(1)).min(invocations[0].next_power_of_two());
    [u32::try_from(first).unwrap_or(u32::MAX).max(1), local[1], local[2]]
}

/// How many work-items an invocation may stand for in a launch, and for how many it probably will: the first launch guesses; what the compiler has found is
/// remembered. `None` where it is one.
fn guess(launch: &Launch, kernel: &Kernel, planner: &Planner) -> Option<(u32, u32)> {
    let least = match asked() {
        Some(false) => return None,
        Some(true) => 1,
        None => planner.enough,
    };
    let most = most(launch, kernel, least);
    if most == 1 || !planner.gpu.approach.spirv {
        return None;
    }
    let known = kernel.coarse.lock().get(&most).copied();
    Some((most, known.unwrap_or(4.min(most))))
}

/// The key, and the groups, of a launch whose invocations may stand for `most` work-items and are taken to stand for `count`.
fn coarse_key(launch: &Launch, common: &LaunchKey, (most, count): (u32, u32), max_groups: [u32; 3]) -> (LaunchKey, Part) {
    let mut invocations = launch.global_size;
    invocations[0] /= u64::from(count);
    let local_size = local_size(launch.local_size, invocations);
    let groups = std::array::from_fn(|d| invocations[d].div_ceil(u64::from(local_size[d])) as u32);
    let part = Part { base: [0; 3], groups };
    let mut key = LaunchKey { local_size, enqueued_local_size: local_size, coarsen: most, ..common.clone() };
    key.guard = std::array::from_fn(|d| !invocations[d].is_multiple_of(u64::from(local_size[d])));
    (key.single_dispatch, key.rows) = part.shape(max_groups);
    (key, part)
}

/// The first key that [`Engine::coarse_stage`] tries for a launch, if it tries any.
pub(crate) fn first_coarse_key(launch: &Launch, kernel: &Kernel, common: &LaunchKey, planner: &Planner) -> Option<LaunchKey> {
    let (most, count) = guess(launch, kernel, planner).filter(|(_, count)| *count > 1)?;
    Some(coarse_key(launch, common, (most, count), planner.max_groups).0)
}

impl Engine {
    /// The stage of a launch that is coarsened; `None` for the others.
    pub(crate) fn coarse_stage(
        &mut self,
        launch: &Launch,
        (program, kernel): (&WgpuProgram, &Kernel),
        common: &LaunchKey,
    ) -> BackendResult<Option<Stage>> {
        let Some((most, mut count)) = guess(launch, kernel, &self.planner) else { return Ok(None) };
        while count > 1 {
            let (key, part) = coarse_key(launch, common, (most, count), self.planner.max_groups);
            let pipeline = self.pipeline(program, kernel, &key)?;
            if pipeline.coarse == count {
                let parts = split_or_rows(part, self.planner.max_groups, key.rows);
                return Ok(Some(Stage { pipeline, parts, output: None, folded: key.folded, pieces: key.pieces }));
            }
            count = pipeline.coarse;
            kernel.coarse.lock().insert(most, count);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::local_size;

    #[test]
    fn groups_are_large_enough_and_no_larger_than_the_range() {
        assert_eq!(local_size([64, 1, 1], [1 << 20, 1, 1]), [256, 1, 1]);
        assert_eq!(local_size([1024, 1, 1], [1 << 20, 1, 1]), [1024, 1, 1]);
        assert_eq!(local_size([16, 8, 1], [512, 512, 1]), [32, 8, 1]);
        assert_eq!(local_size([16, 8, 1], [5, 512, 1]), [8, 8, 1]);
        assert_eq!(local_size([1, 1, 1], [3, 1, 1]), [4, 1, 1]);
    }
}
