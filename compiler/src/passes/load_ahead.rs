//! Loads the data of the next iteration before the work of the current one (software pipelining), in loops that carry
//! many values.
//!
//! ```text
//!                                              %x0 = load %a + start
//! loop (%i = start, %s = ...) {                loop (%i = start, %s = ..., %x = %x0) {
//!   if slt %i, %n { yield } else { break %s }    if slt %i, %n { yield } else { break %s }
//!   %x = load %a + %i                            %next = select (eq %i, last), %i, (add %i, 1)
//!   ... work with %x                      =>     %y = load %a + %next
//!   continue add %i, 1; %t                       ... work with %x
//! }                                              continue add %i, 1; %t; %y
//!                                              }
//! ```
//! A loop that carries many values has many registers, so few subgroups run at the same time. Then they do not hide the
//! latency of loads. (H200, driver 580.159: a product of 2,048 x 2,048 matrices with 4 x 4 results per work-item takes
//! 730 us. With this pass and `unroll_carrying`, it takes 647 us. NVIDIA's OpenCL takes 646 us.)
//!
//! The last iteration loads its own data again, so no load is out of bounds. Candidates are innermost loops with a
//! known trip count, and without stores, synchronisation and nested control flow. The addresses of the loads depend
//! only on the counter and on loop-invariant values. A loop whose program already loads ahead does not change: its
//! loads are only used in the next iteration.

use rustc_hash::{FxHashMap, FxHashSet};

use super::loop_copies::copy;
use super::pass::Pass;
use super::unroll::{MANY_CARRIED, MAX_COUNTED};
use crate::analysis::definitions::Constants;
use crate::analysis::loops::{Counted, SingleLatchLoop};
use crate::ir::{BinOp, Build, CmpOp, Cursor, Function, Inst, Op, Region, Space, Type, Value};

pub(crate) const PASS: Pass = Pass::function("load_ahead", |function, _| Ok(run(function)));

/// Maximum number of scalars that are loaded ahead. They need registers during the whole iteration.
const MAX_AHEAD: usize = 48;

/// Minimum trip count.
const MIN_ITERATIONS: u64 = 4;

/// Rewrites loops. Returns whether any loop changed.
fn run(function: &mut Function) -> bool {
    let constants = Constants::of(&function.body);
    let mut body = std::mem::take(&mut function.body);
    let changed = region(function, &constants, &mut body);
    function.body = body;
    changed
}

fn region(function: &mut Function, constants: &Constants, region_: &mut Region) -> bool {
    let mut changed = false;
    let mut out = Vec::with_capacity(region_.insts.len());
    for mut inst in std::mem::take(&mut region_.insts) {
        for nested in inst.op.regions_mut() {
            changed |= region(function, constants, nested);
        }
        if let Some(plan) = Plan::of(function, constants, &inst) {
            plan.apply(function, &mut inst, &mut out);
            changed = true;
        }
        out.push(inst);
    }
    region_.insts = out;
    changed
}

/// The loads of a loop that are executed one iteration ahead.
struct Plan {
    /// The positions of the loads in the body, in order.
    loads: Vec<usize>,
    /// The positions of the loads and of the instructions that compute their addresses, in order.
    slice: Vec<usize>,
    /// The position of the test in the body.
    test: usize,
    /// The counter among the parameters, its type, its step and its value in the last iteration.
    counter: usize,
    ty: Type,
    step: u64,
    last: u64,
}

impl Plan {
    fn of(function: &Function, constants: &Constants, inst: &Inst) -> Option<Self> {
        let latch_loop = SingleLatchLoop::of(&inst.op)?;
        let lanes = |value: Value| usize::from(function.ty(value).lanes().max(1));
        if latch_loop.params.iter().map(|&param| lanes(param)).sum::<usize>() <= MANY_CARRIED {
            return None;
        }
        let (counted, iterations) = Counted::fixed(function, &latch_loop, constants, MAX_COUNTED)?;
        let Counted { test, counter, ty, step: (BinOp::Add, step), .. } = counted else { return None };
        let (start, step) = (constants.bits(latch_loop.init[counter])?, constants.bits(step)?);
        let scalar = ty.scalar().filter(|_| matches!(ty, Type::I32 | Type::I64) && iterations >= MIN_ITERATIONS)?;
        let last = start.wrapping_add(step.wrapping_mul(iterations - 1)) & scalar.mask();
        let insts = latch_loop.insts();
        // The values of the loop that do not depend only on the counter and invariant values.
        let counter_value = latch_loop.params[counter];
        let mut other: FxHashSet<Value> = latch_loop.params.iter().copied().filter(|&param| param != counter_value).collect();
        let mut definitions: FxHashMap<Value, usize> = FxHashMap::default();
        let (mut loads, mut ahead) = (Vec::new(), 0);
        for (at, inst) in insts.iter().enumerate().filter(|&(at, _)| at != test) {
            let mut depends = false;
            inst.op.for_each_operand(|operand| depends |= other.contains(&operand));
            match inst.op {
                Op::Load { ptr, volatile: false, .. } => {
                    let &[result] = &inst.results[..] else { return None };
                    let is_buffer = matches!(function.ty(ptr), Type::Ptr(Space::Global | Space::Constant));
                    other.insert(result);
                    if is_buffer && !depends && function.ty(result).space().is_none() {
                        ahead += lanes(result);
                        loads.push(at);
                    }
                }
                ref op if op.is_pure() && op.regions().is_empty() => {
                    if depends {
                        other.extend(&inst.results);
                    }
                    definitions.extend(inst.results.iter().map(|&result| (result, at)));
                }
                _ => return None,
            }
        }
        let mut used: FxHashSet<Value> = FxHashSet::default();
        insts.iter().for_each(|inst| inst.op.for_each_operand(|operand| used.extend([operand])));
        if loads.is_empty() || ahead > MAX_AHEAD || !loads.iter().all(|&at| used.contains(&insts[at].results[0])) {
            return None;
        }
        let slice = slice(insts, &loads, &definitions);
        Some(Self { loads, slice, test, counter, ty, step, last })
    }

    /// Rewrites the loop. Appends the loads of the first iteration to `out`.
    fn apply(&self, function: &mut Function, inst: &mut Inst, out: &mut Vec<Inst>) {
        let span = inst.span;
        let Op::Loop { init, params, body, .. } = &mut inst.op else { return };
        let counter = params[self.counter];
        let copies = |function: &mut Function, from: Value, out: &mut Vec<Inst>| -> Vec<Value> {
            let mut map = FxHashMap::from_iter([(counter, from)]);
            for &at in &self.slice {
                let made = copy(function, &body.insts[at], &mut map);
                out.push(made);
            }
            self.loads.iter().map(|&at| map[&body.insts[at].results[0]]).collect()
        };
        let first = copies(function, init[self.counter], out);
        let mut next = Vec::new();
        let mut at = Cursor::new(function, &mut next, span);
        let (last, step) = (at.bits(self.ty, self.last), at.bits(self.ty, self.step));
        let is_last = at.cmp(CmpOp::Eq, counter, last);
        let after = at.bin(BinOp::Add, counter, step);
        let from = at.select(is_last, counter, after);
        let loaded = copies(function, from, &mut next);
        // The results of the loads become parameters.
        init.extend(first);
        params.extend(self.loads.iter().map(|&at| body.insts[at].results[0]));
        let mut insts = Vec::with_capacity(body.insts.len() + next.len());
        for (at, mut inst) in std::mem::take(&mut body.insts).into_iter().enumerate() {
            if self.loads.contains(&at) {
                continue;
            }
            if let Op::Continue(values) = &mut inst.op {
                values.extend(&loaded);
            }
            insts.push(inst);
            if at == self.test {
                insts.append(&mut next);
            }
        }
        body.insts = insts;
    }
}

/// Returns the positions of some loads and of the instructions of the loop that compute their addresses.
fn slice(insts: &[Inst], loads: &[usize], definitions: &FxHashMap<Value, usize>) -> Vec<usize> {
    let mut slice: Vec<usize> = loads.to_vec();
    let mut next = 0;
    while let Some(&at) = slice.get(next) {
        next += 1;
        insts[at].op.for_each_operand(|operand| {
            if let Some(&definition) = definitions.get(&operand)
                && !slice.contains(&definition)
            {
                slice.push(definition);
            }
        });
    }
    slice.sort_unstable();
    slice
}
