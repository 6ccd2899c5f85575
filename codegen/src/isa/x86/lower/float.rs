//! Floating-point operations on scalars and vectors.

use regalloc2::VReg;

use super::super::inst::{InstBuilder, Opcode, RegMem, Tuple};
use super::super::regs::VEC;
use super::super::table::{self as t, shift};
use super::context::{Lower, is_float_scalar, length, wide};
use crate::vir::{BinOp, Elem, Rounding, TernOp, Type, UnOp, Value};

/// Returns the packed or scalar form of `opcode` plus `base`, with the tuple type for its EVEX displacement.
pub(super) fn form(opcode: Opcode, base: u8, scalar: bool) -> Opcode {
    let opcode = opcode.plus(base).lane(scalar);
    Opcode { tuple: if scalar { Tuple::Elem } else { Tuple::Full }, ..opcode }
}

/// Returns the offset of an operation's opcode from the first opcode of the FMA family.
pub(super) const fn fma_offset(op: TernOp) -> u8 {
    match op {
        TernOp::Fma => 0,
        TernOp::Fms => 2,
        TernOp::Fnma => 4,
    }
}

impl Lower<'_> {
    pub(super) fn float_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let Some((opcode, first, second)) = self.float_parts(op, a, b, ty) else {
            return self.unsupported(format!("floating-point {op:?}"), VEC);
        };
        self.v3(opcode, length(ty), wide(ty), first, second)
    }

    /// Returns the opcode and the two operands of an operation, or `None` if no instruction implements it.
    pub(super) fn float_parts(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Option<(Opcode, VReg, RegMem)> {
        let (elem, scalar) = (ty.elem()?, is_float_scalar(ty));
        let commutes = matches!(op, BinOp::FAdd | BinOp::FMul | BinOp::And | BinOp::Or | BinOp::Xor);
        let (opcode, is_bitwise) = match op {
            BinOp::FAdd => (t::ADD, false),
            BinOp::FSub => (t::SUB, false),
            BinOp::FMul => (t::MUL, false),
            BinOp::FDiv => (t::DIV, false),
            BinOp::FMin => (t::MIN, false),
            BinOp::FMax => (t::MAX, false),
            BinOp::And => (t::AND_FP, true),
            BinOp::Or => (t::OR_FP, true),
            BinOp::Xor => (t::XOR_FP, true),
            BinOp::AndNot => (t::ANDN_FP, true),
            _ => return None,
        };
        // `andnp` complements its first operand, `AndNot` its second.
        let (a, b) = if op == BinOp::AndNot { (b, a) } else { (a, b) };
        let (a, b) = if commutes && self.in_memory(a, true) && !self.in_memory(b, true) { (b, a) } else { (a, b) };
        // Bitwise instructions read sixteen bytes of memory even for scalars.
        let second = if is_bitwise && scalar { self.reg(b).into() } else { self.source(b, !scalar) };
        Some((opcode.of(elem, scalar && !is_bitwise), self.reg(a), second))
    }

    pub(super) fn float_un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        let (Some(elem), len, scalar) = (ty.elem(), length(ty), is_float_scalar(ty)) else { return self.undefined(ty) };
        let double = elem == Elem::F64;
        let (opcode, imm) = match op {
            UnOp::Sqrt => (t::SQRT.of(elem, scalar), None),
            UnOp::RecipApprox if self.avx512() => (t::RCP14.lane(scalar), None),
            UnOp::RsqrtApprox if self.avx512() => (t::RSQRT14.lane(scalar), None),
            UnOp::RecipApprox => (t::RCP.of(elem, scalar), None),
            UnOp::RsqrtApprox => (t::RSQRT.of(elem, scalar), None),
            UnOp::Round(to) => {
                // Bit 3 suppresses the precision exception.
                let number = match to {
                    Rounding::NearestEven => 8,
                    Rounding::Down => 9,
                    Rounding::Up => 10,
                    Rounding::Zero => 11,
                };
                let opcode = if self.avx512() { t::RNDSCALE } else { t::ROUND };
                let opcode = opcode.plus(u8::from(double) + 2 * u8::from(scalar));
                (Opcode { tuple: if scalar { Tuple::Elem } else { Tuple::Full }, ..opcode }, Some(number))
            }
            op => return self.unsupported(format!("floating-point {op:?}"), VEC),
        };
        if scalar {
            // Both sources are the operand, to avoid a false dependency on another register.
            let a = self.reg(a);
            return match imm {
                None => self.v3(opcode, len, double, a, a),
                Some(imm) => self.v3_imm(opcode, len, double, a, a, imm),
            };
        }
        let a = self.source(a, false);
        match imm {
            None => self.v2(opcode, len, double, a),
            Some(imm) => self.v2_imm(opcode, len, double, a, imm),
        }
    }

    pub(super) fn tern(&mut self, op: TernOp, [a, b, c]: [Value; 3], ty: Type) -> VReg {
        if !self.vex() {
            return self.exact_fma(op, [a, b, c], ty);
        }
        let scalar = is_float_scalar(ty);
        let base = fma_offset(op);
        let (form132, form213, form231) = (form(t::FMA, base, scalar), form(t::FMA, base + 16, scalar), form(t::FMA, base + 32, scalar));
        let memory = |this: &Self, value| this.in_memory(value, !scalar);
        // The instruction overwrites an operand. Choose a value without later uses. The memory operand must be the last
        // one.
        let (a, b) =
            if memory(self, a) || !self.plan.single_block_use[a.index()] && self.plan.single_block_use[b.index()] && !memory(self, b) {
                (b, a)
            } else {
                (a, b)
            };
        let (opcode, first, second, third) = if memory(self, b) && !memory(self, c) {
            if self.plan.single_block_use[c.index()] || !self.plan.single_block_use[a.index()] {
                (form231, c, a, b)
            } else {
                (form132, a, c, b)
            }
        } else if memory(self, c) || !self.plan.single_block_use[c.index()] && self.plan.single_block_use[a.index()] {
            (form213, a, b, c)
        } else {
            (form231, c, a, b)
        };
        let third = self.source(third, !scalar);
        let (first, second, to) = (self.reg(first), self.reg(second), self.vec());
        self.push(InstBuilder::new(opcode).len(length(ty)).wide(wide(ty)).tied(first, to).vvvv(second).rm(third));
        to
    }

    /// Computes a fused multiply-add of `float` without FMA instructions. The operands are converted to `double`, in
    /// which their product is exact. The sum is rounded to odd, so that its conversion to `float` is correct.
    fn exact_fma(&mut self, op: TernOp, [a, b, c]: [Value; 3], ty: Type) -> VReg {
        if ty != Type::F32 {
            return self.unsupported(format!("{op:?} of {ty}"), VEC);
        }
        let double = |this: &mut Self, value: Value| {
            let from = this.reg(value);
            this.v3(t::CVTS2S.of(Elem::F32, true), 0, false, from, from)
        };
        let (a, b, c) = (double(self, a), double(self, b), double(self, c));
        let sign = self.int_constant(1 << 63);
        let sign_bits = self.vec();
        self.push(InstBuilder::new(t::MOVD_TO).wide(true).def(sign_bits).rm_reg(sign));
        let product = self.double_op(t::MUL, a, b);
        let product = if op == TernOp::Fnma { self.v3(t::XOR_FP, 0, false, product, sign_bits) } else { product };
        let c = if op == TernOp::Fms { self.v3(t::XOR_FP, 0, false, c, sign_bits) } else { c };
        let sum = self.double_op(t::ADD, product, c);
        let part = self.double_op(t::SUB, sum, product);
        let rest = self.double_op(t::SUB, sum, part);
        let (lost_product, lost_c) = (self.double_op(t::SUB, product, rest), self.double_op(t::SUB, c, part));
        let lost = self.double_op(t::ADD, lost_product, lost_c);
        let odd = self.round_to_odd(sum, lost);
        self.v3(t::CVTS2S.of(Elem::F64, true), 0, true, odd, odd)
    }

    fn double_op(&mut self, opcode: Opcode, a: VReg, b: VReg) -> VReg {
        self.v3(opcode.of(Elem::F64, true), 0, true, a, b)
    }

    /// Rounds an inexact sum to odd: replaces an even sum by its neighbour in the direction of the error `lost`.
    fn round_to_odd(&mut self, sum: VReg, lost: VReg) -> VReg {
        const UNEQUAL: u8 = 4;
        const ORDERED: u8 = 7;
        let zero = self.zero();
        let compare = t::CMP_FP.of(Elem::F64, true);
        let unequal = self.v3_imm(compare, 0, true, lost, zero, UNEQUAL);
        let number = self.v3_imm(compare, 0, true, lost, lost, ORDERED);
        let inexact = self.v3(t::AND_FP, 0, false, unequal, number);
        let (sum, lost, inexact) = (self.move_to_gpr(sum), self.move_to_gpr(lost), self.move_to_gpr(inexact));
        let differs = self.alu(t::XOR_R, true, sum, lost);
        let sign = self.shift(shift::SAR, true, differs, 63);
        let step = self.alu_imm(t::alu::OR, true, sign, 1);
        let step = self.alu(t::AND_R, true, step, inexact);
        let last = self.alu_imm(t::alu::AND, true, sum, 1);
        let even = self.alu_imm(t::alu::SUB, true, last, 1);
        let step = self.alu(t::AND_R, true, step, even);
        let odd = self.alu(t::ADD_R, true, sum, step);
        let to = self.vec();
        self.push(InstBuilder::new(t::MOVD_TO).wide(true).def(to).rm_reg(odd));
        to
    }

    fn move_to_gpr(&mut self, a: VReg) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(t::MOVD_FROM).wide(true).reg(a).rm_def(to));
        to
    }
}
