//! Counts the barriers, fences and atomic operations of the running group, which determine the happens-before relation
//! of its accesses. Also detects divergent barriers, which some work-items of a group reach and others do not.
//!
//! Generated code runs the work-items of a group in sequence up to the next barrier, in ascending order of local ids.
//! Therefore, each work-item has its own count of barriers. The record of a barrier ends when a work-item arrives at
//! another site. It also ends when the arriving local id is not greater than that of the previous arrival.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use wgcl_api::types::thread;
use wgcl_compiler::vectorize::sanitize::Access;

use super::request::AccessRequest;
use super::shadow_memory::{AccessRecord, Conflict, ShadowPages, SyncCounts};
use crate::memory::address_range::AddressRange;

thread_local! {
    /// The group that this thread runs.
    static CURRENT_GROUP: RefCell<GroupState> = RefCell::default();
}

/// The groups of threads whose thread-local values are already destroyed, by thread. This happens if a program launches
/// kernels in an exit handler.
static LATE_GROUPS: Mutex<Vec<(usize, GroupState)>> = Mutex::new(Vec::new());

/// Calls `f` with the group that this thread runs.
pub(super) fn with_current_group<R>(f: impl FnOnce(&mut GroupState) -> R) -> R {
    let mut f = Some(f);
    let mut call = |group: &mut GroupState| f.take().map(|f| f(group));
    if let Ok(Some(result)) = CURRENT_GROUP.try_with(|group| call(&mut group.borrow_mut())) {
        return result;
    }
    let own = thread::token();
    let mut groups = LATE_GROUPS.lock();
    let place = groups.iter().position(|(thread, _)| *thread == own);
    let mut group = place.map(|place| groups.swap_remove(place).1).unwrap_or_default();
    drop(groups);
    let result = call(&mut group);
    LATE_GROUPS.lock().push((own, group));
    result.expect("the function was not called before")
}

/// The numbers of synchronisation operations that a work-item has executed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Number of barriers with CLK_LOCAL_MEM_FENCE.
    pub(super) local_barriers: u32,
    /// Number of barriers with CLK_GLOBAL_MEM_FENCE.
    pub(super) global_barriers: u32,
    /// Number of atomic operations and fences.
    pub(super) syncs: u32,
}

/// The asynchronous copies of a work-item. All work-items of a group execute the same copies in the same order, so a
/// number identifies a copy in all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemCopies {
    /// The number of copies that the work-item has begun, which is the number of the last one.
    last: u32,
    is_copying: bool,
    /// The copies that the work-item has not waited for.
    unfinished: SmallVec<[StartedCopy; 2]>,
}

/// An asynchronous copy that a work-item has begun.
#[derive(Clone, Copy, Debug)]
struct StartedCopy {
    number: u32,
    event: u32,
    /// Index of the access site.
    site: usize,
}

/// The state of the last asynchronous copy of a work-item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CopyProgress {
    /// The number of the copy; 0 if there is none.
    pub(super) last: u32,
    pub(super) is_copying: bool,
}

/// A barrier that some work-items have reached.
#[derive(Clone, Copy, Debug)]
struct PendingBarrier {
    site: usize,
    /// The last work-item that reached it.
    last: u32,
    arrived: u32,
    /// The first work-item that did not reach the barrier, although a work-item with a greater local id did.
    absent: Option<u32>,
}

/// An operation that some work-items of a group did not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divergence {
    /// Index of the access site.
    pub(super) site: usize,
    /// Number of work-items that reached it.
    pub(super) arrived: u32,
    /// A work-item that did not reach it.
    pub(super) absent: u32,
}

/// The identity and the memory of a running group.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningGroup {
    /// Linear group id plus 1; 0 before the thread runs a group.
    pub(super) number: u32,
    pub(super) id: [u32; 3],
    /// The arena: local memory, followed by private memory.
    pub(super) arena: AddressRange,
    /// The address of private memory.
    pub(super) private: u64,
    /// Number of work-items.
    pub(super) items: u32,
}

/// The state of the group that a thread runs.
#[derive(Debug)]
pub(super) struct GroupState {
    running: RunningGroup,
    /// The accesses to the arena.
    pub(super) shadow: ShadowPages,
    /// The progress of each work-item, by linear local id.
    pub(super) items: Vec<Progress>,
    /// The asynchronous copies of each work-item, by linear local id.
    pub(super) copies: Vec<ItemCopies>,
    barrier: Option<PendingBarrier>,
    /// For each site of a collective operation or copy, the number of times that each work-item has reached it.
    reached: FxHashMap<usize, Vec<u32>>,
    /// The last store, if it may be a data race.
    pub(super) possible_race: Option<PossibleRace>,
    /// The operands of the operation whose result is a NaN.
    pub(super) operands: SmallVec<[f64; 3]>,
}

/// A store after a store by another work-item to the same bytes. Stores of equal values are not reported. The next call
/// of the checker compares the bytes before and after the store.
#[derive(Clone, Debug)]
pub(super) struct PossibleRace {
    pub(super) request: AccessRequest,
    pub(super) earlier: AccessRecord,
    pub(super) conflict: Conflict,
    /// The bytes before the store.
    pub(super) bytes: SmallVec<[u8; 16]>,
}

impl Default for GroupState {
    fn default() -> Self {
        let running = RunningGroup { number: 0, id: [0; 3], arena: AddressRange { start: 0, end: 0 }, private: 0, items: 0 };
        Self {
            running,
            shadow: ShadowPages::default(),
            items: Vec::new(),
            copies: Vec::new(),
            barrier: None,
            reached: FxHashMap::default(),
            possible_race: None,
            operands: SmallVec::new(),
        }
    }
}

impl GroupState {
    pub(super) const fn running(&self) -> RunningGroup {
        self.running
    }

    /// Starts a group. The caller must have called [`Self::end`] for the previous group.
    pub(super) fn begin(&mut self, group: RunningGroup) {
        (self.running, self.barrier) = (group, None);
        self.shadow.clear();
        self.items.clear();
        self.items.resize(group.items as usize, Progress::default());
        self.reached.clear();
        self.copies.clear();
        self.copies.resize(group.items as usize, ItemCopies::default());
    }

    /// Records that a work-item begins an asynchronous copy. Returns the event of the copy. It is new if `event` is 0.
    pub(super) fn begin_copy(&mut self, site: usize, local_id: u32, event: u32) -> u32 {
        self.reach(site, local_id);
        let Some(copies) = self.copies.get_mut(local_id as usize) else { return event };
        copies.last += 1;
        copies.is_copying = true;
        let event = if event == 0 { copies.last } else { event };
        copies.unfinished.push(StartedCopy { number: copies.last, event, site });
        event
    }

    /// Records that a work-item has copied its part of its last copy.
    pub(super) fn end_copy(&mut self, local_id: u32) {
        if let Some(copies) = self.copies.get_mut(local_id as usize) {
            copies.is_copying = false;
        }
    }

    /// Records that a work-item waits for the copies with an event.
    pub(super) fn wait_for_copies(&mut self, site: usize, local_id: u32, event: u32) {
        self.reach(site, local_id);
        if let Some(copies) = self.copies.get_mut(local_id as usize) {
            copies.unfinished.retain(|copy| copy.event != event);
        }
    }

    /// Records that a work-item reaches a collective operation, an asynchronous copy or a wait for a copy.
    pub(super) fn reach(&mut self, site: usize, local_id: u32) {
        let items = self.running.items as usize;
        let counts = self.reached.entry(site).or_insert_with(|| vec![0; items]);
        if let Some(count) = counts.get_mut(local_id as usize) {
            *count += 1;
        }
    }

    /// Returns the sites that some work-items reached more often than others, in order. Called at the end of the group.
    pub(super) fn uneven(&mut self) -> Vec<Divergence> {
        let mut uneven = Vec::new();
        for (site, counts) in self.reached.drain() {
            let most = counts.iter().copied().max().unwrap_or(0);
            let arrived = counts.iter().filter(|&&count| count == most).count() as u32;
            if let Some(absent) = (0..).zip(&counts).find(|(_, count)| **count < most).map(|(item, _)| item) {
                uneven.push(Divergence { site, arrived, absent });
            }
        }
        uneven.sort_unstable_by_key(|divergence| divergence.site);
        uneven
    }

    /// Returns the sites of copies for which a work-item did not wait, and the first such work-item, in order. Called
    /// at the end of the group.
    pub(super) fn never_waited_for(&self) -> Vec<(usize, u32)> {
        let mut copies: Vec<(usize, u32)> = Vec::new();
        for (item, of_item) in (0..).zip(&self.copies) {
            for copy in &of_item.unfinished {
                if copies.iter().all(|(site, _)| *site != copy.site) {
                    copies.push((copy.site, item));
                }
            }
        }
        copies.sort_unstable();
        copies
    }

    /// The number of the last copy of a work-item, and whether the work-item executes it now.
    pub(super) fn copies_of(&self, local_id: u32) -> CopyProgress {
        let copies = self.copies.get(local_id as usize);
        copies.map_or_else(CopyProgress::default, |copies| CopyProgress { last: copies.last, is_copying: copies.is_copying })
    }

    /// Ends the pending barrier. Returns its divergence if some work-items did not reach it.
    pub(super) fn end(&mut self) -> Option<Divergence> {
        let PendingBarrier { site, last, arrived, absent } = self.barrier.take()?;
        (arrived < self.running.items).then(|| Divergence { site, arrived, absent: absent.unwrap_or(last + 1) })
    }

    /// Records that a work-item reaches a barrier. Returns the divergence of the previous barrier, if this arrival ends
    /// it and some work-items did not reach it.
    pub(super) fn arrive(&mut self, site: usize, local_id: u32, access: Access) -> Option<Divergence> {
        if let (Access::Barrier { local, global }, Some(item)) = (access, self.items.get_mut(local_id as usize)) {
            item.local_barriers += u32::from(local);
            item.global_barriers += u32::from(global);
        }
        match &mut self.barrier {
            Some(barrier) if barrier.site == site && local_id > barrier.last => {
                if local_id > barrier.last + 1 {
                    barrier.absent.get_or_insert(barrier.last + 1);
                }
                (barrier.last, barrier.arrived) = (local_id, barrier.arrived + 1);
                None
            }
            _ => {
                let previous = self.end();
                let absent = (local_id > 0).then_some(0);
                self.barrier = Some(PendingBarrier { site, last: local_id, arrived: 1, absent });
                previous
            }
        }
    }

    /// Records that all work-items run a group function, which has the effect of a barrier.
    pub(super) fn synchronise_all(&mut self) {
        for item in &mut self.items {
            item.local_barriers += 1;
            item.global_barriers += 1;
        }
    }

    /// Records that a work-item executes an atomic operation or a fence.
    pub(super) fn synchronise(&mut self, local_id: u32) {
        if let Some(item) = self.items.get_mut(local_id as usize) {
            item.syncs += 1;
        }
    }

    pub(super) fn progress(&self, local_id: u32) -> Progress {
        self.items.get(local_id as usize).copied().unwrap_or_default()
    }
}

/// The current counts of the work-items of the running group, and of all groups.
pub(super) struct SyncCounters<'a> {
    pub(super) items: &'a [Progress],
    pub(super) copies: &'a [ItemCopies],
    pub(super) groups: &'a [AtomicU32],
}

impl SyncCounts for SyncCounters<'_> {
    fn of_item(&self, item: u32) -> u32 {
        self.items.get(item as usize).map_or(u32::MAX, |item| item.syncs)
    }

    /// Returns `u32::MAX` if groups have no counters. `AccessRecord::group_syncs` is then also `u32::MAX`, so accesses
    /// of different groups are unordered.
    fn of_group(&self, group: u32) -> u32 {
        let count = (group as usize).checked_sub(1).and_then(|index| self.groups.get(index));
        count.map_or(u32::MAX, |count| count.load(Ordering::Relaxed))
    }

    fn is_unfinished(&self, item: u32, copy: u32) -> bool {
        self.copies.get(item as usize).is_some_and(|copies| copies.unfinished.iter().any(|started| started.number == copy))
    }
}

#[cfg(test)]
mod tests {
    use super::super::shadow_memory::SyncCounts;
    use super::{Access, Divergence, GroupState, RunningGroup, SyncCounters};

    const BOTH: Access = Access::Barrier { local: true, global: true };
    const LOCAL: Access = Access::Barrier { local: true, global: false };

    fn group() -> GroupState {
        let mut group = GroupState::default();
        group.begin(RunningGroup { number: 1, items: 4, ..group.running() });
        group
    }

    #[test]
    fn uniform_barriers_have_no_divergence() {
        let mut group = group();
        for (site, access) in [(3, BOTH), (3, LOCAL), (5, BOTH)] {
            for item in 0..4 {
                assert_eq!(group.arrive(site, item, access), None, "{site} {item}");
            }
        }
        assert_eq!((group.progress(2).local_barriers, group.progress(2).global_barriers), (3, 2));
        assert_eq!(group.end(), None);
        assert_eq!(group.end(), None);
    }

    #[test]
    fn a_copy_is_unfinished_until_the_wait_for_its_event() {
        let mut group = group();
        let unfinished = |group: &GroupState, item, copy| {
            SyncCounters { items: &group.items, copies: &group.copies, groups: &[] }.is_unfinished(item, copy)
        };
        let first = group.begin_copy(7, 1, 0);
        group.end_copy(1);
        let second = group.begin_copy(8, 1, 0);
        let third = group.begin_copy(9, 1, first);
        assert!(first != second && third == first && first != 0);
        assert!(unfinished(&group, 1, 1) && unfinished(&group, 1, 2) && unfinished(&group, 1, 3) && !unfinished(&group, 0, 1));
        group.wait_for_copies(10, 1, first);
        assert!(!unfinished(&group, 1, 1) && unfinished(&group, 1, 2) && !unfinished(&group, 1, 3));
        assert_eq!(group.never_waited_for(), [(8, 1)]);
    }

    #[test]
    fn operations_that_some_work_items_do_not_reach_are_found() {
        let mut group = group();
        for (site, item) in [(5, 0), (3, 0), (3, 1), (5, 2), (3, 2), (3, 3), (9, 3), (9, 3)] {
            group.reach(site, item);
        }
        let expected = [Divergence { site: 5, arrived: 2, absent: 1 }, Divergence { site: 9, arrived: 1, absent: 0 }];
        assert_eq!(group.uneven(), expected);
        assert_eq!(group.uneven(), []);
    }

    #[test]
    fn divergent_barriers_are_found() {
        let mut group = group();
        assert_eq!(group.arrive(3, 0, BOTH), None);
        assert_eq!(group.arrive(3, 2, BOTH), None);
        assert_eq!(group.arrive(3, 3, BOTH), None);
        assert_eq!(group.arrive(3, 0, BOTH), Some(Divergence { site: 3, arrived: 3, absent: 1 }));
        assert_eq!(group.arrive(4, 1, BOTH), Some(Divergence { site: 3, arrived: 1, absent: 1 }));
        assert_eq!(group.end(), Some(Divergence { site: 4, arrived: 1, absent: 0 }));
    }
}
