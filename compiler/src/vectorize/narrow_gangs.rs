//! Gangs of half a vector, for kernels that mainly compute with 64-bit numbers and need more registers than there are.
//!
//! Let `W` be the number of 32-bit lanes of a vector. With `W` lanes, a 64-bit number occupies two registers, and an
//! operation is two instructions. With `W / 2` lanes, the loop over gangs has twice as many iterations, with one
//! register and one instruction. Operations on numbers of at most 32 bits then fill only half of a register. Fewer
//! values are in memory instead of registers.
//!
//! Example: the state of SHA-3 is 25 words of 64 bits. With AVX-512, it fits the 32 registers only with 8 lanes.

use super::gather_bound::contains_loop;
use super::interleave::{most_registers, size};
use super::shape::{Shape, elem};
use super::uniformity::{LaneShape, Uniformity};
use super::value::scalar;
use crate::ir::{CastOp, Function, Op, Region, Scalar, Type, Value};

/// The minimum number of instructions on 64-bit numbers for each instruction on shorter numbers.
const MIN_LONG_PER_SHORT: u64 = 4;

/// The minimum number of needed registers, in percent of the registers. Below this number, two vectors are faster,
/// because their operations are independent. Measured with AVX-512 on Zen 5: half a vector takes 0.6 of the time for
/// SHA-3, whose state has 50 registers, and 1.2 for BLAKE2b, whose state has 32.
const MIN_PRESSURE_PERCENT: usize = 180;

/// The estimated number of iterations of a loop.
const ITERATIONS: u64 = 8;

/// Whether [`narrow`] may return a shape. This is a quick test, which does not need an analysis of uniformity.
pub(super) fn may_narrow(function: &Function, shape: Shape) -> bool {
    let bytes = shape.isa.caps().vector_bytes;
    if shape.lanes < 8 || shape.lanes * 4 != bytes {
        return false;
    }
    let mut long = 0;
    function.body.walk(&mut |inst| {
        let is_long = |ty: Type| ty.scalar().is_some_and(|of| of.bits() == 64);
        long += u32::from(matches!(inst.op, Op::Bin(..) | Op::Math(..)) && inst.results.iter().any(|&result| is_long(function.ty(result))));
    });
    long >= shape.isa.caps().vector_registers
}

/// Returns the shape with gangs of half a vector if it is profitable.
pub(super) fn narrow(function: &Function, uniformity: &Uniformity<'_>) -> Option<Shape> {
    let shape = uniformity.shape();
    if !may_narrow(function, shape) {
        return None;
    }
    let mut counts = Counts::default();
    counts.region(&function.body, uniformity, 1);
    let registers = MIN_PRESSURE_PERCENT * uniformity.caps().vector_registers as usize / 100;
    let profits = counts.long >= MIN_LONG_PER_SHORT * counts.short && pressure(&[], &function.body, uniformity) >= registers;
    profits.then_some(Shape { lanes: shape.lanes / 2, ..shape })
}

/// The number of executed instructions with varying results.
#[derive(Default)]
struct Counts {
    /// With 64-bit numbers.
    long: u64,
    /// With numbers of at most 32 bits.
    short: u64,
}

impl Counts {
    fn region(&mut self, region: &Region, uniformity: &Uniformity<'_>, times: u64) {
        for inst in &region.insts {
            for &result in &inst.results {
                let ty = uniformity.ty(result);
                if uniformity.lane_shape(result) != LaneShape::Varying || ty.scalar() == Some(Scalar::Bool) {
                    continue;
                }
                let count = if elem(scalar(ty)).bits() == 64 { &mut self.long } else { &mut self.short };
                *count = count.saturating_add(times * u64::from(ty.lanes()));
            }
            let times = if matches!(inst.op, Op::Loop { .. }) { times.saturating_mul(ITERATIONS) } else { times };
            inst.op.regions().into_iter().for_each(|nested| self.region(nested, uniformity, times));
        }
    }
}

/// Returns the largest number of registers that the values of a vector need: in the region, or in one of its innermost
/// loops. Loaded values do not count, because they can stay in memory. The result is an upper bound: parameters of
/// loops count in the whole region.
fn pressure(params: &[Value], region: &Region, uniformity: &Uniformity<'_>) -> usize {
    let nested = region.insts.iter().map(|inst| match &inst.op {
        Op::Loop { params, body, .. } => pressure(params, body, uniformity),
        op => op
            .regions()
            .into_iter()
            .filter(|nested| contains_loop(nested))
            .map(|nested| pressure(&[], nested, uniformity))
            .max()
            .unwrap_or(0),
    });
    let size = |value| if needs_no_register(value, uniformity) { 0 } else { size(value, uniformity) };
    nested.max().unwrap_or(0).max(most_registers(params, region, &size))
}

/// Whether a value is loaded, a part of a loaded vector, or a vector that consists of other values.
fn needs_no_register(value: Value, uniformity: &Uniformity<'_>) -> bool {
    let mut value = value;
    loop {
        match uniformity.definitions().get(value) {
            Some(Op::Load { .. } | Op::Construct(_)) => return true,
            Some(&(Op::Extract(of, _) | Op::Cast(CastOp::Bitcast, of))) => value = of,
            _ => return false,
        }
    }
}
