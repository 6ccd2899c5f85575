//! Encodes an instruction after register allocation.

use regalloc2::Allocation;

use super::inst::{A64Inst, Slot};
use crate::mach::code::CodegenError;

/// Register numbers, indexed by [`Field`](super::inst::Field). `None` for fields without a register.
pub(super) type Registers = [Option<u8>; 4];

/// Replaces the operands of an instruction by their allocated registers. Fails if an operand has no register.
pub(super) fn resolve(inst: &A64Inst, allocs: &[Allocation]) -> Result<Registers, CodegenError> {
    let mut regs = [None; 4];
    for (to, slot) in regs.iter_mut().zip(inst.regs) {
        *to = match slot {
            Slot::None => None,
            Slot::Phys(number) => Some(number),
            Slot::Op(index) => {
                let reg = allocs.get(usize::from(index)).and_then(|alloc| alloc.as_reg());
                Some(reg.ok_or(CodegenError::Encoding(inst.opcode.name))?.hw_enc() as u8)
            }
        };
    }
    Ok(regs)
}

/// Encodes an instruction as a word.
pub(super) fn encode(inst: &A64Inst, regs: &Registers) -> u32 {
    const PLACES: [u32; 4] = [0, 5, 16, 10];
    let wide = if inst.wide { inst.opcode.wide } else { 0 };
    let fields = regs.iter().zip(PLACES).map(|(reg, place)| u32::from(reg.unwrap_or(0)) << place);
    fields.fold(inst.opcode.word | wide | inst.bits, |word, field| word | field)
}
