//! Conversions of arithmetic values (OpenCL C 6.4).

use super::builder::Builder;
use super::types::{ArithType, scalar};
use crate::ast::ScalarKind;
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar, Type, UnOp, Value};
use crate::thir::Rounding;

/// Returns the number of explicit mantissa bits of a float type, and the bits of its largest finite number.
const fn float_format(scalar: Scalar) -> (u32, u64) {
    match scalar {
        Scalar::F16 => (10, 0x7bff),
        Scalar::F32 => (23, 0x7f7f_ffff),
        _ => (52, 0x7fef_ffff_ffff_ffff),
    }
}

/// Returns 2 to the power of `exponent`.
fn power(exponent: u32) -> f64 {
    f64::from(exponent).exp2()
}

/// Returns the integer type with the width and lane count of a float type.
pub(super) fn bits_type(ty: Type) -> Type {
    let int = ty.scalar().and_then(|s| Scalar::int_of_size(s.size())).unwrap_or(Scalar::I32);
    ty.with_scalar(int)
}

impl Builder {
    /// Converts as C does. A conversion to `bool` compares with zero. A conversion to an integer truncates. A
    /// conversion to a float rounds to nearest even.
    pub(super) fn convert(&mut self, value: Value, from: ArithType, to: ArithType) -> Value {
        if from.kind == to.kind {
            return value;
        }
        let ty = self.ty(value).with_scalar(scalar(to.kind));
        if to.kind == ScalarKind::Bool {
            let zero = self.bits(self.ty(value), 0);
            return self.cmp(if from.is_float() { CmpOp::FNe } else { CmpOp::Ne }, value, zero);
        }
        match (from.is_float(), to.is_float()) {
            (true, true) => self.cast(CastOp::FToF, value, ty),
            (true, false) => {
                self.conversion_check(value, scalar(to.kind), to.is_signed());
                self.cast(if to.is_signed() { CastOp::FToS } else { CastOp::FToU }, value, ty)
            }
            (false, true) if from.kind == ScalarKind::Bool => {
                let (one, zero) = (self.float(ty, 1.0), self.bits(ty, 0));
                self.select(value, one, zero)
            }
            (false, true) => self.int_to_float(value, from.is_signed(), ty),
            (false, false) => self.resize(value, from.is_signed(), ty),
        }
    }

    fn int_to_float(&mut self, value: Value, signed: bool, ty: Type) -> Value {
        if let (Some(bits), Some(from), Some(to)) = (self.known(value), self.ty(value).scalar(), ty.scalar())
            && bits <= u64::from(u16::MAX >> 5)
            && from.bits() > 11
            && to.is_float()
        {
            // An integer of at most eleven bits is exact in every float type, so the conversion can be folded.
            #[allow(clippy::cast_precision_loss, reason = "at most eleven bits")]
            return self.float(ty, bits as f64);
        }
        self.cast(if signed { CastOp::SToF } else { CastOp::UToF }, value, ty)
    }

    /// Lowers a conversion function, `convert_T[_sat][_rounding]`.
    pub(super) fn convert_with(
        &mut self,
        value: Value,
        from: ArithType,
        to: ArithType,
        saturate: bool,
        rounding: Option<Rounding>,
    ) -> Value {
        match (from.is_float(), to.is_float()) {
            (false, false) => {
                let value = if saturate { self.clamp_int(value, from, to) } else { value };
                self.convert(value, from, to)
            }
            (true, false) => self.float_to_int(value, to, saturate, rounding),
            (false, true) => match rounding {
                None | Some(Rounding::Rte) => self.convert(value, from, to),
                Some(mode) => self.int_to_float_directed(value, from, to, mode),
            },
            (true, true) => match rounding {
                None | Some(Rounding::Rte) => self.convert(value, from, to),
                Some(mode) => self.narrow_float(value, to, mode),
            },
        }
    }

    /// Clamps an integer to the range of another integer type. The type of the value does not change.
    fn clamp_int(&mut self, value: Value, from: ArithType, to: ArithType) -> Value {
        if from.kind == ScalarKind::Bool || to.kind == ScalarKind::Bool {
            return value;
        }
        let ((from_min, from_max), (to_min, to_max)) = (range(from), range(to));
        let ty = self.ty(value);
        let mut value = value;
        if to_min > from_min {
            let limit = self.bits(ty, int_bits(to_min));
            value = self.bin(BinOp::SMax, value, limit);
        }
        if to_max < from_max {
            let limit = self.bits(ty, int_bits(to_max));
            value = self.bin(if from.is_signed() { BinOp::SMin } else { BinOp::UMin }, value, limit);
        }
        value
    }

    fn float_to_int(&mut self, value: Value, to: ArithType, saturate: bool, rounding: Option<Rounding>) -> Value {
        let rounded = match rounding {
            None | Some(Rounding::Rtz) => value,
            Some(Rounding::Rte) => self.math(MathOp::Rint, &[value]),
            Some(Rounding::Rtp) => self.math(MathOp::Ceil, &[value]),
            Some(Rounding::Rtn) => self.math(MathOp::Floor, &[value]),
        };
        let float = self.ty(value);
        let ty = float.with_scalar(scalar(to.kind));
        if !saturate {
            self.conversion_check(rounded, scalar(to.kind), to.is_signed());
        }
        let cast = self.cast(if to.is_signed() { CastOp::FToS } else { CastOp::FToU }, rounded, ty);
        if !saturate {
            return cast;
        }
        // Each limit is zero or a power of two. The float type represents it exactly, or as infinity if it is too
        // large. No finite value reaches an infinite limit, so the comparisons are correct in both cases.
        let (min, max) = range(to);
        let width = scalar(to.kind).bits();
        let above = self.float(float, power(if to.is_signed() { width - 1 } else { width }));
        let below = if to.is_signed() { self.float(float, -power(width - 1)) } else { self.bits(float, 0) };
        let (least, most) = (self.bits(ty, int_bits(min)), self.bits(ty, int_bits(max)));
        let is_above = self.cmp(CmpOp::FGe, rounded, above);
        let is_below = self.cmp(CmpOp::FLe, rounded, below);
        let result = self.select(is_above, most, cast);
        let result = self.select(is_below, least, result);
        let (nan, zero) = (self.is_nan(value), self.bits(ty, 0));
        self.select(nan, zero, result)
    }

    /// Converts an integer to a float, rounded toward zero, up or down. The magnitude is truncated to the bits that fit
    /// the mantissa, so that its conversion is exact. If the direction and the lost bits require it, the result is the
    /// next float away from zero.
    fn int_to_float_directed(&mut self, value: Value, from: ArithType, to: ArithType, mode: Rounding) -> Value {
        let (mantissa, _) = float_format(scalar(to.kind));
        let int = self.ty(value);
        let width = int.scalar().map_or(32, Scalar::bits);
        if width <= mantissa || from.kind == ScalarKind::Bool {
            return self.convert(value, from, to);
        }
        let ty = int.with_scalar(scalar(to.kind));
        let bits = bits_type(ty);
        let zero = self.bits(int, 0);
        let negative = from.is_signed().then(|| self.cmp(CmpOp::SLt, value, zero));
        let magnitude = match negative {
            Some(negative) => {
                let minus = self.un(UnOp::Neg, value);
                self.select(negative, minus, value)
            }
            None => value,
        };
        let leading = self.math(MathOp::Clz, &[magnitude]);
        let excess = self.int(int, i64::from(width - mantissa - 1));
        let drop = self.sub(excess, leading);
        let drop = self.bin_int(BinOp::SMax, drop, 0);
        let one = self.bits(int, 1);
        let unit = self.bin(BinOp::Shl, one, drop);
        let mask = self.bin_int(BinOp::Sub, unit, 1);
        let mask = self.not(mask);
        let mut cut = self.and(magnitude, mask);
        if to.kind == ScalarKind::Half && (width > 16 || !from.is_signed()) {
            // Values above 65504, the largest half, are clamped to 65504.
            cut = self.bin_int(BinOp::UMin, cut, 65504);
        }
        let inexact = self.cmp(CmpOp::Ne, magnitude, cut);
        let float = self.cast(CastOp::UToF, cut, ty);
        let float = self.bitcast(float, bits);
        let away = match (mode, negative) {
            (Rounding::Rtp, None) => Some(inexact),
            (Rounding::Rtp, Some(negative)) => {
                let positive = self.not(negative);
                Some(self.and(inexact, positive))
            }
            (Rounding::Rtn, Some(negative)) => Some(self.and(inexact, negative)),
            _ => None,
        };
        let mut result = float;
        if let Some(away) = away {
            let increment = self.cast(CastOp::ZExt, away, bits);
            result = self.add(result, increment);
        }
        if let Some(negative) = negative {
            let sign = self.sign_mask(bits);
            let minus = self.bin(BinOp::Or, result, sign);
            result = self.select(negative, minus, result);
        }
        self.bitcast(result, ty)
    }

    /// Converts a float to a narrower float, rounded toward zero, up or down. First rounds to nearest. If this result
    /// is on the wrong side of the value, returns its neighbour on the other side.
    pub(super) fn narrow_float(&mut self, value: Value, to: ArithType, mode: Rounding) -> Value {
        let wide = self.ty(value);
        let ty = wide.with_scalar(scalar(to.kind));
        if wide.scalar().map_or(0, Scalar::bits) <= scalar(to.kind).bits() {
            return self.cast(CastOp::FToF, value, ty);
        }
        if (wide.scalar(), to.kind) == (Some(Scalar::F32), ScalarKind::Half) {
            // Converts with integer operations, because NVIDIA's driver removes a conversion to half and back.
            let bits = self.float_to_half_bits(value, mode);
            return self.bitcast(bits, ty);
        }
        let nearest = self.cast(CastOp::FToF, value, ty);
        let back = self.cast(CastOp::FToF, nearest, wide);
        let bits_ty = bits_type(ty);
        let bits = self.bitcast(nearest, bits_ty);
        let sign = self.sign_mask(bits_ty);
        let negative = self.cmp_int(CmpOp::SLt, bits, 0);
        let magnitude = self.not(sign);
        let magnitude = self.and(bits, magnitude);
        let is_zero = self.cmp_int(CmpOp::Eq, magnitude, 0);
        let (up_from_zero, down_from_zero) = (self.bits(bits_ty, 1), self.bin_int(BinOp::Or, sign, 1));
        let larger = self.bin_int(BinOp::Add, bits, 1);
        let smaller = self.bin_int(BinOp::Sub, bits, 1);
        let result = match mode {
            Rounding::Rtz => {
                let (a, b) = (self.math(MathOp::FAbs, &[back]), self.math(MathOp::FAbs, &[value]));
                let wrong = self.cmp(CmpOp::FGt, a, b);
                self.select(wrong, smaller, bits)
            }
            Rounding::Rtp => {
                let wrong = self.cmp(CmpOp::FLt, back, value);
                let next = self.select(negative, smaller, larger);
                let next = self.select(is_zero, up_from_zero, next);
                self.select(wrong, next, bits)
            }
            Rounding::Rtn => {
                let wrong = self.cmp(CmpOp::FGt, back, value);
                let next = self.select(negative, larger, smaller);
                let next = self.select(is_zero, down_from_zero, next);
                self.select(wrong, next, bits)
            }
            Rounding::Rte => bits,
        };
        self.bitcast(result, ty)
    }

    /// Lowers `as_T`: reinterprets the bits of a value as another type of the same size. A vector of three lanes has
    /// the size of four lanes.
    pub(super) fn reinterpret(&mut self, value: Value, to: Type) -> Value {
        let from = self.ty(value);
        if from == to {
            return value;
        }
        if let (Type::Ptr(_), _) | (_, Type::Ptr(_)) = (from, to) {
            return match (from, to) {
                (Type::Ptr(_), Type::Ptr(_)) => self.cast(CastOp::SpaceCast, value, to),
                (Type::Ptr(_), _) => self.cast(CastOp::PtrToInt, value, to),
                _ => self.cast(CastOp::IntToPtr, value, to),
            };
        }
        let (Some(from_scalar), Some(to_scalar)) = (from.scalar(), to.scalar()) else { return value };
        if from_scalar.size() == to_scalar.size() && from.lanes() == to.lanes() {
            return self.bitcast(value, to);
        }
        let value = if from.lanes() == 3 { self.widen(value, 4) } else { value };
        if to.lanes() == 3 {
            let four = self.bitcast(value, Type::Vector(to_scalar, 4));
            return self.shuffle(four, four, &[0, 1, 2]);
        }
        self.bitcast(value, to)
    }

    /// Returns a constant with only the sign bit set in every lane.
    pub(super) fn sign_mask(&mut self, ty: Type) -> Value {
        let width = ty.scalar().map_or(32, Scalar::bits);
        self.bits(ty, 1 << (width - 1))
    }

    /// Returns the bits of a float with the sign bit cleared.
    pub(super) fn magnitude_bits(&mut self, value: Value) -> Value {
        let ty = bits_type(self.ty(value));
        let bits = self.bitcast(value, ty);
        let mask = self.sign_mask(ty);
        let mask = self.not_bits(mask);
        self.and(bits, mask)
    }

    fn not_bits(&mut self, value: Value) -> Value {
        match (self.known(value), self.known_lanes(value)) {
            (Some(bits), _) => self.bits(self.ty(value), !bits),
            (_, Some(lanes)) => {
                let bits = lanes.first().copied().unwrap_or(0);
                self.bits(self.ty(value), !bits)
            }
            _ => self.not(value),
        }
    }

    /// Returns the bits of infinity in the float type `float`.
    pub(super) fn infinity_bits(&mut self, float: Type) -> Value {
        let (_, largest) = float_format(float.scalar().unwrap_or(Scalar::F32));
        self.bits(bits_type(float), largest + 1)
    }

    /// Tests the bits for NaN. A driver may optimise a floating-point test away.
    pub(super) fn is_nan(&mut self, value: Value) -> Value {
        let bits = self.magnitude_bits(value);
        let infinity = self.infinity_bits(self.ty(value));
        self.cmp(CmpOp::UGt, bits, infinity)
    }
}

/// Returns the smallest and the largest value of an integer type.
const fn range(arith: ArithType) -> (i128, i128) {
    scalar(arith.kind).integer_range(arith.is_signed())
}

/// Returns the low 64 bits of a limit of an integer type.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "two's complement is intended")]
const fn int_bits(value: i128) -> u64 {
    value as u64
}
