//! Threads that copy memory. One core alone does not use the full memory bandwidth.
//!
//! The first large copy starts the threads, and they live as long as the device. Starting threads for each chunk would
//! take a quarter of a transfer's time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use wgcl_runtime::EndSignal;

/// Minimum number of bytes that a thread copies.
const PER_THREAD: usize = 1 << 20;
/// Threads per copy, including the caller. More threads add no bandwidth.
const MAX_THREADS: usize = 8;

/// The part of a copy that one worker thread executes.
struct CopyJob {
    target: *mut u8,
    source: *const u8,
    size: usize,
    copy: Arc<PendingCopy>,
}

// SAFETY: only the job accesses the bytes until it has decremented `remaining`. [`CopyThreads::copy`] waits until
// `remaining` is 0.
unsafe impl Send for CopyJob {}

/// A copy in progress.
struct PendingCopy {
    /// Number of jobs that worker threads have not finished.
    remaining: AtomicUsize,
    ended: EndSignal,
}

struct Worker {
    jobs: Option<Sender<CopyJob>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
pub(crate) struct CopyThreads(OnceLock<Vec<Worker>>);

impl std::fmt::Debug for CopyThreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CopyThreads").field(&self.0.get().map(Vec::len)).finish()
    }
}

impl CopyThreads {
    fn workers(&self) -> &[Worker] {
        self.0.get_or_init(|| {
            let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
            (1..cores.min(MAX_THREADS))
                .filter_map(|_| {
                    let (jobs, receiver) = channel::<CopyJob>();
                    let serve = move || {
                        for CopyJob { target, source, size, copy } in receiver {
                            // SAFETY: these are parts of two slices that do not overlap. The caller waits until
                            // `remaining` is decremented.
                            unsafe { std::ptr::copy_nonoverlapping(source, target, size) };
                            if copy.remaining.fetch_sub(1, Ordering::Release) == 1 {
                                copy.ended.notify();
                            }
                        }
                    };
                    let thread = thread::Builder::new().name("wgcl-copy".to_owned()).spawn(serve).ok()?;
                    Some(Worker { jobs: Some(jobs), thread: Some(thread) })
                })
                .collect()
        })
    }

    /// Copies between slices of the same length, on several threads if the copy is large.
    pub(crate) fn copy(&self, target: &mut [u8], source: &[u8]) {
        let wanted = (target.len() / PER_THREAD).min(MAX_THREADS);
        let workers = if wanted < 2 { &[] } else { self.workers() };
        let count = wanted.min(workers.len() + 1);
        if count < 2 || target.len() != source.len() {
            target.copy_from_slice(source);
            return;
        }
        let piece = target.len().div_ceil(count).next_multiple_of(64);
        let mut pieces = target.chunks_mut(piece).zip(source.chunks(piece));
        let first_piece = pieces.next();
        let copy = Arc::new(PendingCopy { remaining: AtomicUsize::new(0), ended: EndSignal::default() });
        for ((target, source), worker) in pieces.zip(workers) {
            copy.remaining.fetch_add(1, Ordering::Relaxed);
            let job = CopyJob { target: target.as_mut_ptr(), source: source.as_ptr(), size: target.len(), copy: Arc::clone(&copy) };
            if worker.jobs.as_ref().is_none_or(|jobs| jobs.send(job).is_err()) {
                copy.remaining.fetch_sub(1, Ordering::Relaxed);
                target.copy_from_slice(source);
            }
        }
        if let Some((target, source)) = first_piece {
            target.copy_from_slice(source);
        }
        copy.ended.wait_until(|| copy.remaining.load(Ordering::Acquire) == 0);
    }
}

impl Drop for CopyThreads {
    fn drop(&mut self) {
        let mut workers = self.0.take().unwrap_or_default();
        for worker in &mut workers {
            worker.jobs = None;
        }
        for worker in &mut workers {
            if let Some(thread) = worker.thread.take() {
                // The result does not matter: a thread that panicked does not access the memory any more.
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CopyThreads, PER_THREAD};

    #[test]
    fn every_byte_arrives() {
        let copy_threads = CopyThreads::default();
        for size in [0, 1, PER_THREAD, 2 * PER_THREAD + 1, 9 * PER_THREAD + 4095] {
            let source: Vec<u8> = (0..size).map(|k| (k % 251) as u8).collect();
            let mut target = vec![0; size];
            copy_threads.copy(&mut target, &source);
            assert!(target == source, "{size}");
        }
    }
}
