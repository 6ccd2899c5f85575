//! Integer division. It never traps: the result of a division by zero is undefined.
//!
//! A division by a constant becomes a multiplication ([`Vectorizer::divide_by`]), as described by Granlund and
//! Montgomery, "Division by Invariant Integers using Multiplication", 1994. A 32-bit vector division by a [uniform
//! value](super::invariant_division) also becomes a multiplication. Other vector divisions of up to 32 bits use
//! floating-point operations, whose truncated results are exact. Other 64-bit vector divisions are scalarised.

use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Op as VOp, Type as Register, UnOp as VUn, Value as V};

use super::shape::{Mode, elem};
use super::value::Regs;
use super::vectorizer::Vectorizer;
use crate::ir::{BinOp, Scalar};

impl Vectorizer<'_> {
    /// Lowers an integer division or remainder.
    pub(super) fn divide(&mut self, op: BinOp, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Regs {
        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        if let Some(divisor) = self.same_constant(b).map(|bits| bits & of.mask()).filter(|&divisor| divisor != 0) {
            return self.divide_by(op, of, mode, a, divisor);
        }
        if mode == Mode::Varying
            && of.bits() == 32
            && let Some(divisor) = self.same_scalar(b)
        {
            return self.divide_by_scalar(op, a, divisor);
        }
        if mode == Mode::Varying && of.bits() <= 32 {
            return self.divide_as_floats(op, signed, of, a, b);
        }
        let (a, b) = (self.extend(of, mode, a, signed), self.extend(of, mode, b, signed));
        let wide = if of.bits() == 64 { Scalar::I64 } else { Scalar::I32 };
        self.scalars(wide, mode, &[&a, &b], wide, &mut |this, of| this.divide_scalars(op, wide, of[0], of[1]))
    }

    /// Emits a scalar division. Replaces divisors that would trap: 0, and -1 if signed.
    fn divide_scalars(&mut self, op: BinOp, of: Scalar, a: V, b: V) -> V {
        let ty = Register::Scalar(elem(of));
        let (one, zero, minus) = (self.bits(ty, 1), self.bits(ty, 0), self.bits(ty, of.mask()));
        let (vop, signed, remainder) = match op {
            BinOp::SDiv => (VBin::SDiv, true, false),
            BinOp::UDiv => (VBin::UDiv, false, false),
            BinOp::SRem => (VBin::SRem, true, true),
            _ => (VBin::URem, false, true),
        };
        let is_zero = self.emit(Register::I32, VOp::Cmp(VCmp::Eq, b, zero));
        let mut divisor = self.emit(ty, VOp::Select(is_zero, one, b));
        if !signed {
            return self.emit(ty, VOp::Bin(vop, a, divisor));
        }
        let is_minus = self.emit(Register::I32, VOp::Cmp(VCmp::Eq, b, minus));
        divisor = self.emit(ty, VOp::Select(is_minus, one, divisor));
        let made = self.emit(ty, VOp::Bin(vop, a, divisor));
        let other = if remainder { zero } else { self.emit(ty, VOp::Un(VUn::Neg, a)) };
        self.emit(ty, VOp::Select(is_minus, other, made))
    }

    /// Divides with floating-point operations. After truncation, quotients of integers below 2^32 are exact in doubles,
    /// and quotients of integers below 2^16 are exact in floats.
    fn divide_as_floats(&mut self, op: BinOp, signed: bool, of: Scalar, a: &[V], b: &[V]) -> Regs {
        let mode = Mode::Varying;
        let (a, b) = (self.extend(of, mode, a, signed), self.extend(of, mode, b, signed));
        let quotient = if of.bits() < 32 {
            let f32 = self.shape.register(Scalar::F32, mode);
            let (x, y) = (self.map(f32, &a, |a| VOp::Cast(VCast::SToF, a)), self.map(f32, &b, |b| VOp::Cast(VCast::SToF, b)));
            let quotient = self.bin_regs(VBin::FDiv, Scalar::F32, mode, &x, &y);
            let i32 = self.shape.register(Scalar::I32, mode);
            self.map(i32, &quotient, |value| VOp::Cast(VCast::FToS, value))
        } else {
            let (to, back) = if signed { (VCast::SToF, VCast::FToS) } else { (VCast::UToF, VCast::FToU) };
            let (x, y) = (self.widen(to, Scalar::F64, mode, &a), self.widen(to, Scalar::F64, mode, &b));
            let quotient = self.bin_regs(VBin::FDiv, Scalar::F64, mode, &x, &y);
            self.narrow(back, Scalar::I32, mode, &quotient)
        };
        if matches!(op, BinOp::SDiv | BinOp::UDiv) {
            return quotient;
        }
        let product = self.bin_regs(VBin::Mul, Scalar::I32, mode, &quotient, &b);
        self.bin_regs(VBin::Sub, Scalar::I32, mode, &a, &product)
    }

    /// Returns the bits of a constant that all registers contain, or `None` if they contain anything else.
    pub(super) fn same_constant(&self, regs: &[V]) -> Option<u64> {
        let (first, others) = regs.split_first()?;
        others.iter().all(|reg| reg == first).then(|| self.constant_bits(*first)).flatten()
    }

    /// Divides by a constant that is not 0.
    fn divide_by(&mut self, op: BinOp, of: Scalar, mode: Mode, a: &[V], divisor: u64) -> Regs {
        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        let wide = if of.bits() == 64 { Scalar::I64 } else { Scalar::I32 };
        let a = self.extend(of, mode, a, signed);
        let quotient = if signed {
            let number = of.sign_extend(divisor);
            // Divide the magnitudes, then apply the sign.
            let sign = self.bin_const(VBin::AShr, wide, mode, &a, u64::from(wide.bits() - 1));
            let flipped = self.bin_regs(VBin::Xor, wide, mode, &a, &sign);
            let size = self.bin_regs(VBin::Sub, wide, mode, &flipped, &sign);
            let quotient = self.unsigned_quotient(wide, mode, &size, number.unsigned_abs() & wide.mask());
            let flipped = self.bin_regs(VBin::Xor, wide, mode, &quotient, &sign);
            let quotient = self.bin_regs(VBin::Sub, wide, mode, &flipped, &sign);
            if number < 0 { self.un_regs(VUn::Neg, wide, mode, &quotient) } else { quotient }
        } else {
            self.unsigned_quotient(wide, mode, &a, divisor)
        };
        if matches!(op, BinOp::SDiv | BinOp::UDiv) {
            return quotient;
        }
        let divisor = if signed { of.sign_extend(divisor).cast_unsigned() & wide.mask() } else { divisor };
        let product = self.bin_const(VBin::Mul, wide, mode, &quotient, divisor);
        self.bin_regs(VBin::Sub, wide, mode, &a, &product)
    }

    fn unsigned_quotient(&mut self, of: Scalar, mode: Mode, a: &[V], divisor: u64) -> Regs {
        if divisor.is_power_of_two() {
            return self.bin_const(VBin::LShr, of, mode, a, u64::from(divisor.trailing_zeros()));
        }
        let bits = of.bits();
        let twos = divisor.trailing_zeros();
        if let Some((factor, shift)) = exact_factor(bits, 0, divisor) {
            return self.scaled_product(of, mode, a, factor, shift);
        }
        if let Some((factor, shift)) = exact_factor(bits, twos, divisor >> twos) {
            let a = self.bin_const(VBin::LShr, of, mode, a, u64::from(twos));
            return self.scaled_product(of, mode, &a, factor, shift);
        }
        // The exact factor has one bit more than the integer.
        let shift = 64 - (divisor - 1).leading_zeros();
        let factor = ((1_u128 << bits) * ((1_u128 << shift) - u128::from(divisor)) / u128::from(divisor) + 1) as u64;
        let factor = self.number(of, mode, factor & of.mask());
        let high = self.multiply_high(false, of, mode, a, &factor);
        let rest = self.bin_regs(VBin::Sub, of, mode, a, &high);
        let half = self.bin_const(VBin::LShr, of, mode, &rest, 1);
        let sum = self.bin_regs(VBin::Add, of, mode, &half, &high);
        self.bin_const(VBin::LShr, of, mode, &sum, u64::from(shift - 1))
    }
    /// Computes the upper half of a product, shifted right.
    fn scaled_product(&mut self, of: Scalar, mode: Mode, a: &[V], factor: u64, shift: u32) -> Regs {
        let factor = self.number(of, mode, factor);
        let high = self.multiply_high(false, of, mode, a, &factor);
        if shift == 0 { high } else { self.bin_const(VBin::LShr, of, mode, &high, u64::from(shift)) }
    }
}

/// Returns a factor with `bits` bits, and the right shift of the product's upper half. They produce the quotient of
/// every number whose highest `free` bits are zero. The factor is a power of two divided by the divisor, rounded up.
/// Returns `None` if each such factor needs more bits, or its rounding error can change a quotient (Granlund and
/// Montgomery, 1994). Two thirds of all divisors have such a factor.
fn exact_factor(bits: u32, free: u32, divisor: u64) -> Option<(u64, u32)> {
    let divisor = u128::from(divisor);
    let fits = |shift: u32| {
        let power = 1_u128 << (bits + shift);
        let factor = power.div_ceil(divisor);
        let excess = factor * divisor - power;
        (excess <= 1_u128 << (shift + free)).then_some(factor)
    };
    let found = (0..bits).find_map(|shift| fits(shift).map(|factor| (factor, shift)));
    found.filter(|(factor, _)| factor >> bits == 0).map(|(factor, shift)| (factor as u64, shift))
}

#[cfg(test)]
mod tests {
    use super::exact_factor;

    #[test]
    fn quotients_by_factors_are_exact() {
        let (mut with, mut evens) = (0, 0);
        for bits in [32, 64] {
            let most = if bits == 64 { u64::MAX } else { u64::from(u32::MAX) };
            let divisors =
                (3..2000).chain([1_000_000_007, most - 1, most, most / 2 + 1, 0x8000_0003]).filter(|n: &u64| !n.is_power_of_two());
            for divisor in divisors {
                let twos = divisor.trailing_zeros();
                for (free, divisor) in [(0, divisor), (twos, divisor >> twos)] {
                    let Some((factor, shift)) = exact_factor(bits, free, divisor).filter(|_| divisor > 1) else {
                        evens += usize::from(free > 0);
                        continue;
                    };
                    with += 1;
                    let most = most >> free;
                    let last = most / divisor * divisor;
                    for a in [0, 1, divisor - 1, divisor, divisor.saturating_add(1), last - 1, last, most, most / 2, most / 3] {
                        let a = a.min(most);
                        let product = u128::from(a) * u128::from(factor);
                        assert_eq!((product >> bits >> shift) as u64, a / divisor, "{a} / {divisor}, {bits} bits");
                    }
                }
            }
        }
        assert!(with > 4000 && evens == 0, "{with} {evens}");
    }
}
