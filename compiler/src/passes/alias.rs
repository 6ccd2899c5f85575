//! Alias analysis of memory accesses, and hoisting of loads over stores that cannot alias them.
//!
//! ```text
//! %x = load %a                          %x = load %a
//! atomic.add %counts + %x, 1            %y = load %b
//! %y = load %b                   =>     atomic.add %counts + %x, 1
//! atomic.add %counts + %y, 1            atomic.add %counts + %y, 1
//! ```
//! The root of a pointer is the object on which the pointer is based. For shaders, `resolve_pointers` has run before,
//! so all roots are known. For machine code, some roots may be unknown. A pointer with an unknown root may alias all
//! memory.

use rustc_hash::{FxHashMap, FxHashSet};

use super::simplify::Purity;
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Root;
use crate::diag::Span;
use crate::ir::{Function, Inst, KernelParam, Op, Region, Value};

/// The memory that an instruction may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Root(Root),
    Anything,
    /// The instruction changes no memory, but it may make stores by other work-items visible.
    Synchronises,
}

/// The roots of all pointers of a function, and the aliasing of their memory.
pub(super) struct MemoryUse<'a> {
    addresses: Addresses,
    params: Vec<KernelParam>,
    distinct: bool,
    purity: &'a Purity,
}

impl<'a> MemoryUse<'a> {
    /// Analyses the body of a function. [`BindingKey::distinct`](crate::launch::BindingKey::distinct) documents
    /// `distinct`.
    pub(super) fn of(function: &Function, body: &Region, distinct: bool, purity: &'a Purity) -> Self {
        let params = function.kernel.as_ref().map(|kernel| kernel.params.clone()).unwrap_or_default();
        Self { addresses: Addresses::of(function, body), params, distinct, purity }
    }

    /// Returns the root of a pointer, or `None` if it is not known.
    pub(super) fn root(&self, pointer: Value) -> Option<Root> {
        self.addresses.root(pointer)
    }

    /// Returns the kernel parameter that a root refers to, or `None` for other roots.
    pub(super) fn param(&self, root: Root) -> Option<&KernelParam> {
        match root {
            Root::Param(index) => self.params.get(index as usize),
            _ => None,
        }
    }

    /// Whether accesses to the two roots cannot alias.
    pub(super) fn is_disjoint(&self, a: Root, b: Root) -> bool {
        // Buffers and images of two parameters may be the same object or share memory. So they are disjoint only if the
        // launch knows that all objects are distinct, or if one of the parameters is `restrict`.
        let shared = |root: Root| matches!(self.param(root), Some(KernelParam::Buffer { .. } | KernelParam::Image));
        let restrict = |root: Root| matches!(self.param(root), Some(KernelParam::Buffer { restrict: true, .. }));
        a != b && (self.distinct || !shared(a) || !shared(b) || restrict(a) || restrict(b))
    }

    /// Returns the effect of an instruction itself, without the effects of the instructions in its regions.
    pub(super) fn effect(&self, inst: &Inst) -> Effect {
        match inst.op {
            Op::Store { ptr, .. }
            | Op::Atomic { ptr, .. }
            | Op::CmpXchg { ptr, .. }
            | Op::Zero { dst: ptr, .. }
            | Op::Copy { dst: ptr, .. } => self.root(ptr).map_or(Effect::Anything, Effect::Root),
            Op::Call(callee, _) if self.purity.is_pure(callee) => Effect::Nothing,
            Op::Call(..) | Op::Image { .. } => Effect::Anything,
            Op::Barrier(_)
            | Op::MemFence(_)
            | Op::Group { .. }
            | Op::Printf { .. }
            | Op::Clock { .. }
            | Op::AsyncCopyBegin(_)
            | Op::AsyncCopyEnd
            | Op::AsyncCopyWait(_)
            | Op::Load { volatile: true, .. } => Effect::Synchronises,
            _ => Effect::Nothing,
        }
    }

    /// Hoists loads in a loop body over stores that cannot alias them. The loads move to the start of the body, or to
    /// just after the last instruction that may leave the iteration or contains a loop.
    pub(super) fn hoist_loads(&self, body: &mut Region) {
        let jumps = |inst: &Inst| {
            let mut found = false;
            for region in inst.op.regions() {
                region.for_each_jump(&mut |_| found = true);
                region.walk(&mut |inst| found |= matches!(inst.op, Op::Return(_) | Op::Unreachable));
            }
            found || matches!(inst.op, Op::Loop { .. })
        };
        let Some((end, rest)) = body.insts.split_last_mut() else { return };
        if !end.op.is_terminator() {
            return;
        }
        let start = rest.iter().rposition(jumps).map_or(0, |at| at + 1);
        let insts = &rest[start..];
        let mut changed: Vec<Root> = Vec::new();
        let defined: FxHashMap<Value, usize> =
            insts.iter().enumerate().flat_map(|(at, inst)| inst.results.iter().map(move |&result| (result, at))).collect();
        let (mut free, mut first) = (vec![false; insts.len()], FxHashSet::default());
        let mut anything = false;
        for (at, inst) in insts.iter().enumerate() {
            let mut ready = true;
            inst.op.for_each_operand(|value| ready &= defined.get(&value).is_none_or(|&at| free[at]));
            let is_load = match inst.op {
                Op::Load { ptr, volatile: false, .. } => {
                    !anything && self.root(ptr).is_some_and(|root| changed.iter().all(|&other| self.is_disjoint(root, other)))
                }
                _ => false,
            };
            free[at] = ready && (is_load || inst.op.is_pure());
            if free[at] && is_load {
                first.insert(at);
            }
            let mut note = |inst: &Inst| match self.effect(inst) {
                Effect::Nothing => {}
                Effect::Root(root) => changed.push(root),
                Effect::Anything | Effect::Synchronises => anything = true,
            };
            note(inst);
            inst.op.regions().into_iter().for_each(|region| region.walk(&mut note));
        }
        if changed.is_empty() {
            return;
        }
        // Hoist the operands of the loads as well.
        for (at, inst) in insts.iter().enumerate().rev() {
            if first.contains(&at) {
                inst.op.for_each_operand(|value| {
                    first.extend(defined.get(&value));
                });
            }
        }
        let mut early = Vec::new();
        let mut late = Vec::new();
        for (at, inst) in rest[start..].iter_mut().enumerate() {
            let inst = std::mem::replace(inst, Inst::effect(Op::Unreachable, Span::NONE));
            if first.contains(&at) { early.push(inst) } else { late.push(inst) }
        }
        for (place, inst) in rest[start..].iter_mut().zip(early.into_iter().chain(late)) {
            *place = inst;
        }
    }
}
