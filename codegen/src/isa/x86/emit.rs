//! Emits the bytes of a function: prologue, instructions, moves of the register allocator, and branches.

use regalloc2::{Allocation, Block, Edit, Function, InstOrEdit, Output, RegClass};
use smallvec::SmallVec;

use super::encode::{encode, resolve};
use super::frame::Frame;
use super::inst::{Cc, InstBuilder, MachInst, Rm, Slot, X86Inst};
use super::jumps::Jump;
use super::regs::{MASK, RSP};
use super::spilled::Spilled;
use super::table as t;
use crate::mach::code::CodegenError;
use crate::mach::function::MFunction;
use crate::mach::layout::{BlockCode, BlockEnd, lay_out};
use crate::mach::link::{Emitted, Relocation, RelocationKind, RelocationTarget, Text};
use crate::target::X86Level;

const VZEROUPPER: [u8; 3] = [0xC5, 0xF8, 0x77];

struct Emitter<'a> {
    function: &'a MFunction<MachInst>,
    output: &'a Output,
    frame: Frame,
    level: X86Level,
    text: Text,
    /// The number of moves between registers and the stack.
    spills: u32,
    spilled: Spilled,
}

/// Emits a function.
pub(super) fn emit(function: &MFunction<MachInst>, output: &Output, level: X86Level) -> Result<Emitted, CodegenError> {
    let frame = Frame::new(function, output);
    let mut this = Emitter { function, output, frame, level, text: Text::default(), spills: 0, spilled: Spilled::default() };
    let mut blocks = Vec::with_capacity(function.blocks.len());
    for block in 0..function.blocks.len() {
        blocks.push(this.block(Block::new(block))?);
    }
    let stack = this.frame.stack();
    Ok(Emitted { text: lay_out::<Jump>(&this.text, &blocks), spills: this.spills, stack, saved: this.frame.saved, slots: 0 })
}

impl Emitter<'_> {
    fn block(&mut self, block: Block) -> Result<BlockCode<Cc>, CodegenError> {
        let start = self.text.bytes.len();
        self.text.set_source(self.function.source_of_block(block), true);
        if block.index() == 0 {
            self.frame.enter(&mut self.text.bytes);
        }
        let mut end = BlockEnd::None;
        self.spilled.clear();
        for item in self.output.block_insts_and_edits(self.function, block) {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.copy(*from, *to)?,
                InstOrEdit::Inst(inst) => {
                    let succs = &self.function.blocks[block.index()].succs;
                    match self.function.insts[inst.index()] {
                        MachInst::Jump => end = BlockEnd::Jump(succs[0].index()),
                        MachInst::Branch(cc) => end = BlockEnd::Branch(cc, succs[0].index(), succs[1].index()),
                        kind => {
                            self.text.set_source(self.function.sources[inst.index()], false);
                            let mut allocs: SmallVec<[Allocation; 6]> = self.output.inst_allocs(inst).into();
                            let operands = self.function.inst_operands(inst);
                            self.spilled.replace_uses(operands, &mut allocs);
                            self.inst(&kind, &allocs)?;
                            self.spilled.overwrite(operands, &allocs, self.function.inst_clobbers(inst));
                        }
                    }
                }
            }
        }
        Ok(BlockCode { start, end: self.text.bytes.len(), branch: end, cold: self.function.blocks[block.index()].cold })
    }

    fn inst(&mut self, inst: &MachInst, allocs: &[Allocation]) -> Result<(), CodegenError> {
        match inst {
            MachInst::Op(inst) => self.x86_inst(inst, allocs)?,
            MachInst::Call(target) => {
                self.zero_upper_halves();
                self.text.bytes.extend([0xE8, 0, 0, 0, 0]);
                let end = self.text.bytes.len();
                self.text.relocations.push(Relocation {
                    at: end - 4,
                    end,
                    target: RelocationTarget::Function(*target),
                    kind: RelocationKind::Rel32,
                });
            }
            MachInst::CallAddress => {
                self.zero_upper_halves();
                let reg = allocs.first().and_then(|alloc| alloc.as_reg()).ok_or(CodegenError::Encoding("call"))?.hw_enc() as u8;
                if reg >= 8 {
                    self.text.bytes.push(0x41);
                }
                self.text.bytes.extend([0xFF, 0xD0 | (reg & 7)]);
            }
            MachInst::Return => {
                self.zero_upper_halves();
                self.frame.leave(&mut self.text.bytes);
            }
            MachInst::Trap => self.text.bytes.extend([0x0F, 0x0B]),
            MachInst::Defines | MachInst::Jump | MachInst::Branch(_) => {}
        }
        Ok(())
    }

    /// Emits `vzeroupper`. SSE code outside of the kernel is slow while the upper halves of vector registers are not
    /// zero.
    fn zero_upper_halves(&mut self) {
        if self.function.vector_bytes > 16 {
            self.text.bytes.extend(VZEROUPPER);
        }
    }

    fn x86_inst(&mut self, inst: &X86Inst, allocs: &[Allocation]) -> Result<(), CodegenError> {
        let start = self.text.bytes.len();
        let regs = resolve(inst, allocs, |slot| slot as i32 * 8)?;
        let pool = encode(&mut self.text.bytes, inst, &regs, self.level);
        let end = self.text.bytes.len();
        if let Some((at, id)) = pool {
            self.text.relocations.push(Relocation { at: start + at, end, target: RelocationTarget::Pool(id), kind: RelocationKind::Rel32 });
        }
        if cfg!(debug_assertions) {
            super::check::check(&self.text.bytes[start..], inst, &regs)?;
        }
        Ok(())
    }

    fn copy(&mut self, from: Allocation, to: Allocation) -> Result<(), CodegenError> {
        let from = self.spilled.register_of(from);
        if from == to {
            return Ok(());
        }
        self.spilled.copy(from, to);
        self.spills += u32::from(from.is_stack() || to.is_stack());
        let slot = |alloc: Allocation| alloc.as_stack().map(|slot| slot.index() as i32 * 8);
        let (reg, rm, store) = match (from.as_reg(), to.as_reg()) {
            (Some(from), Some(to)) => (to, Rm::Reg(Slot::Phys(from.hw_enc() as u8)), false),
            (None, Some(to)) => (to, memory(slot(from)), false),
            (Some(from), None) => (from, memory(slot(to)), true),
            (None, None) => return Err(CodegenError::Encoding("move")),
        };
        let (opcode, len, wide) = match (reg.class(), store) {
            (RegClass::Int, false) => (t::MOV, 0, true),
            (RegClass::Int, true) => (t::MOV_STORE, 0, true),
            (MASK, false) => (t::KMOVQ, 0, true),
            (MASK, true) => (t::KMOVQ_STORE, 0, true),
            (_, store) => (if store { t::MOVA_STORE } else { t::MOVA }, (self.function.vector_bytes / 32).min(2) as u8, false),
        };
        let mut inst = InstBuilder::new(opcode).len(len).wide(wide).inst;
        inst.reg = Slot::Phys(reg.hw_enc() as u8);
        inst.rm = rm;
        self.x86_inst(&inst, &[])
    }
}

fn memory(disp: Option<i32>) -> Rm {
    Rm::Mem { base: Slot::Phys(RSP), index: Slot::None, scale: 1, disp: disp.unwrap_or(0) }
}
