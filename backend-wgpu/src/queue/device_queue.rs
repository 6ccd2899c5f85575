//! The queue of a device. It runs the device's [`Engine`] on the enqueuing thread if the command takes little time, and
//! otherwise on the submission thread.
//!
//! Waking a thread takes longer than recording a launch. The engine is therefore protected by a mutex, and a caller
//! that finds it unlocked records its command, submits or waits itself. The submission thread executes long work: large
//! transfers that the caller does not wait for, launches whose kernel is not compiled, and functions that run on the
//! host. While messages to that thread are pending, it executes all commands, which keeps their order. Only the
//! submission thread blocks on the mutex.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SendError, Sender};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, Command, Progress};
use wgcl_api::types::thread;
use wgcl_runtime::shutdown;

use crate::launch::limits::LaunchLimits;
use crate::message::Message;
use crate::queue::engine::{CommandPath, Engine};
use crate::submit::completion::CompletionQueue;

/// The queues of the open devices.
static QUEUES: Mutex<Vec<Weak<DeviceQueue>>> = Mutex::new(Vec::new());

pub(crate) struct DeviceQueue {
    /// `None` once the submission thread has ended.
    engine: Mutex<Option<Engine>>,
    /// Sends to the submission thread.
    messages: Sender<Message>,
    /// Number of commands and flushes that the submission thread has not processed yet.
    pending: AtomicUsize,
    /// Token of the thread that enqueued the last command.
    last_thread: AtomicUsize,
    completions: Arc<CompletionQueue>,
    limits: LaunchLimits,
}

impl DeviceQueue {
    pub(crate) fn new(engine: Engine, messages: Sender<Message>) -> Arc<Self> {
        let (completions, limits) = (Arc::clone(engine.completions()), engine.limits().clone());
        let (engine, counts) = (Mutex::new(Some(engine)), || AtomicUsize::new(0));
        let queue = Arc::new(Self { engine, messages, pending: counts(), last_thread: counts(), completions, limits });
        let mut queues = QUEUES.lock();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Arc::downgrade(&queue));
        queue
    }

    /// Sends a command or flush to the submission thread. Fails if the thread has ended.
    #[expect(clippy::result_large_err, reason = "the caller handles the unsent message, at most once per device")]
    fn send(&self, message: Message) -> Result<(), SendError<Message>> {
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.messages.send(message)
    }

    /// Calls `f` with the engine. Returns `None` without the call if another thread uses the engine, if messages are
    /// pending, or if the submission thread has ended.
    fn with_engine<R>(&self, f: impl FnOnce(&mut Engine) -> R) -> Option<R> {
        if self.pending.load(Ordering::Acquire) != 0 {
            return None;
        }
        let result = {
            let mut engine = self.engine.try_lock()?;
            // Another thread may have sent a message before we had the lock.
            if self.pending.load(Ordering::Acquire) != 0 {
                return None;
            }
            f(engine.as_mut()?)
        };
        Some(result)
    }

    pub(crate) fn enqueue(&self, command: Command, profile: bool, progress: Arc<dyn Progress>) {
        self.last_thread.store(thread::token(), Ordering::Relaxed);
        let mut parts = Some((command, profile, progress));
        let taken = self.with_engine(|engine| {
            let path = parts.as_ref().map(|(command, ..)| engine.path(command))?;
            // If the choice of the path failed, this thread reports the error. If this thread waits for its transfer,
            // it executes the transfer itself: waking the submission thread takes 50 us on an H100's host.
            let is_awaited = parts.as_ref().is_some_and(|(.., progress)| progress.is_awaited_by_this_thread());
            let is_short = path.as_ref().map_or(true, |path| path.is_short() || (is_awaited && *path != CommandPath::HostWork));
            let (command, profile, progress) = if is_short { parts.take() } else { None }?;
            let may_retire = engine.execute(command, path, profile, progress);
            let batch = engine.batch();
            if batch.is_full() && batch.can_submit_without_wait() {
                batch.submit();
            }
            Some((may_retire, batch.is_full()))
        });
        if let Some((may_retire, is_full)) = taken.flatten() {
            if may_retire {
                self.completions.retire();
            }
            if is_full {
                // This submission may have to wait for the previous one, so the submission thread submits the batch.
                let _ = self.send(Message::Flush);
            }
        }
        let Some((command, profile, progress)) = parts else { return };
        // An idle submission thread creates the first pipeline itself.
        self.limits.prefetch(&command, usize::from(self.pending.load(Ordering::Acquire) == 0));
        if let Err(SendError(Message::Command { progress, .. })) = self.send(Message::Command { command, profile, progress }) {
            progress.complete(Err(BackendError::DeviceLost("the submission thread has ended".to_owned())));
        }
    }

    /// Submits the open batch.
    pub(crate) fn flush(&self) {
        let flushed = self.with_engine(|engine| {
            let batch = engine.batch();
            batch.can_submit_without_wait().then(|| batch.submit())
        });
        if flushed.flatten().is_none() {
            // If the message cannot be sent, the submission thread has ended and has nothing to flush.
            let _ = self.send(Message::Flush);
        }
    }

    /// Submits the open batch, and waits until `done` returns true or no batch is in flight. If the engine is in use,
    /// or messages are pending, this only requests the submission, and does not wait.
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
        self.with_engine(|engine| engine.batch().note_wait());
    }

    /// Submits the commands that the calling thread enqueued on other devices, so that these devices work while the
    /// thread waits for this device. Otherwise, if a program waits for several GPUs in sequence, they would also run in
    /// sequence.
    fn flush_other_queues(&self) {
        let others: Vec<_> = QUEUES.lock().iter().filter(|queue| !std::ptr::eq(queue.as_ptr(), self)).filter_map(Weak::upgrade).collect();
        others.iter().filter(|queue| queue.last_thread.load(Ordering::Relaxed) == thread::token()).for_each(|queue| queue.flush());
    }

    /// The body of the submission thread.
    pub(crate) fn run(&self, received: &Receiver<Message>) {
        while let Ok(message) = received.recv() {
            let counts = matches!(message, Message::Command { .. } | Message::Flush);
            let mut guard = self.engine.lock();
            let Some(engine) = guard.as_mut() else { return };
            let mut may_retire = false;
            match message {
                Message::Command { command, profile, progress } => {
                    // The path is chosen again, because batches may use the memory now that did not use it when the
                    // command was enqueued.
                    let path = engine.path(&command);
                    may_retire = engine.execute(command, path, profile, progress);
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
            drop(guard);
            if may_retire {
                self.completions.retire();
            }
        }
        let engine = self.engine.lock().take();
        if let Some(engine) = engine {
            engine.end();
        }
    }
}
