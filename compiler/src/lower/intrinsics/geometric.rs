//! Geometric functions (6.15.5).
//!
//! `length`, `distance` and `normalize` must not overflow or underflow: very large and very small vectors are first
//! scaled by a power of two. With `-cl-fast-relaxed-math` they are not scaled. Halves are computed in `float`, except
//! in `cross`. The squares of halves fit `float`, so halves need no scaling.

use super::super::function::Lowering;
use super::Call;
use crate::builtins::Intrinsic;
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Scalar, Type, Value};

/// Exponents of powers of two. A vector whose largest lane is above `large` is scaled by `down`. A vector whose largest
/// lane is below `small` is scaled by `up`.
struct Scaling {
    large: i32,
    down: i32,
    small: i32,
    up: i32,
}

/// Returns limits and factors for which squares neither overflow nor become denormal.
const fn scaling(scalar: Scalar) -> Scaling {
    match scalar {
        Scalar::F64 => Scaling { large: 500, down: -520, small: -400, up: 600 },
        _ => Scaling { large: 60, down: -66, small: -40, up: 86 },
    }
}

fn power(exponent: i32) -> f64 {
    f64::from(exponent).exp2()
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn geometric(&mut self, op: Intrinsic, call: &Call<'p>) -> Value {
        let want = self.result(call);
        let (mut x, mut y) = (self.value(call, 0), self.value(call, call.values.len().saturating_sub(1)));
        let ty = self.b.ty(x);
        let half = ty.scalar() == Some(Scalar::F16) && op != Intrinsic::Cross;
        if half {
            let wide = ty.with_scalar(Scalar::F32);
            (x, y) = (self.b.cast(CastOp::FToF, x, wide), self.b.cast(CastOp::FToF, y, wide));
        }
        let fast = half || self.shared.options.fast_relaxed_math;
        let result = match op {
            Intrinsic::Dot => self.dot(x, y),
            Intrinsic::Cross => self.cross(x, y),
            Intrinsic::Length if fast => self.fast_length(x),
            Intrinsic::Length => self.length(x),
            Intrinsic::Distance if !fast => {
                let difference = self.b.bin(BinOp::FSub, x, y);
                self.length(difference)
            }
            // Used for halves too, because `fast_normalize` does not handle infinite lanes.
            Intrinsic::Normalize if !self.shared.options.fast_relaxed_math => self.normalize(x),
            Intrinsic::FastLength => self.fast_length(x),
            Intrinsic::FastDistance | Intrinsic::Distance => {
                let difference = self.b.bin(BinOp::FSub, x, y);
                self.fast_length(difference)
            }
            _ => self.fast_normalize(x),
        };
        if half { self.b.cast(CastOp::FToF, result, want) } else { result }
    }

    /// Fuses products with sums, independent of FP_CONTRACT. The error bound of the function permits this.
    fn dot(&mut self, x: Value, y: Value) -> Value {
        let lanes = self.b.ty(x).lanes();
        let mut sum = None;
        for lane in 0..lanes {
            let a = self.b.extract(x, lane);
            let b = if x == y { a } else { self.b.extract(y, lane) };
            sum = Some(match sum {
                None => self.b.bin(BinOp::FMul, a, b),
                Some(sum) => self.b.math(MathOp::FMulAdd, &[a, b, sum]),
            });
        }
        sum.unwrap_or(x)
    }

    /// Lowers `cross`. The operands have three or four lanes. The fourth lane of the result is 0.
    fn cross(&mut self, x: Value, y: Value) -> Value {
        let lanes = self.b.ty(x).lanes();
        let (x3, y3) = (self.b.lanes(x, &[0, 1, 2]), self.b.lanes(y, &[0, 1, 2]));
        let (x_next, y_next) = (self.b.lanes(x3, &[1, 2, 0]), self.b.lanes(y3, &[1, 2, 0]));
        let (x_last, y_last) = (self.b.lanes(x3, &[2, 0, 1]), self.b.lanes(y3, &[2, 0, 1]));
        let (a, b) = (self.b.bin(BinOp::FMul, x_next, y_last), self.b.bin(BinOp::FMul, x_last, y_next));
        let result = self.b.bin(BinOp::FSub, a, b);
        if lanes == 3 {
            return result;
        }
        let mut all: Vec<Value> = (0..3).map(|lane| self.b.extract(result, lane)).collect();
        let scalar = self.b.ty(x).scalar().unwrap_or(Scalar::F32);
        all.push(self.b.float(Type::Scalar(scalar), 0.0));
        self.b.construct(&all)
    }

    fn fast_length(&mut self, x: Value) -> Value {
        if self.b.ty(x).lanes() == 1 {
            return self.b.math(MathOp::FAbs, &[x]);
        }
        let square = self.dot(x, x);
        self.b.math(MathOp::Sqrt, &[square])
    }

    fn fast_normalize(&mut self, x: Value) -> Value {
        let lanes = self.b.ty(x).lanes();
        if lanes == 1 {
            return self.normalize_scalar(x);
        }
        let square = self.dot(x, x);
        let scalar = self.b.ty(square);
        let zero = self.b.float(scalar, 0.0);
        let is_zero = self.b.cmp(CmpOp::FEq, square, zero);
        let factor = self.b.math(MathOp::RSqrt, &[square]);
        let factor = self.b.splat(factor, lanes);
        let scaled = self.b.bin(BinOp::FMul, x, factor);
        self.b.select(is_zero, x, scaled)
    }

    /// Normalises a scalar. The result is 1 or -1 with the sign of `x`. Zeros and NaNs stay unchanged.
    fn normalize_scalar(&mut self, x: Value) -> Value {
        let sign = self.sign(x);
        let nan = self.b.is_nan(x);
        self.b.select(nan, x, sign)
    }

    /// Returns the largest magnitude among the lanes.
    fn largest(&mut self, x: Value) -> Value {
        let magnitudes = self.b.math(MathOp::FAbs, &[x]);
        let mut largest = self.b.extract(magnitudes, 0);
        for lane in 1..self.b.ty(x).lanes() {
            let other = self.b.extract(magnitudes, lane);
            largest = self.b.bin(BinOp::FMax, largest, other);
        }
        largest
    }

    /// Returns a power of two and its inverse. `largest` is the largest lane of a vector. After multiplication by the
    /// power, the squares of the vector's lanes neither overflow nor underflow.
    fn scale(&mut self, largest: Value) -> (Value, Value) {
        let ty = self.b.ty(largest);
        let Scaling { large, down, small, up } = scaling(ty.scalar().unwrap_or(Scalar::F32));
        let (large, small) = (self.b.float(ty, power(large)), self.b.float(ty, power(small)));
        let is_large = self.b.cmp(CmpOp::FGt, largest, large);
        let is_small = self.b.cmp(CmpOp::FLt, largest, small);
        let factor = |this: &mut Self, down: i32, up: i32| {
            let (down, one, up) = (this.b.float(ty, power(down)), this.b.float(ty, 1.0), this.b.float(ty, power(up)));
            let factor = this.b.select(is_small, up, one);
            this.b.select(is_large, down, factor)
        };
        (factor(self, down, up), factor(self, -down, -up))
    }

    fn length(&mut self, x: Value) -> Value {
        let lanes = self.b.ty(x).lanes();
        if lanes == 1 {
            return self.b.math(MathOp::FAbs, &[x]);
        }
        let largest = self.largest(x);
        let (factor, inverse) = self.scale(largest);
        let factor = self.b.splat(factor, lanes);
        let scaled = self.b.bin(BinOp::FMul, x, factor);
        let square = self.dot(scaled, scaled);
        let root = self.b.math(MathOp::Sqrt, &[square]);
        self.b.bin(BinOp::FMul, root, inverse)
    }

    /// Lowers `normalize` without overflow and underflow. A zero vector stays unchanged. If a lane is infinite,
    /// infinite lanes are replaced by 1 or -1 and finite lanes by 0. The factor for large vectors is applied after the
    /// division. Otherwise, small lanes beside large lanes would be rounded as denormals twice.
    fn normalize(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        let lanes = ty.lanes();
        if lanes == 1 {
            return self.normalize_scalar(x);
        }
        let largest = self.largest(x);
        let scalar = self.b.ty(largest);
        let (factor, _) = self.scale(largest);
        let unit = self.b.float(scalar, 1.0);
        let (before, after) = (self.b.bin(BinOp::FMax, factor, unit), self.b.bin(BinOp::FMin, factor, unit));
        let (before, after) = (self.b.splat(before, lanes), self.b.splat(after, lanes));
        let scaled = self.b.bin(BinOp::FMul, x, before);

        let (zero, one) = (self.b.float(ty, 0.0), self.b.float(ty, 1.0));
        let infinity = self.b.float(scalar, f64::INFINITY);
        let is_infinite = self.b.cmp(CmpOp::FEq, largest, infinity);
        let infinities = self.b.splat(infinity, lanes);
        let magnitudes = self.b.math(MathOp::FAbs, &[x]);
        let which = self.b.cmp(CmpOp::FEq, magnitudes, infinities);
        let ones = self.b.select(which, one, zero);
        let ones = self.copysign(ones, x);
        let nans = self.b.is_nan(x);
        let ones = self.b.select(nans, x, ones);
        let vector = self.b.select(is_infinite, ones, scaled);
        let after = self.b.select(is_infinite, one, after);

        let harmless = self.b.bin(BinOp::FMul, vector, after);
        let square = self.dot(harmless, harmless);
        let root = self.b.math(MathOp::Sqrt, &[square]);
        let root = self.b.splat(root, lanes);
        let quotient = self.b.bin(BinOp::FDiv, vector, root);
        let result = self.b.bin(BinOp::FMul, quotient, after);
        let nothing = self.b.float(scalar, 0.0);
        let is_zero = self.b.cmp(CmpOp::FEq, square, nothing);
        self.b.select(is_zero, x, result)
    }
}
