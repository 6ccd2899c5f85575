//! Forked processes.
//!
//! A forked child has the memory of its parent, but only the thread that called `fork`. Threads of the parent that run
//! commands, compile or call callbacks do not exist in the child. Each part with threads compares the generation in
//! which they were started with the current one, and starts them again. Commands of the parent that have not ended
//! fail in the child ([`crate::objects::event`]).

use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The number of forks between the process that loaded the library and this one.
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Records that this process is a new child. The C ABI registers it as a handler of `fork`.
pub fn begin_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
