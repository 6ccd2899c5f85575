//! Executes `#include`. The search starts with the headers that were given with the source. For `"..."`, the directory
//! of the including file is next. The directories of `-I` follow. For `"..."`, the current directory is last.

use std::path::{Path, PathBuf};

use crate::diag::{SourceText, Span, WarningGroup};
use crate::lex::interner::Symbol;
use crate::lex::literal;
use crate::lex::raw::{RawKind, RawLexer, RawToken};

use super::{File, MAX_INCLUDE_DEPTH, Preprocessor};

/// A header that was found.
struct ResolvedInclude {
    /// The name in diagnostics. `#pragma once` also identifies the file by this name.
    name: String,
    text: SourceText,
    path: Option<PathBuf>,
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, at: Span) {
        let Some(file) = self.files.last_mut() else { return };
        let header = match file.lexer.header_name() {
            Some((name, angled, span)) => {
                let rest = self.rest_of_directive();
                self.check_end(&rest, "include");
                Some((name, angled, span))
            }
            None => self.computed_header_name(at),
        };
        let Some((name, angled, span)) = header else {
            self.diags.error(at, "expected \"FILENAME\" or <FILENAME>");
            return;
        };
        if self.files.len() > MAX_INCLUDE_DEPTH {
            self.stop(span, "#include nested too deeply");
            return;
        }
        let Some(found) = self.find_header(&name, angled) else {
            self.diags.error(span, format!("'{name}' file not found"));
            return;
        };
        if self.once.contains(&found.name) {
            return;
        }
        let (text, trigraphs) = super::trigraphs::replace(found.text.as_str());
        let text = if trigraphs.is_empty() { found.text.clone() } else { text.into_owned().into() };
        let Some(file) = self.map.add_file(found.name, text, span) else {
            self.stop(span, "sources are larger than 2 GiB in total");
            return;
        };
        let (lexer, start) = (RawLexer::new(file.text().clone(), file.start()), file.start());
        self.note_trigraphs(&trigraphs, start);
        self.enter(File::new(lexer, found.path));
    }

    /// Reads the header name of `#include NAME`, where NAME is a macro. Returns the same as [`RawLexer::header_name`].
    fn computed_header_name(&mut self, at: Span) -> Option<(String, bool, Span)> {
        let line = self.rest_of_directive();
        let tokens = self.expand_list(&line);
        let first = tokens.first()?;
        if first.kind == RawKind::Str {
            let text = self.spelling(*first);
            return Some((text.get(1..text.len() - 1)?.to_owned(), false, at));
        }
        let inner = tokens.get(1..tokens.len() - 1)?;
        let angled = first.is(crate::lex::Punct::Lt) && tokens.last()?.is(crate::lex::Punct::Gt);
        let spelled = |token: &RawToken| {
            let blank = if token.has(RawToken::SPACE) { " " } else { "" };
            format!("{blank}{}", self.spelling(*token))
        };
        angled.then(|| (inner.iter().map(spelled).collect::<String>(), true, at))
    }

    /// Whether `#include` would find a header.
    pub(super) fn has_header(&mut self, name: &str, angled: bool) -> bool {
        self.find_header(name, angled).is_some()
    }

    fn find_header(&mut self, name: &str, angled: bool) -> Option<ResolvedInclude> {
        if let Some(text) = self.source.headers.get(name) {
            return Some(ResolvedInclude { name: name.to_owned(), text: text.as_str().into(), path: None });
        }
        let beside = self.files.last().and_then(|file| file.path.as_deref()).and_then(Path::parent).filter(|_| !angled);
        let directories = beside.into_iter().chain(self.options.include_dirs.iter().map(PathBuf::as_path));
        // For `"..."`, the current directory is searched last.
        let here = (!angled).then_some(Path::new(""));
        let paths: Vec<PathBuf> = directories.chain(here).map(|directory| directory.join(name)).collect();
        paths.into_iter().find_map(|path| {
            let bytes = path.is_file().then(|| std::fs::read(&path).ok()).flatten();
            self.map.note_searched_file(path.clone(), bytes.clone());
            let text = String::from_utf8_lossy(&bytes?).into_owned();
            Some(ResolvedInclude { name: path.display().to_string(), text: text.into(), path: Some(path) })
        })
    }

    /// Handles `#pragma once` in the current file.
    pub(super) fn pragma_once(&mut self, at: Span) {
        if self.files.len() < 2 {
            self.warn(WarningGroup::PragmaOnceOutsideHeader, at, "#pragma once in main file");
        } else if let Some(name) = self.map.file_name(at) {
            self.once.push(name.to_string());
        }
    }

    /// Returns the value of a string literal.
    pub(super) fn string_value(&self, symbol: Symbol) -> String {
        String::from_utf8_lossy(&literal::unescape(self.interner.name(symbol), &mut Vec::new())).into_owned()
    }
}
