//! Operations with integer results.

use smallvec::smallvec;
use wgcl_codegen::vir::{BinOp, CastOp, Elem, Op, Type, UnOp, Value};

use super::{Generator, Quality};

/// Operations on the bytes and 16-bit words of 32-bit lanes.
pub const PACKED: [BinOp; 6] = [BinOp::AddBytes, BinOp::SubBytes, BinOp::MulBytes, BinOp::AddWords, BinOp::SubWords, BinOp::MulWords];

impl Generator<'_> {
    /// Generates an integer value of the given type.
    pub(super) fn integer(&mut self, ty: Type, elem: Elem) -> Value {
        let is_scalar = ty.lanes() == 1;
        match self.random.below(24) {
            0..=7 => self.arithmetic(ty, elem),
            8 => self.shift(ty, elem),
            9 | 10 => self.integer_un(ty),
            11 => self.select(ty),
            12 | 13 => self.integer_of_float(ty, elem),
            14 => self.integer_of_other_size(ty, elem),
            15 if is_scalar => self.division(ty, elem),
            15 | 16 => self.shuffle_or_convert(ty, elem),
            17 if is_scalar => self.integer_of_comparison(ty),
            17 | 18 => self.half_bits(ty),
            19 if is_scalar => self.atomic(ty, elem),
            20 if is_scalar => self.call(ty),
            21 if ty == Type::I32 => self.mask_bits(),
            _ => self.load(ty, elem),
        }
    }

    fn arithmetic(&mut self, ty: Type, elem: Elem) -> Value {
        use BinOp::{Add, And, AndNot, Mul, MulHiS, MulHiU, MulWideS, MulWideU, Or, SMax, SMin, Sub, UMax, UMin, Xor};
        let mut ops = vec![Add, Sub, Mul, And, Or, Xor, AndNot, SMin, SMax, UMin, UMax];
        if elem == Elem::I64 {
            ops.extend([MulWideU, MulWideS]);
        }
        if ty.lanes() == 1 || elem == Elem::I32 {
            ops.extend([MulHiU, MulHiS]);
        }
        if ty.lanes() > 1 && elem == Elem::I32 {
            ops.extend(PACKED);
        }
        let op = self.random.of(&ops);
        let (a, b) = (self.any(ty), self.any(ty));
        self.bin(op, ty, a, b)
    }

    fn shift(&mut self, ty: Type, elem: Elem) -> Value {
        let op = self.random.of(&[BinOp::Shl, BinOp::LShr, BinOp::AShr, BinOp::Rotl]);
        let (a, mut amount) = (self.any(ty), self.any(ty));
        if op == BinOp::Rotl {
            if self.random.below(2) == 0 {
                let bytes = self.random.below(elem.bytes() as usize) as u64;
                amount = self.constant(ty, 8 * bytes);
            }
            return self.bin(op, ty, a, amount);
        }
        match self.random.below(8) {
            0 => return self.emit(ty, Op::Bin(op, a, amount), Quality::Unspecified),
            1..=3 => {
                let bits = self.random.below(elem.bits() as usize) as u64;
                amount = self.constant(ty, bits);
            }
            _ => {
                let below = self.constant(ty, u64::from(elem.bits() - 1));
                amount = self.bin(BinOp::And, ty, amount, below);
            }
        }
        self.bin(op, ty, a, amount)
    }

    fn integer_un(&mut self, ty: Type) -> Value {
        let ops: &[UnOp] = if ty.lanes() == 1 {
            &[UnOp::Not, UnOp::Neg, UnOp::Clz, UnOp::Ctz, UnOp::Popcnt]
        } else {
            &[UnOp::Not, UnOp::Neg, UnOp::Clz, UnOp::Popcnt]
        };
        let (op, a) = (self.random.of(ops), self.any(ty));
        let quality = self.strict(&[a]);
        self.emit(ty, Op::Un(op, a), quality)
    }

    /// Generates a division that does not trap.
    fn division(&mut self, ty: Type, elem: Elem) -> Value {
        let op = self.random.of(&[BinOp::UDiv, BinOp::URem, BinOp::SDiv, BinOp::SRem]);
        let (a, mut b) = (self.exact(ty), self.exact(ty));
        let is_signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        if is_signed && self.random.once_in(2) {
            let below = self.constant(ty, u64::MAX << 1);
            b = self.bin(BinOp::SMin, ty, b, below);
            return self.bin(op, ty, a, b);
        }
        if is_signed {
            let positive = self.constant(ty, (1 << (elem.bits() - 1)) - 1);
            b = self.bin(BinOp::And, ty, b, positive);
        }
        let one = self.constant(ty, 1);
        b = self.bin(BinOp::Or, ty, b, one);
        self.bin(op, ty, a, b)
    }

    fn integer_of_comparison(&mut self, ty: Type) -> Value {
        let elem = self.random.of(&[Elem::I32, Elem::I64, Elem::F32, Elem::F64]);
        let from = Type::Scalar(elem);
        let (op, a, b) = (self.comparison(elem), self.any(from), self.any(from));
        let quality = if elem.is_float() && self.least(&[a, b]) >= Quality::AnyNan { Quality::Exact } else { self.strict(&[a, b]) };
        let bit = self.emit(Type::I32, Op::Cmp(op, a, b), quality);
        if ty == Type::I32 { bit } else { self.emit(ty, Op::Cast(CastOp::SExt, bit), quality) }
    }

    fn integer_of_float(&mut self, ty: Type, elem: Elem) -> Value {
        let from = match (ty.lanes(), elem) {
            (1, _) => self.random.of(&[Elem::F32, Elem::F64]),
            (_, Elem::I32) => Elem::F32,
            _ => Elem::F64,
        };
        let source = ty.with_elem(from);
        let can_bitcast = from.bits() == elem.bits();
        let can_convert = ty.lanes() == 1 || elem == Elem::I32 || self.config.isa.caps().has_i64_conversions;
        if can_bitcast && (!can_convert || self.random.once_in(3)) {
            let a = self.any(source);
            let quality = if self.quality(a) == Quality::Exact { Quality::Exact } else { Quality::Unspecified };
            return self.emit(ty, Op::Cast(CastOp::Bitcast, a), quality);
        }
        let op = self.random.of(&[CastOp::FToS, CastOp::FToU]);
        let (a, quality) = self.in_range(source, from, op, elem);
        self.emit(ty, Op::Cast(op, a), quality)
    }

    /// Generates a float that probably fits the integer type `to`. Also returns the quality of the converted integer.
    pub(super) fn in_range(&mut self, ty: Type, from: Elem, op: CastOp, to: Elem) -> (Value, Quality) {
        let a = self.any(ty);
        if self.random.once_in(4) || self.quality(a) == Quality::Unspecified {
            return (a, Quality::Unspecified);
        }
        // The range of floats whose conversion is specified. Its upper limit `high` is the largest float below `bound`.
        let (low, bound) = match (op, to) {
            (CastOp::FToS, Elem::I32) => (-2_f64.powi(31), 2_f64.powi(31)),
            (CastOp::FToS, _) => (-2_f64.powi(63), 2_f64.powi(63)),
            (_, Elem::I32) => (-0.5, 2_f64.powi(32)),
            _ => (-0.5, 2_f64.powi(64)),
        };
        let (low, high) = if from == Elem::F32 {
            (u64::from((low as f32).to_bits()), u64::from((bound as f32).to_bits() - 1))
        } else {
            (low.to_bits(), bound.to_bits() - 1)
        };
        let (low, high) = (self.constant(ty, low), self.constant(ty, high));
        let above = self.emit(ty, Op::Bin(BinOp::FMax, a, low), Quality::Exact);
        let inside = self.emit(ty, Op::Bin(BinOp::FMin, above, high), Quality::Exact);
        (inside, Quality::Exact)
    }

    /// Converts integers or floats of another size.
    fn integer_of_other_size(&mut self, ty: Type, elem: Elem) -> Value {
        let Type::Vector(_, lanes) = ty else {
            let (from, ops): (Type, &[CastOp]) =
                if elem == Elem::I32 { (Type::I64, &[CastOp::Trunc]) } else { (Type::I32, &[CastOp::SExt, CastOp::ZExt]) };
            let (op, a) = (self.random.of(ops), self.any(from));
            let quality = self.strict(&[a]);
            return self.emit(ty, Op::Cast(op, a), quality);
        };
        let converts = self.config.isa.caps().has_i64_conversions;
        if elem == Elem::I64 {
            let op = self.random.of(if converts {
                &[CastOp::SExt, CastOp::ZExt, CastOp::FToS, CastOp::FToU][..]
            } else {
                &[CastOp::SExt, CastOp::ZExt][..]
            });
            let from = if matches!(op, CastOp::FToS | CastOp::FToU) { Elem::F32 } else { Elem::I32 };
            let (source, part) = self.wider(from, lanes);
            let (a, quality) = if from == Elem::F32 {
                self.in_range(source, from, op, Elem::I64)
            } else {
                let a = self.any(source);
                (a, self.strict(&[a]))
            };
            return self.emit(ty, Op::Widen(op, a, part), quality);
        }
        let op = self.random.of(&[CastOp::Trunc, CastOp::FToS, CastOp::FToU]);
        let from = if op == CastOp::Trunc { Elem::I64 } else { Elem::F64 };
        let mut quality = Quality::Exact;
        let list = self.halves(from, lanes, |generator, source| {
            let (a, one) = if from == Elem::F64 {
                generator.in_range(source, from, op, Elem::I32)
            } else {
                let a = generator.any(source);
                (a, generator.strict(&[a]))
            };
            quality = quality.min(one);
            a
        });
        self.emit(ty, Op::Narrow(op, list), quality)
    }

    /// Chooses a vector type with `lanes` lanes, or with two or four times as many. Also returns the index of one of
    /// its parts with `lanes` lanes.
    pub(super) fn wider(&mut self, elem: Elem, lanes: u8) -> (Type, u8) {
        let types: Vec<Type> = [1, 2, 4].into_iter().map(|times| Type::Vector(elem, lanes * times)).filter(|ty| self.has(*ty)).collect();
        let ty = self.random.of(&types);
        (ty, self.random.below(usize::from(ty.lanes() / lanes)) as u8)
    }

    /// Generates one or two vectors of 64-bit lanes that have `lanes` lanes together.
    pub(super) fn halves(
        &mut self,
        elem: Elem,
        lanes: u8,
        mut value: impl FnMut(&mut Self, Type) -> Value,
    ) -> smallvec::SmallVec<[Value; 2]> {
        let whole = Type::Vector(elem, lanes);
        if self.has(whole) && (lanes < 4 || self.random.once_in(2)) {
            return smallvec![value(self, whole)];
        }
        let half = Type::Vector(elem, lanes / 2);
        smallvec![value(self, half), value(self, half)]
    }

    /// Shuffles, permutations, and conversions between scalars and vectors.
    pub(super) fn shuffle_or_convert(&mut self, ty: Type, elem: Elem) -> Value {
        if ty.lanes() > 1 && self.random.once_in(2) {
            let (a, b) = (self.any(ty), self.any(ty));
            let quality = self.least(&[a, b]);
            let lanes = super::order(&mut self.random, ty.lanes());
            return self.emit(ty, Op::Shuffle(a, b, lanes), quality);
        }
        if ty.lanes() > 1 && elem.bits() == 32 && self.random.once_in(4) {
            let (a, index) = (self.any(ty), self.any(ty.with_elem(Elem::I32)));
            let quality = if self.quality(index) == Quality::Exact { self.quality(a) } else { Quality::Unspecified };
            return self.emit(ty, Op::Permute(a, index), quality);
        }
        if ty.lanes() > 1 {
            let a = self.any(Type::Scalar(elem));
            let quality = self.quality(a);
            return self.emit(ty, Op::Splat(a), quality);
        }
        let vectors: Vec<Type> =
            super::all_types(self.config.isa).into_iter().filter(|ty| ty.lanes() > 1 && ty.elem() == Some(elem)).collect();
        if vectors.is_empty() {
            return self.load(ty, elem);
        }
        let from = self.random.of(&vectors);
        let (a, lane) = (self.any(from), self.random.below(usize::from(from.lanes())) as u8);
        let quality = self.quality(a);
        self.emit(ty, Op::Extract(a, lane), quality)
    }

    fn half_bits(&mut self, ty: Type) -> Value {
        if ty.elem() != Some(Elem::I32) {
            return self.load(ty, Elem::I64);
        }
        let a = self.any(ty.with_elem(Elem::F32));
        // The bits of a half NaN are unspecified.
        self.emit(ty, Op::Un(UnOp::FloatToHalf, a), Quality::Unspecified)
    }

    fn mask_bits(&mut self) -> Value {
        let masks: Vec<Type> = super::all_types(self.config.isa).into_iter().filter(|ty| ty.elem().is_none()).collect();
        if masks.is_empty() {
            return self.load(Type::I32, Elem::I32);
        }
        let from = self.random.of(&masks);
        let a = self.any(from);
        let quality = self.strict(&[a]);
        self.emit(Type::I32, Op::MaskBits(a), quality)
    }

    /// Generates a `select`.
    pub(super) fn select(&mut self, ty: Type) -> Value {
        let cond = self.any(ty.compared());
        let (a, b) = (self.any(ty), self.any(ty));
        let quality = if self.quality(cond) == Quality::Exact { self.least(&[a, b]) } else { Quality::Unspecified };
        self.emit(ty, Op::Select(cond, a, b), quality)
    }
}
