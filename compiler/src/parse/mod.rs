//! The parser of OpenCL C: recursive descent over tokens to [`crate::ast`], a function a production.
//!
//! It never fails: it gives a tree and errors, at most one at a place, and always advances. What nests in the source nests in the calls, up to
//! [`MAX_BRACKETS`] brackets and [`MAX_STATEMENTS`] statements; chains of operators, of `else if`s and of labels are read in loops, and
//! expressions may become [`MAX_HEIGHT`] nodes high. The only names that matter here are those of types: [`scope`] tells them from others.

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

/// Nested brackets, as in clang.
pub(crate) const MAX_BRACKETS: u32 = 256;
/// Statements inside one another without brackets of their own.
pub(crate) const MAX_STATEMENTS: u32 = 512;
/// Height of the tree of one expression, and length of chains of statements (`else if`, `case`): those who walk the tree recurse.
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
    /// The first part of a `for` is read.
    in_for: bool,
    /// The `;` behind a structure is missing: the declaration ends there.
    ends_early: bool,
    /// Tags of structures, unions and enumerations with the word that they need.
    tags: FxHashMap<Name, &'static str>,
    /// Parameters in the style of K&R were seen: their declarations follow.
    old_style: bool,
    /// Height of the expression that was parsed last.
    height: u32,
    /// Where the last error was, to have one a place only.
    error_at: Option<usize>,
    /// A limit was hit: the rest is not read.
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

    /// The span of the token before.
    fn prev_span(&self) -> Span {
        self.pos.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::NONE, |token| token.span)
    }

    /// From there to the last token taken.
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

    /// An error at the next token.
    fn error(&mut self, message: impl Into<String>) {
        let span = self.span();
        self.report(Diagnostic::error(span, message));
    }

    /// An error just behind the last token: something is missing there.
    fn error_behind(&mut self, message: impl Into<String>) {
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
        // What could not be read was reported by the preprocessor; what it leaves behind is not worth another error.
        let unread = |token: Option<&Token>| token.is_some_and(|token| token.kind == TokenKind::Invalid);
        if !unread(self.tokens.get(self.pos)) && !unread(self.pos.checked_sub(1).and_then(|at| self.tokens.get(at))) {
            self.diags.push(diagnostic);
        }
        if self.diags.too_many() {
            self.stop();
        }
    }

    /// Goes to the end: everything that is being parsed comes back.
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

    /// Takes the punctuator, or reports that it is missing.
    fn expect(&mut self, punct: Punct, message: &str) -> bool {
        let found = self.accept(punct);
        if !found {
            self.error_behind(message);
        }
        found
    }

    /// Takes the closing bracket; if something else is there, skips to it as long as the statement lasts.
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
        // What is in braces behind a forgotten parenthesis is a body of its own.
        let brace = if punct == Punct::RParen { Punct::LBrace } else { punct };
        self.skip_to(&[punct, Punct::Semi, brace]);
        self.accept(punct);
        false
    }

    /// Skips to one of the punctuators (and stops before it), over balanced brackets. A `}` that closes more than was opened ends it too.
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
                    // Brackets left open inside the braces are forgotten.
                    while open.pop().is_some_and(|inner| inner != Punct::RBrace) {}
                    if open.is_empty() && stops.contains(&Punct::Semi) {
                        // A whole block was skipped: what follows is another statement.
                        self.advance();
                        return;
                    }
                }
                // Closes what the caller is in.
                Punct::RBrace => return,
                // An unclosed parenthesis does not swallow the rest of the file.
                Punct::Semi if stops.contains(&Punct::Semi) && !open.contains(&Punct::RBrace) => return,
                _ => {}
            }
            self.advance();
        }
    }

    // ----- limits -----

    /// Enters brackets; false (and the end of everything) if they are too deep.
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

    /// Notes the height of an expression made of parts that are `parts` high at most.
    fn grow(&mut self, parts: u32) {
        self.height = parts + 1;
        if self.height > MAX_HEIGHT {
            let span = self.span();
            self.stop_with(span, "expression is too long: its operators nest more than 20000 deep");
        }
    }
}

#[cfg(test)]
mod tests;
