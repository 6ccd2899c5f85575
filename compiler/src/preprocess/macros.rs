//! Macro definitions, and their substitution with `#`, `##` and arguments (C99 6.10.3.1 to 6.10.3.3).

use std::cell::Cell;
use std::rc::Rc;

use crate::diag::{Diagnostic, Span, WarningGroup};
use crate::lex::Punct;
use crate::lex::interner::Symbol;
use crate::lex::raw::{RawKind, RawLexer, RawToken};

use super::Preprocessor;

/// A macro whose value depends on its use: on the location, or for `__COUNTER__` on the number of earlier uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dynamic {
    Line,
    File,
    Counter,
    IncludeLevel,
}

/// A token in the replacement list of a macro.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyToken {
    pub token: RawToken,
    /// The index of the parameter if the token is a parameter name.
    pub param: Option<u16>,
}

/// Parameters of a function-like macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Params {
    pub names: Vec<Symbol>,
    /// Whether the last parameter is replaced by all remaining arguments.
    pub variadic: bool,
}

#[derive(Debug)]
pub(super) struct Macro {
    pub name: Symbol,
    pub params: Option<Params>,
    pub body: Vec<BodyToken>,
    /// [`Span::NONE`] for predefined macros and macros of the option `-D`.
    pub definition: Span,
    pub dynamic: Option<Dynamic>,
    /// True while the expansion is being read.
    pub disabled: Cell<bool>,
}

/// The macro definition of a name.
#[derive(Clone, Debug, Default)]
pub(super) enum MacroSlot {
    /// The name was not looked up yet. It may be a predefined macro.
    #[default]
    Unknown,
    Undefined,
    Defined(Rc<Macro>),
}

/// Arguments of an invocation: one token list per parameter.
pub(super) type Arguments = Vec<Vec<RawToken>>;

/// Returns tokens that replace one token. The first token has a leading space if `replaced` has a leading space.
fn spaced_as(mut tokens: Vec<RawToken>, replaced: RawToken) -> Vec<RawToken> {
    if let Some(first) = tokens.first_mut() {
        first.flags = first.flags & !RawToken::SPACE | replaced.flags & RawToken::SPACE;
    }
    tokens
}

impl Preprocessor<'_> {
    /// Returns the macro with this name, which may be predefined.
    pub(super) fn macro_of(&mut self, name: Symbol) -> Option<Rc<Macro>> {
        let slot = self.macros.get(name.index());
        match slot {
            Some(MacroSlot::Defined(found)) => return Some(found.clone()),
            Some(MacroSlot::Undefined) => return None,
            Some(MacroSlot::Unknown) | None => {}
        }
        let found = self.predefined(name);
        self.set_macro(name, found.clone());
        found
    }

    pub(super) fn set_macro(&mut self, name: Symbol, value: Option<Rc<Macro>>) {
        if self.macros.len() <= name.index() {
            self.macros.resize(self.interner.len().max(name.index() + 1), MacroSlot::Unknown);
        }
        if let Some(slot) = self.macros.get_mut(name.index()) {
            *slot = value.map_or(MacroSlot::Undefined, MacroSlot::Defined);
        }
    }

    /// Parses the line after `#define`. Reports an error and returns `None` if it is invalid.
    pub(super) fn parse_definition(&mut self, line: &[RawToken], at: Span) -> Option<Macro> {
        let Some((name, rest)) = line.split_first() else {
            self.diags.error(at, "macro name missing");
            return None;
        };
        if !self.check_macro_name(*name) {
            return None;
        }
        let (params, body) = match rest.first() {
            Some(first) if first.is(Punct::LParen) && !first.has(RawToken::SPACE) => {
                let (params, used) = self.parse_params(rest, name.span)?;
                (Some(params), rest.get(used..).unwrap_or_default())
            }
            _ => (None, rest),
        };
        let body = self.resolve_body(params.as_ref(), body)?;
        Some(Macro { name: name.symbol, params, body, definition: name.span, dynamic: None, disabled: Cell::new(false) })
    }

    pub(super) fn check_macro_name(&mut self, name: RawToken) -> bool {
        if name.kind != RawKind::Ident {
            self.diags.error(name.span, "macro name must be an identifier");
            return false;
        }
        if name.symbol == self.names.defined {
            self.diags.error(name.span, "'defined' cannot be used as a macro name");
            return false;
        }
        true
    }

    /// Parses parameters from `(` to `)`. Returns the parameters and the number of tokens. Reports an error and returns
    /// `None` if they are invalid.
    fn parse_params(&mut self, line: &[RawToken], at: Span) -> Option<(Params, usize)> {
        let mut params = Params { names: Vec::new(), variadic: false };
        let mut next = 1;
        loop {
            let Some(token) = line.get(next).copied() else {
                self.diags.error(at, "missing ')' in macro parameter list");
                return None;
            };
            next += 1;
            match token.kind {
                RawKind::Punct(Punct::RParen) if params.names.is_empty() => return Some((params, next)),
                RawKind::Punct(Punct::Ellipsis) => {
                    params.names.push(self.names.va_args);
                    params.variadic = true;
                }
                RawKind::Ident if token.symbol == self.names.va_args => {
                    self.diags.error(token.span, "__VA_ARGS__ can only appear in the expansion of a C99 variadic macro");
                    return None;
                }
                RawKind::Ident if params.names.contains(&token.symbol) => {
                    let name = self.spelling(token).to_owned();
                    self.diags.error(token.span, format!("duplicate macro parameter name '{name}'"));
                    return None;
                }
                RawKind::Ident => params.names.push(token.symbol),
                _ => {
                    self.diags.error(token.span, "invalid token in macro parameter list");
                    return None;
                }
            }
            // A named variadic parameter of GNU C: `args...`.
            if !params.variadic && line.get(next).is_some_and(|token| token.is(Punct::Ellipsis)) {
                params.variadic = true;
                next += 1;
            }
            match line.get(next) {
                Some(token) if token.is(Punct::RParen) => return Some((params, next + 1)),
                Some(token) if token.is(Punct::Comma) && !params.variadic => next += 1,
                Some(token) => {
                    let message =
                        if params.variadic { "missing ')' in macro parameter list" } else { "expected comma in macro parameter list" };
                    self.diags.error(token.span, message);
                    return None;
                }
                None => {
                    self.diags.error(at, "missing ')' in macro parameter list");
                    return None;
                }
            }
        }
    }

    /// Resolves parameters in the replacement list and checks the operands of `#` and `##`. Reports an error and
    /// returns `None` if the list is invalid.
    fn resolve_body(&mut self, params: Option<&Params>, body: &[RawToken]) -> Option<Vec<BodyToken>> {
        let param_of = |token: &RawToken| {
            let at = params?.names.iter().position(|name| token.kind == RawKind::Ident && *name == token.symbol)?;
            u16::try_from(at).ok()
        };
        let mut resolved: Vec<BodyToken> = body.iter().map(|token| BodyToken { token: *token, param: param_of(token) }).collect();
        if let Some(first) = resolved.first_mut() {
            first.token.flags &= !RawToken::SPACE;
        }
        for (edge, word) in [(resolved.first(), "start"), (resolved.last(), "end")] {
            if let Some(item) = edge.filter(|item| item.token.is(Punct::HashHash)) {
                self.diags.error(item.token.span, format!("'##' cannot appear at {word} of macro expansion"));
                return None;
            }
        }
        for (index, item) in resolved.iter().enumerate() {
            if params.is_some() && item.token.is(Punct::Hash) && resolved.get(index + 1).is_none_or(|next| next.param.is_none()) {
                self.diags.error(item.token.span, "'#' is not followed by a macro parameter");
                return None;
            }
            if item.param.is_none() && item.token.kind == RawKind::Ident && item.token.symbol == self.names.va_args {
                self.diags.push(Diagnostic::warning(
                    WarningGroup::Pedantic,
                    item.token.span,
                    "__VA_ARGS__ can only appear in the expansion of a C99 variadic macro",
                ));
            }
        }
        Some(resolved)
    }

    /// Whether two macro definitions are identical (C99 6.10.3p2).
    pub(super) fn same_definition(&self, left: &Macro, right: &Macro) -> bool {
        left.params == right.params
            && left.body.len() == right.body.len()
            && left.body.iter().zip(&right.body).all(|(a, b)| {
                let space = |item: &BodyToken| item.token.has(RawToken::SPACE);
                a.token.kind == b.token.kind && a.token.symbol == b.token.symbol && space(a) == space(b)
            })
    }

    /// Substitutes arguments for parameters in the replacement list. Tokens of the list get the span of `at`. Reports
    /// an error and returns `None` if all expansions together exceed [`super::MAX_EXPANDED`], or arguments are nested
    /// too deeply.
    pub(super) fn substitute(&mut self, called: &Macro, arguments: &Arguments, at: RawToken) -> Option<Vec<RawToken>> {
        let mut expanded: Vec<Option<Vec<RawToken>>> = vec![None; arguments.len()];
        let mut out: Vec<RawToken> = Vec::with_capacity(called.body.len());
        let mut paste_next = false;
        let mut index = 0;
        while let Some(item) = called.body.get(index).copied() {
            index += 1;
            let followed_by_paste = called.body.get(index).is_some_and(|next| next.token.is(Punct::HashHash));
            if item.token.is(Punct::HashHash) {
                paste_next = true;
                continue;
            }
            let before = out.len();
            let operand = match item.param {
                None if called.params.is_some() && item.token.is(Punct::Hash) => {
                    let param = called.body.get(index).and_then(|next| next.param);
                    index += 1;
                    let argument = param.and_then(|param| arguments.get(usize::from(param))).map_or(&[][..], Vec::as_slice);
                    vec![self.stringify(argument, item.token, at.span)]
                }
                None => {
                    let mut token = item.token;
                    token.span = at.span;
                    token.flags |= RawToken::FROM_MACRO;
                    vec![token]
                }
                Some(param) => {
                    let param = usize::from(param);
                    let raw = arguments.get(param).map_or(&[][..], Vec::as_slice);
                    if paste_next && self.is_gnu_comma(called, param, out.last()) {
                        // `, ## __VA_ARGS__` removes the comma if there are no variadic arguments, and does not paste.
                        paste_next = false;
                        if raw.is_empty() {
                            out.pop();
                        }
                        raw.to_vec()
                    } else if paste_next || followed_by_paste {
                        let placemarker = || vec![RawToken::new(RawKind::Placemarker, Symbol::EMPTY, at.span)];
                        spaced_as(if raw.is_empty() { placemarker() } else { raw.to_vec() }, item.token)
                    } else {
                        if expanded.get(param).is_some_and(Option::is_none) {
                            let tokens = self.expand_argument(raw);
                            if let Some(slot) = expanded.get_mut(param) {
                                *slot = Some(tokens);
                            }
                        }
                        spaced_as(expanded.get(param).and_then(Option::clone).unwrap_or_default(), item.token)
                    }
                }
            };
            let mut operand = operand.into_iter();
            if std::mem::take(&mut paste_next)
                && let Some(left) = out.pop()
            {
                match operand.next() {
                    Some(right) => self.paste(left, right, &mut out),
                    None => out.push(left),
                }
            }
            out.extend(operand);
            self.expanded += out.len().saturating_sub(before).max(1);
            if self.expanded > super::MAX_EXPANDED {
                self.stop(at.span, &format!("macro expansion yields more than {} tokens", super::MAX_EXPANDED));
            }
            if self.stopped {
                return None;
            }
        }
        out.retain(|token| token.kind != RawKind::Placemarker);
        Some(spaced_as(out, at))
    }

    fn is_gnu_comma(&self, called: &Macro, param: usize, left: Option<&RawToken>) -> bool {
        let variadic = called.params.as_ref().is_some_and(|params| params.variadic && param + 1 == params.names.len());
        variadic && left.is_some_and(|left| left.is(Punct::Comma))
    }

    /// Applies the `#` operator: creates a string literal with the spelling of an argument.
    fn stringify(&mut self, argument: &[RawToken], hash: RawToken, at: Span) -> RawToken {
        let mut text = String::from("\"");
        for (index, token) in argument.iter().enumerate() {
            if index > 0 && token.has(RawToken::SPACE) {
                text.push(' ');
            }
            let spelling = self.spelling(*token);
            if matches!(token.kind, RawKind::Str | RawKind::Char) {
                for c in spelling.chars() {
                    if matches!(c, '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(c);
                }
            } else {
                text.push_str(spelling);
            }
        }
        text.push('"');
        self.count_text(text.len());
        let mut token = RawToken::new(RawKind::Str, self.interner.intern(&text), at);
        token.flags = hash.flags & RawToken::SPACE | RawToken::FROM_MACRO;
        token
    }

    /// Counts text that `#` or `##` creates against the token limit, because repeated application can double the text
    /// each time. 16 bytes count as one token.
    fn count_text(&mut self, bytes: usize) {
        self.expanded += bytes / 16;
    }

    /// Applies the `##` operator: pastes two tokens. If that fails, reports an error and appends both tokens.
    fn paste(&mut self, left: RawToken, right: RawToken, out: &mut Vec<RawToken>) {
        if right.kind == RawKind::Placemarker {
            out.push(left);
            return;
        }
        if left.kind == RawKind::Placemarker {
            let mut token = right;
            token.flags = token.flags & !RawToken::SPACE | left.flags & RawToken::SPACE;
            out.push(token);
            return;
        }
        let text = format!("{}{}", self.spelling(left), self.spelling(right));
        self.count_text(text.len());
        let mut lexer = RawLexer::new(text.as_str().into(), 0);
        let mut token = lexer.next(&mut self.interner, false);
        let whole = lexer.next(&mut self.interner, false).kind == RawKind::Eof;
        let valid = !matches!(token.kind, RawKind::Eof | RawKind::Unknown | RawKind::Unterminated | RawKind::UnterminatedComment);
        if whole && valid {
            token.span = left.span;
            token.flags = left.flags & RawToken::SPACE | RawToken::FROM_MACRO;
            out.push(token);
        } else {
            self.diags.error(left.span, format!("pasting formed '{text}', an invalid preprocessing token"));
            out.push(left);
            out.push(right);
        }
    }
}
