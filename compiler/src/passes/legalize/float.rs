//! Lowers float operations that devices compute incorrectly: `fma` that is not fused, `rsqrt` of doubles and halves,
//! `trunc` and `rint` of doubles, and conversions from `double` to `half`.
//!
//! `fma` is emulated in the next wider type, in which the product is exact. The sum is rounded to odd: if it is
//! inexact, its last bit is set. Rounding this sum to the requested type gives the result of a single
//! rounding (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
//! odd", IEEE Transactions on Computers 57, 2008). This requires that the significand of the wider type has at least
//! two bits more than that of the requested type. Without a wider type, [`super::fma`] is used.

use super::Lower;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Func, MathOp, Op, Scalar, Type, Value};

impl Lower<'_> {
    /// Lowers `fma`. Returns `None` if the device has a fused `fma`.
    pub(super) fn fma(&mut self, a: Value, b: Value, c: Value) -> Option<Value> {
        let scalar = self.ty(a).scalar()?;
        if self.target.language.fused_fma {
            return None;
        }
        // A product with zero is exact, so no fused operation is needed.
        let sign = 1 << (scalar.bits() - 1);
        if [a, b].iter().any(|factor| self.known.bits(*factor).is_some_and(|bits| bits & !sign == 0)) {
            let product = self.bin(BinOp::FMul, a, b);
            return Some(self.bin(BinOp::FAdd, product, c));
        }
        let (wide, integer) = match scalar {
            Scalar::F16 => (Scalar::F32, Scalar::I32),
            Scalar::F32 if self.target.shaders.fp64 && self.target.shaders.int64 => (Scalar::F64, Scalar::I64),
            Scalar::F32 => return self.fma_calls(self.fma_helpers.float, a, b, c),
            _ => return self.fma_calls(self.fma_helpers.double, a, b, c),
        };
        let [x, y, z] = [a, b, c].map(|value| self.cast(CastOp::FToF, value, wide));
        let product = self.bin(BinOp::FMul, x, y);
        let sum = self.sum_to_odd(product, z, integer);
        Some(self.cast(CastOp::FToF, sum, scalar))
    }

    /// Lowers `rsqrt` of doubles and halves. Returns `None` for other types. NVIDIA's `rsqrt` of doubles only checks
    /// the high word, and treats a NaN with its payload in the low word as infinity. lavapipe's `rsqrt` of halves has
    /// an error of 1.33 ulp, but the specification allows only 1 ulp.
    pub(super) fn reciprocal_sqrt(&mut self, x: Value) -> Option<Value> {
        match self.ty(x).scalar()? {
            Scalar::F64 => {}
            Scalar::F16 => {
                let wide = self.cast(CastOp::FToF, x, Scalar::F32);
                let root = self.push(self.ty(wide), Op::Math(MathOp::RSqrt, vec![wide]));
                return Some(self.cast(CastOp::FToF, root, Scalar::F16));
            }
            _ => return None,
        }
        let root = self.push(self.ty(x), Op::Math(MathOp::RSqrt, vec![x]));
        let nan = self.cmp(CmpOp::FNe, x, x);
        Some(self.select(nan, x, root))
    }

    /// Whether a value is a double, and the driver rounds doubles to integers incorrectly.
    pub(super) fn must_round_double(&self, x: Value) -> bool {
        self.target.shaders.defects.rounding_of_doubles && self.ty(x).scalar() == Some(Scalar::F64)
    }

    /// Computes `trunc` or `rint` of doubles with `floor`. For `rint`, a remainder above 0.5 rounds up, and a remainder
    /// of 0.5 rounds to even. The result has the sign of the operand, even if it is zero.
    pub(super) fn round_double(&mut self, op: MathOp, x: Value) -> Value {
        const SIGN: u64 = 1 << 63;
        let ty = self.ty(x);
        let bits = self.cast(CastOp::Bitcast, x, Scalar::I64);
        let sign = self.bin_bits(BinOp::And, bits, SIGN);
        let magnitude = self.bin_bits(BinOp::And, bits, !SIGN);
        let magnitude = self.cast(CastOp::Bitcast, magnitude, Scalar::F64);
        let mut rounded = self.push(ty, Op::Math(MathOp::Floor, vec![magnitude]));
        if op == MathOp::Rint {
            let (half, one) = (self.bits(ty, 0.5_f64.to_bits()), self.bits(ty, 1.0_f64.to_bits()));
            let remainder = self.bin(BinOp::FSub, magnitude, rounded);
            let halves = self.bin(BinOp::FMul, rounded, half);
            let whole = self.push(ty, Op::Math(MathOp::Floor, vec![halves]));
            let is_odd = self.cmp(CmpOp::FNe, halves, whole);
            let is_half = self.cmp(CmpOp::FEq, remainder, half);
            let is_tie = self.bin(BinOp::And, is_odd, is_half);
            let is_more = self.cmp(CmpOp::FGt, remainder, half);
            let rounds_up = self.bin(BinOp::Or, is_tie, is_more);
            let next = self.bin(BinOp::FAdd, rounded, one);
            rounded = self.select(rounds_up, next, rounded);
        }
        let rounded = self.cast(CastOp::Bitcast, rounded, Scalar::I64);
        let rounded = self.bin(BinOp::Or, rounded, sign);
        self.cast(CastOp::Bitcast, rounded, Scalar::F64)
    }

    /// Calls a helper (software `fma` in the same type) for each lane. Returns `None` if there is no helper.
    fn fma_calls(&mut self, helper: Option<Func>, a: Value, b: Value, c: Value) -> Option<Value> {
        let function = helper?;
        let ty = self.ty(a);
        let one = Type::Scalar(ty.scalar()?);
        if ty.lanes() == 1 {
            return Some(self.push(ty, Op::Call(function, vec![a, b, c])));
        }
        let lanes = (0..ty.lanes())
            .map(|lane| {
                let args = [a, b, c].map(|value| self.push(one, Op::Extract(value, lane)));
                self.push(one, Op::Call(function, args.to_vec()))
            })
            .collect();
        Some(self.push(ty, Op::Construct(lanes)))
    }

    /// Emits `a + b` rounded to odd.
    pub(super) fn sum_to_odd(&mut self, a: Value, b: Value, integer: Scalar) -> Value {
        let float = self.ty(a);
        let sum = self.bin(BinOp::FAdd, a, b);
        // The exact error of the sum (Knuth's TwoSum).
        let b_part = self.bin(BinOp::FSub, sum, a);
        let a_part = self.bin(BinOp::FSub, sum, b_part);
        let (a_error, b_error) = (self.bin(BinOp::FSub, a, a_part), self.bin(BinOp::FSub, b, b_part));
        let error = self.bin(BinOp::FAdd, a_error, b_error);
        let zero = self.bits(float, 0);
        // The error of an infinite sum is NaN. Comparisons with it are false, so an infinite sum does not change.
        let (below, above) = (self.cmp(CmpOp::FLt, error, zero), self.cmp(CmpOp::FGt, error, zero));
        self.nearest_to_odd(sum, below, above, integer)
    }

    /// Converts a double to a half. Drivers convert through `float` and round twice. Here, the first rounding is to
    /// odd.
    pub(super) fn double_to_half(&mut self, x: Value) -> Value {
        let nearest = self.cast(CastOp::FToF, x, Scalar::F32);
        let back = self.cast(CastOp::FToF, nearest, Scalar::F64);
        let (below, above) = (self.cmp(CmpOp::FLt, x, back), self.cmp(CmpOp::FGt, x, back));
        let odd = self.nearest_to_odd(nearest, below, above, Scalar::I32);
        self.cast(CastOp::FToF, odd, Scalar::F16)
    }

    /// Corrects a number that was rounded to nearest to the number rounded to odd. `below` and `above` are true if the
    /// exact value is below or above `nearest`.
    fn nearest_to_odd(&mut self, nearest: Value, below: Value, above: Value, integer: Scalar) -> Value {
        let float = self.ty(nearest);
        let inexact = self.bin(BinOp::Or, below, above);
        let bits = self.cast(CastOp::Bitcast, nearest, integer);
        let last = self.bin_bits(BinOp::And, bits, 1);
        let even = self.cmp_bits(CmpOp::Eq, last, 0);
        let adjust = self.bin(BinOp::And, inexact, even);
        let negative = self.cmp_bits(CmpOp::SLt, bits, 0);
        // Step towards the exact value: away from zero if the error has the sign of the sum.
        let inwards = self.bin(BinOp::Xor, negative, below);
        let integers = self.ty(bits);
        let (up, down) = (self.bits(integers, 1), self.bits(integers, u64::MAX));
        let step = self.select(inwards, down, up);
        let none = self.bits(integers, 0);
        let step = self.select(adjust, step, none);
        let bits = self.bin(BinOp::Add, bits, step);
        let Some(scalar) = float.scalar() else { return bits };
        self.cast(CastOp::Bitcast, bits, scalar)
    }
}
