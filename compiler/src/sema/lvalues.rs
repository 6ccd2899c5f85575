//! Lvalues: creation, reads, and checks of writes and addresses.

use super::{Operand, Sema};
use crate::ast::ScalarKind;
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::{Expr, ExprKind, GlobalId, LocalId, Lvalue, LvalueKind, QualTy, TyKind};

impl Sema<'_> {
    pub(super) fn local_lvalue(&mut self, local: LocalId, span: Span) -> Lvalue {
        let span = self.span(span);
        let (ty, align) = match self.f.as_ref().and_then(|f| f.locals.get(local.index())) {
            Some(local) => (local.ty, local.align),
            None => (QualTy::plain(self.error_ty()), 1),
        };
        Lvalue { kind: LvalueKind::Local(local), ty, space: Space::Private, align, span }
    }

    pub(super) fn global_lvalue(&mut self, global: GlobalId, span: Span) -> Lvalue {
        let span = self.span(span);
        let variable = &self.globals[global.index()];
        if !variable.defined {
            self.extern_uses.entry(global).or_insert(span);
        }
        Lvalue { kind: LvalueKind::Global(global), ty: variable.ty, space: variable.space, align: variable.align, span }
    }

    /// Creates the lvalue that `pointer` points to. The caller must ensure that the pointee is an object type.
    pub(super) fn deref_lvalue(&mut self, pointer: Expr, span: Span) -> Lvalue {
        let (pointee, space) = match *self.kind(pointer.ty) {
            TyKind::Pointer { pointee, space, .. } => (pointee, space),
            _ => (QualTy::plain(self.error_ty()), Space::Private),
        };
        let align = pointee.align.unwrap_or_else(|| self.align_of(pointee.ty));
        let span = self.span(span);
        // `*&x` is `x`.
        match pointer.kind {
            ExprKind::AddrOf(lvalue) if lvalue.ty == pointee => *lvalue,
            kind => {
                let pointer = Expr { kind, ty: pointer.ty, span: pointer.span };
                Lvalue { kind: LvalueKind::Deref(Box::new(pointer)), ty: pointee, space, align, span }
            }
        }
    }

    pub(super) fn field_lvalue(&mut self, base: Lvalue, offset: u32, ty: QualTy, span: Span) -> Lvalue {
        let span = self.span(span);
        let ty = self.with_quals(ty, base.ty.is_const, base.ty.is_volatile);
        let offset_align = if offset == 0 { base.align } else { 1 << offset.trailing_zeros().min(20) };
        let align = base.align.min(offset_align).max(1);
        let space = base.space;
        Lvalue { kind: LvalueKind::Field { base: Box::new(base), offset }, ty, space, align, span }
    }

    /// Creates an lvalue for a value, so that its members or lanes can be accessed.
    pub(super) fn temporary(&mut self, value: Expr) -> Lvalue {
        let (ty, span) = (value.ty, value.span);
        let align = self.align_of(ty);
        Lvalue { kind: LvalueKind::Temporary(Box::new(value)), ty: QualTy::plain(ty), space: Space::Private, align, span }
    }

    /// Converts an operand to a value: reads lvalues, and converts arrays to pointers. Rejects functions and blocks.
    pub(super) fn rvalue(&mut self, operand: Operand) -> Expr {
        match operand {
            Operand::Value(value) => value,
            Operand::Lvalue(lvalue) => self.load(lvalue),
            Operand::Functions(_, span) => {
                self.err(span, "taking address of function is not allowed");
                self.error_expr(span)
            }
            Operand::Builtin(name, span) => {
                self.err(span, format!("taking address of function '{name}' is not allowed"));
                self.error_expr(span)
            }
            Operand::Block(block, span) => {
                self.no_block_value(&block, span);
                self.error_expr(span)
            }
        }
    }

    /// Checks an expression and converts it to a value. Converts 128-bit integers to 64 bits, unlike
    /// [`Self::any_rvalue`].
    pub(super) fn rvalue_expr(&mut self, expr: &crate::ast::Expr) -> Expr {
        let value = self.any_rvalue(expr);
        self.narrowed(value)
    }

    fn load(&mut self, lvalue: Lvalue) -> Expr {
        let span = lvalue.span;
        match *self.kind(lvalue.ty.ty) {
            TyKind::Error => self.error_expr(span),
            TyKind::Array { element, .. } => {
                let ty = self.pointer(element, lvalue.space);
                self.expr(ExprKind::Decay(Box::new(lvalue)), ty, span)
            }
            TyKind::Scalar(ScalarKind::Half) | TyKind::Vector(ScalarKind::Half, _) if !self.target.language.fp16 && !self.in_library => {
                let shown = self.show(lvalue.ty.ty);
                self.err(
                    span,
                    format!(
                        "loading directly from pointer to type '{shown}' requires cl_khr_fp16. Use vector data load builtin functions instead"
                    ),
                );
                self.error_expr(span)
            }
            _ if self.is_incomplete(lvalue.ty.ty) => {
                let shown = self.show(lvalue.ty.ty);
                self.err(span, format!("incomplete type '{shown}' where a complete type is required"));
                self.error_expr(span)
            }
            _ => {
                let ty = lvalue.ty.ty;
                self.expr(ExprKind::Load(Box::new(lvalue)), ty, span)
            }
        }
    }

    /// Whether a type is a struct, union or enumeration that is declared but not defined.
    pub(super) fn is_incomplete(&self, ty: crate::thir::Ty) -> bool {
        match *self.kind(ty) {
            TyKind::Record(id) => !self.types.record(id).complete,
            TyKind::Forward { .. } => true,
            _ => false,
        }
    }

    /// Returns the type of an operand before lvalue conversion. Functions have the error type.
    pub(super) fn operand_type(&mut self, operand: &Operand) -> QualTy {
        match operand {
            Operand::Value(value) => QualTy::plain(value.ty),
            Operand::Lvalue(lvalue) => lvalue.ty,
            Operand::Functions(..) | Operand::Builtin(..) => QualTy::plain(self.error_ty()),
            Operand::Block(block, _) => QualTy::plain(block.ty),
        }
    }

    /// Whether a record or an array of records has a `const` member, at any depth.
    fn has_const_member(&self, ty: crate::thir::Ty) -> bool {
        match self.kind(ty) {
            TyKind::Record(id) => self.types.record(*id).fields.iter().any(|f| f.ty.is_const || self.has_const_member(f.ty.ty)),
            TyKind::Array { element, .. } => element.is_const || self.has_const_member(element.ty),
            _ => false,
        }
    }

    /// Returns the lvalue of an operand. Reports an error and returns `None` if the operand is not modifiable.
    pub(super) fn modifiable(&mut self, operand: Operand, span: Span) -> Option<Lvalue> {
        let lvalue = match operand {
            Operand::Lvalue(lvalue) => lvalue,
            Operand::Value(value) => {
                if !self.is_error(value.ty) {
                    self.err(span, "expression is not assignable");
                }
                return None;
            }
            Operand::Functions(..) | Operand::Builtin(..) => {
                self.err(span, "non-object type is not assignable");
                return None;
            }
            Operand::Block(..) => {
                self.err(span, "cannot assign to a block variable: it is const");
                return None;
            }
        };
        let shown = self.types.display_qual(lvalue.ty);
        let shown = shown.trim_end().to_owned();
        match self.kind(lvalue.ty.ty) {
            TyKind::Error => return None,
            TyKind::Array { .. } => {
                self.err(span, format!("array type '{shown}' is not assignable"));
                return None;
            }
            TyKind::Void => {
                self.err(span, "incomplete type 'void' is not assignable");
                return None;
            }
            TyKind::Image(..) | TyKind::Pipe(..) | TyKind::Sampler => {
                self.err(span, format!("variable of type '{shown}' is not assignable"));
                return None;
            }
            _ if self.is_incomplete(lvalue.ty.ty) => {
                self.err(span, format!("incomplete type '{shown}' is not assignable"));
                return None;
            }
            _ => {}
        }
        if is_in_temporary(&lvalue) {
            self.err(span, "expression is not assignable");
            return None;
        }
        if lvalue.space == Space::Constant || lvalue.ty.is_const || self.has_const_member(lvalue.ty.ty) {
            let name = match &lvalue.kind {
                LvalueKind::Local(local) => self.f.as_ref().and_then(|f| f.locals.get(local.index())).map(|l| l.name.clone()),
                LvalueKind::Global(global) => Some(self.globals[global.index()].name.clone()),
                _ => None,
            };
            match name {
                Some(name) if lvalue.space == Space::Constant => {
                    self.err(span, format!("cannot assign to variable '{name}' in '__constant' address space"));
                }
                Some(name) => self.err(span, format!("cannot assign to variable '{name}' with const-qualified type '{shown}'")),
                None if lvalue.space == Space::Constant => {
                    self.err(span, "read-only variable is not assignable: it is in constant address space");
                }
                None if lvalue.ty.is_const => self.err(span, format!("read-only variable is not assignable: its type is '{shown}'")),
                None => self.err(span, format!("read-only variable is not assignable: '{shown}' has a member of a const-qualified type")),
            }
            return None;
        }
        if matches!(self.kind(lvalue.ty.ty), TyKind::Scalar(ScalarKind::Half) | TyKind::Vector(ScalarKind::Half, _))
            && !self.target.language.fp16
        {
            self.err(
                span,
                format!(
                    "assigning directly to pointer to type '{shown}' requires cl_khr_fp16. Use vector data store builtin functions instead"
                ),
            );
            return None;
        }
        if let LvalueKind::Lanes { lanes, .. } = &lvalue.kind {
            let mut seen = 0u16;
            for lane in lanes {
                let bit = 1u16 << (lane & 15);
                if seen & bit != 0 {
                    self.err(span, "vector is not assignable (contains duplicate components)");
                    return None;
                }
                seen |= bit;
            }
        }
        Some(lvalue)
    }
}

/// Whether an lvalue is a temporary value, or a member, element or lane of a temporary value.
fn is_in_temporary(lvalue: &Lvalue) -> bool {
    let mut lvalue = lvalue;
    loop {
        lvalue = match &lvalue.kind {
            LvalueKind::Temporary(_) => return true,
            LvalueKind::Field { base, .. }
            | LvalueKind::Element { base, .. }
            | LvalueKind::Lanes { base, .. }
            | LvalueKind::LaneDyn { base, .. } => base,
            _ => return false,
        };
    }
}
