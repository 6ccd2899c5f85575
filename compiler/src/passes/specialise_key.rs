//! Puts what the launch key says into a kernel.
//!
//! ```text
//! %1 = workitem.local_size 0        =>      %1 = const 64
//! %2 = workitem.global_offset 0             %2 = const 0
//! %3 = workitem.local_id 1                  %3 = const 0        (where the group has one work-item in that dimension)
//! ```
//! Every group has the local size of the key: work-groups at the edge of an NDRange are never smaller.

use crate::ir::{Const, Function, Inst, Op, WorkItem};
use crate::launch::LaunchKey;

/// Replaces the questions whose answer the key has.
pub fn run(function: &mut Function, key: &LaunchKey) {
    let size = |dimension: u8| key.local_size.get(usize::from(dimension)).copied().unwrap_or(1);
    function.body.walk_mut(&mut |inst: &mut Inst| {
        let Op::WorkItem(question) = inst.op else { return };
        let answer = match question {
            WorkItem::LocalSize(dimension) | WorkItem::EnqueuedLocalSize(dimension) => Some(size(dimension)),
            WorkItem::LocalId(dimension) if size(dimension) == 1 => Some(0),
            WorkItem::GlobalOffset(_) if key.zero_offset => Some(0),
            _ => None,
        };
        if let Some(answer) = answer {
            inst.op = Op::Const(Const::Bits(u64::from(answer)));
        }
    });
}
