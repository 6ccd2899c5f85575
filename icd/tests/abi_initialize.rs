//! Contexts that initialise local and private memory to zero (cl_khr_initialize_memory).

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{CL_DEVICE_EXTENSIONS, CL_INVALID_PROPERTY, CL_SUCCESS, CL_TRUE, cl_int, cl_uint};
use common::objects::Context;
use common::{info_string, target};

const CL_CONTEXT_MEMORY_INITIALIZE_KHR: isize = 0x2030;
const LOCAL: isize = 1 << 0;
const PRIVATE: isize = 1 << 1;

const SOURCE: &str = "
// Leaves values in memory that the next kernel gets.
kernel void spoil(global uint *out, local uint *a, int k)
{
    local uint b[96];
    volatile uint p[24];
    for (int i = 0; i < 96; i++) {
        a[i] = b[i] = 0xabcd1234u + i;
    }
    for (int i = 0; i < 24; i++) {
        p[i] = 0xabcd1234u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = a[k] + b[k] + p[k];
}

kernel void local_memory(global uint *out, local uint *a, int k)
{
    local uint b[67];
    local uchar c[7];
    local struct { char x; long y; } d;
    int i = get_local_id(0);
    uint seen = 0;
    for (int j = 0; j < 67; j++) {
        seen |= a[j] | b[j];
    }
    out[get_global_id(0)] = seen | c[i % 7] | d.x | (uint)d.y | (uint)(d.y >> 32);
}

uint helper(int k) { uint q[5]; return q[k % 5]; }

kernel void private_memory(global uint *out, local uint *a, int k)
{
    uint p[24];
    uint one;
    struct { char x; int y[40]; } s;
    uint seen = p[k] | s.y[k] | s.x | helper(k) | one;
    out[get_global_id(0)] = seen + (one + 1) * (k == 3);
}
";

fn reported() -> bool {
    let target = target();
    let names = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret));
    let reported = names.is_ok_and(|names| names.split(' ').any(|name| name == "cl_khr_initialize_memory"));
    assert!(reported || !target.is_wgcl(), "a wgcl device without cl_khr_initialize_memory");
    reported
}

fn create(bits: isize) -> Result<Context, cl_int> {
    let (target, list) = (target(), [CL_CONTEXT_MEMORY_INITIALIZE_KHR, bits, 0]);
    let mut status = 1;
    let context = target.cl.clCreateContext(list.as_ptr(), 1, &target.device, None, null_mut(), &mut status);
    if status == CL_SUCCESS { Ok(Context(context)) } else { Err(status) }
}

/// Runs the kernel `spoil`, which overwrites memory, and then the kernel `name`. Returns the values that `name` reads
/// from memory that it did not write.
fn found(context: &Context, name: &str) -> Vec<u32> {
    let cl = &target().cl;
    let (queue, program) = (context.queue(0), context.program(SOURCE));
    assert_eq!(program.build("-cl-std=CL3.0 -w"), CL_SUCCESS, "{}", program.log());
    let buffer = context.buffer(64 * 4);
    let mut out = vec![1u32; 64];
    for name in ["spoil", name] {
        let kernel = program.kernel(name);
        assert_eq!(kernel.set(0, &buffer.0), CL_SUCCESS);
        assert_eq!(cl.clSetKernelArg(kernel.0, 1, 97 * 4, null()), CL_SUCCESS);
        assert_eq!(kernel.set(2, &3i32), CL_SUCCESS);
        let (global, group) = (64usize, 16usize);
        let status = cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1 as cl_uint, null(), &global, &group, 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS);
        let (size, to) = (size_of_val(&out[..]), out.as_mut_ptr().cast());
        assert_eq!(cl.clEnqueueReadBuffer(queue.0, buffer.0, CL_TRUE, 0, size, to, 0, null(), null_mut()), CL_SUCCESS);
    }
    out
}

#[test]
fn invalid_bits_are_rejected() {
    if !reported() {
        return;
    }
    for bits in [0, LOCAL, PRIVATE, LOCAL | PRIVATE] {
        assert!(create(bits).is_ok(), "{bits}");
    }
    for bits in [4, -1, 1 << 40] {
        assert_eq!(create(bits).err(), Some(CL_INVALID_PROPERTY), "{bits}");
    }
}

#[test]
fn local_memory_is_zero() {
    if reported() {
        assert_eq!(found(&create(LOCAL).expect("a context"), "local_memory"), vec![0; 64]);
        assert_eq!(found(&create(LOCAL | PRIVATE).expect("a context"), "local_memory"), vec![0; 64]);
    }
}

#[test]
fn private_memory_is_zero() {
    if reported() {
        assert_eq!(found(&create(PRIVATE).expect("a context"), "private_memory"), vec![1; 64]);
    }
}

#[test]
fn other_contexts_run_the_same_kernels() {
    let context = Context::new();
    // Each word is the sum of two local values and a private one.
    assert_eq!(found(&context, "spoil"), vec![0xabcd_1234u32.wrapping_mul(3).wrapping_add(6); 64]);
    // Uninitialised memory may have any contents, so the test only runs this kernel.
    found(&context, "local_memory");
}
