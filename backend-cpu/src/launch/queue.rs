//! The commands of a device, in their order, and who runs them.
//!
//! Waking a thread takes longer than most commands. So there is no thread that commands go through: they lie in a queue, and whoever needs them runs them, if nobody else does. That is who
//! waits for one of them; who only flushes runs what is quick. For the rest there is a thread of the device's own, which also takes over what a thread that has waited
//! long enough leaves behind. Nothing is locked while a command runs.
//!
//! A part of the device is for those who want its work on some cores and no others: there that thread runs everything.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use wgcl_api::backend::{BackendError, Command, Progress};
use wgcl_runtime::shutdown;

use crate::launch::engine::{Engine, Host};
use crate::threads::affinity;

/// Commands from which on the device begins without being asked to.
const MANY: usize = 256;
/// Commands that a flush runs at most.
const FEW: usize = 8;

/// A command and who wants to know of it.
struct Task {
    command: Command,
    progress: Arc<dyn Progress>,
}

/// The device's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    /// Nobody needed it yet.
    NotStarted,
    Running,
    /// The host has none to give.
    Refused,
}

struct State {
    tasks: VecDeque<Task>,
    /// Somebody runs commands.
    busy: bool,
    /// The device's thread is to run them.
    called: bool,
    thread: Thread,
    ending: bool,
}

struct Shared {
    engine: Engine,
    state: Mutex<State>,
    /// The device's thread waits for this.
    call: Condvar,
}

/// The commands of a device.
pub(crate) struct Commands(Arc<Shared>);

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands").field("engine", &self.0.engine).finish_non_exhaustive()
    }
}

impl Shared {
    /// Whether only threads that keep to the device's processors run its commands.
    fn is_kept(&self) -> bool {
        self.engine.cores().is_some()
    }

    /// Takes the next command for somebody who begins to run them, if nobody does so yet.
    fn begin(&self) -> Option<Task> {
        let mut state = self.state.lock();
        if state.busy {
            return None;
        }
        let task = state.tasks.pop_front()?;
        state.busy = true;
        Some(task)
    }

    /// Takes the next command for who runs them. Without one, or if that is `enough`, he does so no longer; what is left then is the device's thread's.
    fn next(self: &Arc<Self>, enough: bool) -> Option<Task> {
        let mut state = self.state.lock();
        let task = if enough { None } else { state.tasks.pop_front() };
        if task.is_none() {
            state.busy = false;
            if state.tasks.is_empty() {
                state.called = false;
            } else {
                self.call_thread(&mut state);
            }
        }
        task
    }

    /// Runs a command and those behind it, until `enough`.
    fn run(self: &Arc<Self>, first: Task, host: Host, enough: &dyn Fn() -> bool) {
        let _running = shutdown::Running::new();
        let mut task = Some(first);
        while let Some(Task { command, progress }) = task {
            self.engine.run(command, &*progress, host);
            drop(progress);
            task = self.next(enough());
        }
    }

    /// Has the device's thread run what there is, once nobody else does.
    fn call_thread(self: &Arc<Self>, state: &mut State) {
        state.called = true;
        if state.thread == Thread::NotStarted {
            let shared = Arc::clone(self);
            let thread = affinity::spawn("wgcl-cpu-queue", self.engine.cores(), move || shared.serve());
            state.thread = if thread.is_ok() { Thread::Running } else { Thread::Refused };
        }
        if !state.busy {
            self.call.notify_one();
        }
    }

    /// What the device's thread does.
    fn serve(self: Arc<Self>) {
        loop {
            let mut state = self.state.lock();
            while !state.ending && (state.busy || !state.called) {
                self.call.wait(&mut state);
            }
            state.called = false;
            let task = state.tasks.pop_front();
            if task.is_none() && state.ending {
                return;
            }
            state.busy = task.is_some();
            drop(state);
            if let Some(task) = task {
                self.run(task, Host::Device, &|| false);
            }
        }
    }
}

impl Commands {
    /// For an engine that has nothing to do yet.
    pub(crate) fn new(engine: Engine) -> Self {
        let state = State { tasks: VecDeque::new(), busy: false, called: false, thread: Thread::NotStarted, ending: false };
        Self(Arc::new(Shared { engine, state: Mutex::new(state), call: Condvar::new() }))
    }

    /// Appends a command.
    pub(crate) fn enqueue(&self, command: Command, progress: Arc<dyn Progress>) {
        let shared = &self.0;
        // Nothing but a hint: what is made in the background need not be made when its turn comes.
        shared.engine.prepare(&command);
        let mut state = shared.state.lock();
        state.tasks.push_back(Task { command, progress });
        if state.tasks.len() >= MANY && !state.called {
            shared.call_thread(&mut state);
        }
        if state.thread == Thread::Refused {
            drop(state);
            self.run_all();
        }
    }

    /// Sees to it that everything that was enqueued runs.
    pub(crate) fn flush(&self) {
        let shared = &self.0;
        let mut state = shared.state.lock();
        // Who runs commands goes on until none is left, or calls the thread.
        if state.busy || state.tasks.is_empty() {
            return;
        }
        let quick = !shared.is_kept() && state.tasks.len() <= FEW && state.tasks.iter().all(|task| Engine::is_quick(&task.command));
        if !quick {
            shared.call_thread(&mut state);
        }
        let refused = state.thread == Thread::Refused;
        drop(state);
        if quick || refused {
            self.run_all();
        }
    }

    /// The same for a thread that waits until `done`: it runs commands itself, if nobody does.
    pub(crate) fn flush_until(&self, done: &dyn Fn() -> bool) {
        if done() {
            return;
        }
        let first = if self.0.is_kept() { None } else { self.0.begin() };
        match first {
            Some(task) => self.0.run(task, Host::Application, done),
            None => self.flush(),
        }
    }

    fn run_all(&self) {
        if let Some(task) = self.0.begin() {
            self.0.run(task, Host::Application, &|| false);
        }
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        let left = {
            let mut state = self.0.state.lock();
            state.ending = true;
            self.0.call.notify_one();
            if state.thread == Thread::Running { VecDeque::new() } else { std::mem::take(&mut state.tasks) }
        };
        for Task { progress, .. } in left {
            progress.complete(Err(BackendError::DeviceLost("it is gone".to_owned())));
        }
    }
}
