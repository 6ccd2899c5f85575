//! Conversions of one lane.

use wgcl_codegen::vir::{CastOp, Elem};

use super::lane::Lane;

/// Converts a lane from one element to another.
pub fn cast(op: CastOp, from: Elem, to: Elem, a: Lane) -> Lane {
    match op {
        CastOp::Bitcast => a,
        CastOp::SExt => integer(a, |bits| bits as u32 as i32 as i64 as u64),
        CastOp::ZExt => integer(a, |bits| bits),
        CastOp::Trunc => integer(a, |bits| u64::from(bits as u32)),
        CastOp::SToF | CastOp::UToF => a.exact().map_or(Lane::UNKNOWN, |bits| to_float(op, from, to, bits)),
        CastOp::FToS | CastOp::FToU => to_integer(op, from, to, a),
        CastOp::FToF => match (from, to) {
            (Elem::F32, Elem::F64) => a.f32().map_or(Lane::UNKNOWN, |value| Lane::of_f64(f64::from(value))),
            (Elem::F64, Elem::F32) => a.f64().map_or(Lane::UNKNOWN, |value| Lane::of_f32(value as f32)),
            _ => a,
        },
    }
}

fn integer(a: Lane, f: impl Fn(u64) -> u64) -> Lane {
    a.exact().map_or(Lane::UNKNOWN, |bits| Lane::known(f(bits)))
}

fn to_float(op: CastOp, from: Elem, to: Elem, bits: u64) -> Lane {
    let signed = if from.bits() == 32 { i64::from(bits as u32 as i32) } else { bits as i64 };
    match (op, to) {
        (CastOp::SToF, Elem::F32) => Lane::of_f32(signed as f32),
        (CastOp::SToF, _) => Lane::of_f64(signed as f64),
        (_, Elem::F32) => Lane::of_f32(bits as f32),
        _ => Lane::of_f64(bits as f64),
    }
}

fn to_integer(op: CastOp, from: Elem, to: Elem, a: Lane) -> Lane {
    let value = if from == Elem::F32 { a.f32().map(f64::from) } else { a.f64() };
    // All bounds are powers of two, so they are exact. A NaN fails the range check, so its result is unspecified.
    let Some(whole) = value.map(f64::trunc) else { return Lane::UNKNOWN };
    let (low, high, bits) = match (op, to.bits()) {
        (CastOp::FToS, 32) => (-2_f64.powi(31), 2_f64.powi(31), u64::from(whole as i32 as u32)),
        (CastOp::FToS, _) => (-2_f64.powi(63), 2_f64.powi(63), whole as i64 as u64),
        (_, 32) => (0.0, 2_f64.powi(32), u64::from(whole as u32)),
        _ => (0.0, 2_f64.powi(64), whole as u64),
    };
    if whole >= low && whole < high { Lane::known(bits) } else { Lane::UNKNOWN }
}
