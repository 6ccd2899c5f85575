//! Calls: user functions, overloads, built-ins of the table (OpenCL C 6.5.10, 6.15; C99 6.5.2.2).

use super::convert::{PointerFit, Purpose, promoted, usual_kind};
use super::library_call::LibraryCall;
use super::{Operand, Sema, is_float, is_signed, signed_of, unsigned_of};
use crate::ast::{self, Name, ScalarKind};
use crate::builtins::table::{self, Atom, Class, Implementation, Row, Signature};
use crate::diag::{Diagnostic, Span};
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{Expr, ExprKind, FuncId, QualTy, Ty, TyKind};

/// The distance of a call from the parameters of a candidate. Lower is better.
type Cost = u32;

/// The candidate that is at least as good as every other for each argument, and better for one.
fn best_candidate(viable: &[(Vec<Cost>, FuncId)]) -> Option<FuncId> {
    let beats = |a: &[Cost], b: &[Cost]| a.iter().zip(b).all(|(x, y)| x <= y) && a.iter().zip(b).any(|(x, y)| x < y);
    let best = viable.iter().find(|(ranks, id)| viable.iter().all(|(others, other)| other == id || beats(ranks, others)));
    best.map(|(_, id)| *id)
}

impl Sema<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        let mut target = callee;
        while let ast::ExprKind::Paren(inner) = &target.kind {
            target = inner;
        }
        let operand = match &target.kind {
            ast::ExprKind::Ident(name) if !self.is_declared(name) => {
                for arg in args {
                    self.operand(arg);
                }
                let hint = self.suggest_function(name);
                if name.starts_with("__builtin_") {
                    self.err(target.span, format!("use of unknown builtin '{name}'{hint}"));
                } else {
                    self.err(target.span, format!("implicit declaration of function '{name}' is invalid in OpenCL{hint}"));
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
        let mut viable: Vec<(Vec<Cost>, FuncId)> = Vec::new();
        for id in list {
            let decl = &self.decls[id.index()];
            if decl.params.len() != values.len() {
                continue;
            }
            let ranks: Option<Vec<Cost>> =
                values.iter().zip(&decl.params).map(|(value, param)| self.conversion_rank(value, param.ty.ty)).collect();
            viable.extend(ranks.map(|ranks| (ranks, *id)));
        }
        let exact = viable.iter().find(|(ranks, _)| ranks.iter().all(|rank| *rank == 0)).map(|(_, id)| *id);
        if let Some(id) = exact {
            return self.call_function(id, values, args, name_span, span);
        }
        let best = best_candidate(&viable);
        // User overloads of a built-in's name are added to its candidates.
        if !self.in_library && self.is_builtin(&name) && (best.is_none() || self.fits_builtin(&name, &values)) {
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

    /// Whether a built-in of the table accepts the values without conversion.
    fn fits_builtin(&self, name: &str, values: &[Expr]) -> bool {
        table::find(name).is_some_and(|row| {
            row.signatures.iter().any(|text| self.match_signature(&Signature::parse(text), values).is_some_and(|(cost, ..)| cost == 0))
        })
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

    /// The rank of an implicit conversion by C++'s overload rules, which `overloadable` uses; `None` if there is no
    /// conversion. The ranks are:
    /// - 0: exact
    /// - 1: only adds qualifiers, or converts to the generic address space
    /// - 2: a promotion
    /// - 3: another conversion
    /// - higher: allowed in C only
    fn conversion_rank(&self, value: &Expr, ty: Ty) -> Option<Cost> {
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
                    PointerFit::Same => Some(u32::from(!self.same_unqualified(value.ty, ty))),
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

    /// Records an edge of the call graph. A library function is scheduled for checking.
    pub(super) fn note_call(&mut self, callee: FuncId, span: Span) {
        if let Some(f) = &self.f {
            let caller = f.id;
            self.calls.push((caller, callee, span));
        }
        // Outside of functions, the initialiser is rejected as not constant.
        self.require_library(callee);
    }

    // Built-ins.

    /// Whether a name is a built-in function of this version and device.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        match table::find(name) {
            Some(row) => self.in_library || row.is_offered(self.options.std.version(), self.target),
            None => self.is_family(name) || (super::enqueue::is_known(name) && self.has_enqueue()),
        }
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
            self.err(at, format!("passing 'void' to parameter of '{name}'"));
            return self.error_expr(span);
        }
        let mut result = match table::find(name).filter(|_| !self.is_integer_dot(name, &values)) {
            Some(row) => self.table_call(name, row, values, name_span, span),
            None => self.family_call(name, values, args, name_span, span),
        };
        result.span = self.span(span);
        result
    }

    fn table_call(&mut self, name: &Name, row: &'static Row, values: Vec<Expr>, name_span: Span, span: Span) -> Expr {
        let mut best: Option<(Cost, Signature, ScalarKind, u8)> = None;
        let mut arity: Option<usize> = None;
        for text in row.signatures {
            let signature = Signature::parse(text);
            arity = Some(signature.params.len());
            let Some((cost, kind, lanes)) = self.match_signature(&signature, &values) else { continue };
            if best.as_ref().is_none_or(|(old, ..)| cost < *old) {
                best = Some((cost, signature, kind, lanes));
            }
        }
        let Some((_, signature, kind, lanes)) = best else {
            match arity {
                Some(expected) if expected != values.len() => {
                    let word = if values.len() < expected { "few" } else { "many" };
                    self.err(
                        name_span,
                        format!("too {word} arguments to function call '{name}', expected {expected}, have {}", values.len()),
                    );
                }
                _ => self.no_match(name, &values, name_span),
            }
            return self.error_expr(span);
        };
        if kind == ScalarKind::Half && !self.target.language.fp16 {
            self.err(span, "half precision arithmetic requires cl_khr_fp16");
            return self.error_expr(span);
        }
        let mut converted = Vec::with_capacity(values.len());
        for (value, (atom, pointer)) in values.into_iter().zip(&signature.params) {
            if *pointer {
                if let TyKind::Pointer { pointee: QualTy { is_const: true, .. }, .. } = self.kind(value.ty) {
                    let shown = self.show(value.ty);
                    self.warn(value.span, format!("passing '{shown}' to parameter of '{name}' discards qualifiers"));
                }
                converted.push(value);
                continue;
            }
            let ty = match atom {
                // Scalars for vector parameters are splatted here, so that `lower` and the library see one shape.
                Atom::Element => self.lanes(kind, lanes),
                _ => self.atom_type(*atom, kind, lanes),
            };
            converted.push(self.arith_cast(value, ty));
        }
        let ret = self.atom_type(signature.ret, kind, lanes);
        match row.implementation {
            Implementation::Intrinsic(op) => self.expr(ExprKind::Intrinsic { op, args: converted }, ret, span),
            Implementation::Library => {
                self.library_call(name, LibraryCall { signature: &signature, kind, lanes, args: converted, ret, span })
            }
        }
    }

    /// The type of a signature's parameter or result for a given generic type.
    pub(super) fn atom_type(&mut self, atom: Atom, kind: ScalarKind, lanes: u8) -> Ty {
        match atom {
            Atom::Generic => self.lanes(kind, lanes),
            Atom::Element => self.scalar(kind),
            Atom::Signed => self.lanes(signed_of(kind), lanes),
            Atom::Unsigned => self.lanes(unsigned_of(kind), lanes),
            Atom::Relational if lanes == 1 => self.int(),
            Atom::Relational => self.lanes(signed_of(kind), lanes),
            Atom::Ints => self.lanes(ScalarKind::Int, lanes),
            Atom::UInts => self.lanes(ScalarKind::UInt, lanes),
            Atom::Wide => {
                let wide = match (scalar_size(kind), is_signed(kind)) {
                    (1, true) => ScalarKind::Short,
                    (1, false) => ScalarKind::UShort,
                    (2, true) => ScalarKind::Int,
                    (2, false) => ScalarKind::UInt,
                    (_, true) => ScalarKind::Long,
                    (_, false) => ScalarKind::ULong,
                };
                self.lanes(wide, lanes)
            }
            Atom::Int => self.int(),
            Atom::UInt => self.scalar(ScalarKind::UInt),
            Atom::Float => self.scalar(ScalarKind::Float),
            Atom::Size => self.size_ty(),
            Atom::Void => self.void_ty(),
        }
    }

    /// Finds the generic type for which a signature accepts the arguments.
    fn match_signature(&self, signature: &Signature, values: &[Expr]) -> Option<(Cost, ScalarKind, u8)> {
        if signature.params.len() != values.len() {
            return None;
        }
        let (kind, lanes) = self.bind_generic(signature, values)?;
        if !signature.lanes.is_empty() && !signature.lanes.contains(&lanes) {
            return None;
        }
        if lanes == 1 && signature.params.iter().any(|(atom, _)| *atom == Atom::Element) {
            return None;
        }
        if signature.ret == Atom::Wide && scalar_size(kind) > 4 {
            return None;
        }
        let mut cost = 0;
        for (value, (atom, pointer)) in values.iter().zip(&signature.params) {
            let (wanted, wanted_lanes) = match atom {
                Atom::Generic => (kind, lanes),
                Atom::Element => (kind, 1),
                Atom::Signed => (signed_of(kind), lanes),
                Atom::Unsigned => (unsigned_of(kind), lanes),
                Atom::Ints => (ScalarKind::Int, lanes),
                Atom::UInts => (ScalarKind::UInt, lanes),
                Atom::Int => (ScalarKind::Int, 1),
                Atom::UInt => (ScalarKind::UInt, 1),
                Atom::Float => (ScalarKind::Float, 1),
                Atom::Size => (self.size_kind(), 1),
                Atom::Relational | Atom::Wide | Atom::Void => return None,
            };
            if *pointer {
                let TyKind::Pointer { pointee, space, .. } = *self.kind(value.ty) else { return None };
                if self.arith(pointee.ty) != Some((wanted, wanted_lanes)) || space == Space::Constant {
                    return None;
                }
                continue;
            }
            let (found, found_lanes) = self.arith(value.ty)?;
            if matches!(atom, Atom::Signed | Atom::Unsigned) && is_float(found) {
                return None;
            }
            cost += match (found_lanes == wanted_lanes, found == wanted) {
                (true, true) => 0,
                (true, false) if wanted_lanes == 1 => {
                    if is_float(found) == is_float(wanted) {
                        4
                    } else {
                        6
                    }
                }
                (false, _) if found_lanes == 1 => 20,
                _ => return None,
            };
        }
        Some((cost, kind, lanes))
    }

    /// The generic type: that of the vector arguments, or the common type of the scalars.
    fn bind_generic(&self, signature: &Signature, values: &[Expr]) -> Option<(ScalarKind, u8)> {
        let allowed = |kind| match signature.class {
            Class::None => true,
            Class::Floats => is_float(kind),
            Class::FloatOnly => kind == ScalarKind::Float,
            Class::Integers => !is_float(kind) && kind != ScalarKind::Bool,
            Class::Integers32 => matches!(kind, ScalarKind::Int | ScalarKind::UInt),
            Class::All => kind != ScalarKind::Bool,
        };
        if signature.class == Class::None {
            return Some((ScalarKind::Int, 1));
        }
        let mut scalar: Option<ScalarKind> = None;
        for (value, (atom, pointer)) in values.iter().zip(&signature.params) {
            if *atom != Atom::Generic || *pointer {
                continue;
            }
            match self.kind(value.ty) {
                TyKind::Vector(kind, lanes) => return allowed(*kind).then_some((*kind, *lanes)),
                _ => {
                    let kind = self.scalar_kind(value.ty)?;
                    scalar = Some(match scalar {
                        None => kind,
                        Some(old) if old == kind => kind,
                        // Integers among floats do not affect the generic type.
                        Some(old) if is_float(old) && !is_float(kind) => old,
                        Some(old) if !is_float(old) && is_float(kind) => kind,
                        Some(old) => usual_kind(old, kind),
                    });
                }
            }
        }
        let kind = scalar?;
        let kind =
            match signature.class {
                // An integer argument converts to float if only floats are allowed.
                Class::Floats | Class::FloatOnly if !is_float(kind) => ScalarKind::Float,
                Class::FloatOnly => ScalarKind::Float,
                Class::Integers | Class::All if kind == ScalarKind::Bool => ScalarKind::Int,
                Class::Integers32 if !is_float(kind) && !matches!(kind, ScalarKind::Int | ScalarKind::UInt) => {
                    if kind == ScalarKind::ULong { ScalarKind::UInt } else { ScalarKind::Int }
                }
                _ => kind,
            };
        allowed(kind).then_some((kind, 1))
    }
}
