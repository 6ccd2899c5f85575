//! Work-item functions (6.15.1), subgroup queries, fences and address space queries.

use super::super::function::Lowering;
use super::Call;
use super::atomic::Order;
use crate::builtins::Intrinsic;
use crate::ir::{BinOp, CastOp, CmpOp, Const, Fence, Op, Space, Type, Value, WorkItem};

/// The flags CLK_LOCAL_MEM_FENCE, CLK_GLOBAL_MEM_FENCE and CLK_IMAGE_MEM_FENCE.
const LOCAL_FENCE: u64 = 1;
const GLOBAL_FENCE: u64 = 2;
const IMAGE_FENCE: u64 = 4;

impl<'p> Lowering<'p, '_> {
    fn query(&mut self, query: WorkItem) -> Value {
        self.b.emit(Op::WorkItem(query), Type::I32)
    }

    pub(super) fn work_item(&mut self, op: Intrinsic, call: &Call<'p>) -> Value {
        let ty = self.result(call);
        let value = match op {
            Intrinsic::GetWorkDim => self.query(WorkItem::WorkDim),
            Intrinsic::GetGlobalSize => self.in_dimension(WorkItem::GlobalSize, 1, call),
            Intrinsic::GetGlobalId => self.in_dimension(WorkItem::GlobalId, 0, call),
            Intrinsic::GetLocalSize => self.in_dimension(WorkItem::LocalSize, 1, call),
            Intrinsic::GetEnqueuedLocalSize => self.in_dimension(WorkItem::EnqueuedLocalSize, 1, call),
            Intrinsic::GetLocalId => self.in_dimension(WorkItem::LocalId, 0, call),
            Intrinsic::GetNumGroups => self.in_dimension(WorkItem::NumGroups, 1, call),
            Intrinsic::GetGroupId => self.in_dimension(WorkItem::GroupId, 0, call),
            Intrinsic::GetGlobalOffset => self.in_dimension(WorkItem::GlobalOffset, 0, call),
            Intrinsic::GetGlobalLinearId => return self.global_linear_id(ty),
            Intrinsic::GetLocalLinearId => self.local_linear_id(),
            Intrinsic::GetMaxSubGroupSize => self.query(WorkItem::SubgroupSize),
            // All subgroups except the last are full.
            Intrinsic::GetSubGroupSize => {
                let most = self.query(WorkItem::SubgroupSize);
                let index = self.query(WorkItem::SubgroupId);
                let before = self.b.mul(index, most);
                let all = self.group_size();
                let left = self.b.sub(all, before);
                self.b.bin(BinOp::UMin, most, left)
            }
            // Computes the number, because the device's query may omit a partial last subgroup.
            Intrinsic::GetNumSubGroups | Intrinsic::GetEnqueuedNumSubGroups => {
                let most = self.query(WorkItem::SubgroupSize);
                let all = if op == Intrinsic::GetNumSubGroups { self.group_size() } else { self.enqueued_group_size() };
                let rounded = self.b.add(all, most);
                let rounded = self.b.bin_int(BinOp::Sub, rounded, 1);
                self.b.bin(BinOp::UDiv, rounded, most)
            }
            Intrinsic::GetSubGroupId => self.query(WorkItem::SubgroupId),
            _ => self.query(WorkItem::SubgroupLocalId),
        };
        self.b.resize(value, false, ty)
    }

    /// Emits a query whose dimension is the first argument. The result is `beyond` for an invalid dimension.
    fn in_dimension(&mut self, query: fn(u8) -> WorkItem, beyond: i32, call: &Call<'p>) -> Value {
        let dimension = self.value(call, 0);
        let mut value = self.b.i32(beyond);
        match self.b.known(dimension) {
            Some(known @ 0..=2) => self.query(query(known as u8)),
            Some(_) => value,
            None => {
                for known in (0..3).rev() {
                    let here = self.query(query(known));
                    let is = self.b.cmp_int(CmpOp::Eq, dimension, i64::from(known));
                    value = self.b.select(is, here, value);
                }
                value
            }
        }
    }

    fn global_linear_id(&mut self, ty: Type) -> Value {
        let mut result: Option<Value> = None;
        for dimension in (0..3).rev() {
            let id = self.query(WorkItem::GlobalId(dimension));
            let offset = self.query(WorkItem::GlobalOffset(dimension));
            let id = self.b.sub(id, offset);
            let id = self.b.resize(id, false, ty);
            result = Some(match result {
                None => id,
                Some(outer) => {
                    let size = self.query(WorkItem::GlobalSize(dimension));
                    let size = self.b.resize(size, false, ty);
                    let scaled = self.b.mul(outer, size);
                    self.b.add(scaled, id)
                }
            });
        }
        result.unwrap_or_else(|| self.b.int(ty, 0))
    }

    /// Returns the linear local id, as an `i32`.
    pub(super) fn local_linear_id(&mut self) -> Value {
        let mut result = self.query(WorkItem::LocalId(2));
        for dimension in [1, 0] {
            let size = self.query(WorkItem::LocalSize(dimension));
            let id = self.query(WorkItem::LocalId(dimension));
            let scaled = self.b.mul(result, size);
            result = self.b.add(scaled, id);
        }
        result
    }

    /// Returns the number of work-items of the current work-group, as an `i32`.
    pub(super) fn group_size(&mut self) -> Value {
        self.size_product(WorkItem::LocalSize)
    }

    /// Returns the number of work-items of a full work-group, as an `i32`.
    fn enqueued_group_size(&mut self) -> Value {
        self.size_product(WorkItem::EnqueuedLocalSize)
    }

    /// Returns the product of the values of a query in the three dimensions.
    fn size_product(&mut self, query: fn(u8) -> WorkItem) -> Value {
        let mut result = self.query(query(0));
        for dimension in [1, 2] {
            let size = self.query(query(dimension));
            result = self.b.mul(result, size);
        }
        result
    }

    pub(super) fn fence(&mut self, op: Intrinsic, call: &Call<'p>) -> Option<Value> {
        let flags = call.values.first().and_then(|&flags| self.b.known(flags));
        // Flags that are not constant are treated as all flags.
        let flags = flags.unwrap_or(LOCAL_FENCE | GLOBAL_FENCE | IMAGE_FENCE);
        let fence = Fence { local: flags & LOCAL_FENCE != 0, global: flags & GLOBAL_FENCE != 0, image: flags & IMAGE_FENCE != 0 };
        if op == Intrinsic::AtomicWorkItemFence {
            let order = call.values.get(1).map_or(Order::of(None), |&order| Order::of(self.b.known(order)));
            if order == Order::RELAXED {
                return None;
            }
        }
        self.b.effect(if op == Intrinsic::Barrier { Op::Barrier(fence) } else { Op::MemFence(fence) });
        None
    }

    /// Lowers `to_global` and similar functions. The result is null if the static address space of the pointer differs.
    pub(super) fn narrow_space(&mut self, call: &Call<'p>) -> Value {
        let pointer = self.value(call, 0);
        let want = self.result(call);
        match self.b.ty(pointer) {
            have if have == want => pointer,
            Type::Ptr(Space::Generic) => self.b.cast(CastOp::SpaceCast, pointer, want),
            _ => self.b.constant(want, Const::Null),
        }
    }

    pub(super) fn get_fence(&mut self, call: &Call<'p>) -> Value {
        let pointer = self.value(call, 0);
        let flags = match self.b.ty(pointer) {
            Type::Ptr(Space::Local) => LOCAL_FENCE,
            Type::Ptr(Space::Global) => GLOBAL_FENCE,
            Type::Ptr(Space::Private | Space::Constant) => 0,
            _ => return self.get_generic_fence(call, pointer),
        };
        let ty = self.result(call);
        self.b.bits(ty, flags)
    }

    /// Finds the address space at run time. A cast to an address space gives null if the pointer points to another
    /// address space.
    fn get_generic_fence(&mut self, call: &Call<'p>, pointer: Value) -> Value {
        let ty = self.result(call);
        let mut flags = self.b.bits(ty, 0);
        for (space, flag) in [(Space::Global, GLOBAL_FENCE), (Space::Local, LOCAL_FENCE)] {
            let null = self.b.constant(Type::Ptr(space), Const::Null);
            let converted = self.b.cast(CastOp::SpaceCast, pointer, Type::Ptr(space));
            let is_in_space = self.b.cmp(CmpOp::Ne, converted, null);
            let flag = self.b.bits(ty, flag);
            flags = self.b.select(is_in_space, flag, flags);
        }
        flags
    }
}
