//! Reports uses of uninitialised private variables, for the sanitizer (`WGCL_CHECK`).
//!
//! ```text
//! %1 = load $x                           store -1, $x'                  (at the start of the function)
//! %2 = add %1, %0                   =>   %1 = load $x
//! if %c { ... }                          %3 = load $x'                  shadow of %1
//! store %2, %p                           %2 = add %1, %0
//!                                        %4 = or %3, neg %3             shadow of %2
//!                                        if ne %4, 0 { undefined_use store "x" }
//!                                        store %2, %p
//! ```
//! A bit of a shadow is 1 if the same bit of the value is undefined. Copies, selections and arithmetic pass shadows on,
//! so they are not reported. Reported are branches, addresses, stores to memory that other work-items or the host can
//! read, and operands of operations that others can observe. A copy of a structure is not reported, because programs
//! copy structures of which only some members have a value.
//!
//! Variables have a shadow variable. `sroa` promotes it together with the variable, and `simplify` folds the shadows of
//! values that are defined. Shadows that cross the border of a region also use variables.

mod plan;
mod shadow;

use rustc_hash::FxHashMap;

use super::pass::Pass;
use crate::analysis::addresses::Addresses;
use crate::diag::Span;
use crate::ir::{Build as _, CastOp, Function, Inst, Op, Region, Scalar, Space, Type, UndefinedUse, Value, Var};
use plan::Plan;

pub(crate) const PASS: Pass = Pass::function("undefined_uses", |function, cx| Ok(run(function, cx.pointer_size())));

/// Adds the reports to a function. `ptr_size` is the size of a pointer in bytes. Returns whether the function changed.
pub(crate) fn run(function: &mut Function, ptr_size: u32) -> bool {
    if function.vars.is_empty() {
        return false;
    }
    let addresses = Addresses::of(function, &function.body);
    let plan = Plan::of(function, &addresses, ptr_size);
    if plan.values.is_empty() {
        return false;
    }
    let body = std::mem::take(&mut function.body);
    let pointer = Scalar::int_of_size(ptr_size).unwrap_or(Scalar::I64);
    let mut rewrite = Rewrite {
        function,
        addresses,
        plan,
        pointer,
        shadow_vars: FxHashMap::default(),
        carried: FxHashMap::default(),
        shadows: FxHashMap::default(),
        loops: Vec::new(),
    };
    let start = rewrite.shadow_variables();
    rewrite.function.body = rewrite.region(body, start, &[]);
    true
}

struct Rewrite<'a> {
    function: &'a mut Function,
    addresses: Addresses,
    plan: Plan,
    /// The integer type of the size of a pointer.
    pointer: Scalar,
    /// The shadow variables of suspect variables.
    shadow_vars: FxHashMap<Var, Var>,
    /// The variables with the shadows of suspect results of regions and of parameters of loops.
    carried: FxHashMap<Value, Var>,
    /// The shadows of suspect values.
    shadows: FxHashMap<Value, Value>,
    /// The parameters and results of the enclosing loops.
    loops: Vec<(Vec<Value>, Vec<Value>)>,
}

impl Rewrite<'_> {
    /// Creates the shadow variables. Returns the instructions that initialise them.
    fn shadow_variables(&mut self) -> Vec<Inst> {
        let mut vars: Vec<Var> = self.plan.vars.keys().copied().collect();
        vars.sort_unstable();
        let mut out = Vec::new();
        for var in vars {
            let (size, align) = (self.function.vars[var.index()].size, self.function.vars[var.index()].align);
            let shadow = self.function.new_var("", size, align);
            self.shadow_vars.insert(var, shadow);
            let is_source = self.plan.sources.contains(&var);
            let mut at = self.at(&mut out, Span::NONE);
            let base = at.push(Type::Ptr(Space::Private), Op::VarAddr(shadow));
            if !is_source {
                at.effect(Op::Zero { dst: base, size, align });
                continue;
            }
            let mut offset = 0;
            while offset < size {
                let step = [4, 2, 1].into_iter().find(|step| offset % step == 0 && size - offset >= *step && align >= *step).unwrap_or(1);
                let scalar = Scalar::int_of_size(step).unwrap_or(Scalar::I8);
                let by = at.word(offset);
                let ptr = at.ptr_add(base, by);
                let value = at.bits(Type::Scalar(scalar), scalar.mask());
                at.effect(Op::Store { ptr, value, align: scalar.size(), volatile: false });
                offset += scalar.size();
            }
        }
        out
    }

    fn is_suspect(&self, value: Value) -> bool {
        self.plan.values.contains_key(&value)
    }

    /// Returns the shadow of a value, or zeros if the value is defined.
    fn shadow(&mut self, out: &mut Vec<Inst>, span: Span, value: Value) -> Value {
        if let Some(&shadow) = self.shadows.get(&value) {
            return shadow;
        }
        let ty = self.shadow_type(self.function.ty(value));
        self.at(out, span).bits(ty, 0)
    }

    /// Rewrites a region whose yields define `results`. `out` contains its first instructions.
    fn region(&mut self, region: Region, mut out: Vec<Inst>, results: &[Value]) -> Region {
        for inst in region.insts {
            self.inst(inst, &mut out, results);
        }
        Region { insts: out }
    }

    fn inst(&mut self, mut inst: Inst, out: &mut Vec<Inst>, results: &[Value]) {
        let span = inst.span;
        match &mut inst.op {
            Op::Yield(values) => self.carry(out, span, values, results),
            Op::Continue(values) => {
                let params = self.loops.last().map(|(params, _)| params.clone()).unwrap_or_default();
                self.carry(out, span, values, &params);
            }
            Op::Break(values) => {
                let results = self.loops.last().map(|(_, results)| results.clone()).unwrap_or_default();
                self.carry(out, span, values, &results);
            }
            Op::If { cond, .. } => self.check(out, span, UndefinedUse::Branch, *cond),
            Op::Switch { selector, .. } => self.check(out, span, UndefinedUse::Branch, *selector),
            Op::Loop { init, params, .. } => self.carry(out, span, &init.clone(), &params.clone()),
            Op::Load { ptr, .. } | Op::Zero { dst: ptr, .. } => self.check(out, span, UndefinedUse::Address, *ptr),
            Op::Store { ptr, value, .. } => {
                self.check(out, span, UndefinedUse::Address, *ptr);
                if matches!(self.function.ty(*ptr), Type::Ptr(Space::Global | Space::Local)) {
                    self.check(out, span, UndefinedUse::Store, *value);
                }
            }
            Op::Copy { dst, src, .. } => {
                self.check(out, span, UndefinedUse::Address, *dst);
                self.check(out, span, UndefinedUse::Address, *src);
            }
            Op::Atomic { ptr, value, .. } => {
                self.check(out, span, UndefinedUse::Address, *ptr);
                value.iter().for_each(|&value| self.check(out, span, UndefinedUse::Operand, value));
            }
            Op::CmpXchg { ptr, expected, desired, .. } => {
                self.check(out, span, UndefinedUse::Address, *ptr);
                self.check(out, span, UndefinedUse::Operand, *expected);
                self.check(out, span, UndefinedUse::Operand, *desired);
            }
            Op::Group { args, .. } | Op::Image { args, .. } | Op::Printf { args, .. } => {
                args.iter().for_each(|&arg| self.check(out, span, UndefinedUse::Operand, arg));
            }
            _ => {}
        }
        self.rewrite_regions(&mut inst);
        out.push(inst);
        // A copy of the instruction without its regions, which the shadows do not need.
        let Some(last) = out.last() else { return };
        if last.op.is_terminator() {
            return;
        }
        let (results, op) = (last.results.clone(), if last.op.regions().is_empty() { Some(last.op.clone()) } else { None });
        match op {
            None => self.receive(out, span, &results),
            Some(op) => self.define(out, span, &op, &results),
        }
    }

    /// Rewrites the regions of an instruction.
    fn rewrite_regions(&mut self, inst: &mut Inst) {
        let span = inst.span;
        if let Op::Loop { params, body, .. } = &mut inst.op {
            let params = params.clone();
            let mut start = Vec::new();
            self.receive(&mut start, span, &params);
            self.loops.push((params, inst.results.clone()));
            *body = self.region(std::mem::take(body), start, &[]);
            self.loops.pop();
            return;
        }
        for region in inst.op.regions_mut() {
            *region = self.region(std::mem::take(region), Vec::new(), &inst.results);
        }
    }

    /// Emits the shadows of the results of an instruction without regions.
    fn define(&mut self, out: &mut Vec<Inst>, span: Span, op: &Op, results: &[Value]) {
        let shadow_at = |rewrite: &Self, pointer: Value| {
            let (var, offset) = rewrite.addresses.fixed(pointer)?;
            Some((*rewrite.shadow_vars.get(&var)?, u32::try_from(offset).ok()?))
        };
        match *op {
            Op::Load { ptr, align, .. } => {
                if let (Some(place), [result]) = (shadow_at(self, ptr), results) {
                    let ty = self.shadow_type(self.function.ty(*result));
                    let ptr = self.pointer_to(out, span, place);
                    let shadow = self.at(out, span).push(ty, Op::Load { ptr, align, volatile: false });
                    self.shadows.insert(*result, shadow);
                }
            }
            Op::Store { ptr, value, align, .. } => {
                if let Some(place) = shadow_at(self, ptr) {
                    let value = self.shadow(out, span, value);
                    let ptr = self.pointer_to(out, span, place);
                    self.at(out, span).effect(Op::Store { ptr, value, align, volatile: false });
                }
            }
            Op::Zero { dst, size, align } => {
                if let Some(place) = shadow_at(self, dst) {
                    let dst = self.pointer_to(out, span, place);
                    self.at(out, span).effect(Op::Zero { dst, size, align });
                }
            }
            Op::Copy { dst, src, size, align } => {
                if let Some(place) = shadow_at(self, dst) {
                    let dst = self.pointer_to(out, span, place);
                    let copy = match shadow_at(self, src) {
                        Some(place) => Op::Copy { dst, src: self.pointer_to(out, span, place), size, align },
                        None => Op::Zero { dst, size, align },
                    };
                    self.at(out, span).effect(copy);
                }
            }
            ref op => {
                let Some(&result) = results.first().filter(|&&result| self.is_suspect(result)) else { return };
                let ty = self.function.ty(result);
                let shadow = self.operation(out, span, op, ty);
                self.shadows.insert(result, shadow);
            }
        }
    }

    fn pointer_to(&mut self, out: &mut Vec<Inst>, span: Span, (var, offset): (Var, u32)) -> Value {
        let mut at = self.at(out, span);
        let base = at.push(Type::Ptr(Space::Private), Op::VarAddr(var));
        let by = at.word(offset);
        at.ptr_add(base, by)
    }

    /// Stores the shadows of values that become suspect results or parameters.
    fn carry(&mut self, out: &mut Vec<Inst>, span: Span, values: &[Value], to: &[Value]) {
        for (&value, &to) in values.iter().zip(to) {
            if !self.is_suspect(to) {
                continue;
            }
            let var = self.carrier(to);
            let shadow = self.shadow(out, span, value);
            let mut at = self.at(out, span);
            let ty = at.type_of(shadow);
            let value = if ty.scalar() == Some(Scalar::Bool) { at.cast(CastOp::ZExt, shadow, Scalar::I8) } else { shadow };
            let ptr = at.push(Type::Ptr(Space::Private), Op::VarAddr(var));
            at.effect(Op::Store { ptr, value, align: 1, volatile: false });
        }
    }

    /// Loads the shadows of suspect results or parameters.
    fn receive(&mut self, out: &mut Vec<Inst>, span: Span, values: &[Value]) {
        for &value in values {
            if !self.is_suspect(value) {
                continue;
            }
            let var = self.carrier(value);
            let ty = self.shadow_type(self.function.ty(value));
            let is_bool = ty.scalar() == Some(Scalar::Bool);
            let mut at = self.at(out, span);
            let ptr = at.push(Type::Ptr(Space::Private), Op::VarAddr(var));
            let stored = if is_bool { ty.with_scalar(Scalar::I8) } else { ty };
            let loaded = at.push(stored, Op::Load { ptr, align: 1, volatile: false });
            let shadow = if is_bool { at.cmp_bits(crate::ir::CmpOp::Ne, loaded, 0) } else { loaded };
            self.shadows.insert(value, shadow);
        }
    }

    /// The variable with the shadow of a result or parameter.
    fn carrier(&mut self, value: Value) -> Var {
        if let Some(&var) = self.carried.get(&value) {
            return var;
        }
        let ty = self.shadow_type(self.function.ty(value));
        let size = if ty.scalar() == Some(Scalar::Bool) { u32::from(ty.lanes()) } else { ty.access_size(self.pointer.size()) };
        let var = self.function.new_var("", size, size.next_power_of_two());
        self.carried.insert(value, var);
        var
    }

    /// Reports the use of a value if one of its bits is undefined.
    fn check(&mut self, out: &mut Vec<Inst>, span: Span, what: UndefinedUse, value: Value) {
        let Some(origins) = self.plan.values.get(&value) else { return };
        let names = origins.iter().map(|var| self.function.vars[var.index()].name.clone()).collect();
        let Some(&shadow) = self.shadows.get(&value) else { return };
        let cond = self.any(out, span, shadow);
        let report = Inst::effect(Op::UndefinedUse { what, names }, span);
        let then = Region { insts: vec![report, Inst::effect(Op::Yield(Vec::new()), span)] };
        let els = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        self.at(out, span).effect(Op::If { cond, then, els });
    }
}
