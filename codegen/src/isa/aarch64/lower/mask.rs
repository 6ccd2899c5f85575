//! Masks: vectors whose lanes are all ones or zeros.

use regalloc2::VReg;

use super::super::regs::{INT, VEC};
use super::context::Lower;
use crate::vir::{BinOp, CmpOp, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn mask_not(&mut self, _a: Value) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn mask_part(&mut self, _a: Value, _part: u8) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn mask_join(&mut self, _list: &[Value]) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn mask_bits(&mut self, _a: Value) -> VReg {
        self.unsupported("a mask operation".to_owned(), INT)
    }
    pub(super) fn mask_of(&mut self, _a: Value, _ty: Type) -> VReg {
        self.unsupported("a vector operation".to_owned(), VEC)
    }
    pub(super) fn any(&mut self, _mask: VReg) -> VReg {
        self.unsupported("a mask operation".to_owned(), INT)
    }
    pub(super) fn all(&mut self, _mask: VReg) -> VReg {
        self.unsupported("a mask operation".to_owned(), INT)
    }
}
