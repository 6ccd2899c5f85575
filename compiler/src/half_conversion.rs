//! Conversion of `double` to `half`.

use half::f16;

/// The half nearest to a `double`, ties to even. `f16::from_f64` rounds twice on processors with F16C, and ignores
/// the lower 32 bits on others.
pub(crate) fn to_half(value: f64) -> f16 {
    let exponent = i32::try_from((value.to_bits() >> 52) & 0x7ff).unwrap_or(0) - 1023;
    if exponent > 16 {
        return f16::from_f64(value);
    }
    let unit = f64::from(exponent.max(-14) - 10).exp2();
    f16::from_f64((value / unit).round_ties_even() * unit)
}

#[cfg(test)]
mod tests {
    use super::to_half;

    #[test]
    fn values_next_to_ties_are_rounded_once() {
        // A tie between 1 and 1 + 2^-10, and the doubles next to it.
        let tie = 1.0 + 2f64.powi(-11);
        for (value, bits) in [(tie, 0x3c00), (tie.next_up(), 0x3c01), (tie.next_down(), 0x3c00), (-tie.next_up(), 0xbc01)] {
            assert_eq!(to_half(value).to_bits(), bits, "{value:e}");
        }
        // Values between 0 and 2^-24, the smallest denormal. Then values near the largest half, infinity and NaN.
        let half_denormal = 2f64.powi(-25);
        assert_eq!([half_denormal, half_denormal.next_up()].map(|value| to_half(value).to_bits()), [0, 1]);
        assert_eq!(
            [65520f64.next_down(), 65520.0, 1e300, f64::INFINITY].map(|value| to_half(value).to_bits()),
            [0x7bff, 0x7c00, 0x7c00, 0x7c00]
        );
        assert!(to_half(f64::NAN).is_nan());
    }
}
