//! Declarations and function definitions (C99 6.7, 6.9).

use crate::ast::{
    DeclSpecs, Declaration, Declarator, DeclaratorPart, FunctionDef, Item, Pragma, PragmaKind, StaticAssert, StorageClass, TranslationUnit,
    TypeSpec,
};
use crate::diag::{Span, WarningGroup};
use crate::lex::{Keyword, Punct, TokenKind};

use super::Parser;
use super::scope::NameKind;
use super::specifiers::SpecContext;

/// A declaration or a function definition.
pub(super) enum DeclarationOrFunction {
    Declaration(Declaration),
    Function(Box<FunctionDef>),
}

impl Parser<'_> {
    pub(super) fn translation_unit(&mut self) -> TranslationUnit {
        let mut unit = TranslationUnit::default();
        while !self.at_end() {
            let before = self.pos;
            if let Some(item) = self.item() {
                unit.items.push(item);
            }
            if self.pos == before {
                self.advance();
            }
        }
        unit
    }

    fn item(&mut self) -> Option<Item> {
        if self.skip_double_brackets() {
            return None;
        }
        match self.peek() {
            TokenKind::Pragma(_) => return self.pragma().map(Item::Pragma),
            TokenKind::Punct(Punct::Semi) => {
                self.advance();
                return None;
            }
            TokenKind::Punct(Punct::RBrace) => {
                self.error("extraneous closing brace ('}')");
                self.advance();
                return None;
            }
            TokenKind::Keyword(Keyword::Extension) => {
                self.advance();
                return None;
            }
            TokenKind::Keyword(Keyword::StaticAssert) => return Some(Item::StaticAssert(self.static_assert())),
            TokenKind::Keyword(Keyword::Asm) => {
                self.error("inline assembly is not supported");
                self.skip_to(&[Punct::Semi]);
                return None;
            }
            TokenKind::Ident(_) => {}
            TokenKind::Keyword(_) if self.at_declaration() => {}
            _ => {
                self.error("expected identifier or '('");
                self.skip_to_item();
                return None;
            }
        }
        Some(match self.declaration(SpecContext::File, Vec::new()) {
            DeclarationOrFunction::Declaration(declaration) => Item::Declaration(declaration),
            DeclarationOrFunction::Function(function) => Item::Function(function),
        })
    }

    /// Skips tokens to the end of the next `;` or `{ ... }`, or to the start of a declaration.
    fn skip_to_item(&mut self) {
        loop {
            if self.at(Punct::LBrace) {
                self.skip_braces();
                return;
            }
            self.advance();
            if self.accept(Punct::Semi) || self.at_end() || self.at_declaration() || self.at(Punct::RBrace) {
                return;
            }
        }
    }

    pub(super) fn pragma(&mut self) -> Option<Pragma> {
        let span = self.span();
        let TokenKind::Pragma(kind) = self.peek() else { return None };
        let pragma = Pragma { kind: kind.clone(), span };
        self.advance();
        if let PragmaKind::Pack(pack) = &pragma.kind
            && let Err(text) = self.packing.apply(pack)
        {
            self.diags.warning(WarningGroup::IgnoredPragmas, span, text);
        }
        Some(pragma)
    }

    /// Parses `_Static_assert(condition, "message");`.
    pub(super) fn static_assert(&mut self) -> StaticAssert {
        let start = self.span();
        self.advance();
        let open = self.span();
        let mut assertion = StaticAssert { cond: self.error_expr(), message: None, span: start };
        if self.expect(Punct::LParen, "expected '(' after '_Static_assert'") && self.enter() {
            assertion.cond = self.assignment();
            if self.accept(Punct::Comma) {
                assertion.message = self.string();
                if assertion.message.is_none() {
                    self.error("expected string literal for diagnostic message in static_assert");
                }
            }
            self.leave();
            self.close(Punct::RParen, open);
        }
        self.end_of_declaration("expected ';' after '_Static_assert'");
        assertion.span = self.since(start);
        assertion
    }

    /// Parses a declaration with its semicolon, or a function with its body. `attributes` are the attributes before it.
    pub(super) fn declaration(&mut self, context: SpecContext, attributes: Vec<crate::ast::Attribute>) -> DeclarationOrFunction {
        let start = attributes.first().map_or_else(|| self.span(), |first| first.span);
        let mut specs = self.specifiers(context);
        specs.attributes.splice(0..0, attributes);
        if std::mem::take(&mut self.ends_early) {
            let span = self.since(start);
            return DeclarationOrFunction::Declaration(Declaration { specs, declarators: Vec::new(), span });
        }
        let mut declaration = Declaration { specs, declarators: Vec::new(), span: start };
        let defines_type = matches!(declaration.specs.ty, TypeSpec::Record(_) | TypeSpec::Enum(_));
        if self.at(Punct::Semi) && !defines_type && self.report_space_as_name() {
            declaration.specs.ty = TypeSpec::Missing;
            declaration.specs.quals.space = None;
        }
        if self.accept(Punct::Semi) {
            self.check_declares(&declaration.specs);
            declaration.span = self.since(start);
            return DeclarationOrFunction::Declaration(declaration);
        }
        loop {
            let declarator = self.declarator();
            if std::mem::take(&mut self.old_style) && context == SpecContext::File {
                self.skip_old_parameters();
            }
            let is_function = matches!(declarator.parts.first(), Some(DeclaratorPart::Function { .. }));
            if is_function && declaration.declarators.is_empty() && self.at_function_body() {
                if context != SpecContext::File {
                    self.error("function definition is not allowed here");
                }
                self.declare(&declaration.specs, &declarator);
                return DeclarationOrFunction::Function(self.function_body(declaration.specs, declarator, start));
            }
            if declarator.name.is_none() {
                // An error was reported. Avoid further errors about the address space.
                declaration.specs.quals.space = None;
                self.skip_to(&[Punct::Semi]);
                break;
            }
            if self.at_keyword(Keyword::Asm) {
                self.error("inline assembly is not supported");
                self.advance();
                self.skip_parens();
            }
            self.declare(&declaration.specs, &declarator);
            let item = self.init_declarator(declarator);
            declaration.declarators.push(item);
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        let message =
            if context == SpecContext::File { "expected ';' after top level declarator" } else { "expected ';' at end of declaration" };
        self.end_of_declaration(message);
        declaration.span = self.since(start);
        DeclarationOrFunction::Declaration(declaration)
    }

    fn end_of_declaration(&mut self, message: &str) {
        if self.accept(Punct::Semi) {
            return;
        }
        self.error_missing(Punct::Semi, message);
        // If a declaration or a statement follows, only the semicolon is missing, so nothing is skipped.
        if self.at_declaration() || matches!(self.peek(), TokenKind::Keyword(keyword) if starts_statement(*keyword)) {
            return;
        }
        if self.in_for {
            // The next tokens belong to the `for` statement.
            return;
        }
        self.skip_to(&[Punct::Semi, Punct::LBrace]);
        if self.at(Punct::LBrace) {
            self.skip_braces();
        } else {
            self.accept(Punct::Semi);
        }
    }

    /// Skips `{ ... }`.
    fn skip_braces(&mut self) {
        self.advance();
        self.skip_to(&[]);
        self.accept(Punct::RBrace);
    }

    /// Skips the parameter declarations of a K&R function definition.
    fn skip_old_parameters(&mut self) {
        while !self.at(Punct::LBrace) && !self.at(Punct::RBrace) && !self.at_end() {
            self.advance();
        }
    }

    fn at_function_body(&self) -> bool {
        self.at(Punct::LBrace)
    }

    /// Declares the name of a declarator as a type or as an ordinary identifier.
    fn declare(&mut self, specs: &DeclSpecs, declarator: &Declarator) {
        let Some(name) = &declarator.name else { return };
        let is_typedef = matches!(specs.storage, Some((StorageClass::Typedef, _)));
        let meaning = if is_typedef { NameKind::Type { vector: self.is_vector(specs, declarator) } } else { NameKind::Value };
        self.scopes.declare(&name.name, meaning);
    }

    fn check_declares(&mut self, specs: &DeclSpecs) {
        if !matches!(specs.ty, TypeSpec::Record(_) | TypeSpec::Enum(_) | TypeSpec::Missing) && !self.stopped {
            self.diags.warning(WarningGroup::MissingDeclarations, specs.span, "declaration does not declare anything");
        }
    }

    fn function_body(&mut self, specs: DeclSpecs, declarator: Declarator, _start: Span) -> Box<FunctionDef> {
        self.scopes.push();
        if let Some(DeclaratorPart::Function { params, .. }) = declarator.parts.first() {
            for name in params.iter().filter_map(|param| param.declarator.name.as_ref()) {
                self.scopes.declare(&name.name, NameKind::Value);
            }
        }
        let body = self.compound();
        self.scopes.pop();
        Box::new(FunctionDef { specs, declarator, body })
    }
}

/// Whether a keyword starts a statement.
pub(super) const fn starts_statement(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::If
            | Keyword::For
            | Keyword::While
            | Keyword::Do
            | Keyword::Switch
            | Keyword::Case
            | Keyword::Default
            | Keyword::Return
            | Keyword::Goto
            | Keyword::Break
            | Keyword::Continue
            | Keyword::Else
    )
}
