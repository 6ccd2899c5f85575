//! A zero that drivers' compilers do not know, for passes that hide values or conditions from them. The argument buffer
//! contains the number of dimensions (1 to 3), so this number is unknown before the launch.
//!
//! ```text
//! %8 = workitem.work_dim; %9 = lshr %8, 16
//! ```

use crate::diag::Span;
use crate::ir::{BinOp, Build, Cursor, Function, Inst, Op, Region, Type, Value, WorkItem};

/// A shift amount that shifts all bits out of the number of dimensions.
const SHIFT: u64 = 16;

/// Appends the zero, an `i32`.
pub(super) fn opaque_zero(at: &mut Cursor<'_>) -> Value {
    let dimensions = at.push(Type::I32, Op::WorkItem(WorkItem::WorkDim));
    at.bin_bits(BinOp::LShr, dimensions, SHIFT)
}

/// Emits instructions at the start of a body that is currently not in its function. Returns the result of `emit`.
pub(super) fn at_start<T>(function: &mut Function, body: &mut Region, emit: impl FnOnce(&mut Cursor<'_>) -> T) -> T {
    let span = body.insts.first().map_or_else(Span::default, |inst| inst.span);
    let mut start = Vec::new();
    let result = emit(&mut Cursor::new(function, &mut start, span));
    body.insts.splice(0..0, start);
    result
}

/// Returns `if cond { inst }` for an instruction without results.
pub(super) fn conditional(cond: Value, inst: Inst) -> Inst {
    let span = inst.span;
    let end = || Inst::effect(Op::Yield(Vec::new()), span);
    let (then, els) = (Region { insts: vec![inst, end()] }, Region { insts: vec![end()] });
    Inst::effect(Op::If { cond, then, els }, span)
}
