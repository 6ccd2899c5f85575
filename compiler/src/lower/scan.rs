//! Questions about the typed tree that are asked before it is lowered.

use crate::thir::{Expr, ExprKind, Function, Init, LocalId, Place, PlaceKind, Stmt, StmtKind};

// ---- what happens to parameters ----

/// Which locals are assigned or have their address taken.
pub(super) struct Usage {
    written: Vec<bool>,
}

impl Usage {
    pub(super) fn is_written(&self, id: LocalId) -> bool {
        self.written.get(id.index()).copied().unwrap_or(true)
    }

    fn mark(&mut self, place: &Place) {
        match &place.kind {
            PlaceKind::Local(id) => {
                if let Some(entry) = self.written.get_mut(id.index()) {
                    *entry = true;
                }
            }
            PlaceKind::Field { base, .. }
            | PlaceKind::Element { base, .. }
            | PlaceKind::Lanes { base, .. }
            | PlaceKind::LaneDyn { base, .. } => self.mark(base),
            PlaceKind::Global(_) | PlaceKind::Deref(_) | PlaceKind::Temporary(_) | PlaceKind::Compound { .. } => {}
        }
    }
}

/// Finds what [`Usage`] holds.
pub(super) fn usage(function: &Function, body: &[Stmt]) -> Usage {
    let mut usage = Usage { written: vec![false; function.locals.len()] };
    // An explicit stack: expressions may be very deep.
    let mut exprs: Vec<&Expr> = Vec::new();
    let mut stmts: Vec<&Stmt> = body.iter().collect();
    loop {
        if let Some(expr) = exprs.pop() {
            match &expr.kind {
                ExprKind::Assign { place, .. }
                | ExprKind::CompoundAssign { place, .. }
                | ExprKind::PointerAssign { place, .. }
                | ExprKind::IncDec { place, .. }
                | ExprKind::AddrOf(place)
                | ExprKind::Decay(place) => usage.mark(place),
                ExprKind::StmtExpr { stmts: inner, .. } => stmts.extend(inner),
                _ => {}
            }
            children(expr, &mut exprs);
        } else if let Some(stmt) = stmts.pop() {
            nested(stmt, &mut stmts);
            expressions(stmt, &mut exprs);
        } else {
            return usage;
        }
    }
}

fn place_children<'a>(place: &'a Place, out: &mut Vec<&'a Expr>) {
    match &place.kind {
        PlaceKind::Local(_) | PlaceKind::Global(_) => {}
        PlaceKind::Deref(expr) | PlaceKind::Temporary(expr) => out.push(expr),
        PlaceKind::Field { base, .. } | PlaceKind::Lanes { base, .. } => place_children(base, out),
        PlaceKind::Element { base, index } | PlaceKind::LaneDyn { base, index } => {
            out.push(index);
            place_children(base, out);
        }
        PlaceKind::Compound { init, .. } => init_children(init, out),
    }
}

fn init_children<'a>(init: &'a Init, out: &mut Vec<&'a Expr>) {
    match init {
        Init::Expr(expr) => out.push(expr),
        Init::Parts { parts, .. } => out.extend(parts.iter().map(|(_, expr)| expr)),
    }
}

/// The expressions directly inside one, those of statement expressions' statements excepted.
fn children<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Constant(_) => {}
        ExprKind::Load(place) | ExprKind::AddrOf(place) | ExprKind::Decay(place) | ExprKind::IncDec { place, .. } => {
            place_children(place, out)
        }
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Swizzle(a, _) => out.push(a),
        ExprKind::Binary { lhs, rhs, .. }
        | ExprKind::LogAnd(lhs, rhs)
        | ExprKind::LogOr(lhs, rhs)
        | ExprKind::PointerDiff { lhs, rhs, .. }
        | ExprKind::PointerCompare { lhs, rhs, .. }
        | ExprKind::Comma(lhs, rhs)
        | ExprKind::PointerAdd { pointer: lhs, index: rhs, .. } => out.extend([&**lhs, &**rhs]),
        ExprKind::Cond { cond, then, els } | ExprKind::VecSelect { cond, then, els } => out.extend([&**cond, &**then, &**els]),
        ExprKind::Assign { place, value }
        | ExprKind::CompoundAssign { place, value, .. }
        | ExprKind::PointerAssign { place, index: value, .. } => {
            place_children(place, out);
            out.push(value);
        }
        ExprKind::Call { args, .. }
        | ExprKind::CallLanes { args, .. }
        | ExprKind::Native { args, .. }
        | ExprKind::Printf { args, .. }
        | ExprKind::VectorLit(args) => out.extend(args),
        ExprKind::StmtExpr { value, .. } => out.extend(value.as_deref()),
    }
}

/// The statements directly inside one.
fn nested<'a>(stmt: &'a Stmt, out: &mut Vec<&'a Stmt>) {
    match &stmt.kind {
        StmtKind::Block(stmts) => out.extend(stmts),
        StmtKind::If { then, els, .. } => {
            out.push(then);
            out.extend(els.as_deref());
        }
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::For { body, .. } | StmtKind::Switch { body, .. } => {
            out.push(body);
        }
        _ => {}
    }
}

/// The expressions directly inside a statement.
fn expressions<'a>(stmt: &'a Stmt, out: &mut Vec<&'a Expr>) {
    match &stmt.kind {
        StmtKind::Expr(expr) => out.push(expr),
        StmtKind::Local { init: Some(init), .. } => init_children(init, out),
        StmtKind::If { cond, .. } | StmtKind::While { cond, .. } | StmtKind::DoWhile { cond, .. } | StmtKind::Switch { cond, .. } => {
            out.push(cond)
        }
        StmtKind::For { cond, step, .. } => {
            out.extend(cond);
            out.extend(step);
        }
        StmtKind::Return(value) => out.extend(value),
        _ => {}
    }
}

// ---- sizes ----

/// Roughly how many instructions an expression takes, counted up to a limit; calls count much because they may be expanded.
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

/// Whether an expression may be evaluated although its value is not needed, and is cheap enough to be: no side effects, no memory but
/// variables.
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
            ExprKind::Load(place) => !place.ty.is_volatile && is_variable(place),
            ExprKind::AddrOf(place) | ExprKind::Decay(place) => is_variable(place),
            _ => false,
        };
        if !fits {
            return false;
        }
        children(expr, &mut stack);
    }
    true
}

fn is_variable(place: &Place) -> bool {
    match &place.kind {
        PlaceKind::Local(_) => !place.ty.is_volatile,
        PlaceKind::Lanes { base, .. } | PlaceKind::Field { base, .. } => is_variable(base),
        _ => false,
    }
}

// ---- control flow ----

/// Whether what follows a statement can be reached from its end. Errs towards yes.
pub(super) fn completes(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Goto(_) => false,
        StmtKind::Block(stmts) => stmts.iter().all(completes),
        StmtKind::If { then, els: Some(els), .. } => completes(then) || completes(els),
        _ => true,
    }
}

/// Jumps in a statement that leave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaves {
    pub(super) by_break: bool,
    pub(super) by_continue: bool,
}

impl Leaves {
    pub(super) const fn any(self) -> bool {
        self.by_break || self.by_continue
    }
}

/// Finds what [`Leaves`] holds.
pub(super) fn leaves(stmt: &Stmt) -> Leaves {
    let mut found = Leaves::default();
    // With each statement: whether it is inside a switch of the statement asked about.
    let mut stack = vec![(stmt, false)];
    while let Some((stmt, in_switch)) = stack.pop() {
        match &stmt.kind {
            StmtKind::Break => found.by_break |= !in_switch,
            StmtKind::Continue => found.by_continue = true,
            StmtKind::Block(stmts) => stack.extend(stmts.iter().map(|s| (s, in_switch))),
            StmtKind::If { then, els, .. } => {
                stack.push((then, in_switch));
                stack.extend(els.as_deref().map(|s| (s, in_switch)));
            }
            StmtKind::Switch { body, .. } => stack.push((body, true)),
            _ => {}
        }
    }
    found
}

/// How many `continue`s of a loop its body has.
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

/// The statements of a block, or the one statement.
pub(super) fn statements(stmt: &Stmt) -> &[Stmt] {
    match &stmt.kind {
        StmtKind::Block(stmts) => stmts,
        _ => std::slice::from_ref(stmt),
    }
}

/// Whether a statement has a `case` or `default` of an enclosing switch inside.
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

/// Whether a body has a `goto`, or a `case` anywhere but at the top of its switch.
pub(super) fn needs_flattening(body: &[Stmt]) -> bool {
    let mut stack: Vec<&Stmt> = body.iter().collect();
    while let Some(stmt) = stack.pop() {
        match &stmt.kind {
            StmtKind::Goto(_) => return true,
            StmtKind::Switch { body, .. } => {
                let deep = |s: &Stmt| !matches!(s.kind, StmtKind::Case { .. } | StmtKind::Default) && has_labels(s);
                if statements(body).iter().any(deep) {
                    return true;
                }
                stack.push(body);
            }
            _ => nested(stmt, &mut stack),
        }
    }
    false
}

/// Whether a statement can be lowered as one piece of a flattened function: nothing jumps into it or, but for `return`, out of it.
pub(super) fn is_closed(stmt: &Stmt) -> bool {
    if leaves(stmt).any() || needs_flattening(std::slice::from_ref(stmt)) || has_labels(stmt) {
        return false;
    }
    let mut stack = vec![stmt];
    while let Some(stmt) = stack.pop() {
        if matches!(stmt.kind, StmtKind::Label(_)) {
            return false;
        }
        nested(stmt, &mut stack);
    }
    true
}
