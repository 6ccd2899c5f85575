//! Atomic functions (6.15.12).
//!
//! Atomic operations of the IR are relaxed. For a stronger order, a fence is added before (release) and after (acquire)
//! the operation. A fence with a relaxed atomic gives the same guarantees as the order. On devices whose fences are
//! barriers (lavapipe), read-modify-write operations order all accesses. There, loads and stores with an order become
//! read-modify-write operations.
//!
//! Sequential consistency is lowered as acquire and release. This is exact on devices with [`AtomicOrder::Total`]. On
//! other devices, it is the strongest available order. Programs of OpenCL C 2.0 use it there, but `sema::atomics`
//! rejects OpenCL C 3.0 programs that require more.

use super::super::function::Lowering;
use super::super::types::{ArithType, scalar};
use super::Call;
use crate::builtins::Intrinsic;
use crate::ir::{AtomicOp, CmpOp, Fence, Op, Scalar, Space, Type, UnOp, Value};
use crate::target::AtomicOrder;

/// The guarantees of a memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) acquire: bool,
    pub(super) release: bool,
}

impl Order {
    pub(super) const RELAXED: Self = Self { acquire: false, release: false };

    /// Returns the order of a `memory_order` argument with the value `known`. Returns acquire and release for
    /// `memory_order_seq_cst` and for an argument that is not constant (`None`).
    pub(super) fn of(known: Option<u64>) -> Self {
        match known {
            Some(0) => Self::RELAXED,
            Some(2) => Self { acquire: true, release: false },
            Some(3) => Self { acquire: false, release: true },
            _ => Self { acquire: true, release: true },
        }
    }
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn atomic(&mut self, op: Intrinsic, call: &Call<'p>) -> Option<Value> {
        let ptr = self.value(call, 0);
        let arith = self.pointee(call, 0);
        let order = self.order(op, call);
        if !self.shared.target.language.has_ordered_atomics() || order == Order::RELAXED {
            return self.relaxed(op, call, ptr, arith);
        }
        if self.shared.target.language.atomic_order == AtomicOrder::ReadModifyWrite {
            return self.ordered(op, call, ptr, arith);
        }
        if order.release {
            self.order_fence(ptr);
        }
        let result = self.relaxed(op, call, ptr, arith);
        if order.acquire {
            self.order_fence(ptr);
        }
        result
    }

    /// Returns the order argument of a C11 atomic, which follows the operands. Atomics of OpenCL 1.x are relaxed.
    fn order(&mut self, op: Intrinsic, call: &Call<'p>) -> Order {
        let index = match op {
            Intrinsic::Atomic(AtomicOp::Load) | Intrinsic::AtomicFlagTestAndSet | Intrinsic::AtomicFlagClear => 1,
            Intrinsic::Atomic(_) => 2,
            Intrinsic::AtomicCompareExchange => 3,
            _ => return Order::RELAXED,
        };
        call.values.get(index).map_or(Order::RELAXED, |&order| Order::of(self.b.known(order)))
    }

    /// Lowers an atomic operation that is not relaxed to a read-modify-write operation.
    fn ordered(&mut self, op: Intrinsic, call: &Call<'p>, ptr: Value, arith: ArithType) -> Option<Value> {
        let bits = Scalar::int_of_size(scalar(arith.kind).size()).unwrap_or(Scalar::I32);
        let ty = Type::Scalar(bits);
        let (op, value) = match op {
            Intrinsic::Atomic(AtomicOp::Load) => (AtomicOp::Or, self.b.int(ty, 0)),
            Intrinsic::Atomic(AtomicOp::Store) => {
                let value = self.value(call, 1);
                (AtomicOp::Xchg, self.b.bitcast(value, ty))
            }
            Intrinsic::AtomicFlagClear => (AtomicOp::Xchg, self.b.int(ty, 0)),
            _ => return self.relaxed(op, call, ptr, arith),
        };
        let old = self.b.emit(Op::Atomic { op, ptr, value: Some(value), ty: bits }, ty);
        (op == AtomicOp::Or).then(|| self.b.bitcast(old, arith.ir()))
    }

    fn order_fence(&mut self, ptr: Value) {
        let (local, global) = match self.b.ty(ptr) {
            Type::Ptr(Space::Local) => (true, false),
            Type::Ptr(Space::Global) => (false, true),
            _ => (true, true),
        };
        self.b.effect(Op::MemFence(Fence { local, global, image: false }));
    }

    fn relaxed(&mut self, op: Intrinsic, call: &Call<'p>, ptr: Value, arith: ArithType) -> Option<Value> {
        match op {
            Intrinsic::Atomic(op) => {
                let value = if op == AtomicOp::Load { None } else { Some(self.value(call, 1)) };
                self.read_modify_write(op, ptr, value, arith)
            }
            Intrinsic::AtomicInc | Intrinsic::AtomicDec => {
                let one = self.b.int(arith.ir(), 1);
                let op = if op == Intrinsic::AtomicInc { AtomicOp::Add } else { AtomicOp::Sub };
                self.read_modify_write(op, ptr, Some(one), arith)
            }
            Intrinsic::AtomicCmpXchg => {
                let (expected, desired) = (self.value(call, 1), self.value(call, 2));
                Some(self.compare_exchange(ptr, expected, desired, arith).1)
            }
            Intrinsic::AtomicInit => {
                let value = self.value(call, 1);
                self.b.store(ptr, value, arith.ir().access_size(8).max(1), false);
                None
            }
            Intrinsic::AtomicCompareExchange => {
                let (expected_at, desired) = (self.value(call, 1), self.value(call, 2));
                let align = arith.ir().access_size(8).max(1);
                let expected = self.b.load(expected_at, arith.ir(), align, false);
                let (equal, old) = self.compare_exchange(ptr, expected, desired, arith);
                self.branch(equal, |_| (), |this| this.b.store(expected_at, old, align, false));
                Some(self.flag_value(equal, call.ty))
            }
            Intrinsic::AtomicFlagTestAndSet => {
                let set = self.b.i32(1);
                let old = self.b.emit(Op::Atomic { op: AtomicOp::Xchg, ptr, value: Some(set), ty: Scalar::I32 }, Type::I32);
                let was_set = self.b.cmp_int(CmpOp::Ne, old, 0);
                Some(self.flag_value(was_set, call.ty))
            }
            _ => {
                let clear = self.b.i32(0);
                self.b.effect(Op::Atomic { op: AtomicOp::Store, ptr, value: Some(clear), ty: Scalar::I32 });
                None
            }
        }
    }

    fn read_modify_write(&mut self, op: AtomicOp, ptr: Value, value: Option<Value>, arith: ArithType) -> Option<Value> {
        let ty = scalar(arith.kind);
        let float = arith.is_float();
        let (op, value) = match (op, value) {
            (AtomicOp::Add, value) if float => (AtomicOp::FAdd, value),
            (AtomicOp::Sub, Some(value)) if float => (AtomicOp::FAdd, Some(self.b.un(UnOp::FNeg, value))),
            (AtomicOp::SMin | AtomicOp::UMin, value) if float => (AtomicOp::FMin, value),
            (AtomicOp::SMax | AtomicOp::UMax, value) if float => (AtomicOp::FMax, value),
            (AtomicOp::SMin | AtomicOp::UMin, value) => (if arith.is_signed() { AtomicOp::SMin } else { AtomicOp::UMin }, value),
            (AtomicOp::SMax | AtomicOp::UMax, value) => (if arith.is_signed() { AtomicOp::SMax } else { AtomicOp::UMax }, value),
            other => other,
        };
        // Exchanges, loads and stores of floats access their bits as integers.
        let moves = matches!(op, AtomicOp::Xchg | AtomicOp::Load | AtomicOp::Store);
        let memory = if float && moves { Scalar::int_of_size(ty.size()).unwrap_or(ty) } else { ty };
        let value = value.map(|value| self.b.bitcast(value, Type::Scalar(memory)));
        let instruction = Op::Atomic { op, ptr, value, ty: memory };
        if op == AtomicOp::Store {
            self.b.effect(instruction);
            return None;
        }
        let old = self.b.emit(instruction, Type::Scalar(memory));
        Some(self.b.bitcast(old, Type::Scalar(ty)))
    }

    /// Emits a compare-exchange. Returns whether the exchange happened, and the old value.
    fn compare_exchange(&mut self, ptr: Value, expected: Value, desired: Value, arith: ArithType) -> (Value, Value) {
        let ty = scalar(arith.kind);
        let memory = Scalar::int_of_size(ty.size()).unwrap_or(ty);
        let bits = Type::Scalar(memory);
        let (expected, desired) = (self.b.bitcast(expected, bits), self.b.bitcast(desired, bits));
        let old = self.b.emit(Op::CmpXchg { ptr, expected, desired, ty: memory }, bits);
        let equal = self.b.cmp(CmpOp::Eq, old, expected);
        (equal, self.b.bitcast(old, Type::Scalar(ty)))
    }
}
