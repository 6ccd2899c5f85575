//! Computes the values of literals (C99 6.4.4, OpenCL C 6.3): pp-numbers, character constants and strings.

use crate::ast::{FloatSuffix, IntSuffix};
use crate::diag::WarningGroup;

/// The value of a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    /// At most 127 bits: the value must fit a signed 128-bit integer.
    Int {
        value: u128,
        decimal: bool,
        suffix: IntSuffix,
    },
    Float {
        value: f64,
        suffix: FloatSuffix,
        text: String,
    },
}

/// Parses a pp-number. Fails with a message in clang's wording.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    let lower = text.to_ascii_lowercase();
    let hex = lower.starts_with("0x");
    let is_float = if hex { lower.contains(['.', 'p']) } else { lower.contains(['.', 'e']) };
    if !is_float && (text.contains("lL") || text.contains("Ll")) {
        let suffix = text.trim_start_matches(|c: char| c.is_ascii_hexdigit() || c.eq_ignore_ascii_case(&'x'));
        return Err(format!("invalid suffix '{suffix}' on integer constant"));
    }
    if is_float { float(&lower, hex) } else { integer(&lower, hex) }
}

fn integer(text: &str, hex: bool) -> Result<Number, String> {
    let (radix, digits) = if hex {
        (16, &text[2..])
    } else if let Some(rest) = text.strip_prefix("0b") {
        (2, rest)
    } else if text.starts_with('0') {
        (8, text)
    } else {
        (10, text)
    };
    let end = digits.find(|c: char| !c.is_digit(if radix == 16 { 16 } else { 10 })).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if digits.is_empty() {
        return Err(format!("invalid suffix '{}' on integer constant", &text[1..]));
    }
    let suffix = integer_suffix(suffix)?;
    let mut value: u128 = 0;
    for c in digits.chars() {
        let Some(digit) = c.to_digit(radix) else {
            let name = if radix == 8 { "octal" } else { "binary" };
            return Err(format!("invalid digit '{c}' in {name} constant"));
        };
        value = value
            .checked_mul(u128::from(radix))
            .and_then(|value| value.checked_add(u128::from(digit)))
            .filter(|value| value >> 127 == 0)
            .ok_or("integer literal is too large to be represented in any integer type")?;
    }
    Ok(Number::Int { value, decimal: radix == 10, suffix })
}

fn integer_suffix(suffix: &str) -> Result<IntSuffix, String> {
    // The suffixes of `long long` are accepted, because portable sources use them. `long long` has 64 bits, like
    // `long`.
    match suffix {
        "" => Ok(IntSuffix::default()),
        "u" => Ok(IntSuffix { unsigned: true, long: false }),
        "l" | "ll" => Ok(IntSuffix { unsigned: false, long: true }),
        "ul" | "lu" | "ull" | "llu" => Ok(IntSuffix { unsigned: true, long: true }),
        _ => Err(format!("invalid suffix '{suffix}' on integer constant")),
    }
}

fn float(text: &str, hex: bool) -> Result<Number, String> {
    // The mantissa ends before the first character that is not a digit or a dot.
    let (mantissa, exponent_letter) = if hex { (&text[2..], 'p') } else { (text, 'e') };
    let is_digit = |c: char| if hex { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    let mantissa_end = mantissa.find(|c: char| !is_digit(c) && c != '.').unwrap_or(mantissa.len());
    let (digits, rest) = mantissa.split_at(mantissa_end);
    if digits.matches('.').count() > 1 {
        let second = digits.match_indices('.').nth(1).map_or(0, |(at, _)| at);
        return Err(format!("invalid suffix '{}' on floating constant", &mantissa[second..]));
    }
    let (exponent, suffix) = match rest.strip_prefix(exponent_letter) {
        Some(rest) => {
            let sign = usize::from(rest.starts_with(['+', '-']));
            let end = rest[sign..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| at + sign);
            if end == sign {
                return Err("exponent has no digits".to_owned());
            }
            // An exponent that exceeds 64 bits is clamped: the value is zero or infinity.
            (Some(rest[..end].parse::<i64>().unwrap_or(if rest.starts_with('-') { -1_000_000 } else { 1_000_000 })), &rest[end..])
        }
        None if hex => return Err("hexadecimal floating constant requires an exponent".to_owned()),
        None => (None, rest),
    };
    let float_suffix = match suffix {
        "" => FloatSuffix::None,
        "f" => FloatSuffix::Float,
        "h" => FloatSuffix::Half,
        // OpenCL C reserves `long double`, but clang accepts its constants. `1.0d` is not valid in C.
        "l" => FloatSuffix::None,
        _ => return Err(format!("invalid suffix '{suffix}' on floating constant")),
    };
    // A decimal constant has a digit: otherwise it would not be a pp-number.
    if !digits.contains(is_digit) {
        return Err("hexadecimal floating constant requires a significand".to_owned());
    }
    let spelling = &text[..text.len() - suffix.len()];
    let value = if hex { hex_float(digits, exponent.unwrap_or(0)) } else { spelling.parse().map_err(|_| "invalid floating constant")? };
    Ok(Number::Float { value, suffix: float_suffix, text: spelling.to_owned() })
}

/// Returns the hexadecimal number `digits`, which may contain a dot, times 2 to the power of `exponent`, correctly
/// rounded to double.
pub(crate) fn hex_float(digits: &str, exponent: i64) -> f64 {
    let (significand, scale) = hex_significand(digits);
    scale_to_double(significand, scale.saturating_add(exponent.clamp(-10_000_000, 10_000_000)))
}

/// Returns the significant bits and their binary exponent. If there are more than 64 bits, returns the first 61 to 64.
/// The last bit is also 1 if a later bit is 1.
fn hex_significand(digits: &str) -> (u64, i64) {
    let (mut significand, mut scale, mut in_fraction) = (0_u64, 0_i64, false);
    for c in digits.chars() {
        let Some(digit) = c.to_digit(16) else {
            in_fraction = true;
            continue;
        };
        if significand >> 60 == 0 {
            significand = significand << 4 | u64::from(digit);
            scale -= if in_fraction { 4 } else { 0 };
        } else {
            significand |= u64::from(digit != 0);
            scale += if in_fraction { 0 } else { 4 };
        }
    }
    (significand, scale)
}

fn scale_to_double(significand: u64, scale: i64) -> f64 {
    if significand == 0 {
        return 0.0;
    }
    let shift = i64::from(significand.leading_zeros());
    let normal = significand << shift;
    // value = normal * 2^(scale - shift), with the leading bit of `normal` at 2^63.
    let exponent = scale - shift + 63;
    if exponent > 1023 {
        return f64::INFINITY;
    }
    // A double has 53 significant bits, so 11 of the 64 bits are dropped, and more for denormals.
    let drop = if exponent < -1022 { (11 - 1022 - exponent).min(64) } else { 11 };
    let (kept, rest, half) = if drop >= 64 {
        (0_u64, u128::from(normal), 1_u128 << 63)
    } else {
        (normal >> drop, u128::from(normal & ((1 << drop) - 1)), 1_u128 << (drop - 1))
    };
    if drop >= 64 && exponent < -1075 {
        return 0.0;
    }
    let up = rest > half || rest == half && kept & 1 == 1;
    let kept = kept + u64::from(up);
    // A carry out of the significand increments the exponent.
    let biased = if exponent < -1022 { 0 } else { (exponent + 1022).unsigned_abs() };
    f64::from_bits((biased << 52) + kept)
}

/// Whether a character or string literal has the prefix `L`.
pub(crate) fn is_wide(text: &str) -> bool {
    text.starts_with('L')
}

/// A problem in a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    Error(String),
    Warning(WarningGroup, String),
}

/// Returns the bytes of a string or character literal. `text` includes the quotes and the prefix. Appends to
/// `problems`.
pub(crate) fn unescape(text: &str, problems: &mut Vec<Problem>) -> Vec<u8> {
    let text = text.strip_prefix('L').unwrap_or(text);
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("").as_bytes();
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(byte) = inner.get(at).copied() {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let escape = inner.get(at).copied().unwrap_or(b'\\');
        at += 1;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'e' => out.push(27),
            b'\\' | b'\'' | b'"' | b'?' => out.push(escape),
            b'0'..=b'7' => {
                let mut value = u32::from(escape - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = inner.get(at).copied() else { break };
                    value = value * 8 + u32::from(digit - b'0');
                    at += 1;
                }
                if value > 255 {
                    problems.push(Problem::Error("octal escape sequence out of range".to_owned()));
                }
                out.push((value & 0xff) as u8);
            }
            b'x' => {
                let (mut value, mut digits) = (0_u32, 0);
                while let Some(digit) = inner.get(at).and_then(|byte| (*byte as char).to_digit(16)) {
                    value = (value << 4 | digit) & 0xfff_ffff;
                    digits += 1;
                    at += 1;
                }
                if digits == 0 {
                    problems.push(Problem::Error("\\x used with no following hex digits".to_owned()));
                } else if value > 255 {
                    problems.push(Problem::Error("hex escape sequence out of range".to_owned()));
                }
                out.push((value & 0xff) as u8);
            }
            b'u' | b'U' => match universal_character(&inner[at - 1..]) {
                Ok((character, length)) => {
                    at += length - 1;
                    out.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Err(problem) => problems.push(Problem::Error(problem)),
            },
            other => {
                let text = format!("unknown escape sequence '\\{}'", other as char);
                problems.push(Problem::Warning(WarningGroup::UnknownEscapeSequence, text));
                out.push(other);
            }
        }
    }
    out
}

/// Returns the character of a universal character name (C99 6.4.3), and the length of the name in bytes. `name` starts
/// after the backslash. Fails with a message in clang's wording.
pub(crate) fn universal_character(name: &[u8]) -> Result<(char, usize), String> {
    let letter = name.first().copied().unwrap_or(b'u');
    let length = if letter == b'U' { 8 } else { 4 };
    let digits = name.iter().skip(1).take(length).map_while(|byte| (*byte as char).to_digit(16));
    let (count, value) = digits.fold((0, 0_u32), |(count, value), digit| (count + 1, value << 4 | digit));
    if count == 0 {
        return Err(format!("\\{} used with no following hex digits", letter as char));
    }
    if count < length {
        return Err("incomplete universal character name".to_owned());
    }
    let character = char::from_u32(value).ok_or("invalid universal character")?;
    match character {
        '$' | '@' | '`' | '\u{a0}'.. => Ok((character, 1 + length)),
        ' '..='~' => Err(format!("character '{character}' cannot be specified by a universal character name")),
        _ => Err("universal character name refers to a control character".to_owned()),
    }
}

/// Returns the value of a character constant. `text` includes the quotes and the prefix. Appends messages as
/// [`unescape`] does. A single character has the value of a signed `char`. Several characters are the bytes of a
/// big-endian number. The value of a constant with the prefix `L` is its last character.
pub(crate) fn character(text: &str, problems: &mut Vec<Problem>) -> i32 {
    let bytes = unescape(text, problems);
    if bytes.is_empty() {
        if problems.is_empty() {
            problems.push(Problem::Error("empty character constant".to_owned()));
        }
        return 0;
    }
    if is_wide(text) {
        let (count, last) = wide_characters(&bytes);
        if count > 1 {
            let text = "extraneous characters in character constant ignored";
            problems.push(Problem::Warning(WarningGroup::Multichar, text.to_owned()));
        }
        return last.cast_signed();
    }
    if has_non_ascii_universal_character(text) {
        problems.push(Problem::Error("character too large for enclosing character literal type".to_owned()));
    } else if bytes.len() > 1 && problems.iter().all(|problem| matches!(problem, Problem::Warning(..))) {
        problems.push(Problem::Warning(WarningGroup::Multichar, "multi-character character constant".to_owned()));
    }
    match bytes[..] {
        [byte] => i32::from(byte as i8),
        _ => bytes.iter().fold(0_i32, |value, byte| value << 8 | i32::from(*byte)),
    }
}

/// Returns the number of characters, and the last character. A byte that is not valid UTF-8, which an escape sequence
/// can create, counts as a character.
fn wide_characters(bytes: &[u8]) -> (usize, u32) {
    bytes.utf8_chunks().fold((0, 0), |(mut count, mut last), chunk| {
        for character in chunk.valid().chars() {
            (count, last) = (count + 1, u32::from(character));
        }
        for byte in chunk.invalid() {
            (count, last) = (count + 1, u32::from(*byte));
        }
        (count, last)
    })
}

/// Whether a literal contains a universal character name for a character that is not ASCII.
fn has_non_ascii_universal_character(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        if matches!(bytes[at + 1], b'u' | b'U') && universal_character(&bytes[at + 1..]).is_ok_and(|(found, _)| !found.is_ascii()) {
            return true;
        }
        at += 2;
    }
    false
}
