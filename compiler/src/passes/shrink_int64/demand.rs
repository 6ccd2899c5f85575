//! Computes the demanded bits of 64-bit integers: none, the low 32, or all. If the range of a value implies its upper
//! half, only the low half is demanded.
//!
//! Example: in `trunc.i32 (add i64 %0, %1)` only the low half of both operands is used.

use crate::analysis::definitions::Definitions;
use crate::analysis::ranges::Ranges;
use crate::analysis::targets::Targets;
use crate::ir::{BinOp, CastOp, Function, Op, Region, Scalar, Type, Value};

/// The demanded bits of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Demand {
    #[default]
    None,
    /// The low 32 bits.
    Low,
    All,
}

/// If there is no fixed point after this number of iterations, all bits of every value are demanded.
const MAX_WALKS: usize = 12;

/// Computes the demanded bits of each value.
pub(super) fn of(function: &Function, defs: &Definitions<'_>, ranges: &Ranges) -> Vec<Demand> {
    let mut solver = Solver { function, defs, ranges, demand: vec![Demand::None; function.values.len()], changed: true };
    for _ in 0..MAX_WALKS {
        if !solver.changed {
            return solver.demand;
        }
        solver.changed = false;
        solver.region(&function.body, Targets::NONE);
    }
    vec![Demand::All; function.values.len()]
}

struct Solver<'a> {
    function: &'a Function,
    defs: &'a Definitions<'a>,
    ranges: &'a Ranges,
    demand: Vec<Demand>,
    changed: bool,
}

impl<'f> Solver<'f> {
    fn add_demand(&mut self, value: Value, demand: Demand) {
        if self.function.ty(value).scalar() != Some(Scalar::I64) {
            return;
        }
        let range = self.ranges.get(self.function, value);
        let demand = if range.is_u32() || range.is_i32() { demand.min(Demand::Low) } else { demand };
        if self.demand[value.index()] < demand {
            self.demand[value.index()] = demand;
            self.changed = true;
        }
    }

    fn of(&self, value: Value) -> Demand {
        self.demand[value.index()]
    }

    /// Visits a region from the end to the start.
    fn region(&mut self, region: &'f Region, targets: Targets<'f>) {
        for inst in region.insts.iter().rev() {
            let result = inst.results.first().map_or(Demand::All, |&result| self.of(result));
            match &inst.op {
                Op::Loop { init, params, body, .. } => {
                    self.region(body, Targets::in_loop(params, &inst.results));
                    for (&init, &param) in init.iter().zip(params) {
                        self.add_demand(init, self.of(param));
                    }
                }
                Op::If { .. } | Op::Switch { .. } => {
                    for nested in inst.op.regions() {
                        self.region(nested, targets.in_branch(&inst.results));
                    }
                    inst.op.for_each_operand(|value| self.add_demand(value, Demand::All));
                }
                op => match targets.of(op) {
                    Some((from, to)) => self.propagate(from, to),
                    None => self.operands(op, inst.results.first().map(|&result| self.function.ty(result)), result),
                },
            }
        }
    }

    fn propagate(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            self.add_demand(from, self.of(to));
        }
    }

    fn operands(&mut self, op: &Op, ty: Option<Type>, result: Demand) {
        match *op {
            Op::Cast(CastOp::Trunc, a) => self.add_demand(a, Demand::Low),
            Op::Bin(BinOp::And, a, b) => {
                let small = |value: Value| self.defs.bits(value).is_some_and(|bits| bits <= u64::from(u32::MAX));
                let (left, right) = (small(b), small(a));
                self.add_demand(a, if left { result.min(Demand::Low) } else { result });
                self.add_demand(b, if right { result.min(Demand::Low) } else { result });
            }
            Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Or | BinOp::Xor, a, b) => {
                self.add_demand(a, result);
                self.add_demand(b, result);
            }
            Op::Bin(BinOp::Shl, a, b) => {
                let amount = self.defs.bits(b).map(|bits| bits % 64);
                self.add_demand(b, Demand::All);
                self.add_demand(
                    a,
                    match amount {
                        Some(amount) if amount >= 32 => result.min(Demand::Low),
                        Some(_) => result,
                        None => Demand::All,
                    },
                );
            }
            Op::Un(_, a) => self.add_demand(a, result),
            Op::Select(_, a, b) | Op::Shuffle(a, b, _) | Op::Insert(a, _, b) => {
                self.add_demand(a, result);
                self.add_demand(b, result);
            }
            Op::Extract(a, _) | Op::Splat(a) => self.add_demand(a, result),
            Op::Construct(ref parts) => parts.iter().for_each(|&part| self.add_demand(part, result)),
            ref op => {
                let dead = op.is_pure() && result == Demand::None && ty.and_then(Type::scalar) == Some(Scalar::I64);
                if !dead {
                    op.for_each_operand(|value| self.add_demand(value, Demand::All));
                }
            }
        }
    }
}
