//! Lowers division and square root to forms for which drivers generate better code
//! ([`Costs::approximate_division`](crate::target::Costs::approximate_division),
//! [`Costs::fused_double_root`](crate::target::Costs::fused_double_root)).
//!
//! For the square root of a double, the `float` instruction computes the reciprocal root with 22 correct bits. Two
//! Newton steps give a root that is corrected by its exact remainder (Markstein, "Computation of elementary functions
//! on the IBM RISC System/6000 processor", IBM Journal of Research and Development 34, 1990). The reciprocal of the
//! root needs only one more step, because the reciprocal root is known:
//!
//! ```text
//! %1 = math.sqrt %0        =>    %1, %2 = if %usual { ...; yield %root, %reciprocal }
//! %2 = fdiv 1.0, %1                       else { math.sqrt %0; fdiv 1.0, ...; yield ... }
//! ```
//! If an intermediate result could overflow, underflow or be denormal, the driver's operations are used.

use super::Lower;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value};
use smallvec::SmallVec;

/// Values that an `if` yields: a root, and its reciprocal if needed.
type Doubles = SmallVec<[Value; 2]>;

/// The exponent bias of `double`.
const BIAS: u64 = 1023;
/// The significand bits of a double.
const FRACTION: u64 = (1 << 52) - 1;
/// The bits of 1.0.
const ONE: u64 = BIAS << 52;

impl Lower<'_> {
    /// Lowers `a / b`. Returns `None` if the driver's division is better.
    pub(super) fn float_division(&mut self, a: Value, b: Value) -> Option<Value> {
        match self.ty(a).scalar()? {
            Scalar::F32 if self.target.shaders.costs.approximate_division => self.float_quotient(a, b),
            Scalar::F64 if self.known.bits(a) == Some(ONE) => self.reciprocals.get(&b).copied(),
            _ => None,
        }
    }

    /// Whether the type is `double`, and an `fma` sequence is faster than the driver's square root.
    pub(super) fn has_fused_root(&self, value: Value) -> bool {
        self.target.shaders.costs.fused_double_root
            && self.target.language.fused_fma
            && self.target.shaders.fp64
            && self.target.shaders.int64
            && self.ty(value) == Type::Scalar(Scalar::F64)
    }

    /// Records the square roots of a region whose reciprocals the region computes.
    pub(super) fn find_reciprocals(&mut self, region: &Region) {
        for inst in &region.insts {
            if let Op::Bin(BinOp::FDiv, one, root) = inst.op
                && self.known.bits(one) == Some(ONE)
                && self.has_fused_root(root)
            {
                self.inverted.insert(root);
            }
        }
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

    /// Lowers `root = sqrt(x)` of a double. If the region of `root` computes its reciprocal, emits that too.
    pub(super) fn double_root(&mut self, root: Value, x: Value) -> Value {
        let high = self.high_word(x);
        let low_exponent = (BIAS - 120) << 20;
        let above = self.bin_bits(BinOp::Sub, high, low_exponent);
        // The difference is also large if the sign bit is set, so negative numbers are not usual.
        let is_usual = self.cmp_bits(CmpOp::ULt, above, 240 << 20);
        let inverted = self.inverted.contains(&root);
        let results = self.choose(
            is_usual,
            |lower| {
                let (root, half_inverse) = lower.newton_root(x);
                let reciprocal = inverted.then(|| lower.reciprocal_of_root(root, half_inverse));
                std::iter::once(root).chain(reciprocal).collect()
            },
            |lower| {
                let root = lower.math(MathOp::Sqrt, x);
                let reciprocal = inverted.then(|| {
                    let one = lower.double(1.0);
                    lower.bin(BinOp::FDiv, one, root)
                });
                std::iter::once(root).chain(reciprocal).collect()
            },
        );
        if let Some(&reciprocal) = results.get(1) {
            self.reciprocals.insert(root, reciprocal);
        }
        results[0]
    }

    /// Emits the correctly rounded square root of a usual double, and half of its approximate reciprocal.
    fn newton_root(&mut self, x: Value) -> (Value, Value) {
        let half = self.double(0.5);
        let narrow = self.cast(CastOp::FToF, x, Scalar::F32);
        let seed = self.math(MathOp::RSqrt, narrow);
        let inverse = self.cast(CastOp::FToF, seed, Scalar::F64);
        let mut root = self.bin(BinOp::FMul, x, inverse);
        let mut half_inverse = self.bin(BinOp::FMul, inverse, half);
        for _ in 0..2 {
            let minus_root = self.un(UnOp::FNeg, root);
            let error = self.fused(minus_root, half_inverse, half);
            root = self.fused(root, error, root);
            half_inverse = self.fused(half_inverse, error, half_inverse);
        }
        let minus_root = self.un(UnOp::FNeg, root);
        let remainder = self.fused(minus_root, root, x);
        (self.fused(remainder, half_inverse, root), half_inverse)
    }

    /// Emits the correctly rounded reciprocal of a root. A Newton step gives it, except if all bits of the root's
    /// significand are set. The reciprocal is then slightly above the middle between a power of two and the next
    /// double. The step may give the power of two. The next double differs from it in the last bit.
    fn reciprocal_of_root(&mut self, root: Value, half_inverse: Value) -> Value {
        let one = self.double(1.0);
        let inverse = self.bin(BinOp::FAdd, half_inverse, half_inverse);
        let minus_root = self.un(UnOp::FNeg, root);
        let error = self.fused(minus_root, inverse, one);
        let reciprocal = self.fused(inverse, error, inverse);
        let root_bits = self.cast(CastOp::Bitcast, root, Scalar::I64);
        let fraction = self.bin_bits(BinOp::And, root_bits, FRACTION);
        let is_full = self.cmp_bits(CmpOp::Eq, fraction, FRACTION);
        let last = self.cast(CastOp::ZExt, is_full, Scalar::I64);
        let bits = self.cast(CastOp::Bitcast, reciprocal, Scalar::I64);
        let bits = self.bin(BinOp::Or, bits, last);
        self.cast(CastOp::Bitcast, bits, Scalar::F64)
    }

    /// Emits `if condition { usual } else { other }`, which yields doubles.
    fn choose(&mut self, condition: Value, usual: impl FnOnce(&mut Self) -> Doubles, other: impl FnOnce(&mut Self) -> Doubles) -> Doubles {
        let (then, yielded) = self.yielding(usual);
        let (els, _) = self.yielding(other);
        let results: Doubles = yielded.iter().map(|_| self.function.new_value(Type::Scalar(Scalar::F64))).collect();
        let op = Op::If { cond: condition, then, els };
        self.out.push(Inst { results: results.iter().copied().collect(), op, span: self.span });
        results
    }

    /// A region that yields the values that `values` emits, and these values.
    fn yielding(&mut self, values: impl FnOnce(&mut Self) -> Doubles) -> (Region, Doubles) {
        let outer = std::mem::take(&mut self.out);
        let results = values(self);
        self.out.push(Inst::effect(Op::Yield(results.to_vec()), self.span));
        (Region { insts: std::mem::replace(&mut self.out, outer) }, results)
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
}
