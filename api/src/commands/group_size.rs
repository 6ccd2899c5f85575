//! The work-group size of a launch: the limits (OpenCL API, clEnqueueNDRangeKernel), and the choice where the
//! application specifies none.

use wgcl_compiler::program::KernelInfo;

use crate::backend::{DeviceProperties, PreferredGroup};
use crate::types::error::{Error, Result, ensure};
use crate::types::nd_range::{NdRange, widen};

/// The work-group limits of a kernel on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupLimits<'a> {
    device: &'a DeviceProperties,
    /// Work-items of a subgroup. The last subgroup of a group may be smaller.
    pub(crate) subgroup: u32,
    /// Maximum work-items of a group.
    pub(crate) max_items: u32,
}

impl<'a> GroupLimits<'a> {
    /// Returns the limits of a kernel, which may require a subgroup size (cl_intel_required_subgroup_size).
    pub(crate) fn of(device: &'a DeviceProperties, info: &KernelInfo) -> Self {
        let usual = Self::of_device(device);
        info.reqd_subgroup_size.map_or(usual, |subgroup| {
            let max_items = usual.max_items.min(subgroup.saturating_mul(device.max_required_subgroups));
            Self { subgroup, max_items, ..usual }
        })
    }

    /// Returns the limits of kernels that require no subgroup size.
    pub(crate) fn of_device(device: &'a DeviceProperties) -> Self {
        Self { device, subgroup: device.subgroup_size.max(1), max_items: device.max_group_invocations }
    }

    /// Chooses a local size. If `remainder` is false, the local size divides the global size. It is a multiple of the
    /// subgroup size if possible. Its size hides latencies and, if possible, leaves no compute unit idle.
    pub(crate) fn choose(&self, work_dim: u32, global: [u64; 3], remainder: bool) -> [u32; 3] {
        let properties = self.device;
        let items = global.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        let preferred = preferred_group_size(properties, items);
        let subgroup = u64::from(self.subgroup);
        let target = preferred.max(subgroup).min(self.max_items.into());
        let limit = |dim: usize| u64::from(properties.max_group_size[dim]);
        let mut local = [1u64; 3];
        // Kernels with several dimensions mostly read neighbours in all directions, and a flat group would use the
        // cache badly. The first dimension is therefore limited to 32 work-items, or to a subgroup if that is larger.
        let first = if work_dim > 1 { subgroup.max(32).min(target) } else { target };
        local[0] = divisor(global[0], first.min(limit(0)), subgroup);
        for dim in 1..work_dim.min(3) as usize {
            let rest = target / local.iter().product::<u64>();
            local[dim] = divisor(global[dim], rest.min(limit(dim)), 1);
        }
        // The first dimension takes the part of the size that the other dimensions do not use.
        let others: u64 = local[1..].iter().product();
        local[0] = local[0].max(divisor(global[0], (target / others).min(limit(0)), subgroup));
        if remainder && local.iter().product::<u64>() * MAX_GROUP_REDUCTION < target.min(items) {
            local = [1; 3];
            local[0] = global[0].clamp(1, first.min(limit(0)));
            for dim in 1..work_dim.min(3) as usize {
                let rest = target / local.iter().product::<u64>();
                local[dim] = global[dim].clamp(1, rest.min(limit(dim)).max(1));
            }
        }
        local.map(|n| u32::try_from(n).unwrap_or(1))
    }

    /// Returns the application's local size, or else the size that the kernel requires, or else a chosen size. Fails if
    /// that size is not valid.
    pub(crate) fn local_size(&self, info: &KernelInfo, range: &NdRange<'_>, global: [u64; 3]) -> Result<[u32; 3]> {
        let properties = self.device;
        let Some(given) = range.local_size else {
            let in_a_row = |count: u32| [count.saturating_mul(self.subgroup), 1, 1];
            let Some(required) = info.reqd_work_group_size.or(info.reqd_subgroups.map(in_a_row)) else {
                let remainder = info.non_uniform_groups || info.group_independent;
                return Ok(self.choose(range.work_dim, global, remainder));
            };
            self.check_required(info, required, global)?;
            return Ok(required);
        };
        let local = widen(Some(given), 1);
        let total = local.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is specified and does not match the required work-group size
        // for kernel in the program source."
        if let Some(required) = info.reqd_work_group_size {
            ensure!(
                local == required.map(u64::from),
                InvalidWorkGroupSize,
                "kernel `{}`: expected the required local size {required:?}, got {local:?}",
                info.name
            );
        }
        if let Some(required) = info.reqd_subgroups {
            let count = total.map(|items| items.div_ceil(u64::from(self.subgroup)));
            ensure!(
                count == Some(u64::from(required)),
                InvalidWorkGroupSize,
                "kernel `{}`: local size {local:?} does not have the required {required} sub-groups",
                info.name
            );
        }
        // "CL_INVALID_WORK_GROUP_SIZE ... if the total number of work-items in the work-group is zero."
        ensure!(!local.contains(&0), InvalidWorkGroupSize, "local size {local:?} contains 0");
        // "... when non-uniform work-groups are not supported, the size of each work-group must be uniform. If
        // local_work_size is specified, the values specified in global_work_size must be evenly divisible by the
        // corresponding values specified in local_work_size."
        let divides = info.non_uniform_groups || global.iter().zip(&local).all(|(n, &size)| n.is_multiple_of(size));
        ensure!(divides, InvalidWorkGroupSize, "local size {local:?} does not divide global size {global:?}");
        // "CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any of local_work_size[0], ... is greater
        // than the corresponding values specified by CL_DEVICE_MAX_WORK_ITEM_SIZES." This check precedes the check of
        // the total number of work-items, which would also reject nearly every such size, but with another error.
        let fits = local.iter().zip(&properties.max_group_size).all(|(&n, &limit)| n <= u64::from(limit));
        ensure!(fits, InvalidWorkItemSize, "local size {local:?} exceeds the device's limits {:?}", properties.max_group_size);
        // "CL_INVALID_WORK_GROUP_SIZE ... if the total number of work-items in the work-group is greater than the value
        // specified by CL_KERNEL_WORK_GROUP_SIZE."
        let limit = u64::from(self.max_items);
        ensure!(total.is_some_and(|n| n <= limit), InvalidWorkGroupSize, "local size {local:?} exceeds the limit of {limit} work-items");
        let mut narrow = [1u32; 3];
        for (narrow, wide) in narrow.iter_mut().zip(local) {
            *narrow = u32::try_from(wide)
                .map_err(|_| Error::InvalidWorkItemSize(format!("local size {wide}: the limit of a dimension is 2^32 - 1").into()))?;
        }
        Ok(narrow)
    }

    /// Checks the local size that a kernel requires, for a launch without a local size. A required size above a limit
    /// of the device is not a build error, because the program may be built for several devices.
    fn check_required(&self, info: &KernelInfo, required: [u32; 3], global: [u64; 3]) -> Result<()> {
        let name = &info.name;
        // "CL_INVALID_WORK_GROUP_SIZE if ... the number of work-items specified by global_work_size is not evenly
        // divisible by ... the required work-group size specified in the kernel source."
        let divides =
            global.iter().zip(&required).all(|(n, &size)| size != 0 && (info.non_uniform_groups || n.is_multiple_of(u64::from(size))));
        ensure!(
            divides,
            InvalidWorkGroupSize,
            "kernel `{name}`: the required local size {required:?} does not divide the global size {global:?}"
        );
        // CL_INVALID_WORK_ITEM_SIZE is only specified for values of local_work_size. A required size that exceeds a
        // limit therefore gives CL_INVALID_WORK_GROUP_SIZE.
        let limits = self.device.max_group_size;
        ensure!(
            required.iter().zip(&limits).all(|(size, limit)| size <= limit),
            InvalidWorkGroupSize,
            "kernel `{name}`: the required local size {required:?} exceeds the device's limits {limits:?}"
        );
        let total = required.iter().try_fold(1u64, |product, &n| product.checked_mul(n.into()));
        let limit = self.max_items;
        ensure!(
            total.is_some_and(|total| total <= u64::from(limit)),
            InvalidWorkGroupSize,
            "kernel `{name}`: the required local size {required:?} exceeds the limit of {limit} work-items"
        );
        Ok(())
    }
}

/// The maximum ratio of the preferred size to a group size that divides the global size. Beyond this ratio, groups of
/// the preferred size with a smaller last group are faster.
const MAX_GROUP_REDUCTION: u64 = 4;

/// Returns the largest divisor of `n` up to `limit` that is a multiple of `multiple`. If there is none, returns the
/// largest divisor up to `limit`.
fn divisor(n: u64, limit: u64, multiple: u64) -> u64 {
    let limit = limit.min(n).max(1);
    let divides = |d: &u64| n.is_multiple_of(*d);
    let preferred = (1..=limit / multiple.max(1)).rev().map(|k| k * multiple).find(divides);
    preferred.or_else(|| (1..=limit).rev().find(divides)).unwrap_or(1)
}

/// Returns the preferred number of work-items per group for a launch with `items` work-items, a power of two.
fn preferred_group_size(properties: &DeviceProperties, items: u64) -> u64 {
    let PreferredGroup { min_items, max_items, groups_per_unit } = properties.preferred_group;
    let groups = u64::from(groups_per_unit.max(1)) * u64::from(properties.compute_units.max(1));
    let share = (items / groups).clamp(u64::from(min_items.max(1)), u64::from(max_items.max(min_items).max(1)));
    1 << share.ilog2()
}

#[cfg(test)]
mod tests {
    use super::{GroupLimits, divisor};
    use crate::backend::PreferredGroup;
    use crate::test_backend::properties;

    #[test]
    fn divisors() {
        assert_eq!(divisor(1000, 256, 32), 250);
        assert_eq!(divisor(1024, 256, 32), 256);
        assert_eq!(divisor(96 * 7, 256, 32), 224);
        assert_eq!(divisor(1_000_003, 256, 32), 1);
        assert_eq!(divisor(0, 256, 32), 1);
    }

    #[test]
    fn chosen_sizes_are_legal_and_fill_subgroups() {
        let mut properties = properties("test");
        properties.preferred_group = PreferredGroup::fixed(256);
        properties.subgroup_size = 32;
        for global in [[1u64, 1, 1], [1 << 20, 1, 1], [1920, 1080, 1], [7, 4096, 3], [1, 1, 64], [640, 480, 64], [3, 5, 7]] {
            for (dim, remainder) in [(1, false), (2, false), (3, false), (1, true), (2, true), (3, true)] {
                let mut global = global;
                global[dim as usize..].fill(1);
                let local = GroupLimits::of_device(&properties).choose(dim, global, remainder);
                assert!(remainder || global.iter().zip(local).all(|(n, l)| n % u64::from(l) == 0), "{global:?} {local:?}");
                assert!(global.iter().zip(local).all(|(n, l)| u64::from(l) <= *n), "{global:?} {local:?}");
                assert!(local.iter().product::<u32>() <= properties.max_group_invocations);
                assert!(local.iter().zip(properties.max_group_size).all(|(&l, limit)| l <= limit));
            }
        }
        for remainder in [false, true] {
            assert_eq!(GroupLimits::of_device(&properties).choose(1, [1 << 20, 1, 1], remainder), [256, 1, 1]);
            assert_eq!(GroupLimits::of_device(&properties).choose(1, [1000, 1, 1], remainder), [250, 1, 1]);
            assert_eq!(GroupLimits::of_device(&properties).choose(2, [1920, 1080, 1], remainder), [32, 8, 1]);
            assert_eq!(GroupLimits::of_device(&properties).choose(2, [1024, 1, 1], remainder), [256, 1, 1]);
        }
        properties.preferred_group = PreferredGroup { min_items: 64, max_items: 1024, groups_per_unit: 8 };
        properties.compute_units = 2;
        assert_eq!(GroupLimits::of_device(&properties).choose(1, [1 << 20, 1, 1], false), [1024, 1, 1]);
        assert_eq!(GroupLimits::of_device(&properties).choose(1, [1 << 12, 1, 1], false), [256, 1, 1]);
        assert_eq!(GroupLimits::of_device(&properties).choose(2, [1024, 1024, 1], false), [32, 32, 1]);
    }

    #[test]
    fn indivisible_sizes_leave_a_remainder_if_allowed() {
        let mut properties = properties("test");
        properties.preferred_group = PreferredGroup::fixed(256);
        properties.subgroup_size = 32;
        assert_eq!(GroupLimits::of_device(&properties).choose(1, [1_000_003, 1, 1], false), [1, 1, 1]);
        assert_eq!(GroupLimits::of_device(&properties).choose(1, [1_000_003, 1, 1], true), [256, 1, 1]);
        assert_eq!(GroupLimits::of_device(&properties).choose(1, [17, 1, 1], true), [17, 1, 1]);
        assert_eq!(GroupLimits::of_device(&properties).choose(2, [1009, 1013, 1], true), [32, 8, 1]);
        assert_eq!(GroupLimits::of_device(&properties).choose(3, [2, 1009, 1013], true), [2, 128, 1]);
    }
}
