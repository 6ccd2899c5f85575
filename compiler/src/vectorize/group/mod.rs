//! Kernels with barriers, in groups of more than one gang.
//!
//! A barrier or a collective operation of the group ([`collective`]) splits a sequence into *segments*. Each segment is
//! a loop over the gangs of the group. A construct that contains a barrier runs at group level. An `if` that contains a
//! `break` or `continue` of a loop at group level also runs at group level. The same holds for an `if` with a uniform
//! condition that contains a `return`. All other constructs stay inside a segment ([`plan`]). Values that are uniform
//! for the group are computed once, outside of the loops over gangs.
//!
//! ```text
//! %1 = load ...                   for each gang { %1 = load; store %1 }
//! barrier
//! %2 = load ...                   for each gang { reload %1; %2 = load; ... }
//! if %same { ...; barrier; ... }  if %same { for each gang { ... } for each gang { ... } }
//! ```
//! For control flow that diverges within the group, the masks of each gang are in memory. A region of an `if` runs if
//! any work-item takes it. A loop iterates while any work-item is in it.
//!
//! # Memory
//! A value that is live across segments has a slot in the arena, with one number for each work-item. If the value is
//! not varying, only the number of the first work-item of each gang is used. Ids and addresses are recomputed.

mod collective;
mod plan;
mod segment;
pub(super) mod switches;

use wgcl_codegen::vir::{Cond, Op as VOp, SourceLoc, Target, Terminator, Type as Register, Value as V};

use super::uniformity::LaneShape;
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{Region, Type, Value};
use plan::{Loop, Node, Plan};
use segment::Slots;

/// The enclosing constructs at group level.
pub(super) struct State {
    slots: Slots,
    /// The offsets of the mask arrays of the enclosing divergent constructs, outermost first. An array has the mask of
    /// the active lanes of each gang. If the list is empty, all lanes are active.
    masks: Vec<u32>,
    /// The offset of the masks of the lanes that have not returned. `None` if all lanes return together.
    live: Option<u32>,
    /// The block after the code of the group.
    done: wgcl_codegen::vir::Block,
    loops: Vec<GroupLoop>,
}

/// A loop at group level.
struct GroupLoop {
    header: wgcl_codegen::vir::Block,
    exit: wgcl_codegen::vir::Block,
    params: Vec<Value>,
    results: Vec<Value>,
    /// The offset of the masks of the lanes that have not left, and the number of enclosing mask arrays. `None` if the
    /// group leaves the loop together.
    alive: Option<(u32, usize)>,
}

impl<'a> Vectorizer<'a> {
    /// Vectorises a kernel with barriers, for several gangs.
    pub(super) fn by_groups(&mut self, body: &'a Region) -> Lowered<()> {
        let plan = Plan::of((self.function, body), self.uniformity, self.shape, self.sanitizer.is_some());
        let mark = self.frame.mark();
        let done = self.b.block();
        let may_return =
            self.shape.lanes > 1 && super::control::returns_early(body) || self.shape.lanes == 1 && super::control::may_return(body);
        let places = plan.places().into_iter().map(|value| (value, self.new_slot(value))).collect();
        let slots = Slots::new(plan.group_uniform_values(), places);
        let mut state = State { slots, masks: Vec::new(), live: None, done, loops: Vec::new() };
        if may_return {
            state.live = Some(self.mask_array());
        }
        self.group = Some(state);
        if let Some(live) = self.group_state()?.live {
            self.each_gang(|this, _| this.store_all_lanes(live))?;
        }
        self.nodes(&plan.nodes)?;
        if !self.b.is_ended() {
            self.jump(done, []);
        }
        self.b.enter(done);
        self.group = None;
        self.frame.release(mark);
        Ok(())
    }

    fn group_state(&mut self) -> Lowered<&mut State> {
        self.group.as_mut().ok_or_else(|| internal!("no group"))
    }

    /// Vectorises a sequence of nodes. If the current block has ended, the code after the nodes is unreachable.
    fn nodes(&mut self, nodes: &[Node<'a>]) -> Lowered<()> {
        for node in nodes {
            if self.b.is_ended() {
                break;
            }
            match node {
                Node::Uniform(inst) => {
                    self.b.set_source(SourceLoc(inst.span.lo));
                    self.operation(inst)?;
                }
                Node::Combine(collective) => {
                    self.report_collective();
                    self.combine(collective)?;
                }
                Node::Segment(segment) => self.segment(segment)?,
                Node::UniformIf { results, cond, paths } => self.lower_uniform_if(results, *cond, paths)?,
                Node::DivergentIf { cond, paths } => self.lower_divergent_if(*cond, paths)?,
                Node::Loop(node) if node.together => self.lower_uniform_loop(node)?,
                Node::Loop(node) => self.lower_divergent_loop(node)?,
                Node::Break(values) => self.group_break(values)?,
                Node::Continue(values) => self.group_continue(values)?,
                Node::Return => self.group_return()?,
                Node::Yield(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the indices of the values that are uniform for the group.
    fn uniform_indices(&mut self, values: &[Value]) -> Lowered<Vec<usize>> {
        let slots = &self.group_state()?.slots;
        Ok((0..values.len()).filter(|&index| slots.is_group_uniform(values[index])).collect())
    }

    fn uniform_registers(&mut self, from: &[Value], to: &[Value]) -> Lowered<Vec<V>> {
        let which = self.uniform_indices(to)?;
        Ok(which.into_iter().flat_map(|index| self.coerce(from[index], LaneShape::Uniform)).collect())
    }

    fn uniform_types(&mut self, values: &[Value]) -> Lowered<Vec<(Value, Type, usize)>> {
        let which = self.uniform_indices(values)?;
        Ok(which
            .into_iter()
            .map(|index| (values[index], self.ir_ty(values[index]), usize::from(self.ir_ty(values[index]).lanes())))
            .collect())
    }

    /// Defines the values that are uniform for the group as parameters of a block.
    fn define_uniform_params(&mut self, block: wgcl_codegen::vir::Block, values: &[Value]) -> Lowered<()> {
        let depth = self.depth();
        for (value, ty, _) in self.uniform_types(values)? {
            let types = self.coerced_types(LaneShape::Uniform, ty);
            let registers: Vec<V> = types.into_iter().map(|ty| self.block_param(block, ty, depth)).collect();
            let val = self.rebuild(LaneShape::Uniform, ty, &registers);
            self.define(value, val);
        }
        Ok(())
    }

    /// Lowers an `if` whose condition is uniform for the group.
    fn lower_uniform_if(&mut self, results: &[Value], cond: Value, paths: &[Vec<Node<'a>>; 2]) -> Lowered<()> {
        let cond = self.first(cond);
        let (blocks, meet) = ([self.b.block(), self.b.block()], self.b.block());
        self.b.end(Terminator::Branch(Cond::NonZero(cond), Target::new(blocks[0], []), Target::new(blocks[1], [])));
        let mut met = false;
        for (nodes, block) in paths.iter().zip(blocks) {
            self.b.enter(block);
            self.nodes(nodes)?;
            if self.b.is_ended() {
                continue;
            }
            met = true;
            let args = match nodes.last() {
                Some(Node::Yield(values)) => self.uniform_registers(values, results)?,
                _ => return Err(internal!("a region without an end")),
            };
            self.jump(meet, args);
        }
        if met {
            self.b.enter(meet);
            self.define_uniform_params(meet, results)?;
        }
        Ok(())
    }

    /// Lowers an `if` whose condition differs between work-items. The segment before the `if` has stored the masks, and
    /// a flag for each region that is nonzero if any work-item takes the region.
    fn lower_divergent_if(&mut self, cond: Value, paths: &[Vec<Node<'a>>; 2]) -> Lowered<()> {
        let (masks, flags) = self.group_state()?.slots.if_masks(cond).ok_or_else(|| internal!("an if without masks"))?;
        for (index, nodes) in paths.iter().enumerate() {
            let flag = self.load_word(flags[index]);
            let (inside, after) = (self.b.block(), self.b.block());
            self.b.end(Terminator::Branch(Cond::NonZero(flag), Target::new(inside, []), Target::new(after, [])));
            self.b.enter(inside);
            self.group_state()?.masks.push(masks[index]);
            self.nodes(nodes)?;
            self.group_state()?.masks.pop();
            if !self.b.is_ended() {
                self.jump(after, []);
            }
            self.b.enter(after);
        }
        Ok(())
    }

    /// Lowers a loop that all work-items of the group leave in the same iteration.
    fn lower_uniform_loop(&mut self, node: &Loop<'a>) -> Lowered<()> {
        let (header, exit) = (self.b.block(), self.b.block());
        let args = self.uniform_registers(node.init, node.params)?;
        self.open_loop(header, args);
        self.define_uniform_params(header, node.params)?;
        let state = GroupLoop { header, exit, params: node.params.to_vec(), results: node.results.to_vec(), alive: None };
        self.group_state()?.loops.push(state);
        self.nodes(&node.body)?;
        if !self.b.is_ended() {
            return Err(internal!("the body of a loop does not end in a jump"));
        }
        self.group_state()?.loops.pop();
        self.close_loop();
        self.b.enter(exit);
        self.define_uniform_params(exit, node.results)
    }

    /// Lowers a loop that work-items leave in different iterations. The segment before the loop has stored the
    /// parameters and the masks of the work-items that enter the loop.
    fn lower_divergent_loop(&mut self, node: &Loop<'a>) -> Lowered<()> {
        let (alive, here, flag) = self.group_state()?.slots.loop_masks(node).ok_or_else(|| internal!("a loop without masks"))?;
        let (header, exit) = (self.b.block(), self.b.block());
        self.open_loop(header, []);
        self.each_gang(|this, _| {
            let bits = this.load_item(alive);
            this.store_item(here, bits);
            Ok(())
        })?;
        let depth = self.group_state()?.masks.len();
        let state = GroupLoop { header, exit, params: node.params.to_vec(), results: node.results.to_vec(), alive: Some((alive, depth)) };
        let state_of = self.group_state()?;
        state_of.loops.push(state);
        state_of.masks.push(here);
        self.nodes(&node.body)?;
        let state_of = self.group_state()?;
        state_of.loops.pop();
        state_of.masks.pop();
        if !self.b.is_ended() {
            self.clear_word(flag);
            let live = self.group_state()?.live;
            self.each_gang(|this, _| {
                let mut bits = this.load_item(alive);
                if let Some(live) = live {
                    let live_mask = this.load_item(live);
                    bits = this.emit(Register::I32, VOp::Bin(wgcl_codegen::vir::BinOp::And, bits, live_mask));
                }
                this.add_to_word(flag, bits);
                Ok(())
            })?;
            let any = self.load_word(flag);
            self.b.end(Terminator::Branch(Cond::NonZero(any), Target::new(header, []), Target::new(exit, [])));
        }
        self.close_loop();
        self.b.enter(exit);
        Ok(())
    }

    fn group_break(&mut self, values: &[Value]) -> Lowered<()> {
        let state = self.group_state()?;
        let Some(GroupLoop { exit, results, alive: None, .. }) = state.loops.last() else { return Ok(()) };
        let (exit, results) = (*exit, results.clone());
        let args = self.uniform_registers(values, &results)?;
        self.jump(exit, args);
        Ok(())
    }

    fn group_continue(&mut self, values: &[Value]) -> Lowered<()> {
        let state = self.group_state()?;
        let Some(GroupLoop { header, params, alive: None, .. }) = state.loops.last() else { return Ok(()) };
        let (header, params) = (*header, params.clone());
        let args = self.uniform_registers(values, &params)?;
        self.jump(header, args);
        Ok(())
    }

    fn group_return(&mut self) -> Lowered<()> {
        let state = self.group_state()?;
        if state.masks.is_empty() {
            let done = state.done;
            self.jump(done, []);
        }
        Ok(())
    }
}
