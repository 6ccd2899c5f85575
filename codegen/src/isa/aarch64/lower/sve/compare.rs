//! Comparisons of vectors, which write predicates.

use regalloc2::VReg;

use super::super::super::inst::{InstBuilder, Opcode};
use super::super::super::table as t;
use super::super::context::{Lower, wide};
use crate::vir::{CmpOp, Value};

impl Lower<'_> {
    /// Compares vectors of any size. The result is clear in all lanes outside of `under`.
    pub(in super::super) fn cmp_predicate(&mut self, op: CmpOp, a: Value, b: Value, under: Option<VReg>) -> VReg {
        let ty = self.ty(a);
        let double = wide(ty);
        let left = self.reg(a);
        let immediate = self.signed(b).and_then(|number| compare_imm(op, number, double));
        let right = if immediate.is_none() { Some(self.reg(b)) } else { None };
        let under = match under {
            Some(under) => under,
            None => self.governing_lanes(ty),
        };
        let Some(right) = right else {
            let (opcode, bits, number) = immediate.unwrap_or((t::CMPEQ_IMM, 0, 0));
            return self.result(InstBuilder::new(opcode).wide(double).a(under).n(left).imm(bits, number));
        };
        let (opcode, first, second) = match op {
            CmpOp::Eq => (t::CMPEQ_Z, left, right),
            CmpOp::Ne => (t::CMPNE_Z, left, right),
            CmpOp::SGt => (t::CMPGT_Z, left, right),
            CmpOp::SGe => (t::CMPGE_Z, left, right),
            CmpOp::SLt => (t::CMPGT_Z, right, left),
            CmpOp::SLe => (t::CMPGE_Z, right, left),
            CmpOp::UGt => (t::CMPHI_Z, left, right),
            CmpOp::UGe => (t::CMPHS_Z, left, right),
            CmpOp::ULt => (t::CMPHI_Z, right, left),
            CmpOp::ULe => (t::CMPHS_Z, right, left),
            CmpOp::FEq => (t::FCMEQ_Z, left, right),
            CmpOp::FNe => (t::FCMNE_Z, left, right),
            CmpOp::FGt => (t::FCMGT_Z, left, right),
            CmpOp::FGe => (t::FCMGE_Z, left, right),
            CmpOp::FLt => (t::FCMGT_Z, right, left),
            CmpOp::FLe => (t::FCMGE_Z, right, left),
        };
        self.result(InstBuilder::new(opcode).wide(double).a(under).n(first).m(second))
    }
}

/// Returns the comparison with an immediate, its encoded immediate and its number. Returns `None` if the number does
/// not fit. Signed immediates have five bits, unsigned ones seven. Floats are only compared with +0.
fn compare_imm(op: CmpOp, number: i64, double: bool) -> Option<(Opcode, u32, i64)> {
    let unsigned = if double { number.cast_unsigned() } else { u64::from(number as u32) };
    let signed = |opcode| (-16..16).contains(&number).then_some((opcode, (number as u32 & 0x1F) << 16, number));
    let unsigned = |opcode| (unsigned < 128).then_some((opcode, (unsigned as u32) << 14, number));
    let zero = |opcode| (number == 0).then_some((opcode, 0, 0));
    match op {
        CmpOp::Eq => signed(t::CMPEQ_IMM),
        CmpOp::Ne => signed(t::CMPNE_IMM),
        CmpOp::SLt => signed(t::CMPLT_IMM),
        CmpOp::SLe => signed(t::CMPLE_IMM),
        CmpOp::SGt => signed(t::CMPGT_IMM),
        CmpOp::SGe => signed(t::CMPGE_IMM),
        CmpOp::ULt => unsigned(t::CMPLO_IMM),
        CmpOp::ULe => unsigned(t::CMPLS_IMM),
        CmpOp::UGt => unsigned(t::CMPHI_IMM),
        CmpOp::UGe => unsigned(t::CMPHS_IMM),
        CmpOp::FEq => zero(t::FCMEQ_ZERO),
        CmpOp::FNe => zero(t::FCMNE_ZERO),
        CmpOp::FLt => zero(t::FCMLT_ZERO),
        CmpOp::FLe => zero(t::FCMLE_ZERO),
        CmpOp::FGt => zero(t::FCMGT_ZERO),
        CmpOp::FGe => zero(t::FCMGE_ZERO),
    }
}
