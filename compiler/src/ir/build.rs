//! Making instructions: one vocabulary for all passes that write IR.
//!
//! ```text
//! let sum = at.bin(BinOp::Add, a, b);          %5 = add %3, %4
//! let next = at.bin_bits(BinOp::Shl, sum, 2);  %6 = const 2;  %7 = shl %5, %6
//! ```
//! A [`Cursor`] is a place in a function: new instructions go to the end of a list and carry one span. A pass that keeps list and span itself says in
//! [`Build::cursor`] which they are, and has the whole vocabulary.

use super::{BinOp, CastOp, CmpOp, Function, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value};
use crate::diag::Span;

/// Where instructions go.
#[derive(Debug)]
pub struct Cursor<'a> {
    /// The function that gets new values. Its body may have been taken out of it.
    pub function: &'a mut Function,
    /// New instructions go to its end.
    pub out: &'a mut Vec<Inst>,
    /// Where they come from.
    pub span: Span,
}

impl<'a> Cursor<'a> {
    /// The end of a list.
    pub const fn new(function: &'a mut Function, out: &'a mut Vec<Inst>, span: Span) -> Self {
        Self { function, out, span }
    }
}

impl Build for Cursor<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor { function: self.function, out: self.out, span: self.span }
    }
}

/// What makes instructions at a place. Results have the type of the first operand unless it says otherwise.
pub trait Build {
    /// The place.
    fn cursor(&mut self) -> Cursor<'_>;

    /// An operation with a result of that type.
    fn push(&mut self, ty: Type, op: Op) -> Value {
        let at = self.cursor();
        at.function.emit(at.out, at.span, ty, op)
    }

    /// An operation without a result.
    fn effect(&mut self, op: Op) {
        let at = self.cursor();
        at.out.push(Inst::effect(op, at.span));
    }

    /// A constant with those bits in every lane.
    fn bits(&mut self, ty: Type, bits: u64) -> Value {
        let at = self.cursor();
        at.function.emit_bits(at.out, at.span, ty, bits)
    }

    /// A constant `i32`.
    fn word(&mut self, bits: u32) -> Value {
        self.bits(Type::I32, u64::from(bits))
    }

    /// The type of a value.
    fn type_of(&mut self, value: Value) -> Type {
        self.cursor().function.ty(value)
    }

    /// An operation of one operand.
    fn un(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Un(op, a))
    }

    /// An operation of two operands of one type.
    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Bin(op, a, b))
    }

    /// An operation with a constant of the operand's type.
    fn bin_bits(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        let ty = self.type_of(a);
        let b = self.bits(ty, bits);
        self.bin(op, a, b)
    }

    /// A comparison: a `bool`, or as many of them as there are lanes.
    fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        let ty = self.type_of(a).with_scalar(Scalar::Bool);
        self.push(ty, Op::Cmp(op, a, b))
    }

    /// A comparison with a constant of the operand's type.
    fn cmp_bits(&mut self, op: CmpOp, a: Value, bits: u64) -> Value {
        let ty = self.type_of(a);
        let b = self.bits(ty, bits);
        self.cmp(op, a, b)
    }

    /// A conversion to as many lanes of that scalar; the value itself where it has them already.
    fn cast(&mut self, op: CastOp, a: Value, scalar: Scalar) -> Value {
        let from = self.type_of(a);
        let to = from.with_scalar(scalar);
        if from == to { a } else { self.push(to, Op::Cast(op, a)) }
    }

    /// One of two values, of whose type the result is.
    fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Select(condition, a, b))
    }

    /// A function of one operand.
    fn math(&mut self, op: MathOp, a: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Math(op, vec![a]))
    }

    /// The address so many bytes behind another one.
    fn ptr_add(&mut self, pointer: Value, offset: Value) -> Value {
        let ty = self.type_of(pointer);
        self.push(ty, Op::PtrAdd(pointer, offset))
    }

    /// One lane of a vector.
    fn extract(&mut self, vector: Value, lane: u8) -> Value {
        let ty = self.type_of(vector).scalar().map_or(Type::I32, Type::Scalar);
        self.push(ty, Op::Extract(vector, lane))
    }

    /// `if condition { } else { break values }`: the end of a loop where a condition does not hold.
    fn break_unless(&mut self, cond: Value, values: Vec<Value>) {
        let span = self.cursor().span;
        let then = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        let els = Region { insts: vec![Inst::effect(Op::Break(values), span)] };
        self.effect(Op::If { cond, then, els });
    }
}
