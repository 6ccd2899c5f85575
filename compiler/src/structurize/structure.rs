//! Converts a graph to nested pieces. Every jump becomes the end of a region, or a `break` or `continue` of the
//! innermost loop.
//!
//! The placement follows Ramsey ("Beyond Relooper", 2022). A node with one incoming jump is inlined at that jump. A
//! node with several incoming jumps is placed after the pieces of its immediate dominator, which contain all of these
//! jumps. Code after a loop is placed after the loop. The IR can leave nested regions only with the `break` and
//! `continue` of the innermost loop. So a node that a jump may skip is guarded by a *flag*. The flag is cleared before
//! the pieces that precede the node, and the jumps to the node set it.
//! ```text
//! if (a && b) X else Y; Z
//! // becomes
//! to_y = 0;  if (a) { if (b) { X } else { to_y = 1 } } else { to_y = 1 }  if (to_y) { Y }  Z
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use super::TooDeep;
use super::graph::{Edge, End, Graph, Loop, Node};
use crate::ir::MAX_NESTING;

/// A node that is nested deeper than preferred is moved to this nesting.
const SHALLOW: u32 = 8;

/// A piece of a function. The pieces of a list are executed in order.
#[derive(Debug)]
pub(crate) enum Piece {
    /// The contents of a node, without its terminator.
    Work(Node),
    /// Assigns the values that a jump passes to its target.
    Moves {
        from: Node,
        edge: Edge,
    },
    /// The arms of a branch or switch, in the order of its edges.
    Arms {
        node: Node,
        arms: Vec<Vec<Self>>,
    },
    /// A branch with an arm that ends with a `return`, `break` or `continue`. The other arm continues after this piece.
    /// The condition has the value `when` in the leaving arm.
    Leave {
        node: Node,
        when: bool,
        arm: Vec<Self>,
    },
    /// Pieces that precede the follow nodes of the list.
    Within(Vec<Self>),
    Loop {
        of: Loop,
        body: Vec<Self>,
    },
    /// A follow node: a jump target after the preceding pieces. `body` contains its pieces.
    Follow {
        node: Node,
        body: Vec<Self>,
    },
    /// The last follow node of its part ([`parts`]). Its pieces are the rest of the list.
    Rest(Node),
    /// A jump to a node that is not inlined here.
    Jump {
        from: Node,
        edge: Edge,
    },
    /// Clears the flags of follow nodes.
    Clear(Vec<Node>),
}

impl Piece {
    /// Returns the follow node that starts with this piece, or `None` for other pieces.
    pub(crate) const fn follow(&self) -> Option<Frame> {
        match self {
            Self::Follow { node, .. } | Self::Rest(node) => Some(Frame::Follow(*node)),
            _ => None,
        }
    }
}

/// Splits a list after each [`Piece::Rest`].
pub(crate) fn parts(list: &[Piece]) -> impl Iterator<Item = &[Piece]> {
    list.split_inclusive(|piece| matches!(piece, Piece::Rest(_)))
}

/// The IR form of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JumpKind {
    /// The jump falls through to the end of the region. A target with a flag tests this flag.
    Fall,
    Break,
    Continue,
}

/// A construct that encloses or follows a point of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Follow(Node),
    Loop(Loop),
}

/// The structure of a graph.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    pub(crate) pieces: Vec<Piece>,
    /// Nodes with a flag. The value is true if the node runs only if its flag is set. The flag of a header means that
    /// its loop continues.
    pub(crate) flags: FxHashMap<Node, bool>,
    /// For each loop, the targets of jumps out of it that need another `break` or `continue` after the loop. The value
    /// is true if all jumps out of the loop have the same target.
    pub(crate) continued_exits: FxHashMap<Loop, (Vec<Node>, bool)>,
    /// The node whose pieces contain each node.
    scope: Vec<Option<Node>>,
    /// Entry and exit times of each node in a depth-first traversal of the scope tree.
    times: Vec<(u32, u32)>,
}

impl Structure {
    /// Computes the structure of a graph. A node that would be nested deeper than `preferred` is placed after an
    /// enclosing construct, and guarded by a flag.
    pub(crate) fn new(graph: &Graph, preferred: usize) -> Result<Self, TooDeep> {
        let mut builder = Builder::place(graph, preferred);
        let pieces = builder.node_pieces(0, false, 0)?;
        let mut structure = Self { pieces, scope: builder.scope, ..Self::default() };
        let mut analysis = JumpAnalysis { graph, bypassed: FxHashSet::default(), exits: FxHashMap::default() };
        analysis.list(&structure.pieces, &mut Vec::new());
        let JumpAnalysis { bypassed, exits, .. } = analysis;
        structure.flags = bypassed.iter().map(|node| (*node, true)).collect();
        for (of, targets) in exits {
            let mut continued: Vec<Node> = targets.iter().filter(|(_, continues)| **continues).map(|(node, _)| *node).collect();
            continued.sort_unstable();
            let only = targets.len() == 1;
            if !only {
                continued.iter().for_each(|node| {
                    structure.flags.entry(*node).or_insert(false);
                });
            }
            structure.continued_exits.insert(of, (continued, only));
        }
        structure.walk_scopes(graph);
        Ok(structure)
    }

    /// Whether node `user` can use the values that node `definer` defines.
    pub(crate) fn can_use(&self, user: Node, definer: Node) -> bool {
        let ((enter, leave), (at, _)) = (self.times[definer], self.times[user]);
        enter <= at && at < leave
    }

    fn walk_scopes(&mut self, graph: &Graph) {
        let mut inner: Vec<Vec<Node>> = vec![Vec::new(); self.scope.len()];
        for &node in graph.order.iter().skip(1) {
            if let Some(outer) = self.scope[node] {
                inner[outer].push(node);
            }
        }
        self.times = vec![(u32::MAX, 0); self.scope.len()];
        let mut time = 0;
        // The entry, and nodes after a loop at the top level, have no scope.
        for &root in graph.order.iter().filter(|node| self.scope[**node].is_none()) {
            let mut stack = vec![(root, 0)];
            self.times[root].0 = time;
            time += 1;
            while let Some((node, next)) = stack.last_mut() {
                let node = *node;
                match inner[node].get(*next) {
                    Some(&to) => {
                        *next += 1;
                        self.times[to].0 = time;
                        time += 1;
                        stack.push((to, 0));
                    }
                    None => {
                        self.times[node].1 = time;
                        stack.pop();
                    }
                }
            }
        }
    }
}

/// Returns the form of a jump. Calls `bypass` with each follow node that a jump of the form [`JumpKind::Fall`] skips.
pub(crate) fn route(graph: &Graph, frames: &[Frame], to: Node, mut bypass: impl FnMut(Node)) -> JumpKind {
    let mut passed = Vec::new();
    for frame in frames.iter().rev() {
        match *frame {
            Frame::Follow(node) if node == to => break,
            Frame::Follow(node) => passed.push(node),
            Frame::Loop(of) if graph.loops[of.0].header == to => return JumpKind::Continue,
            Frame::Loop(_) => return JumpKind::Break,
        }
    }
    passed.into_iter().for_each(&mut bypass);
    JumpKind::Fall
}

struct Builder<'g> {
    graph: &'g Graph,
    preferred: usize,
    /// Whether each node is inlined at the only jump to it.
    inline: Vec<bool>,
    /// The follow nodes of each node, in order: those after the node's contents, and those after the loop that it
    /// starts.
    follows: Vec<[Vec<Node>; 2]>,
    scope: Vec<Option<Node>>,
    /// Number of enclosing scopes of each node.
    level: Vec<u32>,
    /// Approximate nesting of regions around each node.
    depth: Vec<u32>,
}

impl<'g> Builder<'g> {
    fn place(graph: &'g Graph, preferred: usize) -> Self {
        let count = graph.ends.len();
        let mut this = Self {
            graph,
            preferred,
            inline: vec![false; count],
            follows: vec![Default::default(); count],
            scope: vec![None; count],
            level: vec![0; count],
            depth: vec![0; count],
        };
        let mut sources: Vec<Vec<Node>> = vec![Vec::new(); count];
        for &node in &graph.order {
            for edge in graph.ends[node].edges() {
                let back = graph.loop_headed_by(edge.to).is_some_and(|of| graph.is_in(node, of));
                if !back {
                    sources[edge.to].push(node);
                }
            }
        }
        for &node in graph.order.iter().skip(1) {
            this.place_node(node, &sources[node]);
        }
        this
    }

    /// Places a node. `sources` are the nodes that jump to it. They must already be placed.
    fn place_node(&mut self, node: Node, sources: &[Node]) {
        let graph = self.graph;
        if graph.exit == Some(node) {
            return self.place_under(node, 0, false, 0);
        }
        let enclosing = graph.outer_loop(node);
        let leaves_at_once = matches!(graph.ends[node], End::Leave);
        let opens = u32::from(graph.loop_headed_by(node).is_some());
        if let ([source], true) = (sources, leaves_at_once)
            && !self.ends_loop(*source, enclosing)
        {
            return self.place_under(node, *source, true, self.depth[*source] + 1 + opens);
        }
        // A source in an inner loop is replaced with the header of that loop.
        let outer: Vec<(Node, bool)> = sources
            .iter()
            .map(|&source| if graph.loop_of[source] == enclosing { (source, false) } else { (self.header_below(source, enclosing), true) })
            .collect();
        let Some((&(first, left), rest)) = outer.split_first() else { return };
        if left && rest.iter().all(|other| *other == (first, true)) {
            self.follows[first][1].push(node);
            self.scope[node] = self.scope[first];
            self.level[node] = self.level[first];
            self.depth[node] = self.depth[first] + opens;
            return;
        }
        let above = rest.iter().fold(first, |above, (other, _)| self.common_scope(above, *other));
        if self.depth[above] as usize >= self.preferred {
            let same_loop = |outer: &Node| graph.loop_of[*outer] == enclosing;
            let chain = std::iter::successors(Some(above), |inner| self.scope[*inner]).take_while(same_loop);
            let shallow = chain.min_by_key(|outer| self.depth[*outer].max(SHALLOW)).unwrap_or(above);
            if self.depth[shallow] < self.depth[above] {
                return self.place_under(node, shallow, false, self.depth[shallow] + 1 + opens);
            }
        }
        let inline = sources.len() == 1;
        let nested = if inline { !matches!(graph.ends[above], End::Goto(_)) } else { !self.follows[above][0].is_empty() };
        self.place_under(node, above, inline, self.depth[above] + u32::from(nested) + opens);
    }

    /// Whether the jumps of `source` out of its loop go to the code after the loop. They do if `source` is the header
    /// or jumps to the header.
    fn ends_loop(&self, source: Node, enclosing: Option<Loop>) -> bool {
        let graph = self.graph;
        let Some(inner) = graph.loop_of[source].filter(|inner| Some(*inner) != enclosing) else { return false };
        let header = graph.loops[inner.0].header;
        source == header || graph.ends[source].edges().iter().any(|edge| edge.to == header)
    }

    /// Places a node in the scope of `above`: inlined at the only jump to the node if `inline`, otherwise after
    /// `above`.
    fn place_under(&mut self, node: Node, above: Node, inline: bool, depth: u32) {
        self.inline[node] = inline;
        self.scope[node] = Some(above);
        self.level[node] = self.level[above] + 1;
        self.depth[node] = depth;
        if !inline {
            self.follows[above][0].push(node);
        }
    }

    /// Returns the innermost node whose scope contains both nodes.
    fn common_scope(&self, mut a: Node, mut b: Node) -> Node {
        while a != b {
            let up = if self.level[a] >= self.level[b] { &mut a } else { &mut b };
            match self.scope[*up] {
                Some(outer) => *up = outer,
                None => return 0,
            }
        }
        a
    }

    /// Returns the header of the loop that contains a node and whose parent is `outer`. Returns the node if there is
    /// none.
    fn header_below(&self, node: Node, outer: Option<Loop>) -> Node {
        let chain = std::iter::successors(self.graph.loop_of[node], |inner| self.graph.loops[inner.0].parent);
        let mut found = node;
        for of in chain {
            found = self.graph.loops[of.0].header;
            if self.graph.loops[of.0].parent == outer {
                break;
            }
        }
        found
    }

    /// Returns the pieces of a node and of the nodes in its scope. `entered` means that the loop of the node is already
    /// open.
    fn node_pieces(&mut self, node: Node, entered: bool, depth: usize) -> Result<Vec<Piece>, TooDeep> {
        if depth > 4 * MAX_NESTING {
            return Err(TooDeep);
        }
        let mut list = Vec::new();
        let (mut current, mut entered) = (node, entered);
        loop {
            let opens = self.graph.loop_headed_by(current).filter(|_| !std::mem::take(&mut entered));
            let mut followers = std::mem::take(&mut self.follows[current][usize::from(opens.is_some())]);
            if !followers.is_empty() {
                list.push(Piece::Clear(followers.clone()));
            }
            if let Some(of) = opens {
                let body = self.node_pieces(current, true, depth + 1)?;
                list.push(Piece::Loop { of, body });
            } else {
                list.push(Piece::Work(current));
                if let Some(next) = self.terminator_pieces(current, &mut list, followers.is_empty(), depth)? {
                    current = next;
                    continue;
                }
            }
            let Some(last) = followers.pop() else { return Ok(list) };
            for node in followers {
                let body = self.node_pieces(node, false, depth + 1)?;
                list.push(Piece::Follow { node, body });
            }
            list.push(Piece::Rest(last));
            current = last;
        }
    }

    /// Adds the pieces of a node's terminator. Returns the node that continues in the same list, or `None`.
    fn terminator_pieces(&mut self, node: Node, list: &mut Vec<Piece>, free: bool, depth: usize) -> Result<Option<Node>, TooDeep> {
        let graph = self.graph;
        match &graph.ends[node] {
            End::Leave => {}
            End::Goto(edge) if self.is_inline(node, edge.to) && !free => {
                let within = self.arm(node, *edge, depth)?;
                list.push(Piece::Within(within));
            }
            End::Goto(edge) if self.is_inline(node, edge.to) => {
                list.push(Piece::Moves { from: node, edge: *edge });
                return Ok(Some(edge.to));
            }
            End::Goto(edge) => list.push(Piece::Jump { from: node, edge: *edge }),
            End::Branch { then, els } => {
                let leaves = |edge: &Edge| self.is_leaving_jump(node, edge.to);
                let continues = |edge: &Edge| free && self.is_inline(node, edge.to) && !self.is_leaving_jump(node, edge.to);
                let (arm, rest, when) = match (then, els) {
                    (then, els) if leaves(then) && continues(els) => (then, els, true),
                    (then, els) if leaves(els) && continues(then) => (els, then, false),
                    _ => {
                        let arms = vec![self.arm(node, *then, depth)?, self.arm(node, *els, depth)?];
                        list.push(Piece::Arms { node, arms });
                        return Ok(None);
                    }
                };
                let arm = self.arm(node, *arm, depth)?;
                list.push(Piece::Leave { node, when, arm });
                list.push(Piece::Moves { from: node, edge: *rest });
                return Ok(Some(rest.to));
            }
            ends => {
                let arms = ends.edges().into_iter().map(|edge| self.arm(node, edge, depth)).collect::<Result<_, TooDeep>>()?;
                list.push(Piece::Arms { node, arms });
            }
        }
        Ok(None)
    }

    /// Whether a node is inlined at a jump. Such a jump is the only jump to the node, except for jumps that repeat the
    /// loop of the node.
    fn is_inline(&self, from: Node, to: Node) -> bool {
        self.inline[to] && !self.graph.loop_headed_by(to).is_some_and(|of| self.graph.is_in(from, of))
    }

    fn arm(&mut self, from: Node, edge: Edge, depth: usize) -> Result<Vec<Piece>, TooDeep> {
        if !self.is_inline(from, edge.to) {
            return Ok(vec![Piece::Jump { from, edge }]);
        }
        let mut list = vec![Piece::Moves { from, edge }];
        list.append(&mut self.node_pieces(edge.to, false, depth + 1)?);
        Ok(list)
    }

    /// Whether a jump ends with a `return`, `break` or `continue`.
    fn is_leaving_jump(&self, from: Node, to: Node) -> bool {
        if self.is_inline(from, to) {
            return matches!(self.graph.ends[to], End::Leave) && self.graph.loop_headed_by(to).is_none();
        }
        let Some(of) = self.graph.loop_of[from] else { return false };
        self.graph.loops[of.0].header == to || !self.graph.is_in(to, of)
    }
}

/// Finds the nodes whose flags must be tested.
struct JumpAnalysis<'g> {
    graph: &'g Graph,
    bypassed: FxHashSet<Node>,
    /// For each loop, the targets of jumps out of the loop. The value is true if the jumps need another `break` or
    /// `continue` after the loop.
    exits: FxHashMap<Loop, FxHashMap<Node, bool>>,
}

impl JumpAnalysis<'_> {
    fn list(&mut self, list: &[Piece], frames: &mut Vec<Frame>) {
        for part in parts(list) {
            let before = frames.len();
            frames.extend(part.iter().rev().filter_map(Piece::follow));
            for piece in part {
                if piece.follow().is_some() {
                    frames.pop();
                }
                match piece {
                    Piece::Work(_) | Piece::Moves { .. } | Piece::Rest(_) | Piece::Clear(_) => {}
                    Piece::Arms { arms, .. } => arms.iter().for_each(|arm| self.list(arm, frames)),
                    Piece::Leave { arm, .. } => self.list(arm, frames),
                    Piece::Within(list) => self.list(list, frames),
                    Piece::Follow { body, .. } => self.list(body, frames),
                    Piece::Loop { of, body } => {
                        frames.push(Frame::Loop(*of));
                        self.list(body, frames);
                        frames.pop();
                    }
                    Piece::Jump { edge, .. } => self.jump(edge.to, frames),
                }
            }
            frames.truncate(before);
        }
    }

    fn jump(&mut self, to: Node, frames: &[Frame]) {
        let mut frames = frames;
        loop {
            let bypassed = &mut self.bypassed;
            let kind = route(self.graph, frames, to, |node| {
                bypassed.insert(node);
            });
            if kind != JumpKind::Break {
                return;
            }
            let Some(inner) = frames.iter().rposition(|frame| matches!(frame, Frame::Loop(_))) else { return };
            let Frame::Loop(of) = frames[inner] else { return };
            frames = &frames[..inner];
            let continues = route(self.graph, frames, to, |_| {}) != JumpKind::Fall;
            self.exits.entry(of).or_default().insert(to, continues);
        }
    }
}
