//! Expands macro invocations in the token stream (C99 6.10.3, 6.10.3.4).

use std::rc::Rc;

use crate::diag::Diagnostic;
use crate::lex::Punct;
use crate::lex::interner::Symbol;
use crate::lex::raw::{RawKind, RawToken};

use super::macros::{Arguments, Dynamic, Macro, Params};
use super::{Context, MAX_ARGUMENT_DEPTH, Preprocessor};

/// The result of the expansion of a macro name.
enum Call {
    /// The name was consumed. Its expansion is read next. After an error in the substitution, there is no expansion.
    Expanded,
    /// No `(` follows the name of a function-like macro. The name is an ordinary identifier.
    NotInvocation,
    /// The arguments are invalid. The error was reported.
    Failed,
}

impl Preprocessor<'_> {
    /// Reads the next token after macro expansion.
    pub(super) fn next_expanded(&mut self) -> RawToken {
        loop {
            let mut token = self.next_raw();
            if token.kind != RawKind::Ident || token.has(RawToken::NO_EXPAND) {
                return token;
            }
            if token.symbol == self.names.pragma_operator {
                if let Some(pragma) = self.pragma_operator(token) {
                    return pragma;
                }
                continue;
            }
            if self.in_condition && token.symbol == self.names.defined {
                return self.defined_operator(token);
            }
            let Some(found) = self.macro_of(token.symbol) else { return token };
            if found.disabled.get() {
                token.flags |= RawToken::NO_EXPAND;
                return token;
            }
            if let Some(dynamic) = found.dynamic {
                return self.dynamic_macro(dynamic, token);
            }
            match self.call(&found, token) {
                Call::Expanded => {}
                Call::NotInvocation => return token,
                Call::Failed => return RawToken { kind: RawKind::Invalid, symbol: Symbol::EMPTY, ..token },
            }
        }
    }

    /// Expands a macro after its name was read.
    fn call(&mut self, called: &Rc<Macro>, name: RawToken) -> Call {
        let arguments = match &called.params {
            None => Arguments::new(),
            Some(params) => {
                if !self.accept_paren() {
                    return Call::NotInvocation;
                }
                match self.collect_arguments(called, params, name) {
                    Some(arguments) => arguments,
                    None => return Call::Failed,
                }
            }
        };
        if !name.has(RawToken::FROM_MACRO) {
            self.map.note_macro_name(name.span, self.interner.name(called.name), called.definition);
        }
        if called.definition != crate::diag::Span::NONE && !name.has(RawToken::FROM_MACRO) {
            self.map.add_expansion(name.span, self.interner.name(called.name), called.definition);
        }
        if let Some(tokens) = self.substitute(called, &arguments, name) {
            called.disabled.set(true);
            self.contexts.push(Context::Expansion { tokens: tokens.into(), next: 0, owner: Some(called.clone()) });
        }
        Call::Expanded
    }

    /// Consumes the next token if it is `(`. Returns whether it is.
    fn accept_paren(&mut self) -> bool {
        let token = self.next_raw();
        if token.is(Punct::LParen) {
            return true;
        }
        if token.kind != RawKind::Eof {
            self.unread(token);
        }
        false
    }

    fn unread(&mut self, token: RawToken) {
        self.contexts.push(Context::Expansion { tokens: Rc::new([token]), next: 0, owner: None });
    }

    /// Reads the arguments of an invocation after its `(`. Reports an error and returns `None` if they are invalid.
    fn collect_arguments(&mut self, called: &Macro, params: &Params, name: RawToken) -> Option<Arguments> {
        let mut arguments: Arguments = vec![Vec::new()];
        let mut depth = 0_usize;
        loop {
            let mut token = self.next_raw();
            match token.kind {
                RawKind::Eof => {
                    let text = format!("unterminated function-like macro invocation of '{}'", self.interner.name(called.name));
                    let mut error = Diagnostic::error(name.span, text);
                    if called.definition != crate::diag::Span::NONE {
                        error = error.with_note(called.definition, format!("macro '{}' defined here", self.interner.name(called.name)));
                    }
                    self.diags.push(error);
                    return None;
                }
                RawKind::Punct(Punct::LParen) => depth += 1,
                RawKind::Punct(Punct::RParen) if depth == 0 => break,
                RawKind::Punct(Punct::RParen) => depth -= 1,
                RawKind::Punct(Punct::Comma) if depth == 0 => {
                    let in_variadic = params.variadic && arguments.len() == params.names.len();
                    if !in_variadic {
                        arguments.push(Vec::new());
                        continue;
                    }
                }
                // A macro name in its own expansion is not expanded, not even when the argument is scanned again (C99
                // 6.10.3.4).
                RawKind::Ident if self.macro_of(token.symbol).is_some_and(|found| found.disabled.get()) => {
                    token.flags |= RawToken::NO_EXPAND;
                }
                _ => {}
            }
            if token.has(RawToken::LINE_START) {
                token.flags = token.flags & !RawToken::LINE_START | RawToken::SPACE;
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        }
        self.check_arguments(called, params, &mut arguments, name).then_some(arguments)
    }

    fn check_arguments(&mut self, called: &Macro, params: &Params, arguments: &mut Arguments, name: RawToken) -> bool {
        let expected = params.names.len();
        if expected == 0 && arguments.len() == 1 && arguments.first().is_some_and(Vec::is_empty) {
            arguments.clear();
        }
        // The variadic argument may be omitted.
        if params.variadic && arguments.len() + 1 == expected {
            arguments.push(Vec::new());
        }
        if arguments.len() == expected {
            return true;
        }
        let few = if arguments.len() < expected { "few" } else { "many" };
        let text = format!("too {few} arguments provided to function-like macro invocation");
        let mut error = Diagnostic::error(name.span, text);
        if called.definition != crate::diag::Span::NONE {
            error = error.with_note(called.definition, format!("macro '{}' defined here", self.interner.name(called.name)));
        }
        self.diags.push(error);
        false
    }

    /// Expands the macros in an argument, as if it were the rest of the source (C99 6.10.3.1).
    pub(super) fn expand_argument(&mut self, tokens: &[RawToken]) -> Vec<RawToken> {
        if !tokens.iter().any(|token| token.kind == RawKind::Ident) {
            return tokens.to_vec();
        }
        if self.argument_depth >= MAX_ARGUMENT_DEPTH {
            let span = tokens.first().map_or(crate::diag::Span::NONE, |token| token.span);
            self.stop(span, &format!("macro invocations are nested too deeply in arguments (the limit is {MAX_ARGUMENT_DEPTH})"));
            return Vec::new();
        }
        self.argument_depth += 1;
        let expanded = self.expand_list(tokens);
        self.argument_depth -= 1;
        expanded
    }

    /// Expands the macros in `tokens`, as if they were the rest of the source.
    pub(super) fn expand_list(&mut self, tokens: &[RawToken]) -> Vec<RawToken> {
        self.contexts.push(Context::Stop);
        self.contexts.push(Context::Expansion { tokens: tokens.into(), next: 0, owner: None });
        let mut out = Vec::with_capacity(tokens.len());
        loop {
            let token = self.next_expanded();
            if token.kind == RawKind::Eof {
                break;
            }
            out.push(token);
        }
        if let Some(Context::Stop) = self.contexts.last() {
            self.contexts.pop();
        }
        out
    }

    fn dynamic_macro(&mut self, dynamic: Dynamic, name: RawToken) -> RawToken {
        let (kind, text) = match dynamic {
            Dynamic::Line => (RawKind::Number, self.map.locate(name.span).map_or(0, |location| location.line).to_string()),
            Dynamic::File => {
                let file = self.map.locate(name.span).map(|location| location.file);
                let text = file.as_deref().unwrap_or(super::UNNAMED).replace('\\', "\\\\").replace('"', "\\\"");
                (RawKind::Str, format!("\"{text}\""))
            }
            Dynamic::Counter => {
                self.counter += 1;
                (RawKind::Number, (self.counter - 1).to_string())
            }
            Dynamic::IncludeLevel => (RawKind::Number, self.files.len().saturating_sub(1).to_string()),
        };
        let symbol = self.interner.intern(&text);
        RawToken { kind, symbol, span: name.span, flags: name.flags & (RawToken::SPACE | RawToken::FROM_MACRO) }
    }

    /// Evaluates `defined X` or `defined(X)` to the number 0 or 1.
    fn defined_operator(&mut self, operator: RawToken) -> RawToken {
        let mut name = self.next_raw();
        let paren = name.is(Punct::LParen);
        if paren {
            name = self.next_raw();
        }
        let mut value = false;
        if name.kind == RawKind::Ident {
            self.note_macro(name);
            value = self.is_defined(name.symbol);
            if paren {
                let close = self.next_raw();
                if !close.is(Punct::RParen) {
                    self.diags.error(operator.span, "missing ')' after 'defined'");
                }
            }
        } else {
            self.diags.error(operator.span, "macro name must be an identifier");
        }
        let symbol = if value { self.names.one } else { self.names.zero };
        RawToken::new(RawKind::Number, symbol, operator.span)
    }
}
