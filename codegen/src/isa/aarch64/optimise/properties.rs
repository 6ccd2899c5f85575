//! Properties of machine instructions that the passes share.

use regalloc2::{OperandConstraint, OperandKind, VReg};
use smallvec::SmallVec;

use super::super::inst::{A64Inst, Field, MachInst, Slot};
use crate::mach::edit::{Edit, EditInst};

/// The numbers of live registers up to which a pass may keep another value alive: general, vector and predicate
/// registers. The remaining registers are for copies of overwritten operands.
pub(super) const MAX_LIVE_REGISTERS: [u32; 3] = [23, 27, 12];

pub(super) type Inst = EditInst<MachInst>;

/// The operation of an instruction without its registers. The fields are the word with its immediates, the pool index
/// of a constant, and the registers that are not operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    word: u32,
    wide: bool,
    pool: Option<u32>,
    regs: [Slot; 4],
}

/// An operation and its operands.
pub(super) type Key = (Identity, SmallVec<[VReg; 4]>);

/// Returns the identity of an instruction whose result depends only on its operands. Returns `None` if the instruction
/// accesses flags or memory (except for constants of the pool), or has fixed registers.
pub(super) fn identity(inst: &Inst) -> Option<Identity> {
    let MachInst::Op(A64Inst { opcode, wide, regs, bits, pool, .. }) = inst.inst else { return None };
    let pure = pool.is_some() || is_pure(opcode.name);
    let free = |constraint| matches!(constraint, OperandConstraint::Reg | OperandConstraint::Limit(_) | OperandConstraint::Reuse(_));
    let movable = pure && inst.defs().count() == 1 && inst.operands.iter().all(|operand| free(operand.constraint()));
    movable.then_some(Identity { word: opcode.word | bits, wide, pool, regs })
}

/// Whether the instructions with a mnemonic access memory.
pub(super) fn is_memory(name: &str) -> bool {
    ["ld", "st", "prf", "cas", "swp"].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether the instructions with a mnemonic access neither memory nor flags nor system registers. Comparisons of SVE
/// write the flags, but no instruction reads them there, so they are pure.
fn is_pure(name: &str) -> bool {
    const OTHERS: [&str; 18] = [
        "cmp", "cmn", "fcmp", "csel", "fcsel", "cset", "dmb", "mrs", "adr", "blr", "ret", "brk", "ptest", "nots", "ands", "bics", "eors",
        "orrs",
    ];
    !is_memory(name) && !OTHERS.contains(&name)
}

/// Returns for each register whether it has a use that does not overwrite it. Other uses do not count: a copy for an
/// instruction that overwrites it, or for a block parameter, takes as long as loading a constant again.
pub(super) fn plain_uses(edit: &Edit<MachInst>) -> Vec<bool> {
    let mut plain = vec![false; edit.vregs];
    for inst in edit.blocks.iter().flat_map(|block| &block.insts) {
        let overwritten = inst.operands.iter().find_map(|operand| match operand.constraint() {
            OperandConstraint::Reuse(index) => Some(index),
            _ => None,
        });
        for (index, operand) in inst.operands.iter().enumerate() {
            plain[operand.vreg().vreg()] |= operand.kind() == OperandKind::Use && overwritten != Some(index);
        }
    }
    plain
}

/// Returns the virtual register of a field, or `None` if the field is not an operand.
pub(super) fn source(inst: &Inst, field: Field) -> Option<VReg> {
    match &inst.inst {
        MachInst::Op(A64Inst { regs, .. }) => match regs[field as usize] {
            Slot::Op(index) => Some(inst.operands[usize::from(index)].vreg()),
            Slot::None | Slot::Phys(_) => None,
        },
        _ => None,
    }
}
