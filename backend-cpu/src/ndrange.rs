//! Splits an NDRange into regions whose work-groups all have the same size.
//!
//! Work-groups at the upper edges of an NDRange may be smaller than the others. If a kernel cannot observe its
//! work-groups, this module regroups the work-items, unless the requested groups are tiles ([`is_tiled`]). The new
//! groups have 256 work-items along dimension 0 if each thread then has several groups, otherwise 64. The remainder is
//! in smaller groups. If dimension 0 is shorter than 64, a group spans several dimensions and has at most 64
//! work-items. There are few distinct group sizes, so that launches of many sizes share few kernel variants.
//!
//! Example: 65 work-items in groups of 16 have two regions. The first has four groups of 16, the second one group of 1.

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch};

/// Work-items per regrouped work-group of a large launch.
const LONG_GROUP: u32 = 256;
/// Work-items per regrouped work-group of a small launch.
const SHORT_GROUP: u32 = 64;
/// Minimum number of groups of `LONG_GROUP` work-items per thread in a large launch.
const GROUPS_PER_THREAD: u64 = 4;

/// The most common local size of a regrouped kernel.
pub(crate) const DEFAULT_LOCAL_SIZE: [u32; 3] = [LONG_GROUP, 1, 1];

/// A box of work-groups of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Work-items of each group.
    pub(crate) local_size: [u32; 3],
    /// The result of `get_enqueued_local_size`. The id of a group's first work-item is its group id times this size.
    pub(crate) enqueued_local_size: [u32; 3],
    /// Id of the first group.
    pub(crate) first_group: [u32; 3],
    /// Number of groups.
    pub(crate) group_count: [u32; 3],
}

/// The regions of an NDRange, at most eight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegionList {
    /// The result of `get_num_groups`.
    pub(crate) num_groups: [u32; 3],
    /// The regions. Empty for a launch without work-items.
    pub(crate) regions: SmallVec<[Region; 2]>,
}

/// The grouping of the work-items of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// The requested work-group size.
    Requested,
    /// Regrouped for this number of threads, except for tiles. The kernel cannot observe its work-groups.
    Regrouped { threads: usize },
}

/// Consecutive groups of one size in one dimension.
#[derive(Clone, Copy, Debug)]
struct GroupRun {
    local: u32,
    enqueued: u32,
    first: u32,
    groups: u32,
}

type GroupRuns = SmallVec<[GroupRun; 3]>;

/// Splits a launch into regions.
///
/// # Errors
/// Fails if a global size does not fit 32 bits, or a local size is zero. The API has already rejected both.
pub(crate) fn split(launch: &Launch, grouping: Grouping) -> BackendResult<RegionList> {
    let size = to_u32("global size", launch.global_size)?;
    if launch.local_size.contains(&0) {
        return Err(BackendError::Other(format!("launch: local size {:?} has a zero component", launch.local_size)));
    }
    let group_runs = match grouping {
        Grouping::Regrouped { threads } if !is_tiled(launch.local_size, size) => regrouped_runs(size, threads),
        Grouping::Regrouped { .. } | Grouping::Requested => [0, 1, 2].map(|d| group_runs(size[d], launch.local_size[d])),
    };
    let num_groups = group_runs.each_ref().map(|group_runs| group_runs.last().map_or(0, |last| last.first + last.groups));
    let mut regions = SmallVec::new();
    for z in &group_runs[2] {
        for y in &group_runs[1] {
            for x in &group_runs[0] {
                let of = |field: fn(&GroupRun) -> u32| [field(x), field(y), field(z)];
                regions.push(Region {
                    local_size: of(|run| run.local),
                    enqueued_local_size: of(|run| run.enqueued),
                    first_group: of(|run| run.first),
                    group_count: of(|run| run.groups),
                });
            }
        }
    }
    Ok(RegionList { num_groups, regions })
}

/// Narrows the three components of `what` to 32 bits.
///
/// # Errors
/// Fails if one of them does not fit.
pub(crate) fn to_u32(what: &str, sizes: [u64; 3]) -> BackendResult<[u32; 3]> {
    let mut narrow = [0; 3];
    for (narrow, size) in narrow.iter_mut().zip(sizes) {
        *narrow =
            u32::try_from(size).map_err(|_| BackendError::Other(format!("launch: {what} {sizes:?} has a component of 2^32 or more")))?;
    }
    Ok(narrow)
}

/// Whether the requested groups have several rows, fill vectors and divide the NDRange. A group of this kind often
/// covers a tile of memory that fits a cache. Therefore, the launch is not regrouped.
fn is_tiled(local: [u32; 3], size: [u32; 3]) -> bool {
    const WIDTH: u32 = 8;
    let several_rows = local[1] > 1 || local[2] > 1;
    several_rows && local[0].is_multiple_of(WIDTH) && local.iter().zip(size).all(|(&local, size)| size.is_multiple_of(local))
}

/// Splits `size` work-items into groups of `local`, and a smaller group for the remainder.
fn group_runs(size: u32, local: u32) -> GroupRuns {
    let mut group_runs = GroupRuns::new();
    let (whole, rest) = (size / local, size % local);
    if whole > 0 {
        group_runs.push(GroupRun { local, enqueued: local, first: 0, groups: whole });
    }
    if rest > 0 {
        group_runs.push(GroupRun { local: rest, enqueued: local, first: whole, groups: 1 });
    }
    group_runs
}

/// Splits a regrouped launch into the runs of groups of each dimension.
fn regrouped_runs(size: [u32; 3], threads: usize) -> [GroupRuns; 3] {
    let items: u64 = size.iter().map(|&size| u64::from(size)).product();
    if size[0] >= SHORT_GROUP {
        let enough = items / u64::from(LONG_GROUP) >= GROUPS_PER_THREAD * threads as u64;
        let length = if enough && size[0] >= LONG_GROUP { LONG_GROUP } else { SHORT_GROUP };
        return [line_runs(size[0], length), group_runs(size[1], 1), group_runs(size[2], 1)];
    }
    // Dimension 0 is short: a group spans several dimensions.
    let mut found = [GroupRuns::new(), GroupRuns::new(), GroupRuns::new()];
    let mut available = SHORT_GROUP;
    for (found, size) in found.iter_mut().zip(size) {
        let local = if size <= available { size.max(1) } else { 1 << available.ilog2() };
        *found = group_runs(size, local);
        available = if size <= available { (available / size.max(1)).max(1) } else { 1 };
    }
    found
}

/// Splits `size` work-items into groups of `length`, then groups of `SHORT_GROUP`, then a smaller group for the
/// remainder.
fn line_runs(size: u32, length: u32) -> GroupRuns {
    let mut found = GroupRuns::new();
    let whole = size / length;
    found.push(GroupRun { local: length, enqueued: length, first: 0, groups: whole });
    // The first id of the short groups is in units of `SHORT_GROUP`, so that id times size is the first work-item.
    let before = whole * (length / SHORT_GROUP);
    let (short, rest) = (size % length / SHORT_GROUP, size % SHORT_GROUP);
    if short > 0 {
        found.push(GroupRun { local: SHORT_GROUP, enqueued: SHORT_GROUP, first: before, groups: short });
    }
    if rest > 0 {
        found.push(GroupRun { local: rest, enqueued: SHORT_GROUP, first: before + short, groups: 1 });
    }
    found
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use wgcl_api::backend::{BackendResult, KernelUsage, Launch, LoadedProgram};

    use super::{Grouping, RegionList, split};

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
        Launch {
            program: Arc::new(NoProgram),
            kernel: "".into(),
            args: Vec::new(),
            extra: Vec::new(),
            work_dim: 3,
            global_offset: [0; 3],
            global_size,
            local_size,
        }
    }

    fn regions(global: [u64; 3], local: [u32; 3], free: bool) -> RegionList {
        let grouping = if free { Grouping::Regrouped { threads: 2 } } else { Grouping::Requested };
        split(&launch(global, local), grouping).expect("regions")
    }

    /// Checks that every work-item is in exactly one group of one region.
    fn check(global: [u64; 3], local: [u32; 3], free: bool) {
        let RegionList { regions, .. } = regions(global, local, free);
        let mut seen = BTreeSet::new();
        for region in &regions {
            let span = |d: usize| {
                (0..region.group_count[d]).flat_map(move |group| {
                    let first = (region.first_group[d] + group) * region.enqueued_local_size[d];
                    first..first + region.local_size[d]
                })
            };
            for z in span(2) {
                for y in span(1) {
                    for x in span(0) {
                        assert!(seen.insert((z, y, x)), "{global:?} {local:?}: twice ({x}, {y}, {z}) in {regions:?}");
                        assert!(
                            [x, y, z].iter().zip(global).all(|(id, size)| u64::from(*id) < size),
                            "{global:?} {local:?}: outside in {regions:?}"
                        );
                    }
                }
            }
        }
        assert_eq!(seen.len() as u64, global.iter().product::<u64>(), "{global:?} {local:?}: {regions:?}");
    }

    #[test]
    fn every_work_item_is_run_once() {
        for (global, local) in [
            ([64, 1, 1], [16, 1, 1]),
            ([65, 1, 1], [16, 1, 1]),
            ([5, 1, 1], [16, 1, 1]),
            ([10, 7, 1], [4, 2, 1]),
            ([10, 7, 9], [4, 2, 5]),
            ([3, 7, 9], [4, 2, 5]),
            ([1000, 3, 1], [1, 1, 1]),
            ([4099, 1, 1], [64, 1, 1]),
            ([3, 1000, 1], [3, 1, 1]),
            ([5, 7, 30], [5, 1, 1]),
            ([1, 1, 200], [1, 1, 1]),
            ([2, 40, 3], [1, 1, 1]),
            ([63, 2, 2], [1, 1, 1]),
        ] {
            check(global, local, false);
            check(global, local, true);
        }
    }

    #[test]
    fn tiled_groups_are_not_regrouped() {
        let sizes =
            |global, local| -> Vec<[u32; 3]> { regions(global, local, true).regions.iter().map(|region| region.local_size).collect() };
        assert_eq!(sizes([256, 64, 1], [16, 16, 1]), [[16, 16, 1]]);
        // The launch is regrouped if rows do not fill vectors, or if groups at an edge are smaller.
        assert_eq!(sizes([256, 64, 1], [4, 4, 1]), [[256, 1, 1]]);
        assert_eq!(sizes([256, 65, 1], [16, 16, 1])[0][1], 1);
    }

    #[test]
    fn smaller_groups_at_the_edges_are_separate_regions() {
        for (global, local, count, groups) in [
            ([64, 1, 1], [16, 1, 1], 1, [4, 1, 1]),
            ([65, 1, 1], [16, 1, 1], 2, [5, 1, 1]),
            ([10, 7, 9], [4, 2, 5], 8, [3, 4, 2]),
            ([3, 7, 9], [4, 2, 5], 4, [1, 4, 2]),
            ([0, 7, 9], [4, 2, 5], 0, [0, 4, 2]),
        ] {
            let RegionList { num_groups, regions } = regions(global, local, false);
            assert_eq!((regions.len(), num_groups), (count, groups), "{global:?} {local:?}");
        }
        let free = Grouping::Regrouped { threads: 2 };
        assert!(split(&launch([1 << 32, 1, 1], [1; 3]), free).is_err());
        assert!(split(&launch([1; 3], [0; 3]), free).is_err());
    }

    #[test]
    fn regrouped_launches_fill_vectors_and_threads() {
        let sizes = |global| {
            let RegionList { regions, .. } = regions(global, [1; 3], true);
            regions.iter().map(|region| (region.local_size, region.group_count)).collect::<Vec<_>>()
        };
        assert_eq!(sizes([1 << 20, 1, 1]), [([256, 1, 1], [4096, 1, 1])]);
        assert_eq!(sizes([1024, 1, 1]), [([64, 1, 1], [16, 1, 1])]);
        assert_eq!(sizes([1, 1, 1]), [([1, 1, 1], [1, 1, 1])]);
        assert_eq!(sizes([16, 1000, 1]), [([16, 4, 1], [1, 250, 1])]);
        assert_eq!(sizes([10_000, 1, 1]), [([256, 1, 1], [39, 1, 1]), ([16, 1, 1], [1, 1, 1])]);
        assert_eq!(sizes([u64::from(u32::MAX), 1, 1]).len(), 3);
    }
}
