//! The code generator for AArch64.
//!
//! `lower` selects instructions with virtual registers, `optimise` moves and merges them, and
//! [`regalloc`](crate::mach::regalloc) allocates registers. `emit` writes words. Each lane of a mask has all bits set
//! or all bits clear. With SVE, masks are in predicate registers instead (`lower/sve`). `check` decodes emitted
//! instructions in builds with debug assertions.

mod check;
mod emit;
mod encode;
mod folding;
mod frame;
mod inst;
mod jumps;
mod lower;
mod optimise;
mod regs;
mod table;

use regalloc2::Output;

use crate::listing::{Annotations, Disassembly, Listing};
use crate::mach::code::{Code, CodegenError};
use crate::mach::function::MFunction;
use crate::mach::link::{Emitted, link};
use crate::mach::pool::Pool;
use crate::mach::regalloc::allocate;
use crate::mach::stack::stack_depth;
use crate::target::A64Level;
use crate::vir::{Module, gvn};
use inst::MachInst;

/// The byte that fills the space between functions. Four of them are `udf #0`.
const PADDING: u8 = 0;

/// The range of literal loads in bytes.
const LITERAL_REACH: usize = 1 << 20;

/// Compiles a module, which must follow the rules of the vector IR.
pub(crate) fn compile(module: &Module, level: A64Level) -> Result<Code, CodegenError> {
    let mut pool = Pool::default();
    let mut allocated = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let mut lowered = optimise::optimise(lower::lower(&gvn(function), level, &mut pool)?);
        let output = allocate(&mut lowered, &regs::environment(level))?;
        allocated.push((lowered, output));
    }
    let mut functions = emit_all(&allocated, level, false)?;
    let bytes = functions.iter().map(|function| function.text.bytes.len() + 64).sum::<usize>() + pool.bytes();
    if bytes >= LITERAL_REACH {
        functions = emit_all(&allocated, level, true)?;
    }
    let stack = stack_depth(module, &functions)?;
    link(&functions, &pool, PADDING, stack)
}

/// Emits functions after register allocation.
fn emit_all(functions: &[(MFunction<MachInst>, Output)], level: A64Level, distant_constants: bool) -> Result<Vec<Emitted>, CodegenError> {
    functions.iter().map(|(function, output)| emit::emit(function, output, level, distant_constants)).collect()
}

/// Disassembles a program, in the syntax of Arm's assembler.
pub(crate) fn disassemble(code: &Code, annotations: Annotations<'_>) -> Disassembly {
    let mut listing = Listing::new(code, annotations, "//");
    let text = code.bytes.get(..code.constants as usize).unwrap_or(&code.bytes);
    for (index, word) in text.chunks_exact(4).enumerate() {
        let at = index * 4;
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        listing.instruction(at as u32, &check::assembly(word, at as u64).to_string());
    }
    listing.finish()
}
