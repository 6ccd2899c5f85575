//! Coordinates the end of the process. Counts the activities that must end before the process does, and reports whether
//! new activities may start.
//!
//! A thread holds a [`Running`] during work that must not be interrupted. The exit handler calls [`begin_end`], and
//! then waits a bounded time for these activities ([`wait_for_all`]).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use wgcl_api::types::process::{self, PerProcess};

static ENDING: AtomicBool = AtomicBool::new(false);
/// Number of activities in this process. A forked child starts at 0, because activities of the parent do not continue
/// in the child.
static RUNNING: Mutex<PerProcess<usize>> = Mutex::new(PerProcess::new());
/// 1 plus the fork generation of the process that last opened a driver, or 0 if no process has opened one.
static DRIVER: AtomicU32 = AtomicU32::new(0);
/// Number of activities that run a compiler.
static COMPILING: AtomicU32 = AtomicU32::new(0);
static ENDED: Condvar = Condvar::new();

/// Whether the process is ending, or is a forked child of a process with an open driver. The caller must then start no
/// work, and must not free resources.
pub fn is_ending() -> bool {
    let driver = DRIVER.load(Ordering::Acquire);
    ENDING.load(Ordering::Acquire) || (driver != 0 && driver != process::generation() + 1)
}

/// Records that this process opens a driver.
pub fn note_driver() {
    DRIVER.store(process::generation() + 1, Ordering::Release);
}

/// Marks the process as ending.
pub fn begin_end() {
    ENDING.store(true, Ordering::Release);
}

/// Whether an activity runs a compiler.
pub fn is_compiling() -> bool {
    COMPILING.load(Ordering::Acquire) > 0
}

/// Waits until no [`Running`] exists, or until the time `until`. Returns false if a [`Running`] still exists.
pub fn wait_for_all(until: Instant) -> bool {
    let mut running = RUNNING.lock();
    let is_active = |running: &mut PerProcess<usize>| running.get().is_some_and(|count| *count > 0);
    while is_active(&mut running) {
        if ENDED.wait_until(&mut running, until).timed_out() {
            return !is_active(&mut running);
        }
    }
    true
}

/// An activity that must end before the process ends. It ends when this guard is dropped.
#[derive(Debug)]
pub struct Running {
    compiling: bool,
}

impl Running {
    /// Begins an activity outside of a compiler.
    #[expect(clippy::new_without_default, reason = "creating one has an effect")]
    pub fn new() -> Self {
        Self::start(false)
    }

    /// Begins an activity that runs a compiler, possibly that of a driver. Exit handlers must not run before the
    /// activity ends.
    pub fn compiling() -> Self {
        COMPILING.fetch_add(1, Ordering::AcqRel);
        Self::start(true)
    }

    fn start(compiling: bool) -> Self {
        *RUNNING.lock().get_or_insert_with(|| 0) += 1;
        Self { compiling }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.compiling {
            COMPILING.fetch_sub(1, Ordering::AcqRel);
        }
        if let Some(count) = RUNNING.lock().get() {
            *count = count.saturating_sub(1);
        }
        ENDED.notify_all();
    }
}
