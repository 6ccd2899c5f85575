//! The tokens of a text before preprocessing, with comments, for highlighting and for searches near a cursor.

use std::ops::Range;

use crate::diag::SourceText;
use crate::lex::interner::Interner;
use crate::lex::raw::{RawKind, RawLexer, RawToken};
use crate::lex::{Keyword, Punct};
use crate::parse::types::predeclared;

/// The lexical class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Name,
    Keyword,
    /// A predeclared type, such as `float4`.
    Type,
    Number,
    String,
    Punctuation,
    /// The `#` and the name of a directive.
    Directive,
    Comment,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextToken {
    pub class: Class,
    /// The range of bytes in the text.
    pub range: Range<usize>,
}

/// Splits a text into tokens. Text that is not valid C is omitted.
pub fn tokens(text: &str) -> Vec<TextToken> {
    let mut interner = Interner::new();
    let mut lexer = RawLexer::new(SourceText::from(text), 0);
    let mut found: Vec<TextToken> = Vec::new();
    let mut end = 0;
    let mut after_hash = false;
    loop {
        let token = lexer.next(&mut interner, false);
        let range = token.span.lo as usize..(token.span.hi as usize).min(text.len());
        if token.kind == RawKind::Eof {
            comments(text, end..text.len(), &mut found);
            return found;
        }
        comments(text, end..range.start, &mut found);
        end = range.end.max(end);
        let is_hash = token.is(Punct::Hash) && token.has(RawToken::LINE_START);
        let class = match token.kind {
            _ if is_hash => Class::Directive,
            RawKind::Ident if std::mem::take(&mut after_hash) => Class::Directive,
            RawKind::Ident => class_of(interner.name(token.symbol)),
            RawKind::Number => Class::Number,
            RawKind::Str | RawKind::Char => Class::String,
            RawKind::Punct(_) => Class::Punctuation,
            RawKind::UnterminatedComment => Class::Comment,
            _ => continue,
        };
        after_hash = is_hash;
        found.push(TextToken { class, range });
    }
}

fn class_of(name: &str) -> Class {
    match Keyword::of(name) {
        Some(keyword) if is_type(keyword) => Class::Type,
        Some(_) => Class::Keyword,
        None if predeclared(name).is_some() => Class::Type,
        None => Class::Name,
    }
}

const fn is_type(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Char
            | Keyword::Double
            | Keyword::Float
            | Keyword::Int
            | Keyword::Long
            | Keyword::Short
            | Keyword::Signed
            | Keyword::Unsigned
            | Keyword::Void
            | Keyword::Bool
            | Keyword::Half
    )
}

/// Appends the comments between two tokens.
fn comments(text: &str, gap: Range<usize>, found: &mut Vec<TextToken>) {
    let mut at = gap.start;
    while let Some(rest) = text.get(at..gap.end) {
        let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() else { return };
        let body = &rest[start..];
        let length = if body.starts_with("//") {
            body.find('\n').unwrap_or(body.len())
        } else {
            body.get(2..).and_then(|inner| inner.find("*/")).map_or(body.len(), |end| end + 4)
        };
        found.push(TextToken { class: Class::Comment, range: at + start..at + start + length });
        at += start + length;
    }
}

/// Returns all keywords.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    crate::lex::token::spellings()
}

/// Returns all predeclared types, such as `float4`.
pub fn types() -> impl Iterator<Item = &'static str> {
    crate::parse::types::predeclared_names()
}

/// Returns the names of predefined macros.
pub fn predefined_macros() -> impl Iterator<Item = &'static str> {
    crate::preprocess::predefined_names()
}

/// Returns the known attributes.
pub fn attributes() -> &'static [&'static str] {
    crate::builtins::attributes::KNOWN
}
