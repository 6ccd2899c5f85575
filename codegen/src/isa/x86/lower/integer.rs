//! Integer operations in general registers.

use regalloc2::VReg;

use super::super::inst::{Cc, InstBuilder, Opcode, RegMem};
use super::super::regs::{INT, RAX, RCX, RDX};
use super::super::table::{self as t, alu, shift};
use super::context::{Division, Lower, wide};
use crate::vir::{BinOp, Op, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn int_un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        let wide = wide(ty);
        match op {
            UnOp::Not | UnOp::Neg => {
                let (from, to) = (self.reg(a), self.int());
                self.push(InstBuilder::new(if op == UnOp::Not { t::NOT } else { t::NEG }).wide(wide).rm_tied(from, to));
                to
            }
            UnOp::Popcnt => self.int_from(t::POPCNT, wide, a),
            UnOp::Clz if self.vex() => self.int_from(t::LZCNT, wide, a),
            UnOp::Ctz if self.vex() => self.int_from(t::TZCNT, wide, a),
            UnOp::Clz => {
                let bits = if wide { 64 } else { 32 };
                let found = self.scan(t::BSR, wide, a, 2 * bits - 1);
                self.alu_imm(alu::XOR, wide, found, bits as i32 - 1)
            }
            UnOp::Ctz => self.scan(t::BSF, wide, a, if wide { 64 } else { 32 }),
            op => self.unsupported(format!("integer {op:?}"), INT),
        }
    }

    fn int_from(&mut self, opcode: Opcode, wide: bool, a: Value) -> VReg {
        let (from, to) = (self.source(a, false), self.int());
        self.push(InstBuilder::new(opcode).wide(wide).def(to).rm(from));
        to
    }

    /// Returns the result of `bsf` or `bsr`, or `none` if no bit is set.
    fn scan(&mut self, opcode: Opcode, wide: bool, a: Value, none: u64) -> VReg {
        let (from, none) = (self.reg(a), self.int_constant(none));
        let (found, to) = (self.int(), self.int());
        self.push(InstBuilder::new(opcode).wide(wide).def(found).rm(from));
        self.push(InstBuilder::new(t::CMOVCC.plus(Cc::Equal as u8)).wide(wide).tied(found, to).rm(none));
        to
    }

    pub(super) fn alu_imm(&mut self, digit: u8, wide: bool, a: VReg, imm: i32) -> VReg {
        let to = self.int();
        let builder = match i8::try_from(imm) {
            Ok(byte) => InstBuilder::new(t::ALU_I8.digit(digit)).rm_tied(a, to).imm(byte as u8),
            Err(_) => InstBuilder::new(t::ALU_I32.digit(digit)).rm_tied(a, to).imm32(imm),
        };
        self.push(builder.wide(wide));
        to
    }

    pub(super) fn alu(&mut self, opcode: Opcode, wide: bool, a: VReg, b: impl Into<RegMem>) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(opcode).wide(wide).tied(a, to).rm(b));
        to
    }

    pub(super) fn shift(&mut self, digit: u8, wide: bool, a: VReg, amount: u8) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(t::SHIFT_I8.digit(digit)).wide(wide).rm_tied(a, to).imm(amount));
        to
    }

    pub(super) fn lea(&mut self, wide: bool, base: VReg, index: Option<(VReg, u8)>, disp: i32) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(t::LEA).wide(wide).def(to).rm(RegMem::Mem { base: Some(base), index, disp, broadcast: false }));
        to
    }

    pub(super) fn int_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let wide = wide(ty);
        let commutes = matches!(op, BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor);
        let swap = commutes && (self.constant(a).is_some() || self.in_memory(a, false) && !self.in_memory(b, false));
        let (a, b) = if swap { (b, a) } else { (a, b) };
        match op {
            BinOp::Add => self.int_add(a, b, wide),
            BinOp::Sub => self.int_alu(t::SUB_R, alu::SUB, a, b, wide),
            BinOp::And => match self.lowest_bit(a, b, wide) {
                Some(bit) => bit,
                None => self.int_alu(t::AND_R, alu::AND, a, b, wide),
            },
            BinOp::Or => self.int_alu(t::OR_R, alu::OR, a, b, wide),
            BinOp::Xor => self.int_alu(t::XOR_R, alu::XOR, a, b, wide),
            BinOp::AndNot => self.int_and_not(a, b, wide),
            BinOp::Mul => self.int_mul(a, b, wide),
            BinOp::MulWideU | BinOp::MulWideS => {
                let (a, b) = (self.reg(a), self.reg(b));
                let (a, b) = (self.extend(a, op == BinOp::MulWideS), self.extend(b, op == BinOp::MulWideS));
                self.alu(t::IMUL, true, a, b)
            }
            BinOp::MulHiU | BinOp::MulHiS => self.int_mul_high(op == BinOp::MulHiS, a, b, wide),
            BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => self.int_div(op, a, b, wide),
            BinOp::Shl => self.int_shift(shift::SHL, Some(t::SHLX), a, b, wide),
            BinOp::LShr => self.int_shift(shift::SHR, Some(t::SHRX), a, b, wide),
            BinOp::AShr => self.int_shift(shift::SAR, Some(t::SARX), a, b, wide),
            BinOp::Rotl => self.int_shift(shift::ROL, None, a, b, wide),
            BinOp::SMin => self.int_extremum(Cc::Greater, a, b, wide),
            BinOp::SMax => self.int_extremum(Cc::Less, a, b, wide),
            BinOp::UMin => self.int_extremum(Cc::Above, a, b, wide),
            BinOp::UMax => self.int_extremum(Cc::Below, a, b, wide),
            op => self.unsupported(format!("integer {op:?}"), INT),
        }
    }

    fn int_alu(&mut self, opcode: Opcode, digit: u8, a: Value, b: Value, wide: bool) -> VReg {
        if let Some(imm) = self.imm32(b) {
            let a = self.reg(a);
            return self.alu_imm(digit, wide, a, imm);
        }
        let b = self.source(b, false);
        let a = self.reg(a);
        self.alu(opcode, wide, a, b)
    }

    /// Selects `blsi` for `x & -x`, if the negation is folded. Otherwise returns `None`.
    fn lowest_bit(&mut self, a: Value, b: Value, wide: bool) -> Option<VReg> {
        let negates = |value: Value, of: Value| {
            let is_folded = self.plan.folded[value.index()] && self.regs[value.index()].is_none();
            is_folded && matches!(self.plan.defs[value.index()].map(|inst| &inst.op), Some(Op::Un(UnOp::Neg, x)) if *x == of)
        };
        let of = if negates(a, b) {
            b
        } else if negates(b, a) {
            a
        } else {
            return None;
        };
        let (from, to) = (self.source(of, false), self.int());
        self.push(InstBuilder::new(t::BLSI).wide(wide).vvvv_def(to).rm(from));
        Some(to)
    }

    /// Adds two integers. Uses `lea` if `add` in either operand order would overwrite an operand that is used later.
    fn int_add(&mut self, a: Value, b: Value, wide: bool) -> VReg {
        let lives = !self.plan.single_block_use[a.index()];
        match self.imm32(b) {
            Some(imm) if lives => {
                let a = self.reg(a);
                self.lea(wide, a, None, imm)
            }
            None if lives && !self.plan.single_block_use[b.index()] && !self.in_memory(b, false) => {
                let (a, b) = (self.reg(a), self.reg(b));
                self.lea(wide, a, Some((b, 1)), 0)
            }
            None if lives && self.plan.single_block_use[b.index()] && !self.in_memory(b, false) => {
                self.int_alu(t::ADD_R, alu::ADD, b, a, wide)
            }
            _ => self.int_alu(t::ADD_R, alu::ADD, a, b, wide),
        }
    }

    fn int_and_not(&mut self, a: Value, b: Value, wide: bool) -> VReg {
        if let Some(bits) = self.imm32(b) {
            let a = self.reg(a);
            return self.alu_imm(alu::AND, wide, a, !bits);
        }
        if self.vex() {
            let a = self.source(a, false);
            let (b, to) = (self.reg(b), self.int());
            self.push(InstBuilder::new(t::ANDN).wide(wide).def(to).vvvv(b).rm(a));
            return to;
        }
        let (b, inverse) = (self.reg(b), self.int());
        self.push(InstBuilder::new(t::NOT).wide(wide).rm_tied(b, inverse));
        let a = self.source(a, false);
        self.alu(t::AND_R, wide, inverse, a)
    }

    fn int_mul(&mut self, a: Value, b: Value, wide: bool) -> VReg {
        let Some(imm) = self.imm32(b) else {
            let b = self.source(b, false);
            let a = self.reg(a);
            return self.alu(t::IMUL, wide, a, b);
        };
        if imm > 1 && imm.count_ones() == 1 {
            let a = self.reg(a);
            return self.shift(shift::SHL, wide, a, imm.trailing_zeros() as u8);
        }
        let (a, to) = (self.source(a, false), self.int());
        let builder = match i8::try_from(imm) {
            Ok(byte) => InstBuilder::new(t::IMUL_I8).def(to).rm(a).imm(byte as u8),
            Err(_) => InstBuilder::new(t::IMUL_I32).def(to).rm(a).imm32(imm),
        };
        self.push(builder.wide(wide));
        to
    }

    /// Extends 32 bits to 64.
    pub(super) fn extend(&mut self, a: impl Into<RegMem>, sign: bool) -> VReg {
        let to = self.int();
        self.push(InstBuilder::new(if sign { t::MOVSXD } else { t::MOV }).wide(sign).def(to).rm(a));
        to
    }

    /// Whether bits 32 to 63 of a 32-bit value's register are known to be 0. Instructions on 32-bit registers clear
    /// these bits.
    pub(super) fn is_extended(&self, a: Value) -> bool {
        let Some(inst) = self.plan.defs[a.index()] else { return false };
        match &inst.op {
            Op::Load(..) => self.regs[a.index()].is_some(),
            Op::Cmp(..) => true,
            Op::Bin(op, _, by) => match op {
                BinOp::Shl | BinOp::LShr | BinOp::AShr => self.splat_bits(*by).is_some_and(|by| by % 32 != 0),
                op => *op != BinOp::Rotl,
            },
            _ => false,
        }
    }

    fn int_mul_high(&mut self, sign: bool, a: Value, b: Value, wide: bool) -> VReg {
        let (a, b) = (self.reg(a), self.reg(b));
        if wide {
            let (low, high) = (self.int(), self.int());
            let builder = InstBuilder::new(if sign { t::IMUL_AX } else { t::MUL_AX }).wide(true).fixed_use(a, RAX).rm(b);
            self.push(builder.fixed_def(low, RAX).fixed_def(high, RDX));
            return high;
        }
        let (a, b) = (self.extend(a, sign), self.extend(b, sign));
        let product = self.alu(t::IMUL, true, a, b);
        self.shift(shift::SHR, true, product, 32)
    }

    /// Reads the time-stamp counter, and combines its two halves.
    pub(super) fn clock(&mut self) -> VReg {
        let (low, high) = (self.int(), self.int());
        self.push(InstBuilder::new(t::RDTSC).fixed_def(low, RAX).fixed_def(high, RDX));
        let high = self.shift(shift::SHL, true, high, 32);
        self.alu(t::OR_R, true, high, low)
    }

    fn int_div(&mut self, op: BinOp, a: Value, b: Value, wide: bool) -> VReg {
        let sign = matches!(op, BinOp::SDiv | BinOp::SRem);
        let division = Division { block: self.out.current_block(), sign, a, b };
        // Programs often compute the quotient and the remainder of the same operands.
        let (quotient, rest) = match self.divided {
            Some((last, quotient, rest)) if last == division => (quotient, rest),
            _ => self.divide(sign, a, b, wide),
        };
        self.divided = Some((division, quotient, rest));
        if matches!(op, BinOp::UDiv | BinOp::SDiv) { quotient } else { rest }
    }

    fn divide(&mut self, sign: bool, a: Value, b: Value, wide: bool) -> (VReg, VReg) {
        let (a, b) = (self.reg(a), self.reg(b));
        let high = if sign {
            let high = self.int();
            self.push(InstBuilder::new(t::SIGN_AX).wide(wide).fixed_use(a, RAX).fixed_def(high, RDX));
            high
        } else {
            self.int_constant(0)
        };
        let (quotient, rest) = (self.int(), self.int());
        let builder = InstBuilder::new(if sign { t::IDIV_AX } else { t::DIV_AX }).wide(wide).rm(b).fixed_use(a, RAX).fixed_use(high, RDX);
        self.push(builder.fixed_def(quotient, RAX).fixed_def(rest, RDX));
        (quotient, rest)
    }

    fn int_shift(&mut self, digit: u8, by_any: Option<Opcode>, a: Value, b: Value, wide: bool) -> VReg {
        if let Some(amount) = self.splat_bits(b) {
            let a = self.reg(a);
            return self.shift(digit, wide, a, amount as u8 & if wide { 63 } else { 31 });
        }
        let amount = self.reg(b);
        match by_any {
            Some(opcode) if self.vex() => {
                let (a, to) = (self.source(a, false), self.int());
                self.push(InstBuilder::new(opcode).wide(wide).def(to).rm(a).vvvv(amount));
                to
            }
            _ => {
                let (a, to) = (self.reg(a), self.int());
                self.push(InstBuilder::new(t::SHIFT_CL.digit(digit)).wide(wide).rm_tied(a, to).fixed_use(amount, RCX));
                to
            }
        }
    }

    /// Selects `b` if the condition holds for a comparison of `a` with `b`, otherwise `a`.
    fn int_extremum(&mut self, cc: Cc, a: Value, b: Value, wide: bool) -> VReg {
        let (a, b, to) = (self.reg(a), self.reg(b), self.int());
        self.push(InstBuilder::new(t::CMP_R).wide(wide).reg(a).rm(b));
        self.push(InstBuilder::new(t::CMOVCC.plus(cc as u8)).wide(wide).tied(a, to).rm(b));
        to
    }
}
