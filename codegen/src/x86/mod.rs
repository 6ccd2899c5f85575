//! Machine code for x86-64.
//!
//! `lower` chooses instructions with registers without number, `alloc` numbers them, `emit` and `layout` write bytes; `pool` holds the constants behind
//! the code. One description of an instruction ([`inst`], [`table`]) serves SSE, AVX and AVX-512.

mod alloc;
mod check;
mod emit;
mod encode;
mod inst;
mod layout;
mod lower;
mod pool;
mod table;

use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter};

use crate::Isa;
use crate::vir::{Module, VerifyError};
use emit::{Emitted, Target};
use pool::Pool;

/// Machine code, at any address that 64 divides.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Instructions, then constants.
    pub bytes: Vec<u8>,
    /// Where each function of the module begins, in bytes.
    pub entries: Vec<u32>,
    /// Bytes of native stack that a call of any function takes at most, callees included, functions of the host not.
    pub stack: u32,
    /// Where the constants begin, in bytes.
    pub constants: u32,
}

/// Why there is no code.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CodegenError {
    /// The module breaks a rule: a defect of who made it.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The instruction set has no way to do it.
    #[error("function `{function}`: {isa:?} has no {operation}")]
    Unsupported {
        /// The function.
        function: String,
        /// What cannot be done.
        operation: String,
        /// The instruction set.
        isa: Isa,
    },
    /// Functions call each other in a circle, so there is no bound for the stack.
    #[error("function `{0}` calls itself")]
    Recursion(String),
    /// More than 2 GiB of code.
    #[error("the code is too large")]
    Size,
    /// The register allocator found no registers: a defect of the code generator.
    #[error("no registers: {0}")]
    Registers(String),
    /// The register allocator's checker disagrees: a defect.
    #[error("wrong registers: {0}")]
    Checker(String),
    /// An operand does not fit the instruction: a defect of the code generator.
    #[error("the operands of `{0}` do not fit")]
    Encoding(&'static str),
    /// A decoder reads something else than was meant: a defect of the encoder.
    #[error("the decoder reads something else: {0}")]
    Decoded(String),
}

impl From<regalloc2::RegAllocError> for CodegenError {
    fn from(error: regalloc2::RegAllocError) -> Self {
        Self::Registers(error.to_string())
    }
}

/// Compiles a module.
///
/// # Errors
/// Operations that the instruction set has no way to do, recursion; others are defects.
pub fn compile(module: &Module, isa: Isa) -> Result<Code, CodegenError> {
    if cfg!(debug_assertions) {
        crate::vir::verify(module)?;
    }
    let mut pool = Pool::default();
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let lowered = lower::lower(&crate::vir::gvn(function), isa, &mut pool)?;
        let output = alloc::allocate(&lowered, isa)?;
        functions.push(emit::emit(&lowered, &output, isa)?);
    }
    let stack = Stack::new(module, &functions).worst()?;
    link(&functions, &pool, stack)
}

/// At what functions are aligned: a line of the cache.
const ALIGN: usize = 64;

fn link(functions: &[Emitted], pool: &Pool, stack: u32) -> Result<Code, CodegenError> {
    let mut bytes = Vec::new();
    let mut entries = Vec::with_capacity(functions.len());
    for function in functions {
        bytes.resize(bytes.len().next_multiple_of(ALIGN), 0xCC);
        entries.push(u32::try_from(bytes.len()).map_err(|_| CodegenError::Size)?);
        bytes.extend_from_slice(&function.bytes);
    }
    let constants = u32::try_from(bytes.len()).map_err(|_| CodegenError::Size)?;
    let places = pool.append(&mut bytes);
    i32::try_from(bytes.len()).map_err(|_| CodegenError::Size)?;
    for (function, &entry) in functions.iter().zip(&entries) {
        for fixup in &function.fixups {
            let target = match fixup.target {
                Target::Pool(id) => places[id as usize],
                Target::Function(index) => entries[index as usize] as usize,
            };
            let distance = target as i64 - (entry as usize + fixup.end) as i64;
            let at = entry as usize + fixup.at;
            bytes[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
    }
    Ok(Code { bytes, entries, stack, constants })
}

/// Finds how much stack is needed.
struct Stack<'a> {
    module: &'a Module,
    functions: &'a [Emitted],
    /// Of each function with its callees; `None` while it is not known.
    known: Vec<Option<u32>>,
    open: Vec<bool>,
}

impl<'a> Stack<'a> {
    fn new(module: &'a Module, functions: &'a [Emitted]) -> Self {
        Self { module, functions, known: vec![None; functions.len()], open: vec![false; functions.len()] }
    }

    fn worst(mut self) -> Result<u32, CodegenError> {
        (0..self.functions.len()).try_fold(0, |worst, index| Ok(self.of(index)?.max(worst)))
    }

    fn of(&mut self, index: usize) -> Result<u32, CodegenError> {
        if let Some(known) = self.known[index] {
            return Ok(known);
        }
        if std::mem::replace(&mut self.open[index], true) {
            return Err(CodegenError::Recursion(self.module.functions[index].name.clone()));
        }
        let functions = self.functions;
        let mut below = 0;
        for fixup in &functions[index].fixups {
            if let Target::Function(callee) = fixup.target {
                below = below.max(self.of(callee as usize)?);
            }
        }
        let stack = functions[index].stack + below;
        self.known[index] = Some(stack);
        Ok(stack)
    }
}

/// Machine code as text, in the syntax of the GNU assembler.
pub fn disassemble(code: &Code) -> String {
    let mut formatter = GasFormatter::new();
    let text = code.bytes.get(..code.constants as usize).unwrap_or(&code.bytes);
    let mut out = String::new();
    for instruction in &mut Decoder::new(64, text, DecoderOptions::NONE) {
        if let Some(function) = code.entries.iter().position(|entry| u64::from(*entry) == instruction.ip()) {
            out.push_str(&format!("f{function}:\n"));
        }
        out.push_str(&format!("{:6x}  ", instruction.ip()));
        formatter.format(&instruction, &mut out);
        out.push('\n');
    }
    out
}
