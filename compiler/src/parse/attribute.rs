//! `__attribute__((...))` (OpenCL C 6.13).

use crate::ast::{Attribute, AttributeArg, Ident};
use crate::lex::{Keyword, Punct, TokenKind};

use super::Parser;

impl Parser<'_> {
    /// Parses all `__attribute__` specifiers at the current position, if there are any. Appends their attributes to
    /// `into`.
    pub(super) fn attributes(&mut self, into: &mut Vec<Attribute>) {
        while self.at_keyword(Keyword::Attribute) {
            self.advance();
            let outer = self.span();
            if !self.expect(Punct::LParen, "expected '(' after 'attribute'") {
                return;
            }
            let inner = self.span();
            if self.expect(Punct::LParen, "expected '(' after '('") {
                self.attribute_list(into);
                self.close(Punct::RParen, inner);
            }
            self.close(Punct::RParen, outer);
        }
    }

    /// If `[[...]]` follows (C23, C++), reports an error, skips it and returns true.
    pub(super) fn skip_double_brackets(&mut self) -> bool {
        let bracket = TokenKind::Punct(Punct::LBracket);
        if *self.peek() != bracket || *self.peek_at(1) != bracket {
            return false;
        }
        self.error("attributes in double brackets are not supported in OpenCL C; use __attribute__((...))");
        self.advance();
        self.advance();
        self.skip_to(&[Punct::RBracket, Punct::Semi]);
        if self.accept(Punct::RBracket) {
            self.accept(Punct::RBracket);
        }
        true
    }

    fn attribute_list(&mut self, into: &mut Vec<Attribute>) {
        loop {
            while self.accept(Punct::Comma) {}
            let start = self.span();
            let name = match self.peek() {
                TokenKind::Ident(name) => name.to_string(),
                TokenKind::Keyword(keyword) => keyword.spelling().to_owned(),
                _ => return,
            };
            self.advance();
            let bare = name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(&name);
            let name = Ident { name: bare.into(), span: start };
            let mut args = Vec::new();
            let open = self.span();
            if self.accept(Punct::LParen) {
                self.attribute_args(&mut args);
                self.close(Punct::RParen, open);
            }
            into.push(Attribute { name, args, span: self.since(start) });
            if !self.accept(Punct::Comma) {
                return;
            }
        }
    }

    fn attribute_args(&mut self, args: &mut Vec<AttributeArg>) {
        if self.at(Punct::RParen) || !self.enter() {
            return;
        }
        loop {
            args.push(if self.at_type() { AttributeArg::Type(self.type_name()) } else { AttributeArg::Expr(self.assignment()) });
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        self.leave();
    }
}
