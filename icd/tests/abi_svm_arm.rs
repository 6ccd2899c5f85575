//! Shared virtual memory through the functions of cl_arm_shared_virtual_memory, which have the semantics of OpenCL 2.0.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use common::ffi::{
    CL_COMMAND_SVM_FREE_ARM, CL_COMMAND_SVM_MAP_ARM, CL_COMMAND_SVM_MEMCPY_ARM, CL_COMMAND_SVM_MEMFILL_ARM, CL_COMMAND_SVM_UNMAP_ARM,
    CL_DEVICE_EXTENSIONS, CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_CAPABILITIES_ARM, CL_EVENT_COMMAND_TYPE, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM_ARM, CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_EXEC_INFO_SVM_PTRS_ARM,
    CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_OVERLAP, CL_MEM_READ_WRITE, CL_MEM_SVM_ATOMICS_ARM, CL_MEM_USE_HOST_PTR,
    CL_MEM_USES_SVM_POINTER_ARM, CL_SUCCESS, CL_TRUE, SvmFreeCallback, cl_command_queue, cl_context, cl_event, cl_int, cl_kernel, cl_uint,
};
use common::objects::{Context, Event, Mem};
use common::{info, info_string, target};

common::extension_functions! {
    fn clSVMAllocARM(c: cl_context, flags: u64, size: usize, alignment: cl_uint) -> *mut c_void;
    fn clSVMFreeARM(c: cl_context, p: *mut c_void) -> ();
    fn clEnqueueSVMFreeARM(q: cl_command_queue, n: cl_uint, list: *mut *mut c_void, f: SvmFreeCallback, data: *mut c_void, m: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMMemcpyARM(q: cl_command_queue, blocking: cl_uint, to: *mut c_void, from: *const c_void, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMMemFillARM(q: cl_command_queue, p: *mut c_void, pattern: *const c_void, width: usize, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMMapARM(q: cl_command_queue, blocking: cl_uint, flags: u64, p: *mut c_void, size: usize, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueSVMUnmapARM(q: cl_command_queue, p: *mut c_void, n: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clSetKernelArgSVMPointerARM(k: cl_kernel, index: cl_uint, p: *const c_void) -> cl_int;
    fn clSetKernelExecInfoARM(k: cl_kernel, name: cl_uint, size: usize, value: *const c_void) -> cl_int;
}

fn capabilities(name: cl_uint) -> Result<u64, cl_int> {
    info(|size, value, ret| target().cl.clGetDeviceInfo(target().device, name, size, value, ret))
}

/// Returns the functions of the extension, if the device reports it.
fn supported() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let target = target();
    let all = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret));
    let reported = all.expect("extensions").split(' ').any(|name| name == "cl_arm_shared_virtual_memory");
    if target.is_wgcl() {
        // The extension is another way to use the shared virtual memory of the device.
        assert_eq!(reported, capabilities(CL_DEVICE_SVM_CAPABILITIES).is_ok_and(|bits| bits != 0));
    }
    reported.then(|| FUNCTIONS.get_or_init(Functions::load).as_ref().expect("all functions"))
}

fn command_type(event: cl_event) -> cl_uint {
    let event = Event(event);
    info(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret)).expect("a type")
}

#[test]
fn the_capabilities_are_those_of_the_core() {
    if supported().is_some() {
        assert_eq!(capabilities(CL_DEVICE_SVM_CAPABILITIES_ARM), capabilities(CL_DEVICE_SVM_CAPABILITIES));
    }
}

#[test]
fn kernels_and_commands_use_the_memory() {
    let Some(functions) = supported() else { return };
    let (context, cl) = (Context::new(), &target().cl);
    let queue = context.queue(0);
    let memory = functions.clSVMAllocARM(context.0, CL_MEM_READ_WRITE, 256, 0);
    assert!(!memory.is_null());
    let (five, mut event) = (5_u32, null_mut());
    let status = functions.clEnqueueSVMMemFillARM(queue.0, memory, (&raw const five).cast(), 4, 256, 0, null(), &mut event);
    assert_eq!((status, command_type(event)), (CL_SUCCESS, CL_COMMAND_SVM_MEMFILL_ARM));
    let host: Vec<u32> = (0..32).collect();
    let status = functions.clEnqueueSVMMemcpyARM(queue.0, CL_TRUE, memory, host.as_ptr().cast(), 128, 0, null(), &mut event);
    assert_eq!((status, command_type(event)), (CL_SUCCESS, CL_COMMAND_SVM_MEMCPY_ARM));
    let overlap = functions.clEnqueueSVMMemcpyARM(queue.0, CL_TRUE, memory, memory.wrapping_byte_add(4), 128, 0, null(), null_mut());
    assert_eq!(overlap, CL_MEM_COPY_OVERLAP);

    // The kernel reaches the memory through a pointer in other shared memory.
    let program = context.build(
        "typedef struct { global uint *data; } holder;
         kernel void k(global holder *h) { h->data[get_global_id(0)] = 3 * h->data[get_global_id(0)] + 1; }",
    );
    let kernel = program.kernel("k");
    let holder = functions.clSVMAllocARM(context.0, CL_MEM_READ_WRITE, 8, 8);
    let pointer = memory.addr() as u64;
    let copied = functions.clEnqueueSVMMemcpyARM(queue.0, CL_TRUE, holder, (&raw const pointer).cast(), 8, 0, null(), null_mut());
    assert_eq!(copied, CL_SUCCESS);
    assert_eq!(functions.clSetKernelArgSVMPointerARM(kernel.0, 0, holder), CL_SUCCESS);
    let list = [memory];
    let set = |name: cl_uint| functions.clSetKernelExecInfoARM(kernel.0, name, 8, list.as_ptr().cast());
    assert_eq!(set(CL_KERNEL_EXEC_INFO_SVM_PTRS_ARM), CL_SUCCESS);
    assert_eq!(set(CL_KERNEL_EXEC_INFO_SVM_PTRS), CL_INVALID_VALUE, "the constant of OpenCL 2.0");
    assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);

    let (both, bytes) = (CL_MAP_READ | CL_MAP_WRITE, 256);
    let status = functions.clEnqueueSVMMapARM(queue.0, CL_TRUE, both, memory, bytes, 0, null(), &mut event);
    assert_eq!((status, command_type(event)), (CL_SUCCESS, CL_COMMAND_SVM_MAP_ARM));
    // SAFETY: the memory is mapped, and has this size.
    let found = unsafe { std::slice::from_raw_parts(memory.cast::<u32>(), 64) }.to_vec();
    let want: Vec<u32> = (0..64).map(|k| if k < 32 { 3 * k + 1 } else { 16 }).collect();
    assert_eq!(found, want);
    let status = functions.clEnqueueSVMUnmapARM(queue.0, memory, 0, null(), &mut event);
    assert_eq!((status, command_type(event)), (CL_SUCCESS, CL_COMMAND_SVM_UNMAP_ARM));

    // A buffer in shared memory reports it.
    let mut status = 1;
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let buffer = Mem(cl.clCreateBuffer(context.0, flags, 256, memory, &mut status));
    let uses = info::<cl_uint>(|size, value, ret| cl.clGetMemObjectInfo(buffer.0, CL_MEM_USES_SVM_POINTER_ARM, size, value, ret));
    assert_eq!((status, uses), (CL_SUCCESS, Ok(1)));
    drop(buffer);
    assert_eq!(cl.clFinish(queue.0), CL_SUCCESS);
    functions.clSVMFreeARM(context.0, memory);
    functions.clSVMFreeARM(context.0, holder);
}

#[test]
fn queued_frees_call_back() {
    unsafe extern "C" fn freed(_: cl_command_queue, count: cl_uint, list: *mut *mut c_void, data: *mut c_void) {
        // SAFETY: the test passes a counter that lives until the queue is finished, and wgcl passes its own list.
        let (counter, list) = unsafe { (&*data.cast::<AtomicU32>(), std::slice::from_raw_parts(list, count as usize)) };
        counter.fetch_add(count + u32::from(list.iter().any(|pointer| pointer.is_null())), Ordering::SeqCst);
    }
    let Some(functions) = supported() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let mut list = [0; 2].map(|_: i32| functions.clSVMAllocARM(context.0, CL_MEM_READ_WRITE, 64, 0));
    let counter = AtomicU32::new(0);
    let data = (&raw const counter).cast_mut().cast();
    let mut event = null_mut();
    let status = functions.clEnqueueSVMFreeARM(queue.0, 2, list.as_mut_ptr(), Some(freed), data, 0, null(), &mut event);
    assert_eq!((status, command_type(event)), (CL_SUCCESS, CL_COMMAND_SVM_FREE_ARM));
    assert_eq!(target().cl.clFinish(queue.0), CL_SUCCESS);
    assert_eq!(counter.load(Ordering::SeqCst), 2);
    // The callback did not free the memory. Without a callback, the command does.
    let status = functions.clEnqueueSVMFreeARM(queue.0, 2, list.as_mut_ptr(), None, null_mut(), 0, null(), null_mut());
    assert_eq!((status, target().cl.clFinish(queue.0)), (CL_SUCCESS, CL_SUCCESS));
}

#[test]
fn invalid_arguments_are_rejected() {
    let Some(functions) = supported() else { return };
    let context = Context::new();
    let queue = context.queue(0);
    let atomics_alone = CL_MEM_READ_WRITE | CL_MEM_SVM_ATOMICS_ARM;
    for (flags, size, alignment) in [(0, 0, 0), (CL_MEM_READ_WRITE, 16, 3), (atomics_alone, 16, 0)] {
        assert!(functions.clSVMAllocARM(context.0, flags, size, alignment).is_null(), "{flags:#x} {size} {alignment}");
    }
    let status = functions.clEnqueueSVMMapARM(queue.0, CL_TRUE, CL_MAP_READ, null_mut(), 16, 0, null(), null_mut());
    assert_eq!(status, CL_INVALID_VALUE);
    assert_eq!(functions.clEnqueueSVMUnmapARM(queue.0, null_mut(), 0, null(), null_mut()), CL_INVALID_VALUE);
    let program = context.build("kernel void k(global int *a) { a[0] = 1; }");
    let kernel = program.kernel("k");
    let fine_system = |value: cl_uint| {
        let name = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM_ARM;
        functions.clSetKernelExecInfoARM(kernel.0, name, 4, (&raw const value).cast())
    };
    let has_system = capabilities(CL_DEVICE_SVM_CAPABILITIES).is_ok_and(|bits| bits & 4 != 0);
    assert_eq!((fine_system(0), fine_system(1)), (CL_SUCCESS, if has_system { CL_SUCCESS } else { CL_INVALID_OPERATION }));
}
