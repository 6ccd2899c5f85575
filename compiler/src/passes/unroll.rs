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
//!   unknown turns does several in one, each with its own tests, or with one for all where their number is known to be a multiple:
//!
//! ```text
//! loop (%p = %a) {              loop (%p = %a) {
//!   if f(%p) { break }            if f(%p) { break }
//!   continue g(%p)                %q = g(%p)
//! }                               if f(%q) { break }
//!                                 continue g(%q)
//!                               }
//! ```
//!   That moves the limit away, but does not lift it.
//!
//! Only innermost loops are looked at, and only those that go on in one place, at the end of their body; writing a loop out makes the one
//! around it innermost for the next time.

use super::pass::Pass;
use super::several_turns::{copy, turn};
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Constants;
use crate::analysis::loops::trips::Trips;
use crate::analysis::loops::{Counted, PlainLoop};
use crate::ir::{Function, Inst, Op, Region, Space, Type, Value, Var};
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

/// Turns of a loop that is written out: each has an instruction at least.
pub(super) const MOST_TURNS: u64 = LARGE as u64;

/// Copies of a body that is repeated, at most.
const COPIES: usize = 8;

/// Which unrolling to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write out loops of few turns.
    Full,
    /// Those of more turns too, for devices whose drivers compile long code quickly.
    Generous,
    /// Several turns in one, for a device with a limit: while what they have in common can still be found.
    Partial,
    /// The same of what is short when all else is done.
    Last,
}

impl Mode {
    /// What is repeated, in the modes that do that.
    const fn limits(self) -> Option<Limits> {
        match self {
            Self::Full | Self::Generous => None,
            Self::Partial => Some(Limits {
                body: 120,
                all: usize::MAX,
                private_access: 1,
                few: 64,
                few_in_all: None,
                barrier: false,
                hints: true,
                growth: GROWTH,
            }),
            Self::Last => Some(Limits {
                body: usize::MAX,
                all: 192,
                private_access: 24,
                few: 16,
                few_in_all: Some(4096),
                barrier: true,
                hints: false,
                growth: usize::MAX,
            }),
        }
    }
}

/// Which bodies are repeated, and how often.
#[derive(Clone, Copy)]
struct Limits {
    /// Instructions of a body.
    body: usize,
    /// Instructions that all copies of a body have together, roughly.
    all: usize,
    /// What an access to private memory counts: lavapipe makes one for each work-item that it does at a time.
    private_access: usize,
    /// A loop that is known to do no more turns is left alone: turns that are done in vain would cost as much as is gained.
    few: u64,
    /// So is one that does no more of them together with those of the loops around it.
    few_in_all: Option<u64>,
    /// But not one with a barrier, as reductions have: lavapipe takes less for eight barriers in the code than for as many turns, and more for sixteen.
    barrier: bool,
    /// Whether the source may forbid it: what passes have batched forbids the same.
    hints: bool,
    /// Instructions that are added to a function.
    growth: usize,
}

/// The pass that writes loops out, as long ones as the device's driver compiles quickly.
pub(crate) const PASS: Pass = Pass::function("unroll", |function, cx| {
    let mode = if cx.target.shaders.costs.long_code { Mode::Full } else { Mode::Generous };
    Ok(run(function, mode))
});

/// The pass that does several turns in one.
pub(crate) const SEVERAL: Pass = Pass::function("unroll_partial", |function, _| Ok(run(function, Mode::Partial)));

/// The pass that does several turns of short loops in one, when all else is done.
pub(crate) const LAST: Pass = Pass::function("unroll_last", |function, _| Ok(run(function, Mode::Last)));

/// Unrolls the innermost loops that are worth it. Returns whether there were any.
pub(crate) fn run(function: &mut Function, mode: Mode) -> bool {
    let constants = Constants::of(&function.body);
    if let Some(limits) = mode.limits() {
        let turns = Trips::of(function).into_turns();
        let mut body = std::mem::take(&mut function.body);
        let mut pass = Repeat { function, constants, turns, limits, growth: 0 };
        pass.region(&mut body, Some(1));
        let changed = pass.growth > 0;
        function.body = body;
        return changed;
    }
    let addresses = Addresses::of(function, &function.body);
    let mut body = std::mem::take(&mut function.body);
    let mut pass = WriteOut { function, mode, constants, addresses, stay: FxHashSet::default(), growth: 0, replaced: FxHashMap::default() };
    if !pass.function.vars.is_empty() {
        pass.stay = pass.stay(&body);
    }
    pass.region(&mut body);
    let changed = pass.growth > 0;
    function.body = body;
    changed
}

struct WriteOut<'a> {
    function: &'a mut Function,
    mode: Mode,
    constants: Constants,
    addresses: Addresses,
    /// Private variables that stay in memory whatever is written out: they are indexed by something else than counters.
    stay: FxHashSet<Var>,
    growth: usize,
    /// What stands for the results of loops that are written out.
    replaced: FxHashMap<Value, Value>,
}

impl WriteOut<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            self.rename(&mut inst);
            if let Op::Loop { body, .. } = &inst.op
                && !has_loop(body)
            {
                // Names that were replaced inside are replaced now; nothing in there unrolls any more.
                if let Op::Loop { body, .. } = &mut inst.op {
                    self.rename_all(body);
                }
                if !self.write_out(&inst, &mut out) {
                    out.push(inst);
                }
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
        let Some(plain) = PlainLoop::of(&inst.op) else { return false };
        let Some((counted, turns)) = Counted::fixed(self.function, &plain, &self.constants, MOST_TURNS) else { return false };
        // lavapipe takes longer for each barrier in the code than for another turn: what is known to be quicker written out is the rest.
        if self.mode == Mode::Full && counted.added(&self.constants).is_none() && barriers(plain.body) > 0 {
            return false;
        }
        let size = plain.body.size().max(1);
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let total = size.saturating_mul(turns);
        let limit = if unroll.is_some() || self.indexes_private(plain.body) {
            LARGE
        } else if self.mode == Mode::Generous {
            MEDIUM
        } else if self.loads_local(plain.body) {
            LOCAL
        } else {
            SMALL
        };
        if total > limit || self.growth + total > GROWTH {
            return false;
        }
        self.growth += total.max(1);
        let mut current = plain.init.to_vec();
        for _ in 0..turns {
            current = turn(self.function, &plain, current, Some(counted.test), out);
        }
        // What comes before the test is done once more.
        let mut map: FxHashMap<Value, Value> = plain.params.iter().copied().zip(current).collect();
        for inst in &plain.body.insts[..counted.test] {
            let copy = copy(self.function, inst, &mut map);
            out.push(copy);
        }
        for (&result, value) in inst.results.iter().zip(counted.broken) {
            self.replaced.insert(result, map.get(value).copied().unwrap_or(*value));
        }
        true
    }

    /// Whether the body loads from local memory.
    fn loads_local(&self, body: &Region) -> bool {
        let mut found = false;
        body.walk(&mut |inst| found |= matches!(inst.op, Op::Load { ptr, .. } if self.function.ty(ptr) == Type::Ptr(Space::Local)));
        found
    }

    /// Whether the body accesses a private variable at a place that is not constant, where writing loops out makes it so.
    fn indexes_private(&self, body: &Region) -> bool {
        let mut found = false;
        body.walk(&mut |inst| {
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
        self.find_known(body, &mut known);
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
    fn find_known(&self, region: &Region, known: &mut Vec<bool>) {
        for inst in &region.insts {
            if let Op::Loop { init, params, body, .. } = &inst.op {
                let plain =
                    PlainLoop::of(&inst.op).filter(|plain| Counted::fixed(self.function, plain, &self.constants, MOST_TURNS).is_some());
                for (&param, start) in params.iter().zip(init) {
                    known[param.index()] = plain.is_some() && known[start.index()];
                }
                // What goes on with something unknown is not known in the next turn.
                loop {
                    self.find_known(body, known);
                    let next = plain.as_ref().map_or(&[][..], |plain| plain.next);
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
                self.find_known(nested, known);
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

/// Does several turns of loops in one.
struct Repeat<'a> {
    function: &'a mut Function,
    constants: Constants,
    /// How many turns loops do at most, by their first parameter.
    turns: FxHashMap<Value, u64>,
    limits: Limits,
    growth: usize,
}

impl Repeat<'_> {
    /// `times` is how often the region runs at most, where that is known.
    fn region(&mut self, region: &mut Region, times: Option<u64>) {
        for inst in &mut region.insts {
            let Op::Loop { params, body, .. } = &mut inst.op else {
                inst.op.regions_mut().into_iter().for_each(|nested| self.region(nested, times));
                continue;
            };
            let turns = params.first().and_then(|param| self.turns.get(param)).copied();
            let in_all = turns.zip(times).map(|(inner, outer)| inner.saturating_mul(outer));
            if has_loop(body) {
                self.region(body, in_all);
                continue;
            }
            let few = turns.is_some_and(|turns| turns <= self.limits.few)
                || self.limits.few_in_all.is_some_and(|few| in_all.is_some_and(|turns| turns <= few));
            if !few || (self.limits.barrier && barriers(body) == 1) {
                self.repeat(inst);
            }
        }
    }

    fn repeat(&mut self, inst: &mut Inst) {
        let Op::Loop { unroll, body, .. } = &inst.op else { return };
        if self.limits.hints && *unroll == Some(1) {
            return;
        }
        let mut size = 0;
        body.walk(&mut |inst| {
            size += match &inst.op {
                Op::Load { ptr, .. } | Op::Store { ptr, .. } if self.function.ty(*ptr) == Type::Ptr(Space::Private) => {
                    self.limits.private_access
                }
                _ => 1,
            };
        });
        let copies = (self.limits.all / (size + 1)).min(COPIES);
        if copies < 2 || size > self.limits.body || self.growth + size * COPIES > self.limits.growth {
            return;
        }
        if repeat(self.function, &self.constants, inst, copies) {
            self.growth += size * COPIES;
        }
    }
}

/// Does so many turns of a loop that goes on in one place in one, or about as many where the number of turns is known to be a multiple of that: then there is
/// one test for all of them. False for other loops.
fn repeat(function: &mut Function, constants: &Constants, inst: &mut Inst, copies: usize) -> bool {
    let Some(plain) = PlainLoop::of(&inst.op) else { return false };
    let exact = Counted::fixed(function, &plain, constants, MOST_TURNS)
        .and_then(|(counted, turns)| Some((counted.test, (copies / 2 + 1..=copies).rev().find(|&copies| turns % copies as u64 == 0)?)));
    let (tested, copies) = exact.map_or((None, copies), |(test, copies)| (Some(test), copies));
    let span = plain.body.insts.last().map_or(inst.span, |end| end.span);
    let mut insts = plain.insts().to_vec();
    let mut current = plain.next.to_vec();
    for _ in 1..copies {
        current = turn(function, &plain, current, tested, &mut insts);
    }
    insts.push(Inst::effect(Op::Continue(current), span));
    if let Op::Loop { body, .. } = &mut inst.op {
        body.insts = insts;
    }
    true
}

fn barriers(region: &Region) -> usize {
    let mut count = 0;
    region.walk(&mut |inst| count += usize::from(matches!(inst.op, Op::Barrier(_))));
    count
}

fn has_loop(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
    found
}
