//! Measures the time of compiler stages, for `wgclc --time` and benchmarks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static ENABLED: AtomicBool = AtomicBool::new(false);
static TIMES: Mutex<Vec<(&str, Duration)>> = Mutex::new(Vec::new());

/// Starts to record times, in all threads.
pub fn enable() {
    ENABLED.store(true, Ordering::Relaxed);
}

/// Returns the stages since the last call, in order of their first end, and the total time of each.
pub fn take() -> Vec<(&'static str, Duration)> {
    TIMES.lock().map(|mut times| std::mem::take(&mut *times)).unwrap_or_default()
}

/// Runs a stage, and records its time if [`enable`] was called.
pub(crate) fn stage<T>(name: &'static str, run: impl FnOnce() -> T) -> T {
    if !ENABLED.load(Ordering::Relaxed) {
        return run();
    }
    let start = Instant::now();
    let result = run();
    let took = start.elapsed();
    if let Ok(mut times) = TIMES.lock() {
        match times.iter_mut().find(|(other, _)| *other == name) {
            Some((_, sum)) => *sum += took,
            None => times.push((name, took)),
        }
    }
    result
}
