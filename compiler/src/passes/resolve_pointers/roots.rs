//! Points-to analysis: the objects that each pointer of a kernel and its callees may point into.
//!
//! Example: for `%3 = select %c, %a, %b` the set of `%3` is the union of the sets of `%a` and `%b`. The set of a
//! parameter is the union of the sets of the arguments of all calls.

use super::calls::Form;
use crate::analysis::targets::Targets;
use crate::ir::{CastOp, Const, Func, Function, Global, GlobalVar, KernelParam, Op, Region, Space, Type, Value, Var};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An object that a pointer is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    /// The pointee of a kernel's parameter with this index.
    Param(u32),
    /// A program-scope or local variable.
    Global(Global),
    /// A private variable of the function with this index.
    Var(u32, Var),
    /// The memory at the address that is passed to a function ([`Form::Addresses`]): the indices of the function and
    /// its parameter.
    Passed(u32, u32),
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

/// Every root that a kernel and its callees use, and the points-to set of each pointer.
#[derive(Debug)]
pub(super) struct Roots {
    /// All roots. The number of a root is its index in this list.
    pub list: Vec<Root>,
    /// Space of each root.
    pub spaces: Vec<Space>,
    /// The pointers of each function.
    pub functions: Vec<Pointers>,
    /// For each root: whether pointers stored in it have identity form.
    identity_memory: Vec<bool>,
}

/// The points-to sets of the pointers of one function.
#[derive(Debug, Default)]
pub(super) struct Pointers {
    values: Sets,
    /// The values that the function returns.
    returned: Sets,
}

impl Pointers {
    /// Returns the points-to set of a pointer.
    pub(super) fn set(&self, ptr: Value) -> &Set {
        &self.values.sets[ptr.index()]
    }

    /// Whether a pointer has identity form.
    pub(super) fn has_identity(&self, ptr: Value) -> bool {
        self.values.identity_form[ptr.index()]
    }

    /// Returns the points-to set of the returned value with this index, and whether it has identity form.
    pub(super) fn returned(&self, index: usize) -> (&Set, bool) {
        (&self.returned.sets[index], self.returned.identity_form[index])
    }
}

/// The points-to sets of a list of values.
#[derive(Debug, Default)]
struct Sets {
    sets: Vec<Set>,
    /// For each value: whether it is a pointer in identity form. That form consists of the object's
    /// [identity](crate::pointer::identity) and an offset. Such a pointer may come from an integer, or from a root with
    /// unknown contents.
    identity_form: Vec<bool>,
}

impl Sets {
    fn new(count: usize) -> Self {
        Self { sets: vec![Set::default(); count], identity_form: vec![false; count] }
    }

    /// Removes the last values, from `first`.
    fn split_off(&mut self, first: usize) -> Self {
        Self { sets: self.sets.split_off(first), identity_form: self.identity_form.split_off(first) }
    }
}

/// The number of a value of a function, or of a returned value, among those of all functions ([`Slots`]).
type Slot = usize;

/// Numbers the values and the returned values of all functions.
struct Slots {
    /// For each function, the slots of its first value and its first returned value.
    first: Vec<(Slot, Slot)>,
    /// The address space of each slot's value, or `None` if it is not a pointer.
    spaces: Vec<Option<Space>>,
}

impl Slots {
    fn new(functions: &[Function]) -> Self {
        let mut slots = Self { first: Vec::with_capacity(functions.len()), spaces: Vec::new() };
        for function in functions {
            let values = slots.spaces.len();
            slots.spaces.extend(function.values.iter().map(|value| value.ty.space()));
            slots.first.push((values, slots.spaces.len()));
            slots.spaces.extend(function.returns.iter().map(|ty| ty.space()));
        }
        slots
    }

    fn value(&self, func: usize, value: Value) -> Slot {
        self.first[func].0 + value.index()
    }

    fn returned(&self, func: usize, index: usize) -> Slot {
        self.first[func].1 + index
    }

    /// Divides the sets of all slots by function.
    fn divide(&self, mut all: Sets) -> Vec<Pointers> {
        let divide = |&(values, returned): &(Slot, Slot)| {
            let returned = all.split_off(returned);
            Pointers { values: all.split_off(values), returned }
        };
        let mut functions: Vec<Pointers> = self.first.iter().rev().map(divide).collect();
        functions.reverse();
        functions
    }
}

/// A constraint on points-to sets that follows from one instruction.
enum Rule {
    /// The points-to set of the second pointer includes that of the first pointer.
    Flow(Slot, Slot),
    /// Like `Flow`, but roots outside of the second pointer's address space become null.
    Narrow(Slot, Slot),
    /// A load of a pointer.
    Load { ptr: Slot, to: Slot },
    /// A store of a pointer.
    Store { ptr: Slot, value: Slot },
    /// A load of a non-pointer, which may read the bits of a pointer.
    LoadBits { ptr: Slot },
    /// A store of a non-pointer, which may be the bits of a pointer.
    StoreBits { ptr: Slot },
    /// A cast from an integer to a pointer.
    FromBits(Slot),
    /// A cast from a pointer to an integer, or another use that cannot be analysed.
    Escapes(Slot),
}

impl Roots {
    /// Finds the roots of the functions and solves the constraints. `forms` has the form of each function's pointer
    /// parameters. If `large_offsets` is true, all pointers in memory have identity form.
    pub(super) fn of(functions: &[Function], forms: &[Form], globals: &[GlobalVar], large_offsets: bool) -> Self {
        let slots = Slots::new(functions);
        let mut roots = Self { list: Vec::new(), spaces: Vec::new(), functions: Vec::new(), identity_memory: Vec::new() };
        let mut sets = Sets::new(slots.spaces.len());
        let mut numbers = FxHashMap::default();
        let mut rules = Vec::new();
        for (func, function) in functions.iter().enumerate() {
            roots.own(&mut numbers, globals, (func, function, forms[func]), |value, bit| {
                sets.sets[slots.value(func, value)].add(bit);
            });
            let constants = vec![false; function.values.len()];
            let mut collector = Collector { functions, forms, slots: &slots, func, rules: &mut rules, constants };
            collector.region(&function.body, Targets::NONE);
        }
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
            let kernel = functions.iter().find_map(|function| function.kernel.as_ref());
            for (index, param) in (0_u32..).zip(kernel.iter().flat_map(|kernel| &kernel.params)) {
                if let (KernelParam::Buffer { .. }, Some(&number)) = (param, numbers.get(&Root::Param(index))) {
                    any.add(number + 1);
                }
            }
        }
        roots.solve(&mut sets, &slots, &rules, any, large_offsets);
        roots.functions = slots.divide(sets);
        roots
    }

    /// Finds the roots of one function. Calls `add` with each pointer to a root, and the bit of the root.
    fn own(
        &mut self,
        numbers: &mut FxHashMap<Root, usize>,
        globals: &[GlobalVar],
        (func, function, form): (usize, &Function, Form),
        mut add: impl FnMut(Value, usize),
    ) {
        let own = crate::ir::number(func);
        for (index, &param) in (0_u32..).zip(&function.params) {
            let root = match (form, function.ty(param)) {
                (Form::Kernel, Type::Ptr(_)) => Root::Param(index),
                (Form::Addresses, Type::Ptr(_)) => Root::Passed(own, index),
                _ => continue,
            };
            let space = function.ty(param).space().unwrap_or(Space::Global);
            add(param, self.root(numbers, root, space) + 1);
        }
        function.body.walk(&mut |inst| {
            let Some(&result) = inst.results.first() else { return };
            let number = match &inst.op {
                Op::VarAddr(var) => self.root(numbers, Root::Var(own, *var), Space::Private),
                Op::GlobalAddr(global) => {
                    let space = globals.get(global.index()).map_or(Space::Global, |global| global.space);
                    self.root(numbers, Root::Global(*global), space)
                }
                Op::Const(Const::Null) => return add(result, 0),
                _ => return,
            };
            add(result, number + 1);
        });
    }

    fn root(&mut self, numbers: &mut FxHashMap<Root, usize>, root: Root, space: Space) -> usize {
        *numbers.entry(root).or_insert_with(|| {
            self.list.push(root);
            self.spaces.push(space);
            self.list.len() - 1
        })
    }

    /// Whether pointers that are stored through a pointer with the points-to set `ptr` have identity form.
    pub(super) fn stores_identities(&self, ptr: &Set) -> bool {
        ptr.roots().any(|root| self.identity_memory[root])
    }

    fn solve(&mut self, sets: &mut Sets, slots: &Slots, rules: &[Rule], any: Set, large_offsets: bool) {
        let filters = Filters::new(&self.spaces);
        let filter = |slot: Slot| filters.of(slots.spaces[slot]);
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
                changed |= match *rule {
                    Rule::Flow(from, to) => sets.flow(from, to, filter(to)),
                    Rule::Narrow(from, to) => {
                        let lost = sets.sets[from].has_others(filter(to));
                        sets.flow(from, to, filter(to)) | (lost && sets.sets[to].add(0))
                    }
                    Rule::FromBits(to) => {
                        let changed = !std::mem::replace(&mut sets.identity_form[to], true);
                        sets.sets[to].add_all(&memory.any, filter(to)) | changed
                    }
                    Rule::Escapes(value) => memory.escape(&sets.sets[value]),
                    Rule::Load { ptr, to } => {
                        let (found, identity_form, mut changed) = memory.load(&sets.sets[ptr]);
                        changed |= identity_form && !std::mem::replace(&mut sets.identity_form[to], true);
                        sets.sets[to].add_all(&found, filter(to)) | changed
                    }
                    Rule::Store { ptr, value } => {
                        let mut changed = memory.store(&sets.sets[ptr], &sets.sets[value]);
                        if bits_become_pointers {
                            changed |= memory.escape(&sets.sets[value]);
                        }
                        changed
                    }
                    Rule::LoadBits { ptr } => memory.read_bits(&sets.sets[ptr]),
                    Rule::StoreBits { ptr } => memory.mark_unknown(&sets.sets[ptr]),
                };
            }
        }
        self.identity_memory = memory.known.iter().map(Option::is_none).collect();
    }
}

impl Sets {
    /// Applies [`Rule::Flow`]. Returns whether anything changed.
    fn flow(&mut self, from: Slot, to: Slot, filter: &Set) -> bool {
        let changed = self.identity_form[from] && !std::mem::replace(&mut self.identity_form[to], true);
        let set = self.sets[from].clone();
        self.sets[to].add_all(&set, filter) | changed
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

    fn of(&self, space: Option<Space>) -> &Set {
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
    functions: &'f [Function],
    forms: &'f [Form],
    slots: &'f Slots,
    /// The index of the function whose rules are collected.
    func: usize,
    rules: &'f mut Vec<Rule>,
    constants: Vec<bool>,
}

impl Collector<'_> {
    fn is_pointer(&self, value: Value) -> bool {
        matches!(self.functions[self.func].ty(value), Type::Ptr(_))
    }

    /// Returns the pointers of a list, with their indices in the list.
    fn pointers(&self, list: &[Value]) -> SmallVec<[(usize, Value); 8]> {
        list.iter().copied().enumerate().filter(|&(_, value)| self.is_pointer(value)).collect()
    }

    fn slot(&self, value: Value) -> Slot {
        self.slots.value(self.func, value)
    }

    fn flow(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            if self.is_pointer(from) {
                let rule = Rule::Flow(self.slot(from), self.slot(to));
                self.rules.push(rule);
            }
        }
    }

    /// Adds the rules of a call or another use of a list of values.
    fn uses(&mut self, callee: Option<Func>, list: &[Value], results: &[Value]) {
        let tagged = callee.map(Func::index).filter(|&callee| self.forms[callee] == Form::Tags);
        for (index, value) in self.pointers(list) {
            let from = self.slot(value);
            self.rules.push(match tagged {
                Some(callee) => Rule::Flow(from, self.slots.value(callee, self.functions[callee].params[index])),
                None => Rule::Escapes(from),
            });
        }
        for (index, result) in self.pointers(results) {
            if let Some(callee) = tagged {
                let to = self.slot(result);
                self.rules.push(Rule::Flow(self.slots.returned(callee, index), to));
            }
        }
    }

    fn region(&mut self, region: &Region, targets: Targets<'_>) {
        for inst in &region.insts {
            match (&inst.op, inst.results.first()) {
                (Op::PtrAdd(ptr, _), Some(&result)) => self.flow(&[*ptr], &[result]),
                (Op::Cast(CastOp::SpaceCast, ptr), Some(&result)) => self.rules.push(Rule::Narrow(self.slot(*ptr), self.slot(result))),
                (Op::Select(_, yes, no), Some(&result)) => self.flow(&[*yes, *no], &[result, result]),
                (Op::Cast(CastOp::PtrToInt, ptr), _) => self.rules.push(Rule::Escapes(self.slot(*ptr))),
                (Op::Cast(CastOp::IntToPtr, _), Some(&result)) => self.rules.push(Rule::FromBits(self.slot(result))),
                (Op::Const(_), Some(result)) => self.constants[result.index()] = true,
                (Op::Load { ptr, .. }, Some(&result)) if self.is_pointer(result) => {
                    self.rules.push(Rule::Load { ptr: self.slot(*ptr), to: self.slot(result) });
                }
                (Op::Load { ptr, .. } | Op::Atomic { ptr, value: None, .. }, _) => {
                    self.rules.push(Rule::LoadBits { ptr: self.slot(*ptr) });
                }
                (Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. }, _) => {
                    let ptr = self.slot(*ptr);
                    self.rules.extend([Rule::LoadBits { ptr }, Rule::StoreBits { ptr }]);
                }
                (Op::Store { ptr, value, .. }, _) => {
                    let (ptr, slot) = (self.slot(*ptr), self.slot(*value));
                    if self.is_pointer(*value) {
                        self.rules.push(Rule::Store { ptr, value: slot });
                    } else if !self.constants[value.index()] {
                        self.rules.push(Rule::StoreBits { ptr });
                    }
                }
                (Op::Printf { args, .. }, _) => self.uses(None, args, &[]),
                (Op::Call(callee, args), _) => self.uses(Some(*callee), args, &inst.results),
                (Op::Return(values), _) => {
                    for (index, value) in self.pointers(values) {
                        let from = self.slot(value);
                        self.rules.push(Rule::Flow(from, self.slots.returned(self.func, index)));
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
