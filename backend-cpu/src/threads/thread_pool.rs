//! The threads that run groups.
//!
//! There are as many as the process may use cores, the one that hands work out among them. They are started by the first work that is worth sharing. Work is a range of numbers, of which
//! every thread takes the next few from one counter until none is left. A thread without work looks for some for a moment, and then sleeps; who hands work out wakes the first, and each wakes two
//! more, so that many threads are awake soon.
//!
//! Only one piece of work is shared at a time: a device runs one command after the other.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult};

use crate::memory::arena::Arena;
use crate::threads::affinity::{self, Cores};

/// How long a thread looks for more work, or for the end of others' work, before it sleeps.
const SPIN: Duration = Duration::from_micros(10);
/// Ranges that each thread should get, so that all have work to the end.
const RANGES_PER_THREAD: u64 = 8;

/// What is shared: parts by their numbers, in any order, on any threads at once.
pub(crate) trait Work: Send + Sync + 'static {
    /// Runs parts; `false` where there is no memory for that, and then none was run. Does not panic.
    fn run(&self, parts: Range<u64>, arena: &mut Arena) -> bool;
}

/// Work while it is shared.
struct Job {
    work: Arc<dyn Work>,
    end: u64,
    /// Parts of a range.
    grain: u64,
    /// The first part that nobody has taken.
    next: AtomicU64,
    /// Parts that are not done.
    left: AtomicU64,
    failed: AtomicBool,
    /// Who waits for the end, and whether he sleeps.
    owner: Thread,
    owner_sleeps: AtomicBool,
}

impl Job {
    fn new(work: Arc<dyn Work>, parts: Range<u64>, threads: usize) -> Self {
        let count = parts.end - parts.start;
        Self {
            work,
            end: parts.end,
            grain: (count / (RANGES_PER_THREAD * threads as u64)).max(1),
            next: AtomicU64::new(parts.start),
            left: AtomicU64::new(count),
            failed: AtomicBool::new(false),
            owner: thread::current(),
            owner_sleeps: AtomicBool::new(false),
        }
    }

    /// Ranges that it has at most.
    fn ranges(&self) -> u64 {
        self.left.load(Ordering::Relaxed).div_ceil(self.grain)
    }

    /// Runs ranges until none is left.
    fn run(&self, arena: &mut Arena) {
        loop {
            let first = self.next.fetch_add(self.grain, Ordering::Relaxed);
            if first >= self.end {
                return;
            }
            let range = first..first.saturating_add(self.grain).min(self.end);
            let count = range.end - range.start;
            // Who sees that all is done sees what was done.
            if !self.failed.load(Ordering::Relaxed) && !self.work.run(range, arena) {
                self.failed.store(true, Ordering::Relaxed);
            }
            if self.left.fetch_sub(count, Ordering::SeqCst) == count && self.owner_sleeps.load(Ordering::SeqCst) {
                self.owner.unpark();
            }
        }
    }

    fn is_done(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    /// Waits until all parts are done, whoever runs them.
    fn wait(&self) {
        if spin_until(|| self.is_done()) {
            return;
        }
        self.owner_sleeps.store(true, Ordering::SeqCst);
        while !self.is_done() {
            thread::park();
        }
    }
}

/// Looks for a moment whether something has happened.
fn spin_until(happened: impl Fn() -> bool) -> bool {
    let mut begin = None;
    loop {
        for _ in 0..32 {
            if happened() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.get_or_insert_with(Instant::now).elapsed() >= SPIN {
            return happened();
        }
    }
}

/// A worker, as others see it.
#[derive(Default)]
struct Seat {
    /// Set once it runs.
    thread: OnceLock<Thread>,
    sleeps: AtomicBool,
}

impl Seat {
    fn wake(&self) {
        if self.sleeps.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// What all threads see.
struct Shared {
    seats: Vec<Seat>,
    /// How often work was handed out.
    turn: AtomicU64,
    /// Workers that the work of this turn is worth.
    wanted: AtomicUsize,
    job: Mutex<Option<Arc<Job>>>,
    ending: AtomicBool,
}

impl Shared {
    /// Wakes the workers from a number on that are woken by the one before: two at most.
    fn wake_two(&self, first: usize) {
        let end = (first + 2).min(self.wanted.load(Ordering::Relaxed)).min(self.seats.len());
        for seat in self.seats.get(first..end).unwrap_or_default() {
            seat.wake();
        }
    }

    /// What a worker does.
    fn serve(&self, number: usize) {
        let Some(seat) = self.seats.get(number) else { return };
        let _ = seat.thread.set(thread::current());
        let mut arena = Arena::default();
        // One less than the first turn that it may see: work may have been handed out before it ran.
        let mut seen = 0;
        loop {
            let has_turn = || self.turn.load(Ordering::SeqCst) != seen || self.ending.load(Ordering::SeqCst);
            if !spin_until(has_turn) {
                seat.sleeps.store(true, Ordering::SeqCst);
                while !has_turn() {
                    thread::park();
                }
                seat.sleeps.store(false, Ordering::SeqCst);
            }
            if self.ending.load(Ordering::SeqCst) {
                return;
            }
            seen = self.turn.load(Ordering::SeqCst);
            self.wake_two(2 * number + 2);
            let job = self.job.lock().clone();
            if let Some(job) = job {
                job.run(&mut arena);
            }
        }
    }
}

/// The threads of a device.
pub(crate) struct Pool {
    /// With the one that hands work out.
    threads: usize,
    /// What the workers keep to.
    cores: Option<Cores>,
    shared: Arc<Shared>,
    start: Once,
    running: AtomicUsize,
    /// Arenas of threads that hand work out.
    arenas: Mutex<Vec<Arena>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Pool {
    /// Of so many threads, the one that hands work out among them. None is started yet; those that are keep to processors.
    pub(crate) fn new(threads: usize, cores: Option<Cores>) -> Self {
        // One at least, which runs what does not fit the stack of a thread of the application's.
        let seats = (0..threads.saturating_sub(1).max(1)).map(|_| Seat::default()).collect();
        let shared =
            Shared { seats, turn: AtomicU64::new(0), wanted: AtomicUsize::new(0), job: Mutex::new(None), ending: AtomicBool::new(false) };
        Self {
            threads: threads.max(1),
            cores,
            shared: Arc::new(shared),
            start: Once::new(),
            running: AtomicUsize::new(0),
            arenas: Mutex::default(),
        }
    }

    /// Threads that run groups at a time.
    pub(crate) const fn threads(&self) -> usize {
        self.threads
    }

    /// Lends an arena to a thread that is none of the pool's.
    pub(crate) fn with_arena<T>(&self, f: impl FnOnce(&mut Arena) -> T) -> T {
        let mut arena = self.arenas.lock().pop().unwrap_or_default();
        let result = f(&mut arena);
        self.arenas.lock().push(arena);
        result
    }

    /// Runs parts of work in the calling thread.
    pub(crate) fn run_alone(&self, work: &dyn Work, parts: Range<u64>) -> BackendResult<()> {
        self.with_arena(|arena| if work.run(parts, arena) { Ok(()) } else { Err(BackendError::OutOfHostMemory) })
    }

    /// Runs parts of work on all threads, and on the calling one if it `takes_part`; returns when all are done. Only one thread may hand work out at a time.
    pub(crate) fn share(&self, work: Arc<dyn Work>, parts: Range<u64>, takes_part: bool) -> BackendResult<()> {
        if parts.is_empty() {
            return Ok(());
        }
        if self.workers() == 0 {
            return if takes_part {
                self.run_alone(&*work, parts)
            } else {
                Err(BackendError::Other("the host has no threads to give".to_owned()))
            };
        }
        let job = Arc::new(Job::new(work, parts, self.threads));
        let others = job.ranges().saturating_sub(u64::from(takes_part));
        let shared = &self.shared;
        *shared.job.lock() = Some(Arc::clone(&job));
        shared.wanted.store(usize::try_from(others).unwrap_or(usize::MAX), Ordering::Relaxed);
        shared.turn.fetch_add(1, Ordering::SeqCst);
        shared.wake_two(0);
        if takes_part {
            self.with_arena(|arena| job.run(arena));
        }
        job.wait();
        *shared.job.lock() = None;
        if job.failed.load(Ordering::Relaxed) { Err(BackendError::OutOfHostMemory) } else { Ok(()) }
    }

    /// Starts the workers, if that was not done; how many there are.
    fn workers(&self) -> usize {
        self.start.call_once(|| {
            for number in 0..self.shared.seats.len() {
                let shared = Arc::clone(&self.shared);
                if let Err(error) = affinity::spawn("wgcl-cpu", self.cores.as_ref(), move || shared.serve(number)) {
                    tracing::warn!("{number} threads instead of {}: {error}", self.shared.seats.len());
                    break;
                }
                self.running.store(number + 1, Ordering::Relaxed);
            }
        });
        self.running.load(Ordering::Relaxed)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        self.shared.seats.iter().for_each(|seat| {
            seat.sleeps.store(false, Ordering::SeqCst);
            if let Some(thread) = seat.thread.get() {
                thread.unpark();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread::{self, ThreadId};
    use std::time::Duration;

    use parking_lot::Mutex;
    use wgcl_api::backend::BackendError;

    use super::{Pool, Work};
    use crate::memory::arena::Arena;

    /// Counts how often each part was run, and by whom.
    struct Counter {
        parts: Vec<AtomicU32>,
        threads: Mutex<BTreeSet<String>>,
        pause: Duration,
    }

    fn name(id: ThreadId) -> String {
        format!("{id:?}")
    }

    impl Counter {
        fn new(parts: usize, pause: Duration) -> Arc<Self> {
            Arc::new(Self { parts: (0..parts).map(|_| AtomicU32::new(0)).collect(), threads: Mutex::default(), pause })
        }

        fn counts(&self) -> BTreeSet<u32> {
            self.parts.iter().map(|part| part.load(Ordering::Relaxed)).collect()
        }
    }

    impl Work for Counter {
        fn run(&self, parts: Range<u64>, arena: &mut Arena) -> bool {
            assert!(arena.reserve(1000).is_some());
            self.threads.lock().insert(name(thread::current().id()));
            thread::sleep(self.pause);
            parts.for_each(|part| {
                self.parts[part as usize].fetch_add(1, Ordering::Relaxed);
            });
            true
        }
    }

    #[test]
    fn every_part_is_run_once_however_many_threads_there_are() {
        for threads in [1, 2, 3, 7, 40] {
            let pool = Pool::new(threads, None);
            for parts in [1, 2, 10, 1000, 4099] {
                for takes_part in [true, false] {
                    let work = Counter::new(parts, Duration::ZERO);
                    let dynamic: Arc<dyn Work> = work.clone();
                    assert_eq!(pool.share(dynamic, 0..parts as u64, takes_part), Ok(()));
                    assert_eq!(work.counts(), [1].into(), "{parts} parts, {threads} threads");
                }
            }
        }
    }

    #[test]
    fn many_short_jobs_follow_each_other() {
        let pool = Pool::new(4, None);
        let work = Counter::new(16, Duration::ZERO);
        for turn in 1..=2000 {
            assert_eq!(pool.share(work.clone(), 0..16, true), Ok(()));
            assert_eq!(work.counts(), [turn].into());
        }
    }

    #[test]
    fn all_threads_work_and_no_others() {
        let pool = Pool::new(3, None);
        let work = Counter::new(60, Duration::from_millis(2));
        assert_eq!(pool.share(work.clone(), 0..60, true), Ok(()));
        let own = name(thread::current().id());
        assert!(work.threads.lock().contains(&own));
        assert_eq!(work.threads.lock().len(), 3);
        work.threads.lock().clear();
        assert_eq!(pool.share(work.clone(), 0..60, false), Ok(()));
        assert!(!work.threads.lock().contains(&own));
        assert_eq!((work.threads.lock().len(), work.counts()), (2, [2].into()));
    }

    #[test]
    fn parts_may_begin_anywhere() {
        let pool = Pool::new(2, None);
        let work = Counter::new(100, Duration::ZERO);
        assert_eq!(pool.run_alone(&*work, 0..30), Ok(()));
        assert_eq!(pool.share(work.clone(), 30..100, true), Ok(()));
        assert_eq!(pool.share(work.clone(), 100..100, true), Ok(()));
        assert_eq!(work.counts(), [1].into());
    }

    /// There is no memory for the later parts.
    struct Poor;

    impl Work for Poor {
        fn run(&self, parts: Range<u64>, _: &mut Arena) -> bool {
            parts.start < 50
        }
    }

    #[test]
    fn lack_of_memory_is_told_and_ends_the_work() {
        let pool = Pool::new(3, None);
        for takes_part in [true, false] {
            assert_eq!(pool.share(Arc::new(Poor), 0..100, takes_part), Err(BackendError::OutOfHostMemory));
            assert_eq!(pool.share(Arc::new(Poor), 0..40, takes_part), Ok(()));
        }
        assert_eq!(pool.run_alone(&Poor, 60..61), Err(BackendError::OutOfHostMemory));
    }
}
