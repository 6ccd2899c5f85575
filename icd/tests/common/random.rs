//! Random numbers that are the same in every run, and numbers from the environment.

/// A generator of pseudo-random numbers. The field is the seed.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Returns the number in an environment variable, or `default` if the variable is missing or not a number.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
