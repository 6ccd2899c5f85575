//! Subgroup sizes on devices that have several (VK_EXT_subgroup_size_control). A kernel that requires a subgroup size
//! gets that size. All other kernels get the size that this module chooses.

use wgcl_api::options::Options;

use crate::adapter::capabilities::Capabilities;
use crate::vulkan::device_facts::{DeviceFacts, SubgroupSizes};

/// The subgroup size if the device supports several. A subgroup of this size loads a contiguous range in one access,
/// and leaves enough registers for private values.
const CHOSEN_SUBGROUP: u32 = 32;

/// Returns the subgroup size that pipelines require for kernels that require none. Returns `None` if pipelines cannot
/// require a size, or if the device has only one size and `WGCL_SUBGROUP` requests none.
pub(crate) fn required_subgroup_size(info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> Option<u32> {
    let SubgroupSizes { min, max, .. } = facts.subgroups.filter(|_| capabilities.vulkan_queue)?;
    let requested = Options::get().subgroup_size().filter(|size| (min..=max).contains(size));
    let varies = info.subgroup_min_size != info.subgroup_max_size;
    requested.or_else(|| varies.then(|| CHOSEN_SUBGROUP.clamp(min, max)))
}

/// Returns the subgroup size of kernels that require none, or `None` if it varies.
pub(crate) fn subgroup_size(info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> Option<u32> {
    let only = (info.subgroup_min_size == info.subgroup_max_size).then_some(info.subgroup_max_size);
    required_subgroup_size(info, facts, capabilities).or(only)
}

/// Returns the sum of the sizes that a kernel may require. Each size is a power of two, so the sum is a bit mask. The
/// result is 0 if pipelines cannot require a size and the default size varies.
pub(crate) fn subgroup_sizes(info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> u32 {
    let usual = subgroup_size(info, facts, capabilities).filter(|size| size.is_power_of_two()).unwrap_or(0);
    let may_require = facts.subgroups.filter(|_| capabilities.vulkan_queue);
    may_require.map_or(usual, |SubgroupSizes { min, max, .. }| powers_of_two(min, max) | usual)
}

/// Returns the sum of the powers of two from `min` to `max`.
fn powers_of_two(min: u32, max: u32) -> u32 {
    (0..u32::BITS).map(|bit| 1 << bit).filter(|size| (min..=max).contains(size)).sum()
}

/// Returns the maximum number of work-items per work-group. If pipelines require a subgroup size, the device also
/// limits the number of subgroups per work-group.
pub(crate) fn group_limit(limits: &wgpu::Limits, info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> u32 {
    let required = required_subgroup_size(info, facts, capabilities).zip(facts.subgroups);
    let max_items = required.map_or(u32::MAX, |(size, sizes)| size.saturating_mul(sizes.max_per_group));
    limits.max_compute_invocations_per_workgroup.min(max_items)
}

#[cfg(test)]
mod tests {
    use super::powers_of_two;

    #[test]
    fn subgroup_sizes_are_a_bit_mask() {
        assert_eq!(powers_of_two(8, 32), 8 | 16 | 32);
        assert_eq!(powers_of_two(64, 64), 64);
        assert_eq!(powers_of_two(5, 7), 0);
    }
}
