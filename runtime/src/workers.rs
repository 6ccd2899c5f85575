//! Threads that compile while the application, or the submission thread, does something else.
//!
//! What they do is never needed: who wants what a job would make and finds it not begun makes it itself, and waits for one that has begun. So it does not matter
//! when a job runs, nor whether it does. Threads are started when there is something to do, as many as the machine has cores at most, and end when
//! there is nothing left: who never launches two kernels in a row has none.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use parking_lot::Mutex;
use wgcl_compiler::parallel;

use crate::shutdown;

/// How soon a job is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// A command waits for it.
    Awaited,
    /// Something may want it.
    Hint,
}

/// Hints that wait at most: who has so many kernels will not launch them all.
const MOST_HINTS: usize = 64;

/// Bytes of a thread's stack: compilers follow the nesting of the source. Only what is touched is ever taken.
pub const STACK: usize = 64 << 20;

type Job = Box<dyn FnOnce() + Send>;

struct Work {
    awaited: VecDeque<Job>,
    hints: VecDeque<Job>,
    threads: usize,
}

/// One for all devices: they share the cores.
static WORK: Mutex<Work> = Mutex::new(Work { awaited: VecDeque::new(), hints: VecDeque::new(), threads: 0 });

impl Work {
    /// The next job for a thread, which has ended if there is none.
    fn next(&mut self) -> Option<Job> {
        let job = self.awaited.pop_front().or_else(|| self.hints.pop_front());
        if job.is_none() {
            self.threads -= 1;
        }
        job
    }
}

/// Has a job done in the background.
pub fn spawn(urgency: Urgency, job: impl FnOnce() + Send + 'static) {
    let starts = {
        let mut work = WORK.lock();
        match urgency {
            Urgency::Awaited => work.awaited.push_back(Box::new(job)),
            Urgency::Hint if work.hints.len() >= MOST_HINTS => return,
            Urgency::Hint => work.hints.push_back(Box::new(job)),
        }
        let starts = work.threads < parallel::cores();
        work.threads += usize::from(starts);
        starts
    };
    if starts && thread::Builder::new().name("wgcl-compile".to_owned()).stack_size(STACK).spawn(run).is_err() {
        WORK.lock().threads -= 1;
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
            tracing::error!("a panic in the background");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::{Urgency, spawn};

    #[test]
    fn every_job_is_done_whatever_the_others_do() {
        let (sender, receiver) = channel();
        for number in 0..100 {
            let sender = sender.clone();
            let urgency = if number % 3 == 0 { Urgency::Hint } else { Urgency::Awaited };
            spawn(urgency, move || {
                assert!(number % 10 != 5, "some of them panic");
                sender.send(number).expect("the test waits");
            });
        }
        drop(sender);
        let mut done: Vec<i32> = std::iter::from_fn(|| receiver.recv_timeout(Duration::from_secs(60)).ok()).collect();
        done.sort_unstable();
        assert_eq!(done, (0..100).filter(|number| number % 10 != 5).collect::<Vec<_>>());
    }
}
