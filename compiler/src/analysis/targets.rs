//! The results and loop parameters that the operands of terminators become (phis in LLVM).
//!
//! ```text
//! %4 = if %0 { yield %1 } else { yield %2 }                          %1, %2 -> %4
//! %9 = loop (%5 = %3) { ... break %6 ... continue %7 }               %3, %7 -> %5;  %6 -> %9
//! ```

use crate::ir::{Op, Value};

/// The values that the terminators of a region assign.
#[derive(Clone, Copy)]
pub(crate) struct Targets<'a> {
    /// For `yield`: the results of the innermost `if` or `switch`.
    yields: &'a [Value],
    /// For `break`: the results of the innermost loop.
    breaks: &'a [Value],
    /// For `continue`: the parameters of the innermost loop.
    continues: &'a [Value],
}

impl<'a> Targets<'a> {
    /// The targets in the body of a function.
    pub(crate) const NONE: Self = Self { yields: &[], breaks: &[], continues: &[] };

    /// The targets in a region of an `if` or `switch` with these results.
    pub(crate) const fn in_branch(self, results: &'a [Value]) -> Self {
        Self { yields: results, ..self }
    }

    /// The targets in the body of a loop.
    pub(crate) const fn in_loop(params: &'a [Value], results: &'a [Value]) -> Self {
        Self { yields: &[], breaks: results, continues: params }
    }

    /// The operands of a terminator, and the values that they become. `None` for other operations and for `return`.
    pub(crate) fn of<'o>(self, op: &'o Op) -> Option<(&'o [Value], &'a [Value])> {
        match op {
            Op::Yield(values) => Some((values, self.yields)),
            Op::Break(values) => Some((values, self.breaks)),
            Op::Continue(values) => Some((values, self.continues)),
            _ => None,
        }
    }
}
