//! Warnings about valid code that is probably a mistake. The conditions and the texts are those of clang's default
//! warnings. The syntax tree does not record line breaks. An empty body is therefore recognised by its distance from
//! the condition or, in a `for`, from the last expression in parentheses.

use super::Sema;
use super::consteval::{int_bits, int_value, range};
use super::is_float;
use crate::ast::{self, BinaryOp, ScalarKind};
use crate::diag::{Diagnostic, Span, WarningGroup};
use crate::thir::types::scalar_size;
use crate::thir::{self, Constant, Expr, ExprKind, Ty};

/// A binary expression of the syntax tree.
#[derive(Clone, Copy)]
pub(super) struct BinaryNode<'a> {
    pub op: BinaryOp,
    /// The span of the operator.
    pub at: Span,
    pub lhs: &'a ast::Expr,
    pub rhs: &'a ast::Expr,
    pub span: Span,
}

impl Sema<'_> {
    /// Warns about `if (a = b)`. Another pair of parentheses silences the warning.
    pub(super) fn warn_of_assigned_condition(&mut self, cond: &ast::Expr) {
        let ast::ExprKind::Assign(None, at, ..) = cond.kind else { return };
        let text = "using the result of an assignment as a condition without parentheses";
        self.warn_with(
            warning_at(WarningGroup::Parentheses, at, cond.span, text)
                .with_note(at, "place parentheses around the assignment to silence this warning")
                .with_note(at, "use '==' to make this an equality comparison"),
        );
    }

    /// Warns about `if (a);` and, if a compound statement follows, about `while (a);` and `for (...);`.
    pub(super) fn warn_of_empty_body(&mut self, stmt: &ast::Stmt, next: Option<&ast::Stmt>) {
        let (name, before, body) = match &stmt.kind {
            ast::StmtKind::If { cond, then, els: None } => ("if statement", cond.span, then),
            ast::StmtKind::While { cond, body } => ("while loop", cond.span, body),
            ast::StmtKind::For { cond, step, body, .. } => match step.as_ref().or(cond.as_ref()) {
                Some(last) => ("for loop", last.span, body),
                None => return,
            },
            _ => return,
        };
        let is_adjacent = body.span.lo.checked_sub(before.hi).is_some_and(|distance| distance <= 2);
        let is_followed = name == "if statement" || next.is_some_and(|next| matches!(next.kind, ast::StmtKind::Compound(_)));
        if matches!(body.kind, ast::StmtKind::Empty) && is_adjacent && is_followed {
            let warning = Diagnostic::warning(WarningGroup::EmptyBody, body.span, format!("{name} has empty body"));
            self.warn_with(warning.with_note(body.span, "put the semicolon on a separate line to silence this warning"));
        }
    }

    /// Warns about operands that are probably not grouped as the author intended, and about comparisons with a constant
    /// result.
    pub(super) fn warn_of_binary(&mut self, node: &BinaryNode<'_>, lhs: &Expr, rhs: &Expr) {
        self.warn_of_precedence(node);
        if !is_comparison(node.op) || self.is_error(lhs.ty) || self.is_error(rhs.ty) {
            return;
        }
        let is_flag = |sema: &Self, value: &Expr, tree: &ast::Expr| is_truth(tree) || sema.scalar_kind(value.ty) == Some(ScalarKind::Bool);
        if let ast::ExprKind::Unary(ast::UnaryOp::Not, inner) = &node.lhs.kind
            && let ExprKind::Unary(thir::UnaryOp::LogNot, operand) = &lhs.kind
            && !is_flag(self, operand, inner)
            && !is_flag(self, rhs, node.rhs)
        {
            let text = "logical not is only applied to the left hand side of this comparison";
            let warning = Diagnostic::warning(WarningGroup::LogicalNotParentheses, node.lhs.span, text);
            self.warn_with(
                warning
                    .with_note(node.lhs.span, "add parentheses after the '!' to evaluate the comparison first")
                    .with_note(node.lhs.span, "add parentheses around left hand side expression to silence this warning"),
            );
        }
        if matches!(node.op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
            && let ast::ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, ..) = node.lhs.kind
            && self.scalar_kind(lhs.ty).is_some()
        {
            self.warn_at_operator(WarningGroup::Parentheses, node, "comparisons like 'X<=Y<=Z' don't have their mathematical meaning");
        }
        self.warn_of_self_comparison(node, lhs);
        self.warn_of_constant_result(node, lhs, rhs);
    }

    fn warn_at_operator(&mut self, group: WarningGroup, node: &BinaryNode<'_>, text: impl Into<String>) {
        self.warn_with(warning_at(group, node.at, node.span, text));
    }

    /// Warns about `a & b == c` and `a << b + c`.
    fn warn_of_precedence(&mut self, node: &BinaryNode<'_>) {
        let outer = node.op.symbol();
        for operand in [node.lhs, node.rhs] {
            let ast::ExprKind::Binary(inner_op, inner_at, ..) = operand.kind else { continue };
            let inner = inner_op.symbol();
            match node.op {
                BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor if is_comparison(inner_op) => {
                    let other = if std::ptr::eq(operand, node.lhs) { node.rhs } else { node.lhs };
                    // `a == b & c == d` combines two truth values, so it causes no warning.
                    if matches!(other.kind, ast::ExprKind::Binary(op, ..) if is_comparison(op)) {
                        continue;
                    }
                    let text = format!("{outer} has lower precedence than {inner}; {inner} will be evaluated first");
                    self.warn_with(
                        warning_at(WarningGroup::Parentheses, node.at, node.span, text)
                            .with_note(node.at, format!("place parentheses around the '{inner}' expression to silence this warning"))
                            .with_note(node.at, format!("place parentheses around the {outer} expression to evaluate it first")),
                    );
                }
                BinaryOp::Shl | BinaryOp::Shr if matches!(inner_op, BinaryOp::Add | BinaryOp::Sub) => {
                    let text = format!("operator '{outer}' has lower precedence than '{inner}'; '{inner}' will be evaluated first");
                    let note = format!("place parentheses around the '{inner}' expression to silence this warning");
                    self.warn_with(warning_at(WarningGroup::ShiftOpParentheses, inner_at, operand.span, text).with_note(inner_at, note));
                }
                _ => {}
            }
        }
    }

    /// Warns about `i == i`. Does not warn about floats, because `x == x` is false for NaN.
    fn warn_of_self_comparison(&mut self, node: &BinaryNode<'_>, lhs: &Expr) {
        let (ast::ExprKind::Ident(a), ast::ExprKind::Ident(b)) = (&node.lhs.kind, &node.rhs.kind) else { return };
        let is_volatile = matches!(&lhs.kind, ExprKind::Load(lvalue) if lvalue.ty.is_volatile);
        if a != b || is_volatile || self.arith(lhs.ty).is_none_or(|(kind, _)| is_float(kind)) {
            return;
        }
        let answer = matches!(node.op, BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge);
        self.warn_at_operator(WarningGroup::TautologicalCompare, node, format!("self-comparison always evaluates to {answer}"));
    }

    /// Warns about a comparison with an integer constant that the type of the other operand cannot represent.
    fn warn_of_constant_result(&mut self, node: &BinaryNode<'_>, lhs: &Expr, rhs: &Expr) {
        let (constant, other, tree, op) = match (constant_of(lhs), constant_of(rhs)) {
            (None, Some(bits)) => ((rhs, bits), lhs, node.lhs, node.op),
            (Some(bits), None) => ((lhs, bits), rhs, node.rhs, mirrored(node.op)),
            _ => return,
        };
        let (Some(kind), Some(other_kind)) = (self.scalar_kind(constant.0.ty), self.scalar_kind(other.ty)) else { return };
        if is_float(kind) || is_float(other_kind) {
            return;
        }
        let common = super::convert::usual_kind(kind, other_kind);
        let is_boolean = is_truth(tree) || other_kind == ScalarKind::Bool;
        let (low, high) = if is_boolean { (0, 1) } else { range(other_kind) };
        if low < range(common).0 {
            // The conversion to the common type changes negative values, so the result may not be constant.
            return;
        }
        let value = int_value(common, int_bits(common, int_value(kind, constant.1)));
        if (low..=high).contains(&value) {
            return;
        }
        let answer = match op {
            BinaryOp::Eq => false,
            BinaryOp::Ne => true,
            BinaryOp::Lt | BinaryOp::Le => value > high,
            _ => value < low,
        };
        let shown = if is_boolean { "boolean expression".to_owned() } else { format!("expression of type '{}'", self.show(other.ty)) };
        self.warn_at_operator(
            WarningGroup::TautologicalConstantOutOfRangeCompare,
            node,
            format!("result of comparison of constant {value} with {shown} is always {answer}"),
        );
    }

    /// Warns about an implicit conversion that changes the value of a constant. As in clang, a negative constant such
    /// as `-1` causes no warning if it fits in the width of an unsigned type.
    pub(super) fn warn_of_changed_value(&mut self, value: &Expr, ty: Ty) {
        let (Some(from), Some(to)) = (self.scalar_kind(value.ty), self.scalar_kind(ty)) else { return };
        if to == ScalarKind::Bool || is_float(to) {
            return;
        }
        let (group, shown, changed) = match value.kind {
            ExprKind::Constant(Constant::Int(bits)) if !is_float(from) => {
                let old = int_value(from, bits);
                let (width, capacity) = (width(old), scalar_size(to) * 8);
                let becomes_negative = width == capacity && old >= 0 && super::is_signed(to) && super::is_signed(from);
                if width <= capacity && !becomes_negative {
                    return;
                }
                (WarningGroup::ConstantConversion, old.to_string(), int_value(to, int_bits(to, old)).to_string())
            }
            ExprKind::Constant(Constant::Float(old)) if is_float(from) => {
                let (low, high) = range(to);
                #[expect(clippy::cast_possible_truncation, reason = "the conversion truncates")]
                let new = old.trunc() as i128;
                if old.fract() == 0.0 || !(low..=high).contains(&new) {
                    return;
                }
                (WarningGroup::LiteralConversion, old.to_string(), new.to_string())
            }
            _ => return,
        };
        let (from, to) = (self.show(value.ty), self.show(ty));
        self.warn_of_conversion(group, value.span, (&from, &to), shown, changed);
    }

    /// Warns about a left operand of a comma operator that has no effect.
    pub(super) fn warn_of_unused_operand(&mut self, value: &Expr, tree: &ast::Expr) {
        let has_no_effect = match &value.kind {
            ExprKind::Binary { .. } | ExprKind::Constant(_) | ExprKind::Unary(..) => true,
            ExprKind::Load(lvalue) => !lvalue.ty.is_volatile,
            _ => false,
        };
        if has_no_effect && !self.is_error(value.ty) {
            self.warn(WarningGroup::UnusedValue, tree.span, "left operand of comma operator has no effect");
        }
    }
}

/// Creates a warning about the operator at `at` of the expression `whole`.
fn warning_at(group: WarningGroup, at: Span, whole: Span, text: impl Into<String>) -> Diagnostic {
    Diagnostic { around: Some(whole), ..Diagnostic::warning(group, at, text) }
}

/// Returns the bits of an integer constant.
const fn constant_of(value: &Expr) -> Option<u64> {
    match value.kind {
        ExprKind::Constant(Constant::Int(bits)) => Some(bits),
        _ => None,
    }
}

/// Returns the number of significant bits of an integer, including the sign bit of a negative integer.
const fn width(value: i128) -> u32 {
    if value < 0 { i128::BITS - value.leading_ones() + 1 } else { i128::BITS - value.leading_zeros() }
}

/// Whether an expression can only be 0 or 1.
fn is_truth(tree: &ast::Expr) -> bool {
    match tree.without_parentheses().kind {
        ast::ExprKind::Unary(ast::UnaryOp::Not, _) => true,
        ast::ExprKind::Binary(op, ..) => is_comparison(op) || matches!(op, BinaryOp::LogAnd | BinaryOp::LogOr),
        _ => false,
    }
}

const fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Returns the comparison that has the same result with exchanged operands.
const fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}
