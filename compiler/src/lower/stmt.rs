//! Statements.
//!
//! # Jumps
//! `break` out of a loop is the IR's own, and so is `continue` where nothing has to happen between it and the next turn; a short step is written
//! again before each. What is left (`break` out of a `switch`, `continue` in a loop with a long step, both in `do ... while (0)`) goes to the *end*
//! of the statement that it leaves. Such a jump needs no instruction where it is the last thing done before that end. So a list of
//! statements is rewritten as it is lowered:
//! ```text
//! if (c) { A; break; } B   becomes   if (c) { A } else { B }
//! ```
//! Where that does not do, because an `if` may or may not jump, a flag is set by the jump and what follows runs only while it is not set.

use super::function::Lowering;
use super::scan::{self, Leaves};
use crate::ir::{CmpOp, Op, Scalar, Type, Value, Var};
use crate::thir::{CastKind, Constant, Expr, ExprKind, Stmt, StmtKind};

/// How many expression nodes a loop's step may have, written once for each `continue`.
const REPEATED_STEP: u32 = 48;

/// What a turn of a loop ends with.
#[derive(Clone, Copy)]
pub(super) struct TurnEnd<'p> {
    step: Option<&'p Expr>,
    /// The condition of a `do` loop.
    cond: Option<&'p Expr>,
}

/// Where a jump goes.
#[derive(Clone, Copy)]
pub(super) enum Jump<'p> {
    /// There is nothing to jump to.
    Nowhere,
    /// Out of the innermost loop of the IR.
    Out,
    /// To its next turn.
    Next(TurnEnd<'p>),
    /// To the end of an enclosing statement that is no loop of the IR.
    End {
        /// Set by a jump that has something between it and that end; `None` where no jump has.
        flag: Option<Var>,
        /// Whether nothing is, here.
        tail: bool,
    },
}

/// Where `break` and `continue` go.
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

impl<'p> Jumps<'p> {
    pub(super) const NONE: Self = Self { on_break: Jump::Nowhere, on_continue: Jump::Nowhere };

    /// For a statement that others follow.
    pub(super) const fn before_more(self) -> Self {
        Self { on_break: self.on_break.before_more(), on_continue: self.on_continue.before_more() }
    }

    /// The jumps in a statement that go to an end.
    fn to_ends(self, stmt: &Stmt) -> Leaves {
        if !self.on_break.is_end() && !self.on_continue.is_end() {
            return Leaves::default();
        }
        self.only_ends(scan::leaves(stmt))
    }

    pub(super) const fn only_ends(self, leaves: Leaves) -> Leaves {
        Leaves { by_break: leaves.by_break && self.on_break.is_end(), by_continue: leaves.by_continue && self.on_continue.is_end() }
    }
}

/// Statements that are still to be lowered: a list, and what comes after it.
#[derive(Clone, Copy)]
struct Rest<'a, 'p> {
    stmts: &'p [Stmt],
    next: Option<&'a Rest<'a, 'p>>,
}

impl<'a, 'p> Rest<'a, 'p> {
    const fn only(stmts: &'p [Stmt]) -> Self {
        Self { stmts, next: None }
    }

    /// The first statement that does anything, and the rest.
    fn split(mut self) -> Option<(&'p Stmt, Self)> {
        loop {
            match self.stmts {
                [] => self = *self.next?,
                [first, stmts @ ..] => {
                    let rest = Rest { stmts, next: self.next };
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
        self.sequence(Rest::only(stmts), jumps);
    }

    fn sequence(&mut self, mut rest: Rest<'_, 'p>, jumps: Jumps<'p>) {
        while let Some((stmt, after)) = rest.split() {
            if self.b.is_dead() {
                return;
            }
            if after.is_empty() {
                self.statement(stmt, jumps);
                return;
            }
            let leaves = jumps.to_ends(stmt);
            if !leaves.any() {
                self.statement(stmt, jumps.before_more());
                rest = after;
                continue;
            }
            match &stmt.kind {
                StmtKind::Break | StmtKind::Continue => self.statement(stmt, jumps),
                StmtKind::Block(stmts) => self.sequence(Rest { stmts, next: Some(&after) }, jumps),
                StmtKind::If { cond, then, els } => {
                    let els: &[Stmt] = els.as_deref().map_or(&[], scan::statements);
                    let then_goes_on = scan::completes(then);
                    let then = scan::statements(then);
                    match (then_goes_on, els.iter().all(scan::completes)) {
                        (true, true) => self.guarded(stmt, after, leaves, jumps),
                        (true, false) => self.if_statement(cond, Rest { stmts: then, next: Some(&after) }, Rest::only(els), jumps),
                        (false, true) => self.if_statement(cond, Rest::only(then), Rest { stmts: els, next: Some(&after) }, jumps),
                        (false, false) => self.if_statement(cond, Rest::only(then), Rest::only(els), jumps),
                    }
                }
                _ => self.guarded(stmt, after, leaves, jumps),
            }
            return;
        }
    }

    /// A statement that may jump to an end, and what follows unless it did.
    fn guarded(&mut self, stmt: &'p Stmt, after: Rest<'_, 'p>, leaves: Leaves, jumps: Jumps<'p>) {
        self.statement(stmt, jumps.before_more());
        let Some(stays) = self.no_jump(leaves, jumps) else {
            self.sequence(after, jumps);
            return;
        };
        self.b.open();
        self.sequence(after, jumps);
        let then = self.b.close_branch();
        self.b.if_then(stays, then);
    }

    /// Whether no jump of some set its flag; `None` where there is no flag to ask.
    pub(super) fn no_jump(&mut self, leaves: Leaves, jumps: Jumps<'p>) -> Option<Value> {
        let mut result = None;
        let asked = [(leaves.by_break, jumps.on_break), (leaves.by_continue, jumps.on_continue)];
        let mut seen = None;
        for (asked, jump) in asked {
            let Jump::End { flag: Some(flag), .. } = jump else { continue };
            if !asked || seen == Some(flag) {
                continue;
            }
            seen = Some(flag);
            let address = self.b.var_addr(flag);
            let value = self.b.load(address, FLAG, 1, false);
            let clear = self.b.cmp_int(CmpOp::Eq, value, 0);
            result = Some(match result {
                None => clear,
                Some(other) => self.b.and(other, clear),
            });
        }
        result
    }

    /// A target for jumps to the end of what is lowered next.
    pub(super) fn end_target(&mut self, nested: bool) -> Jump<'p> {
        let flag = nested.then(|| {
            let flag = self.b.function.new_var("", 1, 1);
            let address = self.b.var_addr(flag);
            let clear = self.b.int(FLAG, 0);
            self.b.store(address, clear, 1, false);
            flag
        });
        Jump::End { flag, tail: true }
    }

    fn jump(&mut self, jump: Jump<'p>, what: &str) {
        match jump {
            Jump::Nowhere => self.b.fail(format!("'{what}' out of a statement expression is not supported")),
            Jump::Out => self.b.effect(Op::Break(Vec::new())),
            Jump::Next(end) => self.end_turn(end),
            Jump::End { tail: true, .. } => {}
            Jump::End { flag: Some(flag), tail: false } => {
                let address = self.b.var_addr(flag);
                let set = self.b.int(FLAG, 1);
                self.b.store(address, set, 1, false);
            }
            Jump::End { flag: None, tail: false } => self.b.fail(format!("internal error: '{what}' without a flag")),
        }
    }

    fn statement(&mut self, stmt: &'p Stmt, jumps: Jumps<'p>) {
        self.b.span = stmt.span;
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
                self.if_statement(cond, Rest::only(scan::statements(then)), Rest::only(els), jumps);
            }
            StmtKind::While { cond, body, unroll } => {
                self.loop_statement(Some(cond), body, TurnEnd { step: None, cond: None }, *unroll);
            }
            StmtKind::For { cond, step, body, unroll } => {
                self.loop_statement(cond.as_ref(), body, TurnEnd { step: step.as_ref(), cond: None }, *unroll);
            }
            StmtKind::DoWhile { body, cond, .. } if known_condition(cond) == Some(false) => self.once(body),
            StmtKind::DoWhile { body, cond, unroll } => {
                self.loop_statement(None, body, TurnEnd { step: None, cond: Some(cond) }, *unroll);
            }
            StmtKind::Switch { cond, body } => self.switch(cond, body, jumps),
            StmtKind::Break => self.jump(jumps.on_break, "break"),
            StmtKind::Continue => self.jump(jumps.on_continue, "continue"),
            StmtKind::Return(value) => self.return_(value.as_ref()),
            StmtKind::Empty | StmtKind::Label(_) => {}
            StmtKind::Case { .. } | StmtKind::Default | StmtKind::Goto(_) => {
                self.b.fail("internal error: a jump that was not flattened");
            }
        }
    }

    fn if_statement(&mut self, cond: &'p Expr, then: Rest<'_, 'p>, els: Rest<'_, 'p>, jumps: Jumps<'p>) {
        // Without `else` there is no need to know which operand of `&&` was false.
        if let ExprKind::LogAnd(lhs, rhs) = &cond.kind
            && els.is_empty()
            && !scan::is_cheap(rhs)
        {
            let flag = self.condition(lhs);
            self.branch(flag, |this| this.if_statement(rhs, then, els, jumps), |_| ());
            return;
        }
        let flag = self.condition(cond);
        self.branch(flag, |this| this.sequence(then, jumps), |this| this.sequence(els, jumps));
    }

    fn loop_statement(&mut self, cond: Option<&'p Expr>, body: &'p Stmt, end: TurnEnd<'p>, unroll: Option<u32>) {
        let span = self.b.span;
        self.b.open();
        if let Some(cond) = cond {
            self.break_unless(cond);
        }
        let parts = [end.step, end.cond];
        let once: u32 = parts.iter().flatten().map(|expr| scan::cost(expr, REPEATED_STEP)).sum();
        let repeats = scan::continues(body);
        let on_continue = if once.saturating_mul(repeats) <= REPEATED_STEP {
            Jump::Next(end)
        } else {
            self.end_target(nested_jumps(scan::statements(body)).by_continue)
        };
        self.block(scan::statements(body), Jumps { on_break: Jump::Out, on_continue });
        self.b.span = span;
        if !self.b.is_dead() {
            self.end_turn(end);
        }
        let body = self.b.close(Op::Continue(Vec::new()));
        self.b.loop_(body, unroll);
    }

    /// The body of `do ... while (0)`.
    fn once(&mut self, body: &'p Stmt) {
        let stmts = scan::statements(body);
        let end = self.end_target(nested_jumps(stmts).any());
        self.block(stmts, Jumps { on_break: end, on_continue: end });
    }

    fn end_turn(&mut self, end: TurnEnd<'p>) {
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
        self.branch(flag, |_| (), |this| this.b.effect(Op::Break(Vec::new())));
    }
}

/// The type of the flags that jumps set.
const FLAG: Type = Type::Scalar(Scalar::I8);

/// The jumps out of a list that are inside other statements than blocks.
pub(super) fn nested_jumps(stmts: &[Stmt]) -> Leaves {
    let mut found = Leaves::default();
    for stmt in stmts {
        let inner = match &stmt.kind {
            StmtKind::Break | StmtKind::Continue => Leaves::default(),
            StmtKind::Block(stmts) => nested_jumps(stmts),
            _ => scan::leaves(stmt),
        };
        found.by_break |= inner.by_break;
        found.by_continue |= inner.by_continue;
    }
    found
}

/// Whether a condition is a constant.
fn known_condition(expr: &Expr) -> Option<bool> {
    match &expr.kind {
        ExprKind::Constant(Constant::Int(bits)) => Some(*bits != 0),
        ExprKind::Cast(CastKind::Arith, inner) => known_condition(inner),
        _ => None,
    }
}
