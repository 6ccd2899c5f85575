//! Device-side enqueue (OpenCL API 3.2.1; OpenCL C 6.15.18): a launch by the host and every kernel that it enqueues,
//! directly or through enqueued kernels. Together they are a *kernel tree*.
//!
//! A kernel enqueues another one by a record in the memory of its program's variables ([`wgcl_compiler::enqueue`]).
//! The host runs the tree in *rounds*. A round is a list of commands for the device: write the queue's memory, launch
//! kernels, read the memory. The records that were read determine the next round. The completion of the last command
//! of a round starts the next round, so no thread waits. A round launches ready kernels in order. The first kernel that
//! may enqueue kernels is the last of its round, so that all records belong to that kernel. The number of launches and
//! the size of the captures also limit a round.
//!
//! When a child is launched, everything that its flags wait for (its parent, or the work-group) has ended. A
//! device-side event completes when its command and the command's children have ended. The host's event completes
//! when the whole tree has ended. Until then, commands that wait for that event do not reach the device.
//!
//! The launches of a program share its variables, so its trees run in sequence
//! ([`TreeQueue`](crate::commands::serialization::TreeQueue)).

mod events;
mod round;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_compiler::enqueue::{Kind, Record, VariableOffsets, kernel_name};
use wgcl_compiler::ir::KernelParam;

use crate::backend::{BackendError, BackendResult, Command, Launch, LaunchArg, Memory, MemoryRange, Progress, Times};
use crate::commands::group_size::GroupLimits;
use crate::commands::serialization::Serialized;
use crate::objects::device::Device;
use crate::objects::program::executable::{Executable, find_kernel};
use events::Events;

/// Reports the progress of the host's launch; handles of commands implement it.
pub(crate) trait TreeHandle: Progress {
    /// Whether exact times are needed.
    fn is_timed(&self) -> bool;
    /// Ends the command. `complete` is the time at which the last enqueued kernel ended.
    fn complete_with(&self, result: BackendResult<Times>, complete: u64);
}

impl Serialized for KernelTree {
    fn begin(self: Arc<Self>) {
        self.launch_round();
    }
}

/// The request of a kernel that was enqueued but not launched.
#[derive(Debug)]
struct Request {
    record: Record,
    /// The arguments of the parent launch. The record refers to an image by its index in this list.
    args: Arc<[LaunchArg]>,
}

/// A node of the tree: the host's launch, or a kernel or marker that a kernel enqueued.
#[derive(Debug)]
struct Node {
    /// The index of the launch that enqueued this node. The host's launch is its own parent.
    parent: usize,
    /// The request, until the kernel is launched. `None` for the host's launch and for markers.
    record: Option<Request>,
    /// The number of pending events that the node waits for.
    waits: usize,
    /// Whether an event that the node waits for has failed.
    failed: bool,
    /// The number of the event that the node completes; 0 for none.
    event: u32,
    /// The number of children that have not ended.
    children: usize,
    /// Whether the kernel itself has ended.
    ended: bool,
    times: Times,
    /// The time when the node and its children ended.
    latest: u64,
}

impl Node {
    fn new(parent: usize, event: u32) -> Self {
        Self { parent, record: None, waits: 0, failed: false, event, children: 0, ended: false, times: Times::default(), latest: 0 }
    }
}

#[derive(Debug)]
struct TreeState {
    /// The launch by the host. `None` once a round has launched it.
    root: Option<Launch>,
    nodes: Vec<Node>,
    /// The nodes that can be launched, in launch order.
    ready: VecDeque<usize>,
    /// The number of nodes that wait for events.
    waiting: usize,
    /// The nodes that end with the round: its launches, and new markers and failed nodes that do not wait for events.
    running: Vec<usize>,
    /// The node of the only launch of the round that may have enqueued kernels.
    enqueuing: usize,
    /// The arguments of this launch.
    enqueuing_args: Arc<[LaunchArg]>,
    events: Events,
    /// An error of the device, which stops further launches.
    device_error: Option<BackendError>,
    /// An error of a child.
    child_failure: Option<BackendError>,
}

/// A launch by the host, with every kernel that it enqueues.
pub(crate) struct KernelTree {
    handle: Arc<dyn TreeHandle>,
    device: Arc<Device>,
    executable: Arc<Executable>,
    /// The memory of the program's variables, and the offsets of the queue in it (`layout`).
    memory: Arc<dyn Memory>,
    layout: VariableOffsets,
    /// The buffers that pointers captured by blocks may refer to.
    accessible: Vec<MemoryRange>,
    /// The number of the default queue, and its size in words.
    default_queue: Option<(u32, u32)>,
    /// Whether the work-groups of enqueued kernels must all have the same size.
    uniform: bool,
    state: Mutex<TreeState>,
}

impl fmt::Debug for KernelTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelTree").field("device", &self.device).finish_non_exhaustive()
    }
}

/// The buffers that a launch can access, each one as a whole.
fn accessible(launch: &Launch) -> Vec<MemoryRange> {
    let of_arg = |arg: &LaunchArg| match arg {
        LaunchArg::Buffer(range) => range.clone(),
        LaunchArg::Image(range, _) => Some(range.clone()),
        _ => None,
    };
    let mut ranges: Vec<MemoryRange> = Vec::new();
    for range in launch.args.iter().filter_map(of_arg).chain(launch.extra.iter().cloned()) {
        // A pointer may point to any byte of a buffer, even if the argument was a sub-buffer.
        let range = MemoryRange { offset: 0, size: range.memory.size(), start: 0, ..range };
        if ranges.iter().all(|known| known.identity != range.identity) {
            ranges.push(range);
        }
    }
    ranges
}

/// Returns the argument for a child's parameter `passing`. `word` is the parameter's word in the child's record.
/// `parent` contains the arguments of the launch that enqueued the child.
fn argument(passing: &KernelParam, word: u32, parent: &[LaunchArg]) -> BackendResult<LaunchArg> {
    match passing {
        KernelParam::Local { .. } => Ok(LaunchArg::Local(word)),
        KernelParam::Image => match parent.get(word as usize) {
            Some(image @ LaunchArg::Image(..)) => Ok(image.clone()),
            _ => Err(BackendError::Other("an enqueued kernel uses an image that its parent kernel does not have".into())),
        },
        _ => Ok(LaunchArg::Value(word.to_ne_bytes().as_slice().into())),
    }
}

impl KernelTree {
    /// Starts a launch whose kernel may enqueue kernels. `handle` receives the result.
    pub(crate) fn start(
        device: &Arc<Device>,
        default_queue: Option<(u32, u32)>,
        command: Command,
        executable: Arc<Executable>,
        handle: Arc<dyn TreeHandle>,
    ) {
        let Command::Once(crate::backend::Action::Launch(root)) = command else {
            // A launch without work-items is a `Nop`, and enqueues no kernels.
            device.backend().enqueue(command, handle.is_timed(), handle);
            device.backend().flush();
            return;
        };
        let found = executable.loaded.variables().zip(VariableOffsets::of(&executable.compiled.module));
        let Some((memory, layout)) = found else {
            handle.complete_with(Err(BackendError::Other("the program has no memory for enqueued kernels".into())), 0);
            return;
        };
        let info = find_kernel(&executable, &root.kernel);
        let tree = Arc::new(Self {
            handle,
            device: device.clone(),
            memory,
            layout,
            accessible: accessible(&root),
            default_queue,
            uniform: info.is_some_and(|info| !info.non_uniform_groups),
            state: Mutex::new(TreeState {
                root: Some(root),
                nodes: vec![Node::new(0, 0)],
                ready: VecDeque::new(),
                waiting: 0,
                running: Vec::new(),
                enqueuing: 0,
                enqueuing_args: Arc::new([]),
                events: Events::default(),
                device_error: None,
                child_failure: None,
            }),
            executable,
        });
        let executable = tree.executable.clone();
        executable.trees.submit(tree);
    }

    /// Processes the results of a round, and starts the next round or ends the tree.
    fn finish_round(self: &Arc<Self>, records: &[u32]) {
        let ending = {
            let mut state = self.state.lock();
            let now = self.device.backend().now();
            self.take_records(&mut state, records, now);
            let mut ended = std::mem::take(&mut state.running);
            let ready_nodes = state.events.take_ready();
            state.wake(&ready_nodes, &mut ended);
            state.end_nodes(ended, now);
            state.events.collect();
            state.outcome()
        };
        match ending {
            None => self.launch_round(),
            Some(ending) => self.finish(ending),
        }
    }

    /// Creates nodes from the records.
    fn take_records(&self, state: &mut TreeState, mut words: &[u32], now: u64) {
        let parent = state.enqueuing;
        // New markers and failed nodes that do not wait for events. They end now.
        let mut ended = Vec::new();
        while let Some((record, size)) = Record::read(words) {
            words = words.get(size..).unwrap_or_default();
            if record.kind == Kind::Nothing {
                continue;
            }
            let index = state.nodes.len();
            let mut node = Node::new(parent, record.event);
            for &event in &record.waits {
                match state.events.wait(event, index) {
                    Some(status) => node.failed |= status < 0,
                    None => node.waits += 1,
                }
            }
            state.events.register_command(record.event);
            let (is_marker, waits) = (record.kind == Kind::Marker, node.waits > 0);
            node.record = (!is_marker).then(|| Request { record, args: state.enqueuing_args.clone() });
            if waits {
                state.waiting += 1;
            } else if is_marker || node.failed {
                ended.push(index);
            } else {
                state.ready.push_back(index);
            }
            state.nodes.push(node);
            state.nodes[parent].children += 1;
        }
        for &index in &ended {
            state.nodes[index].times = Times { start: now, end: now };
        }
        state.running.extend(ended);
    }

    /// Creates the launch that a node's record requests, with its captures at this word. Also returns whether the
    /// kernel may enqueue kernels. Fails if the program does not have the kernel, or if it needs too much local memory.
    fn child(&self, Request { record, args }: &Request, captures_at: u32) -> BackendResult<(Launch, bool)> {
        let name = kernel_name(record.kernel);
        let info = find_kernel(&self.executable, &name)
            .ok_or_else(|| BackendError::Other("the program does not have a block that a kernel enqueues".into()))?;
        let properties = self.device.properties();
        let value = LaunchArg::Value(captures_at.to_ne_bytes().as_slice().into());
        let passed = info.args.iter().skip(1).zip(&record.parameters).map(|(param, &word)| argument(&param.passing, word, args));
        let args = std::iter::once(Ok(value)).chain(passed).collect::<BackendResult<Vec<_>>>()?;
        let local = |arg: &LaunchArg| if let LaunchArg::Local(bytes) = *arg { u64::from(bytes) } else { 0 };
        let local_memory = u64::from(info.local_memory) + args.iter().map(local).sum::<u64>();
        if local_memory > u64::from(properties.local_memory) {
            let have = properties.local_memory;
            return Err(BackendError::Other(format!(
                "an enqueued kernel needs {local_memory} bytes of local memory; the device has {have}"
            )));
        }
        let global_size = record.global_size.map(u64::from);
        let local_size = match record.local_size[0] {
            0 => {
                GroupLimits::of(properties, info).choose(record.dimensions, global_size, info.non_uniform_groups || info.group_independent)
            }
            _ => record.local_size.map(|size| size.max(1)),
        };
        let launch = Launch {
            program: self.executable.loaded.clone(),
            kernel: name.into(),
            args,
            extra: self.accessible.clone(),
            work_dim: record.dimensions,
            global_offset: record.offset.map(u64::from),
            global_size,
            local_size,
        };
        Ok((launch, info.enqueues))
    }

    /// Ends the tree and starts the next tree of the program.
    fn finish(self: &Arc<Self>, ending: BackendResult<()>) {
        let (times, latest) = {
            let state = self.state.lock();
            (state.nodes[0].times, state.nodes[0].latest)
        };
        let next = self.executable.trees.end();
        self.handle.complete_with(ending.map(|()| times), latest);
        if let Some(next) = next {
            next.begin();
        }
    }
}

impl TreeState {
    /// Marks a launch of the next round as the one that may enqueue kernels.
    fn set_enqueuing(&mut self, node: usize, launch: &Launch) {
        self.enqueuing = node;
        self.enqueuing_args = launch.args.as_slice().into();
    }

    /// Decrements the wait counts of nodes that waited for ended events. When they no longer wait, adds failed nodes
    /// and markers to `ended`, and other nodes to the nodes that can be launched.
    fn wake(&mut self, ready_nodes: &[(usize, i32)], ended: &mut Vec<usize>) {
        for &(index, status) in ready_nodes {
            let node = &mut self.nodes[index];
            node.waits -= 1;
            node.failed |= status < 0;
            if node.waits > 0 {
                continue;
            }
            self.waiting -= 1;
            if node.failed || node.record.is_none() {
                ended.push(index);
            } else {
                self.ready.push_back(index);
            }
        }
    }

    /// Records that nodes have ended. A node without remaining children completes its event, and may complete its
    /// parent.
    fn end_nodes(&mut self, mut ended: Vec<usize>, now: u64) {
        while let Some(index) = ended.pop() {
            let node = &mut self.nodes[index];
            if !node.ended {
                node.ended = true;
                if node.times.end == 0 {
                    node.times = Times { start: now, end: now };
                }
                node.latest = node.latest.max(node.times.end);
            }
            if node.children > 0 {
                continue;
            }
            let (parent, event, latest, failed, times) = (node.parent, node.event, node.latest, node.failed, node.times);
            if failed {
                let why = "an enqueued kernel waits for an event that failed";
                self.child_failure.get_or_insert_with(|| BackendError::Other(why.into()));
            }
            let status = if failed { DEPENDENCY_FAILED } else { 0 };
            self.events.record_end(event, status, [times.end.saturating_sub(times.start), latest.saturating_sub(times.start)]);
            let ready_nodes = self.events.take_ready();
            self.wake(&ready_nodes, &mut ended);
            if index == 0 {
                continue;
            }
            let parent_node = &mut self.nodes[parent];
            parent_node.children -= 1;
            parent_node.latest = parent_node.latest.max(latest);
            if parent_node.ended && parent_node.children == 0 {
                ended.push(parent);
            }
        }
    }

    /// Returns the result of the tree, or `None` if nodes can still be launched.
    fn outcome(&mut self) -> Option<BackendResult<()>> {
        if let Some(error) = self.device_error.take() {
            return Some(Err(error));
        }
        if !self.ready.is_empty() {
            return None;
        }
        if self.waiting > 0 {
            return Some(Err(BackendError::Other("enqueued kernels wait for events that no command completes".into())));
        }
        Some(self.child_failure.take().map_or(Ok(()), Err))
    }
}

/// CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
const DEPENDENCY_FAILED: i32 = -14;
