//! Links functions: assigns offsets to functions and constants, and resolves relocations.

use super::code::{Code, CodegenError, FunctionFrame, LineEntry};
use super::pool::Pool;
use crate::vir::SourceLoc;

/// The target of a relocation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RelocationTarget {
    /// A constant of the pool.
    Pool(u32),
    /// A function of the module.
    Function(u32),
}

/// The encoding of a relocation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RelocationKind {
    /// x86: a signed 32-bit distance from the end of the instruction.
    Rel32,
    /// AArch64: the distance of a branch or call in words, in the lowest 26 bits.
    Branch26,
    /// AArch64: the distance of a literal load in words, in bits 5 to 23.
    Load19,
    /// AArch64: an unsigned 32-bit distance in bytes, in the 16-bit immediates of two instructions.
    Move32,
}

/// A relocation. Both offsets are in bytes from the start of the function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    /// The offset of the bytes to patch: on x86 the field, on AArch64 the instruction.
    pub(crate) at: usize,
    /// The offset that the distance is relative to: on x86 the end of the instruction, on AArch64 its start. For
    /// [`RelocationKind::Move32`], this is the start of the preceding `adr`.
    pub(crate) end: usize,
    pub(crate) target: RelocationTarget,
    pub(crate) kind: RelocationKind,
}

/// Instructions of a function. All offsets are from the start of the function.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
    /// Sorted by offset.
    pub(crate) lines: Vec<LineEntry>,
}

impl Text {
    /// Sets the source position of the instructions that follow. At the start of a block, always adds an entry, because
    /// the layout moves blocks.
    pub(crate) fn set_source(&mut self, source: SourceLoc, starts_block: bool) {
        let offset = self.bytes.len() as u32;
        match self.lines.last_mut() {
            Some(last) if last.offset == offset => last.source = source,
            Some(last) if last.source == source && !starts_block => {}
            _ => self.lines.push(LineEntry { offset, source }),
        }
    }
}

/// The machine code of a function.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub(crate) text: Text,
    /// The number of moves of the register allocator between registers and the stack.
    pub(crate) spills: u32,
    /// Bytes of native stack per call, including the return address and excluding called functions.
    pub(crate) stack: u32,
    /// The registers that the prologue saves, as in [`FunctionFrame`].
    pub(crate) saved: Vec<u8>,
    /// Bytes of the spill slots, as in [`FunctionFrame`].
    pub(crate) slots: u32,
}

impl RelocationKind {
    /// Writes `distance`, in bytes, at the start of `bytes`. Fails if the distance does not fit. The caller has checked
    /// the range of [`Self::Rel32`].
    fn apply(self, bytes: &mut [u8], distance: i64) -> Result<(), CodegenError> {
        let words = (distance / 4) as i32;
        match self {
            Self::Rel32 => bytes[..4].copy_from_slice(&(distance as i32).to_le_bytes()),
            Self::Branch26 => {
                require(distance, 27)?;
                insert(bytes, words.cast_unsigned() & 0x3FF_FFFF);
            }
            Self::Load19 => {
                require(distance, 20)?;
                insert(bytes, (words.cast_unsigned() & 0x7_FFFF) << 5);
            }
            Self::Move32 => {
                let distance = u32::try_from(distance).map_err(|_| CodegenError::Size)?;
                insert(bytes, (distance & 0xFFFF) << 5);
                insert(&mut bytes[4..], (distance >> 16) << 5);
            }
        }
        Ok(())
    }
}

/// Fails unless `number` fits a signed integer of `bits + 1` bits.
fn require(number: i64, bits: u32) -> Result<(), CodegenError> {
    if (-(1 << bits)..1 << bits).contains(&number) { Ok(()) } else { Err(CodegenError::Size) }
}

/// Sets bits of an instruction word. These bits must be 0 before.
fn insert(bytes: &mut [u8], bits: u32) {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[..4]);
    bytes[..4].copy_from_slice(&(u32::from_le_bytes(word) | bits).to_le_bytes());
}

/// Functions are aligned to cache lines.
const ALIGN: usize = 64;

/// Concatenates functions and constants, and resolves relocations. `padding` fills the space between functions and
/// before the constants. `stack` is stored unchanged in the result.
pub(crate) fn link(functions: &[Emitted], pool: &Pool, padding: u8, stack: u32) -> Result<Code, CodegenError> {
    let mut bytes = Vec::new();
    let mut lines = Vec::new();
    let mut entries = Vec::with_capacity(functions.len());
    let mut frames = Vec::new();
    for Emitted { text, saved, slots, .. } in functions {
        bytes.resize(bytes.len().next_multiple_of(ALIGN), padding);
        let start = u32::try_from(bytes.len()).map_err(|_| CodegenError::Size)?;
        entries.push(start);
        bytes.extend_from_slice(&text.bytes);
        let end = u32::try_from(bytes.len()).map_err(|_| CodegenError::Size)?;
        frames.push(FunctionFrame { start, end, saved: saved.clone(), slots: *slots });
        lines.extend(text.lines.iter().map(|line| LineEntry { offset: start + line.offset, ..*line }));
    }
    let constants = u32::try_from(bytes.len()).map_err(|_| CodegenError::Size)?;
    let places = pool.append(&mut bytes, padding);
    i32::try_from(bytes.len()).map_err(|_| CodegenError::Size)?;
    for (function, &entry) in functions.iter().zip(&entries) {
        for relocation in &function.text.relocations {
            let target = match relocation.target {
                RelocationTarget::Pool(id) => places[id as usize],
                RelocationTarget::Function(index) => entries[index as usize] as usize,
            };
            let distance = target as i64 - (entry as usize + relocation.end) as i64;
            relocation.kind.apply(&mut bytes[entry as usize + relocation.at..], distance)?;
        }
    }
    let spills = functions.iter().map(|function| function.spills).sum();
    Ok(Code { bytes, entries, stack, constants, frames, lines, spills })
}
