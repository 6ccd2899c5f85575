//! The threads that run work-groups.
//!
//! A pool has one thread per compute unit, including the thread that submits a job. The workers start with the first
//! job. An idle worker spins for a short time and then sleeps. The submitting thread wakes the first two workers, and
//! each worker wakes two more (a binary tree), so that many threads wake quickly.
//!
//! A job is a range of indices. Each thread has a share of the range. The share is the same in repeated jobs of one
//! size, so that the thread's caches contain the data. A thread that has finished its share takes indices of other
//! shares.
//! Threads write only to their own cache lines while they work on their own shares.
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
const SPIN: Duration = Duration::from_micros(50);
/// A thread claims this fraction of the remaining indices of a share.
const CLAIMED_FRACTION: u64 = 4;
/// Maximum number of claims of the smallest size in a share.
const SMALLEST_CLAIMS: u64 = 64;

/// A value in its own cache lines. Processors load lines in pairs, so the alignment is two lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct OwnLines<T>(T);

/// Work that is a function of an index. Indices run in any order, on any thread, concurrently.
pub(crate) trait Work: Send + Sync + 'static {
    /// Runs a range of indices. Must not panic.
    ///
    /// # Errors
    /// Fails if there is not enough memory, or the thread cannot run the work. None of the indices has then run.
    fn run(&self, indices: Range<u64>, arena: &mut Arena) -> BackendResult<()>;
}

/// Part of the indices of a job.
struct Share {
    /// The first index that no thread has claimed.
    next: AtomicU64,
    end: u64,
    /// Minimum number of indices of a claim.
    smallest_claim: u64,
}

impl Share {
    fn new(indices: Range<u64>) -> Self {
        let smallest_claim = ((indices.end - indices.start) / SMALLEST_CLAIMS).max(1);
        Self { next: AtomicU64::new(indices.start), end: indices.end, smallest_claim }
    }

    /// Claims the next indices. Returns `None` if all are claimed.
    fn claim(&self) -> Option<Range<u64>> {
        let claim_end = |next: u64| {
            let left = self.end - next;
            (left > 0).then(|| next + (left / CLAIMED_FRACTION).max(self.smallest_claim).min(left))
        };
        let first = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim_end).ok()?;
        claim_end(first).map(|end| first..end)
    }
}

/// Work that threads share.
struct Job {
    work: Arc<dyn Work>,
    /// A share for each thread that can take part.
    shares: Box<[OwnLines<Share>]>,
    /// Number of indices that have not run. A thread subtracts its indices when it leaves the job.
    remaining: OwnLines<AtomicU64>,
    /// The first error.
    error: OnceLock<BackendError>,
    /// Whether the thread that submitted the job sleeps until its end.
    owner_sleeps: AtomicBool,
    ended: EndSignal,
}

impl Job {
    fn new(work: Arc<dyn Work>, indices: Range<u64>, threads: usize) -> Self {
        let count = indices.end - indices.start;
        let shares = count.min(threads as u64);
        // The first `count % shares` shares have one index more than the others.
        let begin = |number: u64| indices.start + count / shares * number + number.min(count % shares);
        Self {
            work,
            shares: (0..shares).map(|number| OwnLines(Share::new(begin(number)..begin(number + 1)))).collect(),
            remaining: OwnLines(AtomicU64::new(count)),
            error: OnceLock::new(),
            owner_sleeps: AtomicBool::new(false),
            ended: EndSignal::default(),
        }
    }

    /// Runs the indices of the share `own`, and then indices of the following shares, until all are claimed.
    fn run(&self, own: usize, arena: &mut Arena) {
        let (before, from) = self.shares.split_at(own.min(self.shares.len()));
        let mut count = 0;
        for OwnLines(share) in from.iter().chain(before) {
            while let Some(range) = share.claim() {
                count += range.end - range.start;
                if self.error.get().is_none()
                    && let Err(error) = self.work.run(range, arena)
                {
                    // Another thread can have stored its error before.
                    let _ = self.error.set(error);
                }
            }
        }
        // The sequentially consistent decrement of `remaining` publishes the effects of the work to the submitting
        // thread.
        if count > 0 && self.remaining.0.fetch_sub(count, Ordering::SeqCst) == count && self.owner_sleeps.load(Ordering::SeqCst) {
            self.ended.notify();
        }
    }

    fn is_done(&self) -> bool {
        self.remaining.0.load(Ordering::SeqCst) == 0
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
    /// The job that the worker has not begun. Each worker has its own copy of the reference, because a common lock
    /// delays all workers at the start of each job.
    job: Mutex<Option<Arc<Job>>>,
}

impl WorkerSlot {
    fn wake(&self) {
        if self.sleeps.load(Ordering::SeqCst)
            && self.sleeps.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }
}

/// The state that all threads share.
struct Shared {
    slots: Vec<OwnLines<WorkerSlot>>,
    /// Number of jobs that have been submitted.
    generation: OwnLines<AtomicU64>,
    /// Number of workers that the current job can use.
    wanted: AtomicUsize,
    ending: AtomicBool,
}

impl Shared {
    /// Wakes the workers `first` and `first + 1`, if they exist and the job has enough ranges for them.
    fn wake_two(&self, first: usize) {
        let end = (first + 2).min(self.wanted.load(Ordering::Relaxed)).min(self.slots.len());
        for OwnLines(slot) in self.slots.get(first..end).unwrap_or_default() {
            slot.wake();
        }
    }

    /// The main function of a worker.
    fn serve(&self, number: usize) {
        let Some(OwnLines(slot)) = self.slots.get(number) else { return };
        let _ = slot.thread.set(thread::current());
        let mut arena = Arena::default();
        // The first job has generation 1, and may exist before the worker starts.
        let mut seen = 0;
        loop {
            let has_work = || self.generation.0.load(Ordering::SeqCst) != seen || self.ending.load(Ordering::SeqCst);
            if !spin_until(has_work) {
                // A delayed thread can wake this worker for a previous job. So each iteration sets `sleeps`.
                loop {
                    slot.sleeps.store(true, Ordering::SeqCst);
                    if has_work() {
                        break;
                    }
                    thread::park();
                }
                slot.sleeps.store(false, Ordering::SeqCst);
            }
            if self.ending.load(Ordering::SeqCst) {
                return;
            }
            seen = self.generation.0.load(Ordering::SeqCst);
            self.wake_two(2 * number + 2);
            let job = slot.job.lock().take();
            if let Some(job) = job {
                // The submitting thread has share 0.
                job.run(number + 1, &mut arena);
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
    /// Fails if the work fails.
    pub(crate) fn run_alone(&self, work: &dyn Work, indices: Range<u64>) -> BackendResult<()> {
        self.with_arena(|arena| work.run(indices, arena))
    }

    /// Runs indices on the workers, and also on the calling thread if `takes_part` is set. Returns when every index has
    /// run. Only one thread may call this at a time.
    ///
    /// # Errors
    /// Fails if the work fails. Some indices have then not run. Also fails if no worker can be created and
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
        // Share 0 belongs to this thread. If this thread does not take part, the workers run also share 0.
        let wanted = (job.shares.len() - 1).max(usize::from(!takes_part)).min(workers);
        for OwnLines(slot) in shared.slots.iter().take(wanted) {
            *slot.job.lock() = Some(Arc::clone(&job));
        }
        shared.wanted.store(wanted, Ordering::Relaxed);
        shared.generation.0.fetch_add(1, Ordering::SeqCst);
        shared.wake_two(0);
        if takes_part {
            self.with_arena(|arena| job.run(0, arena));
        }
        job.wait();
        job.error.get().cloned().map_or(Ok(()), Err)
    }

    /// The workers and their number. The first call in a process starts them.
    fn team(&self) -> (Arc<Shared>, usize) {
        let mut team = self.team.lock();
        let Team { shared, running } = team.get_or_insert_with(|| self.start());
        (Arc::clone(shared), *running)
    }

    fn start(&self) -> Team {
        // At least one worker, for kernels that need more stack than a thread of the application has.
        let slots = (0..self.threads.saturating_sub(1).max(1)).map(|_| OwnLines::default()).collect();
        let shared =
            Arc::new(Shared { slots, generation: OwnLines::default(), wanted: AtomicUsize::new(0), ending: AtomicBool::new(false) });
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
        shared.slots.iter().for_each(|OwnLines(slot)| {
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
    use std::time::{Duration, Instant};

    use parking_lot::Mutex;
    use wgcl_api::backend::{BackendError, BackendResult};

    use super::{OwnLines, Share, ThreadPool, Work};
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
        fn run(&self, indices: Range<u64>, arena: &mut Arena) -> BackendResult<()> {
            assert!(arena.reserve(1000).is_some());
            self.threads.lock().insert(name(thread::current().id()));
            thread::sleep(self.pause);
            indices.for_each(|index| {
                self.indices[index as usize].fetch_add(1, Ordering::Relaxed);
            });
            Ok(())
        }
    }

    fn wait_until(condition: impl Fn() -> bool) {
        let begin = Instant::now();
        while !condition() {
            assert!(begin.elapsed() < Duration::from_secs(20));
            thread::yield_now();
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
    fn workers_that_are_woken_without_a_job_run_the_next_job() {
        let pool = ThreadPool::new(4, None);
        let work = Counter::new(40, Duration::from_millis(10));
        assert_eq!(pool.share(work.clone(), 0..40, true), Ok(()));
        let (shared, _) = pool.team();
        for OwnLines(slot) in &shared.slots {
            wait_until(|| slot.sleeps.load(Ordering::SeqCst));
            // A delayed thread does this for a job that has ended.
            slot.wake();
            wait_until(|| slot.sleeps.load(Ordering::SeqCst));
        }
        work.threads.lock().clear();
        assert_eq!(pool.share(work.clone(), 0..40, true), Ok(()));
        assert_eq!(work.threads.lock().len(), 4);
    }

    #[test]
    fn claims_of_a_share_decrease() {
        let share = Share::new(0..64);
        let claims: Vec<u64> = std::iter::from_fn(|| share.claim()).map(|range| range.end - range.start).collect();
        assert_eq!((claims[0], claims.last(), claims.iter().sum()), (16, Some(&1), 64));
        assert!(claims.is_sorted_by(|a, b| a >= b), "{claims:?}");
        assert!(Share::new(7..7).claim().is_none());
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
        fn run(&self, indices: Range<u64>, _: &mut Arena) -> BackendResult<()> {
            if indices.start < 50 { Ok(()) } else { Err(BackendError::OutOfHostMemory) }
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
