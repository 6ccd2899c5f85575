//! Lets neighbouring work-items perform their wide accesses together, so that each access of a subgroup is
//! contiguous.
//!
//! ```text
//! lane 0 loads bytes  0..15, then 16..31             lane 0 loads bytes  0..15, then 32..47
//! lane 1 loads bytes 32..47, then 48..63      =>     lane 1 loads bytes 16..31, then 48..63
//! ...                                                ... and both exchange their parts (a shuffle of four words)
//! ```
//! An instruction accesses at most 16 bytes per lane. If neighbouring work-items access consecutive 32 bytes (`float8`,
//! `double4`), each of the two instructions skips every second 16 bytes. A memory transaction has 32 bytes, so each
//! instruction uses half of every transaction. All data is transferred twice unless it is in the cache. If two lanes
//! (or four lanes for 64 and 128 bytes) access memory together, every instruction is contiguous. Speed-ups by this pass
//! on an H100 (NVIDIA 580.159): 1.35 for copies of `float8`, 2 for stores, 1.5 for a sum of 16 loads.
//!
//! # Correctness
//! It is not specified which work-item each lane of a subgroup executes. The result does not depend on this, because
//! lanes also exchange their addresses. The requirements are:
//!
//! * All lanes must be active: the group consists of full subgroups, and the access has uniform control flow in the
//!   group ([`divergence`](crate::analysis::divergence)). Code that some work-items may skip, as after `if (i < n)`,
//!   gets two versions ([`versions`]). Complete subgroups execute one version, and the other subgroups execute the
//!   original code.
//! * No work-item may observe that another work-item performs its accesses. Nothing can be observed for buffers that
//!   are only read. If a written buffer has no alias, lanes must perform all accesses to it together. These
//!   accesses have one size, and are aligned to this size. The same lane then performs all accesses of a work-item to a
//!   byte, in the order of the work-item. If incomplete subgroups perform some of these accesses individually, all
//!   other accesses to the buffer must be in code for complete subgroups. Barriers are uniform for the group, but
//!   fences and atomics are not. So in a kernel with a fence, an atomic or a call, all accesses to written buffers stay
//!   unchanged.

mod rewrite;
mod versions;

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use crate::analysis::alignment;
use crate::analysis::definitions::{Definitions, Linear, Root};
use crate::analysis::divergence::{Divergence, DivergenceParams, StableLoads, Together, Variation};
use crate::ir::{Function, Inst, KernelParam, Op, Scalar, Space, Type, Value};
use crate::launch::LaunchKey;

pub const PASS: Pass = Pass::function("subgroup_coalesce", |function, cx| {
    // naga only supports subgroup queries in groups of one dimension. SPIR-V has no such restriction.
    let has_lane_queries = cx.target.shaders.spirv || cx.key.kernel.local_size[1..] == [1, 1];
    let usual = cx.target.language.subgroup_size;
    let lanes = function.kernel.as_ref().map_or(usual, |kernel| kernel.subgroup_size(usual));
    Ok(has_lane_queries && run(function, cx.key, lanes))
});

/// Size in bytes of an access that a lane performs alone.
const PART: u32 = 16;
/// Size in bytes of the widest access.
const WIDEST: u32 = 128;
/// Maximum size in bytes of an access that neighbouring work-items perform together in one step.
pub const COMBINED: u32 = MAX_TOGETHER * PART;
/// Maximum number of neighbouring work-items that perform an access together.
const MAX_TOGETHER: u32 = 4;

/// An access that neighbouring lanes perform together.
#[derive(Clone, Debug)]
struct Combined {
    param: Value,
    /// The terms of the byte offset that differ between lanes. The lanes exchange them.
    per_lane: Linear,
    /// The uniform terms of the byte offset, and its constant.
    uniform: Linear,
    bytes: u32,
}

impl Combined {
    /// Returns the number of lanes that perform the access together.
    fn lanes(&self) -> u32 {
        (self.bytes / PART).min(MAX_TOGETHER)
    }
}

/// A load or store of a buffer in the original code.
struct Candidate {
    /// The alias class: the parameter's index if its memory is disjoint from that of all other parameters, or `None`
    /// for the class of all other parameters.
    class: Option<u32>,
    param: u32,
    offset: Option<Value>,
    bytes: u32,
    /// Whether lanes can perform the access together: all work-items of the group, or of each complete subgroup,
    /// execute it, and consecutive work-items access consecutive memory.
    together: bool,
}

/// The accesses of a kernel to the memory of an alias class.
#[derive(Default)]
struct Class {
    stored: bool,
    /// Sizes of the accesses in bytes.
    widths: FxHashSet<u32>,
    /// Whether there are accesses that lanes cannot perform together.
    not_combinable: bool,
    /// Whether incomplete subgroups perform some accesses individually.
    has_individual: bool,
    /// Whether some accesses are outside of the code with two versions.
    has_unversioned: bool,
}

/// Rewrites a kernel for subgroups of `lanes` work-items if the launch allows it and it is profitable. Expects the
/// form that `resolve_pointers` and `shrink_int64` produce. Returns whether anything changed.
pub fn run(function: &mut Function, key: &LaunchKey, lanes: u32) -> bool {
    let fits = lanes >= MAX_TOGETHER
        && key.kernel.local_size[0].is_multiple_of(MAX_TOGETHER)
        && key.binding.split.params.is_empty()
        && key.binding.merged.is_empty();
    if !fits || !has_wide(function) {
        return false;
    }
    let items = key.kernel.local_size.iter().fold(1_u32, |product, &size| product.saturating_mul(size));
    let full = items.is_multiple_of(lanes) && key.kernel.guard == [false; 3];
    let before = function.clone();
    let complete = versions::make(function, key.kernel.local_size, full, lanes);
    let accesses = find(function, key, full, complete).unwrap_or_default();
    if accesses.iter().all(Option::is_none) {
        *function = before;
        return false;
    }
    rewrite::run(function, &accesses);
    true
}

/// Whether a function has an access of more than [`PART`] bytes to a buffer.
pub fn has_wide(function: &Function) -> bool {
    is_wide(function, &function.body.insts)
}

/// Whether one of the instructions accesses more than [`PART`] bytes of a buffer.
fn is_wide(function: &Function, insts: &[Inst]) -> bool {
    let mut wide = false;
    let mut visit = |inst: &Inst| {
        let is_buffer = |ptr| matches!(function.ty(ptr), Type::Ptr(Space::Global | Space::Constant));
        wide |= access(function, inst).is_some_and(|(ptr, bytes, _)| bytes > PART && is_buffer(ptr));
    };
    for inst in insts {
        visit(inst);
        inst.op.regions().iter().for_each(|region| region.walk(&mut visit));
    }
    wide
}

/// Returns the pointer and the size in bytes of a load or store, and whether it is a store. Returns `None` for other
/// instructions.
fn access(function: &Function, inst: &Inst) -> Option<(Value, u32, bool)> {
    let bytes = |ty: Type| ty.scalar().map_or(0, |scalar| scalar.size() * u32::from(ty.lanes()));
    match &inst.op {
        Op::Load { ptr, .. } => Some((*ptr, bytes(function.ty(*inst.results.first()?)), false)),
        Op::Store { ptr, value, .. } => Some((*ptr, bytes(function.ty(*value)), true)),
        _ => None,
    }
}

/// Returns the replacement of each load and store, in program order. Returns `None` if the target of an access is
/// unknown. `full` is true if all subgroups are complete at the start of the kernel. `complete` is the result of
/// [`versions::make`].
fn find(function: &Function, key: &LaunchKey, full: bool, complete: Option<Value>) -> Option<Vec<Option<Combined>>> {
    let params = DivergenceParams { group: key.kernel.local_size, zero_offset: false, stable: StableLoads::Constant };
    let divergence = Divergence::of(function, &function.body, params);
    let mut found = Accesses {
        function,
        key,
        definitions: Definitions::of(function),
        divergence: &divergence,
        zeros: alignment::zeros(function, &function.body, 1)?,
        candidates: Vec::new(),
        classes: FxHashMap::default(),
        is_ordered: false,
        is_known: true,
    };
    divergence.walk(&function.body, full, complete, &mut |inst, here| found.visit(inst, here));
    found
        .is_known
        .then(|| found.candidates.iter().map(|candidate| candidate.as_ref().and_then(|candidate| found.combined(candidate))).collect())
}

/// Collects the accesses of a kernel.
struct Accesses<'a> {
    function: &'a Function,
    key: &'a LaunchKey,
    definitions: Definitions<'a>,
    divergence: &'a Divergence<'a>,
    /// The number of trailing zero bits of each value.
    zeros: Vec<u8>,
    /// Each load and store. `None` for accesses to other memory than buffers, and for accesses in the version for
    /// incomplete subgroups.
    candidates: Vec<Option<Candidate>>,
    classes: FxHashMap<Option<u32>, Class>,
    /// Whether a fence, an atomic or a call orders accesses.
    is_ordered: bool,
    /// Whether the target of every access is known.
    is_known: bool,
}

impl Accesses<'_> {
    /// Returns the parameter that a pointer points into, its alias class, and the offset. Returns `None` for other
    /// pointers.
    fn class_of(&self, ptr: Value) -> Option<(u32, Option<u32>, Option<Value>)> {
        let (Root::Param(param), offset) = self.definitions.pointer(ptr)? else { return None };
        Some((param, Some(param).filter(|_| is_distinct(self.function, self.key, param)), offset))
    }

    fn visit(&mut self, inst: &Inst, here: Together) {
        match &inst.op {
            Op::Load { .. } | Op::Store { .. } => {
                let candidate = self.candidate(inst, here);
                self.candidates.push(candidate);
            }
            Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => {
                self.is_ordered = true;
                match self.class_of(*ptr) {
                    Some((_, class, _)) => {
                        let entry = self.classes.entry(class).or_default();
                        (entry.stored, entry.not_combinable) = (true, true);
                    }
                    None => self.is_known &= !matches!(self.function.ty(*ptr), Type::Ptr(Space::Global | Space::Generic)),
                }
            }
            Op::MemFence(_) => self.is_ordered = true,
            // A callee may contain fences. It may also access buffers at addresses that the call passes.
            Op::Call(_, args) => {
                self.is_ordered = true;
                let may_be_address = |ty: Type| matches!(ty, Type::Ptr(_)) || ty.scalar() == Some(Scalar::I64);
                self.is_known &= !args.iter().any(|&arg| may_be_address(self.function.ty(arg)));
            }
            // `lower_memory` has expanded these operations. If one is left, its target counts as unknown.
            Op::Copy { .. } | Op::Zero { .. } => self.is_known = false,
            _ => {}
        }
    }

    /// Returns a load or store of a buffer, except in the version for incomplete subgroups. Returns `None` for other
    /// instructions.
    fn candidate(&mut self, inst: &Inst, here: Together) -> Option<Candidate> {
        let (Op::Load { ptr, volatile, align, .. } | Op::Store { ptr, volatile, align, .. }) = &inst.op else { return None };
        let (_, bytes, store) = access(self.function, inst)?;
        if !matches!(self.function.ty(*ptr), Type::Ptr(Space::Global | Space::Constant)) {
            self.is_known &= !matches!(self.function.ty(*ptr), Type::Ptr(Space::Generic));
            return None;
        }
        // Program-scope variables are not buffers.
        if matches!(self.definitions.pointer(*ptr), Some((Root::Global(_), _))) {
            return None;
        }
        let Some((param, class, offset)) = self.class_of(*ptr) else {
            self.is_known = false;
            return None;
        };
        let entry = self.classes.entry(class).or_default();
        if here == Together::IncompleteSubgroup {
            entry.has_individual = true;
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
        entry.has_unversioned |= here != Together::Subgroup;
        entry.stored |= store;
        entry.widths.insert(bytes);
        entry.not_combinable |= !together || !whole;
        Some(Candidate { class, param, offset, bytes, together })
    }

    /// Returns the combined access. Returns `None` if it is not possible. For a written class, it must be possible for
    /// all accesses.
    fn combined(&self, candidate: &Candidate) -> Option<Combined> {
        let class = self.classes.get(&candidate.class)?;
        let is_mixed = class.not_combinable || (class.has_individual && class.has_unversioned);
        let is_combined = class.widths.len() == 1 && !is_mixed && !self.is_ordered;
        if !candidate.together || (class.stored && !is_combined) {
            return None;
        }
        let mut sum = candidate.offset.map_or_else(Linear::default, |offset| self.definitions.linear(offset));
        let uniform = sum.terms.iter().copied().filter(|(value, _)| self.divergence.is_uniform_in_group(*value)).collect();
        sum.terms.retain(|(value, _)| !self.divergence.is_uniform_in_group(*value));
        sum.terms.sort_unstable();
        Some(Combined {
            param: *self.function.params.get(candidate.param as usize)?,
            uniform: Linear { constant: std::mem::take(&mut sum.constant), terms: uniform },
            per_lane: sum,
            bytes: candidate.bytes,
        })
    }
}

/// Whether a buffer shares no memory with another buffer in the launch.
fn is_distinct(function: &Function, key: &LaunchKey, param: u32) -> bool {
    let kernel = function.kernel.as_ref();
    let is_restrict = |param: &KernelParam| matches!(param, KernelParam::Buffer { restrict: true, .. });
    key.binding.distinct || kernel.and_then(|kernel| kernel.params.get(param as usize)).is_some_and(is_restrict)
}
