//! Constants that often reveal errors.

use wgcl_codegen::vir::Elem;

use super::SIZE;
use crate::support::Random;

#[rustfmt::skip]
const I32: [u32; 14] = [
    0, 1, 2, 3,
    // Shift amounts at the width.
    31, 32,
    // The limits of signed and unsigned integers, and their neighbours.
    0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_ffff, 0xffff_fffe,
    // Limits and fields of 8-bit and 16-bit integers; 0x7c00 is infinity as `half`.
    0x0000_ffff, 0x7c00, 0x00ff_00ff,
];
#[rustfmt::skip]
const I64: [u64; 16] = [
    0, 1, 2,
    // Shift amounts at the width.
    63, 64,
    // The limits of 32-bit integers.
    0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1_0000_0000,
    // The limits of signed and unsigned integers, and their neighbours.
    i64::MAX as u64, i64::MIN as u64, i64::MIN as u64 + 1, u64::MAX, u64::MAX - 1,
    // One above the midpoint of two neighbouring floats: a conversion through `double` returns the lower one.
    0x0080_0000_8000_0001,
    // One below the midpoint of 2^63 and the largest float below 2^63: a conversion through `double` returns 2^63.
    0x7fff_ffbf_ffff_ffff,
];
#[rustfmt::skip]
const F32: [u32; 24] = [
    // Zeros and ones of both signs.
    0, 0x8000_0000, 0x3f80_0000, 0xbf80_0000,
    // 0.5, -0.5, 1.5 and 2.5: ties of rounding.
    0x3f00_0000, 0xbf00_0000, 0x3fc0_0000, 0x4020_0000,
    // Infinities, quiet NaNs, and a signalling NaN.
    0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffc0_0001, 0x7f80_0001,
    // The smallest denormals, the largest one, and the smallest normal number.
    1, 0x8000_0001, 0x007f_ffff, 0x0080_0000,
    // The largest numbers.
    0x7f7f_ffff, 0xff7f_ffff,
    // 2^31, -2^31, and the largest float below 2^32: the limits of conversions to integers.
    0x4f00_0000, 0xcf00_0000, 0x4f7f_ffff,
    // The largest `half`, and its midpoint with the next power of two.
    0x477f_e000, 0x477f_f000,
];
#[rustfmt::skip]
const F64: [u64; 24] = [
    // Zeros and ones of both signs.
    0, 0x8000_0000_0000_0000, 0x3ff0_0000_0000_0000, 0xbff0_0000_0000_0000,
    // 0.5, -0.5, 1.5 and 2.5: ties of rounding.
    0x3fe0_0000_0000_0000, 0xbfe0_0000_0000_0000, 0x3ff8_0000_0000_0000, 0x4004_0000_0000_0000,
    // Infinities, quiet NaNs, and a signalling NaN.
    0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0x7ff8_0000_0000_0000, 0xfff8_0000_0000_0001, 0x7ff0_0000_0000_0001,
    // The smallest denormals, the largest one, and the smallest normal number.
    1, 0x8000_0000_0000_0001, 0x000f_ffff_ffff_ffff, 0x0010_0000_0000_0000,
    // The largest number.
    0x7fef_ffff_ffff_ffff,
    // 2^31 - 1, -2^31 and 2^32 - 1: the limits of conversions to 32-bit integers.
    0x41df_ffff_ffc0_0000, 0xc1e0_0000_0000_0000, 0x41ef_ffff_ffe0_0000,
    // The largest double below 2^63, -2^63, and the largest one below 2^64: the limits for 64-bit integers.
    0x43df_ffff_ffff_ffff, 0xc3e0_0000_0000_0000, 0x43ef_ffff_ffff_ffff,
];

/// The bits of a special, common or random number.
pub fn number(random: &mut Random, elem: Elem) -> u64 {
    let usual = random.below(2001) as f64 / 8.0 - 125.0;
    match (elem, random.below(5)) {
        (Elem::I32, 0 | 1) => u64::from(random.of(&I32)),
        (Elem::I64, 0 | 1) => random.of(&I64),
        (Elem::F32, 0 | 1) => u64::from(random.of(&F32)),
        (Elem::F64, 0 | 1) => random.of(&F64),
        (Elem::I32 | Elem::I64, 2) => random.below(100) as u64,
        (Elem::F32, 2 | 3) => u64::from((usual as f32).to_bits()),
        (Elem::F64, 2 | 3) => usual.to_bits(),
        (Elem::I32 | Elem::F32, _) => random.next() >> 32,
        _ => random.next(),
    }
}

/// The initial memory of a program.
pub fn memory(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut bytes = Vec::new();
    while bytes.len() < SIZE as usize {
        let elem = random.of(&[Elem::I32, Elem::I64, Elem::F32, Elem::F64]);
        for _ in 0..8 / elem.bytes() {
            bytes.extend_from_slice(&number(&mut random, elem).to_le_bytes()[..elem.bytes() as usize]);
        }
    }
    bytes
}
