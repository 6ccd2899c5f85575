//! Command queues (OpenCL API 5.1).
//!
//! In an in-order queue every command waits for its predecessor. In an out-of-order queue every command waits for the
//! last barrier. A barrier or marker without a wait list waits for all earlier commands.
//! [`crate::commands::failure`] describes the effect of a failed command on later ones.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;

use crate::commands::command::{CommandType, PendingCommand};
use crate::commands::failure::{Failure, Failures, QueuePosition, ReportedVia};
use crate::objects::context::{Context, Drain};
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::observe::lint::{self, WaitProgress};
use crate::options::Options;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::flags::QueueProperties;
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{HandleSlot, Object};

/// CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, in bytes.
pub const MAX_SIZE: u32 = (wgcl_compiler::enqueue::RECORD_WORDS * 4) as u32;
/// CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE: the maximum, because smaller queues are not faster.
pub const PREFERRED_SIZE: u32 = MAX_SIZE;
/// CL_DEVICE_MAX_ON_DEVICE_QUEUES
pub const MAX_ON_DEVICE: u32 = 16;
/// CL_DEVICE_MAX_ON_DEVICE_EVENTS
pub const MAX_ON_DEVICE_EVENTS: u32 = wgcl_compiler::enqueue::MAX_EVENTS as u32;

/// The number of the next on-device queue.
static NUMBERS: AtomicU32 = AtomicU32::new(1);

#[derive(Debug, Default)]
struct QueueState {
    /// The last command of an in-order queue.
    last: Option<Arc<Event>>,
    /// The last barrier of an out-of-order queue.
    barrier: Option<Arc<Event>>,
    /// The unfinished commands of an out-of-order queue.
    outstanding: FxHashMap<usize, Arc<Event>>,
    /// Failures of commands.
    failures: Failures,
}

/// A command queue.
#[derive(Debug)]
pub struct Queue {
    slot: HandleSlot,
    context: Arc<Context>,
    device: Arc<Device>,
    device_index: usize,
    properties: QueueProperties,
    property_list: Option<Vec<u64>>,
    /// The number and the size in bytes of an on-device queue. Kernels receive the number.
    on_device: Option<(u32, u32)>,
    /// Whether `failures` is not empty. Commands check this flag without a lock.
    has_failures: AtomicBool,
    state: Mutex<QueueState>,
    awaited: Arc<WaitProgress>,
}

impl Object for Queue {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context.listener()
    }
}

impl Drain for Queue {
    fn drain(&self) {
        let waiting: Vec<_> = {
            let state = self.state.lock();
            state.last.iter().chain(state.outstanding.values()).cloned().collect()
        };
        waiting.iter().for_each(|event| event.request_flush());
        if waiting.is_empty() {
            self.flush();
        }
        for event in waiting {
            event.wait();
        }
    }
}

impl Context {
    /// The default on-device queue of a device, or `None` if there is none.
    pub fn default_queue(&self, device: &Arc<Device>) -> Option<Arc<Queue>> {
        let index = self.device_index(device)?;
        let queue = self.default_queues().lock().get(index)?.upgrade()?;
        queue.downcast().ok()
    }

    fn set_default_queue(&self, queue: &Arc<Queue>) {
        if let Some(default) = self.default_queues().lock().get_mut(queue.device_index()) {
            *default = Arc::downgrade(queue) as Weak<dyn Any + Send + Sync>;
        }
    }
}

/// How a command is ordered relative to the other commands of an out-of-order queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// A command that waits for its wait list and for the last barrier. Includes markers with a wait list.
    Command,
    /// A marker without a wait list, which waits for all earlier commands.
    Marker,
    /// A barrier without a wait list: it waits for all earlier commands, and all later commands wait for it.
    FullBarrier,
    /// A barrier with a wait list: all later commands wait for it.
    Barrier,
}

fn id(event: &Arc<Event>) -> usize {
    Arc::as_ptr(event).addr()
}

impl Queue {
    /// clCreateCommandQueueWithProperties. `property_list` is the list as the application passed it, for
    /// CL_QUEUE_PROPERTIES_ARRAY.
    ///
    /// # Errors
    /// If the device does not belong to the context.
    pub fn new(
        context: &Arc<Context>,
        device: &Arc<Device>,
        properties: QueueProperties,
        property_list: Option<Vec<u64>>,
    ) -> Result<Arc<Self>> {
        Self::make(context, device, properties, (property_list, None))
    }

    /// Like [`Self::new`] for an on-device queue of `size` bytes (CL_QUEUE_SIZE). If the context has a default queue
    /// for the device, a request for a default queue returns that queue.
    ///
    /// # Errors
    /// If the device does not support such queues or this size, or if the properties contradict each other.
    pub fn on_device(
        context: &Arc<Context>,
        device: &Arc<Device>,
        properties: QueueProperties,
        size: Option<u32>,
        property_list: Option<Vec<u64>>,
    ) -> Result<Arc<Self>> {
        // "If CL_QUEUE_ON_DEVICE is set, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE must also be set."
        // CL_QUEUE_ON_DEVICE_DEFAULT "can only be used with CL_QUEUE_ON_DEVICE."
        let whole = QueueProperties::ON_DEVICE | QueueProperties::OUT_OF_ORDER;
        ensure!(properties.contains(whole), InvalidValue, "CL_QUEUE_ON_DEVICE requires CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
        ensure!(device.has_device_queues(), InvalidQueueProperties, "the device has no on-device queues");
        let size = size.unwrap_or(PREFERRED_SIZE);
        ensure!(
            (1..=MAX_SIZE).contains(&size),
            InvalidQueueProperties,
            "on-device queue of {size} bytes: the size must be 1 to {MAX_SIZE}"
        );
        let is_default = properties.contains(QueueProperties::ON_DEVICE_DEFAULT);
        if let (true, Some(queue)) = (is_default, context.default_queue(device)) {
            return Ok(queue);
        }
        let queue = Self::make(context, device, properties, (property_list, Some(size)))?;
        if is_default {
            context.set_default_queue(&queue);
        }
        Ok(queue)
    }

    /// clSetDefaultDeviceCommandQueue
    ///
    /// # Errors
    /// If the queue is not an on-device queue of this context and device.
    pub fn make_default(self: &Arc<Self>, context: &Arc<Context>, device: &Arc<Device>) -> Result<()> {
        let fits = self.is_on_device() && Arc::ptr_eq(&self.context, context) && Arc::ptr_eq(&self.device, device);
        ensure!(fits, InvalidCommandQueue, "the queue is not an on-device queue of this context and device");
        context.set_default_queue(self);
        Ok(())
    }

    fn make(
        context: &Arc<Context>,
        device: &Arc<Device>,
        properties: QueueProperties,
        (property_list, size): (Option<Vec<u64>>, Option<u32>),
    ) -> Result<Arc<Self>> {
        let device_index =
            context.device_index(device).ok_or_else(|| Error::InvalidDevice("the device is not associated with the context".into()))?;
        let queue = Arc::new(Self {
            slot: HandleSlot::default(),
            context: context.clone(),
            device: device.clone(),
            device_index,
            properties,
            property_list,
            on_device: size.map(|size| (NUMBERS.fetch_add(1, Ordering::Relaxed), size)),
            has_failures: AtomicBool::new(false),
            state: Mutex::new(Rank::Queue, QueueState::default()),
            awaited: Arc::default(),
        });
        lint::register_queue(&queue.awaited);
        context.add_queue(Arc::downgrade(&queue) as Weak<dyn Drain>);
        Ok(queue)
    }

    /// Returns the record of the commands that the application has waited for.
    pub(crate) fn awaited(&self) -> &WaitProgress {
        &self.awaited
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The device's index in the context.
    pub fn device_index(&self) -> usize {
        self.device_index
    }

    /// CL_QUEUE_PROPERTIES
    pub fn properties(&self) -> QueueProperties {
        self.properties
    }

    /// CL_QUEUE_PROPERTIES_ARRAY
    pub fn property_list(&self) -> Option<&[u64]> {
        self.property_list.as_deref()
    }

    /// Whether this is an on-device queue.
    pub fn is_on_device(&self) -> bool {
        self.on_device.is_some()
    }

    /// Checks that this is a host queue.
    ///
    /// # Errors
    /// "CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue."
    pub fn check_host(&self) -> Result<()> {
        ensure!(!self.is_on_device(), InvalidCommandQueue, "the queue is an on-device queue: only kernels can enqueue to it");
        Ok(())
    }

    /// CL_QUEUE_SIZE: bytes of an on-device queue; 0 for others.
    pub fn size(&self) -> u32 {
        self.on_device.map_or(0, |(_, size)| size)
    }

    /// The number by which kernels identify an on-device queue; 0 for host queues.
    pub(crate) fn number(&self) -> u32 {
        self.on_device.map_or(0, |(number, _)| number)
    }

    /// The number of the default on-device queue of this queue's device and its size in words, if there is one.
    pub(crate) fn default_queue_handle(&self) -> Option<(u32, u32)> {
        let default = self.context.default_queue(&self.device)?;
        Some((default.number(), default.size() / 4))
    }

    /// The value of a `queue_t` in kernels: the number in the upper half, the size in words in the lower half.
    pub fn device_handle(&self) -> u64 {
        u64::from(self.number()) << 32 | u64::from(self.size() / 4)
    }

    /// Whether the queue records exact times (CL_QUEUE_PROFILING_ENABLE).
    pub fn is_profiled(&self) -> bool {
        self.properties.contains(QueueProperties::PROFILING)
    }

    /// Whether commands wait only for their wait lists and for barriers.
    pub(crate) fn is_out_of_order(&self) -> bool {
        self.properties.contains(QueueProperties::OUT_OF_ORDER)
    }

    /// Checks a wait list against the queue.
    ///
    /// # Errors
    /// If the queue is an on-device queue, or if an event belongs to another context.
    pub fn check_wait_list(&self, events: &[Arc<Event>]) -> Result<()> {
        // "Passing such events [of sync objects] to any other CL API that enqueues commands will generate a
        // CL_INVALID_EVENT error." (cl_khr_gl_event)
        ensure!(
            !events.iter().any(|event| event.is_of_sync()),
            InvalidEvent,
            "an event of a sync object can be in the wait list only of a command that acquires objects of OpenGL or EGL"
        );
        self.check_wait_list_with_syncs(events)
    }

    /// Like [`Self::check_wait_list`], but accepts events that are linked to sync objects.
    pub(crate) fn check_wait_list_with_syncs(&self, events: &[Arc<Event>]) -> Result<()> {
        self.check_host()?;
        // "CL_INVALID_CONTEXT ... if the context associated with command_queue and events in event_wait_list are not
        // the same."
        ensure!(
            events.iter().all(|event| Arc::ptr_eq(event.context(), &self.context)),
            InvalidContext,
            "an event of the wait list belongs to another context"
        );
        Ok(())
    }

    /// Appends a command.
    ///
    /// # Errors
    /// If the allocation fails.
    pub(crate) fn submit(self: &Arc<Self>, command: CommandType, work: PendingCommand, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        work.accesses.iter().try_for_each(|used| used.buffer.store().check_acquired(command))?;
        work.allocate(self)?;
        work.record_graphics_writes();
        Ok(self.append(command, work, wait_list, Scope::Command))
    }

    fn append(self: &Arc<Self>, command: CommandType, work: PendingCommand, wait_list: &[Arc<Event>], scope: Scope) -> Arc<Event> {
        let is_barrier = !self.is_out_of_order() || matches!(scope, Scope::Barrier | Scope::FullBarrier);
        let follows_all = !self.is_out_of_order() || matches!(scope, Scope::Marker | Scope::FullBarrier);
        let watched: Vec<_> =
            if Options::get().is_checked() { work.accesses.iter().map(|used| used.buffer.clone()).collect() } else { Vec::new() };
        let event = Event::command(self, command, work, QueuePosition { number: 0, is_barrier, follows_all });
        watched.iter().for_each(|buffer| buffer.store().users.add(&event));
        let order = {
            let mut state = self.state.lock();
            let number = self.context.take_number();
            event.set_number(number);
            if command.has_results() {
                self.awaited.record_enqueued(number);
            }
            if self.is_out_of_order() {
                let order: Vec<_> = match scope {
                    Scope::Command | Scope::Barrier => state.barrier.iter().cloned().collect(),
                    Scope::Marker | Scope::FullBarrier => state.outstanding.values().cloned().collect(),
                };
                state.outstanding.insert(id(&event), event.clone());
                if matches!(scope, Scope::Barrier | Scope::FullBarrier) {
                    state.barrier = Some(event.clone());
                }
                order
            } else {
                state.last.replace(event.clone()).into_iter().collect()
            }
        };
        event.start(wait_list, &order);
        event
    }

    /// clEnqueueMarkerWithWaitList
    ///
    /// # Errors
    /// The errors of [`Self::check_wait_list`].
    pub fn marker(self: &Arc<Self>, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        let scope = if wait_list.is_empty() { Scope::Marker } else { Scope::Command };
        Ok(self.append(CommandType::Marker, PendingCommand::nop(), wait_list, scope))
    }

    /// clEnqueueBarrierWithWaitList
    ///
    /// # Errors
    /// The errors of [`Self::check_wait_list`].
    pub fn barrier(self: &Arc<Self>, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        let scope = if wait_list.is_empty() { Scope::FullBarrier } else { Scope::Barrier };
        Ok(self.append(CommandType::Barrier, PendingCommand::nop(), wait_list, scope))
    }

    /// Removes a finished command from the queue's records.
    pub(crate) fn remove_completed(&self, event: &Arc<Event>) {
        let mut removed = Vec::new();
        {
            let mut state = self.state.lock();
            if state.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, event)) {
                removed.extend(state.last.take());
            }
            if state.barrier.as_ref().is_some_and(|barrier| Arc::ptr_eq(barrier, event)) {
                removed.extend(state.barrier.take());
            }
            removed.extend(state.outstanding.remove(&id(event)));
            self.remove_reported_failures(&mut state);
        }
        drop(removed);
    }

    /// Records that a command of the queue failed. Returns the failure that now represents this one in the queue:
    /// `failure`, or an earlier failure ([`Failures::add`]).
    pub(crate) fn record_failure(&self, position: QueuePosition, failure: Arc<Failure>) -> Arc<Failure> {
        let mut state = self.state.lock();
        let failure = state.failures.add(position, failure);
        self.has_failures.store(true, Ordering::Release);
        failure
    }

    fn remove_reported_failures(&self, state: &mut QueueState) {
        if !state.failures.is_empty() && state.last.is_none() && state.outstanding.is_empty() {
            state.failures.remove_reported();
            self.has_failures.store(!state.failures.is_empty(), Ordering::Release);
        }
    }

    fn failures<R>(&self, query: impl FnOnce(&Failures) -> Option<R>) -> Option<R> {
        if self.has_failures.load(Ordering::Acquire) { query(&self.state.lock().failures) } else { None }
    }

    /// The failure of an earlier command in the queue that fails this command.
    pub(crate) fn failure(&self, position: QueuePosition) -> Option<Arc<Failure>> {
        self.failures(|failures| failures.failure_at(position))
    }

    /// Records that the application has observed the failures before a command.
    pub(crate) fn mark_reported(&self, position: QueuePosition, via: ReportedVia) {
        self.failures(|failures| {
            failures.mark_reported(self.context.next_number(), Some(position), via);
            Some(())
        });
    }

    /// clFlush
    pub fn flush(&self) {
        self.device.backend().flush();
    }

    /// clFinish
    ///
    /// # Errors
    /// If a command failed and the failure was not reported yet.
    pub fn finish(&self) -> Result<()> {
        lint::check_blocking_call();
        self.awaited.record_wait_for_all();
        self.drain();
        let failure = self.failures(|failures| {
            let failure = failures.not_fully_reported();
            failures.mark_reported(self.context.next_number(), None, ReportedVia::Queue);
            failure
        });
        match failure {
            Some(failure) => Err(error_of("an earlier command", &failure)),
            None => Ok(()),
        }
    }

    /// Ends a blocking call: waits for its command.
    ///
    /// # Errors
    /// If the command failed, or one of its dependencies or predecessors failed.
    pub fn block_on(&self, event: &Arc<Event>) -> Result<()> {
        lint::check_blocking_call();
        event.request_flush();
        event.wait();
        let (failure, waited) = match event.failure() {
            Some((failure, waited)) => (failure, waited),
            // An earlier command may have a failure that no call has returned.
            None => match self.failures(|failures| failures.not_returned(event.position())) {
                Some(failure) => (failure, false),
                None => return Ok(()),
            },
        };
        event.mark_reported(ReportedVia::Queue);
        // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the read and write operations are blocking and the
        // execution status of any of the events in event_wait_list is a negative integer value."
        ensure!(!waited, ExecStatusErrorForEventsInWaitList, "an event of the wait list failed: {failure}");
        // CL_OUT_OF_RESOURCES is only returned if the command itself failed. Programs free memory and repeat a call
        // that returned this error. The repeated call would succeed, but on the contents that an earlier failed command
        // left.
        let is_own = event.status() == failure.status();
        ensure!(is_own, ExecStatusErrorForEventsInWaitList, "an earlier command failed: {failure}");
        Err(error_of("the command", &failure))
    }
}

/// The error that a call returns for the failure of `command`.
fn error_of(command: &str, failure: &Failure) -> Error {
    let why = format!("{command} failed: {failure}").into();
    if failure.is_of_device() { Error::OutOfResources(why) } else { Error::ExecStatusErrorForEventsInWaitList(why) }
}
