//! Threads for compilation: parallel work on all cores, and threads with a large stack.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism, scope};

use crate::address_space;
use crate::diag::Message;
use crate::project::BUG_TRACKER;

/// Stack size in bytes of a compiler thread. The depth of recursion depends on the nesting of the source. The system
/// commits only the pages that are used.
pub const STACK: usize = 256 << 20;

/// Minimum number of IR instructions, in all kernels of a program together, for compilation by several threads. The
/// start of a thread takes as long as the compilation of some hundred instructions.
pub const MIN_INSTRUCTIONS: usize = 3000;

/// Returns the number of threads that can run at the same time.
pub fn cores() -> usize {
    // The number is cached, because the query reads files.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}

/// Calls `f` with every number below `count`. Returns the results in order. Several threads call `f` concurrently,
/// including the current thread. Panics if a call panics.
pub fn map<T: Send>(count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    // If the address space is limited, starts no threads, because their stacks would use up the address space.
    let helpers = if address_space::mappable_bytes().is_some() { 0 } else { cores().min(count).saturating_sub(1) };
    if helpers == 0 {
        return (0..count).map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, f(number)));
        }
    };
    let mut done = scope(|scope| {
        let thread = || Builder::new().name("wgcl build".to_owned()).stack_size(STACK);
        // If a thread cannot be started, the other threads do its work.
        let helpers: Vec<_> = (0..helpers).filter_map(|_| thread().spawn_scoped(scope, work).ok()).collect();
        let mut done = work();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

/// The reason why a job has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ThreadError {
    #[error("{0}")]
    Panicked(String),
    #[error("cannot start the compiler thread: {0}")]
    Start(#[source] std::io::Error),
}

/// Runs `job` on a thread with a stack of this size. WebAssembly without shared memory has no threads, so `job` runs on
/// the current stack there. A panic or a stack overflow then ends the instance.
pub(crate) fn on_stack<T: Send>(bytes: usize, job: impl FnOnce() -> T + Send) -> Result<T, ThreadError> {
    if cfg!(target_family = "wasm") {
        return Ok(job());
    }
    scope(|scope| {
        let thread = Builder::new().name("wgcl build".to_owned()).stack_size(bytes);
        let joined = thread.spawn_scoped(scope, job).map_err(ThreadError::Start)?.join();
        joined.map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            ThreadError::Panicked(text.unwrap_or("unknown panic").to_owned())
        })
    })
}

/// Runs `job` on a thread with a large stack. Fails if `job` panics or the thread cannot be started.
pub(crate) fn on_thread<T: Send>(job: impl FnOnce() -> T + Send) -> Result<T, Box<Message>> {
    on_stack(STACK, job).map_err(|error| {
        Box::new(Message::error(match error {
            ThreadError::Panicked(text) => format!("internal compiler error: {text}; report it at {BUG_TRACKER}"),
            ThreadError::Start(_) => error.to_string(),
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_are_in_order() {
        assert_eq!(map(1000, |number| number * 2), (0..1000).map(|number| number * 2).collect::<Vec<_>>());
        assert!(map(0, |number| number).is_empty());
    }

    #[test]
    fn a_panic_is_propagated() {
        let caught = std::panic::catch_unwind(|| map(100, |number| assert!(number != 57)));
        assert!(caught.is_err());
    }
}
