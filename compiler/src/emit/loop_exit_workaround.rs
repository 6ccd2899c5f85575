//! Adds an exit to loops, for drivers that lose values that are used after a loop
//! ([`Defects::loop_values`](crate::target::Defects::loop_values)).
//!
//! Such a driver executes iterations of several work-items together until all of them have left the loop. Work-items
//! that left earlier are masked. A value that is computed in the loop and used after it is taken from the last
//! iteration, for all of these work-items. The driver stores the value in a variable per work-item only if control flow
//! joins from two exits:
//!
//! ```text
//! loop {                                    loop {
//!   %f = ...                                  if never { break }
//!   if %c { break %f }              =>        %f = ...
//! }                                           if %c { break %f }
//! ... %f                                    }
//! ```
//! The condition `never` is false. If a compiler knew this, it would remove the exit. If it knew that the conditions of
//! nested loops are equal, it would remove the exit of the inner loop. So each loop compares a different number with a
//! word of memory, if there is one ([`super::loop_watchdog`]). Otherwise the comparison is with the product of the
//! index in the work-group and an odd number, modulo 2^32. If barriers need uniform control flow, the comparison is
//! with the work dimension.

use super::EmitError;
use super::builder::Expr;
use super::function::Emitter;
use super::items::{Item, OPAQUE_ZERO};
use crate::analysis::loops::{Counted, SingleLatchLoop};
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};
use crate::target::{Shaders, Target};
use naga::{BinaryOperator, Block, Statement};
use rustc_hash::FxHashSet;

/// An odd number, so that multiplication by it modulo 2^32 is injective.
const ODD: u32 = 0x9e37_79b1;

/// A number that is greater than every index in a work-group.
const BEYOND: u32 = 1 << 31;

/// Maximum number of loops per function whose conditions have distinct numbers.
const MAX_LOOPS: u32 = 1 << 20;

/// Returns the number before that of the first loop of the function with this index.
pub(super) const fn first_loop(function: u32) -> u32 {
    function.wrapping_mul(MAX_LOOPS)
}

/// The item that a function needs for extra exits of its loops. `None` if it needs none.
pub(super) fn used(function: &Function, target: &Target) -> Option<Item> {
    let mut loops = false;
    // Some atomic operations become loops.
    function.body.walk(&mut |inst| loops |= matches!(inst.op, Op::Loop { .. } | Op::Atomic { .. } | Op::CmpXchg { .. }));
    let Shaders { uniform_barriers, defects, .. } = &target.shaders;
    // The exit must not make the control flow of barriers depend on the work-item, nor on private variables.
    let known = if *uniform_barriers { OPAQUE_ZERO } else { Item::LocalIndex };
    (loops && (defects.loop_values || *uniform_barriers && defects.max_loop_iterations.is_some())).then_some(known)
}

impl Emitter<'_, '_> {
    /// Returns the condition of the extra exit of a loop. `None` if the loop needs no extra exit. Must be called before
    /// the loop.
    pub(super) fn extra_exit_condition(&mut self, op: &Op) -> Result<Option<Expr>, EmitError> {
        let needed = self.cx.watch.is_some() || (self.cx.target.shaders.defects.loop_values && leaves_values(self.function, op));
        if needed { self.false_condition().map(Some) } else { Ok(None) }
    }

    /// Returns a condition that is false, but opaque to the driver's compiler.
    pub(super) fn false_condition(&mut self) -> Result<Expr, EmitError> {
        self.extra_exits += 1;
        let number = self.extra_exits;
        let (known, other) = if self.cx.target.shaders.uniform_barriers {
            (self.item(OPAQUE_ZERO)?, BEYOND + number % BEYOND)
        } else if let Some(zero) = self.zero() {
            (zero, number)
        } else {
            let (index, odd) = (self.item(Item::LocalIndex)?, self.b.u32(ODD));
            (self.b.binary(BinaryOperator::Multiply, index, odd), (BEYOND + number % BEYOND).wrapping_mul(ODD))
        };
        let other = self.b.u32(other);
        Ok(self.b.binary(BinaryOperator::Equal, known, other))
    }

    /// Emits the extra exit. Must be called at the start of the loop's body.
    pub(super) fn emit_extra_exit(&mut self, condition: Expr) {
        self.b.open();
        self.before_extra_break();
        self.b.stmt(Statement::Break);
        let accept = self.b.close();
        self.b.stmt(Statement::If { condition, accept, reject: Block::new() });
    }
}

/// Whether a value that an iteration computes or stores may be used after the loop.
fn leaves_values(function: &Function, op: &Op) -> bool {
    let Op::Loop { body, .. } = op else { return false };
    // A loop whose exit is at the start of an iteration passes only parameters, or values computed from parameters, to
    // the code after the loop. Parameters are variables.
    if SingleLatchLoop::of(op).is_some_and(|plain| Counted::of(function, &plain).is_some()) {
        return false;
    }
    let mut made: FxHashSet<Value> = FxHashSet::default();
    body.walk(&mut |inst| made.extend(inst.results.iter().copied()));
    let mut leaves = false;
    body.for_each_jump(&mut |op| leaves |= matches!(op, Op::Break(values) if values.iter().any(|value| made.contains(value))));
    let mut stored = false;
    for inst in &body.insts {
        stored |= changes_private_memory(function, inst);
        leaves |= stored && is_or_contains_break(inst);
    }
    leaves
}

/// Whether an instruction changes private memory. The driver may promote private memory to variables.
fn changes_private_memory(function: &Function, inst: &Inst) -> bool {
    let private = |ptr: Value| function.ty(ptr) == Type::Ptr(Space::Private);
    let here = match inst.op {
        Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => private(ptr),
        _ => false,
    };
    here || inst.op.regions().into_iter().any(|region| region.insts.iter().any(|inst| changes_private_memory(function, inst)))
}

/// Whether an instruction leaves the enclosing loop.
fn is_or_contains_break(inst: &Inst) -> bool {
    match &inst.op {
        Op::Break(_) => true,
        Op::Loop { .. } => false,
        op => op.regions().into_iter().any(contains_break),
    }
}

/// Whether a region contains a `break` of the enclosing loop.
pub(super) fn contains_break(region: &Region) -> bool {
    contains_jump(region, |op| matches!(op, Op::Break(_)))
}

/// Whether a region contains a `continue` of the enclosing loop.
pub(super) fn contains_continue(region: &Region) -> bool {
    contains_jump(region, |op| matches!(op, Op::Continue(_)))
}

fn contains_jump(region: &Region, is_wanted: impl Fn(&Op) -> bool) -> bool {
    let mut found = false;
    region.for_each_jump(&mut |op| found |= is_wanted(op));
    found
}
