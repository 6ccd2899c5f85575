//! Hides from a driver's compiler that the work-items of a group store to one address
//! ([`Defects::shared_stores`](crate::target::Defects::shared_stores)).
//!
//! FXC rejects a shader if several work-items store different values to one address (errors X3694 and X3695). OpenCL C
//! permits such a kernel: its results are undefined only if the values really differ, which often depends on the
//! launch. FXC accepts stores that not all work-items execute. The pass therefore adds a condition that is true, but
//! seems to differ between work-items. It combines their ids with a zero that is read from the argument buffer.
//!
//! ```text
//!                      %8 = workitem.local_id 0; %9 = workitem.work_dim; %10 = lshr %9, 16
//!                      %11 = and %8, %10; %12 = eq %11, 0
//! store %x, %p   =>    if %12 { store %x, %p; yield } else { yield }
//! ```
//! In a kernel, this affects the stores whose address is uniform in the group. The addresses in other functions depend
//! on the caller, so all of their stores are affected.

use super::opaque_zero::{at_start, conditional, opaque_zero};
use super::pass::{Cx, Pass};
use crate::analysis::divergence::{Divergence, DivergenceParams, StableLoads};
use crate::ir::{BinOp, Build, CmpOp, Function, Inst, Op, Region, Space, Type, Value, WorkItem};
use rustc_hash::FxHashSet;

pub(crate) const PASS: Pass = Pass::function("shared_stores", |function, cx| Ok(run(function, cx)));

/// Rewrites the stores of a function. Returns whether there are any.
fn run(function: &mut Function, cx: &Cx<'_>) -> bool {
    let local_size = cx.key.kernel.local_size;
    let dimensions: Vec<u8> = (0..3_u8).filter(|&dimension| local_size[usize::from(dimension)] > 1).collect();
    let Some((&first, others)) = dimensions.split_first() else { return false };
    let pointers = shared_pointers(function, local_size);
    if pointers.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    let always = at_start(function, &mut body, |at| {
        let mut ids = at.push(Type::I32, Op::WorkItem(WorkItem::LocalId(first)));
        for &dimension in others {
            let id = at.push(Type::I32, Op::WorkItem(WorkItem::LocalId(dimension)));
            ids = at.bin(BinOp::Or, ids, id);
        }
        let zero = opaque_zero(at);
        let zero = at.bin(BinOp::And, ids, zero);
        at.cmp_bits(CmpOp::Eq, zero, 0)
    });
    guard(&mut body, &pointers, always);
    function.body = body;
    true
}

/// The pointers to global and local memory through which several work-items may store to one address.
fn shared_pointers(function: &Function, local_size: [u32; 3]) -> FxHashSet<Value> {
    let params = DivergenceParams { group: local_size, zero_offset: false, stable: StableLoads::Unordered };
    let divergence = function.kernel.is_some().then(|| Divergence::of(function, &function.body, params));
    let mut pointers = FxHashSet::default();
    function.body.walk(&mut |inst| {
        if let Op::Store { ptr, .. } = inst.op
            && matches!(function.ty(ptr), Type::Ptr(Space::Global | Space::Local | Space::Generic))
            && divergence.as_ref().is_none_or(|divergence| divergence.is_uniform_in_group(ptr))
        {
            pointers.insert(ptr);
        }
    });
    pointers
}

/// Makes the stores through `pointers` conditional.
fn guard(region: &mut Region, pointers: &FxHashSet<Value>, cond: Value) {
    for inst in &mut region.insts {
        for nested in inst.op.regions_mut() {
            guard(nested, pointers, cond);
        }
        if let Op::Store { ptr, .. } = inst.op
            && pointers.contains(&ptr)
        {
            let end = Inst::effect(Op::Yield(Vec::new()), inst.span);
            *inst = conditional(cond, std::mem::replace(inst, end));
        }
    }
}
