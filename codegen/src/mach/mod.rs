//! The parts of a code generator that do not depend on the instruction set.
//!
//! ```text
//! vir::Function ─ folding, addresses ─▶ (isa: selection) ─▶ function
//!               ─ regalloc ─▶ (isa: encoding) ─▶ layout ─▶ link ─▶ Code
//! ```
//! An instruction set gives an instruction type that implements [`function::MachineInst`], the registers that may be
//! allocated, a policy of what folds into what ([`folding::Candidate`]), and the encoding of its branches
//! ([`layout::BranchEncoding`]).

pub(crate) mod addresses;
pub(crate) mod code;
pub(crate) mod folding;
pub(crate) mod function;
pub(crate) mod layout;
pub(crate) mod link;
pub(crate) mod pool;
pub(crate) mod regalloc;
pub(crate) mod stack;
