//! Removal of instructions without uses. Selection can compute a value that its users do not read in the end.

use super::super::inst::MachInst;
use super::properties::identity;
use crate::mach::edit::Edit;

/// Removes instructions whose results are unused. One backward pass is enough: each use follows its definition in the
/// order of the code, except for arguments of loops, which are kept.
pub(super) fn remove(edit: &mut Edit<MachInst>) {
    let mut used = vec![false; edit.vregs];
    for arg in edit.blocks.iter().flat_map(|block| &block.block.args) {
        used[arg.vreg()] = true;
    }
    for block in edit.blocks.iter_mut().rev() {
        let mut kept = Vec::with_capacity(block.insts.len());
        while let Some(inst) = block.insts.pop() {
            if identity(&inst).is_some() && inst.defs().all(|reg| !used[reg.vreg()]) {
                continue;
            }
            inst.uses().for_each(|reg| used[reg.vreg()] = true);
            kept.push(inst);
        }
        kept.reverse();
        block.insts = kept;
    }
}
