//! The results of operations for one lane.

use half::f16;
use wgcl_codegen::vir::{BinOp, CmpOp, Elem, Rounding, TernOp, Type, UnOp};

use super::eval::Fault;
use super::lane::{Lane, State};

/// A number with all bits of an element set.
const fn all(elem: Elem) -> u64 {
    if elem.bits() == 32 { 0xffff_ffff } else { u64::MAX }
}

/// Sign-extends the bits of an element.
const fn signed(bits: u64, elem: Elem) -> i64 {
    if elem.bits() == 32 { bits as u32 as i32 as i64 } else { bits as i64 }
}

/// The result of an operation with one operand. `ty` is the type of the operand.
pub fn un(op: UnOp, ty: Type, a: Lane) -> Lane {
    let Some(elem) = ty.elem() else {
        return a.exact().map_or(Lane::UNKNOWN, |bits| Lane::known(bits ^ 1));
    };
    if elem.is_float() {
        return float(op, elem, a);
    }
    let Some(bits) = a.exact() else { return Lane::UNKNOWN };
    let above = u64::from(64 - elem.bits());
    Lane::known(match op {
        UnOp::Not => !bits & all(elem),
        UnOp::Neg => bits.wrapping_neg() & all(elem),
        UnOp::Clz => u64::from(bits.leading_zeros()) - above,
        UnOp::Ctz => u64::from(bits.trailing_zeros().min(elem.bits())),
        UnOp::Popcnt => u64::from(bits.count_ones()),
        UnOp::HalfToFloat => return Lane::of_f32(f16::from_bits(bits as u16).to_f32()),
        _ => return Lane::UNKNOWN,
    })
}

fn float(op: UnOp, elem: Elem, a: Lane) -> Lane {
    if elem == Elem::F64 {
        let Some(value) = a.f64() else { return Lane::UNKNOWN };
        return Lane::of_f64(match op {
            UnOp::Sqrt => value.sqrt(),
            UnOp::Round(Rounding::NearestEven) => value.round_ties_even(),
            UnOp::Round(Rounding::Down) => value.floor(),
            UnOp::Round(Rounding::Up) => value.ceil(),
            UnOp::Round(Rounding::Zero) => value.trunc(),
            _ => return Lane::UNKNOWN,
        });
    }
    let Some(value) = a.f32() else { return Lane::UNKNOWN };
    Lane::of_f32(match op {
        UnOp::Sqrt => value.sqrt(),
        UnOp::Round(Rounding::NearestEven) => value.round_ties_even(),
        UnOp::Round(Rounding::Down) => value.floor(),
        UnOp::Round(Rounding::Up) => value.ceil(),
        UnOp::Round(Rounding::Zero) => value.trunc(),
        // The bits of a `half` NaN are unspecified.
        UnOp::FloatToHalf if value.is_nan() => return Lane::UNKNOWN,
        UnOp::FloatToHalf => return Lane::known(u64::from(f16::from_f32(value).to_bits())),
        UnOp::RecipApprox => return approximation(value, 1.0 / f64::from(value)),
        UnOp::RsqrtApprox => return approximation(value, 1.0 / f64::from(value).sqrt()),
        _ => return Lane::UNKNOWN,
    })
}

/// Returns the lane for an approximation whose exact result is `exact`. The result of a denormal operand is
/// unspecified.
fn approximation(operand: f32, exact: f64) -> Lane {
    let result = exact as f32;
    if operand.is_subnormal() {
        return Lane::UNKNOWN;
    }
    if result.is_nan() {
        return Lane::nan(Elem::F32);
    }
    let usual = |value: f32| value.is_normal();
    let state = if usual(operand) && usual(result) { State::Near } else { State::Unknown };
    Lane { bits: u64::from(result.to_bits()), state }
}

/// The result of an operation with two operands. `ty` is the type of both.
pub fn bin(op: BinOp, ty: Type, a: Lane, b: Lane) -> Result<Lane, Fault> {
    if let Some(elem) = ty.elem().filter(|elem| elem.is_float())
        && !matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::AndNot)
    {
        return Ok(float_bin(op, elem, a, b));
    }
    if let Some(lane) = changed_nan(op, ty, a, b) {
        return Ok(lane);
    }
    let (Some(x), Some(y)) = (a.exact(), b.exact()) else {
        let divides = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
        return if divides { Err(Fault::Unknown("a division")) } else { Ok(Lane::UNKNOWN) };
    };
    // The lanes of masks are bits.
    let Some(elem) = ty.elem() else {
        return Ok(Lane::known(bitwise(op, x, y).unwrap_or(0) & 1));
    };
    if let Some(bits) = bitwise(op, x, y) {
        return Ok(Lane::known(bits & all(elem)));
    }
    integer_bin(op, elem, x, y)
}

fn bitwise(op: BinOp, x: u64, y: u64) -> Option<u64> {
    match op {
        BinOp::And => Some(x & y),
        BinOp::Or => Some(x | y),
        BinOp::Xor => Some(x ^ y),
        BinOp::AndNot => Some(x & !y),
        _ => None,
    }
}

/// An unspecified NaN, if a bitwise operation changes at most the sign of a NaN. Otherwise `None`.
fn changed_nan(op: BinOp, ty: Type, a: Lane, b: Lane) -> Option<Lane> {
    let elem = ty.elem()?;
    let (nan, known) = match (a.state, b.state) {
        (State::Nan, State::Known) => (a, b.bits),
        (State::Known, State::Nan) if op != BinOp::AndNot => (b, a.bits),
        _ => return None,
    };
    let below = all(elem) >> 1;
    let stays = match op {
        BinOp::Xor | BinOp::AndNot | BinOp::Or => known & below == 0,
        BinOp::And => known & below == below,
        _ => false,
    };
    stays.then_some(nan)
}

fn integer_bin(op: BinOp, elem: Elem, x: u64, y: u64) -> Result<Lane, Fault> {
    let bits = elem.bits();
    let (s, t) = (signed(x, elem), signed(y, elem));
    let shifts = matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr);
    if shifts && y >= u64::from(bits) {
        return Ok(Lane::UNKNOWN);
    }
    let traps = match op {
        BinOp::UDiv | BinOp::URem => y == 0,
        BinOp::SDiv | BinOp::SRem => y == 0 || (s == signed(1 << (bits - 1), elem) && t == -1),
        _ => false,
    };
    if traps {
        return Err(Fault::Trap);
    }
    let amount = (y % u64::from(bits)) as u32;
    let high = |product: u128| (product >> bits) as u64;
    Ok(Lane::known(
        all(elem)
            & match op {
                BinOp::Add => x.wrapping_add(y),
                BinOp::Sub => x.wrapping_sub(y),
                BinOp::Mul => x.wrapping_mul(y),
                BinOp::MulWideU => (x & 0xffff_ffff) * (y & 0xffff_ffff),
                BinOp::MulWideS => signed(x, Elem::I32).wrapping_mul(signed(y, Elem::I32)) as u64,
                BinOp::MulHiU => high(u128::from(x) * u128::from(y)),
                BinOp::MulHiS => high((i128::from(s) * i128::from(t)) as u128),
                BinOp::UDiv => x / y,
                BinOp::URem => x % y,
                BinOp::SDiv => (s / t) as u64,
                BinOp::SRem => (s % t) as u64,
                BinOp::Shl => x << y,
                BinOp::LShr => x >> y,
                BinOp::AShr => (s >> y) as u64,
                BinOp::Rotl if bits == 32 => u64::from((x as u32).rotate_left(amount)),
                BinOp::Rotl => x.rotate_left(amount),
                BinOp::SMin => s.min(t) as u64,
                BinOp::SMax => s.max(t) as u64,
                BinOp::UMin => x.min(y),
                BinOp::UMax => x.max(y),
                BinOp::AddBytes => each(8, x, y, u32::wrapping_add),
                BinOp::SubBytes => each(8, x, y, u32::wrapping_sub),
                BinOp::MulBytes => each(8, x, y, u32::wrapping_mul),
                BinOp::AddWords => each(16, x, y, u32::wrapping_add),
                BinOp::SubWords => each(16, x, y, u32::wrapping_sub),
                BinOp::MulWords => each(16, x, y, u32::wrapping_mul),
                _ => return Ok(Lane::UNKNOWN),
            },
    ))
}

/// Applies an operation to each `bits` bits of a 32-bit lane.
fn each(bits: u32, x: u64, y: u64, op: impl Fn(u32, u32) -> u32) -> u64 {
    let (x, y, ones) = (x as u32, y as u32, (1_u32 << bits) - 1);
    (0..32 / bits).map(|part| (op(x >> (part * bits) & ones, y >> (part * bits) & ones) & ones) << (part * bits)).sum::<u32>().into()
}

fn float_bin(op: BinOp, elem: Elem, a: Lane, b: Lane) -> Lane {
    macro_rules! apply {
        ($get:ident, $make:ident) => {{
            let (Some(x), Some(y)) = (a.$get(), b.$get()) else { return Lane::UNKNOWN };
            Lane::$make(match op {
                BinOp::FAdd => x + y,
                BinOp::FSub => x - y,
                BinOp::FMul => x * y,
                BinOp::FDiv => x / y,
                BinOp::FMin => return if x < y { a } else { b },
                BinOp::FMax => return if x > y { a } else { b },
                _ => return Lane::UNKNOWN,
            })
        }};
    }
    if elem == Elem::F32 { apply!(f32, of_f32) } else { apply!(f64, of_f64) }
}

/// The result of an operation with three float operands.
pub fn tern(op: TernOp, elem: Elem, a: Lane, b: Lane, c: Lane) -> Lane {
    macro_rules! apply {
        ($get:ident, $make:ident, $fma:path) => {{
            let (Some(x), Some(y), Some(z)) = (a.$get(), b.$get(), c.$get()) else { return Lane::UNKNOWN };
            Lane::$make(match op {
                TernOp::Fma => $fma(x, y, z),
                TernOp::Fms => $fma(x, y, -z),
                TernOp::Fnma => $fma(-x, y, z),
            })
        }};
    }
    if elem == Elem::F32 { apply!(f32, of_f32, super::fma::fmaf) } else { apply!(f64, of_f64, super::fma::fma) }
}

/// The result of a comparison of two lanes: 0 or 1.
pub fn cmp(op: CmpOp, elem: Elem, a: Lane, b: Lane) -> Lane {
    macro_rules! floats {
        ($get:ident) => {{
            let (Some(x), Some(y)) = (a.$get(), b.$get()) else { return Lane::UNKNOWN };
            match op {
                CmpOp::FEq => x == y,
                CmpOp::FNe => x != y,
                CmpOp::FLt => x < y,
                CmpOp::FLe => x <= y,
                CmpOp::FGt => x > y,
                CmpOp::FGe => x >= y,
                _ => return Lane::UNKNOWN,
            }
        }};
    }
    let holds = match elem {
        Elem::F32 => floats!(f32),
        Elem::F64 => floats!(f64),
        Elem::I32 | Elem::I64 => {
            let (Some(x), Some(y)) = (a.exact(), b.exact()) else { return Lane::UNKNOWN };
            let (s, t) = (signed(x, elem), signed(y, elem));
            match op {
                CmpOp::Eq => x == y,
                CmpOp::Ne => x != y,
                CmpOp::SLt => s < t,
                CmpOp::SLe => s <= t,
                CmpOp::SGt => s > t,
                CmpOp::SGe => s >= t,
                CmpOp::ULt => x < y,
                CmpOp::ULe => x <= y,
                CmpOp::UGt => x > y,
                CmpOp::UGe => x >= y,
                _ => return Lane::UNKNOWN,
            }
        }
    };
    Lane::known(u64::from(holds))
}
