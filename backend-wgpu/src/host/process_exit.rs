//! The end of the process: the drivers' own exit handlers must not find our threads inside them.
//!
//! The handler is registered when a device is opened, after its driver was loaded, so that it runs before the driver's own. It asks every
//! submission thread to end, waits a bounded time, and from then on nothing of wgpu's is freed: the application's own destructors may
//! release OpenCL objects later still.
//!
//! A driver that runs kernels on the CPU compiles and runs them on threads of its own, which crash once LLVM's globals are destroyed. If work is still
//! going on there after the wait, or any driver is still compiling a kernel, the process ends at once, with its own status and its output written: the handlers that were registered before ours do
//! not run then. Exit handlers run in the reverse order of their registration, and LLVM registers destructors as it compiles, which come before our handler: so the main thread
//! waits for such a driver earlier, among the destructors of its thread, which come before all handlers. Nothing is ended there, for handlers of the application may still use
//! OpenCL. A child that was forked has none of the threads, and waits for nothing. With OpenGL ES the process always ends at once, behind our handler.

use std::any::Any;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use wgcl_runtime::shutdown;

use crate::message::Message;

/// How long the process's end waits for commands in flight.
const PATIENCE: Duration = Duration::from_secs(2);

/// A driver whose libraries must not be unloaded: Mesa's for OpenGL ES, whose destructors corrupt the heap of threads that end at the same time.
static SKIP_HANDLERS: AtomicBool = AtomicBool::new(false);
/// A driver must not be left while it works: see above.
static RUNS_ON_CPU: AtomicBool = AtomicBool::new(false);
static THREADS: Mutex<Vec<Sender<Message>>> = Mutex::new(Vec::new());
/// What is left as it is, in a place where tools that look for leaks find it.
static LEAKED: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());
/// Batches of commands that drivers have and have not completed.
static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);
/// The process that has the threads.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Leaves something as it is until the process is gone.
pub(crate) fn leak(what: impl Any + Send) {
    LEAKED.lock().push(Box::new(what));
}

/// Ends the process without the exit handlers that were registered before ours, once our threads have ended.
pub(crate) fn skip_exit_handlers() {
    SKIP_HANDLERS.store(true, Ordering::Release);
}

/// Makes the process's end wait for the thread that reads from `thread`; `runs_on_cpu` if the driver below runs kernels on the CPU.
pub(crate) fn register(thread: Sender<Message>, runs_on_cpu: bool) {
    THREADS.lock().push(thread);
    if runs_on_cpu {
        RUNS_ON_CPU.store(true, Ordering::Release);
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        PROCESS.store(std::process::id(), Ordering::Release);
        register_exit_handler();
    });
    if is_main_thread() {
        END_OF_MAIN.with(|_| {});
    }
}

/// A driver has one more batch of commands.
pub(crate) fn batch_submitted() {
    IN_FLIGHT.fetch_add(1, Ordering::AcqRel);
}

/// So many batches are complete.
pub(crate) fn batches_complete(count: usize) {
    IN_FLIGHT.fetch_sub(count, Ordering::AcqRel);
}

/// What the main thread destroys before the handlers of the process's end are called.
struct EndOfMain;

impl Drop for EndOfMain {
    fn drop(&mut self) {
        let end = Instant::now() + PATIENCE;
        let is_busy = || IN_FLIGHT.load(Ordering::Acquire) > 0 || shutdown::is_compiling();
        let is_here = std::process::id() == PROCESS.load(Ordering::Acquire);
        while is_here && RUNS_ON_CPU.load(Ordering::Acquire) && is_busy() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

thread_local! {
    static END_OF_MAIN: EndOfMain = const { EndOfMain };
}

/// Whether this is the thread that the process began with.
#[cfg(target_os = "linux")]
fn is_main_thread() -> bool {
    // SAFETY: both only ask for a number.
    unsafe { libc::gettid() == libc::getpid() }
}

/// Elsewhere nobody says so.
#[cfg(not(target_os = "linux"))]
const fn is_main_thread() -> bool {
    false
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn register_exit_handler() {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn on_exit(function: extern "C" fn(c_int, *mut c_void), data: *mut c_void) -> c_int;
    }

    extern "C" fn at_exit(status: c_int, _: *mut c_void) {
        let is_busy = !end_threads() && (RUNS_ON_CPU.load(Ordering::Acquire) || shutdown::is_compiling());
        if is_busy {
            tracing::warn!("the process ends while a kernel runs on the CPU, or is compiled");
        }
        if is_busy || (SKIP_HANDLERS.load(Ordering::Acquire) && std::process::id() == PROCESS.load(Ordering::Acquire)) {
            // SAFETY: writes out all of C's streams, as exit would do next, and ends the process.
            unsafe {
                libc::fflush(std::ptr::null_mut());
                libc::_exit(status);
            }
        }
    }

    // SAFETY: the handler is a plain function that lives as long as the library; it does not unwind.
    let _ = unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
fn register_exit_handler() {
    extern "C" fn at_exit() {
        end_threads();
    }

    // SAFETY: the handler is a plain function that lives as long as the library; it does not unwind.
    let _ = unsafe { libc::atexit(at_exit) };
}

#[cfg(not(unix))]
fn register_exit_handler() {}

/// Ends all threads, waiting for what they are doing; whether all ended in time.
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has the register_exit_handler"))]
fn end_threads() -> bool {
    shutdown::begin_end();
    if std::process::id() != PROCESS.load(Ordering::Acquire) {
        return true;
    }
    for thread in THREADS.lock().drain(..) {
        // A thread that has ended already needs no message.
        let _ = thread.send(Message::Quit);
    }
    shutdown::wait_for_all(Instant::now() + PATIENCE)
}
