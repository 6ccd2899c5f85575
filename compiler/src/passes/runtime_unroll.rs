//! Unrolls counted loops with a run-time trip count. One test covers several iterations, so that the loads of these
//! iterations do not depend on each other.
//!
//! ```text
//!                                                   %limit = ssub_sat %n, 3
//! loop (%i = 0, %s = 0) {                           %j, %t = loop (%i = 0, %s = 0) {
//!   if slt %i, %n { yield } else { break %s }         if slt %i, %limit { yield } else { break %i, %s }
//!   %x = load ...                              =>     ... four times, for %i, %i + 1, %i + 2, %i + 3
//!   continue add %i, 1; fadd %s, %x                   continue ...
//! }                                                 }
//!                                                   loop (%i = %j, %s = %t) { as before }
//! ```
//! GPU drivers unroll simple loops in this way, but NVIDIA's Vulkan driver does so less often than its OpenCL driver.
//! The order of operations does not change, except that loads move before stores and atomics that cannot alias them
//! ([`super::alias`]). Candidates are small loops that load from buffers and have one latch. They have one exit, which
//! compares a counter with a loop-invariant bound. The step need not be a constant, as in `i += get_global_size(0)`.
//! Loops with at most [`FEW_ITERATIONS`] iterations are not unrolled.
//!
//! Expects the form that `resolve_pointers` and `shrink_int64` produce.

use rustc_hash::{FxHashMap, FxHashSet};

use super::alias::MemoryUse;
use super::loop_copies::{LoopBound, copy_iteration};
use super::pass::Pass;
use super::simplify::Purity;
use crate::analysis::definitions::Constants;
use crate::analysis::loops::SingleLatchLoop;
use crate::analysis::loops::trips::Trips;
use crate::diag::Span;
use crate::ir::{Cursor, Function, Inst, Op, Region, Space, Type, Value};

pub(crate) const PASS: Pass = Pass::function("runtime_unroll", |function, cx| Ok(run(function, cx.key.binding.distinct, cx.purity)));

/// Loops with at most this number of iterations stay, because unrolling saves little. It can also give wrong results
/// with NVIDIA's Vulkan driver (580.159.04, H200). In the built-in kernel `minmaxloc`, a condition around a loop limits
/// its 64-bit bound to 15. The driver executed a wrong number of iterations of the unrolled loop.
const FEW_ITERATIONS: u64 = 16;
/// Number of iterations per test.
const COPIES: u64 = 4;
/// Maximum number of instructions of a loop before unrolling.
const MAX_LOOP_SIZE: usize = 48;
/// Maximum number of instructions that unrolling adds to a function.
const MAX_GROWTH: usize = 4096;

/// Unrolls innermost loops. Returns whether any loop was unrolled.
/// [`BindingKey::distinct`](crate::launch::BindingKey::distinct) documents `distinct`.
pub(crate) fn run(function: &mut Function, distinct: bool, purity: &Purity) -> bool {
    let constants = Constants::of(&function.body);
    let iterations = Trips::of(function).into_iterations();
    let mut body = std::mem::take(&mut function.body);
    let mut pass = RuntimeUnroll { function, constants, iterations, growth: 0, made: FxHashSet::default() };
    pass.region(&mut body);
    let (changed, made) = (pass.growth > 0, pass.made);
    if changed {
        let memory = MemoryUse::of(function, &body, distinct, purity);
        body.walk_mut(&mut |inst| match &mut inst.op {
            Op::Loop { params, body, .. } if params.first().is_some_and(|param| made.contains(param)) => memory.hoist_loads(body),
            _ => {}
        });
    }
    function.body = body;
    changed
}

struct RuntimeUnroll<'a> {
    function: &'a mut Function,
    constants: Constants,
    /// Upper bounds for the iterations of loops, by their first parameter.
    iterations: FxHashMap<Value, u64>,
    growth: usize,
    /// The first parameters of the unrolled loops.
    made: FxHashSet<Value>,
}

impl RuntimeUnroll<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            if let Some(starts) = self.unrolled_loop(&inst, &mut out)
                && let Op::Loop { init, .. } = &mut inst.op
            {
                *init = starts;
            }
            out.push(inst);
        }
        region.insts = out;
    }

    /// Emits an unrolled loop to be executed before the original loop. Returns the new initial values of the original
    /// loop's parameters, or `None` if the loop cannot be unrolled.
    fn unrolled_loop(&mut self, inst: &Inst, out: &mut Vec<Inst>) -> Option<Vec<Value>> {
        if matches!(inst.op, Op::Loop { unroll: Some(1), .. }) {
            return None;
        }
        let latch_loop = SingleLatchLoop::of(&inst.op)?;
        let most = latch_loop.params.first().and_then(|param| self.iterations.get(param));
        if most.is_some_and(|&most| most <= FEW_ITERATIONS) {
            return None;
        }
        let size = latch_loop.body.size();
        if size > MAX_LOOP_SIZE || self.growth + size * COPIES as usize > MAX_GROWTH || !self.is_candidate(latch_loop.body) {
            return None;
        }
        let counted = LoopBound::of(self.function, &self.constants, &latch_loop)?;
        self.growth += size * COPIES as usize;
        let span = inst.span;
        let limit = counted.limit(&mut Cursor::new(self.function, out, span), COPIES);
        let fresh = |function: &mut Function| -> Vec<Value> {
            latch_loop.params.iter().map(|&param| function.new_value(function.ty(param))).collect()
        };
        let (params, results) = (fresh(self.function), fresh(self.function));
        self.made.extend(params.first());
        let body = self.unrolled_body(&latch_loop, &counted, &params, limit, span);
        let op = Op::Loop { init: latch_loop.init.to_vec(), params, body, unroll: Some(1) };
        out.push(Inst { op, results: results.clone(), span });
        Some(results)
    }

    fn unrolled_body(
        &mut self,
        latch_loop: &SingleLatchLoop<'_>,
        counted: &LoopBound,
        params: &[Value],
        limit: Value,
        span: Span,
    ) -> Region {
        let mut insts = Vec::new();
        counted.test(&mut Cursor::new(self.function, &mut insts, span), params[counted.counter], limit, params.to_vec());
        let mut current = params.to_vec();
        for _ in 0..COPIES {
            current = copy_iteration(self.function, latch_loop, current, Some(counted.test), &mut insts);
        }
        insts.push(Inst::effect(Op::Continue(current), span));
        Region { insts }
    }

    /// Whether a body loads from buffers, and contains no loop, return, volatile load, synchronisation, image access or
    /// I/O.
    fn is_candidate(&self, body: &Region) -> bool {
        let (mut loads, mut is_allowed) = (false, true);
        body.walk(&mut |inst| match inst.op {
            Op::Load { ptr, volatile, .. } => {
                loads |= matches!(self.function.ty(ptr), Type::Ptr(Space::Global | Space::Constant | Space::Generic));
                is_allowed &= !volatile;
            }
            Op::Loop { .. }
            | Op::Return(_)
            | Op::Barrier(_)
            | Op::MemFence(_)
            | Op::Group { .. }
            | Op::Printf { .. }
            | Op::Clock { .. }
            | Op::Image { .. } => {
                is_allowed = false;
            }
            _ => {}
        });
        loads && is_allowed
    }
}
