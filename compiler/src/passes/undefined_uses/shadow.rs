//! The shadow of the result of an operation: a bit is 1 if the same bit of the value is undefined.
//!
//! The rules are those of memory checkers for machine code: bitwise operations, shifts, casts and vector operations
//! are exact, a sum is undefined from its lowest undefined bit on. Other results are undefined if an operand is.

use super::Rewrite;
use crate::diag::Span;
use crate::ir::{BinOp, Build as _, CastOp, CmpOp, Cursor, Inst, Op, Scalar, Type, UnOp, Value};

impl Rewrite<'_> {
    /// The type of the shadow of a type: integers of the same size, or `bool`.
    pub(super) fn shadow_type(&self, ty: Type) -> Type {
        match ty.scalar() {
            Some(Scalar::Bool) => ty,
            Some(scalar) => ty.with_scalar(Scalar::int_of_size(scalar.size()).unwrap_or(Scalar::I64)),
            None => Type::Scalar(self.pointer),
        }
    }

    /// Emits the shadow of the result of a pure operation.
    pub(super) fn operation(&mut self, out: &mut Vec<Inst>, span: Span, op: &Op, result: Type) -> Value {
        let to = self.shadow_type(result);
        match *op {
            Op::Un(UnOp::Not, a) => self.shadow(out, span, a),
            Op::Bin(kind @ (BinOp::And | BinOp::Or), a, b) => self.logic(out, span, kind, (a, b)),
            Op::Bin(BinOp::Xor, a, b) => {
                let (a, b) = (self.shadow(out, span, a), self.shadow(out, span, b));
                self.at(out, span).bin(BinOp::Or, a, b)
            }
            Op::Bin(BinOp::Add | BinOp::Sub, a, b) => {
                let (a, b) = (self.shadow(out, span, a), self.shadow(out, span, b));
                let mut at = self.at(out, span);
                let either = at.bin(BinOp::Or, a, b);
                let negated = at.un(UnOp::Neg, either);
                at.bin(BinOp::Or, either, negated)
            }
            Op::Bin(kind @ (BinOp::Shl | BinOp::LShr | BinOp::AShr), a, by) => {
                let (a, amount) = (self.shadow(out, span, a), self.shadow(out, span, by));
                let shifted = self.at(out, span).bin(kind, a, by);
                let all = self.spread(out, span, amount, to);
                self.at(out, span).bin(BinOp::Or, shifted, all)
            }
            Op::Cmp(CmpOp::Eq | CmpOp::Ne, a, b) if self.function.ty(a).scalar().is_some_and(Scalar::is_int) => {
                self.equality(out, span, a, b)
            }
            Op::Cast(kind @ (CastOp::Trunc | CastOp::ZExt | CastOp::SExt), a) => {
                let a = self.shadow(out, span, a);
                self.at(out, span).push(to, Op::Cast(kind, a))
            }
            Op::Cast(CastOp::Bitcast, a) => {
                let shadow = self.shadow(out, span, a);
                if self.function.ty(shadow) == to { shadow } else { self.at(out, span).push(to, Op::Cast(CastOp::Bitcast, shadow)) }
            }
            Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast, a) => self.shadow(out, span, a),
            Op::Select(cond, a, b) => self.selection(out, span, (cond, a, b), to),
            Op::Construct(_)
            | Op::Splat(_)
            | Op::Extract(..)
            | Op::Insert(..)
            | Op::Shuffle(..)
            | Op::ExtractDyn(..)
            | Op::InsertDyn(..) => self.lanes(out, span, op, to),
            _ => self.any_operand(out, span, op, to),
        }
    }

    /// `a & b`: a defined 0 makes a bit defined. `a | b`: a defined 1 does.
    fn logic(&mut self, out: &mut Vec<Inst>, span: Span, kind: BinOp, (a, b): (Value, Value)) -> Value {
        let (shadow_a, shadow_b) = (self.shadow(out, span, a), self.shadow(out, span, b));
        let mut at = self.at(out, span);
        let [a, b] = [a, b].map(|value| if kind == BinOp::And { value } else { at.un(UnOp::Not, value) });
        let both = at.bin(BinOp::And, shadow_a, shadow_b);
        let of_b = at.bin(BinOp::And, a, shadow_b);
        let of_a = at.bin(BinOp::And, b, shadow_a);
        let one = at.bin(BinOp::Or, of_a, of_b);
        at.bin(BinOp::Or, both, one)
    }

    /// A comparison is defined if defined bits of the operands differ.
    fn equality(&mut self, out: &mut Vec<Inst>, span: Span, a: Value, b: Value) -> Value {
        let (shadow_a, shadow_b) = (self.shadow(out, span, a), self.shadow(out, span, b));
        let mut at = self.at(out, span);
        let either = at.bin(BinOp::Or, shadow_a, shadow_b);
        let known = at.un(UnOp::Not, either);
        let differs = at.bin(BinOp::Xor, a, b);
        let differs = at.bin(BinOp::And, differs, known);
        let knows_no_difference = at.cmp_bits(CmpOp::Eq, differs, 0);
        let is_suspect = at.cmp_bits(CmpOp::Ne, either, 0);
        at.bin(BinOp::And, knows_no_difference, is_suspect)
    }

    fn selection(&mut self, out: &mut Vec<Inst>, span: Span, (cond, a, b): (Value, Value, Value), to: Type) -> Value {
        let (a, b) = (self.shadow(out, span, a), self.shadow(out, span, b));
        let chosen = self.at(out, span).select(cond, a, b);
        if !self.is_suspect(cond) {
            return chosen;
        }
        let cond = self.shadow(out, span, cond);
        let all = self.spread(out, span, cond, to);
        self.at(out, span).bin(BinOp::Or, chosen, all)
    }

    /// Vector operations move the shadows of lanes like the lanes. A suspect index makes the whole result undefined.
    fn lanes(&mut self, out: &mut Vec<Inst>, span: Span, op: &Op, to: Type) -> Value {
        let index = match *op {
            Op::ExtractDyn(_, index) | Op::InsertDyn(_, index, _) => Some(index),
            _ => None,
        };
        let mut same = op.clone();
        same.map_operands(|operand| {
            if Some(*operand) != index {
                *operand = self.shadow(out, span, *operand);
            }
        });
        let moved = self.at(out, span).push(to, same);
        match index.filter(|&index| self.is_suspect(index)) {
            None => moved,
            Some(index) => {
                let index = self.shadow(out, span, index);
                let all = self.spread(out, span, index, to);
                self.at(out, span).bin(BinOp::Or, moved, all)
            }
        }
    }

    /// Each lane is undefined if an operand's lane is. An operand with another number of lanes affects all lanes.
    fn any_operand(&mut self, out: &mut Vec<Inst>, span: Span, op: &Op, to: Type) -> Value {
        let mut operands = Vec::new();
        op.for_each_operand(|operand| operands.push(operand));
        let mut result: Option<Value> = None;
        for operand in operands {
            if self.is_suspect(operand) {
                let shadow = self.shadow(out, span, operand);
                let all = self.spread(out, span, shadow, to);
                result = Some(result.map_or(all, |result| self.at(out, span).bin(BinOp::Or, result, all)));
            }
        }
        result.unwrap_or_else(|| self.at(out, span).bits(to, 0))
    }

    /// Emits all ones in each lane of `to` for which the shadow is not 0.
    fn spread(&mut self, out: &mut Vec<Inst>, span: Span, shadow: Value, to: Type) -> Value {
        let lanes = self.function.ty(shadow).lanes();
        let is_set = if lanes == to.lanes() { self.is_set(out, span, shadow) } else { self.any(out, span, shadow) };
        if to.scalar() == Some(Scalar::Bool) && lanes == to.lanes() {
            return is_set;
        }
        let mut at = self.at(out, span);
        let is_set =
            if at.type_of(is_set).lanes() == to.lanes() { is_set } else { at.push(to.with_scalar(Scalar::Bool), Op::Splat(is_set)) };
        if to.scalar() == Some(Scalar::Bool) { is_set } else { at.push(to, Op::Cast(CastOp::SExt, is_set)) }
    }

    /// Emits a `bool` for each lane: whether it is not 0.
    fn is_set(&mut self, out: &mut Vec<Inst>, span: Span, shadow: Value) -> Value {
        if self.function.ty(shadow).scalar() == Some(Scalar::Bool) { shadow } else { self.at(out, span).cmp_bits(CmpOp::Ne, shadow, 0) }
    }

    /// Emits whether any lane is not 0.
    pub(super) fn any(&mut self, out: &mut Vec<Inst>, span: Span, shadow: Value) -> Value {
        let is_set = self.is_set(out, span, shadow);
        if self.function.ty(is_set).lanes() == 1 { is_set } else { self.at(out, span).push(Type::BOOL, Op::Any(is_set)) }
    }

    pub(super) fn at<'c>(&'c mut self, out: &'c mut Vec<Inst>, span: Span) -> Cursor<'c> {
        Cursor::new(self.function, out, span)
    }
}
