//! Along which dimension of a group the lanes of vectors lie.
//!
//! ```text
//! b[x * n + y] = a[y * n + x];
//! along x     a row is loaded, and sixteen places are stored, each in a line of its own
//! along y     sixteen places are loaded, and a row is stored
//! ```
//! Dimension 0 is what most programs have side by side in memory, but not all: some count columns first, and transpositions do both. A place of its own costs a load or a store each lane, and
//! processors load twice as much at a time as they store.

use super::private::PrivateMemory;
use super::shape::Shape;
use super::uniformity::{LaneShape, Uniformity};
use super::value::scalar;
use crate::ir::{Function, Op, Region, Space, Type, Value};

/// What a loop multiplies costs by.
const LOOP_WEIGHT: u64 = 8;

/// The shape with lanes along dimension 1 in place of 0, where that makes accesses cheaper by a quarter at least.
pub(super) fn choose(function: &Function, shape: Shape) -> Shape {
    let other = Shape { vector_dimension: 1, along_dimension: true, aligned: false, ..shape };
    let fits = shape.lanes >= 4 && shape.vector_dimension == 0 && shape.group[1] > 1 && shape.group[1].is_multiple_of(shape.lanes);
    if !fits || depends_on_order(function) {
        return shape;
    }
    let cost = |shape: Shape| {
        let private = PrivateMemory::of(function, shape.lanes);
        let uniformity = Uniformity::of(function, shape, &private, false);
        Costs { function, uniformity: &uniformity, lanes: shape.lanes.into() }.region(&function.body)
    };
    if cost(other) * 4 < cost(shape) * 3 { other } else { shape }
}

/// Whether it matters or shows in which order work-items follow each other.
fn depends_on_order(function: &Function) -> bool {
    let mut found = false;
    function.body.walk(&mut |inst| {
        found |= matches!(inst.op, Op::Group { .. } | Op::Printf { .. } | Op::Call(..) | Op::Atomic { .. } | Op::CmpXchg { .. });
    });
    found
}

/// What the accesses of a kernel cost, by how its values vary.
struct Costs<'a> {
    function: &'a Function,
    uniformity: &'a Uniformity<'a>,
    lanes: u64,
}

impl Costs<'_> {
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

    /// An access whose parts cost so much each.
    fn access(&self, pointer: Value, ty: Type, each: u64) -> u64 {
        let (size, components) = (i64::from(scalar(ty).size()), u64::from(ty.lanes()));
        match self.uniformity.lane_shape(pointer) {
            // Laid out for either.
            _ if self.function.ty(pointer) == Type::Ptr(Space::Private) => 0,
            LaneShape::Uniform | LaneShape::Unknown => 1,
            LaneShape::Linear(stride) if stride == size * i64::from(ty.lanes()) => components,
            _ => each * components * self.lanes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::choose;
    use crate::build::build;
    use crate::launch::LaunchKey;
    use crate::options::{Source, parse_options};
    use crate::specialise::prepared;
    use crate::target::Target;
    use crate::vectorize::shape::Shape;
    use wgcl_codegen::Isa;

    /// The dimension along which the lanes of a kernel lie in groups of 16 by 16.
    fn chosen(body: &str) -> u8 {
        let text = format!(
            "kernel void k(global const float *a, global float *b, int n) {{ int x = get_global_id(0), y = get_global_id(1); {body} }}"
        );
        let (options, target) = (parse_options("").expect("no options"), Target::cpu());
        let program = build(&Source { text, ..Source::default() }, &options, &target).program.expect("it builds");
        let key = LaunchKey::example(&program.module.functions[0], [16, 16, 1]).changed(|key| key.kernel.zero_offset = true);
        let module = prepared(&program.module, "k", &key, &target, false, None).expect("its native form");
        choose(&module.functions[0], Shape::of(Isa::AVX512, [16, 16, 1], u32::MAX)).vector_dimension
    }

    #[test]
    fn lanes_lie_along_what_is_stored_side_by_side() {
        assert_eq!(chosen("b[y * n + x] = a[y * n + x];"), 0);
        assert_eq!(chosen("b[x * n + y] = a[x * n + y];"), 1);
        assert_eq!(chosen("b[x * n + y] = a[y * n + x];"), 1);
        assert_eq!(chosen("b[y * n + x] = a[x * n + y];"), 0);
        // What all lanes have in common is loaded once.
        assert_eq!(chosen("float sum = 0; for (int i = 0; i < n; i++) sum += a[y * n + i]; b[y * n + x] = sum;"), 0);
    }
}
