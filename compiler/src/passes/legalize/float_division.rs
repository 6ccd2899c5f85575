//! Lowers division and square root to forms for which drivers generate better code
//! ([`Costs::approximate_division`](crate::target::Costs::approximate_division),
//! [`Costs::fused_double_division`](crate::target::Costs::fused_double_division)).
//!
//! For doubles, the `float` instruction computes a reciprocal with 22 correct bits. Two Newton steps give the correctly
//! rounded reciprocal, except if all bits of the divisor's significand are set. The quotient is then corrected by its
//! exact remainder (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", IBM Journal
//! of Research and Development 34, 1990). The square root is computed in the same way. If an intermediate result could
//! overflow, underflow or be denormal, the driver's operation is used.

use super::Lower;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value};

/// The exponent bias of `double`.
const BIAS: u64 = 1023;
/// The significand bits of a double's high word.
const HIGH_FRACTION: u64 = 0xf_ffff;

impl Lower<'_> {
    /// Lowers `a / b`. Returns `None` if the driver's division is better.
    pub(super) fn float_division(&mut self, a: Value, b: Value) -> Option<Value> {
        match self.ty(a).scalar()? {
            Scalar::F32 if self.target.shaders.costs.approximate_division => self.float_quotient(a, b),
            Scalar::F64 if self.has_fused_doubles(a) => Some(self.double_quotient(a, b)),
            _ => None,
        }
    }

    /// Whether the type is `double`, and `fma` sequences are faster than the driver's division and square root.
    pub(super) fn has_fused_doubles(&self, value: Value) -> bool {
        self.target.shaders.costs.fused_double_division
            && self.target.language.fused_fma
            && self.target.shaders.fp64
            && self.target.shaders.int64
            && self.ty(value) == Type::Scalar(Scalar::F64)
    }

    /// Lowers a quotient of floats. The driver multiplies by the reciprocal. For divisors above 2^126, the reciprocal
    /// is a denormal, which the device treats as zero. If the divisor is at least 2^126, both operands are therefore
    /// scaled. Returns `None` if the divisor is known to be smaller.
    fn float_quotient(&mut self, a: Value, b: Value) -> Option<Value> {
        const LARGE: u64 = 0x7e80_0000;
        let ty = self.ty(b);
        if self.known.bits(b).is_some_and(|bits| bits & 0x7fff_ffff < LARGE) {
            return None;
        }
        let bits = self.cast(CastOp::Bitcast, b, Scalar::I32);
        let magnitude = self.bin_bits(BinOp::And, bits, 0x7fff_ffff);
        let is_large = self.cmp_bits(CmpOp::UGe, magnitude, LARGE);
        let (sixteenth, one) = (self.bits(ty, 0x3d80_0000), self.bits(ty, 0x3f80_0000));
        let scale = self.select(is_large, sixteenth, one);
        let (a, b) = (self.bin(BinOp::FMul, a, scale), self.bin(BinOp::FMul, b, scale));
        Some(self.bin(BinOp::FDiv, a, b))
    }

    fn double_quotient(&mut self, a: Value, b: Value) -> Value {
        let (a_high, b_high) = (self.high_word(a), self.high_word(b));
        let a_near = self.has_exponent_within(a_high, 800);
        let b_near = self.has_exponent_within(b_high, 120);
        let b_fraction = self.bin_bits(BinOp::And, b_high, HIGH_FRACTION);
        let b_rounds = self.cmp_bits(CmpOp::Ne, b_fraction, HIGH_FRACTION);
        let near = self.bin(BinOp::And, a_near, b_near);
        let is_usual = self.bin(BinOp::And, near, b_rounds);
        self.choose(
            is_usual,
            |lower| {
                let one = lower.double(1.0);
                let narrow = lower.cast(CastOp::FToF, b, Scalar::F32);
                let narrow_one = lower.bits(Type::Scalar(Scalar::F32), 0x3f80_0000);
                let seed = lower.bin(BinOp::FDiv, narrow_one, narrow);
                let mut reciprocal = lower.cast(CastOp::FToF, seed, Scalar::F64);
                let minus_b = lower.un(UnOp::FNeg, b);
                for _ in 0..2 {
                    let error = lower.fused(minus_b, reciprocal, one);
                    reciprocal = lower.fused(reciprocal, error, reciprocal);
                }
                let quotient = lower.bin(BinOp::FMul, a, reciprocal);
                let remainder = lower.fused(minus_b, quotient, a);
                lower.fused(remainder, reciprocal, quotient)
            },
            |lower| lower.bin(BinOp::FDiv, a, b),
        )
    }

    /// Emits the square root of a double.
    pub(super) fn double_root(&mut self, x: Value) -> Value {
        let high = self.high_word(x);
        let low_exponent = (BIAS - 120) << 20;
        let above = self.bin_bits(BinOp::Sub, high, low_exponent);
        // The difference is also large if the sign bit is set, so negative numbers are not usual.
        let is_usual = self.cmp_bits(CmpOp::ULt, above, 240 << 20);
        self.choose(
            is_usual,
            |lower| {
                let half = lower.double(0.5);
                let narrow = lower.cast(CastOp::FToF, x, Scalar::F32);
                let seed = lower.math(MathOp::RSqrt, narrow);
                let inverse = lower.cast(CastOp::FToF, seed, Scalar::F64);
                let mut root = lower.bin(BinOp::FMul, x, inverse);
                let mut half_inverse = lower.bin(BinOp::FMul, inverse, half);
                for _ in 0..2 {
                    let minus_root = lower.un(UnOp::FNeg, root);
                    let error = lower.fused(minus_root, half_inverse, half);
                    root = lower.fused(root, error, root);
                    half_inverse = lower.fused(half_inverse, error, half_inverse);
                }
                let minus_root = lower.un(UnOp::FNeg, root);
                let remainder = lower.fused(minus_root, root, x);
                lower.fused(remainder, half_inverse, root)
            },
            |lower| lower.math(MathOp::Sqrt, x),
        )
    }

    /// Emits `if condition { usual } else { other }`, which yields a double.
    fn choose(&mut self, condition: Value, usual: impl FnOnce(&mut Self) -> Value, other: impl FnOnce(&mut Self) -> Value) -> Value {
        let then = self.yielding(usual);
        let els = self.yielding(other);
        self.push(Type::Scalar(Scalar::F64), Op::If { cond: condition, then, els })
    }

    /// Builds a region that yields the value that `value` emits.
    fn yielding(&mut self, value: impl FnOnce(&mut Self) -> Value) -> Region {
        let outer = std::mem::take(&mut self.out);
        let result = value(self);
        self.out.push(Inst::effect(Op::Yield(vec![result]), self.span));
        Region { insts: std::mem::replace(&mut self.out, outer) }
    }

    fn fused(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.push(Type::Scalar(Scalar::F64), Op::Math(MathOp::Fma, vec![a, b, c]))
    }

    fn double(&mut self, value: f64) -> Value {
        self.bits(Type::Scalar(Scalar::F64), value.to_bits())
    }

    fn high_word(&mut self, x: Value) -> Value {
        let bits = self.cast(CastOp::Bitcast, x, Scalar::I64);
        let high = self.bin_bits(BinOp::LShr, bits, 32);
        self.cast(CastOp::Trunc, high, Scalar::I32)
    }

    /// Whether a double with this high word has an exponent from `-limit` to `limit - 1`.
    fn has_exponent_within(&mut self, high: Value, limit: u64) -> Value {
        let exponent = self.bin_bits(BinOp::And, high, 0x7ff0_0000);
        let above = self.bin_bits(BinOp::Sub, exponent, (BIAS - limit) << 20);
        self.cmp_bits(CmpOp::ULt, above, (2 * limit) << 20)
    }
}
