//! Loads and stores.

use super::super::inst::Opcode;
use super::forms::one;

/// A load or store of one register, with an opcode for each addressing mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// With an unsigned 12-bit offset in units of the access size.
    pub(crate) scaled: Opcode,
    /// With a signed 9-bit offset in bytes.
    pub(crate) unscaled: Opcode,
    /// With an index register, which can be shifted left by `log2`.
    pub(crate) indexed: Opcode,
    /// With a zero-extended and a sign-extended index register of 32 bits, which can be shifted left by `log2`.
    pub(crate) extended: [Opcode; 2],
    /// The binary logarithm of the access size in bytes.
    pub(crate) log2: u32,
}

macro_rules! access {
    ($name:literal, $unscaled:literal, $reg:literal, $log2:literal, $word:literal) => {
        Access {
            scaled: one($name, concat!($reg, ", [An<, #>]"), $word | 0x3900_0000),
            unscaled: one($unscaled, concat!($reg, ", [An<, #>]"), $word | 0x3800_0000),
            indexed: one($name, concat!($reg, ", [An, Xm<, lsl #>]"), $word | 0x3820_6800),
            extended: [
                one($name, concat!($reg, ", [An, Wm, uxtw< #>]"), $word | 0x3820_4800),
                one($name, concat!($reg, ", [An, Wm, sxtw< #>]"), $word | 0x3820_C800),
            ],
            log2: $log2,
        }
    };
}

pub(crate) const LOAD_B: Access = access!("ldrb", "ldurb", "Wd", 0, 0x0040_0000);
pub(crate) const LOAD_H: Access = access!("ldrh", "ldurh", "Wd", 1, 0x4040_0000);
pub(crate) const LOAD_W: Access = access!("ldr", "ldur", "Wd", 2, 0x8040_0000);
pub(crate) const LOAD_X: Access = access!("ldr", "ldur", "Xd", 3, 0xC040_0000);
pub(crate) const LOAD_S: Access = access!("ldr", "ldur", "Sd", 2, 0x8440_0000);
pub(crate) const LOAD_D: Access = access!("ldr", "ldur", "Dd", 3, 0xC440_0000);
pub(crate) const LOAD_Q: Access = access!("ldr", "ldur", "Qd", 4, 0x04C0_0000);
pub(crate) const STORE_B: Access = access!("strb", "sturb", "Wd", 0, 0x0000_0000);
pub(crate) const STORE_H: Access = access!("strh", "sturh", "Wd", 1, 0x4000_0000);
pub(crate) const STORE_W: Access = access!("str", "stur", "Wd", 2, 0x8000_0000);
pub(crate) const STORE_X: Access = access!("str", "stur", "Xd", 3, 0xC000_0000);
pub(crate) const STORE_S: Access = access!("str", "stur", "Sd", 2, 0x8400_0000);
pub(crate) const STORE_D: Access = access!("str", "stur", "Dd", 3, 0xC400_0000);
pub(crate) const STORE_Q: Access = access!("str", "stur", "Qd", 4, 0x0480_0000);
/// Prefetches for a store. `log2` only scales the offset.
pub(crate) const PREFETCH: Access = access!("prfm", "prfum", "pstl1keep", 3, 0xC080_0010);

opcodes! {
    // PC-relative loads of constants. The linker inserts the distance.
    LITERAL_S = one("ldr", "Sd, 0x0", 0x1C00_0000);
    LITERAL_D = one("ldr", "Dd, 0x0", 0x5C00_0000);
    LITERAL_Q = one("ldr", "Qd, 0x0", 0x9C00_0000);

    // Single lanes. These instructions have no displacement.
    LOAD_LANE_B = one("ld1", "{Vd.b}[@], [An]", 0x0D40_0000);
    LOAD_LANE_H = one("ld1", "{Vd.h}[@], [An]", 0x0D40_4000);
    LOAD_LANE_S = one("ld1", "{Vd.s}[@], [An]", 0x0D40_8000);
    LOAD_LANE_D = one("ld1", "{Vd.d}[@], [An]", 0x0D40_8400);
    STORE_LANE_B = one("st1", "{Vd.b}[@], [An]", 0x0D00_0000);
    STORE_LANE_H = one("st1", "{Vd.h}[@], [An]", 0x0D00_4000);
    STORE_LANE_S = one("st1", "{Vd.s}[@], [An]", 0x0D00_8000);
    STORE_LANE_D = one("st1", "{Vd.d}[@], [An]", 0x0D00_8400);
    /// Loads one element into all lanes.
    LOAD_SPLAT = Opcode { name: "ld1r", text: "{Vd.T}, [An]", word: 0x4D40_C800, wide: 1 << 10 };

    // Pairs. The immediate is the displacement in bytes.
    LOAD_PAIR_W = one("ldp", "Wd, Wa, [An<, #>]", 0x2940_0000);
    LOAD_PAIR_X = one("ldp", "Xd, Xa, [An<, #>]", 0xA940_0000);
    LOAD_PAIR_S = one("ldp", "Sd, Sa, [An<, #>]", 0x2D40_0000);
    LOAD_PAIR_D = one("ldp", "Dd, Da, [An<, #>]", 0x6D40_0000);
    LOAD_PAIR_Q = one("ldp", "Qd, Qa, [An<, #>]", 0xAD40_0000);
    STORE_PAIR_W = one("stp", "Wd, Wa, [An<, #>]", 0x2900_0000);
    STORE_PAIR_X = one("stp", "Xd, Xa, [An<, #>]", 0xA900_0000);
    STORE_PAIR_S = one("stp", "Sd, Sa, [An<, #>]", 0x2D00_0000);
    STORE_PAIR_D = one("stp", "Dd, Da, [An<, #>]", 0x6D00_0000);
    STORE_PAIR_Q = one("stp", "Qd, Qa, [An<, #>]", 0xAD00_0000);

    // Pushes and pops of the prologue and epilogue. The immediate is the offset in bytes.
    PUSH_PAIR = one("stp", "Xd, Xa, [An, #]!", 0xA980_0000);
    POP_PAIR = one("ldp", "Xd, Xa, [An], #", 0xA8C0_0000);
    PUSH_VECTORS = one("stp", "Dd, Da, [An, #]!", 0x6D80_0000);
    POP_VECTORS = one("ldp", "Dd, Da, [An], #", 0x6CC0_0000);
    POP_ONE = one("ldr", "Xd, [An], #", 0xF840_0400);
    POP_VECTOR = one("ldr", "Dd, [An], #", 0xFC40_0400);

    // Atomics with acquire and release semantics. An LSE instruction that stores also orders all earlier accesses
    // before all later accesses.
    /// Operands: addend (`m`), old value (`d`), address.
    LDADDAL = Opcode { wide: 1 << 30, ..one("ldaddal", "Rm, Rd, [An]", 0xB8E0_0000) };
    /// Operands: new value (`m`), old value (`d`), address.
    SWPAL = Opcode { wide: 1 << 30, ..one("swpal", "Rm, Rd, [An]", 0xB8E0_8000) };
    /// Operands: expected value (`m`, which receives the old value), new value (`d`), address.
    CASAL = Opcode { wide: 1 << 30, ..one("casal", "Rm, Rd, [An]", 0x88E0_FC00) };
    CASALH = one("casalh", "Wm, Wd, [An]", 0x48E0_FC00);
    LDAXR = Opcode { wide: 1 << 30, ..one("ldaxr", "Rd, [An]", 0x885F_FC00) };
    LDAXRH = one("ldaxrh", "Wd, [An]", 0x485F_FC00);
    /// Operands: status (`m`), new value (`d`), address.
    STLXR = Opcode { wide: 1 << 30, ..one("stlxr", "Wm, Rd, [An]", 0x8800_FC00) };
    STLXRH = one("stlxrh", "Wm, Wd, [An]", 0x4800_FC00);
}

/// Encodes the lane index of a load or store of a single lane. The lane has `1 << log2` bytes.
pub(crate) const fn memory_lane(log2: u32, lane: u8) -> u32 {
    // Q, S and the size field contain the byte offset of the lane. For 64-bit lanes, the opcode sets the size field.
    let place = (lane as u32) << log2;
    (place >> 3) << 30 | (place >> 2 & 1) << 12 | (place & 3) << 10
}
