//! Splits source text into code, comments and string literals, without parsing it.
//!
//! The same scanner reads Rust, OpenCL C and assembly. All three have `//` and `/* */` comments. In assembly, comments
//! may also begin with `;` or `#`. Quotes have different meanings in these languages.

use crate::files::Kind;

/// The style of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `//` or `/* */`, or in assembly `;` or `#`.
    Plain,
    /// `///`: documents the item that follows.
    Outer,
    /// `//!`: documents the module that contains the comment.
    Inner,
}

/// One line of a comment.
#[derive(Debug)]
pub struct Comment {
    /// The line number, counted from 1.
    pub line: usize,
    pub style: Style,
    /// Whether the line contains only the comment.
    pub alone: bool,
    pub text: String,
}

/// One line of a string literal.
#[derive(Debug)]
pub struct Literal {
    pub line: usize,
    /// Whether the literal continues from the line above.
    pub continues: bool,
    pub text: String,
}

/// The parts of a source file.
#[derive(Debug, Default)]
pub struct Parts {
    /// The text with comments, strings and character literals replaced by spaces. Line numbers do not change.
    pub code: String,
    pub comments: Vec<Comment>,
    pub literals: Vec<Literal>,
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
    /// Whether the line has only white space before `rest`.
    alone: bool,
    parts: Parts,
}

/// Splits the text of a file.
pub fn split(text: &str, kind: Kind) -> Parts {
    let mut scanner = Scanner { rest: text, line: 1, alone: true, parts: Parts::default() };
    let mut before = ' ';
    while let Some(first) = scanner.rest.chars().next() {
        let word_before = before.is_alphanumeric() || before == '_';
        before = first;
        if scanner.rest.starts_with("//") || (kind == Kind::Assembly && (first == ';' || first == '#')) {
            scanner.line_comment(kind);
        } else if scanner.rest.starts_with("/*") {
            scanner.block_comment();
        } else if first == '"' {
            scanner.skip(1);
            scanner.string("\"", true);
        } else if kind == Kind::Rust && !word_before && raw_hashes(scanner.rest).is_some() {
            let (opening, hashes) = raw_hashes(scanner.rest).unwrap_or((0, 0));
            scanner.skip(opening);
            scanner.string(&format!("\"{}", "#".repeat(hashes)), false);
        } else if first == '\'' && kind != Kind::Assembly {
            scanner.skip(character_length(scanner.rest).unwrap_or(1));
        } else {
            scanner.take(first);
        }
    }
    scanner.parts
}

/// Returns the number of bytes up to and including the quote that opens a raw string (`r#"`, `br"`), and its number of
/// hashes. Returns `None` if `text` does not begin with a raw string.
fn raw_hashes(text: &str) -> Option<(usize, usize)> {
    let prefix = if text.starts_with("br") { 2 } else { usize::from(text.starts_with('r')) };
    let hashes = text[prefix..].chars().take_while(|c| *c == '#').count();
    (prefix > 0 && text[prefix + hashes..].starts_with('"')).then_some((prefix + hashes + 1, hashes))
}

/// Returns the length of a character literal in bytes, or `None` for a lifetime.
fn character_length(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        let escaped = chars.next()?.0 + 1;
        return text.get(escaped..)?.find('\'').map(|end| escaped + end + 1);
    }
    let (end, quote) = chars.next()?;
    (quote == '\'').then_some(end + 1)
}

impl Scanner<'_> {
    /// Moves past a character of code.
    fn take(&mut self, c: char) {
        self.parts.code.push(c);
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line += 1;
            self.alone = true;
        } else if !c.is_whitespace() {
            self.alone = false;
        }
    }

    /// Moves past bytes that are not code, and replaces them by spaces in the code.
    fn skip(&mut self, bytes: usize) {
        for c in self.rest[..bytes].chars() {
            self.parts.code.push(if c == '\n' { '\n' } else { ' ' });
            self.line += usize::from(c == '\n');
        }
        self.rest = &self.rest[bytes..];
    }

    fn line_comment(&mut self, kind: Kind) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let text = &self.rest[..end];
        let (style, from) = match kind {
            Kind::Rust if text.starts_with("///") && !text.starts_with("////") => (Style::Outer, 3),
            Kind::Rust if text.starts_with("//!") => (Style::Inner, 3),
            _ => (Style::Plain, text.len() - text.trim_start_matches(['/', ';', '#']).len()),
        };
        self.parts.comments.push(Comment { line: self.line, style, alone: self.alone, text: text[from..].to_owned() });
        self.skip(end);
    }

    fn block_comment(&mut self) {
        let end = self.rest[2..].find("*/").map_or(self.rest.len(), |end| end + 4);
        for (at, text) in self.rest[..end].lines().enumerate() {
            let text = text.trim().trim_start_matches(['/', '*']).trim_end_matches(['/', '*']).to_owned();
            self.parts.comments.push(Comment { line: self.line + at, style: Style::Plain, alone: self.alone || at > 0, text });
        }
        self.skip(end);
    }

    /// Moves past the rest of a string literal, after its opening quote.
    fn string(&mut self, closing: &str, escapes: bool) {
        self.alone = false;
        let mut text = String::new();
        let mut continues = false;
        while let Some(c) = self.rest.chars().next() {
            if self.rest.starts_with(closing) {
                self.skip(closing.len());
                break;
            }
            if escapes && c == '\\' {
                let escaped = self.rest[1..].chars().next().map_or(0, char::len_utf8);
                if !self.rest[1..].starts_with('\n') {
                    text.push(' ');
                }
                let lines = usize::from(self.rest[1..].starts_with('\n'));
                if lines == 1 {
                    self.parts.literals.push(Literal { line: self.line, continues, text: std::mem::take(&mut text) });
                    continues = true;
                }
                self.skip(1 + escaped);
                continue;
            }
            if c == '\n' {
                self.parts.literals.push(Literal { line: self.line, continues, text: std::mem::take(&mut text) });
                continues = true;
            } else {
                text.push(c);
            }
            self.skip(c.len_utf8());
        }
        self.parts.literals.push(Literal { line: self.line, continues, text });
    }
}

/// One function: its name, its first line and its length in lines.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
}

/// Returns the functions of Rust code. The code must not contain comments and strings.
pub fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let name: String = code[at + 3..].trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(end) = body_end(&code[at..]) else { continue };
        if !name.is_empty() {
            let line = 1 + code[..at].matches('\n').count();
            found.push(Function { name, line, lines: 1 + code[at..at + end].matches('\n').count() });
        }
    }
    found
}

/// Returns the number of bytes up to the brace that closes the first block, or `None` for a declaration without a body.
fn body_end(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut brackets = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.checked_sub(1)?,
            ';' if depth == 0 && brackets == 0 => return None,
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
