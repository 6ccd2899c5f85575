//! The memory of the evaluator: bytes, and the extent to which they are specified.

use wgcl_codegen::vir::Elem;

use super::eval::Fault;
use super::lane::{Lane, State};

/// The extent to which a byte is specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Known,
    Unknown,
    /// The first byte of a number with this state and size in bytes.
    First(State, u8),
    /// Any other byte of a number with a state.
    Rest,
}

/// A range of addresses. Accesses outside of it fail.
#[derive(Clone, Debug)]
pub struct Memory {
    base: u64,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

impl Memory {
    /// Creates a memory with the given address and contents.
    pub fn new(base: u64, bytes: &[u8]) -> Self {
        Self { base, bytes: bytes.to_vec(), marks: vec![Mark::Known; bytes.len()] }
    }

    fn place(&self, address: u64, size: u32) -> Result<usize, Fault> {
        let at = usize::try_from(address.wrapping_sub(self.base)).map_err(|_| Fault::Outside(address))?;
        if at.checked_add(size as usize).is_some_and(|end| end <= self.bytes.len()) { Ok(at) } else { Err(Fault::Outside(address)) }
    }

    /// The state and size in bytes of the number that starts at an offset. `None` if no number starts there, or a store
    /// has overwritten a part of it.
    fn number(&self, at: usize) -> Option<(State, usize)> {
        let Mark::First(state, size) = self.marks[at] else { return None };
        let size = usize::from(size);
        let whole = self.marks.get(at + 1..at + size).is_some_and(|rest| rest.iter().all(|mark| *mark == Mark::Rest));
        whole.then_some((state, size))
    }

    /// Loads bytes.
    ///
    /// # Errors
    /// Fails if the access is not inside the memory.
    pub fn load(&self, address: u64, size: u32) -> Result<Lane, Fault> {
        let at = self.place(address, size)?;
        let end = at + size as usize;
        let mut bits = [0; 8];
        bits[..size as usize].copy_from_slice(&self.bytes[at..end]);
        let state = if self.marks[at..end].iter().all(|mark| *mark == Mark::Known) {
            State::Known
        } else {
            self.number(at).filter(|(_, length)| *length == size as usize).map_or(State::Unknown, |(state, _)| state)
        };
        Ok(Lane { bits: u64::from_le_bytes(bits), state })
    }

    /// Stores the low bytes of a lane.
    ///
    /// # Errors
    /// Fails if the access is not inside the memory.
    pub fn store(&mut self, address: u64, size: u32, lane: Lane) -> Result<(), Fault> {
        let at = self.place(address, size)?;
        let end = at + size as usize;
        self.bytes[at..end].copy_from_slice(&lane.bits.to_le_bytes()[..size as usize]);
        let (first, rest) = match lane.state {
            State::Known => (Mark::Known, Mark::Known),
            state @ (State::Nan | State::Near) if size >= 4 => (Mark::First(state, size as u8), Mark::Rest),
            _ => (Mark::Unknown, Mark::Unknown),
        };
        self.marks[at..end].fill(rest);
        self.marks[at] = first;
        Ok(())
    }

    /// Compares this memory with `actual`, the memory after the machine code ran. Returns the offset of the first wrong
    /// byte, and the expected value as text.
    pub fn difference(&self, actual: &[u8]) -> Option<(usize, String)> {
        let mut at = 0;
        while at < self.bytes.len() {
            if let Some((state, size)) = self.number(at) {
                let read = |bytes: &[u8]| {
                    let mut bits = [0; 8];
                    bits[..size].copy_from_slice(&bytes[at..at + size]);
                    u64::from_le_bytes(bits)
                };
                let elem = if size == 4 { Elem::F32 } else { Elem::F64 };
                let (expected, found) = (read(&self.bytes), read(actual));
                if !(Lane { bits: expected, state }).allows(found, elem) {
                    return Some((at, format!("{expected:#x} ({state:?}), found {found:#x}")));
                }
                at += size;
            } else {
                if self.marks[at] == Mark::Known && self.bytes[at] != actual[at] {
                    return Some((at, format!("{:#04x}, found {:#04x}", self.bytes[at], actual[at])));
                }
                at += 1;
            }
        }
        None
    }

    /// The number of unspecified bytes.
    pub fn unknown(&self) -> usize {
        self.marks.iter().filter(|mark| **mark == Mark::Unknown).count()
    }
}
