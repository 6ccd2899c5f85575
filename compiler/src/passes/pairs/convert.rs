//! Conversions between pairs and other types.
//!
//! Conversions from floats, and to `float`, compute the bits with integer operations, so rounding does not depend on
//! the device. A conversion to `half` computes a `float` that is rounded to odd. The device rounds it to `half`.

use super::{Pair, Pairs, is_pair};
use crate::ir::{BinOp, Build, CastOp, CmpOp, Op, Scalar, Type, Value};
use crate::passes::PassError;

/// The number of stored bits of the significand of a `float`.
const FRACTION: u32 = 23;
/// The exponent bias of `float`.
const BIAS: u32 = 127;

impl Pairs<'_> {
    /// Converts other types to pairs.
    pub(super) fn convert_to_pair(&mut self, op: CastOp, a: Value, ty: Type) -> Result<Pair, PassError> {
        let from = self.type_of(a);
        Ok(match op {
            CastOp::ZExt => {
                let low = self.cast(CastOp::ZExt, a, Scalar::I32);
                (low, self.word_like(low, 0))
            }
            CastOp::SExt => {
                let low = self.cast(CastOp::SExt, a, Scalar::I32);
                (low, self.bin_bits(BinOp::AShr, low, 31))
            }
            CastOp::Bitcast if is_pair(from) => self.pair(a)?,
            CastOp::Bitcast => {
                let words = Type::Vector(Scalar::I32, 2 * ty.lanes());
                if from.scalar() == Some(Scalar::F64) || !matches!(ty.lanes(), 1 | 2 | 4 | 8) {
                    return Err(self.unsupported("a conversion of `double`"));
                }
                let words = if from == words { a } else { self.push(words, Op::Cast(CastOp::Bitcast, a)) };
                self.split_words(words, ty.lanes())
            }
            CastOp::FToU | CastOp::FToS => {
                if from.scalar() == Some(Scalar::F64) {
                    return Err(self.unsupported("a conversion of `double`"));
                }
                let single = self.cast(CastOp::FToF, a, Scalar::F32);
                self.float_to_pair(op == CastOp::FToS, single)
            }
            _ => return Err(self.unsupported(&format!("the conversion `{}` of 64-bit integers", op.name()))),
        })
    }

    /// Converts pairs to other types.
    pub(super) fn convert_from_pair(&mut self, op: CastOp, a: Value, ty: Type) -> Result<Op, PassError> {
        let (low, high) = self.pair(a)?;
        Ok(match op {
            CastOp::Trunc if ty.scalar() == Some(Scalar::I32) => {
                // This instruction must define the result, which therefore cannot be the existing low word.
                let zero = self.word_like(low, 0);
                Op::Bin(BinOp::Or, low, zero)
            }
            CastOp::Trunc => Op::Cast(CastOp::Trunc, low),
            CastOp::Bitcast => {
                if ty.scalar() == Some(Scalar::F64) {
                    return Err(self.unsupported("a conversion of `double`"));
                }
                let lanes = self.type_of(low).lanes();
                let words = self.join_words(a)?;
                if ty == Type::Vector(Scalar::I32, 2 * lanes) {
                    return Ok(Op::Shuffle(words, words, (0..2 * lanes).map(Some).collect()));
                }
                Op::Cast(CastOp::Bitcast, words)
            }
            CastOp::UToF | CastOp::SToF => match ty.scalar() {
                Some(Scalar::F32) => Op::Cast(CastOp::Bitcast, self.pair_to_float(op == CastOp::SToF, (low, high), false)),
                Some(Scalar::F16) => {
                    // The first rounding is to odd, to avoid double rounding.
                    let bits = self.pair_to_float(op == CastOp::SToF, (low, high), true);
                    Op::Cast(CastOp::FToF, self.cast(CastOp::Bitcast, bits, Scalar::F32))
                }
                _ => return Err(self.unsupported("a conversion of `double`")),
            },
            _ => return Err(self.unsupported(&format!("the conversion `{}` of 64-bit integers", op.name()))),
        })
    }

    /// Emits the integer part of a float. The result is unspecified if it does not fit.
    fn float_to_pair(&mut self, signed: bool, single: Value) -> Pair {
        let bits = self.cast(CastOp::Bitcast, single, Scalar::I32);
        let shifted = self.bin_bits(BinOp::LShr, bits, FRACTION.into());
        let exponent = self.bin_bits(BinOp::And, shifted, 0xff);
        let fraction = self.bin_bits(BinOp::And, bits, (1 << FRACTION) - 1);
        let significand = self.bin_bits(BinOp::Or, fraction, 1 << FRACTION);
        // If `left` is not negative, the significand is shifted left by `left`, otherwise right by `-left`.
        let left = self.bin_bits(BinOp::Sub, exponent, (BIAS + FRACTION).into());
        let zero = self.word_like(significand, 0);
        let whole = self.shift_left((significand, zero), left);
        let all = self.word_like(exponent, BIAS + FRACTION);
        let right = self.bin(BinOp::Sub, all, exponent);
        let part = self.bin(BinOp::LShr, significand, right);
        let is_whole = self.cmp_bits(CmpOp::SGe, left, 0);
        let magnitude = self.select_pair(is_whole, whole, (part, zero));
        let is_less_than_one = self.cmp_bits(CmpOp::ULt, exponent, BIAS.into());
        let magnitude = self.select_pair(is_less_than_one, (zero, zero), magnitude);
        if !signed {
            return magnitude;
        }
        let sign = self.bin_bits(BinOp::AShr, bits, 31);
        self.with_sign(magnitude, sign)
    }

    /// Converts a pair to the bits of a float. Rounds to nearest even, or to odd: the last bit is set if the result is
    /// inexact.
    fn pair_to_float(&mut self, signed: bool, a: Pair, to_odd: bool) -> Value {
        let sign = if signed { self.sign(a) } else { self.word_like(a.0, 0) };
        let a = if signed { self.with_sign(a, sign) } else { a };
        let zeros = self.leading_zeros(a);
        let (low, high) = self.shift_left(a, zeros);
        let significand = self.bin_bits(BinOp::LShr, high, 8);
        let rest = self.bin_bits(BinOp::And, high, 0xff);
        let below = self.cmp_bits(CmpOp::Ne, low, 0);
        let below = self.cast(CastOp::ZExt, below, Scalar::I32);
        // The eight bits below the significand, and a sticky bit for all bits below these.
        let rest = self.bin_bits(BinOp::Shl, rest, 1);
        let rest = self.bin(BinOp::Or, rest, below);
        // The significand includes the implicit bit, which adds one to the exponent.
        let top = self.word_like(zeros, BIAS + 62);
        let exponent = self.bin(BinOp::Sub, top, zeros);
        let exponent = self.bin_bits(BinOp::Shl, exponent, FRACTION.into());
        let exact = self.bin(BinOp::Add, exponent, significand);
        let rounded = if to_odd {
            let inexact = self.cmp_bits(CmpOp::Ne, rest, 0);
            let odd = self.cast(CastOp::ZExt, inexact, Scalar::I32);
            self.bin(BinOp::Or, exact, odd)
        } else {
            // Round up if the rest is more than half, or half and the significand is odd.
            let odd = self.bin_bits(BinOp::And, significand, 1);
            let weight = self.bin(BinOp::Or, rest, odd);
            let up = self.cmp_bits(CmpOp::UGt, weight, 0x100);
            let up = self.cast(CastOp::ZExt, up, Scalar::I32);
            self.bin(BinOp::Add, exact, up)
        };
        let any = self.bin(BinOp::Or, a.0, a.1);
        let nothing = self.cmp_bits(CmpOp::Eq, any, 0);
        let zero = self.word_like(any, 0);
        let magnitude = self.select(nothing, zero, rounded);
        let sign = self.bin_bits(BinOp::And, sign, 1 << 31);
        self.bin(BinOp::Or, magnitude, sign)
    }
}
