//! Relational functions (6.15.6). `isnan` and similar functions test the bits: drivers may optimise floating-point
//! tests away.

use super::super::convert::bits_type;
use super::super::function::Lowering;
use super::Call;
use crate::builtins::Intrinsic;
use crate::ir::{BinOp, CmpOp, Op, Scalar, Type, Value};

impl<'p> Lowering<'p, '_> {
    pub(super) fn relational(&mut self, op: Intrinsic, call: &Call<'p>) -> Value {
        match op {
            Intrinsic::BitSelect => return self.bit_select(call),
            Intrinsic::Select => return self.select_function(call),
            _ => {}
        }
        let (values, _) = self.operands(call);
        let [x, rest @ ..] = values.as_slice() else {
            self.b.fail("internal error: a numeric built-in function without arguments");
            return self.b.i32(0);
        };
        let (x, y) = (*x, rest.first().copied().unwrap_or(*x));
        let comparison = match op {
            Intrinsic::IsEqual => Some(CmpOp::FEq),
            Intrinsic::IsNotEqual => Some(CmpOp::FNe),
            Intrinsic::IsGreater => Some(CmpOp::FGt),
            Intrinsic::IsGreaterEqual => Some(CmpOp::FGe),
            Intrinsic::IsLess => Some(CmpOp::FLt),
            Intrinsic::IsLessEqual => Some(CmpOp::FLe),
            _ => None,
        };
        let flags = match comparison {
            Some(comparison) => self.b.cmp(comparison, x, y),
            None => self.classify(op, x, y),
        };
        self.flag_value(flags, call.ty)
    }

    fn classify(&mut self, op: Intrinsic, x: Value, y: Value) -> Value {
        match op {
            Intrinsic::IsLessGreater => {
                let (less, greater) = (self.b.cmp(CmpOp::FLt, x, y), self.b.cmp(CmpOp::FGt, x, y));
                self.b.bin(BinOp::Or, less, greater)
            }
            Intrinsic::IsNan => self.b.is_nan(x),
            Intrinsic::IsOrdered => {
                let unordered = self.unordered(x, y);
                self.b.not(unordered)
            }
            Intrinsic::IsUnordered => self.unordered(x, y),
            Intrinsic::IsFinite | Intrinsic::IsInf | Intrinsic::IsNormal => {
                let magnitude = self.b.magnitude_bits(x);
                let infinity = self.b.infinity_bits(self.b.ty(x));
                match op {
                    Intrinsic::IsFinite => self.b.cmp(CmpOp::ULt, magnitude, infinity),
                    Intrinsic::IsInf => self.b.cmp(CmpOp::Eq, magnitude, infinity),
                    _ => {
                        let least = self.least_normal(self.b.ty(x));
                        let (distance, width) = (self.b.sub(magnitude, least), self.b.sub(infinity, least));
                        self.b.cmp(CmpOp::ULt, distance, width)
                    }
                }
            }
            Intrinsic::SignBit => {
                let bits = self.b.bitcast(x, bits_type(self.b.ty(x)));
                self.b.cmp_int(CmpOp::SLt, bits, 0)
            }
            // `any` and `all` test the most significant bit.
            _ => {
                let flags = self.b.cmp_int(CmpOp::SLt, x, 0);
                if self.b.ty(flags) == Type::BOOL {
                    flags
                } else {
                    self.b.emit(if op == Intrinsic::Any { Op::Any(flags) } else { Op::All(flags) }, Type::BOOL)
                }
            }
        }
    }

    fn unordered(&mut self, x: Value, y: Value) -> Value {
        let (x, y) = (self.b.is_nan(x), self.b.is_nan(y));
        self.b.bin(BinOp::Or, x, y)
    }

    /// Returns the bits of the smallest normal number.
    fn least_normal(&mut self, float: Type) -> Value {
        let mantissa = match float.scalar() {
            Some(Scalar::F16) => 10,
            Some(Scalar::F64) => 52,
            _ => 23,
        };
        self.b.bits(bits_type(float), 1 << mantissa)
    }

    /// Lowers `bitselect`: `(a & ~c) | (b & c)`.
    fn bit_select(&mut self, call: &Call<'p>) -> Value {
        let (a, b, c) = (self.value(call, 0), self.value(call, 1), self.value(call, 2));
        let ty = self.b.ty(a);
        let bits = bits_type(ty);
        let (a, b, c) = (self.b.bitcast(a, bits), self.b.bitcast(b, bits), self.b.bitcast(c, bits));
        let kept = self.b.not(c);
        let (a, b) = (self.b.and(a, kept), self.b.and(b, c));
        let result = self.b.bin(BinOp::Or, a, b);
        self.b.bitcast(result, ty)
    }

    /// Lowers `select`. A scalar condition is true if it is not zero. A vector lane is true if its most significant bit
    /// is set.
    fn select_function(&mut self, call: &Call<'p>) -> Value {
        let (a, b, c) = (self.value(call, 0), self.value(call, 1), self.value(call, 2));
        let flags = if self.b.ty(c).lanes() == 1 { self.non_zero(c) } else { self.b.cmp_int(CmpOp::SLt, c, 0) };
        self.b.select(flags, b, a)
    }
}
