//! Irregular control flow: `goto`s into other statements, and nested `case` labels (Duff's device).
//!
//! Such a statement or function is split into basic blocks, which run in a loop with a switch over the number of the
//! next block. Statements without jumps into or out of them stay whole. A block with one predecessor is inlined at its
//! end, so only merge points and targets of `goto` get numbers:
//! ```text
//! again: A; if (c) goto again; B
//! // becomes
//! loop { switch (state) { case 0: A; if (c) { state = 0 } else { B; return } } }
//! ```
//! This is correct for all control flow, but a barrier in such a statement is executed in a loop.

use rustc_hash::{FxHashMap, FxHashSet};

use super::function::Lowering;
use super::irregular::{Irregular, expression_gotos, labels};
use super::scan::{self, Leaves};
use super::stmt::{Jump, Jumps};
use crate::ir::{Op, Region, Type, Value, Var};
use crate::thir::{Expr, LabelId, Stmt, StmtKind};

/// Maximum nesting of inlined blocks.
const MAX_INLINE: u32 = 48;

/// Maximum nesting of inlined blocks where the state machine limits the nesting.
const FEW_INLINE: u32 = 12;

type BlockId = usize;

#[derive(Clone, Copy)]
enum Item<'p> {
    Stmt(&'p Stmt),
    Effect(&'p Expr),
}

enum End<'p> {
    Goto(BlockId),
    Branch {
        cond: &'p Expr,
        then: BlockId,
        els: BlockId,
    },
    Switch {
        cond: &'p Expr,
        cases: Vec<((u64, u64), BlockId)>,
        default: BlockId,
    },
    /// The end of the statement or function.
    Leave,
}

struct Block<'p> {
    items: Vec<Item<'p>>,
    end: End<'p>,
    /// Targets of jumps out of a contained statement expression.
    on_break: Option<BlockId>,
    on_continue: Option<BlockId>,
}

/// Splits statements into blocks.
struct BlockSplitter<'p, 'i> {
    irregular: &'i Irregular,
    /// The labels in the statements. `goto`s to other labels leave them.
    inside: FxHashSet<LabelId>,
    blocks: Vec<Block<'p>>,
    current: BlockId,
    labels: FxHashMap<LabelId, BlockId>,
    on_break: Option<BlockId>,
    on_continue: Option<BlockId>,
    /// Labels of the enclosing switches, innermost last.
    switches: Vec<Cases>,
}

#[derive(Default)]
struct Cases {
    cases: Vec<((u64, u64), BlockId)>,
    default: Option<BlockId>,
}

impl<'p> BlockSplitter<'p, '_> {
    fn new_block(&mut self) -> BlockId {
        self.blocks.push(Block { items: Vec::new(), end: End::Leave, on_break: None, on_continue: None });
        self.blocks.len() - 1
    }

    fn label(&mut self, label: LabelId) -> BlockId {
        if let Some(&block) = self.labels.get(&label) {
            return block;
        }
        let block = self.new_block();
        self.labels.insert(label, block);
        block
    }

    fn item(&mut self, item: Item<'p>) {
        if let Some(block) = self.blocks.get_mut(self.current) {
            block.items.push(item);
            (block.on_break, block.on_continue) = (self.on_break, self.on_continue);
        }
    }

    /// Ends the current block. `next` becomes the current block.
    fn end(&mut self, end: End<'p>, next: BlockId) {
        if let Some(block) = self.blocks.get_mut(self.current) {
            block.end = end;
            if block.items.is_empty() {
                (block.on_break, block.on_continue) = (self.on_break, self.on_continue);
            }
        }
        self.current = next;
    }

    /// Ends the current block with a jump. Only labels lead to the code after it.
    fn goto(&mut self, target: BlockId) {
        let next = self.new_block();
        self.end(End::Goto(target), next);
    }

    fn stmts(&mut self, stmts: &'p [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'p Stmt) {
        if !matches!(stmt.kind, StmtKind::Label(_)) && self.irregular.is_piece(stmt) {
            self.item(Item::Stmt(stmt));
        } else {
            self.cut(stmt);
        }
    }

    fn cut(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::Block(stmts) | StmtKind::Forward { body: stmts, .. } | StmtKind::Backward { body: stmts, .. } => self.stmts(stmts),
            StmtKind::If { cond, then, els } => {
                let (then_block, join) = (self.new_block(), self.new_block());
                let else_block = if els.is_some() { self.new_block() } else { join };
                self.end(End::Branch { cond, then: then_block, els: else_block }, then_block);
                self.stmt(then);
                self.end(End::Goto(join), else_block);
                if let Some(els) = els {
                    self.stmt(els);
                    self.end(End::Goto(join), join);
                }
            }
            StmtKind::While { cond, body, .. } => self.loop_(Some(cond), None, body),
            StmtKind::For { cond, step, body, .. } => self.loop_(cond.as_ref(), step.as_ref(), body),
            StmtKind::DoWhile { body, cond, .. } => {
                let (head, test, after) = (self.new_block(), self.new_block(), self.new_block());
                self.end(End::Goto(head), head);
                self.inside(after, Some(test), body);
                self.end(End::Goto(test), test);
                self.end(End::Branch { cond, then: head, els: after }, after);
            }
            StmtKind::Switch { cond, body } => {
                let (inside, after) = (self.new_block(), self.new_block());
                let head = self.current;
                self.current = inside;
                self.switches.push(Cases::default());
                self.inside(after, self.on_continue, body);
                self.end(End::Goto(after), head);
                let Cases { cases, default } = self.switches.pop().unwrap_or_default();
                self.end(End::Switch { cond, cases, default: default.unwrap_or(after) }, after);
            }
            StmtKind::Case { lo, hi } => {
                let block = self.new_block();
                if let Some(switch) = self.switches.last_mut() {
                    switch.cases.push(((*lo, *hi), block));
                }
                self.end(End::Goto(block), block);
            }
            StmtKind::Default => {
                let block = self.new_block();
                if let Some(switch) = self.switches.last_mut() {
                    switch.default = Some(block);
                }
                self.end(End::Goto(block), block);
            }
            StmtKind::Label(label) => {
                let block = self.label(*label);
                self.end(End::Goto(block), block);
            }
            StmtKind::Goto(label) if self.inside.contains(label) => {
                let block = self.label(*label);
                self.goto(block);
            }
            StmtKind::Break => match self.on_break {
                Some(block) => self.goto(block),
                None => self.item(Item::Stmt(stmt)),
            },
            StmtKind::Continue => match self.on_continue {
                Some(block) => self.goto(block),
                None => self.item(Item::Stmt(stmt)),
            },
            StmtKind::Goto(_) => self.item(Item::Stmt(stmt)),
            StmtKind::Expr(_) | StmtKind::Local { .. } | StmtKind::Return(_) | StmtKind::Empty => self.item(Item::Stmt(stmt)),
        }
    }

    fn loop_(&mut self, cond: Option<&'p Expr>, step: Option<&'p Expr>, body: &'p Stmt) {
        let (head, next, after) = (self.new_block(), self.new_block(), self.new_block());
        self.end(End::Goto(head), head);
        if let Some(cond) = cond {
            let inside = self.new_block();
            self.end(End::Branch { cond, then: inside, els: after }, inside);
        }
        self.inside(after, Some(next), body);
        self.end(End::Goto(next), next);
        if let Some(step) = step {
            self.item(Item::Effect(step));
        }
        self.end(End::Goto(head), after);
    }

    /// The body of a loop or switch.
    fn inside(&mut self, on_break: BlockId, on_continue: Option<BlockId>, body: &'p Stmt) {
        let outer = (self.on_break, self.on_continue);
        (self.on_break, self.on_continue) = (Some(on_break), on_continue);
        self.stmt(body);
        (self.on_break, self.on_continue) = outer;
    }
}

impl End<'_> {
    fn targets(&self) -> Vec<BlockId> {
        match self {
            Self::Goto(target) => vec![*target],
            Self::Branch { then, els, .. } => vec![*then, *els],
            Self::Switch { cases, default, .. } => cases.iter().map(|(_, block)| *block).chain([*default]).collect(),
            Self::Leave => Vec::new(),
        }
    }
}

/// Number of jumps to each block from reachable blocks.
fn predecessors(blocks: &[Block<'_>]) -> Vec<u32> {
    let mut counts = vec![0_u32; blocks.len()];
    // The entry counts as a jump, so a loop back to it gives it a number.
    let mut stack = vec![0];
    while let Some(id) = stack.pop() {
        let Some(count) = counts.get_mut(id) else { continue };
        *count += 1;
        if *count == 1
            && let Some(block) = blocks.get(id)
        {
            stack.extend(block.end.targets());
        }
    }
    counts
}

/// Lowers the blocks.
struct StateMachine<'p> {
    /// Whether the end is the end of the function.
    whole_function: bool,
    /// Targets of jumps out of the statement.
    outside: Jumps<'p>,
    blocks: Vec<Block<'p>>,
    predecessors: Vec<u32>,
    state: Var,
    numbers: FxHashMap<BlockId, u64>,
    /// Numbered blocks, in order.
    queue: Vec<BlockId>,
    /// Maximum nesting of inlined blocks.
    max_inline: u32,
}

/// Lowers a function body as a state machine. Every path ends in a return.
pub(super) fn lower_body<'p>(lowering: &mut Lowering<'p, '_>, body: &'p [Stmt], irregular: &Irregular) {
    lower(lowering, irregular, body, true, Jumps::NONE, |cutter| cutter.stmts(body));
}

/// Lowers a statement without jumps into or out of it as a state machine.
pub(super) fn lower_statement<'p>(lowering: &mut Lowering<'p, '_>, stmt: &'p Stmt) {
    let Some(irregular) = lowering.irregular.clone() else { return };
    lower(lowering, &irregular, std::slice::from_ref(stmt), false, Jumps::NONE, |cutter| cutter.cut(stmt));
}

/// Lowers the statements of a statement expression as a state machine. `jumps` has the targets of jumps out of them.
pub(super) fn lower_expression<'p>(lowering: &mut Lowering<'p, '_>, stmts: &'p [Stmt], irregular: &Irregular, jumps: Jumps<'p>) {
    let mut leaves = Leaves::default();
    stmts.iter().for_each(|stmt| leaves.add(scan::leaves(stmt, true)));
    let inside = labels(stmts);
    leaves.labels.retain(|label| !inside.contains(label));
    let outside = lowering.beyond(&leaves, jumps);
    lower(lowering, irregular, stmts, false, outside, |cutter| cutter.stmts(stmts));
    lowering.continue_jumps(&leaves, jumps, outside);
}

fn lower<'p>(
    lowering: &mut Lowering<'p, '_>,
    irregular: &Irregular,
    whole: &'p [Stmt],
    whole_function: bool,
    outside: Jumps<'p>,
    cut: impl FnOnce(&mut BlockSplitter<'p, '_>),
) {
    let mut cutter = BlockSplitter {
        irregular,
        inside: labels(whole),
        blocks: Vec::new(),
        current: 0,
        labels: FxHashMap::default(),
        on_break: None,
        on_continue: None,
        switches: Vec::new(),
    };
    cutter.new_block();
    cut(&mut cutter);
    let mut targets = if lowering.deep { expression_gotos(whole) } else { Vec::new() };
    targets.retain(|label| cutter.inside.contains(label));
    let targets: Vec<(LabelId, BlockId)> = targets.into_iter().map(|label| (label, cutter.label(label))).collect();
    let predecessors = predecessors(&cutter.blocks);
    let state = lowering.b.function.new_var("", 4, 4);
    let outside = Jumps { crossed: lowering.goto_targets.len(), tail_from: usize::MAX, ..outside };
    let (numbers, queue) = (FxHashMap::default(), Vec::new());
    let max_inline = if irregular.limits_nesting() { FEW_INLINE } else { MAX_INLINE };
    let mut machine = StateMachine { whole_function, outside, blocks: cutter.blocks, predecessors, state, numbers, queue, max_inline };
    machine.run(lowering, &targets);
}

impl<'p> StateMachine<'p> {
    fn number(&mut self, block: BlockId) -> u64 {
        let next = self.queue.len() as u64;
        *self.numbers.entry(block).or_insert_with(|| {
            self.queue.push(block);
            next
        })
    }

    /// Lowers all blocks. `targets` are the labels that expressions jump to.
    fn run(&mut self, lowering: &mut Lowering<'p, '_>, targets: &[(LabelId, BlockId)]) {
        self.number(0);
        let address = lowering.b.var_addr(self.state);
        let first = lowering.b.i32(0);
        lowering.b.store(address, first, 4, false);
        lowering.b.open();
        let selector = lowering.b.load(address, Type::I32, 4, false);
        for &(label, block) in targets {
            let number = self.number(block);
            lowering.open_state(label, self.state, number);
        }
        let mut cases: Vec<(Vec<u64>, Region)> = Vec::new();
        while let Some(&block) = self.queue.get(cases.len()) {
            lowering.b.open();
            self.write(lowering, block, 0);
            cases.push((vec![cases.len() as u64], lowering.b.close_branch()));
        }
        lowering.b.open();
        let default = lowering.b.close(Op::Unreachable);
        lowering.emit_switch(selector, cases, Some(default));
        lowering.goto_targets.truncate(self.outside.crossed);
        let body = lowering.b.close(Op::Continue(Vec::new()));
        lowering.b.loop_(body, None);
        if self.whole_function {
            lowering.b.effect(Op::Unreachable);
        }
    }

    /// Continues at a block: inlines it if nothing else leads to it, else sets the state.
    fn go(&mut self, lowering: &mut Lowering<'p, '_>, block: BlockId, depth: u32) {
        let only = self.predecessors.get(block).is_some_and(|&count| count == 1) && !self.numbers.contains_key(&block);
        if only && depth < self.max_inline {
            self.write(lowering, block, depth + 1);
            return;
        }
        let number = self.number(block);
        lowering.set_state(self.state, number);
    }

    fn write(&mut self, lowering: &mut Lowering<'p, '_>, mut block: BlockId, depth: u32) {
        loop {
            let Some(data) = self.blocks.get(block) else { return };
            let (items, on_break, on_continue) = (data.items.clone(), data.on_break, data.on_continue);
            let jumps = if lowering.function.expression_jumps {
                let outside = self.outside;
                let mut to = |block: Option<BlockId>, out: Jump<'p>| block.map_or(out, |block| Jump::State(self.state, self.number(block)));
                Jumps { on_break: to(on_break, outside.on_break), on_continue: to(on_continue, outside.on_continue), ..outside }
            } else {
                self.outside
            };
            for item in items {
                match item {
                    Item::Stmt(stmt) => lowering.block(std::slice::from_ref(stmt), jumps),
                    Item::Effect(expr) => lowering.effect(expr),
                }
            }
            lowering.outer = jumps;
            if lowering.b.is_dead() {
                return;
            }
            let Some(data) = self.blocks.get(block) else { return };
            match &data.end {
                End::Goto(next) => {
                    let next = *next;
                    let only = self.predecessors.get(next).is_some_and(|&count| count == 1) && !self.numbers.contains_key(&next);
                    if !only {
                        self.go(lowering, next, MAX_INLINE);
                        return;
                    }
                    block = next;
                }
                &End::Branch { cond, then, els } => {
                    let flag = lowering.condition(cond);
                    match lowering.b.known(flag) {
                        Some(0) => self.go(lowering, els, depth),
                        Some(_) => self.go(lowering, then, depth),
                        None => {
                            lowering.b.open();
                            self.go(lowering, then, depth);
                            let then = lowering.b.close_branch();
                            lowering.b.open();
                            self.go(lowering, els, depth);
                            let els = lowering.b.close_branch();
                            lowering.b.if_else(flag, then, els);
                        }
                    }
                    return;
                }
                End::Switch { cond, cases, default } => {
                    let (cond, cases, default) = (*cond, cases.clone(), *default);
                    let selector = lowering.expr(cond);
                    self.write_switch(lowering, selector, &cases, default, depth);
                    return;
                }
                End::Leave => {
                    if self.whole_function {
                        lowering.return_(None);
                    } else {
                        lowering.b.effect(Op::Break(Vec::new()));
                    }
                    return;
                }
            }
        }
    }

    fn write_switch(
        &mut self,
        lowering: &mut Lowering<'p, '_>,
        selector: Value,
        cases: &[((u64, u64), BlockId)],
        default: BlockId,
        depth: u32,
    ) {
        let selected: Vec<(usize, &[(u64, u64)])> =
            cases.iter().enumerate().map(|(i, (range, _))| (i, std::slice::from_ref(range))).collect();
        let (selector, values) = lowering.select_number(selector, &selected);
        let mut regions = Vec::new();
        for ((_, block), values) in cases.iter().zip(values) {
            lowering.b.open();
            self.go(lowering, *block, depth);
            regions.push((values, lowering.b.close_branch()));
        }
        lowering.b.open();
        self.go(lowering, default, depth);
        let default = lowering.b.close_branch();
        lowering.emit_switch(selector, regions, Some(default));
    }
}
