//! Detects loops in which a subgroup may wait for another subgroup.
//!
//! ```text
//! while (atomic_load(flag) == 0);                       waits: the exit depends on a value that others write
//! do old = *p; while (cmpxchg(p, old, f(old)) != old)   does not wait: it fails only if another work-item succeeds
//! for (i = 0; i < n; ++i) atomic_inc(&count[a[i]]);     does not wait: the exit does not depend on the results
//! ```
//! A loop waits if one of its exits depends on an *observation* inside the loop: the result of an atomic operation, a
//! volatile load, or any load in a loop that contains a fence. Values and conditions have masks, with one bit for each
//! loop: a value depends on an observation in these loops.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::calls::callees_first;
use crate::ir::{CmpOp, Func, Function, Inst, Module, Op, Region, Space, Value};

/// A set of loops. All loops from number 63 on share one bit.
type Loops = u64;

/// Whether function 0 of a module, or a callee, contains a loop that may wait.
pub(super) fn may_wait(module: &Module) -> bool {
    let order = callees_first(module, [Func(0)]).unwrap_or_default();
    order.into_iter().any(|func| !waiting_loops(module, &module.functions[func.index()]).is_empty())
}

/// Returns the loops of a function that may wait, by the addresses of their instructions.
pub(super) fn waiting_loops(module: &Module, function: &Function) -> FxHashSet<*const Inst> {
    let mut has_loop = false;
    function.body.walk(&mut |inst| has_loop |= matches!(inst.op, Op::Loop { .. }));
    let mut analysis = Analysis::new(module, function);
    // `Analysis::retry` removes observations if a value depends on reads, so all reads must be known first.
    for with_observations in [false, true] {
        (analysis.with_observations, analysis.changed) = (with_observations, has_loop);
        while std::mem::take(&mut analysis.changed) {
            analysis.next_loop = 0;
            analysis.region(&function.body, &mut Vec::new(), 0);
        }
    }
    analysis.waiting
}

/// The loops on whose memory accesses a value depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Dependence {
    /// Loops that contain an observation on which the value depends.
    observed: Loops,
    /// Loops that contain a read of memory on which the value depends.
    read: Loops,
}

impl Dependence {
    const fn or(self, other: Self) -> Self {
        Self { observed: self.observed | other.observed, read: self.read | other.read }
    }

    /// Returns the part for some loops. A value that is defined outside of a loop does not change in the loop.
    const fn within(self, loops: Loops) -> Self {
        Self { observed: self.observed & loops, read: self.read & loops }
    }
}

/// An enclosing loop.
struct Enclosing<'a> {
    inst: &'a Inst,
    bit: Loops,
    has_fence: bool,
}

struct Analysis<'a> {
    module: &'a Module,
    function: &'a Function,
    values: FxHashMap<Value, Dependence>,
    /// The expected value of each compare-and-exchange, by its result.
    expected: FxHashMap<Value, Value>,
    /// The dependence of the values in memory.
    memory: Dependence,
    waiting: FxHashSet<*const Inst>,
    next_loop: u32,
    /// Whether the analysis computes observations, or only reads.
    with_observations: bool,
    changed: bool,
}

impl<'a> Analysis<'a> {
    fn new(module: &'a Module, function: &'a Function) -> Self {
        Self {
            module,
            function,
            values: FxHashMap::default(),
            expected: FxHashMap::default(),
            memory: Dependence::default(),
            waiting: FxHashSet::default(),
            next_loop: 0,
            with_observations: false,
            changed: false,
        }
    }

    fn of(&self, value: Value) -> Dependence {
        self.values.get(&value).copied().unwrap_or_default()
    }

    /// Removes the observations if the analysis does not compute them yet.
    const fn known(&self, dependence: Dependence) -> Dependence {
        if self.with_observations { dependence } else { Dependence { observed: 0, ..dependence } }
    }

    fn add(&mut self, value: Value, dependence: Dependence) {
        let old = self.of(value);
        let new = old.or(self.known(dependence));
        if new != old {
            self.values.insert(value, new);
            self.changed = true;
        }
    }

    fn add_all(&mut self, to: &[Value], from: &[Value], also: Dependence) {
        for (&to, &from) in to.iter().zip(from) {
            let dependence = self.of(from).or(also);
            self.add(to, dependence);
        }
    }

    fn mark_waiting(&mut self, inst: &'a Inst) {
        self.changed |= self.waiting.insert(std::ptr::from_ref(inst));
    }

    /// Analyses a region. `control` contains the observations on which the execution of the region depends within the
    /// innermost loop. Returns those on which the execution of the code after the region depends.
    fn region(&mut self, region: &'a Region, loops: &mut Vec<Enclosing<'a>>, mut control: Loops) -> Loops {
        for inst in &region.insts {
            control |= self.inst(inst, loops, control);
        }
        control
    }

    /// Analyses an instruction. Returns the observations on which the execution of the next instruction depends.
    fn inst(&mut self, inst: &'a Inst, loops: &mut Vec<Enclosing<'a>>, control: Loops) -> Loops {
        match &inst.op {
            Op::If { cond, then, els } => self.branch(inst, *cond, &[then, els], loops, control),
            Op::Switch { selector, cases, default } => {
                let regions: Vec<&Region> = cases.iter().map(|(_, region)| region).chain([default]).collect();
                self.branch(inst, *selector, &regions, loops, control)
            }
            Op::Loop { init, params, body, .. } => {
                let bit = 1 << self.next_loop.min(63);
                self.next_loop += 1;
                self.add_all(params, init, Dependence::default());
                loops.push(Enclosing { inst, bit, has_fence: has_fence(body) });
                self.region(body, loops, 0);
                loops.pop();
                0
            }
            Op::Break(values) => {
                if let Some(&Enclosing { inst: left, bit, .. }) = loops.last() {
                    if control & bit != 0 {
                        self.mark_waiting(left);
                    }
                    self.add_all(&left.results, values, Dependence { observed: control, read: 0 });
                }
                0
            }
            Op::Continue(values) => {
                if let Some(&Enclosing { inst: Inst { op: Op::Loop { params, .. }, .. }, .. }) = loops.last() {
                    self.add_all(params, values, Dependence { observed: control, read: 0 });
                }
                0
            }
            Op::Return(_) => {
                // The conditions of outer loops are not in `control`, so this assumes that all enclosing loops wait.
                if control != 0 {
                    loops.iter().for_each(|enclosing| self.mark_waiting(enclosing.inst));
                }
                0
            }
            op => {
                self.simple(inst, op, loops);
                0
            }
        }
    }

    /// Analyses an `if` or `switch`.
    fn branch(&mut self, inst: &'a Inst, cond: Value, regions: &[&'a Region], loops: &mut Vec<Enclosing<'a>>, control: Loops) -> Loops {
        let of_cond = self.of(cond);
        let mut after = 0;
        for region in regions {
            let nested = self.region(region, loops, control | of_cond.observed);
            match region.insts.last().map(|inst| &inst.op) {
                Some(Op::Yield(values)) => {
                    self.add_all(&inst.results, values, of_cond);
                    // A jump inside of the region can skip its end.
                    if nested & !(control | of_cond.observed) != 0 {
                        after |= nested;
                    }
                }
                // The code after the branch runs only if this region was not taken.
                _ => after |= of_cond.observed | nested,
            }
        }
        after
    }

    /// Analyses an instruction without regions that is not a jump.
    fn simple(&mut self, inst: &'a Inst, op: &'a Op, loops: &[Enclosing<'a>]) {
        let inside = loops.iter().fold(0, |mask, enclosing| mask | enclosing.bit);
        let (observation, read) = (Dependence { observed: inside, read: inside }, Dependence { observed: 0, read: inside });
        let mut dependence = Dependence::default();
        op.for_each_operand(|operand| dependence = dependence.or(self.of(operand)));
        match op {
            Op::Load { ptr, volatile, .. } => {
                let space = self.function.ty(*ptr).space();
                if space != Some(Space::Constant) {
                    let is_shared = space != Some(Space::Private);
                    let observes = is_shared && (*volatile || loops.iter().any(|enclosing| enclosing.has_fence));
                    dependence = dependence.or(self.memory.within(inside)).or(if observes { observation } else { read });
                }
            }
            Op::Store { .. } | Op::Copy { .. } => self.store(dependence),
            Op::Atomic { .. } => dependence = dependence.or(observation),
            Op::CmpXchg { expected, .. } => {
                dependence = dependence.or(observation);
                if let Some(&result) = inst.results.first() {
                    self.expected.insert(result, *expected);
                }
            }
            Op::Cmp(CmpOp::Eq | CmpOp::Ne, a, b) => {
                if let Some(retried) = self.retry(*a, *b) {
                    dependence = retried;
                }
            }
            Op::Call(callee, _) => {
                let callee = self.module.functions.get(callee.index());
                if callee.is_some_and(|callee| observes(&callee.body)) {
                    dependence = dependence.or(observation);
                    self.store(dependence);
                }
                dependence = dependence.or(self.memory.within(inside)).or(read);
            }
            Op::Image { .. } => dependence = dependence.or(read),
            _ => {}
        }
        for &result in &inst.results {
            self.add(result, dependence);
        }
    }

    fn store(&mut self, dependence: Dependence) {
        let memory = self.memory.or(self.known(dependence));
        self.changed |= memory != self.memory;
        self.memory = memory;
    }

    /// Whether a comparison tests the success of a compare-and-exchange. Then returns what the outcome depends on. The
    /// exchange does not wait in loops that read the expected value again.
    fn retry(&self, a: Value, b: Value) -> Option<Dependence> {
        let is_test = |result: Value, other: Value| self.expected.get(&result) == Some(&other);
        let (result, expected) = if is_test(a, b) { (a, b) } else { (b, a) };
        if !is_test(result, expected) {
            return None;
        }
        let Dependence { observed, read } = self.of(result);
        Some(Dependence { observed: observed & !self.of(expected).read, read })
    }
}

/// Whether a region contains a fence.
fn has_fence(region: &Region) -> bool {
    region.insts.iter().any(|inst| match &inst.op {
        Op::MemFence(_) => true,
        op => op.regions().into_iter().any(has_fence),
    })
}

/// Whether a region contains an observation.
fn observes(region: &Region) -> bool {
    let mut found = false;
    region.walk(&mut |inst| {
        found |=
            matches!(inst.op, Op::Atomic { .. } | Op::CmpXchg { .. } | Op::Load { volatile: true, .. } | Op::Call(..) | Op::MemFence(_));
    });
    found
}

#[cfg(test)]
mod tests {
    use super::may_wait;
    use crate::build::build;
    use crate::launch::LaunchKey;
    use crate::options::{Source, parse_options};
    use crate::specialise::prepared;
    use crate::target::Target;

    fn waits(body: &str) -> bool {
        let text =
            format!("kernel void k(global int *a, volatile global int *v, local int *l, int n) {{ int i = get_global_id(0); {body} }}");
        let (options, target) = (parse_options("-cl-std=CL3.0").expect("options"), Target::cpu());
        let program = build(&Source { text, ..Source::default() }, &options, &target).program.expect("it builds");
        let key = LaunchKey::example(&program.module.functions[0], [64, 1, 1]);
        may_wait(&prepared(&program.module, "k", &key, &target, false, None).expect("it specialises"))
    }

    #[test]
    fn loops_that_depend_on_other_work_items_wait() {
        for body in [
            "while (atomic_load_explicit((volatile global atomic_int *)a, memory_order_acquire, memory_scope_work_group) == 0);",
            "while (v[1] != n); a[i] = 1;",
            "while (atomic_cmpxchg(l, 0, 1) != 0); a[i] = l[1]; atomic_xchg(l, 0);",
            "while (atomic_xchg(l, 1)) ; a[i] = l[1]; atomic_xchg(l, 0);",
            "for (int k = 0; k < n; ++k) { if (k & 1) while (v[k] == 0); a[k] = 2; }",
            "int found = 0; do { found = v[0]; if (found == 3) continue; } while (found < 2); a[i] = found;",
            "for (;;) { if (v[i] > 5) return; }",
            "while (!a[1]) mem_fence(CLK_GLOBAL_MEM_FENCE);",
            "int k; while ((k = atomic_inc(a)) < n) a[k + 1] = k;",
        ] {
            assert!(waits(body), "{body}");
        }
    }

    #[test]
    fn other_loops_do_not_wait() {
        for body in [
            "for (int k = 0; k < n; ++k) atomic_inc(&a[k]);",
            "for (int k = 0; k < n; ++k) a[atomic_inc(l) & 63] = k;",
            "int m = v[0]; for (int k = 0; k < m; ++k) a[k] = v[k];",
            "int old = a[i], was; do { was = old; old = atomic_cmpxchg(&a[0], was, was * 3 + 1); } while (old != was);",
            "global atomic_int *p = (global atomic_int *)a; int e = a[0];
             while (!atomic_compare_exchange_weak_explicit(p, &e, e + 2, memory_order_relaxed, memory_order_relaxed));",
            "int k = i; while (a[k] != 0) k = a[k];",
        ] {
            assert!(!waits(body), "{body}");
        }
    }
}
