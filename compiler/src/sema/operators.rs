//! Unary, binary, assignment and conditional operators (OpenCL C 6.5; C99 6.5.3 to 6.5.16).

use super::convert::{Purpose, promoted, usual_kind};
use super::suspicious::BinaryNode;
use super::{Operand, Sema, is_float, is_signed, signed_of};
use crate::ast::{self, ScalarKind};
use crate::diag::{Span, WarningGroup};
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{BinaryOp, CastKind, Constant, Expr, ExprKind, Init, Lvalue, QualTy, Stmt, StmtKind, Ty, TyKind, UnaryOp};

/// The beginnings of the messages about operands that do not have a common pointer type.
struct PointerMessages {
    /// For two pointers.
    pointers: &'static str,
    pointers_group: WarningGroup,
    /// For a pointer and an integer.
    integer: &'static str,
    integer_group: WarningGroup,
}

const COMPARISON: PointerMessages = PointerMessages {
    pointers: "comparison of distinct pointer types",
    pointers_group: WarningGroup::CompareDistinctPointerTypes,
    integer: "comparison between pointer and integer",
    integer_group: WarningGroup::PointerIntegerCompare,
};
const CONDITIONAL: PointerMessages = PointerMessages {
    pointers: "pointer type mismatch in conditional expression",
    pointers_group: WarningGroup::PointerTypeMismatch,
    integer: "pointer/integer type mismatch in conditional expression",
    integer_group: WarningGroup::ConditionalTypeMismatch,
};

impl Sema<'_> {
    // Unary operators.

    pub(super) fn unary(&mut self, op: ast::UnaryOp, operand: &ast::Expr, span: Span) -> Operand {
        match op {
            ast::UnaryOp::AddrOf => self.address_of(operand, span),
            ast::UnaryOp::Deref => {
                let pointer = self.rvalue_expr(operand);
                self.dereference(pointer, span)
            }
            ast::UnaryOp::PreInc => self.inc_dec(operand, true, true, span),
            ast::UnaryOp::PreDec => self.inc_dec(operand, false, true, span),
            ast::UnaryOp::PostInc => self.inc_dec(operand, true, false, span),
            ast::UnaryOp::PostDec => self.inc_dec(operand, false, false, span),
            ast::UnaryOp::Plus | ast::UnaryOp::Minus | ast::UnaryOp::BitNot => {
                let value = self.any_rvalue(operand);
                Operand::Value(self.arithmetic_unary(op, value, span))
            }
            ast::UnaryOp::Not => {
                let value = self.any_rvalue(operand);
                Operand::Value(self.logical_not(value, span))
            }
        }
    }

    fn arithmetic_unary(&mut self, op: ast::UnaryOp, value: Expr, span: Span) -> Expr {
        if self.is_error(value.ty) {
            return value;
        }
        if self.is_wide(value.ty) {
            return match op {
                ast::UnaryOp::Minus => self.wide_unary(UnaryOp::Neg, value, span),
                ast::UnaryOp::BitNot => self.wide_unary(UnaryOp::BitNot, value, span),
                _ => value,
            };
        }
        let value = self.promote(value);
        let ok = self.arith(value.ty).is_some_and(|(kind, _)| op != ast::UnaryOp::BitNot || !is_float(kind));
        if !ok {
            let shown = self.show(value.ty);
            self.err(span, format!("invalid argument type '{shown}' to unary expression"));
            return self.error_expr(span);
        }
        let ty = value.ty;
        match op {
            ast::UnaryOp::Minus => self.fold_unary(UnaryOp::Neg, value, ty, span),
            ast::UnaryOp::BitNot => self.fold_unary(UnaryOp::BitNot, value, ty, span),
            _ => value,
        }
    }

    fn fold_unary(&mut self, op: UnaryOp, value: Expr, ty: Ty, span: Span) -> Expr {
        let constant = matches!(value.kind, ExprKind::Constant(_));
        let kind = ExprKind::Unary(op, Box::new(value));
        if constant { self.fold(kind, ty, span) } else { self.expr(kind, ty, span) }
    }

    fn logical_not(&mut self, value: Expr, span: Span) -> Expr {
        if self.is_error(value.ty) {
            return value;
        }
        if self.is_pointer(value.ty) {
            let truth = self.pointer_truth(value);
            let int = self.int();
            return self.fold_unary(UnaryOp::LogNot, truth, int, span);
        }
        if self.is_wide(value.ty) {
            return self.wide_truth(value, BinaryOp::Eq);
        }
        let Some((kind, lanes)) = self.arith(value.ty) else {
            let shown = self.show(value.ty);
            self.err(span, format!("invalid argument type '{shown}' to unary expression"));
            return self.error_expr(span);
        };
        let ty = if lanes == 1 { self.int() } else { self.lanes(signed_of(kind), lanes) };
        self.fold_unary(UnaryOp::LogNot, value, ty, span)
    }

    fn address_of(&mut self, operand: &ast::Expr, span: Span) -> Operand {
        let inner = operand.without_parentheses();
        let operand = match &inner.kind {
            // `&a[n]` is valid if `a` has n elements.
            ast::ExprKind::Index(base, index) => self.subscript(base, index, inner.span, true),
            _ => self.operand(operand),
        };
        let lvalue = match operand {
            Operand::Lvalue(lvalue) => lvalue,
            Operand::Value(value) => {
                if !self.is_error(value.ty) {
                    let shown = self.show(value.ty);
                    self.err(span, format!("cannot take the address of an rvalue of type '{shown}'"));
                }
                return self.error_operand(span);
            }
            Operand::Functions(..) | Operand::Builtin(..) => {
                self.err(span, "taking address of function is not allowed");
                return self.error_operand(span);
            }
            Operand::Block(..) => {
                self.err(span, "taking address of a block is not allowed");
                return self.error_operand(span);
            }
        };
        if self.is_error(lvalue.ty.ty) {
            return self.error_operand(span);
        }
        if matches!(&lvalue.kind, crate::thir::LvalueKind::Lanes { .. } | crate::thir::LvalueKind::LaneDyn { .. }) {
            self.err(span, "address of vector element requested");
            return self.error_operand(span);
        }
        if matches!(self.kind(lvalue.ty.ty), TyKind::Image(..) | TyKind::Pipe(..) | TyKind::Sampler) {
            let shown = self.show(lvalue.ty.ty);
            self.err(span, format!("taking the address of a variable of type '{shown}' is invalid in OpenCL"));
            return self.error_operand(span);
        }
        let ty = self.pointer(lvalue.ty, lvalue.space);
        Operand::Value(match lvalue.kind {
            // `&*p` is `p`.
            crate::thir::LvalueKind::Deref(pointer) if pointer.ty == ty => *pointer,
            _ => self.expr(ExprKind::AddrOf(Box::new(lvalue)), ty, span),
        })
    }

    pub(super) fn dereference(&mut self, pointer: Expr, span: Span) -> Operand {
        match *self.kind(pointer.ty) {
            TyKind::Error => self.error_operand(span),
            TyKind::Pointer { pointee, .. } => {
                if matches!(self.kind(pointee.ty), TyKind::Void) {
                    self.err(span, "ISO C does not allow indirection on operand of type 'void *'");
                    return self.error_operand(span);
                }
                Operand::Lvalue(self.deref_lvalue(pointer, span))
            }
            _ => {
                let shown = self.show(pointer.ty);
                self.err(span, format!("indirection requires pointer operand ('{shown}' invalid)"));
                self.error_operand(span)
            }
        }
    }

    fn inc_dec(&mut self, operand: &ast::Expr, increment: bool, prefix: bool, span: Span) -> Operand {
        let operand = self.operand(operand);
        let ty = self.operand_type(&operand).ty;
        if self.is_error(ty) {
            return self.error_operand(span);
        }
        let stride = match *self.kind(ty) {
            TyKind::Pointer { pointee, .. } => match self.pointer_stride(pointee, span) {
                Some(stride) => stride,
                None => return self.error_operand(span),
            },
            _ => 0,
        };
        // Floating-point vectors have no increment and decrement (6.5.3).
        let wrong = match self.arith(ty) {
            Some((kind, lanes)) => lanes > 1 && is_float(kind),
            None => stride == 0,
        };
        if wrong {
            let shown = self.show(ty);
            let word = if increment { "increment" } else { "decrement" };
            self.err(span, format!("cannot {word} value of type '{shown}'"));
            return self.error_operand(span);
        }
        let Some(lvalue) = self.modifiable(operand, span) else { return self.error_operand(span) };
        Operand::Value(self.expr(ExprKind::IncDec { lvalue: Box::new(lvalue), increment, prefix, stride }, ty, span))
    }

    /// Returns the size of the pointee in bytes, which is 1 for `void`. Reports an error and returns `None` if the type
    /// is incomplete.
    pub(super) fn pointer_stride(&mut self, pointee: QualTy, span: Span) -> Option<u32> {
        if matches!(self.kind(pointee.ty), TyKind::Void) {
            // An extension of GNU C.
            return Some(1);
        }
        match self.size_of(pointee.ty) {
            Some(size) => Some(u32::try_from(size).unwrap_or(u32::MAX)),
            None => {
                let shown = self.show(pointee.ty);
                self.err(span, format!("arithmetic on a pointer to an incomplete type '{shown}'"));
                None
            }
        }
    }

    // Binary operators.

    /// Checks a binary expression. A chain of operators is nested in the left operands. A loop processes the chain
    /// without recursion.
    pub(super) fn binary_chain(&mut self, expr: &ast::Expr) -> Expr {
        let mut chain = Vec::new();
        let mut node = expr;
        while let ast::ExprKind::Binary(op, at, lhs, rhs) = &node.kind {
            chain.push(BinaryNode { op: *op, at: *at, lhs, rhs, span: node.span });
            node = lhs;
        }
        let mut value = self.any_rvalue(node);
        while let Some(node) = chain.pop() {
            let rhs = self.any_rvalue(node.rhs);
            self.warn_of_binary(&node, &value, &rhs);
            value = self.about_operator(node.span, node.at, |sema| sema.binary(node.op, value, rhs, node.span));
        }
        value
    }

    /// Calls `check` for a binary expression or an assignment. Diagnostics about the span `whole` are reported at the
    /// span `operator`.
    pub(super) fn about_operator<T>(&mut self, whole: Span, operator: Span, check: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.operator.replace((whole, operator));
        let result = check(self);
        self.operator = outer;
        result
    }

    pub(super) fn binary(&mut self, op: ast::BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        use ast::BinaryOp as B;
        if self.is_error(lhs.ty) || self.is_error(rhs.ty) {
            return self.error_expr(span);
        }
        // Pointer arithmetic uses integers of at most 64 bits.
        let (lhs, rhs) = match (self.is_pointer(lhs.ty), self.is_pointer(rhs.ty)) {
            (true, _) => (lhs, self.narrowed(rhs)),
            (_, true) => (self.narrowed(lhs), rhs),
            _ => (lhs, rhs),
        };
        match op {
            B::LogAnd | B::LogOr => self.logical(op, lhs, rhs, span),
            B::Shl | B::Shr => self.shift(if op == B::Shl { BinaryOp::Shl } else { BinaryOp::Shr }, lhs, rhs, span),
            B::Add | B::Sub if self.is_pointer(lhs.ty) || self.is_pointer(rhs.ty) => self.pointer_arithmetic(op == B::Sub, lhs, rhs, span),
            B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge => self.compare(thir_op(op), lhs, rhs, span),
            _ => self.arithmetic(thir_op(op), lhs, rhs, span),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let integers_only = matches!(op, BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        let float = |sema: &Self, ty| sema.arith(ty).is_some_and(|(kind, _)| is_float(kind));
        if integers_only && (float(self, lhs.ty) || float(self, rhs.ty)) {
            let (a, b) = (self.show(lhs.ty), self.show(rhs.ty));
            let hint = if op == BinaryOp::Rem { "; use fmod" } else { "" };
            self.err(span, format!("invalid operands to binary expression ('{a}' and '{b}'){hint}"));
            return self.error_expr(span);
        }
        let Some((lhs, rhs)) = self.usual_conversions(lhs, rhs, span) else { return self.error_expr(span) };
        if self.is_wide(lhs.ty) {
            return self.wide_arithmetic(op, lhs, rhs, span);
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Rem)
            && self.is_integer_scalar(rhs.ty)
            && matches!(rhs.kind, ExprKind::Constant(Constant::Int(0)))
        {
            let word = if op == BinaryOp::Div { "division" } else { "remainder" };
            self.warn(WarningGroup::DivisionByZero, span, format!("{word} by zero is undefined"));
        }
        let ty = lhs.ty;
        self.binary_node(op, lhs, rhs, ty, span)
    }

    pub(super) fn binary_node(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, ty: Ty, span: Span) -> Expr {
        let constants = matches!((&lhs.kind, &rhs.kind), (ExprKind::Constant(_), ExprKind::Constant(_)));
        let contract = self.is_contract_on();
        let kind = ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs), contract };
        if constants { self.fold(kind, ty, span) } else { self.expr(kind, ty, span) }
    }

    fn shift(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let (lhs, mut rhs) = (self.promote(lhs), self.promote(rhs));
        if self.is_wide(rhs.ty) {
            // A shift uses only the low bits of the amount.
            let ulong = self.scalar(ScalarKind::ULong);
            rhs = self.cast(CastKind::Arith, rhs, ulong);
        }
        if self.is_wide(lhs.ty) && self.is_integer_scalar(rhs.ty) {
            return self.wide_shift(op, lhs, rhs, span);
        }
        let (Some((lhs_kind, lhs_lanes)), Some((rhs_kind, rhs_lanes))) = (self.arith(lhs.ty), self.arith(rhs.ty)) else {
            self.invalid_operands(&lhs, &rhs, span);
            return self.error_expr(span);
        };
        if is_float(lhs_kind) || is_float(rhs_kind) || (lhs_lanes == 1 && rhs_lanes != 1) || (rhs_lanes != 1 && lhs_lanes != rhs_lanes) {
            self.invalid_operands(&lhs, &rhs, span);
            return self.error_expr(span);
        }
        let ty = lhs.ty;
        let amount = if lhs_lanes == rhs_lanes {
            rhs
        } else {
            // A shift uses only the low bits of the amount. The type of the lanes can represent them.
            self.arith_cast(rhs, ty)
        };
        self.binary_node(op, lhs, amount, ty, span)
    }

    fn compare(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        if self.is_pointer(lhs.ty) || self.is_pointer(rhs.ty) {
            return self.compare_pointers(op, lhs, rhs, span);
        }
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne)
            && lhs.ty == rhs.ty
            && matches!(self.kind(lhs.ty), TyKind::Event | TyKind::ReserveId | TyKind::Sampler)
        {
            self.invalid_operands(&lhs, &rhs, span);
            return self.error_expr(span);
        }
        let Some((lhs, rhs)) = self.usual_conversions(lhs, rhs, span) else { return self.error_expr(span) };
        if self.is_wide(lhs.ty) {
            return self.wide_compare(op, lhs, rhs, span);
        }
        let ty = match self.arith(lhs.ty) {
            Some((kind, lanes)) if lanes > 1 => self.lanes(signed_of(kind), lanes),
            _ => self.int(),
        };
        self.binary_node(op, lhs, rhs, ty, span)
    }

    fn compare_pointers(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let Some((lhs, rhs)) = self.common_pointer(lhs, rhs, span, &COMPARISON) else {
            return self.error_expr(span);
        };
        let int = self.int();
        self.expr(ExprKind::PointerCompare { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, int, span)
    }

    /// Converts two pointers, or a pointer and an integer, to a common pointer type. Returns `None` after an error.
    fn common_pointer(&mut self, lhs: Expr, rhs: Expr, span: Span, messages: &PointerMessages) -> Option<(Expr, Expr)> {
        let (lhs_ty, rhs_ty) = (lhs.ty, rhs.ty);
        let what = messages.pointers;
        let kinds = (self.kind(lhs_ty).clone(), self.kind(rhs_ty).clone());
        match kinds {
            (TyKind::Pointer { pointee: a, space: s, .. }, TyKind::Pointer { pointee: b, space: t, .. }) => {
                if self.is_null_constant(&rhs) {
                    let rhs = self.assign_convert(rhs, lhs_ty, &Purpose::Assign);
                    return Some((lhs, rhs));
                }
                if self.is_null_constant(&lhs) {
                    let lhs = self.assign_convert(lhs, rhs_ty, &Purpose::Assign);
                    return Some((lhs, rhs));
                }
                let space = match (s, t) {
                    _ if s == t => s,
                    (Space::Generic, other) | (other, Space::Generic) if other != Space::Constant => Space::Generic,
                    _ => {
                        let (x, y) = (self.show(lhs_ty), self.show(rhs_ty));
                        self.err(span, format!("{what} ('{x}' and '{y}') which are pointers to non-overlapping address spaces"));
                        return None;
                    }
                };
                let is_void = |sema: &Self, q: QualTy| matches!(sema.kind(q.ty), TyKind::Void);
                if !is_void(self, a) && !is_void(self, b) && !self.is_compatible(a.ty, b.ty) {
                    let (x, y) = (self.show(lhs_ty), self.show(rhs_ty));
                    self.warn(messages.pointers_group, span, format!("{what} ('{x}' and '{y}')"));
                }
                let ty = if is_void(self, a) {
                    a.ty
                } else if is_void(self, b) {
                    b.ty
                } else {
                    a.ty
                };
                let (is_const, is_volatile) = (a.is_const || b.is_const, a.is_volatile || b.is_volatile);
                let align = a.align.into_iter().chain(b.align).min();
                let pointee = QualTy { ty, is_const, is_volatile, align };
                let ty = self.pointer(pointee, space);
                Some((self.cast(CastKind::Pointer, lhs, ty), self.cast(CastKind::Pointer, rhs, ty)))
            }
            (TyKind::Pointer { .. }, _) if self.is_integer_scalar(rhs_ty) => {
                if !self.is_null_constant(&rhs) {
                    let (x, y) = (self.show(lhs_ty), self.show(rhs_ty));
                    self.warn(messages.integer_group, span, format!("{} ('{x}' and '{y}')", messages.integer));
                }
                let rhs = self.explicit_cast(rhs, lhs_ty, span);
                Some((lhs, rhs))
            }
            (_, TyKind::Pointer { .. }) if self.is_integer_scalar(lhs_ty) => {
                if !self.is_null_constant(&lhs) {
                    let (x, y) = (self.show(lhs_ty), self.show(rhs_ty));
                    self.warn(messages.integer_group, span, format!("{} ('{x}' and '{y}')", messages.integer));
                }
                let lhs = self.explicit_cast(lhs, rhs_ty, span);
                Some((lhs, rhs))
            }
            _ => {
                self.invalid_operands(&lhs, &rhs, span);
                None
            }
        }
    }

    fn pointer_arithmetic(&mut self, negate: bool, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        match (self.kind(lhs.ty).clone(), self.kind(rhs.ty).clone()) {
            (TyKind::Pointer { pointee: a, space: s, .. }, TyKind::Pointer { pointee: b, space: t, .. }) => {
                let compatible = self.is_compatible(a.ty, b.ty);
                let spaces = s == t || ((s == Space::Generic || t == Space::Generic) && s != Space::Constant && t != Space::Constant);
                if !negate || !compatible || !spaces {
                    self.invalid_operands(&lhs, &rhs, span);
                    return self.error_expr(span);
                }
                let Some(stride) = self.pointer_stride(a, span) else { return self.error_expr(span) };
                let ty = if s == Space::Generic { lhs.ty } else { rhs.ty };
                let (lhs, rhs) = (self.cast(CastKind::Pointer, lhs, ty), self.cast(CastKind::Pointer, rhs, ty));
                let kind = self.ptrdiff_kind();
                let ty = self.scalar(kind);
                self.expr(ExprKind::PointerDiff { lhs: Box::new(lhs), rhs: Box::new(rhs), stride }, ty, span)
            }
            (TyKind::Pointer { pointee, .. }, _) if self.is_integer_scalar(rhs.ty) => self.pointer_add(lhs, pointee, rhs, negate, span),
            (_, TyKind::Pointer { pointee, .. }) if self.is_integer_scalar(lhs.ty) && !negate => {
                self.pointer_add(rhs, pointee, lhs, false, span)
            }
            _ => {
                self.invalid_operands(&lhs, &rhs, span);
                self.error_expr(span)
            }
        }
    }

    pub(super) fn pointer_add(&mut self, pointer: Expr, pointee: QualTy, index: Expr, negate: bool, span: Span) -> Expr {
        let Some(stride) = self.pointer_stride(pointee, span) else { return self.error_expr(span) };
        let index = self.promote(index);
        let ty = pointer.ty;
        self.expr(ExprKind::PointerAdd { pointer: Box::new(pointer), index: Box::new(index), stride, negate }, ty, span)
    }

    fn logical(&mut self, op: ast::BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let and = op == ast::BinaryOp::LogAnd;
        let vector = |sema: &Self, ty| matches!(sema.kind(ty), TyKind::Vector(..));
        if vector(self, lhs.ty) || vector(self, rhs.ty) {
            let Some((lhs, rhs)) = self.usual_conversions(lhs, rhs, span) else { return self.error_expr(span) };
            let ty = match self.arith(lhs.ty) {
                Some((kind, lanes)) => self.lanes(signed_of(kind), lanes),
                None => lhs.ty,
            };
            return self.binary_node(if and { BinaryOp::VecAnd } else { BinaryOp::VecOr }, lhs, rhs, ty, span);
        }
        let (lhs, rhs) = (self.wide_truth(lhs, BinaryOp::Ne), self.wide_truth(rhs, BinaryOp::Ne));
        let is_condition = |sema: &Self, ty| sema.scalar_kind(ty).is_some() || sema.is_pointer(ty);
        if !is_condition(self, lhs.ty) || !is_condition(self, rhs.ty) {
            self.invalid_operands(&lhs, &rhs, span);
            return self.error_expr(span);
        }
        let int = self.int();
        let constants = matches!((&lhs.kind, &rhs.kind), (ExprKind::Constant(_), ExprKind::Constant(_)));
        let (lhs, rhs) = (Box::new(lhs), Box::new(rhs));
        let kind = if and { ExprKind::LogAnd(lhs, rhs) } else { ExprKind::LogOr(lhs, rhs) };
        if constants { self.fold(kind, int, span) } else { self.expr(kind, int, span) }
    }

    // The conditional operator.

    pub(super) fn conditional(&mut self, cond: &ast::Expr, then: Option<&ast::Expr>, els: &ast::Expr, span: Span) -> Expr {
        let mut cond_value = self.rvalue_expr(cond);
        let mut kept = None;
        let then_value = match then {
            Some(then) => self.any_rvalue(then),
            // `a ?: b` of GNU C evaluates `a` only once.
            None => match self.new_local("", QualTy::plain(cond_value.ty), span) {
                Some(local) if !self.is_error(cond_value.ty) => {
                    let lvalue = self.local_lvalue(local, span);
                    let again = self.rvalue(Operand::Lvalue(lvalue));
                    let lvalue = self.local_lvalue(local, span);
                    let first = std::mem::replace(&mut cond_value, again);
                    kept = Some(Stmt { kind: StmtKind::Local { local, init: Some(Init::Expr(first)) }, span: self.span(span) });
                    self.rvalue(Operand::Lvalue(lvalue))
                }
                _ => {
                    let els = self.rvalue_expr(els);
                    if !self.is_error(cond_value.ty) && !self.is_error(els.ty) {
                        self.err(span, "initializer element is not a compile-time constant");
                    }
                    return self.error_expr(span);
                }
            },
        };
        let result = self.conditional_of(cond, cond_value, then_value, els, span);
        match kept {
            Some(stmt) if !self.is_error(result.ty) => {
                let ty = result.ty;
                self.expr(ExprKind::StmtExpr { stmts: vec![stmt], value: Some(Box::new(result)) }, ty, span)
            }
            _ => result,
        }
    }

    fn conditional_of(&mut self, cond: &ast::Expr, cond_value: Expr, then_value: Expr, els: &ast::Expr, span: Span) -> Expr {
        let els_value = self.any_rvalue(els);
        if [&cond_value, &then_value, &els_value].into_iter().any(|e| self.is_error(e.ty)) {
            return self.error_expr(span);
        }
        if let TyKind::Vector(kind, lanes) = *self.kind(cond_value.ty) {
            return self.vector_select(cond_value, kind, lanes, then_value, els_value, span);
        }
        if self.scalar_kind(cond_value.ty).is_none() && !self.is_pointer(cond_value.ty) {
            let shown = self.show(cond_value.ty);
            self.err(cond.span, format!("used type '{shown}' where arithmetic or pointer type is required"));
            return self.error_expr(span);
        }
        let Some((then_value, els_value)) = self.common_type(then_value, els_value, span) else { return self.error_expr(span) };
        let ty = then_value.ty;
        if self.is_wide(ty) {
            if let Some(truth) = self.truth(&cond_value) {
                return if truth { then_value } else { els_value };
            }
            if self.is_too_deep(&[&then_value, &els_value], span) {
                return self.error_expr(span);
            }
        }
        self.expr(ExprKind::Cond { cond: Box::new(cond_value), then: Box::new(then_value), els: Box::new(els_value) }, ty, span)
    }

    fn common_type(&mut self, then: Expr, els: Expr, span: Span) -> Option<(Expr, Expr)> {
        if self.scalar_kind(then.ty).is_some() && self.scalar_kind(els.ty).is_some()
            || self.arith(then.ty).is_some() && self.arith(els.ty).is_some()
            || self.is_wide(then.ty)
            || self.is_wide(els.ty)
        {
            return self.usual_conversions(then, els, span);
        }
        let void = |sema: &Self, ty| matches!(sema.kind(ty), TyKind::Void);
        if void(self, then.ty) || void(self, els.ty) {
            let ty = self.void_ty();
            let to_void = |sema: &Self, e: Expr| {
                if e.ty == ty {
                    e
                } else {
                    let span = e.span;
                    sema.expr(ExprKind::Cast(CastKind::ToVoid, Box::new(e)), ty, span)
                }
            };
            return Some((to_void(self, then), to_void(self, els)));
        }
        if self.is_pointer(then.ty) || self.is_pointer(els.ty) {
            return self.common_pointer(then, els, span, &CONDITIONAL);
        }
        if then.ty == els.ty && !matches!(self.kind(then.ty), TyKind::Pipe(..)) {
            return Some((then, els));
        }
        let (a, b) = (self.show(then.ty), self.show(els.ty));
        self.err(span, format!("incompatible operand types ('{a}' and '{b}')"));
        None
    }

    /// Checks `c ? a : b` with a vector condition. The result is that of `select(b, a, c)` (OpenCL C 6.5.9).
    fn vector_select(&mut self, cond: Expr, kind: ScalarKind, lanes: u8, then: Expr, els: Expr, span: Span) -> Expr {
        let (then, els) = (self.narrowed(then), self.narrowed(els));
        if is_float(kind) {
            let shown = self.show(cond.ty);
            self.err(cond.span, format!("used type '{shown}' where integer vector type is required"));
            return self.error_expr(span);
        }
        let scalars = self.scalar_kind(then.ty).zip(self.scalar_kind(els.ty));
        let (then, els) = if let Some((a, b)) = scalars {
            // Two scalars are widened to vectors with the lane count of the condition. The lane type is their common
            // type. If the size of the common type differs from that of the condition's lanes, two scalars of one type
            // keep their type.
            let common = usual_kind(a, b);
            let fitting = match (scalar_size(common) == scalar_size(kind), a == b) {
                (true, _) => common,
                (false, true) => a,
                (false, false) => common,
            };
            let ty = self.lanes(fitting, lanes);
            (self.arith_cast(then, ty), self.arith_cast(els, ty))
        } else {
            match self.usual_conversions(then, els, span) {
                Some(pair) => pair,
                None => return self.error_expr(span),
            }
        };
        let fits = self.arith(then.ty).is_some_and(|(value, n)| n == lanes && scalar_size(value) == scalar_size(kind));
        if !fits {
            let (a, b) = (self.show(cond.ty), self.show(then.ty));
            self.err(
                span,
                format!(
                    "vector condition type '{a}' and result type '{b}' do not have the same number of elements or elements of the same size"
                ),
            );
            return self.error_expr(span);
        }
        let ty = then.ty;
        self.expr(ExprKind::VecSelect { cond: Box::new(cond), then: Box::new(then), els: Box::new(els) }, ty, span)
    }

    // Assignment.

    pub(super) fn assignment(&mut self, op: Option<ast::BinaryOp>, target: Operand, value: Expr, span: Span) -> Expr {
        let ty = self.operand_type(&target).ty;
        if self.is_error(ty) && matches!(target, Operand::Lvalue(_) | Operand::Value(_)) {
            return self.error_expr(span);
        }
        if self.is_error(value.ty) {
            return self.error_expr(span);
        }
        let Some(lvalue) = self.modifiable(target, span) else { return self.error_expr(span) };
        match op {
            None => {
                if matches!(self.kind(ty), TyKind::Atomic(_) | TyKind::AtomicFlag) {
                    self.err(span, "atomic variable cannot be assigned to; use an atomic function such as atomic_store");
                    return self.error_expr(span);
                }
                let value = self.assign_convert(value, ty, &Purpose::Assign);
                if self.is_error(value.ty) {
                    return value;
                }
                self.expr(ExprKind::Assign { lvalue: Box::new(lvalue), value: Box::new(value) }, ty, span)
            }
            Some(op) if self.is_wide(value.ty) => self.wide_assignment(op, lvalue, value, span),
            Some(op) => self.compound_assignment(op, lvalue, value, span),
        }
    }

    pub(super) fn compound_assignment(&mut self, op: ast::BinaryOp, lvalue: Lvalue, value: Expr, span: Span) -> Expr {
        use ast::BinaryOp as B;
        let ty = lvalue.ty.ty;
        if let TyKind::Pointer { pointee, .. } = *self.kind(ty) {
            if !matches!(op, B::Add | B::Sub) || !self.is_integer_scalar(value.ty) {
                let (a, b) = (self.show(ty), self.show(value.ty));
                self.err(span, format!("invalid operands to binary expression ('{a}' and '{b}')"));
                return self.error_expr(span);
            }
            let Some(stride) = self.pointer_stride(pointee, span) else { return self.error_expr(span) };
            let index = self.promote(value);
            let kind = ExprKind::PointerAssign { lvalue: Box::new(lvalue), index: Box::new(index), stride, negate: op == B::Sub };
            return self.expr(kind, ty, span);
        }
        let (Some((kind, lanes)), Some((value_kind, value_lanes))) = (self.arith(ty), self.arith(value.ty)) else {
            let (a, b) = (self.show(ty), self.show(value.ty));
            self.err(span, format!("invalid operands to binary expression ('{a}' and '{b}')"));
            return self.error_expr(span);
        };
        let integers_only = matches!(op, B::Rem | B::BitAnd | B::BitOr | B::BitXor | B::Shl | B::Shr);
        if (integers_only && (is_float(kind) || is_float(value_kind))) || (lanes == 1 && value_lanes != 1) {
            let (a, b) = (self.show(ty), self.show(value.ty));
            self.err(span, format!("invalid operands to binary expression ('{a}' and '{b}')"));
            return self.error_expr(span);
        }
        let is_shift = matches!(op, B::Shl | B::Shr);
        let (compute, value) = if is_shift {
            let value = self.promote(value);
            let compute = self.lanes(if lanes == 1 { promoted(kind) } else { kind }, lanes);
            let value = if lanes == value_lanes { value } else { self.arith_cast(value, compute) };
            if lanes != 1 && value_lanes != 1 && lanes != value_lanes {
                let (a, b) = (self.show(ty), self.show(value.ty));
                self.err(span, format!("invalid operands to binary expression ('{a}' and '{b}')"));
                return self.error_expr(span);
            }
            (compute, value)
        } else if lanes == 1 {
            let compute = self.scalar(usual_kind(kind, value_kind));
            (compute, self.cast(CastKind::Arith, value, compute))
        } else if value_lanes == 1 {
            match self.widen(value, value_kind, ty, kind, span) {
                Some(value) => (ty, value),
                None => return self.error_expr(span),
            }
        } else if value.ty == ty {
            (ty, value)
        } else {
            let (a, b) = (self.show(ty), self.show(value.ty));
            self.err(span, format!("cannot convert between vector type '{a}' and vector type '{b}'"));
            return self.error_expr(span);
        };
        let contract = self.is_contract_on();
        let kind = ExprKind::CompoundAssign { op: thir_op(op), lvalue: Box::new(lvalue), value: Box::new(value), compute, contract };
        self.expr(kind, ty, span)
    }
}

/// Returns the operator of the typed tree. `&&` and `||` become the operators for vectors. For scalars, the typed tree
/// has separate expressions.
pub(super) const fn thir_op(op: ast::BinaryOp) -> BinaryOp {
    use ast::BinaryOp as B;
    match op {
        B::Add => BinaryOp::Add,
        B::Sub => BinaryOp::Sub,
        B::Mul => BinaryOp::Mul,
        B::Div => BinaryOp::Div,
        B::Rem => BinaryOp::Rem,
        B::Shl => BinaryOp::Shl,
        B::Shr => BinaryOp::Shr,
        B::BitAnd => BinaryOp::BitAnd,
        B::BitOr => BinaryOp::BitOr,
        B::BitXor => BinaryOp::BitXor,
        B::LogAnd => BinaryOp::VecAnd,
        B::LogOr => BinaryOp::VecOr,
        B::Eq => BinaryOp::Eq,
        B::Ne => BinaryOp::Ne,
        B::Lt => BinaryOp::Lt,
        B::Le => BinaryOp::Le,
        B::Gt => BinaryOp::Gt,
        B::Ge => BinaryOp::Ge,
    }
}

/// Whether an integer type can represent the unsigned number `value`.
pub(super) fn fits(kind: ScalarKind, value: u64) -> bool {
    let bits = scalar_size(kind) * 8;
    let usable = if is_signed(kind) { bits - 1 } else { bits };
    usable >= 64 || value >> usable == 0
}
