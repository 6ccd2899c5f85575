//! Which bits of 64-bit integers are used: none, the low 32, or all. If the rest follows from the low half, the low
//! half is sufficient.
//!
//! Example: in `trunc.i32 (add i64 %0, %1)` only the low half of both operands is used.

use crate::analysis::definitions::Definitions;
use crate::analysis::ranges::Ranges;
use crate::analysis::targets::Targets;
use crate::ir::{BinOp, CastOp, Function, Op, Region, Scalar, Type, Value};

/// The used bits of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Demand {
    #[default]
    None,
    /// The low 32 bits.
    Low,
    All,
}

/// Without a fixed point after this number of iterations, every used value counts as used in full.
const MAX_WALKS: usize = 12;

/// The demand on each value.
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
    fn need(&mut self, value: Value, demand: Demand) {
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
                        self.need(init, self.of(param));
                    }
                }
                Op::If { .. } | Op::Switch { .. } => {
                    for nested in inst.op.regions() {
                        self.region(nested, targets.in_branch(&inst.results));
                    }
                    inst.op.for_each_operand(|value| self.need(value, Demand::All));
                }
                op => match targets.of(op) {
                    Some((from, to)) => self.pass(from, to),
                    None => self.operands(op, inst.results.first().map(|&result| self.function.ty(result)), result),
                },
            }
        }
    }

    fn pass(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            self.need(from, self.of(to));
        }
    }

    fn operands(&mut self, op: &Op, ty: Option<Type>, result: Demand) {
        match *op {
            Op::Cast(CastOp::Trunc, a) => self.need(a, Demand::Low),
            Op::Bin(BinOp::And, a, b) => {
                let small = |value: Value| self.defs.bits(value).is_some_and(|bits| bits <= u64::from(u32::MAX));
                let (left, right) = (small(b), small(a));
                self.need(a, if left { result.min(Demand::Low) } else { result });
                self.need(b, if right { result.min(Demand::Low) } else { result });
            }
            Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Or | BinOp::Xor, a, b) => {
                self.need(a, result);
                self.need(b, result);
            }
            Op::Bin(BinOp::Shl, a, b) => {
                let amount = self.defs.bits(b).map(|bits| bits % 64);
                self.need(b, Demand::All);
                self.need(
                    a,
                    match amount {
                        Some(amount) if amount >= 32 => result.min(Demand::Low),
                        Some(_) => result,
                        None => Demand::All,
                    },
                );
            }
            Op::Un(_, a) => self.need(a, result),
            Op::Select(_, a, b) | Op::Shuffle(a, b, _) | Op::Insert(a, _, b) => {
                self.need(a, result);
                self.need(b, result);
            }
            Op::Extract(a, _) | Op::Splat(a) => self.need(a, result),
            Op::Construct(ref parts) => parts.iter().for_each(|&part| self.need(part, result)),
            ref op => {
                let dead = op.is_pure() && result == Demand::None && ty.and_then(Type::scalar) == Some(Scalar::I64);
                if !dead {
                    op.for_each_operand(|value| self.need(value, Demand::All));
                }
            }
        }
    }
}
