//! Unified shared memory (cl_intel_unified_shared_memory), and arguments that are addresses of buffers
//! (cl_ext_buffer_device_address).

use std::ffi::c_void;
use std::sync::Arc;

use wgcl_api::commands::command::CommandType;
use wgcl_api::commands::svm_types::SvmCopy;
use wgcl_api::commands::svm_types::{Usm, UsmFlags, UsmType};
use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::kernel::Kernel;
use wgcl_api::objects::queue::Queue;
use wgcl_api::types::error::Result;

use crate::check;
use crate::event::{return_event, wait_list};
use crate::ffi::{Bytes, BytesMut, List, Out};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_device_id, CL_MEM_ALLOC_BASE_PTR_INTEL, CL_MEM_ALLOC_DEVICE_INTEL, CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_SIZE_INTEL,
    CL_MEM_ALLOC_TYPE_INTEL, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, cl_bool, cl_command_queue, cl_context,
    cl_device_id, cl_event, cl_int, cl_kernel, cl_mem_migration_flags, cl_uint, cl_ulong,
};

/// CL_MEM_TYPE_UNKNOWN_INTEL
const UNKNOWN: cl_uint = 0x4196;

/// Returns the flags in a list of cl_mem_properties_intel.
fn flags(list: &List<u64>) -> Result<UsmFlags> {
    let mut flags = None;
    // "CL_INVALID_PROPERTY if a memory property name in properties is not a supported property name, if the value
    // specified for a supported property name is not valid, or if the same property name is specified more than
    // once."
    list.checked_properties(|name, value| {
        check!(
            name == u64::from(CL_MEM_ALLOC_FLAGS_INTEL) && flags.is_none(),
            InvalidProperty,
            "property {name:#x} is unknown, or specified twice"
        );
        flags = UsmFlags::from_bits(value);
        check!(flags.is_some(), InvalidProperty, "allocation flags {value:#x} are unknown");
        Ok(())
    })?;
    Ok(flags.unwrap_or_default())
}

/// Allocates memory. If `device` is null, the memory is not associated with a device.
fn alloc(
    (context, kind, device): (cl_context, UsmType, cl_device_id),
    properties: &List<u64>,
    (size, alignment): (usize, cl_uint),
) -> Result<*mut c_void> {
    let context = handles::get::<Context>(context)?;
    let device: Option<Arc<Device>> = if device.is_null() { None } else { Some(handles::get(device)?) };
    let usm = Usm { kind, device, flags: flags(properties)? };
    context.usm_alloc(usm, size as u64, alignment).map(std::ptr::with_exposed_provenance_mut)
}

crate::entry! {
    fn clHostMemAllocINTEL(context: cl_context, properties: List<u64>, size: usize, alignment: cl_uint) -> *mut c_void {
        alloc((context, UsmType::Host, std::ptr::null_mut()), &properties, (size, alignment))
    }

    fn clDeviceMemAllocINTEL(
        context: cl_context,
        device: cl_device_id,
        properties: List<u64>,
        size: usize,
        alignment: cl_uint,
    ) -> *mut c_void {
        alloc((context, UsmType::Device, device), &properties, (size, alignment))
    }

    fn clSharedMemAllocINTEL(
        context: cl_context,
        device: cl_device_id,
        properties: List<u64>,
        size: usize,
        alignment: cl_uint,
    ) -> *mut c_void {
        alloc((context, UsmType::Shared, device), &properties, (size, alignment))
    }

    fn clMemFreeINTEL(context: cl_context, pointer: BytesMut) {
        handles::get::<Context>(context)?.usm_free(pointer.address())
    }

    fn clMemBlockingFreeINTEL(context: cl_context, pointer: BytesMut) {
        handles::get::<Context>(context)?.usm_free_when_unused(pointer.address())
    }

    fn clGetMemAllocInfoINTEL(context: cl_context, pointer: Bytes, param: cl_uint, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let found = handles::get::<Context>(context)?.usm_at(pointer.address());
        let query = Query::new(size, value, size_ret);
        match param {
            CL_MEM_ALLOC_TYPE_INTEL => query.put(found.map_or(UNKNOWN, |info| info.usm.kind as u32)),
            CL_MEM_ALLOC_BASE_PTR_INTEL => query.put(found.map_or(0, |info| info.base)),
            CL_MEM_ALLOC_SIZE_INTEL => query.put(found.map_or(0, |info| info.size as usize)),
            CL_MEM_ALLOC_DEVICE_INTEL => {
                let device = found.and_then(|info| info.usm.device);
                query.put(device.map_or(std::ptr::null_mut::<_cl_device_id>(), |device| handles::borrowed(&device)))
            }
            CL_MEM_ALLOC_FLAGS_INTEL => query.put(found.map_or(0, |info| info.usm.flags.bits())),
            _ => query.unknown(param),
        }
    }

    fn clSetKernelArgMemPointerINTEL(kernel: cl_kernel, index: cl_uint, value: Bytes) {
        let kernel = handles::get::<Kernel>(kernel)?;
        check!(kernel.program().context().has_usm(), InvalidOperation, "no device of the context supports unified shared memory");
        kernel.set_arg_svm(index, value.address())
    }

    fn clSetKernelArgDevicePointerEXT(kernel: cl_kernel, index: cl_uint, value: cl_ulong) {
        let kernel = handles::get::<Kernel>(kernel)?;
        // "CL_INVALID_OPERATION if no devices in the context associated with kernel support the device pointer." wgcl
        // requires the support of all devices of the context.
        check!(kernel.program().context().has_device_addresses(), InvalidOperation, "a device of the context does not support buffer device addresses");
        kernel.set_arg_device_pointer(index, value)
    }

    fn clEnqueueMemFillINTEL(
        queue: cl_command_queue,
        pointer: BytesMut,
        pattern: Bytes,
        pattern_size: usize,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        let pattern = pattern.fill_pattern(pattern_size)?;
        return_event(&event, queue.usm_fill(pointer.address(), (pattern, size as u64), |size| pointer.target(size), &waits)?);
        Ok(())
    }

    fn clEnqueueMemsetINTEL(
        queue: cl_command_queue,
        pointer: BytesMut,
        value: cl_int,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        // Only the lowest byte is used, as in `memset`.
        let pattern = vec![value as u8];
        return_event(&event, queue.usm_fill(pointer.address(), (pattern, size as u64), |size| pointer.target(size), &waits)?);
        Ok(())
    }

    fn clEnqueueMemcpyINTEL(
        queue: cl_command_queue,
        blocking: cl_bool,
        dst: BytesMut,
        src: Bytes,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        let copy = SvmCopy { dst: dst.address(), src: src.address(), size: size as u64 };
        return_event(&event, queue.usm_copy(blocking != 0, copy, |size| dst.target(size), |size| src.source(size), &waits)?);
        Ok(())
    }

    fn clEnqueueMigrateMemINTEL(
        queue: cl_command_queue,
        _pointer: Bytes,
        _size: usize,
        flags: cl_mem_migration_flags,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        // "CL_INVALID_VALUE if flags is not a supported combination of memory migration flags."
        let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        check!(flags & !known == 0, InvalidValue, "flags {flags:#x} are unknown");
        return_event(&event, queue.usm_hint(CommandType::UsmMigrateMem, &waits)?);
        Ok(())
    }

    fn clEnqueueMemAdviseINTEL(
        queue: cl_command_queue,
        _pointer: Bytes,
        _size: usize,
        _advice: cl_uint,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        let queue = handles::get::<Queue>(queue)?;
        let waits = wait_list(num_waits, &waits)?;
        // "If a memory advice hint is not supported by the device it will be ignored."
        return_event(&event, queue.usm_hint(CommandType::UsmMemAdvise, &waits)?);
        Ok(())
    }
}
