//! The parts of a code generator that do not depend on the instruction set.
//!
//! ```text
//! vir::Function ─ folding, addresses ─▶ (isa: selection) ─▶ function
//!               ─ regalloc ─▶ (isa: encoding) ─▶ layout ─▶ link ─▶ Code
//! ```
//! An instruction set implements:
//! - [`function::MachineInst`] for its instructions
//! - the list of registers that can be allocated
//! - a folding policy ([`folding::Candidate`]) and its addressing modes ([`addresses::AddressingModes`])
//! - the encoding of its branches ([`layout::BranchEncoding`])

pub(crate) mod addresses;
pub(crate) mod code;
pub(crate) mod constants;
pub(crate) mod edit;
pub(crate) mod folding;
pub(crate) mod function;
pub(crate) mod layout;
pub(crate) mod link;
pub(crate) mod pool;
pub(crate) mod regalloc;
pub(crate) mod stack;
