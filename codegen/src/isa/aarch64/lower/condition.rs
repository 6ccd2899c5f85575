//! Comparisons and selections of scalars.

use regalloc2::VReg;

use super::super::inst::{Cc, InstBuilder};
use super::super::table as t;
use super::context::{Lower, is_float_scalar, wide};
use super::immediates::arithmetic_imm;
use crate::vir::{CmpOp, Op, Type, Value};

/// Returns the condition code of a scalar comparison. The codes are chosen so that only "not equal" holds if an operand
/// is a NaN.
const fn condition(op: CmpOp) -> Cc {
    match op {
        CmpOp::Eq | CmpOp::FEq => Cc::Equal,
        CmpOp::Ne | CmpOp::FNe => Cc::NotEqual,
        CmpOp::SLt => Cc::Less,
        CmpOp::SLe => Cc::LessEqual,
        CmpOp::SGt | CmpOp::FGt => Cc::Greater,
        CmpOp::SGe | CmpOp::FGe => Cc::GreaterEqual,
        CmpOp::ULt => Cc::Below,
        CmpOp::ULe | CmpOp::FLe => Cc::BelowEqual,
        CmpOp::UGt => Cc::Above,
        CmpOp::UGe => Cc::AboveEqual,
        CmpOp::FLt => Cc::Minus,
    }
}

impl Lower<'_> {
    /// Compares two scalars. Returns the condition that holds if and only if the comparison holds.
    pub(super) fn flags(&mut self, op: CmpOp, a: Value, b: Value) -> Cc {
        let ty = self.ty(a);
        let left = self.reg(a);
        if is_float_scalar(ty) {
            // For `b` = +0, the form of `fcmp` with the immediate 0 needs no register.
            let builder = if self.splat_bits(b) == Some(0) {
                InstBuilder::new(t::FCMP_ZERO).n(left)
            } else {
                let right = self.reg(b);
                InstBuilder::new(t::FCMP).n(left).m(right)
            };
            self.push(builder.wide(wide(ty)));
            return condition(op);
        }
        let builder = match self.signed(b).and_then(|number| Some((number, arithmetic_imm(number.unsigned_abs())?))) {
            Some((number, (imm, shifted))) => {
                let opcode = if number < 0 { t::CMN_IMM } else { t::CMP_IMM };
                let builder = InstBuilder::new(opcode).n(left).imm(imm << 10, imm.into());
                if shifted { builder.imm2(1 << 22, 12) } else { builder }
            }
            None => {
                let right = self.reg(b);
                InstBuilder::new(t::CMP).n(left).m(right)
            }
        };
        self.push(builder.wide(wide(ty)));
        condition(op)
    }

    /// Returns the operator and operands of a folded comparison, or `None` if `value` is not a folded comparison.
    pub(super) fn folded_compare(&self, value: Value) -> Option<(CmpOp, Value, Value)> {
        if !self.plan.folded[value.index()] {
            return None;
        }
        match self.plan.defs[value.index()]?.op {
            Op::Cmp(op, a, b) => Some((op, a, b)),
            _ => None,
        }
    }

    pub(super) fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> VReg {
        if !matches!(self.ty(a), Type::Scalar(_)) {
            return self.cmp_vector(op, a, b);
        }
        let cc = self.flags(op, a, b);
        self.result(InstBuilder::new(t::CSET).imm((cc.inverted() as u32) << 12, cc as i64))
    }

    pub(super) fn select(&mut self, cond: Value, a: Value, b: Value, ty: Type) -> VReg {
        if !matches!(ty, Type::Scalar(_)) {
            return self.select_vector(cond, a, b);
        }
        let (yes, no) = (self.reg(a), self.reg(b));
        let cc = match self.folded_compare(cond) {
            Some((op, a, b)) => self.flags(op, a, b),
            None => {
                let cond = self.reg(cond);
                self.push(InstBuilder::new(t::CMP_IMM).n(cond));
                Cc::NotEqual
            }
        };
        let opcode = if is_float_scalar(ty) { t::FCSEL } else { t::CSEL };
        self.result(InstBuilder::new(opcode).wide(wide(ty)).n(yes).m(no).condition(cc))
    }
}
