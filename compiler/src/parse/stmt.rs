//! Statements (C99 6.8).

use crate::ast::{Attribute, Compound, Expr, Ident, Stmt, StmtKind};
use crate::diag::Span;
use crate::lex::{Keyword, Punct, TokenKind};

use super::declaration::DeclarationOrFunction;
use super::specifiers::SpecContext;
use super::{MAX_HEIGHT, MAX_STATEMENTS, Parser};

/// A label that precedes a statement.
enum Label {
    Case(Expr, Option<Expr>),
    Default,
    Named(Ident),
}

impl Parser<'_> {
    /// Parses a compound statement, `{ ... }`, in a new scope.
    pub(super) fn compound(&mut self) -> Compound {
        let start = self.span();
        let mut items = Vec::new();
        if !self.expect(Punct::LBrace, "expected '{'") || !self.enter() {
            return Compound { items, span: start };
        }
        self.scopes.push();
        while !self.at(Punct::RBrace) && !self.at_end() {
            let before = self.pos;
            items.push(self.statement());
            if self.pos == before {
                self.advance();
            }
        }
        self.scopes.pop();
        self.leave();
        self.close(Punct::RBrace, start);
        Compound { items, span: self.since(start) }
    }

    /// Parses a statement or a declaration.
    pub(super) fn statement(&mut self) -> Stmt {
        self.statements += 1;
        if self.statements > MAX_STATEMENTS {
            let span = self.span();
            self.stop_with(span, &format!("statements are nested too deeply (the limit is {MAX_STATEMENTS})"));
        }
        let statement = self.labelled();
        self.statements -= 1;
        statement
    }

    /// Parses a statement with its labels.
    fn labelled(&mut self) -> Stmt {
        let mut labels: Vec<(Label, Span)> = Vec::new();
        while let Some(label) = self.label() {
            labels.push(label);
            if labels.len() > MAX_HEIGHT as usize {
                let span = self.span();
                self.stop_with(span, "more than 20000 labels on one statement");
            }
        }
        // C99 requires a statement after a label. Like clang, accept a label at the end of a compound statement.
        let mut statement = if !labels.is_empty() && self.at(Punct::RBrace) {
            Stmt { kind: StmtKind::Empty, span: self.prev_span() }
        } else {
            self.unlabelled()
        };
        for (label, start) in labels.into_iter().rev() {
            let body = Box::new(statement);
            let span = self.since(start);
            let kind = match label {
                Label::Case(value, end) => StmtKind::Case { value, end, body },
                Label::Default => StmtKind::Default { body },
                Label::Named(name) => StmtKind::Label { name, body },
            };
            statement = Stmt { kind, span };
        }
        statement
    }

    fn label(&mut self) -> Option<(Label, Span)> {
        let start = self.span();
        let label = match self.peek() {
            TokenKind::Keyword(Keyword::Case) => {
                self.advance();
                let value = self.conditional();
                let end = if self.accept(Punct::Ellipsis) { Some(self.conditional()) } else { None };
                if !self.expect(Punct::Colon, "expected ':' after 'case'") {
                    self.skip_to(&[Punct::Colon, Punct::Semi]);
                    self.accept(Punct::Colon);
                }
                Label::Case(value, end)
            }
            TokenKind::Keyword(Keyword::Default) => {
                self.advance();
                self.expect(Punct::Colon, "expected ':' after 'default'");
                Label::Default
            }
            TokenKind::Ident(_) if *self.peek_at(1) == TokenKind::Punct(Punct::Colon) => {
                let name = self.accept_ident()?;
                self.advance();
                self.attributes(&mut Vec::new());
                Label::Named(name)
            }
            _ => return None,
        };
        Some((label, start))
    }

    fn unlabelled(&mut self) -> Stmt {
        self.skip_double_brackets();
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Punct(Punct::LBrace) => StmtKind::Compound(self.compound()),
            TokenKind::Punct(Punct::Semi) => {
                self.advance();
                StmtKind::Empty
            }
            TokenKind::Pragma(_) => self.pragma().map_or(StmtKind::Empty, StmtKind::Pragma),
            TokenKind::Keyword(Keyword::Attribute) => self.attributed(),
            TokenKind::Keyword(keyword) => {
                let keyword = *keyword;
                self.keyword_statement(keyword)
            }
            _ if self.at_declaration() => self.local_declaration(Vec::new()),
            _ if self.at_unknown_type() => self.local_declaration(Vec::new()),
            _ => self.expression_statement(),
        };
        Stmt { kind, span: self.since(start) }
    }

    fn keyword_statement(&mut self, keyword: Keyword) -> StmtKind {
        match keyword {
            Keyword::If => self.if_statement(),
            Keyword::While => {
                self.advance();
                let cond = self.condition("while");
                StmtKind::While { cond, body: self.body() }
            }
            Keyword::Do => self.do_statement(),
            Keyword::For => self.for_statement(),
            Keyword::Switch => {
                self.advance();
                let cond = self.condition("switch");
                StmtKind::Switch { cond, body: self.body() }
            }
            Keyword::Goto => {
                self.advance();
                let name = self.accept_ident();
                if name.is_none() {
                    self.error("expected identifier");
                }
                self.end_of_statement("expected ';' after goto statement");
                name.map_or(StmtKind::Empty, StmtKind::Goto)
            }
            Keyword::Break | Keyword::Continue => {
                self.advance();
                let is_break = keyword == Keyword::Break;
                self.end_of_statement(if is_break {
                    "expected ';' after break statement"
                } else {
                    "expected ';' after continue statement"
                });
                if is_break { StmtKind::Break } else { StmtKind::Continue }
            }
            Keyword::Return => {
                self.advance();
                let value = if self.at(Punct::Semi) { None } else { Some(self.expression()) };
                self.end_of_statement("expected ';' after return statement");
                StmtKind::Return(value)
            }
            Keyword::StaticAssert => StmtKind::StaticAssert(self.static_assert()),
            Keyword::Else => {
                self.error("'else' without a previous 'if'");
                self.advance();
                StmtKind::Empty
            }
            Keyword::Asm => {
                self.error("inline assembly is not supported");
                self.skip_to(&[Punct::Semi]);
                self.accept(Punct::Semi);
                StmtKind::Empty
            }
            Keyword::Extension => {
                self.advance();
                if self.at_declaration() { self.local_declaration(Vec::new()) } else { self.expression_statement() }
            }
            _ if self.at_declaration() => self.local_declaration(Vec::new()),
            _ => self.expression_statement(),
        }
    }

    /// Whether two names follow and the first name is not declared. The first name is probably a type then.
    fn at_unknown_type(&self) -> bool {
        let TokenKind::Ident(name) = self.peek() else { return false };
        matches!(self.peek_at(1), TokenKind::Ident(_)) && self.scopes.meaning(name).is_none()
    }

    /// Parses attributes and the declaration or statement after them.
    fn attributed(&mut self) -> StmtKind {
        let mut attributes = Vec::new();
        self.attributes(&mut attributes);
        if self.accept(Punct::Semi) {
            return StmtKind::Attributed { attributes, body: Box::new(Stmt { kind: StmtKind::Empty, span: self.prev_span() }) };
        }
        if self.at_declaration() {
            return self.local_declaration(attributes);
        }
        StmtKind::Attributed { attributes, body: Box::new(self.statement()) }
    }

    fn local_declaration(&mut self, attributes: Vec<Attribute>) -> StmtKind {
        match self.declaration(SpecContext::Declaration, attributes) {
            DeclarationOrFunction::Declaration(declaration) => StmtKind::Declaration(declaration),
            // The error about the nested function was reported.
            DeclarationOrFunction::Function(_) => StmtKind::Empty,
        }
    }

    fn expression_statement(&mut self) -> StmtKind {
        let expr = self.expression();
        self.end_of_statement("expected ';' after expression");
        StmtKind::Expr(expr)
    }

    fn end_of_statement(&mut self, message: &str) {
        if self.accept(Punct::Semi) {
            return;
        }
        let reported = self.error_at == Some(self.pos);
        self.error_missing(Punct::Semi, message);
        if !reported && self.starts_statement() {
            return;
        }
        self.skip_to(&[Punct::Semi]);
        self.accept(Punct::Semi);
    }

    /// Whether the next token probably starts a statement. If so, only the semicolon before it is missing.
    fn starts_statement(&self) -> bool {
        match self.peek() {
            TokenKind::Keyword(keyword) => super::declaration::starts_statement(*keyword) || self.at_declaration(),
            TokenKind::Ident(_) => true,
            TokenKind::Punct(Punct::LBrace) => true,
            _ => false,
        }
    }

    /// Parses the `( expression )` of a control statement.
    fn condition(&mut self, keyword: &str) -> Expr {
        let open = self.span();
        if !self.expect(Punct::LParen, &format!("expected '(' after '{keyword}'")) {
            return self.error_expr();
        }
        if !self.enter() {
            return self.error_expr();
        }
        let cond = self.expression();
        self.leave();
        self.close(Punct::RParen, open);
        cond
    }

    /// Parses the body of a control statement. Pragmas before the body become statements in it.
    fn body(&mut self) -> Box<Stmt> {
        let start = self.span();
        if !matches!(self.peek(), TokenKind::Pragma(_)) {
            self.scopes.push();
            let statement = self.statement();
            self.scopes.pop();
            return Box::new(statement);
        }
        let mut items = Vec::new();
        while let Some(pragma) = self.pragma() {
            items.push(Stmt { span: pragma.span, kind: StmtKind::Pragma(pragma) });
        }
        items.push(*self.body());
        let span = self.since(start);
        Box::new(Stmt { kind: StmtKind::Compound(Compound { items, span }), span })
    }

    /// Parses an `if` with all its `else if` branches, without recursion, because there may be thousands.
    fn if_statement(&mut self) -> StmtKind {
        let mut branches: Vec<(Expr, Box<Stmt>, Span)> = Vec::new();
        let mut last = None;
        loop {
            let start = self.span();
            self.advance();
            let cond = self.condition("if");
            let then = self.body();
            branches.push((cond, then, start));
            if branches.len() > MAX_HEIGHT as usize {
                self.stop_with(start, "more than 20000 'else if' branches in one statement");
            }
            if !self.accept_keyword(Keyword::Else) {
                break;
            }
            if !self.at_keyword(Keyword::If) {
                last = Some(self.body());
                break;
            }
        }
        let mut kind = StmtKind::Empty;
        while let Some((cond, then, start)) = branches.pop() {
            kind = StmtKind::If { cond, then, els: last.take() };
            if !branches.is_empty() {
                last = Some(Box::new(Stmt { kind: std::mem::replace(&mut kind, StmtKind::Empty), span: self.since(start) }));
            }
        }
        kind
    }

    fn do_statement(&mut self) -> StmtKind {
        self.advance();
        let body = self.body();
        if !self.accept_keyword(Keyword::While) {
            self.error("expected 'while' in do/while loop");
            if self.at(Punct::LParen) {
                self.skip_parens();
                self.accept(Punct::Semi);
            }
            return StmtKind::DoWhile { body, cond: self.error_expr() };
        }
        let cond = self.condition("while");
        self.end_of_statement("expected ';' after do/while statement");
        StmtKind::DoWhile { body, cond }
    }

    fn for_statement(&mut self) -> StmtKind {
        self.advance();
        let open = self.span();
        self.scopes.push();
        let mut init = Box::new(Stmt { kind: StmtKind::Empty, span: open });
        let (mut cond, mut step) = (None, None);
        if self.expect(Punct::LParen, "expected '(' after 'for'") && self.enter() {
            let errors = self.diags.list().len();
            self.in_for = true;
            init = Box::new(self.for_init());
            self.in_for = false;
            if self.diags.list().len() > errors && !self.at(Punct::Semi) && self.prev_is_not_semicolon() {
                // The source probably has commas in place of semicolons. Keep only the first declarator.
                if let StmtKind::Declaration(declaration) = &mut init.kind {
                    declaration.declarators.truncate(1);
                }
                self.skip_to(&[Punct::RParen, Punct::LBrace]);
            } else {
                if !self.at(Punct::Semi) {
                    cond = Some(self.expression());
                }
                if !self.accept(Punct::Semi) {
                    self.error_missing(Punct::Semi, "expected ';' in 'for' statement specifier");
                    self.skip_to(&[Punct::Semi, Punct::RParen]);
                    self.accept(Punct::Semi);
                }
                if !self.at(Punct::RParen) {
                    step = Some(self.expression());
                }
            }
            self.leave();
            self.close(Punct::RParen, open);
        }
        let body = self.body();
        self.scopes.pop();
        StmtKind::For { init, cond, step, body }
    }

    fn prev_is_not_semicolon(&self) -> bool {
        self.pos.checked_sub(1).and_then(|at| self.tokens.get(at)).is_none_or(|token| token.kind != TokenKind::Punct(Punct::Semi))
    }

    fn for_init(&mut self) -> Stmt {
        let start = self.span();
        let kind = if self.accept(Punct::Semi) {
            StmtKind::Empty
        } else if self.at_declaration() || self.at_unknown_type() {
            self.local_declaration(Vec::new())
        } else {
            let expr = self.expression();
            if !self.accept(Punct::Semi) {
                self.error_missing(Punct::Semi, "expected ';' in 'for' statement specifier");
                self.skip_to(&[Punct::Semi, Punct::RParen]);
                self.accept(Punct::Semi);
            }
            StmtKind::Expr(expr)
        };
        Stmt { kind, span: self.since(start) }
    }
}
