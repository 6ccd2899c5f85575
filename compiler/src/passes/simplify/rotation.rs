//! Recognises rotations that are written as two shifts. Processors have an instruction for rotations (`rol`, `vprold`,
//! funnel shifts). Drivers recognise rotations too, but not after this pass: its rules that move constants out of sums
//! and products change the left shift.

use super::walk::Walk;
use crate::ir::{BinOp, CastOp, Op, Scalar, UnOp, Value};

/// Maximum nesting of sums in a rewritten shift.
const MAX_DEPTH: u32 = 3;

impl Walk<'_> {
    /// Returns `x` and `amount` for `x << amount | x >> width - amount`, and `None` for other operations. If the amount
    /// is constant, also accepts `+` or `^` instead of `|`. Only accepts 32 and 64 bits, because vector and GPU
    /// instructions do not rotate narrower integers.
    pub(super) fn rotation(&mut self, kind: BinOp, a: Value, b: Value, scalar: Scalar) -> Option<(Value, Value)> {
        if !matches!(kind, BinOp::Or | BinOp::Add | BinOp::Xor) || !matches!(scalar, Scalar::I32 | Scalar::I64) {
            return None;
        }
        let width = u64::from(scalar.bits());
        [(a, b), (b, a)].into_iter().find_map(|(left, right)| {
            let &Op::Bin(BinOp::LShr, x, down) = self.def(right)? else { return None };
            if let Some(down) = self.bits(down).map(|down| down % width).filter(|down| *down > 0) {
                let up = width - down;
                return self.is_shifted(left, x, up, scalar, MAX_DEPTH).then(|| (x, self.splat(self.ty(x), up)));
            }
            // If the amount is 0, both shifts return `x`. Only `x | x` is `x`; `x + x` and `x ^ x` are not.
            match *self.def(left)? {
                Op::Bin(BinOp::Shl, y, up) if x == y && kind == BinOp::Or && self.are_opposite(up, down, width) => Some((x, up)),
                _ => None,
            }
        })
    }

    /// Whether `shifted` is `x << amount`, possibly rewritten by the rules.
    fn is_shifted(&self, shifted: Value, x: Value, amount: u64, scalar: Scalar, depth: u32) -> bool {
        let width = u64::from(scalar.bits());
        let (Some(depth), Some(&Op::Bin(outer, rest, factor))) = (depth.checked_sub(1), self.def(shifted)) else { return false };
        let Some(factor) = self.bits(factor) else { return false };
        if outer == BinOp::Shl && rest == x && factor % width == amount {
            return true;
        }
        let Some(&Op::Bin(inner, y, constant)) = self.def(x) else { return false };
        let Some(constant) = self.bits(constant) else { return false };
        let is_moved = factor == constant << amount & scalar.mask();
        match (outer, inner) {
            (BinOp::Add, BinOp::Add) => is_moved && self.is_shifted(rest, y, amount, scalar, depth),
            (BinOp::Mul, BinOp::Mul) => is_moved && rest == y,
            (BinOp::Shl, BinOp::Shl) => rest == y && factor % width == constant % width + amount,
            _ => false,
        }
    }

    /// Whether the sum of two shift amounts is a multiple of the width.
    fn are_opposite(&self, one: Value, other: Value, width: u64) -> bool {
        let (one, other) = (self.without_mask(one, width), self.without_mask(other, width));
        if let (Some(&Op::Cast(CastOp::ZExt | CastOp::SExt, one)), Some(&Op::Cast(CastOp::ZExt | CastOp::SExt, other))) =
            (self.def(one), self.def(other))
        {
            return self.ty(one) == self.ty(other)
                && self.ty(one).scalar().is_some_and(|from| from.bits() >= 8)
                && self.are_opposite(one, other, width);
        }
        let is_negative = |of: Value, value: Value| match self.def(of) {
            Some(&Op::Bin(BinOp::Sub, from, subtracted)) => {
                self.without_mask(subtracted, width) == value && self.bits(from).is_some_and(|from| from.is_multiple_of(width))
            }
            Some(&Op::Un(UnOp::Neg, negated)) => self.without_mask(negated, width) == value,
            _ => false,
        };
        is_negative(one, other) || is_negative(other, one)
    }

    /// Returns the amount before an `and` with a mask that has no effect on shifts, or the amount itself.
    fn without_mask(&self, amount: Value, width: u64) -> Value {
        match self.def(amount) {
            Some(&Op::Bin(BinOp::And, inner, mask)) if self.bits(mask).is_some_and(|mask| mask & (width - 1) == width - 1) => inner,
            _ => amount,
        }
    }
}
