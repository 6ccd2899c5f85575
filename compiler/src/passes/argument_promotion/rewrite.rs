//! Rewrites functions and calls according to a [`Plan`].

use super::sites::{Object, Site, Sites};
use super::{OBJECT_ALIGN, Plan, Shape};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, Const, Cursor, Func, Function, Inst, Op, Region, Scalar, Space, Type, Value, Var};

/// Rewrites the parameters and results of a function, and the arguments and results of the calls in it. Returns whether
/// anything changed.
pub(super) fn function(function: &mut Function, func: Func, plan: &Plan) -> bool {
    let own = plan.shapes.get(&func);
    let mut calls = false;
    function.body.walk(&mut |inst| calls |= matches!(&inst.op, Op::Call(callee, _) if plan.shapes.contains_key(callee)));
    if own.is_none() && !calls {
        return false;
    }
    if let Some(shapes) = own {
        parameters(function, shapes);
    }
    if calls {
        let sites = sites_of_calls(function, plan).into_iter();
        let mut body = std::mem::take(&mut function.body);
        Calls { plan, sites, function }.region(&mut body);
        function.body = body;
    }
    true
}

/// Returns the targets of the arguments of each call that changes, in program order.
fn sites_of_calls(function: &Function, plan: &Plan) -> Vec<Vec<Option<Site>>> {
    let sites = Sites::of(function);
    let mut list = Vec::new();
    function.body.walk(&mut |inst| {
        if let Op::Call(callee, args) = &inst.op
            && plan.shapes.contains_key(callee)
        {
            list.push(args.iter().map(|&arg| sites.site(arg)).collect());
        }
    });
    list
}

/// Emits the address of a byte of a variable.
fn address(at: &mut Cursor<'_>, var: Var, offset: u32) -> Value {
    let start = at.push(Type::Ptr(Space::Private), Op::VarAddr(var));
    if offset == 0 {
        return start;
    }
    let offset = at.word(offset);
    at.ptr_add(start, offset)
}

/// Creates the variables that replace the pointees. The function initialises these variables from parameters at its
/// start. Where it returns, it also returns the parts that it may have written.
fn parameters(function: &mut Function, shapes: &[Option<Shape>]) {
    let span = function.body.insts.first().map_or(Span::NONE, |inst| inst.span);
    let mut prologue = Vec::new();
    let mut params = Vec::new();
    let mut written = Vec::new();
    for (param, shape) in std::mem::take(&mut function.params).into_iter().zip(shapes) {
        let Some(shape) = shape else {
            params.push(param);
            continue;
        };
        let var = function.new_var("", shape.size.max(1), OBJECT_ALIGN as u32);
        for part in &shape.slices {
            let value = function.new_value(part.ty);
            params.push(value);
            let mut at = Cursor::new(function, &mut prologue, span);
            let ptr = address(&mut at, var, part.offset);
            at.effect(Op::Store { ptr, value, align: part.align, volatile: false });
            if part.written {
                written.push((var, *part));
            }
        }
        // The former parameter becomes a pointer into the new variable.
        let offset = match shape.first {
            Some(first) => function.emit_bits(&mut prologue, span, Type::I32, u64::from((-first) as u32)),
            None => {
                let offset = function.new_value(Type::I32);
                params.push(offset);
                offset
            }
        };
        let mut at = Cursor::new(function, &mut prologue, span);
        let start = address(&mut at, var, 0);
        let op = if at.function.ty(param) == Type::Ptr(Space::Private) {
            Op::PtrAdd(start, offset)
        } else {
            let moved = at.ptr_add(start, offset);
            Op::Cast(CastOp::SpaceCast, moved)
        };
        prologue.push(Inst { op, results: vec![param], span });
    }
    function.params = params;
    function.returns.extend(written.iter().map(|(_, part)| part.ty));
    prologue.append(&mut function.body.insts);
    function.body.insts = prologue;
    if !matches!(function.body.insts.last(), Some(Inst { op: Op::Return(_), .. })) {
        return;
    }
    let Some(Inst { op: Op::Return(mut values), span, .. }) = function.body.insts.pop() else { return };
    let mut insts = std::mem::take(&mut function.body.insts);
    for (var, part) in written {
        let mut at = Cursor::new(function, &mut insts, span);
        let ptr = address(&mut at, var, part.offset);
        values.push(at.push(part.ty, Op::Load { ptr, align: part.align, volatile: false }));
    }
    insts.push(Inst::effect(Op::Return(values), span));
    function.body.insts = insts;
}

struct Calls<'a> {
    plan: &'a Plan,
    sites: std::vec::IntoIter<Vec<Option<Site>>>,
    function: &'a mut Function,
}

impl Calls<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            inst.op.regions_mut().into_iter().for_each(|nested| self.region(nested));
            match &inst.op {
                Op::Call(callee, args) if self.plan.shapes.contains_key(callee) => {
                    let (callee, args) = (*callee, args.clone());
                    self.call(callee, &args, inst, &mut out);
                }
                _ => out.push(inst),
            }
        }
        region.insts = out;
    }

    fn call(&mut self, callee: Func, args: &[Value], inst: Inst, out: &mut Vec<Inst>) {
        let (Some(shapes), Some(sites)) = (self.plan.shapes.get(&callee), self.sites.next()) else { return };
        let (mut given, mut results, mut write_back) = (Vec::new(), inst.results, Vec::new());
        let mut at = Cursor::new(self.function, out, inst.span);
        for ((&arg, shape), site) in args.iter().zip(shapes).zip(sites) {
            // `Planner::analyse_calls` has checked that each replaced argument has a target.
            let (Some(shape), Some(site)) = (shape, site) else {
                given.push(arg);
                continue;
            };
            let Object::Variable(var) = site.object else { continue };
            let size = i64::from(at.function.vars[var.index()].size);
            let start = shape.first.map_or(0, |first| site.constant + first);
            for part in &shape.slices {
                let first = start + i64::from(part.offset);
                // The callee does not access bytes outside of the object, so parts outside of the object are undefined.
                let in_object = u32::try_from(first).ok().filter(|_| first + i64::from(part.ty.access_size(8)) <= size);
                let value = match in_object {
                    Some(offset) => {
                        let ptr = address(&mut at, var, offset);
                        at.push(part.ty, Op::Load { ptr, align: part.align, volatile: false })
                    }
                    None => at.push(part.ty, Op::Const(Const::Undef)),
                };
                given.push(value);
                if part.written {
                    let result = at.function.new_value(part.ty);
                    results.push(result);
                    write_back.extend(in_object.map(|offset| (var, offset, part.align, result)));
                }
            }
            if shape.first.is_none() {
                given.push(offset(&mut at, site.constant, &site.terms));
            }
        }
        let span = inst.span;
        out.push(Inst { op: Op::Call(callee, given), results, span });
        let mut at = Cursor::new(self.function, out, span);
        for (var, offset, align, value) in write_back {
            let ptr = address(&mut at, var, offset);
            at.effect(Op::Store { ptr, value, align, volatile: false });
        }
    }
}

/// Emits the 32-bit sum of a constant and of 32-bit or 64-bit integers.
fn offset(at: &mut Cursor<'_>, constant: i64, terms: &[Value]) -> Value {
    let mut sum = at.word(constant as u32);
    for &term in terms {
        let word = if at.type_of(term) == Type::I64 { at.cast(CastOp::Trunc, term, Scalar::I32) } else { term };
        sum = at.bin(BinOp::Add, sum, word);
    }
    sum
}
