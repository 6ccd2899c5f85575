//! The control flow graph. After its construction, every cycle has one entry.
//!
//! If a cycle has several entries (it is *irreducible*), a dispatcher node is inserted before it. A jump to an entry
//! records its target, and the dispatcher branches to it. So the cycle becomes a loop with a state machine. The
//! structure of the code around it does not change.

use rustc_hash::{FxHashMap, FxHashSet};

use super::TooDeep;
use crate::ir::MAX_NESTING;

/// The number of a node. The caller's blocks keep their numbers. Inserted nodes follow.
pub(crate) type Node = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Edge {
    pub(crate) to: Node,
    /// The target of the jump in the caller's graph. `to` may be an inserted node before it. `None` for inserted jumps.
    pub(crate) original: Option<Node>,
}

impl Edge {
    /// Creates a jump of the caller's graph.
    pub(crate) const fn new(to: Node) -> Self {
        Self { to, original: Some(to) }
    }
}

/// The code that a node executes before its jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// A block of the caller.
    Block,
    /// Records the next target of a dispatcher.
    SetTarget {
        /// Number of the dispatcher.
        dispatcher: usize,
        target: u32,
    },
    /// Branches to the recorded target. The number is that of the dispatcher.
    Dispatch(usize),
}

/// The jumps at the end of a node.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// The function returns, or the end of the block is unreachable.
    Leave,
    Goto(Edge),
    /// A branch by a condition.
    Branch {
        then: Edge,
        els: Edge,
    },
    /// A branch by a number. The last target is the default.
    Switch(Vec<Edge>),
}

impl End {
    /// Returns the jumps, in order.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        match self {
            Self::Leave => Vec::new(),
            Self::Goto(edge) => vec![*edge],
            Self::Branch { then, els } => vec![*then, *els],
            Self::Switch(edges) => edges.clone(),
        }
    }

    fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Self::Leave => Vec::new(),
            Self::Goto(edge) => vec![edge],
            Self::Branch { then, els } => vec![then, els],
            Self::Switch(edges) => edges.iter_mut().collect(),
        }
    }
}

/// Index of a loop in [`Graph::loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Loop(pub(crate) usize);

#[derive(Clone, Debug)]
pub(crate) struct LoopData {
    pub(crate) header: Node,
    pub(crate) parent: Option<Loop>,
}

/// A graph. Node 0 is the entry.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) kinds: Vec<NodeKind>,
    pub(crate) ends: Vec<End>,
    /// The node after which the code that follows the graph is executed.
    pub(crate) exit: Option<Node>,
    /// Number of targets of each dispatcher.
    pub(crate) dispatchers: Vec<u32>,
    pub(crate) loops: Vec<LoopData>,
    /// The innermost loop of each node. A header is in the loop that it starts.
    pub(crate) loop_of: Vec<Option<Loop>>,
    /// Reachable nodes, in reverse postorder, except that the exit is the last node.
    pub(crate) order: Vec<Node>,
}

impl Graph {
    /// Creates the graph of blocks with these ends.
    pub(crate) fn new(ends: Vec<End>) -> Result<Self, TooDeep> {
        Self::build(ends, None)
    }

    /// Does the same as [`Self::new`], for a graph that other code follows. This code is executed after the block
    /// `exit`, which has no jumps.
    pub(crate) fn with_exit(ends: Vec<End>, exit: Node) -> Result<Self, TooDeep> {
        Self::build(ends, Some(exit))
    }

    fn build(ends: Vec<End>, exit: Option<Node>) -> Result<Self, TooDeep> {
        let count = ends.len();
        let mut graph = Self { kinds: vec![NodeKind::Block; count], ends, exit, loop_of: vec![None; count], ..Self::default() };
        graph.find_loops()?;
        graph.order_nodes();
        Ok(graph)
    }

    /// Returns the loop whose header is a node, or `None` if the node is not a header.
    pub(crate) fn loop_headed_by(&self, node: Node) -> Option<Loop> {
        self.loop_of[node].filter(|of| self.loops[of.0].header == node)
    }

    /// Returns the innermost loop that contains a node. For a header, returns the loop around the loop that it starts.
    pub(crate) fn outer_loop(&self, node: Node) -> Option<Loop> {
        match self.loop_headed_by(node) {
            Some(own) => self.loops[own.0].parent,
            None => self.loop_of[node],
        }
    }

    /// Whether a node is in a loop, directly or in an inner loop.
    pub(crate) fn is_in(&self, node: Node, of: Loop) -> bool {
        std::iter::successors(self.loop_of[node], |inner| self.loops[inner.0].parent).any(|inner| inner == of)
    }

    fn add(&mut self, kind: NodeKind, end: End) -> Node {
        self.kinds.push(kind);
        self.ends.push(end);
        self.loop_of.push(None);
        self.kinds.len() - 1
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

    /// Finds the loops, outermost first, and ensures that each has one entry.
    fn find_loops(&mut self) -> Result<(), TooDeep> {
        let all = self.reachable();
        let mut sources: Vec<Vec<Node>> = vec![Vec::new(); self.ends.len()];
        for &node in &all {
            self.ends[node].edges().into_iter().for_each(|edge| sources[edge.to].push(node));
        }
        let mut work: Vec<(Vec<Node>, Option<Loop>, usize)> = vec![(all, None, 0)];
        while let Some((nodes, parent, depth)) = work.pop() {
            if depth >= MAX_NESTING {
                return Err(TooDeep);
            }
            for component in self.components(&nodes) {
                let inside: FxHashSet<Node> = component.iter().copied().collect();
                let entered = |node: &Node| *node == 0 || sources[*node].iter().any(|source| !inside.contains(source));
                let mut entries: Vec<Node> = component.iter().copied().filter(entered).collect();
                entries.sort_unstable();
                let mut body = component;
                let header = match entries.as_slice() {
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

    /// Inserts a dispatcher before the entries of a cycle. Nodes that are inserted in the cycle become part of it.
    fn dispatch(
        &mut self,
        targets: &[Node],
        (inside, body): (&FxHashSet<Node>, &mut Vec<Node>),
        parent: Option<Loop>,
        sources: &mut Vec<Vec<Node>>,
    ) -> Node {
        let dispatcher = self.dispatchers.len();
        self.dispatchers.push(u32::try_from(targets.len()).unwrap_or(u32::MAX));
        let edges = targets.iter().map(|&to| Edge { to, original: None }).collect();
        let node = self.add(NodeKind::Dispatch(dispatcher), End::Switch(edges));
        sources.push(Vec::new());
        let mut before: Vec<Node> = targets.iter().flat_map(|&target| std::mem::replace(&mut sources[target], vec![node])).collect();
        before.sort_unstable();
        before.dedup();
        for source in before {
            let mut end = std::mem::replace(&mut self.ends[source], End::Leave);
            for edge in end.edges_mut() {
                let Ok(target) = targets.binary_search(&edge.to) else { continue };
                let note = NodeKind::SetTarget { dispatcher, target: u32::try_from(target).unwrap_or(u32::MAX) };
                edge.to = self.add(note, End::Goto(Edge { to: node, original: None }));
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

    /// Returns the strongly connected components of some nodes, except single nodes without a jump to themselves
    /// (Tarjan's algorithm).
    fn components(&self, nodes: &[Node]) -> Vec<Vec<Node>> {
        #[derive(Clone, Copy, Default)]
        struct Mark {
            index: u32,
            low: u32,
            on_stack: bool,
        }
        let mut marks: FxHashMap<Node, Mark> = nodes.iter().map(|&node| (node, Mark::default())).collect();
        let (mut next, mut component_stack, mut found) = (1, Vec::new(), Vec::new());
        for &root in nodes {
            if marks[&root].index != 0 {
                continue;
            }
            let mut visits: Vec<(Node, Vec<Node>)> = Vec::new();
            let mut enter = Some(root);
            loop {
                if let Some(node) = enter.take() {
                    marks.insert(node, Mark { index: next, low: next, on_stack: true });
                    next += 1;
                    component_stack.push(node);
                    let inner: Vec<Node> = self.ends[node].edges().iter().map(|edge| edge.to).filter(|to| marks.contains_key(to)).collect();
                    visits.push((node, inner));
                }
                let Some((node, rest)) = visits.last_mut() else { break };
                let node = *node;
                if let Some(to) = rest.pop() {
                    let seen = marks[&to];
                    if seen.index == 0 {
                        enter = Some(to);
                    } else if seen.on_stack {
                        marks.entry(node).and_modify(|mark| mark.low = mark.low.min(seen.index));
                    }
                    continue;
                }
                visits.pop();
                let own = marks[&node];
                if let Some((above, _)) = visits.last() {
                    marks.entry(*above).and_modify(|mark| mark.low = mark.low.min(own.low));
                }
                if own.low == own.index {
                    let mut component = Vec::new();
                    while let Some(member) = component_stack.pop() {
                        marks.entry(member).and_modify(|mark| mark.on_stack = false);
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

    /// Sorts the nodes topologically, without regard to jumps back to loop headers.
    fn order_nodes(&mut self) {
        let mut seen = vec![false; self.ends.len()];
        let mut order = Vec::new();
        let mut stack: Vec<(Node, Vec<Node>)> = Vec::new();
        let mut enter = Some(0);
        loop {
            if let Some(node) = enter.take() {
                seen[node] = true;
                let mut inner: Vec<Node> = self.ends[node].edges().iter().map(|edge| edge.to).collect();
                // The nodes after a loop follow all nodes of the loop.
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
        // The exit is the last node.
        if let Some(exit) = order.iter().position(|node| Some(*node) == self.exit) {
            let exit = order.remove(exit);
            order.push(exit);
        }
        self.order = order;
    }
}
