//! The arena of a worker: what lies where.
//!
//! ```text
//! 0           work-group memory: the module's variables, then those whose size the host gives
//! private     private variables, those of each work-item of a chunk side by side (of all chunks, where barriers part the kernel)
//! scratch     operands of what is done lane by lane, what lives across barriers
//! ```

use wgcl_codegen::vir::Value as V;

use super::abi::ARENA_ALIGN;
use super::private::PrivateMemory;
use crate::ir::{GlobalVar, Space};
use crate::layout::ProgramLayout;

/// Where the objects of a module lie: work-group memory in the arena, all others in the program's memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalMemory {
    /// By global; meaningless for others than `Local` ones.
    pub globals: Vec<u32>,
    /// By `__local` argument.
    pub args: Vec<u32>,
    /// Where constants and variables of the program lie.
    pub program: ProgramLayout,
    /// Bytes of the module's own.
    pub own: u32,
    /// Bytes of all.
    pub size: u32,
}

/// Bytes that programs may reach beyond a `__local` argument without harm: they rely on it elsewhere.
const SLACK: u32 = 128;

impl LocalMemory {
    /// Of a module, and of arguments of so many bytes.
    pub(super) fn of(globals: &[GlobalVar], args: &[u32]) -> Self {
        let mut this = Self { program: ProgramLayout::of(globals), ..Self::default() };
        let mut end = 0_u32;
        for global in globals {
            let mut at = 0;
            if global.space == Space::Local {
                at = end.next_multiple_of(global.align.max(64));
                end = at.saturating_add(global.size);
            }
            this.globals.push(at);
        }
        this.own = end;
        for &bytes in args {
            let at = end.next_multiple_of(128);
            this.args.push(at);
            end = at.saturating_add(bytes).saturating_add(SLACK);
        }
        this.size = end.next_multiple_of(ARENA_ALIGN);
        this
    }
}

/// Where things are, and what is taken so far.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The address of the arena.
    pub base: V,
    pub local: LocalMemory,
    pub private: PrivateMemory,
    /// The address of the variables of the chunk's first work-item.
    pub variables: V,
    /// The address of what lies element by element of the chunk.
    pub element_major: V,
    /// The byte at which that begins for the first chunk.
    pub element_major_at: u32,
    /// The byte at which private variables begin, and how many bytes those of all work-items are that run together.
    pub private_range: (u32, u32),
    next: u32,
    most: u32,
}

impl Frame {
    /// Whose private variables, of so many work-items, begin at a byte; the addresses are set when they are known.
    pub(super) fn new(local: LocalMemory, private: PrivateMemory, variables: u32, items: u32) -> Self {
        let bytes = private.stride.saturating_mul(items);
        let element_major_at = variables.saturating_add(bytes).next_multiple_of(ARENA_ALIGN);
        let next = element_major_at.saturating_add(private.element_major_bytes.saturating_mul(items)).next_multiple_of(ARENA_ALIGN);
        Self {
            base: V(0),
            local,
            private,
            variables: V(0),
            element_major: V(0),
            element_major_at,
            private_range: (variables, bytes),
            next,
            most: next,
        }
    }

    /// A place for so many bytes until [`Self::release`].
    pub(super) fn scratch(&mut self, bytes: u32) -> u32 {
        let at = self.next;
        self.next = at.saturating_add(bytes).next_multiple_of(64);
        self.most = self.most.max(self.next);
        at
    }

    /// To come back to.
    pub(super) const fn mark(&self) -> u32 {
        self.next
    }

    /// Forgets the places that were made after a mark.
    pub(super) fn release(&mut self, mark: u32) {
        self.next = mark;
    }

    /// Bytes of the arena.
    pub(super) const fn size(&self) -> u32 {
        self.most
    }
}
