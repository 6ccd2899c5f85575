//! Instruction selection: vector IR to AArch64 instructions with virtual registers.

mod address;
mod atomics;
mod compare;
mod condition;
mod context;
mod control;
mod convert;
mod float;
mod half;
mod immediates;
mod indexed;
mod integer;
mod logic;
mod mask;
mod memory;
mod select;
mod shape;
mod shuffle;
mod sve;
mod values;
mod vector;

use regalloc2::VReg;
use rustc_hash::{FxHashMap, FxHashSet};

use super::folding::{ADDRESSING, folds};
use super::inst::MachInst;
use super::regs::{INT, VEC};
use crate::mach::code::CodegenError;
use crate::mach::folding::FoldingPlan;
use crate::mach::function::{FunctionBuilder, MFunction};
use crate::mach::pool::Pool;
use crate::target::{A64Level, Isa};
use crate::vir::{BinOp, Elem, Function, Inst, Op, Type, UnOp, Value};
use context::{Lower, is_float_scalar};

/// Selects instructions for a function.
pub(super) fn lower(function: &Function, level: A64Level, pool: &mut Pool) -> Result<MFunction<MachInst>, CodegenError> {
    let mut this = Lower {
        function,
        level,
        pool,
        plan: FoldingPlan::new(function, &ADDRESSING, |candidate| folds(candidate, matches!(level, A64Level::Sve(_)))),
        out: FunctionBuilder::new(function.blocks.len()),
        regs: vec![None; function.values.len()],
        params: Vec::new(),
        addresses: FxHashMap::default(),
        address_block: 0,
        packed: FxHashMap::default(),
        halves: if matches!(level, A64Level::Sve(_)) { half::converted(function) } else { FxHashSet::default() },
        elements: FxHashMap::default(),
        extensions: FxHashMap::default(),
        divided: None,
        unsupported: None,
    };
    this.check_sizes();
    this.blocks();
    match this.unsupported {
        Some(operation) => Err(CodegenError::Unsupported { function: function.name.clone(), operation, isa: Isa::A64(level) }),
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
            Op::Tern(op, a, b, c) if is_float_scalar(ty) => self.float_tern(*op, [*a, *b, *c], ty),
            Op::Tern(op, a, b, c) if self.is_long(ty) => self.long_tern(*op, [*a, *b, *c], ty),
            Op::Tern(op, a, b, c) => self.vector_tern(*op, [*a, *b, *c], ty),
            Op::Cmp(op, a, b) => self.cmp(*op, *a, *b),
            Op::Select(cond, a, b) => self.select(*cond, *a, *b, ty),
            Op::Cast(op, a) => self.cast(*op, *a, ty),
            Op::Widen(op, a, part) => self.widen(*op, *a, *part, ty),
            Op::Narrow(op, list) => self.narrow(*op, list, ty),
            Op::Splat(a) => self.splat(*a, ty),
            Op::Extract(a, lane) => self.extract(*a, *lane, ty),
            Op::MaskPart(a, part) => self.mask_part(*a, *part, ty),
            Op::MaskJoin(list) => self.mask_join(list, ty),
            Op::Shuffle(a, b, lanes) if self.is_long(ty) => self.long_shuffle([*a, *b], lanes, ty),
            Op::Shuffle(a, b, lanes) => self.shuffle(*a, *b, lanes, ty),
            Op::Permute(a, index) if self.is_long(ty) => self.long_permute(*a, *index),
            Op::Permute(a, index) => self.permute(*a, *index),
            Op::MaskBits(a) => self.mask_bits(*a),
            Op::MaskOf(a) => self.mask_of(*a, ty),
            Op::Clock => self.clock(),
            Op::Call(func, args) => self.call(*func, args, Some(ty)),
            Op::CallHelper(address, args) => self.call_helper(*address, args, true),
            Op::Load(mem, addr) => self.load(*mem, addr),
            Op::LoadVector { mem, addr, mask } if self.sve() => self.sve_load(*mem, addr, *mask, result),
            Op::LoadVector { mem, addr, mask } => self.load_vector(*mem, addr, *mask, ty),
            Op::Gather { base, index, scale, mask, .. } if self.sve() => self.sve_gather(*base, index, *scale, *mask, ty),
            Op::Gather { base, index, scale, mask, .. } => self.gather(*base, index, *scale, *mask, ty),
            Op::AtomicAdd(mem, addr, value) => self.atomic_add(*mem, addr, *value),
            Op::AtomicExchange(mem, addr, value) => self.atomic_exchange(*mem, addr, *value),
            Op::AtomicCompareExchange(mem, addr, expected, desired) => self.atomic_compare_exchange(*mem, addr, *expected, *desired),
            op @ Op::LoadPieces(..) => self.unsupported(op.to_string(), VEC),
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
            Op::StoreVector { mem, addr, value, mask } if self.sve() => self.sve_store(*mem, addr, *value, *mask),
            Op::StoreVector { mem, addr, value, mask } => self.store_vector(*mem, addr, *value, *mask),
            Op::Scatter { base, index, scale, value, mask, .. } if self.sve() => self.sve_scatter(*base, index, *scale, *value, *mask),
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
            (UnOp::Not, Type::Mask(_)) => self.mask_not(a),
            (op, Type::Mask(_)) => self.unsupported(format!("{op:?} of a mask"), VEC),
            (_, ty) if ty.is_general() => self.int_un(op, a, ty),
            (_, Type::Scalar(_)) => self.float_un(op, a, ty),
            _ if self.is_long(ty) => self.long_un(op, a, ty),
            _ => self.vector_un(op, a, ty),
        }
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        match (op, ty) {
            (_, ty) if ty.is_general() => self.int_bin(op, a, b, ty),
            (op, Type::Mask(_)) if self.sve() => self.predicate_logic(op, a, b, ty),
            (op, ty) if self.is_long(ty) => self.long_bin(op, a, b, ty),
            (BinOp::And | BinOp::Or | BinOp::Xor | BinOp::AndNot, _) => self.logic(op, a, b),
            (op, Type::Mask(_)) => self.unsupported(format!("{op:?} of masks"), VEC),
            (_, Type::Scalar(Elem::F32 | Elem::F64)) => self.float_bin(op, a, b, ty),
            _ => self.vector_bin(op, a, b, ty),
        }
    }
}
