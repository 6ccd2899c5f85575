//! Integer functions (6.15.3), and `min`, `max`, `clamp` of integers and floats.

use super::super::function::Lowering;
use super::super::types::ArithType;
use super::Call;
use crate::builtins::Intrinsic;
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar, Type, Value};

impl<'p> Lowering<'p, '_> {
    #[allow(clippy::too_many_lines, reason = "one flat match over the functions")]
    pub(super) fn integer(&mut self, op: Intrinsic, call: &Call<'p>) -> Value {
        let (values, arith) = self.operands(call);
        let [x, rest @ ..] = values.as_slice() else {
            self.b.fail("internal error: a numeric built-in function without arguments");
            return self.b.i32(0);
        };
        let (x, y, z) = (*x, rest.first().copied().unwrap_or(*x), rest.get(1).copied().unwrap_or(*x));
        let signed = arith.is_signed();
        let (min, max) = match (arith.is_float(), signed) {
            (true, _) => (BinOp::FMin, BinOp::FMax),
            (_, true) => (BinOp::SMin, BinOp::SMax),
            _ => (BinOp::UMin, BinOp::UMax),
        };
        let mul_hi = if signed { BinOp::SMulHi } else { BinOp::UMulHi };
        let shift = if signed { BinOp::AShr } else { BinOp::LShr };
        match op {
            Intrinsic::Abs if signed => self.b.math(MathOp::SAbs, &[x]),
            Intrinsic::Abs => x,
            Intrinsic::AbsDiff => {
                // If the signed difference overflows, its bits are still the correct unsigned difference.
                let (high, low) = (self.b.bin(max, x, y), self.b.bin(min, x, y));
                self.b.sub(high, low)
            }
            Intrinsic::AddSat => self.b.bin(if signed { BinOp::SAddSat } else { BinOp::UAddSat }, x, y),
            Intrinsic::SubSat => self.b.bin(if signed { BinOp::SSubSat } else { BinOp::USubSat }, x, y),
            Intrinsic::Hadd => {
                let (common, differing) = (self.b.and(x, y), self.b.bin(BinOp::Xor, x, y));
                let half = self.b.bin_int(shift, differing, 1);
                self.b.add(common, half)
            }
            Intrinsic::Rhadd => {
                let (all, differing) = (self.b.bin(BinOp::Or, x, y), self.b.bin(BinOp::Xor, x, y));
                let half = self.b.bin_int(shift, differing, 1);
                self.b.sub(all, half)
            }
            Intrinsic::Clz => self.b.math(MathOp::Clz, &[x]),
            Intrinsic::Ctz => self.b.math(MathOp::Ctz, &[x]),
            Intrinsic::Popcount => self.b.math(MathOp::Popcount, &[x]),
            Intrinsic::ReverseBits => self.b.math(MathOp::ReverseBits, &[x]),
            Intrinsic::BitfieldInsert => self.bitfield_insert(&values),
            Intrinsic::BitfieldExtract => self.bitfield_extract(&values, call),
            Intrinsic::MulHi => self.b.bin(mul_hi, x, y),
            Intrinsic::MadHi => {
                let high = self.b.bin(mul_hi, x, y);
                self.b.add(high, z)
            }
            Intrinsic::MadSat => self.mad_sat(x, y, z, arith),
            Intrinsic::Mul24 => self.b.mul(x, y),
            Intrinsic::Mad24 => {
                let product = self.b.mul(x, y);
                self.b.add(product, z)
            }
            Intrinsic::Rotate => self.b.bin(BinOp::Rotate, x, y),
            Intrinsic::Upsample => self.upsample(x, y, call),
            Intrinsic::Min => self.b.bin(min, x, y),
            Intrinsic::Max => self.b.bin(max, x, y),
            _ => {
                let at_least = self.b.bin(max, x, y);
                self.b.bin(min, at_least, z)
            }
        }
    }

    /// Returns the sum of the products of the lanes of the first two arguments. A third argument is added with
    /// saturation.
    pub(super) fn integer_dot(&mut self, call: &Call<'p>) -> Value {
        let result = self.result(call);
        let signed = self.arithmetic(call.ty).is_signed();
        let wide = [0, 1].map(|index| {
            let value = self.value(call, index);
            let from = self.arg_type(call, index).is_signed();
            let ty = self.b.ty(value).with_scalar(Scalar::I32);
            self.b.resize(value, from, ty)
        });
        let products = self.b.mul(wide[0], wide[1]);
        let mut sum = self.b.extract(products, 0);
        for lane in 1..self.b.ty(products).lanes() {
            let product = self.b.extract(products, lane);
            sum = self.b.add(sum, product);
        }
        if call.values.len() > 2 {
            let accumulator = self.value(call, 2);
            sum = self.b.bin(if signed { BinOp::SAddSat } else { BinOp::UAddSat }, sum, accumulator);
        }
        self.b.resize(sum, signed, result)
    }

    /// Returns a number whose lowest `count` bits are set.
    fn low_ones(&mut self, ty: Type, count: Value) -> Value {
        let width = ty.scalar().map_or(32, Scalar::bits);
        let all = self.b.int(ty, -1);
        let full = self.b.int(ty, i64::from(width));
        let above = self.b.sub(full, count);
        let some = self.b.bin(BinOp::LShr, all, above);
        // A shift amount counts modulo the width. For a `count` of 0, the shift by the whole width has no effect.
        let none = self.b.int(ty, 0);
        let empty = self.b.cmp_int(CmpOp::Eq, count, 0);
        self.b.select(empty, none, some)
    }

    fn bitfield_insert(&mut self, values: &[Value]) -> Value {
        let &[base, insert, offset, count] = values else {
            self.b.fail("internal error: a bit field without its arguments");
            return self.b.i32(0);
        };
        let ty = self.b.ty(base);
        let (offset, count) = (self.b.resize(offset, false, ty), self.b.resize(count, false, ty));
        let ones = self.low_ones(ty, count);
        let field = self.b.and(insert, ones);
        let (field, mask) = (self.b.bin(BinOp::Shl, field, offset), self.b.bin(BinOp::Shl, ones, offset));
        let outside = self.b.not(mask);
        let kept = self.b.and(base, outside);
        self.b.or(kept, field)
    }

    fn bitfield_extract(&mut self, values: &[Value], call: &Call<'p>) -> Value {
        let &[base, offset, count] = values else {
            self.b.fail("internal error: a bit field without its arguments");
            return self.b.i32(0);
        };
        let ty = self.b.ty(base);
        let (offset, count) = (self.b.resize(offset, false, ty), self.b.resize(count, false, ty));
        if !self.arithmetic(call.ty).is_signed() {
            let ones = self.low_ones(ty, count);
            let field = self.b.bin(BinOp::LShr, base, offset);
            return self.b.and(field, ones);
        }
        // Shifts the field to the top and then back, with sign. If `count` is 0, the shift by the whole width has no
        // effect.
        let width = i64::from(ty.scalar().map_or(32, Scalar::bits));
        let full = self.b.int(ty, width);
        let unused = self.b.sub(full, count);
        let above = self.b.sub(unused, offset);
        let top = self.b.bin(BinOp::Shl, base, above);
        let field = self.b.bin(BinOp::AShr, top, unused);
        let none = self.b.int(ty, 0);
        let empty = self.b.cmp_int(CmpOp::Eq, count, 0);
        self.b.select(empty, none, field)
    }

    /// Lowers `upsample`: `(result)high << width | low`.
    fn upsample(&mut self, high: Value, low: Value, call: &Call<'p>) -> Value {
        let ty = self.result(call);
        let width = self.b.ty(low).scalar().map_or(8, Scalar::bits);
        let high = self.b.cast(CastOp::ZExt, high, ty);
        let low = self.b.cast(CastOp::ZExt, low, ty);
        let high = self.b.bin_int(BinOp::Shl, high, i64::from(width));
        self.b.bin(BinOp::Or, high, low)
    }

    /// Lowers `mad_sat`: `a * b + c`, computed exactly and then clamped.
    fn mad_sat(&mut self, a: Value, b: Value, c: Value, arith: ArithType) -> Value {
        let ty = self.b.ty(a);
        let width = ty.scalar().map_or(32, Scalar::bits);
        let signed = arith.is_signed();
        if width < 32 {
            return self.mad_sat_wide(a, b, c, ty.with_scalar(Scalar::I32), signed);
        }
        // `high` and `low` are the words of the product. `carry` is the carry of the sum of `low` and `c`.
        let high = self.b.bin(if signed { BinOp::SMulHi } else { BinOp::UMulHi }, a, b);
        let low = self.b.mul(a, b);
        let sum = self.b.add(low, c);
        let carry = self.b.cmp(CmpOp::ULt, sum, low);
        if !signed {
            let overflow = self.b.cmp_int(CmpOp::Ne, high, 0);
            let overflow = self.b.bin(BinOp::Or, overflow, carry);
            let most = self.b.int(ty, -1);
            return self.b.select(overflow, most, sum);
        }
        let carry = self.b.cast(CastOp::ZExt, carry, ty);
        let extension = self.b.bin_int(BinOp::AShr, c, i64::from(width - 1));
        let high = self.b.add(high, extension);
        let high = self.b.add(high, carry);
        let expected = self.b.bin_int(BinOp::AShr, sum, i64::from(width - 1));
        let fits = self.b.cmp(CmpOp::Eq, high, expected);
        let least = self.b.sign_mask(ty);
        let most = self.b.bits(ty, u64::MAX >> (65 - u64::from(width)));
        let negative = self.b.cmp_int(CmpOp::SLt, high, 0);
        let limit = self.b.select(negative, least, most);
        self.b.select(fits, sum, limit)
    }

    /// Lowers `mad_sat` of 8 and 16 bits in 32-bit arithmetic.
    fn mad_sat_wide(&mut self, a: Value, b: Value, c: Value, wide: Type, signed: bool) -> Value {
        let ty = self.b.ty(a);
        let width = ty.scalar().map_or(16, Scalar::bits);
        let (a, b, c) = (self.b.resize(a, signed, wide), self.b.resize(b, signed, wide), self.b.resize(c, signed, wide));
        let product = self.b.mul(a, b);
        let sum = self.b.add(product, c);
        let sum = if signed {
            let sum = self.b.bin_int(BinOp::SMax, sum, -(1 << (width - 1)));
            self.b.bin_int(BinOp::SMin, sum, (1 << (width - 1)) - 1)
        } else {
            // The largest value, 65535 * 65535 + 65535, fits 32 unsigned bits.
            self.b.bin_int(BinOp::UMin, sum, (1 << width) - 1)
        };
        self.b.cast(CastOp::Trunc, sum, ty)
    }
}
