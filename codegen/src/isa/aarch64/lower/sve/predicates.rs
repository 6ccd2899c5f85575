//! Masks in predicate registers.

use regalloc2::VReg;

use super::super::super::inst::{Cc, InstBuilder};
use super::super::super::regs::MASK;
use super::super::super::table as t;
use super::super::compare::inverse;
use super::super::context::{Lower, wide};
use crate::vir::{BinOp, Type, Value};

impl Lower<'_> {
    /// Returns a mask with all lanes set or clear.
    pub(in super::super) fn predicate_constant(&mut self, set: bool, ty: Type) -> VReg {
        if set { self.lanes_of(ty) } else { self.result(InstBuilder::new(t::PFALSE)) }
    }

    /// Complements a mask. If `a` is a folded comparison that has an inverse, selects the inverse comparison.
    pub(in super::super) fn predicate_not(&mut self, a: Value) -> VReg {
        if let Some((op, left, right)) = self.folded_compare(a)
            && let Some(op) = inverse(op)
        {
            return self.cmp_predicate(op, left, right, None);
        }
        let (ty, mask) = (self.ty(a), self.reg(a));
        let lanes = self.lanes_of(ty);
        self.result(InstBuilder::new(t::EOR_P).a(lanes).n(mask).m(lanes))
    }

    pub(in super::super) fn predicate_logic(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        if op == BinOp::And {
            let (under, compared) = if self.folded_compare(b).is_some() { (a, b) } else { (b, a) };
            if let Some((op, left, right)) = self.folded_compare(compared)
                && under != compared
            {
                let under = self.reg(under);
                return self.cmp_predicate(op, left, right, Some(under));
            }
        }
        let (a, b) = (self.reg(a), self.reg(b));
        match op {
            BinOp::And => self.result(InstBuilder::new(t::AND_P).a(a).n(a).m(b)),
            BinOp::AndNot => self.result(InstBuilder::new(t::BIC_P).a(a).n(a).m(b)),
            BinOp::Or => self.result(InstBuilder::new(t::SEL_P).a(a).n(a).m(b)),
            BinOp::Xor => {
                let lanes = self.lanes_of(ty);
                self.result(InstBuilder::new(t::EOR_P).a(lanes).n(a).m(b))
            }
            op => self.unsupported(format!("{op:?} of masks"), MASK),
        }
    }

    /// Selects vectors or masks by a mask.
    pub(in super::super) fn select_by_predicate(&mut self, cond: Value, a: Value, b: Value) -> VReg {
        let ty = self.ty(a);
        let (cond, a, b) = (self.reg(cond), self.reg(a), self.reg(b));
        let opcode = if matches!(ty, Type::Mask(_)) { t::SEL_P } else { t::SEL_Z };
        self.result(InstBuilder::new(opcode).wide(wide(ty)).a(cond).n(a).m(b))
    }

    /// Tests whether any lane is set. Returns the condition that holds in this case.
    pub(in super::super) fn any_active(&mut self, mask: Value) -> Cc {
        let mask = self.reg(mask);
        let all = self.all_lanes();
        self.push(InstBuilder::new(t::PTEST).a(all).n(mask));
        Cc::NotEqual
    }

    /// Tests whether all lanes are set. Returns the condition that holds in this case.
    pub(in super::super) fn all_active(&mut self, mask: Value) -> Cc {
        let (ty, mask) = (self.ty(mask), self.reg(mask));
        let lanes = self.lanes_of(ty);
        // The flags of the complement are those of `ptest` on the complement. This is `nots`, but the allocator can
        // assign two registers to the two uses of `lanes`.
        self.result(InstBuilder::new(t::EORS_P).a(lanes).n(mask).m(lanes));
        Cc::Equal
    }

    pub(in super::super) fn predicate_part(&mut self, a: Value, part: u8, ty: Type) -> VReg {
        let mask = self.reg(a);
        let lanes = u32::from(ty.lanes());
        self.wide_lanes_of(mask, u32::from(part) * lanes, lanes, u32::from(self.ty(a).lanes()))
    }

    /// Converts `lanes` of the `all` lanes of a mask for 32-bit lanes, from `first` on, to a mask for 64-bit lanes.
    pub(super) fn wide_lanes_of(&mut self, mask: VReg, first: u32, lanes: u32, all: u32) -> VReg {
        let half = self.register_bytes() / 8;
        let (unpack, start) = if first < half { (t::PUNPKLO, first) } else { (t::PUNPKHI, first - half) };
        let unpacked = self.unary(unpack, false, mask);
        if start == 0 && (lanes == half || first + lanes == all) {
            return unpacked;
        }
        self.lanes_from(unpacked, start, lanes)
    }

    /// Returns `lanes` lanes of a mask for 64-bit lanes, from `first` on.
    pub(super) fn lanes_from(&mut self, mask: VReg, first: u32, lanes: u32) -> VReg {
        let kept = self.first_lanes(lanes, true);
        if first == 0 {
            return self.result(InstBuilder::new(t::AND_P).a(kept).n(kept).m(mask));
        }
        // SVE cannot shift a predicate, so shift a vector.
        let ones = self.ones_under(mask);
        let shifted = self.starting_at_byte(ones, first * 8);
        self.result(InstBuilder::new(t::CMPNE_IMM).wide(true).a(kept).n(shifted))
    }

    /// Returns a vector of 64-bit lanes with 1 in the lanes of a mask, and 0 in the others.
    fn ones_under(&mut self, mask: VReg) -> VReg {
        self.result(InstBuilder::new(t::CPY_Z).wide(true).m(mask).z_imm(1, 1))
    }

    pub(in super::super) fn predicate_join(&mut self, list: &[Value], ty: Type) -> VReg {
        let regs: Vec<VReg> = list.iter().map(|value| self.reg(*value)).collect();
        match regs[..] {
            [one] => {
                let none = self.result(InstBuilder::new(t::PFALSE));
                self.binary(t::UZP1_P, false, one, none)
            }
            [low, high] if self.fills_register(ty) => self.binary(t::UZP1_P, false, low, high),
            [low, high] => {
                let parts = [low, high].map(|mask| self.ones_under(mask));
                let all = self.pack_low_words(&parts, u32::from(ty.lanes()) / 2);
                let lanes = self.lanes_of(ty);
                self.result(InstBuilder::new(t::CMPNE_IMM).a(lanes).n(all))
            }
            _ => self.unsupported(format!("join of {} masks", list.len()), MASK),
        }
    }

    /// Adds the bits of the active lanes.
    pub(in super::super) fn predicate_bits(&mut self, a: Value, ty: Type) -> VReg {
        let (mask, bits) = (self.reg(a), self.bits_of_lanes(ty));
        let sum = self.result(InstBuilder::new(t::UADDV_Z).wide(wide(ty)).a(mask).n(bits));
        self.move_to_general(false, sum)
    }

    /// Tests the bit of each lane.
    pub(in super::super) fn predicate_of(&mut self, a: Value, ty: Type) -> VReg {
        let double = wide(ty);
        let (from, bits) = (self.reg(a), self.bits_of_lanes(ty));
        let all = self.result(InstBuilder::new(t::DUP_ZR).wide(double).n(from));
        let set = self.binary(t::AND_Z, false, all, bits);
        let lanes = self.lanes_of(ty);
        self.result(InstBuilder::new(t::CMPNE_IMM).wide(double).a(lanes).n(set))
    }

    /// Loads a constant with the value `1 << lane` in each lane.
    fn bits_of_lanes(&mut self, ty: Type) -> VReg {
        let elem = if wide(ty) { crate::vir::Elem::I64 } else { crate::vir::Elem::I32 };
        self.lane_bits(ty.with_elem(elem))
    }
}
