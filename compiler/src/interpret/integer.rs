//! Integer operations on single lanes. The translation selects a function for each operation and type.
//!
//! A lane is a `u64` with the zero-extended bits of its scalar. Every function takes and returns such lanes. Example:
//! `binary(BinOp::Add, Scalar::I8)` is a function that adds modulo 256.

use super::number::{Binary, Unary};
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar, UnOp};

/// Selects the instance of a function for the width of an integer or `bool`.
macro_rules! by_width {
    ($scalar:expr, $function:ident) => {
        match $scalar {
            Scalar::Bool => $function::<1>,
            Scalar::I8 => $function::<8>,
            Scalar::I16 => $function::<16>,
            Scalar::I32 => $function::<32>,
            Scalar::I64 => $function::<64>,
            Scalar::F16 | Scalar::F32 | Scalar::F64 => return None,
        }
    };
}
pub(super) use by_width;

/// A mask of all bits of a width.
pub(super) const fn mask<const BITS: u32>() -> u64 {
    if BITS >= 64 { u64::MAX } else { (1 << BITS) - 1 }
}

/// Sign-extends the bits of a number.
pub(super) const fn signed<const BITS: u32>(bits: u64) -> i64 {
    let unused = 64 - BITS;
    (bits << unused).cast_signed() >> unused
}

const fn amount<const BITS: u32>(by: u64) -> u32 {
    (by % BITS as u64) as u32
}

fn wide<const BITS: u32>(bits: u64) -> i128 {
    i128::from(signed::<BITS>(bits))
}

/// Clamps a number to the range of signed integers of a width.
fn saturate<const BITS: u32>(value: i128) -> u64 {
    let limit = 1_i128 << (BITS - 1);
    value.clamp(-limit, limit - 1) as u64 & mask::<BITS>()
}

fn add<const BITS: u32>(a: u64, b: u64) -> u64 {
    a.wrapping_add(b) & mask::<BITS>()
}

fn sub<const BITS: u32>(a: u64, b: u64) -> u64 {
    a.wrapping_sub(b) & mask::<BITS>()
}

fn mul<const BITS: u32>(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & mask::<BITS>()
}

/// Quotients and remainders by zero are unspecified in OpenCL C. Here the quotient is all ones, and the remainder is
/// the dividend.
fn sdiv<const BITS: u32>(a: u64, b: u64) -> u64 {
    if b == 0 { mask::<BITS>() } else { signed::<BITS>(a).wrapping_div(signed::<BITS>(b)) as u64 & mask::<BITS>() }
}

fn udiv<const BITS: u32>(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(mask::<BITS>())
}

fn srem<const BITS: u32>(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { signed::<BITS>(a).wrapping_rem(signed::<BITS>(b)) as u64 & mask::<BITS>() }
}

fn urem<const BITS: u32>(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

fn shl<const BITS: u32>(a: u64, b: u64) -> u64 {
    (a << amount::<BITS>(b)) & mask::<BITS>()
}

fn lshr<const BITS: u32>(a: u64, b: u64) -> u64 {
    a >> amount::<BITS>(b)
}

fn ashr<const BITS: u32>(a: u64, b: u64) -> u64 {
    (signed::<BITS>(a) >> amount::<BITS>(b)) as u64 & mask::<BITS>()
}

fn smin<const BITS: u32>(a: u64, b: u64) -> u64 {
    if signed::<BITS>(a) <= signed::<BITS>(b) { a } else { b }
}

fn smax<const BITS: u32>(a: u64, b: u64) -> u64 {
    if signed::<BITS>(a) >= signed::<BITS>(b) { a } else { b }
}

fn smul_hi<const BITS: u32>(a: u64, b: u64) -> u64 {
    ((wide::<BITS>(a) * wide::<BITS>(b)) >> BITS) as u64 & mask::<BITS>()
}

fn umul_hi<const BITS: u32>(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> BITS) as u64 & mask::<BITS>()
}

fn sadd_sat<const BITS: u32>(a: u64, b: u64) -> u64 {
    saturate::<BITS>(wide::<BITS>(a) + wide::<BITS>(b))
}

fn ssub_sat<const BITS: u32>(a: u64, b: u64) -> u64 {
    saturate::<BITS>(wide::<BITS>(a) - wide::<BITS>(b))
}

fn uadd_sat<const BITS: u32>(a: u64, b: u64) -> u64 {
    a.saturating_add(b).min(mask::<BITS>())
}

fn rotate<const BITS: u32>(a: u64, b: u64) -> u64 {
    match amount::<BITS>(b) {
        0 => a,
        by => ((a << by) | (a >> (BITS - by))) & mask::<BITS>(),
    }
}

/// Bitwise AND. Bitwise operations of two operands do not depend on the width.
fn and(a: u64, b: u64) -> u64 {
    a & b
}

fn or(a: u64, b: u64) -> u64 {
    a | b
}

fn xor(a: u64, b: u64) -> u64 {
    a ^ b
}

/// Returns the function for an operation on two integers or bools. `None` for other operations.
pub(super) fn binary(op: BinOp, scalar: Scalar) -> Option<Binary> {
    Some(match op {
        BinOp::Add => by_width!(scalar, add),
        BinOp::Sub => by_width!(scalar, sub),
        BinOp::Mul => by_width!(scalar, mul),
        BinOp::SDiv => by_width!(scalar, sdiv),
        BinOp::UDiv => by_width!(scalar, udiv),
        BinOp::SRem => by_width!(scalar, srem),
        BinOp::URem => urem::<64>,
        BinOp::Shl => by_width!(scalar, shl),
        BinOp::LShr => by_width!(scalar, lshr),
        BinOp::AShr => by_width!(scalar, ashr),
        BinOp::And => and,
        BinOp::Or => or,
        BinOp::Xor => xor,
        BinOp::SMin => by_width!(scalar, smin),
        BinOp::UMin => u64::min,
        BinOp::SMax => by_width!(scalar, smax),
        BinOp::UMax => u64::max,
        BinOp::SMulHi => by_width!(scalar, smul_hi),
        BinOp::UMulHi => by_width!(scalar, umul_hi),
        BinOp::SAddSat => by_width!(scalar, sadd_sat),
        BinOp::UAddSat => by_width!(scalar, uadd_sat),
        BinOp::SSubSat => by_width!(scalar, ssub_sat),
        BinOp::USubSat => u64::saturating_sub,
        BinOp::Rotate => by_width!(scalar, rotate),
        BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FMin | BinOp::FMax => return None,
    })
}

fn eq(a: u64, b: u64) -> u64 {
    u64::from(a == b)
}

fn ne(a: u64, b: u64) -> u64 {
    u64::from(a != b)
}

fn slt<const BITS: u32>(a: u64, b: u64) -> u64 {
    u64::from(signed::<BITS>(a) < signed::<BITS>(b))
}

fn sle<const BITS: u32>(a: u64, b: u64) -> u64 {
    u64::from(signed::<BITS>(a) <= signed::<BITS>(b))
}

fn sgt<const BITS: u32>(a: u64, b: u64) -> u64 {
    slt::<BITS>(b, a)
}

fn sge<const BITS: u32>(a: u64, b: u64) -> u64 {
    sle::<BITS>(b, a)
}

fn ult(a: u64, b: u64) -> u64 {
    u64::from(a < b)
}

fn ule(a: u64, b: u64) -> u64 {
    u64::from(a <= b)
}

fn ugt(a: u64, b: u64) -> u64 {
    u64::from(a > b)
}

fn uge(a: u64, b: u64) -> u64 {
    u64::from(a >= b)
}

/// Returns the function for a comparison of integers, bools or pointers. `None` for other comparisons.
pub(super) fn compare(op: CmpOp, scalar: Scalar) -> Option<Binary> {
    Some(match op {
        CmpOp::Eq => eq,
        CmpOp::Ne => ne,
        CmpOp::SLt => by_width!(scalar, slt),
        CmpOp::SLe => by_width!(scalar, sle),
        CmpOp::SGt => by_width!(scalar, sgt),
        CmpOp::SGe => by_width!(scalar, sge),
        CmpOp::ULt => ult,
        CmpOp::ULe => ule,
        CmpOp::UGt => ugt,
        CmpOp::UGe => uge,
        CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe => return None,
    })
}

fn not<const BITS: u32>(a: u64) -> u64 {
    !a & mask::<BITS>()
}

fn neg<const BITS: u32>(a: u64) -> u64 {
    a.wrapping_neg() & mask::<BITS>()
}

/// Returns the function for an operation on one integer. `None` for other operations.
pub(super) fn unary(op: UnOp, scalar: Scalar) -> Option<Unary> {
    Some(match op {
        UnOp::Not => by_width!(scalar, not),
        UnOp::Neg => by_width!(scalar, neg),
        UnOp::FNeg => return None,
    })
}

fn abs<const BITS: u32>(a: u64) -> u64 {
    signed::<BITS>(a).unsigned_abs() & mask::<BITS>()
}

fn clz<const BITS: u32>(a: u64) -> u64 {
    u64::from(a.leading_zeros() + BITS - 64)
}

fn ctz<const BITS: u32>(a: u64) -> u64 {
    u64::from(a.trailing_zeros().min(BITS))
}

fn popcount(a: u64) -> u64 {
    u64::from(a.count_ones())
}

fn reverse<const BITS: u32>(a: u64) -> u64 {
    a.reverse_bits() >> (64 - BITS)
}

/// Returns the function for a [`MathOp`] on integers. `None` for other operations.
pub(super) fn math(op: MathOp, scalar: Scalar) -> Option<Unary> {
    Some(match op {
        MathOp::SAbs => by_width!(scalar, abs),
        MathOp::Clz => by_width!(scalar, clz),
        MathOp::Ctz => by_width!(scalar, ctz),
        MathOp::Popcount => popcount,
        MathOp::ReverseBits => by_width!(scalar, reverse),
        _ => return None,
    })
}

fn resize<const BITS: u32>(a: u64) -> u64 {
    a & mask::<BITS>()
}

fn sext<const FROM: u32, const TO: u32>(a: u64) -> u64 {
    signed::<FROM>(a) as u64 & mask::<TO>()
}

fn sext_from<const FROM: u32>(to: Scalar) -> Option<Unary> {
    Some(match to {
        Scalar::Bool => sext::<FROM, 1>,
        Scalar::I8 => sext::<FROM, 8>,
        Scalar::I16 => sext::<FROM, 16>,
        Scalar::I32 => sext::<FROM, 32>,
        Scalar::I64 => sext::<FROM, 64>,
        Scalar::F16 | Scalar::F32 | Scalar::F64 => return None,
    })
}

/// Returns the function for a conversion between integers. `None` for other conversions.
pub(super) fn cast(op: CastOp, from: Scalar, to: Scalar) -> Option<Unary> {
    match op {
        CastOp::Trunc | CastOp::ZExt => Some(by_width!(to, resize)),
        CastOp::SExt => match from {
            Scalar::Bool => sext_from::<1>(to),
            Scalar::I8 => sext_from::<8>(to),
            Scalar::I16 => sext_from::<16>(to),
            Scalar::I32 => sext_from::<32>(to),
            Scalar::I64 => sext_from::<64>(to),
            Scalar::F16 | Scalar::F32 | Scalar::F64 => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{binary, cast, compare, math};
    use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar};

    #[test]
    fn widths_wrap_and_saturate() {
        let run = |op, scalar, a, b| binary(op, scalar).map(|f| f(a, b));
        assert_eq!(run(BinOp::Add, Scalar::I8, 200, 100), Some(44));
        assert_eq!(run(BinOp::Sub, Scalar::I64, 0, 1), Some(u64::MAX));
        assert_eq!(run(BinOp::SDiv, Scalar::I8, 0x80, 0xff), Some(0x80));
        assert_eq!(run(BinOp::SRem, Scalar::I16, 0xfff9, 2), Some(0xffff));
        assert_eq!(run(BinOp::Shl, Scalar::I32, 1, 33), Some(2));
        assert_eq!(run(BinOp::AShr, Scalar::I64, 1 << 63, 127), Some(u64::MAX));
        assert_eq!(run(BinOp::SAddSat, Scalar::I8, 0x80, 0xff), Some(0x80));
        assert_eq!(run(BinOp::SSubSat, Scalar::I64, 1 << 63, 1), Some(1 << 63));
        assert_eq!(run(BinOp::UAddSat, Scalar::I64, u64::MAX, 1), Some(u64::MAX));
        assert_eq!(run(BinOp::UMulHi, Scalar::I64, u64::MAX, u64::MAX), Some(u64::MAX - 1));
        assert_eq!(run(BinOp::SMulHi, Scalar::I8, 0x80, 0x80), Some(0x40));
        assert_eq!(run(BinOp::Rotate, Scalar::I16, 0x8001, 17), Some(3));
        assert_eq!(run(BinOp::FAdd, Scalar::I16, 0, 0), None);
        assert_eq!(compare(CmpOp::SGe, Scalar::I8).map(|f| f(0x7f, 0x80)), Some(1));
        assert_eq!(math(MathOp::Clz, Scalar::I8).map(|f| f(0)), Some(8));
        assert_eq!(math(MathOp::Ctz, Scalar::I16).map(|f| f(0)), Some(16));
        assert_eq!(math(MathOp::SAbs, Scalar::I32).map(|f| f(0x8000_0000)), Some(0x8000_0000));
        assert_eq!(cast(CastOp::SExt, Scalar::Bool, Scalar::I16).map(|f| f(1)), Some(0xffff));
    }
}
