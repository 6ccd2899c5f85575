//! Unrolls loops.
//!
//! ```text
//! %r = loop (%i = 0, %s = %x) {
//!   if ult %i, 2 { yield } else { break %s }
//!   %t = add %s, %i                               %t = add %x, 0
//!   continue add %i, 1; %t                 =>     %u = add %t, 1
//! }                                               ... %u for %r
//! ```
//! * A loop with a known trip count is fully unrolled if the result is small. The limit is larger if the loop indexes a
//!   private array that is only indexed by counters of such loops: `sroa` then promotes the array. For CPUs, large
//!   loops of this kind are unrolled by the period of their indices (`unroll_periodic`).
//!   `opencl_unroll_hint` raises the limit or forbids unrolling. With a factor, the loop gets that many copies of its
//!   body instead, or as many as the limit allows.
//! * Some drivers stop loops after a number of iterations
//!   ([`Defects::max_loop_iterations`](crate::target::Defects::max_loop_iterations)). For these drivers, a loop with a
//!   small body is partially unrolled if it has many iterations or an unknown number. Each copy has its own test. If
//!   the trip count is a known multiple of the number of copies, one test covers all copies:
//!
//! ```text
//! loop (%p = %a) {              loop (%p = %a) {
//!   if f(%p) { break }            if f(%p) { break }
//!   continue g(%p)                %q = g(%p)
//! }                               if f(%q) { break }
//!                                 continue g(%q)
//!                               }
//! ```
//! * Some drivers copy registers at the end of each iteration, because they assign other registers to the next values
//!   of loop-carried values ([`Costs::copies_carried_values`](crate::target::Costs::copies_carried_values)). For these
//!   drivers, a loop that carries many values is partially unrolled, if the trip count is a known multiple of the
//!   number of copies.
//!
//! Partial unrolling raises the number of iterations after which the driver stops the loop, but does not remove this
//! limit.
//!
//! Only innermost loops with a single latch at the end of their body are unrolled. After full unrolling of a loop, the
//! enclosing loop may become an innermost loop.

use super::loop_copies::{copy, copy_iteration};
use super::pass::Pass;
use super::unroll_periodic::{Input, Plan};
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Constants;
use crate::analysis::loops::trips::Trips;
use crate::analysis::loops::{Counted, SingleLatchLoop};
use crate::ir::{Function, Inst, Module, Op, Region, Scalar, Space, Type, Value, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of instructions of a fully unrolled loop.
const MAX_SIZE: usize = 2048;

/// Like [`MAX_SIZE`], for loops that index a private array. Also applies to loops with an unroll hint, unless
/// `Costs::per_word_accesses` is set.
const MAX_PREFERRED_SIZE: usize = 8192;

/// Maximum number of instructions that all unrolling adds to a function.
const MAX_GROWTH: usize = 16_384;

/// Maximum trip count of a fully unrolled loop. Each iteration has at least one instruction.
const MAX_ITERATIONS: u64 = MAX_PREFERRED_SIZE as u64;

/// The largest trip count that partial unrolling computes. A loop with a larger trip count is not unrolled by its hint.
/// If such a loop is unrolled for another reason, each copy has its own test.
pub(super) const MAX_COUNTED: u64 = 1 << 16;

/// Maximum number of copies of a partially unrolled body.
const MAX_COPIES: usize = 8;

/// Approximate maximum number of instructions of all copies of a body.
const MAX_COPIES_SIZE: usize = 192;

/// Loops that carry at least this number of scalars are partially unrolled for drivers that copy carried values. A
/// matrix product with 4 x 4 results per work-item carries 16.
pub(super) const MANY_CARRIED: usize = 16;

/// Maximum number of scalar operations of all copies of a body that carries many values. (H200, driver 580.159, five
/// matrix products of CLBlast: the best kernels have 256 products per iteration, which are 400 to 480 operations. With
/// twice as many, the times vary between launches. With 1,024 products, two kernels take 1.06 and 1.15 of the time.)
const MAX_CARRYING_SIZE: usize = 480;

/// The weight of an access to private memory, in instructions. lavapipe emits one access per work-item of its vector.
const PRIVATE_ACCESS: usize = 24;

/// The weight of an operation on emulated doubles (`crate::doubles`), in instructions. It is expanded later.
const SOFT_DOUBLE: usize = 64;

/// The weight of an atomic operation on a `half`, in instructions. It becomes a loop.
const HALF_ATOMIC: usize = 64;

/// Loops with at most this many iterations are not partially unrolled. After the exit, the driver executes the rest of
/// the copies without active lanes, which would cost as much as unrolling saves.
const FEW_ITERATIONS: u64 = 16;

/// Like [`FEW_ITERATIONS`], for the product of the iterations of a loop and of the enclosing loops.
const FEW_ITERATIONS_IN_ALL: u64 = 4096;

/// The pass for full unrolling.
pub(crate) const PASS: Pass = Pass::function("unroll", |function, cx| {
    let costs = Costs {
        emulates_doubles: cx.target.emulates_doubles(),
        per_word: cx.target.shaders.costs.per_word_accesses && !cx.target.native,
        native: cx.target.native,
    };
    Ok(fully_unroll(function, costs))
});

/// The pass for partial unrolling of loops that carry many values, in [`SPECIALISE`](super::SPECIALISE).
pub(crate) const CARRYING: Pass = Pass::function("unroll_carrying", |function, _| Ok(unroll_carrying(function)));

/// The pass for partial unrolling of loops with small bodies, in [`LEGALIZE`](super::LEGALIZE).
pub(crate) const LAST: Pass =
    Pass::function("unroll_last", |function, cx| Ok(partially_unroll_all(function, cx.target.emulates_doubles().then_some(cx.module))));

/// Partially unrolls innermost loops that carry many values. Returns whether any loop was unrolled.
fn unroll_carrying(function: &mut Function) -> bool {
    let constants = Constants::of(&function.body);
    let mut body = std::mem::take(&mut function.body);
    let mut changed = false;
    body.walk_mut(&mut |inst| {
        let Op::Loop { params, body, unroll: None, .. } = &inst.op else { return };
        let lanes = |value: Value| usize::from(function.ty(value).lanes().max(1));
        if has_loop(body) || params.iter().map(|&param| lanes(param)).sum::<usize>() <= MANY_CARRIED {
            return;
        }
        let (mut size, mut synchronises) = (1, false);
        body.walk(&mut |inst| {
            size += match inst.op {
                Op::Const(_) | Op::Construct(_) | Op::Extract(..) => 0,
                _ => inst.results.iter().map(|&result| lanes(result)).sum(),
            };
            synchronises |= matches!(inst.op, Op::Barrier(_) | Op::Group { .. } | Op::Call(..) | Op::Image { .. });
        });
        let Some(latch_loop) = SingleLatchLoop::of(&inst.op).filter(|_| !synchronises) else { return };
        let Some((_, iterations)) = Counted::fixed(function, &latch_loop, &constants, MAX_COUNTED) else { return };
        let copies = (MAX_CARRYING_SIZE / size).min(MAX_COPIES);
        let Some(copies) = divisor_near(iterations, copies).filter(|&copies| copies >= 2) else { return };
        if partially_unroll(function, &constants, inst, copies) {
            changed = true;
            if let Op::Loop { unroll, .. } = &mut inst.op {
                *unroll = Some(1);
            }
        }
    });
    function.body = body;
    changed
}

/// Partially unrolls innermost loops. Returns whether any loop was unrolled. `emulation` is the module, if it contains
/// functions that emulate doubles.
fn partially_unroll_all(function: &mut Function, emulation: Option<&Module>) -> bool {
    let constants = Constants::of(&function.body);
    let iterations = Trips::of(function).into_iterations();
    let mut body = std::mem::take(&mut function.body);
    let mut pass = PartialUnroll { function, emulation, constants, iterations, changed: false };
    pass.region(&mut body, Some(1));
    let changed = pass.changed;
    function.body = body;
    changed
}

/// The costs of code on a target.
#[derive(Clone, Copy)]
struct Costs {
    /// Whether doubles will be emulated.
    emulates_doubles: bool,
    /// `Costs::per_word_accesses` of the target.
    per_word: bool,
    /// Whether the target is a CPU.
    native: bool,
}

/// Unrolls innermost loops that satisfy the limits: fully, by the factor of their hint, or by their period. Returns
/// whether any loop was unrolled.
fn fully_unroll(function: &mut Function, costs: Costs) -> bool {
    let constants = Constants::of(&function.body);
    let addresses = Addresses::of(function, &function.body);
    let mut body = std::mem::take(&mut function.body);
    let mut pass =
        FullUnroll { function, costs, constants, addresses, unpromoted: FxHashSet::default(), growth: 0, replaced: FxHashMap::default() };
    if !pass.function.vars.is_empty() {
        pass.unpromoted = pass.unpromoted(&body);
    }
    pass.region(&mut body);
    let changed = pass.growth > 0;
    function.body = body;
    changed
}

struct FullUnroll<'a> {
    function: &'a mut Function,
    costs: Costs,
    constants: Constants,
    addresses: Addresses,
    /// Private variables that stay in memory after unrolling, because an index into them does not become constant.
    unpromoted: FxHashSet<Var>,
    growth: usize,
    /// Replacements for the results of fully unrolled loops.
    replaced: FxHashMap<Value, Value>,
}

impl FullUnroll<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            self.rename(&mut inst);
            if let Op::Loop { body, .. } = &inst.op
                && !has_loop(body)
            {
                // The body is not visited further, so replace its operands here.
                if let Op::Loop { body, .. } = &mut inst.op {
                    self.rename_all(body);
                }
                if !self.fully_unroll(&inst, &mut out) {
                    self.apply_factor(&mut inst);
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

    /// Fully unrolls a counted loop. Returns false if the loop cannot or should not be unrolled.
    fn fully_unroll(&mut self, inst: &Inst, out: &mut Vec<Inst>) -> bool {
        let Op::Loop { unroll, .. } = &inst.op else { return false };
        if *unroll == Some(1) {
            return false;
        }
        let Some(latch_loop) = SingleLatchLoop::of(&inst.op) else { return false };
        let Some((counted, iterations)) = Counted::fixed_anywhere(self.function, &latch_loop, &self.constants, MAX_ITERATIONS) else {
            return false;
        };
        let periodic = self.periodic(&latch_loop, &counted, iterations);
        let iterations = usize::try_from(iterations).unwrap_or(usize::MAX);
        let indexes_private = self.indexes_private(latch_loop.body);
        if unroll.is_some_and(|factor| factor != 0 && (factor as usize) < iterations) && !indexes_private {
            return false;
        }
        // For a driver that emits each word of an access, a hint does not make code cheaper, so it does not raise the
        // limit.
        let has_reason = indexes_private || unroll.is_some() && !self.costs.per_word;
        let size = if has_reason { latch_loop.body.size().max(1) } else { self.weight(latch_loop.body) };
        let once_more = usize::from(counted.test * 2 > latch_loop.body.insts.len());
        let copies = periodic.as_ref().map_or(iterations, Plan::copies);
        let total = size.saturating_mul(copies.saturating_add(once_more));
        let limit = if has_reason { MAX_PREFERRED_SIZE } else { MAX_SIZE };
        if total > limit || self.growth + total > MAX_GROWTH {
            return false;
        }
        self.growth += total.max(1);
        let mut current = latch_loop.init.to_vec();
        if let Some(plan) = periodic {
            current = plan.emit(self.function, &latch_loop, &counted, out);
        } else {
            for _ in 0..iterations {
                current = copy_iteration(self.function, &latch_loop, current, Some(counted.test), out);
            }
        }
        // The code before the test executes once more than the code after the test.
        let mut map: FxHashMap<Value, Value> = latch_loop.params.iter().copied().zip(current).collect();
        for inst in &latch_loop.body.insts[..counted.test] {
            let copy = copy(self.function, inst, &mut map);
            out.push(copy);
        }
        for (&result, value) in inst.results.iter().zip(counted.break_values) {
            self.replaced.insert(result, map.get(value).copied().unwrap_or(*value));
        }
        true
    }

    /// Returns how to unroll a loop that indexes a private array by its period, instead of fully.
    fn periodic(&self, latch_loop: &SingleLatchLoop<'_>, counted: &Counted<'_>, iterations: u64) -> Option<Plan> {
        if !self.costs.native || !self.indexes_private(latch_loop.body) {
            return None;
        }
        let input = Input { function: self.function, constants: &self.constants, addresses: &self.addresses, unpromoted: &self.unpromoted };
        Plan::of(&input, latch_loop, counted, iterations)
    }

    /// Partially unrolls a loop with a known trip count by the factor of its hint.
    fn apply_factor(&mut self, inst: &mut Inst) {
        let Op::Loop { unroll: Some(factor @ 2..), body, .. } = &inst.op else { return };
        let size = self.weight(body);
        let copies = (*factor as usize).min(MAX_SIZE / size).min(MAX_GROWTH.saturating_sub(self.growth) / size);
        let iterations = SingleLatchLoop::of(&inst.op)
            .and_then(|latch_loop| Counted::fixed_anywhere(self.function, &latch_loop, &self.constants, MAX_COUNTED))
            .map_or(0, |(_, iterations)| iterations);
        let mut synchronises = false;
        body.walk(&mut |inst| synchronises |= matches!(inst.op, Op::Barrier(_) | Op::Group { .. }));
        // If no suitable number of copies divides the trip count, each copy has its own test. This is not possible with
        // barriers.
        let divides = divisor_near(iterations, copies).is_some();
        if copies < 2 || iterations == 0 || synchronises && !divides || !partially_unroll(self.function, &self.constants, inst, copies) {
            return;
        }
        self.growth += size * (copies - 1);
        if let Op::Loop { unroll, .. } = &mut inst.op {
            *unroll = Some(1);
        }
    }

    /// Returns the number of instructions of a body after the later expansion of its accesses and doubles.
    fn weight(&self, body: &Region) -> usize {
        let mut size = body.size().max(1);
        body.walk(&mut |inst| {
            if is_half_atomic(&inst.op) {
                size += HALF_ATOMIC;
            }
        });
        if self.costs.per_word {
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
        if self.costs.emulates_doubles {
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

    /// Whether the body accesses a private variable at an offset that becomes constant by unrolling.
    fn indexes_private(&self, body: &Region) -> bool {
        let mut found = false;
        body.walk(&mut |inst| {
            if let Op::PtrAdd(base, offset) = &inst.op {
                let promoted = self.addresses.variable(*base).is_some_and(|(var, _)| !self.unpromoted.contains(&var));
                found |= promoted && self.constants.bits(*offset).is_none();
            }
        });
        found
    }

    /// Finds private variables with an index that is not constant after all counted loops are unrolled.
    fn unpromoted(&self, body: &Region) -> FxHashSet<Var> {
        let mut known = vec![false; self.function.values.len()];
        self.find_constants(body, &mut known);
        let mut unpromoted = FxHashSet::default();
        body.walk(&mut |inst| {
            if let Op::PtrAdd(base, offset) = &inst.op
                && let Some((var, _)) = self.addresses.variable(*base)
                && !known[offset.index()]
            {
                unpromoted.insert(var);
            }
        });
        unpromoted
    }

    /// Marks the values that are constant after all counted loops are unrolled.
    fn find_constants(&self, region: &Region, known: &mut Vec<bool>) {
        for inst in &region.insts {
            if let Op::Loop { init, params, body, .. } = &inst.op {
                let fixed = |latch_loop: &SingleLatchLoop<'_>| {
                    Counted::fixed_anywhere(self.function, latch_loop, &self.constants, MAX_ITERATIONS).is_some()
                };
                let latch_loop = SingleLatchLoop::of(&inst.op).filter(fixed);
                for (&param, start) in params.iter().zip(init) {
                    known[param.index()] = latch_loop.is_some() && known[start.index()];
                }
                // A parameter with an unknown value in `continue` is unknown in the next iteration.
                loop {
                    self.find_constants(body, known);
                    let next = latch_loop.as_ref().map_or(&[][..], |latch_loop| latch_loop.next);
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
                self.find_constants(nested, known);
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
                // A load from a constant offset in private memory may become constant as well.
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

/// Partially unrolls loops.
struct PartialUnroll<'a> {
    function: &'a mut Function,
    /// The module with the functions that emulate doubles. `None` if doubles are not emulated.
    emulation: Option<&'a Module>,
    constants: Constants,
    /// Upper bounds for the iterations of loops, by their first parameter.
    iterations: FxHashMap<Value, u64>,
    changed: bool,
}

impl PartialUnroll<'_> {
    /// Visits a region. `times` is an upper bound for the number of times that the region executes, if it is known.
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
            let few = iterations.is_some_and(|iterations| iterations <= FEW_ITERATIONS)
                || in_all.is_some_and(|iterations| iterations <= FEW_ITERATIONS_IN_ALL);
            if !few {
                self.partially_unroll(inst);
            }
        }
    }

    fn partially_unroll(&mut self, inst: &mut Inst) {
        let Op::Loop { body, .. } = &inst.op else { return };
        let mut size = 0;
        body.walk(&mut |inst| {
            size += match &inst.op {
                Op::Load { ptr, .. } | Op::Store { ptr, .. } if self.function.ty(*ptr) == Type::Ptr(Space::Private) => PRIVATE_ACCESS,
                op if is_half_atomic(op) => HALF_ATOMIC,
                // Drivers inline calls, so the size of the callee counts.
                Op::Call(callee, _) => {
                    self.emulation.and_then(|module| module.functions.get(callee.index())).map_or(1, |callee| callee.body.size())
                }
                _ => 1,
            };
        });
        let copies = (MAX_COPIES_SIZE / (size + 1)).min(MAX_COPIES);
        if copies >= 2 {
            self.changed |= partially_unroll(self.function, &self.constants, inst, copies);
        }
    }
}

/// Whether an operation is an atomic operation on a `half` or its bits.
const fn is_half_atomic(op: &Op) -> bool {
    matches!(op, Op::Atomic { ty: Scalar::I16 | Scalar::F16, .. } | Op::CmpXchg { ty: Scalar::I16 | Scalar::F16, .. })
}

/// Returns the largest divisor of a trip count that is greater than half of `copies` and at most `copies`.
fn divisor_near(iterations: u64, copies: usize) -> Option<usize> {
    (copies / 2 + 1..=copies).rev().find(|&copies| iterations.is_multiple_of(copies as u64))
}

/// Unrolls a loop with a single latch `copies` times. Uses a smaller number, of more than half of `copies`, if it
/// divides the trip count: one test then covers all copies. Returns false for other loops.
fn partially_unroll(function: &mut Function, constants: &Constants, inst: &mut Inst, copies: usize) -> bool {
    let Some(latch_loop) = SingleLatchLoop::of(&inst.op) else { return false };
    let exact = Counted::fixed(function, &latch_loop, constants, MAX_COUNTED)
        .and_then(|(counted, iterations)| Some((counted.test, divisor_near(iterations, copies)?)));
    let (tested, copies) = exact.map_or((None, copies), |(test, copies)| (Some(test), copies));
    let span = latch_loop.body.insts.last().map_or(inst.span, |end| end.span);
    let mut insts = latch_loop.insts().to_vec();
    let mut current = latch_loop.next.to_vec();
    for _ in 1..copies {
        current = copy_iteration(function, &latch_loop, current, tested, &mut insts);
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
    use super::{Costs, fully_unroll};
    use crate::ir::{Op, read::read_module};

    /// Whether a loop that copies a vector of this type from global memory to memory of this space is fully unrolled.
    fn is_fully_unrolled(iterations: u32, vector: &str, space: &str, per_word: bool) -> bool {
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
        fully_unroll(function, Costs { emulates_doubles: false, per_word, native: false });
        let mut stays = false;
        function.body.walk(&mut |inst| stays |= matches!(inst.op, Op::Loop { .. }));
        !stays
    }

    /// Returns the number of stores after unrolling a loop with a hint, and whether the loop stays.
    fn with_hint(iterations: u32, hint: u32, per_word: bool, between: &str) -> (usize, bool) {
        let text = format!(
            "kernel @f0 \"k\" (%0: ptr.global buffer, %1: ptr.global buffer) {{
  %2: i32 = const 0
  %3: i32 = const 1
  %4: i32 = const {iterations}
  loop (%5: i32 = %2) unroll {hint} {{
    %6: bool = ult %5, %4
    if %6 {{
      yield
    }} else {{
      break
    }}
    store %1, %5 align 4
{between}    %7: i32 = add %5, %3
    continue %7
  }}
  return
}}
"
        );
        let mut module = read_module(&text).expect("a module");
        fully_unroll(&mut module.functions[0], Costs { emulates_doubles: false, per_word, native: false });
        let (mut stores, mut stays) = (0, false);
        module.functions[0].body.walk(&mut |inst| {
            stores += usize::from(matches!(inst.op, Op::Store { .. }));
            stays |= matches!(inst.op, Op::Loop { .. });
        });
        (stores, stays)
    }

    #[test]
    fn hints_with_factors_are_applied() {
        for per_word in [false, true] {
            // The factors 8 and 5 divide their trip counts. For the factor 9, the smaller number 8 divides the trip
            // count. For the factor 3, each copy has a test.
            assert_eq!(with_hint(256, 8, per_word, ""), (8, true));
            assert_eq!(with_hint(256, 9, per_word, ""), (8, true));
            assert_eq!(with_hint(7, 3, per_word, ""), (3, true));
            assert_eq!(with_hint(20_000, 5, per_word, ""), (5, true));
            // The factor is at least the trip count, or missing.
            assert_eq!(with_hint(7, 7, per_word, ""), (7, false));
            assert_eq!(with_hint(7, 20, per_word, ""), (7, false));
            assert_eq!(with_hint(16, 0, per_word, ""), (16, false));
            // The hint forbids unrolling.
            assert_eq!(with_hint(16, 1, per_word, ""), (1, true));
            // Loops with barriers are only unrolled if one test covers all copies.
            assert_eq!(with_hint(7, 3, per_word, "    barrier local\n"), (1, true));
            assert_eq!(with_hint(8, 4, per_word, "    barrier local\n"), (4, true));
        }
    }

    #[test]
    fn hints_stay_within_the_limits() {
        let (stores, stays) = with_hint(8192, 4096, true, "");
        assert!(stays && (100..=512).contains(&stores), "{stores} stores");
        assert_eq!(with_hint(8192, 0, true, ""), (1, true));
    }

    #[test]
    fn wide_accesses_count_once_per_word() {
        // An iteration has ten instructions, two of which are accesses. The limit for all iterations is 2,048. Accesses
        // may count once per word.
        for (vector, words) in [("i32", 1), ("i8x4", 4), ("f32x4", 4), ("i64x2", 4), ("i16x16", 16), ("f32x16", 16), ("f64x16", 32)] {
            let most = 2048 / (10 + 2 * (words - 1));
            for space in ["global", "local"] {
                assert!(is_fully_unrolled(most, vector, space, true), "{most} iterations of {vector}, {space}");
                assert!(!is_fully_unrolled(most + 1, vector, space, true), "{} iterations of {vector}, {space}", most + 1);
                assert!(
                    is_fully_unrolled(2048 / 10, vector, space, false) && !is_fully_unrolled(2048 / 10 + 1, vector, space, false),
                    "{vector}"
                );
            }
        }
    }
}
