//! Bytes and 16-bit words that all work-items of a chunk have side by side in memory stay side by side in registers.
//!
//! ```text
//! memory      a0 a1 a2 a3 a4 a5 a6 a7 ...     bytes
//! registers   a0 a1 a2 a3 a4 a5 a6 a7 ...     one vector of all, instead of four vectors of lanes of 32 bits
//! ```
//! A narrow number usually has a lane of 32 bits to itself, so that a vector holds a quarter or a half of what it could, and is widened and cut again. Sums, differences, products and
//! logic give the same low bits at any width, so where no more of a result is wanted than the numbers had to begin with, it is computed from the packed numbers as well. What both forms
//! are there for is only made in the one that is used.

use smallvec::SmallVec;
use wgcl_codegen::vir::{Addr, BinOp as VBin, Elem, Mem, Op as VOp, Type as Register, UnOp as VUn, Value as V};

use super::access::Address;
use super::private::PrivateMemory;
use super::shape::{Mode, Shape};
use super::uniformity::{LaneShape, Uniformity};
use super::value::{Regs, scalar};
use super::vectorizer::Vectorizer;
use crate::ir::{BinOp, CastOp, Function, Op, Region, Scalar, Type, UnOp, Value};

/// A value in the order of memory.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// Bits of each number: 8 or 16.
    bits: u32,
    /// Vectors of lanes of 32 bits that hold them.
    regs: Regs,
}

/// Bits of numbers that may be packed; none of others.
fn narrow(of: Scalar) -> Option<u32> {
    matches!(of, Scalar::I8 | Scalar::I16).then(|| of.bits())
}

/// How many of the low bits of each value are wanted, by value: at most as many as it has.
pub(super) fn demanded_bits(function: &Function) -> Vec<u32> {
    let mut wanted = vec![0; function.values.len()];
    demand_backward(function, &function.body, &mut wanted);
    wanted
}

/// Uses come behind definitions, so one walk from behind sees all of them first.
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

/// A shape with more lanes for kernels that do nothing but go through rows of narrow numbers, so that those fill vectors.
pub(super) fn widen_for_subwords(function: &Function, shape: Shape) -> Shape {
    /// Instructions up to which registers are not wanting.
    const SHORT: usize = 64;
    /// Lanes that have a bit each in a word.
    const MOST: u32 = 32;
    let vector = shape.isa.caps().vector_bytes;
    if shape.lanes < 4 || shape.lanes != vector / 4 || function.body.insts.len() > SHORT {
        return shape;
    }
    let private = PrivateMemory::of(function, shape.lanes);
    let Some(size) = smallest_contiguous(function, &Uniformity::of(function, shape, &private, false)) else { return shape };
    let row = shape.group[usize::from(shape.vector_dimension)];
    let mut lanes = (vector / size).min(MOST);
    while lanes > shape.lanes && !row.is_multiple_of(lanes) {
        lanes /= 2;
    }
    if lanes > shape.lanes { Shape { lanes, along_dimension: true, ..shape } } else { shape }
}

/// The bytes that a work-item has in the narrowest row, 2 at most; none if a kernel does anything but access rows and uniform memory, and compute.
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
    /// The vectors in which a row of narrow numbers lies: their type, and how many there are.
    fn contiguous_words(&self, address: &Address, ty: Type) -> Option<(V, u32, Register, u32)> {
        let (Address::Linear(first, stride), None) = (address, &self.exec_mask) else { return None };
        let bits = narrow(scalar(ty))?;
        let each = bits / 8 * u32::from(ty.lanes());
        let total = each * self.shape.lanes;
        let bytes = total.min(self.shape.isa.caps().vector_bytes);
        let fits = *stride == i64::from(each) && self.shape.lanes > 1 && matches!(bytes, 16 | 32 | 64) && total.is_multiple_of(bytes);
        fits.then(|| (*first, bits, Register::Vector(Elem::I32, (bytes / 4) as u8), total / bytes))
    }

    /// Loads a row in its packed form, beside the other one.
    pub(super) fn load_packed(&mut self, result: Value, address: &Address) {
        let Some((first, bits, ty, count)) = self.contiguous_words(address, self.ir_ty(result)) else { return };
        let bytes = i32::from(ty.lanes()) * 4;
        let load = |this: &mut Self, index: i32| {
            this.here(ty, VOp::LoadVector { mem: Mem::Elem(Elem::I32), addr: Addr::offset(first, index * bytes), mask: None })
        };
        let regs = (0..count.cast_signed()).map(|index| load(self, index)).collect();
        self.packed.insert(result, Packed { bits, regs });
    }

    /// Stores a row from its packed form, if there is one; whether that was done.
    pub(super) fn store_packed(&mut self, address: &Address, value: Value) -> bool {
        let Some((first, bits, ty, count)) = self.contiguous_words(address, self.ir_ty(value)) else { return false };
        let Some(packed) = self.packed.get(&value).filter(|packed| packed.bits == bits && packed.regs.len() == count as usize) else {
            return false;
        };
        let bytes = i32::from(ty.lanes()) * 4;
        for (index, value) in (0..).zip(packed.regs.clone()) {
            let addr = Addr::offset(first, index * bytes);
            self.b.effect(VOp::StoreVector { mem: Mem::Elem(Elem::I32), addr, value, mask: None });
        }
        true
    }

    /// What an operation gives in the packed form, if its operands are there in it and no more bits are wanted.
    pub(super) fn compute_packed(&mut self, op: &Op, result: Value) {
        let wanted = self.demanded_bits[result.index()];
        let packed = match *op {
            Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, a) => self.packed.get(&a).filter(|packed| wanted <= packed.bits).cloned(),
            Op::Un(UnOp::Not, a) => self.packed.get(&a).filter(|packed| wanted <= packed.bits).cloned().map(|packed| {
                let ty = self.b.ty(packed.regs[0]);
                Packed { regs: self.map(ty, &packed.regs, |reg| VOp::Un(VUn::Not, reg)), ..packed }
            }),
            Op::Bin(op, a, b) => self.bin_packed(op, a, b, wanted),
            _ => None,
        };
        if let Some(packed) = packed {
            self.packed.insert(result, packed);
        }
    }

    fn bin_packed(&mut self, op: BinOp, a: Value, b: Value, wanted: u32) -> Option<Packed> {
        let like = self.packed.get(&a).or_else(|| self.packed.get(&b)).filter(|packed| wanted <= packed.bits)?.clone();
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
        Some(Packed { bits: like.bits, regs: self.zip(ty, &a, &b, |a, b| VOp::Bin(vop, a, b)) })
    }

    /// An operand in the form of another one: packed already, or the same for all work-items.
    fn operand_packed(&mut self, value: Value, like: &Packed) -> Option<Regs> {
        if let Some(packed) = self.packed.get(&value) {
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

    /// A vector of numbers of so many bits that recur.
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
