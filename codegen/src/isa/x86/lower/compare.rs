//! Comparisons and selections.

use regalloc2::{OperandKind, VReg};

use super::super::inst::{Cc, InstBuilder, MachInst, RegMem};
use super::super::regs::MASK;
use super::super::table::{self as t, alu};
use super::context::{Lower, is_float_scalar, length, wide};
use crate::vir::{CmpOp, Op, Type, Value};

/// The code of the condition "parity flag set": one of the operands is a NaN.
const UNORDERED: u8 = 10;

/// Returns the condition code of an integer comparison.
const fn int_cc(op: CmpOp) -> Cc {
    match op {
        CmpOp::Ne | CmpOp::FNe => Cc::NotEqual,
        CmpOp::SLt => Cc::Less,
        CmpOp::SLe => Cc::LessEqual,
        CmpOp::SGt => Cc::Greater,
        CmpOp::SGe => Cc::GreaterEqual,
        CmpOp::ULt | CmpOp::FLt => Cc::Below,
        CmpOp::ULe | CmpOp::FLe => Cc::BelowEqual,
        CmpOp::UGt | CmpOp::FGt => Cc::Above,
        CmpOp::UGe | CmpOp::FGe => Cc::AboveEqual,
        CmpOp::Eq | CmpOp::FEq => Cc::Equal,
    }
}

/// The lanes of its result that a vector comparison sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// Lanes for which the comparison holds.
    Holds,
    /// Lanes for which the comparison does not hold.
    Inverted,
    /// Lanes that are set in this mask and for which the comparison holds. Requires AVX-512.
    Under(VReg),
}

/// The bit that inverts a predicate.
const INVERT_PREDICATE: u8 = 4;

/// Returns the integer comparison that holds if and only if `op` does not. Comparisons of floats are returned
/// unchanged.
const fn inverse(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::SLt => CmpOp::SGe,
        CmpOp::SLe => CmpOp::SGt,
        CmpOp::SGt => CmpOp::SLe,
        CmpOp::SGe => CmpOp::SLt,
        CmpOp::ULt => CmpOp::UGe,
        CmpOp::ULe => CmpOp::UGt,
        CmpOp::UGt => CmpOp::ULe,
        CmpOp::UGe => CmpOp::ULt,
        CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe => op,
    }
}

/// Returns the comparison that is equivalent to `op` if the operands are exchanged.
const fn exchanged(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::SLt => CmpOp::SGt,
        CmpOp::SLe => CmpOp::SGe,
        CmpOp::SGt => CmpOp::SLt,
        CmpOp::SGe => CmpOp::SLe,
        CmpOp::ULt => CmpOp::UGt,
        CmpOp::ULe => CmpOp::UGe,
        CmpOp::UGt => CmpOp::ULt,
        CmpOp::UGe => CmpOp::ULe,
        CmpOp::FLt => CmpOp::FGt,
        CmpOp::FLe => CmpOp::FGe,
        CmpOp::FGt => CmpOp::FLt,
        CmpOp::FGe => CmpOp::FLe,
        CmpOp::Eq | CmpOp::Ne | CmpOp::FEq | CmpOp::FNe => op,
    }
}

/// Returns the predicate of a comparison of floats with VEX or EVEX. None of the results signals for quiet NaNs.
const fn float_predicate(op: CmpOp) -> u8 {
    match op {
        CmpOp::FNe => 4,
        CmpOp::FLt => 17,
        CmpOp::FLe => 18,
        CmpOp::FGe => 29,
        CmpOp::FGt => 30,
        CmpOp::FEq => 0,
        // No caller passes an integer comparison.
        CmpOp::Eq | CmpOp::Ne | CmpOp::SLt | CmpOp::SLe | CmpOp::SGt | CmpOp::SGe | CmpOp::ULt | CmpOp::ULe | CmpOp::UGt | CmpOp::UGe => 0,
    }
}

/// Returns the predicate of an integer comparison in AVX-512, and whether the comparison is unsigned.
const fn int_predicate(op: CmpOp) -> (u8, bool) {
    match op {
        CmpOp::Ne => (4, false),
        CmpOp::SLt => (1, false),
        CmpOp::SLe => (2, false),
        CmpOp::SGt => (6, false),
        CmpOp::SGe => (5, false),
        CmpOp::ULt => (1, true),
        CmpOp::ULe => (2, true),
        CmpOp::UGt => (6, true),
        CmpOp::UGe => (5, true),
        CmpOp::Eq => (0, false),
        // No caller passes a comparison of floats.
        CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe => (0, false),
    }
}

impl Lower<'_> {
    /// Compares two scalars. Returns the condition that holds if and only if the comparison holds. The caller must not
    /// emit instructions that change the flags before the flags are read.
    pub(super) fn flags(&mut self, op: CmpOp, a: Value, b: Value) -> Cc {
        let ty = self.ty(a);
        if is_float_scalar(ty) {
            return self.float_flags(op, a, b);
        }
        let wide = wide(ty);
        let swap = self.constant(a).is_some() && self.constant(b).is_none();
        let (op, a, b) = if swap { (exchanged(op), b, a) } else { (op, a, b) };
        match self.imm32(b) {
            Some(0) if matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                let a = self.reg(a);
                if !self.has_set_zero_flag(a, wide) {
                    self.push(InstBuilder::new(t::TEST).wide(wide).reg(a).rm_reg(a));
                }
            }
            Some(imm) => {
                let a = self.source(a, false);
                let builder = match i8::try_from(imm) {
                    Ok(byte) => InstBuilder::new(t::ALU_I8.digit(alu::CMP)).rm(a).imm(byte as u8),
                    Err(_) => InstBuilder::new(t::ALU_I32.digit(alu::CMP)).rm(a).imm32(imm),
                };
                self.push(builder.wide(wide));
            }
            None => {
                let b = self.source(b, false);
                let a = self.reg(a);
                self.push(InstBuilder::new(t::CMP_R).wide(wide).reg(a).rm(b));
            }
        }
        int_cc(op)
    }

    /// Whether the last instruction of the current block computed `a`, and has set the zero flag if `a` is 0. Moves of
    /// the register allocator do not change the flags.
    fn has_set_zero_flag(&self, a: VReg, wide: bool) -> bool {
        let Some((MachInst::Op(inst), operands)) = self.out.last_of_block() else { return false };
        let defines = operands.iter().any(|operand| operand.kind() == OperandKind::Def && operand.vreg() == a);
        let is_alu = matches!(inst.opcode.name, "add" | "sub" | "and" | "or" | "xor" | "andn" | "blsi");
        defines && is_alu && inst.wide == wide
    }

    fn float_flags(&mut self, op: CmpOp, a: Value, b: Value) -> Cc {
        let ty = self.ty(a);
        // The operands of `FLt` and `FLe` are exchanged, because only the conditions "above" and "above or equal" are
        // false for NaNs.
        let (op, a, b) = if matches!(op, CmpOp::FLt | CmpOp::FLe) { (exchanged(op), b, a) } else { (op, a, b) };
        let b = self.source(b, false);
        let a = self.reg(a);
        let elem = ty.elem().unwrap_or(crate::vir::Elem::F32);
        self.push(InstBuilder::new(t::UCOMI.of(elem, false)).wide(wide(ty)).reg(a).rm(b));
        match op {
            CmpOp::FGt => Cc::Above,
            CmpOp::FGe => Cc::AboveEqual,
            CmpOp::FNe => Cc::FloatNotEqual,
            CmpOp::FEq
            | CmpOp::Eq
            | CmpOp::Ne
            | CmpOp::SLt
            | CmpOp::SLe
            | CmpOp::SGt
            | CmpOp::SGe
            | CmpOp::ULt
            | CmpOp::ULe
            | CmpOp::UGt
            | CmpOp::UGe
            | CmpOp::FLt
            | CmpOp::FLe => Cc::FloatEqual,
        }
    }

    /// Sets the flags for a condition: emits its folded comparison, or a test against 0. Returns the condition that
    /// holds if `cond` is true.
    pub(super) fn condition(&mut self, cond: Value) -> Cc {
        if self.plan.folded[cond.index()]
            && self.regs[cond.index()].is_none()
            && let Some(Op::Cmp(op, a, b)) = self.plan.defs[cond.index()].map(|inst| &inst.op)
        {
            return self.flags(*op, *a, *b);
        }
        let cond = self.reg(cond);
        self.push(InstBuilder::new(t::TEST).reg(cond).rm_reg(cond));
        Cc::NotEqual
    }

    fn setcc(&mut self, code: u8) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(t::SETCC.plus(code)).rm_def(to));
        to
    }

    /// Returns an integer that is 1 if a condition on the flags holds, otherwise 0.
    pub(super) fn bool_of(&mut self, cc: Cc) -> VReg {
        let byte = match cc {
            Cc::FloatEqual => {
                let (equal, ordered) = (self.setcc(Cc::Equal as u8), self.setcc(UNORDERED ^ 1));
                self.alu(t::AND_R, false, equal, ordered)
            }
            Cc::FloatNotEqual => {
                let (unequal, unordered) = (self.setcc(Cc::NotEqual as u8), self.setcc(UNORDERED));
                self.alu(t::OR_R, false, unequal, unordered)
            }
            cc => self.setcc(cc as u8),
        };
        let to = self.int();
        self.push(InstBuilder::new(t::MOVZX8).def(to).rm_reg(byte));
        to
    }

    pub(super) fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> VReg {
        if let Type::Vector(..) = self.ty(a) {
            return self.vector_cmp(op, a, b, Mask::Holds);
        }
        let cc = self.flags(op, a, b);
        self.bool_of(cc)
    }

    /// Compares two vectors. `mask` selects which lanes of the result are set.
    pub(super) fn vector_cmp(&mut self, op: CmpOp, a: Value, b: Value, mask: Mask) -> VReg {
        let ty = self.ty(a);
        let (Some(elem), len) = (ty.elem(), length(ty)) else { return self.undefined(ty) };
        let swap = self.in_memory(a, true) && !self.in_memory(b, true);
        let (op, a, b) = if swap { (exchanged(op), b, a) } else { (op, a, b) };
        let inverted = mask == Mask::Inverted;
        if !self.avx512() {
            return if elem.is_float() {
                let b = self.source(b, true);
                let a = self.reg(a);
                self.v3_imm(t::CMP_FP.of(elem, false), len, false, a, b, float_predicate(op) ^ if inverted { INVERT_PREDICATE } else { 0 })
            } else {
                self.int_vector_cmp(if inverted { inverse(op) } else { op }, a, b, ty)
            };
        }
        let (opcode, number) = if elem.is_float() {
            (t::CMP_FP.of(elem, false).evex(), float_predicate(op))
        } else {
            let (number, unsigned) = int_predicate(op);
            (if unsigned { t::PCMPU } else { t::PCMP }, number)
        };
        let b = self.source(b, true);
        let (a, to) = (self.reg(a), self.new_reg(MASK));
        let builder = InstBuilder::new(opcode)
            .len(len)
            .wide(wide(ty))
            .def(to)
            .vvvv(a)
            .rm(b)
            .imm(number ^ if inverted { INVERT_PREDICATE } else { 0 });
        self.push(if let Mask::Under(mask) = mask { builder.mask(mask, false) } else { builder });
        to
    }

    /// Compares integer vectors with AVX2, which only has "equal" and "greater, signed".
    fn int_vector_cmp(&mut self, op: CmpOp, a: Value, b: Value, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        let swap = self.splat_bits(a).is_some();
        let (op, a, b) = if swap { (exchanged(op), b, a) } else { (op, a, b) };
        if let Some(strict) = self.strict_cmp(op, a, b, ty) {
            return strict;
        }
        let equal = if wide { t::PCMPEQQ } else { t::PCMPEQD };
        let greater = if wide { t::PCMPGTQ } else { t::PCMPGTD };
        // After the exchange, the only ordered comparisons are "greater" and its complement, "less or equal".
        let (op, a, b) = if matches!(op, CmpOp::SLt | CmpOp::SGe | CmpOp::ULt | CmpOp::UGe) { (exchanged(op), b, a) } else { (op, a, b) };
        let (to, inverted) = match op {
            CmpOp::Eq | CmpOp::Ne => {
                let b = self.source(b, false);
                let a = self.reg(a);
                (self.v3(equal, len, false, a, b), op == CmpOp::Ne)
            }
            CmpOp::ULe if !wide => {
                let b = self.source(b, false);
                let a = self.reg(a);
                let least = self.v3(t::PMINU, len, false, a, b);
                (self.v3(t::PCMPEQD, len, false, least, a), false)
            }
            CmpOp::UGt | CmpOp::ULe => {
                let (a, b) = (self.biased(a, ty), self.biased(b, ty));
                let a = self.v2_reg(a, len);
                (self.v3(greater, len, false, a, b), op == CmpOp::ULe)
            }
            op => {
                let b = self.source(b, false);
                let a = self.reg(a);
                (self.v3(greater, len, false, a, b), op == CmpOp::SLe)
            }
        };
        if inverted { self.invert(to, len) } else { to }
    }

    /// Selects `pcmpgt` for `a >= b` and `a <= b`, if the lanes of `b` are equal constants: `a > b - 1`, `a < b + 1`.
    /// Returns `None` for other comparisons, and if the new constant would wrap around.
    fn strict_cmp(&mut self, op: CmpOp, a: Value, b: Value, ty: Type) -> Option<VReg> {
        let (len, wide) = (length(ty), wide(ty));
        let (above, greater) = if wide { (0, t::PCMPGTQ) } else { (32, t::PCMPGTD) };
        let bits = (self.splat_bits(b)? << above).cast_signed() >> above;
        let (least, most) = (i64::MIN >> above, i64::MAX >> above);
        match op {
            CmpOp::SGe if bits > least => {
                let b = self.splat_source((bits - 1).cast_unsigned(), ty);
                let a = self.reg(a);
                Some(self.v3(greater, len, false, a, b))
            }
            CmpOp::SLe if bits < most => {
                let b = self.splat_source((bits + 1).cast_unsigned(), ty);
                let (b, a) = (self.v2_reg(b, len), self.source(a, false));
                Some(self.v3(greater, len, false, b, a))
            }
            _ => None,
        }
    }

    /// Inverts the sign bits, so that a signed comparison orders the results as unsigned numbers.
    fn biased(&mut self, a: Value, ty: Type) -> RegMem {
        let sign = if wide(ty) { 1 << 63 } else { 1 << 31 };
        if let Some(bits) = self.splat_bits(a) {
            return self.splat_source(bits ^ sign, ty);
        }
        let sign = self.splat_source(sign, ty);
        let a = self.reg(a);
        self.v3(t::PXOR, length(ty), false, a, sign).into()
    }

    fn v2_reg(&mut self, a: RegMem, len: u8) -> VReg {
        match a {
            RegMem::Reg(reg) => reg,
            memory => self.v2(t::MOVU, len, false, memory),
        }
    }

    /// Returns the complement of a vector.
    pub(super) fn invert(&mut self, a: VReg, len: u8) -> VReg {
        const NOT_FIRST: u8 = 0x0F;
        if self.avx512() {
            let to = self.vec();
            self.push(InstBuilder::new(t::PTERNLOG).len(len).tied(a, to).vvvv(a).rm_reg(a).imm(NOT_FIRST));
            return to;
        }
        let ones = self.ones(len);
        self.v3(t::PXOR, len, false, a, ones)
    }

    pub(super) fn select(&mut self, cond: Value, a: Value, b: Value, ty: Type) -> VReg {
        match ty {
            Type::Vector(..) => self.select_vector(cond, a, b, ty),
            Type::Mask(_) => self.select_mask(cond, a, b, ty),
            ty if ty.is_general() => self.select_int(cond, a, b, wide(ty)),
            ty => self.select_float(cond, a, b, ty),
        }
    }

    fn select_int(&mut self, cond: Value, a: Value, b: Value, wide: bool) -> VReg {
        let (a, b) = (self.reg(a), self.reg(b));
        let cc = self.condition(cond);
        let (cc, a, b) = if cc == Cc::FloatEqual { (Cc::FloatNotEqual, b, a) } else { (cc, a, b) };
        let (code, second) = if cc == Cc::FloatNotEqual { (Cc::NotEqual as u8, Some(UNORDERED)) } else { (cc as u8, None) };
        let mut to = self.int();
        self.push(InstBuilder::new(t::CMOVCC.plus(code)).wide(wide).tied(b, to).rm(a));
        if let Some(second) = second {
            let first = std::mem::replace(&mut to, self.int());
            self.push(InstBuilder::new(t::CMOVCC.plus(second)).wide(wide).tied(first, to).rm(a));
        }
        to
    }

    fn select_float(&mut self, cond: Value, a: Value, b: Value, ty: Type) -> VReg {
        let (a, b) = (self.reg(a), self.reg(b));
        if self.avx512() {
            let mask = self.float_mask512(cond, ty);
            let to = self.vec();
            self.push(InstBuilder::new(t::BLENDM_FP).wide(wide(ty)).def(to).vvvv(b).rm_reg(a).mask(mask, false));
            return to;
        }
        let mask = self.float_mask(cond, ty);
        if self.vex() {
            return self.blend(0, mask, a, b);
        }
        let chosen = self.v3(t::AND_FP, 0, false, a, mask);
        let other = self.v3(t::ANDN_FP, 0, false, mask, b);
        self.v3(t::OR_FP, 0, false, chosen, other)
    }

    /// Returns the float comparison that is folded into a selection. Returns `None` if `cond` is not a folded
    /// comparison, or if it compares another type than `ty`.
    fn folded_float_compare(&self, cond: Value, ty: Type) -> Option<(CmpOp, Value, Value)> {
        let is_folded = self.plan.folded[cond.index()] && self.regs[cond.index()].is_none();
        match self.plan.defs[cond.index()].filter(|_| is_folded).map(|inst| &inst.op) {
            Some(Op::Cmp(op, a, b)) if self.ty(*a) == ty => Some((*op, *a, *b)),
            _ => None,
        }
    }

    fn float_mask512(&mut self, cond: Value, ty: Type) -> VReg {
        let to = self.k();
        if let (Some((op, a, b)), Some(elem)) = (self.folded_float_compare(cond, ty), ty.elem()) {
            let b = self.source(b, false);
            let a = self.reg(a);
            let opcode = t::CMP_FP.of(elem, true).evex();
            self.push(InstBuilder::new(opcode).wide(wide(ty)).def(to).vvvv(a).rm(b).imm(float_predicate(op)));
            return to;
        }
        let cc = self.condition(cond);
        let bit = self.bool_of(cc);
        self.push(InstBuilder::new(t::KMOV_FROM_GPR).def(to).rm_reg(bit));
        to
    }

    fn float_mask(&mut self, cond: Value, ty: Type) -> VReg {
        if let (Some((op, a, b)), Some(elem)) = (self.folded_float_compare(cond, ty), ty.elem()) {
            // Predicates above 7 require VEX. For `FLt` and `FLe`, the low three bits are the predicate of the same
            // comparison that signals for quiet NaNs. The code exchanges the operands of `FGt` and `FGe`.
            let (op, a, b) = if matches!(op, CmpOp::FGt | CmpOp::FGe) { (exchanged(op), b, a) } else { (op, a, b) };
            let b = self.source(b, false);
            let a = self.reg(a);
            return self.v3_imm(t::CMP_FP.of(elem, true), 0, false, a, b, float_predicate(op) & 7);
        }
        let cc = self.condition(cond);
        let bit = self.bool_of(cc);
        let all = self.int();
        self.push(InstBuilder::new(t::NEG).wide(true).rm_tied(bit, all));
        let to = self.vec();
        self.push(InstBuilder::new(t::MOVD_TO).wide(true).def(to).rm_reg(all));
        to
    }
}
