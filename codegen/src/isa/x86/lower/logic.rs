//! Combines bitwise operations with AVX-512: `vpternlog` computes any function of three bits.

use regalloc2::VReg;
use smallvec::SmallVec;

use super::super::folding::is_logic;
use super::super::inst::InstBuilder;
use super::super::table as t;
use super::context::{Lower, length, wide};
use crate::vir::{BinOp, Op, Type, Value};

/// The truth tables of the three operands of `vpternlog`.
const LEAF_TABLES: [u8; 3] = [0xF0, 0xCC, 0xAA];

const fn combined(op: BinOp, a: u8, b: u8) -> u8 {
    match op {
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::AndNot => a & !b,
        _ => a ^ b,
    }
}

impl Lower<'_> {
    /// Returns the bitwise operation that defines `value` if it is folded into its user, otherwise `None`.
    fn folded_logic(&self, value: Value) -> Option<&Op> {
        let is_folded = self.plan.folded[value.index()] && self.regs[value.index()].is_none();
        self.plan.defs[value.index()].filter(|_| is_folded).map(|inst| &inst.op).filter(|op| is_logic(op))
    }

    /// Selects one instruction for a tree of bitwise operations with at most three distinct leaves. Returns `None` if
    /// no operand is a folded bitwise operation.
    pub(super) fn logic(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Option<VReg> {
        let mut leaves = self.leaves(a, b);
        // The instruction overwrites its first operand. Choose a leaf without later uses.
        if let Some(place) = leaves.iter().position(|leaf| self.plan.single_block_use[leaf.index()] && !self.in_memory(*leaf, true)) {
            leaves.swap(0, place);
        }
        let expanded = [a, b].iter().any(|operand| self.folded_logic(*operand).is_some() && !leaves.contains(operand));
        if !expanded {
            return None;
        }
        let imm = combined(op, self.truth_table(&leaves, a), self.truth_table(&leaves, b));
        let third = leaves.get(2).map(|&last| self.source(last, true));
        let [x, y] = [0, 1].map(|place| self.reg(leaves[place.min(leaves.len() - 1)]));
        let third = third.unwrap_or(y.into());
        let to = self.vec();
        self.push(InstBuilder::new(t::PTERNLOG).len(length(ty)).wide(wide(ty)).tied(x, to).vvvv(y).rm(third).imm(imm));
        Some(to)
    }

    /// Returns the leaves of an operation, at most three. Expands all folded operations into their operands, or as many
    /// as this limit allows.
    fn leaves(&self, a: Value, b: Value) -> SmallVec<[Value; 4]> {
        let mut all = SmallVec::new();
        if self.expand(a, &mut all) && self.expand(b, &mut all) {
            return all;
        }
        let mut leaves: SmallVec<[Value; 4]> = SmallVec::from_slice(&[a]);
        if b != a {
            leaves.push(b);
        }
        let mut place = 0;
        while let Some(&value) = leaves.get(place) {
            place += 1;
            let Some(op) = self.folded_logic(value) else { continue };
            let mut fewer: SmallVec<[Value; 4]> = leaves.iter().copied().filter(|leaf| *leaf != value).collect();
            op.for_each_operand(|operand| {
                if !fewer.contains(&operand) {
                    fewer.push(operand);
                }
            });
            if fewer.len() <= LEAF_TABLES.len() {
                leaves = fewer;
                place = 0;
            }
        }
        leaves
    }

    /// Adds the leaves of a value. Returns true if there are at most three leaves in total.
    fn expand(&self, value: Value, leaves: &mut SmallVec<[Value; 4]>) -> bool {
        let Some(op) = self.folded_logic(value) else {
            if !leaves.contains(&value) {
                leaves.push(value);
            }
            return leaves.len() <= LEAF_TABLES.len();
        };
        let mut few = true;
        op.for_each_operand(|operand| few = few && self.expand(operand, leaves));
        few
    }

    /// Returns the truth table of a value as a function of the leaves.
    fn truth_table(&self, leaves: &[Value], value: Value) -> u8 {
        if let Some(place) = leaves.iter().position(|leaf| *leaf == value) {
            return LEAF_TABLES.get(place).copied().unwrap_or(0);
        }
        match self.folded_logic(value) {
            Some(&Op::Un(_, x)) => !self.truth_table(leaves, x),
            Some(&Op::Bin(op, x, y)) => combined(op, self.truth_table(leaves, x), self.truth_table(leaves, y)),
            _ => 0,
        }
    }
}
