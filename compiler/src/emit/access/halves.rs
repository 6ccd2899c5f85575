//! Atomic operations on halves: loads, and loops of compare-and-exchange of the word that contains the half. Concurrent
//! writes to the other half of the word are not lost, and the half changes atomically. `passes::legalize` lowers
//! arithmetic to loads and compare-and-exchange. A raw value is the bits of a half or word as a `u32`.

use super::{Address, Index};
use crate::emit::EmitError;
use crate::emit::builder::Expr;
use crate::emit::function::Emitter;
use crate::emit::views::{AccessShape, ViewKey};
use crate::ir::AtomicOp;
use naga::{BinaryOperator, UnaryOperator};

/// The location of a half in a word.
struct HalfLocation {
    /// The view that contains the word.
    key: ViewKey,
    /// Pointer to the word.
    pointer: Expr,
    /// Shift of the half in the word, in bits.
    shift: Expr,
}

impl Emitter<'_, '_> {
    /// Emits an atomic load of a half. The result is raw.
    pub(super) fn load_half(&mut self, address: &Address, shape: AccessShape) -> Result<Expr, EmitError> {
        let place = self.locate_half(address, shape)?;
        let word = self.b.load(place.pointer);
        let raw = self.element_to_raw(place.key, word);
        Ok(self.extract_half(raw, place.shift))
    }

    /// Compares and exchanges a half. Returns the old half. Operands and result are raw.
    pub(super) fn exchange_half(
        &mut self,
        address: &Address,
        shape: AccessShape,
        (expected, desired): (Expr, Expr),
    ) -> Result<Expr, EmitError> {
        let HalfLocation { key, pointer, shift } = self.locate_half(address, shape)?;
        let low = self.b.u32(0xffff);
        let (expected, desired) = (self.b.and(expected, low), self.b.and(desired, low));
        let mask = self.b.shl(low, shift);
        let (keep, bits) = (self.b.unary(UnaryOperator::BitwiseNot, mask), self.b.shl(desired, shift));
        let found = self.exchange_loop(key, pointer, |this, raw| {
            let half = this.extract_half(raw, shift);
            let same = this.b.binary(BinaryOperator::Equal, half, expected);
            let kept = this.b.and(raw, keep);
            let changed = this.b.or(kept, bits);
            // If the half is not the expected one, the exchange writes the unchanged word. The exchange must be
            // executed, because it orders other accesses.
            this.b.select(same, changed, raw)
        })?;
        Ok(self.extract_half(found, shift))
    }

    /// Replaces a half with `operand`, or with the bitwise OR of both. Returns the old half. Operand and result are
    /// raw.
    pub(super) fn replace_half(&mut self, op: AtomicOp, address: &Address, shape: AccessShape, operand: Expr) -> Result<Expr, EmitError> {
        let HalfLocation { key, pointer, shift } = self.locate_half(address, shape)?;
        let low = self.b.u32(0xffff);
        let operand = self.b.and(operand, low);
        let bits = self.b.shl(operand, shift);
        let keep = match op {
            AtomicOp::Xchg => {
                let mask = self.b.shl(low, shift);
                Some(self.b.unary(UnaryOperator::BitwiseNot, mask))
            }
            AtomicOp::Or => None,
            _ => return Err(EmitError::Internal(format!("atomic {op:?} of a `half` is not legalized"))),
        };
        let found = self.exchange_loop(key, pointer, |this, raw| {
            let kept = keep.map_or(raw, |keep| this.b.and(raw, keep));
            this.b.or(kept, bits)
        })?;
        Ok(self.extract_half(found, shift))
    }

    fn locate_half(&mut self, address: &Address, shape: AccessShape) -> Result<HalfLocation, EmitError> {
        let key = self
            .object(address.object)?
            .atomic(shape)
            .ok_or_else(|| EmitError::unsupported("an atomic operation on a `half` in this memory"))?;
        let (index, shift) = match self.byte_offset(address, 0)? {
            Index::Const(offset) => (Index::Const(offset / 4), self.b.u32(offset % 4 * 8)),
            Index::Expr(byte) | Index::Address(byte) => self.split_offset(byte, address.object_address.is_some()),
        };
        Ok(HalfLocation { key, pointer: self.element(address.object, key, index)?, shift })
    }

    fn extract_half(&mut self, word: Expr, shift: Expr) -> Expr {
        let low = self.b.u32(0xffff);
        let part = self.b.shr(word, shift);
        self.b.and(part, low)
    }
}
