//! Loads what a kernel only reads once, for devices whose drivers take time in the square of accesses, and more ([`Costs::accesses_by_words`](crate::target::Costs::accesses_by_words)).
//!
//! ```text
//! %1 = load %a                  %1 = load %a
//! store %b, %1                  store %b, %1
//! %2 = load %a           =>     store %c, %1
//! store %c, %2
//! ```
//! Memory that the kernel writes nowhere is the same throughout a launch: what was loaded above, in the same region or around it, is still there. Only buffers of which it is
//! known that they share nothing with those that are written. 270 ways to make an `int16` of one buffer's numbers, which the conformance tests try in one kernel, are 4,400 loads
//! otherwise: 90 s for llvmpipe's compiler, of which 2.5 are left. Expects the form that `resolve_pointers` and `simplify` leave.

use rustc_hash::{FxHashMap, FxHashSet};

use super::alias::{Effect, MemoryUse};
use super::pass::Pass;
use super::simplify::Purity;
use crate::analysis::definitions::Root;
use crate::ir::{Function, KernelParam, Op, Region, Type, Value};

pub(crate) const PASS: Pass = Pass::function("loaded_once", |function, cx| Ok(run(function, cx.key.binding.distinct, cx.purity)));

/// Leaves out what was loaded before; says whether there was anything.
fn run(function: &mut Function, distinct: bool, purity: &Purity) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let memory = MemoryUse::of(function, &body, distinct, purity);
    let mut loads =
        Loads { function, unchanging: unchanging(&memory, &body), memory, loaded: FxHashMap::default(), replaced: FxHashMap::default() };
    if !loads.unchanging.is_empty() {
        loads.region(&mut body);
    }
    let replaced = loads.replaced;
    if !replaced.is_empty() {
        body.walk_mut(&mut |inst| inst.op.map_operands(|operand| *operand = replaced.get(operand).copied().unwrap_or(*operand)));
    }
    function.body = body;
    !replaced.is_empty()
}

/// The buffers that are read and share no memory with what is written.
fn unchanging(memory: &MemoryUse<'_>, body: &Region) -> FxHashSet<Root> {
    let mut read = FxHashSet::default();
    let mut written = FxHashSet::default();
    let mut anything = false;
    body.walk(&mut |inst| {
        match memory.effect(inst) {
            // What is reached by its address may be any buffer.
            Effect::Root(Root::Address(_)) | Effect::Anything => anything = true,
            Effect::Root(root) => drop(written.insert(root)),
            Effect::Nothing | Effect::Waits => {}
        }
        if let Op::Load { ptr, volatile: false, .. } = inst.op {
            read.extend(memory.root(ptr).filter(|&root| matches!(memory.param(root), Some(KernelParam::Buffer { .. }))));
        }
    });
    read.retain(|&root| !anything && written.iter().all(|&other| memory.apart(root, other)));
    read
}

struct Loads<'a> {
    function: &'a Function,
    memory: MemoryUse<'a>,
    unchanging: FxHashSet<Root>,
    /// What was loaded in the regions around, and in this one so far.
    loaded: FxHashMap<(Value, Type), Value>,
    /// What stands for the results of loads that are left out.
    replaced: FxHashMap<Value, Value>,
}

impl Loads<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut here = Vec::new();
        region.insts.retain_mut(|inst| {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            let (Op::Load { ptr, volatile: false, .. }, [result]) = (&inst.op, &inst.results[..]) else { return true };
            if !self.memory.root(*ptr).is_some_and(|root| self.unchanging.contains(&root)) {
                return true;
            }
            let key = (*ptr, self.function.ty(*result));
            if let Some(&before) = self.loaded.get(&key) {
                self.replaced.insert(*result, before);
                return false;
            }
            self.loaded.insert(key, *result);
            here.push(key);
            true
        });
        for key in here {
            self.loaded.remove(&key);
        }
    }
}
