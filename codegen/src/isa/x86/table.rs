//! Opcode tables.
//!
//! Names are prefixes of mnemonics. The functions define opcodes by their encodings:
//! - `x`: legacy, VEX and EVEX. VEX ignores W.
//! - `w`: VEX and EVEX. VEX uses W.
//! - `e`: EVEX only.
//! - `v`: VEX only.
//! - `g`: legacy only, as for general registers.
//! - `any`: the encodings in its flags.

use super::inst::{BARE, BYTE_REG, BYTE_RM, EVEX, LEGACY, LOCK, OPCODE_REG, Opcode, Tuple, VEX, WIG};
use crate::vir::Elem;

const P: u8 = 0;
const P66: u8 = 1;
const PF3: u8 = 2;
const PF2: u8 = 3;
const M0F: u8 = 1;
const M38: u8 = 2;
const M3A: u8 = 3;

const fn any(name: &'static str, pp: u8, map: u8, op: u8, flags: u16) -> Opcode {
    Opcode { name, pp, map, op, ext: 0, flags, tuple: Tuple::Full }
}

const fn x(name: &'static str, pp: u8, map: u8, op: u8) -> Opcode {
    any(name, pp, map, op, LEGACY | VEX | EVEX | WIG)
}

const fn w(name: &'static str, pp: u8, map: u8, op: u8) -> Opcode {
    any(name, pp, map, op, VEX | EVEX)
}

const fn e(name: &'static str, pp: u8, map: u8, op: u8) -> Opcode {
    any(name, pp, map, op, EVEX)
}

const fn v(name: &'static str, pp: u8, map: u8, op: u8) -> Opcode {
    any(name, pp, map, op, VEX)
}

const fn g(name: &'static str, pp: u8, map: u8, op: u8) -> Opcode {
    any(name, pp, map, op, LEGACY)
}

impl Opcode {
    const fn ext(mut self, ext: u8) -> Self {
        self.ext = ext;
        self
    }

    const fn tuple(mut self, tuple: Tuple) -> Self {
        self.tuple = tuple;
        self
    }

    const fn with(mut self, flags: u16) -> Self {
        self.flags |= flags;
        self
    }

    /// Returns the packed or scalar form of a floating-point instruction for an element.
    pub(super) const fn of(mut self, elem: Elem, scalar: bool) -> Self {
        let double = matches!(elem, Elem::F64 | Elem::I64);
        self.pp = match (scalar, double) {
            (false, false) => P,
            (false, true) => P66,
            (true, false) => PF3,
            (true, true) => PF2,
        };
        if scalar {
            self.tuple = Tuple::Elem;
        }
        self
    }

    /// Returns the packed or scalar form, for instructions whose scalar opcode is one higher than the packed opcode.
    pub(super) const fn lane(mut self, scalar: bool) -> Self {
        if scalar {
            self.op += 1;
            self.tuple = Tuple::Elem;
        }
        self
    }

    /// Returns another opcode of the same family: the opcode plus `by`.
    pub(super) const fn plus(mut self, by: u8) -> Self {
        self.op += by;
        self
    }

    /// Returns the instruction with another opcode extension in the same group.
    pub(super) const fn digit(mut self, ext: u8) -> Self {
        self.ext = ext;
        self
    }

    /// Returns the form with the prefix `lock`.
    pub(super) const fn locked(self) -> Self {
        self.with(LOCK)
    }
}

// Floating-point operations: `of` selects the prefix.
pub(super) const ADD: Opcode = x("add", P, M0F, 0x58);
pub(super) const MUL: Opcode = x("mul", P, M0F, 0x59);
pub(super) const SUB: Opcode = x("sub", P, M0F, 0x5C);
pub(super) const MIN: Opcode = x("min", P, M0F, 0x5D);
pub(super) const DIV: Opcode = x("div", P, M0F, 0x5E);
pub(super) const MAX: Opcode = x("max", P, M0F, 0x5F);
pub(super) const SQRT: Opcode = x("sqrt", P, M0F, 0x51);
pub(super) const AND_FP: Opcode = x("andp", P, M0F, 0x54);
pub(super) const ANDN_FP: Opcode = x("andnp", P, M0F, 0x55);
pub(super) const OR_FP: Opcode = x("orp", P, M0F, 0x56);
pub(super) const XOR_FP: Opcode = x("xorp", P, M0F, 0x57);
pub(super) const CMP_FP: Opcode = x("cmp", P, M0F, 0xC2);
pub(super) const MOVU: Opcode = x("mov", P, M0F, 0x10);
pub(super) const MOVU_STORE: Opcode = x("mov", P, M0F, 0x11);
pub(super) const MOVA: Opcode = x("movap", P, M0F, 0x28);
pub(super) const MOVA_STORE: Opcode = x("movap", P, M0F, 0x29);
pub(super) const SHUFP: Opcode = x("shufp", P, M0F, 0xC6);
pub(super) const UNPCKL: Opcode = x("unpcklp", P, M0F, 0x14);
pub(super) const UNPCKH: Opcode = x("unpckhp", P, M0F, 0x15);
/// Permutes lanes by indices in the first operand.
pub(super) const PERMPS: Opcode = w("permps", P66, M38, 0x16);
/// Permutes lanes within sixteen bytes, by indices in the last operand.
pub(super) const PERMILPS: Opcode = w("permilps", P66, M38, 0x0C);
pub(super) const PBLENDD: Opcode = v("pblendd", P66, M3A, 0x02);
pub(super) const PERM2F128: Opcode = v("perm2f128", P66, M3A, 0x06);
pub(super) const BLEND_IMM: Opcode = any("blendps", P66, M3A, 0x0C, VEX | WIG);
pub(super) const UCOMI: Opcode = x("ucomis", P, M0F, 0x2E).tuple(Tuple::Elem);
pub(super) const MOVMSK: Opcode = any("movmskp", P, M0F, 0x50, VEX | WIG);
pub(super) const RCP: Opcode = any("rcp", P, M0F, 0x53, LEGACY | VEX | WIG);
pub(super) const RSQRT: Opcode = any("rsqrt", P, M0F, 0x52, LEGACY | VEX | WIG);
pub(super) const RCP14: Opcode = e("rcp14", P66, M38, 0x4C);
pub(super) const RSQRT14: Opcode = e("rsqrt14", P66, M38, 0x4E);
/// Rounds packed singles. `plus(1)` rounds packed doubles, `plus(2)` one single, and `plus(3)` one double.
pub(super) const ROUND: Opcode = any("round", P66, M3A, 0x08, LEGACY | VEX | WIG);
/// Has the same forms as [`ROUND`].
pub(super) const RNDSCALE: Opcode = e("rndscale", P66, M3A, 0x08);
/// The packed 132 form of `a * b + c`. `plus(16)` is the 213 form, and `plus(32)` the 231 form. An offset of 2 more
/// subtracts `c`, and an offset of 4 more negates the product.
pub(super) const FMA: Opcode = w("f", P66, M38, 0x98);

// Vector integer operations.
pub(super) const PADDD: Opcode = x("paddd", P66, M0F, 0xFE);
pub(super) const PADDQ: Opcode = x("paddq", P66, M0F, 0xD4);
pub(super) const PSUBD: Opcode = x("psubd", P66, M0F, 0xFA);
pub(super) const PSUBQ: Opcode = x("psubq", P66, M0F, 0xFB);
pub(super) const PMULLD: Opcode = x("pmull", P66, M38, 0x40);
pub(super) const PMULUDQ: Opcode = x("pmuludq", P66, M0F, 0xF4);
pub(super) const PMULDQ: Opcode = x("pmuldq", P66, M38, 0x28);
pub(super) const PAND: Opcode = x("pand", P66, M0F, 0xDB);
pub(super) const PANDN: Opcode = x("pandn", P66, M0F, 0xDF);
pub(super) const POR: Opcode = x("por", P66, M0F, 0xEB);
pub(super) const PXOR: Opcode = x("pxor", P66, M0F, 0xEF);
pub(super) const PMINS: Opcode = x("pmins", P66, M38, 0x39);
pub(super) const PMINU: Opcode = x("pminu", P66, M38, 0x3B);
pub(super) const PMAXS: Opcode = x("pmaxs", P66, M38, 0x3D);
pub(super) const PMAXU: Opcode = x("pmaxu", P66, M38, 0x3F);
pub(super) const PSLLV: Opcode = w("psllv", P66, M38, 0x47);
pub(super) const PSRLV: Opcode = w("psrlv", P66, M38, 0x45);
pub(super) const PSRAV: Opcode = w("psrav", P66, M38, 0x46);
pub(super) const PROLV: Opcode = e("prolv", P66, M38, 0x15);
pub(super) const PSRLD_IMM: Opcode = x("psrld", P66, M0F, 0x72).ext(2);
pub(super) const PSRAD_IMM: Opcode = x("psra", P66, M0F, 0x72).ext(4);
pub(super) const PSLLD_IMM: Opcode = x("pslld", P66, M0F, 0x72).ext(6);
pub(super) const PSRLQ_IMM: Opcode = x("psrlq", P66, M0F, 0x73).ext(2);
pub(super) const PSLLQ_IMM: Opcode = x("psllq", P66, M0F, 0x73).ext(6);
pub(super) const PROL_IMM: Opcode = e("prol", P66, M0F, 0x72).ext(1);
pub(super) const PERMI2: Opcode = e("permi2", P66, M38, 0x76);
pub(super) const PCMPEQD: Opcode = x("pcmpeqd", P66, M0F, 0x76);
pub(super) const PCMPEQQ: Opcode = x("pcmpeqq", P66, M38, 0x29);
pub(super) const PCMPGTD: Opcode = x("pcmpgtd", P66, M0F, 0x66);
pub(super) const PCMPGTQ: Opcode = x("pcmpgtq", P66, M38, 0x37);
pub(super) const PCMP: Opcode = e("pcmp", P66, M3A, 0x1F);
pub(super) const PCMPU: Opcode = e("pcmp", P66, M3A, 0x1E);
pub(super) const PTERNLOG: Opcode = e("pternlog", P66, M3A, 0x25);
pub(super) const PLZCNT: Opcode = e("plzcnt", P66, M38, 0x44);
pub(super) const PSHUFB: Opcode = x("pshufb", P66, M38, 0x00);
pub(super) const PMADDUBSW: Opcode = x("pmaddubsw", P66, M38, 0x04);
pub(super) const PMADDWD: Opcode = x("pmaddwd", P66, M0F, 0xF5);
pub(super) const PSADBW: Opcode = x("psadbw", P66, M0F, 0xF6);
pub(super) const PADDB: Opcode = x("paddb", P66, M0F, 0xFC);
pub(super) const PSUBB: Opcode = x("psubb", P66, M0F, 0xF8);
pub(super) const PADDW: Opcode = x("paddw", P66, M0F, 0xFD);
pub(super) const PSUBW: Opcode = x("psubw", P66, M0F, 0xF9);
pub(super) const PMULLW: Opcode = x("pmullw", P66, M0F, 0xD5);
pub(super) const PSRLW_IMM: Opcode = x("psrlw", P66, M0F, 0x71).ext(2);
pub(super) const PACKUSDW: Opcode = x("packusdw", P66, M38, 0x2B);
pub(super) const PACKUSWB: Opcode = x("packuswb", P66, M0F, 0x67);
pub(super) const PSHUFD: Opcode = x("pshufd", P66, M0F, 0x70);
pub(super) const PUNPCKLQDQ: Opcode = x("punpcklqdq", P66, M0F, 0x6C);
pub(super) const PERMQ: Opcode = w("permq", P66, M3A, 0x00);
pub(super) const PTEST: Opcode = any("ptest", P66, M38, 0x17, VEX | WIG);
pub(super) const BLENDV: Opcode = v("blendvps", P66, M3A, 0x4A);
pub(super) const BLENDM_FP: Opcode = e("blendm", P66, M38, 0x65);
pub(super) const BLENDM: Opcode = e("pblendm", P66, M38, 0x64);

// Moves between lanes and between sizes.
pub(super) const BROADCAST_GPR: Opcode = e("pbroadcast", P66, M38, 0x7C);
pub(super) const BROADCASTSS: Opcode = w("broadcastss", P66, M38, 0x18).tuple(Tuple::Bytes(4));
pub(super) const BROADCASTSD: Opcode = w("broadcastsd", P66, M38, 0x19).with(WIG).tuple(Tuple::Bytes(8));
pub(super) const PBROADCASTD: Opcode = w("pbroadcastd", P66, M38, 0x58).tuple(Tuple::Bytes(4));
pub(super) const PBROADCASTQ: Opcode = w("pbroadcastq", P66, M38, 0x59).with(WIG).tuple(Tuple::Bytes(8));
pub(super) const EXTRACT128: Opcode = w("extract", P66, M3A, 0x39).tuple(Tuple::Bytes(16));
pub(super) const EXTRACT256: Opcode = e("extract", P66, M3A, 0x3B).tuple(Tuple::Bytes(32));
pub(super) const INSERT128: Opcode = w("insert", P66, M3A, 0x38).tuple(Tuple::Bytes(16));
pub(super) const INSERT256: Opcode = e("insert", P66, M3A, 0x3A).tuple(Tuple::Bytes(32));
pub(super) const PEXTR: Opcode = any("pextr", P66, M3A, 0x16, LEGACY | VEX | EVEX).tuple(Tuple::Elem);
pub(super) const PEXTRB: Opcode = any("pextrb", P66, M3A, 0x14, VEX | WIG).tuple(Tuple::Bytes(1));
pub(super) const PEXTRW: Opcode = any("pextrw", P66, M3A, 0x15, VEX | WIG).tuple(Tuple::Bytes(2));
pub(super) const PINSRB: Opcode = any("pinsrb", P66, M3A, 0x20, VEX | WIG).tuple(Tuple::Bytes(1));
pub(super) const PINSRW: Opcode = any("pinsrw", P66, M0F, 0xC4, VEX | WIG).tuple(Tuple::Bytes(2));
pub(super) const PMOVSXDQ: Opcode = x("pmovsxdq", P66, M38, 0x25).tuple(Tuple::Half);
pub(super) const PMOVZXDQ: Opcode = x("pmovzxdq", P66, M38, 0x35).tuple(Tuple::Half);
pub(super) const PMOVZXBD: Opcode = x("pmovzxbd", P66, M38, 0x31).tuple(Tuple::Quarter);
pub(super) const PMOVZXWD: Opcode = x("pmovzxwd", P66, M38, 0x33).tuple(Tuple::Half);
pub(super) const PMOVDB: Opcode = e("pmovdb", PF3, M38, 0x31).tuple(Tuple::Quarter);
pub(super) const PMOVDW: Opcode = e("pmovdw", PF3, M38, 0x33).tuple(Tuple::Half);
pub(super) const PMOVQD: Opcode = e("pmovqd", PF3, M38, 0x35).tuple(Tuple::Half);

// Conversions.
pub(super) const CVTDQ2PS: Opcode = x("cvtdq2ps", P, M0F, 0x5B);
pub(super) const CVTTPS2DQ: Opcode = x("cvttps2dq", PF3, M0F, 0x5B);
pub(super) const CVTUDQ2PS: Opcode = e("cvtudq2ps", PF2, M0F, 0x7A);
pub(super) const CVTTPS2UDQ: Opcode = e("cvttps2udq", P, M0F, 0x78);
pub(super) const CVTQQ2PD: Opcode = e("cvtqq2pd", PF3, M0F, 0xE6);
pub(super) const CVTUQQ2PD: Opcode = e("cvtuqq2pd", PF3, M0F, 0x7A);
pub(super) const CVTTPD2QQ: Opcode = e("cvttpd2qq", P66, M0F, 0x7A);
pub(super) const CVTTPD2UQQ: Opcode = e("cvttpd2uqq", P66, M0F, 0x78);
pub(super) const CVTDQ2PD: Opcode = x("cvtdq2pd", PF3, M0F, 0xE6).tuple(Tuple::Half);
pub(super) const CVTUDQ2PD: Opcode = e("cvtudq2pd", PF3, M0F, 0x7A).tuple(Tuple::Half);
pub(super) const CVTPS2PD: Opcode = x("cvtps2pd", P, M0F, 0x5A).tuple(Tuple::Half);
pub(super) const CVTTPS2QQ: Opcode = e("cvttps2qq", P66, M0F, 0x7A).tuple(Tuple::Half);
pub(super) const CVTTPS2UQQ: Opcode = e("cvttps2uqq", P66, M0F, 0x78).tuple(Tuple::Half);
pub(super) const CVTPD2PS: Opcode = x("cvtpd2ps", P66, M0F, 0x5A);
pub(super) const CVTTPD2DQ: Opcode = x("cvttpd2dq", P66, M0F, 0xE6);
pub(super) const CVTTPD2UDQ: Opcode = e("cvttpd2udq", P, M0F, 0x78);
pub(super) const CVTQQ2PS: Opcode = e("cvtqq2ps", P, M0F, 0x5B);
pub(super) const CVTUQQ2PS: Opcode = e("cvtuqq2ps", PF2, M0F, 0x7A);
pub(super) const CVTPH2PS: Opcode = w("cvtph2ps", P66, M38, 0x13).tuple(Tuple::Half);
pub(super) const CVTPS2PH: Opcode = w("cvtps2ph", P66, M3A, 0x1D).tuple(Tuple::Half);
/// Scalars only. `of` selects the prefix for the float, W the size of the integer.
pub(super) const CVTSI2S: Opcode = any("cvtsi2s", PF3, M0F, 0x2A, LEGACY | VEX | EVEX);
pub(super) const CVTTS2SI: Opcode = any("cvtts", PF3, M0F, 0x2C, LEGACY | VEX | EVEX);
pub(super) const CVTUSI2S: Opcode = e("cvtusi2s", PF3, M0F, 0x7B);
pub(super) const CVTTS2USI: Opcode = e("cvtts", PF3, M0F, 0x78);
pub(super) const CVTS2S: Opcode = x("cvts", PF3, M0F, 0x5A);
/// Moves to and from general registers.
pub(super) const MOVD_TO: Opcode = any("mov", P66, M0F, 0x6E, LEGACY | VEX | EVEX).tuple(Tuple::Elem);
pub(super) const MOVD_FROM: Opcode = any("mov", P66, M0F, 0x7E, LEGACY | VEX | EVEX).tuple(Tuple::Elem);

// Masked and indexed memory.
pub(super) const MASKMOV_LOAD: Opcode = v("maskmovp", P66, M38, 0x2C);
pub(super) const MASKMOV_STORE: Opcode = v("maskmovp", P66, M38, 0x2E);
/// Gathers integers with 32-bit indices. `plus(1)` is the form for 64-bit indices. An offset of 2 more is the form for
/// floats.
pub(super) const GATHER: Opcode = w("", P66, M38, 0x90).tuple(Tuple::Elem);
/// Has the same forms as [`GATHER`].
pub(super) const SCATTER: Opcode = e("", P66, M38, 0xA0).tuple(Tuple::Elem);

// Mask registers: `pp` (66 or none) and W select the size.
pub(super) const KMOV_FROM_GPR: Opcode = v("kmov", PF2, M0F, 0x92);
pub(super) const KMOVB_TO_GPR: Opcode = v("kmovb", P66, M0F, 0x93);
pub(super) const KMOVW_TO_GPR: Opcode = v("kmovw", P, M0F, 0x93);
pub(super) const KMOVQ: Opcode = v("kmovq", P, M0F, 0x90);
pub(super) const KMOVQ_STORE: Opcode = v("kmovq", P, M0F, 0x91);
pub(super) const KAND: Opcode = v("kandw", P, M0F, 0x41);
pub(super) const KANDN: Opcode = v("kandnw", P, M0F, 0x42);
pub(super) const KNOT: Opcode = v("knotw", P, M0F, 0x44);
pub(super) const KOR: Opcode = v("korw", P, M0F, 0x45);
pub(super) const KXNOR: Opcode = v("kxnorw", P, M0F, 0x46);
pub(super) const KXOR: Opcode = v("kxorw", P, M0F, 0x47);
pub(super) const KUNPCKBW: Opcode = v("kunpckbw", P66, M0F, 0x4B);
pub(super) const KORTESTW: Opcode = v("kortestw", P, M0F, 0x98);
pub(super) const KORTESTB: Opcode = v("kortestb", P66, M0F, 0x98);
pub(super) const KSHIFTRW: Opcode = v("kshiftrw", P66, M3A, 0x30);
pub(super) const KSHIFTRB: Opcode = v("kshiftrb", P66, M3A, 0x30);
pub(super) const KSHIFTLB: Opcode = v("kshiftlb", P66, M3A, 0x32);

// General registers.
// Operands are a register, and a register or memory.
pub(super) const ADD_R: Opcode = g("add", P, 0, 0x03);
pub(super) const OR_R: Opcode = g("or", P, 0, 0x0B);
pub(super) const AND_R: Opcode = g("and", P, 0, 0x23);
pub(super) const SUB_R: Opcode = g("sub", P, 0, 0x2B);
pub(super) const XOR_R: Opcode = g("xor", P, 0, 0x33);
pub(super) const CMP_R: Opcode = g("cmp", P, 0, 0x3B);
/// With an 8-bit immediate. The opcode extension selects the operation.
pub(super) const ALU_I8: Opcode = g("", P, 0, 0x83);
/// With a 32-bit immediate. Has the same operations as [`ALU_I8`].
pub(super) const ALU_I32: Opcode = g("", P, 0, 0x81);
pub(super) const LOCK_ADD: Opcode = g("add", P, 0, 0x01).with(LOCK);
pub(super) const TEST: Opcode = g("test", P, 0, 0x85);
pub(super) const TEST_I32: Opcode = g("test", P, 0, 0xF7);
pub(super) const NOT: Opcode = g("not", P, 0, 0xF7).ext(2);
pub(super) const NEG: Opcode = g("neg", P, 0, 0xF7).ext(3);
pub(super) const MUL_AX: Opcode = g("mul", P, 0, 0xF7).ext(4);
pub(super) const IMUL_AX: Opcode = g("imul", P, 0, 0xF7).ext(5);
pub(super) const DIV_AX: Opcode = g("div", P, 0, 0xF7).ext(6);
pub(super) const IDIV_AX: Opcode = g("idiv", P, 0, 0xF7).ext(7);
pub(super) const SIGN_AX: Opcode = g("c", P, 0, 0x99).with(BARE);
pub(super) const RDTSC: Opcode = g("rdtsc", P, M0F, 0x31).with(BARE);
pub(super) const IMUL: Opcode = g("imul", P, M0F, 0xAF);
pub(super) const IMUL_I8: Opcode = g("imul", P, 0, 0x6B);
pub(super) const IMUL_I32: Opcode = g("imul", P, 0, 0x69);
pub(super) const LEA: Opcode = g("lea", P, 0, 0x8D);
pub(super) const MOV: Opcode = g("mov", P, 0, 0x8B);
pub(super) const MOV_STORE: Opcode = g("mov", P, 0, 0x89);
pub(super) const MOV_STORE16: Opcode = g("mov", P66, 0, 0x89);
pub(super) const MOV_STORE8: Opcode = g("mov", P, 0, 0x88).with(BYTE_REG);
pub(super) const MOV_I32: Opcode = g("mov", P, 0, 0xC7);
pub(super) const MOV_I16: Opcode = g("mov", P66, 0, 0xC7);
pub(super) const MOV_I8: Opcode = g("mov", P, 0, 0xC6);
pub(super) const MOV_OPCODE: Opcode = g("mov", P, 0, 0xB8).with(OPCODE_REG);
pub(super) const MOVSXD: Opcode = g("movsxd", P, 0, 0x63);
pub(super) const MOVZX8: Opcode = g("movzx", P, M0F, 0xB6).with(BYTE_RM);
pub(super) const MOVZX16: Opcode = g("movzx", P, M0F, 0xB7);
pub(super) const SHIFT_I8: Opcode = g("", P, 0, 0xC1);
pub(super) const SHIFT_CL: Opcode = g("", P, 0, 0xD3);
pub(super) const SHLX: Opcode = v("shlx", P66, M38, 0xF7);
pub(super) const SARX: Opcode = v("sarx", PF3, M38, 0xF7);
pub(super) const SHRX: Opcode = v("shrx", PF2, M38, 0xF7);
pub(super) const ANDN: Opcode = v("andn", P, M38, 0xF2);
/// `blsi`: the lowest set bit. The VEX register operand is the result.
pub(super) const BLSI: Opcode = v("blsi", P, M38, 0xF3).ext(3);
pub(super) const LZCNT: Opcode = g("lzcnt", PF3, M0F, 0xBD);
pub(super) const TZCNT: Opcode = g("tzcnt", PF3, M0F, 0xBC);
pub(super) const POPCNT: Opcode = g("popcnt", PF3, M0F, 0xB8);
pub(super) const BSR: Opcode = g("bsr", P, M0F, 0xBD);
pub(super) const BSF: Opcode = g("bsf", P, M0F, 0xBC);
/// The form for condition code 0. `plus(code)` is the form for another condition.
pub(super) const SETCC: Opcode = g("set", P, M0F, 0x90).with(BYTE_RM);
/// The form for condition code 0. `plus(code)` is the form for another condition.
pub(super) const CMOVCC: Opcode = g("cmov", P, M0F, 0x40);
pub(super) const XADD: Opcode = g("xadd", P, M0F, 0xC1).with(LOCK);
pub(super) const PREFETCHW: Opcode = g("prefetchw", P, M0F, 0x0D).ext(1);
pub(super) const XCHG: Opcode = g("xchg", P, 0, 0x87);
pub(super) const CMPXCHG: Opcode = g("cmpxchg", P, M0F, 0xB1).with(LOCK);
pub(super) const CMPXCHG16: Opcode = g("cmpxchg", P66, M0F, 0xB1).with(LOCK);
/// Opcode extensions of [`ALU_I8`] and [`ALU_I32`].
pub(super) mod alu {
    pub(in super::super) const ADD: u8 = 0;
    pub(in super::super) const OR: u8 = 1;
    pub(in super::super) const AND: u8 = 4;
    pub(in super::super) const SUB: u8 = 5;
    pub(in super::super) const XOR: u8 = 6;
    pub(in super::super) const CMP: u8 = 7;
}
/// Opcode extensions of [`SHIFT_I8`] and [`SHIFT_CL`].
pub(super) mod shift {
    pub(in super::super) const ROL: u8 = 0;
    pub(in super::super) const SHL: u8 = 4;
    pub(in super::super) const SHR: u8 = 5;
    pub(in super::super) const SAR: u8 = 7;
}
