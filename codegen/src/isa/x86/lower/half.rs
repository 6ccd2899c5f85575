//! Conversions from and to `half`.

use regalloc2::VReg;

use super::super::inst::{Cc, InstBuilder};
use super::super::table::{self as t, alu, shift};
use super::context::{Lower, length};
use crate::vir::{Elem, Type, Value};

/// The bits of a `half` except for the sign, and its exponent bits.
const MAGNITUDE: i32 = 0x7FFF;
const EXPONENT: i32 = 0x7C00;
/// The difference of the exponent biases of `float` and `half`, in the exponent field of a `float`.
const REBIAS: i32 = 112 << 23;

impl Lower<'_> {
    pub(super) fn half_to_float(&mut self, a: Value, ty: Type) -> VReg {
        let from = self.reg(a);
        if !self.vex() {
            return self.half_to_float_bits(from);
        }
        let len = length(ty);
        let halves = if let Type::Scalar(_) = ty {
            let to = self.vec();
            self.push(InstBuilder::new(t::MOVD_TO).def(to).rm(from));
            to
        } else {
            self.pack_words(from, Type::Vector(Elem::I32, ty.lanes()))
        };
        self.v2(t::CVTPH2PS, len, false, halves)
    }

    /// Packs the low 16 bits of each lane.
    pub(super) fn pack_words(&mut self, from: VReg, ty: Type) -> VReg {
        const EVEN: u8 = 0x08;
        let len = length(ty);
        if self.avx512() {
            let to = self.vec();
            self.push(InstBuilder::new(t::PMOVDW).len(len).reg(from).rm_def(to));
            return to;
        }
        let low = self.splat_source(0xFFFF, ty);
        let low = self.v3(t::PAND, len, false, from, low);
        let packed = self.v3(t::PACKUSDW, len, false, low, low);
        if len == 0 { packed } else { self.v2_imm(t::PERMQ, len, true, packed, EVEN) }
    }

    pub(super) fn float_to_half(&mut self, a: Value, ty: Type) -> VReg {
        let from = self.reg(a);
        if !self.vex() {
            return self.float_to_half_bits(from);
        }
        let (len, to) = (length(ty), self.vec());
        self.push(InstBuilder::new(t::CVTPS2PH).len(len).reg(from).rm_def(to).imm(0));
        if let Type::Vector(..) = ty {
            return self.v2(t::PMOVZXWD, len, false, to);
        }
        let (pair, bits) = (self.int(), self.int());
        self.push(InstBuilder::new(t::MOVD_FROM).reg(to).rm_def(pair));
        self.push(InstBuilder::new(t::MOVZX16).def(bits).rm(pair));
        bits
    }

    fn choose(&mut self, cc: Cc, compared: VReg, with: i32, yes: VReg, no: VReg) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(t::ALU_I32.digit(alu::CMP)).rm(compared).imm32(with));
        self.push(InstBuilder::new(t::CMOVCC.plus(cc as u8)).tied(no, to).rm(yes));
        to
    }

    fn single_of_bits(&mut self, from: VReg) -> VReg {
        let to = self.vec();
        self.push(InstBuilder::new(t::MOVD_TO).def(to).rm(from));
        to
    }

    fn bits_of_single(&mut self, from: VReg) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(t::MOVD_FROM).reg(from).rm_def(to));
        to
    }

    /// Converts without F16C: rebiases the exponent. A denormal is converted as an integer and multiplied by 2^-24.
    fn half_to_float_bits(&mut self, from: VReg) -> VReg {
        const LEAST: u64 = 0x3380_0000;
        let magnitude = self.alu_imm(alu::AND, false, from, MAGNITUDE);
        let shifted = self.shift(shift::SHL, false, magnitude, 13);
        let normal = self.alu_imm(alu::ADD, false, shifted, REBIAS);
        let special = self.alu_imm(alu::ADD, false, normal, REBIAS);
        let zero = self.zero();
        let whole = self.v3(t::CVTSI2S.of(Elem::F32, true), 0, false, zero, magnitude);
        let least = self.splat_source(LEAST, Type::F32);
        let small = self.v3(t::MUL.of(Elem::F32, true), 0, false, whole, least);
        let small = self.bits_of_single(small);
        let bits = self.choose(Cc::Below, magnitude, 0x400, small, normal);
        let bits = self.choose(Cc::AboveEqual, magnitude, EXPONENT, special, bits);
        let sign = self.alu_imm(alu::AND, false, from, 0x8000);
        let sign = self.shift(shift::SHL, false, sign, 16);
        let bits = self.alu(t::OR_R, false, bits, sign);
        self.single_of_bits(bits)
    }

    /// Converts without F16C. The addition of 0.5 rounds denormals. Other numbers are rounded to nearest even. For
    /// this, the code adds one less than half a unit in the last place, and the lowest mantissa bit of the truncated
    /// result.
    fn float_to_half_bits(&mut self, from: VReg) -> VReg {
        const HALF: i32 = 0x3F00_0000;
        let bits = self.bits_of_single(from);
        let magnitude = self.alu_imm(alu::AND, false, bits, i32::MAX);
        let float = self.single_of_bits(magnitude);
        let half = self.splat_source(u64::from(HALF.cast_unsigned()), Type::F32);
        let small = self.v3(t::ADD.of(Elem::F32, true), 0, false, float, half);
        let small = self.bits_of_single(small);
        let small = self.alu_imm(alu::SUB, false, small, HALF);
        let last = self.shift(shift::SHR, false, magnitude, 13);
        let last = self.alu_imm(alu::AND, false, last, 1);
        let normal = self.alu_imm(alu::ADD, false, magnitude, 0xFFF - REBIAS);
        let normal = self.alu(t::ADD_R, false, normal, last);
        let normal = self.shift(shift::SHR, false, normal, 13);
        let infinity = self.int_constant(0x7C00);
        let nan = self.int_constant(0x7E00);
        let special = self.choose(Cc::Above, magnitude, 0x7F80_0000, nan, infinity);
        let half = self.choose(Cc::Below, magnitude, 0x3880_0000, small, normal);
        let half = self.choose(Cc::AboveEqual, magnitude, 0x4780_0000, special, half);
        let sign = self.shift(shift::SHR, false, bits, 16);
        let sign = self.alu_imm(alu::AND, false, sign, 0x8000);
        self.alu(t::OR_R, false, half, sign)
    }
}
