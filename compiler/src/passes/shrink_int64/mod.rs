//! Converts 64-bit integer arithmetic to 32 bits if the result is the same.
//!
//! ```text
//! %3 = zext.i64 %gid
//! %4 = zext.i64 %n                      %5 = ult %gid, %n
//! %5 = ult %3, %4                =>     %6 = shl %gid, 2
//! %6 = shl %3, 2                        %8 = ptr_add %p, %6
//! %7 = trunc.i32 %6
//! %8 = ptr_add %p, %7
//! ```
//! `size_t` has 64 bits, but most values end in the 32-bit offset of an address ([demand]). Most compared or divided
//! values are known to fit 32 bits ([`ranges`](crate::analysis::ranges)): work-item ids, and loop counters with a
//! 32-bit bound. A value is computed in 32 bits if two conditions hold. Its low half is a function of its operands' low
//! halves. Either only its low half is used, or its upper half is the zero or sign extension of the low half.

mod demand;

use super::pass::Pass;
use crate::analysis::definitions::{Constants, Definitions};
use crate::analysis::ranges::Ranges;
use crate::diag::Span;
use crate::ir::{BinOp, CastOp, CmpOp, Const, Function, Inst, Op, Region, Scalar, Type, Value};
use demand::Demand;
use rustc_hash::FxHashMap;

pub(crate) const PASS: Pass = Pass::function("shrink_int64", |function, _| {
    run(function);
    Ok(true)
});

/// Narrows 64-bit values. Leaves redundant conversions, which `simplify` merges.
pub(crate) fn run(function: &mut Function) {
    if !function.values.iter().any(|value| value.ty.scalar() == Some(Scalar::I64)) {
        return;
    }
    let definitions = Definitions::of(function);
    let ranges = Ranges::of(function, &definitions);
    let demand = demand::of(function, &definitions, &ranges);
    let constants = Constants::of(&function.body);
    let mut body = std::mem::take(&mut function.body);
    let count = function.values.len();
    let mut pass = Narrow {
        low: vec![None; count],
        sources: FxHashMap::default(),
        replaced: FxHashMap::default(),
        owners: Vec::new(),
        constants,
        demand,
        ranges,
        function,
    };
    pass.region(&mut body);
    function.body = body;
}

/// An enclosing instruction, with a flag for each result and parameter: whether it is narrow.
struct Owner {
    is_loop: bool,
    results: Vec<bool>,
    params: Vec<bool>,
}

struct Narrow<'a> {
    function: &'a mut Function,
    constants: Constants,
    demand: Vec<Demand>,
    ranges: Ranges,
    /// For each 64-bit constant and extension: the operation that computes its low half.
    sources: FxHashMap<Value, Op>,
    /// For each narrow value: its low half. The original value then has no definition.
    low: Vec<Option<Value>>,
    /// Replacements of the results of truncations.
    replaced: FxHashMap<Value, Value>,
    owners: Vec<Owner>,
}

impl Narrow<'_> {
    fn is_wide(&self, value: Value) -> bool {
        self.function.ty(value).scalar() == Some(Scalar::I64)
    }

    fn narrow_type(&self, value: Value) -> Type {
        self.function.ty(value).with_scalar(Scalar::I32)
    }

    fn is_u32(&self, value: Value) -> bool {
        self.ranges.get(self.function, value).is_u32()
    }

    fn is_i32(&self, value: Value) -> bool {
        self.ranges.get(self.function, value).is_i32()
    }

    /// Whether the low half of a value determines all of its used bits.
    fn may_be_narrow(&self, value: Value) -> bool {
        self.is_wide(value) && (self.demand[value.index()] <= Demand::Low || self.is_u32(value) || self.is_i32(value))
    }

    /// Returns the low half of a value. Emits the low half to `out` if it does not exist.
    fn low(&mut self, out: &mut Vec<Inst>, span: Span, value: Value) -> Value {
        if let Some(low) = self.low.get(value.index()).copied().flatten() {
            return low;
        }
        let ty = self.narrow_type(value);
        let op = match self.sources.get(&value) {
            Some(&Op::Cast(_, inner)) if self.function.ty(inner) == ty => return inner,
            Some(op) => op.clone(),
            None => Op::Cast(CastOp::Trunc, value),
        };
        self.function.emit(out, span, ty, op)
    }

    /// Records the low half of a wide constant or extension.
    fn note_source(&mut self, value: Value, op: &Op) {
        let half = u64::from(u32::MAX);
        let source = match op {
            _ if !self.is_wide(value) => return,
            Op::Const(Const::Bits(bits)) => Op::Const(Const::Bits(bits & half)),
            Op::Const(Const::Lanes(lanes)) => Op::Const(Const::Lanes(lanes.iter().map(|lane| lane & half).collect())),
            Op::Const(Const::Undef) => Op::Const(Const::Undef),
            Op::Cast(kind @ (CastOp::ZExt | CastOp::SExt), inner) => Op::Cast(*kind, *inner),
            _ => return,
        };
        self.sources.insert(value, source);
    }

    /// Returns the 64-bit value. Emits an extension to `out` if the value is narrow.
    fn wide(&mut self, out: &mut Vec<Inst>, span: Span, value: Value) -> Value {
        let Some(low) = self.low.get(value.index()).copied().flatten() else { return value };
        let kind = if self.is_u32(value) || !self.is_i32(value) { CastOp::ZExt } else { CastOp::SExt };
        self.function.emit(out, span, self.function.ty(value), Op::Cast(kind, low))
    }

    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for inst in std::mem::take(&mut region.insts) {
            self.inst(inst, &mut out);
        }
        region.insts = out;
    }

    fn inst(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        let span = inst.span;
        inst.op.replace_operands(&self.replaced);
        match &mut inst.op {
            Op::If { .. } | Op::Switch { .. } => {
                self.widen_operands(&mut inst, out);
                let results = self.which_are_narrow(&inst.results);
                self.owners.push(Owner { is_loop: false, results: results.clone(), params: Vec::new() });
                for nested in inst.op.regions_mut() {
                    self.region(nested);
                }
                self.owners.pop();
                self.define_low(&mut inst.results, &results);
                out.push(inst);
                return;
            }
            Op::Loop { init, params, body, .. } => {
                let (results, chosen) = (self.which_are_narrow(&inst.results), self.which_are_narrow(params));
                self.narrow_or_widen(out, span, init, &chosen);
                self.define_low(params, &chosen);
                self.owners.push(Owner { is_loop: true, results: results.clone(), params: chosen });
                self.region(body);
                self.owners.pop();
                self.define_low(&mut inst.results, &results);
                out.push(inst);
                return;
            }
            Op::Yield(values) => {
                let chosen = self.owners.last().map(|owner| owner.results.clone()).unwrap_or_default();
                self.narrow_or_widen(out, span, values, &chosen);
                out.push(inst);
                return;
            }
            Op::Break(values) => {
                let chosen = self.owners.iter().rev().find(|owner| owner.is_loop).map(|owner| owner.results.clone()).unwrap_or_default();
                self.narrow_or_widen(out, span, values, &chosen);
                out.push(inst);
                return;
            }
            Op::Continue(values) => {
                let chosen = self.owners.iter().rev().find(|owner| owner.is_loop).map(|owner| owner.params.clone()).unwrap_or_default();
                self.narrow_or_widen(out, span, values, &chosen);
                out.push(inst);
                return;
            }
            _ => {}
        }
        if let [result] = inst.results[..] {
            if let Op::Cast(CastOp::Trunc, a) = inst.op
                && self.is_wide(a)
                && self.function.ty(result).scalar() == Some(Scalar::I32)
            {
                let low = self.low(out, span, a);
                self.replaced.insert(result, low);
                return;
            }
            if self.may_be_narrow(result)
                && let Some(op) = self.narrow_operation(out, span, &inst.op)
            {
                let ty = self.narrow_type(result);
                let low = self.function.emit(out, span, ty, op);
                self.low[result.index()] = Some(low);
                return;
            }
            self.note_source(result, &inst.op);
            if let Some(op) = self.narrow_use(out, span, &inst.op) {
                out.push(Inst { op, results: inst.results, span });
                return;
            }
        }
        self.widen_operands(&mut inst, out);
        out.push(inst);
    }

    fn widen_operands(&mut self, inst: &mut Inst, out: &mut Vec<Inst>) {
        let span = inst.span;
        inst.op.map_operands(|value| *value = self.wide(out, span, *value));
    }

    /// Determines for each result or parameter of control flow whether it becomes narrow.
    fn which_are_narrow(&self, values: &[Value]) -> Vec<bool> {
        values.iter().map(|&value| self.may_be_narrow(value)).collect()
    }

    /// Replaces narrow results or parameters by new values for their low halves.
    fn define_low(&mut self, values: &mut [Value], chosen: &[bool]) {
        for (value, &chosen) in values.iter_mut().zip(chosen) {
            if chosen {
                let low = self.function.new_value(self.narrow_type(*value));
                self.low[value.index()] = Some(low);
                *value = low;
            }
        }
    }

    /// Converts operands of control flow to low halves if `chosen`, otherwise to 64-bit values.
    fn narrow_or_widen(&mut self, out: &mut Vec<Inst>, span: Span, values: &mut [Value], chosen: &[bool]) {
        for (index, value) in values.iter_mut().enumerate() {
            *value = if chosen.get(index) == Some(&true) { self.low(out, span, *value) } else { self.wide(out, span, *value) };
        }
    }

    /// Returns the operation on low halves. Returns `None` if the low half of the result depends on other bits as well,
    /// or if narrowing is not profitable.
    fn narrow_operation(&mut self, out: &mut Vec<Inst>, span: Span, op: &Op) -> Option<Op> {
        Some(match op {
            Op::Bin(kind, a, b) => return self.narrow_binary(out, span, *kind, *a, *b),
            Op::Un(kind, a) => Op::Un(*kind, self.low(out, span, *a)),
            Op::Select(cond, a, b) => Op::Select(*cond, self.low(out, span, *a), self.low(out, span, *b)),
            Op::Splat(a) => Op::Splat(self.low(out, span, *a)),
            Op::Extract(a, lane) => {
                // Truncating every lane to extract one lane is not profitable, unless the low halves exist already.
                self.low[a.index()]?;
                Op::Extract(self.low(out, span, *a), *lane)
            }
            Op::Construct(parts) => Op::Construct(parts.iter().map(|&part| self.low(out, span, part)).collect()),
            Op::Insert(vector, lane, part) => Op::Insert(self.low(out, span, *vector), *lane, self.low(out, span, *part)),
            Op::Shuffle(a, b, order) => Op::Shuffle(self.low(out, span, *a), self.low(out, span, *b), order.clone()),
            _ => return None,
        })
    }

    fn narrow_binary(&mut self, out: &mut Vec<Inst>, span: Span, kind: BinOp, a: Value, b: Value) -> Option<Op> {
        let unsigned = self.is_u32(a) && self.is_u32(b);
        let signed = self.is_i32(a) && self.is_i32(b);
        let kind = match kind {
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => kind,
            // 32-bit shifts take their amount modulo 32.
            BinOp::Shl if self.constants.bits(b).is_some_and(|bits| bits < 32) => kind,
            BinOp::LShr | BinOp::AShr if self.constants.bits(b).is_some_and(|bits| bits < 32) => {
                if self.is_u32(a) {
                    BinOp::LShr
                } else if kind == BinOp::AShr && self.is_i32(a) {
                    kind
                } else {
                    return None;
                }
            }
            BinOp::UDiv | BinOp::URem | BinOp::UMin | BinOp::UMax if unsigned => kind,
            BinOp::SDiv if unsigned => BinOp::UDiv,
            BinOp::SRem if unsigned => BinOp::URem,
            BinOp::SMin if unsigned => BinOp::UMin,
            BinOp::SMax if unsigned => BinOp::UMax,
            BinOp::SMin | BinOp::SMax if signed => kind,
            // The smallest number divided by -1 does not fit 32 bits.
            BinOp::SDiv | BinOp::SRem if signed && self.ranges.get(self.function, b).low > -1 => kind,
            _ => return None,
        };
        Some(Op::Bin(kind, self.low(out, span, a), self.low(out, span, b)))
    }

    /// Returns the operation on low halves, for an operation with 64-bit operands and a result of another type. Returns
    /// `None` if the result depends on other bits as well.
    fn narrow_use(&mut self, out: &mut Vec<Inst>, span: Span, op: &Op) -> Option<Op> {
        match *op {
            Op::Cmp(kind, a, b) if self.is_wide(a) => {
                let kind = if self.is_u32(a) && self.is_u32(b) {
                    match kind {
                        CmpOp::SLt => CmpOp::ULt,
                        CmpOp::SLe => CmpOp::ULe,
                        CmpOp::SGt => CmpOp::UGt,
                        CmpOp::SGe => CmpOp::UGe,
                        same => same,
                    }
                } else if self.is_i32(a) && self.is_i32(b) && !matches!(kind, CmpOp::ULt | CmpOp::ULe | CmpOp::UGt | CmpOp::UGe) {
                    kind
                } else {
                    return None;
                };
                Some(Op::Cmp(kind, self.low(out, span, a), self.low(out, span, b)))
            }
            Op::Cast(CastOp::Trunc, a) if self.is_wide(a) => Some(Op::Cast(CastOp::Trunc, self.low(out, span, a))),
            Op::Cast(CastOp::SToF | CastOp::UToF, a) if self.is_wide(a) && self.is_u32(a) => {
                Some(Op::Cast(CastOp::UToF, self.low(out, span, a)))
            }
            Op::Cast(CastOp::SToF, a) if self.is_wide(a) && self.is_i32(a) => Some(Op::Cast(CastOp::SToF, self.low(out, span, a))),
            _ => None,
        }
    }
}
