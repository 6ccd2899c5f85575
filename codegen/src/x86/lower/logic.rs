//! Two logical operations in one, under AVX-512: any function of three bits is one instruction.

use regalloc2::VReg;

use super::super::inst::Draft;
use super::super::table as t;
use super::{Lower, length, wide};
use crate::vir::{BinOp, Op, Type, UnOp, Value};

/// The function that is its first, second or third operand.
const LEAVES: [u8; 3] = [0xF0, 0xCC, 0xAA];

/// Whether an operation works on bits alone.
pub(super) const fn is_logic(op: &Op) -> bool {
    matches!(op, Op::Bin(BinOp::And | BinOp::Or | BinOp::Xor | BinOp::AndNot, ..) | Op::Un(UnOp::Not, _))
}

const fn combined(op: BinOp, a: u8, b: u8) -> u8 {
    match op {
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::AndNot => a & !b,
        _ => a ^ b,
    }
}

impl Lower<'_> {
    /// The operation behind an operand that was not made yet.
    fn waiting_logic(&self, value: Value) -> Option<&Op> {
        let waits = self.plan.waits[value.index()] && self.regs[value.index()].is_none();
        self.plan.defs[value.index()].filter(|_| waits).map(|inst| &inst.op).filter(|op| is_logic(op))
    }

    /// A function of bits whose operands may be one as well, as long as there are three in all.
    pub(super) fn logic(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Option<VReg> {
        let mut leaves: Vec<Value> = Vec::with_capacity(4);
        let mut table_of = |this: &Self, value: Value, room: usize| {
            let mut leaf = |value: Value| {
                let place = leaves.iter().position(|leaf| *leaf == value).unwrap_or(leaves.len());
                if place == leaves.len() {
                    leaves.push(value);
                }
                LEAVES.get(place).copied()
            };
            match this.waiting_logic(value) {
                Some(Op::Un(_, x)) => leaf(*x).map(|x| !x),
                Some(Op::Bin(op, x, y)) if room == 2 => Some(combined(*op, leaf(*x)?, leaf(*y)?)),
                _ => leaf(value),
            }
        };
        let pair = |this: &Self, value: Value| matches!(this.waiting_logic(value), Some(Op::Bin(..)));
        if self.waiting_logic(a).is_none() && self.waiting_logic(b).is_none() {
            return None;
        }
        let first_has_two = pair(self, a);
        let first = table_of(self, a, 1 + usize::from(first_has_two))?;
        let second = table_of(self, b, 2 - usize::from(first_has_two))?;
        let imm = combined(op, first, second);
        let last = leaves.last().copied()?;
        let third = (leaves.len() == 3).then(|| self.source(last, true));
        let [x, y] = [0, 1].map(|place| self.reg(leaves[place.min(leaves.len() - 1)]));
        let third = third.unwrap_or(y.into());
        let to = self.vec();
        self.push(Draft::new(t::PTERNLOG).len(length(ty)).wide(wide(ty)).tied(x, to).vvvv(y).rm(third).imm(imm));
        Some(to)
    }
}
