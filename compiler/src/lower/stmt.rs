//! Statements.
//!
//! # Jumps
//! `break` out of a loop is the IR's `break`. `continue` is the IR's `continue`, after a copy of the loop's step or of
//! the condition of a `do` loop. It is only lowered in this way if all copies in the loop are small in total.
//!
//! The targets of other jumps are *ends* of statements. A `break` may go to the end of a `switch`. If the copies would
//! be too large in total, a `continue` goes to the end of the body. A `break` or `continue` may go to the end of a `do
//! ... while (0)`. Such a jump needs no instruction if no code is between the jump and the end. So a list of statements
//! is rewritten while it is lowered:
//! ```text
//! if (c) { A; break; } B   becomes   if (c) { A } else { B }
//! ```
//! This rewriting is not possible if both branches of an `if` can complete, for example because the jump is in a nested
//! `if`. Then the jump sets a flag, and the code after the `if` runs only if the flag is clear.
//!
//! Only IR jumps can leave an expression. So a statement whose expressions jump to an end becomes a loop with one
//! iteration. `blocks` lowers `goto`.

use super::function::Lowering;
use super::scan::{self, Leaves};
use crate::ir::{CmpOp, Op, PREFERRED_NESTING, Scalar, Type, Value, Var};
use crate::thir::{CastKind, Constant, Expr, ExprKind, Stmt, StmtKind};

/// Maximum total number of expression nodes in the copies of a loop's step and condition. Each `continue` needs one
/// copy.
const MAX_REPEATED_STEP: u32 = 48;

/// Maximum nesting of `else if`s. Longer chains are split into consecutive statements, which a flag guards.
pub(super) const MAX_CHAIN: usize = 16;

/// The code at the end of a loop iteration.
#[derive(Clone, Copy)]
pub(super) struct IterationEnd<'p> {
    step: Option<&'p Expr>,
    /// The condition at the end of a `do` loop.
    cond: Option<&'p Expr>,
}

/// The target of a jump.
#[derive(Clone, Copy)]
pub(super) enum Jump<'p> {
    /// The jump is not possible here.
    None,
    /// The IR's `break` out of the innermost IR loop.
    Break,
    /// Evaluates the code at the end of the iteration, and executes the IR's `continue` of the innermost IR loop.
    Continue(IterationEnd<'p>),
    /// A jump that leaves more than the innermost IR loop. It sets the flag and breaks. The code after the loop tests
    /// the flag.
    FlagAndBreak(Var),
    /// A jump to the end of an enclosing statement that is not an IR loop.
    End {
        /// The flag that a jump sets if code is between the jump and the end. `None` if there is no such jump.
        flag: Option<Var>,
        /// Whether no code is between the current statement and the end.
        tail: bool,
    },
}

/// The targets of `break` and `continue`.
#[derive(Clone, Copy)]
pub(super) struct Jumps<'p> {
    pub(super) on_break: Jump<'p>,
    pub(super) on_continue: Jump<'p>,
}

impl<'p> Jump<'p> {
    const fn before_more(self) -> Self {
        match self {
            Self::End { flag, .. } => Self::End { flag, tail: false },
            other => other,
        }
    }

    const fn is_end(self) -> bool {
        matches!(self, Self::End { .. })
    }
}

impl Jumps<'_> {
    pub(super) const NONE: Self = Self { on_break: Jump::None, on_continue: Jump::None };

    /// Returns the same targets, for a statement that is followed by another statement.
    pub(super) const fn before_more(self) -> Self {
        Self { on_break: self.on_break.before_more(), on_continue: self.on_continue.before_more() }
    }
}

/// The statements to lower: a list, and the lists that follow it.
#[derive(Clone, Copy)]
struct Remaining<'a, 'p> {
    stmts: &'p [Stmt],
    next: Option<&'a Remaining<'a, 'p>>,
}

impl<'a, 'p> Remaining<'a, 'p> {
    const fn only(stmts: &'p [Stmt]) -> Self {
        Self { stmts, next: None }
    }

    /// Returns the first statement that is neither empty nor a label, and the statements after it.
    fn split(mut self) -> Option<(&'p Stmt, Self)> {
        loop {
            match self.stmts {
                [] => self = *self.next?,
                [first, stmts @ ..] => {
                    let rest = Remaining { stmts, next: self.next };
                    if !matches!(first.kind, StmtKind::Empty | StmtKind::Label(_)) {
                        return Some((first, rest));
                    }
                    self = rest;
                }
            }
        }
    }

    fn is_empty(self) -> bool {
        self.split().is_none()
    }
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn block(&mut self, stmts: &'p [Stmt], jumps: Jumps<'p>) {
        self.sequence(Remaining::only(stmts), jumps);
    }

    fn sequence(&mut self, mut rest: Remaining<'_, 'p>, jumps: Jumps<'p>) {
        while let Some((stmt, after)) = rest.split() {
            if self.b.is_dead() {
                return;
            }
            if after.is_empty() {
                self.statement(stmt, jumps);
                return;
            }
            let leaves = self.jumps_to_ends(stmt, jumps);
            if !leaves.any() {
                self.statement(stmt, jumps.before_more());
                rest = after;
                continue;
            }
            if self.b.nesting() >= PREFERRED_NESTING {
                self.guarded_one_by_one(stmt, after, leaves, jumps);
                return;
            }
            match &stmt.kind {
                StmtKind::Break | StmtKind::Continue => self.statement(stmt, jumps),
                StmtKind::Block(stmts) => self.sequence(Remaining { stmts, next: Some(&after) }, jumps),
                StmtKind::If { cond, then, els } if !self.needs_loop(stmt, jumps) => {
                    self.outer = jumps;
                    let els: &[Stmt] = els.as_deref().map_or(&[], scan::statements);
                    let then_completes = scan::may_complete(then);
                    let then = scan::statements(then);
                    match (then_completes, els.iter().all(scan::may_complete)) {
                        (true, true) => self.guarded(stmt, after, &leaves, jumps),
                        (true, false) => {
                            self.if_statement(cond, Remaining { stmts: then, next: Some(&after) }, Remaining::only(els), jumps)
                        }
                        (false, true) => {
                            self.if_statement(cond, Remaining::only(then), Remaining { stmts: els, next: Some(&after) }, jumps)
                        }
                        (false, false) => self.if_statement(cond, Remaining::only(then), Remaining::only(els), jumps),
                    }
                }
                _ => self.guarded(stmt, after, &leaves, jumps),
            }
            return;
        }
    }

    /// Lowers a statement that may jump to the end of an enclosing statement, and the code after the statement. This
    /// code runs only if the statement did not jump.
    fn guarded(&mut self, stmt: &'p Stmt, after: Remaining<'_, 'p>, leaves: &Leaves, jumps: Jumps<'p>) {
        self.statement(stmt, jumps.before_more());
        let Some(falls_through) = self.no_jump(leaves, jumps) else {
            self.sequence(after, jumps);
            return;
        };
        self.b.open();
        self.sequence(after, jumps);
        let then = self.b.close_branch();
        self.b.if_then(falls_through, then);
    }

    /// Like [`Self::guarded`], but guards each following statement separately, to avoid nesting.
    fn guarded_one_by_one(&mut self, stmt: &'p Stmt, mut after: Remaining<'_, 'p>, mut leaves: Leaves, jumps: Jumps<'p>) {
        self.statement(stmt, jumps.before_more());
        while let Some((stmt, rest)) = after.split() {
            if self.b.is_dead() {
                return;
            }
            after = rest;
            let falls_through = self.no_jump(&leaves, jumps);
            leaves.add(self.jumps_to_ends(stmt, jumps));
            let Some(falls_through) = falls_through else {
                self.statement(stmt, jumps.before_more());
                continue;
            };
            self.b.open();
            self.statement(stmt, jumps.before_more());
            let then = self.b.close_branch();
            self.b.if_then(falls_through, then);
        }
    }

    /// Finds the jumps in a statement whose targets are ends of statements.
    fn jumps_to_ends(&self, stmt: &Stmt, jumps: Jumps<'p>) -> Leaves {
        if !jumps.on_break.is_end() && !jumps.on_continue.is_end() {
            return Leaves::default();
        }
        only_ends(scan::leaves(stmt, self.function.expression_jumps), jumps)
    }

    /// Emits a test that none of the jumps `leaves` has set its flag. Returns `None` if they have no flags.
    pub(super) fn no_jump(&mut self, leaves: &Leaves, jumps: Jumps<'p>) -> Option<Value> {
        let kinds = [(leaves.by_break, jumps.on_break), (leaves.by_continue, jumps.on_continue)];
        let mut flags: Vec<Var> = Vec::new();
        for (occurs, jump) in kinds {
            if let (true, Jump::End { flag: Some(flag), .. }) = (occurs, jump) {
                flags.push(flag);
            }
        }
        flags.sort_unstable();
        flags.dedup();
        let mut result = None;
        for flag in flags {
            let value = self.flag(flag);
            let clear = self.b.cmp_int(CmpOp::Eq, value, 0);
            result = Some(match result {
                None => clear,
                Some(other) => self.b.and(other, clear),
            });
        }
        result
    }

    pub(super) fn flag_is_set(&mut self, flag: Var) -> Value {
        let flag = self.flag(flag);
        self.b.non_zero_int(flag)
    }

    fn flag(&mut self, flag: Var) -> Value {
        let address = self.b.var_addr(flag);
        self.b.load(address, FLAG, 1, false)
    }

    pub(super) fn set_flag(&mut self, flag: Var, to: i64) {
        let address = self.b.var_addr(flag);
        let value = self.b.int(FLAG, to);
        self.b.store(address, value, 1, false);
    }

    /// Creates a flag and clears it here.
    fn new_flag(&mut self) -> Var {
        let flag = self.b.function.new_var("", 1, 1);
        self.set_flag(flag, 0);
        flag
    }

    /// Creates a target for jumps to the end of the statement that is lowered next. `nested` means that some of these
    /// jumps need a flag.
    pub(super) fn end_target(&mut self, nested: bool) -> Jump<'p> {
        Jump::End { flag: nested.then(|| self.new_flag()), tail: true }
    }

    fn jump(&mut self, jump: Jump<'p>, what: &str) {
        match jump {
            Jump::None => self.b.fail(format!("internal error: '{what}' has no target here")),
            Jump::Break => self.b.effect(Op::Break(Vec::new())),
            Jump::Continue(end) => self.end_iteration(end),
            Jump::FlagAndBreak(flag) => {
                self.set_flag(flag, 1);
                self.b.effect(Op::Break(Vec::new()));
            }
            Jump::End { tail: true, .. } => {}
            Jump::End { flag: Some(flag), tail: false } => self.set_flag(flag, 1),
            Jump::End { flag: None, tail: false } => self.b.fail(format!("internal error: '{what}' without a flag")),
        }
    }

    fn statement(&mut self, stmt: &'p Stmt, jumps: Jumps<'p>) {
        self.b.span = stmt.span;
        self.outer = jumps;
        match self.irregular.clone() {
            Some(irregular) if irregular.needs_blocks(stmt) => super::blocks::lower_statement(self, irregular, stmt),
            _ if self.needs_loop(stmt, jumps) => self.run_as_loop(stmt, jumps),
            _ => self.plain_statement(stmt, jumps),
        }
    }

    fn plain_statement(&mut self, stmt: &'p Stmt, jumps: Jumps<'p>) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Local { local, init } => {
                if let Some(init) = init {
                    self.initialise(*local, init);
                }
            }
            StmtKind::Block(stmts) => self.block(stmts, jumps),
            StmtKind::If { cond, then, els } => {
                let els: &[Stmt] = els.as_deref().map_or(&[], scan::statements);
                self.if_statement(cond, Remaining::only(scan::statements(then)), Remaining::only(els), jumps);
            }
            StmtKind::While { cond, body, unroll } => {
                self.loop_statement(Some(cond), body, IterationEnd { step: None, cond: None }, *unroll)
            }
            StmtKind::For { cond, step, body, unroll } => {
                self.loop_statement(cond.as_ref(), body, IterationEnd { step: step.as_ref(), cond: None }, *unroll)
            }
            StmtKind::DoWhile { body, cond, .. } if known_condition(cond) == Some(false) => self.do_while_zero(body),
            StmtKind::DoWhile { body, cond, unroll } => {
                self.loop_statement(None, body, IterationEnd { step: None, cond: Some(cond) }, *unroll)
            }
            StmtKind::Switch { cond, body } => self.switch(cond, body, jumps),
            StmtKind::Break => self.jump(jumps.on_break, "break"),
            StmtKind::Continue => self.jump(jumps.on_continue, "continue"),
            StmtKind::Goto(_) => self.b.fail("internal error: 'goto' outside of blocks"),
            StmtKind::Return(value) => self.return_(value.as_ref()),
            StmtKind::Empty | StmtKind::Label(_) => {}
            StmtKind::Case { .. } | StmtKind::Default => {
                self.b.fail("'case' or 'default' in a statement expression is not supported if its 'switch' is outside of the expression");
            }
        }
    }

    /// Whether a statement must become a loop with one iteration, because its expressions jump to the end of an
    /// enclosing statement.
    fn needs_loop(&self, stmt: &Stmt, jumps: Jumps<'p>) -> bool {
        self.function.expression_jumps
            && matches!(
                stmt.kind,
                StmtKind::Expr(_) | StmtKind::Local { .. } | StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::Return(_)
            )
            && only_ends(scan::expression_leaves(stmt), jumps).any()
    }

    /// Lowers a statement as `loop { statement; break }`.
    fn run_as_loop(&mut self, stmt: &'p Stmt, jumps: Jumps<'p>) {
        let inner = self.inner_jumps(&scan::leaves(stmt, true));
        self.b.open();
        self.outer = inner;
        self.plain_statement(stmt, inner);
        let body = self.b.close(Op::Break(Vec::new()));
        self.b.loop_(body, None);
        self.continue_jumps(jumps, inner);
    }

    /// Creates the jump targets inside of an IR loop that does not represent a loop of the source.
    pub(super) fn inner_jumps(&mut self, leaves: &Leaves) -> Jumps<'p> {
        let mut flag_jump = |occurs: bool| if occurs { Jump::FlagAndBreak(self.new_flag()) } else { Jump::None };
        Jumps { on_break: flag_jump(leaves.by_break), on_continue: flag_jump(leaves.by_continue) }
    }

    /// Emits, after an IR loop, the second part of each jump that left the loop: a test of the jump's flag, and a jump
    /// to the final target.
    pub(super) fn continue_jumps(&mut self, jumps: Jumps<'p>, inner: Jumps<'p>) {
        for (inner, outer, what) in [(inner.on_break, jumps.on_break, "break"), (inner.on_continue, jumps.on_continue, "continue")] {
            if let Jump::FlagAndBreak(flag) = inner {
                let set = self.flag_is_set(flag);
                self.branch(set, |this| this.jump(outer, what), |_| ());
            }
        }
    }

    // ---- kinds of statements ----

    fn if_statement(&mut self, cond: &'p Expr, then: Remaining<'_, 'p>, els: Remaining<'_, 'p>, jumps: Jumps<'p>) {
        if let Some(links) = chain(cond, then, els) {
            self.else_ifs(&links, jumps);
            return;
        }
        // Without `else`, a false left operand of `&&` has the same effect as a false right operand. So `if (a && b)`
        // becomes two nested `if`s.
        if let ExprKind::LogAnd(lhs, rhs) = &cond.kind
            && els.is_empty()
            && !self.is_cheap(rhs)
        {
            let flag = self.condition(lhs);
            self.b.span = lhs.span;
            self.branch(flag, |this| this.if_statement(rhs, then, els, jumps), |_| ());
            return;
        }
        let flag = self.condition(cond);
        self.b.span = cond.span;
        self.branch(flag, |this| this.sequence(then, jumps), |this| this.sequence(els, jumps));
    }

    /// Lowers a long chain of `else if`. It is split into consecutive statements to avoid nesting:
    /// ```text
    /// rest = 0; if (a) A else if (b) B else rest = 1;   if (rest) { rest = 0; if (c) C else ... }
    /// ```
    fn else_ifs(&mut self, links: &[Link<'_, 'p>], jumps: Jumps<'p>) {
        let rest = self.b.function.new_var("", 1, 1);
        let mut pieces = links.chunks(MAX_CHAIN).peekable();
        let mut first = true;
        while let Some(piece) = pieces.next() {
            let jumps = if pieces.peek().is_some() { jumps.before_more() } else { jumps };
            let more = pieces.peek().is_some().then_some(rest);
            if std::mem::take(&mut first) {
                self.links(piece, more, jumps);
                continue;
            }
            let runs = self.flag_is_set(rest);
            self.branch(runs, |this| this.links(piece, more, jumps), |_| ());
        }
    }

    fn links(&mut self, piece: &[Link<'_, 'p>], more: Option<Var>, jumps: Jumps<'p>) {
        if let Some(flag) = more {
            self.set_flag(flag, 0);
        }
        self.link(piece, more, jumps);
    }

    fn link(&mut self, piece: &[Link<'_, 'p>], more: Option<Var>, jumps: Jumps<'p>) {
        match piece {
            [Link { cond: Some(cond), then }, rest @ ..] => {
                self.b.span = cond.span;
                self.outer = jumps;
                let flag = self.condition(cond);
                self.branch(flag, |this| this.sequence(*then, jumps), |this| this.link(rest, more, jumps));
            }
            [Link { cond: None, then }, ..] => self.sequence(*then, jumps),
            [] => {
                if let Some(flag) = more {
                    self.set_flag(flag, 1);
                }
            }
        }
    }

    fn loop_statement(&mut self, cond: Option<&'p Expr>, body: &'p Stmt, end: IterationEnd<'p>, unroll: Option<u32>) {
        let span = self.b.span;
        self.b.open();
        let inside = Jumps { on_break: Jump::Break, on_continue: Jump::None };
        self.outer = inside;
        if let Some(cond) = cond {
            self.break_unless(cond);
        }
        let parts = [end.step, end.cond];
        let once: u32 = parts.iter().flatten().map(|expr| scan::cost(expr, MAX_REPEATED_STEP)).sum();
        let repeats = scan::continues(body);
        let on_continue = if once.saturating_mul(repeats) <= MAX_REPEATED_STEP {
            Jump::Continue(end)
        } else {
            let nested = nested_jumps(scan::statements(body), self.function.expression_jumps).by_continue;
            self.end_target(nested)
        };
        self.block(scan::statements(body), Jumps { on_continue, ..inside });
        self.b.span = span;
        self.outer = inside;
        if !self.b.is_dead() {
            self.end_iteration(end);
        }
        let body = self.b.close(Op::Continue(Vec::new()));
        self.b.loop_(body, unroll);
    }

    /// Lowers the body of `do ... while (0)`.
    fn do_while_zero(&mut self, body: &'p Stmt) {
        let stmts = scan::statements(body);
        let nested = nested_jumps(stmts, self.function.expression_jumps);
        let end = self.end_target(nested.by_break || nested.by_continue);
        self.block(stmts, Jumps { on_break: end, on_continue: end });
    }

    fn end_iteration(&mut self, end: IterationEnd<'p>) {
        if let Some(step) = end.step {
            self.effect(step);
        }
        if let Some(cond) = end.cond {
            self.break_unless(cond);
        }
        self.b.effect(Op::Continue(Vec::new()));
    }

    fn break_unless(&mut self, cond: &'p Expr) {
        if let ExprKind::LogAnd(lhs, rhs) = &cond.kind {
            self.break_unless(lhs);
            self.break_unless(rhs);
            return;
        }
        let flag = self.condition(cond);
        self.b.span = cond.span;
        self.branch(flag, |_| (), |this| this.b.effect(Op::Break(Vec::new())));
    }
}

/// Removes the jumps whose targets are not ends of statements.
pub(super) fn only_ends(mut leaves: Leaves, jumps: Jumps<'_>) -> Leaves {
    leaves.by_break &= jumps.on_break.is_end();
    leaves.by_continue &= jumps.on_continue.is_end();
    leaves
}

/// Finds the jumps out of a list that are nested in statements other than blocks. `deep` is the parameter of
/// [`scan::leaves`].
pub(super) fn nested_jumps(stmts: &[Stmt], deep: bool) -> Leaves {
    let mut found = Leaves::default();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Block(stmts) => found.add(nested_jumps(stmts, deep)),
            _ => found.add(scan::leaves(stmt, deep)),
        }
    }
    found
}

/// The type of the flags that jumps set.
const FLAG: Type = Type::Scalar(Scalar::I8);

/// One condition of a chain and its statements, or the last `else`.
struct Link<'a, 'p> {
    cond: Option<&'p Expr>,
    then: Remaining<'a, 'p>,
}

/// Returns the links of a chain of `else if`, or `None` if the chain is short enough to nest.
fn chain<'a, 'p>(cond: &'p Expr, then: Remaining<'a, 'p>, els: Remaining<'a, 'p>) -> Option<Vec<Link<'a, 'p>>> {
    let mut links = vec![Link { cond: Some(cond), then }];
    let mut rest = els;
    while let Remaining { stmts: [Stmt { kind: StmtKind::If { cond, then, els }, .. }], next: None } = rest {
        links.push(Link { cond: Some(cond), then: Remaining::only(scan::statements(then)) });
        rest = Remaining::only(els.as_deref().map_or(&[], scan::statements));
    }
    if links.len() <= MAX_CHAIN {
        return None;
    }
    if !rest.is_empty() {
        links.push(Link { cond: None, then: rest });
    }
    Some(links)
}

/// Returns the value of a constant integer condition, or `None` for other conditions.
pub(super) fn known_condition(expr: &Expr) -> Option<bool> {
    match &expr.kind {
        ExprKind::Constant(Constant::Int(bits)) => Some(*bits != 0),
        ExprKind::Cast(CastKind::Arith, inner) => known_condition(inner),
        _ => None,
    }
}
