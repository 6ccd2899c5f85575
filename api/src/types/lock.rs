//! Mutexes with a rank: a thread that holds a mutex may only lock mutexes of a higher rank. Debug builds check the
//! order at every lock, so that tests detect a cycle before an application deadlocks.
//!
//! The order is that of [`Rank`]. No lock of this crate is held while a callback runs, while a thread waits, or while
//! the backend is called.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Ranks, lowest (taken first) at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Rank {
    /// Builds and specialisation constants of a program.
    Program,
    /// Commands of a command buffer.
    CommandBuffer,
    /// Arguments of a kernel.
    Kernel,
    /// Signals and waits of a semaphore.
    Semaphore,
    /// Order and outstanding commands of a queue.
    Queue,
    /// State of an event.
    Event,
    /// Maps of a memory object.
    Maps,
    /// The valid bytes, the failure and the map memory of a memory object.
    Residency,
    /// Shared virtual memory, device addresses and queues of a context.
    Svm,
    /// Destructor callbacks of an object, and the objects that a submitted command retains.
    Callbacks,
}

#[cfg(debug_assertions)]
mod check {
    use std::cell::RefCell;

    use super::Rank;

    thread_local! {
        static HELD: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn acquire(rank: Rank) {
        // Destructors of other thread-locals may take locks after this one is destroyed. Then the order is not checked.
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            if let Some(&top) = held.last() {
                assert!(top < rank, "lock order: {rank:?} is taken while {top:?} is held");
            }
            held.push(rank);
        });
    }

    pub(super) fn release(rank: Rank) {
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            if let Some(position) = held.iter().rposition(|&r| r == rank) {
                held.remove(position);
            }
        });
    }
}

/// A mutex with a rank.
pub struct Mutex<T> {
    rank: Rank,
    inner: parking_lot::Mutex<T>,
}

impl<T> Mutex<T> {
    /// Wraps a value.
    pub const fn new(rank: Rank, value: T) -> Self {
        Self { rank, inner: parking_lot::Mutex::new(value) }
    }

    /// Waits for the lock.
    pub fn lock(&self) -> Guard<'_, T> {
        #[cfg(debug_assertions)]
        check::acquire(self.rank);
        Guard { rank: self.rank, inner: self.inner.lock() }
    }

    /// The value, through exclusive access.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T: fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.inner, f)
    }
}

/// A held lock.
pub struct Guard<'a, T> {
    #[cfg_attr(not(debug_assertions), expect(dead_code, reason = "checked in debug builds only"))]
    rank: Rank,
    inner: parking_lot::MutexGuard<'a, T>,
}

impl<T> Guard<'_, T> {
    /// Waits on a condition variable. The thread must not hold another lock, which would block other threads.
    pub fn wait(&mut self, condition: &parking_lot::Condvar) {
        condition.wait(&mut self.inner);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        check::release(self.rank);
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::{Mutex, Rank};

    #[test]
    fn the_lock_order_is_checked() {
        let queue = Mutex::new(Rank::Queue, 1);
        let event = Mutex::new(Rank::Event, 2);
        {
            let _outer = queue.lock();
            assert_eq!(*event.lock(), 2);
        }
        let wrong = std::thread::spawn(move || {
            let _outer = event.lock();
            *queue.lock()
        });
        assert!(wrong.join().is_err(), "the reverse order is detected");
    }

    /// All ranks, outermost first. Threads rarely hold two locks, so other tests would not detect two exchanged ranks.
    const ORDER: [Rank; Rank::Callbacks as usize + 1] = [
        Rank::Program,
        Rank::CommandBuffer,
        Rank::Kernel,
        Rank::Semaphore,
        Rank::Queue,
        Rank::Event,
        Rank::Maps,
        Rank::Residency,
        Rank::Svm,
        Rank::Callbacks,
    ];

    #[test]
    fn every_pair_of_ranks_is_ordered() {
        let locks = ORDER.map(|rank| Mutex::new(rank, ()));
        let held: Vec<_> = locks.iter().map(Mutex::lock).collect();
        drop(held);
        for (position, inner) in ORDER.iter().enumerate() {
            for &outer in &ORDER[position..] {
                let (outer, inner) = (Mutex::new(outer, ()), Mutex::new(*inner, ()));
                let wrong = std::thread::spawn(move || {
                    let _outer = outer.lock();
                    drop(inner.lock());
                });
                assert!(wrong.join().is_err(), "{inner:?} within a rank that is not lower", inner = ORDER[position]);
            }
        }
    }
}
