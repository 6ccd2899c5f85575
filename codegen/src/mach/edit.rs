//! Functions of machine instructions as lists of blocks, for passes between instruction selection and register
//! allocation.

use regalloc2::{Function, Inst, Operand, OperandKind, RegClass, VReg};
use smallvec::SmallVec;

use super::function::{FunctionParts, MBlock, MFunction, MachineInst};
use crate::vir::SourceLoc;
use crate::vir::dominators::Dominators;

/// A machine instruction with its operands.
#[derive(Clone, Debug)]
pub(crate) struct EditInst<I> {
    pub(crate) inst: I,
    pub(crate) operands: SmallVec<[Operand; 6]>,
    pub(crate) source: SourceLoc,
}

impl<I> EditInst<I> {
    pub(crate) fn uses(&self) -> impl Iterator<Item = VReg> {
        self.operands.iter().filter(|operand| operand.kind() == OperandKind::Use).map(|operand| operand.vreg())
    }

    pub(crate) fn defs(&self) -> impl Iterator<Item = VReg> {
        self.operands.iter().filter(|operand| operand.kind() == OperandKind::Def).map(|operand| operand.vreg())
    }
}

/// A block with its instructions. [`MBlock::end`] is not valid until [`Edit::finish`].
#[derive(Debug)]
pub(crate) struct EditBlock<I> {
    pub(crate) block: MBlock,
    pub(crate) insts: Vec<EditInst<I>>,
}

/// A loop: the blocks from `header` to `latch`, the last block that jumps to the header. The loops of a function are
/// contiguous and nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) header: usize,
    pub(crate) latch: usize,
}

/// A function whose instructions can be moved, replaced and removed.
#[derive(Debug)]
pub(crate) struct Edit<I> {
    pub(crate) blocks: Vec<EditBlock<I>>,
    pub(crate) vregs: usize,
    vector_bytes: u32,
}

impl<I: MachineInst> Edit<I> {
    pub(crate) fn new(function: MFunction<I>) -> Self {
        let mut start = 0;
        let lists: Vec<Vec<EditInst<I>>> = function
            .blocks
            .iter()
            .map(|block| {
                let list = (start..block.end).map(|index| EditInst {
                    inst: function.insts[index],
                    operands: SmallVec::from_slice(function.inst_operands(Inst::new(index))),
                    source: function.sources[index],
                });
                start = block.end;
                list.collect()
            })
            .collect();
        let FunctionParts { blocks, vregs, vector_bytes } = function.into_parts();
        let blocks = blocks.into_iter().zip(lists).map(|(block, insts)| EditBlock { block, insts }).collect();
        Self { blocks, vregs, vector_bytes }
    }

    pub(crate) fn finish(self) -> MFunction<I> {
        let mut blocks = Vec::with_capacity(self.blocks.len());
        let mut insts = Vec::new();
        for EditBlock { mut block, insts: list } in self.blocks {
            insts.extend(list.into_iter().map(|EditInst { inst, operands, source }| (inst, operands, source)));
            block.end = insts.len();
            blocks.push(block);
        }
        MFunction::from_parts(FunctionParts { blocks, vregs: self.vregs, vector_bytes: self.vector_bytes }, insts)
    }

    /// Replaces registers in uses and in the arguments of jumps. A replacement must not have a replacement itself.
    pub(crate) fn rename(&mut self, replacements: &[Option<VReg>]) {
        let new = |reg: VReg| replacements.get(reg.vreg()).copied().flatten().unwrap_or(reg);
        for EditBlock { block, insts } in &mut self.blocks {
            for operand in insts.iter_mut().flat_map(|inst| &mut inst.operands) {
                if operand.kind() == OperandKind::Use {
                    *operand = Operand::new(new(operand.vreg()), operand.constraint(), operand.kind(), operand.pos());
                }
            }
            block.args.iter_mut().for_each(|arg| *arg = new(*arg));
        }
    }

    /// Returns the natural loops of the function, inner loops before outer ones.
    pub(crate) fn loops(&self, dominators: &Dominators) -> Vec<Loop> {
        let mut loops: Vec<Loop> = Vec::new();
        for (latch, EditBlock { block, .. }) in self.blocks.iter().enumerate() {
            let headers = block.succs.iter().map(|succ| succ.index());
            for header in headers.filter(|header| dominators.dominates(*header as u32, latch as u32)) {
                match loops.iter_mut().find(|known| known.header == header) {
                    Some(known) => known.latch = latch,
                    None => loops.push(Loop { header, latch }),
                }
            }
        }
        loops.sort_by_key(|Loop { header, latch }| (latch - header, *header));
        loops
    }

    pub(crate) fn dominators(&self) -> Dominators {
        Dominators::of_graph(self.blocks.len(), |block| self.blocks[block].block.succs.iter().map(|succ| succ.index()))
    }

    /// Returns the registers that are live at the end of each block, as sets of bits.
    fn live_out(&self) -> Vec<Vec<u64>> {
        let words = self.vregs.div_ceil(64);
        let mut live_in = vec![vec![0_u64; words]; self.blocks.len()];
        let mut live_out = live_in.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for (index, EditBlock { block, insts }) in self.blocks.iter().enumerate().rev() {
                let mut live = vec![0_u64; words];
                for succ in &block.succs {
                    live.iter_mut().zip(&live_in[succ.index()]).for_each(|(word, other)| *word |= other);
                }
                for arg in &block.args {
                    set(&mut live, *arg, true);
                }
                live_out[index].clone_from(&live);
                for inst in insts.iter().rev() {
                    let regs = inst.defs().map(|reg| (reg, false)).chain(inst.uses().map(|reg| (reg, true)));
                    for (reg, used) in regs {
                        set(&mut live, reg, used);
                    }
                }
                for param in &block.params {
                    set(&mut live, *param, false);
                }
                changed |= live != live_in[index];
                live_in[index] = live;
            }
        }
        live_out
    }

    /// Returns the largest numbers of live registers of each class in each block. See [`class_index`].
    pub(crate) fn pressure(&self) -> Vec<[u32; 3]> {
        let mut classes = vec![0; self.vregs];
        let regs =
            self.blocks.iter().flat_map(|block| block.insts.iter().flat_map(EditInst::defs).chain(block.block.params.iter().copied()));
        regs.for_each(|reg| classes[reg.vreg()] = class_index(reg));
        let live_out = self.live_out();
        let most = |(EditBlock { insts, .. }, mut live): (&EditBlock<I>, Vec<u64>)| {
            let mut counts = [0_u32; 3];
            for (word, bits) in live.iter().enumerate() {
                (0..64).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| counts[classes[word * 64 + bit]] += 1);
            }
            let mut most = counts;
            for inst in insts.iter().rev() {
                for reg in inst.defs() {
                    counts[class_index(reg)] -= u32::from(set(&mut live, reg, false));
                }
                for reg in inst.uses() {
                    counts[class_index(reg)] += u32::from(!set(&mut live, reg, true));
                }
                most = [0, 1, 2].map(|class| most[class].max(counts[class]));
            }
            most
        };
        self.blocks.iter().zip(live_out).map(most).collect()
    }
}

/// Returns the index of a register's class in the result of [`Edit::pressure`].
pub(crate) fn class_index(reg: VReg) -> usize {
    match reg.class() {
        RegClass::Int => 0,
        RegClass::Float => 1,
        RegClass::Vector => 2,
    }
}

/// Adds a register to a set if `value` is true, otherwise removes it. Returns whether the set contained the register.
fn set(set: &mut [u64], reg: VReg, value: bool) -> bool {
    let (word, bit) = (&mut set[reg.vreg() / 64], 1 << (reg.vreg() % 64));
    let was = *word & bit != 0;
    *word = if value { *word | bit } else { *word & !bit };
    was
}
