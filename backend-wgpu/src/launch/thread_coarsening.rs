//! Thread coarsening: decides how many work-items an invocation runs, and the group size (see `passes::coarsen` of the
//! compiler).

use wgcl_api::backend::{BackendResult, DeviceKind, DeviceProperties, Launch};
use wgcl_api::options::Options;
use wgcl_compiler::launch::LaunchKey;
use wgcl_runtime::Program;

use crate::gpu::open_device::Gpu;
use crate::launch::kernel::{Kernel, KernelShader};
use crate::launch::limits::LaunchLimits;
use crate::launch::ndrange::GroupRange;

/// Maximum number of work-items per invocation: 16 one-byte elements are one 16-byte access.
const MAX_FACTOR: u32 = 16;
/// A coarsened launch has at least this many invocations per compute unit of a GPU: half of the invocations
/// that a unit runs at a time.
const PER_UNIT: u64 = 1024;
/// The minimum number of invocations per CPU thread: it leaves enough groups for all threads.
const PER_THREAD: u64 = 512;
/// Minimum number of invocations per group. A launch with fewer invocations has one smaller group.
const GROUP: u64 = 256;

/// Returns the choice of `WGCL_COARSEN`: `0` disables coarsening, `1` applies it to small launches, too.
fn coarsening_option() -> Option<bool> {
    match Options::get().coarsen.as_deref() {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    }
}

/// Returns the minimum number of invocations that keeps a device busy.
pub(crate) fn busy_invocations(properties: &DeviceProperties) -> u64 {
    let each = if properties.kind == DeviceKind::Cpu { PER_THREAD } else { PER_UNIT };
    each * u64::from(properties.compute_units)
}

/// The sizes of a launch that decide on coarsening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchSizes {
    global_offset: [u64; 3],
    global_size: [u64; 3],
    local_size: [u32; 3],
}

impl LaunchSizes {
    pub(crate) const fn of(launch: &Launch) -> Self {
        Self { global_offset: launch.global_offset, global_size: launch.global_size, local_size: launch.local_size }
    }

    /// Returns the maximum number of work-items per invocation, a power of two.
    fn max_factor(&self, kernel: &Kernel, limits: &LaunchLimits) -> u32 {
        let min_invocations = match coarsening_option() {
            Some(false) => return 1,
            Some(true) => 1,
            None => limits.busy_invocations,
        };
        if !kernel.group_independent() || self.global_offset != [0; 3] || !limits.gpu.capabilities.spirv {
            return 1;
        }
        let items = self.global_size.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        let mut factor = MAX_FACTOR;
        while factor > 1 && (!self.global_size[0].is_multiple_of(u64::from(factor)) || items / u64::from(factor) < min_invocations) {
            factor /= 2;
        }
        factor
    }

    /// Returns the key of a shader that may run up to `max_factor` work-items per invocation, and the groups of its
    /// launch. The group size and the groups assume that the shader runs `factor` work-items per invocation.
    fn key(&self, common: &LaunchKey, max_factor: u32, factor: u32, max_groups: [u32; 3]) -> (LaunchKey, GroupRange) {
        let mut invocations = self.global_size;
        invocations[0] /= u64::from(factor);
        let local_size = local_size(self.local_size, invocations);
        let groups = std::array::from_fn(|d| invocations[d].div_ceil(u64::from(local_size[d])) as u32);
        let part = GroupRange { base: [0; 3], groups };
        let mut key = common.clone();
        (key.kernel.local_size, key.kernel.enqueued_local_size, key.binding.coarsen) = (local_size, local_size, max_factor);
        key.kernel.guard = std::array::from_fn(|d| !invocations[d].is_multiple_of(u64::from(local_size[d])));
        (key.binding.single_dispatch, key.binding.two_dimensional_dispatch) = part.shape(max_groups);
        (key, part)
    }
}

/// Returns the group size for this many invocations. A small group size of the application grows in the first
/// dimension, up to the next power of two of the range. A larger first dimension shrinks to this power of two.
fn local_size(local: [u32; 3], invocations: [u64; 3]) -> [u32; 3] {
    let others = u64::from(local[1]) * u64::from(local[2]);
    let first = u64::from(local[0]).max(GROUP / others.max(1)).min(invocations[0].next_power_of_two());
    debug_assert!((1..=u64::from(u32::MAX)).contains(&first), "local size {first}");
    [first as u32, local[1], local[2]]
}

/// A launch whose invocations run several work-items each.
pub(crate) struct CoarsenedLaunch {
    pub(crate) key: LaunchKey,
    pub(crate) groups: GroupRange,
    /// Maximum number of work-items per invocation.
    pub(crate) max_factor: u32,
    /// Number of work-items per invocation that the shader runs.
    pub(crate) factor: u32,
}

/// Decides how a launch is coarsened. Returns `None` if the launch is not coarsened. If the factor of the kernel is
/// unknown, this function compiles shaders until one has the factor that its key assumes. The driver compiles only the
/// last of these shaders.
pub(crate) fn coarsened_launch(
    code: &Program<Gpu>,
    kernel: &Kernel,
    sizes: &LaunchSizes,
    common: &LaunchKey,
    limits: &LaunchLimits,
) -> BackendResult<Option<CoarsenedLaunch>> {
    let max_factor = sizes.max_factor(kernel, limits);
    if max_factor == 1 {
        return Ok(None);
    }
    let key = |factor: u32| sizes.key(common, max_factor, factor, limits.max_groups);
    let factor = kernel.measure_once(max_factor, || {
        let mut expected = max_factor.min(4);
        while expected > 1 {
            let found = code.inspect(kernel, &key(expected).0, |pipeline| pipeline.coarsening_factor, KernelShader::coarsening_factor)?;
            if found == expected {
                break;
            }
            expected = found;
        }
        Ok(expected)
    })?;
    let (key, groups) = key(factor);
    Ok((factor > 1).then_some(CoarsenedLaunch { key, groups, max_factor, factor }))
}

#[cfg(test)]
mod tests {
    use super::local_size;

    #[test]
    fn groups_are_large_and_at_most_the_next_power_of_two_of_the_range() {
        assert_eq!(local_size([64, 1, 1], [1 << 20, 1, 1]), [256, 1, 1]);
        assert_eq!(local_size([1024, 1, 1], [1 << 20, 1, 1]), [1024, 1, 1]);
        assert_eq!(local_size([16, 8, 1], [512, 512, 1]), [32, 8, 1]);
        assert_eq!(local_size([16, 8, 1], [5, 512, 1]), [8, 8, 1]);
        assert_eq!(local_size([1, 1, 1], [3, 1, 1]), [4, 1, 1]);
    }
}
