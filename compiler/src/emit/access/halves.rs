//! Atomic operations on halves: loads, and compare-and-exchange, of the word that holds one. What others write into the rest of the word is never lost, and the half
//! changes at once. `passes::legalize` makes all other operations of these two.

use super::{Address, Index};
use crate::emit::EmitError;
use crate::emit::builder::Expr;
use crate::emit::function::Emitter;
use crate::emit::views::{AccessShape, ViewKey};
use naga::{BinaryOperator, Statement, UnaryOperator};

/// Where a half is.
struct Place {
    /// The view of its word.
    key: ViewKey,
    /// To the word.
    pointer: Expr,
    /// By how many bits it is shifted there.
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

    /// Compare and exchange; the old value. Raw in and out.
    pub(super) fn exchange_half(
        &mut self,
        address: &Address,
        shape: AccessShape,
        (expected, desired): (Expr, Expr),
    ) -> Result<Expr, EmitError> {
        let Place { key, pointer, shift } = self.place_of_half(address, shape)?;
        let low = self.b.u32(0xffff);
        let (expected, desired) = (self.b.and(expected, low), self.b.and(desired, low));
        let mask = self.b.shl(low, shift);
        let (keep, bits) = (self.b.unary(UnaryOperator::BitwiseNot, mask), self.b.shl(desired, shift));
        let ty = self.b.shared.ty(key.slot, 1);
        let seen = self.b.local(None, ty);
        let first = self.b.load(pointer);
        self.b.store_local(seen, first);
        let never = if self.cx.target.shaders.defects.loop_values { Some(self.never()?) } else { None };
        self.b.open();
        if let Some(never) = never {
            self.exit_otherwise(never);
        }
        let old = self.b.load_local(seen);
        let raw = self.raw_of_slot(key, old);
        let half = self.half_of(raw, shift);
        let same = self.b.binary(BinaryOperator::Equal, half, expected);
        let kept = self.b.and(raw, keep);
        let changed = self.b.or(kept, bits);
        // A word that stays as it is is exchanged all the same: that is what orders other accesses.
        let new = self.b.select(same, changed, raw);
        let new = self.slot_of_raw(key, new);
        let found = self.exchange(key, pointer, old, new);
        self.b.store_local(seen, found);
        let alone = self.b.binary(BinaryOperator::Equal, found, old);
        self.b.open();
        self.b.stmt(Statement::Break);
        let accept = self.b.close();
        self.b.stmt(Statement::If { condition: alone, accept, reject: naga::Block::new() });
        let body = self.b.close();
        self.b.stmt(Statement::Loop { body, continuing: naga::Block::new(), break_if: None });
        let found = self.b.load_local(seen);
        let raw = self.raw_of_slot(key, found);
        Ok(self.half_of(raw, shift))
    }

    fn place_of_half(&mut self, address: &Address, shape: AccessShape) -> Result<Place, EmitError> {
        let key = self
            .object(address.object)?
            .atomic(shape)
            .ok_or_else(|| EmitError::unsupported("atomics of halves in memory whose words are not atomic"))?;
        let (index, shift) = match self.byte_offset(address, 0)? {
            Index::Const(offset) => (Index::Const(offset / 4), self.b.u32(offset % 4 * 8)),
            Index::Expr(byte) | Index::Address(byte) => self.split_offset(byte, address.begin.is_some()),
        };
        Ok(Place { key, pointer: self.element(address.object, key, index)?, shift })
    }

    fn half_of(&mut self, word: Expr, shift: Expr) -> Expr {
        let low = self.b.u32(0xffff);
        let part = self.b.shr(word, shift);
        self.b.and(part, low)
    }
}
