//! Constants in long vectors.

use regalloc2::VReg;

use super::super::super::inst::{InstBuilder, Opcode};
use super::super::super::table as t;
use super::super::context::{Lower, wide};
use super::super::immediates::{float_bits, logical_bits};
use crate::mach::pool::Bytes;
use crate::vir::{Addr, Elem, Op, Type, Value};

/// The range of the immediates of `index`.
const INDEX_RANGE: std::ops::RangeInclusive<i64> = -16..=15;

impl Lower<'_> {
    /// Loads a constant into all lanes.
    pub(in super::super) fn long_splat(&mut self, bits: u64, ty: Type) -> VReg {
        let double = wide(ty);
        if bits == 0 {
            return self.zero();
        }
        let number = signed(bits, double);
        if let Some((imm, shifted)) = dup_imm(number) {
            return self.result(InstBuilder::new(t::DUP_Z_IMM).wide(double).imm((imm & 0xFF) << 5 | shifted << 13, number));
        }
        if let Some((encoded, number)) = float_bits(bits, double) {
            return self.result(InstBuilder::new(t::FDUP_Z).wide(double).z_imm(encoded, number));
        }
        if let Some(encoded) = logical_bits(bits, double) {
            let (opcode, number) = bit_pattern(bits, double);
            // The fields N, immr and imms are in bits 5 to 17 instead of 10 to 22.
            return self.result(InstBuilder::new(opcode).wide(double).imm(encoded >> 5, number));
        }
        let elem = if double { Elem::F64 } else { Elem::F32 };
        let first = self.float_constant(bits, elem);
        self.splat_of_first(first, double)
    }

    /// Loads a constant with different lanes.
    pub(in super::super) fn long_lanes(&mut self, lanes: &[u64], ty: Type) -> VReg {
        let double = wide(ty);
        let numbers: Vec<i64> = lanes.iter().map(|bits| signed(*bits, double)).collect();
        if let [start, next, ..] = numbers[..] {
            let step = next.wrapping_sub(start);
            let regular = numbers.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
            if regular && INDEX_RANGE.contains(&start) && INDEX_RANGE.contains(&step) {
                let field = |number: i64| number.cast_unsigned() as u32 & 0x1F;
                let builder = InstBuilder::new(t::INDEX_Z).wide(double).imm(field(start) << 5, start);
                return self.result(builder.imm2(field(step) << 16, step));
            }
        }
        let bytes = if double { 8 } else { 4 };
        self.long_pooled(lanes.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(bytes)).collect())
    }

    /// Loads a constant from the pool.
    pub(in super::super) fn long_pooled(&mut self, mut bytes: Bytes) -> VReg {
        // The load reads a whole register.
        bytes.resize(self.register_bytes() as usize, 0);
        let id = self.pool.number(bytes);
        self.result(InstBuilder::new(t::LOAD_Z).pool(id))
    }

    /// Copies the first lane to all lanes.
    fn splat_of_first(&mut self, from: VReg, double: bool) -> VReg {
        let log2 = if double { 3 } else { 2 };
        self.result(InstBuilder::new(t::DUP_Z_FIRST).wide(double).n(from).z_lane(log2, 0))
    }

    /// Copies a scalar to all lanes.
    pub(in super::super) fn long_splat_of(&mut self, a: Value, ty: Type) -> VReg {
        let double = wide(ty);
        if self.plan.folded[a.index()]
            && self.regs[a.index()].is_none()
            && let Some(Op::Load(_, addr)) = self.plan.defs[a.index()].map(|inst| &inst.op)
        {
            return self.long_splat_load(addr, double);
        }
        let from = self.reg(a);
        if self.ty(a).is_general() {
            return self.result(InstBuilder::new(t::DUP_ZR).wide(double).n(from));
        }
        self.splat_of_first(from, double)
    }

    /// Loads an element into all lanes.
    fn long_splat_load(&mut self, addr: &Addr, double: bool) -> VReg {
        const MAX_NUMBER: i32 = 63;
        let size = if double { 8 } else { 4 };
        let place = self.base_disp(addr);
        let encoded = place.disp % size == 0 && (0..=MAX_NUMBER * size).contains(&place.disp);
        let (base, disp) = if encoded { (place.base, place.disp) } else { (self.address_of(place), 0) };
        let all = self.all_lanes();
        let builder = InstBuilder::new(if double { t::LOAD_SPLAT_D } else { t::LOAD_SPLAT_W }).n(base).a(all);
        self.result(builder.imm((disp / size).cast_unsigned() << 16, disp.into()))
    }
}

/// Sign-extends the bits of a lane.
fn signed(bits: u64, double: bool) -> i64 {
    if double { bits.cast_signed() } else { i64::from((bits as u32).cast_signed()) }
}

/// Returns the signed immediate of eight bits of `dup`, and 1 if it is shifted left by 8. `None` if the number does not
/// fit.
fn dup_imm(number: i64) -> Option<(u32, u32)> {
    let eight_bits = -128..=127;
    if eight_bits.contains(&number) {
        return Some((number as u32, 0));
    }
    (number % 256 == 0 && eight_bits.contains(&(number / 256))).then_some(((number / 256) as u32, 1))
}

/// Returns the opcode for a bitmask immediate, and the immediate in its lanes. The lanes of the text have the period of
/// the bits.
fn bit_pattern(bits: u64, double: bool) -> (Opcode, i64) {
    let all = if double { bits } else { bits << 32 | bits & 0xFFFF_FFFF };
    let repeats = |period: u32| all.rotate_right(period) == all;
    match () {
        () if repeats(8) => (t::DUPM_B, (all & 0xFF).cast_signed()),
        () if repeats(16) => (t::DUPM_H, (all & 0xFFFF).cast_signed()),
        () if repeats(32) => (t::DUPM_S, (all & 0xFFFF_FFFF).cast_signed()),
        () => (t::DUPM_D, all.cast_signed()),
    }
}
