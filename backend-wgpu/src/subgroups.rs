//! How many work-items a subgroup has, where a device has several sizes of them (VK_EXT_subgroup_size_control).

use wgcl_api::options::Options;

use crate::approach::Approach;
use crate::vulkan::{Details, SubgroupSizes};

/// Work-items of a subgroup where its size varies and may be chosen: enough for a row of work-items to be one access, and few enough for private values.
const CHOSEN_SUBGROUP: u32 = 32;

/// The size that all pipelines require of their subgroups: where the device has several and nobody has said which, one; else none in particular.
pub(crate) fn required_subgroups(info: &wgpu::AdapterInfo, details: &Details, approach: Approach) -> Option<u32> {
    let SubgroupSizes { least, most, .. } = details.subgroups.filter(|_| approach.raw)?;
    let asked = Options::get().subgroup.as_deref().and_then(|text| text.parse::<u32>().ok());
    let asked = asked.filter(|size| size.is_power_of_two() && (least..=most).contains(size));
    let varies = info.subgroup_min_size != info.subgroup_max_size;
    asked.or_else(|| varies.then(|| CHOSEN_SUBGROUP.clamp(least, most)))
}

/// Work-items of every subgroup, where all have as many.
pub(crate) fn subgroup_size(info: &wgpu::AdapterInfo, details: &Details, approach: Approach) -> Option<u32> {
    let only = (info.subgroup_min_size == info.subgroup_max_size).then_some(info.subgroup_max_size);
    required_subgroups(info, details, approach).or(only)
}

/// Work-items of a group at most: no more subgroups than the device allows where it is told their size.
pub(crate) fn group_limit(limits: &wgpu::Limits, info: &wgpu::AdapterInfo, details: &Details, approach: Approach) -> u32 {
    let required = required_subgroups(info, details, approach).zip(details.subgroups);
    let most = required.map_or(u32::MAX, |(size, sizes)| size.saturating_mul(sizes.in_a_group));
    limits.max_compute_invocations_per_workgroup.min(most)
}
