//! Points-to analysis: the objects that each pointer of a function may point into.
//!
//! Example: for `%3 = select %c, %a, %b` the set of `%3` is the union of the sets of `%a` and `%b`.

use crate::analysis::targets::Targets;
use crate::ir::{CastOp, Const, Function, Global, GlobalVar, KernelParam, Op, Region, Space, Type, Value, Var};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An object that a pointer is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    /// The pointee of a kernel's parameter with this index.
    Param(u32),
    /// A program-scope or local variable.
    Global(Global),
    /// A private variable.
    Var(Var),
}

/// A bit set of roots. Bit 0 is null. Bit `n + 1` is the root with number `n`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(SmallVec<[u64; 2]>);

impl Set {
    /// Adds the element of a bit. Returns whether the set changed.
    fn add(&mut self, bit: usize) -> bool {
        let word = bit / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let old = self.0[word];
        self.0[word] |= 1 << (bit % 64);
        old != self.0[word]
    }

    /// Adds the elements of `other` that `filter` contains. Returns whether the set changed.
    fn add_all(&mut self, other: &Self, filter: &Self) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (index, (own, new)) in self.0.iter_mut().zip(&other.0).enumerate() {
            let old = *own;
            *own |= new & filter.0.get(index).copied().unwrap_or(0);
            changed |= old != *own;
        }
        changed
    }

    /// Whether the set has an element that is not in `other`.
    fn has_others(&self, other: &Self) -> bool {
        self.0.iter().enumerate().any(|(index, word)| word & !other.0.get(index).copied().unwrap_or(0) != 0)
    }

    /// Returns the number of elements, including null.
    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns the numbers of the roots in order, without null.
    pub(super) fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit))
            .filter_map(|bit| bit.checked_sub(1))
    }
}

/// Every root that a function uses, and the points-to set of each pointer.
#[derive(Debug)]
pub(super) struct Roots {
    /// All roots. The number of a root is its index in this list.
    pub list: Vec<Root>,
    /// Space of each root.
    pub spaces: Vec<Space>,
    sets: Vec<Set>,
    /// For each value: whether it is a pointer in identity form. That form consists of the object's
    /// [identity](crate::pointer::identity) and an offset. Such a pointer may come from an integer, or from a root with
    /// unknown contents.
    identity_form: Vec<bool>,
    /// For each root: whether pointers stored in it have identity form.
    identity_memory: Vec<bool>,
}

/// A constraint on points-to sets that follows from one instruction.
enum Rule {
    /// The points-to set of the second pointer includes that of the first pointer.
    Flow(Value, Value),
    /// Like `Flow`, but roots outside of the second pointer's address space become null.
    Narrow(Value, Value),
    /// A load of a pointer.
    Load { ptr: Value, to: Value },
    /// A store of a pointer.
    Store { ptr: Value, value: Value },
    /// A load of a non-pointer, which may read the bits of a pointer.
    LoadBits { ptr: Value },
    /// A store of a non-pointer, which may be the bits of a pointer.
    StoreBits { ptr: Value },
    /// A cast from an integer to a pointer.
    FromBits(Value),
    /// A cast from a pointer to an integer, or another use that cannot be analysed.
    Escapes(Value),
}

impl Roots {
    /// Finds the roots and solves the constraints. If `large_offsets` is true, all pointers in memory have identity
    /// form.
    pub(super) fn of(function: &Function, globals: &[GlobalVar], large_offsets: bool) -> Self {
        let count = function.values.len();
        let mut roots = Self {
            list: Vec::new(),
            spaces: Vec::new(),
            sets: vec![Set::default(); count],
            identity_form: vec![false; count],
            identity_memory: Vec::new(),
        };
        let mut numbers = FxHashMap::default();
        for (index, &param) in (0_u32..).zip(&function.params) {
            if let Type::Ptr(space) = function.ty(param) {
                let number = roots.root(&mut numbers, Root::Param(index), space);
                roots.sets[param.index()].add(number + 1);
            }
        }
        let mut collector = Collector { function, rules: Vec::new(), constants: vec![false; count] };
        collector.region(&function.body, Targets::NONE);
        let rules = collector.rules;
        function.body.walk(&mut |inst| {
            let Some(&result) = inst.results.first() else { return };
            let number = match &inst.op {
                Op::VarAddr(var) => roots.root(&mut numbers, Root::Var(*var), Space::Private),
                Op::GlobalAddr(global) => {
                    let space = globals.get(global.index()).map_or(Space::Global, |global| global.space);
                    roots.root(&mut numbers, Root::Global(*global), space)
                }
                Op::Const(Const::Null) => {
                    roots.sets[result.index()].add(0);
                    return;
                }
                _ => return,
            };
            roots.sets[result.index()].add(number + 1);
        });
        // A pointer from memory may point into any buffer of the launch, and into any program-scope variable. The first
        // global of an address space represents all globals of that space.
        let mut any = Set::default();
        any.add(0);
        if rules.iter().any(|rule| matches!(rule, Rule::Load { .. } | Rule::FromBits(_))) {
            for space in [Space::Global, Space::Constant] {
                if let Some(first) = first_of(globals, space) {
                    let number = roots.root(&mut numbers, Root::Global(first), space);
                    any.add(number + 1);
                }
            }
            if let Some(kernel) = &function.kernel {
                for (index, param) in (0_u32..).zip(&kernel.params) {
                    if let (KernelParam::Buffer { .. }, Some(&number)) = (param, numbers.get(&Root::Param(index))) {
                        any.add(number + 1);
                    }
                }
            }
        }
        roots.solve(function, &rules, any, large_offsets);
        roots
    }

    fn root(&mut self, numbers: &mut FxHashMap<Root, usize>, root: Root, space: Space) -> usize {
        *numbers.entry(root).or_insert_with(|| {
            self.list.push(root);
            self.spaces.push(space);
            self.list.len() - 1
        })
    }

    /// Returns the points-to set of a pointer.
    pub(super) fn set(&self, ptr: Value) -> &Set {
        &self.sets[ptr.index()]
    }

    /// Whether a pointer has identity form.
    pub(super) fn has_identity(&self, ptr: Value) -> bool {
        self.identity_form[ptr.index()]
    }

    /// Whether pointers that are stored through `ptr` have identity form.
    pub(super) fn stores_identities(&self, ptr: Value) -> bool {
        self.set(ptr).roots().any(|root| self.identity_memory[root])
    }

    fn solve(&mut self, function: &Function, rules: &[Rule], any: Set, large_offsets: bool) {
        let filters = Filters::new(&self.spaces);
        // Only this kernel writes private and local memory, so their contents are known. With large offsets, their
        // contents count as unknown, because all pointers in memory have identity form.
        let own = |space: Space| !large_offsets && matches!(space, Space::Private | Space::Local);
        let contents = self.spaces.iter().map(|&space| own(space).then(Set::default)).collect();
        let bits_become_pointers = rules.iter().any(|rule| matches!(rule, Rule::FromBits(_)));
        let mut memory = Contents { known: contents, any, everything: filters.everything.clone() };
        let mut changed = true;
        while changed {
            changed = false;
            for rule in rules {
                changed |= match rule {
                    Rule::Flow(from, to) => self.flow(function, &filters, *from, *to),
                    Rule::Narrow(from, to) => {
                        let lost = self.sets[from.index()].has_others(filters.of(function.ty(*to)));
                        self.flow(function, &filters, *from, *to) | (lost && self.sets[to.index()].add(0))
                    }
                    Rule::FromBits(to) => {
                        let changed = !std::mem::replace(&mut self.identity_form[to.index()], true);
                        self.sets[to.index()].add_all(&memory.any, filters.of(function.ty(*to))) | changed
                    }
                    Rule::Escapes(value) => memory.escape(&self.sets[value.index()]),
                    Rule::Load { ptr, to } => {
                        let set = &self.sets[ptr.index()];
                        let (found, identity_form, mut changed) = memory.load(set);
                        changed |= identity_form && !std::mem::replace(&mut self.identity_form[to.index()], true);
                        self.sets[to.index()].add_all(&found, filters.of(function.ty(*to))) | changed
                    }
                    Rule::Store { ptr, value } => {
                        let mut changed = memory.store(&self.sets[ptr.index()], &self.sets[value.index()]);
                        if bits_become_pointers {
                            changed |= memory.escape(&self.sets[value.index()]);
                        }
                        changed
                    }
                    Rule::LoadBits { ptr } => memory.read_bits(&self.sets[ptr.index()]),
                    Rule::StoreBits { ptr } => memory.mark_unknown(&self.sets[ptr.index()]),
                };
            }
        }
        self.identity_memory = memory.known.iter().map(Option::is_none).collect();
    }

    /// Applies [`Rule::Flow`]. Returns whether anything changed.
    fn flow(&mut self, function: &Function, filters: &Filters, from: Value, to: Value) -> bool {
        let changed = self.identity_form[from.index()] && !std::mem::replace(&mut self.identity_form[to.index()], true);
        let set = self.sets[from.index()].clone();
        self.sets[to.index()].add_all(&set, filters.of(function.ty(to))) | changed
    }
}

/// Returns the first global of an address space. The memory of all globals of the space starts with this global.
pub(super) fn first_of(globals: &[GlobalVar], space: Space) -> Option<Global> {
    globals.iter().position(|global| global.space == space).and_then(|index| u32::try_from(index).ok()).map(Global)
}

/// The set of roots for each address space, including null.
struct Filters {
    spaces: Vec<(Space, Set)>,
    everything: Set,
}

impl Filters {
    fn new(spaces: &[Space]) -> Self {
        let mut everything = Set::default();
        everything.add(0);
        let spaces = [Space::Private, Space::Local, Space::Global, Space::Constant, Space::Generic]
            .map(|space| {
                let mut set = Set::default();
                set.add(0);
                for (number, &other) in spaces.iter().enumerate() {
                    everything.add(number + 1);
                    if other == space || (space == Space::Generic && other != Space::Constant) {
                        set.add(number + 1);
                    }
                }
                (space, set)
            })
            .into();
        Self { spaces, everything }
    }

    fn of(&self, ty: Type) -> &Set {
        let space = ty.space();
        self.spaces.iter().find(|(other, _)| Some(*other) == space).map_or(&self.everything, |(_, set)| set)
    }
}

/// The points-to sets of the pointers in memory.
struct Contents {
    /// For each root, the points-to set of the pointers in the root. `None` if the root may contain any pointer.
    known: Vec<Option<Set>>,
    /// The points-to set of a pointer of unknown origin.
    any: Set,
    everything: Set,
}

impl Contents {
    /// Adds roots to the points-to set of pointers of unknown origin. Returns whether anything changed.
    fn escape(&mut self, set: &Set) -> bool {
        self.any.add_all(set, &self.everything)
    }

    /// Marks the contents of `roots` as unknown. Pointers in them then have identity form. Returns whether anything
    /// changed.
    fn mark_unknown(&mut self, roots: &Set) -> bool {
        let mut changed = false;
        for root in roots.roots() {
            if let Some(set) = self.known[root].take() {
                self.any.add_all(&set, &self.everything);
                changed = true;
            }
        }
        changed
    }

    /// Whether the contents of one of the roots are unknown.
    fn has_unknown(&self, roots: &Set) -> bool {
        roots.roots().any(|root| self.known[root].is_none())
    }

    /// Returns the points-to set of a loaded pointer, whether the pointer has identity form, and whether anything
    /// changed. The roots of one access must all contain pointers of the same form.
    fn load(&mut self, roots: &Set) -> (Set, bool, bool) {
        if self.has_unknown(roots) {
            let changed = self.mark_unknown(roots);
            return (self.any.clone(), true, changed);
        }
        let mut found = Set::default();
        for set in roots.roots().filter_map(|root| self.known[root].as_ref()) {
            found.add_all(set, &self.everything);
        }
        (found, false, false)
    }

    /// Adds a stored pointer to the contents of `roots`. Returns whether anything changed.
    fn store(&mut self, roots: &Set, value: &Set) -> bool {
        if self.has_unknown(roots) {
            let changed = self.mark_unknown(roots);
            return self.escape(value) | changed;
        }
        let mut changed = false;
        for root in roots.roots() {
            if let Some(set) = &mut self.known[root] {
                changed |= set.add_all(value, &self.everything);
            }
        }
        changed
    }

    /// Marks the contents of `roots` as unknown if one of them contains pointers. Returns whether anything changed.
    fn read_bits(&mut self, roots: &Set) -> bool {
        let keeps = roots.roots().any(|root| self.known[root].as_ref().is_some_and(|set| set.roots().next().is_some()));
        keeps && self.mark_unknown(roots)
    }
}

struct Collector<'f> {
    function: &'f Function,
    rules: Vec<Rule>,
    constants: Vec<bool>,
}

impl Collector<'_> {
    fn is_pointer(&self, value: Value) -> bool {
        matches!(self.function.ty(value), Type::Ptr(_))
    }

    fn flow(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            if self.is_pointer(from) {
                self.rules.push(Rule::Flow(from, to));
            }
        }
    }

    fn region(&mut self, region: &Region, targets: Targets<'_>) {
        for inst in &region.insts {
            let result = inst.results.first().copied();
            match (&inst.op, result) {
                (Op::PtrAdd(ptr, _), Some(result)) => self.rules.push(Rule::Flow(*ptr, result)),
                (Op::Cast(CastOp::SpaceCast, ptr), Some(result)) => self.rules.push(Rule::Narrow(*ptr, result)),
                (Op::Select(_, yes, no), Some(result)) if self.is_pointer(result) => {
                    self.rules.push(Rule::Flow(*yes, result));
                    self.rules.push(Rule::Flow(*no, result));
                }
                (Op::Cast(CastOp::PtrToInt, ptr), _) => self.rules.push(Rule::Escapes(*ptr)),
                (Op::Cast(CastOp::IntToPtr, _), Some(result)) => self.rules.push(Rule::FromBits(result)),
                (Op::Const(_), Some(result)) => self.constants[result.index()] = true,
                (Op::Load { ptr, .. }, Some(result)) if self.is_pointer(result) => self.rules.push(Rule::Load { ptr: *ptr, to: result }),
                (Op::Load { ptr, .. } | Op::Atomic { ptr, value: None, .. }, _) => self.rules.push(Rule::LoadBits { ptr: *ptr }),
                (Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. }, _) => {
                    self.rules.push(Rule::LoadBits { ptr: *ptr });
                    self.rules.push(Rule::StoreBits { ptr: *ptr });
                }
                (Op::Store { ptr, value, .. }, _) => {
                    if self.is_pointer(*value) {
                        self.rules.push(Rule::Store { ptr: *ptr, value: *value });
                    } else if !self.constants[value.index()] {
                        self.rules.push(Rule::StoreBits { ptr: *ptr });
                    }
                }
                (Op::Printf { args: list, .. } | Op::Call(_, list), _) => {
                    for &value in list {
                        if self.is_pointer(value) {
                            self.rules.push(Rule::Escapes(value));
                        }
                    }
                }
                (Op::Loop { init, params, body, .. }, _) => {
                    self.flow(init, params);
                    self.region(body, Targets::in_loop(params, &inst.results));
                }
                (op, _) => {
                    if let Some((from, to)) = targets.of(op) {
                        self.flow(from, to);
                    }
                    for region in op.regions() {
                        self.region(region, targets.in_branch(&inst.results));
                    }
                }
            }
        }
    }
}
