//! Who touched which byte last, and whether two accesses of different work-items may come in either order: data races.
//!
//! Of two accesses to one byte, one of which writes, one has to happen before the other (OpenCL API 3.0, 3.3.6: the memory consistency model). Within a group a barrier with the fence of that memory between them sees to it
//! (an *epoch* lies between two such); else both sides have to synchronise: whoever came first by an atomic operation or a fence after its access, whoever comes second by one before.
//! Which orders those have, and whether they meet in one atomic object, is not looked at: what programs do with flags and counters is taken for right, plain loads of them too.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// Bytes that are kept track of together: those of one page.
const PAGE: u64 = 256;
/// Parts of a table, each locked by itself.
const SHARDS: usize = 64;
/// Pages that are kept track of, of a launch: at 5 KiB each some 1.3 GiB.
const MOST_PAGES: usize = 1 << 12;

/// An access by a work-item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Visit {
    /// The number of the group in the launch, and one more: 0 where nobody was.
    pub(super) group: u32,
    /// Linear local id.
    pub(super) item: u32,
    /// How many barriers with fences for this memory the group had come to.
    pub(super) epoch: u32,
    /// How often the work-item had synchronised.
    pub(super) own: u32,
    /// How often its group had.
    pub(super) all: u32,
    /// The number of the site.
    pub(super) site: u32,
    /// Whether it is atomic, or volatile.
    pub(super) atomic: bool,
}

impl Visit {
    const fn is_of(&self, other: &Self) -> bool {
        self.group == other.group && self.item == other.item
    }
}

/// What is known of a place: the last write, and the last reads of two work-items.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Visit,
    reads: [Visit; 2],
}

/// Says how often who came first has synchronised by now: the work-item and its group.
pub(super) trait Syncs {
    /// Of a work-item of the group that asks.
    fn of_item(&self, item: u32) -> u32;
    /// Of any group.
    fn of_group(&self, group: u32) -> u32;
}

/// Whether an access races with one before it.
fn races(before: &Visit, now: &Visit, syncs: &dyn Syncs) -> bool {
    if before.group == 0 || before.is_of(now) || before.atomic && now.atomic {
        return false;
    }
    if before.group != now.group {
        return syncs.of_group(before.group) <= before.all || now.all == 0;
    }
    before.epoch == now.epoch && (syncs.of_item(before.item) <= before.own || now.own == 0)
}

impl Cell {
    /// Notes an access; the one that it races with.
    fn visit(&mut self, now: &Visit, writes: bool, syncs: &dyn Syncs) -> Option<Visit> {
        let mut found = Some(self.write).filter(|before| (writes || !before.atomic) && races(before, now, syncs));
        if writes {
            let read = || self.reads.iter().find(|before| !now.atomic && races(before, now, syncs)).copied();
            found = found.or_else(read);
            self.write = *now;
        } else {
            if !self.reads[0].is_of(now) {
                self.reads[1] = self.reads[0];
            }
            self.reads[0] = *now;
        }
        found
    }
}

/// The places of a page: words as long as nobody touches a part of one, then bytes.
#[derive(Debug)]
struct Page {
    /// Bytes of a place.
    width: u64,
    cells: Vec<Cell>,
}

impl Page {
    fn new() -> Self {
        Self { width: 4, cells: vec![Cell::default(); (PAGE / 4) as usize] }
    }

    fn visit(&mut self, (start, end): (u64, u64), now: &Visit, writes: bool, syncs: &dyn Syncs) -> Option<Visit> {
        if self.width > 1 && !(start.is_multiple_of(self.width) && end.is_multiple_of(self.width)) {
            let width = self.width as usize;
            self.cells = self.cells.iter().flat_map(|cell| std::iter::repeat_n(*cell, width)).collect();
            self.width = 1;
        }
        let places = (start / self.width) as usize..(end / self.width) as usize;
        self.cells.get_mut(places)?.iter_mut().fold(None, |found, cell| found.or(cell.visit(now, writes, syncs)))
    }
}

/// The places of memory by address.
#[derive(Debug, Default)]
pub(super) struct Pages(FxHashMap<u64, Page>);

impl Pages {
    /// Notes an access to bytes; one that it races with. Beyond `most` pages nothing is noted.
    pub(super) fn visit(
        &mut self,
        (address, size): (u64, u64),
        now: &Visit,
        writes: bool,
        syncs: &dyn Syncs,
        most: usize,
    ) -> Option<Visit> {
        let (mut at, end) = (address, address + size);
        let mut found = None;
        while at < end {
            let (number, start) = (at / PAGE, at % PAGE);
            let stop = (end - number * PAGE).min(PAGE);
            if self.0.len() < most || self.0.contains_key(&number) {
                let page = self.0.entry(number).or_insert_with(Page::new);
                found = found.or(page.visit((start, stop), now, writes, syncs));
            }
            at = (number + 1) * PAGE;
        }
        found
    }

    /// Whether somebody has written each of some bytes last.
    pub(super) fn has_written(&self, (address, size): (u64, u64), who: impl Fn(&Visit) -> bool) -> bool {
        (address..address + size).all(|at| {
            let page = self.0.get(&(at / PAGE));
            let cell = page.and_then(|page| page.cells.get((at % PAGE / page.width) as usize));
            cell.is_some_and(|cell| who(&cell.write))
        })
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The places of the memory that all groups of a launch share.
#[derive(Debug)]
pub(super) struct Shared(Vec<Mutex<Pages>>);

impl Shared {
    pub(super) fn new() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }

    /// As [`Pages::visit`]. An access is within one page or next to its end.
    pub(super) fn visit(&self, bytes: (u64, u64), now: &Visit, writes: bool, syncs: &dyn Syncs) -> Option<Visit> {
        let (address, end) = (bytes.0, bytes.0 + bytes.1);
        let mut found = None;
        let mut at = address;
        while at < end {
            let stop = (at / PAGE + 1) * PAGE;
            let part = (at, end.min(stop) - at);
            let shard = &self.0[(at / PAGE) as usize % SHARDS];
            found = found.or(shard.lock().visit(part, now, writes, syncs, MOST_PAGES));
            at = stop;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Pages, Syncs, Visit};

    /// So often each work-item, and each group, has synchronised.
    struct Fixed(u32, u32);

    impl Syncs for Fixed {
        fn of_item(&self, _: u32) -> u32 {
            self.0
        }

        fn of_group(&self, _: u32) -> u32 {
            self.1
        }
    }

    const NEVER: Fixed = Fixed(0, 0);

    fn who(group: u32, item: u32, epoch: u32) -> Visit {
        Visit { group, item, epoch, ..Visit::default() }
    }

    #[test]
    fn two_of_an_epoch_race_where_one_writes() {
        let mut pages = Pages::default();
        let mut visit = |at, size, visit: Visit, writes| pages.visit((at, size), &visit, writes, &NEVER, 16).map(|other| other.item);
        assert_eq!(visit(1000, 4, who(1, 0, 0), true), None);
        assert_eq!(visit(1000, 4, who(1, 0, 0), false), None);
        assert_eq!(visit(1000, 4, who(1, 1, 0), false), Some(0));
        // Behind a barrier.
        assert_eq!(visit(1000, 4, who(1, 2, 1), false), None);
        assert_eq!(visit(1000, 4, who(1, 3, 1), false), None);
        assert_eq!(visit(1000, 4, who(1, 3, 1), true), Some(2));
        // Barriers are a group's own.
        assert_eq!(visit(1000, 4, who(2, 3, 2), true), Some(3));
        // Beside each other.
        assert_eq!(visit(1005, 1, who(1, 5, 1), true), None);
        assert_eq!(visit(1004, 1, who(1, 4, 1), true), None);
        assert_eq!(visit(1006, 2, who(1, 6, 1), true), None);
        assert_eq!(visit(1000, 8, who(1, 7, 1), false), Some(3));
        // Over the ends of pages.
        assert_eq!(visit(1022, 4, who(1, 0, 1), true), None);
        assert_eq!(visit(1024, 4, who(1, 1, 1), true), Some(0));
    }

    #[test]
    fn who_synchronises_does_not_race() {
        let mut pages = Pages::default();
        let first = who(1, 0, 0);
        assert_eq!(pages.visit((64, 4), &first, true, &NEVER, 16), None);
        let second = Visit { own: 1, all: 1, ..who(2, 0, 0) };
        assert_eq!(pages.visit((64, 4), &second, false, &Fixed(1, 1), 16), None);
        // By itself, after the other one's access only.
        let third = Visit { own: 1, all: 1, ..who(3, 0, 0) };
        assert_eq!(pages.visit((64, 4), &third, false, &NEVER, 16), Some(first));
        let atomic = |group| Visit { atomic: true, ..who(group, 0, 0) };
        assert_eq!(pages.visit((128, 4), &atomic(1), true, &NEVER, 16), None);
        assert_eq!(pages.visit((128, 4), &atomic(2), true, &NEVER, 16), None);
        assert_eq!(pages.visit((128, 4), &who(3, 0, 0), false, &NEVER, 16), None);
        assert_eq!(pages.visit((128, 4), &atomic(2), true, &NEVER, 16), None);
        assert_eq!(pages.visit((128, 4), &who(3, 0, 0), true, &NEVER, 16), Some(atomic(2)));
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        let mut pages = Pages::default();
        for page in 0..10 {
            assert_eq!(pages.visit((page * 256, 4), &who(1, 0, 0), true, &NEVER, 2), None);
        }
        assert_eq!(pages.visit((256, 4), &who(1, 1, 0), true, &NEVER, 2), Some(who(1, 0, 0)));
        assert_eq!(pages.visit((9 * 256, 4), &who(1, 1, 0), true, &NEVER, 2), None);
    }
}
