//! Functions of machine instructions with virtual registers, the input of the register allocator.
//!
//! Instructions, operands and blocks are in flat lists, in the order of the code. [`FunctionBuilder`] appends to these
//! lists. A label refers to a block that may not exist yet.

use regalloc2::{Block, Function, Inst, InstRange, Operand, OperandConstraint, OperandKind, PReg, PRegSet, RegClass, VReg};
use smallvec::SmallVec;

use crate::vir::SourceLoc;

/// A machine instruction with virtual registers.
pub(crate) trait MachineInst: Copy {
    /// Whether the instruction ends a block without successors: a return or a trap.
    fn is_return(&self) -> bool;
    /// Whether the instruction ends a block that has successors.
    fn is_branch(&self) -> bool;
    /// Returns the registers that the instruction overwrites in addition to its operands. `defines` is true if an
    /// operand is a def.
    fn clobbers(&self, defines: bool) -> PRegSet;
}

/// A basic block.
#[derive(Debug, Default)]
pub(crate) struct MBlock {
    /// The index after the last instruction. The block starts at the end of the previous block.
    pub(crate) end: usize,
    pub(crate) params: Vec<VReg>,
    /// Whether the block is executed rarely. Its code follows that of all other blocks.
    pub(crate) cold: bool,
    pub(crate) succs: Vec<Block>,
    pub(crate) preds: Vec<Block>,
    /// The arguments for the parameters of the only successor.
    pub(crate) args: Vec<VReg>,
}

/// A function of machine instructions.
#[derive(Debug)]
pub(crate) struct MFunction<I> {
    pub(crate) insts: Vec<I>,
    /// The source position of each instruction.
    pub(crate) sources: Vec<SourceLoc>,
    /// The end of each instruction's operands, in `operands`.
    ends: Vec<u32>,
    operands: Vec<Operand>,
    pub(crate) blocks: Vec<MBlock>,
    vregs: usize,
    /// Size of the largest vector in bytes, at least 16. Spilled vectors take this size.
    pub(crate) vector_bytes: u32,
}

/// The parts of a function other than its instructions.
#[derive(Debug)]
pub(crate) struct FunctionParts {
    pub(crate) blocks: Vec<MBlock>,
    pub(crate) vregs: usize,
    pub(crate) vector_bytes: u32,
}

impl<I> MFunction<I> {
    pub(crate) fn into_parts(self) -> FunctionParts {
        FunctionParts { blocks: self.blocks, vregs: self.vregs, vector_bytes: self.vector_bytes }
    }

    /// Creates a function with these instructions, in the order of the code.
    pub(crate) fn from_parts(parts: FunctionParts, list: Vec<(I, SmallVec<[Operand; 6]>, SourceLoc)>) -> Self {
        let FunctionParts { blocks, vregs, vector_bytes } = parts;
        let mut this = Self { insts: Vec::new(), sources: Vec::new(), ends: Vec::new(), operands: Vec::new(), blocks, vregs, vector_bytes };
        for (inst, operands, source) in list {
            this.insts.push(inst);
            this.sources.push(source);
            this.operands.extend_from_slice(&operands);
            this.ends.push(this.operands.len() as u32);
        }
        this
    }

    /// Returns the source position of the first instruction of a block.
    pub(crate) fn source_of_block(&self, block: Block) -> SourceLoc {
        self.sources.get(self.first(block.index())).copied().unwrap_or_default()
    }

    /// Removes the limits of register numbers from all operands. Returns the lowest limit of each register class.
    pub(crate) fn remove_limits(&mut self) -> [usize; 3] {
        let mut limits = [usize::MAX; 3];
        for operand in &mut self.operands {
            if let OperandConstraint::Limit(limit) = operand.constraint() {
                let lowest = &mut limits[operand.class() as usize];
                *lowest = limit.min(*lowest);
                *operand = Operand::new(operand.vreg(), OperandConstraint::Reg, operand.kind(), operand.pos());
            }
        }
        limits
    }

    fn first(&self, block: usize) -> usize {
        if block == 0 { 0 } else { self.blocks[block - 1].end }
    }
}

impl<I: MachineInst> Function for MFunction<I> {
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
        self.insts[insn.index()].is_return()
    }

    fn is_branch(&self, insn: Inst) -> bool {
        self.insts[insn.index()].is_branch()
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
        let defines = || self.inst_operands(insn).iter().any(|operand| operand.kind() == OperandKind::Def);
        self.insts[insn.index()].clobbers(defines())
    }

    fn num_vregs(&self) -> usize {
        self.vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == RegClass::Float { self.vector_bytes as usize / 8 } else { 1 }
    }
}

/// A block that may not exist yet.
pub(crate) type Label = usize;

/// Appends instructions and blocks to a function.
#[derive(Debug)]
pub(crate) struct FunctionBuilder<I> {
    pub(crate) function: MFunction<I>,
    /// The block of each label.
    labels: Vec<usize>,
    /// Whether new blocks are cold.
    pub(crate) cold: bool,
    /// The source position of new instructions.
    pub(crate) source: SourceLoc,
}

impl<I: MachineInst> FunctionBuilder<I> {
    /// Creates an empty function with `labels` labels, numbered from 0.
    pub(crate) fn new(labels: usize) -> Self {
        let parts = FunctionParts { blocks: Vec::new(), vregs: 0, vector_bytes: 16 };
        let function = MFunction::from_parts(parts, Vec::new());
        Self { function, labels: vec![usize::MAX; labels], cold: false, source: SourceLoc::default() }
    }

    pub(crate) fn new_reg(&mut self, class: RegClass) -> VReg {
        self.function.vregs += 1;
        VReg::new(self.function.vregs - 1, class)
    }

    /// Returns a number that identifies the block to which instructions are added. This number is not the index of the
    /// block.
    pub(crate) fn current_block(&self) -> usize {
        self.function.blocks.len()
    }

    /// Returns the last instruction of the current block with its operands, or `None` if the block is empty.
    pub(crate) fn last_of_block(&self) -> Option<(&I, &[Operand])> {
        let Self { function, .. } = self;
        let start = function.blocks.len().checked_sub(2).map_or(0, |previous| function.blocks[previous].end);
        let last = function.insts.len().checked_sub(1).filter(|last| *last >= start)?;
        Some((&function.insts[last], function.inst_operands(Inst::new(last))))
    }

    pub(crate) fn add(&mut self, inst: I, operands: &[Operand]) {
        self.function.insts.push(inst);
        self.function.sources.push(self.source);
        self.function.operands.extend_from_slice(operands);
        self.function.ends.push(self.function.operands.len() as u32);
    }

    /// Adds a call. `address` is the operand of an indirect call. `places` are the registers of arguments, in order.
    /// Returns the register of the result, which has no definition if `result` is `None`.
    pub(crate) fn add_call(&mut self, inst: I, address: Option<VReg>, args: &[VReg], places: &[PReg], result: Option<PReg>) -> VReg {
        let mut operands: Vec<Operand> = address.map(Operand::reg_use).into_iter().collect();
        operands.extend(args.iter().zip(places).map(|(arg, place)| Operand::reg_fixed_use(*arg, *place)));
        let to = self.new_reg(RegClass::Int);
        operands.extend(result.map(|place| Operand::reg_fixed_def(to, place)));
        self.add(inst, &operands);
        to
    }

    /// Returns a label for a block that starts later.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    /// Starts the block of a label.
    pub(crate) fn start_block(&mut self, label: Label, params: &[VReg]) {
        self.labels[label] = self.function.blocks.len();
        self.function.blocks.push(MBlock { params: params.to_vec(), cold: self.cold, ..MBlock::default() });
    }

    /// Ends the current block, whose last instruction has been added. The successors are labels.
    pub(crate) fn close_block(&mut self, succs: &[Label], args: &[VReg]) {
        let end = self.function.insts.len();
        if let Some(block) = self.function.blocks.last_mut() {
            block.end = end;
            block.succs = succs.iter().map(|label| Block::new(*label)).collect();
            block.args = args.to_vec();
        }
    }

    /// Replaces the labels of successors by blocks, and computes the predecessors.
    pub(crate) fn connect(&mut self) {
        for index in 0..self.function.blocks.len() {
            for place in 0..self.function.blocks[index].succs.len() {
                let to = self.labels[self.function.blocks[index].succs[place].index()];
                self.function.blocks[index].succs[place] = Block::new(to);
                self.function.blocks[to].preds.push(Block::new(index));
            }
        }
    }
}
