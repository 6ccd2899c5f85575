//! Kernels on threads whose vectors of SVE have another length than the kernels were compiled for.

#![cfg(all(target_arch = "aarch64", target_os = "linux"))]

mod common;

use common::ffi::{CL_DRIVER_VERSION, CL_SUCCESS};
use common::objects::Context;
use common::{info_string, target};

const PR_SVE_SET_VL: libc::c_int = 50;
const PR_SVE_GET_VL: libc::c_int = 51;
/// The shortest length, in bytes. All processors support it.
const SHORTEST: libc::c_int = 16;

const SOURCE: &str = "
kernel void mix(global const uint *a, global uint *out)
{
    uint i = get_global_id(0), x = a[i] * 3 + i;
    if (x & 1) x ^= a[(i * 7) & (get_global_size(0) - 1)];
    out[i] = x;
}
";

/// The bytes of a vector of this thread, or `None` without SVE.
fn vector_bytes() -> Option<libc::c_int> {
    // SAFETY: the call only reads the length.
    let value = unsafe { libc::prctl(PR_SVE_GET_VL) };
    (value >= 0).then_some(value & 0xFFFF)
}

fn set_vector_bytes(bytes: libc::c_int) {
    // SAFETY: no code of this test uses SVE.
    assert!(unsafe { libc::prctl(PR_SVE_SET_VL, libc::c_ulong::from(bytes.unsigned_abs())) } >= 0);
}

/// Runs the kernel, and compares its results. `items` is a power of two.
fn run(items: usize) {
    let context = Context::new();
    let (queue, program) = (context.queue(0), context.build(SOURCE));
    let (kernel, from, to) = (program.kernel("mix"), context.buffer(items * 4), context.buffer(items * 4));
    let a: Vec<u32> = (0..items as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    queue.write(&from, &a);
    kernel.set_mem(0, &from);
    kernel.set_mem(1, &to);
    for _ in 0..2 {
        assert_eq!(queue.launch(&kernel, &[items], Some(&[64])), CL_SUCCESS);
    }
    let expected = |i: usize| {
        let x = a[i].wrapping_mul(3).wrapping_add(i as u32);
        if x % 2 == 1 { x ^ a[(i * 7) % items] } else { x }
    };
    let found: Vec<u32> = queue.read(&to, items);
    let wrong = (0..items).find(|&i| found[i] != expected(i));
    assert_eq!(wrong, None, "{items} items");
}

#[test]
fn kernels_run_on_threads_with_another_vector_length() {
    let target = target();
    let driver = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DRIVER_VERSION, size, value, ret));
    let Some(length) = vector_bytes().filter(|length| *length > SHORTEST && driver.is_ok_and(|driver| driver.contains("sve-"))) else {
        // This thread has no other length, or the kernels do not use SVE.
        return;
    };
    run(64);
    set_vector_bytes(SHORTEST);
    // This thread runs the first size alone. It starts the workers for the second one, so they inherit its length.
    for items in [64, 1 << 16] {
        run(items);
        assert_eq!(vector_bytes(), Some(SHORTEST), "the length of this thread");
    }
    set_vector_bytes(length);
    run(1 << 16);
    assert_eq!(vector_bytes(), Some(length));
}
