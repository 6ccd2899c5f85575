//! Code with a second copy for the case that all lanes are active.
//!
//! ```text
//! branch all %m ─▶ the region without masks ──────────────────────────▶ meet
//!        └─ branch any %m ─▶ the region under the mask %m ─────────────▶ meet
//!                  └───────────────────────────────────────────────────▶ meet
//! ```
//! Without a mask, an access is one instruction on all processors, and a load can be an operand of an operation. The
//! copy pays off only for code with several accesses, because it needs another branch and more code.

use smallvec::SmallVec;
use wgcl_codegen::vir::{BinOp, Block, Cond, Op as VOp, Target, Terminator, Value as V};

use super::control::{End, may_exit};
use super::uniformity::LaneShape;
use super::value::{Regs, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{Inst, Op, Region, Space, Type, Value};

/// The maximum number of instructions of code with a copy.
const MAX_SIZE: usize = 120;
/// The minimum cost of masks, in instructions.
const MIN_COST: u32 = 3;
/// The additional instructions for an access under a mask, if no instruction does both.
const INSTRUCTIONS_WITHOUT_MASKS: u32 = 3;

/// The lanes that take a region.
pub(super) enum RegionMask {
    Lanes(Regs),
    /// All lanes except these.
    OtherLanes(Regs),
}

impl<'a> Vectorizer<'a> {
    /// Vectorises a region twice. No lane may leave the region. Returns the values that it yields, and its mask. The
    /// mask of [`RegionMask::OtherLanes`] is computed in the region only.
    pub(super) fn lower_copies(
        &mut self,
        region: &'a Region,
        mask: RegionMask,
        results: &[(LaneShape, Type)],
    ) -> Lowered<(SmallVec<[V; 4]>, Regs)> {
        let (full, rest, inside, meet) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let depth = self.depth();
        let (to_full, to_rest) = (Target::new(full, []), Target::new(rest, []));
        let branch = match &mask {
            RegionMask::Lanes(masks) => Terminator::Branch(self.all(masks), to_full, to_rest),
            RegionMask::OtherLanes(masks) => Terminator::Branch(self.any(masks), to_rest, to_full),
        };
        self.b.end(branch);
        let yielded = |this: &mut Self| match this.region(region, results)? {
            End::Yield(values) => Ok((this.types_of(&values), this.jump(meet, values)).0),
            End::Left => Err(internal!("a lane leaves a region with two copies")),
        };
        let types = self.unmasked_copy(full, yielded)?;
        self.b.enter(rest);
        let masks = self.lanes_of(mask);
        let (any, missing) = (self.any(&masks), self.undefs(&types));
        self.b.end(Terminator::Branch(any, Target::new(inside, []), Target::new(meet, missing)));
        self.b.enter(inside);
        let (exec, in_masked_copy) = (self.masks.exec.replace(masks.clone()), std::mem::replace(&mut self.masks.in_masked_copy, true));
        yielded(self)?;
        (self.masks.exec, self.masks.in_masked_copy) = (exec, in_masked_copy);
        self.b.enter(meet);
        Ok((types.into_iter().map(|ty| self.block_param(meet, ty, depth)).collect(), masks))
    }

    /// Computes the mask of the lanes that take a region.
    pub(super) fn lanes_of(&mut self, mask: RegionMask) -> Regs {
        match mask {
            RegionMask::Lanes(masks) => masks,
            RegionMask::OtherLanes(masks) => self.not_masks(&masks),
        }
    }

    /// Returns the condition that all lanes are set in the masks.
    pub(super) fn all(&mut self, masks: &[V]) -> Cond {
        let ty = self.b.ty(masks[0]);
        Cond::All(masks[1..].iter().fold(masks[0], |both, &mask| self.op(ty, VOp::Bin(BinOp::And, both, mask))))
    }

    /// Whether a second copy of the instructions of a region, without masks, pays off.
    pub(super) fn wants_unmasked_copy(&self, insts: &[Inst]) -> bool {
        let jumps = |inst: &Inst| matches!(inst.op, Op::Break(_) | Op::Continue(_) | Op::Return(_) | Op::Unreachable);
        self.may_copy(insts) && !insts.iter().any(jumps)
    }

    /// Whether a second copy of the last instructions of the kernel, without masks, pays off.
    pub(super) fn wants_unmasked_copy_until_return(&self, insts: &[Inst]) -> bool {
        self.may_copy(insts) && insts.last().is_some_and(|last| matches!(last.op, Op::Return(_)))
    }

    fn may_copy(&self, insts: &[Inst]) -> bool {
        let size = || insts.iter().map(|inst| 1 + inst.op.regions().into_iter().map(Region::size).sum::<usize>()).sum::<usize>();
        !self.masks.in_masked_copy
            && self.shape.lanes > 1
            && size() <= MAX_SIZE
            && !insts.iter().any(may_exit)
            && self.cost_of_masks(insts).is_some_and(|cost| cost >= MIN_COST)
    }

    /// Emits code for the case that all lanes are active.
    pub(super) fn unmasked_copy<T>(&mut self, block: Block, emit: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        let (packed, aos) = (self.forms.packed.clone(), self.forms.aos.clone());
        let (exec, slots) = (self.masks.exec.take(), self.masks.slots.clone());
        self.b.enter(block);
        let made = emit(self)?;
        // Other representations of values in the copy are not available outside of it.
        (self.forms.packed, self.forms.aos) = (packed, aos);
        (self.masks.exec, self.masks.slots) = (exec, slots);
        Ok(made)
    }

    /// Estimates the number of additional instructions because of masks. Returns `None` if the code must not be copied.
    fn cost_of_masks(&self, insts: &[Inst]) -> Option<u32> {
        let mut cost = 0;
        for inst in insts {
            cost += match inst.op {
                Op::Load { ptr, .. } => inst.results.first().map_or(0, |&result| self.cost_of_mask(ptr, self.ir_ty(result), false)),
                Op::Store { ptr, value, .. } => self.cost_of_mask(ptr, self.ir_ty(value), true),
                Op::Call(..) | Op::Printf { .. } | Op::Group { .. } | Op::Barrier(_) => return None,
                _ => 0,
            };
            for region in inst.op.regions() {
                cost += self.cost_of_masks(&region.insts)?;
            }
        }
        Some(cost)
    }

    fn cost_of_mask(&self, pointer: Value, ty: Type, is_store: bool) -> u32 {
        let caps = self.shape.isa.caps();
        if self.ir_ty(pointer) == Type::Ptr(Space::Private) {
            return 0;
        }
        match self.uniformity.lane_shape(pointer) {
            LaneShape::Linear(stride) if stride == i64::from(scalar(ty).size()) * i64::from(ty.lanes()) => {
                if caps.has_masked_memory {
                    1
                } else {
                    INSTRUCTIONS_WITHOUT_MASKS
                }
            }
            LaneShape::Uniform | LaneShape::Unknown => 0,
            _ if is_store && !caps.has_scatter || !caps.has_gather => INSTRUCTIONS_WITHOUT_MASKS,
            _ => 0,
        }
    }
}
