//! Merges the `return`s of a function into one `return` at its end, so that its body can be inlined.
//!
//! ```text
//! if %c {                      if %c {
//!   return %x                    store $ret, %x
//! } else {                       yield
//!   yield              =>      } else {
//! }                              ... the rest, with %r
//! ... the rest                   store $ret, %r
//! return %r                      yield
//!                              }
//!                              %v = load $ret
//!                              return %v
//! ```
//! The returned value is stored in a private variable, which `sroa` removes. If only one region of an `if` or `switch`
//! yields, the code after the instruction moves into this region. If several regions yield, and after loops, a flag
//! records whether the function has returned. The code in deeply nested regions becomes a loop with one iteration and a
//! `break` per `return`, so that the nesting depth stays bounded.

use super::pass::Pass;
use crate::diag::Span;
use crate::ir::visit::replace_uses;
use crate::ir::{CmpOp, Const, Function, Inst, Op, Region, Scalar, Type, Value, Var};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

pub(crate) const PASS: Pass = Pass::function("unify_returns", |function, cx| {
    run(function, cx.pointer_size());
    Ok(true)
});

/// For drivers whose compilers fail for a `return` in a loop ([`Defects::returns_in_loops`](crate::target::Defects)).
/// Changes functions with such a `return` only.
pub(crate) const IN_LOOPS: Pass = Pass::function("returns_in_loops", |function, cx| {
    let mut found = false;
    function.body.walk(&mut |inst| found |= matches!(inst.op, Op::Loop { .. }) && contains_return(inst));
    if found {
        run(function, cx.pointer_size());
    }
    Ok(found)
});

/// Maximum nesting depth that moving code may add.
const MAX_MOVES: usize = 24;

/// Merges the `return`s of a function. `ptr_size` is the size of a pointer in bytes.
pub(crate) fn run(function: &mut Function, ptr_size: u32) {
    let mut returns = 0;
    function.body.walk(&mut |inst| returns += usize::from(matches!(inst.op, Op::Return(_))));
    let last = function.body.insts.last();
    let span = last.map_or(Span::NONE, |inst| inst.span);
    if returns == 0 || (returns == 1 && last.is_some_and(|inst| matches!(inst.op, Op::Return(_)))) {
        return;
    }
    let memory = memory_type(function.returned());
    let size = memory.access_size(ptr_size);
    let slot = (!function.returns.is_empty()).then(|| function.new_var("", size, align_of(size)));
    let body = std::mem::take(&mut function.body);
    let mut pass = Structuring { slot, function };
    let mut insts = pass.sequence(body.insts, None, &[], 0);
    // Without a `yield` the end is unreachable.
    if matches!(insts.last(), Some(Inst { op: Op::Yield(_), .. })) {
        insts.pop();
        let value = pass.load_result(&mut insts, span);
        insts.push(Inst::effect(Op::Return(Vec::from_iter(value)), span));
    }
    function.body = Region { insts };
}

/// Returns the type of a returned value in memory. A `bool` is stored as a byte.
const fn memory_type(ty: Type) -> Type {
    match ty {
        Type::Scalar(Scalar::Bool) | Type::Vector(Scalar::Bool, _) => ty.with_scalar(Scalar::I8),
        other => other,
    }
}

/// Returns the natural alignment of a slot of `size` bytes.
const fn align_of(size: u32) -> u32 {
    if size == 0 { 1 } else { size.next_power_of_two() }
}

struct Structuring<'a> {
    function: &'a mut Function,
    /// The variable for the returned value, or `None` for functions without result.
    slot: Option<Var>,
}

impl Structuring<'_> {
    /// Rewrites the instructions of a region outside of loops, which yields values of types `results`. The new list
    /// contains no `return`. It ends in a `yield` with the same number of values, unless its end is unreachable. Each
    /// `return` sets `flag`, if there is one.
    fn sequence(&mut self, insts: Vec<Inst>, flag: Option<Var>, results: &[Type], depth: usize) -> Vec<Inst> {
        if depth == MAX_MOVES && insts.iter().any(contains_return) {
            return self.single_iteration_loop(insts, flag, results);
        }
        let mut out = Vec::with_capacity(insts.len());
        let mut work = VecDeque::from(insts);
        while let Some(mut inst) = work.pop_front() {
            if !contains_return(&inst) {
                out.push(inst);
                continue;
            }
            let span = inst.span;
            match &mut inst.op {
                Op::Return(values) => {
                    let value = values.first().copied();
                    self.leave(&mut out, span, value, flag);
                    let undefined = self.undefined(&mut out, span, results);
                    out.push(Inst::effect(Op::Yield(undefined), span));
                    return out;
                }
                Op::Loop { body, .. } => {
                    let has_returned = self.flag(&mut out, span);
                    let types: Vec<Type> = inst.results.iter().map(|&result| self.function.ty(result)).collect();
                    self.in_loop(body, has_returned, &types);
                    out.push(inst);
                    self.leave_if(&mut work, has_returned, span);
                }
                Op::If { .. } | Op::Switch { .. } => {
                    let fall_through = inst.op.regions().iter().filter(|region| region.yields()).count();
                    if fall_through > 1 {
                        let has_returned = self.flag(&mut out, span);
                        let types: Vec<Type> = inst.results.iter().map(|&result| self.function.ty(result)).collect();
                        for region in inst.op.regions_mut() {
                            let insts = std::mem::take(&mut region.insts);
                            region.insts = self.sequence(insts, Some(has_returned), &types, depth + 1);
                        }
                        out.push(inst);
                        self.leave_if(&mut work, has_returned, span);
                        continue;
                    }
                    self.move_rest(&mut inst, work.into(), flag, results, depth);
                    let values = results.iter().map(|&ty| self.function.new_value(ty)).collect::<Vec<_>>();
                    let is_unreachable = !inst.op.regions().iter().any(|region| region.yields());
                    inst.results.clone_from(&values);
                    out.push(inst);
                    let op = if is_unreachable { Op::Unreachable } else { Op::Yield(values) };
                    out.push(Inst::effect(op, span));
                    return out;
                }
                _ => {}
            }
        }
        out
    }

    /// Moves the code after `inst` into its region that yields, if there is one, and rewrites all of its regions.
    fn move_rest(&mut self, inst: &mut Inst, mut rest: Vec<Inst>, flag: Option<Var>, results: &[Type], depth: usize) {
        let old_results = std::mem::take(&mut inst.results);
        for region in inst.op.regions_mut() {
            let mut insts = std::mem::take(&mut region.insts);
            if let Some(Inst { op: Op::Yield(values), .. }) = insts.last() {
                let replaced: FxHashMap<Value, Value> = old_results.iter().copied().zip(values.iter().copied()).collect();
                insts.pop();
                if !replaced.is_empty() {
                    replace_uses(&mut rest, &replaced);
                }
                insts.append(&mut rest);
            }
            region.insts = self.sequence(insts, flag, results, depth + 1);
        }
    }

    /// Emits `loop { ...; break }` with a `break` per `return`.
    fn single_iteration_loop(&mut self, insts: Vec<Inst>, flag: Option<Var>, results: &[Type]) -> Vec<Inst> {
        let mut out = Vec::new();
        let span = insts.first().map_or(Span::NONE, |inst| inst.span);
        let has_returned = flag.unwrap_or_else(|| self.flag(&mut out, span));
        let mut body = Region { insts };
        self.in_loop(&mut body, has_returned, results);
        if let Some(Inst { op, .. }) = body.insts.last_mut()
            && let Op::Yield(values) = op
        {
            *op = Op::Break(std::mem::take(values));
        }
        let values = results.iter().map(|&ty| self.function.new_value(ty)).collect::<Vec<_>>();
        let op = Op::Loop { init: Vec::new(), params: Vec::new(), body, unroll: None };
        out.push(Inst { op, results: values.clone(), span });
        out.push(Inst::effect(Op::Yield(values), span));
        out
    }

    /// Replaces each `return` in a loop's body by a `break` that sets `has_returned`. `types` are the types of the
    /// loop's results.
    fn in_loop(&mut self, region: &mut Region, has_returned: Var, types: &[Type]) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            let span = inst.span;
            if !contains_return(&inst) {
                out.push(inst);
                continue;
            }
            match &mut inst.op {
                Op::Return(values) => {
                    let value = values.first().copied();
                    self.leave(&mut out, span, value, Some(has_returned));
                    let undefined = self.undefined(&mut out, span, types);
                    out.push(Inst::effect(Op::Break(undefined), span));
                }
                Op::Loop { body, .. } => {
                    let inner = self.flag(&mut out, span);
                    let inner_types: Vec<Type> = inst.results.iter().map(|&result| self.function.ty(result)).collect();
                    self.in_loop(body, inner, &inner_types);
                    out.push(inst);
                    let cond = self.flag_is_set(&mut out, inner, span);
                    let mut then = Vec::new();
                    self.leave(&mut then, span, None, Some(has_returned));
                    let undefined = self.undefined(&mut then, span, types);
                    then.push(Inst::effect(Op::Break(undefined), span));
                    out.push(Inst::effect(Op::If { cond, then: Region { insts: then }, els: fall_through(span) }, span));
                }
                op => {
                    for nested in op.regions_mut() {
                        self.in_loop(nested, has_returned, types);
                    }
                    out.push(inst);
                }
            }
        }
        region.insts = out;
    }

    /// Stores the returned value, unless it is already stored, and sets the flag.
    fn leave(&mut self, out: &mut Vec<Inst>, span: Span, value: Option<Value>, flag: Option<Var>) {
        if let (Some(value), Some(slot)) = (value, self.slot) {
            let memory = memory_type(self.function.returned());
            let value = if memory == self.function.returned() {
                value
            } else {
                self.function.emit(out, span, memory, Op::Cast(crate::ir::CastOp::ZExt, value))
            };
            self.store(out, span, slot, value);
        }
        if let Some(flag) = flag {
            let one = self.function.emit_bits(out, span, Type::Scalar(Scalar::I8), 1);
            self.store(out, span, flag, one);
        }
    }

    fn store(&mut self, out: &mut Vec<Inst>, span: Span, var: Var, value: Value) {
        let align = self.function.vars[var.index()].align;
        let ptr = self.function.emit(out, span, Type::Ptr(crate::ir::Space::Private), Op::VarAddr(var));
        out.push(Inst::effect(Op::Store { ptr, value, align, volatile: false }, span));
    }

    /// Creates and clears a flag.
    fn flag(&mut self, out: &mut Vec<Inst>, span: Span) -> Var {
        let flag = self.function.new_var("", 1, 1);
        let zero = self.function.emit_bits(out, span, Type::Scalar(Scalar::I8), 0);
        self.store(out, span, flag, zero);
        flag
    }

    fn flag_is_set(&mut self, out: &mut Vec<Inst>, flag: Var, span: Span) -> Value {
        let byte = Type::Scalar(Scalar::I8);
        let ptr = self.function.emit(out, span, Type::Ptr(crate::ir::Space::Private), Op::VarAddr(flag));
        let value = self.function.emit(out, span, byte, Op::Load { ptr, align: 1, volatile: false });
        let zero = self.function.emit_bits(out, span, byte, 0);
        self.function.emit(out, span, Type::BOOL, Op::Cmp(CmpOp::Ne, value, zero))
    }

    /// Inserts `if flag { return }` before the remaining instructions. The returned value must already be stored.
    fn leave_if(&mut self, work: &mut VecDeque<Inst>, flag: Var, span: Span) {
        let mut list = Vec::new();
        let cond = self.flag_is_set(&mut list, flag, span);
        let then = Region { insts: vec![Inst::effect(Op::Return(Vec::new()), span)] };
        list.push(Inst::effect(Op::If { cond, then, els: fall_through(span) }, span));
        for inst in list.into_iter().rev() {
            work.push_front(inst);
        }
    }

    fn undefined(&mut self, out: &mut Vec<Inst>, span: Span, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.function.emit(out, span, ty, Op::Const(Const::Undef))).collect()
    }

    /// Emits a load of the returned value. Returns `None` for functions without result.
    fn load_result(&mut self, out: &mut Vec<Inst>, span: Span) -> Option<Value> {
        let slot = self.slot?;
        let (memory, ret) = (memory_type(self.function.returned()), self.function.returned());
        let align = self.function.vars[slot.index()].align;
        let ptr = self.function.emit(out, span, Type::Ptr(crate::ir::Space::Private), Op::VarAddr(slot));
        let value = self.function.emit(out, span, memory, Op::Load { ptr, align, volatile: false });
        if memory == ret {
            return Some(value);
        }
        let zero = self.function.emit_bits(out, span, memory, 0);
        Some(self.function.emit(out, span, ret, Op::Cmp(CmpOp::Ne, value, zero)))
    }
}

/// Returns a region that only yields.
fn fall_through(span: Span) -> Region {
    Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] }
}

fn contains_return(inst: &Inst) -> bool {
    matches!(inst.op, Op::Return(_)) || inst.op.regions().iter().any(|region| region.insts.iter().any(contains_return))
}
