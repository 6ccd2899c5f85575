//! Operations with mask results.

use smallvec::smallvec;
use wgcl_codegen::vir::{BinOp, Op, Type, UnOp, Value};

use super::{Generator, Quality};

impl Generator<'_> {
    /// Generates a mask of the given type.
    pub(super) fn mask(&mut self, ty: Type) -> Value {
        let Type::Mask(shape) = ty else { return self.base };
        match self.random.below(12) {
            0..=3 => self.compared(ty),
            4 | 5 => {
                let op = self.random.of(&[BinOp::And, BinOp::Or, BinOp::Xor, BinOp::AndNot]);
                let (a, b) = (self.any(ty), self.any(ty));
                self.bin(op, ty, a, b)
            }
            6 => {
                let a = self.any(ty);
                let quality = self.strict(&[a]);
                self.emit(ty, Op::Un(UnOp::Not, a), quality)
            }
            7 => {
                let bits = self.any(Type::I32);
                let quality = self.strict(&[bits]);
                self.emit(ty, Op::MaskOf(bits), quality)
            }
            8 => self.select(ty),
            9 | 10 if shape.bits == 64 => self.mask_part(ty, shape.lanes),
            _ if shape.bits == 32 => self.mask_join(ty, shape.lanes),
            _ => self.compared(ty),
        }
    }

    fn compared(&mut self, ty: Type) -> Value {
        let elem = self.elem_of_mask(ty);
        let vector = ty.with_elem(elem);
        let (op, a, b) = (self.comparison(elem), self.any(vector), self.any(vector));
        let quality = if elem.is_float() && self.least(&[a, b]) >= Quality::AnyNan { Quality::Exact } else { self.strict(&[a, b]) };
        self.emit(ty, Op::Cmp(op, a, b), quality)
    }

    fn mask_part(&mut self, ty: Type, lanes: u8) -> Value {
        let types: Vec<Type> = [1, 2, 4].map(|times| Type::mask(lanes * times, 32)).into_iter().filter(|ty| self.has(*ty)).collect();
        let from = self.random.of(&types);
        let part = self.random.below(usize::from(from.lanes() / lanes)) as u8;
        let a = self.any(from);
        let quality = self.strict(&[a]);
        self.emit(ty, Op::MaskPart(a, part), quality)
    }

    fn mask_join(&mut self, ty: Type, lanes: u8) -> Value {
        let whole = Type::mask(lanes, 64);
        if self.has(whole) && self.random.once_in(2) {
            let a = self.any(whole);
            let quality = self.strict(&[a]);
            return self.emit(ty, Op::MaskJoin(smallvec![a]), quality);
        }
        let half = Type::mask(lanes / 2, 64);
        let (a, b) = (self.any(half), self.any(half));
        let quality = self.strict(&[a, b]);
        self.emit(ty, Op::MaskJoin(smallvec![a, b]), quality)
    }
}
