//! Replaces switches that contain a barrier, or a `break` or `continue` of a loop around them, by `if`s.
//!
//! ```text
//! switch %s { case 1, 2 { A } default { B } }      =>      if (%s == 1 or %s == 2) { A } else { B }
//! ```

use crate::ir::{BinOp, CmpOp, Const, Function, Inst, Op, Region, Type};

/// Replaces the switches of a kernel whose regions contain a barrier, or a `break` or `continue` of a loop around them.
pub(in super::super) fn expand(function: &mut Function) {
    let mut body = std::mem::take(&mut function.body);
    region(function, &mut body);
    function.body = body;
}

fn region(function: &mut Function, list: &mut Region) {
    for inst in std::mem::take(&mut list.insts) {
        list.insts.extend(expanded(function, inst));
    }
}

fn expanded(function: &mut Function, mut inst: Inst) -> Vec<Inst> {
    inst.op.regions_mut().into_iter().for_each(|nested| region(function, nested));
    let grouped = matches!(inst.op, Op::Switch { .. })
        && (super::super::control::contains_jump(&inst) || inst.op.regions().into_iter().any(super::super::kernel::has_barrier));
    if !grouped {
        return vec![inst];
    }
    let Op::Switch { selector, cases, default } = inst.op else { return vec![inst] };
    let (results, span, ty) = (inst.results, inst.span, function.ty(selector));
    let types: Vec<Type> = results.iter().map(|&result| function.ty(result)).collect();
    let count = cases.len();
    // Build from the last case to the first. The `else` region contains the later cases.
    let mut otherwise = default;
    for (index, (values, then)) in cases.into_iter().enumerate().rev() {
        let mut insts = Vec::new();
        let mut hit = None;
        for value in values {
            let number = function.emit(&mut insts, span, ty, Op::Const(Const::Bits(value)));
            let equal = function.emit(&mut insts, span, Type::BOOL, Op::Cmp(CmpOp::Eq, selector, number));
            hit = Some(match hit {
                Some(hit) => function.emit(&mut insts, span, Type::BOOL, Op::Bin(BinOp::Or, hit, equal)),
                None => equal,
            });
        }
        let Some(cond) = hit else { continue };
        let if_results = if index == 0 { results.clone() } else { types.iter().map(|&ty| function.new_value(ty)).collect() };
        let els = std::mem::take(&mut otherwise);
        insts.push(Inst { op: Op::If { cond, then, els }, results: if_results.clone(), span });
        if index > 0 {
            insts.push(Inst { op: Op::Yield(if_results), results: Vec::new(), span });
        }
        otherwise = Region { insts };
    }
    if count == 0 {
        return vec![Inst { op: Op::Switch { selector, cases: Vec::new(), default: otherwise }, results, span }];
    }
    otherwise.insts
}
