//! Integer operations on vectors.

use regalloc2::VReg;

use super::super::folding::is_logic;
use super::super::inst::{InstBuilder, Opcode, RegMem};
use super::super::regs::VEC;
use super::super::table as t;
use super::context::{Lower, length, wide};
use crate::vir::{BinOp, Elem, Inst, Op, Type, UnOp, Value};

/// The number of set bits of each four-bit number.
const COUNTS: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

impl Lower<'_> {
    pub(super) fn vector_un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        match op {
            UnOp::Neg => {
                let a = self.source(a, true);
                let zero = self.zero();
                self.v3(if wide { t::PSUBQ } else { t::PSUBD }, len, wide, zero, a)
            }
            UnOp::Not => {
                let a = self.reg(a);
                self.invert(a, len)
            }
            UnOp::Clz if self.avx512() => {
                let a = self.source(a, false);
                self.v2(t::PLZCNT, len, wide, a)
            }
            UnOp::Clz => {
                let a = self.reg(a);
                if wide { self.leading_zeros64(a, len) } else { self.leading_zeros32(a, len) }
            }
            UnOp::Popcnt => {
                let a = self.reg(a);
                self.popcount(a, len, wide)
            }
            op => self.unsupported(format!("{op:?} of {ty}"), VEC),
        }
    }

    /// Looks up the population count of each four bits, and adds the counts.
    fn popcount(&mut self, a: VReg, len: u8, wide: bool) -> VReg {
        let nibbles = self.repeated([15; 16], len);
        let nibbles = self.v2(t::MOVU, len, false, nibbles);
        let counts = self.repeated(COUNTS, len);
        let counts = self.v2(t::MOVU, len, false, counts);
        let low = self.v3(t::PAND, len, false, a, nibbles);
        let high = self.shift_imm(t::PSRLD_IMM, len, false, a, 4);
        let high = self.v3(t::PAND, len, false, high, nibbles);
        let (low, high) = (self.v3(t::PSHUFB, len, false, counts, low), self.v3(t::PSHUFB, len, false, counts, high));
        let bytes = self.v3(t::PADDB, len, false, low, high);
        if wide {
            let zero = self.zero();
            return self.v3(t::PSADBW, len, false, bytes, zero);
        }
        let ones = self.repeated([1; 16], len);
        let pairs = self.v3(t::PMADDUBSW, len, false, bytes, ones);
        let ones = self.repeated([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0], len);
        self.v3(t::PMADDWD, len, false, pairs, ones)
    }

    /// Counts the leading zeros of 32-bit lanes: converts each lane to a float, whose exponent gives the count. First
    /// clears low bits that could round the number up to the next power of two.
    fn leading_zeros32(&mut self, a: VReg, len: u8) -> VReg {
        let ty = Type::Vector(Elem::I32, 4 << len);
        let next = self.shift_imm(t::PSRLD_IMM, len, false, a, 1);
        let high = self.v3(t::PANDN, len, false, next, a);
        let float = self.v2(t::CVTDQ2PS, len, false, high);
        let exponent = self.shift_imm(t::PSRLD_IMM, len, false, float, 23);
        let bias = self.splat_constant(158, ty);
        let zeros = self.v3(t::PSUBD, len, false, bias, exponent);
        let most = self.splat_source(32, ty);
        let zeros = self.v3(t::PMINS, len, false, zeros, most);
        let least = self.zero();
        self.v3(t::PMAXS, len, false, zeros, least)
    }

    fn leading_zeros64(&mut self, a: VReg, len: u8) -> VReg {
        let ty = Type::Vector(Elem::I64, 2 << len);
        let zeros = self.leading_zeros32(a, len);
        let high = self.shift_imm(t::PSRLQ_IMM, len, true, zeros, 32);
        let all = self.splat_source(32, ty);
        let none = self.v3(t::PCMPEQQ, len, false, high, all);
        let low = self.splat_source(0xFFFF_FFFF, ty);
        let low = self.v3(t::PAND, len, false, zeros, low);
        let low = self.v3(t::PAND, len, false, low, none);
        self.v3(t::PADDQ, len, true, high, low)
    }

    pub(super) fn vector_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        if self.avx512()
            && is_logic(&Op::Bin(op, a, b))
            && let Some(reg) = self.logic(op, a, b, ty)
        {
            return reg;
        }
        if let Some((opcode, first, second)) = self.int_parts(op, a, b, ty) {
            return self.v3(opcode, len, wide, first, second);
        }
        match op {
            BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax => self.extremum64(op, a, b, ty),
            BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotl => self.vector_shift(op, a, b, ty),
            BinOp::Mul => {
                let (a, b) = (self.reg(a), self.reg(b));
                self.multiply64(a, b, len)
            }
            BinOp::MulBytes => self.multiply_bytes(a, b, ty),
            BinOp::MulHiU | BinOp::MulHiS if !wide => self.multiply_high32(op == BinOp::MulHiS, a, b, len),
            op => self.unsupported(format!("{op:?} of {ty}"), VEC),
        }
    }

    /// Returns the opcode and operands of an operation, or `None` if no single instruction implements it.
    pub(super) fn int_parts(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Option<(Opcode, VReg, RegMem)> {
        let wide = wide(ty);
        // AVX2 has only the 32-bit form. W, which VEX ignores, selects the 64-bit form of AVX-512.
        let either = |opcode: Opcode| if wide { self.avx512().then(|| opcode.evex()) } else { Some(opcode) };
        let opcode = match op {
            BinOp::Add => {
                if wide {
                    t::PADDQ
                } else {
                    t::PADDD
                }
            }
            BinOp::Sub => {
                if wide {
                    t::PSUBQ
                } else {
                    t::PSUBD
                }
            }
            BinOp::Mul => either(t::PMULLD)?,
            BinOp::MulWideU => t::PMULUDQ,
            BinOp::MulWideS => t::PMULDQ,
            BinOp::And => t::PAND,
            BinOp::Or => t::POR,
            BinOp::Xor => t::PXOR,
            BinOp::AndNot => t::PANDN,
            BinOp::SMin => either(t::PMINS)?,
            BinOp::SMax => either(t::PMAXS)?,
            BinOp::UMin => either(t::PMINU)?,
            BinOp::UMax => either(t::PMAXU)?,
            BinOp::AddBytes => t::PADDB,
            BinOp::SubBytes => t::PSUBB,
            BinOp::AddWords => t::PADDW,
            BinOp::SubWords => t::PSUBW,
            BinOp::MulWords => t::PMULLW,
            _ => return None,
        };
        // `pandn` complements its first operand, `AndNot` its second.
        let (a, b) = if op == BinOp::AndNot { (b, a) } else { (a, b) };
        let commutes = !matches!(op, BinOp::Sub | BinOp::AndNot | BinOp::SubBytes | BinOp::SubWords);
        let broadcasts = !matches!(op, BinOp::AddBytes | BinOp::SubBytes | BinOp::AddWords | BinOp::SubWords | BinOp::MulWords);
        let (a, b) = if commutes && self.in_memory(a, broadcasts) && !self.in_memory(b, broadcasts) { (b, a) } else { (a, b) };
        let second = self.source(b, broadcasts);
        Some((opcode, self.reg(a), second))
    }

    /// Computes the minimum or maximum of 64-bit lanes with AVX2.
    fn extremum64(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let len = length(ty);
        let (a, b) = (self.reg(a), self.reg(b));
        let greater = if matches!(op, BinOp::UMin | BinOp::UMax) {
            let sign = self.splat_constant(1 << 63, ty);
            let (a, b) = (self.v3(t::PXOR, len, false, a, sign), self.v3(t::PXOR, len, false, b, sign));
            self.v3(t::PCMPGTQ, len, false, a, b)
        } else {
            self.v3(t::PCMPGTQ, len, false, a, b)
        };
        let (if_greater, otherwise) = if matches!(op, BinOp::UMin | BinOp::SMin) { (b, a) } else { (a, b) };
        self.blend(len, greater, if_greater, otherwise)
    }

    /// Multiplies 64-bit lanes with multiplications of 32 bits.
    fn multiply64(&mut self, a: VReg, b: VReg, len: u8) -> VReg {
        let (a_high, b_high) = (self.shift_imm(t::PSRLQ_IMM, len, true, a, 32), self.shift_imm(t::PSRLQ_IMM, len, true, b, 32));
        let (x, y) = (self.v3(t::PMULUDQ, len, true, a_high, b), self.v3(t::PMULUDQ, len, true, b_high, a));
        let cross = self.v3(t::PADDQ, len, true, x, y);
        let cross = self.shift_imm(t::PSLLQ_IMM, len, true, cross, 32);
        let low = self.v3(t::PMULUDQ, len, true, a, b);
        self.v3(t::PADDQ, len, true, low, cross)
    }

    /// Multiplies even and odd bytes separately, in 16-bit lanes. The products of odd bytes are in the upper bytes.
    fn multiply_bytes(&mut self, a: Value, b: Value, ty: Type) -> VReg {
        const EVEN: u64 = 0x00FF_00FF;
        const ODD: u64 = 0xFF00_FF00;
        let len = length(ty);
        let (a, b) = if self.splat_bits(a).is_some() { (b, a) } else { (a, b) };
        let first = self.reg(a);
        let upper = if let Some(bits) = self.splat_bits(b) {
            self.splat_constant(bits & ODD, ty)
        } else {
            let (b, odd) = (self.reg(b), self.splat_constant(ODD, ty));
            self.v3(t::PAND, len, false, b, odd)
        };
        let second = self.reg(b);
        let low = self.v3(t::PMULLW, len, false, first, second);
        let even = self.splat_source(EVEN, ty);
        let low = self.v3(t::PAND, len, false, low, even);
        let high = self.shift_imm(t::PSRLW_IMM, len, false, first, 8);
        let high = self.v3(t::PMULLW, len, false, high, upper);
        self.v3(t::POR, len, false, low, high)
    }

    /// Computes the high 32 bits of products. Multiplies even and odd lanes separately.
    fn multiply_high32(&mut self, signed: bool, a: Value, b: Value, len: u8) -> VReg {
        let product = if signed { t::PMULDQ } else { t::PMULUDQ };
        let [(a, odd_a), (b, odd_b)] = [a, b].map(|value| {
            let reg = self.reg(value);
            // If all lanes are equal, the even lanes are also the odd ones.
            (reg, if self.has_equal_lanes(value) { reg } else { self.shift_imm(t::PSRLQ_IMM, len, true, reg, 32) })
        });
        let (even, odd) = (self.v3(product, len, true, a, b), self.v3(product, len, true, odd_a, odd_b));
        let even = self.shift_imm(t::PSRLQ_IMM, len, true, even, 32);
        if !self.avx512() {
            const ODD_LANES: u8 = 0b1010_1010;
            return self.v3_imm(t::PBLENDD, len, false, even, odd, ODD_LANES);
        }
        const FIRST_OR_BOTH_OTHERS: u8 = 0xF8;
        let upper = self.splat_constant(0xFFFF_FFFF_0000_0000, Type::Vector(Elem::I64, 2 << len));
        let to = self.vec();
        self.push(InstBuilder::new(t::PTERNLOG).len(len).wide(true).tied(even, to).vvvv(odd).rm_reg(upper).imm(FIRST_OR_BOTH_OTHERS));
        to
    }

    fn has_equal_lanes(&self, value: Value) -> bool {
        self.splat_bits(value).is_some() || matches!(self.plan.defs[value.index()], Some(Inst { op: Op::Splat(_), .. }))
    }

    fn vector_shift(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        if let Some(amount) = self.splat_bits(b) {
            let a = self.reg(a);
            return self.shift_by(op, a, amount as u8 & if wide { 63 } else { 31 }, ty);
        }
        let new = self.avx512();
        let opcode = match op {
            BinOp::Shl => t::PSLLV,
            BinOp::LShr => t::PSRLV,
            BinOp::AShr if !wide => t::PSRAV,
            BinOp::AShr if new => t::PSRAV.evex(),
            BinOp::AShr => {
                let (a, b) = (self.reg(a), self.reg(b));
                return self.arithmetic64(a, ty, |this, x| this.v3(t::PSRLV, len, true, x, b));
            }
            _ if new => t::PROLV,
            _ => {
                let (a, b) = (self.reg(a), self.reg(b));
                return self.rotate(a, b, ty);
            }
        };
        let b = self.source(b, true);
        let a = self.reg(a);
        self.v3(opcode, len, wide, a, b)
    }

    fn shift_by(&mut self, op: BinOp, a: VReg, amount: u8, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        let (left, right) = if wide { (t::PSLLQ_IMM, t::PSRLQ_IMM) } else { (t::PSLLD_IMM, t::PSRLD_IMM) };
        match op {
            // More execution units add than shift.
            BinOp::Shl if amount == 1 => self.v3(if wide { t::PADDQ } else { t::PADDD }, len, wide, a, a),
            BinOp::Shl => self.shift_imm(left, len, wide, a, amount),
            BinOp::LShr => self.shift_imm(right, len, wide, a, amount),
            BinOp::AShr if !wide => self.shift_imm(t::PSRAD_IMM, len, false, a, amount),
            BinOp::AShr if self.avx512() => self.shift_imm(t::PSRAD_IMM.evex(), len, true, a, amount),
            BinOp::AShr => self.arithmetic64(a, ty, |this, x| this.shift_imm(t::PSRLQ_IMM, len, true, x, amount)),
            _ if self.avx512() => self.shift_imm(t::PROL_IMM, len, wide, a, amount),
            _ if amount == 0 => a,
            _ if amount.is_multiple_of(8) => self.rotate_bytes(a, amount / 8, ty),
            _ => {
                let high = self.shift_by(BinOp::Shl, a, amount, ty);
                let low = self.shift_imm(right, len, wide, a, if wide { 64 } else { 32 } - amount);
                self.v3(t::POR, len, false, high, low)
            }
        }
    }

    /// Shifts 64-bit lanes right arithmetically with AVX2: complements negative lanes before and after a logical shift.
    fn arithmetic64(&mut self, a: VReg, ty: Type, shift: impl FnOnce(&mut Self, VReg) -> VReg) -> VReg {
        let len = length(ty);
        let zero = self.zero();
        let negative = self.v3(t::PCMPGTQ, len, false, zero, a);
        let positive = self.v3(t::PXOR, len, false, a, negative);
        let shifted = shift(self, positive);
        self.v3(t::PXOR, len, false, shifted, negative)
    }

    /// Rotates left by a number of bytes, with a shuffle of bytes or words instead of two shifts and a disjunction.
    fn rotate_bytes(&mut self, a: VReg, count: u8, ty: Type) -> VReg {
        const SWAP_WORDS: u8 = 0b1011_0001;
        let (len, size) = (length(ty), if wide(ty) { 8 } else { 4 });
        if size == 8 && count == 4 {
            return self.v2_imm(t::PSHUFD, len, false, a, SWAP_WORDS);
        }
        let order = std::array::from_fn(|at| {
            let at = at as u8;
            at / size * size + (at + size - count) % size
        });
        let order = self.repeated(order, len);
        self.v3(t::PSHUFB, len, false, a, order)
    }

    /// Rotates with two shifts. A shift by the lane size gives 0.
    fn rotate(&mut self, a: VReg, b: VReg, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        let width = if wide { 64 } else { 32 };
        let last = self.splat_source(width - 1, ty);
        let left = self.v3(t::PAND, len, false, b, last);
        let all = self.splat_constant(width, ty);
        let right = self.v3(if wide { t::PSUBQ } else { t::PSUBD }, len, false, all, left);
        let (high, low) = (self.v3(t::PSLLV, len, wide, a, left), self.v3(t::PSRLV, len, wide, a, right));
        self.v3(t::POR, len, false, high, low)
    }

    pub(super) fn splat(&mut self, a: Value, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        let from = self.source(a, false);
        let to = self.vec();
        let opcode = if wide { t::PBROADCASTQ } else { t::PBROADCASTD };
        let RegMem::Reg(reg) = from else {
            self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).rm(from));
            return to;
        };
        if !self.ty(a).is_general() {
            let opcode = match (wide, len) {
                (true, 0) => t::PBROADCASTQ,
                (true, _) => t::BROADCASTSD,
                (false, _) => t::BROADCASTSS,
            };
            self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).rm(reg));
        } else if self.avx512() {
            self.push(InstBuilder::new(t::BROADCAST_GPR).len(len).wide(wide).def(to).rm_reg(reg));
        } else {
            let low = self.vec();
            self.push(InstBuilder::new(t::MOVD_TO).wide(wide).def(low).rm(reg));
            self.push(InstBuilder::new(opcode).len(len).wide(wide).def(to).rm(low));
        }
        to
    }
}
