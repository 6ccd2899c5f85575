//! Merges contiguous accesses of a work-item into one wide access, like LLVM's LoadStoreVectorizer and NIR's
//! `nir_opt_load_store_vectorize`.
//!
//! ```text
//! %x = load f32 (ptr_add %buffer, %o) align 4          %v = load f32x2 (ptr_add %buffer, %o) align 8
//! %p = add %o, 4                                 =>    %x = extract %v, 0
//! %y = load f32 (ptr_add %buffer, %p) align 4          %y = extract %v, 1
//! ```
//! If a work-item accesses the fields of a structure or the words of an array one by one, the accesses of neighbouring
//! work-items have gaps. A device can access 16 bytes per lane with one instruction. Only accesses in the same region
//! are merged. Merged loads move to the position of the first load, and merged stores move to the position of the last
//! store. No instruction in between may jump, synchronise, or alias. Accesses to other constant offsets from the same
//! pointer do not alias: `a[0]++; a[1]++;` becomes one load and one store. The width is limited by the alignment and by
//! 16 bytes, or more if lanes exchange parts ([`super::subgroup_coalesce`]). For CPUs, the limit is 64 bytes, and
//! accesses need no alignment ([`DEINTERLEAVED`]). There, loads of neighbouring bytes become loads of words too. For
//! shaders, expects the form that `resolve_pointers` and `shrink_int64` produce.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::alias::{Effect, MemoryUse};
use super::pass::Pass;
use super::simplify::Purity;
use super::subgroup_coalesce;
use crate::analysis::alignment;
use crate::analysis::definitions::{Definitions, Linear, Root, offsets};
use crate::ir::{CastOp, Const, Function, Inst, Op, Region, Scalar, Space, Type, Value, WorkItem};

pub(crate) const PASS: Pass = Pass::function("vectorize_memory", |function, cx| {
    let bytes = if cx.target.shaders.costs.subgroup_coalescing { subgroup_coalesce::COMBINED } else { WIDE };
    Ok(run(function, cx.key.binding.distinct, cx.purity, Widest { bytes, unaligned: false }))
});

/// The pass for CPUs. The vectoriser deinterleaves wide accesses with shuffles, and accesses need no alignment.
pub(crate) const DEINTERLEAVED: Pass = Pass::function("vectorize_memory_deinterleaved", |function, cx| {
    Ok(run(function, cx.key.binding.distinct, cx.purity, Widest { bytes: MAX_DEINTERLEAVED, unaligned: true }))
});

/// Maximum size in bytes of a merged access if vectors are deinterleaved.
const MAX_DEINTERLEAVED: u32 = 64;

/// Limits for merged accesses.
#[derive(Clone, Copy)]
pub(crate) struct Widest {
    pub bytes: u32,
    /// Whether accesses need no alignment.
    pub unaligned: bool,
}

/// Size in bytes of a device's widest access.
pub(crate) const WIDE: u32 = 16;

/// Maximum number of groups that are open at a time. Every store checks all open groups.
const MAX_OPEN: usize = 64;

/// The common properties of accesses that may be merged.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// The pointer that offsets are relative to.
    base: Value,
    /// The object, or `None` if it is not known.
    root: Option<Root>,
    /// The non-constant terms of the offset.
    terms: SmallVec<[(Value, u32); 4]>,
    /// The type of the accesses, or a type of the same size if vectors are deinterleaved.
    ty: Type,
}

/// An access, by its index among all loads and stores.
#[derive(Clone, Copy)]
struct Member {
    index: usize,
    /// The constant part of the byte offset.
    at: u32,
    align: u32,
    ty: Type,
}

/// A merged access.
struct Merged {
    /// The original accesses, in address order.
    members: Vec<Member>,
    align: u32,
    /// The type that the merged access has in place of each original access: the original type, or words.
    part: Type,
}

/// Accesses with the same key.
#[derive(Default)]
struct Group {
    members: Vec<Member>,
    /// For loads: the constant offsets of stores with the same key, after the first load. A load from such an offset
    /// must not move to the position of the first load.
    stored: Vec<u32>,
}

/// Groups of accesses that may still be extended.
type Open = FxHashMap<Key, Group>;

/// Rewrites a kernel. Returns whether accesses were merged.
pub(crate) fn run(function: &mut Function, distinct: bool, purity: &Purity, widest: Widest) -> bool {
    let Some(merged) = find(function, distinct, purity, widest) else { return false };
    if merged.is_empty() {
        return false;
    }
    let mut parts: FxHashMap<usize, Part> = FxHashMap::default();
    for (group, access) in merged.iter().enumerate() {
        for (lane, member) in access.members.iter().enumerate() {
            parts.insert(member.index, Part { group, lane });
        }
    }
    let mut body = std::mem::take(&mut function.body);
    let offsets = offsets(&body);
    let vectors = vec![None; merged.len()];
    let values = vec![Vec::new(); merged.len()];
    let mut writer = Writer { function, merged, parts, offsets, index: 0, vectors, values };
    writer.region(&mut body);
    function.body = body;
    true
}

/// Returns the merged accesses of a kernel, or `None` for other functions.
fn find(function: &Function, distinct: bool, purity: &Purity, widest: Widest) -> Option<Vec<Merged>> {
    let definitions = Definitions::of(function);
    let zeros = alignment::zeros(function, &function.body, 1)?;
    let memory = MemoryUse::of(function, &function.body, distinct, purity);
    let mut finder = Finder { function, definitions, zeros, memory, widest, index: 0, merged: Vec::new() };
    finder.region(&function.body);
    Some(finder.merged)
}

struct Finder<'f> {
    function: &'f Function,
    definitions: Definitions<'f>,
    zeros: Vec<u8>,
    memory: MemoryUse<'f>,
    widest: Widest,
    /// Number of loads and stores before the current instruction.
    index: usize,
    merged: Vec<Merged>,
}

impl Finder<'_> {
    fn region(&mut self, region: &Region) {
        let (mut loads, mut stores) = (Open::default(), Open::default());
        for inst in &region.insts {
            for open in [&mut loads, &mut stores] {
                if open.len() > MAX_OPEN {
                    self.close(open, |_, _| true);
                }
            }
            let index = self.index;
            self.index += usize::from(matches!(inst.op, Op::Load { .. } | Op::Store { .. }));
            match inst.op {
                Op::Load { ptr, align, volatile: false } => {
                    let Some(&result) = inst.results.first() else { continue };
                    let (root, ty) = (self.memory.root(ptr), self.function.ty(result));
                    let own = self.load_key(ptr, ty);
                    self.close_aliasing(&mut stores, root, own.as_ref());
                    if let Some((key, at)) = own {
                        if loads.get(&key).is_some_and(|group| !self.is_free(&key, at, group.stored.iter().copied())) {
                            self.close(&mut loads, |_, other| *other == key);
                        }
                        loads.entry(key).or_default().members.push(Member { index, at, align, ty });
                    }
                }
                Op::Store { ptr, value, align, volatile: false } => {
                    let (root, ty) = (self.memory.root(ptr), self.function.ty(value));
                    let own = self.key(ptr, ty);
                    if let Some((key, at)) = &own
                        && let Some(mut group) = loads.remove(key)
                    {
                        // Loads before the store do not move below it.
                        group.stored.push(*at);
                        self.close(&mut loads, |memory, other| may_alias(memory, root, other.root));
                        loads.insert(key.clone(), group);
                    } else {
                        self.close(&mut loads, |memory, other| may_alias(memory, root, other.root));
                    }
                    self.close_aliasing(&mut stores, root, own.as_ref());
                    if let Some((key, at)) = own {
                        stores.entry(key).or_default().members.push(Member { index, at, align, ty });
                    }
                }
                _ => match self.memory.effect(inst) {
                    Effect::Nothing if inst.op.regions().is_empty() && !inst.op.is_terminator() => {}
                    Effect::Root(root) => {
                        self.close(&mut loads, |memory, other| may_alias(memory, Some(root), other.root));
                        self.close(&mut stores, |memory, other| may_alias(memory, Some(root), other.root));
                    }
                    Effect::Nothing | Effect::Anything | Effect::Synchronises => {
                        self.close(&mut loads, |_, _| true);
                        self.close(&mut stores, |_, _| true);
                    }
                },
            }
            for nested in inst.op.regions() {
                self.region(nested);
            }
        }
        self.close(&mut loads, |_, _| true);
        self.close(&mut stores, |_, _| true);
    }

    /// Returns the size in bytes of an access that may be merged. Returns `None` for an access that may not be merged,
    /// because it has three lanes, or lanes smaller than a word. For deinterleaved vectors, the lane size does not
    /// matter.
    fn bytes(&self, ty: Type) -> Option<u32> {
        let size = ty.scalar()?.size();
        (ty.lanes() != 3 && (size >= 4 || self.widest.unaligned)).then_some(size * u32::from(ty.lanes()))
    }

    /// Returns the key of a load. For deinterleaved vectors, loads smaller than a word have a key too.
    fn load_key(&self, ptr: Value, ty: Type) -> Option<(Key, u32)> {
        if self.widest.unaligned { self.deinterleaved_key(ptr, ty) } else { self.key(ptr, ty) }
    }

    /// Returns the common properties of an access, and the constant part of its offset. Returns `None` if it may not be
    /// merged.
    fn key(&self, ptr: Value, ty: Type) -> Option<(Key, u32)> {
        let bytes = self.bytes(ty)?;
        if self.widest.unaligned {
            return self.deinterleaved_key(ptr, ty).filter(|_| bytes >= 4);
        }
        let is_buffer = matches!(self.function.ty(ptr), Type::Ptr(Space::Global | Space::Constant));
        let (root @ Root::Param(index), offset) = self.definitions.pointer(ptr).filter(|_| is_buffer)? else { return None };
        let Linear { constant, mut terms } = offset.map_or_else(Linear::default, |offset| self.definitions.linear(offset));
        terms.sort_unstable();
        let base = *self.function.params.get(index as usize)?;
        Some((Key { base, root: Some(root), terms, ty }, constant))
    }

    /// Like [`Self::key`], but also for pointers with an unknown object and pointers to local memory.
    fn deinterleaved_key(&self, ptr: Value, ty: Type) -> Option<(Key, u32)> {
        if self.function.ty(ptr) == Type::Ptr(Space::Private) {
            return None;
        }
        let (mut base, mut all) = (ptr, Linear::default());
        while let Some(&Op::PtrAdd(inner, offset)) = self.definitions.get(base) {
            let Linear { constant, terms } = self.definitions.linear(offset);
            all.constant = all.constant.wrapping_add(constant);
            all.terms.extend(terms);
            base = inner;
        }
        all.terms.sort_unstable();
        let bytes = self.bytes(ty)?;
        let ty = if ty.scalar()?.size() > 4 || bytes < 4 { ty } else { words(bytes) };
        Some((Key { base, root: self.memory.root(ptr), terms: all.terms, ty }, all.constant))
    }

    /// Closes the groups of stores that an access may alias. An access with the same key and another constant offset
    /// does not alias the group.
    fn close_aliasing(&mut self, stores: &mut Open, root: Option<Root>, own: Option<&(Key, u32)>) {
        let kept = own.and_then(|(key, at)| {
            let is_free = self.is_free(key, *at, stores.get(key)?.members.iter().map(|member| member.at));
            is_free.then(|| stores.remove_entry(key)).flatten()
        });
        self.close(stores, |memory, other| may_alias(memory, root, other.root));
        stores.extend(kept);
    }

    /// Whether an access at a constant offset overlaps none of the accesses with the same key at other offsets.
    fn is_free(&self, key: &Key, at: u32, mut others: impl Iterator<Item = u32>) -> bool {
        let Some(step) = self.bytes(key.ty) else { return false };
        others.all(|other| other != at && other.abs_diff(at).is_multiple_of(step))
    }

    /// Closes the groups with a key for which `closes` is true, and merges their accesses.
    fn close(&mut self, open: &mut Open, closes: impl Fn(&MemoryUse<'_>, &Key) -> bool) {
        let mut closed: Vec<(Key, Group)> = open.extract_if(|key, _| closes(&self.memory, key)).collect();
        // Sorts the groups, because the order of the map is not deterministic.
        closed.sort_unstable_by_key(|(_, group)| group.members.first().map(|member| member.index));
        for (key, group) in closed {
            self.join(&key, group.members);
        }
    }

    /// Returns the stride in bytes between the accesses of neighbouring work-items. Merged accesses must not be wider
    /// than this stride. Wider accesses would overlap, and contiguous loads are faster. Returns `u32::MAX` if the
    /// stride is unknown or 0, or for GPUs.
    fn stride(&self, terms: &[(Value, u32)]) -> u32 {
        let is_id = |value: Value| match self.definitions.get(value) {
            Some(Op::Cast(_, inner)) => self.is_id(*inner),
            _ => self.is_id(value),
        };
        let step = terms.iter().filter(|(value, _)| is_id(*value)).fold(0_u32, |sum, (_, scale)| sum.wrapping_add(*scale));
        if step == 0 || !self.widest.unaligned { u32::MAX } else { step.cast_signed().unsigned_abs() }
    }

    fn is_id(&self, value: Value) -> bool {
        matches!(self.definitions.get(value), Some(Op::WorkItem(WorkItem::GlobalId(0) | WorkItem::LocalId(0))))
    }

    /// Merges the accesses of a group into accesses that are as wide as possible.
    fn join(&mut self, Key { base, terms, ty, .. }: &Key, mut members: Vec<Member>) {
        let Some(size) = self.bytes(*ty) else { return };
        members.sort_unstable_by_key(|member| (member.at, member.index));
        members.dedup_by_key(|member| member.at);
        let zeros = |value: Value| self.zeros.get(value.index()).map_or(0, |&zeros| u32::from(zeros));
        let least = terms.iter().map(|&(value, scale)| zeros(value) + scale.trailing_zeros()).min().unwrap_or(u32::BITS);
        let least = least.min(zeros(*base));
        // Bytes of neighbouring work-items can be contiguous. Unless each term is scaled by the size of the merged
        // access, contiguous loads are faster.
        let narrow = terms.iter().map(|(_, scale)| scale.cast_signed().unsigned_abs()).min().unwrap_or(0);
        let stride = if size < 4 { narrow } else { self.stride(terms) };
        let most = (self.widest.bytes / size).min(16 / u32::from(ty.lanes())).min(stride / size) as usize;
        let mut rest = &members[..];
        while let Some(first) = rest.first() {
            let run = (0_u32..).zip(rest).take_while(|(index, member)| member.at == first.at.wrapping_add(index * size)).count();
            let align = 1 << least.min(first.at.trailing_zeros()).min(WIDE.trailing_zeros());
            let fits = |count: usize| count <= run && (self.widest.unaligned || (count as u32 * size).min(WIDE) <= align);
            let fills_words = |count: usize| size >= 4 || (count as u32 * size).is_multiple_of(4);
            let count = [16, 8, 4, 2].into_iter().find(|&count| count <= most && fits(count) && fills_words(count));
            let (taken, left) = rest.split_at(count.unwrap_or(1).min(rest.len()));
            if count.is_some() {
                let align = if self.widest.unaligned { first.align } else { align };
                let own = first.ty;
                let is_same = own.scalar().is_some_and(|scalar| scalar.size() >= 4) && taken.iter().all(|member| member.ty == own);
                self.merged.push(Merged { members: taken.to_vec(), align, part: if is_same { own } else { *ty } });
            }
            rest = left;
        }
    }
}

/// Returns the type with `bytes` bytes that consists of words.
fn words(bytes: u32) -> Type {
    if bytes == 4 { Type::I32 } else { Type::Vector(Scalar::I32, (bytes / 4) as u8) }
}

/// Whether accesses to two objects may alias. An object is `None` if it is unknown.
fn may_alias(memory: &MemoryUse<'_>, one: Option<Root>, other: Option<Root>) -> bool {
    one.zip(other).is_none_or(|(one, other)| !memory.is_disjoint(one, other))
}

/// The part of a merged access that replaces a load or store.
#[derive(Clone, Copy)]
struct Part {
    /// The index of the merged access.
    group: usize,
    /// The position of the load or store among the members of the merged access.
    lane: usize,
}

struct Writer<'f> {
    function: &'f mut Function,
    merged: Vec<Merged>,
    /// The parts, by the index of the load or store.
    parts: FxHashMap<usize, Part>,
    /// The base and the offset of each `ptr_add`.
    offsets: FxHashMap<Value, (Value, Value)>,
    /// Number of loads and stores before the current instruction.
    index: usize,
    /// The results of the wide loads that are already emitted.
    vectors: Vec<Option<Value>>,
    /// For each merged store, the positions and values of its members.
    values: Vec<Vec<(usize, Value)>>,
}

impl Writer<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            let part = matches!(inst.op, Op::Load { .. } | Op::Store { .. }).then(|| {
                self.index += 1;
                self.parts.get(&(self.index - 1)).copied()
            });
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            match (part.flatten(), &inst.op) {
                (Some(part), Op::Load { ptr, .. }) => {
                    let ptr = *ptr;
                    self.load(&mut out, inst, ptr, part);
                }
                (Some(part), Op::Store { ptr, value, .. }) => {
                    let (ptr, value) = (*ptr, *value);
                    self.store(&mut out, &inst, (ptr, value), part);
                }
                _ => out.push(inst),
            }
        }
        region.insts = out;
    }

    /// Emits the pointer to the first member, given the pointer `ptr` of another member.
    fn pointer(&mut self, out: &mut Vec<Inst>, inst: &Inst, ptr: Value, Part { group, lane }: Part) -> Value {
        let members = &self.merged[group].members;
        let by = members.first().zip(members.get(lane)).map_or(0, |(first, here)| first.at.wrapping_sub(here.at));
        if by == 0 {
            return ptr;
        }
        let (base, offset) = self.offsets.get(&ptr).map_or((ptr, None), |&(base, offset)| (base, Some(offset)));
        let ty = offset.map_or(Type::I32, |offset| self.function.ty(offset));
        let mut moved = self.function.emit_bits(out, inst.span, ty, i64::from(by.cast_signed()).cast_unsigned());
        if let Some(offset) = offset {
            moved = self.function.emit(out, inst.span, ty, Op::Bin(crate::ir::BinOp::Add, offset, moved));
        }
        let ty = self.function.ty(base);
        self.function.emit(out, inst.span, ty, Op::PtrAdd(base, moved))
    }

    fn load(&mut self, out: &mut Vec<Inst>, inst: Inst, ptr: Value, part @ Part { group, lane }: Part) {
        let Some(&result) = inst.results.first() else { return out.push(inst) };
        let own = self.function.ty(result);
        let Merged { ref members, align, part: ty } = self.merged[group];
        let Some(scalar) = ty.scalar() else { return out.push(inst) };
        let (count, lanes) = (members.len(), ty.lanes());
        let vector = match self.vectors[group] {
            Some(vector) => vector,
            None => {
                let ptr = self.pointer(out, &inst, ptr, part);
                let wide = Type::Vector(scalar, lanes * count as u8);
                let vector = self.function.emit(out, inst.span, wide, Op::Load { ptr, align, volatile: false });
                *self.vectors[group].insert(vector)
            }
        };
        let first = lane as u8 * lanes;
        let op = match lanes {
            1 => Op::Extract(vector, first),
            _ => Op::Shuffle(vector, vector, (first..first + lanes).map(Some).collect()),
        };
        if own == ty {
            return out.push(Inst { op, ..inst });
        }
        let words = self.function.emit(out, inst.span, ty, op);
        out.push(Inst { op: Op::Cast(CastOp::Bitcast, words), ..inst });
    }

    fn store(&mut self, out: &mut Vec<Inst>, inst: &Inst, (ptr, value): (Value, Value), part @ Part { group, lane }: Part) {
        let Merged { ref members, align, part: ty } = self.merged[group];
        let (count, own) = (members.len(), self.function.ty(value));
        let value = if own == ty { value } else { self.function.emit(out, inst.span, ty, Op::Cast(CastOp::Bitcast, value)) };
        self.values[group].push((lane, value));
        if self.values[group].len() < count {
            return;
        }
        let ptr = self.pointer(out, inst, ptr, part);
        let mut parts = std::mem::take(&mut self.values[group]);
        parts.sort_unstable();
        let mut values: Vec<Value> = parts.into_iter().map(|(_, value)| value).collect();
        let Some(scalar) = ty.scalar() else { return };
        let mut lanes = ty.lanes();
        if lanes == 1 {
            lanes = values.len() as u8;
            values = vec![self.function.emit(out, inst.span, Type::Vector(scalar, lanes), Op::Construct(values))];
        }
        while values.len() > 1 {
            lanes *= 2;
            let join = |pair: &[Value]| match *pair {
                [a, b, ..] => Op::Shuffle(a, b, (0..lanes).map(Some).collect()),
                _ => Op::Const(Const::Undef),
            };
            values = values.chunks(2).map(|pair| self.function.emit(out, inst.span, Type::Vector(scalar, lanes), join(pair))).collect();
        }
        if let Some(&value) = values.first() {
            out.push(Inst { op: Op::Store { ptr, value, align, volatile: false }, results: Vec::new(), span: inst.span });
        }
    }
}
