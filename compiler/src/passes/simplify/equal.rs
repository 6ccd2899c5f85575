//! Merges equal `if`s: a second `if` with the same condition and equal regions is replaced by the results of the first
//! `if`.
//!
//! ```text
//! %5 = if %1 { %3 = mul %2, %2; yield %3 } else { yield %2 }
//! %9 = if %1 { %7 = mul %2, %2; yield %7 } else { yield %2 }      =>      %9 is %5
//! ```
//! Such `if`s exist in code with `sin(x)` and `cos(x)`, which both reduce `x`. Regions are compared after the values
//! that they define are renamed in order of definition. A name depends on the type, so that operations with equal
//! operands and different result types are not equal.

use rustc_hash::FxHashMap;

use super::walk::Walk;
use crate::diag::Span;
use crate::ir::{Inst, Op, Region, Type, Value};

/// Maximum number of instructions of a compared `if`. Larger `if`s are rarely equal, and each comparison copies the
/// instructions.
const MAX_SIZE: usize = 200;

/// Names of values within regions, by type and position in the order of definition.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: FxHashMap<(Type, u32), Value>,
}

impl Names {
    /// Names count down from the largest value number, which no function uses.
    fn name(&mut self, ty: Type, order: u32) -> Value {
        let next = u32::MAX - u32::try_from(self.names.len()).unwrap_or(0);
        *self.names.entry((ty, order)).or_insert(Value(next))
    }
}

impl Walk<'_> {
    /// Replaces the results of an `if` by the results of an earlier equal `if`. If there is no such `if`, returns
    /// false. It then also records this `if` for later comparisons, unless it is impure or too large. The regions of
    /// the `if` must already be simplified.
    pub(super) fn merge_with_equal(&mut self, inst: &Inst) -> bool {
        let Some(&first) = inst.results.first() else { return false };
        if inst.op.regions().iter().map(|region| region.size()).sum::<usize>() > MAX_SIZE {
            return false;
        }
        let mut names = std::mem::take(&mut self.names);
        let renamed = self.renamed(&inst.op, &mut names);
        self.names = names;
        let Some(op) = renamed else { return false };
        let key = (op, self.ty(first), u64::MAX);
        let known = self.known(&key).and_then(|known| self.results_of.get(&known).cloned());
        match known {
            Some(known) if known.len() == inst.results.len() => {
                self.changed = true;
                for (&result, known) in inst.results.iter().zip(known) {
                    self.replace(result, known);
                }
                true
            }
            _ => {
                self.results_of.insert(first, inst.results.clone());
                self.remember_here(key, first);
                false
            }
        }
    }

    /// Returns the operation with renamed values in its regions, or `None` if it is not pure.
    fn renamed(&self, op: &Op, names: &mut Names) -> Option<Op> {
        let mut copy = op.clone();
        let mut order = 0;
        let mut map = FxHashMap::default();
        for region in copy.regions_mut() {
            self.rename(region, &mut map, &mut order, names)?;
        }
        Some(copy)
    }

    /// Renames the values that a region defines. Returns `None` if an operation is neither pure nor an `if`.
    fn rename(&self, region: &mut Region, map: &mut FxHashMap<Value, Value>, order: &mut u32, names: &mut Names) -> Option<()> {
        for inst in &mut region.insts {
            if !(inst.op.is_pure() || matches!(inst.op, Op::If { .. } | Op::Yield(_))) {
                return None;
            }
            inst.span = Span::NONE;
            inst.op.map_operands(|value| {
                if let Some(name) = map.get(value) {
                    *value = *name;
                }
            });
            for nested in inst.op.regions_mut() {
                self.rename(nested, map, order, names)?;
            }
            for result in &mut inst.results {
                let name = names.name(self.ty(*result), *order);
                *order += 1;
                map.insert(*result, name);
                *result = name;
            }
        }
        Some(())
    }
}
