//! Another way out of loops, for drivers that lose what a loop leaves behind ([`Defects::loop_values`](crate::target::Defects::loop_values)).
//!
//! Such a driver does the turns of several work-items together until the last of them has left the loop, and lets those that left earlier change nothing. But a value
//! that is made in a turn and used behind the loop it takes from the last turn that any of them did. Only where control flow comes together from two places does it
//! put the value into a variable, which keeps for each work-item what it left with:
//!
//! ```text
//! loop {                                    loop {
//!   %f = ...                                  if never { break }
//!   if %c { break %f }              =>        %f = ...
//! }                                           if %c { break %f }
//! ... %f                                    }
//! ```
//! The condition never holds, and no compiler may find that out, nor that it is the same for two loops: within the first it would know the second. So each loop compares
//! with a number of its own: either a word of memory, where there is one ([`super::loop_watchdog`]), or the product of the index in the work-group and an odd number, modulo 2^32.

use super::EmitError;
use super::builder::Expr;
use super::function::Emitter;
use super::items::Item;
use crate::analysis::loops::{Counted, PlainLoop};
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};
use crate::target::Target;
use naga::{BinaryOperator, Block, Statement};
use rustc_hash::FxHashSet;

/// An odd number: what is multiplied by it is different for different factors.
const ODD: u32 = 0x9e37_79b1;

/// More than any index in a work-group.
const BEYOND: u32 = 1 << 31;

/// Loops of a function that have numbers of their own.
const LOOPS: u32 = 1 << 20;

/// The number of the first loop of a function.
pub(super) const fn first_loop(function: u32) -> u32 {
    function.wrapping_mul(LOOPS)
}

/// What a function asks for to have other ways out of its loops.
pub(super) fn used(function: &Function, target: &Target) -> Option<Item> {
    let mut loops = false;
    // Some atomics become loops.
    function.body.walk(&mut |inst| loops |= matches!(inst.op, Op::Loop { .. } | Op::Atomic { .. }));
    (loops && target.shaders.defects.loop_values).then_some(Item::LocalIndex)
}

impl Emitter<'_, '_> {
    /// Before a loop: the condition of its other way out, where it needs one.
    pub(super) fn other_exit(&mut self, op: &Op) -> Result<Option<Expr>, EmitError> {
        let needed = self.cx.watch.is_some() || (self.cx.target.shaders.defects.loop_values && leaves_values(self.function, op));
        if needed { self.never().map(Some) } else { Ok(None) }
    }

    /// A condition that does not hold.
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

    /// At the beginning of a loop's body: the `break` that never happens.
    pub(super) fn exit_otherwise(&mut self, condition: Expr) {
        self.b.open();
        self.leave_unseen();
        self.b.stmt(Statement::Break);
        let accept = self.b.close();
        self.b.stmt(Statement::If { condition, accept, reject: Block::new() });
    }
}

/// Whether something that is made or stored in a turn of a loop may be used behind the loop, as it was when the turn ended there.
fn leaves_values(function: &Function, op: &Op) -> bool {
    let Op::Loop { body, .. } = op else { return false };
    // What ends before anything has happened in a turn leaves with parameters, which are variables, or with what can be computed from them.
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

/// Whether an instruction changes private memory, which the driver may take for variables.
fn stores(function: &Function, inst: &Inst) -> bool {
    let private = |ptr: Value| function.ty(ptr) == Type::Ptr(Space::Private);
    let here = match inst.op {
        Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => private(ptr),
        _ => false,
    };
    here || inst.op.regions().into_iter().any(|region| region.insts.iter().any(|inst| stores(function, inst)))
}

/// Whether an instruction leaves the loop around it.
fn breaks(inst: &Inst) -> bool {
    match &inst.op {
        Op::Break(_) => true,
        Op::Loop { .. } => false,
        op => op.regions().into_iter().any(contains_break),
    }
}

/// Whether a region has a `break` of the loop around it.
pub(super) fn contains_break(region: &Region) -> bool {
    let mut found = false;
    region.for_each_jump(&mut |op| found |= matches!(op, Op::Break(_)));
    found
}
