//! Named barriers (SPIR-V 3.42.24, capability `NamedBarrier`): barriers for some of the subgroups of a work-group.
//!
//! A named barrier is a variable in local memory, and a value of its type is the address of this variable. The
//! instructions are OpenCL C functions ([`FUNCTIONS`]). A subgroup waits in a loop, so the subgroups of a work-group
//! must make independent progress. Other devices reject the type (`types`).
//!
//! ```text
//! %b = OpNamedBarrierInitialize %barrier %count      named_barrier_begin(b, count)
//! OpMemoryNamedBarrier %b %scope %semantics          named_barrier_wait(b)
//! ```
//! Each `OpNamedBarrierInitialize` has one variable. If a work-group executes the instruction again, it initialises the
//! same barrier again.

use rspirv::spirv::Op as Opcode;

use super::atomics::{fence, order};
use super::errors::{Checked, OperandIndex, invalid};
use super::function::{Lowering, Val};
use super::types::Kind;
use crate::ir::{Fence, Op, Space, Type, Value};

/// Size in bytes of the structure `named_barrier`.
pub(super) const SIZE: u32 = 12;

/// The functions. The first barrier of `named_barrier_begin` waits for subgroups that still use an earlier barrier in
/// the same memory. The last subgroup that arrives resets the count before it starts the next phase.
const FUNCTIONS: &str = "\
typedef struct { uint expected; atomic_uint arrived; atomic_uint phase; } named_barrier;
void named_barrier_begin(__local void *memory, uint count) {
    __local named_barrier *barrier = (__local named_barrier *)memory;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_linear_id() == 0) {
        barrier->expected = count;
        atomic_store_explicit(&barrier->arrived, 0u, memory_order_relaxed, memory_scope_work_group);
        atomic_store_explicit(&barrier->phase, 0u, memory_order_relaxed, memory_scope_work_group);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
}
void named_barrier_wait(__local void *memory) {
    __local named_barrier *barrier = (__local named_barrier *)memory;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_sub_group_local_id() == 0) {
        uint phase = atomic_load_explicit(&barrier->phase, memory_order_acquire, memory_scope_work_group);
        uint before = atomic_fetch_add_explicit(&barrier->arrived, 1u, memory_order_acq_rel, memory_scope_work_group);
        if (before + 1u >= barrier->expected) {
            atomic_store_explicit(&barrier->arrived, 0u, memory_order_relaxed, memory_scope_work_group);
            atomic_fetch_add_explicit(&barrier->phase, 1u, memory_order_acq_rel, memory_scope_work_group);
        } else {
            while (atomic_load_explicit(&barrier->phase, memory_order_acquire, memory_scope_work_group) == phase);
        }
    }
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
}
";

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn named_barrier(&mut self) -> Checked<bool> {
        match self.current.op {
            Opcode::NamedBarrierInitialize => self.begin_named_barrier()?,
            Opcode::MemoryNamedBarrier => self.wait_at_named_barrier()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn begin_named_barrier(&mut self) -> Checked<()> {
        let id = self.current.result()?;
        if self.module.types.get(self.current.ty()?)?.kind != Kind::NamedBarrier {
            return Err(invalid!("the result type is not OpTypeNamedBarrier"));
        }
        let count = self.integer(0)?;
        let count = self.b.resize(count, false, Type::I32);
        let variable = self.shared.globals.number(id).ok_or_else(|| invalid!("{id} has no memory"))?;
        let address = self.b.global_addr(variable, Space::Local);
        self.shared.bridge.declare(FUNCTIONS);
        let params = ["__local void *".to_owned(), "uint".to_owned()];
        self.library_effect(&params, &[address, count], "named_barrier_begin(a0, a1);");
        self.define(Val::One(address))
    }

    fn wait_at_named_barrier(&mut self) -> Checked<()> {
        let barrier = self.named_barrier_operand(0)?;
        let semantics = self.constant_operand(2)?;
        let orders = order(semantics) != "memory_order_relaxed";
        let Fence { global, image, .. } = fence(semantics);
        // The barrier always orders accesses to local memory. A fence orders the accesses to other memory.
        let fences = orders && (global || image);
        if fences {
            self.b.effect(Op::MemFence(fence(semantics)));
        }
        self.shared.bridge.declare(FUNCTIONS);
        self.library_effect(&["__local void *".to_owned()], &[barrier], "named_barrier_wait(a0);");
        if fences {
            self.b.effect(Op::MemFence(fence(semantics)));
        }
        Ok(())
    }

    fn named_barrier_operand(&mut self, index: usize) -> Checked<Value> {
        let ty = self.type_id(self.current.operand(index)?)?;
        match self.module.types.get(ty)?.kind {
            Kind::NamedBarrier => self.arg(index),
            _ => Err(invalid!("{} is not a named barrier", OperandIndex(index))),
        }
    }
}
