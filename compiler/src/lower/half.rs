//! Conversions between the bits of halves and `float` or `double`, for devices that have no 16-bit floats or do not
//! round as required. The conversions are correctly rounded in every rounding mode (OpenCL C 6.3.1.1, 6.15.7).

use super::builder::Builder;
use super::convert::bits_type;
use crate::ir::{BinOp, CastOp, CmpOp, Scalar, Type, Value};
use crate::thir::Rounding;

/// Returns the number of mantissa bits and the exponent bias of `float` or `double`.
const fn format(scalar: Scalar) -> (u32, u32) {
    if matches!(scalar, Scalar::F64) { (52, 1023) } else { (23, 127) }
}

impl Builder {
    /// Converts the bits of halves (`i16`) to `float`. The conversion is exact, and NaNs stay NaNs.
    pub(super) fn half_bits_to_float(&mut self, half: Value) -> Value {
        let int = self.ty(half).with_scalar(Scalar::I32);
        let float = self.ty(half).with_scalar(Scalar::F32);
        let wide = self.cast(CastOp::ZExt, half, int);
        let sign = self.bin_int(BinOp::And, wide, 0x8000);
        let sign = self.bin_int(BinOp::Shl, sign, 16);
        let magnitude = self.bin_int(BinOp::And, wide, 0x7fff);
        let moved = self.bin_int(BinOp::Shl, magnitude, 13);
        // The exponent bias of `float` exceeds that of `half` by 112. For infinities and NaNs, 112 is added again, so
        // that all bits of the exponent are set.
        let normal = self.bin_int(BinOp::Add, moved, 112 << 23);
        let special = self.bin_int(BinOp::Add, moved, 224 << 23);
        // Denormals are integer multiples of 2^-24.
        let denormal = self.cast(CastOp::UToF, magnitude, float);
        let unit = self.float(float, (-24.0_f64).exp2());
        let denormal = self.bin(BinOp::FMul, denormal, unit);
        let denormal = self.bitcast(denormal, int);
        let is_special = self.cmp_int(CmpOp::UGe, magnitude, 0x7c00);
        let is_denormal = self.cmp_int(CmpOp::ULt, magnitude, 0x0400);
        let bits = self.select(is_special, special, normal);
        let bits = self.select(is_denormal, denormal, bits);
        let bits = self.bin(BinOp::Or, bits, sign);
        self.bitcast(bits, float)
    }

    /// Converts `float` or `double` to the bits of halves (`i16`), rounded once.
    pub(super) fn float_to_half_bits(&mut self, value: Value, mode: Rounding) -> Value {
        let ty = self.ty(value);
        let int = bits_type(ty);
        let scalar = ty.scalar().unwrap_or(Scalar::F32);
        let (mantissa, bias) = format(scalar);
        let (mantissa, bias) = (i64::from(mantissa), i64::from(bias));
        let width = i64::from(scalar.bits());

        let bits = self.bitcast(value, int);
        let negative = self.cmp_int(CmpOp::SLt, bits, 0);
        let mask = self.bits(int, u64::MAX >> (65 - width));
        let magnitude = self.and(bits, mask);
        let exponent = self.bin_int(BinOp::LShr, magnitude, mantissa);
        let fraction = self.bin_int(BinOp::And, magnitude, (1 << mantissa) - 1);
        let with_one = self.bin_int(BinOp::Or, fraction, 1 << mantissa);
        let is_tiny = self.cmp_int(CmpOp::Eq, exponent, 0);
        let significand = self.select(is_tiny, fraction, with_one);

        // Below the smallest normal half, the ulp of halves stays 2^-24, so more bits of the significand are dropped.
        let least = bias - 14;
        let clamped = self.bin_int(BinOp::UMax, exponent, least);
        let extra = self.sub(clamped, exponent);
        let shift = self.bin_int(BinOp::Add, extra, mantissa - 10);
        let shift = self.bin_int(BinOp::UMin, shift, mantissa + 2);
        let kept = self.bin(BinOp::LShr, significand, shift);
        let one = self.bits(int, 1);
        let unit = self.bin(BinOp::Shl, one, shift);
        let low = self.bin_int(BinOp::Sub, unit, 1);
        let lost = self.and(significand, low);
        let scaled = self.bin_int(BinOp::Sub, clamped, least);
        let scaled = self.bin_int(BinOp::Shl, scaled, 10);
        let cut = self.add(scaled, kept);

        let inexact = self.cmp_int(CmpOp::Ne, lost, 0);
        let positive = self.not(negative);
        let up = match mode {
            Rounding::Rte => {
                let middle = self.bin_int(BinOp::LShr, unit, 1);
                let above = self.cmp(CmpOp::UGt, lost, middle);
                let tie = self.cmp(CmpOp::Eq, lost, middle);
                let odd = self.bin_int(BinOp::And, kept, 1);
                let odd = self.cmp_int(CmpOp::Ne, odd, 0);
                let tie = self.and(tie, odd);
                Some(self.or(above, tie))
            }
            Rounding::Rtz => None,
            Rounding::Rtp => Some(self.and(inexact, positive)),
            Rounding::Rtn => Some(self.and(inexact, negative)),
        };
        let rounded = match up {
            Some(up) => {
                let up = self.cast(CastOp::ZExt, up, int);
                self.add(cut, up)
            }
            None => cut,
        };

        // A value that is too large for a half becomes infinity or the largest half, depending on the rounding mode.
        let (infinity, largest) = (self.bits(int, 0x7c00), self.bits(int, 0x7bff));
        let overflow = match mode {
            Rounding::Rte => infinity,
            Rounding::Rtz => largest,
            Rounding::Rtp => self.select(negative, largest, infinity),
            Rounding::Rtn => self.select(negative, infinity, largest),
        };
        let is_large = self.cmp_int(CmpOp::UGe, exponent, bias + 16);
        let result = self.select(is_large, overflow, rounded);
        let source_infinity = self.infinity_bits(ty);
        let is_infinite = self.cmp(CmpOp::Eq, magnitude, source_infinity);
        let result = self.select(is_infinite, infinity, result);
        let is_nan = self.cmp(CmpOp::UGt, magnitude, source_infinity);
        let nan = self.bits(int, 0x7e00);
        let result = self.select(is_nan, nan, result);
        let (minus, plus) = (self.bits(int, 0x8000), self.bits(int, 0));
        let sign = self.select(negative, minus, plus);
        let result = self.bin(BinOp::Or, result, sign);
        self.cast(CastOp::Trunc, result, Type::of(Scalar::I16, ty.lanes()))
    }
}
