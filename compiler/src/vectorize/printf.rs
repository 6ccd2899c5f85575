//! `printf`: each active lane appends a record to the launch's buffer. [`crate::printf`] describes the layout.

use std::mem::offset_of;

use smallvec::smallvec;
use wgcl_codegen::vir::{
    Addr, CastOp as VCast, CmpOp as VCmp, Cond, Elem, Mem, Op as VOp, Target, Terminator, Type as Register, Value as V,
};

use super::abi::LaunchContext;
use super::shape::Mode;
use super::value::{Comps, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{Global, Scalar, Type, Value};
use crate::printf::CAPACITY;

impl Vectorizer<'_> {
    /// Lowers a `printf`. The result is 0, or -1 if the buffer is full.
    pub(super) fn printf(&mut self, result: Option<Value>, format: Option<Global>, args: &[Value]) -> Lowered<()> {
        let types: Vec<Type> = args.iter().map(|&arg| crate::printf::resolved(self.ir_ty(arg), 8)).collect();
        let missing = || internal!("a printf without a site number");
        let number = self.printed.find(format, &types).map(|(number, _)| number).ok_or_else(missing)?;
        let mode = if self.shape.lanes == 1 { Mode::Uniform } else { Mode::Varying };
        let lists: Vec<(Type, Comps)> = args.iter().map(|&arg| (self.ir_ty(arg), self.comps(arg, mode))).collect();
        if mode == Mode::Uniform {
            let made = self.record(number, &lists);
            if let Some(result) = result {
                self.define(result, Val::Uniform(smallvec![made]));
            }
            return Ok(());
        }
        let operands: Vec<_> = lists.iter().flat_map(|(ty, comps)| comps.iter().map(|regs| (scalar(*ty), regs.clone()))).collect();
        let made = self.each_lane(&operands, result.map(|_| Scalar::I32), &mut |this, scalars, _| {
            let mut rest = scalars;
            let mut lane_args: Vec<(Type, Comps)> = Vec::new();
            for (ty, comps) in &lists {
                let (these, others) = rest.split_at(comps.len());
                lane_args.push((*ty, these.iter().map(|&value| smallvec![value]).collect()));
                rest = others;
            }
            Some(this.record(number, &lane_args))
        });
        if let Some(result) = result {
            self.define_varying(result, smallvec![made]);
        }
        Ok(())
    }

    /// Returns the 32-bit words of an argument, in little-endian order.
    fn words_of(&mut self, ty: Type, comps: &Comps) -> Vec<V> {
        let of = scalar(ty);
        let mut comps = comps.clone();
        while !(of.size() * comps.len() as u32).is_multiple_of(4) {
            let zero = self.number(of, Mode::Uniform, 0);
            comps.push(zero);
        }
        self.bitcast(of, Scalar::I32, Mode::Uniform, &comps).into_iter().map(|regs| regs[0]).collect()
    }

    /// Appends one record.
    ///
    /// ```text
    /// if load(count) <= CAPACITY - words {       so that the counter never wraps
    ///     at = atomic_add(count, words)
    ///     if at <= CAPACITY - words { store the record }
    ///     else if at < CAPACITY { store site number 0 }
    /// }
    /// ```
    fn record(&mut self, number: u32, args: &[(Type, Comps)]) -> V {
        let mut words = vec![self.i32(number)];
        for (ty, comps) in args {
            words.extend(self.words_of(*ty, comps));
        }
        let (failed, done) = (self.i32(u32::MAX), self.i32(0));
        let Some(space) = CAPACITY.checked_sub(words.len() as u32) else { return failed };
        let mem = Mem::Elem(Elem::I32);
        let buffer = self.launch_address(offset_of!(LaunchContext, printf));
        let (open, accept, reject, cut, exit) = (self.b.block(), self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let depth = self.depth();
        let (space, count, capacity) = (self.i32(space), self.i32(words.len() as u32), self.i32(CAPACITY));
        let seen = self.emit(Register::I32, VOp::Load(mem, Addr::of(buffer)));
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::ULe, seen, space), Target::new(open, []), Target::new(exit, [failed])));
        self.b.enter(open);
        let at = self.emit(Register::I32, VOp::AtomicAdd(mem, Addr::of(buffer), count));
        let index = self.emit(Register::I64, VOp::Cast(VCast::ZExt, at));
        let place = |index: V, word: u32| Addr { base: buffer, index: Some((index, 4)), disp: (4 * (word + 1)).cast_signed() };
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::ULe, at, space), Target::new(accept, []), Target::new(reject, [])));
        self.b.enter(accept);
        for (word, &value) in (0..).zip(&words) {
            self.b.effect(VOp::Store(mem, place(index, word), value));
        }
        self.jump(exit, [done]);
        self.b.enter(reject);
        self.b.end(Terminator::Branch(Cond::Cmp(VCmp::ULt, at, capacity), Target::new(cut, []), Target::new(exit, [failed])));
        self.b.enter(cut);
        self.b.effect(VOp::Store(mem, place(index, 0), done));
        self.jump(exit, [failed]);
        self.b.enter(exit);
        self.block_param(exit, Register::I32, depth)
    }
}
