//! The state of instruction selection, and builders for common kinds of instructions.

use regalloc2::{Operand, RegClass, VReg};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::inst::{InstBuilder, MachInst, Opcode};
use super::super::regs::{INT, MASK, VEC};
use super::super::table as t;
use crate::mach::folding::FoldingPlan;
use crate::mach::function::FunctionBuilder;
use crate::mach::pool::Pool;
use crate::target::{A64Level, Isa};
use crate::vir::{Elem, Function, Type, Value};

/// The terms of an address: `base + (index << shift) + displacement`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Terms {
    pub(super) base: VReg,
    pub(super) index: Option<(VReg, u32)>,
    pub(super) disp: i32,
}

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
    pub(super) level: A64Level,
    pub(super) pool: &'a mut Pool,
    pub(super) plan: FoldingPlan<'a>,
    pub(super) out: FunctionBuilder<MachInst>,
    /// The register of each value.
    pub(super) regs: Vec<Option<VReg>>,
    /// The registers of the function's parameters.
    pub(super) params: Vec<VReg>,
    /// The addresses that the current machine block has computed.
    pub(super) addresses: FxHashMap<Terms, VReg>,
    /// The machine block of `addresses`.
    pub(super) address_block: usize,
    /// The packed 16-bit elements of each vector that zero-extends them.
    pub(super) packed: FxHashMap<VReg, VReg>,
    /// The values that are converted from half, with SVE. Without it, `packed` decides the conversion alone.
    pub(super) halves: FxHashSet<Value>,
    /// For each splat: the scalar float that it repeats, and the machine block of the splat.
    pub(super) elements: FxHashMap<VReg, (VReg, usize)>,
    /// The 32-bit register that each extension to 64 bits extends, whether it is a sign extension, and its machine
    /// block.
    pub(super) extensions: FxHashMap<VReg, (VReg, bool, usize)>,
    /// The last division and its quotient.
    pub(super) divided: Option<(Division, VReg)>,
    /// The first operation that the instruction set does not have.
    pub(super) unsupported: Option<String>,
}

/// Whether the lanes of a type, or the register of a scalar, have 64 bits.
pub(super) fn wide(ty: Type) -> bool {
    match ty {
        Type::Mask(mask) => mask.bits == 64,
        ty => ty.elem().is_some_and(|elem| elem.bits() == 64),
    }
}

/// Returns the size in bits of a lane, or of the register of a scalar.
pub(super) fn bits(ty: Type) -> u32 {
    if wide(ty) { 64 } else { 32 }
}

/// Whether a type is a scalar float.
pub(super) const fn is_float_scalar(ty: Type) -> bool {
    matches!(ty, Type::Scalar(Elem::F32 | Elem::F64))
}

/// Returns the size of a vector in bytes, or of the vectors that a mask applies to.
pub(super) fn bytes(ty: Type) -> u32 {
    bits(ty) / 8 * u32::from(ty.lanes())
}

impl Lower<'_> {
    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// Whether the instruction set has SVE. Masks are then in predicate registers.
    pub(super) const fn sve(&self) -> bool {
        matches!(self.level, A64Level::Sve(_))
    }

    /// Returns the size of a vector register in bytes.
    pub(super) const fn register_bytes(&self) -> u32 {
        Isa::A64(self.level).caps().vector_bytes
    }

    /// Returns the register class of a type.
    pub(super) fn class(&self, ty: Type) -> RegClass {
        match ty {
            Type::Mask(_) if self.sve() => MASK,
            ty if ty.is_general() => INT,
            _ => VEC,
        }
    }

    /// Records a value as unsupported if it is a vector or mask of a size that the instruction set does not have. Sets
    /// the size of spilled vectors.
    pub(super) fn check_sizes(&mut self) {
        let (function, largest) = (self.function, self.register_bytes());
        let reachable = function.blocks.iter().zip(&self.plan.reachable).filter(|(_, reachable)| **reachable);
        let values = reachable.flat_map(|(block, _)| block.params.iter().copied().chain(block.insts.iter().filter_map(|inst| inst.result)));
        for ty in values.map(|value| function.ty(value)) {
            if ty.lanes() == 1 {
                continue;
            }
            self.out.function.vector_bytes = largest;
            if !(16..=largest).contains(&bytes(ty)) {
                self.unsupported = Some(format!("value of type {ty}"));
            }
        }
    }

    /// Records that the instruction set does not have an operation. Returns an undefined register as its result.
    pub(super) fn unsupported(&mut self, operation: String, class: RegClass) -> VReg {
        self.unsupported.get_or_insert(operation);
        let reg = self.out.new_reg(class);
        self.add(MachInst::Defines, &[Operand::reg_def(reg)]);
        reg
    }

    pub(super) fn int(&mut self) -> VReg {
        self.out.new_reg(INT)
    }

    pub(super) fn vec(&mut self) -> VReg {
        self.out.new_reg(VEC)
    }

    /// Returns a new register of the class of an opcode's first operand.
    fn result_of(&mut self, opcode: Opcode) -> VReg {
        self.out.new_reg(match opcode.text.as_bytes().first() {
            Some(b'R' | b'W' | b'X' | b'P' | b'A') => INT,
            Some(b'G') => MASK,
            _ => VEC,
        })
    }

    pub(super) fn add(&mut self, inst: MachInst, operands: &[Operand]) {
        self.out.add(inst, operands);
    }

    pub(super) fn push(&mut self, builder: InstBuilder) {
        self.add(MachInst::Op(builder.inst), &builder.operands);
    }

    /// Adds an instruction with a new result register in [`Field::D`](super::super::inst::Field::D). Returns the
    /// register.
    pub(super) fn result(&mut self, builder: InstBuilder) -> VReg {
        let to = self.result_of(builder.inst.opcode);
        self.push(builder.def(to));
        to
    }

    /// Adds an instruction with the operand `n`.
    pub(super) fn unary(&mut self, opcode: Opcode, wide: bool, n: VReg) -> VReg {
        self.result(InstBuilder::new(opcode).wide(wide).n(n))
    }

    /// Adds an instruction with the operands `n` and `m`.
    pub(super) fn binary(&mut self, opcode: Opcode, wide: bool, n: VReg, m: VReg) -> VReg {
        self.result(InstBuilder::new(opcode).wide(wide).n(n).m(m))
    }

    /// Estimates a reciprocal. The opcodes are those of the estimate, of the Newton-Raphson step, and of the product.
    /// The estimate has 8 correct bits, and one step doubles the number of correct bits.
    pub(super) fn reciprocal_estimate(&mut self, [estimate, step, multiply]: [Opcode; 3], wide: bool, a: VReg) -> VReg {
        let estimate = self.unary(estimate, wide, a);
        let step = self.binary(step, wide, estimate, a);
        self.binary(multiply, wide, estimate, step)
    }

    /// Estimates a reciprocal square root, like [`Self::reciprocal_estimate`].
    pub(super) fn reciprocal_root_estimate(&mut self, [estimate, step, multiply]: [Opcode; 3], wide: bool, a: VReg) -> VReg {
        let estimate = self.unary(estimate, wide, a);
        // The square comes first: `estimate * a` would be NaN for zeros and infinities.
        let square = self.binary(multiply, wide, estimate, estimate);
        let step = self.binary(step, wide, square, a);
        self.binary(multiply, wide, estimate, step)
    }

    /// Adds an instruction with the operands `n`, `m` and `a`.
    pub(super) fn ternary(&mut self, opcode: Opcode, wide: bool, n: VReg, m: VReg, a: VReg) -> VReg {
        self.result(InstBuilder::new(opcode).wide(wide).n(n).m(m).a(a))
    }

    /// Adds an instruction that reads and overwrites `d`, with the operand `n`. The result has its own virtual
    /// register.
    pub(super) fn tied_unary(&mut self, opcode: Opcode, wide: bool, d: VReg, n: VReg) -> VReg {
        let to = self.result_of(opcode);
        self.push(InstBuilder::new(opcode).wide(wide).tied(d, to).n(n));
        to
    }

    /// Adds an instruction that reads and overwrites `d`, with the operands `n` and `m`. The result has its own virtual
    /// register.
    pub(super) fn tied_binary(&mut self, opcode: Opcode, wide: bool, d: VReg, n: VReg, m: VReg) -> VReg {
        let to = self.result_of(opcode);
        self.push(InstBuilder::new(opcode).wide(wide).tied(d, to).n(n).m(m));
        to
    }

    /// Moves a general register to a scalar float.
    pub(super) fn move_to_float(&mut self, wide: bool, n: VReg) -> VReg {
        self.unary(t::FMOV_TO, wide, n)
    }

    /// Moves a scalar float, or the lowest lane of a vector, to a general register.
    pub(super) fn move_to_general(&mut self, wide: bool, n: VReg) -> VReg {
        self.unary(t::FMOV_FROM, wide, n)
    }

    pub(super) fn set(&mut self, value: Value, reg: VReg) {
        self.regs[value.index()] = Some(reg);
    }
}
