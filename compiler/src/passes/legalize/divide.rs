//! Lowers integer divisions. If a function needs quotient and remainder of the same operands, the remainder is computed
//! from the quotient.
//!
//! Divisions of 64-bit integers by constants become multiplications. The compilers of devices do this for 32-bit
//! integers. For 64 bits they use a loop or a long function. On an H100, a loop of 600 iterations with two remainders
//! takes 41 us. With the driver's code, it takes 213 us.
//!
//! For a divisor `d` and `2^(l-1) < d <= 2^l`, let `m = floor(2^64 (2^l - d) / d) + 1`, and `t` the high half of `m n`.
//! The quotient of `n` is `(t + (n - t) / 2) / 2^(l-1)`, rounded down (Granlund and Montgomery, "Division by Invariant
//! Integers using Multiplication", 1994, figure 4.1).
//!
//! For half of all divisors, a 64-bit multiplier suffices. Let `m = floor(2^(64+s) / d) + 1`. If `m d - 2^(64+s) <=
//! 2^s`, the quotient is the high half of `m n`, divided by `2^s` (theorem 4.2 of the same paper). For even divisors,
//! factors of 2 are shifted out first if a 64-bit multiplier then suffices.
//!
//! Signed division divides magnitudes: the quotient has the product of the signs, the remainder has the sign of the
//! dividend. Divisions by values that are not constant do not change, unless the device miscompiles them
//! ([`Defects::signed_quotients`](crate::target::Defects::signed_quotients)).

use rustc_hash::FxHashSet;

use super::Lower;
use crate::analysis::definitions::Constants;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Op, Region, Scalar, Type, Value};

/// Finds the operands for which both quotient and remainder are needed, with the same signedness. Excludes constant
/// divisors: for 32 bits, the compilers of devices compute the quotient only once. For 64 bits, [`Lower::divide`]
/// lowers both operations.
pub(super) fn shared_quotients(body: &Region, known: &Constants) -> FxHashSet<(Value, Value)> {
    let (mut quotients, mut remainders) = (FxHashSet::default(), FxHashSet::default());
    body.walk(&mut |inst| match inst.op {
        Op::Bin(op @ (BinOp::UDiv | BinOp::SDiv), a, b) if known.bits(b).is_none() => {
            quotients.insert((op == BinOp::SDiv, a, b));
        }
        Op::Bin(op @ (BinOp::URem | BinOp::SRem), a, b) if known.bits(b).is_none() => {
            remainders.insert((op == BinOp::SRem, a, b));
        }
        _ => {}
    });
    let both = |signed| quotients.contains(&signed) && remainders.contains(&signed);
    quotients.iter().filter(|&&found| both(found)).map(|&(_, a, b)| (a, b)).collect()
}

/// Returns the multiplier `m` and the last shift for a divisor that is not a power of two.
fn magic(divisor: u64) -> (u64, u32) {
    let ceiling = 64 - (divisor - 1).leading_zeros();
    let rest = (1_u128 << ceiling) - u128::from(divisor);
    let multiplier = (rest << 64) / u128::from(divisor) + 1;
    // The multiplier is less than 2^64, because `rest` is less than the divisor.
    (multiplier as u64, ceiling - 1)
}

/// Returns a multiplier and a shift that suffice for dividends below `2^bits`, or `None` if there are none.
fn short_magic(divisor: u64, bits: u32) -> Option<(u64, u32)> {
    let shift = 63 - divisor.leading_zeros();
    let power = 1_u128 << (64 + shift);
    let multiplier = power / u128::from(divisor) + 1;
    // The multiplier is less than 2^64, because 2^shift is less than the divisor.
    let excess = multiplier * u128::from(divisor) - power;
    (excess <= 1_u128 << (64 + shift - bits)).then_some((multiplier as u64, shift))
}

impl Lower<'_> {
    /// Lowers a division of 64-bit integers. Returns `None` if the division does not change.
    pub(super) fn divide(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        if self.ty(b).scalar() != Some(Scalar::I64) {
            return None;
        }
        let divisor = self.known.bits(b).filter(|_| self.ty(b) == Type::I64);
        match (op, divisor) {
            (BinOp::UDiv | BinOp::URem, Some(divisor)) => self.divide_by(op, a, divisor),
            (BinOp::SDiv | BinOp::SRem, Some(divisor)) if divisor != 0 => Some(self.divide_magnitudes(op, a, b, Some(divisor))),
            (BinOp::SDiv | BinOp::SRem, None) if self.target.shaders.defects.signed_quotients => {
                Some(self.divide_magnitudes(op, a, b, None))
            }
            _ => None,
        }
    }

    /// Lowers an unsigned division by a constant. Returns `None` if the device's compiler emits better code.
    fn divide_by(&mut self, op: BinOp, a: Value, divisor: u64) -> Option<Value> {
        if divisor < 3 || divisor.is_power_of_two() {
            return None;
        }
        if op == BinOp::URem && divisor >> 31 == 0 {
            return Some(self.short_remainder(a, divisor));
        }
        let quotient = self.quotient(a, divisor)?;
        if op == BinOp::UDiv {
            return Some(quotient);
        }
        let product = self.bin_bits(BinOp::Mul, quotient, divisor);
        Some(self.bin(BinOp::Sub, a, product))
    }

    /// Lowers a signed division. The magnitude of the smallest number fits an unsigned type, and its quotient by -1
    /// wraps as required. A division by zero has the result of a division by one, because emission replaces the
    /// divisor of the unsigned division.
    fn divide_magnitudes(&mut self, op: BinOp, a: Value, b: Value, divisor: Option<u64>) -> Value {
        let sign = self.bin_bits(BinOp::AShr, a, 63);
        let magnitude = self.with_sign(a, sign);
        let unsigned = if op == BinOp::SDiv { BinOp::UDiv } else { BinOp::URem };
        let Some(divisor) = divisor else {
            let other = self.bin_bits(BinOp::AShr, b, 63);
            let by = self.with_sign(b, other);
            let made = self.bin(unsigned, magnitude, by);
            let sign = if op == BinOp::SDiv { self.bin(BinOp::Xor, sign, other) } else { sign };
            return self.with_sign(made, sign);
        };
        let by = divisor.cast_signed().unsigned_abs();
        let made = self.divide_by(unsigned, magnitude, by).unwrap_or_else(|| match op {
            BinOp::SDiv => self.bin_bits(BinOp::LShr, magnitude, by.trailing_zeros().into()),
            _ => self.bin_bits(BinOp::And, magnitude, by - 1),
        });
        let sign = if op == BinOp::SDiv && divisor != by { self.bin_bits(BinOp::Xor, sign, u64::MAX) } else { sign };
        self.with_sign(made, sign)
    }

    /// Emits the number if `sign` is 0, or its negation if `sign` is -1.
    fn with_sign(&mut self, value: Value, sign: Value) -> Value {
        let flipped = self.bin(BinOp::Xor, value, sign);
        self.bin(BinOp::Sub, flipped, sign)
    }

    /// Emits the remainder by a divisor from 3 to 2^31 - 1. A quotient that may be too small by one is sufficient. Its
    /// remainder is less than twice the divisor, fits a word, and is corrected in 32 bits.
    fn short_remainder(&mut self, a: Value, divisor: u64) -> Value {
        // The multiplier is too small by less than 1, and each of the three dropped low parts of the product is less
        // than 1. The high half is therefore too small by less than 4, which is at most 2^shift.
        let scale = if divisor < 4 { divisor * 2 } else { divisor };
        let shift = 63 - scale.leading_zeros();
        let multiplier = ((1_u128 << (64 + shift)) / u128::from(scale)) as u64;
        let ty = self.ty(a);
        let (low, high) = self.halves(Scalar::I64, a);
        let (below, above) = (self.bits(ty, multiplier & 0xffff_ffff), self.bits(ty, multiplier >> 32));
        let product = self.bin(BinOp::Mul, high, above);
        let [x, y] = [(high, below), (low, above)].map(|(x, y)| {
            let product = self.bin(BinOp::Mul, x, y);
            self.bin_bits(BinOp::LShr, product, 32)
        });
        let carries = self.bin(BinOp::Add, x, y);
        let high = self.bin(BinOp::Add, product, carries);
        // For divisor 3, `scale` is 6, so this is the quotient by 6.
        let quotient = self.bin_bits(BinOp::LShr, high, u64::from(shift));
        let [a, quotient] = [a, quotient].map(|value| self.cast(CastOp::Trunc, value, Scalar::I32));
        let rest = self.bin_bits(BinOp::Mul, quotient, scale);
        let mut rest = self.bin(BinOp::Sub, a, rest);
        for multiple in [scale, divisor] {
            // If `rest` is less than `multiple`, the difference wraps to a larger number.
            let less = self.bin_bits(BinOp::Sub, rest, multiple);
            rest = self.bin(BinOp::UMin, rest, less);
            if multiple == divisor {
                break;
            }
        }
        self.cast(CastOp::ZExt, rest, Scalar::I64)
    }

    /// Emits a quotient or remainder of operands for which both are needed. Divides only once.
    pub(super) fn divide_once(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        let quotient = if let Some(&quotient) = self.quotients.get(&(signed, a, b)) {
            quotient
        } else {
            let op = if signed { BinOp::SDiv } else { BinOp::UDiv };
            let quotient = self.divide(op, a, b).unwrap_or_else(|| self.bin(op, a, b));
            self.quotients.insert((signed, a, b), quotient);
            quotient
        };
        if matches!(op, BinOp::UDiv | BinOp::SDiv) {
            return quotient;
        }
        let product = self.bin(BinOp::Mul, quotient, b);
        let rest = self.bin(BinOp::Sub, a, product);
        // For a division by zero, emission returns the quotient by one, which is the dividend. So the remainder must be
        // 0.
        let is_zero = self.cmp_bits(CmpOp::Eq, b, 0);
        let zero = self.bits(self.ty(b), 0);
        self.select(is_zero, zero, rest)
    }

    /// Emits the unsigned quotient by a constant that is not a power of two.
    fn quotient(&mut self, a: Value, divisor: u64) -> Option<Value> {
        let twos = divisor.trailing_zeros();
        let short =
            short_magic(divisor, 64).map(|found| (0, found)).or_else(|| short_magic(divisor >> twos, 64 - twos).map(|found| (twos, found)));
        if let Some((before, (multiplier, shift))) = short {
            let a = if before == 0 { a } else { self.bin_bits(BinOp::LShr, a, u64::from(before)) };
            let factor = self.bits(Type::I64, multiplier);
            let high = self.integer(BinOp::UMulHi, a, factor)?;
            return Some(if shift == 0 { high } else { self.bin_bits(BinOp::LShr, high, u64::from(shift)) });
        }
        let (multiplier, shift) = magic(divisor);
        let factor = self.bits(Type::I64, multiplier);
        let high = self.integer(BinOp::UMulHi, a, factor)?;
        let rest = self.bin(BinOp::Sub, a, high);
        let half = self.bin_bits(BinOp::LShr, rest, 1);
        let sum = self.bin(BinOp::Add, high, half);
        Some(self.bin_bits(BinOp::LShr, sum, u64::from(shift)))
    }
}

#[cfg(test)]
mod tests {
    use super::{magic, short_magic};

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
        let mut short = 0;
        for divisor in divisors {
            let (multiplier, shift) = magic(divisor);
            let edges = [0, 1, divisor - 1, divisor, divisor.wrapping_add(1), divisor.wrapping_mul(3), u64::MAX, u64::MAX - 1, 1 << 63];
            for n in edges.into_iter().chain((0..50).map(|_| next())) {
                let high = ((u128::from(multiplier) * u128::from(n)) >> 64) as u64;
                assert_eq!((high + ((n - high) >> 1)) >> shift, n / divisor, "{n} / {divisor}");
                for twos in [0, divisor.trailing_zeros()] {
                    if let Some((multiplier, shift)) = short_magic(divisor >> twos, 64 - twos) {
                        short += 1;
                        let high = ((u128::from(multiplier) * u128::from(n >> twos)) >> 64) as u64;
                        assert_eq!(high >> shift, n / divisor, "{n} / {divisor}, with {twos} factors of 2 shifted out");
                    }
                }
            }
        }
        assert!(short > 1000, "only {short} quotients with a 64-bit multiplier");
    }
}
