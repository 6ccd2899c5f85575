//! The layout of a worker's arena.
//!
//! ```text
//! 0           work-group memory: the module's variables, then those whose size the host sets
//! header      only if subgroups make independent progress: the address of the worker context
//! private     private variables of called functions, then of the kernel: one copy for each work-item of a gang, or of
//!             the group in kernels with barriers
//! frames      per function: arguments and results of its calls, operands of scalarised operations, values that are
//!             live across barriers
//! ```

use wgcl_codegen::vir::Value as V;

use super::abi::ARENA_ALIGN;
use super::private::PrivateMemory;
use super::shape::Shape;
use crate::ir::{Func, Function, GlobalVar, Module, Space};
use crate::layout::ProgramLayout;

/// The offsets of a module's globals in bytes: work-group memory in the arena, other globals in the program's memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalMemory {
    /// The offset in the arena, indexed by global. 0 for globals outside of work-group memory.
    pub globals: Vec<u32>,
    /// The offset in the arena, indexed by `__local` argument.
    pub args: Vec<u32>,
    /// The layout of constants and program variables.
    pub program: ProgramLayout,
    /// Bytes of the module's work-group variables.
    pub module_bytes: u32,
    /// Bytes of all work-group memory.
    pub size: u32,
}

/// Padding in bytes after a `__local` argument. Some programs access bytes after the argument, which other drivers
/// allow.
const ARG_PADDING: u32 = 128;

impl LocalMemory {
    /// Creates the layout for a module and the sizes of its `__local` arguments.
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
        this.module_bytes = end;
        for &bytes in args {
            let at = end.next_multiple_of(128);
            this.args.push(at);
            end = at.saturating_add(bytes).saturating_add(ARG_PADDING);
        }
        this.size = end.next_multiple_of(ARENA_ALIGN);
        this
    }
}

/// The properties of a kernel that determine the size of its arena.
#[derive(Clone, Copy)]
pub(super) struct ArenaSize {
    pub shape: Shape,
    /// The number of work-items for which the kernel has private variables at a time.
    pub copies: u32,
    pub has_header: bool,
}

/// The layout of the arena for a kernel and the functions that it calls. Offsets are in bytes.
pub(super) struct ArenaLayout {
    pub local: LocalMemory,
    pub private: Vec<PrivateMemory>,
    /// The offset of the private variables, indexed by function.
    pub variables: Vec<u32>,
    /// The first byte after all private variables.
    pub end: u32,
    /// The offset of the header, if the arena has one.
    header: Option<u32>,
    /// The offset and size of the private variables that generic pointers may point into.
    private_range: (u32, u32),
}

impl ArenaLayout {
    /// Creates the layout for function 0 and called functions.
    pub(super) fn of(module: &Module, kernel: &Function, called: &[Func], args: &[u32], size: ArenaSize) -> Self {
        let ArenaSize { shape, copies, has_header } = size;
        let local = LocalMemory::of(&module.globals, args);
        let count = module.functions.len();
        let header = has_header.then_some(local.size);
        let start = local.size.saturating_add(if has_header { ARENA_ALIGN } else { 0 });
        let private = vec![PrivateMemory::default(); count];
        let mut this = Self { local, private, variables: vec![0; count], end: start, header, private_range: (0, 0) };
        for &func in called {
            this.place(func, &module.functions[func.index()], shape.lanes, shape.lanes);
        }
        this.place(Func(0), kernel, shape.lanes, copies);
        this.private_range =
            if called.is_empty() { (this.variables[0], this.private[0].stride.saturating_mul(copies)) } else { (start, this.end - start) };
        this
    }

    fn place(&mut self, func: Func, function: &Function, lanes: u32, items: u32) {
        let private = PrivateMemory::of(function, lanes);
        let at = self.end.next_multiple_of(64);
        self.end = element_major_range(&private, at, items).1;
        (self.private[func.index()], self.variables[func.index()]) = (private, at);
    }

    /// Creates the frame of a function, with private variables for `items` work-items. `next` is the offset of the
    /// first free byte.
    pub(super) fn frame(&self, func: Func, items: u32, next: u32) -> Frame {
        let (private, variables) = (self.private[func.index()].clone(), self.variables[func.index()]);
        let (element_major_at, _) = element_major_range(&private, variables, items);
        let next = next.next_multiple_of(ARENA_ALIGN);
        Frame {
            base: V(0),
            local_base: V(0),
            header: self.header,
            local: self.local.clone(),
            private,
            variables: V(0),
            element_major: V(0),
            element_major_at,
            variables_at: variables,
            private_range: self.private_range,
            next,
            most: next,
        }
    }
}

/// Returns the offset of the element-major variables, and the offset of their end, which is also the end of all
/// variables.
fn element_major_range(private: &PrivateMemory, variables: u32, items: u32) -> (u32, u32) {
    let element_major = variables.saturating_add(private.stride.saturating_mul(items)).next_multiple_of(ARENA_ALIGN);
    (element_major, element_major.saturating_add(private.element_major_bytes.saturating_mul(items)).next_multiple_of(ARENA_ALIGN))
}

/// The arena during the vectorisation of a function: addresses and offsets of its sections, and the bytes in use.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The address of the arena.
    pub base: V,
    /// The address of the arena whose work-group memory is used: `base`, unless several stacks run a group.
    pub local_base: V,
    /// The offset of the header, if the arena has one.
    pub header: Option<u32>,
    pub local: LocalMemory,
    pub private: PrivateMemory,
    /// The address of the variables of the gang's first work-item.
    pub variables: V,
    /// The address of the element-major variables of the gang.
    pub element_major: V,
    /// The offset of the element-major variables of the first gang.
    pub element_major_at: u32,
    /// The offset of private variables.
    pub variables_at: u32,
    /// The offset and size of the private variables that generic pointers may point into.
    pub private_range: (u32, u32),
    next: u32,
    most: u32,
}

impl Frame {
    /// Allocates bytes until [`Self::release`].
    pub(super) fn scratch(&mut self, bytes: u32) -> u32 {
        let at = self.next;
        self.next = at.saturating_add(bytes).next_multiple_of(64);
        self.most = self.most.max(self.next);
        at
    }

    /// Returns the offset of the end of the allocated bytes, for [`Self::release`].
    pub(super) const fn mark(&self) -> u32 {
        self.next
    }

    /// Frees the bytes that were allocated after a mark.
    pub(super) fn release(&mut self, mark: u32) {
        self.next = mark;
    }

    /// Returns the size of the arena in bytes.
    pub(super) const fn size(&self) -> u32 {
        self.most
    }
}
