//! What is the same for a group although it is made of a work-item's number, for browsers, which see that of ids of groups alone ([`Shaders::uniform_barriers`](crate::target::Shaders::uniform_barriers)).
//!
//! ```text
//! %1 = workitem.global_id 0           groups of 32, no global offset
//! %2 = lshr %1, 6               =>    %3 = workitem.group_id 0; %2 = udiv %3, 2
//! ```

use super::pass::Pass;
use crate::analysis::definitions::Definitions;
use crate::ir::{BinOp, Build, CastOp, Cursor, Function, Inst, Op, Region, Scalar, Type, Value, WorkItem};
use crate::launch::LaunchKey;
use rustc_hash::FxHashMap;

pub(crate) const PASS: Pass = Pass::function("whole_groups", |function, cx| Ok(run(function, cx.key)));

/// Says it by ids of groups; whether there was anything.
fn run(function: &mut Function, key: &LaunchKey) -> bool {
    if !key.kernel.zero_offset {
        return false;
    }
    let found = quotients(function, key.kernel.enqueued_local_size);
    let mut body = std::mem::take(&mut function.body);
    if !found.is_empty() {
        rewrite(function, &mut body, &found);
    }
    function.body = body;
    !found.is_empty()
}

/// Values that are a number of groups, by dimension and by how many groups each stands for.
fn quotients(function: &Function, sizes: [u32; 3]) -> FxHashMap<Value, (u8, u32)> {
    let definitions = Definitions::of(function);
    let mut found = FxHashMap::default();
    function.body.walk(&mut |inst| {
        let (Op::Bin(op, number, by), [result]) = (&inst.op, &inst.results[..]) else { return };
        let number = match definitions.get(*number) {
            Some(Op::Cast(CastOp::ZExt, narrow)) => *narrow,
            _ => *number,
        };
        let Some(&Op::WorkItem(WorkItem::GlobalId(dimension))) = definitions.get(number) else { return };
        let divisor = match (op, definitions.scalar(*by)) {
            (BinOp::UDiv, Some(divisor)) => u32::try_from(divisor).ok(),
            (BinOp::LShr, Some(amount)) => u32::try_from(amount).ok().and_then(|amount| 1_u32.checked_shl(amount)),
            _ => None,
        };
        let size = sizes.get(usize::from(dimension)).copied().unwrap_or(0);
        if let Some(divisor) = divisor.filter(|&divisor| size > 0 && divisor > 0 && divisor % size == 0) {
            found.insert(*result, (dimension, divisor / size));
        }
    });
    found
}

fn rewrite(function: &mut Function, region: &mut Region, found: &FxHashMap<Value, (u8, u32)>) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        for nested in inst.op.regions_mut() {
            rewrite(function, nested, found);
        }
        if let Some((&result, &(dimension, groups))) = inst.results.first().and_then(|result| found.get_key_value(result)) {
            let span = inst.span;
            let ty = function.ty(result);
            let mut at = Cursor::new(function, &mut out, span);
            let group = at.push(Type::I32, Op::WorkItem(WorkItem::GroupId(dimension)));
            let group = if ty == Type::I64 { at.cast(CastOp::ZExt, group, Scalar::I64) } else { group };
            let groups = at.bits(ty, u64::from(groups));
            inst = Inst { op: Op::Bin(BinOp::UDiv, group, groups), results: vec![result], span };
        }
        out.push(inst);
    }
    region.insts = out;
}
