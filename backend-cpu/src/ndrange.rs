//! The work-groups of a launch as dispatches, each of groups of one size.
//!
//! Groups at the upper edges of an NDRange may be smaller than the others. And where a kernel cannot tell how its work-items are grouped, it is grouped here as is best: rows that fill
//! vectors, and enough groups for all threads. The sizes are few, so that launches of many sizes need few variants.

use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch};

/// Work-items of a row of a kernel that does not see its groups, where there are many.
const ROW: u32 = 256;
/// Work-items of such a row where there are few.
const SHORT_ROW: u32 = 64;
/// Groups that every thread should have.
const GROUPS_PER_THREAD: u64 = 4;

/// The size of groups that a kernel which does not see them has, mostly.
pub(crate) const PROBABLE: [u32; 3] = [ROW, 1, 1];

/// A dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Work-items of each of its groups.
    pub(crate) local_size: [u32; 3],
    /// Work-items that groups have elsewhere: by this the number of a group is multiplied to give its first work-item.
    pub(crate) enqueued: [u32; 3],
    /// Its first group.
    pub(crate) base: [u32; 3],
    /// Its groups.
    pub(crate) groups: [u32; 3],
}

/// The dispatches of a launch, up to eight or so of them.
pub(crate) type Parts = SmallVec<[Part; 2]>;

/// Groups of one size in one dimension.
#[derive(Clone, Copy, Debug)]
struct Piece {
    local: u32,
    enqueued: u32,
    base: u32,
    groups: u32,
}

type Pieces = SmallVec<[Piece; 3]>;

/// The number of groups of a launch in each dimension, for `get_num_groups`, and its dispatches; `free` if the kernel does not see its groups. Launches without work-items have none.
pub(crate) fn parts(launch: &Launch, free: bool, threads: usize) -> BackendResult<([u32; 3], Parts)> {
    let mut size = [0; 3];
    for (size, global) in size.iter_mut().zip(launch.global_size) {
        *size = u32::try_from(global).map_err(|_| BackendError::Other("a global size of 2^32 or more".to_owned()))?;
    }
    if launch.local_size.contains(&0) {
        return Err(BackendError::Other("a local size of zero".to_owned()));
    }
    let free = free && !is_tiled(launch.local_size, size);
    let pieces = if free { free_pieces(size, threads) } else { [0, 1, 2].map(|d| pieces(size[d], launch.local_size[d])) };
    let counts = pieces.each_ref().map(|pieces| pieces.last().map_or(0, |last| last.base + last.groups));
    let mut parts = Parts::new();
    for z in &pieces[2] {
        for y in &pieces[1] {
            for x in &pieces[0] {
                let of = |field: fn(&Piece) -> u32| [field(x), field(y), field(z)];
                parts.push(Part {
                    local_size: of(|piece| piece.local),
                    enqueued: of(|piece| piece.enqueued),
                    base: of(|piece| piece.base),
                    groups: of(|piece| piece.groups),
                });
            }
        }
    }
    Ok((counts, parts))
}

/// Whether groups of several rows fill vectors: neighbours of two dimensions are near each other in memory in one way or another, so such groups stay as they are asked for.
fn is_tiled(local: [u32; 3], size: [u32; 3]) -> bool {
    const WIDTH: u32 = 8;
    let several_rows = local[1] > 1 || local[2] > 1;
    several_rows && local[0].is_multiple_of(WIDTH) && local.iter().zip(size).all(|(&local, size)| size.is_multiple_of(local))
}

/// `size` work-items in groups of `local`, and a smaller one where that does not divide them.
fn pieces(size: u32, local: u32) -> Pieces {
    let mut pieces = Pieces::new();
    let (whole, rest) = (size / local, size % local);
    if whole > 0 {
        pieces.push(Piece { local, enqueued: local, base: 0, groups: whole });
    }
    if rest > 0 {
        pieces.push(Piece { local: rest, enqueued: local, base: whole, groups: 1 });
    }
    pieces
}

/// Groups of our own choice.
fn free_pieces(size: [u32; 3], threads: usize) -> [Pieces; 3] {
    let items: u64 = size.iter().map(|&size| u64::from(size)).product();
    let mut found = [Pieces::new(), Pieces::new(), Pieces::new()];
    if size[0] >= SHORT_ROW {
        let enough = items / u64::from(ROW) >= GROUPS_PER_THREAD * threads as u64;
        let row = if enough && size[0] >= ROW { ROW } else { SHORT_ROW };
        found[0] = rows(size[0], row);
        found[1] = pieces(size[1], 1);
        found[2] = pieces(size[2], 1);
        return found;
    }
    // Short rows: several of them are a group.
    let mut room = SHORT_ROW;
    for (found, size) in found.iter_mut().zip(size) {
        let local = if size <= room { size.max(1) } else { 1 << room.ilog2() };
        *found = pieces(size, local);
        room = if size <= room { (room / size.max(1)).max(1) } else { 1 };
    }
    found
}

/// `size` work-items in rows, then in short rows, then what is left.
fn rows(size: u32, row: u32) -> Pieces {
    let mut found = Pieces::new();
    let whole = size / row;
    found.push(Piece { local: row, enqueued: row, base: 0, groups: whole });
    // Counted in short rows from here on: their number times their size is where they begin.
    let before = whole * (row / SHORT_ROW);
    let (short, rest) = (size % row / SHORT_ROW, size % SHORT_ROW);
    if short > 0 {
        found.push(Piece { local: SHORT_ROW, enqueued: SHORT_ROW, base: before, groups: short });
    }
    if rest > 0 {
        found.push(Piece { local: rest, enqueued: SHORT_ROW, base: before + short, groups: 1 });
    }
    found
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use wgcl_api::backend::{BackendResult, KernelUsage, Launch, LoadedProgram};

    use super::parts;

    #[derive(Debug)]
    struct NoProgram;

    impl LoadedProgram for NoProgram {
        fn precompile(&self, _: &str, _: Option<[u32; 3]>) {}

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

    /// Every work-item is in one group of one part.
    fn check(global: [u64; 3], local: [u32; 3], free: bool) {
        let (_, parts) = parts(&launch(global, local), free, 2).expect("parts");
        let mut seen = BTreeSet::new();
        for part in &parts {
            let span = |d: usize| {
                (0..part.groups[d]).flat_map(move |group| {
                    let first = (part.base[d] + group) * part.enqueued[d];
                    first..first + part.local_size[d]
                })
            };
            for z in span(2) {
                for y in span(1) {
                    for x in span(0) {
                        assert!(seen.insert((z, y, x)), "{global:?} {local:?}: twice ({x}, {y}, {z}) in {parts:?}");
                        assert!(
                            [x, y, z].iter().zip(global).all(|(id, size)| u64::from(*id) < size),
                            "{global:?} {local:?}: outside in {parts:?}"
                        );
                    }
                }
            }
        }
        assert_eq!(seen.len() as u64, global.iter().product::<u64>(), "{global:?} {local:?}: {parts:?}");
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
    fn groups_of_several_rows_stay_as_they_are() {
        let sizes = |global, local| -> Vec<[u32; 3]> {
            parts(&launch(global, local), true, 2).expect("parts").1.iter().map(|part| part.local_size).collect()
        };
        assert_eq!(sizes([256, 64, 1], [16, 16, 1]), [[16, 16, 1]]);
        // Rows that do not fill a vector, and groups at an edge, are put together anew.
        assert_eq!(sizes([256, 64, 1], [4, 4, 1]), [[256, 1, 1]]);
        assert_eq!(sizes([256, 65, 1], [16, 16, 1])[0][1], 1);
    }

    #[test]
    fn groups_at_the_edges_are_parts_of_their_own() {
        for (global, local, count, groups) in [
            ([64, 1, 1], [16, 1, 1], 1, [4, 1, 1]),
            ([65, 1, 1], [16, 1, 1], 2, [5, 1, 1]),
            ([10, 7, 9], [4, 2, 5], 8, [3, 4, 2]),
            ([3, 7, 9], [4, 2, 5], 4, [1, 4, 2]),
            ([0, 7, 9], [4, 2, 5], 0, [0, 4, 2]),
        ] {
            let (counts, parts) = parts(&launch(global, local), false, 2).expect("parts");
            assert_eq!((parts.len(), counts), (count, groups), "{global:?} {local:?}");
        }
        assert!(parts(&launch([1 << 32, 1, 1], [1; 3]), true, 2).is_err());
        assert!(parts(&launch([1; 3], [0; 3]), true, 2).is_err());
    }

    #[test]
    fn free_groups_fill_vectors_and_threads() {
        let sizes = |global| {
            let (_, parts) = parts(&launch(global, [1; 3]), true, 2).expect("parts");
            parts.iter().map(|part| (part.local_size, part.groups)).collect::<Vec<_>>()
        };
        assert_eq!(sizes([1 << 20, 1, 1]), [([256, 1, 1], [4096, 1, 1])]);
        assert_eq!(sizes([1024, 1, 1]), [([64, 1, 1], [16, 1, 1])]);
        assert_eq!(sizes([1, 1, 1]), [([1, 1, 1], [1, 1, 1])]);
        assert_eq!(sizes([16, 1000, 1]), [([16, 4, 1], [1, 250, 1])]);
        assert_eq!(sizes([10_000, 1, 1]), [([256, 1, 1], [39, 1, 1]), ([16, 1, 1], [1, 1, 1])]);
        assert_eq!(sizes([u64::from(u32::MAX), 1, 1]).len(), 3);
    }
}
