//! Command buffers (cl_khr_command_buffer, OpenCL API 5.15): commands that are checked and captured once and run again and again.
//!
//! A command is made for the device when it is recorded: its arguments, memory and sizes are those of that moment. To enqueue the
//! buffer is one command with one event, whose work is a list that is shared by all runs. Devices run commands as if one after the other,
//! and a command can only wait for those that were recorded before it: the order of recording satisfies every synchronization point.
//!
//! Launches of a mutable command buffer may be changed ([`crate::mutable_dispatch`]): each is made anew, and what runs next is another list. Runs that are
//! under way keep theirs.

use std::sync::Arc;

use bitflags::bitflags;

use crate::backend::{Action, Command, HostSource, HostTarget};
use crate::command::{Access, CommandType, Operation, Use, Work};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result, ensure};
use crate::event::Event;
use crate::image::Image;
use crate::image_transfer::ImageBox;
use crate::kernel::Kernel;
use crate::launch::NdRange;
use crate::lock::{Guard, Mutex, Rank};
use crate::memory::Buffer;
use crate::mutable_dispatch::{Dispatch, DispatchAsserts, DispatchOptions, MutableCommand};
use crate::object::{HandleSlot, Object};
use crate::queue::{Queue, QueueProperties};
use crate::svm::SvmCopy;
use crate::transfer::RectArgs;

bitflags! {
    /// cl_command_buffer_flags_khr
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CommandBufferFlags: u64 {
        /// CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR: what is shared by the runs does not change, so that this costs nothing.
        const SIMULTANEOUS_USE = 1 << 0;
        /// CL_COMMAND_BUFFER_MUTABLE_KHR: launches may be changed.
        const MUTABLE = 1 << 1;
    }

    /// cl_device_command_buffer_capabilities_khr
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CommandBufferCapabilities: u64 {
        /// CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR
        const KERNEL_PRINTF = 1 << 0;
        /// CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR
        const SIMULTANEOUS_USE = 1 << 2;
    }
}

impl Device {
    /// CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR
    pub const fn command_buffer_capabilities(&self) -> CommandBufferCapabilities {
        CommandBufferCapabilities::all()
    }

    /// CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR: whatever queues have. None is required.
    pub fn command_buffer_queue_properties(&self) -> QueueProperties {
        self.queue_properties()
    }
}

/// CL_COMMAND_BUFFER_STATE_KHR
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandBufferState {
    /// Commands may be recorded.
    Recording,
    /// No more commands may be recorded, but there is one whose arguments have not all been set.
    Finalized,
    /// It may be enqueued.
    Executable,
}

/// How a command buffer is made: what its properties say.
#[derive(Clone, Debug, Default)]
pub struct CommandBufferOptions {
    /// CL_COMMAND_BUFFER_FLAGS_KHR
    pub flags: CommandBufferFlags,
    /// CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
    pub asserts: DispatchAsserts,
    /// The list as the application gave it.
    pub property_list: Option<Vec<u64>>,
}

/// A list that can be run.
#[derive(Clone, Debug)]
struct Executable {
    commands: Arc<[Arc<Action>]>,
    uses: Vec<Use>,
}

/// What a command does, made for the queue's device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// Nothing, for barriers and launches of no work-items.
    action: Option<Arc<Action>>,
    /// The memory that it uses.
    uses: Vec<Use>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// In order. `None` is a launch whose arguments have not all been set.
    steps: Vec<Option<Step>>,
    /// Launches that the application has a handle of, or whose arguments are to be set yet.
    pub(crate) dispatches: Vec<Dispatch>,
    /// Objects that live as long as the command buffer, as if the application held them.
    kernels: Vec<Arc<Kernel>>,
    /// The last synchronization point; they count from 1.
    last_point: u32,
    finalized: bool,
    executable: Option<Executable>,
}

impl State {
    /// What an enqueue runs, if everything is known.
    fn assemble(&self) -> Option<Executable> {
        let (mut commands, mut uses) = (Vec::with_capacity(self.steps.len()), Vec::new());
        for step in &self.steps {
            let step = step.as_ref()?;
            commands.extend(step.action.clone());
            for used in &step.uses {
                merge(&mut uses, used);
            }
        }
        Some(Executable { commands: commands.into(), uses })
    }

    /// Replaces steps by what they have become, and gives back what is no longer needed, to be dropped when nothing is locked.
    pub(crate) fn replace(&mut self, changed: Vec<(usize, Option<Step>)>) -> Replaced {
        let mut old = Vec::with_capacity(changed.len());
        for (index, new) in changed {
            if let Some(step) = self.steps.get_mut(index) {
                old.extend(std::mem::replace(step, new));
            }
        }
        let executable = self.assemble();
        Replaced { _steps: old, _executable: std::mem::replace(&mut self.executable, executable) }
    }
}

/// What an update has left of a command buffer's earlier content.
pub(crate) struct Replaced {
    _steps: Vec<Step>,
    _executable: Option<Executable>,
}

/// A command buffer.
#[derive(Debug)]
pub struct CommandBuffer {
    slot: HandleSlot,
    queue: Arc<Queue>,
    options: CommandBufferOptions,
    state: Mutex<State>,
}

impl Object for CommandBuffer {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }
}

/// A synchronization point (cl_sync_point_khr).
pub type SyncPoint = u32;

impl CommandBuffer {
    /// clCreateCommandBufferKHR
    pub fn new(queue: &Arc<Queue>, options: CommandBufferOptions) -> Arc<Self> {
        let state = Mutex::new(Rank::CommandBuffer, State::default());
        Arc::new(Self { slot: HandleSlot::default(), queue: queue.clone(), options, state })
    }

    /// The queue for which commands are recorded.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// CL_COMMAND_BUFFER_CONTEXT_KHR
    pub fn context(&self) -> &Arc<Context> {
        self.queue.context()
    }

    /// CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR
    pub fn property_list(&self) -> Option<&[u64]> {
        self.options.property_list.as_deref()
    }

    /// Whether its launches may be changed.
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

    /// What was recorded.
    pub(crate) fn lock(&self) -> Guard<'_, State> {
        self.state.lock()
    }

    /// Whether commands may be recorded, and these synchronization points be waited for.
    fn check(state: &State, points: &[SyncPoint]) -> Result<()> {
        // "CL_INVALID_OPERATION if command_buffer has been finalized."
        ensure!(!state.finalized, InvalidOperation, "the command buffer was finalized");
        // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR ... if synchronization-point objects in sync_point_wait_list are not valid synchronization-points."
        let known = 1..=state.last_point;
        ensure!(points.iter().all(|point| known.contains(point)), InvalidSyncPointWaitList, "{points:?} are not all of {known:?}");
        Ok(())
    }

    /// Makes a command for the queue's device.
    pub(crate) fn make(&self, work: Work) -> Result<Step> {
        let Work { operation, uses, host_written: _ } = work;
        // "CL_INVALID_OPERATION if ... command_queue does not support ... CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR".
        let enqueues = matches!(&operation, Operation::Launch(launch) if launch.family.is_some());
        ensure!(!enqueues, InvalidOperation, "a kernel that enqueues others cannot be recorded");
        let action = match operation.resolve(self.queue.device_index())? {
            Command::Once(action) => Some(Arc::new(action)),
            Command::Nop => None,
            Command::Replay(_) | Command::Host(_) => return Err(Error::InvalidOperation("the command cannot be recorded".into())),
        };
        Ok(Step { action, uses })
    }

    /// Records a command; the guard that is given back still holds it as the last.
    fn push(&self, step: Option<Step>) -> Result<(SyncPoint, Guard<'_, State>)> {
        let mut state = self.state.lock();
        Self::check(&state, &[])?;
        // "... giving a hard upper limit on the number of commands ..., at which point CL_OUT_OF_RESOURCES will be returned."
        let point = state.last_point.checked_add(1).ok_or_else(|| Error::OutOfResources("too many commands".into()))?;
        state.last_point = point;
        state.steps.push(step);
        Ok((point, state))
    }

    /// Records what a command does.
    fn record(&self, points: &[SyncPoint], make: impl FnOnce() -> Result<Work>) -> Result<SyncPoint> {
        Self::check(&self.state.lock(), points)?;
        let step = self.make(make()?)?;
        self.push(Some(step)).map(|(point, _)| point)
    }

    /// clCommandNDRangeKernelKHR. A handle is made if the application asks for one.
    ///
    /// # Errors
    /// Those of clEnqueueNDRangeKernel, and of recording.
    pub fn launch(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        range: &NdRange<'_>,
        points: &[SyncPoint],
        options: DispatchOptions,
    ) -> Result<(SyncPoint, Option<Arc<MutableCommand>>)> {
        Self::check(&self.state.lock(), points)?;
        options.check(self, range)?;
        // "CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the
        // properties parameter."
        let deferred = options.may_defer(self) && !kernel.is_complete();
        let step = if deferred {
            self.queue.check_launch(kernel, range)?;
            None
        } else {
            Some(self.make(self.queue.launch_work(kernel, range)?)?)
        };
        let own = (deferred || options.wants_handle).then(|| kernel.duplicate());
        let (point, mut state) = self.push(step)?;
        if state.kernels.iter().all(|other| !Arc::ptr_eq(other, kernel)) {
            state.kernels.push(kernel.clone());
        }
        let Some(own) = own else { return Ok((point, None)) };
        let index = state.steps.len() - 1;
        let command = MutableCommand::new(self, state.dispatches.len(), kernel, range.work_dim, options);
        state.dispatches.push(Dispatch::new(index, own, range, command.clone()));
        Ok((point, command.wants_handle().then_some(command)))
    }

    /// clCommandCopyBufferKHR
    ///
    /// # Errors
    /// Those of clEnqueueCopyBuffer, and of recording.
    pub fn copy(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, places: (u64, u64, u64), points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, || self.queue.copy_work(src, dst, places))
    }

    /// clCommandCopyBufferRectKHR
    ///
    /// # Errors
    /// Those of clEnqueueCopyBufferRect, and of recording.
    pub fn copy_rect(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, args: &RectArgs, points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, || self.queue.copy_rect_work(src, dst, args))
    }

    /// clCommandFillBufferKHR
    ///
    /// # Errors
    /// Those of clEnqueueFillBuffer, and of recording.
    pub fn fill(&self, buffer: &Arc<Buffer>, pattern: Vec<u8>, bytes: (u64, u64), points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, || self.queue.fill_work(buffer, pattern, bytes))
    }

    /// clCommandCopyImageKHR
    ///
    /// # Errors
    /// Those of clEnqueueCopyImage, and of recording.
    pub fn copy_image(
        &self,
        src: &Arc<Image>,
        dst: &Arc<Image>,
        boxes: ([u64; 3], [u64; 3], [u64; 3]),
        points: &[SyncPoint],
    ) -> Result<SyncPoint> {
        self.record(points, || self.queue.copy_image_work(src, dst, boxes))
    }

    /// clCommandCopyImageToBufferKHR
    ///
    /// # Errors
    /// Those of clEnqueueCopyImageToBuffer, and of recording.
    pub fn copy_image_to_buffer(
        &self,
        src: &Arc<Image>,
        dst: &Arc<Buffer>,
        area: ImageBox,
        offset: u64,
        points: &[SyncPoint],
    ) -> Result<SyncPoint> {
        self.record(points, || self.queue.copy_image_to_buffer_work(src, dst, area, offset))
    }

    /// clCommandCopyBufferToImageKHR
    ///
    /// # Errors
    /// Those of clEnqueueCopyBufferToImage, and of recording.
    pub fn copy_buffer_to_image(
        &self,
        src: &Arc<Buffer>,
        dst: &Arc<Image>,
        offset: u64,
        area: ImageBox,
        points: &[SyncPoint],
    ) -> Result<SyncPoint> {
        self.record(points, || self.queue.copy_buffer_to_image_work(src, dst, offset, area))
    }

    /// clCommandFillImageKHR: a fill for each row of a box that leaves gaps.
    ///
    /// # Errors
    /// Those of clEnqueueFillImage, and of recording.
    pub fn fill_image(&self, image: &Arc<Image>, color: &[u8], area: ImageBox, points: &[SyncPoint]) -> Result<SyncPoint> {
        Self::check(&self.state.lock(), points)?;
        let works = self.queue.fill_image_works(image, color, area)?;
        works.into_iter().try_fold(0, |_, work| self.record(points, || Ok(work)))
    }

    /// clCommandSVMMemcpyKHR. What memory of the host holds is read in each run.
    ///
    /// # Errors
    /// Those of clEnqueueSVMMemcpy, and of recording; and if neither end is shared memory.
    pub fn svm_copy(
        &self,
        copy: SvmCopy,
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        source: impl FnOnce(u64) -> Result<Arc<dyn HostSource>>,
        points: &[SyncPoint],
    ) -> Result<SyncPoint> {
        self.queue.check_svm(&[])?;
        self.record(points, || self.queue.svm_copy_work(copy, target, source))
    }

    /// clCommandSVMMemFillKHR
    ///
    /// # Errors
    /// Those of clEnqueueSVMMemFill, and of recording.
    pub fn svm_fill(
        &self,
        address: usize,
        (pattern, size): (Vec<u8>, u64),
        target: impl FnOnce(u64) -> Result<Arc<dyn HostTarget>>,
        points: &[SyncPoint],
    ) -> Result<SyncPoint> {
        self.queue.check_svm(&[])?;
        self.record(points, || self.queue.svm_fill_work(address, pattern, size, target))
    }

    /// clCommandBarrierWithWaitListKHR
    ///
    /// # Errors
    /// Those of recording.
    pub fn barrier(&self, points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, || Ok(Work::nop()))
    }

    /// clFinalizeCommandBufferKHR
    ///
    /// # Errors
    /// If it was called before.
    pub fn finalize(&self) -> Result<()> {
        let mut state = self.state.lock();
        // "CL_INVALID_OPERATION if command_buffer is not in the Recording state."
        ensure!(!state.finalized, InvalidOperation, "the command buffer was finalized before");
        state.finalized = true;
        state.executable = state.assemble();
        if !self.is_mutable() {
            state.steps = Vec::new();
        }
        Ok(())
    }

    /// clEnqueueCommandBufferKHR, to `queue` or its own.
    ///
    /// # Errors
    /// In the order of the specification.
    pub fn enqueue(&self, queue: Option<&Arc<Queue>>, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        // "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
        let executable = self.state.lock().executable.clone();
        let executable = executable
            .ok_or_else(|| Error::InvalidOperation("the command buffer was not finalized, or lacks arguments of a kernel".into()))?;
        let queue = queue.unwrap_or(&self.queue);
        // "CL_INVALID_DEVICE if any element of queues does not have the same device as the command-queue set on command_buffer creation ..."
        ensure!(Arc::ptr_eq(queue.device(), self.queue.device()), InvalidDevice, "the queue is one of {}", queue.device().name());
        // "CL_INVALID_CONTEXT if any element of queues does not have the same context ..."
        ensure!(Arc::ptr_eq(queue.context(), self.context()), InvalidContext, "the queue belongs to another context");
        queue.check_wait_list(wait_list)?;
        let Executable { commands, uses } = executable;
        let operation = if commands.is_empty() { Operation::Nop } else { Operation::Replay(commands) };
        queue.submit(CommandType::CommandBuffer, Work::new(operation, uses), wait_list)
    }
}

/// Adds a use to others: one for each buffer, of all bytes that any command needs. What is partly overwritten and partly read counts as written, so that
/// what another device has of it is brought over first.
fn merge(uses: &mut Vec<Use>, new: &Use) {
    match uses
        .iter_mut()
        .find(|old| Arc::ptr_eq(&old.buffer, &new.buffer) && old.image.as_ref().map(Arc::as_ptr) == new.image.as_ref().map(Arc::as_ptr))
    {
        Some(old) => {
            old.range = old.range.start.min(new.range.start)..old.range.end.max(new.range.end);
            if !(old.access == Access::Read && new.access == Access::Read) {
                old.access = Access::Write;
            }
        }
        None => uses.push(new.clone()),
    }
}
