//! Collective operations on the lanes of a gang: those of subgroups, and those of work-groups that consist of one gang.
//!
//! A subgroup is a gang. Its work-items run in lockstep under a mask of the active lanes. Inactive lanes are set to the
//! neutral element. Then the code combines each vector with a shuffled copy of itself, in log2(lanes) steps:
//!
//! ```text
//! reduction   x0 x1 x2 x3  +  x2 x3 x0 x1  =  sums of two lanes;  + itself moved by one  =  the sum in all lanes
//! scan        x0 x1 x2 x3  +   0 x0 x1 x2  =  sums of two lanes;  + itself moved by two  =  the sums up to each lane
//! ```
//! A result that is the same in all lanes is a scalar.

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{Addr, BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Mem, Op as VOp, Type as Register, UnOp as VUn, Value as V};

use super::shape::{Mode, elem};
use super::uniformity::LaneShape;
use super::value::{Comps, Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{BinOp, Function, GroupOp, Module, Op, Scalar, Value, WorkItem};

/// Whether work-items can observe which subgroup they are in.
pub(super) fn sees_subgroups(module: &Module) -> bool {
    let sees = |function: &Function| {
        let mut found = false;
        function.body.walk(&mut |inst| {
            found |= match inst.op {
                Op::Group { sub, .. } => sub,
                Op::WorkItem(query) => {
                    matches!(query, WorkItem::SubgroupSize | WorkItem::SubgroupLocalId | WorkItem::SubgroupId | WorkItem::NumSubgroups)
                }
                _ => false,
            }
        });
        found
    };
    module.functions.iter().any(sees)
}

/// A reduction or scan.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    pub op: BinOp,
    pub of: Scalar,
}

impl Vectorizer<'_> {
    pub(super) fn collective(&mut self, result: Option<Value>, sub: bool, op: GroupOp, args: &[Value]) -> Lowered<()> {
        // An operation without a result is a barrier. The lanes run in lockstep, so the barrier only orders accesses.
        // See `Op::Barrier` in `checked_operation`.
        let Some(result) = result else {
            if !self.shape.isa.caps().has_strong_memory_order {
                self.b.effect(VOp::Fence);
            }
            return Ok(());
        };
        let &value = args.first().ok_or_else(|| internal!("{op:?} of nothing"))?;
        let made = if !sub && self.group.is_some() {
            self.group_scan(result, op, value)?
        } else if self.shape.lanes == 1 {
            self.collective_of_one(op, value)
        } else {
            self.collective_of_gang(result, op, value, args.get(1).copied())?
        };
        self.define(result, made);
        Ok(())
    }

    /// Computes a collective operation of a gang with one lane.
    fn collective_of_one(&mut self, op: GroupOp, value: Value) -> Val {
        let of = scalar(self.ir_ty(value));
        match op {
            GroupOp::ScanExclusive(op) | GroupOp::ActiveExclusive(op) => {
                Val::Uniform(SmallVec::from_slice(&self.number(of, Mode::Uniform, op.identity(of))))
            }
            GroupOp::Ballot => {
                let (first_lane, zero) = (self.first(value), self.i32(0));
                Val::Uniform(smallvec![first_lane, zero, zero, zero])
            }
            _ => self.val(value),
        }
    }

    fn collective_of_gang(&mut self, result: Value, op: GroupOp, value: Value, other: Option<Value>) -> Lowered<Val> {
        let operand = || other.ok_or_else(|| internal!("{op:?} of one operand"));
        let uniform = |scalar: V| Val::Uniform(smallvec![scalar]);
        Ok(match op {
            GroupOp::All | GroupOp::Any | GroupOp::BroadcastFirst | GroupOp::Broadcast | GroupOp::Shuffle if self.is_uniform(value) => {
                self.val(value)
            }
            GroupOp::All => {
                let bits = self.active_lanes_where(value, true);
                let zero = self.i32(0);
                uniform(self.op(Register::I32, VOp::Cmp(VCmp::Eq, bits, zero)))
            }
            GroupOp::Any => {
                let bits = self.active_lanes_where(value, false);
                let zero = self.i32(0);
                uniform(self.op(Register::I32, VOp::Cmp(VCmp::Ne, bits, zero)))
            }
            GroupOp::Ballot => {
                let (bits, zero) = (self.active_lanes_where(value, false), self.i32(0));
                Val::Uniform(smallvec![bits, zero, zero, zero])
            }
            GroupOp::BroadcastFirst => uniform(self.first_active_value(value)),
            GroupOp::Broadcast => {
                let index = self.equal_active_value(operand()?);
                uniform(self.value_of_lane(value, index))
            }
            GroupOp::Shuffle if self.is_uniform(operand()?) => {
                let index = self.first(operand()?);
                uniform(self.value_of_lane(value, index))
            }
            GroupOp::Shuffle | GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown => {
                Val::Varying(smallvec![self.shuffled(op, value, operand()?)?])
            }
            GroupOp::Reduce(_) => self.reduction(result, op, value, None)?,
            GroupOp::ActiveReduce(_) => self.reduction(result, op, value, other)?,
            GroupOp::ScanInclusive(op) => Val::Varying(smallvec![self.scan(op, value, None, true)?]),
            GroupOp::ScanExclusive(op) => Val::Varying(smallvec![self.scan(op, value, None, false)?]),
            GroupOp::ActiveInclusive(op) => Val::Varying(smallvec![self.scan(op, value, other, true)?]),
            GroupOp::ActiveExclusive(op) => Val::Varying(smallvec![self.scan(op, value, other, false)?]),
            GroupOp::Barrier => return Err(internal!("a barrier with a result")),
        })
    }

    // Active lanes

    /// Computes a bit mask of active lanes: those in which a `bool` is true, or with `not`, those in which it is false.
    pub(super) fn active_lanes_where(&mut self, value: Value, not: bool) -> V {
        let masks = self.regs(value, Mode::Varying);
        let (value_bits, here) = (self.mask_bits(&masks), self.live_bits());
        let op = if not { VBin::AndNot } else { VBin::And };
        self.op(Register::I32, VOp::Bin(op, here, value_bits))
    }

    /// Computes the index of the first active lane.
    fn first_lane(&mut self) -> V {
        if self.masks.exec.is_none() {
            return self.i32(0);
        }
        let bits = self.live_bits();
        self.op(Register::I32, VOp::Un(VUn::Ctz, bits))
    }

    fn first_active_value(&mut self, value: Value) -> V {
        let lane = self.first_lane();
        self.value_of_lane(value, lane)
    }

    /// Returns a value that the program guarantees to be equal in all active lanes, as a scalar.
    pub(super) fn equal_active_value(&mut self, value: Value) -> V {
        if self.is_uniform(value) { self.first(value) } else { self.first_active_value(value) }
    }

    /// Returns the registers of a value, with the neutral element in inactive lanes.
    pub(super) fn active_or_neutral(&mut self, fold: Fold, value: Value) -> Regs {
        let regs = self.regs(value, Mode::Varying);
        match self.masks.exec.clone() {
            None => regs,
            Some(masks) => {
                let others = self.number(fold.of, Mode::Varying, fold.op.neutral(fold.of));
                self.select_regs(fold.of, Mode::Varying, &masks, &regs, &others)
            }
        }
    }

    // Values of other lanes

    /// Returns the value in lane `lane`. An index out of range selects any lane, or continues the sequence of a linear
    /// value.
    fn value_of_lane(&mut self, value: Value, lane: V) -> V {
        let (of, last) = (scalar(self.ir_ty(value)), self.shape.lanes - 1);
        if let Val::Linear(first, stride) = self.val(value) {
            let lane = if of == Scalar::I64 { self.op(Register::I64, VOp::Cast(VCast::ZExt, lane)) } else { lane };
            let ty = self.shape.register(of, Mode::Uniform);
            let by = self.bits(ty, stride.cast_unsigned() & of.mask());
            let more = self.op(ty, VOp::Bin(VBin::Mul, lane, by));
            return self.op(ty, VOp::Bin(VBin::Add, first, more));
        }
        let regs = self.regs(value, Mode::Varying);
        if let Some(lane) = self.constant_bits(lane) {
            return self.value_of_constant_lane(of, &regs, lane as u32 & last);
        }
        let mark = self.frame.mark();
        let at = self.spill(of, &regs);
        let last = self.i32(last);
        let lane = self.op(Register::I32, VOp::Bin(VBin::And, lane, last));
        let index = self.op(Register::I64, VOp::Cast(VCast::ZExt, lane));
        let addr = Addr { index: Some((index, elem(of).bytes() as u8)), ..self.frame_addr(at) };
        let made = self.emit(self.shape.register(of, Mode::Uniform), VOp::Load(Mem::Elem(elem(of)), addr));
        self.frame.release(mark);
        made
    }

    /// Returns the value in a lane with a constant index.
    pub(super) fn value_of_constant_lane(&mut self, of: Scalar, regs: &[V], lane: u32) -> V {
        let each = u32::from(self.b.ty(regs[0]).lanes());
        let ty = self.shape.register(of, Mode::Uniform);
        self.op(ty, VOp::Extract(regs[(lane / each) as usize], (lane % each) as u8))
    }

    /// Lowers `shuffle`, `shuffle_xor`, `shuffle_up` and `shuffle_down`.
    fn shuffled(&mut self, op: GroupOp, value: Value, other: Value) -> Lowered<Regs> {
        let (of, lanes) = (scalar(self.ir_ty(value)), self.shape.lanes);
        let (regs, last) = (self.regs(value, Mode::Varying), lanes - 1);
        let by = self.uniformity.definitions().scalar(other).map(|by| by as u32);
        if let Some(by) = by {
            return self.permute_constant(of, &regs, None, &|lane| {
                Some(last & if op == GroupOp::ShuffleXor { lane ^ by } else { shuffle_source(op, lane, by) })
            });
        }
        let index = self.regs(other, Mode::Varying);
        let lane_index = self.steps(Scalar::I32, 1);
        let index = match op {
            GroupOp::ShuffleXor => self.bin_regs(VBin::Xor, Scalar::I32, Mode::Varying, &lane_index, &index),
            GroupOp::ShuffleUp => self.bin_regs(VBin::Sub, Scalar::I32, Mode::Varying, &lane_index, &index),
            GroupOp::ShuffleDown => self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &lane_index, &index),
            _ => index,
        };
        Ok(self.permute(of, &regs, &index))
    }

    /// Permutes lanes. Indices are modulo the number of lanes.
    fn permute(&mut self, of: Scalar, regs: &[V], index: &[V]) -> Regs {
        let mode = Mode::Varying;
        if elem(of).bits() == 64 {
            // Permute the low and the high 32-bit words separately.
            let words = self.bitcast(of, Scalar::I32, mode, &[regs.into()]);
            let words: Comps = words.iter().map(|word| self.permute(Scalar::I32, word, index)).collect();
            return self.bitcast(Scalar::I32, of, mode, &words).swap_remove(0);
        }
        let ty = self.shape.register(of, mode);
        let Some((&first, others)) = regs.split_first() else { return Regs::new() };
        let from_first: Regs = index.iter().map(|&index| self.op(ty, VOp::Permute(first, index))).collect();
        if others.is_empty() {
            return from_first;
        }
        // A permutation reads the low bits of the index. The bits above them select the register.
        let each = u32::from(ty.lanes());
        let which = self.bin_const(VBin::And, Scalar::I32, mode, index, (self.shape.lanes - each).into());
        (each..).step_by(each as usize).zip(others).fold(from_first, |made, (begin, &other)| {
            let from_other: Regs = index.iter().map(|&index| self.op(ty, VOp::Permute(other, index))).collect();
            let begin = self.number(Scalar::I32, mode, begin.into());
            let is_other = self.compare_regs(VCmp::Eq, Scalar::I32, mode, &which, &begin);
            self.select_regs(of, mode, &is_other, &from_other, &made)
        })
    }

    /// Permutes lanes by constant indices. If `from` returns `None` for a lane, the lane gets its value from `fill`, or
    /// is unspecified without `fill`.
    pub(super) fn permute_constant(
        &mut self,
        of: Scalar,
        regs: &[V],
        fill: Option<&Regs>,
        from: &dyn Fn(u32) -> Option<u32>,
    ) -> Lowered<Regs> {
        let ty = self.shape.register(of, Mode::Varying);
        let each = u32::from(ty.lanes());
        let sources: SmallVec<[V; 4]> = regs.iter().copied().chain(fill.into_iter().flatten().copied()).collect();
        // The source of each lane, as an index into the lanes of all registers. The lanes of `fill` follow those of
        // `regs`.
        let place = |lane: u32| from(lane).unwrap_or(if fill.is_some() { self.shape.lanes + lane } else { lane });
        let places: Vec<u32> = (0..self.shape.lanes).map(place).collect();
        places.chunks(each as usize).map(|places| self.pick_lanes(&sources, ty, places)).collect()
    }

    /// Creates a register with lanes of one or two registers. Fails if the lanes come from more registers.
    fn pick_lanes(&mut self, sources: &[V], ty: Register, places: &[u32]) -> Lowered<V> {
        let each = u32::from(ty.lanes());
        let mut used: SmallVec<[V; 2]> = SmallVec::new();
        let mut lanes = Vec::with_capacity(places.len());
        for place in places {
            let source = *sources.get((place / each) as usize).ok_or_else(|| internal!("a lane that does not exist"))?;
            let index = used.iter().position(|&known| known == source).unwrap_or_else(|| {
                used.push(source);
                used.len() - 1
            });
            lanes.push((index as u32 * each + place % each) as u8);
        }
        match used[..] {
            [whole] if (0..).zip(&lanes).all(|(lane, &from)| lane == from) => Ok(whole),
            [one] => Ok(self.op(ty, VOp::Shuffle(one, one, lanes.into()))),
            [one, other] => Ok(self.op(ty, VOp::Shuffle(one, other, lanes.into()))),
            _ => Err(internal!("a shuffle with lanes of {} vectors; expected at most 2", used.len())),
        }
    }

    // Reductions and scans

    fn reduction(&mut self, result: Value, op: GroupOp, value: Value, cluster: Option<Value>) -> Lowered<Val> {
        let op = op.combining_op().ok_or_else(|| internal!("{op:?} is not a reduction or scan"))?;
        let fold = Fold { op, of: scalar(self.ir_ty(value)) };
        let regs = self.active_or_neutral(fold, value);
        if !self.is_uniform(result) {
            let cluster = cluster.ok_or_else(|| internal!("a varying reduction without a cluster size"))?;
            return Ok(Val::Varying(smallvec![self.reduced_in_clusters(fold, &regs, cluster)?]));
        }
        Ok(Val::Uniform(smallvec![self.reduced(fold, &regs)?]))
    }

    /// Combines all lanes to a scalar.
    pub(super) fn reduced(&mut self, fold: Fold, regs: &[V]) -> Lowered<V> {
        let mut sum = Regs::from_slice(regs);
        let mut step = self.shape.lanes / 2;
        while step > 0 {
            let other = self.permute_constant(fold.of, &sum, None, &|lane| Some(lane ^ step))?;
            sum = self.binary(fold.op, fold.of, Mode::Varying, &sum, &other)?;
            step /= 2;
        }
        Ok(self.value_of_constant_lane(fold.of, &sum, 0))
    }

    /// Combines the lanes of each cluster. The size of a cluster is a power of two.
    fn reduced_in_clusters(&mut self, fold: Fold, regs: &[V], cluster: Value) -> Lowered<Regs> {
        let known = self.uniformity.definitions().scalar(cluster).map(|size| size as u32);
        let mut sum = Regs::from_slice(regs);
        let mut step = 1;
        while step < known.unwrap_or(self.shape.lanes).min(self.shape.lanes) {
            let other = self.permute_constant(fold.of, &sum, None, &|lane| Some(lane ^ step))?;
            let more = self.binary(fold.op, fold.of, Mode::Varying, &sum, &other)?;
            sum = if known.is_some() {
                more
            } else {
                let (size, step_size) = (self.regs(cluster, Mode::Varying), self.number(Scalar::I32, Mode::Varying, u64::from(step)));
                let inside = self.compare_regs(VCmp::UGt, Scalar::I32, Mode::Varying, &size, &step_size);
                self.select_regs(fold.of, Mode::Varying, &inside, &more, &sum)
            };
            step *= 2;
        }
        Ok(sum)
    }

    fn scan(&mut self, op: BinOp, value: Value, cluster: Option<Value>, inclusive: bool) -> Lowered<Regs> {
        let lanes = self.shape.lanes;
        let size = match cluster {
            None => lanes,
            Some(size) => {
                self.uniformity.definitions().scalar(size).ok_or_else(|| internal!("the cluster size of a scan is not constant"))? as u32
            }
        };
        let size = size.clamp(1, lanes);
        let fold = Fold { op, of: scalar(self.ir_ty(value)) };
        let regs = self.active_or_neutral(fold, value);
        let sums = self.scanned(fold, &regs, size)?;
        if inclusive {
            return Ok(sums);
        }
        let identity = self.number(fold.of, Mode::Varying, op.identity(fold.of));
        let before = self.permute_constant(fold.of, &sums, Some(&identity), &|lane| earlier(lane, 1, size))?;
        if self.masks.exec.is_none() || op.neutral(fold.of) == op.identity(fold.of) {
            return Ok(before);
        }
        // A lane gets the identity if no lane before it in its cluster is active.
        let bits = self.live_bits();
        let (bits, ty) = (self.splat(bits, Scalar::I32), self.shape.register(Scalar::I32, Mode::Varying));
        let each = u32::from(ty.lanes());
        let those = |lane: u32| u64::from(((1_u32 << lane) - 1) & !((1 << (lane / size * size)) - 1));
        let others: Regs = (0..lanes / each).map(|index| self.lanes(ty, (index * each..(index + 1) * each).map(those).collect())).collect();
        let others = self.bin_regs(VBin::And, Scalar::I32, Mode::Varying, &bits, &others);
        let zero = self.number(Scalar::I32, Mode::Varying, 0);
        let none = self.compare_regs(VCmp::Eq, Scalar::I32, Mode::Varying, &others, &zero);
        Ok(self.select_regs(fold.of, Mode::Varying, &none, &identity, &before))
    }

    /// Combines each lane with all lanes before it in its cluster.
    pub(super) fn scanned(&mut self, fold: Fold, regs: &[V], size: u32) -> Lowered<Regs> {
        let neutral = self.number(fold.of, Mode::Varying, fold.op.neutral(fold.of));
        let mut sums = Regs::from_slice(regs);
        let mut step = 1;
        while step < size {
            let before = self.permute_constant(fold.of, &sums, Some(&neutral), &|lane| earlier(lane, step, size))?;
            sums = self.binary(fold.op, fold.of, Mode::Varying, &before, &sums)?;
            step *= 2;
        }
        Ok(sums)
    }
}

/// Returns the lane `step` lanes before `lane`, or `None` if that lane is in another cluster.
const fn earlier(lane: u32, step: u32, size: u32) -> Option<u32> {
    if lane % size >= step { Some(lane - step) } else { None }
}

/// Returns the source lane of a shuffle.
const fn shuffle_source(op: GroupOp, lane: u32, by: u32) -> u32 {
    match op {
        GroupOp::ShuffleUp => lane.wrapping_sub(by),
        GroupOp::ShuffleDown => lane.wrapping_add(by),
        _ => by,
    }
}

/// Returns the lane shape of the result of a collective operation. `of` returns the lane shape of a value. `constant`
/// returns the bits of a constant.
pub(super) fn lane_shape(
    (sub, op, args): (bool, GroupOp, &[Value]),
    lanes: u32,
    of: impl Fn(Value) -> LaneShape,
    constant: impl Fn(Value) -> Option<i64>,
) -> LaneShape {
    match (op, args) {
        (GroupOp::Shuffle, &[value, index]) if sub => match (of(value), of(index)) {
            (LaneShape::Uniform, _) | (_, LaneShape::Uniform) => LaneShape::Uniform,
            (LaneShape::Unknown, _) | (_, LaneShape::Unknown) => LaneShape::Unknown,
            _ => LaneShape::Varying,
        },
        (GroupOp::ActiveReduce(_), &[_, cluster]) if constant(cluster).is_some_and(|size| size >= i64::from(lanes)) => LaneShape::Uniform,
        (GroupOp::All | GroupOp::Any | GroupOp::Reduce(_) | GroupOp::Broadcast | GroupOp::BroadcastFirst | GroupOp::Ballot, _) => {
            LaneShape::Uniform
        }
        _ => LaneShape::Varying,
    }
}
