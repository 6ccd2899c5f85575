//! Command buffers (cl_khr_command_buffer, OpenCL API 5.15), version 0.9.8. Since version 0.9.5, every recording
//! function has a parameter for properties.

use std::sync::Arc;

use wgcl_api::commands::command_buffer::record::{RecordAt, SyncPoint};
use wgcl_api::commands::command_buffer::{CommandBuffer, CommandBufferFlags, CommandBufferOptions, CommandBufferState};
use wgcl_api::commands::svm_types::SvmCopy;
use wgcl_api::image::fill_color::color_size;
use wgcl_api::objects::kernel::Kernel;
use wgcl_api::objects::memory::Buffer;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::nd_range::NdRange;

use crate::check;
use crate::enqueue::{rect, triple};
use crate::event::{return_event, wait_list};
use crate::ffi::{Bytes, BytesMut, List, Out, OutList};
use crate::handles;
use crate::image;
use crate::image_enqueue::{image_box, origin_of};
use crate::info::Query;
use crate::mutable_dispatch;
use wgcl_opencl_headers::{
    _cl_command_buffer_khr, CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR,
    CL_COMMAND_BUFFER_QUEUES_KHR, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
    CL_COMMAND_BUFFER_STATE_KHR, CL_COMMAND_BUFFER_STATE_RECORDING_KHR, cl_bool, cl_command_buffer_info_khr, cl_command_buffer_khr,
    cl_command_buffer_properties_khr, cl_command_buffer_state_khr, cl_command_queue, cl_event, cl_kernel, cl_mem, cl_mutable_command_khr,
    cl_properties, cl_sync_point_khr, cl_uint,
};

// The headers of the bindings do not have these values yet.
const CL_COMMAND_BUFFER_CONTEXT_KHR: cl_command_buffer_info_khr = 0x1299;
const CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR: cl_command_buffer_properties_khr = 0x12B7;
const CL_COMMAND_BUFFER_STATE_FINALIZED_KHR: cl_command_buffer_state_khr = 2;

/// Implements the common part of all recording functions. Returns the command buffer, and the index of `queue` among
/// the command buffer's queues.
fn recording_any(command_buffer: cl_command_buffer_khr, queue: cl_command_queue) -> Result<(Arc<CommandBuffer>, usize)> {
    let command_buffer = handles::get::<CommandBuffer>(command_buffer)?;
    let queue = if queue.is_null() { None } else { Some(handles::get::<Queue>(queue)?) };
    let index = command_buffer.queue_index(queue.as_ref())?;
    Ok((command_buffer, index))
}

/// Implements the common part of the recording functions of commands other than kernel launches. Returns the same
/// values as [`recording_any`].
fn recording(
    command_buffer: cl_command_buffer_khr,
    queue: cl_command_queue,
    properties: &List<cl_properties>,
    mutable_handle: &Out<cl_mutable_command_khr>,
) -> Result<(Arc<CommandBuffer>, usize)> {
    let found = recording_any(command_buffer, queue)?;
    // "CL_INVALID_VALUE if values specified in properties are not valid": only kernel launches have properties, so
    // every property is invalid here.
    properties.checked_properties(|name, _| {
        Err(Error::InvalidValue(format!("property {name:#x} is not valid: only kernel launches have properties").into()))
    })?;
    // "CL_INVALID_VALUE if mutable_handle is not NULL."
    check!(mutable_handle.is_null(), InvalidValue, "mutable_handle is not null: only kernel launches are mutable");
    Ok(found)
}

/// Returns the synchronisation points of a wait list.
fn points(count: cl_uint, list: &List<cl_sync_point_khr>) -> Result<Vec<SyncPoint>> {
    // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if sync_point_wait_list is NULL and num_sync_points_in_wait_list is > 0,
    // or sync_point_wait_list is not NULL and num_sync_points_in_wait_list is 0."
    check!((count == 0) == list.is_null(), InvalidSyncPointWaitList, "the list of synchronisation points does not match the count {count}");
    Ok(list.get(count as usize))
}

/// Checks and returns a list of properties.
fn read_properties(list: &List<cl_command_buffer_properties_khr>) -> Result<CommandBufferOptions> {
    let (mut flags, mut asserts) = (None, None);
    let property_list = list.checked_properties(|name, value| {
        // "CL_INVALID_VALUE if values specified in properties are not valid, or if the same property name is
        // specified more than once."
        let repeated = if name == u64::from(CL_COMMAND_BUFFER_FLAGS_KHR) {
            let known = CommandBufferFlags::from_bits(value);
            flags.replace(known.ok_or_else(|| Error::InvalidValue(format!("flags {value:#x} are unknown").into()))?).is_some()
        } else if name == CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR {
            asserts.replace(mutable_dispatch::asserts(value)?).is_some()
        } else {
            return Err(Error::InvalidValue(format!("property {name:#x} is unknown").into()));
        };
        check!(!repeated, InvalidValue, "property {name:#x} is specified twice");
        Ok(())
    })?;
    Ok(CommandBufferOptions { flags: flags.unwrap_or_default(), asserts: asserts.unwrap_or_default(), property_list })
}

crate::entry! {
    fn clCreateCommandBufferKHR(
        num_queues: cl_uint,
        queues: List<cl_command_queue>,
        properties: List<cl_command_buffer_properties_khr>,
    ) -> *mut _cl_command_buffer_khr {
        // "CL_INVALID_VALUE if the cl_khr_command_buffer_multi_device extension is supported and num_queues is zero",
        // "if queues is NULL".
        check!(num_queues != 0 && !queues.is_null(), InvalidValue, "the list of queues is null or empty");
        let queues = handles::get_all::<Queue>(&queues.get(num_queues as usize))?;
        let options = read_properties(&properties)?;
        Ok(handles::retained(CommandBuffer::new(&queues, options)?))
    }

    fn clRetainCommandBufferKHR(command_buffer: cl_command_buffer_khr) {
        handles::retain::<CommandBuffer>(command_buffer)
    }

    fn clReleaseCommandBufferKHR(command_buffer: cl_command_buffer_khr) {
        handles::release::<CommandBuffer>(command_buffer).map(drop)
    }

    fn clFinalizeCommandBufferKHR(command_buffer: cl_command_buffer_khr) {
        handles::get::<CommandBuffer>(command_buffer)?.finalize()
    }

    fn clEnqueueCommandBufferKHR(
        num_queues: cl_uint,
        queues: List<cl_command_queue>,
        command_buffer: cl_command_buffer_khr,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let command_buffer = handles::get::<CommandBuffer>(command_buffer)?;
        let state = command_buffer.state();
        check!(state != CommandBufferState::Recording, InvalidOperation, "the command buffer is not finalised");
        check!(state == CommandBufferState::Executable, InvalidOperation, "a kernel of the command buffer lacks arguments");
        // "CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and num_queues is 0."
        check!((num_queues == 0) == queues.is_null(), InvalidValue, "the list of queues does not match the count {num_queues}");
        // "CL_INVALID_VALUE ... if num_queues is > 0 and not the same value as num_queues set on command_buffer
        // creation."
        let queue_count = command_buffer.queues().len();
        check!(num_queues == 0 || num_queues as usize == queue_count, InvalidValue, "the list has {num_queues} queues; expected {queue_count}");
        let queues = handles::get_all::<Queue>(&queues.get(num_queues as usize))?;
        let waits = wait_list(num_waits, &waits)?;
        return_event(&event, command_buffer.enqueue(&queues, &waits)?);
        Ok(())
    }

    fn clRemapCommandBufferKHR(
        command_buffer: cl_command_buffer_khr,
        _automatic: cl_bool,
        num_queues: cl_uint,
        queues: List<cl_command_queue>,
        _num_handles: cl_uint,
        _handles: List<cl_mutable_command_khr>,
        _handles_ret: OutList<cl_mutable_command_khr>,
    ) -> *mut _cl_command_buffer_khr {
        handles::get::<CommandBuffer>(command_buffer)?;
        check!(num_queues != 0 && !queues.is_null(), InvalidValue, "the list of queues is null or empty");
        handles::get_all::<Queue>(&queues.get(num_queues as usize))?;
        // "CL_INVALID_OPERATION if the platform does not support the CL_COMMAND_BUFFER_PLATFORM_REMAP_QUEUES_KHR flag."
        // wgcl does not support it, so the call always fails.
        Err(Error::InvalidOperation("recorded commands cannot be remapped to other queues".into()))
    }

    fn clCommandBarrierWithWaitListKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        sync_point.set(command_buffer.barrier(&RecordAt { queue, points: &points(num_points, &waits)? })?);
        Ok(())
    }

    fn clCommandCopyBufferKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        src: cl_mem,
        dst: cl_mem,
        src_offset: usize,
        dst_offset: usize,
        size: usize,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let (src, dst) = (handles::get::<Buffer>(src)?, handles::get::<Buffer>(dst)?);
        let points = &points(num_points, &waits)?;
        let at = RecordAt { queue, points };
        sync_point.set(command_buffer.copy(&src, &dst, (src_offset as u64, dst_offset as u64, size as u64), &at)?);
        Ok(())
    }

    fn clCommandCopyBufferRectKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        src: cl_mem,
        dst: cl_mem,
        src_origin: List<usize>,
        dst_origin: List<usize>,
        region: List<usize>,
        src_row_pitch: usize,
        src_slice_pitch: usize,
        dst_row_pitch: usize,
        dst_slice_pitch: usize,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let (src, dst) = (handles::get::<Buffer>(src)?, handles::get::<Buffer>(dst)?);
        let points = &points(num_points, &waits)?;
        let at = RecordAt { queue, points };
        let args = rect([&src_origin, &dst_origin], &region, [src_row_pitch, src_slice_pitch, dst_row_pitch, dst_slice_pitch])?;
        sync_point.set(command_buffer.copy_rect(&src, &dst, &args, &at)?);
        Ok(())
    }

    fn clCommandFillBufferKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        buffer: cl_mem,
        pattern: Bytes,
        pattern_size: usize,
        offset: usize,
        size: usize,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let buffer = handles::get::<Buffer>(buffer)?;
        let points = &points(num_points, &waits)?;
        let at = RecordAt { queue, points };
        let pattern = pattern.fill_pattern(pattern_size)?;
        sync_point.set(command_buffer.fill(&buffer, pattern, (offset as u64, size as u64), &at)?);
        Ok(())
    }

    fn clCommandNDRangeKernelKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        kernel: cl_kernel,
        work_dim: cl_uint,
        offset: List<usize>,
        global: List<usize>,
        local: List<usize>,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording_any(command_buffer, queue)?;
        let options = mutable_dispatch::dispatch_options(&properties, &mutable_handle)?;
        let kernel = handles::get::<Kernel>(kernel)?;
        let points = &points(num_points, &waits)?;
        let at = RecordAt { queue, points };
        // The arrays have `work_dim` elements. If `work_dim` is invalid, nothing is read here, and `launch` reports the
        // error.
        let count = if work_dim <= 3 { work_dim as usize } else { 0 };
        let [offset, global, local] = [&offset, &global, &local].map(|list| (!list.is_null()).then(|| list.get(count)));
        let range =
            NdRange { work_dim, global_offset: offset.as_deref(), global_size: global.as_deref(), local_size: local.as_deref() };
        let (point, command) = command_buffer.launch(&kernel, &range, &at, options)?;
        sync_point.set(point);
        if let Some(command) = command {
            mutable_handle.set(handles::borrowed(&command));
        }
        Ok(())
    }

    fn clCommandCopyImageKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        src: cl_mem,
        dst: cl_mem,
        src_origin: List<usize>,
        dst_origin: List<usize>,
        region: List<usize>,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let (src, dst) = (image::get(src)?, image::get(dst)?);
        let boxes = (origin_of(&src, &src_origin)?, origin_of(&dst, &dst_origin)?, triple(&region)?);
        sync_point.set(command_buffer.copy_image(&src, &dst, boxes, &RecordAt { queue, points: &points(num_points, &waits)? })?);
        Ok(())
    }

    fn clCommandCopyBufferToImageKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        src: cl_mem,
        dst: cl_mem,
        src_offset: usize,
        dst_origin: List<usize>,
        region: List<usize>,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let (src, dst) = (handles::get::<Buffer>(src)?, image::get(dst)?);
        let area = image_box(&dst, &dst_origin, &region)?;
        sync_point.set(command_buffer.copy_buffer_to_image(&src, &dst, src_offset as u64, area, &RecordAt { queue, points: &points(num_points, &waits)? })?);
        Ok(())
    }

    fn clCommandCopyImageToBufferKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        src: cl_mem,
        dst: cl_mem,
        src_origin: List<usize>,
        region: List<usize>,
        dst_offset: usize,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let (src, dst) = (image::get(src)?, handles::get::<Buffer>(dst)?);
        let area = image_box(&src, &src_origin, &region)?;
        sync_point.set(command_buffer.copy_image_to_buffer(&src, &dst, area, dst_offset as u64, &RecordAt { queue, points: &points(num_points, &waits)? })?);
        Ok(())
    }

    fn clCommandFillImageKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        image: cl_mem,
        color: Bytes,
        origin: List<usize>,
        region: List<usize>,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let image = image::get(image)?;
        check!(!color.is_null(), InvalidValue, "fill_color is null");
        let area = image_box(&image, &origin, &region)?;
        let color = color.get(color_size(image.format()));
        sync_point.set(command_buffer.fill_image(&image, &color, area, &RecordAt { queue, points: &points(num_points, &waits)? })?);
        Ok(())
    }

    fn clCommandSVMMemcpyKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        dst: BytesMut,
        src: Bytes,
        size: usize,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let copy = SvmCopy { dst: dst.address(), src: src.address(), size: size as u64 };
        sync_point.set(command_buffer.svm_copy(copy, |size| dst.target(size), |size| src.source(size), &RecordAt { queue, points: &points(num_points, &waits)? })?);
        Ok(())
    }

    fn clCommandSVMMemFillKHR(
        command_buffer: cl_command_buffer_khr,
        queue: cl_command_queue,
        properties: List<cl_properties>,
        pointer: BytesMut,
        pattern: Bytes,
        pattern_size: usize,
        size: usize,
        num_points: cl_uint,
        waits: List<cl_sync_point_khr>,
        sync_point: Out<cl_sync_point_khr>,
        mutable_handle: Out<cl_mutable_command_khr>,
    ) {
        let (command_buffer, queue) = recording(command_buffer, queue, &properties, &mutable_handle)?;
        let points = &points(num_points, &waits)?;
        let at = RecordAt { queue, points };
        let pattern = pattern.fill_pattern(pattern_size)?;
        sync_point.set(command_buffer.svm_fill(pointer.address(), (pattern, size as u64), |size| pointer.target(size), &at)?);
        Ok(())
    }

    fn clGetCommandBufferInfoKHR(
        command_buffer: cl_command_buffer_khr,
        param: cl_command_buffer_info_khr,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        let command_buffer = handles::get::<CommandBuffer>(command_buffer)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_COMMAND_BUFFER_NUM_QUEUES_KHR => query.put(command_buffer.queues().len() as cl_uint),
            CL_COMMAND_BUFFER_QUEUES_KHR => query.put(command_buffer.queues().iter().map(handles::borrowed).collect::<Vec<_>>()),
            CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => query.put(handles::reference_count(&command_buffer)),
            CL_COMMAND_BUFFER_STATE_KHR => query.put(match command_buffer.state() {
                CommandBufferState::Recording => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
                CommandBufferState::Finalized => CL_COMMAND_BUFFER_STATE_FINALIZED_KHR,
                CommandBufferState::Executable => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
            }),
            CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => query.put(command_buffer.property_list().unwrap_or(&[])),
            CL_COMMAND_BUFFER_CONTEXT_KHR => query.put(handles::borrowed(command_buffer.context())),
            _ => query.unknown(param),
        }
    }
}
