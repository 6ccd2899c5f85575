//! Updates of launches between the runs of a command buffer (cl_khr_command_buffer_mutable_dispatch, OpenCL API
//! 5.15.5).
//!
//! A mutable launch owns its recorded NDRange and a copy of the application's kernel with the recorded arguments. An
//! update works on further copies, with every check of clSetKernelArg and clEnqueueNDRangeKernel. If a check fails,
//! nothing changes. If all succeed, the copies replace their originals.

use std::sync::{Arc, Weak};

use bitflags::bitflags;

use crate::commands::command_buffer::record::RecordedCommand;
use crate::commands::command_buffer::{CommandBuffer, CommandBufferState};
use crate::objects::kernel::{ArgValue, Kernel, PointerSet};
use crate::objects::queue::Queue;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::nd_range::NdRange;
use crate::types::object::{HandleSlot, Object};

bitflags! {
    /// cl_mutable_dispatch_fields_khr: the mutable fields of a launch.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DispatchFields: u64 {
        /// CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
        const GLOBAL_OFFSET = 1 << 0;
        /// CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
        const GLOBAL_SIZE = 1 << 1;
        /// CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
        const LOCAL_SIZE = 1 << 2;
        /// CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
        const ARGUMENTS = 1 << 3;
        /// CL_MUTABLE_DISPATCH_EXEC_INFO_KHR
        const EXEC_INFO = 1 << 4;
    }

    /// cl_mutable_dispatch_asserts_khr: the promises of the application. The implementation does not use them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DispatchAsserts: u64 {
        /// CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR
        const NO_ADDITIONAL_WORK_GROUPS = 1 << 0;
    }
}

/// The recording options of a launch.
#[derive(Clone, Debug, Default)]
pub struct DispatchOptions {
    /// CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, or `None` if it is not specified.
    pub fields: Option<DispatchFields>,
    /// CL_MUTABLE_DISPATCH_ASSERTS_KHR
    pub asserts: DispatchAsserts,
    /// The original property list.
    pub property_list: Option<Vec<u64>>,
    /// Whether the application requests a handle of the command.
    pub wants_handle: bool,
}

impl DispatchOptions {
    /// Checks that these options are valid for a launch.
    pub(crate) fn check(&self, buffer: &CommandBuffer, range: &NdRange<'_>) -> Result<()> {
        let asserts = self.asserts | buffer.asserts();
        // The specification requires CL_INVALID_VALUE for a null local_work_size, if
        // CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR is set for the command buffer or for the command.
        ensure!(
            range.local_size.is_some() || !asserts.contains(DispatchAsserts::NO_ADDITIONAL_WORK_GROUPS),
            InvalidValue,
            "CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR requires a local work size"
        );
        Ok(())
    }

    /// Whether the launch may be recorded before its arguments are set. Only launches with mutable arguments in mutable
    /// command buffers may.
    pub(crate) fn may_defer(&self, buffer: &CommandBuffer) -> bool {
        buffer.is_mutable() && self.fields.is_some_and(|fields| fields.contains(DispatchFields::ARGUMENTS))
    }
}

/// The application's reference to a recorded launch (cl_mutable_command_khr). Its handle lives as long as the command
/// buffer.
#[derive(Debug)]
pub struct MutableCommand {
    slot: HandleSlot,
    buffer: Weak<CommandBuffer>,
    /// The index of the queue in the command buffer.
    queue: usize,
    /// The index among the command buffer's dispatches.
    dispatch_index: usize,
    kernel: Arc<Kernel>,
    work_dim: u32,
    options: DispatchOptions,
}

impl Object for MutableCommand {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.kernel.listener()
    }
}

impl MutableCommand {
    /// Creates the handle of a launch from the indices of its queue and its dispatch.
    pub(crate) fn new(
        buffer: &Arc<CommandBuffer>,
        (queue, dispatch_index): (usize, usize),
        kernel: &Arc<Kernel>,
        work_dim: u32,
        options: DispatchOptions,
    ) -> Arc<Self> {
        let (buffer, kernel) = (Arc::downgrade(buffer), kernel.clone());
        Arc::new(Self { slot: HandleSlot::default(), buffer, queue, dispatch_index, kernel, work_dim, options })
    }

    /// Whether the application requested a handle.
    pub(crate) fn wants_handle(&self) -> bool {
        self.options.wants_handle
    }

    /// CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR
    ///
    /// # Errors
    /// If the command buffer was released.
    pub fn command_buffer(&self) -> Result<Arc<CommandBuffer>> {
        self.buffer.upgrade().ok_or_else(|| Error::InvalidMutableCommand("the command buffer was released".into()))
    }

    /// CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR
    ///
    /// # Errors
    /// The errors of [`Self::command_buffer`].
    pub fn queue(&self) -> Result<Arc<Queue>> {
        self.command_buffer()?.queue(self.queue).cloned()
    }

    /// CL_MUTABLE_DISPATCH_KERNEL_KHR: the kernel that was recorded.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// CL_MUTABLE_DISPATCH_DIMENSIONS_KHR
    pub fn work_dim(&self) -> u32 {
        self.work_dim
    }

    /// CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR
    pub fn property_list(&self) -> Option<&[u64]> {
        self.options.property_list.as_deref()
    }

    /// The mutable fields.
    fn fields(&self) -> DispatchFields {
        // "If CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR is not specified then it defaults to the value returned by the
        // CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR device query."
        self.options.fields.unwrap_or(DispatchFields::all())
    }

    /// CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR, ..._GLOBAL_WORK_SIZE_KHR and ..._LOCAL_WORK_SIZE_KHR: a value for
    /// each dimension; zeros for a null pointer.
    ///
    /// # Errors
    /// The errors of [`Self::command_buffer`].
    pub fn sizes(&self) -> Result<[Vec<usize>; 3]> {
        let buffer = self.command_buffer()?;
        let state = buffer.lock();
        let shape = state.dispatches.get(self.dispatch_index).map(|dispatch| dispatch.shape.clone()).unwrap_or_default();
        let count = self.work_dim as usize;
        Ok([shape.offset, shape.global, shape.local].map(|values| values.unwrap_or_else(|| vec![0; count])))
    }
}

/// The recorded NDRange of a launch.
#[derive(Clone, Debug, Default)]
struct OwnedNdRange {
    offset: Option<Vec<usize>>,
    global: Option<Vec<usize>>,
    local: Option<Vec<usize>>,
}

impl OwnedNdRange {
    fn range(&self, work_dim: u32) -> NdRange<'_> {
        NdRange { work_dim, global_offset: self.offset.as_deref(), global_size: self.global.as_deref(), local_size: self.local.as_deref() }
    }

    /// Whether all work-groups have the same size. Also true if the driver chooses the local size.
    fn is_uniform(&self) -> bool {
        match (&self.global, &self.local) {
            (Some(global), Some(local)) => global.iter().zip(local).all(|(&global, &local)| global.is_multiple_of(local)),
            _ => true,
        }
    }
}

/// A mutable launch.
#[derive(Debug)]
pub(crate) struct Dispatch {
    /// The index among the command buffer's steps.
    step_index: usize,
    /// A copy of the application's kernel, with the arguments of this launch.
    kernel: Arc<Kernel>,
    shape: OwnedNdRange,
    /// The command, retained for its handle.
    _command: Arc<MutableCommand>,
}

impl Dispatch {
    /// Creates the record of a launch; `kernel` is the launch's own copy.
    pub(crate) fn new(step_index: usize, kernel: Arc<Kernel>, range: &NdRange<'_>, command: Arc<MutableCommand>) -> Self {
        let [offset, global, local] =
            [range.global_offset, range.global_size, range.local_size].map(|values| values.map(<[usize]>::to_vec));
        Self { step_index, kernel, shape: OwnedNdRange { offset, global, local }, _command: command }
    }

    /// The index among the command buffer's steps.
    pub(crate) const fn step_index(&self) -> usize {
        self.step_index
    }

    pub(crate) const fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }
}

/// New values for a launch (cl_mutable_dispatch_config_khr).
#[derive(Debug)]
pub struct DispatchUpdate {
    pub command: Arc<MutableCommand>,
    /// Arguments as in clSetKernelArg.
    pub args: Vec<(u32, ArgValue)>,
    /// Arguments as in clSetKernelArgSVMPointer.
    pub svm_args: Vec<(u32, usize)>,
    /// The pointer sets of clSetKernelExecInfo, one entry for each set that the update replaces.
    pub pointers: Vec<(PointerSet, Vec<usize>)>,
    /// Whether the update changes values that clSetKernelExecInfo sets.
    pub sets_exec_info: bool,
    /// The number of dimensions; 0 means unchanged.
    pub work_dim: u32,
    /// The global offset, with a value for each dimension of the command.
    pub global_offset: Option<Vec<usize>>,
    /// The global size.
    pub global_size: Option<Vec<usize>>,
    /// The local size.
    pub local_size: Option<Vec<usize>>,
}

impl DispatchUpdate {
    fn check(&self) -> Result<()> {
        let command = &self.command;
        // "CL_INVALID_OPERATION if work_dim is not zero and different from the work_dim set on command recording."
        ensure!(
            self.work_dim == 0 || self.work_dim == command.work_dim,
            InvalidOperation,
            "work_dim is {}; the command was recorded with {}",
            self.work_dim,
            command.work_dim
        );
        // The specification requires CL_INVALID_OPERATION for an update of a field that was not recorded as updatable.
        let changes = [
            (DispatchFields::GLOBAL_OFFSET, "GLOBAL_OFFSET", self.global_offset.is_some()),
            (DispatchFields::GLOBAL_SIZE, "GLOBAL_SIZE", self.global_size.is_some()),
            (DispatchFields::LOCAL_SIZE, "LOCAL_SIZE", self.local_size.is_some()),
            (DispatchFields::ARGUMENTS, "ARGUMENTS", !self.args.is_empty() || !self.svm_args.is_empty()),
            (DispatchFields::EXEC_INFO, "EXEC_INFO", self.sets_exec_info),
        ];
        for (field, name, changes) in changes {
            ensure!(
                !changes || command.fields().contains(field),
                InvalidOperation,
                "the command was not recorded with CL_MUTABLE_DISPATCH_{name}_KHR"
            );
        }
        Ok(())
    }
}

/// A launch with the new values, before they replace the recorded ones.
struct PendingUpdate {
    dispatch_index: usize,
    queue: usize,
    kernel: Arc<Kernel>,
    shape: OwnedNdRange,
    work_dim: u32,
    was_uniform: bool,
}

impl PendingUpdate {
    fn apply(&mut self, update: DispatchUpdate) -> Result<()> {
        for (index, value) in update.args {
            self.kernel.set_arg(index, value)?;
        }
        for (index, address) in update.svm_args {
            self.kernel.set_arg_svm(index, address)?;
        }
        for (set, pointers) in update.pointers {
            self.kernel.set_pointers(set, &pointers)?;
        }
        let values = [update.global_offset, update.global_size, update.local_size];
        for (old, new) in [&mut self.shape.offset, &mut self.shape.global, &mut self.shape.local].into_iter().zip(values) {
            if new.is_some() {
                *old = new;
            }
        }
        Ok(())
    }

    /// Validates and compiles the launch. Returns `None` if arguments are missing.
    fn compile(&self, buffer: &CommandBuffer) -> Result<Option<RecordedCommand>> {
        let range = self.shape.range(self.work_dim);
        let queue = buffer.queue(self.queue)?;
        let command = if self.kernel.is_complete() {
            Some(CommandBuffer::compile(queue, queue.launch_command(&self.kernel, &range)?)?)
        } else {
            queue.check_launch(&self.kernel, &range)?;
            None
        };
        // "CL_INVALID_OPERATION if the values of local_work_size and/or global_work_size result in a change to
        // work-group uniformity."
        ensure!(
            self.shape.is_uniform() == self.was_uniform,
            InvalidOperation,
            "local size {} of global size {} changes whether all work-groups have the same size",
            format_sizes(self.shape.local.as_deref()),
            format_sizes(self.shape.global.as_deref())
        );
        Ok(command)
    }
}

/// Formats sizes as `64x4`, or as `NULL`.
fn format_sizes(sizes: Option<&[usize]>) -> String {
    sizes.map_or_else(|| "NULL".to_owned(), |sizes| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("x"))
}

impl CommandBuffer {
    /// clUpdateMutableCommandsKHR: applies all updates, or none.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order, and those of clSetKernelArg, clSetKernelArgSVMPointer,
    /// clSetKernelExecInfo and clEnqueueNDRangeKernel.
    pub fn update(self: &Arc<Self>, updates: Vec<DispatchUpdate>) -> Result<()> {
        self.check_update()?;
        let mut pending: Vec<PendingUpdate> = Vec::with_capacity(updates.len());
        for update in updates {
            let command = &update.command;
            // "CL_INVALID_MUTABLE_COMMAND_KHR if command is not ... created from command_buffer."
            let is_own = std::ptr::eq(command.buffer.as_ptr(), Arc::as_ptr(self));
            ensure!(is_own, InvalidMutableCommand, "the command belongs to another command buffer");
            update.check()?;
            let (dispatch_index, queue, work_dim) = (command.dispatch_index, command.queue, command.work_dim);
            if let Some(pending_update) = pending.iter_mut().find(|pending_update| pending_update.dispatch_index == dispatch_index) {
                pending_update.apply(update)?;
                continue;
            }
            let current = self.lock().dispatches.get(dispatch_index).map(|dispatch| (dispatch.kernel.clone(), dispatch.shape.clone()));
            let (kernel, shape) =
                current.ok_or_else(|| Error::InvalidMutableCommand("the command is not part of the command buffer".into()))?;
            let was_uniform = shape.is_uniform();
            let mut pending_update = PendingUpdate { dispatch_index, queue, kernel: kernel.duplicate(), shape, work_dim, was_uniform };
            pending_update.apply(update)?;
            pending.push(pending_update);
        }
        let compiled =
            pending.into_iter().map(|pending_update| Ok((pending_update.compile(self)?, pending_update))).collect::<Result<Vec<_>>>()?;
        let mut state = self.lock();
        let (mut commands, mut old) = (Vec::with_capacity(compiled.len()), Vec::with_capacity(compiled.len()));
        for (command, pending_update) in compiled {
            if let Some(dispatch) = state.dispatches.get_mut(pending_update.dispatch_index) {
                commands.push((dispatch.step_index, command));
                old.push(std::mem::replace(&mut dispatch.kernel, pending_update.kernel));
                dispatch.shape = pending_update.shape;
            }
        }
        let replaced = state.replace(commands);
        // The old values are dropped after the lock is released, because the drop may destroy objects.
        drop(state);
        drop((old, replaced));
        Ok(())
    }

    /// Checks that the command buffer can be updated now.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn check_update(&self) -> Result<()> {
        // "CL_INVALID_OPERATION if command_buffer has not been finalized."
        ensure!(self.state() != CommandBufferState::Recording, InvalidOperation, "the command buffer is not finalised");
        // "CL_INVALID_OPERATION if command_buffer was not created with the CL_COMMAND_BUFFER_MUTABLE_KHR flag."
        ensure!(self.is_mutable(), InvalidOperation, "the command buffer is not mutable");
        Ok(())
    }
}
