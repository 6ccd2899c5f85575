//! Background threads that compile while the application or the submission thread continues.
//!
//! Jobs are optional: they may run late or never. If a thread needs the result of a job that has started, it waits. If
//! the job has not started, the thread computes the result itself. Worker threads start when jobs are queued, at most
//! one per processor, and end when the queue is empty.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use parking_lot::Mutex;
use wgcl_api::types::process::PerProcess;
use wgcl_compiler::{address_space, parallel};

use crate::shutdown;

/// Priority of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// A command waits for the result.
    Awaited,
    /// The result may be needed later.
    Hint,
}

/// Maximum number of queued hints. A program with more kernels than this rarely launches all of them.
const MAX_HINTS: usize = 64;

/// Stack size of a thread in bytes. It is large, because compilers recurse over the nesting of the source. The system
/// provides only pages that are used.
pub const STACK: usize = 64 << 20;

type Job = Box<dyn FnOnce() + Send>;

struct Work {
    awaited: VecDeque<Job>,
    hints: VecDeque<Job>,
    threads: PerProcess<usize>,
}

/// The queue of jobs, shared by all devices.
static WORK: Mutex<Work> = Mutex::new(Work { awaited: VecDeque::new(), hints: VecDeque::new(), threads: PerProcess::new() });

impl Work {
    fn thread_ended(&mut self) {
        if let Some(threads) = self.threads.get() {
            *threads -= 1;
        }
    }

    /// Removes the next job for a thread. Returns `None` if the queue is empty, and the thread must then end.
    fn next(&mut self) -> Option<Job> {
        let job = self.awaited.pop_front().or_else(|| self.hints.pop_front());
        if job.is_none() {
            self.thread_ended();
        }
        job
    }
}

/// Queues a job. Drops a hint if `MAX_HINTS` hints are queued. Drops every job if the address space is limited. The
/// launch then compiles its variant itself.
pub fn spawn(urgency: Urgency, job: impl FnOnce() + Send + 'static) {
    // The stacks of threads would use address space that the application's data needs.
    if address_space::mappable_bytes().is_some() {
        return;
    }
    let starts = {
        let mut work = WORK.lock();
        match urgency {
            Urgency::Awaited => work.awaited.push_back(Box::new(job)),
            Urgency::Hint if work.hints.len() >= MAX_HINTS => return,
            Urgency::Hint => work.hints.push_back(Box::new(job)),
        }
        let threads = work.threads.get_or_insert_with(|| 0);
        let starts = *threads < parallel::cores();
        *threads += usize::from(starts);
        starts
    };
    if starts && thread::Builder::new().name("wgcl-compile".to_owned()).stack_size(STACK).spawn(run).is_err() {
        WORK.lock().thread_ended();
    }
}

fn run() {
    loop {
        let job = WORK.lock().next();
        let Some(job) = job else { return };
        let _compiling = shutdown::Running::compiling();
        if shutdown::is_ending() {
            continue;
        }
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("internal error: a background compilation panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::{Urgency, spawn};

    #[test]
    fn every_job_runs_even_if_others_panic() {
        let (sender, receiver) = channel();
        for number in 0..100 {
            let sender = sender.clone();
            let urgency = if number % 3 == 0 { Urgency::Hint } else { Urgency::Awaited };
            spawn(urgency, move || {
                assert!(number % 10 != 5, "every tenth job panics");
                sender.send(number).expect("the test waits");
            });
        }
        drop(sender);
        let mut done: Vec<i32> = std::iter::from_fn(|| receiver.recv_timeout(Duration::from_secs(60)).ok()).collect();
        done.sort_unstable();
        assert_eq!(done, (0..100).filter(|number| number % 10 != 5).collect::<Vec<_>>());
    }
}
