//! Simplifies control flow: branches with a known condition, unnecessary branches, and loops that do not repeat.

use super::cheap_size;
use super::walk::{LoopFrame, Walk};
use crate::diag::Span;
use crate::ir::{BinOp, CmpOp, Const, Inst, Op, Region, Type, UnOp, Value};

/// Maximum number of instructions in both regions of an `if` that becomes `select`s.
const SELECT_LIMIT: usize = 6;

impl Walk<'_> {
    /// Replaces an instruction by its region `region`, which always executes. The instructions of the region are
    /// visited next.
    fn splice(&mut self, mut region: Region, results: &[Value], work: &mut Vec<Inst>) {
        self.changed = true;
        if let Some(Inst { op: Op::Yield(values), .. }) = region.insts.last() {
            for (&result, &value) in results.iter().zip(values) {
                self.replace(result, value);
            }
            region.insts.pop();
        } else {
            work.clear();
        }
        work.extend(region.insts.into_iter().rev());
    }

    /// Simplifies a region of an `if` or `switch`. `known` is a condition and its value in the region.
    fn conditional(&mut self, region: &mut Region, known: Option<(Value, bool)>) {
        let mut added = Vec::new();
        if let Some((cond, holds)) = known {
            self.learn(cond, holds, &mut added);
        }
        if let Some(frame) = self.loops.last_mut() {
            frame.conditions += 1;
        }
        self.region(region);
        if let Some(frame) = self.loops.last_mut() {
            frame.conditions -= 1;
        }
        for cond in added {
            self.facts.remove(&cond);
        }
    }

    /// Records the value of a condition, and the values of other conditions that follow from it. Appends the new facts
    /// to `added`.
    fn learn(&mut self, cond: Value, holds: bool, added: &mut Vec<Value>) {
        if self.constant_of(cond).is_some() || added.len() > 8 {
            return;
        }
        if self.facts.insert(cond, holds).is_none() {
            added.push(cond);
        }
        match self.def(cond) {
            Some(&Op::Un(UnOp::Not, inner)) => self.learn(inner, !holds, added),
            Some(&Op::Bin(BinOp::And, a, b)) if holds => {
                self.learn(a, true, added);
                self.learn(b, true, added);
            }
            Some(&Op::Bin(BinOp::Or, a, b)) if !holds => {
                self.learn(a, false, added);
                self.learn(b, false, added);
            }
            _ => {}
        }
    }

    pub(super) fn branch(&mut self, mut inst: Inst, out: &mut Vec<Inst>, work: &mut Vec<Inst>) {
        let Op::If { cond, then, els } = &mut inst.op else { return };
        if let Some(&Op::Un(UnOp::Not, inner)) = self.def(*cond) {
            *cond = inner;
            std::mem::swap(then, els);
            self.changed = true;
        }
        let cond = *cond;
        if let Some(bits) = self.bits(cond) {
            let taken = std::mem::take(if bits & 1 == 1 { then } else { els });
            let results = std::mem::take(&mut inst.results);
            self.splice(taken, &results, work);
            return;
        }
        let start = self.now();
        let before = self.memory.clone();
        self.conditional(then, Some((cond, true)));
        let after_then = std::mem::replace(&mut self.memory, before.clone());
        self.restore_memory(before.clone());
        self.conditional(els, Some((cond, false)));
        let after_els = self.memory.clone();
        let ends: Vec<_> = [(then.yields(), after_then), (els.yields(), after_els)]
            .into_iter()
            .filter_map(|(yields, memory)| yields.then_some(memory))
            .collect();
        self.join(&before, &ends);
        if self.if_to_select(cond, then, els, &inst.results, inst.span, out) {
            return;
        }
        if self.merge_with_equal(&inst) {
            return;
        }
        self.finish_branches(inst, start, out, work);
    }

    /// Converts an `if` with few cheap and pure operations to `select`s. Returns whether the `if` was converted.
    fn if_to_select(
        &mut self,
        cond: Value,
        then: &mut Region,
        els: &mut Region,
        results: &[Value],
        span: Span,
        out: &mut Vec<Inst>,
    ) -> bool {
        if results.is_empty() || !then.yields() || !els.yields() {
            return false;
        }
        let Some(cost) =
            cheap_size(then, SELECT_LIMIT).and_then(|cost| Some(cost + cheap_size(els, SELECT_LIMIT - cost.min(SELECT_LIMIT))?))
        else {
            return false;
        };
        if cost + results.len() > SELECT_LIMIT + 2 {
            return false;
        }
        let yielded = |region: &mut Region| match region.insts.pop() {
            Some(Inst { op: Op::Yield(values), .. }) => values,
            _ => Vec::new(),
        };
        let (yes, no) = (yielded(then), yielded(els));
        out.append(&mut then.insts);
        out.append(&mut els.insts);
        self.changed = true;
        for ((&result, yes), no) in results.iter().zip(yes).zip(no) {
            let value = self.pure(out, span, self.ty(result), Op::Select(cond, yes, no), Some(result));
            self.replace(result, value);
        }
        true
    }

    /// Replaces results that are equal for all regions. If no region yields, the code after the instruction is
    /// unreachable and is removed.
    fn finish_branches(&mut self, mut inst: Inst, start: u32, out: &mut Vec<Inst>, work: &mut Vec<Inst>) {
        let yielded = |region: &Region| match region.terminator() {
            Some(Op::Yield(values)) => Some(values.clone()),
            _ => None,
        };
        let yields: Vec<Vec<Value>> = inst.op.regions().into_iter().filter_map(yielded).collect();
        let continues = !yields.is_empty();
        let mut same = Vec::new();
        for (index, &result) in inst.results.iter().enumerate() {
            let mut values = yields.iter().filter_map(|values| values.get(index).copied());
            let first = values.next();
            if let Some(first) = first
                && values.all(|value| value == first)
                && self.is_older(first, start)
            {
                same.push((result, first));
            }
        }
        for (result, value) in same {
            self.changed = true;
            self.replace(result, value);
        }
        self.results_to_selects(&inst, &yields, start, out);
        for &result in &inst.results {
            self.define(result);
        }
        let span = inst.span;
        if !continues {
            inst.results.clear();
        }
        out.push(inst);
        if !continues {
            work.clear();
            out.push(Inst::effect(Op::Unreachable, span));
        }
    }

    /// Converts a result of an `if` to a `select` if both yielded values are defined before the `if`.
    fn results_to_selects(&mut self, inst: &Inst, yields: &[Vec<Value>], start: u32, out: &mut Vec<Inst>) {
        let (Op::If { cond, .. }, [then, els]) = (&inst.op, yields) else { return };
        for ((&result, &yes), &no) in inst.results.iter().zip(then).zip(els) {
            if yes != no && self.is_older(yes, start) && self.is_older(no, start) {
                self.changed = true;
                let value = self.make(out, inst.span, self.ty(result), Op::Select(*cond, yes, no));
                self.replace(result, value);
            }
        }
    }

    pub(super) fn switch(&mut self, mut inst: Inst, out: &mut Vec<Inst>, work: &mut Vec<Inst>) {
        let Op::Switch { selector, cases, default } = &mut inst.op else { return };
        let selector = *selector;
        let results = inst.results.clone();
        if let Some(bits) = self.bits(selector) {
            let index = cases.iter().position(|(values, _)| values.contains(&bits));
            let taken = index.map_or_else(|| std::mem::take(default), |index| std::mem::take(&mut cases[index].1));
            self.splice(taken, &results, work);
            return;
        }
        if cases.is_empty() {
            let taken = std::mem::take(default);
            self.splice(taken, &results, work);
            return;
        }
        if cases.len() == 1 && cases[0].0.len() == 1 {
            let (values, then) = std::mem::take(&mut cases[0]);
            let els = std::mem::take(default);
            let constant = self.splat(self.ty(selector), values[0]);
            let cond = self.make(out, inst.span, Type::BOOL, Op::Cmp(CmpOp::Eq, selector, constant));
            self.changed = true;
            inst.op = Op::If { cond, then, els };
            self.branch(inst, out, work);
            return;
        }
        let start = self.now();
        let before = self.memory.clone();
        let mut ends = Vec::new();
        for region in cases.iter_mut().map(|(_, region)| region).chain([default]) {
            self.restore_memory(before.clone());
            self.conditional(region, None);
            if region.yields() {
                ends.push(self.memory.clone());
            }
        }
        self.join(&before, &ends);
        self.finish_branches(inst, start, out, work);
    }

    pub(super) fn visit_loop(&mut self, mut inst: Inst, out: &mut Vec<Inst>, work: &mut Vec<Inst>) {
        let Op::Loop { init, params, body, .. } = &mut inst.op else { return };
        let (mut breaks, mut continues) = (0_usize, 0_usize);
        let mut varies = vec![false; params.len()];
        body.for_each_jump(&mut |op| match op {
            Op::Continue(values) => {
                continues += 1;
                for ((varies, &value), (&param, &start)) in varies.iter_mut().zip(values).zip(params.iter().zip(init.iter())) {
                    let value = self.resolve(value);
                    *varies |= value != param && value != start;
                }
            }
            _ => breaks += 1,
        });
        for (index, varies) in varies.iter().enumerate() {
            if !varies {
                // The parameter keeps its initial value. Dead code elimination removes the parameter.
                self.replace(params[index], init[index]);
            }
        }
        if continues == 0 {
            for (&param, &start) in params.iter().zip(init.iter()) {
                self.replace(param, start);
            }
            let last_breaks = matches!(body.terminator(), Some(Op::Break(_)));
            let ends_elsewhere = breaks == 0;
            if (breaks == 1 && last_breaks) || ends_elsewhere {
                let mut body = std::mem::take(body);
                if let Some(Inst { op, .. }) = body.insts.last_mut()
                    && let Op::Break(values) = op
                {
                    *op = Op::Yield(std::mem::take(values));
                }
                let results = std::mem::take(&mut inst.results);
                self.splice(body, &results, work);
                return;
            }
        }
        let start = self.now();
        let clobbers = self.clobbers_in(body);
        let outside = self.memory.clone();
        self.clobber(&clobbers);
        self.loops.push(LoopFrame { before: Vec::new(), scope: self.scope(), conditions: 0, may_have_left: false, outside });
        for &param in params.iter() {
            self.define(param);
        }
        // The known facts also hold in the loop, because their conditions are defined outside of the loop.
        self.region(body);
        if let Some(frame) = self.loops.pop() {
            out.extend(frame.before);
        }
        self.clobber(&clobbers);
        let mut broken: Vec<Vec<Value>> = Vec::new();
        body.for_each_jump(&mut |op| {
            if let Op::Break(values) = op {
                broken.push(values.clone());
            }
        });
        for (index, &result) in inst.results.iter().enumerate() {
            let first = broken.first().and_then(|values| values.get(index).copied());
            if let Some(first) = first
                && broken.iter().all(|values| values.get(index) == Some(&first))
                && self.is_older(first, start)
            {
                self.changed = true;
                self.replace(result, first);
            }
            self.define(result);
        }
        let span = inst.span;
        let ends = broken.is_empty();
        if ends {
            inst.results.clear();
        }
        out.push(inst);
        if ends {
            work.clear();
            out.push(Inst::effect(Op::Unreachable, span));
        }
    }

    /// Whether a value is the undefined constant.
    pub(super) fn is_undefined(&self, value: Value) -> bool {
        matches!(self.constant_of(value), Some(Const::Undef))
    }
}
