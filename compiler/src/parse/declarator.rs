//! Declarators (C99 6.7.5, 6.7.6). Their parts are in order from the name outward.

use crate::ast::{Attribute, DeclSpecs, Declarator, DeclaratorPart, Expr, Ident, InitDeclarator, ParamDecl, Qualifiers, TypeSpec};
use crate::diag::Span;
use crate::diag::suggest::Hint;
use crate::lex::{Keyword, Punct, TokenKind};

use super::Parser;
use super::specifiers::SpecContext;

/// Maximum number of parts of a declarator, because later code visits them recursively.
const MAX_PARTS: usize = 256;

/// Whether a declarator may or must have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameRule {
    Required,
    Optional,
    Forbidden,
}

impl Parser<'_> {
    /// Parses a declarator with a name.
    pub(super) fn declarator(&mut self) -> Declarator {
        self.declarator_with(NameRule::Required)
    }

    /// Parses a declarator without a name.
    pub(super) fn abstract_declarator(&mut self) -> Declarator {
        self.declarator_with(NameRule::Forbidden)
    }

    /// Creates an empty declarator, for unnamed bit-fields.
    pub(super) fn unnamed_declarator(&mut self) -> Declarator {
        Declarator { name: None, parts: Vec::new(), attributes: Vec::new(), span: self.span() }
    }

    fn declarator_with(&mut self, rule: NameRule) -> Declarator {
        let start = self.span();
        let mut attributes = Vec::new();
        let (name, mut parts) = self.declarator_parts(rule, &mut attributes);
        if parts.len() > MAX_PARTS {
            self.stop_with(start, "declarator has more than 256 pointers, array bounds and parameter lists");
            parts.truncate(MAX_PARTS);
        }
        self.attributes(&mut attributes);
        Declarator { name, parts, attributes, span: self.since(start) }
    }

    fn declarator_parts(&mut self, rule: NameRule, attributes: &mut Vec<Attribute>) -> (Option<Ident>, Vec<DeclaratorPart>) {
        let mut pointers = Vec::new();
        loop {
            let start = self.span();
            self.attributes(attributes);
            if self.accept(Punct::Star) {
                let quals = self.pointer_qualifiers(attributes);
                pointers.push(DeclaratorPart::Pointer { quals, span: self.since(start) });
            } else if self.at(Punct::Caret) {
                self.advance();
                self.pointer_qualifiers(attributes);
                pointers.push(DeclaratorPart::Block { span: self.since(start) });
            } else {
                break;
            }
        }
        let (name, mut parts) = self.direct_declarator(rule, attributes);
        self.declarator_suffixes(&mut parts);
        parts.extend(pointers.into_iter().rev());
        (name, parts)
    }

    /// Returns a suggestion for an undeclared type name, or an empty one.
    pub(super) fn suggest_type(&self, name: &str) -> Hint {
        super::suggest::type_hint(name, self.scopes.declared_types())
    }

    fn pointer_qualifiers(&mut self, attributes: &mut Vec<Attribute>) -> Qualifiers {
        let mut quals = Qualifiers::default();
        loop {
            if self.at_keyword(Keyword::Attribute) {
                self.attributes(attributes);
            } else if !self.qualifier(&mut quals) {
                return quals;
            }
        }
    }

    fn direct_declarator(&mut self, rule: NameRule, attributes: &mut Vec<Attribute>) -> (Option<Ident>, Vec<DeclaratorPart>) {
        if rule != NameRule::Forbidden
            && let Some(name) = self.accept_ident()
        {
            return (Some(name), Vec::new());
        }
        let nested = self.at(Punct::LParen)
            && match rule {
                NameRule::Required => true,
                // `int (int)` and `int ()` are functions without a name.
                _ => *self.peek_at(1) != TokenKind::Punct(Punct::RParen) && (!self.type_at(1) || self.attribute_at(1)),
            };
        if nested {
            let open = self.span();
            self.advance();
            if !self.enter() {
                return (None, Vec::new());
            }
            let inner = self.declarator_parts(rule, attributes);
            self.leave();
            self.close(Punct::RParen, open);
            return inner;
        }
        if rule == NameRule::Required {
            self.missing_name();
        }
        (None, Vec::new())
    }

    fn attribute_at(&self, ahead: usize) -> bool {
        *self.peek_at(ahead) == TokenKind::Keyword(Keyword::Attribute)
    }

    /// If the previous token is an address space in place of an identifier, as in `int local;`, reports an error and
    /// returns true.
    pub(super) fn report_space_as_name(&mut self) -> bool {
        let Some(token) = self.pos.checked_sub(1).and_then(|at| self.tokens.get(at)) else { return false };
        let TokenKind::Keyword(keyword) = token.kind else { return false };
        if super::specifiers::address_space(keyword).is_none() {
            return false;
        }
        let span = token.span;
        // The token does not contain the underscores of the keyword. The length of its span shows whether there are
        // any.
        let plain = keyword.spelling();
        let underscores = if (span.hi - span.lo) as usize > plain.len() { "__" } else { "" };
        let word = format!("{underscores}{plain}");
        self.error_span(span, format!("'{word}' names an address space and cannot be an identifier"));
        true
    }

    /// Reports a missing name.
    fn missing_name(&mut self) {
        if self.report_space_as_name() {
            return;
        }
        let message = match self.peek() {
            TokenKind::Keyword(keyword) => format!("expected identifier or '(' before '{}'", keyword.spelling()),
            _ => String::from("expected identifier or '('"),
        };
        self.error(message);
    }

    /// Parses `[...]` and `(...)` after a name.
    fn declarator_suffixes(&mut self, parts: &mut Vec<DeclaratorPart>) {
        loop {
            let start = self.span();
            if self.accept(Punct::LBracket) {
                let part = self.array_suffix(start);
                parts.push(part);
            } else if self.accept(Punct::LParen) {
                let part = self.function_suffix(start);
                parts.push(part);
            } else {
                return;
            }
        }
    }

    fn array_suffix(&mut self, start: Span) -> DeclaratorPart {
        let mut quals = Qualifiers::default();
        while self.accept_keyword(Keyword::Static) || self.qualifier(&mut quals) {}
        let size = if self.at(Punct::RBracket) {
            None
        } else if self.at(Punct::Star) && *self.peek_at(1) == TokenKind::Punct(Punct::RBracket) {
            self.error("variable length arrays are not supported in OpenCL");
            self.advance();
            None
        } else if self.enter() {
            let size = self.assignment();
            self.leave();
            Some(size)
        } else {
            None
        };
        self.close(Punct::RBracket, start);
        DeclaratorPart::Array { size, quals, span: self.since(start) }
    }

    pub(super) fn function_suffix(&mut self, start: Span) -> DeclaratorPart {
        let mut params = Vec::new();
        let mut variadic = false;
        if !self.enter() {
            return DeclaratorPart::Function { params, variadic, span: start };
        }
        self.scopes.push();
        let untyped = self.peek_name().is_some_and(|name| !self.scopes.is_type(name));
        if untyped && matches!(self.peek_at(1), TokenKind::Punct(Punct::Comma | Punct::RParen)) {
            params = self.identifier_list();
        } else if !self.at(Punct::RParen) {
            loop {
                if self.accept(Punct::Ellipsis) {
                    variadic = true;
                    break;
                }
                let before = self.pos;
                params.push(self.parameter());
                if !self.accept(Punct::Comma) {
                    break;
                }
                if self.pos == before {
                    break;
                }
            }
        }
        self.scopes.pop();
        self.leave();
        self.close(Punct::RParen, start);
        if let [only] = params.as_slice()
            && is_plain_void(only)
        {
            params.clear();
        }
        DeclaratorPart::Function { params, variadic, span: self.since(start) }
    }

    /// Reports an error about a parameter list that starts with an unknown name: a K&R definition, or an undeclared
    /// type. Returns the names as parameters without types.
    fn identifier_list(&mut self) -> Vec<ParamDecl> {
        let name = self.peek_name().cloned().unwrap_or_else(|| "".into());
        let mut ahead = 0;
        while *self.peek_at(ahead) != TokenKind::Punct(Punct::RParen) && *self.peek_at(ahead) != TokenKind::Eof {
            ahead += 1;
        }
        let declarations_follow = matches!(self.peek_at(ahead + 1), TokenKind::Keyword(keyword) if *keyword != Keyword::Attribute)
            || matches!(self.peek_at(ahead + 1), TokenKind::Ident(_));
        if declarations_follow {
            self.old_style = true;
            self.error("function definitions without prototype (K&R style) are not supported in OpenCL C");
        } else {
            let hint = self.suggest_type(&name);
            self.error_hint(&format!("unknown type name '{name}'"), &hint);
        }
        // Declare the names, to avoid errors about their uses.
        let mut params = Vec::new();
        while let Some(name) = self.accept_ident() {
            let span = name.span;
            let specs = DeclSpecs::missing(span);
            let declarator = Declarator { name: Some(name), parts: Vec::new(), attributes: Vec::new(), span };
            params.push(ParamDecl { specs, declarator, span });
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        self.skip_to(&[Punct::RParen, Punct::LBrace, Punct::Semi]);
        params
    }

    fn parameter(&mut self) -> ParamDecl {
        let start = self.span();
        let specs = self.specifiers(SpecContext::Declaration);
        let declarator = self.declarator_with(NameRule::Optional);
        let mut specs = specs;
        if declarator.name.is_none() && declarator.parts.is_empty() && self.report_space_as_name() {
            specs.ty = TypeSpec::Missing;
            specs.quals.space = None;
        }
        if let Some(name) = &declarator.name {
            self.scopes.declare(&name.name, super::scope::NameKind::Value);
        }
        if self.at(Punct::Eq) {
            self.error("C does not support default arguments");
            self.skip_to(&[Punct::Comma, Punct::RParen, Punct::Semi]);
        }
        ParamDecl { specs, declarator, span: self.since(start) }
    }

    /// Parses the initialiser of a declarator, if there is one.
    pub(super) fn init_declarator(&mut self, declarator: Declarator) -> InitDeclarator {
        let init = if self.accept(Punct::Eq) { Some(self.initializer()) } else { None };
        InitDeclarator { declarator, init }
    }

    /// Whether a declarator declares an object of a vector type, and not a pointer, array or function.
    pub(super) fn is_vector(&self, specs: &DeclSpecs, declarator: &Declarator) -> bool {
        declarator.parts.is_empty()
            && match &specs.ty {
                TypeSpec::Vector(..) => true,
                TypeSpec::Typedef(name) => self.scopes.meaning(name) == Some(super::scope::NameKind::Type { vector: true }),
                _ => specs.attributes.iter().chain(&declarator.attributes).any(|attribute| &*attribute.name.name == "ext_vector_type"),
            }
    }

    /// Creates a placeholder for a missing expression.
    pub(super) fn error_expr(&mut self) -> Expr {
        self.height = 1;
        Expr { kind: crate::ast::ExprKind::Error, span: self.span() }
    }
}

fn is_plain_void(param: &ParamDecl) -> bool {
    matches!(param.specs.ty, TypeSpec::Void) && param.declarator.name.is_none() && param.declarator.parts.is_empty()
}
