//! Who gets where together.

use super::{Divergence, Scope};
use crate::ir::{Inst, Op, Region, Value};

/// Who gets to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    /// All work-items of a group.
    Group,
    /// All of a subgroup, where other subgroups are [`Together::Rest`].
    Subgroup,
    /// Some, perhaps.
    Some,
    /// Those of incomplete subgroups, in place of what complete ones do.
    Rest,
}

impl Together {
    /// Without those that are elsewhere.
    const fn without_some(self) -> Self {
        match self {
            Self::Group | Self::Subgroup | Self::Some => Self::Some,
            Self::Rest => Self::Rest,
        }
    }
}

/// How work-items leave a region: among which of them all go the same way.
#[derive(Clone, Copy, Debug)]
struct Exits {
    /// Those that jump out of the innermost loop around it, or to that one's next turn.
    jump: Scope,
    /// Those that return.
    part: Scope,
    /// There is a return.
    ends: bool,
}

impl Exits {
    const NONE: Self = Self { jump: Scope::Launch, part: Scope::Launch, ends: false };
}

impl Divergence<'_> {
    /// Shows all instructions, in the order of the text, and for each who gets there. `full`: whether work-items begin in complete subgroups;
    /// `complete`: what tells those that are, where a pass has made two versions.
    pub(crate) fn walk(&self, region: &Region, (full, complete): (bool, Option<Value>), show: &mut dyn FnMut(&Inst, Together)) {
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

    /// Whether work-items of a group may not all get to the regions of an instruction, or not all as often.
    pub(crate) fn splits(&self, inst: &Inst) -> bool {
        self.split_scope(inst) < Scope::Group
    }

    /// Among which work-items all get to the regions of an instruction, and as often.
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

    /// Whether some work-items of a group may go on elsewhere than behind an instruction: behind a jump that some have made the others are alone to the end of
    /// the loop, which [splits](Self::splits) as a whole, or of the kernel.
    pub(crate) fn leaves(&self, inst: &Inst) -> bool {
        let is_loop = matches!(inst.op, Op::Loop { .. });
        let here = self.split_scope(inst);
        inst.op.regions().iter().any(|nested| {
            let exits = self.exits(nested, here);
            exits.part < Scope::Group || (exits.jump < Scope::Group && !is_loop)
        })
    }

    /// How work-items leave a region. `here`: among which of those that get to what encloses it all get there. Looks at everything once, however deep
    /// loops nest.
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
                        // A loop that only some go through again may return from one of its turns.
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
