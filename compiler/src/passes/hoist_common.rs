//! Hoists instructions that both regions of an `if` contain. Sinks stores to one address at the end of both regions.
//!
//! ```text
//! if %c {                                         %a = ptr_add %p, %i
//!   %a = ptr_add %p, %i; %x = load %a             %x = load %a
//!   store %q, %x; yield                           %v = if %c { yield %x }
//! } else {                                   =>   else { %z = fmul %x, %y; yield %z }
//!   %b = ptr_add %p, %i; %y = load %b             store %q, %v
//!   %z = fmul %y, %w; store %q, %z; yield
//! }
//! ```
//! On a CPU, an access in an `if` that lanes take differently needs a mask. After the pass, these loads and stores need
//! none, and a region without accesses needs no branch. The CPU's benchmarks `stencil_2d` and `stencil_3d` contain this
//! shape (docs/internals/performance-log.md). Drivers of GPUs do the same in their own compilers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use super::sink_common::defined_in;
use crate::ir::{Function, Inst, Op, Region, Type, Value};

pub(crate) const PASS: Pass = Pass::function("hoist_common", |function, _| {
    let mut body = std::mem::take(&mut function.body);
    let changed = run_in_region(function, &mut body);
    function.body = body;
    Ok(changed)
});

fn run_in_region(function: &mut Function, region: &mut Region) -> bool {
    let mut changed = false;
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        for nested in inst.op.regions_mut() {
            changed |= run_in_region(function, nested);
        }
        let before = out.len();
        let mut after = Vec::new();
        if let Op::If { then, els, .. } = &mut inst.op {
            hoist(function, [then, els], &mut out);
        }
        sink_stores(function, &mut inst, &mut after);
        changed |= out.len() > before || !after.is_empty();
        out.push(inst);
        out.append(&mut after);
    }
    region.insts = out;
    changed
}

/// Moves the instructions that both regions contain to `out`.
fn hoist(function: &Function, [then, els]: [&mut Region; 2], out: &mut Vec<Inst>) {
    let inner = defined_in([&*then, &*els]);
    let mut candidates: FxHashMap<(Op, Type), usize> = FxHashMap::default();
    let mut hoisted_values: FxHashSet<Value> = FxHashSet::default();
    let is_available = |op: &Op, hoisted: &FxHashSet<Value>| {
        let mut available = true;
        op.for_each_operand(|value| available &= !inner.contains(&value) || hoisted.contains(&value));
        available
    };
    for_each_movable(then, |index, inst, result| {
        if is_available(&inst.op, &hoisted_values) {
            candidates.entry((inst.op.clone(), function.ty(result))).or_insert(index);
            hoisted_values.insert(result);
        }
    });
    if candidates.is_empty() {
        return;
    }
    // The values of `els` that a value of `then` replaces.
    let mut replaced: FxHashMap<Value, Value> = FxHashMap::default();
    let mut moved: FxHashSet<usize> = FxHashSet::default();
    let mut removed: FxHashSet<usize> = FxHashSet::default();
    for_each_movable(els, |index, inst, result| {
        let mut op = inst.op.clone();
        op.map_operands(|value| *value = replaced.get(value).copied().unwrap_or(*value));
        if let Some(&same) = candidates.get(&(op, function.ty(result))) {
            moved.insert(same);
            removed.insert(index);
            replaced.insert(result, then.insts[same].results[0]);
        }
    });
    if moved.is_empty() {
        return;
    }
    els.insts = remove(std::mem::take(&mut els.insts), &removed).1;
    let (hoisted, rest) = remove(std::mem::take(&mut then.insts), &moved);
    then.insts = rest;
    out.extend(hoisted);
    els.walk_mut(&mut |inst| inst.op.map_operands(|value| *value = replaced.get(value).copied().unwrap_or(*value)));
}

/// Calls `f` for each instruction of a region that may move before the region, with its index and result: pure
/// operations, and loads before which no other instruction may write or wait.
fn for_each_movable(region: &Region, mut f: impl FnMut(usize, &Inst, Value)) {
    let mut reads_only = true;
    for (index, inst) in region.insts.iter().enumerate() {
        let is_load = matches!(inst.op, Op::Load { volatile: false, .. });
        let movable = inst.op.is_pure() || is_load && reads_only;
        reads_only &= inst.op.is_pure() || is_load;
        if let (true, [result]) = (movable, &*inst.results) {
            f(index, inst, *result);
        }
    }
}

/// Separates the instructions with the given indices from the others.
fn remove(insts: Vec<Inst>, indices: &FxHashSet<usize>) -> (Vec<Inst>, Vec<Inst>) {
    let (mut removed, mut rest) = (Vec::new(), Vec::new());
    for (index, inst) in insts.into_iter().enumerate() {
        if indices.contains(&index) { removed.push(inst) } else { rest.push(inst) }
    }
    (removed, rest)
}

/// Sinks the last stores of both regions below the `if` while they have the same address.
fn sink_stores(function: &mut Function, inst: &mut Inst, after: &mut Vec<Inst>) {
    let Inst { op: Op::If { then, els, .. }, results, .. } = inst else { return };
    if last_store(then).is_none() || last_store(els).is_none() {
        return;
    }
    let inner = defined_in([&*then, &*els]);
    while let (Some(first), Some(second)) = (last_store(then), last_store(els)) {
        let [a, b] = [&then.insts[first], &els.insts[second]];
        let (Op::Store { ptr, value, align, .. }, Op::Store { ptr: other, value: other_value, align: other_align, .. }) = (&a.op, &b.op)
        else {
            return;
        };
        let (ptr, value, other_value, align) = (*ptr, *value, *other_value, (*align).min(*other_align));
        let ty = function.ty(value);
        if ptr != *other || inner.contains(&ptr) || ty != function.ty(other_value) {
            return;
        }
        let span = a.span;
        then.insts.remove(first);
        els.insts.remove(second);
        let merged = if value == other_value && !inner.contains(&value) {
            value
        } else {
            for (region, value) in [(&mut *then, value), (&mut *els, other_value)] {
                if let Some(Inst { op: Op::Yield(values), .. }) = region.insts.last_mut() {
                    values.push(value);
                }
            }
            let merged = function.new_value(ty);
            results.push(merged);
            merged
        };
        // The stores are found from the last one to the first one.
        after.insert(0, Inst { results: Vec::new(), op: Op::Store { ptr, value: merged, align, volatile: false }, span });
    }
}

/// Returns the index of the last store of a region that yields, if only pure operations follow it.
fn last_store(region: &Region) -> Option<usize> {
    let (end, rest) = region.insts.split_last()?;
    let index = rest.iter().rposition(|inst| !inst.op.is_pure())?;
    (matches!(end.op, Op::Yield(_)) && matches!(rest[index].op, Op::Store { volatile: false, .. })).then_some(index)
}
