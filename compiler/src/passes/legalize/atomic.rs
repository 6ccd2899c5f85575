//! Lowers atomics on floats: exchanges become integer exchanges, and arithmetic becomes a compare-and-exchange loop.
//! Operations on 16-bit types that emission does not support become loops of compare-and-exchange.
//!
//! Example: `atomic fadd f32 %p, %x` becomes `loop { %n = fadd %old, %x; cmpxchg %p, %old, %n }` on devices without
//! atomic float addition.

use super::Lower;
use crate::ir::{AtomicOp, BinOp, Build, CastOp, CmpOp, Inst, Op, Region, Scalar, Space, Type, Value};

impl Lower<'_> {
    /// Lowers an atomic operation and returns its result: `Some(None)` if it has no result, `None` if it is not
    /// lowered.
    pub(super) fn atomic(&mut self, op: AtomicOp, ptr: Value, value: Option<Value>, ty: Scalar) -> Option<Option<Value>> {
        let integer = match ty {
            Scalar::F16 | Scalar::I16 => Scalar::I16,
            Scalar::F32 => Scalar::I32,
            Scalar::F64 => Scalar::I64,
            _ => return None,
        };
        let float = Type::Scalar(ty);
        match op {
            AtomicOp::Load if ty == integer => None,
            // Emission supports these operations. `crate::lower` emits `or` with 0 for a load with acquire order, on
            // devices whose only ordered atomics are read-modify-write operations.
            AtomicOp::Xchg | AtomicOp::Or if ty == Scalar::I16 => None,
            AtomicOp::Store if integer == Scalar::I16 => {
                let value = self.as_bits(Type::Scalar(integer), value?);
                self.push(Type::Scalar(integer), Op::Atomic { op: AtomicOp::Xchg, ptr, value: Some(value), ty: integer });
                Some(None)
            }
            AtomicOp::FAdd if self.has_native_add(ptr, ty) => None,
            AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => {
                let op = match op {
                    AtomicOp::FAdd => BinOp::FAdd,
                    AtomicOp::FMin => BinOp::FMin,
                    _ => BinOp::FMax,
                };
                Some(Some(self.exchange_loop(op, ptr, value?, ty, integer)))
            }
            AtomicOp::Load => {
                let bits = self.push(Type::Scalar(integer), Op::Atomic { op, ptr, value: None, ty: integer });
                Some(Some(self.push(float, Op::Cast(CastOp::Bitcast, bits))))
            }
            AtomicOp::Store => {
                let bits = self.push(Type::Scalar(integer), Op::Cast(CastOp::Bitcast, value?));
                self.effect(Op::Atomic { op, ptr, value: Some(bits), ty: integer });
                Some(None)
            }
            _ => {
                let bits = self.push(Type::Scalar(integer), Op::Cast(CastOp::Bitcast, value?));
                let old = self.push(Type::Scalar(integer), Op::Atomic { op, ptr, value: Some(bits), ty: integer });
                Some(Some(self.push(float, Op::Cast(CastOp::Bitcast, old))))
            }
        }
    }

    /// Lowers a compare-and-exchange of floats to a compare-and-exchange of integers. Returns `None` for integers.
    pub(super) fn compare_exchange(&mut self, ptr: Value, expected: Value, desired: Value, ty: Scalar) -> Option<Value> {
        let integer = match ty {
            Scalar::F16 => Scalar::I16,
            Scalar::F32 => Scalar::I32,
            Scalar::F64 => Scalar::I64,
            _ => return None,
        };
        let bits = Type::Scalar(integer);
        let (expected, desired) =
            (self.push(bits, Op::Cast(CastOp::Bitcast, expected)), self.push(bits, Op::Cast(CastOp::Bitcast, desired)));
        let old = self.push(bits, Op::CmpXchg { ptr, expected, desired, ty: integer });
        Some(self.push(Type::Scalar(ty), Op::Cast(CastOp::Bitcast, old)))
    }

    fn has_native_add(&self, ptr: Value, ty: Scalar) -> bool {
        self.target.shaders.spirv && self.target.shaders.float_atomics && ty == Scalar::F32 && self.ty(ptr) == Type::Ptr(Space::Global)
    }

    /// Emits a loop that replaces a number in memory by `op(number, value)`. Returns the old number.
    fn exchange_loop(&mut self, op: BinOp, ptr: Value, value: Value, ty: Scalar, integer: Scalar) -> Value {
        let (float, bits) = (Type::Scalar(ty), Type::Scalar(integer));
        let first = self.push(bits, Op::Atomic { op: AtomicOp::Load, ptr, value: None, ty: integer });
        let outer = std::mem::take(&mut self.out);
        let seen = self.function.new_value(bits);
        let old = self.as_bits(float, seen);
        let new = self.bin(op, old, value);
        let desired = self.as_bits(bits, new);
        let found = self.push(bits, Op::CmpXchg { ptr, expected: seen, desired, ty: integer });
        let done = self.cmp(CmpOp::Eq, found, seen);
        let region = |op| Region { insts: vec![Inst::effect(op, self.span)] };
        let (then, els) = (region(Op::Break(vec![seen])), region(Op::Yield(Vec::new())));
        self.effect(Op::If { cond: done, then, els });
        self.effect(Op::Continue(vec![found]));
        let body = Region { insts: std::mem::replace(&mut self.out, outer) };
        let result = self.push(bits, Op::Loop { init: vec![first], params: vec![seen], body, unroll: None });
        self.as_bits(float, result)
    }

    /// Emits a bitcast to type `ty`, unless the value already has this type.
    fn as_bits(&mut self, ty: Type, value: Value) -> Value {
        if self.ty(value) == ty { value } else { self.push(ty, Op::Cast(CastOp::Bitcast, value)) }
    }
}
