//! Conditions without jumps, for a device that jumps over nothing (lavapipe, which does both sides of an `if` and blends what they give): where both sides only
//! compute and fetch ([`super::clean`]), they are done one after the other and a `select` takes the results. The driver has no masks to keep, and less to
//! compile.
//!
//! ```text
//! %r = if %c {                         %x = load ...
//!   %x = load ...                 =>   %y = sub %a, %x
//!   %y = sub %a, %x                    %r = select %c, %y, %a
//!   yield %y
//! } else { yield %a }
//! ```
//! Fetching beyond the end of a buffer gives zero, as any access there does.

use rustc_hash::FxHashSet;

use super::clean;
use super::pass::Pass;
use crate::analysis::definitions::{Definitions, Root};
use crate::ir::{Inst, Module, Op, Region, Value};
use crate::launch::LaunchKey;

pub(crate) const PASS: Pass = Pass::module("flatten", |module, cx| {
    run(module, cx.key);
    Ok(true)
});

/// Flattens what can be flattened.
fn run(module: &mut Module, key: &LaunchKey) {
    let fetched = fetched(module, key);
    for (index, function) in module.functions.iter_mut().enumerate() {
        let none = FxHashSet::default();
        region(&mut function.body, if index == 0 { &fetched } else { &none });
    }
}

/// Results of the kernel's loads that are probably fetched; where they are not in the end, they are loads that check their bounds.
fn fetched(module: &Module, key: &LaunchKey) -> FxHashSet<Value> {
    let mut found = FxHashSet::default();
    let Some(kernel) = module.functions.first() else { return found };
    let clean = clean::loads(module);
    let definitions = Definitions::new(kernel, 0);
    kernel.body.walk(&mut |inst| {
        if let (Op::Load { ptr, .. }, [result]) = (&inst.op, &inst.results[..])
            && clean.contains(result)
            && let Some((Root::Param(index), _)) = definitions.pointer(*ptr)
            && key.binding.texel_args.contains(&index)
        {
            found.insert(*result);
        }
    });
    found
}

fn region(region_: &mut Region, fetched: &FxHashSet<Value>) {
    let mut out = Vec::with_capacity(region_.insts.len());
    for mut inst in std::mem::take(&mut region_.insts) {
        for nested in inst.op.regions_mut() {
            region(nested, fetched);
        }
        match inst.op {
            Op::If { cond, then, els } if flat(&then, fetched) && flat(&els, fetched) => {
                let (yes, no) = (append(then, &mut out), append(els, &mut out));
                for (result, (yes, no)) in inst.results.into_iter().zip(yes.into_iter().zip(no)) {
                    out.push(Inst { op: Op::Select(cond, yes, no), results: vec![result], span: inst.span });
                }
            }
            op => out.push(Inst { op, ..inst }),
        }
    }
    region_.insts = out;
}

/// Whether a side only computes and fetches.
fn flat(side: &Region, fetched: &FxHashSet<Value>) -> bool {
    let Some((Inst { op: Op::Yield(_), .. }, insts)) = side.insts.split_last() else { return false };
    insts.iter().all(|inst| match &inst.op {
        Op::Load { .. } => inst.results.first().is_some_and(|result| fetched.contains(result)),
        op => op.is_pure(),
    })
}

/// Appends a side's instructions; what it yields.
fn append(mut side: Region, out: &mut Vec<Inst>) -> Vec<Value> {
    let last = side.insts.pop();
    out.append(&mut side.insts);
    match last {
        Some(Inst { op: Op::Yield(values), .. }) => values,
        _ => Vec::new(),
    }
}
