//! Tests of predicates: the instruction that computes a predicate can set the flags, which makes its `ptest`
//! unnecessary.

use regalloc2::VReg;

use super::super::inst::{A64Inst, Field, InstBuilder, MachInst};
use super::super::table as t;
use super::properties::{Inst, source};
use crate::mach::edit::{Edit, EditInst};

/// Replaces each test of a predicate by an instruction that computes the predicate and sets the flags. The same block
/// must compute the predicate, and must not use it before the test.
pub(super) fn set(edit: &mut Edit<MachInst>) {
    for block in &mut edit.blocks {
        let mut at = 0;
        while at < block.insts.len() {
            if let Some((place, inst)) = merged(&block.insts[..=at]) {
                block.insts[at] = inst;
                block.insts.remove(place);
            } else {
                at += 1;
            }
        }
    }
}

/// Returns the place of the instruction that computes the operand of the last instruction, a test, and the instruction
/// that replaces both.
fn merged(insts: &[Inst]) -> Option<(usize, Inst)> {
    let (test, before) = insts.split_last()?;
    if !matches!(test.inst, MachInst::Op(A64Inst { opcode: t::PTEST, .. })) {
        return None;
    }
    let (all, mask) = (source(test, Field::A)?, source(test, Field::N)?);
    let place = before.iter().rposition(|inst| inst.operands.iter().any(|operand| operand.vreg() == mask))?;
    let computes = before[place].defs().any(|reg| reg == mask);
    Some((place, setting_flags(&before[place], mask, all)?)).filter(|_| computes)
}

/// Returns the form of an instruction that sets the flags as `ptest` does, or `None` if there is none. The result has
/// no lanes outside of the governing predicate. `all` contains all lanes of the result `to`.
fn setting_flags(inst: &Inst, to: VReg, all: VReg) -> Option<Inst> {
    let MachInst::Op(op) = &inst.inst else { return None };
    let opcode = match op.opcode {
        t::AND_P => t::ANDS_P,
        t::BIC_P => t::BICS_P,
        t::EOR_P => t::EORS_P,
        t::SEL_P if source(inst, Field::A) == source(inst, Field::N) => {
            let operands = (source(inst, Field::N)?, source(inst, Field::M)?);
            let builder = InstBuilder::new(t::ORRS_P).def(to).a(all).n(operands.0).m(operands.1);
            return Some(EditInst { inst: MachInst::Op(builder.inst), operands: builder.operands, source: inst.source });
        }
        // Comparisons of integers always set the flags.
        opcode if opcode.name.starts_with("cmp") && opcode.text.starts_with('G') => opcode,
        _ => return None,
    };
    // Two equal operands have another notation in the decoder.
    let equal = matches!(opcode, t::ANDS_P) && source(inst, Field::N) == source(inst, Field::M);
    (!equal).then(|| EditInst { inst: MachInst::Op(A64Inst { opcode, ..*op }), ..inst.clone() })
}
