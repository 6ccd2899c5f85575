//! Decodes the words of a module (SPIR-V 2.3, "Physical Layout of a SPIR-V Module and Instruction").

use std::fmt;

use std::sync::LazyLock;

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use super::errors::{Checked, ErrorKind, InvalidModule, OperandIndex, invalid};
use super::lines::{Line, Lines};

/// The magic number.
const MAGIC: u32 = rspirv::spirv::MAGIC_NUMBER;

/// Words before the first instruction: magic number, version, generator, bound, schema.
const HEADER: usize = 5;

/// The newest supported minor version of SPIR-V 1.
const NEWEST_MINOR: u32 = 6;

/// The result id of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(pub(super) u32);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Bytes that are not a module of a supported SPIR-V version. clCreateProgramWithIL returns CL_INVALID_VALUE.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHeader {
    /// The size is not a multiple of four bytes, or too small.
    #[error("the size of the module is {0} bytes; expected a multiple of 4, and at least 20")]
    Size(usize),
    /// The magic number is wrong.
    #[error("the magic number is {0:#010x}; expected 0x07230203")]
    Magic(u32),
    #[error("SPIR-V version {0}.{1} is not supported; expected 1.0 to 1.6")]
    Version(u32, u32),
}

/// Converts bytes in either byte order to words, and validates the header.
///
/// # Errors
/// Fails if the size, the magic number or the version is not valid.
pub fn read_words(bytes: &[u8]) -> Result<Vec<u32>, InvalidHeader> {
    let size = InvalidHeader::Size(bytes.len());
    let (words, rest) = bytes.as_chunks::<4>();
    let Some(first) = words.first().filter(|_| rest.is_empty() && words.len() >= HEADER) else { return Err(size) };
    let read: fn([u8; 4]) -> u32 = match u32::from_le_bytes(*first) {
        MAGIC => u32::from_le_bytes,
        other if other.swap_bytes() == MAGIC => u32::from_be_bytes,
        other => return Err(InvalidHeader::Magic(other)),
    };
    let words: Vec<u32> = words.iter().map(|word| read(*word)).collect();
    let version = words[1];
    let (major, minor) = (version >> 16 & 0xff, version >> 8 & 0xff);
    if major != 1 || minor > NEWEST_MINOR {
        return Err(InvalidHeader::Version(major, minor));
    }
    Ok(words)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Inst<'w> {
    pub(super) op: Op,
    /// The result type.
    ty: Option<Id>,
    /// The result id.
    id: Option<Id>,
    /// The words after the result type and the result id.
    pub(super) operands: &'w [u32],
    /// Byte offset of the instruction in the module.
    pub(super) offset: usize,
    line: Option<Line>,
}

impl<'w> Inst<'w> {
    /// Returns the result id. Fails if the instruction has none.
    pub(super) fn result(&self) -> Checked<Id> {
        self.id.ok_or_else(|| invalid!("the instruction has no result id"))
    }

    /// Returns the result id, or `None` if the instruction has none.
    pub(super) const fn result_id(&self) -> Option<Id> {
        self.id
    }

    /// Returns the source location, or `None` if the module has none.
    pub(super) const fn line(&self) -> Option<Line> {
        self.line
    }

    /// Returns the result type. Fails if the instruction has none.
    pub(super) fn ty(&self) -> Checked<Id> {
        self.ty.ok_or_else(|| invalid!("the instruction has no result type"))
    }

    /// Returns operand `index`. Operand 0 follows the result type and the result id.
    pub(super) fn word(&self, index: usize) -> Checked<u32> {
        self.operands.get(index).copied().ok_or_else(|| invalid!("{} is missing", OperandIndex(index)))
    }

    /// Returns an operand that is an id.
    pub(super) fn operand(&self, index: usize) -> Checked<Id> {
        self.word(index).map(Id)
    }

    /// Returns all operands from `index` on, as ids.
    pub(super) fn operands_from(&self, index: usize) -> impl Iterator<Item = Id> + use<'w> {
        self.operands.get(index..).unwrap_or_default().iter().copied().map(Id)
    }

    /// Returns a literal string, and its number of words.
    pub(super) fn string(&self, index: usize) -> Checked<(String, usize)> {
        let words = self.operands.get(index..).unwrap_or_default();
        let mut bytes = Vec::new();
        for (count, word) in words.iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    return Ok((String::from_utf8_lossy(&bytes).into_owned(), count + 1));
                }
                bytes.push(byte);
            }
        }
        Err(invalid!("the string is not null-terminated"))
    }

    /// Creates an error that refers to this instruction.
    pub(super) fn reject(&self, problem: ErrorKind) -> InvalidModule {
        let result = self.id.map(|id| format!("{id} = ")).unwrap_or_default();
        InvalidModule { instruction: format!("{result}Op{:?}", self.op), offset: self.offset, problem, line: self.line }
    }
}

/// For each opcode, whether it has a result type and whether it has a result id.
static RESULTS: LazyLock<FxHashMap<u32, (bool, bool)>> = LazyLock::new(|| {
    let table = INSTRUCTION_TABLE.iter();
    table
        .map(|known| {
            let has = |kind: OperandKind| known.operands.iter().take(2).any(|operand| operand.kind == kind);
            (known.opcode as u32, (has(OperandKind::IdResultType), has(OperandKind::IdResult)))
        })
        .collect()
});

/// Decodes all instructions of a module, in order.
///
/// # Errors
/// Fails at an unknown opcode, and at a word count that is too small or exceeds the module. Also fails at a result type
/// or result id that is 0 or not below the bound.
pub(super) fn instructions(words: &[u32]) -> Result<Vec<Inst<'_>>, InvalidModule> {
    let bound = words.get(3).copied().unwrap_or_default();
    let (mut list, mut lines) = (Vec::new(), Lines::default());
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let reject = |problem| InvalidModule { instruction: format!("word {first:#010x}"), offset: at * 4, problem, line: None };
        let (count, opcode) = ((first >> 16) as usize, first & 0xffff);
        let op = Op::from_u32(opcode).ok_or_else(|| reject(invalid!("{opcode} is not a known opcode")))?;
        let body = (count > 0).then(|| words.get(at + 1..at + count)).flatten();
        let body = body.ok_or_else(|| reject(invalid!("the word count {count} of Op{op:?} is 0 or exceeds the module")))?;
        let (typed, named) = RESULTS.get(&opcode).copied().unwrap_or_default();
        let mut rest = body;
        let mut take = |wanted: bool| -> Result<Option<Id>, InvalidModule> {
            if !wanted {
                return Ok(None);
            }
            let (&word, others) = rest.split_first().ok_or_else(|| reject(invalid!("the word count of Op{op:?} is too small")))?;
            rest = others;
            if word == 0 || word >= bound {
                return Err(reject(invalid!("id %{word} is not below the bound {bound}")));
            }
            Ok(Some(Id(word)))
        };
        let ty = take(typed)?;
        let id = take(named)?;
        let mut inst = Inst { op, ty, id, operands: rest, offset: at * 4, line: None };
        inst.line = lines.location(&inst);
        list.push(inst);
        at += count;
    }
    Ok(list)
}
