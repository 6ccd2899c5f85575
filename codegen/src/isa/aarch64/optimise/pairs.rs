//! Pairs of loads and stores: `ldp` and `stp` access two registers at neighbouring addresses.
//!
//! The second load moves up to the first one, and the first store moves down to the second one. Between the two stores
//! of a pair, the only permitted memory accesses are loads of constants. Between two loads, loads of other locations at
//! the same base register are also permitted. Loads of the same location stay in order.

use regalloc2::VReg;

use super::super::inst::{A64Inst, Field, InstBuilder, MachInst, Opcode, Slot};
use super::super::table::{self as t, Access};
use super::properties::{Inst, is_memory, source};
use crate::mach::edit::{Edit, EditInst};

/// The largest distance between the two accesses of a pair, in instructions.
const DISTANCE: usize = 24;

/// The accesses that have a form for pairs, the opcode for a pair, and whether the accesses are loads.
const PAIRS: [(Access, Opcode, bool); 10] = [
    (t::LOAD_Q, t::LOAD_PAIR_Q, true),
    (t::LOAD_D, t::LOAD_PAIR_D, true),
    (t::LOAD_S, t::LOAD_PAIR_S, true),
    (t::LOAD_X, t::LOAD_PAIR_X, true),
    (t::LOAD_W, t::LOAD_PAIR_W, true),
    (t::STORE_Q, t::STORE_PAIR_Q, false),
    (t::STORE_D, t::STORE_PAIR_D, false),
    (t::STORE_S, t::STORE_PAIR_S, false),
    (t::STORE_X, t::STORE_PAIR_X, false),
    (t::STORE_W, t::STORE_PAIR_W, false),
];

/// An access to one register at a base and a displacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Single {
    /// The index in [`PAIRS`].
    kind: usize,
    base: VReg,
    disp: i64,
}

/// Returns the access and the terms (base, index, shift) of an instruction whose address has an index.
pub(super) fn indexed(inst: &Inst) -> Option<(Access, (VReg, VReg, i64))> {
    let MachInst::Op(A64Inst { opcode, imms, .. }) = &inst.inst else { return None };
    let (access, ..) = PAIRS.into_iter().find(|(access, ..)| access.indexed == *opcode)?;
    Some((access, (source(inst, Field::N)?, source(inst, Field::M)?, imms[0])))
}

fn single(inst: &Inst) -> Option<Single> {
    let MachInst::Op(A64Inst { opcode, imms, .. }) = &inst.inst else { return None };
    let kind = PAIRS.iter().position(|(access, ..)| access.scaled == *opcode || access.unscaled == *opcode)?;
    Some(Single { kind, base: source(inst, Field::N)?, disp: imms[0] })
}

/// Whether an instruction accesses memory, other than constants, or can order accesses.
fn accesses_memory(inst: &Inst) -> bool {
    match &inst.inst {
        MachInst::Op(A64Inst { opcode, pool, .. }) => pool.is_none() && (is_memory(opcode.name) || ["dmb", "blr"].contains(&opcode.name)),
        MachInst::Exclusive(..) | MachInst::Call(_) | MachInst::CallAddress => true,
        MachInst::Defines | MachInst::Jump | MachInst::Branch(_) | MachInst::Return | MachInst::Trap => false,
    }
}

/// Replaces pairs of accesses.
pub(super) fn pair(edit: &mut Edit<MachInst>) {
    for block in &mut edit.blocks {
        let mut at = 0;
        while at < block.insts.len() {
            if let Some((first, second)) = single(&block.insts[at]).and_then(|first| Some((first, partner(&block.insts, at, first)?))) {
                let load = PAIRS[first.kind].2;
                let pair = joined(&block.insts[at], &block.insts[second.0], first, second.1);
                block.insts[if load { at } else { second.0 }] = pair;
                block.insts.remove(if load { second.0 } else { at });
                at += usize::from(load);
            } else {
                at += 1;
            }
        }
    }
}

/// Returns the index of the access that forms a pair with the access at `at`, and this access.
fn partner(insts: &[Inst], at: usize, first: Single) -> Option<(usize, Single)> {
    let (access, _, load) = PAIRS[first.kind];
    let size = 1 << access.log2;
    for (place, inst) in insts.iter().enumerate().skip(at + 1).take(DISTANCE) {
        let Some(second) = single(inst) else {
            if accesses_memory(inst) {
                return None;
            }
            continue;
        };
        let low = first.disp.min(second.disp);
        let neighbours = second.kind == first.kind && second.base == first.base && first.disp.abs_diff(second.disp) == size;
        if neighbours && low % size.cast_signed() == 0 && (-64..64).contains(&(low >> access.log2)) {
            return Some((place, second));
        }
        // Only loads of other locations at the same base may be in between.
        let (other, _, other_load) = PAIRS[second.kind];
        let apart = second.disp.abs_diff(first.disp) >= size.max(1 << other.log2);
        if !load || !other_load || second.base != first.base || !apart {
            return None;
        }
    }
    None
}

/// Returns the instruction that makes both accesses of a pair.
fn joined(one: &Inst, other: &Inst, first: Single, second: Single) -> Inst {
    let (access, opcode, load) = PAIRS[first.kind];
    let (low, high) = if first.disp < second.disp { (one, other) } else { (other, one) };
    let disp = first.disp.min(second.disp);
    let scaled = (disp >> access.log2).cast_unsigned() as u32 & 0x7F;
    let mut builder = InstBuilder::new(opcode).n(first.base).imm(scaled << 15, disp);
    for (inst, field) in [(low, Field::D), (high, Field::A)] {
        let MachInst::Op(A64Inst { regs, .. }) = &inst.inst else { continue };
        builder = match (regs[Field::D as usize], source(inst, Field::D)) {
            (Slot::Phys(number), _) => builder.phys(field, number),
            (_, Some(reg)) if load => builder.def_at(field, reg),
            (_, Some(reg)) if field == Field::D => builder.d(reg),
            (_, Some(reg)) => builder.a(reg),
            (_, None) => builder,
        };
    }
    EditInst { inst: MachInst::Op(builder.inst), operands: builder.operands, source: one.source }
}
