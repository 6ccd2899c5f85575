//! Shutdown of the process: counts the activities that must end before, and reports whether new ones may start.
//!
//! A thread holds a [`Running`] during work that must not be interrupted. The exit handler calls [`begin_end`], and
//! then waits a bounded time for these activities ([`wait_for_all`]).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

static ENDING: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<usize> = Mutex::new(0);
/// Number of activities that are in a compiler.
static COMPILING: AtomicU32 = AtomicU32::new(0);
static ENDED: Condvar = Condvar::new();

/// Whether the process is ending. Then start no work, and free no resources.
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Marks the process as ending.
pub fn begin_end() {
    ENDING.store(true, Ordering::Release);
}

/// Whether an activity is in a compiler.
pub fn is_compiling() -> bool {
    COMPILING.load(Ordering::Acquire) > 0
}

/// Waits until there is no [`Running`], or until `until`. Returns whether there is none.
pub fn wait_for_all(until: Instant) -> bool {
    let mut running = RUNNING.lock();
    while *running > 0 {
        if ENDED.wait_until(&mut running, until).timed_out() {
            return *running == 0;
        }
    }
    true
}

/// An activity that the end of the process waits for, until this guard is dropped.
#[derive(Debug)]
pub struct Running {
    compiling: bool,
}

impl Running {
    /// An activity outside of a compiler.
    #[expect(clippy::new_without_default, reason = "creating one has an effect")]
    pub fn new() -> Self {
        Self::start(false)
    }

    /// An activity in a compiler, possibly of a driver. Exit handlers must not run before it ends.
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
