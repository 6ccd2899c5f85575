//! Selections of vectors by a mask.

use regalloc2::VReg;

use super::super::regs::{INT, VEC};
use super::context::Lower;
use crate::vir::{BinOp, CmpOp, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn select_vector(&mut self, _cond: Value, _a: Value, _b: Value) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
}
