//! Control flow: branches for uniform control flow, masks for divergent control flow.
//!
//! # Masks
//! `exec` is the mask of the lanes that are active at the current instruction. A construct that *splits* runs each of
//! its regions under the mask of the lanes that take the region. It jumps over a region that no lane takes, unless the
//! region is so cheap that it runs without a branch:
//!
//! ```text
//! if %c { A } else { B }        m = exec & c;   if any(m) { A under m }
//!                               n = exec & !c;  if any(n) { B under n };  results = select(c, A's, B's)
//! break %v                      out = select(exec, v, out);  alive = alive & !exec;  no lane is left in the region
//! continue %v                   next = select(exec, v, next);                        no lane is left in the region
//! return                        live = live & !exec;  alive = alive & !exec of all enclosing loops
//! ```
//! After a construct that lanes may have left, the other lanes continue. If no lane remains, the code jumps over the
//! rest of the region. A loop that splits iterates while any lane is in it. Values of lanes that have left the loop are
//! never read, so the parameters of loops need no masks.
//!
//! # Slots
//! `alive`, `out`, `next` and `live` change in nested regions, which the code may jump over. They are stored in
//! [`Masks::slots`](super::vectorizer::Masks::slots). Where control flow joins, the slots that differ become block
//! parameters.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp, Block, CmpOp, Cond, Op as VOp, SourceLoc, Target, Terminator, Type as Register, UnOp, Value as V};

use super::shape::Mode;
use super::uniformity::{LaneShape, yielded};
use super::unmasked_copy::RegionMask;
use super::value::{Comps, Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{Inst, Op, Region, Scalar, Type, Value};

/// The maximum nesting of conjunctions with one branch for each comparison.
const MAX_CONJUNCTION_DEPTH: u32 = 3;

/// The end of a region.
pub(super) enum End {
    /// The region ends in `yield`. The yielded values are coerced to the lane shapes of the results.
    Yield(SmallVec<[V; 4]>),
    /// All lanes have left the region. Either the current block has ended in a jump, or no lane is active in it.
    Left,
}

/// The values that a region yields, or `None` if all its lanes leave.
type Yielded = Option<SmallVec<[V; 4]>>;

/// A region of a construct that splits, with the mask of the lanes that take it and the values that it yields.
struct SplitRegion<'a> {
    region: &'a Region,
    masks: Regs,
    registers: Yielded,
}

impl<'a> SplitRegion<'a> {
    fn new(region: &'a Region, masks: Regs, registers: Yielded) -> SplitRegion<'a> {
        SplitRegion { region, masks, registers }
    }
}

/// The last block of a region, the values that it yields, the mask of the active lanes, and the slots.
type RegionEnd = (Block, SmallVec<[V; 4]>, Regs, Vec<V>);

/// The place where control continues if no lane of a region remains active.
#[derive(Clone, Copy)]
pub(super) enum IfNoLane {
    /// At the end of the region.
    EndOfRegion,
    /// After the loop whose body the region is.
    ExitLoop,
}

impl<'a> Vectorizer<'a> {
    pub(super) fn lane_shapes(&self, values: &[Value]) -> Vec<(LaneShape, Type)> {
        values.iter().map(|&value| (self.uniformity.lane_shape(value), self.ir_ty(value))).collect()
    }

    pub(super) fn coerce_all(&mut self, values: &[Value], to: &[(LaneShape, Type)]) -> SmallVec<[V; 4]> {
        values.iter().zip(to).flat_map(|(&value, &(lane_shape, _))| self.coerce(value, lane_shape)).collect()
    }

    pub(super) fn types(&self, of: &[(LaneShape, Type)]) -> SmallVec<[Register; 4]> {
        of.iter().flat_map(|&(lane_shape, ty)| self.coerced_types(lane_shape, ty)).collect()
    }

    pub(super) fn define_all(&mut self, values: &[Value], of: &[(LaneShape, Type)], registers: &[V]) {
        let mut rest = registers;
        for (&value, &(lane_shape, ty)) in values.iter().zip(of) {
            let (value_regs, others) = rest.split_at(self.coerced_types(lane_shape, ty).len());
            let val = self.rebuild(lane_shape, ty, value_regs);
            self.define(value, val);
            rest = others;
        }
    }

    pub(super) fn undefs(&mut self, types: &[Register]) -> SmallVec<[V; 4]> {
        types.iter().map(|&ty| self.undef(ty)).collect()
    }

    /// Vectorises a region. `results` are the results of the construct that contains the region.
    pub(super) fn region(&mut self, region: &'a Region, results: &[(LaneShape, Type)]) -> Lowered<End> {
        self.instructions(&region.insts, results, IfNoLane::EndOfRegion)
    }

    /// Vectorises the instructions of a region, or the rest of them.
    pub(super) fn instructions(&mut self, insts: &'a [Inst], results: &[(LaneShape, Type)], if_no_lane: IfNoLane) -> Lowered<End> {
        let bases = self.bases.len();
        let end = self.instructions_in_scope(insts, results, if_no_lane);
        self.bases.truncate(bases);
        end
    }

    fn instructions_in_scope(&mut self, insts: &'a [Inst], results: &[(LaneShape, Type)], if_no_lane: IfNoLane) -> Lowered<End> {
        for (index, inst) in insts.iter().enumerate() {
            self.b.set_source(SourceLoc(inst.span.lo));
            match &inst.op {
                Op::Yield(values) => return Ok(End::Yield(self.coerce_all(values, results))),
                Op::Break(values) => return self.do_break(values).map(|()| End::Left),
                Op::Continue(values) => return self.do_continue(values).map(|()| End::Left),
                Op::Return(values) => return self.do_return(values).map(|()| End::Left),
                Op::Unreachable => return self.unreachable().map(|()| End::Left),
                _ => self.instruction(inst)?,
            }
            if self.b.is_ended() {
                // The instruction is a loop without an exit, or a construct whose regions all jump.
                return Ok(End::Left);
            }
            if let [Inst { op: Op::Unreachable, .. }] = insts[index + 1..]
                && self.masks.split_depth > 0
                && all_regions_jump(inst)
            {
                self.masks.exec = Some(self.no_lanes());
                return Ok(End::Left);
            }
            if self.may_lose_lanes(inst) && !insts[index + 1..].is_empty() {
                return self.instructions_if_any(&insts[index + 1..], results, if_no_lane);
            }
        }
        Err(internal!("a region without an end"))
    }

    /// Vectorises an instruction that is not a terminator.
    pub(super) fn instruction(&mut self, inst: &'a Inst) -> Lowered<()> {
        match &inst.op {
            Op::If { cond, then, els } => self.lower_if(inst, *cond, [then, els]),
            Op::Switch { selector, cases, default } => self.lower_switch(inst, *selector, cases, default),
            Op::Loop { init, params, body, .. } => self.do_loop(inst, init, params, body),
            _ => self.operation(inst),
        }
    }

    /// Whether lanes may become inactive in an instruction without a branch: because they return, or because they leave
    /// a loop that splits.
    pub(super) fn may_lose_lanes(&self, inst: &Inst) -> bool {
        let returned = (self.masks.split_depth > 0 || self.uniformity.splits(inst)) && inst.op.regions().into_iter().any(may_return);
        returned || self.masks.loops.last().is_some_and(|state| state.splits) && contains_jump(inst)
    }

    /// Vectorises the instructions after an instruction in which all lanes may become inactive. Branches over them if
    /// no lane is active.
    fn instructions_if_any(&mut self, insts: &'a [Inst], results: &[(LaneShape, Type)], if_no_lane: IfNoLane) -> Lowered<End> {
        let Some(masks) = self.masks.exec.clone() else { return self.instructions(insts, results, if_no_lane) };
        // If only the end of the region follows, no branch is needed: the end can run with no active lane.
        if let [Inst { op: Op::Yield(_), .. }] = insts {
            return self.instructions(insts, results, if_no_lane);
        }
        let (some, none) = (self.b.block(), self.b.block());
        let any = self.any(&masks);
        let before = self.masks.slots.clone();
        if self.masks.split_depth == 0 && matches!(if_no_lane, IfNoLane::EndOfRegion) && self.wants_unmasked_copy_until_return(insts) {
            let (full, rest) = (self.b.block(), self.b.block());
            let all = self.all(&masks);
            self.b.end(Terminator::Branch(all, Target::new(full, []), Target::new(rest, [])));
            self.unmasked_copy(full, |this| this.instructions(insts, results, if_no_lane).map(drop))?;
            self.b.enter(rest);
            self.masks.in_masked_copy = true;
        }
        self.b.end(Terminator::Branch(any, Target::new(some, []), Target::new(none, [])));
        self.b.enter(some);
        let end = self.instructions(insts, results, if_no_lane)?;
        if let (IfNoLane::ExitLoop, Some(state)) = (if_no_lane, self.masks.loops.last()) {
            // The region of a loop ends in a jump on both paths.
            let (exit, out) = (state.exit, state.out.clone());
            let after = std::mem::replace(&mut self.masks.slots, before);
            if !self.b.is_ended() {
                return Err(internal!("the region of a loop does not end in a jump"));
            }
            self.b.enter(none);
            let args = self.exit_args(out);
            self.jump(exit, args);
            self.masks.slots = after;
            return Ok(End::Left);
        }
        if self.b.is_ended() && self.masks.split_depth == 0 {
            // All lanes have returned, because no enclosing construct splits.
            let exit = self.masks.exit;
            self.b.enter(none);
            self.jump(exit, []);
            return Ok(End::Left);
        }
        if self.b.is_ended() {
            return Err(internal!("a jump out of a construct that splits"));
        }
        // The two paths join.
        let meet = self.b.block();
        let (types, zero) = (self.types(results), self.no_lanes());
        let (mut there, mut missing): (SmallVec<[V; 4]>, SmallVec<[V; 4]>) = Default::default();
        let no_lane = matches!(end, End::Left);
        if let End::Yield(values) = end {
            there.extend(values.into_iter().chain(self.exec_mask_or_all()));
            missing.extend(self.undefs(&types).into_iter().chain(zero.iter().copied()));
        }
        let changed_start = there.len();
        let changed: Vec<usize> = (0..before.len()).filter(|&slot| before[slot] != self.masks.slots[slot]).collect();
        there.extend(changed.iter().map(|&slot| self.masks.slots[slot]));
        missing.extend(changed.iter().map(|&slot| before[slot]));
        let lane_shapes = self.types_of(&there);
        self.jump(meet, there);
        self.b.enter(none);
        self.jump(meet, missing);
        self.b.enter(meet);
        let depth = self.depth();
        let params: SmallVec<[V; 8]> = lane_shapes.iter().map(|&ty| self.block_param(meet, ty, depth)).collect();
        self.masks.slots = before;
        for (&slot, &param) in changed.iter().zip(&params[changed_start..]) {
            self.masks.slots[slot] = param;
        }
        if no_lane {
            self.masks.exec = Some(zero);
            return Ok(End::Left);
        }
        self.masks.exec = Some(SmallVec::from_slice(&params[types.len()..changed_start]));
        Ok(End::Yield(SmallVec::from_slice(&params[..types.len()])))
    }

    pub(super) fn no_lanes(&mut self) -> Regs {
        let mask = self.shape.register(Scalar::Bool, Mode::Varying);
        let none = self.bits(mask, 0);
        smallvec![none; self.shape.registers(Scalar::Bool, Mode::Varying)]
    }

    /// Returns the condition that any lane is set in the masks.
    pub(super) fn any(&mut self, masks: &[V]) -> Cond {
        Cond::Any(self.union(masks))
    }

    /// Computes the union of the masks.
    pub(super) fn union(&mut self, masks: &[V]) -> V {
        let ty = self.b.ty(masks[0]);
        masks[1..].iter().fold(masks[0], |sum, &mask| self.op(ty, VOp::Bin(BinOp::Or, sum, mask)))
    }

    pub(super) fn mask_bin(&mut self, op: BinOp, a: &[V], b: &[V]) -> Regs {
        let ty = self.shape.register(Scalar::Bool, Mode::Varying);
        self.zip(ty, a, b, |a, b| VOp::Bin(op, a, b))
    }

    /// Removes the active lanes from the masks in slots.
    pub(super) fn drop_lanes(&mut self, slots: Range<usize>) {
        let masks = self.exec_mask_or_all();
        let old: Regs = SmallVec::from_slice(&self.masks.slots[slots.clone()]);
        let new = self.mask_bin(BinOp::AndNot, &old, &masks);
        self.masks.slots[slots].copy_from_slice(&new);
    }

    /// Writes values to slots for the active lanes.
    pub(super) fn blend_slots(&mut self, slots: Range<usize>, of: &[(LaneShape, Type)], values: &[V]) {
        let masks = self.exec_mask_or_all();
        let old: Vec<V> = self.masks.slots[slots.clone()].to_vec();
        let mut at = 0;
        for &(lane_shape, ty) in of {
            let count = self.coerced_types(lane_shape, ty).len();
            let (new, old) = (&values[at..at + count], &old[at..at + count]);
            let merged = if lane_shape == LaneShape::Varying { self.blend(scalar(ty), &masks, new, old) } else { new.to_vec() };
            self.masks.slots[slots.start + at..slots.start + at + count].copy_from_slice(&merged);
            at += count;
        }
    }

    /// Selects each component of a varying value by masks.
    fn blend(&mut self, of: Scalar, masks: &[V], yes: &[V], no: &[V]) -> Vec<V> {
        let count = self.shape.registers(of, Mode::Varying);
        let mut merged = Vec::with_capacity(yes.len());
        for (yes, no) in yes.chunks(count).zip(no.chunks(count)) {
            merged.extend(self.select_regs(of, Mode::Varying, masks, yes, no));
        }
        merged
    }

    fn do_return(&mut self, values: &[Value]) -> Lowered<()> {
        if !values.is_empty() {
            self.store_results(values)?;
        }
        let Some(live_mask) = self.masks.live.clone().filter(|_| self.masks.split_depth > 0) else {
            self.jump(self.masks.exit, []);
            return Ok(());
        };
        self.drop_lanes(live_mask);
        let loops: Vec<Range<usize>> = self.masks.loops.iter().filter(|state| state.splits).map(|state| state.alive.clone()).collect();
        loops.into_iter().for_each(|alive| self.drop_lanes(alive));
        self.masks.exec = Some(self.no_lanes());
        Ok(())
    }

    fn unreachable(&mut self) -> Lowered<()> {
        if self.masks.split_depth == 0 || self.masks.live.is_none() {
            self.b.end(Terminator::Unreachable);
            return Ok(());
        }
        self.do_return(&[])
    }

    /// Branches on a uniform `bool`. In scalar code, a conjunction of comparisons is one branch for each comparison:
    /// the results of several comparisons do not fit the flags.
    fn branch_on(&mut self, cond: V, yes: Block, no: Block) {
        let parts = if self.shape.lanes == 1 { self.conjunction(cond, MAX_CONJUNCTION_DEPTH) } else { None };
        let parts = parts.unwrap_or_else(|| smallvec![cond]);
        for (index, &part) in parts.iter().enumerate() {
            let next = if index + 1 == parts.len() { yes } else { self.b.block() };
            let cond = match self.b.op(part) {
                Some(&VOp::Cmp(op, a, b)) if self.b.ty(a).is_general() => Cond::Cmp(op, a, b),
                _ => Cond::NonZero(part),
            };
            self.b.end(Terminator::Branch(cond, Target::new(next, []), Target::new(no, [])));
            if next != yes {
                self.b.enter(next);
            }
        }
    }

    /// Returns the comparisons of a conjunction. Returns `None` if another operation is part of it, or if conjunctions
    /// nest deeper than `depth`.
    fn conjunction(&self, cond: V, depth: u32) -> Option<SmallVec<[V; 4]>> {
        match *self.b.op(cond)? {
            VOp::Cmp(..) => Some(smallvec![cond]),
            VOp::Bin(BinOp::And, a, b) if depth > 0 => {
                let mut parts = self.conjunction(a, depth - 1)?;
                parts.extend(self.conjunction(b, depth - 1)?);
                Some(parts)
            }
            _ => None,
        }
    }

    fn lower_if(&mut self, inst: &'a Inst, cond: Value, [then, els]: [&'a Region; 2]) -> Lowered<()> {
        let results = self.lane_shapes(&inst.results);
        if !self.uniformity.splits(inst) {
            let cond = self.first(cond);
            let (yes, no) = (self.b.block(), self.b.block());
            self.branch_on(cond, yes, no);
            let parts = self.may_lose_lanes(inst);
            return self.lower_uniform_regions(&inst.results, &results, &[(yes, then), (no, els)], parts);
        }
        let masks = self.regs(cond, Mode::Varying);
        let exec = self.masks.exec.clone();
        let leaves = [then, els].into_iter().any(region_may_exit);
        let (yes, no) = match &exec {
            Some(exec) => (self.mask_bin(BinOp::And, exec, &masks), RegionMask::Lanes(self.mask_bin(BinOp::AndNot, exec, &masks))),
            None if leaves => (masks.clone(), RegionMask::Lanes(self.not_masks(&masks))),
            None => (masks.clone(), RegionMask::OtherLanes(masks.clone())),
        };
        let (first, first_left) = self.lower_masked(then, RegionMask::Lanes(yes), &results)?;
        let (second, second_left) = self.lower_masked(els, no, &results)?;
        // The values of the last region have precedence, so the mask of the first one is not used.
        let merged = self.merge(&results, &[SplitRegion::new(els, masks.clone(), second), SplitRegion::new(then, masks, first)]);
        self.define_all(&inst.results, &results, &merged);
        self.masks.exec = if leaves { Some(self.mask_bin(BinOp::Or, &first_left, &second_left)) } else { exec };
        Ok(())
    }

    pub(super) fn not_masks(&mut self, masks: &[V]) -> Regs {
        let ty = self.shape.register(Scalar::Bool, Mode::Varying);
        self.map(ty, masks, |mask| VOp::Un(UnOp::Not, mask))
    }

    /// Merges the values that regions yield. A varying result is selected by the masks, with precedence for later
    /// regions. If a result is not varying, either exactly one region yields it, or all regions yield the same value.
    /// That value is defined outside of the regions. A region that no lane takes yields undefined registers.
    fn merge(&mut self, results: &[(LaneShape, Type)], paths: &[SplitRegion<'a>]) -> Vec<V> {
        let given: Vec<(&SplitRegion<'a>, &'a [Value], &[V])> = paths
            .iter()
            .filter_map(|path| {
                path.registers.as_ref().map(|registers| (path, yielded(path.region).unwrap_or_default(), registers.as_slice()))
            })
            .collect();
        let mut merged = Vec::with_capacity(results.len());
        let mut at = 0;
        for (index, &(lane_shape, ty)) in results.iter().enumerate() {
            let range = at..at + self.coerced_types(lane_shape, ty).len();
            at = range.end;
            match given.as_slice() {
                [] => merged.extend(self.undefs(&self.coerced_types(lane_shape, ty))),
                [(_, _, registers)] => merged.extend_from_slice(&registers[range]),
                [(_, _, first), others @ ..] if lane_shape == LaneShape::Varying => {
                    let first = first[range.clone()].to_vec();
                    merged.extend(
                        others
                            .iter()
                            .fold(first, |sum, (path, _, registers)| self.blend(scalar(ty), &path.masks, &registers[range.clone()], &sum)),
                    );
                }
                [(_, values, _), ..] => merged.extend(self.coerce(values[index], lane_shape)),
            }
        }
        merged
    }

    /// Vectorises a region under masks. Returns the values that it yields, and the mask of the lanes that are active at
    /// its end.
    fn lower_masked(&mut self, region: &'a Region, mask: RegionMask, results: &[(LaneShape, Type)]) -> Lowered<(Yielded, Regs)> {
        self.masks.split_depth += 1;
        let made = if is_cheap(region) {
            let masks = self.lanes_of(mask);
            self.lower_predicated(region, masks, results)
        } else if self.wants_unmasked_copy(&region.insts) {
            self.lower_copies(region, mask, results).map(|(values, masks)| (Some(values), masks))
        } else {
            let masks = self.lanes_of(mask);
            self.lower_branched(region, masks, results)
        };
        self.masks.split_depth -= 1;
        made
    }

    /// Vectorises a region without a branch. The region must be cheap, because it also runs if no lane takes it.
    fn lower_predicated(&mut self, region: &'a Region, masks: Regs, results: &[(LaneShape, Type)]) -> Lowered<(Yielded, Regs)> {
        self.masks.exec = Some(masks);
        Ok(match self.region(region, results)? {
            End::Yield(values) => (Some(values), self.exec_mask_or_all()),
            End::Left => (None, self.no_lanes()),
        })
    }

    fn lower_branched(&mut self, region: &'a Region, masks: Regs, results: &[(LaneShape, Type)]) -> Lowered<(Yielded, Regs)> {
        let (inside, meet) = (self.b.block(), self.b.block());
        let (depth, leaves) = (self.depth(), region_may_exit(region));
        let before = self.masks.slots.clone();
        let any = self.any(&masks);
        let entry = self.b.current();
        self.b.enter(inside);
        self.masks.exec = Some(masks.clone());
        let end = self.region(region, results)?;
        let left = matches!(end, End::Left);
        let (types, mut there) = match end {
            End::Yield(values) => (self.types(results), values),
            End::Left => Default::default(),
        };
        let mut missing = self.undefs(&types);
        if leaves && !left {
            there.extend(self.exec_mask_or_all());
            missing.extend(masks.iter().copied());
        }
        let changed: Vec<usize> = (0..before.len()).filter(|&slot| before[slot] != self.masks.slots[slot]).collect();
        there.extend(changed.iter().map(|&slot| self.masks.slots[slot]));
        missing.extend(changed.iter().map(|&slot| before[slot]));
        let lane_shapes = self.types_of(&there);
        if self.b.is_ended() {
            return Err(internal!("a jump out of a construct that splits"));
        }
        self.jump(meet, there);
        let after = self.b.current();
        self.b.enter(entry);
        self.b.end(Terminator::Branch(any, Target::new(inside, []), Target::new(meet, missing)));
        self.b.enter(after);
        self.b.enter(meet);
        let params: SmallVec<[V; 8]> = lane_shapes.iter().map(|&ty| self.block_param(meet, ty, depth)).collect();
        self.masks.slots = before;
        let changed_start = params.len() - changed.len();
        for (&slot, &param) in changed.iter().zip(&params[changed_start..]) {
            self.masks.slots[slot] = param;
        }
        let after = match (leaves, left) {
            (false, _) => masks,
            (true, false) => SmallVec::from_slice(&params[types.len()..changed_start]),
            (true, true) => self.no_lanes(),
        };
        Ok(((!left).then(|| SmallVec::from_slice(&params[..types.len()])), after))
    }

    /// Vectorises regions of a construct in which all lanes take the same region. Control flow joins after them.
    fn lower_uniform_regions(
        &mut self,
        values: &[Value],
        results: &[(LaneShape, Type)],
        paths: &[(Block, &'a Region)],
        leaves: bool,
    ) -> Lowered<()> {
        let (before, exec, depth) = (self.masks.slots.clone(), self.masks.exec.clone(), self.depth());
        let mut ends: Vec<RegionEnd> = Vec::new();
        for &(block, region) in paths {
            self.b.enter(block);
            self.masks.slots = before.clone();
            self.masks.exec = exec.clone();
            let end = self.region(region, results)?;
            if self.b.is_ended() {
                continue;
            }
            let types = self.types(results);
            let given = match end {
                End::Yield(values) => values,
                End::Left => self.undefs(&types),
            };
            let masks = if leaves { self.exec_mask_or_all() } else { Regs::new() };
            ends.push((self.b.current(), given, masks, self.masks.slots.clone()));
        }
        self.masks.exec = exec;
        self.masks.slots = before.clone();
        let Some((_, first, masks, _)) = ends.first() else { return Ok(()) };
        let (result_count, alive) = (first.len(), masks.len());
        let changed: Vec<usize> = (0..before.len()).filter(|&slot| ends.iter().any(|end| end.3[slot] != before[slot])).collect();
        let mut lane_shapes = self.types(results);
        lane_shapes.extend(self.types_of(masks));
        lane_shapes.extend(self.types_of(&changed.iter().map(|&slot| before[slot]).collect::<Vec<_>>()));
        let meet = self.b.block();
        for (block, values, masks, slots) in ends {
            self.b.enter(block);
            let args = values.into_iter().chain(masks).chain(changed.iter().map(|&slot| slots[slot]));
            self.jump(meet, args.collect::<Vec<_>>());
        }
        self.b.enter(meet);
        let params: SmallVec<[V; 8]> = lane_shapes.iter().map(|&ty| self.block_param(meet, ty, depth)).collect();
        self.define_all(values, results, &params[..result_count]);
        if leaves {
            self.masks.exec = Some(SmallVec::from_slice(&params[result_count..result_count + alive]));
        }
        for (&slot, &param) in changed.iter().zip(&params[result_count + alive..]) {
            self.masks.slots[slot] = param;
        }
        Ok(())
    }

    fn lower_switch(&mut self, inst: &'a Inst, selector: Value, cases: &'a [(Vec<u64>, Region)], default: &'a Region) -> Lowered<()> {
        let results = self.lane_shapes(&inst.results);
        let of = scalar(self.ir_ty(selector));
        if !self.uniformity.splits(inst) {
            let selector = self.regs(selector, Mode::Uniform);
            let selector = self.zero_extend(of, Mode::Uniform, &selector);
            let ty = self.shape.register(of, Mode::Uniform);
            let mut paths = Vec::new();
            for (values, region) in cases {
                let block = self.b.block();
                for &value in values {
                    let (next, value) = (self.b.block(), self.bits(ty, value));
                    self.b.end(Terminator::Branch(Cond::Cmp(CmpOp::Eq, selector[0], value), Target::new(block, []), Target::new(next, [])));
                    self.b.enter(next);
                }
                paths.push((block, region));
            }
            let otherwise = self.b.block();
            self.jump(otherwise, []);
            paths.push((otherwise, default));
            let parts = self.may_lose_lanes(inst);
            return self.lower_uniform_regions(&inst.results, &results, &paths, parts);
        }
        let lanes = self.regs(selector, Mode::Varying);
        let lanes = self.zero_extend(of, Mode::Varying, &lanes);
        let exec = self.masks.exec.clone();
        let mut others = self.exec_mask_or_all();
        let mut left = self.no_lanes();
        let mut paths = Vec::new();
        let leaves = may_exit(inst);
        let ty = self.shape.register(of, Mode::Varying);
        for (values, region) in cases {
            let mut hit = self.no_lanes();
            for &value in values {
                let value = self.bits(ty, value);
                let value: Regs = smallvec![value; lanes.len()];
                let equal = self.compare_regs(CmpOp::Eq, of, Mode::Varying, &lanes, &value);
                hit = self.mask_bin(BinOp::Or, &hit, &equal);
            }
            let region_mask = self.mask_bin(BinOp::And, &others, &hit);
            others = self.mask_bin(BinOp::AndNot, &others, &hit);
            let (values, after) = self.lower_masked(region, RegionMask::Lanes(region_mask.clone()), &results)?;
            left = self.mask_bin(BinOp::Or, &left, &after);
            paths.push(SplitRegion::new(region, region_mask, values));
        }
        let (values, after) = self.lower_masked(default, RegionMask::Lanes(others.clone()), &results)?;
        left = self.mask_bin(BinOp::Or, &left, &after);
        paths.push(SplitRegion::new(default, others, values));
        let merged = self.merge(&results, &paths);
        self.define_all(&inst.results, &results, &merged);
        self.masks.exec = if leaves { Some(left) } else { exec };
        Ok(())
    }

    /// Defines a varying IR value by the registers of its components.
    pub(super) fn define_varying(&mut self, value: Value, comps: Comps) {
        self.define(value, Val::Varying(comps));
    }
}

/// Whether lanes may leave an instruction by a jump or a return.
pub(super) fn may_exit(inst: &Inst) -> bool {
    match &inst.op {
        Op::Loop { body, .. } => may_return(body),
        op => op.regions().into_iter().any(region_may_exit),
    }
}

/// Whether an instruction contains a `break` or `continue` of its innermost enclosing loop.
pub(super) fn contains_jump(inst: &Inst) -> bool {
    let jump = |inst: &Inst| matches!(inst.op, Op::Break(_) | Op::Continue(_)) || contains_jump(inst);
    !matches!(inst.op, Op::Loop { .. }) && inst.op.regions().into_iter().any(|region| region.insts.iter().any(jump))
}

/// Whether lanes may leave a region other than by `yield`.
pub(super) fn region_may_exit(region: &Region) -> bool {
    region.insts.iter().any(|inst| match &inst.op {
        Op::Break(_) | Op::Continue(_) | Op::Return(_) | Op::Unreachable => true,
        _ => may_exit(inst),
    })
}

/// Whether a region may return.
pub(super) fn may_return(region: &Region) -> bool {
    let ends = |(index, inst): (usize, &Inst)| match inst.op {
        Op::Return(_) => true,
        // After a construct whose regions all jump, the `Unreachable` instruction is never executed.
        Op::Unreachable => !index.checked_sub(1).and_then(|before| region.insts.get(before)).is_some_and(all_regions_jump),
        _ => inst.op.regions().into_iter().any(may_return),
    };
    region.insts.iter().enumerate().any(ends)
}

/// Whether every region of an `if` or `switch` jumps, so that the next instruction is unreachable.
fn all_regions_jump(inst: &Inst) -> bool {
    let jumps = |region: &Region| region.insts.last().is_some_and(|last| matches!(last.op, Op::Break(_) | Op::Continue(_) | Op::Return(_)));
    matches!(inst.op, Op::If { .. } | Op::Switch { .. }) && inst.op.regions().into_iter().all(jumps)
}

/// Whether a function may return before its end.
pub(super) fn returns_early(body: &Region) -> bool {
    body.insts.iter().any(|inst| inst.op.regions().into_iter().any(may_return))
}

/// Whether a region only computes, and is so short that a branch over it would cost more.
fn is_cheap(region: &Region) -> bool {
    const FEW: usize = 12;
    region.insts.len() <= FEW
        && region.insts.iter().all(|inst| match &inst.op {
            Op::Yield(_) | Op::Break(_) | Op::Continue(_) | Op::Return(_) => true,
            Op::Un(..)
            | Op::Const(_)
            | Op::Cmp(..)
            | Op::Cast(..)
            | Op::Select(..)
            | Op::Extract(..)
            | Op::Construct(_)
            | Op::PtrAdd(..) => true,
            Op::Bin(op, ..) => !matches!(
                op,
                crate::ir::BinOp::SDiv | crate::ir::BinOp::UDiv | crate::ir::BinOp::SRem | crate::ir::BinOp::URem | crate::ir::BinOp::FDiv
            ),
            _ => false,
        })
}
