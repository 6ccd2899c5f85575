//! Splats and extractions of lanes.

use regalloc2::VReg;

use super::super::inst::InstBuilder;
use super::super::table as t;
use super::context::{Lower, wide};
use crate::vir::{Addr, Op, Type, Value};

/// Returns the binary logarithm of the lane size in bytes.
pub(super) const fn log2(wide: bool) -> u32 {
    if wide { 3 } else { 2 }
}

impl Lower<'_> {
    pub(super) fn splat(&mut self, a: Value, ty: Type) -> VReg {
        let double = wide(ty);
        if let Some(bits) = self.splat_bits(a) {
            return self.splat_constant(bits, ty);
        }
        if self.is_long(ty) {
            return self.long_splat_of(a, ty);
        }
        if self.plan.folded[a.index()]
            && self.regs[a.index()].is_none()
            && let Some(Op::Load(_, addr)) = self.plan.defs[a.index()].map(|inst| &inst.op)
        {
            return self.splat_load(addr, double);
        }
        let from = self.reg(a);
        let opcode = if self.ty(a).is_general() { t::DUP_GPR } else { t::DUP_LANE };
        let to = self.result(InstBuilder::new(opcode).wide(double).n(from).lane(log2(double), 0));
        if opcode == t::DUP_LANE {
            self.elements.insert(to, (from, self.out.current_block()));
        }
        to
    }

    /// Returns the scalar that a splat of the current block repeats. Multiplications can use this scalar instead of the
    /// splat.
    pub(super) fn element(&self, splat: VReg) -> Option<VReg> {
        self.elements.get(&splat).filter(|(_, block)| *block == self.out.current_block()).map(|(element, _)| *element)
    }

    /// Loads an element into all lanes. `ld1r` has no displacement, so other addresses take a load and a `dup`.
    fn splat_load(&mut self, addr: &Addr, double: bool) -> VReg {
        if let Some(base) = self.bare_base(addr) {
            return self.result(InstBuilder::new(t::LOAD_SPLAT).wide(double).n(base));
        }
        let load = self.access(if double { t::LOAD_D } else { t::LOAD_S }, addr);
        let element = self.result(load);
        let to = self.result(InstBuilder::new(t::DUP_LANE).wide(double).n(element).lane(log2(double), 0));
        self.elements.insert(to, (element, self.out.current_block()));
        to
    }

    pub(super) fn extract(&mut self, a: Value, lane: u8, ty: Type) -> VReg {
        let (mut from, double) = (self.reg(a), wide(ty));
        let (each, mut lane) = (16 >> log2(double), lane);
        if lane >= each {
            // The instructions below select a lane of the first 16 bytes.
            from = self.result(InstBuilder::new(t::DUP_Z_LANE).wide(double).n(from).z_lane(log2(double), lane));
            lane = 0;
        }
        match (ty.is_general(), lane) {
            (true, 0) => self.move_to_general(double, from),
            (true, lane) => self.result(InstBuilder::new(t::UMOV).wide(double).n(from).lane(log2(double), lane)),
            // Scalars are in the lowest lane.
            (false, 0) => from,
            (false, lane) => self.result(InstBuilder::new(t::MOV_LANE).wide(double).n(from).lane(log2(double), lane)),
        }
    }
}
