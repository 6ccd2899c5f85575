//! Programs with errors and the build log of each: `tests/diagnostics/*.txt`.
//!
//! A case is a title (`## ...`), optionally `options: ...`, a program, and after `=>` every error, warning and note in
//! order, as `line:column: severity: message`. In nearly all cases, one mistake causes one error. `UPDATE_EXPECT=1`
//! rewrites the files: review the difference.

use std::path::{Path, PathBuf};

use wgcl_compiler::diag::Span;
use wgcl_compiler::front::FrontEnd;
use wgcl_compiler::options;
use wgcl_compiler::program::Source;
use wgcl_compiler::target::Target;

struct Case {
    title: String,
    options: String,
    program: String,
    expected: Vec<String>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for part in text.split("## ").skip(1) {
        let (title, rest) = part.split_once('\n').unwrap_or((part, ""));
        let (program, expected) = rest.split_once("=>\n").unwrap_or((rest, ""));
        let (options, program) = match program.strip_prefix("options: ") {
            Some(rest) => rest.split_once('\n').unwrap_or((rest, "")),
            None => ("", program),
        };
        let expected = expected.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        cases.push(Case { title: title.to_owned(), options: options.to_owned(), program: program.to_owned(), expected });
    }
    cases
}

/// Returns the diagnostics of a program. If the options contain `no-fp64` or `no-fp16`, the device has no doubles or
/// halves.
fn found(case: &Case) -> Vec<String> {
    let mut target = Target::full();
    let words = case.options.split_whitespace().filter(|word| *word != "no-fp64" && *word != "no-fp16").map(str::to_owned);
    let options = options::parse_words(words).expect("options of the case");
    target.language.fp64 &= !case.options.contains("no-fp64");
    target.language.fp16 &= !case.options.contains("no-fp16");
    let target = target.with_extensions();
    let source = Source { text: case.program.clone(), ..Default::default() };
    let mut front = FrontEnd::new(&source, &options, &target);
    front.check();
    let mut lines = Vec::new();
    let mut line = |span: Span, severity: &str, message: &str| {
        let place = front.map.locate(span).map_or_else(String::new, |at| format!("{}:{}: ", at.line, at.column));
        lines.push(format!("{place}{severity}: {message}"));
    };
    for diagnostic in front.diags.list() {
        line(diagnostic.span, diagnostic.severity.name(), &diagnostic.message);
        for (span, text) in &diagnostic.notes {
            line(*span, "note", text);
        }
    }
    lines
}

fn check(path: &Path, rewrite: bool) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("readable cases");
    let head = text.split("## ").next().unwrap_or_default().to_owned();
    let (mut failures, mut blessed) = (Vec::new(), head);
    for case in cases(&text) {
        let found = found(&case);
        if found != case.expected {
            failures.push(format!("{}: expected\n  {}\nfound\n  {}", case.title, case.expected.join("\n  "), found.join("\n  ")));
        }
        let options = if case.options.is_empty() { String::new() } else { format!("options: {}\n", case.options) };
        blessed.push_str(&format!("## {}\n{options}{}=>\n{}\n\n", case.title, case.program, found.join("\n")));
    }
    if rewrite {
        std::fs::write(path, blessed.trim_end().to_owned() + "\n").expect("writable cases");
        return Vec::new();
    }
    failures
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("the cases").filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// Runs a function on a thread with the stack size of a build, because the front end is recursive.
fn on_deep_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 << 20).spawn(run).expect("a thread").join().expect("no panic")
}

#[test]
fn programs_with_errors_have_the_expected_diagnostics() {
    let rewrite = std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1");
    let failures = on_deep_stack(move || files().iter().flat_map(|path| check(path, rewrite)).collect::<Vec<_>>());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn one_mistake_causes_one_error() {
    let (count, single) = on_deep_stack(|| {
        // The cases of warnings contain several mistakes, or none, so they are not counted.
        let files = files().into_iter().filter(|path| !path.ends_with("warnings.txt"));
        let all: Vec<Case> = files.flat_map(|path| cases(&std::fs::read_to_string(path).expect("readable cases"))).collect();
        let errors = |case: &Case| case.expected.iter().filter(|line| line.contains(": error: ") || line.contains(": warning: ")).count();
        (all.len(), all.iter().filter(|case| errors(case) == 1).count())
    });
    assert!(count >= 100, "{count} cases");
    assert!(single * 100 >= count * 95, "{single} of {count} cases have exactly one error or warning");
}
