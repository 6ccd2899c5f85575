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
//! The code after the `if` moves into the other side. A counter that all paths increment in the same way is then
//! uniform for all work-items of a vector. So are the addresses computed from it. If the paths met at the loop's
//! parameters, each work-item would have its own counter.

use rustc_hash::FxHashMap;

use super::pass::Pass;
use super::sink_common;
use crate::ir::{Function, Inst, Op, Region, Value};

pub(crate) const PASS: Pass = Pass::function("unify_latches", |function, _| Ok(run(function)));

/// Limit for the paths of a loop that are merged.
const MOST: usize = 16;

/// Gives every loop of a function a single latch if this needs no copies. Returns whether anything changed.
pub(crate) fn run(function: &mut Function) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let changed = inside(function, &mut body);
    function.body = body;
    changed
}

fn inside(function: &mut Function, region: &mut Region) -> bool {
    let mut changed = false;
    for inst in &mut region.insts {
        for nested in inst.op.regions_mut() {
            changed |= inside(function, nested);
        }
        if let Op::Loop { body, .. } = &mut inst.op {
            changed |= meet(function, body, MOST);
        }
    }
    changed
}

fn continues(region: &Region) -> bool {
    matches!(region.terminator(), Some(Op::Continue(_)))
}

/// Whether an instruction is an `if` of which one region continues the loop and the other one falls through.
fn parts(inst: &Inst) -> bool {
    match &inst.op {
        Op::If { then, els, .. } => continues(then) && els.yields() || then.yields() && continues(els),
        _ => false,
    }
}

/// Whether work-items synchronise somewhere: such code is not moved.
fn waits(insts: &[Inst]) -> bool {
    let waits_at = |inst: &Inst| matches!(inst.op, Op::Barrier(_) | Op::Group { .. });
    insts.iter().any(|inst| {
        let mut found = waits_at(inst);
        inst.op.regions().into_iter().for_each(|region| region.walk(&mut |inst| found |= waits_at(inst)));
        found
    })
}

/// Merges the paths of a region that ends in `continue`.
fn meet(function: &mut Function, region: &mut Region, most: usize) -> bool {
    let Some(at) = region.insts.iter().position(parts).filter(|_| most > 0 && continues(region)) else { return false };
    if waits(&region.insts[at + 1..]) {
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
        meet(function, open, most - 1);
        let mut after = Vec::new();
        let next = join(function, &mut inst.results, [then, els], &mut after);
        let span = inst.span;
        region.insts.push(inst);
        region.insts.append(&mut after);
        region.insts.push(Inst::effect(Op::Continue(next), span));
    }
    true
}

/// Makes two regions that continue the loop yield their values instead. Emits identical computations and one
/// `continue` after them.
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
    for (way, values) in [first, second].into_iter().zip(yields) {
        if let Some(end) = way.insts.last_mut() {
            end.op = Op::Yield(values);
        }
    }
    next
}

fn replace_uses(insts: &mut [Inst], replaced: &FxHashMap<Value, Value>) {
    let mut replace = |inst: &mut Inst| {
        inst.op.map_operands(|value| {
            if let Some(&new) = replaced.get(value) {
                *value = new;
            }
        });
    };
    for inst in insts {
        replace(inst);
        for region in inst.op.regions_mut() {
            region.walk_mut(&mut replace);
        }
    }
}
