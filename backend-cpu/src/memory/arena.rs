//! The memory in which a thread runs groups: it grows to what the kernels that it ran have asked for, and stays.

use wgcl_compiler::vectorize::abi::WorkerContext;

use crate::memory::host_allocation::Block;

/// A thread's arena.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    block: Option<Block>,
}

impl Arena {
    /// What generated code is told of it, with so many bytes at least; `None` where there is no memory.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Option<WorkerContext> {
        let has = self.block.as_ref().map_or(0, |block| block.size() as u64);
        if has < bytes || self.block.is_none() {
            // The old one goes first: what is in it does not matter.
            self.block = None;
            self.block = Some(Block::new(bytes.max(LEAST).checked_next_multiple_of(LEAST)?)?);
        }
        Some(WorkerContext { arena: self.block.as_ref()?.address() as u64 })
    }
}

/// Bytes of an arena at least, and by which it grows.
const LEAST: u64 = 1 << 14;

#[cfg(test)]
mod tests {
    use wgcl_compiler::vectorize::abi::ARENA_ALIGN;

    use super::Arena;

    #[test]
    fn an_arena_grows_and_stays() {
        let mut arena = Arena::default();
        let first = arena.reserve(0).expect("memory");
        assert_eq!(arena.reserve(16_384), Some(first));
        let second = arena.reserve(1 << 20).expect("memory");
        assert!(first.arena.is_multiple_of(ARENA_ALIGN.into()) && second.arena.is_multiple_of(ARENA_ALIGN.into()));
        assert_eq!(arena.reserve(100), Some(second));
        assert_eq!(arena.reserve(u64::MAX), None);
    }
}
