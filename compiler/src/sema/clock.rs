//! Kernel clocks (OpenCL C 6.15.24).

use super::Sema;
use crate::ast::ScalarKind;
use crate::builtins::Intrinsic;
use crate::diag::Span;
use crate::thir::Expr;

/// A function of cl_khr_kernel_clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Whether this is the subgroup clock.
    sub: bool,
    /// Whether the result is two words.
    words: bool,
}

/// Parses the name after `clock_read_`. Also returns the required feature.
pub(super) fn parse(rest: &str) -> Option<(Clock, &'static str)> {
    let (scope, words) = match rest.strip_prefix("hilo_") {
        Some(scope) => (scope, true),
        None => (rest, false),
    };
    let (sub, feature) = match scope {
        "device" => (false, "__opencl_c_kernel_clock_scope_device"),
        "work_group" => (false, "__opencl_c_kernel_clock_scope_work_group"),
        "sub_group" => (true, "__opencl_c_kernel_clock_scope_sub_group"),
        _ => return None,
    };
    Some((Clock { sub, words }, feature))
}

impl Sema<'_> {
    /// Creates a call. The result is `ulong`, or `uint2` with the low word first.
    pub(super) fn clock(&mut self, clock: Clock, span: Span) -> Expr {
        let two = self.lanes(ScalarKind::UInt, 2);
        let words = self.intrinsic(Intrinsic::Clock { sub: clock.sub }, Vec::new(), two, span);
        if clock.words {
            return words;
        }
        if !self.kind_available(ScalarKind::ULong, span) {
            return self.error_expr(span);
        }
        let ulong = self.scalar(ScalarKind::ULong);
        self.as_type(words, ulong, span)
    }
}
