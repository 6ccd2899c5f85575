//! Compiles the vector IR to machine code.
//!
//! ```text
//! vir::Module ─ verify, GVN ─▶ isa: instructions with virtual registers
//!             ─ regalloc2 ─▶ isa: bytes ─ layout, link ─▶ Code
//! ```
//! Each value of the [vector IR](vir) fits one register, and its operations do not depend on the processor. `mach` has
//! the code that all instruction sets share. `isa` has one module for each instruction set. [`Isa::caps`] returns the
//! capabilities of an instruction set.
//!
//! Nothing in this crate is specific to OpenCL. The code that builds vector IR assigns work-items to lanes, and decides
//! which values are uniform and which lanes are active.

#![warn(unreachable_pub)]

pub mod exec;
mod isa;
mod listing;
mod mach;
mod target;
mod vector_length;
pub mod vir;

pub use listing::{Annotations, Disassembly};
pub use mach::code::{Code, CodegenError, FunctionFrame, LineEntry};
pub use target::{A64Level, Isa, IsaCaps, SveLength, X86Level};
pub use vector_length::{VectorLength, VectorLengthError};

/// Compiles a module. Builds with debug assertions verify it first.
///
/// # Errors
/// The instruction set does not have an operation, a function is recursive, or the code is too large. All other errors
/// are defects.
pub fn compile(module: &vir::Module, isa: Isa) -> Result<Code, CodegenError> {
    if cfg!(debug_assertions) {
        vir::verify(module)?;
    }
    match isa {
        Isa::X86(level) => isa::x86::compile(module, level),
        Isa::A64(level) => isa::aarch64::compile(module, level),
    }
}

/// Disassembles a program, in the syntax of the GNU or Arm assembler.
pub fn disassemble(code: &Code, isa: Isa) -> String {
    disassemble_with(code, isa, Annotations::NONE).text
}

/// Disassembles a program with the names of its functions, and with its source positions. The listing contains the
/// source lines as comments.
pub fn disassemble_with(code: &Code, isa: Isa, annotations: Annotations<'_>) -> Disassembly {
    match isa {
        Isa::X86(_) => isa::x86::disassemble(code, annotations),
        Isa::A64(_) => isa::aarch64::disassemble(code, annotations),
    }
}
