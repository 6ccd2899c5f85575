//! Atomic functions of OpenCL 1.x (`atomic_add`, `atom_add`) and C11 (OpenCL C 6.15.12).
//!
//! In OpenCL C 3.0 memory orders and scopes are optional features. A program that uses one the device lacks is
//! rejected: it would run with a weaker one. OpenCL C 2.0 requires all of them, so there they are accepted and mapped
//! to the strongest that the device has.

use super::{Sema, is_float};
use crate::ast::{Name, ScalarKind};
use crate::builtins::Intrinsic;
use crate::diag::Span;
use crate::ir::{AtomicOp, Space};
use crate::preprocess::needed_feature;
use crate::program::CStd;
use crate::thir::{Constant, Expr, ExprKind, TyKind};

/// A read-modify-write operation of OpenCL 1.x.
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

/// `memory_order_seq_cst`, the order of functions without `_explicit`.
const ORDER_SEQ_CST: u64 = 5;

const FEATURE_ACQ_REL: &str = "__opencl_c_atomic_order_acq_rel";
const FEATURE_SEQ_CST: &str = "__opencl_c_atomic_order_seq_cst";
const FEATURE_DEVICE: &str = "__opencl_c_atomic_scope_device";

/// A C11 atomic function.
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
    /// Whether the program may not use this feature of OpenCL C 3.0.
    fn lacks(&self, feature: &str) -> bool {
        self.options.std >= CStd::Cl30 && !self.in_library && !self.target.has_feature(feature)
    }

    /// Rejects the name of a memory order or scope that the device lacks. Returns whether the device has it.
    pub(super) fn check_enumerator(&mut self, name: &str, span: Span) -> bool {
        let lacking = needed_feature(name).filter(|feature| self.lacks(feature));
        if let Some(feature) = lacking {
            self.err(span, format!("'{name}' requires the feature {feature}, which this device lacks"));
        }
        lacking.is_none()
    }

    /// Rejects the value of a memory order that the device lacks, however it is written.
    pub(super) fn check_order_value(&mut self, order: &Expr) -> bool {
        let name = match self.integer_constant(order) {
            Some(5) => "memory_order_seq_cst",
            _ => return true,
        };
        self.check_enumerator(name, order.span)
    }

    /// Rejects the value of a scope that the device lacks, however it is written.
    pub(super) fn check_scope_value(&mut self, scope: &Expr) -> bool {
        let name = match self.integer_constant(scope) {
            Some(2) => "memory_scope_device",
            Some(3) => "memory_scope_all_devices",
            Some(4) => "memory_scope_sub_group",
            _ => return true,
        };
        self.check_enumerator(name, scope.span)
    }

    /// Rejects a call whose order or scope the device lacks. Orders and scopes that the call names are checked in
    /// [`Self::check_enumerator`], except for names that are valid for fences only. `orders` are the orders that the
    /// call names.
    fn check_order_and_scope(&mut self, name: &Name, explicit: bool, scoped: bool, orders: &[Expr], span: Span) {
        if !explicit && self.lacks(FEATURE_SEQ_CST) {
            let explicit = format!("'{name}_explicit' accepts a weaker order");
            self.err(
                span,
                format!(
                    "'{name}' is sequentially consistent and requires the feature {FEATURE_SEQ_CST}, which this device lacks; {explicit}"
                ),
            );
        } else if !scoped && self.lacks(FEATURE_DEVICE) {
            self.err(span, format!("'{name}' has device scope and requires the feature {FEATURE_DEVICE}, which this device lacks"));
        } else if self.lacks(FEATURE_ACQ_REL) && orders.iter().any(|order| self.may_order(order)) {
            self.err(
                span,
                format!("a memory order other than memory_order_relaxed requires the feature {FEATURE_ACQ_REL}, which this device lacks"),
            );
        }
    }

    /// Whether an order may be acquire, release or both: it is not known to be relaxed and was not rejected.
    fn may_order(&self, order: &Expr) -> bool {
        !matches!(self.integer_constant(order), Some(0 | 5))
    }

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
            self.bad_arg(name, &pointer, "expecting a pointer to writable global or local memory");
            return self.error_expr(span);
        }
        let ty = self.scalar(object);
        let mut args = vec![pointer];
        for value in values {
            args.push(self.scalar_arg(value, object));
        }
        let op = match kind {
            AtomicKind::Inc => Intrinsic::AtomicInc,
            AtomicKind::Dec => Intrinsic::AtomicDec,
            AtomicKind::CmpXchg => Intrinsic::AtomicCmpXchg,
            other => Intrinsic::Atomic(atomic_op(other, object)),
        };
        self.intrinsic(op, args, ty, span)
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
            self.bad_arg(name, &pointer, "expecting a pointer to writable memory");
            return self.error_expr(span);
        }
        let ty = self.scalar(object);
        let (void, int) = (self.void_ty(), self.int());
        let bool_ty = self.scalar(ScalarKind::Bool);
        let mut args = vec![pointer];
        let (op, ret) = match kind {
            C11::Init | C11::Store | C11::Exchange | C11::Fetch(_) => {
                let Some(value) = values.next() else { return self.error_expr(span) };
                // `atomic_fetch_add` of a pointer-sized integer takes a ptrdiff_t, which converts.
                args.push(self.scalar_arg(value, object));
                match kind {
                    C11::Init => (Intrinsic::AtomicInit, void),
                    C11::Store => (Intrinsic::Atomic(AtomicOp::Store), void),
                    C11::Exchange => (Intrinsic::Atomic(AtomicOp::Xchg), ty),
                    C11::Fetch(fetch) => {
                        let arithmetic = matches!(fetch, AtomicKind::Add | AtomicKind::Sub | AtomicKind::Min | AtomicKind::Max);
                        if is_float(object) && !(arithmetic && self.target.has_extension("cl_ext_float_atomics")) {
                            self.err(span, format!("'{name}' of floating-point types is not supported by this device"));
                            return self.error_expr(span);
                        }
                        (Intrinsic::Atomic(atomic_op(fetch, object)), ty)
                    }
                    _ => return self.error_expr(span),
                }
            }
            C11::Load => (Intrinsic::Atomic(AtomicOp::Load), ty),
            C11::CompareExchange => {
                let (Some(expected), Some(desired)) = (values.next(), values.next()) else { return self.error_expr(span) };
                let matches = self.pointer_parts(expected.ty).is_some_and(|(pointee, _)| self.scalar_kind(pointee.ty) == Some(object));
                if !matches {
                    self.bad_arg(name, &expected, "expecting a pointer to the expected value");
                    return self.error_expr(span);
                }
                args.push(expected);
                args.push(self.scalar_arg(desired, object));
                (Intrinsic::AtomicCompareExchange, bool_ty)
            }
            C11::TestAndSet => (Intrinsic::AtomicFlagTestAndSet, bool_ty),
            C11::Clear => (Intrinsic::AtomicFlagClear, void),
        };
        let values: Vec<Expr> = values.collect();
        let orders = if kind == C11::CompareExchange { 2 } else { 1 };
        if kind != C11::Init {
            self.check_order_and_scope(name, explicit, explicit && values.len() > orders, &values[..orders.min(values.len())], span);
        }
        // Orders are passed to `lower`. Scopes are checked and dropped: every atomic has device scope.
        for (index, value) in values.into_iter().enumerate() {
            if !self.is_integer_scalar(value.ty) {
                self.bad_arg(name, &value, "expecting a memory order or scope");
                return self.error_expr(span);
            }
            let known = if index < orders { self.check_order_value(&value) } else { self.check_scope_value(&value) };
            if !known {
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
        self.intrinsic(op, args, ret, span)
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
