//! Calls of built-in functions that the library implements in OpenCL C.
//!
//! Most library functions exist only for scalars, and some of them not for `half`. A call with vectors becomes one call
//! per lane. If there is no function for `half`, arguments and results are converted from and to `float`.

use super::overloads::Bound;
use super::{Operand, Sema};
use crate::ast::{Name, ScalarKind};
use crate::builtins::signature::{Element, Signature, Type};
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{CastKind, Expr, ExprKind, FuncId, Init, LocalId, Lvalue, LvalueKind, QualTy, Stmt, StmtKind, Ty, TyKind};

/// A call of a library function.
pub(super) struct LibraryCall<'a> {
    pub(super) signature: &'a Signature,
    pub(super) bound: Bound,
    /// The arguments, converted to the parameter types.
    pub(super) args: Vec<Expr>,
    pub(super) ret: Ty,
    pub(super) span: Span,
}

/// The called library function.
#[derive(Clone, Copy)]
struct Callee {
    func: FuncId,
    /// The scalar type of the function: the type of the call, or `float` if the call has type `half` and the library
    /// has no function for `half`.
    kind: ScalarKind,
}

const fn is_generic(ty: Type) -> bool {
    matches!(ty, Type::Value(Element::Generic, _))
}

impl Sema<'_> {
    /// Creates a call of a library function: one call, or one per lane.
    pub(super) fn library_call(&mut self, name: &Name, call: LibraryCall<'_>) -> Expr {
        let span = call.span;
        let Bound { kind: wanted, lanes, .. } = call.bound;
        let Some((func, kind)) = self.library_variant(name, wanted, call.signature) else {
            let shown = crate::thir::types::scalar_name(wanted);
            self.err(span, format!("function '{name}' is not supported for '{shown}' by this device"));
            return self.error_expr(span);
        };
        self.note_call(func, span);
        if call.signature.params.iter().any(|slot| slot.pointer.is_some()) {
            return self.library_call_with_results(Callee { func, kind }, call);
        }
        let own_ret = if is_generic(call.signature.ret.ty) { self.lanes(kind, lanes) } else { call.ret };
        let mut args = Vec::with_capacity(call.args.len());
        for (value, slot) in call.args.into_iter().zip(&call.signature.params) {
            args.push(if is_generic(slot.ty) {
                let ty = self.lanes(kind, lanes);
                self.arith_cast(value, ty)
            } else {
                value
            });
        }
        let called = if lanes == 1 { ExprKind::Call { func, args, part: None } } else { ExprKind::CallLanes { func, args } };
        let called = self.expr(called, own_ret, span);
        if own_ret == call.ret { called } else { self.cast(CastKind::Arith, called, call.ret) }
    }

    /// Creates a call of a library function that also returns results through pointers to private memory. The function
    /// stores them to temporaries. Each lane is then stored through the caller's pointers, which can be in any address
    /// space.
    fn library_call_with_results(&mut self, callee: Callee, call: LibraryCall<'_>) -> Expr {
        let is_private = |arg: &Expr| match self.kind(arg.ty) {
            TyKind::Pointer { space, .. } => *space == Space::Private,
            _ => true,
        };
        if call.bound.lanes == 1 && callee.kind == call.bound.kind && call.args.iter().all(is_private) {
            return self.expr(ExprKind::Call { func: callee.func, args: call.args, part: None }, call.ret, call.span);
        }
        if self.f.is_none() {
            self.err(call.span, "initializer element is not a compile-time constant");
            return self.error_expr(call.span);
        }
        let span = call.span;
        self.call_lane_by_lane(callee, call).unwrap_or_else(|| self.error_expr(span))
    }

    fn call_lane_by_lane(&mut self, callee: Callee, mut call: LibraryCall<'_>) -> Option<Expr> {
        let span = call.span;
        let mut stmts = Vec::new();
        let mut sources = Vec::new();
        for arg in std::mem::take(&mut call.args) {
            sources.push(self.unnamed_local(&mut stmts, arg.ty, Some(arg), span)?);
        }
        let result = self.unnamed_local(&mut stmts, call.ret, None, span)?;
        for lane in 0..call.bound.lanes {
            self.call_for_lane(&mut stmts, callee, &call, (&sources, result), lane)?;
        }
        let value = self.local_value(result, span);
        Some(self.expr(ExprKind::StmtExpr { stmts, value: Some(Box::new(value)) }, call.ret, span))
    }

    /// Appends the call for one lane of the argument variables, and the stores of its results.
    fn call_for_lane(
        &mut self,
        stmts: &mut Vec<Stmt>,
        callee: Callee,
        call: &LibraryCall<'_>,
        (sources, result): (&[LocalId], LocalId),
        lane: u8,
    ) -> Option<()> {
        let (span, Bound { kind, lanes, .. }) = (call.span, call.bound);
        let (callee_scalar, caller_scalar) = (self.scalar(callee.kind), self.scalar(kind));
        let mut args = Vec::new();
        let mut outputs = Vec::new();
        let lane_bound = call.bound.lane();
        for (source, slot) in sources.iter().zip(&call.signature.params) {
            if slot.pointer.is_some() {
                let lane_ty = self.bound_type(slot.ty, &lane_bound);
                let ty = if is_generic(slot.ty) { callee_scalar } else { lane_ty };
                let output = self.unnamed_local(stmts, ty, None, span)?;
                let lvalue = self.local_lvalue(output, span);
                let pointer_ty = self.pointer(QualTy::plain(ty), Space::Private);
                args.push(self.expr(ExprKind::AddrOf(Box::new(lvalue)), pointer_ty, span));
                outputs.push((*source, output, lane_ty));
            } else {
                let lvalue = self.local_lvalue(*source, span);
                let lvalue = self.lane_of(lvalue, lane, lanes);
                let value = self.rvalue(Operand::Lvalue(lvalue));
                args.push(if is_generic(slot.ty) { self.arith_cast(value, callee_scalar) } else { value });
            }
        }
        let called = self.expr(ExprKind::Call { func: callee.func, args, part: (lanes > 1).then_some(lane) }, callee_scalar, span);
        let called = self.cast(CastKind::Arith, called, caller_scalar);
        let target = self.local_lvalue(result, span);
        let target = self.lane_of(target, lane, lanes);
        stmts.push(self.store(target, called, span));
        for (pointer, output, lane_ty) in outputs {
            let pointer = self.local_value(pointer, span);
            let target = self.deref_lvalue(pointer, span);
            let target = self.lane_of(target, lane, lanes);
            let value = self.local_value(output, span);
            let value = self.cast(CastKind::Arith, value, lane_ty);
            stmts.push(self.store(target, value, span));
        }
        Some(())
    }

    /// Declares an unnamed private variable. Appends the declaration to `stmts`.
    fn unnamed_local(&mut self, stmts: &mut Vec<Stmt>, ty: Ty, init: Option<Expr>, span: Span) -> Option<LocalId> {
        let local = self.new_local("", QualTy::plain(ty), span)?;
        stmts.push(Stmt { kind: StmtKind::Local { local, init: init.map(Init::Expr) }, span: self.span(span) });
        Some(local)
    }

    pub(super) fn local_value(&mut self, local: LocalId, span: Span) -> Expr {
        let lvalue = self.local_lvalue(local, span);
        self.rvalue(Operand::Lvalue(lvalue))
    }

    fn store(&mut self, lvalue: Lvalue, value: Expr, span: Span) -> Stmt {
        let ty = lvalue.ty.ty;
        let assign = self.expr(ExprKind::Assign { lvalue: Box::new(lvalue), value: Box::new(value) }, ty, span);
        Stmt { kind: StmtKind::Expr(assign), span: self.span(span) }
    }

    /// Returns the lvalue of a lane of a vector, or `lvalue` itself if it is a scalar.
    fn lane_of(&mut self, lvalue: Lvalue, lane: u8, lanes: u8) -> Lvalue {
        if lanes == 1 {
            return lvalue;
        }
        let Some((kind, _)) = self.arith(lvalue.ty.ty) else { return lvalue };
        let ty = self.scalar(kind);
        let qt = QualTy { ty, ..lvalue.ty };
        let (space, span) = (lvalue.space, lvalue.span);
        let align = scalar_size(kind).min(lvalue.align);
        Lvalue { kind: LvalueKind::Lanes { base: Box::new(lvalue), lanes: vec![lane] }, ty: qt, space, align, span }
    }
}
