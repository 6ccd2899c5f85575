//! The check that the formats of `printf` do not come from a kernel's arguments. It follows pointers through inlined
//! functions, which the front end cannot do.

use rustc_hash::FxHashSet;

use crate::ir::{CastOp, Function, Op, Region, Value};

/// Whether a kernel calls `printf` with a format that is, or may be, in the memory of an argument.
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
    let mut reached: FxHashSet<Value> = kernel.params.iter().copied().collect();
    loop {
        let before = reached.len();
        spread(&kernel.body, &mut reached);
        if reached.len() == before {
            break;
        }
    }
    formats.iter().any(|format| reached.contains(format))
}

/// Adds the pointers that have the same object as one of `reached`, as far as one visit of the region finds them.
fn spread(region: &Region, reached: &mut FxHashSet<Value>) {
    for inst in &region.insts {
        inst.op.regions().into_iter().for_each(|nested| spread(nested, reached));
        match &inst.op {
            Op::PtrAdd(base, _) | Op::Cast(CastOp::SpaceCast, base) => pass(&[*base], &inst.results, reached),
            Op::Select(_, then, els) => {
                pass(&[*then], &inst.results, reached);
                pass(&[*els], &inst.results, reached);
            }
            Op::If { .. } | Op::Switch { .. } => {
                for nested in inst.op.regions() {
                    if let Some(Op::Yield(values)) = nested.terminator() {
                        pass(values, &inst.results, reached);
                    }
                }
            }
            Op::Loop { init, params, body, .. } => {
                pass(init, params, reached);
                body.for_each_jump(&mut |jump| match jump {
                    Op::Continue(values) => pass(values, params, reached),
                    Op::Break(values) => pass(values, &inst.results, reached),
                    _ => {}
                });
            }
            _ => {}
        }
    }
}

/// Adds each target whose source is in the set.
fn pass(from: &[Value], to: &[Value], reached: &mut FxHashSet<Value>) {
    for (from, to) in from.iter().zip(to) {
        if reached.contains(from) {
            reached.insert(*to);
        }
    }
}
