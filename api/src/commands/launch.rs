//! clEnqueueNDRangeKernel: checking an NDRange, capturing arguments (OpenCL API 5.10).

use std::sync::Arc;

use crate::commands::capture;
use crate::commands::command::{AccessMode, Argument, BufferAccess, CommandType, KernelLaunch, Operation, PendingCommand};
use crate::commands::group_size::GroupLimits;
use crate::commands::transfer::buffer_access;
use crate::objects::event::Event;
use crate::objects::kernel::{self, Kernel};
use crate::objects::queue::Queue;
use crate::types::error::{Result, ensure};
use crate::types::nd_range::{MAX_GLOBAL_SIZE, NdRange, widen};

impl Queue {
    /// clEnqueueNDRangeKernel. `command` is the command type of clEnqueueNDRangeKernel or of clEnqueueTask.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn launch(
        self: &Arc<Self>,
        command: CommandType,
        kernel: &Arc<Kernel>,
        range: &NdRange<'_>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        let mut work = self.launch_command(kernel, range)?;
        capture::request::add(self, kernel, range, &mut work);
        self.submit(command, work, wait_list)
    }

    /// clGetKernelSuggestedLocalWorkSizeKHR: the local size of a launch that does not specify one.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn suggest_local_size(&self, kernel: &Arc<Kernel>, range: &NdRange<'_>) -> Result<[u32; 3]> {
        self.check_kernel(kernel)?;
        let (_, info) = kernel.definition_on(self.device())?;
        // "CL_INVALID_KERNEL_ARGS if all argument values for kernel have not been set."
        kernel.capture()?;
        let (_, global) = check_range(range)?;
        // "CL_INVALID_GLOBAL_WORK_SIZE if global_work_size is NULL or if any of the values specified in
        // global_work_size are 0."
        ensure!(!global.contains(&0), InvalidGlobalWorkSize, "global size {global:?}: a dimension is 0");
        GroupLimits::of(self.device().properties(), info).local_size(info, &NdRange { local_size: None, ..*range }, global)
    }

    /// "CL_INVALID_CONTEXT if the context associated with command_queue and kernel are not the same."
    fn check_kernel(&self, kernel: &Kernel) -> Result<()> {
        ensure!(
            Arc::ptr_eq(kernel.program().context(), self.context()),
            InvalidContext,
            "the queue and kernel `{}` belong to different contexts",
            kernel.name()
        );
        Ok(())
    }

    /// Checks a launch whose kernel arguments are not set yet.
    pub(crate) fn check_launch(&self, kernel: &Arc<Kernel>, range: &NdRange<'_>) -> Result<()> {
        self.check_kernel(kernel)?;
        let (_, info) = kernel.definition_on(self.device())?;
        let (_, global) = check_range(range)?;
        GroupLimits::of(self.device().properties(), info).local_size(info, range, global).map(drop)
    }

    /// Checks the arguments of clEnqueueNDRangeKernel, and creates its command.
    pub(crate) fn launch_command(&self, kernel: &Arc<Kernel>, range: &NdRange<'_>) -> Result<PendingCommand> {
        let device = self.device();
        let properties = device.properties();
        self.check_kernel(kernel)?;
        // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable available for [the]
        // device."
        let (executable, info) = kernel.definition_on(device)?;
        // "CL_INVALID_KERNEL_ARGS if any kernel arguments for kernel have not been set."
        let args = kernel.capture()?;
        let (offset, global) = check_range(range)?;
        let local = GroupLimits::of(properties, info).local_size(info, range, global)?;
        for buffer in args.iter().filter_map(Argument::buffer) {
            buffer.check_alignment(device)?;
        }
        // "CL_INVALID_OPERATION if ... system pointers are passed as arguments to a kernel ... and the device
        // associated with command_queue does not support fine-grain system SVM allocations."
        let supports_system_svm = device.accesses_host_memory();
        let has_system_pointer = args.iter().any(|arg| matches!(arg, Argument::Address(_)));
        ensure!(
            supports_system_svm || !has_system_pointer,
            InvalidOperation,
            "device `{}` does not support system SVM pointers as kernel arguments",
            device.name()
        );
        // "CL_OUT_OF_RESOURCES if there is a failure to queue the execution instance of kernel because of
        // insufficient resources."
        let local_memory = kernel.local_memory(info);
        ensure!(
            local_memory <= u64::from(properties.local_memory),
            OutOfResources,
            "kernel `{}` needs {local_memory} bytes of local memory; the device has {}",
            kernel.name(),
            properties.local_memory
        );
        kernel::check_parameters(info, device.target().pointer_size())?;
        // "If ... the value in any passed dimension is zero, then the kernel command will trivially succeed after its
        // event dependencies are satisfied."
        if global.contains(&0) {
            return Ok(PendingCommand::nop());
        }
        // A buffer that is also an argument is not bound a second time.
        let mut extra = kernel.indirect_buffers();
        extra.retain(|buffer| args.iter().filter_map(Argument::buffer).all(|other| !Arc::ptr_eq(other.store(), buffer.store())));
        let mut accesses = Vec::with_capacity(args.iter().filter_map(Argument::buffer).count() + extra.len());
        for (arg, info) in args.iter().zip(&info.args) {
            let Some(buffer) = arg.buffer() else { continue };
            let read = kernel::reads_only(info) || buffer.flags().is_read_only();
            let access = if read { AccessMode::Read } else { AccessMode::Write };
            let image = if let Argument::Image(image) = arg { Some(image.clone()) } else { None };
            accesses.push(BufferAccess { buffer: buffer.clone(), image, range: buffer.range(0, buffer.size())?, access });
        }
        for buffer in &extra {
            accesses.push(buffer_access(buffer, buffer.range(0, buffer.size())?, AccessMode::Write));
        }
        let launch = KernelLaunch {
            program: executable.loaded.clone(),
            kernel: kernel.function().clone(),
            args,
            extra,
            work_dim: range.work_dim,
            global_offset: offset,
            global_size: global,
            local_size: local,
            enqueues_from: info.enqueues.then(|| executable.clone()),
        };
        Ok(PendingCommand::new(Operation::Launch(launch), accesses))
    }
}

/// Checks a range, and returns its offset and size in three dimensions.
fn check_range(range: &NdRange<'_>) -> Result<([u64; 3], [u64; 3])> {
    // "CL_INVALID_WORK_DIMENSION if work_dim is not a valid value (i.e. a value between 1 and
    // CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS)."
    ensure!((1..=3).contains(&range.work_dim), InvalidWorkDimension, "work_dim is {}: it must be 1, 2 or 3", range.work_dim);
    let (offset, mut global) = (widen(range.global_offset, 0), widen(range.global_size, 1));
    if range.global_size.is_none() {
        global = [0; 3];
    }
    // "CL_INVALID_GLOBAL_OFFSET if the value specified in global_work_size plus the corresponding value in
    // global_work_offset for any dimension is greater than the maximum value representable by size_t on the device."
    let max_size = u64::from(MAX_GLOBAL_SIZE);
    // "CL_INVALID_GLOBAL_WORK_SIZE if any of the values specified in global_work_size exceed the maximum value
    // representable by size_t."
    ensure!(global.iter().all(|&n| n <= max_size), InvalidGlobalWorkSize, "global size {global:?}: a dimension exceeds {max_size}");
    ensure!(
        offset.iter().zip(&global).all(|(&offset, &size)| offset.checked_add(size).is_some_and(|end| end <= max_size)),
        InvalidGlobalOffset,
        "the sum of global offset {offset:?} and global size {global:?} exceeds 32 bits"
    );
    Ok((offset, global))
}
