//! Block literals (OpenCL C 6.14.3): `^ type (parameters) { ... }`. Type and parameters are optional.

use crate::ast::{BlockLiteral, Declarator, DeclaratorPart, Expr, ExprKind};
use crate::lex::Punct;

use super::Parser;
use super::scope::NameKind;
use super::specifiers::SpecContext;

impl Parser<'_> {
    /// Parses an expression that starts with `^`.
    pub(super) fn block_literal(&mut self) -> Expr {
        let start = self.span();
        self.advance();
        if !self.enter() {
            return self.error_expr();
        }
        let mut literal_specs = None;
        let mut declarator = Declarator { name: None, parts: Vec::new(), attributes: Vec::new(), span: start };
        if self.at(Punct::LParen) {
            let open = self.span();
            self.advance();
            declarator.parts.push(self.function_suffix(open));
        } else if !self.at(Punct::LBrace) {
            literal_specs = Some(self.specifiers(SpecContext::Type));
            declarator = self.abstract_declarator();
        }
        self.scopes.push();
        if let Some(DeclaratorPart::Function { params, .. }) = declarator.parts.first() {
            for name in params.iter().filter_map(|param| param.declarator.name.as_ref()) {
                self.scopes.declare(&name.name, NameKind::Value);
            }
        }
        // The init clause of a `for` may contain a block literal with statements.
        let in_for = std::mem::take(&mut self.in_for);
        let body = self.compound();
        self.in_for = in_for;
        self.scopes.pop();
        self.leave();
        self.height = 1;
        let kind = ExprKind::Block(Box::new(BlockLiteral { specs: literal_specs, declarator, body }));
        Expr { kind, span: self.since(start) }
    }
}
