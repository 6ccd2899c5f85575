//! Lowers bit counts, bit reversal and `abs`. For bit counts and reversal, narrow types are extended to 32 bits, and
//! 64-bit integers are split into words.
//!
//! Example: `popcount i16 %0` becomes `popcount i32 (zext %0)`.

use super::Lower;
use crate::ir::{BinOp, Build, CastOp, CmpOp, MathOp, Scalar, Value};

impl Lower<'_> {
    /// Returns the replacement of an integer `math` operation, or `None` if the operation is not lowered.
    pub(super) fn bit_function(&mut self, op: MathOp, a: Value) -> Option<Value> {
        let scalar = self.ty(a).scalar()?;
        match op {
            MathOp::SAbs => {
                let ty = self.ty(a);
                let zero = self.bits(ty, 0);
                let negative = self.bin(BinOp::Sub, zero, a);
                // The smallest value does not change, which is correct because the result is unsigned.
                Some(self.bin(BinOp::SMax, a, negative))
            }
            MathOp::Clz | MathOp::Ctz | MathOp::Popcount | MathOp::ReverseBits => match scalar {
                Scalar::I8 | Scalar::I16 => Some(self.narrow_bits(op, scalar, a)),
                Scalar::I64 => Some(self.wide_bits(op, a)),
                _ => None,
            },
            _ => None,
        }
    }

    fn narrow_bits(&mut self, op: MathOp, scalar: Scalar, a: Value) -> Value {
        let missing = u64::from(32 - scalar.bits());
        let mut word = self.cast(CastOp::ZExt, a, Scalar::I32);
        if op == MathOp::Ctz {
            // A set bit above the value limits the count to the width of the type.
            word = self.bin_bits(BinOp::Or, word, 1 << scalar.bits());
        }
        let counted = self.math(op, word);
        let result = match op {
            MathOp::Clz => self.bin_bits(BinOp::Sub, counted, missing),
            MathOp::ReverseBits => self.bin_bits(BinOp::LShr, counted, missing),
            _ => counted,
        };
        self.cast(CastOp::Trunc, result, scalar)
    }

    fn wide_bits(&mut self, op: MathOp, a: Value) -> Value {
        let low = self.cast(CastOp::Trunc, a, Scalar::I32);
        let shifted = self.bin_bits(BinOp::LShr, a, 32);
        let high = self.cast(CastOp::Trunc, shifted, Scalar::I32);
        let (of_low, of_high) = (self.math(op, low), self.math(op, high));
        let result = match op {
            MathOp::Popcount => self.bin(BinOp::Add, of_low, of_high),
            MathOp::ReverseBits => {
                let (top, bottom) = (self.cast(CastOp::ZExt, of_low, Scalar::I64), self.cast(CastOp::ZExt, of_high, Scalar::I64));
                let top = self.bin_bits(BinOp::Shl, top, 32);
                return self.bin(BinOp::Or, top, bottom);
            }
            _ => {
                let (first, of_first, of_second) = if op == MathOp::Clz { (high, of_high, of_low) } else { (low, of_low, of_high) };
                let found = self.cmp_bits(CmpOp::Ne, first, 0);
                let beyond = self.bin_bits(BinOp::Add, of_second, 32);
                self.select(found, of_first, beyond)
            }
        };
        self.cast(CastOp::ZExt, result, Scalar::I64)
    }
}
