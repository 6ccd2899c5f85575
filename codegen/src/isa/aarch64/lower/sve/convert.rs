//! Conversions of long vectors. Instructions that change the lane size use 64-bit lanes for both sizes, and the smaller
//! element is in the lower half of its lane.

use regalloc2::VReg;

use super::super::super::inst::Opcode;
use super::super::super::regs::VEC;
use super::super::super::table as t;
use super::super::context::{Lower, wide};
use crate::vir::{CastOp, Type, Value};

impl Lower<'_> {
    pub(in super::super) fn long_cast(&mut self, op: CastOp, a: Value, ty: Type) -> VReg {
        let a = self.reg(a);
        let [single, double] = match op {
            CastOp::Bitcast | CastOp::FToF => return a,
            CastOp::SToF => [t::SCVTF_Z, t::SCVTF_ZD],
            CastOp::UToF => [t::UCVTF_Z, t::UCVTF_ZD],
            CastOp::FToS => [t::FCVTZS_Z, t::FCVTZS_ZD],
            CastOp::FToU => [t::FCVTZU_Z, t::FCVTZU_ZD],
            op => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        self.z_unary(if wide(ty) { double } else { single }, wide(ty), a)
    }

    pub(in super::super) fn long_widen(&mut self, op: CastOp, a: Value, part: u8, ty: Type) -> VReg {
        let unsigned = [t::UUNPKLO, t::UUNPKHI];
        let (unpack, then): ([Opcode; 2], _) = match op {
            CastOp::SExt => ([t::SUNPKLO, t::SUNPKHI], None),
            CastOp::ZExt => (unsigned, None),
            CastOp::SToF => (unsigned, Some(t::SCVTF_Z_WIDEN)),
            CastOp::UToF => (unsigned, Some(t::UCVTF_Z_WIDEN)),
            CastOp::FToF => (unsigned, Some(t::FCVT_Z_S_TO_D)),
            CastOp::FToS => (unsigned, Some(t::FCVTZS_Z_WIDEN)),
            CastOp::FToU => (unsigned, Some(t::FCVTZU_Z_WIDEN)),
            op => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        let a = self.reg(a);
        let lanes = self.unpack_words(unpack, a, u32::from(part) * u32::from(ty.lanes()));
        match then {
            Some(opcode) => self.z_unary(opcode, true, lanes),
            None => lanes,
        }
    }

    pub(in super::super) fn long_narrow(&mut self, op: CastOp, list: &[Value], ty: Type) -> VReg {
        let convert = match op {
            CastOp::Trunc => None,
            CastOp::FToS => Some(t::FCVTZS_Z_NARROW),
            CastOp::FToU => Some(t::FCVTZU_Z_NARROW),
            CastOp::FToF => Some(t::FCVT_Z_D_TO_S),
            CastOp::SToF => Some(t::SCVTF_Z_NARROW),
            CastOp::UToF => Some(t::UCVTF_Z_NARROW),
            op => return self.unsupported(format!("{op:?} to {ty}"), VEC),
        };
        let lanes = list.first().map_or(1, |part| u32::from(self.ty(*part).lanes()));
        let parts: Vec<VReg> = list.iter().map(|part| self.reg(*part)).collect();
        let parts: Vec<VReg> = parts.into_iter().map(|part| convert.map_or(part, |opcode| self.z_unary(opcode, true, part))).collect();
        self.pack_low_words(&parts, lanes)
    }
}
