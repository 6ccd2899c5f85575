//! Diagnostics of the compiler. The code that detects an error creates the text; `render` formats it.

pub mod message;
pub(crate) mod render;
pub(crate) mod source_map;
pub mod suggest;
mod warning_groups;

pub use message::{Message, messages};
pub use render::{colourise, render, render_one};
pub use source_map::{Extent, Location, Place, SourceMap, SourceText};
pub use warning_groups::{WarningGroup, WarningLevels, warning_group_names};

use std::fmt;

/// A range of bytes in the concatenation of all files of a compilation. [`SourceMap`] maps it to files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Position of the first byte.
    pub lo: u32,
    /// Position after the last byte.
    pub hi: u32,
}

impl Span {
    /// A span without a source location.
    pub const NONE: Self = Self { lo: 0, hi: 0 };

    /// Returns the empty span at the end of this one, where text is missing.
    pub const fn end(self) -> Self {
        Self { lo: self.hi, hi: self.hi }
    }

    /// Whether the span is in a file of the built-in library.
    pub(crate) const fn is_of_library(self) -> bool {
        self.lo >= source_map::LIBRARY_BASE
    }

    /// Returns the smallest span that contains both. Ignores [`Span::NONE`].
    pub fn to(self, other: Self) -> Self {
        if self == Self::NONE {
            return other;
        }
        if other == Self::NONE {
            return self;
        }
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
}

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Explains another diagnostic.
    Note,
    /// The build continues, unless `-Werror` is given.
    Warning,
    /// The build fails.
    Error,
}

impl Severity {
    /// Returns the word before a message, such as `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error or warning with its notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// The source location, or [`Span::NONE`].
    pub span: Span,
    /// If `span` is an operator, the span of the whole expression. Its operands are underlined.
    pub around: Option<Span>,
    /// The text, in lower case and without a full stop, as in clang.
    pub message: String,
    /// The group of a warning.
    pub group: Option<WarningGroup>,
    /// Explanations and their locations.
    pub notes: Vec<(Span, String)>,
    /// A change of the source that removes the cause.
    pub fix: Option<Fix>,
}

/// A change of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The text to replace. Empty to insert text.
    pub span: Span,
    pub replacement: String,
}

impl Diagnostic {
    /// Creates an error without notes.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, around: None, message: message.into(), group: None, notes: Vec::new(), fix: None }
    }

    /// Creates a diagnostic that is not about a mistake.
    pub fn note(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(span, message) }
    }

    /// Creates a warning without notes.
    pub fn warning(group: impl Into<Option<WarningGroup>>, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, group: group.into(), ..Self::error(span, message) }
    }

    /// Adds a change of the source that removes the cause.
    #[must_use]
    pub fn with_fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, replacement: replacement.into() });
        self
    }

    /// Adds the replacement of a hint. The message already contains the text of the hint.
    #[must_use]
    pub(crate) fn with_hint(self, hint: &suggest::Hint) -> Self {
        match &hint.replacement {
            Some(replacement) => {
                let span = self.span;
                self.with_fix(span, replacement.clone())
            }
            None => self,
        }
    }

    #[must_use]
    pub fn with_note(mut self, span: Span, message: impl Into<String>) -> Self {
        self.notes.push((span, message.into()));
        self
    }
}

/// The diagnostics of a compilation.
#[derive(Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    limit: usize,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self::with_limit(Self::ERROR_LIMIT)
    }
}

impl Diagnostics {
    /// Number of errors after which a compilation stops, like the default of clang's `-ferror-limit`.
    pub const ERROR_LIMIT: usize = 20;

    /// Creates an empty list for a compilation that stops after this number of errors.
    pub const fn with_limit(limit: usize) -> Self {
        Self { list: Vec::new(), errors: 0, limit }
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.errors += 1;
        }
        self.list.push(diagnostic);
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    pub fn warning(&mut self, group: impl Into<Option<WarningGroup>>, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::warning(group, span, message));
    }

    pub const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether the build fails: there are errors, or warnings that are reported as errors.
    pub fn fails(&self, levels: &WarningLevels) -> bool {
        self.list.iter().any(|diagnostic| levels.severity(diagnostic) == Some(Severity::Error))
    }

    /// Whether the number of errors has reached the limit.
    pub const fn has_too_many_errors(&self) -> bool {
        self.errors >= self.limit
    }

    /// Returns all diagnostics, in the order of their creation.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }
}
