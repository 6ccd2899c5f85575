//! Loads, stores and atomics through the buffer views that [`super::plan`] selects. A raw lane is the bits of a lane as
//! an unsigned integer: `u64` for 64-bit lanes, otherwise `u32`.
//!
//! Example: `load f32 (ptr_add %0, %1) align 4` becomes `buffer_f32[%1 >> 2]`.

mod atomics;
mod halves;

use super::EmitError;
use super::builder::{Expr, Val};
use super::function::Emitter;
use super::items::OPAQUE_ZERO;
use super::vector::Scalars;
use super::views::{AccessShape, Backing, Kind, Object, Rule, Variable, ViewKey, naga_u16};
use crate::analysis::definitions::{Linear, Root};
use crate::ir::{Type, Value};
#[cfg(doc)]
use crate::target::{Defects, Limits};
use naga::{BinaryOperator, Expression, Scalar, ScalarKind, Statement};
use smallvec::SmallVec;

/// The limit for indices without a mask: all factors in bytes have at most this absolute value. The constant is at
/// least the negative of this value. See [`Emitter::object_index`].
const MAX_PLAIN_SCALE: u32 = 1 << 20;

/// The target of an access: an object, and the byte offset in the object.
pub(super) struct Address {
    pub(super) object: usize,
    linear: Linear,
    /// The address of the object, if it is accessed by address.
    object_address: Option<Expr>,
    /// The whole byte offset from the root, as one value. `None` if it is constant.
    offset: Option<Value>,
    /// Byte offset of the root in its object.
    base: u32,
}

/// An index into a view.
#[derive(Clone, Copy)]
enum Index {
    Const(u32),
    Expr(Expr),
    /// The address of the element, for memory that is accessed by address.
    Address(Expr),
}

impl<'a> Emitter<'a, '_> {
    /// Returns the target of a pointer.
    fn address(&mut self, pointer: Value) -> Result<Address, EmitError> {
        let (root, offset) =
            self.defs.pointer(pointer).ok_or_else(|| EmitError::Internal(format!("access through {pointer}: the pointer has no root")))?;
        let object_address = match root {
            Root::Address(address) => Some(self.one(address)?),
            _ => None,
        };
        let place = *self.cx.plan.places.get(&root).ok_or_else(|| EmitError::Internal(format!("root {root:?} is not planned")))?;
        let mut linear = Linear { constant: place.base, ..Linear::default() };
        let mut variable = None;
        if let Some(offset) = offset {
            if let Some(bits) = self.defs.scalar(offset) {
                linear.constant = linear.constant.wrapping_add(bits as u32);
            } else {
                variable = Some(offset);
                let sum = self.defs.linear(offset);
                linear = Linear { constant: linear.constant.wrapping_add(sum.constant), terms: sum.terms };
            }
        }
        let object_address = object_address.or_else(|| self.bases.get(&place.object).copied());
        Ok(Address { object: place.object, linear, object_address, offset: variable, base: place.base })
    }

    /// Returns an integer value as `u32`.
    fn word(&mut self, value: Value) -> Result<Expr, EmitError> {
        let expr = self.one(value)?;
        Ok(if self.function.ty(value) == Type::I64 { self.b.convert(expr, Scalar::U32) } else { expr })
    }

    /// Returns the byte offset of an access in its object plus `extra` bytes. For memory that is accessed by address,
    /// returns the 64-bit address of these bytes.
    fn byte_offset(&mut self, address: &Address, extra: u32) -> Result<Index, EmitError> {
        if let Some(base) = address.object_address {
            let first = self.element_address(address, base, 1)?;
            return Ok(Index::Address(self.add_bytes(first, extra)));
        }
        let Some(offset) = address.offset else { return Ok(Index::Const(address.linear.constant.wrapping_add(extra))) };
        let offset = self.word(offset)?;
        Ok(Index::Expr(self.add_constant(offset, address.base.wrapping_add(extra))))
    }

    /// Adds a number of bytes to an address.
    fn add_bytes(&mut self, address: Expr, bytes: u32) -> Expr {
        if bytes == 0 {
            return address;
        }
        let bytes = self.b.scalar(Scalar::U64, u64::from(bytes));
        self.b.add(address, bytes)
    }

    /// Returns the address of an access in the memory at `base`, which has elements of `stride` bytes.
    fn element_address(&mut self, address: &Address, base: Expr, stride: u32) -> Result<Expr, EmitError> {
        if let Some(offset) = address.offset.filter(|&offset| self.function.ty(offset) == Type::I64) {
            let offset = self.one(offset)?;
            let sum = self.b.add(base, offset);
            return Ok(self.add_bytes(sum, address.base));
        }
        let index = match self.object_index(address, stride)? {
            Index::Expr(index) => index,
            Index::Const(index) => return Ok(self.add_bytes(base, index.wrapping_mul(stride))),
            Index::Address(address) => return Ok(address),
        };
        let mut bytes = self.b.convert(index, Scalar::U64);
        if stride > 1 {
            let amount = self.b.u32(stride.trailing_zeros());
            bytes = self.b.shl(bytes, amount);
        }
        Ok(self.b.add(base, bytes))
    }

    fn add_constant(&mut self, index: Expr, constant: u32) -> Expr {
        if constant == 0 {
            return index;
        }
        let constant = self.b.u32(constant);
        self.b.add(index, constant)
    }

    /// Adds `extra` elements of `stride` bytes to an index.
    fn offset_index(&mut self, index: Index, extra: u32, stride: u32) -> Index {
        match index {
            Index::Const(constant) => Index::Const(constant.wrapping_add(extra)),
            Index::Expr(expr) => Index::Expr(self.add_constant(expr, extra)),
            Index::Address(address) => Index::Address(self.add_bytes(address, extra.wrapping_mul(stride))),
        }
    }

    /// Returns the index of an access in elements of `stride` bytes (a power of two). The byte offset must be a
    /// multiple of `stride`.
    fn index(&mut self, address: &Address, stride: u32) -> Result<Index, EmitError> {
        match address.object_address {
            Some(base) => self.element_address(address, base, stride).map(Index::Address),
            None => self.object_index(address, stride),
        }
    }

    /// Like [`Self::index`], but the index is relative to the start of the object.
    fn object_index(&mut self, address: &Address, stride: u32) -> Result<Index, EmitError> {
        let linear = &address.linear;
        if linear.terms.is_empty() {
            return Ok(Index::Const(linear.constant / stride));
        }
        let shift = stride.trailing_zeros();
        let divides = linear.constant.is_multiple_of(stride) && linear.terms.iter().all(|&(_, scale)| scale.is_multiple_of(stride));
        if !divides {
            let Some(offset) = address.offset else { return Ok(Index::Const(linear.constant / stride)) };
            let offset = self.word(offset)?;
            let bytes = self.add_constant(offset, address.base);
            if shift == 0 {
                return Ok(Index::Expr(bytes));
            }
            let amount = self.b.u32(shift);
            return Ok(Index::Expr(self.b.shr(bytes, amount)));
        }
        let mut total: Option<Expr> = None;
        for &(value, scale) in &linear.terms {
            let term = self.word(value)?;
            // For negative scales, too, the arithmetic shift gives the index modulo 2^(32 - shift).
            let factor = ((scale as i32) >> shift) as u32;
            let term = if factor == 1 {
                term
            } else if factor.is_power_of_two() {
                let amount = self.b.u32(factor.trailing_zeros());
                self.b.shl(term, amount)
            } else {
                let factor = self.b.u32(factor);
                self.b.binary(BinaryOperator::Multiply, term, factor)
            };
            total = Some(match total {
                None => term,
                Some(before) => self.b.add(before, term),
            });
        }
        let total = match total {
            Some(total) => self.add_constant(total, ((linear.constant as i32) >> shift) as u32),
            None => return Ok(Index::Const(linear.constant / stride)),
        };
        // The index is correct modulo 2^(32 - shift). The mask is unnecessary if no term overflows for accesses within
        // the buffer. This holds if all factors have at most the absolute value MAX_PLAIN_SCALE, and the constant is at
        // least -MAX_PLAIN_SCALE. Without the mask, drivers recognise neighbouring accesses.
        let plain = linear.constant as i32 >= -(MAX_PLAIN_SCALE as i32)
            && linear.terms.iter().all(|&(_, scale)| (scale as i32).unsigned_abs() <= MAX_PLAIN_SCALE);
        if shift == 0 || plain {
            return Ok(Index::Expr(total));
        }
        let mask = self.b.u32(u32::MAX >> shift);
        Ok(Index::Expr(self.b.and(total, mask)))
    }

    /// Returns a pointer to an element of a view.
    fn element(&mut self, object: usize, key: ViewKey, index: Index) -> Result<Expr, EmitError> {
        let data = self.object(object)?;
        let view = data.view(key).ok_or_else(|| EmitError::Internal(format!("object {} has no view {key:?}", data.name)))?;
        let base = match view.variable {
            Variable::Global(global) => self.b.global_ptr(global),
            Variable::Function(ty) => {
                let variable = match self.arrays.get(&object) {
                    Some(&variable) => variable,
                    None => {
                        let variable = self.b.local(Some(data.name.clone()), ty);
                        self.arrays.insert(object, variable);
                        variable
                    }
                };
                self.b.local_ptr(variable)
            }
        };
        let index = match data.backing {
            Backing::Scratch { .. } => {
                let first = *self
                    .scratch_offsets
                    .get(&object)
                    .ok_or_else(|| EmitError::Internal(format!("{} has no scratch offset for this work-item", data.name)))?;
                Index::Expr(match index {
                    Index::Const(constant) => self.add_constant(first, constant),
                    Index::Expr(expr) | Index::Address(expr) => self.b.add(first, expr),
                })
            }
            _ => index,
        };
        // naga rejects constant out-of-bounds indices, which unreachable code may have. In an array without a length,
        // naga rejects the index 2^32 - 1.
        let last = match data.backing {
            Backing::Uniform { vectors, .. } => vectors.saturating_sub(1),
            Backing::Function(_) | Backing::Private | Backing::Workgroup => data.elements(key) - 1,
            _ => u32::MAX - 1,
        };
        Ok(match index {
            Index::Const(index) => self.b.element_at(base, index.min(last)),
            Index::Expr(index)
                if matches!(data.backing, Backing::Function(_) | Backing::Private) && self.cx.target.shaders.defects.late_indices =>
            {
                let index = self.opaque_index(index)?;
                self.b.element(base, index)
            }
            Index::Expr(index) | Index::Address(index) => self.b.element(base, index),
        })
    }

    /// Hides the origin of the index of a private array from the driver ([`Defects::late_indices`]). Otherwise the
    /// driver replaces the index with a variable of a loop or condition, even through copies and arithmetic. With
    /// 16-bit integers, the index is converted to 16 bits and back. The driver neither removes nor moves the
    /// conversions, and [`Limits::function_memory`] ensures that indices are below 2^16. Without 16-bit integers, the
    /// index is combined with a zero that is opaque to the driver.
    fn opaque_index(&mut self, index: Expr) -> Result<Expr, EmitError> {
        if self.cx.target.shaders.int16 {
            let short = self.b.convert(index, naga_u16());
            return Ok(self.b.convert(short, Scalar::U32));
        }
        let dimensions = self.item(OPAQUE_ZERO)?;
        let upper = self.b.u32(16);
        let zero = self.b.shr(dimensions, upper);
        Ok(self.b.binary(BinaryOperator::ExclusiveOr, index, zero))
    }

    pub(super) fn object(&self, index: usize) -> Result<&'a Object, EmitError> {
        self.cx.plan.objects.get(index).ok_or_else(|| EmitError::Internal(format!("no object {index}")))
    }

    /// Converts the value of an element to a raw lane, `u32` or `u64`.
    fn element_to_raw(&mut self, key: ViewKey, x: Expr) -> Expr {
        match (key.slot.kind, key.slot.width) {
            (_, 2) => self.b.convert(x, Scalar::U32),
            (ScalarKind::Uint, _) => x,
            (ScalarKind::Sint, width) => self.b.with_sign(x, ScalarKind::Uint, width),
            _ => self.b.bitcast(x, ScalarKind::Uint),
        }
    }

    fn raw_to_element(&mut self, key: ViewKey, x: Expr) -> Expr {
        match (key.slot.kind, key.slot.width) {
            (_, 2) => self.b.convert(x, naga_u16()),
            (ScalarKind::Uint, _) => x,
            (ScalarKind::Sint, width) => self.b.with_sign(x, ScalarKind::Sint, width),
            (kind, _) => self.b.bitcast(x, kind),
        }
    }

    // Loads

    pub(super) fn load(&mut self, pointer: Value, ty: Type, align: u32, volatile: bool) -> Result<Val, EmitError> {
        if matches!(ty, Type::Ptr(_)) {
            return Err(EmitError::unsupported("a load or store of a pointer"));
        }
        let address = self.address(pointer)?;
        if let Some(value) = self.constant_load(pointer, ty)? {
            return Ok(value);
        }
        let object = self.object(address.object)?;
        let shape = AccessShape::new(ty, align, Kind::Load, volatile, self.cx.target.pointer_size());
        if let Some(key) = object.natural(shape, self.cx.target) {
            return self.load_natural(&address, key, ty);
        }
        let raw = self.load_raw(&address, shape)?;
        self.lanes_of_raw(&raw, ty)
    }

    /// Returns the value of a load from a constant global at a constant offset. `None` for other loads.
    fn constant_load(&mut self, pointer: Value, ty: Type) -> Result<Option<Val>, EmitError> {
        let Some((Root::Global(global), offset)) = self.defs.pointer(pointer) else { return Ok(None) };
        let Some(data) = self.cx.globals.get(global.index()).filter(|data| data.space == crate::ir::Space::Constant) else {
            return Ok(None);
        };
        let Some(offset) = offset.map_or(Some(0), |offset| self.defs.scalar(offset)) else { return Ok(None) };
        let Some(scalar) = ty.scalar() else { return Ok(None) };
        let size = scalar.size() as usize;
        let start = offset as u32 as usize;
        let end = start + size * usize::from(ty.lanes());
        if end > data.size as usize || data.relocs.iter().any(|reloc| (reloc.at as usize) < end && start < reloc.at as usize + 8) {
            return Ok(None);
        }
        let zeros;
        let bytes = match &data.init {
            Some(init) => init.get(start..end),
            None => {
                zeros = vec![0; end - start];
                Some(&zeros[..])
            }
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let lanes: SmallVec<[u64; 16]> =
            bytes.chunks_exact(size).map(|lane| lane.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))).collect();
        Ok(Some(lanes.chunks(4).map(|chunk| self.b.lanes(super::builder::register(scalar), chunk)).collect()))
    }

    /// Loads whole elements of a view.
    fn load_natural(&mut self, address: &Address, key: ViewKey, ty: Type) -> Result<Val, EmitError> {
        let scalar = ty.scalar().ok_or_else(|| EmitError::Internal(format!("load of a {ty}")))?;
        let first = self.index(address, key.stride())?;
        let lanes = ty.lanes();
        let raw_scalar = if scalar.size() == 8 { Scalar::U64 } else { Scalar::U32 };
        let count = lanes.div_ceil(key.lanes);
        let mut parts = Scalars::new();
        for i in 0..count {
            let index = self.offset_index(first, u32::from(i), key.stride());
            let pointer = self.element(address.object, key, index)?;
            let x = self.b.load(pointer);
            // A vector of three lanes occupies four lanes in memory, so drop the fourth lane.
            let x = match (lanes, key.lanes, i) {
                (3, 4, _) => self.b.swizzle(x, &[0, 1, 2]),
                (3, 2, 1) => self.b.lane(x, 2, 0),
                _ => x,
            };
            let x = self.element_to_raw(key, x);
            parts.push(x);
        }
        // Combines scalars, or vectors of two lanes, into chunks of at most four lanes.
        let per_chunk = if lanes > key.lanes && key.lanes < 4 { usize::from(4 / key.lanes) } else { 1 };
        let chunk_lanes = super::builder::chunk_lanes(lanes);
        let chunks: Val = parts
            .chunks(per_chunk)
            .map(|group| {
                if group.len() == 1 {
                    return group[0];
                }
                let ty = self.b.shared.ty(raw_scalar, chunk_lanes);
                self.b.expr(Expression::Compose { ty, components: group.to_vec() })
            })
            .collect();
        chunks.into_iter().map(|chunk| self.chunk_of_raw(scalar, chunk_lanes, chunk)).collect()
    }

    /// Loads words or parts of words. Returns raw lanes.
    fn load_raw(&mut self, address: &Address, shape: AccessShape) -> Result<Scalars, EmitError> {
        let piece = u32::from(shape.piece());
        let bytes = shape.bytes();
        let mut pieces = Scalars::new();
        if piece == 4 {
            let words = bytes.div_ceil(4);
            let first = self.index(address, 4)?;
            let mut at = 0;
            while at < words {
                // One load from a uniform buffer gives four words, so use it for the next three or four words.
                if self.object(address.object)?.rule == Rule::Uniform && shape.align >= 16 && words - at >= 3 {
                    let vector = self.uniform_vector(address.object, first, at)?;
                    for lane in 0..(words - at).min(4) {
                        let word = self.b.lane(vector, 4, lane as u8);
                        pieces.push(word);
                    }
                    at += 4;
                    continue;
                }
                let index = self.offset_index(first, at, 4);
                let word = self.load_word(address.object, index)?;
                pieces.push(word);
                at += 1;
            }
        } else {
            let mut known: Option<(u32, Expr)> = None;
            // If an access has three bytes in pieces of two, the last piece reads one byte too many. That byte is in
            // the same word.
            for i in 0..bytes.div_ceil(piece) {
                let part = match self.byte_offset(address, i * piece)? {
                    Index::Const(offset) => {
                        let word = match known {
                            Some((index, word)) if index == offset / 4 => word,
                            _ => self.load_word(address.object, Index::Const(offset / 4))?,
                        };
                        known = Some((offset / 4, word));
                        self.bits_of(word, 4, offset % 4, piece)
                    }
                    Index::Expr(byte) | Index::Address(byte) => {
                        let (index, shift) = self.split_offset(byte, address.object_address.is_some());
                        let word = self.load_word(address.object, index)?;
                        let word = self.b.shr(word, shift);
                        self.bits_of(word, 4, 0, piece)
                    }
                };
                pieces.push(part);
            }
        }
        Ok(self.join(&pieces, piece, u32::from(shape.size), u32::from(shape.lanes)))
    }

    /// Splits a byte offset or address into the index or address of the word, and the shift of the byte in bits.
    fn split_offset(&mut self, byte: Expr, is_address: bool) -> (Index, Expr) {
        let (index, low) = if is_address {
            let mask = self.b.scalar(Scalar::U64, !3);
            (Index::Address(self.b.and(byte, mask)), self.b.convert(byte, Scalar::U32))
        } else {
            let two = self.b.u32(2);
            (Index::Expr(self.b.shr(byte, two)), byte)
        };
        let three = self.b.u32(3);
        let low = self.b.and(low, three);
        (index, self.b.shl(low, three))
    }

    fn load_word(&mut self, object: usize, index: Index) -> Result<Expr, EmitError> {
        let data = self.object(object)?;
        if data.rule == Rule::Uniform {
            let key = ViewKey { lanes: 4, ..ViewKey::WORDS };
            let pointer = match index {
                Index::Const(word) => {
                    let vector = self.element(object, key, Index::Const(word / 4))?;
                    self.b.element_at(vector, word % 4)
                }
                Index::Expr(word) => {
                    let two = self.b.u32(2);
                    let vector = self.b.shr(word, two);
                    let vector = self.element(object, key, Index::Expr(vector))?;
                    let three = self.b.u32(3);
                    let lane = self.b.and(word, three);
                    self.b.element(vector, lane)
                }
                Index::Address(_) => return Err(EmitError::Internal("uniform buffers have no address".to_owned())),
            };
            return Ok(self.b.load(pointer));
        }
        let key = data.words();
        let pointer = self.element(object, key, index)?;
        let x = self.b.load(pointer);
        Ok(self.element_to_raw(key, x))
    }

    /// Loads four words of a uniform buffer: the vector that is `extra / 4` vectors after the one with word `first`.
    fn uniform_vector(&mut self, object: usize, first: Index, extra: u32) -> Result<Expr, EmitError> {
        let index = match first {
            Index::Const(word) => Index::Const((word + extra) / 4),
            Index::Expr(word) => {
                let two = self.b.u32(2);
                let vector = self.b.shr(word, two);
                Index::Expr(self.add_constant(vector, extra / 4))
            }
            Index::Address(_) => return Err(EmitError::Internal("uniform buffers have no address".to_owned())),
        };
        let pointer = self.element(object, ViewKey { lanes: 4, ..ViewKey::WORDS }, index)?;
        Ok(self.b.load(pointer))
    }

    /// Loads a value from the argument buffer: a by-value parameter or a hidden value.
    pub(super) fn load_argument(&mut self, object: usize, offset: u32, ty: Type) -> Result<Val, EmitError> {
        let align = ty.scalar().map_or(1, crate::ir::Scalar::size) * u32::from(ty.lanes());
        let shape = AccessShape::new(ty, align.max(1).next_power_of_two(), Kind::Load, false, self.cx.target.pointer_size());
        let linear = Linear { constant: offset, terms: SmallVec::new() };
        let address = Address { object, linear, object_address: None, offset: None, base: offset };
        let raw = self.load_raw(&address, shape)?;
        self.lanes_of_raw(&raw, ty)
    }

    // Stores

    pub(super) fn store(&mut self, pointer: Value, value: Value, align: u32, volatile: bool) -> Result<(), EmitError> {
        let ty = self.function.ty(value);
        if matches!(ty, Type::Ptr(_)) {
            return Err(EmitError::unsupported("a load or store of a pointer"));
        }
        let address = self.address(pointer)?;
        let shape = AccessShape::new(ty, align, Kind::Store, volatile, self.cx.target.pointer_size());
        let object = self.object(address.object)?;
        let chunks = self.value(value)?;
        if let Some(key) = object.natural(shape, self.cx.target) {
            return self.store_natural(&address, key, ty, &chunks);
        }
        let raw = self.raw_of_lanes(&chunks, ty)?;
        self.store_raw(&address, shape, &raw)
    }

    fn store_natural(&mut self, address: &Address, key: ViewKey, ty: Type, chunks: &[Expr]) -> Result<(), EmitError> {
        let scalar = ty.scalar().ok_or_else(|| EmitError::Internal(format!("store of a {ty}")))?;
        let first = self.index(address, key.stride())?;
        let lanes = super::builder::chunk_lanes(ty.lanes());
        let per = lanes.div_ceil(key.lanes);
        for (c, &chunk) in chunks.iter().enumerate() {
            let raw = self.raw_of_chunk(scalar, lanes, chunk)?;
            let slot = self.raw_to_element(key, raw);
            if lanes == 3 && key.lanes == 4 {
                // Store the three lanes separately, because the fourth lane in memory must not be overwritten.
                let pointer = self.element(address.object, key, first)?;
                for lane in 0..3 {
                    let place = self.b.element_at(pointer, lane);
                    let part = self.b.lane(slot, 3, lane as u8);
                    self.b.store(place, part);
                }
                continue;
            }
            for i in 0..per {
                let index = self.offset_index(first, c as u32 * u32::from(per) + u32::from(i), key.stride());
                let pointer = self.element(address.object, key, index)?;
                let part = match (key.lanes, lanes) {
                    (1, _) => self.b.lane(slot, lanes, i),
                    (2, 4) => self.b.swizzle(slot, &[i * 2, i * 2 + 1]),
                    _ => slot,
                };
                self.b.store(pointer, part);
            }
        }
        Ok(())
    }

    /// Stores raw lanes as words or parts of words.
    fn store_raw(&mut self, address: &Address, shape: AccessShape, raw: &[Expr]) -> Result<(), EmitError> {
        let piece = u32::from(shape.piece());
        let size = u32::from(shape.size);
        let pieces = self.split(raw, size, piece);
        let bytes = shape.bytes();
        if piece == 4 {
            let first = self.index(address, 4)?;
            for (i, &word) in pieces.iter().enumerate() {
                let index = self.offset_index(first, i as u32, 4);
                let rest = bytes - i as u32 * 4;
                if rest >= 4 {
                    self.store_word(address.object, index, word)?;
                } else {
                    let mask = self.b.u32((1 << (rest * 8)) - 1);
                    self.store_bits(address.object, index, mask, word)?;
                }
            }
            return Ok(());
        }
        for (i, &part) in pieces.iter().enumerate() {
            // A single byte with an alignment of two must not overwrite the next byte.
            let count = (bytes - i as u32 * piece).min(piece);
            let low = (1_u32 << (count * 8)) - 1;
            match self.byte_offset(address, i as u32 * piece)? {
                Index::Const(offset) => {
                    let shift = offset % 4 * 8;
                    let mask = self.b.u32(low << shift);
                    let amount = self.b.u32(shift);
                    let bits = if shift == 0 { part } else { self.b.shl(part, amount) };
                    self.store_bits(address.object, Index::Const(offset / 4), mask, bits)?;
                }
                Index::Expr(byte) | Index::Address(byte) => {
                    let (index, shift) = self.split_offset(byte, address.object_address.is_some());
                    let low = self.b.u32(low);
                    let mask = self.b.shl(low, shift);
                    let bits = self.b.shl(part, shift);
                    self.store_bits(address.object, index, mask, bits)?;
                }
            }
        }
        Ok(())
    }

    fn store_word(&mut self, object: usize, index: Index, word: Expr) -> Result<(), EmitError> {
        let key = self.object(object)?.words();
        let pointer = self.element(object, key, index)?;
        let word = self.raw_to_element(key, word);
        self.b.store(pointer, word);
        Ok(())
    }

    /// Replaces the bits of `mask` in a word. The store is atomic if other work-items may write the word.
    fn store_bits(&mut self, object: usize, index: Index, mask: Expr, bits: Expr) -> Result<(), EmitError> {
        let data = self.object(object)?;
        let Some(key) = data.partial_words() else {
            let key = data.words();
            let pointer = self.element(object, key, index)?;
            let old = self.b.load(pointer);
            let keep = self.b.unary(naga::UnaryOperator::BitwiseNot, mask);
            let old = self.b.and(old, keep);
            let new = self.b.or(old, bits);
            self.b.store(pointer, new);
            return Ok(());
        };
        let helper = self.cx.masked_stores.get(&(object, key)).copied();
        let Some(function) = helper else {
            return Err(EmitError::Internal(format!("no function for masked stores to {}", data.name)));
        };
        let index = match index {
            Index::Const(constant) => self.b.u32(constant),
            Index::Expr(expr) | Index::Address(expr) => expr,
        };
        self.b.stmt(Statement::Call { function, arguments: vec![index, mask, bits], result: None });
        Ok(())
    }
}
