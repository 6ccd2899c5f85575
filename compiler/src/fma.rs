//! Fused multiply-add with one rounding, on every system.
//!
//! `mul_add` calls the C library if the processor is not known to have the instruction. The `fma` of MinGW's C library
//! rounds twice, so the crate libm replaces it on Windows.

/// Returns `a * b + c`, rounded once.
#[cfg(not(windows))]
pub fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// Returns `a * b + c`, rounded once.
#[cfg(windows)]
pub fn fma(a: f64, b: f64, c: f64) -> f64 {
    libm::fma(a, b, c)
}

/// Returns `a * b + c`, rounded once.
#[cfg(not(windows))]
pub fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// Returns `a * b + c`, rounded once.
#[cfg(windows)]
pub fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    libm::fmaf(a, b, c)
}

#[cfg(test)]
mod tests {
    use super::{fma, fmaf};

    #[test]
    fn results_are_rounded_once() {
        // The product has 106 bits. If the product were rounded to fewer bits, the sum would be zero.
        let e = 2.0_f64.powi(-53);
        assert_eq!(fma(1.0 - e, 1.0 - e, -(1.0 - 2.0 * e)), e * e);
        // The exact sum, 1 + 2^-24 + 2^-60, is just above the middle between two floats. Rounded to a double, the sum
        // would be exactly this middle.
        let (a, b) = (1.0 + 2.0_f32.powi(-12), 1.0 - 2.0_f32.powi(-12) + 2.0_f32.powi(-24));
        assert_eq!(fmaf(a, b * 2.0_f32.powi(-24), 1.0), 1.0 + f32::EPSILON);
    }
}
