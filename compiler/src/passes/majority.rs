//! Rewrites the bitwise majority of three numbers as `x & y | x & z | y & z`.
//!
//! Common hash functions compute the majority in every round, usually as `x & y | z & (x ^ y)`. This form has one
//! operation less than the disjunction of three conjunctions. GPUs have an instruction for bitwise functions of three
//! operands (`LOP3`). NVIDIA's Vulkan driver (580.159) uses a single `LOP3` only for the disjunction of conjunctions.

use rustc_hash::FxHashMap;

use super::pass::Pass;
use crate::diag::Span;
use crate::ir::{BinOp, Function, Inst, Op, Region, Type, Value};

pub(crate) const PASS: Pass = Pass::function("majority", |function, _| Ok(run(function)));

/// Rewrites a function. Returns whether anything changed. Instructions that become unused stay.
pub(crate) fn run(function: &mut Function) -> bool {
    let mut body = std::mem::take(&mut function.body);
    let mut writer = Writer { function, defs: FxHashMap::default(), changed: false };
    writer.region(&mut body);
    let changed = writer.changed;
    function.body = body;
    changed
}

struct Writer<'f> {
    function: &'f mut Function,
    /// Bitwise operations by their results.
    defs: FxHashMap<Value, (BinOp, Value, Value)>,
    changed: bool,
}

impl Writer<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            inst.op.regions_mut().into_iter().for_each(|nested| self.region(nested));
            if let (&Op::Bin(kind @ (BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Add), a, b), &[result]) =
                (&inst.op, inst.results.as_slice())
            {
                if let Some([x, y, z, both]) = self.majority(kind, a, b) {
                    let ty = self.function.ty(result);
                    let mut make = |a: Value, kind: BinOp, b: Value| self.make(&mut out, inst.span, ty, Op::Bin(kind, a, b));
                    let (first, second) = (make(x, BinOp::And, z), make(y, BinOp::And, z));
                    let one = make(both, BinOp::Or, first);
                    inst.op = Op::Bin(BinOp::Or, one, second);
                    self.changed = true;
                } else {
                    self.defs.insert(result, (kind, a, b));
                }
            }
            out.push(inst);
        }
        region.insts = out;
    }

    fn make(&mut self, out: &mut Vec<Inst>, span: Span, ty: Type, op: Op) -> Value {
        self.function.emit(out, span, ty, op)
    }

    /// Returns the values `[x, y, z, x & y]` of `x & y | z & (x ^ y)`. Also accepts `|` instead of `^`, and `^` or `+`
    /// instead of the outer `|` if the result is the same. Returns `None` for other operations.
    fn majority(&self, kind: BinOp, a: Value, b: Value) -> Option<[Value; 4]> {
        if kind == BinOp::And {
            return None;
        }
        [(a, b), (b, a)].into_iter().find_map(|(both, rest)| {
            let &(BinOp::And, x, y) = self.defs.get(&both)? else { return None };
            let &(BinOp::And, one, other) = self.defs.get(&rest)? else { return None };
            [(one, other), (other, one)].into_iter().find_map(|(z, differing)| {
                let &(inner, p, q) = self.defs.get(&differing)?;
                let is_exact = inner == BinOp::Xor || (inner == BinOp::Or && kind == BinOp::Or);
                (is_exact && ((p, q) == (x, y) || (p, q) == (y, x))).then_some([x, y, z, both])
            })
        })
    }
}
