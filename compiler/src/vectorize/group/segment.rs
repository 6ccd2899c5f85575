//! Segments: loops over the gangs of a group, and the values that are live across segments.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use wgcl_codegen::vir::{
    Addr, BinOp as VBin, CastOp, Cond, Elem, Mem, Op as VOp, SourceLoc, Target, Terminator, Type as Register, Value as V,
};

use super::super::shape::{Mode, elem};
use super::super::uniformity::LaneShape;
use super::super::value::{Regs, scalar};
use super::super::vectorizer::{Lowered, Vectorizer};
use super::collective;
use super::plan::{Loop, Segment, Tail, is_recomputed};
use crate::internal::internal;
use crate::ir::{Scalar, Type, Value};

/// The offsets in the arena, in bytes, of values and masks that are live across segments.
#[derive(Default)]
pub(super) struct Slots {
    /// Whether each value is uniform for the group, and therefore needs no slot.
    group_uniform: Vec<bool>,
    /// The slots of values. A slot is not reused while the group runs, because loops can execute a segment again.
    places: FxHashMap<Value, u32>,
    ifs: FxHashMap<Value, ([u32; 2], [u32; 2])>,
    loops: FxHashMap<usize, (u32, u32, u32)>,
    /// The memory of each collective operation, by its result.
    pub(super) collectives: FxHashMap<Value, u32>,
}

impl Slots {
    pub(super) fn new(group_uniform: Vec<bool>, places: FxHashMap<Value, u32>) -> Self {
        Self { group_uniform, places, ..Self::default() }
    }

    pub(super) fn is_group_uniform(&self, value: Value) -> bool {
        self.group_uniform[value.index()]
    }

    /// Returns the mask arrays of both regions of an `if`, and a flag for each region: a word that is nonzero if any
    /// work-item takes the region.
    pub(super) fn if_masks(&self, cond: Value) -> Option<([u32; 2], [u32; 2])> {
        self.ifs.get(&cond).copied()
    }

    /// Returns two mask arrays and a word. The first masks are those of the work-items in a loop. The second masks are
    /// those of the work-items in its current iteration. The word is nonzero if any work-item is in the loop.
    pub(super) fn loop_masks(&self, node: &Loop<'_>) -> Option<(u32, u32, u32)> {
        self.loops.get(&node.number).copied()
    }
}

impl<'a> Vectorizer<'a> {
    /// Allocates an array with one mask for each gang. Returns its offset.
    pub(super) fn mask_array(&mut self) -> u32 {
        let bytes = 4 * self.shape.gangs() * self.shape.lanes;
        self.frame.scratch(bytes)
    }

    /// Emits a loop over the gangs. Values that `body` defines are available only in `body`.
    pub(super) fn each_gang(&mut self, body: impl FnOnce(&mut Self, V) -> Lowered<()>) -> Lowered<()> {
        let (values, splats, fixed) = (self.values.clone(), self.cache.splats.clone(), self.cache.fixed_loads.clone());
        let (variables, element_major) = (self.frame.variables, self.frame.element_major);
        self.gang_loop(|this| {
            let linear = this.items.linear.ok_or_else(|| internal!("no gang"))?;
            body(this, linear)
        })?;
        (self.values, self.cache.splats, self.cache.fixed_loads) = (values, splats, fixed);
        (self.frame.variables, self.frame.element_major) = (variables, element_major);
        self.items.linear = None;
        (self.masks.exec, self.masks.live, self.masks.split_depth) = (None, None, 0);
        self.masks.slots.clear();
        Ok(())
    }

    /// Loads the mask of the current gang from an array.
    pub(super) fn load_item(&mut self, array: u32) -> V {
        let addr = self.item_addr(array, Elem::I32);
        self.emit(Register::I32, VOp::Load(Mem::Elem(Elem::I32), addr))
    }

    pub(super) fn store_item(&mut self, array: u32, bits: V) {
        let addr = self.item_addr(array, Elem::I32);
        self.b.effect(VOp::Store(Mem::Elem(Elem::I32), addr, bits));
    }

    pub(super) fn store_all_lanes(&mut self, array: u32) -> Lowered<()> {
        let bits = self.live_bits();
        self.store_item(array, bits);
        Ok(())
    }

    pub(super) fn load_word(&mut self, at: u32) -> V {
        let addr = self.frame_addr(at);
        self.emit(Register::I32, VOp::Load(Mem::Elem(Elem::I32), addr))
    }

    pub(super) fn clear_word(&mut self, at: u32) {
        let (addr, zero) = (self.frame_addr(at), self.i32(0));
        self.b.effect(VOp::Store(Mem::Elem(Elem::I32), addr, zero));
    }

    /// Sets bits of a word.
    pub(super) fn add_to_word(&mut self, at: u32, bits: V) {
        let old = self.load_word(at);
        let new = self.emit(Register::I32, VOp::Bin(VBin::Or, old, bits));
        let addr = self.frame_addr(at);
        self.b.effect(VOp::Store(Mem::Elem(Elem::I32), addr, new));
    }

    /// Clears bits in the mask of the current gang in an array.
    fn clear_bits_in_item(&mut self, array: u32, bits: V) {
        let old = self.load_item(array);
        let new = self.emit(Register::I32, VOp::Bin(VBin::AndNot, old, bits));
        self.store_item(array, new);
    }

    /// Allocates the memory for the masks and collective operations of a segment.
    fn prepare(&mut self, segment: &Segment<'a>) -> Lowered<()> {
        for tail in &segment.tail {
            match tail {
                Tail::Masks(cond) => {
                    let masks = [self.mask_array(), self.mask_array()];
                    let flags = [self.frame.scratch(4), self.frame.scratch(4)];
                    flags.into_iter().for_each(|flag| self.clear_word(flag));
                    self.group_state()?.slots.ifs.insert(*cond, (masks, flags));
                }
                Tail::Enter(number) => {
                    let made = (self.mask_array(), self.mask_array(), self.frame.scratch(4));
                    self.group_state()?.slots.loops.insert(*number, made);
                }
                Tail::Contribute(collective) => self.prepare_collective(collective)?,
                _ => {}
            }
        }
        for collective in segment.insts.iter().filter_map(|inst| collective::of(inst)) {
            self.prepare_collective(&collective)?;
        }
        Ok(())
    }

    /// Vectorises a segment.
    pub(super) fn segment(&mut self, segment: &Segment<'a>) -> Lowered<()> {
        self.prepare(segment)?;
        let (mask, live) = {
            let state = self.group_state()?;
            (state.masks.last().copied(), state.live)
        };
        self.each_gang(|this, _| {
            let latch = this.masks.exit;
            this.begin_segment(mask, live)?;
            let defined = segment.defined();
            let mut read: Vec<Value> = segment.read().into_iter().filter(|value| !defined.contains(value)).collect();
            read.sort_unstable();
            for value in read {
                this.restore(value)?;
            }
            for inst in &segment.insts {
                this.b.set_source(SourceLoc(inst.span.lo));
                this.instruction(inst)?;
                if this.b.is_ended() {
                    break;
                }
                if this.shape.lanes > 1 && this.may_lose_lanes(inst) {
                    this.record_returned(live);
                    this.skip_if_no_lane(latch);
                }
            }
            if !this.b.is_ended() {
                let mut kept: Vec<Value> = defined.into_iter().collect();
                kept.sort_unstable();
                for value in kept {
                    if this.group_state()?.slots.places.contains_key(&value) {
                        this.store_to_slot(value, value, false)?;
                    }
                }
                this.tail(&segment.tail, live)?;
            }
            if this.masks.exit != latch {
                // If the exit is not the latch, it is the block in which the only lane of the gang returns.
                if !this.b.is_ended() {
                    this.jump(latch, []);
                }
                let returned = std::mem::replace(&mut this.masks.exit, latch);
                this.b.enter(returned);
                if let Some(live) = live {
                    let zero = this.i32(0);
                    this.store_item(live, zero);
                }
                this.jump(latch, []);
            }
            Ok(())
        })
    }

    /// Computes the address of the current gang's first element in an array with `bytes` bytes for each work-item.
    fn gang_element_addr(&mut self, at: u32, bytes: u32) -> Lowered<V> {
        let linear = self.items.linear.ok_or_else(|| internal!("no gang"))?;
        let index = self.op(Register::I64, VOp::Cast(CastOp::ZExt, linear));
        let (start, bytes) = (self.arena_at(at), self.i64(u64::from(bytes)));
        let offset = self.op(Register::I64, VOp::Bin(VBin::Mul, index, bytes));
        Ok(self.op(Register::I64, VOp::Bin(VBin::Add, start, offset)))
    }

    /// Sets the mask of the active lanes, and skips the gang if there are none.
    fn begin_segment(&mut self, mask: Option<u32>, live: Option<u32>) -> Lowered<()> {
        let latch = self.masks.exit;
        if self.frame.private.stride > 0 {
            self.frame.variables = self.gang_element_addr(self.frame.variables_at, self.frame.private.stride)?;
        }
        if self.frame.private.element_major_bytes > 0 {
            self.frame.element_major = self.gang_element_addr(self.frame.element_major_at, self.frame.private.element_major_bytes)?;
        }
        let mut bits: Option<V> = None;
        for array in [mask, live].into_iter().flatten() {
            let item_bits = self.load_item(array);
            bits = Some(match bits {
                Some(bits) => self.emit(Register::I32, VOp::Bin(VBin::And, bits, item_bits)),
                None => item_bits,
            });
        }
        if let Some(bits) = bits {
            let some = self.b.block();
            self.b.end(Terminator::Branch(Cond::NonZero(bits), Target::new(some, []), Target::new(latch, [])));
            self.b.enter(some);
            if self.shape.lanes > 1 {
                self.masks.exec = Some(self.masks_of(bits));
            }
        }
        if live.is_some() {
            if self.shape.lanes > 1 {
                self.masks.split_depth = 1;
                self.begin_live_mask();
            } else {
                self.masks.exit = self.b.block();
            }
        }
        Ok(())
    }

    /// Stores which lanes have returned.
    fn record_returned(&mut self, live: Option<u32>) {
        if let (Some(live), Some(live_mask)) = (live, self.masks.live.clone()) {
            let live_mask: Regs = SmallVec::from_slice(&self.masks.slots[live_mask]);
            // A lane that was inactive at the start of the segment may not have returned. Do not clear its bit.
            let live_bits = self.mask_bits(&live_mask);
            let masks: Regs = self.masks.segment.clone().unwrap_or(live_mask);
            let all = self.mask_bits(&masks);
            let gone = self.emit(Register::I32, VOp::Bin(VBin::AndNot, all, live_bits));
            self.clear_bits_in_item(live, gone);
        }
    }

    /// Branches to the latch if no lane is active.
    fn skip_if_no_lane(&mut self, latch: wgcl_codegen::vir::Block) {
        if let Some(masks) = self.masks.exec.clone() {
            let some = self.b.block();
            let any = self.any(&masks);
            self.b.end(Terminator::Branch(any, Target::new(some, []), Target::new(latch, [])));
            self.b.enter(some);
        }
    }

    /// Allocates a slot for a value, with one number for each work-item and component.
    pub(super) fn new_slot(&mut self, value: Value) -> u32 {
        let ty = self.ir_ty(value);
        let bytes = self.array_bytes(scalar(ty)) * u32::from(ty.lanes());
        self.frame.scratch(bytes)
    }

    fn slot_of(&mut self, value: Value) -> Lowered<Option<u32>> {
        Ok(self.group_state()?.slots.places.get(&value).copied())
    }

    /// Loads or recomputes a value that another segment has computed.
    fn restore(&mut self, value: Value) -> Lowered<()> {
        if self.values[value.index()].is_some() || self.group_state()?.slots.is_group_uniform(value) {
            return Ok(());
        }
        if is_recomputed(self.uniformity, value) {
            if let Some(op) = self.uniformity.definitions().get(value) {
                let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
                op.for_each_operand(|operand| operands.push(operand));
                for operand in operands {
                    self.restore(operand)?;
                }
                if !matches!(op, crate::ir::Op::Const(_)) {
                    self.with_result(op, value)?;
                }
            }
            return Ok(());
        }
        let Some(at) = self.slot_of(value)? else { return Ok(()) };
        let (lane_shape, ty) = (self.uniformity.lane_shape(value), self.ir_ty(value));
        let registers = self.load_slot(lane_shape, ty, at);
        let val = self.rebuild(lane_shape, ty, &registers);
        self.define(value, val);
        Ok(())
    }

    /// Returns the size in bytes of the array of a component.
    fn array_bytes(&self, of: Scalar) -> u32 {
        elem(of).bytes() * self.shape.gangs() * self.shape.lanes
    }

    fn load_slot(&mut self, lane_shape: LaneShape, ty: Type, at: u32) -> Vec<V> {
        let of = scalar(ty);
        let mut registers = Vec::new();
        for component in 0..u32::from(ty.lanes()) {
            let addr = self.item_addr(at + component * self.array_bytes(of), elem(of));
            if lane_shape != LaneShape::Varying {
                registers.push(self.emit(self.shape.register(of, Mode::Uniform), VOp::Load(Mem::Elem(elem(of)), addr)));
            } else if of == Scalar::Bool {
                let bits = self.emit(Register::I32, VOp::Load(Mem::Elem(Elem::I32), addr));
                registers.extend(self.masks_of(bits));
            } else {
                let register = self.shape.register(of, Mode::Varying);
                let bytes = elem(of).bytes() * u32::from(register.lanes());
                for index in 0..self.shape.registers(of, Mode::Varying) as u32 {
                    let addr = Addr { disp: addr.disp + (index * bytes).cast_signed(), ..addr };
                    registers.push(self.emit(register, VOp::LoadVector { mem: Mem::Elem(elem(of)), addr, mask: None }));
                }
            }
        }
        registers
    }

    /// Stores the value `from` to the slot of `to`. If `masked`, only active lanes are stored.
    fn store_to_slot(&mut self, from: Value, to: Value, masked: bool) -> Lowered<()> {
        let Some(at) = self.slot_of(to)? else { return Ok(()) };
        let (lane_shape, ty) = (self.uniformity.lane_shape(to), self.ir_ty(to));
        let registers = self.coerce(from, lane_shape);
        self.store_slot(lane_shape, ty, at, &registers, masked);
        Ok(())
    }

    pub(super) fn store_slot(&mut self, lane_shape: LaneShape, ty: Type, at: u32, registers: &[V], masked: bool) {
        let of = scalar(ty);
        let count = if lane_shape == LaneShape::Varying { self.shape.registers(of, Mode::Varying) } else { 1 };
        let masks = self.masks.exec.clone().filter(|_| masked);
        for (component, regs) in (0_u32..).zip(registers.chunks(count)) {
            let addr = self.item_addr(at + component * self.array_bytes(of), elem(of));
            if lane_shape != LaneShape::Varying {
                self.b.effect(VOp::Store(Mem::Elem(elem(of)), addr, regs[0]));
            } else if of == Scalar::Bool {
                let mut bits = self.mask_bits(regs);
                if let Some(masks) = &masks {
                    let here = self.mask_bits(masks);
                    let old = self.emit(Register::I32, VOp::Load(Mem::Elem(Elem::I32), addr));
                    let others = self.emit(Register::I32, VOp::Bin(VBin::AndNot, old, here));
                    let new_bits = self.emit(Register::I32, VOp::Bin(VBin::And, bits, here));
                    bits = self.emit(Register::I32, VOp::Bin(VBin::Or, others, new_bits));
                }
                self.b.effect(VOp::Store(Mem::Elem(Elem::I32), addr, bits));
            } else {
                let bytes = elem(of).bytes() * u32::from(self.shape.register(of, Mode::Varying).lanes());
                let masks = masks.as_ref().map(|masks| self.masks_for(of, masks));
                for (index, &value) in regs.iter().enumerate() {
                    let addr = Addr { disp: addr.disp + (index as u32 * bytes).cast_signed(), ..addr };
                    let mask = masks.as_ref().map(|masks| masks[index]);
                    self.b.effect(VOp::StoreVector { mem: Mem::Elem(elem(of)), addr, value, mask });
                }
            }
        }
    }

    /// Vectorises the end of a segment.
    fn tail(&mut self, tail: &[Tail<'a>], live: Option<u32>) -> Lowered<()> {
        for tail in tail {
            match *tail {
                Tail::StoreValues(from, to) => self.store_all_to_slots(from, to)?,
                Tail::Masks(cond) => {
                    let (masks, flags) = self.group_state()?.slots.if_masks(cond).ok_or_else(|| internal!("an if without masks"))?;
                    let here = self.live_bits();
                    let cond_bits = if self.shape.lanes == 1 {
                        self.first(cond)
                    } else {
                        let regs = self.regs(cond, Mode::Varying);
                        self.mask_bits(&regs)
                    };
                    for (index, op) in [VBin::And, VBin::AndNot].into_iter().enumerate() {
                        let bits = self.emit(Register::I32, VOp::Bin(op, here, cond_bits));
                        self.store_item(masks[index], bits);
                        self.add_to_word(flags[index], bits);
                    }
                }
                Tail::Contribute(ref collective) => self.contribute(collective)?,
                Tail::Enter(number) => {
                    let (alive, ..) =
                        self.group_state()?.slots.loops.get(&number).copied().ok_or_else(|| internal!("a loop without masks"))?;
                    let bits = self.live_bits();
                    self.store_item(alive, bits);
                }
                Tail::Leave { iteration_only } => {
                    let bits = self.live_bits();
                    let state = self.group_state()?;
                    let Some((alive, depth)) = state.loops.last().and_then(|state| state.alive) else { continue };
                    let arrays: Vec<u32> = state.masks[depth..].to_vec();
                    arrays.into_iter().for_each(|array| self.clear_bits_in_item(array, bits));
                    if !iteration_only {
                        self.clear_bits_in_item(alive, bits);
                    }
                }
                Tail::Return => {
                    if let Some(live) = live {
                        let bits = self.live_bits();
                        self.clear_bits_in_item(live, bits);
                    }
                }
            }
        }
        Ok(())
    }

    /// Stores the values `from` to the slots of `to`. Loads all values before the first store, because the lists can
    /// overlap.
    fn store_all_to_slots(&mut self, from: &[Value], to: &[Value]) -> Lowered<()> {
        let mut stores = Vec::new();
        for (&from, &to) in from.iter().zip(to) {
            if self.group_state()?.slots.is_group_uniform(to) {
                continue;
            }
            let Some(at) = self.slot_of(to)? else { continue };
            let (lane_shape, ty) = (self.uniformity.lane_shape(to), self.ir_ty(to));
            let registers = self.coerce(from, lane_shape);
            stores.push((lane_shape, ty, at, registers));
        }
        for (lane_shape, ty, at, registers) in stores {
            self.store_slot(lane_shape, ty, at, &registers, true);
        }
        Ok(())
    }
}
