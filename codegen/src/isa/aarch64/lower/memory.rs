//! Loads and stores of scalars and of contiguous lanes.
//!
//! Advanced SIMD has no masked loads and stores. If all lanes are active, one instruction accesses the whole vector.
//! Otherwise, inactive lanes load from the stack, and branches skip the stores of inactive lanes.

use regalloc2::VReg;

use super::super::inst::{Cc, Field, InstBuilder, Opcode, Test};
use super::super::regs::{SP, ZERO};
use super::super::table::{self as t, Access};
use super::address::BaseDisp;
use super::context::{Lower, wide};
use crate::mach::function::Label;
use crate::vir::{Addr, Elem, Mem, Type, Value};

/// Returns the load of a scalar.
const fn scalar_load(mem: Mem) -> Access {
    match mem {
        Mem::I8 => t::LOAD_B,
        Mem::I16 => t::LOAD_H,
        Mem::Elem(Elem::I32) => t::LOAD_W,
        Mem::Elem(Elem::I64) => t::LOAD_X,
        Mem::Elem(Elem::F32) => t::LOAD_S,
        Mem::Elem(Elem::F64) => t::LOAD_D,
    }
}

/// Returns the store of a scalar.
const fn scalar_store(mem: Mem) -> Access {
    match mem {
        Mem::I8 => t::STORE_B,
        Mem::I16 => t::STORE_H,
        Mem::Elem(Elem::I32) => t::STORE_W,
        Mem::Elem(Elem::I64) => t::STORE_X,
        Mem::Elem(Elem::F32) => t::STORE_S,
        Mem::Elem(Elem::F64) => t::STORE_D,
    }
}

/// Returns the instructions that load and store one lane.
const fn lane_access(mem: Mem) -> (Opcode, Opcode) {
    match mem.bytes() {
        1 => (t::LOAD_LANE_B, t::STORE_LANE_B),
        2 => (t::LOAD_LANE_H, t::STORE_LANE_H),
        4 => (t::LOAD_LANE_S, t::STORE_LANE_S),
        _ => (t::LOAD_LANE_D, t::STORE_LANE_D),
    }
}

impl Lower<'_> {
    pub(super) fn load(&mut self, mem: Mem, addr: &Addr) -> VReg {
        let builder = self.access(scalar_load(mem), addr);
        self.result(builder)
    }

    pub(super) fn store(&mut self, mem: Mem, addr: &Addr, value: Value) {
        let access = scalar_store(mem);
        if self.splat_bits(value) == Some(0) {
            let access = match mem.bytes() {
                8 => t::STORE_X,
                4 => t::STORE_W,
                _ => access,
            };
            let builder = self.access(access, addr).phys(Field::D, ZERO);
            return self.push(builder);
        }
        let value = self.reg(value);
        let builder = self.access(access, addr).d(value);
        self.push(builder);
    }

    /// Returns the register of a mask, or `None` if there is no mask or all its lanes are known to be set.
    pub(super) fn mask_reg(&mut self, mask: Option<Value>) -> Option<VReg> {
        mask.filter(|mask| self.splat_bits(*mask).is_none_or(|bits| bits == 0)).map(|mask| self.reg(mask))
    }

    pub(super) fn load_vector(&mut self, mem: Mem, addr: &Addr, mask: Option<Value>, ty: Type) -> VReg {
        let Some(mask) = self.mask_reg(mask) else {
            let builder = self.access(whole_load(mem), addr);
            let packed = self.result(builder);
            return self.unpack(mem, packed);
        };
        let place = self.base_disp(addr);
        let [full, part, next] = self.branch_on_full_mask(mask);
        self.start_block(full, &[]);
        let builder = self.access_at(whole_load(mem), place);
        let all = self.result(builder);
        self.jump(next, &[all]);
        self.out.cold = true;
        self.start_block(part, &[]);
        let some = self.load_lanes(mem, place, mask, ty);
        self.jump(next, &[some]);
        self.out.cold = false;
        let packed = self.vec();
        self.start_block(next, &[packed]);
        self.unpack(mem, packed)
    }

    /// Zero-extends packed bytes or 16-bit elements to 32-bit lanes.
    fn unpack(&mut self, mem: Mem, packed: VReg) -> VReg {
        match mem {
            Mem::I8 => {
                let words = self.unary(t::UXTL_8H, false, packed);
                self.unary(t::UXTL_4S, false, words)
            }
            Mem::I16 => {
                let all = self.unary(t::UXTL_4S, false, packed);
                self.packed.insert(all, packed);
                all
            }
            Mem::Elem(_) => packed,
        }
    }

    /// Packs the low bytes or low 16 bits of 32-bit lanes.
    fn pack(&mut self, mem: Mem, value: VReg) -> VReg {
        match mem {
            Mem::I8 => {
                let words = self.unary(t::XTN_4H, false, value);
                self.unary(t::XTN_8B, false, words)
            }
            Mem::I16 => self.packed_words(value),
            Mem::Elem(_) => value,
        }
    }

    /// Packs the low 16 bits of 32-bit lanes. Values that were zero-extended from 16 bits need no instruction.
    pub(super) fn packed_words(&mut self, value: VReg) -> VReg {
        match self.packed.get(&value) {
            Some(&packed) => packed,
            None => self.unary(t::XTN_4H, false, value),
        }
    }

    /// Branches to the first label if all lanes are set, otherwise to the second. The caller ends both blocks with a
    /// jump to the third.
    fn branch_on_full_mask(&mut self, mask: VReg) -> [Label; 3] {
        let labels = [self.label(), self.label(), self.label()];
        let all = self.all(mask);
        self.branch_on((Test::Zero { wide: false, inverted: true }, Some(all)), [labels[0], labels[1]]);
        labels
    }

    /// Moves a lane of a mask to a general register.
    fn mask_lane(&mut self, mask: VReg, lane: u8, ty: Type) -> VReg {
        let long = wide(ty);
        if lane == 0 {
            return self.move_to_general(long, mask);
        }
        self.result(InstBuilder::new(t::UMOV).wide(long).n(mask).lane(if long { 3 } else { 2 }, lane))
    }

    /// Returns an address that is always readable: the stack pointer.
    pub(super) fn safe_address(&mut self) -> VReg {
        self.result(InstBuilder::new(t::MOV_STACK).phys(Field::N, SP))
    }

    /// Loads one lane into a copy of `into`. `mask` is the mask and the safe address, which inactive lanes load from.
    pub(super) fn load_lane(&mut self, mem: Mem, into: VReg, lane: u8, at: VReg, mask: Option<(VReg, VReg)>, ty: Type) -> VReg {
        let at = match mask {
            None => at,
            Some((mask, safe)) => {
                let active = self.mask_lane(mask, lane, ty);
                self.push(InstBuilder::new(t::CMP_IMM).wide(wide(ty)).n(active));
                self.result(InstBuilder::new(t::CSEL).wide(true).n(at).m(safe).condition(Cc::NotEqual))
            }
        };
        let to = self.vec();
        let log2 = mem.bytes().trailing_zeros();
        let builder = InstBuilder::new(lane_access(mem).0).tied(into, to).n(at);
        self.push(builder.imm(t::memory_lane(log2, lane), lane.into()));
        to
    }

    /// Stores one lane of a vector. A branch skips the store if the lane is inactive.
    pub(super) fn store_lane(&mut self, mem: Mem, value: VReg, lane: u8, at: VReg, mask: Option<VReg>, ty: Type) {
        let log2 = mem.bytes().trailing_zeros();
        let store = |from: VReg| {
            let builder = InstBuilder::new(lane_access(mem).1).d(from).n(at);
            builder.imm(t::memory_lane(log2, lane), lane.into())
        };
        let Some(mask) = mask else { return self.push(store(value)) };
        let labels = [self.label(), self.label()];
        let next = self.label();
        let active = self.mask_lane(mask, lane, ty);
        self.branch_on((Test::Zero { wide: wide(ty), inverted: true }, Some(active)), labels);
        self.start_block(labels[0], &[]);
        self.push(store(value));
        self.jump(next, &[]);
        self.start_block(labels[1], &[]);
        self.jump(next, &[]);
        self.start_block(next, &[]);
    }

    /// Loads each lane separately, as packed elements. Inactive lanes have unspecified contents.
    fn load_lanes(&mut self, mem: Mem, place: BaseDisp, mask: VReg, ty: Type) -> VReg {
        let safe = self.safe_address();
        let mut all = self.zero();
        for lane in 0..ty.lanes() {
            let at = self.address_of(place.offset_by(i32::from(lane) * mem.bytes() as i32));
            all = self.load_lane(mem, all, lane, at, Some((mask, safe)), ty);
        }
        all
    }

    pub(super) fn store_vector(&mut self, mem: Mem, addr: &Addr, value: Value, mask: Option<Value>) {
        let ty = self.ty(value);
        let mask = self.mask_reg(mask);
        let value = self.reg(value);
        let packed = self.pack(mem, value);
        let Some(mask) = mask else {
            let builder = self.access(whole_store(mem), addr).d(packed);
            return self.push(builder);
        };
        let place = self.base_disp(addr);
        let [full, part, next] = self.branch_on_full_mask(mask);
        self.start_block(full, &[]);
        let builder = self.access_at(whole_store(mem), place).d(packed);
        self.push(builder);
        self.jump(next, &[]);
        self.out.cold = true;
        self.start_block(part, &[]);
        for lane in 0..ty.lanes() {
            let at = self.address_of(place.offset_by(i32::from(lane) * mem.bytes() as i32));
            self.store_lane(mem, packed, lane, at, Some(mask), ty);
        }
        self.jump(next, &[]);
        self.out.cold = false;
        self.start_block(next, &[]);
    }
}

/// Returns the load of all lanes.
const fn whole_load(mem: Mem) -> Access {
    match mem {
        Mem::I8 => t::LOAD_S,
        Mem::I16 => t::LOAD_D,
        Mem::Elem(_) => t::LOAD_Q,
    }
}

/// Returns the store of all lanes.
const fn whole_store(mem: Mem) -> Access {
    match mem {
        Mem::I8 => t::STORE_S,
        Mem::I16 => t::STORE_D,
        Mem::Elem(_) => t::STORE_Q,
    }
}
