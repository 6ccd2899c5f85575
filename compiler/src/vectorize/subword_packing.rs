//! Subword packing (SWAR): bytes and 16-bit words that are contiguous for the whole gang stay packed in registers.
//!
//! ```text
//! memory      a0 a1 a2 a3 a4 a5 a6 a7 ...     bytes
//! registers   a0 a1 a2 a3 a4 a5 a6 a7 ...     one packed vector instead of four vectors of 32-bit lanes
//! ```
//! Without packing, a narrow number occupies a 32-bit lane. A vector then holds a half or a quarter of the numbers, and
//! they must be widened and narrowed. The low bits of sums, differences, products and bitwise operations do not depend
//! on the width. Therefore, if no user needs other bits, the packed form is computed in addition. Dead code elimination
//! removes the form that is not used.

use smallvec::SmallVec;
use wgcl_codegen::vir::{Addr, BinOp as VBin, Elem, Mem, Op as VOp, Type as Register, UnOp as VUn, Value as V};

use super::access::Address;
use super::shape::{Mode, Shape};
use super::uniformity::{LaneShape, Uniformity};
use super::value::{Regs, scalar};
use super::vectorizer::Vectorizer;
use crate::ir::{BinOp, CastOp, Function, Op, Region, Scalar, Type, UnOp, Value};

/// A value in packed form: narrow numbers in the order of memory.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// The bits of each number: 8 or 16.
    bits: u32,
    /// Vectors of 32-bit lanes that hold the numbers.
    regs: Regs,
}

/// Returns the size in bits of numbers that can be packed, or `None` for other types.
fn narrow(of: Scalar) -> Option<u32> {
    matches!(of, Scalar::I8 | Scalar::I16).then(|| of.bits())
}

/// Returns the number of low bits of each value that its users need.
pub(super) fn demanded_bits(function: &Function) -> Vec<u32> {
    let mut wanted = vec![0; function.values.len()];
    demand_backward(function, &function.body, &mut wanted);
    wanted
}

/// Computes the demanded bits of the values that a region uses. Uses follow definitions, so one backward pass suffices.
fn demand_backward(function: &Function, region: &Region, wanted: &mut [u32]) {
    for inst in region.insts.iter().rev() {
        inst.op.regions().into_iter().for_each(|nested| demand_backward(function, nested, wanted));
        let bits = |value: Value| scalar(function.ty(value)).bits();
        let all = inst.results.first().map_or(0, |&result| wanted[result.index()]);
        let mut want = |value: Value, most: u32| {
            let place = &mut wanted[value.index()];
            *place = (*place).max(most.min(bits(value)));
        };
        match &inst.op {
            Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor, a, b) => {
                want(*a, all);
                want(*b, all);
            }
            Op::Bin(BinOp::Shl, a, amount) => {
                want(*a, all);
                want(*amount, u32::MAX);
            }
            Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, a) | Op::Un(UnOp::Not, a) => want(*a, all),
            op => op.for_each_operand(|value| want(value, u32::MAX)),
        }
    }
}

/// The maximum number of instructions of a widened kernel. Longer kernels need more registers.
const MAX_INSTRUCTIONS: usize = 64;
/// The maximum number of lanes. Each has a bit in a 32-bit word.
const MAX_LANES: u32 = 32;

/// Whether a kernel without loops may be widened: it is short, and each gang is one vector of 32-bit lanes.
pub(super) fn may_widen(function: &Function, shape: Shape) -> bool {
    shape.lanes >= 4 && shape.lanes == shape.isa.caps().vector_bytes / 4 && function.body.insts.len() <= MAX_INSTRUCTIONS
}

/// Returns the shape for a kernel without loops. If the kernel accesses contiguous narrow numbers, the shape has more
/// lanes, so that the numbers fill vectors.
pub(super) fn widen(function: &Function, uniformity: &Uniformity<'_>) -> Shape {
    let shape = uniformity.shape();
    let Some(size) = smallest_contiguous(function, uniformity).filter(|_| may_widen(function, shape)) else { return shape };
    let line = shape.group[usize::from(shape.vector_dimension)];
    let mut lanes = (shape.isa.caps().vector_bytes / size).min(MAX_LANES);
    while lanes > shape.lanes && !line.is_multiple_of(lanes) {
        lanes /= 2;
    }
    // Interleave two packed vectors of 16-bit words. With bytes, values that are not packed would need eight vectors.
    let interleaves = shape.isa.caps().interleaves_straight_code && 2 * lanes <= MAX_LANES;
    if interleaves && lanes == 2 * shape.lanes && line.is_multiple_of(2 * lanes) {
        lanes *= 2;
    }
    if lanes > shape.lanes { Shape { lanes, along_dimension: true, ..shape } } else { shape }
}

/// Returns the bytes per work-item of the narrowest contiguous access, 1 or 2. Returns `None` if it has more bytes, or
/// if there is no such access. Also returns `None` if the kernel has operations other than computations and accesses to
/// contiguous and uniform memory.
fn smallest_contiguous(function: &Function, uniformity: &Uniformity<'_>) -> Option<u32> {
    let mut smallest = None;
    for inst in &function.body.insts {
        let (pointer, ty) = match &inst.op {
            Op::Load { ptr, .. } => (*ptr, function.ty(*inst.results.first()?)),
            Op::Store { ptr, value, .. } => (*ptr, function.ty(*value)),
            Op::Const(_) | Op::WorkItem(_) | Op::PtrAdd(..) | Op::GlobalAddr(_) | Op::Return(_) => continue,
            Op::Un(..) | Op::Bin(..) | Op::Cmp(..) | Op::Cast(..) | Op::Select(..) | Op::Splat(_) => continue,
            _ => return None,
        };
        let size = scalar(ty).size() * u32::from(ty.lanes());
        match uniformity.lane_shape(pointer) {
            LaneShape::Uniform => {}
            LaneShape::Linear(stride) if stride == i64::from(size) => smallest = Some(smallest.map_or(size, |other: u32| other.min(size))),
            _ => return None,
        }
    }
    smallest.filter(|&size| size <= 2)
}

impl Vectorizer<'_> {
    /// Returns the vectors of contiguous narrow numbers: address, bits of a number, type, and count. Returns `None` if
    /// the access is masked or not contiguous, if its numbers are not narrow, or if they do not fill vectors.
    fn contiguous_words(&self, address: &Address, ty: Type) -> Option<(V, u32, Register, u32)> {
        let (Address::Linear(first, stride), None) = (address, &self.masks.exec) else { return None };
        let bits = narrow(scalar(ty))?;
        let each = bits / 8 * u32::from(ty.lanes());
        let total = each * self.shape.lanes;
        let bytes = total.min(self.shape.isa.caps().vector_bytes);
        let fits = *stride == i64::from(each) && self.shape.lanes > 1 && matches!(bytes, 16 | 32 | 64) && total.is_multiple_of(bytes);
        fits.then(|| (*first, bits, Register::Vector(Elem::I32, (bytes / 4) as u8), total / bytes))
    }

    /// Loads contiguous narrow numbers in packed form, in addition to the usual form.
    pub(super) fn load_packed(&mut self, result: Value, address: &Address) {
        let Some((first, bits, ty, count)) = self.contiguous_words(address, self.ir_ty(result)) else { return };
        let bytes = i32::from(ty.lanes()) * 4;
        let load = |this: &mut Self, index: i32| {
            this.emit(ty, VOp::LoadVector { mem: Mem::Elem(Elem::I32), addr: Addr::offset(first, index * bytes), mask: None })
        };
        let regs = (0..count.cast_signed()).map(|index| load(self, index)).collect();
        self.forms.packed.insert(result, Packed { bits, regs });
    }

    /// Stores contiguous narrow numbers from their packed form. Returns false if there is no packed form.
    pub(super) fn store_packed(&mut self, address: &Address, value: Value) -> bool {
        let Some((first, bits, ty, count)) = self.contiguous_words(address, self.ir_ty(value)) else { return false };
        let Some(packed) = self.forms.packed.get(&value).filter(|packed| packed.bits == bits && packed.regs.len() == count as usize) else {
            return false;
        };
        let bytes = i32::from(ty.lanes()) * 4;
        for (index, value) in (0..).zip(packed.regs.clone()) {
            let addr = Addr::offset(first, index * bytes);
            self.b.effect(VOp::StoreVector { mem: Mem::Elem(Elem::I32), addr, value, mask: None });
        }
        true
    }

    /// Computes an operation in packed form, if its operands are packed or uniform and its users need no other bits.
    pub(super) fn compute_packed(&mut self, op: &Op, result: Value) {
        let wanted = self.forms.demanded_bits[result.index()];
        let packed = match *op {
            Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, a) => {
                self.forms.packed.get(&a).filter(|packed| wanted <= packed.bits).cloned()
            }
            Op::Un(UnOp::Not, a) => self.forms.packed.get(&a).filter(|packed| wanted <= packed.bits).cloned().map(|packed| {
                let ty = self.b.ty(packed.regs[0]);
                Packed { regs: self.map(ty, &packed.regs, |reg| VOp::Un(VUn::Not, reg)), ..packed }
            }),
            Op::Bin(op, a, b) => self.bin_packed(op, a, b, wanted),
            _ => None,
        };
        if let Some(packed) = packed {
            self.forms.packed.insert(result, packed);
        }
    }

    /// Computes a binary operation in packed form. Returns `None` if the operation or an operand has no packed form, or
    /// if users need more bits than a packed number has.
    fn bin_packed(&mut self, op: BinOp, a: Value, b: Value, wanted: u32) -> Option<Packed> {
        let like = self.forms.packed.get(&a).or_else(|| self.forms.packed.get(&b)).filter(|packed| wanted <= packed.bits)?.clone();
        let bytes = like.bits == 8;
        let vop = match op {
            BinOp::Add if bytes => VBin::AddBytes,
            BinOp::Add => VBin::AddWords,
            BinOp::Sub if bytes => VBin::SubBytes,
            BinOp::Sub => VBin::SubWords,
            BinOp::Mul if bytes => VBin::MulBytes,
            BinOp::Mul => VBin::MulWords,
            BinOp::And => VBin::And,
            BinOp::Or => VBin::Or,
            BinOp::Xor => VBin::Xor,
            _ => return None,
        };
        let (a, b) = (self.operand_packed(a, &like)?, self.operand_packed(b, &like)?);
        let ty = self.b.ty(like.regs[0]);
        let regs = if vop == VBin::MulBytes && !self.shape.isa.caps().has_byte_multiply {
            a.iter().zip(&b).map(|(&a, &b)| self.multiply_bytes(ty, a, b)).collect()
        } else {
            self.zip(ty, &a, &b, |a, b| VOp::Bin(vop, a, b))
        };
        Some(Packed { bits: like.bits, regs })
    }

    /// Multiplies bytes by products of 16-bit words. The low byte of a product depends only on the low bytes of its
    /// factors:
    ///
    /// ```text
    /// even bytes: a * b;    odd bytes: (a & 0xFF00) * (b >> 8)
    /// ```
    /// The shift of an operand that does not change in a loop is outside of the loop.
    fn multiply_bytes(&mut self, ty: Register, a: V, b: V) -> V {
        const EVEN: u64 = 0x00FF_00FF;
        const ODD: u64 = 0xFF00_FF00;
        // The operand that is defined in fewer loops is shifted.
        let (a, b) = if self.def_site(a).0 < self.def_site(b).0 { (b, a) } else { (a, b) };
        let (even, odd, eight) = (self.bits(ty, EVEN), self.bits(ty, ODD), self.bits(ty, 8));
        let shifted = match self.constant_bits(b) {
            Some(bits) => self.bits(ty, (bits & u64::from(u32::MAX)) >> 8),
            None => self.op(ty, VOp::Bin(VBin::LShr, b, eight)),
        };
        let low = self.op(ty, VOp::Bin(VBin::MulWords, a, b));
        let low = self.op(ty, VOp::Bin(VBin::And, low, even));
        let upper = self.op(ty, VOp::Bin(VBin::And, a, odd));
        let upper = self.op(ty, VOp::Bin(VBin::MulWords, upper, shifted));
        self.op(ty, VOp::Bin(VBin::Or, low, upper))
    }

    /// Returns an operand in the packed form of `like`, or `None` if it is neither packed in the same way nor uniform.
    fn operand_packed(&mut self, value: Value, like: &Packed) -> Option<Regs> {
        if let Some(packed) = self.forms.packed.get(&value) {
            return (packed.bits == like.bits && packed.regs.len() == like.regs.len()).then(|| packed.regs.clone());
        }
        if !self.is_uniform(value) {
            return None;
        }
        let ty = self.b.ty(like.regs[0]);
        let comps: SmallVec<[V; 4]> = self.comps(value, Mode::Uniform).into_iter().map(|regs| regs[0]).collect();
        let known: Option<SmallVec<[u64; 4]>> = comps.iter().map(|&value| self.constant_bits(value)).collect();
        let made = match known {
            Some(known) => self.pattern(ty, like.bits, &known)?,
            None if comps.iter().all(|&value| value == comps[0]) => {
                let (ones, copies) = (self.i32((1 << like.bits) - 1), self.i32(if like.bits == 8 { 0x0101_0101 } else { 0x0001_0001 }));
                let low = self.op(Register::I32, VOp::Bin(VBin::And, comps[0], ones));
                let all = self.op(Register::I32, VOp::Bin(VBin::Mul, low, copies));
                self.op(ty, VOp::Splat(all))
            }
            None => return None,
        };
        Some(SmallVec::from_elem(made, like.regs.len()))
    }

    /// Creates a vector with a repeated pattern of constant narrow numbers. `None` if the pattern does not fit the
    /// vector.
    fn pattern(&mut self, ty: Register, bits: u32, numbers: &[u64]) -> Option<V> {
        let (each, count) = ((32 / bits) as usize, usize::from(ty.lanes()));
        if !(each * count).is_multiple_of(numbers.len()) {
            return None;
        }
        let number = |place: usize| numbers[place % numbers.len()] & ((1 << bits) - 1);
        let lane = |lane: usize| (0..each).fold(0, |word, part| word | number(lane * each + part) << (part as u32 * bits));
        let lanes: Vec<u64> = (0..count).map(lane).collect();
        Some(if lanes.iter().all(|&lane| lane == lanes[0]) { self.bits(ty, lanes[0]) } else { self.lanes(ty, lanes.into()) })
    }
}
