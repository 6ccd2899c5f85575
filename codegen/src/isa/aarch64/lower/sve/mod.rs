//! Instruction selection for SVE with a fixed vector length.
//!
//! - A mask is in a predicate register, for vectors of all sizes. A predicate has one bit for each byte of a vector
//!   register. Only the lowest bit of each lane can be set, and only for the lanes of the mask. Therefore, a test of a
//!   predicate need not know its number of lanes.
//! - A vector of 16 bytes is in the low part of a vector register. Its arithmetic uses the instructions of Advanced
//!   SIMD, which need no predicate.
//! - A longer vector is *long*. If it is smaller than a register, the upper lanes have unspecified contents. Its
//!   arithmetic uses the instructions of SVE on the whole register.

mod arithmetic;
mod compare;
mod constants;
mod convert;
mod indexed;
mod memory;
mod predicates;
mod shuffle;

use regalloc2::VReg;

use super::super::inst::{InstBuilder, Opcode};
use super::super::table as t;
use super::context::{Lower, bytes};
use crate::vir::Type;

impl Lower<'_> {
    /// Whether the type is a vector of more than 16 bytes.
    pub(super) fn is_long(&self, ty: Type) -> bool {
        matches!(ty, Type::Vector(..)) && bytes(ty) > 16
    }

    /// Whether a vector fills a vector register.
    fn fills_register(&self, ty: Type) -> bool {
        bytes(ty) == self.register_bytes()
    }

    /// Returns a predicate that governs instructions on whole registers, with lanes of 32 or 64 bits. It is also the
    /// mask with all lanes of 32 bits set, so that one register has both uses.
    fn all_lanes(&mut self) -> VReg {
        self.first_lanes(self.register_bytes() / 4, false)
    }

    /// Returns a predicate that governs an instruction on a whole register.
    fn all_lanes_for(&mut self, opcode: Opcode) -> VReg {
        match opcode {
            // Instructions on lanes of 8 or 16 bits.
            t::MUL_ZB | t::MUL_ZH | t::MLA_ZB | t::MLA_ZH => self.result(InstBuilder::new(t::PTRUE_B)),
            _ => self.all_lanes(),
        }
    }

    /// Returns a predicate with the first lanes set.
    fn first_lanes(&mut self, lanes: u32, wide: bool) -> VReg {
        let pattern = match lanes {
            ..=8 => lanes,
            more => more.ilog2() + 5,
        };
        self.result(InstBuilder::new(t::PTRUE_E).wide(wide).imm(pattern << 5, lanes.into()))
    }

    /// Returns a predicate with the lanes of a vector or mask.
    fn lanes_of(&mut self, ty: Type) -> VReg {
        self.first_lanes(ty.lanes().into(), super::context::wide(ty))
    }

    /// Returns a predicate that governs a memory access or comparison of all lanes of a vector.
    fn governing_lanes(&mut self, ty: Type) -> VReg {
        if self.fills_register(ty) { self.all_lanes() } else { self.lanes_of(ty) }
    }

    /// Adds an instruction with merging predication and one operand, for all lanes.
    pub(super) fn z_unary(&mut self, opcode: Opcode, wide: bool, n: VReg) -> VReg {
        let all = self.all_lanes();
        self.result(InstBuilder::new(opcode).wide(wide).a(all).n(n))
    }

    /// Adds an instruction with merging predication that overwrites its first operand, for all lanes.
    fn z_binary(&mut self, opcode: Opcode, wide: bool, d: VReg, n: VReg) -> VReg {
        let (all, to) = (self.all_lanes_for(opcode), self.vec());
        self.push(InstBuilder::new(opcode).wide(wide).tied(d, to).a(all).n(n));
        to
    }

    /// Adds an instruction with merging predication that overwrites its summand `d`, for all lanes.
    fn z_accumulate(&mut self, opcode: Opcode, wide: bool, d: VReg, [n, m]: [VReg; 2]) -> VReg {
        let (all, to) = (self.all_lanes_for(opcode), self.vec());
        self.push(InstBuilder::new(opcode).wide(wide).tied(d, to).a(all).n(n).m(m));
        to
    }

    /// Returns the bytes of a register from byte `start` on. The bytes after the end are unspecified.
    fn starting_at_byte(&mut self, of: VReg, start: u32) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(t::EXT_Z).tied(of, to).n(of).z_start(start));
        to
    }

    /// Returns the first `lanes` lanes of `low`, followed by the lanes of `high`.
    fn concatenate(&mut self, low: VReg, high: VReg, lanes: u32, wide: bool) -> VReg {
        let (first, to) = (self.first_lanes(lanes, wide), self.vec());
        self.push(InstBuilder::new(t::SPLICE).wide(wide).tied(low, to).a(first).n(high));
        to
    }

    /// Packs the lower halves of the 64-bit lanes of one or two vectors, with `lanes` lanes each.
    fn pack_low_words(&mut self, parts: &[VReg], lanes: u32) -> VReg {
        match *parts {
            [low, high] if lanes * 8 == self.register_bytes() => self.binary(t::UZP1_Z, false, low, high),
            [low, high] => {
                let both = self.concatenate(low, high, lanes, true);
                self.binary(t::UZP1_Z, false, both, both)
            }
            [one] => self.binary(t::UZP1_Z, false, one, one),
            _ => self.unsupported(format!("packing of {} vectors", parts.len()), super::super::regs::VEC),
        }
    }

    /// Converts the 32-bit lanes from `first` on to 64-bit lanes, with `unpack`: the instructions for the lower and the
    /// upper half of a register.
    fn unpack_words(&mut self, [low, high]: [Opcode; 2], of: VReg, first: u32) -> VReg {
        if first * 8 == self.register_bytes() {
            return self.unary(high, false, of);
        }
        let from = if first == 0 { of } else { self.starting_at_byte(of, first * 4) };
        self.unary(low, false, from)
    }
}
