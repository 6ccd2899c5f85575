//! Checks that the formats of `printf` do not come from a kernel's arguments. The check follows pointers through
//! inlined functions, which the front end cannot do.

use rustc_hash::FxHashSet;

use crate::ir::{CastOp, Function, Op, Region, Value};

/// Whether a kernel calls `printf` with a format that may be in the memory of an argument.
pub(crate) fn format_is_argument(kernel: &Function) -> bool {
    let mut formats = Vec::new();
    kernel.body.walk(&mut |inst| {
        if let Op::Printf { format: None, args } = &inst.op {
            formats.extend(args.first().copied());
        }
    });
    if formats.is_empty() {
        return false;
    }
    let mut derived: FxHashSet<Value> = kernel.params.iter().copied().collect();
    loop {
        let before = derived.len();
        add_derived(&kernel.body, &mut derived);
        if derived.len() == before {
            break;
        }
    }
    formats.iter().any(|format| derived.contains(format))
}

/// Adds the results of operations on pointers in `derived`. One call visits each instruction once. The caller must
/// repeat the call until the set does not change.
fn add_derived(region: &Region, derived: &mut FxHashSet<Value>) {
    for inst in &region.insts {
        inst.op.regions().into_iter().for_each(|nested| add_derived(nested, derived));
        match &inst.op {
            Op::PtrAdd(base, _) | Op::Cast(CastOp::SpaceCast, base) => add_copies(&[*base], &inst.results, derived),
            Op::Select(_, then, els) => {
                add_copies(&[*then], &inst.results, derived);
                add_copies(&[*els], &inst.results, derived);
            }
            Op::If { .. } | Op::Switch { .. } => {
                for nested in inst.op.regions() {
                    if let Some(Op::Yield(values)) = nested.terminator() {
                        add_copies(values, &inst.results, derived);
                    }
                }
            }
            Op::Loop { init, params, body, .. } => {
                add_copies(init, params, derived);
                body.for_each_jump(&mut |jump| match jump {
                    Op::Continue(values) => add_copies(values, params, derived),
                    Op::Break(values) => add_copies(values, &inst.results, derived),
                    _ => {}
                });
            }
            _ => {}
        }
    }
}

/// Adds each value of `to` whose corresponding value of `from` is in the set.
fn add_copies(from: &[Value], to: &[Value], derived: &mut FxHashSet<Value>) {
    for (from, to) in from.iter().zip(to) {
        if derived.contains(from) {
            derived.insert(*to);
        }
    }
}
