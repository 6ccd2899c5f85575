//! Operations with float results.

use wgcl_codegen::Isa;
use wgcl_codegen::vir::{BinOp, CastOp, CmpOp, Elem, Op, Rounding, TernOp, Type, UnOp, Value};

use super::{Generator, Quality};

/// Whether the code generator supports a fused multiply-add. With SSE4.2, it emulates one for `f32` only.
pub fn has_fma(isa: Isa, elem: Elem) -> bool {
    isa.caps().has_fma_f64 || elem == Elem::F32
}

impl Generator<'_> {
    /// Generates a float value of the given type.
    pub(super) fn float(&mut self, ty: Type, elem: Elem) -> Value {
        match self.random.below(20) {
            0..=5 => self.float_bin(ty),
            6 | 7 => self.float_un(ty, elem),
            8 | 9 if has_fma(self.config.isa, elem) => self.fused(ty),
            10 => self.select(ty),
            11 => self.without_nans(ty),
            12 => self.signs(ty, elem),
            13 | 14 => self.float_of_integer(ty, elem),
            15 => self.float_of_other_size(ty, elem),
            16 => self.shuffle_or_convert(ty, elem),
            17 if elem == Elem::F32 => {
                let a = self.any(ty.with_elem(Elem::I32));
                let quality = if self.quality(a) == Quality::Exact { Quality::AnyNan } else { Quality::Unspecified };
                self.emit(ty, Op::Un(UnOp::HalfToFloat, a), quality)
            }
            _ => self.load(ty, elem),
        }
    }

    fn float_bin(&mut self, ty: Type) -> Value {
        use BinOp::{And, AndNot, FAdd, FDiv, FMax, FMin, FMul, FSub, Or, Xor};
        let op = self.random.of(&[FAdd, FAdd, FSub, FSub, FMul, FMul, FDiv, FDiv, FMin, FMax, FMin, FMax, And, AndNot, Or, Xor]);
        let (a, b) = (self.any(ty), self.any(ty));
        let quality = match op {
            And | AndNot | Or | Xor => self.strict(&[a, b]),
            FMin | FMax => self.least(&[a, b]),
            _ => self.loose(&[a, b]),
        };
        self.emit(ty, Op::Bin(op, a, b), quality)
    }

    fn float_un(&mut self, ty: Type, elem: Elem) -> Value {
        use Rounding::{Down, NearestEven, Up, Zero};
        let mut ops = vec![UnOp::Sqrt];
        ops.extend([NearestEven, Down, Up, Zero].map(UnOp::Round));
        if elem == Elem::F32 {
            ops.extend([UnOp::RecipApprox, UnOp::RsqrtApprox]);
        }
        let (op, a) = (self.random.of(&ops), self.any(ty));
        let is_near = matches!(op, UnOp::RecipApprox | UnOp::RsqrtApprox);
        let quality = if is_near { Quality::Unspecified } else { self.loose(&[a]) };
        self.emit(ty, Op::Un(op, a), quality)
    }

    fn fused(&mut self, ty: Type) -> Value {
        let op = self.random.of(&[TernOp::Fma, TernOp::Fms, TernOp::Fnma]);
        let (a, b, c) = (self.any(ty), self.any(ty), self.any(ty));
        let quality = self.loose(&[a, b, c]);
        self.emit(ty, Op::Tern(op, a, b, c), quality)
    }

    /// Replaces NaNs by a constant.
    fn without_nans(&mut self, ty: Type) -> Value {
        let a = self.pick(ty, Quality::AnyNan);
        let is_number = self.emit(ty.compared(), Op::Cmp(CmpOp::FEq, a, a), Quality::Exact);
        let zero = self.constant(ty, 0);
        self.emit(ty, Op::Select(is_number, a, zero), Quality::Exact)
    }

    /// Negations and absolute values.
    fn signs(&mut self, ty: Type, elem: Elem) -> Value {
        let sign = self.constant(ty, 1 << (elem.bits() - 1));
        let (op, a) = (self.random.of(&[BinOp::Xor, BinOp::Or, BinOp::AndNot]), self.any(ty));
        let quality = self.least(&[a]);
        self.emit(ty, Op::Bin(op, a, sign), quality)
    }

    fn float_of_integer(&mut self, ty: Type, elem: Elem) -> Value {
        let from = match (ty.lanes(), elem) {
            (1, _) => self.random.of(&[Elem::I32, Elem::I64]),
            _ => elem.int(),
        };
        let can_convert = ty.lanes() == 1 || elem == Elem::F32 || self.config.isa.caps().has_i64_conversions;
        let a = self.any(ty.with_elem(from));
        let quality = self.strict(&[a]);
        let op = if from.bits() == elem.bits() && (!can_convert || self.random.once_in(4)) {
            CastOp::Bitcast
        } else {
            self.random.of(&[CastOp::SToF, CastOp::UToF])
        };
        self.emit(ty, Op::Cast(op, a), quality)
    }

    fn float_of_other_size(&mut self, ty: Type, elem: Elem) -> Value {
        let other = if elem == Elem::F32 { Elem::F64 } else { Elem::F32 };
        let Type::Vector(_, lanes) = ty else {
            let a = self.any(Type::Scalar(other));
            let quality = self.loose(&[a]);
            return self.emit(ty, Op::Cast(CastOp::FToF, a), quality);
        };
        let op = self.random.of(&[CastOp::FToF, CastOp::SToF, CastOp::UToF]);
        if elem == Elem::F64 {
            let from = if op == CastOp::FToF { Elem::F32 } else { Elem::I32 };
            let (source, part) = self.wider(from, lanes);
            let a = self.any(source);
            let quality = if op == CastOp::FToF { self.loose(&[a]) } else { self.strict(&[a]) };
            return self.emit(ty, Op::Widen(op, a, part), quality);
        }
        let op = if self.config.isa.caps().has_i64_conversions { op } else { CastOp::FToF };
        let from = if op == CastOp::FToF { Elem::F64 } else { Elem::I64 };
        let list = self.halves(from, lanes, |generator, source| generator.any(source));
        let quality = if op == CastOp::FToF { self.loose(&list) } else { self.strict(&list) };
        self.emit(ty, Op::Narrow(op, list), quality)
    }
}
