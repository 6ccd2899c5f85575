//! Atomic operations. Operations without a native instruction are compare-and-exchange loops. A raw value is the bits
//! of an element as an unsigned integer, `u32` or `u64`.
//!
//! Example: a signed minimum on a view with unsigned elements becomes a compare-and-exchange loop.

use super::Address;
use crate::emit::EmitError;
use crate::emit::builder::{Expr, Val, single};
use crate::emit::function::Emitter;
use crate::emit::views::{AccessShape, Kind, ViewKey};
use crate::ir::{AtomicOp, Type, Value};
use naga::{AtomicFunction, BinaryOperator, Expression, ScalarKind, Statement};

impl Emitter<'_, '_> {
    pub(in crate::emit) fn atomic(&mut self, op: AtomicOp, pointer: Value, value: Option<Value>, ty: Type) -> Result<Val, EmitError> {
        let address = self.address(pointer)?;
        let shape = AccessShape::new(ty, 8, Kind::of(op), false, self.cx.target.pointer_size());
        let operand = value.map(|value| self.one(value)).transpose()?;
        let need = || EmitError::Internal(format!("atomic {op:?} without a value"));
        let object = self.object(address.object)?;
        if object.backing.is_private() {
            return self.private_atomic(op, &address, shape, operand);
        }
        if shape.size < 4 && op == AtomicOp::Load {
            return self.load_half(&address, shape).map(single);
        }
        if shape.size < 4 {
            return self.replace_half(op, &address, shape, operand.ok_or_else(need)?).map(single);
        }
        let (key, pointer) = self.atomic_element(&address, shape)?;
        if op == AtomicOp::Load {
            let x = self.b.load(pointer);
            return Ok(single(self.element_to_raw(key, x)));
        }
        let operand = operand.ok_or_else(need)?;
        let other_sign = match op {
            AtomicOp::SMin | AtomicOp::SMax => key.slot.kind == ScalarKind::Uint,
            AtomicOp::UMin | AtomicOp::UMax => key.slot.kind == ScalarKind::Sint,
            _ => false,
        };
        if other_sign {
            return self.exchange_min_max(op, key, pointer, operand).map(single);
        }
        let operand = if key.slot.kind == ScalarKind::Float { operand } else { self.raw_to_element(key, operand) };
        let fun = match op {
            AtomicOp::Store => {
                self.b.store(pointer, operand);
                return Ok(Val::new());
            }
            AtomicOp::Add | AtomicOp::FAdd => AtomicFunction::Add,
            AtomicOp::Sub => AtomicFunction::Subtract,
            AtomicOp::And => AtomicFunction::And,
            AtomicOp::Or => AtomicFunction::InclusiveOr,
            AtomicOp::Xor => AtomicFunction::ExclusiveOr,
            AtomicOp::SMin | AtomicOp::UMin => AtomicFunction::Min,
            AtomicOp::SMax | AtomicOp::UMax => AtomicFunction::Max,
            AtomicOp::Xchg => AtomicFunction::Exchange { compare: None },
            AtomicOp::FMin | AtomicOp::FMax | AtomicOp::Load => {
                return Err(EmitError::Internal(format!("atomic {op:?} is not legalized")));
            }
        };
        let ty = self.b.shared.ty(key.slot, 1);
        let result = self.b.bare(Expression::AtomicResult { ty, comparison: false });
        self.b.stmt(Statement::Atomic { pointer, fun, value: operand, result: Some(result) });
        Ok(single(if key.slot.kind == ScalarKind::Float { result } else { self.element_to_raw(key, result) }))
    }

    /// Emits a minimum or maximum whose signedness differs from that of the view. Operands and result are raw.
    fn exchange_min_max(&mut self, op: AtomicOp, key: ViewKey, pointer: Expr, operand: Expr) -> Result<Expr, EmitError> {
        self.exchange_loop(key, pointer, |this, raw| {
            let fun = if matches!(op, AtomicOp::SMin | AtomicOp::UMin) { naga::MathFunction::Min } else { naga::MathFunction::Max };
            if matches!(op, AtomicOp::SMin | AtomicOp::SMax) {
                let [a, b] = [raw, operand].map(|x| this.b.with_sign(x, ScalarKind::Sint, key.slot.width));
                let new = this.b.math(fun, &[a, b]);
                this.b.with_sign(new, ScalarKind::Uint, key.slot.width)
            } else {
                this.b.math(fun, &[raw, operand])
            }
        })
    }

    /// Replaces an element with the result of `change`, in a compare-and-exchange loop. Returns the old element. The
    /// operand and the result of `change` and the returned element are raw.
    pub(super) fn exchange_loop(
        &mut self,
        key: ViewKey,
        pointer: Expr,
        change: impl FnOnce(&mut Self, Expr) -> Expr,
    ) -> Result<Expr, EmitError> {
        let ty = self.b.shared.ty(key.slot, 1);
        let seen = self.b.local(None, ty);
        let first = self.b.load(pointer);
        self.b.store_local(seen, first);
        let never = if self.cx.target.shaders.defects.loop_values { Some(self.false_condition()?) } else { None };
        self.b.open();
        if let Some(never) = never {
            self.emit_extra_exit(never);
        }
        let old = self.b.load_local(seen);
        let raw = self.element_to_raw(key, old);
        let new = change(self, raw);
        let new = self.raw_to_element(key, new);
        let found = self.exchange(key, pointer, old, new);
        self.b.store_local(seen, found);
        let same = self.b.binary(BinaryOperator::Equal, found, old);
        self.b.open();
        self.b.stmt(Statement::Break);
        let accept = self.b.close();
        self.b.stmt(Statement::If { condition: same, accept, reject: naga::Block::new() });
        let body = self.b.close();
        self.b.stmt(Statement::Loop { body, continuing: naga::Block::new(), break_if: None });
        let found = self.b.load_local(seen);
        Ok(self.element_to_raw(key, found))
    }

    /// Compares and exchanges an element. Returns the old element.
    fn exchange(&mut self, key: ViewKey, pointer: Expr, expected: Expr, desired: Expr) -> Expr {
        let ty = self.b.shared.module.generate_predeclared_type(naga::PredeclaredType::AtomicCompareExchangeWeakResult(key.slot));
        let result = self.b.bare(Expression::AtomicResult { ty, comparison: true });
        self.b.stmt(Statement::Atomic {
            pointer,
            fun: AtomicFunction::Exchange { compare: Some(expected) },
            value: desired,
            result: Some(result),
        });
        self.b.element_at(result, 0)
    }

    fn atomic_element(&mut self, address: &Address, shape: AccessShape) -> Result<(ViewKey, Expr), EmitError> {
        let key = self
            .object(address.object)?
            .atomic(shape)
            .ok_or_else(|| EmitError::unsupported("an atomic operation on memory that is also accessed with other element sizes"))?;
        let index = self.index(address, key.stride())?;
        let pointer = self.element(address.object, key, index)?;
        Ok((key, pointer))
    }

    pub(in crate::emit) fn compare_exchange(
        &mut self,
        pointer: Value,
        expected: Value,
        desired: Value,
        ty: Type,
    ) -> Result<Val, EmitError> {
        let address = self.address(pointer)?;
        let shape = AccessShape::new(ty, 8, Kind::Atomic, false, self.cx.target.pointer_size());
        let (expected, desired) = (self.one(expected)?, self.one(desired)?);
        let object = self.object(address.object)?;
        if object.backing.is_private() {
            let raw = self.load_raw_any(&address, shape)?;
            let same = self.b.binary(BinaryOperator::Equal, raw, expected);
            let new = self.b.select(same, desired, raw);
            self.store_raw_any(&address, shape, new)?;
            return Ok(single(raw));
        }
        if shape.size < 4 {
            return self.exchange_half(&address, shape, (expected, desired)).map(single);
        }
        let (key, pointer) = self.atomic_element(&address, shape)?;
        let (expected, desired) = (self.raw_to_element(key, expected), self.raw_to_element(key, desired));
        let old = self.exchange(key, pointer, expected, desired);
        Ok(single(self.element_to_raw(key, old)))
    }

    /// Emits an atomic operation in private memory, which needs no atomic instructions.
    fn private_atomic(&mut self, op: AtomicOp, address: &Address, shape: AccessShape, operand: Option<Expr>) -> Result<Val, EmitError> {
        if op == AtomicOp::Store {
            let value = operand.ok_or_else(|| EmitError::Internal("atomic store without a value".to_owned()))?;
            self.store_raw_any(address, shape, value)?;
            return Ok(Val::new());
        }
        let old = self.load_raw_any(address, shape)?;
        let Some(x) = operand else { return Ok(single(old)) };
        let signed = |e: &mut Self, fun| {
            let [a, b] = [old, x].map(|x| e.b.with_sign(x, ScalarKind::Sint, shape.size));
            let r = e.b.math(fun, &[a, b]);
            e.b.with_sign(r, ScalarKind::Uint, shape.size)
        };
        let new = match op {
            AtomicOp::Add => self.b.add(old, x),
            AtomicOp::Sub => self.b.binary(BinaryOperator::Subtract, old, x),
            AtomicOp::And => self.b.and(old, x),
            AtomicOp::Or => self.b.or(old, x),
            AtomicOp::Xor => self.b.binary(BinaryOperator::ExclusiveOr, old, x),
            AtomicOp::SMin => signed(self, naga::MathFunction::Min),
            AtomicOp::SMax => signed(self, naga::MathFunction::Max),
            AtomicOp::UMin => self.b.math(naga::MathFunction::Min, &[old, x]),
            AtomicOp::UMax => self.b.math(naga::MathFunction::Max, &[old, x]),
            AtomicOp::Xchg => x,
            _ => return Err(EmitError::Internal(format!("atomic {op:?} is not legalized"))),
        };
        self.store_raw_any(address, shape, new)?;
        Ok(single(old))
    }

    /// Loads one integer of private memory through the view of its object.
    fn load_raw_any(&mut self, address: &Address, shape: AccessShape) -> Result<Expr, EmitError> {
        let plain = AccessShape { kind: Kind::Load, ..shape };
        let object = self.object(address.object)?;
        if let Some(key) = object.natural(plain, self.cx.target) {
            let index = self.index(address, key.stride())?;
            let pointer = self.element(address.object, key, index)?;
            let x = self.b.load(pointer);
            return Ok(self.element_to_raw(key, x));
        }
        let raw = self.load_raw(address, plain)?;
        raw.first().copied().ok_or_else(|| EmitError::Internal("a load without components".to_owned()))
    }

    fn store_raw_any(&mut self, address: &Address, shape: AccessShape, value: Expr) -> Result<(), EmitError> {
        let plain = AccessShape { kind: Kind::Store, ..shape };
        let object = self.object(address.object)?;
        if let Some(key) = object.natural(plain, self.cx.target) {
            let index = self.index(address, key.stride())?;
            let pointer = self.element(address.object, key, index)?;
            let x = self.raw_to_element(key, value);
            self.b.store(pointer, x);
            return Ok(());
        }
        self.store_raw(address, plain, &[value])
    }
}
