//! Atomic operations, barriers and fences (SPIR-V 3.52.18, 3.52.20).

use rspirv::spirv::{MemorySemantics, Op as Opcode, Scope};

use super::bridge::{Signedness, c_type};
use super::errors::{Checked, OperandIndex, Shown, invalid, unsupported};
use super::function::Lowering;
use super::words::Id;
use crate::ir::{CmpOp, Fence, Op, Scalar, Type, Value};

/// Returns the OpenCL C memory order of SPIR-V memory semantics.
pub(super) fn order(semantics: u32) -> &'static str {
    let has = |bits: MemorySemantics| semantics & bits.bits() != 0;
    if has(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
        "memory_order_seq_cst"
    } else if has(MemorySemantics::ACQUIRE_RELEASE) || has(MemorySemantics::ACQUIRE) && has(MemorySemantics::RELEASE) {
        "memory_order_acq_rel"
    } else if has(MemorySemantics::ACQUIRE) {
        "memory_order_acquire"
    } else if has(MemorySemantics::RELEASE) {
        "memory_order_release"
    } else {
        "memory_order_relaxed"
    }
}

/// Returns the IR fence for SPIR-V memory semantics.
pub(super) fn fence(semantics: u32) -> Fence {
    let has = |bits: MemorySemantics| semantics & bits.bits() != 0;
    Fence {
        local: has(MemorySemantics::WORKGROUP_MEMORY),
        global: has(MemorySemantics::CROSS_WORKGROUP_MEMORY),
        image: has(MemorySemantics::IMAGE_MEMORY),
    }
}

/// Returns the NAME of the OpenCL C function `atomic_NAME_explicit` for a read-modify-write instruction, and the
/// signedness of its integers. Returns `None` for other instructions.
const fn fetch(op: Opcode) -> Option<(&'static str, Signedness)> {
    Some(match op {
        Opcode::AtomicExchange => ("exchange", Signedness::Signed),
        Opcode::AtomicIAdd | Opcode::AtomicFAddEXT | Opcode::AtomicIIncrement => ("fetch_add", Signedness::Signed),
        Opcode::AtomicISub | Opcode::AtomicIDecrement => ("fetch_sub", Signedness::Signed),
        Opcode::AtomicSMin | Opcode::AtomicFMinEXT => ("fetch_min", Signedness::Signed),
        Opcode::AtomicUMin => ("fetch_min", Signedness::Unsigned),
        Opcode::AtomicSMax | Opcode::AtomicFMaxEXT => ("fetch_max", Signedness::Signed),
        Opcode::AtomicUMax => ("fetch_max", Signedness::Unsigned),
        Opcode::AtomicAnd => ("fetch_and", Signedness::Signed),
        Opcode::AtomicOr => ("fetch_or", Signedness::Signed),
        Opcode::AtomicXor => ("fetch_xor", Signedness::Signed),
        _ => return None,
    })
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn atomic(&mut self) -> Checked<bool> {
        let op = self.current.op;
        match op {
            Opcode::AtomicLoad => {
                let want = self.atomic_type(self.result_type()?)?;
                let (ty, order) = (self.atomic_pointer(want, Signedness::Signed)?, order(self.constant_operand(2)?));
                let pointer = self.pointer(0)?;
                let result = c_type(want, Signedness::Signed)?;
                let value = self.library_text(
                    want,
                    &result,
                    &[ty],
                    &[pointer],
                    &format!("return atomic_load_explicit(a0, {order}, memory_scope_device);"),
                )?;
                self.set_result(value)?;
            }
            Opcode::AtomicStore => {
                let value = self.number(3)?;
                let ty = self.atomic_type(self.b.ty(value))?;
                let params = [self.atomic_pointer(ty, Signedness::Signed)?, c_type(ty, Signedness::Signed)?];
                let (pointer, order) = (self.pointer(0)?, order(self.constant_operand(2)?));
                self.library_effect(&params, &[pointer, value], &format!("atomic_store_explicit(a0, a1, {order}, memory_scope_device);"));
            }
            Opcode::AtomicCompareExchange | Opcode::AtomicCompareExchangeWeak => self.compare_exchange()?,
            Opcode::AtomicFlagTestAndSet | Opcode::AtomicFlagClear => self.atomic_flag()?,
            Opcode::ControlBarrier | Opcode::ControlBarrierWaitINTEL => self.barrier()?,
            // The wait is lowered to a full barrier, so the arrival is only a fence.
            Opcode::ControlBarrierArriveINTEL => self.fence(2)?,
            Opcode::MemoryBarrier => self.fence(1)?,
            _ => {
                let Some((name, sign)) = fetch(op) else { return Ok(false) };
                self.fetch(name, sign)?;
            }
        }
        Ok(true)
    }

    /// Returns the value of a constant operand of at most 32 bits.
    pub(super) fn constant_operand(&self, index: usize) -> Checked<u32> {
        let id: Id = self.current.operand(index)?;
        match self.module.constants.get(id) {
            Some(_) => self.module.constants.word(id),
            None => Err(unsupported!("a non-constant {}", OperandIndex(index))),
        }
    }

    fn atomic_type(&self, ty: Type) -> Checked<Type> {
        match ty {
            Type::Scalar(Scalar::I32 | Scalar::I64 | Scalar::F16 | Scalar::F32 | Scalar::F64) => Ok(ty),
            _ => Err(unsupported!("an atomic operation on type {}", Shown(ty))),
        }
    }

    /// Returns the OpenCL C type of a pointer to an atomic object of type `ty`, with the address space of operand 0.
    fn atomic_pointer(&mut self, ty: Type, sign: Signedness) -> Checked<String> {
        let pointer = self.pointer(0)?;
        Ok(format!("volatile {}atomic_{} *", self.space_text(pointer), c_type(ty, sign)?))
    }

    fn fetch(&mut self, name: &str, sign: Signedness) -> Checked<()> {
        let want = self.atomic_type(self.result_type()?)?;
        let pointer = self.pointer(0)?;
        let order = order(self.constant_operand(2)?);
        let operand = match self.current.op {
            Opcode::AtomicIIncrement | Opcode::AtomicIDecrement => self.b.bits(want, 1),
            _ => self.number(3)?,
        };
        if self.b.ty(operand) != want {
            return Err(invalid!("the operand is not of type {}", Shown(want)));
        }
        let params = [self.atomic_pointer(want, sign)?, c_type(want, sign)?];
        let body = format!("return atomic_{name}_explicit(a0, a1, {order}, memory_scope_device);");
        let value = self.library_text(want, &c_type(want, sign)?, &params, &[pointer, operand], &body)?;
        self.set_result(value)
    }

    fn compare_exchange(&mut self) -> Checked<()> {
        let want = self.atomic_type(self.result_type()?)?;
        let pointer = self.pointer(0)?;
        let success = order(self.constant_operand(2)?);
        // If the comparison fails, the operation is only a load, so its order cannot include a release.
        let failure = match order(self.constant_operand(3)?) {
            "memory_order_acq_rel" => "memory_order_acquire",
            "memory_order_release" => "memory_order_relaxed",
            other => other,
        };
        let (desired, expected): (Value, Value) = (self.number(4)?, self.number(5)?);
        if self.b.ty(desired) != want || self.b.ty(expected) != want {
            return Err(invalid!("the operands are not of type {}", Shown(want)));
        }
        let name = c_type(want, Signedness::Signed)?;
        let params = [self.atomic_pointer(want, Signedness::Signed)?, name.clone(), name.clone()];
        let call = format!("atomic_compare_exchange_strong_explicit(a0, &e, a2, {success}, {failure}, memory_scope_device)");
        let body = format!("{name} e = a1; {call}; return e;");
        let value = self.library_text(want, &name, &params, &[pointer, expected, desired], &body)?;
        self.set_result(value)
    }

    fn atomic_flag(&mut self) -> Checked<()> {
        let pointer = self.pointer(0)?;
        let order = order(self.constant_operand(2)?);
        let params = [format!("volatile {}atomic_flag *", self.space_text(pointer))];
        if self.current.op == Opcode::AtomicFlagClear {
            self.library_effect(&params, &[pointer], &format!("atomic_flag_clear_explicit(a0, {order}, memory_scope_device);"));
            return Ok(());
        }
        let body = format!("return atomic_flag_test_and_set_explicit(a0, {order}, memory_scope_device);");
        let was_set = self.library_text(Type::I32, "int", &params, &[pointer], &body)?;
        let value = self.b.cmp_int(CmpOp::Ne, was_set, 0);
        self.set_result(value)
    }

    /// Emits a fence with the memory semantics in an operand. Relaxed semantics need no fence.
    fn fence(&mut self, operand: usize) -> Checked<()> {
        let semantics = self.constant_operand(operand)?;
        if order(semantics) != "memory_order_relaxed" {
            self.b.effect(Op::MemFence(fence(semantics)));
        }
        Ok(())
    }

    fn barrier(&mut self) -> Checked<()> {
        let (scope, semantics) = (self.constant_operand(0)?, self.constant_operand(2)?);
        match Scope::from_u32(scope) {
            Some(Scope::Workgroup) => {
                self.b.effect(Op::Barrier(fence(semantics)));
                Ok(())
            }
            Some(Scope::Subgroup) => {
                let Fence { local, global, image } = fence(semantics);
                let flags = u32::from(local) | u32::from(global) << 1 | u32::from(image) << 2;
                self.library_effect(&[], &[], &format!("sub_group_barrier({flags});"));
                Ok(())
            }
            // The scope has only one work-item, so there is nothing to wait for.
            Some(Scope::Invocation) => Ok(()),
            _ => Err(unsupported!("a barrier with scope {scope}, which is not Workgroup (2), Subgroup (3) or Invocation (4),")),
        }
    }
}
