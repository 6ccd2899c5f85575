//! Floating-point operations on scalars.

use regalloc2::VReg;

use super::super::inst::{Cc, InstBuilder};
use super::super::regs::VEC;
use super::super::table as t;
use super::context::{Lower, wide};
use crate::vir::{BinOp, Rounding, TernOp, Type, UnOp, Value};

impl Lower<'_> {
    pub(super) fn float_bin(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> VReg {
        let (a, b, double) = (self.reg(a), self.reg(b), wide(ty));
        let opcode = match op {
            BinOp::FAdd => t::FADD,
            BinOp::FSub => t::FSUB,
            BinOp::FMul => t::FMUL,
            BinOp::FDiv => t::FDIV,
            // For NaNs and for zeros of different signs, the vector IR requires other results than those of `fmin` and
            // `fmax`.
            BinOp::FMin | BinOp::FMax => {
                let cc = if op == BinOp::FMin { Cc::Minus } else { Cc::Greater };
                self.push(InstBuilder::new(t::FCMP).wide(double).n(a).m(b));
                return self.result(InstBuilder::new(t::FCSEL).wide(double).n(a).m(b).condition(cc));
            }
            op => return self.unsupported(format!("floating-point {op:?}"), VEC),
        };
        self.binary(opcode, double, a, b)
    }

    pub(super) fn float_un(&mut self, op: UnOp, a: Value, ty: Type) -> VReg {
        let (a, double) = (self.reg(a), wide(ty));
        let opcode = match op {
            UnOp::Sqrt => t::FSQRT,
            UnOp::Round(Rounding::NearestEven) => t::FRINTN,
            UnOp::Round(Rounding::Down) => t::FRINTM,
            UnOp::Round(Rounding::Up) => t::FRINTP,
            UnOp::Round(Rounding::Zero) => t::FRINTZ,
            UnOp::RecipApprox => return self.reciprocal_estimate([t::FRECPE, t::FRECPS, t::FMUL], double, a),
            UnOp::RsqrtApprox => return self.reciprocal_root_estimate([t::FRSQRTE, t::FRSQRTS, t::FMUL], double, a),
            op => return self.unsupported(format!("floating-point {op:?}"), VEC),
        };
        self.unary(opcode, double, a)
    }

    pub(super) fn float_tern(&mut self, op: TernOp, [a, b, c]: [Value; 3], ty: Type) -> VReg {
        let (a, b, c) = (self.reg(a), self.reg(b), self.reg(c));
        let opcode = match op {
            TernOp::Fma => t::FMADD,
            TernOp::Fms => t::FNMSUB,
            TernOp::Fnma => t::FMSUB,
        };
        self.ternary(opcode, wide(ty), a, b, c)
    }
}
