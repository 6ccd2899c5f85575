//! Faults around a driver: processes that fork, exit and load libraries at any time, exhausted memory, kernels that
//! cannot be compiled.
//!
//! Each scenario that may end a process runs in a child process.

#![cfg(unix)]

mod common;

use std::ffi::c_void;
use std::process::{Command, ExitStatus, Stdio};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use common::ffi::{CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_FALSE, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_event, cl_int};
use common::objects::{Context, Event, Mem};
use common::{info, target};

const SCENARIO: &str = "WGCL_TEST_SCENARIO";
const CL_MEM_OBJECT_ALLOCATION_FAILURE: cl_int = -4;
const CL_OUT_OF_RESOURCES: cl_int = -5;
const SOURCE: &str = "
    kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }
    kernel void spin(global uint *a, uint n) { uint x = a[get_global_id(0)]; for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u; a[get_global_id(0)] = x; }
    kernel void big(global uint *a, local uint *l) { l[get_local_id(0)] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = l[0]; }";

/// Adds two and two on the device.
fn works() {
    let context = Context::new();
    let queue = context.queue(0);
    let kernel = context.build(SOURCE).kernel("add");
    let mem = context.buffer(256);
    queue.write(&mem, &[2u32; 64]);
    kernel.set_mem(0, &mem);
    assert_eq!(kernel.set(1, &2u32), CL_SUCCESS);
    assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, 64), [4; 64]);
}

/// Runs `child` in a forked process, and returns the status of that process. Kills the process after a minute.
fn in_fork(child: impl FnOnce()) -> cl_int {
    // SAFETY: the child continues as the only thread of its process, which the test checks.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    if pid == 0 {
        let fine = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).is_ok();
        // SAFETY: ends this process without running handlers.
        unsafe { libc::_exit(if fine { 0 } else { 1 }) };
    }
    wait_for(pid)
}

fn wait_for(pid: libc::pid_t) -> cl_int {
    let begin = Instant::now();
    let mut status = 0;
    loop {
        // SAFETY: a child of this process, and a variable for its status.
        if unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } == pid {
            return status;
        }
        if begin.elapsed() > Duration::from_secs(60) {
            // SAFETY: a child of this process.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            return -1;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Enqueues a launch that takes the device some time, and does not wait for it.
fn leave_work(seconds_of_compiling: bool) -> (Context, Mem, Event) {
    let context = Context::new();
    let queue = context.queue(0);
    // lavapipe uses LLVM, which compiles many different operations slowly.
    let body: String =
        (0..if seconds_of_compiling { 1200 } else { 1 }).map(|n| format!("x = native_sin(x) * {n}.5f + pow(x, {n}.25f);")).collect();
    let source = format!("{SOURCE} kernel void slow(global float *a) {{ float x = a[get_global_id(0)]; {body} a[get_global_id(0)] = x; }}");
    let program = context.build(&source);
    let mem = context.buffer(4 << 20);
    let kernel = program.kernel(if seconds_of_compiling { "slow" } else { "spin" });
    kernel.set_mem(0, &mem);
    if !seconds_of_compiling {
        assert_eq!(kernel.set(1, &60_000u32), CL_SUCCESS);
    }
    let (mut event, global) = (null_mut(), 1usize << 20);
    for _ in 0..4 {
        let last: *mut cl_event = &mut event;
        assert_eq!(target().cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &global, null(), 0, null(), last), CL_SUCCESS);
    }
    assert_eq!(target().cl.clFlush(queue.0), CL_SUCCESS);
    (context, mem, Event(event))
}

unsafe extern "C" fn say_goodbye() {
    // SAFETY: a string that ends with a zero.
    unsafe { libc::puts(c"the first handler runs".as_ptr()) };
}

/// Runs one scenario, in a process that a test starts.
#[test]
#[ignore = "the tests start it in child processes"]
fn scenario() {
    let name = std::env::var(SCENARIO).expect("a test starts it");
    match name.as_str() {
        "fork first" => {
            // OpenCL is not loaded yet, so the parent and the child may both use it.
            assert_eq!(in_fork(works), 0);
            works();
        }
        "fork later" => {
            works();
            // The child has copies of the objects, but not of the threads. It may exit, or run another program.
            // SAFETY: the child exits normally, with all handlers.
            assert_eq!(in_fork(|| unsafe { libc::exit(0) }), 0);
            assert!(Command::new("true").status().is_ok_and(|status| status.success()));
            works();
        }
        "exit while it runs" | "exit while it compiles" => {
            let work = leave_work(name.ends_with("compiles"));
            std::mem::forget(work);
            // SAFETY: exits normally, with all handlers.
            unsafe { libc::exit(3) };
        }
        "exit, as seen by a handler" => {
            // SAFETY: the handler is a plain function.
            unsafe { libc::atexit(std::mem::transmute::<unsafe extern "C" fn(), extern "C" fn()>(say_goodbye)) };
            works();
            // SAFETY: exits normally, with all handlers.
            unsafe { libc::exit(4) };
        }
        "no memory" => take_all_memory(),
        "unload" => {
            let library = std::env::var("WGCL_TEST_UNLOAD").expect("the library");
            for _ in 0..3 {
                // SAFETY: the library runs no code when it is loaded.
                let library = unsafe { libloading::Library::new(&library) }.expect("the driver itself, not the loader");
                // SAFETY: the function's type is that of cl_icd.h.
                let get: libloading::Symbol<'_, unsafe extern "C" fn(u32, *mut *mut c_void, *mut u32) -> cl_int> =
                    unsafe { library.get(b"clIcdGetPlatformIDsKHR\0") }.expect("the entry point of drivers");
                let mut count = 0;
                // SAFETY: only queries the number of platforms.
                assert_eq!(unsafe { get(0, null_mut(), &mut count) }, CL_SUCCESS);
                assert_eq!(count, 1);
                library.close().expect("unloaded");
            }
            works();
        }
        other => assert_eq!(other, "", "no such scenario"),
    }
}

/// Runs a scenario. Returns its exit status and its output.
fn run(name: &str) -> (ExitStatus, String) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "scenario", "--ignored", "--nocapture"])
        .env(SCENARIO, name)
        .env("WGCL_TEST_UNLOAD", library())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let begin = Instant::now();
    while child.try_wait().expect("its state").is_none() {
        if begin.elapsed() > Duration::from_secs(120) {
            child.kill().expect("killed");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("its end");
    (output.status, String::from_utf8_lossy(&output.stdout).into_owned())
}

fn library() -> std::ffi::OsString {
    std::env::var_os("WGCL_TEST_LIBRARY").unwrap_or_else(|| {
        let program = std::env::current_exe().expect("this program");
        program.ancestors().nth(2).expect("the target folder").join("libwgcl.so").into_os_string()
    })
}

#[test]
fn a_process_may_fork_before_and_after_it_uses_opencl() {
    for name in ["fork first", "fork later"] {
        let (status, out) = run(name);
        assert!(status.success(), "{name}: {status}\n{out}");
    }
}

#[test]
fn a_process_may_exit_while_its_commands_run() {
    if !target().is_wgcl() {
        return;
    }
    for name in ["exit while it runs", "exit while it compiles"] {
        let (status, out) = run(name);
        assert_eq!(status.code(), Some(3), "{name}: {status}\n{out}");
    }
    let (status, out) = run("exit, as seen by a handler");
    assert_eq!(status.code(), Some(4), "{status}\n{out}");
    assert!(out.contains("the first handler runs"), "{out}");
}

#[test]
fn the_library_may_be_unloaded() {
    if target().is_wgcl() {
        let (status, out) = run("unload");
        assert!(status.success(), "{status}\n{out}");
    }
}

#[test]
fn exhausted_memory_is_an_error() {
    let (status, out) = run("no memory");
    assert!(status.success(), "{status}\n{out}");
}

/// Allocates buffers of the largest size until memory is exhausted. The failed call must return an error code. Commands
/// must work again when the buffers are released. Platforms other than wgcl need not exhaust the memory.
fn take_all_memory() {
    let cl = &target().cl;
    let largest: u64 = info(|size, value, ret| cl.clGetDeviceInfo(target().device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, ret))
        .expect("the largest size");
    // Most pages of the buffers are never written, so buffers in host memory use little memory.
    let context = Context::new();
    let queue = context.queue(0);
    let mut mems = Vec::new();
    let mut failed = CL_SUCCESS;
    let word = 1u32;
    while failed == CL_SUCCESS && mems.len() < 4096 {
        let mut status = 1;
        let mem = cl.clCreateBuffer(context.0, CL_MEM_READ_WRITE, largest as usize, null_mut(), &mut status);
        if status == CL_SUCCESS {
            let mem = Mem(mem);
            // If the driver allocates buffers at their first use, this call fails instead.
            status = cl.clEnqueueFillBuffer(queue.0, mem.0, (&raw const word).cast(), 4, 0, 4, 0, null(), null_mut());
            mems.push(mem);
        } else {
            assert!(mem.is_null());
        }
        failed = status;
    }
    if target().is_wgcl() || failed != CL_SUCCESS {
        assert!([CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, -6].contains(&failed), "{failed} after {}", mems.len());
    }
    assert!(!mems.is_empty());
    let _ = cl.clFinish(queue.0);
    mems.clear();
    works();
}

/// A kernel needs more local memory than the device has. The launch must fail, in the call or as a command. The queue
/// must then still work.
#[test]
fn a_kernel_that_cannot_be_compiled_fails_alone() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(SOURCE);
    let (big, add) = (program.kernel("big"), program.kernel("add"));
    let mem = context.buffer(256);
    queue.write(&mem, &[1u32; 64]);
    big.set_mem(0, &mem);
    let set = cl.clSetKernelArg(big.0, 1, 1 << 24, null());
    if set == CL_SUCCESS {
        let mut event = null_mut();
        let status = cl.clEnqueueNDRangeKernel(queue.0, big.0, 1, null(), &64, null(), 0, null(), &mut event);
        if status == CL_SUCCESS {
            assert_ne!(cl.clWaitForEvents(1, &event), CL_SUCCESS);
            drop(Event(event));
            assert_ne!(cl.clFinish(queue.0), CL_SUCCESS, "reported once");
            assert_eq!(cl.clFinish(queue.0), CL_SUCCESS);
        } else {
            assert_eq!(status, CL_OUT_OF_RESOURCES);
        }
    }
    add.set_mem(0, &mem);
    assert_eq!(add.set(1, &4u32), CL_SUCCESS);
    assert_eq!(queue.launch(&add, &[64], None), CL_SUCCESS);
    let mut words = [0u32; 64];
    let status = cl.clEnqueueReadBuffer(queue.0, mem.0, CL_TRUE, 0, 256, words.as_mut_ptr().cast(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    assert_eq!(words, [5; 64]);
    let status = cl.clEnqueueReadBuffer(queue.0, mem.0, CL_FALSE, 0, 256, words.as_mut_ptr().cast(), 0, null(), null_mut());
    assert_eq!(status, CL_SUCCESS);
    queue.finish();
}

/// lavapipe stops the loops of a work-item after 65,535 iterations in total. A launch with more iterations fails, or
/// succeeds because the compiler merged several iterations into one.
#[test]
fn loops_that_a_driver_stops_fail() {
    const LOOPS: &str = "
        kernel void flat(global uint *a, uint n) { uint x = 1; for (uint i = 0; i < n; i++) { x = x * 5u + 1u; if (x == 77u) break; } a[get_global_id(0)] = x; }
        kernel void nested(global uint *a, uint n) {
            uint x = 1;
            for (uint i = 0; i < n; i++) {
                for (uint j = 0; j < 1 + (i & 1); j++) { x = x * 5u + 1u; if (x == 77u) break; }
                if (x == 88u) return;
            }
            a[get_global_id(0)] = x;
        }
        kernel void until(global float *a, uint n) { float x = 0; while (x < (float)n) { x += a[1 + (uint)x % 2u]; switch ((uint)x & 1u) { case 0: continue; default: break; } } a[0] = x; }";
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build(LOOPS);
    let step = |n: u32| (0..n).fold(1u32, |x, _| x.wrapping_mul(5).wrapping_add(1));
    let mem = context.buffer(64);
    for (name, n) in [("flat", 1_000), ("nested", 1_000), ("flat", 3_000_000), ("nested", 200_000), ("nested", 2_000)] {
        let kernel = program.kernel(name);
        kernel.set_mem(0, &mem);
        assert_eq!(kernel.set(1, &n), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[16], None), CL_SUCCESS);
        let status = target().cl.clFinish(queue.0);
        if n > 2_000 && status == CL_OUT_OF_RESOURCES {
            continue;
        }
        assert_eq!(status, CL_SUCCESS, "{name}({n})");
        let iterations = if name == "flat" { n } else { n + n / 2 };
        assert_eq!(queue.read::<u32>(&mem, 16), [step(iterations); 16], "{name}({n})");
    }
    let kernel = program.kernel("until");
    kernel.set_mem(0, &mem);
    for n in [1_000u32, 1_000_000] {
        queue.write(&mem, &[1f32; 16]);
        assert_eq!(kernel.set(1, &n), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
        let status = target().cl.clFinish(queue.0);
        if n > 1_000 && status == CL_OUT_OF_RESOURCES {
            continue;
        }
        assert_eq!(status, CL_SUCCESS, "until({n})");
        assert_eq!(queue.read::<f32>(&mem, 1), [n as f32], "until({n})");
    }
}
