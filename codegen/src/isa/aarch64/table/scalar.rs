//! Instructions on general registers and on scalar floats.

use super::super::inst::Opcode;
use super::forms::{XN, int, one, vec};

opcodes! {
    // Two registers. The second one can be shifted.
    ADD = int("add", "Rd, Rn, Rm<, lsl #>", 0x0B00_0000);
    SUB = int("sub", "Rd, Rn, Rm<, lsl #>", 0x4B00_0000);
    AND = int("and", "Rd, Rn, Rm<, lsl #>", 0x0A00_0000);
    BIC = int("bic", "Rd, Rn, Rm<, lsl #>", 0x0A20_0000);
    ORR = int("orr", "Rd, Rn, Rm<, lsl #>", 0x2A00_0000);
    EOR = int("eor", "Rd, Rn, Rm<, lsl #>", 0x4A00_0000);
    CMP = int("cmp", "Rn, Rm", 0x6B00_001F);
    MOV = int("mov", "Rd, Rm", 0x2A00_03E0);
    MVN = int("mvn", "Rd, Rm", 0x2A20_03E0);
    NEG = int("neg", "Rd, Rm", 0x4B00_03E0);
    LSL = int("lsl", "Rd, Rn, Rm", 0x1AC0_2000);
    LSR = int("lsr", "Rd, Rn, Rm", 0x1AC0_2400);
    ASR = int("asr", "Rd, Rn, Rm", 0x1AC0_2800);
    ROR = int("ror", "Rd, Rn, Rm", 0x1AC0_2C00);
    UDIV = int("udiv", "Rd, Rn, Rm", 0x1AC0_0800);
    SDIV = int("sdiv", "Rd, Rn, Rm", 0x1AC0_0C00);
    MUL = int("mul", "Rd, Rn, Rm", 0x1B00_7C00);
    MADD = int("madd", "Rd, Rn, Rm, Ra", 0x1B00_0000);
    MSUB = int("msub", "Rd, Rn, Rm, Ra", 0x1B00_8000);
    SMULL = one("smull", "Xd, Wn, Wm", 0x9B20_7C00);
    UMULL = one("umull", "Xd, Wn, Wm", 0x9BA0_7C00);
    SMULH = one("smulh", "Xd, Xn, Xm", 0x9B40_7C00);
    UMULH = one("umulh", "Xd, Xn, Xm", 0x9BC0_7C00);
    /// Sign-extends the second source register and shifts it.
    ADD_SIGNED = one("add", "Ad, An, Wm, sxtw< #>", 0x8B20_C000);
    // In this form, the stack pointer can be an operand.
    SUB_EXTENDED = one("sub", "Ad, An, Xm", 0xCB20_6000);
    ADD_EXTENDED = one("add", "Ad, An, Xm", 0x8B20_6000);

    // One register.
    CLZ = int("clz", "Rd, Rn", 0x5AC0_1000);
    RBIT = int("rbit", "Rd, Rn", 0x5AC0_0000);
    SXTW = one("sxtw", "Xd, Wn", 0x9340_7C00);
    /// Zero-extends 32 bits to 64.
    UXTW = one("mov", "Wd, Wm", 0x2A00_03E0);

    // Immediates.
    ADD_IMM = int("add", "Pd, Pn, #<, lsl $>", 0x1100_0000);
    SUB_IMM = int("sub", "Pd, Pn, #<, lsl $>", 0x5100_0000);
    /// Moves to or from the stack pointer: `add` with the immediate 0.
    MOV_STACK = one("mov", "Ad, An", 0x9100_0000);
    CMP_IMM = int("cmp", "Pn, #<, lsl $>", 0x7100_001F);
    CMN_IMM = int("cmn", "Pn, #<, lsl $>", 0x3100_001F);
    AND_IMM = int("and", "Pd, Rn, #", 0x1200_0000);
    ORR_IMM = int("orr", "Pd, Rn, #", 0x3200_0000);
    EOR_IMM = int("eor", "Pd, Rn, #", 0x5200_0000);
    MOV_LOGICAL = int("mov", "Pd, #", 0x3200_03E0);
    /// The immediate is the value of the register.
    MOVZ = int("mov", "Rd, #", 0x5280_0000);
    /// The immediate is the value of the register.
    MOVN = int("mov", "Rd, #", 0x1280_0000);
    MOVK = int("movk", "Rd, #<, lsl $>", 0x7280_0000);
    LSL_IMM = Opcode { name: "lsl", text: "Rd, Rn, #", word: 0x5300_0000, wide: XN };
    LSR_IMM = Opcode { name: "lsr", text: "Rd, Rn, #", word: 0x5300_0000, wide: XN };
    ASR_IMM = Opcode { name: "asr", text: "Rd, Rn, #", word: 0x1300_0000, wide: XN };
    /// Sign-extends the low bits of `n` (their number is the second immediate) and shifts them left by the first one.
    SBFIZ = one("sbfiz", "Xd, Xn, #, $", 0x9340_0000);
    /// `extr` with the same register as both operands.
    ROR_IMM = Opcode { name: "ror", text: "Rd, Rn, #", word: 0x1380_0000, wide: XN };

    // Conditions.
    CSEL = int("csel", "Rd, Rn, Rm, ?", 0x1A80_0000);
    /// The encoding contains the inverse condition.
    CSET = int("cset", "Rd, ?", 0x1A9F_07E0);

    // Scalar floats.
    FADD = vec("fadd", "Fd, Fn, Fm", 0x1E20_2800);
    FSUB = vec("fsub", "Fd, Fn, Fm", 0x1E20_3800);
    FMUL = vec("fmul", "Fd, Fn, Fm", 0x1E20_0800);
    FDIV = vec("fdiv", "Fd, Fn, Fm", 0x1E20_1800);
    FMADD = vec("fmadd", "Fd, Fn, Fm, Fa", 0x1F00_0000);
    /// `a - n * m`
    FMSUB = vec("fmsub", "Fd, Fn, Fm, Fa", 0x1F00_8000);
    /// `n * m - a`
    FNMSUB = vec("fnmsub", "Fd, Fn, Fm, Fa", 0x1F20_8000);
    FSQRT = vec("fsqrt", "Fd, Fn", 0x1E21_C000);
    // Rounding to nearest even, toward positive infinity, toward negative infinity, and toward zero.
    FRINTN = vec("frintn", "Fd, Fn", 0x1E24_4000);
    FRINTP = vec("frintp", "Fd, Fn", 0x1E24_C000);
    FRINTM = vec("frintm", "Fd, Fn", 0x1E25_4000);
    FRINTZ = vec("frintz", "Fd, Fn", 0x1E25_C000);
    FRECPE = vec("frecpe", "Fd, Fn", 0x5EA1_D800);
    FRSQRTE = vec("frsqrte", "Fd, Fn", 0x7EA1_D800);
    /// `2 - n * m`
    FRECPS = vec("frecps", "Fd, Fn, Fm", 0x5E20_FC00);
    /// `(3 - n * m) / 2`
    FRSQRTS = vec("frsqrts", "Fd, Fn, Fm", 0x5EA0_FC00);
    FCMP = vec("fcmp", "Fn, Fm", 0x1E20_2000);
    FCMP_ZERO = vec("fcmp", "Fn, #0.0", 0x1E20_2008);
    FCSEL = vec("fcsel", "Fd, Fn, Fm, ?", 0x1E20_0C00);
    FMOV_IMM = vec("fmov", "Fd, %", 0x1E20_1000);
    // Moves between a general and a floating-point register of the same size.
    FMOV_TO = Opcode { name: "fmov", text: "Fd, Rn", word: 0x1E27_0000, wide: XN };
    FMOV_FROM = Opcode { name: "fmov", text: "Rd, Fn", word: 0x1E26_0000, wide: XN };
    FCVT_S_TO_D = one("fcvt", "Dd, Sn", 0x1E22_C000);
    FCVT_D_TO_S = one("fcvt", "Sd, Dn", 0x1E62_4000);
    FCVT_S_TO_H = one("fcvt", "Hd, Sn", 0x1E23_C000);
    FCVT_H_TO_S = one("fcvt", "Sd, Hn", 0x1EE2_4000);
    // `wide` selects the size of the floating-point register.
    SCVTF_W = vec("scvtf", "Fd, Wn", 0x1E22_0000);
    SCVTF_X = vec("scvtf", "Fd, Xn", 0x9E22_0000);
    UCVTF_W = vec("ucvtf", "Fd, Wn", 0x1E23_0000);
    UCVTF_X = vec("ucvtf", "Fd, Xn", 0x9E23_0000);
    FCVTZS_W = vec("fcvtzs", "Wd, Fn", 0x1E38_0000);
    FCVTZS_X = vec("fcvtzs", "Xd, Fn", 0x9E38_0000);
    FCVTZU_W = vec("fcvtzu", "Wd, Fn", 0x1E39_0000);
    FCVTZU_X = vec("fcvtzu", "Xd, Fn", 0x9E39_0000);

    // Branches and system instructions.
    /// The address of the instruction itself.
    ADR = one("adr", "Xd, 0x0", 0x1000_0000);
    BLR = one("blr", "Xn", 0xD63F_0000);
    RET = one("ret", "", 0xD65F_03C0);
    BRK = one("brk", "#", 0xD420_0000);
    /// A full barrier for the inner shareable domain.
    DMB_ISH = one("dmb", "ish", 0xD503_3BBF);
    /// Reads the virtual counter.
    MRS_COUNTER = one("mrs", "Xd, cntvct_el0", 0xD53B_E040);
}
