//! The parser of OpenCL C: recursive descent from tokens to [`crate::ast`], one function per production.
//!
//! The parser does not fail: it returns a tree and errors, at most one per token, and it always advances. Nesting in
//! the source is recursion in the parser, up to [`MAX_BRACKETS`] brackets and [`MAX_STATEMENTS`] statements. Chains of
//! operators, `else if`s and labels are loops, and an expression has at most the height [`MAX_HEIGHT`]. The parser
//! distinguishes names of types from other names ([`scope`]).

mod attribute;
mod block;
mod declaration;
mod declarator;
mod expr;
mod initializer;
mod packing;
mod record;
mod scope;
mod specifiers;
mod stmt;
pub(crate) mod suggest;
pub(crate) mod types;

use rustc_hash::FxHashMap;

use crate::ast::{Ident, Name, TranslationUnit};
use crate::diag::{Diagnostic, Diagnostics, Span};
use crate::lex::{Keyword, Punct, Token, TokenKind};

use packing::Packing;
use scope::Scopes;

/// Maximum nesting of brackets, as in clang.
pub(crate) const MAX_BRACKETS: u32 = 256;
/// Maximum nesting of statements without brackets.
pub(crate) const MAX_STATEMENTS: u32 = 512;
/// Maximum height of an expression tree, and maximum length of chains of `else if` and `case`: code that visits the
/// tree is recursive.
pub(crate) const MAX_HEIGHT: u32 = 20_000;

/// Parses a program.
pub(crate) fn parse(tokens: Vec<Token>, diags: &mut Diagnostics) -> TranslationUnit {
    Parser::new(tokens, diags).translation_unit()
}

struct Parser<'d> {
    tokens: Vec<Token>,
    pos: usize,
    diags: &'d mut Diagnostics,
    scopes: Scopes,
    packing: Packing,
    brackets: u32,
    statements: u32,
    /// Set while the first part of a `for` is parsed.
    in_for: bool,
    /// The `;` after a structure is missing. The declaration ends there.
    ends_early: bool,
    /// Tags, with the keyword (`struct`, `union`, `enum`) that each requires.
    tags: FxHashMap<Name, &'static str>,
    /// K&R parameters were parsed. Their declarations follow.
    old_style: bool,
    /// Height of the last expression.
    height: u32,
    /// Token of the last error, to report one error per token.
    error_at: Option<usize>,
    /// A limit was exceeded. The rest is not parsed.
    stopped: bool,
}

impl<'d> Parser<'d> {
    fn new(mut tokens: Vec<Token>, diags: &'d mut Diagnostics) -> Self {
        if tokens.last().is_none_or(|token| token.kind != TokenKind::Eof) {
            let span = tokens.last().map_or(Span::NONE, |token| token.span.end());
            tokens.push(Token { kind: TokenKind::Eof, span });
        }
        Self {
            tokens,
            pos: 0,
            diags,
            scopes: Scopes::new(),
            packing: Packing::default(),
            brackets: 0,
            statements: 0,
            height: 0,
            old_style: false,
            in_for: false,
            ends_early: false,
            tags: FxHashMap::default(),
            error_at: None,
            stopped: false,
        }
    }

    // ----- tokens -----

    fn peek(&self) -> &TokenKind {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &TokenKind {
        self.tokens.get(self.pos + ahead).map_or(&TokenKind::Eof, |token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.pos).map_or(Span::NONE, |token| token.span)
    }

    /// The span of the previous token.
    fn prev_span(&self) -> Span {
        self.pos.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::NONE, |token| token.span)
    }

    /// The span from `start` to the last token taken.
    fn since(&self, start: Span) -> Span {
        let prev = self.prev_span();
        if prev.hi < start.lo { start } else { start.to(prev) }
    }

    fn at_end(&self) -> bool {
        *self.peek() == TokenKind::Eof
    }

    fn advance(&mut self) {
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
    }

    fn at(&self, punct: Punct) -> bool {
        *self.peek() == TokenKind::Punct(punct)
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        *self.peek() == TokenKind::Keyword(keyword)
    }

    fn accept(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.advance();
        }
        found
    }

    fn accept_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    /// Takes an identifier.
    fn accept_ident(&mut self) -> Option<Ident> {
        let name = match self.peek() {
            TokenKind::Ident(name) => name.clone(),
            _ => return None,
        };
        let ident = Ident { name, span: self.span() };
        self.advance();
        Some(ident)
    }

    fn peek_name(&self) -> Option<&Name> {
        match self.peek() {
            TokenKind::Ident(name) => Some(name),
            _ => None,
        }
    }

    // ----- errors -----

    /// Reports an error at the next token.
    fn error(&mut self, message: impl Into<String>) {
        let span = self.span();
        self.report(Diagnostic::error(span, message));
    }

    /// Reports an error after the last token, where text is missing.
    fn error_after(&mut self, message: impl Into<String>) {
        let prev = self.prev_span();
        let span = if prev == Span::NONE { self.span() } else { prev.end() };
        self.report(Diagnostic::error(span, message));
    }

    fn error_span(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped || self.error_at == Some(self.pos) {
            return;
        }
        self.error_at = Some(self.pos);
        // The preprocessor has reported tokens that it could not read. Avoid a second error.
        let unread = |token: Option<&Token>| token.is_some_and(|token| token.kind == TokenKind::Invalid);
        if !unread(self.tokens.get(self.pos)) && !unread(self.pos.checked_sub(1).and_then(|at| self.tokens.get(at))) {
            self.diags.push(diagnostic);
        }
        if self.diags.too_many() {
            self.stop();
        }
    }

    /// Moves to the end of the input, so that all productions return.
    fn stop(&mut self) {
        self.stopped = true;
        self.pos = self.tokens.len() - 1;
    }

    fn stop_with(&mut self, span: Span, message: &str) {
        if !self.stopped {
            self.diags.error(span, message);
        }
        self.stop();
    }

    /// Takes a punctuator, or reports that it is missing.
    fn expect(&mut self, punct: Punct, message: &str) -> bool {
        let found = self.accept(punct);
        if !found {
            self.error_after(message);
        }
        found
    }

    /// Takes a closing bracket. If another token follows, skips to the bracket within the statement.
    fn close(&mut self, punct: Punct, open: Span) -> bool {
        if self.accept(punct) {
            return true;
        }
        let spelling = punct.spelling();
        let opening = match punct {
            Punct::RParen => "(",
            Punct::RBracket => "[",
            _ => "{",
        };
        let span = self.span();
        self.report(Diagnostic::error(span, format!("expected '{spelling}'")).with_note(open, format!("to match this '{opening}'")));
        // Braces after a missing parenthesis are parsed as a separate body.
        let brace = if punct == Punct::RParen { Punct::LBrace } else { punct };
        self.skip_to(&[punct, Punct::Semi, brace]);
        self.accept(punct);
        false
    }

    /// Skips balanced brackets up to one of the punctuators. Stops before it, or before an unmatched `}`.
    fn skip_to(&mut self, stops: &[Punct]) {
        let mut open: Vec<Punct> = Vec::new();
        loop {
            let TokenKind::Punct(punct) = *self.peek() else {
                if self.at_end() {
                    return;
                }
                self.advance();
                continue;
            };
            if open.is_empty() && (stops.contains(&punct) || punct == Punct::RBrace) {
                return;
            }
            match punct {
                Punct::LParen => open.push(Punct::RParen),
                Punct::LBracket => open.push(Punct::RBracket),
                Punct::LBrace => open.push(Punct::RBrace),
                Punct::RParen | Punct::RBracket if open.last() == Some(&punct) => {
                    open.pop();
                }
                Punct::RBrace if open.contains(&Punct::RBrace) => {
                    // Drop brackets that were left open within the braces.
                    while open.pop().is_some_and(|inner| inner != Punct::RBrace) {}
                    if open.is_empty() && stops.contains(&Punct::Semi) {
                        // The skipped braces are a whole block. Another statement follows.
                        self.advance();
                        return;
                    }
                }
                // Closes the construct of the caller.
                Punct::RBrace => return,
                // An unclosed parenthesis must not swallow the rest of the file.
                Punct::Semi if stops.contains(&Punct::Semi) && !open.contains(&Punct::RBrace) => return,
                _ => {}
            }
            self.advance();
        }
    }

    // ----- limits -----

    /// Enters brackets. Returns false and stops the parser if the limit is exceeded.
    fn enter(&mut self) -> bool {
        self.brackets += 1;
        if self.brackets > MAX_BRACKETS {
            let span = self.span();
            self.stop_with(span, "bracket nesting level exceeded maximum of 256");
            return false;
        }
        true
    }

    fn leave(&mut self) {
        self.brackets -= 1;
    }

    /// Sets the height of an expression whose parts have at most the height `parts`.
    fn grow(&mut self, parts: u32) {
        self.height = parts + 1;
        if self.height > MAX_HEIGHT {
            let span = self.span();
            self.stop_with(span, "expression has more than 20000 nested operators");
        }
    }
}

#[cfg(test)]
mod tests;
