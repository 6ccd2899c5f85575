//! Pseudo-random numbers.
//!
//! Example: `Random::new(7).below(10)` is the same on every machine.

/// A generator that returns the same numbers on every machine.
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or(0) % limit
    }
}
