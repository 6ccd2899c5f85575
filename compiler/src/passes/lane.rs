//! How a value differs from one work-item to the next.

use crate::analysis::definitions::Constants;
use crate::ir::{BinOp, Function, Op, Type, Value};

/// A value from one work-item to the next of dimension 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Not computed yet.
    Unknown,
    /// The same.
    Uniform,
    /// More by so much: 32-bit integers and addresses, modulo 2^32.
    Stride(u32),
    /// Anything.
    Varying,
}

impl Lane {
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, lane) | (lane, Self::Unknown) => lane,
            (a, b) if a == b => a,
            _ => Self::Varying,
        }
    }

    const fn stride(self) -> Option<u32> {
        match self {
            Self::Uniform => Some(0),
            Self::Stride(stride) => Some(stride),
            Self::Unknown | Self::Varying => None,
        }
    }

    const fn of_stride(stride: u32) -> Self {
        if stride == 0 { Self::Uniform } else { Self::Stride(stride) }
    }

    /// The result of an operation that keeps strides, where those of its operands say what it is. `constants`: those of the function.
    pub(super) fn of_sum(op: &Op, function: &Function, constants: &Constants, lane: impl Fn(Value) -> Self) -> Option<Self> {
        let stride = |value: Value| lane(value).stride().filter(|_| function.ty(value) == Type::I32);
        match *op {
            Op::Bin(BinOp::Add, a, b) => Some(Self::of_stride(stride(a)?.wrapping_add(stride(b)?))),
            Op::Bin(BinOp::Sub, a, b) => Some(Self::of_stride(stride(a)?.wrapping_sub(stride(b)?))),
            Op::Bin(BinOp::Mul, a, b) => {
                let scaled = |x: Value, factor: Value| Some(Self::of_stride(stride(x)?.wrapping_mul(constants.bits(factor)? as u32)));
                scaled(a, b).or_else(|| scaled(b, a))
            }
            Op::Bin(BinOp::Shl, a, b) => Some(Self::of_stride(stride(a)?.wrapping_shl((constants.bits(b)? % 32) as u32))),
            Op::PtrAdd(base, offset) if lane(base) == Self::Uniform => Some(lane(offset)),
            _ => None,
        }
    }
}
