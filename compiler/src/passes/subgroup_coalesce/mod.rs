//! Lets neighbouring work-items make their wide accesses for each other, so that what a subgroup accesses at once has no gaps.
//!
//! ```text
//! lane 0 loads bytes  0..15, then 16..31             lane 0 loads bytes  0..15, then 32..47
//! lane 1 loads bytes 32..47, then 48..63      =>     lane 1 loads bytes 16..31, then 48..63
//! ...                                                ... and each gives the other what it asked for (a shuffle of four words)
//! ```
//! A device moves 16 bytes a lane at most. Where work-items next to each other access 32 bytes next to each other (`float8`, `double4`), each of the two accesses
//! leaves every second 16 bytes out, but memory moves 32 bytes at a time: all of it moves twice, or depends on caches to keep it that long. With pairs of lanes
//! (with fours of them for 64 and 128 bytes) no access has gaps. On an H100 copies of `float8` become 1.35 times as fast, stores 2 times, a sum of 16 loads 1.5.
//!
//! # Why it is the same
//! Which lanes of a subgroup are next to each other is not for a shader to know, and it does not matter: lanes tell each other their addresses as well. It does matter
//!
//! * that all of them are there: the group consists of full subgroups, and what decides whether the access is made is the same for the whole group ([`divergence`](crate::analysis::divergence)).
//!   What some work-items may not get to, as behind `if (i < n)`, there is twice: for complete subgroups and as it stands ([`versions`]);
//! * that no work-item notices another one making its accesses. Where a buffer is only read nothing can be noticed. Where it is written (and nothing else may lead to its memory),
//!   all accesses to it are made this way, with one width and aligned to it: then it is always the same lane that accesses a given byte for a given
//!   work-item, in the work-item's order: always, or always in a complete subgroup. Barriers are the same for the whole group; fences and atomics are not, and where a kernel has any it keeps
//!   its stores.

mod rewrite;
mod versions;

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use crate::analysis::alignment;
use crate::analysis::definitions::{Definitions, Linear, Root};
use crate::analysis::divergence::{Divergence, Question, StableLoads, Together, Variation};
use crate::ir::{Function, Inst, KernelParam, Op, Space, Type, Value};
use crate::launch::LaunchKey;

/// This transformation, as the lists of passes name it.
pub const PASS: Pass = Pass::function("subgroup_coalesce", |function, cx| {
    // naga takes questions about subgroups from groups of one dimension only; of SPIR-V nobody asks it.
    let may_ask = cx.target.shaders.spirv || cx.key.kernel.local_size[1..] == [1, 1];
    let usual = cx.target.language.subgroup_size;
    let lanes = function.kernel.as_ref().map_or(usual, |kernel| kernel.subgroup_size(usual));
    Ok(may_ask && run(function, cx.key, lanes))
});

/// Bytes of an access that needs no others beside it.
const PART: u32 = 16;
/// Bytes of the widest access.
const WIDEST: u32 = 128;
/// Bytes up to which work-items that are next to each other make all of an access at once.
pub const SHARED: u32 = MOST * PART;
/// Work-items of dimension 0 that make accesses together, at most.
const MOST: u32 = 4;

/// An access to a buffer that lanes make together.
#[derive(Clone, Debug)]
struct Shared {
    /// The buffer.
    param: Value,
    /// What lanes tell each other of the byte offset.
    own: Linear,
    /// What is the same for all of them.
    common: Linear,
    bytes: u32,
}

impl Shared {
    /// Lanes that make it together.
    fn lanes(&self) -> u32 {
        (self.bytes / PART).min(MOST)
    }
}

/// An access as it stands.
struct Site {
    /// The buffers that it may reach: one that shares memory with no other, or all others.
    class: Option<u32>,
    param: u32,
    offset: Option<Value>,
    bytes: u32,
    /// Whether all work-items of a group get there together, and each goes on where the one before it ends.
    together: bool,
}

/// What a kernel does with the memory of a class.
#[derive(Default)]
struct Class {
    stored: bool,
    /// Bytes of its accesses.
    widths: FxHashSet<u32>,
    /// Whether there are accesses that lanes cannot make together.
    apart: bool,
    /// Whether there are accesses that incomplete subgroups make as they stand, ...
    instead: bool,
    /// ... and whether there are others than these and those that complete ones make for them.
    outside: bool,
}

/// Rewrites a kernel for subgroups of so many `lanes` where the launch allows it and it pays. Expects the form that `resolve_pointers` and `narrow` leave.
/// Returns whether there was anything.
pub fn run(function: &mut Function, key: &LaunchKey, lanes: u32) -> bool {
    let fits = lanes >= MOST
        && key.kernel.local_size[0].is_multiple_of(MOST)
        && key.binding.split.params.is_empty()
        && key.binding.merged.is_empty();
    if !fits || !has_wide(function) {
        return false;
    }
    let items = key.kernel.local_size.iter().fold(1_u32, |product, &size| product.saturating_mul(size));
    let full = items.is_multiple_of(lanes) && key.kernel.guard == [false; 3];
    let before = function.clone();
    let complete = versions::make(function, key.kernel.local_size, (full, lanes));
    let accesses = find(function, key, full, complete).unwrap_or_default();
    if accesses.iter().all(Option::is_none) {
        *function = before;
        return false;
    }
    rewrite::run(function, &accesses);
    true
}

/// Whether any access to a buffer is as wide as it takes.
pub fn has_wide(function: &Function) -> bool {
    is_wide(function, &function.body.insts)
}

/// The same of some instructions.
fn is_wide(function: &Function, insts: &[Inst]) -> bool {
    let mut wide = false;
    let mut look = |inst: &Inst| {
        let is_buffer = |ptr| matches!(function.ty(ptr), Type::Ptr(Space::Global | Space::Constant));
        wide |= access(function, inst).is_some_and(|(ptr, bytes, _)| bytes > PART && is_buffer(ptr));
    };
    for inst in insts {
        look(inst);
        inst.op.regions().iter().for_each(|region| region.walk(&mut look));
    }
    wide
}

/// Pointer and bytes of a load or store, and whether it is a store.
fn access(function: &Function, inst: &Inst) -> Option<(Value, u32, bool)> {
    let bytes = |ty: Type| ty.scalar().map_or(0, |scalar| scalar.size() * u32::from(ty.lanes()));
    match &inst.op {
        Op::Load { ptr, .. } => Some((*ptr, bytes(function.ty(*inst.results.first()?)), false)),
        Op::Store { ptr, value, .. } => Some((*ptr, bytes(function.ty(*value)), true)),
        _ => None,
    }
}

/// What becomes of each load and store, in the order of the function's text. `None` where nothing is known of some access. `full`: whether work-items begin in
/// complete subgroups; `complete`: see [`versions::make`].
fn find(function: &Function, key: &LaunchKey, full: bool, complete: Option<Value>) -> Option<Vec<Option<Shared>>> {
    let question = Question { group: key.kernel.local_size, zero_offset: false, stable: StableLoads::Constant };
    let divergence = Divergence::of(function, &function.body, question);
    let mut found = Accesses {
        function,
        key,
        definitions: Definitions::of(function),
        divergence: &divergence,
        zeros: alignment::zeros(function, &function.body, 1)?,
        sites: Vec::new(),
        classes: FxHashMap::default(),
        is_ordered: false,
        is_known: true,
    };
    divergence.walk(&function.body, (full, complete), &mut |inst, here| found.look(inst, here));
    found.is_known.then(|| found.sites.iter().map(|site| site.as_ref().and_then(|site| found.shared(site))).collect())
}

/// The accesses of a kernel, as they are found.
struct Accesses<'a> {
    function: &'a Function,
    key: &'a LaunchKey,
    definitions: Definitions<'a>,
    divergence: &'a Divergence<'a>,
    /// Of each value, how many low bits are zero.
    zeros: Vec<u8>,
    /// Each load and store; `None` for one that is no access to a buffer.
    sites: Vec<Option<Site>>,
    classes: FxHashMap<Option<u32>, Class>,
    /// Whether a fence, an atomic or a call orders anything.
    is_ordered: bool,
    /// Whether it is known of every access where it goes.
    is_known: bool,
}

impl Accesses<'_> {
    /// The parameter that a pointer leads to, its class, and the offset.
    fn class_of(&self, ptr: Value) -> Option<(u32, Option<u32>, Option<Value>)> {
        let (Root::Param(param), offset) = self.definitions.pointer(ptr)? else { return None };
        Some((param, Some(param).filter(|_| is_distinct(self.function, self.key, param)), offset))
    }

    fn look(&mut self, inst: &Inst, here: Together) {
        match &inst.op {
            Op::Load { .. } | Op::Store { .. } => {
                let site = self.site(inst, here);
                self.sites.push(site);
            }
            Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => {
                self.is_ordered = true;
                match self.class_of(*ptr) {
                    Some((_, class, _)) => {
                        let entry = self.classes.entry(class).or_default();
                        (entry.stored, entry.apart) = (true, true);
                    }
                    None => self.is_known &= !matches!(self.function.ty(*ptr), Type::Ptr(Space::Global | Space::Generic)),
                }
            }
            // Helpers have no pointers to buffers.
            Op::MemFence(_) | Op::Call(..) => self.is_ordered = true,
            // They are loads and stores by now.
            Op::Copy { .. } | Op::Zero { .. } => self.is_known = false,
            _ => {}
        }
    }

    /// A load or store, if it is one of a buffer that may be made together.
    fn site(&mut self, inst: &Inst, here: Together) -> Option<Site> {
        let (Op::Load { ptr, volatile, align, .. } | Op::Store { ptr, volatile, align, .. }) = &inst.op else { return None };
        let (_, bytes, store) = access(self.function, inst)?;
        if !matches!(self.function.ty(*ptr), Type::Ptr(Space::Global | Space::Constant)) {
            self.is_known &= !matches!(self.function.ty(*ptr), Type::Ptr(Space::Generic));
            return None;
        }
        // Objects of the program are no buffers.
        if matches!(self.definitions.pointer(*ptr), Some((Root::Global(_), _))) {
            return None;
        }
        let Some((param, class, offset)) = self.class_of(*ptr) else {
            self.is_known = false;
            return None;
        };
        let entry = self.classes.entry(class).or_default();
        if here == Together::Rest {
            entry.instead = true;
            return None;
        }
        let zeros = &self.zeros;
        let multiple = |value: Value| zeros.get(value.index()).map_or(1, |&zeros| 1_u64 << zeros.min(16));
        let together = matches!(here, Together::Group | Together::Subgroup)
            && !*volatile
            && [2 * PART, 4 * PART, WIDEST].contains(&bytes)
            && *align >= PART
            && self.divergence.variation(*ptr) == Variation::Stride(u64::from(bytes));
        let whole = offset.is_none_or(|offset| multiple(offset) >= u64::from(bytes)) || *align >= bytes;
        entry.outside |= here != Together::Subgroup;
        entry.stored |= store;
        entry.widths.insert(bytes);
        entry.apart |= !together || !whole;
        Some(Site { class, param, offset, bytes, together })
    }

    /// What lanes make together of an access, where all accesses to its class allow it.
    fn shared(&self, site: &Site) -> Option<Shared> {
        let class = self.classes.get(&site.class)?;
        let is_mixed = class.apart || (class.instead && class.outside);
        let is_shared = class.widths.len() == 1 && !is_mixed && !self.is_ordered;
        if !site.together || (class.stored && !is_shared) {
            return None;
        }
        let mut sum = site.offset.map_or_else(Linear::default, |offset| self.definitions.linear(offset));
        let common = sum.terms.iter().copied().filter(|(value, _)| self.divergence.is_same(*value)).collect();
        sum.terms.retain(|(value, _)| !self.divergence.is_same(*value));
        sum.terms.sort_unstable();
        Some(Shared {
            param: *self.function.params.get(site.param as usize)?,
            common: Linear { constant: std::mem::take(&mut sum.constant), terms: common },
            own: sum,
            bytes: site.bytes,
        })
    }
}

/// Whether a buffer shares no memory with any other of the launch.
fn is_distinct(function: &Function, key: &LaunchKey, param: u32) -> bool {
    let kernel = function.kernel.as_ref();
    let is_restrict = |param: &KernelParam| matches!(param, KernelParam::Buffer { restrict: true, .. });
    key.binding.distinct || kernel.and_then(|kernel| kernel.params.get(param as usize)).is_some_and(is_restrict)
}
