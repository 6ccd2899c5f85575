//! Writes quotients of `float` that have a divisor in common as products with its reciprocal, on devices that round every quotient correctly
//! ([`Costs::exact_quotients`](crate::target::Costs::exact_quotients)).
//!
//! OpenCL lets a quotient be off by 2.5 units in the last place (OpenCL C 3.0, "Relative Error as ULPs"): a reciprocal that is rounded correctly adds less than one to the half of the
//! product. The reciprocal of a divisor above 2^126 would be a denormal number, which devices may flush: such a divisor and what it divides are quarters of themselves, by factors that change
//! nothing but exponents.
//!
//! ```text
//!                              %6 = fabs %2; %7 = fgt %6, 0x1p126; %8 = select %7, 0.25, 1
//!                              %9 = fmul %2, %8; %10 = fdiv 1, %9
//! %3 = fdiv %0, %2             %11 = fmul %0, %8; %3 = fmul %11, %10
//! %4 = fdiv %1, %2             %12 = fmul %1, %8; %4 = fmul %12, %10
//! ```
//! The reciprocal goes where all quotients have it, and out of loops in which the divisor stays the same.

use rustc_hash::{FxHashMap, FxHashSet};

use super::pass::Pass;
use crate::analysis::definitions::Definitions;
use crate::ir::{BinOp, Build, CmpOp, Cursor, Function, Inst, MathOp, Op, Region, Scalar, Type, Value};

pub(crate) const PASS: Pass = Pass::function("reciprocals", |function, _| Ok(run(function)));

/// The bits of 2^126, 1/4 and 1.
const GREAT: u64 = 0x7e80_0000;
const QUARTER: u64 = 0x3e80_0000;
const ONE: u64 = 0x3f80_0000;

/// Rewrites a function. Returns whether there was anything.
fn run(function: &mut Function) -> bool {
    let body = std::mem::take(&mut function.body);
    let mut finder = Finder {
        function,
        definitions: Definitions::of_body(function, &body, 0),
        path: Vec::new(),
        homes: FxHashMap::default(),
        found: Vec::new(),
        numbers: FxHashMap::default(),
    };
    finder.region(&body);
    let (homes, found) = (finder.homes, finder.found);
    let mut writer =
        Writer { function, places: FxHashMap::default(), quotients: FxHashMap::default(), made: FxHashMap::default(), path: Vec::new() };
    for mut divisor in found.into_iter().filter(|divisor| divisor.uses >= 2) {
        divisor.leave_loops(homes.get(&divisor.value).copied().unwrap_or(0));
        let path: Path = divisor.around.iter().map(|step| (step.inst, step.region)).collect();
        writer.places.entry(path).or_default().push((divisor.before, divisor.value));
        writer.quotients.extend(divisor.quotients.into_iter().map(|quotient| (quotient, divisor.value)));
    }
    let mut body = body;
    let changed = !writer.places.is_empty();
    if changed {
        writer.region(&mut body);
    }
    function.body = body;
    changed
}

/// A region within the one around it: the instruction that has it, and which of its regions it is.
#[derive(Clone, Copy, Debug)]
struct Step {
    inst: usize,
    region: usize,
    is_loop: bool,
}

/// Steps from a function's body to a region.
type Path = Vec<(usize, usize)>;

/// A scalar or vector by which something is divided.
#[derive(Debug)]
struct Divisor {
    value: Value,
    /// What is worth a reciprocal: quotients, those counted twice that a loop may repeat or that are vectors of which the divisor is each component's.
    uses: u32,
    /// Results of the quotients.
    quotients: FxHashSet<Value>,
    /// The smallest region that has all of them, and the first instruction there that is one of them or has one in it.
    around: Vec<Step>,
    before: usize,
}

impl Divisor {
    fn add(&mut self, path: &[Step], quotient: Value, uses: u32) {
        self.uses += uses;
        self.quotients.insert(quotient);
        let shared = self.around.iter().zip(path).take_while(|(a, b)| (a.inst, a.region) == (b.inst, b.region)).count();
        if let Some(step) = self.around.get(shared) {
            self.before = step.inst;
            self.around.truncate(shared);
        }
    }

    /// Out of the loops within the region of that depth, in which the divisor is defined.
    fn leave_loops(&mut self, home: usize) {
        if let Some((depth, step)) = self.around.iter().enumerate().skip(home).find(|(_, step)| step.is_loop) {
            self.before = step.inst;
            self.around.truncate(depth);
        }
    }
}

struct Finder<'f> {
    function: &'f Function,
    definitions: Definitions<'f>,
    path: Vec<Step>,
    /// How deep the regions are in which values are defined, below the body.
    homes: FxHashMap<Value, usize>,
    found: Vec<Divisor>,
    /// Which of those a divisor is.
    numbers: FxHashMap<Value, usize>,
}

impl Finder<'_> {
    fn region(&mut self, region: &Region) {
        for (index, inst) in region.insts.iter().enumerate() {
            let depth = self.path.len();
            self.homes.extend(inst.results.iter().map(|&result| (result, depth)));
            if let Op::Loop { params, .. } = &inst.op {
                self.homes.extend(params.iter().map(|&param| (param, depth + 1)));
            }
            if let (&Op::Bin(BinOp::FDiv, _, by), &[quotient]) = (&inst.op, inst.results.as_slice()) {
                self.quotient(index, quotient, by);
            }
            for (number, nested) in inst.op.regions().into_iter().enumerate() {
                self.path.push(Step { inst: index, region: number, is_loop: matches!(inst.op, Op::Loop { .. }) });
                self.region(nested);
                self.path.pop();
            }
        }
    }

    fn quotient(&mut self, index: usize, quotient: Value, by: Value) {
        let (value, is_splat) = match self.definitions.get(by) {
            Some(&Op::Splat(scalar)) => (scalar, true),
            _ => (by, false),
        };
        if self.function.ty(value).scalar() != Some(Scalar::F32) {
            return;
        }
        let home = self.homes.get(&value).copied().unwrap_or(0);
        let repeats = self.path.iter().skip(home).any(|step| step.is_loop);
        let uses = if repeats || is_splat { 2 } else { 1 };
        if let Some(divisor) = self.numbers.get(&value).and_then(|&number| self.found.get_mut(number)) {
            divisor.add(&self.path, quotient, uses);
        } else {
            self.numbers.insert(value, self.found.len());
            let quotients = FxHashSet::from_iter([quotient]);
            self.found.push(Divisor { value, uses, quotients, around: self.path.clone(), before: index });
        }
    }
}

struct Writer<'f> {
    function: &'f mut Function,
    /// Reciprocals by the region where they are made: before which instruction, and of what.
    places: FxHashMap<Path, Vec<(usize, Value)>>,
    /// By what the quotients are divided that are rewritten.
    quotients: FxHashMap<Value, Value>,
    /// Factors and reciprocals.
    made: FxHashMap<Value, (Value, Value)>,
    path: Path,
}

impl Writer<'_> {
    fn region(&mut self, region: &mut Region) {
        let places = self.places.remove(&self.path).unwrap_or_default();
        let mut out = Vec::with_capacity(region.insts.len());
        for (index, mut inst) in std::mem::take(&mut region.insts).into_iter().enumerate() {
            for &(_, value) in places.iter().filter(|(before, _)| *before == index) {
                let made = reciprocal(&mut Cursor::new(self.function, &mut out, inst.span), value);
                self.made.insert(value, made);
            }
            for (number, nested) in inst.op.regions_mut().into_iter().enumerate() {
                self.path.push((index, number));
                self.region(nested);
                self.path.pop();
            }
            self.quotient(&mut inst, &mut out);
            out.push(inst);
        }
        region.insts = out;
    }

    fn quotient(&mut self, inst: &mut Inst, out: &mut Vec<Inst>) {
        let &[result] = inst.results.as_slice() else { return };
        let Op::Bin(BinOp::FDiv, dividend, _) = inst.op else { return };
        let Some(&(factor, reciprocal)) = self.quotients.get(&result).and_then(|value| self.made.get(value)) else { return };
        let ty = self.function.ty(result);
        let mut at = Cursor::new(self.function, out, inst.span);
        let [factor, reciprocal] = [factor, reciprocal].map(|value| as_wide(&mut at, value, ty));
        let scaled = at.bin(BinOp::FMul, dividend, factor);
        inst.op = Op::Bin(BinOp::FMul, scaled, reciprocal);
    }
}

/// In every component of that type, where it is a scalar.
fn as_wide(at: &mut Cursor<'_>, value: Value, ty: Type) -> Value {
    if at.type_of(value) == ty { value } else { at.push(ty, Op::Splat(value)) }
}

/// A factor, and the reciprocal of the product with it.
fn reciprocal(at: &mut Cursor<'_>, divisor: Value) -> (Value, Value) {
    let ty = at.type_of(divisor);
    let magnitude = at.math(MathOp::FAbs, divisor);
    let is_great = at.cmp_bits(CmpOp::FGt, magnitude, GREAT);
    let (quarter, one) = (at.bits(ty, QUARTER), at.bits(ty, ONE));
    let factor = at.select(is_great, quarter, one);
    let scaled = at.bin(BinOp::FMul, divisor, factor);
    (factor, at.bin(BinOp::FDiv, one, scaled))
}

#[cfg(test)]
mod tests {
    /// Both ways, in the arithmetic that the pass writes, against the quotient in `double`.
    #[test]
    fn products_are_within_one_and_a_half_units_in_the_last_place() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            f32::from_bits((random >> 16) as u32)
        };
        let mut worst = 0.0_f64;
        for _ in 0..2_000_000 {
            let (a, b) = (next(), next());
            let exact = f64::from(a) / f64::from(b);
            let normal = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
            if !a.is_normal() || !b.is_normal() || !normal.contains(&exact.abs()) {
                continue;
            }
            let factor = if b.abs() > f32::from_bits(super::GREAT as u32) { 0.25 } else { 1.0 };
            let reciprocal = 1.0 / (b * factor);
            assert!(reciprocal.is_normal(), "{b:e}");
            let unit = f64::from((exact as f32).abs().next_up()) - f64::from((exact as f32).abs());
            worst = worst.max((f64::from(a * factor * reciprocal) - exact).abs() / unit);
        }
        assert!((1.0..1.5).contains(&worst), "{worst}");
    }
}
