//! Puts what the launch key says into a kernel.
//!
//! ```text
//! %1 = workitem.local_size 0        =>      %1 = const 64
//! %2 = workitem.global_offset 0             %2 = const 0
//! %3 = workitem.local_id 1                  %3 = const 0        (where the group has one work-item in that dimension)
//! %4 = eq %param, %null                     %4 = eq %5, %null   (%5 = const null, where the host passed a null pointer)
//! ```
//! Work-groups at the edge of an NDRange that are smaller than the others have a key of their own.

use crate::diag::Span;
use crate::ir::{Const, Function, Inst, Op, WorkItem};
use crate::launch::LaunchKey;

/// Replaces the questions whose answer the key has.
pub fn run(function: &mut Function, key: &LaunchKey) {
    for &index in &key.null_args {
        null_parameter(function, index);
    }
    let of = |sizes: &[u32; 3], dimension: u8| sizes.get(usize::from(dimension)).copied().unwrap_or(1);
    function.body.walk_mut(&mut |inst: &mut Inst| {
        let Op::WorkItem(question) = inst.op else { return };
        let answer = match question {
            WorkItem::LocalSize(dimension) => Some(of(&key.local_size, dimension)),
            WorkItem::EnqueuedLocalSize(dimension) => Some(of(&key.enqueued_local_size, dimension)),
            WorkItem::LocalId(dimension) if of(&key.local_size, dimension) == 1 => Some(0),
            WorkItem::GlobalOffset(_) if key.zero_offset => Some(0),
            _ => None,
        };
        if let Some(answer) = answer {
            inst.op = Op::Const(Const::Bits(u64::from(answer)));
        }
    });
}

/// Puts the null pointer in the place of a parameter.
fn null_parameter(function: &mut Function, index: u32) {
    let Some(&param) = usize::try_from(index).ok().and_then(|index| function.params.get(index)) else { return };
    let null = function.new_value(function.ty(param));
    function.body.walk_mut(&mut |inst: &mut Inst| {
        inst.op.map_operands(|operand| {
            if *operand == param {
                *operand = null;
            }
        });
    });
    function.body.insts.insert(0, Inst { op: Op::Const(Const::Null), results: vec![null], span: Span::NONE });
}
