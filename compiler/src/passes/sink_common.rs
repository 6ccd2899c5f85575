//! Finds identical computations in both regions of an `if`, and sinks them below the `if`.
//!
//! Example: in `if %c { %1 = add %a, 1; yield %1 } else { %2 = add %a, 1; yield %2 }` both yields are `add %a, 1`.

use rustc_hash::FxHashSet;

use crate::ir::{Inst, Op, Region, Value};

/// Returns the values that are defined in regions.
pub(super) fn defined_in<'a>(regions: impl IntoIterator<Item = &'a Region>) -> FxHashSet<Value> {
    let mut inner = FxHashSet::default();
    regions.into_iter().for_each(|region| region.walk(&mut |inst| inner.extend(inst.results.iter().copied())));
    inner
}

/// Returns the first of two instructions if they are identical and define the given values in the two regions. Their
/// operands must be defined outside of both regions. `inner` is the set of the values that are defined in the regions.
/// Returns `None` otherwise.
pub(super) fn common_definition<'a>([a, b]: [(&'a Region, Value); 2], inner: &FxHashSet<Value>) -> Option<&'a Inst> {
    let definition = |(region, value): (&'a Region, Value)| region.insts.iter().find(|inst| inst.results == [value]);
    let (a, b) = (definition(a)?, definition(b)?);
    let mut outside = true;
    a.op.for_each_operand(|value| outside &= !inner.contains(&value));
    (outside && a.op == b.op && a.op.is_pure() && a.op.regions().is_empty()).then_some(a)
}

/// Removes results of an `if` that both regions compute identically. Returns instructions that compute these results,
/// to be inserted after the `if`.
pub(super) fn sink(inst: &mut Inst) -> Vec<Inst> {
    let mut after = Vec::new();
    let Op::If { then, els, .. } = &mut inst.op else { return after };
    let (Some(Op::Yield(first)), Some(Op::Yield(second))) = (then.terminator(), els.terminator()) else { return after };
    let inner = defined_in([&*then, &*els]);
    let mut stay = vec![true; inst.results.len()];
    for (index, (&a, &b)) in first.iter().zip(second).enumerate() {
        if let Some(same) = common_definition([(then, a), (els, b)], &inner) {
            after.push(Inst { results: vec![inst.results[index]], ..same.clone() });
            stay[index] = false;
        }
    }
    if after.is_empty() {
        return after;
    }
    for region in [then, els] {
        if let Some(Inst { op: Op::Yield(values), .. }) = region.insts.last_mut() {
            retain(values, &stay);
        }
    }
    retain(&mut inst.results, &stay);
    after
}

fn retain(values: &mut Vec<Value>, stay: &[bool]) {
    let mut stay = stay.iter();
    values.retain(|_| stay.next().copied().unwrap_or(true));
}
