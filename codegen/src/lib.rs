//! From a vector IR to machine code.
//!
//! ```text
//! vir::Module ─ verify, GVN ─▶ isa: instructions with virtual registers
//!             ─ regalloc2 ─▶ isa: bytes ─ layout, link ─▶ Code
//! ```
//! The [vector IR](vir) has values of the size of registers and says what to do with them on any processor. `mach` has
//! what every instruction set needs, `isa` has one module for each. [`Isa::caps`] reports what an instruction set can
//! do.
//!
//! Nothing here knows OpenCL. The code that builds vector IR decides which work-items are the lanes of a register,
//! which values are uniform and which lanes are alive.

#![warn(unreachable_pub)]

pub mod exec;
mod isa;
mod mach;
mod target;
pub mod vir;

pub use mach::code::{Code, CodegenError};
pub use target::{Isa, IsaCaps, X86Level};

/// Compiles a module.
///
/// # Errors
/// Operations that the instruction set cannot do, and recursion. All other errors are defects.
pub fn compile(module: &vir::Module, isa: Isa) -> Result<Code, CodegenError> {
    if cfg!(debug_assertions) {
        vir::verify(module)?;
    }
    match isa {
        Isa::X86(level) => isa::x86::compile(module, level),
    }
}

/// The instructions of a program for an instruction set, as text in the syntax of the GNU assembler.
pub fn disassemble(code: &Code, isa: Isa) -> String {
    match isa {
        Isa::X86(_) => isa::x86::disassemble(code),
    }
}
