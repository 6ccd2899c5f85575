//! Reduces a failing program: removes constants, and replaces other instructions by constants, while the program still
//! fails.
//!
//! Example: `shrink(&module, &|module| run(module).is_err())`.

use wgcl_compiler::ir::verify::verify;
use wgcl_compiler::ir::{Const, Inst, Module, Op, Region, Type};

/// Returns the smallest valid program that was found and for which `fails` holds.
pub fn shrink(module: &Module, fails: &dyn Fn(&Module) -> bool) -> Module {
    let mut best = module.clone();
    for _ in 0..4 {
        let before = best.functions.iter().map(|function| function.body.size()).sum::<usize>();
        for function in 0..best.functions.len() {
            let mut index = 0;
            while index < best.functions[function].body.size() {
                let mut candidate = best.clone();
                let body = std::mem::take(&mut candidate.functions[function].body);
                let mut at = index;
                let types: Vec<Type> = candidate.functions[function].values.iter().map(|value| value.ty).collect();
                candidate.functions[function].body = without(body, &mut at, &types);
                if verify(&candidate).is_ok() && fails(&candidate) && candidate.functions[function].body != best.functions[function].body {
                    best = candidate;
                } else {
                    index += 1;
                }
            }
        }
        if best.functions.iter().map(|function| function.body.size()).sum::<usize>() == before {
            break;
        }
    }
    best
}

/// Returns the region without instruction number `at`. A constant is removed. Other instructions are replaced by
/// constants of their result types.
fn without(region: Region, at: &mut usize, types: &[Type]) -> Region {
    let mut out = Vec::new();
    for mut inst in region.insts {
        let here = *at == 0;
        *at = at.wrapping_sub(1);
        let constant = matches!(inst.op, Op::Const(_));
        if here && constant {
            continue;
        }
        if here && !inst.op.is_terminator() {
            for &result in &inst.results {
                let ty = types[result.index()];
                let constant = match ty {
                    Type::Ptr(_) => Const::Null,
                    ty => Const::splat(ty, 1),
                };
                out.push(Inst { op: Op::Const(constant), results: vec![result], span: inst.span });
            }
            *at = at.wrapping_sub(inst.op.regions().iter().map(|region| region.size()).sum());
            continue;
        }
        for nested in inst.op.regions_mut() {
            *nested = without(std::mem::take(nested), at, types);
        }
        out.push(inst);
    }
    Region { insts: out }
}
