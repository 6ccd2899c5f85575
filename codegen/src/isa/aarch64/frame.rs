//! The stack frame, from high to low addresses: frame record, saved registers, spill slots.

use regalloc2::{Edit, Output};

use super::inst::{Field, InstBuilder, MachInst};
use super::regs::{CALLEE_SAVED, CALLEE_SAVED_VECTORS, FRAME_POINTER, INT, LINK, MASK, SCRATCH, SP};
use super::table as t;
use crate::mach::code::FunctionFrame;
use crate::mach::function::MFunction;

/// The size of a pair of registers in bytes.
const PAIR: u32 = 16;

/// The layout of the stack frame below the frame record.
pub(super) struct Frame {
    /// Pairs of saved general registers. In a pair of equal registers, the register is stored twice.
    general: Vec<(u8, u8)>,
    /// Pairs of saved vector registers. Only the lower halves are saved, as AAPCS64 requires.
    vectors: Vec<(u8, u8)>,
    /// Bytes of the spill slots.
    size: u32,
}

impl Frame {
    pub(super) fn new(function: &MFunction<MachInst>, output: &Output) -> Self {
        let edits = output.edits.iter().flat_map(|(_, Edit::Move { from, to })| [*from, *to]);
        let mut used = [[false; 32]; 2];
        let regs = edits.chain(output.allocs.iter().copied()).filter_map(|alloc| alloc.as_reg());
        for reg in regs.filter(|reg| reg.class() != MASK) {
            used[usize::from(reg.class() != INT)][reg.hw_enc()] = true;
        }
        let pairs = |class: usize, saved: &[u8]| -> Vec<(u8, u8)> {
            let saved: Vec<u8> = saved.iter().copied().filter(|number| used[class][usize::from(*number)]).collect();
            in_pairs(&saved)
        };
        let size = (output.num_spillslots as u32 * 8).next_multiple_of(function.vector_bytes.max(PAIR));
        Self { general: pairs(0, &CALLEE_SAVED), vectors: pairs(1, &CALLEE_SAVED_VECTORS), size }
    }

    /// The registers of the saved pairs, as in [`FunctionFrame`].
    pub(super) fn saved(&self) -> Vec<u8> {
        let vectors = self.vectors.iter().map(|(first, second)| [first, second].map(|number| number + FunctionFrame::FIRST_VECTOR));
        self.general.iter().map(|&(first, second)| [first, second]).chain(vectors).flatten().collect()
    }

    /// Bytes of the spill slots.
    pub(super) const fn size(&self) -> u32 {
        self.size
    }

    /// Returns the frame size in bytes, including the frame record.
    pub(super) fn stack(&self) -> u32 {
        (1 + self.general.len() + self.vectors.len()) as u32 * PAIR + self.size
    }

    /// Returns the prologue, which stores the frame record and the saved registers, and allocates the spill slots.
    pub(super) fn enter(&self) -> Vec<InstBuilder> {
        let mut out = vec![push(t::PUSH_PAIR, (FRAME_POINTER, LINK)), stack_move(FRAME_POINTER, SP)];
        out.extend(self.general.iter().map(|pair| push(t::PUSH_PAIR, *pair)));
        out.extend(self.vectors.iter().map(|pair| push(t::PUSH_VECTORS, *pair)));
        self.adjust_sp(&mut out, false);
        out
    }

    /// Returns the epilogue, including the return.
    pub(super) fn leave(&self) -> Vec<InstBuilder> {
        let mut out = Vec::new();
        self.adjust_sp(&mut out, true);
        out.extend(self.vectors.iter().rev().map(|pair| pop(t::POP_VECTORS, *pair)));
        out.extend(self.general.iter().rev().map(|pair| pop(t::POP_PAIR, *pair)));
        out.push(pop(t::POP_PAIR, (FRAME_POINTER, LINK)));
        out.push(InstBuilder::new(t::RET));
        out
    }

    /// Appends instructions that add the size of the spill slots to the stack pointer, or subtract it if `add` is not
    /// set.
    fn adjust_sp(&self, out: &mut Vec<InstBuilder>, add: bool) {
        const LIMIT: u32 = 1 << 24;
        if self.size >= LIMIT {
            out.extend(scratch_constant(self.size));
            let opcode = if add { t::ADD_EXTENDED } else { t::SUB_EXTENDED };
            out.push(InstBuilder::new(opcode).phys(Field::D, SP).phys(Field::N, SP).phys(Field::M, SCRATCH[0]));
            return;
        }
        let opcode = if add { t::ADD_IMM } else { t::SUB_IMM };
        let step = |imm: u32| InstBuilder::new(opcode).wide(true).phys(Field::D, SP).phys(Field::N, SP).imm(imm << 10, imm.into());
        let (high, low) = (self.size >> 12, self.size & 0xFFF);
        if high > 0 {
            out.push(step(high).imm2(1 << 22, 12));
        }
        if low > 0 {
            out.push(step(low));
        }
    }
}

/// Returns pairs of consecutive registers. A register without a used neighbour is in a pair of equal registers. Windows
/// cannot unwind pairs of other registers.
fn in_pairs(registers: &[u8]) -> Vec<(u8, u8)> {
    let mut pairs: Vec<(u8, u8)> = Vec::new();
    for &register in registers {
        match pairs.last_mut() {
            Some((first, second)) if first == second && *first + 1 == register => *second = register,
            _ => pairs.push((register, register)),
        }
    }
    pairs
}

/// Returns instructions that load a number into the first scratch register.
pub(super) fn scratch_constant(number: u32) -> Vec<InstBuilder> {
    let (low, high) = (number & 0xFFFF, number >> 16);
    let mut out = vec![InstBuilder::new(t::MOVZ).phys(Field::D, SCRATCH[0]).imm(low << 5, low.into())];
    if high > 0 {
        out.push(InstBuilder::new(t::MOVK).phys(Field::D, SCRATCH[0]).imm(high << 5, high.into()).imm2(1 << 21, 16));
    }
    out
}

/// Returns a move to or from the stack pointer, which `mov` between general registers cannot encode.
fn stack_move(to: u8, from: u8) -> InstBuilder {
    InstBuilder::new(t::MOV_STACK).phys(Field::D, to).phys(Field::N, from)
}

fn pair(opcode: super::inst::Opcode, (first, second): (u8, u8), offset: i64) -> InstBuilder {
    let scaled = (offset / 8).cast_unsigned() as u32 & 0x7F;
    let builder = InstBuilder::new(opcode).phys(Field::D, first).phys(Field::A, second).phys(Field::N, SP);
    builder.imm(scaled << 15, offset)
}

fn push(opcode: super::inst::Opcode, regs: (u8, u8)) -> InstBuilder {
    pair(opcode, regs, -i64::from(PAIR))
}

/// Returns a load of a pair. `ldp` requires different registers, so a pair of equal registers is loaded with `ldr`.
fn pop(opcode: super::inst::Opcode, regs: (u8, u8)) -> InstBuilder {
    let (first, second) = regs;
    if first != second {
        return pair(opcode, regs, PAIR.into());
    }
    let opcode = if opcode == t::POP_PAIR { t::POP_ONE } else { t::POP_VECTOR };
    let builder = InstBuilder::new(opcode).phys(Field::D, first).phys(Field::N, SP);
    builder.imm(PAIR << 12, PAIR.into())
}

#[cfg(test)]
mod tests {
    use super::in_pairs;

    #[test]
    fn pairs_have_consecutive_registers() {
        assert_eq!(in_pairs(&[19, 20, 21]), [(19, 20), (21, 21)]);
        assert_eq!(in_pairs(&[19, 21, 22, 23, 24, 28]), [(19, 19), (21, 22), (23, 24), (28, 28)]);
        assert_eq!(in_pairs(&[]), []);
    }
}
