//! Machine code, and the errors of code generation.

use serde::{Deserialize, Serialize};

use crate::target::Isa;
use crate::vir::{SourceLoc, VerifyError};

/// The source position of machine code, up to the next entry of [`Code::lines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEntry {
    /// The offset in bytes of the first instruction.
    pub offset: u32,
    pub source: SourceLoc,
}

/// Machine code. It can be loaded at any address that is a multiple of 64.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Instructions, then constants.
    pub bytes: Vec<u8>,
    /// The offset in bytes of each function of the module.
    pub entries: Vec<u32>,
    /// Maximum native stack size in bytes of any function, including its callees but not host functions.
    pub stack: u32,
    /// The offset in bytes of the constants.
    pub constants: u32,
    /// The functions that can be unwound, in the order of their addresses. Empty for AArch64.
    pub frames: Vec<FunctionFrame>,
    /// The source positions of the instructions, sorted by offset.
    pub lines: Vec<LineEntry>,
    /// The number of instructions that the register allocator added to store a register on the stack or to load it.
    pub spills: u32,
}

/// The stack frame of a function, for an unwinder. The frame pointer is rbp, and the saved registers are below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionFrame {
    /// The offset in bytes of the function.
    pub start: u32,
    /// The offset in bytes of the function's end, exclusive.
    pub end: u32,
    /// x86-64: the registers that the prologue pushes after rbp, in order. AArch64: the registers of the pairs that the
    /// prologue stores after the frame record, in order. If both are equal, the pair is one register. The numbers of
    /// vector registers begin at [`Self::FIRST_VECTOR`].
    pub saved: Vec<u8>,
    /// AArch64: bytes of the spill slots, which the prologue allocates last. 0 on x86-64.
    pub slots: u32,
}

impl FunctionFrame {
    /// The number of the first vector register in `saved`.
    pub const FIRST_VECTOR: u8 = 32;
}

/// The reason why a module has no machine code.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CodegenError {
    /// The module breaks a rule of the vector IR: a defect of the code that built it.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The instruction set does not have an operation.
    #[error("function `{function}`: the instruction set {isa} has no {operation}")]
    Unsupported { function: String, operation: String, isa: Isa },
    /// A function is recursive, so the stack has no bound.
    #[error("function `{0}` is recursive")]
    Recursion(String),
    /// The code exceeds the range of its branches.
    #[error("the machine code exceeds the range of its branches: 2 GiB on x86-64, 128 MiB on AArch64")]
    Size,
    /// The register allocator failed: a defect of the code generator.
    #[error("internal error: register allocation failed: {0}")]
    Registers(String),
    /// The register allocator's checker rejects the allocation: a defect.
    #[error("internal error: the register allocation is invalid: {0}")]
    Checker(String),
    /// An operand does not fit the instruction: a defect of the code generator.
    #[error("internal error: an operand of the instruction `{0}` cannot be encoded")]
    Encoding(&'static str),
    /// The decoder does not reproduce the encoded instruction: a defect of the encoder.
    #[error("internal error: an emitted instruction does not decode to the intended one: {0}")]
    Decoded(String),
}

impl From<regalloc2::RegAllocError> for CodegenError {
    fn from(error: regalloc2::RegAllocError) -> Self {
        Self::Registers(error.to_string())
    }
}
