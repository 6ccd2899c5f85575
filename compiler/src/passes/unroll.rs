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
//!   loops: `sroa` then makes values of the array. `opencl_unroll_hint` raises the limit or forbids it.
//! * On a device that stops loops after some number of turns ([`Defects::max_loop_iterations`](crate::target::Defects::max_loop_iterations)), a short loop of many or unknown turns does several in one,
//!   each with its own tests, or with one for all where their number is known to be a multiple:
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

use super::loop_copies::{copy, copy_iteration};
use super::pass::Pass;
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Constants;
use crate::analysis::loops::trips::Trips;
use crate::analysis::loops::{Counted, PlainLoop};
use crate::ir::{Function, Inst, Module, Op, Region, Scalar, Space, Type, Value, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions of a loop that is written out without a special reason.
const MEDIUM: usize = 2048;

/// Instructions of a loop that is written out for the sake of a private array, or because the source asks for it.
const LARGE: usize = 8192;

/// All unrolling together adds no more instructions to a function.
const GROWTH: usize = 16_384;

/// Turns of a loop that is written out: each has an instruction at least.
const MAX_ITERATIONS: u64 = LARGE as u64;

/// Copies of a body that is repeated, at most.
const COPIES: usize = 8;

/// Instructions that all copies of a body have together, roughly.
const ALL_COPIES: usize = 192;

/// What an access to private memory counts in them: lavapipe makes one for each work-item that it does at a time.
const PRIVATE_ACCESS: usize = 24;

/// What an operation on doubles counts where integers do it (`crate::doubles`), which is later.
const SOFT_DOUBLE: usize = 64;

/// A loop that is known to do no more turns is not repeated: turns that are done in vain would cost as much as is gained.
const FEW: u64 = 16;

/// Nor is one that does no more of them together with those of the loops around it.
const FEW_IN_ALL: u64 = 4096;

/// The pass that writes loops out.
pub(crate) const PASS: Pass = Pass::function("unroll", |function, cx| {
    Ok(write_out(function, (cx.target.soft_doubles(), cx.target.shaders.costs.accesses_by_words && !cx.target.native)))
});

/// The pass that does several turns of short loops in one, when all else is done.
pub(crate) const LAST: Pass =
    Pass::function("unroll_last", |function, cx| Ok(repeat_all(function, cx.target.soft_doubles().then_some(cx.module))));

/// Does several turns of the innermost loops in one. Returns whether there were any. `soft_doubles`: the module, where it has the functions that do doubles by integers.
fn repeat_all(function: &mut Function, soft_doubles: Option<&Module>) -> bool {
    let constants = Constants::of(&function.body);
    let iterations = Trips::of(function).into_iterations();
    let mut body = std::mem::take(&mut function.body);
    let mut pass = Repeat { function, soft_doubles, constants, iterations, changed: false };
    pass.region(&mut body, Some(1));
    let changed = pass.changed;
    function.body = body;
    changed
}

/// Writes out the innermost loops that are worth it. Returns whether there were any. `soft_doubles`: doubles will be done by integers; `by_words`: see `Costs::accesses_by_words`.
fn write_out(function: &mut Function, (soft_doubles, by_words): (bool, bool)) -> bool {
    let constants = Constants::of(&function.body);
    let addresses = Addresses::of(function, &function.body);
    let mut body = std::mem::take(&mut function.body);
    let mut pass = WriteOut {
        function,
        soft_doubles,
        by_words,
        constants,
        addresses,
        stay: FxHashSet::default(),
        growth: 0,
        replaced: FxHashMap::default(),
    };
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
    soft_doubles: bool,
    by_words: bool,
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
        let Some((counted, iterations)) = Counted::fixed_anywhere(self.function, &plain, &self.constants, MAX_ITERATIONS) else {
            return false;
        };
        let has_reason = unroll.is_some() || self.indexes_private(plain.body);
        let size = if has_reason { plain.body.size().max(1) } else { self.weight(plain.body) };
        let iterations = usize::try_from(iterations).unwrap_or(usize::MAX);
        let once_more = usize::from(counted.test * 2 > plain.body.insts.len());
        let total = size.saturating_mul(iterations.saturating_add(once_more));
        let limit = if has_reason { LARGE } else { MEDIUM };
        if total > limit || self.growth + total > GROWTH {
            return false;
        }
        self.growth += total.max(1);
        let mut current = plain.init.to_vec();
        for _ in 0..iterations {
            current = copy_iteration(self.function, &plain, current, Some(counted.test), out);
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

    /// The instructions of a body, and those that its accesses and doubles will be.
    fn weight(&self, body: &Region) -> usize {
        let mut size = body.size().max(1);
        if self.by_words {
            body.walk(&mut |inst| {
                let accessed = match inst.op {
                    Op::Load { ptr, .. } => inst.results.first().map(|&value| (ptr, value)),
                    Op::Store { ptr, value, .. } => Some((ptr, value)),
                    _ => None,
                };
                if let Some((_, value)) = accessed.filter(|&(ptr, _)| self.function.ty(ptr).space() != Some(Space::Private)) {
                    let ty = self.function.ty(value);
                    size += usize::from(ty.lanes()) * ty.scalar().map_or(1, |scalar| scalar.size().div_ceil(4) as usize) - 1;
                }
            });
        }
        if self.soft_doubles {
            body.walk(&mut |inst| {
                if let Op::Bin(_, a, _) | Op::Cmp(_, a, _) | Op::Cast(_, a) = &inst.op
                    && self.function.ty(*a).scalar() == Some(Scalar::F64)
                {
                    size += SOFT_DOUBLE * usize::from(self.function.ty(*a).lanes());
                }
                if let (Op::Math(..), [result]) = (&inst.op, &inst.results[..])
                    && self.function.ty(*result).scalar() == Some(Scalar::F64)
                {
                    size += SOFT_DOUBLE * usize::from(self.function.ty(*result).lanes());
                }
            });
        }
        size
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
                let fixed =
                    |plain: &PlainLoop<'_>| Counted::fixed_anywhere(self.function, plain, &self.constants, MAX_ITERATIONS).is_some();
                let plain = PlainLoop::of(&inst.op).filter(fixed);
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
    /// Where these are.
    soft_doubles: Option<&'a Module>,
    constants: Constants,
    /// How many turns loops do at most, by their first parameter.
    iterations: FxHashMap<Value, u64>,
    changed: bool,
}

impl Repeat<'_> {
    /// `times` is how often the region runs at most, where that is known.
    fn region(&mut self, region: &mut Region, times: Option<u64>) {
        for inst in &mut region.insts {
            let Op::Loop { params, body, .. } = &mut inst.op else {
                inst.op.regions_mut().into_iter().for_each(|nested| self.region(nested, times));
                continue;
            };
            let iterations = params.first().and_then(|param| self.iterations.get(param)).copied();
            let in_all = iterations.zip(times).map(|(inner, outer)| inner.saturating_mul(outer));
            if has_loop(body) {
                self.region(body, in_all);
                continue;
            }
            let few = iterations.is_some_and(|iterations| iterations <= FEW) || in_all.is_some_and(|iterations| iterations <= FEW_IN_ALL);
            if !few {
                self.repeat(inst);
            }
        }
    }

    fn repeat(&mut self, inst: &mut Inst) {
        let Op::Loop { body, .. } = &inst.op else { return };
        let mut size = 0;
        body.walk(&mut |inst| {
            size += match &inst.op {
                Op::Load { ptr, .. } | Op::Store { ptr, .. } if self.function.ty(*ptr) == Type::Ptr(Space::Private) => PRIVATE_ACCESS,
                // Drivers copy them.
                Op::Call(callee, _) => {
                    self.soft_doubles.and_then(|module| module.functions.get(callee.index())).map_or(1, |callee| callee.body.size())
                }
                _ => 1,
            };
        });
        let copies = (ALL_COPIES / (size + 1)).min(COPIES);
        if copies >= 2 {
            self.changed |= repeat(self.function, &self.constants, inst, copies);
        }
    }
}

/// Does so many turns of a loop that goes on in one place in one, or about as many where the number of turns is known to be a multiple of that: then there is
/// one test for all of them. False for other loops.
fn repeat(function: &mut Function, constants: &Constants, inst: &mut Inst, copies: usize) -> bool {
    let Some(plain) = PlainLoop::of(&inst.op) else { return false };
    let exact = Counted::fixed(function, &plain, constants, MAX_ITERATIONS).and_then(|(counted, iterations)| {
        Some((counted.test, (copies / 2 + 1..=copies).rev().find(|&copies| iterations % copies as u64 == 0)?))
    });
    let (tested, copies) = exact.map_or((None, copies), |(test, copies)| (Some(test), copies));
    let span = plain.body.insts.last().map_or(inst.span, |end| end.span);
    let mut insts = plain.insts().to_vec();
    let mut current = plain.next.to_vec();
    for _ in 1..copies {
        current = copy_iteration(function, &plain, current, tested, &mut insts);
    }
    insts.push(Inst::effect(Op::Continue(current), span));
    if let Op::Loop { body, .. } = &mut inst.op {
        body.insts = insts;
    }
    true
}

fn has_loop(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }));
    found
}

#[cfg(test)]
mod tests {
    use super::write_out;
    use crate::ir::{Op, read::read_module};

    /// Whether a loop of so many turns, which moves a vector of that type from global memory to memory of that space, is written out.
    fn is_written_out(iterations: u32, vector: &str, space: &str, by_words: bool) -> bool {
        let text = format!(
            "kernel @f0 \"k\" (%0: ptr.global buffer, %1: ptr.{space} {}) {{
  %2: i32 = const 0
  %3: i32 = const 1
  %4: i32 = const {iterations}
  %5: i32 = const 128
  loop (%6: i32 = %2) {{
    %7: bool = ult %6, %4
    if %7 {{
      yield
    }} else {{
      break
    }}
    %8: i32 = mul %6, %5
    %9: ptr.global = ptr_add %0, %8
    %10: {vector} = load %9 align 4
    store %1, %10 align 4
    %11: i32 = add %6, %3
    continue %11
  }}
  return
}}
",
            if space == "local" { "local 128" } else { "buffer" }
        );
        let mut module = read_module(&text).expect("a module");
        let function = &mut module.functions[0];
        write_out(function, (false, by_words));
        let mut stays = false;
        function.body.walk(&mut |inst| stays |= matches!(inst.op, Op::Loop { .. }));
        !stays
    }

    #[test]
    fn words_of_accesses_count_where_each_is_code() {
        // Ten instructions in a turn, and 2,048 in all; two of them are accesses, which may count for each word.
        for (vector, words) in [("i32", 1), ("i8x4", 4), ("f32x4", 4), ("i64x2", 4), ("i16x16", 16), ("f32x16", 16), ("f64x16", 32)] {
            let most = 2048 / (10 + 2 * (words - 1));
            for space in ["global", "local"] {
                assert!(is_written_out(most, vector, space, true), "{most} iterations of {vector}, {space}");
                assert!(!is_written_out(most + 1, vector, space, true), "{} iterations of {vector}, {space}", most + 1);
                assert!(
                    is_written_out(2048 / 10, vector, space, false) && !is_written_out(2048 / 10 + 1, vector, space, false),
                    "{vector}"
                );
            }
        }
    }
}
