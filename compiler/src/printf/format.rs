//! Parses format strings (OpenCL C 6.15.14.2).

/// Flags of a conversion specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// `-`: pad with spaces after the value.
    pub left: bool,
    /// `+`: also write a sign before non-negative numbers.
    pub plus: bool,
    /// Space: write a blank before non-negative numbers.
    pub space: bool,
    /// `#`: write `0x` before hexadecimal numbers, and a period in every floating-point number.
    pub alternative: bool,
    /// `0`: pad with zeros.
    pub zero: bool,
}

/// The length modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// No modifier: `int`, or a floating-point number of any type.
    None,
    /// `hh`: 8 bits.
    Char,
    /// `h`: 16 bits.
    Short,
    /// `hl`: 32-bit vector elements.
    Word,
    /// `l`: 64 bits.
    Long,
    /// `z` or `t`: the width of a pointer.
    Size,
}

/// A conversion specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub flags: Flags,
    /// Minimum field width, in characters.
    pub width: u32,
    pub precision: Option<u32>,
    /// Number of elements of a vector argument.
    pub vector: Option<u8>,
    pub length: Length,
    /// The conversion: one of `diouxXfFeEgGaAcsp`.
    pub conversion: u8,
    /// The byte range of the specification in the format.
    pub place: (usize, usize),
}

impl Spec {
    /// Whether the conversion is for an integer (not `c`).
    pub(crate) const fn is_integer(&self) -> bool {
        matches!(self.conversion, b'd' | b'i' | b'o' | b'u' | b'x' | b'X')
    }

    /// Whether the conversion is for a floating-point number.
    pub(crate) const fn is_float(&self) -> bool {
        matches!(self.conversion, b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A')
    }
}

/// An invalid specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    /// The format string ends within the specification.
    #[error("incomplete format specifier")]
    Incomplete,
    #[error("invalid conversion specifier '{}'", char::from(*.0))]
    Conversion(u8),
    /// `*` is not part of OpenCL C.
    #[error("'*' is not supported as a field width or precision in OpenCL C")]
    Star,
    /// The length modifier is not valid for the conversion. The message has clang's wording and spelling.
    #[error("length modifier '{0}' results in undefined behavior or no effect with '{conversion}' conversion specifier", conversion = char::from(*.1))]
    Length(&'static str, u8),
    /// Vectors have 2, 3, 4, 8 or 16 elements.
    #[error("invalid vector specifier: expected 2, 3, 4, 8 or 16 elements")]
    Lanes,
    /// Vector elements have no default size.
    #[error("vector specifier requires a length modifier")]
    NoLength,
}

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(Vec<u8>),
    Spec(Spec),
    /// An invalid specification and its byte range. It prints nothing.
    Bad(FormatError, (usize, usize)),
}

struct Reader<'a> {
    format: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        let mut number = 0_u32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some(number)
    }

    /// Parses the specification after the `%` at `start`. Returns `None` for `%%`.
    fn spec(&mut self, start: usize) -> Result<Option<Spec>, FormatError> {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                Some(b'-') => flags.left = true,
                Some(b'+') => flags.plus = true,
                Some(b' ') => flags.space = true,
                Some(b'#') => flags.alternative = true,
                Some(b'0') => flags.zero = true,
                _ => break,
            }
            self.at += 1;
        }
        if self.accept(b'*') {
            return Err(FormatError::Star);
        }
        let width = self.number().unwrap_or(0);
        let mut precision = None;
        if self.accept(b'.') {
            if self.accept(b'*') {
                return Err(FormatError::Star);
            }
            precision = Some(self.number().unwrap_or(0));
        }
        let mut vector = None;
        if self.accept(b'v') {
            vector = match self.number() {
                Some(lanes @ (2 | 3 | 4 | 8 | 16)) => Some(lanes as u8),
                _ => return Err(FormatError::Lanes),
            };
        }
        let (length, spelled) = self.length();
        let conversion = self.peek().ok_or(FormatError::Incomplete)?;
        self.at += 1;
        if conversion == b'%' && self.at == start + 2 {
            return Ok(None);
        }
        let spec = Spec { flags, width, precision, vector, length, conversion, place: (start, self.at) };
        if !spec.is_integer() && !spec.is_float() && !matches!(conversion, b'c' | b's' | b'p') {
            return Err(FormatError::Conversion(conversion));
        }
        let bad_length = match length {
            Length::None => false,
            Length::Word => vector.is_none(),
            Length::Char | Length::Size => !spec.is_integer(),
            Length::Short => !(spec.is_integer() || (spec.is_float() && vector.is_some())),
            Length::Long => !(spec.is_integer() || spec.is_float()),
        };
        if bad_length {
            return Err(FormatError::Length(spelled, conversion));
        }
        match vector {
            Some(_) if !spec.is_integer() && !spec.is_float() => Err(FormatError::Conversion(conversion)),
            Some(_) if length == Length::None => Err(FormatError::NoLength),
            _ => Ok(Some(spec)),
        }
    }

    fn length(&mut self) -> (Length, &'static str) {
        if self.accept(b'h') {
            if self.accept(b'h') {
                (Length::Char, "hh")
            } else if self.accept(b'l') {
                (Length::Word, "hl")
            } else {
                (Length::Short, "h")
            }
        } else if self.accept(b'l') {
            // OpenCL C reserves `ll`. It is accepted with its meaning in C.
            if self.accept(b'l') { (Length::Long, "ll") } else { (Length::Long, "l") }
        } else if self.accept(b'z') {
            (Length::Size, "z")
        } else if self.accept(b't') {
            (Length::Size, "t")
        } else {
            (Length::None, "")
        }
    }
}

/// Splits a format (without its terminating zero) into pieces.
pub(crate) fn parse(format: &[u8]) -> Vec<Piece> {
    let mut reader = Reader { format, at: 0 };
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    while let Some(byte) = reader.peek() {
        let start = reader.at;
        reader.at += 1;
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        match reader.spec(start) {
            Ok(None) => text.push(b'%'),
            Ok(Some(spec)) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Spec(spec));
            }
            Err(error) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Bad(error, (start, reader.at)));
            }
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Flags, FormatError, Length, Piece, Spec, parse};

    fn one(format: &str) -> Piece {
        let mut pieces = parse(format.as_bytes());
        assert_eq!(pieces.len(), 1, "{format}: {pieces:?}");
        pieces.remove(0)
    }

    #[test]
    fn every_part_of_a_specification_is_read() {
        let flags = Flags { left: true, plus: true, space: true, alternative: true, zero: true };
        let spec = Spec { flags, width: 12, precision: Some(3), vector: Some(16), length: Length::Word, conversion: b'f', place: (0, 16) };
        assert_eq!(one("%-+ #012.3v16hlf"), Piece::Spec(spec));
    }

    #[test]
    fn text_and_percent_signs_are_kept_together() {
        assert_eq!(parse(b"100%% of %d\n").len(), 3);
        assert_eq!(parse(b"100%% of %d\n")[0], Piece::Text(b"100% of ".to_vec()));
    }

    #[test]
    fn conversions_missing_in_opencl_c_are_rejected() {
        // The characters after an invalid specification are text.
        let bad = |format: &str| match parse(format.as_bytes()).into_iter().next() {
            Some(Piece::Bad(error, _)) => Some(error),
            _ => None,
        };
        assert_eq!(parse(b"%*d"), [Piece::Bad(FormatError::Star, (0, 2)), Piece::Text(b"d".to_vec())]);
        assert_eq!(bad("%"), Some(FormatError::Incomplete));
        assert_eq!(bad("%5.2"), Some(FormatError::Incomplete));
        assert_eq!(bad("%n"), Some(FormatError::Conversion(b'n')));
        assert_eq!(bad("%v5hld"), Some(FormatError::Lanes));
        assert_eq!(bad("%v4d"), Some(FormatError::NoLength));
        assert_eq!(bad("%hld"), Some(FormatError::Length("hl", b'd')));
        assert_eq!(bad("%hf"), Some(FormatError::Length("h", b'f')));
        assert_eq!(bad("%ls"), Some(FormatError::Length("l", b's')));
    }
}
