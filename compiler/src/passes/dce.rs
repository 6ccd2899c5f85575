//! Dead code elimination: removes unused operations, stores to variables that are never read, and regions without
//! effect. Also removes parameters and results of control flow that are used only by each other.
//!
//! ```text
//! loop (%1 = %0, %2 = %0) {              loop (%1 = %0) {
//!   %3 = add %2, %0                        ...
//!   ...                            =>      continue %1
//!   continue %1, %3                      }
//! }
//! ```
//! The pass marks the instructions with effects and, transitively, their operands. A result of an `if` needs the values
//! that the `if`'s regions yield. A parameter of a loop needs the values of `continue`. Unmarked instructions are
//! removed. A loop with a `break` and without effects is assumed to terminate, as in C.

use super::pass::Pass;
use super::simplify::Purity;
use crate::ir::{CastOp, Function, Inst, Op, Region, Type, Value, Var};

pub(crate) const PASS: Pass = Pass::function("dce", |function, cx| Ok(run(function, cx.purity)));

/// Removes dead code. Returns whether the function contained any.
pub(crate) fn run(function: &mut Function, purity: &Purity) -> bool {
    let read = variables_read(function);
    let mut marker = Marker::new(function, purity, &read);
    marker.collect(&function.body, None, None);
    marker.mark();
    let (live_values, live_insts) = (marker.live_values, marker.live_insts);
    let mut body = std::mem::take(&mut function.body);
    let mut sweeper = Sweeper { values: &live_values, insts: &live_insts, next: 0, removed: false };
    sweeper.region(&mut body, &mut Vec::new());
    let removed = sweeper.removed;
    function.body = body;
    removed
}

/// Determines for each private variable whether an instruction may read it.
fn variables_read(function: &Function) -> Vec<bool> {
    let mut read = vec![false; function.vars.len()];
    let mut roots: Vec<Option<Var>> = vec![None; function.values.len()];
    function.body.walk(&mut |inst| {
        let result = inst.results.first().copied();
        match (&inst.op, result) {
            (Op::VarAddr(var), Some(result)) => roots[result.index()] = Some(*var),
            (Op::PtrAdd(base, _) | Op::Cast(CastOp::SpaceCast, base), Some(result)) => roots[result.index()] = roots[base.index()],
            (Op::Store { value, volatile: false, .. }, _) => {
                if let Some(var) = roots[value.index()] {
                    read[var.index()] = true;
                }
            }
            (Op::Zero { .. }, _) => {}
            (op, _) => op.for_each_operand(|value| {
                if let Some(var) = roots[value.index()] {
                    read[var.index()] = true;
                }
            }),
        }
    });
    read
}

/// An instruction. Its number is its position in program order.
struct Node<'f> {
    inst: &'f Inst,
    /// The instruction whose region contains this instruction.
    parent: Option<u32>,
    /// Whether this instruction has an effect on memory, other work-items, or the control flow outside of it.
    effect: bool,
    /// For a loop, its `break`s and `continue`s. For an `if` or `switch`, its `yield`s.
    jumps: Vec<u32>,
    /// The instructions directly in the regions of this instruction.
    children: Vec<u32>,
}

/// The definition of a value.
#[derive(Clone, Copy)]
enum Source {
    /// A parameter of the function, or no definition.
    None,
    /// The number of an instruction, and the index of the result.
    Result(u32, u32),
    /// The number of a loop, and the index of the parameter.
    Param(u32, u32),
}

struct Marker<'f> {
    function: &'f Function,
    purity: &'f Purity,
    read: &'f [bool],
    roots: Vec<Option<Var>>,
    nodes: Vec<Node<'f>>,
    top: Vec<u32>,
    sources: Vec<Source>,
    live_values: Vec<bool>,
    live_insts: Vec<bool>,
    values: Vec<Value>,
    insts: Vec<u32>,
}

impl<'f> Marker<'f> {
    fn new(function: &'f Function, purity: &'f Purity, read: &'f [bool]) -> Self {
        let count = function.values.len();
        Self {
            function,
            purity,
            read,
            roots: vec![None; count],
            nodes: Vec::new(),
            top: Vec::new(),
            sources: vec![Source::None; count],
            live_values: vec![false; count],
            live_insts: Vec::new(),
            values: Vec::new(),
            insts: Vec::new(),
        }
    }

    /// Numbers the instructions. Returns whether the region has an effect outside of the instruction `owner`, and
    /// whether it leaves `owner` by `break` or `continue` of the loop `in_loop`.
    fn collect(&mut self, region: &'f Region, owner: Option<u32>, in_loop: Option<u32>) -> (bool, bool) {
        let (mut effect, mut leaves) = (false, false);
        for inst in &region.insts {
            let index = crate::ir::number(self.nodes.len());
            self.nodes.push(Node { inst, parent: owner, effect: false, jumps: Vec::new(), children: Vec::new() });
            match owner {
                Some(owner) => self.nodes[owner as usize].children.push(index),
                None => self.top.push(index),
            }
            for (position, &result) in (0_u32..).zip(&inst.results) {
                self.sources[result.index()] = Source::Result(index, position);
            }
            let (own_effect, own_leaves) = self.effects(inst, index, owner, in_loop);
            self.nodes[index as usize].effect = own_effect || own_leaves;
            effect |= own_effect;
            leaves |= own_leaves;
        }
        (effect, leaves)
    }

    /// Like [`Self::collect`], for one instruction instead of a region.
    fn effects(&mut self, inst: &'f Inst, index: u32, owner: Option<u32>, in_loop: Option<u32>) -> (bool, bool) {
        match &inst.op {
            Op::VarAddr(var) => {
                if let Some(result) = inst.results.first() {
                    self.roots[result.index()] = Some(*var);
                }
                (false, false)
            }
            Op::PtrAdd(base, _) | Op::Cast(CastOp::SpaceCast, base) => {
                if let Some(result) = inst.results.first() {
                    self.roots[result.index()] = self.roots[base.index()];
                }
                (false, false)
            }
            Op::Load { volatile, .. } => (*volatile, false),
            Op::Store { ptr, volatile: false, .. } | Op::Zero { dst: ptr, .. } => {
                let dead = self.roots[ptr.index()].is_some_and(|var| !self.read[var.index()]);
                (!dead, false)
            }
            Op::Call(callee, _) => (!self.purity.is_pure(*callee), false),
            Op::Yield(_) => {
                if let Some(owner) = owner {
                    self.nodes[owner as usize].jumps.push(index);
                }
                // A `yield` has no effect, so it does not make the enclosing `if` or `switch` live.
                (false, false)
            }
            Op::Break(_) | Op::Continue(_) => {
                if let Some(target) = in_loop {
                    self.nodes[target as usize].jumps.push(index);
                }
                (false, true)
            }
            Op::Return(_) | Op::Unreachable => (true, false),
            Op::If { .. } | Op::Switch { .. } => {
                let (mut effect, mut leaves) = (false, false);
                for region in inst.op.regions() {
                    let (inner, left) = self.collect(region, Some(index), in_loop);
                    effect |= inner;
                    leaves |= left;
                }
                (effect, leaves)
            }
            Op::Loop { params, body, .. } => {
                for (position, &param) in (0_u32..).zip(params) {
                    self.sources[param.index()] = Source::Param(index, position);
                }
                let (effect, _) = self.collect(body, Some(index), Some(index));
                // A loop without `break` stays, because the code after it must remain unreachable.
                let has_break =
                    self.nodes[index as usize].jumps.iter().any(|&jump| matches!(self.nodes[jump as usize].inst.op, Op::Break(_)));
                (effect || !has_break, false)
            }
            op => (!op.is_pure(), false),
        }
    }

    fn mark(&mut self) {
        self.live_insts = vec![false; self.nodes.len()];
        self.mark_effects(&self.top.clone());
        loop {
            if let Some(value) = self.values.pop() {
                self.mark_sources_of(value);
            } else if let Some(inst) = self.insts.pop() {
                self.mark_needs_of(inst);
            } else {
                break;
            }
        }
    }

    fn mark_effects(&mut self, children: &[u32]) {
        for &child in children {
            let node = &self.nodes[child as usize];
            if node.effect || node.inst.op.is_terminator() {
                self.mark_inst(child);
            }
        }
    }

    fn mark_value(&mut self, value: Value) {
        if !std::mem::replace(&mut self.live_values[value.index()], true) {
            self.values.push(value);
        }
    }

    fn mark_inst(&mut self, inst: u32) {
        if !std::mem::replace(&mut self.live_insts[inst as usize], true) {
            self.insts.push(inst);
        }
    }

    fn mark_sources_of(&mut self, value: Value) {
        match self.sources[value.index()] {
            Source::None => {}
            Source::Result(inst, position) => {
                self.mark_inst(inst);
                for jump in self.nodes[inst as usize].jumps.clone() {
                    if let Op::Yield(values) | Op::Break(values) = &self.nodes[jump as usize].inst.op
                        && let Some(&value) = values.get(position as usize)
                    {
                        self.mark_value(value);
                    }
                }
            }
            Source::Param(inst, position) => {
                self.mark_inst(inst);
                if let Op::Loop { init, .. } = &self.nodes[inst as usize].inst.op
                    && let Some(&value) = init.get(position as usize)
                {
                    self.mark_value(value);
                }
                for jump in self.nodes[inst as usize].jumps.clone() {
                    if let Op::Continue(values) = &self.nodes[jump as usize].inst.op
                        && let Some(&value) = values.get(position as usize)
                    {
                        self.mark_value(value);
                    }
                }
            }
        }
    }

    fn mark_needs_of(&mut self, index: u32) {
        let node = &self.nodes[index as usize];
        let inst = node.inst;
        let children = node.children.clone();
        if let Some(parent) = node.parent {
            self.mark_inst(parent);
        }
        // Operands of control flow are only live if the result or parameter that they become is live.
        if !matches!(inst.op, Op::Loop { .. } | Op::Yield(_) | Op::Break(_) | Op::Continue(_)) {
            inst.op.for_each_operand(|value| self.mark_value(value));
        }
        self.mark_effects(&children);
        // A live instruction without regions keeps all of its results.
        if inst.op.regions().is_empty() {
            for &result in &inst.results {
                if self.function.ty(result) != Type::Void {
                    self.live_values[result.index()] = true;
                }
            }
        }
    }
}

struct Sweeper<'a> {
    values: &'a [bool],
    insts: &'a [bool],
    next: usize,
    removed: bool,
}

/// Which results and parameters of an enclosing instruction stay.
struct Kept {
    is_loop: bool,
    results: Vec<bool>,
    params: Vec<bool>,
}

impl Sweeper<'_> {
    fn region(&mut self, region: &mut Region, owners: &mut Vec<Kept>) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            let live = self.insts.get(self.next) == Some(&true);
            self.next += 1;
            if !live {
                self.removed = true;
                self.next += inst.op.regions().iter().map(|region| region.size()).sum::<usize>();
                continue;
            }
            match &mut inst.op {
                Op::Yield(values) => {
                    if let Some(kept) = owners.last() {
                        retain(values, &kept.results);
                    }
                }
                Op::Break(values) => {
                    if let Some(kept) = owners.iter().rev().find(|kept| kept.is_loop) {
                        retain(values, &kept.results);
                    }
                }
                Op::Continue(values) => {
                    if let Some(kept) = owners.iter().rev().find(|kept| kept.is_loop) {
                        retain(values, &kept.params);
                    }
                }
                op if op.regions().is_empty() => {}
                op => {
                    let keep = |values: &[Value]| values.iter().map(|value| self.values[value.index()]).collect::<Vec<_>>();
                    let results = keep(&inst.results);
                    self.removed |= results.contains(&false);
                    retain(&mut inst.results, &results);
                    let mut kept = Kept { is_loop: false, results, params: Vec::new() };
                    if let Op::Loop { init, params, .. } = op {
                        kept.is_loop = true;
                        kept.params = keep(params);
                        self.removed |= kept.params.contains(&false);
                        retain(init, &kept.params);
                        retain(params, &kept.params);
                    }
                    owners.push(kept);
                    for region in op.regions_mut() {
                        self.region(region, owners);
                    }
                    owners.pop();
                }
            }
            out.push(inst);
        }
        region.insts = out;
    }
}

fn retain(values: &mut Vec<Value>, kept: &[bool]) {
    let mut flags = kept.iter();
    values.retain(|_| flags.next().copied().unwrap_or(true));
}
