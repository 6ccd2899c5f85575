//! Repeats the bodies of loops.
//!
//! ```text
//! %r = loop (%i = 0, %s = %x) {
//!   if ult %i, 2 { yield } else { break %s }
//!   %t = add %s, %i                               %t = add %x, 0
//!   continue add %i, 1; %t                 =>     %u = add %t, 1
//! }                                               ... %u for %r
//! ```
//! * A loop whose number of turns is known is written out if that stays small, or if it indexes a private array that is only indexed by counters of such
//!   loops: `promote` then makes values of the array. `opencl_unroll_hint` raises the limit or forbids it.
//! * On a device that stops loops after some number of turns ([`Defects::loop_turns`](crate::target::Defects::loop_turns)), or takes long for their tests, a loop of many or
//!   unknown turns does several in one, each with its own tests, or with one for all where their number is known to be a multiple.
//!
//! Only innermost loops are looked at, and only those that go on in one place, at the end of their body; writing a loop out makes the one
//! around it innermost for the next time.

use super::pass::Pass;
use super::simplify::eval;
use super::trips::Trips;
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Constants;
use crate::ir::{BinOp, Function, Inst, Op, Region, Scalar, Space, Type, Value, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions of a loop that is written out without a special reason.
const SMALL: usize = 256;

/// The same in [`Mode::Full`] for one that loads from local memory, which lavapipe does lane by lane, in a loop of its own for each load: many of these one
/// after the other do not fit where the CPU keeps its decoded instructions.
const LOCAL: usize = 32;

/// The same in [`Mode::Generous`].
const MEDIUM: usize = 2048;

/// Instructions of a loop that is written out for the sake of a private array, or because the source asks for it.
const LARGE: usize = 8192;

/// All unrolling together adds no more instructions to a function.
const GROWTH: usize = 16_384;

/// Turns in one where the device limits them.
const FACTOR: usize = 8;

/// Loops that are known to do no more turns are left alone where the device limits them: turns that are done in vain would cost as much as is gained.
const FEW_TURNS: u64 = 64;

/// Instructions of a body that is repeated [`FACTOR`] times.
const REPEATED: usize = 120;

/// Which unrolling to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Write out loops of few turns.
    Full,
    /// Those of more turns too, for devices whose drivers compile long code quickly.
    Generous,
    /// Several turns in one, for a device with a limit.
    Partial,
}

/// The pass that writes loops out, as long ones as the device's driver compiles quickly.
pub const PASS: Pass = Pass::function("unroll", |function, cx| {
    let mode = if cx.target.shaders.costs.long_code { Mode::Full } else { Mode::Generous };
    Ok(run(function, mode))
});

/// The pass that does several turns in one.
pub const SEVERAL: Pass = Pass::function("unroll_partial", |function, _| Ok(run(function, Mode::Partial)));

/// Unrolls the innermost loops that are worth it. Returns whether there were any.
pub fn run(function: &mut Function, mode: Mode) -> bool {
    let constants = Constants::of(&function.body);
    let turns = if mode == Mode::Partial { Trips::of(function).into_turns() } else { FxHashMap::default() };
    let addresses = Addresses::of(function, &function.body);
    let mut body = std::mem::take(&mut function.body);
    let mut pass =
        Unroll { function, mode, constants, turns, addresses, stay: FxHashSet::default(), growth: 0, replaced: FxHashMap::default() };
    if mode != Mode::Partial && !pass.function.vars.is_empty() {
        pass.stay = pass.stay(&body);
    }
    pass.region(&mut body);
    let changed = pass.growth > 0;
    function.body = body;
    changed
}

struct Unroll<'a> {
    function: &'a mut Function,
    mode: Mode,
    constants: Constants,
    /// How many turns loops do at most, by their first parameter, in [`Mode::Partial`].
    turns: FxHashMap<Value, u64>,
    addresses: Addresses,
    /// Private variables that stay in memory whatever is written out: they are indexed by something else than counters.
    stay: FxHashSet<Var>,
    growth: usize,
    /// What stands for the results of loops that are written out.
    replaced: FxHashMap<Value, Value>,
}

/// A loop that goes on in one place.
pub(super) struct Shape<'a> {
    pub(super) init: &'a [Value],
    pub(super) params: &'a [Value],
    pub(super) body: &'a Region,
    /// What the one `continue` gives.
    pub(super) next: &'a [Value],
}

/// `if compare(%counter, bound) { yield } else { break ... }` at the beginning of a body, with a constant start, step and bound. The step is added, or
/// a factor, a divisor or a shift.
pub(super) struct Counted<'a> {
    pub(super) turns: u64,
    /// Where the guard is in the body.
    pub(super) guard: usize,
    /// The index of the parameter that counts.
    pub(super) counter: usize,
    /// What is added to it, where something is added or subtracted.
    pub(super) step: Option<u64>,
    /// What it breaks with.
    broken: &'a [Value],
}

impl Unroll<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            self.rename(&mut inst);
            let has_loops = |region: &Region| {
                let mut found = false;
                region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
                found
            };
            if let Op::Loop { body, .. } = &inst.op
                && !has_loops(body)
            {
                // Names that were replaced inside are replaced now; nothing in there unrolls any more.
                if let Op::Loop { body, .. } = &mut inst.op {
                    self.rename_all(body);
                }
                if self.mode == Mode::Partial {
                    self.repeat(&mut inst);
                } else if self.write_out(&inst, &mut out) {
                    continue;
                }
                out.push(inst);
                continue;
            }
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            out.push(inst);
        }
        region.insts = out;
    }

    fn rename(&self, inst: &mut Inst) {
        inst.op.map_operands(|value| {
            while let Some(&new) = self.replaced.get(value) {
                *value = new;
            }
        });
    }

    fn rename_all(&self, region: &mut Region) {
        region.walk_mut(&mut |inst| self.rename(inst));
    }

    /// Writes a counted loop out. False if it stays.
    fn write_out(&mut self, inst: &Inst, out: &mut Vec<Inst>) -> bool {
        let Op::Loop { unroll, .. } = &inst.op else { return false };
        if *unroll == Some(1) {
            return false;
        }
        let Some(shape) = shape(&inst.op) else { return false };
        let Some(counted) = counted(self.function, &self.constants, &shape) else { return false };
        // lavapipe takes longer for each barrier in the code than for another turn: what is known to be quicker written out is the rest.
        if self.mode == Mode::Full && counted.step.is_none() && has_barriers(shape.body) {
            return false;
        }
        let size = shape.body.size().max(1);
        let turns = usize::try_from(counted.turns).unwrap_or(usize::MAX);
        let total = size.saturating_mul(turns);
        let limit = if unroll.is_some() || self.indexes_private(&shape) {
            LARGE
        } else if self.mode == Mode::Generous {
            MEDIUM
        } else if self.loads_local(&shape) {
            LOCAL
        } else {
            SMALL
        };
        if total > limit || self.growth + total > GROWTH {
            return false;
        }
        self.growth += total.max(1);
        let mut current: Vec<Value> = shape.init.to_vec();
        let end = shape.body.insts.len() - 1;
        for turn in 0..=turns {
            let mut map: FxHashMap<Value, Value> = shape.params.iter().copied().zip(current.iter().copied()).collect();
            let last = turn == turns;
            for (index, inst) in shape.body.insts[..end].iter().enumerate() {
                if index == counted.guard {
                    if last {
                        break;
                    }
                    continue;
                }
                let copy = self.copy(inst, &mut map);
                out.push(copy);
            }
            let source = if last { counted.broken } else { shape.next };
            let mapped: Vec<Value> = source.iter().map(|value| map.get(value).copied().unwrap_or(*value)).collect();
            if last {
                for (&result, value) in inst.results.iter().zip(mapped) {
                    self.replaced.insert(result, value);
                }
                break;
            }
            current = mapped;
        }
        true
    }

    /// Does several turns in one.
    fn repeat(&mut self, inst: &mut Inst) {
        let Op::Loop { unroll, .. } = &inst.op else { return };
        if *unroll == Some(1) {
            return;
        }
        let Some(shape) = shape(&inst.op) else { return };
        let size = shape.body.size();
        let few = shape.params.first().and_then(|param| self.turns.get(param)).is_some_and(|&turns| turns <= FEW_TURNS);
        if few || size > REPEATED || self.growth + size * FACTOR > GROWTH {
            return;
        }
        self.growth += size * FACTOR;
        repeat(self.function, &self.constants, inst, FACTOR);
    }

    /// A copy with new values for all that it defines.
    fn copy(&mut self, inst: &Inst, map: &mut FxHashMap<Value, Value>) -> Inst {
        copy(self.function, inst, map)
    }

    /// Whether the body loads from local memory.
    fn loads_local(&self, shape: &Shape) -> bool {
        let mut found = false;
        shape.body.walk(&mut |inst| found |= matches!(inst.op, Op::Load { ptr, .. } if self.function.ty(ptr) == Type::Ptr(Space::Local)));
        found
    }

    /// Whether the body accesses a private variable at a place that is not constant, where writing loops out makes it so.
    fn indexes_private(&self, shape: &Shape) -> bool {
        let mut found = false;
        shape.body.walk(&mut |inst| {
            if let Op::PtrAdd(base, offset) = &inst.op {
                let promoted = self.addresses.variable(*base).is_some_and(|(var, _)| !self.stay.contains(&var));
                found |= promoted && self.constants.bits(*offset).is_none();
            }
        });
        found
    }

    /// Private variables that are indexed by what is not constant once all counted loops are written out.
    fn stay(&self, body: &Region) -> FxHashSet<Var> {
        let mut known = vec![false; self.function.values.len()];
        self.settle(body, &mut known);
        let mut stay = FxHashSet::default();
        body.walk(&mut |inst| {
            if let Op::PtrAdd(base, offset) = &inst.op
                && let Some((var, _)) = self.addresses.variable(*base)
                && !known[offset.index()]
            {
                stay.insert(var);
            }
        });
        stay
    }

    /// Notes which values are constant once all counted loops are written out.
    fn settle(&self, region: &Region, known: &mut Vec<bool>) {
        for inst in &region.insts {
            if let Op::Loop { init, params, body, .. } = &inst.op {
                let shape = shape(&inst.op).filter(|shape| counted(self.function, &self.constants, shape).is_some());
                for (&param, start) in params.iter().zip(init) {
                    known[param.index()] = shape.is_some() && known[start.index()];
                }
                // What goes on with something unknown is not known in the next turn.
                loop {
                    self.settle(body, known);
                    let next = shape.as_ref().map_or(&[][..], |shape| shape.next);
                    let lost: Vec<Value> = params
                        .iter()
                        .zip(next)
                        .filter(|(param, next)| known[param.index()] && !known[next.index()])
                        .map(|(param, _)| *param)
                        .collect();
                    if lost.is_empty() {
                        break;
                    }
                    for param in lost {
                        known[param.index()] = false;
                    }
                }
                continue;
            }
            for nested in inst.op.regions() {
                self.settle(nested, known);
            }
            let mut all = match &inst.op {
                Op::If { .. } | Op::Switch { .. } => {
                    for (index, result) in inst.results.iter().enumerate() {
                        let mut all = true;
                        inst.op.for_each_operand(|operand| all &= known[operand.index()]);
                        for nested in inst.op.regions() {
                            if let Some(Op::Yield(values)) = nested.terminator() {
                                all &= values.get(index).is_some_and(|value| known[value.index()]);
                            }
                        }
                        known[result.index()] = all;
                    }
                    continue;
                }
                // What private memory holds at a known place may be known as well.
                Op::Load { ptr, volatile: false, .. } => matches!(self.function.ty(*ptr), Type::Ptr(Space::Private | Space::Constant)),
                Op::Const(_) | Op::Un(..) | Op::Bin(..) | Op::Cmp(..) | Op::Cast(..) | Op::Select(..) => true,
                Op::VarAddr(_) | Op::GlobalAddr(_) | Op::PtrAdd(..) => true,
                _ => false,
            };
            if let [result] = inst.results[..] {
                inst.op.for_each_operand(|operand| all &= known[operand.index()]);
                known[result.index()] = all;
            }
        }
    }
}

/// How many turns a loop does, if that is certain and no other `break` ends it earlier.
pub(super) fn counted<'s>(function: &Function, constants: &Constants, shape: &Shape<'s>) -> Option<Counted<'s>> {
    let (guard, inst) = shape.body.insts.iter().enumerate().find(|(_, inst)| !inst.op.is_pure())?;
    let Op::If { cond, then, els } = &inst.op else { return None };
    let only = |region: &'s Region| match &region.insts[..] {
        [Inst { op, .. }] => Some(op),
        _ => None,
    };
    let (holds, broken) = match (only(then)?, only(els)?) {
        (Op::Yield(_), Op::Break(values)) => (true, values),
        (Op::Break(values), Op::Yield(_)) => (false, values),
        _ => return None,
    };
    let mut breaks = 0;
    shape.body.for_each_jump(&mut |op| breaks += usize::from(matches!(op, Op::Break(_))));
    let mut returns = false;
    shape.body.walk(&mut |inst| returns |= matches!(inst.op, Op::Return(_)));
    if breaks != 1 || returns || !inst.results.is_empty() {
        return None;
    }
    let define = |value: Value| shape.body.insts.iter().find(|inst| inst.results.first() == Some(&value)).map(|inst| &inst.op);
    let &Op::Cmp(kind, a, b) = define(*cond)? else { return None };
    let position = |value: Value| shape.params.iter().position(|&param| param == value);
    let (counter, bound, swapped) = match (position(a), position(b)) {
        (Some(index), None) => (index, b, false),
        (None, Some(index)) => (index, a, true),
        _ => return None,
    };
    let Type::Scalar(scalar) = function.ty(shape.params[counter]) else { return None };
    let (start, bound) = (constants.bits(shape.init[counter])?, constants.bits(bound)?);
    let &Op::Bin(op, x, y) = define(shape.next[counter])? else { return None };
    let step = if x == shape.params[counter] { y } else { x };
    let either = match op {
        BinOp::Add | BinOp::Mul => true,
        BinOp::Sub | BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::UDiv | BinOp::SDiv => false,
        _ => return None,
    };
    if (x != shape.params[counter]) && (y != shape.params[counter] || !either) {
        return None;
    }
    let step = constants.bits(step)?;
    let turns = turns(scalar, (start, bound, step), op, |value| {
        let (left, right) = if swapped { (bound, value) } else { (value, bound) };
        eval::compare(kind, scalar, left, right).map(|result| result == holds)
    })?;
    let step = match op {
        BinOp::Add => Some(step),
        BinOp::Sub => Some(step.wrapping_neg() & scalar.mask()),
        _ => None,
    };
    Some(Counted { turns, guard, counter, step, broken })
}

fn has_barriers(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Barrier(_)));
    found
}

/// Counts turns one by one.
fn turns(scalar: Scalar, (start, bound, step): (u64, u64, u64), op: BinOp, goes_on: impl Fn(u64) -> Option<bool>) -> Option<u64> {
    // Nothing that is written out has more.
    let limit = u64::try_from(LARGE).unwrap_or(u64::MAX);
    // A bound far away needs no counting.
    let distance = scalar.sign_extend(bound).wrapping_sub(scalar.sign_extend(start)).unsigned_abs();
    let stride = scalar.sign_extend(step).unsigned_abs().max(1);
    if matches!(op, BinOp::Add | BinOp::Sub) && distance / stride > limit {
        return None;
    }
    let mut value = start;
    for turn in 0..=limit {
        if !goes_on(value)? {
            return Some(turn);
        }
        value = eval::binary(op, scalar, value, step)?;
    }
    None
}

/// Does so many turns of a loop that goes on in one place in one, or about as many where the number of turns is known to be a multiple of that: then there is
/// one test for all of them.
pub(super) fn repeat(function: &mut Function, constants: &Constants, inst: &mut Inst, copies: usize) {
    let Some(shape) = shape(&inst.op) else { return };
    let counted = counted(function, constants, &shape);
    let divisor = counted.as_ref().and_then(|counted| (copies / 2 + 1..=copies).rev().find(|&copies| counted.turns % copies as u64 == 0));
    let tested = if divisor.is_none() { None } else { counted.map(|counted| counted.guard) };
    let end = shape.body.insts.len() - 1;
    let span = shape.body.insts[end].span;
    let mut insts = shape.body.insts[..end].to_vec();
    let mut current = shape.next.to_vec();
    for _ in 1..divisor.unwrap_or(copies) {
        let mut map: FxHashMap<Value, Value> = shape.params.iter().copied().zip(current.iter().copied()).collect();
        for (index, inst) in shape.body.insts[..end].iter().enumerate() {
            if Some(index) != tested {
                let copy = copy(function, inst, &mut map);
                insts.push(copy);
            }
        }
        current = shape.next.iter().map(|value| map.get(value).copied().unwrap_or(*value)).collect();
    }
    insts.push(Inst::effect(Op::Continue(current), span));
    if let Op::Loop { body, .. } = &mut inst.op {
        body.insts = insts;
    }
}

/// A copy of an instruction, with new values for all that it defines.
pub(super) fn copy(function: &mut Function, inst: &Inst, map: &mut FxHashMap<Value, Value>) -> Inst {
    let mut copy = inst.clone();
    renew(function, &mut copy, map);
    copy
}

fn renew(function: &mut Function, inst: &mut Inst, map: &mut FxHashMap<Value, Value>) {
    inst.op.map_operands(|value| {
        if let Some(&new) = map.get(value) {
            *value = new;
        }
    });
    let mut define = |value: &mut Value| {
        let new = function.new_value(function.ty(*value));
        map.insert(*value, new);
        *value = new;
    };
    if let Op::Loop { params, .. } = &mut inst.op {
        params.iter_mut().for_each(&mut define);
    }
    inst.results.iter_mut().for_each(define);
    for region in inst.op.regions_mut() {
        for inst in &mut region.insts {
            renew(function, inst, map);
        }
    }
}

pub(super) fn shape(op: &Op) -> Option<Shape<'_>> {
    let Op::Loop { init, params, body, .. } = op else { return None };
    let Some(Op::Continue(next)) = body.terminator() else { return None };
    let mut continues = 0;
    body.for_each_jump(&mut |op| continues += usize::from(matches!(op, Op::Continue(_))));
    (continues == 1).then_some(Shape { init, params, body, next })
}
