//! Loop-invariant code motion. Inner loops come first. An instruction leaves a loop only if a register is free in the
//! whole loop.

use regalloc2::VReg;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::inst::MachInst;
use super::properties::{Identity, Inst, REGISTERS, identity, plain_uses};
use crate::mach::edit::{Edit, Loop, class_index};

/// Moves invariant instructions out of loops.
pub(super) fn hoist(edit: &mut Edit<MachInst>) {
    let plain = plain_uses(edit);
    for nest in edit.loops() {
        let Some(before) = preheader(edit, nest) else { continue };
        let calls = |inst: &Inst| matches!(inst.inst, MachInst::Call(_) | MachInst::CallAddress);
        if edit.blocks[nest.header..=nest.latch].iter().any(|block| block.insts.iter().any(calls)) {
            continue;
        }
        hoist_from(edit, nest, before, &plain);
    }
}

/// The only block before a loop that continues at the loop, if it has no other successor. Otherwise `None`.
fn preheader(edit: &Edit<MachInst>, nest: Loop) -> Option<usize> {
    let mut outside = edit.blocks[nest.header].block.preds.iter().map(|pred| pred.index()).filter(|pred| *pred < nest.header);
    let first = outside.next()?;
    (outside.next().is_none() && edit.blocks[first].block.succs.len() == 1).then_some(first)
}

/// The blocks of a loop: first those of each iteration, then those that some iterations skip.
fn order(edit: &Edit<MachInst>, nest: Loop) -> Vec<usize> {
    let parents = edit.dominators();
    let mut always = vec![nest.latch];
    while let Some(&last) = always.last()
        && last > nest.header
    {
        always.push(parents[last]);
    }
    always.reverse();
    let rest = (nest.header..=nest.latch).filter(|block| !always.contains(block));
    let rest: Vec<usize> = rest.collect();
    always.into_iter().chain(rest).collect()
}

fn hoist_from(edit: &mut Edit<MachInst>, nest: Loop, before: usize, plain: &[bool]) {
    let pressure = edit.pressure();
    let mut free = [0, 1].map(|class| {
        let most = pressure[nest.header..=nest.latch].iter().map(|counts| counts[class]).max().unwrap_or(0);
        REGISTERS[class].saturating_sub(most)
    });
    let mut inside = vec![false; edit.vregs];
    for block in &edit.blocks[nest.header..=nest.latch] {
        let defs = block.insts.iter().flat_map(Inst::defs).chain(block.block.params.iter().copied());
        defs.for_each(|reg| inside[reg.vreg()] = true);
    }
    let mut replacements: Vec<Option<VReg>> = vec![None; edit.vregs];
    let mut known: FxHashMap<(Identity, SmallVec<[VReg; 4]>), VReg> = FxHashMap::default();
    let mut moved: Vec<Inst> = Vec::new();
    for index in order(edit, nest) {
        let mut insts = std::mem::take(&mut edit.blocks[index].insts);
        insts.retain(|inst| {
            let (Some(identity), Some(result)) = (identity(inst), inst.defs().next()) else { return true };
            let new = |reg: VReg| replacements[reg.vreg()].unwrap_or(reg);
            let uses: SmallVec<[VReg; 4]> = inst.uses().map(new).collect();
            if uses.is_empty() && !plain[result.vreg()] || uses.iter().any(|reg| inside[reg.vreg()]) {
                return true;
            }
            if let Some(before) = known.get(&(identity, uses.clone())) {
                replacements[result.vreg()] = Some(*before);
                return false;
            }
            let class = class_index(result);
            if free[class] == 0 {
                return true;
            }
            free[class] -= 1;
            inside[result.vreg()] = false;
            known.insert((identity, uses), result);
            moved.push(inst.clone());
            false
        });
        edit.blocks[index].insts = insts;
    }
    let list = &mut edit.blocks[before].insts;
    let end = list.len().saturating_sub(1);
    list.splice(end..end, moved);
    edit.rename(&replacements);
}
