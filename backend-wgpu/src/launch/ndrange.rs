//! Divides the NDRange of a launch into work-groups and dispatches. Remainder groups at the edges have other sizes.

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch};

use crate::launch::kernel::Kernel;

/// A range of work-groups: the index of the first one, and their number per dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupRange {
    pub(crate) base: [u32; 3],
    pub(crate) groups: [u32; 3],
}

impl GroupRange {
    pub(crate) fn fits(&self, limits: [u32; 3]) -> bool {
        self.base == [0; 3] && self.groups.iter().zip(limits).all(|(count, limit)| *count <= limit)
    }

    /// Returns two facts. The first is true if the range starts at group 0 and is a single dispatch within `limits`.
    /// The second is true if the first is false and the range is one-dimensional. Its groups then need a layout in
    /// rows.
    pub(crate) fn shape(&self, limits: [u32; 3]) -> (bool, bool) {
        let fits = self.fits(limits);
        (fits, !fits && self.groups[1..] == [1, 1])
    }
}

/// A range of the work-groups of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupSpan {
    /// Work-groups of the launch, per dimension.
    pub(crate) total: [u32; 3],
    pub(crate) range: GroupRange,
}

/// The division of an NDRange into work-groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupGrid {
    pub(crate) local_size: [u32; 3],
    /// Work-groups per dimension, including remainder groups.
    pub(crate) counts: [u32; 3],
}

/// Work-groups of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) local_size: [u32; 3],
    pub(crate) range: GroupRange,
}

/// The group size of kernels that cannot observe their group size. A few groups of this size fill a compute unit, and
/// each invocation can use as many registers as a GPU permits. With one size, most launches of a kernel use the same
/// pipeline.
pub(crate) const GROUP: u32 = 256;

/// Returns the group size of a launch: the application's, or a size that is usually faster if the kernel cannot observe
/// its group size. Groups of more than [`GROUP`] work-items shrink. Small groups grow in the first dimension if the
/// launch has at least `busy_invocations` work-items. If the kernel takes long to compile, all one-dimensional launches
/// have the same size.
pub(crate) fn local_size(launch: &Launch, kernel: &Kernel, busy_invocations: u64) -> [u32; 3] {
    match (kernel.group_independent(), runs_in_one_size(launch, kernel)) {
        (_, true) => [GROUP, 1, 1],
        (true, false) => unobserved_size(launch.local_size, launch.global_size, busy_invocations),
        (false, false) => launch.local_size,
    }
}

/// Whether all one-dimensional launches of the kernel use one pipeline, because another pipeline would take long to
/// compile.
fn runs_in_one_size(launch: &Launch, kernel: &Kernel) -> bool {
    kernel.group_independent() && kernel.is_long() && launch.local_size[1..] == [1, 1] && launch.global_size[1..] == [1, 1]
}

fn unobserved_size(mut local: [u32; 3], global: [u64; 3], busy_invocations: u64) -> [u32; 3] {
    let items = |sizes: [u32; 3]| sizes.iter().fold(1u32, |product, &n| product.saturating_mul(n));
    for d in [2, 1, 0] {
        while items(local) > GROUP && local[d] > 1 {
            local[d] = local[d].div_ceil(2);
        }
    }
    if global.iter().fold(1u64, |product, &n| product.saturating_mul(n)) >= busy_invocations {
        while items(local) <= GROUP / 2 && u64::from(local[0]) < global[0] {
            local[0] *= 2;
        }
    }
    local
}

/// Returns the number of work-groups per dimension.
pub(crate) fn group_counts(launch: &Launch, local_size: [u32; 3]) -> BackendResult<[u32; 3]> {
    let mut counts = [1; 3];
    for ((count, global), local) in counts.iter_mut().zip(launch.global_size).zip(local_size) {
        if local == 0 {
            return Err(BackendError::Other("the local size is zero".to_owned()));
        }
        let too_large =
            || BackendError::Other(format!("global size {global}: this device supports at most 2^32 - 1 work-items per dimension"));
        *count = u32::try_from(global).map(|global| global.div_ceil(local)).map_err(|_| too_large())?;
    }
    Ok(counts)
}

/// Returns the regions of a launch (up to eight), and the dimensions in which groups may extend beyond the NDRange.
/// Groups extend beyond the NDRange only if the kernel cannot observe its group size. Such kernels need no pipelines
/// for remainder groups.
pub(crate) fn regions(launch: &Launch, grid: GroupGrid, kernel: &Kernel) -> (SmallVec<[Region; 1]>, [bool; 3]) {
    let (regions, mut guard) = regions_of(launch, grid, kernel.group_independent());
    guard[0] |= runs_in_one_size(launch, kernel);
    (regions, guard)
}

fn regions_of(
    launch: &Launch,
    GroupGrid { local_size, counts: groups }: GroupGrid,
    group_independent: bool,
) -> (SmallVec<[Region; 1]>, [bool; 3]) {
    // The remainder is below 2^32 because the local size is.
    let rest: [u32; 3] = std::array::from_fn(|d| (launch.global_size[d] % u64::from(local_size[d])) as u32);
    let whole = Region { local_size, range: GroupRange { base: [0; 3], groups } };
    if group_independent {
        return (smallvec::smallvec![whole], rest.map(|rest| rest != 0));
    }
    let mut regions: SmallVec<[Region; 1]> = smallvec::smallvec![whole];
    for d in (0..3).filter(|&d| rest[d] != 0) {
        for index in 0..regions.len() {
            let mut edge = regions[index];
            edge.local_size[d] = rest[d];
            edge.range.base[d] = groups[d] - 1;
            edge.range.groups[d] = 1;
            regions[index].range.groups[d] -= 1;
            regions.push(edge);
        }
    }
    regions.retain(|region| !region.range.groups.contains(&0));
    (regions, [false; 3])
}

pub(crate) fn dispatches(range: GroupRange, limits: [u32; 3], two_dimensional: bool) -> SmallVec<[GroupRange; 1]> {
    if two_dimensional { in_rows(range, limits) } else { split(range, limits) }
}

/// Splits a range of work-groups into dispatches of at most `limits` work-groups per dimension.
fn split(GroupRange { base: first, groups }: GroupRange, limits: [u32; 3]) -> SmallVec<[GroupRange; 1]> {
    let mut parts = SmallVec::new();
    let steps = |dimension: usize| (0..groups[dimension]).step_by(limits[dimension].max(1) as usize);
    for z in steps(2) {
        for y in steps(1) {
            for x in steps(0) {
                let before = [x, y, z];
                let (mut base, mut size) = ([0; 3], [0; 3]);
                for d in 0..3 {
                    base[d] = first[d] + before[d];
                    size[d] = (groups[d] - before[d]).min(limits[d].max(1));
                }
                parts.push(GroupRange { base, groups: size });
            }
        }
    }
    parts
}

/// Lays out the groups of one dimension in rows of at most `limits[0]` groups. Uses one dispatch if a number of rows
/// divides the groups evenly and is at most four times the minimum. Otherwise uses further dispatches for the
/// remainder. Each further dispatch waits until the previous one has ended, which takes 11 us on an H100.
fn in_rows(GroupRange { base, groups }: GroupRange, limits: [u32; 3]) -> SmallVec<[GroupRange; 1]> {
    let (count, longest) = (groups[0], limits[0].max(1));
    let fewest = count.div_ceil(longest);
    let even = (fewest..=limits[1].min(fewest.saturating_mul(4))).find(|rows| count.is_multiple_of(*rows));
    let (length, rows) = even.map_or((longest, (count / longest).min(limits[1])), |rows| (count / rows, rows));
    let covered = length * rows;
    let mut parts: SmallVec<[GroupRange; 1]> = smallvec::smallvec![GroupRange { base, groups: [length, rows, 1] }];
    if covered < count {
        let rest = GroupRange { base: [base[0] + covered, base[1], base[2]], groups: [count - covered, 1, 1] };
        parts.extend(if rest.groups[0] > longest { in_rows(rest, limits) } else { smallvec::smallvec![rest] });
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::sync::Arc;

    use wgcl_api::backend::{BackendResult, KernelUsage, Launch, LoadedProgram};

    use super::{GroupGrid, GroupRange, Region, group_counts, in_rows, regions_of, split, unobserved_size};

    #[derive(Debug)]
    struct NoProgram;

    impl LoadedProgram for NoProgram {
        fn precompile(&self, _: &str, _: Option<[u32; 3]>, _: &[u64]) {}

        fn kernel_usage(&self, _: &str) -> BackendResult<KernelUsage> {
            Ok(KernelUsage::default())
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    fn launch(global_size: [u64; 3], local_size: [u32; 3]) -> Launch {
        let program = Arc::new(NoProgram);
        Launch {
            program,
            kernel: "".into(),
            args: Vec::new(),
            extra: Vec::new(),
            work_dim: 3,
            global_offset: [0; 3],
            global_size,
            local_size,
        }
    }

    #[test]
    fn a_range_within_the_limits_is_one_dispatch() {
        let part = GroupRange { base: [0; 3], groups: [5, 1, 1] };
        assert_eq!(split(part, [65535; 3]).as_slice(), [part]);
    }

    #[test]
    fn rows_contain_every_group_once() {
        for count in [70_000, 131_072, 65_536, 99_991, 10_000_019, 4_000_000_007] {
            let parts = in_rows(GroupRange { base: [3, 0, 0], groups: [count, 1, 1] }, [65_535; 3]);
            let mut next = 3;
            for part in &parts {
                assert_eq!(part.base, [next, 0, 0]);
                assert!(part.groups.iter().all(|n| (1..=65_535).contains(n)));
                next += part.groups[0] * part.groups[1];
            }
            assert_eq!(next.wrapping_sub(3), count);
            assert!(parts.len() <= 3, "{count}: {parts:?}");
        }
    }

    #[test]
    fn unobserved_group_sizes_fill_a_compute_unit() {
        let large = [1 << 24, 1, 1];
        for size in [32, 64, 128, 256, 512, 1024] {
            assert_eq!(unobserved_size([size, 1, 1], large, 1 << 17), [256, 1, 1]);
            assert_eq!(unobserved_size([size, 1, 1], [1 << 12, 1, 1], 1 << 17), [size.min(256), 1, 1]);
        }
        assert_eq!(unobserved_size([7, 1, 1], large, 1 << 17), [224, 1, 1]);
        assert_eq!(unobserved_size([32, 32, 1], [4096, 4096, 1], 1 << 17), [32, 8, 1]);
        assert_eq!(unobserved_size([1, 1, 64], [4, 1 << 20, 64], 1 << 17), [4, 1, 64]);
        assert_eq!(unobserved_size([1000, 1, 1], [1000, 1, 1], 1 << 17), [250, 1, 1]);
    }

    #[test]
    fn a_larger_range_is_covered_once() {
        let mut covered = vec![0; 9 * 5 * 2];
        for part in split(GroupRange { base: [2, 0, 0], groups: [7, 5, 2] }, [3, 2, 1]) {
            for z in 0..part.groups[2] {
                for y in 0..part.groups[1] {
                    for x in 0..part.groups[0] {
                        let [bx, by, bz] = part.base;
                        covered[((bz + z) * 45 + (by + y) * 9 + bx + x) as usize] += 1;
                    }
                }
            }
        }
        assert!(covered.iter().enumerate().all(|(index, count)| *count == i32::from(index % 9 >= 2)), "{covered:?}");
    }

    #[test]
    fn remainder_groups_are_separate_regions() {
        for (global, local, count) in [
            ([64, 1, 1], [16, 1, 1], 1),
            ([65, 1, 1], [16, 1, 1], 2),
            ([5, 1, 1], [16, 1, 1], 1),
            ([10, 7, 1], [4, 2, 1], 4),
            ([10, 7, 9], [4, 2, 5], 8),
            ([3, 7, 9], [4, 2, 5], 4),
        ] {
            let launch = launch(global, local);
            let groups = group_counts(&launch, local).unwrap_or_default();
            let (regions, guard) = regions_of(&launch, GroupGrid { local_size: local, counts: groups }, false);
            assert_eq!((regions.len(), guard), (count, [false; 3]), "{global:?} {local:?}");
            let items = |region: &Region| (0..3).map(|d| u64::from(region.local_size[d] * region.range.groups[d])).product::<u64>();
            assert_eq!(regions.iter().map(items).sum::<u64>(), global.iter().product::<u64>());
            let (whole, guard) = regions_of(&launch, GroupGrid { local_size: local, counts: groups }, true);
            assert_eq!((whole.len(), whole[0].range.groups), (1, groups));
            assert_eq!(guard, [0, 1, 2].map(|d| global[d] % u64::from(local[d]) != 0));
        }
    }
}
