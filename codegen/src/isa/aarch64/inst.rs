//! Machine instructions: their description, their operands, and builders.
//!
//! An instruction is a word with up to four register fields ([`Field`]) and immediate bits. The
//! [table](super::table) has the word and the assembly text of each [`Opcode`].

use regalloc2::{Operand, OperandConstraint, OperandKind, OperandPos, PRegSet, VReg};
use smallvec::SmallVec;

use super::regs::{GOVERNING_PREDICATES, MASK, call_clobbers};
use crate::mach::function::MachineInst;

/// The mnemonics of the instructions that encode any predicate register as the governing predicate. The others encode
/// only p0 to p7.
const ANY_PREDICATE: [&str; 10] = ["and", "ands", "bic", "bics", "eor", "eors", "nots", "orrs", "ptest", "sel"];

/// The properties of an instruction, except for its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    /// The mnemonic. `check` compares it with the decoder's.
    pub(super) name: &'static str,
    /// The operands in assembly, with the placeholders that [`table`](super::table) lists.
    pub(super) text: &'static str,
    /// The encoding with all operand fields 0.
    pub(super) word: u32,
    /// The bits that select 64-bit registers or lanes.
    pub(super) wide: u32,
}

/// The register fields of an instruction word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Rd or Rt, in bits 0 to 4.
    D = 0,
    /// Rn, in bits 5 to 9.
    N = 1,
    /// Rm or Rs, in bits 16 to 20.
    M = 2,
    /// Ra or Rt2, in bits 10 to 14.
    A = 3,
}

/// A register of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    None,
    /// The register of an operand, by its index.
    Op(u8),
    /// A physical register, by its number.
    Phys(u8),
}

/// An instruction with its operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct A64Inst {
    pub(super) opcode: Opcode,
    /// Whether the registers or lanes have 64 bits.
    pub(super) wide: bool,
    /// The registers, indexed by [`Field`].
    pub(super) regs: [Slot; 4],
    /// The bits of immediate operands.
    pub(super) bits: u32,
    /// The immediate operands as numbers, for [`check`](super::check).
    pub(super) imms: [i64; 2],
    /// The pool index of the constant that a literal load reads.
    pub(super) pool: Option<u32>,
}

/// Conditions on the flags, with their encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cc {
    Equal = 0,
    NotEqual = 1,
    /// Unsigned greater than or equal.
    AboveEqual = 2,
    Below = 3,
    /// Negative. After `fcmp`: less than.
    Minus = 4,
    Plus = 5,
    Above = 8,
    /// Unsigned less than or equal. After `fcmp`: less than or equal.
    BelowEqual = 9,
    GreaterEqual = 10,
    Less = 11,
    Greater = 12,
    LessEqual = 13,
}

impl Cc {
    pub(super) const fn inverted(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::AboveEqual => Self::Below,
            Self::Below => Self::AboveEqual,
            Self::Minus => Self::Plus,
            Self::Plus => Self::Minus,
            Self::Above => Self::BelowEqual,
            Self::BelowEqual => Self::Above,
            Self::GreaterEqual => Self::Less,
            Self::Less => Self::GreaterEqual,
            Self::Greater => Self::LessEqual,
            Self::LessEqual => Self::Greater,
        }
    }

    /// Returns the suffix of the mnemonic, such as the `eq` of `b.eq`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::AboveEqual => "hs",
            Self::Below => "lo",
            Self::Minus => "mi",
            Self::Plus => "pl",
            Self::Above => "hi",
            Self::BelowEqual => "ls",
            Self::GreaterEqual => "ge",
            Self::Less => "lt",
            Self::Greater => "gt",
            Self::LessEqual => "le",
        }
    }
}

/// The condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Flags(Cc),
    /// The first operand, a register of 32 bits or (`wide`) 64 bits, is 0. If `inverted`, it is not 0.
    Zero {
        wide: bool,
        inverted: bool,
    },
}

/// Atomic operations without LSE: loops of exclusive loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exclusive {
    /// Operands: old value, address, addend.
    Add,
    /// Operands: old value, address, new value.
    Exchange,
    /// Operands: old value, address, expected value, new value.
    CompareExchange,
}

/// The kinds of machine instructions.
#[derive(Clone, Copy, Debug)]
pub(super) enum MachInst {
    Op(A64Inst),
    /// Defines its operands without code: parameters, and undefined values.
    Defines,
    /// An atomic operation on this number of bytes. It is one instruction for the register allocator, which must not
    /// insert memory accesses into the loop.
    Exclusive(Exclusive, u8),
    /// Calls a function of the module.
    Call(u32),
    /// Calls the address in its first operand.
    CallAddress,
    /// Continues at the only successor.
    Jump,
    /// Continues at the first successor if the condition holds, otherwise at the second.
    Branch(Test),
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
            Self::Op(_) | Self::Defines | Self::Exclusive(..) | Self::Jump | Self::Branch(_) | Self::Return | Self::Trap => {
                PRegSet::empty()
            }
        }
    }
}

/// An instruction under construction, with its operands for the register allocator.
#[derive(Clone, Debug)]
pub(super) struct InstBuilder {
    pub(super) inst: A64Inst,
    pub(super) operands: SmallVec<[Operand; 6]>,
}

impl InstBuilder {
    pub(super) fn new(opcode: Opcode) -> Self {
        let inst = A64Inst { opcode, wide: false, regs: [Slot::None; 4], bits: 0, imms: [0; 2], pool: None };
        Self { inst, operands: SmallVec::new() }
    }

    fn operand(mut self, field: Field, operand: Operand) -> Self {
        self.operands.push(operand);
        self.inst.regs[field as usize] = Slot::Op(self.operands.len() as u8 - 1);
        self
    }

    /// Selects 64-bit registers or lanes.
    pub(super) fn wide(mut self, wide: bool) -> Self {
        self.inst.wide = wide;
        self
    }

    /// Writes a register.
    pub(super) fn def(self, to: VReg) -> Self {
        self.def_at(Field::D, to)
    }

    /// Writes the register at `field`.
    pub(super) fn def_at(self, field: Field, to: VReg) -> Self {
        self.operand(field, Operand::reg_def(to))
    }

    /// Reads and then writes the register at [`Field::D`]: an accumulator, or a vector of which one lane changes.
    pub(super) fn tied(self, from: VReg, to: VReg) -> Self {
        self.tied_at(Field::D, from, to)
    }

    /// Reads and then writes the register at `field`.
    pub(super) fn tied_at(mut self, field: Field, from: VReg, to: VReg) -> Self {
        self.operands.push(Operand::reg_use(from));
        let which = self.operands.len() - 1;
        self.operand(field, Operand::reg_reuse_def(to, which))
    }

    /// Reads the register at [`Field::D`], as stores do.
    pub(super) fn d(self, from: VReg) -> Self {
        self.operand(Field::D, Operand::reg_use(from))
    }

    /// Reads the register at [`Field::N`].
    pub(super) fn n(self, from: VReg) -> Self {
        self.operand(Field::N, Operand::reg_use(from))
    }

    /// Reads the register at [`Field::M`].
    pub(super) fn m(self, from: VReg) -> Self {
        self.operand(Field::M, Operand::reg_use(from))
    }

    /// Reads the register at [`Field::A`], which is the governing predicate in instructions of SVE.
    pub(super) fn a(self, from: VReg) -> Self {
        let limited = from.class() == MASK && !ANY_PREDICATE.contains(&self.inst.opcode.name);
        let constraint = if limited { OperandConstraint::Limit(GOVERNING_PREDICATES) } else { OperandConstraint::Reg };
        self.operand(Field::A, Operand::new(from, constraint, OperandKind::Use, OperandPos::Early))
    }

    /// Sets the register at `field` to a physical register.
    pub(super) fn phys(mut self, field: Field, number: u8) -> Self {
        self.inst.regs[field as usize] = Slot::Phys(number);
        self
    }

    /// Sets the encoded bits and the number of the first immediate.
    pub(super) fn imm(mut self, bits: u32, number: i64) -> Self {
        self.inst.bits |= bits;
        self.inst.imms[0] = number;
        self
    }

    /// Sets the encoded bits and the number of the second immediate.
    pub(super) fn imm2(mut self, bits: u32, number: i64) -> Self {
        self.inst.bits |= bits;
        self.inst.imms[1] = number;
        self
    }

    /// Sets the condition of `csel` or `fcsel`.
    pub(super) fn condition(self, cc: Cc) -> Self {
        self.imm((cc as u32) << 12, cc as i64)
    }

    /// Shifts lanes of `size` bits to the left by 0 to `size - 1`.
    pub(super) fn shift_left(self, size: u32, amount: u32) -> Self {
        self.imm((size + amount) << 16, i64::from(amount))
    }

    /// Shifts lanes of `size` bits to the right by 1 to `size`.
    pub(super) fn shift_right(self, size: u32, amount: u32) -> Self {
        self.imm((2 * size - amount) << 16, i64::from(amount))
    }

    /// Selects a lane of `1 << log2` bytes: the source lane of `dup`, `mov` and `umov`, or the destination lane of
    /// `ins`.
    pub(super) fn lane(self, log2: u32, lane: u8) -> Self {
        self.imm(((u32::from(lane) << 1 | 1) << log2) << 16, i64::from(lane))
    }

    /// Selects the source lane of `ins` from a vector. The lane has `1 << log2` bytes.
    pub(super) fn source_lane(self, log2: u32, lane: u8) -> Self {
        self.imm2((u32::from(lane) << log2) << 11, i64::from(lane))
    }

    /// Encodes the first immediate of SVE's `dup`, `cpy` and `fdup`, which has eight bits.
    pub(super) fn z_imm(self, bits: u32, number: i64) -> Self {
        self.imm((bits & 0xFF) << 5, number)
    }

    /// Shifts lanes of `size` bits of SVE to the left by 0 to `size - 1`.
    pub(super) fn z_shift_left(self, size: u32, amount: u32) -> Self {
        self.z_shift(size + amount, amount)
    }

    /// Shifts lanes of `size` bits of SVE to the right by 1 to `size`.
    pub(super) fn z_shift_right(self, size: u32, amount: u32) -> Self {
        self.z_shift(2 * size - amount, amount)
    }

    fn z_shift(self, encoded: u32, amount: u32) -> Self {
        self.imm((encoded >> 5) << 22 | (encoded & 0x1F) << 16, i64::from(amount))
    }

    /// Selects the source lane of SVE's `dup`. The lane has `1 << log2` bytes.
    pub(super) fn z_lane(self, log2: u32, lane: u8) -> Self {
        let encoded = (u32::from(lane) << 1 | 1) << log2;
        self.imm((encoded >> 5) << 22 | (encoded & 0x1F) << 16, i64::from(lane))
    }

    /// Sets the start of SVE's `ext` in bytes.
    pub(super) fn z_start(self, bytes: u32) -> Self {
        self.imm((bytes >> 3) << 16 | (bytes & 7) << 10, i64::from(bytes))
    }

    /// Sets the displacement of SVE's `ldr` and `str`, in registers.
    pub(super) fn z_registers(self, number: i32) -> Self {
        let encoded = number.cast_unsigned() & 0x1FF;
        self.imm((encoded >> 3) << 16 | (encoded & 7) << 10, i64::from(number))
    }

    /// Loads a constant of the pool.
    pub(super) fn pool(mut self, id: u32) -> Self {
        self.inst.pool = Some(id);
        self
    }
}

/// Returns the operands of [`MachInst::Exclusive`]. The result has another register than the other operands, because
/// the loop writes the result before it reads the other operands for the last time.
pub(super) fn exclusive_operands(to: VReg, from: &[VReg]) -> SmallVec<[Operand; 6]> {
    let late = |reg: &VReg| Operand::new(*reg, OperandConstraint::Reg, OperandKind::Use, OperandPos::Late);
    let def = Operand::new(to, OperandConstraint::Reg, OperandKind::Def, OperandPos::Early);
    std::iter::once(def).chain(from.iter().map(late)).collect()
}
