//! The floating-point formats: bits, rounding to nearest even, and the specification's unit in the last place (7.4).

use rug::Float;
use rug::float::Round;

/// A binary format of IEEE 754. `f64` represents all of its values, so the test computes with `f64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The type's name in OpenCL C.
    pub name: &'static str,
    /// Bits of the significand, including the hidden bit.
    pub precision: u32,
    /// Binary exponent of the smallest normal number.
    pub least: i32,
    /// Binary exponent of the largest number.
    pub most: i32,
    pub size: usize,
}

pub const FLOAT: Format = Format { name: "float", precision: 24, least: -126, most: 127, size: 4 };
pub const DOUBLE: Format = Format { name: "double", precision: 53, least: -1022, most: 1023, size: 8 };
pub const HALF: Format = Format { name: "half", precision: 11, least: -14, most: 15, size: 2 };

/// Returns 2 to the power `n`. Outside of the range of `f64`, returns 0 or infinity.
pub fn pow2(n: i32) -> f64 {
    2f64.powi(n / 2) * 2f64.powi(n - n / 2)
}

impl Format {
    /// Returns the index of the format in a function's list of bounds.
    pub fn index(&self) -> usize {
        match self.size {
            4 => 0,
            8 => 1,
            _ => 2,
        }
    }

    /// Returns the number of stored bits of the significand.
    pub fn stored(&self) -> u32 {
        self.precision - 1
    }

    /// Returns the largest value of the exponent field, which infinities and NaNs have.
    pub fn top(&self) -> u64 {
        u64::from((self.most + 1 - self.least + 1).unsigned_abs())
    }

    pub fn min_normal(&self) -> f64 {
        pow2(self.least)
    }

    pub fn max(&self) -> f64 {
        (2.0 - pow2(1 - self.precision.cast_signed())) * pow2(self.most)
    }

    /// Returns the value that these bits represent.
    pub fn decode(&self, bits: u64) -> f64 {
        let stored = self.stored();
        let fraction = bits & ((1 << stored) - 1);
        let field = (bits >> stored) & self.top();
        let sign = if bits >> (self.size * 8 - 1) & 1 == 1 { -1.0 } else { 1.0 };
        let unit = |exponent: i32| pow2(exponent - stored.cast_signed());
        #[allow(clippy::cast_precision_loss, reason = "at most 53 bits")]
        let magnitude = match field {
            0 => fraction as f64 * unit(self.least),
            field if field == self.top() && fraction == 0 => f64::INFINITY,
            field if field == self.top() => f64::NAN,
            field => {
                let exponent = i32::try_from(field).unwrap_or(0) - 1 + self.least;
                // Multiply in two steps, because the unit in the last place of a small double is a denormal.
                (1.0 + fraction as f64 * pow2(-stored.cast_signed())) * pow2(exponent)
            }
        };
        sign * magnitude
    }

    /// Returns the bits of a value, which the format must represent exactly.
    pub fn encode(&self, value: f64) -> u64 {
        if self.size == 8 {
            return value.to_bits();
        }
        let bits = value.to_bits();
        let stored = self.stored();
        let sign = bits >> 63 << (self.size * 8 - 1);
        if !value.is_finite() {
            let quiet = u64::from(value.is_nan()) << (stored - 1);
            return sign | self.top() << stored | quiet;
        }
        let exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0) - 1023;
        if exponent < self.least {
            // The value is a denormal, which is a multiple of the smallest denormal.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole number")]
            return sign | (value.abs() / pow2(self.least - stored.cast_signed())) as u64;
        }
        let field = u64::from((exponent - self.least + 1).unsigned_abs());
        sign | field << stored | (bits & ((1 << 52) - 1)) >> (52 - stored)
    }

    /// Rounds to the nearest value of the format, ties to even. Returns infinity from half a unit beyond the largest
    /// value on.
    pub fn round(&self, value: &Float) -> f64 {
        self.round_to(value, Round::Nearest)
    }

    /// Rounds to a value of the format in a rounding direction.
    pub fn round_to(&self, value: &Float, direction: Round) -> f64 {
        let Some(exponent) = value.get_exp() else { return value.to_f64() };
        let precision = self.precision.cast_signed();
        // 2^(exponent - 1) <= |value| < 2^exponent.
        let bits = precision.min(exponent - (self.least - precision + 1));
        let outwards = if value.is_sign_negative() { direction == Round::Down } else { direction == Round::Up };
        let tiny = pow2(self.least - precision + 1);
        let rounded = match bits {
            // The magnitude is less than that of the smallest denormal.
            ..=0 if direction != Round::Nearest => {
                if outwards {
                    tiny
                } else {
                    0.0
                }
            }
            ..0 => 0.0,
            // The magnitude is at least half the smallest denormal. Exactly one half is a tie, which rounds to zero.
            0 if is_power(value) => 0.0,
            0 => tiny,
            bits => Float::with_val_round(bits.unsigned_abs(), value, direction).0.to_f64().abs(),
        };
        let beyond = if direction == Round::Nearest || outwards { f64::INFINITY } else { self.max() };
        let rounded = if rounded > self.max() { beyond } else { rounded };
        if value.is_sign_negative() { -rounded } else { rounded }
    }

    /// Rounds an `f64` to the nearest value of the format.
    pub fn nearest(&self, value: f64) -> f64 {
        self.round(&Float::with_val(53, value))
    }

    pub fn is_subnormal(&self, value: f64) -> bool {
        value != 0.0 && value.abs() < self.min_normal()
    }

    /// Returns the difference between a result and the exact value, in units in the last place of the exact value.
    pub fn error(&self, exact: &Float, got: f64) -> f64 {
        let precision = self.precision.cast_signed();
        let mut exponent = exact.get_exp().map_or(self.least, |exponent| exponent - 1);
        // Values below a power of two are closer to each other than values above it, so the unit is smaller.
        if is_power(exact) {
            exponent -= 1;
        }
        let unit = exponent.clamp(self.least, self.most) - precision + 1;
        let got = if got.is_infinite() { Float::with_val(2, got.signum()) << (self.most + 1) } else { Float::with_val(53, got) };
        let difference = Float::with_val(exact.prec().max(64), &got - exact) >> unit;
        difference.to_f64().abs()
    }

    /// Returns the value whose magnitude is `by` steps of the format larger than that of `value`, at most infinity.
    /// `value` must be finite.
    pub fn step(&self, value: f64, by: i64) -> f64 {
        let bits = self.encode(value.abs());
        let bits = bits.saturating_add_signed(by).min(self.encode(f64::INFINITY));
        self.decode(bits).copysign(value)
    }
}

fn is_power(value: &Float) -> bool {
    value.get_significand().is_some_and(|significand| significand.count_ones() == Some(1))
}
