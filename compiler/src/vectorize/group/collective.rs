//! Collective operations of work-groups that have several gangs.
//!
//! ```text
//! %1 = reduce add %0      for each gang { ...; sums += %0 }       `sums` is a vector in memory
//!                         %1 = the sum of the lanes of `sums`     once for the group
//! %2 = scan add %1        for each gang { %2 = sum + the gang's scan; sum = the last lane of %2 }
//! ```
//! A reduction, a vote and a broadcast end a segment, as a barrier does. Their results are uniform for the group. A
//! scan does not end a segment: gangs run in order, and each starts with the sum of the gangs before it.

use smallvec::smallvec;
use wgcl_codegen::vir::{Addr, BinOp as VBin, CastOp, CmpOp as VCmp, Mem, Op as VOp, Type as Register, Value as V};

use super::super::collective::Fold;
use super::super::shape::{Mode, elem};
use super::super::uniformity::LaneShape;
use super::super::value::{Regs, Val, scalar};
use super::super::vectorizer::{Lowered, Vectorizer};
use crate::diag::Span;
use crate::internal::internal;
use crate::ir::{GroupOp, Inst, Op, Scalar, Value};

/// An operation of a work-group.
#[derive(Clone, Copy)]
pub(super) struct Collective {
    pub op: GroupOp,
    pub value: Value,
    pub index: Option<Value>,
    pub result: Value,
    pub span: Span,
}

/// Returns the collective operation of the work-group in an instruction, or `None` for other instructions.
pub(super) fn of(inst: &Inst) -> Option<Collective> {
    let Op::Group { sub: false, op, args } = &inst.op else { return None };
    Some(Collective { op: *op, value: *args.first()?, index: args.get(1).copied(), result: *inst.results.first()?, span: inst.span })
}

impl Collective {
    /// Whether the result in a gang depends only on that gang and the gangs before it.
    pub(super) const fn is_scan(&self) -> bool {
        matches!(self.op, GroupOp::ScanInclusive(_) | GroupOp::ScanExclusive(_))
    }
}

impl Vectorizer<'_> {
    /// Returns the operation of a reduction or scan, and the mode of its registers.
    fn fold(&self, collective: &Collective) -> Lowered<(Fold, Mode)> {
        let op = collective.op.combining_op().ok_or_else(|| internal!("{:?} is not a reduction or scan", collective.op))?;
        let mode = if self.shape.lanes == 1 { Mode::Uniform } else { Mode::Varying };
        Ok((Fold { op, of: scalar(self.ir_ty(collective.value)) }, mode))
    }

    /// Allocates and initialises the memory of an operation, before the loop over gangs.
    pub(super) fn prepare_collective(&mut self, collective: &Collective) -> Lowered<()> {
        let of = scalar(self.ir_ty(collective.value));
        let at = match collective.op {
            GroupOp::All | GroupOp::Any => {
                let at = self.frame.scratch(4);
                self.clear_word(at);
                at
            }
            // Memory contains the index, and from byte 64 the value of each work-item.
            GroupOp::Broadcast => {
                let at = self.frame.scratch(64 + elem(of).bytes() * self.shape.gangs() * self.shape.lanes);
                self.clear_word(at);
                at
            }
            GroupOp::Reduce(op) => {
                let (_, mode) = self.fold(collective)?;
                let bytes = elem(of).bytes() * self.shape.lanes;
                let at = self.frame.scratch(bytes * self.partial_sums());
                let none = self.number(of, mode, op.neutral(of));
                for part in 0..self.partial_sums() {
                    self.store_at(of, mode, self.frame_addr(at + part * bytes), &none);
                }
                at
            }
            GroupOp::ScanInclusive(op) | GroupOp::ScanExclusive(op) => {
                let at = self.frame.scratch(elem(of).bytes());
                let none = self.number(of, Mode::Uniform, op.neutral(of));
                self.store_at(of, Mode::Uniform, self.frame_addr(at), &none);
                at
            }
            op => return Err(internal!("{op:?} of a work-group")),
        };
        self.group_state()?.slots.collectives.insert(collective.result, at);
        Ok(())
    }

    fn collective_offset(&mut self, result: Value) -> Lowered<u32> {
        self.group_state()?.slots.collectives.get(&result).copied().ok_or_else(|| internal!("{result} has no place"))
    }

    fn store_at(&mut self, of: Scalar, mode: Mode, addr: Addr, regs: &[V]) {
        let mem = Mem::Elem(elem(of));
        if mode == Mode::Uniform {
            self.b.effect(VOp::Store(mem, addr, regs[0]));
            return;
        }
        let bytes = elem(of).bytes() * u32::from(self.shape.register(of, mode).lanes());
        for (index, &value) in (0_u32..).zip(regs) {
            let addr = Addr { disp: addr.disp + (index * bytes).cast_signed(), ..addr };
            self.b.effect(VOp::StoreVector { mem, addr, value, mask: None });
        }
    }

    fn load_at(&mut self, of: Scalar, mode: Mode, addr: Addr) -> Regs {
        let (mem, ty) = (Mem::Elem(elem(of)), self.shape.register(of, mode));
        if mode == Mode::Uniform {
            return smallvec![self.emit(ty, VOp::Load(mem, addr))];
        }
        let bytes = elem(of).bytes() * u32::from(ty.lanes());
        (0..self.shape.registers(of, mode) as u32)
            .map(|index| {
                let addr = Addr { disp: addr.disp + (index * bytes).cast_signed(), ..addr };
                self.emit(ty, VOp::LoadVector { mem, addr, mask: None })
            })
            .collect()
    }

    /// Returns the number of vectors of partial sums. Gangs add to them round-robin, so that an addition does not wait
    /// for the store of the previous addition.
    fn partial_sums(&self) -> u32 {
        const PARTIAL_SUMS: u32 = 4;
        if self.shape.gangs() >= 2 * PARTIAL_SUMS { PARTIAL_SUMS } else { 1 }
    }

    /// Computes the address of the partial sums of the current gang.
    fn partial_sums_addr(&mut self, of: Scalar, at: u32) -> Addr {
        let (parts, addr) = (self.partial_sums(), self.frame_addr(at));
        if parts == 1 {
            return addr;
        }
        let (linear, last) = (self.linear(), self.i32((parts - 1) * self.shape.lanes));
        let part = self.op(Register::I32, VOp::Bin(VBin::And, linear, last));
        let part = self.op(Register::I64, VOp::Cast(CastOp::ZExt, part));
        Addr { index: Some((part, elem(of).bytes() as u8)), ..addr }
    }

    /// Adds the contribution of the current gang to the memory of the operation.
    pub(super) fn contribute(&mut self, collective: &Collective) -> Lowered<()> {
        self.report_reach(collective.span);
        let at = self.collective_offset(collective.result)?;
        match collective.op {
            GroupOp::All | GroupOp::Any => {
                let not = collective.op == GroupOp::All;
                let bits = if self.shape.lanes > 1 {
                    self.active_lanes_where(collective.value, not)
                } else {
                    let first_lane = self.first(collective.value);
                    let one = self.i32(1);
                    if not { self.op(Register::I32, VOp::Bin(VBin::Xor, first_lane, one)) } else { first_lane }
                };
                self.add_to_word(at, bits);
            }
            GroupOp::Broadcast => {
                let index = collective.index.ok_or_else(|| internal!("a broadcast without an index"))?;
                let index = self.equal_active_value(index);
                let addr = self.frame_addr(at);
                self.b.effect(VOp::Store(Mem::Elem(elem(Scalar::I32)), addr, index));
                let lane_shape = if self.shape.lanes > 1 { LaneShape::Varying } else { LaneShape::Uniform };
                let registers = self.coerce(collective.value, lane_shape);
                let ty = self.ir_ty(collective.value);
                self.store_slot(lane_shape, ty, at + 64, &registers, false);
            }
            _ => {
                let (fold, mode) = self.fold(collective)?;
                let gang_sums =
                    if mode == Mode::Varying { self.active_or_neutral(fold, collective.value) } else { self.regs(collective.value, mode) };
                let addr = self.partial_sums_addr(fold.of, at);
                let sums = self.load_at(fold.of, mode, addr);
                let sums = self.binary(fold.op, fold.of, mode, &sums, &gang_sums)?;
                self.store_at(fold.of, mode, addr, &sums);
            }
        }
        Ok(())
    }

    /// Defines the result from the contributions of all gangs.
    pub(super) fn combine(&mut self, collective: &Collective) -> Lowered<()> {
        let at = self.collective_offset(collective.result)?;
        let of = scalar(self.ir_ty(collective.value));
        let made = match collective.op {
            GroupOp::All | GroupOp::Any => {
                let (bits, zero) = (self.load_word(at), self.i32(0));
                let op = if collective.op == GroupOp::All { VCmp::Eq } else { VCmp::Ne };
                self.op(Register::I32, VOp::Cmp(op, bits, zero))
            }
            GroupOp::Broadcast => {
                let (index, last) = (self.load_word(at), self.i32(self.shape.items() - 1));
                let inside = self.op(Register::I32, VOp::Cmp(VCmp::ULt, index, last));
                let index = self.op(Register::I32, VOp::Select(inside, index, last));
                let index = self.op(Register::I64, VOp::Cast(CastOp::ZExt, index));
                let addr = Addr { index: Some((index, elem(of).bytes() as u8)), ..self.frame_addr(at + 64) };
                self.emit(self.shape.register(of, Mode::Uniform), VOp::Load(Mem::Elem(elem(of)), addr))
            }
            _ => {
                let (fold, mode) = self.fold(collective)?;
                let mut sums = self.load_at(of, mode, self.frame_addr(at));
                for part in 1..self.partial_sums() {
                    let addr = self.frame_addr(at + part * elem(of).bytes() * self.shape.lanes);
                    let more = self.load_at(of, mode, addr);
                    sums = self.binary(fold.op, of, mode, &sums, &more)?;
                }
                if mode == Mode::Uniform { sums[0] } else { self.reduced(fold, &sums)? }
            }
        };
        self.define(collective.result, Val::Uniform(smallvec![made]));
        Ok(())
    }

    /// Computes the result of a work-group scan in the current gang.
    pub(in super::super) fn group_scan(&mut self, result: Value, op: GroupOp, value: Value) -> Lowered<Val> {
        let at = self.collective_offset(result)?;
        let collective = Collective { op, value, index: None, result, span: Span::NONE };
        let (fold, mode) = self.fold(&collective)?;
        let of = fold.of;
        let sum = self.load_at(of, Mode::Uniform, self.frame_addr(at))[0];
        let (before, sums, last) = if mode == Mode::Uniform {
            let values = self.regs(value, mode);
            let sums = self.binary(fold.op, of, mode, &[sum], &values)?;
            let last = sums[0];
            (smallvec![sum], sums, last)
        } else {
            let gang_sums = self.active_or_neutral(fold, value);
            let gang_sums = self.scanned(fold, &gang_sums, self.shape.lanes)?;
            let before = self.splat(sum, of);
            let sums = self.binary(fold.op, of, mode, &before, &gang_sums)?;
            // The sum is scalar, so that the next gang waits for only one scalar operation.
            let gang_sum = self.value_of_constant_lane(of, &gang_sums, self.shape.lanes - 1);
            let last = self.binary(fold.op, of, Mode::Uniform, &[sum], &[gang_sum])?[0];
            (before, sums, last)
        };
        self.store_at(of, Mode::Uniform, self.frame_addr(at), &[last]);
        let made = match op {
            GroupOp::ScanExclusive(_) => self.exclusive_scan(fold, mode, &before, &sums)?,
            _ => sums,
        };
        Ok(if mode == Mode::Uniform { Val::Uniform(smallvec![made[0]]) } else { Val::Varying(smallvec![made]) })
    }

    /// Computes the exclusive scan from the inclusive scan and the sum of the gangs before. The result of the first
    /// work-item is the identity.
    fn exclusive_scan(&mut self, fold: Fold, mode: Mode, before: &Regs, sums: &[V]) -> Lowered<Regs> {
        let of = fold.of;
        let shifted = if mode == Mode::Uniform {
            before.clone()
        } else {
            // Lane 0 gets its value from `before`, which is equal in all lanes.
            self.permute_constant(of, sums, Some(before), &|lane| lane.checked_sub(1))?
        };
        // The scan starts with `neutral`, an identity element that preserves NaNs and the sign of zeros. The specified
        // result of the first work-item is `identity`.
        let identity = fold.op.identity(of);
        if fold.op.neutral(of) == identity {
            return Ok(shifted);
        }
        let linear = self.linear();
        let identity = self.number(of, mode, identity);
        let (linear_ids, zero) = if mode == Mode::Uniform {
            (Regs::from_slice(&[linear]), self.number(Scalar::I32, mode, 0))
        } else {
            let (first, steps) = (self.splat(linear, Scalar::I32), self.steps(Scalar::I32, 1));
            (self.bin_regs(VBin::Add, Scalar::I32, mode, &first, &steps), self.number(Scalar::I32, mode, 0))
        };
        let is_first = self.compare_regs(VCmp::Eq, Scalar::I32, mode, &linear_ids, &zero);
        Ok(self.select_regs(of, mode, &is_first, &identity, &shifted))
    }
}
