//! Memory orders and scopes of atomic functions (OpenCL C 6.15.12).
//!
//! In OpenCL C 3.0 some memory orders and scopes are optional features. A program that uses an order or scope that the
//! device lacks is rejected, because the device could only execute a weaker order or scope. OpenCL C 2.0 requires all
//! orders and scopes. In programs of OpenCL C 2.0, they are accepted, and mapped to the strongest order or scope that
//! the device has.

use super::Sema;
use crate::ast::Name;
use crate::diag::Span;
use crate::preprocess::needed_feature;
use crate::program::CStd;
use crate::thir::Expr;

const FEATURE_ACQ_REL: &str = "__opencl_c_atomic_order_acq_rel";
const FEATURE_SEQ_CST: &str = "__opencl_c_atomic_order_seq_cst";

impl Sema<'_> {
    /// Whether the device lacks an optional feature of OpenCL C 3.0. False in older versions and in library functions.
    fn lacks(&self, feature: &str) -> bool {
        self.options.std >= CStd::Cl30 && !self.in_library && !self.target.has_feature(feature)
    }

    /// Reports an error if `name` is a memory order or scope that the device lacks. Returns false after an error.
    pub(super) fn check_enumerator(&mut self, name: &str, span: Span) -> bool {
        let lacking = needed_feature(name).filter(|feature| self.lacks(feature));
        if let Some(feature) = lacking {
            self.err(span, format!("'{name}' requires the feature {feature}, which this device lacks"));
        }
        lacking.is_none()
    }

    /// Reports an error if `order` is a constant with the value of `memory_order_seq_cst`, and the device lacks that
    /// order. The constant can have any spelling, for example `5`. Returns false after an error.
    pub(super) fn check_order_value(&mut self, order: &Expr) -> bool {
        self.integer_constant(order) != Some(5) || self.check_enumerator("memory_order_seq_cst", order.span)
    }

    /// Reports an error if `scope` is a constant with the value of `memory_scope_sub_group`, and the device lacks that
    /// scope. The constant can have any spelling. Returns false after an error. Every device has the other scopes.
    pub(super) fn check_scope_value(&mut self, scope: &Expr) -> bool {
        self.integer_constant(scope) != Some(4) || self.check_enumerator("memory_scope_sub_group", scope.span)
    }

    /// Reports an error if the device lacks the implicit order of an atomic call. Also reports an error if an order
    /// argument may be acquire or release, and the device lacks these orders. [`Self::check_enumerator`] checks the
    /// other orders that the call names. `orders` are the order arguments of the call.
    pub(super) fn check_orders_of_atomic(&mut self, name: &Name, explicit: bool, orders: &[&Expr], span: Span) {
        if !explicit && self.lacks(FEATURE_SEQ_CST) {
            let explicit = format!("use '{name}_explicit' with a weaker order");
            self.err(
                span,
                format!(
                    "'{name}' is sequentially consistent and requires the feature {FEATURE_SEQ_CST}, which this device lacks; {explicit}"
                ),
            );
        } else if self.lacks(FEATURE_ACQ_REL) && orders.iter().any(|order| self.may_acquire_or_release(order)) {
            self.err(
                span,
                format!("a memory order other than memory_order_relaxed requires the feature {FEATURE_ACQ_REL}, which this device lacks"),
            );
        }
    }

    /// Reports an error if a fence or barrier may order memory for a scope wider than a work-group, and the device does
    /// not support this. Fences and barriers of work-group scope are mandatory. Barriers have no order argument.
    pub(super) fn check_fence(&mut self, orders: &[&Expr], scopes: &[&Expr], span: Span) {
        let may_leave_work_group = scopes.iter().any(|scope| !matches!(self.integer_constant(scope), Some(0 | 1 | 4)));
        let may_order = orders.is_empty() || orders.iter().any(|order| self.may_acquire_or_release(order));
        if may_leave_work_group && may_order && self.lacks(FEATURE_ACQ_REL) {
            self.err(
                span,
                format!(
                    "a fence with a scope wider than memory_scope_work_group requires the feature {FEATURE_ACQ_REL}, which this device lacks"
                ),
            );
        }
    }

    /// Whether an order may be acquire, release or both. False for relaxed, and for sequentially consistent, which
    /// [`Self::check_order_value`] checks.
    fn may_acquire_or_release(&self, order: &Expr) -> bool {
        !matches!(self.integer_constant(order), Some(0 | 5))
    }
}
