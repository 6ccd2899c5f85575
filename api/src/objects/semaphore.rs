//! Semaphores (cl_khr_semaphore): commands signal them and other commands wait for them, repeatedly.
//!
//! Each wait for a binary semaphore is paired with a signal at enqueue: with the oldest enqueued signal that no wait
//! has taken. A wait is therefore a command with one more event in its wait list. A device that runs its commands in
//! order needs no host work between a signal and its wait. A second signal of a signalled semaphore has no effect, so
//! completed signals are removed when another signal is enqueued.
//!
//! A wait may be enqueued before its signal, unlike in Vulkan. A placeholder event then represents the signal
//! (`SemaphoreState::early`). The placeholder fails if the semaphore is destroyed before a signal is enqueued.
//!
//! A shared semaphore ([`crate::objects::external_semaphore`]) has its payload on the device: its waits and signals
//! are device commands, and this module does not order them.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::backend::{ExternalSemaphore, SharedPayload};
use crate::commands::command::{CommandType, Operation, PendingCommand};
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::objects::queue::Queue;
use crate::objects::semaphore_payload::DevicePayload;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{HandleSlot, Object};
use crate::types::status::Status;

/// CL_SEMAPHORE_TYPE_BINARY_KHR
pub const TYPE_BINARY: u32 = 1;

/// The properties of a new semaphore.
#[derive(Clone, Debug, Default)]
pub struct SemaphoreProperties {
    /// CL_SEMAPHORE_TYPE_KHR
    pub kind: Option<u64>,
    /// CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
    pub devices: Option<Vec<Arc<Device>>>,
    /// CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR
    pub exports: Option<Vec<u64>>,
    /// The type and file descriptor of a semaphore to import.
    pub import: Option<(ExternalSemaphore, i32)>,
    /// The original properties with the terminating zero.
    pub list: Vec<u64>,
}

#[derive(Debug, Default)]
struct SemaphoreState {
    /// Signals without an enqueued wait, oldest first.
    signals: VecDeque<Arc<Event>>,
    /// The placeholder events of waits that were enqueued before their signals.
    early: VecDeque<Arc<Event>>,
    /// Signals paired with their waits, until the waits are complete.
    taken: Vec<(Arc<Event>, Arc<Event>)>,
}

#[derive(Debug)]
pub struct Semaphore {
    slot: HandleSlot,
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    property_list: Vec<u64>,
    /// The payload of a shared semaphore.
    shared: Option<DevicePayload>,
    state: Mutex<SemaphoreState>,
}

impl Object for Semaphore {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context.listener()
    }
}

impl Semaphore {
    /// clCreateSemaphoreWithPropertiesKHR
    ///
    /// # Errors
    /// Fails if the type is missing or unknown, or if the semaphore is not for exactly one device of the context.
    pub fn new(context: &Arc<Context>, properties: SemaphoreProperties) -> Result<Arc<Self>> {
        // "CL_INVALID_VALUE ... if sema_props do not specify <property, value> pairs for minimum set of properties
        // (i.e. CL_SEMAPHORE_TYPE_KHR)".
        let kind = properties.kind.ok_or_else(|| Error::InvalidValue("the property CL_SEMAPHORE_TYPE_KHR is missing".into()))?;
        ensure!(kind == u64::from(TYPE_BINARY), InvalidProperty, "semaphore type {kind:#x} is unknown");
        let devices = match properties.devices {
            Some(devices) => {
                // "CL_INVALID_DEVICE if CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR ... does not identify exactly one valid
                // device; or if a device ... is not one of the devices within context."
                ensure!(devices.len() == 1, InvalidDevice, "{} devices are given; expected one", devices.len());
                ensure!(
                    devices.iter().all(|d| context.device_index(d).is_some()),
                    InvalidDevice,
                    "the device does not belong to the context"
                );
                devices
            }
            // "CL_INVALID_PROPERTY ... if context is a multiple device context and sema_props does not specify
            // CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR."
            None => {
                ensure!(
                    context.devices().len() == 1,
                    InvalidProperty,
                    "the context has several devices: CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR is required"
                );
                context.devices().to_vec()
            }
        };
        let shared = match devices.first() {
            Some(device) => DevicePayload::new(device, properties.exports.as_deref(), properties.import)?,
            None => None,
        };
        Ok(Arc::new(Self {
            slot: HandleSlot::default(),
            context: context.clone(),
            devices,
            property_list: properties.list,
            shared,
            state: Mutex::new(Rank::Semaphore, SemaphoreState::default()),
        }))
    }

    /// CL_SEMAPHORE_CONTEXT_KHR
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// CL_SEMAPHORE_PROPERTIES_KHR
    pub fn property_list(&self) -> &[u64] {
        &self.property_list
    }

    /// The shared payload, if there is one.
    pub(crate) fn shared(&self) -> Option<&DevicePayload> {
        self.shared.as_ref()
    }

    /// CL_SEMAPHORE_PAYLOAD_KHR: whether the semaphore is signalled, from the end of a signal to the end of its wait.
    /// For a shared semaphore, only OpenCL commands are considered.
    pub fn is_signalled(&self) -> bool {
        if let Some(shared) = &self.shared {
            return shared.is_signalled();
        }
        let is_complete = |event: &Arc<Event>| event.observe() == Status::COMPLETE;
        let (signals, taken) = {
            let state = self.state.lock();
            (state.signals.iter().cloned().collect::<Vec<_>>(), state.taken.clone())
        };
        signals.iter().any(is_complete) || taken.iter().any(|(signal, wait)| is_complete(signal) && !wait.observe().is_done())
    }

    /// Removes and returns the oldest signal without a wait. If there is none, returns a placeholder for a later
    /// signal.
    fn take_signal(&self) -> Arc<Event> {
        let mut state = self.state.lock();
        if let Some(signal) = state.signals.pop_front() {
            return signal;
        }
        let early = Event::user(&self.context);
        state.early.push_back(early.clone());
        early
    }

    /// Records that a wait for a signal was enqueued.
    fn record_wait(&self, signal: Arc<Event>, wait: Arc<Event>) {
        let mut state = self.state.lock();
        let (done, pending) = state.taken.drain(..).partition::<Vec<_>, _>(|(_, wait)| wait.status().is_done());
        state.taken.extend(pending.into_iter().chain([(signal, wait)]));
        drop(state);
        drop(done);
    }

    /// Records that a signal was enqueued.
    fn record_signal(&self, signal: &Arc<Event>) {
        let mut completed = Vec::new();
        let early = {
            let mut state = self.state.lock();
            let early = state.early.pop_front();
            if early.is_none() {
                // A second signal of a signalled semaphore has no effect, so completed signals are removed.
                let (done, pending) = state.signals.drain(..).partition::<Vec<_>, _>(|event| event.status() == Status::COMPLETE);
                completed = done;
                state.signals.extend(pending);
                state.signals.push_back(signal.clone());
            }
            early
        };
        drop(completed);
        if let Some(early) = early {
            let signal_event = move |_: &Arc<Event>, status: Status| {
                // Only this callback sets the status of `early`, so the call does not fail.
                let _ = early.set_user_status(if status.is_failed() { Status::DEPENDENCY_FAILED } else { Status::COMPLETE });
            };
            signal.on_status(Status::COMPLETE, Box::new(signal_event));
        }
    }
}

/// Creates the command for the shared semaphores of a list. The command has no work if there are none.
fn shared_operation(semaphores: &[&Arc<Semaphore>], operation: impl FnOnce(Vec<Arc<dyn SharedPayload>>) -> Operation) -> PendingCommand {
    let payloads: Vec<_> = semaphores.iter().filter_map(|semaphore| Some(semaphore.shared()?.payload().clone())).collect();
    if payloads.is_empty() { PendingCommand::nop() } else { PendingCommand::new(operation(payloads), Vec::new()) }
}

impl Queue {
    /// clEnqueueWaitSemaphoresKHR
    ///
    /// # Errors
    /// Fails if there are no semaphores, if one belongs to another context or device, or if an event has failed.
    pub fn wait_semaphores(self: &Arc<Self>, semaphores: &[Arc<Semaphore>], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_semaphores(semaphores, wait_list)?;
        let (shared, own): (Vec<_>, Vec<_>) = semaphores.iter().partition(|semaphore| semaphore.shared.is_some());
        let signals: Vec<_> = own.iter().map(|semaphore| semaphore.take_signal()).collect();
        let all: Vec<_> = wait_list.iter().chain(&signals).cloned().collect();
        let event = self.submit(CommandType::SemaphoreWait, shared_operation(&shared, Operation::Wait), &all)?;
        for (semaphore, signal) in own.iter().zip(signals) {
            semaphore.record_wait(signal, event.clone());
        }
        shared.iter().filter_map(|semaphore| semaphore.shared()).for_each(DevicePayload::record_wait);
        Ok(event)
    }

    /// clEnqueueSignalSemaphoresKHR
    ///
    /// # Errors
    /// The errors of [`Self::wait_semaphores`].
    pub fn signal_semaphores(self: &Arc<Self>, semaphores: &[Arc<Semaphore>], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.check_semaphores(semaphores, wait_list)?;
        let (shared, own): (Vec<_>, Vec<_>) = semaphores.iter().partition(|semaphore| semaphore.shared.is_some());
        let event = self.submit(CommandType::SemaphoreSignal, shared_operation(&shared, Operation::Signal), wait_list)?;
        own.iter().for_each(|semaphore| semaphore.record_signal(&event));
        shared.iter().filter_map(|semaphore| semaphore.shared()).for_each(|shared| shared.record_signal(&event));
        Ok(event)
    }

    fn check_semaphores(&self, semaphores: &[Arc<Semaphore>], wait_list: &[Arc<Event>]) -> Result<()> {
        ensure!(!semaphores.is_empty(), InvalidValue, "the number of semaphores is 0");
        for semaphore in semaphores {
            // "CL_INVALID_COMMAND_QUEUE ... if one or more of sema_objects belong to a context that does not contain
            // a device associated with command_queue."
            let has_device = semaphore.context.device_index(self.device()).is_some();
            ensure!(has_device, InvalidCommandQueue, "the queue's device does not belong to the context of a semaphore");
            ensure!(Arc::ptr_eq(&semaphore.context, self.context()), InvalidContext, "a semaphore belongs to another context");
            let supports_device = semaphore.devices.iter().any(|device| Arc::ptr_eq(device, self.device()));
            ensure!(supports_device, InvalidCommandQueue, "a semaphore is not associated with the device of the queue");
        }
        self.check_wait_list(wait_list)?;
        // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in
        // event_wait_list is a negative integer value."
        let failed = wait_list.iter().any(|event| event.status().is_failed());
        ensure!(!failed, ExecStatusErrorForEventsInWaitList, "an event of the wait list has failed");
        Ok(())
    }
}
