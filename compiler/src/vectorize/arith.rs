//! Element-wise operations: integers, floats, comparisons, selections.
//!
//! Narrow integers are in 32-bit lanes whose upper bits are undefined. Operations that depend on the upper bits extend
//! the integers first ([`Vectorizer::zero_extend`], [`Vectorizer::sign_extend`]). Operations on `half` are computed in
//! `float` and rounded. For sums, products, quotients and square roots, the result is the same as with one rounding.

use std::mem::offset_of;

use smallvec::smallvec;
use wgcl_codegen::vir::{
    BinOp as VBin, CastOp as VCast, CmpOp as VCmp, Op as VOp, Rounding, TernOp, Type as Register, UnOp as VUn, Value as V,
};

use super::abi::LaunchContext;
use super::shape::{Mode, elem};
use super::value::{Regs, scalar};
use super::vectorizer::{Extended, Lowered, Part, Vectorizer};
use crate::internal::internal;
use crate::ir::{BinOp, CmpOp, MathOp, Scalar, Type, UnOp, Value};

impl Vectorizer<'_> {
    /// Emits a binary operation for each pair of registers, in lanes of 32 or 64 bits. Does not extend narrow integers.
    pub(super) fn bin_regs(&mut self, op: VBin, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Regs {
        if let (VBin::Mul, Scalar::I64, Mode::Varying) = (op, of, mode)
            && let Some(product) = self.multiply_long(a, b)
        {
            return product;
        }
        let ty = self.shape.register(of, mode);
        self.zip(ty, a, b, |a, b| VOp::Bin(op, a, b))
    }

    /// Multiplies 64-bit integers by products of their 32-bit halves. Returns `None` if one instruction is better.
    ///
    /// Here, the upper halves of constants and of loop-invariant operands need no instruction in a loop. With AVX2, the
    /// benchmark `long_integers` is 1.1 times as fast as with an expansion in the code generator.
    fn multiply_long(&mut self, a: &[V], b: &[V]) -> Option<Regs> {
        let (of, mode) = (Scalar::I64, Mode::Varying);
        let [a_is_short, b_is_short] = [a, b].map(|regs| regs.iter().all(|&reg| self.has_zero_upper_half(reg)));
        if !(a_is_short && b_is_short) && self.shape.isa.caps().has_i64_multiply {
            return None;
        }
        let low = self.bin_regs(VBin::MulWideU, of, mode, a, b);
        let mut cross: Option<Regs> = None;
        for (x, y, is_zero) in [(a, b, a_is_short), (b, a, b_is_short)] {
            if is_zero {
                continue;
            }
            let high = self.upper_halves(x);
            let product = self.bin_regs(VBin::MulWideU, of, mode, &high, y);
            cross = Some(match cross {
                Some(sum) => self.bin_regs(VBin::Add, of, mode, &sum, &product),
                None => product,
            });
        }
        let Some(cross) = cross else { return Some(low) };
        let cross = self.bin_const(VBin::Shl, of, mode, &cross, 32);
        Some(self.bin_regs(VBin::Add, of, mode, &low, &cross))
    }

    /// Whether the upper half of each 64-bit lane is known to be zero.
    fn has_zero_upper_half(&self, value: V) -> bool {
        let is_half = |bits: u64| bits >> 32 == 0;
        match self.b.op(value) {
            Some(VOp::Const(bits)) => is_half(*bits),
            Some(VOp::Widen(VCast::ZExt, ..)) => true,
            Some(VOp::Bin(VBin::And, _, mask)) => self.constant_bits(*mask).is_some_and(is_half),
            Some(VOp::Bin(VBin::LShr, _, by)) => self.constant_bits(*by).is_some_and(|by| (32..64).contains(&by)),
            _ => false,
        }
    }

    /// Computes the upper half of each 64-bit lane.
    fn upper_halves(&mut self, regs: &[V]) -> Regs {
        match self.same_constant(regs) {
            Some(bits) => self.number(Scalar::I64, Mode::Varying, bits >> 32),
            None => self.bin_const(VBin::LShr, Scalar::I64, Mode::Varying, regs, 32),
        }
    }

    /// Emits a unary operation for each register.
    pub(super) fn un_regs(&mut self, op: VUn, of: Scalar, mode: Mode, a: &[V]) -> Regs {
        let ty = self.shape.register(of, mode);
        self.map(ty, a, |a| VOp::Un(op, a))
    }

    /// Creates all registers of a component that is a constant.
    pub(super) fn number(&mut self, of: Scalar, mode: Mode, bits: u64) -> Regs {
        let value = self.bits(self.shape.register(of, mode), bits);
        smallvec![value; self.shape.registers(of, mode)]
    }

    /// Emits a binary operation with a constant as the second operand.
    pub(super) fn bin_const(&mut self, op: VBin, of: Scalar, mode: Mode, a: &[V], bits: u64) -> Regs {
        let b = self.number(of, mode, bits);
        self.bin_regs(op, of, mode, a, &b)
    }

    /// Zero-extends a narrow integer in its registers.
    pub(super) fn zero_extend(&mut self, of: Scalar, mode: Mode, regs: &[V]) -> Regs {
        self.extend(of, mode, regs, false)
    }

    /// Sign-extends a narrow integer in its registers.
    pub(super) fn sign_extend(&mut self, of: Scalar, mode: Mode, regs: &[V]) -> Regs {
        self.extend(of, mode, regs, true)
    }

    pub(super) fn extend(&mut self, of: Scalar, mode: Mode, regs: &[V], signed: bool) -> Regs {
        let bits = of.bits();
        if of == Scalar::Bool || bits >= 32 {
            return regs.into();
        }
        let known = Extended { bits, signed };
        if regs.iter().all(|reg| self.forms.extended.get(reg) == Some(&known)) {
            return regs.into();
        }
        let made = if signed {
            let high = self.shift_up(mode, regs, 32 - bits);
            self.bin_const(VBin::AShr, Scalar::I32, mode, &high, u64::from(32 - bits))
        } else {
            self.bin_const(VBin::And, Scalar::I32, mode, regs, of.mask())
        };
        self.forms.extended.extend(made.iter().map(|&reg| (reg, known)));
        made
    }

    /// Shifts the low `32 - by` bits of registers to their upper ends. If the registers are parts of words, one shift
    /// of the words is sufficient.
    fn shift_up(&mut self, mode: Mode, regs: &[V], by: u32) -> Regs {
        let parts: Option<Vec<Part>> = regs.iter().map(|reg| self.forms.parts.get(reg).copied()).collect();
        let at = parts.iter().flatten().map(|part| part.at).max().unwrap_or(0);
        let words: Option<Regs> = parts
            .filter(|parts| at <= by && parts.iter().all(|part| part.at == at))
            .map(|parts| parts.iter().map(|part| part.word).collect());
        match words {
            Some(words) if at == by => words,
            Some(words) => self.bin_const(VBin::Shl, Scalar::I32, mode, &words, u64::from(by - at)),
            None => self.bin_const(VBin::Shl, Scalar::I32, mode, regs, u64::from(by)),
        }
    }

    /// Records that the registers of a narrow number are zero-extended.
    pub(super) fn note_zero_extended(&mut self, of: Scalar, regs: &[V]) {
        let known = Extended { bits: of.bits(), signed: false };
        if of.bits() < 32 {
            self.forms.extended.extend(regs.iter().map(|&reg| (reg, known)));
        }
    }

    /// Converts masks of 32-bit lanes to one mask for each register of `of`.
    pub(super) fn masks_for(&mut self, of: Scalar, masks: &[V]) -> Regs {
        if elem(of).bits() == 32 {
            return masks.into();
        }
        let (ty, parts) = (self.shape.mask64(), self.shape.lanes32() / self.shape.lanes64());
        let mut wide = Regs::new();
        for &mask in masks {
            for part in 0..parts {
                wide.push(self.op(ty, VOp::MaskPart(mask, part as u8)));
            }
        }
        wide
    }

    /// Joins masks of 64-bit lanes to masks of 32-bit lanes.
    pub(super) fn join_masks(&mut self, masks: &[V]) -> Regs {
        let parts = (self.shape.lanes32() / self.shape.lanes64()) as usize;
        let ty = self.shape.register(Scalar::Bool, Mode::Varying);
        masks.chunks(parts).map(|chunk| self.op(ty, VOp::MaskJoin(chunk.into()))).collect()
    }

    /// Selects registers by a `bool` of the same mode. A varying `bool` is given as masks for 32-bit lanes.
    pub(super) fn select_regs(&mut self, of: Scalar, mode: Mode, cond: &[V], yes: &[V], no: &[V]) -> Regs {
        if yes == no {
            return yes.into();
        }
        let ty = self.shape.register(of, mode);
        if mode == Mode::Uniform {
            return smallvec![self.op(ty, VOp::Select(cond[0], yes[0], no[0]))];
        }
        if of == Scalar::Bool {
            let (a, b) = (self.bin_regs(VBin::And, of, mode, yes, cond), self.bin_regs(VBin::AndNot, of, mode, no, cond));
            return self.bin_regs(VBin::Or, of, mode, &a, &b);
        }
        let cond = self.masks_for(of, cond);
        yes.iter().zip(no).zip(&cond).map(|((&yes, &no), &cond)| self.op(ty, VOp::Select(cond, yes, no))).collect()
    }

    /// Compares numbers of 32 or 64 bits. The result is a `bool` of the same mode.
    pub(super) fn compare_regs(&mut self, op: VCmp, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Regs {
        let ty = self.shape.register(of, mode).compared();
        let masks = self.zip(ty, a, b, |a, b| VOp::Cmp(op, a, b));
        if mode == Mode::Varying && elem(of).bits() == 64 { self.join_masks(&masks) } else { masks }
    }

    fn compare_const(&mut self, op: VCmp, of: Scalar, mode: Mode, a: &[V], bits: u64) -> Regs {
        let b = self.number(of, mode, bits);
        self.compare_regs(op, of, mode, a, &b)
    }

    /// Computes the complement of a `bool`.
    pub(super) fn not(&mut self, mode: Mode, a: &[V]) -> Regs {
        match mode {
            Mode::Uniform => self.bin_const(VBin::Xor, Scalar::I32, mode, a, 1),
            Mode::Varying => self.not_masks(a),
        }
    }

    /// Converts the bits of `half` numbers to `float`.
    pub(super) fn half_to_float(&mut self, mode: Mode, regs: &[V]) -> Regs {
        let ty = self.shape.register(Scalar::F32, mode);
        self.map(ty, regs, |reg| VOp::Un(VUn::HalfToFloat, reg))
    }

    pub(super) fn float_to_half(&mut self, mode: Mode, regs: &[V]) -> Regs {
        let ty = self.shape.register(Scalar::F16, mode);
        let made = self.map(ty, regs, |reg| VOp::Un(VUn::FloatToHalf, reg));
        self.note_zero_extended(Scalar::F16, &made);
        made
    }

    /// Applies a [`UnOp`] to one component.
    pub(super) fn unary(&mut self, op: UnOp, of: Scalar, mode: Mode, a: &[V]) -> Regs {
        match op {
            UnOp::Not if of == Scalar::Bool => self.not(mode, a),
            UnOp::Not => self.un_regs(VUn::Not, of, mode, a),
            UnOp::Neg => self.un_regs(VUn::Neg, of, mode, a),
            UnOp::FNeg => self.bin_const(VBin::Xor, of, mode, a, 1 << (of.bits() - 1)),
        }
    }

    /// Applies a [`BinOp`] to one component.
    pub(super) fn binary(&mut self, op: BinOp, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Lowered<Regs> {
        if of.is_float() {
            return self.float_binary(op, of, mode, a, b);
        }
        let direct = match op {
            BinOp::Add => Some(VBin::Add),
            BinOp::Sub => Some(VBin::Sub),
            BinOp::Mul => Some(VBin::Mul),
            BinOp::And => Some(VBin::And),
            BinOp::Or => Some(VBin::Or),
            BinOp::Xor => Some(VBin::Xor),
            _ => None,
        };
        if let Some(op) = direct {
            let made = self.bin_regs(op, of, mode, a, b);
            if matches!(op, VBin::And | VBin::Or | VBin::Xor) {
                self.keep_extended(of, a, b, &made);
            }
            return Ok(made);
        }
        Ok(match op {
            BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotate => self.shift(op, of, mode, a, b),
            BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax => {
                let signed = matches!(op, BinOp::SMin | BinOp::SMax);
                let (a, b) = (self.extend(of, mode, a, signed), self.extend(of, mode, b, signed));
                let op = match op {
                    BinOp::SMin => VBin::SMin,
                    BinOp::SMax => VBin::SMax,
                    BinOp::UMin => VBin::UMin,
                    _ => VBin::UMax,
                };
                let made = self.bin_regs(op, of, mode, &a, &b);
                self.keep_extended(of, &a, &b, &made);
                made
            }
            BinOp::SMulHi | BinOp::UMulHi => self.multiply_high(op == BinOp::SMulHi, of, mode, a, b),
            BinOp::SAddSat | BinOp::SSubSat | BinOp::UAddSat | BinOp::USubSat => self.saturating(op, of, mode, a, b),
            BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem => self.divide(op, of, mode, a, b),
            _ => return Err(internal!("{op:?} of {of}")),
        })
    }

    /// Records that the result of a bitwise operation, minimum or maximum is extended, if both operands are extended in
    /// the same way.
    fn keep_extended(&mut self, of: Scalar, a: &[V], b: &[V], made: &[V]) {
        if of.bits() >= 32 || of == Scalar::Bool {
            return;
        }
        for ((a, b), &made) in a.iter().zip(b).zip(made) {
            if let (Some(&a), Some(&b)) = (self.forms.extended.get(a), self.forms.extended.get(b))
                && a == b
            {
                self.forms.extended.insert(made, a);
            }
        }
    }

    fn shift(&mut self, op: BinOp, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Regs {
        let bits = of.bits();
        let amount = self.bin_const(VBin::And, of, mode, b, u64::from(bits - 1));
        match op {
            BinOp::Shl => self.bin_regs(VBin::Shl, of, mode, a, &amount),
            BinOp::LShr => {
                let a = self.zero_extend(of, mode, a);
                let made = self.bin_regs(VBin::LShr, of, mode, &a, &amount);
                self.note_zero_extended(of, &made);
                made
            }
            BinOp::AShr => {
                let a = self.sign_extend(of, mode, a);
                self.bin_regs(VBin::AShr, of, mode, &a, &amount)
            }
            _ if bits >= 32 => self.bin_regs(VBin::Rotl, of, mode, a, &amount),
            _ => {
                // Duplicate the number in the lane. The upper half of the shifted lane is then the rotated number.
                let a = self.zero_extend(of, mode, a);
                let above = self.bin_const(VBin::Shl, of, mode, &a, u64::from(bits));
                let both = self.bin_regs(VBin::Or, of, mode, &a, &above);
                let shifted = self.bin_regs(VBin::Shl, of, mode, &both, &amount);
                self.bin_const(VBin::LShr, of, mode, &shifted, u64::from(bits))
            }
        }
    }

    pub(super) fn multiply_high(&mut self, signed: bool, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Regs {
        match of.bits() {
            bits @ (8 | 16) => {
                let (a, b) = (self.extend(of, mode, a, signed), self.extend(of, mode, b, signed));
                let product = self.bin_regs(VBin::Mul, of, mode, &a, &b);
                self.bin_const(VBin::LShr, of, mode, &product, u64::from(bits))
            }
            64 if mode == Mode::Varying => self.multiply_high_long(signed, a, b),
            _ => self.bin_regs(if signed { VBin::MulHiS } else { VBin::MulHiU }, of, mode, a, b),
        }
    }

    /// Computes the high half of 64-bit products, from four products of 32-bit halves. For a signed product, each
    /// operand is subtracted from the high half if the other operand is negative.
    fn multiply_high_long(&mut self, signed: bool, a: &[V], b: &[V]) -> Regs {
        let (of, mode, half) = (Scalar::I64, Mode::Varying, u64::from(u32::MAX));
        let (a_high, b_high) = (self.upper_halves(a), self.upper_halves(b));
        let product = |this: &mut Self, x: &[V], y: &[V]| this.bin_regs(VBin::MulWideU, of, mode, x, y);
        let (low, high) = (product(self, a, b), product(self, &a_high, &b_high));
        let (cross, other) = (product(self, a, &b_high), product(self, &a_high, b));
        let carried = self.bin_const(VBin::LShr, of, mode, &low, 32);
        // The sum of a product and a 32-bit half fits 64 bits.
        let middle = self.bin_regs(VBin::Add, of, mode, &cross, &carried);
        let middle_low = self.bin_const(VBin::And, of, mode, &middle, half);
        let rest = self.bin_regs(VBin::Add, of, mode, &other, &middle_low);
        let (up, more) = (self.bin_const(VBin::LShr, of, mode, &middle, 32), self.bin_const(VBin::LShr, of, mode, &rest, 32));
        let sum = self.bin_regs(VBin::Add, of, mode, &high, &up);
        let mut sum = self.bin_regs(VBin::Add, of, mode, &sum, &more);
        if signed {
            for (x, y) in [(a, b), (b, a)] {
                let sign = self.bin_const(VBin::AShr, of, mode, x, 63);
                let taken = self.bin_regs(VBin::And, of, mode, &sign, y);
                sum = self.bin_regs(VBin::Sub, of, mode, &sum, &taken);
            }
        }
        sum
    }

    fn saturating(&mut self, op: BinOp, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Regs {
        let signed = matches!(op, BinOp::SAddSat | BinOp::SSubSat);
        let adds = matches!(op, BinOp::SAddSat | BinOp::UAddSat);
        let direct = if adds { VBin::Add } else { VBin::Sub };
        let bits = of.bits();
        if bits < 32 {
            let (a, b) = (self.extend(of, mode, a, signed), self.extend(of, mode, b, signed));
            let sum = self.bin_regs(direct, of, mode, &a, &b);
            let (least, most) = if signed { (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1) } else { (0, (1_i64 << bits) - 1) };
            let word = |number: i64| number.cast_unsigned() & u64::from(u32::MAX);
            let low = self.bin_const(VBin::SMax, Scalar::I32, mode, &sum, word(least));
            return self.bin_const(VBin::SMin, Scalar::I32, mode, &low, word(most));
        }
        let sum = self.bin_regs(direct, of, mode, a, b);
        if !signed {
            // A sum that wraps is less than its operands. A difference wraps if the first operand is less than the
            // second.
            let (wraps, limit) = if adds {
                (self.compare_regs(VCmp::ULt, of, mode, &sum, a), of.mask())
            } else {
                (self.compare_regs(VCmp::ULt, of, mode, a, b), 0)
            };
            let limit = self.number(of, mode, limit);
            return self.select_regs(of, mode, &wraps, &limit, &sum);
        }
        // A sum overflows if its sign differs from the signs of both operands. A difference overflows if the operands'
        // signs differ, and the sign of the difference differs from that of the first operand.
        let by_a = self.bin_regs(VBin::Xor, of, mode, a, &sum);
        let other = if adds { self.bin_regs(VBin::Xor, of, mode, b, &sum) } else { self.bin_regs(VBin::Xor, of, mode, a, b) };
        let both = self.bin_regs(VBin::And, of, mode, &by_a, &other);
        let overflows = self.compare_const(VCmp::SLt, of, mode, &both, 0);
        let sign = self.bin_const(VBin::AShr, of, mode, a, u64::from(bits - 1));
        let limit = self.bin_const(VBin::Xor, of, mode, &sign, of.mask() >> 1);
        self.select_regs(of, mode, &overflows, &limit, &sum)
    }

    fn float_binary(&mut self, op: BinOp, of: Scalar, mode: Mode, a: &[V], b: &[V]) -> Lowered<Regs> {
        if of == Scalar::F16 {
            let (a, b) = (self.half_to_float(mode, a), self.half_to_float(mode, b));
            let made = self.float_binary(op, Scalar::F32, mode, &a, &b)?;
            return Ok(self.float_to_half(mode, &made));
        }
        Ok(match op {
            BinOp::FAdd => self.bin_regs(VBin::FAdd, of, mode, a, b),
            BinOp::FSub => self.bin_regs(VBin::FSub, of, mode, a, b),
            BinOp::FMul => self.bin_regs(VBin::FMul, of, mode, a, b),
            BinOp::FDiv => self.bin_regs(VBin::FDiv, of, mode, a, b),
            BinOp::FMin | BinOp::FMax => {
                let made = self.bin_regs(if op == BinOp::FMin { VBin::FMin } else { VBin::FMax }, of, mode, a, b);
                let is_nan = self.compare_regs(VCmp::FNe, of, mode, b, b);
                self.select_regs(of, mode, &is_nan, a, &made)
            }
            _ => return Err(internal!("{op:?} of {of}")),
        })
    }

    /// Applies a [`CmpOp`] to one component.
    pub(super) fn compare(&mut self, op: CmpOp, ty: Type, mode: Mode, a: &[V], b: &[V]) -> Regs {
        let of = scalar(ty);
        if of == Scalar::F16 {
            let (a, b) = (self.half_to_float(mode, a), self.half_to_float(mode, b));
            return self.compare_regs(compared(op), Scalar::F32, mode, &a, &b);
        }
        if of == Scalar::Bool && mode == Mode::Varying {
            let differ = self.bin_regs(VBin::Xor, of, mode, a, b);
            return if op == CmpOp::Ne { differ } else { self.not_masks(&differ) };
        }
        let signed = matches!(op, CmpOp::SLt | CmpOp::SLe | CmpOp::SGt | CmpOp::SGe);
        let (a, b) = (self.extend(of, mode, a, signed), self.extend(of, mode, b, signed));
        self.compare_regs(compared(op), of, mode, &a, &b)
    }

    /// Applies a [`MathOp`] to one component.
    pub(super) fn math(&mut self, op: MathOp, of: Scalar, mode: Mode, args: &[&[V]]) -> Lowered<Regs> {
        if of.is_float() { self.float_math(op, of, mode, args) } else { self.integer_math(op, of, mode, args[0]) }
    }

    fn integer_math(&mut self, op: MathOp, of: Scalar, mode: Mode, a: &[V]) -> Lowered<Regs> {
        let unused = u64::from(32_u32.saturating_sub(of.bits()));
        Ok(match op {
            MathOp::SAbs => {
                let a = self.sign_extend(of, mode, a);
                let negative = self.un_regs(VUn::Neg, of, mode, &a);
                self.bin_regs(VBin::SMax, of, mode, &a, &negative)
            }
            MathOp::Clz => {
                let a = self.zero_extend(of, mode, a);
                let zeros = self.un_regs(VUn::Clz, of, mode, &a);
                if unused == 0 { zeros } else { self.bin_const(VBin::Sub, of, mode, &zeros, unused) }
            }
            MathOp::Ctz => {
                // Compute the bits below the lowest set bit. For narrow numbers, first set the bit above the number.
                let a = if unused == 0 { a.into() } else { self.bin_const(VBin::Or, of, mode, a, 1 << of.bits()) };
                let less = self.bin_const(VBin::Sub, of, mode, &a, 1);
                let below = self.bin_regs(VBin::AndNot, of, mode, &less, &a);
                self.un_regs(VUn::Popcnt, of, mode, &below)
            }
            MathOp::Popcount => {
                let a = self.zero_extend(of, mode, a);
                self.un_regs(VUn::Popcnt, of, mode, &a)
            }
            MathOp::ReverseBits => {
                let mut value: Regs = a.into();
                let masks: &[(u64, u64)] =
                    &[(1, 0x5555_5555_5555_5555), (2, 0x3333_3333_3333_3333), (4, 0x0f0f_0f0f_0f0f_0f0f), (8, 0x00ff_00ff_00ff_00ff)];
                let wide = if of.bits() == 64 { Scalar::I64 } else { Scalar::I32 };
                for &(by, mask) in masks {
                    let mask = mask & wide.mask();
                    let high = self.bin_const(VBin::LShr, wide, mode, &value, by);
                    let high = self.bin_const(VBin::And, wide, mode, &high, mask);
                    let low = self.bin_const(VBin::And, wide, mode, &value, mask);
                    let low = self.bin_const(VBin::Shl, wide, mode, &low, by);
                    value = self.bin_regs(VBin::Or, wide, mode, &high, &low);
                }
                if wide == Scalar::I32 {
                    value = self.bin_const(VBin::Rotl, wide, mode, &value, 16);
                } else {
                    let mask = 0x0000_ffff_0000_ffff;
                    let high = self.bin_const(VBin::LShr, wide, mode, &value, 16);
                    let high = self.bin_const(VBin::And, wide, mode, &high, mask);
                    let low = self.bin_const(VBin::And, wide, mode, &value, mask);
                    let low = self.bin_const(VBin::Shl, wide, mode, &low, 16);
                    value = self.bin_regs(VBin::Or, wide, mode, &high, &low);
                    value = self.bin_const(VBin::Rotl, wide, mode, &value, 32);
                }
                if unused == 0 { value } else { self.bin_const(VBin::LShr, wide, mode, &value, unused) }
            }
            _ => return Err(internal!("{op:?} of {of}")),
        })
    }

    fn float_math(&mut self, op: MathOp, of: Scalar, mode: Mode, args: &[&[V]]) -> Lowered<Regs> {
        if op == MathOp::FAbs {
            return Ok(self.bin_const(VBin::And, of, mode, args[0], of.mask() >> 1));
        }
        if of == Scalar::F16 {
            let args: Vec<Regs> = args.iter().map(|arg| self.half_to_float(mode, arg)).collect();
            if op == MathOp::Fma {
                // A product of two `half` numbers is exact in `double`. The sum has enough bits that a second rounding
                // to `half` gives the correct result.
                let args: Vec<Regs> = args.iter().map(|arg| self.widen(VCast::FToF, Scalar::F64, mode, arg)).collect();
                let made = self.fused(Scalar::F64, mode, &args[0], &args[1], &args[2]);
                return Ok(self.double_to_half(mode, &made));
            }
            let args: Vec<&[V]> = args.iter().map(|arg| &arg[..]).collect();
            let made = self.float_math(op, Scalar::F32, mode, &args)?;
            return Ok(self.float_to_half(mode, &made));
        }
        Ok(match op {
            MathOp::Floor => self.un_regs(VUn::Round(Rounding::Down), of, mode, args[0]),
            MathOp::Ceil => self.un_regs(VUn::Round(Rounding::Up), of, mode, args[0]),
            MathOp::FTrunc => self.un_regs(VUn::Round(Rounding::Zero), of, mode, args[0]),
            MathOp::Rint => self.un_regs(VUn::Round(Rounding::NearestEven), of, mode, args[0]),
            MathOp::Sqrt => self.un_regs(VUn::Sqrt, of, mode, args[0]),
            MathOp::RSqrt => {
                let root = self.un_regs(VUn::Sqrt, of, mode, args[0]);
                self.reciprocal(of, mode, &root)
            }
            MathOp::Fma => self.fused(of, mode, args[0], args[1], args[2]),
            MathOp::FMulAdd if self.fused => self.fused(of, mode, args[0], args[1], args[2]),
            MathOp::FMulAdd => {
                let product = self.bin_regs(VBin::FMul, of, mode, args[0], args[1]);
                self.bin_regs(VBin::FAdd, of, mode, &product, args[2])
            }
            MathOp::NativeRecip => self.reciprocal(of, mode, args[0]),
            MathOp::NativeDivide => self.bin_regs(VBin::FDiv, of, mode, args[0], args[1]),
            _ => return self.native(op, of, mode, args),
        })
    }

    fn reciprocal(&mut self, of: Scalar, mode: Mode, value: &[V]) -> Regs {
        let one = self.number(of, mode, if of == Scalar::F64 { 1_f64.to_bits() } else { u64::from(1_f32.to_bits()) });
        self.bin_regs(VBin::FDiv, of, mode, &one, value)
    }

    /// Computes `a * b + c` with one rounding.
    pub(super) fn fused(&mut self, of: Scalar, mode: Mode, a: &[V], b: &[V], c: &[V]) -> Regs {
        let ty = self.shape.register(of, mode);
        if of == Scalar::F64 && !self.shape.isa.caps().has_fma_f64 {
            let function = self.launch_address(offset_of!(LaunchContext, fused));
            let bits = [a, b, c].map(|regs| self.op(Register::I64, VOp::Cast(VCast::Bitcast, regs[0])));
            let made = self.emit(Register::I64, VOp::CallHelper(function, bits.into_iter().collect()));
            return smallvec![self.op(ty, VOp::Cast(VCast::Bitcast, made))];
        }
        a.iter().zip(b).zip(c).map(|((&a, &b), &c)| self.op(ty, VOp::Tern(TernOp::Fma, a, b, c))).collect()
    }

    /// Lowers an element-wise operation.
    pub(super) fn element_wise(
        &mut self,
        result: Value,
        operands: &[Value],
        mode: Mode,
        mut op: impl FnMut(&mut Self, &[&[V]]) -> Lowered<Regs>,
    ) -> Lowered<super::value::Comps> {
        let lists: Vec<super::value::Comps> = operands.iter().map(|&operand| self.comps(operand, mode)).collect();
        let count = usize::from(self.ir_ty(result).lanes());
        (0..count)
            .map(|index| {
                let args: Vec<&[V]> = lists.iter().map(|list| &list[if list.len() == 1 { 0 } else { index }][..]).collect();
                op(self, &args)
            })
            .collect()
    }
}

/// Returns the comparison of the vector IR, for numbers of 32 or 64 bits.
const fn compared(op: CmpOp) -> VCmp {
    match op {
        CmpOp::Eq => VCmp::Eq,
        CmpOp::Ne => VCmp::Ne,
        CmpOp::SLt => VCmp::SLt,
        CmpOp::SLe => VCmp::SLe,
        CmpOp::SGt => VCmp::SGt,
        CmpOp::SGe => VCmp::SGe,
        CmpOp::ULt => VCmp::ULt,
        CmpOp::ULe => VCmp::ULe,
        CmpOp::UGt => VCmp::UGt,
        CmpOp::UGe => VCmp::UGe,
        CmpOp::FEq => VCmp::FEq,
        CmpOp::FNe => VCmp::FNe,
        CmpOp::FLt => VCmp::FLt,
        CmpOp::FLe => VCmp::FLe,
        CmpOp::FGt => VCmp::FGt,
        CmpOp::FGe => VCmp::FGe,
    }
}
