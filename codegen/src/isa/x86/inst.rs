//! Machine instructions with virtual registers.
//!
//! One [`Opcode`] describes the legacy (SSE), VEX and EVEX encodings of an instruction. Nearly all instructions have
//! the same mandatory prefix, opcode map and opcode in all three encodings.

use regalloc2::{Operand, OperandConstraint, OperandKind, OperandPos, PReg, PRegSet, VReg};
use smallvec::SmallVec;

use super::regs::call_clobbers;
use crate::mach::function::MachineInst;

/// The unit of 8-bit displacements in the EVEX encoding (`disp8*N`): the size of the accessed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tuple {
    /// A vector, or one element if it is broadcast.
    Full,
    /// One element. W selects its size.
    Elem,
    /// Half a vector.
    Half,
    /// A quarter of a vector.
    Quarter,
    /// A fixed number of bytes.
    Bytes(u8),
}

/// The VEX encoding exists.
pub(super) const VEX: u16 = 1;
/// The EVEX encoding exists.
pub(super) const EVEX: u16 = 2;
/// The legacy encoding exists.
pub(super) const LEGACY: u16 = 4;
/// The legacy and VEX encodings do not set W.
pub(super) const WIG: u16 = 8;
/// The register operand is a byte register.
pub(super) const BYTE_REG: u16 = 16;
/// The register or memory operand is a byte.
pub(super) const BYTE_RM: u16 = 32;
/// The instruction has the prefix `lock`.
pub(super) const LOCK: u16 = 64;
/// The opcode contains the register.
pub(super) const OPCODE_REG: u16 = 128;
/// The encoding has no operands.
pub(super) const BARE: u16 = 256;

/// The properties of an instruction, except for its operands, vector length and W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    /// A prefix of the instruction's mnemonic, without the `v` of VEX. `check` compares it with the decoded mnemonic.
    pub(super) name: &'static str,
    /// The mandatory prefix: 0 to 3 for none, `66`, `F3`, `F2`.
    pub(super) pp: u8,
    /// The opcode map: 0 to 3 for none, `0F`, `0F38`, `0F3A`.
    pub(super) map: u8,
    pub(super) op: u8,
    /// The opcode extension in the ModRM `reg` field of instructions without a register operand in this field.
    pub(super) ext: u8,
    /// The available encodings and other properties: [`VEX`] to [`BARE`].
    pub(super) flags: u16,
    /// The size of the instruction's memory operand.
    pub(super) tuple: Tuple,
}

impl Opcode {
    pub(super) const fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether W is significant in the legacy and VEX encodings.
    pub(super) const fn has_wide(&self) -> bool {
        !self.has(WIG)
    }

    /// Restricts an opcode to EVEX. This is required if VEX does not support the value of W, or a mask register as the
    /// result.
    pub(super) const fn evex(mut self) -> Self {
        self.flags = EVEX;
        self
    }
}

/// A register of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    None,
    /// The register of an operand, by its index.
    Op(u8),
    /// A physical register, by its number.
    Phys(u8),
}

/// A register or memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rm {
    None,
    /// A register or its spill slot.
    Reg(Slot),
    Mem {
        base: Slot,
        index: Slot,
        scale: u8,
        disp: i32,
    },
    /// The index of a constant in the pool.
    Pool(u32),
}

/// An immediate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imm {
    None,
    I8(u8),
    I16(u16),
    I32(i32),
    I64(u64),
}

/// An instruction with its operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct X86Inst {
    pub(super) opcode: Opcode,
    /// Vector length: 0, 1, 2 for 16, 32, 64 bytes.
    pub(super) len: u8,
    /// W, the operand size bit.
    pub(super) wide: bool,
    pub(super) reg: Slot,
    pub(super) vvvv: Slot,
    pub(super) rm: Rm,
    /// A fourth register, encoded in the immediate.
    pub(super) last: Slot,
    pub(super) mask: Slot,
    /// Whether inactive lanes become 0 instead of keeping their values.
    pub(super) zeroing: bool,
    /// Whether one element in memory is broadcast to all lanes.
    pub(super) broadcast: bool,
    pub(super) imm: Imm,
}

/// Conditions on the flags, with their condition codes, and two conditions of floats that take two branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cc {
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowEqual = 6,
    Above = 7,
    Sign = 8,
    NotSign = 9,
    Less = 12,
    GreaterEqual = 13,
    LessEqual = 14,
    Greater = 15,
    /// Equal, and neither operand is a NaN.
    FloatEqual = 16,
    /// Not equal, or one operand is a NaN.
    FloatNotEqual = 17,
}

impl Cc {
    pub(super) const fn inverted(self) -> Self {
        match self {
            Self::Below => Self::AboveEqual,
            Self::AboveEqual => Self::Below,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::BelowEqual => Self::Above,
            Self::Above => Self::BelowEqual,
            Self::Sign => Self::NotSign,
            Self::NotSign => Self::Sign,
            Self::Less => Self::GreaterEqual,
            Self::GreaterEqual => Self::Less,
            Self::LessEqual => Self::Greater,
            Self::Greater => Self::LessEqual,
            Self::FloatEqual => Self::FloatNotEqual,
            Self::FloatNotEqual => Self::FloatEqual,
        }
    }
}

/// The kinds of machine instructions.
#[derive(Clone, Copy, Debug)]
pub(super) enum MachInst {
    Op(X86Inst),
    /// Defines its operands without code: parameters, and undefined values.
    Defines,
    /// Calls a function of the module.
    Call(u32),
    /// Calls the address in its first operand.
    CallAddress,
    /// Continues at the only successor.
    Jump,
    /// Continues at the first successor if the condition holds, otherwise at the second.
    Branch(Cc),
    /// Returns from the function.
    Return,
    Trap,
}

impl MachineInst for MachInst {
    fn is_return(&self) -> bool {
        matches!(self, Self::Return | Self::Trap)
    }

    fn is_branch(&self) -> bool {
        matches!(self, Self::Jump | Self::Branch(_))
    }

    fn clobbers(&self, defines: bool) -> PRegSet {
        match self {
            Self::Call(_) | Self::CallAddress => call_clobbers(defines),
            Self::Op(_) | Self::Defines | Self::Jump | Self::Branch(_) | Self::Return | Self::Trap => PRegSet::empty(),
        }
    }
}

/// A register or memory operand that is not yet part of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegMem {
    Reg(VReg),
    /// A memory operand. If `broadcast`, the instruction broadcasts one element to all lanes.
    Mem {
        base: Option<VReg>,
        index: Option<(VReg, u8)>,
        disp: i32,
        broadcast: bool,
    },
    /// A constant of the pool. If `broadcast`, the instruction broadcasts one element to all lanes.
    Pool {
        id: u32,
        broadcast: bool,
    },
}

impl From<VReg> for RegMem {
    fn from(reg: VReg) -> Self {
        Self::Reg(reg)
    }
}

/// An instruction under construction, with its operands for the register allocator.
#[derive(Clone, Debug)]
pub(super) struct InstBuilder {
    pub(super) inst: X86Inst,
    pub(super) operands: SmallVec<[Operand; 6]>,
}

impl InstBuilder {
    pub(super) fn new(opcode: Opcode) -> Self {
        let inst = X86Inst {
            opcode,
            len: 0,
            wide: false,
            reg: Slot::None,
            vvvv: Slot::None,
            rm: Rm::None,
            last: Slot::None,
            mask: Slot::None,
            zeroing: false,
            broadcast: false,
            imm: Imm::None,
        };
        Self { inst, operands: SmallVec::new() }
    }

    pub(super) fn operand(&mut self, operand: Operand) -> Slot {
        self.operands.push(operand);
        Slot::Op(self.operands.len() as u8 - 1)
    }

    pub(super) fn len(mut self, len: u8) -> Self {
        self.inst.len = len;
        self
    }

    pub(super) fn wide(mut self, wide: bool) -> Self {
        self.inst.wide = wide;
        self
    }

    pub(super) fn imm(mut self, imm: u8) -> Self {
        self.inst.imm = Imm::I8(imm);
        self
    }

    pub(super) fn imm32(mut self, imm: i32) -> Self {
        self.inst.imm = Imm::I32(imm);
        self
    }

    /// Writes the register operand.
    pub(super) fn def(mut self, to: VReg) -> Self {
        self.inst.reg = self.operand(Operand::reg_def(to));
        self
    }

    /// Reads the register operand.
    pub(super) fn reg(mut self, from: VReg) -> Self {
        self.inst.reg = self.operand(Operand::reg_use(from));
        self
    }

    /// Reads the register operand and then writes it.
    pub(super) fn tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.reg = self.operand(Operand::reg_reuse_def(to, which));
        self
    }

    /// Reads and then writes the register or memory operand, which is a register.
    pub(super) fn rm_tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.rm = Rm::Reg(self.operand(Operand::reg_reuse_def(to, which)));
        self
    }

    /// Writes the register or memory operand, which is a register.
    pub(super) fn rm_def(mut self, to: VReg) -> Self {
        self.inst.rm = Rm::Reg(self.operand(Operand::reg_def(to)));
        self
    }

    /// Reads the VEX register operand.
    pub(super) fn vvvv(mut self, from: VReg) -> Self {
        self.inst.vvvv = self.operand(Operand::reg_use(from));
        self
    }

    /// Writes the VEX register operand.
    pub(super) fn vvvv_def(mut self, to: VReg) -> Self {
        self.inst.vvvv = self.operand(Operand::reg_def(to));
        self
    }

    /// Reads the VEX register operand and then writes it.
    pub(super) fn vvvv_tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.vvvv = self.operand(Operand::reg_reuse_def(to, which));
        self
    }

    /// Reads the mask and then writes it.
    pub(super) fn mask_tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.mask = self.operand(Operand::reg_reuse_def(to, which));
        self
    }

    /// Reads the fourth register.
    pub(super) fn last(mut self, from: VReg) -> Self {
        self.inst.last = self.operand(Operand::reg_use(from));
        self
    }

    /// Restricts the instruction to the lanes of a mask. Other lanes become 0 if `zeroing`, otherwise keep their
    /// values.
    pub(super) fn mask(mut self, mask: VReg, zeroing: bool) -> Self {
        self.inst.mask = self.operand(Operand::reg_use(mask));
        self.inst.zeroing = zeroing;
        self
    }

    /// Reads the register or memory operand. The instruction can read a spilled register from its spill slot.
    pub(super) fn rm(self, from: impl Into<RegMem>) -> Self {
        self.rm_by(from.into(), Operand::any_use)
    }

    /// Reads the register or memory operand. A spilled register is reloaded first.
    pub(super) fn rm_reg(self, from: impl Into<RegMem>) -> Self {
        self.rm_by(from.into(), Operand::reg_use)
    }

    fn rm_by(mut self, from: RegMem, operand: impl Fn(VReg) -> Operand) -> Self {
        self.inst.rm = match from {
            RegMem::Reg(reg) => Rm::Reg(self.operand(operand(reg))),
            RegMem::Mem { base, index, disp, broadcast } => {
                self.inst.broadcast = broadcast;
                let base = base.map_or(Slot::None, |base| self.operand(Operand::reg_use(base)));
                let (index, scale) = index.map_or((Slot::None, 1), |(index, scale)| (self.operand(Operand::reg_use(index)), scale));
                Rm::Mem { base, index, scale, disp }
            }
            RegMem::Pool { id, broadcast } => {
                self.inst.broadcast = broadcast;
                Rm::Pool(id)
            }
        };
        self
    }

    /// Sets a memory operand with a vector of indices. The instruction must not write the index register.
    pub(super) fn vsib(mut self, base: Option<VReg>, index: VReg, scale: u8) -> Self {
        let base = base.map_or(Slot::None, |base| self.operand(Operand::reg_use(base)));
        let index = self.operand(Operand::new(index, OperandConstraint::Reg, OperandKind::Use, OperandPos::Late));
        self.inst.rm = Rm::Mem { base, index, scale, disp: 0 };
        self
    }

    /// Reads a value in a fixed register that the encoding does not contain.
    pub(super) fn fixed_use(mut self, from: VReg, place: PReg) -> Self {
        self.operand(Operand::reg_fixed_use(from, place));
        self
    }

    /// Writes a fixed register that the encoding does not contain.
    pub(super) fn fixed_def(mut self, to: VReg, place: PReg) -> Self {
        self.operand(Operand::reg_fixed_def(to, place));
        self
    }
}
