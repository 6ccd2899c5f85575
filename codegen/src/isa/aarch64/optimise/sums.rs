//! Sharing of address sums. A block may compute the sum `base + index` for accesses with other displacements. An access
//! at `base + index` in this block then uses the register of the sum. Then all these accesses have the same base, and
//! can form pairs.

use regalloc2::{Operand, VReg};

use super::super::inst::{A64Inst, Field, InstBuilder, MachInst};
use super::super::table as t;
use super::pairs;
use super::properties::{Inst, source};
use crate::mach::edit::{Edit, EditInst};

/// The terms of a sum: base, index, and the shift of the index.
type Terms = (VReg, VReg, i64);

/// Returns the terms and the result of a 64-bit addition, or `None` for other instructions.
fn sum(inst: &Inst) -> Option<(Terms, VReg)> {
    match &inst.inst {
        MachInst::Op(A64Inst { opcode, wide: true, imms, .. }) if *opcode == t::ADD => {
            Some(((source(inst, Field::N)?, source(inst, Field::M)?, imms[0]), inst.defs().next()?))
        }
        _ => None,
    }
}

/// Replaces indexed accesses in blocks that compute the sum. If the addition is after the access, the addition moves
/// before the access.
pub(super) fn share(edit: &mut Edit<MachInst>) {
    for block in &mut edit.blocks {
        let mut at = 0;
        while at < block.insts.len() {
            at += 1;
            let Some((access, terms)) = pairs::indexed(&block.insts[at - 1]) else { continue };
            let found = block.insts.iter().position(|inst| sum(inst).is_some_and(|(found, _)| found == terms));
            let Some(place) = found else { continue };
            let Some((_, base)) = sum(&block.insts[place]) else { continue };
            block.insts[at - 1] = at_base(&block.insts[at - 1], access.scaled, base);
            if place >= at {
                let addition = block.insts.remove(place);
                block.insts.insert(at - 1, addition);
                at += 1;
            }
        }
    }
}

/// Returns the access at the address in `base`, without an index.
fn at_base(inst: &Inst, opcode: super::super::inst::Opcode, base: VReg) -> Inst {
    let mut builder = InstBuilder::new(opcode).n(base);
    match (inst.defs().next(), source(inst, Field::D)) {
        (Some(to), _) => builder = builder.def(to),
        (None, Some(from)) => builder = builder.d(from),
        (None, None) => {}
    }
    if let MachInst::Op(A64Inst { regs, .. }) = &inst.inst
        && let super::super::inst::Slot::Phys(number) = regs[Field::D as usize]
    {
        builder = builder.phys(Field::D, number);
    }
    let operands: smallvec::SmallVec<[Operand; 6]> = builder.operands;
    EditInst { inst: MachInst::Op(builder.inst), operands, source: inst.source }
}
