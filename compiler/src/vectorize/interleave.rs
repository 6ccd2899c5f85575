//! Interleaving: two or four vectors of work-items run at a time, so that some compute while the others wait for
//! results or memory. All share uniform loads, counters and branches.
//!
//! That pays in loops that work-items leave together, or nearly so because they count to the same bound, if all live
//! values fit in registers. In loops that work-items leave at different times, more lanes would wait for the last.

use rustc_hash::FxHashMap;

use super::gather_bound::{contains_loop, has_divergent_exit};
use super::shape::{Shape, elem};
use super::uniformity::{LaneShape, Uniformity};
use super::value::scalar;
use crate::analysis::loops::{Counted, PlainLoop};
use crate::ir::{Function, Inst, Op, Region, Value};

/// The most lanes: each has a bit in a 32-bit word.
const MAX_LANES: u32 = 32;

/// The shape for a kernel with loops: as many vectors as all innermost loops have registers for.
pub(super) fn interleave(function: &Function, uniformity: &Uniformity<'_>) -> Shape {
    let (shape, caps) = (uniformity.shape(), uniformity.caps());
    let fills_vectors = shape.lanes * 4 == caps.vector_bytes;
    if !fills_vectors || shape.lanes < caps.min_interleaved_lanes {
        return shape;
    }
    let row = shape.group[usize::from(shape.vector_dimension)];
    let is_better = |vectors: u32| {
        let lanes = shape.lanes * vectors;
        let fits = lanes <= MAX_LANES && row.is_multiple_of(lanes);
        fits && is_profitable(function, &function.body, uniformity, (caps.vector_registers / vectors) as usize)
    };
    let vectors = [4, 2].into_iter().find(|&vectors| vectors <= caps.max_interleaved_vectors && is_better(vectors));
    Shape { lanes: shape.lanes * vectors.unwrap_or(1), ..shape }
}

/// Whether all innermost loops of a region need at most this number of registers for one vector.
fn is_profitable(function: &Function, region: &Region, uniformity: &Uniformity<'_>, registers: usize) -> bool {
    region.insts.iter().all(|inst| match &inst.op {
        Op::Call(..) => false,
        Op::Loop { params, body, .. } => {
            let inside = || {
                if contains_loop(body) {
                    is_profitable(function, body, uniformity, registers)
                } else {
                    fits(params, body, uniformity, registers)
                }
            };
            (!has_divergent_exit(body, uniformity) || is_counted(function, &inst.op, uniformity)) && inside()
        }
        op => op.regions().into_iter().all(|region| is_profitable(function, region, uniformity, registers)),
    })
}

/// Whether a loop counts to a uniform bound in uniform steps.
fn is_counted(function: &Function, op: &Op, uniformity: &Uniformity<'_>) -> bool {
    let is_uniform = |value: Value| matches!(uniformity.lane_shape(value), LaneShape::Uniform | LaneShape::Unknown);
    let counted = PlainLoop::of(op).and_then(|plain| Counted::of(function, &plain));
    counted.is_some_and(|counted| is_uniform(counted.bound) && is_uniform(counted.step.1))
}

/// Whether the live values of one vector fit in this number of registers.
fn fits(params: &[Value], body: &Region, uniformity: &Uniformity<'_>, registers: usize) -> bool {
    let mut ranges = LiveRanges::default();
    ranges.region(body);
    // Values from outside, and those of the next iteration, are live all the time.
    for value in params.iter().chain(&ranges.outer(params)) {
        ranges.spans.insert(*value, (0, ranges.at));
    }
    let mut changes = vec![0_isize; ranges.at + 2];
    for (&value, &(from, to)) in &ranges.spans {
        let size = size(value, uniformity).cast_signed();
        changes[from] += size;
        changes[to + 1] -= size;
    }
    let (mut alive, mut most) = (0, 0);
    for change in changes {
        alive += change;
        most = most.max(alive);
    }
    most.unsigned_abs() <= registers
}

/// The registers that a value takes for one vector of work-items.
fn size(value: Value, uniformity: &Uniformity<'_>) -> usize {
    if uniformity.lane_shape(value) != LaneShape::Varying {
        return 0;
    }
    let ty = uniformity.ty(value);
    usize::from(ty.lanes()) * if elem(scalar(ty)).bits() == 64 { 2 } else { 1 }
}

/// Live ranges in a loop's body, counted in instructions.
#[derive(Default)]
struct LiveRanges {
    at: usize,
    spans: FxHashMap<Value, (usize, usize)>,
    /// Values used before they are defined: those from outside.
    before: Vec<Value>,
}

impl LiveRanges {
    fn region(&mut self, region: &Region) {
        region.insts.iter().for_each(|inst| self.inst(inst));
    }

    fn inst(&mut self, inst: &Inst) {
        self.at += 1;
        let at = self.at;
        inst.op.for_each_operand(|value| match self.spans.get_mut(&value) {
            Some(span) => span.1 = at,
            None => self.before.push(value),
        });
        inst.op.regions().into_iter().for_each(|nested| self.region(nested));
        for &result in &inst.results {
            self.spans.insert(result, (self.at, self.at));
        }
    }

    fn outer(&self, params: &[Value]) -> Vec<Value> {
        self.before.iter().copied().filter(|value| !params.contains(value)).collect()
    }
}
