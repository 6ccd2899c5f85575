//! Events: the state of a command, its dependents, and the graph that orders commands (OpenCL API 5.11 to 5.14).
//!
//! # States
//! ```text
//! queued -> submitted -> running -> complete
//!    |          |           |
//!    +----------+-----------+-----> failed (negative)
//! ```
//! A user event begins as submitted and ends when the application sets its status. A status never increases.
//!
//! # The graph
//! An event counts its *blockers*. Each blocker lists the event among its *dependents*. A blocker on the same device
//! stops blocking when it is submitted to the device, because a device runs its commands in order. A blocker on another
//! device, or a kernel tree ([`crate::commands::device_enqueue`]), stops blocking when it is done. The thread that
//! removes the last blocker of an event submits the event's command.
//! The submission uses a work list instead of recursion, so that chains of any length need no deep stack.
//!
//! A command of a parent process fails in a forked child when the child first observes it. The threads that would
//! complete the command do not exist in the child ([`process`]).
//!
//! An event that is dropped before it is done counts as failed, so that its dependents fail instead of waiting for
//! ever. An example is a user event that the application can no longer complete. [`crate::commands::failure`]
//! describes which commands a failure affects.

mod command_handle;
mod unqueued;

pub(crate) use command_handle::CommandHandle;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Condvar;

use crate::backend::{Command, Times};
use crate::commands::command::{CommandType, PendingCommand, Prepared, RetainedObject};
use crate::commands::device_enqueue::KernelTree;
use crate::commands::failure::{Failure, QueuePosition, ReportedVia};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::queue::Queue;
use crate::observe::lint;
use crate::observe::trace::Traced;
use crate::types::callback;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{HandleSlot, Object};
use crate::types::process;
use crate::types::status::Status;
use crate::types::thread;

/// The profiling times of a command, in nanoseconds of its device's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// CL_PROFILING_COMMAND_QUEUED
    pub queued: u64,
    /// CL_PROFILING_COMMAND_SUBMIT
    pub submit: u64,
    /// CL_PROFILING_COMMAND_START
    pub start: u64,
    /// CL_PROFILING_COMMAND_END
    pub end: u64,
    /// CL_PROFILING_COMMAND_COMPLETE: the end of the command and of all kernels that its kernels enqueued
    pub complete: u64,
}

/// Called with the event and its new status, which is negative if the command failed.
pub type Callback = Box<dyn FnOnce(&Arc<Event>, Status) + Send>;

/// A waiter of an event.
struct Dependent {
    event: Arc<Event>,
    /// Whether the event is in the waiter's wait list, so that a failure propagates to the waiter. If false, the waiter
    /// follows the event in queue order, and the queue records the failures of its commands.
    is_in_wait_list: bool,
}

struct EventState {
    status: Status,
    profile: Profile,
    /// Whether the command was submitted to the device. Always false for a kernel tree, because its successors wait for
    /// its children. For a user event, whether its status was set.
    issued: bool,
    /// Whether the application queried the status or registered a callback. The command was flushed then.
    is_observed: bool,
    /// Whether a flush was requested, so that the queue must be flushed as soon as the command is submitted to the
    /// device.
    flush_on_issue: bool,
    work: Option<PendingCommand>,
    /// The reason why the command fails. Until the command is done, this is the failure of an event of its wait list or
    /// of a migration.
    failure: Option<Arc<Failure>>,
    /// Whether the failure is that of an event of the command's wait list.
    failed_in_wait_list: bool,
    dependents: Vec<Dependent>,
    /// Events of the wait list that were submitted, but not done, when they stopped blocking.
    issued_blockers: Vec<Arc<Event>>,
    callbacks: Vec<(Status, Callback)>,
}

pub struct Event {
    slot: HandleSlot,
    context: Arc<Context>,
    queue: Option<Arc<Queue>>,
    command: CommandType,
    /// The command's position in its queue, without its number.
    position: QueuePosition,
    number: AtomicU64,
    blockers: AtomicUsize,
    state: Mutex<EventState>,
    done: Condvar,
    /// The trace record of the command, if tracing is enabled.
    traced: Option<Arc<Traced>>,
    /// The [generation](process::generation) of the process that enqueued the command.
    generation: u32,
    /// The thread whose blocking call waits for the command ([`thread::token`]).
    awaiting: Option<usize>,
    /// The commands that this event waits for, if it represents a command buffer with several segments: one event per
    /// segment.
    segment_events: OnceLock<Vec<Arc<Self>>>,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("command", &self.command).field("status", &self.status()).finish_non_exhaustive()
    }
}

impl Object for Event {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context.listener()
    }
}

impl lint::TrackedCommand for Event {
    fn is_done(&self) -> bool {
        self.status().is_done()
    }
}

/// The failure of an event.
#[derive(Clone)]
struct Termination {
    status: Status,
    failure: Arc<Failure>,
}

impl Termination {
    /// The termination of a command with which a failure began.
    fn first(failure: Arc<Failure>) -> Self {
        Self { status: failure.status(), failure }
    }

    /// The termination of a command whose dependency failed.
    fn dependent(failure: Arc<Failure>) -> Self {
        Self { status: Status::DEPENDENCY_FAILED, failure }
    }
}

/// The result of an event: the times of its command, if it has a command, or its termination.
type Outcome = std::result::Result<Option<Times>, Termination>;

/// A change of an event's state.
enum Transition {
    /// All blockers are removed.
    Ready(Arc<Event>),
    /// The command cannot run. The objects are those of its accesses.
    Fail(Arc<Event>, Termination, Vec<RetainedObject>),
    /// The event ends. The objects are those of the command's accesses.
    Finish(Arc<Event>, Outcome, Vec<RetainedObject>),
}

/// The state of a blocker when a dependent is registered.
enum BlockerStatus {
    /// The dependent waits for the blocker.
    Blocked,
    /// The blocker was submitted to the device of the dependent, so it does not block.
    Issued,
    /// The blocker is complete (`None`), or has failed.
    Done(Option<Arc<Failure>>),
}

impl Event {
    fn make(
        context: Arc<Context>,
        (queue, position): (Option<Arc<Queue>>, QueuePosition),
        command: CommandType,
        status: Status,
        work: Option<PendingCommand>,
    ) -> Arc<Self> {
        let traced = work.as_ref().and_then(|work| Traced::new(|| work.describe(command)));
        let awaiting = work.as_ref().filter(|work| work.is_blocking).map(|_| thread::token());
        let profile = Profile { queued: queue.as_ref().map_or(0, |queue| queue.device().backend().now()), ..Profile::default() };
        Arc::new(Self {
            slot: HandleSlot::default(),
            context,
            queue,
            command,
            position,
            number: AtomicU64::new(position.number),
            // The creator of the event counts as a blocker until all dependencies of the event are registered.
            blockers: AtomicUsize::new(1),
            state: Mutex::new(
                Rank::Event,
                EventState {
                    status,
                    profile,
                    issued: false,
                    is_observed: false,
                    flush_on_issue: false,
                    work,
                    failure: None,
                    failed_in_wait_list: false,
                    dependents: Vec::new(),
                    issued_blockers: Vec::new(),
                    callbacks: Vec::new(),
                },
            ),
            done: Condvar::new(),
            traced,
            generation: process::generation(),
            awaiting,
            segment_events: OnceLock::new(),
        })
    }

    /// Creates the event of a command, which waits for [`Event::start`]. The number in `position` is not known yet.
    pub(crate) fn command(queue: &Arc<Queue>, command: CommandType, work: PendingCommand, position: QueuePosition) -> Arc<Self> {
        Self::make(queue.context().clone(), (Some(queue.clone()), position), command, Status::QUEUED, Some(work))
    }

    /// Sets the number of the command. The caller must not have shared the event yet.
    pub(crate) fn set_number(&self, number: u64) {
        self.number.store(number, Ordering::Release);
    }

    /// Records that the application waits for the end of the command.
    fn record_awaited(&self) {
        if let Some(queue) = &self.queue {
            queue.awaited().record_wait(self.number.load(Ordering::Relaxed));
        }
    }

    /// The command's position in its queue.
    pub(crate) fn position(&self) -> QueuePosition {
        QueuePosition { number: self.number.load(Ordering::Acquire), ..self.position }
    }

    /// Registers the dependencies of the command: its wait list and its queue's order. Submits it to its device once
    /// nothing blocks it.
    pub(crate) fn start(self: &Arc<Self>, wait_list: &[Arc<Self>], order: &[Arc<Self>]) {
        for (list, is_in_wait_list) in [(wait_list, true), (order, false)] {
            for blocker in list {
                blocker.fail_if_forked();
                if is_in_wait_list {
                    blocker.record_awaited();
                }
                if let (true, Some(traced), Some(other)) = (is_in_wait_list, &self.traced, &blocker.traced) {
                    traced.add_predecessor(other);
                }
                self.blockers.fetch_add(1, Ordering::AcqRel);
                match blocker.add_dependent(self, is_in_wait_list) {
                    BlockerStatus::Blocked => {
                        // A command of another device stays in that device's batch until a flush. This event depends on
                        // the command, so flush the command here.
                        if !self.is_on_same_device(blocker) {
                            blocker.flush();
                        }
                    }
                    BlockerStatus::Issued => {
                        if is_in_wait_list {
                            self.state.lock().issued_blockers.push(blocker.clone());
                        }
                        self.blockers.fetch_sub(1, Ordering::AcqRel);
                    }
                    BlockerStatus::Done(failure) => {
                        if let (true, Some(failure)) = (is_in_wait_list, failure) {
                            self.record_wait_list_failure(failure);
                        }
                        self.blockers.fetch_sub(1, Ordering::AcqRel);
                    }
                }
            }
        }
        if self.unblock() {
            run(Transition::Ready(self.clone()), false);
        }
    }

    /// Removes one blocker. Returns whether it was the last.
    fn unblock(&self) -> bool {
        self.blockers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    fn is_on_same_device(&self, other: &Self) -> bool {
        match (&self.queue, &other.queue) {
            (Some(a), Some(b)) => Arc::ptr_eq(a.device(), b.device()),
            _ => false,
        }
    }

    fn add_dependent(&self, dependent: &Arc<Self>, is_in_wait_list: bool) -> BlockerStatus {
        let mut state = self.state.lock();
        if state.status.is_done() {
            BlockerStatus::Done(state.failure.clone())
        } else if state.issued && self.is_on_same_device(dependent) {
            BlockerStatus::Issued
        } else {
            state.dependents.push(Dependent { event: dependent.clone(), is_in_wait_list });
            BlockerStatus::Blocked
        }
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The queue of the command; `None` for a user event.
    pub fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// CL_EVENT_COMMAND_TYPE
    pub fn command_type(&self) -> CommandType {
        self.command
    }

    /// The state of the command.
    pub fn status(&self) -> Status {
        self.state.lock().status
    }

    /// Records that an event of the wait list has failed.
    fn record_wait_list_failure(&self, failure: Arc<Failure>) {
        let mut state = self.state.lock();
        state.failure.get_or_insert(failure);
        state.failed_in_wait_list = true;
    }

    /// Records that a transfer of contents that the command needs has failed.
    pub(crate) fn record_migration_failure(&self, error: Error) {
        let failure = self.report(error);
        self.state.lock().failure.get_or_insert(failure);
    }

    /// If the command failed, the cause and whether an event of its wait list failed. Otherwise `None`.
    pub(crate) fn failure(&self) -> Option<(Arc<Failure>, bool)> {
        let state = self.state.lock();
        let failure = state.failure.clone().filter(|_| state.status.is_failed())?;
        Some((failure, state.failed_in_wait_list))
    }

    /// Records that the application has observed the failure of this command, and the earlier failures in its queue.
    pub(crate) fn mark_reported(&self, via: ReportedVia) {
        if let Some((failure, _)) = self.failure() {
            failure.mark_reported(self.context.next_number(), via);
        }
        if let Some(queue) = &self.queue {
            queue.mark_reported(self.position(), via);
        }
    }

    /// Returns the status for an application that polls, and flushes the command. Applications must call clFlush before
    /// they poll, but many do not.
    pub fn poll(self: &Arc<Self>) -> Status {
        let status = self.observe();
        if status.is_failed() {
            self.mark_reported(ReportedVia::Status);
        }
        status
    }

    /// Returns the status. Flushes the command, unless an earlier call did: the application may wait for it without
    /// another call.
    pub(crate) fn observe(self: &Arc<Self>) -> Status {
        self.fail_if_forked();
        self.record_awaited();
        let mut state = self.state.lock();
        let status = state.status;
        let is_first = !status.is_done() && !std::mem::replace(&mut state.is_observed, true);
        drop(state);
        if is_first {
            self.flush();
        }
        status
    }

    /// Fails a command that a parent process enqueued. User events are excluded: the application completes them.
    fn fail_if_forked(self: &Arc<Self>) {
        if self.generation == process::generation() || self.queue.is_none() || self.status().is_done() {
            return;
        }
        let failure = self.report(Error::OutOfResources("the command was enqueued by the parent process, before fork".into()));
        run(Transition::Finish(self.clone(), Err(Termination::first(failure)), Vec::new()), true);
    }

    /// Requests that the command runs as soon as nothing blocks it.
    pub fn flush(&self) {
        self.request_flush();
        if let Some(queue) = &self.queue {
            queue.flush();
        }
    }

    /// Requests a flush of the command. If the command is submitted to the device only after this request, the device
    /// is flushed then.
    pub(crate) fn request_flush(&self) {
        self.state.lock().flush_on_issue = true;
    }

    /// Waits until the command is done, and returns its status. Submits the commands that it depends on.
    pub fn wait(self: &Arc<Self>) -> Status {
        self.fail_if_forked();
        self.record_awaited();
        if let Some(queue) = &self.queue {
            queue.device().backend().flush_until(&|| self.status().is_done());
        }
        let mut state = self.state.lock();
        while !state.status.is_done() {
            state.wait(&self.done);
        }
        state.status
    }

    /// clWaitForEvents
    ///
    /// # Errors
    /// If the list is empty, if the events belong to several contexts, or if a command failed.
    pub fn wait_all(events: &[Arc<Self>]) -> Result<()> {
        lint::check_blocking_call();
        let Some(first) = events.first() else {
            return Err(Error::InvalidValue("the list of events is empty".into()));
        };
        ensure!(events.iter().all(|e| Arc::ptr_eq(&e.context, &first.context)), InvalidContext, "the events belong to several contexts");
        // Flush all events before waiting for the first, which may be on another device.
        let mut devices: Vec<&Arc<Device>> = Vec::new();
        for event in events {
            event.request_flush();
            if let Some(queue) = &event.queue
                && !devices.iter().any(|device| Arc::ptr_eq(device, queue.device()))
            {
                devices.push(queue.device());
            }
        }
        if devices.len() > 1 {
            devices.iter().for_each(|device| device.backend().flush());
        }
        let mut failed = None;
        for event in events {
            let status = event.wait();
            if status.is_failed() {
                event.mark_reported(ReportedVia::Events);
                failed = Some(status);
            }
        }
        match failed {
            Some(status) => Err(Error::ExecStatusErrorForEventsInWaitList(format!("a command ended with error {}", status.0).into())),
            None => Ok(()),
        }
    }

    /// clSetEventCallback: `callback` runs once the command reaches `trigger` or fails. Flushes the command: an
    /// application that waits for its callback often calls neither clFlush nor clWaitForEvents.
    pub fn on_status(self: &Arc<Self>, trigger: Status, callback: Callback) {
        let mut state = self.state.lock();
        if state.status > trigger {
            state.callbacks.push((trigger, callback));
            drop(state);
            self.observe();
            return;
        }
        let status = state.status;
        drop(state);
        self.record_awaited();
        schedule(self, vec![(trigger, callback)], status);
    }

    /// clGetEventProfilingInfo
    ///
    /// # Errors
    /// Fails for user events, for queues without profiling, and for commands that did not complete.
    pub fn profile(self: &Arc<Self>) -> Result<Profile> {
        // "CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the command-queue, if
        // the execution status of the command identified by event is not CL_COMPLETE or if event is a user event
        // object."
        let is_profiled = |event: &Self| event.queue.as_ref().is_some_and(|queue| queue.is_profiled());
        let segments = self.segment_events.get().map_or(&[] as &[Arc<Self>], Vec::as_slice);
        let profiling = is_profiled(self) || segments.iter().any(|segment| is_profiled(segment));
        ensure!(profiling, ProfilingInfoNotAvailable, "the command's queue was created without CL_QUEUE_PROFILING_ENABLE");
        let times = |event: &Self| {
            let state = event.state.lock();
            (state.status, state.profile)
        };
        let (status, whole) = times(self);
        if !status.is_done() {
            self.observe();
        }
        ensure!(status == Status::COMPLETE, ProfilingInfoNotAvailable, "the command is not complete");
        Ok(segments.iter().map(|segment| times(segment).1).fold(whole, |whole, segment| Profile {
            queued: whole.queued.min(segment.queued),
            submit: whole.submit.min(segment.submit),
            start: whole.start.min(segment.start),
            ..whole
        }))
    }

    /// Sets the events of the segments that this event represents. The application does not have this event yet.
    pub(crate) fn set_segment_events(&self, events: Vec<Arc<Self>>) {
        let _ = self.segment_events.set(events);
    }

    /// Changes to an intermediate status and schedules its callbacks. `time` is the time of the submission.
    fn advance(self: &Arc<Self>, status: Status, time: Option<u64>) {
        let mut state = self.state.lock();
        if state.status.is_done() {
            return;
        }
        if let Some(time) = time {
            state.profile.submit = time.max(state.profile.queued);
        }
        if status < state.status {
            state.status = status;
            let reached = take_callbacks(&mut state);
            drop(state);
            schedule(self, reached, status);
        }
    }

    /// Whether the application or a trace needs exact times.
    fn is_timed(&self) -> bool {
        self.traced.is_some() || self.queue.as_ref().is_some_and(|queue| queue.is_profiled())
    }

    /// Submits the command to its device, and adds the dependents that this unblocks to `transitions`. If the
    /// submission is not possible, adds the failure instead.
    fn issue(self: &Arc<Self>, transitions: &mut VecDeque<Transition>) {
        let Some(queue) = &self.queue else { return };
        let mut state = self.state.lock();
        let waited = state.failure.clone();
        let Some(work) = state.work.take() else { return };
        drop(state);
        // A failure of an earlier command in the queue does not stop a command that releases memory.
        let releases_memory = matches!(
            self.command,
            CommandType::UnmapMemObject | CommandType::SvmUnmap | CommandType::SvmFree | CommandType::SvmUnmapArm | CommandType::SvmFreeArm
        );
        if (waited.is_some() || !releases_memory)
            && let Some(failure) = self.inherited_failure(waited, &[])
        {
            transitions.push_back(Transition::Fail(self.clone(), Termination::dependent(failure), work.into_retained()));
            return;
        }
        let handle = |retained| CommandHandle::new(self, retained, None);
        match work.prepare(queue, self) {
            Prepared::Command(command, retained) => {
                queue.device().backend().enqueue(*command, self.is_timed(), handle(retained));
                let (dependents, flush_on_issue) = {
                    let mut state = self.state.lock();
                    state.issued = true;
                    let dependents =
                        state.dependents.extract_if(.., |dependent| self.is_on_same_device(&dependent.event)).collect::<Vec<_>>();
                    (dependents, state.flush_on_issue)
                };
                if flush_on_issue {
                    queue.flush();
                }
                for dependent in dependents {
                    if dependent.is_in_wait_list {
                        dependent.event.state.lock().issued_blockers.push(self.clone());
                    }
                    if dependent.event.unblock() {
                        transitions.push_back(Transition::Ready(dependent.event));
                    }
                }
            }
            // A kernel tree and a captured launch do not count as issued: successors must run after all their commands.
            Prepared::KernelTree(command, executable, retained) => {
                KernelTree::start(queue.device(), queue.default_queue_handle(), *command, executable, handle(retained));
            }
            Prepared::Captured(command, capture, retained) => capture.start(queue.device(), *command, handle(retained)),
            // Another device is sending contents; `resume` runs when they have arrived.
            Prepared::Migrating => {}
            Prepared::Failed(error, retained) => {
                transitions.push_back(Transition::Fail(self.clone(), Termination::first(self.report(error)), retained))
            }
        }
    }

    /// Ends a command that will not run. In an in-order queue, the command still waits for its predecessors, because
    /// its end implies that every earlier command has ended. The command does not count as issued, so that its
    /// dependents receive the failure before they run.
    fn fail(self: &Arc<Self>, failed: Termination, retained: Vec<RetainedObject>, transitions: &mut VecDeque<Transition>) {
        match &self.queue {
            Some(queue) if !queue.is_out_of_order() => {
                queue.device().backend().enqueue(Command::Nop, false, CommandHandle::new(self, retained, Some(failed)));
                queue.flush();
            }
            _ => transitions.push_back(Transition::Finish(self.clone(), Err(failed), retained)),
        }
    }

    /// Continues a command after the migration of its memory. If the migration failed, the command fails and releases
    /// the given objects.
    pub(crate) fn resume(self: &Arc<Self>, work: std::result::Result<PendingCommand, (Error, Vec<RetainedObject>)>) {
        match work {
            Ok(work) => {
                self.state.lock().work = Some(work);
                run(Transition::Ready(self.clone()), true);
            }
            Err((error, retained)) => run(Transition::Fail(self.clone(), Termination::first(self.report(error)), retained), true),
        }
    }

    /// Reports a failure of the device to the log and to the context.
    fn report(&self, error: Error) -> Arc<Failure> {
        tracing::error!("{} failed: {error}", self.command.name());
        self.context.notify(&error);
        Failure::of_device(error)
    }

    /// Returns the failure that affects a command that did not fail itself. The failure comes from the wait list
    /// (`waited`), the queue order, or the memory that the command used.
    fn inherited_failure(&self, waited: Option<Arc<Failure>>, retained: &[RetainedObject]) -> Option<Arc<Failure>> {
        let queue = self.queue.as_ref()?;
        let position = self.position();
        match waited {
            // The application has observed the failure of the wait list, so this command begins a new failure.
            Some(failure) if !failure.affects(position.number) => Some(Failure::new(Status::DEPENDENCY_FAILED)),
            Some(failure) => Some(failure),
            None => queue.failure(position).or_else(|| retained.iter().find_map(|object| object.failure(position.number))),
        }
    }

    /// Ends the event and unblocks its dependents.
    fn finish(self: &Arc<Self>, outcome: Outcome, retained: Vec<RetainedObject>, transitions: &mut VecDeque<Transition>) {
        let (issued_blockers, mut waited) = {
            let mut state = self.state.lock();
            if state.status.is_done() {
                return;
            }
            (std::mem::take(&mut state.issued_blockers), state.failure.clone())
        };
        if let Some((failure, _)) = issued_blockers.iter().find_map(|event| event.failure()) {
            self.record_wait_list_failure(failure.clone());
            waited.get_or_insert(failure);
        }
        let (status, times, failure) = match outcome {
            Err(Termination { status, failure }) => (status, None, Some(failure)),
            Ok(times) => match self.inherited_failure(waited, &retained) {
                Some(failure) => (Status::DEPENDENCY_FAILED, times, Some(failure)),
                None => (Status::COMPLETE, times, None),
            },
        };
        // A thread that observes the event's end must also observe its effect on the queue and the memory.
        let failure = failure.map(|failure| match &self.queue {
            Some(queue) => queue.record_failure(self.position(), failure),
            None => failure,
        });
        retained.iter().for_each(|object| object.record_end(failure.as_ref()));
        drop(retained);
        let mut state = self.state.lock();
        if state.status.is_done() {
            return;
        }
        state.failure.clone_from(&failure);
        state.status = status;
        if let Some(times) = times {
            let profile = &mut state.profile;
            profile.submit = profile.submit.max(profile.queued);
            profile.start = times.start.max(profile.submit);
            profile.end = times.end.max(profile.start);
            profile.complete = profile.complete.max(profile.end);
        }
        let profile = state.profile;
        let dependents = std::mem::take(&mut state.dependents);
        let work = state.work.take();
        let callbacks = take_callbacks(&mut state);
        // Only threads of the process that enqueued the command wait for it. A forked child has none of these threads.
        if self.generation == process::generation() {
            self.done.notify_all();
        }
        drop(state);
        drop((work, issued_blockers));
        schedule(self, callbacks, status);
        if let Some(queue) = &self.queue {
            if let (Some(traced), Status::COMPLETE) = (&self.traced, status) {
                traced.record_done((Arc::as_ptr(queue).addr(), queue.device().backend()), (profile.start, profile.end));
            }
            queue.remove_completed(self);
        }
        release(dependents, failure.as_ref(), transitions);
    }
}

/// Removes and returns the callbacks whose status is reached.
fn take_callbacks(state: &mut EventState) -> Vec<(Status, Callback)> {
    if state.callbacks.is_empty() {
        return Vec::new();
    }
    let status = state.status;
    let (mut reached, others) = std::mem::take(&mut state.callbacks).into_iter().partition::<Vec<_>, _>(|(trigger, _)| status <= *trigger);
    state.callbacks = others;
    reached.sort_by_key(|(trigger, _)| std::cmp::Reverse(*trigger));
    reached
}

fn schedule(event: &Arc<Event>, callbacks: Vec<(Status, Callback)>, status: Status) {
    for (trigger, callback) in callbacks {
        let reached = if status.is_failed() { status } else { trigger };
        let event = event.clone();
        callback::schedule(Box::new(move || {
            if reached.is_failed() {
                event.mark_reported(ReportedVia::Status);
            }
            callback(&event, reached);
        }));
    }
}

/// Unblocks the dependents of a finished event.
fn release(dependents: Vec<Dependent>, failure: Option<&Arc<Failure>>, transitions: &mut VecDeque<Transition>) {
    for dependent in dependents {
        if let (true, Some(failure)) = (dependent.is_in_wait_list, failure) {
            dependent.event.record_wait_list_failure(failure.clone());
        }
        if dependent.event.unblock() {
            transitions.push_back(Transition::Ready(dependent.event));
        }
    }
}

/// Runs a transition and all transitions that follow from it. If `late` is true, the enqueuing call did not cause the
/// transition, so this function flushes the devices of the submitted commands.
fn run(transition: Transition, late: bool) {
    let mut transitions = VecDeque::new();
    let mut devices: Vec<Arc<Device>> = Vec::new();
    let mut next = Some(transition);
    while let Some(transition) = next.take().or_else(|| transitions.pop_front()) {
        match transition {
            Transition::Ready(event) => {
                event.issue(&mut transitions);
                if late
                    && let Some(queue) = &event.queue
                    && !devices.iter().any(|d| Arc::ptr_eq(d, queue.device()))
                {
                    devices.push(queue.device().clone());
                }
            }
            Transition::Fail(event, failed, retained) => event.fail(failed, retained, &mut transitions),
            Transition::Finish(event, outcome, retained) => event.finish(outcome, retained, &mut transitions),
        }
    }
    for device in devices {
        device.backend().flush();
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if self.command == CommandType::User && !state.issued {
            self.context.remove_user_event();
        }
        if state.status.is_done() {
            return;
        }
        let dependents = std::mem::take(&mut state.dependents);
        if dependents.is_empty() {
            return;
        }
        let mut transitions = VecDeque::new();
        release(dependents, Some(&Failure::new(Status::DEPENDENCY_FAILED)), &mut transitions);
        for transition in transitions {
            run(transition, true);
        }
    }
}
