//! Merges several `continue`s of a loop (`if (...) continue;`) into one latch.
//!
//! ```text
//! loop (%i = ...) {                               loop (%i = ...) {
//!   if %a { %j = add %i, 1; continue %j }           if %a { yield } else { ... yield }
//!   else { yield }                          =>      %k = add %i, 1
//!   ...                                             continue %k
//!   %k = add %i, 1; continue %k                   }
//! }
//! ```
//! The code after the `if` moves into the other region. A counter that all paths increment in the same way is then
//! uniform for all work-items of a vector. So are the addresses that are computed from it. Without this pass, the
//! counter would be varying, because each path would compute another SSA value for it.

use super::pass::Pass;
use super::sink_common;
use crate::ir::visit::replace_uses;
use crate::ir::{Function, Inst, Op, Region, Value};

pub(crate) const PASS: Pass = Pass::function("unify_latches", |function, _| Ok(run(function)));

/// Maximum number of paths of a loop that are merged.
const MAX_PATHS: usize = 16;

/// Merges the latches of all loops of a function, where this does not duplicate code. Returns whether anything changed.
pub(crate) fn run(function: &mut Function) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let changed = run_in_region(function, &mut body);
    function.body = body;
    changed
}

fn run_in_region(function: &mut Function, region: &mut Region) -> bool {
    let mut changed = false;
    for inst in &mut region.insts {
        for nested in inst.op.regions_mut() {
            changed |= run_in_region(function, nested);
        }
        if let Op::Loop { body, .. } = &mut inst.op {
            changed |= merge_paths(function, body, MAX_PATHS);
        }
    }
    changed
}

fn ends_in_continue(region: &Region) -> bool {
    matches!(region.terminator(), Some(Op::Continue(_)))
}

/// Whether an instruction is an `if` with one region that continues the loop and one region that yields.
fn is_early_continue(inst: &Inst) -> bool {
    match &inst.op {
        Op::If { then, els, .. } => ends_in_continue(then) && els.yields() || then.yields() && ends_in_continue(els),
        _ => false,
    }
}

/// Whether work-items synchronise in the instructions. Such code must not move into a region.
fn has_synchronisation(insts: &[Inst]) -> bool {
    let is_synchronisation = |inst: &Inst| matches!(inst.op, Op::Barrier(_) | Op::Group { .. });
    insts.iter().any(|inst| {
        let mut found = is_synchronisation(inst);
        inst.op.regions().into_iter().for_each(|region| region.walk(&mut |inst| found |= is_synchronisation(inst)));
        found
    })
}

/// Merges the paths of a region that ends in `continue`. Returns whether anything changed.
fn merge_paths(function: &mut Function, region: &mut Region, most: usize) -> bool {
    let Some(at) = region.insts.iter().position(is_early_continue).filter(|_| most > 0 && ends_in_continue(region)) else { return false };
    if has_synchronisation(&region.insts[at + 1..]) {
        return false;
    }
    let mut rest = region.insts.split_off(at + 1);
    let Some(mut inst) = region.insts.pop() else { return false };
    let results = std::mem::take(&mut inst.results);
    if let Op::If { then, els, .. } = &mut inst.op {
        let open = if then.yields() { &mut *then } else { &mut *els };
        if let Some(Inst { op: Op::Yield(values), .. }) = open.insts.pop() {
            replace_uses(&mut rest, &results.into_iter().zip(values).collect());
        }
        open.insts.append(&mut rest);
        merge_paths(function, open, most - 1);
        let mut after = Vec::new();
        let next = join(function, &mut inst.results, [then, els], &mut after);
        let span = inst.span;
        region.insts.push(inst);
        region.insts.append(&mut after);
        region.insts.push(Inst::effect(Op::Continue(next), span));
    }
    true
}

/// Replaces the `continue`s at the end of two regions by `yield`s. Computations that both regions perform identically
/// are emitted once, into `after`. Returns the operands of the new `continue`.
fn join(function: &mut Function, results: &mut Vec<Value>, [first, second]: [&mut Region; 2], after: &mut Vec<Inst>) -> Vec<Value> {
    let inner = sink_common::defined_in([&*first, &*second]);
    let (Some(Op::Continue(a)), Some(Op::Continue(b))) = (first.terminator().cloned(), second.terminator().cloned()) else {
        return Vec::new();
    };
    let (mut yields, mut next) = ([Vec::new(), Vec::new()], Vec::new());
    for (a, b) in a.into_iter().zip(b) {
        if a == b && !inner.contains(&a) {
            next.push(a);
        } else if let Some(inst) = sink_common::common_definition([(first, a), (second, b)], &inner) {
            next.push(function.emit(after, inst.span, function.ty(a), inst.op.clone()));
        } else {
            let result = function.new_value(function.ty(a));
            results.push(result);
            next.push(result);
            yields[0].push(a);
            yields[1].push(b);
        }
    }
    for (region, values) in [first, second].into_iter().zip(yields) {
        if let Some(end) = region.insts.last_mut() {
            end.op = Op::Yield(values);
        }
    }
    next
}
