//! How values differ between neighbouring work-items, and whether a kernel is worth coarsening.

use super::{WIDEST, element};
use crate::analysis::definitions::Constants;
use crate::ir::{Function, Inst, Op, Region, Type, Value, WorkItem};
use crate::passes::align;
use crate::passes::lane::Lane;

/// What is known of a kernel that is to be coarsened.
pub(super) struct Found {
    /// Work-items an invocation, a power of two.
    pub(super) count: u32,
    lanes: Vec<Lane>,
    zeros: Vec<u8>,
}

impl Found {
    /// Whether work-items have values of their own.
    pub(super) fn differs(&self, value: Value) -> bool {
        self.lanes.get(value.index()).is_some_and(|lane| *lane != Lane::Uniform)
    }

    /// Whether accesses of that type through a pointer become one.
    pub(super) fn merges(&self, pointer: Value, ty: Type) -> bool {
        let Some(size) = element(ty) else { return false };
        self.lanes.get(pointer.index()) == Some(&Lane::Stride(size))
            && size * self.count <= WIDEST
            && self.zeros.get(pointer.index()).is_some_and(|zeros| u32::from(*zeros) >= (size * self.count).trailing_zeros())
    }
}

/// Looks at a kernel. `None` where it is better left alone.
pub(super) fn find(function: &Function, body: &Region, most: u32) -> Option<Found> {
    let mut sizes = (u32::MAX, 0);
    let lanes = Lanes::of(function, body)?;
    body.walk(&mut |inst| {
        if let Some((pointer, ty)) = access(function, inst)
            && let (Lane::Stride(stride), Some(size)) = (lanes[pointer.index()], element(ty))
            && stride == size
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
    let found = Found { count, lanes, zeros: align::zeros(function, body, count)? };
    let mut apart = false;
    body.walk(&mut |inst| {
        if let Some((pointer, ty)) = access(function, inst) {
            // Neighbours that cannot be merged would be further apart than before: a device reads whole lines.
            apart |= matches!(found.lanes[pointer.index()], Lane::Stride(_)) && !found.merges(pointer, ty);
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

struct Lanes<'f> {
    function: &'f Function,
    lanes: Vec<Lane>,
    constants: Constants,
    /// How many enclosing conditions differ between work-items.
    divergence: usize,
}

/// What the jumps out of a region give.
struct Targets<'a> {
    yields: &'a [Value],
    breaks: &'a [Value],
    continues: &'a [Value],
}

impl<'f> Lanes<'f> {
    fn of(function: &'f Function, body: &Region) -> Option<Vec<Lane>> {
        let mut this = Self { function, lanes: vec![Lane::Unknown; function.values.len()], constants: Constants::of(body), divergence: 0 };
        for param in &function.params {
            this.lanes[param.index()] = Lane::Uniform;
        }
        this.region(body, &Targets { yields: &[], breaks: &[], continues: &[] })?;
        Some(this.lanes)
    }

    /// Adds what a jump gives to what its target has.
    fn give(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            self.lanes[to.index()] = self.lanes[to.index()].join(self.lanes[from.index()]);
        }
    }

    fn region(&mut self, region: &Region, targets: &Targets<'_>) -> Option<()> {
        for inst in &region.insts {
            self.inst(inst, targets)?;
        }
        Some(())
    }

    /// `None` for what keeps a kernel from being coarsened.
    fn inst(&mut self, inst: &Inst, targets: &Targets<'_>) -> Option<()> {
        match &inst.op {
            Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                let differs = self.lanes[selector.index()] != Lane::Uniform;
                self.divergence += usize::from(differs);
                for nested in inst.op.regions() {
                    self.region(nested, &Targets { yields: &inst.results, ..*targets })?;
                }
                self.divergence -= usize::from(differs);
                for &result in inst.results.iter().filter(|_| differs) {
                    self.lanes[result.index()] = Lane::Varying;
                }
            }
            Op::Loop { init, params, body, .. } => {
                if self.divergence > 0 {
                    return None;
                }
                self.give(init, params);
                loop {
                    let before: Vec<_> = params.iter().map(|param| self.lanes[param.index()]).collect();
                    self.region(body, &Targets { yields: &[], breaks: &inst.results, continues: params })?;
                    if params.iter().map(|param| self.lanes[param.index()]).eq(before) {
                        break;
                    }
                }
            }
            Op::Yield(values) => self.give(values, targets.yields),
            Op::Break(values) | Op::Continue(values) => {
                if self.divergence > 0 {
                    return None;
                }
                self.give(values, if matches!(inst.op, Op::Break(_)) { targets.breaks } else { targets.continues });
            }
            Op::Return(_) if self.divergence > 0 => return None,
            Op::Return(_) | Op::Unreachable => {}
            op => {
                let lane = self.op(op)?;
                for &result in &inst.results {
                    self.lanes[result.index()] = lane;
                }
            }
        }
        Some(())
    }

    /// How the result of an operation without regions differs.
    fn op(&self, op: &Op) -> Option<Lane> {
        let lane = |value: Value| self.lanes[value.index()];
        let mut uniform = true;
        op.for_each_operand(|value| uniform &= lane(value) == Lane::Uniform);
        let otherwise = if uniform { Lane::Uniform } else { Lane::Varying };
        if let Some(lane) = Lane::of_sum(op, self.function, &self.constants, lane) {
            return Some(lane);
        }
        Some(match *op {
            Op::WorkItem(WorkItem::GlobalId(0)) => Lane::Stride(1),
            Op::WorkItem(
                WorkItem::GlobalId(_)
                | WorkItem::GlobalSize(_)
                | WorkItem::GlobalOffset(_)
                | WorkItem::WorkDim
                | WorkItem::ArgIdentity(_)
                | WorkItem::ArgBase(_)
                | WorkItem::ArgSize(_)
                | WorkItem::ArgFold(_)
                | WorkItem::ArgStart(_)
                | WorkItem::ArgImage { .. },
            ) => Lane::Uniform,
            Op::Load { volatile: false, .. } => otherwise,
            // Once for each work-item, whatever they are given.
            Op::Store { volatile: false, .. } | Op::Atomic { .. } | Op::CmpXchg { .. } | Op::Call(..) => Lane::Varying,
            ref pure if pure.is_pure() && !matches!(pure, Op::WorkItem(_) | Op::VarAddr(_)) => otherwise,
            _ => return None,
        })
    }
}
