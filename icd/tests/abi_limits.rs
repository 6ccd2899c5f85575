//! Processes with a limited address space (`ulimit -v`), and without executable memory. Each case is a separate
//! process, because limits cannot be raised again.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod common;

use std::process::Command;
use std::ptr::{null, null_mut};

use common::ffi::{CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_int, cl_mem};
use common::{device_name, is_cpu, target, try_target};

const SCENARIO: &str = "WGCL_TEST_SCENARIO";
const SOURCE: &str = "kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }";
const CL_OUT_OF_HOST_MEMORY: cl_int = -6;

/// Builds and runs a kernel. Returns the first call that fails, and its error code.
fn run() -> Result<(), (&'static str, cl_int)> {
    let (cl, device) = (&target().cl, target().device);
    let done = |name, status| if status == CL_SUCCESS { Ok(()) } else { Err((name, status)) };
    let mut status = 1;
    let context = cl.clCreateContext(null(), 1, &device, None, null_mut(), &mut status);
    done("clCreateContext", status)?;
    let queue = cl.clCreateCommandQueue(context, device, 0, &mut status);
    done("clCreateCommandQueue", status)?;
    let text = SOURCE.as_ptr().cast();
    let program = cl.clCreateProgramWithSource(context, 1, &text, &SOURCE.len(), &mut status);
    done("clCreateProgramWithSource", status)?;
    done("clBuildProgram", cl.clBuildProgram(program, 0, null(), c"".as_ptr(), None, null_mut()))?;
    let kernel = cl.clCreateKernel(program, c"add".as_ptr(), &mut status);
    done("clCreateKernel", status)?;
    let mem = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, 256, null_mut(), &mut status);
    done("clCreateBuffer", status)?;
    let mut words = [2u32; 64];
    done("clEnqueueWriteBuffer", cl.clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, 256, words.as_ptr().cast(), 0, null(), null_mut()))?;
    done("clSetKernelArg", cl.clSetKernelArg(kernel, 0, size_of::<cl_mem>(), (&raw const mem).cast()))?;
    done("clSetKernelArg", cl.clSetKernelArg(kernel, 1, 4, words.as_ptr().cast()))?;
    done("clEnqueueNDRangeKernel", cl.clEnqueueNDRangeKernel(queue, kernel, 1, null(), &64, null(), 0, null(), null_mut()))?;
    done("clFinish", cl.clFinish(queue))?;
    done("clEnqueueReadBuffer", cl.clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 256, words.as_mut_ptr().cast(), 0, null(), null_mut()))?;
    if words == [4; 64] { Ok(()) } else { Err(("wrong result", 0)) }
}

/// Makes the system reject memory that is executable and was or is writable, as SELinux does without `execmem`.
/// Libraries can still be loaded.
fn refuse_executable_memory() {
    use libc::{
        BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, EACCES, MAP_ANONYMOUS, MAP_SHARED, PROT_EXEC,
        SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO,
    };
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    // Loads a word at an offset in struct seccomp_data: the number of the system call, or the lower half of its third
    // or fourth argument.
    let load = |offset| step(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
    let is = |value: u32, jt, jf| step(BPF_JMP | BPF_JEQ | BPF_K, value, jt, jf);
    let and = |mask: i32| step(BPF_ALU | BPF_AND | BPF_K, mask as u32, 0, 0);
    let mut filter = [
        load(0),
        is(libc::SYS_mprotect as u32, 2, 0),
        is(libc::SYS_mmap as u32, 4, 0),
        step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0),
        // mprotect with PROT_EXEC is rejected.
        load(32),
        and(PROT_EXEC),
        is(0, 6, 7),
        // mmap with PROT_EXEC is rejected for anonymous or shared memory.
        load(32),
        and(PROT_EXEC),
        is(0, 3, 0),
        load(40),
        and(MAP_ANONYMOUS | MAP_SHARED),
        is(0, 0, 1),
        step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0),
        step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES as u32, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is valid during the calls, and the kernel checks it.
    let results = unsafe {
        let first = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        (first, libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program))
    };
    assert_eq!(results, (0, 0), "seccomp");
}

/// Runs in the child process of a case.
#[test]
#[ignore = "the tests start it in child processes"]
fn scenario() {
    if std::env::var(SCENARIO).is_ok_and(|name| name == "no executable memory") {
        refuse_executable_memory();
    }
    println!("\ndevice: {}", device_name(target()));
    match run() {
        Ok(()) => println!("run: works"),
        Err((name, status)) => println!("run: {name} returns {status}"),
    }
}

/// Runs a scenario under a limit of the address space in KiB. Returns the text after `run: `, and the device. The
/// process must end without a signal.
fn output(name: &str, limit: Option<u32>) -> (String, String) {
    let limit = limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    let program = std::env::current_exe().expect("this program");
    let out = Command::new("sh")
        .args(["-c", &format!("ulimit -v {limit} && exec timeout 100 \"$0\" \"$@\"")])
        .arg(program)
        .args(["--exact", "scenario", "--ignored", "--nocapture", "--test-threads=1"])
        .env(SCENARIO, name)
        .output()
        .expect("a process");
    let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    // The output is indented, so that scripts do not count the results of this process as results of a test.
    let indented = format!("{text}\n{errors}").replace('\n', "\n    ");
    assert!(out.status.success(), "{name}, {limit}: {}\n    {indented}", out.status);
    let line = |start: &str| text.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned);
    let found = line("run: ").zip(line("device: "));
    found.unwrap_or_else(|| (format!("{text}\n{errors}"), String::new()))
}

/// Whether the device is the CPU device or the interpreter. Drivers of other devices may end the process when an
/// allocation fails.
fn is_own() -> bool {
    try_target().is_ok_and(|target| target.is_wgcl()) && (is_cpu() || device_name(target()).contains("interpreter"))
}

fn check(limit: u32) {
    if !is_own() {
        return;
    }
    let (result, _) = output("limit", Some(limit));
    let expected = ["works".to_owned(), format!("clBuildProgram returns {CL_OUT_OF_HOST_MEMORY}")];
    assert!(expected.contains(&result), "{limit} KiB: {result}");
    // The compiler's stack and data fit in the largest limit, but not in the smallest ones.
    assert!(limit < 1_000_000 || result == "works", "{limit} KiB: {result}");
    assert!(limit > 300_000 || result != "works", "a build succeeds with {limit} KiB, which is less than the stack of the compiler");
}

macro_rules! limits {
    ($($name:ident: $limit:literal;)*) => {
        $(#[test]
        fn $name() {
            check($limit);
        })*
    };
}

limits! {
    an_address_space_of_200000_kib: 200_000;
    an_address_space_of_300000_kib: 300_000;
    an_address_space_of_400000_kib: 400_000;
    an_address_space_of_500000_kib: 500_000;
    an_address_space_of_600000_kib: 600_000;
    an_address_space_of_700000_kib: 700_000;
    an_address_space_of_800000_kib: 800_000;
    an_address_space_of_900000_kib: 900_000;
    an_address_space_of_1000000_kib: 1_000_000;
}

/// Without executable memory, the interpreter replaces the CPU device. Drivers for CPUs, which compile to machine code,
/// follow it in the list.
#[test]
fn the_interpreter_is_first_without_executable_memory() {
    if !try_target().is_ok_and(|target| target.is_wgcl()) || !is_cpu() {
        return;
    }
    let (result, device) = output("no executable memory", None);
    assert_eq!(result, "works", "{device}");
    assert!(device.contains("interpreter"), "{device}");
}
