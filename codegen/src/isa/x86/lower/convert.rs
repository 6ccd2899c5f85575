//! Conversions between elements.

use regalloc2::VReg;

use super::super::inst::{InstBuilder, Opcode, RegMem, Tuple};
use super::super::regs::{INT, VEC};
use super::super::table::{self as t, alu, shift};
use super::context::{Lower, length, wide};
use crate::vir::{CastOp, Elem, Type, Value};

/// The bits of 2^31 as `f32`, of 2^52 as `f64`, and of 2^63 as `f32` and as `f64`.
const TWO_31: u64 = 0x4F00_0000;
const TWO_52: u64 = 0x4330_0000_0000_0000;
const TWO_63: [u64; 2] = [0x5F00_0000, 0x43E0_0000_0000_0000];

impl Lower<'_> {
    pub(super) fn cast(&mut self, op: CastOp, a: Value, ty: Type) -> VReg {
        match ty {
            Type::Scalar(to) => self.cast_scalar(op, a, to),
            _ => self.cast_vector(op, a, ty),
        }
    }

    fn cast_scalar(&mut self, op: CastOp, a: Value, to: Elem) -> VReg {
        let from = self.ty(a).elem().unwrap_or(to);
        match op {
            CastOp::Bitcast if from.is_float() == to.is_float() => self.reg(a),
            CastOp::Bitcast if to.is_float() => {
                let (from, reg) = (self.source(a, false), self.vec());
                self.push(InstBuilder::new(t::MOVD_TO).wide(to == Elem::F64).def(reg).rm(from));
                reg
            }
            CastOp::Bitcast => {
                let (from, reg) = (self.reg(a), self.int());
                self.push(InstBuilder::new(t::MOVD_FROM).wide(to == Elem::I64).reg(from).rm_def(reg));
                reg
            }
            CastOp::Trunc => self.reg(a),
            CastOp::ZExt if self.is_extended(a) => self.reg(a),
            CastOp::SExt | CastOp::ZExt => {
                let from = self.source(a, false);
                self.extend(from, op == CastOp::SExt)
            }
            CastOp::SToF => {
                let from = self.source(a, false);
                self.int_to_float(t::CVTSI2S, from, wide(self.ty(a)), to)
            }
            CastOp::UToF => self.unsigned_to_float(a, to),
            CastOp::FToS => {
                let from = self.source(a, false);
                self.float_to_int(t::CVTTS2SI, from, self.ty(a), to == Elem::I64)
            }
            CastOp::FToU => self.float_to_unsigned(a, to),
            CastOp::FToF if from == to => self.reg(a),
            CastOp::FToF => {
                let a = self.reg(a);
                self.v3(t::CVTS2S.of(from, true), 0, from == Elem::F64, a, a)
            }
        }
    }

    /// Converts an integer to a scalar float. Zeroes the destination first, to break the dependency on its old value.
    fn int_to_float(&mut self, opcode: Opcode, from: impl Into<RegMem>, wide: bool, to: Elem) -> VReg {
        let zero = self.zero();
        self.v3(opcode.of(to, true), 0, wide, zero, from)
    }

    fn float_to_int(&mut self, opcode: Opcode, from: impl Into<RegMem>, ty: Type, wide: bool) -> VReg {
        let elem = ty.elem().unwrap_or(Elem::F32);
        let opcode = Opcode { tuple: Tuple::Bytes(elem.bytes() as u8), ..opcode.of(elem, true) };
        let to = self.int();
        self.push(InstBuilder::new(opcode).wide(wide).def(to).rm(from));
        to
    }

    fn unsigned_to_float(&mut self, a: Value, to: Elem) -> VReg {
        let wide = wide(self.ty(a));
        if self.avx512() {
            let from = self.source(a, false);
            return self.int_to_float(t::CVTUSI2S, from, wide, to);
        }
        if !wide {
            let from = self.source(a, false);
            let from = self.extend(from, false);
            return self.int_to_float(t::CVTSI2S, from, true, to);
        }
        // If the top bit is set: shift right by 1, `or` the lost bit into the lowest bit for rounding, convert, and
        // double.
        let a = self.reg(a);
        let half = self.shift(shift::SHR, true, a, 1);
        let last = self.alu_imm(alu::AND, true, a, 1);
        let half = self.alu(t::OR_R, true, half, last);
        let sign = self.shift(shift::SAR, true, a, 63);
        let differs = self.alu(t::XOR_R, true, half, a);
        let differs = self.alu(t::AND_R, true, differs, sign);
        let from = self.alu(t::XOR_R, true, a, differs);
        let once = self.int_to_float(t::CVTSI2S, from, true, to);
        let mask = self.vec();
        self.push(InstBuilder::new(t::MOVD_TO).wide(true).def(mask).rm_reg(sign));
        let again = self.v3(t::AND_FP, 0, false, once, mask);
        self.v3(t::ADD.of(to, true), 0, to == Elem::F64, once, again)
    }

    fn float_to_unsigned(&mut self, a: Value, to: Elem) -> VReg {
        let ty = self.ty(a);
        let wide_result = to == Elem::I64;
        if self.avx512() {
            let from = self.source(a, false);
            return self.float_to_int(t::CVTTS2USI, from, ty, wide_result);
        }
        let a = self.reg(a);
        let low = self.float_to_int(t::CVTTS2SI, a, ty, true);
        if !wide_result {
            return low;
        }
        // If the first conversion overflowed, its result is the minimum integer. The sign of this result selects the
        // second conversion.
        let double = wide(ty);
        let most = self.splat_source(TWO_63[usize::from(double)], ty);
        let elem = ty.elem().unwrap_or(Elem::F32);
        let rest = self.v3(t::SUB.of(elem, true), 0, double, a, most);
        let high = self.float_to_int(t::CVTTS2SI, rest, ty, true);
        let sign = self.shift(shift::SAR, true, low, 63);
        let high = self.alu(t::AND_R, true, high, sign);
        self.alu(t::OR_R, true, high, low)
    }

    fn cast_vector(&mut self, op: CastOp, a: Value, ty: Type) -> VReg {
        let (len, wide) = (length(ty), wide(ty));
        let opcode = match (op, wide) {
            (CastOp::Bitcast | CastOp::FToF, _) => return self.reg(a),
            (CastOp::SToF, false) => t::CVTDQ2PS,
            (CastOp::FToS, false) => t::CVTTPS2DQ,
            (_, true) if !self.avx512() => return self.unsupported(format!("{op:?} of {}", self.ty(a)), VEC),
            (CastOp::UToF, false) if !self.avx512() => {
                let a = self.reg(a);
                return self.words_to_floats(a, ty);
            }
            (CastOp::FToU, false) if !self.avx512() => {
                let a = self.reg(a);
                return self.floats_to_words(a, ty);
            }
            (CastOp::UToF, false) => t::CVTUDQ2PS,
            (CastOp::FToU, false) => t::CVTTPS2UDQ,
            (CastOp::SToF, true) => t::CVTQQ2PD,
            (CastOp::UToF, true) => t::CVTUQQ2PD,
            (CastOp::FToS, true) => t::CVTTPD2QQ,
            (CastOp::FToU, true) => t::CVTTPD2UQQ,
            (op, _) => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        let a = self.source(a, false);
        self.v2(opcode, len, wide, a)
    }

    /// Converts unsigned 32-bit lanes: inserts each 16-bit half as the mantissa of a float. Only the final sum is
    /// rounded.
    fn words_to_floats(&mut self, a: VReg, ty: Type) -> VReg {
        const LOW: u64 = 0x4B00_0000;
        const HIGH: u64 = 0x5300_0000;
        const BOTH: u64 = 0x5300_0080;
        let len = length(ty);
        let all = self.splat_source(0xFFFF, ty);
        let low = self.v3(t::PAND, len, false, a, all);
        let exponent = self.splat_source(LOW, ty);
        let low = self.v3(t::POR, len, false, low, exponent);
        let high = self.shift_imm(t::PSRLD_IMM, len, false, a, 16);
        let exponent = self.splat_source(HIGH, ty);
        let high = self.v3(t::POR, len, false, high, exponent);
        let both = self.splat_source(BOTH, ty);
        let high = self.v3(t::SUB, len, false, high, both);
        self.v3(t::ADD, len, false, high, low)
    }

    /// Converts to unsigned 32-bit lanes: subtracts 2^31 from numbers of at least 2^31, converts, and adds 2^31.
    fn floats_to_words(&mut self, a: VReg, ty: Type) -> VReg {
        const GREATER_OR_EQUAL: u8 = 29;
        let len = length(ty);
        let middle = self.splat_source(TWO_31, ty);
        let upper = self.v3_imm(t::CMP_FP, len, false, a, middle, GREATER_OR_EQUAL);
        let by = self.v3(t::PAND, len, false, upper, middle);
        let lower = self.v3(t::SUB, len, false, a, by);
        let number = self.v2(t::CVTTPS2DQ, len, false, lower);
        let sign = self.shift_imm(t::PSLLD_IMM, len, false, upper, 31);
        self.v3(t::PXOR, len, false, number, sign)
    }

    pub(super) fn widen(&mut self, op: CastOp, a: Value, part: u8, ty: Type) -> VReg {
        let len = length(ty);
        let opcode = match op {
            CastOp::SExt => t::PMOVSXDQ,
            CastOp::ZExt => t::PMOVZXDQ,
            CastOp::SToF => t::CVTDQ2PD,
            CastOp::FToF => t::CVTPS2PD,
            CastOp::UToF if self.avx512() => t::CVTUDQ2PD,
            CastOp::FToS if self.avx512() => t::CVTTPS2QQ,
            CastOp::FToU if self.avx512() => t::CVTTPS2UQQ,
            CastOp::UToF => {
                let from = self.narrow_source(a, part, ty.lanes());
                let number = self.v2(t::PMOVZXDQ, len, false, from);
                let exponent = self.splat_source(TWO_52, ty);
                let float = self.v3(t::POR, len, false, number, exponent);
                return self.v3(t::SUB.of(Elem::F64, false), len, true, float, exponent);
            }
            op => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        let from = self.narrow_source(a, part, ty.lanes());
        self.v2(opcode, len, false, from)
    }

    pub(super) fn narrow(&mut self, op: CastOp, list: &[Value], ty: Type) -> VReg {
        let len = length(self.ty(list[0]));
        let regs: Vec<VReg> = list.iter().map(|value| self.reg(*value)).collect();
        let new = self.avx512();
        let opcode = match op {
            CastOp::FToF => t::CVTPD2PS,
            CastOp::FToS => t::CVTTPD2DQ,
            CastOp::FToU if new => t::CVTTPD2UDQ,
            CastOp::SToF if new => t::CVTQQ2PS,
            CastOp::UToF if new => t::CVTUQQ2PS,
            CastOp::Trunc if new => {
                let narrow = |this: &mut Self, from: VReg| {
                    let to = this.vec();
                    this.push(InstBuilder::new(t::PMOVQD).len(len).reg(from).rm_def(to));
                    to
                };
                return self.narrow_each(&regs, len, narrow);
            }
            CastOp::Trunc => return self.join_low_words(&regs, len, length(ty)),
            CastOp::FToU => {
                let regs: Vec<VReg> = regs.iter().map(|reg| self.doubles_to_low_words(*reg, self.ty(list[0]))).collect();
                return self.join_low_words(&regs, len, length(ty));
            }
            op => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        self.narrow_each(&regs, len, |this, from| this.v2(opcode, len, true, from))
    }

    /// Converts to unsigned 32-bit integers: adds 2^52 to the truncated `f64`. The integer is then in the low mantissa
    /// bits.
    fn doubles_to_low_words(&mut self, a: VReg, ty: Type) -> VReg {
        const TOWARD_ZERO: u8 = 11;
        let len = length(ty);
        let whole = self.v2_imm(t::ROUND.plus(1), len, false, a, TOWARD_ZERO);
        let exponent = self.splat_source(TWO_52, ty);
        self.v3(t::ADD.of(Elem::F64, false), len, true, whole, exponent)
    }

    /// Narrows one or two vectors and concatenates the results.
    fn narrow_each(&mut self, regs: &[VReg], len: u8, narrow: impl Fn(&mut Self, VReg) -> VReg) -> VReg {
        let narrowed: Vec<VReg> = regs.iter().map(|reg| narrow(self, *reg)).collect();
        match (&narrowed[..], len) {
            ([one], _) => *one,
            ([low, high], 0) => self.join_halves(*low, *high),
            ([low, high], len) => self.join(*low, *high, len - 1),
            _ => self.unsupported(format!("narrowing of {} vectors", regs.len()), INT),
        }
    }
}
