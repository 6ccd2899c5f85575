//! Operands of random operations.

use wgcl_codegen::vir::{BinOp, CmpOp, Elem, Op, Type, Value};

use super::{Generator, Quality, number};

/// The number of recent values among which operands are usually chosen.
const WINDOW: usize = 400;

impl Generator<'_> {
    /// The [`Quality`] of a value.
    pub(super) fn quality(&self, value: Value) -> Quality {
        if value == self.base {
            return Quality::Exact;
        }
        self.available.iter().rev().find(|known| known.value == value).map_or(Quality::Unspecified, |known| known.quality)
    }

    /// The lowest quality of the values.
    pub(super) fn least(&self, values: &[Value]) -> Quality {
        values.iter().map(|value| self.quality(*value)).min().unwrap_or(Quality::Exact)
    }

    /// The quality of an operation whose result is unspecified unless all operands are exact.
    pub(super) fn strict(&self, values: &[Value]) -> Quality {
        if self.least(values) == Quality::Exact { Quality::Exact } else { Quality::Unspecified }
    }

    /// The quality of the result of float arithmetic on these values.
    pub(super) fn loose(&self, values: &[Value]) -> Quality {
        self.least(values).min(Quality::AnyNan)
    }

    /// Chooses an existing value with at least the given quality, or generates a new one.
    pub(super) fn pick(&mut self, ty: Type, at_least: Quality) -> Value {
        let fits = |known: &&super::Available| known.ty == ty && known.quality >= at_least;
        // Usually choose among the last values. Otherwise, large functions take long to generate.
        let from = if self.random.once_in(16) { 0 } else { self.available.len().saturating_sub(WINDOW) };
        let count = self.available[from..].iter().filter(fits).count();
        if count == 0 || self.random.once_in(if count < 4 { 3 } else { 10 }) {
            return self.fresh(ty, at_least);
        }
        // Recent values are more likely: instructions often fold consecutive operations.
        let at = if self.random.once_in(4) { count - 1 } else { self.random.below(count).max(self.random.below(count)) };
        let found = self.available[from..].iter().filter(fits).nth(at).map(|known| known.value);
        found.unwrap_or(self.base)
    }

    /// Chooses an operand that may be unspecified.
    pub(super) fn any(&mut self, ty: Type) -> Value {
        let least = self.random.of(&[Quality::Unspecified, Quality::AnyNan, Quality::Exact, Quality::Exact]);
        self.pick(ty, least)
    }

    pub(super) fn exact(&mut self, ty: Type) -> Value {
        self.pick(ty, Quality::Exact)
    }

    /// Adds a constant with the same bits in all lanes.
    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let bits = if ty.elem().is_some_and(|elem| elem.bits() == 32) { bits & 0xffff_ffff } else { bits };
        self.emit(ty, Op::Const(bits), Quality::Exact)
    }

    pub(super) fn bin(&mut self, op: BinOp, ty: Type, a: Value, b: Value) -> Value {
        let quality = self.strict(&[a, b]);
        self.emit(ty, Op::Bin(op, a, b), quality)
    }

    /// Generates a new value: undefined, constant, loaded from the inputs, or a splat.
    fn fresh(&mut self, ty: Type, at_least: Quality) -> Value {
        if at_least == Quality::Unspecified && self.random.once_in(16) {
            return self.emit(ty, Op::Undef, Quality::Unspecified);
        }
        let Some(elem) = ty.elem() else { return self.fresh_mask(ty) };
        match self.random.below(if ty.lanes() > 1 { 6 } else { 4 }) {
            0 | 1 => self.load_input(ty),
            2 | 3 => {
                let bits = number(&mut self.random, elem);
                self.constant(ty, bits)
            }
            4 => {
                let lanes = (0..ty.lanes()).map(|_| number(&mut self.random, elem)).collect();
                self.emit(ty, Op::Lanes(lanes), Quality::Exact)
            }
            _ => {
                let scalar = self.pick(Type::Scalar(elem), at_least);
                let quality = self.quality(scalar);
                self.emit(ty, Op::Splat(scalar), quality)
            }
        }
    }

    fn fresh_mask(&mut self, ty: Type) -> Value {
        match self.random.below(8) {
            0 => {
                let bits = self.random.next() & 1;
                self.constant(ty, bits)
            }
            1..=3 => {
                let bits = self.exact(Type::I32);
                self.emit(ty, Op::MaskOf(bits), Quality::Exact)
            }
            _ => {
                let elem = self.elem_of_mask(ty);
                let vector = ty.with_elem(elem);
                let (a, b) = (self.load_input(vector), self.load_input(vector));
                let op = self.comparison(elem);
                self.emit(ty, Op::Cmp(op, a, b), Quality::Exact)
            }
        }
    }

    /// Chooses an element type of the vectors that a mask applies to.
    pub(super) fn elem_of_mask(&mut self, ty: Type) -> Elem {
        let wide = matches!(ty, Type::Mask(mask) if mask.bits == 64);
        self.random.of(if wide { &[Elem::I64, Elem::F64] } else { &[Elem::I32, Elem::F32] })
    }

    /// Chooses a comparison for elements of this type.
    pub(super) fn comparison(&mut self, elem: Elem) -> CmpOp {
        use CmpOp::{Eq, FEq, FGe, FGt, FLe, FLt, FNe, Ne, SGe, SGt, SLe, SLt, UGe, UGt, ULe, ULt};
        if elem.is_float() {
            self.random.of(&[FEq, FNe, FLt, FLe, FGt, FGe])
        } else {
            self.random.of(&[Eq, Ne, SLt, SLe, SGt, SGe, ULt, ULe, UGt, UGe])
        }
    }
}
