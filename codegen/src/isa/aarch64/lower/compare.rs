//! Comparisons of vectors.

use regalloc2::VReg;

use super::super::table as t;
use super::context::{Lower, wide};
use crate::vir::{CmpOp, Value};

/// Returns the comparison that holds if and only if `op` does not. Returns `None` for ordered comparisons of floats,
/// because both `a < b` and `a >= b` are false for NaNs.
pub(super) const fn inverse(op: CmpOp) -> Option<CmpOp> {
    match op {
        CmpOp::Eq => Some(CmpOp::Ne),
        CmpOp::Ne => Some(CmpOp::Eq),
        CmpOp::SLt => Some(CmpOp::SGe),
        CmpOp::SLe => Some(CmpOp::SGt),
        CmpOp::SGt => Some(CmpOp::SLe),
        CmpOp::SGe => Some(CmpOp::SLt),
        CmpOp::ULt => Some(CmpOp::UGe),
        CmpOp::ULe => Some(CmpOp::UGt),
        CmpOp::UGt => Some(CmpOp::ULe),
        CmpOp::UGe => Some(CmpOp::ULt),
        CmpOp::FEq => Some(CmpOp::FNe),
        CmpOp::FNe => Some(CmpOp::FEq),
        CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe => None,
    }
}

impl Lower<'_> {
    pub(super) fn cmp_vector(&mut self, op: CmpOp, a: Value, b: Value) -> VReg {
        if self.sve() {
            return self.cmp_predicate(op, a, b, None);
        }
        let double = wide(self.ty(a));
        let left = self.reg(a);
        if let Some(mask) = self.cmp_zero(op, left, b, double) {
            return mask;
        }
        let right = self.reg(b);
        let (opcode, first, second) = match op {
            CmpOp::Eq | CmpOp::Ne => (t::CMEQ, left, right),
            CmpOp::SGt => (t::CMGT, left, right),
            CmpOp::SGe => (t::CMGE, left, right),
            CmpOp::SLt => (t::CMGT, right, left),
            CmpOp::SLe => (t::CMGE, right, left),
            CmpOp::UGt => (t::CMHI, left, right),
            CmpOp::UGe => (t::CMHS, left, right),
            CmpOp::ULt => (t::CMHI, right, left),
            CmpOp::ULe => (t::CMHS, right, left),
            CmpOp::FEq | CmpOp::FNe => (t::FCMEQ, left, right),
            CmpOp::FGt => (t::FCMGT, left, right),
            CmpOp::FGe => (t::FCMGE, left, right),
            CmpOp::FLt => (t::FCMGT, right, left),
            CmpOp::FLe => (t::FCMGE, right, left),
        };
        let mask = self.binary(opcode, double, first, second);
        if matches!(op, CmpOp::Ne | CmpOp::FNe) { self.unary(t::NOT_V, false, mask) } else { mask }
    }

    /// Compares integers with 0. Returns `None` if `b` is not 0, or no instruction compares with 0 by `op`.
    fn cmp_zero(&mut self, op: CmpOp, a: VReg, b: Value, double: bool) -> Option<VReg> {
        if self.splat_bits(b) != Some(0) {
            return None;
        }
        let opcode = match op {
            CmpOp::Eq => t::CMEQ_ZERO,
            CmpOp::SGt => t::CMGT_ZERO,
            CmpOp::SGe => t::CMGE_ZERO,
            CmpOp::SLt => t::CMLT_ZERO,
            CmpOp::SLe => t::CMLE_ZERO,
            // `cmtst` of a value with itself sets the lanes in which any bit is set.
            CmpOp::Ne => return Some(self.binary(t::CMTST, double, a, a)),
            _ => return None,
        };
        Some(self.unary(opcode, double, a))
    }

    /// Complements a mask. If `a` is a folded comparison that has an inverse, selects the inverse comparison.
    pub(super) fn mask_not(&mut self, a: Value) -> VReg {
        if let Some((op, left, right)) = self.folded_compare(a)
            && let Some(op) = inverse(op)
        {
            return self.cmp_vector(op, left, right);
        }
        if self.sve() {
            return self.predicate_not(a);
        }
        let mask = self.reg(a);
        self.unary(t::NOT_V, false, mask)
    }
}
