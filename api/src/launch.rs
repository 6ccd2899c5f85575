//! clEnqueueNDRangeKernel: checking an NDRange, choosing a local size, capturing arguments (OpenCL API 5.10).

use std::sync::Arc;

use crate::backend::{DeviceProperties, PreferredGroup};
use crate::command::{Access, Argument, CommandType, KernelLaunch, Operation, Use, Work};
use crate::error::{Error, Result, ensure};
use crate::event::Event;
use crate::kernel::{self, Kernel};
use crate::queue::Queue;
use crate::transfer::used;

/// An NDRange as the application gives it.
#[derive(Clone, Copy, Debug)]
pub struct NdRange<'a> {
    /// Number of dimensions.
    pub work_dim: u32,
    /// `work_dim` values.
    pub global_offset: Option<&'a [usize]>,
    /// `work_dim` values.
    pub global_size: Option<&'a [usize]>,
    /// `work_dim` values; chosen if not given.
    pub local_size: Option<&'a [usize]>,
}

fn widen(values: Option<&[usize]>, default: u64) -> [u64; 3] {
    let mut wide = [default; 3];
    for (wide, value) in wide.iter_mut().zip(values.unwrap_or(&[])) {
        *wide = *value as u64;
    }
    wide
}

/// The largest divisor of `n` that is at most `limit`, preferring multiples of `multiple`.
fn divisor(n: u64, limit: u64, multiple: u64) -> u64 {
    let limit = limit.min(n).max(1);
    let divides = |d: &u64| n.is_multiple_of(*d);
    let preferred = (1..=limit / multiple.max(1)).rev().map(|k| k * multiple).find(divides);
    preferred.or_else(|| (1..=limit).rev().find(divides)).unwrap_or(1)
}

/// Work-items that a group should have, if a launch has so many.
fn wanted_size(properties: &DeviceProperties, items: u64) -> u64 {
    let PreferredGroup { least, most, groups_per_unit } = properties.preferred_group;
    let groups = u64::from(groups_per_unit.max(1)) * u64::from(properties.compute_units.max(1));
    let share = (items / groups).clamp(u64::from(least.max(1)), u64::from(most.max(least).max(1)));
    1 << share.ilog2()
}

/// Chooses a local size: it divides the global size unless there may be a remainder, is a multiple of the subgroup's size where that can be, and is
/// large enough to hide latencies without leaving compute units idle.
pub fn choose_local_size(properties: &DeviceProperties, work_dim: u32, global: [u64; 3], remainder: bool) -> [u32; 3] {
    let most = u64::from(properties.max_group_invocations);
    let items = global.iter().fold(1u64, |product, &n| product.saturating_mul(n));
    let wanted = wanted_size(properties, items);
    let subgroup = u64::from(properties.subgroup_size.max(1));
    let target = wanted.max(subgroup).min(most);
    let limit = |dim: usize| u64::from(properties.max_group_size[dim]);
    let mut local = [1u64; 3];
    // Two-dimensional kernels mostly read neighbours in both directions: a flat group would waste the cache.
    let first = if work_dim > 1 { subgroup.max(32).min(target) } else { target };
    local[0] = divisor(global[0], first.min(limit(0)), subgroup);
    for dim in 1..work_dim.min(3) as usize {
        let rest = target / local.iter().product::<u64>();
        local[dim] = divisor(global[dim], rest.min(limit(dim)), 1);
    }
    // What the other dimensions could not use.
    let others: u64 = local[1..].iter().product();
    local[0] = local[0].max(divisor(global[0], (target / others).min(limit(0)), subgroup));
    if remainder && local.iter().product::<u64>() * POOR < target.min(items) {
        local = [1; 3];
        local[0] = global[0].clamp(1, first.min(limit(0)));
        for dim in 1..work_dim.min(3) as usize {
            let rest = target / local.iter().product::<u64>();
            local[dim] = global[dim].clamp(1, rest.min(limit(dim)).max(1));
        }
    }
    local.map(|n| u32::try_from(n).unwrap_or(1))
}

/// A group that has so many times fewer work-items than it might is worse than one that leaves a remainder.
const POOR: u64 = 4;

impl Queue {
    /// clEnqueueNDRangeKernel; `command` is that or clEnqueueTask's.
    ///
    /// # Errors
    /// In the order of the specification.
    pub fn launch(
        self: &Arc<Self>,
        command: CommandType,
        kernel: &Arc<Kernel>,
        range: &NdRange<'_>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        self.submit(command, self.launch_work(kernel, range)?, wait_list)
    }

    /// clGetKernelSuggestedLocalWorkSizeKHR: the local size that a launch without one gets.
    ///
    /// # Errors
    /// In the order of the specification.
    pub fn suggest_local_size(&self, kernel: &Arc<Kernel>, range: &NdRange<'_>) -> Result<[u32; 3]> {
        self.check_kernel(kernel)?;
        let (_, info) = kernel.on(self.device())?;
        // "CL_INVALID_KERNEL_ARGS if all argument values for kernel have not been set."
        kernel.capture()?;
        let (_, global) = check_range(range)?;
        // "CL_INVALID_GLOBAL_WORK_SIZE if global_work_size is NULL or if any of the values specified in global_work_size are 0."
        ensure!(!global.contains(&0), InvalidGlobalWorkSize, "a global size of {global:?}");
        check_local_size(self.device().properties(), info, &NdRange { local_size: None, ..*range }, global)
    }

    /// "CL_INVALID_CONTEXT if the context associated with command_queue and kernel are not the same."
    fn check_kernel(&self, kernel: &Kernel) -> Result<()> {
        ensure!(
            Arc::ptr_eq(kernel.program().context(), self.context()),
            InvalidContext,
            "the queue and kernel `{}` belong to different contexts",
            kernel.name()
        );
        Ok(())
    }

    /// What can be said of a launch before the kernel's arguments are set.
    pub(crate) fn check_launch(&self, kernel: &Arc<Kernel>, range: &NdRange<'_>) -> Result<()> {
        self.check_kernel(kernel)?;
        let (_, info) = kernel.on(self.device())?;
        let (_, global) = check_range(range)?;
        check_local_size(self.device().properties(), info, range, global).map(drop)
    }

    /// What clEnqueueNDRangeKernel does.
    pub(crate) fn launch_work(&self, kernel: &Arc<Kernel>, range: &NdRange<'_>) -> Result<Work> {
        let device = self.device();
        let properties = device.properties();
        self.check_kernel(kernel)?;
        // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable available for [the] device."
        let (executable, info) = kernel.on(device)?;
        // "CL_INVALID_KERNEL_ARGS if any kernel arguments for kernel have not been set."
        let args = kernel.capture()?;
        let (offset, global) = check_range(range)?;
        let local = check_local_size(properties, info, range, global)?;
        for buffer in args.iter().filter_map(Argument::buffer) {
            buffer.check_alignment(device)?;
        }
        // "CL_INVALID_OPERATION if ... system pointers are passed as arguments to a kernel ... and the device associated with command_queue does not support
        // fine-grain system SVM allocations."
        let everywhere = device.reaches_host();
        let unshared = args.iter().any(|arg| matches!(arg, Argument::Address(_)));
        ensure!(everywhere || !unshared, InvalidOperation, "{} does not reach all of the host's memory", device.name());
        // "CL_OUT_OF_RESOURCES if there is a failure to queue the execution instance of kernel because of insufficient resources."
        let local_memory = kernel.local_memory(info);
        ensure!(
            local_memory <= u64::from(properties.local_memory),
            OutOfResources,
            "`{}` needs {local_memory} bytes of local memory, the device has {}",
            kernel.name(),
            properties.local_memory
        );
        kernel::check_parameters(info, device.target().pointer_size())?;
        // "If ... the value in any passed dimension is zero, then the kernel command will trivially succeed after its event dependencies are
        // satisfied."
        if global.contains(&0) {
            return Ok(Work::nop());
        }
        // What is an argument as well is bound once.
        let mut extra = kernel.reached_buffers();
        extra.retain(|buffer| args.iter().filter_map(Argument::buffer).all(|other| !Arc::ptr_eq(other.store(), buffer.store())));
        let mut uses = Vec::with_capacity(args.iter().filter_map(Argument::buffer).count() + extra.len());
        for (arg, info) in args.iter().zip(&info.args) {
            let Some(buffer) = arg.buffer() else { continue };
            let read = kernel::reads_only(info) || buffer.flags().is_read_only();
            let access = if read { Access::Read } else { Access::Write };
            let image = if let Argument::Image(image) = arg { Some(image.clone()) } else { None };
            uses.push(Use { buffer: buffer.clone(), image, range: buffer.range(0, buffer.size())?, access });
        }
        for buffer in &extra {
            uses.push(used(buffer, buffer.range(0, buffer.size())?, Access::Write));
        }
        let launch = KernelLaunch {
            program: executable.loaded.clone(),
            kernel: kernel.name().clone(),
            args,
            extra,
            work_dim: range.work_dim,
            global_offset: offset,
            global_size: global,
            local_size: local,
            family: info.enqueues.then(|| executable.clone()),
        };
        Ok(Work::new(Operation::Launch(launch), uses))
    }
}

/// Offset and size of a range, in three dimensions.
fn check_range(range: &NdRange<'_>) -> Result<([u64; 3], [u64; 3])> {
    // "CL_INVALID_WORK_DIMENSION if work_dim is not a valid value (i.e. a value between 1 and CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS)."
    ensure!((1..=3).contains(&range.work_dim), InvalidWorkDimension, "{} dimensions", range.work_dim);
    let (offset, mut global) = (widen(range.global_offset, 0), widen(range.global_size, 1));
    if range.global_size.is_none() {
        global = [0; 3];
    }
    // "CL_INVALID_GLOBAL_OFFSET if the value specified in global_work_size plus the corresponding value in global_work_offset for any dimension
    // is greater than the maximum value representable by size_t on the device." We have 32 bits for each dimension.
    let most = u64::from(u32::MAX);
    // "CL_INVALID_GLOBAL_WORK_SIZE if any of the values specified in global_work_size exceed the maximum value representable by size_t."
    ensure!(global.iter().all(|&n| n <= most), InvalidGlobalWorkSize, "a global size of {global:?}");
    ensure!(
        offset.iter().zip(&global).all(|(&offset, &size)| offset.checked_add(size).is_some_and(|end| end <= most)),
        InvalidGlobalOffset,
        "the global offset {offset:?} and size {global:?} exceed 32 bits"
    );
    Ok((offset, global))
}

/// The local size: the given one, checked, or the kernel's own, or a good one.
fn check_local_size(
    properties: &DeviceProperties,
    info: &wgcl_compiler::program::KernelInfo,
    range: &NdRange<'_>,
    global: [u64; 3],
) -> Result<[u32; 3]> {
    let Some(given) = range.local_size else {
        let in_a_row = |count: u32| [count.saturating_mul(properties.subgroup_size.max(1)), 1, 1];
        let Some(required) = info.reqd_work_group_size.or(info.reqd_subgroups.map(in_a_row)) else {
            let remainder = info.non_uniform_groups || info.group_blind;
            return Ok(choose_local_size(properties, range.work_dim, global, remainder));
        };
        let divides =
            global.iter().zip(&required).all(|(n, &size)| size != 0 && (info.non_uniform_groups || n.is_multiple_of(u64::from(size))));
        ensure!(divides, InvalidWorkGroupSize, "`{}` requires {required:?}, which does not divide {global:?}", info.name);
        return Ok(required);
    };
    let local = widen(Some(given), 1);
    let total = local.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
    // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is specified and does not match the required work-group size for kernel in the program source."
    if let Some(required) = info.reqd_work_group_size {
        ensure!(local == required.map(u64::from), InvalidWorkGroupSize, "`{}` requires {required:?}, not {local:?}", info.name);
    }
    if let Some(required) = info.reqd_subgroups {
        let count = total.map(|items| items.div_ceil(u64::from(properties.subgroup_size.max(1))));
        ensure!(count == Some(u64::from(required)), InvalidWorkGroupSize, "`{}` requires {required} sub-groups, not {count:?}", info.name);
    }
    // "... if the total number of work-items in the work-group is zero."
    ensure!(!local.contains(&0), InvalidWorkGroupSize, "a local size of {local:?}");
    // "... when non-uniform work-groups are not supported, the size of each work-group must be uniform. If local_work_size is specified, the values
    // specified in global_work_size must be evenly divisible by the corresponding values specified in local_work_size."
    let divides = info.non_uniform_groups || global.iter().zip(&local).all(|(n, &size)| n.is_multiple_of(size));
    ensure!(divides, InvalidWorkGroupSize, "local size {local:?} does not divide global size {global:?}");
    // "CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any of local_work_size[0], ... is greater than the corresponding values
    // specified by CL_DEVICE_MAX_WORK_ITEM_SIZES." Before the total, which such a size nearly always exceeds too.
    let fits = local.iter().zip(&properties.max_group_size).all(|(&n, &limit)| n <= u64::from(limit));
    ensure!(fits, InvalidWorkItemSize, "local size {local:?}, the device allows {:?}", properties.max_group_size);
    // "... if the total number of work-items in the work-group is greater than the value specified by CL_KERNEL_WORK_GROUP_SIZE."
    let limit = u64::from(properties.max_group_invocations);
    ensure!(total.is_some_and(|n| n <= limit), InvalidWorkGroupSize, "local size {local:?}, the device allows {limit} in all");
    let mut narrow = [1u32; 3];
    for (narrow, wide) in narrow.iter_mut().zip(local) {
        *narrow = u32::try_from(wide).map_err(|_| Error::InvalidWorkItemSize("a local size".into()))?;
    }
    Ok(narrow)
}

#[cfg(test)]
mod tests {
    use super::{choose_local_size, divisor};
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
                let local = choose_local_size(&properties, dim, global, remainder);
                assert!(remainder || global.iter().zip(local).all(|(n, l)| n % u64::from(l) == 0), "{global:?} {local:?}");
                assert!(global.iter().zip(local).all(|(n, l)| u64::from(l) <= *n), "{global:?} {local:?}");
                assert!(local.iter().product::<u32>() <= properties.max_group_invocations);
                assert!(local.iter().zip(properties.max_group_size).all(|(&l, limit)| l <= limit));
            }
        }
        for remainder in [false, true] {
            assert_eq!(choose_local_size(&properties, 1, [1 << 20, 1, 1], remainder), [256, 1, 1]);
            assert_eq!(choose_local_size(&properties, 1, [1000, 1, 1], remainder), [250, 1, 1]);
            assert_eq!(choose_local_size(&properties, 2, [1920, 1080, 1], remainder), [32, 8, 1]);
            assert_eq!(choose_local_size(&properties, 2, [1024, 1, 1], remainder), [256, 1, 1]);
        }
        properties.preferred_group = PreferredGroup { least: 64, most: 1024, groups_per_unit: 8 };
        properties.compute_units = 2;
        assert_eq!(choose_local_size(&properties, 1, [1 << 20, 1, 1], false), [1024, 1, 1]);
        assert_eq!(choose_local_size(&properties, 1, [1 << 12, 1, 1], false), [256, 1, 1]);
        assert_eq!(choose_local_size(&properties, 2, [1024, 1024, 1], false), [32, 32, 1]);
    }

    #[test]
    fn awkward_sizes_leave_a_remainder_where_they_may() {
        let mut properties = properties("test");
        properties.preferred_group = PreferredGroup::fixed(256);
        properties.subgroup_size = 32;
        assert_eq!(choose_local_size(&properties, 1, [1_000_003, 1, 1], false), [1, 1, 1]);
        assert_eq!(choose_local_size(&properties, 1, [1_000_003, 1, 1], true), [256, 1, 1]);
        assert_eq!(choose_local_size(&properties, 1, [17, 1, 1], true), [17, 1, 1]);
        assert_eq!(choose_local_size(&properties, 2, [1009, 1013, 1], true), [32, 8, 1]);
        assert_eq!(choose_local_size(&properties, 3, [2, 1009, 1013], true), [2, 128, 1]);
    }
}
