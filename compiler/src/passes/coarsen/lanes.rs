//! How values differ between neighbouring work-items, and whether a kernel is worth coarsening.

use super::{WIDEST, element};
use crate::analysis::alignment;
use crate::analysis::divergence::{Divergence, Question, StableLoads, Variation};
use crate::ir::{Function, Inst, Op, Region, Type, Value, WorkItem};

/// What is known of a kernel that is to be coarsened.
pub(super) struct Lanes {
    /// Work-items an invocation, a power of two.
    pub(super) count: u32,
    variations: Vec<Variation>,
    zeros: Vec<u8>,
}

impl Lanes {
    /// Whether work-items have values of their own.
    pub(super) fn differs(&self, value: Value) -> bool {
        self.variations.get(value.index()).is_some_and(|variation| *variation != Variation::Uniform)
    }

    /// Whether accesses of that type through a pointer become one.
    pub(super) fn merges(&self, pointer: Value, ty: Type) -> bool {
        let Some(size) = element(ty) else { return false };
        self.variations.get(pointer.index()) == Some(&Variation::Stride(u64::from(size)))
            && size * self.count <= WIDEST
            && self.zeros.get(pointer.index()).is_some_and(|zeros| u32::from(*zeros) >= (size * self.count).trailing_zeros())
    }
}

/// Looks at a kernel. `None` where it is better left alone.
pub(super) fn find(function: &Function, body: &Region, most: u32) -> Option<Lanes> {
    let mut sizes = (u32::MAX, 0);
    let question = Question { group: [most, 1, 1], zero_offset: false, stable: StableLoads::Unordered };
    let divergence = Divergence::of(function, body, question);
    if !(Coarse { divergence: &divergence }).takes(body, false) {
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
    let found = Lanes { count, variations: divergence.into_variations(), zeros: alignment::zeros(function, body, count)? };
    let mut apart = false;
    body.walk(&mut |inst| {
        if let Some((pointer, ty)) = access(function, inst) {
            // Neighbours that cannot be merged would be further apart than before: a device reads whole lines.
            apart |= matches!(found.variations[pointer.index()], Variation::Stride(_)) && !found.merges(pointer, ty);
        }
    });
    (!apart).then_some(found)
}

/// The pointer and type of a load or store.
fn access(function: &Function, inst: &Inst) -> Option<(Value, Type)> {
    match inst.op {
        Op::Load { ptr, .. } => Some((ptr, function.ty(*inst.results.first()?))),
        Op::Store { ptr, value, .. } => Some((ptr, function.ty(value))),
        _ => None,
    }
}

/// Whether work-items may take turns instruction by instruction, and take the same path: but for conditions without loops and jumps.
struct Coarse<'d> {
    divergence: &'d Divergence<'d>,
}

impl Coarse<'_> {
    /// `apart`: whether not all of the neighbours get here.
    fn takes(&self, region: &Region, apart: bool) -> bool {
        region.insts.iter().all(|inst| match &inst.op {
            Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                let apart = apart || self.divergence.variation(*selector) != Variation::Uniform;
                inst.op.regions().into_iter().all(|nested| self.takes(nested, apart))
            }
            Op::Loop { body, .. } => !apart && self.takes(body, false),
            Op::Break(_) | Op::Continue(_) | Op::Return(_) => !apart,
            Op::Yield(_) | Op::Unreachable => true,
            op => can_repeat(op),
        })
    }
}

/// Whether an operation without regions can be done once for each work-item, or for all, and is the same whatever the groups are.
const fn can_repeat(op: &Op) -> bool {
    match op {
        Op::WorkItem(question) => matches!(
            question,
            WorkItem::GlobalId(_)
                | WorkItem::GlobalSize(_)
                | WorkItem::GlobalOffset(_)
                | WorkItem::WorkDim
                | WorkItem::ArgIdentity(_)
                | WorkItem::ArgBase(_)
                | WorkItem::ArgSize(_)
                | WorkItem::ArgSizeHigh(_)
                | WorkItem::ArgAddress { .. }
                | WorkItem::ArgFold(_)
                | WorkItem::ArgStart(_)
                | WorkItem::ArgImage { .. }
        ),
        Op::VarAddr(_) => false,
        Op::Load { volatile, .. } | Op::Store { volatile, .. } => !*volatile,
        Op::Atomic { .. } | Op::CmpXchg { .. } | Op::Call(..) => true,
        op => op.is_pure(),
    }
}
