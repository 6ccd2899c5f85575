//! The constant pool, which follows the code. Equal constants are stored once.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A constant of 4 to 64 bytes. Its size is a power of two, and its alignment equals its size.
pub(crate) type Bytes = SmallVec<[u8; 64]>;

/// The constants of a module.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    constants: Vec<Bytes>,
    numbers: FxHashMap<Bytes, u32>,
}

impl Pool {
    /// Adds a constant if it is new. Returns its index.
    pub(crate) fn number(&mut self, bytes: Bytes) -> u32 {
        let next = self.constants.len() as u32;
        let Self { constants, numbers } = self;
        *numbers.entry(bytes).or_insert_with_key(|bytes| {
            constants.push(bytes.clone());
            next
        })
    }

    /// Returns an upper bound of the number of bytes that [`Self::append`] adds, including the padding before the
    /// constants.
    pub(crate) fn bytes(&self) -> usize {
        self.constants.iter().map(|constant| constant.len()).sum::<usize>()
            + self.constants.iter().map(|constant| constant.len()).max().unwrap_or(0)
    }

    /// Appends all constants, the largest first. Returns the offset of each constant, indexed by pool index.
    pub(crate) fn append(&self, out: &mut Vec<u8>, padding: u8) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.constants.len()).collect();
        order.sort_by_key(|number| usize::MAX - self.constants[*number].len());
        if let Some(&first) = order.first() {
            out.resize(out.len().next_multiple_of(self.constants[first].len()), padding);
        }
        let mut places = vec![0; order.len()];
        for number in order {
            places[number] = out.len();
            out.extend_from_slice(&self.constants[number]);
        }
        places
    }
}
