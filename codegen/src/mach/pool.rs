//! The constants behind the code, each once.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The bytes of a constant: 4 to 64, a power of two, at which it is aligned.
pub(crate) type Bytes = SmallVec<[u8; 64]>;

/// Constants by number.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    constants: Vec<Bytes>,
    numbers: FxHashMap<Bytes, u32>,
}

impl Pool {
    /// The number of a constant.
    pub(crate) fn number(&mut self, bytes: Bytes) -> u32 {
        let next = self.constants.len() as u32;
        let Self { constants, numbers } = self;
        *numbers.entry(bytes).or_insert_with_key(|bytes| {
            constants.push(bytes.clone());
            next
        })
    }

    /// Appends all constants, the largest first, and says where each one is.
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
