//! Selections of vectors by a mask.

use regalloc2::VReg;

use super::super::table as t;
use super::context::Lower;
use crate::vir::Value;

impl Lower<'_> {
    pub(super) fn select_vector(&mut self, cond: Value, a: Value, b: Value) -> VReg {
        if self.sve() {
            return self.select_by_predicate(cond, a, b);
        }
        if self.splat_bits(b) == Some(0) {
            let (mask, a) = (self.reg(cond), self.reg(a));
            return self.binary(t::AND_V, false, a, mask);
        }
        if self.splat_bits(a) == Some(0) {
            let (mask, b) = (self.reg(cond), self.reg(b));
            return self.binary(t::BIC_V, false, b, mask);
        }
        let last_use = |this: &Self, value: Value| this.plan.single_block_use[value.index()];
        let (mask, yes, no) = (self.reg(cond), self.reg(a), self.reg(b));
        // The instruction overwrites an operand. Choose a value without later uses, which needs no copy.
        if !last_use(self, cond) && last_use(self, b) {
            return self.tied_binary(t::BIT, false, no, yes, mask);
        }
        if !last_use(self, cond) && last_use(self, a) {
            return self.tied_binary(t::BIF, false, yes, no, mask);
        }
        self.tied_binary(t::BSL, false, mask, yes, no)
    }
}
