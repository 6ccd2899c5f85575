//! Irregular control flow: statements that are split into basic blocks, for `structurize`.
//!
//! A statement without jumps into it or out of it is not split. It is one item of a block:
//! ```text
//! if (c) goto middle;                b0: branch c, b2, b1     b1: branch x > 0, b3, b4
//! while (x > 0) { A; middle: B; }    b3: A; goto b2           b2: B; goto b1              b4: the end
//! ```
//! In the middle of an expression, the IR can only break out of an enclosing loop. So an expression is lowered in a
//! loop with one iteration if its statement expressions contain jumps out of the expression. A jump sets its flag
//! variable and leaves this loop. The block after the loop tests the flag and goes to the target of the jump.

use std::convert::Infallible;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::builder::Builder;
use super::function::Lowering;
use super::irregular::{Irregular, labels};
use super::regions::{self, Blocks};
use super::scan::{self, Leaves};
use super::stmt::{Jump, Jumps, known_condition};
use crate::ir::{CastOp, Op, PREFERRED_NESTING, Scalar, Type, Value, Var};
use crate::structurize::graph::{Edge, End, Graph, Node};
use crate::structurize::structure::Structure;
use crate::thir::{Expr, LabelId, Stmt, StmtKind};

/// Preferred maximum nesting on devices that limit the nesting of conditions.
const REDUCED_NESTING: usize = 12;

#[derive(Clone, Copy)]
enum Item<'p> {
    Stmt(&'p Stmt),
    Effect(&'p Expr),
    /// Evaluates a condition and stores it in a flag.
    Condition(&'p Expr, Var),
    /// Evaluates a selector and stores it in a variable of this type.
    Selector(&'p Expr, Var, Type),
    /// Sets the flag of a jump that leaves the statements of the [`Splitter`].
    Set(Var),
}

#[derive(Clone, Copy)]
enum Condition<'p> {
    Expr(&'p Expr),
    Flag(Var),
}

#[derive(Clone, Copy)]
enum Selector<'p> {
    Expr(&'p Expr),
    Saved(Var, Type),
}

/// Inclusive ranges of case values.
type Values = Vec<(u64, u64)>;

enum Jumping<'p> {
    Goto(Node),
    Branch {
        cond: Condition<'p>,
        then: Node,
        els: Node,
    },
    Switch {
        selector: Selector<'p>,
        cases: Vec<(Values, Node)>,
        default: Node,
    },
    /// The block has no successor: its last item returns or does not complete.
    Leave,
}

struct Block<'p> {
    items: Vec<Item<'p>>,
    end: Jumping<'p>,
    /// The flags of the jumps that leave the statement expressions of the block's only item.
    exits: Exits,
    /// The unroll factor of the loop whose header is this block.
    unroll: Option<u32>,
}

#[derive(Clone, Default)]
struct Exits {
    on_break: Option<Var>,
    on_continue: Option<Var>,
    labels: Vec<(LabelId, Var)>,
}

impl Exits {
    fn flags(&self) -> impl Iterator<Item = Var> {
        self.on_break.into_iter().chain(self.on_continue).chain(self.labels.iter().map(|(_, flag)| *flag))
    }
}

#[derive(Default)]
struct Cases {
    cases: Vec<(Values, Node)>,
    default: Option<Node>,
}

/// Splits statements into blocks.
struct Splitter<'l, 'p, 's> {
    lowering: &'l mut Lowering<'p, 's>,
    irregular: Rc<Irregular>,
    /// The labels in the statements. A `goto` to another label leaves the statements.
    inside: FxHashSet<LabelId>,
    /// Targets of each `break` and `continue` that leaves the statements.
    outside: Jumps<'p>,
    blocks: Vec<Block<'p>>,
    current: Node,
    labels: FxHashMap<LabelId, Node>,
    on_break: Option<Node>,
    on_continue: Option<Node>,
    /// The `case` and `default` labels of the enclosing switches, innermost last.
    switches: Vec<Cases>,
}

/// The entry block.
const ENTRY: Node = 0;

/// The block after the statements.
const EXIT: Node = 1;

/// Lowers the body of a function.
pub(super) fn lower_body<'p>(lowering: &mut Lowering<'p, '_>, irregular: Rc<Irregular>, body: &'p [Stmt]) {
    lower(lowering, irregular, body, Jumps::NONE, |splitter| splitter.stmts(body));
}

/// Lowers a statement without jumps into or out of it.
pub(super) fn lower_statement<'p>(lowering: &mut Lowering<'p, '_>, irregular: Rc<Irregular>, stmt: &'p Stmt) {
    lower(lowering, irregular, std::slice::from_ref(stmt), Jumps::NONE, |splitter| splitter.split(stmt));
}

/// Lowers the statements of a statement expression. `jumps` has the targets of a `break` or `continue` that leaves
/// them.
pub(super) fn lower_expression<'p>(lowering: &mut Lowering<'p, '_>, irregular: Rc<Irregular>, stmts: &'p [Stmt], jumps: Jumps<'p>) {
    let leaves = scan::leaves_of_list(stmts);
    let outside = lowering.inner_jumps(&leaves);
    lower(lowering, irregular, stmts, outside, |splitter| splitter.stmts(stmts));
    lowering.continue_jumps(jumps, outside);
    for &label in &leaves.labels {
        let Some(flag) = lowering.label_flag(label) else { continue };
        let set = lowering.flag_is_set(flag);
        lowering.branch(set, |this| this.b.effect(Op::Break(Vec::new())), |_| ());
    }
}

fn lower<'p>(
    lowering: &mut Lowering<'p, '_>,
    irregular: Rc<Irregular>,
    stmts: &'p [Stmt],
    outside: Jumps<'p>,
    split: impl FnOnce(&mut Splitter<'_, 'p, '_>),
) {
    let preferred = if irregular.limits_nesting() { REDUCED_NESTING } else { PREFERRED_NESTING };
    let mut splitter = Splitter {
        lowering,
        irregular,
        inside: labels(stmts),
        outside,
        blocks: Vec::new(),
        current: ENTRY,
        labels: FxHashMap::default(),
        on_break: None,
        on_continue: None,
        switches: Vec::new(),
    };
    splitter.new_block();
    splitter.new_block();
    split(&mut splitter);
    splitter.end(Jumping::Goto(EXIT), EXIT);
    let mut blocks = splitter.blocks;
    thread_jumps(&mut blocks);
    let ends = blocks.iter().map(|block| block.end.edges()).collect();
    let structured = Graph::with_exit(ends, EXIT).and_then(|graph| Ok((Structure::new(&graph, preferred)?, graph)));
    match structured {
        Ok((structure, graph)) => {
            let Ok(()) = regions::lower(&mut Emitter { lowering: &mut *lowering, blocks }, &graph, &structure);
            if !graph.order.contains(&EXIT) {
                lowering.b.effect(Op::Unreachable);
            }
        }
        Err(error) => lowering.b.fail(error.to_string()),
    }
}

impl<'p> Splitter<'_, 'p, '_> {
    fn new_block(&mut self) -> Node {
        self.blocks.push(Block { items: Vec::new(), end: Jumping::Leave, exits: Exits::default(), unroll: None });
        self.blocks.len() - 1
    }

    fn label(&mut self, label: LabelId) -> Node {
        if let Some(&block) = self.labels.get(&label) {
            return block;
        }
        let block = self.new_block();
        self.labels.insert(label, block);
        block
    }

    /// Ends the current block. `next` becomes the current block.
    fn end(&mut self, end: Jumping<'p>, next: Node) {
        self.blocks[self.current].end = end;
        self.current = next;
    }

    /// Ends the current block. The code after it is reachable only through labels.
    fn leave(&mut self, end: Jumping<'p>) {
        let next = self.new_block();
        self.end(end, next);
    }

    /// Ends the current block with a jump to a new one, and returns the new one.
    fn start_block(&mut self) -> Node {
        let block = self.new_block();
        self.end(Jumping::Goto(block), block);
        block
    }

    /// Appends an item. `leaves` are the jumps out of its statement expressions.
    fn item(&mut self, item: Item<'p>, leaves: &Leaves) {
        if !leaves.any() {
            self.blocks[self.current].items.push(item);
            return;
        }
        let block = self.start_block();
        self.blocks[block].items.push(item);
        let mut targets = Vec::new();
        let mut exits = Exits::default();
        if leaves.by_break {
            exits.on_break = Some(self.lowering.b.function.new_var("", 1, 1));
            targets.push(self.break_target());
        }
        if leaves.by_continue {
            exits.on_continue = Some(self.lowering.b.function.new_var("", 1, 1));
            targets.push(self.continue_target());
        }
        for &label in &leaves.labels {
            exits.labels.push((label, self.lowering.b.function.new_var("", 1, 1)));
            targets.push(self.goto_target(label));
        }
        for (flag, then) in exits.flags().zip(targets) {
            let els = self.new_block();
            self.end(Jumping::Branch { cond: Condition::Flag(flag), then, els }, els);
        }
        self.blocks[block].exits = exits;
    }

    fn break_target(&mut self) -> Node {
        self.on_break.unwrap_or_else(|| self.leaving_block(self.outside.on_break, "break"))
    }

    fn continue_target(&mut self) -> Node {
        self.on_continue.unwrap_or_else(|| self.leaving_block(self.outside.on_continue, "continue"))
    }

    fn goto_target(&mut self, label: LabelId) -> Node {
        if self.inside.contains(&label) {
            return self.label(label);
        }
        let outer = self.lowering.label_flag(label).map_or(Jump::None, Jump::FlagAndBreak);
        self.leaving_block(outer, "goto")
    }

    /// Creates a block that leaves the statements with `jump`.
    fn leaving_block(&mut self, jump: Jump<'p>, what: &str) -> Node {
        let block = self.new_block();
        match jump {
            Jump::FlagAndBreak(flag) => self.blocks[block].items.push(Item::Set(flag)),
            _ => self.lowering.b.fail(format!("internal error: '{what}' has no target here")),
        }
        self.blocks[block].end = Jumping::Goto(EXIT);
        block
    }

    /// Ends the current block with a branch. `next` becomes the current block.
    fn branch(&mut self, cond: &'p Expr, then: Node, els: Node, next: Node) {
        let leaves = scan::leaves_in(cond);
        let end = match known_condition(cond) {
            Some(known) => Jumping::Goto(if known { then } else { els }),
            None if leaves.any() => {
                let flag = self.lowering.b.function.new_var("", 1, 1);
                self.item(Item::Condition(cond, flag), &leaves);
                Jumping::Branch { cond: Condition::Flag(flag), then, els }
            }
            None => Jumping::Branch { cond: Condition::Expr(cond), then, els },
        };
        self.end(end, next);
    }

    fn stmts(&mut self, stmts: &'p [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'p Stmt) {
        if matches!(stmt.kind, StmtKind::Label(_)) || !self.irregular.can_be_item(stmt) {
            self.split(stmt);
            return;
        }
        self.item(Item::Stmt(stmt), &Leaves::default());
        if !scan::may_complete(stmt) {
            self.leave(Jumping::Leave);
        }
    }

    fn split(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If { cond, then, els } => {
                let (then_block, join) = (self.new_block(), self.new_block());
                let else_block = if els.is_some() { self.new_block() } else { join };
                self.branch(cond, then_block, else_block, then_block);
                self.stmt(then);
                self.end(Jumping::Goto(join), else_block);
                if let Some(els) = els {
                    self.stmt(els);
                    self.end(Jumping::Goto(join), join);
                }
            }
            StmtKind::While { cond, body, unroll } => self.loop_(Some(cond), None, body, *unroll),
            StmtKind::For { cond, step, body, unroll } => self.loop_(cond.as_ref(), step.as_ref(), body, *unroll),
            StmtKind::DoWhile { body, cond, unroll } => {
                let head = self.start_block();
                self.blocks[head].unroll = *unroll;
                let (test, after) = (self.new_block(), self.new_block());
                self.split_body(after, Some(test), |this| {
                    this.stmt(body);
                    this.end(Jumping::Goto(test), test);
                    this.branch(cond, head, after, after);
                });
            }
            StmtKind::Switch { cond, body } => self.switch(cond, body),
            StmtKind::Case { lo, hi } => {
                let block = self.start_block();
                if let Some(switch) = self.switches.last_mut() {
                    switch.cases.push((vec![(*lo, *hi)], block));
                }
            }
            StmtKind::Default => {
                let block = self.start_block();
                if let Some(switch) = self.switches.last_mut() {
                    switch.default = Some(block);
                }
            }
            StmtKind::Label(label) => {
                let block = self.label(*label);
                self.end(Jumping::Goto(block), block);
            }
            StmtKind::Goto(label) => {
                let target = self.goto_target(*label);
                self.leave(Jumping::Goto(target));
            }
            StmtKind::Break => {
                let target = self.break_target();
                self.leave(Jumping::Goto(target));
            }
            StmtKind::Continue => {
                let target = self.continue_target();
                self.leave(Jumping::Goto(target));
            }
            StmtKind::Return(_) => {
                self.item(Item::Stmt(stmt), &scan::expression_leaves(stmt));
                self.leave(Jumping::Leave);
            }
            StmtKind::Expr(_) | StmtKind::Local { .. } | StmtKind::Empty => self.item(Item::Stmt(stmt), &scan::expression_leaves(stmt)),
        }
    }

    fn loop_(&mut self, cond: Option<&'p Expr>, step: Option<&'p Expr>, body: &'p Stmt, unroll: Option<u32>) {
        let head = self.start_block();
        self.blocks[head].unroll = unroll;
        let (next, after) = (self.new_block(), self.new_block());
        self.split_body(after, Some(next), |this| {
            if let Some(cond) = cond {
                let inside = this.new_block();
                this.branch(cond, inside, after, inside);
            }
            this.stmt(body);
            this.end(Jumping::Goto(next), next);
            if let Some(step) = step {
                this.item(Item::Effect(step), &scan::leaves_in(step));
            }
            this.end(Jumping::Goto(head), after);
        });
    }

    fn switch(&mut self, cond: &'p Expr, body: &'p Stmt) {
        let leaves = scan::leaves_in(cond);
        let selector = if leaves.any() {
            let ty = self.lowering.value_type(cond.ty);
            let var = self.lowering.b.temporary(size(ty), size(ty));
            self.item(Item::Selector(cond, var, ty), &leaves);
            Selector::Saved(var, ty)
        } else {
            Selector::Expr(cond)
        };
        let (inside, after) = (self.new_block(), self.new_block());
        let head = std::mem::replace(&mut self.current, inside);
        self.switches.push(Cases::default());
        self.split_body(after, self.on_continue, |this| this.stmt(body));
        self.end(Jumping::Goto(after), head);
        let Cases { cases, default } = self.switches.pop().unwrap_or_default();
        self.end(Jumping::Switch { selector, cases, default: default.unwrap_or(after) }, after);
    }

    /// Calls `split` for a loop, or for the body of a switch, with these targets of `break` and `continue`.
    fn split_body(&mut self, on_break: Node, on_continue: Option<Node>, split: impl FnOnce(&mut Self)) {
        let outer = (self.on_break, self.on_continue);
        (self.on_break, self.on_continue) = (Some(on_break), on_continue);
        split(self);
        (self.on_break, self.on_continue) = outer;
    }
}

/// Returns the size of an integer in bytes.
fn size(ty: Type) -> u32 {
    ty.scalar().map_or(8, Scalar::bits) / 8
}

/// Redirects each jump to an empty block to the block to which the empty block jumps. Groups the cases of each switch
/// by their targets.
fn thread_jumps(blocks: &mut [Block<'_>]) {
    let skip = |block: &Block<'_>| match block.end {
        Jumping::Goto(next) if block.items.is_empty() && block.unroll.is_none() => Some(next),
        _ => None,
    };
    let skips: Vec<Option<Node>> = blocks.iter().map(skip).collect();
    let resolve = |target: &mut Node| {
        let mut seen = 0;
        while let Some(next) = skips[*target].filter(|_| seen < skips.len()) {
            *target = next;
            seen += 1;
        }
    };
    for block in blocks {
        match &mut block.end {
            Jumping::Leave => {}
            Jumping::Goto(target) => resolve(target),
            Jumping::Branch { then, els, .. } => {
                resolve(then);
                resolve(els);
            }
            Jumping::Switch { cases, default, .. } => {
                resolve(default);
                let mut places: FxHashMap<Node, usize> = FxHashMap::default();
                let mut grouped: Vec<(Values, Node)> = Vec::new();
                for (values, mut target) in std::mem::take(cases) {
                    resolve(&mut target);
                    if target == *default {
                        continue;
                    }
                    let place = *places.entry(target).or_insert_with(|| {
                        grouped.push((Vec::new(), target));
                        grouped.len() - 1
                    });
                    grouped[place].0.extend(values);
                }
                *cases = grouped;
            }
        }
    }
}

impl Jumping<'_> {
    fn edges(&self) -> End {
        match self {
            Self::Leave => End::Leave,
            Self::Goto(to) => End::Goto(Edge::new(*to)),
            Self::Branch { then, els, .. } => End::Branch { then: Edge::new(*then), els: Edge::new(*els) },
            Self::Switch { cases, default, .. } => End::Switch(cases.iter().map(|(_, to)| *to).chain([*default]).map(Edge::new).collect()),
        }
    }
}

/// Lowers the items and conditions of the blocks for [`regions::lower`].
struct Emitter<'l, 'p, 's> {
    lowering: &'l mut Lowering<'p, 's>,
    blocks: Vec<Block<'p>>,
}

impl<'p> Emitter<'_, 'p, '_> {
    fn items(&mut self, block: Node, jumps: Jumps<'p>) {
        for item in self.blocks[block].items.clone() {
            let lowering = &mut *self.lowering;
            lowering.outer = jumps;
            match item {
                Item::Stmt(stmt) => lowering.block(std::slice::from_ref(stmt), jumps),
                Item::Effect(expr) => lowering.effect(expr),
                Item::Condition(expr, flag) => {
                    let value = lowering.condition(expr);
                    let value = lowering.b.cast(CastOp::ZExt, value, Type::Scalar(Scalar::I8));
                    let address = lowering.b.var_addr(flag);
                    lowering.b.store(address, value, 1, false);
                }
                Item::Selector(expr, var, ty) => {
                    let value = lowering.expr(expr);
                    let address = lowering.b.var_addr(var);
                    lowering.b.store(address, value, size(ty), false);
                }
                Item::Set(flag) => lowering.set_flag(flag, 1),
            }
        }
    }
}

impl Blocks for Emitter<'_, '_, '_> {
    type Error = Infallible;

    fn builder(&mut self) -> &mut Builder {
        &mut self.lowering.b
    }

    fn block(&mut self, block: Node) -> Result<(), Infallible> {
        let exits = self.blocks[block].exits.clone();
        if exits.flags().next().is_none() {
            self.items(block, Jumps::NONE);
            return Ok(());
        }
        exits.flags().for_each(|flag| self.lowering.set_flag(flag, 0));
        let flag_jump = |flag: Option<Var>| flag.map_or(Jump::None, Jump::FlagAndBreak);
        let jumps = Jumps { on_break: flag_jump(exits.on_break), on_continue: flag_jump(exits.on_continue) };
        let outer = self.lowering.label_flags.len();
        self.lowering.label_flags.extend(exits.labels);
        self.lowering.b.open();
        self.items(block, jumps);
        let body = self.lowering.b.close(Op::Break(Vec::new()));
        self.lowering.b.loop_(body, None);
        self.lowering.label_flags.truncate(outer);
        Ok(())
    }

    fn assign_phis(&mut self, _: Node, _: Node) -> Result<(), Infallible> {
        Ok(())
    }

    fn condition(&mut self, block: Node) -> Result<Value, Infallible> {
        let Jumping::Branch { cond, .. } = self.blocks[block].end else { return Ok(self.lowering.b.bool(false)) };
        Ok(match cond {
            Condition::Expr(expr) => {
                self.lowering.outer = Jumps::NONE;
                let value = self.lowering.condition(expr);
                self.lowering.b.span = expr.span;
                value
            }
            Condition::Flag(flag) => self.lowering.flag_is_set(flag),
        })
    }

    fn selector(&mut self, block: Node) -> Result<(Value, Vec<Vec<u64>>), Infallible> {
        let Self { lowering, blocks } = self;
        let Jumping::Switch { selector, cases, .. } = &blocks[block].end else { return Ok((lowering.b.i32(0), Vec::new())) };
        let value = match *selector {
            Selector::Expr(expr) => {
                lowering.outer = Jumps::NONE;
                lowering.expr(expr)
            }
            Selector::Saved(var, ty) => {
                let address = lowering.b.var_addr(var);
                lowering.b.load(address, ty, size(ty), false)
            }
        };
        let selected: Vec<(usize, &[(u64, u64)])> = cases.iter().enumerate().map(|(i, (values, _))| (i, values.as_slice())).collect();
        Ok(lowering.select_number(value, &selected))
    }

    fn unroll(&self, header: Node) -> Option<u32> {
        self.blocks[header].unroll
    }
}
