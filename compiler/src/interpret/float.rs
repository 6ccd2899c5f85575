//! Floating-point operations on single lanes, correctly rounded to nearest even, with denormals. Exceptions are `rsqrt`
//! and the `native_` functions, which need not be correctly rounded. Most of these exceptions are computed in double
//! precision and then rounded.
//!
//! Halves are computed in double precision. Sums and products of halves are exact in double precision. For quotients,
//! roots and fused operations, double precision suffices: the second rounding does not change the result.

use super::integer::{by_width, mask, signed};
use super::number::{Binary, Ternary, Unary};
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar};

/// A floating-point format, with conversions from and to bits.
trait Format {
    /// The type in which the operations are computed.
    type Number: Number;
    /// Mask of the sign bit.
    const SIGN: u64;

    fn get(bits: u64) -> Self::Number;

    /// Returns the bits of `value`. Rounds if the format is narrower.
    fn put(value: Self::Number) -> u64;

    fn round(value: f64) -> u64;

    fn from_signed(value: i64) -> u64;

    fn from_unsigned(value: u64) -> u64;
}

struct Half;
struct Single;
struct Double;

impl Format for Half {
    type Number = f64;
    const SIGN: u64 = 1 << 15;

    fn get(bits: u64) -> f64 {
        half::f16::from_bits(bits as u16).to_f64()
    }

    fn put(value: f64) -> u64 {
        Self::round(value)
    }

    fn round(value: f64) -> u64 {
        u64::from(half::f16::from_f32(to_odd(value)).to_bits())
    }

    // Every integer that is finite as a half is exact as a double.
    fn from_signed(value: i64) -> u64 {
        Self::round(value as f64)
    }

    fn from_unsigned(value: u64) -> u64 {
        Self::round(value as f64)
    }
}

impl Format for Single {
    type Number = f32;
    const SIGN: u64 = 1 << 31;

    fn get(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }

    fn put(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    fn round(value: f64) -> u64 {
        Self::put(value as f32)
    }

    fn from_signed(value: i64) -> u64 {
        Self::put(value as f32)
    }

    fn from_unsigned(value: u64) -> u64 {
        Self::put(value as f32)
    }
}

impl Format for Double {
    type Number = f64;
    const SIGN: u64 = 1 << 63;

    fn get(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    fn put(value: f64) -> u64 {
        value.to_bits()
    }

    fn round(value: f64) -> u64 {
        value.to_bits()
    }

    fn from_signed(value: i64) -> u64 {
        Self::put(value as f64)
    }

    fn from_unsigned(value: u64) -> u64 {
        Self::put(value as f64)
    }
}

/// Rounds a double to a float, to odd. The float then rounds to the same half as the double. This holds because the
/// significand of a float (24 bits) is more than two bits longer than that of a half (11 bits).
pub(super) fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if !near.is_finite() || f64::from(near) == value {
        // A double beyond the range of floats is also infinite as a half.
        return near;
    }
    let bits = near.to_bits();
    // Rounding to odd: truncates and sets the last bit.
    let truncated = if f64::from(near).abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(truncated | 1)
}

/// Operations of a Rust float type.
trait Number:
    Copy
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn rint(self) -> Self;
    fn sqrt(self) -> Self;
    fn fused(self, factor: Self, addend: Self) -> Self;
    fn wide(self) -> f64;
}

macro_rules! number {
    ($ty:ty, $fused:path) => {
        impl Number for $ty {
            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }

            fn floor(self) -> Self {
                self.floor()
            }

            fn ceil(self) -> Self {
                self.ceil()
            }

            fn trunc(self) -> Self {
                self.trunc()
            }

            fn rint(self) -> Self {
                self.round_ties_even()
            }

            fn sqrt(self) -> Self {
                self.sqrt()
            }

            fn fused(self, factor: Self, addend: Self) -> Self {
                $fused(self, factor, addend)
            }

            fn wide(self) -> f64 {
                f64::from(self)
            }
        }
    };
}
number!(f32, crate::fma::fmaf);
number!(f64, crate::fma::fma);

/// Selects the instance of a function for a format.
macro_rules! by_format {
    ($scalar:expr, $function:ident) => {
        match $scalar {
            Scalar::F16 => $function::<Half>,
            Scalar::F32 => $function::<Single>,
            Scalar::F64 => $function::<Double>,
            _ => return None,
        }
    };
}

fn add<F: Format>(a: u64, b: u64) -> u64 {
    F::put(F::get(a) + F::get(b))
}

fn sub<F: Format>(a: u64, b: u64) -> u64 {
    F::put(F::get(a) - F::get(b))
}

fn mul<F: Format>(a: u64, b: u64) -> u64 {
    F::put(F::get(a) * F::get(b))
}

fn div<F: Format>(a: u64, b: u64) -> u64 {
    F::put(F::get(a) / F::get(b))
}

fn min<F: Format>(a: u64, b: u64) -> u64 {
    F::put(F::get(a).least(F::get(b)))
}

fn max<F: Format>(a: u64, b: u64) -> u64 {
    F::put(F::get(a).greatest(F::get(b)))
}

fn pow<F: Format>(a: u64, b: u64) -> u64 {
    F::round(F::get(a).wide().powf(F::get(b).wide()))
}

/// Returns the function for an operation on two floats. `None` for other operations.
pub(super) fn binary(op: BinOp, scalar: Scalar) -> Option<Binary> {
    Some(match op {
        BinOp::FAdd => by_format!(scalar, add),
        BinOp::FSub => by_format!(scalar, sub),
        BinOp::FMul => by_format!(scalar, mul),
        BinOp::FDiv => by_format!(scalar, div),
        BinOp::FMin => by_format!(scalar, min),
        BinOp::FMax => by_format!(scalar, max),
        _ => return None,
    })
}

fn eq<F: Format>(a: u64, b: u64) -> u64 {
    u64::from(F::get(a) == F::get(b))
}

fn ne<F: Format>(a: u64, b: u64) -> u64 {
    u64::from(F::get(a) != F::get(b))
}

fn lt<F: Format>(a: u64, b: u64) -> u64 {
    u64::from(F::get(a) < F::get(b))
}

fn le<F: Format>(a: u64, b: u64) -> u64 {
    u64::from(F::get(a) <= F::get(b))
}

fn gt<F: Format>(a: u64, b: u64) -> u64 {
    lt::<F>(b, a)
}

fn ge<F: Format>(a: u64, b: u64) -> u64 {
    le::<F>(b, a)
}

/// Returns the function for a comparison of floats. `None` for other comparisons.
pub(super) fn compare(op: CmpOp, scalar: Scalar) -> Option<Binary> {
    Some(match op {
        CmpOp::FEq => by_format!(scalar, eq),
        CmpOp::FNe => by_format!(scalar, ne),
        CmpOp::FLt => by_format!(scalar, lt),
        CmpOp::FLe => by_format!(scalar, le),
        CmpOp::FGt => by_format!(scalar, gt),
        CmpOp::FGe => by_format!(scalar, ge),
        _ => return None,
    })
}

fn neg<F: Format>(a: u64) -> u64 {
    a ^ F::SIGN
}

/// Returns the function that inverts the sign bit, also of NaNs.
pub(super) fn negate(scalar: Scalar) -> Option<Unary> {
    Some(by_format!(scalar, neg))
}

fn abs<F: Format>(a: u64) -> u64 {
    a & !F::SIGN
}

fn floor<F: Format>(a: u64) -> u64 {
    F::put(F::get(a).floor())
}

fn ceil<F: Format>(a: u64) -> u64 {
    F::put(F::get(a).ceil())
}

fn trunc<F: Format>(a: u64) -> u64 {
    F::put(F::get(a).trunc())
}

fn rint<F: Format>(a: u64) -> u64 {
    F::put(F::get(a).rint())
}

fn sqrt<F: Format>(a: u64) -> u64 {
    F::put(F::get(a).sqrt())
}

/// Defines functions that are computed as doubles and rounded to the format.
macro_rules! rounded {
    ($($name:ident = $of:expr;)*) => {
        $(fn $name<F: Format>(a: u64) -> u64 {
            let of: fn(f64) -> f64 = $of;
            F::round(of(F::get(a).wide()))
        })*
    };
}
rounded! {
    rsqrt = |x| 1.0 / x.sqrt();
    sin = f64::sin;
    cos = f64::cos;
    tan = f64::tan;
    exp2 = f64::exp2;
    log2 = f64::log2;
    recip = |x| 1.0 / x;
}

/// Returns the function for a [`MathOp`] with one float operand. `None` for other operations.
pub(super) fn math(op: MathOp, scalar: Scalar) -> Option<Unary> {
    Some(match op {
        MathOp::FAbs => by_format!(scalar, abs),
        MathOp::Floor => by_format!(scalar, floor),
        MathOp::Ceil => by_format!(scalar, ceil),
        MathOp::FTrunc => by_format!(scalar, trunc),
        MathOp::Rint => by_format!(scalar, rint),
        MathOp::Sqrt => by_format!(scalar, sqrt),
        MathOp::RSqrt => by_format!(scalar, rsqrt),
        MathOp::NativeSin => by_format!(scalar, sin),
        MathOp::NativeCos => by_format!(scalar, cos),
        MathOp::NativeTan => by_format!(scalar, tan),
        MathOp::NativeExp2 => by_format!(scalar, exp2),
        MathOp::NativeLog2 => by_format!(scalar, log2),
        MathOp::NativeRecip => by_format!(scalar, recip),
        _ => return None,
    })
}

/// Returns the function for a [`MathOp`] with two float operands. `None` for other operations.
pub(super) fn math2(op: MathOp, scalar: Scalar) -> Option<Binary> {
    Some(match op {
        MathOp::NativeDivide => by_format!(scalar, div),
        MathOp::NativePow => by_format!(scalar, pow),
        _ => return None,
    })
}

fn fma<F: Format>(a: u64, b: u64, c: u64) -> u64 {
    F::put(F::get(a).fused(F::get(b), F::get(c)))
}

fn mul_add<F: Format>(a: u64, b: u64, c: u64) -> u64 {
    add::<F>(mul::<F>(a, b), c)
}

/// Returns the function for a [`MathOp`] with three float operands. `fused`: whether [`MathOp::FMulAdd`] rounds once.
pub(super) fn math3(op: MathOp, scalar: Scalar, fused: bool) -> Option<Ternary> {
    Some(match op {
        MathOp::Fma => by_format!(scalar, fma),
        MathOp::FMulAdd if fused => by_format!(scalar, fma),
        MathOp::FMulAdd => by_format!(scalar, mul_add),
        _ => return None,
    })
}

/// The result of a conversion of a float that does not fit the integer type, which OpenCL C leaves unspecified.
/// Programs are unlikely to expect this number.
const NO_INTEGER: u64 = 0x0bad_0bad_0bad_0bad;

fn to_signed<F: Format, const BITS: u32>(a: u64) -> u64 {
    let value = F::get(a).wide().trunc();
    let limit = f64::from(BITS - 1).exp2();
    let fits = value >= -limit && value < limit;
    (if fits { value as i64 as u64 } else { NO_INTEGER }) & mask::<BITS>()
}

fn to_unsigned<F: Format, const BITS: u32>(a: u64) -> u64 {
    let value = F::get(a).wide().trunc();
    let fits = value >= 0.0 && value < f64::from(BITS).exp2();
    (if fits { value as u64 } else { NO_INTEGER }) & mask::<BITS>()
}

fn from_signed<F: Format, const BITS: u32>(a: u64) -> u64 {
    F::from_signed(signed::<BITS>(a))
}

fn from_unsigned<F: Format>(a: u64) -> u64 {
    F::from_unsigned(a)
}

fn convert<F: Format, T: Format>(a: u64) -> u64 {
    T::round(F::get(a).wide())
}

fn signed_of<F: Format>(to: Scalar) -> Option<Unary> {
    Some(match to {
        Scalar::I8 => to_signed::<F, 8>,
        Scalar::I16 => to_signed::<F, 16>,
        Scalar::I32 => to_signed::<F, 32>,
        Scalar::I64 => to_signed::<F, 64>,
        _ => return None,
    })
}

fn unsigned_of<F: Format>(to: Scalar) -> Option<Unary> {
    Some(match to {
        Scalar::I8 => to_unsigned::<F, 8>,
        Scalar::I16 => to_unsigned::<F, 16>,
        Scalar::I32 => to_unsigned::<F, 32>,
        Scalar::I64 => to_unsigned::<F, 64>,
        _ => return None,
    })
}

fn half_from_signed<const BITS: u32>(a: u64) -> u64 {
    from_signed::<Half, BITS>(a)
}

fn single_from_signed<const BITS: u32>(a: u64) -> u64 {
    from_signed::<Single, BITS>(a)
}

fn double_from_signed<const BITS: u32>(a: u64) -> u64 {
    from_signed::<Double, BITS>(a)
}

fn converted<F: Format>(to: Scalar) -> Option<Unary> {
    Some(match to {
        Scalar::F16 => convert::<F, Half>,
        Scalar::F32 => convert::<F, Single>,
        Scalar::F64 => convert::<F, Double>,
        _ => return None,
    })
}

/// Returns the function for a conversion from or to a float. `None` for other conversions.
pub(super) fn cast(op: CastOp, from: Scalar, to: Scalar) -> Option<Unary> {
    match (op, from) {
        (CastOp::FToS, Scalar::F16) => signed_of::<Half>(to),
        (CastOp::FToS, Scalar::F32) => signed_of::<Single>(to),
        (CastOp::FToS, Scalar::F64) => signed_of::<Double>(to),
        (CastOp::FToU, Scalar::F16) => unsigned_of::<Half>(to),
        (CastOp::FToU, Scalar::F32) => unsigned_of::<Single>(to),
        (CastOp::FToU, Scalar::F64) => unsigned_of::<Double>(to),
        (CastOp::FToF, Scalar::F16) => converted::<Half>(to),
        (CastOp::FToF, Scalar::F32) => converted::<Single>(to),
        (CastOp::FToF, Scalar::F64) => converted::<Double>(to),
        (CastOp::UToF, _) => Some(by_format!(to, from_unsigned)),
        (CastOp::SToF, _) => Some(match to {
            Scalar::F16 => by_width!(from, half_from_signed),
            Scalar::F32 => by_width!(from, single_from_signed),
            Scalar::F64 => by_width!(from, double_from_signed),
            _ => return None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{binary, cast, math3};
    use crate::ir::{BinOp, CastOp, MathOp, Scalar};

    fn half_of(value: f64) -> u64 {
        cast(CastOp::FToF, Scalar::F64, Scalar::F16).map_or(0, |f| f(value.to_bits()))
    }

    #[test]
    fn halves_are_rounded_once() {
        // Halfway between two halves, and values that differ from it by less than a float can represent.
        let middle = 1.0 + 1.0 / 2048.0;
        assert_eq!(half_of(middle), 0x3c00);
        assert_eq!(half_of(middle + f64::EPSILON), 0x3c01);
        assert_eq!(half_of(middle - f64::EPSILON), 0x3c00);
        assert_eq!(half_of(-(middle + f64::EPSILON)), 0xbc01);
        // The smallest denormal half, one half of it, and slightly more than that.
        assert_eq!(half_of(2.0_f64.powi(-24)), 1);
        assert_eq!(half_of(2.0_f64.powi(-25)), 0);
        assert_eq!(half_of(2.0_f64.powi(-25) * (1.0 + f64::EPSILON)), 1);
        assert_eq!(half_of(2.0_f64.powi(-1000)), 0);
        assert_eq!(half_of(65520.0), 0x7c00);
        assert_eq!(half_of(65_519.999_999_999), 0x7bff);
        assert_eq!(half_of(1e300), 0x7c00);
        assert_eq!(half_of(f64::NEG_INFINITY), 0xfc00);
    }

    #[test]
    fn every_half_round_trips() {
        let (up, down) = (cast(CastOp::FToF, Scalar::F16, Scalar::F64), cast(CastOp::FToF, Scalar::F64, Scalar::F16));
        let (up, down) = up.zip(down).expect("conversions of halves");
        for bits in (0..=0xffff_u64).filter(|bits| bits & 0x7fff <= 0x7c00) {
            assert_eq!(down(up(bits)), bits);
        }
    }

    #[test]
    fn products_are_fused_or_not() {
        let bits = |value: f32| u64::from(value.to_bits());
        let x = 1.0 + 1.0 / 4096.0;
        let run = |op, fused| math3(op, Scalar::F32, fused).map(|f| f(bits(x), bits(x), bits(-1.0)));
        assert_eq!(run(MathOp::Fma, false), Some(bits(x.mul_add(x, -1.0))));
        assert_eq!(run(MathOp::FMulAdd, true), run(MathOp::Fma, false));
        assert_eq!(run(MathOp::FMulAdd, false), Some(bits(x * x - 1.0)));
        assert_ne!(run(MathOp::FMulAdd, false), run(MathOp::Fma, false));
    }

    #[test]
    fn conversions_to_integers_go_toward_zero() {
        let run = |op, to, value: f32| cast(op, Scalar::F32, to).map(|f| f(u64::from(value.to_bits())));
        assert_eq!(run(CastOp::FToS, Scalar::I8, -128.9), Some(0x80));
        assert_eq!(run(CastOp::FToS, Scalar::I64, -9.3e18), run(CastOp::FToS, Scalar::I64, f32::NAN));
        assert_eq!(run(CastOp::FToU, Scalar::I16, -0.9), Some(0));
        assert_eq!(run(CastOp::FToU, Scalar::I64, 1.8e19), Some(1.8e19_f32 as u64));
        assert_eq!(binary(BinOp::FMin, Scalar::F32).map(|f| f(0x7fc0_0000, 0)), Some(0));
    }
}
