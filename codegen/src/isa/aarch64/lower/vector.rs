//! Arithmetic on vectors.

use regalloc2::VReg;

use super::super::inst::{InstBuilder, Opcode};
use super::super::regs::VEC;
use super::super::table as t;
use super::context::{Lower, bits, wide};
use crate::vir::{BinOp, Op, Rounding, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn vector_un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        let (a, double) = (self.reg(a), wide(ty));
        let opcode = match op {
            UnOp::Not => t::NOT_V,
            UnOp::Neg => t::NEG_V,
            UnOp::Clz if double => return self.leading_zeros(a),
            UnOp::Clz => t::CLZ_V,
            UnOp::Popcnt => return self.bit_counts(a, double),
            UnOp::Sqrt => t::FSQRT_V,
            UnOp::Round(Rounding::NearestEven) => t::FRINTN_V,
            UnOp::Round(Rounding::Down) => t::FRINTM_V,
            UnOp::Round(Rounding::Up) => t::FRINTP_V,
            UnOp::Round(Rounding::Zero) => t::FRINTZ_V,
            UnOp::RecipApprox => return self.reciprocal_estimate([t::FRECPE_V, t::FRECPS_V, t::FMUL_V], double, a),
            UnOp::RsqrtApprox => return self.reciprocal_root_estimate([t::FRSQRTE_V, t::FRSQRTS_V, t::FMUL_V], double, a),
            op => return self.unsupported(format!("{op:?} of {ty}"), VEC),
        };
        self.unary(opcode, double, a)
    }

    /// Counts the leading zeros of 64-bit lanes in general registers, because `clz` for vectors has no 64-bit form.
    fn leading_zeros(&mut self, a: VReg) -> VReg {
        const LOG2: u32 = 3;
        let low = self.move_to_general(true, a);
        let low = self.unary(t::CLZ, true, low);
        let high = self.result(InstBuilder::new(t::UMOV).wide(true).n(a).lane(LOG2, 1));
        let high = self.unary(t::CLZ, true, high);
        let first = self.move_to_float(true, low);
        let to = self.vec();
        self.push(InstBuilder::new(t::INS_GPR).wide(true).tied(first, to).n(high).lane(LOG2, 1));
        to
    }

    /// Adds the population counts of the bytes of each lane.
    fn bit_counts(&mut self, a: VReg, double: bool) -> VReg {
        let bytes = self.unary(t::CNT, false, a);
        let halves = self.unary(t::UADDLP_8H, false, bytes);
        let words = self.unary(t::UADDLP_4S, false, halves);
        if double { self.unary(t::UADDLP_2D, false, words) } else { words }
    }

    pub(super) fn vector_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let double = wide(ty);
        match op {
            BinOp::Shl | BinOp::LShr | BinOp::AShr => return self.vector_shift(op, a, b, ty),
            BinOp::Rotl => return self.vector_rotate(a, b, ty),
            _ => {}
        }
        if let Some(reg) = self.multiply_add(op, a, b, double) {
            return reg;
        }
        let values = [a, b];
        let (a, b) = (self.reg(a), self.reg(b));
        let opcode = match (op, double) {
            (BinOp::Add, _) => t::ADD_V,
            (BinOp::Sub, _) => t::SUB_V,
            (BinOp::Mul, false) => t::MUL_V,
            (BinOp::Mul, true) => return self.multiply_long(a, b),
            (BinOp::MulWideU, true) => return self.multiply_low_words(t::UMULL_V, a, b),
            (BinOp::MulWideS, true) => return self.multiply_low_words(t::SMULL_V, a, b),
            (BinOp::MulHiU, false) => return self.multiply_high([t::UMULL_V, t::UMULL2_V], a, b),
            (BinOp::MulHiS, false) => return self.multiply_high([t::SMULL_V, t::SMULL2_V], a, b),
            (BinOp::SMin, false) => t::SMIN_V,
            (BinOp::SMax, false) => t::SMAX_V,
            (BinOp::UMin, false) => t::UMIN_V,
            (BinOp::UMax, false) => t::UMAX_V,
            // Minima and maxima of 64-bit lanes and of floats are a comparison and a selection.
            (BinOp::SMin, true) => return self.choose(t::CMGT, double, [b, a], [a, b]),
            (BinOp::SMax, true) => return self.choose(t::CMGT, double, [a, b], [a, b]),
            (BinOp::UMin, true) => return self.choose(t::CMHI, double, [b, a], [a, b]),
            (BinOp::UMax, true) => return self.choose(t::CMHI, double, [a, b], [a, b]),
            (BinOp::FMin, _) => return self.choose(t::FCMGT, double, [b, a], [a, b]),
            (BinOp::FMax, _) => return self.choose(t::FCMGT, double, [a, b], [a, b]),
            (BinOp::AddBytes, _) => t::ADD_16B,
            (BinOp::SubBytes, _) => t::SUB_16B,
            (BinOp::MulBytes, _) => t::MUL_16B,
            (BinOp::AddWords, _) => t::ADD_8H,
            (BinOp::SubWords, _) => t::SUB_8H,
            (BinOp::MulWords, _) => t::MUL_8H,
            (BinOp::FAdd, _) => return self.vector_sum(values, [a, b], double),
            (BinOp::FSub, _) => t::FSUB_V,
            (BinOp::FMul, _) => match [(a, b), (b, a)].map(|(a, b)| (a, self.element(b))) {
                [(a, Some(element)), _] | [_, (a, Some(element))] => {
                    return self.result(InstBuilder::new(t::FMUL_ELEMENT).wide(double).n(a).m(element).imm(0, 0));
                }
                _ => t::FMUL_V,
            },
            (BinOp::FDiv, _) => t::FDIV_V,
            (op, _) => return self.unsupported(format!("{op:?} of {ty}"), VEC),
        };
        self.binary(opcode, double, a, b)
    }

    /// Selects one instruction for a sum with a product, or for a difference with a product as its second operand. The
    /// product has no other use. `None` for other operations, and for a constant summand, which would need a copy.
    fn multiply_add(&mut self, op: BinOp, a: Value, b: Value, double: bool) -> Option<VReg> {
        let (opcode, product) = match (op, double) {
            (BinOp::Add, false) => (t::MLA_V, BinOp::Mul),
            (BinOp::AddWords, _) => (t::MLA_8H, BinOp::MulWords),
            (BinOp::AddBytes, _) => (t::MLA_16B, BinOp::MulBytes),
            (BinOp::Sub, false) => (t::MLS_V, BinOp::Mul),
            _ => return None,
        };
        let mut orders = [(a, b), (b, a)].into_iter().take(if op == BinOp::Sub { 1 } else { 2 });
        let (summand, x, y) = orders.find_map(|(summand, value)| match self.plan.defs[value.index()]?.op {
            Op::Bin(other, x, y) if other == product => {
                let suits = self.plan.single_block_use[value.index()] && self.constant(summand).is_none();
                suits.then_some((summand, x, y))
            }
            _ => None,
        })?;
        let (summand, x, y) = (self.reg(summand), self.reg(x), self.reg(y));
        Some(self.tied_binary(opcode, false, summand, x, y))
    }

    /// Adds floats. The sum with a negated operand is a difference.
    fn vector_sum(&mut self, values: [Value; 2], [a, b]: [VReg; 2], double: bool) -> VReg {
        let [first, second] = values.map(|value| self.negated(value));
        match (first, second) {
            (_, Some(b)) => {
                let b = self.reg(b);
                self.binary(t::FSUB_V, double, a, b)
            }
            (Some(a), _) => {
                let a = self.reg(a);
                self.binary(t::FSUB_V, double, b, a)
            }
            (None, None) => self.binary(t::FADD_V, double, a, b),
        }
    }

    /// Returns the operand of a negation of floats, which changes the sign bits. Returns `None` if the value is not a
    /// negation.
    fn negated(&self, value: Value) -> Option<Value> {
        let Op::Bin(BinOp::Xor, of, sign) = self.plan.defs[value.index()]?.op else { return None };
        let sign_bit = 1 << (bits(self.ty(value)) - 1);
        (self.splat_bits(sign) == Some(sign_bit)).then_some(of)
    }

    /// Selects lanes of `of[0]` where the comparison holds, otherwise lanes of `of[1]`.
    fn choose(&mut self, compare: Opcode, double: bool, compared: [VReg; 2], of: [VReg; 2]) -> VReg {
        let mask = self.binary(compare, double, compared[0], compared[1]);
        self.tied_binary(t::BSL, false, mask, of[0], of[1])
    }

    /// Multiplies 64-bit lanes: the sum of the cross products shifted left by 32, plus the product of the low 32 bits.
    fn multiply_long(&mut self, a: VReg, b: VReg) -> VReg {
        let swapped = self.unary(t::REV64, false, b);
        let cross = self.binary(t::MUL_V, false, a, swapped);
        let cross = self.unary(t::UADDLP_2D, false, cross);
        let upper = self.result(InstBuilder::new(t::SHL_IMM).wide(true).n(cross).shift_left(64, 32));
        let (a, b) = (self.unary(t::XTN_2S, true, a), self.unary(t::XTN_2S, true, b));
        self.tied_binary(t::UMLAL_V, true, upper, a, b)
    }

    fn multiply_low_words(&mut self, opcode: Opcode, a: VReg, b: VReg) -> VReg {
        let (a, b) = (self.unary(t::XTN_2S, true, a), self.unary(t::XTN_2S, true, b));
        self.binary(opcode, true, a, b)
    }

    fn multiply_high(&mut self, [low, high]: [Opcode; 2], a: VReg, b: VReg) -> VReg {
        let (low, high) = (self.binary(low, true, a, b), self.binary(high, true, a, b));
        self.binary(t::UZP2, false, low, high)
    }

    fn vector_shift(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let (double, size) = (wide(ty), bits(ty));
        let from = self.reg(a);
        if let Some(amount) = self.splat_bits(b) {
            let amount = amount as u32 & (size - 1);
            if amount == 0 {
                return from;
            }
            let builder = match op {
                BinOp::Shl => InstBuilder::new(t::SHL_IMM).shift_left(size, amount),
                BinOp::AShr => InstBuilder::new(t::SSHR_IMM).shift_right(size, amount),
                _ => InstBuilder::new(t::USHR_IMM).shift_right(size, amount),
            };
            return self.result(builder.wide(double).n(from));
        }
        let by = self.reg(b);
        let opcode = if op == BinOp::AShr { t::SSHL } else { t::USHL };
        if op == BinOp::Shl {
            return self.binary(opcode, double, from, by);
        }
        let right = self.unary(t::NEG_V, double, by);
        self.binary(opcode, double, from, right)
    }

    fn vector_rotate(&mut self, a: Value, b: Value, ty: Type) -> VReg {
        let (double, size) = (wide(ty), bits(ty));
        let from = self.reg(a);
        if let Some(amount) = self.splat_bits(b) {
            let amount = amount as u32 & (size - 1);
            if amount == 0 {
                return from;
            }
            let left = self.result(InstBuilder::new(t::SHL_IMM).wide(double).n(from).shift_left(size, amount));
            let to = self.vec();
            self.push(InstBuilder::new(t::SRI_IMM).wide(double).tied(left, to).n(from).shift_right(size, size - amount));
            return to;
        }
        let (by, last, size) = (self.reg(b), self.splat_constant(u64::from(size - 1), ty), self.splat_constant(u64::from(size), ty));
        let by = self.binary(t::AND_V, false, by, last);
        // A negative amount shifts to the right. A shift by the lane size gives 0.
        let right = self.binary(t::SUB_V, double, by, size);
        let (left, right) = (self.binary(t::USHL, double, from, by), self.binary(t::USHL, double, from, right));
        self.binary(t::ORR_V, false, left, right)
    }

    pub(super) fn vector_tern(&mut self, op: TernOp, [a, b, c]: [Value; 3], ty: Type) -> VReg {
        let (a, b, c, double) = (self.reg(a), self.reg(b), self.reg(c), wide(ty));
        if let [(a, Some(element)), _] | [_, (a, Some(element))] = [(a, b), (b, a)].map(|(a, b)| (a, self.element(b))) {
            let to = self.vec();
            let (opcode, from) = match op {
                TernOp::Fma => (t::FMLA_ELEMENT, c),
                TernOp::Fnma => (t::FMLS_ELEMENT, c),
                TernOp::Fms => (t::FMLA_ELEMENT, self.unary(t::FNEG_V, double, c)),
            };
            self.push(InstBuilder::new(opcode).wide(double).tied(from, to).n(a).m(element));
            return to;
        }
        match op {
            TernOp::Fma => self.tied_binary(t::FMLA_V, double, c, a, b),
            TernOp::Fnma => self.tied_binary(t::FMLS_V, double, c, a, b),
            TernOp::Fms => {
                let minus = self.unary(t::FNEG_V, double, c);
                self.tied_binary(t::FMLA_V, double, minus, a, b)
            }
        }
    }
}
