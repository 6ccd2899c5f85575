//! Encodings of immediate operands.

/// Encodes a bitmask immediate in the fields N, immr and imms: a rotated run of ones that repeats with a period of 2 to
/// 64 bits. Returns `None` if the number has another pattern.
pub(super) fn logical_bits(number: u64, wide: bool) -> Option<u32> {
    let number = if wide { number } else { number << 32 | number & 0xFFFF_FFFF };
    if number == 0 || number == u64::MAX {
        return None;
    }
    let period = [2, 4, 8, 16, 32, 64].into_iter().find(|period| number.rotate_right(*period) == number)?;
    let mask = u64::MAX >> (64 - period);
    let pattern = number & mask;
    let ones = pattern.count_ones();
    // Rotate so that the run starts at bit 0.
    let rotated = |by: u32| (pattern >> by | pattern << ((period - by) % 64)) & mask;
    let run = u64::MAX >> (64 - ones);
    let start = (0..period).find(|by| if *by == 0 { pattern } else { rotated(*by) } == run)?;
    let rotation = (period - start) % period;
    let size = if period == 64 { 0 } else { !(2 * period - 1) & 0x3F };
    let n = u32::from(period == 64);
    Some(n << 22 | rotation << 16 | (size | (ones - 1)) << 10)
}

/// Returns the encoding of a float immediate with four mantissa and three exponent bits, and its value as the bits of
/// an `f64`. Returns `None` if the float does not fit.
pub(super) fn float_bits(bits: u64, double: bool) -> Option<(u32, i64)> {
    let number = if double { f64::from_bits(bits) } else { f64::from(f32::from_bits(bits as u32)) };
    let wide = number.to_bits();
    let (sign, exponent, mantissa) = ((wide >> 63) as u32, (wide >> 52 & 0x7FF) as i32 - 1023, wide & ((1 << 52) - 1));
    if !(-3..=4).contains(&exponent) || mantissa.trailing_zeros() < 48 {
        return None;
    }
    let exponent = (exponent + 3).cast_unsigned() ^ 4;
    Some((sign << 7 | exponent << 4 | (mantissa >> 48) as u32, wide.cast_signed()))
}

/// Returns one bit for each byte of a number whose bytes are 0 or 255, or `None` if another byte occurs.
pub(super) fn byte_mask(number: u64) -> Option<u32> {
    let bytes = number.to_le_bytes();
    let known = bytes.iter().all(|byte| matches!(byte, 0 | 255));
    known.then(|| (0..).zip(bytes).fold(0, |mask, (index, byte)| mask | u32::from(byte & 1) << index))
}

/// Returns a number as a 12-bit unsigned immediate, and whether the immediate is shifted left by 12. Returns `None` if
/// the number does not fit.
pub(super) fn arithmetic_imm(number: u64) -> Option<(u32, bool)> {
    if number < 1 << 12 {
        return Some((number as u32, false));
    }
    (number < 1 << 24 && number & 0xFFF == 0).then_some(((number >> 12) as u32, true))
}
