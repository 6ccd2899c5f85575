//! Interleaving: a gang consists of two or four vectors, so that one vector computes while the others wait for results
//! or memory. The vectors share uniform loads, counters and branches.
//!
//! Interleaving is profitable if all live values fit in registers, and if work-items leave each loop at nearly the same
//! time. They leave it at the same time if the loop's condition is uniform, or if all work-items count to the same
//! bound. Otherwise, more lanes would wait for the last lane.
//!
//! A loop that mainly loads contiguous data from global memory is limited by memory. It has up to four vectors on all
//! instruction sets, so that an iteration loads neighbouring cache lines:
//!
//! ```text
//! for (i = id; i < n; i += size) sum += a[i];     an iteration of AVX2 loads 64 bytes with 2 vectors, 128 with 4
//! ```
//! Otherwise, successive loads are far apart. If their distance is a power of two, all lines belong to one cache set,
//! and the processor has fewer misses in flight. With AVX2, the benchmark `reduction` takes 0.55 of the time with four
//! vectors (EPYC with Zen 5). A loop in C takes 0.57.

use rustc_hash::FxHashMap;

use super::gather_bound::{contains_loop, has_divergent_exit};
use super::shape::{Shape, elem};
use super::uniformity::{LaneShape, Uniformity};
use super::value::scalar;
use crate::analysis::loops::{Counted, SingleLatchLoop};
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};

/// The maximum number of lanes. Each has a bit in a 32-bit word.
const MAX_LANES: u32 = 32;

/// Returns the shape for a kernel with loops: the largest number of vectors for which interleaving is profitable.
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
    let most = if is_stream(function, uniformity) { MAX_STREAM_VECTORS } else { caps.max_interleaved_vectors };
    let vectors = [4, 2].into_iter().find(|&vectors| vectors <= most && is_better(vectors));
    Shape { lanes: shape.lanes * vectors.unwrap_or(1), ..shape }
}

/// The maximum number of vectors if all innermost loops are limited by memory.
const MAX_STREAM_VECTORS: u32 = 4;

/// Whether the innermost loops of a kernel are limited by memory, and the other code is short. With four vectors of
/// AVX2, `aes128` takes 1.12 of the time: it copies a table in a loop, and has 700 operations after it.
fn is_stream(function: &Function, uniformity: &Uniformity<'_>) -> bool {
    let (mut outside, mut regions) = (0, vec![&function.body]);
    while let Some(region) = regions.pop() {
        outside += region.insts.len();
        let inner = region.insts.iter().filter(|inst| !matches!(&inst.op, Op::Loop { body, .. } if !contains_loop(body)));
        regions.extend(inner.flat_map(|inst| inst.op.regions()));
    }
    outside <= MAX_STRAIGHT_INSTS && streams(&function.body, uniformity)
}

/// Whether all innermost loops of a region mainly load contiguous data from global memory: there are at most two other
/// operations for each load.
fn streams(region: &Region, uniformity: &Uniformity<'_>) -> bool {
    region.insts.iter().all(|inst| match &inst.op {
        Op::Loop { body, .. } if !contains_loop(body) => {
            let (mut loads, mut operations) = (0, 0);
            body.walk(&mut |inst| match inst.op {
                Op::Load { ptr, .. } if is_contiguous(ptr, uniformity) => loads += 1,
                _ => operations += usize::from(inst.results.iter().any(|&result| size(result, uniformity) > 0)),
            });
            loads > 0 && operations <= 2 * loads
        }
        op => op.regions().into_iter().all(|region| streams(region, uniformity)),
    })
}

/// Whether a pointer refers to a different location of global memory in each lane, with a constant stride.
fn is_contiguous(pointer: Value, uniformity: &Uniformity<'_>) -> bool {
    let is_global = matches!(uniformity.ty(pointer), Type::Ptr(Space::Global | Space::Constant));
    is_global && matches!(uniformity.lane_shape(pointer), LaneShape::Linear(_))
}

/// The largest number of instructions outside of innermost loops for interleaving. Larger kernels have enough
/// independent operations, and the cost of the loop over work-items is small in comparison.
/// `docs/internals/aarch64.md` has the effect on several cores.
const MAX_STRAIGHT_INSTS: usize = 128;

/// Returns the shape for a kernel without loops: the largest number of vectors whose values fit in registers. Returns
/// the shape with one vector if the instruction set does not profit.
pub(super) fn interleave_straight_code(function: &Function, uniformity: &Uniformity<'_>) -> Shape {
    let (shape, caps) = (uniformity.shape(), uniformity.caps());
    let mut insts = 0;
    let mut calls = false;
    function.body.walk(&mut |inst| {
        insts += 1;
        calls |= matches!(inst.op, Op::Call(..) | Op::Barrier(_) | Op::Group { .. });
    });
    let fills_vectors = shape.lanes * 4 == caps.vector_bytes;
    if !caps.interleaves_straight_code || !fills_vectors || calls || insts > MAX_STRAIGHT_INSTS {
        return shape;
    }
    let row = shape.group[usize::from(shape.vector_dimension)];
    let is_better = |vectors: u32| {
        let lanes = shape.lanes * vectors;
        let registers = (caps.vector_registers / vectors) as usize;
        lanes <= MAX_LANES && row.is_multiple_of(lanes) && fits_registers(&[], &function.body, uniformity, registers)
    };
    let vectors = [4, 2].into_iter().find(|&vectors| vectors <= caps.max_interleaved_vectors && is_better(vectors));
    Shape { lanes: shape.lanes * vectors.unwrap_or(1), ..shape }
}

/// Whether interleaving is profitable in a region: work-items leave its loops at nearly the same time, and its
/// innermost loops need at most `registers` registers for one vector. Returns false if the region contains calls
/// outside of its innermost loops.
fn is_profitable(function: &Function, region: &Region, uniformity: &Uniformity<'_>, registers: usize) -> bool {
    region.insts.iter().all(|inst| match &inst.op {
        Op::Call(..) => false,
        Op::Loop { params, body, .. } => {
            let inside = || {
                if contains_loop(body) {
                    is_profitable(function, body, uniformity, registers)
                } else {
                    fits_registers(params, body, uniformity, registers)
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
    let counted = SingleLatchLoop::of(op).and_then(|latch_loop| Counted::of(function, &latch_loop));
    counted.is_some_and(|counted| is_uniform(counted.bound) && is_uniform(counted.step.1))
}

/// Whether the live values of one vector fit in this number of registers.
fn fits_registers(params: &[Value], body: &Region, uniformity: &Uniformity<'_>, registers: usize) -> bool {
    most_registers(params, body, &|value| size(value, uniformity)) <= registers
}

/// Returns the largest number of registers that the live values of one vector occupy in the body of a loop with these
/// parameters. `size` returns the number of registers of a value.
pub(super) fn most_registers(params: &[Value], body: &Region, size: &dyn Fn(Value) -> usize) -> usize {
    let mut ranges = LiveRanges::default();
    ranges.region(body);
    // Values from outside of the loop and loop parameters are live in the whole body.
    for value in params.iter().chain(&ranges.defined_outside(params)) {
        ranges.spans.insert(*value, (0, ranges.at));
    }
    let mut changes = vec![0_isize; ranges.at + 2];
    for (&value, &(from, to)) in &ranges.spans {
        let size = size(value).cast_signed();
        changes[from] += size;
        changes[to + 1] -= size;
    }
    let (mut alive, mut most) = (0, 0);
    for change in changes {
        alive += change;
        most = most.max(alive);
    }
    most.unsigned_abs()
}

/// Returns the number of registers that a value occupies for one vector of work-items.
pub(super) fn size(value: Value, uniformity: &Uniformity<'_>) -> usize {
    if uniformity.lane_shape(value) != LaneShape::Varying {
        return 0;
    }
    let ty = uniformity.ty(value);
    usize::from(ty.lanes()) * if elem(scalar(ty)).bits() == 64 { 2 } else { 1 }
}

/// Live ranges in the body of a loop. Positions are instruction numbers.
#[derive(Default)]
struct LiveRanges {
    at: usize,
    spans: FxHashMap<Value, (usize, usize)>,
    /// Values that are used before a definition in the body: values from outside of the loop, and loop parameters.
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

    fn defined_outside(&self, params: &[Value]) -> Vec<Value> {
        self.before.iter().copied().filter(|value| !params.contains(value)).collect()
    }
}
