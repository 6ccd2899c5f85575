//! Lowers the structure of a control flow graph to regions. An implementation of [`Blocks`] lowers the contents of the
//! blocks.

use rustc_hash::FxHashMap;

use super::builder::{Builder, ends_with_jump};
use crate::ir::{CmpOp, Op, Region, Scalar, Type, Value, Var};
use crate::structurize::graph::{Edge, End, Graph, Node, NodeKind};
use crate::structurize::structure::{Frame, JumpKind, Piece, Structure, parts, route};

/// The type of the flags that jumps set.
const FLAG: Type = Type::Scalar(Scalar::I8);

/// The contents of the blocks of a control flow graph.
pub(crate) trait Blocks {
    type Error;

    fn builder(&mut self) -> &mut Builder;

    /// Lowers the instructions of a block. The caller lowers the jumps at the end of the block, except for a `return`.
    fn block(&mut self, block: Node) -> Result<(), Self::Error>;

    /// Assigns the values that a jump from one block to another passes to its target.
    fn assign_phis(&mut self, from: Node, into: Node) -> Result<(), Self::Error>;

    /// Returns the condition of the branch at the end of a block.
    fn condition(&mut self, block: Node) -> Result<Value, Self::Error>;

    /// Returns the 32-bit selector of a switch, and its values for each target except the default.
    fn selector(&mut self, block: Node) -> Result<(Value, Vec<Vec<u64>>), Self::Error>;

    /// Returns the unroll factor of the loop with this header.
    fn unroll(&self, header: Node) -> Option<u32>;
}

/// Lowers a structure into the current region.
pub(crate) fn lower<B: Blocks>(blocks: &mut B, graph: &Graph, structure: &Structure) -> Result<(), B::Error> {
    let states = graph.dispatchers.iter().map(|_| blocks.builder().function.new_var("", 4, 4)).collect();
    let mut regions = Regions { blocks, graph, structure, flags: FxHashMap::default(), states };
    regions.list(&structure.pieces, &mut Vec::new())
}

struct Regions<'a, B> {
    blocks: &'a mut B,
    graph: &'a Graph,
    structure: &'a Structure,
    flags: FxHashMap<Node, Var>,
    /// For each dispatcher, the variable with the number of the target to which the dispatcher will jump.
    states: Vec<Var>,
}

impl<B: Blocks> Regions<'_, B> {
    fn b(&mut self) -> &mut Builder {
        self.blocks.builder()
    }

    fn list(&mut self, list: &[Piece], frames: &mut Vec<Frame>) -> Result<(), B::Error> {
        let mut rest = list;
        for part in parts(list) {
            rest = &rest[part.len()..];
            let before = frames.len();
            frames.extend(part.iter().rev().filter_map(Piece::follow));
            for piece in part {
                if piece.follow().is_some() {
                    frames.pop();
                }
                self.piece(piece, frames)?;
            }
            frames.truncate(before);
            if let Some(Piece::Rest(node)) = part.last()
                && self.structure.flags.get(node) == Some(&true)
            {
                let flag = self.flag_is_set(*node);
                self.b().open();
                self.list(rest, frames)?;
                let then = self.b().close_branch();
                self.b().if_then(flag, then);
                return Ok(());
            }
        }
        Ok(())
    }

    fn piece(&mut self, piece: &Piece, frames: &mut Vec<Frame>) -> Result<(), B::Error> {
        match piece {
            Piece::Work(node) => self.work(*node)?,
            Piece::Moves { from, edge } => self.moves(*from, *edge)?,
            Piece::Within(list) => self.list(list, frames)?,
            Piece::Arms { node, arms } => self.arms(*node, arms, frames)?,
            Piece::Leave { node, when, arm } => {
                let cond = self.blocks.condition(*node)?;
                let arm = self.region(arm, frames)?;
                self.b().open();
                let other = self.b().close_branch();
                let (then, els) = if *when { (arm, other) } else { (other, arm) };
                self.b().if_else(cond, then, els);
            }
            Piece::Loop { of, body } => {
                let header = self.graph.loops[of.0].header;
                frames.push(Frame::Loop(*of));
                self.b().open();
                if self.structure.flags.contains_key(&header) {
                    self.set_flag(header, false);
                }
                let outcome = self.list(body, frames);
                let body = self.b().close(Op::Unreachable);
                frames.pop();
                outcome?;
                let unroll = if self.graph.kinds[header] == NodeKind::Block { self.blocks.unroll(header) } else { None };
                self.b().loop_(body, unroll);
                let (targets, only) = self.structure.continued_exits.get(of).cloned().unwrap_or_default();
                for target in targets {
                    self.continue_jump(target, only, frames);
                }
            }
            Piece::Follow { node, body } => {
                if self.structure.flags.get(node) == Some(&true) {
                    let flag = self.flag_is_set(*node);
                    let then = self.region(body, frames)?;
                    self.b().if_then(flag, then);
                } else {
                    self.list(body, frames)?;
                }
            }
            Piece::Rest(_) => {}
            Piece::Jump { from, edge } => {
                self.moves(*from, *edge)?;
                let kind = route(self.graph, frames, edge.to, |_| {});
                if kind != JumpKind::Continue && self.structure.flags.contains_key(&edge.to) {
                    self.set_flag(edge.to, true);
                }
                self.emit_jump(kind);
            }
            Piece::Clear(nodes) => {
                for &node in nodes {
                    if self.structure.flags.contains_key(&node) {
                        self.set_flag(node, false);
                    }
                }
            }
        }
        Ok(())
    }

    fn emit_jump(&mut self, route: JumpKind) {
        match route {
            JumpKind::Fall => {}
            JumpKind::Break => self.b().effect(Op::Break(Vec::new())),
            JumpKind::Continue => self.b().effect(Op::Continue(Vec::new())),
        }
    }

    /// Emits the second part of a jump out of a loop: the jump from the end of this loop to `target`. `only` means that
    /// all jumps that leave the loop have this target, so that no flag is needed.
    fn continue_jump(&mut self, target: Node, only: bool, frames: &[Frame]) {
        let kind = route(self.graph, frames, target, |_| {});
        if only {
            self.emit_jump(kind);
            return;
        }
        let flag = self.flag_is_set(target);
        self.b().open();
        self.emit_jump(kind);
        let then = self.b().close_branch();
        self.b().if_then(flag, then);
    }

    fn region(&mut self, list: &[Piece], frames: &mut Vec<Frame>) -> Result<Region, B::Error> {
        self.b().open();
        let outcome = self.list(list, frames);
        let region = self.b().close_branch();
        outcome.map(|()| region)
    }

    fn arms(&mut self, node: Node, arms: &[Vec<Piece>], frames: &mut Vec<Frame>) -> Result<(), B::Error> {
        if let (End::Branch { .. }, [then, els]) = (&self.graph.ends[node], arms) {
            let cond = self.blocks.condition(node)?;
            let (then, els) = (self.region(then, frames)?, self.region(els, frames)?);
            self.b().if_else(cond, then, els);
            return Ok(());
        }
        let (selector, values) = match self.graph.kinds[node] {
            NodeKind::Dispatch(dispatcher) => {
                let var = self.states[dispatcher];
                let address = self.b().var_addr(var);
                let state = self.b().load(address, Type::I32, 4, false);
                (state, (1..arms.len() as u64).map(|number| vec![number - 1]).collect())
            }
            _ => self.blocks.selector(node)?,
        };
        let mut regions = Vec::with_capacity(arms.len());
        for arm in arms {
            regions.push(self.region(arm, frames)?);
        }
        let Some(default) = regions.pop() else { return Ok(()) };
        let cases: Vec<(Vec<u64>, Region)> = values.into_iter().zip(regions).collect();
        let dead = ends_with_jump(&default) && cases.iter().all(|(_, region)| ends_with_jump(region));
        self.b().effect(Op::Switch { selector, cases, default });
        if dead {
            self.b().effect(Op::Unreachable);
        }
        Ok(())
    }

    fn work(&mut self, node: Node) -> Result<(), B::Error> {
        match self.graph.kinds[node] {
            NodeKind::Dispatch(_) => Ok(()),
            NodeKind::SetTarget { dispatcher, target } => {
                let var = self.states[dispatcher];
                let address = self.b().var_addr(var);
                let number = self.b().bits(Type::I32, u64::from(target));
                self.b().store(address, number, 4, false);
                Ok(())
            }
            NodeKind::Block => self.blocks.block(node),
        }
    }

    fn moves(&mut self, from: Node, edge: Edge) -> Result<(), B::Error> {
        match edge.original {
            Some(into) => self.blocks.assign_phis(from, into),
            None => Ok(()),
        }
    }

    // ---- flags ----

    fn flag_var(&mut self, node: Node) -> Var {
        if let Some(&var) = self.flags.get(&node) {
            return var;
        }
        let var = self.b().function.new_var("", 1, 1);
        self.flags.insert(node, var);
        var
    }

    fn set_flag(&mut self, node: Node, to: bool) {
        let var = self.flag_var(node);
        let address = self.b().var_addr(var);
        let value = self.b().bits(FLAG, u64::from(to));
        self.b().store(address, value, 1, false);
    }

    fn flag_is_set(&mut self, node: Node) -> Value {
        let var = self.flag_var(node);
        let address = self.b().var_addr(var);
        let flag = self.b().load(address, FLAG, 1, false);
        self.b().cmp_int(CmpOp::Ne, flag, 0)
    }
}
