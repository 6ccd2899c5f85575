//! Expands collective operations: work-group operations with local memory and barriers, subgroup operations with
//! device instructions.
//!
//! ```text
//! %1 = group work reduce add, %0      =>      store group4[local id] = %0; barrier
//!                                             halves of the array added up, with a barrier after each
//!                                             %1 = load group4[0]; barrier
//! ```
//! * **Reductions** of work-groups take one step per doubling of the group size, in one array. **Scans** (Hillis and
//!   Steele) keep the prefix sum in a register and alternate between two arrays, which saves a barrier per step. Each
//!   operation ends with a barrier, so that the next operation may immediately write to the arrays. The group size need
//!   not be a power of two.
//! * **Reductions and scans of subgroups** are scans with shuffles. They are exact for every type, and correct if the
//!   last subgroup is not full. Sums, minima, maxima and prefix sums of `i32` stay subgroup operations, because every
//!   device has instructions for them.
//! * **Reductions and scans of the active work-items**, with or without clusters, get the active set from a ballot and
//!   use pointer jumping. First, each work-item links to the previous active work-item. In each step, a work-item adds
//!   the value of the work-item to which it links, and then takes over the link of that work-item. The number of steps
//!   is the same as for a full subgroup.
//! * **Shuffles** of types other than `i32` become shuffles of `i32`.
//!
//! The pass runs at launch, when the group size is known. It does not run for the CPU device, which has its own
//! implementation (`vectorize/collective.rs`, `vectorize/group/collective.rs`). There is one exception: if subgroups
//! wait for each other (`vectorize/progress.rs`), the CPU device uses the expansion of work-group operations.

use super::pass::Pass;
use crate::analysis::definitions::Constants;
use crate::diag::Span;
use crate::ir::{
    AtomicOp, BinOp, Build, CastOp, CmpOp, Cursor, Fence, Function, Global, GlobalVar, GroupOp, Inst, MathOp, Module, Op, Region, Scalar,
    Space, Type, UnOp, Value, WorkItem,
};
use rustc_hash::FxHashMap;

pub(crate) const PASS: Pass = Pass::module("groups", |module, cx| {
    if !cx.target.native {
        let usual = cx.target.language.subgroup_size;
        let kernel = module.functions.first().and_then(|function| function.kernel.as_ref());
        let lanes = kernel.map_or(usual, |kernel| kernel.subgroup_size(usual));
        run(module, cx.key.kernel.local_size, Some(lanes));
    }
    Ok(!cx.target.native)
});

/// Local memory for the collective operations of one kernel. Each object is created when it is needed.
#[derive(Default)]
struct GroupSlots {
    /// The arrays of 4-byte slots and of 8-byte slots.
    slots: [Option<Global>; 2],
    vote: Option<Global>,
}

/// Expands the work-group operations in every function of a module for this work-group size.
pub(crate) fn expand_work_groups(module: &mut Module, local_size: [u32; 3]) {
    run(module, local_size, None);
}

/// Expands the operations in every function of a module for this work-group size. `lanes` is the maximum subgroup size,
/// or `None` if subgroup operations stay.
pub(crate) fn run(module: &mut Module, local_size: [u32; 3], lanes: Option<u32>) {
    let items = local_size.iter().fold(1_u32, |product, &size| product.saturating_mul(size.max(1)));
    let mut memory = GroupSlots::default();
    for index in 0..module.functions.len() {
        let mut used = false;
        module.functions[index].body.walk(&mut |inst| used |= matches!(inst.op, Op::Group { sub, .. } if !sub || lanes.is_some()));
        if !used {
            continue;
        }
        let function = &mut module.functions[index];
        let mut body = std::mem::take(&mut function.body);
        let mut pass = Expander {
            function,
            globals: &mut module.globals,
            memory: &mut memory,
            local_size,
            items,
            lanes: lanes.map_or(1, |lanes| lanes.min(items.next_power_of_two())),
            expands_subgroups: lanes.is_some(),
            constants: Constants::of(&body),
            out: Vec::new(),
            span: Span::NONE,
            aliases: FxHashMap::default(),
        };
        pass.region(&mut body);
        let aliases = pass.aliases;
        body.walk_mut(&mut |inst| {
            inst.op.map_operands(|value| {
                while let Some(&new) = aliases.get(value) {
                    *value = new;
                }
            });
        });
        module.functions[index].body = body;
    }
}

struct Expander<'a> {
    function: &'a mut Function,
    globals: &'a mut Vec<GlobalVar>,
    memory: &'a mut GroupSlots,
    local_size: [u32; 3],
    /// The number of work-items of a work-group.
    items: u32,
    /// Maximum subgroup size, if the pass expands subgroup operations.
    lanes: u32,
    expands_subgroups: bool,
    constants: Constants,
    out: Vec<Inst>,
    span: Span,
    /// Replacements for the results of expanded operations.
    aliases: FxHashMap<Value, Value>,
}

impl Build for Expander<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }
}

impl Expander<'_> {
    fn region(&mut self, region: &mut Region) {
        let outer = std::mem::take(&mut self.out);
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            self.span = inst.span;
            let new = match &inst.op {
                Op::Group { sub: false, op, args } => self.work_group(*op, args),
                Op::Group { sub: true, op, args } if self.expands_subgroups => self.subgroup(*op, args),
                _ => None,
            };
            match (new, inst.results.first()) {
                (Some(new), Some(&result)) => drop(self.aliases.insert(result, new)),
                _ => self.out.push(inst),
            }
        }
        region.insts = std::mem::replace(&mut self.out, outer);
    }

    // Building

    fn barrier(&mut self) {
        self.effect(Op::Barrier(Fence { local: true, global: false, image: false }));
    }

    /// Emits `if cond { then } else { els }`, where each branch yields a value of type `ty`.
    fn choose(&mut self, cond: Value, ty: Type, then: impl FnOnce(&mut Self) -> Value, els: Value) -> Value {
        let outer = std::mem::take(&mut self.out);
        let value = then(self);
        self.effect(Op::Yield(vec![value]));
        let then = Region { insts: std::mem::replace(&mut self.out, outer) };
        let els = Region { insts: vec![Inst::effect(Op::Yield(vec![els]), self.span)] };
        self.push(ty, Op::If { cond, then, els })
    }

    /// Emits `if cond { then }`.
    fn emit_if(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.out);
        then(self);
        self.effect(Op::Yield(Vec::new()));
        let then = Region { insts: std::mem::replace(&mut self.out, outer) };
        let els = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), self.span)] };
        self.effect(Op::If { cond, then, els });
    }

    /// Emits the linear index of the work-item in the work-group.
    fn local_index(&mut self) -> Value {
        let mut index = self.push(Type::I32, Op::WorkItem(WorkItem::LocalId(2)));
        for dimension in [1_u8, 0] {
            let size = self.word(self.local_size[usize::from(dimension)].max(1));
            let rows = self.bin(BinOp::Mul, index, size);
            let here = self.push(Type::I32, Op::WorkItem(WorkItem::LocalId(dimension)));
            index = self.bin(BinOp::Add, rows, here);
        }
        index
    }

    // Slots

    fn object(&mut self, name: &str, size: u32, align: u32) -> Global {
        let number = crate::ir::number(self.globals.len());
        self.globals.push(GlobalVar { name: name.to_owned(), space: Space::Local, size, align, init: None, relocs: Vec::new() });
        Global(number)
    }

    /// Returns the array of slots of `size` bytes (4 or 8). Ensures that the array has at least `count` slots.
    fn slots(&mut self, size: u32, count: u32) -> Value {
        let index = usize::from(size == 8);
        let global = match self.memory.slots[index] {
            Some(global) => global,
            None => {
                let global = self.object(if size == 8 { "group8" } else { "group4" }, 0, size);
                self.memory.slots[index] = Some(global);
                global
            }
        };
        if let Some(object) = self.globals.get_mut(global.index()) {
            object.size = object.size.max(size.saturating_mul(count));
        }
        self.push(Type::Ptr(Space::Local), Op::GlobalAddr(global))
    }

    fn slot_address(&mut self, array: Value, index: Value, size: u32) -> Value {
        let size = self.word(size);
        let offset = self.bin(BinOp::Mul, index, size);
        self.ptr_add(array, offset)
    }

    fn store(&mut self, array: Value, index: Value, slot: Value) {
        let size = self.function.ty(slot).scalar().map_or(4, Scalar::size);
        let ptr = self.slot_address(array, index, size);
        self.effect(Op::Store { ptr, value: slot, align: size, volatile: false });
    }

    fn load(&mut self, array: Value, index: Value, ty: Type) -> Value {
        let size = ty.scalar().map_or(4, Scalar::size);
        let ptr = self.slot_address(array, index, size);
        self.push(ty, Op::Load { ptr, align: size, volatile: false })
    }

    /// Converts a value to the integer of 32 or 64 bits that a slot contains.
    fn pack_slot(&mut self, value: Value) -> Value {
        let ty = self.function.ty(value);
        let scalar = ty.scalar().unwrap_or(Scalar::I32);
        let whole = Scalar::int_of_size(scalar.size()).unwrap_or(scalar);
        let bits = if scalar.is_float() { self.cast(CastOp::Bitcast, value, whole) } else { value };
        if whole.size() < 4 { self.cast(CastOp::ZExt, bits, Scalar::I32) } else { bits }
    }

    /// Converts the contents of a slot to type `ty`.
    fn unpack_slot(&mut self, slot: Value, ty: Type) -> Value {
        let scalar = ty.scalar().unwrap_or(Scalar::I32);
        let whole = Scalar::int_of_size(scalar.size()).unwrap_or(scalar);
        let bits = if whole.size() < 4 { self.cast(CastOp::Trunc, slot, whole) } else { slot };
        if scalar.is_float() { self.cast(CastOp::Bitcast, bits, scalar) } else { bits }
    }

    /// Emits `op(earlier, value)`, where `slot` contains the earlier value.
    fn combine(&mut self, op: BinOp, slot: Value, value: Value) -> Value {
        let ty = self.function.ty(value);
        let earlier = self.unpack_slot(slot, ty);
        self.bin(op, earlier, value)
    }

    // Work-groups

    /// Emits the result of an operation of the work-group. Returns `None` if the operation stays.
    fn work_group(&mut self, op: GroupOp, args: &[Value]) -> Option<Value> {
        let value = *args.first()?;
        if self.items == 1 {
            return Some(match op {
                GroupOp::ScanExclusive(op) => self.identity(op, value),
                _ => value,
            });
        }
        Some(match op {
            GroupOp::All => {
                let not = self.un(UnOp::Not, value);
                let any = self.any(not);
                self.un(UnOp::Not, any)
            }
            GroupOp::Any => self.any(value),
            GroupOp::Broadcast => self.broadcast(value, *args.get(1)?),
            GroupOp::Reduce(op) => self.reduce(op, value),
            GroupOp::ScanInclusive(op) => self.scan(op, value, true),
            GroupOp::ScanExclusive(op) => self.scan(op, value, false),
            _ => return None,
        })
    }

    fn any(&mut self, flag: Value) -> Value {
        let global = match self.memory.vote {
            Some(global) => global,
            None => {
                let global = self.object("vote", 4, 4);
                self.memory.vote = Some(global);
                global
            }
        };
        let ptr = self.push(Type::Ptr(Space::Local), Op::GlobalAddr(global));
        let (index, zero, one) = (self.local_index(), self.word(0), self.word(1));
        let first = self.cmp(CmpOp::Eq, index, zero);
        self.emit_if(first, |pass| pass.effect(Op::Atomic { op: AtomicOp::Store, ptr, value: Some(zero), ty: Scalar::I32 }));
        self.barrier();
        self.emit_if(flag, |pass| pass.effect(Op::Atomic { op: AtomicOp::Store, ptr, value: Some(one), ty: Scalar::I32 }));
        self.barrier();
        let found = self.push(Type::I32, Op::Atomic { op: AtomicOp::Load, ptr, value: None, ty: Scalar::I32 });
        self.barrier();
        self.cmp(CmpOp::Ne, found, zero)
    }

    fn broadcast(&mut self, value: Value, index: Value) -> Value {
        let ty = self.function.ty(value);
        let slot = self.pack_slot(value);
        let slot_ty = self.function.ty(slot);
        let array = self.slots(slot_ty.scalar().map_or(4, Scalar::size), 1);
        let (own, zero) = (self.local_index(), self.word(0));
        let mine = self.cmp(CmpOp::Eq, own, index);
        self.emit_if(mine, |pass| pass.store(array, zero, slot));
        self.barrier();
        let result = self.load(array, zero, slot_ty);
        self.barrier();
        self.unpack_slot(result, ty)
    }

    fn reduce(&mut self, op: BinOp, value: Value) -> Value {
        let ty = self.function.ty(value);
        let slot = self.pack_slot(value);
        let slot_ty = self.function.ty(slot);
        let array = self.slots(slot_ty.scalar().map_or(4, Scalar::size), self.items);
        let index = self.local_index();
        self.store(array, index, slot);
        self.barrier();
        let mut sum = value;
        let mut left = self.items;
        while left > 1 {
            // Adds the upper half to the lower half. If the number of elements is odd, the middle element does not
            // change.
            let half = left.div_ceil(2);
            let (pairs, half_value) = (self.word(left - half), self.word(half));
            let takes = self.cmp(CmpOp::ULt, index, pairs);
            sum = self.choose(
                takes,
                ty,
                |pass| {
                    let other = pass.bin(BinOp::Add, index, half_value);
                    let other = pass.load(array, other, slot_ty);
                    let sum = pass.combine(op, other, sum);
                    let slot = pass.pack_slot(sum);
                    pass.store(array, index, slot);
                    sum
                },
                sum,
            );
            self.barrier();
            left = half;
        }
        let zero = self.word(0);
        let result = self.load(array, zero, slot_ty);
        self.barrier();
        self.unpack_slot(result, ty)
    }

    fn scan(&mut self, op: BinOp, value: Value, inclusive: bool) -> Value {
        let ty = self.function.ty(value);
        let slot = self.pack_slot(value);
        let slot_ty = self.function.ty(slot);
        let array = self.slots(slot_ty.scalar().map_or(4, Scalar::size), self.items.saturating_mul(2));
        let own = self.local_index();
        let items = self.word(self.items);
        // `indices` are the slots of this work-item in the first and in the second array.
        let upper = self.bin(BinOp::Add, own, items);
        let indices = [own, upper];
        let mut current = 0;
        self.store(array, own, slot);
        self.barrier();
        let mut sum = value;
        let mut step = 1;
        while step < self.items {
            let distance = self.word(step);
            let has = self.cmp(CmpOp::UGe, own, distance);
            let from = indices[current];
            sum = self.choose(
                has,
                ty,
                |pass| {
                    let earlier = pass.bin(BinOp::Sub, from, distance);
                    let earlier = pass.load(array, earlier, slot_ty);
                    pass.combine(op, earlier, sum)
                },
                sum,
            );
            step = step.saturating_mul(2);
            if step < self.items || !inclusive {
                current = 1 - current;
                let slot = self.pack_slot(sum);
                self.store(array, indices[current], slot);
                self.barrier();
            }
        }
        if !inclusive {
            let (zero, one) = (self.word(0), self.word(1));
            let has = self.cmp(CmpOp::Ne, own, zero);
            let first = self.identity(op, value);
            let from = indices[current];
            sum = self.choose(
                has,
                ty,
                |pass| {
                    let before = pass.bin(BinOp::Sub, from, one);
                    let before = pass.load(array, before, slot_ty);
                    pass.unpack_slot(before, ty)
                },
                first,
            );
        }
        self.barrier();
        sum
    }

    /// Returns the identity element of an operation on the type of `like`.
    fn identity(&mut self, op: BinOp, like: Value) -> Value {
        let ty = self.function.ty(like);
        self.bits(ty, op.identity(ty.scalar().unwrap_or(Scalar::I32)))
    }

    // Subgroups

    fn sub(&mut self, op: GroupOp, args: Vec<Value>, ty: Type) -> Value {
        self.push(ty, Op::Group { sub: true, op, args })
    }

    /// Emits the result of a subgroup operation. Returns `None` if the operation stays.
    fn subgroup(&mut self, op: GroupOp, args: &[Value]) -> Option<Value> {
        let value = *args.first()?;
        let ty = self.function.ty(value);
        match op {
            GroupOp::Reduce(BinOp::Add | BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax)
            | GroupOp::ScanInclusive(BinOp::Add)
            | GroupOp::ScanExclusive(BinOp::Add)
                if ty == Type::I32 =>
            {
                None
            }
            GroupOp::Reduce(op) => {
                let sums = self.subgroup_scan(op, value);
                let last = self.last_lane();
                Some(self.shuffle(GroupOp::Shuffle, sums, Some(last)))
            }
            GroupOp::ScanInclusive(op) => Some(self.subgroup_scan(op, value)),
            GroupOp::ScanExclusive(op) => {
                let sums = self.subgroup_scan(op, value);
                let (lane, zero, one) = (self.lane(), self.word(0), self.word(1));
                let before = self.shuffle(GroupOp::ShuffleUp, sums, Some(one));
                let first = self.identity(op, value);
                let is_first = self.cmp(CmpOp::Eq, lane, zero);
                Some(self.select(is_first, first, before))
            }
            GroupOp::ActiveReduce(combine) | GroupOp::ActiveInclusive(combine) | GroupOp::ActiveExclusive(combine) => {
                Some(self.active(op, combine, value, *args.get(1)?))
            }
            GroupOp::Broadcast => Some(self.shuffle(GroupOp::Shuffle, value, args.get(1).copied())),
            GroupOp::Shuffle | GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown | GroupOp::BroadcastFirst
                if ty != Type::I32 =>
            {
                Some(self.shuffle(op, value, args.get(1).copied()))
            }
            _ => None,
        }
    }

    fn lane(&mut self) -> Value {
        self.push(Type::I32, Op::WorkItem(WorkItem::SubgroupLocalId))
    }

    /// Returns the index of the last lane of this subgroup, which may not be full.
    fn last_lane(&mut self) -> Value {
        let size = self.push(Type::I32, Op::WorkItem(WorkItem::SubgroupSize));
        let index = self.push(Type::I32, Op::WorkItem(WorkItem::SubgroupId));
        let (items, one) = (self.word(self.items), self.word(1));
        let before = self.bin(BinOp::Mul, index, size);
        let left = self.bin(BinOp::Sub, items, before);
        let here = self.bin(BinOp::UMin, size, left);
        self.bin(BinOp::Sub, here, one)
    }

    /// Emits a shuffle of any type as one or two shuffles of `i32`.
    fn shuffle(&mut self, op: GroupOp, value: Value, index: Option<Value>) -> Value {
        let ty = self.function.ty(value);
        let slot = self.pack_slot(value);
        let move_word = |pass: &mut Self, word: Value| {
            let args = std::iter::once(word).chain(index).collect();
            pass.sub(op, args, Type::I32)
        };
        if self.function.ty(slot) != Type::I64 {
            let moved = move_word(self, slot);
            return self.unpack_slot(moved, ty);
        }
        let low = self.cast(CastOp::Trunc, slot, Scalar::I32);
        let amount = self.bits(Type::I64, 32);
        let high = self.bin(BinOp::LShr, slot, amount);
        let high = self.cast(CastOp::Trunc, high, Scalar::I32);
        let (low, high) = (move_word(self, low), move_word(self, high));
        let (low, high) = (self.cast(CastOp::ZExt, low, Scalar::I64), self.cast(CastOp::ZExt, high, Scalar::I64));
        let high = self.bin(BinOp::Shl, high, amount);
        let moved = self.bin(BinOp::Or, low, high);
        self.unpack_slot(moved, ty)
    }

    /// Emits a reduction or scan of the active work-items of each cluster.
    fn active(&mut self, op: GroupOp, combine: BinOp, value: Value, cluster: Value) -> Value {
        let ty = self.function.ty(value);
        let known = self.constants.bits(cluster).and_then(|size| u32::try_from(size).ok());
        let most = known.map_or(self.lanes, |size| size.min(self.lanes));
        if let Some(native) = native(op, combine, ty).filter(|_| known.is_some_and(|size| size >= self.lanes)) {
            return self.sub(native, vec![value], ty);
        }
        let (lane, one, none) = (self.lane(), self.word(1), self.word(u32::MAX));
        // The cluster is [first, end).
        let inside = self.bin(BinOp::Sub, cluster, one);
        let last = self.bin(BinOp::Or, lane, inside);
        let end = self.bin(BinOp::Add, last, one);
        let first = self.bin(BinOp::Sub, end, cluster);
        let truth = self.bits(Type::BOOL, 1);
        let ballot = self.push(Type::Vector(Scalar::I32, 4), Op::Group { sub: true, op: GroupOp::Ballot, args: vec![truth] });
        let start = self.highest(ballot, first, lane);
        let zero = self.word(0);
        let (mut sum, mut link, mut step) = (value, start, 1);
        while step < most {
            let has = self.cmp(CmpOp::SGe, link, zero);
            let from = self.select(has, link, lane);
            let earlier = self.shuffle(GroupOp::Shuffle, sum, Some(from));
            let more = self.bin(combine, earlier, sum);
            sum = self.select(has, more, sum);
            step *= 2;
            if step < most {
                let next = self.shuffle(GroupOp::Shuffle, link, Some(from));
                link = self.select(has, next, none);
            }
        }
        match op {
            GroupOp::ActiveInclusive(_) => sum,
            GroupOp::ActiveExclusive(_) => {
                let has = self.cmp(CmpOp::SGe, start, zero);
                let from = self.select(has, start, lane);
                let before = self.shuffle(GroupOp::Shuffle, sum, Some(from));
                let identity = self.identity(combine, value);
                self.select(has, before, identity)
            }
            _ => {
                let last = self.highest(ballot, first, end);
                self.shuffle(GroupOp::Shuffle, sum, Some(last))
            }
        }
    }

    /// Returns the index of the highest set bit of a ballot within [first, end), or -1.
    fn highest(&mut self, ballot: Value, first: Value, end: Value) -> Value {
        let mut found = self.word(u32::MAX);
        for number in 0..self.lanes.div_ceil(32) {
            let word = self.extract(ballot, number as u8);
            let (below_end, below_first) = (self.below(end, number * 32), self.below(first, number * 32));
            let outside = self.un(UnOp::Not, below_first);
            let word = self.bin(BinOp::And, word, below_end);
            let word = self.bin(BinOp::And, word, outside);
            let zeros = self.math(MathOp::Clz, word);
            let top = self.word(number * 32 + 31);
            let at = self.bin(BinOp::Sub, top, zeros);
            let zero = self.word(0);
            let any = self.cmp(CmpOp::Ne, word, zero);
            found = self.select(any, at, found);
        }
        found
    }

    /// Returns the mask of the lanes below `index`, for the ballot word that starts at lane `base`.
    fn below(&mut self, index: Value, base: u32) -> Value {
        let (base, zero, one, width, ones) = (self.word(base), self.word(0), self.word(1), self.word(32), self.word(u32::MAX));
        let count = self.bin(BinOp::Sub, index, base);
        let count = self.bin(BinOp::SMax, count, zero);
        let bit = self.bin(BinOp::Shl, one, count);
        let some = self.bin(BinOp::Sub, bit, one);
        let all = self.cmp(CmpOp::UGe, count, width);
        self.select(all, ones, some)
    }

    fn subgroup_scan(&mut self, op: BinOp, value: Value) -> Value {
        let lane = self.lane();
        let mut sum = value;
        let mut step = 1;
        while step < self.lanes {
            let distance = self.word(step);
            let earlier = self.shuffle(GroupOp::ShuffleUp, sum, Some(distance));
            let more = self.bin(op, earlier, sum);
            let has = self.cmp(CmpOp::UGe, lane, distance);
            sum = self.select(has, more, sum);
            step *= 2;
        }
        sum
    }
}

/// Returns the device's operation for all active work-items. Returns `None` if the device has no such operation: for
/// types other than `i32`, and for scans other than sums and products.
fn native(op: GroupOp, combine: BinOp, ty: Type) -> Option<GroupOp> {
    let words = ty == Type::I32;
    match (op, combine) {
        (
            GroupOp::ActiveReduce(_),
            BinOp::Add | BinOp::Mul | BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax | BinOp::And | BinOp::Or | BinOp::Xor,
        ) if words => Some(GroupOp::Reduce(combine)),
        (GroupOp::ActiveInclusive(_), BinOp::Add | BinOp::Mul) if words => Some(GroupOp::ScanInclusive(combine)),
        (GroupOp::ActiveExclusive(_), BinOp::Add | BinOp::Mul) if words => Some(GroupOp::ScanExclusive(combine)),
        _ => None,
    }
}
