//! The end of the process. A driver's exit handlers must not run while our threads are inside the driver.
//!
//! Opening a device registers the exit handler. The driver is loaded by then, so this handler runs before the driver's.
//! It requests that every submission thread ends, and waits for these threads for a limited time. No object of wgpu is
//! freed afterwards, although destructors of the application may release OpenCL objects.
//!
//! A driver that runs kernels on the CPU compiles and runs them on its own threads. The threads crash once LLVM's
//! globals are destroyed. Such a driver may still be busy after the wait, and any driver may still compile a kernel.
//! The process then flushes C's streams and ends at once with its exit status. Exit handlers that were registered
//! earlier do not run. Ending the process in the exit handler requires `on_exit` of glibc.
//!
//! Exit handlers run in the reverse order of their registration. LLVM registers destructors while it compiles, and
//! these run before our handler. If a driver runs on the CPU, the main thread therefore waits before all exit handlers,
//! in a thread-local destructor. The destructor ends no thread, because exit handlers of the application may still use
//! OpenCL. A forked child has none of the threads and does not wait. With OpenGL ES, the process always skips the exit
//! handlers that were registered earlier.

use std::any::Any;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use wgcl_runtime::shutdown;

use crate::message::Message;

/// Maximum wait for commands in flight, compilations and threads.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Whether to skip all exit handlers that would run after ours. Destructors of Mesa's OpenGL ES driver corrupt the heap
/// if the driver's threads end at the same time.
static SKIP_HANDLERS: AtomicBool = AtomicBool::new(false);
/// Whether a driver runs kernels on the CPU.
static RUNS_ON_CPU: AtomicBool = AtomicBool::new(false);
/// The senders to the submission threads.
static MESSAGES: Mutex<Vec<Sender<Message>>> = Mutex::new(Vec::new());
/// Leaked objects. They are reachable from here, so leak checkers do not report them.
static LEAKED: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());
/// Batches that were submitted and are not complete.
static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);
/// ID of the process that started the threads, or of a forked child that tried to open a device on OpenGL ES. Other
/// forked children have other IDs.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Keeps an object until the process has ended.
pub(crate) fn leak(what: impl Any + Send) {
    LEAKED.lock().push(Box::new(what));
}

/// Makes our exit handler end the process without running the exit handlers that were registered earlier.
pub(crate) fn skip_exit_handlers() {
    SKIP_HANDLERS.store(true, Ordering::Release);
}

/// Makes the exit handler of a forked child skip the handlers that were registered earlier, because they belong to the
/// parent's driver.
pub(crate) fn skip_exit_handlers_of_child() {
    register_for_this_process();
    skip_exit_handlers();
}

/// Records the ID of this process, and registers the exit handler. A forked child inherits the handler.
fn register_for_this_process() {
    PROCESS.store(std::process::id(), Ordering::Release);
    static ONCE: Once = Once::new();
    ONCE.call_once(register_exit_handler);
}

/// Makes the exit handler end the thread that receives `messages`. `runs_on_cpu`: whether the driver runs kernels on
/// the CPU.
pub(crate) fn register(messages: Sender<Message>, runs_on_cpu: bool) {
    MESSAGES.lock().push(messages);
    if runs_on_cpu {
        RUNS_ON_CPU.store(true, Ordering::Release);
    }
    register_for_this_process();
    if is_main_thread() {
        END_OF_MAIN.with(|_| {});
    }
}

pub(crate) fn batch_submitted() {
    IN_FLIGHT.fetch_add(1, Ordering::AcqRel);
}

pub(crate) fn batches_complete(count: usize) {
    IN_FLIGHT.fetch_sub(count, Ordering::AcqRel);
}

/// The main thread drops this before the exit handlers run.
struct EndOfMain;

impl Drop for EndOfMain {
    fn drop(&mut self) {
        let end = Instant::now() + MAX_WAIT;
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

#[cfg(target_os = "linux")]
fn is_main_thread() -> bool {
    // SAFETY: both calls only return a number.
    unsafe { libc::gettid() == libc::getpid() }
}

/// Always returns false: only Linux gives the main thread the ID of the process.
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
            tracing::warn!("skipping the exit handlers of libraries: a kernel still runs on the CPU or is being compiled");
        }
        if is_busy || (SKIP_HANDLERS.load(Ordering::Acquire) && std::process::id() == PROCESS.load(Ordering::Acquire)) {
            // SAFETY: flushes all C streams, as `exit` would do next, and ends the process.
            unsafe {
                libc::fflush(std::ptr::null_mut());
                libc::_exit(status);
            }
        }
    }

    // SAFETY: the handler is a function that lives as long as the library, and does not unwind.
    let _ = unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
fn register_exit_handler() {
    extern "C" fn at_exit() {
        end_threads();
    }

    // SAFETY: the handler is a function that lives as long as the library, and does not unwind.
    let _ = unsafe { libc::atexit(at_exit) };
}

#[cfg(not(unix))]
fn register_exit_handler() {}

/// Makes all threads end after their current work. Returns false if some are still running after [`MAX_WAIT`].
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has the exit handler"))]
fn end_threads() -> bool {
    shutdown::begin_end();
    if std::process::id() != PROCESS.load(Ordering::Acquire) {
        return true;
    }
    for messages in MESSAGES.lock().drain(..) {
        // A thread that has ended needs no message.
        let _ = messages.send(Message::Quit);
    }
    shutdown::wait_for_all(Instant::now() + MAX_WAIT)
}
