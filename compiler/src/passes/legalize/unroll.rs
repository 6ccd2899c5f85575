//! Repeats the bodies of innermost loops, for drivers that stop a work-item after some number of iterations (`Target::loop_limit`):
//! copies of the body, each with its own test, count as one.
//!
//! ```text
//! loop (%p = %a) {              loop (%p = %a) {
//!   if f(%p) { break }            if f(%p) { break }
//!   continue g(%p)                %q = g(%p)
//! }                               if f(%q) { break }
//!                                 continue g(%q)
//!                               }
//! ```
//! That moves the limit away, but does not lift it.

use crate::ir::{CmpOp, Const, Function, Inst, Op, Region, Value};
use rustc_hash::FxHashMap;

/// Copies of a body at most.
const MAX_COPIES: usize = 16;
/// Instructions that all copies have together, roughly.
const MAX_SIZE: usize = 320;
/// A loop outside of others with no more iterations than that is left alone.
const FEW: u64 = 4096;

/// Repeats the bodies of a function's innermost loops.
pub(super) fn run(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let mut constants = FxHashMap::default();
    body.walk(&mut |inst| {
        if let (Op::Const(Const::Bits(bits)), [result]) = (&inst.op, &inst.results[..]) {
            constants.insert(*result, *bits);
        }
    });
    Unroll { function, constants }.region(&mut body, 0);
    function.body = body;
}

struct Unroll<'f> {
    function: &'f mut Function,
    constants: FxHashMap<Value, u64>,
}

impl Unroll<'_> {
    fn region(&mut self, region: &mut Region, depth: usize) {
        for inst in &mut region.insts {
            if let Op::Loop { init, params, body, .. } = &mut inst.op {
                if has_loop(body) {
                    self.region(body, depth + 1);
                } else if depth > 0 || !self.is_short(init, params, body) {
                    self.repeat(params, body);
                }
                continue;
            }
            for nested in inst.op.regions_mut() {
                self.region(nested, depth);
            }
        }
    }

    /// Whether a counter with a known start, step and limit ends the loop soon.
    fn is_short(&self, init: &[Value], params: &[Value], body: &Region) -> bool {
        let Some(Op::Continue(next)) = body.terminator() else { return false };
        let defined = |value: Value| body.insts.iter().find(|inst| inst.results == [value]).map(|inst| &inst.op);
        let constant = |value: &Value| self.constants.get(value).copied();
        init.iter().zip(params).zip(next).any(|((start, &param), &next)| {
            let Some(start) = constant(start) else { return false };
            let step = match defined(next) {
                Some(Op::Bin(crate::ir::BinOp::Add, a, b)) if *a == param => constant(b),
                _ => None,
            };
            let Some(step) = step.filter(|&step| step > 0) else { return false };
            // A test at the top of the body that leaves the loop.
            body.insts.iter().any(|inst| {
                let Op::If { cond, then, els } = &inst.op else { return false };
                let leaves = |region: &Region| matches!(region.terminator(), Some(Op::Break(_)));
                let Some(Op::Cmp(op, a, b)) = defined(*cond) else { return false };
                let counts = match op {
                    CmpOp::ULt | CmpOp::SLt | CmpOp::ULe | CmpOp::SLe | CmpOp::Ne => leaves(els),
                    CmpOp::UGe | CmpOp::SGe | CmpOp::UGt | CmpOp::SGt | CmpOp::Eq => leaves(then),
                    _ => false,
                };
                counts && (*a == param || *a == next) && constant(b).is_some_and(|limit| limit.saturating_sub(start) / step <= FEW)
            })
        })
    }

    fn repeat(&mut self, params: &[Value], body: &mut Region) {
        // The only way on is at the end.
        let mut continues = 0;
        body.for_each_jump(&mut |op| continues += usize::from(matches!(op, Op::Continue(_))));
        let Some(Op::Continue(next)) = body.terminator().cloned() else { return };
        let copies = (MAX_SIZE / body.size().max(1)).min(MAX_COPIES);
        if continues != 1 || copies < 2 {
            return;
        }
        body.insts.pop();
        let original = body.insts.clone();
        let mut values = next.clone();
        for _ in 1..copies {
            // The parameters of a copy are what the copy before would have continued with.
            let mut map: FxHashMap<Value, Value> = params.iter().copied().zip(values).collect();
            let insts = self.copy(&original, &mut map);
            body.insts.extend(insts);
            values = next.iter().map(|value| map.get(value).copied().unwrap_or(*value)).collect();
        }
        body.insts.push(Inst::effect(Op::Continue(values), crate::diag::Span::default()));
    }

    /// Copies instructions with new results; operands are renamed by `map`, which learns the results.
    fn copy(&mut self, insts: &[Inst], map: &mut FxHashMap<Value, Value>) -> Vec<Inst> {
        insts
            .iter()
            .map(|inst| {
                let mut copy = inst.clone();
                copy.op.map_operands(|value| {
                    if let Some(&new) = map.get(value) {
                        *value = new;
                    }
                });
                for nested in copy.op.regions_mut() {
                    nested.insts = self.copy(&nested.insts, map);
                }
                for result in &mut copy.results {
                    let ty = self.function.ty(*result);
                    let new = self.function.new_value(ty);
                    map.insert(*result, new);
                    *result = new;
                }
                copy
            })
            .collect()
    }
}

fn has_loop(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
    found
}
