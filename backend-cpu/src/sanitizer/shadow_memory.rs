//! Shadow memory: the last accesses to each byte, to find data races.
//!
//! If one of two accesses to a byte is a store, the happens-before relation must order them (OpenCL API 3.0, 3.3.6,
//! memory consistency model). Within a group, a barrier with a fence for that memory orders them. The time
//! between two such barriers is an *epoch*. Without a barrier, both work-items must synchronise by an atomic operation
//! or a fence. The earlier work-item must do so after its access, the later one before its access. For accesses of
//! different groups, the synchronisation operations of all work-items of the two groups count. The sanitizer considers
//! neither memory orders nor the atomic objects. Therefore, flags and counters count as correct synchronisation, even
//! with relaxed loads.
//!
//! A barrier does not order an asynchronous copy and other accesses. Each work-item must wait for the copy's event,
//! also before it accesses bytes that it copied itself. The record of an access therefore contains the number of the
//! last copy, and whether the access is a part of the copy.
//!
//! Two atomic or volatile stores do not race. A load does not race with an atomic or volatile store.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::memory::address_range::AddressRange;

/// Bytes of memory per shadow page.
const PAGE: u64 = 256;
/// Number of separately locked shards of the shared shadow memory.
const SHARDS: usize = 64;
/// Maximum number of pages per shard. A page takes 6 KiB with a cell per word, and 24 KiB with a cell per byte. The
/// shared shadow memory of a launch therefore takes at most 1.5 GiB or 6 GiB, respectively.
const MAX_PAGES: usize = 1 << 12;

/// An access by a work-item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AccessRecord {
    /// Linear group id plus 1; 0 if there was no access.
    pub(super) group: u32,
    /// Linear local id.
    pub(super) item: u32,
    /// Number of barriers with a fence for this memory that the work-item had passed.
    pub(super) epoch: u32,
    /// Number of atomic operations and fences that the work-item had executed.
    pub(super) item_syncs: u32,
    /// Number of atomic operations and fences that the group had executed.
    pub(super) group_syncs: u32,
    /// Index of the access site.
    pub(super) site: u32,
    /// Whether the access is atomic or volatile.
    pub(super) atomic: bool,
    /// The number of the last asynchronous copy that the work-item had begun; 0 if there was none.
    pub(super) copy: u32,
    /// Whether the access is a part of that copy.
    pub(super) is_copy: bool,
}

impl AccessRecord {
    const fn is_same_item(&self, other: &Self) -> bool {
        self.group == other.group && self.item == other.item
    }
}

/// The bytes of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessedBytes {
    pub(super) range: AddressRange,
    pub(super) writes: bool,
}

/// The last accesses to a byte or a 32-bit word: the last store, and the last loads of two work-items.
#[derive(Clone, Copy, Debug, Default)]
struct ShadowCell {
    store: AccessRecord,
    loads: [AccessRecord; 2],
}

/// The current counts of atomic operations and fences, and the asynchronous copies.
pub(super) trait SyncCounts {
    /// The count of a work-item of the running group.
    fn of_item(&self, item: u32) -> u32;
    /// The count of any group.
    fn of_group(&self, group: u32) -> u32;
    /// Whether a work-item of the running group has begun an asynchronous copy and not waited for it.
    fn is_unfinished(&self, item: u32, copy: u32) -> bool;
}

/// The cause of a conflict between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    Race,
    /// The earlier access is a part of an asynchronous copy that the later work-item did not wait for.
    EarlierCopy,
    /// The later access is a part of an asynchronous copy that the earlier work-item did not wait for.
    LaterCopy,
}

impl Conflict {
    /// The cause of the conflict between two accesses for which [`conflicts`] returns true.
    pub(super) fn of(earlier: &AccessRecord, now: &AccessRecord, syncs: &dyn SyncCounts) -> Self {
        if is_in_unfinished_copy(earlier, now, syncs) {
            return Self::EarlierCopy;
        }
        // No barrier orders the accesses, so the earlier work-item did not wait for a copy that it had begun.
        let precedes_wait = now.is_copy && !earlier.is_copy && earlier.group == now.group && earlier.copy >= now.copy;
        if precedes_wait { Self::LaterCopy } else { Self::Race }
    }
}

/// Whether the earlier access is a part of an asynchronous copy that the later work-item has begun and not waited for.
/// Two copies may access the same bytes if `async_work_group_copy_fence` orders them, so they do not conflict.
fn is_in_unfinished_copy(earlier: &AccessRecord, now: &AccessRecord, syncs: &dyn SyncCounts) -> bool {
    earlier.is_copy && !now.is_copy && earlier.group == now.group && syncs.is_unfinished(now.item, earlier.copy)
}

/// Whether an access conflicts with an earlier one.
fn conflicts(earlier: &AccessRecord, now: &AccessRecord, syncs: &dyn SyncCounts) -> bool {
    is_in_unfinished_copy(earlier, now, syncs) || races(earlier, now, syncs)
}

/// Whether an access races with an earlier one.
fn races(earlier: &AccessRecord, now: &AccessRecord, syncs: &dyn SyncCounts) -> bool {
    if earlier.group == 0 || earlier.is_same_item(now) || earlier.atomic && now.atomic {
        return false;
    }
    if earlier.group != now.group {
        return syncs.of_group(earlier.group) <= earlier.group_syncs || now.group_syncs == 0;
    }
    earlier.epoch == now.epoch && (syncs.of_item(earlier.item) <= earlier.item_syncs || now.item_syncs == 0)
}

impl ShadowCell {
    /// Records an access. Returns an earlier access that conflicts with it.
    fn record(&mut self, now: &AccessRecord, writes: bool, syncs: &dyn SyncCounts) -> Option<AccessRecord> {
        let mut found = Some(self.store).filter(|earlier| (writes || !earlier.atomic) && conflicts(earlier, now, syncs));
        if writes {
            let load = || self.loads.iter().find(|earlier| !now.atomic && conflicts(earlier, now, syncs)).copied();
            found = found.or_else(load);
            self.store = *now;
        } else if !is_in_unfinished_copy(&self.loads[0], now, syncs) {
            // The load of an unfinished copy is kept, because stores must not precede the wait.
            if !self.loads[0].is_same_item(now) {
                self.loads[1] = self.loads[0];
            }
            self.loads[0] = *now;
        }
        found
    }
}

/// The cells of a page: one per 32-bit word, or one per byte after the first access to a part of a word.
#[derive(Debug)]
struct ShadowPage {
    /// Bytes per cell.
    width: u64,
    cells: Vec<ShadowCell>,
}

impl ShadowPage {
    fn new() -> Self {
        Self { width: 4, cells: vec![ShadowCell::default(); (PAGE / 4) as usize] }
    }

    /// Records an access to bytes of the page. The range is relative to the start of the page.
    fn record(&mut self, bytes: AccessedBytes, now: &AccessRecord, syncs: &dyn SyncCounts) -> Option<AccessRecord> {
        let AddressRange { start, end } = bytes.range;
        if self.width > 1 && !(start.is_multiple_of(self.width) && end.is_multiple_of(self.width)) {
            let width = self.width as usize;
            self.cells = self.cells.iter().flat_map(|cell| std::iter::repeat_n(*cell, width)).collect();
            self.width = 1;
        }
        let cells = (start / self.width) as usize..(end / self.width) as usize;
        self.cells.get_mut(cells)?.iter_mut().fold(None, |found, cell| found.or(cell.record(now, bytes.writes, syncs)))
    }
}

/// Shadow pages by page number.
#[derive(Debug, Default)]
pub(super) struct ShadowPages(FxHashMap<u64, ShadowPage>);

impl ShadowPages {
    /// Records an access. Returns an earlier access that races with it. Adds no more than `max_pages` pages; accesses
    /// to other pages are not recorded.
    pub(super) fn record(
        &mut self,
        bytes: AccessedBytes,
        now: &AccessRecord,
        syncs: &dyn SyncCounts,
        max_pages: usize,
    ) -> Option<AccessRecord> {
        let mut found = None;
        for (number, range) in pages(bytes.range) {
            if self.0.len() < max_pages || self.0.contains_key(&number) {
                let page = self.0.entry(number).or_insert_with(ShadowPage::new);
                let range = AddressRange { start: range.start - number * PAGE, end: range.end - number * PAGE };
                found = found.or(page.record(AccessedBytes { range, ..bytes }, now, syncs));
            }
        }
        found
    }

    /// Whether each of the bytes has been stored, and `by` accepts its last store.
    pub(super) fn is_written(&self, bytes: AddressRange, by: impl Fn(&AccessRecord) -> bool) -> bool {
        (bytes.start..bytes.end).all(|address| {
            let page = self.0.get(&(address / PAGE));
            let cell = page.and_then(|page| page.cells.get((address % PAGE / page.width) as usize));
            cell.is_some_and(|cell| by(&cell.store))
        })
    }

    /// Removes all records.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Splits a range at page boundaries. Returns each page number, with its subrange.
fn pages(range: AddressRange) -> impl Iterator<Item = (u64, AddressRange)> {
    let numbers = range.start / PAGE..range.end.div_ceil(PAGE);
    let part = move |number: u64| {
        let (first, end) = (number * PAGE, (number + 1) * PAGE);
        (number, AddressRange { start: range.start.max(first), end: range.end.min(end) })
    };
    numbers.map(part).filter(|(_, part)| part.start < part.end)
}

/// The shadow pages of the memory that all groups of a launch share.
#[derive(Debug)]
pub(super) struct SharedShadow(Vec<Mutex<ShadowPages>>);

impl SharedShadow {
    pub(super) fn new() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }

    /// Records an access. Returns an earlier access that races with it. Each shard has up to `MAX_PAGES` pages.
    pub(super) fn record(&self, bytes: AccessedBytes, now: &AccessRecord, syncs: &dyn SyncCounts) -> Option<AccessRecord> {
        let mut found = None;
        for (number, range) in pages(bytes.range) {
            let shard = &self.0[number as usize % SHARDS];
            found = found.or(shard.lock().record(AccessedBytes { range, ..bytes }, now, syncs, MAX_PAGES));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessRecord, AccessedBytes, Conflict, ShadowPages, SyncCounts, pages};
    use crate::memory::address_range::AddressRange;

    /// The count of every work-item, and that of every group.
    struct Fixed(u32, u32);

    impl SyncCounts for Fixed {
        fn is_unfinished(&self, item: u32, copy: u32) -> bool {
            copy == item + 1
        }

        fn of_item(&self, _: u32) -> u32 {
            self.0
        }

        fn of_group(&self, _: u32) -> u32 {
            self.1
        }
    }

    const NEVER: Fixed = Fixed(0, 0);

    fn access(group: u32, item: u32, epoch: u32) -> AccessRecord {
        AccessRecord { group, item, epoch, ..AccessRecord::default() }
    }

    fn bytes(start: u64, size: u64, writes: bool) -> AccessedBytes {
        AccessedBytes { range: AddressRange { start, end: start + size }, writes }
    }

    #[test]
    fn ranges_are_split_at_pages() {
        let split =
            |start, end| pages(AddressRange { start, end }).map(|(number, range)| (number, range.start, range.end)).collect::<Vec<_>>();
        assert_eq!(split(255, 513), [(0, 255, 256), (1, 256, 512), (2, 512, 513)]);
        assert_eq!(split(256, 512), [(1, 256, 512)]);
        assert_eq!(split(300, 300), []);
    }

    #[test]
    fn a_store_races_with_an_access_of_another_work_item_in_its_epoch() {
        let mut shadow = ShadowPages::default();
        let mut record =
            |at, size, now: AccessRecord, writes| shadow.record(bytes(at, size, writes), &now, &NEVER, 16).map(|other| other.item);
        assert_eq!(record(1000, 4, access(1, 0, 0), true), None);
        assert_eq!(record(1000, 4, access(1, 0, 0), false), None);
        assert_eq!(record(1000, 4, access(1, 1, 0), false), Some(0));
        // These accesses follow a barrier.
        assert_eq!(record(1000, 4, access(1, 2, 1), false), None);
        assert_eq!(record(1000, 4, access(1, 3, 1), false), None);
        assert_eq!(record(1000, 4, access(1, 3, 1), true), Some(2));
        // Barriers order accesses of one group only.
        assert_eq!(record(1000, 4, access(2, 3, 2), true), Some(3));
        // Accesses to adjacent bytes do not race, but overlapping accesses do.
        assert_eq!(record(1005, 1, access(1, 5, 1), true), None);
        assert_eq!(record(1004, 1, access(1, 4, 1), true), None);
        assert_eq!(record(1006, 2, access(1, 6, 1), true), None);
        assert_eq!(record(1000, 8, access(1, 7, 1), false), Some(3));
        // These accesses cross page boundaries.
        assert_eq!(record(1022, 4, access(1, 0, 1), true), None);
        assert_eq!(record(1024, 4, access(1, 1, 1), true), Some(0));
    }

    #[test]
    fn synchronised_accesses_do_not_race() {
        let mut shadow = ShadowPages::default();
        let first = access(1, 0, 0);
        assert_eq!(shadow.record(bytes(64, 4, true), &first, &NEVER, 16), None);
        let second = AccessRecord { item_syncs: 1, group_syncs: 1, ..access(2, 0, 0) };
        assert_eq!(shadow.record(bytes(64, 4, false), &second, &Fixed(1, 1), 16), None);
        // Only the later access synchronises, so the accesses race.
        let third = AccessRecord { item_syncs: 1, group_syncs: 1, ..access(3, 0, 0) };
        assert_eq!(shadow.record(bytes(64, 4, false), &third, &NEVER, 16), Some(first));
        let atomic = |group| AccessRecord { atomic: true, ..access(group, 0, 0) };
        assert_eq!(shadow.record(bytes(128, 4, true), &atomic(1), &NEVER, 16), None);
        assert_eq!(shadow.record(bytes(128, 4, true), &atomic(2), &NEVER, 16), None);
        assert_eq!(shadow.record(bytes(128, 4, false), &access(3, 0, 0), &NEVER, 16), None);
        assert_eq!(shadow.record(bytes(128, 4, true), &atomic(2), &NEVER, 16), None);
        assert_eq!(shadow.record(bytes(128, 4, true), &access(3, 0, 0), &NEVER, 16), Some(atomic(2)));
    }

    #[test]
    fn accesses_conflict_with_an_unfinished_copy() {
        let mut shadow = ShadowPages::default();
        let copy = |item| AccessRecord { copy: 1, is_copy: true, ..access(1, item, 0) };
        let after = |item, epoch| AccessRecord { copy: 1, ..access(1, item, epoch) };
        assert_eq!(shadow.record(bytes(0, 4, true), &copy(3), &NEVER, 16), None);
        // A barrier does not order the copy and the access of work-item 0, which has not waited for copy 1.
        assert_eq!(shadow.record(bytes(0, 4, false), &after(0, 1), &NEVER, 16), Some(copy(3)));
        assert_eq!(shadow.record(bytes(0, 4, false), &after(1, 1), &NEVER, 16), None);
        // The work-item that copied the bytes must wait, too.
        assert_eq!(shadow.record(bytes(4, 4, false), &copy(0), &NEVER, 16), None);
        assert_eq!(shadow.record(bytes(4, 4, false), &after(0, 0), &NEVER, 16), None);
        assert_eq!(shadow.record(bytes(4, 4, true), &after(0, 0), &NEVER, 16), Some(copy(0)));
        let cause = |earlier: &AccessRecord, now: &AccessRecord| Conflict::of(earlier, now, &NEVER);
        assert_eq!(cause(&copy(3), &after(0, 0)), Conflict::EarlierCopy);
        assert_eq!(cause(&after(2, 0), &copy(3)), Conflict::LaterCopy);
        assert_eq!(cause(&access(1, 2, 0), &copy(3)), Conflict::Race);
    }

    #[test]
    fn the_number_of_pages_is_limited() {
        let mut shadow = ShadowPages::default();
        for page in 0..10 {
            assert_eq!(shadow.record(bytes(page * 256, 4, true), &access(1, 0, 0), &NEVER, 2), None);
        }
        assert_eq!(shadow.record(bytes(256, 4, true), &access(1, 1, 0), &NEVER, 2), Some(access(1, 0, 0)));
        assert_eq!(shadow.record(bytes(9 * 256, 4, true), &access(1, 1, 0), &NEVER, 2), None);
    }
}
