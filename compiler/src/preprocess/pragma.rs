//! `#pragma` and `_Pragma` (OpenCL C 6.12 and its list of supported pragmas).

use crate::ast::{Pack, PragmaKind};
use crate::diag::{Span, WarningGroup};
use crate::lex::Punct;
use crate::lex::interner::Symbol;
use crate::lex::raw::{RawKind, RawLexer, RawToken};

use super::{Context, Preprocessor};

impl Preprocessor<'_> {
    /// Executes a `#pragma` line. A pragma for the parser becomes the next token.
    pub(super) fn pragma_directive(&mut self, at: Span) {
        let line = self.rest_of_directive();
        if let Some(token) = self.pragma(&line, at) {
            self.contexts.push(Context::Expansion { tokens: std::rc::Rc::new([token]), next: 0, owner: None });
        }
    }

    /// Executes `_Pragma("...")` after its name. Returns the token of a pragma for the parser, otherwise `None`.
    pub(super) fn pragma_operator(&mut self, name: RawToken) -> Option<RawToken> {
        let open = self.next_raw();
        let text = self.next_raw();
        let close = self.next_raw();
        if !open.is(Punct::LParen) || text.kind != RawKind::Str || !close.is(Punct::RParen) {
            self.diags.error(name.span, "_Pragma takes a parenthesized string literal");
            return None;
        }
        let content = self.string_value(text.symbol);
        let mut lexer = RawLexer::new(content.into(), 0);
        let mut line = Vec::new();
        loop {
            let mut token = lexer.next(&mut self.interner, true);
            if matches!(token.kind, RawKind::EndOfLine | RawKind::UnterminatedComment) {
                break;
            }
            token.span = name.span;
            line.push(token);
        }
        self.pragma(&line, name.span)
    }

    fn words(&self, line: &[RawToken]) -> Vec<String> {
        line.iter().map(|token| self.spelling(*token).to_owned()).collect()
    }

    /// Executes a pragma. Returns the token of a pragma for the parser, otherwise `None`.
    fn pragma(&mut self, line: &[RawToken], at: Span) -> Option<RawToken> {
        let words = self.words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let span = line.first().zip(line.last()).map_or(at, |(first, last)| first.span.to(last.span));
        let kind = match words.as_slice() {
            ["OPENCL", "EXTENSION", name, ":", behaviour] => self.extension_pragma(name, behaviour, span)?,
            ["OPENCL", "EXTENSION", ..] => {
                self.warn(WarningGroup::IgnoredPragmas, span, "expected '#pragma OPENCL EXTENSION name : behaviour' - ignoring");
                return None;
            }
            ["OPENCL" | "STDC", "FP_CONTRACT", "ON" | "DEFAULT"] => PragmaKind::FpContract(true),
            ["OPENCL" | "STDC", "FP_CONTRACT", "OFF"] => PragmaKind::FpContract(false),
            ["OPENCL" | "STDC", "FP_CONTRACT", ..] => {
                self.warn(WarningGroup::IgnoredPragmas, span, "expected 'ON' or 'OFF' or 'DEFAULT' in pragma");
                return None;
            }
            ["unroll"] => PragmaKind::Unroll(None),
            ["nounroll"] | ["clang", "loop", "unroll", "(", "disable", ")"] => PragmaKind::Unroll(Some(1)),
            ["clang", "loop", "unroll", "(", "full", ")"] => PragmaKind::Unroll(Some(0)),
            ["clang", "loop", "unroll", "(", "enable", ")"] => PragmaKind::Unroll(None),
            ["unroll", ..] => self.unroll_pragma(line.get(1..)?, span)?,
            ["GCC", "unroll", ..] => self.unroll_pragma(line.get(2..)?, span)?,
            ["clang", "loop", "unroll_count", ..] => self.unroll_pragma(line.get(3..)?, span)?,
            ["once"] => {
                self.pragma_once(at);
                return None;
            }
            ["pack", rest @ ..] => match pack(rest) {
                Some(pack) => PragmaKind::Pack(pack),
                None => {
                    // This is an error, because an ignored pragma would change structure layouts.
                    self.diags.error(span, "malformed '#pragma pack'; expected pack(n), pack(push, n), pack(pop) or pack()");
                    return None;
                }
            },
            ["message", rest @ ..] => {
                let text = rest.join(" ");
                self.warn(WarningGroup::PragmaMessages, span, text);
                return None;
            }
            // These pragmas have no effect, and there is no warning about them.
            [] | ["region" | "endregion" | "ivdep" | "STDC", ..] | ["GCC" | "clang", "diagnostic" | "system_header", ..] => return None,
            _ => {
                self.warn(WarningGroup::UnknownPragmas, span, "unknown pragma ignored");
                return None;
            }
        };
        let index = u32::try_from(self.pragmas.len()).unwrap_or(u32::MAX);
        self.pragmas.push(kind);
        Some(RawToken::new(RawKind::Pragma, Symbol::from_index(index), span))
    }

    fn extension_pragma(&mut self, name: &str, behaviour: &str, span: Span) -> Option<PragmaKind> {
        let enable = match behaviour {
            "enable" | "require" | "warn" | "begin" => true,
            "disable" | "end" => false,
            _ => {
                self.warn(
                    WarningGroup::IgnoredPragmas,
                    span,
                    format!("expected 'enable', 'disable', 'begin' or 'end' instead of '{behaviour}' - ignoring"),
                );
                return None;
            }
        };
        if name == "all" && enable {
            self.warn(WarningGroup::IgnoredPragmas, span, "expected 'disable' - ignoring");
            return None;
        }
        if name != "all" && !self.target.language.accepts_extension(name) {
            self.warn(WarningGroup::IgnoredPragmas, span, format!("unsupported OpenCL extension '{name}' - ignoring"));
            return None;
        }
        Some(PragmaKind::Extension { name: name.into(), enable })
    }

    /// Evaluates the factor of `unroll N` or `unroll(N)`, which may be a constant expression with macros. Reports an
    /// error and returns `None` if it is invalid.
    fn unroll_pragma(&mut self, factor: &[RawToken], span: Span) -> Option<PragmaKind> {
        let value = self.evaluate(factor, span, false)?;
        match u32::try_from(value) {
            Ok(value) if value > 0 => Some(PragmaKind::Unroll(Some(value))),
            _ => {
                self.diags.error(span, "the factor of '#pragma unroll' must be between 1 and 4294967295");
                None
            }
        }
    }
}

/// Parses the operand of `pack`. Returns `None` if it is invalid.
fn pack(words: &[&str]) -> Option<Pack> {
    let ["(", inner @ .., ")"] = words else { return None };
    let value = |word: &str| word.parse::<u32>().ok().filter(|n| *n <= 16 && (*n == 0 || n.is_power_of_two()));
    let is_label = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let (label, number) = match inner {
        [] => return Some(Pack::Set(0)),
        [word] if value(word).is_some() => return value(word).map(Pack::Set),
        [_] => (None, None),
        [_, ",", label] if is_label(label) => (Some((*label).into()), None),
        [_, ",", number] => (None, Some(value(number)?)),
        [_, ",", label, ",", number] if is_label(label) => (Some((*label).into()), Some(value(number)?)),
        _ => return None,
    };
    match inner.first() {
        Some(&"push") => Some(Pack::Push { label, value: number }),
        Some(&"pop") => Some(Pack::Pop { label, value: number }),
        _ => None,
    }
}
