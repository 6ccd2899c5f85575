//! Machine code, and the errors of making it.

use crate::target::Isa;
use crate::vir::VerifyError;

/// Machine code. It runs at any address that is a multiple of 64.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Instructions, then constants.
    pub bytes: Vec<u8>,
    /// The byte at which each function of the module begins.
    pub entries: Vec<u32>,
    /// Bytes of native stack that a call of any function takes at most, callees included, functions of the host not.
    pub stack: u32,
    /// The byte at which the constants begin.
    pub constants: u32,
}

/// Why a module has no machine code.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CodegenError {
    /// The module breaks a rule of the vector IR: a defect of the code that built it.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The instruction set cannot do an operation.
    #[error("function `{function}`: {isa:?} has no {operation}")]
    Unsupported {
        /// The function's name.
        function: String,
        /// The operation, as text.
        operation: String,
        /// The instruction set.
        isa: Isa,
    },
    /// Functions call each other in a circle, so the stack has no bound.
    #[error("function `{0}` calls itself")]
    Recursion(String),
    /// The code has more than 2 GiB.
    #[error("the machine code exceeds 2 GiB")]
    Size,
    /// The register allocator failed: a defect of the code generator.
    #[error("register allocation failed: {0}")]
    Registers(String),
    /// The register allocator's checker rejects the allocation: a defect.
    #[error("the register allocation is wrong: {0}")]
    Checker(String),
    /// An operand does not fit the instruction: a defect of the code generator.
    #[error("instruction `{0}`: an operand cannot be encoded")]
    Encoding(&'static str),
    /// A decoder reads another instruction than the encoder was asked for: a defect of the encoder.
    #[error("an emitted instruction decodes differently: {0}")]
    Decoded(String),
}

impl From<regalloc2::RegAllocError> for CodegenError {
    fn from(error: regalloc2::RegAllocError) -> Self {
        Self::Registers(error.to_string())
    }
}
