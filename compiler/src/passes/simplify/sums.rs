//! Decides which constants may move to the outermost sum.
//!
//! In address computations, constants that move to the outermost sum are combined, and contiguous accesses are
//! recognised. In other sums, moving a constant costs an addition if the inner sum has another use. It may also
//! lengthen the chain of dependent operations. Hash functions contain many such sums.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{BinOp, Function, Op, Region, UnOp, Value};

/// Properties of the values of a function before simplification.
pub(super) struct Sums {
    /// Number of uses of each value.
    uses: Vec<u32>,
    /// Whether each value is a part of an address, through sums, products, conversions and joins of control flow.
    in_address: Vec<bool>,
}

impl Sums {
    pub(super) fn of(function: &Function) -> Self {
        let mut flow = Flow {
            ops: vec![None; function.values.len()],
            joins: FxHashMap::default(),
            sums: Self { uses: vec![0; function.values.len()], in_address: vec![false; function.values.len()] },
            pending: Vec::new(),
        };
        flow.region(&function.body, &mut SmallVec::new());
        while let Some(value) = flow.pending.pop() {
            if !std::mem::replace(&mut flow.sums.in_address[value.index()], true) {
                match flow.ops[value.index()] {
                    Some(Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl, a, b)) => flow.pending.extend([*a, *b]),
                    Some(Op::Un(UnOp::Neg, a) | Op::Cast(_, a)) => flow.pending.push(*a),
                    Some(Op::Select(_, a, b)) => flow.pending.extend([*a, *b]),
                    Some(_) => {}
                    None => flow.pending.extend(flow.joins.get(&value).into_iter().flatten()),
                }
            }
        }
        flow.sums
    }

    /// Whether a constant may move from the operand `part` to the sum `sum`.
    pub(super) fn may_extract_constant(&self, sum: Option<Value>, part: Value) -> bool {
        self.leads_to_address(sum) || self.is_used_once(part)
    }

    /// Whether a sum is a part of an address. Also true for sums that did not exist before the simplification.
    pub(super) fn leads_to_address(&self, sum: Option<Value>) -> bool {
        sum.and_then(|sum| self.in_address.get(sum.index())).copied().unwrap_or(true)
    }

    /// Whether a value has at most one use.
    pub(super) fn is_used_once(&self, value: Value) -> bool {
        self.uses.get(value.index()).is_none_or(|uses| *uses <= 1)
    }

    /// Adds the uses of a replaced value to those of its replacement.
    pub(super) fn transfer_uses(&mut self, old: Value, new: Value) {
        let uses = self.uses.get(old.index()).copied().unwrap_or(0);
        if self.uses.len() <= new.index() {
            self.uses.resize(new.index() + 1, 0);
        }
        self.uses[new.index()] += uses;
    }
}

/// Collects the definitions and uses of values.
struct Flow<'f> {
    ops: Vec<Option<&'f Op>>,
    /// The incoming values of loop parameters, and of results of operations with regions.
    joins: FxHashMap<Value, SmallVec<[Value; 3]>>,
    sums: Sums,
    /// Parts of addresses that are not yet processed.
    pending: Vec<Value>,
}

/// The parameters and results of the enclosing loops.
type Loops<'f> = SmallVec<[(&'f [Value], &'f [Value]); 4]>;

impl<'f> Flow<'f> {
    /// Visits a region. Returns the operands of its `yield`, or an empty list if it has another terminator.
    fn region(&mut self, region: &'f Region, loops: &mut Loops<'f>) -> &'f [Value] {
        for inst in &region.insts {
            inst.op.for_each_operand(|value| self.sums.uses[value.index()] += 1);
            match &inst.op {
                Op::Loop { init, params, body, .. } => {
                    self.join(params, init);
                    loops.push((params, &inst.results));
                    self.region(body, loops);
                    loops.pop();
                }
                Op::Continue(values) => loops.last().copied().into_iter().for_each(|(params, _)| self.join(params, values)),
                Op::Break(values) => loops.last().copied().into_iter().for_each(|(_, results)| self.join(results, values)),
                Op::Yield(values) => return values,
                op => {
                    for nested in op.regions() {
                        let yielded = self.region(nested, loops);
                        self.join(&inst.results, yielded);
                    }
                    if let [result] = inst.results[..] {
                        self.ops[result.index()] = op.regions().is_empty().then_some(op);
                    }
                    if let Op::PtrAdd(_, offset) = op {
                        self.pending.push(*offset);
                    }
                }
            }
        }
        &[]
    }

    fn join(&mut self, into: &[Value], values: &[Value]) {
        for (into, value) in into.iter().zip(values) {
            self.joins.entry(*into).or_default().push(*value);
        }
    }
}
