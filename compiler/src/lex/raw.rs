//! Lexes preprocessing tokens (C99 6.4): translation phases 2 and 3. The preprocessor has replaced trigraphs.

use super::interner::{Interner, Symbol};
use super::literal::universal_character;
use super::token::Punct;
use crate::diag::{SourceText, Span};

/// The kind of a preprocessing token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawKind {
    /// The end of the input.
    Eof,
    /// The end of a directive.
    EndOfLine,
    Ident,
    /// A preprocessing number, pp-number (C99 6.4.8).
    Number,
    Char,
    Str,
    Punct(Punct),
    /// A quote without a closing quote on the line.
    Unterminated,
    /// A comment without an end.
    UnterminatedComment,
    /// A character that is not part of C.
    Unknown,
    /// An invalid token. The error was reported.
    Invalid,
    /// An empty operand of `##` (C99 6.10.3.3).
    Placemarker,
    /// A pragma. The symbol contains the index in the preprocessor's list of pragmas.
    Pragma,
}

/// A preprocessing token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawToken {
    pub kind: RawKind,
    /// The spelling without line splices. Empty for punctuators.
    pub symbol: Symbol,
    pub span: Span,
    pub flags: u8,
}

impl RawToken {
    /// White space precedes the token.
    pub(crate) const SPACE: u8 = 1;
    /// The token is the first one on its line.
    pub(crate) const LINE_START: u8 = 2;
    /// The token is the name of a macro that must not be expanded (C99 6.10.3.4).
    pub(crate) const NO_EXPAND: u8 = 4;
    /// The token comes from the replacement list of a macro.
    pub(crate) const FROM_MACRO: u8 = 8;

    pub(crate) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn is(self, punct: Punct) -> bool {
        self.kind == RawKind::Punct(punct)
    }

    pub(crate) const fn new(kind: RawKind, symbol: Symbol, span: Span) -> Self {
        Self { kind, symbol, span, flags: 0 }
    }
}

/// A lexer for one text.
#[derive(Clone, Debug)]
pub(crate) struct RawLexer {
    text: SourceText,
    pos: usize,
    start: u32,
    line_start: bool,
}

const fn is_ident_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

const fn is_ident(byte: u8) -> bool {
    is_ident_start(byte) || byte.is_ascii_digit()
}

impl RawLexer {
    /// Creates a lexer for a text whose first byte has the position `start`. Skips a byte order mark.
    pub(crate) fn new(text: SourceText, start: u32) -> Self {
        let pos = if text.as_str().starts_with('\u{feff}') { 3 } else { 0 };
        Self { text, pos, start, line_start: true }
    }

    fn bytes(&self) -> &[u8] {
        self.text.as_str().as_bytes()
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    fn at_end(&self) -> bool {
        self.pos >= self.bytes().len()
    }

    /// Returns the position after all line splices at `at`. As in GNU C, white space may follow the backslash.
    fn skip_splices(&self, mut at: usize) -> usize {
        while self.byte(at) == b'\\' {
            let mut next = at + 1;
            while matches!(self.byte(next), b' ' | b'\t' | b'\r') {
                next += 1;
            }
            if self.byte(next) != b'\n' {
                break;
            }
            at = next + 1;
        }
        at
    }

    /// Returns the next byte after line splices.
    fn peek(&self) -> u8 {
        self.byte(self.skip_splices(self.pos))
    }

    /// Consumes the next byte if it is `byte`. Returns whether it is.
    fn accept(&mut self, byte: u8) -> bool {
        let at = self.skip_splices(self.pos);
        let found = self.byte(at) == byte;
        if found {
            self.pos = at + 1;
        }
        found
    }

    /// Consumes bytes and line splices while `wanted` is true for the bytes.
    fn accept_while(&mut self, wanted: impl Fn(u8) -> bool) {
        loop {
            let bytes = self.text.as_str().as_bytes();
            while bytes.get(self.pos).is_some_and(|byte| wanted(*byte)) {
                self.pos += 1;
            }
            let at = self.skip_splices(self.pos);
            if at == self.pos || !wanted(self.byte(at)) {
                return;
            }
            self.pos = at;
        }
    }

    fn span(&self, lo: usize) -> Span {
        let position = |at: usize| self.start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        Span { lo: position(lo), hi: position(self.pos) }
    }

    /// Interns the text from `lo` to the current position, without line splices. In an identifier, replaces universal
    /// character names by their characters.
    fn spelling(&self, lo: usize, is_identifier: bool, interner: &mut Interner) -> Symbol {
        let text = self.text.as_str().get(lo..self.pos).unwrap_or("");
        if !text.contains("\\") {
            return interner.intern(text);
        }
        let mut clean = Vec::with_capacity(text.len());
        let mut at = lo;
        while at < self.pos {
            let next = self.skip_splices(at);
            if next != at {
                at = next;
                continue;
            }
            if let Some((character, length)) = self.universal_letter(at).filter(|_| is_identifier) {
                clean.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
                continue;
            }
            clean.push(self.byte(at));
            at += 1;
        }
        interner.intern(&String::from_utf8_lossy(&clean))
    }

    /// Skips white space and comments. Returns whether there were any. Fails with the offset of an unterminated
    /// comment.
    fn skip_space(&mut self, line_mode: bool) -> Result<bool, usize> {
        let mut any = false;
        loop {
            match self.byte(self.pos) {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'\n' if line_mode => return Ok(any),
                b'\n' => {
                    self.pos += 1;
                    self.line_start = true;
                }
                b'\\' => {
                    let at = self.skip_splices(self.pos);
                    if at == self.pos {
                        return Ok(any);
                    }
                    self.pos = at;
                }
                b'/' => {
                    let lo = self.pos;
                    self.pos += 1;
                    if self.accept(b'/') {
                        self.line_comment();
                    } else if self.accept(b'*') {
                        if !self.block_comment() {
                            return Err(lo);
                        }
                    } else {
                        self.pos = lo;
                        return Ok(any);
                    }
                }
                // A zero byte within the text is white space, as in clang.
                0 if !self.at_end() => self.pos += 1,
                _ => return Ok(any),
            }
            any = true;
        }
    }

    fn line_comment(&mut self) {
        loop {
            let bytes = self.text.as_str().as_bytes();
            while bytes.get(self.pos).is_some_and(|byte| *byte != b'\n' && *byte != b'\\') {
                self.pos += 1;
            }
            let at = self.skip_splices(self.pos);
            if at != self.pos {
                self.pos = at;
            } else if self.byte(self.pos) == b'\\' {
                self.pos += 1;
            } else {
                return;
            }
        }
    }

    fn block_comment(&mut self) -> bool {
        while !self.at_end() {
            let star = self.byte(self.pos) == b'*';
            self.pos += 1;
            if star && self.accept(b'/') {
                return true;
            }
        }
        false
    }

    /// Reads the next token. With `line_mode`, returns [`RawKind::EndOfLine`] at the end of the line and does not
    /// consume it. A comment over several lines does not end the line.
    pub(crate) fn next(&mut self, interner: &mut Interner, line_mode: bool) -> RawToken {
        let (space, unterminated) = match self.skip_space(line_mode) {
            Ok(space) => (space, None),
            Err(lo) => (true, Some(lo)),
        };
        let mut flags = if space { RawToken::SPACE } else { 0 };
        if let Some(lo) = unterminated {
            let position = self.start.saturating_add(u32::try_from(lo).unwrap_or(u32::MAX));
            let span = Span { lo: position, hi: position.saturating_add(2) };
            return RawToken { kind: RawKind::UnterminatedComment, symbol: Symbol::EMPTY, span, flags };
        }
        let lo = self.pos;
        if self.at_end() {
            let kind = if line_mode { RawKind::EndOfLine } else { RawKind::Eof };
            return RawToken { kind, symbol: Symbol::EMPTY, span: self.span(lo), flags };
        }
        if line_mode && self.byte(lo) == b'\n' {
            return RawToken { kind: RawKind::EndOfLine, symbol: Symbol::EMPTY, span: self.span(lo), flags };
        }
        if std::mem::take(&mut self.line_start) {
            flags |= RawToken::LINE_START;
        }
        let kind = self.scan();
        let symbol = match kind {
            RawKind::Punct(_) => Symbol::EMPTY,
            kind => self.spelling(lo, kind == RawKind::Ident, interner),
        };
        RawToken { kind, symbol, span: self.span(lo), flags }
    }

    /// Consumes the characters of one token.
    fn scan(&mut self) -> RawKind {
        let byte = self.byte(self.pos);
        if byte == b'L' && matches!(self.byte(self.pos + 1), b'"' | b'\'') {
            let quote = self.byte(self.pos + 1);
            self.pos += 2;
            return self.quoted(quote, if quote == b'"' { RawKind::Str } else { RawKind::Char });
        }
        if is_ident_start(byte) || self.non_ascii_letter_length() > 0 {
            self.identifier();
            return RawKind::Ident;
        }
        if byte.is_ascii_digit() {
            return self.number();
        }
        self.pos += 1;
        if byte == b'.' && self.peek().is_ascii_digit() {
            return self.number();
        }
        match byte {
            b'"' => self.quoted(b'"', RawKind::Str),
            b'\'' => self.quoted(b'\'', RawKind::Char),
            _ => match self.punct(byte) {
                Some(punct) => RawKind::Punct(punct),
                None => {
                    // Consume a whole UTF-8 character, so that the position is at a character boundary.
                    while self.byte(self.pos) & 0xc0 == 0x80 {
                        self.pos += 1;
                    }
                    RawKind::Unknown
                }
            },
        }
    }

    fn identifier(&mut self) {
        loop {
            self.accept_while(is_ident);
            match self.non_ascii_letter_length() {
                0 => return,
                length => self.pos += length,
            }
        }
    }

    /// If the next character or universal character name is a non-ASCII letter or digit, returns its length in bytes.
    /// Otherwise returns 0. Identifiers may contain such letters and digits (C99 6.4.2.1, annex D).
    fn non_ascii_letter_length(&self) -> usize {
        if self.byte(self.pos).is_ascii() {
            return self.universal_letter(self.pos).map_or(0, |(_, length)| length);
        }
        let next = self.text.as_str().get(self.pos..).and_then(|rest| rest.chars().next());
        next.filter(|c| c.is_alphanumeric()).map_or(0, char::len_utf8)
    }

    /// Returns the non-ASCII letter or digit of a universal character name at `at`, and the length of the name in bytes
    /// with the backslash. Returns `None` if there is none.
    fn universal_letter(&self, at: usize) -> Option<(char, usize)> {
        if self.byte(at) != b'\\' || !matches!(self.byte(at + 1), b'u' | b'U') {
            return None;
        }
        let (character, length) = universal_character(self.bytes().get(at + 1..)?).ok()?;
        (character.is_alphanumeric() && !character.is_ascii()).then_some((character, 1 + length))
    }

    /// Consumes the rest of a pp-number: digits, letters, dots, and signs after an exponent letter.
    fn number(&mut self) -> RawKind {
        loop {
            let before = self.pos;
            self.accept_while(|byte| is_ident(byte) || byte == b'.');
            let last = self.byte(self.pos.saturating_sub(1));
            let sign = matches!(self.peek(), b'+' | b'-');
            if self.pos > before && sign && matches!(last, b'e' | b'E' | b'p' | b'P') {
                self.pos = self.skip_splices(self.pos) + 1;
            } else {
                return RawKind::Number;
            }
        }
    }

    fn quoted(&mut self, quote: u8, kind: RawKind) -> RawKind {
        loop {
            if self.at_end() {
                return RawKind::Unterminated;
            }
            match self.byte(self.pos) {
                b'\n' => return RawKind::Unterminated,
                b'\\' => {
                    let at = self.skip_splices(self.pos);
                    if at != self.pos {
                        self.pos = at;
                    } else {
                        self.pos = self.skip_splices(self.pos + 1);
                        if !self.at_end() && self.byte(self.pos) != b'\n' {
                            self.pos += 1;
                        }
                    }
                }
                byte => {
                    self.pos += 1;
                    if byte == quote {
                        return kind;
                    }
                }
            }
        }
    }

    /// Consumes the longest punctuator that starts with `first`, which was already consumed. Returns `None` if there is
    /// none.
    fn punct(&mut self, first: u8) -> Option<Punct> {
        Some(match first {
            b'(' => Punct::LParen,
            b')' => Punct::RParen,
            b'[' => Punct::LBracket,
            b']' => Punct::RBracket,
            b'{' => Punct::LBrace,
            b'}' => Punct::RBrace,
            b',' => Punct::Comma,
            b';' => Punct::Semi,
            b'?' => Punct::Question,
            b'~' => Punct::Tilde,
            b'@' => Punct::At,
            b'.' => {
                let mark = self.pos;
                if self.accept(b'.') && self.accept(b'.') {
                    Punct::Ellipsis
                } else {
                    self.pos = mark;
                    Punct::Dot
                }
            }
            b':' if self.accept(b'>') => Punct::RBracket,
            b':' => Punct::Colon,
            b'+' if self.accept(b'+') => Punct::PlusPlus,
            b'+' if self.accept(b'=') => Punct::PlusEq,
            b'+' => Punct::Plus,
            b'-' if self.accept(b'-') => Punct::MinusMinus,
            b'-' if self.accept(b'=') => Punct::MinusEq,
            b'-' if self.accept(b'>') => Punct::Arrow,
            b'-' => Punct::Minus,
            b'*' if self.accept(b'=') => Punct::StarEq,
            b'*' => Punct::Star,
            b'/' if self.accept(b'=') => Punct::SlashEq,
            b'/' => Punct::Slash,
            b'%' if self.accept(b'=') => Punct::PercentEq,
            b'%' if self.accept(b'>') => Punct::RBrace,
            b'%' if self.accept(b':') => {
                let mark = self.pos;
                if self.accept(b'%') && self.accept(b':') {
                    Punct::HashHash
                } else {
                    self.pos = mark;
                    Punct::Hash
                }
            }
            b'%' => Punct::Percent,
            b'&' if self.accept(b'&') => Punct::AmpAmp,
            b'&' if self.accept(b'=') => Punct::AmpEq,
            b'&' => Punct::Amp,
            b'|' if self.accept(b'|') => Punct::PipePipe,
            b'|' if self.accept(b'=') => Punct::PipeEq,
            b'|' => Punct::Pipe,
            b'^' if self.accept(b'=') => Punct::CaretEq,
            b'^' => Punct::Caret,
            b'!' if self.accept(b'=') => Punct::Ne,
            b'!' => Punct::Bang,
            b'=' if self.accept(b'=') => Punct::EqEq,
            b'=' => Punct::Eq,
            b'<' if self.accept(b'<') => {
                if self.accept(b'=') {
                    Punct::ShlEq
                } else {
                    Punct::Shl
                }
            }
            b'<' if self.accept(b'=') => Punct::Le,
            b'<' if self.accept(b':') => Punct::LBracket,
            b'<' if self.accept(b'%') => Punct::LBrace,
            b'<' => Punct::Lt,
            b'>' if self.accept(b'>') => {
                if self.accept(b'=') {
                    Punct::ShrEq
                } else {
                    Punct::Shr
                }
            }
            b'>' if self.accept(b'=') => Punct::Ge,
            b'>' => Punct::Gt,
            b'#' if self.accept(b'#') => Punct::HashHash,
            b'#' => Punct::Hash,
            _ => return None,
        })
    }

    /// Reads the header name after `#include`. Returns the name, whether it is in angle brackets, and its location.
    /// Returns `None` if neither `<...>` nor `"..."` follows.
    pub(crate) fn header_name(&mut self) -> Option<(String, bool, Span)> {
        let _ = self.skip_space(true);
        let lo = self.pos;
        let close = match self.byte(lo) {
            b'<' => b'>',
            b'"' => b'"',
            _ => return None,
        };
        let rest = self.text.as_str().get(lo + 1..)?;
        let end = rest.find([close as char, '\n'])?;
        if rest.as_bytes().get(end) != Some(&close) {
            return None;
        }
        let name = rest.get(..end)?.to_owned();
        self.pos = lo + 1 + end + 1;
        Some((name, close == b'>', self.span(lo)))
    }

    /// Reads the rest of the line, for `#error` and `#warning`.
    pub(crate) fn rest_of_line(&mut self) -> String {
        let lo = self.pos;
        self.line_comment();
        let text = self.text.as_str().get(lo..self.pos).unwrap_or("");
        text.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ")
    }
}
