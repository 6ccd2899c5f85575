//! Rewrites a single pure operation: evaluates constants, comparisons, conversions and selects.
//!
//! A rule either returns the value of the operation, or replaces the operation by a better operation. Rules are exact
//! for every operand value. They produce fewer, cheaper or canonical operations (constants on the right), so that
//! rewriting terminates.

use super::walk::Walk;
use crate::analysis::eval;
use crate::diag::Span;
use crate::ir::{BinOp, CastOp, CmpOp, Const, Inst, MathOp, Op, Scalar, Space, Type, UnOp, Value};

/// The position at which a rule emits operations, and the type of the result of the original operation.
pub(super) struct Output<'a> {
    pub out: &'a mut Vec<Inst>,
    pub span: Span,
    pub ty: Type,
}

impl Walk<'_> {
    /// Applies the rules to an operation of type `ty`. Returns its value, or `None` if the operation stays. In that
    /// case, the operands may be in another order.
    pub(super) fn rewrite(&mut self, out: &mut Vec<Inst>, span: Span, ty: Type, op: &mut Op) -> Option<Value> {
        let mut at = Output { out, span, ty };
        if let Some(value) = self.evaluate(ty, op) {
            return Some(value);
        }
        match op {
            Op::Un(kind, a) => self.unary_rules(&mut at, *kind, *a),
            Op::Bin(..) => self.binary_rules(&mut at, op),
            Op::Cmp(..) => self.compare_rules(&mut at, op),
            Op::Cast(..) => self.cast_rules(&mut at, op),
            Op::Select(..) => self.select_rules(&mut at, op),
            Op::Math(MathOp::FMulAdd | MathOp::Fma, _) => self.multiply_add_rules(&mut at, op),
            Op::All(a) | Op::Any(a) => (self.ty(*a) == Type::BOOL).then_some(*a),
            Op::PtrAdd(..) => self.pointer_rules(&mut at, op),
            _ => self.vector_rules(&mut at, op),
        }
    }

    /// Returns the value of an operation whose operands are all constants, or `None` if it cannot be folded.
    fn evaluate(&mut self, ty: Type, op: &Op) -> Option<Value> {
        let scalar = ty.scalar()?;
        let lanes = match op {
            Op::Un(kind, a) => self.lanes(*a)?.into_iter().map(|a| eval::unary(*kind, scalar, a)).collect::<Option<Vec<_>>>()?,
            Op::Bin(kind, a, b) => {
                let pairs = self.lanes(*a)?.into_iter().zip(self.lanes(*b)?);
                pairs.map(|(a, b)| eval::binary(*kind, scalar, a, b)).collect::<Option<Vec<_>>>()?
            }
            Op::Cmp(kind, a, b) => {
                let operand = self.ty(*a).scalar()?;
                let pairs = self.lanes(*a)?.into_iter().zip(self.lanes(*b)?);
                pairs.map(|(a, b)| eval::compare(*kind, operand, a, b).map(u64::from)).collect::<Option<Vec<_>>>()?
            }
            Op::Cast(kind, a) => {
                let from = self.ty(*a);
                if from.lanes() != ty.lanes() {
                    return self.evaluate_bitcast(*kind, from, ty, *a);
                }
                let operand = from.scalar()?;
                self.lanes(*a)?.into_iter().map(|a| eval::cast(*kind, operand, scalar, a)).collect::<Option<Vec<_>>>()?
            }
            Op::Math(kind, args) => {
                let args = args.iter().map(|&arg| self.lanes(arg)).collect::<Option<Vec<_>>>()?;
                let count = usize::from(ty.lanes());
                (0..count)
                    .map(|lane| eval::math(*kind, scalar, &args.iter().filter_map(|arg| arg.get(lane).copied()).collect::<Vec<_>>()))
                    .collect::<Option<Vec<_>>>()?
            }
            Op::All(a) => vec![u64::from(self.lanes(*a)?.iter().all(|&lane| lane != 0))],
            Op::Any(a) => vec![u64::from(self.lanes(*a)?.iter().any(|&lane| lane != 0))],
            _ => return None,
        };
        Some(self.constant_lanes(ty, lanes))
    }

    /// Folds a bitcast between lanes of different sizes. Bytes are little-endian.
    fn evaluate_bitcast(&mut self, kind: CastOp, from: Type, to: Type, a: Value) -> Option<Value> {
        let (small, large) = (from.scalar()?, to.scalar()?);
        if kind != CastOp::Bitcast {
            return None;
        }
        let mut bytes = Vec::new();
        for lane in self.lanes(a)? {
            bytes.extend_from_slice(&lane.to_le_bytes()[..small.size() as usize]);
        }
        let lanes = bytes
            .chunks_exact(large.size() as usize)
            .map(|chunk| chunk.iter().rev().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte)))
            .collect();
        Some(self.constant_lanes(to, lanes))
    }

    fn unary_rules(&mut self, at: &mut Output, kind: UnOp, a: Value) -> Option<Value> {
        match (kind, self.def(a)?.clone()) {
            (kind, Op::Un(inner, b)) if kind == inner => Some(b),
            (UnOp::Not, Op::Cmp(cmp, x, y)) => Some(self.make(at.out, at.span, at.ty, Op::Cmp(cmp.inverse()?, x, y))),
            (UnOp::Neg, Op::Bin(BinOp::Sub, x, y)) => Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Sub, y, x))),
            _ => None,
        }
    }

    fn compare_rules(&mut self, at: &mut Output, op: &mut Op) -> Option<Value> {
        let Op::Cmp(kind, a, b) = op else { return None };
        if self.constant_of(*a).is_some() && self.constant_of(*b).is_none() {
            std::mem::swap(a, b);
            *kind = kind.mirrored();
            self.changed = true;
        }
        let (kind, a, b) = (*kind, *a, *b);
        if a == b && !matches!(kind, CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe) {
            let holds = matches!(kind, CmpOp::Eq | CmpOp::SLe | CmpOp::SGe | CmpOp::ULe | CmpOp::UGe);
            return Some(self.splat(at.ty, u64::from(holds)));
        }
        let operand = self.ty(a).scalar()?;
        let def = self.def(a).cloned();
        if let Some(bits) = self.bits(b) {
            if let Some(value) = self.compare_constant(at, kind, a, bits, operand) {
                return Some(value);
            }
            if let Some(Op::Cast(cast @ (CastOp::ZExt | CastOp::SExt), inner)) = def {
                return self.compare_extended(at, kind, cast, inner, bits, operand);
            }
            if let (Some(Op::Select(cond, yes, no)), CmpOp::Eq | CmpOp::Ne) = (def, kind)
                && let (Some(yes), Some(no)) = (self.bits(yes), self.bits(no))
            {
                let holds = |value: u64| (value == bits) == (kind == CmpOp::Eq);
                return match (holds(yes), holds(no)) {
                    (true, true) => Some(self.splat(at.ty, 1)),
                    (false, false) => Some(self.splat(at.ty, 0)),
                    (true, false) if self.ty(cond) == at.ty => Some(cond),
                    (false, true) if self.ty(cond) == at.ty => Some(self.make(at.out, at.span, at.ty, Op::Un(UnOp::Not, cond))),
                    _ => None,
                };
            }
            return None;
        }
        match (def, self.def(b).cloned()) {
            (Some(Op::Cast(x @ (CastOp::ZExt | CastOp::SExt), a)), Some(Op::Cast(y, b))) if x == y && self.ty(a) == self.ty(b) => {
                let bool_operand = self.ty(a).scalar() == Some(Scalar::Bool);
                let kind = if x == CastOp::ZExt { unsigned(kind) } else { kind };
                (!bool_operand).then(|| self.make(at.out, at.span, at.ty, Op::Cmp(kind, a, b)))
            }
            _ => None,
        }
    }

    /// Simplifies a comparison with a constant if its result is known. Also simplifies it if it is equivalent to a
    /// comparison with zero, or compares a `bool`.
    fn compare_constant(&mut self, at: &mut Output, kind: CmpOp, a: Value, bits: u64, operand: Scalar) -> Option<Value> {
        if operand == Scalar::Bool {
            return match (kind, bits) {
                (CmpOp::Ne, 0) | (CmpOp::Eq, 1) => Some(a),
                (CmpOp::Eq, 0) | (CmpOp::Ne, 1) => Some(self.make(at.out, at.span, at.ty, Op::Un(UnOp::Not, a))),
                _ => None,
            };
        }
        match kind {
            CmpOp::ULt if bits == 0 => Some(self.splat(at.ty, 0)),
            CmpOp::UGe if bits == 0 => Some(self.splat(at.ty, 1)),
            CmpOp::UGt if bits == operand.mask() => Some(self.splat(at.ty, 0)),
            CmpOp::ULe if bits == operand.mask() => Some(self.splat(at.ty, 1)),
            CmpOp::ULt if bits == 1 => {
                let zero = self.splat(self.ty(a), 0);
                Some(self.make(at.out, at.span, at.ty, Op::Cmp(CmpOp::Eq, a, zero)))
            }
            CmpOp::UGt | CmpOp::UGe if bits == u64::from(kind == CmpOp::UGe) => {
                let zero = self.splat(self.ty(a), 0);
                Some(self.make(at.out, at.span, at.ty, Op::Cmp(CmpOp::Ne, a, zero)))
            }
            _ => None,
        }
    }

    /// Converts a comparison of an extended value with a constant to a comparison in the narrow type.
    fn compare_extended(&mut self, at: &mut Output, kind: CmpOp, cast: CastOp, inner: Value, bits: u64, wide: Scalar) -> Option<Value> {
        let narrow_ty = self.ty(inner);
        let narrow = narrow_ty.scalar()?;
        let cut = bits & narrow.mask();
        let back = eval::cast(cast, narrow, wide, cut)?;
        if narrow == Scalar::Bool {
            return match kind {
                CmpOp::Eq | CmpOp::Ne if back != bits => Some(self.splat(at.ty, u64::from(kind == CmpOp::Ne))),
                CmpOp::Eq | CmpOp::Ne if (cut == 1) == (kind == CmpOp::Eq) => Some(inner),
                CmpOp::Eq | CmpOp::Ne => Some(self.make(at.out, at.span, at.ty, Op::Un(UnOp::Not, inner))),
                _ => None,
            };
        }
        if back != bits {
            return match kind {
                CmpOp::Eq => Some(self.splat(at.ty, 0)),
                CmpOp::Ne => Some(self.splat(at.ty, 1)),
                // The constant is larger than every value of the narrow type.
                CmpOp::ULt | CmpOp::ULe if cast == CastOp::ZExt => Some(self.splat(at.ty, 1)),
                CmpOp::UGt | CmpOp::UGe if cast == CastOp::ZExt => Some(self.splat(at.ty, 0)),
                _ => None,
            };
        }
        let kind = if cast == CastOp::ZExt { unsigned(kind) } else { kind };
        let constant = self.splat(narrow_ty, cut);
        Some(self.make(at.out, at.span, at.ty, Op::Cmp(kind, inner, constant)))
    }

    fn cast_rules(&mut self, at: &mut Output, op: &mut Op) -> Option<Value> {
        let Op::Cast(kind, a) = *op else { return None };
        if self.ty(a) == at.ty && kind != CastOp::FToF {
            return Some(a);
        }
        if self.is_undefined(a) {
            // A widening cast of an undefined value is not undefined, because the cast cannot produce every value: the
            // upper bits of `zext` are zero.
            let widens = matches!(kind, CastOp::ZExt | CastOp::SExt | CastOp::SToF | CastOp::UToF);
            return Some(if widens { self.splat(at.ty, 0) } else { self.constant(at.ty, Const::Undef) });
        }
        if matches!(self.constant_of(a), Some(Const::Null)) && kind == CastOp::SpaceCast {
            return Some(self.constant(at.ty, Const::Null));
        }
        if kind == CastOp::Bitcast
            && let (Type::Vector(..), Some(Op::Splat(inner))) = (at.ty, self.def(a).cloned())
            && self.ty(a).lanes() == at.ty.lanes()
        {
            let part = self.make(at.out, at.span, Type::of(at.ty.scalar()?, 1), Op::Cast(kind, inner));
            return Some(self.make(at.out, at.span, at.ty, Op::Splat(part)));
        }
        if kind == CastOp::Trunc
            && let Some(&Op::Bin(BinOp::Or | BinOp::Xor | BinOp::Add, x, y)) = self.def(a)
        {
            // An operand whose nonzero bits are all truncated is not needed. Example: a test of the alignment of a
            // pointer.
            let width = at.ty.scalar()?.bits();
            let is_above = |rules: &Self, value| {
                matches!(rules.def(value), Some(&Op::Bin(BinOp::Shl, _, amount)) if rules.bits(amount).is_some_and(|amount| {
                    amount >= u64::from(width) && rules.ty(value).scalar().is_some_and(|scalar| amount < u64::from(scalar.bits()))
                }))
            };
            let left = if is_above(self, x) { Some(y) } else { is_above(self, y).then_some(x) };
            if let Some(left) = left {
                return Some(self.make(at.out, at.span, at.ty, Op::Cast(kind, left)));
            }
        }
        let Some(Op::Cast(inner, x)) = self.def(a).cloned() else { return None };
        let source = self.ty(x);
        let narrower = || source.scalar().zip(at.ty.scalar()).map(|(from, to)| from.bits() < to.bits());
        let kind = match (kind, inner) {
            (CastOp::Trunc, CastOp::ZExt | CastOp::SExt) => {
                if source == at.ty {
                    return Some(x);
                }
                if narrower()? { inner } else { CastOp::Trunc }
            }
            (CastOp::Trunc, CastOp::Trunc) => CastOp::Trunc,
            (CastOp::ZExt | CastOp::SExt, CastOp::ZExt) => CastOp::ZExt,
            (CastOp::SExt, CastOp::SExt) => CastOp::SExt,
            (CastOp::SToF | CastOp::UToF, CastOp::ZExt) => CastOp::UToF,
            (CastOp::SToF, CastOp::SExt) => CastOp::SToF,
            (CastOp::Bitcast, CastOp::Bitcast) => CastOp::Bitcast,
            // A cast from the generic space returns null for pointers to other spaces, so it cannot be skipped.
            (CastOp::SpaceCast, CastOp::SpaceCast) if source != Type::Ptr(Space::Generic) => CastOp::SpaceCast,
            (CastOp::PtrToInt, CastOp::IntToPtr) | (CastOp::IntToPtr, CastOp::PtrToInt) if source == at.ty => return Some(x),
            (CastOp::ZExt, CastOp::Trunc) if source == at.ty => {
                let mask = self.ty(a).scalar()?.mask();
                let mask = self.splat(at.ty, mask);
                return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::And, x, mask)));
            }
            _ => return None,
        };
        if source.scalar() == Some(Scalar::Bool) && matches!(kind, CastOp::SToF | CastOp::UToF | CastOp::Trunc) {
            return None;
        }
        Some(self.make(at.out, at.span, at.ty, Op::Cast(kind, x)))
    }

    fn select_rules(&mut self, at: &mut Output, op: &mut Op) -> Option<Value> {
        let Op::Select(cond, yes, no) = op else { return None };
        if *yes == *no {
            return Some(*yes);
        }
        if let Some(bits) = self.bits(*cond) {
            return Some(if bits & 1 == 1 { *yes } else { *no });
        }
        if self.is_undefined(*no) || self.is_undefined(*cond) {
            return Some(*yes);
        }
        if self.is_undefined(*yes) {
            return Some(*no);
        }
        if let Some(&Op::Un(UnOp::Not, inner)) = self.def(*cond) {
            *cond = inner;
            std::mem::swap(yes, no);
            self.changed = true;
        }
        let (cond, yes, no) = (*cond, *yes, *no);
        if at.ty.scalar() == Some(Scalar::Bool) && self.ty(cond) == at.ty {
            let (yes_bits, no_bits) = (self.bits(yes), self.bits(no));
            match (yes_bits, no_bits) {
                (Some(1), Some(0)) => return Some(cond),
                (Some(0), Some(1)) => return Some(self.make(at.out, at.span, at.ty, Op::Un(UnOp::Not, cond))),
                (Some(1), _) => return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Or, cond, no))),
                (_, Some(0)) => return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::And, cond, yes))),
                (Some(0), _) => {
                    let inverted = self.make(at.out, at.span, at.ty, Op::Un(UnOp::Not, cond));
                    return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::And, inverted, no)));
                }
                (_, Some(1)) => {
                    let inverted = self.make(at.out, at.span, at.ty, Op::Un(UnOp::Not, cond));
                    return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Or, inverted, yes)));
                }
                _ => {}
            }
        }
        if at.ty.scalar().is_some_and(Scalar::is_int) && self.ty(cond).lanes() == at.ty.lanes() && self.bits(no) == Some(0) {
            let all_ones = at.ty.scalar()?.mask();
            match self.bits(yes) {
                Some(1) => return Some(self.make(at.out, at.span, at.ty, Op::Cast(CastOp::ZExt, cond))),
                Some(bits) if bits == all_ones => return Some(self.make(at.out, at.span, at.ty, Op::Cast(CastOp::SExt, cond))),
                _ => {}
            }
        }
        // If an operand is a `select` with the same condition, its operand on the same side is used directly.
        if let Some(&Op::Select(inner, first, _)) = self.def(yes)
            && inner == cond
        {
            return Some(self.make(at.out, at.span, at.ty, Op::Select(cond, first, no)));
        }
        if let Some(&Op::Select(inner, _, second)) = self.def(no)
            && inner == cond
        {
            return Some(self.make(at.out, at.span, at.ty, Op::Select(cond, yes, second)));
        }
        None
    }

    fn pointer_rules(&mut self, at: &mut Output, op: &mut Op) -> Option<Value> {
        let Op::PtrAdd(base, offset) = *op else { return None };
        if self.bits(offset) == Some(0) {
            return Some(base);
        }
        let Some(&Op::PtrAdd(inner, first)) = self.def(base) else { return None };
        let (second, third) = (self.bits(offset), self.bits(first));
        let (Some(second), Some(third)) = (second, third) else { return None };
        let signed = |walk: &Self, value: Value, bits: u64| walk.ty(value).scalar().map(|scalar| scalar.sign_extend(bits));
        let sum = signed(self, offset, second)?.wrapping_add(signed(self, first, third)?);
        let ty = if i32::try_from(sum).is_ok() { Type::I32 } else { Type::I64 };
        let sum = self.splat(ty, sum.cast_unsigned());
        Some(self.make(at.out, at.span, at.ty, Op::PtrAdd(inner, sum)))
    }
}

/// Returns the comparison of integers that corresponds to a comparison of their zero extensions.
const fn unsigned(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::SLt => CmpOp::ULt,
        CmpOp::SLe => CmpOp::ULe,
        CmpOp::SGt => CmpOp::UGt,
        CmpOp::SGe => CmpOp::UGe,
        same => same,
    }
}
