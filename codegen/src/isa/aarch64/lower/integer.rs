//! Integer operations in general registers.

use regalloc2::VReg;

use super::super::inst::{Cc, Field, InstBuilder, Opcode};
use super::super::regs::INT;
use super::super::table as t;
use super::context::{Division, Lower, wide};
use super::immediates::{arithmetic_imm, logical_bits};
use crate::vir::{BinOp, Op, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn int_un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        let long = wide(ty);
        let a = self.reg(a);
        match op {
            UnOp::Not => self.result(InstBuilder::new(t::MVN).wide(long).m(a)),
            UnOp::Neg => self.result(InstBuilder::new(t::NEG).wide(long).m(a)),
            UnOp::Clz => self.unary(t::CLZ, long, a),
            UnOp::Ctz => {
                let reversed = self.unary(t::RBIT, long, a);
                self.unary(t::CLZ, long, reversed)
            }
            UnOp::Popcnt => {
                // Only vector registers have a population count.
                let vector = self.move_to_float(long, a);
                let counts = self.unary(t::CNT_8B, false, vector);
                let sum = self.unary(t::ADDV_8B, false, counts);
                self.move_to_general(false, sum)
            }
            op => self.unsupported(format!("integer {op:?}"), INT),
        }
    }

    pub(super) fn int_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let long = wide(ty);
        let commutes = matches!(op, BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor);
        let swap = commutes && (self.constant(a).is_some() || self.constant(b).is_none() && self.folded_bin(a).is_some());
        let (a, b) = if swap { (b, a) } else { (a, b) };
        match op {
            BinOp::Add | BinOp::Sub => self.int_add(op, a, b, long),
            BinOp::And => self.int_logic((t::AND, t::AND_IMM), a, b, long),
            BinOp::Or => self.int_logic((t::ORR, t::ORR_IMM), a, b, long),
            BinOp::Xor => self.int_logic((t::EOR, t::EOR_IMM), a, b, long),
            BinOp::AndNot => self.int_and_not(a, b, long),
            BinOp::Mul => self.int_mul(a, b, long),
            BinOp::MulWideU => self.int_of(t::UMULL, true, a, b),
            BinOp::MulWideS => self.int_of(t::SMULL, true, a, b),
            BinOp::MulHiU | BinOp::MulHiS => self.int_mul_high(op == BinOp::MulHiS, a, b, long),
            BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => self.int_div(op, a, b, long),
            BinOp::Shl => self.int_shift(op, t::LSL, a, b, long),
            BinOp::LShr => self.int_shift(op, t::LSR, a, b, long),
            BinOp::AShr => self.int_shift(op, t::ASR, a, b, long),
            BinOp::Rotl => self.int_rotate(a, b, long),
            BinOp::SMin => self.int_extremum(Cc::Less, a, b, long),
            BinOp::SMax => self.int_extremum(Cc::Greater, a, b, long),
            BinOp::UMin => self.int_extremum(Cc::Below, a, b, long),
            BinOp::UMax => self.int_extremum(Cc::Above, a, b, long),
            op => self.unsupported(format!("integer {op:?}"), INT),
        }
    }

    /// Returns the operator and operands of a folded shift or multiplication. The last field is the shift amount of a
    /// shift or of a multiplication by a power of two. Returns `None` if the value is not folded, or is a shift by a
    /// variable.
    pub(super) fn folded_bin(&self, value: Value) -> Option<(BinOp, Value, Value, Option<u32>)> {
        if !self.plan.folded[value.index()] || self.regs[value.index()].is_some() {
            return None;
        }
        let Op::Bin(op, a, b) = self.plan.defs[value.index()]?.op else { return None };
        let bits = self.splat_bits(b);
        let shift = match op {
            BinOp::Shl => Some(bits? as u32 & if wide(self.ty(value)) { 63 } else { 31 }),
            BinOp::Mul => bits.filter(|bits| bits.is_power_of_two()).map(u64::trailing_zeros),
            _ => return None,
        };
        Some((op, a, b, shift))
    }

    /// Selects the form with a shifted operand if `b` is a folded shift by a constant.
    fn int_of_shifted(&mut self, opcode: Opcode, long: bool, a: Value, b: Value) -> VReg {
        if let Some((_, of, _, Some(shift))) = self.folded_bin(b) {
            let (a, of) = (self.reg(a), self.reg(of));
            return self.result(InstBuilder::new(opcode).wide(long).n(a).m(of).imm(shift << 10, shift.into()));
        }
        self.int_of(opcode, long, a, b)
    }

    fn int_of(&mut self, opcode: Opcode, long: bool, a: Value, b: Value) -> VReg {
        let (a, b) = (self.reg(a), self.reg(b));
        self.binary(opcode, long, a, b)
    }

    fn int_add(&mut self, op: BinOp, a: Value, b: Value, long: bool) -> VReg {
        let plus = op == BinOp::Add;
        let Some((number, (imm, shifted))) = self.signed(b).and_then(|number| Some((number, arithmetic_imm(number.unsigned_abs())?)))
        else {
            if let Some((BinOp::Mul, of, by, None)) = self.folded_bin(b) {
                let (of, by, a) = (self.reg(of), self.reg(by), self.reg(a));
                return self.ternary(if plus { t::MADD } else { t::MSUB }, long, of, by, a);
            }
            return self.int_of_shifted(if plus { t::ADD } else { t::SUB }, long, a, b);
        };
        let opcode = if plus == (number >= 0) { t::ADD_IMM } else { t::SUB_IMM };
        let builder = InstBuilder::new(opcode).wide(long).n(self.reg(a)).imm(imm << 10, imm.into());
        self.result(if shifted { builder.imm2(1 << 22, 12) } else { builder })
    }

    fn int_logic(&mut self, (opcode, by_constant): (Opcode, Opcode), a: Value, b: Value, long: bool) -> VReg {
        match self.splat_bits(b).and_then(|bits| Some((bits, logical_bits(bits, long)?))) {
            Some((bits, encoded)) => {
                let a = self.reg(a);
                self.result(InstBuilder::new(by_constant).wide(long).n(a).imm(encoded, bits.cast_signed()))
            }
            None => self.int_of_shifted(opcode, long, a, b),
        }
    }

    fn int_and_not(&mut self, a: Value, b: Value, long: bool) -> VReg {
        let inverse = self.splat_bits(b).map(|bits| if long { !bits } else { !bits & u64::from(u32::MAX) });
        match inverse.and_then(|bits| Some((bits, logical_bits(bits, long)?))) {
            Some((bits, encoded)) => {
                let a = self.reg(a);
                self.result(InstBuilder::new(t::AND_IMM).wide(long).n(a).imm(encoded, bits.cast_signed()))
            }
            None => self.int_of_shifted(t::BIC, long, a, b),
        }
    }

    fn int_mul(&mut self, a: Value, b: Value, long: bool) -> VReg {
        match self.splat_bits(b) {
            Some(bits) if bits.is_power_of_two() => {
                let a = self.reg(a);
                self.shift_left(long, a, bits.trailing_zeros())
            }
            _ => self.int_of(t::MUL, long, a, b),
        }
    }

    /// Shifts left. The amount must be less than the size.
    pub(super) fn shift_left(&mut self, long: bool, a: VReg, amount: u32) -> VReg {
        let last = if long { 63 } else { 31 };
        if amount == 0 {
            return a;
        }
        let bits = (last + 1 - amount) << 16 | (last - amount) << 10;
        self.result(InstBuilder::new(t::LSL_IMM).wide(long).n(a).imm(bits, amount.into()))
    }

    /// Shifts right with `lsr` or `asr`. The amount must be less than the size.
    pub(super) fn shift_right(&mut self, opcode: Opcode, long: bool, a: VReg, amount: u32) -> VReg {
        let last = if long { 63 } else { 31 };
        if amount == 0 {
            return a;
        }
        self.result(InstBuilder::new(opcode).wide(long).n(a).imm(amount << 16 | last << 10, amount.into()))
    }

    fn int_shift(&mut self, op: BinOp, by_any: Opcode, a: Value, b: Value, long: bool) -> VReg {
        let Some(amount) = self.splat_bits(b) else { return self.int_of(by_any, long, a, b) };
        let (a, amount) = (self.reg(a), amount as u32 & if long { 63 } else { 31 });
        match op {
            BinOp::Shl => self.shift_left(long, a, amount),
            BinOp::AShr => self.shift_right(t::ASR_IMM, long, a, amount),
            _ => self.shift_right(t::LSR_IMM, long, a, amount),
        }
    }

    /// Rotates to the left by `b`: the instructions rotate to the right, so the amount is negated.
    fn int_rotate(&mut self, a: Value, b: Value, long: bool) -> VReg {
        let size = if long { 64 } else { 32 };
        if let Some(amount) = self.splat_bits(b) {
            let (a, amount) = (self.reg(a), (size - amount as u32 % size) % size);
            if amount == 0 {
                return a;
            }
            let mut builder = InstBuilder::new(t::ROR_IMM).wide(long).n(a).imm(amount << 10, amount.into());
            builder.inst.regs[Field::M as usize] = builder.inst.regs[Field::N as usize];
            return self.result(builder);
        }
        let (a, b) = (self.reg(a), self.reg(b));
        let right = self.result(InstBuilder::new(t::NEG).m(b));
        self.binary(t::ROR, long, a, right)
    }

    /// Extends 32 bits to 64.
    pub(super) fn extend(&mut self, a: VReg, sign: bool) -> VReg {
        if sign { self.unary(t::SXTW, true, a) } else { self.result(InstBuilder::new(t::UXTW).m(a)) }
    }

    /// Sign-extends a folded shift by a constant. Returns `None` if `a` is another operation.
    pub(super) fn extend_shifted(&mut self, a: Value) -> Option<VReg> {
        let (BinOp::Shl, of, _, Some(amount @ 1..32)) = self.folded_bin(a)? else { return None };
        let from = self.reg(of);
        let width = 32 - amount;
        let builder = InstBuilder::new(t::SBFIZ).n(from).imm((64 - amount) << 16, amount.into());
        Some(self.result(builder.imm2((width - 1) << 10, width.into())))
    }

    /// Whether bits 32 to 63 of a 32-bit value's register are known to be 0. Instructions on 32-bit registers clear
    /// these bits.
    pub(super) fn is_extended(&self, a: Value) -> bool {
        let Some(inst) = self.plan.defs[a.index()] else { return false };
        match &inst.op {
            Op::Load(..) | Op::Cmp(..) => true,
            Op::Bin(op, _, by) => match op {
                // A shift by 0 and a `Mul` by 1 emit no instruction. Bits 32 to 63 of their operand can be set.
                BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotl => self.splat_bits(*by).is_none_or(|by| by % 32 != 0),
                BinOp::Mul => false,
                _ => true,
            },
            _ => false,
        }
    }

    fn int_mul_high(&mut self, sign: bool, a: Value, b: Value, long: bool) -> VReg {
        if long {
            return self.int_of(if sign { t::SMULH } else { t::UMULH }, true, a, b);
        }
        let product = self.int_of(if sign { t::SMULL } else { t::UMULL }, true, a, b);
        self.shift_right(t::LSR_IMM, true, product, 32)
    }

    /// Reads the virtual counter of the generic timer.
    pub(super) fn clock(&mut self) -> VReg {
        self.result(InstBuilder::new(t::MRS_COUNTER))
    }

    fn int_div(&mut self, op: BinOp, a: Value, b: Value, long: bool) -> VReg {
        let sign = matches!(op, BinOp::SDiv | BinOp::SRem);
        let division = Division { block: self.out.current_block(), sign, a, b };
        let (a, b) = (self.reg(a), self.reg(b));
        // Programs often compute the quotient and the remainder of the same operands.
        let quotient = match self.divided {
            Some((last, quotient)) if last == division => quotient,
            _ => self.binary(if sign { t::SDIV } else { t::UDIV }, long, a, b),
        };
        self.divided = Some((division, quotient));
        if matches!(op, BinOp::UDiv | BinOp::SDiv) { quotient } else { self.ternary(t::MSUB, long, quotient, b, a) }
    }

    /// Selects `a` if the condition holds for a comparison of `a` with `b`, otherwise `b`.
    fn int_extremum(&mut self, cc: Cc, a: Value, b: Value, long: bool) -> VReg {
        let (a, b) = (self.reg(a), self.reg(b));
        self.push(InstBuilder::new(t::CMP).wide(long).n(a).m(b));
        self.result(InstBuilder::new(t::CSEL).wide(long).n(a).m(b).condition(cc))
    }
}
