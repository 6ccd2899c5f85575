//! Gathers and scatters.
//!
//! Elements of 32 bits with 32-bit indices are accessed in 32-bit lanes, if the instruction has the scale. All other
//! accesses use 64-bit lanes, for up to two parts of the vector. An instruction scales an index by 1 or by the element
//! size. For other scales, the indices are shifted before.

use regalloc2::VReg;

use super::super::super::inst::{InstBuilder, Opcode};
use super::super::super::table as t;
use super::super::context::{Lower, wide};
use crate::vir::{BinOp, Type, Value};

/// The opcodes of an access to elements of one size.
struct Opcodes {
    /// With 64-bit indices, unscaled and scaled by the element size.
    long: [Opcode; 2],
    /// With the sign-extended lower halves of 64-bit lanes as indices. `None` for elements of 32 bits.
    short: Option<[Opcode; 2]>,
    /// With 64-bit addresses.
    address: Opcode,
}

const GATHER_W: Opcodes = Opcodes { long: [t::GATHER_W_D, t::GATHER_W_D_SCALED], short: None, address: t::GATHER_W_ADDRESS };
const GATHER_D: Opcodes = Opcodes {
    long: [t::GATHER_D_D, t::GATHER_D_D_SCALED],
    short: Some([t::GATHER_D_S, t::GATHER_D_S_SCALED]),
    address: t::GATHER_D_ADDRESS,
};
const SCATTER_W: Opcodes = Opcodes { long: [t::SCATTER_W_D, t::SCATTER_W_D_SCALED], short: None, address: t::SCATTER_W_ADDRESS };
const SCATTER_D: Opcodes = Opcodes {
    long: [t::SCATTER_D_D, t::SCATTER_D_D_SCALED],
    short: Some([t::SCATTER_D_S, t::SCATTER_D_S_SCALED]),
    address: t::SCATTER_D_ADDRESS,
};

/// The operands of a gather or scatter.
struct Indexed {
    base: Option<VReg>,
    /// The indices, and their type.
    index: Vec<(VReg, Type)>,
    /// The binary logarithm of the scale.
    shift: u32,
    mask: Option<VReg>,
    /// The type of the accessed vector.
    ty: Type,
}

/// Up to one register of 64-bit lanes.
struct Part {
    /// The first lane of the accessed vector.
    first: u32,
    lanes: u32,
    /// The access without its data register.
    builder: InstBuilder,
}

impl Lower<'_> {
    fn indexed(&mut self, base: Option<Value>, index: &[Value], scale: u8, mask: Option<Value>, ty: Type) -> Indexed {
        let base = base.map(|base| self.reg(base));
        let index = index.iter().map(|value| (self.reg(*value), self.ty(*value))).collect();
        let mask = self.mask_reg(mask);
        Indexed { base, index, shift: u32::from(scale).trailing_zeros(), mask, ty }
    }

    /// Returns the access in 32-bit lanes, or `None` if no instruction has this access.
    fn access_in_words(&mut self, access: &Indexed, [plain, scaled]: [Opcode; 2]) -> Option<InstBuilder> {
        let [(index, index_ty)] = access.index[..] else { return None };
        if wide(access.ty) || wide(index_ty) || !matches!(access.shift, 0 | 2) {
            return None;
        }
        let base = match access.base {
            Some(base) => base,
            None => self.int_constant(0),
        };
        let active = self.active_lanes(access.mask, access.ty);
        Some(InstBuilder::new(if access.shift == 0 { plain } else { scaled }).n(base).m(index).a(active))
    }

    /// Returns the accesses in 64-bit lanes.
    fn access_in_double_words(&mut self, access: &Indexed, opcodes: &Opcodes) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut first = 0;
        for &(index, index_ty) in &access.index {
            let all = u32::from(index_ty.lanes());
            let lanes = if wide(index_ty) { all } else { all.min(self.register_bytes() / 8) };
            for start in (0..all).step_by(lanes as usize) {
                let builder = self.access_of_part(access, opcodes, (index, wide(index_ty)), start);
                let active = self.active_double_words(access, first + start, lanes);
                parts.push(Part { first: first + start, lanes, builder: builder.a(active) });
            }
            first += all;
        }
        parts
    }

    /// Returns the access with the indices from lane `start` on, without its predicate and data register.
    fn access_of_part(&mut self, access: &Indexed, opcodes: &Opcodes, (index, long): (VReg, bool), start: u32) -> InstBuilder {
        const WORD: u32 = 2;
        let size = if wide(access.ty) { 3 } else { WORD };
        let scaled = access.shift == size;
        if !long
            && let (Some(base), Some(short)) = (access.base, opcodes.short)
            && (scaled || access.shift == 0)
        {
            let index = self.unpack_words([t::UUNPKLO, t::UUNPKHI], index, start);
            return InstBuilder::new(short[usize::from(scaled)]).n(base).m(index);
        }
        let index = if long { index } else { self.unpack_words([t::SUNPKLO, t::SUNPKHI], index, start) };
        match access.base {
            Some(base) if scaled => InstBuilder::new(opcodes.long[1]).n(base).m(index),
            base => {
                let index = self.long_shift_by(BinOp::Shl, index, access.shift, 64);
                match base {
                    Some(base) => InstBuilder::new(opcodes.long[0]).n(base).m(index),
                    None => InstBuilder::new(opcodes.address).n(index),
                }
            }
        }
    }

    /// Returns a predicate for the active lanes from `first` on, as 64-bit lanes.
    fn active_double_words(&mut self, access: &Indexed, first: u32, lanes: u32) -> VReg {
        let all = u32::from(access.ty.lanes());
        match access.mask {
            None => self.governing_lanes(Type::Vector(crate::vir::Elem::I64, lanes as u8)),
            Some(mask) if !wide(access.ty) => self.wide_lanes_of(mask, first, lanes, all),
            Some(mask) if lanes == all => mask,
            Some(mask) => self.lanes_from(mask, first, lanes),
        }
    }

    pub(in super::super) fn sve_gather(&mut self, base: Option<Value>, index: &[Value], scale: u8, mask: Option<Value>, ty: Type) -> VReg {
        let access = self.indexed(base, index, scale, mask, ty);
        if let Some(builder) = self.access_in_words(&access, [t::GATHER_W_S, t::GATHER_W_S_SCALED]) {
            return self.result(builder);
        }
        let parts = self.access_in_double_words(&access, if wide(ty) { &GATHER_D } else { &GATHER_W });
        let lanes = parts.first().map_or(1, |part| part.lanes);
        let regs: Vec<VReg> = parts.into_iter().map(|part| self.result(part.builder)).collect();
        match regs[..] {
            [one] if wide(ty) => one,
            [low, high] if wide(ty) => self.concatenate(low, high, lanes, true),
            _ => self.pack_low_words(&regs, lanes),
        }
    }

    pub(in super::super) fn sve_scatter(&mut self, base: Option<Value>, index: &[Value], scale: u8, value: Value, mask: Option<Value>) {
        let ty = self.ty(value);
        let access = self.indexed(base, index, scale, mask, ty);
        let value = self.reg(value);
        if let Some(builder) = self.access_in_words(&access, [t::SCATTER_W_S, t::SCATTER_W_S_SCALED]) {
            return self.push(builder.d(value));
        }
        for Part { first, builder, .. } in self.access_in_double_words(&access, if wide(ty) { &SCATTER_D } else { &SCATTER_W }) {
            let from = match (wide(ty), first) {
                (false, first) => self.unpack_words([t::UUNPKLO, t::UUNPKHI], value, first),
                (true, 0) => value,
                (true, first) => self.starting_at_byte(value, first * 8),
            };
            self.push(builder.d(from));
        }
    }
}
