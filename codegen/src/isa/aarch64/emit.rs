//! Emits the words of a function: prologue, instructions, moves of the register allocator, and branches.

use regalloc2::{Allocation, Block, Edit, InstOrEdit, Output, RegClass};

use super::encode::{encode, resolve};
use super::frame::{Frame, scratch_constant};
use super::inst::{A64Inst, Exclusive, Field, InstBuilder, MachInst, Opcode, Test};
use super::jumps::{Condition, Jump};
use super::regs::{INT, MASK, SCRATCH, SP};
use super::table as t;
use crate::mach::code::CodegenError;
use crate::mach::function::MFunction;
use crate::mach::layout::{BlockCode, BlockEnd, lay_out};
use crate::mach::link::{Emitted, Relocation, RelocationKind, RelocationTarget, Text};
use crate::target::{A64Level, Isa};

struct Emitter<'a> {
    function: &'a MFunction<MachInst>,
    output: &'a Output,
    frame: Frame,
    /// Bytes of a vector register.
    register_bytes: u32,
    /// Whether constants can be more than 1 MiB away, out of the range of literal loads.
    distant_constants: bool,
    text: Text,
    /// The number of moves between registers and the stack.
    spills: u32,
}

/// Emits a function. If `distant_constants` is not set, the caller must ensure that constants are less than 1 MiB away.
pub(super) fn emit(
    function: &MFunction<MachInst>,
    output: &Output,
    level: A64Level,
    distant_constants: bool,
) -> Result<Emitted, CodegenError> {
    let (frame, register_bytes) = (Frame::new(function, output), Isa::A64(level).caps().vector_bytes);
    let mut this = Emitter { function, output, frame, register_bytes, distant_constants, text: Text::default(), spills: 0 };
    let mut blocks = Vec::with_capacity(function.blocks.len());
    for block in 0..function.blocks.len() {
        blocks.push(this.block(Block::new(block))?);
    }
    let stack = this.frame.stack();
    let (saved, slots) = (this.frame.saved(), this.frame.size());
    Ok(Emitted { text: lay_out::<Jump>(&this.text, &blocks), spills: this.spills, stack, saved, slots })
}

/// Returns the register number of an allocated operand. Fails if the operand is not in a register.
fn reg(allocs: &[Allocation], index: usize) -> Result<u8, CodegenError> {
    let reg = allocs.get(index).and_then(|alloc| alloc.as_reg()).ok_or(CodegenError::Encoding("operand"))?;
    Ok(reg.hw_enc() as u8)
}

impl Emitter<'_> {
    fn block(&mut self, block: Block) -> Result<BlockCode<Condition>, CodegenError> {
        let start = self.text.bytes.len();
        self.text.set_source(self.function.source_of_block(block), true);
        if block.index() == 0 {
            for builder in self.frame.enter() {
                self.op(&builder.inst, &[])?;
            }
        }
        let mut end = BlockEnd::None;
        for item in self.output.block_insts_and_edits(self.function, block) {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.copy(*from, *to)?,
                InstOrEdit::Inst(inst) => {
                    let succs = &self.function.blocks[block.index()].succs;
                    let allocs = self.output.inst_allocs(inst);
                    match self.function.insts[inst.index()] {
                        MachInst::Jump => end = BlockEnd::Jump(succs[0].index()),
                        MachInst::Branch(test) => {
                            let condition = match test {
                                Test::Flags(cc) => Condition::Flags(cc),
                                Test::Zero { wide, inverted } => Condition::Zero { reg: reg(allocs, 0)?, wide, inverted },
                            };
                            end = BlockEnd::Branch(condition, succs[0].index(), succs[1].index());
                        }
                        kind => {
                            self.text.set_source(self.function.sources[inst.index()], false);
                            self.inst(&kind, allocs)?;
                        }
                    }
                }
            }
        }
        Ok(BlockCode { start, end: self.text.bytes.len(), branch: end, cold: self.function.blocks[block.index()].cold })
    }

    fn word(&mut self, word: u32) {
        self.text.bytes.extend(word.to_le_bytes());
    }

    fn inst(&mut self, inst: &MachInst, allocs: &[Allocation]) -> Result<(), CodegenError> {
        const BL: u32 = 0x9400_0000;
        match inst {
            MachInst::Op(inst) => self.op(inst, allocs)?,
            MachInst::Exclusive(kind, bytes) => self.exclusive(*kind, *bytes, allocs)?,
            MachInst::Call(target) => {
                let at = self.text.bytes.len();
                self.word(BL);
                self.text.relocations.push(Relocation {
                    at,
                    end: at,
                    target: RelocationTarget::Function(*target),
                    kind: RelocationKind::Branch26,
                });
            }
            MachInst::CallAddress => self.op(&InstBuilder::new(t::BLR).phys(Field::N, reg(allocs, 0)?).inst, &[])?,
            MachInst::Return => {
                for builder in self.frame.leave() {
                    self.op(&builder.inst, &[])?;
                }
            }
            MachInst::Trap => self.op(&InstBuilder::new(t::BRK).inst, &[])?,
            MachInst::Defines | MachInst::Jump | MachInst::Branch(_) => {}
        }
        Ok(())
    }

    fn op(&mut self, inst: &A64Inst, allocs: &[Allocation]) -> Result<(), CodegenError> {
        let regs = resolve(inst, allocs)?;
        if let Some(id) = inst.pool {
            if self.distant_constants {
                return self.load_distant_constant(inst, regs[Field::D as usize].unwrap_or(0), id);
            }
            if inst.opcode == t::LOAD_Z {
                return self.load_long_constant(regs[Field::D as usize].unwrap_or(0), id);
            }
            self.relocate_near(id);
        }
        let word = encode(inst, &regs);
        if cfg!(debug_assertions) {
            super::check::check(word, inst, &regs)?;
        }
        self.word(word);
        Ok(())
    }

    /// Adds the relocation of the next instruction, a literal load or an `adr`. Both encode the distance in words: the
    /// two lowest bits in `adr` are 0, because constants are aligned.
    fn relocate_near(&mut self, id: u32) {
        let at = self.text.bytes.len();
        self.text.relocations.push(Relocation { at, end: at, target: RelocationTarget::Pool(id), kind: RelocationKind::Load19 });
    }

    /// Loads a constant of the size of a vector register of SVE. SVE has no literal loads.
    fn load_long_constant(&mut self, to: u8, id: u32) -> Result<(), CodegenError> {
        let [_, place] = SCRATCH;
        self.relocate_near(id);
        self.op(&InstBuilder::new(t::ADR).phys(Field::D, place).inst, &[])?;
        self.op(&InstBuilder::new(t::LOAD_Z).phys(Field::D, to).phys(Field::N, place).inst, &[])
    }

    /// Loads a constant that can be out of the range of a literal load. The relocation is relative to the `adr`.
    fn load_distant_constant(&mut self, inst: &A64Inst, to: u8, id: u32) -> Result<(), CodegenError> {
        let access = match inst.opcode {
            t::LITERAL_S => t::LOAD_S,
            t::LITERAL_D => t::LOAD_D,
            _ => t::LOAD_Q,
        };
        let [distance, place] = SCRATCH;
        let start = self.text.bytes.len();
        self.op(&InstBuilder::new(t::ADR).phys(Field::D, place).inst, &[])?;
        self.text.relocations.push(Relocation {
            at: start + 4,
            end: start,
            target: RelocationTarget::Pool(id),
            kind: RelocationKind::Move32,
        });
        self.op(&InstBuilder::new(t::MOVZ).phys(Field::D, distance).inst, &[])?;
        self.op(&InstBuilder::new(t::MOVK).phys(Field::D, distance).imm2(1 << 21, 16).inst, &[])?;
        if inst.opcode == t::LOAD_Z {
            let sum = InstBuilder::new(t::ADD).wide(true).phys(Field::D, place).phys(Field::N, place).phys(Field::M, distance);
            self.op(&sum.inst, &[])?;
            return self.op(&InstBuilder::new(t::LOAD_Z).phys(Field::D, to).phys(Field::N, place).inst, &[]);
        }
        let load = InstBuilder::new(access.indexed).phys(Field::D, to).phys(Field::N, place).phys(Field::M, distance);
        self.op(&load.inst, &[])
    }

    /// Emits a loop of exclusive accesses. The loop ends if the store succeeds or the comparison fails. A barrier
    /// follows, because the loop does not order later accesses after its store.
    fn exclusive(&mut self, kind: Exclusive, bytes: u8, allocs: &[Allocation]) -> Result<(), CodegenError> {
        let (old, address, value) = (reg(allocs, 0)?, reg(allocs, 1)?, reg(allocs, 2)?);
        let [changed, status] = SCRATCH;
        let wide = bytes == 8;
        let (load, store) = if bytes == 2 { (t::LDAXRH, t::STLXRH) } else { (t::LDAXR, t::STLXR) };
        let start = self.text.bytes.len();
        self.op(&InstBuilder::new(load).wide(wide).phys(Field::D, old).phys(Field::N, address).inst, &[])?;
        let mut stored = value;
        let mut skip = None;
        match kind {
            Exclusive::Exchange => {}
            Exclusive::Add => {
                let add = InstBuilder::new(t::ADD).wide(wide).phys(Field::D, changed).phys(Field::N, old).phys(Field::M, value);
                self.op(&add.inst, &[])?;
                stored = changed;
            }
            Exclusive::CompareExchange => {
                self.op(&InstBuilder::new(t::CMP).wide(wide).phys(Field::N, old).phys(Field::M, value).inst, &[])?;
                skip = Some(self.text.bytes.len());
                self.word(0);
                stored = reg(allocs, 3)?;
            }
        }
        let store = InstBuilder::new(store).wide(wide).phys(Field::D, stored).phys(Field::N, address).phys(Field::M, status);
        self.op(&store.inst, &[])?;
        let again = Condition::Zero { reg: status, wide: false, inverted: true };
        self.word(again.word(start as i64 - self.text.bytes.len() as i64));
        if let Some(at) = skip {
            let over = Condition::Flags(super::inst::Cc::NotEqual).word((self.text.bytes.len() - at) as i64);
            self.text.bytes[at..at + 4].copy_from_slice(&over.to_le_bytes());
        }
        self.op(&InstBuilder::new(t::DMB_ISH).inst, &[])
    }

    /// Emits a move of the register allocator.
    fn copy(&mut self, from: Allocation, to: Allocation) -> Result<(), CodegenError> {
        if from == to {
            return Ok(());
        }
        self.spills += u32::from(from.is_stack() || to.is_stack());
        match (from.as_reg(), to.as_reg()) {
            (Some(from), Some(to)) => {
                let (source, target) = (from.hw_enc() as u8, to.hw_enc() as u8);
                self.op(&self.move_between(to.class(), source, target).inst, &[])
            }
            (None, Some(to)) => self.slot(to.class(), true, to.hw_enc() as u8, from),
            (Some(from), None) => self.slot(from.class(), false, from.hw_enc() as u8, to),
            (None, None) => Err(CodegenError::Encoding("move")),
        }
    }

    /// Whether the function has vectors of more than 16 bytes. All its vector registers are then moved as a whole.
    const fn has_long_vectors(&self) -> bool {
        self.function.vector_bytes > 16
    }

    fn move_between(&self, class: RegClass, from: u8, to: u8) -> InstBuilder {
        let moved = |opcode: Opcode| InstBuilder::new(opcode).phys(Field::D, to).phys(Field::N, from).phys(Field::M, from);
        match class {
            INT => InstBuilder::new(t::MOV).wide(true).phys(Field::D, to).phys(Field::M, from),
            MASK => moved(t::MOV_P).phys(Field::A, from),
            _ if self.has_long_vectors() => moved(t::MOV_Z),
            _ => moved(t::MOV_VECTOR),
        }
    }

    /// Loads or stores a spill slot.
    fn slot(&mut self, class: RegClass, load: bool, reg: u8, slot: Allocation) -> Result<(), CodegenError> {
        let slot = slot.as_stack().ok_or(CodegenError::Encoding("move"))?;
        let offset = slot.index() as u32 * 8;
        let access = match class {
            INT => {
                if load {
                    t::LOAD_X
                } else {
                    t::STORE_X
                }
            }
            MASK => {
                let opcode = if load { t::LOAD_P } else { t::STORE_P };
                return self.sve_slot(opcode, self.register_bytes / 8, reg, offset);
            }
            _ if self.has_long_vectors() => {
                return self.sve_slot(if load { t::LOAD_Z } else { t::STORE_Z }, self.register_bytes, reg, offset);
            }
            _ => {
                if load {
                    t::LOAD_Q
                } else {
                    t::STORE_Q
                }
            }
        };
        let scaled = offset >> access.log2;
        if scaled < 1 << 12 {
            let builder = InstBuilder::new(access.scaled).phys(Field::D, reg).phys(Field::N, SP).imm(scaled << 10, offset.into());
            return self.op(&builder.inst, &[]);
        }
        for builder in scratch_constant(offset) {
            self.op(&builder.inst, &[])?;
        }
        let builder = InstBuilder::new(access.indexed).phys(Field::D, reg).phys(Field::N, SP).phys(Field::M, SCRATCH[0]);
        self.op(&builder.inst, &[])
    }

    /// Loads or stores a spill slot of a register of SVE with `size` bytes. The displacement is in units of this size.
    fn sve_slot(&mut self, opcode: Opcode, size: u32, reg: u8, offset: u32) -> Result<(), CodegenError> {
        let number = offset / size;
        if offset.is_multiple_of(size) && number < 1 << 8 {
            let builder = InstBuilder::new(opcode).phys(Field::D, reg).phys(Field::N, SP).z_registers(number.cast_signed());
            return self.op(&builder.inst, &[]);
        }
        for builder in scratch_constant(offset) {
            self.op(&builder.inst, &[])?;
        }
        let place = SCRATCH[0];
        let sum = InstBuilder::new(t::ADD_EXTENDED).phys(Field::D, place).phys(Field::N, SP).phys(Field::M, place);
        self.op(&sum.inst, &[])?;
        self.op(&InstBuilder::new(opcode).phys(Field::D, reg).phys(Field::N, place).inst, &[])
    }
}
