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
    /// All work-items of each complete subgroup. Incomplete subgroups execute the version
    /// [`Together::IncompleteSubgroup`].
    Subgroup,
    /// Possibly not all work-items of a subgroup.
    Some,
    /// The work-items of incomplete subgroups, in the version of the code for incomplete subgroups.
    IncompleteSubgroup,
}

impl Together {
    /// The work-items that execute an instruction if some of the work-items of `self` may skip it.
    const fn without_some(self) -> Self {
        match self {
            Self::Group | Self::Subgroup | Self::Some => Self::Some,
            Self::IncompleteSubgroup => Self::IncompleteSubgroup,
        }
    }
}

/// How work-items leave a region. Each scope is a set of work-items that all take the same path.
#[derive(Clone, Copy, Debug)]
struct Exits {
    /// The scope for `break` and `continue` of the innermost enclosing loop.
    jumps: Scope,
    /// The scope for `return`.
    returns: Scope,
    has_return: bool,
}

impl Exits {
    const NONE: Self = Self { jumps: Scope::Launch, returns: Scope::Launch, has_return: false };
}

impl Divergence<'_> {
    /// Calls `visit` for each instruction in program order, with the work-items that execute it. `full` is true if all
    /// subgroups are complete. `complete` is the condition of the `if` that selects the version for complete subgroups.
    /// `None` if no pass has created such a version.
    pub(crate) fn walk(&self, region: &Region, full: bool, complete: Option<Value>, visit: &mut dyn FnMut(&Inst, Together)) {
        self.visit_region(region, (if full { Together::Group } else { Together::Some }, complete), visit);
    }

    fn visit_region(&self, region: &Region, (mut here, complete): (Together, Option<Value>), visit: &mut dyn FnMut(&Inst, Together)) {
        for inst in &region.insts {
            visit(inst, here);
            if let Op::If { cond, then, els } = &inst.op
                && Some(*cond) == complete
            {
                self.visit_region(then, (Together::Subgroup, complete), visit);
                self.visit_region(els, (Together::IncompleteSubgroup, complete), visit);
                continue;
            }
            let inside = if self.splits(inst) { here.without_some() } else { here };
            for nested in inst.op.regions() {
                self.visit_region(nested, (inside, complete), visit);
            }
            if self.may_skip_rest(inst) {
                here = here.without_some();
            }
        }
    }

    /// Whether work-items of a group may execute the regions of an instruction a different number of times.
    pub(crate) fn splits(&self, inst: &Inst) -> bool {
        self.split_scope(inst) < Scope::Group
    }

    /// The scope in which all work-items execute the regions of an instruction equally often.
    pub(crate) fn split_scope(&self, inst: &Inst) -> Scope {
        match &inst.op {
            Op::If { cond: selector, .. } | Op::Switch { selector, .. } => self.scope(*selector),
            Op::Loop { body, .. } => {
                let exits = self.exits(body, Scope::Launch);
                exits.jumps.min(exits.returns)
            }
            _ => Scope::Launch,
        }
    }

    /// Whether some work-items of a group may skip the code after an instruction, because they return, or jump out of
    /// the enclosing loop iteration. That loop then [splits](Self::splits) as a whole.
    pub(crate) fn may_skip_rest(&self, inst: &Inst) -> bool {
        let is_loop = matches!(inst.op, Op::Loop { .. });
        let here = self.split_scope(inst);
        inst.op.regions().iter().any(|nested| {
            let exits = self.exits(nested, here);
            exits.returns < Scope::Group || (exits.jumps < Scope::Group && !is_loop)
        })
    }

    /// How work-items leave a region. `here`: the scope in which either all work-items or none execute the region.
    /// Visits each instruction once.
    fn exits(&self, region: &Region, here: Scope) -> Exits {
        let mut exits = Exits::NONE;
        for inst in &region.insts {
            match &inst.op {
                Op::Break(_) | Op::Continue(_) => exits.jumps = exits.jumps.min(here),
                Op::Return(_) => (exits.returns, exits.has_return) = (exits.returns.min(here), true),
                Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                    let here = here.min(self.scope(*selector));
                    for nested in inst.op.regions() {
                        let inside = self.exits(nested, here);
                        exits.jumps = exits.jumps.min(inside.jumps);
                        exits.returns = exits.returns.min(inside.returns);
                        exits.has_return |= inside.has_return;
                    }
                }
                Op::Loop { body, .. } => {
                    let inside = self.exits(body, here);
                    exits.returns = exits.returns.min(inside.returns);
                    if inside.has_return {
                        // If work-items repeat the loop a different number of times, only some may reach the return.
                        exits.returns = exits.returns.min(inside.jumps);
                    }
                    exits.has_return |= inside.has_return;
                }
                _ => {}
            }
        }
        exits
    }
}
