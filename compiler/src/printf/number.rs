//! Formats numbers exactly as C99's `printf` (7.19.6.1).
//!
//! A double is a sum of powers of two, so its decimal expansion is finite. All its digits are computed. They are then
//! rounded once, to nearest even, at the precision. The result does not depend on the host's C library or locale.

use super::format::Spec;

/// Maximum number of computed digits after the decimal point. All further digits of a finite double are zero.
const MAX_DIGITS: u32 = 1100;
/// Maximum field width and precision, in characters.
const MAX_WIDTH: u32 = 1 << 16;

/// An unsigned integer of any size. Each element has 32 bits, lowest first.
struct Big(Vec<u32>);

impl Big {
    fn new(mut value: u64) -> Self {
        let mut words = Vec::new();
        while value != 0 {
            words.push(value as u32);
            value >>= 32;
        }
        Self(words)
    }

    fn multiply(&mut self, factor: u32) {
        let mut carry = 0_u64;
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + carry;
            *word = product as u32;
            carry = product >> 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides in place and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0_u64;
        for word in self.0.iter_mut().rev() {
            let part = rest << 32 | u64::from(*word);
            *word = (part / u64::from(divisor)) as u32;
            rest = part % u64::from(divisor);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest as u32
    }

    /// Returns the decimal digits (0 to 9), highest first. Empty for zero.
    fn digits(mut self) -> Vec<u8> {
        let mut digits = Vec::new();
        while !self.0.is_empty() {
            let mut part = self.divide(1_000_000_000);
            for _ in 0..9 {
                digits.push((part % 10) as u8);
                part /= 10;
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        digits
    }
}

/// A finite decimal number: `0.d1d2d3... * 10^point`, where `d1` is not zero. Zero has no digits.
struct Decimal {
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// Returns the magnitude of a finite number, with all digits.
    fn exact(value: f64) -> Self {
        let (mantissa, exponent) = parts(value);
        let mut big = Big::new(mantissa);
        let mut decimals = 0;
        if exponent >= 0 {
            for _ in 0..exponent / 16 {
                big.multiply(1 << 16);
            }
            big.multiply(1 << (exponent % 16));
        } else {
            // m / 2^k = m * 5^k / 10^k
            decimals = -exponent;
            for _ in 0..decimals / 12 {
                big.multiply(244_140_625);
            }
            big.multiply(5_u32.pow(decimals.unsigned_abs() % 12));
        }
        let digits = big.digits();
        let point = digits.len() as i32 - decimals;
        Self { digits, point }
    }

    /// Rounds to `keep` digits, to nearest even. If `keep` is negative, the result is zero.
    fn round(&mut self, keep: i64) {
        if keep >= self.digits.len() as i64 {
            return;
        }
        if keep < 0 {
            self.digits.clear();
            return;
        }
        let keep = keep as usize;
        let rest = self.digits.split_off(keep);
        let half = rest.first() == Some(&5) && rest.iter().skip(1).all(|&digit| digit == 0);
        let odd = self.digits.last().is_some_and(|digit| digit % 2 == 1);
        let up = rest.first().is_some_and(|&digit| digit >= 5) && (!half || odd);
        if !up {
            return;
        }
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.digits.truncate(keep.max(1));
        self.point += 1;
    }

    /// Returns the digit with the weight `10^power`.
    fn at(&self, power: i32) -> u8 {
        let index = i64::from(self.point) - 1 - i64::from(power);
        usize::try_from(index).ok().and_then(|index| self.digits.get(index)).copied().unwrap_or(0)
    }
}

/// Returns the magnitude of a finite number as `mantissa * 2^exponent`.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52) as i32 & 0x7ff {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    }
}

/// The text of a number before padding: a sign and base prefix, and the digits. Padding zeros are inserted between
/// prefix and digits.
struct Text {
    prefix: String,
    body: String,
    /// Whether the flag `0` applies to this number.
    zeros: bool,
}

fn pad(out: &mut Vec<u8>, spec: &Spec, text: &Text) {
    let length = text.prefix.len() + text.body.len();
    let missing = (spec.width.min(MAX_WIDTH) as usize).saturating_sub(length);
    let fill = |out: &mut Vec<u8>, byte: u8| out.resize(out.len() + missing, byte);
    let zeros = spec.flags.zero && !spec.flags.left && text.zeros;
    if !spec.flags.left && !zeros {
        fill(out, b' ');
    }
    out.extend_from_slice(text.prefix.as_bytes());
    if zeros {
        fill(out, b'0');
    }
    out.extend_from_slice(text.body.as_bytes());
    if spec.flags.left {
        fill(out, b' ');
    }
}

fn sign(spec: &Spec, negative: bool) -> String {
    match (negative, spec.flags.plus, spec.flags.space) {
        (true, _, _) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
    .to_owned()
}

/// Writes bytes padded to the field width.
pub(super) fn field(out: &mut Vec<u8>, spec: &Spec, bytes: &[u8]) {
    let missing = (spec.width.min(MAX_WIDTH) as usize).saturating_sub(bytes.len());
    if !spec.flags.left {
        out.resize(out.len() + missing, b' ');
    }
    out.extend_from_slice(bytes);
    if spec.flags.left {
        out.resize(out.len() + missing, b' ');
    }
}

/// Writes an integer of `width` bits. `bits` is zero-extended.
pub(super) fn integer(out: &mut Vec<u8>, spec: &Spec, bits: u64, width: u32) {
    let signed = matches!(spec.conversion, b'd' | b'i');
    let shift = 64 - width.clamp(1, 64);
    let value = (bits << shift).cast_signed() >> shift;
    let negative = signed && value < 0;
    let magnitude = if signed { value.unsigned_abs() } else { bits };
    let mut prefix = if signed { sign(spec, negative) } else { String::new() };
    let mut body = match spec.conversion {
        b'o' => format!("{magnitude:o}"),
        b'x' => format!("{magnitude:x}"),
        b'X' => format!("{magnitude:X}"),
        _ => magnitude.to_string(),
    };
    if magnitude == 0 && spec.precision == Some(0) {
        body.clear();
    }
    let least = spec.precision.unwrap_or(1).min(MAX_WIDTH) as usize;
    if body.len() < least {
        body.insert_str(0, &"0".repeat(least - body.len()));
    }
    if spec.flags.alternative {
        match spec.conversion {
            b'o' if !body.starts_with('0') => body.insert(0, '0'),
            b'x' if magnitude != 0 => prefix = "0x".to_owned(),
            b'X' if magnitude != 0 => prefix = "0X".to_owned(),
            _ => {}
        }
    }
    pad(out, spec, &Text { prefix, body, zeros: spec.precision.is_none() });
}

/// Writes a floating-point number.
pub(super) fn float(out: &mut Vec<u8>, spec: &Spec, value: f64) {
    let upper = spec.conversion.is_ascii_uppercase();
    let mut prefix = sign(spec, value.is_sign_negative());
    let mut zeros = true;
    let mut body = if value.is_nan() || value.is_infinite() {
        zeros = false;
        if value.is_nan() { "nan" } else { "inf" }.to_owned()
    } else {
        match spec.conversion.to_ascii_lowercase() {
            b'a' => {
                prefix.push_str("0x");
                hexadecimal(spec, value)
            }
            b'e' => exponential(value, spec.precision.unwrap_or(6), spec.flags.alternative),
            b'g' => general(value, spec.precision.unwrap_or(6).max(1), spec.flags.alternative),
            _ => fixed(Decimal::exact(value), spec.precision.unwrap_or(6), spec.flags.alternative),
        }
    };
    if upper {
        body.make_ascii_uppercase();
        prefix.make_ascii_uppercase();
    }
    pad(out, spec, &Text { prefix, body, zeros });
}

fn digit(digit: u8) -> char {
    char::from(b'0' + digit)
}

/// Appends the zeros of a precision that exceeds [`MAX_DIGITS`].
fn more_zeros(text: &mut String, precision: u32) {
    let more = precision.min(MAX_WIDTH).saturating_sub(MAX_DIGITS);
    text.push_str(&"0".repeat(more as usize));
}

fn fixed(mut decimal: Decimal, precision: u32, point: bool) -> String {
    let computed = precision.min(MAX_DIGITS) as i32;
    decimal.round(i64::from(decimal.point) + i64::from(computed));
    let mut text = String::new();
    for power in (0..decimal.point.max(1)).rev() {
        text.push(digit(decimal.at(power)));
    }
    if precision > 0 || point {
        text.push('.');
    }
    for power in 1..=computed {
        text.push(digit(decimal.at(-power)));
    }
    more_zeros(&mut text, precision);
    text
}

/// Returns the rounded digits of `%e`, and the decimal exponent.
fn scientific(value: f64, precision: u32) -> (Decimal, i32) {
    let mut decimal = Decimal::exact(value);
    decimal.round(i64::from(precision.min(MAX_DIGITS)) + 1);
    let exponent = if decimal.digits.is_empty() { 0 } else { decimal.point - 1 };
    (decimal, exponent)
}

fn exponential(value: f64, precision: u32, point: bool) -> String {
    let (decimal, exponent) = scientific(value, precision);
    let lane = |index: usize| digit(decimal.digits.get(index).copied().unwrap_or(0));
    let mut text = String::new();
    text.push(lane(0));
    if precision > 0 || point {
        text.push('.');
    }
    for index in 1..=precision.min(MAX_DIGITS) as usize {
        text.push(lane(index));
    }
    more_zeros(&mut text, precision);
    text.push_str(&format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs()));
    text
}

fn general(value: f64, precision: u32, alternative: bool) -> String {
    let (_, exponent) = scientific(value, precision - 1);
    let (mut text, tail) = if exponent >= -4 && i64::from(exponent) < i64::from(precision) {
        let decimals = i64::from(precision) - 1 - i64::from(exponent);
        (fixed(Decimal::exact(value), u32::try_from(decimals).unwrap_or(0), alternative), String::new())
    } else {
        let mut text = exponential(value, precision - 1, alternative);
        let tail = text.find('e').map(|at| text.split_off(at)).unwrap_or_default();
        (text, tail)
    };
    if !alternative && text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text + &tail
}

fn hexadecimal(spec: &Spec, value: f64) -> String {
    let (mut mantissa, mut exponent) = parts(value);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // Move the leading one to bit 52, also for denormals.
        let shift = mantissa.leading_zeros() as i32 - 11;
        mantissa <<= shift;
        exponent += 52 - shift;
    }
    let kept = spec.precision.unwrap_or(13).min(13);
    if kept < 13 {
        let cut = 4 * (13 - kept);
        let rest = mantissa & ((1 << cut) - 1);
        let half = 1_u64 << (cut - 1);
        mantissa >>= cut;
        if rest > half || (rest == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= cut;
    }
    let mut digits = format!("{:013x}", mantissa & ((1 << 52) - 1));
    match spec.precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) => {
            digits.truncate(kept as usize);
            digits.push_str(&"0".repeat((precision.min(MAX_WIDTH) as usize).saturating_sub(digits.len())));
        }
    }
    let point = if !digits.is_empty() || spec.flags.alternative { "." } else { "" };
    format!("{:x}{point}{digits}p{exponent:+}", mantissa >> 52)
}
