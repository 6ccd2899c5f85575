//! The layout of a worker's arena.
//!
//! ```text
//! 0           work-group memory: the module's variables, then those whose size the host sets
//! private     private variables: the copies of the work-items of a gang are adjacent
//!             (of the work-items of all gangs in kernels with barriers)
//! scratch     operands of scalarized operations, values that are live across barriers
//! ```

use wgcl_codegen::vir::Value as V;

use super::abi::ARENA_ALIGN;
use super::private::PrivateMemory;
use crate::ir::{GlobalVar, Space};
use crate::layout::ProgramLayout;

/// The places of a module's globals: work-group memory in the arena, all others in the program's memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalMemory {
    /// By global; meaningless for address spaces other than `Local`.
    pub globals: Vec<u32>,
    /// By `__local` argument.
    pub args: Vec<u32>,
    /// The places of constants and program variables.
    pub program: ProgramLayout,
    /// Bytes of the module's own variables.
    pub own: u32,
    /// Bytes of all.
    pub size: u32,
}

/// Bytes after a `__local` argument that programs may access without harm: other drivers allow it.
const SLACK: u32 = 128;

impl LocalMemory {
    /// The layout for a module and the sizes of its `__local` arguments.
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

/// The addresses of the parts of the arena, and the bytes in use.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The address of the arena.
    pub base: V,
    pub local: LocalMemory,
    pub private: PrivateMemory,
    /// The address of the variables of the gang's first work-item.
    pub variables: V,
    /// The address of the element-major variables of the gang.
    pub element_major: V,
    /// The offset of the element-major variables of the first gang.
    pub element_major_at: u32,
    /// The offset of private variables, and the size of those of all work-items that run together.
    pub private_range: (u32, u32),
    next: u32,
    most: u32,
}

impl Frame {
    /// A frame with private variables for `items` work-items, which start at the offset `variables`. The addresses are
    /// set later.
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

    /// Allocates bytes until [`Self::release`].
    pub(super) fn scratch(&mut self, bytes: u32) -> u32 {
        let at = self.next;
        self.next = at.saturating_add(bytes).next_multiple_of(64);
        self.most = self.most.max(self.next);
        at
    }

    /// The current end, for [`Self::release`].
    pub(super) const fn mark(&self) -> u32 {
        self.next
    }

    /// Frees the places allocated after a mark.
    pub(super) fn release(&mut self, mark: u32) {
        self.next = mark;
    }

    /// Bytes of the arena.
    pub(super) const fn size(&self) -> u32 {
        self.most
    }
}
