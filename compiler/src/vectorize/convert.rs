//! Conversions between number types, and between vectors of 32- and 64-bit lanes.

use smallvec::smallvec;
use wgcl_codegen::vir::{BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Op as VOp, Value as V};

use super::shape::{Mode, elem};
use super::uniformity::keeps_pointer;
use super::value::{Comps, Regs, scalar};
use super::vectorizer::{Lowered, Part, Vectorizer};
use crate::internal::internal;
use crate::ir::{CastOp, Scalar, Space, Type};

impl Vectorizer<'_> {
    /// Converts numbers in 32-bit lanes to 64-bit lanes.
    pub(super) fn widen(&mut self, cast: VCast, to: Scalar, mode: Mode, regs: &[V]) -> Regs {
        let ty = self.shape.register(to, mode);
        if mode == Mode::Uniform {
            return smallvec![self.op(ty, VOp::Cast(cast, regs[0]))];
        }
        let parts = (self.shape.lanes32() / self.shape.lanes64()) as u8;
        let mut wide = Regs::new();
        for &reg in regs {
            for part in 0..parts {
                wide.push(self.op(ty, VOp::Widen(cast, reg, part)));
            }
        }
        wide
    }

    /// Converts numbers in 64-bit lanes to 32-bit lanes.
    pub(super) fn narrow(&mut self, cast: VCast, to: Scalar, mode: Mode, regs: &[V]) -> Regs {
        let ty = self.shape.register(to, mode);
        if mode == Mode::Uniform {
            return smallvec![self.op(ty, VOp::Cast(cast, regs[0]))];
        }
        let parts = (self.shape.lanes32() / self.shape.lanes64()) as usize;
        regs.chunks(parts).map(|chunk| self.op(ty, VOp::Narrow(cast, chunk.into()))).collect()
    }

    /// Converts numbers to another type with the same lane size.
    fn cast_lanes(&mut self, cast: VCast, to: Scalar, mode: Mode, regs: &[V]) -> Regs {
        let ty = self.shape.register(to, mode);
        self.map(ty, regs, |reg| VOp::Cast(cast, reg))
    }

    /// Lowers a [`CastOp`] of an IR value, for each of its components.
    pub(super) fn cast(&mut self, op: CastOp, from: Type, to: Type, mode: Mode, comps: &Comps) -> Lowered<Comps> {
        let (from_scalar, to_scalar) = (scalar(from), scalar(to));
        match op {
            CastOp::Bitcast => Ok(self.bitcast(from_scalar, to_scalar, mode, comps)),
            CastOp::SpaceCast if !keeps_pointer(from, to) => Ok(smallvec![self.cast_to_named_space(to, mode, &comps[0])]),
            CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast => {
                let resized = |this: &mut Self, regs: &Regs| match (elem(from_scalar).bits(), elem(to_scalar).bits()) {
                    (64, 32) => this.narrow(VCast::Trunc, to_scalar, mode, regs),
                    (32, 64) => this.widen(VCast::ZExt, to_scalar, mode, regs),
                    _ => regs.clone(),
                };
                Ok(comps.iter().map(|regs| resized(self, regs)).collect())
            }
            _ => comps.iter().map(|regs| self.cast_one(op, from_scalar, to_scalar, mode, regs)).collect(),
        }
    }

    /// Converts a generic pointer to a named address space, or to null if it points to another address space. An
    /// address is global if it is outside of the arena's work-group and private memory.
    fn cast_to_named_space(&mut self, to: Type, mode: Mode, regs: &[V]) -> Regs {
        let local = (self.frame.local_base, self.frame.local.size);
        let (start, size) = self.frame.private_range;
        let (start, size) = (self.arena_at(start), size);
        let inside = match to {
            Type::Ptr(Space::Local) => self.is_within(mode, regs, local),
            Type::Ptr(Space::Private) => self.is_within(mode, regs, (start, size)),
            Type::Ptr(Space::Global) => {
                let (local, private) = (self.is_within(mode, regs, local), self.is_within(mode, regs, (start, size)));
                let of = if mode == Mode::Uniform { Scalar::I32 } else { Scalar::Bool };
                let either = self.bin_regs(VBin::Or, of, mode, &local, &private);
                self.not(mode, &either)
            }
            _ => return regs.into(),
        };
        let null = self.number(Scalar::I64, mode, 0);
        self.select_regs(Scalar::I64, mode, &inside, regs, &null)
    }

    /// Computes a `bool` that is true for addresses in bytes `start..start + size`.
    fn is_within(&mut self, mode: Mode, regs: &[V], (start, size): (V, u32)) -> Regs {
        let start = if mode == Mode::Uniform { smallvec![start] } else { self.splat(start, Scalar::I64) };
        let offset = self.bin_regs(VBin::Sub, Scalar::I64, mode, regs, &start);
        let size = self.number(Scalar::I64, mode, u64::from(size));
        self.compare_regs(VCmp::ULt, Scalar::I64, mode, &offset, &size)
    }

    fn cast_one(&mut self, op: CastOp, from: Scalar, to: Scalar, mode: Mode, regs: &[V]) -> Lowered<Regs> {
        Ok(match op {
            CastOp::Trunc if from == Scalar::I64 => self.narrow(VCast::Trunc, to, mode, regs),
            CastOp::Trunc => regs.into(),
            CastOp::ZExt | CastOp::SExt if from == Scalar::Bool => {
                let (yes, no) = (self.number(to, mode, if op == CastOp::ZExt { 1 } else { to.mask() }), self.number(to, mode, 0));
                self.select_regs(to, mode, regs, &yes, &no)
            }
            CastOp::ZExt | CastOp::SExt => {
                let signed = op == CastOp::SExt;
                let regs = if signed { self.sign_extend(from, mode, regs) } else { self.zero_extend(from, mode, regs) };
                let cast = if signed { VCast::SExt } else { VCast::ZExt };
                if to == Scalar::I64 && from != Scalar::I64 { self.widen(cast, to, mode, &regs) } else { regs }
            }
            CastOp::SToF | CastOp::UToF => self.integer_to_float(op == CastOp::SToF, from, to, mode, regs),
            CastOp::FToS | CastOp::FToU => self.float_to_integer(op == CastOp::FToS, from, to, mode, regs),
            CastOp::FToF => self.float_to_float(from, to, mode, regs),
            _ => return Err(internal!("{op:?} from {from} to {to}")),
        })
    }

    fn integer_to_float(&mut self, signed: bool, from: Scalar, to: Scalar, mode: Mode, regs: &[V]) -> Regs {
        if to == Scalar::F16 {
            // An integer that `float` cannot represent exactly is infinite as a `half`. So the conversion by `float` is
            // exact.
            let floats = self.integer_to_float(signed, from, Scalar::F32, mode, regs);
            return self.float_to_half(mode, &floats);
        }
        if from == Scalar::Bool {
            let one = if to == Scalar::F64 { 1_f64.to_bits() } else { u64::from(1_f32.to_bits()) };
            let (yes, no) = (self.number(to, mode, one), self.number(to, mode, 0));
            return self.select_regs(to, mode, regs, &yes, &no);
        }
        let regs = if signed { self.sign_extend(from, mode, regs) } else { self.zero_extend(from, mode, regs) };
        let cast = if signed || from.bits() < 32 { VCast::SToF } else { VCast::UToF };
        match (from, to) {
            (Scalar::I64, _) if mode == Mode::Varying && !self.shape.isa.caps().has_i64_conversions => {
                let ty = wgcl_codegen::vir::Type::Scalar(elem(to));
                self.scalars(from, mode, &[&regs], to, &mut |this, of| this.emit(ty, VOp::Cast(cast, of[0])))
            }
            (Scalar::I64, Scalar::F32) => self.narrow(cast, to, mode, &regs),
            (Scalar::I64, _) | (_, Scalar::F32) => self.cast_lanes(cast, to, mode, &regs),
            _ => self.widen(cast, to, mode, &regs),
        }
    }

    fn float_to_integer(&mut self, signed: bool, from: Scalar, to: Scalar, mode: Mode, regs: &[V]) -> Regs {
        if from == Scalar::F16 {
            let floats = self.half_to_float(mode, regs);
            return self.float_to_integer(signed, Scalar::F32, to, mode, &floats);
        }
        let cast = if signed || to.bits() < 32 { VCast::FToS } else { VCast::FToU };
        match (from, to) {
            (_, Scalar::I64) if mode == Mode::Varying && !self.shape.isa.caps().has_i64_conversions => {
                let ty = wgcl_codegen::vir::Type::I64;
                self.scalars(from, mode, &[regs], to, &mut |this, of| this.emit(ty, VOp::Cast(cast, of[0])))
            }
            (Scalar::F32, Scalar::I64) => self.widen(cast, to, mode, regs),
            (Scalar::F32, _) | (_, Scalar::I64) => self.cast_lanes(cast, to, mode, regs),
            _ => self.narrow(cast, to, mode, regs),
        }
    }

    fn float_to_float(&mut self, from: Scalar, to: Scalar, mode: Mode, regs: &[V]) -> Regs {
        match (from, to) {
            (Scalar::F32, Scalar::F64) => self.widen(VCast::FToF, to, mode, regs),
            (Scalar::F64, Scalar::F32) => self.narrow(VCast::FToF, to, mode, regs),
            (Scalar::F16, Scalar::F32) => self.half_to_float(mode, regs),
            (Scalar::F32, Scalar::F16) => self.float_to_half(mode, regs),
            (Scalar::F16, Scalar::F64) => {
                let floats = self.half_to_float(mode, regs);
                self.widen(VCast::FToF, to, mode, &floats)
            }
            (Scalar::F64, Scalar::F16) => self.double_to_half(mode, regs),
            _ => regs.into(),
        }
    }

    /// Converts `double` to `half` as if with one rounding. The intermediate `float` is rounded to odd. With this
    /// rounding, two more significant bits than in a `half` suffice for a correct second rounding. A `float` has 13
    /// more.
    pub(super) fn double_to_half(&mut self, mode: Mode, regs: &[V]) -> Regs {
        let near = self.narrow(VCast::FToF, Scalar::F32, mode, regs);
        let back = self.widen(VCast::FToF, Scalar::F64, mode, &near);
        let size = self.bin_const(VBin::And, Scalar::F64, mode, regs, u64::MAX >> 1);
        let back_size = self.bin_const(VBin::And, Scalar::F64, mode, &back, u64::MAX >> 1);
        let above = self.compare_regs(VCmp::FGt, Scalar::F64, mode, &back_size, &size);
        let differs = self.compare_regs(VCmp::FNe, Scalar::F64, mode, &back_size, &size);
        let infinity = self.number(Scalar::F64, mode, f64::INFINITY.to_bits());
        let finite = self.compare_regs(VCmp::FLt, Scalar::F64, mode, &back_size, &infinity);
        let inexact = self.bool_and(mode, &differs, &finite);
        let bits = self.cast_lanes(VCast::Bitcast, Scalar::I32, mode, &near);
        let less = self.bin_const(VBin::Sub, Scalar::I32, mode, &bits, 1);
        let toward_zero = self.select_regs(Scalar::I32, mode, &above, &less, &bits);
        let odd = self.bin_const(VBin::Or, Scalar::I32, mode, &toward_zero, 1);
        let chosen = self.select_regs(Scalar::I32, mode, &inexact, &odd, &bits);
        let floats = self.cast_lanes(VCast::Bitcast, Scalar::F32, mode, &chosen);
        self.float_to_half(mode, &floats)
    }

    /// Computes the conjunction of `bool`s.
    pub(super) fn bool_and(&mut self, mode: Mode, a: &[V], b: &[V]) -> Regs {
        let of = if mode == Mode::Uniform { Scalar::I32 } else { Scalar::Bool };
        self.bin_regs(VBin::And, of, mode, a, b)
    }

    /// Returns the bits of a number as an integer of the same size.
    pub(super) fn as_integer(&mut self, of: Scalar, mode: Mode, regs: &[V]) -> Regs {
        match of {
            Scalar::F32 => self.cast_lanes(VCast::Bitcast, Scalar::I32, mode, regs),
            Scalar::F64 => self.cast_lanes(VCast::Bitcast, Scalar::I64, mode, regs),
            _ => regs.into(),
        }
    }

    /// Returns the number whose bits are an integer of the same size. This is the inverse of [`Self::as_integer`].
    pub(super) fn reinterpret_integer(&mut self, of: Scalar, mode: Mode, regs: &[V]) -> Regs {
        match of {
            Scalar::F32 | Scalar::F64 => self.cast_lanes(VCast::Bitcast, of, mode, regs),
            _ => regs.into(),
        }
    }

    /// Reinterprets the bits as components of another type.
    pub(super) fn bitcast(&mut self, from: Scalar, to: Scalar, mode: Mode, comps: &[Regs]) -> Comps {
        let ints: Comps = comps.iter().map(|regs| self.as_integer(from, mode, regs)).collect();
        let (from_bits, to_bits) = (from.bits(), to.bits());
        let made: Comps = if from_bits == to_bits {
            ints
        } else if from_bits < to_bits {
            ints.chunks((to_bits / from_bits) as usize).map(|parts| self.combine_words(from, to, mode, parts)).collect()
        } else {
            ints.iter().flat_map(|regs| self.split_words(from, to, mode, regs)).collect()
        };
        made.iter().map(|regs| self.reinterpret_integer(to, mode, regs)).collect()
    }

    /// Combines narrow integers to a wide integer. The first narrow integer has the lowest bits.
    fn combine_words(&mut self, from: Scalar, to: Scalar, mode: Mode, parts: &[Regs]) -> Regs {
        let (from_bits, wide) = (from.bits(), to.bits() == 64);
        let of = if wide { Scalar::I64 } else { Scalar::I32 };
        let int = Scalar::int_of_size(from_bits / 8).unwrap_or(Scalar::I32);
        let mut sum: Option<Regs> = None;
        for (index, part) in (0_u64..).zip(parts) {
            let part = self.zero_extend(int, mode, part);
            let part = if wide { self.widen(VCast::ZExt, of, mode, &part) } else { part };
            let part = if index == 0 { part } else { self.bin_const(VBin::Shl, of, mode, &part, index * u64::from(from_bits)) };
            sum = Some(match sum {
                Some(sum) => self.bin_regs(VBin::Or, of, mode, &sum, &part),
                None => part,
            });
        }
        let sum = sum.unwrap_or_default();
        self.note_zero_extended(to, &sum);
        sum
    }

    /// Splits a wide integer into narrow integers. The first narrow integer has the lowest bits.
    fn split_words(&mut self, from: Scalar, to: Scalar, mode: Mode, regs: &[V]) -> Comps {
        let (from_bits, to_bits) = (from.bits(), to.bits());
        let of = if from_bits == 64 { Scalar::I64 } else { Scalar::I32 };
        let regs = if from_bits < 32 {
            self.zero_extend(Scalar::int_of_size(from_bits / 8).unwrap_or(Scalar::I32), mode, regs)
        } else {
            regs.into()
        };
        (0..from_bits / to_bits)
            .map(|index| {
                let at = index * to_bits;
                let part = if index == 0 { regs.clone() } else { self.bin_const(VBin::LShr, of, mode, &regs, u64::from(at)) };
                if from_bits == 64 {
                    return self.narrow(VCast::Trunc, Scalar::I32, mode, &part);
                }
                if at > 0 {
                    self.forms.parts.extend(part.iter().zip(&regs).map(|(&part, &word)| (part, Part { word, at })));
                }
                if at + to_bits == 32 {
                    self.note_zero_extended(to, &part);
                }
                part
            })
            .collect()
    }
}
