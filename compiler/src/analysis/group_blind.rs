//! Whether a kernel depends on how its NDRange is divided into work-groups.
//!
//! A kernel that neither queries this nor shares anything with the other work-items of its group gives the same
//! results with groups of any size. The groups may even extend beyond the NDRange, if the work-items outside of it
//! return at once.

use crate::ir::{Func, Function, KernelParam, Module, Op, Space, WorkItem};

/// Whether neither the function nor its callees depend on work-groups.
pub fn group_blind(module: &Module, root: Func) -> bool {
    let mut seen = vec![root];
    let mut next = 0;
    while let Some(&func) = seen.get(next) {
        next += 1;
        let Some(function) = module.functions.get(func.index()) else { return false };
        if !alone(module, function, &mut seen) {
            return false;
        }
    }
    true
}

/// Whether a function itself is independent; appends its callees to the list.
fn alone(module: &Module, function: &Function, callees: &mut Vec<Func>) -> bool {
    let params = function.kernel.iter().flat_map(|kernel| &kernel.params);
    let mut blind = params.into_iter().all(|param| !matches!(param, KernelParam::Local { .. }));
    function.body.walk(&mut |inst| match inst.op {
        Op::WorkItem(
            WorkItem::GlobalId(_)
            | WorkItem::GlobalSize(_)
            | WorkItem::GlobalOffset(_)
            | WorkItem::WorkDim
            | WorkItem::ArgIdentity(_)
            | WorkItem::ArgBase(_)
            | WorkItem::ArgSize(_)
            | WorkItem::ArgSizeHigh(_)
            | WorkItem::ArgAddress { .. }
            | WorkItem::ArgStart(_),
        ) => {}
        Op::WorkItem(_) | Op::Barrier(_) | Op::Group { .. } => blind = false,
        Op::GlobalAddr(global) => {
            blind &= module.globals.get(global.index()).is_some_and(|global| global.space != Space::Local);
        }
        Op::Call(callee, _) if !callees.contains(&callee) => callees.push(callee),
        _ => {}
    });
    blind
}
