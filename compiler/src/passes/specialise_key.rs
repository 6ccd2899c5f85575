//! Replaces queries and null arguments by constants from the launch key. Adds start offsets to pointer parameters.
//!
//! ```text
//! %1 = workitem.local_size 0        =>      %1 = const 64
//! %2 = workitem.global_offset 0             %2 = const 0
//! %3 = workitem.local_id 1                  %3 = const 0        (where the group has one work-item in that dimension)
//! %4 = eq %param, %null                     %4 = eq %9, %null   (%9 = const null, for a null argument)
//! %5 = load %param                     %6 = workitem.arg_start 0; %7 = ptr_add %param, %6; %5 = load %7
//! ```
//! Smaller work-groups at the edge of an NDRange have a separate key.

use super::pass::Pass;
use crate::diag::Span;
use crate::ir::{Const, Function, Inst, Op, Type, Value, WorkItem};
use crate::launch::{KernelKey, LaunchKey};

/// The pass that adds start offsets to parameters; see [`start_parameters`].
pub(crate) const START: Pass = Pass::function("start_parameters", |function, cx| {
    start_parameters(function, cx.key);
    Ok(!cx.key.binding.started_args.is_empty())
});

pub(crate) const PASS: Pass = Pass::function("specialise_key", |function, cx| {
    run(function, &cx.key.kernel);
    Ok(true)
});

/// Replaces the queries and null arguments that the key determines.
pub(crate) fn run(function: &mut Function, key: &KernelKey) {
    if function.kernel.is_some() {
        key.null_args.iter().for_each(|&index| null_parameter(function, index));
    }
    let of = |sizes: &[u32; 3], dimension: u8| sizes.get(usize::from(dimension)).copied().unwrap_or(1);
    function.body.walk_mut(&mut |inst: &mut Inst| {
        let Op::WorkItem(query) = inst.op else { return };
        let value = match query {
            WorkItem::LocalSize(dimension) => Some(of(&key.local_size, dimension)),
            WorkItem::EnqueuedLocalSize(dimension) => Some(of(&key.enqueued_local_size, dimension)),
            WorkItem::LocalId(dimension) if of(&key.local_size, dimension) == 1 => Some(0),
            WorkItem::GlobalOffset(_) if key.zero_offset => Some(0),
            _ => None,
        };
        if let Some(value) = value {
            inst.op = Op::Const(Const::Bits(u64::from(value)));
        }
    });
}

/// Adds an offset, which the host passes, to the pointer parameters that the key lists. These parameters do not point
/// to the first byte of their binding.
pub(crate) fn start_parameters(function: &mut Function, key: &LaunchKey) {
    for &index in key.binding.started_args.iter() {
        add_start_offset(function, index);
    }
}

/// Adds the offset to one pointer parameter.
fn add_start_offset(function: &mut Function, index: u32) {
    let Some(&param) = usize::try_from(index).ok().and_then(|index| function.params.get(index)) else { return };
    let (start, moved) = (function.new_value(Type::I32), function.new_value(function.ty(param)));
    replace(function, param, moved);
    let mut insts = vec![
        Inst { op: Op::WorkItem(WorkItem::ArgStart(index)), results: vec![start], span: Span::NONE },
        Inst { op: Op::PtrAdd(param, start), results: vec![moved], span: Span::NONE },
    ];
    insts.append(&mut function.body.insts);
    function.body.insts = insts;
}

fn replace(function: &mut Function, old: Value, new: Value) {
    function.body.walk_mut(&mut |inst: &mut Inst| {
        inst.op.map_operands(|operand| {
            if *operand == old {
                *operand = new;
            }
        });
    });
}

/// Replaces a parameter by the null pointer.
fn null_parameter(function: &mut Function, index: u32) {
    let Some(&param) = usize::try_from(index).ok().and_then(|index| function.params.get(index)) else { return };
    let null = function.new_value(function.ty(param));
    replace(function, param, null);
    function.body.insts.insert(0, Inst { op: Op::Const(Const::Null), results: vec![null], span: Span::NONE });
}
