//! The parser of OpenCL C: recursive descent from tokens to [`crate::ast`], one function per production.
//!
//! The parser always returns a tree, and reports at most one error per token. It is recursive for nested brackets (at
//! most [`MAX_BRACKETS`]) and statements (at most [`MAX_STATEMENTS`]). Loops parse chains of operators, `else if`
//! branches and labels. The height of an expression is at most [`MAX_HEIGHT`]. The parser distinguishes names of types
//! from other names ([`scope`]).

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
use crate::diag::suggest::Hint;
use crate::diag::{Diagnostic, Diagnostics, Span};
use crate::lex::{Keyword, Punct, Token, TokenKind};

use packing::Packing;
use scope::Scopes;

/// Maximum nesting of brackets, as in clang.
pub(crate) const MAX_BRACKETS: u32 = 256;
/// Maximum nesting of statements.
pub(crate) const MAX_STATEMENTS: u32 = 512;
/// Maximum height of an expression tree, and maximum length of chains of `else if` and of labels. Because of this
/// limit, code that visits the tree may be recursive.
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
    /// True while the init clause of a `for` is parsed.
    in_for: bool,
    /// Whether the `;` after the definition of a structure is missing, so that the declaration ends there.
    ends_early: bool,
    /// Maps each declared tag to its keyword (`struct`, `union` or `enum`).
    tags: FxHashMap<Name, &'static str>,
    /// Whether a K&R parameter list was parsed, so that parameter declarations follow.
    old_style: bool,
    /// The height of the tree of the last expression.
    height: u32,
    /// The index of the token of the last error, to report one error per token.
    error_at: Option<usize>,
    /// Whether the parser stopped because there were too many errors or a limit was exceeded.
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

    /// Returns the span of the last consumed token.
    fn prev_span(&self) -> Span {
        self.pos.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::NONE, |token| token.span)
    }

    /// Returns the span from `start` to the last consumed token.
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

    /// Consumes the next token if it is an identifier. Returns `None` otherwise.
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

    /// Reports a missing punctuator at the end of the last consumed token.
    fn error_missing(&mut self, punct: Punct, message: impl Into<String>) {
        let prev = self.prev_span();
        let span = if prev == Span::NONE { self.span() } else { prev.end() };
        self.report(Diagnostic::error(span, message).with_fix(span, punct.spelling()));
    }

    /// Reports an error whose message ends with a hint.
    fn error_hint(&mut self, message: &str, hint: &Hint) {
        let span = self.span();
        self.report(Diagnostic::error(span, format!("{message}{hint}")).with_hint(hint));
    }

    fn error_span(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped || self.error_at == Some(self.pos) {
            return;
        }
        self.error_at = Some(self.pos);
        // The preprocessor has reported invalid tokens. Avoid a second error.
        let unread = |token: Option<&Token>| token.is_some_and(|token| token.kind == TokenKind::Invalid);
        if !unread(self.tokens.get(self.pos)) && !unread(self.pos.checked_sub(1).and_then(|at| self.tokens.get(at))) {
            self.diags.push(diagnostic);
        }
        if self.diags.has_too_many_errors() {
            self.stop();
        }
    }

    /// Moves to the end of the input, so that all parser functions return.
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

    /// Consumes a punctuator. Reports `message` and returns false if it is missing.
    fn expect(&mut self, punct: Punct, message: &str) -> bool {
        let found = self.accept(punct);
        if !found {
            self.error_missing(punct, message);
        }
        found
    }

    /// Consumes the closing bracket `punct`. If another token follows, reports an error, skips to the bracket or the
    /// end of the statement, and returns false.
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
        let missing = self.prev_span().end();
        let error = Diagnostic::error(span, format!("expected '{spelling}'")).with_note(open, format!("to match this '{opening}'"));
        self.report(error.with_fix(missing, spelling));
        // A `{` after a missing `)` probably starts a body.
        let brace = if punct == Punct::RParen { Punct::LBrace } else { punct };
        self.skip_to(&[punct, Punct::Semi, brace]);
        self.accept(punct);
        false
    }

    /// Skips tokens up to one of the punctuators outside of nested brackets, or up to an unmatched `}`. If `stops`
    /// contains `;`, also stops at a `;` in unclosed parentheses, and after a `}` that closes a skipped block.
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
                    // Drops the unclosed brackets within these braces.
                    while open.pop().is_some_and(|inner| inner != Punct::RBrace) {}
                    if open.is_empty() && stops.contains(&Punct::Semi) {
                        // A whole block was skipped. Another statement follows.
                        self.advance();
                        return;
                    }
                }
                // This `}` closes a block of the caller.
                Punct::RBrace => return,
                // An unclosed parenthesis must not skip the rest of the file.
                Punct::Semi if stops.contains(&Punct::Semi) && !open.contains(&Punct::RBrace) => return,
                _ => {}
            }
            self.advance();
        }
    }

    // ----- limits -----

    /// Enters brackets. If the nesting limit is exceeded, reports an error, stops the parser and returns false.
    fn enter(&mut self) -> bool {
        self.enter_or_stop("bracket nesting level exceeded maximum of 256")
    }

    /// Enters an operand without brackets, for example that of `sizeof x`. The operand counts as a bracket.
    fn enter_operand(&mut self) -> bool {
        self.enter_or_stop("operators and brackets are nested too deeply (the limit is 256)")
    }

    fn enter_or_stop(&mut self, message: &str) -> bool {
        self.brackets += 1;
        if self.brackets > MAX_BRACKETS {
            let span = self.span();
            self.stop_with(span, message);
            return false;
        }
        true
    }

    fn leave(&mut self) {
        self.brackets -= 1;
    }

    /// Sets the height of an expression whose operands have at most the height `parts`. Stops the parser if the limit
    /// is exceeded.
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
