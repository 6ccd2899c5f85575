//! Loads and stores of promoted variables in terms of their pieces: conversions, lanes, and bytes put together.

use super::pieces::{Piece, Pieces};
use crate::diag::Span;
use crate::ir::{BinOp, CastOp, Function, Inst, Op, Scalar, Type, Value, Var};

/// Where in the IR an access is rewritten.
pub struct Site<'a> {
    /// The function.
    pub function: &'a mut Function,
    /// New instructions go to its end.
    pub out: &'a mut Vec<Inst>,
    /// Where the access comes from.
    pub span: Span,
}

impl Site<'_> {
    fn emit(&mut self, ty: Type, op: Op) -> Value {
        self.function.emit(self.out, self.span, ty, op)
    }

    /// The same bytes as another type of the same size.
    pub fn convert(&mut self, value: Value, to: Type) -> Value {
        let from = self.function.ty(value);
        if from == to {
            return value;
        }
        let op = match (from, to) {
            (Type::Ptr(_), Type::Ptr(_)) => CastOp::SpaceCast,
            (Type::Ptr(_), _) => CastOp::PtrToInt,
            (_, Type::Ptr(_)) => CastOp::IntToPtr,
            _ => CastOp::Bitcast,
        };
        self.emit(to, Op::Cast(op, value))
    }

    /// The value that a load of type `ty` at `offset` gives. `current` has the values of the pieces.
    pub fn read(
        &mut self,
        pieces: &Pieces,
        var: Var,
        offset: u32,
        (ty, size): (Type, u32),
        current: &mut dyn FnMut(&mut Function, usize) -> Value,
    ) -> Value {
        let range = pieces.touched(var, offset, size);
        if range.len() == 1 {
            let piece = pieces.list[range.start];
            let value = current(self.function, range.start);
            if piece.size == size {
                return self.convert(value, ty);
            }
            if let Some((lane, lanes, scalar)) = lanes_of(piece, offset, size) {
                let part = if lanes == 1 {
                    self.emit(Type::Scalar(scalar), Op::Extract(value, lane))
                } else {
                    let order = (0..lanes).map(|index| Some(lane + index)).collect();
                    self.emit(Type::of(scalar, lanes), Op::Shuffle(value, value, order))
                };
                return self.convert(part, ty);
            }
        }
        let Some(scalar) = ty.scalar() else { return current(self.function, range.start) };
        let mut parts = Vec::with_capacity(usize::from(ty.lanes()));
        for lane in 0..u32::from(ty.lanes()) {
            parts.push(self.read_scalar(pieces, var, offset + lane * scalar.size(), scalar, current));
        }
        match parts[..] {
            [single] => single,
            _ => self.emit(ty, Op::Construct(parts)),
        }
    }

    /// Puts a scalar together from integer pieces none of which is longer.
    fn read_scalar(
        &mut self,
        pieces: &Pieces,
        var: Var,
        offset: u32,
        scalar: Scalar,
        current: &mut dyn FnMut(&mut Function, usize) -> Value,
    ) -> Value {
        let range = pieces.touched(var, offset, scalar.size());
        let int = Type::Scalar(Scalar::int_of_size(scalar.size()).unwrap_or(Scalar::I32));
        let mut whole = None;
        for index in range {
            let piece = pieces.list[index];
            let mut part = current(self.function, index);
            if piece.size < scalar.size() {
                part = self.emit(int, Op::Cast(CastOp::ZExt, part));
                if piece.offset > offset {
                    let amount = self.function.emit_bits(self.out, self.span, int, u64::from(piece.offset - offset) * 8);
                    part = self.emit(int, Op::Bin(BinOp::Shl, part, amount));
                }
            }
            whole = Some(match whole {
                None => part,
                Some(whole) => self.emit(int, Op::Bin(BinOp::Or, whole, part)),
            });
        }
        let whole = whole.unwrap_or_else(|| self.function.emit_bits(self.out, self.span, int, 0));
        self.convert(whole, Type::Scalar(scalar))
    }

    /// The new values of the pieces that a store of `value` at `offset` changes.
    pub fn write(
        &mut self,
        pieces: &Pieces,
        var: Var,
        offset: u32,
        (value, size): (Value, u32),
        current: &mut dyn FnMut(&mut Function, usize) -> Value,
    ) -> Vec<(usize, Value)> {
        let range = pieces.touched(var, offset, size);
        let ty = self.function.ty(value);
        if range.len() == 1 {
            let piece = pieces.list[range.start];
            if piece.size == size {
                return vec![(range.start, self.convert(value, piece.ty))];
            }
            if let Some((lane, lanes, scalar)) = lanes_of(piece, offset, size) {
                let part = self.convert(value, Type::of(scalar, lanes));
                let mut whole = current(self.function, range.start);
                for index in 0..lanes {
                    let single = if lanes == 1 { part } else { self.emit(Type::Scalar(scalar), Op::Extract(part, index)) };
                    whole = self.emit(piece.ty, Op::Insert(whole, lane + index, single));
                }
                return vec![(range.start, whole)];
            }
        }
        let Some(scalar) = ty.scalar() else { return Vec::new() };
        let mut changed = Vec::with_capacity(range.len());
        for lane in 0..ty.lanes() {
            let single = if ty.lanes() == 1 { value } else { self.emit(Type::Scalar(scalar), Op::Extract(value, lane)) };
            self.write_scalar(pieces, (var, offset + u32::from(lane) * scalar.size()), single, scalar, &mut changed);
        }
        changed
    }

    /// Cuts a scalar into the integer pieces that it covers.
    fn write_scalar(
        &mut self,
        pieces: &Pieces,
        (var, offset): (Var, u32),
        value: Value,
        scalar: Scalar,
        changed: &mut Vec<(usize, Value)>,
    ) {
        let int = Type::Scalar(Scalar::int_of_size(scalar.size()).unwrap_or(Scalar::I32));
        let bits = self.convert(value, int);
        for index in pieces.touched(var, offset, scalar.size()) {
            let piece = pieces.list[index];
            let mut part = bits;
            if piece.size < scalar.size() {
                if piece.offset > offset {
                    let amount = self.function.emit_bits(self.out, self.span, int, u64::from(piece.offset - offset) * 8);
                    part = self.emit(int, Op::Bin(BinOp::LShr, part, amount));
                }
                part = self.emit(piece.ty, Op::Cast(CastOp::Trunc, part));
            }
            changed.push((index, part));
        }
    }
}

/// The run of lanes of a piece that a range of its bytes is: first lane, number of lanes, scalar.
fn lanes_of(piece: Piece, offset: u32, size: u32) -> Option<(u8, u8, Scalar)> {
    let Type::Vector(scalar, _) = piece.ty else { return None };
    let lane = u8::try_from((offset - piece.offset) / scalar.size()).ok()?;
    let lanes = u8::try_from(size / scalar.size()).ok()?;
    Some((lane, lanes, scalar))
}
