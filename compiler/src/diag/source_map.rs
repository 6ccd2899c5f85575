//! Maps spans to files. The files of a compilation have disjoint ranges of positions.
//!
//! Position 0 is not in any file, so [`Span::NONE`] has no location. The upper half of the positions is for the
//! built-in library. Its files are registered once per process and have the same positions in every compilation.
//! Preprocessed library functions can therefore be cached.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Span;

/// First position of the library's files.
pub(crate) const LIBRARY_BASE: u32 = 1 << 31;

static LIBRARY: Mutex<Vec<&'static SourceFile>> = Mutex::new(Vec::new());

/// The text of a file.
#[derive(Clone, Debug)]
pub enum SourceText {
    /// A file of the built-in library.
    Static(&'static str),
    /// A file of the user.
    Shared(Arc<str>),
}

impl SourceText {
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

/// A `#line` directive: from `position` on, the line `physical` has the number `presumed` in `file`.
#[derive(Clone, Debug)]
struct LineDirective {
    position: u32,
    physical: u32,
    presumed: u32,
    file: Option<Arc<str>>,
}

/// A file, and its position in the source map.
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

    /// Returns the name in diagnostics.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the text after the replacement of trigraphs.
    pub fn text(&self) -> &SourceText {
        &self.text
    }

    /// Returns the position of the first byte.
    pub const fn start(&self) -> u32 {
        self.start
    }

    fn len(&self) -> u32 {
        u32::try_from(self.text.as_str().len()).unwrap_or(u32::MAX)
    }

    fn contains(&self, position: u32) -> bool {
        position >= self.start && position <= self.start.saturating_add(self.len())
    }

    /// Returns the offset in bytes of the start of each line.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let newlines = self.text.as_str().bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(newlines.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX))).collect()
        })
    }

    /// Returns the index of the line that contains a byte offset.
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

/// A location in a message, after `#line` directives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    pub text: String,
}

/// A span in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    pub begin: Location,
    /// The end, in the same file.
    pub end: Location,
    /// The range of bytes in the file.
    pub bytes: Range<u32>,
    /// The lines from `begin` to `end`.
    pub lines: Vec<String>,
}

/// The place of a span in a file of the user, independent of `#line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The number of the file. The main source has the number 0.
    pub number: usize,
    /// The name of the file, which is its path if it was read from disk.
    pub name: &'a str,
    /// The text of the file.
    pub text: &'a str,
    /// The range in bytes.
    pub bytes: Range<usize>,
}

/// A macro invocation in the source.
#[derive(Clone, Debug)]
struct Expansion {
    at: Span,
    name: Arc<str>,
    definition: Span,
}

/// The files of a compilation.
#[derive(Debug)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    next: u32,
    expansions: Vec<Expansion>,
    /// Every file that was searched for, and its contents, or `None` if it does not exist.
    searched_files: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// Definitions and uses of macros: location, name, and location of the definition. Recorded only for editors.
    macro_names: Option<Vec<(Span, Arc<str>, Span)>>,
}

impl Default for SourceMap {
    fn default() -> Self {
        Self::new()
    }
}

impl SourceMap {
    pub const fn new() -> Self {
        Self { files: Vec::new(), next: 1, expansions: Vec::new(), searched_files: Vec::new(), macro_names: None }
    }

    /// Records that a file was searched for, and its contents if it exists.
    pub fn note_searched_file(&mut self, path: PathBuf, contents: Option<Vec<u8>>) {
        if !self.searched_files.iter().any(|(known, _)| *known == path) {
            self.searched_files.push((path, contents));
        }
    }

    /// Returns the list of the files that were searched for, and clears it.
    pub fn take_searched_files(&mut self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        std::mem::take(&mut self.searched_files)
    }

    /// Adds a file. `included_at` is the directive that includes it. Returns `None` if all files together exceed 2 GiB.
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

    /// Returns the files in the order in which they were added. The first is the source, the others are included.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Returns the library file with this name. Registers it on first use. Returns `None` if the library exceeds 2 GiB.
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

    /// Returns the location of the first byte of a span. Returns `None` if it is not in a file.
    pub fn locate(&self, span: Span) -> Option<Location> {
        if span == Span::NONE { None } else { self.with_file(span.lo, |file| file.locate(span.lo)) }
    }

    /// Returns the line, from 1, if a span begins in the first file. `#line` does not affect it.
    pub fn main_line(&self, span: Span) -> Option<u32> {
        let file = self.files.first().filter(|file| span != Span::NONE && file.contains(span.lo))?;
        u32::try_from(file.line_index(span.lo - file.start) + 1).ok()
    }

    /// Returns the lines and columns of a span. Returns `None` if it is not in a file.
    pub fn extent(&self, span: Span) -> Option<Extent> {
        if span == Span::NONE { None } else { self.with_file(span.lo, |file| file.extent(span)) }
    }

    /// Returns the name of the file that contains a span. `#line` does not affect this name. Returns `None` if the span
    /// is not in a file.
    pub fn file_name(&self, span: Span) -> Option<Arc<str>> {
        if span == Span::NONE { None } else { self.with_file(span.lo, |file| file.name.clone()) }
    }

    /// Returns the text of a span. Empty if it is not in a file.
    pub fn snippet(&self, span: Span) -> String {
        let take = |file: &SourceFile| {
            let (lo, hi) = (span.lo - file.start, span.hi.saturating_sub(file.start));
            file.text.as_str().get(lo as usize..hi as usize).unwrap_or("").to_owned()
        };
        if span == Span::NONE { String::new() } else { self.with_file(span.lo, take).unwrap_or_default() }
    }

    /// Returns the locations of the `#include` directives that include the file of a position, innermost first.
    pub fn include_chain(&self, position: u32) -> Vec<Location> {
        let mut chain = Vec::new();
        let mut at = self.with_file(position, |file| file.included_at).unwrap_or(Span::NONE);
        while let Some(location) = self.locate(at) {
            chain.push(location);
            at = self.with_file(at.lo, |file| file.included_at).unwrap_or(Span::NONE);
        }
        chain
    }

    /// Applies `#line presumed "file"` at `directive` to the lines after it.
    pub fn add_line_directive(&mut self, directive: Span, presumed: u32, file: Option<Arc<str>>) {
        let Some(index) = self.files.partition_point(|known| known.start <= directive.lo).checked_sub(1) else { return };
        let Some(source) = self.files.get_mut(index) else { return };
        let line = source.line_index(directive.lo.saturating_sub(source.start));
        let Some(next) = source.lines().get(line + 1).copied() else { return };
        let physical = u32::try_from(line + 2).unwrap_or(u32::MAX);
        let file = file.or_else(|| source.line_directives.last().and_then(|last| last.file.clone()));
        source.line_directives.push(LineDirective { position: source.start + next, physical, presumed, file });
    }

    /// Records the use at `at` of the macro defined at `definition`.
    pub fn add_expansion(&mut self, at: Span, name: &Arc<str>, definition: Span) {
        self.expansions.push(Expansion { at, name: name.clone(), definition });
    }

    /// Whether a macro invocation contains or ends at the start of a span.
    pub fn is_in_expansion(&self, span: Span) -> bool {
        self.expansions.iter().any(|expansion| expansion.at.lo <= span.lo && span.lo <= expansion.at.hi)
    }

    /// Records the names of macros from now on, for [`Self::macro_names`].
    pub(crate) fn record_macro_names(&mut self) {
        self.macro_names = Some(Vec::new());
    }

    /// Records a macro name at `at`, if names are recorded. `definition` is [`Span::NONE`] for a predefined macro.
    pub(crate) fn note_macro_name(&mut self, at: Span, name: &Arc<str>, definition: Span) {
        if let Some(names) = &mut self.macro_names {
            names.push((at, name.clone(), definition));
        }
    }

    /// Returns the recorded macro names: location, name, and location of the definition.
    pub(crate) fn macro_names(&self) -> &[(Span, Arc<str>, Span)] {
        self.macro_names.as_deref().unwrap_or_default()
    }

    /// Whether a text is at a span of the user's files.
    pub(crate) fn has_text(&self, span: Span, text: &str) -> bool {
        let same = |file: &SourceFile| file.text.as_str().get((span.lo - file.start) as usize..).is_some_and(|rest| rest.starts_with(text));
        span != Span::NONE && !span.is_of_library() && self.with_file(span.lo, same).unwrap_or(false)
    }

    /// Returns the rest of the line from a span on, without continuation lines.
    pub(crate) fn line_from(&self, span: Span) -> String {
        let rest = |file: &SourceFile| {
            let rest = file.text.as_str().get((span.lo - file.start) as usize..).unwrap_or_default();
            rest.lines().next().unwrap_or_default().trim_end().to_owned()
        };
        if span == Span::NONE { String::new() } else { self.with_file(span.lo, rest).unwrap_or_default() }
    }

    /// Returns the place of a span in the user's files. Returns `None` for other spans.
    pub fn place(&self, span: Span) -> Option<Place<'_>> {
        if span == Span::NONE || span.is_of_library() {
            return None;
        }
        let number = self.files.partition_point(|file| file.start <= span.lo).checked_sub(1)?;
        let file = self.files.get(number).filter(|file| file.contains(span.lo))?;
        let at = |position: u32| position.saturating_sub(file.start).min(file.len()) as usize;
        Some(Place { number, name: &file.name, text: file.text.as_str(), bytes: at(span.lo)..at(span.hi).max(at(span.lo)) })
    }

    /// Returns the range of the `#include` in the main source that leads to the file with a span.
    pub fn included_in_main_at(&self, span: Span) -> Option<Range<usize>> {
        let mut place = self.place(span)?;
        let mut steps = 0;
        while place.number > 0 && steps < self.files.len() {
            place = self.place(self.files.get(place.number)?.included_at)?;
            steps += 1;
        }
        Some(place.bytes)
    }

    /// Returns the position of a byte of the main source.
    pub fn position_in_main(&self, offset: usize) -> u32 {
        let start = self.files.first().map_or(1, SourceFile::start);
        start.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX))
    }

    /// Returns the name and the definition of the macro that is invoked at the start of a span. Returns `None` if there
    /// is no invocation.
    pub fn expansion(&self, span: Span) -> Option<(&str, Span)> {
        self.expansions
            .iter()
            .find(|expansion| expansion.at.lo == span.lo && expansion.at.hi <= span.hi)
            .map(|expansion| (&*expansion.name, expansion.definition))
    }
}
