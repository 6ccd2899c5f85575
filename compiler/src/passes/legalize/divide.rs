//! Division of 64-bit integers by constants, as multiplication. Devices divide 32 bits by constants well; of 64 bits they make a loop or a long function.
//!
//! For a divisor `d` and `2^(l-1) < d <= 2^l`, with `m = floor(2^64 (2^l - d) / d) + 1` and `t` the high half of `m n`, the quotient of `n` is
//! `(t + (n - t) / 2) / 2^(l-1)`, rounded down (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, figure 4.1).

use rustc_hash::FxHashMap;

use super::Lower;
use crate::ir::{BinOp, Function, Region, Type, Value};

/// The 64-bit constants of a body.
pub(super) fn constants(function: &Function, body: &Region) -> FxHashMap<Value, u64> {
    let mut found = body.constants();
    found.retain(|value, _| function.ty(*value) == Type::I64);
    found
}

/// The multiplier and the last shift for a divisor that is no power of two.
fn magic(divisor: u64) -> (u64, u32) {
    let ceiling = 64 - (divisor - 1).leading_zeros();
    let rest = (1_u128 << ceiling) - u128::from(divisor);
    let multiplier = (rest << 64) / u128::from(divisor) + 1;
    // Below 2^64, since the rest is smaller than the divisor.
    (multiplier as u64, ceiling - 1)
}

impl Lower<'_> {
    /// An unsigned quotient or remainder; `None` where the divisor is not known, or better left to the device.
    pub(super) fn divide(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        let divisor = *self.longs.get(&b)?;
        if divisor < 3 || divisor.is_power_of_two() {
            return None;
        }
        let (multiplier, shift) = magic(divisor);
        let factor = self.bits_of(Type::I64, multiplier);
        let high = self.integer(BinOp::UMulHi, a, factor)?;
        let rest = self.bin(BinOp::Sub, a, high);
        let half = self.bin_bits(BinOp::LShr, rest, 1);
        let sum = self.bin(BinOp::Add, high, half);
        let quotient = self.bin_bits(BinOp::LShr, sum, u64::from(shift));
        if op == BinOp::UDiv {
            return Some(quotient);
        }
        let product = self.bin(BinOp::Mul, quotient, b);
        Some(self.bin(BinOp::Sub, a, product))
    }
}

#[cfg(test)]
mod tests {
    use super::magic;

    #[test]
    fn the_formula_divides() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random >> (random % 60)
        };
        let mut divisors = vec![3, 5, 7, 10, 641, 1_000_000_007, u64::MAX, u64::MAX - 1, (1 << 63) + 1, (1 << 63) - 1, (1 << 32) + 1];
        divisors.extend((0..2000).map(|_| next().max(3)).filter(|divisor| !divisor.is_power_of_two()));
        for divisor in divisors {
            let (multiplier, shift) = magic(divisor);
            let edges = [0, 1, divisor - 1, divisor, divisor.wrapping_add(1), divisor.wrapping_mul(3), u64::MAX, u64::MAX - 1, 1 << 63];
            for n in edges.into_iter().chain((0..50).map(|_| next())) {
                let high = ((u128::from(multiplier) * u128::from(n)) >> 64) as u64;
                assert_eq!((high + ((n - high) >> 1)) >> shift, n / divisor, "{n} / {divisor}");
            }
        }
    }
}
