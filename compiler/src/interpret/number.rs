//! Selects the function for one lane of an operation by the operation and the type.
//!
//! Example: `binary(BinOp::FAdd, Scalar::F32)` is `f32` addition.

use super::{float, integer};
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar, UnOp};

/// A function with one operand.
pub(super) type Unary = fn(u64) -> u64;
/// A function with two operands.
pub(super) type Binary = fn(u64, u64) -> u64;
/// A function with three operands.
pub(super) type Ternary = fn(u64, u64, u64) -> u64;

/// Selects the function for one lane of an operation, or `None` if the IR does not have the operation for this type.
pub(super) fn unary(op: UnOp, scalar: Scalar) -> Option<Unary> {
    if op == UnOp::FNeg { float::negate(scalar) } else { integer::unary(op, scalar) }
}

/// Selects the function for one lane of an operation, or `None` if the IR does not have the operation for this type.
pub(super) fn binary(op: BinOp, scalar: Scalar) -> Option<Binary> {
    if scalar.is_float() { float::binary(op, scalar) } else { integer::binary(op, scalar) }
}

/// Selects the function for one lane of an operation, or `None` if the IR does not have the operation for this type.
/// Pointers are compared as 64-bit integers.
pub(super) fn compare(op: CmpOp, scalar: Scalar) -> Option<Binary> {
    if scalar.is_float() { float::compare(op, scalar) } else { integer::compare(op, scalar) }
}

/// The function for a conversion of each lane to a lane of another type.
pub(super) fn cast(op: CastOp, from: Scalar, to: Scalar) -> Option<Unary> {
    integer::cast(op, from, to).or_else(|| float::cast(op, from, to))
}

/// The function for a [`MathOp`], by the number of its operands.
pub(super) enum Math {
    One(Unary),
    Two(Binary),
    Three(Ternary),
}

/// Selects the function for one lane of an operation, or `None` if the IR does not have the operation for this type.
pub(super) fn math(op: MathOp, scalar: Scalar, fused: bool) -> Option<Math> {
    integer::math(op, scalar)
        .or_else(|| float::math(op, scalar))
        .map(Math::One)
        .or_else(|| float::math2(op, scalar).map(Math::Two))
        .or_else(|| float::math3(op, scalar, fused).map(Math::Three))
}
