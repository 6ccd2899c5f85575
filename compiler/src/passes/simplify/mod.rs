//! Simplifies code: instruction combining, common subexpression elimination, loop-invariant code motion,
//! if-conversion and load forwarding.
//!
//! ```text
//! %3 = const.i32 4                     %9 = const.i32 2
//! %4 = mul %0, %3                =>    %4 = shl %0, %9
//! %5 = mul %0, %3                      %6 = add %4, %4
//! %6 = add %4, %5
//! ```
//! The pass walks over the function in program order, and then eliminates dead code ([`super::dce`]). It repeats these
//! two steps a few times, as long as they change anything. A walk visits each instruction once, independent of its
//! nesting. It
//!
//! * moves constants to the start of the function, without duplicates;
//! * evaluates operations on constants ([`eval`](crate::analysis::eval)), and rewrites other operations by identities
//!   that are exact for every value ([rules]);
//! * reuses an operation with the same operands, a load without a store in between, and a lane of a loaded vector;
//! * hoists loop-invariant operations;
//! * removes branches with known conditions, converts an `if` with few cheap operations to a `select`, and replaces a
//!   loop with one iteration by its body.

mod equal;
mod flow;
mod identities;
mod lanes;
mod rotation;
mod rules;
mod sums;
mod vectors;
mod walk;

use super::dce;
use super::pass::Pass;
use crate::ir::{Function, Op, Region};

pub(crate) const PASS: Pass = Pass::function("simplify", |function, cx| {
    run(function, cx.purity);
    Ok(true)
});

/// Which functions are pure. A call of a pure function has no effect except its result.
#[derive(Clone, Debug, Default)]
pub struct Purity {
    pure_calls: Vec<bool>,
}

impl Purity {
    /// Returns the state in which all functions are impure.
    pub const fn unknown() -> Self {
        Self { pure_calls: Vec::new() }
    }

    /// Whether a call of the function may be repeated, merged or removed.
    pub fn is_pure(&self, func: crate::ir::Func) -> bool {
        self.pure_calls.get(func.index()).copied().unwrap_or(false)
    }

    /// Records whether a function is pure: it and its callees only access their own variables and constants.
    pub fn note(&mut self, func: crate::ir::Func, function: &Function) {
        let mut pure = function.kernel.is_none();
        function.body.walk(&mut |inst| {
            pure &= match &inst.op {
                Op::Atomic { .. }
                | Op::CmpXchg { .. }
                | Op::Barrier(_)
                | Op::MemFence(_)
                | Op::Group { .. }
                | Op::Printf { .. }
                | Op::Clock { .. }
                | Op::NanCheck { .. }
                | Op::ConversionCheck { .. }
                | Op::UndefinedUse { .. }
                | Op::AsyncCopyBegin(_)
                | Op::AsyncCopyEnd
                | Op::AsyncCopyWait(_)
                | Op::Image { .. }
                | Op::Unreachable => false,
                Op::Load { ptr, volatile, .. } => {
                    !volatile && matches!(function.ty(*ptr), crate::ir::Type::Ptr(crate::ir::Space::Private | crate::ir::Space::Constant))
                }
                Op::Store { ptr, .. } | Op::Zero { dst: ptr, .. } | Op::Copy { dst: ptr, .. } => {
                    function.ty(*ptr) == crate::ir::Type::Ptr(crate::ir::Space::Private)
                }
                Op::Call(callee, _) => self.is_pure(*callee),
                _ => true,
            };
        });
        // A function with pointer parameters could write to private memory of its caller.
        pure &= !function.params.iter().any(|&param| matches!(function.ty(param), crate::ir::Type::Ptr(_)));
        if self.pure_calls.len() <= func.index() {
            self.pure_calls.resize(func.index() + 1, false);
        }
        self.pure_calls[func.index()] = pure;
    }
}

/// Maximum number of walks.
const MAX_WALKS: usize = 4;

/// Simplifies a function and removes dead code.
pub(crate) fn run(function: &mut Function, purity: &Purity) {
    for _ in 0..MAX_WALKS {
        let changed = walk::run(function, purity);
        let removed = dce::run(function, purity);
        if !changed && !removed {
            break;
        }
    }
}

/// Returns the number of operations in a region before its terminator. Returns `None` if there are more than `limit`,
/// or if one of the operations is not pure or not cheap to speculate.
fn cheap_size(region: &Region, limit: usize) -> Option<usize> {
    let count = region.insts.len().checked_sub(1)?;
    (count <= limit && region.insts[..count].iter().all(|inst| is_cheap_op(&inst.op))).then_some(count)
}

/// Whether an operation is pure and cheap to speculate.
pub(super) fn is_cheap_op(op: &Op) -> bool {
    op.is_pure() && !is_expensive(op)
}

/// Whether an operation is too expensive to speculate.
const fn is_expensive(op: &Op) -> bool {
    use crate::ir::{BinOp, MathOp};
    match op {
        Op::Bin(op, ..) => {
            matches!(op, BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem | BinOp::FDiv | BinOp::SMulHi | BinOp::UMulHi)
        }
        Op::Math(op, _) => {
            !matches!(op, MathOp::FAbs | MathOp::SAbs | MathOp::Floor | MathOp::Ceil | MathOp::FTrunc | MathOp::Rint | MathOp::FMulAdd)
        }
        Op::ExtractDyn(..) | Op::InsertDyn(..) => true,
        _ => false,
    }
}
