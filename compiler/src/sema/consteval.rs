//! Evaluation of constant expressions (C99 6.6; OpenCL C 6.7.3) on the typed tree.
//!
//! An integer value is a bit pattern, zero-extended from the width of its type. A floating-point value is a `double`
//! that its type represents exactly. Operations on all floating-point types use double precision. To round the
//! double-precision sum, difference, product or quotient to single or half precision gives the correctly rounded
//! result.

use half::f16;

use super::{Sema, is_float, is_signed};
use crate::ast::ScalarKind;
use crate::half_conversion::to_half;
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{BinaryOp, CastKind, Constant, Expr, ExprKind, GlobalId, Lvalue, LvalueKind, Rounding, Ty, TyKind, UnaryOp};

/// The value of a constant expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Const(Constant),
    /// An address: a global variable and an offset in bytes.
    Address(GlobalId, i64),
}

/// Returns the low bits of an integer, up to the width of the type `kind`. For `bool`, returns 1 for all values other
/// than 0.
pub(super) fn int_bits(kind: ScalarKind, value: i128) -> u64 {
    if kind == ScalarKind::Bool {
        return u64::from(value != 0);
    }
    let bits = scalar_size(kind) * 8;
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only the low bits are needed")]
    let low = value as u64;
    low & mask
}

/// Returns the value of an integer of type `kind` with these bits.
pub(super) fn int_value(kind: ScalarKind, bits: u64) -> i128 {
    let width = scalar_size(kind) * 8;
    if is_signed(kind) {
        let shift = 64 - width;
        #[expect(clippy::cast_possible_wrap, reason = "sign extension")]
        let signed = ((bits << shift) as i64) >> shift;
        i128::from(signed)
    } else {
        i128::from(bits)
    }
}

/// Rounds a double to a floating-point type.
pub(super) fn round_to(kind: ScalarKind, value: f64) -> f64 {
    match kind {
        ScalarKind::Half => to_half(value).to_f64(),
        #[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
        ScalarKind::Float => f64::from(value as f32),
        _ => value,
    }
}

/// Returns the bits of a scalar constant, as memory contains them.
fn scalar_bits(kind: ScalarKind, value: &Constant) -> u64 {
    match *value {
        Constant::Int(bits) => bits,
        #[expect(clippy::cast_possible_truncation, reason = "exactly representable")]
        Constant::Float(value) => match kind {
            ScalarKind::Half => u64::from(to_half(value).to_bits()),
            ScalarKind::Float => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        },
        Constant::Null | Constant::Vector(_) | Constant::Wide(_) => 0,
    }
}

/// Creates the constant with these bits.
fn from_bits(kind: ScalarKind, bits: u64) -> Constant {
    #[expect(clippy::cast_possible_truncation, reason = "only the low bits are needed")]
    match kind {
        ScalarKind::Half => Constant::Float(f16::from_bits(bits as u16).to_f64()),
        ScalarKind::Float => Constant::Float(f64::from(f32::from_bits(bits as u32))),
        ScalarKind::Double => Constant::Float(f64::from_bits(bits)),
        kind => Constant::Int(int_bits(kind, i128::from(bits))),
    }
}

/// Converts a scalar constant by C's rules.
fn convert(from: ScalarKind, to: ScalarKind, value: &Constant) -> Constant {
    convert_with(from, to, value, false, None)
}

#[expect(clippy::cast_possible_truncation, reason = "conversions as the language defines them")]
fn convert_with(from: ScalarKind, to: ScalarKind, value: &Constant, saturate: bool, rounding: Option<Rounding>) -> Constant {
    match *value {
        Constant::Float(value) => {
            if to == ScalarKind::Bool {
                return Constant::Int(u64::from(value != 0.0));
            }
            if is_float(to) {
                return Constant::Float(round_to(to, value));
            }
            let rounded = match rounding {
                None | Some(Rounding::Rtz) => value.trunc(),
                Some(Rounding::Rte) => value.round_ties_even(),
                Some(Rounding::Rtp) => value.ceil(),
                Some(Rounding::Rtn) => value.floor(),
            };
            let wide = rounded as i128;
            let (low, high) = range(to);
            // Conversions from floats always saturate. C does not define the result for a value outside of the range.
            Constant::Int(int_bits(to, wide.clamp(low, high)))
        }
        Constant::Int(bits) => {
            let wide = int_value(from, bits);
            if saturate && !is_float(to) && to != ScalarKind::Bool {
                let (low, high) = range(to);
                return Constant::Int(int_bits(to, wide.clamp(low, high)));
            }
            wide_to(to, wide)
        }
        ref other => other.clone(),
    }
}

/// Converts an integer to a scalar type by C's rules.
#[expect(clippy::cast_precision_loss, reason = "conversions as the language defines them")]
pub(super) fn wide_to(to: ScalarKind, value: i128) -> Constant {
    match to {
        ScalarKind::Float => Constant::Float(f64::from(value as f32)),
        ScalarKind::Double => Constant::Float(value as f64),
        ScalarKind::Half => Constant::Float(to_half(value as f64).to_f64()),
        _ => Constant::Int(int_bits(to, value)),
    }
}

/// Returns the minimum and the maximum value of an integer type.
pub(super) fn range(kind: ScalarKind) -> (i128, i128) {
    let bits = scalar_size(kind) * 8;
    if is_signed(kind) { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) }
}

impl Sema<'_> {
    /// Returns the value of an integer constant expression. A `ulong` above the maximum of `i64` becomes negative.
    /// Returns `None` if the expression is not an integer of at most 64 bits, or not constant.
    pub(super) fn integer_constant(&self, expr: &Expr) -> Option<i64> {
        let kind = self.scalar_kind(expr.ty)?;
        if is_float(kind) {
            return None;
        }
        match self.evaluate(expr)? {
            #[expect(clippy::cast_possible_truncation, reason = "64 bits suffice for the integers of C")]
            Value::Const(Constant::Int(bits)) => Some(int_value(kind, bits) as i64),
            _ => None,
        }
    }

    /// Whether an expression is a null pointer constant: an integer constant 0, or 0 cast to `void *`.
    pub(super) fn is_null_constant(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Constant(Constant::Null) => match self.kind(expr.ty) {
                TyKind::Pointer { pointee, .. } => matches!(self.kind(pointee.ty), TyKind::Void),
                _ => false,
            },
            _ => self.is_integer_scalar(expr.ty) && self.integer_constant(expr) == Some(0),
        }
    }

    /// Returns the value of a constant expression, or `None` if the expression is not constant.
    pub(super) fn evaluate(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Constant(constant) => Some(Value::Const(constant.clone())),
            ExprKind::Load(lvalue) => self.load_constant(lvalue, expr.ty),
            ExprKind::AddrOf(lvalue) | ExprKind::Decay(lvalue) => {
                let (global, offset) = self.address(lvalue)?;
                Some(Value::Address(global, offset))
            }
            ExprKind::Unary(op, operand) => self.unary_constant(*op, operand, expr.ty),
            ExprKind::Binary { op, lhs, rhs, .. } => {
                let (Value::Const(lhs_value), Value::Const(rhs_value)) = (self.evaluate(lhs)?, self.evaluate(rhs)?) else { return None };
                self.binary_constant(*op, (lhs.ty, &lhs_value), (rhs.ty, &rhs_value), expr.ty)
            }
            ExprKind::LogAnd(lhs, rhs) => match self.truth(lhs)? {
                false => Some(Value::Const(Constant::Int(0))),
                true => Some(Value::Const(Constant::Int(u64::from(self.truth(rhs)?)))),
            },
            ExprKind::LogOr(lhs, rhs) => match self.truth(lhs)? {
                true => Some(Value::Const(Constant::Int(1))),
                false => Some(Value::Const(Constant::Int(u64::from(self.truth(rhs)?)))),
            },
            ExprKind::Cond { cond, then, els } => {
                if self.truth(cond)? {
                    self.evaluate(then)
                } else {
                    self.evaluate(els)
                }
            }
            ExprKind::Cast(kind, operand) => self.cast_constant(*kind, operand, expr.ty),
            ExprKind::PointerAdd { pointer, index, stride, negate } => {
                let Value::Address(global, offset) = self.evaluate(pointer)? else { return None };
                let index = self.integer_constant(index)?;
                let bytes = index.checked_mul(i64::from(*stride))?;
                Some(Value::Address(global, if *negate { offset.checked_sub(bytes)? } else { offset.checked_add(bytes)? }))
            }
            ExprKind::PointerDiff { lhs, rhs, stride } => match (self.evaluate(lhs)?, self.evaluate(rhs)?) {
                (Value::Address(a, x), Value::Address(b, y)) if a == b => {
                    Some(Value::Const(Constant::Int(int_bits(self.ptrdiff_kind(), i128::from((x - y) / i64::from((*stride).max(1)))))))
                }
                _ => None,
            },
            ExprKind::VectorLit(parts) => {
                let (_, lanes) = self.arith(expr.ty)?;
                let mut values = Vec::with_capacity(usize::from(lanes));
                for part in parts {
                    match self.evaluate(part)? {
                        Value::Const(Constant::Vector(part)) => values.extend(part),
                        Value::Const(part) => values.push(part),
                        Value::Address(..) => return None,
                    }
                }
                (values.len() == usize::from(lanes)).then_some(Value::Const(Constant::Vector(values)))
            }
            ExprKind::Swizzle(vector, lanes) => {
                let Value::Const(Constant::Vector(values)) = self.evaluate(vector)? else { return None };
                let mut picked = Vec::with_capacity(lanes.len());
                for lane in lanes {
                    picked.push(values.get(usize::from(*lane))?.clone());
                }
                Some(Value::Const(if picked.len() == 1 { picked.pop()? } else { Constant::Vector(picked) }))
            }
            ExprKind::Comma(_, _) => None,
            _ => None,
        }
    }

    pub(super) fn truth(&self, expr: &Expr) -> Option<bool> {
        Some(match self.evaluate(expr)? {
            Value::Const(Constant::Int(bits)) => bits != 0,
            Value::Const(Constant::Wide(value)) => value != 0,
            Value::Const(Constant::Float(value)) => value != 0.0,
            Value::Const(Constant::Null) => false,
            Value::Const(Constant::Vector(_)) => return None,
            Value::Address(..) => true,
        })
    }

    /// Returns the address of an lvalue: a variable with static storage and an offset in bytes. Returns `None` if the
    /// address is not constant.
    pub(super) fn address(&self, lvalue: &Lvalue) -> Option<(GlobalId, i64)> {
        match &lvalue.kind {
            LvalueKind::Global(global) => Some((*global, 0)),
            LvalueKind::Deref(pointer) => match self.evaluate(pointer)? {
                Value::Address(global, offset) => Some((global, offset)),
                Value::Const(_) => None,
            },
            LvalueKind::Field { base, offset } => {
                let (global, at) = self.address(base)?;
                Some((global, at + i64::from(*offset)))
            }
            LvalueKind::Element { base, index } => {
                let (global, at) = self.address(base)?;
                let size = i64::try_from(self.size_of(lvalue.ty.ty)?).ok()?;
                Some((global, at.checked_add(self.integer_constant(index)?.checked_mul(size)?)?))
            }
            LvalueKind::Lanes { base, lanes } => {
                let (global, at) = self.address(base)?;
                let (kind, _) = self.arith(base.ty.ty)?;
                let [lane] = lanes.as_slice() else { return None };
                Some((global, at + i64::from(*lane) * i64::from(scalar_size(kind))))
            }
            _ => None,
        }
    }

    /// Reads an initialised variable in constant address space or, with `fold_const`, a `const` variable. C99 does not
    /// require such reads to be constant, but other compilers support them.
    fn load_constant(&self, lvalue: &Lvalue, ty: Ty) -> Option<Value> {
        if let LvalueKind::Local(local) = lvalue.kind {
            let constant = self.f.as_ref().and_then(|f| f.constants.get(&local));
            return constant.filter(|_| self.fold_const).cloned().map(Value::Const);
        }
        if lvalue.space != Space::Constant && !(self.fold_const && lvalue.ty.is_const) {
            return None;
        }
        let (global, offset) = self.address(lvalue)?;
        let variable = &self.globals[global.index()];
        let bytes = variable.init.as_deref()?;
        let at = usize::try_from(offset).ok()?;
        if let TyKind::Pointer { .. } = self.kind(ty) {
            let reloc = variable.relocs.iter().find(|r| i64::from(r.at) == offset)?;
            return Some(Value::Address(GlobalId(reloc.target.0), reloc.addend));
        }
        let (kind, lanes) = self.arith(ty)?;
        let size = scalar_size(kind) as usize;
        let mut values = Vec::with_capacity(usize::from(lanes));
        for lane in 0..usize::from(lanes) {
            let start = at.checked_add(lane * size)?;
            let slice = bytes.get(start..start.checked_add(size)?)?;
            let mut raw = [0u8; 8];
            raw[..size].copy_from_slice(slice);
            values.push(from_bits(kind, u64::from_le_bytes(raw)));
        }
        Some(Value::Const(if lanes == 1 { values.pop()? } else { Constant::Vector(values) }))
    }

    fn unary_constant(&self, op: UnaryOp, operand: &Expr, ty: Ty) -> Option<Value> {
        let Value::Const(value) = self.evaluate(operand)? else { return None };
        let (kind, _) = self.arith(operand.ty)?;
        let (result, lanes) = self.arith(ty)?;
        Some(Value::Const(map_lanes(&value, |value| match (op, value) {
            (UnaryOp::Neg, Constant::Float(v)) => Some(Constant::Float(-v)),
            (UnaryOp::Neg, Constant::Int(v)) => Some(Constant::Int(int_bits(kind, -int_value(kind, *v)))),
            (UnaryOp::BitNot, Constant::Int(v)) => Some(Constant::Int(int_bits(kind, !int_value(kind, *v)))),
            (UnaryOp::LogNot, Constant::Int(v)) => Some(truth_value(*v == 0, result, lanes)),
            (UnaryOp::LogNot, Constant::Float(v)) => Some(truth_value(*v == 0.0, result, lanes)),
            (UnaryOp::LogNot, Constant::Null) => Some(truth_value(true, result, lanes)),
            _ => None,
        })?))
    }

    fn binary_constant(&self, op: BinaryOp, lhs: (Ty, &Constant), rhs: (Ty, &Constant), ty: Ty) -> Option<Value> {
        let (kind, _) = self.arith(lhs.0)?;
        let (rhs_kind, _) = self.arith(rhs.0)?;
        let (result, lanes) = self.arith(ty)?;
        if let (Constant::Vector(a), Constant::Vector(b)) = (lhs.1, rhs.1) {
            let mut values = Vec::with_capacity(a.len());
            for (a, b) in a.iter().zip(b) {
                values.push(scalar_binary(op, kind, rhs_kind, a, b, result, lanes)?);
            }
            return Some(Value::Const(Constant::Vector(values)));
        }
        scalar_binary(op, kind, rhs_kind, lhs.1, rhs.1, result, lanes).map(Value::Const)
    }

    pub(super) fn cast_constant(&self, cast: CastKind, operand: &Expr, ty: Ty) -> Option<Value> {
        let value = self.evaluate(operand)?;
        let value = match (cast, value) {
            (CastKind::Pointer, value) => return Some(value),
            (CastKind::IntToPointer, Value::Const(Constant::Int(0))) => return Some(Value::Const(Constant::Null)),
            (CastKind::PointerToInt, Value::Const(Constant::Null)) => return Some(Value::Const(Constant::Int(0))),
            // An integer with the size of a pointer can contain an address (`uintptr_t` in an initialiser).
            (CastKind::PointerToInt, address @ Value::Address(..)) if self.size_of(ty) == Some(u64::from(self.types.pointer_size())) => {
                return Some(address);
            }
            (CastKind::Arith, address @ Value::Address(..))
                if self.size_of(ty) == self.size_of(operand.ty) && !self.arith(ty).is_some_and(|(kind, _)| is_float(kind)) =>
            {
                return Some(address);
            }
            (_, Value::Address(..)) => return None,
            (_, Value::Const(value)) => value,
        };
        match cast {
            CastKind::Arith => {
                let (from, _) = self.arith(operand.ty)?;
                let (to, _) = self.arith(ty)?;
                Some(Value::Const(map_lanes(&value, |value| Some(convert(from, to, value)))?))
            }
            CastKind::Convert { saturate, rounding } => {
                let (from, _) = self.arith(operand.ty)?;
                let (to, _) = self.arith(ty)?;
                if is_float(to) && rounding.is_some_and(|r| r != Rounding::Rte) {
                    return None;
                }
                Some(Value::Const(map_lanes(&value, |value| Some(convert_with(from, to, value, saturate, rounding)))?))
            }
            CastKind::Splat => {
                let (_, lanes) = self.arith(ty)?;
                Some(Value::Const(Constant::Vector(vec![value; usize::from(lanes)])))
            }
            CastKind::AsType => {
                let mut bytes = Vec::new();
                self.constant_bytes(&value, operand.ty, &mut bytes)?;
                let (kind, lanes) = self.arith(ty)?;
                let size = scalar_size(kind) as usize;
                let mut values = Vec::new();
                for lane in 0..usize::from(lanes) {
                    let mut raw = [0u8; 8];
                    raw[..size].copy_from_slice(bytes.get(lane * size..(lane + 1) * size)?);
                    values.push(from_bits(kind, u64::from_le_bytes(raw)));
                }
                Some(Value::Const(if lanes == 1 { values.pop()? } else { Constant::Vector(values) }))
            }
            _ => None,
        }
    }

    /// Appends the bytes of an arithmetic constant or null pointer, without the padding of three-component vectors.
    /// Returns `None` if the type is neither arithmetic nor a pointer.
    pub(super) fn constant_bytes(&self, value: &Constant, ty: Ty, out: &mut Vec<u8>) -> Option<()> {
        if self.is_pointer(ty) {
            out.resize(out.len() + self.types.pointer_size() as usize, 0);
            return Some(());
        }
        let (kind, _) = self.arith(ty)?;
        let size = scalar_size(kind) as usize;
        let mut push = |value: &Constant| out.extend_from_slice(&scalar_bits(kind, value).to_le_bytes()[..size]);
        match value {
            Constant::Vector(values) => values.iter().for_each(&mut push),
            value => push(value),
        }
        Some(())
    }
}

/// Creates the result of a comparison. True is 1 in a scalar and -1 in a lane of a vector.
fn truth_value(truth: bool, kind: ScalarKind, lanes: u8) -> Constant {
    Constant::Int(match (truth, lanes) {
        (false, _) => 0,
        (true, 1) => 1,
        (true, _) => int_bits(kind, -1),
    })
}

/// Applies `f` to a scalar or to each lane of a vector. Returns `None` if `f` returns `None` for any lane.
fn map_lanes(value: &Constant, f: impl Fn(&Constant) -> Option<Constant>) -> Option<Constant> {
    match value {
        Constant::Vector(values) => values.iter().map(f).collect::<Option<Vec<_>>>().map(Constant::Vector),
        value => f(value),
    }
}

fn scalar_binary(
    op: BinaryOp,
    kind: ScalarKind,
    rhs_kind: ScalarKind,
    lhs: &Constant,
    rhs: &Constant,
    result: ScalarKind,
    lanes: u8,
) -> Option<Constant> {
    let compare = |ordering: Option<std::cmp::Ordering>| {
        let truth = match (op, ordering) {
            (BinaryOp::Ne, None) => true,
            (_, None) => false,
            (BinaryOp::Eq, Some(o)) => o.is_eq(),
            (BinaryOp::Ne, Some(o)) => o.is_ne(),
            (BinaryOp::Lt, Some(o)) => o.is_lt(),
            (BinaryOp::Le, Some(o)) => o.is_le(),
            (BinaryOp::Gt, Some(o)) => o.is_gt(),
            (_, Some(o)) => o.is_ge(),
        };
        Some(truth_value(truth, result, lanes))
    };
    match (lhs, rhs) {
        (Constant::Float(a), Constant::Float(b)) => {
            let value = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                    return compare(a.partial_cmp(b));
                }
                BinaryOp::VecAnd => return Some(truth_value(*a != 0.0 && *b != 0.0, result, lanes)),
                BinaryOp::VecOr => return Some(truth_value(*a != 0.0 || *b != 0.0, result, lanes)),
                _ => return None,
            };
            Some(Constant::Float(round_to(kind, value)))
        }
        (Constant::Int(a), Constant::Int(b)) => {
            let (x, y) = (int_value(kind, *a), int_value(rhs_kind, *b));
            let width = scalar_size(kind) * 8;
            let amount = u32::try_from(*b & u64::from(width - 1)).unwrap_or(0);
            let value = match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x.checked_mul(y)?,
                BinaryOp::Div => x.checked_div(y)?,
                BinaryOp::Rem => x.checked_rem(y)?,
                BinaryOp::Shl => i128::from(*a) << amount,
                BinaryOp::Shr => x >> amount,
                BinaryOp::BitAnd => x & y,
                BinaryOp::BitOr => x | y,
                BinaryOp::BitXor => x ^ y,
                BinaryOp::VecAnd => return Some(truth_value(*a != 0 && *b != 0, result, lanes)),
                BinaryOp::VecOr => return Some(truth_value(*a != 0 || *b != 0, result, lanes)),
                _ => return compare(Some(x.cmp(&y))),
            };
            Some(Constant::Int(int_bits(kind, value)))
        }
        _ => None,
    }
}
