//! The end of the process, as far as threads have to know: who is still at work, and whether to begin anything more.
//!
//! Threads, and whatever must not be interrupted, hold a [`Running`]. Whoever learns that the process ends ([`begin_end`]) waits for them a bounded time.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

static ENDING: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<usize> = Mutex::new(0);
/// How many of those are inside a compiler.
static COMPILING: AtomicU32 = AtomicU32::new(0);
static ENDED: Condvar = Condvar::new();

/// Whether the process is ending: begin nothing, free nothing.
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Notes that the process ends.
pub fn begin_end() {
    ENDING.store(true, Ordering::Release);
}

/// Whether somebody is inside a compiler.
pub fn is_compiling() -> bool {
    COMPILING.load(Ordering::Acquire) > 0
}

/// Waits until nobody holds a [`Running`], or until that moment; whether nobody does.
pub fn wait_for_all(until: Instant) -> bool {
    let mut running = RUNNING.lock();
    while *running > 0 {
        if ENDED.wait_until(&mut running, until).timed_out() {
            return *running == 0;
        }
    }
    true
}

/// Counts a thread, or something that a thread does, for which the process's end has to wait, as long as it lives.
#[derive(Debug)]
pub struct Running {
    compiling: bool,
}

impl Running {
    /// Of any work.
    #[expect(clippy::new_without_default, reason = "it is made for its effect")]
    pub fn new() -> Self {
        Self::start(false)
    }

    /// Of a thread that is going to be in a compiler, a driver's perhaps, which no exit handler may overtake.
    pub fn compiling() -> Self {
        COMPILING.fetch_add(1, Ordering::AcqRel);
        Self::start(true)
    }

    fn start(compiling: bool) -> Self {
        *RUNNING.lock() += 1;
        Self { compiling }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.compiling {
            COMPILING.fetch_sub(1, Ordering::AcqRel);
        }
        *RUNNING.lock() -= 1;
        ENDED.notify_all();
    }
}
