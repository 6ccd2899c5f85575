//! Vector divisions by a uniform divisor that is unknown at compile time, such as a matrix or image width, or a table
//! size.
//!
//! The division becomes a multiplication with a factor and two shifts. The factor and the shift amounts are computed
//! once, at the definition of the divisor. The method is that of Granlund and Montgomery, "Division by Invariant
//! Integers using Multiplication", 1994, figure 4.1:
//!
//! ```text
//! l = ceil(log2 d)    m = floor(2^32 * (2^l - d) / d) + 1    s = min(l, 1)    t = l - s
//! h = upper half of m * n       n / d = (h + ((n - h) >> s)) >> t
//! ```

use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Op as VOp, Type as Register, UnOp as VUn, Value as V};

use super::shape::Mode;
use super::value::Regs;
use super::vectorizer::Vectorizer;
use crate::ir::{BinOp, Scalar};

/// The multiplication that replaces a division, as 32-bit scalars.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    factor: V,
    shifts: [V; 2],
    /// All ones if the divisor is negative, otherwise 0. `None` for unsigned divisions.
    sign: Option<V>,
}

impl Vectorizer<'_> {
    /// Returns the scalar that all registers are splats of, or `None` if there is no such scalar.
    pub(super) fn same_scalar(&self, regs: &[V]) -> Option<V> {
        let (first, others) = regs.split_first()?;
        let alike = others.iter().all(|reg| reg == first);
        alike.then(|| self.cache.splats.iter().find(|(_, made)| *made == first).map(|(&scalar, _)| scalar)).flatten()
    }

    /// Divides 32-bit numbers by a scalar. The result of a division by 0 is undefined.
    pub(super) fn divide_by_scalar(&mut self, op: BinOp, a: &[V], divisor: V) -> Regs {
        let (of, mode) = (Scalar::I32, Mode::Varying);
        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        let Divisor { factor, shifts, sign } = self.divisor(divisor, signed);
        let quotient = if let Some(sign) = sign {
            // Divide the magnitudes, then apply the sign.
            let a_sign = self.bin_const(VBin::AShr, of, mode, a, 31);
            let size = self.with_sign(a, &a_sign);
            let quotient = self.quotient(&size, factor, shifts);
            let sign = self.splat(sign, of);
            let both = self.bin_regs(VBin::Xor, of, mode, &a_sign, &sign);
            self.with_sign(&quotient, &both)
        } else {
            self.quotient(a, factor, shifts)
        };
        if matches!(op, BinOp::SDiv | BinOp::UDiv) {
            return quotient;
        }
        let divisor = self.splat(divisor, of);
        let product = self.bin_regs(VBin::Mul, of, mode, &quotient, &divisor);
        self.bin_regs(VBin::Sub, of, mode, a, &product)
    }

    /// Negates the numbers in lanes whose sign is all ones. Other signs are 0.
    fn with_sign(&mut self, numbers: &[V], sign: &[V]) -> Regs {
        let flipped = self.bin_regs(VBin::Xor, Scalar::I32, Mode::Varying, numbers, sign);
        self.bin_regs(VBin::Sub, Scalar::I32, Mode::Varying, &flipped, sign)
    }

    fn quotient(&mut self, a: &[V], factor: V, shifts: [V; 2]) -> Regs {
        let (of, mode) = (Scalar::I32, Mode::Varying);
        let factor = self.splat(factor, of);
        let [first, second] = shifts.map(|shift| self.splat(shift, of));
        let high = self.multiply_high(false, of, mode, a, &factor);
        let rest = self.bin_regs(VBin::Sub, of, mode, a, &high);
        let part = self.bin_regs(VBin::LShr, of, mode, &rest, &first);
        let sum = self.bin_regs(VBin::Add, of, mode, &part, &high);
        self.bin_regs(VBin::LShr, of, mode, &sum, &second)
    }

    /// Returns the multiplication that replaces a division. It is placed in the block that defines the divisor, so that
    /// all users share it.
    fn divisor(&mut self, number: V, signed: bool) -> Divisor {
        if let Some(&known) = self.cache.divisors.get(&(number, signed)) {
            return known;
        }
        let def_site = self.def_site(number);
        let made = self.in_block(def_site, |this| this.make_divisor(number, signed));
        self.cache.divisors.insert((number, signed), made);
        made
    }

    fn make_divisor(&mut self, number: V, signed: bool) -> Divisor {
        let (narrow, wide) = (Register::I32, Register::I64);
        let bin = |this: &mut Self, ty: Register, op: VBin, a: V, b: V| this.emit(ty, VOp::Bin(op, a, b));
        let (one, zero) = (self.i32(1), self.i32(0));
        let (mut size, mut sign) = (number, None);
        if signed {
            let by = self.i32(31);
            let divisor_sign = bin(self, narrow, VBin::AShr, number, by);
            let flipped = bin(self, narrow, VBin::Xor, number, divisor_sign);
            size = bin(self, narrow, VBin::Sub, flipped, divisor_sign);
            sign = Some(divisor_sign);
        }
        // Replace a divisor of 0 by 1, because a scalar division by 0 would trap.
        let is_zero = self.emit(narrow, VOp::Cmp(VCmp::Eq, size, zero));
        let size = self.emit(narrow, VOp::Select(is_zero, one, size));
        let less = bin(self, narrow, VBin::Sub, size, one);
        let zeros = self.emit(narrow, VOp::Un(VUn::Clz, less));
        let all = self.i32(32);
        let log = bin(self, narrow, VBin::Sub, all, zeros);
        let first = bin(self, narrow, VBin::UMin, log, one);
        let second = bin(self, narrow, VBin::Sub, log, first);
        let [size, log] = [size, log].map(|value| self.emit(wide, VOp::Cast(VCast::ZExt, value)));
        let (unit, half) = (self.i64(1), self.i64(32));
        let power = bin(self, wide, VBin::Shl, unit, log);
        let more = bin(self, wide, VBin::Sub, power, size);
        let more = bin(self, wide, VBin::Shl, more, half);
        let factor = bin(self, wide, VBin::UDiv, more, size);
        let factor = bin(self, wide, VBin::Add, factor, unit);
        Divisor { factor: self.emit(narrow, VOp::Cast(VCast::Trunc, factor)), shifts: [first, second], sign }
    }
}
