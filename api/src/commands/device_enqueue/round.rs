//! One round of a kernel tree: the host writes the queue memory, launches ready kernels, and reads the new records.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use wgcl_compiler::enqueue::{EVENT_WORDS, EVENTS, FREE, PARAMETER_WORDS, RECORD_WORDS, RECORDS, head};

use super::{KernelTree, Request, TreeState};
use crate::backend::{Action, BackendError, BackendResult, CopyRegion, HostTarget, Launch, Progress, Times};

/// The maximum number of launches in a round.
const MAX_LAUNCHES: usize = 256;

/// The writes to the queue memory before the launches.
#[derive(Default)]
struct QueueWrites {
    bytes: Vec<u8>,
    regions: Vec<CopyRegion>,
}

impl QueueWrites {
    fn add(&mut self, at: u64, words: &[u32]) {
        if words.is_empty() {
            return;
        }
        let host = self.bytes.len() as u64;
        self.bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        self.regions.push(CopyRegion { buffer: at, host, size: words.len() as u64 * 4 });
    }
}

/// A launch of a round.
struct RoundLaunch {
    launch: Launch,
    node: usize,
    profile: bool,
}

impl KernelTree {
    /// The offset of a word of the queue in bytes, from the start of the program's variables.
    const fn byte_offset(&self, word: usize) -> u64 {
        self.layout.queue + word as u64 * 4
    }

    /// Starts a round.
    pub(super) fn launch_round(self: &Arc<Self>) {
        let (writes, launches) = self.plan(&mut self.state.lock());
        let device = self.device.backend();
        let write = Action::Write { dst: self.memory.clone(), src: Arc::new(writes.bytes), regions: writes.regions };
        device.enqueue(write.into(), false, Arc::new(RoundCommand { tree: self.clone(), node: None }));
        for RoundLaunch { launch, node, profile } in launches {
            device.enqueue(Action::Launch(launch).into(), profile, Arc::new(RoundCommand { tree: self.clone(), node: Some(node) }));
        }
        self.read(&[(head::USED, head::WORDS)], KernelTree::handle_header);
        device.flush();
    }

    /// Plans the next round.
    fn plan(&self, state: &mut TreeState) -> (QueueWrites, Vec<RoundLaunch>) {
        let mut writes = QueueWrites::default();
        let mut launches = Vec::new();
        if let Some(launch) = state.root.take() {
            state.set_enqueuing(0, &launch);
            launches.push(RoundLaunch { launch, node: 0, profile: self.handle.is_timed() });
        }
        let mut words = 0;
        while launches.len() < MAX_LAUNCHES
            && let Some(&node) = state.ready.front()
        {
            let Some(request) = &state.nodes[node].record else {
                state.ready.pop_front();
                continue;
            };
            let record = &request.record;
            if words > 0 && words + record.captures.len() > PARAMETER_WORDS {
                break;
            }
            let profile = record.event != 0;
            let child = self.child(request, u32::try_from(words).unwrap_or(u32::MAX));
            state.ready.pop_front();
            let record = state.nodes[node].record.take();
            let (launch, enqueues) = match child {
                Ok(child) => child,
                Err(error) => {
                    state.device_error.get_or_insert(error);
                    break;
                }
            };
            if let (Some(Request { record, .. }), Some(place)) = (record, self.layout.parameters) {
                writes.add(place + words as u64 * 4, &record.captures);
                words += record.captures.len();
            }
            if enqueues {
                state.set_enqueuing(node, &launch);
            }
            launches.push(RoundLaunch { launch, node, profile });
            if enqueues {
                break;
            }
        }
        state.running.extend(launches.iter().map(|launch| launch.node));
        self.write_queue(state, &mut writes);
        (writes, launches)
    }

    /// Writes the queue state that kernels read.
    fn write_queue(&self, state: &mut TreeState, writes: &mut QueueWrites) {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let properties = self.device.properties();
        let (queue_number, queue_words) = self.default_queue.unwrap_or((0, 0));
        let mut words = [0; head::WORDS];
        words[head::CAPACITY] = number(RECORD_WORDS);
        words[head::EVENTS_FREE] = number(state.events.free());
        words[head::GROUP_ITEMS] = properties.max_group_invocations;
        words[head::SUBGROUP] = properties.subgroup_size.max(1);
        words[head::QUEUE_WORDS] = queue_words;
        words[head::QUEUE_NUMBER] = queue_number;
        words[head::GROUP_SIZES..head::GROUP_SIZES + 3].copy_from_slice(&properties.max_group_size);
        words[head::UNIFORM] = u32::from(self.uniform);
        writes.add(self.byte_offset(0), &words);
        if let Some(list) = state.events.take_list() {
            writes.add(self.byte_offset(FREE), &list);
        }
        for (event, words) in state.events.take_changes() {
            writes.add(self.byte_offset(EVENTS + (event as usize - 1) * EVENT_WORDS + 1), &words);
        }
    }

    /// Reads the given (offset, count) ranges of words of the queue, and passes the words to `next`.
    fn read(self: &Arc<Self>, layout: &[(usize, usize)], next: fn(&Arc<Self>, &[u32])) {
        let mut size = 0;
        let mut regions = Vec::new();
        for &(word, count) in layout.iter().filter(|(_, count)| *count > 0) {
            regions.push(CopyRegion { buffer: self.byte_offset(word), host: size, size: count as u64 * 4 });
            size += count as u64 * 4;
        }
        let bytes = Arc::new(ReadBytes(Mutex::new(vec![0; usize::try_from(size).unwrap_or(0)])));
        let read = Action::Read { src: self.memory.clone(), dst: bytes.clone(), regions };
        let reading = QueueRead { tree: self.clone(), bytes, next, done: AtomicBool::new(false) };
        self.device.backend().enqueue(read.into(), false, Arc::new(reading));
    }

    /// Handles the words of the header: reads events and records, if there are any.
    fn handle_header(self: &Arc<Self>, words: &[u32]) {
        let used = (words.get(head::USED).copied().unwrap_or(0) as usize).min(RECORD_WORDS);
        let taken = words.get(head::EVENTS_TAKEN).copied().unwrap_or(0) as usize;
        let events = {
            let mut state = self.state.lock();
            state.events.record_taken(taken);
            state.events.words()
        };
        if used == 0 && events == 0 {
            self.finish_round(&[]);
            return;
        }
        self.read(&[(EVENTS, events), (RECORDS, used)], KernelTree::handle_records);
        self.device.backend().flush();
    }

    /// Handles the words of events and records: ends the round.
    fn handle_records(self: &Arc<Self>, words: &[u32]) {
        let records = {
            let mut state = self.state.lock();
            let (events, records) = words.split_at(state.events.words().min(words.len()));
            state.events.read(events);
            records.to_vec()
        };
        self.finish_round(&records);
    }
}

/// The memory that the host reads.
#[derive(Debug)]
struct ReadBytes(Mutex<Vec<u8>>);

impl HostTarget for ReadBytes {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        f(&mut self.0.lock());
    }
}

/// A write or launch of a round.
struct RoundCommand {
    tree: Arc<KernelTree>,
    /// The node of the launch, or `None` for the write.
    node: Option<usize>,
}

impl Progress for RoundCommand {
    fn submitted(&self, now: u64) {
        if self.node == Some(0) {
            self.tree.handle.submitted(now);
        }
    }

    fn running(&self) {
        if self.node == Some(0) {
            self.tree.handle.running();
        }
    }

    fn print(&self, text: &[u8]) {
        self.tree.handle.print(text);
    }

    fn complete(&self, result: BackendResult<Times>) {
        let mut state = self.tree.state.lock();
        match (result, self.node) {
            (Ok(times), Some(node)) => state.nodes[node].times = times,
            (Ok(_), None) => {}
            (Err(error), _) => {
                state.device_error.get_or_insert(error);
            }
        }
    }
}

/// A read of the queue at the end of a round. If it is dropped without completion (the device was lost), it ends the
/// kernel tree.
struct QueueRead {
    tree: Arc<KernelTree>,
    bytes: Arc<ReadBytes>,
    next: fn(&Arc<KernelTree>, &[u32]),
    done: AtomicBool,
}

impl Progress for QueueRead {
    fn submitted(&self, _now: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        if self.done.swap(true, Ordering::AcqRel) {
            return;
        }
        match result {
            Ok(_) => {
                let bytes = std::mem::take(&mut *self.bytes.0.lock());
                let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
                (self.next)(&self.tree, &words);
            }
            Err(error) => {
                let error = self.tree.state.lock().device_error.take().unwrap_or(error);
                self.tree.finish(Err(error));
            }
        }
    }
}

impl Drop for QueueRead {
    fn drop(&mut self) {
        if !self.done.swap(true, Ordering::AcqRel) {
            self.tree.finish(Err(BackendError::DeviceLost("the device was lost before the command completed".into())));
        }
    }
}
