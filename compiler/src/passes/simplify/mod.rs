//! Makes the code smaller without changing what it means.
//!
//! ```text
//! %3 = const.i32 4                     %9 = const.i32 2
//! %4 = mul %0, %3                =>    %4 = shl %0, %9
//! %5 = mul %0, %3                      %6 = add %4, %4
//! %6 = add %4, %5
//! ```
//! One walk over the function in order of execution, then removal of dead code ([`super::dce`]); both repeat while they find something,
//! a few times at most. In a walk:
//!
//! * constants move to the beginning of the function, one of each;
//! * operations on constants are evaluated ([`eval`](crate::analysis::eval)), others rewritten by identities that are exact for every value ([rules]);
//! * an operation that was done before on the same operands is not done again, nor is a load with no store between, or one of a lane of what was loaded;
//! * what does not change in a loop moves before it;
//! * conditions known to be true or false choose their region; an `if` of a few cheap operations becomes a `select`; a
//!   loop of one turn becomes its body.
//!
//! Each instruction is looked at once a walk, whatever its nesting.

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

/// What a pass has to know about the functions that may be called: for each, whether a call does nothing but give its result.
#[derive(Clone, Debug, Default)]
pub struct Purity {
    pure_calls: Vec<bool>,
}

impl Purity {
    /// Nothing is known: every call may do anything.
    pub const fn unknown() -> Self {
        Self { pure_calls: Vec::new() }
    }

    /// Whether a call of the function may be repeated, merged or left out.
    pub fn is_pure(&self, func: crate::ir::Func) -> bool {
        self.pure_calls.get(func.index()).copied().unwrap_or(false)
    }

    /// Notes whether a function is pure: it touches its own variables and constants only, and so do those that it calls.
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
        // Pointers to private memory that a caller owns would let it write there.
        pure &= !function.params.iter().any(|&param| matches!(function.ty(param), crate::ir::Type::Ptr(_)));
        if self.pure_calls.len() <= func.index() {
            self.pure_calls.resize(func.index() + 1, false);
        }
        self.pure_calls[func.index()] = pure;
    }
}

/// Walks a function at most that often.
const MAX_WALKS: usize = 4;

/// Simplifies a function and removes what is dead in it.
pub(crate) fn run(function: &mut Function, purity: &Purity) {
    for _ in 0..MAX_WALKS {
        let changed = walk::run(function, purity);
        let removed = dce::run(function, purity);
        if !changed && !removed {
            break;
        }
    }
}

/// Whether every instruction is pure, cheap to do in vain, and there are few of them.
fn is_cheap(region: &Region, limit: usize) -> Option<usize> {
    let count = region.insts.len().checked_sub(1)?;
    (count <= limit && region.insts[..count].iter().all(|inst| is_cheap_op(&inst.op))).then_some(count)
}

/// Whether an operation is pure and cheap to do in vain.
pub(super) fn is_cheap_op(op: &Op) -> bool {
    op.is_pure() && !is_expensive(op)
}

/// Whether an operation is better not done in vain.
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
