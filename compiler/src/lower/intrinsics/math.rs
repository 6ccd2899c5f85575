//! Mathematical functions that need few operations (6.15.2), and common functions (6.15.4).

use super::super::convert::bits_type;
use super::super::function::Lowering;
use super::Call;
use crate::builtins::Intrinsic;
use crate::ir::{BinOp, CmpOp, MathOp, Value};

impl<'p> Lowering<'p, '_> {
    pub(super) fn math(&mut self, op: Intrinsic, call: &Call<'p>) -> Value {
        if op == Intrinsic::Nan {
            return self.nan(call);
        }
        let (values, arith) = self.operands(call);
        let [x, rest @ ..] = values.as_slice() else {
            self.b.fail("internal error: a numeric built-in function without arguments");
            return self.b.i32(0);
        };
        let (x, y, z) = (*x, rest.first().copied().unwrap_or(*x), rest.get(1).copied().unwrap_or(*x));
        let ty = arith.ir();
        let math = match op {
            Intrinsic::Fabs => MathOp::FAbs,
            Intrinsic::Floor => MathOp::Floor,
            Intrinsic::Ceil => MathOp::Ceil,
            Intrinsic::Trunc => MathOp::FTrunc,
            Intrinsic::Rint => MathOp::Rint,
            Intrinsic::Sqrt | Intrinsic::NativeSqrt => MathOp::Sqrt,
            Intrinsic::Rsqrt | Intrinsic::NativeRsqrt => MathOp::RSqrt,
            Intrinsic::Fma => MathOp::Fma,
            Intrinsic::Mad => MathOp::FMulAdd,
            Intrinsic::NativeSin => MathOp::NativeSin,
            Intrinsic::NativeCos => MathOp::NativeCos,
            Intrinsic::NativeTan => MathOp::NativeTan,
            Intrinsic::NativeExp2 => MathOp::NativeExp2,
            Intrinsic::NativeLog2 => MathOp::NativeLog2,
            Intrinsic::NativeRecip => MathOp::NativeRecip,
            Intrinsic::NativeDivide => MathOp::NativeDivide,
            Intrinsic::NativePowr => MathOp::NativePow,
            Intrinsic::Fmin => return self.b.bin(BinOp::FMin, x, y),
            Intrinsic::Fmax => return self.b.bin(BinOp::FMax, x, y),
            Intrinsic::Copysign => return self.copysign(x, y),
            Intrinsic::Degrees => {
                let factor = self.b.float(ty, 180.0 / std::f64::consts::PI);
                return self.b.bin(BinOp::FMul, x, factor);
            }
            Intrinsic::Radians => {
                let factor = self.b.float(ty, std::f64::consts::PI / 180.0);
                return self.b.bin(BinOp::FMul, x, factor);
            }
            Intrinsic::Mix => {
                let difference = self.b.bin(BinOp::FSub, y, x);
                return self.b.mul_add(difference, z, x);
            }
            Intrinsic::Step => {
                let (zero, one) = (self.b.float(ty, 0.0), self.b.float(ty, 1.0));
                let below = self.b.cmp(CmpOp::FLt, y, x);
                return self.b.select(below, zero, one);
            }
            Intrinsic::Smoothstep => return self.smoothstep(x, y, z),
            Intrinsic::Sign => return self.sign(x),
            _ => {
                self.b.fail(format!("internal error: the built-in function {op:?} has no lowering"));
                return x;
            }
        };
        self.b.math(math, &values)
    }

    /// Returns the magnitude of `x` with the sign of `y`, by their bits.
    pub(super) fn copysign(&mut self, x: Value, y: Value) -> Value {
        let float = self.b.ty(x);
        let ty = bits_type(float);
        let magnitude = self.b.magnitude_bits(x);
        let bits = self.b.bitcast(y, ty);
        let mask = self.b.sign_mask(ty);
        let sign = self.b.and(bits, mask);
        let result = self.b.bin(BinOp::Or, magnitude, sign);
        self.b.bitcast(result, float)
    }

    /// Returns a quiet NaN whose payload is the argument.
    fn nan(&mut self, call: &Call<'p>) -> Value {
        let code = self.value(call, 0);
        let ty = self.b.ty(code);
        let (quiet, payload) = match ty.scalar().map_or(32, crate::ir::Scalar::bits) {
            16 => (0x7e00, 0x01ff),
            64 => (0x7ff8_0000_0000_0000, 0x0007_ffff_ffff_ffff),
            _ => (0x7fc0_0000, 0x003f_ffff),
        };
        let code = self.b.bin_int(BinOp::And, code, payload);
        let bits = self.b.bin_int(BinOp::Or, code, quiet);
        let result = self.result(call);
        self.b.bitcast(bits, result)
    }

    fn smoothstep(&mut self, low: Value, high: Value, x: Value) -> Value {
        let ty = self.b.ty(x);
        let (zero, one) = (self.b.float(ty, 0.0), self.b.float(ty, 1.0));
        let (minus_two, three) = (self.b.float(ty, -2.0), self.b.float(ty, 3.0));
        let (distance, width) = (self.b.bin(BinOp::FSub, x, low), self.b.bin(BinOp::FSub, high, low));
        let t = self.b.bin(BinOp::FDiv, distance, width);
        let t = self.b.bin(BinOp::FMax, t, zero);
        let t = self.b.bin(BinOp::FMin, t, one);
        let slope = self.b.mul_add(t, minus_two, three);
        let square = self.b.bin(BinOp::FMul, t, t);
        self.b.bin(BinOp::FMul, square, slope)
    }

    /// Lowers `sign`. The result is 1 or -1 with the sign of the argument, a zero for the same zero, and 0 for a NaN.
    pub(super) fn sign(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        let (zero, one, minus_one) = (self.b.float(ty, 0.0), self.b.float(ty, 1.0), self.b.float(ty, -1.0));
        let above = self.b.cmp(CmpOp::FGt, x, zero);
        let below = self.b.cmp(CmpOp::FLt, x, zero);
        let nan = self.b.is_nan(x);
        // A denormal may compare equal to zero. Its result is then a zero with its sign.
        let signed_zero = self.copysign(zero, x);
        let result = self.b.select(nan, zero, signed_zero);
        let result = self.b.select(below, minus_one, result);
        self.b.select(above, one, result)
    }
}
