//! Conversions between pairs and other types.
//!
//! Conversions from and to floats work on the bits, so rounding is correct whatever the device's own conversions do.

use super::{Pair, Pairs, is_pair};
use crate::ir::{BinOp, Build, CastOp, CmpOp, Op, Scalar, Type, Value};
use crate::passes::PassError;

/// Stored bits of the significand of a `float`; the exponent's bias follows.
const FRACTION: u32 = 23;
const BIAS: u32 = 127;

impl Pairs<'_> {
    /// Converts other types to pairs.
    pub(super) fn widened(&mut self, op: CastOp, a: Value, ty: Type) -> Result<Pair, PassError> {
        let from = self.type_of(a);
        Ok(match op {
            CastOp::ZExt => {
                let low = self.cast(CastOp::ZExt, a, Scalar::I32);
                (low, self.like(low, 0))
            }
            CastOp::SExt => {
                let low = self.cast(CastOp::SExt, a, Scalar::I32);
                (low, self.bin_bits(BinOp::AShr, low, 31))
            }
            CastOp::Bitcast if is_pair(from) => self.pair(a)?,
            CastOp::Bitcast => {
                let words = Type::Vector(Scalar::I32, 2 * ty.lanes());
                if from.scalar() == Some(Scalar::F64) || !matches!(ty.lanes(), 1 | 2 | 4 | 8) {
                    return Err(self.refused("a double"));
                }
                let words = if from == words { a } else { self.push(words, Op::Cast(CastOp::Bitcast, a)) };
                self.apart(words, ty.lanes())
            }
            CastOp::FToU | CastOp::FToS => {
                if from.scalar() == Some(Scalar::F64) {
                    return Err(self.refused("a double"));
                }
                let single = self.cast(CastOp::FToF, a, Scalar::F32);
                self.of_float(op == CastOp::FToS, single)
            }
            _ => return Err(self.refused("a conversion that was not legalized")),
        })
    }

    /// Converts pairs to other types.
    pub(super) fn narrowed(&mut self, op: CastOp, a: Value, ty: Type) -> Result<Op, PassError> {
        let (low, high) = self.pair(a)?;
        Ok(match op {
            CastOp::Trunc if ty.scalar() == Some(Scalar::I32) => {
                // The word itself, as an operation, because the result needs a definition.
                let zero = self.like(low, 0);
                Op::Bin(BinOp::Or, low, zero)
            }
            CastOp::Trunc => Op::Cast(CastOp::Trunc, low),
            CastOp::Bitcast => {
                if ty.scalar() == Some(Scalar::F64) {
                    return Err(self.refused("a double"));
                }
                let lanes = self.type_of(low).lanes();
                let words = self.together(a)?;
                if ty == Type::Vector(Scalar::I32, 2 * lanes) {
                    return Ok(Op::Shuffle(words, words, (0..2 * lanes).map(Some).collect()));
                }
                Op::Cast(CastOp::Bitcast, words)
            }
            CastOp::UToF | CastOp::SToF => match ty.scalar() {
                Some(Scalar::F32) => Op::Cast(CastOp::Bitcast, self.as_float(op == CastOp::SToF, (low, high), false)),
                Some(Scalar::F16) => {
                    // Rounded to odd first, to avoid double rounding.
                    let bits = self.as_float(op == CastOp::SToF, (low, high), true);
                    Op::Cast(CastOp::FToF, self.cast(CastOp::Bitcast, bits, Scalar::F32))
                }
                _ => return Err(self.refused("a double")),
            },
            _ => return Err(self.refused("a conversion that was not legalized")),
        })
    }

    /// The integer part of a float; unspecified if it does not fit.
    fn of_float(&mut self, signed: bool, single: Value) -> Pair {
        let bits = self.cast(CastOp::Bitcast, single, Scalar::I32);
        let shifted = self.bin_bits(BinOp::LShr, bits, FRACTION.into());
        let exponent = self.bin_bits(BinOp::And, shifted, 0xff);
        let fraction = self.bin_bits(BinOp::And, bits, (1 << FRACTION) - 1);
        let significand = self.bin_bits(BinOp::Or, fraction, 1 << FRACTION);
        // Left by this amount, or right by its negation.
        let left = self.bin_bits(BinOp::Sub, exponent, (BIAS + FRACTION).into());
        let zero = self.like(significand, 0);
        let whole = self.shifted_left((significand, zero), left);
        let all = self.like(exponent, BIAS + FRACTION);
        let right = self.bin(BinOp::Sub, all, exponent);
        let part = self.bin(BinOp::LShr, significand, right);
        let is_whole = self.cmp_bits(CmpOp::SGe, left, 0);
        let magnitude = self.choose(is_whole, whole, (part, zero));
        let is_less_than_one = self.cmp_bits(CmpOp::ULt, exponent, BIAS.into());
        let magnitude = self.choose(is_less_than_one, (zero, zero), magnitude);
        if !signed {
            return magnitude;
        }
        let sign = self.bin_bits(BinOp::AShr, bits, 31);
        self.with_sign(magnitude, sign)
    }

    /// The bits of a float, rounded to nearest even, or to odd: the last bit is set if it is inexact.
    fn as_float(&mut self, signed: bool, a: Pair, to_odd: bool) -> Value {
        let sign = if signed { self.sign(a) } else { self.like(a.0, 0) };
        let a = if signed { self.with_sign(a, sign) } else { a };
        let zeros = self.leading_zeros(a);
        let (low, high) = self.shifted_left(a, zeros);
        let significand = self.bin_bits(BinOp::LShr, high, 8);
        let rest = self.bin_bits(BinOp::And, high, 0xff);
        let below = self.cmp_bits(CmpOp::Ne, low, 0);
        let below = self.cast(CastOp::ZExt, below, Scalar::I32);
        // Eight bits, and a sticky bit for the following ones.
        let rest = self.bin_bits(BinOp::Shl, rest, 1);
        let rest = self.bin(BinOp::Or, rest, below);
        // The significand includes the implicit bit, which adds one to the exponent.
        let top = self.like(zeros, BIAS + 62);
        let exponent = self.bin(BinOp::Sub, top, zeros);
        let exponent = self.bin_bits(BinOp::Shl, exponent, FRACTION.into());
        let exact = self.bin(BinOp::Add, exponent, significand);
        let rounded = if to_odd {
            let inexact = self.cmp_bits(CmpOp::Ne, rest, 0);
            let odd = self.cast(CastOp::ZExt, inexact, Scalar::I32);
            self.bin(BinOp::Or, exact, odd)
        } else {
            // More than half, or half and odd.
            let odd = self.bin_bits(BinOp::And, significand, 1);
            let weight = self.bin(BinOp::Or, rest, odd);
            let up = self.cmp_bits(CmpOp::UGt, weight, 0x100);
            let up = self.cast(CastOp::ZExt, up, Scalar::I32);
            self.bin(BinOp::Add, exact, up)
        };
        let any = self.bin(BinOp::Or, a.0, a.1);
        let nothing = self.cmp_bits(CmpOp::Eq, any, 0);
        let zero = self.like(any, 0);
        let magnitude = self.select(nothing, zero, rounded);
        let sign = self.bin_bits(BinOp::And, sign, 1 << 31);
        self.bin(BinOp::Or, magnitude, sign)
    }
}
