//! What orders the accesses of the group that a thread runs: its barriers, fences and atomic operations. And whether all work-items come to a barrier that one comes to.
//!
//! Work-items are run one after the other from barrier to barrier, those with lower numbers first: so each has its own count of the barriers that it has come to, and a barrier is left by
//! all where the next work-item that comes to one has no higher number than the last.

use std::cell::RefCell;

use smallvec::SmallVec;
use wgcl_compiler::vectorize::sanitize::Access;

use super::checker::Asked;
use super::shadow_memory::{Pages, Syncs, Visit};

thread_local! {
    /// The group that this thread runs.
    pub(super) static GROUP: RefCell<Group> = RefCell::default();
}

/// What a work-item has passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// Barriers with a fence for local memory.
    pub(super) local: u32,
    /// Barriers with one for global memory.
    pub(super) global: u32,
    /// Atomic operations and fences of its own.
    pub(super) syncs: u32,
}

/// A barrier that some work-items have come to.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    site: usize,
    last: u32,
    count: u32,
    /// The first that has not come though a later one has.
    absent: Option<u32>,
}

/// A barrier that not all of a group have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Diverged {
    /// The number of its site.
    pub(super) site: usize,
    /// How many have come to it.
    pub(super) came: u32,
    /// One that has not.
    pub(super) absent: u32,
}

/// A group while it runs.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Its number in the launch and one more; 0 before a thread has begun one.
    pub(super) number: u32,
    /// Its ids.
    pub(super) ids: [u32; 3],
    /// From where to where its own memory is: first local memory, then private.
    pub(super) arena: (u64, u64),
    /// Where private memory begins.
    pub(super) private: u64,
    /// Who has touched that.
    pub(super) pages: Pages,
    /// By linear local id.
    pub(super) items: Vec<Passed>,
    waiting: Option<Waiting>,
    /// A store that races with one before, if what it stores is not what was there.
    pub(super) doubtful: Option<Doubtful>,
    /// What the NaN was made of that is going to be told of.
    pub(super) operands: SmallVec<[f64; 3]>,
}

/// A store of which it is not known yet whether it changes anything: who stores what others have stored does no harm.
#[derive(Clone, Debug)]
pub(super) struct Doubtful {
    pub(super) asked: Asked,
    pub(super) before: Visit,
    /// What was there.
    pub(super) bytes: SmallVec<[u8; 16]>,
}

impl Group {
    /// Another group of so many work-items. What became of the barrier that the one before came to last is left to [`Self::end`].
    pub(super) fn begin(&mut self, number: u32, ids: [u32; 3], (arena, private): ((u64, u64), u64), items: usize) {
        (self.number, self.ids, self.arena, self.private, self.waiting) = (number, ids, arena, private, None);
        self.pages.clear();
        self.items.clear();
        self.items.resize(items, Passed::default());
    }

    /// The group is done: the barrier that it came to last, if some did not.
    pub(super) fn end(&mut self) -> Option<Diverged> {
        let Waiting { site, last, count, absent } = self.waiting.take()?;
        ((count as usize) < self.items.len()).then(|| Diverged { site, came: count, absent: absent.unwrap_or(last + 1) })
    }

    /// A work-item comes to a barrier with fences; the one before, if some did not come to that.
    pub(super) fn arrive(&mut self, site: usize, linear: u32, access: Access) -> Option<Diverged> {
        if let (Access::Barrier { local, global }, Some(passed)) = (access, self.items.get_mut(linear as usize)) {
            passed.local += u32::from(local);
            passed.global += u32::from(global);
        }
        match &mut self.waiting {
            Some(waiting) if waiting.site == site && linear > waiting.last => {
                if linear > waiting.last + 1 {
                    waiting.absent.get_or_insert(waiting.last + 1);
                }
                (waiting.last, waiting.count) = (linear, waiting.count + 1);
                None
            }
            _ => {
                let before = self.end();
                self.waiting = Some(Waiting { site, last: linear, count: 1, absent: (linear > 0).then_some(0) });
                before
            }
        }
    }

    /// All do something together.
    pub(super) fn meet(&mut self) {
        for passed in &mut self.items {
            passed.local += 1;
            passed.global += 1;
        }
    }

    /// A work-item synchronises by itself.
    pub(super) fn synchronise(&mut self, linear: u32) {
        if let Some(passed) = self.items.get_mut(linear as usize) {
            passed.syncs += 1;
        }
    }

    /// What a work-item has passed.
    pub(super) fn passed(&self, linear: u32) -> Passed {
        self.items.get(linear as usize).copied().unwrap_or_default()
    }
}

/// How often who came first has synchronised: by the group that runs and by the counts of all groups.
pub(super) struct Counts<'a> {
    pub(super) items: &'a [Passed],
    pub(super) groups: &'a [std::sync::atomic::AtomicU32],
}

impl Syncs for Counts<'_> {
    fn of_item(&self, item: u32) -> u32 {
        self.items.get(item as usize).map_or(u32::MAX, |passed| passed.syncs)
    }

    fn of_group(&self, group: u32) -> u32 {
        let count = (group as usize).checked_sub(1).and_then(|index| self.groups.get(index));
        count.map_or(u32::MAX, |count| count.load(std::sync::atomic::Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, Diverged, Group};

    const BOTH: Access = Access::Barrier { local: true, global: true };
    const LOCAL: Access = Access::Barrier { local: true, global: false };

    fn group() -> Group {
        let mut group = Group::default();
        group.begin(1, [0; 3], ((0, 0), 0), 4);
        group
    }

    #[test]
    fn barriers_that_all_come_to_are_right() {
        let mut group = group();
        for (site, access) in [(3, BOTH), (3, LOCAL), (5, BOTH)] {
            for item in 0..4 {
                assert_eq!(group.arrive(site, item, access), None, "{site} {item}");
            }
        }
        assert_eq!((group.passed(2).local, group.passed(2).global), (3, 2));
        assert_eq!(group.end(), None);
        assert_eq!(group.end(), None);
    }

    #[test]
    fn barriers_that_some_do_not_come_to_are_told() {
        let mut group = group();
        assert_eq!(group.arrive(3, 0, BOTH), None);
        assert_eq!(group.arrive(3, 2, BOTH), None);
        assert_eq!(group.arrive(3, 3, BOTH), None);
        assert_eq!(group.arrive(3, 0, BOTH), Some(Diverged { site: 3, came: 3, absent: 1 }));
        assert_eq!(group.arrive(4, 1, BOTH), Some(Diverged { site: 3, came: 1, absent: 1 }));
        assert_eq!(group.end(), Some(Diverged { site: 4, came: 1, absent: 0 }));
    }
}
