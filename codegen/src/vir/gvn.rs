//! Global value numbering: replaces a value by an equal value whose definition dominates it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::dominators::Dominators;
use super::entities::Value;
use super::function::Function;
use super::op::{Cond, Op, Terminator};
use super::types::Type;

/// The block and the result of each earlier computation of an expression.
type Available = SmallVec<[(u32, Value); 2]>;

/// Returns the function without redundant computations, except for comparisons of scalars.
pub(crate) fn gvn(function: &Function) -> Function {
    let mut function = function.clone();
    let dominators = Dominators::of(&function);
    let mut available: FxHashMap<(Op, Type), Available> = FxHashMap::default();
    // Definitions precede uses, so operands are replaced before operations are compared.
    let mut replacement: Vec<Value> = (0..).map(Value).take(function.values.len()).collect();
    let Function { blocks, values, .. } = &mut function;
    for (index, block) in (0..).zip(blocks) {
        if !dominators.is_reachable(index) {
            continue;
        }
        block.insts.retain_mut(|inst| {
            inst.op.map_operands(|value| replacement[value.index()]);
            let Some(result) = inst.result.filter(|_| is_candidate(&inst.op)) else { return true };
            let ty = values[result.index()];
            // A comparison of scalars is usually the condition of one branch, and is folded into the branch if it has
            // no other use. A replacement would give an earlier comparison more uses.
            if matches!((&inst.op, ty), (Op::Cmp(..), Type::Scalar(_))) {
                return true;
            }
            let places = available.entry((inst.op.clone(), ty)).or_default();
            match places.iter().find(|(place, _)| dominators.dominates(*place, index)) {
                Some(&(_, value)) => replacement[result.index()] = value,
                None => places.push((index, result)),
            }
            replacement[result.index()] == result
        });
        if let Some(terminator) = &mut block.terminator {
            replace(terminator, &replacement);
        }
    }
    function
}

/// Whether an operation can be replaced by an earlier, equal one.
const fn is_candidate(op: &Op) -> bool {
    op.is_pure() && !matches!(op, Op::Undef | Op::Param(_))
}

fn replace(terminator: &mut Terminator, replacement: &[Value]) {
    let new = |value: &mut Value| *value = replacement[value.index()];
    let targets = match terminator {
        Terminator::Jump(target) => [Some(target), None],
        Terminator::Branch(cond, then, els) => {
            match cond {
                Cond::Cmp(_, a, b) => {
                    new(a);
                    new(b);
                }
                Cond::NonZero(value) | Cond::Any(value) | Cond::All(value) => new(value),
            }
            [Some(then), Some(els)]
        }
        Terminator::Return(value) => {
            value.iter_mut().for_each(new);
            [None, None]
        }
        Terminator::Unreachable => [None, None],
    };
    targets.into_iter().flatten().for_each(|target| target.args.iter_mut().for_each(new));
}
