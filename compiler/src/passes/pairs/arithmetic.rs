//! Arithmetic of 64-bit integers as pairs of 32-bit words (low, high).
//!
//! Example: the low word of a sum is `add a.low, b.low`, and its carry is `ult low, a.low`.

use super::{Pair, Pairs};
use crate::ir::{BinOp, Build, CastOp, CmpOp, MathOp, Op, Scalar, Type, UnOp, Value};
use crate::passes::PassError;

const BITS: u32 = 32;

impl Pairs<'_> {
    pub(super) fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Result<Pair, PassError> {
        let (x, y) = (self.pair(a)?, self.pair(b)?);
        Ok(match op {
            BinOp::And | BinOp::Or | BinOp::Xor => (self.bin(op, x.0, y.0), self.bin(op, x.1, y.1)),
            BinOp::Add => self.sum(x, y),
            BinOp::Sub => self.difference(x, y),
            BinOp::Mul => self.product(x, y),
            BinOp::Shl => self.shift_left(x, y.0),
            BinOp::LShr | BinOp::AShr => self.shift_right(op, x, y.0),
            BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => self.emit_division(op, x, y)?,
            BinOp::SMin | BinOp::UMin | BinOp::SMax | BinOp::UMax => {
                let below = if matches!(op, BinOp::SMin | BinOp::SMax) { CmpOp::SLt } else { CmpOp::ULt };
                let less = self.emit_less(below, x, y);
                if matches!(op, BinOp::SMin | BinOp::UMin) { self.select_pair(less, x, y) } else { self.select_pair(less, y, x) }
            }
            _ => return Err(self.unsupported(&format!("the operation `{}` on 64-bit integers", op.name()))),
        })
    }

    fn is_zero(&self, word: Value) -> bool {
        self.known.get(&word) == Some(&0)
    }

    /// Emits 1 if a condition is true, and 0 otherwise.
    fn bool_to_word(&mut self, condition: Value) -> Value {
        self.cast(CastOp::ZExt, condition, Scalar::I32)
    }

    pub(super) fn sum(&mut self, a: Pair, b: Pair) -> Pair {
        let low = self.bin(BinOp::Add, a.0, b.0);
        let high = self.bin(BinOp::Add, a.1, b.1);
        if self.is_zero(a.0) || self.is_zero(b.0) {
            return (low, high);
        }
        let carried = self.cmp(CmpOp::ULt, low, a.0);
        let carry = self.bool_to_word(carried);
        (low, self.bin(BinOp::Add, high, carry))
    }

    pub(super) fn difference(&mut self, a: Pair, b: Pair) -> Pair {
        let low = self.bin(BinOp::Sub, a.0, b.0);
        let high = self.bin(BinOp::Sub, a.1, b.1);
        if self.is_zero(b.0) {
            return (low, high);
        }
        let borrowed = self.cmp(CmpOp::ULt, a.0, b.0);
        let borrow = self.bool_to_word(borrowed);
        (low, self.bin(BinOp::Sub, high, borrow))
    }

    pub(super) fn negate(&mut self, a: Pair) -> Pair {
        let ty = self.type_of(a.0);
        let zero = self.bits(ty, 0);
        self.difference((zero, zero), a)
    }

    pub(super) fn product(&mut self, a: Pair, b: Pair) -> Pair {
        let low = self.bin(BinOp::Mul, a.0, b.0);
        let mut high = self.product_high(a.0, b.0);
        for (x, y) in [(a.0, b.1), (a.1, b.0)] {
            if !self.is_zero(x) && !self.is_zero(y) {
                let cross = self.bin(BinOp::Mul, x, y);
                high = self.bin(BinOp::Add, high, cross);
            }
        }
        (low, high)
    }

    /// Emits the high word of the product of two words, from products of halves.
    fn product_high(&mut self, a: Value, b: Value) -> Value {
        if self.is_zero(a) || self.is_zero(b) {
            let ty = self.type_of(a);
            return self.bits(ty, 0);
        }
        let half = |pairs: &mut Self, word: Value| (pairs.bin_bits(BinOp::And, word, 0xffff), pairs.bin_bits(BinOp::LShr, word, 16));
        let ((al, ah), (bl, bh)) = (half(self, a), half(self, b));
        let low = self.bin(BinOp::Mul, al, bl);
        let carry = self.bin_bits(BinOp::LShr, low, 16);
        // These sums do not overflow: (2^16 - 1)^2 + 2 (2^16 - 1) is below 2^32.
        let cross = self.bin(BinOp::Mul, ah, bl);
        let first = self.bin(BinOp::Add, cross, carry);
        let (first_low, first_high) = half(self, first);
        let cross = self.bin(BinOp::Mul, al, bh);
        let second = self.bin(BinOp::Add, cross, first_low);
        let second = self.bin_bits(BinOp::LShr, second, 16);
        let high = self.bin(BinOp::Mul, ah, bh);
        let carries = self.bin(BinOp::Add, first_high, second);
        self.bin(BinOp::Add, high, carries)
    }

    /// Shifts left by the low six bits of `amount`.
    pub(super) fn shift_left(&mut self, a: Pair, amount: Value) -> Pair {
        let ty = self.type_of(a.0);
        if let Some(&amount) = self.known.get(&amount) {
            let amount = amount % (2 * BITS);
            if amount == 0 {
                return a;
            }
            if amount >= BITS {
                let high = if amount == BITS { a.0 } else { self.bin_bits(BinOp::Shl, a.0, u64::from(amount - BITS)) };
                return (self.bits(ty, 0), high);
            }
            let low = self.bin_bits(BinOp::Shl, a.0, amount.into());
            let (high, over) = (self.bin_bits(BinOp::Shl, a.1, amount.into()), self.bin_bits(BinOp::LShr, a.0, u64::from(BITS - amount)));
            return (low, self.bin(BinOp::Or, high, over));
        }
        let (is_at_least_32, complement) = self.amounts(amount);
        let low = self.bin(BinOp::Shl, a.0, amount);
        let high = self.bin(BinOp::Shl, a.1, amount);
        let over = self.bin_bits(BinOp::LShr, a.0, 1);
        let over = self.bin(BinOp::LShr, over, complement);
        let below_32 = self.bin(BinOp::Or, high, over);
        let zero = self.bits(ty, 0);
        (self.select(is_at_least_32, zero, low), self.select(is_at_least_32, low, below_32))
    }

    /// Shifts right by the low six bits of `amount`. `LShr` shifts in zeros, `AShr` shifts in sign bits.
    pub(super) fn shift_right(&mut self, op: BinOp, a: Pair, amount: Value) -> Pair {
        let ty = self.type_of(a.0);
        let fill = if op == BinOp::AShr { self.bin_bits(BinOp::AShr, a.1, 31) } else { self.bits(ty, 0) };
        if let Some(&amount) = self.known.get(&amount) {
            let amount = amount % (2 * BITS);
            if amount == 0 {
                return a;
            }
            if amount >= BITS {
                let low = if amount == BITS { a.1 } else { self.bin_bits(op, a.1, u64::from(amount - BITS)) };
                return (low, fill);
            }
            let high = self.bin_bits(op, a.1, amount.into());
            let (low, over) = (self.bin_bits(BinOp::LShr, a.0, amount.into()), self.bin_bits(BinOp::Shl, a.1, u64::from(BITS - amount)));
            return (self.bin(BinOp::Or, low, over), high);
        }
        let (is_at_least_32, complement) = self.amounts(amount);
        let high = self.bin(op, a.1, amount);
        let low = self.bin(BinOp::LShr, a.0, amount);
        let over = self.bin_bits(BinOp::Shl, a.1, 1);
        let over = self.bin(BinOp::Shl, over, complement);
        let below_32 = self.bin(BinOp::Or, low, over);
        (self.select(is_at_least_32, high, below_32), self.select(is_at_least_32, fill, high))
    }

    /// Emits two values. The first is true if an amount modulo 64 is at least 32. The second is a shift amount: 31
    /// minus the amount, modulo 32.
    fn amounts(&mut self, amount: Value) -> (Value, Value) {
        let bit = self.bin_bits(BinOp::And, amount, BITS.into());
        let is_at_least_32 = self.cmp_bits(CmpOp::Ne, bit, 0);
        (is_at_least_32, self.bin_bits(BinOp::Xor, amount, 31))
    }

    /// Emits `a < b`. `op` is `SLt` or `ULt`.
    pub(super) fn emit_less(&mut self, op: CmpOp, a: Pair, b: Pair) -> Value {
        let high_less = self.cmp(op, a.1, b.1);
        if self.is_zero(b.0) {
            return high_less;
        }
        let same = self.cmp(CmpOp::Eq, a.1, b.1);
        let low_less = self.cmp(CmpOp::ULt, a.0, b.0);
        let low_less = self.bin(BinOp::And, same, low_less);
        self.bin(BinOp::Or, high_less, low_less)
    }

    pub(super) fn emit_comparison(&mut self, op: CmpOp, a: Value, b: Value) -> Result<Op, PassError> {
        let (x, y) = (self.pair(a)?, self.pair(b)?);
        let strict = |op| if matches!(op, CmpOp::SLt | CmpOp::SLe | CmpOp::SGt | CmpOp::SGe) { CmpOp::SLt } else { CmpOp::ULt };
        Ok(match op {
            CmpOp::Eq | CmpOp::Ne => {
                let (low, high) = (self.bin(BinOp::Xor, x.0, y.0), self.bin(BinOp::Xor, x.1, y.1));
                let different = self.bin(BinOp::Or, low, high);
                let ty = self.type_of(different);
                Op::Cmp(op, different, self.bits(ty, 0))
            }
            CmpOp::ULt | CmpOp::SLt | CmpOp::UGt | CmpOp::SGt => {
                let (x, y) = if matches!(op, CmpOp::ULt | CmpOp::SLt) { (x, y) } else { (y, x) };
                if self.is_zero(y.0) {
                    return Ok(Op::Cmp(strict(op), x.1, y.1));
                }
                let high_less = self.cmp(strict(op), x.1, y.1);
                let same = self.cmp(CmpOp::Eq, x.1, y.1);
                let low_less = self.cmp(CmpOp::ULt, x.0, y.0);
                Op::Bin(BinOp::Or, high_less, self.bin(BinOp::And, same, low_less))
            }
            CmpOp::ULe | CmpOp::SLe => Op::Un(UnOp::Not, self.emit_less(strict(op), y, x)),
            CmpOp::UGe | CmpOp::SGe => Op::Un(UnOp::Not, self.emit_less(strict(op), x, y)),
            _ => return Err(self.unsupported(&format!("the comparison `{}` of 64-bit integers", op.name()))),
        })
    }

    /// Emits the number of leading zeros of a pair, which is 64 for zero.
    pub(super) fn leading_zeros(&mut self, a: Pair) -> Value {
        let (low, high) = (self.math(MathOp::Clz, a.0), self.math(MathOp::Clz, a.1));
        let below = self.bin_bits(BinOp::Add, low, BITS.into());
        let empty = self.cmp_bits(CmpOp::Eq, a.1, 0);
        self.select(empty, below, high)
    }

    /// Emits the sign of a pair, in every bit of a word.
    pub(super) fn sign(&mut self, a: Pair) -> Value {
        self.bin_bits(BinOp::AShr, a.1, 31)
    }

    /// Emits the pair, or its negation if `sign` has all bits set.
    pub(super) fn with_sign(&mut self, a: Pair, sign: Value) -> Pair {
        let flipped = (self.bin(BinOp::Xor, a.0, sign), self.bin(BinOp::Xor, a.1, sign));
        self.difference(flipped, (sign, sign))
    }

    /// Emits a constant with the given bits in each lane, and as many lanes as `value`.
    pub(super) fn word_like(&mut self, value: Value, bits: u32) -> Value {
        let ty: Type = self.type_of(value).with_scalar(Scalar::I32);
        self.bits(ty, bits.into())
    }
}
