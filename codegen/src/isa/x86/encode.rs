//! Encodes an instruction after register allocation.

use regalloc2::{Allocation, AllocationKind};

use super::inst::{BARE, BYTE_REG, BYTE_RM, EVEX, Imm, LOCK, OPCODE_REG, Rm, Slot, Tuple, VEX, X86Inst};
use super::regs::RSP;
use crate::mach::code::CodegenError;
use crate::target::X86Level;

/// A register or memory operand after register allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolvedRm {
    Reg(u8),
    Mem {
        base: Option<u8>,
        index: Option<(u8, u8)>,
        disp: i32,
    },
    /// The index of a constant in the pool.
    Pool(u32),
}

/// The operands of an instruction after register allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    pub(super) reg: u8,
    pub(super) vvvv: u8,
    pub(super) rm: ResolvedRm,
    pub(super) last: Option<u8>,
    pub(super) mask: u8,
}

/// The byte offset of a displacement within an instruction, and the pool index of the constant that it refers to.
/// `None` if the instruction refers to no constant.
pub(super) type PoolUse = Option<(usize, u32)>;

/// Replaces operands by their allocated registers and spill slots. `slot` returns the offset in bytes of a spill slot
/// from the stack pointer. The operand `rm` may be in a spill slot: it becomes a memory operand. Fails if any other
/// operand, or a base or index, is in a spill slot.
pub(super) fn resolve(inst: &X86Inst, allocs: &[Allocation], slot: impl Fn(usize) -> i32) -> Result<Resolved, CodegenError> {
    let number = |of: Slot| match of {
        Slot::None => Ok(None),
        Slot::Phys(number) => Ok(Some(number)),
        Slot::Op(index) => {
            let alloc = allocs.get(usize::from(index)).and_then(|alloc| alloc.as_reg());
            alloc.map(|reg| Some(reg.hw_enc() as u8)).ok_or(CodegenError::Encoding(inst.opcode.name))
        }
    };
    let rm = match inst.rm {
        Rm::None => ResolvedRm::Reg(0),
        Rm::Reg(Slot::Op(index)) if allocs[usize::from(index)].kind() == AllocationKind::Stack => {
            let at = allocs[usize::from(index)].as_stack().map_or(0, regalloc2::SpillSlot::index);
            ResolvedRm::Mem { base: Some(RSP), index: None, disp: slot(at) }
        }
        Rm::Reg(slot) => ResolvedRm::Reg(number(slot)?.unwrap_or(0)),
        Rm::Mem { base, index, scale, disp } => {
            ResolvedRm::Mem { base: number(base)?, index: number(index)?.map(|index| (index, scale)), disp }
        }
        Rm::Pool(id) => ResolvedRm::Pool(id),
    };
    Ok(Resolved {
        reg: number(inst.reg)?.unwrap_or(inst.opcode.ext),
        vvvv: number(inst.vvvv)?.unwrap_or(0),
        rm,
        last: number(inst.last)?,
        mask: number(inst.mask)?.unwrap_or(0),
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Legacy,
    Vex,
    Evex,
}

/// Selects an encoding. VEX is shorter than EVEX, but cannot encode all operands.
fn encoding(inst: &X86Inst, regs: &Resolved, level: X86Level) -> Encoding {
    let opcode = &inst.opcode;
    if !opcode.has(VEX) && !opcode.has(EVEX) || level < X86Level::Avx2 {
        return Encoding::Legacy;
    }
    let high =
        regs.reg >= 16 || regs.vvvv >= 16 || matches!(regs.rm, ResolvedRm::Reg(16..) | ResolvedRm::Mem { index: Some((16.., _)), .. });
    let plainly = inst.len < 2 && inst.mask == Slot::None && !inst.broadcast && !high;
    if opcode.has(VEX) && (plainly || !opcode.has(EVEX)) { Encoding::Vex } else { Encoding::Evex }
}

/// Appends an instruction. Returns its reference to a constant.
pub(super) fn encode(out: &mut Vec<u8>, inst: &X86Inst, regs: &Resolved, level: X86Level) -> PoolUse {
    let start = out.len();
    let opcode = &inst.opcode;
    match encoding(inst, regs, level) {
        Encoding::Legacy => legacy_prefix(out, inst, regs),
        Encoding::Vex => vex_prefix(out, inst, regs),
        Encoding::Evex => evex_prefix(out, inst, regs),
    }
    if opcode.has(OPCODE_REG) {
        out.push(opcode.op | (regs.reg & 7));
    } else {
        out.push(opcode.op);
    }
    let mut pool = None;
    if !opcode.has(BARE) && !opcode.has(OPCODE_REG) {
        let unit = if encoding(inst, regs, level) == Encoding::Evex { unit(inst) } else { 1 };
        if let ResolvedRm::Pool(id) = regs.rm {
            out.push((regs.reg & 7) << 3 | 5);
            pool = Some((out.len() - start, id));
            out.extend([0; 4]);
        } else {
            modrm(out, regs.reg & 7, regs.rm, unit);
        }
    }
    match inst.imm {
        Imm::None => {}
        Imm::I8(byte) => out.push(byte),
        Imm::I16(word) => out.extend(word.to_le_bytes()),
        Imm::I32(word) => out.extend(word.to_le_bytes()),
        Imm::I64(word) => out.extend(word.to_le_bytes()),
    }
    if let Some(last) = regs.last {
        out.push(last << 4);
    }
    pool
}

/// Returns the unit in bytes of 8-bit displacements in EVEX (`disp8*N`).
fn unit(inst: &X86Inst) -> i32 {
    let vector = 16 << inst.len;
    let elem = if inst.wide { 8 } else { 4 };
    match inst.opcode.tuple {
        _ if inst.broadcast => elem,
        Tuple::Full => vector,
        Tuple::Elem => elem,
        Tuple::Half => vector / 2,
        Tuple::Quarter => vector / 4,
        Tuple::Bytes(bytes) => i32::from(bytes),
    }
}

/// Returns the prefix bits X and B: bit 3 of the index and of the base, or bits 4 and 3 of a register operand.
const fn high(rm: ResolvedRm) -> (u8, u8) {
    match rm {
        ResolvedRm::Reg(reg) => (reg >> 4 & 1, reg >> 3 & 1),
        ResolvedRm::Mem { base, index, .. } => {
            let x = match index {
                Some((index, _)) => index >> 3 & 1,
                None => 0,
            };
            let b = match base {
                Some(base) => base >> 3 & 1,
                None => 0,
            };
            (x, b)
        }
        ResolvedRm::Pool(_) => (0, 0),
    }
}

fn legacy_prefix(out: &mut Vec<u8>, inst: &X86Inst, regs: &Resolved) {
    let opcode = &inst.opcode;
    if opcode.has(LOCK) {
        out.push(0xF0);
    }
    match opcode.pp {
        1 => out.push(0x66),
        2 => out.push(0xF3),
        3 => out.push(0xF2),
        _ => {}
    }
    let (x, mut b) = high(regs.rm);
    let mut r = regs.reg >> 3 & 1;
    if opcode.has(OPCODE_REG) {
        (r, b) = (0, r);
    }
    let x = if matches!(regs.rm, ResolvedRm::Reg(_)) { 0 } else { x };
    // Without a REX prefix, byte registers 4 to 7 are AH, CH, DH and BH. The prefix selects SPL, BPL, SIL and DIL.
    let bytes = opcode.has(BYTE_REG) && regs.reg >= 4 || opcode.has(BYTE_RM) && matches!(regs.rm, ResolvedRm::Reg(4..));
    let rex = u8::from(inst.wide && opcode.has_wide()) << 3 | r << 2 | x << 1 | b;
    if rex != 0 || bytes {
        out.push(0x40 | rex);
    }
    match opcode.map {
        1 => out.push(0x0F),
        2 => out.extend([0x0F, 0x38]),
        3 => out.extend([0x0F, 0x3A]),
        _ => {}
    }
}

fn vex_prefix(out: &mut Vec<u8>, inst: &X86Inst, regs: &Resolved) {
    let opcode = &inst.opcode;
    let (x, b) = high(regs.rm);
    let x = if matches!(regs.rm, ResolvedRm::Reg(_)) { 0 } else { x };
    let wide = inst.wide && opcode.has_wide();
    let low = (!regs.vvvv & 15) << 3 | inst.len << 2 | opcode.pp;
    let r = (regs.reg >> 3 & 1 ^ 1) << 7;
    if x == 0 && b == 0 && !wide && opcode.map == 1 {
        out.extend([0xC5, r | low]);
    } else {
        out.extend([0xC4, r | (x ^ 1) << 6 | (b ^ 1) << 5 | opcode.map, u8::from(wide) << 7 | low]);
    }
}

fn evex_prefix(out: &mut Vec<u8>, inst: &X86Inst, regs: &Resolved) {
    let opcode = &inst.opcode;
    let (x, b) = high(regs.rm);
    // The prefix bit V' is bit 4 of a vector index, or of the VEX register operand.
    let fifth = match regs.rm {
        ResolvedRm::Mem { index: Some((index, _)), .. } if index >= 16 => 1,
        _ => regs.vvvv >> 4 & 1,
    };
    let (r, r_high) = (regs.reg >> 3 & 1, regs.reg >> 4 & 1);
    out.extend([
        0x62,
        (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (r_high ^ 1) << 4 | opcode.map,
        u8::from(inst.wide) << 7 | (!regs.vvvv & 15) << 3 | 4 | opcode.pp,
        u8::from(inst.zeroing) << 7 | inst.len << 5 | u8::from(inst.broadcast) << 4 | (fifth ^ 1) << 3 | regs.mask,
    ]);
}

fn modrm(out: &mut Vec<u8>, reg: u8, rm: ResolvedRm, unit: i32) {
    let reg = reg << 3;
    let (base, index, disp) = match rm {
        ResolvedRm::Reg(number) => return out.push(0xC0 | reg | (number & 7)),
        ResolvedRm::Mem { base, index, disp } => (base, index, disp),
        ResolvedRm::Pool(_) => (None, None, 0),
    };
    let scaled = index.map(|(index, scale)| (scale.trailing_zeros() as u8) << 6 | (index & 7) << 3);
    let Some(base) = base else {
        out.extend([reg | 4, scaled.unwrap_or(0x20) | 5]);
        return out.extend(disp.to_le_bytes());
    };
    let small = (disp % unit == 0).then(|| i8::try_from(disp / unit).ok()).flatten();
    let mode = match small {
        Some(0) if base & 7 != 5 => 0,
        Some(_) => 0x40,
        None => 0x80,
    };
    match scaled {
        None if base & 7 != 4 => out.push(mode | reg | (base & 7)),
        scaled => out.extend([mode | reg | 4, scaled.unwrap_or(0x20) | (base & 7)]),
    }
    match (mode, small) {
        (0x40, Some(small)) => out.push(small as u8),
        (0x80, _) => out.extend(disp.to_le_bytes()),
        _ => {}
    }
}
