//! Masks. With AVX-512, they are in mask registers, where bits above the lanes are unspecified. With AVX2, they are
//! vectors in which each lane has all bits set or all bits clear.

use regalloc2::VReg;

use super::super::inst::{Cc, InstBuilder, Opcode, RegMem};
use super::super::regs::{MASK, VEC};
use super::super::table::{self as t, alu};
use super::compare::Mask;
use super::context::{Lower, length, wide};
use crate::mach::constants::Constant;
use crate::vir::{BinOp, Op, Type, Value};

impl Lower<'_> {
    fn k3(&mut self, opcode: Opcode, a: VReg, b: VReg) -> VReg {
        let to = self.k();
        self.push(InstBuilder::new(opcode).len(1).def(to).vvvv(a).rm_reg(b));
        to
    }

    fn k_shift(&mut self, opcode: Opcode, wide: bool, a: VReg, by: u8) -> VReg {
        let to = self.k();
        self.push(InstBuilder::new(opcode).wide(wide).def(to).rm_reg(a).imm(by));
        to
    }

    pub(super) fn mask_not(&mut self, a: Value, ty: Type) -> VReg {
        if self.is_folded_compare(a)
            && let Some(Op::Cmp(op, x, y)) = self.plan.defs[a.index()].map(|inst| &inst.op)
        {
            return self.vector_cmp(*op, *x, *y, Mask::Inverted);
        }
        let from = self.reg(a);
        if !self.avx512() {
            return self.invert(from, length(ty));
        }
        let to = self.k();
        self.push(InstBuilder::new(t::KNOT).def(to).rm_reg(from));
        to
    }

    /// Whether a value is a vector comparison that is folded.
    fn is_folded_compare(&self, value: Value) -> bool {
        let compares = self.plan.defs[value.index()].is_some_and(|inst| matches!(inst.op, Op::Cmp(..)));
        compares && self.plan.folded[value.index()] && self.regs[value.index()].is_none()
    }

    pub(super) fn mask_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        if op == BinOp::And && a != b {
            let (a, b) = if self.is_folded_compare(a) && !self.is_folded_compare(b) { (b, a) } else { (a, b) };
            if self.is_folded_compare(b)
                && let Some(Op::Cmp(op, x, y)) = self.plan.defs[b.index()].map(|inst| &inst.op)
            {
                let under = self.reg(a);
                return self.vector_cmp(*op, *x, *y, Mask::Under(under));
            }
        }
        let (a, b) = (self.reg(a), self.reg(b));
        if self.avx512() {
            return match op {
                BinOp::And => self.k3(t::KAND, a, b),
                BinOp::Or => self.k3(t::KOR, a, b),
                BinOp::Xor => self.k3(t::KXOR, a, b),
                BinOp::AndNot => self.k3(t::KANDN, b, a),
                op => self.unsupported(format!("{op:?} of masks"), MASK),
            };
        }
        let len = length(ty);
        match op {
            BinOp::And => self.v3(t::AND_FP, len, false, a, b),
            BinOp::Or => self.v3(t::OR_FP, len, false, a, b),
            BinOp::Xor => self.v3(t::XOR_FP, len, false, a, b),
            BinOp::AndNot => self.v3(t::ANDN_FP, len, false, b, a),
            op => self.unsupported(format!("{op:?} of masks"), VEC),
        }
    }

    pub(super) fn select_mask(&mut self, cond: Value, a: Value, b: Value, ty: Type) -> VReg {
        let (cond, a, b) = (self.reg(cond), self.reg(a), self.reg(b));
        if !self.avx512() {
            return self.blend(length(ty), cond, a, b);
        }
        let chosen = self.k3(t::KAND, cond, a);
        let other = self.k3(t::KANDN, cond, b);
        self.k3(t::KOR, chosen, other)
    }

    pub(super) fn mask_part(&mut self, a: Value, part: u8, ty: Type) -> VReg {
        let from = self.reg(a);
        if !self.avx512() {
            let from = self.part_of(from, self.ty(a), part, ty.lanes());
            return self.v2(t::PMOVSXDQ, length(ty), false, from);
        }
        if part == 0 { from } else { self.k_shift(t::KSHIFTRW, true, from, part * ty.lanes()) }
    }

    pub(super) fn mask_join(&mut self, list: &[Value], ty: Type) -> VReg {
        let regs: Vec<VReg> = list.iter().map(|value| self.reg(*value)).collect();
        if !self.avx512() {
            return self.join_low_words(&regs, length(self.ty(list[0])), length(ty));
        }
        let [low, high] = regs[..] else { return regs[0] };
        let lanes = self.ty(list[0]).lanes();
        if lanes == 8 {
            return self.k3(t::KUNPCKBW, high, low);
        }
        let high = self.k_shift(t::KSHIFTLB, false, high, lanes);
        let low = self.k_shift(t::KSHIFTLB, false, low, 8 - lanes);
        let low = self.k_shift(t::KSHIFTRB, false, low, 8 - lanes);
        self.k3(t::KOR, low, high)
    }

    /// Returns the bits of a mask in a general register. Bits above the lanes are unspecified unless
    /// [`Self::has_exact_bits`].
    fn raw_bits(&mut self, mask: VReg, ty: Type) -> VReg {
        let to = self.int();
        if self.avx512() {
            let opcode = if ty.lanes() <= 8 { t::KMOVB_TO_GPR } else { t::KMOVW_TO_GPR };
            self.push(InstBuilder::new(opcode).def(to).rm_reg(mask));
        } else {
            let opcode = if wide(ty) { t::MOVMSK.of(crate::vir::Elem::F64, false) } else { t::MOVMSK };
            self.push(InstBuilder::new(opcode).len(length(ty)).def(to).rm_reg(mask));
        }
        to
    }

    /// Whether [`Self::raw_bits`] clears the bits above the lanes.
    fn has_exact_bits(&self, ty: Type) -> bool {
        !self.avx512() || matches!(ty.lanes(), 8 | 16)
    }

    pub(super) fn mask_bits(&mut self, a: Value) -> VReg {
        let (mask, ty) = (self.reg(a), self.ty(a));
        let bits = self.raw_bits(mask, ty);
        if self.has_exact_bits(ty) { bits } else { self.alu_imm(alu::AND, false, bits, (1 << ty.lanes()) - 1) }
    }

    pub(super) fn mask_of(&mut self, a: Value, ty: Type) -> VReg {
        let bits = self.reg(a);
        if self.avx512() {
            let to = self.k();
            self.push(InstBuilder::new(t::KMOV_FROM_GPR).def(to).rm_reg(bits));
            return to;
        }
        let len = length(ty);
        let low = self.vec();
        self.push(InstBuilder::new(t::MOVD_TO).def(low).rm_reg(bits));
        let all = self.v2(if wide(ty) { t::PBROADCASTQ } else { t::PBROADCASTD }, len, false, low);
        let lanes: Vec<u64> = (0..ty.lanes()).map(|lane| 1 << lane).collect();
        let id = self.pooled(Constant::Lanes(&lanes), ty);
        let bit = self.v2(t::MOVU, len, false, RegMem::Pool { id, broadcast: false });
        let set = self.v3(t::PAND, len, false, all, bit);
        self.v3(if wide(ty) { t::PCMPEQQ } else { t::PCMPEQD }, len, false, set, bit)
    }

    /// Tests whether any lane is set. Returns the condition that holds in this case.
    pub(super) fn any(&mut self, mask: Value) -> Cc {
        let (reg, ty) = (self.reg(mask), self.ty(mask));
        if !self.avx512() {
            self.push(InstBuilder::new(t::PTEST).len(length(ty)).reg(reg).rm_reg(reg));
        } else if self.has_exact_bits(ty) {
            self.push(InstBuilder::new(if ty.lanes() == 8 { t::KORTESTB } else { t::KORTESTW }).reg(reg).rm_reg(reg));
        } else {
            let bits = self.raw_bits(reg, ty);
            self.push(InstBuilder::new(t::TEST_I32).rm(bits).imm32((1 << ty.lanes()) - 1));
        }
        Cc::NotEqual
    }

    /// Tests whether all lanes are set. Returns the condition that holds in this case.
    pub(super) fn all(&mut self, mask: Value) -> Cc {
        let (reg, ty) = (self.reg(mask), self.ty(mask));
        if self.avx512() && self.has_exact_bits(ty) {
            self.push(InstBuilder::new(if ty.lanes() == 8 { t::KORTESTB } else { t::KORTESTW }).reg(reg).rm_reg(reg));
            return Cc::Below;
        }
        let all = (1 << ty.lanes()) - 1;
        let mut bits = self.raw_bits(reg, ty);
        if !self.has_exact_bits(ty) {
            bits = self.alu_imm(alu::AND, false, bits, all);
        }
        self.push(InstBuilder::new(t::ALU_I32.digit(alu::CMP)).rm(bits).imm32(all));
        Cc::Equal
    }
}
