//! The rules, and the search for findings.

use std::sync::LazyLock;

use crate::files::{self, File, Kind};
use crate::prose::{self, Paragraph, Source, Token};
use crate::syntax::{self, Comment, Parts, Style};
use crate::words::{BANS, Ban, HEADLESS, SPELLINGS};

/// Maximum width of a line with a comment, in columns.
const MAX_COLUMNS: usize = 120;
/// Maximum length of a sentence, in words.
const MAX_SENTENCE: usize = 25;
/// Minimum length of a documentation comment, in words. One name of the OpenCL, Vulkan or SPIR-V specification is also
/// sufficient.
const MIN_DOC: usize = 3;
/// Maximum length of a file, in lines.
const MAX_FILE: usize = 799;
/// Maximum length of a function, in lines.
const MAX_FUNCTION: usize = 99;

/// Functions that may be longer than the limit, because a match with an arm for each case is easier to read in one
/// function.
const LONG_FUNCTIONS: [(&str, &str); 9] = [
    ("compiler/src/ast/dump.rs", "expr_kind"),
    ("compiler/src/interpret/execute.rs", "segment"),
    ("compiler/src/interpret/translate.rs", "value"),
    ("compiler/src/ir/verify.rs", "result_type"),
    ("compiler/src/ir/write.rs", "write_op"),
    ("compiler/src/lower/intrinsics/mod.rs", "intrinsic"),
    ("compiler/src/target/mod.rs", "with_extensions"),
    ("icd/src/device.rs", "device_info"),
    ("icd/tests/accuracy/reference.rs", "reference"),
];

/// A violation of a rule.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static str,
    pub path: String,
    pub line: usize,
    /// The problem and the replacement.
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// The names of the rules, in the order of reports.
pub const RULES: [&str; 10] =
    ["word", "name", "spelling", "headless", "long-sentence", "short-doc", "module-doc", "comment-width", "file-length", "function-length"];

/// Applies every rule to every file of the repository.
pub fn check_all() -> Result<Vec<Finding>, String> {
    Ok(files::all()?.iter().flat_map(check).collect())
}

/// Applies every rule to a file.
pub fn check(file: &File) -> Vec<Finding> {
    let parts = match file.kind {
        Kind::Rust | Kind::C | Kind::Assembly => syntax::split(&file.text, file.kind),
        Kind::Markdown | Kind::Script => Parts::default(),
    };
    let mut found = Vec::new();
    let mut report = |rule, line, message: String| found.push(Finding { rule, path: file.path.clone(), line, message });
    for paragraph in prose::of(file, &parts) {
        check_words(&paragraph, &mut report);
        // Check only the spelling of comments and pages. Messages may quote clang, names may follow an API, and tests
        // in assembly name passes.
        if file.kind != Kind::Assembly && matches!(paragraph.source, Source::Summary | Source::Comment | Source::Page) {
            paragraph.tokens.iter().for_each(|token| check_spelling(token, &mut report));
        }
    }
    if matches!(file.kind, Kind::Rust | Kind::C) {
        check_width(file, &parts, &mut report);
    }
    if file.kind == Kind::Rust {
        check_docs(file, &parts.comments, &mut report);
        check_functions(file, &parts.code, &mut report);
    }
    let lines = file.text.lines().count();
    if matches!(file.kind, Kind::Rust | Kind::C) && lines > MAX_FILE {
        report("file-length", 1, format!("{lines} lines; the limit is {MAX_FILE}: split the file by subject"));
    }
    found
}

type Report<'a> = &'a mut dyn FnMut(&'static str, usize, String);

fn check_words(paragraph: &Paragraph, report: Report) {
    static WORDS: LazyLock<Table> = LazyLock::new(|| Table::new(BANS));
    static STARTS: LazyLock<Table> = LazyLock::new(|| Table::new(HEADLESS));
    let tokens = &paragraph.tokens;
    WORDS.hits(tokens, |ban, from, to| {
        let phrase = excerpt(tokens, from, to);
        let (rule, place) = match paragraph.source {
            Source::Name => ("name", format!(" in `{}`", excerpt(tokens, 0, tokens.len()).replace(' ', "_"))),
            _ => ("word", String::new()),
        };
        report(rule, tokens[from].line, format!("\"{phrase}\"{place}: {}", ban.instead));
    });
    if matches!(paragraph.source, Source::Summary | Source::Comment) {
        STARTS.hits(tokens, |ban, from, to| {
            report("headless", tokens[from].line, format!("\"{} ...\": {}", excerpt(tokens, from, to), ban.instead));
        });
    }
    if paragraph.source == Source::Name {
        return;
    }
    if paragraph.source != Source::Message {
        for sentence in tokens.split(Token::ends_sentence) {
            let words = sentence.iter().filter(|token| token.is_word() || token.text == prose::CODE).count();
            if words > MAX_SENTENCE {
                let start = excerpt(sentence, 0, sentence.len().min(5));
                report(
                    "long-sentence",
                    sentence[0].line,
                    format!("{words} words (\"{start} ...\"); the limit is {MAX_SENTENCE}: split it"),
                );
            }
        }
    }
}

/// Reports American spellings. A token that contains characters other than letters and hyphens is a name, and not a
/// word.
fn check_spelling(token: &Token, report: Report) {
    if !token.text.chars().all(|c| c.is_alphabetic() || c == '-') {
        return;
    }
    for word in token.text.split('-') {
        if let Some((american, british)) = SPELLINGS.iter().find(|(american, _)| word.starts_with(american)) {
            report("spelling", token.line, format!("\"{word}\": {}", word.replacen(american, british, 1)));
        }
    }
}

fn excerpt(tokens: &[Token], from: usize, to: usize) -> String {
    tokens[from..to].iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// A pattern, split into the alternatives of its elements.
type Pattern = Vec<Vec<&'static str>>;

fn pattern(text: &'static str) -> Pattern {
    text.split(' ').map(|element| element.split('|').collect()).collect()
}

/// A table of bans with split patterns.
struct Table(Vec<(&'static Ban, Pattern, Vec<Pattern>)>);

impl Table {
    fn new(bans: &'static [Ban]) -> Self {
        let split = |ban: &'static Ban| (ban, pattern(ban.pattern), ban.except.iter().map(|text| pattern(text)).collect());
        Self(bans.iter().map(split).collect())
    }

    /// Calls `hit` for each range of tokens that matches a pattern, unless the first token is part of an exception.
    fn hits(&self, tokens: &[Token], mut hit: impl FnMut(&Ban, usize, usize)) {
        for (ban, pattern, except) in &self.0 {
            for from in 0..tokens.len() {
                let Some(to) = match_elements(pattern, tokens, from) else { continue };
                let mut starts = from.saturating_sub(8)..=from;
                let permitted =
                    starts.any(|start| except.iter().any(|except| match_elements(except, tokens, start).is_some_and(|end| end > from)));
                if !permitted {
                    hit(ban, from, to);
                }
            }
        }
    }
}

/// Returns the end of the match of a pattern that begins at token `at`, or `None` if the pattern does not match.
fn match_elements(elements: &[Vec<&str>], tokens: &[Token], at: usize) -> Option<usize> {
    let Some((first, rest)) = elements.split_first() else { return Some(at) };
    match first[..] {
        ["^"] => (at == 0 || tokens[at - 1].ends_sentence()).then(|| match_elements(rest, tokens, at)).flatten(),
        ["~"] => {
            // `~` matches up to seven words, or up to 60 words before a question mark.
            let limit = if rest == [["?"]] { 60 } else { 7 };
            let mut end = at;
            loop {
                if let Some(found) = match_elements(rest, tokens, end) {
                    return Some(found);
                }
                if end >= tokens.len() || end - at >= limit || tokens[end].ends_sentence() {
                    return None;
                }
                end += 1;
            }
        }
        ["*"] => tokens.get(at).filter(|token| token.is_word()).and_then(|_| match_elements(rest, tokens, at + 1)),
        _ => {
            let token = tokens.get(at)?;
            first.contains(&token.text.as_str()).then(|| match_elements(rest, tokens, at + 1)).flatten()
        }
    }
}

/// Reports lines with comments that are too wide. Directives of tests, links and rows of tables are excluded, because
/// they cannot be wrapped.
fn check_width(file: &File, parts: &Parts, report: Report) {
    let directives = prose::directives_of(file, parts);
    let lines: Vec<&str> = file.text.lines().collect();
    let mut last = 0;
    for comment in &parts.comments {
        let columns = lines.get(comment.line - 1).map_or(0, |line| line.chars().count());
        let text = comment.text.trim();
        let fixed = text.contains("://") || text.starts_with('|') || directives.contains(&comment.line);
        if columns > MAX_COLUMNS && comment.line != last && !fixed {
            report("comment-width", comment.line, format!("{columns} columns; the limit is {MAX_COLUMNS}: wrap the comment"));
        }
        last = comment.line;
    }
}

fn check_docs(file: &File, comments: &[Comment], report: Report) {
    let first = file.text.lines().position(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    let documented = comments.iter().any(|comment| comment.style == Style::Inner && first.is_some_and(|first| comment.line == first + 1));
    if !documented && first.is_some() {
        report("module-doc", 1, "the file does not begin with `//!`: say what the module is for".to_owned());
    }
    let mut at = 0;
    while at < comments.len() {
        let start = &comments[at];
        let mut end = at + 1;
        while end < comments.len() && comments[end].line == comments[end - 1].line + 1 && comments[end].style == start.style {
            end += 1;
        }
        if start.style != Style::Plain {
            let words: usize = comments[at..end].iter().map(|comment| comment.text.split_whitespace().count()).sum();
            let text = start.text.trim();
            let names_specification =
                ["CL_", "cl", "VK_", "vk", "SPV_", "Op"].iter().any(|prefix| text.trim_start_matches('`').starts_with(prefix));
            if words < MIN_DOC && !names_specification {
                report("short-doc", start.line, format!("\"{text}\" repeats the name: delete it, or say what the name does not"));
            }
        }
        at = end;
    }
}

fn check_functions(file: &File, code: &str, report: Report) {
    for function in syntax::functions(code) {
        let permitted = LONG_FUNCTIONS.iter().any(|(path, name)| *path == file.path && *name == function.name);
        if function.lines > MAX_FUNCTION && !permitted {
            let message = format!("`{}` has {} lines; the limit is {MAX_FUNCTION}: split it", function.name, function.lines);
            report("function-length", function.line, message);
        }
    }
}
