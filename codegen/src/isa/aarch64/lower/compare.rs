//! Comparisons of vectors.

use regalloc2::VReg;

use super::super::regs::{INT, VEC};
use super::context::Lower;
use crate::vir::{BinOp, CmpOp, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn cmp_vector(&mut self, _op: CmpOp, _a: Value, _b: Value) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
}
