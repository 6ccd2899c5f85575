//! Iterations without masks, for loops that lanes leave in different iterations.
//!
//! ```text
//! for (i = id; i < n; i += size) A           while first + lanes - 1 < n { A }            no masks
//!                                     =>     m = all;  while any(m &= i < n) { A under m }
//! ```
//! The counter is linear: the counters of neighbouring lanes differ by a constant stride. If the last lane stays in the
//! loop, all lanes stay. This is one scalar comparison with a bound that is computed before the loop. Without masks, an
//! access is one instruction on all processors, accesses with a stride load whole vectors, and the loop carries no
//! masks.

use smallvec::SmallVec;
use wgcl_codegen::vir::{BinOp, CmpOp as VCmp, Cond, Op as VOp, SourceLoc, Target, Terminator, Type as Register, Value as V};

use super::control::{IfNoLane, may_exit};
use super::loops::LoopState;
use super::uniformity::LaneShape;
use super::value::scalar;
use super::vectorizer::{Lowered, Vectorizer};
use crate::analysis::loops::SingleLatchLoop;
use crate::internal::internal;
use crate::ir::{CmpOp, Inst, Op, Region, Type, Value};

/// The maximum number of instructions of a loop with such iterations.
const MAX_SIZE: usize = 120;
/// The maximum number if a load would be several gathers with masks. The benchmark `matvec_q8_0` has 220 instructions.
const MAX_STRIDED_SIZE: usize = 400;

/// The test of a loop that continues while a linear counter is less than a bound.
#[derive(Clone, Copy)]
struct LinearTest {
    /// The position of the test in the body.
    at: usize,
    counter: Value,
    bound: Value,
    signed: bool,
    /// The counter of the last lane minus the counter of lane 0.
    span: u64,
}

impl<'a> Vectorizer<'a> {
    /// Emits the iterations of a loop that splits in which all lanes are active. `init` contains the registers of the
    /// loop's parameters. Returns the registers for the first iteration in which a lane leaves the loop. Returns `init`
    /// if the loop has another form.
    pub(super) fn full_iterations(&mut self, inst: &'a Inst, init: SmallVec<[V; 4]>) -> Lowered<SmallVec<[V; 4]>> {
        let Op::Loop { params, body, .. } = &inst.op else { return Ok(init) };
        let Some(test) = self.linear_test(&inst.op, body) else { return Ok(init) };
        let lane_shapes = self.lane_shapes(params);
        let types = self.types(&lane_shapes);
        let limit = self.limit(test);
        let (header, all, rest) = (self.b.block(), self.b.block(), self.b.block());
        let (packed, aos, bases) = (self.forms.packed.clone(), self.forms.aos.clone(), self.bases.len());
        self.open_loop(header, init);
        let depth = self.depth();
        let registers: Vec<V> = types.iter().map(|&ty| self.block_param(header, ty, depth)).collect();
        self.define_all(params, &lane_shapes, &registers);
        let may_wait = self.may_wait(inst);
        self.masks.loops.push(LoopState::without_masks(header, rest, lane_shapes, may_wait));
        for inst in &body.insts[..test.at] {
            self.b.set_source(SourceLoc(inst.span.lo));
            self.instruction(inst)?;
        }
        let first = self.first(test.counter);
        let compare = if test.signed { VCmp::SLt } else { VCmp::ULt };
        self.b.end(Terminator::Branch(Cond::Cmp(compare, first, limit), Target::new(all, []), Target::new(rest, registers)));
        self.b.enter(all);
        self.instructions(&body.insts[test.at + 1..], &[], IfNoLane::EndOfRegion)?;
        if !self.b.is_ended() {
            return Err(internal!("an iteration without masks does not end in a jump"));
        }
        self.masks.loops.pop();
        self.masks.exec = None;
        self.close_loop();
        // Other representations of values in these iterations are not available outside of them.
        (self.forms.packed, self.forms.aos) = (packed, aos);
        self.bases.truncate(bases);
        self.b.enter(rest);
        let depth = self.depth();
        Ok(types.into_iter().map(|ty| self.block_param(rest, ty, depth)).collect())
    }

    /// Returns the maximum number of instructions of a loop with iterations without masks.
    fn max_size(&self, body: &Region) -> usize {
        let mut is_strided = false;
        body.walk(&mut |inst| {
            if let (Op::Load { ptr, .. }, &[result]) = (&inst.op, &inst.results[..]) {
                let (ty, stride) = (self.ir_ty(result), self.uniformity.lane_shape(*ptr));
                let bytes = scalar(ty).size() * u32::from(ty.lanes());
                is_strided |= bytes >= 16 && matches!(stride, LaneShape::Linear(_));
            }
        });
        if is_strided { MAX_STRIDED_SIZE } else { MAX_SIZE }
    }

    /// Returns the test of a loop for which iterations without masks pay off.
    fn linear_test(&self, op: &Op, body: &Region) -> Option<LinearTest> {
        if self.shape.lanes == 1 || self.masks.exec.is_some() || self.masks.in_masked_copy || body.size() > self.max_size(body) {
            return None;
        }
        let latch_loop = SingleLatchLoop::of(op)?;
        let at = body.insts.iter().position(|inst| !inst.op.is_pure())?;
        let Inst { op: Op::If { cond, then, els }, results, .. } = &body.insts[at] else { return None };
        let leaves = |region: &Region| matches!(region.terminator(), Some(Op::Break(_)));
        let (stays_if, leaves_if) = (then.only_yields() && leaves(els), leaves(then) && els.only_yields());
        if !results.is_empty() || !(stays_if || leaves_if) {
            return None;
        }
        let is_excluded = |inst: &Inst| {
            let mut found = may_exit(inst);
            let mut visit = |inst: &Inst| found |= matches!(inst.op, Op::Call(..) | Op::Printf { .. } | Op::Group { .. } | Op::Barrier(_));
            visit(inst);
            inst.op.regions().into_iter().for_each(|region| region.walk(&mut visit));
            found
        };
        if latch_loop.insts()[at + 1..].iter().any(is_excluded) {
            return None;
        }
        let &Op::Cmp(kind, counter, bound) = self.uniformity.definitions().get(*cond)? else { return None };
        let signed = match if stays_if { kind } else { kind.inverse()? } {
            CmpOp::SLt => true,
            CmpOp::ULt => false,
            _ => return None,
        };
        let mut is_outside = !latch_loop.params.contains(&bound);
        body.walk(&mut |inst| is_outside &= !inst.results.contains(&bound));
        let LaneShape::Linear(stride @ 1..) = self.uniformity.lane_shape(counter) else { return None };
        let is_integer = matches!(self.ir_ty(counter), Type::I32 | Type::I64);
        let span = stride.unsigned_abs() * u64::from(self.shape.lanes - 1);
        (is_outside && is_integer && self.is_uniform(bound)).then_some(LinearTest { at, counter, bound, signed, span })
    }

    /// Returns the bound for the counter of lane 0: the bound minus the span, or the smallest number if the difference
    /// is not representable. If the counter is less, then no counter of a lane wraps around.
    fn limit(&mut self, test: LinearTest) -> V {
        let of = scalar(self.ir_ty(test.bound));
        let ty = if of.bits() == 64 { Register::I64 } else { Register::I32 };
        let bound = self.first(test.bound);
        let span = self.bits(ty, test.span);
        let difference = self.op(ty, VOp::Bin(BinOp::Sub, bound, span));
        let (compare, least) = if test.signed { (VCmp::SGt, 1 << (of.bits() - 1)) } else { (VCmp::UGt, 0) };
        let wraps = self.op(Register::I32, VOp::Cmp(compare, difference, bound));
        let least = self.bits(ty, least);
        self.op(ty, VOp::Select(wraps, least, difference))
    }
}
