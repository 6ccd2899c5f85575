//! `struct`, `union` and `enum` (C99 6.7.2.1, 6.7.2.2).

use crate::ast::{EnumSpec, FieldDecl, Ident, RecordSpec, StaticAssert, TypeSpec};
use crate::diag::Diagnostic;
use crate::lex::{Keyword, Punct};

use super::Parser;
use super::scope::NameKind;
use super::specifiers::SpecContext;

impl Parser<'_> {
    pub(super) fn record_specifier(&mut self, is_union: bool) -> TypeSpec {
        self.advance();
        let mut attributes = Vec::new();
        self.attributes(&mut attributes);
        let tag = self.accept_ident();
        // Attributes are also allowed between the tag and the body.
        self.attributes(&mut attributes);
        let open = self.span();
        let pack = self.packing.current();
        if let Some(tag) = &tag {
            self.tags.insert(tag.name.clone(), if is_union { "union" } else { "struct" });
        }
        let mut asserts = Vec::new();
        let fields = if self.at(Punct::LBrace) {
            self.advance();
            let fields = self.fields(&mut asserts);
            self.close(Punct::RBrace, open);
            self.attributes(&mut attributes);
            Some(fields)
        } else {
            None
        };
        if tag.is_none() && fields.is_none() {
            self.error(format!("declaration of anonymous {} must be a definition", if is_union { "union" } else { "struct" }));
        }
        TypeSpec::Record(Box::new(RecordSpec { is_union, tag, fields, asserts, attributes, pack }))
    }

    /// Parses members up to the closing brace. Appends the assertions between them to `asserts`.
    fn fields(&mut self, asserts: &mut Vec<StaticAssert>) -> Vec<FieldDecl> {
        let mut fields = Vec::new();
        if !self.enter() {
            return fields;
        }
        while !self.at(Punct::RBrace) && !self.at_end() {
            let before = self.pos;
            if self.accept(Punct::Semi) {
                continue;
            }
            if self.pragma().is_some() || self.accept_keyword(Keyword::Extension) {
                continue;
            }
            if self.at_keyword(Keyword::StaticAssert) {
                asserts.push(self.static_assert());
                continue;
            }
            fields.push(self.field());
            if self.pos == before {
                self.advance();
            }
        }
        self.leave();
        fields
    }

    fn field(&mut self) -> FieldDecl {
        let start = self.span();
        let specs = self.specifiers(SpecContext::Type);
        let mut declarators = Vec::new();
        let mut specs = specs;
        if self.at(Punct::Semi) && self.report_space_as_name() {
            specs.ty = TypeSpec::Missing;
            specs.quals.space = None;
        }
        if !self.at(Punct::Semi) {
            loop {
                let mut declarator = if self.at(Punct::Colon) { self.unnamed_declarator() } else { self.declarator() };
                let width = if self.accept(Punct::Colon) { Some(self.conditional()) } else { None };
                self.attributes(&mut declarator.attributes);
                declarators.push((declarator, width));
                if !self.accept(Punct::Comma) {
                    break;
                }
            }
        }
        if self.at(Punct::RBrace) && !declarators.is_empty() {
            let span = self.prev_span().end();
            self.report(Diagnostic::warning(None, span, "expected ';' at end of declaration list"));
        } else if !self.accept(Punct::Semi) {
            self.error_missing(Punct::Semi, "expected ';' at end of declaration list");
            self.skip_to(&[Punct::Semi]);
            self.accept(Punct::Semi);
        }
        FieldDecl { specs, declarators, span: self.since(start) }
    }

    pub(super) fn enum_specifier(&mut self) -> TypeSpec {
        let _start = self.span();
        self.advance();
        let mut attributes = Vec::new();
        self.attributes(&mut attributes);
        let tag = self.accept_ident();
        if let Some(tag) = &tag {
            self.tags.insert(tag.name.clone(), "enum");
        }
        let open = self.span();
        let enumerators = if self.accept(Punct::LBrace) {
            let list = self.enumerators();
            self.close(Punct::RBrace, open);
            self.attributes(&mut attributes);
            Some(list)
        } else {
            None
        };
        if tag.is_none() && enumerators.is_none() {
            self.error("expected identifier or '{'");
        }
        TypeSpec::Enum(Box::new(EnumSpec { tag, enumerators, attributes }))
    }

    fn enumerators(&mut self) -> Vec<(Ident, Option<crate::ast::Expr>)> {
        let mut list = Vec::new();
        if self.at(Punct::RBrace) {
            self.error("use of empty enum");
        }
        while !self.at(Punct::RBrace) && !self.at_end() {
            let Some(name) = self.accept_ident() else {
                self.error("expected identifier");
                self.skip_to(&[Punct::Semi]);
                break;
            };
            self.attributes(&mut Vec::new());
            let value = if self.accept(Punct::Eq) { Some(self.conditional()) } else { None };
            self.scopes.declare(&name.name, NameKind::Value);
            list.push((name, value));
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        list
    }
}
