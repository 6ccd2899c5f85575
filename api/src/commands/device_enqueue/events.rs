//! The host's copy of the device-side events of a [kernel tree](super).

use std::collections::VecDeque;

use wgcl_compiler::enqueue::{EVENT_WORDS, MAX_EVENTS};

/// CL_SUBMITTED
const SUBMITTED: i32 = 2;

#[derive(Clone, Debug, Default)]
struct Slot {
    /// Whether the slot holds an event, to which kernels may refer.
    is_live: bool,
    /// The status of the event: positive until the event has ended.
    status: i32,
    /// The number of references that kernels hold.
    references: i32,
    /// Whether a pending command will end the event.
    has_command: bool,
    /// The nodes of the tree (kernels and markers) that wait for the event.
    waiters: Vec<usize>,
    /// Whether the device's copy of this slot is out of date.
    is_changed: bool,
    /// Durations in nanoseconds: from the start of the command to its end, and to the end of its children.
    times: [u64; 2],
}

impl Slot {
    const fn is_done(&self) -> bool {
        self.status <= 0
    }
}

#[derive(Debug)]
pub(super) struct Events {
    /// The events by number. Numbers start at 1.
    slots: Vec<Slot>,
    /// Free event numbers, in the order in which kernels take them.
    free: VecDeque<u32>,
    /// Whether the device's copy of the list is out of date.
    is_list_changed: bool,
    /// Nodes that waited for an event which has ended, with the event's status.
    ready_nodes: Vec<(usize, i32)>,
}

impl Default for Events {
    fn default() -> Self {
        let numbers = 1..=u32::try_from(MAX_EVENTS).unwrap_or(u32::MAX);
        Self { slots: Vec::new(), free: numbers.collect(), is_list_changed: true, ready_nodes: Vec::new() }
    }
}

impl Events {
    fn slot(&mut self, number: u32) -> Option<&mut Slot> {
        self.slots.get_mut((number as usize).checked_sub(1)?).filter(|slot| slot.is_live)
    }

    /// The number of free events.
    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    /// Returns the list of free numbers, which the caller writes to the device. Returns `None` if the device's copy is
    /// up to date.
    pub(super) fn take_list(&mut self) -> Option<Vec<u32>> {
        std::mem::take(&mut self.is_list_changed).then(|| self.free.iter().copied().collect())
    }

    /// Records that kernels have taken the first `count` free numbers.
    pub(super) fn record_taken(&mut self, count: usize) {
        for _ in 0..count.min(self.free.len()) {
            let Some(number) = self.free.pop_front() else { break };
            let index = number as usize - 1;
            if self.slots.len() <= index {
                self.slots.resize(index + 1, Slot::default());
            }
            self.slots[index] = Slot { is_live: true, status: SUBMITTED, references: 1, ..Slot::default() };
            self.is_list_changed = true;
        }
    }

    /// The number of 32-bit words of the event slots that kernels may have written.
    pub(super) fn words(&self) -> usize {
        let last = self.slots.iter().rposition(|slot| slot.is_live);
        last.map_or(0, |last| (last + 1) * EVENT_WORDS)
    }

    /// Reads the state that kernels wrote.
    pub(super) fn read(&mut self, words: &[u32]) {
        for (slot, words) in self.slots.iter_mut().zip(words.chunks_exact(EVENT_WORDS)).filter(|(slot, _)| slot.is_live) {
            slot.references = words[0].cast_signed();
            let status = words[1].cast_signed();
            if words[2] == 1 && !slot.is_done() && status <= 0 {
                slot.status = status;
                let waiters = std::mem::take(&mut slot.waiters);
                self.ready_nodes.extend(waiters.into_iter().map(|node| (node, status)));
            }
        }
    }

    /// Frees the events that have no references, no pending command and no waiters.
    pub(super) fn collect(&mut self) {
        for (number, slot) in (1..).zip(&mut self.slots) {
            if slot.is_live && slot.references <= 0 && !slot.has_command && slot.waiters.is_empty() {
                *slot = Slot::default();
                self.free.push_back(number);
                self.is_list_changed = true;
            }
        }
    }

    /// Registers a node that waits for an event, and returns `None`. If the event has ended, returns its status
    /// instead. An unknown event counts as complete.
    pub(super) fn wait(&mut self, number: u32, node: usize) -> Option<i32> {
        match self.slot(number) {
            Some(slot) if !slot.is_done() => {
                slot.waiters.push(node);
                None
            }
            Some(slot) => Some(slot.status),
            None => Some(0),
        }
    }

    /// Registers a command that will end the event.
    pub(super) fn register_command(&mut self, number: u32) {
        if let Some(slot) = self.slot(number) {
            slot.has_command = true;
        }
    }

    /// Records that the command of the event has ended.
    pub(super) fn record_end(&mut self, number: u32, status: i32, times: [u64; 2]) {
        let Some(slot) = self.slot(number) else { return };
        slot.has_command = false;
        slot.status = status;
        slot.is_changed = true;
        // On the device, a time of 0 means that the host has not reported the time. A duration of 0 is therefore
        // written as 1.
        slot.times = times.map(|time| time.max(1));
        let waiters = std::mem::take(&mut slot.waiters);
        self.ready_nodes.extend(waiters.into_iter().map(|node| (node, status)));
    }

    /// Returns the nodes that waited for events which have ended since the last call, with the status of each event.
    pub(super) fn take_ready(&mut self) -> Vec<(usize, i32)> {
        std::mem::take(&mut self.ready_nodes)
    }

    /// Returns the changes to write to the device: the number of each event, and its words from the second one on.
    pub(super) fn take_changes(&mut self) -> Vec<(u32, [u32; EVENT_WORDS - 1])> {
        let mut changes = Vec::new();
        for (number, slot) in (1..).zip(&mut self.slots).filter(|(_, slot)| slot.is_live) {
            if std::mem::take(&mut slot.is_changed) {
                let [own, all] = slot.times.map(|time| [time as u32, (time >> 32) as u32]);
                changes.push((number, [slot.status.cast_unsigned(), 0, 0, own[0], own[1], all[0], all[1]]));
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn ended_events_release_waiters_and_are_freed_without_references() {
        let mut events = Events::default();
        let all = events.free();
        events.record_taken(2);
        assert_eq!((events.free(), events.words()), (all - 2, 16));
        events.register_command(1);
        assert_eq!(events.wait(1, 7), None);
        // The kernel has released the first event, and has set the second, which is a user event.
        let mut words = [0u32; 16];
        words[9] = -5i32 as u32;
        words[8] = 1;
        words[10] = 1;
        assert_eq!(events.wait(2, 8), None);
        events.read(&words);
        assert_eq!(events.take_ready(), [(8, -5)]);
        events.collect();
        assert_eq!(events.free(), all - 2);
        events.record_end(1, 0, [0, 3]);
        assert_eq!(events.take_ready(), [(7, 0)]);
        assert_eq!(events.take_changes(), [(1, [0, 0, 0, 1, 0, 3, 0])]);
        events.collect();
        assert_eq!((events.free(), events.wait(2, 9)), (all - 1, Some(-5)));
    }
}
