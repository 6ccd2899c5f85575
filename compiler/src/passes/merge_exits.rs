//! Merges two exits of a loop with the same results, if there are only a few cheap operations between them. Example:
//! `while (n < limit && f(x) < 4)`.
//!
//! ```text
//! if %a { yield } else { break %n }                 %b = ... pure, cheap
//! %b = ... pure, cheap                       =>     %c = and %a, %b
//! if %b { yield } else { break %n }                 if %c { yield } else { break %n }
//! ```
//! If the loop leaves through the first exit, it executes the operations once without need. A second exit costs a
//! branch per iteration, and on GPUs also an update of the mask of active lanes.

use super::pass::Pass;
use super::simplify::is_cheap_op;
use crate::diag::Span;
use crate::ir::{BinOp, Function, Inst, Op, Region, Type, UnOp, Value};

pub(crate) const PASS: Pass = Pass::function("merge_exits", |function, _| {
    run(function);
    Ok(true)
});

/// Maximum number of operations between two exits.
const MAX_BETWEEN: usize = 8;

/// Merges the exits of every loop of a function.
pub(crate) fn run(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    region(function, &mut body);
    function.body = body;
}

fn region(function: &mut Function, body: &mut Region) {
    for inst in &mut body.insts {
        for nested in inst.op.regions_mut() {
            region(function, nested);
        }
    }
    let mut last: Option<Exit> = None;
    let mut at = 0;
    while at < body.insts.len() {
        let here = exit(&body.insts[at]).map(|(cond, leaves_if)| Exit { at, cond, leaves_if });
        let Some(here) = here else {
            if !is_cheap_op(&body.insts[at].op) {
                last = None;
            }
            at += 1;
            continue;
        };
        if let Some(before) = last.take()
            && here.at - before.at - 1 <= MAX_BETWEEN
            && break_values(&body.insts[before.at]) == break_values(&body.insts[here.at])
        {
            let span = body.insts[here.at].span;
            let mut added = Vec::new();
            let cond = merged_condition(function, &mut added, span, &before, &here);
            if let Op::If { cond: condition, .. } = &mut body.insts[here.at].op {
                *condition = cond;
            }
            let count = added.len();
            body.insts.splice(here.at..here.at, added);
            body.insts.remove(before.at);
            at = here.at + count - 1;
            last = Some(Exit { at, cond, leaves_if: here.leaves_if });
        } else {
            last = Some(here);
        }
        at += 1;
    }
}

/// An `if` with one branch that leaves the loop, and an empty other branch.
struct Exit {
    /// The position of the `if` in the region.
    at: usize,
    cond: Value,
    /// The value of the condition for which the `if` leaves the loop.
    leaves_if: bool,
}

/// Returns the condition of an exit, and the value for which the exit leaves the loop. Returns `None` for other
/// instructions.
fn exit(inst: &Inst) -> Option<(Value, bool)> {
    let Op::If { cond, then, els } = &inst.op else { return None };
    let continues = |region: &Region| matches!(&region.insts[..], [Inst { op: Op::Yield(values), .. }] if values.is_empty());
    let leaves = |region: &Region| matches!(&region.insts[..], [Inst { op: Op::Break(_), .. }]);
    if continues(then) && leaves(els) {
        Some((*cond, false))
    } else if leaves(then) && continues(els) {
        Some((*cond, true))
    } else {
        None
    }
}

/// Returns the operands of the exit's `break`.
fn break_values(inst: &Inst) -> Option<&[Value]> {
    inst.op.regions().into_iter().find_map(|region| match &region.insts[..] {
        [Inst { op: Op::Break(values), .. }] => Some(values.as_slice()),
        _ => None,
    })
}

/// Emits the condition of the merged exit. The merged exit leaves the loop if this condition equals `leaves_if` of the
/// second exit.
fn merged_condition(function: &mut Function, added: &mut Vec<Inst>, span: Span, first: &Exit, second: &Exit) -> Value {
    let mut other = first.cond;
    if first.leaves_if != second.leaves_if {
        other = function.emit(added, span, Type::BOOL, Op::Un(UnOp::Not, other));
    }
    let op = if second.leaves_if { BinOp::Or } else { BinOp::And };
    function.emit(added, span, Type::BOOL, Op::Bin(op, other, second.cond))
}
