//! Diagnostics as data: what is wrong and where. Wording stands with the check that finds it, rendering in `render`.

pub mod message;
pub(crate) mod render;
pub(crate) mod source_map;
pub(crate) mod suggest;

pub use message::{Message, messages};
pub use render::{RenderOptions, colourise, render, render_one};
pub use source_map::{Extent, Location, SourceMap, SourceText};

use std::fmt;

/// A range of bytes in the concatenation of all files of a compilation ([`SourceMap`] knows the files).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Position of its first byte.
    pub lo: u32,
    /// Position behind its last byte.
    pub hi: u32,
}

impl Span {
    /// A span that points nowhere: things that no source stands for.
    pub const NONE: Self = Self { lo: 0, hi: 0 };

    /// The empty span just behind this one: where something is missing.
    pub const fn end(self) -> Self {
        Self { lo: self.hi, hi: self.hi }
    }

    /// Whether it is in a file of the library.
    pub(crate) const fn is_of_library(self) -> bool {
        self.lo >= source_map::LIBRARY_BASE
    }

    /// A span of both.
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

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Explains another one.
    Note,
    /// The build goes on, unless `-Werror`.
    Warning,
    /// The build fails.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// Something that the user should know of the source: an error, a warning, with explanations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it means for the build.
    pub severity: Severity,
    /// The source that it is about; [`Span::NONE`] if it is about none.
    pub span: Span,
    /// The expression whose operator `span` is: its operands are underlined too.
    pub around: Option<Span>,
    /// The text, without trailing full stop, in lower case as clang has it.
    pub message: String,
    /// Explanations, each with a place of its own.
    pub notes: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error without notes.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, around: None, message: message.into(), notes: Vec::new() }
    }

    /// A warning without notes.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, span, around: None, message: message.into(), notes: Vec::new() }
    }

    /// Adds an explanation.
    #[must_use]
    pub fn with_note(mut self, span: Span, message: impl Into<String>) -> Self {
        self.notes.push((span, message.into()));
        self
    }
}

/// Collects diagnostics during a compilation.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
}

impl Diagnostics {
    /// After that many errors a compilation gives up (as clang's `-ferror-limit`).
    pub const ERROR_LIMIT: usize = 20;

    /// Adds a diagnostic behind those found before.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.errors += 1;
        }
        self.list.push(diagnostic);
    }

    /// Adds an error.
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    /// Adds a warning.
    pub fn warning(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::warning(span, message));
    }

    /// Whether any error is among them.
    pub const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether the build fails: there is an error, or a warning that counts as one.
    pub fn fails(&self, warnings_are_errors: bool) -> bool {
        self.has_errors() || warnings_are_errors && self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Warning)
    }

    /// Whether so many errors were found that it is time to stop.
    pub const fn too_many(&self) -> bool {
        self.errors >= Self::ERROR_LIMIT
    }

    /// All of them, in order of finding.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }
}
