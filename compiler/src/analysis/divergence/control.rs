//! Control-flow divergence: the work-items that execute an instruction together.
//!
//! Example: in `if ult %local_id, 8 { ... }` only some work-items of a group execute the region ([`Together::Some`]).

use super::{Divergence, Scope};
use crate::ir::{Inst, Op, Region, Value};

/// The work-items that execute an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    /// All work-items of a group.
    Group,
    /// All of a subgroup, while other subgroups are [`Together::Rest`].
    Subgroup,
    /// Possibly only some.
    Some,
    /// The work-items of incomplete subgroups, instead of the version for complete ones.
    Rest,
}

impl Together {
    /// For code that some work-items skip.
    const fn without_some(self) -> Self {
        match self {
            Self::Group | Self::Subgroup | Self::Some => Self::Some,
            Self::Rest => Self::Rest,
        }
    }
}

/// How work-items leave a region: the scope in which all of them take the same path.
#[derive(Clone, Copy, Debug)]
struct Exits {
    /// For jumps out of the innermost enclosing loop, or to its next iteration.
    jump: Scope,
    part: Scope,
    /// Whether there is a return.
    ends: bool,
}

impl Exits {
    const NONE: Self = Self { jump: Scope::Launch, part: Scope::Launch, ends: false };
}

impl Divergence<'_> {
    /// Visits all instructions in program order, with the work-items that execute them. `full`: whether work-items
    /// start in complete subgroups; `complete`: the condition for complete subgroups, if a pass has created two
    /// versions.
    pub(crate) fn walk(&self, region: &Region, full: bool, complete: Option<Value>, show: &mut dyn FnMut(&Inst, Together)) {
        self.show(region, (if full { Together::Group } else { Together::Some }, complete), show);
    }

    fn show(&self, region: &Region, (mut here, complete): (Together, Option<Value>), show: &mut dyn FnMut(&Inst, Together)) {
        for inst in &region.insts {
            show(inst, here);
            if let Op::If { cond, then, els } = &inst.op
                && Some(*cond) == complete
            {
                self.show(then, (Together::Subgroup, complete), show);
                self.show(els, (Together::Rest, complete), show);
                continue;
            }
            let inside = if self.splits(inst) { here.without_some() } else { here };
            for nested in inst.op.regions() {
                self.show(nested, (inside, complete), show);
            }
            if self.leaves(inst) {
                here = here.without_some();
            }
        }
    }

    /// Whether some work-items of a group may not execute the regions of an instruction, or not as often as others.
    pub(crate) fn splits(&self, inst: &Inst) -> bool {
        self.split_scope(inst) < Scope::Group
    }

    /// The scope in which all work-items execute the regions of an instruction equally often.
    pub(crate) fn split_scope(&self, inst: &Inst) -> Scope {
        match &inst.op {
            Op::If { cond: selector, .. } | Op::Switch { selector, .. } => self.scope(*selector),
            Op::Loop { body, .. } => {
                let exits = self.exits(body, Scope::Launch);
                exits.jump.min(exits.part)
            }
            _ => Scope::Launch,
        }
    }

    /// Whether some work-items of a group may skip the code after an instruction. After a jump by some work-items,
    /// the others are alone until the end of the kernel or loop. Such a loop [splits](Self::splits) as a whole.
    pub(crate) fn leaves(&self, inst: &Inst) -> bool {
        let is_loop = matches!(inst.op, Op::Loop { .. });
        let here = self.split_scope(inst);
        inst.op.regions().iter().any(|nested| {
            let exits = self.exits(nested, here);
            exits.part < Scope::Group || (exits.jump < Scope::Group && !is_loop)
        })
    }

    /// How work-items leave a region. `here`: the scope in which all work-items that reach the enclosing code execute
    /// it. Visits everything once, however deep loops nest.
    fn exits(&self, region: &Region, here: Scope) -> Exits {
        let mut exits = Exits::NONE;
        for inst in &region.insts {
            match &inst.op {
                Op::Break(_) | Op::Continue(_) => exits.jump = exits.jump.min(here),
                Op::Return(_) => (exits.part, exits.ends) = (exits.part.min(here), true),
                Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                    let here = here.min(self.scope(*selector));
                    for nested in inst.op.regions() {
                        let inside = self.exits(nested, here);
                        exits.jump = exits.jump.min(inside.jump);
                        exits.part = exits.part.min(inside.part);
                        exits.ends |= inside.ends;
                    }
                }
                Op::Loop { body, .. } => {
                    let inside = self.exits(body, here);
                    exits.part = exits.part.min(inside.part);
                    if inside.ends {
                        // A loop that only some work-items repeat may return in one of its iterations.
                        exits.part = exits.part.min(inside.jump);
                    }
                    exits.ends |= inside.ends;
                }
                _ => {}
            }
        }
        exits
    }
}
