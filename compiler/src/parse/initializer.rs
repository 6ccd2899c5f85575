//! Initialisers (C99 6.7.8).

use crate::ast::{Designator, InitList, Initializer};
use crate::diag::Span;
use crate::lex::{Punct, TokenKind};

use super::Parser;

impl Parser<'_> {
    /// Parses an initialiser: an expression or a list in braces.
    pub(super) fn initializer(&mut self) -> Initializer {
        if self.at(Punct::LBrace) { Initializer::List(self.init_list()) } else { Initializer::Expr(self.assignment()) }
    }

    /// Parses an initialiser list, `{ ... }`, with its designators.
    pub(super) fn init_list(&mut self) -> InitList {
        let start = self.span();
        self.advance();
        let mut items = Vec::new();
        if !self.enter() {
            return InitList { items, span: start };
        }
        while !self.at(Punct::RBrace) && !self.at_end() {
            let designators = self.designators();
            items.push((designators, self.initializer()));
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        self.leave();
        self.close(Punct::RBrace, start);
        InitList { items, span: self.since(start) }
    }

    fn designators(&mut self) -> Vec<Designator> {
        // The old designator syntax of GNU C: `field: value`.
        if *self.peek_at(1) == TokenKind::Punct(Punct::Colon)
            && let Some(name) = self.accept_ident()
        {
            self.advance();
            return vec![Designator::Field(name)];
        }
        let designators = self.designator_path(false);
        if !designators.is_empty() {
            self.expect(Punct::Eq, "expected '=' or another designator");
        }
        designators
    }

    /// Parses a sequence of `.field` and `[index]`. With `bare_first`, the first field has no dot, as in `offsetof`.
    pub(super) fn designator_path(&mut self, bare_first: bool) -> Vec<Designator> {
        let mut path = Vec::new();
        if bare_first {
            match self.accept_ident() {
                Some(name) => path.push(Designator::Field(name)),
                None => self.error("expected identifier"),
            }
        }
        loop {
            let open = self.span();
            if self.accept(Punct::Dot) {
                match self.accept_ident() {
                    Some(name) => path.push(Designator::Field(name)),
                    None => {
                        self.error("expected a field designator, such as '.field = 4'");
                        return path;
                    }
                }
            } else if self.at(Punct::LBracket) && self.index_designator(open, &mut path) {
            } else {
                return path;
            }
        }
    }

    fn index_designator(&mut self, open: Span, path: &mut Vec<Designator>) -> bool {
        self.advance();
        if !self.enter() {
            return false;
        }
        let index = self.conditional();
        let last = if self.accept(Punct::Ellipsis) { Some(self.conditional()) } else { None };
        self.leave();
        self.close(Punct::RBracket, open);
        path.push(match last {
            Some(last) => Designator::Range(index, last),
            None => Designator::Index(index),
        });
        true
    }
}
