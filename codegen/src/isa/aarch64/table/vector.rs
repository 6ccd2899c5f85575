//! Instructions on vectors, of sixteen bytes unless the arrangement is `8b`.
//!
//! Opcodes with the arrangement `.T` have forms for 32-bit and 64-bit lanes.

use super::super::inst::Opcode;
use super::forms::{one, vec};

opcodes! {
    // Bitwise.
    AND_V = one("and", "Vd.16b, Vn.16b, Vm.16b", 0x4E20_1C00);
    /// `n & !m`
    BIC_V = one("bic", "Vd.16b, Vn.16b, Vm.16b", 0x4E60_1C00);
    ORR_V = one("orr", "Vd.16b, Vn.16b, Vm.16b", 0x4EA0_1C00);
    EOR_V = one("eor", "Vd.16b, Vn.16b, Vm.16b", 0x6E20_1C00);
    NOT_V = one("mvn", "Vd.16b, Vn.16b", 0x6E20_5800);
    /// `d ? n : m` for each bit; `d` is tied.
    BSL = one("bsl", "Vd.16b, Vn.16b, Vm.16b", 0x6E60_1C00);
    /// `m ? n : d` for each bit; `d` is tied.
    BIT = one("bit", "Vd.16b, Vn.16b, Vm.16b", 0x6EA0_1C00);
    /// `m ? d : n` for each bit; `d` is tied.
    BIF = one("bif", "Vd.16b, Vn.16b, Vm.16b", 0x6EE0_1C00);
    /// `orr` with the same register as both operands.
    MOV_VECTOR = one("mov", "Vd.16b, Vn.16b", 0x4EA0_1C00);

    // Integers.
    ADD_V = vec("add", "Vd.T, Vn.T, Vm.T", 0x4EA0_8400);
    SUB_V = vec("sub", "Vd.T, Vn.T, Vm.T", 0x6EA0_8400);
    NEG_V = vec("neg", "Vd.T, Vn.T", 0x6EA0_B800);
    /// `mul`, `smin`, `smax`, `umin`, `umax` and `clz` have no form for 64-bit lanes.
    MUL_V = one("mul", "Vd.4s, Vn.4s, Vm.4s", 0x4EA0_9C00);
    SMIN_V = one("smin", "Vd.4s, Vn.4s, Vm.4s", 0x4EA0_6C00);
    SMAX_V = one("smax", "Vd.4s, Vn.4s, Vm.4s", 0x4EA0_6400);
    UMIN_V = one("umin", "Vd.4s, Vn.4s, Vm.4s", 0x6EA0_6C00);
    UMAX_V = one("umax", "Vd.4s, Vn.4s, Vm.4s", 0x6EA0_6400);
    CLZ_V = one("clz", "Vd.4s, Vn.4s", 0x6EA0_4800);
    CNT = one("cnt", "Vd.16b, Vn.16b", 0x4E20_5800);
    CNT_8B = one("cnt", "Vd.8b, Vn.8b", 0x0E20_5800);
    UADDLP_8H = one("uaddlp", "Vd.8h, Vn.16b", 0x6E20_2800);
    UADDLP_4S = one("uaddlp", "Vd.4s, Vn.8h", 0x6E60_2800);
    UADDLP_2D = one("uaddlp", "Vd.2d, Vn.4s", 0x6EA0_2800);
    /// Products of the lower two lanes of 32 bits.
    UMULL_V = one("umull", "Vd.2d, Vn.2s, Vm.2s", 0x2EA0_C000);
    SMULL_V = one("smull", "Vd.2d, Vn.2s, Vm.2s", 0x0EA0_C000);
    /// Products of the upper two lanes of 32 bits.
    UMULL2_V = one("umull2", "Vd.2d, Vn.4s, Vm.4s", 0x6EA0_C000);
    SMULL2_V = one("smull2", "Vd.2d, Vn.4s, Vm.4s", 0x4EA0_C000);
    /// `d + n * m`; `d` is tied.
    UMLAL_V = one("umlal", "Vd.2d, Vn.2s, Vm.2s", 0x2EA0_8000);
    /// `d + n * m`; `d` is tied.
    MLA_V = one("mla", "Vd.4s, Vn.4s, Vm.4s", 0x4EA0_9400);
    MLA_8H = one("mla", "Vd.8h, Vn.8h, Vm.8h", 0x4E60_9400);
    MLA_16B = one("mla", "Vd.16b, Vn.16b, Vm.16b", 0x4E20_9400);
    /// `d - n * m`; `d` is tied.
    MLS_V = one("mls", "Vd.4s, Vn.4s, Vm.4s", 0x6EA0_9400);
    ADD_16B = one("add", "Vd.16b, Vn.16b, Vm.16b", 0x4E20_8400);
    SUB_16B = one("sub", "Vd.16b, Vn.16b, Vm.16b", 0x6E20_8400);
    MUL_16B = one("mul", "Vd.16b, Vn.16b, Vm.16b", 0x4E20_9C00);
    ADD_8H = one("add", "Vd.8h, Vn.8h, Vm.8h", 0x4E60_8400);
    SUB_8H = one("sub", "Vd.8h, Vn.8h, Vm.8h", 0x6E60_8400);
    MUL_8H = one("mul", "Vd.8h, Vn.8h, Vm.8h", 0x4E60_9C00);

    // Shifts by a register. Negative amounts shift to the right.
    SSHL = vec("sshl", "Vd.T, Vn.T, Vm.T", 0x4EA0_4400);
    USHL = vec("ushl", "Vd.T, Vn.T, Vm.T", 0x6EA0_4400);
    // Shifts by an immediate. The immediate encodes the lane size, so `wide` affects only the text.
    SHL_IMM = one("shl", "Vd.T, Vn.T, #", 0x4F00_5400);
    SSHR_IMM = one("sshr", "Vd.T, Vn.T, #", 0x4F00_0400);
    USHR_IMM = one("ushr", "Vd.T, Vn.T, #", 0x6F00_0400);
    /// Shifts right and inserts the result into `d`, which is tied and keeps its upper bits.
    SRI_IMM = one("sri", "Vd.T, Vn.T, #", 0x6F00_4400);

    // Comparisons. They set all bits of a lane if the comparison holds, and otherwise clear them.
    CMEQ = vec("cmeq", "Vd.T, Vn.T, Vm.T", 0x6EA0_8C00);
    CMGT = vec("cmgt", "Vd.T, Vn.T, Vm.T", 0x4EA0_3400);
    CMGE = vec("cmge", "Vd.T, Vn.T, Vm.T", 0x4EA0_3C00);
    CMHI = vec("cmhi", "Vd.T, Vn.T, Vm.T", 0x6EA0_3400);
    CMHS = vec("cmhs", "Vd.T, Vn.T, Vm.T", 0x6EA0_3C00);
    CMTST = vec("cmtst", "Vd.T, Vn.T, Vm.T", 0x4EA0_8C00);
    CMEQ_ZERO = vec("cmeq", "Vd.T, Vn.T, #0x0", 0x4EA0_9800);
    CMGT_ZERO = vec("cmgt", "Vd.T, Vn.T, #0x0", 0x4EA0_8800);
    CMGE_ZERO = vec("cmge", "Vd.T, Vn.T, #0x0", 0x6EA0_8800);
    CMLE_ZERO = vec("cmle", "Vd.T, Vn.T, #0x0", 0x6EA0_9800);
    CMLT_ZERO = vec("cmlt", "Vd.T, Vn.T, #0x0", 0x4EA0_A800);
    FCMEQ = vec("fcmeq", "Vd.T, Vn.T, Vm.T", 0x4E20_E400);
    FCMGE = vec("fcmge", "Vd.T, Vn.T, Vm.T", 0x6E20_E400);
    FCMGT = vec("fcmgt", "Vd.T, Vn.T, Vm.T", 0x6EA0_E400);

    // Floats.
    FADD_V = vec("fadd", "Vd.T, Vn.T, Vm.T", 0x4E20_D400);
    FSUB_V = vec("fsub", "Vd.T, Vn.T, Vm.T", 0x4EA0_D400);
    FMUL_V = vec("fmul", "Vd.T, Vn.T, Vm.T", 0x6E20_DC00);
    FDIV_V = vec("fdiv", "Vd.T, Vn.T, Vm.T", 0x6E20_FC00);
    /// `d + n * m`; `d` is tied.
    FMLA_V = vec("fmla", "Vd.T, Vn.T, Vm.T", 0x4E20_CC00);
    /// `d - n * m`; `d` is tied.
    FMLS_V = vec("fmls", "Vd.T, Vn.T, Vm.T", 0x4EA0_CC00);
    // Products with one element of `m`.
    FMUL_ELEMENT = vec("fmul", "Vd.T, Vn.T, Vm.E[@]", 0x4F80_9000);
    /// `d + n * m`; `d` is tied.
    FMLA_ELEMENT = vec("fmla", "Vd.T, Vn.T, Vm.E[@]", 0x4F80_1000);
    /// `d - n * m`; `d` is tied.
    FMLS_ELEMENT = vec("fmls", "Vd.T, Vn.T, Vm.E[@]", 0x4F80_5000);
    FNEG_V = vec("fneg", "Vd.T, Vn.T", 0x6EA0_F800);
    FSQRT_V = vec("fsqrt", "Vd.T, Vn.T", 0x6EA1_F800);
    FRINTN_V = vec("frintn", "Vd.T, Vn.T", 0x4E21_8800);
    FRINTM_V = vec("frintm", "Vd.T, Vn.T", 0x4E21_9800);
    FRINTP_V = vec("frintp", "Vd.T, Vn.T", 0x4EA1_8800);
    FRINTZ_V = vec("frintz", "Vd.T, Vn.T", 0x4EA1_9800);
    FRECPE_V = vec("frecpe", "Vd.T, Vn.T", 0x4EA1_D800);
    FRSQRTE_V = vec("frsqrte", "Vd.T, Vn.T", 0x6EA1_D800);
    /// `2 - n * m`
    FRECPS_V = vec("frecps", "Vd.T, Vn.T, Vm.T", 0x4E20_FC00);
    /// `(3 - n * m) / 2`
    FRSQRTS_V = vec("frsqrts", "Vd.T, Vn.T, Vm.T", 0x4EA0_FC00);

    // Conversions.
    SCVTF_V = vec("scvtf", "Vd.T, Vn.T", 0x4E21_D800);
    UCVTF_V = vec("ucvtf", "Vd.T, Vn.T", 0x6E21_D800);
    FCVTZS_V = vec("fcvtzs", "Vd.T, Vn.T", 0x4EA1_B800);
    FCVTZU_V = vec("fcvtzu", "Vd.T, Vn.T", 0x6EA1_B800);
    FCVTL_4S = one("fcvtl", "Vd.4s, Vn.4h", 0x0E21_7800);
    FCVTN_4H = one("fcvtn", "Vd.4h, Vn.4s", 0x0E21_6800);
    FCVTL_2D = one("fcvtl", "Vd.2d, Vn.2s", 0x0E61_7800);
    FCVTL2_2D = one("fcvtl2", "Vd.2d, Vn.4s", 0x4E61_7800);
    FCVTN_2S = one("fcvtn", "Vd.2s, Vn.2d", 0x0E61_6800);
    /// Keeps the lower half of `d`, which is tied.
    FCVTN2_4S = one("fcvtn2", "Vd.4s, Vn.2d", 0x4E61_6800);
    SXTL_2D = one("sxtl", "Vd.2d, Vn.2s", 0x0F20_A400);
    SXTL2_2D = one("sxtl2", "Vd.2d, Vn.4s", 0x4F20_A400);
    UXTL_2D = one("uxtl", "Vd.2d, Vn.2s", 0x2F20_A400);
    UXTL2_2D = one("uxtl2", "Vd.2d, Vn.4s", 0x6F20_A400);
    UXTL_4S = one("uxtl", "Vd.4s, Vn.4h", 0x2F10_A400);
    UXTL_8H = one("uxtl", "Vd.8h, Vn.8b", 0x2F08_A400);
    XTN_2S = one("xtn", "Vd.2s, Vn.2d", 0x0EA1_2800);
    XTN_4H = one("xtn", "Vd.4h, Vn.4s", 0x0E61_2800);
    XTN_8B = one("xtn", "Vd.8b, Vn.8h", 0x0E21_2800);

    // Moves of lanes. All of them require `InstBuilder::lane`.
    /// From a general register to all lanes. The lane must be 0.
    DUP_GPR = one("dup", "Vd.T, Rn", 0x4E00_0C00);
    DUP_LANE = one("dup", "Vd.T, Vn.E[@]", 0x4E00_0400);
    /// From a lane to a scalar in a vector register.
    MOV_LANE = one("mov", "Fd, Vn.E[@]", 0x5E00_0400);
    /// From a general register to one lane; `d` is tied.
    INS_GPR = one("mov", "Vd.E[@], Rn", 0x4E00_1C00);
    /// From one lane (`source_lane`) to another (`lane`); `d` is tied.
    INS_LANE = one("mov", "Vd.E[@], Vn.E[&]", 0x6E00_0400);
    /// From a lane to a general register.
    UMOV = Opcode { wide: 1 << 30, ..one("mov", "Rd, Vn.E[@]", 0x0E00_3C00) };

    // Shuffles.
    ZIP1 = vec("zip1", "Vd.T, Vn.T, Vm.T", 0x4E80_3800);
    ZIP2 = vec("zip2", "Vd.T, Vn.T, Vm.T", 0x4E80_7800);
    UZP1 = vec("uzp1", "Vd.T, Vn.T, Vm.T", 0x4E80_1800);
    UZP2 = vec("uzp2", "Vd.T, Vn.T, Vm.T", 0x4E80_5800);
    TRN1 = vec("trn1", "Vd.T, Vn.T, Vm.T", 0x4E80_2800);
    TRN2 = vec("trn2", "Vd.T, Vn.T, Vm.T", 0x4E80_6800);
    /// Swaps the 32-bit lanes of each 64-bit lane.
    REV64 = one("rev64", "Vd.4s, Vn.4s", 0x4EA0_0800);
    /// Sixteen bytes of the concatenation of `n` and `m`, from byte `#`. The immediate is in bits 11 to 14.
    EXT = one("ext", "Vd.16b, Vn.16b, Vm.16b, #", 0x6E00_0000);
    /// Selects bytes of `n` by the indices in `m`. An index of 16 or more selects 0.
    TBL = one("tbl", "Vd.16b, {Vn.16b}, Vm.16b", 0x4E00_0000);
    /// As `tbl`, but an index of 16 or more keeps the byte of `d`, which is tied.
    TBX = one("tbx", "Vd.16b, {Vn.16b}, Vm.16b", 0x4E00_1000);

    // Reductions.
    UMAXV = one("umaxv", "Sd, Vn.4s", 0x6EB0_A800);
    UMINV = one("uminv", "Sd, Vn.4s", 0x6EB1_A800);
    ADDV_S = one("addv", "Sd, Vn.4s", 0x4EB1_B800);
    ADDV_8B = one("addv", "Bd, Vn.8b", 0x0E31_B800);

    // Constants. `lower/values` chooses between them.
    MOVI_2D = one("movi", "Vd.2d, #", 0x6F00_E400);
    MOVI_4S = one("movi", "Vd.4s, #<, lsl $>", 0x4F00_0400);
    MVNI_4S = one("mvni", "Vd.4s, #<, lsl $>", 0x6F00_0400);
    MOVI_MSL = one("movi", "Vd.4s, #, msl $", 0x4F00_C400);
    MVNI_MSL = one("mvni", "Vd.4s, #, msl $", 0x6F00_C400);
    MOVI_16B = one("movi", "Vd.16b, #", 0x4F00_E400);
    FMOV_V = Opcode { wide: 1 << 29, ..one("fmov", "Vd.T, %", 0x4F00_F400) };
}
