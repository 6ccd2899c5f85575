//! Loops, `break` and `continue`.
//!
//! If all lanes leave a loop together, the header has block parameters only for the parameters of the loop. The header
//! of a loop that splits also has block parameters for slots: the mask of the lanes that have not left, and the results
//! of the lanes that have left. If the body contains a `return`, all slots that the `return` changes are also block
//! parameters. [`control`](super::control) describes masks and slots.

use std::ops::Range;

use smallvec::SmallVec;
use wgcl_codegen::vir::{BinOp, Block, Target, Terminator, Type as Register, Value as V};

use super::control::{End, IfNoLane, may_return};
use super::uniformity::LaneShape;
use super::value::Regs;
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{Inst, Op, Region, Type, Value};

/// An enclosing loop of the current instruction.
pub(super) struct LoopState {
    pub(super) splits: bool,
    /// The first block of each iteration.
    header: Block,
    /// The block after the loop.
    pub(super) exit: Block,
    params: Vec<(LaneShape, Type)>,
    results: Vec<(LaneShape, Type)>,
    /// The slots of the mask of the lanes that have not left. Empty unless the loop splits.
    pub(super) alive: Range<usize>,
    /// The slots of the results of the lanes that have left. Empty unless the loop splits.
    pub(super) out: Range<usize>,
    /// The slots of the next iteration's parameters. `None` if the only `continue` is at the end of the body.
    next: Option<Range<usize>>,
    /// Whether the only `continue` of the loop is at the end of its body. Then no inactive lane waits for the next
    /// iteration.
    single_continue: bool,
    /// Whether work-items may wait for other work-items in the loop.
    may_wait: bool,
    /// Whether the body of the loop may return. Otherwise, the slots of enclosing constructs do not change in the loop.
    returns: bool,
}

impl LoopState {
    /// Creates the state of a loop that no lane leaves by a `break`. The code jumps to `exit` before a lane leaves.
    pub(super) const fn without_masks(header: Block, exit: Block, params: Vec<(LaneShape, Type)>, may_wait: bool) -> Self {
        let (alive, out, next) = (0..0, 0..0, None);
        Self { splits: false, header, exit, params, results: Vec::new(), alive, out, next, single_continue: true, may_wait, returns: false }
    }
}

impl<'a> Vectorizer<'a> {
    pub(super) fn do_break(&mut self, values: &[Value]) -> Lowered<()> {
        let state = self.masks.loops.last().ok_or_else(|| internal!("a break outside of loops"))?;
        let (splits, exit, results, out, alive) = (state.splits, state.exit, state.results.clone(), state.out.clone(), state.alive.clone());
        let values = self.coerce_all(values, &results);
        if splits {
            self.blend_slots(out, &results, &values);
            self.drop_lanes(alive);
            self.masks.exec = Some(self.no_lanes());
        } else {
            self.jump(exit, values);
        }
        Ok(())
    }

    pub(super) fn do_continue(&mut self, values: &[Value]) -> Lowered<()> {
        let state = self.masks.loops.last().ok_or_else(|| internal!("a continue outside of loops"))?;
        let (splits, header, params, next) = (state.splits, state.header, state.params.clone(), state.next.clone());
        let (single_continue, may_wait) = (state.single_continue, state.may_wait);
        let values = self.coerce_all(values, &params);
        if may_wait && next.is_none() {
            self.pause();
        }
        if !splits {
            self.jump(header, values);
        } else if let Some(next) = next {
            self.blend_slots(next, &params, &values);
            self.masks.exec = Some(self.no_lanes());
        } else if single_continue {
            let args = self.header_args(values);
            self.jump(header, args);
        } else {
            return Err(internal!("a continue without slots for its values"));
        }
        Ok(())
    }

    /// Returns the arguments of a jump to the header of the innermost loop, which must split: parameters, masks,
    /// results of the lanes that have left, and the slots that a `return` changes.
    fn header_args(&mut self, params: SmallVec<[V; 4]>) -> Vec<V> {
        let mut args = params.to_vec();
        let Some(state) = self.masks.loops.last() else { return args };
        args.extend_from_slice(&self.masks.slots[state.alive.clone()]);
        args.extend_from_slice(&self.masks.slots[state.out.clone()]);
        args.extend_from_slice(&self.masks.slots[..self.outer_slots()]);
        args
    }

    /// Returns the number of slots of enclosing constructs that change in the innermost loop: 0 unless its body may
    /// return.
    fn outer_slots(&self) -> usize {
        self.masks.loops.last().map_or(0, |state| if state.returns { state.alive.start } else { 0 })
    }

    pub(super) fn exit_args(&mut self, out: Range<usize>) -> Vec<V> {
        let outer = self.outer_slots();
        self.masks.slots[out].iter().chain(&self.masks.slots[..outer]).copied().collect()
    }

    pub(super) fn do_loop(&mut self, inst: &'a Inst, init: &'a [Value], params: &'a [Value], body: &'a Region) -> Lowered<()> {
        if self.uniformity.splits(inst) {
            self.lower_loop_that_splits(inst, init, params, body)
        } else {
            self.lower_loop_that_does_not_split(inst, init, params, body)
        }
    }

    fn lower_loop_that_does_not_split(&mut self, inst: &'a Inst, init: &[Value], params: &[Value], body: &'a Region) -> Lowered<()> {
        let (lane_shapes, results) = (self.lane_shapes(params), self.lane_shapes(&inst.results));
        let (header, exit) = (self.b.block(), self.b.block());
        let args = self.coerce_all(init, &lane_shapes);
        self.open_loop(header, args);
        let depth = self.depth();
        let registers: Vec<V> = self.types(&lane_shapes).into_iter().map(|ty| self.block_param(header, ty, depth)).collect();
        self.define_all(params, &lane_shapes, &registers);
        let state = LoopState::without_masks(header, exit, lane_shapes, self.may_wait(inst));
        self.masks.loops.push(LoopState { results: results.clone(), ..state });
        let exec = self.masks.exec.clone();
        let end = self.region(body, &[])?;
        if !self.b.is_ended() || !matches!(end, End::Left) {
            return Err(internal!("the body of a loop does not end in a jump"));
        }
        self.masks.loops.pop();
        self.close_loop();
        self.masks.exec = exec;
        self.b.enter(exit);
        let depth = self.depth();
        let registers: Vec<V> = self.types(&results).into_iter().map(|ty| self.block_param(exit, ty, depth)).collect();
        self.define_all(&inst.results, &results, &registers);
        Ok(())
    }

    fn lower_loop_that_splits(&mut self, inst: &'a Inst, init: &[Value], params: &[Value], body: &'a Region) -> Lowered<()> {
        let (lane_shapes, results) = (self.lane_shapes(params), self.lane_shapes(&inst.results));
        let given = self.coerce_all(init, &lane_shapes);
        let given = self.full_iterations(inst, given)?;
        let (header, exit, outer_depth) = (self.b.block(), self.b.block(), self.depth());
        let (exec, before) = (self.masks.exec.clone(), self.masks.slots.clone());
        let masks = self.exec_mask_or_all();
        let (param_types, out_types) = (self.types(&lane_shapes), self.types(&results));
        let start = self.masks.slots.len();
        let alive = start..start + masks.len();
        let out = alive.end..alive.end + out_types.len();
        let several = count_continues(body) > 1 || !ends_in_continue(body);
        let next = several.then(|| out.end..out.end + param_types.len());
        let returns = may_return(body);
        let state = LoopState {
            splits: true,
            header,
            exit,
            params: lane_shapes.clone(),
            results: results.clone(),
            alive: alive.clone(),
            out: out.clone(),
            next: next.clone(),
            single_continue: !several,
            may_wait: self.may_wait(inst),
            returns,
        };
        self.masks.loops.push(state);
        let undefined = self.undefs(&out_types);
        self.masks.slots.extend(masks);
        self.masks.slots.extend(undefined);
        if let Some(next) = &next {
            let undefined = self.undefs(&param_types);
            debug_assert_eq!(undefined.len(), next.len(), "one slot per parameter");
            self.masks.slots.extend(undefined);
        }
        let args = self.header_args(given);
        let types = self.types_of(&args);
        self.open_loop(header, args);
        let depth = self.depth();
        let registers: Vec<V> = types.iter().map(|&ty| self.block_param(header, ty, depth)).collect();
        let (param_regs, rest) = registers.split_at(param_types.len());
        self.define_all(params, &lane_shapes, param_regs);
        let carried = alive.len() + out.len();
        self.masks.slots[alive.start..out.end].copy_from_slice(&rest[..carried]);
        self.masks.slots[..rest.len() - carried].copy_from_slice(&rest[carried..]);
        self.masks.exec = Some(SmallVec::from_slice(&self.masks.slots[alive.clone()]));
        self.masks.split_depth += 1;
        let if_no_lane = if several { IfNoLane::EndOfRegion } else { IfNoLane::ExitLoop };
        self.instructions(&body.insts, &[], if_no_lane)?;
        if several && !self.b.is_ended() {
            let next: SmallVec<[V; 4]> = SmallVec::from_slice(&self.masks.slots[next.unwrap_or(0..0)]);
            let masks: Regs = SmallVec::from_slice(&self.masks.slots[alive.clone()]);
            let any = self.any(&masks);
            let (again, done) = (self.header_args(next), self.exit_args(out.clone()));
            if self.may_wait(inst) {
                let pause = self.b.block();
                self.b.end(Terminator::Branch(any, Target::new(pause, []), Target::new(exit, done)));
                self.b.enter(pause);
                self.pause();
                self.jump(header, again);
            } else {
                self.b.end(Terminator::Branch(any, Target::new(header, again), Target::new(exit, done)));
            }
        }
        self.masks.split_depth -= 1;
        if !self.b.is_ended() {
            // If the body has not jumped, all lanes leave in the first iteration.
            let done = self.exit_args(out.clone());
            self.jump(exit, done);
        }
        let exit_types: Vec<Register> = out_types.iter().copied().chain(self.types_of(&before[..self.outer_slots()])).collect();
        self.masks.loops.pop();
        self.close_loop();
        self.b.enter(exit);
        let registers: Vec<V> = exit_types.iter().map(|&ty| self.block_param(exit, ty, outer_depth)).collect();
        self.masks.slots = before;
        for (slot, &register) in registers[out_types.len()..].iter().enumerate() {
            self.masks.slots[slot] = register;
        }
        self.define_all(&inst.results, &results, &registers[..out_types.len()]);
        self.masks.exec = match (returns, self.masks.live.clone()) {
            (true, Some(live_mask)) => {
                let live_mask: Regs = SmallVec::from_slice(&self.masks.slots[live_mask]);
                Some(match exec {
                    Some(exec) => self.mask_bin(BinOp::And, &exec, &live_mask),
                    None => live_mask,
                })
            }
            _ => exec,
        };
        Ok(())
    }
}

/// Counts the `continue` instructions of the loop with this body.
fn count_continues(region: &Region) -> u32 {
    region
        .insts
        .iter()
        .map(|inst| match &inst.op {
            Op::Continue(_) => 1,
            Op::Loop { .. } => 0,
            op => op.regions().into_iter().map(count_continues).sum(),
        })
        .sum()
}

fn ends_in_continue(body: &Region) -> bool {
    matches!(body.insts.last(), Some(Inst { op: Op::Continue(_), .. }))
}
