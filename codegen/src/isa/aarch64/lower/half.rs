//! Conversions from and to `half`. Armv8.0 has instructions for these conversions.
//!
//! Advanced SIMD converts four packed halves, which paired loads and stores access. SVE converts the halves in the
//! lower part of 32-bit lanes. With SVE, a vector of 16 bytes uses the packed halves if all its lanes are accessed.

use regalloc2::VReg;
use rustc_hash::FxHashSet;

use super::super::table as t;
use super::context::{Lower, bytes};
use crate::vir::{Function, Op, Type, UnOp, Value};

/// Returns the values that a function converts from half.
pub(super) fn converted(function: &Function) -> FxHashSet<Value> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let operand = |op: &Op| if let Op::Un(UnOp::HalfToFloat, a) = op { Some(*a) } else { None };
    insts.filter_map(|inst| operand(&inst.op)).collect()
}

impl Lower<'_> {
    pub(super) fn half_to_float(&mut self, a: Value, ty: Type) -> VReg {
        let a = self.reg(a);
        if let Type::Scalar(_) = ty {
            let half = self.move_to_float(false, a);
            return self.unary(t::FCVT_H_TO_S, false, half);
        }
        if self.sve() && !self.packed.contains_key(&a) {
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
            let all = self.z_unary(t::FCVT_Z_S_TO_H, false, a);
            if bytes(ty) == 16 {
                // A store of all lanes uses the packed halves. Otherwise, this instruction is removed.
                let halves = self.unary(t::FCVTN_4H, false, a);
                self.packed.insert(all, halves);
            }
            return all;
        }
        let halves = self.unary(t::FCVTN_4H, false, a);
        let all = self.unary(t::UXTL_4S, false, halves);
        self.packed.insert(all, halves);
        all
    }
}
