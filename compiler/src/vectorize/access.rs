//! Loads and stores: scalar for uniform addresses, vectors for contiguous addresses, otherwise gathers and scatters, or
//! scalar accesses for each active lane.
//!
//! Components that together fill 32- or 64-bit words are accessed as words. A gather of aligned bytes or 16-bit words
//! loads the aligned 32-bit words that contain them, so that it never crosses a page boundary.

use smallvec::{SmallVec, smallvec};
use std::mem::offset_of;
use wgcl_codegen::vir::{Addr, BinOp as VBin, CastOp as VCast, Mem, Op as VOp, Type as Register, Value as V};

use super::abi::LaunchContext;
use super::private::Place;
use super::scalarize::{LaneOperand, Repeat};
use super::shape::{Mode, elem};
use super::uniformity::LaneShape;
use super::value::{Comps, Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::internal::internal;
use crate::ir::{Global, Scalar, Space, Type, Value, Var};

/// The largest number of components of a store whose code for one lane is so short that it is repeated for all lanes.
const SHORT_STORE: usize = 2;

/// The address of an access.
#[derive(Clone, Debug)]
pub(super) enum Address {
    Uniform(V),
    /// The address of lane 0, and the stride in bytes from lane to lane.
    Linear(V, i64),
    /// Signed 32-bit offsets from one address.
    Based(V, Regs),
    Wide(Regs),
    /// An address in a variable in element-major layout ([`Val::ElementMajor`]).
    ElementMajor(V, Option<Regs>),
}

/// An index that is `(number << shift) + offset`.
#[derive(Clone, Copy)]
struct IndexParts {
    number: V,
    shift: u32,
    offset: u32,
}

/// Returns the memory format of a scalar.
pub(super) const fn memory(of: Scalar) -> Mem {
    match of {
        Scalar::I8 | Scalar::Bool => Mem::I8,
        Scalar::I16 | Scalar::F16 => Mem::I16,
        _ => Mem::Elem(elem(of)),
    }
}

impl Vectorizer<'_> {
    /// Returns the address in a pointer.
    pub(super) fn address(&mut self, pointer: Value) -> Address {
        match self.val(pointer) {
            Val::Uniform(list) => Address::Uniform(list[0]),
            Val::Linear(first, stride) => Address::Linear(first, stride),
            Val::Based(base, offsets) => Address::Based(base, offsets),
            Val::ElementMajor(base, offsets) => Address::ElementMajor(base, offsets),
            Val::Varying(mut comps) => Address::Wide(comps.swap_remove(0)),
        }
    }

    /// Computes the address plus `disp` bytes.
    fn displaced(&mut self, address: &Address, disp: u32) -> Address {
        if disp == 0 {
            return address.clone();
        }
        let by = self.i64(u64::from(disp));
        match address {
            Address::Uniform(base) => Address::Uniform(self.op(Register::I64, VOp::Bin(VBin::Add, *base, by))),
            Address::Linear(base, stride) => Address::Linear(self.op(Register::I64, VOp::Bin(VBin::Add, *base, by)), *stride),
            Address::Based(base, offsets) => Address::Based(self.op(Register::I64, VOp::Bin(VBin::Add, *base, by)), offsets.clone()),
            Address::Wide(regs) => Address::Wide(self.bin_const(VBin::Add, Scalar::I64, Mode::Varying, regs, u64::from(disp))),
            Address::ElementMajor(base, offsets) => {
                let by = self.i64(u64::from(disp * self.shape.lanes));
                Address::ElementMajor(self.op(Register::I64, VOp::Bin(VBin::Add, *base, by)), offsets.clone())
            }
        }
    }

    /// Computes the addresses of an element of a variable in element-major layout. They are contiguous without
    /// `offsets`. Otherwise, `offsets` contains one offset for each lane.
    fn element_major_address(&mut self, base: V, offsets: Option<&Regs>, size: u32) -> Address {
        let Some(offsets) = offsets else { return Address::Linear(base, i64::from(size)) };
        let scaled = self.bin_const(VBin::Shl, Scalar::I32, Mode::Varying, offsets, u64::from(self.shape.lanes.trailing_zeros()));
        let steps = self.steps(Scalar::I32, i64::from(size));
        Address::Based(base, self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &scaled, &steps))
    }

    /// Defines `result` as the address of a variable.
    pub(super) fn var_addr(&mut self, result: Value, var: Var) {
        let at = match self.frame.private.vars[var.index()] {
            Place::ItemMajor(at) => at,
            Place::ElementMajor { at, .. } => {
                let (rows, by) = (self.frame.element_major, self.i64(u64::from(at * self.shape.lanes)));
                let base = self.op(Register::I64, VOp::Bin(VBin::Add, rows, by));
                return self.define(result, Val::ElementMajor(base, None));
            }
        };
        let (variables, by) = (self.frame.variables, self.i64(u64::from(at)));
        let first = self.op(Register::I64, VOp::Bin(VBin::Add, variables, by));
        let stride = i64::from(self.frame.private.stride);
        let val = match self.uniformity.lane_shape(result) {
            LaneShape::Linear(_) => Val::Linear(first, stride),
            LaneShape::Varying => {
                let val = Val::Linear(first, stride);
                Val::Varying(self.comps_of(&val, Type::Ptr(Space::Private), Mode::Varying))
            }
            _ => Val::Uniform(smallvec![first]),
        };
        self.define(result, val);
    }

    /// Computes the address of a global of the module.
    pub(super) fn global_addr(&mut self, global: Global) -> Lowered<V> {
        let object = self.module.globals.get(global.index()).ok_or_else(|| internal!("no object {global}"))?;
        let (base, at) = match object.space {
            Space::Local => (self.frame.local_base, self.frame.local.globals[global.index()]),
            space => {
                let offset =
                    if space == Space::Constant { offset_of!(LaunchContext, constants) } else { offset_of!(LaunchContext, variables) };
                (self.launch_address(offset), self.frame.local.program.offsets[global.index()])
            }
        };
        let by = self.i64(u64::from(at));
        Ok(self.op(Register::I64, VOp::Bin(VBin::Add, base, by)))
    }

    pub(super) fn ptr_add(&mut self, result: Value, base: Value, offset: Value) {
        let narrow = scalar(self.ir_ty(offset)) != Scalar::I64;
        let lane_shape = self.uniformity.lane_shape(result);
        if let LaneShape::Uniform | LaneShape::Linear(_) = lane_shape {
            let base = self.first(base);
            let sum = match self.add_to_basis(base, offset, lane_shape) {
                Some(sum) => sum,
                None => self.add_offset(base, offset),
            };
            self.define(
                result,
                if let LaneShape::Linear(stride) = lane_shape { Val::Linear(sum, stride) } else { Val::Uniform(smallvec![sum]) },
            );
            return;
        }
        let uniform = matches!(self.uniformity.lane_shape(offset), LaneShape::Uniform);
        let val = match self.val(base) {
            Val::ElementMajor(base, offsets) => self.add_element_major(base, offsets, offset),
            Val::Based(base, offsets) if uniform => Val::Based(self.add_offset(base, offset), offsets),
            Val::Based(base, offsets) if narrow => {
                let more = self.regs(offset, Mode::Varying);
                Val::Based(base, self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &offsets, &more))
            }
            Val::Uniform(list) if narrow => Val::Based(list[0], self.regs(offset, Mode::Varying)),
            Val::Linear(first, stride) if narrow => {
                let (steps, more) = (self.steps(Scalar::I32, stride), self.regs(offset, Mode::Varying));
                Val::Based(first, self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &steps, &more))
            }
            _ => {
                let base = self.regs(base, Mode::Varying);
                let more = self.regs(offset, Mode::Varying);
                let more = if narrow { self.widen(VCast::SExt, Scalar::I64, Mode::Varying, &more) } else { more };
                Val::Varying(smallvec![self.bin_regs(VBin::Add, Scalar::I64, Mode::Varying, &base, &more)])
            }
        };
        self.define(result, val);
    }

    /// Adds an IR value to a pointer into a variable in element-major layout.
    fn add_element_major(&mut self, base: V, offsets: Option<Regs>, offset: Value) -> Val {
        if self.is_uniform(offset) {
            let zero = self.i64(0);
            let by = self.add_offset(zero, offset);
            let by = match self.constant_bits(by) {
                Some(bits) => self.i64(bits.wrapping_mul(u64::from(self.shape.lanes))),
                None => {
                    let lanes = self.i64(u64::from(self.shape.lanes.trailing_zeros()));
                    self.op(Register::I64, VOp::Bin(VBin::Shl, by, lanes))
                }
            };
            return Val::ElementMajor(self.op(Register::I64, VOp::Bin(VBin::Add, base, by)), offsets);
        }
        let mut more = self.regs(offset, Mode::Varying);
        if scalar(self.ir_ty(offset)) == Scalar::I64 {
            more = self.narrow(VCast::Trunc, Scalar::I32, Mode::Varying, &more);
        }
        let sum = match offsets {
            Some(offsets) => self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &offsets, &more),
            None => more,
        };
        Val::ElementMajor(base, Some(sum))
    }

    /// Computes an address plus a uniform IR value, or plus lane 0 of a linear IR value.
    fn add_offset(&mut self, base: V, offset: Value) -> V {
        if let Some(bits) = self.uniformity.definitions().scalar(offset) {
            let by = scalar(self.ir_ty(offset)).sign_extend(bits);
            let by = self.i64(by.cast_unsigned());
            return self.op(Register::I64, VOp::Bin(VBin::Add, base, by));
        }
        let mut by = self.first(offset);
        if scalar(self.ir_ty(offset)) != Scalar::I64 {
            by = self.op(Register::I64, VOp::Cast(VCast::SExt, by));
        }
        self.op(Register::I64, VOp::Bin(VBin::Add, base, by))
    }

    pub(super) fn load(&mut self, result: Value, pointer: Value, align: u32) -> Lowered<()> {
        let ty = self.ir_ty(result);
        let (of, count) = (scalar(ty), u32::from(ty.lanes()));
        let address = self.address(pointer);
        self.note_access(pointer);
        if let Address::Uniform(base) = address {
            let mut list: SmallVec<[V; 4]> = SmallVec::new();
            for index in 0..count {
                let addr = Addr::offset(base, (index * of.size()).cast_signed());
                list.push(self.emit(self.shape.register(of, Mode::Uniform), VOp::Load(memory(of), addr)));
            }
            self.note_zero_extended(of, &list);
            let val = Val::Uniform(list);
            let val = if self.uniformity.lane_shape(result) == LaneShape::Varying {
                Val::Varying(self.comps_of(&val, ty, Mode::Varying))
            } else {
                val
            };
            self.define(result, val);
            return Ok(());
        }
        if self.load_aos(result, &address) {
            return Ok(());
        }
        let comps = match &address {
            Address::Based(base, offsets) if count == 1 && align >= of.size() && self.is_speculatively_contiguous(pointer, of.size()) => {
                let fallback = &mut |this: &mut Self| this.load_varying(&address, of, 1, align).swap_remove(0);
                smallvec![self.load_speculative(*base, offsets, of, fallback)]
            }
            _ => self.load_varying(&address, of, count, align),
        };
        self.define_varying(result, comps);
        self.load_packed(result, &address);
        Ok(())
    }

    /// Loads components that are contiguous in memory, for each lane from its own address.
    fn load_varying(&mut self, address: &Address, of: Scalar, count: u32, align: u32) -> Comps {
        if let Address::ElementMajor(..) = address {
            let size = of.size();
            return (0..count)
                .map(|index| {
                    let Address::ElementMajor(base, offsets) = self.displaced(address, index * size) else { return Regs::new() };
                    let place = self.element_major_address(base, offsets.as_ref(), size);
                    if offsets.is_some() {
                        return self.load_varying(&place, of, 1, size).swap_remove(0);
                    }
                    self.without_mask(|this| this.load_varying(&place, of, 1, size).swap_remove(0))
                })
                .collect();
        }
        let (size, total) = (of.size(), of.size() * count);
        // Whole vectors contain the gaps between the components of work-items. Without cheap shuffles, they also need
        // one shuffle more per register.
        let is_sparse = matches!(address, Address::Linear(_, stride) if stride.unsigned_abs() >= 2 * u64::from(total));
        if (is_sparse || !self.shape.isa.caps().has_cheap_shuffles)
            && let Some(comps) = self.load_transposed(address, of, count)
        {
            return comps;
        }
        if let Some(comps) = self.load_interleaved(address, of, count, align) {
            return comps;
        }
        if let Some(comps) = self.load_transposed(address, of, count) {
            return comps;
        }
        if let Some(comps) = self.load_rows(address, of, count, align) {
            return comps;
        }
        let word = word_type(size, total);
        if let Address::Linear(first, stride) = *address {
            if count == 1 && stride == i64::from(size) {
                return smallvec![self.load_contiguous(first, of)];
            }
            if let Some(word) = word.filter(|word| stride == i64::from(word.size()) && total == word.size()) {
                let wide = self.load_contiguous(first, word);
                return self.bitcast(word, of, Mode::Varying, &[wide]);
            }
        }
        if let Some(word) = word {
            let wide: Comps = (0..total / word.size())
                .map(|index| {
                    let place = self.displaced(address, index * word.size());
                    self.gather(&place, word)
                })
                .collect();
            return self.bitcast(word, of, Mode::Varying, &wide);
        }
        (0..count)
            .map(|index| {
                let place = self.displaced(address, index * size);
                match size {
                    4 | 8 => self.gather(&place, of),
                    _ if align >= size => self.gather_narrow(&place, of),
                    _ => self.load_each(&place, of),
                }
            })
            .collect()
    }

    /// Loads one element for each lane. The elements are contiguous in memory.
    pub(super) fn load_contiguous(&mut self, first: V, of: Scalar) -> Regs {
        let ty = self.shape.register(of, Mode::Varying);
        let masks = self.masks.exec.clone().map(|masks| self.masks_for(of, &masks));
        let bytes = u32::from(ty.lanes()) * of.size();
        let regs: Regs = (0..self.shape.registers(of, Mode::Varying))
            .map(|index| {
                let addr = Addr::offset(first, (index as u32 * bytes).cast_signed());
                let mask = masks.as_ref().map(|masks| masks[index]);
                self.emit(ty, VOp::LoadVector { mem: memory(of), addr, mask })
            })
            .collect();
        self.note_zero_extended(of, &regs);
        regs
    }

    /// Returns the base of an address, the index of each lane, and whether the indices have 64 bits.
    fn indices(&mut self, address: &Address) -> (Option<V>, Regs, bool) {
        match address {
            Address::Uniform(base) => (Some(*base), self.number(Scalar::I32, Mode::Varying, 0), false),
            Address::Linear(base, stride) => (Some(*base), self.steps(Scalar::I32, *stride), false),
            Address::Based(base, offsets) => (Some(*base), offsets.clone(), false),
            Address::Wide(regs) => (None, regs.clone(), true),
            Address::ElementMajor(base, _) => (Some(*base), self.number(Scalar::I32, Mode::Varying, 0), false),
        }
    }

    /// Gathers 32- or 64-bit elements.
    fn gather(&mut self, address: &Address, of: Scalar) -> Regs {
        let ty = self.shape.register(of, Mode::Varying);
        let masks = self.masks.exec.clone().map(|masks| self.masks_for(of, &masks));
        let (base, mut lists) = self.indices_for(address, of);
        let (base, scale) = match base {
            Some(base) => {
                let (base, scale) = self.scaled_index(base, &mut lists);
                (Some(base), scale)
            }
            None => (None, 1),
        };
        lists
            .into_iter()
            .enumerate()
            .map(|(number, index)| {
                let mask = masks.as_ref().map(|masks| masks[number]);
                self.emit(ty, VOp::Gather { elem: elem(of), base, index, scale, mask })
            })
            .collect()
    }

    /// Moves a constant term of all indices to the base, and a shift of all indices to the scale of the gather, which
    /// cost nothing. Returns the new base and the scale.
    fn scaled_index(&mut self, base: V, lists: &mut [SmallVec<[V; 2]>]) -> (V, u8) {
        let parts: Option<Vec<IndexParts>> = lists.iter().flatten().map(|&index| self.index_parts(index)).collect();
        let Some(parts) = parts.filter(|_| self.shape.isa.caps().has_scaled_gathers) else { return (base, 1) };
        let Some(&IndexParts { shift, offset, .. }) = parts.first() else { return (base, 1) };
        if parts.iter().any(|part| (part.shift, part.offset) != (shift, offset)) {
            return (base, 1);
        }
        lists.iter_mut().flatten().zip(&parts).for_each(|(index, part)| *index = part.number);
        let offset = self.i64(u64::from(offset));
        (self.op(Register::I64, VOp::Bin(VBin::Add, base, offset)), 1 << shift)
    }

    /// Returns the parts of a vector of 32-bit indices, or `None` if the index may wrap around.
    fn index_parts(&self, index: V) -> Option<IndexParts> {
        let constant = |value: V| self.constant_bits(value).and_then(|bits| u32::try_from(bits).ok());
        let (mut number, mut shift, mut offset) = (index, 0, 0);
        if let Some(&VOp::Bin(VBin::Add, a, by)) = self.b.op(number)
            && let Some(by) = constant(by)
        {
            (number, offset) = (a, by);
        }
        if let Some(&VOp::Bin(VBin::Shl, a, by)) = self.b.op(number)
            && let Some(by @ 1..=3) = constant(by)
        {
            (number, shift) = (a, by);
        }
        let most = match self.b.op(number)? {
            VOp::Bin(VBin::And, _, mask) => constant(*mask)?,
            VOp::Bin(VBin::LShr, _, by) => u32::MAX >> constant(*by)?.min(31),
            _ => return None,
        };
        let end = (u64::from(most) << shift) + u64::from(offset);
        (end < 1 << 31).then_some(IndexParts { number, shift, offset })
    }

    /// Returns the base of an address, and the index vectors for each register of an access.
    fn indices_for(&mut self, address: &Address, of: Scalar) -> (Option<V>, Vec<SmallVec<[V; 2]>>) {
        let (base, index, wide) = self.indices(address);
        let parts = (self.shape.lanes32() / self.shape.lanes64()) as usize;
        let lists = match (wide, elem(of).bits()) {
            (false, 32) | (true, 64) => index.into_iter().map(|index| smallvec![index]).collect(),
            (true, _) => index.chunks(parts).map(SmallVec::from_slice).collect(),
            (false, _) => {
                let index = self.widen(VCast::SExt, Scalar::I64, Mode::Varying, &index);
                index.into_iter().map(|index| smallvec![index]).collect()
            }
        };
        (base, lists)
    }

    /// Gathers bytes or 16-bit words at aligned addresses: loads the aligned 32-bit words and extracts the bits.
    fn gather_narrow(&mut self, address: &Address, of: Scalar) -> Regs {
        let mode = Mode::Varying;
        let (base, index, wide) = self.indices(address);
        let (place, low) = if wide {
            let low = self.bin_const(VBin::And, Scalar::I64, mode, &index, 3);
            let place = self.bin_regs(VBin::Sub, Scalar::I64, mode, &index, &low);
            (Address::Wide(place), self.narrow(VCast::Trunc, Scalar::I32, mode, &low))
        } else {
            let base = base.unwrap_or_else(|| self.i64(0));
            let start = self.op(Register::I32, VOp::Cast(VCast::Trunc, base));
            let start = self.splat(start, Scalar::I32);
            let sum = self.bin_regs(VBin::Add, Scalar::I32, mode, &index, &start);
            let low = self.bin_const(VBin::And, Scalar::I32, mode, &sum, 3);
            let place = self.bin_regs(VBin::Sub, Scalar::I32, mode, &index, &low);
            (Address::Based(base, place), low)
        };
        let words = self.gather(&place, Scalar::I32);
        let by = self.bin_const(VBin::Shl, Scalar::I32, mode, &low, 3);
        let shifted = self.bin_regs(VBin::LShr, Scalar::I32, mode, &words, &by);
        self.zero_extend(of, mode, &shifted)
    }

    /// Computes the 64-bit addresses of all lanes.
    pub(super) fn lane_addresses(&mut self, address: &Address) -> Regs {
        let ty = Type::Ptr(Space::Generic);
        let val = match address {
            Address::Uniform(base) => Val::Uniform(smallvec![*base]),
            Address::Linear(base, stride) => Val::Linear(*base, *stride),
            Address::Based(base, offsets) => Val::Based(*base, offsets.clone()),
            Address::ElementMajor(base, offsets) => Val::ElementMajor(*base, offsets.clone()),
            Address::Wide(regs) => return regs.clone(),
        };
        self.comps_of(&val, ty, Mode::Varying).swap_remove(0)
    }

    /// Loads with one scalar load for each active lane.
    fn load_each(&mut self, address: &Address, of: Scalar) -> Regs {
        let address = self.address_operand(address);
        let ty = Register::Scalar(elem(of));
        self.each_lane_of(&[address], Some(of), Repeat::Unrolled, &mut |this, scalars, _| {
            Some(this.emit(ty, VOp::Load(memory(of), Addr::of(scalars[0]))))
        })
    }

    pub(super) fn store(&mut self, pointer: Value, value: Value) -> Lowered<()> {
        let ty = self.ir_ty(value);
        let (of, count) = (scalar(ty), u32::from(ty.lanes()));
        let address = self.address(pointer);
        self.note_access(pointer);
        if let Address::Uniform(base) = address
            && (self.shape.lanes == 1 || matches!(self.val(value), Val::Uniform(_)))
        {
            let comps = self.comps(value, Mode::Uniform);
            for (index, regs) in (0..count).zip(comps) {
                let addr = Addr::offset(base, (index * of.size()).cast_signed());
                self.b.effect(VOp::Store(memory(of), addr, regs[0]));
            }
            return Ok(());
        }
        if self.store_aos(&address, value) || self.store_packed(&address, value) {
            return Ok(());
        }
        let comps = self.comps(value, Mode::Varying);
        match (&address, &*comps) {
            (Address::Based(base, offsets), [regs]) if self.is_speculatively_contiguous(pointer, of.size()) => {
                let fallback = &mut |this: &mut Self| this.store_varying(&address, of, &comps);
                self.store_speculative((*base, offsets), of, regs, fallback);
            }
            _ => self.store_varying(&address, of, &comps),
        }
        Ok(())
    }

    fn store_varying(&mut self, address: &Address, of: Scalar, comps: &[Regs]) {
        if let Address::ElementMajor(..) = address {
            for (index, regs) in (0_u32..).zip(comps) {
                if let Address::ElementMajor(base, offsets) = self.displaced(address, index * of.size()) {
                    let place = self.element_major_address(base, offsets.as_ref(), of.size());
                    if offsets.is_some() {
                        self.store_varying(&place, of, std::slice::from_ref(regs));
                    } else {
                        self.store_private_contiguous(&place, of, regs);
                    }
                }
            }
            return;
        }
        if self.store_interleaved(address, of, comps) {
            return;
        }
        let (size, total) = (of.size(), of.size() * comps.len() as u32);
        let word = word_type(size, total);
        if let Address::Linear(first, stride) = *address {
            if let [regs] = comps
                && stride == i64::from(size)
            {
                return self.store_contiguous(first, of, regs);
            }
            if let Some(word) = word.filter(|word| stride == i64::from(word.size()) && total == word.size()) {
                let wide = self.bitcast(of, word, Mode::Varying, comps);
                return self.store_contiguous(first, word, &wide[0]);
            }
        }
        if !self.shape.isa.caps().has_scatter || matches!(address, Address::Uniform(_)) || size < 4 && word.is_none() {
            return self.store_each(address, of, comps);
        }
        let word = word.unwrap_or(of);
        let wide = if word == of { comps.iter().cloned().collect() } else { self.bitcast(of, word, Mode::Varying, comps) };
        for (index, regs) in (0_u32..).zip(&wide) {
            let place = self.displaced(address, index * word.size());
            self.scatter(&place, word, regs);
        }
    }

    /// Runs `f` without an execution mask, as if all lanes were active.
    fn without_mask<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let exec = self.masks.exec.take();
        let made = f(self);
        self.masks.exec = exec;
        made
    }

    /// Stores to private memory in element-major layout. Inactive lanes store their old value again, which is faster
    /// than a masked store on some processors. This is safe because the memory exists for all lanes and no other thread
    /// accesses it.
    fn store_private_contiguous(&mut self, place: &Address, of: Scalar, regs: &[V]) {
        let merged = self.masks.exec.clone().map(|masks| {
            let old = self.without_mask(|this| this.load_varying(place, of, 1, of.size()).swap_remove(0));
            self.select_regs(of, Mode::Varying, &masks, regs, &old)
        });
        let regs = merged.unwrap_or_else(|| SmallVec::from_slice(regs));
        self.without_mask(|this| this.store_varying(place, of, std::slice::from_ref(&regs)));
    }

    /// Stores one element for each lane. The elements are contiguous in memory.
    pub(super) fn store_contiguous(&mut self, first: V, of: Scalar, regs: &[V]) {
        let masks = self.masks.exec.clone().map(|masks| self.masks_for(of, &masks));
        let bytes = u32::from(self.shape.register(of, Mode::Varying).lanes()) * of.size();
        for (index, &value) in regs.iter().enumerate() {
            let addr = Addr::offset(first, (index as u32 * bytes).cast_signed());
            let mask = masks.as_ref().map(|masks| masks[index]);
            self.b.effect(VOp::StoreVector { mem: memory(of), addr, value, mask });
        }
    }

    fn scatter(&mut self, address: &Address, of: Scalar, regs: &[V]) {
        let masks = self.masks.exec.clone().map(|masks| self.masks_for(of, &masks));
        let (base, lists) = self.indices_for(address, of);
        for (number, (index, &value)) in lists.into_iter().zip(regs).enumerate() {
            let mask = masks.as_ref().map(|masks| masks[number]);
            self.b.effect(VOp::Scatter { elem: elem(of), base, index, scale: 1, value, mask });
        }
    }

    fn store_each(&mut self, address: &Address, of: Scalar, comps: &[Regs]) {
        let mut operands = vec![self.address_operand(address)];
        operands.extend(comps.iter().map(|regs| LaneOperand::Lanes(of, regs.clone())));
        let repeat = if comps.len() <= SHORT_STORE { Repeat::Unrolled } else { Repeat::Loop };
        self.each_lane_of(&operands, None, repeat, &mut |this, scalars, _| {
            for (index, &value) in (0_u32..).zip(&scalars[1..]) {
                let addr = Addr::offset(scalars[0], (index * of.size()).cast_signed());
                this.b.effect(VOp::Store(memory(of), addr, value));
            }
            None
        });
    }

    /// Lowers `copy`, or `zero` if `src` is `None`.
    pub(super) fn copy(&mut self, dst: Value, src: Option<Value>, size: u32) -> Lowered<()> {
        let uniform = |this: &mut Self, value: Value| matches!(this.address(value), Address::Uniform(_));
        let once = self.shape.lanes == 1 || uniform(self, dst) && src.is_none_or(|src| uniform(self, src));
        if once {
            let (dst, src) = (self.first(dst), src.map(|src| self.first(src)));
            self.copy_bytes(dst, src, size);
            return Ok(());
        }
        let mut operands = Vec::new();
        for value in [Some(dst), src].into_iter().flatten() {
            let address = self.address(value);
            operands.push((Scalar::I64, self.lane_addresses(&address)));
        }
        self.each_lane(&operands, None, &mut |this, scalars, _| {
            this.copy_bytes(scalars[0], scalars.get(1).copied(), size);
            None
        });
        Ok(())
    }

    /// Copies or zeroes bytes at scalar addresses. The code is unrolled for up to `FEW` bytes.
    fn copy_bytes(&mut self, dst: V, src: Option<V>, size: u32) {
        const FEW: u32 = 128;
        let (dst, src, rest) = if size <= FEW { (dst, src, 0) } else { self.copy_loop(dst, src, size) };
        let mut at = rest;
        while at < size {
            let (mem, ty) = match size - at {
                8.. => (Mem::Elem(wgcl_codegen::vir::Elem::I64), Register::I64),
                4..8 => (Mem::Elem(wgcl_codegen::vir::Elem::I32), Register::I32),
                2..4 => (Mem::I16, Register::I32),
                _ => (Mem::I8, Register::I32),
            };
            let disp = (at - rest).cast_signed();
            let value = match src {
                Some(src) => self.emit(ty, VOp::Load(mem, Addr::offset(src, disp))),
                None => self.bits(ty, 0),
            };
            self.b.effect(VOp::Store(mem, Addr::offset(dst, disp), value));
            at += mem.bytes();
        }
    }

    /// Copies or zeroes 64-bit words in a loop. Returns the addresses after the last word, and the number of bytes
    /// copied or zeroed.
    fn copy_loop(&mut self, dst: V, src: Option<V>, size: u32) -> (V, Option<V>, u32) {
        use wgcl_codegen::vir::{CmpOp, Cond, Elem, Target, Terminator};
        let (header, exit) = (self.b.block(), self.b.block());
        let (mem, whole, zero) = (Mem::Elem(Elem::I64), size / 8 * 8, self.i64(0));
        self.open_loop(header, [zero]);
        let depth = self.depth();
        let at = self.block_param(header, Register::I64, depth);
        let place = |base: V| Addr { base, index: Some((at, 1)), disp: 0 };
        let value = src.map_or(zero, |src| self.emit(Register::I64, VOp::Load(mem, place(src))));
        self.b.effect(VOp::Store(mem, place(dst), value));
        let (eight, end) = (self.i64(8), self.i64(u64::from(whole)));
        let next = self.emit(Register::I64, VOp::Bin(VBin::Add, at, eight));
        self.b.end(Terminator::Branch(Cond::Cmp(CmpOp::ULt, next, end), Target::new(header, [next]), Target::new(exit, [])));
        self.close_loop();
        self.b.enter(exit);
        let advance = |this: &mut Self, base: V| this.emit(Register::I64, VOp::Bin(VBin::Add, base, end));
        (advance(self, dst), src.map(|src| advance(self, src)), whole)
    }

    /// Whether a value is known to be equal in all lanes.
    pub(super) fn is_uniform(&self, value: Value) -> bool {
        matches!(self.uniformity.lane_shape(value), LaneShape::Uniform | LaneShape::Unknown)
    }

    /// Returns the address space of a pointer.
    pub(super) fn space(&self, pointer: Value) -> Space {
        match self.ir_ty(pointer) {
            Type::Ptr(space) => space,
            _ => Space::Generic,
        }
    }
}

/// Returns the word type for an access to components of `size` bytes, `total` bytes together. Returns `None` if the
/// components do not fill such words.
pub(super) const fn word_type(size: u32, total: u32) -> Option<Scalar> {
    match total {
        8 if size < 8 => Some(Scalar::I64),
        _ if size < 4 && total.is_multiple_of(4) => Some(Scalar::I32),
        _ => None,
    }
}
