//! Instructions of SVE: on vector registers of all lengths (`Z`), and on predicate registers (`G`).
//!
//! In instructions with merging predication (`/m`), lanes outside of the predicate keep the contents of `d`.

use super::super::inst::Opcode;
use super::forms::{one, vec};

opcodes! {
    // Predicates. The governing predicate is in the field `a`.
    PTRUE_B = one("ptrue", "Gd.b", 0x2518_E3E0);
    /// The first lanes. The immediate is their number, and the bits are its pattern.
    PTRUE_E = vec("ptrue", "Gd.E, vl@", 0x2598_E000);
    PFALSE = one("pfalse", "Gd.b", 0x2518_E400);
    AND_P = one("and", "Gd.b, Ga/z, Gn.b, Gm.b", 0x2500_4000);
    /// `and` that also sets the flags.
    ANDS_P = one("ands", "Gd.b, Ga/z, Gn.b, Gm.b", 0x2540_4000);
    /// The decoder's name of `and` with two equal operands.
    MOV_P_ZEROING = one("mov", "Gd.b, Ga/z, Gn.b", 0x2500_4000);
    /// `n & !m`
    BIC_P = one("bic", "Gd.b, Ga/z, Gn.b, Gm.b", 0x2500_4010);
    /// `bic` that also sets the flags.
    BICS_P = one("bics", "Gd.b, Ga/z, Gn.b, Gm.b", 0x2540_4010);
    EOR_P = one("eor", "Gd.b, Ga/z, Gn.b, Gm.b", 0x2500_4200);
    /// `eor` that also sets the flags.
    EORS_P = one("eors", "Gd.b, Ga/z, Gn.b, Gm.b", 0x2540_4200);
    /// Sets the flags.
    ORRS_P = one("orrs", "Gd.b, Ga/z, Gn.b, Gm.b", 0x25C0_4000);
    /// `eor` with the governing predicate as the operand `m`. All lanes outside of `a` are clear in the result.
    NOT_P = one("not", "Gd.b, Ga/z, Gn.b", 0x2500_4200);
    /// `not` that also sets the flags.
    NOTS_P = one("nots", "Gd.b, Ga/z, Gn.b", 0x2540_4200);
    /// `a ? n : m` for each bit.
    SEL_P = one("sel", "Gd.b, Ga, Gn.b, Gm.b", 0x2500_4210);
    /// The decoder's name of `sel` if `m` is also the result.
    MOV_P_MERGING = one("mov", "Gd.b, Ga/m, Gn.b", 0x2500_4210);
    /// `orr` with the same register as all operands.
    MOV_P = one("mov", "Gd.b, Gn.b", 0x2580_4000);
    /// Sets the flags: "equal" if no lane of `n` is set where `a` is.
    PTEST = one("ptest", "Ga, Gn.b", 0x2550_C000);
    PUNPKLO = one("punpklo", "Gd.h, Gn.b", 0x0530_4000);
    PUNPKHI = one("punpkhi", "Gd.h, Gn.b", 0x0531_4000);
    UZP1_P = one("uzp1", "Gd.s, Gn.s, Gm.s", 0x05A0_4800);

    // Bitwise.
    AND_Z = one("and", "Zd.d, Zn.d, Zm.d", 0x0420_3000);
    /// `n & !m`
    BIC_Z = one("bic", "Zd.d, Zn.d, Zm.d", 0x04E0_3000);
    ORR_Z = one("orr", "Zd.d, Zn.d, Zm.d", 0x0460_3000);
    EOR_Z = one("eor", "Zd.d, Zn.d, Zm.d", 0x04A0_3000);
    /// `orr` with the same register as both operands.
    MOV_Z = one("mov", "Zd.d, Zn.d", 0x0460_3000);

    // Integers. In instructions with a governing predicate and two operands, `d` is the first operand, and tied.
    ADD_Z = vec("add", "Zd.E, Zn.E, Zm.E", 0x04A0_0000);
    SUB_Z = vec("sub", "Zd.E, Zn.E, Zm.E", 0x04A0_0400);
    ADD_ZB = one("add", "Zd.b, Zn.b, Zm.b", 0x0420_0000);
    SUB_ZB = one("sub", "Zd.b, Zn.b, Zm.b", 0x0420_0400);
    ADD_ZH = one("add", "Zd.h, Zn.h, Zm.h", 0x0460_0000);
    SUB_ZH = one("sub", "Zd.h, Zn.h, Zm.h", 0x0460_0400);
    MUL_Z = vec("mul", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0490_0000);
    MUL_ZB = one("mul", "Zd.b, Ga/m, Zd.b, Zn.b", 0x0410_0000);
    MUL_ZH = one("mul", "Zd.h, Ga/m, Zd.h, Zn.h", 0x0450_0000);
    SMULH_Z = vec("smulh", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0492_0000);
    UMULH_Z = vec("umulh", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0493_0000);
    SMIN_Z = vec("smin", "Zd.E, Ga/m, Zd.E, Zn.E", 0x048A_0000);
    SMAX_Z = vec("smax", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0488_0000);
    UMIN_Z = vec("umin", "Zd.E, Ga/m, Zd.E, Zn.E", 0x048B_0000);
    UMAX_Z = vec("umax", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0489_0000);
    /// `d + n * m`; `d` is tied.
    MLA_Z = vec("mla", "Zd.E, Ga/m, Zn.E, Zm.E", 0x0480_4000);
    MLA_ZB = one("mla", "Zd.b, Ga/m, Zn.b, Zm.b", 0x0400_4000);
    MLA_ZH = one("mla", "Zd.h, Ga/m, Zn.h, Zm.h", 0x0440_4000);
    /// `d - n * m`; `d` is tied.
    MLS_Z = vec("mls", "Zd.E, Ga/m, Zn.E, Zm.E", 0x0480_6000);
    NEG_Z = vec("neg", "Zd.E, Ga/m, Zn.E", 0x0497_A000);
    NOT_Z = vec("not", "Zd.E, Ga/m, Zn.E", 0x049E_A000);
    CLZ_Z = vec("clz", "Zd.E, Ga/m, Zn.E", 0x0499_A000);
    CNT_Z = vec("cnt", "Zd.E, Ga/m, Zn.E", 0x049A_A000);
    UXTW_Z = one("uxtw", "Zd.d, Ga/m, Zn.d", 0x04D5_A000);
    SXTW_Z = one("sxtw", "Zd.d, Ga/m, Zn.d", 0x04D4_A000);
    /// A shift by at least the lane size gives 0.
    LSL_Z = vec("lsl", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0493_8000);
    /// A shift by at least the lane size gives 0.
    LSR_Z = vec("lsr", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0491_8000);
    ASR_Z = vec("asr", "Zd.E, Ga/m, Zd.E, Zn.E", 0x0490_8000);

    // Shifts by an immediate. The immediate encodes the lane size, so `wide` affects only the text.
    LSL_Z_IMM = one("lsl", "Zd.E, Zn.E, #", 0x0420_9C00);
    LSR_Z_IMM = one("lsr", "Zd.E, Zn.E, #", 0x0420_9400);
    ASR_Z_IMM = one("asr", "Zd.E, Zn.E, #", 0x0420_9000);

    // Comparisons. They also set the flags.
    CMPEQ_Z = vec("cmpeq", "Gd.E, Ga/z, Zn.E, Zm.E", 0x2480_A000);
    CMPNE_Z = vec("cmpne", "Gd.E, Ga/z, Zn.E, Zm.E", 0x2480_A010);
    CMPGT_Z = vec("cmpgt", "Gd.E, Ga/z, Zn.E, Zm.E", 0x2480_8010);
    CMPGE_Z = vec("cmpge", "Gd.E, Ga/z, Zn.E, Zm.E", 0x2480_8000);
    CMPHI_Z = vec("cmphi", "Gd.E, Ga/z, Zn.E, Zm.E", 0x2480_0010);
    CMPHS_Z = vec("cmphs", "Gd.E, Ga/z, Zn.E, Zm.E", 0x2480_0000);
    CMPEQ_IMM = vec("cmpeq", "Gd.E, Ga/z, Zn.E, #", 0x2580_8000);
    CMPNE_IMM = vec("cmpne", "Gd.E, Ga/z, Zn.E, #", 0x2580_8010);
    CMPGT_IMM = vec("cmpgt", "Gd.E, Ga/z, Zn.E, #", 0x2580_0010);
    CMPGE_IMM = vec("cmpge", "Gd.E, Ga/z, Zn.E, #", 0x2580_0000);
    CMPLT_IMM = vec("cmplt", "Gd.E, Ga/z, Zn.E, #", 0x2580_2000);
    CMPLE_IMM = vec("cmple", "Gd.E, Ga/z, Zn.E, #", 0x2580_2010);
    CMPHI_IMM = vec("cmphi", "Gd.E, Ga/z, Zn.E, #", 0x24A0_0010);
    CMPHS_IMM = vec("cmphs", "Gd.E, Ga/z, Zn.E, #", 0x24A0_0000);
    CMPLO_IMM = vec("cmplo", "Gd.E, Ga/z, Zn.E, #", 0x24A0_2000);
    CMPLS_IMM = vec("cmpls", "Gd.E, Ga/z, Zn.E, #", 0x24A0_2010);
    FCMEQ_Z = vec("fcmeq", "Gd.E, Ga/z, Zn.E, Zm.E", 0x6580_6000);
    /// True if an operand is a NaN.
    FCMNE_Z = vec("fcmne", "Gd.E, Ga/z, Zn.E, Zm.E", 0x6580_6010);
    FCMGT_Z = vec("fcmgt", "Gd.E, Ga/z, Zn.E, Zm.E", 0x6580_4010);
    FCMGE_Z = vec("fcmge", "Gd.E, Ga/z, Zn.E, Zm.E", 0x6580_4000);
    FCMEQ_ZERO = vec("fcmeq", "Gd.E, Ga/z, Zn.E, #0.0", 0x6592_2000);
    FCMNE_ZERO = vec("fcmne", "Gd.E, Ga/z, Zn.E, #0.0", 0x6593_2000);
    FCMGT_ZERO = vec("fcmgt", "Gd.E, Ga/z, Zn.E, #0.0", 0x6590_2010);
    FCMGE_ZERO = vec("fcmge", "Gd.E, Ga/z, Zn.E, #0.0", 0x6590_2000);
    FCMLT_ZERO = vec("fcmlt", "Gd.E, Ga/z, Zn.E, #0.0", 0x6591_2000);
    FCMLE_ZERO = vec("fcmle", "Gd.E, Ga/z, Zn.E, #0.0", 0x6591_2010);

    // Floats.
    FADD_Z = vec("fadd", "Zd.E, Zn.E, Zm.E", 0x6580_0000);
    FSUB_Z = vec("fsub", "Zd.E, Zn.E, Zm.E", 0x6580_0400);
    FMUL_Z = vec("fmul", "Zd.E, Zn.E, Zm.E", 0x6580_0800);
    FDIV_Z = vec("fdiv", "Zd.E, Ga/m, Zd.E, Zn.E", 0x658D_8000);
    /// `d + n * m`; `d` is tied.
    FMLA_Z = vec("fmla", "Zd.E, Ga/m, Zn.E, Zm.E", 0x65A0_0000);
    /// `d - n * m`; `d` is tied.
    FMLS_Z = vec("fmls", "Zd.E, Ga/m, Zn.E, Zm.E", 0x65A0_2000);
    /// `n * m - d`; `d` is tied.
    FNMLS_Z = vec("fnmls", "Zd.E, Ga/m, Zn.E, Zm.E", 0x65A0_6000);
    FSQRT_Z = vec("fsqrt", "Zd.E, Ga/m, Zn.E", 0x658D_A000);
    FRINTN_Z = vec("frintn", "Zd.E, Ga/m, Zn.E", 0x6580_A000);
    FRINTM_Z = vec("frintm", "Zd.E, Ga/m, Zn.E", 0x6582_A000);
    FRINTP_Z = vec("frintp", "Zd.E, Ga/m, Zn.E", 0x6581_A000);
    FRINTZ_Z = vec("frintz", "Zd.E, Ga/m, Zn.E", 0x6583_A000);
    FRECPE_Z = vec("frecpe", "Zd.E, Zn.E", 0x658E_3000);
    FRSQRTE_Z = vec("frsqrte", "Zd.E, Zn.E", 0x658F_3000);
    /// `2 - n * m`
    FRECPS_Z = vec("frecps", "Zd.E, Zn.E, Zm.E", 0x6580_1800);
    /// `(3 - n * m) / 2`
    FRSQRTS_Z = vec("frsqrts", "Zd.E, Zn.E, Zm.E", 0x6580_1C00);

    // Conversions. The smaller type is in the low half of each 64-bit lane, or in the low half of a 32-bit lane (`h`).
    SCVTF_Z = one("scvtf", "Zd.s, Ga/m, Zn.s", 0x6594_A000);
    SCVTF_ZD = one("scvtf", "Zd.d, Ga/m, Zn.d", 0x65D6_A000);
    SCVTF_Z_WIDEN = one("scvtf", "Zd.d, Ga/m, Zn.s", 0x65D0_A000);
    SCVTF_Z_NARROW = one("scvtf", "Zd.s, Ga/m, Zn.d", 0x65D4_A000);
    UCVTF_Z = one("ucvtf", "Zd.s, Ga/m, Zn.s", 0x6595_A000);
    UCVTF_ZD = one("ucvtf", "Zd.d, Ga/m, Zn.d", 0x65D7_A000);
    UCVTF_Z_WIDEN = one("ucvtf", "Zd.d, Ga/m, Zn.s", 0x65D1_A000);
    UCVTF_Z_NARROW = one("ucvtf", "Zd.s, Ga/m, Zn.d", 0x65D5_A000);
    FCVTZS_Z = one("fcvtzs", "Zd.s, Ga/m, Zn.s", 0x659C_A000);
    FCVTZS_ZD = one("fcvtzs", "Zd.d, Ga/m, Zn.d", 0x65DE_A000);
    FCVTZS_Z_WIDEN = one("fcvtzs", "Zd.d, Ga/m, Zn.s", 0x65DC_A000);
    FCVTZS_Z_NARROW = one("fcvtzs", "Zd.s, Ga/m, Zn.d", 0x65D8_A000);
    FCVTZU_Z = one("fcvtzu", "Zd.s, Ga/m, Zn.s", 0x659D_A000);
    FCVTZU_ZD = one("fcvtzu", "Zd.d, Ga/m, Zn.d", 0x65DF_A000);
    FCVTZU_Z_WIDEN = one("fcvtzu", "Zd.d, Ga/m, Zn.s", 0x65DD_A000);
    FCVTZU_Z_NARROW = one("fcvtzu", "Zd.s, Ga/m, Zn.d", 0x65D9_A000);
    FCVT_Z_H_TO_S = one("fcvt", "Zd.s, Ga/m, Zn.h", 0x6589_A000);
    FCVT_Z_S_TO_H = one("fcvt", "Zd.h, Ga/m, Zn.s", 0x6588_A000);
    FCVT_Z_S_TO_D = one("fcvt", "Zd.d, Ga/m, Zn.s", 0x65CB_A000);
    FCVT_Z_D_TO_S = one("fcvt", "Zd.s, Ga/m, Zn.d", 0x65CA_A000);

    // Selections, constants and splats.
    /// `a ? n : m`
    SEL_Z = vec("sel", "Zd.E, Ga, Zn.E, Zm.E", 0x05A0_C000);
    /// The decoder's name of `sel` if `m` is also the result.
    MOV_Z_MERGING = vec("mov", "Zd.E, Ga/m, Zn.E", 0x05A0_C000);
    /// From a general register to all lanes.
    DUP_ZR = vec("mov", "Zd.E, Rn", 0x05A0_3800);
    /// An immediate of eight bits, which can be shifted left by 8.
    DUP_Z_IMM = vec("mov", "Zd.E, #", 0x25B8_C000);
    FDUP_Z = vec("fmov", "Zd.E, %", 0x25B9_C000);
    // A bitmask immediate. The lane size of the text is the period of the pattern.
    DUPM_B = one("mov", "Zd.b, #", 0x05C0_0000);
    DUPM_H = one("mov", "Zd.h, #", 0x05C0_0000);
    DUPM_S = one("mov", "Zd.s, #", 0x05C0_0000);
    DUPM_D = one("mov", "Zd.d, #", 0x05C0_0000);
    /// An immediate in the lanes of the predicate `m`, and 0 in other lanes.
    CPY_Z = vec("mov", "Zd.E, Gm/z, #", 0x0590_0000);
    /// The lane `n` is the first immediate plus `n` times the second one.
    INDEX_Z = vec("index", "Zd.E, #, $", 0x04A0_4000);
    // From a lane to all lanes. They require `InstBuilder::z_lane`.
    DUP_Z_FIRST = one("mov", "Zd.E, Fn", 0x0520_2000);
    DUP_Z_LANE = one("mov", "Zd.E, Zn.E[@]", 0x0520_2000);

    // Shuffles.
    /// Selects lanes of `n` by the indices in `m`. An index outside of the vector selects 0.
    TBL_Z = vec("tbl", "Zd.E, {Zn.E}, Zm.E", 0x05A0_3000);
    ZIP1_Z = vec("zip1", "Zd.E, Zn.E, Zm.E", 0x05A0_6000);
    ZIP2_Z = vec("zip2", "Zd.E, Zn.E, Zm.E", 0x05A0_6400);
    UZP1_Z = vec("uzp1", "Zd.E, Zn.E, Zm.E", 0x05A0_6800);
    UZP2_Z = vec("uzp2", "Zd.E, Zn.E, Zm.E", 0x05A0_6C00);
    TRN1_Z = vec("trn1", "Zd.E, Zn.E, Zm.E", 0x05A0_7000);
    TRN2_Z = vec("trn2", "Zd.E, Zn.E, Zm.E", 0x05A0_7400);
    /// The bytes of the concatenation of `d` and `n`, from byte `#`. `d` is tied.
    EXT_Z = one("ext", "Zd.b, Zd.b, Zn.b, #", 0x0520_0000);
    /// Reverses the order of the lanes.
    REV_Z = vec("rev", "Zd.E, Zn.E", 0x05B8_3800);
    /// Swaps the 32-bit lanes of each 64-bit lane.
    REVW_Z = one("revw", "Zd.d, Ga/m, Zn.d", 0x05E6_8000);
    /// The lanes of `d` in `a`, followed by the first lanes of `n`. `d` is tied.
    SPLICE = vec("splice", "Zd.E, Ga, Zd.E, Zn.E", 0x05AC_8000);
    SUNPKLO = one("sunpklo", "Zd.d, Zn.s", 0x05F0_3800);
    SUNPKHI = one("sunpkhi", "Zd.d, Zn.s", 0x05F1_3800);
    UUNPKLO = one("uunpklo", "Zd.d, Zn.s", 0x05F2_3800);
    UUNPKHI = one("uunpkhi", "Zd.d, Zn.s", 0x05F3_3800);
    /// The sum of the lanes in `a`.
    UADDV_Z = vec("uaddv", "Dd, Ga, Zn.E", 0x0481_2000);

    // Memory. The displacement is a multiple of the bytes of all lanes in memory.
    LOAD_Z = one("ldr", "Zd, [An<, #, mul vl>]", 0x8580_4000);
    STORE_Z = one("str", "Zd, [An<, #, mul vl>]", 0xE580_4000);
    LOAD_P = one("ldr", "Gd, [An<, #, mul vl>]", 0x8580_0000);
    STORE_P = one("str", "Gd, [An<, #, mul vl>]", 0xE580_0000);
    LOAD_ZB_IMM = one("ld1b", "{Zd.s}, Ga/z, [An<, #, mul vl>]", 0xA440_A000);
    LOAD_ZH_IMM = one("ld1h", "{Zd.s}, Ga/z, [An<, #, mul vl>]", 0xA4C0_A000);
    LOAD_ZW_IMM = one("ld1w", "{Zd.s}, Ga/z, [An<, #, mul vl>]", 0xA540_A000);
    LOAD_ZD_IMM = one("ld1d", "{Zd.d}, Ga/z, [An<, #, mul vl>]", 0xA5E0_A000);
    LOAD_ZB_IDX = one("ld1b", "{Zd.s}, Ga/z, [An, Xm]", 0xA440_4000);
    LOAD_ZH_IDX = one("ld1h", "{Zd.s}, Ga/z, [An, Xm, lsl #0x1]", 0xA4C0_4000);
    LOAD_ZW_IDX = one("ld1w", "{Zd.s}, Ga/z, [An, Xm, lsl #0x2]", 0xA540_4000);
    LOAD_ZD_IDX = one("ld1d", "{Zd.d}, Ga/z, [An, Xm, lsl #0x3]", 0xA5E0_4000);
    STORE_ZB_IMM = one("st1b", "{Zd.s}, Ga, [An<, #, mul vl>]", 0xE440_E000);
    STORE_ZH_IMM = one("st1h", "{Zd.s}, Ga, [An<, #, mul vl>]", 0xE4C0_E000);
    STORE_ZW_IMM = one("st1w", "{Zd.s}, Ga, [An<, #, mul vl>]", 0xE540_E000);
    STORE_ZD_IMM = one("st1d", "{Zd.d}, Ga, [An<, #, mul vl>]", 0xE5E0_E000);
    STORE_ZB_IDX = one("st1b", "{Zd.s}, Ga, [An, Xm]", 0xE440_4000);
    STORE_ZH_IDX = one("st1h", "{Zd.s}, Ga, [An, Xm, lsl #0x1]", 0xE4C0_4000);
    STORE_ZW_IDX = one("st1w", "{Zd.s}, Ga, [An, Xm, lsl #0x2]", 0xE540_4000);
    STORE_ZD_IDX = one("st1d", "{Zd.d}, Ga, [An, Xm, lsl #0x3]", 0xE5E0_4000);
    LOAD_SPLAT_W = one("ld1rw", "{Zd.s}, Ga/z, [An<, #>]", 0x8540_C000);
    LOAD_SPLAT_D = one("ld1rd", "{Zd.d}, Ga/z, [An<, #>]", 0x85C0_E000);
    GATHER_W_S = one("ld1w", "{Zd.s}, Ga/z, [An, Zm.s, sxtw]", 0x8540_4000);
    GATHER_W_S_SCALED = one("ld1w", "{Zd.s}, Ga/z, [An, Zm.s, sxtw #0x2]", 0x8560_4000);
    GATHER_W_D = one("ld1w", "{Zd.d}, Ga/z, [An, Zm.d]", 0xC540_C000);
    GATHER_W_D_SCALED = one("ld1w", "{Zd.d}, Ga/z, [An, Zm.d, lsl #0x2]", 0xC560_C000);
    GATHER_D_D = one("ld1d", "{Zd.d}, Ga/z, [An, Zm.d]", 0xC5C0_C000);
    GATHER_D_D_SCALED = one("ld1d", "{Zd.d}, Ga/z, [An, Zm.d, lsl #0x3]", 0xC5E0_C000);
    GATHER_D_S = one("ld1d", "{Zd.d}, Ga/z, [An, Zm.d, sxtw]", 0xC5C0_4000);
    GATHER_D_S_SCALED = one("ld1d", "{Zd.d}, Ga/z, [An, Zm.d, sxtw #0x3]", 0xC5E0_4000);
    GATHER_W_ADDRESS = one("ld1w", "{Zd.d}, Ga/z, [Zn.d]", 0xC520_C000);
    GATHER_D_ADDRESS = one("ld1d", "{Zd.d}, Ga/z, [Zn.d]", 0xC5A0_C000);
    SCATTER_W_S = one("st1w", "{Zd.s}, Ga, [An, Zm.s, sxtw]", 0xE540_C000);
    SCATTER_W_S_SCALED = one("st1w", "{Zd.s}, Ga, [An, Zm.s, sxtw #0x2]", 0xE560_C000);
    SCATTER_W_D = one("st1w", "{Zd.d}, Ga, [An, Zm.d]", 0xE500_A000);
    SCATTER_W_D_SCALED = one("st1w", "{Zd.d}, Ga, [An, Zm.d, lsl #0x2]", 0xE520_A000);
    SCATTER_D_D = one("st1d", "{Zd.d}, Ga, [An, Zm.d]", 0xE580_A000);
    SCATTER_D_D_SCALED = one("st1d", "{Zd.d}, Ga, [An, Zm.d, lsl #0x3]", 0xE5A0_A000);
    SCATTER_D_S = one("st1d", "{Zd.d}, Ga, [An, Zm.d, sxtw]", 0xE580_C000);
    SCATTER_D_S_SCALED = one("st1d", "{Zd.d}, Ga, [An, Zm.d, sxtw #0x3]", 0xE5A0_C000);
    SCATTER_W_ADDRESS = one("st1w", "{Zd.d}, Ga, [Zn.d]", 0xE540_A000);
    SCATTER_D_ADDRESS = one("st1d", "{Zd.d}, Ga, [Zn.d]", 0xE5C0_A000);
}
