//! How many work-items a subgroup has, where a device has several sizes of them (VK_EXT_subgroup_size_control): those of a kernel that requires a size have that, all others
//! the one that the device chooses here.

use wgcl_api::options::Options;

use crate::adapter::capabilities::Capabilities;
use crate::vulkan::hal::{DeviceFacts, SubgroupSizes};

/// Work-items of a subgroup where its size varies and may be chosen: busy_invocations for a row of work-items to be one access, and few busy_invocations for private values.
const CHOSEN_SUBGROUP: u32 = 32;

/// The size that pipelines require of their subgroups if the kernel requires none: where the device has several and nobody has said which, one; else none in particular.
pub(crate) fn required_subgroups(info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> Option<u32> {
    let SubgroupSizes { least, most, .. } = facts.subgroups.filter(|_| capabilities.vulkan_queue)?;
    let asked = Options::get().subgroup_size().filter(|size| (least..=most).contains(size));
    let varies = info.subgroup_min_size != info.subgroup_max_size;
    asked.or_else(|| varies.then(|| CHOSEN_SUBGROUP.clamp(least, most)))
}

/// Work-items of the subgroups of kernels that require no size, where all have as many.
pub(crate) fn subgroup_size(info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> Option<u32> {
    let only = (info.subgroup_min_size == info.subgroup_max_size).then_some(info.subgroup_max_size);
    required_subgroups(info, facts, capabilities).or(only)
}

/// The sizes that a kernel may require, each the bit of that value: none where nobody can tell how many work-items a subgroup has.
pub(crate) fn subgroup_sizes(info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> u32 {
    let usual = subgroup_size(info, facts, capabilities).filter(|size| size.is_power_of_two()).unwrap_or(0);
    let may_require = facts.subgroups.filter(|_| capabilities.vulkan_queue);
    may_require.map_or(usual, |SubgroupSizes { least, most, .. }| powers_of_two(least, most) | usual)
}

/// The powers of two from one on up to another, each as its bit.
fn powers_of_two(least: u32, most: u32) -> u32 {
    (0..u32::BITS).map(|bit| 1 << bit).filter(|size| (least..=most).contains(size)).sum()
}

/// Work-items of a group at most: no more subgroups than the device allows where it is told their size.
pub(crate) fn group_limit(limits: &wgpu::Limits, info: &wgpu::AdapterInfo, facts: &DeviceFacts, capabilities: Capabilities) -> u32 {
    let required = required_subgroups(info, facts, capabilities).zip(facts.subgroups);
    let most = required.map_or(u32::MAX, |(size, sizes)| size.saturating_mul(sizes.in_a_group));
    limits.max_compute_invocations_per_workgroup.min(most)
}

#[cfg(test)]
mod tests {
    use super::powers_of_two;

    #[test]
    fn sizes_are_their_bits() {
        assert_eq!(powers_of_two(8, 32), 8 | 16 | 32);
        assert_eq!(powers_of_two(64, 64), 64);
        assert_eq!(powers_of_two(5, 7), 0);
    }
}
