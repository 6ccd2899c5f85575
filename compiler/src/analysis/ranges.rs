//! Value ranges of integers.
//!
//! Several analyses use [`Range`]; each decides whether the bounds are signed. [`Ranges`] uses signed bounds for 64-bit
//! integers, and unsigned bounds for narrower integers, whose zero extension they describe.
//! [`loops::trips`](super::loops::trips) uses signed bounds for integers of every width. Example: `and %x, 63` has the
//! range 0 to 63.

use super::definitions::Definitions;
use super::loops::guards::guards;
use crate::ir::{BinOp, CastOp, CmpOp, Const, Function, Op, Region, Scalar, Type, Value};

/// An interval; both bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub low: i128,
    pub high: i128,
}

impl Range {
    const WIDE: Self = Self { low: i64::MIN as i128, high: i64::MAX as i128 };

    fn new(low: i128, high: i128) -> Self {
        if low < Self::WIDE.low || high > Self::WIDE.high { Self::WIDE } else { Self { low, high } }
    }

    pub(crate) const fn exact(number: i128) -> Self {
        Self { low: number, high: number }
    }

    /// The value of a range with a single value; `None` for other ranges.
    pub(crate) fn number(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    /// The signed values of a type.
    pub(crate) fn signed(scalar: Scalar) -> Self {
        let half = 1_i128 << (scalar.bits() - 1);
        Self { low: -half, high: half - 1 }
    }

    /// The smallest range that contains both.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns the range itself, or `None` if `whole` does not contain it.
    pub(crate) fn within(self, whole: Self) -> Option<Self> {
        (self.low >= whole.low && self.high <= whole.high).then_some(self)
    }

    /// Whether zero extension of the low 32 bits restores the value.
    pub(crate) fn is_u32(self) -> bool {
        self.low >= 0 && self.high <= i128::from(u32::MAX)
    }

    /// Whether sign extension of the low 32 bits restores the value.
    pub(crate) fn is_i32(self) -> bool {
        self.low >= i128::from(i32::MIN) && self.high <= i128::from(i32::MAX)
    }
}

/// Ranges of a function's scalar integers, indexed by value.
#[derive(Debug)]
pub(crate) struct Ranges(Vec<Option<Range>>);

impl Ranges {
    /// Computes the ranges in one traversal.
    pub(crate) fn of(function: &Function, defs: &Definitions<'_>) -> Self {
        let mut ranges = Self(vec![None; function.values.len()]);
        ranges.region(function, defs, &function.body);
        ranges
    }

    /// The range of a value; the range of its type if no smaller range is known.
    pub(crate) fn get(&self, function: &Function, value: Value) -> Range {
        if let Some(range) = self.0[value.index()] {
            return range;
        }
        match function.ty(value) {
            Type::Scalar(scalar) if scalar != Scalar::I64 => Range { low: 0, high: i128::from(scalar.mask()) },
            _ => Range::WIDE,
        }
    }

    fn region(&mut self, function: &Function, defs: &Definitions<'_>, region: &Region) {
        for inst in &region.insts {
            match &inst.op {
                Op::Loop { init, params, body, .. } => {
                    for (index, (&start, &param)) in init.iter().zip(params).enumerate() {
                        if function.ty(param) == Type::I64 {
                            self.0[param.index()] = self.counter(function, defs, body, (index, start, param));
                        }
                    }
                    self.region(function, defs, body);
                    let mut given = Vec::new();
                    body.for_each_jump(&mut |op| {
                        if let Op::Break(values) = op {
                            given.push(values.clone());
                        }
                    });
                    self.results(function, &inst.results, &given);
                }
                Op::If { .. } | Op::Switch { .. } => {
                    let mut given = Vec::new();
                    for nested in inst.op.regions() {
                        self.region(function, defs, nested);
                        if let Some(Op::Yield(values)) = nested.terminator() {
                            given.push(values.clone());
                        }
                    }
                    self.results(function, &inst.results, &given);
                }
                op => {
                    if let [result] = inst.results[..]
                        && let Type::Scalar(scalar) = function.ty(result)
                        && scalar.is_int()
                    {
                        self.0[result.index()] = self.operation(function, op, scalar);
                    }
                }
            }
        }
    }

    fn results(&mut self, function: &Function, results: &[Value], given: &[Vec<Value>]) {
        for (index, &result) in results.iter().enumerate() {
            if matches!(function.ty(result), Type::Scalar(scalar) if scalar.is_int()) {
                let ranges = given.iter().filter_map(|values| values.get(index)).map(|&value| self.get(function, value));
                self.0[result.index()] = ranges.reduce(Range::hull);
            }
        }
    }

    fn operation(&self, function: &Function, op: &Op, scalar: Scalar) -> Option<Range> {
        let get = |value: Value| self.get(function, value);
        let fit = |range: Range| {
            let whole = if scalar == Scalar::I64 { Range::WIDE } else { Range { low: 0, high: i128::from(scalar.mask()) } };
            range.within(whole)
        };
        match op {
            Op::Const(Const::Bits(bits)) => {
                Some(Range::exact(if scalar == Scalar::I64 { i128::from(scalar.sign_extend(*bits)) } else { i128::from(*bits) }))
            }
            Op::Cast(CastOp::ZExt, a) => Some(get(*a)).filter(|range| range.low >= 0),
            Op::Cast(CastOp::SExt, a) => {
                let from = function.ty(*a).scalar()?;
                let half = 1_i128 << (from.bits() - 1);
                let range = get(*a);
                if range.low >= 0 && range.high < half {
                    return Some(range);
                }
                (scalar == Scalar::I64).then_some(Range { low: -half, high: half - 1 })
            }
            Op::Cast(CastOp::Trunc, a) => {
                let range = get(*a);
                (range.low >= 0 && range.high <= i128::from(scalar.mask())).then_some(range)
            }
            Op::Select(_, a, b) => Some(get(*a).hull(get(*b))),
            Op::Bin(op, a, b) => {
                let (x, y) = (get(*a), get(*b));
                fit(arithmetic(*op, x, y, scalar, scalar == Scalar::I64)?)
            }
            _ => None,
        }
    }

    /// The range of a loop parameter that is compared with a bound at the start of each iteration, and whose steps have
    /// one sign. `None` for other parameters.
    fn counter(
        &self,
        function: &Function,
        defs: &Definitions<'_>,
        body: &Region,
        (index, start, param): (usize, Value, Value),
    ) -> Option<Range> {
        let bounds = guards(body, defs, param);
        let first = self.get(function, start);
        let mut steps: Option<Range> = None;
        let mut regular = true;
        body.for_each_jump(&mut |op| {
            if let Op::Continue(values) = op {
                let step = values.get(index).and_then(|&value| match defs.get(value) {
                    Some(&Op::Bin(BinOp::Add, a, b)) if a == param => Some(self.get(function, b)),
                    Some(&Op::Bin(BinOp::Add, a, b)) if b == param => Some(self.get(function, a)),
                    _ => None,
                });
                match step {
                    Some(step) => steps = Some(steps.map_or(step, |steps| steps.hull(step))),
                    None => regular = false,
                }
            }
        });
        let steps = steps.filter(|_| regular)?;
        for (kind, bound) in bounds {
            let bound = self.get(function, bound);
            let found = match kind {
                CmpOp::SLt | CmpOp::ULt | CmpOp::SLe | CmpOp::ULe if steps.low >= 0 => {
                    let unsigned = matches!(kind, CmpOp::ULt | CmpOp::ULe);
                    if unsigned && (first.low < 0 || bound.low < 0) {
                        continue;
                    }
                    let last = bound.high - i128::from(matches!(kind, CmpOp::SLt | CmpOp::ULt));
                    Range::new(first.low, first.high.max(last + steps.high))
                }
                CmpOp::SGt | CmpOp::SGe if steps.high <= 0 => {
                    let last = bound.low + i128::from(kind == CmpOp::SGt);
                    Range::new(first.low.min(last + steps.low), first.high)
                }
                _ => continue,
            };
            return Some(found);
        }
        None
    }
}

/// The range of a result before wrapping; `None` if it is not known. The operands must be within the range of their
/// type. `signed`: whether bounds are signed values.
pub(crate) fn arithmetic(op: BinOp, x: Range, y: Range, scalar: Scalar, signed: bool) -> Option<Range> {
    let positive = x.low >= 0 && y.low >= 0;
    let amount = || y.number().filter(|amount| (0..i128::from(scalar.bits())).contains(amount));
    Some(match op {
        BinOp::Add => Range { low: x.low + y.low, high: x.high + y.high },
        BinOp::Sub => Range { low: x.low - y.high, high: x.high - y.low },
        BinOp::Mul => {
            // The magnitude of the bounds is at most 2^63, so their products fit.
            let products = [x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high];
            Range { low: *products.iter().min()?, high: *products.iter().max()? }
        }
        BinOp::Shl => {
            let factor = 1_i128 << amount().filter(|&amount| amount < 62)?;
            Range { low: x.low * factor, high: x.high * factor }
        }
        BinOp::LShr if x.low >= 0 => Range { low: x.low >> amount()?, high: x.high >> amount()? },
        BinOp::LShr if signed && amount()? > 0 => Range { low: 0, high: i128::from(scalar.mask()) >> amount()? },
        BinOp::AShr if signed => Range { low: x.low >> amount()?, high: x.high >> amount()? },
        BinOp::And if x.low >= 0 || y.low >= 0 => {
            let bound = |range: Range| if range.low >= 0 { range.high } else { i128::MAX };
            Range { low: 0, high: bound(x).min(bound(y)) }
        }
        BinOp::Or | BinOp::Xor if positive => Range { low: 0, high: mask_covering(x.high.max(y.high)) },
        BinOp::UDiv if positive && y.low > 0 => Range { low: x.low / y.high, high: x.high / y.low },
        BinOp::SDiv if positive && y.low > 0 && signed => Range { low: x.low / y.high, high: x.high / y.low },
        BinOp::URem if positive && y.low > 0 => Range { low: 0, high: x.high.min(y.high - 1) },
        BinOp::SRem if positive && y.low > 0 && signed => Range { low: 0, high: x.high.min(y.high - 1) },
        BinOp::UMin if positive => Range { low: x.low.min(y.low), high: x.high.min(y.high) },
        BinOp::UMax if positive => Range { low: x.low.max(y.low), high: x.high.max(y.high) },
        BinOp::SMin if signed => Range { low: x.low.min(y.low), high: x.high.min(y.high) },
        BinOp::SMax if signed => Range { low: x.low.max(y.low), high: x.high.max(y.high) },
        _ => return None,
    })
}

/// The smallest 2^n - 1 that is not less than a non-negative number.
const fn mask_covering(value: i128) -> i128 {
    let bits = 128 - value.leading_zeros();
    if bits >= 127 { i128::MAX } else { (1 << bits) - 1 }
}
