//! Lowers the structure of a function to regions of the IR.

use rspirv::spirv::Op as Opcode;

use super::errors::{Checked, invalid};
use super::function::{Lowering, Val};
use super::graph::{Edge, End, Node, Work};
use super::structure::{Frame, JumpKind, Piece, parts, route};
use super::words::Id;
use crate::ir::{BinOp, CmpOp, Op, Region, Scalar, Type, Value, Var};

/// The type of the flags that jumps set.
const FLAG: Type = Type::Scalar(Scalar::I8);

impl Lowering<'_, '_, '_> {
    /// Lowers a list of pieces.
    pub(super) fn pieces(&mut self, list: &[Piece]) -> Checked<()> {
        self.list(list, &mut Vec::new())?;
        self.b.effect(Op::Unreachable);
        Ok(())
    }

    fn list(&mut self, list: &[Piece], frames: &mut Vec<Frame>) -> Checked<()> {
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
                self.b.open();
                self.list(rest, frames)?;
                let then = self.b.close_branch();
                self.b.if_then(flag, then);
                return Ok(());
            }
        }
        Ok(())
    }

    fn piece(&mut self, piece: &Piece, frames: &mut Vec<Frame>) -> Checked<()> {
        match piece {
            Piece::Work(node) => self.work(*node)?,
            Piece::Moves { from, edge } => self.moves(*from, *edge)?,
            Piece::Within(list) => self.list(list, frames)?,
            Piece::Arms { node, arms } => self.arms(*node, arms, frames)?,
            Piece::Leave { node, when, arm } => {
                let End::Branch { cond, .. } = self.graph.ends[*node] else { return Err(invalid!("the branch has no condition")) };
                let cond = self.condition(cond)?;
                let arm = self.region(arm, frames)?;
                self.b.open();
                let other = self.b.close_branch();
                let (then, els) = if *when { (arm, other) } else { (other, arm) };
                self.b.if_else(cond, then, els);
            }
            Piece::Loop { of, body } => {
                let header = self.graph.loops[of.0].header;
                frames.push(Frame::Loop(*of));
                self.b.open();
                if self.structure.flags.contains_key(&header) {
                    self.set_flag(header, false);
                }
                let outcome = self.list(body, frames);
                let body = self.b.close(Op::Unreachable);
                frames.pop();
                outcome?;
                let unroll = self.block_of(header).and_then(|block| self.def.blocks.get(block)?.unroll);
                self.b.loop_(body, unroll);
                let (targets, only) = self.structure.further.get(of).cloned().unwrap_or_default();
                for target in targets {
                    self.further(target, only, frames);
                }
            }
            Piece::Follow { node, body } => {
                if self.structure.flags.get(node) == Some(&true) {
                    let flag = self.flag_is_set(*node);
                    let then = self.region(body, frames)?;
                    self.b.if_then(flag, then);
                } else {
                    self.list(body, frames)?;
                }
            }
            Piece::Rest(_) => {}
            Piece::Jump { from, edge } => {
                self.moves(*from, *edge)?;
                let taken = route(&self.graph, frames, edge.to, |_| {});
                if taken != JumpKind::Continue && self.structure.flags.contains_key(&edge.to) {
                    self.set_flag(edge.to, true);
                }
                self.take(taken);
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

    fn take(&mut self, route: JumpKind) {
        match route {
            JumpKind::Fall => {}
            JumpKind::Break => self.b.effect(Op::Break(Vec::new())),
            JumpKind::Continue => self.b.effect(Op::Continue(Vec::new())),
        }
    }

    /// After a loop, continues the jumps that left it.
    fn further(&mut self, target: Node, only: bool, frames: &[Frame]) {
        let taken = route(&self.graph, frames, target, |_| {});
        if only {
            self.take(taken);
            return;
        }
        let flag = self.flag_is_set(target);
        self.b.open();
        self.take(taken);
        let then = self.b.close_branch();
        self.b.if_then(flag, then);
    }

    fn region(&mut self, list: &[Piece], frames: &mut Vec<Frame>) -> Checked<Region> {
        self.b.open();
        let outcome = self.list(list, frames);
        let region = self.b.close_branch();
        outcome.map(|()| region)
    }

    fn arms(&mut self, node: Node, arms: &[Vec<Piece>], frames: &mut Vec<Frame>) -> Checked<()> {
        let end = self.graph.ends[node].clone();
        if let End::Branch { cond, .. } = end {
            let cond = self.condition(cond)?;
            let [then, els] = arms else { return Err(invalid!("the branch does not have two targets")) };
            let (then, els) = (self.region(then, frames)?, self.region(els, frames)?);
            self.b.if_else(cond, then, els);
            return Ok(());
        }
        let (selector, values) = match (end, self.graph.work[node]) {
            (End::Switch { selector, cases, .. }, _) => {
                let selector = self.value(selector)?;
                self.select_case(selector, cases.into_iter().map(|(values, _)| values).collect())
            }
            (End::Dispatch(edges), Work::Dispatch(dispatcher)) => {
                let address = self.b.var_addr(self.states[dispatcher]);
                let state = self.b.load(address, Type::I32, 4, false);
                // The last case is the default.
                (state, (1..edges.len() as u64).map(|number| vec![number - 1]).collect())
            }
            _ => return Err(invalid!("the block has targets but no terminator")),
        };
        let mut regions = Vec::with_capacity(arms.len());
        for arm in arms {
            regions.push(self.region(arm, frames)?);
        }
        let Some(default) = regions.pop() else { return Err(invalid!("the switch has no default target")) };
        let cases: Vec<(Vec<u64>, Region)> = values.into_iter().zip(regions).collect();
        let dead = crate::lower::builder::jumps(&default) && cases.iter().all(|(_, region)| crate::lower::builder::jumps(region));
        self.b.effect(Op::Switch { selector, cases, default });
        if dead {
            self.b.effect(Op::Unreachable);
        }
        Ok(())
    }

    /// A 32-bit selector and its values: the given ones, or case numbers for a wider selector.
    fn select_case(&mut self, selector: Value, cases: Vec<Vec<u64>>) -> (Value, Vec<Vec<u64>>) {
        let scalar = self.b.ty(selector).scalar().unwrap_or(Scalar::I32);
        if scalar.bits() <= 32 {
            return (self.b.resize(selector, false, Type::I32), cases);
        }
        let mut number = self.b.i32(-1);
        for (index, values) in (0_u32..).zip(&cases) {
            for value in values {
                let want = self.b.bits(Type::Scalar(scalar), *value);
                let is = self.b.cmp(CmpOp::Eq, selector, want);
                let index = self.b.bits(Type::I32, u64::from(index));
                number = self.b.select(is, index, number);
            }
        }
        (number, (0..cases.len() as u64).map(|number| vec![number]).collect())
    }

    fn condition(&mut self, id: Id) -> Checked<Value> {
        let cond = self.value(id)?;
        if self.b.ty(cond) == Type::BOOL { Ok(cond) } else { Err(invalid!("{id} is not a condition")) }
    }

    // ---- nodes ----

    fn work(&mut self, node: Node) -> Checked<()> {
        match self.graph.work[node] {
            Work::Dispatch(_) => Ok(()),
            Work::Note { dispatcher, target } => {
                let address = self.b.var_addr(self.states[dispatcher]);
                let number = self.b.bits(Type::I32, u64::from(target));
                self.b.store(address, number, 4, false);
                Ok(())
            }
            Work::Block(block) => {
                let Some(block) = self.def.blocks.get(block) else { return Ok(()) };
                for inst in block.insts.iter().filter(|inst| inst.op == Opcode::Phi) {
                    self.current = *inst;
                    self.phi_value()?;
                }
                for inst in block.insts.iter().filter(|inst| inst.op != Opcode::Phi) {
                    self.current = *inst;
                    self.b.span = self.module.locations.span(inst);
                    self.instruction()?;
                }
                self.current = block.end;
                self.b.span = self.module.locations.span(&block.end);
                self.ends(node)
            }
        }
    }

    fn ends(&mut self, node: Node) -> Checked<()> {
        match self.graph.ends[node] {
            End::Return(value) => self.return_(value),
            End::Unreachable => {
                self.b.effect(Op::Unreachable);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn return_(&mut self, id: Option<Id>) -> Checked<()> {
        let want = self.b.function.returned();
        let values = match (id, self.result) {
            (None, None) if want == Type::Void => Vec::new(),
            (Some(id), Some(address)) => {
                let (val, ty) = (self.get(id)?, self.def.inst.ty()?);
                let align = self.module.types.align(ty)?;
                self.store_val(address, ty, val, align, false)?;
                Vec::new()
            }
            (Some(id), None) => {
                let value = self.value(id)?;
                let value = match (self.b.ty(value), want) {
                    (Type::Ptr(have), Type::Ptr(space)) if have != space => self.b.cast(crate::ir::CastOp::SpaceCast, value, want),
                    _ => value,
                };
                if self.b.ty(value) != want {
                    return Err(invalid!("return type mismatch: the value has type {}, expected {want}", self.b.ty(value)));
                }
                vec![value]
            }
            _ => return Err(invalid!("return type mismatch: the value does not have the return type of the function")),
        };
        self.b.effect(Op::Return(values));
        Ok(())
    }

    // ---- phis ----

    fn phi_var(&mut self, id: Id, ty: Id) -> Checked<Var> {
        if let Some(&var) = self.phis.get(&id) {
            return Ok(var);
        }
        let (size, align) = (self.module.types.size(ty)?, self.module.types.align(ty)?);
        let var = self.b.temporary(size.max(1), align);
        self.phis.insert(id, var);
        Ok(var)
    }

    fn phi_value(&mut self) -> Checked<()> {
        let (id, ty) = (self.current.result()?, self.current.ty()?);
        let var = self.phi_var(id, ty)?;
        let address = self.b.var_addr(var);
        let align = self.module.types.align(ty)?;
        let val = self.load_val(address, ty, align, false)?;
        self.define(val)
    }

    /// Assigns the values of a jump to the phis of its target. All values are read before any is written.
    fn moves(&mut self, from: Node, edge: Edge) -> Checked<()> {
        let (Some(from), Some(into)) = (self.block_of(from), edge.into.and_then(|node| self.block_of(node))) else { return Ok(()) };
        let label = self.def.blocks[from].label;
        let mut pending = Vec::new();
        for inst in self.def.blocks[into].insts.iter().filter(|inst| inst.op == Opcode::Phi) {
            self.current = *inst;
            let pair = inst.operands.chunks(2).find(|pair| pair.get(1) == Some(&label.0));
            let &value = pair.and_then(|pair| pair.first()).ok_or_else(|| invalid!("no value is given for block {label}"))?;
            let undefined = matches!(self.module.constants.get(Id(value)), Some((_, super::constants::Constant::Undef)));
            if !undefined {
                pending.push((*inst, self.get(Id(value))?));
            }
        }
        for (inst, val) in pending {
            self.current = inst;
            let (id, ty) = (inst.result()?, inst.ty()?);
            let var = self.phi_var(id, ty)?;
            let address = self.b.var_addr(var);
            let align = self.module.types.align(ty)?;
            let val = match (val, self.module.types.ir(ty)?) {
                (Val::One(value), want @ Type::Ptr(_)) if matches!(self.b.ty(value), Type::Ptr(_)) => {
                    Val::One(self.b.cast(crate::ir::CastOp::SpaceCast, value, want))
                }
                (val, _) => val,
            };
            self.store_val(address, ty, val, align, false)?;
        }
        self.current = self.def.blocks[from].end;
        Ok(())
    }

    // ---- flags ----

    fn flag_var(&mut self, node: Node) -> Var {
        if let Some(&var) = self.flags.get(&node) {
            return var;
        }
        let var = self.b.function.new_var("", 1, 1);
        self.flags.insert(node, var);
        var
    }

    fn set_flag(&mut self, node: Node, to: bool) {
        let var = self.flag_var(node);
        let address = self.b.var_addr(var);
        let value = self.b.bits(FLAG, u64::from(to));
        self.b.store(address, value, 1, false);
    }

    fn flag_is_set(&mut self, node: Node) -> Value {
        let var = self.flag_var(node);
        let address = self.b.var_addr(var);
        let flag = self.b.load(address, FLAG, 1, false);
        self.b.cmp_int(CmpOp::Ne, flag, 0)
    }

    /// Adds `value` if the condition is true. For remainders with the sign of the divisor and similar sums.
    pub(super) fn add_if(&mut self, condition: Value, to: Value, what: Value) -> Value {
        let sum = self.b.bin(BinOp::Add, to, what);
        self.b.select(condition, sum, to)
    }
}
