//! Kernels whose work-items wait for each other, in groups of more than one chunk.
//!
//! A barrier, or what the group does [together](collective), splits a sequence into *segments*: each is a loop over the chunks of the group. A construct that contains such, or a jump out of such a loop, runs at the level
//! of the group; all others stay inside a segment ([`plan`]). What the whole group agrees upon is computed once, outside of the loops over chunks.
//!
//! ```text
//! %1 = load ...                   for each chunk { %1 = load; store %1 }
//! barrier
//! %2 = load ...                   for each chunk { reload %1; %2 = load; ... }
//! if %same { ...; barrier; ... }  if %same { for each chunk { ... } for each chunk { ... } }
//! ```
//! Where the group does not agree, which it should, nothing is lost: the masks of every chunk are kept in memory, an `if` is entered if any work-item goes in, a loop turns while any
//! is left.
//!
//! # Memory
//! What lives from one segment to another has a place in the arena: a number of each work-item, or one of each chunk at the place of its first. Ids and addresses are computed again.

mod collective;
mod plan;
mod segment;
pub(super) mod switches;

use wgcl_codegen::vir::{Cond, Op as VOp, Target, Terminator, Type as Register, Value as V};

use super::uniformity::LaneShape;
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{Region, Type, Value};
use plan::{Loop, Node, Plan};
use segment::Slots;

/// What is around the current place at the level of the group.
pub(super) struct State {
    slots: Slots,
    /// Masks of those that are here, one a chunk; none where all are. The innermost last, the first of them that of the innermost loop.
    masks: Vec<u32>,
    /// Masks of those that have not returned, where some may return before others.
    live: Option<u32>,
    /// Where the group goes when it is done.
    done: wgcl_codegen::vir::Block,
    loops: Vec<GroupLoop>,
}

/// A loop at the level of the group.
struct GroupLoop {
    header: wgcl_codegen::vir::Block,
    exit: wgcl_codegen::vir::Block,
    params: Vec<Value>,
    results: Vec<Value>,
    /// Masks of those that have not left, and how many masks are around it; none where all leave together.
    alive: Option<(u32, usize)>,
}

impl<'a> Vectorizer<'a> {
    /// A kernel with barriers, of several chunks.
    pub(super) fn by_groups(&mut self, body: &'a Region) -> Lowered<()> {
        let plan = Plan::of((self.function, body), self.uniformity, self.shape, self.sanitizer.is_some());
        let mark = self.frame.mark();
        let done = self.b.block();
        let parted = self.shape.lanes > 1 && super::control::returns_early(body) || self.shape.lanes == 1 && super::control::returns(body);
        let places = plan.places().into_iter().map(|value| (value, self.new_place(value))).collect();
        let slots = Slots::new(plan.levels(), places);
        let mut state = State { slots, masks: Vec::new(), live: None, done, loops: Vec::new() };
        if parted {
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

    /// Lowers what follows one another; whether the place behind is reached is whether the current block has not ended.
    fn nodes(&mut self, nodes: &[Node<'a>]) -> Lowered<()> {
        for node in nodes {
            if self.b.is_ended() {
                break;
            }
            match node {
                Node::Level(inst) => self.operation(inst)?,
                Node::Gathered(collective) => {
                    self.check_together();
                    self.combine(collective)?;
                }
                Node::Segment(segment) => self.segment(segment)?,
                Node::Choice { results, cond, ways } => self.level_choice(results, *cond, ways)?,
                Node::Parted { cond, ways } => self.parted_choice(*cond, ways)?,
                Node::Loop(node) if node.together => self.level_loop(node)?,
                Node::Loop(node) => self.parted_loop(node)?,
                Node::Break(values) => self.group_break(values)?,
                Node::Continue(values) => self.group_continue(values)?,
                Node::Return => self.group_return()?,
                Node::Yield(_) => {}
            }
        }
        Ok(())
    }

    /// Those of the values that the group agrees upon.
    fn level_values(&mut self, values: &[Value]) -> Lowered<Vec<usize>> {
        let slots = &self.group_state()?.slots;
        Ok((0..values.len()).filter(|&index| slots.is_level(values[index])).collect())
    }

    fn level_registers(&mut self, from: &[Value], to: &[Value]) -> Lowered<Vec<V>> {
        let which = self.level_values(to)?;
        Ok(which.into_iter().flat_map(|index| self.coerce(from[index], LaneShape::Uniform)).collect())
    }

    fn level_types(&mut self, values: &[Value]) -> Lowered<Vec<(Value, Type, usize)>> {
        let which = self.level_values(values)?;
        Ok(which
            .into_iter()
            .map(|index| (values[index], self.ir_ty(values[index]), usize::from(self.ir_ty(values[index]).lanes())))
            .collect())
    }

    /// Parameters of a block for those of the values that the group agrees upon, which become what they are.
    fn level_params(&mut self, block: wgcl_codegen::vir::Block, values: &[Value]) -> Lowered<()> {
        let depth = self.depth();
        for (value, ty, _) in self.level_types(values)? {
            let types = self.coerced_types(LaneShape::Uniform, ty);
            let registers: Vec<V> = types.into_iter().map(|ty| self.block_param(block, ty, depth)).collect();
            let val = self.rebuild(LaneShape::Uniform, ty, &registers);
            self.define(value, val);
        }
        Ok(())
    }

    /// A choice that the group agrees upon.
    fn level_choice(&mut self, results: &[Value], cond: Value, ways: &[Vec<Node<'a>>; 2]) -> Lowered<()> {
        let cond = self.first(cond);
        let (blocks, meet) = ([self.b.block(), self.b.block()], self.b.block());
        self.b.end(Terminator::Branch(Cond::NonZero(cond), Target::new(blocks[0], []), Target::new(blocks[1], [])));
        let mut met = false;
        for (nodes, block) in ways.iter().zip(blocks) {
            self.b.enter(block);
            self.nodes(nodes)?;
            if self.b.is_ended() {
                continue;
            }
            met = true;
            let args = match nodes.last() {
                Some(Node::Yield(values)) => self.level_registers(values, results)?,
                _ => return Err(internal!("a way without an end")),
            };
            self.jump(meet, args);
        }
        if met {
            self.b.enter(meet);
            self.level_params(meet, results)?;
        }
        Ok(())
    }

    /// A choice that each work-item makes: the segment before has left masks and whether any goes either way.
    fn parted_choice(&mut self, cond: Value, ways: &[Vec<Node<'a>>; 2]) -> Lowered<()> {
        let (masks, flags) = self.group_state()?.slots.choice(cond).ok_or_else(|| internal!("a choice without masks"))?;
        for (index, nodes) in ways.iter().enumerate() {
            let flag = self.load_word(flags[index]);
            let (inside, behind) = (self.b.block(), self.b.block());
            self.b.end(Terminator::Branch(Cond::NonZero(flag), Target::new(inside, []), Target::new(behind, [])));
            self.b.enter(inside);
            self.group_state()?.masks.push(masks[index]);
            self.nodes(nodes)?;
            self.group_state()?.masks.pop();
            if !self.b.is_ended() {
                self.jump(behind, []);
            }
            self.b.enter(behind);
        }
        Ok(())
    }

    /// A loop that the group leaves together.
    fn level_loop(&mut self, node: &Loop<'a>) -> Lowered<()> {
        let (header, exit) = (self.b.block(), self.b.block());
        let args = self.level_registers(node.init, node.params)?;
        self.open_loop(header, args);
        self.level_params(header, node.params)?;
        let state = GroupLoop { header, exit, params: node.params.to_vec(), results: node.results.to_vec(), alive: None };
        self.group_state()?.loops.push(state);
        self.nodes(&node.body)?;
        if !self.b.is_ended() {
            return Err(internal!("the body of a loop goes on"));
        }
        self.group_state()?.loops.pop();
        self.close_loop();
        self.b.enter(exit);
        self.level_params(exit, node.results)
    }

    /// A loop that work-items leave in turns of their own. The segment before has set the parameters and the masks of those that are in it.
    fn parted_loop(&mut self, node: &Loop<'a>) -> Lowered<()> {
        let (alive, here, flag) = self.group_state()?.slots.parted(node).ok_or_else(|| internal!("a loop without masks"))?;
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
                    bits = this.here(Register::I32, VOp::Bin(wgcl_codegen::vir::BinOp::And, bits, live_mask));
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
        let args = self.level_registers(values, &results)?;
        self.jump(exit, args);
        Ok(())
    }

    fn group_continue(&mut self, values: &[Value]) -> Lowered<()> {
        let state = self.group_state()?;
        let Some(GroupLoop { header, params, alive: None, .. }) = state.loops.last() else { return Ok(()) };
        let (header, params) = (*header, params.clone());
        let args = self.level_registers(values, &params)?;
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
