//! Replaces signed operations on non-negative values by unsigned operations. If the divisor is a power of two, these
//! become shifts and masks.
//!
//! ```text
//! %2 = workitem.local_id 0
//! %3 = srem %2, 16                =>    %3 = urem %2, 16
//! ```
//! Kernels index tiles with `id / 16` and `id % 16`, where `id` is an `int`. The 16 work-items of a vector then have
//! one row index and consecutive column indices, so that accesses are contiguous. An example is the benchmark
//! `sgemm_registers` on a CPU.

use super::pass::Pass;
use crate::ir::{BinOp, Const, Function, Inst, Op, Region, Type, Value, WorkItem};

pub(crate) const PASS: Pass = Pass::function("unsigned", |function, cx| {
    let mut upper_bounds = vec![None; function.values.len()];
    let mut body = std::mem::take(&mut function.body);
    let changed = region(function, &mut body, cx.key.kernel.local_size, &mut upper_bounds);
    function.body = body;
    Ok(changed)
});

/// Rewrites a region. `upper_bounds` has an upper bound for each 32-bit integer that is known to be non-negative when
/// interpreted as signed.
fn region(function: &Function, body: &mut Region, local_size: [u32; 3], upper_bounds: &mut [Option<u32>]) -> bool {
    let mut changed = false;
    for inst in &mut body.insts {
        changed |= make_unsigned(&mut inst.op, upper_bounds);
        for nested in inst.op.regions_mut() {
            changed |= region(function, nested, local_size, upper_bounds);
        }
        if let [result] = inst.results[..]
            && function.ty(result) == Type::I32
        {
            upper_bounds[result.index()] = upper_bound(inst, local_size, upper_bounds).filter(|&bound| i32::try_from(bound).is_ok());
        }
    }
    changed
}

/// Makes an operation unsigned if the result is known to stay the same. Returns whether it changed.
fn make_unsigned(op: &mut Op, upper_bounds: &[Option<u32>]) -> bool {
    let known = |value: Value| upper_bounds[value.index()].is_some();
    let Op::Bin(kind, a, b) = op else { return false };
    let unsigned = match kind {
        BinOp::SDiv if known(*a) && known(*b) => BinOp::UDiv,
        BinOp::SRem if known(*a) && known(*b) => BinOp::URem,
        BinOp::AShr if known(*a) => BinOp::LShr,
        _ => return false,
    };
    *kind = unsigned;
    true
}

/// Returns an upper bound for the result of an instruction, or `None` if it is not known.
fn upper_bound(inst: &Inst, local_size: [u32; 3], upper_bounds: &[Option<u32>]) -> Option<u32> {
    let of = |value: Value| upper_bounds[value.index()];
    match inst.op {
        Op::Const(Const::Bits(bits)) => u32::try_from(bits).ok(),
        Op::WorkItem(WorkItem::LocalId(dimension)) => local_size.get(usize::from(dimension)).map(|&size| size.saturating_sub(1)),
        Op::Bin(BinOp::Add, a, b) => of(a)?.checked_add(of(b)?),
        Op::Bin(BinOp::Mul, a, b) => of(a)?.checked_mul(of(b)?),
        Op::Bin(BinOp::Shl, a, b) => of(a)?.checked_mul(1_u32.checked_shl(of(b)?)?),
        Op::Bin(BinOp::And, a, b) => match (of(a), of(b)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        },
        Op::Bin(BinOp::UDiv | BinOp::LShr, a, _) => of(a),
        Op::Bin(BinOp::URem, a, b) => Some(of(a).unwrap_or(u32::MAX).min(of(b)?)),
        _ => None,
    }
}
