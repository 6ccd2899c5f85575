//! Pairs in memory and in vectors of words: the low word of each pair comes first.
//!
//! Example: `load i64x2 %p align 16` becomes `load i32x4 %p align 16`, whose lanes 0 and 2 are the low words.

use super::{Pair, Pairs};
use crate::ir::{BinOp, Build, Op, Scalar, Type, Value};
use crate::passes::PassError;

/// Splits a number of lanes into parts that fit a vector of words. Returns the first lane and the number of lanes of
/// each part.
fn parts(lanes: u8) -> &'static [(u8, u8)] {
    match lanes {
        1 => &[(0, 1)],
        2 => &[(0, 2)],
        3 => &[(0, 2), (2, 1)],
        4 => &[(0, 4)],
        8 => &[(0, 8)],
        _ => &[(0, 8), (8, 8)],
    }
}

/// Returns the alignment in bytes of pair number `lane`, if the first pair is aligned to `align`.
fn alignment(align: u32, lane: u8) -> u32 {
    if lane == 0 { align } else { align.min(1 << (u32::from(lane) * 8).trailing_zeros()) }
}

impl Pairs<'_> {
    /// Extracts the low words and the high words of the first `lanes` pairs from a vector of words.
    pub(super) fn split_words(&mut self, words: Value, lanes: u8) -> Pair {
        let half = |pairs: &mut Self, first: u8| {
            if lanes == 1 {
                return pairs.extract(words, first);
            }
            let chosen = (0..lanes).map(|lane| Some(2 * lane + first)).collect();
            pairs.push(Type::Vector(Scalar::I32, lanes), Op::Shuffle(words, words, chosen))
        };
        (half(self, 0), half(self, 1))
    }

    /// Builds a vector of words from `count` lanes of a pair, starting at lane `first`.
    fn join_lanes(&mut self, (low, high): Pair, (first, count): (u8, u8)) -> Value {
        let lanes = self.type_of(low).lanes();
        let ty = Type::Vector(Scalar::I32, 2 * count);
        if lanes == 1 {
            return self.push(ty, Op::Construct(vec![low, high]));
        }
        if count == 1 {
            let (low, high) = (self.extract(low, first), self.extract(high, first));
            return self.push(ty, Op::Construct(vec![low, high]));
        }
        let chosen = (first..first + count).flat_map(|lane| [Some(lane), Some(lanes + lane)]).collect();
        self.push(ty, Op::Shuffle(low, high, chosen))
    }

    /// Builds a vector of words from all lanes of a value. Three lanes get the size of four.
    pub(super) fn join_words(&mut self, value: Value) -> Result<Value, PassError> {
        let (low, high) = self.pair(value)?;
        match self.type_of(low).lanes() {
            16 => Err(self.unsupported("a vector of sixteen 64-bit integers in a `printf` or bitcast")),
            3 => {
                let chosen = [0, 3, 1, 4, 2, 5].map(Some).into_iter().chain([None, None]).collect();
                Ok(self.push(Type::Vector(Scalar::I32, 8), Op::Shuffle(low, high, chosen)))
            }
            lanes => Ok(self.join_lanes((low, high), (0, lanes))),
        }
    }

    /// Returns the address of pair number `lane` after `ptr`.
    fn pair_address(&mut self, ptr: Value, lane: u8) -> Value {
        if lane == 0 {
            return ptr;
        }
        let further = self.word(u32::from(lane) * 8);
        // The pointer of an access must be a single `ptr_add` of its root.
        match self.addresses.get(&ptr).copied() {
            Some((start, offset)) => {
                let offset = self.bin(BinOp::Add, offset, further);
                self.ptr_add(start, offset)
            }
            None => self.ptr_add(ptr, further),
        }
    }

    pub(super) fn load(&mut self, ptr: Value, lanes: u8, align: u32, volatile: bool) -> Pair {
        let mut loaded: Vec<Pair> = Vec::new();
        for &(first, count) in parts(lanes) {
            let ptr = self.pair_address(ptr, first);
            let align = alignment(align, first);
            let words = self.push(Type::Vector(Scalar::I32, 2 * count), Op::Load { ptr, align, volatile });
            loaded.push(self.split_words(words, count));
        }
        let &[(low, high), ref rest @ ..] = loaded.as_slice() else { return (ptr, ptr) };
        let Some(&(next_low, next_high)) = rest.first() else { return (low, high) };
        let ty = Type::Vector(Scalar::I32, lanes);
        let mut join = |a: Value, b: Value| {
            if lanes == 3 {
                let (x, y) = (self.extract(a, 0), self.extract(a, 1));
                return self.push(ty, Op::Construct(vec![x, y, b]));
            }
            self.push(ty, Op::Shuffle(a, b, (0..lanes).map(Some).collect()))
        };
        (join(low, next_low), join(high, next_high))
    }

    pub(super) fn store(&mut self, ptr: Value, value: Value, align: u32, volatile: bool) -> Result<(), PassError> {
        let pair = self.pair(value)?;
        let lanes = self.type_of(pair.0).lanes();
        for &(first, count) in parts(lanes) {
            let value = self.join_lanes(pair, (first, count));
            let ptr = self.pair_address(ptr, first);
            self.effect(Op::Store { ptr, value, align: alignment(align, first), volatile });
        }
        Ok(())
    }
}
