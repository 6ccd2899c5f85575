//! Arithmetic, bit instructions and comparisons (SPIR-V 3.52.13 to 3.52.15).

use rspirv::spirv::{Op as Opcode, Scope};

use super::bridge::{Signedness, c_type};
use super::errors::{Checked, OperandIndex, Shown, invalid};
use super::function::Lowering;
use crate::ir::{BinOp, CastOp, CmpOp, MathOp, Op, Scalar, Type, UnOp, Value};
use crate::lower::builder::float_bits;

/// Returns the IR operation of a binary instruction, or `None` for other instructions.
const fn binary(op: Opcode) -> Option<BinOp> {
    Some(match op {
        Opcode::IAdd => BinOp::Add,
        Opcode::ISub => BinOp::Sub,
        Opcode::IMul => BinOp::Mul,
        Opcode::UDiv => BinOp::UDiv,
        Opcode::SDiv => BinOp::SDiv,
        Opcode::UMod => BinOp::URem,
        Opcode::SRem => BinOp::SRem,
        Opcode::FAdd => BinOp::FAdd,
        Opcode::FSub => BinOp::FSub,
        Opcode::FMul => BinOp::FMul,
        Opcode::FDiv => BinOp::FDiv,
        Opcode::BitwiseAnd | Opcode::LogicalAnd => BinOp::And,
        Opcode::BitwiseOr | Opcode::LogicalOr => BinOp::Or,
        Opcode::BitwiseXor | Opcode::LogicalNotEqual => BinOp::Xor,
        _ => return None,
    })
}

/// Returns the IR comparison of an instruction, or `None` for other instructions. If the flag is set, the result must
/// be negated: an unordered comparison of floats is the negation of the opposite ordered comparison.
const fn comparison(op: Opcode) -> Option<(CmpOp, bool)> {
    Some(match op {
        Opcode::IEqual | Opcode::LogicalEqual => (CmpOp::Eq, false),
        Opcode::INotEqual => (CmpOp::Ne, false),
        Opcode::UGreaterThan => (CmpOp::UGt, false),
        Opcode::SGreaterThan => (CmpOp::SGt, false),
        Opcode::UGreaterThanEqual => (CmpOp::UGe, false),
        Opcode::SGreaterThanEqual => (CmpOp::SGe, false),
        Opcode::ULessThan => (CmpOp::ULt, false),
        Opcode::SLessThan => (CmpOp::SLt, false),
        Opcode::ULessThanEqual => (CmpOp::ULe, false),
        Opcode::SLessThanEqual => (CmpOp::SLe, false),
        Opcode::FOrdEqual => (CmpOp::FEq, false),
        Opcode::FUnordNotEqual => (CmpOp::FNe, false),
        Opcode::FOrdLessThan => (CmpOp::FLt, false),
        Opcode::FOrdGreaterThan => (CmpOp::FGt, false),
        Opcode::FOrdLessThanEqual => (CmpOp::FLe, false),
        Opcode::FOrdGreaterThanEqual => (CmpOp::FGe, false),
        Opcode::FUnordLessThan => (CmpOp::FGe, true),
        Opcode::FUnordGreaterThan => (CmpOp::FLe, true),
        Opcode::FUnordLessThanEqual => (CmpOp::FGt, true),
        Opcode::FUnordGreaterThanEqual => (CmpOp::FLt, true),
        _ => return None,
    })
}

const fn is_float_op(op: BinOp) -> bool {
    matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv)
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn arithmetic(&mut self) -> Checked<bool> {
        let op = self.current.op;
        if let Some(bin) = binary(op) {
            let (a, b) = self.same_type_operands(is_float_op(bin))?;
            let value = self.b.bin(bin, a, b);
            self.b.nan_check(value, &[a, b], None);
            return self.set_result(value).map(|()| true);
        }
        if let Some((cmp, opposite)) = comparison(op) {
            let float = matches!(cmp, CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe);
            let (a, b) = self.same_type_operands(float)?;
            let value = self.b.cmp(cmp, a, b);
            let value = if opposite { self.b.not(value) } else { value };
            return self.set_result(value).map(|()| true);
        }
        let value = match op {
            Opcode::SNegate => self.unary(UnOp::Neg, Some(false))?,
            Opcode::FNegate => self.unary(UnOp::FNeg, Some(true))?,
            Opcode::Not | Opcode::LogicalNot => self.unary(UnOp::Not, Some(false))?,
            Opcode::SMod => self.signed_modulo()?,
            Opcode::FRem => {
                let (a, b) = self.same_type_operands(true)?;
                self.library("fmod", &[a, b], Signedness::Signed)?
            }
            Opcode::FMod => self.float_modulo()?,
            Opcode::VectorTimesScalar => {
                let (vector, scalar) = (self.number(0)?, self.number(1)?);
                let lanes = self.b.ty(vector).lanes();
                let scalar = self.b.splat(scalar, lanes);
                self.same_shape(vector, scalar, Some(true))?;
                let product = self.b.bin(BinOp::FMul, vector, scalar);
                self.b.nan_check(product, &[vector, scalar], None);
                product
            }
            Opcode::ShiftLeftLogical => self.shift(BinOp::Shl)?,
            Opcode::ShiftRightLogical => self.shift(BinOp::LShr)?,
            Opcode::ShiftRightArithmetic => self.shift(BinOp::AShr)?,
            Opcode::BitReverse => self.integer_function(MathOp::ReverseBits)?,
            Opcode::BitCount => self.integer_function(MathOp::Popcount)?,
            Opcode::BitFieldInsert | Opcode::BitFieldSExtract | Opcode::BitFieldUExtract => self.bit_field()?,
            Opcode::Any | Opcode::All => {
                let flags = self.number(0)?;
                if self.b.ty(flags).scalar() != Some(Scalar::Bool) {
                    return Err(invalid!("the operand is not a bool"));
                }
                self.b.emit(if op == Opcode::Any { Op::Any(flags) } else { Op::All(flags) }, Type::BOOL)
            }
            Opcode::Select => match self.aggregate_choice()? {
                Some(chosen) => return self.define(chosen).map(|()| true),
                None => self.select()?,
            },
            Opcode::Dot => {
                let (a, b) = self.same_type_operands(true)?;
                self.library("dot", &[a, b], Signedness::Signed)?
            }
            Opcode::SDot | Opcode::UDot | Opcode::SUDot | Opcode::SDotAccSat | Opcode::UDotAccSat | Opcode::SUDotAccSat => {
                self.integer_dot()?
            }
            Opcode::ExpectKHR => self.number(0)?,
            Opcode::ReadClockKHR => self.clock()?,
            Opcode::IAddCarry | Opcode::ISubBorrow | Opcode::UMulExtended | Opcode::SMulExtended => {
                return self.two_results().map(|()| true);
            }
            _ => match self.classify()? {
                Some(value) => value,
                None => return Ok(false),
            },
        };
        self.set_result(value)?;
        Ok(true)
    }

    /// Lowers `OpReadClockKHR`. The result is a vector of two 32-bit words or a 64-bit integer.
    fn clock(&mut self) -> Checked<Value> {
        let sub = Scope::from_u32(self.constant_operand(0)?) == Some(Scope::Subgroup);
        let words = self.b.emit(Op::Clock { sub }, Type::of(Scalar::I32, 2));
        Ok(if self.result_type()? == Type::I64 { self.b.cast(CastOp::Bitcast, words, Type::I64) } else { words })
    }

    /// Returns operands 0 and 1. They must have the same type: floats if `float`, otherwise integers or bools.
    fn same_type_operands(&mut self, float: bool) -> Checked<(Value, Value)> {
        let (a, b) = (self.number(0)?, self.number(1)?);
        self.same_shape(a, b, Some(float))?;
        Ok((a, b))
    }

    fn same_shape(&self, a: Value, b: Value, float: Option<bool>) -> Checked<()> {
        let (ta, tb) = (self.b.ty(a), self.b.ty(b));
        if ta != tb || float.is_some_and(|float| ta.scalar().is_some_and(Scalar::is_float) != float) {
            return Err(invalid!("operand types {ta} and {tb} are not valid"));
        }
        Ok(())
    }

    fn unary(&mut self, op: UnOp, float: Option<bool>) -> Checked<Value> {
        let a = self.number(0)?;
        let ty = self.b.ty(a);
        if float.is_some_and(|float| ty.scalar().is_some_and(Scalar::is_float) != float) {
            return Err(invalid!("an operand of type {ty} is not valid"));
        }
        if op == UnOp::Neg && ty.scalar() == Some(Scalar::Bool) {
            return Err(invalid!("bool operands are not valid"));
        }
        Ok(self.b.un(op, a))
    }

    /// Returns operand `index`, which must be an integer or a vector of integers.
    pub(super) fn integer(&mut self, index: usize) -> Checked<Value> {
        let value = self.number(index)?;
        match self.b.ty(value).scalar() {
            Some(scalar) if scalar.is_int() => Ok(value),
            _ => Err(invalid!("{} is not an integer", OperandIndex(index))),
        }
    }

    /// Shifts by the second operand modulo the width of the first operand. The width of the shift amount does not
    /// matter.
    fn shift(&mut self, op: BinOp) -> Checked<Value> {
        let (value, amount) = (self.integer(0)?, self.integer(1)?);
        let ty = self.b.ty(value);
        if self.b.ty(amount).lanes() != ty.lanes() {
            return Err(invalid!("the operands have different component counts"));
        }
        let amount = self.b.resize(amount, false, ty);
        Ok(self.b.bin(op, value, amount))
    }

    fn integer_function(&mut self, op: MathOp) -> Checked<Value> {
        let value = self.integer(0)?;
        let result = self.b.math(op, &[value]);
        let want = self.result_type()?;
        if want.lanes() != self.b.ty(value).lanes() || !want.scalar().is_some_and(Scalar::is_int) {
            return Err(invalid!("result type {want} is not valid"));
        }
        Ok(self.b.resize(result, false, want))
    }

    /// Lowers `OpSMod`. The result has the sign of the divisor.
    fn signed_modulo(&mut self) -> Checked<Value> {
        let (a, b) = (self.integer(0)?, self.integer(1)?);
        self.same_shape(a, b, Some(false))?;
        let rest = self.b.bin(BinOp::SRem, a, b);
        let other_sign = self.b.bin(BinOp::Xor, rest, b);
        let other_sign = self.b.cmp_int(CmpOp::SLt, other_sign, 0);
        let not_zero = self.b.cmp_int(CmpOp::Ne, rest, 0);
        let wrong = self.b.and(other_sign, not_zero);
        Ok(self.add_if(wrong, rest, b))
    }

    /// Lowers `OpFMod`. The result has the sign of the divisor.
    fn float_modulo(&mut self) -> Checked<Value> {
        let (a, b) = self.same_type_operands(true)?;
        let rest = self.library("fmod", &[a, b], Signedness::Signed)?;
        let ty = self.b.ty(a);
        let zero = self.b.bits(ty, 0);
        let (down, up) = (self.b.cmp(CmpOp::FLt, rest, zero), self.b.cmp(CmpOp::FLt, b, zero));
        let differ = self.b.bin(BinOp::Xor, down, up);
        let not_zero = self.b.cmp(CmpOp::FNe, rest, zero);
        let wrong = self.b.and(differ, not_zero);
        let sum = self.b.bin(BinOp::FAdd, rest, b);
        Ok(self.b.select(wrong, sum, rest))
    }

    fn select(&mut self) -> Checked<Value> {
        let (cond, a, b) = (self.number(0)?, self.arg(1)?, self.arg(2)?);
        let (tc, ta, tb) = (self.b.ty(cond), self.b.ty(a), self.b.ty(b));
        if tc.scalar() != Some(Scalar::Bool) || (tc.lanes() != 1 && tc.lanes() != ta.lanes()) {
            return Err(invalid!("a condition of type {} is not valid for operands of type {}", Shown(tc), Shown(ta)));
        }
        let (a, b) = match (ta, tb) {
            (Type::Ptr(x), Type::Ptr(y)) if x != y => {
                let want = self.result_type()?;
                (self.b.cast(crate::ir::CastOp::SpaceCast, a, want), self.b.cast(crate::ir::CastOp::SpaceCast, b, want))
            }
            _ if ta != tb => return Err(invalid!("operand types {ta} and {tb} are not valid")),
            _ => (a, b),
        };
        Ok(self.b.select(cond, a, b))
    }

    fn bit_field(&mut self) -> Checked<Value> {
        let (name, sign, values) = match self.current.op {
            Opcode::BitFieldInsert => ("bitfield_insert", Signedness::Unsigned, 2),
            Opcode::BitFieldSExtract => ("bitfield_extract_signed", Signedness::Signed, 1),
            _ => ("bitfield_extract_unsigned", Signedness::Unsigned, 1),
        };
        let mut args = Vec::new();
        for index in 0..values {
            args.push(self.integer(index)?);
        }
        for index in values..values + 2 {
            let amount = self.integer(index)?;
            args.push(self.b.resize(amount, false, Type::I32));
        }
        self.library(name, &args, sign)
    }

    /// Lowers classifications of floats, such as `OpIsNan`. The result has a `bool` per component. Returns `None` for
    /// other instructions.
    fn classify(&mut self) -> Checked<Option<Value>> {
        let op = self.current.op;
        let is_classification = matches!(
            op,
            Opcode::IsNan
                | Opcode::IsInf
                | Opcode::IsFinite
                | Opcode::IsNormal
                | Opcode::SignBitSet
                | Opcode::LessOrGreater
                | Opcode::Ordered
                | Opcode::Unordered
                | Opcode::FOrdNotEqual
                | Opcode::FUnordEqual
        );
        if !is_classification {
            return Ok(None);
        }
        let a = self.number(0)?;
        self.same_shape(a, a, Some(true))?;
        let ty = self.b.ty(a);
        let scalar = ty.scalar().unwrap_or(Scalar::F32);
        let least_normal = |scalar: Scalar| match scalar {
            Scalar::F16 => 0x0400,
            Scalar::F32 => 0x0080_0000,
            _ => 0x0010_0000_0000_0000,
        };
        let int = ty.with_scalar(Scalar::int_of_size(scalar.size()).unwrap_or(Scalar::I32));
        let bits = self.b.bitcast(a, int);
        if op == Opcode::SignBitSet {
            return Ok(Some(self.b.cmp_int(CmpOp::SLt, bits, 0)));
        }
        if matches!(op, Opcode::IsNan | Opcode::IsInf | Opcode::IsFinite | Opcode::IsNormal) {
            let mask = self.b.bits(int, scalar.mask() >> 1);
            let magnitude = self.b.and(bits, mask);
            let infinity = self.b.bits(int, float_bits(scalar, f64::INFINITY));
            return Ok(Some(match op {
                Opcode::IsNan => self.b.cmp(CmpOp::UGt, magnitude, infinity),
                Opcode::IsInf => self.b.cmp(CmpOp::Eq, magnitude, infinity),
                Opcode::IsFinite => self.b.cmp(CmpOp::ULt, magnitude, infinity),
                _ => {
                    let least = self.b.bits(int, least_normal(scalar));
                    let (above, below) = (self.b.cmp(CmpOp::UGe, magnitude, least), self.b.cmp(CmpOp::ULt, magnitude, infinity));
                    self.b.and(above, below)
                }
            }));
        }
        let (a, b) = self.same_type_operands(true)?;
        let (left, right) = (self.b.cmp(CmpOp::FEq, a, a), self.b.cmp(CmpOp::FEq, b, b));
        let ordered = self.b.and(left, right);
        Ok(Some(match op {
            Opcode::Ordered => ordered,
            Opcode::Unordered => self.b.not(ordered),
            Opcode::FUnordEqual => {
                let (equal, unordered) = (self.b.cmp(CmpOp::FEq, a, b), self.b.not(ordered));
                self.b.or(equal, unordered)
            }
            _ => {
                let differ = self.b.cmp(CmpOp::FNe, a, b);
                self.b.and(differ, ordered)
            }
        }))
    }

    /// Lowers dot products (SPV_KHR_integer_dot_product) of vectors, or of four bytes packed in a 32-bit integer.
    fn integer_dot(&mut self) -> Checked<Value> {
        let (a_sign, b_sign, accumulates) = match self.current.op {
            Opcode::SDot => (true, true, false),
            Opcode::UDot => (false, false, false),
            Opcode::SUDot => (true, false, false),
            Opcode::SDotAccSat => (true, true, true),
            Opcode::UDotAccSat => (false, false, true),
            _ => (true, false, true),
        };
        let (mut a, mut b) = (self.integer(0)?, self.integer(1)?);
        let want = self.result_type()?;
        if self.b.ty(a).lanes() == 1 {
            let bytes = Type::Vector(Scalar::I8, 4);
            if self.b.ty(a) != Type::I32 || self.b.ty(b) != Type::I32 {
                return Err(invalid!("a packed operand is not a 32-bit integer"));
            }
            (a, b) = (self.b.bitcast(a, bytes), self.b.bitcast(b, bytes));
        }
        self.same_shape(a, b, Some(false))?;
        // The sum has 64 bits, enough for 16 products of 16-bit integers. A sum of products of wider integers may wrap.
        let lanes = self.b.ty(a).lanes();
        let wide = Type::I64;
        let mut sum = self.b.bits(wide, 0);
        for lane in 0..lanes {
            let (x, y) = (self.b.extract(a, lane), self.b.extract(b, lane));
            let (x, y) = (self.b.resize(x, a_sign, wide), self.b.resize(y, b_sign, wide));
            let product = self.b.mul(x, y);
            sum = self.b.add(sum, product);
        }
        if !accumulates {
            return Ok(self.b.resize(sum, a_sign, want));
        }
        let sum = self.b.resize(sum, a_sign, want);
        let accumulator = self.integer(2)?;
        self.same_shape(sum, accumulator, Some(false))?;
        Ok(self.b.bin(if a_sign { BinOp::SAddSat } else { BinOp::UAddSat }, sum, accumulator))
    }

    /// Lowers instructions whose result is a structure of two numbers.
    fn two_results(&mut self) -> Checked<()> {
        let (a, b) = (self.integer(0)?, self.integer(1)?);
        self.same_shape(a, b, Some(false))?;
        let ty = self.b.ty(a);
        let (low, high) = match self.current.op {
            Opcode::IAddCarry => {
                let sum = self.b.add(a, b);
                let carry = self.b.cmp(CmpOp::ULt, sum, a);
                (sum, self.flag_number(carry, ty))
            }
            Opcode::ISubBorrow => {
                let borrow = self.b.cmp(CmpOp::ULt, a, b);
                (self.b.sub(a, b), self.flag_number(borrow, ty))
            }
            Opcode::UMulExtended => (self.b.mul(a, b), self.b.bin(BinOp::UMulHi, a, b)),
            _ => (self.b.mul(a, b), self.b.bin(BinOp::SMulHi, a, b)),
        };
        self.set_result_members(&[low, high])
    }

    fn flag_number(&mut self, flag: Value, ty: Type) -> Value {
        let (one, zero) = (self.b.bits(ty, 1), self.b.bits(ty, 0));
        self.b.select(flag, one, zero)
    }

    /// Calls the OpenCL C function with this name. All integers have the signedness `sign`. The result type is that of
    /// the current instruction.
    pub(super) fn library(&mut self, name: &str, args: &[Value], sign: Signedness) -> Checked<Value> {
        let want = self.result_type()?;
        let names = (0..args.len()).map(|index| format!("a{index}")).collect::<Vec<_>>().join(", ");
        let result = c_type(want, sign)?;
        let body = if want.scalar().is_some_and(Scalar::is_int) {
            format!("return as_{result}({name}({names}));")
        } else {
            format!("return {name}({names});")
        };
        let params = args.iter().map(|&arg| c_type(self.b.ty(arg), sign)).collect::<Checked<Vec<_>>>()?;
        let value = self.library_text(want, &result, &params, args, &body)?;
        match name {
            // The result consists of bits of the operands, so it is not checked for NaN.
            "bitselect" => {}
            "dot" | "cross" | "length" | "distance" | "normalize" | "fast_length" | "fast_distance" | "fast_normalize" => {
                self.b.nan_check_across(value, args);
            }
            _ => self.b.nan_check(value, args, None),
        }
        Ok(value)
    }
}
