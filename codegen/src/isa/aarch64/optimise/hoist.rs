//! Loop-invariant code motion. Inner loops are processed before outer loops. An instruction leaves a loop only if a
//! register is free in the whole loop.

use regalloc2::VReg;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::inst::MachInst;
use super::properties::{Inst, Key, MAX_LIVE_REGISTERS, identity, plain_uses};
use crate::mach::edit::{Edit, Loop, class_index};
use crate::vir::dominators::Dominators;

/// Moves invariant instructions out of loops.
pub(super) fn hoist(edit: &mut Edit<MachInst>) {
    let (plain, dominators) = (plain_uses(edit), edit.dominators());
    for nest in edit.loops(&dominators) {
        let Some(before) = preheader(edit, nest, &dominators) else { continue };
        let calls = |inst: &Inst| matches!(inst.inst, MachInst::Call(_) | MachInst::CallAddress);
        if edit.blocks[nest.header..=nest.latch].iter().any(|block| block.insts.iter().any(calls)) {
            continue;
        }
        hoist_from(edit, &order(nest, &dominators), nest, before, &plain);
    }
}

/// Returns the only predecessor of the header outside of the loop, if this predecessor has no other successor.
/// Otherwise returns `None`.
fn preheader(edit: &Edit<MachInst>, nest: Loop, dominators: &Dominators) -> Option<usize> {
    let preds = edit.blocks[nest.header].block.preds.iter().map(|pred| pred.index());
    let mut outside = preds.filter(|pred| !dominators.dominates(nest.header as u32, *pred as u32));
    let first = outside.next()?;
    (outside.next().is_none() && edit.blocks[first].block.succs.len() == 1).then_some(first)
}

/// Returns the blocks of a loop: first those that every iteration executes, then those that some iterations skip.
fn order(nest: Loop, dominators: &Dominators) -> Vec<usize> {
    let (header, latch) = (nest.header as u32, nest.latch as u32);
    let to_header = std::iter::successors(Some(latch), |block| dominators.idom(*block).filter(|_| *block != header));
    let mut blocks: Vec<u32> = to_header.collect();
    blocks.reverse();
    let rest = (header..=latch).filter(|block| dominators.dominates(header, *block) && !blocks.contains(block));
    let rest: Vec<u32> = rest.collect();
    blocks.into_iter().chain(rest).map(|block| block as usize).collect()
}

fn hoist_from(edit: &mut Edit<MachInst>, order: &[usize], nest: Loop, before: usize, plain: &[bool]) {
    let pressure = edit.pressure();
    let mut free = [0, 1, 2].map(|class| {
        let most = pressure[nest.header..=nest.latch].iter().map(|counts| counts[class]).max().unwrap_or(0);
        MAX_LIVE_REGISTERS[class].saturating_sub(most)
    });
    let mut inside = vec![false; edit.vregs];
    for block in &edit.blocks[nest.header..=nest.latch] {
        let defs = block.insts.iter().flat_map(Inst::defs).chain(block.block.params.iter().copied());
        defs.for_each(|reg| inside[reg.vreg()] = true);
    }
    let mut replacements: Vec<Option<VReg>> = vec![None; edit.vregs];
    let mut known: FxHashMap<Key, VReg> = FxHashMap::default();
    let mut moved: Vec<Inst> = Vec::new();
    for &index in order {
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
