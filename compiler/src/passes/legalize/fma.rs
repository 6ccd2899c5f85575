//! Software `fma` for types without a wider type that holds the product: a function of the module, called per lane.
//!
//! The operands are scaled to near 1. The product, and its sum with the addend, are represented as sums of two floats
//! (Dekker's product, Knuth's sum). The sum of the low parts is rounded to odd (see [`super::float`]). If the result is
//! a denormal, which has fewer bits, the unrounded sum is adjusted so that the last scaling is the only rounding.

use super::{FmaHelpers, Lower};
use crate::analysis::definitions::Constants;
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Function, Inst, Op, Region, Scalar, Type, UnOp, Value};
use crate::target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

/// The parameters of a float type.
struct Format {
    float: Scalar,
    integer: Scalar,
    /// Stored bits of the significand.
    fraction: u64,
    bias: i64,
    /// If the exponents of product and addend differ by more than this, the exact difference does not matter.
    max_distance: i64,
    /// The bits of the float `2^s + 1`, where `s` is half the size of the significand. Splits a float in two.
    splitter: u64,
}

const SINGLE: Format =
    Format { float: Scalar::F32, integer: Scalar::I32, fraction: 23, bias: 127, max_distance: 56, splitter: 0x4580_0800 };
const DOUBLE: Format =
    Format { float: Scalar::F64, integer: Scalar::I64, fraction: 52, bias: 1023, max_distance: 120, splitter: 0x41a0_0000_0200_0000 };

/// Returns the function `fma(x, y, z)` of a float type, or `None` for types that do not need this function.
pub(super) fn function(scalar: Scalar, target: &Target) -> Option<Function> {
    let format = match scalar {
        Scalar::F32 => SINGLE,
        Scalar::F64 => DOUBLE,
        _ => return None,
    };
    let ty = Type::Scalar(scalar);
    let mut function = Function::new(format!("fma_{scalar}"), ty);
    function.params = (0..3).map(|_| function.new_value(ty)).collect();
    let [x, y, z] = [Value(0), Value(1), Value(2)];
    let mut lower = Lower {
        function: &mut function,
        target,
        out: Vec::new(),
        span: Span::default(),
        aliases: FxHashMap::default(),
        fma_helpers: FmaHelpers::default(),
        known: Constants::default(),
        shared_quotients: FxHashSet::default(),
        quotients: FxHashMap::default(),
        inverted: FxHashSet::default(),
        reciprocals: FxHashMap::default(),
    };
    let result = Fma { l: &mut lower, format }.emit(x, y, z);
    lower.out.push(Inst::effect(Op::Return(vec![result]), Span::default()));
    let insts = std::mem::take(&mut lower.out);
    function.body = Region { insts };
    Some(function)
}

struct Fma<'l, 'f> {
    l: &'l mut Lower<'f>,
    format: Format,
}

impl Fma<'_, '_> {
    fn integer(&self) -> Type {
        Type::Scalar(self.format.integer)
    }

    fn exponent_mask(&self) -> u64 {
        (self.format.bias as u64) * 2 + 1
    }

    fn bits_of(&mut self, x: Value) -> Value {
        self.l.cast(CastOp::Bitcast, x, self.format.integer)
    }

    fn float_of(&mut self, bits: Value) -> Value {
        self.l.cast(CastOp::Bitcast, bits, self.format.float)
    }

    /// Returns the biased exponent, as `i32`.
    fn biased_exponent(&mut self, raw: Value) -> Value {
        let high = self.l.bin_bits(BinOp::LShr, raw, self.format.fraction);
        let high = if self.format.integer == Scalar::I64 { self.l.cast(CastOp::Trunc, high, Scalar::I32) } else { high };
        self.l.bin_bits(BinOp::And, high, self.exponent_mask())
    }

    /// Returns `2^n` for an `i32` in the exponent range of normal numbers.
    fn power(&mut self, n: Value) -> Value {
        let biased = self.l.bin_bits(BinOp::Add, n, self.format.bias as u64);
        let wide = if self.format.integer == Scalar::I64 { self.l.cast(CastOp::ZExt, biased, Scalar::I64) } else { biased };
        let bits = self.l.bin_bits(BinOp::Shl, wide, self.format.fraction);
        self.float_of(bits)
    }

    /// Replaces the exponent field of the bits by the exponent of `2^n`.
    fn with_exponent(&mut self, raw: Value, n: i64) -> Value {
        let kept = self.l.bin_bits(BinOp::And, raw, !(self.exponent_mask() << self.format.fraction));
        self.l.bin_bits(BinOp::Or, kept, ((n + self.format.bias) as u64) << self.format.fraction)
    }

    /// Returns the significand, in [0.5, 1), and the exponent of a finite non-zero number.
    fn frexp(&mut self, x: Value) -> (Value, Value) {
        let raw = self.bits_of(x);
        let exponent = self.biased_exponent(raw);
        let denormal = self.l.cmp_bits(CmpOp::Eq, exponent, 0);
        let up = self.format.fraction as i64 + 2;
        let factor = ((up + self.format.bias) as u64) << self.format.fraction;
        let scaled = self.l.bin_bits(BinOp::FMul, x, factor);
        let normal = self.l.select(denormal, scaled, x);
        let raw = self.bits_of(normal);
        let exponent = self.biased_exponent(raw);
        let significand = self.with_exponent(raw, -1);
        let plain = self.l.bin_bits(BinOp::Sub, exponent, (self.format.bias - 1) as u64);
        let lower = self.l.bin_bits(BinOp::Sub, plain, up as u64);
        let exponent = self.l.select(denormal, lower, plain);
        (self.float_of(significand), exponent)
    }

    /// Splits a float into two floats whose significands have half as many bits. The sum of the two floats is exactly
    /// the original float.
    fn split(&mut self, x: Value) -> (Value, Value) {
        let c = self.l.bin_bits(BinOp::FMul, x, self.format.splitter);
        let rest = self.l.bin(BinOp::FSub, c, x);
        let high = self.l.bin(BinOp::FSub, c, rest);
        let low = self.l.bin(BinOp::FSub, x, high);
        (high, low)
    }

    /// Returns a rounded product, and its exact error.
    fn product(&mut self, a: Value, b: Value) -> (Value, Value) {
        let p = self.l.bin(BinOp::FMul, a, b);
        let ((ah, al), (bh, bl)) = (self.split(a), self.split(b));
        let hh = self.l.bin(BinOp::FMul, ah, bh);
        let mut error = self.l.bin(BinOp::FSub, hh, p);
        for (u, v) in [(ah, bl), (al, bh), (al, bl)] {
            let part = self.l.bin(BinOp::FMul, u, v);
            error = self.l.bin(BinOp::FAdd, error, part);
        }
        (p, error)
    }

    /// Returns a rounded sum, and its exact error.
    fn sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let s = self.l.bin(BinOp::FAdd, a, b);
        let b_part = self.l.bin(BinOp::FSub, s, a);
        let a_part = self.l.bin(BinOp::FSub, s, b_part);
        let (ea, eb) = (self.l.bin(BinOp::FSub, a, a_part), self.l.bin(BinOp::FSub, b, b_part));
        let error = self.l.bin(BinOp::FAdd, ea, eb);
        (s, error)
    }

    fn clamp(&mut self, n: Value, low: i64, high: i64) -> Value {
        let n = self.l.bin_bits(BinOp::SMax, n, low as u64);
        self.l.bin_bits(BinOp::SMin, n, high as u64)
    }

    fn emit(&mut self, x: Value, y: Value, z: Value) -> Value {
        let finite = self.finite(x, y, z);
        let plain_product = self.l.bin(BinOp::FMul, x, y);
        let plain = self.l.bin(BinOp::FAdd, plain_product, z);
        let infinite = |e: &mut Self, v: Value| {
            let raw = e.bits_of(v);
            let exponent = e.biased_exponent(raw);
            let mask = e.exponent_mask();
            e.l.cmp_bits(CmpOp::Eq, exponent, mask)
        };
        let zero = |e: &mut Self, v: Value| e.l.cmp_bits(CmpOp::FEq, v, 0);
        let (xi, yi, zi) = (infinite(self, x), infinite(self, y), infinite(self, z));
        let (x0, y0, z0) = (zero(self, x), zero(self, y), zero(self, z));
        // Later selections take precedence over earlier selections.
        let result = self.l.select(z0, plain_product, finite);
        let product_zero = self.l.bin(BinOp::Or, x0, y0);
        let result = self.l.select(product_zero, plain, result);
        let result = self.l.select(zi, z, result);
        let product_infinite = self.l.bin(BinOp::Or, xi, yi);
        self.l.select(product_infinite, plain, result)
    }

    /// Returns the result for finite non-zero operands.
    fn finite(&mut self, x: Value, y: Value, z: Value) -> Value {
        let ((xs, xe), (ys, ye), (zs, ze)) = (self.frexp(x), self.frexp(y), self.frexp(z));
        let max_distance = self.format.max_distance;
        let product_exponent = self.l.bin(BinOp::Add, xe, ye);
        let above = self.l.bin(BinOp::Sub, ze, product_exponent);
        // The computation is in units of 2^scale.
        let near_scale = product_exponent;
        let distant_scale = self.l.bin_bits(BinOp::Sub, ze, max_distance as u64);
        let dominated = self.l.cmp_bits(CmpOp::SGt, above, max_distance as u64);
        let scale = self.l.select(dominated, distant_scale, near_scale);
        let shift = self.clamp(above, -max_distance, max_distance);
        let factor = self.power(shift);
        let addend = self.l.bin(BinOp::FMul, zs, factor);
        let (ph, pl) = self.product(xs, ys);
        let (rh, rl) = self.sum(ph, addend);
        let integer = self.format.integer;
        let low = self.l.sum_to_odd(rl, pl, integer);
        let (hi, lo) = self.sum(rh, low);
        self.scale(hi, lo, scale)
    }

    /// Returns `(hi + lo) * 2^scale`, rounded once. `hi` is the rounded sum `hi + lo`.
    fn scale(&mut self, hi: Value, lo: Value, scale: Value) -> Value {
        let raw = self.bits_of(hi);
        let biased = self.biased_exponent(raw);
        let unbiased = self.l.bin_bits(BinOp::Sub, biased, self.format.bias as u64);
        let exponent = self.l.bin(BinOp::Add, unbiased, scale);
        // The number of bits by which a denormal result is shorter than `hi`.
        let least = self.l.bits(Type::I32, (1 - self.format.bias) as u64);
        let lost = self.l.bin(BinOp::Sub, least, exponent);
        let denormal = self.l.cmp_bits(CmpOp::SGt, lost, 0);
        let one_lost = self.l.cmp_bits(CmpOp::Eq, lost, 1);
        let last = self.l.bin_bits(BinOp::And, raw, 1);
        let odd = self.l.cmp_bits(CmpOp::Ne, last, 0);
        // If two or more bits are lost, `hi` must be odd. If one bit is lost, an odd `hi` would be a tie, although `lo`
        // is not zero, so `hi` must be even.
        let is_correct = self.l.bin(BinOp::Xor, one_lost, odd);
        let is_wrong = self.l.push(Type::BOOL, Op::Un(UnOp::Not, is_correct));
        let inexact = {
            let (below, above) = (self.l.cmp_bits(CmpOp::FLt, lo, 0), self.l.cmp_bits(CmpOp::FGt, lo, 0));
            self.l.bin(BinOp::Or, below, above)
        };
        let adjust = self.l.bin(BinOp::And, denormal, inexact);
        let adjust = self.l.bin(BinOp::And, adjust, is_wrong);
        let lo_raw = self.bits_of(lo);
        let differ = self.l.bin(BinOp::Xor, raw, lo_raw);
        let opposite = self.l.cmp_bits(CmpOp::SLt, differ, 0);
        let integer = self.integer();
        let (up, down, none) = (self.l.bits(integer, 1), self.l.bits(integer, u64::MAX), self.l.bits(integer, 0));
        let step = self.l.select(opposite, down, up);
        let step = self.l.select(adjust, step, none);
        let raw = self.l.bin(BinOp::Add, raw, step);
        // The adjustment may have changed the exponent.
        let biased = self.biased_exponent(raw);
        let unbiased = self.l.bin_bits(BinOp::Sub, biased, self.format.bias as u64);
        let exponent = self.l.bin(BinOp::Add, unbiased, scale);
        let significand = self.with_exponent(raw, 0);
        let significand = self.float_of(significand);
        // Scales in two steps. Only the second step can round or overflow.
        let limit = 2 * self.format.bias - 4;
        let exponent = self.clamp(exponent, -limit, limit);
        let first = self.l.bin_bits(BinOp::AShr, exponent, 1);
        let second = self.l.bin(BinOp::Sub, exponent, first);
        let (first, second) = (self.power(first), self.power(second));
        let scaled = self.l.bin(BinOp::FMul, significand, first);
        let scaled = self.l.bin(BinOp::FMul, scaled, second);
        let nothing = self.l.cmp_bits(CmpOp::FEq, hi, 0);
        self.l.select(nothing, hi, scaled)
    }
}
