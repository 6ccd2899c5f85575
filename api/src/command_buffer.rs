//! Command buffers (cl_khr_command_buffer, OpenCL API 5.15): commands that are checked and captured once and run again and again.
//!
//! A command is made for the device when it is recorded: its arguments, memory and sizes are those of that moment. To enqueue the
//! buffer is one command with one event, whose work is a list that is shared by all runs. Devices run commands as if one after the other,
//! and a command can only wait for those that were recorded before it: the order of recording satisfies every synchronization point.

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
use crate::lock::{Mutex, Rank};
use crate::memory::Buffer;
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

/// A list that can be run.
#[derive(Clone, Debug)]
struct Executable {
    commands: Arc<[Action]>,
    uses: Vec<Use>,
}

#[derive(Debug, Default)]
struct State {
    /// Those that do something.
    recorded: Vec<Action>,
    /// What they use, each store's bytes once.
    uses: Vec<Use>,
    /// Objects that live as long as the command buffer, as if the application held them.
    kernels: Vec<Arc<Kernel>>,
    /// The last synchronization point; they count from 1.
    last_point: u32,
    executable: Option<Executable>,
}

/// A command buffer.
#[derive(Debug)]
pub struct CommandBuffer {
    slot: HandleSlot,
    queue: Arc<Queue>,
    property_list: Option<Vec<u64>>,
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
    /// clCreateCommandBufferKHR. `property_list` is the list as the application gave it.
    pub fn new(queue: &Arc<Queue>, property_list: Option<Vec<u64>>) -> Arc<Self> {
        let state = Mutex::new(Rank::CommandBuffer, State::default());
        Arc::new(Self { slot: HandleSlot::default(), queue: queue.clone(), property_list, state })
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
        self.property_list.as_deref()
    }

    /// Whether clFinalizeCommandBufferKHR was called.
    pub fn is_executable(&self) -> bool {
        self.state.lock().executable.is_some()
    }

    /// Whether commands may be recorded, and these synchronization points be waited for.
    fn check(state: &State, points: &[SyncPoint]) -> Result<()> {
        // "CL_INVALID_OPERATION if command_buffer has been finalized."
        ensure!(state.executable.is_none(), InvalidOperation, "the command buffer was finalized");
        // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR ... if synchronization-point objects in sync_point_wait_list are not valid synchronization-points."
        let known = 1..=state.last_point;
        ensure!(points.iter().all(|point| known.contains(point)), InvalidSyncPointWaitList, "{points:?} are not all of {known:?}");
        Ok(())
    }

    /// Records what a command does.
    fn record(&self, points: &[SyncPoint], kernel: Option<&Arc<Kernel>>, make: impl FnOnce() -> Result<Work>) -> Result<SyncPoint> {
        Self::check(&self.state.lock(), points)?;
        let Work { operation, uses, host_written: _ } = make()?;
        let command = match operation.resolve(self.queue.device_index())? {
            Command::Once(action) => Some(action),
            Command::Nop => None,
            Command::Replay(_) | Command::Host(_) => return Err(Error::InvalidOperation("the command cannot be recorded".into())),
        };
        let mut state = self.state.lock();
        Self::check(&state, &[])?;
        // "... giving a hard upper limit on the number of commands ..., at which point CL_OUT_OF_RESOURCES will be returned."
        let point = state.last_point.checked_add(1).ok_or_else(|| Error::OutOfResources("too many commands".into()))?;
        state.last_point = point;
        state.recorded.extend(command);
        for used in uses {
            merge(&mut state.uses, used);
        }
        if let Some(kernel) = kernel.filter(|kernel| state.kernels.iter().all(|other| !Arc::ptr_eq(other, kernel))) {
            state.kernels.push(kernel.clone());
        }
        Ok(point)
    }

    /// clCommandNDRangeKernelKHR
    ///
    /// # Errors
    /// Those of clEnqueueNDRangeKernel, and of recording.
    pub fn launch(&self, kernel: &Arc<Kernel>, range: &NdRange<'_>, points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, Some(kernel), || self.queue.launch_work(kernel, range))
    }

    /// clCommandCopyBufferKHR
    ///
    /// # Errors
    /// Those of clEnqueueCopyBuffer, and of recording.
    pub fn copy(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, places: (u64, u64, u64), points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, None, || self.queue.copy_work(src, dst, places))
    }

    /// clCommandCopyBufferRectKHR
    ///
    /// # Errors
    /// Those of clEnqueueCopyBufferRect, and of recording.
    pub fn copy_rect(&self, src: &Arc<Buffer>, dst: &Arc<Buffer>, args: &RectArgs, points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, None, || self.queue.copy_rect_work(src, dst, args))
    }

    /// clCommandFillBufferKHR
    ///
    /// # Errors
    /// Those of clEnqueueFillBuffer, and of recording.
    pub fn fill(&self, buffer: &Arc<Buffer>, pattern: Vec<u8>, bytes: (u64, u64), points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, None, || self.queue.fill_work(buffer, pattern, bytes))
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
        self.record(points, None, || self.queue.copy_image_work(src, dst, boxes))
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
        self.record(points, None, || self.queue.copy_image_to_buffer_work(src, dst, area, offset))
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
        self.record(points, None, || self.queue.copy_buffer_to_image_work(src, dst, offset, area))
    }

    /// clCommandFillImageKHR: a fill for each row of a box that leaves gaps.
    ///
    /// # Errors
    /// Those of clEnqueueFillImage, and of recording.
    pub fn fill_image(&self, image: &Arc<Image>, color: &[u8], area: ImageBox, points: &[SyncPoint]) -> Result<SyncPoint> {
        Self::check(&self.state.lock(), points)?;
        let works = self.queue.fill_image_works(image, color, area)?;
        works.into_iter().try_fold(0, |_, work| self.record(points, None, || Ok(work)))
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
        self.record(points, None, || self.queue.svm_copy_work(copy, target, source))
    }

    /// clCommandSVMMemFillKHR
    ///
    /// # Errors
    /// Those of clEnqueueSVMMemFill, and of recording.
    pub fn svm_fill(&self, address: usize, pattern: Vec<u8>, size: u64, points: &[SyncPoint]) -> Result<SyncPoint> {
        self.queue.check_svm(&[])?;
        self.record(points, None, || self.queue.svm_fill_work(address, pattern, size))
    }

    /// clCommandBarrierWithWaitListKHR
    ///
    /// # Errors
    /// Those of recording.
    pub fn barrier(&self, points: &[SyncPoint]) -> Result<SyncPoint> {
        self.record(points, None, || Ok(Work::nop()))
    }

    /// clFinalizeCommandBufferKHR
    ///
    /// # Errors
    /// If it was called before, or there is no memory for what the commands use.
    pub fn finalize(&self) -> Result<()> {
        let mut state = self.state.lock();
        // "CL_INVALID_OPERATION if command_buffer is not in the Recording state."
        ensure!(state.executable.is_none(), InvalidOperation, "the command buffer was finalized before");
        let commands = std::mem::take(&mut state.recorded).into();
        let uses = std::mem::take(&mut state.uses);
        state.executable = Some(Executable { commands, uses });
        Ok(())
    }

    /// clEnqueueCommandBufferKHR, to `queue` or its own.
    ///
    /// # Errors
    /// In the order of the specification.
    pub fn enqueue(&self, queue: Option<&Arc<Queue>>, wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        // "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
        let executable = self.state.lock().executable.clone();
        let executable = executable.ok_or_else(|| Error::InvalidOperation("the command buffer was not finalized".into()))?;
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
fn merge(uses: &mut Vec<Use>, new: Use) {
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
        None => uses.push(new),
    }
}
