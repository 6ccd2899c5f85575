//! Locks: work-items that wait for one another one by one.
//!
//! ```text
//! while (atomic_cmpxchg(lock, 0, 1) != 0);        the lanes of a vector would turn until all of them have it,
//! ...
//! atomic_xchg(lock, 0);                           and the one that has it never gets here
//! ```
//! OpenCL promises nothing for such a kernel, but where one work-item runs to its end after the other it works, and programs rely on it. A loop that tries again what nobody releases
//! behind it (the addition of floats by comparing and exchanging) is no lock: in each turn one lane at least is done.

use crate::ir::{AtomicOp, Function, Op, Region};

/// Whether a kernel has a loop that takes something by an atomic operation, and an atomic operation behind it that may give it back.
pub(super) fn has(function: &Function) -> bool {
    takes_and_gives(&function.body)
}

/// In order: what is behind a loop is behind it in its own region, or in one around.
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
