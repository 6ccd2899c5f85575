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

use crate::ir::{BinOp, CmpOp, Const, Function, Inst, Op, Region, Space, Type, Value};
use rustc_hash::FxHashMap;

/// Copies of a body at most.
const MAX_COPIES: usize = 8;
/// Instructions that all copies have together, roughly.
const MAX_SIZE: usize = 192;
/// What an access to private memory counts: drivers turn an index known at run time into a ladder of tests.
const PRIVATE_ACCESS: usize = 24;
/// A loop with no more iterations than that, those of the loops around it included, is left alone.
const FEW: u64 = 4096;
/// A loop with no more iterations than that is left alone wherever it is.
const VERY_FEW: u64 = 16;

/// Repeats the bodies of a function's innermost loops.
pub(super) fn run(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    let constants = constants(&body);
    Unroll { function, constants }.region(&mut body, Some(1));
    function.body = body;
}

/// How many iterations all loops of a function do together at most, where that is known.
pub(crate) fn most_turns(function: &Function) -> Option<u64> {
    total(&constants(&function.body), &function.body)
}

fn total(constants: &FxHashMap<Value, u64>, region: &Region) -> Option<u64> {
    region.insts.iter().try_fold(0u64, |sum, inst| {
        let turns = if let Op::Loop { init, params, body, .. } = &inst.op {
            iterations(constants, init, params, body)?.saturating_mul(total(constants, body)?.saturating_add(1))
        } else {
            inst.op.regions().into_iter().try_fold(0u64, |sum, nested| Some(sum.saturating_add(total(constants, nested)?)))?
        };
        Some(sum.saturating_add(turns))
    })
}

fn constants(body: &Region) -> FxHashMap<Value, u64> {
    let mut constants = FxHashMap::default();
    body.walk(&mut |inst| {
        if let (Op::Const(Const::Bits(bits)), [result]) = (&inst.op, &inst.results[..]) {
            constants.insert(*result, *bits);
        }
    });
    constants
}

struct Unroll<'f> {
    function: &'f mut Function,
    constants: FxHashMap<Value, u64>,
}

impl Unroll<'_> {
    /// `times` is how often the region runs at most, where that is known.
    fn region(&mut self, region: &mut Region, times: Option<u64>) {
        for inst in &mut region.insts {
            if let Op::Loop { init, params, body, .. } = &mut inst.op {
                let iterations = iterations(&self.constants, init, params, body);
                let total = iterations.zip(times).map(|(inner, outer)| inner.saturating_mul(outer));
                if has_loop(body) {
                    self.region(body, total);
                } else if iterations.is_none_or(|count| count > VERY_FEW) && total.is_none_or(|count| count > FEW) {
                    self.repeat(params, body);
                }
                continue;
            }
            for nested in inst.op.regions_mut() {
                self.region(nested, times);
            }
        }
    }

    fn repeat(&mut self, params: &[Value], body: &mut Region) {
        // The only way on is at the end.
        let mut continues = 0;
        body.for_each_jump(&mut |op| continues += usize::from(matches!(op, Op::Continue(_))));
        let Some(Op::Continue(next)) = body.terminator().cloned() else { return };
        let mut size = 1;
        body.walk(&mut |inst| {
            size += match &inst.op {
                Op::Load { ptr, .. } | Op::Store { ptr, .. } if self.function.ty(*ptr) == Type::Ptr(Space::Private) => PRIVATE_ACCESS,
                _ => 1,
            };
        });
        let copies = (MAX_SIZE / size).min(MAX_COPIES);
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

/// How often a loop runs at most, where a counter with a known start, step and limit ends it.
fn iterations(constants: &FxHashMap<Value, u64>, init: &[Value], params: &[Value], body: &Region) -> Option<u64> {
    let Some(Op::Continue(next)) = body.terminator() else { return None };
    let mut continues = 0;
    body.for_each_jump(&mut |op| continues += usize::from(matches!(op, Op::Continue(_))));
    if continues != 1 {
        return None;
    }
    let defined = |value: Value| body.insts.iter().find(|inst| inst.results == [value]).map(|inst| &inst.op);
    let constant = |value: &Value| constants.get(value).copied();
    init.iter().zip(params).zip(next).find_map(|((start, &param), &next)| {
        let start = constant(start)?;
        let step = match defined(next)? {
            Op::Bin(BinOp::Add, a, b) if *a == param => constant(b).filter(|&step| step > 0)?,
            _ => return None,
        };
        // A test at the top of the body that leaves the loop.
        body.insts.iter().find_map(|inst| {
            let Op::If { cond, then, els } = &inst.op else { return None };
            let leaves = |region: &Region| matches!(region.terminator(), Some(Op::Break(_)));
            let Some(Op::Cmp(op, a, b)) = defined(*cond) else { return None };
            let counts = match op {
                CmpOp::ULt | CmpOp::SLt | CmpOp::ULe | CmpOp::SLe => leaves(els),
                CmpOp::UGe | CmpOp::SGe | CmpOp::UGt | CmpOp::SGt => leaves(then),
                _ => false,
            };
            // A start above the limit is a negative one.
            let limit = constant(b).filter(|&limit| counts && start <= limit && (*a == param || *a == next))?;
            Some((limit - start) / step + 1)
        })
    })
}

fn has_loop(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
    found
}
