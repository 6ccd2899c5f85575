//! Tests OpenCL calls while the process ends: in exit handlers, and in destructors of global objects and of
//! thread-local values, in every order of registration. Also tests calls in a forked child.
//!
//! Each case runs in a child process. The process calls OpenCL and exits. A handler then repeats the calls, with the
//! existing objects and with new ones. The calls must succeed, or return an error if the device's driver has already
//! shut down. No call may hang or crash.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod common;

use std::ffi::{CStr, c_void};
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::ffi::{
    CL_COMPLETE, CL_DEVICE_NAME, CL_INVALID_BUFFER_SIZE, CL_MAP_READ, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, Cl, cl_command_queue,
    cl_context, cl_event, cl_int, cl_kernel, cl_mem, cl_program,
};
use common::{is_cpu, target, try_target};

const SCENARIO: &str = "WGCL_TEST_SCENARIO";
/// The exit status of a process that calls `exit`.
const STATUS: cl_int = 5;
const SOURCE: &CStr = c"
    kernel void add(global uint *a, uint n) { a[get_global_id(0)] += n; }
    kernel void sum(global uint *a, local uint *l) {
        size_t i = get_local_id(0); l[i] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = l[0] + l[i];
    }
    kernel void print(uint n) { if (get_global_id(0) == 0) printf(\"printed %u\\n\", n); }";
/// The number of work-items, which is sufficient for several threads.
const ITEMS: usize = 1 << 16;
const GROUP: usize = 64;

/// The name and the error code of a call that failed.
type Failed = (&'static str, cl_int);

/// The objects that one round of calls uses.
struct Objects {
    context: cl_context,
    queue: cl_command_queue,
    program: cl_program,
    mem: cl_mem,
    add: cl_kernel,
    sum: cl_kernel,
    print: cl_kernel,
}

fn succeeded(name: &'static str, status: cl_int) -> Result<(), Failed> {
    if status == CL_SUCCESS { Ok(()) } else { Err((name, status)) }
}

/// Makes a call that creates an object.
fn created<T>(name: &'static str, call: impl FnOnce(&mut cl_int) -> *mut T) -> Result<*mut T, Failed> {
    let mut status = 1;
    let object = call(&mut status);
    succeeded(name, status).map(|()| object)
}

impl Objects {
    fn new(cl: &Cl) -> Result<Self, Failed> {
        let device = target().device;
        let mut name = [0u8; 256];
        succeeded("clGetDeviceInfo", cl.clGetDeviceInfo(device, CL_DEVICE_NAME, 256, name.as_mut_ptr().cast(), null_mut()))?;
        let context = created("clCreateContext", |s| cl.clCreateContext(null(), 1, &device, None, null_mut(), s))?;
        let queue = created("clCreateCommandQueue", |s| cl.clCreateCommandQueue(context, device, 0, s))?;
        let text = SOURCE.as_ptr();
        let program = created("clCreateProgramWithSource", |s| cl.clCreateProgramWithSource(context, 1, &text, null(), s))?;
        succeeded("clBuildProgram", cl.clBuildProgram(program, 0, null(), c"".as_ptr(), None, null_mut()))?;
        let mem = created("clCreateBuffer", |s| cl.clCreateBuffer(context, CL_MEM_READ_WRITE, 4 * ITEMS, null_mut(), s))?;
        let kernel = |name: &CStr| created("clCreateKernel", |s| cl.clCreateKernel(program, name.as_ptr(), s));
        let objects = Self { context, queue, program, mem, add: kernel(c"add")?, sum: kernel(c"sum")?, print: kernel(c"print")? };
        for kernel in [objects.add, objects.sum] {
            succeeded("clSetKernelArg", cl.clSetKernelArg(kernel, 0, size_of::<cl_mem>(), (&raw const objects.mem).cast()))?;
        }
        succeeded("clSetKernelArg", cl.clSetKernelArg(objects.sum, 1, 4 * GROUP, null()))?;
        Ok(objects)
    }

    fn launch(&self, cl: &Cl, kernel: cl_kernel, event: *mut cl_event) -> Result<(), Failed> {
        succeeded("clEnqueueNDRangeKernel", cl.clEnqueueNDRangeKernel(self.queue, kernel, 1, null(), &ITEMS, &GROUP, 0, null(), event))
    }

    /// Enqueues commands of several kinds, and checks their results.
    fn run(&self, cl: &Cl) -> Result<(), Failed> {
        let (queue, mem) = (self.queue, self.mem);
        let mut words = vec![0u32; ITEMS];
        let zero = 0u32;
        let pattern = (&raw const zero).cast();
        succeeded("clEnqueueFillBuffer", cl.clEnqueueFillBuffer(queue, mem, pattern, 4, 0, 4 * ITEMS, 0, null(), null_mut()))?;
        succeeded("clSetKernelArg", cl.clSetKernelArg(self.add, 1, 4, (&raw const TWO).cast()))?;
        self.launch(cl, self.add, null_mut())?;
        self.launch(cl, self.sum, null_mut())?;
        let to: *mut c_void = words.as_mut_ptr().cast();
        succeeded("clEnqueueReadBuffer", cl.clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, 4 * ITEMS, to, 0, null(), null_mut()))?;
        if words.iter().any(|&word| word != 4) {
            return Err(("wrong result of the kernels", words[0].cast_signed()));
        }
        self.wait_for_callback(cl)?;
        let map = created("clEnqueueMapBuffer", |s| {
            cl.clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 4 * ITEMS, 0, null(), null_mut(), s)
        })?;
        // SAFETY: the memory is mapped.
        let first = unsafe { map.cast::<u32>().read() };
        if first != 6 {
            return Err(("wrong contents of the map", first.cast_signed()));
        }
        succeeded("clEnqueueUnmapMemObject", cl.clEnqueueUnmapMemObject(queue, mem, map, 0, null(), null_mut()))?;
        succeeded("clSetKernelArg", cl.clSetKernelArg(self.print, 0, 4, (&raw const TWO).cast()))?;
        self.launch(cl, self.print, null_mut())?;
        succeeded("clFinish", cl.clFinish(queue))
    }

    /// Enqueues a launch that waits for a user event, and waits for its callback.
    fn wait_for_callback(&self, cl: &Cl) -> Result<(), Failed> {
        let user = created("clCreateUserEvent", |s| cl.clCreateUserEvent(self.context, s))?;
        let mut event = null_mut();
        let add = self.add;
        let status = cl.clEnqueueNDRangeKernel(self.queue, add, 1, null(), &ITEMS, null(), 1, &user, &mut event);
        succeeded("clEnqueueNDRangeKernel", status)?;
        let reached: &'static AtomicI32 = Box::leak(Box::new(AtomicI32::new(99)));
        let data = std::ptr::from_ref(reached).cast_mut().cast();
        succeeded("clSetEventCallback", cl.clSetEventCallback(event, CL_COMPLETE, Some(note), data))?;
        succeeded("clSetUserEventStatus", cl.clSetUserEventStatus(user, CL_COMPLETE))?;
        let begin = Instant::now();
        while reached.load(Ordering::SeqCst) == 99 {
            if begin.elapsed() > Duration::from_secs(20) {
                return Err(("no callback", 0));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        succeeded("the status of a callback", reached.load(Ordering::SeqCst))?;
        succeeded("clReleaseEvent", cl.clReleaseEvent(event))?;
        succeeded("clReleaseEvent", cl.clReleaseEvent(user))
    }

    /// Releases the objects. This must succeed even if the driver has shut down.
    fn release(&self, cl: &Cl) -> Result<(), Failed> {
        for kernel in [self.add, self.sum, self.print] {
            succeeded("clReleaseKernel", cl.clReleaseKernel(kernel))?;
        }
        succeeded("clReleaseProgram", cl.clReleaseProgram(self.program))?;
        succeeded("clReleaseMemObject", cl.clReleaseMemObject(self.mem))?;
        succeeded("clReleaseCommandQueue", cl.clReleaseCommandQueue(self.queue))?;
        succeeded("clReleaseContext", cl.clReleaseContext(self.context))
    }
}

static TWO: u32 = 2;

unsafe extern "C" fn note(_: cl_event, status: cl_int, data: *mut c_void) {
    // SAFETY: `data` is a leaked atomic.
    unsafe { &*data.cast::<AtomicI32>() }.store(status, Ordering::SeqCst);
}

/// The objects of the process before its end.
static OBJECTS: AtomicPtr<Objects> = AtomicPtr::new(null_mut());

/// Makes all calls of a handler with the objects of `before_end`, releases these objects, and repeats the calls with
/// new ones.
fn calls_again() -> Result<(), Failed> {
    let cl = &target().cl;
    let objects = OBJECTS.swap(null_mut(), Ordering::SeqCst);
    let mut result = Ok(());
    if !objects.is_null() {
        // SAFETY: leaked by `before_end`.
        let objects = unsafe { &*objects };
        // Argument checks return the same errors as before the exit.
        let mut status = 1;
        cl.clCreateBuffer(objects.context, 0, 0, null_mut(), &mut status);
        if status != CL_INVALID_BUFFER_SIZE {
            return Err(("clCreateBuffer without a size", status));
        }
        result = objects.run(cl);
        objects.release(cl).map_err(|_| ("a release", 1))?;
    }
    result.and_then(|()| {
        let objects = Objects::new(cl)?;
        objects.run(cl)?;
        objects.release(cl)
    })
}

/// Writes a line to standard output. Bypasses Rust's buffer, which may be destroyed already.
fn say(text: &str) {
    let line = format!("\n{text}\n");
    // SAFETY: writes the bytes of a string.
    unsafe { libc::write(1, line.as_ptr().cast(), line.len()) };
}

/// The exit handler or destructor of every case.
extern "C" fn handler() {
    match calls_again() {
        Ok(()) => say("calls: work"),
        Err((name, status)) => say(&format!("calls: {name} returns {status}")),
    }
}

/// Makes the calls of the process before it exits, and keeps the objects.
fn before_end() {
    let cl = &target().cl;
    let objects = Objects::new(cl).expect("objects");
    objects.run(cl).expect("commands");
    OBJECTS.store(Box::into_raw(Box::new(objects)), Ordering::SeqCst);
}

static AT_FINI: AtomicBool = AtomicBool::new(false);

extern "C" fn fini() {
    if AT_FINI.load(Ordering::SeqCst) {
        handler();
    }
}

/// This entry of `.fini_array` is a destructor function of the program. Such functions run after all exit handlers.
#[used]
#[unsafe(link_section = ".fini_array")]
static FINI: extern "C" fn() = fini;

/// A thread-local value whose destructor calls OpenCL.
struct Local;

impl Drop for Local {
    fn drop(&mut self) {
        handler();
    }
}

thread_local! {
    static LOCAL: Local = const { Local };
}

fn at_exit() {
    // SAFETY: the handler is a function that lives as long as the program.
    assert_eq!(unsafe { libc::atexit(handler) }, 0);
}

/// Runs in the child process of a case.
#[test]
#[ignore = "the tests start it in child processes"]
fn scenario() {
    let name = std::env::var(SCENARIO).expect("a test starts it");
    match name.as_str() {
        "handler before the library" => at_exit(),
        "fini" => AT_FINI.store(true, Ordering::SeqCst),
        "thread-local before the library" => LOCAL.with(|_| ()),
        _ => {}
    }
    let _ = target();
    if name == "handler before the context" {
        at_exit();
    }
    if !name.ends_with("without calls before") && !name.starts_with("fork before") {
        before_end();
    }
    match name.as_str() {
        "handler after the calls" | "handler without calls before" => at_exit(),
        "thread-local after the calls" => LOCAL.with(|_| ()),
        "thread-local of another thread" => std::thread::spawn(|| LOCAL.with(|_| ())).join().expect("the thread"),
        "fork before the calls" | "fork after the calls" | "fork while commands run" => fork(name.ends_with("run")),
        _ => {}
    }
    // SAFETY: exits normally, with all handlers.
    unsafe { libc::exit(STATUS) };
}

static CHILD: AtomicUsize = AtomicUsize::new(0);

/// Calls OpenCL in a forked child, and waits until the child ends.
fn fork(with_commands: bool) {
    let objects = OBJECTS.load(Ordering::SeqCst);
    if with_commands {
        // SAFETY: leaked by `before_end`.
        let objects = unsafe { &*objects };
        for _ in 0..50 {
            objects.launch(&target().cl, objects.sum, null_mut()).expect("a launch");
        }
        assert_eq!(target().cl.clFlush(objects.queue), CL_SUCCESS);
    }
    // SAFETY: the child continues as the only thread of its process, which is the subject of the test.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    if pid == 0 {
        handler();
        // SAFETY: exits normally, with all handlers.
        unsafe { libc::exit(STATUS) };
    }
    CHILD.store(pid as usize, Ordering::SeqCst);
    let begin = Instant::now();
    let mut status = 0;
    // SAFETY: a child of this process, and a variable for its status.
    while unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } != pid {
        if begin.elapsed() > Duration::from_secs(60) {
            // SAFETY: a child of this process.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            say("the child hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    say(&format!("the child ends with {status:#x}"));
    // The parent still runs commands.
    if !objects.is_null() {
        // SAFETY: leaked by `before_end`.
        unsafe { &*objects }.run(&target().cl).expect("commands of the parent");
    }
}

/// Runs a scenario, and returns the output of its process. The process must exit with [`STATUS`].
fn output(name: &str, options: &[(&str, &str)]) -> String {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "scenario", "--ignored", "--nocapture", "--test-threads=1"])
        .env(SCENARIO, name)
        .envs(options.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    let reader = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(Box::new(child.stdout.take().expect("its output")));
    let err = reader(Box::new(child.stderr.take().expect("its errors")));
    let begin = Instant::now();
    let mut hangs = false;
    while child.try_wait().expect("its state").is_none() {
        if begin.elapsed() > Duration::from_secs(120) {
            hangs = true;
            child.kill().expect("killed");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = child.wait().expect("its end");
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    let last = err.lines().rev().take(20).collect::<Vec<_>>();
    assert!(!hangs, "{name}: the process hangs\n{out}\n{last:#?}");
    assert_eq!(status.code(), Some(STATUS), "{name}: {status}\n{out}\n{last:#?}");
    out
}

/// The permitted results of the calls in a handler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Work,
    /// A driver with its own threads may have shut down before the handler. Calls may then return errors.
    MayFailAfterDriverEnd,
}

fn check(name: &str, options: &[(&str, &str)], expected: Expected) {
    if !try_target().is_ok_and(|target| target.is_wgcl()) {
        return;
    }
    let out = output(name, options);
    let calls: Vec<_> = out.lines().filter_map(|line| line.strip_prefix("calls: ")).collect();
    let is_own = is_cpu() || common::device_name(target()).contains("interpreter");
    if is_own || expected == Expected::Work {
        assert_eq!(calls, ["work"], "{name}:\n{out}");
        return;
    }
    // With an OpenGL ES device, the process ends before it runs handlers that were registered earlier. The output then
    // has no line.
    assert!(calls.len() <= 1, "{name}:\n{out}");
    for call in calls {
        let code = call.rsplit(' ').next().and_then(|code| code.parse::<cl_int>().ok());
        assert!(call == "work" || code.is_some_and(|code| code < 0), "{name}:\n{out}");
    }
}

/// Defines tests: `NAME: SCENARIO, OPTIONS => EXPECTED`.
macro_rules! cases {
    ($($name:ident: $scenario:literal, $options:expr => $expected:ident;)*) => {
        $(#[test]
        fn $name() {
            check($scenario, &$options, Expected::$expected);
        })*
    };
}

const NONE: [(&str, &str); 0] = [];

cases! {
    a_handler_registered_before_the_library: "handler before the library", NONE => MayFailAfterDriverEnd;
    a_handler_registered_before_the_context: "handler before the context", NONE => MayFailAfterDriverEnd;
    a_handler_registered_after_the_calls: "handler after the calls", NONE => Work;
    a_handler_with_the_first_calls: "handler without calls before", NONE => Work;
    a_destructor_after_all_handlers: "fini", NONE => MayFailAfterDriverEnd;
    a_thread_local_value_before_the_library: "thread-local before the library", NONE => Work;
    a_thread_local_value_after_the_calls: "thread-local after the calls", NONE => Work;
    a_thread_local_value_of_another_thread: "thread-local of another thread", NONE => Work;
    a_handler_with_the_log: "handler before the library", [("WGCL_LOG", "trace")] => MayFailAfterDriverEnd;
    a_late_handler_with_the_log: "handler after the calls", [("WGCL_LOG", "trace")] => Work;
    a_destructor_with_the_log: "fini", [("WGCL_LOG", "trace")] => MayFailAfterDriverEnd;
    a_handler_with_a_trace: "handler before the library", [("WGCL_TRACE", "/dev/null")] => MayFailAfterDriverEnd;
    a_late_handler_with_a_trace: "handler after the calls", [("WGCL_TRACE", "/dev/null")] => Work;
    a_destructor_with_a_trace: "fini", [("WGCL_TRACE", "/dev/null")] => MayFailAfterDriverEnd;
    a_handler_with_statistics: "handler before the library", [("WGCL_STATS", "1")] => MayFailAfterDriverEnd;
    a_late_handler_with_statistics: "handler after the calls", [("WGCL_STATS", "1")] => Work;
    a_handler_with_the_sanitizer: "handler before the library", [("WGCL_CHECK", "1")] => MayFailAfterDriverEnd;
    a_late_handler_with_the_sanitizer: "handler after the calls", [("WGCL_CHECK", "1")] => Work;
    a_destructor_with_the_sanitizer: "fini", [("WGCL_CHECK", "1")] => MayFailAfterDriverEnd;
}

fn check_fork(name: &str) {
    if !try_target().is_ok_and(|target| target.is_wgcl()) {
        return;
    }
    let out = output(name, &NONE);
    // waitpid returns the exit status in bits 8 to 15.
    assert!(out.contains(&format!("the child ends with {:#x}", STATUS << 8)), "{name}:\n{out}");
    let calls: Vec<_> = out.lines().filter_map(|line| line.strip_prefix("calls: ")).collect();
    let is_own = is_cpu() || common::device_name(target()).contains("interpreter");
    let is_first = name.starts_with("fork before");
    if is_own && !name.ends_with("run") || is_first && !common::device_name(target()).contains("OpenGL ES") {
        assert_eq!(calls, ["work"], "{name}:\n{out}");
    }
    let is_error = |call: &str| call.rsplit(' ').next().and_then(|code| code.parse::<cl_int>().ok()).is_some_and(|code| code < 0);
    assert!(calls.len() == 1 && calls.iter().all(|call| *call == "work" || is_error(call)), "{name}:\n{out}");
}

/// Defines tests of forked children: `NAME: SCENARIO`.
macro_rules! forks {
    ($($name:ident: $scenario:literal;)*) => {
        $(#[test]
        fn $name() {
            check_fork($scenario);
        })*
    };
}

forks! {
    a_child_of_a_process_that_listed_devices: "fork before the calls";
    a_child_of_a_process_that_ran_commands: "fork after the calls";
    a_child_of_a_process_that_runs_commands: "fork while commands run";
}
