//! Which loops may be dealt out anew, and are worth it. The reasons are in the documentation of the module above.

use rustc_hash::{FxHashMap, FxHashSet};

use super::LARGEST;
use crate::analysis::definitions::{Constants, Root, Uses};
use crate::ir::{AtomicOp, BinOp, CastOp, Const, Function, Inst, KernelParam, Op, Region, Scalar, Space, Type, Value, WorkItem};
use crate::launch::LaunchKey;
use crate::passes::alias::{Effect, Memory};
use crate::passes::align;
use crate::passes::coarsen::element;
use crate::passes::counted::Counted;
use crate::passes::simplify::Purity;
use crate::passes::unroll::{Shape, shape};

/// Bytes of elements that are worth it: larger ones are words already.
const NARROW: u32 = 2;

/// Loops of a kernel that are looked at closely, which takes a walk over all of it.
const MOST: usize = 16;

/// A loop to be dealt out.
pub(super) struct Dealt {
    /// Where it is in the kernel's body.
    pub(super) at: usize,
    pub(super) counted: Counted,
    /// The turns that each of the loops before it does at once, as powers of two that divide the group, falling.
    pub(super) turns: Vec<u32>,
    /// Results of the loads that become one for all these turns.
    pub(super) merged: FxHashSet<Value>,
}

/// How a value differs between the work-items of a group or, within the loop, from one counter to the next. Counters may have 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// Not at all.
    Uniform,
    /// It is more by so much, which is not 0, modulo two to the power of the type's width.
    Stride(u64),
    /// Anyhow.
    Varying,
}

impl Lane {
    const fn stride(self) -> Option<u64> {
        match self {
            Self::Uniform => Some(0),
            Self::Stride(stride) => Some(stride),
            Self::Varying => None,
        }
    }

    /// Of a number, or an address, of that type.
    fn of_stride(stride: u64, ty: Type) -> Self {
        let stride = stride & if ty == Type::I64 { u64::MAX } else { u64::from(u32::MAX) };
        if stride == 0 { Self::Uniform } else { Self::Stride(stride) }
    }
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
    let memory = Memory::of(function, &function.body, key.binding.distinct, purity);
    let mut kernel = Kernel {
        function,
        key,
        widths,
        memory,
        constants: Constants::of(&function.body),
        uses: Uses::of(function),
        changed: Vec::new(),
        left: MOST,
        lanes: vec![Lane::Varying; function.values.len()],
    };
    let mut anything = false;
    function.body.walk(&mut |inst| match kernel.memory.effect(inst) {
        Effect::Nothing | Effect::Waits => {}
        Effect::Root(root) if kernel.changed.contains(&root) => {}
        Effect::Root(root) => kernel.changed.push(root),
        Effect::Anything => anything = true,
    });
    if anything {
        return Vec::new();
    }
    for param in &function.params {
        kernel.lanes[param.index()] = Lane::Uniform;
    }
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
        if inst.op.regions().is_empty()
            && let [result] = inst.results[..]
        {
            kernel.lanes[result.index()] = kernel.lane(inst, result, &FxHashMap::default()).unwrap_or(Lane::Varying);
        }
    }
    found
}

struct Kernel<'f> {
    function: &'f Function,
    key: &'f LaunchKey,
    widths: &'f [u32],
    memory: Memory<'f>,
    constants: Constants,
    /// How often each value is used.
    uses: Uses,
    /// All memory that the kernel changes.
    changed: Vec<Root>,
    /// Loops that may still be looked at closely.
    left: usize,
    /// How the values of the outermost region differ between work-items.
    lanes: Vec<Lane>,
}

impl Kernel<'_> {
    /// How the result of an instruction without regions differs. `own` are the values of a loop's body, where it is one of those; all others are then the same
    /// for all work-items. `None` for what a turn must not do.
    fn lane(&self, inst: &Inst, result: Value, own: &FxHashMap<Value, Lane>) -> Option<Lane> {
        let of = |value: Value| own.get(&value).copied().unwrap_or(self.lanes[value.index()]);
        let ty = self.function.ty(result);
        let mut uniform = true;
        inst.op.for_each_operand(|value| uniform &= of(value) == Lane::Uniform);
        let otherwise = if uniform { Lane::Uniform } else { Lane::Varying };
        let counts = matches!(ty, Type::I32 | Type::I64);
        Some(match inst.op {
            Op::WorkItem(WorkItem::GlobalId(0) | WorkItem::LocalId(0)) => Lane::Stride(1),
            Op::WorkItem(WorkItem::SubgroupLocalId | WorkItem::SubgroupId | WorkItem::SubgroupSize | WorkItem::NumSubgroups) => {
                Lane::Varying
            }
            // The other dimensions have one item a group.
            Op::WorkItem(_) => Lane::Uniform,
            Op::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) if counts => match (of(a).stride(), of(b).stride()) {
                (Some(a), Some(b)) => Lane::of_stride(if op == BinOp::Add { a.wrapping_add(b) } else { a.wrapping_sub(b) }, ty),
                _ => otherwise,
            },
            Op::Bin(BinOp::Mul, a, b) if counts => {
                let scaled = |x: Value, factor: Value| {
                    let factor = self.constants.bits(factor)?;
                    of(x).stride().map(|stride| Lane::of_stride(stride.wrapping_mul(factor), ty))
                };
                scaled(a, b).or_else(|| scaled(b, a)).unwrap_or(otherwise)
            }
            Op::Bin(BinOp::Shl, a, b) if counts => match (of(a).stride(), self.constants.bits(b)) {
                (Some(stride), Some(amount)) if amount < u64::from(ty.scalar().map_or(0, Scalar::bits)) => {
                    Lane::of_stride(stride << amount, ty)
                }
                _ => otherwise,
            },
            Op::Cast(CastOp::Trunc, a) if ty == Type::I32 && self.function.ty(a) == Type::I64 => {
                of(a).stride().map_or(otherwise, |stride| Lane::of_stride(stride, ty))
            }
            Op::Cast(CastOp::ZExt, a) if ty == Type::I64 && of(a) == Lane::Stride(1) && self.is_id(a) => Lane::Stride(1),
            Op::PtrAdd(base, offset) => match (of(base).stride(), of(offset).stride()) {
                // Addresses have 32 bits here.
                (Some(base), Some(offset)) => Lane::of_stride(base.wrapping_add(offset), Type::I32),
                _ => Lane::Varying,
            },
            // Every work-item has private memory of its own.
            Op::VarAddr(_) => return None,
            Op::Const(Const::Undef) => Lane::Varying,
            Op::Load { ptr, volatile: false, .. } => {
                self.never_changes(ptr)?;
                otherwise
            }
            ref op if op.is_pure() => otherwise,
            _ => return None,
        })
    }

    /// Whether a value is an id that, without the global offset, does not wrap within a group.
    fn is_id(&self, value: Value) -> bool {
        let define = self.function.body.insts.iter().find(|inst| inst.results.first() == Some(&value)).map(|inst| &inst.op);
        match define {
            Some(Op::WorkItem(WorkItem::LocalId(_))) => true,
            Some(Op::WorkItem(WorkItem::GlobalId(_))) => self.key.kernel.zero_offset,
            _ => false,
        }
    }

    /// Nothing in the kernel changes the memory that a pointer leads to.
    fn never_changes(&self, pointer: Value) -> Option<()> {
        let root = self.memory.root(pointer)?;
        let shared = matches!(self.function.ty(pointer), Type::Ptr(Space::Global | Space::Constant));
        (shared && self.changed.iter().all(|&other| self.memory.apart(root, other))).then_some(())
    }

    /// A loop of the outermost region, if it is to be dealt out.
    fn candidate(&mut self, at: usize, inst: &Inst) -> Option<Dealt> {
        if matches!(inst.op, Op::Loop { unroll: Some(1), .. }) || inst.results.iter().any(|result| self.uses.count(*result) > 0) {
            return None;
        }
        let shape = shape(&inst.op)?;
        let counted = Counted::of(self.function, &self.constants, &shape)?;
        let (&[start], &[counter]) = (shape.init, shape.params) else { return None };
        if self.lanes[start.index()] != Lane::Stride(1) || counted.outside().any(|value| self.lanes[value.index()] != Lane::Uniform) {
            return None;
        }
        let mut turn =
            Turn { kernel: self, lanes: std::iter::once((counter, Lane::Stride(1))).collect(), loads: Vec::new(), counts: Vec::new() };
        turn.body(&shape, counted.at)?;
        if turn.loads.is_empty() {
            return None;
        }
        let Turn { loads, counts, .. } = turn;
        self.left = self.left.checked_sub(1)?;
        for &(root, ..) in &counts {
            self.unseen(at, root, &counts)?;
        }
        let turns = self.turns(&shape, counter, &loads)?;
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
    fn turns(&self, shape: &Shape<'_>, counter: Value, loads: &[(Value, Value)]) -> Option<Vec<u32>> {
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
            if !fits || shape.body.size().saturating_mul(turns as usize) > LARGEST {
                continue;
            }
            let zeros = align::zeros_of_turns(self.function, &self.function.body, counter, turns)?;
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
    lanes: FxHashMap<Value, Lane>,
    /// Results and pointers of loads from addresses that follow the counter.
    loads: Vec<(Value, Value)>,
    counts: Vec<Count>,
}

impl Turn<'_> {
    /// The body of the loop, but for its test and its end.
    fn body(&mut self, shape: &Shape<'_>, test: usize) -> Option<()> {
        let (end, insts) = shape.body.insts.split_last()?;
        for (_, inst) in insts.iter().enumerate().filter(|(index, _)| *index != test) {
            self.inst(inst, true)?;
        }
        matches!(end.op, Op::Continue(_)).then_some(())
    }

    fn of(&self, value: Value) -> Option<Lane> {
        match self.lanes.get(&value) {
            Some(&lane) => Some(lane),
            None => Some(self.kernel.lanes[value.index()]).filter(|lane| *lane == Lane::Uniform),
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
                self.lanes.extend(inst.results.iter().map(|&result| (result, Lane::Varying)));
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
                let apart = matches!(self.of(ptr), Some(Lane::Stride(_)));
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
                let lane = self.kernel.lane(inst, result, &self.lanes)?;
                if matches!(op, Op::WorkItem(_)) && lane != Lane::Uniform {
                    return None;
                }
                if let &Op::Load { ptr, .. } = op
                    && let Some(Lane::Stride(stride)) = self.of(ptr)
                {
                    // All or nothing: what is not merged would be further apart than before.
                    let side_by_side = element(self.kernel.function.ty(result)).is_some_and(|size| u64::from(size) == stride);
                    if !side_by_side || !always {
                        return None;
                    }
                    self.loads.push((result, ptr));
                }
                self.lanes.insert(result, lane);
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
