//! Commands of a command buffer as few commands of its queues (cl_khr_command_buffer_multi_device, OpenCL API 5.15.2).
//!
//! A *segment* is commands of one queue that nothing of another queue comes between: its device runs them one after the other. A command goes into the last segment of its queue unless it
//! waits for one for which that does not wait. A queue's segments wait for each other, whether it is in order or not; those of different queues only where synchronization points
//! or barriers say so. A launch whose kernel may enqueue others is a segment of its own: what comes of it is not known before it runs ([`crate::commands::device_enqueue`]). Otherwise a buffer for one queue
//! has one segment.

use std::sync::Arc;

use crate::backend::Action;
use crate::commands::command::{Access, Operation, Use, Work};
use crate::commands::command_buffer::{At, Step, SyncPoint};
use crate::objects::program::Executable;

/// Where a command was recorded.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    queue: usize,
    waits: Vec<SyncPoint>,
    is_barrier: bool,
}

impl Place {
    /// Of a command.
    pub(crate) fn of(at: &At<'_>) -> Self {
        Self { queue: at.queue, waits: at.points.to_vec(), is_barrier: false }
    }

    /// Of a barrier: without synchronization points it waits for all before it, and what is recorded behind it waits for it.
    pub(crate) fn barrier(at: &At<'_>) -> Self {
        Self { is_barrier: true, ..Self::of(at) }
    }
}

/// Commands that one queue runs one after the other.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The queue, by its place among the command buffer's.
    pub(crate) queue: usize,
    commands: Arc<[Arc<Action>]>,
    /// Of what program the only command may enqueue kernels.
    family: Option<Arc<Executable>>,
    uses: Vec<Use>,
    /// Segments before this one for which it waits, in order.
    pub(crate) after: Vec<usize>,
}

impl Segment {
    /// What it does, as one command of its queue.
    pub(crate) fn work(&self) -> Work {
        let operation = match (&*self.commands, &self.family) {
            ([], _) => Operation::Nop,
            ([launch], Some(executable)) => Operation::ReplayFamily(launch.clone(), executable.clone()),
            _ => Operation::Replay(self.commands.clone()),
        };
        Work::new(operation, self.uses.clone())
    }
}

/// A segment to which commands are added.
struct Draft {
    queue: usize,
    commands: Vec<Arc<Action>>,
    family: Option<Arc<Executable>>,
    uses: Vec<Use>,
    after: Vec<usize>,
}

impl Draft {
    fn finished(self) -> Segment {
        Segment { queue: self.queue, commands: self.commands.into(), family: self.family, uses: self.uses, after: self.after }
    }
}

/// The segments of commands in the order of recording. Synchronization point `n` is that of command `n - 1`.
pub(crate) fn divide(places: &[Place], steps: &[&Step]) -> Vec<Segment> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut segment_of: Vec<usize> = Vec::with_capacity(steps.len());
    let mut barrier = None;
    for (place, step) in places.iter().zip(steps) {
        let of_points = place.waits.iter().filter_map(|&point| segment_of.get((point as usize).checked_sub(1)?).copied());
        let mut waits: Vec<usize> = of_points.chain(barrier).collect();
        if place.is_barrier && place.waits.is_empty() {
            waits.extend(0..drafts.len());
        }
        let last = drafts.iter().rposition(|draft| draft.queue == place.queue);
        let joined = last.filter(|&last| {
            let alone = step.family.is_some() || drafts[last].family.is_some();
            !alone && waits.iter().all(|&other| other == last || drafts[last].after.contains(&other))
        });
        let index = joined.unwrap_or_else(|| {
            waits.extend(last);
            waits.sort_unstable();
            waits.dedup();
            let (queue, family) = (place.queue, step.family.clone());
            drafts.push(Draft { queue, commands: Vec::new(), family, uses: Vec::new(), after: waits });
            drafts.len() - 1
        });
        let draft = &mut drafts[index];
        draft.commands.extend(step.action.clone());
        step.uses.iter().for_each(|used| merge(&mut draft.uses, used));
        segment_of.push(index);
        if place.is_barrier {
            barrier = Some(index);
        }
    }
    drafts.into_iter().map(Draft::finished).collect()
}

/// Adds a use to others: one for each buffer, of all bytes that any command needs. What is partly overwritten and partly read counts as written, so that
/// what another device has of it is brought over first.
fn merge(uses: &mut Vec<Use>, new: &Use) {
    match uses
        .iter_mut()
        .find(|old| Arc::ptr_eq(&old.buffer, &new.buffer) && old.image.as_ref().map(Arc::as_ptr) == new.image.as_ref().map(Arc::as_ptr))
    {
        Some(old) => {
            old.range = old.range.start.min(new.range.start)..old.range.end.max(new.range.end);
            if !(old.access == Access::Read && new.access == Access::Read) {
                old.access = Access::Write;
            }
        }
        None => uses.push(new.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::{At, Place, Step, divide};

    /// Queue and synchronization points of each command; a barrier where `true`. Queue and waits of each segment.
    fn divided(recorded: &[(usize, &[u32], bool)]) -> Vec<(usize, Vec<usize>)> {
        let place = |&(queue, points, is_barrier): &(usize, &[u32], bool)| {
            let at = At { queue, points };
            if is_barrier { Place::barrier(&at) } else { Place::of(&at) }
        };
        let (places, step): (Vec<_>, _) = (recorded.iter().map(place).collect(), Step::default());
        divide(&places, &vec![&step; places.len()]).into_iter().map(|segment| (segment.queue, segment.after)).collect()
    }

    #[test]
    fn commands_of_one_queue_are_one_segment() {
        assert_eq!(divided(&[(0, &[], false), (0, &[1], false), (0, &[], true), (0, &[2, 3], false)]), [(0, vec![])]);
    }

    #[test]
    fn queues_wait_for_each_other_where_points_say_so() {
        let chain = [(0, &[] as &[u32], false), (1, &[1], false), (0, &[2], false), (1, &[3], false)];
        assert_eq!(divided(&chain), [(0, vec![]), (1, vec![0]), (0, vec![0, 1]), (1, vec![1, 2])]);
        let free = [(0, &[] as &[u32], false), (1, &[], false), (0, &[], false), (1, &[2], false)];
        assert_eq!(divided(&free), [(0, vec![]), (1, vec![])]);
        // What the segment waits for already divides nothing.
        let known = [(0, &[] as &[u32], false), (1, &[1], false), (1, &[1], false)];
        assert_eq!(divided(&known), [(0, vec![]), (1, vec![0])]);
    }

    #[test]
    fn barriers_are_for_all_queues() {
        let recorded = [(0, &[] as &[u32], false), (1, &[], false), (0, &[], true), (1, &[], false), (0, &[], false)];
        assert_eq!(divided(&recorded), [(0, vec![]), (1, vec![]), (0, vec![0, 1]), (1, vec![1, 2])]);
    }
}
