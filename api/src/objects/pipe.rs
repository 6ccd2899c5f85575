//! Pipes (OpenCL API 5.4): memory objects that only kernels read and write. A pipe consists of a buffer with the
//! packets and their state ([`PipeLayout`]). Devices access only that buffer.

use std::sync::Arc;

use wgcl_compiler::pipe::PipeLayout;
use wgcl_compiler::program::ArgInfo;

use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::memory::{Buffer, HostData, MemFlags, zeroed};
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::object::{HandleSlot, Object};

/// CL_DEVICE_MAX_PIPE_ARGS. A pipe argument uses the same resources as a buffer argument.
pub const MAX_ARGS: u32 = 16;
/// CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS: the number of packets is the only hard limit. The value is the number of
/// reservations that a kernel can create in a loop on every device. Some drivers abort longer loops.
pub const MAX_RESERVATIONS: u32 = 4096;
/// CL_DEVICE_PIPE_MAX_PACKET_SIZE
pub const MAX_PACKET_SIZE: u32 = 65_536;

/// A pipe (cl_mem of clCreatePipe).
#[derive(Debug)]
pub struct Pipe {
    slot: HandleSlot,
    layout: PipeLayout,
    buffer: Arc<Buffer>,
}

impl Object for Pipe {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.buffer.listener()
    }
}

impl Device {
    /// CL_DEVICE_PIPE_SUPPORT
    pub fn has_pipes(&self) -> bool {
        self.has_c_feature("__opencl_c_pipes")
    }
}

impl Pipe {
    /// clCreatePipe
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn new(context: &Arc<Context>, flags: u64, packet_size: u32, max_packets: u32) -> Result<Arc<Self>> {
        // "CL_INVALID_OPERATION if no devices in context support pipes."
        ensure!(context.devices().iter().any(|device| device.has_pipes()), InvalidOperation, "no device of the context supports pipes");
        // "Only CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS can be specified when creating a pipe object." The value 0
        // selects both.
        let all = MemFlags::READ_WRITE | MemFlags::HOST_NO_ACCESS;
        let flags = if flags == 0 { all } else { MemFlags::parse(flags)? };
        ensure!(all.contains(flags), InvalidValue, "memory flags {flags} are not valid for pipes");
        // "CL_INVALID_PIPE_SIZE if pipe_packet_size is 0 or exceeds CL_DEVICE_PIPE_MAX_PACKET_SIZE ... or if
        // pipe_max_packets is 0."
        ensure!(
            (1..=MAX_PACKET_SIZE).contains(&packet_size) && max_packets != 0,
            InvalidPipeSize,
            "{max_packets} packets of {packet_size} bytes: a pipe needs at least one packet, and packets have 1 to {MAX_PACKET_SIZE} bytes"
        );
        let no_memory =
            || Error::MemObjectAllocationFailure(format!("cannot allocate {max_packets} packets of {packet_size} bytes").into());
        let layout = PipeLayout::new(packet_size, max_packets).ok_or_else(no_memory)?;
        Buffer::check_size(context, layout.size()).map_err(|_| no_memory())?;
        let mut state = zeroed(layout.state_size())?;
        let constants = layout.constants();
        state[..constants.len()].copy_from_slice(&constants);
        let buffer = Buffer::new(context, flags, layout.size(), HostData::Copy(state), None)?;
        Ok(Arc::new(Self { slot: HandleSlot::default(), layout, buffer }))
    }

    /// CL_PIPE_PACKET_SIZE
    pub fn packet_size(&self) -> u32 {
        self.layout.packet_size()
    }

    /// CL_PIPE_MAX_PACKETS
    pub fn max_packets(&self) -> u32 {
        self.layout.max_packets()
    }

    /// The memory of the packets.
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// Returns the buffer that a kernel receives for an argument that is set to the pipe.
    ///
    /// # Errors
    /// If the parameter is not a pipe, or declares packets of another size: the kernel would access wrong addresses.
    pub fn argument(&self, index: u32, info: &ArgInfo) -> Result<&Arc<Buffer>> {
        let fits = info.packet.is_some_and(|size| size == 0 || size == self.packet_size());
        // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
        ensure!(
            fits,
            InvalidArgValue,
            "argument {index} has the type {}, but the pipe has packets of {} bytes",
            info.type_name,
            self.packet_size()
        );
        Ok(&self.buffer)
    }
}
