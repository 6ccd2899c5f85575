//! Atomic operations on halves: loads and compare-and-exchange of the word that contains the half. Concurrent writes
//! to the rest of the word are never lost, and the half changes atomically. `passes::legalize` builds all other
//! operations from these two.

use super::{Address, Index};
use crate::emit::EmitError;
use crate::emit::builder::Expr;
use crate::emit::function::Emitter;
use crate::emit::views::{AccessShape, ViewKey};
use naga::{BinaryOperator, UnaryOperator};

/// The location of a half.
struct HalfLocation {
    /// The view of its word.
    key: ViewKey,
    /// Pointer to the word.
    pointer: Expr,
    /// The shift of the half in the word.
    shift: Expr,
}

impl Emitter<'_, '_> {
    /// An atomic load. Raw.
    pub(super) fn load_half(&mut self, address: &Address, shape: AccessShape) -> Result<Expr, EmitError> {
        let place = self.place_of_half(address, shape)?;
        let word = self.b.load(place.pointer);
        let raw = self.raw_of_slot(place.key, word);
        Ok(self.half_of(raw, place.shift))
    }

    /// Compare and exchange; returns the old value. Raw in and out.
    pub(super) fn exchange_half(
        &mut self,
        address: &Address,
        shape: AccessShape,
        (expected, desired): (Expr, Expr),
    ) -> Result<Expr, EmitError> {
        let HalfLocation { key, pointer, shift } = self.place_of_half(address, shape)?;
        let low = self.b.u32(0xffff);
        let (expected, desired) = (self.b.and(expected, low), self.b.and(desired, low));
        let mask = self.b.shl(low, shift);
        let (keep, bits) = (self.b.unary(UnaryOperator::BitwiseNot, mask), self.b.shl(desired, shift));
        let found = self.exchange_until_alone(key, pointer, |this, raw| {
            let half = this.half_of(raw, shift);
            let same = this.b.binary(BinaryOperator::Equal, half, expected);
            let kept = this.b.and(raw, keep);
            let changed = this.b.or(kept, bits);
            // An unchanged word is exchanged too, because this orders other accesses.
            this.b.select(same, changed, raw)
        })?;
        Ok(self.half_of(found, shift))
    }

    fn place_of_half(&mut self, address: &Address, shape: AccessShape) -> Result<HalfLocation, EmitError> {
        let key = self
            .object(address.object)?
            .atomic(shape)
            .ok_or_else(|| EmitError::unsupported("atomics of halves in memory whose words are not atomic"))?;
        let (index, shift) = match self.byte_offset(address, 0)? {
            Index::Const(offset) => (Index::Const(offset / 4), self.b.u32(offset % 4 * 8)),
            Index::Expr(byte) | Index::Address(byte) => self.split_offset(byte, address.begin.is_some()),
        };
        Ok(HalfLocation { key, pointer: self.element(address.object, key, index)?, shift })
    }

    fn half_of(&mut self, word: Expr, shift: Expr) -> Expr {
        let low = self.b.u32(0xffff);
        let part = self.b.shr(word, shift);
        self.b.and(part, low)
    }
}
