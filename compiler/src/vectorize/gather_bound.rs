//! Finds kernels that are faster as scalar code. Their loops mainly gather, and work-items leave the loops in different
//! iterations.
//!
//! ```text
//! for (i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
//! ```
//! A gather takes as long as the loads that it replaces, and waits for all of them. Lanes that have left the loop also
//! cost time. A masked load with a stride is a gather too, such as `x[8 * row + i]` in the loop above. Scalar code is
//! 2.3 times as fast as vector code for the benchmark `spmv_csr`, and 1.7 times as fast for `bfs`. Loops that follow
//! pointers stay vectorised, because their lanes wait for memory at the same time.

use rustc_hash::FxHashSet;

use super::uniformity::{LaneShape, Uniformity};
use crate::ir::{Function, Inst, Op, Region, Scalar, Space, Type, Value};

/// Whether a kernel has innermost loops, all of which mainly gather and have divergent exits, and no barrier outside of
/// them.
pub(super) fn is_gather_bound(function: &Function, uniformity: &Uniformity<'_>) -> bool {
    let mut found = LoopKinds::default();
    found.region(&function.body, uniformity);
    found.gather_bound && !found.other
}

/// The kinds of the innermost loops of a kernel.
#[derive(Default)]
struct LoopKinds {
    /// One of the innermost loops is gather-bound.
    gather_bound: bool,
    /// One of the innermost loops is not gather-bound, or the kernel has a barrier or a group operation outside of
    /// them.
    other: bool,
}

/// The operations of one iteration of a loop, without those on paths that leave the loop.
#[derive(Default)]
struct LoopBody {
    /// Gathers and scatters.
    accesses: usize,
    operations: usize,
    /// The loop contains a barrier, a group operation, a call, a `printf` or another loop.
    has_excluded_operation: bool,
    /// Values computed from gathered values.
    gathered: FxHashSet<Value>,
    /// Values from which gathered addresses are computed.
    addresses: FxHashSet<Value>,
}

impl LoopKinds {
    fn region(&mut self, region: &Region, uniformity: &Uniformity<'_>) {
        for inst in &region.insts {
            let nested = |kinds: &mut Self| inst.op.regions().into_iter().for_each(|region| kinds.region(region, uniformity));
            match &inst.op {
                Op::Loop { body, .. } if contains_loop(body) => nested(self),
                Op::Loop { params, body, .. } => {
                    let gather_bound = has_divergent_exit(body, uniformity)
                        && LoopBody::of(body, uniformity).is_gather_bound(params, body, uniformity.caps().gather_cost as usize);
                    self.gather_bound |= gather_bound;
                    self.other |= !gather_bound;
                }
                Op::Barrier(_) | Op::Group { .. } => self.other = true,
                _ => nested(self),
            }
        }
    }
}

/// Whether there is a loop in a region.
pub(super) fn contains_loop(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
    found
}

/// Whether lanes may leave a loop in different iterations.
pub(super) fn has_divergent_exit(body: &Region, uniformity: &Uniformity<'_>) -> bool {
    let leaves = |inst: &Inst| {
        let mut leaves = false;
        inst.op.regions().into_iter().for_each(|region| region.walk(&mut |inst| leaves |= matches!(inst.op, Op::Break(_) | Op::Return(_))));
        leaves
    };
    body.insts.iter().any(|inst| uniformity.splits(inst) && leaves(inst))
}

impl LoopBody {
    fn of(body: &Region, uniformity: &Uniformity<'_>) -> Self {
        let mut summary = Self::default();
        summary.scan_forward(body, uniformity, false);
        summary.scan_backward(body);
        summary
    }

    /// Scans a region. `leaves` is true if the region leaves the loop, so that it executes at most once.
    fn scan_forward(&mut self, region: &Region, uniformity: &Uniformity<'_>, leaves: bool) {
        let leaves = leaves || matches!(region.terminator(), Some(Op::Break(_) | Op::Return(_)));
        for inst in &region.insts {
            let pointer = match &inst.op {
                Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => Some(*ptr),
                Op::Barrier(_) | Op::Group { .. } | Op::Call(..) | Op::Printf { .. } | Op::Loop { .. } => {
                    self.has_excluded_operation = true;
                    None
                }
                _ => None,
            };
            let varies = inst.results.iter().any(|&result| uniformity.lane_shape(result) == LaneShape::Varying);
            // Accesses to private memory do not count: it is in the cache, and its layout is efficient for vectors.
            let pointer = pointer.filter(|pointer| !matches!(uniformity.ty(*pointer), Type::Ptr(Space::Private)));
            match pointer {
                Some(pointer) if is_gather(inst, pointer, uniformity) => {
                    self.accesses += usize::from(!leaves);
                    self.addresses.insert(pointer);
                    self.gathered.extend(&inst.results);
                }
                _ if varies && inst.op.regions().is_empty() => self.operations += usize::from(!leaves),
                _ => {}
            }
            let mut depends = false;
            inst.op.for_each_operand(|value| depends |= self.gathered.contains(&value));
            if depends {
                self.gathered.extend(&inst.results);
            }
            inst.op.regions().into_iter().for_each(|region| self.scan_forward(region, uniformity, leaves));
        }
    }

    fn scan_backward(&mut self, region: &Region) {
        for inst in region.insts.iter().rev() {
            inst.op.regions().into_iter().for_each(|region| self.scan_backward(region));
            if !matches!(inst.op, Op::Load { .. }) && inst.results.iter().any(|result| self.addresses.contains(result)) {
                inst.op.for_each_operand(|value| {
                    self.addresses.insert(value);
                });
            }
        }
    }

    /// Whether the loop mainly consists of gathers, and no address depends on a value gathered in the previous
    /// iteration.
    fn is_gather_bound(&self, params: &[Value], body: &Region, gather_cost: usize) -> bool {
        let mut chases_pointers = false;
        body.walk(&mut |inst| {
            if let Op::Continue(values) = &inst.op {
                chases_pointers |=
                    params.iter().zip(values).any(|(param, value)| self.addresses.contains(param) && self.gathered.contains(value));
            }
        });
        self.accesses > 0 && !self.has_excluded_operation && !chases_pointers && self.operations <= gather_cost * self.accesses
    }
}

/// Whether an access in a loop with divergent exits is a gather or scatter. Such accesses are masked, so that the
/// vectoriser does not load or store whole vectors for lanes with a stride.
fn is_gather(inst: &Inst, pointer: Value, uniformity: &Uniformity<'_>) -> bool {
    let accessed = match inst.op {
        Op::Load { .. } => inst.results.first().copied(),
        Op::Store { value, .. } => Some(value),
        _ => None,
    };
    match (uniformity.lane_shape(pointer), accessed.map(|value| uniformity.ty(value))) {
        (LaneShape::Varying, _) => true,
        (LaneShape::Linear(stride), Some(ty)) => {
            let size = ty.scalar().map_or(0, Scalar::size) * u32::from(ty.lanes());
            stride.unsigned_abs() != u64::from(size)
        }
        _ => false,
    }
}
