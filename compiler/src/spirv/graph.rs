//! The control flow graph of a function, in which every cycle has one entry.
//!
//! A cycle with several entries (an *irreducible* one) gets a dispatcher node before it. A jump to an entry records its
//! target, and the dispatcher branches to it. So the cycle becomes a loop with a state machine, and the code around it
//! keeps its structure.

use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::{Checked, invalid, unsupported};
use super::module::FunctionDef;
use super::words::{Id, Inst};
use crate::ir::{MAX_NESTING, Scalar};
use rspirv::spirv::Op;

/// A node of the graph.
pub(super) type Node = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Edge {
    pub(super) to: Node,
    /// The target block in the source, whose `OpPhi`s take values for this jump.
    pub(super) into: Option<Node>,
}

/// The contents of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A block of the source.
    Block(usize),
    /// Records the next target for a dispatcher.
    Note {
        /// The dispatcher's number.
        dispatcher: usize,
        target: u32,
    },
    /// Branches to the recorded target.
    Dispatch(usize),
}

/// The terminator of a node.
#[derive(Clone, Debug)]
pub(super) enum End {
    Return(Option<Id>),
    Unreachable,
    Goto(Edge),
    Branch {
        cond: Id,
        then: Edge,
        els: Edge,
    },
    Switch {
        selector: Id,
        cases: Vec<(Vec<u64>, Edge)>,
        default: Edge,
    },
    /// The branch of a dispatcher, by target number.
    Dispatch(Vec<Edge>),
}

impl End {
    /// The jumps, in order.
    pub(super) fn edges(&self) -> Vec<Edge> {
        match self {
            Self::Return(_) | Self::Unreachable => Vec::new(),
            Self::Goto(edge) => vec![*edge],
            Self::Branch { then, els, .. } => vec![*then, *els],
            Self::Switch { cases, default, .. } => cases.iter().map(|(_, edge)| *edge).chain([*default]).collect(),
            Self::Dispatch(edges) => edges.clone(),
        }
    }

    fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Self::Return(_) | Self::Unreachable => Vec::new(),
            Self::Goto(edge) => vec![edge],
            Self::Branch { then, els, .. } => vec![then, els],
            Self::Switch { cases, default, .. } => cases.iter_mut().map(|(_, edge)| edge).chain([default]).collect(),
            Self::Dispatch(edges) => edges.iter_mut().collect(),
        }
    }
}

/// The number of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Loop(pub(super) usize);

#[derive(Clone, Debug)]
pub(super) struct LoopData {
    pub(super) header: Node,
    pub(super) parent: Option<Loop>,
}

/// The graph of a function. Node 0 is the entry.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) work: Vec<Work>,
    pub(super) ends: Vec<End>,
    /// Number of targets of each dispatcher.
    pub(super) dispatchers: Vec<u32>,
    pub(super) loops: Vec<LoopData>,
    /// The innermost loop of each node. A header belongs to its own loop.
    pub(super) loop_of: Vec<Option<Loop>>,
    /// Reachable nodes, in reverse postorder.
    pub(super) order: Vec<Node>,
}

/// The terminator of a block.
fn end(inst: &Inst<'_>, edge: &impl Fn(Id) -> Checked<Edge>, selector_scalar: &impl Fn(Id) -> Checked<Scalar>) -> Checked<End> {
    Ok(match inst.op {
        Op::Branch => End::Goto(edge(inst.operand(0)?)?),
        Op::BranchConditional => {
            let (then, els) = (edge(inst.operand(1)?)?, edge(inst.operand(2)?)?);
            if then == els { End::Goto(then) } else { End::Branch { cond: inst.operand(0)?, then, els } }
        }
        Op::Switch => switch(inst, edge, selector_scalar(inst.operand(0)?)?)?,
        Op::Return => End::Return(None),
        Op::ReturnValue => End::Return(Some(inst.operand(0)?)),
        _ => End::Unreachable,
    })
}

/// The cases of a switch, grouped by target. Cases of the default target are dropped.
fn switch(inst: &Inst<'_>, edge: &impl Fn(Id) -> Checked<Edge>, scalar: Scalar) -> Checked<End> {
    let default = edge(inst.operand(1)?)?;
    let wide = scalar.bits() == 64;
    let mut cases: Vec<(Vec<u64>, Edge)> = Vec::new();
    let mut places: FxHashMap<Edge, usize> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    for parts in inst.operands.get(2..).unwrap_or_default().chunks(if wide { 3 } else { 2 }) {
        let (value, label) = match *parts {
            [low, high, label] if wide => (u64::from(high) << 32 | u64::from(low), label),
            [low, label] if !wide => (u64::from(low) & scalar.mask(), label),
            _ => return Err(invalid!("the last case has no target")),
        };
        let to = edge(Id(label))?;
        if !seen.insert(value) {
            return Err(invalid!("case {value} is listed twice"));
        }
        if to == default {
            continue;
        }
        let index = *places.entry(to).or_insert_with(|| {
            cases.push((Vec::new(), to));
            cases.len() - 1
        });
        cases[index].0.push(value);
    }
    Ok(if cases.is_empty() { End::Goto(default) } else { End::Switch { selector: inst.operand(0)?, cases, default } })
}

impl Graph {
    /// The graph of a function's blocks.
    pub(super) fn new(function: &FunctionDef<'_>, selector_scalar: impl Fn(Id) -> Checked<Scalar>) -> Checked<Self> {
        let numbers: FxHashMap<Id, Node> = function.blocks.iter().enumerate().map(|(number, block)| (block.label, number)).collect();
        let edge = |id: Id| {
            let to = *numbers.get(&id).ok_or_else(|| invalid!("{id} is not a block of the function"))?;
            Ok(Edge { to, into: Some(to) })
        };
        let ends = function.blocks.iter().map(|block| end(&block.end, &edge, &selector_scalar)).collect::<Checked<Vec<_>>>()?;
        let count = ends.len();
        let mut graph = Self {
            work: (0..count).map(Work::Block).collect(),
            ends,
            dispatchers: Vec::new(),
            loops: Vec::new(),
            loop_of: vec![None; count],
            order: Vec::new(),
        };
        graph.find_loops()?;
        graph.order_nodes();
        Ok(graph)
    }

    /// The loop that a node is the header of.
    pub(super) fn header_of(&self, node: Node) -> Option<Loop> {
        self.loop_of[node].filter(|of| self.loops[of.0].header == node)
    }

    /// The innermost loop of a node; for a header, the loop around its own.
    pub(super) fn outer_loop(&self, node: Node) -> Option<Loop> {
        match self.header_of(node) {
            Some(own) => self.loops[own.0].parent,
            None => self.loop_of[node],
        }
    }

    /// Whether a node is in a loop, directly or nested.
    pub(super) fn is_in(&self, node: Node, of: Loop) -> bool {
        std::iter::successors(self.loop_of[node], |inner| self.loops[inner.0].parent).any(|inner| inner == of)
    }

    fn add(&mut self, work: Work, end: End) -> Node {
        self.work.push(work);
        self.ends.push(end);
        self.loop_of.push(None);
        self.work.len() - 1
    }

    fn reachable(&self) -> Vec<Node> {
        let mut seen = vec![false; self.ends.len()];
        let mut stack = vec![0];
        let mut found = Vec::new();
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                found.push(node);
                stack.extend(self.ends[node].edges().into_iter().map(|edge| edge.to));
            }
        }
        found
    }

    /// Finds the loops, outermost first, and gives each a single entry.
    fn find_loops(&mut self) -> Checked<()> {
        let all = self.reachable();
        let mut sources: Vec<Vec<Node>> = vec![Vec::new(); self.ends.len()];
        for &node in &all {
            self.ends[node].edges().into_iter().for_each(|edge| sources[edge.to].push(node));
        }
        let mut work: Vec<(Vec<Node>, Option<Loop>, usize)> = vec![(all, None, 0)];
        while let Some((nodes, parent, depth)) = work.pop() {
            if depth >= MAX_NESTING {
                return Err(unsupported!("control flow nested more than {MAX_NESTING} levels deep"));
            }
            for component in self.components(&nodes) {
                let inside: FxHashSet<Node> = component.iter().copied().collect();
                let entered = |node: &Node| *node == 0 || sources[*node].iter().any(|source| !inside.contains(source));
                let mut ways_in: Vec<Node> = component.iter().copied().filter(entered).collect();
                ways_in.sort_unstable();
                let mut body = component;
                let header = match ways_in.as_slice() {
                    [only] => *only,
                    several => self.dispatch(several, (&inside, &mut body), parent, &mut sources),
                };
                let number = Loop(self.loops.len());
                self.loops.push(LoopData { header, parent });
                for node in &body {
                    self.loop_of[*node] = Some(number);
                }
                body.retain(|node| *node != header);
                work.push((body, Some(number), depth + 1));
            }
        }
        Ok(())
    }

    /// Inserts a dispatcher before nodes of a cycle. New nodes within the cycle become part of it.
    fn dispatch(
        &mut self,
        targets: &[Node],
        (inside, body): (&FxHashSet<Node>, &mut Vec<Node>),
        parent: Option<Loop>,
        sources: &mut Vec<Vec<Node>>,
    ) -> Node {
        let dispatcher = self.dispatchers.len();
        self.dispatchers.push(u32::try_from(targets.len()).unwrap_or(u32::MAX));
        let edges = targets.iter().map(|&to| Edge { to, into: None }).collect();
        let node = self.add(Work::Dispatch(dispatcher), End::Dispatch(edges));
        sources.push(Vec::new());
        let mut before: Vec<Node> = targets.iter().flat_map(|&target| std::mem::replace(&mut sources[target], vec![node])).collect();
        before.sort_unstable();
        before.dedup();
        for source in before {
            let mut end = std::mem::replace(&mut self.ends[source], End::Unreachable);
            for edge in end.edges_mut() {
                let Ok(target) = targets.binary_search(&edge.to) else { continue };
                let note = Work::Note { dispatcher, target: u32::try_from(target).unwrap_or(u32::MAX) };
                edge.to = self.add(note, End::Goto(Edge { to: node, into: None }));
                sources.push(vec![source]);
                sources[node].push(edge.to);
                if inside.contains(&source) {
                    body.push(edge.to);
                } else {
                    self.loop_of[edge.to] = parent;
                }
            }
            self.ends[source] = end;
        }
        body.push(node);
        node
    }

    /// The strongly connected components with a cycle among some nodes.
    fn components(&self, nodes: &[Node]) -> Vec<Vec<Node>> {
        #[derive(Clone, Copy, Default)]
        struct Mark {
            index: u32,
            low: u32,
            open: bool,
        }
        let mut marks: FxHashMap<Node, Mark> = nodes.iter().map(|&node| (node, Mark::default())).collect();
        let (mut next, mut open, mut found) = (1, Vec::new(), Vec::new());
        for &root in nodes {
            if marks[&root].index != 0 {
                continue;
            }
            let mut stack: Vec<(Node, Vec<Node>)> = Vec::new();
            let mut enter = Some(root);
            loop {
                if let Some(node) = enter.take() {
                    marks.insert(node, Mark { index: next, low: next, open: true });
                    next += 1;
                    open.push(node);
                    let inner: Vec<Node> = self.ends[node].edges().iter().map(|edge| edge.to).filter(|to| marks.contains_key(to)).collect();
                    stack.push((node, inner));
                }
                let Some((node, rest)) = stack.last_mut() else { break };
                let node = *node;
                if let Some(to) = rest.pop() {
                    let seen = marks[&to];
                    if seen.index == 0 {
                        enter = Some(to);
                    } else if seen.open {
                        marks.entry(node).and_modify(|mark| mark.low = mark.low.min(seen.index));
                    }
                    continue;
                }
                stack.pop();
                let own = marks[&node];
                if let Some((above, _)) = stack.last() {
                    marks.entry(*above).and_modify(|mark| mark.low = mark.low.min(own.low));
                }
                if own.low == own.index {
                    let mut component = Vec::new();
                    while let Some(member) = open.pop() {
                        marks.entry(member).and_modify(|mark| mark.open = false);
                        component.push(member);
                        if member == node {
                            break;
                        }
                    }
                    if component.len() > 1 || self.ends[node].edges().iter().any(|edge| edge.to == node) {
                        found.push(component);
                    }
                }
            }
        }
        found
    }

    /// Sorts the nodes in topological order, ignoring jumps back to loop headers.
    fn order_nodes(&mut self) {
        let mut seen = vec![false; self.ends.len()];
        let mut order = Vec::new();
        let mut stack: Vec<(Node, Vec<Node>)> = Vec::new();
        let mut enter = Some(0);
        loop {
            if let Some(node) = enter.take() {
                seen[node] = true;
                let mut inner: Vec<Node> = self.ends[node].edges().iter().map(|edge| edge.to).collect();
                // Nodes after a loop follow all of its nodes.
                inner.sort_by_key(|to| self.loop_of[node].is_some_and(|of| !self.is_in(*to, of)));
                stack.push((node, inner));
            }
            let Some((node, rest)) = stack.last_mut() else { break };
            match rest.pop() {
                Some(to) => enter = (!seen[to]).then_some(to),
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        order.reverse();
        self.order = order;
    }
}
