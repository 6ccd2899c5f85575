//! Calls of functions that are not inlined. They are rare and large, so arguments and results are passed in memory, as
//! varying values.
//!
//! Functions are not recursive, so each has a fixed frame in the arena. It holds the mask of the calling lanes, the ids
//! of the gang, the parameters, and the results.

use smallvec::SmallVec;
use wgcl_codegen::vir::{BinOp as VBin, CmpOp as VCmp, Elem, Func, Mem, Op as VOp, Type as Register, Value as V};

use super::shape::{Mode, Shape, elem};
use super::value::{Comps, Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{self, Scalar, Type, Value};

/// The frame of a function, in bytes of the arena.
#[derive(Clone, Debug, Default)]
pub(super) struct CallFrame {
    /// The mask as bits, the ids of the group, and the linear local id of lane 0: 32 bits each.
    pub head: u32,
    pub params: Vec<u32>,
    pub results: Vec<u32>,
    /// The first byte after the frame.
    pub end: u32,
    pub func: Option<Func>,
}

const HEAD: u32 = 64;

impl CallFrame {
    /// The frame of a function at an offset in the arena.
    pub(super) fn of(function: &ir::Function, shape: &Shape, start: u32) -> Self {
        let mut end = start.next_multiple_of(64) + HEAD;
        let mut place = |ty: Type| {
            let at = end;
            end = (end + elem(scalar(ty)).bytes() * shape.lanes * u32::from(ty.lanes())).next_multiple_of(64);
            at
        };
        let params = function.params.iter().map(|&param| place(function.ty(param))).collect();
        let results = function.returns.iter().map(|&ty| place(ty)).collect();
        Self { head: start.next_multiple_of(64), params, results, end, func: None }
    }
}

impl Vectorizer<'_> {
    fn mode(&self) -> Mode {
        if self.shape.lanes == 1 { Mode::Uniform } else { Mode::Varying }
    }

    /// Stores components to the frame.
    fn put(&mut self, ty: Type, comps: &Comps, at: u32, masked: bool) {
        let (of, mut at) = (scalar(ty), at);
        for regs in comps {
            let (of, regs) =
                if of == Scalar::Bool && self.mode() == Mode::Varying { (Scalar::I32, self.bool_to_int(regs)) } else { (of, regs.clone()) };
            let masks = self.masks.exec.clone().filter(|_| masked).map(|masks| self.masks_for(of, &masks));
            for (index, &value) in regs.iter().enumerate() {
                let addr = self.frame_addr(at);
                let (mem, size) = (Mem::Elem(elem(of)), elem(of).bytes() * u32::from(self.b.ty(value).lanes()));
                let mask = masks.as_ref().map(|masks| masks[index]);
                self.b.effect(if self.mode() == Mode::Uniform {
                    VOp::Store(mem, addr, value)
                } else {
                    VOp::StoreVector { mem, addr, value, mask }
                });
                at += size;
            }
        }
    }

    /// Loads components from the frame.
    fn get(&mut self, ty: Type, at: u32) -> Comps {
        let (of, mode, mut at) = (scalar(ty), self.mode(), at);
        let stored = if of == Scalar::Bool { Scalar::I32 } else { of };
        let register = self.shape.register(stored, mode);
        let (mem, size) = (Mem::Elem(elem(stored)), elem(stored).bytes() * u32::from(register.lanes()));
        (0..ty.lanes())
            .map(|_| {
                let mut regs = Regs::new();
                for _ in 0..self.shape.registers(stored, mode) {
                    let addr = self.frame_addr(at);
                    let op = if mode == Mode::Uniform { VOp::Load(mem, addr) } else { VOp::LoadVector { mem, addr, mask: None } };
                    regs.push(self.here(register, op));
                    at += size;
                }
                if of == Scalar::Bool && mode == Mode::Varying {
                    let zero = self.number(Scalar::I32, mode, 0);
                    regs = self.compare_regs(VCmp::Ne, Scalar::I32, mode, &regs, &zero);
                }
                regs
            })
            .collect()
    }

    fn val_of(&self, comps: Comps) -> Val {
        match self.mode() {
            Mode::Uniform => Val::Uniform(comps.into_iter().map(|regs| regs[0]).collect()),
            Mode::Varying => Val::Varying(comps),
        }
    }

    pub(super) fn call(&mut self, func: ir::Func, args: &[Value], results: &[Value]) -> Lowered<()> {
        let calls = self.calls;
        let frame = calls.get(func.index()).ok_or_else(|| internal!("no function {func}"))?;
        let callee = frame.func.ok_or_else(|| internal!("{func} is called before it is emitted"))?;
        let mode = self.mode();
        for (&arg, &at) in args.iter().zip(&frame.params) {
            let (ty, comps) = (self.ir_ty(arg), self.comps(arg, mode));
            self.put(ty, &comps, at, false);
        }
        let bits = self.live_bits();
        let zero = self.i32(0);
        let group = self.items.group.unwrap_or([zero; 3]);
        let linear = self.items.linear.unwrap_or(zero);
        for (index, value) in (0_u32..).zip([bits, group[0], group[1], group[2], linear]) {
            let addr = self.frame_addr(frame.head + 4 * index);
            self.b.effect(VOp::Store(Mem::Elem(Elem::I32), addr, value));
        }
        let launch = self.items.launch.ok_or_else(|| internal!("no launch"))?;
        self.b.effect(VOp::Call(callee, SmallVec::from_iter([launch, self.frame.base])));
        for (&result, &at) in results.iter().zip(&frame.results) {
            let comps = self.get(self.ir_ty(result), at);
            let val = self.val_of(comps);
            self.define(result, val);
        }
        Ok(())
    }

    /// Lowers the `return` of a called function.
    pub(super) fn store_results(&mut self, values: &[Value]) -> Lowered<()> {
        let places = self.own_call.as_ref().map(|frame| frame.results.clone()).ok_or_else(|| internal!("a kernel returns a value"))?;
        let mode = self.mode();
        for (&value, at) in values.iter().zip(places) {
            let (ty, comps) = (self.ir_ty(value), self.comps(value, mode));
            self.put(ty, &comps, at, true);
        }
        Ok(())
    }

    /// Loads the mask, ids and parameters that the caller has stored.
    pub(super) fn begin_called(&mut self, frame: &CallFrame) {
        let word = |this: &mut Self, index: u32| {
            let addr = this.frame_addr(frame.head + 4 * index);
            this.here(Register::I32, VOp::Load(Mem::Elem(Elem::I32), addr))
        };
        let bits = word(self, 0);
        self.items.group = Some([word(self, 1), word(self, 2), word(self, 3)]);
        self.items.linear = Some(word(self, 4));
        if self.mode() == Mode::Varying {
            self.masks.exec = Some(self.masks_of(bits));
        }
        let function = self.function;
        for (&param, &at) in function.params.iter().zip(&frame.params) {
            let comps = self.get(function.ty(param), at);
            let val = self.val_of(comps);
            self.define(param, val);
        }
    }

    /// Converts the low bits of an `i32` to masks.
    pub(super) fn masks_of(&mut self, bits: V) -> Regs {
        let ty = self.shape.register(Scalar::Bool, Mode::Varying);
        (0..self.shape.registers(Scalar::Bool, Mode::Varying) as u32)
            .map(|index| {
                let by = self.i32(index * self.shape.lanes32());
                let own = if index == 0 { bits } else { self.op(Register::I32, VOp::Bin(VBin::LShr, bits, by)) };
                self.op(ty, VOp::MaskOf(own))
            })
            .collect()
    }
}
