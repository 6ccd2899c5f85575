//! Which loops may be dealt out anew, and are worth it. The reasons are in the documentation of the module above.

use rustc_hash::{FxHashMap, FxHashSet};

use super::LARGEST;
use crate::analysis::alignment;
use crate::analysis::definitions::{Constants, Root, Uses};
use crate::analysis::divergence::{Divergence, Question, StableLoads, Variation};
use crate::analysis::loops::PlainLoop;
use crate::ir::{AtomicOp, Function, Inst, KernelParam, Op, Region, Scalar, Space, Type, Value};
use crate::launch::LaunchKey;
use crate::passes::alias::{Effect, MemoryUse};
use crate::passes::coarsen::element;
use crate::passes::loop_copies::Ahead;
use crate::passes::simplify::Purity;

/// Bytes of elements that are worth it: larger ones are words already.
const NARROW: u32 = 2;

/// Loops of a kernel that are looked at closely, which takes a walk over all of it.
const MOST: usize = 16;

/// A loop to be dealt out.
pub(super) struct Dealt {
    /// Where it is in the kernel's body.
    pub(super) at: usize,
    pub(super) counted: Ahead,
    /// The turns that each of the loops before it does at once, as powers of two that divide the group, falling.
    pub(super) turns: Vec<u32>,
    /// Results of the loads that become one for all these turns.
    pub(super) merged: FxHashSet<Value>,
}

/// All loops of a kernel that are to be dealt out.
pub(super) fn find(function: &Function, key: &LaunchKey, purity: &Purity, widths: &[u32]) -> Vec<Dealt> {
    let group = key.kernel.local_size[1] <= 1 && key.kernel.local_size[2] <= 1 && key.kernel.local_size[0].is_multiple_of(4);
    if !group || key.kernel.local_size[0] == 0 || key.kernel.guard.contains(&true) || function.kernel.is_none() {
        return Vec::new();
    }
    if !function.body.insts.iter().any(|inst| matches!(inst.op, Op::Loop { .. })) {
        return Vec::new();
    }
    let memory = MemoryUse::of(function, &function.body, key.binding.distinct, purity);
    let mut changed = Vec::new();
    let mut anything = false;
    function.body.walk(&mut |inst| match memory.effect(inst) {
        Effect::Nothing | Effect::Waits => {}
        Effect::Root(root) if changed.contains(&root) => {}
        Effect::Root(root) => changed.push(root),
        Effect::Anything => anything = true,
    });
    if anything {
        return Vec::new();
    }
    let never_changes = |pointer: Value| {
        let shared = matches!(function.ty(pointer), Type::Ptr(Space::Global | Space::Constant));
        shared && memory.root(pointer).is_some_and(|root| changed.iter().all(|&other| memory.apart(root, other)))
    };
    let question =
        Question { group: key.kernel.local_size, zero_offset: key.kernel.zero_offset, stable: StableLoads::Through(&never_changes) };
    let mut kernel = Kernel {
        function,
        key,
        widths,
        memory: &memory,
        divergence: Divergence::of(function, &function.body, question),
        never_changes: &never_changes,
        constants: Constants::of(&function.body),
        uses: Uses::of(function),
        left: MOST,
    };
    let mut found = Vec::new();
    for (at, inst) in function.body.insts.iter().enumerate() {
        // Who has returned does not take the others' turns.
        let mut ends = false;
        inst.op.regions().into_iter().for_each(|region| {
            region.walk(&mut |inst| ends |= matches!(inst.op, Op::Return(_) | Op::Unreachable));
        });
        if ends {
            break;
        }
        found.extend(kernel.candidate(at, inst));
    }
    found
}

struct Kernel<'f> {
    function: &'f Function,
    key: &'f LaunchKey,
    widths: &'f [u32],
    memory: &'f MemoryUse<'f>,
    divergence: Divergence<'f>,
    /// Whether nothing in the kernel changes the memory that a pointer leads to.
    never_changes: &'f dyn Fn(Value) -> bool,
    constants: Constants,
    uses: Uses,
    /// Loops that may still be looked at closely.
    left: usize,
}

impl Kernel<'_> {
    /// A loop of the outermost region, if it is to be dealt out.
    fn candidate(&mut self, at: usize, inst: &Inst) -> Option<Dealt> {
        if matches!(inst.op, Op::Loop { unroll: Some(1), .. }) || inst.results.iter().any(|result| self.uses.count(*result) > 0) {
            return None;
        }
        let plain = PlainLoop::of(&inst.op)?;
        let counted = Ahead::of(self.function, &self.constants, &plain)?;
        let (&[start], &[counter]) = (plain.init, plain.params) else { return None };
        let variation = |value: Value| self.divergence.variation(value);
        if variation(start) != Variation::Stride(1) || counted.outside().any(|value| variation(value) != Variation::Uniform) {
            return None;
        }
        let mut turn =
            Turn { kernel: self, own: std::iter::once((counter, Variation::Stride(1))).collect(), loads: Vec::new(), counts: Vec::new() };
        turn.body(&plain, counted.test)?;
        if turn.loads.is_empty() {
            return None;
        }
        let Turn { loads, counts, .. } = turn;
        self.left = self.left.checked_sub(1)?;
        for &(root, ..) in &counts {
            self.unseen(at, root, &counts)?;
        }
        let turns = self.turns(&plain, counter, &loads)?;
        Some(Dealt { at, counted, turns, merged: loads.into_iter().map(|(result, _)| result).collect() })
    }

    /// Nobody looks at what the turns of a loop count before all are done.
    fn unseen(&self, at: usize, object: Root, counts: &[Count]) -> Option<()> {
        let mut own = counts.iter().filter(|(root, ..)| !self.memory.apart(*root, object));
        let &(_, op, ty, space) = own.next()?;
        if own.any(|count| (count.1, count.2, count.3) != (op, ty, space)) {
            return None;
        }
        let body = &self.function.body.insts;
        if space == Space::Local {
            let quiet = |inst: &Inst| {
                let mut quiet = true;
                walk(inst, &mut |inst| {
                    quiet &= self.accessed(inst).is_none_or(|root| root.is_some_and(|root| self.memory.apart(root, object)))
                });
                quiet
            };
            let opens = |inst: &&Inst| !matches!(inst.op, Op::Barrier(fence) if fence.local);
            let before = body[..at].iter().rev().take_while(opens).all(quiet);
            return (before && body[at + 1..].iter().take_while(opens).all(quiet)).then_some(());
        }
        let mut equal = true;
        self.function.body.walk(&mut |inst| {
            let same = match inst.op {
                Op::Atomic { op: other, ty: scalar, .. } => (other, scalar) == (op, ty) && self.is_forgotten(inst),
                _ => false,
            };
            equal &= same || self.accessed(inst).is_none_or(|root| root.is_some_and(|root| self.memory.apart(root, object)));
        });
        equal.then_some(())
    }

    /// Whether no result of an instruction is used.
    fn is_forgotten(&self, inst: &Inst) -> bool {
        inst.results.iter().all(|result| self.uses.count(*result) == 0)
    }

    /// The root of an access to memory; the inner `None` for one that is not known.
    fn accessed(&self, inst: &Inst) -> Option<Option<Root>> {
        match inst.op {
            Op::Load { ptr, .. } => Some(self.memory.root(ptr)),
            _ => match self.memory.effect(inst) {
                Effect::Nothing | Effect::Waits => None,
                Effect::Root(root) => Some(Some(root)),
                Effect::Anything => Some(None),
            },
        }
    }

    /// How many turns to do at once. `loads` are the loads whose addresses follow the counter, all of which become one then.
    fn turns(&self, plain: &PlainLoop<'_>, counter: Value, loads: &[(Value, Value)]) -> Option<Vec<u32>> {
        let sizes: Option<Vec<u32>> = loads.iter().map(|&(result, _)| element(self.function.ty(result))).collect();
        let sizes = sizes?;
        let (smallest, largest) = (*sizes.iter().min()?, *sizes.iter().max()?);
        if smallest > NARROW {
            return None;
        }
        let mut list = Vec::new();
        for &width in self.widths {
            let turns = width / largest;
            let fits = turns >= 2 && turns * smallest >= 4 && self.key.kernel.local_size[0].is_multiple_of(turns);
            if !fits || plain.body.size().saturating_mul(turns as usize) > LARGEST {
                continue;
            }
            let zeros = alignment::zeros_of_turns(self.function, &self.function.body, counter, turns)?;
            let aligned = |(&(_, pointer), size): (&(Value, Value), &u32)| {
                zeros.get(pointer.index()).is_some_and(|&zeros| u32::from(zeros) >= (turns * size).trailing_zeros())
            };
            if loads.iter().zip(&sizes).all(aligned) {
                list.push(turns);
            }
        }
        (!list.is_empty()).then_some(list)
    }
}

/// What an atomic operation of a turn does: to which object, what, of which type, and where that is.
type Count = (Root, AtomicOp, Scalar, Space);

/// A look at one turn.
struct Turn<'k> {
    kernel: &'k Kernel<'k>,
    /// How what the turn computes differs from one counter to the next.
    own: FxHashMap<Value, Variation>,
    /// Results and pointers of loads from addresses that follow the counter.
    loads: Vec<(Value, Value)>,
    counts: Vec<Count>,
}

impl Turn<'_> {
    /// The body of the loop, but for its test and its end.
    fn body(&mut self, plain: &PlainLoop<'_>, test: usize) -> Option<()> {
        let (end, insts) = plain.body.insts.split_last()?;
        for (_, inst) in insts.iter().enumerate().filter(|(index, _)| *index != test) {
            self.inst(inst, true)?;
        }
        matches!(end.op, Op::Continue(_)).then_some(())
    }

    /// How a value differs from one counter to the next. `None` for what is not the same for all work-items before the loop.
    fn of(&self, value: Value) -> Option<Variation> {
        match self.own.get(&value) {
            Some(&variation) => Some(variation),
            None => Some(self.kernel.divergence.variation(value)).filter(|variation| *variation == Variation::Uniform),
        }
    }

    /// `always`: every turn gets there.
    fn inst(&mut self, inst: &Inst, always: bool) -> Option<()> {
        let mut known = true;
        inst.op.for_each_operand(|value| known &= self.of(value).is_some());
        if !known {
            return None;
        }
        match &inst.op {
            Op::If { .. } | Op::Switch { .. } => {
                for region in inst.op.regions() {
                    self.region(region)?;
                }
                self.own.extend(inst.results.iter().map(|&result| (result, Variation::Varying)));
            }
            Op::Yield(_) => {}
            &Op::Atomic { op, ptr, value: Some(_), ty } => {
                let commutes = matches!(
                    op,
                    AtomicOp::Add
                        | AtomicOp::Sub
                        | AtomicOp::And
                        | AtomicOp::Or
                        | AtomicOp::Xor
                        | AtomicOp::SMin
                        | AtomicOp::SMax
                        | AtomicOp::UMin
                        | AtomicOp::UMax
                );
                // Neighbours that count side by side would do so apart.
                let apart = matches!(self.of(ptr), Some(Variation::Stride(_)));
                if !commutes || apart || ty.is_float() || !self.kernel.is_forgotten(inst) {
                    return None;
                }
                let root = self.kernel.memory.root(ptr)?;
                let space = self.kernel.function.ty(ptr).space()?;
                let fits = match (self.kernel.memory.param(root), space) {
                    (Some(KernelParam::Local { .. }), Space::Local) | (Some(KernelParam::Buffer { .. }), Space::Global) => true,
                    (None, Space::Local | Space::Global) => matches!(root, Root::Global(_)),
                    _ => false,
                };
                if !fits {
                    return None;
                }
                self.counts.push((root, op, ty, space));
            }
            op => {
                let [result] = inst.results[..] else { return None };
                let allowed = match *op {
                    // Every work-item has private memory of its own.
                    Op::VarAddr(_) => false,
                    Op::Load { ptr, volatile, .. } => !volatile && (self.kernel.never_changes)(ptr),
                    ref op => op.is_pure(),
                };
                let of = |value: Value| self.of(value).unwrap_or(Variation::Varying);
                let variation = self.kernel.divergence.operation(op, result, &of);
                if !allowed || (matches!(op, Op::WorkItem(_)) && variation != Variation::Uniform) {
                    return None;
                }
                if let &Op::Load { ptr, .. } = op
                    && let Some(Variation::Stride(stride)) = self.of(ptr)
                {
                    // All or nothing: what is not merged would be further apart than before.
                    let side_by_side = element(self.kernel.function.ty(result)).is_some_and(|size| u64::from(size) == stride);
                    if !side_by_side || !always {
                        return None;
                    }
                    self.loads.push((result, ptr));
                }
                self.own.insert(result, variation);
            }
        }
        Some(())
    }

    fn region(&mut self, region: &Region) -> Option<()> {
        region.insts.iter().try_for_each(|inst| self.inst(inst, false))
    }
}

/// An instruction and all within it.
fn walk(inst: &Inst, f: &mut dyn FnMut(&Inst)) {
    f(inst);
    inst.op.regions().into_iter().for_each(|region| region.walk(f));
}
