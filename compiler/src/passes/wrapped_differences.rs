//! Makes differences opaque that a driver's compiler compares wrongly
//! ([`Defects::wrapped_differences`](crate::target::Defects::wrapped_differences)).
//!
//! FXC folds comparisons of unsigned integers if it knows the ranges of both operands. For a difference that may wrap
//! around, it computes a wrong range. For example, it replaces `min(x & 7, (x & 7) - 6)` by `x & 7`. The pass combines
//! differences with a zero that is read from the argument buffer, before they are compared.
//!
//! ```text
//!                              %8 = workitem.work_dim; %9 = lshr %8, 16
//! %2 = sub %1, 6               %2 = sub %1, 6
//! %3 = umin %1, %2        =>   %10 = xor %2, %9; %3 = umin %1, %10
//! ```
//! It runs after [`super::pairs`], on scalars and vectors of 32 bits and less.

use super::opaque_zero::{at_start, opaque_zero};
use super::pass::Pass;
use crate::analysis::definitions::Definitions;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Cursor, Function, Op, Region, Scalar, Value};
use rustc_hash::FxHashSet;

pub(crate) const PASS: Pass = Pass::function("wrapped_differences", |function, _| Ok(run(function)));

/// Makes the compared differences of a function opaque. Returns whether there are any.
fn run(function: &mut Function) -> bool {
    let differences = compared_differences(function);
    if differences.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    let zero = at_start(function, &mut body, opaque_zero);
    hide(function, &mut body, &differences, zero);
    function.body = body;
    true
}

/// The operands of an operation that compares unsigned integers.
fn compared(op: &Op) -> Option<[Value; 2]> {
    match *op {
        Op::Bin(BinOp::UMin | BinOp::UMax, a, b) | Op::Cmp(CmpOp::ULt | CmpOp::ULe | CmpOp::UGt | CmpOp::UGe, a, b) => Some([a, b]),
        _ => None,
    }
}

/// The differences of a function that are compared: subtractions, and sums with negative constants. A comparison of a
/// difference with a constant is correct.
fn compared_differences(function: &Function) -> FxHashSet<Value> {
    let definitions = Definitions::of(function);
    let is_constant = |value: Value| definitions.bits(value).is_some();
    let is_negative = |value: Value| {
        let bits = function.ty(value).scalar().map_or(32, Scalar::size) * 8;
        definitions.bits(value).is_some_and(|constant| constant >> (bits - 1) & 1 == 1)
    };
    let is_difference = |value: Value| match definitions.get(value) {
        Some(Op::Bin(BinOp::Sub, ..)) => true,
        Some(Op::Bin(BinOp::Add, a, b)) => is_negative(*a) || is_negative(*b),
        _ => false,
    };
    let mut found = FxHashSet::default();
    function.body.walk(&mut |inst| {
        if let Some(operands) = compared(&inst.op)
            && !operands.into_iter().any(is_constant)
        {
            found.extend(operands.into_iter().filter(|&value| is_difference(value)));
        }
    });
    found
}

/// Combines the compared differences in a region with the zero.
fn hide(function: &mut Function, region: &mut Region, differences: &FxHashSet<Value>, zero: Value) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        for nested in inst.op.regions_mut() {
            hide(function, nested, differences, zero);
        }
        if let Some(operands) = compared(&inst.op)
            && operands.iter().any(|value| differences.contains(value))
        {
            let mut at = Cursor::new(function, &mut out, inst.span);
            inst.op.map_operands(|value| {
                if differences.contains(value) {
                    *value = opaque(&mut at, *value, zero);
                }
            });
        }
        out.push(inst);
    }
    region.insts = out;
}

/// Combines a scalar or vector with the zero.
fn opaque(at: &mut Cursor<'_>, value: Value, zero: Value) -> Value {
    let ty = at.type_of(value);
    let scalar = ty.scalar().unwrap_or(Scalar::I32);
    let op = if scalar.size() > Scalar::I32.size() { CastOp::ZExt } else { CastOp::Trunc };
    let zero = at.cast(op, zero, scalar);
    let zero = if ty.lanes() == 1 { zero } else { at.push(ty, Op::Splat(zero)) };
    at.bin(BinOp::Xor, value, zero)
}
