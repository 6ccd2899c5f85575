//! Reuse of equal results: an instruction is removed if another instruction with the same operation and operands
//! dominates it.
//!
//! The first result stays in its register for longer, so an instruction is kept if registers are scarce in between.

use regalloc2::VReg;
use rustc_hash::FxHashMap;

use super::super::inst::MachInst;
use super::properties::{Key, MAX_LIVE_REGISTERS, identity, plain_uses};
use crate::mach::edit::{Edit, class_index};

/// Removes instructions whose result is known.
pub(super) fn reuse(edit: &mut Edit<MachInst>) {
    let mut pressure = edit.pressure();
    let dominators = edit.dominators();
    let plain = plain_uses(edit);
    let mut replacements: Vec<Option<VReg>> = vec![None; edit.vregs];
    let mut known: FxHashMap<Key, Vec<(usize, VReg)>> = FxHashMap::default();
    for index in 0..edit.blocks.len() {
        let mut insts = std::mem::take(&mut edit.blocks[index].insts);
        insts.retain(|inst| {
            let (Some(identity), Some(result)) = (identity(inst), inst.defs().next()) else { return true };
            if inst.uses().next().is_none() && !plain[result.vreg()] {
                return true;
            }
            let new = |reg: VReg| replacements[reg.vreg()].unwrap_or(reg);
            let list = known.entry((identity, inst.uses().map(new).collect())).or_default();
            let found = list.iter().rev().find(|(block, _)| dominators.dominates(*block as u32, index as u32));
            if let Some(&(block, before)) = found {
                let class = class_index(result);
                if pressure[block..=index].iter().all(|counts| counts[class] < MAX_LIVE_REGISTERS[class]) {
                    pressure[block..=index].iter_mut().for_each(|counts| counts[class] += 1);
                    replacements[result.vreg()] = Some(before);
                    return false;
                }
            }
            list.push((index, result));
            true
        });
        edit.blocks[index].insts = insts;
    }
    edit.rename(&replacements);
}
