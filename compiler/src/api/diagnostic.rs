//! Diagnostics as data.

use crate::diag::Message;
use crate::diag::message::MessageSpan;

/// The kind of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The program is rejected.
    Error,
    Warning,
    /// Explains another diagnostic.
    Note,
    /// Proposes a change of the source.
    Help,
}

/// A range in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The name of the file. `#line` changes it, and the numbers of lines.
    pub file: String,
    /// The first line, from 1.
    pub line: u32,
    /// The first column in characters, from 1.
    pub column: usize,
    /// The last line.
    pub end_line: u32,
    /// The column after the last character.
    pub end_column: usize,
    /// The range in bytes of the file.
    pub bytes: std::ops::Range<usize>,
}

/// An explanation of a diagnostic, or a proposed change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// `Note` or `Help`.
    pub kind: DiagnosticKind,
    pub message: String,
    pub location: Option<Location>,
    /// The text that should replace `location`.
    pub replacement: Option<String>,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    pub kind: DiagnosticKind,
    pub message: String,
    /// The group of a warning, such as `unused-value`. The build option `-Wno-unused-value` disables the group.
    pub group: Option<&'static str>,
    pub location: Option<Location>,
    pub notes: Vec<Note>,
    /// The text in clang's format, with the source line.
    pub rendered: String,
}

impl From<Message> for Diagnostic {
    fn from(message: Message) -> Self {
        let notes = message.children.into_iter().map(|child| Note {
            kind: kind(child.level),
            message: child.message,
            location: child.spans.first().map(location),
            replacement: child.spans.first().and_then(|span| span.suggested_replacement.clone()),
        });
        Self {
            kind: kind(message.level),
            message: message.message,
            group: message.code.map(|code| code.code),
            location: message.spans.first().map(location),
            notes: notes.collect(),
            rendered: message.rendered.unwrap_or_default(),
        }
    }
}

fn kind(level: &str) -> DiagnosticKind {
    match level {
        "error" => DiagnosticKind::Error,
        "warning" => DiagnosticKind::Warning,
        "help" => DiagnosticKind::Help,
        _ => DiagnosticKind::Note,
    }
}

fn location(span: &MessageSpan) -> Location {
    Location {
        file: span.file_name.clone(),
        line: span.line_start,
        column: span.column_start,
        end_line: span.line_end,
        end_column: span.column_end,
        bytes: span.byte_start as usize..span.byte_end as usize,
    }
}
