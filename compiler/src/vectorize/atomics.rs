//! Atomic operations. Operations on work-group and private memory are ordinary loads and stores, because only one
//! thread accesses these.
//!
//! * If all lanes access one address and the operation is associative and commutative, the code combines the values of
//!   all lanes and executes one operation. The old value of a lane is the old value in memory, combined with the values
//!   of the lanes before it.
//! * Otherwise, the operation runs lane by lane. An atomic operation waits for exclusive access to its cache line, and
//!   the next operation starts only after it. Therefore, the code first prefetches the cache lines of all lanes for
//!   writing.
//! * Loads are ordinary loads. On processors with a weak memory order, stores are ordinary stores. Compare-and-exchange
//!   is one operation of the vector IR. Other stores, exchanges and integer sums of 32 or 64 bits are also one
//!   operation of the vector IR. The remaining operations are loops with compare-and-exchange.

use smallvec::smallvec;
use wgcl_codegen::vir::{
    Addr, BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Cond, Mem, Op as VOp, Target, Terminator, Type as Register, Value as V,
};

use super::access::memory;
use super::collective::Fold;
use super::scalarize::{LaneOperand, Repeat};
use super::shape::{Mode, elem};
use super::uniformity::LaneShape;
use super::value::Val;
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{AtomicOp, BinOp, Scalar, Space, Value};

/// Emits code for one lane. The parameters are the operands as scalars. Returns the result, or `None` for code without
/// a result.
type ScalarLaneFn<'f, 'a> = dyn FnMut(&mut Vectorizer<'a>, &[V]) -> Lowered<Option<V>> + 'f;

/// Returns the operation that combines the values of several lanes. Returns `None` for float operations, and for
/// operations that do not combine the old value and the operand.
fn combining_fold(op: AtomicOp, of: Scalar) -> Option<Fold> {
    let op = match op {
        AtomicOp::Sub => BinOp::Add,
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => return None,
        op => operation(op)?,
    };
    Some(Fold { op, of })
}

/// Returns the operation on the old value and the operand, or `None` if the atomic operation does not combine them.
const fn operation(op: AtomicOp) -> Option<BinOp> {
    Some(match op {
        AtomicOp::Xchg | AtomicOp::Store | AtomicOp::Load => return None,
        AtomicOp::Add => BinOp::Add,
        AtomicOp::Sub => BinOp::Sub,
        AtomicOp::And => BinOp::And,
        AtomicOp::Or => BinOp::Or,
        AtomicOp::Xor => BinOp::Xor,
        AtomicOp::SMin => BinOp::SMin,
        AtomicOp::SMax => BinOp::SMax,
        AtomicOp::UMin => BinOp::UMin,
        AtomicOp::UMax => BinOp::UMax,
        AtomicOp::FAdd => BinOp::FAdd,
        AtomicOp::FMin => BinOp::FMin,
        AtomicOp::FMax => BinOp::FMax,
    })
}

/// Returns the memory format of a scalar's bits.
const fn bits_in_memory(of: Scalar) -> Mem {
    match memory(of) {
        Mem::Elem(elem) => Mem::Elem(elem.int()),
        short => short,
    }
}

impl<'a> Vectorizer<'a> {
    pub(super) fn atomic(&mut self, result: Option<Value>, op: AtomicOp, pointer: Value, value: Option<Value>, of: Scalar) -> Lowered<()> {
        let unshared = self.is_unshared(pointer);
        if let (Some(value), Some(fold)) = (value, combining_fold(op, of))
            && self.shape.lanes > 1
            && self.is_uniform(pointer)
        {
            return self.combined_atomic(result, (op, fold), pointer, value, unshared);
        }
        if op != AtomicOp::Load && !unshared {
            self.prefetch_lines(pointer);
        }
        let values: Vec<Value> = value.into_iter().collect();
        let is_one_operation = of.size() >= 4 && matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Xchg | AtomicOp::Store);
        let is_short = unshared || is_one_operation || op == AtomicOp::Load;
        let repeat = if is_short { Repeat::Unrolled } else { Repeat::Loop };
        self.lane_by_lane(result, (pointer, &values), (of, repeat), &mut |this, scalars| {
            let value = scalars.get(1).copied();
            this.atomic_scalar(op, scalars[0], value, of, unshared)
        })
    }

    /// Executes one atomic operation for all active lanes, at one address.
    fn combined_atomic(
        &mut self,
        result: Option<Value>,
        (op, fold): (AtomicOp, Fold),
        pointer: Value,
        value: Value,
        unshared: bool,
    ) -> Lowered<()> {
        let values = self.active_or_neutral(fold, value);
        let all = self.reduced(fold, &values)?;
        let place = self.first(pointer);
        let old = self.atomic_scalar(op, place, Some(all), fold.of, unshared)?;
        let (Some(result), Some(old)) = (result, old) else { return Ok(()) };
        let found = self.splat(old, fold.of);
        if self.forms.demanded_bits[result.index()] == 0 {
            self.define_varying(result, smallvec![found]);
            return Ok(());
        }
        let sums = self.scanned(fold, &values, self.shape.lanes)?;
        let neutral = self.number(fold.of, Mode::Varying, fold.op.neutral(fold.of));
        let before = self.permute_constant(fold.of, &sums, Some(&neutral), &|lane| lane.checked_sub(1))?;
        let then = if op == AtomicOp::Sub { BinOp::Sub } else { fold.op };
        let made = self.binary(then, fold.of, Mode::Varying, &found, &before)?;
        self.define_varying(result, smallvec![made]);
        Ok(())
    }

    /// Prefetches the cache line of each lane's pointer, for writing.
    fn prefetch_lines(&mut self, pointer: Value) {
        if self.shape.lanes == 1 || self.is_uniform(pointer) {
            return;
        }
        let address = self.address(pointer);
        let operand = self.address_operand(&address);
        let exec = self.masks.exec.take();
        self.each_lane_of(&[operand], None, Repeat::Unrolled, &mut |this, scalars, _| {
            this.b.effect(VOp::PrefetchWrite(Addr::of(scalars[0])));
            None
        });
        self.masks.exec = exec;
    }

    pub(super) fn compare_exchange(&mut self, result: Option<Value>, [pointer, expected, desired]: [Value; 3], of: Scalar) -> Lowered<()> {
        let ty = Register::Scalar(elem(of).int());
        let unshared = self.is_unshared(pointer);
        if !unshared {
            self.prefetch_lines(pointer);
        }
        self.lane_by_lane(result, (pointer, &[expected, desired]), (of, Repeat::Unrolled), &mut |this, scalars| {
            let (expected, desired) = (this.int_scalar(of, scalars[1]), this.int_scalar(of, scalars[2]));
            let (expected, mem, addr) = (this.low_bits(of, expected), bits_in_memory(of), Addr::of(scalars[0]));
            let old = if unshared {
                let old = this.emit(ty, VOp::Load(mem, addr));
                let seen = this.low_bits(of, old);
                let equal = this.emit(Register::I32, VOp::Cmp(VCmp::Eq, seen, expected));
                let new = this.emit(ty, VOp::Select(equal, desired, old));
                this.b.effect(VOp::Store(mem, addr, new));
                old
            } else {
                this.emit(ty, VOp::AtomicCompareExchange(mem, addr, expected, desired))
            };
            Ok(Some(this.float_scalar(of, old)))
        })
    }

    /// Whether a pointer points to memory that only one thread accesses.
    fn is_unshared(&self, pointer: Value) -> bool {
        matches!(self.space(pointer), Space::Local | Space::Private)
    }

    /// Runs code for each active lane, or once if there is only one lane. The operands are a pointer and values.
    fn lane_by_lane(
        &mut self,
        result: Option<Value>,
        (pointer, values): (Value, &[Value]),
        (of, repeat): (Scalar, Repeat),
        f: &mut ScalarLaneFn<'_, 'a>,
    ) -> Lowered<()> {
        if self.shape.lanes == 1 {
            let scalars: Vec<V> = std::iter::once(&pointer).chain(values).map(|&operand| self.first(operand)).collect();
            if let (Some(made), Some(result)) = (f(self, &scalars)?, result) {
                self.define(result, Val::Uniform(smallvec![made]));
            }
            return Ok(());
        }
        let address = self.address(pointer);
        let mut operands = vec![self.address_operand(&address)];
        for &value in values {
            operands.push(match self.val(value) {
                Val::Uniform(list) => LaneOperand::Scalar(list[0]),
                _ => LaneOperand::Lanes(super::value::scalar(self.ir_ty(value)), self.regs(value, Mode::Varying)),
            });
        }
        let mut failed = None;
        let wanted = result.filter(|result| self.forms.demanded_bits[result.index()] > 0);
        let made = self.each_lane_of(&operands, wanted.map(|_| of), repeat, &mut |this, scalars, _| match f(this, scalars) {
            Ok(made) => made,
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(result) = result {
            debug_assert_eq!(self.uniformity.lane_shape(result), LaneShape::Varying, "each lane has its own");
            let made = if wanted.is_some() { made } else { self.number(of, Mode::Varying, 0) };
            self.define_varying(result, smallvec![made]);
        }
        Ok(())
    }

    /// Returns the low 16 bits of a 2-byte number. Returns other numbers unchanged.
    fn low_bits(&mut self, of: Scalar, value: V) -> V {
        if of.size() != 2 {
            return value;
        }
        let mask = self.bits(Register::I32, of.mask());
        self.emit(Register::I32, VOp::Bin(VBin::And, value, mask))
    }

    /// Returns the bits of a float as an integer. Returns integers unchanged.
    fn int_scalar(&mut self, of: Scalar, value: V) -> V {
        if elem(of).is_float() { self.emit(Register::Scalar(elem(of).int()), VOp::Cast(VCast::Bitcast, value)) } else { value }
    }

    fn float_scalar(&mut self, of: Scalar, value: V) -> V {
        if elem(of).is_float() { self.emit(Register::Scalar(elem(of)), VOp::Cast(VCast::Bitcast, value)) } else { value }
    }

    fn atomic_scalar(&mut self, op: AtomicOp, pointer: V, value: Option<V>, of: Scalar, unshared: bool) -> Lowered<Option<V>> {
        let (addr, ty, mem) = (Addr::of(pointer), Register::Scalar(elem(of)), memory(of));
        let operand = || value.ok_or_else(|| internal!("{op:?} without a value"));
        if op == AtomicOp::Load {
            return Ok(Some(self.emit(ty, VOp::Load(mem, addr))));
        }
        let value = operand()?;
        // Aligned accesses are atomic, and fences around a store order it. Therefore, stores are ordinary stores on
        // processors with a weak memory order. On other processors, they are exchanges.
        let is_plain_store = op == AtomicOp::Store && !self.shape.isa.caps().has_strong_memory_order;
        if unshared || is_plain_store {
            let old = if op == AtomicOp::Store { None } else { Some(self.emit(ty, VOp::Load(mem, addr))) };
            let new = match old {
                Some(old) => self.update(op, of, old, value)?,
                None => value,
            };
            self.b.effect(VOp::Store(mem, addr, new));
            return Ok(old);
        }
        let int = Mem::Elem(elem(of).int());
        let int_ty = Register::Scalar(elem(of).int());
        match op {
            _ if of.size() == 2 => self.retry_until_unchanged(op, pointer, value, of).map(Some),
            AtomicOp::Store | AtomicOp::Xchg => {
                let bits = self.int_scalar(of, value);
                let old = self.emit(int_ty, VOp::AtomicExchange(int, addr, bits));
                Ok((op == AtomicOp::Xchg).then(|| self.float_scalar(of, old)))
            }
            AtomicOp::Add => Ok(Some(self.emit(int_ty, VOp::AtomicAdd(int, addr, value)))),
            AtomicOp::Sub => {
                let zero = self.bits(int_ty, 0);
                let negative = self.emit(int_ty, VOp::Bin(VBin::Sub, zero, value));
                Ok(Some(self.emit(int_ty, VOp::AtomicAdd(int, addr, negative))))
            }
            _ => self.retry_until_unchanged(op, pointer, value, of).map(Some),
        }
    }

    /// Computes the new value in memory: `old` combined with `value`.
    fn update(&mut self, op: AtomicOp, of: Scalar, old: V, value: V) -> Lowered<V> {
        let Some(bin) = operation(op) else { return Ok(if op == AtomicOp::Load { old } else { value }) };
        Ok(self.binary(bin, of, Mode::Uniform, &[old], &[value])?[0])
    }

    /// Repeats load, operation and compare-and-exchange until no other thread has changed the value in between.
    fn retry_until_unchanged(&mut self, op: AtomicOp, pointer: V, value: V, of: Scalar) -> Lowered<V> {
        let (addr, mem) = (Addr::of(pointer), bits_in_memory(of));
        let ty = Register::Scalar(elem(of).int());
        let first = self.emit(ty, VOp::Load(mem, addr));
        let (header, exit) = (self.b.block(), self.b.block());
        self.open_loop(header, [first]);
        let depth = self.depth();
        let old = self.block_param(header, ty, depth);
        let number = self.float_scalar(of, old);
        let new = self.update(op, of, number, value)?;
        let new = self.int_scalar(of, new);
        let seen = self.emit(ty, VOp::AtomicCompareExchange(mem, addr, old, new));
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::Eq, seen, old), Target::new(exit, [seen]), Target::new(header, [seen])));
        self.close_loop();
        self.b.enter(exit);
        let depth = self.depth();
        let old = self.block_param(exit, ty, depth);
        Ok(self.float_scalar(of, old))
    }
}
