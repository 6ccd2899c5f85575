//! Kernels that are better off without vectors: loops that their work-items leave at different times, and that do little but fetch from places of their own.
//!
//! ```text
//! for (i = start[row]; i < start[row + 1]; i++) sum += value[i] * x[column[i]];
//! ```
//! A gather takes as long as the loads that it stands for, and waits for all of them; lanes that have left are paid for as well. One work-item after the other takes a third of the time for
//! `spmv_csr`, and less for `bfs`. Loops that follow pointers are left alone: there the lanes wait for memory together, and not one after the other.

use rustc_hash::FxHashSet;

use super::uniformity::{Kind, Variation};
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value};

/// Other operations for each access up to which vectors do not pay.
const OTHERS: usize = 4;

/// Whether the loops of a kernel do little but gather.
pub(super) fn only_gathers(function: &Function, variation: &Variation<'_>) -> bool {
    let mut found = Found::default();
    found.region(&function.body, variation);
    found.gathers && !found.others
}

/// Loops of a kernel that contain no others.
#[derive(Default)]
struct Found {
    /// One does little but gather.
    gathers: bool,
    /// One does something else.
    others: bool,
}

/// What a loop does each turn.
#[derive(Default)]
struct Turn {
    accesses: usize,
    operations: usize,
    /// Something that all work-items of a group do together, or that is not known.
    waits: bool,
    /// Values that come of what was gathered.
    gathered: FxHashSet<Value>,
    /// Values that places to gather from are made of.
    places: FxHashSet<Value>,
}

impl Found {
    fn region(&mut self, region: &Region, variation: &Variation<'_>) {
        for inst in &region.insts {
            let nested = |found: &mut Self| inst.op.regions().into_iter().for_each(|region| found.region(region, variation));
            match &inst.op {
                Op::Loop { body, .. } if has_loop(body) => nested(self),
                Op::Loop { params, body, .. } => {
                    let gathers = parts(body, variation) && Turn::of(body, variation).gathers(params, body);
                    self.gathers |= gathers;
                    self.others |= !gathers;
                }
                Op::Barrier(_) | Op::Group { .. } => self.others = true,
                _ => nested(self),
            }
        }
    }
}

/// Whether there is a loop in a region.
pub(super) fn has_loop(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
    found
}

/// Whether lanes leave a loop at different times.
pub(super) fn parts(body: &Region, variation: &Variation<'_>) -> bool {
    let leaves = |inst: &Inst| {
        let mut leaves = false;
        inst.op.regions().into_iter().for_each(|region| region.walk(&mut |inst| leaves |= matches!(inst.op, Op::Break(_) | Op::Return(_))));
        leaves
    };
    body.insts.iter().any(|inst| variation.splits(inst) && leaves(inst))
}

impl Turn {
    fn of(body: &Region, variation: &Variation<'_>) -> Self {
        let mut turn = Self::default();
        turn.forwards(body, variation);
        turn.backwards(body);
        turn
    }

    fn forwards(&mut self, region: &Region, variation: &Variation<'_>) {
        for inst in &region.insts {
            let pointer = match &inst.op {
                Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => Some(*ptr),
                Op::Barrier(_) | Op::Group { .. } | Op::Call(..) | Op::Printf { .. } | Op::Loop { .. } => {
                    self.waits = true;
                    None
                }
                _ => None,
            };
            let varies = inst.results.iter().any(|&result| variation.kind(result) == Kind::Varying);
            // Private memory is at hand, and is laid out for vectors.
            let pointer = pointer.filter(|pointer| !matches!(variation.ty(*pointer), Type::Ptr(Space::Private)));
            match pointer {
                Some(pointer) if variation.kind(pointer) == Kind::Varying => {
                    self.accesses += 1;
                    self.places.insert(pointer);
                    self.gathered.extend(&inst.results);
                }
                _ if varies && inst.op.regions().is_empty() => self.operations += 1,
                _ => {}
            }
            let mut comes = false;
            inst.op.for_each_operand(|value| comes |= self.gathered.contains(&value));
            if comes {
                self.gathered.extend(&inst.results);
            }
            inst.op.regions().into_iter().for_each(|region| self.forwards(region, variation));
        }
    }

    fn backwards(&mut self, region: &Region) {
        for inst in region.insts.iter().rev() {
            inst.op.regions().into_iter().for_each(|region| self.backwards(region));
            if !matches!(inst.op, Op::Load { .. }) && inst.results.iter().any(|result| self.places.contains(result)) {
                inst.op.for_each_operand(|value| {
                    self.places.insert(value);
                });
            }
        }
    }

    /// Whether there is little but accesses, none of which waits for one of the turn before.
    fn gathers(&self, params: &[Value], body: &Region) -> bool {
        let mut follows = false;
        body.walk(&mut |inst| {
            if let Op::Continue(values) = &inst.op {
                follows |= params.iter().zip(values).any(|(param, value)| self.places.contains(param) && self.gathered.contains(value));
            }
        });
        self.accesses > 0 && !self.waits && !follows && self.operations <= OTHERS * self.accesses
    }
}
