//! Operands: registers, constants, memory.

use regalloc2::{Operand, VReg};
use smallvec::SmallVec;

use super::super::inst::{Imm, InstBuilder, MachInst, Opcode, RegMem, Rm};
use super::super::regs::{INT, MASK, VEC};
use super::super::table as t;
use super::context::{Lower, length, wide};
use crate::mach::addresses::Sum;
use crate::mach::constants::Constant;
use crate::mach::pool::Bytes;
use crate::vir::{Addr, Op, Type, Value};

impl<'a> Lower<'a> {
    /// Returns the constant that defines a value, or `None` if the value is not constant.
    pub(super) fn constant(&self, value: Value) -> Option<Constant<'a>> {
        self.plan.constant(self.function, value)
    }

    /// Returns the bits of every lane of a constant. Returns `None` if the value is not constant, or its lanes are not
    /// known to be equal.
    pub(super) fn splat_bits(&self, value: Value) -> Option<u64> {
        self.constant(value)?.splat_bits()
    }

    /// Returns a constant as a sign-extended 32-bit immediate, or `None` if the value is not constant or does not fit.
    pub(super) fn imm32(&self, value: Value) -> Option<i32> {
        let bits = self.splat_bits(value)?;
        if wide(self.ty(value)) { i32::try_from(bits.cast_signed()).ok() } else { Some(bits as u32 as i32) }
    }

    /// Returns the register of a value. Each use of a constant gets a new register. If the value is folded, selects its
    /// operation.
    pub(super) fn reg(&mut self, value: Value) -> VReg {
        if let Some(reg) = self.regs[value.index()] {
            return reg;
        }
        if let Some(constant) = self.constant(value) {
            return self.materialise(constant, self.ty(value));
        }
        match self.plan.defs[value.index()] {
            Some(inst) if inst.op != Op::Undef => {
                self.inst(inst);
                match self.regs[value.index()] {
                    Some(reg) => reg,
                    None => self.undefined(self.ty(value)),
                }
            }
            _ => self.undefined(self.ty(value)),
        }
    }

    /// Returns a register with unspecified contents.
    pub(super) fn undefined(&mut self, ty: Type) -> VReg {
        let class = self.class(ty);
        let reg = self.new_reg(class);
        self.add(MachInst::Defines, &[Operand::reg_def(reg)]);
        reg
    }

    fn materialise(&mut self, constant: Constant<'_>, ty: Type) -> VReg {
        let class = self.class(ty);
        match (constant, ty) {
            (Constant::Splat(bits), _) if class == INT => self.int_constant(bits),
            (Constant::Splat(bits), Type::Mask(_)) if class == MASK => {
                self.same(if bits == 0 { t::KXOR } else { t::KXNOR }, 1, MASK, false)
            }
            (Constant::Splat(0), _) => self.zero(),
            (Constant::Splat(bits), Type::Mask(_)) if bits != 0 => self.ones(length(ty)),
            (Constant::Splat(bits), Type::Scalar(elem)) => {
                let id = self.element(bits, elem.bytes() as usize);
                let to = self.vec();
                let builder = InstBuilder::new(t::MOVU.of(elem, true)).wide(wide(ty)).def(to);
                self.push(builder.rm(RegMem::Pool { id, broadcast: false }));
                to
            }
            (Constant::Splat(bits), _) => self.splat_constant(bits, ty),
            (Constant::Lanes(_), _) => {
                let id = self.pooled(constant, ty);
                self.v2(t::MOVU, length(ty), false, RegMem::Pool { id, broadcast: false })
            }
        }
    }

    /// Loads a constant into a general register. The instruction may change the flags.
    pub(super) fn int_constant(&mut self, bits: u64) -> VReg {
        let to = self.int();
        if bits == 0 {
            let mut builder = InstBuilder::new(t::XOR_R).def(to);
            builder.inst.rm = Rm::Reg(builder.inst.reg);
            self.push(builder);
        } else if let Ok(short) = u32::try_from(bits) {
            self.push(InstBuilder::new(t::MOV_OPCODE).def(to).imm32(short.cast_signed()));
        } else if let Ok(short) = i32::try_from(bits.cast_signed()) {
            self.push(InstBuilder::new(t::MOV_I32).wide(true).rm_def(to).imm32(short));
        } else {
            let mut builder = InstBuilder::new(t::MOV_OPCODE).wide(true).def(to);
            builder.inst.imm = Imm::I64(bits);
            self.push(builder);
        }
        to
    }

    /// Adds an instruction whose new result register is also both of its operands. The result must not depend on their
    /// contents.
    fn same(&mut self, opcode: Opcode, len: u8, class: regalloc2::RegClass, wide: bool) -> VReg {
        let to = self.new_reg(class);
        let mut builder = InstBuilder::new(opcode).len(len).wide(wide).def(to);
        if self.vex() {
            builder.inst.vvvv = builder.inst.reg;
        }
        builder.inst.rm = Rm::Reg(builder.inst.reg);
        self.push(builder);
        to
    }

    /// Returns a vector register with all bits 0.
    pub(super) fn zero(&mut self) -> VReg {
        self.same(t::PXOR, 0, VEC, false)
    }

    /// Returns a vector register with all bits 1.
    pub(super) fn ones(&mut self, len: u8) -> VReg {
        if !self.avx512() {
            return self.same(t::PCMPEQD, len, VEC, false);
        }
        let to = self.vec();
        let mut builder = InstBuilder::new(t::PTERNLOG).len(len).def(to).imm(0xFF);
        builder.inst.vvvv = builder.inst.reg;
        builder.inst.rm = Rm::Reg(builder.inst.reg);
        self.push(builder);
        to
    }

    /// Loads a constant into all lanes of a vector.
    pub(super) fn splat_constant(&mut self, bits: u64, ty: Type) -> VReg {
        let double = wide(ty);
        if bits == 0 {
            return self.zero();
        }
        if bits == if double { u64::MAX } else { u64::from(u32::MAX) } {
            return self.ones(length(ty));
        }
        let id = self.element(bits, if double { 8 } else { 4 });
        let opcode = if double { t::PBROADCASTQ } else { t::PBROADCASTD };
        self.v2(opcode, length(ty), double, RegMem::Pool { id, broadcast: false })
    }

    /// Adds one element to the pool. Returns its pool index.
    fn element(&mut self, bits: u64, bytes: usize) -> u32 {
        self.pool.number(Bytes::from_slice(&bits.to_le_bytes()[..bytes]))
    }

    /// Returns a memory operand with a constant for all lanes.
    pub(super) fn splat_source(&mut self, bits: u64, ty: Type) -> RegMem {
        let bytes = if wide(ty) { 8 } else { 4 };
        if self.avx512() || matches!(ty, Type::Scalar(_)) {
            let id = self.element(bits, bytes);
            return RegMem::Pool { id, broadcast: !matches!(ty, Type::Scalar(_)) };
        }
        RegMem::Pool { id: self.pooled(Constant::Splat(bits), ty), broadcast: false }
    }

    /// Adds a whole vector to the pool. Returns its pool index.
    pub(super) fn pooled(&mut self, constant: Constant<'_>, ty: Type) -> u32 {
        let bytes = if wide(ty) { 8 } else { 4 };
        let mut all = Bytes::new();
        let mut lane = |bits: u64| all.extend_from_slice(&bits.to_le_bytes()[..bytes]);
        match constant {
            Constant::Splat(bits) => (0..(16 << length(ty)) / bytes).for_each(|_| lane(bits)),
            Constant::Lanes(lanes) => lanes.iter().for_each(|bits| lane(*bits)),
        }
        self.pool.number(all)
    }

    /// Returns a memory operand that repeats sixteen bytes over the length of a vector.
    pub(super) fn repeated(&mut self, bytes: [u8; 16], len: u8) -> RegMem {
        let all: SmallVec<[u8; 64]> = (0..1 << len).flat_map(|_| bytes).collect();
        RegMem::Pool { id: self.pool.number(all), broadcast: false }
    }

    /// Returns a value as a register or memory operand. If `broadcasts`, the operand can be one element in memory that
    /// the instruction broadcasts to all lanes.
    pub(super) fn source(&mut self, value: Value, broadcasts: bool) -> RegMem {
        if self.regs[value.index()].is_some() {
            return RegMem::Reg(self.reg(value));
        }
        let ty = self.ty(value);
        if let Some(constant) = self.constant(value)
            && !ty.is_general()
            && !matches!(ty, Type::Mask(_))
        {
            return match constant {
                Constant::Splat(0) => RegMem::Reg(self.zero()),
                Constant::Splat(bits) if broadcasts || !self.avx512() || matches!(ty, Type::Scalar(_)) => self.splat_source(bits, ty),
                Constant::Splat(_) => RegMem::Reg(self.reg(value)),
                Constant::Lanes(_) => RegMem::Pool { id: self.pooled(constant, ty), broadcast: false },
            };
        }
        if self.plan.folded[value.index()]
            && let Some(inst) = self.plan.defs[value.index()]
        {
            match &inst.op {
                Op::Load(_, addr) | Op::LoadVector { addr, .. } => return self.address(addr),
                Op::Splat(of) if broadcasts && self.is_folded(*of) => {
                    if let Some(Op::Load(_, addr)) = self.plan.defs[of.index()].map(|inst| &inst.op)
                        && let RegMem::Mem { base, index, disp, .. } = self.address(addr)
                    {
                        return RegMem::Mem { base, index, disp, broadcast: true };
                    }
                }
                _ => {}
            }
        }
        RegMem::Reg(self.reg(value))
    }

    fn is_folded(&self, value: Value) -> bool {
        self.plan.folded[value.index()] && self.regs[value.index()].is_none()
    }

    /// Whether [`source`](Self::source) may return a memory operand. Also true for constants that `source` loads into a
    /// register.
    pub(super) fn in_memory(&self, value: Value, broadcasts: bool) -> bool {
        if self.regs[value.index()].is_some() {
            return false;
        }
        match self.constant(value) {
            Some(Constant::Splat(0)) => return false,
            Some(_) => return true,
            None => {}
        }
        self.plan.folded[value.index()]
            && self.plan.defs[value.index()].is_some_and(|inst| match inst.op {
                Op::Load(..) | Op::LoadVector { .. } => true,
                Op::Splat(of) => broadcasts && self.is_folded(of),
                _ => false,
            })
    }

    /// Returns an address as a memory operand.
    pub(super) fn address(&mut self, addr: &Addr) -> RegMem {
        let (mut base, mut index, mut disp) = (addr.base, addr.index, addr.disp);
        while let Some(sum) = self.plan.sums[base.index()] {
            match sum {
                Sum::Offset(of, by) => (base, disp) = (of, disp + by),
                Sum::Terms(of, other, scale) if index.is_none() => (base, index) = (of, Some((other, scale))),
                Sum::Terms(..) => break,
            }
        }
        let base = Some(self.reg(base));
        let index = index.map(|(index, scale)| (self.reg(index), scale));
        RegMem::Mem { base, index, disp, broadcast: false }
    }
}
