//! Instruction selection: vector IR to x86 instructions with virtual registers.

mod compare;
mod context;
mod control;
mod convert;
mod float;
mod half;
mod integer;
mod logic;
mod mask;
mod memory;
mod select;
mod shape;
mod shuffle;
mod values;
mod vector;

use regalloc2::VReg;

use super::folding::{ADDRESSING, folds};
use super::inst::MachInst;
use super::regs::{INT, VEC};
use crate::mach::code::CodegenError;
use crate::mach::folding::FoldingPlan;
use crate::mach::function::{FunctionBuilder, MFunction};
use crate::mach::pool::Pool;
use crate::target::{Isa, X86Level};
use crate::vir::{BinOp, Elem, Function, Inst, Op, Type, UnOp, Value};
use context::Lower;

/// Selects instructions for a function.
pub(super) fn lower(function: &Function, level: X86Level, pool: &mut Pool) -> Result<MFunction<MachInst>, CodegenError> {
    let mut this = Lower {
        function,
        level,
        pool,
        plan: FoldingPlan::new(function, &ADDRESSING, |candidate| folds(level, candidate)),
        out: FunctionBuilder::new(function.blocks.len()),
        regs: vec![None; function.values.len()],
        params: Vec::new(),
        divided: None,
        unsupported: None,
    };
    this.check_sizes();
    this.blocks();
    match this.unsupported {
        Some(operation) => Err(CodegenError::Unsupported { function: function.name.clone(), operation, isa: Isa::X86(level) }),
        None => Ok(this.out.function),
    }
}

impl<'a> Lower<'a> {
    /// Selects instructions for an instruction of the vector IR.
    pub(super) fn inst(&mut self, inst: &'a Inst) {
        let Some(result) = inst.result else { return self.effect(&inst.op) };
        let ty = self.ty(result);
        let reg = match &inst.op {
            Op::Const(_) | Op::Lanes(_) | Op::Undef => return,
            Op::Param(index) => self.params[usize::from(*index)],
            Op::Un(op, a) => self.un(*op, *a, ty),
            Op::Bin(op, a, b) => self.bin(*op, *a, *b, ty),
            Op::Tern(op, a, b, c) => self.tern(*op, [*a, *b, *c], ty),
            Op::Cmp(op, a, b) => self.cmp(*op, *a, *b),
            Op::Select(cond, a, b) => self.select(*cond, *a, *b, ty),
            Op::Cast(op, a) => self.cast(*op, *a, ty),
            Op::Widen(op, a, part) => self.widen(*op, *a, *part, ty),
            Op::Narrow(op, list) => self.narrow(*op, list, ty),
            Op::Splat(a) => self.splat(*a, ty),
            Op::Extract(a, lane) => self.extract(*a, *lane, ty),
            Op::MaskPart(a, part) => self.mask_part(*a, *part, ty),
            Op::MaskJoin(list) => self.mask_join(list, ty),
            Op::Shuffle(a, b, lanes) => self.shuffle(*a, *b, lanes, ty),
            Op::Permute(a, index) => self.permute(*a, *index, ty),
            Op::MaskBits(a) => self.mask_bits(*a),
            Op::MaskOf(a) => self.mask_of(*a, ty),
            Op::Clock => self.clock(),
            Op::Call(func, args) => self.call(*func, args, Some(ty)),
            Op::CallHelper(address, args) => self.call_helper(*address, args, true),
            Op::Load(mem, addr) => self.load(*mem, addr),
            Op::LoadVector { mem, addr, mask } => self.load_vector(*mem, addr, *mask, ty),
            Op::LoadPieces(elem, places) => self.load_pieces(*elem, places, ty),
            Op::Gather { elem, base, index, scale, mask } => self.gather(*elem, *base, index, *scale, *mask, ty),
            Op::AtomicAdd(mem, addr, value) => self.atomic_add(*mem, addr, *value, self.plan.used[result.index()]),
            Op::AtomicExchange(mem, addr, value) => self.atomic_exchange(*mem, addr, *value),
            Op::AtomicCompareExchange(mem, addr, expected, desired) => self.atomic_compare_exchange(*mem, addr, *expected, *desired),
            op @ (Op::Store(..) | Op::StoreVector { .. } | Op::Scatter { .. } | Op::PrefetchWrite(_) | Op::Fence) => {
                self.unsupported(format!("result of {op}"), INT)
            }
        };
        self.set(result, reg);
    }

    /// Selects instructions for an instruction without a result.
    fn effect(&mut self, op: &Op) {
        match op {
            Op::Store(mem, addr, value) => self.store(*mem, addr, *value),
            Op::StoreVector { mem, addr, value, mask } => self.store_vector(*mem, addr, *value, *mask),
            Op::Scatter { base, index, scale, value, mask, .. } => self.scatter(*base, index, *scale, *value, *mask),
            Op::PrefetchWrite(addr) => self.prefetch_write(addr),
            Op::Fence => self.fence(),
            Op::Call(func, args) => {
                self.call(*func, args, None);
            }
            Op::CallHelper(address, args) => {
                self.call_helper(*address, args, false);
            }
            op @ (Op::Const(_)
            | Op::Lanes(_)
            | Op::Undef
            | Op::Param(_)
            | Op::Un(..)
            | Op::Bin(..)
            | Op::Tern(..)
            | Op::Cmp(..)
            | Op::Select(..)
            | Op::Cast(..)
            | Op::Widen(..)
            | Op::Narrow(..)
            | Op::Splat(_)
            | Op::Extract(..)
            | Op::MaskPart(..)
            | Op::MaskJoin(_)
            | Op::Shuffle(..)
            | Op::Permute(..)
            | Op::MaskBits(_)
            | Op::MaskOf(_)
            | Op::Load(..)
            | Op::LoadVector { .. }
            | Op::LoadPieces(..)
            | Op::Gather { .. }
            | Op::AtomicAdd(..)
            | Op::AtomicExchange(..)
            | Op::AtomicCompareExchange(..)
            | Op::Clock) => {
                self.unsupported(format!("{op} without a result"), INT);
            }
        }
    }

    fn un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        match (op, ty) {
            (UnOp::HalfToFloat, _) => self.half_to_float(a, ty),
            (UnOp::FloatToHalf, _) => self.float_to_half(a, ty),
            (_, Type::Mask(_)) => self.mask_not(a, ty),
            (_, ty) if ty.is_general() => self.int_un(op, a, ty),
            (UnOp::Sqrt | UnOp::Round(_) | UnOp::RecipApprox | UnOp::RsqrtApprox, _) => self.float_un(op, a, ty),
            (_, Type::Scalar(_)) => self.unsupported(format!("floating-point {op:?}"), VEC),
            _ => self.vector_un(op, a, ty),
        }
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        match ty {
            Type::Mask(_) => self.mask_bin(op, a, b, ty),
            ty if ty.is_general() => self.int_bin(op, a, b, ty),
            ty if ty.elem().is_some_and(Elem::is_float) => self.float_bin(op, a, b, ty),
            ty => self.vector_bin(op, a, b, ty),
        }
    }
}
