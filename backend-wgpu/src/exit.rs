//! The end of the process: the drivers' own exit handlers must not find our threads inside them.
//!
//! The handler is registered when a device is opened, after its driver was loaded, so that it runs before the driver's own. It asks every
//! submission thread to end, waits a bounded time, and from then on nothing of wgpu's is freed: the application's own destructors may
//! release OpenCL objects later still.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::engine::Message;

/// How long the process's end waits for commands in flight.
const PATIENCE: Duration = Duration::from_secs(2);

static LEAVING: AtomicBool = AtomicBool::new(false);
static THREADS: Mutex<Vec<Sender<Message>>> = Mutex::new(Vec::new());
static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// Whether the process is ending: leave everything as it is.
pub(crate) fn leaving() -> bool {
    LEAVING.load(Ordering::Acquire)
}

/// Counts a thread that the process's end has to wait for, as long as it lives.
#[derive(Debug)]
pub(crate) struct Running(());

impl Running {
    pub(crate) fn new() -> Self {
        *RUNNING.lock() += 1;
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *RUNNING.lock() -= 1;
        ENDED.notify_all();
    }
}

/// Makes the process's end wait for the thread that reads from `thread`.
pub(crate) fn register(thread: Sender<Message>) {
    THREADS.lock().push(thread);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(unix)]
        // SAFETY: the handler is a plain function that lives as long as the library; it does not unwind.
        let _ = unsafe { libc::atexit(at_exit) };
    });
}

#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has the hook"))]
extern "C" fn at_exit() {
    LEAVING.store(true, Ordering::Release);
    for thread in THREADS.lock().drain(..) {
        // A thread that has ended already needs no message.
        let _ = thread.send(Message::Quit);
    }
    let until = Instant::now() + PATIENCE;
    let mut running = RUNNING.lock();
    while *running > 0 {
        if ENDED.wait_until(&mut running, until).timed_out() {
            break;
        }
    }
}
