//! Atomic functions: those of 1.x (`atomic_add`, `atom_add`) and those of C11 (OpenCL C 6.15.12).

use super::{Sema, is_float};
use crate::ast::{Name, ScalarKind};
use crate::builtins::Native;
use crate::diag::Span;
use crate::ir::{AtomicOp, Space};
use crate::thir::{Constant, Expr, ExprKind, TyKind};

/// A read-modify-write of 1.x's atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicKind {
    Add,
    Sub,
    Xchg,
    Inc,
    Dec,
    CmpXchg,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// `memory_order_seq_cst`, which functions without `_explicit` have.
const ORDER_SEQ_CST: u64 = 5;

/// A function of C11's atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum C11 {
    Init,
    Load,
    Store,
    Exchange,
    CompareExchange,
    Fetch(AtomicKind),
    TestAndSet,
    Clear,
}

pub(super) fn parse_atomic(rest: &str) -> Option<AtomicKind> {
    Some(match rest {
        "add" => AtomicKind::Add,
        "sub" => AtomicKind::Sub,
        "xchg" => AtomicKind::Xchg,
        "inc" => AtomicKind::Inc,
        "dec" => AtomicKind::Dec,
        "cmpxchg" => AtomicKind::CmpXchg,
        "min" => AtomicKind::Min,
        "max" => AtomicKind::Max,
        "and" => AtomicKind::And,
        "or" => AtomicKind::Or,
        "xor" => AtomicKind::Xor,
        _ => return None,
    })
}

pub(super) fn parse_c11(rest: &str) -> Option<(C11, bool)> {
    let (name, explicit) = match rest.strip_suffix("_explicit") {
        Some(name) => (name, true),
        None => (rest, false),
    };
    let kind = match name {
        "init" if !explicit => C11::Init,
        "load" => C11::Load,
        "store" => C11::Store,
        "exchange" => C11::Exchange,
        "compare_exchange_strong" | "compare_exchange_weak" => C11::CompareExchange,
        "flag_test_and_set" => C11::TestAndSet,
        "flag_clear" => C11::Clear,
        _ => match parse_atomic(name.strip_prefix("fetch_")?)? {
            AtomicKind::Xchg | AtomicKind::CmpXchg | AtomicKind::Inc | AtomicKind::Dec => return None,
            kind => C11::Fetch(kind),
        },
    };
    Some((kind, explicit))
}

impl Sema<'_> {
    pub(super) fn atomic(&mut self, name: &Name, kind: AtomicKind, values: Vec<Expr>, span: Span) -> Expr {
        let mut values = values.into_iter();
        let Some(pointer) = values.next() else { return self.error_expr(span) };
        let parts = self.pointer_parts(pointer.ty);
        let object = parts.and_then(|(pointee, _)| self.scalar_kind(pointee.ty));
        let (Some((pointee, space)), Some(object)) = (parts, object) else {
            self.bad_arg(name, &pointer, "expecting a pointer to 'int' or 'uint'");
            return self.error_expr(span);
        };
        let right_type = match object {
            ScalarKind::Int | ScalarKind::UInt => true,
            ScalarKind::Float => kind == AtomicKind::Xchg,
            ScalarKind::Long | ScalarKind::ULong => self.target.language.int64_atomics,
            _ => false,
        };
        if !right_type {
            self.bad_arg(name, &pointer, "expecting a pointer to 'int' or 'uint'");
            return self.error_expr(span);
        }
        if pointee.is_const || matches!(space, Space::Private | Space::Constant) {
            self.bad_arg(name, &pointer, "expecting a pointer to global or local memory that can be written");
            return self.error_expr(span);
        }
        let ty = self.scalar(object);
        let mut args = vec![pointer];
        for value in values {
            args.push(self.scalar_arg(value, object));
        }
        let op = match kind {
            AtomicKind::Inc => Native::AtomicInc,
            AtomicKind::Dec => Native::AtomicDec,
            AtomicKind::CmpXchg => Native::AtomicCmpXchg,
            other => Native::Atomic(atomic_op(other, object)),
        };
        self.native(op, args, ty, span)
    }

    pub(super) fn c11_atomic(&mut self, name: &Name, (kind, explicit): (C11, bool), values: Vec<Expr>, span: Span) -> Expr {
        let mut values = values.into_iter();
        let Some(pointer) = values.next() else { return self.error_expr(span) };
        let parts = self.pointer_parts(pointer.ty);
        let object = parts.and_then(|(pointee, _)| match self.kind(pointee.ty) {
            TyKind::Atomic(object) if !matches!(kind, C11::TestAndSet | C11::Clear) => Some(*object),
            TyKind::AtomicFlag if matches!(kind, C11::TestAndSet | C11::Clear) => Some(ScalarKind::Int),
            _ => None,
        });
        let Some(object) = object else {
            self.bad_arg(name, &pointer, "expecting a pointer to an atomic type");
            return self.error_expr(span);
        };
        if parts.is_some_and(|(pointee, space)| space == Space::Constant || (pointee.is_const && kind != C11::Load)) {
            self.bad_arg(name, &pointer, "expecting a pointer to memory that can be written");
            return self.error_expr(span);
        }
        let ty = self.scalar(object);
        let (void, int) = (self.void_ty(), self.int());
        let bool_ty = self.scalar(ScalarKind::Bool);
        let mut args = vec![pointer];
        let (op, ret) = match kind {
            C11::Init | C11::Store | C11::Exchange | C11::Fetch(_) => {
                let Some(value) = values.next() else { return self.error_expr(span) };
                // Sums of pointers' integers take a difference, which converts.
                args.push(self.scalar_arg(value, object));
                match kind {
                    C11::Init => (Native::AtomicInit, void),
                    C11::Store => (Native::Atomic(AtomicOp::Store), void),
                    C11::Exchange => (Native::Atomic(AtomicOp::Xchg), ty),
                    C11::Fetch(fetch) => {
                        let arithmetic = matches!(fetch, AtomicKind::Add | AtomicKind::Sub | AtomicKind::Min | AtomicKind::Max);
                        if is_float(object) && !(arithmetic && self.target.has_extension("cl_ext_float_atomics")) {
                            self.err(span, format!("'{name}' of floating-point types is not supported by this device"));
                            return self.error_expr(span);
                        }
                        (Native::Atomic(atomic_op(fetch, object)), ty)
                    }
                    _ => return self.error_expr(span),
                }
            }
            C11::Load => (Native::Atomic(AtomicOp::Load), ty),
            C11::CompareExchange => {
                let (Some(expected), Some(desired)) = (values.next(), values.next()) else { return self.error_expr(span) };
                let matches = self.pointer_parts(expected.ty).is_some_and(|(pointee, _)| self.scalar_kind(pointee.ty) == Some(object));
                if !matches {
                    self.bad_arg(name, &expected, "expecting a pointer to the value expected");
                    return self.error_expr(span);
                }
                args.push(expected);
                args.push(self.scalar_arg(desired, object));
                (Native::AtomicCompareExchange, bool_ty)
            }
            C11::TestAndSet => (Native::AtomicFlagTestAndSet, bool_ty),
            C11::Clear => (Native::AtomicFlagClear, void),
        };
        // Orders go on to `lower`; scopes are checked and dropped, for every atomic is one within the device.
        let orders = if kind == C11::CompareExchange { 2 } else { 1 };
        for (index, value) in values.enumerate() {
            if !self.is_integer_scalar(value.ty) {
                self.bad_arg(name, &value, "expecting a memory order or scope");
                return self.error_expr(span);
            }
            if index < orders {
                args.push(self.scalar_arg(value, ScalarKind::Int));
            }
        }
        if !explicit && kind != C11::Init {
            let order = self.expr(ExprKind::Constant(Constant::Int(ORDER_SEQ_CST)), int, span);
            args.push(order);
        }
        self.native(op, args, ret, span)
    }
}

fn atomic_op(kind: AtomicKind, object: ScalarKind) -> AtomicOp {
    let float = is_float(object);
    let signed = super::is_signed(object);
    match kind {
        AtomicKind::Add if float => AtomicOp::FAdd,
        AtomicKind::Min if float => AtomicOp::FMin,
        AtomicKind::Max if float => AtomicOp::FMax,
        AtomicKind::Add | AtomicKind::Inc => AtomicOp::Add,
        AtomicKind::Sub | AtomicKind::Dec => AtomicOp::Sub,
        AtomicKind::Xchg | AtomicKind::CmpXchg => AtomicOp::Xchg,
        AtomicKind::Min if signed => AtomicOp::SMin,
        AtomicKind::Min => AtomicOp::UMin,
        AtomicKind::Max if signed => AtomicOp::SMax,
        AtomicKind::Max => AtomicOp::UMax,
        AtomicKind::And => AtomicOp::And,
        AtomicKind::Or => AtomicOp::Or,
        AtomicKind::Xor => AtomicOp::Xor,
    }
}
