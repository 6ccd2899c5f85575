//! The scratch memory of a thread that runs work-groups: local and private variables, and values that are live across
//! barriers. The scratch memory grows to the largest size that a kernel has needed, and never shrinks.

use wgcl_compiler::vectorize::abi::WorkerContext;

use crate::memory::host_allocation::HostAllocation;

/// The arena of a thread.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    memory: Option<HostAllocation>,
}

impl Arena {
    /// Grows the arena to at least `bytes` bytes. Returns its worker context, or `None` if there is not enough memory.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Option<WorkerContext> {
        let has = self.memory.as_ref().map_or(0, |memory| memory.size() as u64);
        if has < bytes || self.memory.is_none() {
            // Free the old arena first, because its contents are not needed.
            self.memory = None;
            self.memory = Some(HostAllocation::new(bytes.max(GRANULARITY).checked_next_multiple_of(GRANULARITY)?)?);
        }
        let arena = self.memory.as_ref()?.address() as u64;
        Some(WorkerContext { arena, local: arena })
    }
}

/// Arena sizes are multiples of this number of bytes.
const GRANULARITY: u64 = 1 << 14;

#[cfg(test)]
mod tests {
    use wgcl_compiler::vectorize::abi::ARENA_ALIGN;

    use super::Arena;

    #[test]
    fn an_arena_grows_and_never_shrinks() {
        let mut arena = Arena::default();
        let first = arena.reserve(0).expect("memory");
        assert_eq!(arena.reserve(16_384), Some(first));
        let second = arena.reserve(1 << 20).expect("memory");
        assert!(first.arena.is_multiple_of(ARENA_ALIGN.into()) && second.arena.is_multiple_of(ARENA_ALIGN.into()));
        assert_eq!(arena.reserve(100), Some(second));
        assert_eq!(arena.reserve(u64::MAX), None);
    }
}
