//! Loads, stores, gathers, scatters and atomics.

use regalloc2::VReg;

use super::super::inst::{Cc, Imm, InstBuilder, MachInst, Opcode, RegMem, Rm, Slot};
use super::super::regs::{MASK, RAX, RSP};
use super::super::table::{self as t, alu};
use super::context::{Lower, length, wide};
use crate::mach::pool::Bytes;
use crate::vir::{Addr, Elem, Mem, Type, Value};

/// Adds a displacement to an address.
fn displaced(at: RegMem, by: i32) -> RegMem {
    match at {
        RegMem::Mem { base, index, disp, broadcast } => RegMem::Mem { base, index, disp: disp + by, broadcast },
        other => other,
    }
}

impl Lower<'_> {
    pub(super) fn load(&mut self, mem: Mem, addr: &Addr) -> VReg {
        let at = self.address(addr);
        match mem {
            Mem::Elem(elem) if elem.is_float() => self.v2(t::MOVU.of(elem, true), 0, elem == Elem::F64, at),
            mem => {
                let opcode = match mem {
                    Mem::I8 => t::MOVZX8,
                    Mem::I16 => t::MOVZX16,
                    Mem::Elem(_) => t::MOV,
                };
                let to = self.int();
                self.push(InstBuilder::new(opcode).wide(mem == Mem::Elem(Elem::I64)).def(to).rm(at));
                to
            }
        }
    }

    pub(super) fn store(&mut self, mem: Mem, addr: &Addr, value: Value) {
        let wide = mem.bytes() == 8;
        if let Some(imm) = self.splat_bits(value)
            && (!wide || i32::try_from(imm.cast_signed()).is_ok())
        {
            let at = self.address(addr);
            let (opcode, imm) = match mem {
                Mem::I8 => (t::MOV_I8, Imm::I8(imm as u8)),
                Mem::I16 => (t::MOV_I16, Imm::I16(imm as u16)),
                Mem::Elem(_) => (t::MOV_I32, Imm::I32(imm as u32 as i32)),
            };
            let mut builder = InstBuilder::new(opcode).wide(wide).rm(at);
            builder.inst.imm = imm;
            return self.push(builder);
        }
        let value = self.reg(value);
        let at = self.address(addr);
        let opcode = match mem {
            Mem::I8 => t::MOV_STORE8,
            Mem::I16 => t::MOV_STORE16,
            Mem::Elem(elem) if elem.is_float() => t::MOVU_STORE.of(elem, true),
            Mem::Elem(_) => t::MOV_STORE,
        };
        self.push(InstBuilder::new(opcode).wide(wide).reg(value).rm(at));
    }

    /// Returns the register of a mask, or `None` if there is no mask or all its lanes are known to be set.
    fn mask_reg(&mut self, mask: Option<Value>) -> Option<VReg> {
        mask.filter(|mask| self.splat_bits(*mask).is_none_or(|bits| bits == 0)).map(|mask| self.reg(mask))
    }

    pub(super) fn load_vector(&mut self, mem: Mem, addr: &Addr, mask: Option<Value>, ty: Type) -> VReg {
        let mask = self.mask_reg(mask);
        let at = self.address(addr);
        let opcode = match mem {
            Mem::I8 => t::PMOVZXBD,
            Mem::I16 => t::PMOVZXWD,
            Mem::Elem(elem) => t::MOVU.of(elem, false),
        };
        let to = self.vec();
        let builder = InstBuilder::new(opcode).len(length(ty)).wide(wide(ty));
        let builder = match (mask, mem) {
            (None, _) => builder.def(to).rm(at),
            (Some(mask), _) if self.avx512() => builder.def(to).rm(at).mask(mask, true),
            (Some(mask), Mem::Elem(_)) => {
                let opcode = t::MASKMOV_LOAD.plus(u8::from(wide(ty)));
                InstBuilder::new(opcode).len(length(ty)).def(to).vvvv(mask).rm(at)
            }
            (Some(mask), _) => return self.load_narrow(opcode, mem, at, mask, ty),
        };
        self.push(builder);
        to
    }

    /// Loads 16 bytes from each of several addresses.
    pub(super) fn load_pieces(&mut self, elem: Elem, places: &[Addr], ty: Type) -> VReg {
        let mut all = self.vec();
        for (piece, place) in (0..).zip(places) {
            let from = self.address(place);
            all = match piece {
                0 => self.v2(t::MOVU.of(elem, false), 0, wide(ty), from),
                piece => self.v3_imm(t::INSERT128, length(ty), false, all, from, piece),
            };
        }
        all
    }

    /// Branches to the first label if all lanes are set, otherwise to the second. The caller ends both blocks with a
    /// jump to the third. Used only with AVX2, not with AVX-512.
    fn branch_on_full_mask(&mut self, mask: VReg, ty: Type) -> [usize; 3] {
        let labels = [self.label(), self.label(), self.label()];
        let bits = self.lane_bits(mask, ty);
        self.push(InstBuilder::new(t::ALU_I32.digit(alu::CMP)).rm(bits).imm32((1 << (4 << length(ty))) - 1));
        self.end_block(MachInst::Branch(Cc::Equal), &labels[..2], &[]);
        labels
    }

    /// Loads bytes or 16-bit elements under a mask.
    fn load_narrow(&mut self, opcode: Opcode, mem: Mem, at: RegMem, mask: VReg, ty: Type) -> VReg {
        let [full, part, next] = self.branch_on_full_mask(mask, ty);
        self.start_block(full, &[]);
        let all = self.v2(opcode, length(ty), false, at);
        self.end_block(MachInst::Jump, &[next], &[all]);
        self.start_block(part, &[]);
        let some = self.load_lanes(mem, at, mask, ty);
        self.end_block(MachInst::Jump, &[next], &[some]);
        let to = self.vec();
        self.start_block(next, &[to]);
        to
    }

    fn lane_bits(&mut self, mask: VReg, ty: Type) -> VReg {
        let bits = self.int();
        self.push(InstBuilder::new(t::MOVMSK).len(length(ty)).def(bits).rm_reg(mask));
        bits
    }

    fn test_lane(&mut self, bits: VReg, lane: u8) {
        self.push(InstBuilder::new(t::TEST_I32).rm(bits).imm32(1 << lane));
    }

    /// Loads one byte or 16-bit element per lane. Inactive lanes load a constant instead.
    fn load_lanes(&mut self, mem: Mem, at: RegMem, mask: VReg, ty: Type) -> VReg {
        let bits = self.lane_bits(mask, ty);
        let safe = self.int();
        let id = self.pool.number(Bytes::from_slice(&[0; 4]));
        self.push(InstBuilder::new(t::LEA).wide(true).def(safe).rm(RegMem::Pool { id, broadcast: false }));
        let (insert, widen) = if mem == Mem::I8 { (t::PINSRB, t::PMOVZXBD) } else { (t::PINSRW, t::PMOVZXWD) };
        let mut all = self.zero();
        for lane in 0..ty.lanes() {
            let (there, place) = (self.int(), self.int());
            self.push(InstBuilder::new(t::LEA).wide(true).def(there).rm(displaced(at, i32::from(lane) * mem.bytes() as i32)));
            self.test_lane(bits, lane);
            self.push(InstBuilder::new(t::CMOVCC.plus(Cc::Equal as u8)).wide(true).tied(there, place).rm(safe));
            let from = RegMem::Mem { base: Some(place), index: None, disp: 0, broadcast: false };
            all = self.v3_imm(insert, 0, false, all, from, lane);
        }
        self.v2(widen, length(ty), false, all)
    }

    pub(super) fn store_vector(&mut self, mem: Mem, addr: &Addr, value: Value, mask: Option<Value>) {
        let ty = self.ty(value);
        let mask = self.mask_reg(mask);
        let value = self.reg(value);
        let at = self.address(addr);
        let opcode = match mem {
            Mem::I8 => t::PMOVDB,
            Mem::I16 => t::PMOVDW,
            Mem::Elem(elem) => t::MOVU_STORE.of(elem, false),
        };
        match mask {
            Some(mask) if !self.avx512() => {
                // If all lanes are set, a plain store is used: on AMD processors, a masked store takes a dozen cycles.
                let [full, part, next] = self.branch_on_full_mask(mask, ty);
                self.start_block(full, &[]);
                self.store_all(opcode, mem, at, value, ty);
                self.end_block(MachInst::Jump, &[next], &[]);
                self.start_block(part, &[]);
                if let Mem::Elem(_) = mem {
                    let opcode = t::MASKMOV_STORE.plus(u8::from(wide(ty)));
                    self.push(InstBuilder::new(opcode).len(length(ty)).reg(value).vvvv(mask).rm(at));
                } else {
                    self.store_lanes(mem, at, value, mask, ty);
                }
                self.end_block(MachInst::Jump, &[next], &[]);
                self.start_block(next, &[]);
            }
            Some(mask) => self.push(InstBuilder::new(opcode).len(length(ty)).wide(wide(ty)).reg(value).rm(at).mask(mask, false)),
            None => self.store_all(opcode, mem, at, value, ty),
        }
    }

    fn store_all(&mut self, opcode: Opcode, mem: Mem, at: RegMem, value: VReg, ty: Type) {
        match mem {
            Mem::I8 | Mem::I16 if !self.avx512() => self.store_packed(mem, at, value, ty),
            _ => self.push(InstBuilder::new(opcode).len(length(ty)).wide(wide(ty)).reg(value).rm(at)),
        }
    }

    /// Stores the low bytes or low 16 bits of four or eight lanes.
    fn store_packed(&mut self, mem: Mem, at: RegMem, value: VReg, ty: Type) {
        let packed = if mem == Mem::I16 {
            self.pack_words(value, ty)
        } else {
            let low = self.splat_source(0xFF, ty);
            let low = self.v3(t::PAND, length(ty), false, value, low);
            let words = self.pack_words(low, ty);
            self.v3(t::PACKUSWB, 0, false, words, words)
        };
        self.push(match u32::from(ty.lanes()) * mem.bytes() {
            16 => InstBuilder::new(t::MOVU_STORE).reg(packed).rm(at),
            bytes => InstBuilder::new(t::MOVD_FROM).wide(bytes == 8).reg(packed).rm(at),
        });
    }

    /// Stores one byte or 16-bit element per lane. Branches skip inactive lanes.
    fn store_lanes(&mut self, mem: Mem, at: RegMem, value: VReg, mask: VReg, ty: Type) {
        let bits = self.lane_bits(mask, ty);
        let upper = self.part_of(value, ty, u8::from(ty.lanes() > 4), 4);
        for lane in 0..ty.lanes() {
            let (store, skip, next) = (self.label(), self.label(), self.label());
            self.test_lane(bits, lane);
            self.end_block(MachInst::Branch(Cc::NotEqual), &[store, skip], &[]);
            self.start_block(store, &[]);
            let from = if lane < 4 { value } else { upper };
            let (opcode, step) = if mem == Mem::I8 { (t::PEXTRB, 4) } else { (t::PEXTRW, 2) };
            let place = displaced(at, i32::from(lane) * mem.bytes() as i32);
            self.push(InstBuilder::new(opcode).reg(from).rm(place).imm(lane % 4 * step));
            self.end_block(MachInst::Jump, &[next], &[]);
            self.start_block(skip, &[]);
            self.end_block(MachInst::Jump, &[next], &[]);
            self.start_block(next, &[]);
        }
    }

    /// Uses gather instructions. Scalar loads need more code, and are not faster even on processors with slow gathers.
    /// With AVX2, gathers and scalar loads take about 0.4 ns per lane.
    pub(super) fn gather(&mut self, elem: Elem, base: Option<Value>, index: &[Value], scale: u8, mask: Option<Value>, ty: Type) -> VReg {
        let base = base.map(|base| self.reg(base));
        let mask = self.mask_reg(mask);
        let mut parts = Vec::with_capacity(2);
        for (part, &index) in (0..).zip(index) {
            let (index_ty, index) = (self.ty(index), self.reg(index));
            let part_ty = Type::Vector(elem, index_ty.lanes());
            let mask = mask.map(|mask| self.mask_of_part(mask, ty, part, index_ty.lanes()));
            let len = length(part_ty).max(length(index_ty));
            let opcode = t::GATHER.plus(u8::from(wide(index_ty)) + 2 * u8::from(elem.is_float()));
            let mask = match mask {
                Some(mask) => mask,
                None if self.avx512() => self.all_lanes(),
                None => self.ones(length(part_ty)),
            };
            let (zero, to) = (self.zero(), self.vec());
            let rest = if self.avx512() { self.new_reg(MASK) } else { self.vec() };
            let builder = InstBuilder::new(opcode).len(len).wide(wide(ty)).tied(zero, to);
            let builder = if self.avx512() { builder.mask_tied(mask, rest) } else { builder.vvvv_tied(mask, rest) };
            self.push(builder.vsib(base, index, scale));
            parts.push(to);
        }
        match parts[..] {
            [low, high] => match length(ty) {
                0 => self.join_halves(low, high),
                len => self.join(low, high, len - 1),
            },
            _ => parts[0],
        }
    }

    /// Returns a mask register with all bits set.
    fn all_lanes(&mut self) -> VReg {
        let to = self.k();
        let mut builder = InstBuilder::new(t::KXNOR).len(1).def(to);
        builder.inst.vvvv = builder.inst.reg;
        builder.inst.rm = Rm::Reg(builder.inst.reg);
        self.push(builder);
        to
    }

    /// Returns the mask of the lanes from `part * lanes` on, as the lowest lanes of a register. The size of a lane does
    /// not change.
    fn mask_of_part(&mut self, mask: VReg, ty: Type, part: u8, lanes: u8) -> VReg {
        if part == 0 {
            return mask;
        }
        if !self.avx512() {
            return self.part_of(mask, ty, part, lanes * if wide(ty) { 2 } else { 1 });
        }
        let to = self.k();
        self.push(InstBuilder::new(t::KSHIFTRW).wide(true).def(to).rm_reg(mask).imm(part * lanes));
        to
    }

    pub(super) fn scatter(&mut self, base: Option<Value>, index: &[Value], scale: u8, value: Value, mask: Option<Value>) {
        if !self.avx512() {
            self.unsupported("Scatter".to_owned(), MASK);
            return;
        }
        let ty = self.ty(value);
        let base = base.map(|base| self.reg(base));
        let mask = self.mask_reg(mask);
        let value = self.reg(value);
        for (part, &index) in (0..).zip(index) {
            let (index_ty, index) = (self.ty(index), self.reg(index));
            let lanes = index_ty.lanes();
            let mask = match mask {
                Some(mask) => self.mask_of_part(mask, ty, part, lanes),
                None => self.all_lanes(),
            };
            let words = lanes * if wide(ty) { 2 } else { 1 };
            let from = self.part_of(value, ty, part, words);
            let float = ty.elem().is_some_and(Elem::is_float);
            let opcode = t::SCATTER.plus(u8::from(wide(index_ty)) + 2 * u8::from(float));
            let len = length(Type::Vector(ty.elem().unwrap_or(Elem::I32), lanes)).max(length(index_ty));
            let rest = self.k();
            self.push(InstBuilder::new(opcode).len(len).wide(wide(ty)).reg(from).mask_tied(mask, rest).vsib(base, index, scale));
        }
    }

    pub(super) fn atomic_add(&mut self, mem: Mem, addr: &Addr, value: Value, used: bool) -> VReg {
        let to = self.int();
        let (value, at) = (self.reg(value), self.address(addr));
        let builder = if used { InstBuilder::new(t::XADD).tied(value, to) } else { InstBuilder::new(t::LOCK_ADD).reg(value) };
        self.push(builder.wide(mem.bytes() == 8).rm(at));
        to
    }

    pub(super) fn atomic_exchange(&mut self, mem: Mem, addr: &Addr, value: Value) -> VReg {
        let to = self.int();
        let (value, at) = (self.reg(value), self.address(addr));
        self.push(InstBuilder::new(t::XCHG).wide(mem.bytes() == 8).tied(value, to).rm(at));
        to
    }

    pub(super) fn atomic_compare_exchange(&mut self, mem: Mem, addr: &Addr, expected: Value, desired: Value) -> VReg {
        let to = self.int();
        let (expected, desired, at) = (self.reg(expected), self.reg(desired), self.address(addr));
        let opcode = if mem == Mem::I16 { t::CMPXCHG16 } else { t::CMPXCHG };
        let builder = InstBuilder::new(opcode).wide(mem.bytes() == 8).reg(desired).rm(at);
        self.push(builder.fixed_use(expected, RAX).fixed_def(to, RAX));
        to
    }

    /// Uses `prefetchw`. Processors without it execute a no-op.
    pub(super) fn prefetch_write(&mut self, addr: &Addr) {
        let at = self.address(addr);
        self.push(InstBuilder::new(t::PREFETCHW).rm(at));
    }

    /// Uses a locked `or` with 0, which is faster than `mfence`.
    pub(super) fn fence(&mut self) {
        let mut builder = InstBuilder::new(t::ALU_I8.digit(alu::OR).locked()).imm(0);
        builder.inst.rm = Rm::Mem { base: Slot::Phys(RSP), index: Slot::None, scale: 1, disp: 0 };
        self.push(builder);
    }
}
