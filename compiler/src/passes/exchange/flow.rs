//! What is the same for all work-items of a group, and what they do together.

use crate::analysis::definitions::Constants;
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value, WorkItem};
use crate::passes::lane::Lane;

/// What is known of a kernel's values. Both tables begin with the best and get worse until nothing changes.
pub(in crate::passes) struct Flow<'f> {
    function: &'f Function,
    local_size: [u32; 3],
    constants: Constants,
    /// From one work-item to the next of dimension 0.
    lanes: Vec<Lane>,
    /// Whether a value may differ between work-items of a group.
    differs: Vec<bool>,
}

/// Who gets to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::passes) enum Here {
    /// All work-items of a group.
    Together,
    /// All of a subgroup, where other subgroups are [`Here::Instead`].
    Complete,
    /// Some, perhaps.
    Apart,
    /// Those of incomplete subgroups, in place of what complete ones do.
    Instead,
}

/// How work-items leave a region.
#[derive(Clone, Copy, Debug, Default)]
struct Exits {
    /// Only some jump out of the innermost loop around it, or to that one's next turn.
    jump: bool,
    /// Only some return.
    part: bool,
    /// There is a return.
    ends: bool,
}

impl Exits {
    /// Whether those that stay are not all.
    const fn apart(self) -> bool {
        self.jump || self.part
    }
}

/// What the jumps out of a region give.
#[derive(Clone, Copy)]
struct Targets<'a> {
    yields: &'a [Value],
    breaks: &'a [Value],
    continues: &'a [Value],
}

impl Here {
    /// Without those that are elsewhere.
    const fn without_some(self) -> Self {
        match self {
            Self::Together | Self::Complete | Self::Apart => Self::Apart,
            Self::Instead => Self::Instead,
        }
    }
}

impl<'f> Flow<'f> {
    /// Looks at a kernel with groups of that size.
    pub(in crate::passes) fn of(function: &'f Function, local_size: [u32; 3]) -> Self {
        let count = function.values.len();
        let (lanes, differs) = (vec![Lane::Unknown; count], vec![false; count]);
        let mut this = Self { function, local_size, constants: Constants::of(&function.body), lanes, differs };
        for param in &function.params {
            this.lanes[param.index()] = Lane::Uniform;
        }
        loop {
            let before = (this.lanes.clone(), this.differs.clone());
            this.region(&function.body, Targets { yields: &[], breaks: &[], continues: &[] });
            if before == (this.lanes.clone(), this.differs.clone()) {
                return this;
            }
        }
    }

    /// How a value differs from one work-item to the next.
    pub(in crate::passes) fn lane(&self, value: Value) -> Lane {
        self.lanes[value.index()]
    }

    /// Whether a value is the same for all work-items of a group (for those that get there together).
    pub(in crate::passes) fn is_same(&self, value: Value) -> bool {
        !self.differs[value.index()]
    }

    /// Shows all instructions, in the order of the text, and for each who gets there. `full`: whether work-items begin in complete subgroups;
    /// `complete`: what tells those that are.
    pub(in crate::passes) fn walk(&self, region: &Region, (full, complete): (bool, Option<Value>), show: &mut dyn FnMut(&Inst, Here)) {
        self.show(region, (if full { Here::Together } else { Here::Apart }, complete), show);
    }

    fn show(&self, region: &Region, (mut here, complete): (Here, Option<Value>), show: &mut dyn FnMut(&Inst, Here)) {
        for inst in &region.insts {
            show(inst, here);
            if let Op::If { cond, then, els } = &inst.op
                && Some(*cond) == complete
            {
                self.show(then, (Here::Complete, complete), show);
                self.show(els, (Here::Instead, complete), show);
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
    pub(in crate::passes) fn splits(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::If { cond: selector, .. } | Op::Switch { selector, .. } => !self.is_same(*selector),
            Op::Loop { body, .. } => self.exits(body, false).apart(),
            _ => false,
        }
    }

    /// Whether some work-items may go on elsewhere than behind an instruction: behind a jump that some have made the others are alone to the end of
    /// the loop, which [splits](Self::splits) as a whole, or of the kernel.
    pub(in crate::passes) fn leaves(&self, inst: &Inst) -> bool {
        let is_loop = matches!(inst.op, Op::Loop { .. });
        let some = self.splits(inst);
        inst.op.regions().iter().any(|nested| {
            let exits = self.exits(nested, some);
            exits.part || (exits.jump && !is_loop)
        })
    }

    /// How work-items leave a region. `some`: whether only some of those get there that get to what encloses it. Looks at everything once, however deep
    /// loops nest.
    fn exits(&self, region: &Region, some: bool) -> Exits {
        let mut exits = Exits::default();
        for inst in &region.insts {
            match &inst.op {
                Op::Break(_) | Op::Continue(_) => exits.jump |= some,
                Op::Return(_) => (exits.part, exits.ends) = (exits.part | some, true),
                Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                    let some = some || !self.is_same(*selector);
                    for nested in inst.op.regions() {
                        let inside = self.exits(nested, some);
                        exits.jump |= inside.jump;
                        exits.part |= inside.part;
                        exits.ends |= inside.ends;
                    }
                }
                Op::Loop { body, .. } => {
                    // A loop that only some go through again may return from one of its turns.
                    let inside = self.exits(body, some);
                    exits.part |= inside.part || (inside.jump && inside.ends);
                    exits.ends |= inside.ends;
                }
                _ => {}
            }
        }
        exits
    }

    fn give(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            self.lanes[to.index()] = self.lanes[to.index()].join(self.lanes[from.index()]);
            self.differs[to.index()] |= self.differs[from.index()];
        }
    }

    fn spoil(&mut self, values: &[Value]) {
        for value in values {
            self.lanes[value.index()] = Lane::Varying;
            self.differs[value.index()] = true;
        }
    }

    fn region(&mut self, region: &Region, targets: Targets<'_>) {
        for inst in &region.insts {
            match &inst.op {
                Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                    for nested in inst.op.regions() {
                        self.region(nested, Targets { yields: &inst.results, ..targets });
                    }
                    if !self.is_same(*selector) {
                        self.spoil(&inst.results);
                    }
                }
                Op::Loop { init, params, body, .. } => {
                    self.give(init, params);
                    self.region(body, Targets { yields: &[], breaks: &inst.results, continues: params });
                    if self.exits(body, false).apart() {
                        self.spoil(&inst.results);
                        // Who is in which turn is not for us to know.
                        params.iter().for_each(|param| self.differs[param.index()] = true);
                    }
                }
                Op::Yield(values) => self.give(values, targets.yields),
                Op::Break(values) => self.give(values, targets.breaks),
                Op::Continue(values) => self.give(values, targets.continues),
                op => {
                    let (lane, differs) = self.op(op);
                    for &result in &inst.results {
                        self.lanes[result.index()] = self.lanes[result.index()].join(lane);
                        self.differs[result.index()] |= differs;
                    }
                }
            }
        }
    }

    /// How the result of an operation without regions differs: from one work-item to the next, and whether within a group at all.
    fn op(&self, op: &Op) -> (Lane, bool) {
        let mut differs = false;
        let mut same_lane = true;
        op.for_each_operand(|value| {
            differs |= self.differs[value.index()];
            same_lane &= matches!(self.lanes[value.index()], Lane::Uniform);
        });
        match *op {
            Op::WorkItem(WorkItem::GlobalId(dimension) | WorkItem::LocalId(dimension)) => {
                let alone = self.local_size.get(usize::from(dimension)).is_some_and(|&size| size == 1);
                (if dimension == 0 && !alone { Lane::Stride(1) } else { Lane::Uniform }, !alone)
            }
            Op::WorkItem(WorkItem::SubgroupLocalId | WorkItem::SubgroupId) => (Lane::Varying, true),
            Op::WorkItem(_) => (Lane::Uniform, false),
            // What other work-items may write meanwhile need not be the same for two that load it.
            Op::Load { ptr, volatile: false, .. } if matches!(self.function.ty(ptr), Type::Ptr(Space::Constant)) && !differs => {
                (if same_lane { Lane::Uniform } else { Lane::Varying }, false)
            }
            Op::VarAddr(_) | Op::GlobalAddr(_) => (Lane::Uniform, false),
            ref pure if pure.is_pure() => {
                let lane = Lane::of_sum(pure, self.function, &self.constants, |value| self.lane(value));
                (lane.unwrap_or(if same_lane { Lane::Uniform } else { Lane::Varying }), differs)
            }
            _ => (Lane::Varying, true),
        }
    }
}
