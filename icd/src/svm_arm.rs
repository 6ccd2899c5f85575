//! The entry points of cl_arm_shared_virtual_memory. They are those of OpenCL 2.0 with other names and constants, for
//! applications that use OpenCL 1.2.

use std::ffi::c_void;

use wgcl_api::commands::svm_types::SvmApi;
use wgcl_api::types::error::{Error, Result};

use crate::ffi::{Bytes, BytesMut, Callback, List, Out, OutList, UserData};
use crate::svm::{
    SvmFreeFn, Waits, alloc, enqueue_copy, enqueue_fill, enqueue_free, enqueue_map, enqueue_unmap, free, set_arg, set_exec_info,
};
use wgcl_opencl_headers::{
    CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM_ARM, CL_KERNEL_EXEC_INFO_SVM_PTRS,
    CL_KERNEL_EXEC_INFO_SVM_PTRS_ARM, cl_bool, cl_command_queue, cl_context, cl_event, cl_kernel, cl_kernel_exec_info, cl_map_flags,
    cl_svm_mem_flags, cl_uint,
};

/// `clSVMAllocARM`. The flags have the values of OpenCL 2.0.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clSVMAllocARM(
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    crate::ffi::pointer("clSVMAllocARM", std::ptr::null_mut(), |_| alloc(context, flags, size, alignment))
}

/// `clSVMFreeARM`
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clSVMFreeARM(context: cl_context, pointer: *mut c_void) {
    let _ = crate::ffi::status("clSVMFreeARM", || free(context, pointer));
}

/// Returns the parameter of OpenCL 2.0 for a parameter of the extension.
fn core_param(param: cl_kernel_exec_info) -> Result<cl_kernel_exec_info> {
    match param {
        CL_KERNEL_EXEC_INFO_SVM_PTRS_ARM => Ok(CL_KERNEL_EXEC_INFO_SVM_PTRS),
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM_ARM => Ok(CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM),
        _ => Err(Error::InvalidValue(format!("kernel execution info {param:#x} is unknown").into())),
    }
}

crate::entry! {
    fn clEnqueueSVMFreeARM(
        queue: cl_command_queue,
        count: cl_uint,
        pointers: OutList<*mut c_void>,
        function: Callback<SvmFreeFn>,
        user_data: UserData,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_free(SvmApi::Arm, queue, (count, pointers), (function, user_data), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMMemcpyARM(
        queue: cl_command_queue,
        blocking: cl_bool,
        dst: BytesMut,
        src: Bytes,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_copy(SvmApi::Arm, queue, blocking, (dst, src, size), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMMemFillARM(
        queue: cl_command_queue,
        pointer: BytesMut,
        pattern: Bytes,
        pattern_size: usize,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_fill(SvmApi::Arm, queue, (pointer, size), (pattern, pattern_size), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMMapARM(
        queue: cl_command_queue,
        blocking: cl_bool,
        flags: cl_map_flags,
        pointer: BytesMut,
        size: usize,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_map(SvmApi::Arm, queue, (blocking, flags), (pointer, size), &Waits { count: num_waits, list: waits, event })
    }

    fn clEnqueueSVMUnmapARM(
        queue: cl_command_queue,
        pointer: BytesMut,
        num_waits: cl_uint,
        waits: List<cl_event>,
        event: Out<cl_event>,
    ) {
        enqueue_unmap(SvmApi::Arm, queue, pointer, &Waits { count: num_waits, list: waits, event })
    }

    fn clSetKernelArgSVMPointerARM(kernel: cl_kernel, index: cl_uint, value: Bytes) {
        set_arg(kernel, index, value)
    }

    fn clSetKernelExecInfoARM(kernel: cl_kernel, param: cl_kernel_exec_info, size: usize, value: Bytes) {
        set_exec_info(kernel, core_param(param)?, size, value)
    }
}
