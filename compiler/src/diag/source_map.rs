//! Where a span is: all files of a compilation lie one behind the other in one space of positions.
//!
//! Position 0 belongs to nobody, so that [`Span::NONE`] is never inside a file. The built-in library lives in the upper half of the space:
//! its files are registered once a process and keep their positions in every compilation, so that what was parsed of them can be kept.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Span;

/// First position of the library's files.
pub(crate) const LIBRARY_BASE: u32 = 1 << 31;

static LIBRARY: Mutex<Vec<&'static SourceFile>> = Mutex::new(Vec::new());

/// The text of a file: owned, or part of this program.
#[derive(Clone, Debug)]
pub enum SourceText {
    /// A file of the library, which is part of this program.
    Static(&'static str),
    /// A file of the user.
    Shared(Arc<str>),
}

impl SourceText {
    /// The text, wherever it is kept.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Static(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl From<&str> for SourceText {
    fn from(text: &str) -> Self {
        Self::Shared(Arc::from(text))
    }
}

impl From<String> for SourceText {
    fn from(text: String) -> Self {
        Self::Shared(Arc::from(text))
    }
}

/// What a `#line` says: from `position` on, the line `physical` is called `presumed` of `file`.
#[derive(Clone, Debug)]
struct LineDirective {
    position: u32,
    physical: u32,
    presumed: u32,
    file: Option<Arc<str>>,
}

/// A file, and which positions of the compilation are its own.
#[derive(Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: SourceText,
    start: u32,
    included_at: Span,
    lines: OnceLock<Vec<u32>>,
    line_directives: Vec<LineDirective>,
}

impl SourceFile {
    fn new(name: Arc<str>, text: SourceText, start: u32, included_at: Span) -> Self {
        Self { name, text, start, included_at, lines: OnceLock::new(), line_directives: Vec::new() }
    }

    /// Its name, as the user knows it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The text as it was read, before any translation phase.
    pub fn text(&self) -> &SourceText {
        &self.text
    }

    /// The position of its first byte.
    pub const fn start(&self) -> u32 {
        self.start
    }

    fn len(&self) -> u32 {
        u32::try_from(self.text.as_str().len()).unwrap_or(u32::MAX)
    }

    fn contains(&self, position: u32) -> bool {
        position >= self.start && position <= self.start.saturating_add(self.len())
    }

    /// Offsets of the first bytes of all lines.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let newlines = self.text.as_str().bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(newlines.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX))).collect()
        })
    }

    /// Index of the line that the offset is on.
    fn line_index(&self, offset: u32) -> usize {
        self.lines().partition_point(|start| *start <= offset).saturating_sub(1)
    }

    fn line_text(&self, index: usize) -> &str {
        let lines = self.lines();
        let text = self.text.as_str();
        let lo = lines.get(index).map_or(0, |at| *at as usize);
        let hi = lines.get(index + 1).map_or(text.len(), |at| *at as usize);
        text.get(lo..hi).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    fn locate(&self, position: u32) -> Location {
        let offset = position.saturating_sub(self.start);
        let index = self.line_index(offset);
        let physical = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let column = offset - self.lines().get(index).copied().unwrap_or(0) + 1;
        let (file, line) = match self.line_directives.iter().rev().find(|directive| directive.position <= position) {
            Some(directive) => {
                let line = physical.saturating_sub(directive.physical).saturating_add(directive.presumed);
                (directive.file.clone().unwrap_or_else(|| self.name.clone()), line)
            }
            None => (self.name.clone(), physical),
        };
        Location { file, line, column, text: self.line_text(index).to_owned() }
    }

    fn extent(&self, span: Span) -> Extent {
        let hi = span.hi.clamp(span.lo, self.start.saturating_add(self.len()).max(span.lo));
        let (lo, end) = (span.lo - self.start, hi - self.start);
        let lines = (self.line_index(lo)..=self.line_index(end)).map(|index| self.line_text(index).to_owned()).collect();
        Extent { begin: self.locate(span.lo), end: self.locate(hi), bytes: lo..end, lines }
    }
}

/// A position as people speak of it; `#line` is honoured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Name of the file.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The line's text.
    pub text: String,
}

/// A span as people speak of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins.
    pub begin: Location,
    /// Where it ends, in the same file.
    pub end: Location,
    /// Which bytes of the file it is.
    pub bytes: Range<u32>,
    /// The lines that it touches, from that of its begin to that of its end.
    pub lines: Vec<String>,
}

/// The use of a macro in the source.
#[derive(Clone, Debug)]
struct Expansion {
    at: Span,
    name: Arc<str>,
    definition: Span,
}

/// All files of a compilation.
#[derive(Debug)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    next: u32,
    expansions: Vec<Expansion>,
    /// Files of the file system that were looked for, with their contents.
    sought: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl Default for SourceMap {
    fn default() -> Self {
        Self::new()
    }
}

impl SourceMap {
    /// An empty one.
    pub const fn new() -> Self {
        Self { files: Vec::new(), next: 1, expansions: Vec::new(), sought: Vec::new() }
    }

    /// Notes that a file was looked for in the file system, and what was in it.
    pub fn note_sought(&mut self, path: PathBuf, contents: Option<Vec<u8>>) {
        if !self.sought.iter().any(|(known, _)| *known == path) {
            self.sought.push((path, contents));
        }
    }

    /// Everything that was looked for in the file system. It is forgotten here.
    pub fn take_searched_files(&mut self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        std::mem::take(&mut self.sought)
    }

    /// Adds a file; `included_at` is the directive that asked for it. `None` when the space of positions is used up (2 GiB).
    pub fn add_file(&mut self, name: impl Into<Arc<str>>, text: impl Into<SourceText>, included_at: Span) -> Option<&SourceFile> {
        let text = text.into();
        let end = u32::try_from(text.as_str().len()).ok()?.checked_add(self.next)?;
        if end >= LIBRARY_BASE - 1 {
            return None;
        }
        self.files.push(SourceFile::new(name.into(), text, self.next, included_at));
        self.next = end + 1;
        self.files.last()
    }

    /// The library file of that name, registered when first asked for. `None` when there is no room for it.
    pub fn library_file(name: &str, text: &'static str) -> Option<&'static SourceFile> {
        let mut files = LIBRARY.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |file: &&&SourceFile| &*file.name == name && std::ptr::eq(file.text.as_str(), text);
        if let Some(file) = files.iter().find(same) {
            return Some(file);
        }
        let start = files.last().map_or(Some(LIBRARY_BASE), |last| last.start.checked_add(last.len())?.checked_add(1))?;
        start.checked_add(u32::try_from(text.len()).ok()?)?.checked_add(1)?;
        let file: &'static SourceFile = Box::leak(Box::new(SourceFile::new(name.into(), SourceText::Static(text), start, Span::NONE)));
        files.push(file);
        Some(file)
    }

    fn with_file<R>(&self, position: u32, take: impl FnOnce(&SourceFile) -> R) -> Option<R> {
        if position >= LIBRARY_BASE {
            let files = LIBRARY.lock().unwrap_or_else(PoisonError::into_inner);
            let index = files.partition_point(|file| file.start <= position).checked_sub(1)?;
            let file = *files.get(index)?;
            drop(files);
            return file.contains(position).then(|| take(file));
        }
        let index = self.files.partition_point(|file| file.start <= position).checked_sub(1)?;
        self.files.get(index).filter(|file| file.contains(position)).map(take)
    }

    /// Where a span begins.
    pub fn locate(&self, span: Span) -> Option<Location> {
        if span == Span::NONE { None } else { self.with_file(span.lo, |file| file.locate(span.lo)) }
    }

    /// All that a span covers; `None` where it is in no file.
    pub fn extent(&self, span: Span) -> Option<Extent> {
        if span == Span::NONE { None } else { self.with_file(span.lo, |file| file.extent(span)) }
    }

    /// The name of the file that a span is in, whatever `#line` says.
    pub fn file_name(&self, span: Span) -> Option<Arc<str>> {
        if span == Span::NONE { None } else { self.with_file(span.lo, |file| file.name.clone()) }
    }

    /// The text that a span covers; empty where it is in no file.
    pub fn snippet(&self, span: Span) -> String {
        let take = |file: &SourceFile| {
            let (lo, hi) = (span.lo - file.start, span.hi.saturating_sub(file.start));
            file.text.as_str().get(lo as usize..hi as usize).unwrap_or("").to_owned()
        };
        if span == Span::NONE { String::new() } else { self.with_file(span.lo, take).unwrap_or_default() }
    }

    /// The chain of `#include` directives that led to the file of a position, innermost first.
    pub fn include_chain(&self, position: u32) -> Vec<Location> {
        let mut chain = Vec::new();
        let mut at = self.with_file(position, |file| file.included_at).unwrap_or(Span::NONE);
        while let Some(location) = self.locate(at) {
            chain.push(location);
            at = self.with_file(at.lo, |file| file.included_at).unwrap_or(Span::NONE);
        }
        chain
    }

    /// Honours `#line presumed "file"`, which stands at `directive`: it speaks of the line behind it.
    pub fn add_line_directive(&mut self, directive: Span, presumed: u32, file: Option<Arc<str>>) {
        let Some(index) = self.files.partition_point(|known| known.start <= directive.lo).checked_sub(1) else { return };
        let Some(source) = self.files.get_mut(index) else { return };
        let line = source.line_index(directive.lo.saturating_sub(source.start));
        let Some(next) = source.lines().get(line + 1).copied() else { return };
        let physical = u32::try_from(line + 2).unwrap_or(u32::MAX);
        let file = file.or_else(|| source.line_directives.last().and_then(|last| last.file.clone()));
        source.line_directives.push(LineDirective { position: source.start + next, physical, presumed, file });
    }

    /// Remembers that the macro defined at `definition` was used at `at`.
    pub fn add_expansion(&mut self, at: Span, name: &Arc<str>, definition: Span) {
        self.expansions.push(Expansion { at, name: name.clone(), definition });
    }

    /// The macro whose use the span begins with, and where it is defined.
    pub fn expansion(&self, span: Span) -> Option<(&str, Span)> {
        self.expansions
            .iter()
            .find(|expansion| expansion.at.lo == span.lo && expansion.at.hi <= span.hi)
            .map(|expansion| (&*expansion.name, expansion.definition))
    }
}
