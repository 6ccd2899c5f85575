//! An interpreter of the IR: a second, independent execution of programs, slow and strict, to compare devices and passes with.
//!
//! It runs a module as `lower` makes it, as `passes::build` leaves it, or as `specialise` does ([`Stage`]), and shares with the compiler
//! nothing but the IR: numbers, memory, control flow and work-groups are implemented once more, in the simplest way that is exact. What
//! is wrong for sure ends the launch with a [`Fault`]: accesses outside of an object or against their alignment, writes to constant memory,
//! barriers that not all work-items of a group reach.
//!
//! ```text
//! ir::Module ── translate ──▶ code, once            NDRange ── launch: group by group ── execute: work-item by work-item
//! ```
//! * [`memory`]: objects and pointers. * `number`, `integer`, `float`: one function a lane of each operation.
//! * `code`, `translate`: flat code over registers. * `execute`: a work-item, which stops at barriers and goes on later.
//! * `launch`: work-groups.
//!
//! Work-items of a group run one after the other up to the next barrier, groups one after the other: one of the orders that OpenCL C allows,
//! always the same. A work-item that waits for another one in a loop gets its turn taken away now and then, so that such programs end.
//!
//! # Subgroups
//! A subgroup has [`Settings::lanes`] work-items, the last one of a group perhaps fewer. When none of them can go on alone, those that stand at the first place of
//! the program's order, in the same turns of the loops around it, do together what stands there: they are the active ones. So work-items that part in a
//! condition meet again behind it, as structured control flow promises (`execute::Item::position`). What asks for the whole subgroup and
//! does not get it is a fault; a shuffle from a work-item that is not active gives an undefined value.
//!
//! # Values that OpenCL C leaves open
//! Memory that nothing was stored to, and [`Const::Undef`](crate::ir::Const::Undef), are a byte of the caller's choice repeated: running twice
//! with different bytes tells whether anything depends on them. Quotients by zero, and floats that do not fit an integer, are always
//! the same.

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

pub use launch::{Argument, Dispatch, Instance, NdRange, Place};
pub use memory::{Memory, ObjectId};

use crate::diag::Span;
use crate::ir::{Module, Space};
use crate::layout::ProgramLayout;
use crate::printf;
use crate::target::Target;
use code::Code;

/// How far a module has come, which decides what an address in the initial contents of memory looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// As the front end lowers it.
    Lowered,
    /// After `passes::build`.
    Built,
    /// After the passes of a launch on the host's CPU (`specialise::prepared`).
    Prepared,
    /// After the passes of a launch for shaders: pointers in memory are the numbers of `passes::resolve_pointers`.
    Launched,
}

/// What is left open by the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The module's stage.
    pub stage: Stage,
    /// Whether `a * b + c` that may be fused is.
    pub fused: bool,
    /// What undefined bytes read as.
    pub undefined: u8,
    /// How many turns of loops, and calls, one launch may take in all.
    pub fuel: u64,
    /// Work-items of a subgroup: a power of two, 128 at most.
    pub lanes: u32,
}

impl Settings {
    /// For a device, whose subgroups have one work-item each.
    pub const fn new(stage: Stage, target: &Target) -> Self {
        Self { stage, fused: target.language.fused_fma, undefined: 0xcd, fuel: u64::MAX, lanes: 1 }
    }

    /// Eight undefined bytes.
    const fn undefined_bits(&self) -> u64 {
        u64::from_le_bytes([self.undefined; 8])
    }
}

/// What is wrong.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum FaultKind {
    /// The kernel does not exist.
    #[error("there is no kernel `{0}`")]
    NoKernel(String),
    /// Arguments, sizes or the target do not fit the module.
    #[error("{0}")]
    Launch(String),
    /// An operation that is not interpreted.
    #[error("{0} is not interpreted")]
    Unsupported(String),
    /// Beyond an object's end, or before its beginning.
    #[error("an access to {size} bytes at offset {offset} of an object of {length} bytes")]
    OutOfBounds {
        /// Where it begins in the object.
        offset: usize,
        /// Bytes accessed.
        size: usize,
        /// Bytes of the object.
        length: usize,
    },
    /// A pointer to nothing: null, or an object that is gone, or none of the launch's.
    #[error("an access through a pointer that points to no object")]
    WildPointer,
    /// A store to constant memory.
    #[error("a write to constant memory")]
    ReadOnly,
    /// The promise of an access was broken.
    #[error("an access at offset {offset}, which is not a multiple of {align}")]
    Misaligned {
        /// Where it begins in the object.
        offset: usize,
        /// Bytes.
        align: u32,
    },
    /// Some work-items wait at a barrier which others do not come to.
    #[error("work-items of one group wait at different barriers, or some have ended while others wait")]
    Divergence,
    /// Some work-items of a subgroup do not come to what all of them must do together.
    #[error("not all work-items of a subgroup come to what they must do together")]
    Apart,
    /// A NaN of operands that are none, where that is asked about ([`crate::ir::Op::NanCheck`]).
    #[error("a NaN is made of numbers")]
    NanOfNumbers,
    /// Calls nest too deep.
    #[error("calls nest too deep")]
    TooDeep,
    /// The source said that this is never reached.
    #[error("the unreachable was reached")]
    Unreachable,
    /// More steps than the settings allow.
    #[error("more steps than allowed")]
    OutOfFuel,
}

/// Why a launch ended early.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{kind}{}", self.place())]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The function that was running, and where in the source.
    pub function: Option<(String, Span)>,
    /// The global id of the work-item.
    pub item: Option<[u32; 3]>,
}

impl Fault {
    fn place(&self) -> String {
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

/// What is known of a memory object of the module.
#[derive(Debug)]
struct GlobalObject {
    space: Space,
    /// Its contents; zeros behind their end.
    init: Vec<u8>,
    size: u32,
    /// Where it is in the memory of its kind.
    start: u32,
    /// The place of an address, its target and the offset in it.
    relocs: Vec<(u32, u32, i64)>,
}

/// A module, ready to run. Needs 64-bit pointers.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    functions: Vec<Code>,
    kernels: Vec<Option<crate::ir::Kernel>>,
    globals: Vec<GlobalObject>,
    printf: printf::Table,
}

impl Program {
    /// Translates a module, which the verifier accepts.
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
        let meets = settings.lanes > 1 && module.functions.iter().any(translate::meets);
        let translated = |function| translate::translate(module, function, (&printf, meets), &settings);
        Self {
            settings,
            functions: module.functions.iter().map(translated).collect(),
            kernels: module.functions.iter().map(|function| function.kernel.clone()).collect(),
            globals: globals.collect(),
            printf,
        }
    }

    /// A kernel by its name.
    fn kernel(&self, name: &str) -> Result<(usize, &Code, &crate::ir::Kernel), FaultKind> {
        self.functions
            .iter()
            .zip(&self.kernels)
            .enumerate()
            .find_map(|(index, (code, kernel))| Some((index, code, kernel.as_ref()?)).filter(|_| code.name == name))
            .ok_or_else(|| FaultKind::NoKernel(name.to_owned()))
    }
}
