//! Loops with a single latch, and counted loops among them.
//!
//! ```text
//! %r = loop (%i = %a, %s = %x) {
//!   %c = slt %i, %n
//!   if %c { yield } else { break %s }       the test: continues while slt(%i, %n)
//!   ...
//!   %j = add %i, %b                         the step: add %b
//!   continue %j, %t
//! }
//! ```
//! A [`SingleLatchLoop`] is a loop that passes can unroll. [`Counted`] is such a loop with a single exit that compares
//! a counter. Its trip count is known if start, bound and step are constants ([`Counted::iterations`]). [`trips`]
//! computes upper bounds for single-latch loops with any number of exits, from the ranges of their counters.

pub(crate) mod guards;
pub(crate) mod trips;

use super::definitions::Constants;
use super::eval;
use crate::ir::{BinOp, CmpOp, Function, Inst, Op, Region, Type, Value};

/// A loop with a single `continue`, at the end of its body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleLatchLoop<'a> {
    pub init: &'a [Value],
    pub params: &'a [Value],
    pub body: &'a Region,
    /// The values of the `continue`.
    pub next: &'a [Value],
}

impl<'a> SingleLatchLoop<'a> {
    /// Returns `op` as a loop with a single latch, or `None` if `op` is not such a loop.
    pub(crate) fn of(op: &'a Op) -> Option<Self> {
        let Op::Loop { init, params, body, .. } = op else { return None };
        let Some(Op::Continue(next)) = body.terminator() else { return None };
        let mut continues = 0;
        body.for_each_jump(&mut |op| continues += usize::from(matches!(op, Op::Continue(_))));
        (continues == 1).then_some(Self { init, params, body, next })
    }

    /// The body without the `continue` at its end.
    pub(crate) fn insts(&self) -> &'a [Inst] {
        self.body.insts.split_last().map_or(&[][..], |(_, insts)| insts)
    }

    /// The operation that defines a value. `None` if the operation is in a nested region or outside of the loop.
    fn definition(&self, value: Value) -> Option<&'a Op> {
        self.body.insts.iter().find(|inst| inst.results.first() == Some(&value)).map(|inst| &inst.op)
    }

    fn param(&self, value: Value) -> Option<usize> {
        self.params.iter().position(|&param| param == value)
    }
}

/// A loop that continues while `compare(counter, bound)`. It has one test per iteration, and no other exit except
/// `return`. The counter's next value is `step.0(counter, step.1)`; commutative operations may have swapped operands.
/// Counter, bound and step are integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'a> {
    /// The position of the test in the body: an `if` that only yields or breaks.
    pub test: usize,
    /// The index of the counter among the parameters.
    pub counter: usize,
    /// The counter's type.
    pub ty: Type,
    /// The condition for continuing.
    pub compare: CmpOp,
    /// The bound: not a parameter of the loop.
    pub bound: Value,
    /// The operation on the counter per iteration.
    pub step: (BinOp, Value),
    /// The operands of the test's `break`.
    pub break_values: &'a [Value],
    /// Whether the test compares the next value of the counter.
    pub tests_next: bool,
}

impl<'a> Counted<'a> {
    /// Recognises a loop that tests its counter at the start of each iteration.
    pub(crate) fn of(function: &Function, latch_loop: &SingleLatchLoop<'a>) -> Option<Self> {
        let test = latch_loop.body.insts.iter().position(|inst| !inst.op.is_pure())?;
        Self::with_test(function, latch_loop, test).filter(|counted| !counted.tests_next)
    }

    /// Recognises a loop with the test anywhere: code before the test executes once more than code after it.
    pub(crate) fn anywhere(function: &Function, latch_loop: &SingleLatchLoop<'a>) -> Option<Self> {
        let breaks = |inst: &Inst| inst.op.regions().into_iter().any(|region| matches!(region.terminator(), Some(Op::Break(_))));
        let test = latch_loop.body.insts.iter().position(|inst| matches!(inst.op, Op::If { .. }) && breaks(inst))?;
        Self::with_test(function, latch_loop, test)
    }

    /// Recognises a loop whose test is the instruction with index `test` of its body.
    fn with_test(function: &Function, latch_loop: &SingleLatchLoop<'a>, test: usize) -> Option<Self> {
        let inst = &latch_loop.body.insts[test];
        let Op::If { cond, then, els } = &inst.op else { return None };
        let only = |region: &'a Region| match &region.insts[..] {
            [Inst { op, .. }] => Some(op),
            _ => None,
        };
        let (holds, break_values) = match (only(then)?, only(els)?) {
            (Op::Yield(_), Op::Break(values)) => (true, values),
            (Op::Break(values), Op::Yield(_)) => (false, values),
            _ => return None,
        };
        let mut breaks = 0;
        latch_loop.body.for_each_jump(&mut |op| breaks += usize::from(matches!(op, Op::Break(_))));
        if breaks != 1 || !inst.results.is_empty() {
            return None;
        }
        let &Op::Cmp(kind, a, b) = latch_loop.definition(*cond)? else { return None };
        let next = |value: Value| latch_loop.next.iter().position(|&next| next == value);
        let (counter, bound, kind, tests_next) = match (latch_loop.param(a), latch_loop.param(b), next(a), next(b)) {
            (Some(index), None, ..) => (index, b, kind, false),
            (None, Some(index), ..) => (index, a, kind.mirrored(), false),
            (None, None, Some(index), None) => (index, b, kind, true),
            (None, None, None, Some(index)) => (index, a, kind.mirrored(), true),
            _ => return None,
        };
        let compare = if holds { kind } else { kind.inverse()? };
        let ty = function.ty(bound);
        if !matches!(ty, Type::Scalar(scalar) if scalar.is_int()) {
            return None;
        }
        let &Op::Bin(op, x, y) = latch_loop.definition(*latch_loop.next.get(counter)?)? else { return None };
        let commutes = matches!(op, BinOp::Add | BinOp::Mul);
        let by = match (latch_loop.param(x) == Some(counter), latch_loop.param(y) == Some(counter)) {
            (true, _) => y,
            (false, true) if commutes => x,
            _ => return None,
        };
        Some(Self { test, counter, ty, compare, bound, step: (op, by), break_values, tests_next })
    }

    /// The trip count: the number of times that the loop continues (in LLVM, the backedge-taken count). `None` if it
    /// exceeds `limit`, or if the loop contains a `return`. Also `None` if start, bound or step is not constant, or if
    /// the operation of the step is not supported.
    pub(crate) fn iterations(&self, latch_loop: &SingleLatchLoop<'_>, constants: &Constants, limit: u64) -> Option<u64> {
        let mut returns = false;
        latch_loop.body.walk(&mut |inst| returns |= matches!(inst.op, Op::Return(_)));
        let scalar = self.ty.scalar().filter(|_| !returns)?;
        let (op, step) = self.step;
        let steps = matches!(op, BinOp::Add | BinOp::Mul | BinOp::Sub | BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::UDiv | BinOp::SDiv);
        let start = constants.bits(*latch_loop.init.get(self.counter)?).filter(|_| steps)?;
        let (bound, step) = (constants.bits(self.bound)?, constants.bits(step)?);
        // Return early: the loop below would only find that the count exceeds the limit.
        let distance = scalar.sign_extend(bound).wrapping_sub(scalar.sign_extend(start)).unsigned_abs();
        let stride = scalar.sign_extend(step).unsigned_abs().max(1);
        if matches!(op, BinOp::Add | BinOp::Sub) && distance / stride > limit {
            return None;
        }
        let mut value = start;
        for iteration in 0..=limit {
            let next = eval::binary(op, scalar, value, step)?;
            if !eval::compare(self.compare, scalar, if self.tests_next { next } else { value }, bound)? {
                return Some(iteration);
            }
            value = next;
        }
        None
    }

    /// The loop and its trip count, if [`Self::of`] and [`Self::iterations`] succeed.
    pub(crate) fn fixed(function: &Function, latch_loop: &SingleLatchLoop<'a>, constants: &Constants, limit: u64) -> Option<(Self, u64)> {
        let counted = Self::of(function, latch_loop)?;
        let iterations = counted.iterations(latch_loop, constants, limit)?;
        Some((counted, iterations))
    }

    /// Like [`Self::fixed`], for a test [anywhere](Self::anywhere).
    pub(crate) fn fixed_anywhere(
        function: &Function,
        latch_loop: &SingleLatchLoop<'a>,
        constants: &Constants,
        limit: u64,
    ) -> Option<(Self, u64)> {
        let counted = Self::anywhere(function, latch_loop)?;
        let iterations = counted.iterations(latch_loop, constants, limit)?;
        Some((counted, iterations))
    }
}
