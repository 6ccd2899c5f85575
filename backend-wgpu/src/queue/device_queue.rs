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

use crate::launch::limits::LaunchLimits;
use crate::message::Message;
use crate::queue::engine::Engine;
use crate::submit::completion::CompletionQueue;
use crate::transfer::path::TransferPath;

/// The queues of the open devices.
static QUEUES: Mutex<Vec<Weak<DeviceQueue>>> = Mutex::new(Vec::new());

/// A number that only the calling thread has, as long as it lives.
fn thread_token() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// The way to a device's engine.
pub(crate) struct DeviceQueue {
    /// `None` once the thread has ended.
    engine: Mutex<Option<Engine>>,
    thread: Sender<Message>,
    /// Commands and flushes that were sent to the thread and not taken yet.
    pending: AtomicUsize,
    /// The thread that was the last one to enqueue a command.
    last_thread: AtomicUsize,
    completions: Arc<CompletionQueue>,
    limits: LaunchLimits,
}

impl DeviceQueue {
    pub(crate) fn new(engine: Engine, thread: Sender<Message>) -> Arc<Self> {
        let (completions, limits) = (Arc::clone(engine.completions()), engine.limits().clone());
        let (engine, counts) = (Mutex::new(Some(engine)), || AtomicUsize::new(0));
        let queue = Arc::new(Self { engine, thread, pending: counts(), last_thread: counts(), completions, limits });
        let mut queues = QUEUES.lock();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Arc::downgrade(&queue));
        queue
    }

    /// Sends what is to come in its turn. Fails where the thread has ended.
    #[expect(clippy::result_large_err, reason = "what could not be sent is answered by the caller, once in the life of a device")]
    fn send(&self, message: Message) -> Result<(), SendError<Message>> {
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.thread.send(message)
    }

    /// Runs `f` with the engine if that is free and nothing is on its way to it. Then tells of what `f` finished, with nothing locked.
    fn with_engine<R>(&self, f: impl FnOnce(&mut Engine) -> R) -> Option<R> {
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
        self.last_thread.store(thread_token(), Ordering::Relaxed);
        let mut parts = Some((command, profile, progress));
        let taken = self.with_engine(|engine| {
            let route = parts.as_ref().map(|(command, ..)| engine.route(command))?;
            // What cannot be done is soon said. Who waits for a transfer has nothing better to do, and waking the thread for it takes some 50 us on an H100's host.
            let awaited = parts.as_ref().is_some_and(|(.., progress)| progress.is_awaited_by_this_thread());
            let is_quick = route.as_ref().map_or(true, |route| route.is_quick() || (awaited && *route != TransferPath::Host));
            let (command, profile, progress) = if is_quick { parts.take() } else { None }?;
            let retiring = engine.take(command, route, profile, progress);
            let batch = engine.batch();
            if batch.is_full() && batch.submits_at_once() {
                batch.submit();
            }
            Some((retiring, batch.is_full()))
        });
        if let Some((retiring, is_full)) = taken.flatten() {
            if retiring {
                self.completions.retire();
            }
            if is_full {
                // The submission may wait for the one before.
                let _ = self.send(Message::Flush);
            }
        }
        let Some((command, profile, progress)) = parts else { return };
        // The thread makes the first pipeline itself if it has nothing else to do.
        self.limits.prepare(&command, usize::from(self.pending.load(Ordering::Acquire) == 0));
        if let Err(SendError(Message::Command { progress, .. })) = self.send(Message::Command { command, profile, progress }) {
            progress.complete(Err(BackendError::DeviceLost("its thread has ended".to_owned())));
        }
    }

    /// Submits what was recorded.
    pub(crate) fn flush(&self) {
        let flushed = self.with_engine(|engine| {
            let batch = engine.batch();
            batch.submits_at_once().then(|| batch.submit())
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
        self.flush_other_queues();
        if self.with_engine(|engine| engine.batch().submit_unnotified()).is_none() {
            let _ = self.send(Message::Flush);
            return;
        }
        let _running = shutdown::Running::new();
        self.completions.retire();
        while !done() && self.completions.wait_for_next() {
            self.completions.retire();
        }
        self.with_engine(|engine| engine.batch().was_awaited());
    }

    /// Submits what the calling thread has enqueued for other devices: they work while it waits for this one. (Of two GPUs that a program finishes one after the other,
    /// the second would not begin before the first is done.)
    fn flush_other_queues(&self) {
        let others: Vec<_> = QUEUES.lock().iter().filter(|queue| !std::ptr::eq(queue.as_ptr(), self)).filter_map(Weak::upgrade).collect();
        others.iter().filter(|queue| queue.last_thread.load(Ordering::Relaxed) == thread_token()).for_each(|queue| queue.flush());
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
                Message::Flush => engine.batch().submit(),
                Message::Forget(id) => engine.forget(id),
                Message::Quit => break,
            }
            if engine.batch().is_full() {
                engine.batch().submit();
            }
            if counts {
                self.pending.fetch_sub(1, Ordering::AcqRel);
            }
            drop(place);
            if retiring {
                self.completions.retire();
            }
        }
        let engine = self.engine.lock().take();
        if let Some(engine) = engine {
            engine.end();
        }
    }
}
