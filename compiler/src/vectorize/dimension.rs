//! The vector dimension: the dimension of a group along which lanes are consecutive work-items.
//!
//! ```text
//! b[x * n + y] = a[y * n + x];
//! along x     loads are contiguous; each of sixteen lanes stores to a different cache line
//! along y     each of sixteen lanes loads from a different cache line; stores are contiguous
//! ```
//! In most programs, dimension 0 is contiguous in memory. In some programs, dimension 1 is contiguous, and a
//! transposition has accesses of both kinds. An access that is not contiguous costs one load or store for each lane.
//! Processors can load twice as many bytes per cycle as they can store, so a store of a lane costs more than a load.

use super::shape::Shape;
use super::uniformity::{LaneShape, Uniformity};
use super::value::scalar;
use crate::ir::{Function, Op, Region, Space, Type, Value};

/// The assumed number of iterations of a loop.
const LOOP_WEIGHT: u64 = 8;

/// Returns the shape with lanes along dimension 1 instead of 0. Returns `None` if `shape` has fewer than four lanes or
/// another vector dimension. Also returns `None` if the group's size does not allow it, or if the order of work-items
/// is observable.
pub(super) fn alternative(function: &Function, shape: Shape) -> Option<Shape> {
    let fits = shape.lanes >= 4 && shape.vector_dimension == 0 && shape.group[1] > 1 && shape.group[1].is_multiple_of(shape.lanes);
    (fits && !depends_on_order(function)).then_some(Shape { vector_dimension: 1, along_dimension: true, aligned: false, ..shape })
}

/// Whether the accesses in the candidate's shape cost less than three quarters of those in the current shape.
pub(super) fn is_cheaper(function: &Function, candidate: &Uniformity<'_>, current: &Uniformity<'_>) -> bool {
    let cost =
        |uniformity: &Uniformity<'_>| AccessCosts { function, uniformity, lanes: uniformity.shape().lanes.into() }.region(&function.body);
    cost(candidate) * 4 < cost(current) * 3
}

/// Whether the order of work-items is observable.
fn depends_on_order(function: &Function) -> bool {
    let mut found = false;
    function.body.walk(&mut |inst| {
        found |= matches!(inst.op, Op::Group { .. } | Op::Printf { .. } | Op::Call(..) | Op::Atomic { .. } | Op::CmpXchg { .. });
    });
    found
}

/// Estimates the costs of a kernel's accesses.
struct AccessCosts<'a, 'f> {
    function: &'a Function,
    uniformity: &'a Uniformity<'f>,
    lanes: u64,
}

impl AccessCosts<'_, '_> {
    fn region(&self, region: &Region) -> u64 {
        region
            .insts
            .iter()
            .map(|inst| {
                let inner: u64 = inst.op.regions().into_iter().map(|region| self.region(region)).sum();
                match inst.op {
                    Op::Load { ptr, .. } => self.access(ptr, inst.results.first().map_or(Type::I32, |&result| self.function.ty(result)), 1),
                    Op::Store { ptr, value, .. } => {
                        self.access(ptr, self.function.ty(value), self.uniformity.caps().lane_store_cost.into())
                    }
                    Op::Loop { .. } => inner.saturating_mul(LOOP_WEIGHT),
                    _ => inner,
                }
            })
            .fold(0, u64::saturating_add)
    }

    /// Returns the cost of an access. `each` is the cost of one component of one lane, if the access is not contiguous.
    fn access(&self, pointer: Value, ty: Type, each: u64) -> u64 {
        let (size, components) = (i64::from(scalar(ty).size()), u64::from(ty.lanes()));
        match self.uniformity.lane_shape(pointer) {
            // The layout of private memory is efficient for either vector dimension.
            _ if self.function.ty(pointer) == Type::Ptr(Space::Private) => 0,
            LaneShape::Uniform | LaneShape::Unknown => 1,
            LaneShape::Linear(stride) if stride == size * i64::from(ty.lanes()) => components,
            _ => each * components * self.lanes,
        }
    }
}
