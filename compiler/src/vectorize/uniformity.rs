//! Uniformity analysis: how values vary among the lanes of a gang, and which constructs lanes diverge in.
//!
//! The lanes of a gang run in lockstep. A load from a uniform address executes once, so its result is uniform even if
//! other work-items write to the address. In contrast, [`crate::analysis::divergence`] compares work-items that run at
//! different times.
//!
//! A construct *splits* if lanes may take different paths through it: an `if` or `switch` whose selector is not
//! uniform, or a loop that lanes leave in different iterations or by different instructions. The results of such a
//! construct are varying, except for a result for which all regions of an `if` or `switch` yield the same value. A
//! `return` inside a construct that splits also makes the enclosing loops split.

use rustc_hash::{FxHashMap, FxHashSet};
use wgcl_codegen::IsaCaps;

use super::private::PrivateMemory;
use super::shape::Shape;
use crate::analysis::alignment::{Ids, zeros_of_first_lanes};
use crate::analysis::definitions::Definitions;
use crate::analysis::strides::stride;
use crate::analysis::targets::Targets;
use crate::ir::{BinOp, CastOp, Func, Function, Inst, Op, Region, Space, Type, Value, WorkItem};

/// The variation of a value among the lanes of a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneShape {
    /// Not computed yet, or defined in unreachable code.
    Unknown,
    /// Equal in all lanes.
    Uniform,
    /// The value grows by this stride from each lane to the next. The stride is not 0. Only for `i32`, `i64` and
    /// pointers.
    Linear(i64),
    Varying,
}

impl LaneShape {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, lane_shape) | (lane_shape, Self::Unknown) => lane_shape,
            (a, b) if a == b => a,
            _ => Self::Varying,
        }
    }

    /// Returns the stride, which is 0 for a uniform value. Returns `None` for other lane shapes.
    const fn stride(self) -> Option<i64> {
        match self {
            Self::Uniform => Some(0),
            Self::Linear(stride) => Some(stride),
            _ => None,
        }
    }

    /// Larger strides are not useful, and can wrap around within a gang.
    const MAX_STRIDE: u64 = 1 << 24;

    const fn of_stride(stride: i64) -> Self {
        match stride {
            0 => Self::Uniform,
            _ if stride.unsigned_abs() <= Self::MAX_STRIDE => Self::Linear(stride),
            _ => Self::Varying,
        }
    }
}

/// The lane shapes of the values of a function, and the constructs that split.
pub(super) struct Uniformity<'f> {
    function: &'f Function,
    definitions: Definitions<'f>,
    shape: Shape,
    private: PrivateMemory,
    lane_shapes: Vec<LaneShape>,
    /// The number of trailing zero bits of each value in lane 0. Empty unless lanes are along dimension 0.
    zeros: Vec<u8>,
    /// The instructions that split, by address. The address does not change while the function is borrowed.
    splits: FxHashSet<*const Inst>,
    changed: bool,
}

/// The state at the entry of a function.
#[derive(Clone, Copy)]
pub(super) enum Entry<'a> {
    /// Parameters are uniform. If `may_have_returned`, some lanes may have returned in an earlier segment.
    Kernel { may_have_returned: bool },
    /// Some lanes may be inactive. `params` are the lane shapes of the arguments, joined over all calls.
    Called { params: &'a [LaneShape] },
}

/// The enclosing constructs of a region.
#[derive(Clone, Copy)]
struct Around {
    /// Whether a construct between the innermost loop and the region splits.
    splits_in_loop: bool,
    /// Whether any enclosing construct splits.
    splits_anywhere: bool,
}

/// The jumps that leave a region before its end.
#[derive(Clone, Copy, Default)]
struct Exits {
    /// Whether a `break`, `continue` or `return` may execute in some lanes but not in others.
    diverge: bool,
    returns: bool,
    continues: u32,
}

impl<'f> Uniformity<'f> {
    /// Analyses a function.
    pub(super) fn of(function: &'f Function, shape: Shape, private: PrivateMemory, entry: Entry<'_>) -> Self {
        let mut this = Self {
            function,
            definitions: Definitions::of(function),
            shape,
            private,
            lane_shapes: vec![LaneShape::Unknown; function.values.len()],
            zeros: zeros(function, shape),
            splits: FxHashSet::default(),
            changed: true,
        };
        for (index, &param) in function.params.iter().enumerate() {
            this.join_lane_shape(
                param,
                match entry {
                    Entry::Kernel { .. } => LaneShape::Uniform,
                    Entry::Called { params } => params.get(index).copied().unwrap_or(LaneShape::Varying),
                },
            );
        }
        // If some lanes may be inactive at the entry, returns diverge.
        let splits_anywhere = shape.lanes > 1 && !matches!(entry, Entry::Kernel { may_have_returned: false });
        while std::mem::take(&mut this.changed) {
            this.region(&function.body, Targets::NONE, Around { splits_in_loop: false, splits_anywhere });
        }
        this
    }

    /// Joins the lane shapes of the arguments of all calls in this function into `params`.
    pub(super) fn join_arguments(&self, params: &mut FxHashMap<Func, Vec<LaneShape>>) {
        self.function.body.walk(&mut |inst| {
            let Op::Call(callee, args) = &inst.op else { return };
            let joined = params.entry(*callee).or_insert_with(|| vec![LaneShape::Unknown; args.len()]);
            for (param, &arg) in joined.iter_mut().zip(args) {
                *param = param.join(self.lane_shape(arg));
            }
        });
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    pub(super) const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the capabilities of the instruction set.
    pub(super) const fn caps(&self) -> IsaCaps {
        self.shape.isa.caps()
    }

    /// Returns the lane shape of a value.
    pub(super) fn lane_shape(&self, value: Value) -> LaneShape {
        match self.lane_shapes[value.index()] {
            LaneShape::Unknown => LaneShape::Uniform,
            lane_shape => lane_shape,
        }
    }

    /// Whether lanes may diverge at a construct.
    pub(super) fn splits(&self, inst: &Inst) -> bool {
        self.splits.contains(&std::ptr::from_ref(inst))
    }

    /// Whether a pointer points into a variable in element-major layout.
    pub(super) fn points_to_element_major(&self, pointer: Value) -> bool {
        match self.definitions.get(pointer) {
            Some(Op::VarAddr(var)) => self.private.is_element_major(*var),
            Some(Op::PtrAdd(base, _)) => self.points_to_element_major(*base),
            _ => false,
        }
    }

    /// Returns the definitions of values.
    pub(super) const fn definitions(&self) -> &Definitions<'f> {
        &self.definitions
    }

    fn join_lane_shape(&mut self, value: Value, lane_shape: LaneShape) {
        let old = self.lane_shapes[value.index()];
        let new = if self.shape.lanes == 1 { LaneShape::Uniform } else { old.join(lane_shape) };
        self.changed |= new != old;
        self.lane_shapes[value.index()] = new;
    }

    fn mark_split(&mut self, inst: &Inst) {
        self.changed |= self.splits.insert(std::ptr::from_ref(inst));
    }

    fn propagate(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            self.join_lane_shape(to, self.lane_shapes[from.index()]);
        }
    }

    fn region(&mut self, region: &'f Region, targets: Targets<'_>, around: Around) -> Exits {
        let mut exits = Exits::default();
        for inst in &region.insts {
            match &inst.op {
                Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                    if !matches!(self.lane_shapes[selector.index()], LaneShape::Uniform | LaneShape::Unknown) {
                        self.mark_split(inst);
                    }
                    let inner = self.if_or_switch(inst, targets, around);
                    exits.diverge |= inner.diverge;
                    exits.returns |= inner.returns;
                    exits.continues += inner.continues;
                }
                Op::Loop { init, params, body, .. } => {
                    self.propagate(init, params);
                    let inside = Targets::in_loop(params, &inst.results);
                    let splits = self.splits(inst);
                    let around_body = Around { splits_in_loop: false, splits_anywhere: around.splits_anywhere || splits };
                    let inner = self.region(body, inside, around_body);
                    if inner.diverge || (inner.returns && around.splits_anywhere) {
                        self.mark_split(inst);
                    }
                    if self.splits(inst) {
                        inst.results.iter().for_each(|&result| self.join_lane_shape(result, LaneShape::Varying));
                        if inner.continues > 1 {
                            params.iter().for_each(|&param| self.join_lane_shape(param, LaneShape::Varying));
                        }
                    }
                    exits.returns |= inner.returns;
                }
                op => {
                    if let Some((from, to)) = targets.of(op) {
                        self.propagate(from, to);
                    }
                    exits.diverge |= around.splits_in_loop && matches!(op, Op::Break(_) | Op::Continue(_) | Op::Return(_));
                    exits.continues += u32::from(matches!(op, Op::Continue(_)));
                    exits.returns |= matches!(op, Op::Return(_));
                    for &result in &inst.results {
                        let lane_shape = self.operation(op, self.function.ty(result));
                        self.join_lane_shape(result, lane_shape);
                    }
                }
            }
        }
        exits
    }

    fn if_or_switch(&mut self, inst: &'f Inst, targets: Targets<'_>, around: Around) -> Exits {
        let splits = self.splits(inst);
        let inside = Around { splits_in_loop: around.splits_in_loop || splits, splits_anywhere: around.splits_anywhere || splits };
        let mut exits = Exits::default();
        for region in inst.op.regions() {
            let inner = self.region(region, targets.in_branch(&inst.results), inside);
            exits.diverge |= inner.diverge;
            exits.returns |= inner.returns;
            exits.continues += inner.continues;
        }
        if splits {
            let yields: Vec<&[Value]> = inst.op.regions().iter().filter_map(|region| yielded(region)).collect();
            for (index, &result) in inst.results.iter().enumerate() {
                let mut values = yields.iter().filter_map(|values| values.get(index));
                let first = values.next();
                if values.any(|value| Some(value) != first) {
                    self.join_lane_shape(result, LaneShape::Varying);
                }
            }
        }
        exits
    }

    /// Returns the lane shape of the result of an operation without regions.
    fn operation(&self, op: &Op, ty: Type) -> LaneShape {
        let of = |value: Value| self.lane_shapes[value.index()];
        match *op {
            Op::WorkItem(query) => self.work_item(query),
            // The elements of neighbouring lanes are interleaved, so the address is not linear.
            Op::VarAddr(var) if self.private.is_element_major(var) => LaneShape::Varying,
            Op::VarAddr(_) => LaneShape::of_stride(i64::from(self.private.stride)),
            Op::Load { ptr, .. } if of(ptr) == LaneShape::Uniform => LaneShape::Uniform,
            Op::Load { .. } | Op::Atomic { .. } | Op::CmpXchg { .. } | Op::Call(..) | Op::Printf { .. } => LaneShape::Varying,
            Op::Group { sub, op, ref args } => {
                super::collective::lane_shape((sub, op, args), self.shape.lanes, of, |value| self.constant(value))
            }
            _ => {
                let mut uniform = true;
                let mut unknown = false;
                op.for_each_operand(|value| {
                    uniform &= of(value) == LaneShape::Uniform;
                    unknown |= of(value) == LaneShape::Unknown;
                });
                if uniform {
                    return LaneShape::Uniform;
                }
                if unknown {
                    return LaneShape::Unknown;
                }
                self.linear(op, ty).unwrap_or(LaneShape::Varying)
            }
        }
    }

    /// Returns the lane shape of an operation whose operands are uniform or linear, or `None` if the result is varying.
    fn linear(&self, op: &Op, ty: Type) -> Option<LaneShape> {
        let of = |value: Value| self.lane_shapes[value.index()].stride();
        let counts = matches!(ty, Type::I32 | Type::I64);
        let stride = match *op {
            Op::Bin(BinOp::And, a, mask) if counts => self.masked(a, self.constant(mask)?)?,
            Op::Bin(BinOp::LShr, a, by) if counts => {
                let bits = u32::try_from(self.constant(by)?).ok().filter(|bits| *bits < 32)?;
                self.masked(a, -1 << bits)?
            }
            Op::Cast(CastOp::ZExt, a) if ty == Type::I64 && self.is_id(a) => of(a)?,
            Op::Cast(CastOp::SExt, a) if ty == Type::I64 && self.is_local_id(a) => of(a)?,
            // If lanes differ only in low bits, the value does not wrap around between lanes.
            Op::Cast(CastOp::ZExt | CastOp::SExt, a) if ty == Type::I64 && self.function.ty(a) == Type::I32 => {
                self.range(a).filter(|range| range.fits_in(range.zeros.min(31))).map(|range| range.stride)?
            }
            // A cast that does not keep the pointer may return null in some lanes.
            Op::Cast(CastOp::SpaceCast, a) if keeps_pointer(self.function.ty(a), ty) => of(a)?,
            Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr, a) => of(a)?,
            _ => stride(self.function, &self.definitions, op, ty, |value| of(value).map(i64::cast_unsigned))?.cast_signed(),
        };
        Some(LaneShape::of_stride(stride))
    }

    /// Returns the stride of the low or high bits of a value, if the lanes differ only in the low bits. This holds if
    /// lane 0 is a multiple of a power of two, and the last lane is below the next multiple. So `local_id % 16` is
    /// linear and `local_id / 16` is uniform. Otherwise, returns `None`.
    fn masked(&self, value: Value, mask: i64) -> Option<i64> {
        let range = self.range(value)?;
        let (low, high) = ((mask + 1).cast_unsigned(), mask.wrapping_neg().cast_unsigned());
        let bits = if low.is_power_of_two() { low } else { high }.trailing_zeros();
        let stays = (low.is_power_of_two() || high.is_power_of_two()) && range.fits_in(range.zeros.min(bits).min(32));
        stays.then_some(if low.is_power_of_two() { range.stride } else { 0 })
    }

    /// Returns the range of the lanes of a uniform or linear value. Returns `None` for other values, or if nothing is
    /// known about lane 0.
    fn range(&self, value: Value) -> Option<LaneRange> {
        let stride = self.lane_shapes[value.index()].stride()?;
        let reach = stride.checked_mul(i64::from(self.shape.lanes) - 1)?;
        Some(LaneRange { stride, reach, zeros: u32::from(*self.zeros.get(value.index())?) })
    }

    fn constant(&self, value: Value) -> Option<i64> {
        let bits = self.definitions.scalar(value)?;
        Some(self.function.ty(value).scalar()?.sign_extend(bits))
    }

    /// Whether a value is a work-item id, which does not wrap around within a group.
    fn is_id(&self, value: Value) -> bool {
        self.is_local_id(value) || matches!(self.definitions.get(value), Some(Op::WorkItem(WorkItem::GlobalId(_))))
    }

    fn is_local_id(&self, value: Value) -> bool {
        matches!(self.definitions.get(value), Some(Op::WorkItem(WorkItem::LocalId(_) | WorkItem::SubgroupLocalId)))
    }

    fn work_item(&self, query: WorkItem) -> LaneShape {
        match query {
            WorkItem::GlobalId(dimension) | WorkItem::LocalId(dimension) if dimension < 3 => {
                if self.shape.group[usize::from(dimension)] == 1 {
                    LaneShape::Uniform
                } else if !self.shape.along_dimension {
                    LaneShape::Varying
                } else if dimension == self.shape.vector_dimension {
                    LaneShape::Linear(1)
                } else {
                    LaneShape::Uniform
                }
            }
            WorkItem::SubgroupLocalId => LaneShape::Linear(1),
            _ => LaneShape::Uniform,
        }
    }
}

/// The values of the lanes, which grow by a stride from lane to lane.
struct LaneRange {
    stride: i64,
    /// The difference between the last lane and lane 0.
    reach: i64,
    /// The number of trailing zero bits in lane 0.
    zeros: u32,
}

impl LaneRange {
    /// Whether the difference between lanes fits `bits` bits.
    fn fits_in(&self, bits: u32) -> bool {
        (0..1_i64 << bits).contains(&self.reach)
    }
}

/// Returns the number of trailing zero bits of each value in lane 0. Empty if the lanes are not along dimension 0.
fn zeros(function: &Function, shape: Shape) -> Vec<u8> {
    let along = shape.lanes > 1 && shape.along_dimension && shape.vector_dimension == 0;
    let ids = Ids { global: if shape.aligned { shape.lanes } else { 1 }, local: shape.lanes };
    along.then(|| zeros_of_first_lanes(function, ids)).flatten().unwrap_or_default()
}

/// Whether a cast between two pointer types keeps the address.
pub(super) fn keeps_pointer(from: Type, to: Type) -> bool {
    from == to || matches!(to, Type::Ptr(Space::Generic | Space::Constant))
}

/// Returns the values that a region yields, or `None` if it does not end in `yield`.
pub(super) fn yielded(region: &Region) -> Option<&[Value]> {
    match &region.insts.last()?.op {
        Op::Yield(values) => Some(values),
        _ => None,
    }
}
