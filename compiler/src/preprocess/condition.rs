//! Evaluates `#if` conditions (C99 6.10.1) with signed and unsigned 64-bit arithmetic.

use crate::diag::{Span, WarningGroup};
use crate::lex::Punct;
use crate::lex::literal::{self, Number};
use crate::lex::raw::{RawKind, RawToken};

use super::Preprocessor;
use super::has::Query;

/// Maximum nesting of parentheses and conditional operators.
const MAX_DEPTH: u32 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    const fn signed(value: i64) -> Self {
        Self { bits: value.cast_unsigned(), unsigned: false }
    }

    const fn truth(value: bool) -> Self {
        Self::signed(value as i64)
    }

    const fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// The evaluation failed. The error was reported.
struct Failed;

struct Evaluator<'p, 'a> {
    preprocessor: &'p mut Preprocessor<'a>,
    tokens: &'p [RawToken],
    next: usize,
    at: Span,
    depth: u32,
}

impl Preprocessor<'_> {
    /// Evaluates a condition. Reports an error and returns false if it is invalid.
    pub(super) fn evaluate_condition(&mut self, line: &[RawToken], at: Span) -> bool {
        self.evaluate(line, at, true).is_some_and(|value| value != 0)
    }

    /// Evaluates a constant expression. Reports an error and returns `None` if it is invalid. `condition` enables the
    /// operator `defined`.
    pub(super) fn evaluate(&mut self, line: &[RawToken], at: Span, condition: bool) -> Option<u64> {
        if line.is_empty() {
            self.diags.error(at, "expected value in expression");
            return None;
        }
        self.in_condition = condition;
        let tokens = self.expand_list(line);
        self.in_condition = false;
        if self.stopped {
            return None;
        }
        let mut evaluator = Evaluator { preprocessor: self, tokens: &tokens, next: 0, at, depth: 0 };
        let value = evaluator.conditional(true).ok()?;
        if let Some(extra) = tokens.get(evaluator.next) {
            self.diags.error(extra.span, "token is not a valid binary operator in a preprocessor subexpression");
            return None;
        }
        Some(value.bits)
    }
}

/// Returns the precedence of a binary operator, or `None` for other punctuators. A higher precedence binds tighter.
const fn precedence(punct: Punct) -> Option<u8> {
    Some(match punct {
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        Punct::Plus | Punct::Minus => 9,
        Punct::Shl | Punct::Shr => 8,
        Punct::Lt | Punct::Gt | Punct::Le | Punct::Ge => 7,
        Punct::EqEq | Punct::Ne => 6,
        Punct::Amp => 5,
        Punct::Caret => 4,
        Punct::Pipe => 3,
        Punct::AmpAmp => 2,
        Punct::PipePipe => 1,
        _ => return None,
    })
}

impl Evaluator<'_, '_> {
    fn peek(&self) -> Option<RawToken> {
        self.tokens.get(self.next).copied()
    }

    fn operator(&self) -> Option<(Punct, u8)> {
        match self.peek()?.kind {
            RawKind::Punct(punct) => Some((punct, precedence(punct)?)),
            _ => None,
        }
    }

    fn accept(&mut self, punct: Punct) -> bool {
        let found = self.peek().is_some_and(|token| token.is(punct));
        self.next += usize::from(found);
        found
    }

    fn fail<T>(&mut self, message: impl Into<String>) -> Result<T, Failed> {
        let span = self.peek().map_or(self.at, |token| token.span);
        self.preprocessor.diags.error(span, message);
        Err(Failed)
    }

    /// Evaluates `a ? b : c` and operators of higher precedence. If `live` is false, the value is not used, and
    /// arithmetic errors are not reported.
    fn conditional(&mut self, live: bool) -> Result<Value, Failed> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("bracket nesting level exceeded maximum of 256");
        }
        let condition = self.binary(0, live)?;
        let value = if self.accept(Punct::Question) {
            let then = self.comma(live && condition.is_true())?;
            if !self.accept(Punct::Colon) {
                return self.fail("expected ':'");
            }
            let other = self.conditional(live && !condition.is_true())?;
            let chosen = if condition.is_true() { then } else { other };
            Value { bits: chosen.bits, unsigned: then.unsigned || other.unsigned }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn comma(&mut self, live: bool) -> Result<Value, Failed> {
        let mut value = self.conditional(live)?;
        while self.accept(Punct::Comma) {
            value = self.conditional(live)?;
        }
        Ok(value)
    }

    fn binary(&mut self, min: u8, live: bool) -> Result<Value, Failed> {
        let mut left = self.unary(live)?;
        while let Some((punct, level)) = self.operator() {
            if level < min.max(1) {
                break;
            }
            self.next += 1;
            let right_live = match punct {
                Punct::AmpAmp => live && left.is_true(),
                Punct::PipePipe => live && !left.is_true(),
                _ => live,
            };
            let right = self.binary(level + 1, right_live)?;
            left = self.apply(punct, left, right, live)?;
        }
        Ok(left)
    }

    fn apply(&mut self, punct: Punct, left: Value, right: Value, live: bool) -> Result<Value, Failed> {
        let unsigned = left.unsigned || right.unsigned;
        let (a, b) = (left.bits, right.bits);
        let (sa, sb) = (a.cast_signed(), b.cast_signed());
        let make = |bits: u64| Value { bits, unsigned };
        Ok(match punct {
            Punct::Slash | Punct::Percent if b == 0 => {
                if live {
                    let word = if punct == Punct::Slash { "division" } else { "remainder" };
                    return self.fail(format!("{word} by zero in preprocessor expression"));
                }
                make(0)
            }
            Punct::Slash if unsigned => make(a / b),
            Punct::Slash => make(sa.wrapping_div(sb).cast_unsigned()),
            Punct::Percent if unsigned => make(a % b),
            Punct::Percent => make(sa.wrapping_rem(sb).cast_unsigned()),
            Punct::Star => make(a.wrapping_mul(b)),
            Punct::Plus => make(a.wrapping_add(b)),
            Punct::Minus => make(a.wrapping_sub(b)),
            Punct::Shl | Punct::Shr => shift(punct == Punct::Shl, left, right),
            Punct::Lt => Value::truth(if unsigned { a < b } else { sa < sb }),
            Punct::Gt => Value::truth(if unsigned { a > b } else { sa > sb }),
            Punct::Le => Value::truth(if unsigned { a <= b } else { sa <= sb }),
            Punct::Ge => Value::truth(if unsigned { a >= b } else { sa >= sb }),
            Punct::EqEq => Value::truth(a == b),
            Punct::Ne => Value::truth(a != b),
            Punct::Amp => make(a & b),
            Punct::Caret => make(a ^ b),
            Punct::Pipe => make(a | b),
            Punct::AmpAmp => Value::truth(left.is_true() && right.is_true()),
            _ => Value::truth(left.is_true() || right.is_true()),
        })
    }

    fn unary(&mut self, live: bool) -> Result<Value, Failed> {
        // Uses a stack instead of recursion, because the number of operators is not limited.
        let mut operators = Vec::new();
        while let Some(token) = self.peek() {
            match token.kind {
                RawKind::Punct(punct @ (Punct::Plus | Punct::Minus | Punct::Bang | Punct::Tilde)) => operators.push(punct),
                _ => break,
            }
            self.next += 1;
        }
        let mut value = self.primary(live)?;
        while let Some(operator) = operators.pop() {
            value = match operator {
                Punct::Minus => Value { bits: value.bits.wrapping_neg(), ..value },
                Punct::Tilde => Value { bits: !value.bits, ..value },
                Punct::Bang => Value::truth(!value.is_true()),
                _ => value,
            };
        }
        Ok(value)
    }

    /// Evaluates `__has_include` or a similar operator on its parenthesized operand.
    fn query(&mut self, query: Query, name: &str) -> Result<Value, Failed> {
        if !self.accept(Punct::LParen) {
            return self.fail(format!("missing '(' after '{name}'"));
        }
        let rest = self.tokens.get(self.next..).unwrap_or_default();
        let mut depth = 0_u32;
        let end = rest.iter().position(|token| {
            match token.kind {
                RawKind::Punct(Punct::LParen) => depth += 1,
                RawKind::Punct(Punct::RParen) if depth == 0 => return true,
                RawKind::Punct(Punct::RParen) => depth -= 1,
                _ => {}
            }
            false
        });
        let Some(end) = end else { return self.fail(format!("missing ')' after '{name}'")) };
        let Some(answer) = rest.get(..end).and_then(|inner| self.preprocessor.evaluate_query(query, inner)) else {
            return self.fail("builtin feature check macro requires a parenthesized identifier");
        };
        self.next += end + 1;
        Ok(Value::truth(answer))
    }

    fn primary(&mut self, live: bool) -> Result<Value, Failed> {
        let Some(token) = self.peek() else { return self.fail("expected value in expression") };
        if token.is(Punct::LParen) {
            self.next += 1;
            let value = self.comma(live)?;
            if !self.accept(Punct::RParen) {
                return self.fail("expected ')' in preprocessor expression");
            }
            return Ok(value);
        }
        let text = self.preprocessor.spelling(token).to_owned();
        let value = match token.kind {
            // An identifier that is not a macro evaluates to zero.
            RawKind::Ident => {
                self.next += 1;
                if let Some(query) = Query::of(&text) {
                    return self.query(query, &text);
                }
                if self.peek().is_some_and(|next| next.is(Punct::LParen)) {
                    self.next -= 1;
                    return self.fail(format!("function-like macro '{text}' is not defined"));
                }
                return Ok(Value::signed(0));
            }
            RawKind::Number => match literal::number(&text) {
                Ok(Number::Int { value, decimal, suffix }) => match u64::try_from(value) {
                    Ok(bits) => {
                        let unsigned = suffix.unsigned || i64::try_from(bits).is_err();
                        if unsigned && decimal && !suffix.unsigned {
                            let text = "integer literal is too large to be represented in a signed integer type, interpreting as unsigned";
                            self.preprocessor.warn(WarningGroup::ImplicitlyUnsignedLiteral, token.span, text);
                        }
                        Value { bits, unsigned }
                    }
                    Err(_) => return self.fail("integer literal is too large to be represented in any integer type"),
                },
                Ok(Number::Float { .. }) => return self.fail("floating point literal in preprocessor expression"),
                Err(message) => return self.fail(message),
            },
            RawKind::Char => Value::signed(i64::from(literal::character(&text, &mut Vec::new()))),
            RawKind::Invalid => return Err(Failed),
            _ => return self.fail("invalid token at start of a preprocessor expression"),
        };
        self.next += 1;
        Ok(value)
    }
}

/// Shifts a value. A negative amount shifts in the other direction. An amount of 64 or more leaves only sign bits in a
/// signed right shift, and zero otherwise.
fn shift(left: bool, value: Value, amount: Value) -> Value {
    let backwards = !amount.unsigned && amount.bits.cast_signed() < 0;
    let distance = if backwards { amount.bits.wrapping_neg() } else { amount.bits };
    let bits = match (left != backwards, value.unsigned) {
        (true, _) => u32::try_from(distance).ok().and_then(|by| value.bits.checked_shl(by)).unwrap_or(0),
        (false, true) => u32::try_from(distance).ok().and_then(|by| value.bits.checked_shr(by)).unwrap_or(0),
        (false, false) => (value.bits.cast_signed() >> distance.min(63)).cast_unsigned(),
    };
    Value { bits, unsigned: value.unsigned }
}
