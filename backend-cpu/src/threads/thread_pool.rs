//! The threads that run work-groups.
//!
//! A pool has one thread per compute unit, including the thread that submits a job. The workers start with the first
//! job. A job is a range of indices. Each thread repeatedly claims the next few indices from an atomic counter. An idle
//! worker spins for a short time and then sleeps. The submitting thread wakes the first two workers, and each worker
//! wakes two more (a binary tree), so that many threads wake quickly.
//!
//! There is one job at a time, because a device runs one command at a time.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_api::types::process::PerProcess;
use wgcl_runtime::EndSignal;

use crate::memory::arena::Arena;
use crate::threads::affinity::{self, ComputeUnits};

/// The time for which a thread spins until a new job or the end of its job, before it sleeps.
const SPIN: Duration = Duration::from_micros(10);
/// Number of ranges per thread of a job. Several ranges balance the load.
const RANGES_PER_THREAD: u64 = 8;

/// Work that is a function of an index. Indices run in any order, on any thread, concurrently.
pub(crate) trait Work: Send + Sync + 'static {
    /// Runs a range of indices. Returns `false` if there is not enough memory. In this case, none of the indices has
    /// run. Must not panic.
    fn run(&self, indices: Range<u64>, arena: &mut Arena) -> bool;
}

/// Work that threads share.
struct Job {
    work: Arc<dyn Work>,
    end: u64,
    /// Indices per range.
    grain: u64,
    /// The first index that no thread has claimed. Greater than or equal to `end` if all are claimed.
    next: AtomicU64,
    /// Number of indices that have not run.
    remaining: AtomicU64,
    failed: AtomicBool,
    /// Whether the thread that submitted the job sleeps until its end.
    owner_sleeps: AtomicBool,
    ended: EndSignal,
}

impl Job {
    fn new(work: Arc<dyn Work>, indices: Range<u64>, threads: usize) -> Self {
        let count = indices.end - indices.start;
        Self {
            work,
            end: indices.end,
            grain: (count / (RANGES_PER_THREAD * threads as u64)).max(1),
            next: AtomicU64::new(indices.start),
            remaining: AtomicU64::new(count),
            failed: AtomicBool::new(false),
            owner_sleeps: AtomicBool::new(false),
            ended: EndSignal::default(),
        }
    }

    /// Maximum number of ranges.
    fn ranges(&self) -> u64 {
        self.remaining.load(Ordering::Relaxed).div_ceil(self.grain)
    }

    /// Claims and runs ranges until all are claimed.
    fn run(&self, arena: &mut Arena) {
        loop {
            let first = self.next.fetch_add(self.grain, Ordering::Relaxed);
            if first >= self.end {
                return;
            }
            let range = first..first.saturating_add(self.grain).min(self.end);
            let count = range.end - range.start;
            // The sequentially consistent decrement of `remaining` publishes the effects of the work to the submitting
            // thread.
            if !self.failed.load(Ordering::Relaxed) && !self.work.run(range, arena) {
                self.failed.store(true, Ordering::Relaxed);
            }
            if self.remaining.fetch_sub(count, Ordering::SeqCst) == count && self.owner_sleeps.load(Ordering::SeqCst) {
                self.ended.notify();
            }
        }
    }

    fn is_done(&self) -> bool {
        self.remaining.load(Ordering::SeqCst) == 0
    }

    /// Waits until every index has run.
    fn wait(&self) {
        if spin_until(|| self.is_done()) {
            return;
        }
        self.owner_sleeps.store(true, Ordering::SeqCst);
        self.ended.wait_until(|| self.is_done());
    }
}

/// Spins until a condition holds, for at most `SPIN`. Returns false if it does not hold by then.
fn spin_until(condition: impl Fn() -> bool) -> bool {
    let mut begin = None;
    loop {
        for _ in 0..32 {
            if condition() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.get_or_insert_with(Instant::now).elapsed() >= SPIN {
            return condition();
        }
    }
}

/// The state of a worker that is shared with other threads.
#[derive(Default)]
struct WorkerSlot {
    /// Set by the worker when it starts.
    thread: OnceLock<Thread>,
    sleeps: AtomicBool,
}

impl WorkerSlot {
    fn wake(&self) {
        if self.sleeps.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// The state that all threads share.
struct Shared {
    slots: Vec<WorkerSlot>,
    /// Number of jobs that have been submitted.
    generation: AtomicU64,
    /// Number of workers that the current job can use.
    wanted: AtomicUsize,
    job: Mutex<Option<Arc<Job>>>,
    ending: AtomicBool,
}

impl Shared {
    /// Wakes the workers `first` and `first + 1`, if they exist and the job has enough ranges for them.
    fn wake_two(&self, first: usize) {
        let end = (first + 2).min(self.wanted.load(Ordering::Relaxed)).min(self.slots.len());
        for slot in self.slots.get(first..end).unwrap_or_default() {
            slot.wake();
        }
    }

    /// The main function of a worker.
    fn serve(&self, number: usize) {
        let Some(slot) = self.slots.get(number) else { return };
        let _ = slot.thread.set(thread::current());
        let mut arena = Arena::default();
        // The first job has generation 1, and may exist before the worker starts.
        let mut seen = 0;
        loop {
            let has_work = || self.generation.load(Ordering::SeqCst) != seen || self.ending.load(Ordering::SeqCst);
            if !spin_until(has_work) {
                slot.sleeps.store(true, Ordering::SeqCst);
                while !has_work() {
                    thread::park();
                }
                slot.sleeps.store(false, Ordering::SeqCst);
            }
            if self.ending.load(Ordering::SeqCst) {
                return;
            }
            seen = self.generation.load(Ordering::SeqCst);
            self.wake_two(2 * number + 2);
            let job = self.job.lock().clone();
            if let Some(job) = job {
                job.run(&mut arena);
            }
        }
    }
}

/// The workers of a pool in one process.
struct Team {
    shared: Arc<Shared>,
    /// Number of workers.
    running: usize,
}

/// The thread pool of a device.
pub(crate) struct ThreadPool {
    /// Number of threads, including the thread that submits a job.
    threads: usize,
    /// The processors that workers are bound to; `None` if they are not bound.
    units: Option<ComputeUnits>,
    team: Mutex<PerProcess<Team>>,
    /// Arenas for threads outside of the pool.
    arenas: Mutex<Vec<Arena>>,
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl ThreadPool {
    /// Creates a pool of `threads` threads, including the thread that submits a job. The first job starts the workers,
    /// bound to `units`.
    pub(crate) fn new(threads: usize, units: Option<ComputeUnits>) -> Self {
        Self { threads: threads.max(1), units, team: Mutex::default(), arenas: Mutex::default() }
    }

    /// Maximum number of threads that run a job.
    pub(crate) const fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `f` with an arena, on a thread outside of the pool.
    pub(crate) fn with_arena<T>(&self, f: impl FnOnce(&mut Arena) -> T) -> T {
        let mut arena = self.arenas.lock().pop().unwrap_or_default();
        let result = f(&mut arena);
        self.arenas.lock().push(arena);
        result
    }

    /// Runs indices on the calling thread.
    ///
    /// # Errors
    /// Fails if there is not enough memory.
    pub(crate) fn run_alone(&self, work: &dyn Work, indices: Range<u64>) -> BackendResult<()> {
        self.with_arena(|arena| if work.run(indices, arena) { Ok(()) } else { Err(BackendError::OutOfHostMemory) })
    }

    /// Runs indices on the workers, and also on the calling thread if `takes_part` is set. Returns when every index has
    /// run. Only one thread may call this at a time.
    ///
    /// # Errors
    /// Fails if there is not enough memory. Some indices have then not run. Also fails if no worker can be created and
    /// `takes_part` is not set.
    pub(crate) fn share(&self, work: Arc<dyn Work>, indices: Range<u64>, takes_part: bool) -> BackendResult<()> {
        if indices.is_empty() {
            return Ok(());
        }
        let (shared, workers) = self.team();
        if workers == 0 {
            return if takes_part {
                self.run_alone(&*work, indices)
            } else {
                Err(BackendError::Other("the system refused to create a thread".to_owned()))
            };
        }
        let job = Arc::new(Job::new(work, indices, self.threads));
        let others = job.ranges().saturating_sub(u64::from(takes_part));
        *shared.job.lock() = Some(Arc::clone(&job));
        shared.wanted.store(usize::try_from(others).unwrap_or(usize::MAX), Ordering::Relaxed);
        shared.generation.fetch_add(1, Ordering::SeqCst);
        shared.wake_two(0);
        if takes_part {
            self.with_arena(|arena| job.run(arena));
        }
        job.wait();
        *shared.job.lock() = None;
        if job.failed.load(Ordering::Relaxed) { Err(BackendError::OutOfHostMemory) } else { Ok(()) }
    }

    /// The workers and their number. The first call in a process starts them.
    fn team(&self) -> (Arc<Shared>, usize) {
        let mut team = self.team.lock();
        let Team { shared, running } = team.get_or_insert_with(|| self.start());
        (Arc::clone(shared), *running)
    }

    fn start(&self) -> Team {
        // At least one worker, for kernels that need more stack than a thread of the application has.
        let slots = (0..self.threads.saturating_sub(1).max(1)).map(|_| WorkerSlot::default()).collect();
        let shared = Arc::new(Shared {
            slots,
            generation: AtomicU64::new(0),
            wanted: AtomicUsize::new(0),
            job: Mutex::new(None),
            ending: AtomicBool::new(false),
        });
        let mut running = 0;
        for number in 0..shared.slots.len() {
            let served = Arc::clone(&shared);
            if let Err(error) = affinity::spawn("wgcl-cpu", self.units.as_ref(), move || served.serve(number)) {
                tracing::warn!("cannot create worker thread {number} of {}: {error}", shared.slots.len());
                break;
            }
            running = number + 1;
        }
        Team { shared, running }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let Some(Team { shared, .. }) = self.team.get_mut().get() else { return };
        shared.ending.store(true, Ordering::SeqCst);
        shared.slots.iter().for_each(|slot| {
            slot.sleeps.store(false, Ordering::SeqCst);
            if let Some(thread) = slot.thread.get() {
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

    use super::{ThreadPool, Work};
    use crate::memory::arena::Arena;

    /// Counts the runs of each index, and records the threads.
    struct Counter {
        indices: Vec<AtomicU32>,
        threads: Mutex<BTreeSet<String>>,
        pause: Duration,
    }

    fn name(id: ThreadId) -> String {
        format!("{id:?}")
    }

    impl Counter {
        fn new(indices: usize, pause: Duration) -> Arc<Self> {
            Arc::new(Self { indices: (0..indices).map(|_| AtomicU32::new(0)).collect(), threads: Mutex::default(), pause })
        }

        fn counts(&self) -> BTreeSet<u32> {
            self.indices.iter().map(|index| index.load(Ordering::Relaxed)).collect()
        }
    }

    impl Work for Counter {
        fn run(&self, indices: Range<u64>, arena: &mut Arena) -> bool {
            assert!(arena.reserve(1000).is_some());
            self.threads.lock().insert(name(thread::current().id()));
            thread::sleep(self.pause);
            indices.for_each(|index| {
                self.indices[index as usize].fetch_add(1, Ordering::Relaxed);
            });
            true
        }
    }

    #[test]
    fn every_index_runs_once_for_any_number_of_threads() {
        for threads in [1, 2, 3, 7, 40] {
            let pool = ThreadPool::new(threads, None);
            for indices in [1, 2, 10, 1000, 4099] {
                for takes_part in [true, false] {
                    let work = Counter::new(indices, Duration::ZERO);
                    let dynamic: Arc<dyn Work> = work.clone();
                    assert_eq!(pool.share(dynamic, 0..indices as u64, takes_part), Ok(()));
                    assert_eq!(work.counts(), [1].into(), "{indices} indices, {threads} threads");
                }
            }
        }
    }

    #[test]
    fn many_short_jobs_follow_each_other() {
        let pool = ThreadPool::new(4, None);
        let work = Counter::new(16, Duration::ZERO);
        for generation in 1..=2000 {
            assert_eq!(pool.share(work.clone(), 0..16, true), Ok(()));
            assert_eq!(work.counts(), [generation].into());
        }
    }

    #[test]
    fn exactly_the_requested_threads_run_the_work() {
        let pool = ThreadPool::new(3, None);
        // The work takes long enough for emulated threads to start on a busy machine.
        let work = Counter::new(60, Duration::from_millis(10));
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
    fn ranges_may_start_at_any_index() {
        let pool = ThreadPool::new(2, None);
        let work = Counter::new(100, Duration::ZERO);
        assert_eq!(pool.run_alone(&*work, 0..30), Ok(()));
        assert_eq!(pool.share(work.clone(), 30..100, true), Ok(()));
        assert_eq!(pool.share(work.clone(), 100..100, true), Ok(()));
        assert_eq!(work.counts(), [1].into());
    }

    /// Has not enough memory for indices from 50 on.
    struct OutOfMemory;

    impl Work for OutOfMemory {
        fn run(&self, indices: Range<u64>, _: &mut Arena) -> bool {
            indices.start < 50
        }
    }

    #[test]
    fn lack_of_memory_is_an_error_and_ends_the_job() {
        let pool = ThreadPool::new(3, None);
        for takes_part in [true, false] {
            assert_eq!(pool.share(Arc::new(OutOfMemory), 0..100, takes_part), Err(BackendError::OutOfHostMemory));
            assert_eq!(pool.share(Arc::new(OutOfMemory), 0..40, takes_part), Ok(()));
        }
        assert_eq!(pool.run_alone(&OutOfMemory, 60..61), Err(BackendError::OutOfHostMemory));
    }
}
