//! Calls: user functions and their overloads (C99 6.5.2.2). The module `overloads` resolves calls of the built-in
//! functions in the table.

use super::convert::{PointerFit, Purpose, promoted};
use super::{Operand, Sema};
use crate::ast::{self, Name, ScalarKind};
use crate::diag::{Diagnostic, Span};
use crate::thir::{Expr, ExprKind, FuncId, Ty, TyKind};

/// The rank of the conversion of an argument. Lower is better.
type Rank = u32;

/// Returns the candidate that is at least as good as every other for each argument, and better for at least one
/// argument. Returns `None` if there is no such candidate.
fn best_candidate(viable: &[(Vec<Rank>, FuncId)]) -> Option<FuncId> {
    let beats = |a: &[Rank], b: &[Rank]| a.iter().zip(b).all(|(x, y)| x <= y) && a.iter().zip(b).any(|(x, y)| x < y);
    let best = viable.iter().find(|(ranks, id)| viable.iter().all(|(others, other)| other == id || beats(ranks, others)));
    best.map(|(_, id)| *id)
}

impl Sema<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        let target = callee.without_parentheses();
        let operand = match &target.kind {
            ast::ExprKind::Ident(name) if !self.is_declared(name) => {
                for arg in args {
                    self.operand(arg);
                }
                let hint = self.suggest_function(name);
                if name.starts_with("__builtin_") {
                    self.err_hint(target.span, &format!("use of unknown builtin '{name}'"), &hint);
                } else {
                    self.err_hint(target.span, &format!("implicit declaration of function '{name}' is invalid in OpenCL"), &hint);
                }
                return self.error_expr(span);
            }
            ast::ExprKind::Ident(name) if crate::builtins::gnu::is_known(name) && self.lookup(name).is_none() => {
                return self.gnu_builtin(name, args, target.span, span);
            }
            _ => self.operand(target),
        };
        match operand {
            Operand::Builtin(name, _) => self.builtin_call(&name, args, target.span, span),
            Operand::Functions(list, _) => {
                let values: Vec<Expr> = args.iter().map(|arg| self.any_rvalue(arg)).collect();
                if values.iter().any(|v| self.is_error(v.ty)) {
                    return self.error_expr(span);
                }
                self.user_call(&list, values, args, target.span, span)
            }
            Operand::Block(block, _) => self.call_block(&block, args, target.span, span),
            other => {
                let ty = self.operand_type(&other).ty;
                for arg in args {
                    self.operand(arg);
                }
                if !self.is_error(ty) {
                    let shown = self.show(ty);
                    self.err(target.span, format!("called object type '{shown}' is not a function or function pointer"));
                }
                self.error_expr(span)
            }
        }
    }

    /// Whether the name of a callee is declared.
    fn is_declared(&mut self, name: &Name) -> bool {
        self.lookup(name).is_some()
            || self.is_builtin(name)
            || crate::builtins::gnu::is_known(name)
            || (self.in_library && self.library_symbol(name).is_some())
    }

    fn user_call(&mut self, list: &[FuncId], values: Vec<Expr>, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        let Some(&first) = list.first() else { return self.error_expr(span) };
        let name = self.decls[first.index()].name.clone();
        if list.len() == 1 && !self.decls[first.index()].overloadable {
            return self.call_function(first, values, args, name_span, span);
        }
        let values: Vec<Expr> = values.into_iter().map(|value| self.narrowed(value)).collect();
        if values.iter().any(|value| self.is_error(value.ty)) {
            return self.error_expr(span);
        }
        let mut viable: Vec<(Vec<Rank>, FuncId)> = Vec::new();
        for id in list {
            let decl = &self.decls[id.index()];
            if decl.params.len() != values.len() {
                continue;
            }
            let ranks: Option<Vec<Rank>> =
                values.iter().zip(&decl.params).map(|(value, param)| self.conversion_rank(value, param.ty.ty)).collect();
            viable.extend(ranks.map(|ranks| (ranks, *id)));
        }
        let exact = viable.iter().find(|(ranks, _)| ranks.iter().all(|rank| *rank == 0)).map(|(_, id)| *id);
        if let Some(id) = exact {
            return self.call_function(id, values, args, name_span, span);
        }
        let best = best_candidate(&viable);
        // A built-in overload is called if no user overload is best, or if its parameter types are exactly the argument
        // types.
        if !self.in_library && self.is_builtin(&name) && (best.is_none() || self.fits_table_exactly(&name, &values)) {
            return self.builtin_call_values(&name, values, args, name_span, span);
        }
        match best {
            Some(id) => self.call_function(id, values, args, name_span, span),
            None if viable.is_empty() => {
                self.no_match(&name, &values, name_span);
                self.error_expr(span)
            }
            None => {
                let candidates: Vec<Span> = viable.iter().map(|(_, id)| self.decls[id.index()].span).collect();
                let mut error = Diagnostic::error(name_span, format!("call to '{name}' is ambiguous"));
                for at in candidates.into_iter().filter(|at| *at != Span::NONE) {
                    error = error.with_note(at, "candidate function");
                }
                self.report(error);
                self.error_expr(span)
            }
        }
    }

    fn no_match(&mut self, name: &str, values: &[Expr], span: Span) {
        let types: Vec<String> = values.iter().map(|v| format!("'{}'", self.show(v.ty))).collect();
        let text = if types.is_empty() {
            format!("no matching function for call to '{name}' without arguments")
        } else {
            format!("no matching function for call to '{name}' with arguments of type {}", types.join(", "))
        };
        self.err(span, text);
    }

    /// Returns the rank of an implicit conversion. The attribute `overloadable` uses the overload rules of C++. Returns
    /// `None` if there is no conversion. The ranks are:
    /// - 0: exact match
    /// - 1: only adds qualifiers, or converts to the generic address space
    /// - 2: promotion
    /// - 3: other conversion
    /// - 4 and 5: conversion that C permits and C++ does not
    fn conversion_rank(&self, value: &Expr, ty: Ty) -> Option<Rank> {
        if value.ty == ty {
            return Some(0);
        }
        match (self.kind(value.ty), self.kind(ty)) {
            (TyKind::Error, _) | (_, TyKind::Error) => Some(0),
            (TyKind::Scalar(_) | TyKind::Enum { .. }, TyKind::Scalar(_) | TyKind::Enum { .. }) => {
                let (from, to) = (self.scalar_kind(value.ty)?, self.scalar_kind(ty)?);
                let widens = matches!(
                    (from, to),
                    (ScalarKind::Float, ScalarKind::Double) | (ScalarKind::Half, ScalarKind::Float | ScalarKind::Double)
                );
                Some(if promoted(from) == to || widens { 2 } else { 3 })
            }
            (TyKind::Scalar(_) | TyKind::Enum { .. }, TyKind::Vector(..)) => Some(3),
            (TyKind::Pointer { .. }, TyKind::Pointer { pointee, .. }) => {
                if self.is_null_constant(value) {
                    return Some(3);
                }
                match self.pointer_fit(value.ty, ty) {
                    PointerFit::Same if matches!(self.kind(pointee.ty), TyKind::Void) => Some(3),
                    PointerFit::Same => Some(u32::from(!self.is_compatible(value.ty, ty))),
                    PointerFit::DropsQualifiers => Some(4),
                    PointerFit::OtherPointee => Some(5),
                    PointerFit::OtherSpace => None,
                }
            }
            (_, TyKind::Pointer { .. }) if self.is_null_constant(value) => Some(3),
            (TyKind::Pointer { .. }, TyKind::Scalar(ScalarKind::Bool)) => Some(3),
            _ => None,
        }
    }

    pub(super) fn call_function(&mut self, id: FuncId, values: Vec<Expr>, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        self.record_call(id, name_span);
        let decl = self.decls[id.index()].clone();
        let (expected, given) = (decl.params.len(), values.len());
        if expected != given {
            let word = if given < expected { "few" } else { "many" };
            let at = if given > expected { args.get(expected).map_or(span, |a| a.span) } else { name_span };
            self.err_note(
                at,
                format!("too {word} arguments to function call, expected {expected}, have {given}"),
                decl.span,
                format!("'{}' declared here", decl.name),
            );
            return self.error_expr(span);
        }
        if self.is_incomplete(decl.ret) {
            let shown = self.show(decl.ret);
            let message = format!("calling '{}' with incomplete return type '{shown}'", decl.name);
            self.err_note(name_span, message, decl.span, format!("'{}' declared here", decl.name));
            return self.error_expr(span);
        }
        let mut converted = Vec::with_capacity(given);
        for (value, param) in values.into_iter().zip(&decl.params) {
            if self.is_incomplete(param.ty.ty) {
                let shown = self.show(param.ty.ty);
                self.err(value.span, format!("argument type '{shown}' is incomplete"));
                return self.error_expr(span);
            }
            let value = self.assign_convert(value, param.ty.ty, &Purpose::Pass);
            if self.is_error(value.ty) {
                return self.error_expr(span);
            }
            converted.push(value);
        }
        self.note_call(id, span);
        self.expr(ExprKind::Call { func: id, args: converted, part: None }, decl.ret, span)
    }

    /// Records a call of `callee` by the current function. Queues a library function for checking.
    pub(super) fn note_call(&mut self, callee: FuncId, span: Span) {
        if let Some(f) = &self.f {
            let caller = f.id;
            self.calls.push((caller, callee, span));
        }
        // Outside of functions, no call is recorded. Initialisers at program scope must be constant, so a call in an
        // initialiser is an error.
        self.require_library(callee);
    }

    // Built-ins.

    /// Whether the language version and the device have a built-in function with this name.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        self.is_in_table(name) || self.is_family(name) || (super::enqueue::is_known(name) && self.has_enqueue())
    }

    fn builtin_call(&mut self, name: &Name, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        if &**name == "printf" {
            return self.printf(args, span);
        }
        if super::enqueue::is_known(name) {
            return self.enqueue_call(name, args, name_span, span);
        }
        let values: Vec<Expr> = args.iter().map(|arg| self.rvalue_expr(arg)).collect();
        if values.iter().any(|v| self.is_error(v.ty)) {
            return self.error_expr(span);
        }
        self.builtin_call_values(name, values, args, name_span, span)
    }

    pub(super) fn builtin_call_values(&mut self, name: &Name, values: Vec<Expr>, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        if let Some(value) = values.iter().find(|v| matches!(self.kind(v.ty), TyKind::Void)) {
            let at = value.span;
            self.err(at, format!("passing an expression of type 'void' to a parameter of '{name}'"));
            return self.error_expr(span);
        }
        let arguments: Vec<Ty> = if self.recorder.is_some() { values.iter().map(|value| value.ty).collect() } else { Vec::new() };
        let mut result = if self.is_in_table(name) {
            self.table_call(name, values, name_span, span)
        } else {
            self.family_call(name, values, args, name_span, span)
        };
        if !self.is_error(result.ty) {
            self.record_builtin(name, name_span, Some((&arguments, result.ty)));
        }
        result.span = self.span(span);
        result
    }
}
