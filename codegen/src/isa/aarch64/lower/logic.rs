//! Bitwise operations on vectors, masks and scalar floats.

use regalloc2::VReg;

use super::super::regs::VEC;
use super::super::table as t;
use super::context::Lower;
use crate::vir::{BinOp, Op, Value};

impl Lower<'_> {
    pub(super) fn logic(&mut self, op: BinOp, a: Value, b: Value) -> VReg {
        // `a & !(a & !c)` is `a & c`.
        if op == BinOp::AndNot
            && let Some(Op::Bin(BinOp::AndNot, of, c)) = self.plan.defs[b.index()].map(|inst| &inst.op)
            && *of == a
        {
            let (a, c) = (self.reg(a), self.reg(*c));
            return self.binary(t::AND_V, false, a, c);
        }
        let (a, b) = (self.reg(a), self.reg(b));
        let opcode = match op {
            BinOp::And => t::AND_V,
            BinOp::Or => t::ORR_V,
            BinOp::Xor => t::EOR_V,
            BinOp::AndNot => t::BIC_V,
            op => return self.unsupported(format!("{op:?} as a bitwise operation"), VEC),
        };
        self.binary(opcode, false, a, b)
    }
}
