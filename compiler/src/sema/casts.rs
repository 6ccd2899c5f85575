//! Explicit casts, vector literals, `as_type` (OpenCL C 6.3.6, 6.4.2, 6.4.4, 6.7.5).

use super::{Operand, Sema};
use crate::ast::{self, ScalarKind};
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{CastKind, Constant, Expr, ExprKind, QualTy, Ty, TyKind};

impl Sema<'_> {
    /// Checks a cast, `(type) expr`.
    pub(super) fn cast_expr(&mut self, name: &ast::TypeName, operand: &ast::Expr, span: Span) -> Expr {
        let to = self.type_name(name).ty;
        let value = self.any_rvalue(operand);
        self.explicit_cast(value, to, span)
    }

    pub(super) fn explicit_cast(&mut self, value: Expr, to: Ty, span: Span) -> Expr {
        if self.is_error(value.ty) || self.is_error(to) {
            return self.error_expr(span);
        }
        let mut result = self.cast_to(value, to, span);
        result.span = self.span(span);
        result
    }

    fn cast_to(&mut self, value: Expr, to: Ty, span: Span) -> Expr {
        if self.is_wide(value.ty) {
            if self.arith(to).is_some() {
                return self.arith_cast(value, to);
            }
            let value = self.narrowed(value);
            return self.explicit_cast(value, to, span);
        }
        let from_kind = self.kind(value.ty).clone();
        let to_kind = self.kind(to).clone();
        match (&from_kind, &to_kind) {
            (_, TyKind::Void) => self.expr(ExprKind::Cast(CastKind::ToVoid, Box::new(value)), to, span),
            (TyKind::Void, _) => self.bad_cast(&value, to, span),
            (TyKind::Scalar(ScalarKind::Half), _) | (_, TyKind::Scalar(ScalarKind::Half))
                if !self.target.language.fp16 && !self.in_library =>
            {
                self.err(span, "arithmetic on type 'half' requires cl_khr_fp16");
                self.error_expr(span)
            }
            (TyKind::Vector(..), TyKind::Vector(..)) => {
                if value.ty == to {
                    value
                } else {
                    let (a, b) = (self.show(value.ty), self.show(to));
                    self.err(span, format!("invalid conversion between ext-vector type '{b}' and '{a}'; use convert_{b} or as_{b}"));
                    self.error_expr(span)
                }
            }
            (TyKind::Scalar(ScalarKind::Bool), TyKind::Vector(kind, _)) if !super::is_float(*kind) => {
                // In a vector, true has all bits set (6.4.2).
                let lane = self.scalar(*kind);
                let value = self.cast(CastKind::Arith, value, lane);
                let value = Expr { kind: ExprKind::Unary(crate::thir::UnaryOp::Neg, Box::new(value)), ty: lane, span };
                self.cast(CastKind::Splat, value, to)
            }
            (_, TyKind::Vector(..)) if self.scalar_kind(value.ty).is_some() => self.arith_cast(value, to),
            (_, TyKind::Scalar(_) | TyKind::Enum { .. }) if self.scalar_kind(value.ty).is_some() => self.cast(CastKind::Arith, value, to),
            (TyKind::Pointer { .. }, TyKind::Scalar(ScalarKind::Bool)) => self.pointer_truth(value),
            (TyKind::Pointer { .. }, TyKind::Scalar(_) | TyKind::Enum { .. }) if self.is_integer_scalar(to) => {
                let size = self.size_ty();
                let value = self.cast(CastKind::PointerToInt, value, size);
                self.cast(CastKind::Arith, value, to)
            }
            (TyKind::Scalar(_) | TyKind::Enum { .. }, TyKind::Pointer { .. }) if self.is_integer_scalar(value.ty) => {
                if self.integer_constant(&value) == Some(0) {
                    return self.expr(ExprKind::Constant(Constant::Null), to, span);
                }
                let size = self.size_ty();
                let value = self.cast(CastKind::Arith, value, size);
                self.cast(CastKind::IntToPointer, value, to)
            }
            (TyKind::Pointer { space: from, .. }, TyKind::Pointer { space: target, .. }) => {
                if !can_cast_between_spaces(*from, *target) && !self.is_null_constant(&value) {
                    let (a, b) = (self.show(value.ty), self.show(to));
                    self.err(span, format!("casting '{a}' to type '{b}' changes address space of pointer"));
                    return self.error_expr(span);
                }
                if matches!(value.kind, ExprKind::Constant(Constant::Null)) {
                    return self.expr(ExprKind::Constant(Constant::Null), to, span);
                }
                self.cast(CastKind::Pointer, value, to)
            }
            (TyKind::Record(_), TyKind::Record(_)) if value.ty == to => value,
            (TyKind::Scalar(_), TyKind::Event | TyKind::Queue | TyKind::ReserveId | TyKind::Sampler)
                if self.integer_constant(&value) == Some(0) =>
            {
                self.expr(ExprKind::Constant(Constant::Int(0)), to, span)
            }
            _ if value.ty == to => value,
            (TyKind::Scalar(_), TyKind::ClkEvent) if self.integer_constant(&value) == Some(0) => {
                self.expr(ExprKind::Constant(Constant::Int(0)), to, span)
            }
            // The library converts between integers and these types.
            (TyKind::Queue | TyKind::ClkEvent, TyKind::Scalar(_)) | (TyKind::Scalar(_), TyKind::Queue | TyKind::ClkEvent)
                if self.in_library =>
            {
                self.cast(CastKind::Arith, value, to)
            }
            _ => self.bad_cast(&value, to, span),
        }
    }

    fn bad_cast(&mut self, value: &Expr, to: Ty, span: Span) -> Expr {
        let (a, b) = (self.show(value.ty), self.show(to));
        let scalar = |kind: &TyKind| matches!(kind, TyKind::Scalar(_) | TyKind::Enum { .. } | TyKind::Pointer { .. });
        if !scalar(self.kind(to)) {
            self.err(span, format!("used type '{b}' where arithmetic or pointer type is required"));
        } else if !scalar(self.kind(value.ty)) {
            self.err(span, format!("operand of type '{a}' where arithmetic or pointer type is required"));
        } else if self.is_pointer(to) || self.is_pointer(value.ty) {
            self.err(span, format!("'{a}' cannot be cast to type '{b}'"));
        } else {
            self.err(span, format!("cannot cast from type '{a}' to type '{b}'"));
        }
        self.error_expr(span)
    }

    /// Checks a vector literal, `(float4)(a, b, ...)`. The parts have as many lanes in total as the vector, or the only
    /// part is a scalar for all lanes.
    pub(super) fn vector_literal(&mut self, name: &ast::TypeName, parts: &[ast::Expr], span: Span) -> Expr {
        let to = self.type_name(name).ty;
        let values: Vec<Expr> = parts.iter().map(|part| self.any_rvalue(part)).collect();
        if self.is_error(to) || values.iter().any(|v| self.is_error(v.ty)) {
            return self.error_expr(span);
        }
        if !matches!(self.kind(to), TyKind::Vector(..)) {
            // `(int)(a, b)` is a cast of a comma expression.
            let mut values = values.into_iter();
            let Some(mut value) = values.next() else { return self.error_expr(span) };
            for next in values {
                let ty = next.ty;
                value = self.expr(ExprKind::Comma(Box::new(value), Box::new(next)), ty, span);
            }
            return self.explicit_cast(value, to, span);
        }
        self.vector_of(values, to, span)
    }

    /// Creates a vector from the values of its parts.
    pub(super) fn vector_of(&mut self, values: Vec<Expr>, to: Ty, span: Span) -> Expr {
        let Some((kind, lanes)) = self.arith(to) else { return self.error_expr(span) };
        let mut total = 0u32;
        let mut parts = Vec::with_capacity(values.len());
        let single = values.len() == 1;
        for value in values {
            let value = if self.is_wide(value.ty) {
                let lane = self.scalar(kind);
                self.cast(CastKind::Arith, value, lane)
            } else {
                value
            };
            if self.is_error(value.ty) {
                return value;
            }
            let Some((part_kind, part_lanes)) = self.arith(value.ty) else {
                let (a, b) = (self.show(value.ty), self.show(to));
                self.err(value.span, format!("initializing '{b}' with an expression of incompatible type '{a}'"));
                return self.error_expr(span);
            };
            if part_lanes > 1 && part_kind != kind {
                let (a, b) = (self.show(value.ty), self.show(to));
                self.err(value.span, format!("initializing '{b}' with an expression of incompatible type '{a}'"));
                return self.error_expr(span);
            }
            if single && part_lanes == 1 {
                return self.arith_cast(value, to);
            }
            total += u32::from(part_lanes);
            let ty = self.lanes(kind, part_lanes);
            parts.push(self.arith_cast(value, ty));
        }
        if total != u32::from(lanes) {
            let text = if total < u32::from(lanes) {
                "too few elements in vector initialization"
            } else {
                "excess elements in vector initializer"
            };
            self.err(span, format!("{text} (expected {lanes} elements, have {total})"));
            return self.error_expr(span);
        }
        if parts.len() == 1
            && let Some(part) = parts.pop()
        {
            return part;
        }
        self.fold(ExprKind::VectorLit(parts), to, span)
    }

    /// Creates an expression. If it is constant, returns the constant instead.
    pub(super) fn fold(&mut self, kind: ExprKind, ty: Ty, span: Span) -> Expr {
        let expr = self.expr(kind, ty, span);
        match self.evaluate(&expr) {
            Some(super::consteval::Value::Const(constant)) => Expr { kind: ExprKind::Constant(constant), ..expr },
            _ => expr,
        }
    }

    /// Checks `as_T(expr)` or `__builtin_astype`. The sizes must be equal. A vector of three lanes has the size of a
    /// vector of four lanes (6.4.4.2).
    pub(super) fn as_type(&mut self, value: Expr, to: Ty, span: Span) -> Expr {
        if self.is_error(value.ty) || self.is_error(to) {
            return self.error_expr(span);
        }
        let (a, b) = (self.show(value.ty), self.show(to));
        let sizes = match (self.arith(value.ty), self.arith(to)) {
            (Some((from, n)), Some((kind, m))) => {
                let size = |kind, lanes| scalar_size(kind) * u32::from(if lanes == 3 { 4u8 } else { lanes });
                from != ScalarKind::Bool && kind != ScalarKind::Bool && size(from, n) == size(kind, m)
            }
            _ => self.is_pointer(value.ty) && self.is_pointer(to),
        };
        if !sizes {
            self.err(span, format!("invalid reinterpretation: sizes of '{b}' and '{a}' must match"));
            return self.error_expr(span);
        }
        if value.ty == to {
            return value;
        }
        if self.is_pointer(to) {
            return self.explicit_cast(value, to, span);
        }
        self.cast(CastKind::AsType, value, to)
    }

    /// Checks a compound literal, `(type){ ... }`.
    pub(super) fn compound_literal(&mut self, name: &ast::TypeName, list: &ast::InitList, span: Span) -> Operand {
        let decl = self.type_name_decl(name);
        if self.is_error(decl.qt.ty) {
            return self.error_operand(span);
        }
        if matches!(self.kind(decl.qt.ty), TyKind::Vector(..))
            && list.items.iter().all(|(d, i)| d.is_empty() && matches!(i, ast::Initializer::Expr(_)))
        {
            let values: Vec<Expr> = list
                .items
                .iter()
                .filter_map(|(_, item)| match item {
                    ast::Initializer::Expr(e) => Some(self.any_rvalue(e)),
                    ast::Initializer::List(_) => None,
                })
                .collect();
            if values.iter().any(|v| self.is_error(v.ty)) || values.is_empty() {
                return self.error_operand(span);
            }
            return Operand::Value(self.vector_of(values, decl.qt.ty, span));
        }
        if self.f.is_none() {
            return self.static_compound(decl, list, span);
        }
        let Some((ty, init)) = self.list_initializer(decl.qt, list) else { return self.error_operand(span) };
        let qt = QualTy { ty, ..decl.qt };
        let Some(local) = self.new_local("", qt, span) else { return self.error_operand(span) };
        let mut lvalue = self.local_lvalue(local, span);
        lvalue.kind = crate::thir::LvalueKind::Compound { local, init: Box::new(init) };
        Operand::Lvalue(lvalue)
    }
}

/// Whether an explicit cast of a pointer from one address space to another is allowed (6.7.5).
fn can_cast_between_spaces(from: Space, to: Space) -> bool {
    from == to || (from == Space::Generic && to != Space::Constant) || (to == Space::Generic && from != Space::Constant)
}
