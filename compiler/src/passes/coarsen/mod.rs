//! Thread coarsening: one invocation does the work of several neighbouring work-items, so that contiguous accesses
//! are merged.
//!
//! ```text
//! %i = workitem global_id.0                        %g = workitem global_id.0;  %i = shl %g, 2
//! %o = shl %i, 2                                   %o = shl %i, 2
//! %x = load f32 (ptradd %a, %o) align 4     =>     %v = load f32x4 (ptradd %a, %o) align 16
//! %y = fmul %x, %x                                 %x0 = extract %v, 0 ... %y0 = fmul %x0, %x0 ...
//! store (ptradd %b, %o), %y align 4                store (ptradd %b, %o), (construct %y0, %y1, %y2, %y3) align 16
//! ```
//! In OpenCL, only barriers and atomics order work-items, so the work-items of a kernel without barriers may be
//! interleaved instruction by instruction. Without coarsening, a kernel that copies bytes executes as many instructions
//! as a kernel that copies `uint4`, but moves a sixteenth of the data.
//!
//! The pass only changes a kernel if [`lanes`] finds that this is profitable. All of these conditions must hold:
//! * The kernel does not depend on its work-group ([`super::group_independent()`]).
//! * Its work-items take the same path, except in branches without loops and jumps.
//! * All accesses with a constant nonzero stride can be merged.
//!
//! The body of a guard such as `if (i < n)` gets a second version. The launch ensures that the global size is a
//! multiple of the number of work-items per invocation, and that enough invocations remain
//! ([`BindingKey::coarsen`](crate::launch::BindingKey::coarsen)).

mod jam;
mod lanes;

use rustc_hash::FxHashMap;

use super::pass::Pass;
use crate::ir::{Function, Inst, Op, Region, Scalar, Type, Value, WorkItem};

/// Maximum size in bytes of a merged access.
pub(super) const WIDEST: u32 = 16;

/// Maximum number of instructions of a coarsened kernel.
const MAX_INSTRUCTIONS: usize = 2048;

/// This is a module pass, because it must inspect callees: it does not coarsen a kernel if a callee queries the global
/// id in dimension 0.
pub const PASS: Pass = Pass::module("coarsen", |module, cx| {
    let is_id_query = |inst: &Inst| matches!(inst.op, Op::WorkItem(WorkItem::GlobalId(0)));
    for callee in module.functions.iter().skip(1) {
        let mut found = false;
        callee.body.walk(&mut |inst| found |= is_id_query(inst));
        if found {
            return Ok(false);
        }
    }
    let Some(function) = module.functions.first_mut().filter(|_| cx.key.binding.coarsen > 1) else { return Ok(false) };
    let count = run(function, cx.key.binding.coarsen);
    let Some(kernel) = function.kernel.as_mut().filter(|_| count > 1) else { return Ok(false) };
    kernel.coarsening_log2 = count.trailing_zeros() as u8;
    Ok(true)
});

/// Rewrites a kernel for at most `most` work-items per invocation, a power of two. Returns the number of work-items per
/// invocation, which is 1 if the kernel does not change. Expects the form that `resolve_pointers` and `shrink_int64`
/// produce.
pub fn run(function: &mut Function, most: u32) -> u32 {
    if most < 2 || function.kernel.is_none() || !function.vars.is_empty() {
        return 1;
    }
    let mut body = function.body.clone();
    structure_guards(&mut body);
    query_id_once(function, &mut body);
    let Some(found) = lanes::analyse(function, &body, most) else { return 1 };
    if body.size().saturating_mul(found.count as usize) > MAX_INSTRUCTIONS {
        return 1;
    }
    function.body = body;
    jam::run(function, &found);
    found.count
}

/// Moves the code after `if (...) return;` into the other branch, so that the function only returns at its end.
fn structure_guards(body: &mut Region) {
    let returns = |region: &Region| matches!(region.terminator(), Some(Op::Return(_))) && region.insts.len() == 1;
    let guard = body.insts.iter().position(|inst| {
        matches!(&inst.op, Op::If { then, els, .. } if inst.results.is_empty() && ((returns(then) && els.yields()) || (returns(els) && then.yields())))
    });
    let Some(guard) = guard else { return };
    let mut rest: Vec<_> = body.insts.drain(guard + 1..).collect();
    let Some(end) = rest.pop() else { return };
    let Some(inst) = body.insts.last_mut() else { return };
    let span = inst.span;
    if !matches!(end.op, Op::Return(_)) {
        // If the code after the guard does not return, the guard's `return` is the only one and can stay.
        body.insts.extend(rest);
        body.insts.push(end);
        return;
    }
    if let Op::If { then, els, .. } = &mut inst.op {
        let (out, stay) = if returns(then) { (then, els) } else { (els, then) };
        out.insts = vec![crate::ir::Inst::effect(Op::Yield(Vec::new()), span)];
        let yielded = stay.insts.pop();
        stay.insts.extend(rest);
        stay.insts.push(crate::ir::Inst::effect(Op::Return(Vec::new()), span));
        structure_guards(stay);
        // In the branch, a `yield` replaces the kernel's `return`.
        stay.insts.pop();
        stay.insts.extend(yielded);
    }
    body.insts.push(end);
}

/// Replaces all queries of the global id in dimension 0 by one query at the start of the kernel.
fn query_id_once(function: &mut Function, body: &mut Region) {
    let mut others = Vec::new();
    body.walk(&mut |inst| {
        if let (Op::WorkItem(WorkItem::GlobalId(0)), Some(&result)) = (&inst.op, inst.results.first()) {
            others.push((result, inst.span));
        }
    });
    let Some(&(_, span)) = others.first() else { return };
    let mut first = Vec::new();
    let id = function.emit(&mut first, span, Type::I32, Op::WorkItem(WorkItem::GlobalId(0)));
    let renamed: FxHashMap<Value, Value> = others.into_iter().map(|(other, _)| (other, id)).collect();
    remove(body, &renamed);
    body.walk_mut(&mut |inst| {
        inst.op.map_operands(|value| *value = renamed.get(value).copied().unwrap_or(*value));
    });
    first.append(&mut body.insts);
    body.insts = first;
}

/// Removes the instructions that define `values`.
fn remove(region: &mut Region, values: &FxHashMap<Value, Value>) {
    region.insts.retain(|inst| !inst.results.first().is_some_and(|result| values.contains_key(result)));
    for inst in &mut region.insts {
        inst.op.regions_mut().into_iter().for_each(|nested| remove(nested, values));
    }
}

/// Returns the size in bytes of an access of type `ty`. Returns `None` for accesses that cannot be merged: `bool`,
/// pointers, and sizes that are not a power of two.
pub(super) fn element(ty: Type) -> Option<u32> {
    let scalar = ty.scalar()?;
    let size = scalar.size() * u32::from(ty.lanes());
    (scalar != Scalar::Bool && size.is_power_of_two()).then_some(size)
}

/// Returns the type in memory of `count` merged accesses of type `ty`, and the vector type of their values.
pub(super) fn wide(ty: Type, count: u32) -> Option<(Type, Type)> {
    let scalar = ty.scalar()?;
    let lanes = count * u32::from(ty.lanes());
    let vector = Type::of(scalar, u8::try_from(lanes).ok()?);
    let memory = match (lanes * scalar.size(), scalar.size()) {
        // Narrow elements are loaded and stored as words.
        (16, 1 | 2) => Type::of(Scalar::I32, 4),
        (8, 1 | 2) => Type::of(Scalar::I32, 2),
        (4, 1 | 2) => Type::I32,
        _ => vector,
    };
    Some((memory, vector))
}
