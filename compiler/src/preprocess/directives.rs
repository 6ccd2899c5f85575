//! Executes directives (C99 6.10).

use std::rc::Rc;
use std::sync::Arc;

use crate::diag::{Diagnostic, Span, WarningGroup};
use crate::lex::interner::Symbol;
use crate::lex::literal;
use crate::lex::raw::{RawKind, RawToken};

use super::Preprocessor;

/// The names of directives that suggestions contain.
const DIRECTIVES: &[&str] =
    &["define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "line", "pragma"];

/// An `#if` whose `#endif` has not been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditional {
    /// Location of the `#if`.
    pub span: Span,
    /// Whether the condition of one of the groups was true, so that all later groups are skipped.
    pub taken: bool,
    pub has_else: bool,
}

impl Preprocessor<'_> {
    /// Executes a directive whose `#` was read.
    pub(super) fn directive(&mut self, hash: Span) {
        let name = self.lex_line_token();
        let text = match name.kind {
            RawKind::EndOfLine => return,
            RawKind::Number => {
                // A line marker in a preprocessed source: `# 12 "file"`.
                let line = self.rest_of_directive();
                self.line_marker(name, &line);
                return;
            }
            _ => self.spelling(name).to_owned(),
        };
        match text.as_str() {
            "define" => self.define(name.span),
            "undef" => self.undef(name.span),
            "include" | "include_next" | "import" => self.include(name.span),
            "if" | "ifdef" | "ifndef" => self.open_conditional(&text, name.span),
            "elif" | "else" | "endif" => self.next_group(&text, name.span),
            "error" | "warning" => {
                let message = self.files.last_mut().map(|file| file.lexer.rest_of_line()).unwrap_or_default();
                if text == "error" {
                    self.diags.error(name.span, message);
                } else {
                    self.warn(WarningGroup::UserWarnings, name.span, message);
                }
            }
            "line" => {
                let line = self.rest_of_directive();
                let expanded = self.expand_list(&line);
                self.line_directive(name, &expanded);
            }
            "pragma" => self.pragma_directive(name.span),
            "ident" | "sccs" => self.skip_line(),
            _ => {
                let known = crate::diag::suggest::nearest(&text, DIRECTIVES.iter().copied());
                let hint = known.map_or_else(String::new, |name| format!("; did you mean '#{name}'?"));
                let error = Diagnostic::error(hash.to(name.span), format!("invalid preprocessing directive '#{text}'{hint}"));
                self.diags.push(match known {
                    Some(known) => error.with_fix(name.span, known),
                    None => error,
                });
                self.skip_line();
            }
        }
    }

    pub(super) fn lex_line_token(&mut self) -> RawToken {
        loop {
            let Some(file) = self.files.last_mut() else {
                return RawToken::new(RawKind::EndOfLine, Symbol::EMPTY, Span::NONE);
            };
            let token = file.lexer.next(&mut self.interner, true);
            if token.kind != RawKind::UnterminatedComment {
                return token;
            }
            self.diags.error(token.span, "unterminated /* comment");
        }
    }

    pub(super) fn rest_of_directive(&mut self) -> Vec<RawToken> {
        let mut line = Vec::new();
        loop {
            let token = self.lex_line_token();
            if token.kind == RawKind::EndOfLine {
                return line;
            }
            line.push(token);
        }
    }

    pub(super) fn skip_line(&mut self) {
        while self.lex_line_token().kind != RawKind::EndOfLine {}
    }

    fn define(&mut self, at: Span) {
        let line = self.rest_of_directive();
        let Some(new) = self.parse_definition(&line, at) else { return };
        let old = self.macro_of(new.name);
        self.map.note_macro_name(new.definition, self.interner.name(new.name), new.definition);
        if let Some(old) = old.filter(|old| old.definition != Span::NONE && !self.same_definition(old, &new)) {
            let text = format!("'{}' macro redefined", self.interner.name(new.name));
            self.diags.push(
                Diagnostic::warning(WarningGroup::MacroRedefined, new.definition, text)
                    .with_note(old.definition, "previous definition is here"),
            );
        }
        self.set_macro(new.name, Some(Rc::new(new)));
    }

    fn undef(&mut self, at: Span) {
        let line = self.rest_of_directive();
        match line.first().copied() {
            None => self.diags.error(at, "macro name missing"),
            Some(name) => {
                if self.check_macro_name(name) {
                    self.note_macro(name);
                    self.set_macro(name.symbol, None);
                }
                self.check_end(line.get(1..).unwrap_or_default(), "undef");
            }
        }
    }

    /// Warns if there are tokens after the end of a directive.
    pub(super) fn check_end(&mut self, rest: &[RawToken], directive: &str) {
        if let Some(extra) = rest.first() {
            self.warn(WarningGroup::ExtraTokens, extra.span, format!("extra tokens at end of #{directive} directive"));
        }
    }

    /// Evaluates the condition of `#if`, `#elif`, `#ifdef` or `#ifndef`. Reports an error and returns false if it is
    /// invalid.
    fn condition(&mut self, directive: &str, at: Span) -> bool {
        let line = self.rest_of_directive();
        if matches!(directive, "if" | "elif") {
            return self.evaluate_condition(&line, at);
        }
        let Some(name) = line.first().copied() else {
            self.diags.error(at, "macro name missing");
            return false;
        };
        if name.kind != RawKind::Ident {
            self.diags.error(name.span, "macro name must be an identifier");
            return false;
        }
        self.check_end(line.get(1..).unwrap_or_default(), directive);
        self.note_macro(name);
        self.is_defined(name.symbol) == (directive == "ifdef")
    }

    /// Records the use of a macro name that is not expanded.
    pub(super) fn note_macro(&mut self, name: RawToken) {
        if let Some(found) = self.macro_of(name.symbol) {
            self.map.note_macro_name(name.span, self.interner.name(name.symbol), found.definition);
        }
    }

    fn open_conditional(&mut self, directive: &str, at: Span) {
        let taken = self.condition(directive, at);
        if let Some(file) = self.files.last_mut() {
            file.conditionals.push(Conditional { span: at, taken, has_else: false });
        }
        if !taken {
            self.skip_group();
        }
    }

    /// Executes the `#elif`, `#else` or `#endif` after a group that was not skipped.
    fn next_group(&mut self, directive: &str, at: Span) {
        let Some(file) = self.files.last_mut() else { return };
        let Some(open) = file.conditionals.last_mut() else {
            self.diags.error(at, format!("#{directive} without #if"));
            self.skip_line();
            return;
        };
        match directive {
            "endif" => {
                file.conditionals.pop();
                let line = self.rest_of_directive();
                self.check_end(&line, "endif");
            }
            _ => {
                let after_else = open.has_else;
                open.has_else |= directive == "else";
                if after_else {
                    self.diags.error(at, format!("#{directive} after #else"));
                }
                // An earlier group was read. Skip this group, and do not evaluate the condition of `#elif`.
                self.skip_line();
                self.skip_group();
            }
        }
    }

    /// Skips groups up to the next group whose condition is true, or to the `#endif`. Also reads the directive that
    /// ends the skipped groups.
    fn skip_group(&mut self) {
        let mut nested = 0_usize;
        loop {
            let Some(file) = self.files.last_mut() else { return };
            let token = file.lexer.next(&mut self.interner, false);
            match token.kind {
                // `next_from_file` reports the missing `#endif`.
                RawKind::Eof => return,
                RawKind::UnterminatedComment => {
                    self.diags.error(token.span, "unterminated /* comment");
                    continue;
                }
                _ if token.is(crate::lex::Punct::Hash) && token.has(RawToken::LINE_START) => {}
                _ => continue,
            }
            let name = self.lex_line_token();
            if name.kind != RawKind::Ident {
                continue;
            }
            let text = self.interner.name(name.symbol).clone();
            match &*text {
                "if" | "ifdef" | "ifndef" => nested += 1,
                "endif" if nested > 0 => nested -= 1,
                "endif" => {
                    self.next_group("endif", name.span);
                    return;
                }
                "else" | "elif" if nested == 0 && self.enters_group(&text, name.span) => return,
                _ => {}
            }
        }
    }

    /// Executes the `#else` or `#elif` after a skipped group. Returns true if the group after the directive must be
    /// read.
    fn enters_group(&mut self, directive: &str, at: Span) -> bool {
        let Some(open) = self.files.last_mut().and_then(|file| file.conditionals.last_mut()) else { return true };
        let (taken, after_else) = (open.taken, open.has_else);
        open.has_else |= directive == "else";
        if after_else {
            self.diags.error(at, format!("#{directive} after #else"));
        }
        let enters = if directive == "else" {
            let line = self.rest_of_directive();
            self.check_end(&line, "else");
            !taken && !after_else
        } else if taken {
            self.skip_line();
            false
        } else {
            self.condition("elif", at)
        };
        if enters && let Some(open) = self.files.last_mut().and_then(|file| file.conditionals.last_mut()) {
            open.taken = true;
        }
        enters
    }

    fn line_directive(&mut self, directive: RawToken, line: &[RawToken]) {
        match line.split_first() {
            Some((number, rest)) => self.line_marker(*number, rest),
            None => self.diags.error(directive.span, "#line directive requires a positive integer argument"),
        }
    }

    fn line_marker(&mut self, number: RawToken, rest: &[RawToken]) {
        let value = match number.kind {
            RawKind::Number => self.spelling(number).parse::<u32>().ok(),
            _ => None,
        };
        let Some(value) = value else {
            self.diags.error(number.span, "#line directive requires a positive integer argument");
            return;
        };
        let file = match rest.first() {
            Some(name) if name.kind == RawKind::Str => {
                let bytes = literal::unescape(self.spelling(*name), &mut Vec::new());
                Some(Arc::from(String::from_utf8_lossy(&bytes).as_ref()))
            }
            Some(name) => {
                self.diags.error(name.span, "invalid filename for #line directive");
                return;
            }
            None => None,
        };
        self.map.add_line_directive(number.span, value, file);
    }
}
