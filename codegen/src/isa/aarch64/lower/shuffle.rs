//! Shuffles.

use regalloc2::VReg;

use super::super::regs::{INT, VEC};
use super::context::Lower;
use crate::vir::{BinOp, CmpOp, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn shuffle(&mut self, _a: Value, _b: Value, _lanes: &[u8], _ty: Type) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn permute(&mut self, _a: Value, _index: Value) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
}
