//! Formats diagnostics as text in clang's format: `file:line:column: error: message`, the source line, and a caret.

use std::fmt::Write;

use super::{Diagnostic, Diagnostics, Severity, SourceMap, Span, WarningLevels};

/// Maximum number of columns that are printed of a source line.
const MAX_COLUMNS: usize = 160;
/// Number of columns before the caret that are printed of a longer line.
const LEAD: usize = 60;
/// Distance of tab stops.
const TAB: usize = 8;

/// Formats all diagnostics and the summary line. Returns an empty string if there are none.
pub fn render(map: &SourceMap, diagnostics: &Diagnostics, levels: WarningLevels) -> String {
    let mut out = Renderer { map, text: String::new(), last_include_chain: None };
    let (mut warnings, mut errors) = (0_usize, 0_usize);
    for diagnostic in diagnostics.list() {
        let Some(severity) = levels.severity(diagnostic) else { continue };
        match severity {
            Severity::Error => errors += 1,
            Severity::Warning => warnings += 1,
            Severity::Note => {}
        }
        out.diagnostic(diagnostic, severity);
    }
    if diagnostics.has_too_many_errors() {
        out.text.push_str("fatal error: too many errors emitted, stopping now\n");
    }
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    match (warnings, errors) {
        (0, 0) => {}
        (_, 0) => out.line(&format!("{} generated.", count(warnings, "warning"))),
        (0, _) => out.line(&format!("{} generated.", count(errors, "error"))),
        _ => out.line(&format!("{} and {} generated.", count(warnings, "warning"), count(errors, "error"))),
    }
    out.text
}

/// Formats one diagnostic with its notes. `severity` is that of the report: a warning may be reported as an error.
pub fn render_one(map: &SourceMap, diagnostic: &Diagnostic, severity: Severity) -> String {
    let mut out = Renderer { map, text: String::new(), last_include_chain: None };
    out.diagnostic(diagnostic, severity);
    out.text
}

/// Returns the options after a message, such as ` [-Werror,-Wunused-value]`. Empty if there are none.
fn suffix(diagnostic: &Diagnostic, severity: Severity) -> String {
    let is_promoted = diagnostic.severity == Severity::Warning && severity == Severity::Error;
    match (is_promoted, diagnostic.group) {
        (false, None) => String::new(),
        (true, None) => " [-Werror]".to_owned(),
        (false, Some(group)) => format!(" [-W{}]", group.name()),
        (true, Some(group)) => format!(" [-Werror,-W{}]", group.name()),
    }
}

struct Renderer<'a> {
    map: &'a SourceMap,
    text: String,
    last_include_chain: Option<String>,
}

impl Renderer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, severity: Severity) {
        self.include_chain(diagnostic.span);
        let suffix = suffix(diagnostic, severity);
        self.message(severity, diagnostic.span, diagnostic.around, &format!("{}{suffix}", diagnostic.message));
        if let Some((name, definition)) = self.map.expansion(diagnostic.span) {
            let note = format!("expanded from macro '{name}'");
            self.message(Severity::Note, definition, None, &note);
        }
        for (span, note) in &diagnostic.notes {
            self.message(Severity::Note, *span, None, note);
        }
    }

    /// Writes the "In file included from" lines, once for consecutive diagnostics with the same lines.
    fn include_chain(&mut self, span: Span) {
        let mut text = String::new();
        for location in self.map.include_chain(span.lo) {
            let _ = writeln!(text, "In file included from {}:{}:", location.file, location.line);
        }
        if self.last_include_chain.as_ref() != Some(&text) {
            self.text.push_str(&text);
            self.last_include_chain = Some(text);
        }
    }

    fn message(&mut self, severity: Severity, span: Span, around: Option<Span>, message: &str) {
        let Some(location) = self.map.locate(span) else {
            self.line(&format!("{severity}: {message}"));
            return;
        };
        self.line(&format!("{}:{}:{}: {severity}: {message}", location.file, location.line, location.column));
        if location.text.trim().is_empty() {
            return;
        }
        let at = location.column as usize - 1;
        let (source, caret) = source_lines(&location.text, at, (span.hi - span.lo) as usize);
        self.line(source.trim_end());
        let indent = source_indent(&location.text, at, &source);
        let mut marks = format!("{}{caret}", " ".repeat(indent));
        if let Some(around) = around.filter(|around| around.lo <= span.lo && span.hi <= around.hi) {
            // The number of bytes of the expression before the operator, and from the operator on. The expression may
            // start on an earlier line.
            let (before, after) = ((span.lo - around.lo) as usize, (around.hi - span.lo) as usize);
            underline(&mut marks, &source, indent, display_columns(&location.text, at, before, after));
        }
        self.line(&marks);
    }
}

/// Adds terminal colours to a rendered log.
pub fn colourise(log: &str) -> String {
    let mut out = String::with_capacity(log.len() + log.len() / 4);
    for line in log.lines() {
        let paint = |code: &str, text: &str| format!("\x1b[{code}m{text}\x1b[0m");
        let severities = [("error:", "1;31"), ("warning:", "1;35"), ("note:", "1;36")];
        let headline = severities.iter().find_map(|(word, code)| {
            let at = line.find(word)?;
            let place = line.get(..at)?;
            (place.is_empty() || place.ends_with(": ")).then_some((place, *word, *code, line.get(at + word.len()..)?))
        });
        match headline {
            Some((place, word, code, message)) => {
                out.push_str(&paint("1", place));
                out.push_str(&paint(code, word));
                out.push_str(&if word == "note:" { message.to_owned() } else { paint("1", message) });
            }
            None if is_caret(line) => out.push_str(&paint("1;32", line)),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

fn is_caret(line: &str) -> bool {
    let line = line.trim_start();
    line.contains('^') && line.bytes().all(|byte| matches!(byte, b'^' | b'~' | b' '))
}

/// Returns the display column of a byte of a line. Columns count from 0, and tabs are expanded.
fn display_column(line: &str, byte: usize) -> usize {
    let mut column = 0;
    for (at, c) in line.char_indices() {
        if at >= byte {
            break;
        }
        column += if c == '\t' { TAB - column % TAB } else { 1 };
    }
    column
}

/// Returns the first printed display column of a source line. The line has `columns` columns, and its caret is at
/// `column`.
fn window_start(columns: usize, column: usize) -> usize {
    if columns <= MAX_COLUMNS { 0 } else { column.saturating_sub(LEAD) }
}

fn expand(line: &str) -> Vec<char> {
    let mut out = Vec::new();
    for c in line.chars() {
        match c {
            '\t' => out.resize(out.len() + TAB - out.len() % TAB, ' '),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// Returns the printed part of the source line, and the caret with its tildes.
fn source_lines(line: &str, byte: usize, length: usize) -> (String, String) {
    let expanded = expand(line);
    let column = display_column(line, byte);
    let start = window_start(expanded.len(), column);
    let end = expanded.len().min(start + MAX_COLUMNS);
    let mut shown: String = if start > 0 { String::from("...") } else { String::new() };
    shown.extend(expanded.get(start..end).unwrap_or_default());
    if end < expanded.len() {
        shown.push_str("...");
    }
    let last = display_column(line, byte.saturating_add(length)).min(end);
    let tail = last.saturating_sub(column).saturating_sub(1);
    (shown, format!("^{}", "~".repeat(tail)))
}

/// Returns the number of display columns of an expression before its operator, and from the operator on. The operator
/// is at byte `at` of the line. `before` and `after` are the same two lengths in bytes.
fn display_columns(line: &str, at: usize, before: usize, after: usize) -> (usize, usize) {
    let column = display_column(line, at);
    (column - display_column(line, at.saturating_sub(before)), display_column(line, at.saturating_add(after)) - column)
}

/// Underlines the operands on both sides of a caret, without the blanks around them.
fn underline(marks: &mut String, source: &str, caret: usize, (before, after): (usize, usize)) {
    let shown: Vec<char> = source.chars().collect();
    let mut line: Vec<char> = marks.chars().collect();
    let is_blank = |column: &usize| shown.get(*column).is_none_or(|c| c.is_whitespace());
    let left: Vec<usize> = (caret.saturating_sub(before)..caret).skip_while(is_blank).collect();
    let left_end = left.iter().rposition(|column| !is_blank(column)).map_or(0, |last| last + 1);
    let right_from = line.len();
    let right = (right_from..(caret + after).min(shown.len())).skip_while(is_blank);
    let columns: Vec<usize> = left.into_iter().take(left_end).chain(right).collect();
    for column in columns {
        if line.len() <= column {
            line.resize(column + 1, ' ');
        }
        line[column] = '~';
    }
    *marks = line.into_iter().collect();
}

/// Returns the number of blanks before the caret.
fn source_indent(line: &str, byte: usize, shown: &str) -> usize {
    let column = display_column(line, byte);
    let start = window_start(expand(line).len(), column);
    column - start + if start > 0 && shown.starts_with("...") { 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the log for one error at the bytes `lo..hi` of a file.
    fn log(text: &str, lo: u32, hi: u32, levels: WarningLevels) -> String {
        let mut map = SourceMap::new();
        let start = map.add_file("a.cl", text, Span::NONE).map_or(0, crate::diag::source_map::SourceFile::start);
        let mut diagnostics = Diagnostics::default();
        diagnostics.error(Span { lo: start + lo, hi: start + hi }, "wrong");
        render(&map, &diagnostics, levels)
    }

    #[test]
    fn caret_and_tail() {
        let expected = "a.cl:2:3: error: wrong\nb cde f\n  ^~~\n1 error generated.\n";
        assert_eq!(log("a\nb cde f\n", 4, 7, WarningLevels::default()), expected);
    }

    #[test]
    fn operands_are_underlined() {
        let mut map = SourceMap::new();
        let start = map.add_file("a.cl", "x = a2 +\t(b * c);\n", Span::NONE).map_or(0, crate::diag::source_map::SourceFile::start);
        let (span, around) = (Span { lo: start + 7, hi: start + 8 }, Span { lo: start + 4, hi: start + 16 });
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic { around: Some(around), ..Diagnostic::error(span, "wrong") });
        let log = render(&map, &diagnostics, WarningLevels::default());
        assert_eq!(log, "a.cl:1:8: error: wrong\nx = a2 +        (b * c);\n    ~~ ^        ~~~~~~~\n1 error generated.\n");
    }

    #[test]
    fn tabs_are_columns() {
        let expected = "a.cl:1:3: error: wrong\n        a       b\n         ^\n1 error generated.\n";
        assert_eq!(log("\ta\tb", 2, 2, WarningLevels::default()), expected);
    }

    #[test]
    fn a_span_of_several_lines_is_underlined_on_the_first_line() {
        let expected = "a.cl:1:3: error: wrong\na bc\n  ^~\n1 error generated.\n";
        assert_eq!(log("a bc\nd", 2, 6, WarningLevels::default()), expected);
    }

    #[test]
    fn long_lines_are_shortened_around_the_caret() {
        let text = format!("{}X{}", "a ".repeat(500), " b".repeat(500));
        let log = log(&text, 1000, 1001, WarningLevels::default());
        let lines: Vec<&str> = log.lines().collect();
        let [_, source, caret, _] = lines.as_slice() else { unreachable!("four lines: {log}") };
        assert!(source.starts_with("...") && source.ends_with("...") && source.len() == MAX_COLUMNS + 6, "{source}");
        assert_eq!(source.find('X'), caret.find('^'));
    }

    #[test]
    fn colours_do_not_change_the_text() {
        let plain = log("a b", 2, 3, WarningLevels::default());
        let colour = colourise(&plain);
        let mut stripped = String::new();
        let mut rest = colour.as_str();
        while let Some((before, escape)) = rest.split_once("\x1b[") {
            stripped.push_str(before);
            rest = escape.split_once('m').map_or("", |(_, after)| after);
        }
        stripped.push_str(rest);
        assert_ne!(colour, plain);
        assert_eq!(stripped, plain);
    }

    #[test]
    fn positions_outside_of_files_have_no_location() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::warning(None, Span::NONE, "odd").with_note(Span { lo: 77, hi: 78 }, "why"));
        let log = render(&SourceMap::new(), &diagnostics, WarningLevels::default());
        assert_eq!(log, "warning: odd\nnote: why\n1 warning generated.\n");
    }
}
