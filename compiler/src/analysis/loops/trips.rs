//! Upper bounds for trip counts, from the ranges of loop counters.
//!
//! ```text
//! loop (%i = 0) {                                24 iterations: 0 <= %i <= 24
//!   if slt %i, 24 { yield } else { break }
//!   loop (%at = %i) {                            at most 24 iterations: %at starts at 24 or less
//!     if sgt %at, 0 { yield } else { break }
//!     ...
//!     continue sub %at, 1
//!   }
//!   continue add %i, 1
//! }
//! ```
//! A counter changes by a constant step, or is multiplied, divided or shifted by a constant. Its start and bound may be
//! ranges. A condition around a loop can limit its bound. The upper bounds can slightly exceed the trip counts.

use rustc_hash::FxHashMap;

use super::guards::guards;
use crate::analysis::definitions::Definitions;
use crate::analysis::ranges::{Range, arithmetic};
use crate::ir::{BinOp, CastOp, CmpOp, Const, Function, Op, Region, Scalar, Type, Value};

/// Limit for the nesting of expressions, and for the number of additions in a step.
const MAX_DEPTH: usize = 16;

/// How a counter changes per iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Add(i128),
    /// The counter at least doubles. Its bit width grows by at most the given number.
    Double(u32),
    /// The magnitude at least halves. The field is true for unsigned division and logical shifts.
    Halve(bool),
}

/// Upper bounds for the iterations of a function's loops.
#[derive(Debug)]
pub(crate) struct Trips<'f> {
    function: &'f Function,
    defs: Definitions<'f>,
    ranges: FxHashMap<Value, Range>,
    iterations: FxHashMap<Value, u64>,
    total: Option<u64>,
}

impl<'f> Trips<'f> {
    /// Analyses all loops of a function.
    pub(crate) fn of(function: &'f Function) -> Self {
        let mut trips =
            Self { function, defs: Definitions::of(function), ranges: FxHashMap::default(), iterations: FxHashMap::default(), total: None };
        trips.total = trips.region(&function.body);
        trips
    }

    /// An upper bound for the iterations of all loops of the function together. `None` if a loop has no known bound.
    pub(crate) const fn total(&self) -> Option<u64> {
        self.total
    }

    /// Upper bounds for the iterations of one execution of each loop, by the loop's first parameter. Loops without a
    /// known bound are missing.
    pub(crate) fn into_iterations(self) -> FxHashMap<Value, u64> {
        self.iterations
    }

    /// An upper bound for the iterations of all loops in a region. `None` if a loop has no known bound.
    fn region(&mut self, region: &Region) -> Option<u64> {
        let mut sum = Some(0_u64);
        for inst in &region.insts {
            let iterations = if let Op::Loop { init, params, body, .. } = &inst.op {
                let one = self.iterations(init, params, body);
                if let (Some(one), Some(&param)) = (one, params.first()) {
                    self.iterations.insert(param, one);
                }
                let inner = self.region(body);
                one.zip(inner).map(|(one, inner)| one.saturating_mul(inner.saturating_add(1)))
            } else if let Op::If { cond, then, els } = &inst.op {
                let then = self.region_if(*cond, then);
                add(then, self.region(els))
            } else {
                inst.op.regions().into_iter().map(|nested| self.region(nested)).fold(Some(0_u64), add)
            };
            sum = add(sum, iterations);
        }
        sum
    }

    /// Like [`Self::region`], for a region that is only executed if a condition holds. The condition `x < constant`
    /// limits the range of `x` in the region.
    fn region_if(&mut self, cond: Value, region: &Region) -> Option<u64> {
        let limit = match self.defs.get(cond) {
            Some(&Op::Cmp(CmpOp::ULt, x, bound)) => self.defs.scalar(bound).map(|bound| (x, bound.saturating_sub(1))),
            Some(&Op::Cmp(CmpOp::ULe, x, bound)) => self.defs.scalar(bound).map(|bound| (x, bound)),
            _ => None,
        };
        let Some((x, most)) = limit.filter(|&(_, most)| most <= u64::from(u16::MAX)) else { return self.region(region) };
        let outside = self.ranges.insert(x, Range { low: 0, high: i128::from(most) });
        let sum = self.region(region);
        match outside {
            Some(range) => self.ranges.insert(x, range),
            None => self.ranges.remove(&x),
        };
        sum
    }

    /// An upper bound for the iterations of a loop; `None` if it is not known. Records the ranges of its counters.
    fn iterations(&mut self, init: &[Value], params: &[Value], body: &Region) -> Option<u64> {
        let Some(Op::Continue(next)) = body.terminator() else { return None };
        let mut continues = 0;
        body.for_each_jump(&mut |op| continues += usize::from(matches!(op, Op::Continue(_))));
        if continues != 1 {
            return None;
        }
        let mut least = None::<u64>;
        for ((&start, &param), &next) in init.iter().zip(params).zip(next) {
            let Type::Scalar(scalar) = self.function.ty(param) else { continue };
            let (Some(start), Some(step)) = (self.range(start, 0), self.step(next, param)) else { continue };
            for (tested, is_next) in [(param, false), (next, true)] {
                for (kind, bound) in guards(body, &self.defs, tested) {
                    let bound = self.range(bound, 0).unwrap_or(Range::signed(scalar));
                    if let Some((iterations, range)) = count(kind, scalar, start, bound, step, is_next) {
                        least = Some(least.map_or(iterations, |least| least.min(iterations)));
                        self.ranges.insert(param, range);
                    }
                }
            }
        }
        least
    }

    /// The step from a parameter to its next value. `None` if it is 0 or not known.
    fn step(&self, next: Value, param: Value) -> Option<Step> {
        let constant = |value: Value| self.range(value, 0).and_then(Range::number);
        if let Some(&Op::Bin(op, a, b)) = self.defs.get(next)
            && a == param
        {
            match (op, constant(b)) {
                (BinOp::Shl, Some(bits @ 1..=8)) => return Some(Step::Double(bits as u32)),
                (BinOp::Mul, Some(factor @ 2..=256)) => return Some(Step::Double(128 - (factor - 1).leading_zeros())),
                (BinOp::LShr, Some(1..=31)) | (BinOp::UDiv, Some(2..)) => return Some(Step::Halve(true)),
                (BinOp::AShr, Some(1..=31)) | (BinOp::SDiv, Some(2..)) => return Some(Step::Halve(false)),
                _ => {}
            }
        }
        // In an unrolled loop, the step is a chain of several additions.
        let (mut value, mut sum) = (next, 0_i128);
        for _ in 0..MAX_DEPTH {
            let (rest, by) = match *self.defs.get(value)? {
                Op::Bin(BinOp::Add, a, b) => match (constant(a), constant(b)) {
                    (_, Some(by)) => (a, by),
                    (Some(by), _) => (b, by),
                    _ => return None,
                },
                Op::Bin(BinOp::Sub, a, b) => (a, -constant(b)?),
                _ => return None,
            };
            sum += by;
            if rest == param {
                return (sum != 0).then_some(Step::Add(sum));
            }
            value = rest;
        }
        None
    }

    /// The range of an integer; `None` if it is not known.
    fn range(&self, value: Value, depth: usize) -> Option<Range> {
        if let Some(&range) = self.ranges.get(&value) {
            return Some(range);
        }
        let Type::Scalar(scalar) = self.function.ty(value) else { return None };
        if !scalar.is_int() || depth > MAX_DEPTH {
            return None;
        }
        let get = |value: Value| self.range(value, depth + 1);
        match *self.defs.get(value)? {
            Op::Const(Const::Bits(bits)) => Some(Range::exact(i128::from(scalar.sign_extend(bits)))),
            Op::Select(_, a, b) => Some(get(a)?.hull(get(b)?)),
            Op::Cast(CastOp::SExt, a) => get(a).or_else(|| Some(Range::signed(self.function.ty(a).scalar()?))),
            Op::Cast(CastOp::ZExt, a) => get(a).filter(|range| range.low >= 0).or_else(|| {
                let from = self.function.ty(a).scalar().filter(|from| from.bits() < 64)?;
                Some(Range { low: 0, high: i128::from(from.mask()) })
            }),
            Op::Cast(CastOp::Trunc, a) => get(a)?.within(Range::signed(scalar)),
            Op::Bin(op, a, b) => self.binary(op, (get(a), get(b)), scalar),
            _ => None,
        }
    }

    /// The range of a result, given the known ranges of the operands. `None` if the range of the result is not known.
    fn binary(&self, op: BinOp, (x, y): (Option<Range>, Option<Range>), scalar: Scalar) -> Option<Range> {
        let whole = Range::signed(scalar);
        // The range of one operand is sufficient for `and` and for remainders, and the range of the amount for logical
        // shifts.
        let (x, y) = match op {
            BinOp::And => (x.unwrap_or(whole), y.unwrap_or(whole)),
            BinOp::LShr => (x.unwrap_or(whole), y?),
            BinOp::URem | BinOp::SRem => {
                let (x, by) = (x.filter(|x| x.low >= 0), y.filter(|by| by.low > 0)?);
                let most = by.high - 1;
                return Some(match (x, op) {
                    (Some(x), _) => Range { low: 0, high: x.high.min(most) },
                    (None, BinOp::URem) => Range { low: 0, high: most },
                    (None, _) => Range { low: -most, high: most },
                });
            }
            _ => (x?, y?),
        };
        arithmetic(op, x, y, scalar, true)?.within(whole)
    }
}

fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b))
}

/// An upper bound for the iterations of a loop, and the range of its counter. The loop continues while
/// `kind(counter, bound)`. If `is_next`, the loop compares the next value of the counter instead.
fn count(kind: CmpOp, scalar: Scalar, start: Range, bound: Range, step: Step, is_next: bool) -> Option<(u64, Range)> {
    let whole = Range::signed(scalar);
    let unsigned = matches!(kind, CmpOp::ULt | CmpOp::ULe | CmpOp::UGt | CmpOp::UGe);
    // Unsigned comparisons are only supported for non-negative ranges.
    if unsigned && (start.low < 0 || bound.low < 0) {
        return None;
    }
    let least = if unsigned { 0 } else { whole.low };
    let is_exact = bound.number().is_some();
    let iterations = |from: i128, to: i128, by: i128| ((to - from).max(0).unsigned_abs() / by.unsigned_abs().max(1)) as u64 + 2;
    match (step, kind) {
        (Step::Add(by @ 1..), CmpOp::SLt | CmpOp::SLe | CmpOp::ULt | CmpOp::ULe) => {
            // The counter must not wrap.
            let last = Some(bound.high + by).filter(|&last| last <= whole.high)?;
            let first = Some(start.high + by).filter(|&first| first <= whole.high || !is_next)?;
            let high = if is_next { last.max(first) } else { last.max(start.high) };
            Some((iterations(start.low, bound.high, by), Range { low: start.low, high }))
        }
        (Step::Add(by @ ..=-1), CmpOp::SGt | CmpOp::SGe | CmpOp::UGt | CmpOp::UGe) => {
            let reached = bound.low + i128::from(matches!(kind, CmpOp::SGt | CmpOp::UGt));
            let last = Some(reached + by).filter(|&last| last >= least)?;
            let first = Some(start.low + by).filter(|&first| first >= least || !is_next)?;
            let low = if is_next { last.min(first) } else { last.min(start.low) };
            Some((iterations(bound.low, start.high, by), Range { low, high: start.high }))
        }
        (Step::Add(1), CmpOp::Ne) if is_exact && start.high + i128::from(is_next) <= bound.low => {
            Some((iterations(start.low, bound.low, 1), Range { low: start.low, high: bound.low }))
        }
        (Step::Add(-1), CmpOp::Ne) if is_exact && start.low - i128::from(is_next) >= bound.low => {
            Some((iterations(bound.low, start.high, 1), Range { low: bound.low, high: start.high }))
        }
        (Step::Double(bits), CmpOp::SLt | CmpOp::SLe | CmpOp::ULt | CmpOp::ULe) if start.low > 0 => {
            let most = bound.high.max(start.high).max(0);
            let high = Some(most << bits).filter(|&high| high <= whole.high)?;
            Some((bits_of(most / start.low) + 2, Range { low: start.low, high }))
        }
        (Step::Halve(_), CmpOp::SGt | CmpOp::UGt | CmpOp::Ne) | (Step::Halve(_), CmpOp::SGe | CmpOp::UGe)
            if start.low >= 0 && ends_at_zero(kind, bound) =>
        {
            Some((bits_of(start.high) + 2, Range { low: 0, high: start.high }))
        }
        // An unsigned division or logical shift makes the counter non-negative in the first iteration.
        (Step::Halve(true), CmpOp::SGt | CmpOp::SGe | CmpOp::Ne) if ends_at_zero(kind, bound) => {
            Some((u64::from(scalar.bits()) + 2, whole))
        }
        _ => None,
    }
}

/// Number of bits of a non-negative number.
const fn bits_of(number: i128) -> u64 {
    128 - number.leading_zeros() as u64
}

/// Whether a counter of zero ends the loop.
const fn ends_at_zero(kind: CmpOp, bound: Range) -> bool {
    match kind {
        CmpOp::SGt | CmpOp::UGt => bound.low >= 0,
        CmpOp::SGe | CmpOp::UGe => bound.low >= 1,
        _ => bound.low == 0 && bound.high == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::Trips;
    use crate::ir::read::read_module;

    /// The bound for all loops of a kernel with this body. Parameter %0 is a 32-bit integer, %1 an 8-bit integer.
    fn total(body: &str) -> Option<u64> {
        let text = format!("kernel @f0 \"k\" (%0: i32 value, %1: i8 value) {{\n{body}\n  return\n}}\n");
        let module = read_module(&text).expect("the text is IR");
        Trips::of(&module.functions[0]).total()
    }

    /// The bound for the iterations of `for (i = start; i test bound; i = op(i, by))` with 32-bit integers.
    fn iterations(start: &str, test: &str, bound: &str, op: &str, by: &str) -> Option<u64> {
        total(&format!(
            "%2: i32 = const {start}\n%3: i32 = const {bound}\n%4: i32 = const {by}
            loop (%5: i32 = %2) {{
                %6: bool = {test} %5, %3
                if %6 {{ yield }} else {{ break }}
                %7: i32 = {op} %5, %4
                continue %7
            }}"
        ))
    }

    fn is_close(count: u64, found: Option<u64>) -> bool {
        found.is_some_and(|found| (count..=count + 2).contains(&found))
    }

    #[test]
    fn counters_with_constant_bounds() {
        assert!(is_close(24, iterations("0", "slt", "24", "add", "1")));
        assert!(is_close(12, iterations("0", "ult", "24", "add", "2")));
        assert!(is_close(24, iterations("24", "sgt", "0", "sub", "1")));
        assert!(is_close(24, iterations("24", "ugt", "0", "add", "-1")));
        assert!(is_close(24, iterations("24", "ne", "0", "add", "-1")));
        assert!(iterations("4096", "ugt", "0", "lshr", "1").is_some_and(|iterations| iterations < 50));
        assert!(iterations("1", "slt", "4096", "shl", "1").is_some_and(|iterations| iterations < 50));
    }

    #[test]
    fn counters_that_wrap() {
        assert_eq!(iterations("0", "sle", "2147483647", "add", "1"), None);
        assert_eq!(iterations("0", "slt", "2147483600", "add", "1000"), None);
        assert_eq!(iterations("24", "uge", "0", "sub", "1"), None);
        assert_eq!(iterations("24", "uge", "2", "sub", "3"), None);
        assert_eq!(iterations("24", "ne", "0", "sub", "2"), None);
        assert_eq!(iterations("-1", "ne", "0", "sub", "1"), None);
        assert_eq!(iterations("1", "slt", "2147483647", "shl", "1"), None);
        assert_eq!(iterations("0", "slt", "4096", "shl", "1"), None);
        assert_eq!(iterations("-1", "ne", "0", "ashr", "1"), None);
        assert_eq!(iterations("4096", "uge", "0", "lshr", "1"), None);
        assert_eq!(iterations("0", "slt", "24", "sub", "1"), None);
    }

    #[test]
    fn bounds_that_are_ranges() {
        let inner = |start: &str, test: &str, bound: &str, step: &str| {
            total(&format!(
                "%2: i32 = const 0\n%3: i32 = const 24\n%4: i32 = const 1\n%5: i32 = const -1\n%6: i32 = zext %1
                loop (%7: i32 = %2) {{
                    %8: bool = slt %7, %3
                    if %8 {{ yield }} else {{ break }}
                    loop (%9: i32 = {start}) {{
                        %10: bool = {test} %9, {bound}
                        if %10 {{ yield }} else {{ break }}
                        %11: i32 = add %9, {step}
                        continue %11
                    }}
                    %12: i32 = add %7, %4
                    continue %12
                }}"
            ))
        };
        // The outer counter is at most 24, the byte `%1` at most 255.
        assert!(inner("%7", "sgt", "%2", "%5").is_some_and(|iterations| iterations < 800));
        assert!(inner("%2", "slt", "%7", "%4").is_some_and(|iterations| iterations < 800));
        assert!(inner("%6", "ne", "%2", "%5").is_some_and(|iterations| (24 * 255..8000).contains(&iterations)));
        assert_eq!(inner("%0", "slt", "%7", "%4"), None);
        assert_eq!(inner("%0", "sgt", "%2", "%5"), None);
    }

    #[test]
    fn unrolled_loops() {
        let found = total(
            "%2: i32 = const 0\n%3: i32 = const 100\n%4: i32 = const 1
            loop (%5: i32 = %2) {
                %6: bool = slt %5, %3
                if %6 { yield } else { break }
                %7: i32 = add %5, %4
                %8: bool = slt %7, %3
                if %8 { yield } else { break }
                %9: i32 = add %7, %4
                continue %9
            }",
        );
        assert!(is_close(50, found));
    }
}
