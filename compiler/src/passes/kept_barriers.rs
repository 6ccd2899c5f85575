//! Keeps barriers that a driver's compiler removes
//! ([`Defects::removed_barriers`](crate::target::Defects::removed_barriers)).
//!
//! FXC removes a barrier for global memory if no store to global memory precedes it since the last barrier. Loads
//! before such a barrier may then see stores after it. The pass adds a store before each barrier. It never executes:
//! its condition is a zero that is read from the argument buffer.
//!
//! ```text
//!                          %8 = workitem.work_dim; %9 = lshr %8, 16; %10 = ne %9, 0; %11 = 0
//! barrier global    =>     if %10 { store %11, %0; yield } else { yield }; barrier global    (%0: a parameter)
//! ```
//! Functions without stores to global memory do not change: their loads need no barrier.

use super::opaque_zero::{at_start, conditional, opaque_zero};
use super::pass::Pass;
use crate::analysis::definitions::Definitions;
use crate::ir::{Build, CmpOp, Function, Inst, Op, Region, Space, Type, Value};

pub(crate) const PASS: Pass = Pass::function("kept_barriers", |function, _| Ok(run(function)));

/// Adds stores before the barriers of a function. Returns whether there are any.
fn run(function: &mut Function) -> bool {
    let Some(pointer) = stored_parameter(function) else { return false };
    let mut has_barriers = false;
    function.body.walk(&mut |inst| has_barriers |= is_barrier(&inst.op));
    if !has_barriers {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    let store = at_start(function, &mut body, |at| {
        let zero = opaque_zero(at);
        let never = at.cmp_bits(CmpOp::Ne, zero, 0);
        Store { pointer, value: at.word(0), never }
    });
    keep(&mut body, store);
    function.body = body;
    true
}

/// A store that never executes.
#[derive(Clone, Copy)]
struct Store {
    pointer: Value,
    value: Value,
    never: Value,
}

/// A parameter in global memory through which the function stores.
fn stored_parameter(function: &Function) -> Option<Value> {
    let definitions = Definitions::of(function);
    let mut found = None;
    function.body.walk(&mut |inst| {
        if let Op::Store { ptr, .. } = inst.op {
            let root = match definitions.get(ptr) {
                Some(Op::PtrAdd(root, _)) => *root,
                _ => ptr,
            };
            let is_global = function.params.contains(&root) && function.ty(root) == Type::Ptr(Space::Global);
            found = found.or(is_global.then_some(root));
        }
    });
    found
}

const fn is_barrier(op: &Op) -> bool {
    matches!(op, Op::Barrier(fence) if fence.reaches_other_groups())
}

/// Adds a store before each barrier of a region.
fn keep(region: &mut Region, added: Store) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        inst.op.regions_mut().into_iter().for_each(|nested| keep(nested, added));
        if is_barrier(&inst.op) {
            let Store { pointer, value, never } = added;
            let store = Inst::effect(Op::Store { ptr: pointer, value, align: 4, volatile: false }, inst.span);
            out.push(conditional(never, store));
        }
        out.push(inst);
    }
    region.insts = out;
}
