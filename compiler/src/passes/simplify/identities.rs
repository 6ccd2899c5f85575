//! Rules for operations with two operands, and for `fma` and other forms of `a * b + c`.

use super::rules::Output;
use super::walk::Walk;
use crate::ir::{BinOp, CastOp, MathOp, Op, Scalar, Type, UnOp, Value};

impl Walk<'_> {
    pub(super) fn binary_rules(&mut self, at: &mut Output, op: &mut Op) -> Option<Value> {
        let Op::Bin(kind, a, b) = op else { return None };
        if is_commutative(*kind) && self.constant_of(*a).is_some() && self.constant_of(*b).is_none() {
            std::mem::swap(a, b);
            self.changed = true;
        }
        let (kind, a, b) = (*kind, *a, *b);
        let scalar = at.ty.scalar()?;
        if scalar.is_float() {
            return self.float_rules(at, kind, a, b, scalar);
        }
        if a == b
            && let Some(value) = self.same_operands(at, kind, a)
        {
            return Some(value);
        }
        if let Some(bits) = self.bits(b) {
            return self.constant_operand(at, kind, a, bits, scalar);
        }
        if let Some((x, amount)) = self.rotation(kind, a, b, scalar) {
            return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Rotate, x, amount)));
        }
        match kind {
            // The constants of address computations move to the outermost sum, where they are combined.
            BinOp::Add | BinOp::Sub => self.hoist_constant(at, kind, a, b),
            BinOp::Mul => self.hoist_product(at, a, b),
            BinOp::And | BinOp::Or => {
                let other = if kind == BinOp::And { BinOp::Or } else { BinOp::And };
                let absorbs = |outer: Value, inner: Value| matches!(self.def(inner), Some(&Op::Bin(op, x, y)) if op == other && (x == outer || y == outer));
                if absorbs(a, b) { Some(a) } else { absorbs(b, a).then_some(b) }
            }
            _ => None,
        }
    }

    /// Returns the value of `a op a`, or `None` if it is not known.
    fn same_operands(&mut self, at: &mut Output, kind: BinOp, a: Value) -> Option<Value> {
        match kind {
            BinOp::And | BinOp::Or | BinOp::SMin | BinOp::UMin | BinOp::SMax | BinOp::UMax => Some(a),
            BinOp::Sub | BinOp::Xor | BinOp::SSubSat | BinOp::USubSat => Some(self.splat(at.ty, 0)),
            _ => None,
        }
    }

    /// Simplifies `a op c` for an integer constant `c`, which is the same in every lane.
    fn constant_operand(&mut self, at: &mut Output, kind: BinOp, a: Value, bits: u64, scalar: Scalar) -> Option<Value> {
        let ones = scalar.mask();
        let amount = bits % u64::from(scalar.bits());
        match kind {
            BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::SAddSat | BinOp::UAddSat | BinOp::SSubSat | BinOp::USubSat
                if bits == 0 =>
            {
                return Some(a);
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotate if amount == 0 => return Some(a),
            BinOp::And | BinOp::Mul | BinOp::UMin | BinOp::UMulHi | BinOp::SMulHi if bits == 0 => return Some(self.splat(at.ty, 0)),
            BinOp::And | BinOp::UMin if bits == ones => return Some(a),
            BinOp::Or | BinOp::UMax if bits == ones => return Some(self.splat(at.ty, ones)),
            BinOp::UMax if bits == 0 => return Some(a),
            BinOp::Xor if bits == ones => return Some(self.make(at.out, at.span, at.ty, Op::Un(UnOp::Not, a))),
            BinOp::Mul | BinOp::UDiv | BinOp::SDiv if bits == 1 => return Some(a),
            BinOp::URem | BinOp::SRem if bits == 1 => return Some(self.splat(at.ty, 0)),
            BinOp::Mul if bits == ones => return Some(self.make(at.out, at.span, at.ty, Op::Un(UnOp::Neg, a))),
            BinOp::Sub => {
                let negated = self.splat(at.ty, bits.wrapping_neg());
                return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Add, a, negated)));
            }
            BinOp::Mul | BinOp::UDiv if bits.is_power_of_two() => {
                let amount = self.splat(at.ty, u64::from(bits.trailing_zeros()));
                let shift = if kind == BinOp::Mul { BinOp::Shl } else { BinOp::LShr };
                return Some(self.make(at.out, at.span, at.ty, Op::Bin(shift, a, amount)));
            }
            BinOp::URem if bits.is_power_of_two() => {
                let mask = self.splat(at.ty, bits - 1);
                return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::And, a, mask)));
            }
            _ => {}
        }
        self.combine_constants(at, kind, a, bits, scalar)
    }

    /// Simplifies `(x op1 c1) op2 c2`.
    fn combine_constants(&mut self, at: &mut Output, kind: BinOp, a: Value, bits: u64, scalar: Scalar) -> Option<Value> {
        let width = u64::from(scalar.bits());
        match self.def(a).cloned()? {
            Op::Bin(BinOp::Add, x, y) if kind == BinOp::Add && self.bits(y).is_none() => {
                let is_local = self.sums.is_used_once(a) && !self.sums.leads_to_address(self.current);
                if is_local { self.add_to_part(at, [x, y], bits) } else { None }
            }
            Op::Bin(inner, x, c) => {
                let first = self.bits(c)?;
                let (op, x, bits) = match (kind, inner) {
                    (BinOp::Add, BinOp::Add) => (kind, x, first.wrapping_add(bits)),
                    (BinOp::Mul, BinOp::Mul) => (kind, x, first.wrapping_mul(bits)),
                    (BinOp::And, BinOp::And) => (kind, x, first & bits),
                    (BinOp::Or, BinOp::Or) => (kind, x, first | bits),
                    (BinOp::Xor, BinOp::Xor) => (kind, x, first ^ bits),
                    (BinOp::Mul, BinOp::Shl) => (kind, x, bits.wrapping_shl(u32::try_from(first % width).ok()?)),
                    (BinOp::Shl, BinOp::Mul) => (BinOp::Mul, x, first.wrapping_shl(u32::try_from(bits % width).ok()?)),
                    (BinOp::Shl, BinOp::Shl) | (BinOp::LShr, BinOp::LShr) => {
                        let amount = first % width + bits % width;
                        if amount >= width {
                            return Some(self.splat(at.ty, 0));
                        }
                        (kind, x, amount)
                    }
                    (BinOp::AShr, BinOp::AShr) => (kind, x, (first % width + bits % width).min(width - 1)),
                    (BinOp::Rotate, BinOp::Rotate) => (kind, x, (first % width + bits % width) % width),
                    // A shift in one direction, and back by the same amount, clears bits.
                    (BinOp::LShr, BinOp::Shl) if first % width == bits % width => (BinOp::And, x, scalar.mask() >> (bits % width)),
                    (BinOp::Shl, BinOp::LShr) if first % width == bits % width => (BinOp::And, x, scalar.mask() << (bits % width)),
                    // Rewrites `(x + c) << s` as `(x << s) + (c << s)`, which moves the constant of an index out of the
                    // product.
                    (BinOp::Shl, BinOp::Add) if self.sums.may_extract_constant(self.current, a) => {
                        let amount = bits % width;
                        let scale = self.splat(at.ty, amount);
                        let scaled = self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Shl, x, scale));
                        (BinOp::Add, scaled, first << amount)
                    }
                    (BinOp::Mul, BinOp::Add) if self.sums.may_extract_constant(self.current, a) => {
                        let factor = self.splat(at.ty, bits);
                        let scaled = self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Mul, x, factor));
                        (BinOp::Add, scaled, first.wrapping_mul(bits))
                    }
                    _ => return None,
                };
                let constant = self.splat(at.ty, bits);
                Some(self.make(at.out, at.span, at.ty, Op::Bin(op, x, constant)))
            }
            Op::Cast(CastOp::ZExt, x) if kind == BinOp::And => {
                let from = self.ty(x).scalar()?;
                (from.mask() & bits == from.mask()).then_some(a)
            }
            _ => None,
        }
    }

    /// Adds a constant to a sum of which one operand also has a constant: `((x + c1) + y) + c2` is `(x + c) + y`.
    fn add_to_part(&mut self, at: &mut Output, parts: [Value; 2], bits: u64) -> Option<Value> {
        let [a, b] = parts;
        let constant = |walk: &Self, part: Value| match walk.def(part) {
            Some(&Op::Bin(BinOp::Add, x, c)) if walk.sums.is_used_once(part) => walk.bits(c).map(|first| (x, first)),
            _ => None,
        };
        let (x, first, other) = match (constant(self, a), constant(self, b)) {
            (Some((x, first)), _) => (x, first, b),
            (None, Some((x, first))) => (x, first, a),
            (None, None) => return None,
        };
        let constant = self.splat(at.ty, first.wrapping_add(bits));
        let part = self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Add, x, constant));
        Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Add, part, other)))
    }

    /// Rewrites `(x + c) * n`, where only `x` changes in the loop, as `x * n` plus a loop-invariant multiple of `n`.
    /// Unrolled iterations with different constants `c` then share the product `x * n`.
    fn hoist_product(&mut self, at: &mut Output, a: Value, b: Value) -> Option<Value> {
        [(a, b), (b, a)].into_iter().find_map(|(sum, factor)| {
            let Some(&Op::Bin(BinOp::Add, x, c)) = self.def(sum) else { return None };
            let bits = self.bits(c)?;
            if !self.is_deeper(x, factor) || self.bits(factor).is_some() {
                return None;
            }
            let constant = self.splat(at.ty, bits);
            let rest = self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Mul, factor, constant));
            let product = self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Mul, x, factor));
            Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Add, product, rest)))
        })
    }

    /// Rewrites `(x + c) + y` as `(x + y) + c`, and `x - (y + c)` as `(x - y) - c`. Outside of addresses, this is only
    /// done if both operands have a constant: otherwise, `y` may be the last value that is computed, and would be
    /// followed by two sums instead of one.
    fn hoist_constant(&mut self, at: &mut Output, kind: BinOp, a: Value, b: Value) -> Option<Value> {
        let parts = |walk: &Self, value: Value| match walk.def(value) {
            Some(&Op::Bin(BinOp::Add, x, c)) if walk.sums.may_extract_constant(walk.current, value) => walk.bits(c).map(|bits| (x, bits)),
            _ => None,
        };
        let parts = (parts(self, a), parts(self, b));
        if parts.0.is_some() != parts.1.is_some() && !self.sums.leads_to_address(self.current) {
            return None;
        }
        let (x, y, bits) = match (parts.0, parts.1, kind) {
            (Some((x, first)), Some((y, second)), BinOp::Add) => (x, y, first.wrapping_add(second)),
            (Some((x, first)), Some((y, second)), _) => (x, y, first.wrapping_sub(second)),
            (Some((x, first)), None, _) => (x, b, first),
            (None, Some((y, second)), BinOp::Add) => (a, y, second),
            (None, Some((y, second)), _) => (a, y, second.wrapping_neg()),
            (None, None, BinOp::Sub) => {
                if let Some(&Op::Un(UnOp::Neg, y)) = self.def(b) {
                    return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Add, a, y)));
                }
                // (x + b) - b
                return match self.def(a) {
                    Some(&Op::Bin(BinOp::Add, x, y)) if y == b => Some(x),
                    Some(&Op::Bin(BinOp::Add, x, y)) if x == b => Some(y),
                    _ => None,
                };
            }
            _ => {
                return match self.def(b) {
                    Some(&Op::Un(UnOp::Neg, y)) => Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Sub, a, y))),
                    _ => None,
                };
            }
        };
        let sum = self.make(at.out, at.span, at.ty, Op::Bin(kind, x, y));
        let constant = self.splat(at.ty, bits);
        Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::Add, sum, constant)))
    }

    /// The rules for floats. They hold for NaNs, infinities and negative zero, and for every treatment of denormals.
    fn float_rules(&mut self, at: &mut Output, kind: BinOp, a: Value, b: Value, scalar: Scalar) -> Option<Value> {
        let bits = self.bits(b)?;
        let sign = sign_bit(scalar);
        let one = one(scalar);
        match kind {
            BinOp::FMul | BinOp::FDiv if bits == one => Some(a),
            BinOp::FMul | BinOp::FDiv if bits == one | sign => Some(self.make(at.out, at.span, at.ty, Op::Un(UnOp::FNeg, a))),
            BinOp::FAdd if bits == sign || (bits == 0 && self.is_never_negative_zero(a, 8)) => Some(a),
            BinOp::FSub if bits == 0 => Some(a),
            BinOp::FDiv => {
                let reciprocal = exact_reciprocal(scalar, bits)?;
                let factor = self.splat(at.ty, reciprocal);
                Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::FMul, a, factor)))
            }
            _ => None,
        }
    }

    /// Simplifies `a * b + c`, fused or not, if the product is exact or negative zero is added.
    pub(super) fn multiply_add_rules(&mut self, at: &mut Output, op: &mut Op) -> Option<Value> {
        let Op::Math(_, args) = op else { return None };
        let &[a, b, c] = args.as_slice() else { return None };
        let scalar = at.ty.scalar()?;
        let (sign, one) = (sign_bit(scalar), one(scalar));
        if self.bits(c) == Some(sign) {
            return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::FMul, a, b)));
        }
        let (known, other) = if self.bits(b).is_some() { (b, a) } else { (a, b) };
        let bits = self.bits(known)?;
        if bits == one {
            return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::FAdd, other, c)));
        }
        if bits == one | sign {
            return Some(self.make(at.out, at.span, at.ty, Op::Bin(BinOp::FSub, c, other)));
        }
        // The code below handles products of zero and a finite number.
        let finite = self.bits(other).filter(|bits| bits & !sign < infinity(scalar))?;
        if bits & !sign != 0 && finite & !sign != 0 {
            return None;
        }
        let zero = self.splat(at.ty, (bits ^ finite) & sign);
        let mut sum = Op::Bin(BinOp::FAdd, c, zero);
        self.binary_rules(at, &mut sum).or_else(|| Some(self.make(at.out, at.span, at.ty, sum)))
    }

    /// Whether a float cannot be -0, for every treatment of denormals. This holds for squares, absolute values and
    /// converted unsigned integers. It also holds for `a * a + c` if `c` cannot be -0.
    fn is_never_negative_zero(&self, value: Value, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.def(value) {
            Some(&Op::Bin(BinOp::FMul, a, b)) => a == b,
            Some(Op::Math(MathOp::FMulAdd | MathOp::Fma, args)) => {
                matches!(args[..], [a, b, c] if a == b && self.is_never_negative_zero(c, depth))
            }
            Some(Op::Math(MathOp::FAbs, _) | Op::Cast(CastOp::UToF, _)) => true,
            _ => false,
        }
    }

    /// Returns the type of the lanes of a type.
    pub(super) fn lane_type(ty: Type) -> Option<Type> {
        ty.scalar().map(Type::Scalar)
    }
}

const fn sign_bit(scalar: Scalar) -> u64 {
    1 << (scalar.bits() - 1)
}

const fn one(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::F16 => 0x3c00,
        Scalar::F32 => 0x3f80_0000,
        _ => 0x3ff0_0000_0000_0000,
    }
}

const fn infinity(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::F16 => 0x7c00,
        Scalar::F32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    }
}

/// Returns the bits of 1/x, or `None` unless x is a power of two and both are normal numbers.
fn exact_reciprocal(scalar: Scalar, bits: u64) -> Option<u64> {
    let (exponent_bits, fraction_bits) = match scalar {
        Scalar::F16 => (5, 10),
        Scalar::F32 => (8, 23),
        Scalar::F64 => (11, 52),
        _ => return None,
    };
    let fraction = bits & ((1 << fraction_bits) - 1);
    let largest = (1_u64 << exponent_bits) - 1;
    let exponent = (bits >> fraction_bits) & largest;
    let sign = bits & (1 << (scalar.bits() - 1));
    // The exponent of the reciprocal is twice the bias minus the exponent of `x`. Denormals and infinities are
    // excluded.
    let reciprocal = (largest - 1).checked_sub(exponent)?;
    (fraction == 0 && exponent > 0 && exponent < largest && reciprocal > 0).then(|| sign | reciprocal << fraction_bits)
}

const fn is_commutative(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Add
            | BinOp::Mul
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::FAdd
            | BinOp::FMul
            | BinOp::SMin
            | BinOp::UMin
            | BinOp::SMax
            | BinOp::UMax
            | BinOp::SMulHi
            | BinOp::UMulHi
            | BinOp::SAddSat
            | BinOp::UAddSat
    )
}

#[cfg(test)]
mod tests {
    use super::exact_reciprocal;
    use crate::ir::Scalar;

    #[test]
    fn reciprocals_of_powers_of_two() {
        let of = |value: f32| {
            exact_reciprocal(Scalar::F32, u64::from(value.to_bits())).map(|bits| f32::from_bits(u32::try_from(bits).unwrap_or(0)))
        };
        assert_eq!(of(4.0), Some(0.25));
        assert_eq!(of(-0.5), Some(-2.0));
        assert_eq!(of(3.0), None);
        assert_eq!(of(0.0), None);
        assert_eq!(of(f32::INFINITY), None);
        assert_eq!(of(2.0_f32.powi(127)), None);
        assert_eq!(of(2.0_f32.powi(-126)), Some(2.0_f32.powi(126)));
    }
}
