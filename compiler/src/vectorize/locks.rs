//! Detects locks: loops in which work-items wait for each other.
//!
//! ```text
//! while (atomic_cmpxchg(lock, 0, 1) != 0);        the lanes of a vector would iterate until all of them have it,
//! ...
//! atomic_xchg(lock, 0);                           and the lane that has it never gets here
//! ```
//! OpenCL promises no forward progress for such a kernel. But it works if each work-item runs to its end before the
//! next one, and programs rely on that. A retry loop without a release after it (a float addition by
//! compare-and-exchange) is not a lock: in each iteration at least one lane succeeds.

use crate::analysis::calls::callees_first;
use crate::ir::{AtomicOp, Func, Inst, Module, Op, Region};

/// The atomic operations of a function or region, those of its callees included.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// One that may acquire.
    tries: bool,
    /// One that may release.
    gives: bool,
    /// One that may release, not in a loop.
    gives_once: bool,
    /// A loop that acquires.
    takes: bool,
    /// A loop that acquires, and after it an operation that may release.
    is_lock: bool,
}

/// Whether function 0 of a module or its callees have a loop that acquires by an atomic operation. After it, there must
/// be an atomic operation that may release.
pub(super) fn has(module: &Module) -> bool {
    let mut known = vec![Found::default(); module.functions.len()];
    for func in callees_first(module, [Func(0)]).unwrap_or_default() {
        known[func.index()] = in_region(&module.functions[func.index()].body, &known);
    }
    known.first().is_some_and(|found| found.is_lock)
}

/// The release is in the region of the loop or in one around it.
fn in_region(region: &Region, known: &[Found]) -> Found {
    let mut all = Found::default();
    for inst in &region.insts {
        let own = in_inst(inst, known);
        all = Found {
            tries: all.tries || own.tries,
            gives: all.gives || own.gives,
            gives_once: all.gives_once || own.gives_once,
            is_lock: all.is_lock || own.is_lock || (all.takes && own.gives_once),
            takes: all.takes || own.takes,
        };
    }
    all
}

fn in_inst(inst: &Inst, known: &[Found]) -> Found {
    match inst.op {
        Op::CmpXchg { .. } | Op::Atomic { op: AtomicOp::Xchg, .. } => {
            Found { tries: true, gives: true, gives_once: true, ..Found::default() }
        }
        Op::Atomic { op: AtomicOp::Store, .. } => Found { gives: true, gives_once: true, ..Found::default() },
        Op::Call(callee, _) => known.get(callee.index()).copied().unwrap_or_default(),
        ref op => {
            let nested: Vec<Found> = op.regions().into_iter().map(|region| in_region(region, known)).collect();
            let any = |of: fn(&Found) -> bool| nested.iter().any(of);
            let (tries, gives) = (any(|found| found.tries), any(|found| found.gives));
            let is_loop = matches!(op, Op::Loop { .. });
            Found { tries, gives, gives_once: gives && !is_loop, takes: tries && is_loop, is_lock: any(|found| found.is_lock) }
        }
    }
}
