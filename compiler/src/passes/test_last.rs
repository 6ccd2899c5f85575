//! Moves the `continue` of a bottom-tested loop to the end of the body, so that the loop has the form that `unroll`
//! accepts.
//!
//! ```text
//! loop (%i = ...) {                                  loop (%i = ...) {
//!   ...                                                ...
//!   %b = if %a { %j = add %i, 1; yield %j }            %b = add %i, 1
//!        else { %k = add %i, 1; yield %k }
//!   if %c { continue %b } else { break }      =>       if %c { yield } else { break }
//!   unreachable                                        continue %b
//! }                                                  }
//! ```
//! Optimising SPIR-V compilers rotate all loops, but `unroll` needs a single `continue` at the end of the body.
//! Identical instructions at the end of both regions of an `if`, especially updates of counters, move after the `if`.

use super::pass::Pass;
use super::sink_common;
use crate::ir::{Inst, Op, Region};

pub(crate) const PASS: Pass = Pass::function("test_last", |function, _| {
    let mut body = std::mem::take(&mut function.body);
    let changed = run_in_region(&mut body);
    function.body = body;
    Ok(changed)
});

fn run_in_region(region: &mut Region) -> bool {
    let mut changed = false;
    let mut insts = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        inst.op.regions_mut().into_iter().for_each(|nested| changed |= run_in_region(nested));
        if let Op::Loop { body, .. } = &mut inst.op {
            changed |= continue_last(body);
        }
        let after = sink_common::sink(&mut inst);
        changed |= !after.is_empty();
        insts.push(inst);
        insts.extend(after);
    }
    region.insts = insts;
    changed
}

/// Moves the continuing region after the `if` at the end of a body, if the other region breaks. Returns whether the
/// region was moved.
fn continue_last(body: &mut Region) -> bool {
    let [.., Inst { op: Op::If { then, els, .. }, .. }, Inst { op: Op::Unreachable, .. }] = &mut body.insts[..] else { return false };
    let continues = match (then.terminator(), els.terminator()) {
        (Some(Op::Continue(_)), Some(Op::Break(_))) => then,
        (Some(Op::Break(_)), Some(Op::Continue(_))) => els,
        _ => return false,
    };
    let span = continues.insts.last().map_or_else(Default::default, |end| end.span);
    let after = std::mem::replace(&mut continues.insts, vec![Inst::effect(Op::Yield(Vec::new()), span)]);
    body.insts.pop();
    body.insts.extend(after);
    true
}
