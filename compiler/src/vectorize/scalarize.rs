//! Scalarisation of operations without vector instructions. The operands are stored to memory, and a loop iterates over
//! the active lanes.

use smallvec::SmallVec;
use wgcl_codegen::vir::{
    Addr, BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Cond, Elem, Mem, Op as VOp, Target, Terminator, Type as Register, UnOp as VUn,
    Value as V,
};

use super::shape::{Mode, elem};
use super::value::Regs;
use super::vectorizer::Vectorizer;
use crate::ir::Scalar;

/// Emits code for one lane. The parameters are the lane's operands as scalars, and its index as an `i64`. Returns the
/// result, or `None` for code without a result.
pub(super) type LaneFn<'f, 'a> = dyn FnMut(&mut Vectorizer<'a>, &[V], V) -> Option<V> + 'f;

impl<'a> Vectorizer<'a> {
    /// Executes a scalar operation for each active lane, or once if the operands are uniform. `of` is the type of the
    /// operands.
    pub(super) fn scalars(
        &mut self,
        of: Scalar,
        mode: Mode,
        operands: &[&[V]],
        result: Scalar,
        f: &mut dyn FnMut(&mut Self, &[V]) -> V,
    ) -> Regs {
        if mode == Mode::Uniform {
            let scalars: SmallVec<[V; 4]> = operands.iter().map(|regs| regs[0]).collect();
            return SmallVec::from_iter([f(self, &scalars)]);
        }
        let operands: Vec<(Scalar, Regs)> = operands.iter().map(|regs| (of, Regs::from_slice(regs))).collect();
        self.each_lane(&operands, Some(result), &mut |this, of, _| Some(f(this, of)))
    }

    /// Returns the active lanes as an `i32`: bit `n` is lane `n`.
    pub(super) fn live_bits(&mut self) -> V {
        let Some(masks) = self.masks.exec.clone() else {
            let lanes = self.shape.lanes;
            return self.i32(if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 });
        };
        self.mask_bits(&masks)
    }

    /// Converts masks to an `i32`: bit `n` is lane `n`.
    pub(super) fn mask_bits(&mut self, masks: &[V]) -> V {
        let mut sum = None;
        for (index, &mask) in (0_u32..).zip(masks) {
            let bits = self.op(Register::I32, VOp::MaskBits(mask));
            sum = Some(match sum {
                None => bits,
                Some(sum) => {
                    let by = self.i32(index * self.shape.lanes32());
                    let high = self.op(Register::I32, VOp::Bin(VBin::Shl, bits, by));
                    self.op(Register::I32, VOp::Bin(VBin::Or, sum, high))
                }
            });
        }
        sum.unwrap_or_else(|| self.i32(0))
    }

    /// Stores registers contiguously in scratch memory. Returns the offset in the arena in bytes.
    pub(super) fn spill(&mut self, of: Scalar, regs: &[V]) -> u32 {
        let element = elem(of);
        let bytes = element.bytes() * self.shape.lanes;
        let at = self.frame.scratch(bytes);
        let lanes = u32::from(self.b.ty(regs[0]).lanes());
        for (index, &value) in (0_u32..).zip(regs) {
            let addr = self.frame_addr(at + index * lanes * element.bytes());
            self.b.effect(VOp::StoreVector { mem: Mem::Elem(element), addr, value, mask: None });
        }
        at
    }

    /// Loads the registers that [`Self::spill`] or a loop over lanes has stored.
    pub(super) fn reload(&mut self, of: Scalar, at: u32) -> Regs {
        let ty = self.shape.register(of, Mode::Varying);
        let (element, lanes) = (elem(of), u32::from(ty.lanes()));
        (0..self.shape.registers(of, Mode::Varying) as u32)
            .map(|index| {
                let addr = self.frame_addr(at + index * lanes * element.bytes());
                self.emit(ty, VOp::LoadVector { mem: Mem::Elem(element), addr, mask: None })
            })
            .collect()
    }

    /// Returns the address of byte `at` of the arena.
    pub(super) fn frame_addr(&self, at: u32) -> Addr {
        Addr::offset(self.frame.base, at.cast_signed())
    }

    /// Emits a loop over the active lanes, in order. In the code for a lane, a `bool` operand or result is an `i32` of
    /// 0 or 1.
    pub(super) fn each_lane(&mut self, operands: &[(Scalar, Regs)], result: Option<Scalar>, f: &mut LaneFn<'_, 'a>) -> Regs {
        let mark = self.frame.mark();
        let mut places: Vec<(Elem, u32)> = Vec::new();
        for (of, regs) in operands {
            let (of, regs) = if *of == Scalar::Bool { (Scalar::I32, self.bool_to_int(regs)) } else { (*of, regs.clone()) };
            places.push((elem(of), self.spill(of, &regs)));
        }
        let to = result.map(|of| (elem(of), self.frame.scratch(elem(of).bytes() * self.shape.lanes)));
        let bits = self.live_bits();
        let (header, body, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.open_loop(header, [bits]);
        let depth = self.depth();
        let bits = self.block_param(header, Register::I32, depth);
        self.b.end(Terminator::Branch(Cond::NonZero(bits), Target::new(body, []), Target::new(exit, [])));
        self.b.enter(body);
        let lane = self.op(Register::I32, VOp::Un(VUn::Ctz, bits));
        let lane = self.op(Register::I64, VOp::Cast(VCast::ZExt, lane));
        let scalars: SmallVec<[V; 4]> = places
            .iter()
            .map(|&(element, at)| {
                let addr = Addr { index: Some((lane, element.bytes() as u8)), ..self.frame_addr(at) };
                self.emit(Register::Scalar(element), VOp::Load(Mem::Elem(element), addr))
            })
            .collect();
        let made = f(self, &scalars, lane);
        if let (Some((element, at)), Some(value)) = (to, made) {
            let addr = Addr { index: Some((lane, element.bytes() as u8)), ..self.frame_addr(at) };
            self.b.effect(VOp::Store(Mem::Elem(element), addr, value));
        }
        let one = self.i32(1);
        let less = self.emit(Register::I32, VOp::Bin(VBin::Sub, bits, one));
        let rest = self.emit(Register::I32, VOp::Bin(VBin::And, bits, less));
        self.jump(header, [rest]);
        self.close_loop();
        self.b.enter(exit);
        let made = match (to, result) {
            (Some((_, at)), Some(Scalar::Bool)) => {
                let ints = self.reload(Scalar::I32, at);
                let zero = self.number(Scalar::I32, Mode::Varying, 0);
                self.compare_regs(VCmp::Ne, Scalar::I32, Mode::Varying, &ints, &zero)
            }
            (Some((_, at)), Some(of)) => self.reload(of, at),
            _ => Regs::new(),
        };
        self.frame.release(mark);
        made
    }

    /// Converts masks to vectors of 0 and 1.
    pub(super) fn bool_to_int(&mut self, masks: &[V]) -> Regs {
        let (one, zero) = (self.number(Scalar::I32, Mode::Varying, 1), self.number(Scalar::I32, Mode::Varying, 0));
        self.select_regs(Scalar::I32, Mode::Varying, masks, &one, &zero)
    }
}
