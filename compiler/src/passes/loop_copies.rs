//! Utilities for unrolling: copies of iterations, and one test for several iterations of a loop with a run-time bound.
//!
//! Example: for `i < n` with step 1, four iterations can be executed at once while `i < usub_sat(n, 3)`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::definitions::Constants;
use crate::analysis::loops::{Counted, SingleLatchLoop};
use crate::ir::{BinOp, Build, CmpOp, Function, Inst, Op, Scalar, Type, Value};

/// The largest supported constant step.
const LONGEST_STEP: u64 = 1 << 20;

/// A loop that continues while `counter < bound`, with a loop-invariant bound and step.
pub(super) struct LoopBound {
    /// The position of the test in the body.
    pub(super) test: usize,
    /// `SLt` or `ULt`.
    compare: CmpOp,
    /// The index of the counter among the loop's parameters.
    pub(super) counter: usize,
    bound: Value,
    step: Step,
    /// The type of the counter: `i32` or `i64`.
    ty: Type,
}

/// The step of a counter.
#[derive(Clone, Copy)]
enum Step {
    /// From 1 to [`LONGEST_STEP`].
    Constant(u64),
    /// A loop-invariant value. It may be zero or negative.
    Value(Value),
}

impl LoopBound {
    /// Recognises a loop. `constants` are the constants of the function. Returns `None` for loops of another form.
    pub(super) fn of(function: &Function, constants: &Constants, latch_loop: &SingleLatchLoop<'_>) -> Option<Self> {
        let Counted { test, counter, ty, compare, bound, step: (BinOp::Add, added), .. } = Counted::of(function, latch_loop)? else {
            return None;
        };
        // `<=` is not supported: if `n - 3` saturates to the smallest number, `i <= usub_sat(n, 3)` still accepts this
        // number.
        if !matches!(compare, CmpOp::SLt | CmpOp::ULt) || !matches!(ty, Type::I32 | Type::I64) {
            return None;
        }
        let mut inside: FxHashSet<Value> = latch_loop.params.iter().copied().collect();
        latch_loop.body.walk(&mut |inst| inside.extend(inst.results.iter().copied()));
        let step = match constants.bits(added) {
            Some(bits) if (1..=LONGEST_STEP).contains(&bits) => Step::Constant(bits),
            None if !inside.contains(&added) => Step::Value(added),
            _ => return None,
        };
        (!inside.contains(&bound)).then_some(Self { test, compare, counter, bound, step, ty })
    }

    /// Emits a bound for several iterations at once. While the [test](Self::test) of a counter against this bound
    /// holds, `iterations` iterations can be executed. Their counters are all below the loop's own bound and do not
    /// overflow. If the step is negative, or so large that a counter might overflow, no counter is below the returned
    /// bound.
    pub(super) fn limit(&self, at: &mut impl Build, iterations: u64) -> Value {
        let signed = self.compare == CmpOp::SLt;
        let subtract = if signed { BinOp::SSubSat } else { BinOp::USubSat };
        let ty = self.ty;
        let step = match self.step {
            Step::Constant(step) => return at.bin_bits(subtract, self.bound, step * (iterations - 1)),
            Step::Value(step) => step,
        };
        let all = ty.scalar().map_or(0, Scalar::mask);
        let largest = if signed { all >> 1 } else { all };
        let (most, factor) = (largest / (iterations - 1), iterations - 1);
        let (most, factor) = (at.bits(ty, most), at.bits(ty, factor));
        let never = at.bits(ty, if signed { largest + 1 } else { 0 });
        let fits = at.cmp(CmpOp::ULe, step, most);
        let reach = at.bin(BinOp::Mul, step, factor);
        let limit = at.bin(subtract, self.bound, reach);
        at.select(fits, limit, never)
    }

    /// Emits a `break` with the operands `values`, which is executed if the counter is not below `limit`.
    pub(super) fn test(&self, at: &mut impl Build, counter: Value, limit: Value, values: Vec<Value>) {
        let cond = at.cmp(self.compare, counter, limit);
        at.break_unless(cond, values);
    }
}

/// Copies an instruction. All definitions get new values, which are recorded in `map`.
pub(super) fn copy(function: &mut Function, inst: &Inst, map: &mut FxHashMap<Value, Value>) -> Inst {
    let mut copy = inst.clone();
    rename_values(function, &mut copy, map);
    copy
}

fn rename_values(function: &mut Function, inst: &mut Inst, map: &mut FxHashMap<Value, Value>) {
    inst.op.replace_operands(map);
    let mut define = |value: &mut Value| {
        let new = function.new_value(function.ty(*value));
        map.insert(*value, new);
        *value = new;
    };
    if let Op::Loop { params, .. } = &mut inst.op {
        params.iter_mut().for_each(&mut define);
    }
    inst.results.iter_mut().for_each(define);
    for region in inst.op.regions_mut() {
        for inst in &mut region.insts {
            rename_values(function, inst, map);
        }
    }
}

/// Appends a copy of the loop body for the given parameters, without the instruction at the position `skipped`. Returns
/// the parameters of the next iteration.
pub(super) fn copy_iteration(
    function: &mut Function,
    latch_loop: &SingleLatchLoop<'_>,
    params: Vec<Value>,
    skipped: Option<usize>,
    out: &mut Vec<Inst>,
) -> Vec<Value> {
    let mut map: FxHashMap<Value, Value> = latch_loop.params.iter().copied().zip(params).collect();
    for (index, inst) in latch_loop.insts().iter().enumerate() {
        if Some(index) != skipped {
            let copy = copy(function, inst, &mut map);
            out.push(copy);
        }
    }
    latch_loop.next.iter().map(|value| map.get(value).copied().unwrap_or(*value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::eval;
    use crate::diag::Span;
    use crate::ir::{Const, Cursor};

    /// Evaluates the instructions that [`LoopBound::limit`] emits.
    fn limit(compare: CmpOp, ty: Type, (bound, step, iterations): (u64, u64, u64), constant: bool) -> u64 {
        let mut function = Function::new("limit", Type::Void);
        let mut out = Vec::new();
        let bound = function.emit_bits(&mut out, Span::NONE, ty, bound);
        let value = function.emit_bits(&mut out, Span::NONE, ty, step);
        let step = if constant { Step::Constant(step) } else { Step::Value(value) };
        let counted = LoopBound { test: 0, compare, counter: 0, bound, step, ty };
        let limit = counted.limit(&mut Cursor::new(&mut function, &mut out, Span::NONE), iterations);
        let mut values: FxHashMap<Value, u64> = FxHashMap::default();
        for inst in &out {
            let scalar = ty.scalar().expect("a number");
            let bits = match inst.op {
                Op::Const(Const::Bits(bits)) => Some(bits),
                Op::Bin(op, a, b) => eval::binary(op, scalar, values[&a], values[&b]),
                Op::Cmp(op, a, b) => eval::compare(op, scalar, values[&a], values[&b]).map(u64::from),
                Op::Select(cond, a, b) => Some(if values[&cond] != 0 { values[&a] } else { values[&b] }),
                _ => None,
            };
            values.insert(inst.results[0], bits.expect("a foldable operation"));
        }
        values[&limit]
    }

    #[test]
    fn limits_are_exact() {
        for (compare, ty) in [(CmpOp::ULt, Type::I32), (CmpOp::SLt, Type::I32), (CmpOp::ULt, Type::I64), (CmpOp::SLt, Type::I64)] {
            let mask = ty.scalar().map_or(0, Scalar::mask);
            let number = |bits: u64| {
                let sign = (mask >> 1) + 1;
                if compare == CmpOp::SLt && bits & sign != 0 { i128::from(bits) - i128::from(mask) - 1 } else { i128::from(bits) }
            };
            let near = |bits: u64| [bits.wrapping_sub(1) & mask, bits, bits.wrapping_add(1) & mask];
            let edges: Vec<u64> = [0, 64, 1000, mask / 15, mask / 3, mask / 2, mask - mask / 3, mask].into_iter().flat_map(near).collect();
            for iterations in [4, 16] {
                for &bound in &edges {
                    for &step in &edges {
                        for constant in [false, true] {
                            if constant && !(1..=LONGEST_STEP).contains(&step) {
                                continue;
                            }
                            let limit = limit(compare, ty, (bound, step, iterations), constant);
                            let reach = number(step) * i128::from(iterations - 1);
                            for counter in near(limit).into_iter().chain(near(bound)).chain(edges.iter().copied()) {
                                let fits = number(step) >= 0 && reach <= number(mask >> u32::from(compare == CmpOp::SLt));
                                let continues = number(counter) < number(limit);
                                assert_eq!(
                                    continues,
                                    fits && number(counter) + reach < number(bound),
                                    "{compare:?} {ty:?} {bound:#x} {step:#x} {iterations} {counter:#x} {limit:#x}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
