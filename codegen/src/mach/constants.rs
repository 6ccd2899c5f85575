//! Constants of the vector IR, as instruction selection reads them.

use super::folding::FoldingPlan;
use crate::vir::{Function, Op, Value};

/// A constant of the vector IR.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Constant<'a> {
    /// The bits of a scalar or mask, or of every lane of a vector.
    Splat(u64),
    /// The bits of each lane.
    Lanes(&'a [u64]),
}

impl Constant<'_> {
    /// Returns the bits of a scalar, or of every lane. Returns `None` for a list of lanes.
    pub(crate) const fn splat_bits(self) -> Option<u64> {
        match self {
            Self::Splat(bits) => Some(bits),
            Self::Lanes(_) => None,
        }
    }
}

impl<'a> FoldingPlan<'a> {
    /// Returns the constant that defines a value, or `None` if the value is not constant.
    pub(crate) fn constant(&self, function: &Function, value: Value) -> Option<Constant<'a>> {
        let op = &self.defs[value.index()]?.op;
        let bits = match op {
            Op::Const(bits) => *bits,
            Op::Lanes(lanes) => return Some(Constant::Lanes(lanes)),
            Op::Splat(of) => match self.defs[of.index()]?.op {
                Op::Const(bits) => bits,
                _ => return None,
            },
            _ => return None,
        };
        let narrow = function.ty(value).elem().is_some_and(|elem| elem.bits() == 32);
        Some(Constant::Splat(if narrow { bits & 0xFFFF_FFFF } else { bits }))
    }
}
