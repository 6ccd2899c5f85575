//! The memory of the evaluator: bytes at addresses, and what of them is known.

use wgcl_codegen::vir::Elem;

use super::eval::Fault;
use super::lane::{Lane, State};

/// What is known of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Known,
    Unknown,
    /// The first byte of a number of that many bytes of which only this is known.
    First(State, u8),
    /// Another byte of such a number.
    Rest,
}

/// A range of addresses. All accesses must stay inside.
#[derive(Clone, Debug)]
pub struct Memory {
    base: u64,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

impl Memory {
    /// Bytes, the first one at an address.
    pub fn new(base: u64, bytes: &[u8]) -> Self {
        Self { base, bytes: bytes.to_vec(), marks: vec![Mark::Known; bytes.len()] }
    }

    fn place(&self, address: u64, size: u32) -> Result<usize, Fault> {
        let at = usize::try_from(address.wrapping_sub(self.base)).map_err(|_| Fault::Outside(address))?;
        if at.checked_add(size as usize).is_some_and(|end| end <= self.bytes.len()) { Ok(at) } else { Err(Fault::Outside(address)) }
    }

    /// What a number that starts there is known as, if all of its bytes belong to it.
    fn number(&self, at: usize) -> Option<(State, usize)> {
        let Mark::First(state, size) = self.marks[at] else { return None };
        let size = usize::from(size);
        let whole = self.marks.get(at + 1..at + size).is_some_and(|rest| rest.iter().all(|mark| *mark == Mark::Rest));
        whole.then_some((state, size))
    }

    /// So many bytes.
    ///
    /// # Errors
    /// If they are not all inside.
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

    /// The low bytes of a lane.
    ///
    /// # Errors
    /// If they would not all be inside.
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

    /// The first place where bytes that a machine has left are not what they should be: the offset, and in words what
    /// they should be.
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

    /// How many bytes nothing is known of.
    pub fn unknown(&self) -> usize {
        self.marks.iter().filter(|mark| **mark == Mark::Unknown).count()
    }
}
