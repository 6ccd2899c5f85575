//! Masks without SVE: vectors in which each lane has all bits set or all bits clear.

use regalloc2::VReg;

use super::super::inst::InstBuilder;
use super::super::regs::VEC;
use super::super::table as t;
use super::context::{Lower, wide};
use super::shape::log2;
use crate::mach::pool::Bytes;
use crate::vir::{Type, Value};

impl Lower<'_> {
    /// Repeats each 32-bit lane of one half of the mask, which gives 64-bit lanes.
    pub(super) fn mask_part(&mut self, a: Value, part: u8, ty: Type) -> VReg {
        if self.sve() {
            return self.predicate_part(a, part, ty);
        }
        let mask = self.reg(a);
        self.binary(if part == 0 { t::ZIP1 } else { t::ZIP2 }, false, mask, mask)
    }

    /// Concatenates the lower halves of the 64-bit lanes, which gives 32-bit lanes.
    pub(super) fn mask_join(&mut self, list: &[Value], ty: Type) -> VReg {
        if self.sve() {
            return self.predicate_join(list, ty);
        }
        let &[low, high] = list else { return self.unsupported(format!("join of {} masks", list.len()), VEC) };
        let (low, high) = (self.reg(low), self.reg(high));
        self.binary(t::UZP1, false, low, high)
    }

    /// Loads a constant with the value `1 << lane` in each lane.
    pub(super) fn lane_bits(&mut self, ty: Type) -> VReg {
        let bytes = if wide(ty) { 8 } else { 4 };
        let all: Bytes = (0..ty.lanes()).flat_map(|lane| (1_u64 << lane).to_le_bytes().into_iter().take(bytes)).collect();
        if self.is_long(ty) { self.long_pooled(all) } else { self.pooled(all) }
    }

    pub(super) fn mask_bits(&mut self, a: Value) -> VReg {
        let ty = self.ty(a);
        if self.sve() {
            return self.predicate_bits(a, ty);
        }
        let (mask, bits) = (self.reg(a), self.lane_bits(ty));
        let set = self.binary(t::AND_V, false, mask, bits);
        let sum = self.unary(t::ADDV_S, false, set);
        self.move_to_general(false, sum)
    }

    pub(super) fn mask_of(&mut self, a: Value, ty: Type) -> VReg {
        if self.sve() {
            return self.predicate_of(a, ty);
        }
        let double = wide(ty);
        let (from, bits) = (self.reg(a), self.lane_bits(ty));
        let all = self.result(InstBuilder::new(t::DUP_GPR).wide(double).n(from).lane(log2(double), 0));
        self.binary(t::CMTST, double, all, bits)
    }

    /// Returns a general register that is nonzero if and only if any lane of a mask is set.
    pub(super) fn any(&mut self, mask: VReg) -> VReg {
        let most = self.unary(t::UMAXV, false, mask);
        self.move_to_general(false, most)
    }

    /// Returns a general register that is nonzero if and only if all lanes of a mask are set.
    pub(super) fn all(&mut self, mask: VReg) -> VReg {
        let least = self.unary(t::UMINV, false, mask);
        self.move_to_general(false, least)
    }
}
