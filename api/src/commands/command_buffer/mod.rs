//! Command buffers (cl_khr_command_buffer, OpenCL API 5.15): commands that are checked and captured once, and run
//! many times.
//!
//! A command is compiled for its device when it is recorded, with the arguments, memory and sizes of that moment. An
//! enqueue of a command buffer is one command with one event. All enqueues share the buffer's list of actions. Devices
//! run commands as if in sequence, and a command can only wait for those that were recorded before it. The recording
//! order therefore satisfies every synchronisation point. Some buffers use several queues, or have kernels that enqueue
//! kernels. An enqueue of such a buffer is one command for each of its
//! [segments](mod@crate::commands::command_buffer::partition), and one more that waits for all of them.
//!
//! Launches of a mutable command buffer may be updated ([`crate::commands::command_buffer::mutable_dispatch`]): each
//! update replaces the launch, and the next run uses a new list. Active runs keep the old list.

pub mod mutable_dispatch;
mod partition;
pub mod record;

use std::sync::Arc;

use bitflags::bitflags;

use crate::backend::{Command, HostSource, HostTarget};
use crate::commands::command::{CommandType, Operation, PendingCommand};
use crate::commands::command_buffer::mutable_dispatch::{Dispatch, DispatchAsserts, DispatchOptions, MutableCommand};
use crate::commands::command_buffer::partition::{QueueSegment, partition};
use crate::commands::command_buffer::record::{RecordAt, RecordPosition, RecordedCommand, SyncPoint};
use crate::commands::image_transfer::ImageBox;
use crate::commands::svm_types::SvmCopy;
use crate::commands::transfer::RectArgs;
use crate::image::Image;
use crate::image::extent::Origin;
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::objects::kernel::Kernel;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::flags::QueueProperties;
use crate::types::lock::{Guard, Mutex, Rank};
use crate::types::nd_range::NdRange;
use crate::types::object::{HandleSlot, Object};

bitflags! {
    /// cl_command_buffer_flags_khr
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CommandBufferFlags: u64 {
        /// CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR: the runs share only immutable data, so the flag changes nothing.
        const SIMULTANEOUS_USE = 1 << 0;
        /// CL_COMMAND_BUFFER_MUTABLE_KHR: launches may be changed.
        const MUTABLE = 1 << 1;
        /// CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR: commands wait only for commands of the same device, or of a
        /// sub-device of the same parent.
        const DEVICE_SIDE_SYNC = 1 << 2;
    }

    /// cl_device_command_buffer_capabilities_khr
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CommandBufferCapabilities: u64 {
        /// CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR
        const KERNEL_PRINTF = 1 << 0;
        /// CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR
        const DEVICE_SIDE_ENQUEUE = 1 << 1;
        /// CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR
        const SIMULTANEOUS_USE = 1 << 2;
        /// CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR
        const MULTIPLE_QUEUE = 1 << 4;
    }

    /// cl_platform_command_buffer_capabilities_khr
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PlatformCommandBufferCapabilities: u64 {
        /// CL_COMMAND_BUFFER_PLATFORM_UNIVERSAL_SYNC_KHR: commands can wait for commands of any other device, through
        /// the host if necessary.
        const UNIVERSAL_SYNC = 1 << 0;
    }
}

impl Device {
    /// CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR
    pub fn command_buffer_capabilities(&self) -> CommandBufferCapabilities {
        let mut all = CommandBufferCapabilities::all();
        all.set(CommandBufferCapabilities::DEVICE_SIDE_ENQUEUE, self.has_device_queues());
        all
    }

    /// CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR: all queue properties of the device.
    pub fn command_buffer_queue_properties(&self) -> QueueProperties {
        self.queue_properties()
    }
}

/// CL_COMMAND_BUFFER_STATE_KHR
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandBufferState {
    /// Commands may be recorded.
    Recording,
    /// The buffer is finalised, but a command lacks arguments.
    Finalized,
    /// The buffer may be enqueued.
    Executable,
}

/// The properties of a command buffer.
#[derive(Clone, Debug, Default)]
pub struct CommandBufferOptions {
    /// CL_COMMAND_BUFFER_FLAGS_KHR
    pub flags: CommandBufferFlags,
    /// CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
    pub asserts: DispatchAsserts,
    /// The original list.
    pub property_list: Option<Vec<u64>>,
}

#[derive(Debug, Default)]
pub(crate) struct RecordState {
    /// The recorded commands (*steps*), in the order of recording. `None` is a launch that lacks arguments.
    commands: Vec<Option<RecordedCommand>>,
    /// The queue and the dependencies of each step.
    positions: Vec<RecordPosition>,
    /// Launches with a handle, and launches whose arguments are not set yet.
    pub(crate) dispatches: Vec<Dispatch>,
    /// Objects that live as long as the command buffer, as if the application retained them.
    kernels: Vec<Arc<Kernel>>,
    /// The last synchronisation point. Synchronisation points count from 1; 0 means that there is none yet.
    last_point: u32,
    finalized: bool,
    executable: Option<Arc<[QueueSegment]>>,
}

impl RecordState {
    /// Partitions the steps into the segments that an enqueue runs. Returns `None` while the launch of a step lacks
    /// arguments.
    fn assemble(&self) -> Option<Arc<[QueueSegment]>> {
        let commands = self.commands.iter().map(Option::as_ref).collect::<Option<Vec<_>>>()?;
        Some(partition(&self.positions, &commands).into())
    }

    /// Returns the segments that an enqueue runs. Fails if the buffer is not finalised or a kernel lacks arguments.
    fn executable(&self) -> Result<Arc<[QueueSegment]>> {
        ensure!(self.finalized, InvalidOperation, "the command buffer is not finalised");
        let reason = || match self.first_incomplete_kernel() {
            Some(kernel) => format!("kernel `{kernel}` of the command buffer lacks arguments"),
            None => "a kernel of the command buffer lacks arguments".to_owned(),
        };
        self.executable.clone().ok_or_else(|| Error::InvalidOperation(reason().into()))
    }

    /// The name of the first kernel whose launch lacks arguments, or `None` if all launches are complete.
    fn first_incomplete_kernel(&self) -> Option<&str> {
        let lacks_arguments = |dispatch: &&Dispatch| self.commands.get(dispatch.step_index()).is_some_and(Option::is_none);
        self.dispatches.iter().find(lacks_arguments).map(|dispatch| &**dispatch.kernel().name())
    }

    /// Replaces steps by their updates. Returns the old content, which the caller drops after it has released the lock.
    pub(crate) fn replace(&mut self, changed: Vec<(usize, Option<RecordedCommand>)>) -> Replaced {
        let mut old = Vec::with_capacity(changed.len());
        for (index, new) in changed {
            if let Some(command) = self.commands.get_mut(index) {
                old.extend(std::mem::replace(command, new));
            }
        }
        let executable = self.assemble();
        Replaced { _steps: old, _executable: std::mem::replace(&mut self.executable, executable) }
    }
}

/// The earlier content of a command buffer, which an update replaced.
pub(crate) struct Replaced {
    _steps: Vec<RecordedCommand>,
    _executable: Option<Arc<[QueueSegment]>>,
}

/// A command buffer.
#[derive(Debug)]
pub struct CommandBuffer {
    slot: HandleSlot,
    /// The queues: at least one, all of one context.
    queues: Vec<Arc<Queue>>,
    options: CommandBufferOptions,
    state: Mutex<RecordState>,
}

impl Object for CommandBuffer {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context().listener()
    }
}

impl CommandBuffer {
    /// clCreateCommandBufferKHR
    ///
    /// # Errors
    /// If there are no queues, if one is an on-device queue, or if they belong to several contexts. Also fails if the
    /// devices of the queues can synchronise only through the host, and the flags exclude this.
    pub fn new(queues: &[Arc<Queue>], options: CommandBufferOptions) -> Result<Arc<Self>> {
        let first = queues.first().ok_or_else(|| Error::InvalidValue("the list of queues is empty".into()))?;
        queues.iter().try_for_each(|queue| queue.check_host())?;
        let one_context = queues.iter().all(|queue| Arc::ptr_eq(queue.context(), first.context()));
        ensure!(one_context, InvalidContext, "the queues belong to several contexts");
        // "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR if the CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR flag is set, and any device
        // associated with a command-queue in queues cannot natively synchronize with the other devices". Devices that
        // share memory can.
        let natively = queues.iter().all(|queue| queue.device().shares_memory(first.device()));
        let on_device = options.flags.contains(CommandBufferFlags::DEVICE_SIDE_SYNC);
        ensure!(
            natively || !on_device,
            IncompatibleCommandQueue,
            "CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR is set, but the devices of the queues can only synchronise through the host"
        );
        let state = Mutex::new(Rank::CommandBuffer, RecordState::default());
        Ok(Arc::new(Self { slot: HandleSlot::default(), queues: queues.to_vec(), options, state }))
    }

    /// CL_COMMAND_BUFFER_QUEUES_KHR: the queues for which commands are recorded.
    pub fn queues(&self) -> &[Arc<Queue>] {
        &self.queues
    }

    /// Returns the index of a queue in the command buffer. `None` means the only queue.
    ///
    /// # Errors
    /// If the queue does not belong to the buffer, or if `queue` is `None` and the buffer has several queues.
    pub fn queue_index(&self, queue: Option<&Arc<Queue>>) -> Result<usize> {
        // "CL_INVALID_COMMAND_QUEUE if ... either command_queue is NULL and command_buffer was created with more than
        // one queue, or command_queue is not NULL and not a command-queue listed on command_buffer creation."
        // "CL_INVALID_CONTEXT if command_queue is not NULL, and the context associated with command_queue and
        // command_buffer is not the same."
        let Some(queue) = queue else {
            ensure!(
                self.queues.len() == 1,
                InvalidCommandQueue,
                "the command buffer has {} queues, and none is specified",
                self.queues.len()
            );
            return Ok(0);
        };
        ensure!(Arc::ptr_eq(queue.context(), self.context()), InvalidContext, "the queue belongs to another context");
        let position = self.queues.iter().position(|own| Arc::ptr_eq(own, queue));
        position.ok_or_else(|| Error::InvalidCommandQueue("the command buffer was not created with this queue".into()))
    }

    /// A queue by its index.
    pub(crate) fn queue(&self, index: usize) -> Result<&Arc<Queue>> {
        self.queues
            .get(index)
            .ok_or_else(|| Error::InvalidCommandQueue(format!("the command buffer has no queue with index {index}").into()))
    }

    /// CL_COMMAND_BUFFER_CONTEXT_KHR
    pub fn context(&self) -> &Arc<Context> {
        // `Self::new` rejects an empty list of queues.
        self.queues[0].context()
    }

    /// CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR
    pub fn property_list(&self) -> Option<&[u64]> {
        self.options.property_list.as_deref()
    }

    /// Whether the launches of the command buffer may be changed.
    pub fn is_mutable(&self) -> bool {
        self.options.flags.contains(CommandBufferFlags::MUTABLE)
    }

    /// CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
    pub(crate) fn asserts(&self) -> DispatchAsserts {
        self.options.asserts
    }

    /// CL_COMMAND_BUFFER_STATE_KHR
    pub fn state(&self) -> CommandBufferState {
        let state = self.state.lock();
        match (state.finalized, &state.executable) {
            (false, _) => CommandBufferState::Recording,
            (true, None) => CommandBufferState::Finalized,
            (true, Some(_)) => CommandBufferState::Executable,
        }
    }

    /// Locks the recorded state.
    pub(crate) fn lock(&self) -> Guard<'_, RecordState> {
        self.state.lock()
    }

    /// Checks that commands may be recorded, and that these synchronisation points are valid.
    fn check(state: &RecordState, points: &[SyncPoint]) -> Result<()> {
        // "CL_INVALID_OPERATION if command_buffer has been finalized."
        ensure!(!state.finalized, InvalidOperation, "the command buffer is already finalised");
        // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR ... if synchronization-point objects in sync_point_wait_list are not
        // valid synchronization-points."
        let valid = 1..=state.last_point;
        ensure!(
            points.iter().all(|point| valid.contains(point)),
            InvalidSyncPointWaitList,
            "sync point wait list {points:?}: valid sync points are {valid:?}"
        );
        Ok(())
    }

    /// Creates a command for the device of a queue.
    pub(crate) fn compile(queue: &Arc<Queue>, work: PendingCommand) -> Result<RecordedCommand> {
        let PendingCommand { mut operation, accesses, host_written: _, is_blocking: _, capture: _ } = work;
        let enqueues_from = if let Operation::Launch(launch) = &mut operation { launch.enqueues_from.take() } else { None };
        let action = match operation.resolve(queue.device_index())? {
            Command::Once(action) => Some(Arc::new(action)),
            Command::Nop => None,
            Command::Replay(_) | Command::Host(_) | Command::Wait(_) | Command::Signal(_) => {
                return Err(Error::InvalidOperation("the command cannot be recorded".into()));
            }
        };
        Ok(RecordedCommand { action, enqueues_from, accesses })
    }

    /// Records a command. While the caller holds the returned guard, the command is the last one.
    fn push(&self, position: RecordPosition, command: Option<RecordedCommand>) -> Result<(SyncPoint, Guard<'_, RecordState>)> {
        let mut state = self.state.lock();
        Self::check(&state, &[])?;
        // Each command has its own synchronisation point, a 32-bit number. If no number is left, the specification
        // requires CL_OUT_OF_RESOURCES.
        let point = state.last_point.checked_add(1).ok_or_else(|| Error::OutOfResources("too many commands".into()))?;
        state.last_point = point;
        state.commands.push(command);
        state.positions.push(position);
        Ok((point, state))
    }

    /// Records a command.
    fn record(&self, at: &RecordAt<'_>, prepare: impl FnOnce(&Arc<Queue>) -> Result<PendingCommand>) -> Result<SyncPoint> {
        Self::check(&self.state.lock(), at.points)?;
        let queue = self.queue(at.queue)?;
        let command = Self::compile(queue, prepare(queue)?)?;
        self.push(RecordPosition::of(at), Some(command)).map(|(point, _)| point)
    }

    /// clCommandNDRangeKernelKHR. The handle is created if the application requests it.
    ///
    /// # Errors
    /// The errors of clEnqueueNDRangeKernel and of recording.
    pub fn launch(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        range: &NdRange<'_>,
        at: &RecordAt<'_>,
        options: DispatchOptions,
    ) -> Result<(SyncPoint, Option<Arc<MutableCommand>>)> {
        Self::check(&self.state.lock(), at.points)?;
        let queue = self.queue(at.queue)?;
        options.check(self, range)?;
        // "CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the
        // CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the properties parameter."
        let deferred = options.may_defer(self) && !kernel.is_complete();
        let command = if deferred {
            queue.check_launch(kernel, range)?;
            None
        } else {
            Some(Self::compile(queue, queue.launch_command(kernel, range)?)?)
        };
        let copy = (deferred || options.wants_handle).then(|| kernel.duplicate());
        let (point, mut state) = self.push(RecordPosition::of(at), command)?;
        if state.kernels.iter().all(|other| !Arc::ptr_eq(other, kernel)) {
            state.kernels.push(kernel.clone());
        }
        let Some(copy) = copy else { return Ok((point, None)) };
        let index = state.commands.len() - 1;
        let command = MutableCommand::new(self, (at.queue, state.dispatches.len()), kernel, range.work_dim, options);
        state.dispatches.push(Dispatch::new(index, copy, range, command.clone()));
        Ok((point, command.wants_handle().then_some(command)))
    }

    /// clCommandCopyBufferKHR
    ///
    /// # Errors
    /// The errors of clEnqueueCopyBuffer and of recording.
    pub fn copy(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, offsets: (u64, u64, u64), at: &RecordAt<'_>) -> Result<SyncPoint> {
        self.record(at, |queue| queue.copy_command(src, dst, offsets))
    }

    /// clCommandCopyBufferRectKHR
    ///
    /// # Errors
    /// The errors of clEnqueueCopyBufferRect and of recording.
    pub fn copy_rect(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, args: &RectArgs, at: &RecordAt<'_>) -> Result<SyncPoint> {
        self.record(at, |queue| queue.copy_rect_command(src, dst, args))
    }

    /// clCommandFillBufferKHR
    ///
    /// # Errors
    /// The errors of clEnqueueFillBuffer and of recording.
    pub fn fill(&self, buffer: &Arc<Buffer>, pattern: Vec<u8>, bytes: (u64, u64), at: &RecordAt<'_>) -> Result<SyncPoint> {
        self.record(at, |queue| queue.fill_command(buffer, pattern, bytes))
    }

    /// clCommandCopyImageKHR
    ///
    /// # Errors
    /// The errors of clEnqueueCopyImage and of recording.
    pub fn copy_image(
        &self,
        src: &Arc<Image>,
        dst: &Arc<Image>,
        boxes: (Origin, Origin, [u64; 3]),
        at: &RecordAt<'_>,
    ) -> Result<SyncPoint> {
        self.record(at, |queue| queue.copy_image_command(src, dst, boxes))
    }

    /// clCommandCopyImageToBufferKHR
    ///
    /// # Errors
    /// The errors of clEnqueueCopyImageToBuffer and of recording.
    pub fn copy_image_to_buffer(
        &self,
        src: &Arc<Image>,
        dst: &Arc<Buffer>,
        area: ImageBox,
        offset: u64,
        at: &RecordAt<'_>,
    ) -> Result<SyncPoint> {
        self.record(at, |queue| queue.copy_image_to_buffer_command(src, dst, area, offset))
    }

    /// clCommandCopyBufferToImageKHR
    ///
    /// # Errors
    /// The errors of clEnqueueCopyBufferToImage and of recording.
    pub fn copy_buffer_to_image(
        &self,
        src: &Arc<Buffer>,
        dst: &Arc<Image>,
        offset: u64,
        area: ImageBox,
        at: &RecordAt<'_>,
    ) -> Result<SyncPoint> {
        self.record(at, |queue| queue.copy_buffer_to_image_command(src, dst, offset, area))
    }

    /// clCommandFillImageKHR. If the rows of the box are not contiguous, records one fill per row.
    ///
    /// # Errors
    /// The errors of clEnqueueFillImage and of recording.
    pub fn fill_image(&self, image: &Arc<Image>, color: &[u8], area: ImageBox, at: &RecordAt<'_>) -> Result<SyncPoint> {
        Self::check(&self.state.lock(), at.points)?;
        let works = self.queue(at.queue)?.fill_image_commands(image, color, area)?;
        works.into_iter().try_fold(0, |_, work| self.record(at, |_| Ok(work)))
    }

    /// clCommandSVMMemcpyKHR. Each run reads the host memory anew.
    ///
    /// # Errors
    /// The errors of clEnqueueSVMMemcpy and of recording. Also fails if neither pointer is in shared virtual memory.
    pub fn svm_copy(
        &self,
        copy: SvmCopy,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
        at: &RecordAt<'_>,
    ) -> Result<SyncPoint> {
        self.queue(at.queue)?.check_svm(&[])?;
        self.record(at, |queue| queue.svm_copy_command(copy, target, source))
    }

    /// clCommandSVMMemFillKHR
    ///
    /// # Errors
    /// The errors of clEnqueueSVMMemFill and of recording.
    pub fn svm_fill(
        &self,
        address: usize,
        (pattern, size): (Vec<u8>, u64),
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        at: &RecordAt<'_>,
    ) -> Result<SyncPoint> {
        self.queue(at.queue)?.check_svm(&[])?;
        self.record(at, |queue| queue.svm_fill_command(address, pattern, size, target))
    }

    /// clCommandBarrierWithWaitListKHR
    ///
    /// # Errors
    /// The errors of recording.
    pub fn barrier(&self, at: &RecordAt<'_>) -> Result<SyncPoint> {
        Self::check(&self.state.lock(), at.points)?;
        self.push(RecordPosition::barrier(at), Some(RecordedCommand::default())).map(|(point, _)| point)
    }

    /// clFinalizeCommandBufferKHR
    ///
    /// # Errors
    /// If the command buffer is already finalised.
    pub fn finalize(&self) -> Result<()> {
        let mut state = self.state.lock();
        // "CL_INVALID_OPERATION if command_buffer is not in the Recording state."
        ensure!(!state.finalized, InvalidOperation, "the command buffer is already finalised");
        state.finalized = true;
        state.executable = state.assemble();
        if !self.is_mutable() {
            (state.commands, state.positions) = (Vec::new(), Vec::new());
        }
        Ok(())
    }

    /// clEnqueueCommandBufferKHR. Uses the queues of the command buffer if `queues` is empty.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn enqueue(&self, queues: &[Arc<Queue>], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        // "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
        let segments = self.state.lock().executable()?;
        // "CL_INVALID_VALUE ... if num_queues is > 0 and not the same value as num_queues set on command_buffer
        // creation."
        let fits = queues.is_empty() || queues.len() == self.queues.len();
        ensure!(fits, InvalidValue, "{} queues are given; the command buffer was created with {}", queues.len(), self.queues.len());
        for (queue, own) in queues.iter().zip(&self.queues) {
            // "CL_INVALID_DEVICE if any element of queues does not have the same device as the command-queue set on
            // command_buffer creation at the same list index."
            ensure!(
                Arc::ptr_eq(queue.device(), own.device()),
                InvalidDevice,
                "the queue of device {} replaces a queue of another device",
                queue.device().name()
            );
            // "CL_INVALID_CONTEXT if any element of queues does not have the same context ..."
            ensure!(Arc::ptr_eq(queue.context(), self.context()), InvalidContext, "a queue belongs to another context");
        }
        let queues = if queues.is_empty() { &self.queues } else { queues };
        queues.iter().try_for_each(|queue| queue.check_wait_list(wait_list))?;
        match (queues, &*segments) {
            ([queue], []) => queue.submit(CommandType::CommandBuffer, PendingCommand::nop(), wait_list),
            ([queue], [segment]) => queue.submit(CommandType::CommandBuffer, segment.work(), wait_list),
            _ => enqueue_segments(queues, &segments, wait_list),
        }
    }
}

/// Enqueues segments on their queues, and on the first queue a command that waits for all segments.
fn enqueue_segments(queues: &[Arc<Queue>], segments: &[QueueSegment], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
    let parts: Vec<_> = segments.iter().filter_map(|segment| Some((segment, queues.get(segment.queue)?, segment.work()))).collect();
    // Allocate the memory of all segments before the first one is enqueued.
    parts.iter().try_for_each(|(_, queue, work)| work.allocate(queue))?;
    let mut events: Vec<Arc<Event>> = Vec::with_capacity(parts.len());
    for (segment, queue, work) in parts {
        let before = segment.wait_for.iter().filter_map(|&index| events.get(index));
        let waits: Vec<_> = wait_list.iter().chain(before).cloned().collect();
        events.push(queue.submit(CommandType::CommandBuffer, work, &waits)?);
    }
    let waits: Vec<_> = wait_list.iter().chain(&events).cloned().collect();
    let first = queues.first().ok_or_else(|| Error::InvalidValue("the list of queues is empty".into()))?;
    let event = first.submit(CommandType::CommandBuffer, PendingCommand::nop(), &waits)?;
    event.set_segment_events(events);
    Ok(event)
}
