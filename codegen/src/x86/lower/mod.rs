//! From the vector IR to instructions of the machine with registers without number.

mod addresses;
mod compare;
mod control;
mod convert;
mod float;
mod half;
mod integer;
mod logic;
mod mask;
mod memory;
mod plan;
mod select;
mod shape;
mod shuffle;
mod values;
mod vector;

use regalloc2::{RegClass, VReg};

use super::CodegenError;
use super::alloc::{INT, MASK, MFunction, VEC};
use super::inst::{InstBuilder, MachInst, Opcode, RegMem};
use super::pool::Pool;
use crate::Isa;
use crate::vir::{BinOp, Elem, Function, Inst, Op, Type, UnOp, Value};
use integer::Division;
use plan::Plan;

/// A function that is being lowered.
pub(super) struct Lower<'a> {
    function: &'a Function,
    isa: Isa,
    pool: &'a mut Pool,
    plan: Plan<'a>,
    out: MFunction,
    /// The registers of values.
    regs: Vec<Option<VReg>>,
    /// The registers of the function's parameters.
    params: Vec<VReg>,
    /// The block of the machine where each label is: first those of the IR's blocks.
    labels: Vec<usize>,
    /// The last division, its quotient and its rest.
    divided: Option<(Division, VReg, VReg)>,
    /// What cannot be done.
    unsupported: Option<String>,
}

/// Chooses instructions for a function.
pub(super) fn lower(function: &Function, isa: Isa, pool: &mut Pool) -> Result<MFunction, CodegenError> {
    let mut this = Lower {
        function,
        isa,
        pool,
        plan: Plan::new(function, isa),
        out: MFunction { vector: 16, ..MFunction::default() },
        regs: vec![None; function.values.len()],
        params: Vec::new(),
        labels: vec![usize::MAX; function.blocks.len()],
        divided: None,
        unsupported: None,
    };
    this.sizes();
    this.blocks();
    match this.unsupported {
        Some(operation) => Err(CodegenError::Unsupported { function: function.name.clone(), operation, isa }),
        None => Ok(this.out),
    }
}

/// The number of a vector's length in the encodings.
const fn length(ty: Type) -> u8 {
    let bytes = match ty {
        Type::Vector(elem, lanes) => elem.bytes() * lanes as u32,
        Type::Mask(mask) => mask.bits as u32 / 8 * mask.lanes as u32,
        Type::Scalar(_) => 16,
    };
    match bytes {
        0..=16 => 0,
        17..=32 => 1,
        _ => 2,
    }
}

/// Whether lanes have 64 bits.
fn wide(ty: Type) -> bool {
    match ty {
        Type::Mask(mask) => mask.bits == 64,
        ty => ty.elem().is_some_and(|elem| elem.bits() == 64),
    }
}

/// Whether it is one float.
const fn is_float_scalar(ty: Type) -> bool {
    matches!(ty, Type::Scalar(Elem::F32 | Elem::F64))
}

impl<'a> Lower<'a> {
    fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// How large spilled vectors are, and whether the instruction set has vectors of that size.
    fn sizes(&mut self) {
        let function = self.function;
        let reached = function.blocks.iter().zip(&self.plan.reached).filter(|(_, reached)| **reached);
        let values = reached.flat_map(|(block, _)| block.params.iter().copied().chain(block.insts.iter().filter_map(|inst| inst.result)));
        for ty in values.map(|value| function.ty(value)) {
            if matches!(ty, Type::Scalar(_)) {
                continue;
            }
            let bytes = 16 << length(ty);
            if bytes > self.isa.vector_bytes() {
                self.unsupported = Some(format!("value of type {ty}"));
            }
            self.out.vector = self.out.vector.max(bytes);
            self.out.uppers |= bytes > 16;
        }
    }

    /// Says that an operation cannot be done; the register stands for its result.
    fn unsupported(&mut self, operation: String, class: RegClass) -> VReg {
        self.unsupported.get_or_insert(operation);
        self.new_reg(class)
    }

    fn new_reg(&mut self, class: RegClass) -> VReg {
        self.out.vregs += 1;
        VReg::new(self.out.vregs - 1, class)
    }

    fn int(&mut self) -> VReg {
        self.new_reg(INT)
    }

    fn vec(&mut self) -> VReg {
        self.new_reg(VEC)
    }

    fn k(&mut self) -> VReg {
        self.new_reg(MASK)
    }

    fn avx512(&self) -> bool {
        self.isa == Isa::Avx512
    }

    /// Whether instructions have a register for the result apart from those of the operands.
    fn vex(&self) -> bool {
        self.isa >= Isa::Avx2
    }

    /// The class of the register that holds a value of a type.
    fn class(&self, ty: Type) -> RegClass {
        match ty {
            ty if ty.is_general() => INT,
            Type::Mask(_) if self.avx512() => MASK,
            _ => VEC,
        }
    }

    fn add(&mut self, inst: MachInst, operands: &[regalloc2::Operand]) {
        self.out.insts.push(inst);
        self.out.operands.extend_from_slice(operands);
        self.out.ends.push(self.out.operands.len() as u32);
    }

    fn push(&mut self, builder: InstBuilder) {
        self.add(MachInst::Op(builder.inst), &builder.operands);
    }

    /// An instruction of one operand.
    fn v2(&mut self, opcode: Opcode, len: u8, wide: bool, a: impl Into<RegMem>) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).rm(a));
        to
    }

    /// An instruction of one operand and an immediate.
    fn v2_imm(&mut self, opcode: Opcode, len: u8, wide: bool, a: impl Into<RegMem>, imm: u8) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).rm(a).imm(imm));
        to
    }

    /// An instruction of two operands; the first is overwritten where there is no other way.
    fn v3(&mut self, opcode: Opcode, len: u8, wide: bool, a: VReg, b: impl Into<RegMem>) -> VReg {
        let to = self.vec();
        let builder = InstBuilder::new(opcode).len(len).wide(wide);
        let builder = if self.vex() { builder.def(to).vvvv(a) } else { builder.tied(a, to) };
        self.push(builder.rm(b));
        to
    }

    /// The same with an immediate.
    fn v3_imm(&mut self, opcode: Opcode, len: u8, wide: bool, a: VReg, b: impl Into<RegMem>, imm: u8) -> VReg {
        let to = self.vec();
        let builder = InstBuilder::new(opcode).len(len).wide(wide);
        let builder = if self.vex() { builder.def(to).vvvv(a) } else { builder.tied(a, to) };
        self.push(builder.rm(b).imm(imm));
        to
    }

    /// A shift or rotation by an immediate.
    fn shift_imm(&mut self, opcode: Opcode, len: u8, wide: bool, a: VReg, amount: u8) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(opcode).len(len).wide(wide).vvvv_def(to).rm_reg(a).imm(amount));
        to
    }

    /// `a` under `mask`, `b` elsewhere, of vectors; the mask is one of AVX2.
    fn blend(&mut self, len: u8, mask: VReg, a: impl Into<RegMem>, b: VReg) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(super::table::BLENDV).len(len).def(to).vvvv(b).rm(a).last(mask));
        to
    }

    fn set(&mut self, value: Value, reg: VReg) {
        self.regs[value.index()] = Some(reg);
    }

    /// Chooses instructions for an instruction of the IR.
    fn inst(&mut self, inst: &'a Inst) {
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
            Op::Gather { elem, base, index, scale, mask } => self.gather(*elem, *base, index, *scale, *mask, ty),
            op => self.atomic(op, self.plan.used[result.index()]),
        };
        self.set(result, reg);
    }

    /// Chooses instructions for one that gives nothing.
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
            _ => {}
        }
    }

    fn un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        match (op, ty) {
            (UnOp::HalfToFloat, _) => self.half_to_float(a, ty),
            (UnOp::FloatToHalf, _) => self.float_to_half(a, ty),
            (_, Type::Mask(_)) => self.mask_not(a, ty),
            (_, ty) if ty.is_general() => self.int_un(op, a, ty),
            (UnOp::Sqrt | UnOp::Round(_) | UnOp::RecipApprox | UnOp::RsqrtApprox, _) => self.float_un(op, a, ty),
            (_, Type::Scalar(_)) => self.unsupported(format!("{op:?} of a float"), VEC),
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
