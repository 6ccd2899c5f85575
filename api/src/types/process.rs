//! Forked processes.
//!
//! A forked child has the memory of its parent, but only the thread that called `fork`. Threads of the parent that run
//! commands, compile or call callbacks do not exist in the child. Each module with threads compares the generation in
//! which its threads were started with the current one. If the generations differ, the module starts new threads.
//! Commands of the parent that have not ended fail in the child ([`crate::objects::event`]).

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

/// A value of one process, such as a thread. A forked child does not use the value of its parent.
#[derive(Debug)]
pub struct PerProcess<T>(Option<(u32, T)>);

impl<T> PerProcess<T> {
    pub const fn new() -> Self {
        Self(None)
    }

    /// The value of this process, or `None` if it has none.
    pub fn get(&mut self) -> Option<&mut T> {
        self.0.as_mut().filter(|(owner, _)| *owner == generation()).map(|(_, value)| value)
    }

    /// The value of this process, which the first call creates.
    pub fn get_or_insert_with(&mut self, make: impl FnOnce() -> T) -> &mut T {
        let owner = generation();
        let own = self.0.take().filter(|(known, _)| *known == owner);
        &mut self.0.insert(own.unwrap_or_else(|| (owner, make()))).1
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}
