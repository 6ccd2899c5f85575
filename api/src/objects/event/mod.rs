//! Events: the state of a command, what waits for it, and the graph by which commands reach their devices (OpenCL API 5.9 to 5.14).
//!
//! # States
//! ```text
//! queued -> submitted -> running -> complete
//!    |          |           |
//!    +----------+-----------+-----> failed (negative)
//! ```
//! A user event begins as submitted and ends when the application says so. A status only ever decreases.
//!
//! # The graph
//! An event that waits counts its *blockers*; each of them lists the event among its *waiters*. A blocker of the same device stops blocking when it
//! has been handed to the device, because a device runs its commands in order; any other one stops blocking when it is done. An event
//! without blockers is handed to its device by whoever took the last one away. That goes through a list of work and never by recursion, so that chains
//! of any length run and die without deep stacks.
//!
//! An event that is dropped without being done (a user event nobody can complete any more) counts as failed: what waits for it fails instead of
//! waiting for ever. Whom a failure reaches is told in [`crate::commands::failure`].

mod command_handle;

pub(crate) use command_handle::Ticket;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};

use parking_lot::Condvar;

use crate::backend::{Command, Times};
use crate::commands::command::{CommandType, Kept, Prepared, Work};
use crate::commands::device_enqueue::Family;
use crate::commands::failure::{Failure, Place, Told};
use crate::objects::context::{Context, Notify};
use crate::objects::device::Device;
use crate::objects::queue::Queue;
use crate::observe::lint;
use crate::observe::trace::Traced;
use crate::types::callback;
use crate::types::error::{Error, Result, ensure};
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{HandleSlot, Object};

/// CL_EVENT_COMMAND_EXECUTION_STATUS: lower is later; negative values are errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Status(pub i32);

impl Status {
    /// CL_QUEUED
    pub const QUEUED: Self = Self(3);
    /// CL_SUBMITTED
    pub const SUBMITTED: Self = Self(2);
    /// CL_RUNNING
    pub const RUNNING: Self = Self(1);
    /// CL_COMPLETE
    pub const COMPLETE: Self = Self(0);
    /// What commands get that depend on a failed one: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.
    pub const DEPENDENCY_FAILED: Self = Self(-14);

    /// Complete or failed.
    pub const fn is_done(self) -> bool {
        self.0 <= 0
    }

    /// Terminated with an error.
    pub const fn is_failed(self) -> bool {
        self.0 < 0
    }
}

/// The four times of a command, in nanoseconds of its device's clock.
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
    /// CL_PROFILING_COMMAND_COMPLETE: when all that the command's kernels enqueued had ended as well
    pub complete: u64,
}

/// Called with the event and the status that it reached, or the error.
pub type Callback = Box<dyn FnOnce(&Arc<Event>, Status) + Send>;

/// Somebody who waits for an event.
struct Waiter {
    event: Arc<Event>,
    /// The event is in the waiter's wait list: a failure is handed on. Otherwise it is the order of a queue, which knows of the failures itself.
    explicit: bool,
}

struct State {
    status: Status,
    profile: Profile,
    /// Handed to the device; of a user event: its status was set.
    issued: bool,
    /// Somebody has asked for the status while the command was in a batch.
    polled: bool,
    /// Somebody waits: flush as soon as the command is handed to the device.
    wanted: bool,
    work: Option<Work>,
    /// Why the command fails: that of an event of its wait list as long as it is not done.
    failure: Option<Arc<Failure>>,
    /// The failure is that of an event of its wait list.
    has_waited: bool,
    waiters: Vec<Waiter>,
    /// Events of the wait list that were issued, not done, when they stopped blocking.
    watched: Vec<Arc<Event>>,
    callbacks: Vec<(Status, Callback)>,
}

/// An event.
pub struct Event {
    slot: HandleSlot,
    context: Arc<Context>,
    queue: Option<Arc<Queue>>,
    command: CommandType,
    /// The command's place in its queue, but for its number.
    place: Place,
    number: AtomicU64,
    blockers: AtomicUsize,
    state: Mutex<State>,
    done: Condvar,
    /// What a trace has of it, if one is made.
    traced: Option<Arc<Traced>>,
    /// The thread whose call does not return before the command is done.
    awaiting: Option<ThreadId>,
    /// Of a command buffer for several queues: the commands of these, for all of which it waits.
    parts: OnceLock<Vec<Arc<Self>>>,
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

/// How an event fails.
#[derive(Clone)]
struct Failed {
    status: Status,
    failure: Arc<Failure>,
}

impl Failed {
    /// It is the event with which the failure begins.
    fn first(failure: Arc<Failure>) -> Self {
        Self { status: failure.status(), failure }
    }

    /// It depends on something that failed.
    fn dependent(failure: Arc<Failure>) -> Self {
        Self { status: Status::DEPENDENCY_FAILED, failure }
    }
}

/// How an event ends.
type Ending = std::result::Result<Option<Times>, Failed>;

/// A step of the graph.
enum Step {
    /// Nothing blocks the event any more.
    Ready(Arc<Event>),
    /// The command cannot run; what it would have used.
    Fail(Arc<Event>, Failed, Vec<Kept>),
    /// The event ends; what the command used.
    Finish(Arc<Event>, Ending, Vec<Kept>),
}

/// What becomes of a wish to wait for an event.
enum Wait {
    Blocked,
    Issued,
    /// It is done, or has failed.
    Done(Option<Arc<Failure>>),
}

impl Event {
    fn make(
        context: Arc<Context>,
        (queue, place): (Option<Arc<Queue>>, Place),
        command: CommandType,
        status: Status,
        work: Option<Work>,
    ) -> Arc<Self> {
        let traced = work.as_ref().and_then(|work| Traced::new(command, work));
        let awaiting = work.as_ref().filter(|work| work.is_blocking).map(|_| thread::current().id());
        let profile = Profile { queued: queue.as_ref().map_or(0, |queue| queue.device().backend().now()), ..Profile::default() };
        Arc::new(Self {
            slot: HandleSlot::default(),
            context,
            queue,
            command,
            place,
            number: AtomicU64::new(place.number),
            // One for whoever makes the event, until all of its dependencies are registered.
            blockers: AtomicUsize::new(1),
            state: Mutex::new(
                Rank::Event,
                State {
                    status,
                    profile,
                    issued: false,
                    polled: false,
                    wanted: false,
                    work,
                    failure: None,
                    has_waited: false,
                    waiters: Vec::new(),
                    watched: Vec::new(),
                    callbacks: Vec::new(),
                },
            ),
            done: Condvar::new(),
            traced,
            awaiting,
            parts: OnceLock::new(),
        })
    }

    /// clCreateUserEvent
    pub fn user(context: &Arc<Context>) -> Arc<Self> {
        Self::make(context.clone(), (None, Place::default()), CommandType::User, Status::SUBMITTED, None)
    }

    /// A command that waits for [`Event::start`]. Its number in `place` is not known yet.
    pub(crate) fn command(queue: &Arc<Queue>, command: CommandType, work: Work, place: Place) -> Arc<Self> {
        Self::make(queue.context().clone(), (Some(queue.clone()), place), command, Status::QUEUED, Some(work))
    }

    /// Gives the command its number, before anybody else knows of it.
    pub(crate) fn set_number(&self, number: u64) {
        self.number.store(number, Ordering::Release);
    }

    /// Somebody will know when the command is done.
    fn is_heard_of(&self) {
        if let Some(queue) = &self.queue {
            queue.awaited().waits_for(self.number.load(Ordering::Relaxed));
        }
    }

    /// The command's place in its queue.
    pub(crate) fn place(&self) -> Place {
        Place { number: self.number.load(Ordering::Acquire), ..self.place }
    }

    /// Registers what the command waits for, explicitly and by its queue's order, and hands it to its device once nothing blocks it.
    pub(crate) fn start(self: &Arc<Self>, wait_list: &[Arc<Self>], order: &[Arc<Self>]) {
        for (list, explicit) in [(wait_list, true), (order, false)] {
            for blocker in list {
                if explicit {
                    blocker.is_heard_of();
                }
                if let (true, Some(traced), Some(other)) = (explicit, &self.traced, &blocker.traced) {
                    traced.follow(other);
                }
                self.blockers.fetch_add(1, Ordering::AcqRel);
                match blocker.add_waiter(self, explicit) {
                    Wait::Blocked => {
                        // A command of another device waits in that device's batch until somebody flushes it: that is us.
                        if !self.same_device(blocker) {
                            blocker.flush();
                        }
                    }
                    Wait::Issued => {
                        if explicit {
                            self.state.lock().watched.push(blocker.clone());
                        }
                        self.blockers.fetch_sub(1, Ordering::AcqRel);
                    }
                    Wait::Done(failure) => {
                        if let (true, Some(failure)) = (explicit, failure) {
                            self.waited_for(failure);
                        }
                        self.blockers.fetch_sub(1, Ordering::AcqRel);
                    }
                }
            }
        }
        if self.unblock() {
            run(Step::Ready(self.clone()), false);
        }
    }

    /// Takes one blocker away; whether it was the last.
    fn unblock(&self) -> bool {
        self.blockers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    fn same_device(&self, other: &Self) -> bool {
        match (&self.queue, &other.queue) {
            (Some(a), Some(b)) => Arc::ptr_eq(a.device(), b.device()),
            _ => false,
        }
    }

    fn add_waiter(&self, waiter: &Arc<Self>, explicit: bool) -> Wait {
        let mut state = self.state.lock();
        if state.status.is_done() {
            Wait::Done(state.failure.clone())
        } else if state.issued && self.same_device(waiter) {
            Wait::Issued
        } else {
            state.waiters.push(Waiter { event: waiter.clone(), explicit });
            Wait::Blocked
        }
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Its queue; user events have none.
    pub fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// CL_EVENT_COMMAND_TYPE
    pub fn command_type(&self) -> CommandType {
        self.command
    }

    /// Where the command is.
    pub fn status(&self) -> Status {
        self.state.lock().status
    }

    /// An event of the wait list has failed.
    fn waited_for(&self, failure: Arc<Failure>) {
        let mut state = self.state.lock();
        state.failure.get_or_insert(failure);
        state.has_waited = true;
    }

    /// Contents that the command needs did not arrive.
    pub(crate) fn lacks(&self, error: Error) {
        let failure = self.report(error);
        self.state.lock().failure.get_or_insert(failure);
    }

    /// Why it has failed, if it has, and whether it waited for an event that had.
    pub(crate) fn failure(&self) -> Option<(Arc<Failure>, bool)> {
        let state = self.state.lock();
        let failure = state.failure.clone().filter(|_| state.status.is_failed())?;
        Some((failure, state.has_waited))
    }

    /// The application is told of its failure and of those before it in the queue.
    pub(crate) fn tell(&self, told: Told) {
        if let Some((failure, _)) = self.failure() {
            failure.tell(&self.context, told);
        }
        if let Some(queue) = &self.queue {
            queue.tell(self.place(), told);
        }
    }

    /// The status, for an application that asks again and again: a command that waits in a batch is flushed at the first time. Applications must
    /// call clFlush before they poll, but many do not.
    pub fn poll(&self) -> Status {
        self.is_heard_of();
        let mut state = self.state.lock();
        let status = state.status;
        let first = !status.is_done() && state.issued && !std::mem::replace(&mut state.polled, true);
        drop(state);
        if first {
            self.flush();
        }
        if status.is_failed() {
            self.tell(Told::Status);
        }
        status
    }

    /// Sees to it that the command runs as soon as nothing blocks it.
    pub fn flush(&self) {
        self.want();
        if let Some(queue) = &self.queue {
            queue.flush();
        }
    }

    /// Sees to it that the command does not stay in a batch if it is handed to the device later than a flush that meant it.
    pub(crate) fn want(&self) {
        self.state.lock().wanted = true;
    }

    /// Waits until the command is done, and has its device run what it has to run for that.
    pub fn wait(&self) -> Status {
        self.is_heard_of();
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
    /// If there is no event, they are of several contexts, or one of them failed.
    pub fn wait_all(events: &[Arc<Self>]) -> Result<()> {
        lint::waits();
        let Some(first) = events.first() else {
            return Err(Error::InvalidValue("the list of events is empty".into()));
        };
        ensure!(events.iter().all(|e| Arc::ptr_eq(&e.context, &first.context)), InvalidContext, "the events belong to several contexts");
        // All of them before the first is waited for, which may be on another device.
        let mut devices: Vec<&Arc<Device>> = Vec::new();
        for event in events {
            event.want();
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
                event.tell(Told::Events);
                failed = Some(status);
            }
        }
        match failed {
            Some(status) => Err(Error::ExecStatusErrorForEventsInWaitList(format!("a command ended with error {}", status.0).into())),
            None => Ok(()),
        }
    }

    /// clSetUserEventStatus
    ///
    /// # Errors
    /// If it is not a user event, the status is not final, or was set before.
    pub fn set_user_status(self: &Arc<Self>, status: Status) -> Result<()> {
        ensure!(self.command == CommandType::User, InvalidEvent, "the event is not a user event");
        ensure!(status.is_done(), InvalidValue, "execution status {} is neither CL_COMPLETE nor negative", status.0);
        ensure!(!std::mem::replace(&mut self.state.lock().issued, true), InvalidOperation, "the status of this user event was set before");
        let ending = if status.is_failed() { Err(Failed::first(Failure::new(status))) } else { Ok(None) };
        run(Step::Finish(self.clone(), ending, Vec::new()), true);
        Ok(())
    }

    /// clSetEventCallback: `callback` runs once the command reaches `trigger` or fails.
    pub fn on_status(self: &Arc<Self>, trigger: Status, callback: Callback) {
        self.is_heard_of();
        let mut state = self.state.lock();
        if state.status > trigger {
            state.callbacks.push((trigger, callback));
            return;
        }
        let status = state.status;
        drop(state);
        schedule(self, vec![(trigger, callback)], status);
    }

    /// clGetEventProfilingInfo
    ///
    /// # Errors
    /// For user events, queues that do not profile and commands that did not complete.
    pub fn profile(&self) -> Result<Profile> {
        // "CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the command-queue, if the execution status of
        // the command identified by event is not CL_COMPLETE or if event is a user event object."
        let profiles = |event: &Self| event.queue.as_ref().is_some_and(|queue| queue.profiles());
        let parts = self.parts.get().map_or(&[] as &[Arc<Self>], Vec::as_slice);
        let profiling = profiles(self) || parts.iter().any(|part| profiles(part));
        ensure!(profiling, ProfilingInfoNotAvailable, "the command's queue does not profile");
        let times = |event: &Self| {
            let state = event.state.lock();
            (state.status, state.profile)
        };
        let (status, whole) = times(self);
        ensure!(status == Status::COMPLETE, ProfilingInfoNotAvailable, "the command is not complete");
        Ok(parts.iter().map(|part| times(part).1).fold(whole, |whole, part| Profile {
            queued: whole.queued.min(part.queued),
            submit: whole.submit.min(part.submit),
            start: whole.start.min(part.start),
            ..whole
        }))
    }

    /// The commands of which it is the end, before anybody else knows of it.
    pub(crate) fn set_parts(&self, parts: Vec<Arc<Self>>) {
        let _ = self.parts.set(parts);
    }

    /// Moves to an intermediate status and runs what waits for it.
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

    /// Whether somebody wants its exact times.
    fn is_timed(&self) -> bool {
        self.traced.is_some() || self.queue.as_ref().is_some_and(|queue| queue.profiles())
    }

    /// Hands the command to its device, or finds out why that cannot be.
    fn issue(self: &Arc<Self>, steps: &mut VecDeque<Step>) {
        let Some(queue) = &self.queue else { return };
        let mut state = self.state.lock();
        let waited = state.failure.clone();
        let Some(work) = state.work.take() else { return };
        drop(state);
        // What gives something back is not stopped by what merely comes before it.
        let gives_back = matches!(self.command, CommandType::UnmapMemObject | CommandType::SvmUnmap | CommandType::SvmFree);
        if (waited.is_some() || !gives_back)
            && let Some(failure) = self.reached_by(waited, &[])
        {
            steps.push_back(Step::Fail(self.clone(), Failed::dependent(failure), work.into_kept()));
            return;
        }
        match work.prepare(queue, self) {
            Prepared::Command(command, kept) => {
                queue.device().backend().enqueue(*command, self.is_timed(), Ticket::new(self, kept, None));
                let (waiters, wanted) = {
                    let mut state = self.state.lock();
                    state.issued = true;
                    let waiters = state.waiters.extract_if(.., |waiter| self.same_device(&waiter.event)).collect::<Vec<_>>();
                    (waiters, state.wanted)
                };
                if wanted {
                    queue.flush();
                }
                for waiter in waiters {
                    if waiter.explicit {
                        waiter.event.state.lock().watched.push(self.clone());
                    }
                    if waiter.event.unblock() {
                        steps.push_back(Step::Ready(waiter.event));
                    }
                }
            }
            // It counts as handed to the device when it has ended: what comes behind it comes behind its children.
            Prepared::Family(command, executable, kept) => Family::start(queue, *command, executable, Ticket::new(self, kept, None)),
            // Contents are on their way from another device; `resume` comes when they are here.
            Prepared::Later => {}
            Prepared::Failed(error, kept) => steps.push_back(Step::Fail(self.clone(), Failed::first(self.report(error)), kept)),
        }
    }

    /// Ends a command that will not run. In an in-order queue it has its turn all the same: whoever sees its end may take everything before it as
    /// ended too. It does not count as issued, so that what waits for it learns of the failure before it runs.
    fn fail(self: &Arc<Self>, failed: Failed, kept: Vec<Kept>, steps: &mut VecDeque<Step>) {
        match &self.queue {
            Some(queue) if !queue.out_of_order() => {
                queue.device().backend().enqueue(Command::Nop, false, Ticket::new(self, kept, Some(failed)));
                queue.flush();
            }
            _ => steps.push_back(Step::Finish(self.clone(), Err(failed), kept)),
        }
    }

    /// Continues a command whose memory has arrived, or not: then with what it would have used.
    pub(crate) fn resume(self: &Arc<Self>, work: std::result::Result<Work, (Error, Vec<Kept>)>) {
        match work {
            Ok(work) => {
                self.state.lock().work = Some(work);
                run(Step::Ready(self.clone()), true);
            }
            Err((error, kept)) => run(Step::Fail(self.clone(), Failed::first(self.report(error)), kept), true),
        }
    }

    /// Reports a failure of the device to the log and to the context.
    fn report(&self, error: Error) -> Arc<Failure> {
        tracing::error!("{:?} failed: {error}", self.command);
        self.context.notify(&error);
        Failure::of_device(error)
    }

    /// The failure that reaches a command that did not fail itself: of its wait list (`waited`), of the order of its queue, of the memory that it used.
    fn reached_by(&self, waited: Option<Arc<Failure>>, kept: &[Kept]) -> Option<Arc<Failure>> {
        let queue = self.queue.as_ref()?;
        let place = self.place();
        match waited {
            // Who has been told and waits for it all the same has to be told of this command.
            Some(failure) if !failure.reaches(place.number) => Some(Failure::new(Status::DEPENDENCY_FAILED)),
            Some(failure) => Some(failure),
            None => queue.failure(place).or_else(|| kept.iter().find_map(|object| object.failure(place.number))),
        }
    }

    /// Ends the event and frees what waits for it.
    fn finish(self: &Arc<Self>, ending: Ending, kept: Vec<Kept>, steps: &mut VecDeque<Step>) {
        let (watched, mut waited) = {
            let mut state = self.state.lock();
            if state.status.is_done() {
                return;
            }
            (std::mem::take(&mut state.watched), state.failure.clone())
        };
        if let Some((failure, _)) = watched.iter().find_map(|event| event.failure()) {
            self.waited_for(failure.clone());
            waited.get_or_insert(failure);
        }
        let (status, times, failure) = match ending {
            Err(Failed { status, failure }) => (status, None, Some(failure)),
            Ok(times) => match self.reached_by(waited, &kept) {
                Some(failure) => (Status::DEPENDENCY_FAILED, times, Some(failure)),
                None => (Status::COMPLETE, times, None),
            },
        };
        // Whoever sees the event's end sees what it means for the queue and the memory.
        let failure = failure.map(|failure| match &self.queue {
            Some(queue) => queue.failed(self.place(), failure),
            None => failure,
        });
        kept.iter().for_each(|object| object.ended(failure.as_ref()));
        drop(kept);
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
        let waiters = std::mem::take(&mut state.waiters);
        let work = state.work.take();
        let callbacks = take_callbacks(&mut state);
        self.done.notify_all();
        drop(state);
        drop((work, watched));
        schedule(self, callbacks, status);
        if let Some(queue) = &self.queue {
            if let (Some(traced), Status::COMPLETE) = (&self.traced, status) {
                traced.done(queue, (profile.start, profile.end));
            }
            queue.completed(self);
        }
        release(waiters, failure.as_ref(), steps);
    }
}

/// Takes the callbacks whose status is reached.
fn take_callbacks(state: &mut State) -> Vec<(Status, Callback)> {
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
                event.tell(Told::Status);
            }
            callback(&event, reached);
        }));
    }
}

/// Takes a finished event off those that wait for it.
fn release(waiters: Vec<Waiter>, failure: Option<&Arc<Failure>>, steps: &mut VecDeque<Step>) {
    for waiter in waiters {
        if let (true, Some(failure)) = (waiter.explicit, failure) {
            waiter.event.waited_for(failure.clone());
        }
        if waiter.event.unblock() {
            steps.push_back(Step::Ready(waiter.event));
        }
    }
}

/// Runs a step and all that follow from it. `late` says that it does not come from the enqueuing call: then nobody else may flush.
fn run(step: Step, late: bool) {
    let mut steps = VecDeque::new();
    let mut devices: Vec<Arc<Device>> = Vec::new();
    let mut next = Some(step);
    while let Some(step) = next.take().or_else(|| steps.pop_front()) {
        match step {
            Step::Ready(event) => {
                event.issue(&mut steps);
                if late
                    && let Some(queue) = &event.queue
                    && !devices.iter().any(|d| Arc::ptr_eq(d, queue.device()))
                {
                    devices.push(queue.device().clone());
                }
            }
            Step::Fail(event, failed, kept) => event.fail(failed, kept, &mut steps),
            Step::Finish(event, ending, kept) => event.finish(ending, kept, &mut steps),
        }
    }
    for device in devices {
        device.backend().flush();
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if state.status.is_done() {
            return;
        }
        let waiters = std::mem::take(&mut state.waiters);
        if waiters.is_empty() {
            return;
        }
        let mut steps = VecDeque::new();
        release(waiters, Some(&Failure::new(Status::DEPENDENCY_FAILED)), &mut steps);
        for step in steps {
            run(step, true);
        }
    }
}
