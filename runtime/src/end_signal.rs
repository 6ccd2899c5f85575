//! Wakes a thread that waits for the end of work.

use parking_lot::{Condvar, Mutex};

/// Signals the end of some work. It does not use `std::thread::park`, which calls `std::thread::current`. That function
/// panics in a thread of the application whose thread-local values are already destroyed.
#[derive(Debug, Default)]
pub struct EndSignal {
    lock: Mutex<()>,
    ended: Condvar,
}

impl EndSignal {
    /// Wakes the waiting thread. The caller must have made the condition of [`Self::wait_until`] true.
    pub fn notify(&self) {
        // Acquire the lock before the notification. The waiting thread holds the lock from its last check until it
        // sleeps, so it does not miss the notification.
        drop(self.lock.lock());
        self.ended.notify_one();
    }

    /// Waits until `holds` returns true.
    pub fn wait_until(&self, holds: impl Fn() -> bool) {
        let mut lock = self.lock.lock();
        while !holds() {
            self.ended.wait(&mut lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::EndSignal;

    #[test]
    fn a_thread_waits_for_the_condition() {
        let (signal, done) = (EndSignal::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                signal.notify();
                done.store(true, Ordering::SeqCst);
                signal.notify();
            });
            signal.wait_until(|| done.load(Ordering::SeqCst));
            assert!(done.load(Ordering::SeqCst));
        });
    }
}
