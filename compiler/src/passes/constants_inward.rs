//! Adds a constant to a part of a sum where that was done already.
//!
//! ```text
//! %u = add %q, 7                         %u = add %q, 7
//! %p = add %q, %r               =>       %s = add %u, %r
//! %s = add %p, 7                         %t = add %s, %w
//! %t = add %p, %w                        %v = add %t, 13
//! %v = add %t, 20
//! ```
//! `simplify` brings constants to the outside of sums, so that those of addresses meet. Where a sum goes on and on, as in hash functions, each of its states is then
//! there with the constant and without. Here sums get back what has the constant in it, and a constant further out makes up for it. Comes last: `simplify`
//! would undo it.

use rustc_hash::FxHashMap;

use super::pass::Pass;
use crate::analysis::definitions::{Constants, Uses};
use crate::ir::{BinOp, Function, Inst, Op, Region, Scalar, Type, Value};

pub(crate) const PASS: Pass = Pass::function("constants_inward", |function, _| Ok(run(function)));

/// Sums within a sum that are looked into.
const DEEPEST: usize = 6;

/// Rewrites a function. Returns whether there was anything. What is not needed any more stays.
pub(crate) fn run(function: &mut Function) -> bool {
    let mut finder = Finder {
        function,
        constants: Constants::of(&function.body),
        uses: Uses::of(function),
        sums: FxHashMap::default(),
        with: FxHashMap::default(),
        undo: Vec::new(),
        found: Found::default(),
    };
    finder.region(&function.body);
    let found = finder.found;
    if found.sums.is_empty() && found.constants.is_empty() {
        return false;
    }
    let mut body = std::mem::take(&mut function.body);
    rewrite(function, &mut body, &found);
    function.body = body;
    true
}

/// What becomes of additions, by their results.
#[derive(Default)]
struct Found {
    /// Other operands.
    sums: FxHashMap<Value, (Value, Value)>,
    /// What is added to what, where that is a constant.
    constants: FxHashMap<Value, (Value, u64)>,
}

/// An addition without a constant.
struct Sum {
    parts: [Value; 2],
    /// For each part: itself with a constant, if that was there before, and the constant.
    with: [Option<(Value, u64)>; 2],
}

struct Finder<'f> {
    function: &'f Function,
    constants: Constants,
    uses: Uses,
    sums: FxHashMap<Value, Sum>,
    /// Values with constants, as far as they were computed here or further out: what both make, and the constant.
    with: FxHashMap<Value, (Value, u64)>,
    /// What was known before, further out.
    undo: Vec<(Value, Option<(Value, u64)>)>,
    found: Found,
}

impl Finder<'_> {
    fn region(&mut self, region: &Region) {
        let before = self.undo.len();
        for inst in &region.insts {
            inst.op.regions().iter().for_each(|nested| self.region(nested));
            let (&Op::Bin(BinOp::Add, a, b), &[result]) = (&inst.op, inst.results.as_slice()) else { continue };
            let Some(mask) = self.mask(result) else { continue };
            match (self.constants.bits(a), self.constants.bits(b)) {
                (None, Some(bits)) => self.outside(result, (a, bits), mask),
                (Some(bits), None) => self.outside(result, (b, bits), mask),
                (None, None) => {
                    let parts = [a, b];
                    self.sums.insert(result, Sum { parts, with: parts.map(|part| self.with.get(&part).copied()) });
                }
                _ => {}
            }
        }
        for (value, known) in self.undo.drain(before..).rev() {
            match known {
                Some(known) => self.with.insert(value, known),
                None => self.with.remove(&value),
            };
        }
    }

    /// All bits of an integer of 32 or 64.
    fn mask(&self, value: Value) -> Option<u64> {
        match self.function.ty(value) {
            Type::Scalar(scalar @ (Scalar::I32 | Scalar::I64)) => Some(scalar.mask()),
            _ => None,
        }
    }

    /// A sum and a constant.
    fn outside(&mut self, result: Value, (sum, bits): (Value, u64), mask: u64) {
        let inner = self.sums.get(&sum).map(|sum| (sum.parts, sum.with));
        let known = self.with.insert(sum, (result, bits));
        self.undo.push((sum, known));
        // A part has the same constant already.
        if let Some(([x, y], with)) = inner {
            let same = |part: Option<(Value, u64)>| part.filter(|(_, other)| *other == bits).map(|(both, _)| both);
            let operands = same(with[0]).map(|both| (both, y)).or_else(|| same(with[1]).map(|both| (both, x)));
            if let Some(operands) = operands {
                self.found.sums.insert(result, operands);
                return;
            }
        }
        // A part of a part has another one.
        let mut next = sum;
        for _ in 0..DEEPEST {
            let Some(Sum { parts, with }) = self.sums.get(&next).filter(|_| self.uses.count(next) == 1) else { return };
            let &[x, y] = parts;
            let taken = with[0].map(|with| (with, y)).or_else(|| with[1].map(|with| (with, x)));
            if let Some(((both, other), rest)) = taken {
                self.found.sums.insert(next, (both, rest));
                self.found.constants.insert(result, (sum, bits.wrapping_sub(other) & mask));
                return;
            }
            let is_open = |value: &Value| self.uses.count(*value) == 1 && self.sums.contains_key(value);
            let Some(&part) = parts.iter().find(|part| is_open(part)) else { return };
            next = part;
        }
    }
}

fn rewrite(function: &mut Function, region: &mut Region, found: &Found) {
    let mut out = Vec::with_capacity(region.insts.len());
    for mut inst in std::mem::take(&mut region.insts) {
        for nested in inst.op.regions_mut() {
            rewrite(function, nested, found);
        }
        let result = inst.results.first().copied();
        if let Some(&(a, b)) = result.and_then(|result| found.sums.get(&result)) {
            inst.op = Op::Bin(BinOp::Add, a, b);
        } else if let Some((result, &(sum, bits))) = result.and_then(|result| Some((result, found.constants.get(&result)?))) {
            let ty = function.ty(result);
            let constant = function.emit_bits(&mut out, inst.span, ty, bits);
            inst = Inst { op: Op::Bin(BinOp::Add, sum, constant), ..inst };
        }
        out.push(inst);
    }
    region.insts = out;
}
