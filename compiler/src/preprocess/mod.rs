//! Translation phases 1 to 5 (C99 5.1.1.2): directives, macro expansion, and the values of literals. The parser
//! concatenates adjacent string literals (phase 6).
//!
//! Tokens are read from a stack of macro expansions ([`Context`]), and from a stack of files if there is no expansion.
//! A macro is disabled while its expansion is on the stack: its name is then marked with [`RawToken::NO_EXPAND`], as
//! C99 6.10.3.4 requires. [`MAX_EXPANDED`], [`MAX_ARGUMENT_DEPTH`] and [`MAX_INCLUDE_DEPTH`] limit the work.

mod condition;
mod convert;
mod directives;
mod expand;
mod has;
mod include;
mod macros;
mod pragma;
mod predefined;
mod trigraphs;

use std::rc::Rc;

use crate::ast::PragmaKind;
use crate::diag::{Diagnostic, Diagnostics, SourceMap, Span, WarningGroup};
use crate::lex::Token;
use crate::lex::interner::{Interner, Symbol};
use crate::lex::raw::{RawKind, RawLexer, RawToken};
use crate::lex::token::TokenKind;
use crate::options::{BuildOptions, Source};
use crate::target::Target;

pub(crate) use predefined::{needed_feature, predefined_names};

use directives::Conditional;
use macros::{Macro, MacroSlot};
use predefined::KnownNames;

/// Maximum number of tokens from macro expansions in one compilation. Each 16 bytes of text from `#` and `##` count as
/// a further token.
pub(crate) const MAX_EXPANDED: usize = 8_000_000;
/// Maximum nesting of macro invocations in arguments.
pub(crate) const MAX_ARGUMENT_DEPTH: u32 = 200;
/// Maximum nesting of `#include`, as in clang.
pub(crate) const MAX_INCLUDE_DEPTH: usize = 200;

/// The file name in diagnostics for a source without a name.
pub(crate) const UNNAMED: &str = "<source>";

/// Preprocesses a program. Appends errors and warnings to `diags`. Also returns the tokens after an error.
pub(crate) fn preprocess(
    source: &Source,
    options: &BuildOptions,
    target: &Target,
    map: &mut SourceMap,
    diags: &mut Diagnostics,
) -> Vec<Token> {
    let name = source.name.as_deref().unwrap_or(UNNAMED);
    let (text, trigraphs) = trigraphs::replace(&source.text);
    let Some(file) = map.add_file(name, &*text, Span::NONE) else {
        diags.error(Span::NONE, "source is larger than 2 GiB");
        return vec![Token { kind: TokenKind::Eof, span: Span::NONE }];
    };
    let (lexer, start) = (RawLexer::new(file.text().clone(), file.start()), file.start());
    let mut preprocessor = Preprocessor::new(source, options, target, map, diags);
    preprocessor.note_trigraphs(&trigraphs, start);
    preprocessor.command_line_macros();
    preprocessor.enter(File::new(lexer, source.name.as_deref().map(std::path::PathBuf::from)));
    preprocessor.run()
}

/// Preprocesses a file of the built-in library with the options and predefined macros of a program. The spans of its
/// tokens are the same in every compilation of this process.
pub(crate) fn preprocess_library(
    name: &str,
    text: &'static str,
    options: &BuildOptions,
    target: &Target,
    map: &mut SourceMap,
    diags: &mut Diagnostics,
) -> Vec<Token> {
    let Some(file) = SourceMap::library_file(name, text) else {
        diags.error(Span::NONE, "the library is too large");
        return vec![Token { kind: TokenKind::Eof, span: Span::NONE }];
    };
    let source = Source::default();
    let mut preprocessor = Preprocessor::new(&source, options, target, map, diags);
    preprocessor.enter(File::new(RawLexer::new(file.text().clone(), file.start()), None));
    preprocessor.run()
}

/// A file that is being read.
struct File {
    lexer: RawLexer,
    conditionals: Vec<Conditional>,
    /// The path on disk, to search headers of `#include "..."` in the same directory.
    path: Option<std::path::PathBuf>,
}

impl File {
    fn new(lexer: RawLexer, path: Option<std::path::PathBuf>) -> Self {
        Self { lexer, conditionals: Vec::new(), path }
    }
}

/// A source of tokens that are read before the rest of the file.
enum Context {
    /// The tokens of a macro expansion. The macro `owner` is enabled again at their end.
    Expansion { tokens: Rc<[RawToken]>, next: usize, owner: Option<Rc<Macro>> },
    /// Returns the end of the input, for example at the end of an argument.
    Stop,
}

struct Preprocessor<'a> {
    source: &'a Source,
    options: &'a BuildOptions,
    target: &'a Target,
    map: &'a mut SourceMap,
    diags: &'a mut Diagnostics,
    interner: Interner,
    /// Indexed by symbol.
    macros: Vec<MacroSlot>,
    /// The parser's token kind of each symbol, after its first use.
    kinds: Vec<Option<TokenKind>>,
    contexts: Vec<Context>,
    files: Vec<File>,
    /// The names of files with `#pragma once`.
    once: Vec<String>,
    /// Positions of the characters that replaced trigraphs and for which no warning was given yet.
    trigraphs: Vec<u32>,
    /// The pragmas of `RawKind::Pragma` tokens.
    pragmas: Vec<PragmaKind>,
    names: KnownNames,
    counter: u32,
    expanded: usize,
    argument_depth: u32,
    /// Whether a condition is being expanded, so that `defined` is an operator.
    in_condition: bool,
    /// Whether a limit was exceeded. All further reads then return the end of the input.
    stopped: bool,
}

impl<'a> Preprocessor<'a> {
    fn new(source: &'a Source, options: &'a BuildOptions, target: &'a Target, map: &'a mut SourceMap, diags: &'a mut Diagnostics) -> Self {
        let mut interner = Interner::new();
        let names = KnownNames::new(&mut interner);
        Self {
            source,
            options,
            target,
            map,
            diags,
            interner,
            macros: Vec::new(),
            kinds: Vec::new(),
            contexts: Vec::new(),
            files: Vec::new(),
            once: Vec::new(),
            trigraphs: Vec::new(),
            pragmas: Vec::new(),
            names,
            counter: 0,
            expanded: 0,
            argument_depth: 0,
            in_condition: false,
            stopped: false,
        }
    }

    fn enter(&mut self, file: File) {
        self.files.push(file);
    }

    /// Reads all tokens.
    fn run(&mut self) -> Vec<Token> {
        let mut out = Vec::new();
        let end = loop {
            let token = self.next_expanded();
            if token.kind == RawKind::Eof {
                break token.span;
            }
            if let Some(kind) = self.convert(token) {
                out.push(Token { kind, span: token.span });
            }
            if self.diags.has_too_many_errors() {
                break token.span;
            }
        };
        out.push(Token { kind: TokenKind::Eof, span: end });
        out
    }

    /// Ends the compilation with an error about an exceeded limit.
    fn stop(&mut self, span: Span, message: &str) {
        if !self.stopped {
            self.diags.error(span, message);
        }
        self.stopped = true;
        self.contexts.clear();
    }

    fn warn(&mut self, group: impl Into<Option<WarningGroup>>, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::warning(group, span, message));
    }

    fn spelling(&self, token: RawToken) -> &str {
        match token.kind {
            RawKind::Punct(punct) => punct.spelling(),
            _ => self.interner.name(token.symbol),
        }
    }

    /// Reads the next token before macro expansion. Executes directives.
    fn next_raw(&mut self) -> RawToken {
        loop {
            if self.stopped {
                return RawToken::new(RawKind::Eof, Symbol::EMPTY, Span::NONE);
            }
            match self.contexts.last_mut() {
                Some(Context::Stop) => return RawToken::new(RawKind::Eof, Symbol::EMPTY, Span::NONE),
                Some(Context::Expansion { tokens, next, .. }) => {
                    if let Some(token) = tokens.get(*next) {
                        *next += 1;
                        return *token;
                    }
                    self.pop_context();
                }
                None => {
                    if let Some(token) = self.next_from_file() {
                        return token;
                    }
                }
            }
        }
    }

    fn pop_context(&mut self) {
        if let Some(Context::Expansion { owner: Some(owner), .. }) = self.contexts.pop() {
            owner.disabled.set(false);
        }
    }

    /// Reads the next token of the innermost file. Returns `None` after a directive and at the end of an included file.
    fn next_from_file(&mut self) -> Option<RawToken> {
        let Some(file) = self.files.last_mut() else {
            return Some(RawToken::new(RawKind::Eof, Symbol::EMPTY, Span::NONE));
        };
        let token = file.lexer.next(&mut self.interner, false);
        match token.kind {
            RawKind::Eof => {
                for open in std::mem::take(&mut file.conditionals) {
                    self.diags.error(open.span, "unterminated conditional directive");
                }
                if self.files.len() == 1 {
                    return Some(token);
                }
                self.files.pop();
                None
            }
            RawKind::UnterminatedComment => {
                self.diags.error(token.span, "unterminated /* comment");
                Some(RawToken { kind: RawKind::Invalid, symbol: Symbol::EMPTY, ..token })
            }
            RawKind::Punct(crate::lex::Punct::Hash) if token.has(RawToken::LINE_START) => {
                self.directive(token.span);
                None
            }
            _ => Some(token),
        }
    }
}

#[cfg(test)]
mod tests;
