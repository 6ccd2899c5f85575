//! Converts preprocessing tokens to parser tokens (translation phases 5 and 7).

use std::sync::Arc;

use crate::lex::literal::{self, Number, Problem};
use crate::lex::raw::{RawKind, RawToken};
use crate::lex::token::{Keyword, TokenKind};
use crate::options::CStd;

use super::Preprocessor;

impl Preprocessor<'_> {
    /// Converts a preprocessing token to a parser token. Returns `None` if it has no parser token.
    pub(super) fn convert(&mut self, token: RawToken) -> Option<TokenKind> {
        self.warn_of_trigraphs(token.span);
        Some(match token.kind {
            RawKind::Ident => self.name_token(token),
            RawKind::Punct(punct) => TokenKind::Punct(punct),
            RawKind::Number => self.number_token(token),
            RawKind::Str if literal::is_wide(self.spelling(token)) => {
                self.diags.error(token.span, "wide string literals are not supported");
                TokenKind::Invalid
            }
            RawKind::Str => {
                let bytes = self.unescaped(token);
                TokenKind::Str(Arc::from(bytes))
            }
            RawKind::Char => self.character_token(token),
            RawKind::Pragma => TokenKind::Pragma(self.pragmas.get(token.symbol.index())?.clone()),
            RawKind::Unterminated => {
                let quote = if self.spelling(token).trim_start_matches('L').starts_with('\'') { "'" } else { "\"" };
                self.diags.error(token.span, format!("missing terminating {quote} character"));
                TokenKind::Invalid
            }
            RawKind::Unknown => {
                let c = self.spelling(token).chars().next().unwrap_or(' ');
                let shown = if c.is_ascii_graphic() { format!("'{c}'") } else { format!("<U+{:04X}>", u32::from(c)) };
                self.diags.error(token.span, format!("unexpected character {shown}"));
                TokenKind::Invalid
            }
            RawKind::Invalid => TokenKind::Invalid,
            RawKind::Eof | RawKind::EndOfLine | RawKind::UnterminatedComment | RawKind::Placemarker => return None,
        })
    }

    /// Converts a name to a keyword or an identifier. Caches the result by name.
    fn name_token(&mut self, token: RawToken) -> TokenKind {
        let index = token.symbol.index();
        if let Some(Some(kind)) = self.kinds.get(index) {
            return kind.clone();
        }
        let name = self.interner.name(token.symbol);
        let kind = match Keyword::of(name) {
            // `pipe` is a keyword from OpenCL C 2.0 on.
            Some(Keyword::Pipe) if self.options.std < CStd::Cl20 => TokenKind::Ident(name.clone()),
            Some(keyword) => TokenKind::Keyword(keyword),
            None => TokenKind::Ident(name.clone()),
        };
        if self.kinds.len() <= index {
            self.kinds.resize(self.interner.len(), None);
        }
        if let Some(slot) = self.kinds.get_mut(index) {
            *slot = Some(kind.clone());
        }
        kind
    }

    fn number_token(&mut self, token: RawToken) -> TokenKind {
        match literal::number(self.spelling(token)) {
            Ok(Number::Int { value, decimal, suffix }) => {
                #[expect(clippy::cast_possible_truncation, reason = "the value in two halves")]
                let value = [value as u64, (value >> 64) as u64];
                TokenKind::Int { value, decimal, suffix }
            }
            Ok(Number::Float { value, suffix, text }) => TokenKind::Float { value, suffix, text: text.into() },
            Err(message) => {
                self.diags.error(token.span, message);
                TokenKind::Invalid
            }
        }
    }

    fn character_token(&mut self, token: RawToken) -> TokenKind {
        let mut problems = Vec::new();
        let value = literal::character(self.spelling(token), &mut problems);
        let is_valid = self.report_problems(token, problems);
        if is_valid { TokenKind::Char(value) } else { TokenKind::Invalid }
    }

    fn unescaped(&mut self, token: RawToken) -> Vec<u8> {
        let mut problems = Vec::new();
        let bytes = literal::unescape(self.spelling(token), &mut problems);
        self.report_problems(token, problems);
        bytes
    }

    /// Reports the problems of a literal. Returns true if there were no errors.
    fn report_problems(&mut self, token: RawToken, problems: Vec<Problem>) -> bool {
        let mut is_valid = true;
        for problem in problems {
            match problem {
                Problem::Warning(group, text) => self.warn(group, token.span, text),
                Problem::Error(text) => {
                    is_valid = false;
                    self.diags.error(token.span, text);
                }
            }
        }
        is_valid
    }
}
