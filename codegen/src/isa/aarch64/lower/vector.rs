//! Arithmetic on vectors.

use regalloc2::VReg;

use super::super::regs::{INT, VEC};
use super::context::Lower;
use crate::vir::{BinOp, CmpOp, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn vector_un(&mut self, _op: UnOp, _a: Value, _ty: Type) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn vector_bin(&mut self, _op: BinOp, _a: Value, _b: Value, _ty: Type) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn vector_tern(&mut self, _op: TernOp, _abc: [Value; 3], _ty: Type) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
}
