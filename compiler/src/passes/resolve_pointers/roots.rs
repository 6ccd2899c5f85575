//! Which memory objects each pointer of a function may point into.

use crate::ir::{CastOp, Const, Function, Global, GlobalVar, KernelParam, Op, Region, Space, Type, Value, Var};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// What a kernel's parameter of that index points to.
    Param(u32),
    /// A program-scope or local variable.
    Global(Global),
    /// A private variable.
    Var(Var),
}

/// A set of roots, and of null (bit 0); the root of number `n` is bit `n + 1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(SmallVec<[u64; 2]>);

impl Set {
    fn add(&mut self, bit: usize) -> bool {
        let word = bit / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let old = self.0[word];
        self.0[word] |= 1 << (bit % 64);
        old != self.0[word]
    }

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

    /// How many there are, null included.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The roots' numbers, in order, without null.
    pub fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit))
            .filter_map(|bit| bit.checked_sub(1))
    }
}

/// Every root that a function names, and what each pointer may point to.
#[derive(Debug)]
pub struct Roots {
    /// All roots; numbers are indices.
    pub list: Vec<Root>,
    /// Space of each.
    pub spaces: Vec<Space>,
    sets: Vec<Set>,
}

/// What one instruction says of the sets.
enum Rule {
    /// The second may be what the first is.
    Flow(Value, Value),
    /// A pointer is loaded through a pointer.
    Load { ptr: Value, to: Value },
    /// A pointer is stored through a pointer.
    Store { ptr: Value, value: Value },
    /// Something that may be a pointer in disguise is stored.
    StoreBits { ptr: Value },
    /// A pointer made of an integer.
    FromBits(Value),
    /// A pointer that becomes an integer, or is passed on where it cannot be followed.
    Escapes(Value),
}

impl Roots {
    /// Finds the roots and solves what each pointer may be.
    pub fn of(function: &Function, globals: &[GlobalVar]) -> Self {
        let mut roots = Self { list: Vec::new(), spaces: Vec::new(), sets: vec![Set::default(); function.values.len()] };
        let mut numbers = FxHashMap::default();
        for (index, &param) in (0_u32..).zip(&function.params) {
            if let Type::Ptr(space) = function.ty(param) {
                let number = roots.root(&mut numbers, Root::Param(index), space);
                roots.sets[param.index()].add(number + 1);
            }
        }
        let mut collector = Collector {
            function,
            rules: Vec::new(),
            owners: Vec::new(),
            loaded: vec![false; function.values.len()],
            constants: vec![false; function.values.len()],
        };
        collector.region(&function.body);
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
        // A pointer that comes out of memory may be one that the program's data has from the beginning.
        let mut any = Set::default();
        any.add(0);
        let from_memory = rules.iter().any(|rule| matches!(rule, Rule::Load { .. } | Rule::FromBits(_)));
        if from_memory {
            for reloc in globals.iter().flat_map(|global| &global.relocs) {
                if let Some(target) = globals.get(reloc.target.index()) {
                    let number = roots.root(&mut numbers, Root::Global(reloc.target), target.space);
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
        roots.solve(function, &rules, any);
        roots
    }

    fn root(&mut self, numbers: &mut FxHashMap<Root, usize>, root: Root, space: Space) -> usize {
        *numbers.entry(root).or_insert_with(|| {
            self.list.push(root);
            self.spaces.push(space);
            self.list.len() - 1
        })
    }

    /// What a pointer may point to.
    pub fn set(&self, ptr: Value) -> &Set {
        &self.sets[ptr.index()]
    }

    fn solve(&mut self, function: &Function, rules: &[Rule], mut any: Set) {
        let filters: Vec<(Space, Set)> = [Space::Private, Space::Local, Space::Global, Space::Constant, Space::Generic]
            .map(|space| {
                let mut set = Set::default();
                set.add(0);
                for (number, &other) in self.spaces.iter().enumerate() {
                    if other == space || (space == Space::Generic && other != Space::Constant) {
                        set.add(number + 1);
                    }
                }
                (space, set)
            })
            .into();
        let everything = filters.iter().fold(Set::default(), |mut all, (_, set)| {
            all.add_all(set, set);
            all
        });
        let filter = |value: Value| {
            let space = function.ty(value).space();
            filters.iter().find(|(other, _)| Some(*other) == space).map_or(&everything, |(_, set)| set)
        };
        // Pointers kept in each root; `None` once anything may be.
        let mut contents: Vec<Option<Set>> = self.list.iter().map(|root| matches!(root, Root::Var(_)).then(Set::default)).collect();
        let bits_become_pointers = rules.iter().any(|rule| matches!(rule, Rule::FromBits(_)));
        let mut changed = true;
        while changed {
            changed = false;
            for rule in rules {
                changed |= match rule {
                    Rule::Flow(from, to) => {
                        let from = self.sets[from.index()].clone();
                        self.sets[to.index()].add_all(&from, filter(*to))
                    }
                    Rule::FromBits(to) => self.sets[to.index()].add_all(&any, filter(*to)),
                    Rule::Escapes(value) => any.add_all(&self.sets[value.index()], &everything),
                    Rule::Load { ptr, to } => {
                        let mut found = Set::default();
                        let mut unknown = self.sets[ptr.index()].roots().next().is_none();
                        for root in self.sets[ptr.index()].roots() {
                            match &contents[root] {
                                Some(set) => {
                                    found.add_all(set, &everything);
                                }
                                None => unknown = true,
                            }
                        }
                        if unknown {
                            found.add_all(&any, &everything);
                        }
                        self.sets[to.index()].add_all(&found, filter(*to))
                    }
                    Rule::Store { ptr, value } => {
                        let value = self.sets[value.index()].clone();
                        let mut changed = false;
                        let mut outside = bits_become_pointers || self.sets[ptr.index()].roots().next().is_none();
                        for root in self.sets[ptr.index()].roots() {
                            match &mut contents[root] {
                                Some(set) => changed |= set.add_all(&value, &everything),
                                None => outside = true,
                            }
                        }
                        if outside {
                            changed |= any.add_all(&value, &everything);
                        }
                        changed
                    }
                    Rule::StoreBits { ptr } => {
                        let mut changed = false;
                        for root in self.sets[ptr.index()].roots() {
                            if let Some(set) = contents[root].take() {
                                any.add_all(&set, &everything);
                                changed = true;
                            }
                        }
                        changed
                    }
                };
            }
        }
    }
}

struct Collector<'f> {
    function: &'f Function,
    rules: Vec<Rule>,
    /// Results of the instructions around: those of an `if` or `switch`, or those and the parameters of a loop.
    owners: Vec<(bool, &'f [Value], &'f [Value])>,
    /// Integers that come straight out of memory.
    loaded: Vec<bool>,
    constants: Vec<bool>,
}

impl<'f> Collector<'f> {
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

    fn region(&mut self, region: &'f Region) {
        for inst in &region.insts {
            let result = inst.results.first().copied();
            match (&inst.op, result) {
                (Op::PtrAdd(ptr, _) | Op::Cast(CastOp::SpaceCast, ptr), Some(result)) => self.rules.push(Rule::Flow(*ptr, result)),
                (Op::Select(_, yes, no), Some(result)) if self.is_pointer(result) => {
                    self.rules.push(Rule::Flow(*yes, result));
                    self.rules.push(Rule::Flow(*no, result));
                }
                (Op::Cast(CastOp::PtrToInt, ptr), _) => self.rules.push(Rule::Escapes(*ptr)),
                (Op::Cast(CastOp::IntToPtr, _), Some(result)) => self.rules.push(Rule::FromBits(result)),
                (Op::Const(_), Some(result)) => self.constants[result.index()] = true,
                (Op::Load { ptr, .. }, Some(result)) => {
                    if self.is_pointer(result) {
                        self.rules.push(Rule::Load { ptr: *ptr, to: result });
                    } else {
                        self.loaded[result.index()] = true;
                    }
                }
                (Op::Store { ptr, value, .. }, _) => {
                    let ty = self.function.ty(*value);
                    if self.is_pointer(*value) {
                        self.rules.push(Rule::Store { ptr: *ptr, value: *value });
                    } else if !self.constants[value.index()]
                        && ty
                            .scalar()
                            .is_some_and(|scalar| scalar.is_int() && (scalar.size() == 8 || ty.lanes() > 1 || self.loaded[value.index()]))
                    {
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
                (Op::Yield(values), _) => {
                    if let Some((_, results, _)) = self.owners.last().copied() {
                        self.flow(values, results);
                    }
                }
                (Op::Break(values), _) => {
                    if let Some((_, results, _)) = self.owners.iter().rev().find(|owner| owner.0).copied() {
                        self.flow(values, results);
                    }
                }
                (Op::Continue(values), _) => {
                    if let Some((_, _, params)) = self.owners.iter().rev().find(|owner| owner.0).copied() {
                        self.flow(values, params);
                    }
                }
                (Op::Loop { init, params, body, .. }, _) => {
                    self.flow(init, params);
                    self.owners.push((true, &inst.results, params));
                    self.region(body);
                    self.owners.pop();
                }
                (op, _) => {
                    for region in op.regions() {
                        self.owners.push((false, &inst.results, &[]));
                        self.region(region);
                        self.owners.pop();
                    }
                }
            }
        }
    }
}
