//! Registers: what the register allocator reads of a function, and how it is called.

use regalloc2::{Algorithm, Block, Function, Inst, InstRange, MachineEnv, Operand, Output, PReg, PRegSet, RegClass, RegallocOptions, VReg};

use super::CodegenError;
use super::inst::MachInst;
use crate::Isa;

/// General registers.
pub(super) const INT: RegClass = RegClass::Int;
/// Vectors, and floats in their low lanes.
pub(super) const VEC: RegClass = RegClass::Float;
/// Registers for masks.
pub(super) const MASK: RegClass = RegClass::Vector;

/// A general register by its number.
pub(super) const fn gpr(number: usize) -> PReg {
    PReg::new(number, INT)
}

pub(super) const RAX: PReg = gpr(0);
pub(super) const RCX: PReg = gpr(1);
pub(super) const RDX: PReg = gpr(2);
/// Where parameters are.
pub(super) const ARGS: [PReg; 6] = [gpr(7), gpr(6), RDX, RCX, gpr(8), gpr(9)];
/// What a called function gives back as it was: rbx, r12 to r15 (rbp is the frame pointer).
pub(super) const SAVED: [u8; 5] = [3, 12, 13, 14, 15];
const UNSAVED: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// Above this many instructions the quick allocator is used: the good one takes more than linear time.
const MANY: usize = 20_000;

/// Above this many instructions the checker is left out, which takes quadratic time.
#[cfg(debug_assertions)]
const CHECKED: usize = 8_000;

/// A block of instructions of the machine.
#[derive(Debug, Default)]
pub(super) struct MBlock {
    /// One behind its last instruction; it starts where the one before ends.
    pub(super) end: usize,
    pub(super) params: Vec<VReg>,
    pub(super) succs: Vec<Block>,
    pub(super) preds: Vec<Block>,
    /// What the only successor is given.
    pub(super) args: Vec<VReg>,
}

/// A function of instructions of the machine.
#[derive(Debug, Default)]
pub(super) struct MFunction {
    pub(super) insts: Vec<MachInst>,
    /// Where the operands of each instruction end.
    pub(super) ends: Vec<u32>,
    pub(super) operands: Vec<Operand>,
    pub(super) blocks: Vec<MBlock>,
    pub(super) vregs: usize,
    /// Bytes of the largest vector, 16 at least.
    pub(super) vector: u32,
    /// Whether it uses the upper halves of vector registers.
    pub(super) uppers: bool,
}

impl MFunction {
    fn first(&self, block: usize) -> usize {
        if block == 0 { 0 } else { self.blocks[block - 1].end }
    }
}

/// What a call leaves of no register that the caller may use, but for the result.
fn clobbers(result: bool) -> PRegSet {
    let mut set = PRegSet::empty();
    UNSAVED.iter().filter(|number| !result || **number != 0).for_each(|number| set.add(gpr(*number)));
    (0..32).for_each(|number| set.add(PReg::new(number, VEC)));
    (1..8).for_each(|number| set.add(PReg::new(number, MASK)));
    set
}

impl Function for MFunction {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        InstRange::new(Inst::new(self.first(block.index())), Inst::new(self.blocks[block.index()].end))
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.blocks[block.index()].succs
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.blocks[block.index()].preds
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.blocks[block.index()].params
    }

    fn is_ret(&self, insn: Inst) -> bool {
        matches!(self.insts[insn.index()], MachInst::Return | MachInst::Trap)
    }

    fn is_branch(&self, insn: Inst) -> bool {
        matches!(self.insts[insn.index()], MachInst::Jump | MachInst::Branch(_))
    }

    fn branch_blockparams(&self, block: Block, _: Inst, _: usize) -> &[VReg] {
        &self.blocks[block.index()].args
    }

    fn inst_operands(&self, insn: Inst) -> &[Operand] {
        let index = insn.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.operands[start as usize..self.ends[index] as usize]
    }

    fn inst_clobbers(&self, insn: Inst) -> PRegSet {
        match self.insts[insn.index()] {
            MachInst::Call(_) | MachInst::CallAddress => {
                clobbers(self.inst_operands(insn).iter().any(|operand| operand.kind() == regalloc2::OperandKind::Def))
            }
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == VEC { self.vector as usize / 8 } else { 1 }
    }
}

fn environment(isa: Isa) -> MachineEnv {
    let mut preferred = [PRegSet::empty(); 3];
    let mut others = [PRegSet::empty(); 3];
    UNSAVED.iter().for_each(|number| preferred[0].add(gpr(*number)));
    SAVED.iter().for_each(|number| others[0].add(gpr(usize::from(*number))));
    // Those above 15 need the longer encoding.
    (0..16).for_each(|number| preferred[1].add(PReg::new(number, VEC)));
    if isa == Isa::Avx512 {
        (16..32).for_each(|number| others[1].add(PReg::new(number, VEC)));
        // Mask 0 means no mask.
        (1..8).for_each(|number| preferred[2].add(PReg::new(number, MASK)));
    }
    MachineEnv {
        preferred_regs_by_class: preferred,
        non_preferred_regs_by_class: others,
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}

/// Finds registers for all values of a function.
pub(super) fn allocate(function: &MFunction, isa: Isa) -> Result<Output, CodegenError> {
    let environment = environment(isa);
    let algorithm = if function.insts.len() > MANY { Algorithm::Fastalloc } else { Algorithm::Ion };
    let options = RegallocOptions { verbose_log: false, validate_ssa: cfg!(debug_assertions), algorithm };
    let output = regalloc2::run(function, &environment, &options)?;
    #[cfg(debug_assertions)]
    if function.insts.len() <= CHECKED {
        let mut checker = regalloc2::checker::Checker::new(function, &environment);
        checker.prepare(&output);
        checker.run().map_err(|errors| CodegenError::Checker(format!("{errors:?}")))?;
    }
    Ok(output)
}
