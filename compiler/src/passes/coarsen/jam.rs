//! The rewriting step of [`super`]: repeats each instruction whose result differs between work-items, and merges
//! contiguous accesses of neighbouring work-items.

use rustc_hash::FxHashMap;

use super::lanes::CoarseningAnalysis;
use super::wide;
use crate::diag::Span;
use crate::ir::{BinOp, CastOp, Function, Inst, Op, Region, Type, UnOp, Value, WorkItem};

/// Rewrites the body of a kernel.
pub(super) fn run(function: &mut Function, found: &CoarseningAnalysis) {
    let mut body = std::mem::take(&mut function.body);
    let mut jam = Jam { function, found, values: FxHashMap::default() };
    jam.region(&mut body, &Targets { yields: &[], breaks: &[], continues: &[], all: false });
    function.body = body;
}

struct Jam<'a> {
    function: &'a mut Function,
    found: &'a CoarseningAnalysis,
    /// For each value that differs between work-items, its copies, one for each work-item.
    values: FxHashMap<Value, Vec<Value>>,
}

/// The results and parameters that the terminators of a region assign.
#[derive(Clone, Copy)]
struct Targets<'a> {
    yields: &'a [Value],
    breaks: &'a [Value],
    continues: &'a [Value],
    /// Whether `yield` has one operand per work-item for every result, even for uniform results.
    all: bool,
}

impl Jam<'_> {
    fn count(&self) -> usize {
        self.found.count as usize
    }

    /// Returns the copy of a value for work-item `lane`.
    fn value(&self, value: Value, lane: usize) -> Value {
        self.values.get(&value).and_then(|values| values.get(lane)).copied().unwrap_or(value)
    }

    /// Creates one new value per work-item.
    fn split(&mut self, value: Value) -> Vec<Value> {
        let ty = self.function.ty(value);
        let values: Vec<Value> = (0..self.count()).map(|_| self.function.new_value(ty)).collect();
        self.values.insert(value, values.clone());
        values
    }

    /// Creates the new results or parameters of an instruction with regions. A value that differs becomes one value per
    /// work-item.
    fn define(&mut self, values: &[Value]) -> Vec<Value> {
        let mut list = Vec::new();
        for &value in values {
            if self.found.is_varying(value) {
                list.extend(self.split(value));
            } else {
                list.push(value);
            }
        }
        list
    }

    /// Returns the new operands of a terminator or loop. There is one operand per work-item for targets that differ,
    /// and for all targets if `all`.
    fn expand_operands(&self, from: &[Value], to: &[Value], all: bool) -> Vec<Value> {
        let mut list = Vec::new();
        for (&from, &to) in from.iter().zip(to) {
            if all || self.found.is_varying(to) {
                list.extend((0..self.count()).map(|lane| self.value(from, lane)));
            } else {
                list.push(from);
            }
        }
        list
    }

    fn region(&mut self, region: &mut Region, targets: &Targets<'_>) {
        let mut out = Vec::with_capacity(region.insts.len());
        for inst in std::mem::take(&mut region.insts) {
            self.inst(inst, targets, &mut out);
        }
        region.insts = out;
    }

    fn inst(&mut self, mut inst: Inst, targets: &Targets<'_>, out: &mut Vec<Inst>) {
        match &mut inst.op {
            Op::If { cond: selector, .. } | Op::Switch { selector, .. } if self.found.is_varying(*selector) => {
                return self.divergent_branch(inst, out);
            }
            Op::If { .. } | Op::Switch { .. } => {
                for nested in inst.op.regions_mut() {
                    self.region(nested, &Targets { yields: &inst.results, all: false, ..*targets });
                }
                inst.results = self.define(&inst.results);
            }
            Op::Loop { init, params, body, .. } => {
                *init = self.expand_operands(init, params, false);
                let continues = std::mem::take(params);
                *params = self.define(&continues);
                self.region(body, &Targets { yields: &[], breaks: &inst.results, continues: &continues, all: false });
                inst.results = self.define(&inst.results);
            }
            Op::Yield(values) => *values = self.expand_operands(values, targets.yields, targets.all),
            Op::Break(values) => *values = self.expand_operands(values, targets.breaks, false),
            Op::Continue(values) => *values = self.expand_operands(values, targets.continues, false),
            Op::Return(_) | Op::Unreachable => {}
            Op::WorkItem(WorkItem::GlobalId(0)) => return self.ids(&inst, out),
            Op::Load { ptr, .. } => {
                let ptr = *ptr;
                if let Some(&result) = inst.results.first()
                    && self.found.can_merge(ptr, self.function.ty(result))
                {
                    return self.load(ptr, result, inst.span, out);
                }
                return self.repeat(&inst, out);
            }
            Op::Store { ptr, value, .. } => {
                let (ptr, value) = (*ptr, *value);
                if self.found.can_merge(ptr, self.function.ty(value)) {
                    return self.store(ptr, value, inst.span, out);
                }
                return self.repeat(&inst, out);
            }
            _ => return self.repeat(&inst, out),
        }
        out.push(inst);
    }

    /// Emits the global ids of the work-items.
    fn ids(&mut self, inst: &Inst, out: &mut Vec<Inst>) {
        let Some(&result) = inst.results.first() else { return };
        let ids = self.split(result);
        let invocation = self.function.emit(out, inst.span, Type::I32, inst.op.clone());
        let shift = self.function.emit_bits(out, inst.span, Type::I32, u64::from(self.found.count.trailing_zeros()));
        let first = self.function.emit(out, inst.span, Type::I32, Op::Bin(BinOp::Shl, invocation, shift));
        for (lane, id) in (0..).zip(ids) {
            let number = self.function.emit_bits(out, inst.span, Type::I32, lane);
            out.push(Inst { op: Op::Bin(BinOp::Add, first, number), results: vec![id], span: inst.span });
        }
    }

    /// Emits an instruction once if its result is uniform, otherwise once per work-item.
    fn repeat(&mut self, inst: &Inst, out: &mut Vec<Inst>) {
        let once = match inst.results.first() {
            Some(&result) => !self.found.is_varying(result),
            None => false,
        };
        if once {
            out.push(inst.clone());
            return;
        }
        for &result in &inst.results {
            self.split(result);
        }
        for lane in 0..self.count() {
            let mut copy = inst.clone();
            copy.op.map_operands(|value| *value = self.value(*value, lane));
            for result in &mut copy.results {
                *result = self.value(*result, lane);
            }
            out.push(copy);
        }
    }

    fn load(&mut self, ptr: Value, result: Value, span: Span, out: &mut Vec<Inst>) {
        let ty = self.function.ty(result);
        let Some((memory, vector)) = wide(ty, self.found.count) else { return };
        let align = vector.access_size(0);
        let first = self.value(ptr, 0);
        let mut loaded = self.function.emit(out, span, memory, Op::Load { ptr: first, align, volatile: false });
        if memory != vector {
            loaded = self.function.emit(out, span, vector, Op::Cast(CastOp::Bitcast, loaded));
        }
        let lanes = ty.lanes();
        for (number, value) in (0u8..).zip(self.split(result)) {
            let op = match lanes {
                1 => Op::Extract(loaded, number),
                _ => Op::Shuffle(loaded, loaded, (0..lanes).map(|lane| Some(number * lanes + lane)).collect()),
            };
            out.push(Inst { op, results: vec![value], span });
        }
    }

    fn store(&mut self, ptr: Value, value: Value, span: Span, out: &mut Vec<Inst>) {
        let ty = self.function.ty(value);
        let (Some((memory, vector)), Some(scalar)) = (wide(ty, self.found.count), ty.scalar()) else { return };
        let align = vector.access_size(0);
        let mut parts = Vec::new();
        for lane in 0..self.count() {
            let value = self.value(value, lane);
            if ty.lanes() == 1 {
                parts.push(value);
                continue;
            }
            for part in 0..ty.lanes() {
                parts.push(self.function.emit(out, span, Type::Scalar(scalar), Op::Extract(value, part)));
            }
        }
        let mut stored = self.function.emit(out, span, vector, Op::Construct(parts));
        if memory != vector {
            stored = self.function.emit(out, span, memory, Op::Cast(CastOp::Bitcast, stored));
        }
        let ptr = self.value(ptr, 0);
        out.push(Inst::effect(Op::Store { ptr, value: stored, align, volatile: false }, span));
    }

    /// Rewrites an `if` or `switch` with a divergent condition. If a branch of an `if` has accesses to merge, the pass
    /// adds a version of the branch for all work-items together. That version is executed if all work-items take the
    /// branch. Otherwise, one copy of the instruction per work-item is executed in sequence.
    fn divergent_branch(&mut self, inst: Inst, out: &mut Vec<Inst>) {
        let span = inst.span;
        let has_merges = |region: &Region| {
            let mut merges = false;
            region.walk(&mut |inst| match inst.op {
                Op::Load { ptr, .. } => {
                    merges |= inst.results.first().is_some_and(|&result| self.found.can_merge(ptr, self.function.ty(result)))
                }
                Op::Store { ptr, value, .. } => merges |= self.found.can_merge(ptr, self.function.ty(value)),
                _ => {}
            });
            merges
        };
        let fast = match &inst.op {
            Op::If { cond, then, .. } if has_merges(then) => Some((*cond, true, then.clone())),
            Op::If { cond, els, .. } if has_merges(els) => Some((*cond, false, els.clone())),
            _ => None,
        };
        let Some((cond, taken_if, mut region)) = fast else {
            let results = self.one_by_one(&inst, out);
            for (&result, values) in inst.results.iter().zip(results) {
                self.values.insert(result, values);
            }
            return;
        };
        let mut all: Option<Value> = None;
        for lane in 0..self.count() {
            let mut here = self.value(cond, lane);
            if !taken_if {
                here = self.function.emit(out, span, Type::BOOL, Op::Un(UnOp::Not, here));
            }
            all = Some(match all {
                None => here,
                Some(before) => self.function.emit(out, span, Type::BOOL, Op::Bin(BinOp::And, before, here)),
            });
        }
        let Some(all) = all else { return };
        let mut slow = Vec::new();
        let results = self.one_by_one(&inst, &mut slow);
        slow.push(Inst::effect(Op::Yield(results.concat()), span));
        self.region(&mut region, &Targets { yields: &inst.results, breaks: &[], continues: &[], all: true });
        let mut defined = Vec::new();
        for &result in &inst.results {
            defined.extend(self.split(result));
        }
        out.push(Inst { op: Op::If { cond: all, then: region, els: Region { insts: slow } }, results: defined, span });
    }

    /// Emits a copy of an instruction with regions for each work-item. Returns the copies of each result, one per
    /// work-item.
    fn one_by_one(&mut self, inst: &Inst, out: &mut Vec<Inst>) -> Vec<Vec<Value>> {
        let mut results = vec![Vec::new(); inst.results.len()];
        for lane in 0..self.count() {
            let mut own = FxHashMap::default();
            let copy = self.copy(inst, lane, &mut own);
            for (list, result) in results.iter_mut().zip(&copy.results) {
                list.push(*result);
            }
            out.push(copy);
        }
        results
    }

    /// Copies an instruction for one work-item. All definitions get new values, which are recorded in `own`.
    fn copy(&mut self, inst: &Inst, lane: usize, own: &mut FxHashMap<Value, Value>) -> Inst {
        let mut copy = inst.clone();
        copy.op.map_operands(|value| *value = own.get(value).copied().unwrap_or_else(|| self.value(*value, lane)));
        if let Op::Loop { params, .. } = &mut copy.op {
            for param in params {
                *param = self.copy_definition(*param, own);
            }
        }
        for nested in copy.op.regions_mut() {
            nested.insts = std::mem::take(&mut nested.insts).iter().map(|inst| self.copy(inst, lane, own)).collect();
        }
        for result in &mut copy.results {
            *result = self.copy_definition(*result, own);
        }
        copy
    }

    fn copy_definition(&mut self, value: Value, own: &mut FxHashMap<Value, Value>) -> Value {
        let ty = self.function.ty(value);
        let new = self.function.new_value(ty);
        own.insert(value, new);
        new
    }
}
