//! Sub-devices and another device in one context: results of the other device are transferred once, to all sub-devices.
//!
//! The other device is the interpreter.

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{CL_DEVICE_TYPE_ALL, CL_SUCCESS, cl_device_id, cl_event, cl_uint};
use common::objects::{Context, Event, Queue};

const SOURCE: &str = "kernel void step(global uint *a, uint factor) { size_t i = get_global_id(0); a[i] = a[i] * factor + 1; }
kernel void gather(global const uint *a, global uint *out, uint start) { out[get_global_id(0)] = a[start + get_global_id(0)]; }";

fn devices() -> Vec<cl_device_id> {
    let target = common::target();
    let mut devices = vec![null_mut(); 8];
    let mut count: cl_uint = 0;
    assert_eq!(target.cl.clGetDeviceIDs(target.platform, CL_DEVICE_TYPE_ALL, 8, devices.as_mut_ptr(), &mut count), CL_SUCCESS);
    devices.truncate(count as usize);
    devices
}

#[test]
fn results_of_another_device_reach_every_sub_device() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    // SAFETY: the only test of this process; no other thread exists that reads the environment.
    unsafe { std::env::set_var("WGCL_INTERPRETER", "1") };
    let cl = &common::target().cl;
    let whole = common::target().device;
    let other = *devices().last().expect("the interpreter");
    let mut parts: [cl_device_id; 2] = [null_mut(); 2];
    // CL_DEVICE_PARTITION_BY_COUNTS
    if cl.clCreateSubDevices(whole, [0x1087, 1, 1, 0, 0].as_ptr(), 2, parts.as_mut_ptr(), null_mut()) != CL_SUCCESS {
        return;
    }
    // The other device is the first device of the context, so the buffer's contents are created on it.
    let all = [other, parts[0], parts[1]];
    let mut status = 1;
    let context = Context(cl.clCreateContext(null(), 3, all.as_ptr(), None, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS, "clCreateContext");
    let queues = all.map(|device| Queue(cl.clCreateCommandQueue(context.0, device, 0, &mut status)));
    let program = context.program(SOURCE);
    assert_eq!(cl.clBuildProgram(program.0, 0, null(), c"".as_ptr(), None, null_mut()), CL_SUCCESS);
    let words = 1 << 12;
    for round in 0..40_u32 {
        let mut host: Vec<u32> = (0..words).map(|word| word ^ round).collect();
        // CL_MEM_COPY_HOST_PTR
        let mem = context.buffer_with(1 << 5, 4 * words as usize, host.as_mut_ptr().cast());
        let outs = [context.buffer(2 * words as usize), context.buffer(2 * words as usize)];
        let step = program.kernel("step");
        step.set_mem(0, &mem);
        assert_eq!(step.set(1, &5_u32), CL_SUCCESS);
        let mut event: cl_event = null_mut();
        let half = words as usize / 2;
        // The other device updates only the first half of the buffer. The second half must be transferred unchanged.
        assert_eq!(cl.clEnqueueNDRangeKernel(queues[0].0, step.0, 1, null(), &half, null(), 0, null(), &mut event), CL_SUCCESS);
        let stepped = Event(event);
        // The two sub-devices read one half each at the same time. Neither sub-device has the contents of the buffer
        // yet.
        for (part, out) in outs.iter().enumerate() {
            let gather = program.kernel("gather");
            gather.set_mem(0, &mem);
            gather.set_mem(1, out);
            assert_eq!(gather.set(2, &(part as u32 * words / 2)), CL_SUCCESS);
            let queue = &queues[part + 1];
            let enqueued = cl.clEnqueueNDRangeKernel(queue.0, gather.0, 1, null(), &half, null(), 1, &stepped.0, null_mut());
            assert_eq!(enqueued, CL_SUCCESS);
            assert_eq!(cl.clFlush(queue.0), CL_SUCCESS);
        }
        host[..half].iter_mut().for_each(|word| *word = *word * 5 + 1);
        for (part, out) in outs.iter().enumerate() {
            // The queue of the other sub-device reads the result.
            queues[part + 1].finish();
            assert!(queues[2 - part].read::<u32>(out, half) == host[part * half..(part + 1) * half], "round {round}, part {part}");
        }
        // A sub-device updates the buffer, and the other device must read the result.
        assert_eq!(queues[1].launch(&step, &[words as usize], None), CL_SUCCESS);
        queues[1].finish();
        host.iter_mut().for_each(|word| *word = word.wrapping_mul(5).wrapping_add(1));
        assert!(queues[0].read::<u32>(&mem, words as usize) == host, "round {round}");
    }
    for part in parts {
        assert_eq!(cl.clReleaseDevice(part), CL_SUCCESS);
    }
}
