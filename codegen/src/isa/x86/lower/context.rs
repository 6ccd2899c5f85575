//! The state of instruction selection, and builders for common kinds of instructions.

use regalloc2::{Operand, RegClass, VReg};

use super::super::inst::{InstBuilder, MachInst, Opcode, RegMem};
use super::super::regs::{INT, MASK, VEC};
use super::super::table as t;
use crate::mach::folding::FoldingPlan;
use crate::mach::function::FunctionBuilder;
use crate::mach::pool::Pool;
use crate::target::{Isa, X86Level};
use crate::vir::{Elem, Function, Type, Value};

/// A selected division, and its machine block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    pub(super) block: usize,
    pub(super) sign: bool,
    pub(super) a: Value,
    pub(super) b: Value,
}

/// A function during instruction selection.
pub(super) struct Lower<'a> {
    pub(super) function: &'a Function,
    pub(super) level: X86Level,
    pub(super) pool: &'a mut Pool,
    pub(super) plan: FoldingPlan<'a>,
    pub(super) out: FunctionBuilder<MachInst>,
    /// The register of each value.
    pub(super) regs: Vec<Option<VReg>>,
    /// The registers of the function's parameters.
    pub(super) params: Vec<VReg>,
    /// The last division, its quotient and its remainder.
    pub(super) divided: Option<(Division, VReg, VReg)>,
    /// The first operation that the instruction set does not have.
    pub(super) unsupported: Option<String>,
}

/// Returns the encoding of a vector's size: 0, 1, 2 for 16, 32, 64 bytes.
pub(super) const fn length(ty: Type) -> u8 {
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
pub(super) fn wide(ty: Type) -> bool {
    match ty {
        Type::Mask(mask) => mask.bits == 64,
        ty => ty.elem().is_some_and(|elem| elem.bits() == 64),
    }
}

/// Whether a type is a scalar float.
pub(super) const fn is_float_scalar(ty: Type) -> bool {
    matches!(ty, Type::Scalar(Elem::F32 | Elem::F64))
}

impl<'a> Lower<'a> {
    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// Records the size of spilled vectors. Records a value as unsupported if the instruction set does not have its
    /// size.
    pub(super) fn check_sizes(&mut self) {
        let function = self.function;
        let reachable = function.blocks.iter().zip(&self.plan.reachable).filter(|(_, reachable)| **reachable);
        let values = reachable.flat_map(|(block, _)| block.params.iter().copied().chain(block.insts.iter().filter_map(|inst| inst.result)));
        for ty in values.map(|value| function.ty(value)) {
            if matches!(ty, Type::Scalar(_)) {
                continue;
            }
            let bytes = 16 << length(ty);
            if bytes > Isa::X86(self.level).caps().vector_bytes {
                self.unsupported = Some(format!("value of type {ty}"));
            }
            let largest = &mut self.out.function.vector_bytes;
            *largest = bytes.max(*largest);
        }
    }

    /// Records that the instruction set does not have an operation. Returns an undefined register as its result.
    pub(super) fn unsupported(&mut self, operation: String, class: RegClass) -> VReg {
        self.unsupported.get_or_insert(operation);
        self.new_reg(class)
    }

    pub(super) fn new_reg(&mut self, class: RegClass) -> VReg {
        self.out.new_reg(class)
    }

    pub(super) fn int(&mut self) -> VReg {
        self.new_reg(INT)
    }

    pub(super) fn vec(&mut self) -> VReg {
        self.new_reg(VEC)
    }

    pub(super) fn k(&mut self) -> VReg {
        self.new_reg(MASK)
    }

    pub(super) fn avx512(&self) -> bool {
        self.level == X86Level::Avx512
    }

    /// Whether the VEX encoding exists, which has a separate result register.
    pub(super) fn vex(&self) -> bool {
        self.level >= X86Level::Avx2
    }

    /// Returns the register class of a type.
    pub(super) fn class(&self, ty: Type) -> RegClass {
        match ty {
            ty if ty.is_general() => INT,
            Type::Mask(_) if self.avx512() => MASK,
            _ => VEC,
        }
    }

    pub(super) fn add(&mut self, inst: MachInst, operands: &[Operand]) {
        self.out.add(inst, operands);
    }

    pub(super) fn push(&mut self, builder: InstBuilder) {
        self.add(MachInst::Op(builder.inst), &builder.operands);
    }

    /// Adds an instruction with one operand.
    pub(super) fn v2(&mut self, opcode: Opcode, len: u8, wide: bool, a: impl Into<RegMem>) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).rm(a));
        to
    }

    /// Adds an instruction with one operand and an immediate.
    pub(super) fn v2_imm(&mut self, opcode: Opcode, len: u8, wide: bool, a: impl Into<RegMem>, imm: u8) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).rm(a).imm(imm));
        to
    }

    /// Adds an instruction with two operands. Without VEX, the instruction overwrites a copy of the first operand.
    pub(super) fn v3(&mut self, opcode: Opcode, len: u8, wide: bool, a: VReg, b: impl Into<RegMem>) -> VReg {
        let to = self.vec();
        let builder = InstBuilder::new(opcode).len(len).wide(wide);
        let builder = if self.vex() { builder.def(to).vvvv(a) } else { builder.tied(a, to) };
        self.push(builder.rm(b));
        to
    }

    /// Adds an instruction with two operands and an immediate.
    pub(super) fn v3_imm(&mut self, opcode: Opcode, len: u8, wide: bool, a: VReg, b: impl Into<RegMem>, imm: u8) -> VReg {
        let to = self.vec();
        let builder = InstBuilder::new(opcode).len(len).wide(wide);
        let builder = if self.vex() { builder.def(to).vvvv(a) } else { builder.tied(a, to) };
        self.push(builder.rm(b).imm(imm));
        to
    }

    /// Adds a shift or rotation by an immediate.
    pub(super) fn shift_imm(&mut self, opcode: Opcode, len: u8, wide: bool, a: VReg, amount: u8) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(opcode).len(len).wide(wide).vvvv_def(to).rm_reg(a).imm(amount));
        to
    }

    /// Selects lanes of `a` under an AVX2 mask, otherwise lanes of `b`.
    pub(super) fn blend(&mut self, len: u8, mask: VReg, a: impl Into<RegMem>, b: VReg) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(t::BLENDV).len(len).def(to).vvvv(b).rm(a).last(mask));
        to
    }

    pub(super) fn set(&mut self, value: Value, reg: VReg) {
        self.regs[value.index()] = Some(reg);
    }
}
