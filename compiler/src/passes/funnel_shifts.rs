//! Replaces a selection among funnel shifts by one shift of 64 bits.
//!
//! ```text
//! %x = and %i, 3                                  %p = sub 32, (shl %x, 3)
//! %1 = select (eq %x, 2), %two, %three      =>    %2 = trunc (lshr (zext %b << 32 | zext %a), zext %p)
//! %2 = select (eq %x, 0), %b, (select (eq %x, 1), %one, %1)
//! ```
//! In the example, `%one` is `%a >> 24 | %b << 8`, `%two` is `%a >> 16 | %b << 16`, and `%three` is
//! `%a >> 8 | %b << 24`. Programs write this to move bytes across words, for example hashcat if it does not know the
//! vendor of the device. The distance must be a linear function of `%x`. `%a` or `%b` may also be constant.
//!
//! NVIDIA's GPUs have an instruction for the low word of a 64-bit shift (`SHF`). On an H200 with driver 580.159, a loop
//! of such selections takes 0.49 of the time without this pass. hashcat's kernel for md5crypt takes 0.94.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::pass::Pass;
use crate::analysis::definitions::Definitions;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Cursor, Function, Op, Region, Scalar, Type, Value};

pub(crate) const PASS: Pass = Pass::function("funnel_shifts", |function, _| Ok(run(function)));

/// Limit for the number of values of the selector.
const MAX_CASES: u64 = 32;
/// Minimum number of values of the selector. Two cases are one selection.
const MIN_CASES: u64 = 3;

/// Rewrites a function. Returns whether anything changed. Instructions that become unused stay.
pub(crate) fn run(function: &mut Function) -> bool {
    let selections = selections(function);
    if selections.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    replace(function, &mut body, &selections);
    function.body = body;
    true
}

/// The selections of a function that are one shift, by their results.
fn selections(function: &Function) -> FxHashMap<Value, Selection> {
    let matcher = Matcher { function, defs: Definitions::of(function) };
    let mut found = FxHashMap::default();
    function.body.walk(&mut |inst| {
        if let (Op::Select(..), &[result]) = (&inst.op, inst.results.as_slice())
            && let Some(selection) = matcher.selection(result)
        {
            found.insert(result, selection);
        }
    });
    found
}

/// Replaces selections by shifts.
fn replace(function: &mut Function, region: &mut Region, selections: &FxHashMap<Value, Selection>) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        inst.op.regions_mut().into_iter().for_each(|nested| replace(function, nested, selections));
        if let Some(selection) = inst.results.first().and_then(|result| selections.get(result)) {
            inst.op = selection.emit(&mut Cursor::new(function, &mut out, inst.span));
        }
        out.push(inst);
    }
    region.insts = out;
}

/// A word of the shifted 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Value(Value),
    Constant(u32),
}

/// The low word of `(high:low) >> distance`.
struct Shift {
    low: Word,
    high: Word,
    distance: u32,
}

/// A selection among shifts of the same words. The distance is `first + selector * step`.
struct Selection {
    selector: Value,
    low: Word,
    high: Word,
    first: u32,
    step: u32,
}

impl Selection {
    /// Emits the shift, and returns the operation that gives the result.
    fn emit(&self, at: &mut Cursor<'_>) -> Op {
        let step = at.word(self.step);
        let product = at.bin(BinOp::Mul, self.selector, step);
        let first = at.word(self.first);
        let distance = at.bin(BinOp::Add, product, first);
        let [low, high] = [self.low, self.high].map(|word| {
            let word = match word {
                Word::Value(value) => value,
                Word::Constant(bits) => at.word(bits),
            };
            at.cast(CastOp::ZExt, word, Scalar::I64)
        });
        let high = at.bin_bits(BinOp::Shl, high, 32);
        let both = at.bin(BinOp::Or, high, low);
        let distance = at.cast(CastOp::ZExt, distance, Scalar::I64);
        Op::Cast(CastOp::Trunc, at.bin(BinOp::LShr, both, distance))
    }
}

/// Finds selections among shifts of 32-bit integers.
struct Matcher<'f> {
    function: &'f Function,
    defs: Definitions<'f>,
}

impl Matcher<'_> {
    /// Returns the selection that a chain of `select` operations makes. `None` for other values.
    fn selection(&self, value: Value) -> Option<Selection> {
        if self.function.ty(value) != Type::I32 {
            return None;
        }
        let (selector, cases) = self.cases(value)?;
        let (low, high) = cases.iter().find_map(|&case| {
            let shift = self.shift(case)?;
            Some((shift.low, shift.high))
        })?;
        let distances: SmallVec<[u32; 8]> = cases.iter().map(|&case| self.distance(case, low, high)).collect::<Option<_>>()?;
        let (first, step) = (*distances.first()?, distances.get(1)?.wrapping_sub(*distances.first()?));
        let is_linear = distances.iter().zip(0_u32..).all(|(&distance, k)| distance == first.wrapping_add(k.wrapping_mul(step)));
        is_linear.then_some(Selection { selector, low, high, first, step })
    }

    /// Returns the selector of a chain of selections, and the value for each number that the selector can be.
    fn cases(&self, value: Value) -> Option<(Value, SmallVec<[Value; 8]>)> {
        let mut selector = None;
        let mut cases: SmallVec<[Option<Value>; 8]> = SmallVec::new();
        let mut rest = value;
        while let Some(&Op::Select(condition, yes, no)) = self.defs.get(rest) {
            let Some((tested, number)) = self.test(condition) else { break };
            match selector {
                None => {
                    cases.resize(self.count(tested)? as usize, None);
                    selector = Some(tested);
                }
                Some(selector) if selector != tested => break,
                Some(_) => {}
            }
            let case = cases.get_mut(number as usize)?;
            *case = case.or(Some(yes));
            rest = no;
        }
        let cases = cases.into_iter().map(|case| case.or(Some(rest))).collect::<Option<_>>()?;
        Some((selector?, cases))
    }

    /// Returns the operands of a comparison of a value with a constant.
    fn test(&self, condition: Value) -> Option<(Value, u32)> {
        let &Op::Cmp(CmpOp::Eq, a, b) = self.defs.get(condition)? else { return None };
        Some((a, self.constant(b)?))
    }

    /// Returns the number of values that a masked value can be. `None` if there are too many or too few.
    fn count(&self, value: Value) -> Option<u64> {
        let &Op::Bin(BinOp::And, _, mask) = self.defs.get(value)? else { return None };
        let count = u64::from(self.constant(mask)?) + 1;
        let is_word = self.function.ty(value) == Type::I32;
        (is_word && count.is_power_of_two() && (MIN_CASES..=MAX_CASES).contains(&count)).then_some(count)
    }

    fn constant(&self, value: Value) -> Option<u32> {
        self.defs.scalar(value).map(|bits| bits as u32)
    }

    fn word(&self, value: Value) -> Word {
        self.constant(value).map_or(Word::Value(value), Word::Constant)
    }

    /// Returns the shift that a value is, with a distance from 1 to 31. `None` for other values.
    fn shift(&self, value: Value) -> Option<Shift> {
        let &Op::Bin(kind, a, b) = self.defs.get(value)? else { return None };
        let distance = |amount: Value| self.constant(amount).filter(|amount| (1..32).contains(amount));
        match kind {
            BinOp::LShr => Some(Shift { low: self.word(a), high: Word::Constant(0), distance: distance(b)? }),
            BinOp::Shl => Some(Shift { low: Word::Constant(0), high: self.word(a), distance: 32 - distance(b)? }),
            BinOp::Or => [(a, b), (b, a)].into_iter().find_map(|(right, left)| {
                let &Op::Bin(BinOp::LShr, low, amount) = self.defs.get(right)? else { return None };
                let (low, distance) = (self.word(low), distance(amount)?);
                let high = match (self.constant(left), self.defs.get(left)) {
                    // The high word is a constant whose shift was evaluated.
                    (Some(bits), _) if bits.trailing_zeros() >= 32 - distance => Word::Constant(bits >> (32 - distance)),
                    (None, Some(&Op::Bin(BinOp::Shl, high, amount))) if self.constant(amount) == Some(32 - distance) => self.word(high),
                    _ => return None,
                };
                Some(Shift { low, high, distance })
            }),
            _ => None,
        }
    }

    /// Returns the distance by which the words must be shifted to give a value: 0 for the low word, 32 for the high
    /// word.
    fn distance(&self, value: Value, low: Word, high: Word) -> Option<u32> {
        let word = self.word(value);
        if let Some(shift) = self.shift(value).filter(|shift| (shift.low, shift.high) == (low, high)) {
            return Some(shift.distance);
        }
        if low == high {
            None
        } else if word == low {
            Some(0)
        } else {
            (word == high).then_some(32)
        }
    }
}
