//! Arithmetic on long vectors.

use regalloc2::VReg;

use super::super::super::inst::{InstBuilder, Opcode};
use super::super::super::regs::VEC;
use super::super::super::table as t;
use super::super::context::{Lower, bits, wide};
use crate::vir::{BinOp, Op, Rounding, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(in super::super) fn long_un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        let (a, double) = (self.reg(a), wide(ty));
        let opcode = match op {
            UnOp::Not => t::NOT_Z,
            UnOp::Neg => t::NEG_Z,
            UnOp::Clz => t::CLZ_Z,
            UnOp::Popcnt => t::CNT_Z,
            UnOp::Sqrt => t::FSQRT_Z,
            UnOp::Round(Rounding::NearestEven) => t::FRINTN_Z,
            UnOp::Round(Rounding::Down) => t::FRINTM_Z,
            UnOp::Round(Rounding::Up) => t::FRINTP_Z,
            UnOp::Round(Rounding::Zero) => t::FRINTZ_Z,
            UnOp::RecipApprox => return self.reciprocal_estimate([t::FRECPE_Z, t::FRECPS_Z, t::FMUL_Z], double, a),
            UnOp::RsqrtApprox => return self.reciprocal_root_estimate([t::FRSQRTE_Z, t::FRSQRTS_Z, t::FMUL_Z], double, a),
            op => return self.unsupported(format!("{op:?} of {ty}"), VEC),
        };
        self.z_unary(opcode, double, a)
    }

    pub(in super::super) fn long_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        match op {
            BinOp::Shl | BinOp::LShr | BinOp::AShr => return self.long_shift(op, a, b, ty),
            BinOp::Rotl => return self.long_rotate(a, b, ty),
            _ => {}
        }
        if let Some(reg) = self.long_multiply_add(op, a, b, wide(ty)) {
            return reg;
        }
        let (a, b, double) = (self.reg(a), self.reg(b), wide(ty));
        let plain = match op {
            BinOp::And => t::AND_Z,
            BinOp::Or => t::ORR_Z,
            BinOp::Xor => t::EOR_Z,
            BinOp::AndNot => t::BIC_Z,
            BinOp::Add => t::ADD_Z,
            BinOp::Sub => t::SUB_Z,
            BinOp::AddBytes => t::ADD_ZB,
            BinOp::SubBytes => t::SUB_ZB,
            BinOp::AddWords => t::ADD_ZH,
            BinOp::SubWords => t::SUB_ZH,
            BinOp::FAdd => t::FADD_Z,
            BinOp::FSub => t::FSUB_Z,
            BinOp::FMul => t::FMUL_Z,
            op => return self.long_predicated(op, [a, b], ty),
        };
        self.binary(plain, double, a, b)
    }

    /// Selects operations whose instructions have a governing predicate.
    fn long_predicated(&mut self, op: BinOp, [a, b]: [VReg; 2], ty: Type) -> VReg {
        let double = wide(ty);
        let opcode = match op {
            BinOp::Mul => t::MUL_Z,
            BinOp::MulBytes => t::MUL_ZB,
            BinOp::MulWords => t::MUL_ZH,
            BinOp::MulWideU | BinOp::MulWideS if double => {
                let extend = if op == BinOp::MulWideS { t::SXTW_Z } else { t::UXTW_Z };
                let (a, b) = (self.z_unary(extend, true, a), self.z_unary(extend, true, b));
                return self.z_binary(t::MUL_Z, true, a, b);
            }
            BinOp::MulHiU if !double => t::UMULH_Z,
            BinOp::MulHiS if !double => t::SMULH_Z,
            BinOp::SMin => t::SMIN_Z,
            BinOp::SMax => t::SMAX_Z,
            BinOp::UMin => t::UMIN_Z,
            BinOp::UMax => t::UMAX_Z,
            BinOp::FDiv => t::FDIV_Z,
            // For NaNs and for zeros of different signs, the vector IR requires other results than those of `fmin` and
            // `fmax`.
            BinOp::FMin => return self.long_choose([b, a], [a, b], double),
            BinOp::FMax => return self.long_choose([a, b], [a, b], double),
            op => return self.unsupported(format!("{op:?} of {ty}"), VEC),
        };
        self.z_binary(opcode, double, a, b)
    }

    /// Selects lanes of `of[0]` where the first operand is greater than the second one, otherwise lanes of `of[1]`.
    fn long_choose(&mut self, [first, second]: [VReg; 2], of: [VReg; 2], double: bool) -> VReg {
        let all = self.all_lanes();
        let mask = self.result(InstBuilder::new(t::FCMGT_Z).wide(double).a(all).n(first).m(second));
        self.result(InstBuilder::new(t::SEL_Z).wide(double).a(mask).n(of[0]).m(of[1]))
    }

    /// Selects one instruction for a sum with a product, or for a difference with a product as its second operand. The
    /// product has no other use. `None` for other operations, and for a constant summand, which would need a copy.
    fn long_multiply_add(&mut self, op: BinOp, a: Value, b: Value, double: bool) -> Option<VReg> {
        let (opcode, product) = match op {
            BinOp::Add => (t::MLA_Z, BinOp::Mul),
            BinOp::AddWords => (t::MLA_ZH, BinOp::MulWords),
            BinOp::AddBytes => (t::MLA_ZB, BinOp::MulBytes),
            BinOp::Sub => (t::MLS_Z, BinOp::Mul),
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
        Some(self.z_accumulate(opcode, double, summand, [x, y]))
    }

    fn long_shift(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let (double, size) = (wide(ty), bits(ty));
        let from = self.reg(a);
        if let Some(amount) = self.splat_bits(b) {
            return self.long_shift_by(op, from, amount as u32 & (size - 1), size);
        }
        let by = self.reg(b);
        let opcode = match op {
            BinOp::Shl => t::LSL_Z,
            BinOp::AShr => t::ASR_Z,
            _ => t::LSR_Z,
        };
        self.z_binary(opcode, double, from, by)
    }

    /// Shifts lanes of `size` bits by a constant.
    pub(super) fn long_shift_by(&mut self, op: BinOp, from: VReg, amount: u32, size: u32) -> VReg {
        if amount == 0 {
            return from;
        }
        let builder = match op {
            BinOp::Shl => InstBuilder::new(t::LSL_Z_IMM).z_shift_left(size, amount),
            BinOp::AShr => InstBuilder::new(t::ASR_Z_IMM).z_shift_right(size, amount),
            _ => InstBuilder::new(t::LSR_Z_IMM).z_shift_right(size, amount),
        };
        self.result(builder.wide(size == 64).n(from))
    }

    fn long_rotate(&mut self, a: Value, b: Value, ty: Type) -> VReg {
        let (double, size) = (wide(ty), bits(ty));
        let from = self.reg(a);
        if let Some(amount) = self.splat_bits(b) {
            let amount = amount as u32 & (size - 1);
            if amount == 0 {
                return from;
            }
            let left = self.long_shift_by(BinOp::Shl, from, amount, size);
            let right = self.long_shift_by(BinOp::LShr, from, size - amount, size);
            return self.binary(t::ORR_Z, false, left, right);
        }
        let (by, last, size) = (self.reg(b), self.long_splat(u64::from(size - 1), ty), self.long_splat(u64::from(size), ty));
        let by = self.binary(t::AND_Z, false, by, last);
        // A shift by the lane size gives 0.
        let rest = self.binary(t::SUB_Z, double, size, by);
        let shifted: [VReg; 2] =
            [(t::LSL_Z, by), (t::LSR_Z, rest)].map(|(opcode, by): (Opcode, VReg)| self.z_binary(opcode, double, from, by));
        self.binary(t::ORR_Z, false, shifted[0], shifted[1])
    }

    pub(in super::super) fn long_tern(&mut self, op: TernOp, [a, b, c]: [Value; 3], ty: Type) -> VReg {
        let (a, b, c) = (self.reg(a), self.reg(b), self.reg(c));
        let opcode = match op {
            TernOp::Fma => t::FMLA_Z,
            TernOp::Fms => t::FNMLS_Z,
            TernOp::Fnma => t::FMLS_Z,
        };
        self.z_accumulate(opcode, wide(ty), c, [a, b])
    }
}
