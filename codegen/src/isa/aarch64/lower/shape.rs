//! Splats, and single lanes.

use regalloc2::VReg;

use super::super::regs::{INT, VEC};
use super::context::Lower;
use crate::vir::{BinOp, CmpOp, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn splat(&mut self, _a: Value, _ty: Type) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn extract(&mut self, _a: Value, _lane: u8, _ty: Type) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
}
