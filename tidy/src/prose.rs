//! Prose as words: paragraphs of comments, documentation, messages and names.
//!
//! Code is not prose: fenced blocks, indented blocks of documentation, and text between back-quotes are excluded. Text
//! between double quotes in comments is also excluded, because it quotes a specification.

use std::collections::HashSet;

use crate::files::{File, Kind};
use crate::syntax::{Comment, Parts, Style};

/// The origin of a paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The first paragraph of a documentation comment.
    Summary,
    /// Any other paragraph of a comment, including comments in scripts.
    Comment,
    /// A string literal, or a line of a script.
    Message,
    /// A paragraph of a Markdown file.
    Page,
    /// A name in Rust or C code, or the path of a file.
    Name,
}

/// A word in lower case, a punctuation mark, or [`CODE`].
#[derive(Clone, Debug)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// The token that replaces inline code and quotations.
pub const CODE: &str = "`";

/// Consecutive tokens. A phrase may extend over several lines of a paragraph, but not over several paragraphs.
#[derive(Debug)]
pub struct Paragraph {
    pub source: Source,
    pub tokens: Vec<Token>,
}

impl Token {
    /// Whether a sentence ends at this token.
    pub fn ends_sentence(&self) -> bool {
        matches!(self.text.as_str(), "." | "?" | "!" | ":" | ";" | "|")
    }

    pub fn is_word(&self) -> bool {
        self.text.chars().all(|c| c.is_alphanumeric() || "_'-./:=".contains(c)) && self.text.contains(|c: char| c.is_alphanumeric())
    }
}

/// Returns all prose of a file.
pub fn of(file: &File, parts: &Parts) -> Vec<Paragraph> {
    let mut found = Vec::new();
    match file.kind {
        Kind::Markdown => page(&file.text, &mut found),
        Kind::Script => script(&file.text, &mut found),
        Kind::Rust | Kind::C | Kind::Assembly => {
            comments(&parts.comments, &directives_of(file, parts), &mut found);
            if file.kind != Kind::Assembly {
                literals(parts, &mut found);
            }
            if matches!(file.kind, Kind::Rust | Kind::C) {
                names(&parts.code, &mut found);
            }
        }
    }
    let spaced = file.path.replace(['/', '.', '_'], " ");
    found.push(Paragraph { source: Source::Name, tokens: tokens([(1, spaced.as_str())], false) });
    found.retain(|paragraph| !paragraph.tokens.is_empty());
    found
}

/// Splits lines of Markdown into paragraphs.
struct Splitter<'a> {
    lines: Vec<(usize, &'a str)>,
    fenced: bool,
    first: Source,
    rest: Source,
    begun: bool,
}

impl<'a> Splitter<'a> {
    fn new(first: Source, rest: Source) -> Self {
        Self { lines: Vec::new(), fenced: false, first, rest, begun: false }
    }

    fn line(&mut self, number: usize, text: &'a str, found: &mut Vec<Paragraph>) {
        let trimmed = text.trim();
        if trimmed.starts_with("```") {
            self.fenced = !self.fenced;
            self.end(found);
            return;
        }
        let item = ["- ", "* ", "#", "|", "> "].iter().any(|mark| trimmed.starts_with(mark))
            || trimmed.split_once(". ").is_some_and(|(number, _)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()));
        let indented = text.starts_with("     ") && self.lines.is_empty() && !item;
        if self.fenced || indented {
            return;
        }
        if trimmed.is_empty() || item {
            self.end(found);
        }
        if !trimmed.is_empty() {
            self.lines.push((number, trimmed));
        }
    }

    fn end(&mut self, found: &mut Vec<Paragraph>) {
        if self.lines.is_empty() {
            return;
        }
        let source = if self.begun { self.rest } else { self.first };
        self.begun = true;
        let quotes = source != Source::Page;
        found.push(Paragraph { source, tokens: tokens(self.lines.drain(..), quotes) });
    }
}

fn page(text: &str, found: &mut Vec<Paragraph>) {
    let mut splitter = Splitter::new(Source::Page, Source::Page);
    for (number, line) in (1..).zip(text.lines()) {
        splitter.line(number, line, found);
    }
    splitter.end(found);
}

/// Splits a script into paragraphs. Lines that begin with `#` are comments. A comment may continue on the next line,
/// unless the line is an indented example of usage. Each other line is a separate paragraph. This includes directives
/// of OpenCL C sources in scripts.
fn script(text: &str, found: &mut Vec<Paragraph>) {
    const DIRECTIVES: [&str; 8] = ["#define", "#undef", "#if", "#elif", "#else", "#endif", "#pragma", "#include"];
    let mut splitter = Splitter::new(Source::Comment, Source::Comment);
    for (number, line) in (1..).zip(text.lines()) {
        let directive = DIRECTIVES.iter().any(|directive| line.trim_start().starts_with(directive));
        if let Some(comment) = line.trim_start().strip_prefix('#').filter(|_| !directive) {
            let example = comment.starts_with("   ");
            if example {
                splitter.end(found);
            }
            splitter.line(number, comment.trim_start_matches('#'), found);
            if example {
                splitter.end(found);
            }
        } else {
            splitter.end(found);
            found.push(Paragraph { source: Source::Message, tokens: tokens([(number, line)], false) });
        }
    }
    splitter.end(found);
}

/// The folders whose `.cl` files contain directives.
const DIRECTIVE_FOLDERS: [&str; 2] = ["tests/cl/", "compiler/tests/sema/"];

/// The directives of `.cl` tests, which are data and not prose.
const DIRECTIVES: [&str; 10] = ["for:", "build:", "requires:", "error", "warning", "log:", "run:", "arg ", "expect ", "prints"];

/// Returns the line numbers of the directives in a file. Only `.cl` tests have directives.
pub fn directives_of(file: &File, parts: &Parts) -> HashSet<usize> {
    let has_directives = file.kind == Kind::C && DIRECTIVE_FOLDERS.iter().any(|folder| file.path.starts_with(folder));
    if has_directives { directives(&parts.comments) } else { HashSet::new() }
}

/// Returns the line numbers of the directives in the comments of a `.cl` test. A directive continues while a bracket is
/// open.
fn directives(comments: &[Comment]) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut open = 0_usize;
    for comment in comments {
        let text = comment.text.trim_start();
        if open == 0 && !(DIRECTIVES.iter().any(|word| text.starts_with(word)) && text.contains(':')) {
            continue;
        }
        found.insert(comment.line);
        let count = |brackets: [char; 3]| text.chars().filter(|c| brackets.contains(c)).count();
        open = (open + count(['(', '[', '{'])).saturating_sub(count([')', ']', '}']));
    }
    found
}

fn comments(comments: &[Comment], directives: &HashSet<usize>, found: &mut Vec<Paragraph>) {
    let mut splitter = Splitter::new(Source::Comment, Source::Comment);
    let mut last: Option<&Comment> = None;
    for comment in comments {
        let joins = last.is_some_and(|last| last.line + 1 == comment.line && last.style == comment.style && comment.alone);
        let directive = directives.contains(&comment.line);
        if !joins || directive {
            splitter.end(found);
            let first = if comment.style == Style::Plain { Source::Comment } else { Source::Summary };
            splitter = Splitter::new(first, Source::Comment);
        }
        if !directive {
            splitter.line(comment.line, &comment.text, found);
        }
        last = (!directive).then_some(comment);
    }
    splitter.end(found);
}

fn literals(parts: &Parts, found: &mut Vec<Paragraph>) {
    let mut lines: Vec<(usize, &str)> = Vec::new();
    for literal in &parts.literals {
        if !literal.continues && !lines.is_empty() {
            found.push(Paragraph { source: Source::Message, tokens: tokens(lines.drain(..), false) });
        }
        if literal.text.contains(' ') {
            lines.push((literal.line, &literal.text));
        }
    }
    found.push(Paragraph { source: Source::Message, tokens: tokens(lines, false) });
}

/// Adds the names in code, split into words. Each name is added once, at its first line.
fn names(code: &str, found: &mut Vec<Paragraph>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for (number, line) in (1..).zip(code.lines()) {
        for name in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if name.is_empty() || !seen.insert(name) {
                continue;
            }
            let mut spaced = String::new();
            for (at, c) in name.char_indices() {
                if c.is_uppercase() && at > 0 && name[..at].ends_with(char::is_lowercase) {
                    spaced.push(' ');
                }
                spaced.push(if c == '_' { ' ' } else { c });
            }
            found.push(Paragraph { source: Source::Name, tokens: tokens([(number, spaced.as_str())], false) });
        }
    }
}

/// Maximum length of a quotation in characters. A quote begins a quotation only if the closing quote is within this
/// length.
const MAX_QUOTATION: usize = 400;

/// Splits lines into words and punctuation.
fn tokens<'a>(lines: impl IntoIterator<Item = (usize, &'a str)>, quotes: bool) -> Vec<Token> {
    let mut text: Vec<(usize, char)> = Vec::new();
    for (line, part) in lines {
        text.extend(part.chars().map(|c| (line, c)));
        text.push((line, '\n'));
    }
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(&(line, c)) = text.get(at) {
        at += 1;
        if c == '`' || (c == '"' && quotes) {
            if let Some(length) = text[at..].iter().take(MAX_QUOTATION).position(|(_, closing)| *closing == c) {
                at += length + 1;
                found.push(Token { text: CODE.to_owned(), line });
            }
        } else if in_word(c) {
            let start = at - 1;
            while let Some(&(_, c)) = text.get(at) {
                let joins = "'-./:=".contains(c) && text.get(at + 1).is_some_and(|(_, next)| in_word(*next) || *next == ':');
                if !(in_word(c) || joins) {
                    break;
                }
                at += 1;
            }
            let word: String = text[start..at].iter().map(|(_, c)| *c).collect();
            found.push(Token { text: word.to_lowercase(), line });
        } else if !c.is_whitespace() {
            found.push(Token { text: c.to_string(), line });
        }
    }
    found
}
