//! Analyses how values differ between neighbouring work-items, and whether coarsening a kernel is profitable.

use super::{WIDEST, element};
use crate::analysis::alignment;
use crate::analysis::divergence::{Divergence, DivergenceParams, StableLoads, Variation};
use crate::ir::{Function, Inst, Op, Region, Type, Value, WorkItem};

/// The analysis of a kernel that can be coarsened.
pub(super) struct CoarseningAnalysis {
    /// Work-items per invocation, a power of two.
    pub(super) count: u32,
    variations: Vec<Variation>,
    /// For each value: a lower bound for its trailing zero bits in the first work-item of an invocation.
    zeros: Vec<u8>,
}

impl CoarseningAnalysis {
    /// Whether a value may differ between the work-items of an invocation.
    pub(super) fn is_varying(&self, value: Value) -> bool {
        self.variations.get(value.index()).is_some_and(|variation| *variation != Variation::Uniform)
    }

    /// Whether the accesses through a pointer can be merged for all work-items of an invocation. `ty` is the type of
    /// each access.
    pub(super) fn can_merge(&self, pointer: Value, ty: Type) -> bool {
        let Some(size) = element(ty) else { return false };
        self.variations.get(pointer.index()) == Some(&Variation::Stride(u64::from(size)))
            && size * self.count <= WIDEST
            && self.zeros.get(pointer.index()).is_some_and(|zeros| u32::from(*zeros) >= (size * self.count).trailing_zeros())
    }
}

/// Analyses a kernel for at most `most` work-items per invocation. Returns `None` if coarsening is not possible or not
/// profitable.
pub(super) fn analyse(function: &Function, body: &Region, most: u32) -> Option<CoarseningAnalysis> {
    let mut sizes = (u32::MAX, 0);
    let params = DivergenceParams { group: [most, 1, 1], zero_offset: false, stable: StableLoads::Unordered };
    let divergence = Divergence::of(function, body, params);
    if !(InterleavingCheck { divergence: &divergence }).can_interleave(body, false) {
        return None;
    }
    body.walk(&mut |inst| {
        if let Some((pointer, ty)) = access(function, inst)
            && let (Variation::Stride(stride), Some(size)) = (divergence.variation(pointer), element(ty))
            && stride == u64::from(size)
        {
            sizes = (sizes.0.min(size), sizes.1.max(size));
        }
    });
    let (smallest, largest) = sizes;
    if largest == 0 || largest > WIDEST / 2 {
        return None;
    }
    let count = (WIDEST / largest).min(most);
    if count < 2 || count * smallest < 4 {
        return None;
    }
    let found = CoarseningAnalysis { count, variations: divergence.into_variations(), zeros: alignment::zeros(function, body, count)? };
    let mut has_unmerged = false;
    body.walk(&mut |inst| {
        if let Some((pointer, ty)) = access(function, inst) {
            // Coarsening without merging would move the accesses of one instruction farther apart, and they would touch
            // more cache lines.
            has_unmerged |= matches!(found.variations[pointer.index()], Variation::Stride(_)) && !found.can_merge(pointer, ty);
        }
    });
    (!has_unmerged).then_some(found)
}

/// Returns the pointer and type of a load or store, or `None` for other instructions.
fn access(function: &Function, inst: &Inst) -> Option<(Value, Type)> {
    match inst.op {
        Op::Load { ptr, .. } => Some((ptr, function.ty(*inst.results.first()?))),
        Op::Store { ptr, value, .. } => Some((ptr, function.ty(value))),
        _ => None,
    }
}

/// Checks that work-items can be interleaved instruction by instruction. The work-items must take the same path, except
/// through branches without loops and jumps.
struct InterleavingCheck<'d> {
    divergence: &'d Divergence<'d>,
}

impl InterleavingCheck<'_> {
    /// Checks a region. If `divergent` is true, only some of the work-items may execute it.
    fn can_interleave(&self, region: &Region, divergent: bool) -> bool {
        region.insts.iter().all(|inst| match &inst.op {
            Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                let divergent = divergent || self.divergence.variation(*selector) != Variation::Uniform;
                inst.op.regions().into_iter().all(|nested| self.can_interleave(nested, divergent))
            }
            Op::Loop { body, .. } => !divergent && self.can_interleave(body, false),
            Op::Break(_) | Op::Continue(_) | Op::Return(_) => !divergent,
            Op::Yield(_) | Op::Unreachable => true,
            op => can_repeat(op),
        })
    }
}

/// Whether an operation without regions does not depend on the work-group, and can be executed for each work-item of an
/// invocation in sequence.
const fn can_repeat(op: &Op) -> bool {
    match op {
        Op::WorkItem(query) => matches!(
            query,
            WorkItem::GlobalId(_)
                | WorkItem::GlobalSize(_)
                | WorkItem::GlobalOffset(_)
                | WorkItem::WorkDim
                | WorkItem::ArgIdentity(_)
                | WorkItem::ArgBase(_)
                | WorkItem::ArgSize(_)
                | WorkItem::ArgSizeHigh(_)
                | WorkItem::ArgAddress { .. }
                | WorkItem::ArgMergedOffset(_)
                | WorkItem::ArgStart(_)
                | WorkItem::ArgImage { .. }
        ),
        Op::VarAddr(_) => false,
        Op::Load { volatile, .. } | Op::Store { volatile, .. } => !*volatile,
        Op::Atomic { .. } | Op::CmpXchg { .. } | Op::Call(..) => true,
        op => op.is_pure(),
    }
}
