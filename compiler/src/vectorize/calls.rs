//! Calls of functions that are not inlined. They are rare and large, so arguments and results are passed in memory. If
//! a function has pointer parameters, each parameter has the lane shape that the arguments of all calls have in common.
//! If no parameter is a pointer, all parameters are varying. Results are varying. If the gang has one lane, all
//! parameters and results are uniform.
//!
//! Functions are not recursive, so each has a fixed frame in the arena. The frame contains the mask of the calling
//! lanes, the group ids, the index of lane 0 ([`Items::linear`](super::work_items::Items::linear)), the parameters, and
//! the results.

use smallvec::SmallVec;
use wgcl_codegen::vir::{BinOp as VBin, CmpOp as VCmp, Elem, Func, Mem, Op as VOp, Type as Register, Value as V};

use super::shape::{Mode, Shape, elem};
use super::uniformity::{LaneShape, Uniformity};
use super::value::{Comps, Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{self, Scalar, Type, Value};

/// The frame of a function. Offsets are in bytes from the start of the arena.
#[derive(Clone, Debug, Default)]
pub(super) struct CallFrame {
    /// The offset of the header: the mask as bits, the three group ids, and the index of lane 0. Each has 32 bits.
    pub header: u32,
    pub params: Vec<u32>,
    /// The lane shapes of the parameters.
    pub lane_shapes: Vec<LaneShape>,
    pub results: Vec<u32>,
    /// The offset of the end of the frame.
    pub end: u32,
    pub func: Option<Func>,
}

const HEADER_BYTES: u32 = 64;

impl CallFrame {
    /// Creates the frame of a function at an offset in the arena.
    pub(super) fn of(function: &ir::Function, uniformity: &Uniformity<'_>, shape: &Shape, start: u32) -> Self {
        let mut end = start.next_multiple_of(64) + HEADER_BYTES;
        let mut place = |ty: Type| {
            let at = end;
            end = (end + elem(scalar(ty)).bytes() * shape.lanes * u32::from(ty.lanes())).next_multiple_of(64);
            at
        };
        let params = function.params.iter().map(|&param| place(function.ty(param))).collect();
        let results = function.returns.iter().map(|&ty| place(ty)).collect();
        let lane_shapes = function.params.iter().map(|&param| uniformity.lane_shape(param)).collect();
        Self { header: start.next_multiple_of(64), params, lane_shapes, results, end, func: None }
    }
}

/// Returns the mode of the registers that represent a value of a lane shape. Memory contains lane 0 of a linear value.
const fn mode(lane_shape: LaneShape) -> Mode {
    if matches!(lane_shape, LaneShape::Varying) { Mode::Varying } else { Mode::Uniform }
}

impl Vectorizer<'_> {
    /// Returns the lane shape of the results of called functions.
    fn result_shape(&self) -> LaneShape {
        if self.shape.lanes == 1 { LaneShape::Uniform } else { LaneShape::Varying }
    }

    /// Stores a value to the frame.
    fn store_to_frame(&mut self, value: Value, lane_shape: LaneShape, at: u32, masked: bool) {
        let (of, mode, mut at) = (scalar(self.ir_ty(value)), mode(lane_shape), at);
        for regs in self.comps(value, mode) {
            let (of, regs) = if of == Scalar::Bool && mode == Mode::Varying { (Scalar::I32, self.bool_to_int(&regs)) } else { (of, regs) };
            let masks = self.masks.exec.clone().filter(|_| masked).map(|masks| self.masks_for(of, &masks));
            for (index, &value) in regs.iter().enumerate() {
                let addr = self.frame_addr(at);
                let (mem, size) = (Mem::Elem(elem(of)), elem(of).bytes() * u32::from(self.b.ty(value).lanes()));
                let mask = masks.as_ref().map(|masks| masks[index]);
                self.b.effect(if mode == Mode::Uniform {
                    VOp::Store(mem, addr, value)
                } else {
                    VOp::StoreVector { mem, addr, value, mask }
                });
                at += size;
            }
        }
    }

    /// Loads a value from the frame.
    fn load_from_frame(&mut self, ty: Type, lane_shape: LaneShape, at: u32) -> Val {
        let (of, mode, mut at) = (scalar(ty), mode(lane_shape), at);
        let stored = if of == Scalar::Bool { Scalar::I32 } else { of };
        let register = self.shape.register(stored, mode);
        let (mem, size) = (Mem::Elem(elem(stored)), elem(stored).bytes() * u32::from(register.lanes()));
        let comps: Comps = (0..ty.lanes())
            .map(|_| {
                let mut regs = Regs::new();
                for _ in 0..self.shape.registers(stored, mode) {
                    let addr = self.frame_addr(at);
                    let op = if mode == Mode::Uniform { VOp::Load(mem, addr) } else { VOp::LoadVector { mem, addr, mask: None } };
                    regs.push(self.emit(register, op));
                    at += size;
                }
                if of == Scalar::Bool && mode == Mode::Varying {
                    let zero = self.number(Scalar::I32, mode, 0);
                    regs = self.compare_regs(VCmp::Ne, Scalar::I32, mode, &regs, &zero);
                }
                regs
            })
            .collect();
        let registers: Vec<V> = comps.into_iter().flatten().collect();
        self.rebuild(lane_shape, ty, &registers)
    }

    pub(super) fn call(&mut self, func: ir::Func, args: &[Value], results: &[Value]) -> Lowered<()> {
        let calls = self.calls;
        let frame = calls.get(func.index()).ok_or_else(|| internal!("no function {func}"))?;
        let callee = frame.func.ok_or_else(|| internal!("{func} is called before it is emitted"))?;
        for ((&arg, &at), &lane_shape) in args.iter().zip(&frame.params).zip(&frame.lane_shapes) {
            self.store_to_frame(arg, lane_shape, at, false);
        }
        let bits = self.live_bits();
        let zero = self.i32(0);
        let group = self.items.group.unwrap_or([zero; 3]);
        let linear = self.items.linear.unwrap_or(zero);
        for (index, value) in (0_u32..).zip([bits, group[0], group[1], group[2], linear]) {
            let addr = self.frame_addr(frame.header + 4 * index);
            self.b.effect(VOp::Store(Mem::Elem(Elem::I32), addr, value));
        }
        let launch = self.items.launch.ok_or_else(|| internal!("no launch"))?;
        self.b.effect(VOp::Call(callee, SmallVec::from_iter([launch, self.frame.base])));
        for (&result, &at) in results.iter().zip(&frame.results) {
            let val = self.load_from_frame(self.ir_ty(result), self.result_shape(), at);
            self.define(result, val);
        }
        Ok(())
    }

    /// Lowers the `return` of a called function.
    pub(super) fn store_results(&mut self, values: &[Value]) -> Lowered<()> {
        let places = self.own_call.as_ref().map(|frame| frame.results.clone()).ok_or_else(|| internal!("a kernel returns a value"))?;
        for (&value, at) in values.iter().zip(places) {
            self.store_to_frame(value, self.result_shape(), at, true);
        }
        Ok(())
    }

    /// Emits the start of a called function: loads the mask, ids and parameters that the caller has stored.
    pub(super) fn begin_called(&mut self, frame: &CallFrame) {
        let word = |this: &mut Self, index: u32| {
            let addr = this.frame_addr(frame.header + 4 * index);
            this.emit(Register::I32, VOp::Load(Mem::Elem(Elem::I32), addr))
        };
        let bits = word(self, 0);
        self.items.group = Some([word(self, 1), word(self, 2), word(self, 3)]);
        self.items.linear = Some(word(self, 4));
        if self.shape.lanes > 1 {
            self.masks.exec = Some(self.masks_of(bits));
        }
        let function = self.function;
        for ((&param, &at), &lane_shape) in function.params.iter().zip(&frame.params).zip(&frame.lane_shapes) {
            let val = self.load_from_frame(function.ty(param), lane_shape, at);
            self.define(param, val);
        }
    }

    /// Converts the low bits of an `i32` to masks.
    pub(super) fn masks_of(&mut self, bits: V) -> Regs {
        let ty = self.shape.register(Scalar::Bool, Mode::Varying);
        (0..self.shape.registers(Scalar::Bool, Mode::Varying) as u32)
            .map(|index| {
                let by = self.i32(index * self.shape.lanes32());
                let register_bits = if index == 0 { bits } else { self.op(Register::I32, VOp::Bin(VBin::LShr, bits, by)) };
                self.op(ty, VOp::MaskOf(register_bits))
            })
            .collect()
    }
}
