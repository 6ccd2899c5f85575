//! The commands of a device in order, and the choice of the thread that runs them.
//!
//! To wake a thread takes longer than most commands. Therefore, commands do not run on a fixed thread. The thread that
//! needs the result of a command runs the command, unless another thread is running commands. A thread that waits for
//! an event runs the commands up to that event. A thread that flushes runs the queued commands if there are few and all
//! are quick. The device's own thread runs the other commands, including those that a waiting thread leaves in the
//! queue. It also starts without a flush if the queued commands take long enough. They then run while the application
//! enqueues more commands. No thread holds a lock while it runs a command.
//!
//! A sub-device's own thread is bound to the processors of the sub-device, and runs all commands of the sub-device.
//!
//! If the system refuses to create the own thread, the threads that enqueue or flush run the commands.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use wgcl_api::backend::{BackendError, Command, Progress};
use wgcl_api::types::process;
use wgcl_runtime::shutdown;

use crate::launch::engine::{Engine, Estimate, ThreadKind};
use crate::launch::plan::LaunchPlan;
use crate::threads::affinity;

/// Number of queued commands at which the device starts to run them without a flush.
const AUTO_START: usize = 256;
/// Estimated duration in nanoseconds of the queued commands at which the device starts to run them without a flush. It
/// takes up to 30 us to wake the device's own thread (virtual processor of a Xeon).
const AUTO_START_TIME: u64 = 100_000;
/// Maximum number of commands that a flushing thread runs itself.
const MAX_FLUSHED: usize = 8;

/// A command in the queue.
struct Task {
    command: Command,
    /// The plan of a launch; `None` for other commands, and if the planning failed.
    plan: Option<LaunchPlan>,
    estimate: Estimate,
    progress: Arc<dyn Progress>,
}

/// The state of the device's own thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnThread {
    NotStarted,
    Running,
    /// The system refused to create it.
    Refused,
}

struct State {
    tasks: VecDeque<Task>,
    /// The sum of the estimated durations of `tasks`, in nanoseconds.
    duration: u64,
    /// Whether a thread is running commands.
    busy: bool,
    /// Whether the device's own thread has been requested to run commands.
    requested: bool,
    own_thread: OwnThread,
    /// Whether the queue is being dropped.
    closing: bool,
    /// The process generation in which the threads were created. A forked child has another one.
    generation: u32,
}

impl State {
    fn push(&mut self, task: Task) {
        self.duration = self.duration.saturating_add(task.estimate.duration);
        self.tasks.push_back(task);
    }

    fn pop(&mut self) -> Option<Task> {
        let task = self.tasks.pop_front()?;
        self.duration = self.duration.saturating_sub(task.estimate.duration);
        Some(task)
    }
}

struct Shared {
    engine: Engine,
    /// A lock of the standard library, because it has no list of waiting threads. With `parking_lot`, a forked child
    /// could hand the lock to a waiting thread of the parent.
    state: Mutex<State>,
    /// Signals the device's own thread.
    wake: Condvar,
}

/// The command queue of a device.
pub(crate) struct CommandQueue(Arc<Shared>);

impl fmt::Debug for CommandQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandQueue").field("engine", &self.0.engine).finish_non_exhaustive()
    }
}

impl Shared {
    /// Locks the state. In a forked child, removes the commands of the parent. Their events fail when the child
    /// observes them.
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = process::generation();
        if state.generation != generation {
            // `forget` does not drop the commands, because they may refer to objects that threads of the parent have
            // locked.
            std::mem::forget(std::mem::take(&mut state.tasks));
            state.duration = 0;
            (state.busy, state.requested, state.own_thread, state.generation) = (false, false, OwnThread::NotStarted, generation);
        }
        state
    }

    /// Whether this is a sub-device. Its commands run only on its own thread, which is bound to its processors, unless
    /// the system refused to create this thread.
    fn is_sub_device(&self) -> bool {
        self.engine.units().is_some()
    }

    /// Removes the first command, and records that a thread is running commands. Returns `None` if another thread is
    /// running commands, or the queue is empty.
    fn begin(&self) -> Option<Task> {
        let mut state = self.lock();
        if state.busy {
            return None;
        }
        let task = state.pop()?;
        state.busy = true;
        Some(task)
    }

    /// Removes the next command for the thread that runs commands. Returns `None` if the queue is empty or `enough` is
    /// set. The thread must then stop, and the device's own thread runs the remaining commands.
    fn next(self: &Arc<Self>, enough: bool) -> Option<Task> {
        let mut state = self.lock();
        let task = if enough { None } else { state.pop() };
        if task.is_none() {
            state.busy = false;
            if state.tasks.is_empty() {
                state.requested = false;
            } else {
                self.request_own_thread(&mut state);
            }
        }
        task
    }

    /// Runs a command and its successors, until `enough` returns true or the queue is empty.
    fn run(self: &Arc<Self>, first: Task, thread: ThreadKind, enough: &dyn Fn() -> bool) {
        let _running = shutdown::Running::new();
        let mut task = Some(first);
        while let Some(Task { command, plan, progress, .. }) = task {
            self.engine.run(command, plan, &*progress, thread);
            drop(progress);
            task = self.next(enough());
        }
    }

    /// Requests the device's own thread to run the queued commands as soon as no other thread runs commands. Creates
    /// the own thread if necessary.
    fn request_own_thread(self: &Arc<Self>, state: &mut State) {
        state.requested = true;
        if state.own_thread == OwnThread::NotStarted {
            let shared = Arc::clone(self);
            let thread = affinity::spawn("wgcl-cpu-queue", self.engine.units(), move || shared.serve());
            state.own_thread = if thread.is_ok() { OwnThread::Running } else { OwnThread::Refused };
        }
        if !state.busy {
            self.wake.notify_one();
        }
    }

    /// The main function of the device's own thread.
    fn serve(self: Arc<Self>) {
        loop {
            let mut state = self.lock();
            while !state.closing && (state.busy || !state.requested) {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.requested = false;
            let task = state.pop();
            if task.is_none() && state.closing {
                return;
            }
            state.busy = task.is_some();
            drop(state);
            if let Some(task) = task {
                self.run(task, ThreadKind::Device, &|| false);
            }
        }
    }
}

impl CommandQueue {
    /// Creates an empty queue for an idle engine.
    pub(crate) fn new(engine: Engine) -> Self {
        let state = State {
            tasks: VecDeque::new(),
            duration: 0,
            busy: false,
            requested: false,
            own_thread: OwnThread::NotStarted,
            closing: false,
            generation: process::generation(),
        };
        Self(Arc::new(Shared { engine, state: Mutex::new(state), wake: Condvar::new() }))
    }

    /// Appends a command.
    pub(crate) fn enqueue(&self, command: Command, progress: Arc<dyn Progress>) {
        let shared = &self.0;
        let plan = shared.engine.prepare(&command);
        let estimate = shared.engine.estimate(&command);
        let mut state = shared.lock();
        state.push(Task { command, plan, estimate, progress });
        if (state.tasks.len() >= AUTO_START || state.duration >= AUTO_START_TIME) && !state.requested {
            shared.request_own_thread(&mut state);
        }
        if state.own_thread == OwnThread::Refused {
            drop(state);
            self.run_all();
        }
    }

    /// Ensures that every queued command runs.
    pub(crate) fn flush(&self) {
        let shared = &self.0;
        let mut state = shared.lock();
        // A thread that runs commands continues until the queue is empty, or requests the device's own thread.
        if state.busy || state.tasks.is_empty() {
            return;
        }
        let quick = !shared.is_sub_device() && state.tasks.len() <= MAX_FLUSHED && state.tasks.iter().all(|task| task.estimate.is_quick);
        if !quick {
            shared.request_own_thread(&mut state);
        }
        let refused = state.own_thread == OwnThread::Refused;
        drop(state);
        if quick || refused {
            self.run_all();
        }
    }

    /// Flushes for a thread that waits until `done` returns true. The waiting thread runs commands, unless another
    /// thread runs commands or the device is a sub-device.
    pub(crate) fn flush_until(&self, done: &dyn Fn() -> bool) {
        if done() {
            return;
        }
        let first = if self.0.is_sub_device() { None } else { self.0.begin() };
        match first {
            Some(task) => self.0.run(task, ThreadKind::Application, done),
            None => self.flush(),
        }
    }

    fn run_all(&self) {
        if let Some(task) = self.0.begin() {
            self.0.run(task, ThreadKind::Application, &|| false);
        }
    }
}

impl Drop for CommandQueue {
    fn drop(&mut self) {
        let left = {
            let mut state = self.0.lock();
            state.closing = true;
            self.0.wake.notify_one();
            if state.own_thread == OwnThread::Running { VecDeque::new() } else { std::mem::take(&mut state.tasks) }
        };
        for Task { progress, .. } in left {
            progress.complete(Err(BackendError::DeviceLost("the CPU device was released".to_owned())));
        }
    }
}
