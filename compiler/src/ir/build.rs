//! A builder for instructions, shared by all passes that write IR.
//!
//! ```text
//! let sum = at.bin(BinOp::Add, a, b);          %5 = add %3, %4
//! let next = at.bin_bits(BinOp::Shl, sum, 2);  %6 = const 2;  %7 = shl %5, %6
//! ```
//! A [`Cursor`] is a position in a function: new instructions are appended to a list and have one span. A pass that has
//! its own list and span implements [`Build::cursor`] and gets all other methods.

use super::{BinOp, CastOp, CmpOp, Function, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value};
use crate::diag::Span;

/// A position for new instructions.
#[derive(Debug)]
pub struct Cursor<'a> {
    /// The function to which new values are added. The body may be outside of this function while a pass rewrites the
    /// body.
    pub function: &'a mut Function,
    /// The list to which new instructions are appended.
    pub out: &'a mut Vec<Inst>,
    /// The source location of new instructions.
    pub span: Span,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the end of a list.
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

    /// Appends an operation with a result of this type.
    fn push(&mut self, ty: Type, op: Op) -> Value {
        let at = self.cursor();
        at.function.emit(at.out, at.span, ty, op)
    }

    /// Appends an operation without a result.
    fn effect(&mut self, op: Op) {
        let at = self.cursor();
        at.out.push(Inst::effect(op, at.span));
    }

    /// Appends a constant with these bits in every lane.
    fn bits(&mut self, ty: Type, bits: u64) -> Value {
        let at = self.cursor();
        at.function.emit_bits(at.out, at.span, ty, bits)
    }

    /// Appends a constant `i32`.
    fn word(&mut self, bits: u32) -> Value {
        self.bits(Type::I32, u64::from(bits))
    }

    /// Returns the type of a value.
    fn type_of(&mut self, value: Value) -> Type {
        self.cursor().function.ty(value)
    }

    /// Appends an operation with one operand.
    fn un(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Un(op, a))
    }

    /// Appends an operation with two operands of one type.
    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Bin(op, a, b))
    }

    /// Appends an operation whose second operand is a constant of the same type.
    fn bin_bits(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        let ty = self.type_of(a);
        let b = self.bits(ty, bits);
        self.bin(op, a, b)
    }

    /// Appends a comparison. The result is a `bool`, or a vector with one per lane.
    fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        let ty = self.type_of(a).with_scalar(Scalar::Bool);
        self.push(ty, Op::Cmp(op, a, b))
    }

    /// Appends a comparison with a constant of the operand's type.
    fn cmp_bits(&mut self, op: CmpOp, a: Value, bits: u64) -> Value {
        let ty = self.type_of(a);
        let b = self.bits(ty, bits);
        self.cmp(op, a, b)
    }

    /// Appends a cast to another scalar with the same number of lanes. Returns `a` if it already has this type.
    fn cast(&mut self, op: CastOp, a: Value, scalar: Scalar) -> Value {
        let from = self.type_of(a);
        let to = from.with_scalar(scalar);
        if from == to { a } else { self.push(to, Op::Cast(op, a)) }
    }

    /// Appends a selection of one of two values. The result has their type.
    fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Select(condition, a, b))
    }

    /// Appends a mathematical function with one operand.
    fn math(&mut self, op: MathOp, a: Value) -> Value {
        let ty = self.type_of(a);
        self.push(ty, Op::Math(op, vec![a]))
    }

    /// Appends the addition of an offset in bytes to a pointer.
    fn ptr_add(&mut self, pointer: Value, offset: Value) -> Value {
        let ty = self.type_of(pointer);
        self.push(ty, Op::PtrAdd(pointer, offset))
    }

    /// Appends the extraction of one lane of a vector. The result has the scalar type of the vector.
    fn extract(&mut self, vector: Value, lane: u8) -> Value {
        let ty = self.type_of(vector).scalar().map_or(Type::I32, Type::Scalar);
        self.push(ty, Op::Extract(vector, lane))
    }

    /// Appends `if cond { } else { break values }`, which leaves the loop if the condition is false.
    fn break_unless(&mut self, cond: Value, values: Vec<Value>) {
        let span = self.cursor().span;
        let then = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        let els = Region { insts: vec![Inst::effect(Op::Break(values), span)] };
        self.effect(Op::If { cond, then, els });
    }
}
