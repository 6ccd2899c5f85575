//! Several devices in one context: a slow device does not delay another one.
//!
//! The second device is the interpreter, which is slow.

mod common;

use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_DEVICE_TYPE_ALL, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_QUEUED, CL_RUNNING, CL_SUBMITTED, CL_SUCCESS, cl_device_id, cl_event, cl_int,
    cl_uint,
};
use common::info;
use common::objects::{Context, Event, Queue};

const SOURCE: &str = "kernel void iterations(global uint *out, uint n) {
    uint x = get_global_id(0);
    for (uint k = 0; k < n; k++) x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}";

/// Returns the value that the kernel writes for a work-item.
fn expected(item: u32, iterations: u32) -> u32 {
    (0..iterations).fold(item, |x, _| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
}

fn status(event: &Event) -> cl_int {
    info(|size, value, ret| common::target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, ret)).unwrap_or(-1)
}

#[test]
fn a_slow_device_does_not_delay_another() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    assert!(std::env::var_os("WGCL_TEST_DEVICE").is_none(), "WGCL_TEST_DEVICE is set, but this test chooses its own devices: exclude it");
    // SAFETY: the only test of this process; no other thread exists that reads the environment.
    unsafe { std::env::set_var("WGCL_INTERPRETER", "1") };
    let target = common::target();
    let cl = &target.cl;
    let mut devices: [cl_device_id; 8] = [null_mut(); 8];
    let mut count: cl_uint = 0;
    assert_eq!(cl.clGetDeviceIDs(target.platform, CL_DEVICE_TYPE_ALL, 8, devices.as_mut_ptr(), &mut count), CL_SUCCESS);
    // The interpreter is the last device.
    let last = count.min(8) as usize - 1;
    assert!(last >= 1, "the interpreter and another device");
    let both = [devices[0], devices[last]];
    let mut status_ret = 1;
    let context = Context(cl.clCreateContext(null(), 2, both.as_ptr(), None, null_mut(), &mut status_ret));
    assert_eq!(status_ret, CL_SUCCESS, "clCreateContext");
    let program = context.program(SOURCE);
    assert_eq!(cl.clBuildProgram(program.0, 0, null(), c"".as_ptr(), None, null_mut()), CL_SUCCESS);
    let [quick, slow] = both.map(|device| {
        let queue = Queue(cl.clCreateCommandQueue(context.0, device, 0, &mut status_ret));
        assert_eq!(status_ret, CL_SUCCESS, "clCreateCommandQueue");
        queue
    });
    let (few, many) = (1000_u32, 2_000_000_u32);
    let buffers = [context.buffer(64 * 4), context.buffer(64 * 4)];
    let [kernel, long] = [(&buffers[0], &few), (&buffers[1], &many)].map(|(buffer, iterations)| {
        let kernel = program.kernel("iterations");
        kernel.set_mem(0, buffer);
        assert_eq!(kernel.set(1, iterations), CL_SUCCESS);
        kernel
    });
    // Do not measure the first launch, which compiles the kernel.
    assert_eq!(quick.launch(&kernel, &[64], Some(&[64])), CL_SUCCESS);
    quick.finish();

    let mut event: cl_event = null_mut();
    let (global, local) = ([64_usize], [64_usize]);
    let launched = cl.clEnqueueNDRangeKernel(slow.0, long.0, 1, null(), global.as_ptr(), local.as_ptr(), 0, null(), &mut event);
    assert_eq!(launched, CL_SUCCESS);
    let event = Event(event);
    assert_eq!(cl.clFlush(slow.0), CL_SUCCESS);
    let begin = Instant::now();
    while [CL_QUEUED, CL_SUBMITTED].map(|status| status as cl_int).contains(&status(&event)) && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    for _ in 0..10 {
        assert_eq!(quick.launch(&kernel, &[64], Some(&[64])), CL_SUCCESS);
        quick.finish();
    }
    assert_eq!(status(&event), CL_RUNNING as cl_int, "the slow device is still running");
    slow.finish();
    for (queue, buffer, iterations) in [(&quick, &buffers[0], few), (&slow, &buffers[1], many)] {
        let wanted: Vec<u32> = (0..64).map(|item| expected(item, iterations)).collect();
        assert_eq!(queue.read::<u32>(buffer, 64), wanted);
    }
}
