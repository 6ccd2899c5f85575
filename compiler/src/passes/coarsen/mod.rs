//! Lets one invocation do the work of several neighbouring work-items, so that what they read and write side by side becomes one access.
//!
//! ```text
//! %i = workitem global_id.0                        %g = workitem global_id.0;  %i = shl %g, 2
//! %o = shl %i, 2                                   %o = shl %i, 2
//! %x = load f32 (ptradd %a, %o) align 4     =>     %v = load f32x4 (ptradd %a, %o) align 16
//! %y = fmul %x, %x                                 %x0 = extract %v, 0 ... %y0 = fmul %x0, %x0 ...
//! store (ptradd %b, %o), %y align 4                store (ptradd %b, %o), (construct %y0, %y1, %y2, %y3) align 16
//! ```
//! OpenCL orders nothing between work-items but by barriers and atomics: those of a kernel that has no barriers may take turns instruction by instruction.
//! A copy of bytes by single work-items costs a device as many instructions and invocations as a copy of `uint4` that moves sixteen times as much.
//!
//! Done where it is sure to pay: for kernels that cannot tell how they are grouped ([`super::group_blind()`]), whose work-items take the same path (but for a guard
//! such as `if (i < n)`, which gets a second version of its body), and of whose accesses at neighbouring addresses all can be merged. [`lanes`] finds that out.
//! The launch sees to it that the global size is a multiple of the number taken, and that enough invocations are left
//! ([`BindingKey::coarsen`](crate::launch::BindingKey::coarsen)).

mod jam;
mod lanes;

use rustc_hash::FxHashMap;

use super::pass::Pass;
use crate::ir::{Function, Inst, Op, Region, Scalar, Type, Value, WorkItem};

/// Bytes of the accesses that come out, at most.
pub(super) const WIDEST: u32 = 16;

/// Instructions that a kernel may come to have.
const LARGEST: usize = 2048;

/// The pass: works on a module, for helpers would have to be told which work-item asks.
pub const PASS: Pass = Pass::module("coarsen", |module, cx| {
    let asks = |inst: &Inst| matches!(inst.op, Op::WorkItem(WorkItem::GlobalId(0)));
    for helper in module.functions.iter().skip(1) {
        let mut found = false;
        helper.body.walk(&mut |inst| found |= asks(inst));
        if found {
            return Ok(false);
        }
    }
    let Some(function) = module.functions.first_mut().filter(|_| cx.key.binding.coarsen > 1) else { return Ok(false) };
    let count = run(function, cx.key.binding.coarsen);
    let Some(kernel) = function.kernel.as_mut().filter(|_| count > 1) else { return Ok(false) };
    kernel.coarse = count.trailing_zeros() as u8;
    Ok(true)
});

/// Rewrites a kernel for several work-items an invocation, `most` at most (a power of two), and says how many: 1 where it stays as it is. Expects the form
/// that `resolve_pointers` and `narrow` leave.
pub fn run(function: &mut Function, most: u32) -> u32 {
    if most < 2 || function.kernel.is_none() || !function.vars.is_empty() {
        return 1;
    }
    let mut body = function.body.clone();
    structure_guards(&mut body);
    ask_once(function, &mut body);
    let Some(found) = lanes::find(function, &body, most) else { return 1 };
    if body.size().saturating_mul(found.count as usize) > LARGEST {
        return 1;
    }
    function.body = body;
    jam::run(function, &found);
    found.count
}

/// Moves what follows `if (...) return;` into the other branch, so that the function returns at its end only.
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
        // Unreachable: nothing to gain.
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
        // What is left at the end is the return of the kernel, here a yield.
        stay.insts.pop();
        stay.insts.extend(yielded);
    }
    body.insts.push(end);
}

/// Asks for the global id in one place, at the beginning.
fn ask_once(function: &mut Function, body: &mut Region) {
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

/// Removes the instructions that define those values.
fn remove(region: &mut Region, values: &FxHashMap<Value, Value>) {
    region.insts.retain(|inst| !inst.results.first().is_some_and(|result| values.contains_key(result)));
    for inst in &mut region.insts {
        inst.op.regions_mut().into_iter().for_each(|nested| remove(nested, values));
    }
}

/// Bytes of an access that can be one of several in a wider one.
pub(super) fn element(ty: Type) -> Option<u32> {
    let scalar = ty.scalar()?;
    let size = scalar.size() * u32::from(ty.lanes());
    (scalar != Scalar::Bool && size.is_power_of_two()).then_some(size)
}

/// The type that `count` accesses made one have in memory, and that of the vector which it is to the program.
pub(super) fn wide(ty: Type, count: u32) -> Option<(Type, Type)> {
    let scalar = ty.scalar()?;
    let lanes = count * u32::from(ty.lanes());
    let vector = Type::of(scalar, u8::try_from(lanes).ok()?);
    let memory = match (lanes * scalar.size(), scalar.size()) {
        // Narrow elements travel in words.
        (16, 1 | 2) => Type::of(Scalar::I32, 4),
        (8, 1 | 2) => Type::of(Scalar::I32, 2),
        (4, 1 | 2) => Type::I32,
        _ => vector,
    };
    Some((memory, vector))
}
