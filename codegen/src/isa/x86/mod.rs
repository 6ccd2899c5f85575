//! The code generator for x86-64.
//!
//! `lower` selects instructions with virtual registers, [`regalloc`](crate::mach::regalloc) allocates registers, and
//! `emit` writes bytes. One description of an instruction (`inst`, `table`) serves SSE, AVX and AVX-512. `check`
//! decodes emitted instructions in builds with debug assertions.

mod check;
mod emit;
mod encode;
mod folding;
mod frame;
mod inst;
mod jumps;
mod lower;
mod regs;
mod spilled;
mod table;

use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter};

use crate::listing::{Annotations, Disassembly, Listing};
use crate::mach::code::{Code, CodegenError};
use crate::mach::link::link;
use crate::mach::pool::Pool;
use crate::mach::regalloc::allocate;
use crate::mach::stack::stack_depth;
use crate::target::X86Level;
use crate::vir::{Module, gvn, order_sums, unsign};

/// The byte that fills the space between functions: `int3`.
const PADDING: u8 = 0xCC;

/// Compiles a module, which must follow the rules of the vector IR.
pub(crate) fn compile(module: &Module, level: X86Level) -> Result<Code, CodegenError> {
    let mut pool = Pool::default();
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let mut function = gvn(function);
        unsign(&mut function);
        order_sums(&mut function);
        let mut lowered = lower::lower(&function, level, &mut pool)?;
        let output = allocate(&mut lowered, &regs::environment(level))?;
        functions.push(emit::emit(&lowered, &output, level)?);
    }
    let stack = stack_depth(module, &functions)?;
    link(&functions, &pool, PADDING, stack)
}

/// Disassembles a program, in the syntax of the GNU assembler.
pub(crate) fn disassemble(code: &Code, annotations: Annotations<'_>) -> Disassembly {
    let mut formatter = GasFormatter::new();
    let mut listing = Listing::new(code, annotations, "#");
    let text = code.bytes.get(..code.constants as usize).unwrap_or(&code.bytes);
    let mut out = String::new();
    for instruction in &mut Decoder::new(64, text, DecoderOptions::NONE) {
        out.clear();
        formatter.format(&instruction, &mut out);
        listing.instruction(instruction.ip32(), &out);
    }
    listing.finish()
}
