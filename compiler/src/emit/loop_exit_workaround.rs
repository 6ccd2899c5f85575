//! Adds an exit to loops, for drivers that lose values that are used after a loop
//! ([`Defects::loop_values`](crate::target::Defects::loop_values)).
//!
//! Such a driver executes the iterations of several work-items together until the last one has left the loop, and
//! masks those that left earlier. A value that is computed in an iteration and used after the loop is taken from the
//! last iteration, for all of them. Only if control flow joins from two exits does the driver keep the value in a
//! variable per work-item:
//!
//! ```text
//! loop {                                    loop {
//!   %f = ...                                  if never { break }
//!   if %c { break %f }              =>        %f = ...
//! }                                           if %c { break %f }
//! ... %f                                    }
//! ```
//! The condition never holds. No compiler may find this out, or that the conditions of two loops are equal, because
//! then it would know the inner one. Each loop therefore compares with a different number: a word of memory, if
//! there is one ([`super::loop_watchdog`]), or the product of the index in the work-group and an odd number, modulo
//! 2^32.

use super::EmitError;
use super::builder::Expr;
use super::function::Emitter;
use super::items::Item;
use crate::analysis::loops::{Counted, PlainLoop};
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};
use crate::target::Target;
use naga::{BinaryOperator, Block, Statement};
use rustc_hash::FxHashSet;

/// An odd number: multiplication by it is injective.
const ODD: u32 = 0x9e37_79b1;

/// Greater than any index in a work-group.
const BEYOND: u32 = 1 << 31;

/// Number of loops per function that have distinct numbers.
const LOOPS: u32 = 1 << 20;

/// The number of the first loop of a function.
pub(super) const fn first_loop(function: u32) -> u32 {
    function.wrapping_mul(LOOPS)
}

/// The item that a function needs for additional exits of its loops.
pub(super) fn used(function: &Function, target: &Target) -> Option<Item> {
    let mut loops = false;
    // Some atomics become loops.
    function.body.walk(&mut |inst| loops |= matches!(inst.op, Op::Loop { .. } | Op::Atomic { .. }));
    (loops && target.shaders.defects.loop_values).then_some(Item::LocalIndex)
}

impl Emitter<'_, '_> {
    /// Before a loop: the condition of its additional exit, if it needs one.
    pub(super) fn other_exit(&mut self, op: &Op) -> Result<Option<Expr>, EmitError> {
        let needed = self.cx.watch.is_some() || (self.cx.target.shaders.defects.loop_values && leaves_values(self.function, op));
        if needed { self.never().map(Some) } else { Ok(None) }
    }

    /// A condition that never holds.
    pub(super) fn never(&mut self) -> Result<Expr, EmitError> {
        self.other_exits += 1;
        let number = self.other_exits;
        let (known, other) = match self.zero() {
            Some(zero) => (zero, number),
            None => {
                let (index, odd) = (self.item(Item::LocalIndex)?, self.b.u32(ODD));
                (self.b.binary(BinaryOperator::Multiply, index, odd), (BEYOND + number % BEYOND).wrapping_mul(ODD))
            }
        };
        let other = self.b.u32(other);
        Ok(self.b.binary(BinaryOperator::Equal, known, other))
    }

    /// At the start of a loop's body: the additional `break`.
    pub(super) fn exit_otherwise(&mut self, condition: Expr) {
        self.b.open();
        self.before_workaround_break();
        self.b.stmt(Statement::Break);
        let accept = self.b.close();
        self.b.stmt(Statement::If { condition, accept, reject: Block::new() });
    }
}

/// Whether a value that an iteration computes or stores may be used after the loop.
fn leaves_values(function: &Function, op: &Op) -> bool {
    let Op::Loop { body, .. } = op else { return false };
    // An exit at the start of an iteration passes parameters, which are variables, or values that can be computed
    // from them.
    if PlainLoop::of(op).is_some_and(|plain| Counted::of(function, &plain).is_some()) {
        return false;
    }
    let mut made: FxHashSet<Value> = FxHashSet::default();
    body.walk(&mut |inst| made.extend(inst.results.iter().copied()));
    let mut leaves = false;
    body.for_each_jump(&mut |op| leaves |= matches!(op, Op::Break(values) if values.iter().any(|value| made.contains(value))));
    let mut stored = false;
    for inst in &body.insts {
        stored |= stores(function, inst);
        leaves |= stored && breaks(inst);
    }
    leaves
}

/// Whether an instruction changes private memory, which the driver may promote to variables.
fn stores(function: &Function, inst: &Inst) -> bool {
    let private = |ptr: Value| function.ty(ptr) == Type::Ptr(Space::Private);
    let here = match inst.op {
        Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => private(ptr),
        _ => false,
    };
    here || inst.op.regions().into_iter().any(|region| region.insts.iter().any(|inst| stores(function, inst)))
}

/// Whether an instruction leaves the enclosing loop.
fn breaks(inst: &Inst) -> bool {
    match &inst.op {
        Op::Break(_) => true,
        Op::Loop { .. } => false,
        op => op.regions().into_iter().any(contains_break),
    }
}

/// Whether a region has a `break` of the enclosing loop.
pub(super) fn contains_break(region: &Region) -> bool {
    let mut found = false;
    region.for_each_jump(&mut |op| found |= matches!(op, Op::Break(_)));
    found
}

/// Whether a region has a `continue` of the enclosing loop.
pub(super) fn contains_continue(region: &Region) -> bool {
    let mut found = false;
    region.for_each_jump(&mut |op| found |= matches!(op, Op::Continue(_)));
    found
}
