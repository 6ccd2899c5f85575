//! Element-wise operations, chunk by chunk. A value consists of chunks of up to four lanes ([`super::builder::Val`]).
//!
//! 8- and 16-bit integers are `u32` with zero upper bits. Results that may overflow are masked, and operands of signed
//! operations are sign-extended first. 64-bit integers are `u64`, and signed operations convert them to `i64`. Example:
//! `add i8 %0, %1` becomes `(a + b) & 0xff`.

use super::EmitError;
use super::builder::{Expr, Val, chunk_count, chunk_lanes, register};
use super::function::Emitter;
use crate::ir::{self, BinOp, CastOp, CmpOp, MathOp, Type, UnOp, Value};
use naga::{BinaryOperator, Expression, MathFunction, Scalar, ScalarKind, UnaryOperator};

/// The scalar and the number of lanes of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) scalar: ir::Scalar,
    pub(super) count: u8,
}

impl Lanes {
    pub(super) fn of(ty: Type) -> Result<Self, EmitError> {
        let scalar = ty.scalar().ok_or_else(|| EmitError::Internal(format!("arithmetic on a value of type {ty}")))?;
        Ok(Self { scalar, count: chunk_lanes(ty.lanes()) })
    }

    pub(super) fn register(self) -> Scalar {
        register(self.scalar)
    }

    fn bits(self) -> u32 {
        self.scalar.bits()
    }

    /// Whether the integers have 8 or 16 bits, and are represented by wider ones.
    fn is_narrow(self) -> bool {
        matches!(self.scalar, ir::Scalar::I8 | ir::Scalar::I16)
    }
}

impl Emitter<'_, '_> {
    /// Applies `f` to each chunk of a value.
    pub(super) fn map1(
        &mut self,
        a: Value,
        mut f: impl FnMut(&mut Self, Lanes, Expr) -> Result<Expr, EmitError>,
    ) -> Result<Val, EmitError> {
        let lanes = Lanes::of(self.function.ty(a))?;
        let chunks = self.value(a)?;
        chunks.into_iter().map(|chunk| f(self, lanes, chunk)).collect()
    }

    /// Applies `f` to each pair of chunks of two values of one type.
    pub(super) fn map2(
        &mut self,
        a: Value,
        b: Value,
        mut f: impl FnMut(&mut Self, Lanes, Expr, Expr) -> Result<Expr, EmitError>,
    ) -> Result<Val, EmitError> {
        let lanes = Lanes::of(self.function.ty(a))?;
        let (left, right) = (self.value(a)?, self.value(b)?);
        left.into_iter().zip(right).map(|(x, y)| f(self, lanes, x, y)).collect()
    }

    /// A constant with the same bits in each lane of a chunk.
    pub(super) fn splat_bits(&mut self, lanes: Lanes, bits: u64) -> Expr {
        self.b.same(lanes.register(), bits, lanes.count)
    }

    /// Clears the bits above a narrow integer.
    pub(super) fn mask(&mut self, lanes: Lanes, x: Expr) -> Expr {
        if !lanes.is_narrow() {
            return x;
        }
        let mask = self.splat_bits(lanes, lanes.scalar.mask());
        self.b.and(x, mask)
    }

    /// Converts an integer to a signed one: `i64`, or `i32` with sign extension of narrow integers.
    fn signed(&mut self, lanes: Lanes, x: Expr) -> Expr {
        if !lanes.is_narrow() {
            return self.b.with_sign(x, ScalarKind::Sint, lanes.register().width);
        }
        let amount = self.b.same(Scalar::U32, u64::from(32 - lanes.bits()), lanes.count);
        let high = self.b.shl(x, amount);
        let high = self.b.bitcast(high, ScalarKind::Sint);
        self.b.shr(high, amount)
    }

    /// Converts a signed integer to its unsigned representation.
    fn unsigned(&mut self, lanes: Lanes, x: Expr) -> Expr {
        let x = self.b.with_sign(x, ScalarKind::Uint, lanes.register().width);
        self.mask(lanes, x)
    }

    fn signed_scalar(lanes: Lanes) -> Scalar {
        Scalar { kind: ScalarKind::Sint, width: lanes.register().width }
    }

    pub(super) fn un(&mut self, op: UnOp, a: Value) -> Result<Val, EmitError> {
        self.map1(a, |e, lanes, x| {
            Ok(match op {
                UnOp::Not if lanes.scalar == ir::Scalar::Bool => e.b.unary(UnaryOperator::LogicalNot, x),
                UnOp::Not => {
                    let x = e.b.unary(UnaryOperator::BitwiseNot, x);
                    e.mask(lanes, x)
                }
                UnOp::Neg => {
                    let zero = e.splat_bits(lanes, 0);
                    let x = e.b.binary(BinaryOperator::Subtract, zero, x);
                    e.mask(lanes, x)
                }
                UnOp::FNeg => e.b.unary(UnaryOperator::Negate, x),
            })
        })
    }

    pub(super) fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Result<Val, EmitError> {
        match op {
            BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => return self.divide(op, a, b),
            BinOp::Shl | BinOp::LShr | BinOp::AShr => return self.shift(op, a, b),
            _ => {}
        }
        self.map2(a, b, |e, lanes, x, y| {
            let is_bool = lanes.scalar == ir::Scalar::Bool;
            let simple = |op| Ok::<_, EmitError>((op, true));
            let (operator, overflows) = match op {
                BinOp::Add => simple(BinaryOperator::Add)?,
                BinOp::Sub => simple(BinaryOperator::Subtract)?,
                BinOp::Mul => simple(BinaryOperator::Multiply)?,
                BinOp::And if is_bool && lanes.count == 1 => (BinaryOperator::LogicalAnd, false),
                BinOp::Or if is_bool && lanes.count == 1 => (BinaryOperator::LogicalOr, false),
                BinOp::Xor if is_bool => (BinaryOperator::NotEqual, false),
                BinOp::And => (BinaryOperator::And, false),
                BinOp::Or => (BinaryOperator::InclusiveOr, false),
                BinOp::Xor => (BinaryOperator::ExclusiveOr, false),
                BinOp::FAdd => (BinaryOperator::Add, false),
                BinOp::FSub => (BinaryOperator::Subtract, false),
                BinOp::FMul => (BinaryOperator::Multiply, false),
                BinOp::FDiv => (BinaryOperator::Divide, false),
                BinOp::UMin if e.cx.target.shaders.defects.unsigned_minima => {
                    let less = e.b.binary(BinaryOperator::Less, x, y);
                    return Ok(e.b.select(less, x, y));
                }
                BinOp::UMin => return Ok(e.b.math(MathFunction::Min, &[x, y])),
                BinOp::UMax => return Ok(e.b.math(MathFunction::Max, &[x, y])),
                BinOp::SMin | BinOp::SMax => {
                    let (x, y) = (e.signed(lanes, x), e.signed(lanes, y));
                    let function = if op == BinOp::SMin { MathFunction::Min } else { MathFunction::Max };
                    let r = e.b.math(function, &[x, y]);
                    return Ok(e.unsigned(lanes, r));
                }
                BinOp::FMin | BinOp::FMax => return Ok(e.float_extreme(op == BinOp::FMax, x, y)),
                _ => return Err(EmitError::Internal(format!("{op:?} is not legalized"))),
            };
            let r = e.b.binary(operator, x, y);
            Ok(if overflows { e.mask(lanes, r) } else { r })
        })
    }

    /// Emits a minimum or maximum of floats. If one operand is a NaN, the result is the other operand.
    fn float_extreme(&mut self, maximum: bool, x: Expr, y: Expr) -> Expr {
        if self.cx.target.shaders.spirv {
            // In SPIR-V, post-processing converts these functions to NMin and NMax, which return the other operand for
            // a NaN.
            return self.b.math(if maximum { MathFunction::Max } else { MathFunction::Min }, &[x, y]);
        }
        let operator = if maximum { BinaryOperator::Greater } else { BinaryOperator::Less };
        let better = self.b.binary(operator, y, x);
        let number = self.b.binary(BinaryOperator::Equal, x, x);
        let r = self.b.select(better, y, x);
        self.b.select(number, r, y)
    }

    /// Emits an integer division or remainder. A divisor that would trap is replaced with 1 at run time.
    fn divide(&mut self, op: BinOp, a: Value, b: Value) -> Result<Val, EmitError> {
        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        let operator = if matches!(op, BinOp::SDiv | BinOp::UDiv) { BinaryOperator::Divide } else { BinaryOperator::Modulo };
        let divisor = self.defs.scalar(b);
        self.map2(a, b, |e, lanes, x, y| {
            let safe = divisor.is_some_and(|bits| bits != 0 && (!signed || bits != lanes.scalar.mask()));
            let one = |e: &mut Self, scalar: Scalar| e.b.same(scalar, 1, lanes.count);
            if !signed {
                let y = if safe {
                    y
                } else {
                    let zero = e.splat_bits(lanes, 0);
                    let bad = e.b.binary(BinaryOperator::Equal, y, zero);
                    let one = one(e, lanes.register());
                    e.b.select(bad, one, y)
                };
                return Ok(e.b.binary(operator, x, y));
            }
            let (x, y) = (e.signed(lanes, x), e.signed(lanes, y));
            let y = if safe {
                y
            } else {
                let scalar = Self::signed_scalar(lanes);
                let zero = e.b.same(scalar, 0, lanes.count);
                let mut bad = e.b.binary(BinaryOperator::Equal, y, zero);
                if !lanes.is_narrow() {
                    let least = e.b.same(scalar, 1 << (lanes.bits() - 1), lanes.count);
                    let minus_one = e.b.same(scalar, lanes.scalar.mask(), lanes.count);
                    let x_least = e.b.binary(BinaryOperator::Equal, x, least);
                    let y_minus_one = e.b.binary(BinaryOperator::Equal, y, minus_one);
                    let overflow = e.b.and(x_least, y_minus_one);
                    bad = e.b.or(bad, overflow);
                }
                let one = one(e, scalar);
                e.b.select(bad, one, y)
            };
            if op == BinOp::SRem && !e.cx.target.shaders.spirv {
                // GLSL does not define remainders of negative numbers, so they are computed from the quotient.
                let quotient = e.b.binary(BinaryOperator::Divide, x, y);
                let product = e.b.binary(BinaryOperator::Multiply, quotient, y);
                let r = e.b.binary(BinaryOperator::Subtract, x, product);
                return Ok(e.unsigned(lanes, r));
            }
            let r = e.b.binary(operator, x, y);
            Ok(e.unsigned(lanes, r))
        })
    }

    fn shift(&mut self, op: BinOp, a: Value, b: Value) -> Result<Val, EmitError> {
        let constant = self.defs.scalar(b);
        self.map2(a, b, |e, lanes, x, y| {
            let amount_mask = u64::from(lanes.bits() - 1);
            let amount = match constant {
                Some(bits) => e.b.same(Scalar::U32, bits & amount_mask, lanes.count),
                None => {
                    let wide = lanes.scalar == ir::Scalar::I64;
                    let y = if wide { e.b.convert(y, Scalar::U32) } else { y };
                    let mask = e.b.same(Scalar::U32, amount_mask, lanes.count);
                    e.b.and(y, mask)
                }
            };
            Ok(match op {
                BinOp::Shl => {
                    let r = e.b.shl(x, amount);
                    e.mask(lanes, r)
                }
                BinOp::LShr => e.b.shr(x, amount),
                _ => {
                    let x = e.signed(lanes, x);
                    let r = e.b.shr(x, amount);
                    e.unsigned(lanes, r)
                }
            })
        })
    }

    pub(super) fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> Result<Val, EmitError> {
        self.map2(a, b, |e, lanes, x, y| {
            let (operator, signed) = match op {
                CmpOp::Eq | CmpOp::FEq => (BinaryOperator::Equal, false),
                CmpOp::Ne => (BinaryOperator::NotEqual, false),
                CmpOp::FNe if e.cx.target.shaders.spirv => (BinaryOperator::NotEqual, false),
                CmpOp::FNe => {
                    // naga's inequality is false for NaNs, so the equality is inverted.
                    let equal = e.b.binary(BinaryOperator::Equal, x, y);
                    return Ok(e.b.unary(UnaryOperator::LogicalNot, equal));
                }
                CmpOp::ULt | CmpOp::FLt => (BinaryOperator::Less, false),
                CmpOp::ULe | CmpOp::FLe => (BinaryOperator::LessEqual, false),
                CmpOp::UGt | CmpOp::FGt => (BinaryOperator::Greater, false),
                CmpOp::UGe | CmpOp::FGe => (BinaryOperator::GreaterEqual, false),
                CmpOp::SLt => (BinaryOperator::Less, true),
                CmpOp::SLe => (BinaryOperator::LessEqual, true),
                CmpOp::SGt => (BinaryOperator::Greater, true),
                CmpOp::SGe => (BinaryOperator::GreaterEqual, true),
            };
            if !signed {
                return Ok(e.b.binary(operator, x, y));
            }
            if lanes.scalar == ir::Scalar::I64 && e.cx.target.shaders.defects.long_comparisons {
                // Compare the signed integers as unsigned ones: inverted sign bits give unsigned integers with the same
                // order.
                let sign = e.b.same(Scalar::U64, 1 << 63, lanes.count);
                let [x, y] = [x, y].map(|side| e.b.binary(BinaryOperator::ExclusiveOr, side, sign));
                return Ok(e.b.binary(operator, x, y));
            }
            let (x, y) = (e.ordered(lanes, x), e.ordered(lanes, y));
            Ok(e.b.binary(operator, x, y))
        })
    }

    /// Converts integers to signed ones with the same order. Narrow integers are shifted up to the sign bit instead of
    /// being sign-extended.
    fn ordered(&mut self, lanes: Lanes, x: Expr) -> Expr {
        let x = if lanes.is_narrow() {
            let amount = self.b.same(Scalar::U32, u64::from(32 - lanes.bits()), lanes.count);
            self.b.shl(x, amount)
        } else {
            x
        };
        self.b.with_sign(x, ScalarKind::Sint, lanes.register().width)
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Result<Val, EmitError> {
        let conditions = self.value(condition)?;
        let (accept, reject) = (self.value(a)?, self.value(b)?);
        Ok(accept
            .into_iter()
            .zip(reject)
            .enumerate()
            .map(|(i, (x, y))| {
                let condition = if conditions.len() == 1 { conditions[0] } else { conditions[i] };
                self.b.select(condition, x, y)
            })
            .collect())
    }

    pub(super) fn cast(&mut self, op: CastOp, a: Value, to: Type) -> Result<Val, EmitError> {
        if op == CastOp::Bitcast {
            return self.bitcast_value(a, to);
        }
        let target = Lanes::of(to)?;
        self.map1(a, |e, from, x| {
            let wide = target.scalar == ir::Scalar::I64;
            Ok(match op {
                CastOp::Trunc if target.scalar == ir::Scalar::Bool => {
                    let one = e.splat_bits(from, 1);
                    let low = e.b.and(x, one);
                    e.b.binary(BinaryOperator::Equal, low, one)
                }
                CastOp::Trunc => {
                    let x = if from.scalar == ir::Scalar::I64 { e.b.convert(x, Scalar::U32) } else { x };
                    e.mask(target, x)
                }
                CastOp::ZExt if from.scalar == ir::Scalar::Bool => e.b.convert(x, target.register()),
                CastOp::ZExt if wide => e.b.convert(x, Scalar::U64),
                CastOp::ZExt => x,
                CastOp::SExt if from.scalar == ir::Scalar::Bool => {
                    let (ones, zero) = (e.splat_bits(target, target.scalar.mask()), e.splat_bits(target, 0));
                    e.b.select(x, ones, zero)
                }
                CastOp::SExt => {
                    let x = e.signed(from, x);
                    let x = if wide { e.b.convert(x, Scalar::I64) } else { x };
                    e.unsigned(target, x)
                }
                CastOp::FToS => {
                    let x = e.b.convert(x, if wide { Scalar::I64 } else { Scalar::I32 });
                    e.unsigned(target, x)
                }
                CastOp::FToU => {
                    let x = e.b.convert(x, target.register());
                    e.mask(target, x)
                }
                CastOp::SToF => {
                    let x = e.signed(from, x);
                    e.b.convert(x, target.register())
                }
                CastOp::UToF | CastOp::FToF => e.b.convert(x, target.register()),
                CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast => {
                    return Err(EmitError::unsupported("a pointer whose target is known only at run time"));
                }
            })
        })
    }

    pub(super) fn math_op(&mut self, op: MathOp, args: &[Value]) -> Result<Val, EmitError> {
        let &[a, ref rest @ ..] = args else { return Err(EmitError::Internal(format!("{op:?} without operands"))) };
        let ty = self.function.ty(a);
        let operands = rest.iter().map(|&value| self.value(value)).collect::<Result<Vec<_>, _>>()?;
        if operands.iter().any(|chunks| chunks.len() != chunk_count(ty.lanes())) {
            return Err(EmitError::Internal(format!("operands of {op:?} differ in lanes")));
        }
        let mut chunk = 0;
        self.map1(a, |e, lanes, x| {
            let mut list = smallvec::SmallVec::<[Expr; 3]>::from_slice(&[x]);
            list.extend(operands.iter().map(|chunks| chunks[chunk]));
            chunk += 1;
            e.math_chunk(op, lanes, &list)
        })
    }

    fn math_chunk(&mut self, op: MathOp, lanes: Lanes, args: &[Expr]) -> Result<Expr, EmitError> {
        let native = |op| match op {
            MathOp::NativeSin => Some(MathFunction::Sin),
            MathOp::NativeCos => Some(MathFunction::Cos),
            MathOp::NativeTan => Some(MathFunction::Tan),
            MathOp::NativeExp2 => Some(MathFunction::Exp2),
            MathOp::NativeLog2 => Some(MathFunction::Log2),
            MathOp::NativePow => Some(MathFunction::Pow),
            _ => None,
        };
        if let Some(function) = native(op) {
            // These functions have only 32- and 16-bit variants, so doubles are converted to floats and back.
            if lanes.scalar != ir::Scalar::F64 {
                return Ok(self.b.math(function, args));
            }
            let narrow: Vec<_> = args.iter().map(|&x| self.b.convert(x, Scalar::F32)).collect();
            let r = self.b.math(function, &narrow);
            return Ok(self.b.convert(r, Scalar::F64));
        }
        let function = match op {
            MathOp::FAbs => MathFunction::Abs,
            MathOp::Floor => MathFunction::Floor,
            MathOp::Ceil => MathFunction::Ceil,
            MathOp::FTrunc => MathFunction::Trunc,
            MathOp::Rint => MathFunction::Round,
            MathOp::Sqrt => MathFunction::Sqrt,
            MathOp::RSqrt => MathFunction::InverseSqrt,
            MathOp::Fma if self.cx.target.language.fused_fma => MathFunction::Fma,
            MathOp::FMulAdd if self.cx.target.language.fused_fma => MathFunction::Fma,
            MathOp::FMulAdd => {
                let &[a, b, c] = args else { return Err(EmitError::Internal("FMulAdd takes three operands".to_owned())) };
                let product = self.b.binary(BinaryOperator::Multiply, a, b);
                return Ok(self.b.add(product, c));
            }
            MathOp::NativeRecip => {
                let one = match lanes.scalar {
                    ir::Scalar::F16 => 0x3c00,
                    ir::Scalar::F32 => 0x3f80_0000,
                    _ => 0x3ff0_0000_0000_0000,
                };
                let one = self.splat_bits(lanes, one);
                return Ok(self.b.binary(BinaryOperator::Divide, one, args[0]));
            }
            MathOp::NativeDivide => {
                let &[a, b] = args else { return Err(EmitError::Internal("NativeDivide takes two operands".to_owned())) };
                return Ok(self.b.binary(BinaryOperator::Divide, a, b));
            }
            MathOp::Clz if lanes.bits() == 32 => MathFunction::CountLeadingZeros,
            MathOp::Ctz if lanes.bits() == 32 => MathFunction::CountTrailingZeros,
            MathOp::Popcount if lanes.bits() <= 32 => MathFunction::CountOneBits,
            MathOp::ReverseBits if lanes.bits() == 32 => MathFunction::ReverseBits,
            _ => return Err(EmitError::Internal(format!("{op:?} of {} is not legalized", lanes.scalar))),
        };
        Ok(self.b.math(function, args))
    }

    /// Emits `all` or `any` of a `bool` value.
    pub(super) fn reduce(&mut self, all: bool, a: Value) -> Result<Val, EmitError> {
        let lanes = self.function.ty(a).lanes();
        let chunks = self.value(a)?;
        if lanes == 1 {
            return Ok(chunks);
        }
        let fun = if all { naga::RelationalFunction::All } else { naga::RelationalFunction::Any };
        let operator = if all { BinaryOperator::LogicalAnd } else { BinaryOperator::LogicalOr };
        let mut result = None;
        for argument in chunks {
            let part = self.b.expr(Expression::Relational { fun, argument });
            result = Some(match result {
                None => part,
                Some(before) => self.b.binary(operator, before, part),
            });
        }
        Ok(result.into_iter().collect())
    }
}
