//! Rewrites arithmetic with constant zeros. Some drivers fold `x * 0` and `0 / x` to 0, and treat `x / 0` as undefined
//! ([`Defects::float_zeros`](crate::target::Defects::float_zeros)). They recognise zero by its bits, so a negative
//! zero is not affected.
//!
//! ```text
//! %2 = fmul %x, 0              %3 = fmul %x, -0
//!                        =>    %2 = fneg %3
//! %4 = fadd %y, 0              %5 = fadd %y, 0
//!                              %6 = feq %5, 0
//!                              %4 = select %6, 0, %5
//! ```
//! The drivers also fold `x + 0` to `x`, which is only wrong if `x` is a negative zero. So a sum that is zero is
//! replaced by positive zero.

use crate::diag::Span;
use crate::ir::{BinOp, CastOp, CmpOp, Const, Function, Inst, Op, Region, Scalar, Type, UnOp, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Bits of the lanes of a constant.
type Lanes = SmallVec<[u64; 16]>;

/// Rewrites a function.
pub(super) fn run(function: &mut Function) {
    let mut constants = FxHashMap::default();
    function.body.walk(&mut |inst| {
        if let [result] = inst.results[..]
            && let Some(lanes) = lanes(function, &constants, &inst.op, function.ty(result))
        {
            constants.insert(result, lanes);
        }
    });
    constants.retain(|value, lanes| {
        let sign = function.ty(*value).scalar().map_or(0, sign);
        lanes.iter().any(|&bits| bits & !sign == 0)
    });
    if constants.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut function.body);
    Zeros { function, constants }.region(&mut body);
    function.body = body;
}

/// Returns the lanes of a float constant, of a splat of a constant, or of a conversion of positive zeros. Returns
/// `None` for other values.
fn lanes(function: &Function, constants: &FxHashMap<Value, Lanes>, op: &Op, ty: Type) -> Option<Lanes> {
    ty.scalar().filter(|scalar| scalar.is_float())?;
    match op {
        Op::Const(Const::Bits(bits)) => Some(SmallVec::from_elem(*bits, usize::from(ty.lanes()))),
        Op::Const(Const::Lanes(lanes)) => Some(lanes.iter().copied().collect()),
        Op::Const(Const::Null) => Some(SmallVec::from_elem(0, usize::from(ty.lanes()))),
        // A positive zero has no set bits in any width.
        Op::Cast(CastOp::FToF, inner) => {
            constants.get(inner).filter(|lanes| lanes.iter().all(|&bits| bits == 0) && function.ty(*inner).scalar().is_some()).cloned()
        }
        Op::Splat(inner) => {
            let bits = *constants.get(inner)?.first()?;
            Some(SmallVec::from_elem(bits, usize::from(ty.lanes())))
        }
        _ => None,
    }
}

struct Zeros<'f> {
    function: &'f mut Function,
    /// Constants that have zeros of either sign among their lanes.
    constants: FxHashMap<Value, Lanes>,
}

impl Zeros<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            match inst.op {
                Op::Bin(op @ (BinOp::FMul | BinOp::FDiv), a, b) if self.has_zero(a, false) || self.has_zero(b, false) => {
                    self.product(&mut out, inst, op, (a, b));
                }
                Op::Bin(op @ (BinOp::FAdd | BinOp::FSub), a, b) if self.is_sum_with_zero(op, a, b) => self.sum(&mut out, inst),
                _ => out.push(inst),
            }
        }
        region.insts = out;
    }

    /// Replaces positive zeros in the operands of a product or quotient by negative zeros, and negates the result in
    /// those lanes.
    fn product(&mut self, out: &mut Vec<Inst>, inst: Inst, op: BinOp, (a, b): (Value, Value)) {
        let Some(scalar) = self.function.ty(a).scalar() else { return out.push(inst) };
        let count = usize::from(self.function.ty(a).lanes());
        let mut flipped = vec![false; count];
        let mut replace_zeros = |this: &mut Self, value: Value| {
            let Some(mut lanes) = this.constants.get(&value).cloned() else { return value };
            for (bits, flipped) in lanes.iter_mut().zip(&mut flipped).filter(|(bits, _)| **bits == 0) {
                *bits = sign(scalar);
                *flipped = !*flipped;
            }
            this.constant(out, inst.span, this.function.ty(value), &lanes)
        };
        let (a, b) = (replace_zeros(self, a), replace_zeros(self, b));
        let ty = self.function.ty(a);
        let changed = self.function.emit(out, inst.span, ty, Op::Bin(op, a, b));
        let op = if flipped.iter().all(|&flipped| flipped) {
            Op::Un(UnOp::FNeg, changed)
        } else {
            let lanes: Lanes = flipped.iter().map(|&flipped| one(scalar) | if flipped { sign(scalar) } else { 0 }).collect();
            let signs = self.constant(out, inst.span, ty, &lanes);
            Op::Bin(BinOp::FMul, changed, signs)
        };
        out.push(Inst { op, ..inst });
    }

    /// Whether a value is a constant with zeros of the given sign among its lanes.
    fn has_zero(&self, value: Value, negative: bool) -> bool {
        let Some(scalar) = self.function.ty(value).scalar() else { return false };
        self.constants.get(&value).is_some_and(|lanes| lanes.contains(&if negative { sign(scalar) } else { 0 }))
    }

    /// Whether an addition or subtraction adds positive zeros in some lanes and negative zeros in none.
    fn is_sum_with_zero(&self, op: BinOp, a: Value, b: Value) -> bool {
        let adds = |value: Value, negated: bool| self.has_zero(value, negated) && !self.has_zero(value, !negated);
        adds(a, false) || adds(b, op == BinOp::FSub)
    }

    /// Computes a sum, and replaces a zero result of either sign by positive zero.
    fn sum(&mut self, out: &mut Vec<Inst>, inst: Inst) {
        let Some(&result) = inst.results.first() else { return out.push(inst) };
        let ty = self.function.ty(result);
        let sum = self.function.emit(out, inst.span, ty, inst.op);
        let zero = self.function.emit_bits(out, inst.span, ty, 0);
        let is_zero = self.function.emit(out, inst.span, ty.with_scalar(Scalar::Bool), Op::Cmp(CmpOp::FEq, sum, zero));
        out.push(Inst { op: Op::Select(is_zero, zero, sum), results: inst.results, span: inst.span });
    }

    fn constant(&mut self, out: &mut Vec<Inst>, span: Span, ty: Type, lanes: &[u64]) -> Value {
        let constant = match (ty, lanes.first()) {
            (Type::Scalar(_), Some(&bits)) => Const::Bits(bits),
            _ => Const::Lanes(lanes.to_vec()),
        };
        self.function.emit(out, span, ty, Op::Const(constant))
    }
}

fn sign(scalar: Scalar) -> u64 {
    1 << (scalar.bits() - 1)
}

fn one(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::F16 => 0x3c00,
        Scalar::F32 => 0x3f80_0000,
        _ => 0x3ff0_0000_0000_0000,
    }
}
