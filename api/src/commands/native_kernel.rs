//! Native kernels: functions of the host that run in the order of a queue (OpenCL API 5.10.2).
//!
//! Native kernels receive the host addresses of buffers. Only devices whose memory the host can always access support
//! native kernels.

use std::sync::Arc;

use crate::commands::command::{AccessMode, CommandType, NativeCall, NativeKernel, Operation, PendingCommand};
use crate::commands::transfer::buffer_access;
use crate::objects::device::Device;
use crate::objects::event::Event;
use crate::objects::memory::Buffer;
use crate::objects::queue::Queue;
use crate::types::error::{Result, ensure};

impl Device {
    /// Whether CL_DEVICE_EXECUTION_CAPABILITIES has CL_EXEC_NATIVE_KERNEL.
    pub fn runs_native_kernels(&self) -> bool {
        self.properties().native_kernels
    }
}

impl Queue {
    /// clEnqueueNativeKernel. `pointers` are byte offsets in the arguments, and the buffers whose addresses are written
    /// at these offsets.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn native_kernel(
        self: &Arc<Self>,
        call: NativeCall,
        args: Vec<u8>,
        pointers: Vec<(usize, Option<Arc<Buffer>>)>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait_list)?;
        // "CL_INVALID_OPERATION if the device associated with command_queue cannot execute the native kernel."
        ensure!(self.device().runs_native_kernels(), InvalidOperation, "{} does not support native kernels", self.device().name());
        let buffers = || pointers.iter().filter_map(|(_, buffer)| buffer.as_ref());
        ensure!(
            buffers().all(|buffer| Arc::ptr_eq(buffer.context(), self.context())),
            InvalidContext,
            "a buffer belongs to another context"
        );
        let inside = |at: usize| at.checked_add(size_of::<usize>()).is_some_and(|end| end <= args.len());
        ensure!(pointers.iter().all(|(at, _)| inside(*at)), InvalidValue, "a buffer offset is outside the argument block");
        let accesses =
            buffers().map(|buffer| Ok(buffer_access(buffer, buffer.range(0, buffer.size())?, AccessMode::Write))).collect::<Result<_>>()?;
        let work = PendingCommand::new(Operation::Native(NativeKernel { call, args, pointers }), accesses);
        self.submit_native(CommandType::NativeKernel, work, wait_list)
    }

    /// Submits and flushes a command that calls a function of the application. The flush is required, because the
    /// application may wait for that function without another OpenCL call.
    pub(super) fn submit_native(
        self: &Arc<Self>,
        command: CommandType,
        work: PendingCommand,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let event = self.submit(command, work, wait_list)?;
        event.flush();
        Ok(event)
    }
}
