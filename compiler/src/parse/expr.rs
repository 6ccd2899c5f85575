//! Expressions (C99 6.5, OpenCL C 6.5). Binary operators are parsed by precedence. Loops parse chains of operators.

use std::sync::Arc;

use crate::ast::{BinaryOp, Expr, ExprKind, TypeName, UnaryOp};
use crate::diag::Span;
use crate::lex::{Keyword, Punct, TokenKind};

use super::{Parser, types};

/// A prefix operator.
enum Prefix {
    Operator(UnaryOp, Span),
    Cast(Box<TypeName>, Span),
}

/// Returns the binary operator and its precedence, or `None` for other punctuators. A higher precedence binds tighter.
const fn binary_operator(punct: Punct) -> Option<(BinaryOp, u8)> {
    Some(match punct {
        Punct::Star => (BinaryOp::Mul, 10),
        Punct::Slash => (BinaryOp::Div, 10),
        Punct::Percent => (BinaryOp::Rem, 10),
        Punct::Plus => (BinaryOp::Add, 9),
        Punct::Minus => (BinaryOp::Sub, 9),
        Punct::Shl => (BinaryOp::Shl, 8),
        Punct::Shr => (BinaryOp::Shr, 8),
        Punct::Lt => (BinaryOp::Lt, 7),
        Punct::Gt => (BinaryOp::Gt, 7),
        Punct::Le => (BinaryOp::Le, 7),
        Punct::Ge => (BinaryOp::Ge, 7),
        Punct::EqEq => (BinaryOp::Eq, 6),
        Punct::Ne => (BinaryOp::Ne, 6),
        Punct::Amp => (BinaryOp::BitAnd, 5),
        Punct::Caret => (BinaryOp::BitXor, 4),
        Punct::Pipe => (BinaryOp::BitOr, 3),
        Punct::AmpAmp => (BinaryOp::LogAnd, 2),
        Punct::PipePipe => (BinaryOp::LogOr, 1),
        _ => return None,
    })
}

/// Returns the binary operator of a compound assignment, or `Some(None)` for `=`. Returns `None` for other punctuators.
const fn assignment_operator(punct: Punct) -> Option<Option<BinaryOp>> {
    Some(match punct {
        Punct::Eq => None,
        Punct::PlusEq => Some(BinaryOp::Add),
        Punct::MinusEq => Some(BinaryOp::Sub),
        Punct::StarEq => Some(BinaryOp::Mul),
        Punct::SlashEq => Some(BinaryOp::Div),
        Punct::PercentEq => Some(BinaryOp::Rem),
        Punct::AmpEq => Some(BinaryOp::BitAnd),
        Punct::PipeEq => Some(BinaryOp::BitOr),
        Punct::CaretEq => Some(BinaryOp::BitXor),
        Punct::ShlEq => Some(BinaryOp::Shl),
        Punct::ShrEq => Some(BinaryOp::Shr),
        _ => return None,
    })
}

impl Parser<'_> {
    fn punct(&self) -> Option<Punct> {
        match self.peek() {
            TokenKind::Punct(punct) => Some(*punct),
            _ => None,
        }
    }

    /// Parses a comma expression, `a, b`.
    pub(super) fn expression(&mut self) -> Expr {
        let mut left = self.assignment();
        while self.accept(Punct::Comma) {
            let height = self.height;
            let right = self.assignment();
            self.grow(height.max(self.height));
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span };
        }
        left
    }

    /// Parses `a = b` and operators that bind tighter.
    pub(super) fn assignment(&mut self) -> Expr {
        let mut targets: Vec<(Expr, Option<BinaryOp>, Span, u32)> = Vec::new();
        let mut value = loop {
            let operand = self.conditional();
            let Some(operator) = self.punct().and_then(assignment_operator) else { break operand };
            let at = self.span();
            self.advance();
            targets.push((operand, operator, at, self.height));
        };
        while let Some((target, operator, at, height)) = targets.pop() {
            self.grow(height.max(self.height));
            let span = target.span.to(value.span);
            value = Expr { kind: ExprKind::Assign(operator, at, Box::new(target), Box::new(value)), span };
        }
        value
    }

    /// Parses `c ? a : b` and operators that bind tighter.
    pub(super) fn conditional(&mut self) -> Expr {
        let mut choices: Vec<(Expr, Option<Box<Expr>>, u32)> = Vec::new();
        let mut value = loop {
            let cond = self.binary(1);
            if !self.accept(Punct::Question) {
                break cond;
            }
            let mut height = self.height;
            let then = if self.at(Punct::Colon) {
                None
            } else if self.enter_operand() {
                let then = self.expression();
                self.leave();
                height = height.max(self.height);
                Some(Box::new(then))
            } else {
                None
            };
            choices.push((cond, then, height));
            if !self.expect(Punct::Colon, "expected ':'") {
                break self.error_expr();
            }
        };
        while let Some((cond, then, height)) = choices.pop() {
            self.grow(height.max(self.height));
            let span = cond.span.to(value.span);
            value = Expr { kind: ExprKind::Cond { cond: Box::new(cond), then, els: Box::new(value) }, span };
        }
        value
    }

    /// Parses binary operators of at least the precedence `min`. Recurses once per precedence level, not per operator.
    fn binary(&mut self, min: u8) -> Expr {
        let mut left = self.unary();
        while let Some((operator, precedence)) = self.punct().and_then(binary_operator) {
            if precedence < min {
                break;
            }
            let at = self.span();
            self.advance();
            let height = self.height;
            let right = self.binary(precedence + 1);
            self.grow(height.max(self.height));
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(operator, at, Box::new(left), Box::new(right)), span };
        }
        left
    }

    /// Parses prefix operators and casts, and their operand.
    pub(super) fn unary(&mut self) -> Expr {
        let mut prefixes = Vec::new();
        let mut value = loop {
            let span = self.span();
            if let Some(operator) = self.prefix_operator() {
                prefixes.push(Prefix::Operator(operator, span));
                continue;
            }
            if self.accept_keyword(Keyword::Extension) {
                continue;
            }
            if !self.at(Punct::LParen) || !self.type_at(1) {
                break self.operand();
            }
            let Some(ty) = self.parenthesized_type() else { break self.error_expr() };
            if self.at(Punct::LBrace) {
                let list = self.init_list();
                self.grow(1);
                let literal = Expr { kind: ExprKind::CompoundLit(ty, list), span: self.since(span) };
                break self.postfix(literal);
            }
            if self.at(Punct::LParen) && self.is_vector(&ty.specs, &ty.declarator) && !self.type_at(1) {
                let literal = self.vector_literal(ty, span);
                break self.postfix(literal);
            }
            prefixes.push(Prefix::Cast(ty, span));
        };
        while let Some(prefix) = prefixes.pop() {
            self.grow(self.height);
            value = match prefix {
                Prefix::Operator(operator, start) => {
                    let span = start.to(value.span);
                    Expr { kind: ExprKind::Unary(operator, Box::new(value)), span }
                }
                Prefix::Cast(ty, start) => {
                    let span = start.to(value.span);
                    Expr { kind: ExprKind::Cast(ty, Box::new(value)), span }
                }
            };
        }
        value
    }

    fn prefix_operator(&mut self) -> Option<UnaryOp> {
        let operator = match self.punct()? {
            Punct::Plus => UnaryOp::Plus,
            Punct::Minus => UnaryOp::Minus,
            Punct::Bang => UnaryOp::Not,
            Punct::Tilde => UnaryOp::BitNot,
            Punct::Star => UnaryOp::Deref,
            Punct::Amp => UnaryOp::AddrOf,
            Punct::PlusPlus => UnaryOp::PreInc,
            Punct::MinusMinus => UnaryOp::PreDec,
            _ => return None,
        };
        self.advance();
        Some(operator)
    }

    /// Parses `( type )`. The next token must be its opening parenthesis. Returns `None` if the nesting limit is
    /// exceeded.
    fn parenthesized_type(&mut self) -> Option<Box<TypeName>> {
        let open = self.span();
        self.advance();
        if !self.enter() {
            return None;
        }
        let ty = self.type_name();
        self.leave();
        self.close(Punct::RParen, open);
        Some(Box::new(ty))
    }

    /// Parses the rest of `(float4)(a, b, c, d)` after the type (OpenCL C 6.3.6). If there is only one expression, the
    /// result is a cast.
    fn vector_literal(&mut self, ty: Box<TypeName>, start: Span) -> Expr {
        let open = self.span();
        self.advance();
        if !self.enter() {
            return self.error_expr();
        }
        let mut items = vec![self.assignment()];
        let mut height = self.height;
        while self.accept(Punct::Comma) {
            items.push(self.assignment());
            height = height.max(self.height);
        }
        self.leave();
        self.close(Punct::RParen, open);
        self.grow(height + 1);
        let span = self.since(start);
        if items.len() == 1 {
            let inner = items.pop().unwrap_or(Expr { kind: ExprKind::Error, span });
            let paren = Expr { kind: ExprKind::Paren(Box::new(inner)), span: self.since(open) };
            return Expr { kind: ExprKind::Cast(ty, Box::new(paren)), span };
        }
        Expr { kind: ExprKind::VectorLit(ty, items), span }
    }

    /// Parses a primary expression and its postfix operators.
    fn operand(&mut self) -> Expr {
        let primary = self.primary();
        self.postfix(primary)
    }

    fn postfix(&mut self, mut value: Expr) -> Expr {
        loop {
            let open = self.span();
            let start = value.span;
            let Some(punct) = self.punct() else { return value };
            let height = self.height;
            let kind = match punct {
                Punct::LBracket => {
                    self.advance();
                    if !self.enter() {
                        return value;
                    }
                    let index = self.expression();
                    self.leave();
                    if !self.close(Punct::RBracket, open) {
                        return self.error_expr();
                    }
                    ExprKind::Index(Box::new(value), Box::new(index))
                }
                Punct::LParen => {
                    let args = self.call_arguments();
                    ExprKind::Call(Box::new(value), args)
                }
                Punct::Dot | Punct::Arrow => {
                    self.advance();
                    let Some(field) = self.accept_ident() else {
                        self.error("expected identifier");
                        return value;
                    };
                    ExprKind::Member { base: Box::new(value), arrow: punct == Punct::Arrow, field }
                }
                Punct::PlusPlus | Punct::MinusMinus => {
                    self.advance();
                    let operator = if punct == Punct::PlusPlus { UnaryOp::PostInc } else { UnaryOp::PostDec };
                    ExprKind::Unary(operator, Box::new(value))
                }
                _ => return value,
            };
            self.grow(height.max(self.height));
            value = Expr { kind, span: self.since(start) };
        }
    }

    /// Parses the arguments `(a, b)` of a call. Sets `height` to the maximum of their heights.
    fn call_arguments(&mut self) -> Vec<Expr> {
        let open = self.span();
        self.advance();
        let mut args = Vec::new();
        let mut height = 0;
        if !self.enter() {
            return args;
        }
        if !self.at(Punct::RParen) {
            loop {
                args.push(self.assignment());
                height = height.max(self.height);
                if !self.accept(Punct::Comma) {
                    break;
                }
            }
        }
        self.leave();
        self.close(Punct::RParen, open);
        self.height = height;
        args
    }

    fn primary(&mut self) -> Expr {
        let span = self.span();
        self.height = 1;
        let kind = match self.peek() {
            TokenKind::Ident(name) => {
                if self.scopes.is_type(name) {
                    let hint = match (*self.peek_at(1) == TokenKind::Punct(Punct::LParen), types::predeclared(name)) {
                        (true, Some(types::Predeclared::Vector(..))) => format!("; a vector is written '({name})(...)'"),
                        (true, _) => format!("; a cast is written '({name})'"),
                        _ => String::new(),
                    };
                    let message = format!("unexpected type name '{name}': expected expression{hint}");
                    return self.bad_type_name(&message);
                }
                ExprKind::Ident(name.clone())
            }
            TokenKind::Int { value, decimal, suffix } => ExprKind::Int { value: *value, decimal: *decimal, suffix: *suffix },
            TokenKind::Float { value, suffix, text } => ExprKind::Float { value: *value, suffix: *suffix, text: text.clone() },
            TokenKind::Char(value) => ExprKind::Char(*value),
            TokenKind::Str(_) => {
                let bytes = self.string().unwrap_or_else(|| Arc::from([]));
                return Expr { kind: ExprKind::Str(bytes), span: self.since(span) };
            }
            TokenKind::Punct(Punct::LParen) => return self.parenthesized(),
            TokenKind::Keyword(keyword) => {
                let keyword = *keyword;
                return self.keyword_expression(keyword);
            }
            TokenKind::Punct(Punct::Caret) => {
                return self.block_literal();
            }
            TokenKind::Invalid => {
                // The preprocessor has reported the error.
                self.advance();
                return self.error_expr();
            }
            _ => {
                self.error("expected expression");
                return self.error_expr();
            }
        };
        self.advance();
        Expr { kind, span }
    }

    /// Reports a type name in place of an expression, such as GLSL's `float4(1, 2, 3, 4)`, and skips it with its
    /// parentheses.
    fn bad_type_name(&mut self, message: &str) -> Expr {
        self.error(message);
        self.advance();
        self.skip_parens();
        self.error_expr()
    }

    /// Parses adjacent string literals and concatenates them. Returns `None` if the next token is not a string.
    pub(super) fn string(&mut self) -> Option<Arc<[u8]>> {
        let TokenKind::Str(first) = self.peek() else { return None };
        let first = first.clone();
        self.advance();
        if !matches!(self.peek(), TokenKind::Str(_)) {
            return Some(first);
        }
        let mut bytes = first.to_vec();
        while let TokenKind::Str(next) = self.peek() {
            bytes.extend_from_slice(next);
            self.advance();
        }
        Some(Arc::from(bytes))
    }

    /// Parses `( expression )` or `({ ... })`.
    fn parenthesized(&mut self) -> Expr {
        let open = self.span();
        self.advance();
        if !self.enter() {
            return self.error_expr();
        }
        let kind = if self.at(Punct::LBrace) {
            let block = self.compound();
            self.height = 1;
            ExprKind::StmtExpr(block)
        } else {
            let inner = self.expression();
            self.grow(self.height);
            ExprKind::Paren(Box::new(inner))
        };
        self.leave();
        self.close(Punct::RParen, open);
        Expr { kind, span: self.since(open) }
    }

    fn keyword_expression(&mut self, keyword: Keyword) -> Expr {
        let start = self.span();
        match keyword {
            Keyword::Sizeof => self.type_or_operand(ExprKind::SizeofType, ExprKind::SizeofExpr),
            Keyword::VecStep => self.type_or_operand(ExprKind::VecStepType, ExprKind::VecStepExpr),
            Keyword::Alignof => self.type_or_operand(ExprKind::AlignofType, ExprKind::AlignofExpr),
            Keyword::Offsetof => self.offsetof(start),
            Keyword::Astype => self.astype(start),
            Keyword::Generic11 => self.generic_selection(start),
            _ if self.at_type() => {
                let message = format!("expected expression before '{}'", keyword.spelling());
                self.bad_type_name(&message)
            }
            _ => {
                self.error("expected expression");
                self.error_expr()
            }
        }
    }

    /// Parses `sizeof(type)`, `sizeof expression` or a similar operator.
    fn type_or_operand(&mut self, of_type: fn(Box<TypeName>) -> ExprKind, of_expr: fn(Box<Expr>) -> ExprKind) -> Expr {
        let start = self.span();
        self.advance();
        if self.at(Punct::LParen) && self.type_at(1) {
            let open = self.span();
            let Some(ty) = self.parenthesized_type() else { return self.error_expr() };
            self.height = 1;
            if !self.at(Punct::LBrace) {
                return Expr { kind: of_type(ty), span: self.since(start) };
            }
            // `sizeof (type){...}` is the size of a compound literal.
            let list = self.init_list();
            self.grow(1);
            let literal = Expr { kind: ExprKind::CompoundLit(ty, list), span: self.since(open) };
            let operand = self.postfix(literal);
            self.grow(self.height);
            return Expr { kind: of_expr(Box::new(operand)), span: self.since(start) };
        }
        if !self.enter_operand() {
            return self.error_expr();
        }
        let operand = self.unary();
        self.leave();
        self.grow(self.height);
        Expr { kind: of_expr(Box::new(operand)), span: self.since(start) }
    }

    /// Parses `_Generic(control, type: value, default: value)`.
    fn generic_selection(&mut self, start: Span) -> Expr {
        self.advance();
        let open = self.span();
        if !self.expect(Punct::LParen, "expected '(' after '_Generic'") || !self.enter() {
            return self.error_expr();
        }
        let control = Box::new(self.assignment());
        let mut height = self.height;
        let mut choices = Vec::new();
        let mut complete = self.at(Punct::Comma);
        if !complete {
            self.error("expected ','");
        }
        while self.accept(Punct::Comma) {
            let ty = if self.accept_keyword(Keyword::Default) { None } else { Some(Box::new(self.type_name())) };
            if !self.expect(Punct::Colon, "expected ':'") {
                complete = false;
                break;
            }
            choices.push((ty, self.assignment()));
            height = height.max(self.height);
        }
        self.leave();
        self.close(Punct::RParen, open);
        self.grow(height);
        if !complete {
            return self.error_expr();
        }
        Expr { kind: ExprKind::Generic { control, choices }, span: self.since(start) }
    }

    /// Parses `__builtin_offsetof(type, member)`.
    fn offsetof(&mut self, start: Span) -> Expr {
        self.advance();
        let open = self.span();
        if !self.expect(Punct::LParen, "expected '(' after '__builtin_offsetof'") || !self.enter() {
            return self.error_expr();
        }
        let ty = Box::new(self.type_name());
        self.expect(Punct::Comma, "expected ','");
        let path = self.designator_path(true);
        self.leave();
        self.close(Punct::RParen, open);
        self.height = 1;
        Expr { kind: ExprKind::Offsetof(ty, path), span: self.since(start) }
    }

    /// Parses `__builtin_astype(expression, type)`.
    fn astype(&mut self, start: Span) -> Expr {
        self.advance();
        let open = self.span();
        if !self.expect(Punct::LParen, "expected '(' after '__builtin_astype'") || !self.enter() {
            return self.error_expr();
        }
        let value = Box::new(self.assignment());
        let height = self.height;
        self.expect(Punct::Comma, "expected ','");
        let ty = Box::new(self.type_name());
        self.leave();
        self.close(Punct::RParen, open);
        self.grow(height);
        Expr { kind: ExprKind::AsType(value, ty), span: self.since(start) }
    }
}
