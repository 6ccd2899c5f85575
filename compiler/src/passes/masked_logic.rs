//! Works around a miscompilation of LLVM for merges of a value with a bitwise function of the same value
//! ([`Defects::masked_logic`](crate::target::Defects::masked_logic)).
//!
//! LLVM compiles the merge of `x` and a bitwise function of `x` and two other values to one masked `vpternlog` of
//! AVX-512. If one of the other values is in memory, the truth table is wrong: it is for another order of the operands
//! (llvm-project, issue 157929). The pass replaces the operand `x` of the function by the sum of `x` and a zero that is
//! read from the argument buffer. A sum is not a bitwise function, so the function no longer depends on the merged `x`.
//!
//! ```text
//!                              %8 = workitem.work_dim; %9 = lshr %8, 16
//! %4 = and %x, -2147483648     %10 = add %x, %9; %4 = and %10, -2147483648
//! %5 = or %3, %4               %5 = or %3, %4
//! %6 = select %2, %x, %5       %6 = select %2, %x, %5
//! ```
//! Merges are selections, the results of `if` and `switch`, and the parameters of loops: drivers for CPUs execute the
//! work-items of a vector together, with masks. A merge of a merge is one merge of all values, because LLVM reorders
//! nested selections.

use rustc_hash::{FxHashMap, FxHashSet};

use super::opaque_zero::{at_start, opaque_zero};
use super::pass::Pass;
use crate::ir::{BinOp, Build, CastOp, Cursor, Function, Inst, MathOp, Op, Region, Scalar, UnOp, Value};

pub(crate) const PASS: Pass = Pass::function("masked_logic", |function, _| Ok(run(function)));

/// Maximum number of operations of a bitwise function. A larger function has too many operands for the instruction.
const MAX_OPERATIONS: usize = 16;

/// Maximum number of values of nested merges that are examined together.
const MAX_MERGED: usize = 16;

/// Finds the bitwise functions that are merged with one of their own operands, and replaces this operand in the
/// functions. Returns whether anything changed.
fn run(function: &mut Function) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let mut merges = Merges::default();
    merges.region(function, &body);
    let changed = !merges.hidden.is_empty();
    if changed {
        let zero = at_start(function, &mut body, opaque_zero);
        hide(function, &mut body, zero, &merges.hidden);
    }
    function.body = body;
    changed
}

/// A bitwise operation on one or two values.
#[derive(Clone, Copy)]
struct Logic([Option<Value>; 2]);

#[derive(Default)]
struct Merges {
    /// Bitwise operations, by result.
    logic: FxHashMap<Value, Logic>,
    /// The operands of bitcasts, by result.
    casts: FxHashMap<Value, Value>,
    /// The values that a merge selects from, by result.
    merged: FxHashMap<Value, Vec<Value>>,
    /// The result of each operation with an operand to replace, and this operand.
    hidden: FxHashSet<(Value, Value)>,
}

impl Merges {
    /// Finds the merges in a region.
    fn region(&mut self, function: &Function, region: &Region) {
        for inst in &region.insts {
            for nested in inst.op.regions() {
                self.region(function, nested);
            }
            self.note(function, inst);
            match &inst.op {
                Op::Select(_, a, b) => self.merge_to(inst.results[0], vec![*a, *b]),
                Op::If { .. } | Op::Switch { .. } => {
                    let ends: Vec<&[Value]> = inst.op.regions().into_iter().filter_map(yielded).collect();
                    for (number, &result) in inst.results.iter().enumerate() {
                        self.merge_to(result, ends.iter().filter_map(|values| values.get(number).copied()).collect());
                    }
                }
                Op::Loop { params, body, .. } => self.loop_merges(params, body),
                _ => {}
            }
        }
    }

    /// Handles the merges of loop parameters with their values in the next iteration.
    fn loop_merges(&mut self, params: &[Value], body: &Region) {
        for inst in &body.insts {
            match &inst.op {
                Op::Continue(values) => params.iter().zip(values).for_each(|(&param, &value)| self.merge(&[param, value])),
                // A `continue` in a nested loop refers to the nested loop.
                Op::Loop { .. } => {}
                op => op.regions().into_iter().for_each(|nested| self.loop_merges(params, nested)),
            }
        }
    }

    fn note(&mut self, function: &Function, inst: &Inst) {
        let [result] = inst.results[..] else { return };
        // Values of type `bool` are masks, to which the defect does not apply.
        if function.ty(result).scalar() == Some(Scalar::Bool) {
            return;
        }
        let operands = match &inst.op {
            Op::Bin(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => [Some(*a), Some(*b)],
            Op::Un(UnOp::Not | UnOp::FNeg, a) => [Some(*a), None],
            Op::Math(MathOp::FAbs, args) => [args.first().copied(), None],
            Op::Cast(CastOp::Bitcast, a) => {
                self.casts.insert(result, *a);
                return;
            }
            _ => return,
        };
        self.logic.insert(result, Logic(operands));
    }

    /// Returns the operand of a chain of bitcasts, or the value itself.
    fn origin(&self, mut value: Value) -> Value {
        while let Some(&from) = self.casts.get(&value) {
            value = from;
        }
        value
    }

    /// Handles and records a merge of `values` with the given result.
    fn merge_to(&mut self, result: Value, values: Vec<Value>) {
        self.merge(&values);
        self.merged.insert(result, values);
    }

    /// Appends the values that a value is merged from, through nested merges.
    fn sources(&self, value: Value, found: &mut Vec<Value>) {
        let value = self.origin(value);
        match self.merged.get(&value) {
            Some(values) if found.len() < MAX_MERGED => values.iter().for_each(|&value| self.sources(value, found)),
            _ => found.push(value),
        }
    }

    /// Handles a merge. If a bitwise function computes one of the merged values, marks those operands of the function
    /// that are other merged values.
    fn merge(&mut self, values: &[Value]) {
        let mut sources = Vec::new();
        values.iter().for_each(|&value| self.sources(value, &mut sources));
        let values = sources;
        for (i, &whole) in values.iter().enumerate() {
            let mut operations = Vec::new();
            self.operations(self.origin(whole), &mut operations);
            if !(2..=MAX_OPERATIONS).contains(&operations.len()) {
                continue;
            }
            for (_, &kept) in values.iter().enumerate().filter(|(j, _)| *j != i) {
                let kept = self.origin(kept);
                for &result in &operations {
                    let operands = self.logic.get(&result).map(|logic| logic.0).unwrap_or_default();
                    for operand in operands.into_iter().flatten() {
                        if self.origin(operand) == kept {
                            self.hidden.insert((result, operand));
                        }
                    }
                }
            }
        }
    }

    /// Appends the results of the bitwise operations that compute a value.
    fn operations(&self, value: Value, found: &mut Vec<Value>) {
        let Some(logic) = self.logic.get(&value) else { return };
        if found.len() > MAX_OPERATIONS || found.contains(&value) {
            return;
        }
        found.push(value);
        for operand in logic.0.into_iter().flatten() {
            self.operations(self.origin(operand), found);
        }
    }
}

/// Returns the operands of a region's `yield`, or `None` if the region has another terminator.
fn yielded(region: &Region) -> Option<&[Value]> {
    match region.terminator() {
        Some(Op::Yield(values)) => Some(values),
        _ => None,
    }
}

/// Replaces the marked operands.
fn hide(function: &mut Function, region: &mut Region, zero: Value, hidden: &FxHashSet<(Value, Value)>) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        for nested in inst.op.regions_mut() {
            hide(function, nested, zero, hidden);
        }
        if let [result] = inst.results[..] {
            inst.op.map_operands(|operand| {
                if hidden.contains(&(result, *operand)) {
                    let mut at = Cursor::new(function, &mut out, inst.span);
                    *operand = plus_zero(&mut at, *operand, zero);
                }
            });
        }
        out.push(inst);
    }
    region.insts = out;
}

/// Emits the sum of the bits of a value and zero, in the type of the value.
fn plus_zero(at: &mut Cursor<'_>, value: Value, zero: Value) -> Value {
    let ty = at.type_of(value);
    let Some(scalar) = ty.scalar() else { return value };
    let integer = match scalar.bits() {
        8 => Scalar::I8,
        16 => Scalar::I16,
        32 => Scalar::I32,
        _ => Scalar::I64,
    };
    let bits = at.cast(CastOp::Bitcast, value, integer);
    let zero = at.cast(if integer == Scalar::I64 { CastOp::ZExt } else { CastOp::Trunc }, zero, integer);
    let zeros = if ty.lanes() == 1 { zero } else { at.push(ty.with_scalar(integer), Op::Splat(zero)) };
    let sum = at.bin(BinOp::Add, bits, zeros);
    at.cast(CastOp::Bitcast, sum, scalar)
}
