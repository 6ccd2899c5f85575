//! Diagnostics as data for editors and other tools, in the format of rustc's `--error-format=json`.

use serde::Serialize;

use super::{Diagnostic, Diagnostics, Fix, SourceMap, Span, WarningLevels, render_one};

/// A self-contained diagnostic: readers need no source map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Always `diagnostic`. The tag distinguishes the message from other JSON objects.
    #[serde(rename = "$message_type")]
    pub kind: &'static str,
    /// The text on one line, without location and severity.
    pub message: String,
    /// The group of a warning.
    pub code: Option<Code>,
    /// `error`, `warning` or `note`; in children also `help`.
    pub level: &'static str,
    /// The location, and the enclosing expression if there is one. Empty without a source location.
    pub spans: Vec<MessageSpan>,
    pub children: Vec<Message>,
    /// The text of the diagnostic and its notes in the build log. Null for children.
    pub rendered: Option<String>,
}

/// The group of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Code {
    /// The name of the group, such as `unused-value`.
    pub code: &'static str,
    /// Always null. rustc's format requires this field.
    pub explanation: Option<()>,
}

/// A range in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageSpan {
    /// The file name. `#line` changes the file name and the line numbers.
    pub file_name: String,
    /// Offset of the first byte in the file.
    pub byte_start: u32,
    /// Offset after the last byte.
    pub byte_end: u32,
    /// First line, from 1.
    pub line_start: u32,
    pub line_end: u32,
    /// Column of the first character, in characters, from 1.
    pub column_start: usize,
    /// Column after the last character.
    pub column_end: usize,
    /// True for the range that the message is about, false for the enclosing expression.
    pub is_primary: bool,
    /// The source lines of the range.
    pub text: Vec<MessageLine>,
    /// Always null, like the fields below. rustc's format requires these fields.
    pub label: Option<()>,
    /// The text that should replace the span. Only children of a diagnostic have it.
    pub suggested_replacement: Option<String>,
    /// `MaybeIncorrect` if there is a replacement.
    pub suggestion_applicability: Option<&'static str>,
    /// Always null. Macro expansions are reported as notes.
    pub expansion: Option<()>,
}

/// A line of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageLine {
    pub text: String,
    /// Column of the first character in the span, from 1.
    pub highlight_start: usize,
    /// Column after the last character in the span.
    pub highlight_end: usize,
}

impl Message {
    /// Creates an error without a source location.
    pub fn error(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { rendered: Some(format!("error: {message}\n")), ..Self::new("error", message, Vec::new()) }
    }

    fn new(level: &'static str, message: String, spans: Vec<MessageSpan>) -> Self {
        Self { kind: "diagnostic", message, code: None, level, spans, children: Vec::new(), rendered: None }
    }

    /// Creates an error in a file that the compiler has not read. `line` and `column` count from 1. A column of 0 is
    /// unknown.
    pub(crate) fn error_in(file: &str, line: u32, column: u32, message: String) -> Self {
        let at = if column > 0 { format!("{file}:{line}:{column}") } else { format!("{file}:{line}") };
        let rendered = Some(format!("{at}: error: {message}\n"));
        let span = MessageSpan {
            file_name: file.to_owned(),
            byte_start: 0,
            byte_end: 0,
            line_start: line,
            line_end: line,
            column_start: column.max(1) as usize,
            column_end: column.max(1) as usize,
            is_primary: true,
            text: Vec::new(),
            label: None,
            suggested_replacement: None,
            suggestion_applicability: None,
            expansion: None,
        };
        Self { rendered, ..Self::new("error", message, vec![span]) }
    }

    /// Returns the text of the message in a build log. Empty for children.
    pub fn into_log(self) -> String {
        self.rendered.unwrap_or_default()
    }
}

/// Converts all diagnostics of a compilation that `levels` reports.
pub fn messages(map: &SourceMap, diagnostics: &Diagnostics, levels: WarningLevels) -> Vec<Message> {
    diagnostics.list().iter().filter_map(|diagnostic| message(map, diagnostic, levels)).collect()
}

fn message(map: &SourceMap, diagnostic: &Diagnostic, levels: WarningLevels) -> Option<Message> {
    let severity = levels.severity(diagnostic)?;
    let mut spans: Vec<MessageSpan> = span(map, diagnostic.span, true).into_iter().collect();
    spans.extend(diagnostic.around.and_then(|around| span(map, around, false)));
    let child = |at: Span, text: &str| Message::new("note", text.to_owned(), span(map, at, true).into_iter().collect());
    let expansion = map.expansion(diagnostic.span).map(|(name, definition)| child(definition, &format!("expanded from macro '{name}'")));
    let notes = diagnostic.notes.iter().map(|(at, note)| child(*at, note));
    let children = expansion.into_iter().chain(notes).chain(diagnostic.fix.as_ref().and_then(|fix| help(map, fix))).collect();
    let rendered = Some(render_one(map, diagnostic, severity));
    let code = diagnostic.group.map(|group| Code { code: group.name(), explanation: None });
    Some(Message { children, rendered, code, ..Message::new(severity.name(), diagnostic.message.clone(), spans) })
}

/// Returns the child of a diagnostic that contains a change of the source.
fn help(map: &SourceMap, fix: &Fix) -> Option<Message> {
    if map.is_in_expansion(fix.span) {
        return None;
    }
    let changed = MessageSpan {
        suggested_replacement: Some(fix.replacement.clone()),
        suggestion_applicability: Some("MaybeIncorrect"),
        ..span(map, fix.span, true)?
    };
    let verb = if fix.span.lo == fix.span.hi { "insert" } else { "use" };
    Some(Message::new("help", format!("{verb} '{}'", fix.replacement), vec![changed]))
}

fn span(map: &SourceMap, span: Span, is_primary: bool) -> Option<MessageSpan> {
    let extent = map.extent(span)?;
    let characters = |line: &str, column: u32| line.char_indices().take_while(|(at, _)| *at + 1 < column as usize).count() + 1;
    let (column_start, column_end) = (characters(&extent.begin.text, extent.begin.column), characters(&extent.end.text, extent.end.column));
    let last = extent.lines.len().saturating_sub(1);
    let text = extent.lines.into_iter().enumerate().map(|(index, text)| {
        let highlight_start = if index == 0 { column_start } else { 1 };
        let highlight_end = if index == last { column_end } else { text.chars().count() + 1 };
        MessageLine { text, highlight_start, highlight_end }
    });
    Some(MessageSpan {
        file_name: extent.begin.file.to_string(),
        byte_start: extent.bytes.start,
        byte_end: extent.bytes.end,
        line_start: extent.begin.line,
        line_end: extent.end.line,
        column_start,
        column_end,
        is_primary,
        text: text.collect(),
        label: None,
        suggested_replacement: None,
        suggestion_applicability: None,
        expansion: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::WarningGroup;

    #[test]
    fn columns_are_characters_and_offsets_bytes() {
        let mut map = SourceMap::new();
        map.add_file("before.cl", "xyz", Span::NONE);
        let start = map.add_file("a.cl", "é b\ncd ef\ng", Span::NONE).map_or(0, crate::diag::source_map::SourceFile::start);
        let mut diagnostics = Diagnostics::default();
        // From `b` to `d`.
        diagnostics
            .push(Diagnostic::warning(WarningGroup::EmptyBody, Span { lo: start + 3, hi: start + 7 }, "odd").with_note(Span::NONE, "why"));
        let mut levels = WarningLevels::default();
        levels.are_errors = true;
        let found = messages(&map, &diagnostics, levels);
        let [Message { level: "error", code: Some(Code { code: "empty-body", .. }), spans, children, rendered: Some(rendered), .. }] =
            found.as_slice()
        else {
            unreachable!("{found:?}")
        };
        assert!(rendered.starts_with("a.cl:1:4: error: odd [-Werror,-Wempty-body]\n"), "{rendered}");
        assert!(matches!(children.as_slice(), [Message { level: "note", rendered: None, .. }]), "{children:?}");
        let [span] = spans.as_slice() else { unreachable!("{spans:?}") };
        let places = (span.byte_start, span.byte_end, span.line_start, span.line_end, span.column_start, span.column_end);
        assert_eq!(places, (3, 7, 1, 2, 3, 3));
        let lines: Vec<_> = span.text.iter().map(|line| (line.text.as_str(), line.highlight_start, line.highlight_end)).collect();
        assert_eq!(lines, [("é b", 3, 4), ("cd ef", 1, 3)]);
    }

    #[test]
    fn an_error_in_an_unread_file_has_a_span() {
        let found = Message::error_in("a.cl", 3, 1, "odd".to_owned());
        assert_eq!((found.message.as_str(), found.spans[0].line_start), ("odd", 3));
        assert_eq!(found.into_log(), "a.cl:3:1: error: odd\n");
        assert_eq!(Message::error_in("a.cl", 3, 0, "odd".to_owned()).into_log(), "a.cl:3: error: odd\n");
        assert_eq!(Message::error("odd").into_log(), "error: odd\n");
    }
}
