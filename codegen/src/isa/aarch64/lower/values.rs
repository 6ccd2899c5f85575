//! Operands: registers and constants.

use regalloc2::{Operand, VReg};

use super::super::inst::{InstBuilder, MachInst};
use super::super::table as t;
use super::context::{Lower, wide};
use super::immediates::{byte_mask, float_bits, logical_bits};
use crate::mach::constants::Constant;
use crate::mach::pool::Bytes;
use crate::vir::{Elem, Op, Type, Value};

impl<'a> Lower<'a> {
    /// Returns the constant that defines a value, or `None` if the value is not constant.
    pub(super) fn constant(&self, value: Value) -> Option<Constant<'a>> {
        self.plan.constant(self.function, value)
    }

    /// Returns the bits of every lane of a constant. Returns `None` if the value is not constant, or if its lanes are
    /// not known to be equal.
    pub(super) fn splat_bits(&self, value: Value) -> Option<u64> {
        self.constant(value)?.splat_bits()
    }

    /// Returns an integer constant as a signed number, or `None` if the value is not constant.
    pub(super) fn signed(&self, value: Value) -> Option<i64> {
        let bits = self.splat_bits(value)?;
        Some(if wide(self.ty(value)) { bits.cast_signed() } else { i64::from((bits as u32).cast_signed()) })
    }

    /// Returns the register of a value. Each use of a constant gets a new register. If the value is folded, selects its
    /// operation.
    pub(super) fn reg(&mut self, value: Value) -> VReg {
        if let Some(reg) = self.regs[value.index()] {
            return reg;
        }
        if let Some(constant) = self.constant(value) {
            return self.materialise(constant, self.ty(value));
        }
        match self.plan.defs[value.index()] {
            Some(inst) if inst.op != Op::Undef => {
                self.inst(inst);
                match self.regs[value.index()] {
                    Some(reg) => reg,
                    None => self.undefined(self.ty(value)),
                }
            }
            _ => self.undefined(self.ty(value)),
        }
    }

    /// Returns a register with unspecified contents.
    pub(super) fn undefined(&mut self, ty: Type) -> VReg {
        if matches!(ty, Type::Mask(_)) && self.sve() {
            // No lane outside of the mask may be set.
            return self.predicate_constant(false, ty);
        }
        let reg = self.out.new_reg(self.class(ty));
        self.add(MachInst::Defines, &[Operand::reg_def(reg)]);
        reg
    }

    fn materialise(&mut self, constant: Constant<'_>, ty: Type) -> VReg {
        match (constant, ty) {
            (Constant::Splat(bits), ty) if ty.is_general() => self.int_constant(bits),
            (Constant::Splat(bits), Type::Mask(_)) if self.sve() => self.predicate_constant(bits != 0, ty),
            (Constant::Lanes(lanes), ty) if self.is_long(ty) => self.long_lanes(lanes, ty),
            (Constant::Splat(bits), Type::Mask(_)) => self.bytes_constant(if bits == 0 { 0 } else { u64::MAX }),
            (Constant::Splat(bits), Type::Scalar(elem)) => self.float_constant(bits, elem),
            (Constant::Splat(bits), ty) => self.splat_constant(bits, ty),
            (Constant::Lanes(lanes), ty) => {
                let bytes = if wide(ty) { 8 } else { 4 };
                let all: Bytes = lanes.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(bytes)).collect();
                self.pooled(all)
            }
        }
    }

    /// Loads a constant into a general register. For a constant below 2^32, bits 32 to 63 of the register are 0.
    pub(super) fn int_constant(&mut self, bits: u64) -> VReg {
        let long = bits > u32::MAX.into();
        let parts = if long { 4 } else { 2 };
        let part = |bits: u64, index: u32| (bits >> (16 * index) & 0xFFFF) as u32;
        // `movz` clears the other 16-bit parts and `movn` sets them. Choose the instruction that needs fewer `movk`
        // after it.
        let counts = [0, 0xFFFF].map(|rest| (0..parts).filter(|index| part(bits, *index) != rest).count());
        let inverted = counts[1] < counts[0];
        let to_set = counts[usize::from(inverted)];
        let start = |index: u32| (if inverted { !bits } else { bits }) & 0xFFFF << (16 * index);
        let rest = if inverted { 0xFFFF } else { 0 };
        if to_set > 1
            && let Some(encoded) = logical_bits(bits, long)
        {
            return self.result(InstBuilder::new(t::MOV_LOGICAL).wide(long).imm(encoded, bits.cast_signed()));
        }
        let mut set: Vec<u32> = (0..parts).filter(|index| part(bits, *index) != rest).collect();
        if set.is_empty() {
            set.push(0);
        }
        let first = set[0];
        let imm = (start(first) >> (16 * first)) as u32;
        let (opcode, value) = if inverted { (t::MOVN, !start(first)) } else { (t::MOVZ, start(first)) };
        let mut to = self.result(InstBuilder::new(opcode).wide(long).imm(first << 21 | imm << 5, value.cast_signed()));
        for &index in &set[1..] {
            let imm = part(bits, index);
            let next = self.int();
            let builder = InstBuilder::new(t::MOVK).wide(long).tied(to, next).imm(imm << 5, imm.into());
            self.push(builder.imm2(index << 21, i64::from(16 * index)));
            to = next;
        }
        to
    }

    /// Loads a constant into a scalar float.
    pub(super) fn float_constant(&mut self, bits: u64, elem: Elem) -> VReg {
        let double = elem == Elem::F64;
        if bits == 0 {
            return self.zero();
        }
        if let Some((encoded, number)) = float_bits(bits, double) {
            return self.result(InstBuilder::new(t::FMOV_IMM).wide(double).imm(encoded << 13, number));
        }
        let bytes = if double { 8 } else { 4 };
        let id = self.pool.number(Bytes::from_slice(&bits.to_le_bytes()[..bytes]));
        self.result(InstBuilder::new(if double { t::LITERAL_D } else { t::LITERAL_S }).pool(id))
    }

    /// Returns a vector register with all bits 0.
    pub(super) fn zero(&mut self) -> VReg {
        self.bytes_constant(0)
    }

    /// Loads a number whose bytes are 0 or 255 into both 64-bit lanes of a vector.
    fn bytes_constant(&mut self, bits: u64) -> VReg {
        let encoded = vector_imm(byte_mask(bits).unwrap_or(0));
        self.result(InstBuilder::new(t::MOVI_2D).imm(encoded, bits.cast_signed()))
    }

    /// Loads a constant into all lanes of a vector.
    pub(super) fn splat_constant(&mut self, bits: u64, ty: Type) -> VReg {
        if self.is_long(ty) {
            return self.long_splat(bits, ty);
        }
        let double = wide(ty);
        let all = if double { bits } else { bits << 32 | bits & 0xFFFF_FFFF };
        if byte_mask(all).is_some() {
            return self.bytes_constant(all);
        }
        if let Some(reg) = self.modified_immediate(all) {
            return reg;
        }
        if let Some((encoded, number)) = float_bits(bits, double) {
            return self.result(InstBuilder::new(t::FMOV_V).wide(double).imm(vector_imm(encoded), number));
        }
        self.pooled(all.to_le_bytes().into_iter().chain(all.to_le_bytes()).collect())
    }

    /// Loads a constant with one byte in each 8-bit or 32-bit lane. In 32-bit lanes, the byte can be shifted, followed
    /// by ones, or inverted. Returns `None` for other constants.
    fn modified_immediate(&mut self, all: u64) -> Option<VReg> {
        let byte = all & 0xFF;
        if all == byte * 0x0101_0101_0101_0101 {
            return Some(self.result(InstBuilder::new(t::MOVI_16B).imm(vector_imm(byte as u32), byte.cast_signed())));
        }
        if all >> 32 != all & 0xFFFF_FFFF {
            return None;
        }
        for (word, shifted, ones) in [(all as u32, t::MOVI_4S, t::MOVI_MSL), (!(all as u32), t::MVNI_4S, t::MVNI_MSL)] {
            for shift in [0, 8, 16, 24] {
                let byte = word >> shift;
                if byte <= 0xFF && byte << shift == word {
                    let builder = InstBuilder::new(shifted).imm(vector_imm(byte), byte.into());
                    return Some(self.result(builder.imm2((shift / 8) << 13, shift.into())));
                }
            }
            for shift in [8, 16] {
                let byte = word >> shift;
                if byte <= 0xFF && ((byte << shift) | ((1 << shift) - 1)) == word {
                    let builder = InstBuilder::new(ones).imm(vector_imm(byte), byte.into());
                    return Some(self.result(builder.imm2((shift / 8 - 1) << 12, shift.into())));
                }
            }
        }
        None
    }

    /// Loads sixteen bytes from the pool.
    pub(super) fn pooled(&mut self, bytes: Bytes) -> VReg {
        let id = self.pool.number(bytes);
        self.result(InstBuilder::new(t::LITERAL_Q).pool(id))
    }
}

/// Encodes the 8-bit immediate of `movi`, `mvni` and `fmov` for vectors.
fn vector_imm(imm: u32) -> u32 {
    ((imm >> 5) << 16) | ((imm & 0x1F) << 5)
}
