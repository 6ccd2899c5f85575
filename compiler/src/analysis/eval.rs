//! Constant folding, lane by lane, on the bits of [`Const`](crate::ir::Const).
//!
//! Results of floating-point arithmetic are rounded to nearest even. They are only folded if neither operands nor
//! result are NaN or denormal. Every device then computes the same bits. Quotients are an exception: some devices round
//! them less accurately, but the folded quotient is correctly rounded. The functions return `None` if they do not fold
//! the operation. Example: `binary(BinOp::Add, Scalar::I8, 255, 1)` is `Some(0)`.

use crate::fma::fma;
use crate::half_conversion::to_half;
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar, UnOp};
use half::f16;

/// A float as a double, which represents every value of the narrower types. `None` for NaNs and denormals.
fn float(scalar: Scalar, bits: u64) -> Option<f64> {
    match scalar {
        Scalar::F16 => {
            let value = f16::from_bits(u16::try_from(bits).ok()?);
            (value.is_normal() || value.to_f32() == 0.0 || value.is_infinite()).then(|| value.to_f64())
        }
        Scalar::F32 => {
            let value = f32::from_bits(u32::try_from(bits).ok()?);
            (value.is_normal() || value == 0.0 || value.is_infinite()).then(|| f64::from(value))
        }
        Scalar::F64 => {
            let value = f64::from_bits(bits);
            (value.is_normal() || value == 0.0 || value.is_infinite()).then_some(value)
        }
        _ => None,
    }
}

/// The bits of a double after rounding to a float type. `None` if the result is a NaN or denormal.
#[allow(clippy::cast_possible_truncation, reason = "rounding to the narrower type is intended")]
fn float_bits(scalar: Scalar, value: f64) -> Option<u64> {
    let bits = match scalar {
        Scalar::F16 => u64::from(to_half(value).to_bits()),
        Scalar::F32 => u64::from((value as f32).to_bits()),
        Scalar::F64 => value.to_bits(),
        _ => return None,
    };
    float(scalar, bits).map(|_| bits)
}

/// Folds an operation with one operand.
pub(crate) fn unary(op: UnOp, scalar: Scalar, a: u64) -> Option<u64> {
    Some(match op {
        UnOp::Not => !a & scalar.mask(),
        UnOp::Neg => a.wrapping_neg() & scalar.mask(),
        UnOp::FNeg => a ^ (1 << (scalar.bits() - 1)),
    })
}

/// Folds an operation with two operands of one type. `None` if the result is unspecified or depends on the device.
pub(crate) fn binary(op: BinOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let (mask, bits) = (scalar.mask(), scalar.bits());
    if scalar.is_float() {
        return float_binary(op, scalar, a, b);
    }
    let (sa, sb) = (scalar.sign_extend(a), scalar.sign_extend(b));
    let amount = || u32::try_from(b % u64::from(bits)).unwrap_or(0);
    let saturated = |value: i128| {
        let (low, high) = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
        value.clamp(low, high).cast_unsigned() as u64
    };
    let (wide_a, wide_b) = (i128::from(sa), i128::from(sb));
    let result = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::SDiv => sa.checked_div(sb).filter(|_| !(sb == -1 && a == 1 << (bits - 1)))?.cast_unsigned(),
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::SRem => sa.checked_rem(sb)?.cast_unsigned(),
        BinOp::URem => a.checked_rem(b)?,
        BinOp::Shl => a << amount(),
        BinOp::LShr => a >> amount(),
        BinOp::AShr => (sa >> amount()).cast_unsigned(),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::SMin => sa.min(sb).cast_unsigned(),
        BinOp::UMin => a.min(b),
        BinOp::SMax => sa.max(sb).cast_unsigned(),
        BinOp::UMax => a.max(b),
        BinOp::SMulHi => ((wide_a * wide_b) >> bits).cast_unsigned() as u64,
        BinOp::UMulHi => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        BinOp::SAddSat => saturated(wide_a + wide_b),
        BinOp::SSubSat => saturated(wide_a - wide_b),
        BinOp::UAddSat => u64::try_from((u128::from(a) + u128::from(b)).min(u128::from(mask))).ok()?,
        BinOp::USubSat => a.saturating_sub(b),
        BinOp::Rotate => match amount() {
            0 => a,
            amount => (a << amount) | (a >> (bits - amount)),
        },
        BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FMin | BinOp::FMax => return None,
        #[allow(unreachable_patterns, reason = "operations that are added later stay unchanged")]
        _ => return None,
    };
    Some(result & mask)
}

/// Computes in `double` and rounds again, which gives the correctly rounded result of + - * and / of narrower types.
fn float_binary(op: BinOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (float(scalar, a)?, float(scalar, b)?);
    let result = match op {
        BinOp::FAdd => x + y,
        BinOp::FSub => x - y,
        BinOp::FMul => x * y,
        BinOp::FDiv if y != 0.0 => x / y,
        BinOp::FMin if x != y => x.min(y),
        BinOp::FMax if x != y => x.max(y),
        _ => return None,
    };
    float_bits(scalar, result)
}

pub(crate) fn compare(op: CmpOp, scalar: Scalar, a: u64, b: u64) -> Option<bool> {
    let (sa, sb) = if scalar.is_float() { (0, 0) } else { (scalar.sign_extend(a), scalar.sign_extend(b)) };
    Some(match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::SLt => sa < sb,
        CmpOp::SLe => sa <= sb,
        CmpOp::SGt => sa > sb,
        CmpOp::SGe => sa >= sb,
        CmpOp::ULt => a < b,
        CmpOp::ULe => a <= b,
        CmpOp::UGt => a > b,
        CmpOp::UGe => a >= b,
        CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe => {
            let (x, y) = (float(scalar, a)?, float(scalar, b)?);
            match op {
                CmpOp::FEq => x == y,
                CmpOp::FNe => x != y,
                CmpOp::FLt => x < y,
                CmpOp::FLe => x <= y,
                CmpOp::FGt => x > y,
                _ => x >= y,
            }
        }
    })
}

/// Folds a conversion of one lane. The caller must exclude bitcasts that change the lane count. `None` for conversions
/// of pointers, and if the result is unspecified or depends on the device.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "checked to fit, or rounding is meant"
)]
pub(crate) fn cast(op: CastOp, from: Scalar, to: Scalar, a: u64) -> Option<u64> {
    match op {
        CastOp::Trunc | CastOp::ZExt => Some(a & to.mask()),
        CastOp::SExt => Some(from.sign_extend(a).cast_unsigned() & to.mask()),
        CastOp::Bitcast => (from.size() == to.size()).then_some(a),
        CastOp::FToF => float_bits(to, float(from, a)?),
        CastOp::FToS => {
            let value = float(from, a)?.trunc();
            let limit = (to.bits() - 1).min(63);
            let bound = (1_u64 << limit) as f64;
            (value >= -bound && value < bound).then(|| (value as i64).cast_unsigned() & to.mask())
        }
        CastOp::FToU => {
            let value = float(from, a)?.trunc();
            let bound = 2.0_f64.powi(to.bits().cast_signed());
            (value >= 0.0 && value < bound).then(|| value as u64 & to.mask())
        }
        CastOp::SToF => int_to_float(to, i128::from(from.sign_extend(a))),
        CastOp::UToF => int_to_float(to, i128::from(a)),
        CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast => None,
        #[allow(unreachable_patterns, reason = "conversions that are added later stay unchanged")]
        _ => None,
    }
}

/// Converts an integer with a single rounding.
#[allow(clippy::cast_precision_loss, reason = "rounding to nearest even is intended")]
fn int_to_float(to: Scalar, value: i128) -> Option<u64> {
    match to {
        Scalar::F64 => Some((value as f64).to_bits()),
        Scalar::F32 => Some(u64::from((value as f32).to_bits())),
        // `double` represents all integers in the range of `half` exactly. Larger ones overflow `half` in any case.
        Scalar::F16 => float_bits(to, value as f64),
        _ => None,
    }
}

/// Folds mathematical functions whose results are exact.
pub(crate) fn math(op: MathOp, scalar: Scalar, args: &[u64]) -> Option<u64> {
    let (&a, bits) = (args.first()?, scalar.bits());
    let sign = 1_u64 << (bits - 1);
    Some(match op {
        MathOp::FAbs => a & !sign,
        MathOp::Floor => float_bits(scalar, float(scalar, a)?.floor())?,
        MathOp::Ceil => float_bits(scalar, float(scalar, a)?.ceil())?,
        MathOp::FTrunc => float_bits(scalar, float(scalar, a)?.trunc())?,
        MathOp::Rint => float_bits(scalar, float(scalar, a)?.round_ties_even())?,
        // The root of zero is folded, because drivers would fold it after the passes. `passes::legalize` rewrites
        // arithmetic with constant zeros, so this zero must be a constant before that pass.
        MathOp::Sqrt => exact_root(float(scalar, a)?).and_then(|root| float_bits(scalar, root))?,
        MathOp::SAbs => scalar.sign_extend(a).unsigned_abs() & scalar.mask(),
        MathOp::Clz => u64::from(a.leading_zeros() - (64 - bits)),
        MathOp::Ctz => u64::from(a.trailing_zeros().min(bits)),
        MathOp::Popcount => u64::from(a.count_ones()),
        MathOp::ReverseBits => a.reverse_bits() >> (64 - bits),
        _ => return None,
    })
}

/// Returns the square root, or `None` if it is not exact. Devices round inexact roots differently.
fn exact_root(value: f64) -> Option<f64> {
    let root = value.sqrt();
    // For a smaller value, the error of the root can underflow to zero, and an inexact root would look exact.
    let is_large_enough = value == 0.0 || value > 1e-280;
    (is_large_enough && fma(root, root, -value) == 0.0).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::{binary, cast, compare, math};
    use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar};

    #[test]
    fn integers_wrap_at_their_width() {
        assert_eq!(binary(BinOp::Add, Scalar::I8, 200, 100), Some(44));
        assert_eq!(binary(BinOp::SDiv, Scalar::I8, 0xf8, 2), Some(0xfc));
        assert_eq!(binary(BinOp::SDiv, Scalar::I8, 0x80, 0xff), None);
        assert_eq!(binary(BinOp::UDiv, Scalar::I32, 1, 0), None);
        assert_eq!(binary(BinOp::Shl, Scalar::I32, 1, 33), Some(2));
        assert_eq!(binary(BinOp::SMulHi, Scalar::I32, 0xffff_ffff, 1), Some(0xffff_ffff));
        assert_eq!(binary(BinOp::SAddSat, Scalar::I8, 0x80, 0xff), Some(0x80));
        assert_eq!(binary(BinOp::UAddSat, Scalar::I64, u64::MAX, 1), Some(u64::MAX));
        assert_eq!(binary(BinOp::Rotate, Scalar::I16, 0x8001, 1), Some(3));
        assert_eq!(compare(CmpOp::SLt, Scalar::I16, 0xffff, 0), Some(true));
    }

    #[test]
    fn floats_are_folded_where_all_devices_agree() {
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(binary(BinOp::FAdd, Scalar::F32, bits(0.1), bits(0.2)), Some(bits(0.1_f32 + 0.2_f32)));
        assert_eq!(binary(BinOp::FDiv, Scalar::F32, bits(1.0), bits(3.0)), Some(bits(1.0_f32 / 3.0_f32)));
        assert_eq!(binary(BinOp::FDiv, Scalar::F32, bits(1.0), bits(0.0)), None);
        assert_eq!(binary(BinOp::FMul, Scalar::F32, bits(1e-30), bits(1e-15)), None);
        assert_eq!(binary(BinOp::FSub, Scalar::F32, bits(f32::INFINITY), bits(f32::INFINITY)), None);
        assert_eq!(cast(CastOp::FToS, Scalar::F32, Scalar::I32, bits(-1.5)), Some(0xffff_ffff));
        assert_eq!(cast(CastOp::FToS, Scalar::F32, Scalar::I32, bits(3e9)), None);
        assert_eq!(cast(CastOp::UToF, Scalar::I32, Scalar::F32, 0xffff_ffff), Some(bits(4_294_967_296.0)));
        assert_eq!(math(MathOp::Rint, Scalar::F32, &[bits(2.5)]), Some(bits(2.0)));
        assert_eq!(math(MathOp::Sqrt, Scalar::F32, &[bits(-0.0)]), Some(bits(-0.0)));
        assert_eq!(math(MathOp::Sqrt, Scalar::F32, &[bits(6.25)]), Some(bits(2.5)));
        assert_eq!(math(MathOp::Sqrt, Scalar::F32, &[bits(2.0)]), None);
        assert_eq!(math(MathOp::Sqrt, Scalar::F32, &[bits(-1.0)]), None);
        assert_eq!(math(MathOp::Clz, Scalar::I16, &[1]), Some(15));
    }
}
