//! Visits the direct children of expressions and statements. Callers use a stack instead of recursion, because trees
//! may be very deep.

use super::{Expr, ExprKind, Init, Lvalue, LvalueKind, Stmt, StmtKind};

/// Appends the direct operands of an lvalue.
pub(crate) fn lvalue_children<'a>(lvalue: &'a Lvalue, out: &mut Vec<&'a Expr>) {
    match &lvalue.kind {
        LvalueKind::Local(_) | LvalueKind::Global(_) => {}
        LvalueKind::Deref(expr) | LvalueKind::Temporary(expr) => out.push(expr),
        LvalueKind::Field { base, .. } | LvalueKind::Lanes { base, .. } => lvalue_children(base, out),
        LvalueKind::Element { base, index } | LvalueKind::LaneDyn { base, index } => {
            out.push(index);
            lvalue_children(base, out);
        }
        LvalueKind::Compound { init, .. } => init_children(init, out),
    }
}

pub(crate) fn init_children<'a>(init: &'a Init, out: &mut Vec<&'a Expr>) {
    match init {
        Init::Expr(expr) => out.push(expr),
        Init::Parts { parts, .. } => out.extend(parts.iter().map(|(_, expr)| expr)),
    }
}

/// Appends the direct operands of an expression. Omits the statements of statement expressions.
pub(crate) fn children<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Constant(_) => {}
        ExprKind::Load(lvalue) | ExprKind::AddrOf(lvalue) | ExprKind::Decay(lvalue) | ExprKind::IncDec { lvalue, .. } => {
            lvalue_children(lvalue, out)
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
        ExprKind::Assign { lvalue, value }
        | ExprKind::CompoundAssign { lvalue, value, .. }
        | ExprKind::PointerAssign { lvalue, index: value, .. } => {
            lvalue_children(lvalue, out);
            out.push(value);
        }
        ExprKind::Call { args, .. }
        | ExprKind::CallLanes { args, .. }
        | ExprKind::Intrinsic { args, .. }
        | ExprKind::Printf { args, .. }
        | ExprKind::VectorLit(args) => out.extend(args),
        ExprKind::StmtExpr { value, .. } => out.extend(value.as_deref()),
    }
}

/// Appends the direct child statements of a statement.
pub(crate) fn nested<'a>(stmt: &'a Stmt, out: &mut Vec<&'a Stmt>) {
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

/// Appends the direct expressions of a statement.
pub(crate) fn expressions<'a>(stmt: &'a Stmt, out: &mut Vec<&'a Expr>) {
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

/// Returns the statements of all statement expressions in the direct expressions of a statement, at any depth.
pub(crate) fn in_expressions(stmt: &Stmt) -> Vec<&Stmt> {
    let mut stack = Vec::new();
    expressions(stmt, &mut stack);
    statements_in(stack)
}

/// Returns the statements of all statement expressions in an expression, at any depth.
pub(crate) fn in_expression(expr: &Expr) -> Vec<&Stmt> {
    statements_in(vec![expr])
}

fn statements_in(mut stack: Vec<&Expr>) -> Vec<&Stmt> {
    let mut found = Vec::new();
    while let Some(expr) = stack.pop() {
        if let ExprKind::StmtExpr { stmts, .. } = &expr.kind {
            found.extend(stmts);
        }
        children(expr, &mut stack);
    }
    found
}

/// Returns the labels of all `goto`s in a statement, including those in statement expressions. Labels may repeat.
pub(crate) fn gotos(stmt: &Stmt) -> Vec<super::LabelId> {
    let mut found = Vec::new();
    let mut stack = vec![stmt];
    while let Some(stmt) = stack.pop() {
        if let StmtKind::Goto(label) = stmt.kind {
            found.push(label);
        }
        nested(stmt, &mut stack);
        stack.extend(in_expressions(stmt));
    }
    found
}
