//! Most of the `native_` functions, whose accuracy is implementation-defined. They use polynomials in single precision.
//! The error is a few ulp, except for extreme arguments.

use smallvec::smallvec;
use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Op as VOp, Rounding, UnOp as VUn, Value as V};

use super::shape::Mode;
use super::value::Regs;
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{MathOp, Scalar};
use crate::passes::coarse_sines::{EVEN, ODD, QUARTER};

const F32: Scalar = Scalar::F32;
const I32: Scalar = Scalar::I32;

impl Vectorizer<'_> {
    /// Computes a `native_` function that uses polynomials.
    pub(super) fn native(&mut self, op: MathOp, of: Scalar, mode: Mode, args: &[&[V]]) -> Lowered<Regs> {
        if of != F32 {
            return Err(internal!("{op:?} of {of}"));
        }
        Ok(match op {
            MathOp::NativeExp2 => self.exp2(mode, args[0]),
            MathOp::NativeLog2 => self.log2(mode, args[0]),
            MathOp::NativeSin => self.sine(mode, args[0], 0),
            MathOp::NativeCos => self.sine(mode, args[0], 1),
            MathOp::NativeTan => {
                let (sine, cosine) = (self.sine(mode, args[0], 0), self.sine(mode, args[0], 1));
                self.bin_regs(VBin::FDiv, F32, mode, &sine, &cosine)
            }
            MathOp::NativePow => {
                let log = self.log2(mode, args[0]);
                let product = self.bin_regs(VBin::FMul, F32, mode, &log, args[1]);
                self.exp2(mode, &product)
            }
            _ => return Err(internal!("{op:?} of {of}")),
        })
    }

    fn float(&mut self, mode: Mode, value: f32) -> Regs {
        self.number(F32, mode, u64::from(value.to_bits()))
    }

    fn with_float(&mut self, op: VBin, mode: Mode, a: &[V], b: f32) -> Regs {
        let b = self.float(mode, b);
        self.bin_regs(op, F32, mode, a, &b)
    }

    fn as_type(&mut self, cast: VCast, to: Scalar, mode: Mode, regs: &[V]) -> Regs {
        let ty = self.shape.register(to, mode);
        self.map(ty, regs, |reg| VOp::Cast(cast, reg))
    }

    /// Evaluates a polynomial. The first coefficient is that of the highest power.
    fn polynomial(&mut self, mode: Mode, x: &[V], coefficients: &[f32]) -> Regs {
        let Some((&first, others)) = coefficients.split_first() else { return smallvec![] };
        let mut sum = self.float(mode, first);
        for &coefficient in others {
            let coefficient = self.float(mode, coefficient);
            sum = self.fused(F32, mode, &sum, x, &coefficient);
        }
        sum
    }

    /// Computes `2^x`: a polynomial for the fraction, multiplied by the power of the nearest integer. The power is
    /// split into two factors so that denormal results are correct.
    fn exp2(&mut self, mode: Mode, x: &[V]) -> Regs {
        let low = self.float(mode, -252.0);
        let high = self.float(mode, 254.0);
        // `FMax` and `FMin` return the second operand if one is NaN, so `x` is the second operand.
        let bounded = self.bin_regs(VBin::FMax, F32, mode, &low, x);
        let bounded = self.bin_regs(VBin::FMin, F32, mode, &high, &bounded);
        let whole = self.un_regs(VUn::Round(Rounding::NearestEven), F32, mode, &bounded);
        let rest = self.bin_regs(VBin::FSub, F32, mode, &bounded, &whole);
        let series = self.polynomial(
            mode,
            &rest,
            &[1.540_353e-4, 1.333_355_8e-3, 9.618_129e-3, 5.550_411e-2, 2.402_265e-1, std::f32::consts::LN_2, 1.0],
        );
        let whole = self.as_type(VCast::FToS, I32, mode, &whole);
        let half = self.bin_const(VBin::AShr, I32, mode, &whole, 1);
        let other = self.bin_regs(VBin::Sub, I32, mode, &whole, &half);
        let mut value = series;
        for power in [half, other] {
            let exponent = self.bin_const(VBin::Add, I32, mode, &power, 127);
            let bits = self.bin_const(VBin::Shl, I32, mode, &exponent, 23);
            let factor = self.as_type(VCast::Bitcast, F32, mode, &bits);
            value = self.bin_regs(VBin::FMul, F32, mode, &value, &factor);
        }
        value
    }

    /// Computes the logarithm to base 2: the exponent, plus a series in `(m - 1) / (m + 1)` for the mantissa `m`. The
    /// mantissa is scaled to be between the square roots of 0.5 and 2.
    fn log2(&mut self, mode: Mode, x: &[V]) -> Regs {
        let least = self.float(mode, f32::MIN_POSITIVE);
        let is_small = self.compare_regs(VCmp::FLt, F32, mode, x, &least);
        let scaled = self.with_float(VBin::FMul, mode, x, 8_388_608.0);
        let normal = self.select_regs(F32, mode, &is_small, &scaled, x);
        let (less, none) = (self.float(mode, -23.0), self.float(mode, 0.0));
        let correction = self.select_regs(F32, mode, &is_small, &less, &none);
        let bits = self.as_type(VCast::Bitcast, I32, mode, &normal);
        let offset = self.bin_const(VBin::Sub, I32, mode, &bits, u64::from(std::f32::consts::FRAC_1_SQRT_2.to_bits()));
        let exponent = self.bin_const(VBin::AShr, I32, mode, &offset, 23);
        let shifted = self.bin_const(VBin::Shl, I32, mode, &exponent, 23);
        let mantissa = self.bin_regs(VBin::Sub, I32, mode, &bits, &shifted);
        let mantissa = self.as_type(VCast::Bitcast, F32, mode, &mantissa);
        let exponent = self.as_type(VCast::SToF, F32, mode, &exponent);
        let exponent = self.bin_regs(VBin::FAdd, F32, mode, &exponent, &correction);
        let above = self.with_float(VBin::FSub, mode, &mantissa, 1.0);
        let below = self.with_float(VBin::FAdd, mode, &mantissa, 1.0);
        let s = self.bin_regs(VBin::FDiv, F32, mode, &above, &below);
        let square = self.bin_regs(VBin::FMul, F32, mode, &s, &s);
        let factor = 2.0 / std::f32::consts::LN_2;
        let series = self.polynomial(mode, &square, &[factor / 9.0, factor / 7.0, factor / 5.0, factor / 3.0, factor]);
        let finite = self.fused(F32, mode, &series, &s, &exponent);
        // Positive infinity and NaN are returned unchanged. The logarithm of 0 is minus infinity, and that of a
        // negative number NaN.
        let top = self.float(mode, f32::MAX);
        let is_finite = self.compare_regs(VCmp::FLe, F32, mode, x, &top);
        let value = self.select_regs(F32, mode, &is_finite, &finite, x);
        let zero = self.float(mode, 0.0);
        let is_zero = self.compare_regs(VCmp::FEq, F32, mode, x, &zero);
        let minus = self.float(mode, f32::NEG_INFINITY);
        let value = self.select_regs(F32, mode, &is_zero, &minus, &value);
        let is_negative = self.compare_regs(VCmp::FLt, F32, mode, x, &zero);
        let nan = self.float(mode, f32::NAN);
        self.select_regs(F32, mode, &is_negative, &nan, &value)
    }

    /// Computes the sine of an angle plus a number of quarter circles. Subtracts the nearest multiple of a quarter
    /// circle, and selects one of two series and a sign.
    fn sine(&mut self, mode: Mode, x: &[V], quarters: u64) -> Regs {
        let quarters_of_x = self.with_float(VBin::FMul, mode, x, std::f32::consts::FRAC_2_PI);
        let whole = self.un_regs(VUn::Round(Rounding::NearestEven), F32, mode, &quarters_of_x);
        let mut rest: Regs = x.into();
        for part in QUARTER {
            let part = self.float(mode, -part);
            rest = self.fused(F32, mode, &whole, &part, &rest);
        }
        let square = self.bin_regs(VBin::FMul, F32, mode, &rest, &rest);
        let odd = self.polynomial(mode, &square, &ODD);
        let sine = self.bin_regs(VBin::FMul, F32, mode, &odd, &rest);
        let cosine = self.polynomial(mode, &square, &EVEN);
        let quarter = self.as_type(VCast::FToS, I32, mode, &whole);
        let quarter = self.bin_const(VBin::Add, I32, mode, &quarter, quarters);
        let one = self.bin_const(VBin::And, I32, mode, &quarter, 1);
        let zero = self.number(I32, mode, 0);
        let is_odd = self.compare_regs(VCmp::Ne, I32, mode, &one, &zero);
        let value = self.select_regs(F32, mode, &is_odd, &cosine, &sine);
        let two = self.bin_const(VBin::And, I32, mode, &quarter, 2);
        let sign = self.bin_const(VBin::Shl, I32, mode, &two, 30);
        let sign = self.as_type(VCast::Bitcast, F32, mode, &sign);
        self.bin_regs(VBin::Xor, F32, mode, &value, &sign)
    }
}
