//! The vector dimension: the dimension of a group along which lanes are consecutive work-items.
//!
//! ```text
//! b[x * n + y] = a[y * n + x];
//! along x     loads are contiguous, and sixteen lanes store to a cache line each
//! along y     sixteen lanes load from a cache line each, and stores are contiguous
//! ```
//! In most programs, dimension 0 is contiguous in memory. Some programs index columns first, and transpositions do
//! both. An access for a single lane costs one load or store. Processors can load twice as many bytes per cycle as they
//! can store.

use super::shape::Shape;
use super::uniformity::{LaneShape, Uniformity};
use super::value::scalar;
use crate::ir::{Function, Op, Region, Space, Type, Value};

/// The assumed number of iterations of a loop.
const LOOP_WEIGHT: u64 = 8;

/// The shape with lanes along dimension 1 instead of 0, if the group allows it and the order of work-items is not
/// observable.
pub(super) fn alternative(function: &Function, shape: Shape) -> Option<Shape> {
    let fits = shape.lanes >= 4 && shape.vector_dimension == 0 && shape.group[1] > 1 && shape.group[1].is_multiple_of(shape.lanes);
    (fits && !depends_on_order(function)).then_some(Shape { vector_dimension: 1, along_dimension: true, aligned: false, ..shape })
}

/// Whether accesses cost more than a quarter less in one shape than in the other.
pub(super) fn is_cheaper(function: &Function, one: &Uniformity<'_>, other: &Uniformity<'_>) -> bool {
    let cost = |uniformity: &Uniformity<'_>| Costs { function, uniformity, lanes: uniformity.shape().lanes.into() }.region(&function.body);
    cost(one) * 4 < cost(other) * 3
}

/// Whether the order of work-items is observable.
fn depends_on_order(function: &Function) -> bool {
    let mut found = false;
    function.body.walk(&mut |inst| {
        found |= matches!(inst.op, Op::Group { .. } | Op::Printf { .. } | Op::Call(..) | Op::Atomic { .. } | Op::CmpXchg { .. });
    });
    found
}

/// The costs of a kernel's accesses.
struct Costs<'a, 'f> {
    function: &'a Function,
    uniformity: &'a Uniformity<'f>,
    lanes: u64,
}

impl Costs<'_, '_> {
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

    /// The cost of an access; `each` is the cost of one component of one lane.
    fn access(&self, pointer: Value, ty: Type, each: u64) -> u64 {
        let (size, components) = (i64::from(scalar(ty).size()), u64::from(ty.lanes()));
        match self.uniformity.lane_shape(pointer) {
            // Private memory has an efficient layout for both shapes.
            _ if self.function.ty(pointer) == Type::Ptr(Space::Private) => 0,
            LaneShape::Uniform | LaneShape::Unknown => 1,
            LaneShape::Linear(stride) if stride == size * i64::from(ty.lanes()) => components,
            _ => each * components * self.lanes,
        }
    }
}
