//! Instructions of the machine before registers are known.
//!
//! One descriptor serves the legacy (SSE), VEX and EVEX encodings: prefix, map and opcode are the same in all three for
//! nearly all instructions, so a table of opcodes and three small encoders replace a list of every combination of
//! length and encoding.

use regalloc2::{Operand, OperandConstraint, OperandKind, OperandPos, PReg, PRegSet, VReg};
use smallvec::SmallVec;

use super::regs::call_clobbers;
use crate::mach::function::MachineInst;

/// What a displacement of eight bits counts in, in the EVEX encoding: the size of what is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tuple {
    /// A vector, or an element where it is broadcast.
    Full,
    /// The element that the bit W chooses.
    Elem,
    /// Half a vector.
    Half,
    /// A quarter of one.
    Quarter,
    /// So many bytes.
    Bytes(u8),
}

/// Exists in the VEX encoding.
pub(super) const VEX: u16 = 1;
/// Exists in the EVEX encoding.
pub(super) const EVEX: u16 = 2;
/// Exists in the legacy encoding.
pub(super) const LEGACY: u16 = 4;
/// The VEX encoding ignores the bit W.
pub(super) const WIG: u16 = 8;
/// The register operand is a byte.
pub(super) const BYTE_REG: u16 = 16;
/// The register or memory operand is a byte.
pub(super) const BYTE_RM: u16 = 32;
/// Has the prefix `lock`.
pub(super) const LOCK: u16 = 64;
/// The register is part of the opcode.
pub(super) const OPCODE_REG: u16 = 128;
/// Has no operands in the encoding.
pub(super) const BARE: u16 = 256;

/// What an instruction is, but for its operands, length and the bit W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    /// How its mnemonic begins, without the `v` of VEX: to hold what was emitted against a decoder.
    pub(super) name: &'static str,
    /// None, `66`, `F3`, `F2`.
    pub(super) pp: u8,
    /// None, `0F`, `0F38`, `0F3A`.
    pub(super) map: u8,
    /// The opcode.
    pub(super) op: u8,
    /// What stands in the field of the register, where none does.
    pub(super) ext: u8,
    /// Which encodings exist, and their oddities.
    pub(super) flags: u16,
    /// What its memory operand is.
    pub(super) tuple: Tuple,
}

impl Opcode {
    pub(super) const fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether the bit W means anything in the legacy and VEX encodings.
    pub(super) const fn has_wide(&self) -> bool {
        !self.has(WIG)
    }

    /// The EVEX encoding alone: where W chooses an instruction that VEX does not have.
    pub(super) const fn evex(mut self) -> Self {
        self.flags = EVEX;
        self
    }
}

/// A register of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// None.
    None,
    /// That of an operand of the register allocator.
    Op(u8),
    /// A register that is not allocated.
    Phys(u8),
}

/// A register or memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rm {
    /// None.
    None,
    /// A register (or the slot it was spilled to).
    Reg(Slot),
    /// Memory.
    Mem { base: Slot, index: Slot, scale: u8, disp: i32 },
    /// A constant of the pool.
    Pool(u32),
}

/// An immediate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imm {
    /// None.
    None,
    /// One byte.
    I8(u8),
    /// Two bytes.
    I16(u16),
    /// Four bytes.
    I32(i32),
    /// Eight bytes.
    I64(u64),
}

/// An instruction of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct X86Inst {
    pub(super) opcode: Opcode,
    /// 0, 1, 2 for 16, 32, 64 bytes.
    pub(super) len: u8,
    /// The bit W.
    pub(super) wide: bool,
    pub(super) reg: Slot,
    pub(super) vvvv: Slot,
    pub(super) rm: Rm,
    /// A fourth register, in the immediate.
    pub(super) last: Slot,
    pub(super) mask: Slot,
    /// Lanes that the mask leaves out become 0.
    pub(super) zeroing: bool,
    /// The memory operand is one element, in all lanes.
    pub(super) broadcast: bool,
    pub(super) imm: Imm,
}

/// Conditions on the flags, numbered as in opcodes, and two of floats that need two tests.
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
    /// Equal, and neither is a NaN.
    FloatEqual = 16,
    /// Not equal, or one is a NaN.
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

/// What a place in the code does.
#[derive(Clone, Copy, Debug)]
pub(super) enum MachInst {
    /// One instruction.
    Op(X86Inst),
    /// Defines its operands without doing anything: parameters, and values that may be anything.
    Defines,
    /// Calls a function of the module.
    Call(u32),
    /// Calls the address in its first operand.
    CallAddress,
    /// Goes on to the only successor.
    Jump,
    /// Goes on to the first successor if the condition holds, else to the second.
    Branch(Cc),
    /// Leaves the function.
    Return,
    /// Stops the process.
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

/// What may be a register or memory operand, before it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegMem {
    /// A register.
    Reg(VReg),
    /// Memory; one element in all lanes if `broadcast`.
    Mem { base: Option<VReg>, index: Option<(VReg, u8)>, disp: i32, broadcast: bool },
    /// A constant of the pool; one element in all lanes if `broadcast`.
    Pool { id: u32, broadcast: bool },
}

impl From<VReg> for RegMem {
    fn from(reg: VReg) -> Self {
        Self::Reg(reg)
    }
}

/// An instruction that is being put together, with what the register allocator has to know.
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

    /// The register operand is written.
    pub(super) fn def(mut self, to: VReg) -> Self {
        self.inst.reg = self.operand(Operand::reg_def(to));
        self
    }

    /// The register operand is read.
    pub(super) fn reg(mut self, from: VReg) -> Self {
        self.inst.reg = self.operand(Operand::reg_use(from));
        self
    }

    /// The register operand is read and then written.
    pub(super) fn tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.reg = self.operand(Operand::reg_reuse_def(to, which));
        self
    }

    /// The register or memory operand is a register that is read and then written.
    pub(super) fn rm_tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.rm = Rm::Reg(self.operand(Operand::reg_reuse_def(to, which)));
        self
    }

    /// The register or memory operand is a register that is written.
    pub(super) fn rm_def(mut self, to: VReg) -> Self {
        self.inst.rm = Rm::Reg(self.operand(Operand::reg_def(to)));
        self
    }

    /// The register of VEX is read.
    pub(super) fn vvvv(mut self, from: VReg) -> Self {
        self.inst.vvvv = self.operand(Operand::reg_use(from));
        self
    }

    /// The register of VEX is written.
    pub(super) fn vvvv_def(mut self, to: VReg) -> Self {
        self.inst.vvvv = self.operand(Operand::reg_def(to));
        self
    }

    /// The register of VEX is read and then written.
    pub(super) fn vvvv_tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.vvvv = self.operand(Operand::reg_reuse_def(to, which));
        self
    }

    /// The mask is read and then written.
    pub(super) fn mask_tied(mut self, from: VReg, to: VReg) -> Self {
        self.operand(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.inst.mask = self.operand(Operand::reg_reuse_def(to, which));
        self
    }

    /// The fourth register is read.
    pub(super) fn last(mut self, from: VReg) -> Self {
        self.inst.last = self.operand(Operand::reg_use(from));
        self
    }

    /// Only lanes of the mask; others keep what they were, or become 0.
    pub(super) fn mask(mut self, mask: VReg, zeroing: bool) -> Self {
        self.inst.mask = self.operand(Operand::reg_use(mask));
        self.inst.zeroing = zeroing;
        self
    }

    /// The register or memory operand, read; a register that was spilled is read where it was spilled to.
    pub(super) fn rm(self, from: impl Into<RegMem>) -> Self {
        self.rm_by(from.into(), Operand::any_use)
    }

    /// The same, but a register stays one.
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

    /// A vector of indices as memory operand; it is no register that the instruction may write.
    pub(super) fn vsib(mut self, base: Option<VReg>, index: VReg, scale: u8) -> Self {
        let base = base.map_or(Slot::None, |base| self.operand(Operand::reg_use(base)));
        let index = self.operand(Operand::new(index, OperandConstraint::Reg, OperandKind::Use, OperandPos::Late));
        self.inst.rm = Rm::Mem { base, index, scale, disp: 0 };
        self
    }

    /// Reads a value that must be in a certain register and is not part of the encoding.
    pub(super) fn fixed_use(mut self, from: VReg, place: PReg) -> Self {
        self.operand(Operand::reg_fixed_use(from, place));
        self
    }

    /// Writes a certain register that is not part of the encoding.
    pub(super) fn fixed_def(mut self, to: VReg, place: PReg) -> Self {
        self.operand(Operand::reg_fixed_def(to, place));
        self
    }
}
