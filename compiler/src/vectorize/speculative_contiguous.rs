//! Speculatively contiguous accesses: their indices are consecutive except where they are clamped, as at the borders of
//! images, or wrap around.
//!
//! ```text
//! a[clamp(x + 1, 0, n - 1)]       contiguous, except for the last element of a row
//! a[i / n * stride + i % n]       contiguous almost everywhere, if n is at least the number of lanes
//! ```
//! The code checks at run time whether the addresses are contiguous. A comparison and a branch take a fraction of the
//! time of a gather or of lane-by-lane stores.

use wgcl_codegen::vir::{
    BinOp as VBin, Block, CastOp as VCast, CmpOp as VCmp, Cond, Op as VOp, Target, Terminator, Type as Register, Value as V,
};

use super::shape::Mode;
use super::uniformity::LaneShape;
use super::value::Regs;
use super::vectorizer::Vectorizer;
use crate::ir::{BinOp, CastOp, Op, Scalar, Value};

/// The maximum depth of the search through the operands of a pointer.
const MAX_DEPTH: u32 = 12;

impl Vectorizer<'_> {
    /// Whether a pointer grows by `size` bytes from lane to lane, except where it is clamped or wraps around. Returns
    /// false if lanes are masked.
    pub(super) fn is_speculatively_contiguous(&self, pointer: Value, size: u32) -> bool {
        self.masks.exec.is_none() && self.speculative_stride(pointer, MAX_DEPTH) == Some(i64::from(size))
    }

    /// Returns the stride from lane to lane, except where the value is clamped or wraps around. `None` if it is not
    /// known.
    fn speculative_stride(&self, value: Value, depth: u32) -> Option<i64> {
        match self.uniformity.lane_shape(value) {
            LaneShape::Uniform | LaneShape::Unknown => return Some(0),
            LaneShape::Linear(stride) => return Some(stride),
            LaneShape::Varying => {}
        }
        let (depth, definitions) = (depth.checked_sub(1)?, self.uniformity.definitions());
        let of = |value: Value| self.speculative_stride(value, depth);
        // If one operand has the stride 0, it is the limit of a clamp.
        let either = |a: Value, b: Value| match (of(a)?, of(b)?) {
            (0, stride) | (stride, 0) => Some(stride),
            (a, b) => (a == b).then_some(a),
        };
        match definitions.get(value)? {
            Op::PtrAdd(a, b) | Op::Bin(BinOp::Add, a, b) => of(*a)?.checked_add(of(*b)?),
            Op::Bin(BinOp::Sub, a, b) => of(*a)?.checked_sub(of(*b)?),
            Op::Bin(BinOp::Shl, a, by) => of(*a)?.checked_mul(1 << definitions.scalar(*by)?.min(32)),
            Op::Bin(BinOp::Mul, a, by) => match definitions.scalar(*by) {
                Some(by) => of(*a)?.checked_mul(i64::try_from(by).ok()?),
                None => ((of(*a)?, of(*by)?) == (0, 0)).then_some(0),
            },
            // Usually, the set bits of the operands are disjoint.
            Op::Bin(BinOp::Or | BinOp::Xor, a, b) => of(*a)?.checked_add(of(*b)?),
            // Usually, neighbouring lanes have the same quotient, and remainders that differ by one.
            Op::Bin(BinOp::UDiv | BinOp::SDiv | BinOp::LShr | BinOp::AShr, a, by) => (of(*a).is_some() && of(*by)? == 0).then_some(0),
            Op::Bin(BinOp::URem | BinOp::SRem | BinOp::And, _, by)
                if definitions.scalar(*by).is_some_and(|by| by < u64::from(self.shape.lanes)) =>
            {
                None
            }
            Op::Bin(BinOp::URem | BinOp::SRem, a, by) => of(*a).filter(|_| of(*by) == Some(0)),
            Op::Bin(BinOp::And | BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax, a, b) | Op::Select(_, a, b) => either(*a, *b),
            Op::Cast(CastOp::SExt | CastOp::ZExt | CastOp::Trunc, a) => of(*a),
            _ => None,
        }
    }

    /// Loads numbers at offsets from an address: as vectors if they are contiguous at run time, otherwise by
    /// `fallback`.
    pub(super) fn load_speculative(&mut self, base: V, offsets: &[V], of: Scalar, fallback: &mut dyn FnMut(&mut Self) -> Regs) -> Regs {
        let (place, scattered, meet) = self.branch_if_contiguous(base, offsets, of);
        let regs = self.load_contiguous(place, of);
        self.jump(meet, regs);
        self.b.enter(scattered);
        let regs = fallback(self);
        let types = self.types_of(&regs);
        self.jump(meet, regs);
        self.b.enter(meet);
        let depth = self.depth();
        let regs: Regs = types.iter().map(|&ty| self.block_param(meet, ty, depth)).collect();
        self.note_zero_extended(of, &regs);
        regs
    }

    /// Stores numbers at offsets from an address: as vectors if they are contiguous at run time, otherwise by
    /// `fallback`.
    pub(super) fn store_speculative(&mut self, (base, offsets): (V, &[V]), of: Scalar, regs: &[V], fallback: &mut dyn FnMut(&mut Self)) {
        let (place, scattered, meet) = self.branch_if_contiguous(base, offsets, of);
        self.store_contiguous(place, of, regs);
        self.jump(meet, Regs::new());
        self.b.enter(scattered);
        fallback(self);
        self.jump(meet, Regs::new());
        self.b.enter(meet);
    }

    /// Branches on whether offsets are contiguous, and enters the block for contiguous offsets. Returns the first
    /// address, the block for other offsets, and the block where both paths join.
    fn branch_if_contiguous(&mut self, base: V, offsets: &[V], of: Scalar) -> (V, Block, Block) {
        let first = self.op(Register::I32, VOp::Extract(offsets[0], 0));
        let (start, steps) = (self.splat(first, Scalar::I32), self.steps(Scalar::I32, i64::from(of.size())));
        let row = self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &start, &steps);
        let same = self.compare_regs(VCmp::Eq, Scalar::I32, Mode::Varying, offsets, &row);
        let mask = self.b.ty(same[0]);
        let same = same[1..].iter().fold(same[0], |all, &mask_of| self.op(mask, VOp::Bin(VBin::And, all, mask_of)));
        let (contiguous, scattered, meet) = (self.b.block(), self.b.block(), self.b.block());
        self.b.end(Terminator::Branch(Cond::All(same), Target::new(contiguous, []), Target::new(scattered, [])));
        self.b.enter(contiguous);
        let by = self.emit(Register::I64, VOp::Cast(VCast::SExt, first));
        (self.emit(Register::I64, VOp::Bin(VBin::Add, base, by)), scattered, meet)
    }
}
