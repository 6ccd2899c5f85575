//! Finds the values that may depend on bytes of private variables to which nothing was stored.
//!
//! 1. A variable is *tracked* if each of its accesses is a load, store, copy or zeroing at a constant offset. `sroa`
//!    can promote such variables. The sanitizer checks the bytes of the other variables when they are loaded.
//! 2. A tracked variable is a *source* if a load may precede the stores to its bytes. Stores on all paths count.
//! 3. Values and variables that may receive bytes of a source are *suspect*. Only these get a shadow.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::analysis::addresses::Addresses;
use crate::ir::{CastOp, Function, Inst, Op, Region, Value, Var};

/// The maximum size in bytes of a tracked variable.
const MAX_SIZE: u32 = 512;

/// The maximum number of variables that a report names.
const MAX_ORIGINS: usize = 3;

/// The bytes of a variable, one bit per byte.
type Bytes = [u64; (MAX_SIZE / 64) as usize];

/// The sources that a value may depend on, in order. Contains at most [`MAX_ORIGINS`].
pub(super) type Origins = SmallVec<[Var; 1]>;

/// Adds variables to a set. Returns whether the set has changed.
fn add(origins: &mut Origins, more: &[Var]) -> bool {
    let before = origins.len();
    for &var in more {
        if origins.len() < MAX_ORIGINS && !origins.contains(&var) {
            origins.push(var);
        }
    }
    origins.len() != before
}

/// The suspect values and variables of a function.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) values: FxHashMap<Value, Origins>,
    pub(super) vars: FxHashMap<Var, Origins>,
    /// The suspect variables that are sources.
    pub(super) sources: FxHashSet<Var>,
}

impl Plan {
    /// Analyses a function.
    pub(super) fn of(function: &Function, addresses: &Addresses, ptr_size: u32) -> Self {
        let tracked = tracked(function, addresses, ptr_size);
        let mut search =
            Search { function, addresses, ptr_size, tracked: &tracked, stored: FxHashMap::default(), sources: FxHashSet::default() };
        search.region(&function.body);
        let sources = search.sources;
        let mut plan = Self { vars: sources.iter().map(|&var| (var, Origins::from_elem(var, 1))).collect(), sources, ..Self::default() };
        if !plan.vars.is_empty() {
            let mut flow = Flow { addresses, tracked: &tracked, plan: &mut plan, loops: Vec::new(), changed: true };
            while std::mem::take(&mut flow.changed) {
                flow.region(&function.body, &[]);
            }
        }
        plan
    }
}

/// Returns for each variable whether it is tracked.
fn tracked(function: &Function, addresses: &Addresses, ptr_size: u32) -> Vec<bool> {
    let mut tracked: Vec<bool> = function.vars.iter().map(|var| var.size <= MAX_SIZE).collect();
    let mut refuse = |pointer: Value| {
        if let Some((var, _)) = addresses.variable(pointer) {
            tracked[var.index()] = false;
        }
    };
    let is_inside = |pointer: Value, size: u32| match addresses.variable(pointer) {
        Some((var, Some(offset))) => {
            let end = u32::try_from(offset).ok().and_then(|offset| offset.checked_add(size));
            end.is_some_and(|end| size > 0 && end <= function.vars[var.index()].size)
        }
        Some((_, None)) => false,
        None => true,
    };
    function.body.walk(&mut |inst| match inst.op {
        Op::VarAddr(_) => {}
        // The accesses through the result are checked instead.
        Op::PtrAdd(pointer, _) | Op::Cast(CastOp::SpaceCast, pointer) if addresses.variable(pointer).is_some() => {}
        Op::Load { ptr, volatile, .. } => {
            let size = inst.results.first().map_or(0, |&result| function.ty(result).access_size(ptr_size));
            if volatile || !is_inside(ptr, size) {
                refuse(ptr);
            }
        }
        Op::Store { ptr, value, volatile, .. } => {
            refuse(value);
            if volatile || !is_inside(ptr, function.ty(value).access_size(ptr_size)) {
                refuse(ptr);
            }
        }
        Op::Copy { dst, src, size, .. } => {
            for pointer in [dst, src] {
                if !is_inside(pointer, size) {
                    refuse(pointer);
                }
            }
        }
        Op::Zero { dst, size, .. } => {
            if !is_inside(dst, size) {
                refuse(dst);
            }
        }
        ref op => op.for_each_operand(&mut refuse),
    });
    tracked
}

/// Searches the sources: visits the instructions in order with the bytes to which all paths have stored.
struct Search<'a> {
    function: &'a Function,
    addresses: &'a Addresses,
    ptr_size: u32,
    tracked: &'a [bool],
    stored: FxHashMap<Var, Bytes>,
    sources: FxHashSet<Var>,
}

/// The bits of `size` bytes from `offset`.
fn bytes(offset: i64, size: u32) -> Bytes {
    let mut bytes = Bytes::default();
    for byte in offset..offset + i64::from(size) {
        if let Some(word) = usize::try_from(byte / 64).ok().and_then(|word| bytes.get_mut(word)) {
            *word |= 1 << (byte % 64);
        }
    }
    bytes
}

impl Search<'_> {
    fn target(&self, pointer: Value) -> Option<(Var, i64)> {
        self.addresses.fixed(pointer).filter(|(var, _)| self.tracked[var.index()])
    }

    fn load(&mut self, pointer: Value, size: u32) {
        let Some((var, offset)) = self.target(pointer) else { return };
        // The compiler stores to its own variables before it loads them.
        if self.function.vars[var.index()].name.is_empty() {
            return;
        }
        let stored = self.stored.get(&var).copied().unwrap_or_default();
        if bytes(offset, size).iter().zip(stored).any(|(wanted, stored)| wanted & !stored != 0) {
            self.sources.insert(var);
        }
    }

    fn store(&mut self, pointer: Value, size: u32) {
        if let Some((var, offset)) = self.target(pointer) {
            let stored = self.stored.entry(var).or_default();
            stored.iter_mut().zip(bytes(offset, size)).for_each(|(stored, more)| *stored |= more);
        }
    }

    /// Visits a region. Returns whether its end continues after the region.
    fn region(&mut self, region: &Region) -> bool {
        for inst in &region.insts {
            match &inst.op {
                Op::Load { ptr, .. } => {
                    let size = inst.results.first().map_or(0, |&result| self.function.ty(result).access_size(self.ptr_size));
                    self.load(*ptr, size);
                }
                Op::Store { ptr, value, .. } => self.store(*ptr, self.function.ty(*value).access_size(self.ptr_size)),
                Op::Copy { dst, src, size, .. } => {
                    self.load(*src, *size);
                    self.store(*dst, *size);
                }
                Op::Zero { dst, size, .. } => self.store(*dst, *size),
                Op::Loop { body, .. } => {
                    let before = self.stored.clone();
                    self.region(body);
                    self.stored = before;
                }
                Op::If { .. } | Op::Switch { .. } => self.branches(&inst.op),
                Op::Yield(_) => return true,
                _ => {}
            }
        }
        false
    }

    fn branches(&mut self, op: &Op) {
        let before = self.stored.clone();
        let mut after: Option<FxHashMap<Var, Bytes>> = None;
        for region in op.regions() {
            self.stored.clone_from(&before);
            if !self.region(region) {
                continue;
            }
            let stored = std::mem::take(&mut self.stored);
            after = Some(match after {
                None => stored,
                Some(mut common) => {
                    common.retain(|var, bytes| {
                        let Some(other) = stored.get(var) else { return false };
                        bytes.iter_mut().zip(other).for_each(|(byte, other)| *byte &= other);
                        true
                    });
                    common
                }
            });
        }
        self.stored = after.unwrap_or(before);
    }
}

/// Propagates the origins through values and variables. Runs until nothing changes.
struct Flow<'a> {
    addresses: &'a Addresses,
    tracked: &'a [bool],
    plan: &'a mut Plan,
    /// The parameters and results of the enclosing loops.
    loops: Vec<(&'a [Value], &'a [Value])>,
    changed: bool,
}

impl<'a> Flow<'a> {
    fn var(&self, pointer: Value) -> Option<Var> {
        self.addresses.fixed(pointer).map(|(var, _)| var).filter(|var| self.tracked[var.index()])
    }

    fn mark_value(&mut self, to: Value, origins: &[Var]) {
        if !origins.is_empty() {
            self.changed |= add(self.plan.values.entry(to).or_default(), origins);
        }
    }

    fn mark_var(&mut self, to: Var, origins: &[Var]) {
        if !origins.is_empty() {
            self.changed |= add(self.plan.vars.entry(to).or_default(), origins);
        }
    }

    fn of_value(&self, value: Value) -> Origins {
        self.plan.values.get(&value).cloned().unwrap_or_default()
    }

    fn of_var(&self, var: Var) -> Origins {
        self.plan.vars.get(&var).cloned().unwrap_or_default()
    }

    fn pass(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            let origins = self.of_value(from);
            self.mark_value(to, &origins);
        }
    }

    fn region(&mut self, region: &'a Region, results: &[Value]) {
        for inst in &region.insts {
            self.inst(inst, results);
        }
    }

    fn inst(&mut self, inst: &'a Inst, results: &[Value]) {
        match &inst.op {
            Op::Load { ptr, .. } => {
                if let (Some(var), [result]) = (self.var(*ptr), &inst.results[..]) {
                    let origins = self.of_var(var);
                    self.mark_value(*result, &origins);
                }
            }
            Op::Store { ptr, value, .. } => {
                if let Some(var) = self.var(*ptr) {
                    let origins = self.of_value(*value);
                    self.mark_var(var, &origins);
                }
            }
            Op::Copy { dst, src, .. } => {
                if let (Some(dst), Some(src)) = (self.var(*dst), self.var(*src)) {
                    let origins = self.of_var(src);
                    self.mark_var(dst, &origins);
                }
            }
            Op::If { .. } | Op::Switch { .. } => inst.op.regions().into_iter().for_each(|region| self.region(region, &inst.results)),
            Op::Loop { init, params, body, .. } => {
                self.pass(init, params);
                self.loops.push((params, &inst.results));
                self.region(body, &[]);
                self.loops.pop();
            }
            Op::Yield(values) => self.pass(values, results),
            Op::Continue(values) => {
                if let Some((params, _)) = self.loops.last().copied() {
                    self.pass(values, params);
                }
            }
            Op::Break(values) => {
                if let Some((_, results)) = self.loops.last().copied() {
                    self.pass(values, results);
                }
            }
            op if op.is_pure() || matches!(op, Op::PtrAdd(..)) => {
                let mut origins = Origins::new();
                op.for_each_operand(|operand| _ = add(&mut origins, &self.of_value(operand)));
                inst.results.iter().for_each(|&result| self.mark_value(result, &origins));
            }
            _ => {}
        }
    }
}
