//! Transfers the ownership of external memory (cl_khr_external_memory).

use std::sync::Arc;

use wgcl_api::image::MemObject;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::Result;

use crate::check;
use crate::event::{return_event, wait_list};
use crate::ffi::{List, Out};
use crate::handles;
use wgcl_opencl_headers::{cl_command_queue, cl_event, cl_mem, cl_uint};

/// Returns the queue and the memory objects of a call.
fn objects(queue: cl_command_queue, count: cl_uint, list: &List<cl_mem>) -> Result<(Arc<Queue>, Vec<MemObject>)> {
    let queue = handles::get::<Queue>(queue)?;
    // "CL_INVALID_VALUE if num_mem_objects is zero and mem_objects is not a NULL value, or if num_mem_objects is
    // greater than 0 and mem_objects is NULL."
    check!((count == 0) == list.is_null(), InvalidValue, "the list of memory objects does not match the count {count}");
    let objects = list.get(count as usize).into_iter().map(handles::get_memory).collect::<Result<_>>()?;
    Ok((queue, objects))
}

crate::entry! {
    fn clEnqueueAcquireExternalMemObjectsKHR(
        queue: cl_command_queue,
        count: cl_uint,
        list: List<cl_mem>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, objects) = objects(queue, count, &list)?;
        return_event(&event, queue.acquire_external(&objects, &wait_list(num_waits, &waits)?)?);
        Ok(())
    }

    fn clEnqueueReleaseExternalMemObjectsKHR(
        queue: cl_command_queue,
        count: cl_uint,
        list: List<cl_mem>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, objects) = objects(queue, count, &list)?;
        return_event(&event, queue.release_external(&objects, &wait_list(num_waits, &waits)?)?);
        Ok(())
    }
}
