//! The functions for sharing with OpenGL and EGL, called for a context that was not created from OpenGL. Each function
//! must return an error that its extension specifies.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::ffi::{
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_SUCCESS, cl_command_queue, cl_context,
    cl_event, cl_int, cl_mem, cl_uint,
};
use common::objects::Context;
use common::target;

const CL_INVALID_GL_OBJECT: cl_int = -60;
const CL_INVALID_EGL_OBJECT_KHR: cl_int = -1093;
const CL_MEM_READ_WRITE: u64 = 1;
const GL_TEXTURE_2D: cl_uint = 0x0DE1;

common::extension_functions! {
    fn clCreateFromGLBuffer(c: cl_context, flags: u64, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clCreateFromGLTexture(c: cl_context, flags: u64, kind: cl_uint, level: cl_int, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clCreateFromGLTexture2D(c: cl_context, flags: u64, kind: cl_uint, level: cl_int, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clCreateFromGLTexture3D(c: cl_context, flags: u64, kind: cl_uint, level: cl_int, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clCreateFromGLRenderbuffer(c: cl_context, flags: u64, name: cl_uint, status: *mut cl_int) -> cl_mem;
    fn clGetGLObjectInfo(m: cl_mem, kind: *mut cl_uint, name: *mut cl_uint) -> cl_int;
    fn clEnqueueAcquireGLObjects(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReleaseGLObjects(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCreateEventFromGLsyncKHR(c: cl_context, sync: *mut c_void, status: *mut cl_int) -> cl_event;
    fn clCreateFromEGLImageKHR(c: cl_context, display: *mut c_void, image: *mut c_void, flags: u64, properties: *const isize, status: *mut cl_int) -> cl_mem;
    fn clEnqueueAcquireEGLObjectsKHR(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReleaseEGLObjectsKHR(q: cl_command_queue, count: cl_uint, list: *const cl_mem, n: cl_uint, waits: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clCreateEventFromEGLSyncKHR(c: cl_context, sync: *mut c_void, display: *mut c_void, status: *mut cl_int) -> cl_event;
}

fn functions() -> Option<Functions> {
    target().is_wgcl().then(|| Functions::exported().expect("the loader exports the functions"))
}

#[test]
fn no_context_was_created_from_opengl() {
    let Some(f) = functions() else { return };
    let context = Context::new();
    for handle in [context.0, null_mut()] {
        let mut status = [0; 6];
        let [buffer, texture, flat, deep, renderbuffer, gl_sync] = &mut status;
        assert!(f.clCreateFromGLBuffer(handle, CL_MEM_READ_WRITE, 1, buffer).is_null());
        assert!(f.clCreateFromGLTexture(handle, CL_MEM_READ_WRITE, GL_TEXTURE_2D, 0, 1, texture).is_null());
        assert!(f.clCreateFromGLTexture2D(handle, CL_MEM_READ_WRITE, GL_TEXTURE_2D, 0, 1, flat).is_null());
        assert!(f.clCreateFromGLTexture3D(handle, CL_MEM_READ_WRITE, GL_TEXTURE_2D, 0, 1, deep).is_null());
        assert!(f.clCreateFromGLRenderbuffer(handle, CL_MEM_READ_WRITE, 1, renderbuffer).is_null());
        assert!(f.clCreateEventFromGLsyncKHR(handle, null_mut(), gl_sync).is_null());
        assert_eq!(status, [CL_INVALID_CONTEXT; 6]);
    }
    let mut status = 0;
    for (handle, error) in [(context.0, CL_INVALID_EGL_OBJECT_KHR), (null_mut(), CL_INVALID_CONTEXT)] {
        assert!(f.clCreateEventFromEGLSyncKHR(handle, null_mut(), null_mut(), &mut status).is_null());
        assert_eq!(status, error);
    }
    assert!(f.clCreateFromEGLImageKHR(context.0, null_mut(), null_mut(), CL_MEM_READ_WRITE, null(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_VALUE, "the display is null");
    assert!(f.clCreateFromEGLImageKHR(null_mut(), null_mut(), null_mut(), CL_MEM_READ_WRITE, null(), &mut status).is_null());
    assert_eq!(status, CL_INVALID_CONTEXT);
}

#[test]
fn acquiring_and_releasing_no_objects_succeeds() {
    let Some(f) = functions() else { return };
    let context = Context::new();
    let (queue, memory) = (context.queue(0), context.buffer(16));
    let list = [memory.0];
    let gl = [Functions::clEnqueueAcquireGLObjects, Functions::clEnqueueReleaseGLObjects].map(|call| (call, CL_INVALID_CONTEXT));
    let egl =
        [Functions::clEnqueueAcquireEGLObjectsKHR, Functions::clEnqueueReleaseEGLObjectsKHR].map(|call| (call, CL_INVALID_EGL_OBJECT_KHR));
    for (call, unsupported) in gl.into_iter().chain(egl) {
        let call = |queue, count, list| call(&f, queue, count, list, 0, null(), null_mut());
        assert_eq!(call(queue.0, 0, null()), CL_SUCCESS);
        assert_eq!(call(queue.0, 0, list.as_ptr()), CL_INVALID_VALUE);
        assert_eq!(call(queue.0, 1, null()), CL_INVALID_VALUE);
        assert_eq!(call(queue.0, 1, list.as_ptr()), unsupported);
        assert_eq!(call(null_mut(), 0, null()), CL_INVALID_COMMAND_QUEUE);
    }
    let invalid: [cl_mem; 1] = [null_mut()];
    assert_eq!(f.clEnqueueAcquireEGLObjectsKHR(queue.0, 1, invalid.as_ptr(), 0, null(), null_mut()), CL_INVALID_MEM_OBJECT);
    assert_eq!(f.clGetGLObjectInfo(memory.0, null_mut(), null_mut()), CL_INVALID_GL_OBJECT);
}
