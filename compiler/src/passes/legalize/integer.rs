//! Lowers high halves of products, saturating arithmetic, and rotations.
//!
//! Example: `uadd_sat %0, %1` becomes `%2 = add %0, %1; %3 = ult %2, %0; select %3, -1, %2`.

use super::Lower;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Scalar, Value};

impl Lower<'_> {
    /// Lowers an operation of the module documentation. Returns `None` for other operations.
    pub(super) fn integer(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        let scalar = self.ty(a).scalar()?;
        let bits = scalar.bits();
        let top = u64::from(bits) - 1;
        Some(match op {
            BinOp::UMulHi => self.mul_hi(scalar, false, a, b),
            BinOp::SMulHi => self.mul_hi(scalar, true, a, b),
            BinOp::UAddSat => {
                let sum = self.bin(BinOp::Add, a, b);
                let carried = self.cmp(CmpOp::ULt, sum, a);
                let ty = self.ty(a);
                let most = self.bits(ty, u64::MAX);
                self.select(carried, most, sum)
            }
            BinOp::USubSat => {
                let difference = self.bin(BinOp::Sub, a, b);
                let borrowed = self.cmp(CmpOp::ULt, a, b);
                let ty = self.ty(a);
                let zero = self.bits(ty, 0);
                self.select(borrowed, zero, difference)
            }
            BinOp::SAddSat => {
                let sum = self.bin(BinOp::Add, a, b);
                // The sum overflows if its sign differs from the signs of both operands.
                let (x, y) = (self.bin(BinOp::Xor, a, sum), self.bin(BinOp::Xor, b, sum));
                self.saturate(x, y, a, sum, top)
            }
            BinOp::SSubSat => {
                let difference = self.bin(BinOp::Sub, a, b);
                let (x, y) = (self.bin(BinOp::Xor, a, b), self.bin(BinOp::Xor, a, difference));
                self.saturate(x, y, a, difference, top)
            }
            BinOp::Rotate => {
                let ty = self.ty(a);
                if scalar == Scalar::I64
                    && self.target.shaders.costs.funnel_shift_rotations
                    && let Some(amount) = self.known.bits(b)
                {
                    return Some(self.rotate_words(a, amount % 64));
                }
                // Shift amounts are taken modulo the width, so the right shift is by the negated amount.
                let complement = if let Some(amount) = self.known.bits(b) {
                    self.bits(ty, u64::from(bits).wrapping_sub(amount) % u64::from(bits))
                } else {
                    let zero = self.bits(ty, 0);
                    self.bin(BinOp::Sub, zero, b)
                };
                let (high, low) = (self.bin(BinOp::Shl, a, b), self.bin(BinOp::LShr, a, complement));
                self.bin(BinOp::Or, high, low)
            }
            _ => return None,
        })
    }

    /// Emits a 64-bit rotation as two funnel shifts, for which devices have an instruction. Each word of the result is
    /// the low word of a right shift of the number, or of the number with exchanged words.
    fn rotate_words(&mut self, x: Value, amount: u64) -> Value {
        let (down, up) = (self.bin_bits(BinOp::LShr, x, 32), self.bin_bits(BinOp::Shl, x, 32));
        let exchanged = self.bin(BinOp::Or, up, down);
        if amount.is_multiple_of(32) {
            return if amount == 0 { x } else { exchanged };
        }
        let (high, low) = if amount < 32 { (x, exchanged) } else { (exchanged, x) };
        let [high, low] = [high, low].map(|pair| {
            let shifted = self.bin_bits(BinOp::LShr, pair, 32 - amount % 32);
            let word = self.cast(CastOp::Trunc, shifted, Scalar::I32);
            self.cast(CastOp::ZExt, word, Scalar::I64)
        });
        let high = self.bin_bits(BinOp::Shl, high, 32);
        self.bin(BinOp::Or, high, low)
    }

    /// Emits `result`, or the limit with the sign of `a` if `x & y` is negative.
    fn saturate(&mut self, x: Value, y: Value, a: Value, result: Value, top: u64) -> Value {
        let both = self.bin(BinOp::And, x, y);
        let overflow = self.cmp_bits(CmpOp::SLt, both, 0);
        let sign = self.bin_bits(BinOp::AShr, a, top);
        let limit = self.bin_bits(BinOp::Xor, sign, (1 << top) - 1);
        self.select(overflow, limit, result)
    }

    fn mul_hi(&mut self, scalar: Scalar, signed: bool, a: Value, b: Value) -> Value {
        let wide = match scalar {
            Scalar::I8 | Scalar::I16 => Scalar::I32,
            Scalar::I32 if self.target.shaders.int64 => Scalar::I64,
            _ => return self.mul_hi_by_halves(scalar, signed, a, b),
        };
        let extend = if signed { CastOp::SExt } else { CastOp::ZExt };
        let (x, y) = (self.cast(extend, a, wide), self.cast(extend, b, wide));
        let product = self.bin(BinOp::Mul, x, y);
        let high = self.bin_bits(BinOp::LShr, product, u64::from(scalar.bits()));
        self.cast(CastOp::Trunc, high, scalar)
    }

    /// Emits the high half of a product in a type without a wider type, from products of halves.
    fn mul_hi_by_halves(&mut self, scalar: Scalar, signed: bool, a: Value, b: Value) -> Value {
        let half = u64::from(scalar.bits()) / 2;
        let ((al, ah), (bl, bh)) = (self.halves(scalar, a), self.halves(scalar, b));
        let low = self.bin(BinOp::Mul, al, bl);
        let carry = self.bin_bits(BinOp::LShr, low, half);
        // These sums do not overflow: (2^h - 1)^2 + 2 (2^h - 1) is below 2^2h.
        let cross = self.bin(BinOp::Mul, ah, bl);
        let first = self.bin(BinOp::Add, cross, carry);
        let (first_low, first_high) = self.halves(scalar, first);
        let cross = self.bin(BinOp::Mul, al, bh);
        let second = self.bin(BinOp::Add, cross, first_low);
        let second = self.bin_bits(BinOp::LShr, second, half);
        let high = self.bin(BinOp::Mul, ah, bh);
        let carries = self.bin(BinOp::Add, first_high, second);
        let sum = self.bin(BinOp::Add, high, carries);
        if !signed {
            return sum;
        }
        // As an unsigned number, a negative operand is too large by 2^bits, so the high half is too large by the other
        // operand.
        let top = u64::from(scalar.bits()) - 1;
        let correction = |l: &mut Self, sign, other| {
            let all = l.bin_bits(BinOp::AShr, sign, top);
            l.bin(BinOp::And, all, other)
        };
        let (x, y) = (correction(self, a, b), correction(self, b, a));
        let sum = self.bin(BinOp::Sub, sum, x);
        self.bin(BinOp::Sub, sum, y)
    }

    /// Returns the low and the high half of an integer. The halves of 64-bit integers are zero-extended words, because
    /// devices have an instruction for the product of two such values.
    pub(super) fn halves(&mut self, scalar: Scalar, x: Value) -> (Value, Value) {
        let half = u64::from(scalar.bits()) / 2;
        let mask = (1_u64 << half) - 1;
        if let Some(bits) = self.known.bits(x) {
            let ty = self.ty(x);
            return (self.bits(ty, bits & mask), self.bits(ty, bits >> half));
        }
        if scalar != Scalar::I64 {
            return (self.bin_bits(BinOp::And, x, mask), self.bin_bits(BinOp::LShr, x, half));
        }
        let high = self.bin_bits(BinOp::LShr, x, half);
        let [low, high] = [x, high].map(|part| {
            let word = self.cast(CastOp::Trunc, part, Scalar::I32);
            self.cast(CastOp::ZExt, word, Scalar::I64)
        });
        (low, high)
    }
}
