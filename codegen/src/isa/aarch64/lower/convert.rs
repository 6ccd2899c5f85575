//! Conversions between elements.

use regalloc2::VReg;

use super::super::inst::InstBuilder;
use super::super::regs::{INT, VEC};
use super::super::table as t;
use super::context::{Lower, bytes, wide};
use crate::vir::{CastOp, Elem, Type, Value};

impl Lower<'_> {
    pub(super) fn cast(&mut self, op: CastOp, a: Value, ty: Type) -> VReg {
        match ty {
            Type::Scalar(to) => self.cast_scalar(op, a, to),
            _ if self.is_long(ty) => self.long_cast(op, a, ty),
            _ => self.cast_vector(op, a, ty),
        }
    }

    fn cast_scalar(&mut self, op: CastOp, a: Value, to: Elem) -> VReg {
        let from = self.ty(a).elem().unwrap_or(to);
        if op == CastOp::SExt
            && let Some(reg) = self.extend_shifted(a)
        {
            return reg;
        }
        let reg = self.reg(a);
        let (from_long, to_long) = (from.bits() == 64, to.bits() == 64);
        match op {
            CastOp::Bitcast if from.is_float() == to.is_float() => reg,
            CastOp::Bitcast if to.is_float() => self.move_to_float(to_long, reg),
            CastOp::Bitcast => self.move_to_general(to_long, reg),
            CastOp::Trunc => reg,
            CastOp::ZExt if self.is_extended(a) => reg,
            CastOp::SExt | CastOp::ZExt => {
                let to = self.extend(reg, op == CastOp::SExt);
                self.extensions.insert(to, (reg, op == CastOp::SExt, self.out.current_block()));
                to
            }
            CastOp::SToF => self.unary(if from_long { t::SCVTF_X } else { t::SCVTF_W }, to_long, reg),
            CastOp::UToF => self.unary(if from_long { t::UCVTF_X } else { t::UCVTF_W }, to_long, reg),
            CastOp::FToS => self.unary(if to_long { t::FCVTZS_X } else { t::FCVTZS_W }, from_long, reg),
            CastOp::FToU => self.unary(if to_long { t::FCVTZU_X } else { t::FCVTZU_W }, from_long, reg),
            CastOp::FToF if from == to => reg,
            CastOp::FToF => self.unary(if to_long { t::FCVT_S_TO_D } else { t::FCVT_D_TO_S }, false, reg),
        }
    }

    fn cast_vector(&mut self, op: CastOp, a: Value, ty: Type) -> VReg {
        let a = self.reg(a);
        let opcode = match op {
            CastOp::Bitcast | CastOp::FToF => return a,
            CastOp::SToF => t::SCVTF_V,
            CastOp::UToF => t::UCVTF_V,
            CastOp::FToS => t::FCVTZS_V,
            CastOp::FToU => t::FCVTZU_V,
            op => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        self.unary(opcode, wide(ty), a)
    }

    pub(super) fn widen(&mut self, op: CastOp, a: Value, part: u8, ty: Type) -> VReg {
        if self.is_long(ty) || self.is_long(self.ty(a)) {
            return self.long_widen(op, a, part, ty);
        }
        let a = self.reg(a);
        let upper = part > 0;
        let (widening, then) = match op {
            CastOp::SExt => (if upper { t::SXTL2_2D } else { t::SXTL_2D }, None),
            CastOp::ZExt => (if upper { t::UXTL2_2D } else { t::UXTL_2D }, None),
            CastOp::SToF => (if upper { t::SXTL2_2D } else { t::SXTL_2D }, Some(t::SCVTF_V)),
            CastOp::UToF => (if upper { t::UXTL2_2D } else { t::UXTL_2D }, Some(t::UCVTF_V)),
            CastOp::FToF => (if upper { t::FCVTL2_2D } else { t::FCVTL_2D }, None),
            CastOp::FToS => (if upper { t::FCVTL2_2D } else { t::FCVTL_2D }, Some(t::FCVTZS_V)),
            CastOp::FToU => (if upper { t::FCVTL2_2D } else { t::FCVTL_2D }, Some(t::FCVTZU_V)),
            op => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        let wider = self.unary(widening, true, a);
        match then {
            Some(opcode) => self.unary(opcode, true, wider),
            None => wider,
        }
    }

    pub(super) fn narrow(&mut self, op: CastOp, list: &[Value], ty: Type) -> VReg {
        // SVE also converts vectors of 64-bit integers to singles. Advanced SIMD has no such instruction.
        let sixteen = list.len() == 2 && list.iter().all(|part| bytes(self.ty(*part)) == 16);
        if self.is_long(ty) || self.sve() && (!sixteen || matches!(op, CastOp::SToF | CastOp::UToF)) {
            return self.long_narrow(op, list, ty);
        }
        let &[low, high] = list else { return self.unsupported(format!("{op:?} of {} vectors", list.len()), VEC) };
        let parts = [self.reg(low), self.reg(high)];
        let [low, high] = match op {
            CastOp::Trunc => parts,
            CastOp::FToS => parts.map(|part| self.unary(t::FCVTZS_V, true, part)),
            CastOp::FToU => parts.map(|part| self.unary(t::FCVTZU_V, true, part)),
            CastOp::FToF => {
                let low = self.unary(t::FCVTN_2S, true, parts[0]);
                return self.tied_unary(t::FCVTN2_4S, true, low, parts[1]);
            }
            CastOp::SToF => return self.integers_to_singles(t::SCVTF_X, parts),
            CastOp::UToF => return self.integers_to_singles(t::UCVTF_X, parts),
            op => return self.unsupported(format!("{op:?} to {ty}"), self.class(ty)),
        };
        self.binary(t::UZP1, false, low, high)
    }

    /// Converts each lane separately. A conversion through `f64` would round twice.
    fn integers_to_singles(&mut self, opcode: super::super::inst::Opcode, parts: [VReg; 2]) -> VReg {
        const DOUBLE_WORD: u32 = 3;
        const WORD: u32 = 2;
        let mut all = None;
        for (part, from) in (0..).zip(parts) {
            for lane in 0..2 {
                let integer = match lane {
                    0 => self.move_to_general(true, from),
                    lane => self.result(InstBuilder::new(t::UMOV).wide(true).n(from).lane(DOUBLE_WORD, lane)),
                };
                let single = self.unary(opcode, false, integer);
                all = Some(match all {
                    None => single,
                    Some(before) => {
                        let to = self.vec();
                        let builder = InstBuilder::new(t::INS_LANE).tied(before, to).n(single);
                        self.push(builder.lane(WORD, 2 * part + lane).source_lane(WORD, 0));
                        to
                    }
                });
            }
        }
        all.unwrap_or_else(|| self.unsupported("narrowing without operands".to_owned(), INT))
    }
}
