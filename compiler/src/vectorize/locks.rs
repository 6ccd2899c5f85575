//! Detects locks: loops in which work-items wait for each other.
//!
//! ```text
//! while (atomic_cmpxchg(lock, 0, 1) != 0);        the vector loop ends when every lane has acquired the lock,
//! ...
//! atomic_xchg(lock, 0);                           so the first lane that acquires it never releases it
//! ```
//! OpenCL guarantees no forward progress for such a kernel. But programs rely on it, and it works if each work-item
//! runs to its end before the next one starts. A retry loop without a release after it (such as a float addition by
//! compare-and-exchange) is not a lock: in each iteration, at least one lane succeeds.

use crate::analysis::calls::callees_first;
use crate::ir::{AtomicOp, Func, Inst, Module, Op, Region};

/// The kinds of atomic operations in a function or region, including its callees.
#[derive(Clone, Copy, Debug, Default)]
struct AtomicUses {
    /// An operation that may acquire a lock.
    may_acquire: bool,
    /// An operation that may release a lock.
    may_release: bool,
    /// An operation outside of loops that may release a lock.
    may_release_once: bool,
    /// A loop that contains an operation that may acquire a lock.
    has_acquire_loop: bool,
    /// A loop that may acquire a lock, followed by an operation outside of loops that may release it.
    is_lock: bool,
}

/// Whether function 0 of a module or a callee has a loop with an atomic operation that may acquire a lock, followed by
/// an atomic operation that may release it.
pub(super) fn has_lock(module: &Module) -> bool {
    let mut known = vec![AtomicUses::default(); module.functions.len()];
    for func in callees_first(module, [Func(0)]).unwrap_or_default() {
        known[func.index()] = in_region(&module.functions[func.index()].body, &known);
    }
    known.first().is_some_and(|found| found.is_lock)
}

/// Analyses a region. The release must be in the region of the acquiring loop, or in an enclosing region.
fn in_region(region: &Region, known: &[AtomicUses]) -> AtomicUses {
    let mut all = AtomicUses::default();
    for inst in &region.insts {
        let own = in_inst(inst, known);
        all = AtomicUses {
            may_acquire: all.may_acquire || own.may_acquire,
            may_release: all.may_release || own.may_release,
            may_release_once: all.may_release_once || own.may_release_once,
            is_lock: all.is_lock || own.is_lock || (all.has_acquire_loop && own.may_release_once),
            has_acquire_loop: all.has_acquire_loop || own.has_acquire_loop,
        };
    }
    all
}

fn in_inst(inst: &Inst, known: &[AtomicUses]) -> AtomicUses {
    match inst.op {
        Op::CmpXchg { .. } | Op::Atomic { op: AtomicOp::Xchg, .. } => {
            AtomicUses { may_acquire: true, may_release: true, may_release_once: true, ..AtomicUses::default() }
        }
        Op::Atomic { op: AtomicOp::Store, .. } => AtomicUses { may_release: true, may_release_once: true, ..AtomicUses::default() },
        Op::Call(callee, _) => known.get(callee.index()).copied().unwrap_or_default(),
        ref op => {
            let nested: Vec<AtomicUses> = op.regions().into_iter().map(|region| in_region(region, known)).collect();
            let any = |of: fn(&AtomicUses) -> bool| nested.iter().any(of);
            let (may_acquire, may_release) = (any(|found| found.may_acquire), any(|found| found.may_release));
            let is_loop = matches!(op, Op::Loop { .. });
            AtomicUses {
                may_acquire,
                may_release,
                may_release_once: may_release && !is_loop,
                has_acquire_loop: may_acquire && is_loop,
                is_lock: any(|found| found.is_lock),
            }
        }
    }
}
