//! Splats, and single lanes.

use regalloc2::VReg;

use super::super::inst::InstBuilder;
use super::super::table as t;
use super::context::{Lower, wide};
use crate::vir::{Type, Value};

/// The size of lanes as a power of two.
pub(super) const fn log2(wide: bool) -> u32 {
    if wide { 3 } else { 2 }
}

impl Lower<'_> {
    pub(super) fn splat(&mut self, a: Value, ty: Type) -> VReg {
        let double = wide(ty);
        if let Some(bits) = self.splat_bits(a) {
            return self.splat_constant(bits, ty);
        }
        let from = self.reg(a);
        let opcode = if self.ty(a).is_general() { t::DUP_GPR } else { t::DUP_LANE };
        self.result(InstBuilder::new(opcode).wide(double).n(from).lane(log2(double), 0))
    }

    pub(super) fn extract(&mut self, a: Value, lane: u8, ty: Type) -> VReg {
        let (from, double) = (self.reg(a), wide(ty));
        match (ty.is_general(), lane) {
            (true, 0) => self.to_general(double, from),
            (true, lane) => self.result(InstBuilder::new(t::UMOV).wide(double).n(from).lane(log2(double), lane)),
            // Scalars are in the lowest lane.
            (false, 0) => from,
            (false, lane) => self.result(InstBuilder::new(t::MOV_LANE).wide(double).n(from).lane(log2(double), lane)),
        }
    }
}
