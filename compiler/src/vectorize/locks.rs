//! Detects locks: loops in which work-items wait for each other.
//!
//! ```text
//! while (atomic_cmpxchg(lock, 0, 1) != 0);        the vector loop ends when every lane has acquired the lock,
//! ...
//! atomic_xchg(lock, 0);                           so the first lane that acquires it never releases it
//! ```
//! OpenCL guarantees no forward progress for such a kernel. But programs contain such loops, and they end if each
//! work-item runs to its end before the next work-item starts. A retry loop without a release after it (such as a float
//! addition by compare-and-exchange) is not a lock: in each iteration, at least one lane succeeds.

use crate::analysis::calls::callees_first;
use crate::ir::{AtomicOp, Func, Inst, Module, Op, Region};

/// The kinds of atomic operations in a function or region, including its callees.
#[derive(Clone, Copy, Debug, Default)]
struct AtomicUses {
    /// Contains an operation that may acquire a lock.
    may_acquire: bool,
    /// Contains an operation that may release a lock.
    may_release: bool,
    /// Contains an operation outside of loops that may release a lock.
    may_release_once: bool,
    /// Contains a loop with an operation that may acquire a lock.
    has_acquire_loop: bool,
    /// Contains a loop that may acquire a lock, followed by an operation outside of loops that may release it.
    is_lock: bool,
}

/// Whether function 0 of a module, or a callee, may use a lock: a loop has an atomic operation that may acquire a lock,
/// and an atomic operation that may release the lock follows.
pub(super) fn has_lock(module: &Module) -> bool {
    let mut uses_of_functions = vec![AtomicUses::default(); module.functions.len()];
    for func in callees_first(module, [Func(0)]).unwrap_or_default() {
        uses_of_functions[func.index()] = in_region(&module.functions[func.index()].body, &uses_of_functions);
    }
    uses_of_functions.first().is_some_and(|found| found.is_lock)
}

/// Analyses a region. The release must be in the region of the acquiring loop, or in an enclosing region. The callees
/// must already be in `uses_of_functions`, which is indexed by [`Func`].
fn in_region(region: &Region, uses_of_functions: &[AtomicUses]) -> AtomicUses {
    let mut all = AtomicUses::default();
    for inst in &region.insts {
        let of_inst = in_inst(inst, uses_of_functions);
        all = AtomicUses {
            may_acquire: all.may_acquire || of_inst.may_acquire,
            may_release: all.may_release || of_inst.may_release,
            may_release_once: all.may_release_once || of_inst.may_release_once,
            is_lock: all.is_lock || of_inst.is_lock || (all.has_acquire_loop && of_inst.may_release_once),
            has_acquire_loop: all.has_acquire_loop || of_inst.has_acquire_loop,
        };
    }
    all
}

fn in_inst(inst: &Inst, uses_of_functions: &[AtomicUses]) -> AtomicUses {
    match inst.op {
        Op::CmpXchg { .. } | Op::Atomic { op: AtomicOp::Xchg, .. } => {
            AtomicUses { may_acquire: true, may_release: true, may_release_once: true, ..AtomicUses::default() }
        }
        Op::Atomic { op: AtomicOp::Store, .. } => AtomicUses { may_release: true, may_release_once: true, ..AtomicUses::default() },
        Op::Call(callee, _) => uses_of_functions.get(callee.index()).copied().unwrap_or_default(),
        ref op => {
            let nested: Vec<AtomicUses> = op.regions().into_iter().map(|region| in_region(region, uses_of_functions)).collect();
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
