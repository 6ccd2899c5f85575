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

use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};
use crate::passes::trips::Trips;
use rustc_hash::FxHashMap;

/// Copies of a body at most.
const MAX_COPIES: usize = 8;
/// Instructions that all copies have together, roughly.
const MAX_SIZE: usize = 192;
/// What an access to private memory counts: drivers turn an index known at run time into a ladder of tests.
const PRIVATE_ACCESS: usize = 24;
/// A loop with no more iterations than that, those of the loops around it included, is left alone.
const FEW: u64 = 4096;
/// A loop with no more iterations than that is left alone wherever it is. One with a barrier, as reductions have, is not: lavapipe takes less for eight barriers
/// in the code than for as many turns, and more for sixteen.
const VERY_FEW: u64 = 16;

/// Repeats the bodies of a function's innermost loops.
pub(super) fn run(function: &mut Function) {
    let turns = Trips::of(function).into_turns();
    let mut body = std::mem::take(&mut function.body);
    Unroll { function, turns }.region(&mut body, Some(1));
    function.body = body;
}

struct Unroll<'f> {
    function: &'f mut Function,
    /// How many turns loops do at most, by their first parameter.
    turns: FxHashMap<Value, u64>,
}

impl Unroll<'_> {
    /// `times` is how often the region runs at most, where that is known.
    fn region(&mut self, region: &mut Region, times: Option<u64>) {
        for inst in &mut region.insts {
            if let Op::Loop { params, body, .. } = &mut inst.op {
                let iterations = params.first().and_then(|param| self.turns.get(param)).copied();
                let total = iterations.zip(times).map(|(inner, outer)| inner.saturating_mul(outer));
                if has_loop(body) {
                    self.region(body, total);
                } else if (iterations.is_none_or(|count| count > VERY_FEW) && total.is_none_or(|count| count > FEW)) || barriers(body) == 1
                {
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

fn barriers(region: &Region) -> usize {
    let mut count = 0;
    region.walk(&mut |inst| count += usize::from(matches!(inst.op, Op::Barrier(_))));
    count
}

fn has_loop(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
    found
}
