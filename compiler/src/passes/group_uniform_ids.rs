//! Rewrites values that are uniform in a work-group, but computed from a global id. The pass computes them from the
//! group id, because the uniformity analysis of browsers only accepts group ids
//! ([`Shaders::uniform_barriers`](crate::target::Shaders::uniform_barriers)).
//!
//! ```text
//! %1 = workitem.global_id 0           groups of 32, no global offset
//! %2 = lshr %1, 6               =>    %3 = workitem.group_id 0; %2 = udiv %3, 2
//! %4 = urem %1, 128                   %4 = urem %1, 128
//! %5 = ult %4, 64               =>    %6 = urem %3, 4; %5 = ult %6, 2
//! ```
//! A global id is the group id times the group size, plus a remainder smaller than the group size. A value that only
//! depends on the product can be computed from the group id. This also holds for signed operations if the operands are
//! known to be non-negative. The maximum number of groups of a dispatch
//! ([`Limits::groups`](crate::target::Limits::groups)) limits the global ids.

use super::pass::{Cx, Pass};
use crate::analysis::definitions::Definitions;
use crate::ir::{BinOp, Build, CastOp, CmpOp, Cursor, Function, Inst, Op, Region, Scalar, Type, Value, WorkItem};
use rustc_hash::FxHashMap;

pub(crate) const PASS: Pass = Pass::function("group_uniform_ids", |function, cx| Ok(run(function, cx)));

/// The sign bit of 32-bit integers.
const SIGN: u64 = 1 << 31;

/// A value of the form `size * group + rest`. `group` is the group id in a dimension, modulo `modulus` if there is one.
/// `rest` is less than `size`.
#[derive(Clone, Copy, Debug)]
struct Number {
    dimension: u8,
    size: u32,
    modulus: Option<u32>,
    /// Exclusive upper bound of the value.
    limit: u64,
}

/// A value as a function of the group id.
#[derive(Clone, Copy, Debug)]
enum Whole {
    /// `group / by`.
    Quotient(u32),
    /// `(group & mask) * size`.
    Bits(u32),
    /// `group < end`, or its negation.
    Below(u32, bool),
}

type UniformValues = FxHashMap<Value, (Number, Whole)>;

/// Rewrites the values that only depend on the group id. Returns whether anything changed.
fn run(function: &mut Function, cx: &Cx<'_>) -> bool {
    if !cx.key.kernel.zero_offset {
        return false;
    }
    let found = find(function, cx);
    let mut body = std::mem::take(&mut function.body);
    if !found.is_empty() {
        rewrite(function, &mut body, &found);
    }
    function.body = body;
    !found.is_empty()
}

/// Finds the values that only depend on the group id.
fn find(function: &Function, cx: &Cx<'_>) -> UniformValues {
    let numbers = Numbers { definitions: Definitions::of(function), cx };
    let mut found = FxHashMap::default();
    function.body.walk(&mut |inst| {
        let [result] = inst.results[..] else { return };
        let whole = match inst.op {
            Op::Bin(op, number, by) => numbers.of_group(op, number, by),
            Op::Cmp(kind, a, b) => numbers.below(kind, a, b).or_else(|| numbers.below(swapped(kind)?, b, a)),
            _ => None,
        };
        found.extend(whole.map(|whole| (result, whole)));
    });
    found
}

/// Returns the comparison with swapped operands, or `None` for equality and comparisons of floats.
const fn swapped(kind: CmpOp) -> Option<CmpOp> {
    Some(match kind {
        CmpOp::ULt => CmpOp::UGt,
        CmpOp::ULe => CmpOp::UGe,
        CmpOp::UGt => CmpOp::ULt,
        CmpOp::UGe => CmpOp::ULe,
        CmpOp::SLt => CmpOp::SGt,
        CmpOp::SLe => CmpOp::SGe,
        CmpOp::SGt => CmpOp::SLt,
        CmpOp::SGe => CmpOp::SLe,
        _ => return None,
    })
}

struct Numbers<'a> {
    definitions: Definitions<'a>,
    cx: &'a Cx<'a>,
}

impl Numbers<'_> {
    /// Returns the form of a value that is a global id, possibly modulo a constant. Returns `None` for other values.
    fn of(&self, value: Value) -> Option<Number> {
        match *self.definitions.get(value)? {
            Op::WorkItem(WorkItem::GlobalId(dimension)) => {
                let key = self.cx.key;
                let size = *key.kernel.enqueued_local_size.get(usize::from(dimension)).filter(|&&size| size > 0)?;
                // With several dispatches, or a second dimension of the dispatch, group ids can exceed the limit.
                let whole = key.binding.single_dispatch && !key.binding.two_dimensional_dispatch;
                let groups = if whole { self.cx.target.shaders.limits.groups } else { u32::MAX };
                Some(Number { dimension, size, modulus: None, limit: (u64::from(groups) * u64::from(size)).min(1 << 32) })
            }
            Op::Cast(CastOp::ZExt, narrow) => self.of(narrow),
            Op::Cast(CastOp::SExt, narrow) => self.of(narrow).filter(Number::is_non_negative),
            Op::Bin(op, number, by) => {
                let by = self.definitions.scalar(by)?;
                let divisor = match op {
                    BinOp::URem | BinOp::SRem => by,
                    BinOp::And => by.checked_add(1).filter(|divisor| divisor.is_power_of_two())?,
                    _ => return None,
                };
                let number = self.of(number).filter(|number| op != BinOp::SRem || (number.is_non_negative() && by < SIGN))?;
                // The combination of two moduli is not supported.
                let modulus = number.groups(divisor).filter(|_| number.modulus.is_none())?;
                Some(Number { modulus: Some(modulus), limit: number.limit.min(divisor), ..number })
            }
            _ => None,
        }
    }

    /// Returns the result of a division, shift or mask as a function of the group id. Returns `None` if the result also
    /// depends on `rest`, or if the operation is not supported.
    fn of_group(&self, op: BinOp, number: Value, by: Value) -> Option<(Number, Whole)> {
        let by = self.definitions.scalar(by)?;
        let number = self.of(number)?;
        let whole = match op {
            BinOp::UDiv => Whole::Quotient(number.groups(by)?),
            BinOp::SDiv if number.is_non_negative() && by < SIGN => Whole::Quotient(number.groups(by)?),
            // Shift amounts are taken modulo the width, which may be 32 or 64. Amounts below 32 give the same result
            // for both widths.
            BinOp::LShr if by < 32 => Whole::Quotient(number.groups(1 << by)?),
            BinOp::AShr if by < 32 && number.is_non_negative() => Whole::Quotient(number.groups(1 << by)?),
            // The mask is a multiple of the group size, so that `rest` has no effect.
            BinOp::And if number.size.is_power_of_two() => Whole::Bits(number.groups(by)?),
            _ => return None,
        };
        Some((number, whole))
    }

    /// Returns a comparison with a constant as a function of the group id. Returns `None` if the result also depends on
    /// `rest`, or if the comparison is not supported.
    fn below(&self, kind: CmpOp, number: Value, bound: Value) -> Option<(Number, Whole)> {
        let (bound, number) = (self.definitions.scalar(bound)?, self.of(number)?);
        let signed = matches!(kind, CmpOp::SLt | CmpOp::SLe | CmpOp::SGt | CmpOp::SGe);
        if signed && (!number.is_non_negative() || bound >= SIGN) {
            return None;
        }
        let (end, is_below) = match kind {
            CmpOp::ULt | CmpOp::SLt => (bound, true),
            CmpOp::ULe | CmpOp::SLe => (bound.checked_add(1)?, true),
            CmpOp::UGe | CmpOp::SGe => (bound, false),
            CmpOp::UGt | CmpOp::SGt => (bound.checked_add(1)?, false),
            _ => return None,
        };
        Some((number, Whole::Below(number.groups(end)?, is_below)))
    }
}

impl Number {
    const fn is_non_negative(&self) -> bool {
        self.limit <= SIGN
    }

    /// Returns the number of groups with `items` work-items in total. Returns `None` if this number is zero or not an
    /// integer.
    fn groups(&self, items: u64) -> Option<u32> {
        let size = u64::from(self.size);
        u32::try_from(items / size).ok().filter(|&groups| groups > 0 && items.is_multiple_of(size))
    }
}

fn rewrite(function: &mut Function, region: &mut Region, found: &UniformValues) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        for nested in inst.op.regions_mut() {
            rewrite(function, nested, found);
        }
        if let Some((&result, &(number, whole))) = inst.results.first().and_then(|result| found.get_key_value(result)) {
            let ty = function.ty(result);
            let mut at = Cursor::new(function, &mut out, inst.span);
            inst = Inst { op: emit(&mut at, ty, number, whole), ..inst };
        }
        out.push(inst);
    }
    region.insts = out;
}

/// Emits the function of the group id except the last operation, and returns the last operation.
fn emit(at: &mut Cursor<'_>, ty: Type, number: Number, whole: Whole) -> Op {
    let mut group = at.push(Type::I32, Op::WorkItem(WorkItem::GroupId(number.dimension)));
    if let Some(modulus) = number.modulus {
        group = at.bin_bits(BinOp::URem, group, u64::from(modulus));
    }
    let (op, other) = match whole {
        Whole::Below(end, is_below) => {
            let end = at.word(end);
            return Op::Cmp(if is_below { CmpOp::ULt } else { CmpOp::UGe }, group, end);
        }
        Whole::Quotient(by) => (BinOp::UDiv, by),
        Whole::Bits(mask) => {
            group = at.bin_bits(BinOp::And, group, u64::from(mask));
            (BinOp::Mul, number.size)
        }
    };
    if ty == Type::I64 {
        group = at.cast(CastOp::ZExt, group, Scalar::I64);
    }
    let other = at.bits(ty, u64::from(other));
    Op::Bin(op, group, other)
}
