//! Rewrites loads and stores of promoted variables to operations on slices: casts, lanes, and combined bytes.
//!
//! Example: an `i16` load from an `i32` slice at offset 2 becomes `trunc (lshr %slice, 16)`.

use super::slices::{Slice, Slices};
use crate::ir::{BinOp, Build, CastOp, Cursor, Function, Op, Scalar, Type, Value, Var};

/// Reinterprets a value as another type of the same size.
fn convert(at: &mut Cursor<'_>, value: Value, to: Type) -> Value {
    let from = at.function.ty(value);
    if from == to {
        return value;
    }
    let op = match (from, to) {
        (Type::Ptr(_), Type::Ptr(_)) => CastOp::SpaceCast,
        (Type::Ptr(_), _) => CastOp::PtrToInt,
        (_, Type::Ptr(_)) => CastOp::IntToPtr,
        _ => CastOp::Bitcast,
    };
    at.push(to, Op::Cast(op, value))
}

impl Slices {
    /// Emits the result of a load of type `ty` at `offset`. `current` returns the current value of a slice.
    pub(super) fn read(
        &self,
        at: &mut Cursor<'_>,
        var: Var,
        offset: u32,
        (ty, size): (Type, u32),
        current: &mut dyn FnMut(&mut Function, usize) -> Value,
    ) -> Value {
        let range = self.overlapping(var, offset, size);
        if range.len() == 1 {
            let slice = self.list[range.start];
            let value = current(at.function, range.start);
            if slice.size == size {
                return convert(at, value, ty);
            }
            if let Some((lane, lanes, scalar)) = lanes_of(slice, offset, size) {
                let part = if lanes == 1 {
                    at.extract(value, lane)
                } else {
                    let order = (0..lanes).map(|index| Some(lane + index)).collect();
                    at.push(Type::of(scalar, lanes), Op::Shuffle(value, value, order))
                };
                return convert(at, part, ty);
            }
        }
        let Some(scalar) = ty.scalar() else { return current(at.function, range.start) };
        let mut parts = Vec::with_capacity(usize::from(ty.lanes()));
        for lane in 0..u32::from(ty.lanes()) {
            parts.push(self.read_scalar(at, var, offset + lane * scalar.size(), scalar, current));
        }
        match parts[..] {
            [single] => single,
            _ => at.push(ty, Op::Construct(parts)),
        }
    }

    /// Combines integer slices to a scalar. The slices must not be wider than the scalar.
    fn read_scalar(
        &self,
        at: &mut Cursor<'_>,
        var: Var,
        offset: u32,
        scalar: Scalar,
        current: &mut dyn FnMut(&mut Function, usize) -> Value,
    ) -> Value {
        let range = self.overlapping(var, offset, scalar.size());
        let int = Type::Scalar(Scalar::int_of_size(scalar.size()).unwrap_or(Scalar::I32));
        let mut whole = None;
        for index in range {
            let slice = self.list[index];
            let mut part = current(at.function, index);
            if slice.size < scalar.size() {
                part = at.push(int, Op::Cast(CastOp::ZExt, part));
                if slice.offset > offset {
                    let amount = at.bits(int, u64::from(slice.offset - offset) * 8);
                    part = at.bin(BinOp::Shl, part, amount);
                }
            }
            whole = Some(match whole {
                None => part,
                Some(whole) => at.bin(BinOp::Or, whole, part),
            });
        }
        let whole = whole.unwrap_or_else(|| at.bits(int, 0));
        convert(at, whole, Type::Scalar(scalar))
    }

    /// Emits the new values of the slices that a store of `value` at `offset` changes. Returns the slices and values.
    pub(super) fn write(
        &self,
        at: &mut Cursor<'_>,
        var: Var,
        offset: u32,
        (value, size): (Value, u32),
        current: &mut dyn FnMut(&mut Function, usize) -> Value,
    ) -> Vec<(usize, Value)> {
        let range = self.overlapping(var, offset, size);
        let ty = at.function.ty(value);
        if range.len() == 1 {
            let slice = self.list[range.start];
            if slice.size == size {
                return vec![(range.start, convert(at, value, slice.ty))];
            }
            if let Some((lane, lanes, scalar)) = lanes_of(slice, offset, size) {
                let part = convert(at, value, Type::of(scalar, lanes));
                let mut whole = current(at.function, range.start);
                for index in 0..lanes {
                    let single = if lanes == 1 { part } else { at.extract(part, index) };
                    whole = at.push(slice.ty, Op::Insert(whole, lane + index, single));
                }
                return vec![(range.start, whole)];
            }
        }
        let Some(scalar) = ty.scalar() else { return Vec::new() };
        let mut changed = Vec::with_capacity(range.len());
        for lane in 0..ty.lanes() {
            let single = if ty.lanes() == 1 { value } else { at.extract(value, lane) };
            self.write_scalar(at, (var, offset + u32::from(lane) * scalar.size()), single, scalar, &mut changed);
        }
        changed
    }

    /// Splits a scalar into the integer slices that it covers.
    fn write_scalar(
        &self,
        at: &mut Cursor<'_>,
        (var, offset): (Var, u32),
        value: Value,
        scalar: Scalar,
        changed: &mut Vec<(usize, Value)>,
    ) {
        let int = Type::Scalar(Scalar::int_of_size(scalar.size()).unwrap_or(Scalar::I32));
        let bits = convert(at, value, int);
        for index in self.overlapping(var, offset, scalar.size()) {
            let slice = self.list[index];
            let mut part = bits;
            if slice.size < scalar.size() {
                if slice.offset > offset {
                    let amount = at.bits(int, u64::from(slice.offset - offset) * 8);
                    part = at.bin(BinOp::LShr, part, amount);
                }
                part = at.push(slice.ty, Op::Cast(CastOp::Trunc, part));
            }
            changed.push((index, part));
        }
    }
}

/// Returns the first lane, the number of lanes and the lane type of a range of a slice's bytes. Returns `None` if the
/// slice is a scalar.
fn lanes_of(slice: Slice, offset: u32, size: u32) -> Option<(u8, u8, Scalar)> {
    let Type::Vector(scalar, _) = slice.ty else { return None };
    let lane = u8::try_from((offset - slice.offset) / scalar.size()).ok()?;
    let lanes = u8::try_from(size / scalar.size()).ok()?;
    Some((lane, lanes, scalar))
}
