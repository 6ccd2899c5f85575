//! How commands get to a device's [`Engine`]: by whoever enqueues them where that is quick, else through the submission thread.
//!
//! Waking a thread takes longer than recording a launch. So the engine stands behind a mutex, and a caller that finds it free records its command, submits or
//! waits by itself. What may take long (a transfer of many bytes that the caller does not wait for, a kernel that has to be compiled, work of the host's) goes to the submission thread, and as
//! long as anything is on its way there everything else goes the same way: commands stay in order. Nobody but that thread ever blocks on the mutex.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SendError, Sender};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, Command, Progress};
use wgcl_runtime::shutdown;

use crate::launch::limits::Planner;
use crate::message::Message;
use crate::queue::engine::Engine;
use crate::submit::completion::Retirer;
use crate::transfer::path::Route;

/// The ports of the open devices.
static PORTS: Mutex<Vec<Weak<Port>>> = Mutex::new(Vec::new());

/// A number that only the calling thread has, as long as it lives.
fn own_number() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// The way to a device's engine.
pub(crate) struct Port {
    /// `None` once the thread has ended.
    engine: Mutex<Option<Engine>>,
    thread: Sender<Message>,
    /// Commands and flushes that were sent to the thread and not taken yet.
    pending: AtomicUsize,
    /// The thread that was the last one to enqueue a command.
    author: AtomicUsize,
    retirer: Arc<Retirer>,
    planner: Planner,
}

impl Port {
    pub(crate) fn new(engine: Engine, thread: Sender<Message>) -> Arc<Self> {
        let (retirer, planner) = (Arc::clone(engine.retirer()), engine.planner().clone());
        let (engine, counts) = (Mutex::new(Some(engine)), || AtomicUsize::new(0));
        let port = Arc::new(Self { engine, thread, pending: counts(), author: counts(), retirer, planner });
        let mut ports = PORTS.lock();
        ports.retain(|port| port.strong_count() > 0);
        ports.push(Arc::downgrade(&port));
        port
    }

    /// Sends what is to come in its turn. Fails where the thread has ended.
    #[expect(clippy::result_large_err, reason = "what could not be sent is answered by the caller, once in the life of a device")]
    fn send(&self, message: Message) -> Result<(), SendError<Message>> {
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.thread.send(message)
    }

    /// Runs `f` with the engine if that is free and nothing is on its way to it. Then tells of what `f` finished, with nothing locked.
    fn direct<R>(&self, f: impl FnOnce(&mut Engine) -> R) -> Option<R> {
        if self.pending.load(Ordering::Acquire) != 0 {
            return None;
        }
        let result = {
            let mut engine = self.engine.try_lock()?;
            // Sent before we had the lock, by somebody who found it taken.
            if self.pending.load(Ordering::Acquire) != 0 {
                return None;
            }
            f(engine.as_mut()?)
        };
        Some(result)
    }

    /// Takes a command.
    pub(crate) fn enqueue(&self, command: Command, profile: bool, progress: Arc<dyn Progress>) {
        self.author.store(own_number(), Ordering::Relaxed);
        let mut parts = Some((command, profile, progress));
        let taken = self.direct(|engine| {
            let route = parts.as_ref().map(|(command, ..)| engine.route(command))?;
            // What cannot be done is soon said. Who waits for a transfer has nothing better to do, and waking the thread for it takes some 50 us on an H100's host.
            let awaited = parts.as_ref().is_some_and(|(.., progress)| progress.is_awaited_here());
            let is_quick = route.as_ref().map_or(true, |route| route.is_quick() || (awaited && *route != Route::Host));
            let (command, profile, progress) = if is_quick { parts.take() } else { None }?;
            let retiring = engine.take(command, route, profile, progress);
            let recording = engine.recording();
            if recording.is_full() && recording.submits_at_once() {
                recording.submit();
            }
            Some((retiring, recording.is_full()))
        });
        if let Some((retiring, is_full)) = taken.flatten() {
            if retiring {
                self.retirer.retire();
            }
            if is_full {
                // The submission may wait for the one before.
                let _ = self.send(Message::Flush);
            }
        }
        let Some((command, profile, progress)) = parts else { return };
        // The thread makes the first pipeline itself if it has nothing else to do.
        self.planner.prepare(&command, usize::from(self.pending.load(Ordering::Acquire) == 0));
        if let Err(SendError(Message::Command { progress, .. })) = self.send(Message::Command { command, profile, progress }) {
            progress.complete(Err(BackendError::DeviceLost("its thread has ended".to_owned())));
        }
    }

    /// Submits what was recorded.
    pub(crate) fn flush(&self) {
        let flushed = self.direct(|engine| {
            let recording = engine.recording();
            recording.submits_at_once().then(|| recording.submit())
        });
        if flushed.flatten().is_none() {
            // A thread that has ended has nothing to flush.
            let _ = self.send(Message::Flush);
        }
    }

    /// The same, and waits until `done` or until nothing is left to wait for here.
    pub(crate) fn flush_until(&self, done: &dyn Fn() -> bool) {
        if done() {
            return;
        }
        self.begin_others();
        if self.direct(|engine| engine.recording().submit_unheard()).is_none() {
            let _ = self.send(Message::Flush);
            return;
        }
        let _running = shutdown::Running::new();
        self.retirer.retire();
        while !done() && self.retirer.wait_for_next() {
            self.retirer.retire();
        }
        self.direct(|engine| engine.recording().was_awaited());
    }

    /// Submits what the calling thread has enqueued for other devices: they work while it waits for this one. (Of two GPUs that a program finishes one after the other,
    /// the second would not begin before the first is done.)
    fn begin_others(&self) {
        let others: Vec<_> = PORTS.lock().iter().filter(|port| !std::ptr::eq(port.as_ptr(), self)).filter_map(Weak::upgrade).collect();
        others.iter().filter(|port| port.author.load(Ordering::Relaxed) == own_number()).for_each(|port| port.flush());
    }

    /// The submission thread: serves until told to end.
    pub(crate) fn run(&self, messages: &Receiver<Message>) {
        while let Ok(message) = messages.recv() {
            let counts = matches!(message, Message::Command { .. } | Message::Flush);
            let mut place = self.engine.lock();
            let Some(engine) = place.as_mut() else { return };
            let mut retiring = false;
            match message {
                Message::Command { command, profile, progress } => {
                    // What it found when it was enqueued may have changed.
                    let route = engine.route(&command);
                    retiring = engine.take(command, route, profile, progress);
                }
                Message::Flush => engine.recording().submit(),
                Message::Forget(id) => engine.forget(id),
                Message::Quit => break,
            }
            if engine.recording().is_full() {
                engine.recording().submit();
            }
            if counts {
                self.pending.fetch_sub(1, Ordering::AcqRel);
            }
            drop(place);
            if retiring {
                self.retirer.retire();
            }
        }
        let engine = self.engine.lock().take();
        if let Some(engine) = engine {
            engine.end();
        }
    }
}
