//! Whether the results of a kernel are independent of how its NDRange is divided into work-groups.
//!
//! The results are independent if the kernel neither queries the work-groups nor uses local memory, barriers or group
//! functions. The groups may then even extend beyond the NDRange, if the work-items outside of the NDRange return
//! immediately.

use crate::ir::{Func, Function, KernelParam, Module, Op, Space, WorkItem};

/// Whether the results of a function and its callees are independent of the division into work-groups.
pub fn group_independent(module: &Module, root: Func) -> bool {
    let mut seen = vec![root];
    let mut next = 0;
    while let Some(&func) = seen.get(next) {
        next += 1;
        let Some(function) = module.functions.get(func.index()) else { return false };
        if !is_independent(module, function, &mut seen) {
            return false;
        }
    }
    true
}

/// Whether a function itself, without its callees, is independent of work-groups. Appends its callees to `callees`.
fn is_independent(module: &Module, function: &Function, callees: &mut Vec<Func>) -> bool {
    let params = function.kernel.iter().flat_map(|kernel| &kernel.params);
    let mut independent = params.into_iter().all(|param| !matches!(param, KernelParam::Local { .. }));
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
        Op::WorkItem(_) | Op::Barrier(_) | Op::Group { .. } => independent = false,
        Op::GlobalAddr(global) => {
            independent &= module.globals.get(global.index()).is_some_and(|global| global.space != Space::Local);
        }
        Op::Call(callee, _) if !callees.contains(&callee) => callees.push(callee),
        _ => {}
    });
    independent
}
