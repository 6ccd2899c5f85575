//! Addresses as operands of loads and stores.

use regalloc2::VReg;

use super::super::inst::InstBuilder;
use super::super::table::{self as t, Access};
use super::context::{Lower, Terms};
use super::immediates::arithmetic_imm;
use crate::mach::addresses::Sum;
use crate::vir::Addr;

/// The address `base + disp`, with a displacement in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaseDisp {
    pub(super) base: VReg,
    pub(super) disp: i32,
}

impl BaseDisp {
    /// Returns the address plus `by` bytes.
    pub(super) const fn offset_by(self, by: i32) -> Self {
        Self { base: self.base, disp: self.disp + by }
    }
}

impl Lower<'_> {
    pub(super) fn terms(&mut self, addr: &Addr) -> Terms {
        let (mut base, mut index, mut disp) = (addr.base, addr.index, addr.disp);
        while let Some(sum) = self.plan.sums[base.index()] {
            match sum {
                Sum::Offset(of, by) => (base, disp) = (of, disp + by),
                Sum::Terms(of, other, scale) if index.is_none() => (base, index) = (of, Some((other, scale))),
                Sum::Terms(..) => break,
            }
        }
        let base = self.reg(base);
        let index = index.map(|(index, scale)| (self.reg(index), u32::from(scale).trailing_zeros()));
        Terms { base, index, disp }
    }

    /// Returns the register that contains an address. Calls `compute` if the current machine block has not computed the
    /// address yet.
    fn computed(&mut self, terms: Terms, compute: impl FnOnce(&mut Self) -> VReg) -> VReg {
        if self.address_block != self.out.current_block() {
            self.address_block = self.out.current_block();
            self.addresses.clear();
        }
        if let Some(&known) = self.addresses.get(&terms) {
            return known;
        }
        let reg = compute(self);
        self.addresses.insert(terms, reg);
        reg
    }

    /// Adds a constant to an address.
    pub(super) fn add_constant(&mut self, base: VReg, disp: i32) -> VReg {
        if disp == 0 {
            return base;
        }
        self.computed(Terms { base, index: None, disp }, |this| {
            if let Some((imm, shifted)) = arithmetic_imm(disp.unsigned_abs().into()) {
                let builder = InstBuilder::new(if disp < 0 { t::SUB_IMM } else { t::ADD_IMM }).wide(true).n(base);
                let builder = builder.imm(imm << 10, imm.into());
                return this.result(if shifted { builder.imm2(1 << 22, 12) } else { builder });
            }
            let by = this.int_constant(i64::from(disp).cast_unsigned());
            this.binary(t::ADD, true, base, by)
        })
    }

    /// Computes an address as a base register and a displacement.
    pub(super) fn base_disp(&mut self, addr: &Addr) -> BaseDisp {
        let terms = self.terms(addr);
        self.base_disp_of(terms)
    }

    pub(super) fn base_disp_of(&mut self, terms: Terms) -> BaseDisp {
        let Terms { base, index, disp } = terms;
        let Some((index, shift)) = index else { return BaseDisp { base, disp } };
        let sum = Terms { disp: 0, ..terms };
        let base = self.computed(sum, |this| this.shifted_sum(base, index, shift));
        BaseDisp { base, disp }
    }

    /// Computes `base + (index << shift)`.
    pub(super) fn shifted_sum(&mut self, base: VReg, index: VReg, shift: u32) -> VReg {
        self.result(InstBuilder::new(t::ADD).wide(true).n(base).m(index).imm(shift << 10, shift.into()))
    }

    /// Computes an address in one register.
    pub(super) fn address(&mut self, addr: &Addr) -> VReg {
        let place = self.base_disp(addr);
        self.address_of(place)
    }

    /// Computes an address in one register.
    pub(super) fn address_of(&mut self, place: BaseDisp) -> VReg {
        self.add_constant(place.base, place.disp)
    }

    /// Returns the base register of an address, or `None` if the address has an index or a displacement.
    pub(super) fn bare_base(&mut self, addr: &Addr) -> Option<VReg> {
        match self.terms(addr) {
            Terms { base, index: None, disp: 0 } => Some(base),
            _ => None,
        }
    }

    /// Returns a load or store without its data register.
    pub(super) fn access(&mut self, access: Access, addr: &Addr) -> InstBuilder {
        let terms = self.terms(addr);
        match terms {
            Terms { base, index: Some((index, shift)), disp: 0 } if shift == 0 || shift == access.log2 => {
                let shifted = u32::from(shift > 0) << 12;
                if let Some(&(word, sign, block)) = self.extensions.get(&index)
                    && block == self.out.current_block()
                {
                    let opcode = access.extended[usize::from(sign)];
                    return InstBuilder::new(opcode).n(base).m(word).imm(shifted, shift.into());
                }
                InstBuilder::new(access.indexed).n(base).m(index).imm(shifted, shift.into())
            }
            terms => {
                let place = self.base_disp_of(terms);
                self.access_at(access, place)
            }
        }
    }

    /// Returns a load or store without its data register.
    pub(super) fn access_at(&mut self, access: Access, place: BaseDisp) -> InstBuilder {
        let BaseDisp { base, disp } = place;
        if let Some(builder) = immediate_access(access, base, disp) {
            return builder;
        }
        // Neighbouring accesses share the sum of the base and the upper bits of the displacement.
        let low = disp & 0xFFF;
        let high = self.add_constant(base, disp - low);
        match immediate_access(access, high, low) {
            Some(builder) => builder,
            None => {
                let all = self.add_constant(high, low);
                InstBuilder::new(access.scaled).n(all)
            }
        }
    }
}

/// Returns an access with an immediate displacement, or `None` if the displacement does not fit.
fn immediate_access(access: Access, base: VReg, disp: i32) -> Option<InstBuilder> {
    let scaled = disp >> access.log2;
    if disp & ((1 << access.log2) - 1) == 0 && (0..1 << 12).contains(&scaled) {
        return Some(InstBuilder::new(access.scaled).n(base).imm(scaled.cast_unsigned() << 10, disp.into()));
    }
    let unscaled = (-256..256).contains(&disp);
    unscaled.then(|| InstBuilder::new(access.unscaled).n(base).imm((disp.cast_unsigned() & 0x1FF) << 12, disp.into()))
}
