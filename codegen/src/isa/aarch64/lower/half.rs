//! Conversions from and to `half`. Armv8.0 has instructions for these conversions.

use regalloc2::VReg;

use super::super::table as t;
use super::context::Lower;
use crate::vir::{Type, Value};

impl Lower<'_> {
    pub(super) fn half_to_float(&mut self, a: Value, ty: Type) -> VReg {
        let a = self.reg(a);
        if let Type::Scalar(_) = ty {
            let half = self.move_to_float(false, a);
            return self.unary(t::FCVT_H_TO_S, false, half);
        }
        if self.sve() {
            return self.z_unary(t::FCVT_Z_H_TO_S, false, a);
        }
        let halves = self.packed_words(a);
        self.unary(t::FCVTL_4S, false, halves)
    }

    pub(super) fn float_to_half(&mut self, a: Value, ty: Type) -> VReg {
        let a = self.reg(a);
        if let Type::Scalar(_) = ty {
            // `fcvt` clears the upper bits of the register, so the moved half is zero-extended.
            let half = self.unary(t::FCVT_S_TO_H, false, a);
            return self.move_to_general(false, half);
        }
        if self.sve() {
            return self.z_unary(t::FCVT_Z_S_TO_H, false, a);
        }
        let halves = self.unary(t::FCVTN_4H, false, a);
        let all = self.unary(t::UXTL_4S, false, halves);
        self.packed.insert(all, halves);
        all
    }
}
