//! Analyses of the typed tree before lowering.

use crate::thir::visit::{self, children, expressions, nested};
use crate::thir::{Expr, ExprKind, Function, LabelId, LocalId, Lvalue, LvalueKind, Stmt, StmtKind};

// ---- what happens to parameters ----

/// The locals that are assigned or whose address is taken.
pub(super) struct Usage {
    written: Vec<bool>,
    /// Whether a switch has labels in nested statements.
    pub(super) has_deep_labels: bool,
}

impl Usage {
    pub(super) fn is_written(&self, id: LocalId) -> bool {
        self.written.get(id.index()).copied().unwrap_or(true)
    }

    fn mark(&mut self, lvalue: &Lvalue) {
        match &lvalue.kind {
            LvalueKind::Local(id) => {
                if let Some(entry) = self.written.get_mut(id.index()) {
                    *entry = true;
                }
            }
            LvalueKind::Field { base, .. }
            | LvalueKind::Element { base, .. }
            | LvalueKind::Lanes { base, .. }
            | LvalueKind::LaneDyn { base, .. } => self.mark(base),
            LvalueKind::Global(_) | LvalueKind::Deref(_) | LvalueKind::Temporary(_) | LvalueKind::Compound { .. } => {}
        }
    }
}

pub(super) fn usage(function: &Function, body: &[Stmt]) -> Usage {
    let mut usage = Usage { written: vec![false; function.locals.len()], has_deep_labels: false };
    // Uses an explicit stack, because expressions may nest too deeply for recursion.
    let mut exprs: Vec<&Expr> = Vec::new();
    let mut stmts: Vec<&Stmt> = body.iter().collect();
    loop {
        if let Some(expr) = exprs.pop() {
            match &expr.kind {
                ExprKind::Assign { lvalue, .. }
                | ExprKind::CompoundAssign { lvalue, .. }
                | ExprKind::PointerAssign { lvalue, .. }
                | ExprKind::IncDec { lvalue, .. }
                | ExprKind::AddrOf(lvalue)
                | ExprKind::Decay(lvalue) => usage.mark(lvalue),
                ExprKind::StmtExpr { stmts: inner, .. } => stmts.extend(inner),
                _ => {}
            }
            children(expr, &mut exprs);
        } else if let Some(stmt) = stmts.pop() {
            if let StmtKind::Switch { body, .. } = &stmt.kind {
                usage.has_deep_labels |= has_deep_labels(body);
            }
            nested(stmt, &mut stmts);
            expressions(stmt, &mut exprs);
        } else {
            return usage;
        }
    }
}

// ---- sizes ----

/// Returns the estimated number of instructions of an expression. Stops when the number exceeds `limit`. A call counts
/// as 50, because it may be inlined.
pub(super) fn cost(expr: &Expr, limit: u32) -> u32 {
    let mut total = 0;
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        total += match expr.kind {
            ExprKind::Call { .. } | ExprKind::CallLanes { .. } | ExprKind::StmtExpr { .. } => 50,
            _ => 1,
        };
        if total > limit {
            return total;
        }
        children(expr, &mut stack);
    }
    total
}

/// Whether an expression is cheap and may be evaluated even if its value is not needed. Such an expression has no side
/// effects and reads no memory except variables.
pub(super) fn is_cheap(expr: &Expr) -> bool {
    let mut budget = 8_u32;
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        let Some(left) = budget.checked_sub(1) else { return false };
        budget = left;
        let fits = match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Unary(..) | ExprKind::Swizzle(..) | ExprKind::Cast(..) | ExprKind::PointerCompare { .. } => {
                true
            }
            ExprKind::Binary { op, .. } => !matches!(op, crate::thir::BinaryOp::Div | crate::thir::BinaryOp::Rem),
            ExprKind::Load(lvalue) => !lvalue.ty.is_volatile && is_variable(lvalue),
            ExprKind::AddrOf(lvalue) | ExprKind::Decay(lvalue) => is_variable(lvalue),
            _ => false,
        };
        if !fits {
            return false;
        }
        children(expr, &mut stack);
    }
    true
}

fn is_variable(lvalue: &Lvalue) -> bool {
    match &lvalue.kind {
        LvalueKind::Local(_) => !lvalue.ty.is_volatile,
        LvalueKind::Lanes { base, .. } | LvalueKind::Field { base, .. } => is_variable(base),
        _ => false,
    }
}

// ---- control flow ----

/// Whether the end of a statement may be reachable.
pub(super) fn may_complete(mut stmt: &Stmt) -> bool {
    loop {
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Goto(_) => return false,
            StmtKind::Block(stmts) => return stmts.iter().all(may_complete),
            StmtKind::If { then, els: Some(els), .. } => {
                if may_complete(then) {
                    return true;
                }
                stmt = els;
            }
            _ => return true,
        }
    }
}

/// The jumps in a statement whose targets are outside of the statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaves {
    pub(super) by_break: bool,
    pub(super) by_continue: bool,
    /// Target labels of `goto`s, without duplicates.
    pub(super) labels: Vec<LabelId>,
}

impl Leaves {
    pub(super) const fn any(&self) -> bool {
        self.by_break || self.by_continue || !self.labels.is_empty()
    }

    pub(super) fn add(&mut self, other: Self) {
        self.by_break |= other.by_break;
        self.by_continue |= other.by_continue;
        self.labels.extend(other.labels);
        self.labels.sort_unstable();
        self.labels.dedup();
    }
}

/// Computes the jumps that leave a statement. `deep` means that the bodies of loops, which a `goto` may leave, and
/// statement expressions are also visited.
pub(super) fn leaves(stmt: &Stmt, deep: bool) -> Leaves {
    leaves_of(vec![(stmt, Inside::default())], deep)
}

/// Computes the jumps that leave a list of statements, including jumps from statement expressions.
pub(super) fn leaves_of_list(stmts: &[Stmt]) -> Leaves {
    leaves_of(stmts.iter().map(|stmt| (stmt, Inside::default())).collect(), true)
}

/// Computes the jumps in the expressions of a statement that leave the statement.
pub(super) fn expression_leaves(stmt: &Stmt) -> Leaves {
    leaves_of(visit::in_expressions(stmt).into_iter().map(|stmt| (stmt, Inside::default())).collect(), true)
}

/// Computes the jumps that leave an expression.
pub(super) fn leaves_in(expr: &Expr) -> Leaves {
    leaves_of(visit::in_expression(expr).into_iter().map(|stmt| (stmt, Inside::default())).collect(), true)
}

/// The constructs between the analysed statement and a nested statement.
#[derive(Clone, Copy, Default)]
struct Inside {
    in_loop: bool,
    in_switch: bool,
}

fn leaves_of(mut stack: Vec<(&Stmt, Inside)>, deep: bool) -> Leaves {
    let mut found = Leaves::default();
    let mut inner = Vec::new();
    while let Some((stmt, inside)) = stack.pop() {
        let is_loop = matches!(stmt.kind, StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::For { .. });
        let within = Inside { in_loop: inside.in_loop || is_loop, in_switch: inside.in_switch };
        match &stmt.kind {
            StmtKind::Break => found.by_break |= !inside.in_switch && !inside.in_loop,
            StmtKind::Continue => found.by_continue |= !inside.in_loop,
            StmtKind::Goto(label) => found.labels.push(*label),
            StmtKind::Label(label) => inner.push(*label),
            StmtKind::Block(stmts) => stack.extend(stmts.iter().map(|s| (s, inside))),
            StmtKind::If { then, els, .. } => {
                stack.push((then, inside));
                stack.extend(els.as_deref().map(|s| (s, inside)));
            }
            StmtKind::Switch { body, .. } => stack.push((body, Inside { in_switch: true, ..inside })),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::For { body, .. } if deep => {
                stack.push((body, within))
            }
            _ => {}
        }
        if deep {
            stack.extend(visit::in_expressions(stmt).into_iter().map(|s| (s, within)));
        }
    }
    found.labels.sort_unstable();
    found.labels.dedup();
    found.labels.retain(|label| !inner.contains(label));
    found
}

/// Counts the `continue` statements in the body of a loop that continue this loop.
pub(super) fn continues(body: &Stmt) -> u32 {
    let mut count = 0;
    let mut stack = vec![body];
    while let Some(stmt) = stack.pop() {
        match &stmt.kind {
            StmtKind::Continue => count += 1,
            StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::For { .. } => {}
            _ => nested(stmt, &mut stack),
        }
    }
    count
}

/// Returns the statements of a block, or the single statement.
pub(super) fn statements(stmt: &Stmt) -> &[Stmt] {
    match &stmt.kind {
        StmtKind::Block(stmts) => stmts,
        _ => std::slice::from_ref(stmt),
    }
}

/// Whether a statement contains a `case` or `default` of an enclosing switch.
pub(super) fn has_labels(stmt: &Stmt) -> bool {
    let mut stack = vec![stmt];
    while let Some(stmt) = stack.pop() {
        match &stmt.kind {
            StmtKind::Case { .. } | StmtKind::Default => return true,
            StmtKind::Switch { .. } => {}
            _ => nested(stmt, &mut stack),
        }
    }
    false
}

/// Whether the body of a switch has labels below its top level.
pub(super) fn has_deep_labels(body: &Stmt) -> bool {
    statements(body).iter().any(|stmt| !matches!(stmt.kind, StmtKind::Case { .. } | StmtKind::Default) && has_labels(stmt))
}
