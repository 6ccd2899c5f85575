//! Evaluates `OpSpecConstantOp` (SPIR-V 3.52.7).

use rspirv::spirv::Op;

use super::constants::{Constant, Constants};
use super::errors::{Checked, OperandIndex, invalid, unsupported};
use super::types::{Kind, Types};
use super::words::{Id, Inst};
use crate::ir::{Scalar, Type};

/// Evaluates an `OpSpecConstantOp`.
pub(super) fn operation(inst: &Inst<'_>, types: &Types, constants: &Constants) -> Checked<Constant> {
    let opcode = inst.word(0)?;
    let op = Op::from_u32(opcode).ok_or_else(|| invalid!("{opcode} is not an opcode"))?;
    let fold = Fold { types, constants, ty: inst.ty()?, operands: inst.operands.get(1..).unwrap_or_default() };
    match op {
        Op::AccessChain | Op::InBoundsAccessChain => fold.chain(false),
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => fold.chain(true),
        Op::Bitcast if fold.is_pointer()? => fold.constant(0),
        Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::CopyObject => fold.constant(0),
        Op::ConvertPtrToU | Op::ConvertUToPtr => match fold.constant(0)? {
            Constant::Null => super::constants::null(types, fold.ty),
            Constant::Bits(0) => Ok(Constant::Null),
            other @ Constant::Address { .. } if fold.is_pointer()? => Ok(other),
            _ => Err(unsupported!("an address in a numeric constant")),
        },
        Op::CompositeExtract => fold.extract(),
        Op::CompositeInsert => fold.insert(),
        Op::VectorShuffle => fold.shuffle(),
        Op::Select => fold.select(),
        _ => fold.numbers(op),
    }
}

struct Fold<'a> {
    types: &'a Types,
    constants: &'a Constants,
    ty: Id,
    operands: &'a [u32],
}

impl Fold<'_> {
    fn operand(&self, index: usize) -> Checked<Id> {
        self.operands.get(index).copied().map(Id).ok_or_else(|| invalid!("{} is missing", OperandIndex(index + 1)))
    }

    fn constant(&self, index: usize) -> Checked<Constant> {
        Ok(self.constants.known(self.operand(index)?)?.1.clone())
    }

    fn is_pointer(&self) -> Checked<bool> {
        Ok(matches!(self.types.get(self.ty)?.kind, Kind::Pointer { .. }))
    }

    /// Returns the bits of each component of an operand, and their scalar type.
    fn lanes(&self, index: usize) -> Checked<(Vec<u64>, Scalar)> {
        let id = self.operand(index)?;
        let (ty, constant) = self.constants.known(id)?;
        let ty = self.types.numbers(ty)?;
        let scalar = ty.scalar().ok_or_else(|| invalid!("{id} is not a number"))?;
        match constant {
            Constant::Bits(bits) => Ok((vec![*bits], scalar)),
            Constant::Lanes(lanes) => Ok((lanes.clone(), scalar)),
            Constant::Undef | Constant::Null => Ok((vec![0; ty.lanes().into()], scalar)),
            _ => Err(invalid!("{id} is not a number")),
        }
    }

    /// Creates a constant of the result type.
    fn make(&self, lanes: Vec<u64>) -> Checked<Constant> {
        let ty = self.types.numbers(self.ty)?;
        let mask = ty.scalar().map_or(u64::MAX, Scalar::mask);
        match (ty, lanes.as_slice()) {
            (Type::Scalar(_), [bits]) => Ok(Constant::Bits(bits & mask)),
            (Type::Vector(_, count), lanes) if lanes.len() == usize::from(count) => {
                Ok(Constant::Lanes(lanes.iter().map(|bits| bits & mask).collect()))
            }
            _ => Err(invalid!("the operands and the result have different component counts")),
        }
    }

    /// Evaluates an access chain. If `element`, the first index selects an element of the array that the base points
    /// into.
    fn chain(&self, element: bool) -> Checked<Constant> {
        let base = self.operand(0)?;
        let (pointer, constant) = self.constants.known(base)?;
        let &Constant::Address { target, offset } = constant else {
            return Err(unsupported!("a constant access chain whose base is not a variable"));
        };
        let mut ty = self.types.pointee(pointer)?.0;
        let mut bytes = offset;
        let signed = |index: usize| {
            let (lanes, scalar) = self.lanes(index)?;
            Ok(scalar.sign_extend(lanes.first().copied().unwrap_or_default()))
        };
        let scaled = |index: i64, size: u64| index.wrapping_mul(i64::try_from(size).unwrap_or(i64::MAX));
        if element {
            bytes = bytes.wrapping_add(scaled(signed(1)?, self.types.get(ty)?.size));
        }
        for index in 1 + usize::from(element)..self.operands.len() {
            let step = signed(index)?;
            let (inner, more) = match &self.types.get(ty)?.kind {
                Kind::Array { element, .. } => (Some(*element), scaled(step, self.types.get(*element)?.size)),
                Kind::Struct { members } => {
                    let member = usize::try_from(step).ok().and_then(|step| members.get(step));
                    let (inner, at) = member.ok_or_else(|| invalid!("member index {step} is out of range"))?;
                    (Some(*inner), i64::try_from(*at).unwrap_or(i64::MAX))
                }
                Kind::Numbers(Type::Vector(scalar, _)) => (None, scaled(step, scalar.size().max(1).into())),
                _ => return Err(invalid!("the object cannot be indexed")),
            };
            bytes = bytes.wrapping_add(more);
            match inner {
                Some(inner) => ty = inner,
                None if index + 1 == self.operands.len() => {}
                None => return Err(invalid!("a component of a vector cannot be indexed")),
            }
        }
        Ok(Constant::Address { target, offset: bytes })
    }

    fn extract(&self) -> Checked<Constant> {
        let mut constant = self.constant(0)?;
        for &index in self.operands.get(1..).unwrap_or_default() {
            constant = match constant {
                Constant::Composite(parts) => {
                    let part = parts.get(index as usize).ok_or_else(|| invalid!("index {index} is out of range"))?;
                    self.constants.known(*part)?.1.clone()
                }
                Constant::Lanes(lanes) => {
                    Constant::Bits(*lanes.get(index as usize).ok_or_else(|| invalid!("component index {index} is out of range"))?)
                }
                Constant::Null => return super::constants::null(self.types, self.ty),
                Constant::Undef => return Ok(Constant::Undef),
                _ => return Err(invalid!("the constant has no constituents")),
            };
        }
        Ok(constant)
    }

    fn insert(&self) -> Checked<Constant> {
        match (self.constant(1)?, self.operands) {
            (Constant::Lanes(mut lanes), &[_, _, index]) => {
                let (value, _) = self.lanes(0)?;
                *lanes.get_mut(index as usize).ok_or_else(|| invalid!("component index {index} is out of range"))? =
                    value.first().copied().unwrap_or_default();
                self.make(lanes)
            }
            (Constant::Composite(mut parts), &[value, _, index]) => {
                *parts.get_mut(index as usize).ok_or_else(|| invalid!("index {index} is out of range"))? = Id(value);
                Ok(Constant::Composite(parts))
            }
            _ => Err(unsupported!("insertion into a nested constituent of a constant")),
        }
    }

    fn shuffle(&self) -> Checked<Constant> {
        let (mut lanes, _) = self.lanes(0)?;
        lanes.extend(self.lanes(1)?.0);
        let picks = self.operands.get(2..).unwrap_or_default();
        self.make(picks.iter().map(|&lane| lanes.get(lane as usize).copied().unwrap_or_default()).collect())
    }

    fn select(&self) -> Checked<Constant> {
        let (flags, _) = self.lanes(0)?;
        if let [flag] = flags.as_slice() {
            return self.constant(if *flag != 0 { 1 } else { 2 });
        }
        let ((then, _), (els, _)) = (self.lanes(1)?, self.lanes(2)?);
        self.make(flags.iter().zip(then.iter().zip(&els)).map(|(flag, (a, b))| if *flag != 0 { *a } else { *b }).collect())
    }

    fn numbers(&self, op: Op) -> Checked<Constant> {
        let (a, scalar) = self.lanes(0)?;
        let to = self.types.numbers(self.ty)?.scalar().unwrap_or(Scalar::I32);
        if self.operands.len() == 1 {
            return self.make(a.iter().map(|&a| fold_unary(op, a, scalar, to)).collect::<Checked<_>>()?);
        }
        let (b, b_scalar) = self.lanes(1)?;
        self.make(a.iter().zip(&b).map(|(&a, &b)| fold_binary(op, a, b, scalar, b_scalar)).collect::<Checked<_>>()?)
    }
}

fn float(bits: u64, scalar: Scalar) -> f64 {
    match scalar {
        Scalar::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn float_bits(value: f64, scalar: Scalar) -> u64 {
    crate::lower::builder::float_bits(scalar, value)
}

fn fold_unary(op: Op, a: u64, from: Scalar, to: Scalar) -> Checked<u64> {
    let signed = from.sign_extend(a);
    Ok(match op {
        Op::SNegate => a.wrapping_neg(),
        Op::Not => !a,
        Op::LogicalNot => u64::from(a == 0),
        Op::UConvert => a,
        Op::SConvert => signed.cast_unsigned(),
        Op::FConvert => float_bits(float(a, from), to),
        Op::FNegate => float_bits(-float(a, from), to),
        Op::ConvertSToF => float_bits(signed as f64, to),
        Op::ConvertUToF => float_bits(a as f64, to),
        Op::ConvertFToS => (float(a, from) as i64).cast_unsigned(),
        Op::ConvertFToU => float(a, from) as u64,
        Op::Bitcast if from.size() == to.size() => a,
        _ => return Err(unsupported!("Op{op:?} in a constant expression")),
    })
}

fn fold_binary(op: Op, a: u64, b: u64, scalar: Scalar, b_scalar: Scalar) -> Checked<u64> {
    let (x, y) = (scalar.sign_extend(a), b_scalar.sign_extend(b));
    let amount = (b & u64::from(scalar.bits().max(1) - 1)) as u32;
    let by_zero = || invalid!("division by zero");
    let flag = |holds: bool| u64::from(holds);
    let floats = |f: fn(f64, f64) -> f64| float_bits(f(float(a, scalar), float(b, scalar)), scalar);
    Ok(match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).ok_or_else(by_zero)?,
        Op::UMod => a.checked_rem(b).ok_or_else(by_zero)?,
        Op::SDiv | Op::SRem | Op::SMod if y == 0 => return Err(by_zero()),
        Op::SDiv => x.wrapping_div(y).cast_unsigned(),
        Op::SRem => x.wrapping_rem(y).cast_unsigned(),
        Op::SMod => (x.wrapping_rem(y).wrapping_add(y)).wrapping_rem(y).cast_unsigned(),
        Op::ShiftLeftLogical => a << amount,
        Op::ShiftRightLogical => a >> amount,
        Op::ShiftRightArithmetic => (x >> amount).cast_unsigned(),
        Op::BitwiseAnd | Op::LogicalAnd => a & b,
        Op::BitwiseOr | Op::LogicalOr => a | b,
        Op::BitwiseXor => a ^ b,
        Op::IEqual | Op::LogicalEqual => flag(a == b),
        Op::INotEqual | Op::LogicalNotEqual => flag(a != b),
        Op::ULessThan => flag(a < b),
        Op::ULessThanEqual => flag(a <= b),
        Op::UGreaterThan => flag(a > b),
        Op::UGreaterThanEqual => flag(a >= b),
        Op::SLessThan => flag(x < y),
        Op::SLessThanEqual => flag(x <= y),
        Op::SGreaterThan => flag(x > y),
        Op::SGreaterThanEqual => flag(x >= y),
        Op::FAdd => floats(|a, b| a + b),
        Op::FSub => floats(|a, b| a - b),
        Op::FMul => floats(|a, b| a * b),
        Op::FDiv => floats(|a, b| a / b),
        Op::FRem => floats(|a, b| a % b),
        _ => return Err(unsupported!("Op{op:?} in a constant expression")),
    })
}
