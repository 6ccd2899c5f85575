//! A builder for instructions, shared by all passes that write IR.
//!
//! ```text
//! let sum = at.bin(BinOp::Add, a, b);          %5 = add %3, %4
//! let next = at.bin_bits(BinOp::Shl, sum, 2);  %6 = const 2;  %7 = shl %5, %6
//! ```
//! A [`Cursor`] is a position in a function: new instructions are appended to a list and have one span. A pass that
//! keeps the list and the span itself implements [`Build::cursor`] and gets all other methods.

use super::{BinOp, CastOp, CmpOp, Function, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value};
use crate::diag::Span;

/// A position for new instructions.
#[derive(Debug)]
pub struct Cursor<'a> {
    /// The function that gets new values. Its body may be taken out of it.
    pub function: &'a mut Function,
    /// The list that new instructions are appended to.
    pub out: &'a mut Vec<Inst>,
    /// The source location of new instructions.
    pub span: Span,
}

impl<'a> Cursor<'a> {
    /// A cursor at the end of a list.
    pub const fn new(function: &'a mut Function, out: &'a mut Vec<Inst>, span: Span) -> Self {
        Self { function, out, span }
    }
}

impl Build for Cursor<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor { function: self.function, out: self.out, span: self.span }
    }
}

/// Creates instructions at a position. Results have the type of the first operand unless stated otherwise.
pub trait Build {
    fn cursor(&mut self) -> Cursor<'_>;

    /// An operation with a result of this type.
    fn push(&mut self, ty: Type, op: Op) -> Value {
        let at = self.cursor();
        at.function.emit(at.out, at.span, ty, op)
    }

    /// An operation without a result.
    fn effect(&mut self, op: Op) {
        let at = self.cursor();
        at.out.push(Inst::effect(op, at.span));
    }

    /// A constant with these bits in every lane.
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

    /// An operation with one operand.
    fn un(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Un(op, a))
    }

    /// An operation with two operands of one type.
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

    /// A comparison: a `bool`, or one per lane.
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

    /// A cast to the same number of lanes of another scalar; the value itself if it already has this type.
    fn cast(&mut self, op: CastOp, a: Value, scalar: Scalar) -> Value {
        let from = self.type_of(a);
        let to = from.with_scalar(scalar);
        if from == to { a } else { self.push(to, Op::Cast(op, a)) }
    }

    /// Selects one of two values; the result has their type.
    fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Select(condition, a, b))
    }

    /// A mathematical function with one operand.
    fn math(&mut self, op: MathOp, a: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Math(op, vec![a]))
    }

    /// A pointer plus an offset in bytes.
    fn ptr_add(&mut self, pointer: Value, offset: Value) -> Value {
        let ty = self.type_of(pointer);
        self.push(ty, Op::PtrAdd(pointer, offset))
    }

    /// One lane of a vector.
    fn extract(&mut self, vector: Value, lane: u8) -> Value {
        let ty = self.type_of(vector).scalar().map_or(Type::I32, Type::Scalar);
        self.push(ty, Op::Extract(vector, lane))
    }

    /// `if condition { } else { break values }`: leaves the loop if a condition does not hold.
    fn break_unless(&mut self, cond: Value, values: Vec<Value>) {
        let span = self.cursor().span;
        let then = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        let els = Region { insts: vec![Inst::effect(Op::Break(values), span)] };
        self.effect(Op::If { cond, then, els });
    }
}
