//! Interleaved accesses: the components of neighbouring work-items are adjacent in memory. The code loads and stores
//! whole vectors, and deinterleaves their lanes by component.
//!
//! ```text
//! memory      x0 y0 x1 y1  x2 y2 x3 y3        two vectors
//! registers   x0 x1 x2 x3  y0 y1 y2 y3        one shuffle per register
//! ```
//! For `n` components, this takes `n` accesses and `n log n` shuffles. A gather or scatter per component would take
//! three times as long.
//!
//! Loads with another stride transpose pieces of 16 bytes, for example if each work-item loads a row of a matrix:
//!
//! ```text
//! memory      x0 y0 z0 w0 ...  x1 y1 z1 w1 ...        a piece of each row
//! registers   x0 y0 z0 w0  x4 y4 z4 w4                four vectors of two pieces with AVX2
//!             x0 x1 x2 x3  x4 x5 x6 x7                two shuffles per register
//! ```

use smallvec::SmallVec;
use wgcl_codegen::vir::{Addr, CastOp, Cond, Elem, Mem, Op as VOp, Target, Terminator, Type as Register, UnOp, Value as V};

use super::access::{Address, memory};
use super::shape::{Mode, elem};
use super::value::{Comps, Regs};
use super::vectorizer::Vectorizer;
use crate::ir::Scalar;

/// The maximum number of words per work-item.
const MAX_WORDS: u32 = 16;
/// The maximum distance in bytes between work-items for transposed loads, so that displacements fit instructions.
const MAX_TRANSPOSED_STRIDE: u32 = 1 << 20;
/// The minimum size in bytes of a row at an address without a constant stride. Three gathers of words take longer than
/// the loads and shuffles of a row.
const MIN_ROW: u32 = 12;
/// The maximum number of unrolled single-lane stores.
const MAX_UNROLLED_STORES: u32 = 64;

/// The word type of an access, and the stride between work-items in words.
#[derive(Clone, Copy)]
struct Words {
    of: Scalar,
    step: u32,
}

/// Returns the words of `count` components for work-items that are `stride` bytes apart. The stride must be a
/// power of two from 2 to [`MAX_WORDS`] words. The components must be whole words that fit in the stride. Otherwise
/// returns `None`.
fn strided_words(of: Scalar, count: u32, stride: i64) -> Option<Words> {
    let total = of.size() * count;
    let unit = if of.size() >= 4 { of } else { Scalar::I32 };
    let step = u32::try_from(stride).ok()? / unit.size();
    let fits = i64::from(step * unit.size()) == stride && total.is_multiple_of(unit.size()) && total / unit.size() <= step;
    (fits && step.is_power_of_two() && (2..=MAX_WORDS).contains(&step)).then_some(Words { of: unit, step })
}

impl Vectorizer<'_> {
    /// Loads components as whole vectors. Returns `None` if lanes are masked, or the address has no suitable stride.
    /// Also returns `None` if a load could access an unmapped page: the components must fill the stride, or the
    /// alignment must ensure that no load crosses a page boundary.
    pub(super) fn load_interleaved(&mut self, address: &Address, of: Scalar, count: u32, align: u32) -> Option<Comps> {
        let Address::Linear(first, stride) = *address else { return None };
        if self.masks.exec.is_some() {
            return None;
        }
        let words = strided_words(of, count, stride)?;
        if of.size() * count != words.step * words.of.size() && i64::from(align) < stride {
            return None;
        }
        let ty = self.shape.register(words.of, Mode::Varying);
        let bytes = u32::from(ty.lanes()) * words.of.size();
        let mut deinterleaved: Vec<Regs> = vec![Regs::new(); words.step as usize];
        for index in 0..self.shape.registers(words.of, Mode::Varying) as u32 {
            let list: Vec<V> = (0..words.step)
                .map(|part| {
                    let addr = Addr::offset(first, ((index * words.step + part) * bytes).cast_signed());
                    self.emit(ty, VOp::LoadVector { mem: memory(words.of), addr, mask: None })
                })
                .collect();
            for (regs, value) in deinterleaved.iter_mut().zip(self.deinterleave(ty, &list)) {
                regs.push(value);
            }
        }
        deinterleaved.truncate((of.size() * count / words.of.size()) as usize);
        Some(if of == words.of { deinterleaved.into_iter().collect() } else { self.bitcast(words.of, of, Mode::Varying, &deinterleaved) })
    }

    /// Loads components that consist of pieces of 16 bytes, and transposes each piece. Returns `None` if lanes are
    /// masked, or the address has no constant stride.
    pub(super) fn load_transposed(&mut self, address: &Address, of: Scalar, count: u32) -> Option<Comps> {
        let Address::Linear(first, stride) = *address else { return None };
        let step = i32::try_from(stride).ok().filter(|stride| stride.unsigned_abs() <= MAX_TRANSPOSED_STRIDE)?;
        let total = of.size() * count;
        if self.masks.exec.is_some() || !total.is_multiple_of(16) {
            return None;
        }
        let rows = (0..self.shape.lanes).map(|lane| Addr::offset(first, step * lane.cast_signed())).collect::<Vec<Addr>>();
        self.transposed_rows(of, count, total / 16, &mut |_, lane| rows[lane as usize])
    }

    /// Does the same as [`Self::load_transposed`], for addresses without a constant stride. The address of each lane is
    /// loaded from scratch memory. An inactive lane has the address of the first active lane, because its own address
    /// may be invalid.
    pub(super) fn load_rows(&mut self, address: &Address, of: Scalar, count: u32, align: u32) -> Option<Comps> {
        let total = of.size() * count;
        if of.size() < 4 {
            let words = self.load_rows(address, Scalar::I32, total.is_multiple_of(4).then_some(total / 4)?, align)?;
            return Some(self.bitcast(Scalar::I32, of, Mode::Varying, &words));
        }
        // A part of 16 aligned bytes is loaded as the whole, which is in the same page.
        let pieces = if align >= 16 { total.div_ceil(16) } else { total / 16 };
        let is_covered = 16 * pieces >= total && total >= MIN_ROW && (self.shape.lanes > 1);
        let (Address::Based(..) | Address::Wide(_), true) = (address, is_covered && self.can_transpose(of)) else { return None };
        let Some(masks) = self.masks.exec.clone() else { return self.load_rows_of(address, None, of, count, pieces) };
        let bits = self.mask_bits(&masks);
        let (some, meet) = (self.b.block(), self.b.block());
        let undefined = self.undef(self.shape.register(of, Mode::Varying));
        let number = count as usize * self.shape.registers(of, Mode::Varying);
        self.b.end(Terminator::Branch(Cond::NonZero(bits), Target::new(some, []), Target::new(meet, vec![undefined; number])));
        self.b.enter(some);
        let exec = self.masks.exec.take();
        let loaded = self.load_rows_of(address, Some((bits, &masks)), of, count, pieces);
        self.masks.exec = exec;
        let loaded = loaded.unwrap_or_default();
        self.jump(meet, loaded.iter().flatten().copied());
        self.b.enter(meet);
        let depth = self.depth();
        let joined = loaded.iter().map(|regs| regs.iter().map(|&reg| self.block_param(meet, self.b.ty(reg), depth)).collect());
        Some(joined.collect())
    }

    /// Loads rows at the addresses of the lanes. `masked` has the active lanes, as bits and as masks.
    fn load_rows_of(&mut self, address: &Address, masked: Option<(V, &Regs)>, of: Scalar, count: u32, pieces: u32) -> Option<Comps> {
        let mark = self.frame.mark();
        let (base, number, mut regs) = match address {
            Address::Based(base, offsets) => (Some(*base), Scalar::I32, offsets.clone()),
            _ => (None, Scalar::I64, self.lane_addresses(address)),
        };
        let size = number.size();
        if let Some((bits, masks)) = masked {
            let at = self.spill(number, &regs);
            let lane = self.op(Register::I32, VOp::Un(UnOp::Ctz, bits));
            let lane = self.op(Register::I64, VOp::Cast(CastOp::ZExt, lane));
            let from = Addr { index: Some((lane, size as u8)), ..self.frame_addr(at) };
            let active = self.emit(Register::Scalar(elem(number)), VOp::Load(memory(number), from));
            let active = self.splat(active, number);
            regs = self.select_regs(number, Mode::Varying, masks, &regs, &active);
        }
        let at = self.spill(number, &regs);
        let loaded = self.transposed_rows(of, count, pieces, &mut |this, lane| {
            let from = this.frame_addr(at + lane * size);
            let value = this.emit(Register::Scalar(elem(number)), VOp::Load(memory(number), from));
            match base {
                None => Addr::of(value),
                Some(base) => {
                    let value = this.emit(Register::I64, VOp::Cast(CastOp::SExt, value));
                    Addr { index: Some((value, 1)), ..Addr::of(base) }
                }
            }
        });
        self.frame.release(mark);
        loaded
    }

    /// Whether [`Self::transposed_rows`] is possible.
    fn can_transpose(&self, of: Scalar) -> bool {
        let unit = if of.size() >= 4 { of } else { Scalar::I32 };
        self.shape.isa.caps().has_piece_loads && u32::from(self.shape.register(unit, Mode::Varying).lanes()) * unit.size() >= 16
    }

    /// Loads and transposes pieces of 16 bytes at the addresses that `place` returns for each lane. Returns `None` if
    /// vectors are too small.
    fn transposed_rows(&mut self, of: Scalar, count: u32, pieces: u32, place: &mut dyn FnMut(&mut Self, u32) -> Addr) -> Option<Comps> {
        let unit = if of.size() >= 4 { of } else { Scalar::I32 };
        let (ty, words) = (self.shape.register(unit, Mode::Varying), 16 / unit.size());
        if !self.can_transpose(of) {
            return None;
        }
        let mut comps: Vec<Regs> = vec![Regs::new(); (words * pieces) as usize];
        for lane in (0..self.shape.lanes).step_by(usize::from(ty.lanes())) {
            let mut places: Vec<SmallVec<[Addr; 4]>> = Vec::new();
            for (piece, comps) in (0..).zip(comps.chunks_mut(words as usize)) {
                let mut rows = SmallVec::<[V; 4]>::new();
                for row in 0..words {
                    if piece == 0 {
                        let lanes = (row..ty.lanes().into()).step_by(words as usize);
                        places.push(lanes.map(|row| place(self, lane + row)).collect());
                    }
                    let at = |place: &Addr| Addr { disp: place.disp + 16 * piece, ..*place };
                    rows.push(match &places[row as usize][..] {
                        [only] => self.emit(ty, VOp::LoadVector { mem: memory(unit), addr: at(only), mask: None }),
                        places => self.emit(ty, VOp::LoadPieces(elem(unit), places.iter().map(at).collect())),
                    });
                }
                let transposed = self.deinterleave_within(ty, &rows, words as u8);
                comps.iter_mut().zip(transposed).for_each(|(regs, value)| regs.push(value));
            }
        }
        comps.truncate((of.size() * count / unit.size()) as usize);
        Some(if of == unit { comps.into_iter().collect() } else { self.bitcast(unit, of, Mode::Varying, &comps) })
    }

    /// Stores components as whole vectors, or as unrolled single-lane stores. Returns false if neither is possible, or
    /// if the store is contiguous.
    pub(super) fn store_interleaved(&mut self, address: &Address, of: Scalar, comps: &[Regs]) -> bool {
        let count = comps.len() as u32;
        let Address::Linear(first, stride) = *address else { return self.store_unrolled_based(address, of, comps) };
        // A contiguous store consists of whole numbers, or of the words that narrow components fill.
        let total = of.size() * count;
        let is_contiguous = stride == i64::from(total) && (count == 1 || of.size() < 4 && matches!(total, 4 | 8));
        if self.masks.exec.is_some() || is_contiguous {
            return false;
        }
        let words = strided_words(of, count, stride).filter(|words| of.size() * count == words.step * words.of.size());
        let Some(words) = words else { return self.store_unrolled(first, stride, of, comps) };
        let comps: Comps = if of == words.of { comps.iter().cloned().collect() } else { self.bitcast(of, words.of, Mode::Varying, comps) };
        let ty = self.shape.register(words.of, Mode::Varying);
        let bytes = u32::from(ty.lanes()) * words.of.size();
        for index in 0..self.shape.registers(words.of, Mode::Varying) {
            let list: Vec<V> = comps.iter().map(|regs| regs[index]).collect();
            for (part, value) in (0_u32..).zip(self.interleave(ty, &list)) {
                let addr = Addr::offset(first, ((index as u32 * words.step + part) * bytes).cast_signed());
                self.b.effect(VOp::StoreVector { mem: memory(words.of), addr, value, mask: None });
            }
        }
        true
    }

    /// Stores the vector to scratch memory and copies each lane, which is faster than a scatter. Returns false if there
    /// are too many stores.
    fn store_unrolled(&mut self, first: V, stride: i64, of: Scalar, comps: &[Regs]) -> bool {
        let Some(stride) = i32::try_from(stride).ok().filter(|stride| stride.unsigned_abs() <= 1 << 20) else { return false };
        self.unroll_stores(of, comps, &mut |_, lane| Addr::offset(first, stride * lane.cast_signed()))
    }

    /// Does the same as [`Self::store_unrolled`], for addresses without a constant stride.
    fn store_unrolled_based(&mut self, address: &Address, of: Scalar, comps: &[Regs]) -> bool {
        let Address::Based(base, offsets) = address else { return false };
        if self.masks.exec.is_some() || !self.may_unroll_stores(comps) {
            return false;
        }
        let mark = self.frame.mark();
        let offsets = self.widen(CastOp::SExt, Scalar::I64, Mode::Varying, offsets);
        let places = self.spill(Scalar::I64, &offsets);
        let stored = self.unroll_stores(of, comps, &mut |this, lane| {
            let from = this.frame_addr(places + lane * Scalar::I64.size());
            let offset = this.emit(Register::I64, VOp::Load(memory(Scalar::I64), from));
            Addr { base: *base, index: Some((offset, 1)), disp: 0 }
        });
        self.frame.release(mark);
        stored
    }

    /// Whether the number of stores is within [`MAX_UNROLLED_STORES`].
    fn may_unroll_stores(&self, comps: &[Regs]) -> bool {
        comps.len() as u32 * self.shape.lanes <= MAX_UNROLLED_STORES
    }

    /// Stores the components of each lane to the address that `place` returns for the lane. Returns false if there are
    /// too many stores.
    fn unroll_stores(&mut self, of: Scalar, comps: &[Regs], place: &mut dyn FnMut(&mut Self, u32) -> Addr) -> bool {
        if !self.may_unroll_stores(comps) {
            return false;
        }
        let (size, total) = (of.size(), of.size() * comps.len() as u32);
        if size < 4
            && let Some(word) = super::access::word_type(size, total)
        {
            let wide = self.bitcast(of, word, Mode::Varying, comps);
            return self.unroll_stores(word, &wide, place);
        }
        if size >= 4 && comps.len() > 1 && total.is_power_of_two() {
            self.unroll_interleaved_stores(of, comps, place);
            return true;
        }
        let (mark, element) = (self.frame.mark(), elem(of));
        let spilled: SmallVec<[u32; 4]> = comps.iter().map(|regs| self.spill(of, regs)).collect();
        for lane in 0..self.shape.lanes {
            let to = place(self, lane);
            for (component, &at) in (0_u32..).zip(&spilled) {
                let from = self.frame_addr(at + lane * element.bytes());
                let value = self.emit(Register::Scalar(element), VOp::Load(Mem::Elem(element), from));
                let disp = to.disp + (component * of.size()).cast_signed();
                self.b.effect(VOp::Store(memory(of), Addr { disp, ..to }, value));
            }
        }
        self.frame.release(mark);
        true
    }

    /// Does the same as [`Self::unroll_stores`], but interleaves the components first, so that 8 or 16 bytes are copied
    /// at a time.
    fn unroll_interleaved_stores(&mut self, of: Scalar, comps: &[Regs], place: &mut dyn FnMut(&mut Self, u32) -> Addr) {
        let (ty, total) = (self.shape.register(of, Mode::Varying), of.size() * comps.len() as u32);
        let bytes = u32::from(ty.lanes()) * of.size();
        let mark = self.frame.mark();
        let at = self.frame.scratch(total * self.shape.lanes);
        for index in 0..self.shape.registers(of, Mode::Varying) {
            let list: Vec<V> = comps.iter().map(|regs| regs[index]).collect();
            for (part, value) in (index as u32 * list.len() as u32..).zip(self.interleave(ty, &list)) {
                self.b.effect(VOp::StoreVector { mem: memory(of), addr: self.frame_addr(at + part * bytes), value, mask: None });
            }
        }
        let (elem, register) = if total == 8 { (Elem::I64, Register::I64) } else { (Elem::I32, Register::Vector(Elem::I32, 4)) };
        let mem = Mem::Elem(elem);
        for lane in 0..self.shape.lanes {
            let to = place(self, lane);
            for piece in (0..total).step_by(16) {
                let (from, to) = (self.frame_addr(at + lane * total + piece), Addr { disp: to.disp + piece.cast_signed(), ..to });
                if total == 8 {
                    let value = self.emit(register, VOp::Load(mem, from));
                    self.b.effect(VOp::Store(mem, to, value));
                } else {
                    let value = self.emit(register, VOp::LoadVector { mem, addr: from, mask: None });
                    self.b.effect(VOp::StoreVector { mem, addr: to, value, mask: None });
                }
            }
        }
        self.frame.release(mark);
    }

    fn shuffle(&mut self, ty: Register, a: V, b: V, lanes: impl Iterator<Item = u8>) -> V {
        self.op(ty, VOp::Shuffle(a, b, lanes.collect()))
    }

    /// Deinterleaves `n` vectors: lane `i` in memory belongs to component `i % n`.
    pub(super) fn deinterleave(&mut self, ty: Register, list: &[V]) -> Vec<V> {
        if self.shape.isa.caps().has_cheap_shuffles {
            return self.deinterleave_within(ty, list, ty.lanes());
        }
        let (list, lanes_per_128_bits) = (self.split_halves(ty, list), lanes_per_128_bits(ty));
        let groups = list.len() / usize::from(lanes_per_128_bits);
        if groups < 2 {
            return self.deinterleave_within(ty, &list, lanes_per_128_bits);
        }
        let group = |first: usize| list.iter().copied().skip(first).step_by(groups).collect::<Vec<V>>();
        (0..groups).flat_map(|first| self.deinterleave_within(ty, &group(first), lanes_per_128_bits)).collect()
    }

    /// Interleaves `n` vectors. This is the inverse of [`Self::deinterleave`].
    pub(super) fn interleave(&mut self, ty: Register, list: &[V]) -> Vec<V> {
        if self.shape.isa.caps().has_cheap_shuffles {
            return self.interleave_within(ty, list, ty.lanes());
        }
        let lanes_per_128_bits = lanes_per_128_bits(ty);
        let interleaved: Vec<Vec<V>> =
            list.chunks(usize::from(lanes_per_128_bits)).map(|group| self.interleave_within(ty, group, lanes_per_128_bits)).collect();
        let list: Vec<V> = (0..interleaved[0].len()).flat_map(|row| interleaved.iter().map(move |group| group[row])).collect();
        self.join_halves(ty, &list)
    }

    /// Regroups the 128-bit halves of vectors, so that shuffles within 128 bits deinterleave both halves.
    fn split_halves(&mut self, ty: Register, list: &[V]) -> Vec<V> {
        let (lanes, half) = (ty.lanes(), ty.lanes() / 2);
        if lanes == lanes_per_128_bits(ty) {
            return list.to_vec();
        }
        let (first, second) = list.split_at(list.len() / 2);
        let pairs: Vec<(V, V)> = first.iter().copied().zip(second.iter().copied()).collect();
        let mut apart = Vec::with_capacity(list.len());
        for (a, b) in pairs {
            for from in [0, half] {
                apart.push(self.shuffle(ty, a, b, (0..half).chain(lanes..lanes + half).map(|lane| lane + from)));
            }
        }
        apart
    }

    /// Restores the order of the 128-bit halves before [`Self::split_halves`].
    fn join_halves(&mut self, ty: Register, list: &[V]) -> Vec<V> {
        let (lanes, half) = (ty.lanes(), ty.lanes() / 2);
        if lanes == lanes_per_128_bits(ty) {
            return list.to_vec();
        }
        let mut together = Vec::with_capacity(list.len());
        for from in [0, half] {
            for pair in list.chunks(2) {
                together.push(self.shuffle(ty, pair[0], pair[1], (0..half).chain(lanes..lanes + half).map(|lane| lane + from)));
            }
        }
        together
    }

    /// Deinterleaves each group of `within` lanes separately; see [`Self::deinterleave`].
    fn deinterleave_within(&mut self, ty: Register, list: &[V], within: u8) -> Vec<V> {
        if list.len() < 2 {
            return list.to_vec();
        }
        let lanes = ty.lanes();
        let half = |this: &mut Self, odd: u8| {
            let pick = |lane: u8| {
                let (part, from) = (lane / within * within, 2 * (lane % within) + odd);
                part + from % within + if from < within { 0 } else { lanes }
            };
            let pairs: Vec<V> = list.chunks(2).map(|pair| this.shuffle(ty, pair[0], pair[1], (0..lanes).map(pick))).collect();
            this.deinterleave_within(ty, &pairs, within)
        };
        let (even, odd) = (half(self, 0), half(self, 1));
        even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
    }

    /// Interleaves each group of `within` lanes separately; see [`Self::interleave`].
    fn interleave_within(&mut self, ty: Register, list: &[V], within: u8) -> Vec<V> {
        if list.len() < 2 {
            return list.to_vec();
        }
        let lanes = ty.lanes();
        let every_other = |from: usize| list.iter().copied().skip(from).step_by(2).collect::<Vec<V>>();
        let (even, odd) = (self.interleave_within(ty, &every_other(0), within), self.interleave_within(ty, &every_other(1), within));
        let mut interleaved = Vec::with_capacity(list.len());
        for (&even, &odd) in even.iter().zip(&odd) {
            for upper in [0, within / 2] {
                let pick = |lane: u8| lane / within * within + upper + lane % within / 2 + if lane % 2 == 1 { lanes } else { 0 };
                interleaved.push(self.shuffle(ty, even, odd, (0..lanes).map(pick)));
            }
        }
        interleaved
    }
}

/// Returns the number of lanes in 16 bytes.
fn lanes_per_128_bits(ty: Register) -> u8 {
    ty.elem().map_or(4, |elem| (16 / elem.bytes()) as u8)
}
