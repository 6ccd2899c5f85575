//! Strides: how a value grows from one work-item, or lane, to the next.
//!
//! ```text
//! %1 = workitem.local_id 0        stride 1
//! %2 = shl %1, 2                  stride 4
//! %3 = ptr_add %p, %2             stride 4 (bytes)
//! ```

use super::definitions::Definitions;
use crate::ir::{BinOp, CastOp, Function, Op, Scalar, Type, Value};

/// The stride of the result of an operation, modulo 2^64, given the strides `of` its operands. A uniform operand has
/// the stride 0. `None` if the operation does not keep strides, or if the stride of its result also depends on other
/// properties of its operands.
pub(crate) fn stride(
    function: &Function,
    definitions: &Definitions<'_>,
    op: &Op,
    ty: Type,
    of: impl Fn(Value) -> Option<u64>,
) -> Option<u64> {
    let is_integer = matches!(ty, Type::I32 | Type::I64);
    let constant = |value: Value| Some(function.ty(value).scalar()?.sign_extend(definitions.scalar(value)?).cast_unsigned());
    match *op {
        Op::Bin(BinOp::Add, a, b) if is_integer => Some(of(a)?.wrapping_add(of(b)?)),
        Op::Bin(BinOp::Sub, a, b) if is_integer => Some(of(a)?.wrapping_sub(of(b)?)),
        Op::Bin(BinOp::Mul, a, b) if is_integer => {
            let scaled = |x: Value, factor: Value| Some(of(x)?.wrapping_mul(constant(factor)?));
            scaled(a, b).or_else(|| scaled(b, a))
        }
        Op::Bin(BinOp::Shl, a, b) if is_integer => {
            let width = u64::from(ty.scalar().map_or(32, Scalar::bits));
            Some(of(a)? << (definitions.scalar(b)? % width))
        }
        Op::Cast(CastOp::Trunc, a) if ty == Type::I32 && function.ty(a) == Type::I64 => of(a),
        Op::PtrAdd(base, offset) => Some(of(base)?.wrapping_add(of(offset)?)),
        _ => None,
    }
}
