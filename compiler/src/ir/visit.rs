//! Traversal of instructions: operands, nested regions, properties.
//!
//! Operands belong to the instruction itself, never to nested regions. The initial values of a `loop` are its operands.
//! The values of a `continue` are operands of the `continue`. Example: `if %c { ... }` has one operand, `%c`.

use super::{CmpOp, Const, Function, Inst, Op, Region, Scalar, Space, Type, Value};
use crate::diag::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Replaces the operands that `replaced` contains, in the instructions and in their regions.
pub(crate) fn replace_uses(insts: &mut [Inst], replaced: &FxHashMap<Value, Value>) {
    for inst in insts {
        inst.op.replace_operands(replaced);
        inst.op.regions_mut().into_iter().for_each(|region| replace_uses(&mut region.insts, replaced));
    }
}

impl Op {
    /// Calls `f` with each operand, in order.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        match self {
            Self::Const(_)
            | Self::WorkItem(_)
            | Self::VarAddr(_)
            | Self::GlobalAddr(_)
            | Self::ParamAddr(_)
            | Self::Barrier(_)
            | Self::MemFence(_)
            | Self::AsyncCopyEnd
            | Self::UndefinedUse { .. }
            | Self::Clock { .. }
            | Self::Unreachable => {}
            Self::Un(_, a)
            | Self::Cast(_, a)
            | Self::All(a)
            | Self::Any(a)
            | Self::Splat(a)
            | Self::Extract(a, _)
            | Self::Load { ptr: a, .. }
            | Self::Zero { dst: a, .. }
            | Self::ImageWord { image: a, .. }
            | Self::ConversionCheck { value: a, .. }
            | Self::AsyncCopyBegin(a)
            | Self::AsyncCopyWait(a)
            | Self::If { cond: a, .. }
            | Self::Switch { selector: a, .. } => f(*a),
            Self::Bin(_, a, b)
            | Self::Cmp(_, a, b)
            | Self::ExtractDyn(a, b)
            | Self::Insert(a, _, b)
            | Self::Shuffle(a, b, _)
            | Self::PtrAdd(a, b)
            | Self::Store { ptr: a, value: b, .. }
            | Self::Copy { dst: a, src: b, .. } => {
                f(*a);
                f(*b);
            }
            Self::Select(a, b, c) | Self::InsertDyn(a, b, c) | Self::CmpXchg { ptr: a, expected: b, desired: c, .. } => {
                f(*a);
                f(*b);
                f(*c);
            }
            Self::Atomic { ptr, value, .. } => {
                f(*ptr);
                if let Some(value) = value {
                    f(*value);
                }
            }
            Self::Math(_, list)
            | Self::NanCheck { values: list, .. }
            | Self::Construct(list)
            | Self::Printf { args: list, .. }
            | Self::Image { args: list, .. }
            | Self::Group { args: list, .. }
            | Self::Call(_, list)
            | Self::Loop { init: list, .. }
            | Self::Yield(list)
            | Self::Break(list)
            | Self::Continue(list)
            | Self::Return(list) => list.iter().copied().for_each(f),
        }
    }

    /// Replaces the operands that `replaced` contains.
    pub fn replace_operands(&mut self, replaced: &FxHashMap<Value, Value>) {
        self.map_operands(|value| {
            if let Some(&new) = replaced.get(value) {
                *value = new;
            }
        });
    }

    /// Calls `f` with each operand. `f` may replace it.
    pub fn map_operands(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Self::Const(_)
            | Self::WorkItem(_)
            | Self::VarAddr(_)
            | Self::GlobalAddr(_)
            | Self::ParamAddr(_)
            | Self::Barrier(_)
            | Self::MemFence(_)
            | Self::AsyncCopyEnd
            | Self::UndefinedUse { .. }
            | Self::Clock { .. }
            | Self::Unreachable => {}
            Self::Un(_, a)
            | Self::Cast(_, a)
            | Self::All(a)
            | Self::Any(a)
            | Self::Splat(a)
            | Self::Extract(a, _)
            | Self::Load { ptr: a, .. }
            | Self::Zero { dst: a, .. }
            | Self::ImageWord { image: a, .. }
            | Self::ConversionCheck { value: a, .. }
            | Self::AsyncCopyBegin(a)
            | Self::AsyncCopyWait(a)
            | Self::If { cond: a, .. }
            | Self::Switch { selector: a, .. } => f(a),
            Self::Bin(_, a, b)
            | Self::Cmp(_, a, b)
            | Self::ExtractDyn(a, b)
            | Self::Insert(a, _, b)
            | Self::Shuffle(a, b, _)
            | Self::PtrAdd(a, b)
            | Self::Store { ptr: a, value: b, .. }
            | Self::Copy { dst: a, src: b, .. } => {
                f(a);
                f(b);
            }
            Self::Select(a, b, c) | Self::InsertDyn(a, b, c) | Self::CmpXchg { ptr: a, expected: b, desired: c, .. } => {
                f(a);
                f(b);
                f(c);
            }
            Self::Atomic { ptr, value, .. } => {
                f(ptr);
                if let Some(value) = value {
                    f(value);
                }
            }
            Self::Math(_, list)
            | Self::NanCheck { values: list, .. }
            | Self::Construct(list)
            | Self::Printf { args: list, .. }
            | Self::Image { args: list, .. }
            | Self::Group { args: list, .. }
            | Self::Call(_, list)
            | Self::Loop { init: list, .. }
            | Self::Yield(list)
            | Self::Break(list)
            | Self::Continue(list)
            | Self::Return(list) => list.iter_mut().for_each(f),
        }
    }

    /// The nested regions. For an `if`, `then` is first. For a `switch`, the default is last.
    pub fn regions(&self) -> SmallVec<[&Region; 2]> {
        match self {
            Self::If { then, els, .. } => SmallVec::from_buf([then, els]),
            Self::Loop { body, .. } => SmallVec::from_iter([body]),
            Self::Switch { cases, default, .. } => cases.iter().map(|(_, region)| region).chain([default]).collect(),
            _ => SmallVec::new(),
        }
    }

    /// The nested regions, in the order of [`Self::regions`].
    pub fn regions_mut(&mut self) -> SmallVec<[&mut Region; 2]> {
        match self {
            Self::If { then, els, .. } => SmallVec::from_buf([then, els]),
            Self::Loop { body, .. } => SmallVec::from_iter([body]),
            Self::Switch { cases, default, .. } => cases.iter_mut().map(|(_, region)| region).chain([default]).collect(),
            _ => SmallVec::new(),
        }
    }

    /// Whether the result depends only on the operands and the work-item, and there is no side effect. Such an
    /// instruction may be removed, repeated, merged with an equal one, and speculated. Loads and calls are not pure.
    pub const fn is_pure(&self) -> bool {
        matches!(
            self,
            Self::Const(_)
                | Self::Un(..)
                | Self::Bin(..)
                | Self::Cmp(..)
                | Self::Cast(..)
                | Self::Select(..)
                | Self::Math(..)
                | Self::All(_)
                | Self::Any(_)
                | Self::Construct(_)
                | Self::Splat(_)
                | Self::Extract(..)
                | Self::ExtractDyn(..)
                | Self::Insert(..)
                | Self::InsertDyn(..)
                | Self::Shuffle(..)
                | Self::WorkItem(_)
                | Self::ImageWord { .. }
                | Self::VarAddr(_)
                | Self::GlobalAddr(_)
                | Self::ParamAddr(_)
                | Self::PtrAdd(..)
        )
    }
}

impl CmpOp {
    /// The negated comparison. `None` for `<`, `<=`, `>` and `>=` of floats: if an operand is a NaN, a comparison and
    /// its opposite are both false.
    pub const fn inverse(self) -> Option<Self> {
        Some(match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::SLt => Self::SGe,
            Self::SLe => Self::SGt,
            Self::SGt => Self::SLe,
            Self::SGe => Self::SLt,
            Self::ULt => Self::UGe,
            Self::ULe => Self::UGt,
            Self::UGt => Self::ULe,
            Self::UGe => Self::ULt,
            Self::FEq => Self::FNe,
            Self::FNe => Self::FEq,
            Self::FLt | Self::FLe | Self::FGt | Self::FGe => return None,
        })
    }

    /// The comparison with the same result after its operands are swapped.
    pub const fn mirrored(self) -> Self {
        match self {
            Self::SLt => Self::SGt,
            Self::SLe => Self::SGe,
            Self::SGt => Self::SLt,
            Self::SGe => Self::SLe,
            Self::ULt => Self::UGt,
            Self::ULe => Self::UGe,
            Self::UGt => Self::ULt,
            Self::UGe => Self::ULe,
            Self::FLt => Self::FGt,
            Self::FLe => Self::FGe,
            Self::FGt => Self::FLt,
            Self::FGe => Self::FLe,
            same => same,
        }
    }
}

impl Inst {
    /// Creates an instruction without results.
    pub const fn effect(op: Op, span: Span) -> Self {
        Self { op, results: Vec::new(), span }
    }
}

impl Region {
    /// The terminator of the region. `None` while the region is being built.
    pub fn terminator(&self) -> Option<&Op> {
        self.insts.last().map(|inst| &inst.op).filter(|op| op.is_terminator())
    }

    /// Whether the region ends in a `yield`. Then execution continues after the instruction that contains the region.
    pub fn yields(&self) -> bool {
        matches!(self.terminator(), Some(Op::Yield(_)))
    }

    /// Whether the region contains only a `yield`.
    pub fn only_yields(&self) -> bool {
        self.insts.len() == 1 && self.yields()
    }

    /// Calls `f` with every instruction. An instruction precedes the instructions in its regions.
    pub fn walk(&self, f: &mut dyn FnMut(&Inst)) {
        for inst in &self.insts {
            f(inst);
            for region in inst.op.regions() {
                region.walk(f);
            }
        }
    }

    /// Calls `f` with every instruction. An instruction precedes the instructions in its regions.
    pub fn walk_mut(&mut self, f: &mut dyn FnMut(&mut Inst)) {
        for inst in &mut self.insts {
            f(inst);
            for region in inst.op.regions_mut() {
                region.walk_mut(f);
            }
        }
    }

    /// Number of instructions, including nested ones.
    pub fn size(&self) -> usize {
        let mut count = 0;
        self.walk(&mut |_| count += 1);
        count
    }

    /// The nesting depth, including this region. Returns at most `limit`.
    pub fn depth(&self, limit: usize) -> usize {
        if limit == 0 {
            return 0;
        }
        1 + self.insts.iter().flat_map(|inst| inst.op.regions()).map(|region| region.depth(limit - 1)).max().unwrap_or(0)
    }

    /// Calls `f` with every `break` and `continue` whose target is the innermost loop around this region.
    pub fn for_each_jump(&self, f: &mut dyn FnMut(&Op)) {
        for inst in &self.insts {
            match &inst.op {
                op @ (Op::Break(_) | Op::Continue(_)) => f(op),
                Op::Loop { .. } => {}
                op => op.regions().into_iter().for_each(|region| region.for_each_jump(f)),
            }
        }
    }

    /// Like [`Self::for_each_jump`], with mutable access.
    pub fn for_each_jump_mut(&mut self, f: &mut dyn FnMut(&mut Op)) {
        for inst in &mut self.insts {
            match &mut inst.op {
                op @ (Op::Break(_) | Op::Continue(_)) => f(op),
                Op::Loop { .. } => {}
                op => op.regions_mut().into_iter().for_each(|region| region.for_each_jump_mut(f)),
            }
        }
    }
}

impl Function {
    /// Appends an instruction with one result to a list. Returns the result.
    pub fn emit(&mut self, out: &mut Vec<Inst>, span: Span, ty: Type, op: Op) -> Value {
        let value = self.new_value(ty);
        out.push(Inst { op, results: vec![value], span });
        value
    }

    /// Appends a constant with the same bits in every lane. Returns its value.
    pub fn emit_bits(&mut self, out: &mut Vec<Inst>, span: Span, ty: Type, bits: u64) -> Value {
        self.emit(out, span, ty, Op::Const(Const::splat(ty, bits)))
    }
}

impl Const {
    /// The bits of a scalar, or of a vector whose lanes are equal. `None` for other constants.
    pub fn bits(&self) -> Option<u64> {
        match self {
            Self::Bits(bits) => Some(*bits),
            Self::Lanes(lanes) => lanes.first().copied().filter(|first| lanes.iter().all(|lane| lane == first)),
            Self::Null | Self::Undef => None,
        }
    }

    /// The constant of a scalar or vector type with `bits` in every lane, truncated to the scalar's width.
    pub fn splat(ty: Type, bits: u64) -> Self {
        let bits = bits & ty.scalar().map_or(u64::MAX, Scalar::mask);
        match ty {
            Type::Vector(_, lanes) => Self::Lanes(vec![bits; usize::from(lanes)]),
            _ => Self::Bits(bits),
        }
    }
}

impl Type {
    /// The address space of a pointer type. `None` for other types.
    pub const fn space(self) -> Option<Space> {
        match self {
            Self::Ptr(space) => Some(space),
            _ => None,
        }
    }
}
