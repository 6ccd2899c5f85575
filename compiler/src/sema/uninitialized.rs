//! Warnings about variables that are read before any assignment, clang's `-Wuninitialized`.
//!
//! The analysis follows a function in evaluation order. Its state is the set of variables that may have a value: at
//! least one path assigns to them, or their address was taken. A read of a variable outside of this set is always
//! wrong. Before a loop, the variables that the loop assigns are added, because an earlier iteration may have assigned
//! them. Functions with labels are not analysed.

use super::Sema;
use crate::diag::{Diagnostic, Span, WarningGroup};
use crate::thir::visit::{children, expressions, in_expressions, init_children, lvalue_children, nested};
use crate::thir::{CastKind, Expr, ExprKind, FuncId, Function, Init, LocalId, Lvalue, LvalueKind, Stmt, StmtKind};

/// A set of the variables of a function, one bit for each.
#[derive(Clone)]
struct Locals(Vec<u64>);

impl Locals {
    /// Creates the set of all `count` variables.
    fn all(count: usize) -> Self {
        Self(vec![u64::MAX; count.div_ceil(64)])
    }

    fn contains(&self, local: LocalId) -> bool {
        self.0[local.index() / 64] >> (local.index() % 64) & 1 != 0
    }

    fn set(&mut self, local: LocalId, present: bool) {
        let (word, bit) = (&mut self.0[local.index() / 64], 1 << (local.index() % 64));
        if present { *word |= bit } else { *word &= !bit }
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}

/// A pending action of the analysis. A stack of actions replaces recursion, because trees may be very deep.
enum Step<'a> {
    Expr(&'a Expr),
    Stmt(&'a Stmt),
    /// The use of a variable as a value.
    Read(LocalId, Span),
    Assign(LocalId),
    Declare(LocalId),
    /// Saves the state before two branches.
    Save,
    /// Exchanges the current state, after the first branch, with the saved state before the branches.
    Exchange,
    /// Adds the saved state, after the first branch, to the current state, after the second branch.
    Join,
}

struct Analysis<'a> {
    steps: Vec<Step<'a>>,
    assigned: Locals,
    saved: Vec<Locals>,
    /// The first wrong read of each variable.
    reads: Vec<(LocalId, Span)>,
}

impl Sema<'_> {
    /// Warns about variables of a function that are read before any assignment.
    pub(super) fn warn_of_uninitialized(&mut self, id: FuncId) {
        let function = &self.functions[id.index()];
        if !self.reports_warnings() || self.diags.has_errors() || !function.labels.is_empty() {
            return;
        }
        for (local, span) in reads_without_value(function) {
            let Some(variable) = self.functions[id.index()].locals.get(local.index()) else { continue };
            let name = variable.name.clone();
            let warning =
                Diagnostic::warning(WarningGroup::Uninitialized, span, format!("variable '{name}' is uninitialized when used here"));
            let warning = warning.with_note(variable.span, format!("initialize the variable '{name}' to silence this warning"));
            self.warn_with(warning);
        }
    }
}

fn reads_without_value(function: &Function) -> Vec<(LocalId, Span)> {
    // Parameters and captures of blocks have values. A declaration removes the value of its variable.
    let assigned = Locals::all(function.locals.len());
    let mut analysis = Analysis { steps: Vec::new(), assigned, saved: Vec::new(), reads: Vec::new() };
    analysis.steps.extend(function.body.iter().flatten().rev().map(Step::Stmt));
    while let Some(step) = analysis.steps.pop() {
        analysis.step(step);
    }
    analysis.reads
}

impl<'a> Analysis<'a> {
    fn step(&mut self, step: Step<'a>) {
        match step {
            Step::Expr(expr) => self.expr(expr),
            Step::Stmt(stmt) => self.stmt(stmt),
            Step::Read(local, span) => {
                if !self.assigned.contains(local) {
                    self.reads.push((local, span));
                    self.assigned.set(local, true);
                }
            }
            Step::Assign(local) => self.assigned.set(local, true),
            Step::Declare(local) => self.assigned.set(local, false),
            Step::Save => self.saved.push(self.assigned.clone()),
            Step::Exchange => {
                if let Some(saved) = self.saved.last_mut() {
                    std::mem::swap(saved, &mut self.assigned);
                }
            }
            Step::Join => {
                if let Some(first) = self.saved.pop() {
                    self.assigned.add(&first);
                }
            }
        }
    }

    /// Schedules steps, in order.
    fn then(&mut self, steps: impl IntoIterator<Item = Step<'a>, IntoIter: DoubleEndedIterator>) {
        self.steps.extend(steps.into_iter().rev());
    }

    fn then_operands(&mut self, operands: Vec<&'a Expr>) {
        self.then(operands.into_iter().map(Step::Expr));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Local { local, init } => self.declaration(*local, init.as_ref()),
            StmtKind::Block(stmts) => self.then(stmts.iter().map(Step::Stmt)),
            StmtKind::If { cond, then, els } => {
                let steps = [Step::Expr(cond), Step::Save, Step::Stmt(then), Step::Exchange];
                self.then(steps.into_iter().chain(els.as_deref().map(Step::Stmt)).chain([Step::Join]).collect::<Vec<_>>());
            }
            StmtKind::While { cond, body, .. } => {
                self.assign_all(stmt);
                self.then([Step::Expr(cond), Step::Stmt(body)]);
            }
            StmtKind::DoWhile { body, cond, .. } => {
                self.assign_all(stmt);
                self.then([Step::Stmt(body), Step::Expr(cond)]);
            }
            StmtKind::For { cond, step, body, .. } => {
                self.assign_all(stmt);
                let (cond, step) = (cond.iter().map(Step::Expr), step.iter().map(Step::Expr));
                self.then(cond.chain([Step::Stmt(body)]).chain(step).collect::<Vec<_>>());
            }
            StmtKind::Switch { cond, body } => self.then([Step::Expr(cond), Step::Stmt(body)]),
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => self.steps.push(Step::Expr(expr)),
            StmtKind::Case { .. }
            | StmtKind::Default
            | StmtKind::Label(_)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Empty => {}
        }
    }

    fn declaration(&mut self, local: LocalId, init: Option<&'a Init>) {
        let Some(init) = init else { return self.steps.push(Step::Declare(local)) };
        // `int x = x;` silences the warning, as in clang.
        let is_own = matches!(init, Init::Expr(Expr { kind: ExprKind::Load(lvalue), .. }) if root(lvalue) == Some(local));
        let mut operands = Vec::new();
        if !is_own {
            init_children(init, &mut operands);
        }
        self.then(
            [Step::Declare(local)].into_iter().chain(operands.into_iter().map(Step::Expr)).chain([Step::Assign(local)]).collect::<Vec<_>>(),
        );
    }

    fn expr(&mut self, expr: &'a Expr) {
        let mut operands = Vec::new();
        match &expr.kind {
            // `(void)x` only silences warnings, so it does not count as a read.
            ExprKind::Cast(CastKind::ToVoid, inner) if matches!(inner.kind, ExprKind::Load(_)) => {}
            ExprKind::Load(lvalue) => {
                lvalue_children(lvalue, &mut operands);
                let read = root(lvalue).map(|local| Step::Read(local, expr.span));
                self.then(operands.into_iter().map(Step::Expr).chain(read).collect::<Vec<_>>());
            }
            ExprKind::AddrOf(lvalue) | ExprKind::Decay(lvalue) => {
                lvalue_children(lvalue, &mut operands);
                self.then(operands.into_iter().map(Step::Expr).chain(root(lvalue).map(Step::Assign)).collect::<Vec<_>>());
            }
            ExprKind::Assign { lvalue, .. } => {
                children(expr, &mut operands);
                self.then(operands.into_iter().map(Step::Expr).chain(root(lvalue).map(Step::Assign)).collect::<Vec<_>>());
            }
            ExprKind::CompoundAssign { lvalue, .. } | ExprKind::PointerAssign { lvalue, .. } | ExprKind::IncDec { lvalue, .. } => {
                children(expr, &mut operands);
                let read = root(lvalue).map(|local| Step::Read(local, lvalue.span));
                self.then(operands.into_iter().map(Step::Expr).chain(read).collect::<Vec<_>>());
            }
            ExprKind::Cond { cond, then, els } => {
                self.then([Step::Expr(cond), Step::Save, Step::Expr(then), Step::Exchange, Step::Expr(els), Step::Join]);
            }
            ExprKind::StmtExpr { stmts, value } => {
                self.then(stmts.iter().map(Step::Stmt).chain(value.iter().map(|value| Step::Expr(value))).collect::<Vec<_>>());
            }
            _ => {
                children(expr, &mut operands);
                self.then_operands(operands);
            }
        }
    }

    /// Adds all variables to which a loop assigns, or whose address it takes.
    fn assign_all(&mut self, stmt: &'a Stmt) {
        let mut stmts = vec![stmt];
        while let Some(stmt) = stmts.pop() {
            nested(stmt, &mut stmts);
            stmts.extend(in_expressions(stmt));
            let mut exprs = Vec::new();
            expressions(stmt, &mut exprs);
            while let Some(expr) = exprs.pop() {
                children(expr, &mut exprs);
                if let ExprKind::Assign { lvalue, .. }
                | ExprKind::CompoundAssign { lvalue, .. }
                | ExprKind::PointerAssign { lvalue, .. }
                | ExprKind::IncDec { lvalue, .. }
                | ExprKind::AddrOf(lvalue)
                | ExprKind::Decay(lvalue) = &expr.kind
                    && let Some(local) = root(lvalue)
                {
                    self.assigned.set(local, true);
                }
            }
        }
    }
}

/// Returns the variable that contains an lvalue.
fn root(mut lvalue: &Lvalue) -> Option<LocalId> {
    loop {
        match &lvalue.kind {
            LvalueKind::Local(local) => return Some(*local),
            LvalueKind::Field { base, .. }
            | LvalueKind::Element { base, .. }
            | LvalueKind::Lanes { base, .. }
            | LvalueKind::LaneDyn { base, .. } => {
                lvalue = base;
            }
            LvalueKind::Global(_) | LvalueKind::Deref(_) | LvalueKind::Temporary(_) | LvalueKind::Compound { .. } => return None,
        }
    }
}
