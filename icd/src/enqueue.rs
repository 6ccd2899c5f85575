//! Commands on buffers, kernels, markers and barriers (OpenCL API 5.2, 5.5, 5.10 to 5.13).

use std::ffi::c_void;
use std::sync::Arc;

use wgcl_api::commands::command::CommandType;
use wgcl_api::commands::transfer::RectArgs;
use wgcl_api::image::MemObject;
use wgcl_api::objects::event::Event;
use wgcl_api::objects::kernel::Kernel;
use wgcl_api::objects::memory::Buffer;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::nd_range::NdRange;

use crate::check;
use crate::event::{return_event, wait_list};
use crate::ffi::{Bytes, BytesMut, Callback, FromC, List, Out, OutList};
use crate::handles;
use crate::kernel::NativeKernelFn;
use wgcl_opencl_headers::{
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, cl_bool, cl_command_queue, cl_event, cl_int, cl_kernel,
    cl_map_flags, cl_mem, cl_mem_migration_flags, cl_uint,
};

pub(crate) fn triple(list: &List<usize>) -> Result<[u64; 3]> {
    match list.get(3).as_slice() {
        &[x, y, z] => Ok([x as u64, y as u64, z as u64]),
        _ => Err(Error::InvalidValue("an origin or a region is null".into())),
    }
}

/// Returns the arguments of a rectangular command. The parameters have the order of the C functions: origins, region,
/// pitches.
pub(crate) fn rect(origins: [&List<usize>; 2], region: &List<usize>, [row, slice, host_row, host_slice]: [usize; 4]) -> Result<RectArgs> {
    // "CL_INVALID_VALUE if buffer_origin, host_origin, or region is NULL."
    Ok(RectArgs {
        buffer_origin: triple(origins[0])?,
        host_origin: triple(origins[1])?,
        region: triple(region)?,
        buffer_row_pitch: row as u64,
        buffer_slice_pitch: slice as u64,
        host_row_pitch: host_row as u64,
        host_slice_pitch: host_slice as u64,
    })
}

/// Returns a queue and buffers. Checks the handles in the order of the specification.
fn objects<const N: usize>(queue: cl_command_queue, buffers: [cl_mem; N]) -> Result<(Arc<Queue>, Vec<Arc<Buffer>>)> {
    let queue = handles::get::<Queue>(queue)?;
    Ok((queue, handles::get_all(&buffers)?))
}

fn launch(
    queue: cl_command_queue,
    kernel: cl_kernel,
    command: CommandType,
    (work_dim, lists): (cl_uint, [Option<Vec<usize>>; 3]),
    waits: (cl_uint, &List<cl_event>),
    event: &Out<cl_event>,
) -> Result<()> {
    let queue = handles::get::<Queue>(queue)?;
    let kernel = handles::get::<Kernel>(kernel)?;
    let waits = wait_list(waits.0, waits.1)?;
    let [global_offset, global_size, local_size] = &lists;
    let range = NdRange {
        work_dim,
        global_offset: global_offset.as_deref(),
        global_size: global_size.as_deref(),
        local_size: local_size.as_deref(),
    };
    return_event(event, queue.launch(command, &kernel, &range, &waits)?);
    Ok(())
}

crate::entry! {
    fn clEnqueueReadBuffer(
        queue: cl_command_queue,
        buffer: cl_mem,
        blocking: cl_bool,
        offset: usize,
        size: usize,
        ptr: BytesMut,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, buffers) = objects(queue, [buffer])?;
        let waits = wait_list(num_waits, &waits)?;
        let done = queue.read(&buffers[0], blocking != 0, (offset as u64, size as u64), |size| ptr.target(size), &waits)?;
        return_event(&event, done);
        Ok(())
    }

    fn clEnqueueWriteBuffer(
        queue: cl_command_queue,
        buffer: cl_mem,
        blocking: cl_bool,
        offset: usize,
        size: usize,
        ptr: Bytes,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, buffers) = objects(queue, [buffer])?;
        let waits = wait_list(num_waits, &waits)?;
        let done = queue.write(&buffers[0], blocking != 0, (offset as u64, size as u64), |size| ptr.source(size), &waits)?;
        return_event(&event, done);
        Ok(())
    }

    fn clEnqueueReadBufferRect(
        queue: cl_command_queue,
        buffer: cl_mem,
        blocking: cl_bool,
        buffer_origin: List<usize>,
        host_origin: List<usize>,
        region: List<usize>,
        buffer_row_pitch: usize,
        buffer_slice_pitch: usize,
        host_row_pitch: usize,
        host_slice_pitch: usize,
        ptr: BytesMut,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, buffers) = objects(queue, [buffer])?;
        let pitches = [buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch];
        let args = rect([&buffer_origin, &host_origin], &region, pitches)?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.read_rect(&buffers[0], blocking != 0, &args, |size| ptr.target(size), &waits)?);
        Ok(())
    }

    fn clEnqueueWriteBufferRect(
        queue: cl_command_queue,
        buffer: cl_mem,
        blocking: cl_bool,
        buffer_origin: List<usize>,
        host_origin: List<usize>,
        region: List<usize>,
        buffer_row_pitch: usize,
        buffer_slice_pitch: usize,
        host_row_pitch: usize,
        host_slice_pitch: usize,
        ptr: Bytes,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, buffers) = objects(queue, [buffer])?;
        let pitches = [buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch];
        let args = rect([&buffer_origin, &host_origin], &region, pitches)?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.write_rect(&buffers[0], blocking != 0, &args, |size| ptr.source(size), &waits)?);
        Ok(())
    }

    fn clEnqueueCopyBuffer(
        queue: cl_command_queue,
        src: cl_mem,
        dst: cl_mem,
        src_offset: usize,
        dst_offset: usize,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, buffers) = objects(queue, [src, dst])?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.copy(&buffers[0], &buffers[1], (src_offset as u64, dst_offset as u64, size as u64), &waits)?);
        Ok(())
    }

    fn clEnqueueCopyBufferRect(
        queue: cl_command_queue,
        src: cl_mem,
        dst: cl_mem,
        src_origin: List<usize>,
        dst_origin: List<usize>,
        region: List<usize>,
        src_row_pitch: usize,
        src_slice_pitch: usize,
        dst_row_pitch: usize,
        dst_slice_pitch: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, buffers) = objects(queue, [src, dst])?;
        let args = rect([&src_origin, &dst_origin], &region, [src_row_pitch, src_slice_pitch, dst_row_pitch, dst_slice_pitch])?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.copy_rect(&buffers[0], &buffers[1], &args, &waits)?);
        Ok(())
    }

    fn clEnqueueFillBuffer(
        queue: cl_command_queue,
        buffer: cl_mem,
        pattern: Bytes,
        pattern_size: usize,
        offset: usize,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, buffers) = objects(queue, [buffer])?;
        let waits = wait_list(num_waits, &waits)?;
        let pattern = pattern.fill_pattern(pattern_size)?;
        return_event(&event, queue.fill(&buffers[0], pattern, (offset as u64, size as u64), &waits)?);
        Ok(())
    }

    fn clEnqueueUnmapMemObject(
        queue: cl_command_queue,
        object: cl_mem,
        ptr: BytesMut,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let (queue, object) = (handles::get::<Queue>(queue)?, handles::get_memory(object)?);
        // "CL_INVALID_MEM_OBJECT if memobj is not a valid memory object or is a pipe object."
        check!(!matches!(object, MemObject::Pipe(_)), InvalidMemObject, "a pipe cannot be mapped");
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.unmap(&object, ptr.address(), &waits)?);
        Ok(())
    }

    fn clEnqueueMigrateMemObjects(
        queue: cl_command_queue,
        num_objects: cl_uint,
        objects: List<cl_mem>,
        flags: cl_mem_migration_flags,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let found = objects.get(num_objects as usize).into_iter().map(handles::get_memory).collect::<Result<Vec<_>>>()?;
        // "CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL; if flags is not 0 or is not any of
        // the values described."
        check!(num_objects != 0 && !objects.is_null(), InvalidValue, "the list of memory objects is null or empty");
        let (host, undefined) = (CL_MIGRATE_MEM_OBJECT_HOST, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
        check!(flags & !(host | undefined) == 0, InvalidValue, "migration flags {flags:#x} are unknown");
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.migrate(&found, flags & host != 0, flags & undefined != 0, &waits)?);
        Ok(())
    }

    fn clEnqueueNDRangeKernel(
        queue: cl_command_queue,
        kernel: cl_kernel,
        work_dim: cl_uint,
        offset: List<usize>,
        global: List<usize>,
        local: List<usize>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        // The arrays have `work_dim` elements. If `work_dim` is invalid, nothing is read here, and `launch` reports the
        // error.
        let count = if work_dim <= 3 { work_dim as usize } else { 0 };
        let lists = [&offset, &global, &local].map(|list| (!list.is_null()).then(|| list.get(count)));
        launch(queue, kernel, CommandType::NdRangeKernel, (work_dim, lists), (num_waits, &waits), &event)
    }

    fn clEnqueueTask(queue: cl_command_queue, kernel: cl_kernel, num_waits: cl_uint, waits: List<cl_event>, event: Out<cl_event>) {
        let lists = [None, Some(vec![1]), Some(vec![1])];
        launch(queue, kernel, CommandType::Task, (1, lists), (num_waits, &waits), &event)
    }

    fn clEnqueueNativeKernel(
        queue: cl_command_queue,
        function: Callback<NativeKernelFn>,
        args: BytesMut,
        args_size: usize,
        num_objects: cl_uint,
        objects: List<cl_mem>,
        args_mem_loc: OutList<*const c_void>,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        // "CL_INVALID_VALUE if user_func is NULL."
        let function = function.get().ok_or_else(|| Error::InvalidValue("the function is null".into()))?;
        // "CL_INVALID_VALUE if args is a NULL value and cb_args > 0, or if args is a NULL value and num_mem_objects >
        // 0", "if args is not NULL and cb_args is 0."
        check!(args.is_null() == (args_size == 0) && (!args.is_null() || num_objects == 0), InvalidValue, "args, cb_args and num_mem_objects do not match: {} pointer, {args_size} bytes, {num_objects} memory objects", if args.is_null() { "a null" } else { "a valid" });
        // "CL_INVALID_VALUE if num_mem_objects > 0 and mem_list or args_mem_loc are NULL", "if num_mem_objects = 0
        // and mem_list or args_mem_loc are not NULL."
        let none = num_objects == 0;
        check!(objects.is_null() == none && args_mem_loc.is_null() == none, InvalidValue, "mem_list or args_mem_loc does not match the count {num_objects}");
        let places = objects
            .get(num_objects as usize)
            .into_iter()
            .zip(args_mem_loc.get(num_objects as usize))
            .map(|(handle, place)| {
                let buffer = if handle.is_null() { None } else { Some(handles::get::<Buffer>(handle)?) };
                Ok((place.addr().wrapping_sub(args.address()), buffer))
            })
            .collect::<Result<_>>()?;
        let call = move |bytes: &[u8]| {
            // The copy is aligned for any structure that the function may read.
            let mut copy = vec![0_u128; bytes.len().div_ceil(size_of::<u128>())];
            for (word, chunk) in copy.iter_mut().zip(bytes.chunks(size_of::<u128>())) {
                let mut whole = [0; size_of::<u128>()];
                whole[..chunk.len()].copy_from_slice(chunk);
                *word = u128::from_ne_bytes(whole);
            }
            let pointer = if bytes.is_empty() { std::ptr::null_mut() } else { copy.as_mut_ptr().cast() };
            // SAFETY: the application's function, called as the specification says, with a copy of its arguments that
            // lives until it returns.
            unsafe { function(pointer) };
        };
        return_event(&event, queue.native_kernel(Box::new(call), args.as_bytes().get(args_size), places, &waits)?);
        Ok(())
    }

    fn clEnqueueMarkerWithWaitList(queue: cl_command_queue, num_waits: cl_uint, waits: List<cl_event>, event: Out<cl_event>) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.marker(&waits)?);
        Ok(())
    }

    fn clEnqueueBarrierWithWaitList(queue: cl_command_queue, num_waits: cl_uint, waits: List<cl_event>, event: Out<cl_event>) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, queue.barrier(&waits)?);
        Ok(())
    }

    fn clEnqueueMarker(queue: cl_command_queue, event: Out<cl_event>) {
        let queue = handles::get::<Queue>(queue)?;
        // "CL_INVALID_VALUE if event is a NULL value."
        check!(!event.is_null(), InvalidValue, "the pointer for the event is null");
        return_event(&event, queue.marker(&[])?);
        Ok(())
    }

    fn clEnqueueWaitForEvents(queue: cl_command_queue, num_events: cl_uint, events: List<cl_event>) {
        let queue = handles::get::<Queue>(queue)?;
        // "CL_INVALID_VALUE if num_events is zero or event_list is NULL."
        check!(num_events != 0 && !events.is_null(), InvalidValue, "the list of events is empty");
        // "CL_INVALID_EVENT if event objects specified in event_list are not valid events."
        let events: Vec<Arc<Event>> = handles::get_all(&events.get(num_events as usize))?;
        queue.barrier(&events).map(drop)
    }

    fn clEnqueueBarrier(queue: cl_command_queue) {
        handles::get::<Queue>(queue)?.barrier(&[]).map(drop)
    }
}

/// `clEnqueueMapBuffer`. Not declared with [`entry!`](crate::entry), because it returns an address instead of an
/// object.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clEnqueueMapBuffer(
    queue: cl_command_queue,
    buffer: cl_mem,
    blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    num_waits: cl_uint,
    waits: *const cl_event,
    event: *mut cl_event,
    errcode_ret: *mut cl_int,
) -> *mut c_void {
    // SAFETY: arguments of a call from C, as in all entry points.
    let (waits, event) = unsafe { (List::from_c(waits), Out::from_c(event)) };
    crate::ffi::pointer("clEnqueueMapBuffer", errcode_ret, |_| {
        let (queue, buffers) = objects(queue, [buffer])?;
        let waits = wait_list(num_waits, &waits)?;
        let (address, done) = queue.map(&buffers[0], blocking != 0, flags, (offset as u64, size as u64), &waits)?;
        return_event(&event, done);
        Ok(std::ptr::with_exposed_provenance_mut(address))
    })
}
