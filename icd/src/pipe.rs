//! Pipes (OpenCL API 5.4).

use wgcl_api::objects::context::Context;
use wgcl_api::objects::pipe::Pipe;

use crate::check;
use crate::ffi::{BytesMut, List, Out};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_mem, CL_PIPE_MAX_PACKETS, CL_PIPE_PACKET_SIZE, CL_PIPE_PROPERTIES, cl_context, cl_mem, cl_mem_flags, cl_pipe_info,
    cl_pipe_properties, cl_uint,
};

crate::entry! {
    fn clCreatePipe(
        context: cl_context,
        flags: cl_mem_flags,
        packet_size: cl_uint,
        max_packets: cl_uint,
        properties: List<cl_pipe_properties>,
    ) -> *mut _cl_mem {
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_VALUE if properties is not NULL."
        check!(properties.is_null(), InvalidValue, "pipes have no properties");
        Pipe::new(&context, flags, packet_size, max_packets).map(handles::retained)
    }

    fn clGetPipeInfo(pipe: cl_mem, param: cl_pipe_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let pipe = handles::get::<Pipe>(pipe)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_PIPE_PACKET_SIZE => query.put(pipe.packet_size()),
            CL_PIPE_MAX_PACKETS => query.put(pipe.max_packets()),
            CL_PIPE_PROPERTIES => query.put([0u64; 0]),
            _ => query.unknown(param),
        }
    }
}
