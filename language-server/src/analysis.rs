//! One run of the front end for a document, and the positions of its results.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lsp_types::{Location, Range, Uri};
use wgcl_compiler::diag::{Diagnostic, SourceMap, Span};
use wgcl_compiler::editor::flow::{self, Facts};
use wgcl_compiler::editor::index::Index;
use wgcl_compiler::editor::tokens::{TextToken, tokens};
use wgcl_compiler::front::FrontEnd;
use wgcl_compiler::options::Source;

use crate::position::Lines;
use crate::settings::Settings;
use crate::uri;

/// The results for one version of a document.
#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) uri: Uri,
    pub(crate) text: Arc<str>,
    pub(crate) lines: Lines,
    pub(crate) settings: Arc<Settings>,
    pub(crate) index: Index,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Facts about variables. Empty if the source has errors.
    pub(crate) facts: Facts,
    map: SourceMap,
    tokens: OnceLock<Vec<TextToken>>,
}

impl Analysis {
    pub(crate) fn new(uri: Uri, text: Arc<str>, settings: Arc<Settings>) -> Self {
        let (front, source) = (settings.clone(), source(&uri, &text));
        let mut front = FrontEnd::new(&source, &front.options, &front.target);
        let (index, program) = front.index(None);
        let facts = program.map(|program| flow::facts(&program)).unwrap_or_default();
        let map = std::mem::take(&mut front.map);
        let diagnostics = front.diags.list().to_vec();
        let lines = Lines::new(&text);
        Self { uri, text, lines, settings, index, diagnostics, facts, map, tokens: OnceLock::new() }
    }

    /// Analyses a changed text, and returns the members that can be at an offset in it.
    pub(crate) fn members(&self, text: &str, offset: usize) -> Index {
        let source = source(&self.uri, text);
        let mut front = FrontEnd::new(&source, &self.settings.options, &self.settings.target);
        // The first file of a compilation starts at the same position in each compilation.
        front.index(Some(self.map.position_in_main(offset))).0
    }

    /// Returns the tokens of the document, with comments.
    pub(crate) fn tokens(&self) -> &[TextToken] {
        self.tokens.get_or_init(|| tokens(&self.text))
    }

    /// Returns the compiler's position of a byte of the document.
    pub(crate) fn position(&self, offset: usize) -> u32 {
        self.map.position_in_main(offset)
    }

    /// Returns the byte range of a span in the document. Returns `None` for spans in other files.
    pub(crate) fn bytes(&self, span: Span) -> Option<std::ops::Range<usize>> {
        self.map.place(span).filter(|place| place.number == 0).map(|place| place.bytes)
    }

    /// Returns the range of a span in the document. Returns `None` for spans in other files.
    pub(crate) fn range(&self, span: Span) -> Option<Range> {
        self.bytes(span).map(|bytes| self.lines.range(&self.text, bytes))
    }

    /// Whether a change at a span would change the invocation of a macro.
    pub(crate) fn is_in_expansion(&self, span: Span) -> bool {
        self.map.is_in_expansion(span)
    }

    /// Returns the location of a span, which may be in a header.
    pub(crate) fn location(&self, span: Span) -> Option<Location> {
        let place = self.map.place(span)?;
        if place.number == 0 {
            return Some(Location { uri: self.uri.clone(), range: self.lines.range(&self.text, place.bytes) });
        }
        let path = std::path::absolute(Path::new(place.name)).ok()?;
        let range = Lines::new(place.text).range(place.text, place.bytes);
        Some(Location { uri: uri::from_path(&path)?, range })
    }

    /// Returns the span of the `#include` in the document that leads to the header with a span.
    pub(crate) fn included_at(&self, span: Span) -> Option<Range> {
        let bytes = self.map.included_in_main_at(span)?;
        Some(self.lines.range(&self.text, bytes))
    }
}

fn source(uri: &Uri, text: &str) -> Source {
    let path: Option<PathBuf> = uri::path(uri);
    let name = path.and_then(|path| path.into_os_string().into_string().ok());
    Source { text: text.to_owned(), name, ..Source::default() }
}
