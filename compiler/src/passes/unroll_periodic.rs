//! Unrolls a loop by the period of its private indices. This applies to loops that, fully unrolled, would be too large
//! for the instruction caches of a CPU.
//!
//! ```text
//! for (i = 0; i < 80; i++) {                 iterations 0 to 15, unrolled
//!   if (i >= 16) w[i & 15] += ...;     =>    for (i = 16; i < 80; i += 16)
//!   ... w[i & 15] ...                          16 iterations, unrolled
//! }
//! ```
//! In each copy of an iteration, `i & 15` is constant, so `sroa` promotes the array as after full unrolling. The range
//! of the counter is divided at the constants with which conditions compare it. The conditions are then constants, too.
//! A part with a single period has no loop.
//!
//! The benchmark `sha512crypt` takes 0.82 of the time with AVX2, and 0.91 with AVX-512. Its fully unrolled loop has
//! 4,600 instructions with AVX2. With the code around it, it exceeds the op cache and the instruction cache of Zen 5.
//! For `sha256`, whose loop has 3,000 instructions, the period would take 1.02 of the time.

use rustc_hash::{FxHashMap, FxHashSet};

use super::loop_copies::copy_iteration;
use crate::analysis::addresses::Addresses;
use crate::analysis::definitions::Constants;
use crate::analysis::eval;
use crate::analysis::loops::{Counted, SingleLatchLoop};
use crate::diag::Span;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Const, Cursor, Function, Inst, Op, Region, Space, Type, Value, Var};

/// The number of operations from which a fully unrolled loop is too large. Accesses to private memory do not count,
/// because the unrolled code has the values in registers.
const TOO_LARGE: usize = 4096;

/// The longest period.
const MAX_PERIOD: u64 = 64;

/// The maximum number of copies of the body.
const MAX_COPIES: u64 = 64;

/// How a value of the body depends on the counter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `factor * counter + offset`, modulo a power of two that is at least the period.
    Affine { factor: u64, offset: u64 },
    /// Constant in each copy of an iteration.
    Known,
    /// Depends on the counter, and would be constant after full unrolling.
    Lost,
    /// Depends on data.
    Data,
}

/// A value that is constant in each copy.
#[derive(Clone, Copy)]
enum Constant {
    /// `(factor * counter + offset) & mask`.
    Low { factor: u64, offset: u64, mask: u64 },
    /// A comparison of the counter.
    Compare(CmpOp, u64),
}

/// The parts into which a loop is divided.
pub(super) struct Plan {
    period: u64,
    /// The ends of the parts, and the start of the first one.
    bounds: Vec<u64>,
    constants: FxHashMap<Value, Constant>,
}

/// The input of the analysis.
pub(super) struct Input<'a> {
    pub(super) function: &'a Function,
    pub(super) constants: &'a Constants,
    pub(super) addresses: &'a Addresses,
    /// Variables that are not promoted in any case.
    pub(super) unpromoted: &'a FxHashSet<Var>,
}

struct Analysis<'a> {
    input: &'a Input<'a>,
    counter: Value,
    kinds: FxHashMap<Value, Kind>,
    period: u64,
    thresholds: Vec<u64>,
    found: FxHashMap<Value, Constant>,
    /// Whether each value that must be constant is known.
    suits: bool,
}

impl Plan {
    /// Returns how to unroll a loop with this trip count by its period. Returns `None` if its full unrolling is small,
    /// or if a value that should be constant would depend on the counter.
    pub(super) fn of(input: &Input<'_>, latch_loop: &SingleLatchLoop<'_>, counted: &Counted<'_>, iterations: u64) -> Option<Self> {
        let one = input.constants.bits(counted.step.1) == Some(1) && counted.step.0 == BinOp::Add;
        let operations = operations(input.function, latch_loop.body) as u64;
        let is_wide = matches!(counted.ty, Type::I32 | Type::I64);
        if !one || !is_wide || counted.tests_next || operations.saturating_mul(iterations) < TOO_LARGE as u64 {
            return None;
        }
        let start = input.constants.bits(*latch_loop.init.get(counted.counter)?)?;
        let end = start.checked_add(iterations).filter(|end| *end <= i32::MAX as u64)?;
        let counter = latch_loop.params[counted.counter];
        let mut analysis = Analysis {
            input,
            counter,
            kinds: FxHashMap::default(),
            period: 1,
            thresholds: Vec::new(),
            found: FxHashMap::default(),
            suits: true,
        };
        analysis.kinds.insert(counter, Kind::Affine { factor: 1, offset: 0 });
        let insts = latch_loop.insts();
        let test = match &insts.get(counted.test)?.op {
            Op::If { cond, .. } => Some(*cond),
            _ => None,
        };
        insts.iter().enumerate().filter(|(index, _)| *index != counted.test).for_each(|(_, inst)| analysis.inst(inst, test));
        let Analysis { period, mut thresholds, found, suits, .. } = analysis;
        thresholds.retain(|at| start < *at && *at < end);
        thresholds.extend([start, end]);
        thresholds.sort_unstable();
        thresholds.dedup();
        let divides = thresholds.windows(2).all(|part| (part[1] - part[0]).is_multiple_of(period));
        let copies = period * (thresholds.len() as u64 - 1);
        let fits = period > 1 && copies <= MAX_COPIES && 2 * copies <= iterations;
        (suits && divides && fits).then_some(Self { period, bounds: thresholds, constants: found })
    }

    /// The number of copies of the body.
    pub(super) fn copies(&self) -> usize {
        (self.period * (self.bounds.len() as u64 - 1)) as usize
    }

    /// Appends the unrolled loop. Returns the parameters of the iteration after the last one.
    pub(super) fn emit(
        &self,
        function: &mut Function,
        latch_loop: &SingleLatchLoop<'_>,
        counted: &Counted<'_>,
        out: &mut Vec<Inst>,
    ) -> Vec<Value> {
        let span = latch_loop.body.insts.last().map_or(Span::NONE, |end| end.span);
        let mut current = latch_loop.init.to_vec();
        for part in self.bounds.windows(2) {
            let &[from, to] = part else { continue };
            if to - from == self.period {
                current = self.period_at(function, latch_loop, counted, from, current, out);
            } else {
                let params: Vec<Value> = latch_loop.params.iter().map(|&param| function.new_value(function.ty(param))).collect();
                let results: Vec<Value> = latch_loop.params.iter().map(|&param| function.new_value(function.ty(param))).collect();
                let mut insts = Vec::new();
                let at = &mut Cursor::new(function, &mut insts, span);
                let bound = at.bits(counted.ty, to);
                let cond = at.cmp(CmpOp::ULt, params[counted.counter], bound);
                at.break_unless(cond, params.clone());
                let next = self.period_at(function, latch_loop, counted, from, params.clone(), &mut insts);
                insts.push(Inst::effect(Op::Continue(next), span));
                let op = Op::Loop { init: current, params, body: Region { insts }, unroll: Some(1) };
                out.push(Inst { op, results: results.clone(), span });
                current = results;
            }
            current[counted.counter] = Cursor::new(function, out, span).bits(counted.ty, to);
        }
        current
    }

    /// Appends the iterations of one period. In the first one, the counter is congruent to `from`.
    fn period_at(
        &self,
        function: &mut Function,
        latch_loop: &SingleLatchLoop<'_>,
        counted: &Counted<'_>,
        from: u64,
        mut current: Vec<Value>,
        out: &mut Vec<Inst>,
    ) -> Vec<Value> {
        for counter in from..from + self.period {
            let mut body = latch_loop.body.clone();
            body.walk_mut(&mut |inst| {
                let constant = inst.results.first().and_then(|result| self.constants.get(result));
                if let Some(bits) = constant.and_then(|constant| constant.at(counter, counted.ty)) {
                    inst.op = Op::Const(Const::Bits(bits));
                }
            });
            current = copy_iteration(function, &SingleLatchLoop { body: &body, ..*latch_loop }, current, Some(counted.test), out);
        }
        current
    }
}

impl Constant {
    /// The bits of the value in the iteration with this counter.
    fn at(self, counter: u64, ty: Type) -> Option<u64> {
        match self {
            Self::Low { factor, offset, mask } => Some(factor.wrapping_mul(counter).wrapping_add(offset) & mask),
            Self::Compare(op, with) => eval::compare(op, ty.scalar()?, counter, with).map(u64::from),
        }
    }
}

/// Returns the number of instructions without accesses to private memory and their addresses.
fn operations(function: &Function, body: &Region) -> usize {
    let mut count = 0;
    body.walk(&mut |inst| {
        let private = match inst.op {
            Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::PtrAdd(ptr, _) => function.ty(ptr) == Type::Ptr(Space::Private),
            Op::Yield(_) => true,
            _ => false,
        };
        count += usize::from(!private);
    });
    count
}

impl Analysis<'_> {
    fn kind(&self, value: Value) -> Kind {
        match self.input.constants.bits(value) {
            Some(bits) => Kind::Affine { factor: 0, offset: bits },
            None => self.kinds.get(&value).copied().unwrap_or(Kind::Data),
        }
    }

    /// Whether a value would be constant after full unrolling, and is not constant in each copy.
    fn is_lost(&self, value: Value) -> bool {
        matches!(self.kind(value), Kind::Lost | Kind::Affine { factor: 1.., .. })
    }

    /// Analyses an instruction. `test` is the condition of the loop's test.
    fn inst(&mut self, inst: &Inst, test: Option<Value>) {
        self.check(&inst.op);
        for region in inst.op.regions() {
            region.insts.iter().for_each(|inst| self.inst(inst, test));
        }
        let Some(&result) = inst.results.first() else { return };
        if Some(result) == test {
            return;
        }
        let kind = self.result(result, &inst.op);
        self.kinds.insert(result, kind);
        inst.results[1..].iter().for_each(|&result| {
            self.kinds.insert(result, Kind::Data);
        });
    }

    /// Checks that the operands that must be constant are.
    fn check(&mut self, op: &Op) {
        let needed = match op {
            Op::Bin(
                BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotate | BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem,
                _,
                by,
            ) => Some(*by),
            Op::Select(cond, ..) | Op::If { cond, .. } => Some(*cond),
            Op::Switch { selector, .. } => Some(*selector),
            Op::PtrAdd(base, offset) => {
                let promoted = self.input.addresses.variable(*base).is_some_and(|(var, _)| !self.input.unpromoted.contains(&var));
                if promoted && self.kind(*offset) == Kind::Data {
                    self.suits = false;
                }
                promoted.then_some(*offset)
            }
            Op::Loop { .. } => {
                self.suits = false;
                None
            }
            _ => None,
        };
        self.suits &= needed.is_none_or(|value| !self.is_lost(value));
    }

    /// Returns the factor and the offset of an affine value.
    fn affine(&self, value: Value) -> Option<(u64, u64)> {
        match self.kind(value) {
            Kind::Affine { factor, offset } => Some((factor, offset)),
            _ => None,
        }
    }

    fn result(&mut self, result: Value, op: &Op) -> Kind {
        match *op {
            Op::Bin(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl), a, b) => {
                if let (Some((x, y)), Some((z, w))) = (self.affine(a), self.affine(b)) {
                    match op {
                        BinOp::Add => return Kind::Affine { factor: x.wrapping_add(z), offset: y.wrapping_add(w) },
                        BinOp::Sub => return Kind::Affine { factor: x.wrapping_sub(z), offset: y.wrapping_sub(w) },
                        BinOp::Mul if z == 0 => return Kind::Affine { factor: x.wrapping_mul(w), offset: y.wrapping_mul(w) },
                        BinOp::Mul if x == 0 => return Kind::Affine { factor: z.wrapping_mul(y), offset: w.wrapping_mul(y) },
                        BinOp::Shl if z == 0 && w < 16 => return Kind::Affine { factor: x << w, offset: y << w },
                        _ => {}
                    }
                }
            }
            Op::Bin(BinOp::And, a, b) => {
                for (value, mask) in [(a, b), (b, a)] {
                    if let (Some((factor @ 1.., offset)), Some((0, mask))) = (self.affine(value), self.affine(mask))
                        && let Some(modulus) = mask.checked_add(1).filter(|above| *above <= 1 << 31).map(u64::next_power_of_two)
                        && self.add_period(modulus >> factor.trailing_zeros().min(modulus.trailing_zeros()))
                    {
                        self.found.insert(result, Constant::Low { factor, offset, mask });
                        return Kind::Known;
                    }
                }
            }
            // The low 32 bits stay the same.
            Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, a) if self.is_wide(a) && self.is_wide(result) => {
                if let Some((factor @ 1.., offset)) = self.affine(a) {
                    return Kind::Affine { factor, offset };
                }
            }
            Op::Cmp(op, a, b) => {
                let (op, with) = if a == self.counter { (op, b) } else { (op.mirrored(), a) };
                let with = self.affine(with).filter(|_| a == self.counter || b == self.counter);
                let threshold = match (op, with) {
                    (CmpOp::ULt | CmpOp::UGe | CmpOp::SLt | CmpOp::SGe, Some((0, bits))) => Some((bits, bits)),
                    (CmpOp::ULe | CmpOp::UGt | CmpOp::SLe | CmpOp::SGt, Some((0, bits))) => Some((bits, bits.wrapping_add(1))),
                    _ => None,
                };
                if let Some((bits, threshold)) = threshold {
                    self.thresholds.push(threshold);
                    self.found.insert(result, Constant::Compare(op, bits));
                    return Kind::Known;
                }
            }
            _ => {}
        }
        self.combined(op)
    }

    /// The kind of the result of an operation that is not affine.
    fn combined(&self, op: &Op) -> Kind {
        let folds = match op {
            Op::Load { ptr, volatile: false, .. } => matches!(self.input.function.ty(*ptr), Type::Ptr(Space::Constant)),
            Op::Un(..)
            | Op::Bin(..)
            | Op::Cmp(..)
            | Op::Cast(..)
            | Op::Select(..)
            | Op::GlobalAddr(_)
            | Op::VarAddr(_)
            | Op::PtrAdd(..) => true,
            _ => false,
        };
        let (mut data, mut lost, mut any) = (!folds, false, false);
        op.for_each_operand(|value| {
            any = true;
            data |= self.kind(value) == Kind::Data && !self.is_address(value);
            lost |= self.is_lost(value);
        });
        match (data || !any, lost) {
            (true, _) => Kind::Data,
            (false, true) => Kind::Lost,
            (false, false) => Kind::Known,
        }
    }

    /// Whether a value has the type `i32` or `i64`.
    fn is_wide(&self, value: Value) -> bool {
        matches!(self.input.function.ty(value), Type::I32 | Type::I64)
    }

    /// Whether a value is the address of a constant table or of a private variable.
    fn is_address(&self, value: Value) -> bool {
        matches!(self.input.function.ty(value), Type::Ptr(Space::Constant | Space::Private))
    }

    /// Raises the period to a power of two. Returns false if it would be too long.
    fn add_period(&mut self, period: u64) -> bool {
        let fits = period <= MAX_PERIOD;
        if fits {
            self.period = self.period.max(period);
        }
        fits
    }
}
