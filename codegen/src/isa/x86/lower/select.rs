//! Selections of vectors by a mask. With AVX-512, the operation that computes the first value can run under the mask.

use regalloc2::VReg;

use super::super::inst::InstBuilder;
use super::super::table as t;
use super::context::{Lower, length, wide};
use super::float::{fma_offset, form};
use crate::vir::{Elem, Op, Type, Value};

/// The opcode offset of the FMA form that overwrites the addend.
const ACCUMULATING: u8 = 32;

impl Lower<'_> {
    pub(super) fn select_vector(&mut self, cond: Value, a: Value, b: Value, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        if !self.avx512() {
            return self.blend_or_clear(cond, a, b, len);
        }
        let Some(elem) = ty.elem() else { return self.undefined(ty) };
        if let Some(merged) = self.masked_operation(cond, a, b, ty) {
            return merged;
        }
        if self.splat_bits(b) == Some(0) {
            let a = self.source(a, false);
            let (mask, to) = (self.reg(cond), self.vec());
            self.push(InstBuilder::new(t::MOVU.of(elem, false)).len(len).wide(wide).def(to).rm_reg(a).mask(mask, true));
            return to;
        }
        let opcode = if elem.is_float() { t::BLENDM_FP } else { t::BLENDM };
        let a = self.source(a, true);
        let (b, mask, to) = (self.reg(b), self.reg(cond), self.vec());
        self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).vvvv(b).rm(a).mask(mask, false));
        to
    }

    /// Selects with AVX2. If one of the two values is zero, the selection is an AND or ANDN.
    fn blend_or_clear(&mut self, cond: Value, a: Value, b: Value, len: u8) -> VReg {
        if self.splat_bits(b) == Some(0) {
            let a = self.source(a, false);
            let mask = self.reg(cond);
            return self.v3(t::AND_FP, len, false, mask, a);
        }
        if self.splat_bits(a) == Some(0) {
            let b = self.source(b, false);
            let mask = self.reg(cond);
            return self.v3(t::ANDN_FP, len, false, mask, b);
        }
        let a = self.source(a, false);
        let (b, mask) = (self.reg(b), self.reg(cond));
        self.blend(len, mask, a, b)
    }

    /// Computes the first value under the mask, if it is a folded operation with a masked form. Otherwise returns
    /// `None`.
    fn masked_operation(&mut self, cond: Value, a: Value, b: Value, ty: Type) -> Option<VReg> {
        let is_folded = self.plan.folded[a.index()] && self.regs[a.index()].is_none();
        let inst = self.plan.defs[a.index()].filter(|_| is_folded)?;
        let to = self.vec();
        let (len, wide) = (length(ty), wide(ty));
        let builder = match inst.op {
            Op::Tern(op, x, y, _) => {
                let (x, y) = if self.in_memory(x, true) { (y, x) } else { (x, y) };
                let y = self.source(y, true);
                let (x, b, mask) = (self.reg(x), self.reg(b), self.reg(cond));
                InstBuilder::new(form(t::FMA, fma_offset(op) + ACCUMULATING, false)).tied(b, to).vvvv(x).rm(y).mask(mask, false)
            }
            Op::Bin(op, x, y) => {
                let float = ty.elem().is_some_and(Elem::is_float);
                let (opcode, x, y) = if float { self.float_parts(op, x, y, ty)? } else { self.int_parts(op, x, y, ty)? };
                let mask = self.reg(cond);
                let builder = InstBuilder::new(opcode);
                if self.splat_bits(b) == Some(0) {
                    builder.def(to).vvvv(x).rm(y).mask(mask, true)
                } else {
                    let b = self.reg(b);
                    builder.tied(b, to).vvvv(x).rm(y).mask(mask, false)
                }
            }
            _ => return None,
        };
        self.push(builder.len(len).wide(wide));
        Some(to)
    }
}
