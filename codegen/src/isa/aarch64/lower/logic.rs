//! Bitwise operations in vector registers.

use regalloc2::VReg;

use super::super::regs::{INT, VEC};
use super::context::Lower;
use crate::vir::{BinOp, CmpOp, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn logic(&mut self, _op: BinOp, _a: Value, _b: Value) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
}
