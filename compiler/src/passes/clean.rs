//! Loads of a kernel that come before anything the kernel stores in the same place: what they read was there when the launch began. Where nothing else
//! writes it either (`BindingKey::texel_args`), they may be fetched as texels, which are not ordered with stores.
//!
//! Stores of other work-items are seen only after a barrier or a fence of global memory, or through atomics, whose order is relaxed without one.

use rustc_hash::FxHashSet;

use crate::analysis::definitions::{Definitions, Root};
use crate::ir::{Module, Op, Region, Value};

/// What may have been stored so far.
#[derive(Clone, Default)]
struct Stored {
    roots: FxHashSet<Root>,
    /// Anything.
    all: bool,
}

impl Stored {
    fn join(&mut self, other: Self) {
        self.all |= other.all;
        self.roots.extend(other.roots);
    }
}

struct Pass<'a> {
    definitions: Definitions<'a>,
    /// By function, whether a call of it may store anything or wait for others.
    effects: Vec<bool>,
    /// Roots into which something is stored at all.
    written: Stored,
    clean: FxHashSet<Value>,
}

/// The results of such loads of the kernel, function 0.
pub(crate) fn loads(module: &Module) -> FxHashSet<Value> {
    let Some(kernel) = module.functions.first() else { return FxHashSet::default() };
    let mut effects = vec![false; module.functions.len()];
    // Callees have larger numbers than what calls them; where that were not so, one more round would find more.
    for _ in 0..2 {
        for (index, function) in module.functions.iter().enumerate().rev() {
            let mut found = false;
            function.body.walk(&mut |inst| {
                found |= match &inst.op {
                    Op::Store { .. } | Op::Atomic { .. } | Op::CmpXchg { .. } | Op::Barrier(_) | Op::MemFence(_) => true,
                    Op::Call(callee, _) => effects.get(callee.index()) != Some(&false),
                    _ => false,
                };
            });
            effects[index] = found;
        }
    }
    let definitions = Definitions::new(kernel, 0);
    let mut pass = Pass { definitions, effects, written: Stored::default(), clean: FxHashSet::default() };
    let mut written = Stored::default();
    pass.stores(&kernel.body, &mut written);
    // A barrier alone changes nothing that nobody stores.
    pass.written = written;
    pass.region(&kernel.body, &mut Stored::default());
    pass.clean
}

impl Pass<'_> {
    fn root(&self, pointer: Value) -> Option<Root> {
        self.definitions.pointer(pointer).map(|(root, _)| root)
    }

    /// What one instruction stores, without its regions.
    fn effect(&self, op: &Op, stored: &mut Stored) {
        match op {
            Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => match self.root(*ptr) {
                Some(root) => {
                    stored.roots.insert(root);
                }
                None => stored.all = true,
            },
            Op::Call(callee, _) => stored.all |= self.effects.get(callee.index()) != Some(&false),
            Op::Copy { .. } | Op::Zero { .. } => stored.all = true,
            _ => {}
        }
    }

    fn stores(&self, region: &Region, stored: &mut Stored) {
        region.walk(&mut |inst| self.effect(&inst.op, stored));
    }

    /// Whether others' stores are seen behind an instruction.
    fn meets_others(op: &Op) -> bool {
        match op {
            Op::Barrier(fence) | Op::MemFence(fence) => fence.global || fence.image,
            _ => false,
        }
    }

    fn region(&mut self, region: &Region, stored: &mut Stored) {
        for inst in &region.insts {
            match &inst.op {
                Op::Load { ptr, volatile: false, .. } => {
                    if let (Some(root @ (Root::Param(_) | Root::Global(_))), [result]) = (self.root(*ptr), &inst.results[..])
                        && !stored.all
                        && !stored.roots.contains(&root)
                    {
                        self.clean.insert(*result);
                    }
                }
                Op::Loop { body, .. } => {
                    self.stores(body, stored);
                    let mut meets = false;
                    body.walk(&mut |inst| meets |= Self::meets_others(&inst.op));
                    if meets {
                        stored.join(self.written.clone());
                    }
                    self.region(body, &mut stored.clone());
                }
                op if !op.regions().is_empty() => {
                    let before = stored.clone();
                    for nested in op.regions() {
                        let mut own = before.clone();
                        self.region(nested, &mut own);
                        stored.join(own);
                    }
                }
                op if Self::meets_others(op) => stored.join(self.written.clone()),
                op => self.effect(op, stored),
            }
        }
    }
}
