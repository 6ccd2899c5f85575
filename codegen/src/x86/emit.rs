//! Bytes of a function: frame, instructions, the moves of the register allocator, jumps.

use regalloc2::{Allocation, Block, Edit, InstOrEdit, Output, RegClass};

use super::CodegenError;
use super::alloc::{INT, MASK, MFunction, SAVED};
use super::encode::{RSP, encode, resolve};
use super::inst::{Cc, InstBuilder, MachInst, Rm, Slot, X86Inst};
use super::layout::{BlockCode, End};
use super::table as t;
use crate::Isa;

/// What a place in the bytes is to point at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A constant of the pool.
    Pool(u32),
    /// A function of the module.
    Function(u32),
}

/// A displacement of 32 bits that is not known yet; both places are in bytes from the start of the function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixup {
    pub(super) at: usize,
    /// One behind the instruction: what the displacement counts from.
    pub(super) end: usize,
    pub(super) target: Target,
}

/// The bytes of a function.
#[derive(Debug)]
pub(super) struct Emitted {
    pub(super) bytes: Vec<u8>,
    pub(super) fixups: Vec<Fixup>,
    /// Bytes of native stack from the caller's call on, callees apart.
    pub(super) stack: u32,
}

/// What the stack looks like behind the frame pointer.
struct Frame {
    saved: Vec<u8>,
    /// Bytes below what is saved.
    size: i32,
    /// Of the slots.
    align: i32,
}

impl Frame {
    fn new(function: &MFunction, output: &Output) -> Self {
        let edits = output.edits.iter().flat_map(|(_, Edit::Move { from, to })| [*from, *to]);
        let mut used = [false; 16];
        for alloc in edits.chain(output.allocs.iter().copied()) {
            if let Some(reg) = alloc.as_reg().filter(|reg| reg.class() == INT) {
                used[reg.hw_enc()] = true;
            }
        }
        let saved: Vec<u8> = SAVED.into_iter().filter(|number| used[usize::from(*number)]).collect();
        let slots = output.num_spillslots as i32 * 8;
        let align = if slots > 0 { function.vector as i32 } else { 16 };
        let pushed = saved.len() as i32 * 8;
        let size = if align > 16 { (slots + align - 1) & -align } else { ((slots + pushed + 15) & -16) - pushed };
        Self { saved, size, align }
    }

    fn stack(&self) -> u32 {
        let slack = if self.align > 16 { self.align } else { 0 };
        (16 + self.saved.len() as i32 * 8 + self.size + slack).cast_unsigned()
    }

    fn enter(&self, out: &mut Vec<u8>) {
        out.extend([0xF3, 0x0F, 0x1E, 0xFA, 0x55, 0x48, 0x89, 0xE5]);
        for &reg in &self.saved {
            push_pop(out, 0x50, reg);
        }
        if self.size > 0 {
            out.extend([0x48, 0x81, 0xEC]);
            out.extend(self.size.to_le_bytes());
        }
        if self.align > 16 {
            out.extend([0x48, 0x83, 0xE4, (-self.align) as u8]);
        }
    }

    fn leave(&self, out: &mut Vec<u8>) {
        if self.size > 0 || self.align > 16 {
            out.extend([0x48, 0x8D, 0x65, (self.saved.len() as i8 * -8) as u8]);
        }
        for &reg in self.saved.iter().rev() {
            push_pop(out, 0x58, reg);
        }
        out.extend([0x5D, 0xC3]);
    }
}

fn push_pop(out: &mut Vec<u8>, op: u8, reg: u8) {
    if reg >= 8 {
        out.push(0x41);
    }
    out.push(op | (reg & 7));
}

const VZEROUPPER: [u8; 3] = [0xC5, 0xF8, 0x77];

struct Emitter<'a> {
    function: &'a MFunction,
    output: &'a Output,
    frame: Frame,
    isa: Isa,
    out: Vec<u8>,
    fixups: Vec<Fixup>,
}

/// Makes the bytes of a function.
pub(super) fn emit(function: &MFunction, output: &Output, isa: Isa) -> Result<Emitted, CodegenError> {
    let frame = Frame::new(function, output);
    let mut this = Emitter { function, output, frame, isa, out: Vec::new(), fixups: Vec::new() };
    let mut blocks = Vec::with_capacity(function.blocks.len());
    for block in 0..function.blocks.len() {
        blocks.push(this.block(Block::new(block))?);
    }
    let stack = this.frame.stack();
    let (bytes, fixups) = super::layout::lay_out(&this.out, &blocks, &this.fixups);
    Ok(Emitted { bytes, fixups, stack })
}

impl Emitter<'_> {
    fn block(&mut self, block: Block) -> Result<BlockCode, CodegenError> {
        let start = self.out.len();
        if block.index() == 0 {
            self.frame.enter(&mut self.out);
        }
        let mut end = End::None;
        for item in self.output.block_insts_and_edits(self.function, block) {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.copy(*from, *to)?,
                InstOrEdit::Inst(inst) => {
                    let succs = &self.function.blocks[block.index()].succs;
                    match self.function.insts[inst.index()] {
                        MachInst::Jump => end = End::Jump(succs[0].index()),
                        MachInst::Branch(cc) => end = End::Branch(cc, succs[0].index(), succs[1].index()),
                        kind => self.inst(&kind, self.output.inst_allocs(inst))?,
                    }
                }
            }
        }
        Ok(BlockCode { start, end: self.out.len(), jump: end })
    }

    fn inst(&mut self, inst: &MachInst, allocs: &[Allocation]) -> Result<(), CodegenError> {
        match inst {
            MachInst::Op(inst) => self.x86_inst(inst, allocs)?,
            MachInst::Call(target) => {
                self.clean();
                self.out.extend([0xE8, 0, 0, 0, 0]);
                let end = self.out.len();
                self.fixups.push(Fixup { at: end - 4, end, target: Target::Function(*target) });
            }
            MachInst::CallAddress => {
                self.clean();
                let reg = allocs.first().and_then(|alloc| alloc.as_reg()).ok_or(CodegenError::Encoding("call"))?.hw_enc() as u8;
                if reg >= 8 {
                    self.out.push(0x41);
                }
                self.out.extend([0xFF, 0xD0 | (reg & 7)]);
            }
            MachInst::Return => {
                self.clean();
                self.frame.leave(&mut self.out);
            }
            MachInst::Trap => self.out.extend([0x0F, 0x0B]),
            MachInst::Defines | MachInst::Jump | MachInst::Branch(_) => {}
        }
        Ok(())
    }

    /// Code of the host may be slow while upper halves are in use.
    fn clean(&mut self) {
        if self.function.uppers {
            self.out.extend(VZEROUPPER);
        }
    }

    fn x86_inst(&mut self, inst: &X86Inst, allocs: &[Allocation]) -> Result<(), CodegenError> {
        let start = self.out.len();
        let regs = resolve(inst, allocs, |slot| slot as i32 * 8)?;
        let pool = encode(&mut self.out, inst, &regs, self.isa);
        let end = self.out.len();
        if let Some((at, id)) = pool {
            self.fixups.push(Fixup { at: start + at, end, target: Target::Pool(id) });
        }
        if cfg!(debug_assertions) {
            super::check::check(&self.out[start..], inst, &regs)?;
        }
        Ok(())
    }

    fn copy(&mut self, from: Allocation, to: Allocation) -> Result<(), CodegenError> {
        if from == to {
            return Ok(());
        }
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
            (_, store) => (if store { t::MOVA_STORE } else { t::MOVA }, (self.function.vector / 32).min(2) as u8, false),
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

/// The number of a condition in opcodes, and whether an unordered result needs a second jump.
pub(super) const fn codes(cc: Cc) -> (u8, Option<u8>) {
    match cc {
        Cc::FloatEqual => (Cc::Equal as u8, Some(11)),
        Cc::FloatNotEqual => (Cc::NotEqual as u8, Some(10)),
        cc => (cc as u8, None),
    }
}
