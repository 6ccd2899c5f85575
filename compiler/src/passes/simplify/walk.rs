//! The walk over a function: the state at the current position, and the rules for single instructions. Control flow is
//! in [`super::flow`].

use super::equal::Names;
use super::sums::Sums;
use super::{Purity, is_expensive};
use crate::diag::Span;
use crate::ir::{CastOp, Const, Function, Inst, Op, Region, Space, Type, Value, Var};
use rustc_hash::FxHashMap;

/// Simplifies a function once. Returns whether a rule applied.
pub(super) fn run(function: &mut Function, purity: &Purity) -> bool {
    let mut walk = Walk::new(function, purity);
    let mut body = std::mem::take(&mut walk.function.body);
    walk.region(&mut body);
    let mut insts = std::mem::take(&mut walk.entry);
    let changed = walk.changed;
    insts.append(&mut body.insts);
    function.body = Region { insts };
    changed
}

/// An operation, its type, and a number. For a load, the number is the version of the memory that it reads. For an `if`
/// it is `u64::MAX`, otherwise 0.
pub(super) type Key = (Op, Type, u64);

/// An enclosing loop.
pub(super) struct LoopFrame {
    /// Instructions that are hoisted before the loop.
    pub before: Vec<Inst>,
    /// The number of open regions around the loop.
    pub scope: usize,
    /// The number of `if`s and `switch`es in this loop around the current position.
    pub conditions: u32,
    /// Whether `break`, `continue` or `return` may have executed before the current position.
    pub may_have_left: bool,
    /// The memory versions before the loop. Memory whose version does not change in the loop is loop-invariant.
    pub outside: MemoryStates,
}

/// Versions of memory: loads with equal versions give equal results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryStates {
    /// The version after the last store with an unknown target.
    all: u32,
    local: u32,
    global: u32,
    /// Private variables, by number.
    vars: FxHashMap<Var, u32>,
}

/// The memory that an instruction or a region may change.
#[derive(Clone, Debug, Default)]
pub(super) struct Clobbers {
    all: bool,
    local: bool,
    global: bool,
    vars: Vec<Var>,
}

pub(super) struct Walk<'a> {
    pub function: &'a mut Function,
    pub purity: &'a Purity,
    /// Pure operations, by result.
    defs: Vec<Option<Op>>,
    /// For each pointer, the private variable that it points into, if this is known.
    roots: Vec<Option<Var>>,
    /// Replacements of removed values. A replacement may be replaced as well.
    replaced: Vec<Option<Value>>,
    /// The time of each definition: the number of definitions visited up to it. [`Self::is_older`] compares it with the
    /// time of a position.
    defined_at: Vec<u32>,
    clock: u32,
    /// The number of loops around each definition.
    depth: Vec<u32>,
    constants: FxHashMap<(Type, Const), Value>,
    entry: Vec<Inst>,
    table: FxHashMap<Key, Value>,
    /// For each open region, the keys that it has added to `table`.
    scopes: Vec<Vec<Key>>,
    pub loops: Vec<LoopFrame>,
    /// Conditions with known values.
    pub facts: FxHashMap<Value, bool>,
    pub memory: MemoryStates,
    next_state: u32,
    pub(super) names: Names,
    /// All results of the `if`s in `table`, by their first result.
    pub(super) results_of: FxHashMap<Value, Vec<Value>>,
    /// Recursion depth of rules.
    nesting: u32,
    /// The result of the current instruction.
    pub current: Option<Value>,
    pub(super) sums: Sums,
    pub changed: bool,
}

/// Returns the private variable that the result of an operation points into, or `None` if it is not known.
fn root_of(op: &Op, roots: &[Option<Var>]) -> Option<Var> {
    match op {
        Op::VarAddr(var) => Some(*var),
        Op::PtrAdd(base, _) | Op::Cast(CastOp::SpaceCast, base) => roots.get(base.index()).copied().flatten(),
        _ => None,
    }
}

impl<'a> Walk<'a> {
    fn new(function: &'a mut Function, purity: &'a Purity) -> Self {
        let count = function.values.len();
        let mut roots = vec![None; count];
        function.body.walk(&mut |inst| {
            if let [result] = inst.results[..] {
                roots[result.index()] = root_of(&inst.op, &roots);
            }
        });
        Self {
            sums: Sums::of(function),
            current: None,
            function,
            purity,
            defs: vec![None; count],
            roots,
            replaced: vec![None; count],
            defined_at: vec![0; count],
            clock: 0,
            depth: vec![0; count],
            constants: FxHashMap::default(),
            entry: Vec::new(),
            table: FxHashMap::default(),
            scopes: Vec::new(),
            loops: Vec::new(),
            facts: FxHashMap::default(),
            memory: MemoryStates::default(),
            next_state: 0,
            names: Names::default(),
            results_of: FxHashMap::default(),
            nesting: 0,
            changed: false,
        }
    }

    /// Returns the pure operation that defines a value, or `None` for other values.
    pub(super) fn def(&self, value: Value) -> Option<&Op> {
        self.defs.get(value.index()).and_then(Option::as_ref)
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// Returns the constant that defines a value, or `None` for other values.
    pub(super) fn constant_of(&self, value: Value) -> Option<&Const> {
        match self.def(value) {
            Some(Op::Const(constant)) => Some(constant),
            _ => None,
        }
    }

    /// Returns the bits of a scalar constant, or of the lanes of a vector constant with equal lanes. Returns `None` for
    /// other values.
    pub(super) fn bits(&self, value: Value) -> Option<u64> {
        self.constant_of(value)?.bits()
    }

    /// Returns the bits of each lane of a constant. Returns `None` for other values, and for null and undefined
    /// constants.
    pub(super) fn lanes(&self, value: Value) -> Option<Vec<u64>> {
        match self.constant_of(value)? {
            Const::Bits(bits) => Some(vec![*bits]),
            Const::Lanes(lanes) => Some(lanes.clone()),
            Const::Null | Const::Undef => None,
        }
    }

    /// Returns the current replacement of a value, or the value itself. A known condition is replaced by a constant.
    pub(super) fn resolve(&mut self, value: Value) -> Value {
        let mut current = value;
        while let Some(Some(next)) = self.replaced.get(current.index()) {
            current = *next;
        }
        // Compress the path for later look-ups.
        let mut step = value;
        while let Some(Some(next)) = self.replaced.get(step.index()).copied() {
            self.replaced[step.index()] = Some(current);
            step = next;
        }
        if !self.facts.is_empty()
            && let Some(&known) = self.facts.get(&current)
        {
            return self.constant(Type::BOOL, Const::Bits(u64::from(known)));
        }
        current
    }

    /// Replaces a value by another one.
    pub(super) fn replace(&mut self, old: Value, new: Value) {
        if old != new {
            self.replaced[old.index()] = Some(new);
            self.sums.transfer_uses(old, new);
        }
    }

    /// Extends the tables for new values.
    fn grow(&mut self) {
        let count = self.function.values.len();
        self.defs.resize(count, None);
        self.roots.resize(count, None);
        self.replaced.resize(count, None);
        self.defined_at.resize(count, 0);
        self.depth.resize(count, 0);
    }

    /// Returns a constant. Creates it at the start of the function if it does not exist.
    pub(super) fn constant(&mut self, ty: Type, constant: Const) -> Value {
        if let Some(&value) = self.constants.get(&(ty, constant.clone())) {
            return value;
        }
        let value = self.function.emit(&mut self.entry, Span::NONE, ty, Op::Const(constant.clone()));
        self.grow();
        self.defs[value.index()] = Some(Op::Const(constant.clone()));
        self.constants.insert((ty, constant), value);
        value
    }

    /// Returns a constant with equal lanes.
    pub(super) fn splat(&mut self, ty: Type, bits: u64) -> Value {
        self.constant(ty, Const::splat(ty, bits))
    }

    /// Returns a constant with the given lanes.
    pub(super) fn constant_lanes(&mut self, ty: Type, lanes: Vec<u64>) -> Value {
        let constant = match (ty, lanes.first()) {
            (Type::Vector(..), _) | (_, None) => Const::Lanes(lanes),
            (_, Some(&bits)) => Const::Bits(bits),
        };
        self.constant(ty, constant)
    }

    /// Returns the current time, for [`Self::is_older`].
    pub(super) const fn now(&self) -> u32 {
        self.clock
    }

    /// Whether a value was defined before a time, so that it dominates that position.
    pub(super) fn is_older(&self, value: Value, time: u32) -> bool {
        self.defined_at[value.index()] <= time
    }

    /// Records a definition at the current time.
    pub(super) fn define(&mut self, value: Value) {
        self.grow();
        self.clock += 1;
        self.defined_at[value.index()] = self.clock;
        self.depth[value.index()] = crate::ir::number(self.loops.len());
    }

    pub(super) fn open_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn close_scope(&mut self) {
        for key in self.scopes.pop().unwrap_or_default() {
            self.table.remove(&key);
        }
    }

    pub(super) fn scope(&self) -> usize {
        self.scopes.len()
    }

    fn remember(&mut self, key: Key, value: Value, scope: usize) {
        // An existing entry belongs to an enclosing region and stays valid.
        if let std::collections::hash_map::Entry::Vacant(entry) = self.table.entry(key.clone()) {
            entry.insert(value);
            if let Some(keys) = self.scopes.get_mut(scope.saturating_sub(1)) {
                keys.push(key);
            }
        }
    }

    /// Returns the result of the same operation in this or an enclosing region, or `None` if there is none.
    pub(super) fn known(&self, key: &Key) -> Option<Value> {
        self.table.get(key).copied()
    }

    /// Returns the result of a load, or `None` if it is not known.
    pub(super) fn loaded(&self, ptr: Value, ty: Type) -> Option<Value> {
        self.known(&self.load_key(ptr, ty))
    }

    /// Returns an existing constant, or `None` if there is none.
    pub(super) fn known_constant(&self, ty: Type, bits: u64) -> Option<Value> {
        self.constants.get(&(ty, Const::Bits(bits))).copied()
    }

    /// Records an operation until the end of the current region.
    pub(super) fn remember_here(&mut self, key: Key, value: Value) {
        self.remember(key, value, self.scopes.len());
    }

    /// Returns the value of a pure operation: the value of a simplified or existing operation, or the result of a new
    /// instruction. The new instruction defines `into`, if given.
    pub(super) fn pure(&mut self, out: &mut Vec<Inst>, span: Span, ty: Type, mut op: Op, into: Option<Value>) -> Value {
        if self.nesting < 8 {
            self.nesting += 1;
            let simpler = self.rewrite(out, span, ty, &mut op);
            self.nesting -= 1;
            if let Some(value) = simpler {
                self.changed = true;
                return value;
            }
        }
        if let Op::Const(constant) = op {
            return self.constant(ty, constant);
        }
        let key = (op.clone(), ty, 0);
        if let Some(&value) = self.table.get(&key) {
            return value;
        }
        let value = into.unwrap_or_else(|| self.function.new_value(ty));
        self.define(value);
        self.defs[value.index()] = Some(op.clone());
        self.roots[value.index()] = root_of(&op, &self.roots);
        let inst = Inst { op, results: vec![value], span };
        let scope = match self.hoist_level(&inst.op) {
            Some(level) => {
                self.depth[value.index()] = crate::ir::number(level);
                self.loops[level].before.push(inst);
                self.loops[level].scope
            }
            None => {
                out.push(inst);
                self.scopes.len()
            }
        };
        self.remember(key, value, scope);
        value
    }

    /// Creates a pure operation for a rule.
    pub(super) fn make(&mut self, out: &mut Vec<Inst>, span: Span, ty: Type, op: Op) -> Value {
        self.pure(out, span, ty, op, None)
    }

    /// Whether `value` is defined in more nested loops than `other`.
    pub(super) fn is_deeper(&self, value: Value, other: Value) -> bool {
        self.depth[value.index()] > self.depth[other.index()]
    }

    /// Returns the index of the outermost loop that an operation can be hoisted out of, or `None` if there is none.
    fn hoist_level(&self, op: &Op) -> Option<usize> {
        if self.loops.is_empty() || matches!(op, Op::Call(..)) {
            return None;
        }
        let mut level = 0;
        op.for_each_operand(|value| level = level.max(self.depth[value.index()] as usize));
        let exited = self.loops.get(level..)?;
        let is_unconditional = exited.iter().all(|frame| frame.conditions == 0);
        (!exited.is_empty() && (is_unconditional || !is_expensive(op))).then_some(level)
    }

    /// Returns the index of the outermost loop that a load can be hoisted out of, or `None` if there is none. The load
    /// must have the same result in all iterations, and execute unconditionally in the first iteration.
    fn load_hoist_level(&self, ptr: Value) -> Option<usize> {
        let same = |memory: &MemoryStates| {
            memory.all == self.memory.all
                && match self.ty(ptr).space() {
                    Some(Space::Constant) => true,
                    Some(Space::Local) => memory.local == self.memory.local,
                    Some(Space::Global) => memory.global == self.memory.global,
                    _ => false,
                }
        };
        let is_invariant = |frame: &LoopFrame| frame.conditions == 0 && !frame.may_have_left && same(&frame.outside);
        let inner = self.loops.iter().rev().take_while(|frame| is_invariant(frame)).count();
        let level = (self.loops.len() - inner).max(self.depth[ptr.index()] as usize);
        (level < self.loops.len()).then_some(level)
    }

    pub(super) fn region(&mut self, region: &mut Region) {
        self.open_scope();
        let mut out = Vec::with_capacity(region.insts.len());
        let mut work = std::mem::take(&mut region.insts);
        work.reverse();
        while let Some(inst) = work.pop() {
            let ends = inst.op.is_terminator();
            self.inst(inst, &mut out, &mut work);
            if ends {
                break;
            }
        }
        region.insts = out;
        self.close_scope();
    }

    fn inst(&mut self, mut inst: Inst, out: &mut Vec<Inst>, work: &mut Vec<Inst>) {
        inst.op.map_operands(|value| *value = self.resolve(*value));
        match &inst.op {
            Op::If { .. } => self.branch(inst, out, work),
            Op::Switch { .. } => self.switch(inst, out, work),
            Op::Loop { .. } => self.visit_loop(inst, out, work),
            Op::Load { ptr, volatile: false, .. } => {
                if let [result] = inst.results[..] {
                    let key = self.load_key(*ptr, self.ty(result));
                    if let Some(&known) = self.table.get(&key) {
                        self.changed = true;
                        self.replace(result, known);
                        return;
                    }
                    if let Some((vector, lane)) = self.known_lane(*ptr, self.ty(result)) {
                        self.changed = true;
                        let value = self.pure(out, inst.span, self.ty(result), Op::Extract(vector, lane), Some(result));
                        self.replace(result, value);
                        return;
                    }
                    self.define(result);
                    if let Some(level) = self.load_hoist_level(*ptr) {
                        self.changed = true;
                        self.depth[result.index()] = crate::ir::number(level);
                        let frame = &mut self.loops[level];
                        frame.before.push(inst);
                        let scope = frame.scope;
                        self.remember(key, result, scope);
                        return;
                    }
                    self.remember(key, result, self.scopes.len());
                }
                out.push(inst);
            }
            Op::Store { ptr, value, volatile, .. } => {
                if matches!(self.constant_of(*value), Some(Const::Undef)) && !*volatile {
                    self.changed = true;
                    return;
                }
                let (ptr, value, volatile) = (*ptr, *value, *volatile);
                let key = self.load_key(ptr, self.ty(value));
                if !volatile && self.table.get(&key) == Some(&value) {
                    self.changed = true;
                    return;
                }
                let clobbers = self.clobbers_of(&inst.op);
                self.clobber(&clobbers);
                if !volatile {
                    let key = self.load_key(ptr, self.ty(value));
                    self.remember(key, value, self.scopes.len());
                }
                out.push(inst);
            }
            op if op.is_pure() || matches!(op, Op::Call(callee, _) if self.purity.is_pure(*callee)) => {
                let [result] = inst.results[..] else {
                    inst.results.iter().for_each(|&result| self.define(result));
                    out.push(inst);
                    return;
                };
                self.current = Some(result);
                let value = self.pure(out, inst.span, self.ty(result), inst.op, Some(result));
                self.current = None;
                self.replace(result, value);
            }
            _ => {
                match inst.op {
                    Op::Break(_) | Op::Continue(_) => self.loops.last_mut().into_iter().for_each(|frame| frame.may_have_left = true),
                    Op::Return(_) => self.loops.iter_mut().for_each(|frame| frame.may_have_left = true),
                    _ => {}
                }
                let clobbers = self.clobbers_of(&inst.op);
                self.clobber(&clobbers);
                for &result in &inst.results {
                    self.define(result);
                }
                out.push(inst);
            }
        }
    }

    fn load_key(&self, ptr: Value, ty: Type) -> Key {
        let space = self.ty(ptr).space();
        let state = match space {
            Some(Space::Constant) => 1,
            Some(Space::Local) => u64::from(self.memory.local),
            Some(Space::Global) => u64::from(self.memory.global),
            _ => match self.root(ptr) {
                Some(var) => u64::from(self.memory.vars.get(&var).copied().unwrap_or(0)),
                None => u64::from(self.next_state),
            },
        };
        let all = if space == Some(Space::Constant) { 0 } else { self.memory.all };
        (Op::Load { ptr, align: 1, volatile: false }, ty, u64::from(all) << 32 | state)
    }

    /// Returns the private variable that a pointer points into, or `None` if it is not known.
    fn root(&self, ptr: Value) -> Option<Var> {
        self.roots.get(ptr.index()).copied().flatten()
    }

    fn clobbers_of(&self, op: &Op) -> Clobbers {
        let mut clobbers = Clobbers::default();
        self.add_clobbers(op, &mut clobbers);
        clobbers
    }

    fn add_clobbers(&self, op: &Op, clobbers: &mut Clobbers) {
        match op {
            Op::Store { ptr, .. }
            | Op::Copy { dst: ptr, .. }
            | Op::Zero { dst: ptr, .. }
            | Op::Atomic { ptr, .. }
            | Op::CmpXchg { ptr, .. } => {
                let ptr = self.replacement_of(*ptr);
                match self.ty(ptr).space() {
                    Some(Space::Local) => clobbers.local = true,
                    Some(Space::Global) => clobbers.global = true,
                    _ => match self.root(ptr) {
                        Some(var) => clobbers.vars.push(var),
                        None => clobbers.all = true,
                    },
                }
            }
            Op::Load { volatile: true, .. } | Op::Barrier(_) | Op::MemFence(_) | Op::Group { .. } => {
                clobbers.local = true;
                clobbers.global = true;
            }
            Op::Image { .. } => clobbers.global = true,
            Op::Call(callee, _) if !self.purity.is_pure(*callee) => clobbers.all = true,
            op => {
                for region in op.regions() {
                    for inst in &region.insts {
                        self.add_clobbers(&inst.op, clobbers);
                    }
                }
            }
        }
    }

    fn replacement_of(&self, value: Value) -> Value {
        let mut current = value;
        while let Some(Some(next)) = self.replaced.get(current.index()) {
            current = *next;
        }
        current
    }

    /// Returns the memory that a region may change. The region need not be visited yet.
    pub(super) fn clobbers_in(&self, region: &Region) -> Clobbers {
        let mut clobbers = Clobbers::default();
        for inst in &region.insts {
            self.add_clobbers(&inst.op, &mut clobbers);
        }
        clobbers
    }

    /// Assigns a new version to memory that may have changed.
    pub(super) fn clobber(&mut self, clobbers: &Clobbers) {
        self.next_state += 1;
        let state = self.next_state;
        if clobbers.all {
            self.memory.all = state;
        }
        if clobbers.local {
            self.memory.local = state;
        }
        if clobbers.global {
            self.memory.global = state;
        }
        for &var in &clobbers.vars {
            self.memory.vars.insert(var, state);
        }
    }

    /// Restores the memory versions before an `if` or `switch`, for its next region.
    pub(super) fn restore_memory(&mut self, memory: MemoryStates) {
        self.memory = memory;
        self.next_state += 1;
    }

    /// Sets the memory versions after regions that started with `before` and ended with `after`.
    pub(super) fn join(&mut self, before: &MemoryStates, after: &[MemoryStates]) {
        self.next_state += 1;
        let state = self.next_state;
        let mut joined = before.clone();
        for memory in after {
            if memory.all != before.all {
                joined.all = state;
            }
            if memory.local != before.local {
                joined.local = state;
            }
            if memory.global != before.global {
                joined.global = state;
            }
            for (&var, number) in &memory.vars {
                if before.vars.get(&var) != Some(number) {
                    joined.vars.insert(var, state);
                }
            }
        }
        self.memory = joined;
    }
}
