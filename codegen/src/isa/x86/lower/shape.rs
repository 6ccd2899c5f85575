//! Splits and concatenates vectors.

use regalloc2::VReg;

use super::super::inst::{InstBuilder, RegMem};
use super::super::regs::VEC;
use super::super::table as t;
use super::context::{Lower, length, wide};
use crate::vir::{Type, Value};

impl Lower<'_> {
    /// Moves lanes `part * lanes ..` of a vector of 32-bit lanes to the lowest lanes of a register.
    pub(super) fn part_of(&mut self, from: VReg, ty: Type, part: u8, lanes: u8) -> VReg {
        let first = part * lanes;
        if first == 0 {
            return from;
        }
        if lanes >= 8 {
            let to = self.vec();
            self.push(InstBuilder::new(t::EXTRACT256).len(2).wide(true).reg(from).rm_def(to).imm(first / 8));
            return to;
        }
        let quarter = if first >= 4 { self.quarter(from, ty, first / 4) } else { from };
        // If the lanes are the upper half of these 16 bytes, moves them to the lower half.
        if first % 4 == 2 { self.v2_imm(t::PSHUFD, 0, false, quarter, 0xEE) } else { quarter }
    }

    /// Moves bytes `16 * index ..` of a vector to the lowest bytes of a register.
    fn quarter(&mut self, from: VReg, ty: Type, index: u8) -> VReg {
        if index == 0 {
            return from;
        }
        let to = self.vec();
        self.push(InstBuilder::new(t::EXTRACT128).len(length(ty)).reg(from).rm_def(to).imm(index));
        to
    }

    pub(super) fn extract(&mut self, a: Value, lane: u8, ty: Type) -> VReg {
        let (from, of, wide) = (self.reg(a), self.ty(a), wide(ty));
        let each = if wide { 2 } else { 4 };
        let quarter = self.quarter(from, of, lane / each);
        let lane = lane % each;
        if ty.is_general() {
            let to = self.int();
            self.push(match lane {
                0 => InstBuilder::new(t::MOVD_FROM).wide(wide).reg(quarter).rm_def(to),
                _ => InstBuilder::new(t::PEXTR).wide(wide).reg(quarter).rm_def(to).imm(lane),
            });
            return to;
        }
        match lane {
            0 => quarter,
            _ if wide => self.v2_imm(t::PSHUFD, 0, false, quarter, 0xEE),
            lane => self.v2_imm(t::PSHUFD, 0, false, quarter, lane),
        }
    }

    /// Concatenates two vectors of the same length.
    pub(super) fn join(&mut self, low: VReg, high: VReg, len: u8) -> VReg {
        let to = self.vec();
        let (opcode, wide) = if len == 1 { (t::INSERT256, true) } else { (t::INSERT128, false) };
        self.push(InstBuilder::new(opcode).len(len + 1).wide(wide).def(to).vvvv(low).rm(high).imm(1));
        to
    }

    /// Concatenates the low eight bytes of two registers.
    pub(super) fn join_halves(&mut self, low: VReg, high: VReg) -> VReg {
        self.v3(t::PUNPCKLQDQ, 0, true, low, high)
    }

    /// Concatenates the low 32 bits of the 64-bit lanes of one or two vectors. Used only with AVX2, not with AVX-512.
    pub(super) fn join_low_words(&mut self, parts: &[VReg], len: u8, to: u8) -> VReg {
        const EVEN: u8 = 0x88;
        const LANES: u8 = 0xD8;
        match (parts, len) {
            ([one], 1) => {
                let high = self.vec();
                self.push(InstBuilder::new(t::EXTRACT128).len(1).reg(*one).rm_def(high).imm(1));
                self.v3_imm(t::SHUFP, 0, false, *one, high, EVEN)
            }
            ([low, high], 0) => self.v3_imm(t::SHUFP, 0, false, *low, *high, EVEN),
            ([low, high], _) => {
                let both = self.v3_imm(t::SHUFP, to, false, *low, *high, EVEN);
                self.v2_imm(t::PERMQ, to, true, both, LANES)
            }
            _ => self.unsupported(format!("narrowing of {} vectors", parts.len()), VEC),
        }
    }

    /// Returns the lanes of a value from `part * lanes` on, as an operand. The operand for part 0 can be the whole
    /// vector, in a register or in memory.
    pub(super) fn narrow_source(&mut self, a: Value, part: u8, lanes: u8) -> RegMem {
        let ty = self.ty(a);
        if part == 0 {
            return self.source(a, false);
        }
        let from = self.reg(a);
        RegMem::Reg(self.part_of(from, ty, part, lanes))
    }
}
