//! An interpreter for the IR: a second, independent implementation. It is slow and strict. Tests compare devices and
//! passes with it.
//!
//! It runs a module at one of four stages ([`Stage`]): after `lower`, after `passes::build`, or after the passes of a
//! launch, for the CPU or for shaders. It shares with the compiler only the IR, the layout of program memory, and the
//! encodings of pointers and `printf` records. Numbers, memory, control flow and work-groups are implemented
//! independently, in the simplest exact way. Errors of the kernel end the launch with a [`Fault`]. Examples are
//! accesses out of bounds, writes to constant memory, and barriers that not all work-items of a group execute.
//!
//! ```text
//! ir::Module ── translate ──▶ code, once       NDRange ── launch: group by group ── execute: work-item by work-item
//! ```
//! * [`memory`] contains objects and pointers.
//! * `number`, `integer` and `float` implement each operation as a function on one lane.
//! * `translate` creates code for registers, which `code` defines.
//! * `execute` runs a work-item, which stops at barriers and continues later.
//! * `launch` runs work-groups.
//!
//! The work-items of a group run in sequence to the next barrier, and the groups run in sequence. OpenCL C permits this
//! order, and it is deterministic. A work-item pauses after a number of loop iterations. So a program terminates even
//! if a work-item waits in a loop for another one.
//!
//! # Subgroups
//! A subgroup has [`Settings::lanes`] work-items. The last subgroup of a group may have fewer. If no work-item can
//! continue alone, some of them execute their collective operation together. They are the work-items at the first
//! position in program order, in the same iterations of the enclosing loops. These are the active work-items. So
//! work-items that diverge at a condition reconverge after it, as structured control flow guarantees
//! (`execute::Item::position`). An operation that requires the whole subgroup fails if a work-item is not active. A
//! shuffle from an inactive work-item gives an undefined value.
//!
//! # Unspecified values
//! Every byte of memory that was not written, and of [`Const::Undef`](crate::ir::Const::Undef), has a value that the
//! caller selects. If two runs with different values give different results, the results depend on unspecified values.
//! A division by zero, and a conversion of a float that does not fit an integer, always give the same value.

mod code;
mod execute;
mod float;
mod integer;
mod launch;
pub mod memory;
mod number;
#[cfg(test)]
mod tests;
mod translate;

pub use launch::{Argument, Dispatch, Instance, MemoryLocation, NdRange};
pub use memory::{Memory, ObjectId};

use crate::diag::Span;
use crate::ir::{Module, Space, UndefinedUse};
use crate::layout::ProgramLayout;
use crate::printf;
use crate::target::Target;
use code::Code;

/// The stage of a module. It determines the form of addresses in the initial contents of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// After the front end's lowering.
    Lowered,
    /// After the passes of a build (`passes::build`).
    Built,
    /// After the passes of a launch on the host's CPU (`specialise::prepared`).
    Prepared,
    /// After the passes of a launch for shaders. Pointers in memory are numbers of `passes::resolve_pointers`.
    Launched,
}

/// Implementation choices that the IR permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub stage: Stage,
    /// Whether `a * b + c` is fused where the IR permits it.
    pub fused: bool,
    /// The byte of which undefined values consist.
    pub undefined: u8,
    /// Maximum number of loop iterations and calls in one launch.
    pub fuel: u64,
    /// Subgroup size: a power of two, at most 128.
    pub lanes: u32,
}

impl Settings {
    /// Settings for a device, with one work-item per subgroup.
    pub const fn new(stage: Stage, target: &Target) -> Self {
        Self { stage, fused: target.language.fused_fma, undefined: 0xcd, fuel: u64::MAX, lanes: 1 }
    }

    /// Eight undefined bytes.
    const fn undefined_bits(&self) -> u64 {
        u64::from_le_bytes([self.undefined; 8])
    }
}

/// The kind of a fault.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum FaultKind {
    /// The kernel does not exist.
    #[error("kernel `{0}` does not exist")]
    NoKernel(String),
    /// The arguments, the sizes or the target do not match the module.
    #[error("{0}")]
    Launch(String),
    /// The interpreter does not support the operation.
    #[error("the interpreter does not support {0}")]
    Unsupported(String),
    /// An access out of bounds.
    #[error("access of {size} bytes at offset {offset} is out of bounds of an object of {length} bytes")]
    OutOfBounds {
        /// Byte offset in the object.
        offset: usize,
        size: usize,
        /// Size of the object in bytes.
        length: usize,
    },
    /// The pointer is null, or its object does not exist in the launch.
    #[error("access through a pointer that does not point to an object")]
    WildPointer,
    /// A store to constant memory.
    #[error("write to constant memory")]
    ReadOnly,
    /// The address has less alignment than the access specifies.
    #[error("access at offset {offset} is not aligned to {align} bytes")]
    Misaligned {
        /// Byte offset in the object.
        offset: usize,
        align: u32,
    },
    /// Some work-items wait at a barrier that others do not execute.
    #[error("work-items of one group wait at different barriers, or some have returned while others wait")]
    Divergence,
    /// Some work-items of a subgroup do not execute an operation that requires all of them.
    #[error("not all work-items of a subgroup reach an operation that needs all of them")]
    NotAllOfSubgroup,
    /// An operation produced a NaN from operands that are not NaN, and a [`crate::ir::Op::NanCheck`] checks it.
    #[error("an operation produced NaN from operands that are not NaN")]
    NanCreated,
    /// An integer type cannot represent a converted float, and a [`crate::ir::Op::ConversionCheck`] checks it.
    #[error("the result of a conversion to an integer is out of range")]
    ConversionOutOfRange,
    /// A value that depends on an uninitialised private variable is used ([`crate::ir::Op::UndefinedUse`]).
    #[error("{} depends on the uninitialised variable '{names}'", .what.describe())]
    UndefinedUse { what: UndefinedUse, names: String },
    #[error("calls nest too deeply")]
    TooDeep,
    /// The program executes an unreachable instruction.
    #[error("an unreachable instruction was executed")]
    Unreachable,
    /// The launch exceeds [`Settings::fuel`].
    #[error("the limit for loop iterations and calls was exceeded")]
    OutOfFuel,
}

/// The reason for which a launch failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{kind}{}", self.location())]
pub struct Fault {
    pub kind: FaultKind,
    /// The function that failed, and the source location.
    pub function: Option<(String, Span)>,
    /// The global id of the work-item.
    pub item: Option<[u32; 3]>,
}

impl Fault {
    fn location(&self) -> String {
        let function = self.function.as_ref().map(|(name, _)| format!(" in `{name}`")).unwrap_or_default();
        let item = self.item.map(|[x, y, z]| format!(" of work-item ({x}, {y}, {z})")).unwrap_or_default();
        format!("{function}{item}")
    }
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Self { kind, function: None, item: None }
    }
}

/// A memory object of the module.
#[derive(Debug)]
struct GlobalObject {
    space: Space,
    /// The initial contents. The remaining bytes are zero.
    init: Vec<u8>,
    size: u32,
    /// Byte offset in the memory of its address space.
    start: u32,
    /// Addresses in the contents: byte offset, index of the target, and byte offset in the target.
    relocs: Vec<(u32, u32, i64)>,
}

/// A translated module. Its pointers must have 64 bits.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    functions: Vec<Code>,
    kernels: Vec<Option<crate::ir::Kernel>>,
    globals: Vec<GlobalObject>,
    printf: printf::Table,
}

impl Program {
    /// Translates a module, which must be valid.
    pub fn new(module: &Module, settings: Settings) -> Self {
        let layout = ProgramLayout::of(&module.globals);
        let globals = module.globals.iter().zip(layout.offsets).map(|(global, start)| GlobalObject {
            space: global.space,
            start,
            init: global.init.clone().unwrap_or_default(),
            size: global.size,
            relocs: global.relocs.iter().map(|reloc| (reloc.at, reloc.target.0, reloc.addend)).collect(),
        });
        let printf = printf::Table::new(module, u32::from(translate::POINTER));
        let counts_iterations = settings.lanes > 1 && module.functions.iter().any(translate::has_subgroup_operations);
        let translated = |function| translate::translate(module, function, &printf, counts_iterations, &settings);
        let mut functions: Vec<Code> = module.functions.iter().map(translated).collect();
        // The private globals are variables of each kernel.
        let private: Vec<u32> = module.globals.iter().filter(|global| global.space == Space::Private).map(|global| global.size).collect();
        for (code, _) in functions.iter_mut().zip(&module.functions).filter(|(_, function)| function.kernel.is_some()) {
            code.variables.extend(&private);
        }
        Self {
            settings,
            functions,
            kernels: module.functions.iter().map(|function| function.kernel.clone()).collect(),
            globals: globals.collect(),
            printf,
        }
    }

    /// Finds a kernel by its name.
    fn kernel(&self, name: &str) -> Result<(usize, &Code, &crate::ir::Kernel), FaultKind> {
        self.functions
            .iter()
            .zip(&self.kernels)
            .enumerate()
            .find_map(|(index, (code, kernel))| Some((index, code, kernel.as_ref()?)).filter(|_| code.name == name))
            .ok_or_else(|| FaultKind::NoKernel(name.to_owned()))
    }
}
