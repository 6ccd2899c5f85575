//! Computes addresses from earlier addresses of the same object, as straight-line strength reduction does.
//!
//! ```text
//! v69 = shl v45, 2                                v69 = shl v45, 2
//! v71 = add v7, s_ext v69      (accessed)         v71 = add v7, s_ext v69      (accessed: the basis)
//! v80 = add v69, 0xfffffffc                       v82 = add v71, -4            a displacement
//! v82 = add v7, s_ext v80                =>
//! v91 = shl (sub v45, v9), 2                      v91 = s_ext (neg (shl v9, 2))     hoisted out of the loop
//! v93 = add v7, s_ext v91                         v93 = add v71, v91
//! ```
//! A sum of 32 bits may wrap, so the two forms are equal only if both addresses are valid: objects have at most 2 GiB
//! ([`crate::passes::offsets`]), so valid addresses of an object differ by less than 2 GiB. The difference modulo
//! 2^32 therefore determines the difference. The basis must be an address that the same lanes have already accessed.
//!
//! The inner loop of the benchmark `stencil_2d` has 34 instructions with AVX-512 instead of 52, together with the pass
//! [`hoist_common`](crate::passes).

use smallvec::SmallVec;
use wgcl_codegen::vir::{BinOp, CastOp, Op as VOp, Type as Register, Value as V};

use super::uniformity::LaneShape;
use super::vectorizer::Vectorizer;
use crate::ir::{Op, Scalar, Value};

/// An address that all active lanes have accessed: the sum of `base` and the sign-extended `offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis {
    base: V,
    offset: V,
    lane_shape: LaneShape,
    address: V,
    /// Whether the address was computed from another basis.
    is_derived: bool,
}

/// A sum of terms `factor * value` and a constant, modulo 2^32.
#[derive(Clone, Debug, Default)]
struct LinearForm {
    constant: u32,
    terms: SmallVec<[(V, u32); 4]>,
}

impl LinearForm {
    fn add_term(&mut self, value: V, factor: u32) {
        match self.terms.iter_mut().find(|term| term.0 == value) {
            Some(term) => term.1 = term.1.wrapping_add(factor),
            None => self.terms.push((value, factor)),
        }
    }

    fn negate(&mut self) {
        self.constant = self.constant.wrapping_neg();
        self.terms.iter_mut().for_each(|term| term.1 = term.1.wrapping_neg());
    }

    fn add(&mut self, other: &Self) {
        self.constant = self.constant.wrapping_add(other.constant);
        other.terms.iter().for_each(|&(value, factor)| self.add_term(value, factor));
        self.terms.retain(|term| term.1 != 0);
    }
}

/// The maximum number of operands of a sum.
const STEPS: u32 = 24;
/// The maximum number of terms of a difference.
const TERMS: usize = 2;
/// The limit of the absolute value of a displacement that is added to a difference with terms.
/// [`MIN_LARGE_OBJECT`](crate::passes::offsets::MIN_LARGE_OBJECT) allows for it.
const MAX_DISPLACEMENT: i32 = 4096;
/// The number of most recent bases that are searched.
const SEARCHED: usize = 8;

impl Vectorizer<'_> {
    /// Records the address in a pointer as accessed by all active lanes.
    pub(super) fn note_access(&mut self, pointer: Value) {
        let Some(&Op::PtrAdd(base, offset)) = self.uniformity.definitions().get(pointer) else { return };
        let lane_shape = self.uniformity.lane_shape(pointer);
        if !self.may_have_basis(offset, lane_shape) {
            return;
        }
        let (base, offset, address) = (self.first(base), self.first(offset), self.first(pointer));
        if !self.bases.iter().any(|basis| basis.address == address) {
            let is_derived = self.derived_addresses.contains(&address);
            self.bases.push(Basis { base, offset, lane_shape, address, is_derived });
        }
    }

    /// Whether the lemma of the module documentation holds for an offset: it has 32 bits, is not a constant, and only
    /// valid addresses are accessed.
    fn may_have_basis(&self, offset: Value, lane_shape: LaneShape) -> bool {
        let narrow = super::value::scalar(self.ir_ty(offset)) == Scalar::I32;
        let regular = matches!(lane_shape, LaneShape::Uniform | LaneShape::Linear(_));
        narrow && regular && self.sanitizer.is_none() && self.uniformity.definitions().scalar(offset).is_none()
    }

    /// Computes `base + offset` from an earlier address. Returns `None` if this is not cheaper.
    pub(super) fn add_to_basis(&mut self, base: V, offset: Value, lane_shape: LaneShape) -> Option<V> {
        if self.bases.is_empty() || !self.may_have_basis(offset, lane_shape) {
            return None;
        }
        let offset = self.first(offset);
        let form = self.linear_form(offset)?;
        let level = self.def_site(offset).0;
        let candidates: SmallVec<[Basis; SEARCHED]> =
            self.bases.iter().rev().filter(|basis| basis.base == base && basis.lane_shape == lane_shape).take(SEARCHED).copied().collect();
        let mut best: Option<(Basis, LinearForm)> = None;
        for basis in candidates {
            if basis.offset == offset {
                return Some(basis.address);
            }
            let Some(mut difference) = self.linear_form(basis.offset) else { continue };
            difference.negate();
            difference.add(&form);
            let hoisted = difference.terms.iter().all(|term| self.def_site(term.0).0 < level);
            let cost = |basis: &Basis, difference: &LinearForm| (difference.terms.len(), basis.is_derived);
            let better = best.as_ref().is_none_or(|(known, of)| cost(&basis, &difference) < cost(known, of));
            if hoisted && better && difference.terms.len() <= TERMS {
                best = Some((basis, difference));
            }
        }
        let (basis, difference) = best?;
        let address = self.add_difference(basis.address, &difference);
        self.derived_addresses.insert(address);
        Some(address)
    }

    /// Returns a 32-bit value as a sum of terms, or `None` if the sum has too many operands.
    fn linear_form(&self, value: V) -> Option<LinearForm> {
        let mut form = LinearForm::default();
        let mut steps = STEPS;
        self.collect(value, 1, &mut steps, &mut form)?;
        form.terms.retain(|term| term.1 != 0);
        Some(form)
    }

    /// Adds `factor * value` to a linear form. Returns `None` after [`STEPS`] operands.
    fn collect(&self, value: V, factor: u32, steps: &mut u32, form: &mut LinearForm) -> Option<()> {
        *steps = steps.checked_sub(1)?;
        if let Some(bits) = self.constant_bits(value) {
            form.constant = form.constant.wrapping_add(factor.wrapping_mul(bits as u32));
            return Some(());
        }
        let operation = match self.b.op(value) {
            Some(&VOp::Bin(op, a, b)) => Some((op, a, b, self.constant_bits(b))),
            _ => None,
        };
        match operation {
            Some((op @ (BinOp::Add | BinOp::Sub), a, b, _)) => {
                self.collect(a, factor, steps, form)?;
                self.collect(b, if op == BinOp::Add { factor } else { factor.wrapping_neg() }, steps, form)
            }
            Some((op @ (BinOp::Shl | BinOp::Mul), a, _, Some(bits))) => {
                let by = if op == BinOp::Mul { bits as u32 } else { 1_u32.wrapping_shl(bits as u32) };
                self.collect(a, factor.wrapping_mul(by), steps, form)
            }
            _ => {
                form.add_term(value, factor);
                Some(())
            }
        }
    }

    fn add_difference(&mut self, address: V, difference: &LinearForm) -> V {
        let constant = difference.constant.cast_signed();
        // A displacement is added after the extension, so it must not be the cause of a carry out of 32 bits.
        let displacement = if difference.terms.is_empty() || constant.abs() < MAX_DISPLACEMENT { constant } else { 0 };
        let mut sum = None;
        for &(value, factor) in &difference.terms {
            let term = self.scaled(value, factor);
            sum = Some(sum.map_or(term, |sum| self.op(Register::I32, VOp::Bin(BinOp::Add, sum, term))));
        }
        let mut address = address;
        if let Some(mut sum) = sum {
            let rest = self.i32(constant.wrapping_sub(displacement).cast_unsigned());
            sum = self.op(Register::I32, VOp::Bin(BinOp::Add, sum, rest));
            let wide = self.op(Register::I64, VOp::Cast(CastOp::SExt, sum));
            address = self.op(Register::I64, VOp::Bin(BinOp::Add, address, wide));
        }
        let displacement = self.i64(i64::from(displacement).cast_unsigned());
        self.op(Register::I64, VOp::Bin(BinOp::Add, address, displacement))
    }

    /// Computes `factor * value` in 32 bits.
    fn scaled(&mut self, value: V, factor: u32) -> V {
        let positive = factor.min(factor.wrapping_neg());
        let scaled = if positive.is_power_of_two() {
            let by = self.i32(positive.trailing_zeros());
            self.op(Register::I32, VOp::Bin(BinOp::Shl, value, by))
        } else {
            let by = self.i32(positive);
            self.op(Register::I32, VOp::Bin(BinOp::Mul, value, by))
        };
        if positive == factor {
            return scaled;
        }
        let zero = self.i32(0);
        self.op(Register::I32, VOp::Bin(BinOp::Sub, zero, scaled))
    }
}
