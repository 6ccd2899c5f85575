//! Repeats the bodies of innermost loops, for drivers that stop a work-item after some number of iterations (`Defects::loop_turns`):
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
//! That moves the limit away, but does not lift it. Where the number of turns is known to be a multiple, one test is enough.

use crate::analysis::definitions::Constants;
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};
use crate::passes::trips::Trips;
use crate::passes::unroll::repeat;
use rustc_hash::FxHashMap;

/// Copies of a body at most.
const MAX_COPIES: usize = 8;
/// Instructions that all copies have together, roughly.
const MAX_SIZE: usize = 192;
/// What an access to private memory counts: one for each work-item that the driver does at a time.
const PRIVATE_ACCESS: usize = 24;
/// A loop with no more iterations than that, those of the loops around it included, is left alone.
const FEW: u64 = 4096;
/// A loop with no more iterations than that is left alone wherever it is. One with a barrier, as reductions have, is not: lavapipe takes less for eight barriers
/// in the code than for as many turns, and more for sixteen.
const VERY_FEW: u64 = 16;

/// Repeats the bodies of a function's innermost loops.
pub(super) fn run(function: &mut Function) {
    let turns = Trips::of(function).into_turns();
    let constants = Constants::of(&function.body);
    let mut body = std::mem::take(&mut function.body);
    Unroll { function, constants, turns }.region(&mut body, Some(1));
    function.body = body;
}

struct Unroll<'f> {
    function: &'f mut Function,
    constants: Constants,
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
                    self.repeat(inst);
                }
                continue;
            }
            for nested in inst.op.regions_mut() {
                self.region(nested, times);
            }
        }
    }

    fn repeat(&mut self, inst: &mut Inst) {
        let mut size = 1;
        for region in inst.op.regions() {
            region.walk(&mut |inst| {
                size += match &inst.op {
                    Op::Load { ptr, .. } | Op::Store { ptr, .. } if self.function.ty(*ptr) == Type::Ptr(Space::Private) => PRIVATE_ACCESS,
                    _ => 1,
                };
            });
        }
        let copies = (MAX_SIZE / size).min(MAX_COPIES);
        if copies > 1 {
            repeat(self.function, &self.constants, inst, copies);
        }
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
