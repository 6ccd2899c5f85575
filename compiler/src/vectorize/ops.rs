//! Lowers instructions without regions.

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Op as VOp, Type as Register};

use super::shape::Mode;
use super::uniformity::{LaneShape, keeps_pointer};
use super::value::{Comps, Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{BinOp, CastOp, Inst, Op, Scalar, Type, Value};

impl Vectorizer<'_> {
    /// Lowers an instruction without regions, with the checks of the sanitizer before it.
    pub(super) fn operation(&mut self, inst: &Inst) -> Lowered<()> {
        let unchecked = self.emit_checks(inst)?;
        self.checked_operation(inst)?;
        self.restore_pointers(unchecked);
        Ok(())
    }

    fn checked_operation(&mut self, inst: &Inst) -> Lowered<()> {
        let result = inst.results.first().copied();
        match &inst.op {
            Op::Const(_) => Ok(()),
            Op::Store { ptr, value, .. } => self.store(*ptr, *value),
            Op::Copy { dst, src, size, .. } => self.copy(*dst, Some(*src), *size),
            Op::Zero { dst, size, .. } => self.copy(*dst, None, *size),
            Op::Atomic { op, ptr, value, ty } => self.atomic(result, *op, *ptr, *value, *ty),
            Op::CmpXchg { ptr, expected, desired, ty } => self.compare_exchange(result, [*ptr, *expected, *desired], *ty),
            Op::Barrier(fence) if self.progress.is_some() => {
                self.wait_for_gangs();
                if !self.shape.isa.caps().has_strong_memory_order && fence.reaches_other_groups() {
                    self.b.effect(VOp::Fence);
                }
                Ok(())
            }
            // The lanes of a gang run in lockstep, and a group runs on one thread, so a barrier needs no
            // synchronisation. It only orders accesses as other groups observe them, with acquire and release
            // semantics. Processors with a strong memory order need no code for this. Other groups cannot observe local
            // memory.
            Op::Barrier(fence) if self.shape.isa.caps().has_strong_memory_order || !fence.reaches_other_groups() => Ok(()),
            Op::Barrier(_) | Op::MemFence(_) => {
                self.b.effect(VOp::Fence);
                Ok(())
            }
            Op::Group { sub, op, args } => self.collective(result, *sub, *op, args),
            Op::Printf { format, args } => self.printf(result, *format, args),
            // `emit_checks` has emitted the code.
            Op::NanCheck { .. }
            | Op::ConversionCheck { .. }
            | Op::UndefinedUse { .. }
            | Op::AsyncCopyBegin(_)
            | Op::AsyncCopyEnd
            | Op::AsyncCopyWait(_) => Ok(()),
            Op::Clock { .. } => {
                self.clock(result);
                Ok(())
            }
            Op::Call(func, args) => self.call(*func, args, &inst.results),
            op => {
                let result = result.ok_or_else(|| internal!("{op:?} without a result"))?;
                self.with_result(op, result)
            }
        }
    }

    /// Reads the processor's clock counter once for all lanes.
    fn clock(&mut self, result: Option<Value>) {
        let ticks = self.emit(Register::I64, VOp::Clock);
        let low = self.op(Register::I32, VOp::Cast(VCast::Trunc, ticks));
        let by = self.i64(32);
        let rest = self.op(Register::I64, VOp::Bin(VBin::LShr, ticks, by));
        let high = self.op(Register::I32, VOp::Cast(VCast::Trunc, rest));
        if let Some(result) = result {
            self.define(result, Val::Uniform(smallvec![low, high]));
        }
    }

    /// Lowers an operation with one result.
    pub(super) fn with_result(&mut self, op: &Op, result: Value) -> Lowered<()> {
        match *op {
            Op::Load { ptr, align, .. } => return self.load(result, ptr, align),
            Op::VarAddr(var) => {
                self.var_addr(result, var);
                return Ok(());
            }
            Op::GlobalAddr(global) => {
                let address = self.global_addr(global)?;
                self.define(result, Val::Uniform(smallvec![address]));
                return Ok(());
            }
            Op::PtrAdd(base, offset) => {
                self.ptr_add(result, base, offset);
                return Ok(());
            }
            Op::WorkItem(query) => {
                let val = self.lower_query(query);
                self.define(result, val);
                return Ok(());
            }
            _ => {}
        }
        match self.uniformity.lane_shape(result) {
            LaneShape::Linear(stride) => {
                let first = self.linear_operation(op, result)?;
                self.define(result, Val::Linear(first, stride));
            }
            LaneShape::Uniform | LaneShape::Unknown => {
                let comps = self.compute(op, result, Mode::Uniform)?;
                self.define(result, Val::Uniform(comps.into_iter().map(|regs| regs[0]).collect()));
            }
            LaneShape::Varying => {
                // A cast between address spaces that keeps the address also keeps the lane shape.
                if let Op::Cast(CastOp::SpaceCast, pointer) = *op
                    && keeps_pointer(self.ir_ty(pointer), self.ir_ty(result))
                {
                    let val = self.val(pointer);
                    self.define(result, val);
                    return Ok(());
                }
                if self.compute_aos(op, result)? {
                    return Ok(());
                }
                let comps = self.compute(op, result, Mode::Varying)?;
                self.define_varying(result, comps);
                self.compute_packed(op, result);
            }
        }
        Ok(())
    }

    /// Computes lane 0 of an operation with a linear result.
    fn linear_operation(&mut self, op: &Op, result: Value) -> Lowered<wgcl_codegen::vir::Value> {
        Ok(self.compute(op, result, Mode::Uniform)?[0][0])
    }

    fn compute(&mut self, op: &Op, result: Value, mode: Mode) -> Lowered<Comps> {
        let ty = self.ir_ty(result);
        let of = scalar(ty);
        match op {
            Op::Un(op, a) => self.element_wise(result, &[*a], mode, |this, args| Ok(this.unary(*op, of, mode, args[0]))),
            Op::Bin(op, a, b) => self.element_wise(result, &[*a, *b], mode, |this, args| this.binary(*op, of, mode, args[0], args[1])),
            Op::Cmp(op, a, b) => {
                let of = self.ir_ty(*a);
                self.element_wise(result, &[*a, *b], mode, |this, args| Ok(this.compare(*op, of, mode, args[0], args[1])))
            }
            Op::Math(op, args) => {
                let of = scalar(self.ir_ty(args[0]));
                self.element_wise(result, args, mode, |this, args| this.math(*op, of, mode, args))
            }
            Op::Select(cond, a, b) => {
                self.element_wise(result, &[*cond, *a, *b], mode, |this, args| Ok(this.select_regs(of, mode, args[0], args[1], args[2])))
            }
            Op::Cast(op, a) => {
                let (comps, from) = (self.comps(*a, mode), self.ir_ty(*a));
                self.cast(*op, from, ty, mode, &comps)
            }
            Op::All(a) | Op::Any(a) => {
                let comps = self.comps(*a, mode);
                let join = if matches!(op, Op::All(_)) { BinOp::And } else { BinOp::Or };
                let mut lists = comps.into_iter();
                let first = lists.next().ok_or_else(|| internal!("a vector without components"))?;
                let made = lists.try_fold(first, |sum, regs| self.bool_binary(join, mode, &sum, &regs))?;
                Ok(smallvec![made])
            }
            Op::Construct(list) => Ok(list.iter().map(|&value| self.regs(value, mode)).collect()),
            Op::Splat(a) => {
                let regs = self.regs(*a, mode);
                Ok(smallvec![regs; usize::from(ty.lanes())])
            }
            Op::Extract(a, lane) => Ok(smallvec![self.comps(*a, mode).swap_remove(usize::from(*lane))]),
            Op::Insert(a, lane, value) => {
                let mut comps = self.comps(*a, mode);
                comps[usize::from(*lane)] = self.regs(*value, mode);
                Ok(comps)
            }
            Op::ExtractDyn(a, index) => self.extract(of, *a, *index, mode),
            Op::InsertDyn(a, index, value) => self.insert(of, [*a, *index, *value], mode),
            Op::Shuffle(a, b, lanes) => {
                let mut all = self.comps(*a, mode);
                all.extend(self.comps(*b, mode));
                let undefined: Regs = {
                    let ty = self.shape.register(of, mode);
                    let undefined = self.undef(ty);
                    smallvec![undefined; self.shape.registers(of, mode)]
                };
                Ok(lanes.iter().map(|lane| lane.map_or_else(|| undefined.clone(), |lane| all[usize::from(lane)].clone())).collect())
            }
            other => Err(internal!("{other:?} in machine code")),
        }
    }

    /// Applies a [`BinOp`] to `bool`s.
    fn bool_binary(&mut self, op: BinOp, mode: Mode, a: &[wgcl_codegen::vir::Value], b: &[wgcl_codegen::vir::Value]) -> Lowered<Regs> {
        self.binary(op, Scalar::Bool, mode, a, b)
    }

    /// Computes a `bool` that is true in lanes whose index equals `component`.
    fn is_index(&mut self, index: &Regs, component: usize, mode: Mode) -> Regs {
        let number = self.number(Scalar::I32, mode, component as u64);
        self.compare_regs(VCmp::Eq, Scalar::I32, mode, index, &number)
    }

    fn extract(&mut self, of: Scalar, vector: Value, index: Value, mode: Mode) -> Lowered<Comps> {
        let (comps, index) = (self.comps(vector, mode), self.index(index, mode));
        let mut made = comps[0].clone();
        for (component, regs) in comps.iter().enumerate().skip(1) {
            let here = self.is_index(&index, component, mode);
            made = self.select_regs(of, mode, &here, regs, &made);
        }
        Ok(smallvec![made])
    }

    fn insert(&mut self, of: Scalar, [vector, index, value]: [Value; 3], mode: Mode) -> Lowered<Comps> {
        let (comps, index, value) = (self.comps(vector, mode), self.index(index, mode), self.regs(value, mode));
        let mut made = Comps::new();
        for (component, regs) in comps.iter().enumerate() {
            let here = self.is_index(&index, component, mode);
            made.push(self.select_regs(of, mode, &here, &value, regs));
        }
        Ok(made)
    }

    /// Converts an index to a 32-bit number.
    fn index(&mut self, index: Value, mode: Mode) -> Regs {
        let regs = self.regs(index, mode);
        match scalar(self.ir_ty(index)) {
            Scalar::I64 => self.narrow(VCast::Trunc, Scalar::I32, mode, &regs),
            of => self.zero_extend(of, mode, &regs),
        }
    }

    /// Defines the parameters of a kernel, from the argument block and the key.
    pub(super) fn kernel_params(&mut self, samplers: &[u32]) -> Lowered<()> {
        use super::abi::ArgPlace;
        use super::access::memory;
        use crate::ir::KernelParam;
        let function = self.function;
        let kinds = &function.kernel.as_ref().ok_or_else(|| internal!("no kernel"))?.params;
        let (mut locals, mut samplers) = (self.frame.local.args.clone().into_iter(), samplers.iter());
        let args = self.args();
        for (index, (kind, &param)) in kinds.iter().zip(&function.params).enumerate() {
            let place = self.items.args.places.get(index).copied().ok_or_else(|| internal!("no place for an argument"))?;
            let (ty, of) = (self.ir_ty(param), scalar(self.ir_ty(param)));
            let list: SmallVec<[_; 4]> = match (kind, place) {
                (KernelParam::Value, ArgPlace::Bytes { offset, .. }) => (0..u32::from(ty.lanes()))
                    .map(|lane| {
                        let disp = (offset + lane * of.size()).cast_signed();
                        let addr = wgcl_codegen::vir::Addr::offset(args, disp);
                        self.emit_at_def(args, self.shape.register(of, Mode::Uniform), VOp::Load(memory(of), addr))
                    })
                    .collect(),
                (KernelParam::Bytes { .. }, ArgPlace::Bytes { offset, .. }) => {
                    let by = self.i64(u64::from(offset));
                    smallvec![self.op(Register::I64, VOp::Bin(VBin::Add, args, by))]
                }
                (KernelParam::Buffer { .. }, ArgPlace::Address { offset }) | (KernelParam::Image, ArgPlace::Image { offset }) => {
                    smallvec![self.load_invariant(args, Register::I64, offset.cast_signed())]
                }
                (KernelParam::Local { .. }, _) => {
                    let at = locals.next().unwrap_or(0);
                    let by = self.i64(u64::from(at));
                    smallvec![self.op(Register::I64, VOp::Bin(VBin::Add, self.frame.local_base, by))]
                }
                (KernelParam::Sampler, _) => {
                    let bits = samplers.next().copied().unwrap_or(0);
                    let register = self.shape.register(of, Mode::Uniform);
                    smallvec![self.bits(register, u64::from(bits))]
                }
                _ => return Err(internal!("an argument in the wrong place")),
            };
            if matches!(kind, KernelParam::Value) {
                self.note_zero_extended(of, &list);
            }
            debug_assert!(ty != Type::Void, "parameters have values");
            self.define(param, Val::Uniform(list));
        }
        Ok(())
    }
}
