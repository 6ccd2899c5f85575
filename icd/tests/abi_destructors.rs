//! The order of destructor callbacks. "memobj cannot be deleted until all sub-buffer objects associated with memobj are
//! deleted" (clReleaseMemObject), so the callbacks of sub-buffers run first. The callbacks of an object run in the
//! reverse order of their registration.

mod common;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::ffi::{CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_R, CL_SUCCESS, CL_UNSIGNED_INT8, cl_buffer_region, cl_mem};
use common::images;
use common::objects::{Context, Mem};
use common::target;

/// CL_BUFFER_CREATE_TYPE_REGION
const REGION: u32 = 0x1220;

/// The names of the callbacks that were called.
type Calls = Arc<Mutex<Vec<&'static str>>>;

struct Named(&'static str, Calls);

unsafe extern "C" fn called(_: cl_mem, data: *mut c_void) {
    // SAFETY: the pointer of `register`, which is used once.
    let Named(name, calls) = *unsafe { Box::from_raw(data.cast::<Named>()) };
    calls.lock().expect("the calls").push(name);
}

fn register(mem: &Mem, name: &'static str, calls: &Calls) {
    let data = Box::into_raw(Box::new(Named(name, calls.clone()))).cast();
    assert_eq!(target().cl.clSetMemObjectDestructorCallback(mem.0, Some(called), data), CL_SUCCESS);
}

fn part(parent: &Mem) -> Mem {
    let region = cl_buffer_region { origin: 0, size: 64 };
    let mut status = 1;
    let mem = target().cl.clCreateSubBuffer(parent.0, 0, REGION, (&raw const region).cast(), &mut status);
    assert_eq!(status, CL_SUCCESS);
    Mem(mem)
}

/// Waits for the callbacks, and checks their order.
fn check(calls: &Calls, expected: &[&str]) {
    let begin = Instant::now();
    while calls.lock().expect("the calls").len() < expected.len() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // If the driver called a callback twice, or called another callback, this would happen soon.
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(*calls.lock().expect("the calls"), expected);
}

#[test]
fn a_parent_released_first_is_deleted_after_its_sub_buffer() {
    let context = Context::new();
    let calls = Calls::default();
    let parent = context.buffer(256);
    register(&parent, "parent", &calls);
    let part = part(&parent);
    register(&part, "part", &calls);
    drop(parent);
    check(&calls, &[]);
    drop(part);
    check(&calls, &["part", "parent"]);
}

#[test]
fn a_sub_buffer_released_first_is_deleted_at_once() {
    let context = Context::new();
    let calls = Calls::default();
    let parent = context.buffer(256);
    register(&parent, "parent", &calls);
    let part = part(&parent);
    register(&part, "part", &calls);
    drop(part);
    check(&calls, &["part"]);
    drop(parent);
    check(&calls, &["part", "parent"]);
}

#[test]
fn several_sub_buffers_are_deleted_before_their_parent() {
    let context = Context::new();
    let calls = Calls::default();
    let parent = context.buffer(256);
    register(&parent, "parent 1", &calls);
    register(&parent, "parent 2", &calls);
    let (first, second) = (part(&parent), part(&parent));
    register(&first, "first 1", &calls);
    register(&first, "first 2", &calls);
    register(&second, "second", &calls);
    drop(parent);
    drop(second);
    drop(first);
    check(&calls, &["second", "first 2", "first 1", "parent 2", "parent 1"]);
}

#[test]
fn an_image_is_deleted_before_its_buffer() {
    if !images::supported() {
        return;
    }
    let context = Context::new();
    let calls = Calls::default();
    let buffer = context.buffer(256);
    register(&buffer, "buffer", &calls);
    let mut desc = images::desc(CL_MEM_OBJECT_IMAGE1D_BUFFER, [64, 1, 1]);
    desc.mem_object = buffer.0.cast();
    let mut status = 1;
    let image = target().cl.clCreateImage(context.0, 0, &images::format(CL_R, CL_UNSIGNED_INT8), &desc, null_mut(), &mut status);
    assert_eq!(status, CL_SUCCESS);
    let image = Mem(image);
    register(&image, "image", &calls);
    drop(buffer);
    check(&calls, &[]);
    drop(image);
    check(&calls, &["image", "buffer"]);
}
