//! The plan of a kernel with barriers: actions at group level, and segments.

use rustc_hash::FxHashSet;

use super::super::kernel::has_barrier;
use super::super::shape::Shape;
use super::super::uniformity::{LaneShape, Uniformity};
use super::collective::{self, Collective};
use crate::analysis::divergence::{Divergence, DivergenceParams, StableLoads};
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};

/// An action at group level.
pub(super) enum Node<'a> {
    /// An instruction whose result is uniform for the group. It runs once for the group.
    Uniform(&'a Inst),
    /// Combines the contributions that the gangs made in the segment before.
    Combine(Collective),
    Segment(Segment<'a>),
    /// An `if` whose condition is uniform for the group.
    UniformIf {
        results: &'a [Value],
        cond: Value,
        paths: [Vec<Node<'a>>; 2],
    },
    /// An `if` whose condition differs between work-items.
    DivergentIf {
        cond: Value,
        paths: [Vec<Node<'a>>; 2],
    },
    Loop(Loop<'a>),
    Break(&'a [Value]),
    Continue(&'a [Value]),
    Yield(&'a [Value]),
    Return,
}

/// A loop at group level.
pub(super) struct Loop<'a> {
    pub init: &'a [Value],
    pub params: &'a [Value],
    pub results: &'a [Value],
    pub body: Vec<Node<'a>>,
    /// Whether all work-items of the group leave the loop in the same iteration.
    pub together: bool,
    /// A number that identifies the loop in the plan.
    pub number: usize,
}

/// The instructions that run in one loop over the gangs.
#[derive(Default)]
pub(super) struct Segment<'a> {
    pub insts: Vec<&'a Inst>,
    pub tail: Vec<Tail<'a>>,
}

/// An action at the end of a segment.
pub(super) enum Tail<'a> {
    /// Stores the first values to the slots of the second values.
    StoreValues(&'a [Value], &'a [Value]),
    /// Stores the masks of both regions of an `if` with this condition.
    Masks(Value),
    /// Adds the contribution of the gang to a collective operation.
    Contribute(Collective),
    /// Stores the masks of the lanes that enter the loop with this number.
    Enter(usize),
    /// The active lanes leave the innermost loop, or its current iteration.
    Leave { iteration_only: bool },
    /// The active lanes return.
    Return,
}

/// The plan of a kernel.
pub(super) struct Plan<'a> {
    pub nodes: Vec<Node<'a>>,
    /// Whether each value is uniform for the group.
    group_uniform: Vec<bool>,
    /// The values that need a slot in memory.
    places: Vec<Value>,
    definitions: FxHashSet<Value>,
}

struct Planner<'a> {
    function: &'a Function,
    uniformity: &'a Uniformity<'a>,
    divergence: Divergence<'a>,
    /// Whether each value is uniform for the group, as far as the analysis knows.
    group_uniform: Vec<bool>,
    changed: bool,
    numbers: usize,
    /// Whether the sanitizer reports that work-items reach a barrier.
    reports_barriers: bool,
}

/// The enclosing constructs of a region.
#[derive(Clone, Copy, Default)]
struct Around<'a> {
    /// The results of the `if` that the region belongs to. Empty for the body of a loop or function.
    results: &'a [Value],
    /// Parameters and results of the innermost loop at group level, and whether all work-items leave it in the same
    /// iteration.
    innermost: Option<(&'a [Value], &'a [Value], bool)>,
}

impl<'a> Plan<'a> {
    pub(super) fn of(
        (function, body): (&'a Function, &'a Region),
        uniformity: &'a Uniformity<'a>,
        shape: Shape,
        reports_barriers: bool,
    ) -> Self {
        let params = DivergenceParams { group: shape.group, zero_offset: false, stable: StableLoads::Constant };
        let divergence = Divergence::of(function, body, params);
        let group_uniform = vec![true; function.values.len()];
        let mut planner = Planner { function, uniformity, divergence, group_uniform, changed: true, numbers: 0, reports_barriers };
        while std::mem::take(&mut planner.changed) {
            planner.analyse(body, Around::default());
        }
        let mut nodes = planner.region(body, Around::default());
        remove_final_mask_update(&mut nodes);
        let mut plan = Self { nodes, group_uniform: planner.group_uniform, places: Vec::new(), definitions: FxHashSet::default() };
        plan.find_slots(uniformity);
        plan
    }

    /// Returns whether each value is uniform for the group.
    pub(super) fn group_uniform_values(&self) -> Vec<bool> {
        self.group_uniform.clone()
    }

    /// Returns the values that need a slot in memory.
    pub(super) fn places(&self) -> Vec<Value> {
        self.places.clone()
    }

    fn find_slots(&mut self, uniformity: &Uniformity<'_>) {
        let mut places: Vec<Value> = Vec::new();
        let mut needed: FxHashSet<Value> = FxHashSet::default();
        let nodes = std::mem::take(&mut self.nodes);
        self.collect_slots(&nodes, uniformity, &mut needed, &mut places);
        self.nodes = nodes;
        places.extend(needed);
        places.sort_unstable();
        places.dedup();
        places.retain(|value| !self.group_uniform[value.index()]);
        self.places = places;
    }

    fn collect_slots(&mut self, nodes: &[Node<'a>], uniformity: &Uniformity<'_>, needed: &mut FxHashSet<Value>, defs: &mut Vec<Value>) {
        for node in nodes {
            match node {
                Node::Segment(segment) => {
                    let defined = segment.defined();
                    for value in segment.read() {
                        if !defined.contains(&value) && !self.group_uniform[value.index()] {
                            recomputation_inputs(uniformity, value, &mut |value| {
                                needed.insert(value);
                            });
                        }
                    }
                    for tail in &segment.tail {
                        if let Tail::StoreValues(_, to) = tail {
                            defs.extend_from_slice(to);
                        }
                    }
                    self.definitions.extend(defined);
                }
                Node::UniformIf { paths, .. } | Node::DivergentIf { paths, .. } => {
                    paths.iter().for_each(|path| self.collect_slots(path, uniformity, needed, defs))
                }
                Node::Loop(node) => {
                    defs.extend_from_slice(node.params);
                    defs.extend_from_slice(node.results);
                    self.collect_slots(&node.body, uniformity, needed, defs);
                }
                _ => {}
            }
        }
        needed.retain(|value| !self.group_uniform[value.index()]);
    }
}

impl<'a> Segment<'a> {
    /// Returns the values that the instructions of the segment define, excluding nested regions.
    pub(super) fn defined(&self) -> FxHashSet<Value> {
        self.insts.iter().flat_map(|inst| inst.results.iter().copied()).collect()
    }

    /// Returns the values that the segment uses, including uses in nested regions.
    pub(super) fn read(&self) -> FxHashSet<Value> {
        let mut read = FxHashSet::default();
        for inst in &self.insts {
            inst.op.for_each_operand(|value| {
                read.insert(value);
            });
            for region in inst.op.regions() {
                region.walk(&mut |inst| {
                    inst.op.for_each_operand(|value| {
                        read.insert(value);
                    })
                });
                // Values that are defined in a nested region are used only in that region.
                region.walk(&mut |inst| {
                    inst.results.iter().for_each(|result| {
                        read.remove(result);
                    });
                    if let Op::Loop { params, .. } = &inst.op {
                        params.iter().for_each(|param| {
                            read.remove(param);
                        });
                    }
                });
            }
            if let Op::Loop { params, .. } = &inst.op {
                params.iter().for_each(|param| {
                    read.remove(param);
                });
            }
        }
        for tail in &self.tail {
            match tail {
                Tail::StoreValues(from, _) => read.extend(from.iter().copied()),
                Tail::Masks(cond) => {
                    read.insert(*cond);
                }
                Tail::Contribute(collective) => read.extend([Some(collective.value), collective.index].into_iter().flatten()),
                _ => {}
            }
        }
        read
    }
}

/// Whether a value is recomputed at its uses. This holds for constants, ids, addresses of variables, and pointers into
/// variables in element-major layout. It also holds for pure operations whose result is uniform or linear in each gang.
pub(super) fn is_recomputed(uniformity: &Uniformity<'_>, value: Value) -> bool {
    match uniformity.definitions().get(value) {
        Some(Op::Const(_) | Op::WorkItem(_) | Op::VarAddr(_) | Op::GlobalAddr(_)) => true,
        Some(Op::PtrAdd(..)) if uniformity.points_to_element_major(value) => true,
        Some(op) => op.is_pure() && matches!(uniformity.lane_shape(value), LaneShape::Uniform | LaneShape::Linear(_)),
        None => false,
    }
}

/// Calls `f` with the values that must be in memory to recompute a value.
fn recomputation_inputs(uniformity: &Uniformity<'_>, value: Value, f: &mut dyn FnMut(Value)) {
    if !is_recomputed(uniformity, value) {
        return f(value);
    }
    if let Some(op) = uniformity.definitions().get(value) {
        op.for_each_operand(|operand| recomputation_inputs(uniformity, operand, f));
    }
}

impl<'a> Planner<'a> {
    fn is_group_uniform(&self, value: Value) -> bool {
        self.group_uniform[value.index()]
    }

    /// Records that a value is not uniform for the group.
    fn mark_not_uniform(&mut self, value: Value) {
        self.changed |= std::mem::replace(&mut self.group_uniform[value.index()], false);
    }

    /// Records that a value is not uniform for the group. Exception: `holds` is true, and the analyses of the gang and
    /// of the group both find that the value is uniform.
    fn mark_unless_uniform(&mut self, value: Value, holds: bool) {
        let uniform = matches!(self.uniformity.lane_shape(value), LaneShape::Uniform | LaneShape::Unknown);
        if !(holds && uniform && self.divergence.is_uniform_in_group(value)) {
            self.mark_not_uniform(value);
        }
    }

    /// Whether an instruction runs at group level instead of inside a segment.
    fn is_grouped(&self, inst: &Inst, around: Around<'a>) -> bool {
        match &inst.op {
            Op::Barrier(_) | Op::Group { sub: false, .. } => true,
            Op::If { cond, .. } => {
                let leaves = around.innermost.is_some() && super::super::control::contains_jump(inst);
                let returns = self.is_group_uniform(*cond) && inst.op.regions().into_iter().any(super::super::control::may_return);
                leaves || returns || inst.op.regions().into_iter().any(has_barrier)
            }
            // `switches` has already replaced a switch that leaves a loop at group level by `if`s.
            op => op.regions().into_iter().any(has_barrier),
        }
    }

    /// Whether all work-items of the group leave a loop in the same iteration.
    fn leaves_together(&self, body: &'a Region, around: Around<'a>) -> bool {
        body.insts.iter().all(|inst| match &inst.op {
            Op::If { cond, then, els } if self.is_grouped(inst, around) => {
                let jumps = super::super::control::contains_jump(inst);
                (!jumps || self.is_group_uniform(*cond)) && self.leaves_together(then, around) && self.leaves_together(els, around)
            }
            _ => true,
        })
    }

    /// Records which values of a region are not uniform for the group. Must be repeated until nothing changes.
    fn analyse(&mut self, region: &'a Region, around: Around<'a>) {
        for inst in &region.insts {
            match &inst.op {
                Op::If { cond, then, els } if self.is_grouped(inst, around) => {
                    let cond = self.is_group_uniform(*cond);
                    for path in [then, els] {
                        self.analyse(path, Around { results: &inst.results, ..around });
                    }
                    inst.results.iter().for_each(|&result| self.mark_unless_uniform(result, cond));
                }
                Op::Loop { init, params, body, .. } if self.is_grouped(inst, around) => {
                    let innermost = (&params[..], &inst.results[..]);
                    let together = self.leaves_together(body, Around { results: &[], innermost: Some((innermost.0, innermost.1, true)) });
                    for (&param, &init) in params.iter().zip(init) {
                        let holds = together && self.is_group_uniform(init);
                        self.mark_unless_uniform(param, holds);
                    }
                    inst.results.iter().for_each(|&result| self.mark_unless_uniform(result, together));
                    self.analyse(body, Around { results: &[], innermost: Some((innermost.0, innermost.1, together)) });
                }
                Op::Yield(values) => self.propagate(values, around.results),
                Op::Break(values) => self.propagate(values, around.innermost.map_or(&[], |innermost| innermost.1)),
                Op::Continue(values) => self.propagate(values, around.innermost.map_or(&[], |innermost| innermost.0)),
                // The result of a reduction, vote or broadcast is uniform for the group, even if some work-items are
                // inactive.
                Op::Group { sub: false, .. } if collective::of(inst).is_some_and(|collective| !collective.is_scan()) => {}
                op => {
                    let stable = match *op {
                        Op::Load { ptr, volatile: false, .. } => self.function.ty(ptr) == Type::Ptr(Space::Constant),
                        // The address of a private variable differs between work-items.
                        Op::VarAddr(_) => false,
                        _ => op.is_pure(),
                    };
                    let mut holds = stable && op.regions().is_empty();
                    op.for_each_operand(|value| {
                        holds &= self.is_group_uniform(value) || matches!(self.uniformity.definitions().get(value), Some(Op::Const(_)))
                    });
                    inst.results.iter().for_each(|&result| self.mark_unless_uniform(result, holds));
                    for nested in op.regions() {
                        self.mark_region_not_uniform(nested);
                    }
                    if let Op::Loop { params, .. } = op {
                        params.iter().for_each(|&param| self.mark_not_uniform(param));
                    }
                }
            }
        }
    }

    /// Records that the values of a region inside a segment are not uniform for the group.
    fn mark_region_not_uniform(&mut self, region: &Region) {
        region.walk(&mut |inst| {
            inst.results.iter().for_each(|&result| self.mark_not_uniform(result));
            if let Op::Loop { params, .. } = &inst.op {
                params.iter().for_each(|&param| self.mark_not_uniform(param));
            }
        });
    }

    /// Records that the values `to` are not uniform if the values `from`, which define them, are not.
    fn propagate(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            if !self.is_group_uniform(from) {
                self.mark_not_uniform(to);
            }
        }
    }

    fn region(&mut self, region: &'a Region, around: Around<'a>) -> Vec<Node<'a>> {
        let mut nodes = Vec::new();
        let mut pending = Segment::default();
        for inst in &region.insts {
            match &inst.op {
                Op::Barrier(fence) => {
                    if self.reports_barriers {
                        pending.insts.push(inst);
                    }
                    flush(&mut nodes, &mut pending);
                    // All gangs finish a segment before the next segment begins. A fence is necessary only to order
                    // accesses as other groups observe them.
                    if !self.reports_barriers && !self.uniformity.caps().has_strong_memory_order && fence.reaches_other_groups() {
                        nodes.push(Node::Uniform(inst));
                    }
                }
                Op::Group { sub: false, .. } => match collective::of(inst) {
                    Some(collective) if !collective.is_scan() => {
                        pending.tail.push(Tail::Contribute(collective));
                        flush(&mut nodes, &mut pending);
                        nodes.push(Node::Combine(collective));
                    }
                    _ => pending.insts.push(inst),
                },
                Op::If { cond, then, els } if self.is_grouped(inst, around) => {
                    let group_uniform = self.is_group_uniform(*cond);
                    if !group_uniform {
                        pending.tail.push(Tail::Masks(*cond));
                    }
                    flush(&mut nodes, &mut pending);
                    let inside = Around { results: &inst.results, ..around };
                    let paths = [self.region(then, inside), self.region(els, inside)];
                    nodes.push(if group_uniform {
                        Node::UniformIf { results: &inst.results, cond: *cond, paths }
                    } else {
                        Node::DivergentIf { cond: *cond, paths }
                    });
                }
                Op::Loop { init, params, body, .. } if self.is_grouped(inst, around) => {
                    let innermost = |together| Around { results: &[], innermost: Some((&params[..], &inst.results[..], together)) };
                    let together = self.leaves_together(body, innermost(true));
                    let number = self.numbers;
                    self.numbers += 1;
                    pending.tail.push(Tail::StoreValues(init, params));
                    if !together {
                        pending.tail.push(Tail::Enter(number));
                    }
                    flush(&mut nodes, &mut pending);
                    let body = self.region(body, innermost(together));
                    nodes.push(Node::Loop(Loop { init, params, results: &inst.results, body, together, number }));
                }
                Op::Yield(values) => {
                    pending.tail.push(Tail::StoreValues(values, around.results));
                    flush(&mut nodes, &mut pending);
                    nodes.push(Node::Yield(values));
                }
                Op::Break(values) => {
                    let innermost = around.innermost;
                    pending.tail.push(Tail::StoreValues(values, innermost.map_or(&[], |innermost| innermost.1)));
                    if innermost.is_some_and(|innermost| !innermost.2) {
                        pending.tail.push(Tail::Leave { iteration_only: false });
                    }
                    flush(&mut nodes, &mut pending);
                    nodes.push(Node::Break(values));
                }
                Op::Continue(values) => {
                    let innermost = around.innermost;
                    pending.tail.push(Tail::StoreValues(values, innermost.map_or(&[], |innermost| innermost.0)));
                    if innermost.is_some_and(|innermost| !innermost.2) {
                        pending.tail.push(Tail::Leave { iteration_only: true });
                    }
                    flush(&mut nodes, &mut pending);
                    nodes.push(Node::Continue(values));
                }
                Op::Return(_) | Op::Unreachable => {
                    pending.tail.push(Tail::Return);
                    flush(&mut nodes, &mut pending);
                    nodes.push(Node::Return);
                }
                _ if !inst.results.is_empty() && inst.results.iter().all(|&result| self.is_group_uniform(result)) => {
                    nodes.push(Node::Uniform(inst))
                }
                Op::Const(_) => {}
                _ => pending.insts.push(inst),
            }
        }
        nodes
    }
}

/// Removes the update of the masks at the end of the kernel, where no code reads them.
fn remove_final_mask_update(nodes: &mut Vec<Node<'_>>) {
    let [.., Node::Segment(segment), Node::Return] = &mut nodes[..] else { return };
    if matches!(segment.tail.last(), Some(Tail::Return)) {
        segment.tail.pop();
    }
    if segment.tail.is_empty() && segment.insts.is_empty() {
        let at = nodes.len() - 2;
        nodes.remove(at);
    }
}

/// Appends the pending segment, unless it has neither instructions nor actions at its end.
fn flush<'a>(nodes: &mut Vec<Node<'a>>, pending: &mut Segment<'a>) {
    let segment = std::mem::take(pending);
    let nothing = segment.tail.iter().all(|tail| matches!(tail, Tail::StoreValues([], _) | Tail::StoreValues(_, [])));
    if !segment.insts.is_empty() || !nothing {
        nodes.push(Node::Segment(segment));
    }
}
