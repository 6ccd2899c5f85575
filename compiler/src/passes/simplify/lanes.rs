//! Replaces loads of lanes of a vector that was already loaded: `a[i].w` after `a[i]`.

use super::walk::Walk;
use crate::ir::{BinOp, Const, Op, Scalar, Type, Value};

/// Maximum number of lanes of the vectors that are searched.
const MAX_LANES: u8 = 4;

impl Walk<'_> {
    /// Finds a loaded vector that contains the value of a scalar load. Returns the vector and the lane, or `None`.
    pub(super) fn known_lane(&self, ptr: Value, ty: Type) -> Option<(Value, u8)> {
        let Type::Scalar(scalar) = ty else { return None };
        (0..MAX_LANES).find_map(|lane| {
            let start = self.pointer_below(ptr, u64::from(lane) * u64::from(scalar.size()))?;
            let vector = (2..=MAX_LANES).filter(|&lanes| lanes > lane).find_map(|lanes| self.loaded(start, Type::Vector(scalar, lanes)))?;
            Some((vector, lane))
        })
    }

    /// Returns the already computed pointer that is `bytes` bytes below `ptr`, or `None` if there is none.
    fn pointer_below(&self, ptr: Value, bytes: u64) -> Option<Value> {
        if bytes == 0 {
            return Some(ptr);
        }
        let &Op::PtrAdd(base, offset) = self.def(ptr)? else { return None };
        let Type::Scalar(width) = self.ty(offset) else { return None };
        let (variable, constant) = match self.def(offset) {
            Some(&Op::Bin(BinOp::Add, x, y)) => (Some(x), self.bits(y)?),
            Some(Op::Const(Const::Bits(bits))) => (None, *bits),
            _ => return None,
        };
        let rest = constant.wrapping_sub(bytes) & width.mask();
        let offset = match (variable, rest) {
            (None, 0) => return Some(base),
            (Some(variable), 0) => variable,
            (variable, rest) => self.computed_sum(variable, rest, width)?,
        };
        self.known(&(Op::PtrAdd(base, offset), self.ty(ptr), 0))
    }

    /// Returns the already computed value `variable + constant`, or `None` if there is none.
    fn computed_sum(&self, variable: Option<Value>, constant: u64, width: Scalar) -> Option<Value> {
        let ty = Type::Scalar(width);
        let constant = self.known_constant(ty, constant)?;
        match variable {
            None => Some(constant),
            Some(variable) => self.known(&(Op::Bin(BinOp::Add, variable, constant), ty, 0)),
        }
    }
}
