//! Affinity masks of Windows threads.
//!
//! Windows divides processors into groups of at most 64. The number of a processor is `64 * GROUP + NUMBER`. An
//! affinity mask that an application sets belongs to one group. Threads of a set with several groups are therefore
//! distributed among the groups.

use std::sync::atomic::{AtomicUsize, Ordering};

use windows_sys::Win32::System::SystemInformation::{
    GROUP_AFFINITY, GetLogicalProcessorInformationEx, LOGICAL_PROCESSOR_RELATIONSHIP, RelationGroup,
};
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadGroupAffinity, SetThreadGroupAffinity};

/// Maximum number of processors in a group.
pub(crate) const GROUP: usize = 64;

/// Number of processors that the process may use.
pub(crate) fn cores() -> usize {
    Affinity::of_this_thread().map_or_else(wgcl_compiler::parallel::cores, |all| all.processors().len().max(1))
}

/// The affinity mask that a thread gets if the calling thread creates it. Otherwise, the new thread would have the mask
/// of the process, and stay in the process's group on older versions of Windows.
pub(super) fn to_inherit() -> Option<Affinity> {
    Affinity::of_this_thread()
}

/// A set of processors: groups, with a bit mask for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Affinity(Vec<(u16, u64)>);

impl Affinity {
    /// All processors, or those that the application has chosen for the thread.
    pub(super) fn of_this_thread() -> Option<Self> {
        let mut own = GROUP_AFFINITY::default();
        // SAFETY: the call writes the mask.
        if unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut own) } == 0 {
            return None;
        }
        let own = (own.Group, own.Mask as u64);
        let all = processor_information(RelationGroup).map(|information| group_masks(&information)).unwrap_or_default();
        Some(Self(choose(own, all)))
    }

    pub(super) fn of(processors: impl Iterator<Item = usize>) -> Self {
        let mut groups: Vec<(u16, u64)> = Vec::new();
        for processor in processors {
            let (group, bit) = ((processor / GROUP) as u16, 1 << (processor % GROUP));
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, mask)) => *mask |= bit,
                None => groups.push((group, bit)),
            }
        }
        Self(groups)
    }

    pub(super) fn processors(&self) -> Vec<usize> {
        let of_group = |&(group, mask): &(u16, u64)| processors_of(group, mask);
        self.0.iter().flat_map(of_group).collect()
    }

    pub(super) fn set(&self) {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        if self.0.is_empty() {
            return;
        }
        let (group, mask) = self.0[NEXT.fetch_add(1, Ordering::Relaxed) % self.0.len()];
        let affinity = GROUP_AFFINITY { Mask: mask as usize, Group: group, Reserved: [0; 3] };
        // SAFETY: the call only reads the mask.
        if unsafe { SetThreadGroupAffinity(GetCurrentThread(), &raw const affinity, std::ptr::null_mut()) } == 0 {
            tracing::warn!("cannot bind a thread to its processors: {}", std::io::Error::last_os_error());
        }
    }
}

/// The numbers of the processors in a group's mask.
pub(crate) fn processors_of(group: u16, mask: u64) -> impl Iterator<Item = usize> {
    (0..GROUP).filter(move |number| mask >> number & 1 != 0).map(move |number| usize::from(group) * GROUP + number)
}

/// Returns all groups, or the thread's own mask if the mask contains only a part of its group. By default, a thread has
/// the mask of one whole group.
fn choose(own: (u16, u64), all: Vec<(u16, u64)>) -> Vec<(u16, u64)> {
    if all.contains(&own) { all } else { vec![own] }
}

/// The groups and the masks of their active processors, from the structure `GROUP_RELATIONSHIP`.
fn group_masks(information: &[u8]) -> Vec<(u16, u64)> {
    /// The offset in bytes of `ActiveGroupCount`.
    const COUNT: usize = 8 + 2;
    /// The offset in bytes of `GroupInfo`.
    const FIRST: usize = 8 + 24;
    /// The offset in bytes of `ActiveProcessorMask` in an element of `GroupInfo`.
    const MASK: usize = 40;
    /// Bytes of an element (`PROCESSOR_GROUP_INFO`).
    const SIZE: usize = 48;
    let number = |at: usize, size: usize| {
        let bytes = information.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    let mask = |group: u16| Some((group, number(FIRST + usize::from(group) * SIZE + MASK, 8)?));
    (0..number(COUNT, 2).unwrap_or(0) as u16).map_while(mask).filter(|(_, mask)| *mask != 0).collect()
}

/// The bytes that `GetLogicalProcessorInformationEx` returns. `None` if it fails.
pub(crate) fn processor_information(relation: LOGICAL_PROCESSOR_RELATIONSHIP) -> Option<Vec<u8>> {
    let mut size = 0;
    // SAFETY: without a buffer, the call only writes the size.
    unsafe { GetLogicalProcessorInformationEx(relation, std::ptr::null_mut(), &raw mut size) };
    // The buffer consists of 64-bit words, because the structures contain 64-bit numbers.
    let mut words = vec![0u64; (size as usize).div_ceil(8)];
    // SAFETY: the buffer is aligned, and has the size that the call requires.
    let done = unsafe { GetLogicalProcessorInformationEx(relation, words.as_mut_ptr().cast(), &raw mut size) };
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_ne_bytes).collect();
    bytes.truncate(size as usize);
    (done != 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Affinity, RelationGroup, choose, group_masks, processor_information};

    #[test]
    fn processors_of_several_groups_have_different_numbers() {
        let affinity = Affinity::of([0, 5, 64, 127].into_iter());
        assert_eq!(affinity, Affinity(vec![(0, 0x21), (1, 1 | 1 << 63)]));
        assert_eq!(affinity.processors(), [0, 5, 64, 127]);
    }

    #[test]
    fn a_thread_with_a_whole_group_may_use_all_groups() {
        let all = vec![(0, 0xFF), (1, 0xF)];
        assert_eq!(choose((1, 0xF), all.clone()), all);
        assert_eq!(choose((1, 0x3), all), [(1, 0x3)]);
        assert_eq!(choose((0, 0x3), vec![]), [(0, 0x3)]);
    }

    #[test]
    fn this_system_reports_its_groups_and_the_thread_can_be_bound() {
        let masks = group_masks(&processor_information(RelationGroup).expect("the groups"));
        assert!(masks.iter().any(|(_, mask)| mask & 1 != 0), "{masks:?}");
        let all = Affinity::of_this_thread().expect("the thread's processors");
        let first = all.processors()[0];
        let bound = std::thread::spawn(move || {
            Affinity::of(std::iter::once(first)).set();
            Affinity::of_this_thread().expect("its processors").processors()
        });
        let bound = bound.join().expect("the thread");
        assert_eq!(bound, [first]);
    }
}
