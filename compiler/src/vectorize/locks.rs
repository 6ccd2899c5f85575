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

use crate::ir::{AtomicOp, Function, Op, Region};

/// Whether a kernel has a loop that acquires by an atomic operation, and an atomic operation after it that may release.
pub(super) fn has(function: &Function) -> bool {
    takes_and_gives(&function.body)
}

/// The release is in the region of the loop or in one around it.
fn takes_and_gives(region: &Region) -> bool {
    let mut taken = false;
    for inst in &region.insts {
        let gives =
            |inst: &crate::ir::Inst| matches!(inst.op, Op::CmpXchg { .. } | Op::Atomic { op: AtomicOp::Store | AtomicOp::Xchg, .. });
        if taken && gives(inst) {
            return true;
        }
        let nested = inst.op.regions();
        if nested.iter().any(|nested| takes_and_gives(nested)) {
            return true;
        }
        if let Op::Loop { body, .. } = &inst.op {
            let mut takes = false;
            body.walk(&mut |inst| takes |= matches!(inst.op, Op::CmpXchg { .. } | Op::Atomic { op: AtomicOp::Xchg, .. }));
            taken |= takes;
        } else if taken {
            let mut given = false;
            nested.iter().for_each(|nested| nested.walk(&mut |inst| given |= gives(inst)));
            if given {
                return true;
            }
        }
    }
    false
}
