//! Loops that count: their test, and how far several of their turns reach.

use rustc_hash::{FxHashMap, FxHashSet};

use super::unroll::Shape;
use crate::diag::Span;
use crate::ir::{BinOp, CmpOp, Function, Inst, Op, Region, Scalar, Type, Value};

/// The largest step that is a constant and understood.
const LONGEST_STEP: u64 = 1 << 20;

/// A loop that goes on while `compare(counter, bound)`, and ends nowhere else. Neither the bound nor the step of the counter changes in the loop.
pub(super) struct Counted {
    /// Where the test is in the body.
    pub(super) at: usize,
    /// `<`, signed or unsigned.
    compare: CmpOp,
    /// The index of the parameter that counts.
    pub(super) counter: usize,
    bound: Value,
    step: Step,
    /// That of the counter: `i32` or `i64`.
    pub(super) ty: Type,
}

/// What is added to a counter.
#[derive(Clone, Copy)]
enum Step {
    /// From 1 to [`LONGEST_STEP`].
    Constant(u64),
    /// Defined outside of the loop. Any number, even none.
    Value(Value),
}

impl Counted {
    /// Whether a loop is one. `constants` are those of the function.
    pub(super) fn of(function: &Function, constants: &FxHashMap<Value, u64>, shape: &Shape<'_>) -> Option<Self> {
        let (at, guard) = shape.body.insts.iter().enumerate().find(|(_, inst)| !inst.op.is_pure())?;
        let Op::If { cond, then, els } = &guard.op else { return None };
        let only = |region: &Region, wanted: fn(&Op) -> bool| matches!(&region.insts[..], [inst] if wanted(&inst.op));
        let (yields, breaks) = (|op: &Op| matches!(op, Op::Yield(_)), |op: &Op| matches!(op, Op::Break(_)));
        let holds = if only(then, yields) && only(els, breaks) {
            true
        } else if only(then, breaks) && only(els, yields) {
            false
        } else {
            return None;
        };
        let mut count = 0;
        shape.body.for_each_jump(&mut |op| count += usize::from(matches!(op, Op::Break(_))));
        if count != 1 || !guard.results.is_empty() {
            return None;
        }
        let define = |value: Value| shape.body.insts.iter().find(|inst| inst.results.first() == Some(&value)).map(|inst| &inst.op);
        let &Op::Cmp(kind, a, b) = define(*cond)? else { return None };
        let position = |value: Value| shape.params.iter().position(|&param| param == value);
        let (counter, bound, kind) = match (position(a), position(b)) {
            (Some(index), None) => (index, b, kind),
            (None, Some(index)) => (index, a, kind.mirrored()),
            _ => return None,
        };
        let compare = if holds { kind } else { kind.inverse()? };
        let ty = function.ty(bound);
        // With `<=` a saturated limit would still let the smallest number in.
        if !matches!(compare, CmpOp::SLt | CmpOp::ULt) || !matches!(ty, Type::Scalar(Scalar::I32 | Scalar::I64)) {
            return None;
        }
        let mut inside: FxHashSet<Value> = shape.params.iter().copied().collect();
        shape.body.walk(&mut |inst| inside.extend(inst.results.iter().copied()));
        let &Op::Bin(BinOp::Add, x, y) = define(shape.next[counter])? else { return None };
        let added = match (position(x) == Some(counter), position(y) == Some(counter)) {
            (true, false) => y,
            (false, true) => x,
            _ => return None,
        };
        let step = match constants.get(&added) {
            Some(&bits) if (1..=LONGEST_STEP).contains(&bits) => Step::Constant(bits),
            None if !inside.contains(&added) => Step::Value(added),
            _ => return None,
        };
        (!inside.contains(&bound)).then_some(Self { at, compare, counter, bound, step, ty })
    }

    /// Emits a bound for several turns at once: while [`Self::goes_on`] of a counter, that counter, all that are up to `spread` greater, and those of their next
    /// `turns - 1` turns are below the loop's own bound, and none is beyond the numbers that its type has. Where the loop counts backwards or by so much that
    /// several turns might not fit the type, no counter is below what is returned.
    pub(super) fn limit(&self, function: &mut Function, out: &mut Vec<Inst>, span: Span, turns: u64, spread: u64) -> Value {
        let signed = self.compare == CmpOp::SLt;
        let subtract = if signed { BinOp::SSubSat } else { BinOp::USubSat };
        let ty = self.ty;
        let step = match self.step {
            Step::Constant(step) => {
                let reach = function.emit_bits(out, span, ty, step * (turns - 1) + spread);
                return function.emit(out, span, ty, Op::Bin(subtract, self.bound, reach));
            }
            Step::Value(step) => step,
        };
        let all = ty.scalar().map_or(0, Scalar::mask);
        let largest = if signed { all >> 1 } else { all };
        let (most, factor) = (largest.saturating_sub(spread) / (turns - 1), turns - 1);
        let (most, factor) = (function.emit_bits(out, span, ty, most), function.emit_bits(out, span, ty, factor));
        let spread = function.emit_bits(out, span, ty, spread);
        let never = function.emit_bits(out, span, ty, if signed { largest + 1 } else { 0 });
        let fits = function.emit(out, span, Type::BOOL, Op::Cmp(CmpOp::ULe, step, most));
        let reach = function.emit(out, span, ty, Op::Bin(BinOp::Mul, step, factor));
        let reach = function.emit(out, span, ty, Op::Bin(BinOp::Add, reach, spread));
        let limit = function.emit(out, span, ty, Op::Bin(subtract, self.bound, reach));
        function.emit(out, span, ty, Op::Select(fits, limit, never))
    }

    /// Emits the end of a loop unless its counter is below a limit. It breaks with `values`.
    pub(super) fn test(&self, function: &mut Function, out: &mut Vec<Inst>, span: Span, counter: Value, limit: Value, values: Vec<Value>) {
        let cond = function.emit(out, span, Type::BOOL, Op::Cmp(self.compare, counter, limit));
        let then = Region { insts: vec![Inst::effect(Op::Yield(Vec::new()), span)] };
        let els = Region { insts: vec![Inst::effect(Op::Break(values), span)] };
        out.push(Inst::effect(Op::If { cond, then, els }, span));
    }
}
