//! Conditions on a value that hold in a loop after its exit tests.
//!
//! Example: after `if slt %i, %n { yield } else { break }`, `%i < %n` holds.

use crate::analysis::definitions::Definitions;
use crate::ir::{BinOp, CmpOp, Inst, Op, Region, UnOp, Value};

/// The conditions `compare(param, bound)` that hold whenever the loop continues: those of the exit tests before the
/// first `continue`.
pub(crate) fn guards(body: &Region, defs: &Definitions<'_>, param: Value) -> Vec<(CmpOp, Value)> {
    let mut bounds = Vec::new();
    for inst in &body.insts {
        let mut continues = matches!(inst.op, Op::Continue(_));
        if !matches!(inst.op, Op::Loop { .. }) {
            for region in inst.op.regions() {
                region.for_each_jump(&mut |op| continues |= matches!(op, Op::Continue(_)));
            }
        }
        if continues {
            break;
        }
        bounds.extend(guard_bounds(inst, defs, param));
    }
    bounds
}

/// The conditions `compare(param, bound)` that hold after `if condition { yield } else { break }`.
fn guard_bounds(guard: &Inst, defs: &Definitions<'_>, param: Value) -> Vec<(CmpOp, Value)> {
    let Op::If { cond, then, els } = &guard.op else { return Vec::new() };
    let leaves = |region: &Region| {
        matches!(region.terminator(), Some(Op::Break(_))) && region.insts.iter().rev().skip(1).all(|inst| inst.op.is_pure())
    };
    let continues = |region: &Region| region.yields();
    let mut found = Vec::new();
    let mut conditions = Vec::new();
    if continues(then) && leaves(els) {
        conditions.push((*cond, true));
    } else if leaves(then) && continues(els) {
        conditions.push((*cond, false));
    }
    while let Some((cond, holds)) = conditions.pop() {
        match defs.get(cond) {
            Some(&Op::Bin(BinOp::And, a, b)) if holds => conditions.extend([(a, true), (b, true)]),
            Some(&Op::Bin(BinOp::Or, a, b)) if !holds => conditions.extend([(a, false), (b, false)]),
            Some(&Op::Un(UnOp::Not, a)) => conditions.push((a, !holds)),
            Some(&Op::Cmp(kind, a, b)) => {
                let kind = if holds { Some(kind) } else { kind.inverse() };
                let Some(kind) = kind else { continue };
                if a == param {
                    found.push((kind, b));
                } else if b == param {
                    found.push((kind.mirrored(), a));
                }
            }
            _ => {}
        }
        if found.len() + conditions.len() > 8 {
            break;
        }
    }
    found
}
