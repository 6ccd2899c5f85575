//! Loads and stores of contiguous lanes, with a predicate for the active lanes.

use regalloc2::VReg;

use super::super::super::inst::{InstBuilder, Opcode};
use super::super::super::table as t;
use super::super::address::BaseDisp;
use super::super::context::{Lower, Terms, bytes};
use crate::vir::{Addr, Mem, Type, Value};

/// A load or store under a predicate, with an opcode for each addressing mode.
#[derive(Clone, Copy)]
struct Contiguous {
    /// With a signed displacement of four bits. Its unit is the number of bytes in memory of a whole register.
    displaced: Opcode,
    /// With an index register, which is shifted left by `log2`.
    indexed: Opcode,
    /// The binary logarithm of the element size in memory.
    log2: u32,
    /// Bytes of a lane in a register.
    lane_bytes: u32,
}

const LOADS: [Contiguous; 4] = [
    Contiguous { displaced: t::LOAD_ZB_IMM, indexed: t::LOAD_ZB_IDX, log2: 0, lane_bytes: 4 },
    Contiguous { displaced: t::LOAD_ZH_IMM, indexed: t::LOAD_ZH_IDX, log2: 1, lane_bytes: 4 },
    Contiguous { displaced: t::LOAD_ZW_IMM, indexed: t::LOAD_ZW_IDX, log2: 2, lane_bytes: 4 },
    Contiguous { displaced: t::LOAD_ZD_IMM, indexed: t::LOAD_ZD_IDX, log2: 3, lane_bytes: 8 },
];

const STORES: [Contiguous; 4] = [
    Contiguous { displaced: t::STORE_ZB_IMM, indexed: t::STORE_ZB_IDX, log2: 0, lane_bytes: 4 },
    Contiguous { displaced: t::STORE_ZH_IMM, indexed: t::STORE_ZH_IDX, log2: 1, lane_bytes: 4 },
    Contiguous { displaced: t::STORE_ZW_IMM, indexed: t::STORE_ZW_IDX, log2: 2, lane_bytes: 4 },
    Contiguous { displaced: t::STORE_ZD_IMM, indexed: t::STORE_ZD_IDX, log2: 3, lane_bytes: 8 },
];

impl Lower<'_> {
    /// Loads the vector `result`.
    pub(in super::super) fn sve_load(&mut self, mem: Mem, addr: &Addr, mask: Option<Value>, result: Value) -> VReg {
        let (ty, mask) = (self.ty(result), self.mask_reg(mask));
        let simd = matches!(mem, Mem::Elem(_)) || mem == Mem::I16 && self.halves.contains(&result);
        if mask.is_none() && simd && bytes(ty) == 16 {
            return self.load_vector(mem, addr, None, ty);
        }
        let builder = self.contiguous(LOADS[mem.bytes().ilog2() as usize], t::LOAD_Z, addr, mask, ty);
        self.result(builder)
    }

    pub(in super::super) fn sve_store(&mut self, mem: Mem, addr: &Addr, value: Value, mask: Option<Value>) {
        let ty = self.ty(value);
        let active = self.mask_reg(mask);
        let from = self.reg(value);
        let simd = matches!(mem, Mem::Elem(_)) || mem == Mem::I16 && self.packed.contains_key(&from);
        if active.is_none() && simd && bytes(ty) == 16 {
            return self.store_vector(mem, addr, value, None);
        }
        let builder = self.contiguous(STORES[mem.bytes().ilog2() as usize], t::STORE_Z, addr, active, ty);
        self.push(builder.d(from));
    }

    /// Returns an access without its data register. `whole` accesses a whole register without a predicate.
    fn contiguous(&mut self, access: Contiguous, whole: Opcode, addr: &Addr, mask: Option<VReg>, ty: Type) -> InstBuilder {
        let unpredicated = mask.is_none() && self.fills_register(ty) && 1 << access.log2 == access.lane_bytes;
        match self.terms(addr) {
            Terms { base, index: Some((index, shift)), disp: 0 } if shift == access.log2 => {
                let active = self.active_lanes(mask, ty);
                InstBuilder::new(access.indexed).n(base).m(index).a(active)
            }
            terms => {
                let BaseDisp { base, disp } = self.base_disp_of(terms);
                let unit = ((self.register_bytes() / access.lane_bytes) << access.log2).cast_signed();
                let limit = if unpredicated { 256 } else { 8 };
                // The rest of a displacement is added to the base. Neighbouring accesses share this sum.
                let (number, rest) = match disp.div_euclid(unit) {
                    number if (-limit..limit).contains(&number) => (number, disp.rem_euclid(unit)),
                    _ => (0, disp),
                };
                let base = self.add_constant(base, rest);
                if unpredicated {
                    return InstBuilder::new(whole).n(base).z_registers(number);
                }
                let active = self.active_lanes(mask, ty);
                let builder = InstBuilder::new(access.displaced).n(base).a(active);
                builder.imm((number.cast_unsigned() & 0xF) << 16, number.into())
            }
        }
    }

    /// Returns the governing predicate of an access: the mask, or all lanes of the vector.
    pub(super) fn active_lanes(&mut self, mask: Option<VReg>, ty: Type) -> VReg {
        match mask {
            Some(mask) => mask,
            None => self.governing_lanes(ty),
        }
    }
}
