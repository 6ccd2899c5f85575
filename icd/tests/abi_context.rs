//! Contexts and command queues: creation, reference counts, queries, properties, and handles of the wrong type.

mod common;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use common::ffi::{
    CL_CONTEXT_DEVICES, CL_CONTEXT_NUM_DEVICES, CL_CONTEXT_PLATFORM, CL_CONTEXT_PROPERTIES, CL_CONTEXT_REFERENCE_COUNT, CL_DEVICE_TYPE_ALL,
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_PROPERTY, CL_INVALID_QUEUE_PROPERTIES, CL_INVALID_VALUE,
    CL_PRINTF_CALLBACK_ARM, CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, CL_QUEUE_REFERENCE_COUNT,
    CL_SUCCESS, cl_bitfield, cl_int, cl_uint,
};
use common::objects::{Context, Queue};
use common::{info, info_bytes, target};

fn context_info<T: Copy + Default>(context: &Context, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetContextInfo(context.0, name, size, value, ret))
}

fn queue_info<T: Copy + Default>(queue: &Queue, name: cl_uint) -> Result<T, cl_int> {
    info(|size, value, ret| target().cl.clGetCommandQueueInfo(queue.0, name, size, value, ret))
}

#[test]
fn contexts_are_reference_counted() {
    let cl = &target().cl;
    let context = Context::new();
    assert_eq!(context_info(&context, CL_CONTEXT_REFERENCE_COUNT), Ok(1u32));
    assert_eq!(cl.clRetainContext(context.0), CL_SUCCESS);
    assert_eq!(context_info(&context, CL_CONTEXT_REFERENCE_COUNT), Ok(2u32));
    assert_eq!(cl.clReleaseContext(context.0), CL_SUCCESS);
    assert_eq!(context_info(&context, CL_CONTEXT_REFERENCE_COUNT), Ok(1u32));
}

#[test]
fn a_context_reports_its_devices_and_properties() {
    let target = target();
    let context = Context::new();
    assert_eq!(context_info(&context, CL_CONTEXT_NUM_DEVICES), Ok(1u32));
    assert_eq!(context_info(&context, CL_CONTEXT_DEVICES), Ok(target.device as usize));
    let none = info_bytes(|size, value, ret| target.cl.clGetContextInfo(context.0, CL_CONTEXT_PROPERTIES, size, value, ret));
    assert!(none.is_ok_and(|bytes| bytes.iter().all(|&byte| byte == 0)), "no properties were given");

    let properties = [CL_CONTEXT_PLATFORM, target.platform as isize, 0];
    let mut status = 1;
    let context = Context(target.cl.clCreateContextFromType(properties.as_ptr(), CL_DEVICE_TYPE_ALL, None, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    let bytes = info_bytes(|size, value, ret| target.cl.clGetContextInfo(context.0, CL_CONTEXT_PROPERTIES, size, value, ret));
    let want: Vec<u8> = properties.iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(bytes, Ok(want), "the query returns the properties of the creation");
    let devices = info_bytes(|size, value, ret| target.cl.clGetContextInfo(context.0, CL_CONTEXT_DEVICES, size, value, ret));
    let count: u32 = context_info(&context, CL_CONTEXT_NUM_DEVICES).expect("the number of devices");
    assert_eq!(devices.map(|bytes| bytes.len()), Ok(count as usize * size_of::<usize>()));
}

#[test]
fn invalid_arguments_of_context_creation_are_rejected() {
    let target = target();
    let create = |properties: *const isize, count, devices: *const *mut c_void| {
        let mut status = 1;
        let context = target.cl.clCreateContext(properties, count, devices, None, null_mut(), &mut status);
        assert_eq!(context.is_null(), status != CL_SUCCESS);
        status
    };
    assert_eq!(create(null(), 0, &target.device), CL_INVALID_VALUE);
    assert_eq!(create(null(), 1, null()), CL_INVALID_VALUE);
    assert_eq!(create([0x7777, 0, 0].as_ptr(), 1, &target.device), CL_INVALID_PROPERTY);
    if target.is_wgcl() {
        // The loader reads the dispatch table of the first device, so only the second device can be null.
        assert_eq!(create(null(), 2, [target.device, null_mut()].as_ptr()), CL_INVALID_DEVICE);
    }
    // User data without a callback must be rejected.
    let mut status = 1;
    let mut data = 0;
    let context = target.cl.clCreateContext(null(), 1, &target.device, None, (&raw mut data).cast(), &mut status);
    assert_eq!(status, CL_INVALID_VALUE);
    assert!(context.is_null());
    // The pointer to the error code may be null.
    let context = target.cl.clCreateContext(null(), 1, &target.device, None, null_mut(), null_mut());
    assert!(!context.is_null());
    assert_eq!(target.cl.clReleaseContext(context), CL_SUCCESS);
}

#[test]
fn context_info_checks_sizes_and_names() {
    let cl = &target().cl;
    let context = Context::new();
    let mut small = [0u8; 2];
    assert_eq!(cl.clGetContextInfo(context.0, CL_CONTEXT_REFERENCE_COUNT, 2, small.as_mut_ptr().cast(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clGetContextInfo(context.0, 0xdead, 0, null_mut(), null_mut()), CL_INVALID_VALUE);
}

#[test]
fn queues_are_reference_counted_and_report_their_parents() {
    let target = target();
    let context = Context::new();
    let queue = context.queue(CL_QUEUE_PROFILING_ENABLE);
    assert_eq!(queue_info(&queue, CL_QUEUE_REFERENCE_COUNT), Ok(1u32));
    assert_eq!(target.cl.clRetainCommandQueue(queue.0), CL_SUCCESS);
    assert_eq!(queue_info(&queue, CL_QUEUE_REFERENCE_COUNT), Ok(2u32));
    assert_eq!(target.cl.clReleaseCommandQueue(queue.0), CL_SUCCESS);
    assert_eq!(queue_info(&queue, CL_QUEUE_CONTEXT), Ok(context.0 as usize));
    assert_eq!(queue_info(&queue, CL_QUEUE_DEVICE), Ok(target.device as usize));
    assert_eq!(queue_info(&queue, CL_QUEUE_PROPERTIES), Ok(CL_QUEUE_PROFILING_ENABLE));
    assert_eq!(queue_info::<u32>(&queue, 0xdead), Err(CL_INVALID_VALUE));
}

#[test]
fn a_queue_keeps_its_context_alive() {
    let context = Context::new();
    let queue = context.queue(0);
    let handle = context.0 as usize;
    drop(context);
    assert_eq!(queue_info(&queue, CL_QUEUE_CONTEXT), Ok(handle));
    queue.finish();
}

#[test]
fn invalid_queue_properties_are_rejected() {
    let target = target();
    let context = Context::new();
    let create = |properties: &[cl_bitfield]| {
        let mut status = 1;
        let queue = target.cl.clCreateCommandQueueWithProperties(context.0, target.device, properties.as_ptr(), &mut status);
        assert_eq!(queue.is_null(), status != CL_SUCCESS);
        if !queue.is_null() {
            assert_eq!(target.cl.clReleaseCommandQueue(queue), CL_SUCCESS);
        }
        status
    };
    let name = cl_bitfield::from(CL_QUEUE_PROPERTIES);
    assert_eq!(create(&[0]), CL_SUCCESS);
    assert_eq!(create(&[name, CL_QUEUE_PROFILING_ENABLE, 0]), CL_SUCCESS);
    assert_eq!(create(&[0x7777, 1, 0]), CL_INVALID_VALUE);
    let status = create(&[name, 1 << 40, 0]);
    assert!([CL_INVALID_VALUE, CL_INVALID_QUEUE_PROPERTIES].contains(&status), "{status}");
    let mut status = 1;
    let queue = target.cl.clCreateCommandQueue(context.0, null_mut(), 0, &mut status);
    assert_eq!((queue.is_null(), status), (true, CL_INVALID_DEVICE));
}

#[test]
fn null_handles_are_rejected() {
    let cl = &target().cl;
    assert_eq!(cl.clRetainContext(null_mut()), CL_INVALID_CONTEXT);
    assert_eq!(cl.clReleaseContext(null_mut()), CL_INVALID_CONTEXT);
    assert_eq!(cl.clFinish(null_mut()), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(cl.clReleaseCommandQueue(null_mut()), CL_INVALID_COMMAND_QUEUE);
    let mut status = 1;
    assert!(cl.clCreateBuffer(null_mut(), 0, 4, null_mut(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
}

#[test]
fn handles_of_another_type_are_rejected() {
    if !target().is_wgcl() {
        // Most drivers dereference any handle without checking it, so this test would crash them.
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let buffer = context.buffer(16);
    assert_eq!(cl.clFinish(context.0), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(cl.clFinish(buffer.0), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(cl.clRetainContext(queue.0), CL_INVALID_CONTEXT);
    assert_eq!(cl.clReleaseContext(buffer.0), CL_INVALID_CONTEXT);
    let mut status = 1;
    assert!(cl.clCreateBuffer(queue.0, 0, 4, null_mut(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
}

#[test]
fn released_handles_are_rejected() {
    if !target().is_wgcl() {
        return;
    }
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let handle = queue.0;
    drop(queue);
    assert_eq!(cl.clFinish(handle), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(cl.clReleaseCommandQueue(handle), CL_INVALID_COMMAND_QUEUE);
    let other = Context::new();
    let handle = other.0;
    drop(other);
    assert_eq!(cl.clRetainContext(handle), CL_INVALID_CONTEXT);
    let mut status = 1;
    assert!(cl.clCreateBuffer(handle, 0, 4, null_mut(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
}

/// The text that `take_printed` received. Each text is followed by the user data of the context, in brackets.
static PRINTED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

unsafe extern "C" fn take_printed(text: *const c_char, length: usize, _complete: usize, user_data: *mut c_void) {
    // SAFETY: the driver passes the number of bytes.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let mut printed = PRINTED.lock().expect("the text");
    printed.extend_from_slice(text);
    printed.extend_from_slice(format!("[{}]", user_data.addr()).as_bytes());
}

#[test]
fn a_context_receives_the_output_of_printf() {
    let target = target();
    if !target.is_wgcl() {
        return;
    }
    let callback: unsafe extern "C" fn(*const c_char, usize, usize, *mut c_void) = take_printed;
    let properties = [CL_PRINTF_CALLBACK_ARM, (callback as usize).cast_signed(), 0];
    let mut status = 1;
    let user_data = std::ptr::without_provenance_mut(7);
    let context = Context(target.cl.clCreateContext(properties.as_ptr(), 1, &target.device, None, user_data, &mut status));
    assert_eq!(status, CL_SUCCESS);
    let program = context.program("kernel void k(int n) { printf(\"printed %d\\n\", n); }");
    assert_eq!(program.build(""), CL_SUCCESS);
    let kernel = program.kernel("k");
    assert_eq!(kernel.set(0, &42_i32), CL_SUCCESS);
    let queue = context.queue(0);
    assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
    queue.finish();
    assert_eq!(String::from_utf8_lossy(&PRINTED.lock().expect("the text")), "printed 42\n[7]");
}
