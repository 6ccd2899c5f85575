//! Partitions a command buffer into few commands of its queues (cl_khr_command_buffer_multi_device, OpenCL API 5.15.2).
//!
//! A *segment* is a list of commands of one queue that its device runs in sequence. A command joins the last segment of
//! its queue if this segment already waits for every segment that the command waits for. Otherwise the command begins a
//! new segment. Each segment of a queue waits for the previous segment of the queue. Segments of different queues wait
//! for each other only at synchronisation points and barriers. A launch whose kernel may enqueue kernels is a separate
//! segment, since these kernels are not known in advance ([`crate::commands::device_enqueue`]). Otherwise a command
//! buffer for one queue has one segment.

use std::sync::Arc;

use crate::backend::Action;
use crate::commands::command::{AccessMode, BufferAccess, Operation, PendingCommand};
use crate::commands::command_buffer::record::{RecordPosition, RecordedCommand};
use crate::objects::program::executable::Executable;

/// Commands that one queue runs in sequence.
#[derive(Debug)]
pub(crate) struct QueueSegment {
    /// The index of the queue in the command buffer.
    pub(crate) queue: usize,
    commands: Arc<[Arc<Action>]>,
    /// The program of the segment's only command, if that command may enqueue kernels.
    enqueues_from: Option<Arc<Executable>>,
    accesses: Vec<BufferAccess>,
    /// The indices of the earlier segments for which this one waits, ascending.
    pub(crate) wait_for: Vec<usize>,
}

impl QueueSegment {
    /// Returns the segment as one command of its queue.
    pub(crate) fn work(&self) -> PendingCommand {
        let operation = match (&*self.commands, &self.enqueues_from) {
            ([], _) => Operation::Nop,
            ([launch], Some(executable)) => Operation::ReplayKernelTree(launch.clone(), executable.clone()),
            _ => Operation::Replay(self.commands.clone()),
        };
        PendingCommand::new(operation, self.accesses.clone())
    }
}

/// A segment to which commands are added.
struct OpenSegment {
    queue: usize,
    commands: Vec<Arc<Action>>,
    enqueues_from: Option<Arc<Executable>>,
    accesses: Vec<BufferAccess>,
    wait_for: Vec<usize>,
}

impl OpenSegment {
    fn finished(self) -> QueueSegment {
        QueueSegment {
            queue: self.queue,
            commands: self.commands.into(),
            enqueues_from: self.enqueues_from,
            accesses: self.accesses,
            wait_for: self.wait_for,
        }
    }
}

/// Partitions commands, which are in the order of recording, into segments. Synchronisation point `n` belongs to
/// command `n - 1`.
pub(crate) fn partition(positions: &[RecordPosition], commands: &[&RecordedCommand]) -> Vec<QueueSegment> {
    let mut open: Vec<OpenSegment> = Vec::new();
    let mut segment_of: Vec<usize> = Vec::with_capacity(commands.len());
    let mut barrier = None;
    for (position, command) in positions.iter().zip(commands) {
        let of_points = position.waits.iter().filter_map(|&point| segment_of.get((point as usize).checked_sub(1)?).copied());
        let mut waits: Vec<usize> = of_points.chain(barrier).collect();
        if position.is_barrier && position.waits.is_empty() {
            waits.extend(0..open.len());
        }
        let last = open.iter().rposition(|segment| segment.queue == position.queue);
        let joined = last.filter(|&last| {
            let is_exclusive = command.enqueues_from.is_some() || open[last].enqueues_from.is_some();
            !is_exclusive && waits.iter().all(|&other| other == last || open[last].wait_for.contains(&other))
        });
        let index = joined.unwrap_or_else(|| {
            waits.extend(last);
            waits.sort_unstable();
            waits.dedup();
            let (queue, enqueues_from) = (position.queue, command.enqueues_from.clone());
            open.push(OpenSegment { queue, commands: Vec::new(), enqueues_from, accesses: Vec::new(), wait_for: waits });
            open.len() - 1
        });
        let segment = &mut open[index];
        segment.commands.extend(command.action.clone());
        command.accesses.iter().for_each(|used| merge(&mut segment.accesses, used));
        segment_of.push(index);
        if position.is_barrier {
            barrier = Some(index);
        }
    }
    open.into_iter().map(OpenSegment::finished).collect()
}

/// Merges an access into a list with one entry for each memory object, which covers all bytes that any command needs.
/// If one of several accesses writes, the merged access is `Write`, never `Overwrite`, because the bytes that other
/// devices hold must be transferred first.
fn merge(accesses: &mut Vec<BufferAccess>, new: &BufferAccess) {
    match accesses
        .iter_mut()
        .find(|old| Arc::ptr_eq(&old.buffer, &new.buffer) && old.image.as_ref().map(Arc::as_ptr) == new.image.as_ref().map(Arc::as_ptr))
    {
        Some(old) => {
            old.range = old.range.start.min(new.range.start)..old.range.end.max(new.range.end);
            if !(old.access == AccessMode::Read && new.access == AccessMode::Read) {
                old.access = AccessMode::Write;
            }
        }
        None => accesses.push(new.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::{RecordPosition, RecordedCommand, partition};
    use crate::commands::command_buffer::record::RecordAt;

    /// Partitions commands: their queue, the synchronisation points they wait for, and whether they are barriers.
    /// Returns the queue and the waits of each segment.
    fn partitioned(recorded: &[(usize, &[u32], bool)]) -> Vec<(usize, Vec<usize>)> {
        let position = |&(queue, points, is_barrier): &(usize, &[u32], bool)| {
            let at = RecordAt { queue, points };
            if is_barrier { RecordPosition::barrier(&at) } else { RecordPosition::of(&at) }
        };
        let (positions, command): (Vec<_>, _) = (recorded.iter().map(position).collect(), RecordedCommand::default());
        partition(&positions, &vec![&command; positions.len()]).into_iter().map(|segment| (segment.queue, segment.wait_for)).collect()
    }

    #[test]
    fn commands_of_one_queue_are_one_segment() {
        assert_eq!(partitioned(&[(0, &[], false), (0, &[1], false), (0, &[], true), (0, &[2, 3], false)]), [(0, vec![])]);
    }

    #[test]
    fn queues_wait_for_each_other_at_synchronisation_points() {
        let chain = [(0, &[] as &[u32], false), (1, &[1], false), (0, &[2], false), (1, &[3], false)];
        assert_eq!(partitioned(&chain), [(0, vec![]), (1, vec![0]), (0, vec![0, 1]), (1, vec![1, 2])]);
        let free = [(0, &[] as &[u32], false), (1, &[], false), (0, &[], false), (1, &[2], false)];
        assert_eq!(partitioned(&free), [(0, vec![]), (1, vec![])]);
        // A dependency that the segment already has does not split it.
        let repeated = [(0, &[] as &[u32], false), (1, &[1], false), (1, &[1], false)];
        assert_eq!(partitioned(&repeated), [(0, vec![]), (1, vec![0])]);
    }

    #[test]
    fn barriers_apply_to_all_queues() {
        let recorded = [(0, &[] as &[u32], false), (1, &[], false), (0, &[], true), (1, &[], false), (0, &[], false)];
        assert_eq!(partitioned(&recorded), [(0, vec![]), (1, vec![]), (0, vec![0, 1]), (1, vec![1, 2])]);
    }
}
