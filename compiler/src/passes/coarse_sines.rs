//! Computes native sines, cosines and tangents with polynomials, for devices with inaccurate sines
//! ([`Defects::coarse_sines`](crate::target::Defects::coarse_sines)).
//!
//! ```text
//! %1 = math.native_sin %0    =>    %2 = fmul %0, 2/pi; %3 = math.rint %2         quarter circles
//!                                  %4 = fsub %0, fmul(%3, pi/2), in three parts  remainder
//!                                  ... one of two series in %4, and a sign
//! ```
//! If the number of quarter circles is small, the absolute error is a few ulp of 1.0. The native functions of other
//! devices have this accuracy, and programs rely on it.

use super::pass::Pass;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Cursor, Function, Inst, MathOp, Op, Region, Scalar, Value};

pub(crate) const PASS: Pass = Pass::function("coarse_sines", |function, _| Ok(run(function)));

/// pi/2 as a sum of three numbers. The first two have few significant bits, so that their products with integers up to
/// some thousands are exact.
pub(crate) const QUARTER: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];

/// The coefficients of sin(x)/x as a polynomial in x^2, highest power first.
pub(crate) const ODD: [f32; 5] = [2.755_731_9e-6, -1.984_127e-4, 8.333_333e-3, -1.666_666_7e-1, 1.0];

/// The coefficients of cos(x) as a polynomial in x^2, highest power first.
pub(crate) const EVEN: [f32; 5] = [2.480_158_7e-5, -1.388_888_9e-3, 4.166_666_8e-2, -0.5, 1.0];

/// Rewrites native sines, cosines and tangents. Returns whether there were any.
fn run(function: &mut Function) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let changed = region(function, &mut body);
    function.body = body;
    changed
}

/// Rewrites a region. Returns whether anything changed.
fn region(function: &mut Function, region: &mut Region) -> bool {
    let mut changed = false;
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        for nested in inst.op.regions_mut() {
            changed |= self::region(function, nested);
        }
        let replaced = match (&inst.op, &inst.results[..]) {
            (Op::Math(op, args), &[result]) if function.ty(result).scalar() == Some(Scalar::F32) => {
                let mut at = Cursor::new(function, &mut out, inst.span);
                args.first().and_then(|&angle| replacement(&mut at, *op, angle))
            }
            _ => None,
        };
        changed |= replaced.is_some();
        out.push(Inst { op: replaced.unwrap_or(inst.op), ..inst });
    }
    region.insts = out;
    changed
}

/// Emits the replacement of `op` except the last operation, and returns the last operation. Returns `None` if `op` has
/// no replacement.
fn replacement(at: &mut Cursor<'_>, op: MathOp, angle: Value) -> Option<Op> {
    match op {
        MathOp::NativeSin => Some(sine(at, angle, 0)),
        MathOp::NativeCos => Some(sine(at, angle, 1)),
        MathOp::NativeTan => {
            let ty = at.type_of(angle);
            let (sine, cosine) = (sine(at, angle, 0), sine(at, angle, 1));
            let (sine, cosine) = (at.push(ty, sine), at.push(ty, cosine));
            Some(Op::Bin(BinOp::FDiv, sine, cosine))
        }
        _ => None,
    }
}

/// Emits the sine of `angle` plus `quarters` quarter circles except the last operation, and returns the last operation.
fn sine(at: &mut Cursor<'_>, angle: Value, quarters: u64) -> Op {
    let quarters_of_circle = with_float(at, BinOp::FMul, angle, std::f32::consts::FRAC_2_PI);
    let whole = at.math(MathOp::Rint, quarters_of_circle);
    let mut rest = angle;
    for part in QUARTER {
        let product = with_float(at, BinOp::FMul, whole, part);
        rest = at.bin(BinOp::FSub, rest, product);
    }
    let square = at.bin(BinOp::FMul, rest, rest);
    let odd = polynomial(at, square, ODD);
    let sine = at.bin(BinOp::FMul, odd, rest);
    let cosine = polynomial(at, square, EVEN);
    let quarter = at.cast(CastOp::FToS, whole, Scalar::I32);
    let quarter = at.bin_bits(BinOp::Add, quarter, quarters);
    let one = at.bin_bits(BinOp::And, quarter, 1);
    let is_odd = at.cmp_bits(CmpOp::Ne, one, 0);
    let value = at.select(is_odd, cosine, sine);
    let two = at.bin_bits(BinOp::And, quarter, 2);
    let sign = at.bin_bits(BinOp::Shl, two, 30);
    let bits = at.cast(CastOp::Bitcast, value, Scalar::I32);
    let bits = at.bin(BinOp::Xor, bits, sign);
    Op::Cast(CastOp::Bitcast, bits)
}

fn with_float(at: &mut Cursor<'_>, op: BinOp, a: Value, b: f32) -> Value {
    at.bin_bits(op, a, u64::from(b.to_bits()))
}

fn polynomial(at: &mut Cursor<'_>, x: Value, [first, others @ ..]: [f32; 5]) -> Value {
    let ty = at.type_of(x);
    let mut sum = at.bits(ty, u64::from(first.to_bits()));
    for coefficient in others {
        let product = at.bin(BinOp::FMul, sum, x);
        sum = with_float(at, BinOp::FAdd, product, coefficient);
    }
    sum
}
